-- GIN indexes of encrypted columns beside those of plain ones: the same statements make them, the same conditions use them and find the same rows;
-- nothing of values is in them.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE EXTENSION pg_trgm;
CREATE EXTENSION hstore;
CREATE EXTENSION btree_gin;
SELECT tde_create_type('tsvector'), tde_create_type('hstore') \g /dev/null

-- ---- classes ----

SELECT is(tde_create_gin_class('gin_trgm_ops'), '{encrypted_text,encrypted_varchar}'::regtype[], 'a class is made for all types that it is for');
SELECT is(tde_create_gin_class('public.gin_hstore_ops'), '{encrypted_hstore}'::regtype[], 'by its name with a schema, too');
SELECT is(tde_create_gin_class('gin_trgm_ops'), '{encrypted_text,encrypted_varchar}'::regtype[], 'and again, which changes nothing');
SELECT is(tde_refresh_types(), 0, 'nothing lacks');
SELECT is_empty('SELECT opcname FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod WHERE amname = ''gin'' AND NOT amvalidate(c.oid)', 'PostgreSQL finds nothing wrong with them');
SELECT set_eq($$SELECT opcintype::regtype::text, opcdefault FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod WHERE amname = 'gin' AND opcname ~ '^encrypted_'$$,
  $$SELECT enc || '[]' AS type, true AS is_default FROM family WHERE name <> 'encrypted_json'
    UNION ALL VALUES ('encrypted_jsonb', true), ('encrypted_jsonb', false), ('encrypted_tsvector', true), ('encrypted_hstore', true),
                     ('encrypted_hstore[]', true), ('encrypted_text', false), ('encrypted_varchar', false)$$,
  'all that can be hashed have one for their arrays, and those that PostgreSQL has classes for have these');
SELECT is((SELECT opckeytype FROM pg_opclass WHERE opcname = 'encrypted_jsonb_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'gin')), 'int8'::regtype::oid, 'they store numbers');
SELECT throws_ok('SELECT tde_create_gin_class(''int4_ops'')', '0A000', 'operator class "int4_ops" cannot be made for encrypted types', 'not one that has ranges of entries');
SELECT throws_ok('SELECT tde_create_gin_class(''nothing_ops'')', '42704', 'operator class "nothing_ops" does not exist for access method "gin"', 'nor one that is not there');
CREATE EXTENSION intarray;
SELECT throws_ok('SELECT tde_create_gin_class(''gin__int_ops'')', '0A000', 'operator class "gin__int_ops" cannot be made for encrypted types', 'nor one for arrays of one type alone');
CREATE TABLE counted (a encrypted_int4[]);
CREATE INDEX ON counted USING gin (a);
SET enable_seqscan = off;
SELECT ok(uses_index(plan_of('SELECT a FROM counted WHERE a ' || condition)), 'beside intarray, an index of arrays serves: a ' || condition)
FROM unnest('{"OPERATOR(pg_catalog.@>) ''{1,2}''","OPERATOR(pg_catalog.&&) ARRAY[1]"}'::text[]) condition;
DROP EXTENSION intarray;
SELECT ok(uses_index(plan_of('SELECT a FROM counted WHERE a @> ''{1,2}''')), '... and without it: a @> ''{1,2}''');
RESET enable_seqscan;
CREATE TYPE other AS (a int);
SELECT throws_ok($$CREATE INDEX ON pg_temp.nothing USING gin (a)$$, '42P01', NULL, 'nor of no table');
CREATE ROLE somebody;
SET ROLE somebody;
SELECT throws_ok('SELECT tde_create_gin_class(''gin_trgm_ops'')', '42501', NULL, 'and not by everybody');
RESET ROLE;

-- ---- twins ----

CREATE TABLE p (id int, doc jsonb, name text, v varchar(80), tags text[], numbers numeric[], words tsvector, pairs hstore);
CREATE TABLE e (id int, doc encrypted_jsonb, name encrypted_text(aes128,salt,mac), v encrypted_varchar(80,nosalt), tags encrypted_text(nosalt)[],
                numbers encrypted_numeric[], words encrypted_tsvector, pairs encrypted_hstore);
INSERT INTO p SELECT i, CASE WHEN i % 11 > 0 THEN jsonb_build_object('k', i % 100, 'a' || i % 7, jsonb_build_array('x' || i, NULL, true), 'deep', jsonb_build_object('n', i / 10.0)) END,
  CASE WHEN i % 13 > 0 THEN 'Name ' || md5(i::text) END, 'größe ' || i || ' ' || md5((i + 1)::text), CASE i % 5 WHEN 0 THEN '{}' WHEN 1 THEN NULL ELSE ARRAY['t' || i % 50, NULL, 'all'] END,
  ARRAY[i % 10, i / 4.0, 1.0], to_tsvector('english', 'The dogs ' || md5(i::text) || ' run ' || i % 200), hstore('k' || i % 30, 'v' || i) || hstore('null', NULL)
FROM generate_series(1, 3000) i;
INSERT INTO e SELECT * FROM p;
-- made by the same statements
CREATE TEMP TABLE made AS SELECT unnest(ARRAY['(doc)', '(doc jsonb_path_ops)', '(name gin_trgm_ops)', '(v gin_trgm_ops)', '(tags)', '(numbers array_ops)', '(words)', '(pairs)', '(pairs gin_hstore_ops)',
  '(id, name gin_trgm_ops)', '(doc, tags) WITH (fastupdate = off)', '(upper(name) gin_trgm_ops)', '(to_tsvector(''english'', name))', '((doc -> ''deep''))', '(lower(v) gin_trgm_ops)']) AS keys;
CREATE FUNCTION make(twin text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT keys FROM made LOOP
    EXECUTE format('CREATE INDEX ON %s USING gin %s', twin, one.keys);
  END LOOP;
END
$$;
SELECT lives_ok('SELECT make(''p'')', 'plain ones');
SELECT lives_ok('SELECT make(''e'')', 'and encrypted ones, by the same statements');
SELECT is((SELECT count(DISTINCT substring(pg_get_indexdef(indexrelid) FROM 'salt=''?([0-9a-f]{32})')) FROM pg_index WHERE indrelid = 'e'::regclass), 15::bigint, 'each has a salt of its own');
SELECT is_empty($$SELECT i.indexrelid::regclass, a.attname, a.atttypid::regtype FROM pg_index i JOIN pg_attribute a ON attrelid = indexrelid
                  WHERE indrelid = 'e'::regclass AND NOT (atttypid = 'int8'::regtype OR attname = 'id')$$, 'and holds numbers');
ANALYZE p;
ANALYZE e;

CREATE TEMP TABLE condition AS SELECT unnest(ARRAY[
  'doc @> ''{"k": 5}''', '''{"k": 5}'' <@ doc', 'doc @> ''{"a3": ["x3"]}''', 'doc ? ''a3''', 'doc ?| ''{a3,none}''', 'doc ?& ''{k,a4}''', 'doc @? ''$.a3[*] ? (@ == "x3")''', 'doc @@ ''$.k == 7''',
  'doc @> ''{}''', 'doc @> ''{"none": 1}''', 'NOT doc ? ''a3''', 'doc @> ''{"k": 5}'' AND doc ? ''a3''', 'doc @> ''{"k": 5}'' OR tags && ''{t7}''', 'doc @@ ''exists($.a2)''',
  'name LIKE ''%abcd%''', 'name LIKE ''Name 0%''', 'name ILIKE ''%ABCD%''', 'name ~ ''ab[0-9]d''', 'name ~* ''AB[0-9]D''', 'name % (SELECT ''Name '' || md5(''7''))', 'name LIKE ''%''', 'name LIKE ''%e%''',
  'name NOT LIKE ''%abcd%''', 'name LIKE ''%zzz%''', 'v LIKE ''%größe 77%''', 'v % ''größe 77 28dd2c7955ce926456240b2ff0100bde''', '''28dd2c7955ce'' <% v', 'v %> ''28dd2c7955ce''',
  'tags && ''{t7}''', 'tags @> ''{t7,all}''', 'tags <@ ''{t7,all}''', 'tags = ''{t7,NULL,all}''', 'tags @> ''{}''', 'tags && ARRAY[NULL::text]', '''{t7}'' && tags', 'tags && ARRAY[''t7'', ''t8'']::text[]',
  'numbers @> ''{1.00, 5}''', 'numbers && ''{750.25}''',
  'words @@ to_tsquery(''english'', ''dogs & 77'')', 'words @@ ''77 | 78''', 'words @@ to_tsquery(''english'', ''dog & !77'')', 'words @@ to_tsquery(''english'', ''c4ca:*'')',
  'words @@ to_tsquery(''english'', ''c4ca:* | 77'')', 'words @@ to_tsquery(''english'', ''dog <-> run'')', 'words @@ to_tsquery(''english'', ''!dog'')', '''77''::tsquery @@ words',
  'pairs @> ''k3=>v33''', 'pairs ? ''k3''', 'pairs ?| ''{k3,k4}''', 'pairs ?& ''{k3,null}''', 'pairs @> ''null=>NULL''',
  'id = 77 AND name LIKE ''%e%''', 'upper(name) LIKE ''%ABCD%''', 'upper(name::text) LIKE upper(''%abcd%'')', 'to_tsvector(''english'', name) @@ to_tsquery(''english'', ''name'')',
  'doc -> ''deep'' @> ''{"n": 5.5}''', 'lower(v) ~ ''abcd''']) AS condition;
CREATE TEMP TABLE found (of text, condition text, rows text, indexed boolean, estimate float8);
SET enable_seqscan = off;
DO $$
DECLARE
  c    record;
  twin text;
BEGIN
  FOR c IN SELECT condition FROM condition LOOP
    FOREACH twin IN ARRAY '{p,e}'::text[] LOOP
      EXECUTE format('INSERT INTO found SELECT %L, $1, (SELECT count(*) || '' '' || coalesce(sum(hashint4(id)), 0) FROM %1$s WHERE %2$s), $2, $3', twin, c.condition)
        USING c.condition, uses_index(plan_of(format('SELECT id FROM %s WHERE %s', twin, c.condition))),
          (plan_of(format('SELECT id FROM %s WHERE %s', twin, c.condition), ', COSTS on') -> 0 -> 'Plan' ->> 'Plan Rows')::float8;
    END LOOP;
  END LOOP;
END
$$;
SELECT is(e.rows, p.rows, 'the same rows: ' || condition) FROM found e JOIN found p USING (condition) WHERE e.of = 'e' AND p.of = 'p';
SELECT is(e.indexed, p.indexed, 'by an index as plain columns: ' || condition) FROM found e JOIN found p USING (condition) WHERE e.of = 'e' AND p.of = 'p';
SELECT cmp_ok((SELECT count(*) FROM found WHERE of = 'e' AND indexed), '>=', 50::bigint, 'most of them');
-- a sample each, whose most frequent words plain tsvectors keep apart
SELECT cmp_ok(greatest(e.estimate, p.estimate) / least(e.estimate, p.estimate), '<', 1.5::float8, 'estimated as plain columns: ' || condition)
FROM found e JOIN found p USING (condition) WHERE e.of = 'e' AND p.of = 'p' AND condition !~ 'words|->|to_tsvector|lower|upper';

-- ---- in all sorts of statements ----

PREPARE by_doc(jsonb) AS SELECT id FROM e WHERE doc @> $1 ORDER BY id;
PREPARE by_doc_plain(jsonb) AS SELECT id FROM p WHERE doc @> $1 ORDER BY id;
PREPARE by_text(text) AS SELECT id FROM e WHERE name LIKE $1 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
SELECT results_eq('EXECUTE by_doc(''{"k": 8}'')', 'EXECUTE by_doc_plain(''{"k": 8}'')', 'a generic plan');
SELECT ok(uses_index(plan_of('EXECUTE by_doc(''{"k": 8}'')')), 'uses the index');
SELECT ok(uses_index(plan_of('EXECUTE by_text(''%abcd%'')')), 'also for LIKE');
RESET plan_cache_mode;
CREATE VIEW shown WITH (security_barrier) AS SELECT id, doc, name FROM e WHERE id > 100;
SELECT ok(uses_index(plan_of('SELECT id FROM shown WHERE doc @> ''{"k": 5}'' AND id < 1000')) IS NOT NULL, 'through a view with a barrier');
CREATE VIEW open AS SELECT id, doc, name FROM e WHERE id > 100;
SELECT ok(uses_index(plan_of('SELECT id FROM open WHERE doc @> ''{"k": 5}''')), 'through a view by the index');
SELECT ok(uses_index(plan_of('SELECT count(*) FROM p JOIN e USING (id) WHERE e.name LIKE ''%abcd%''')), 'in a join');
SELECT ok(uses_index(plan_of('DELETE FROM e WHERE words @@ ''77''')), 'in DELETE');
SELECT is((SELECT count(*) FROM p WHERE EXISTS (SELECT FROM e WHERE e.id = p.id AND e.doc @> '{"k": 5}')), (SELECT count(*) FROM p WHERE doc @> '{"k": 5}'), 'in a subquery');
UPDATE e SET doc = doc || '{"k": 12345}' WHERE id = 7;
INSERT INTO e (id, name) VALUES (4001, 'Name of the last');
SELECT is((SELECT id FROM e WHERE doc @> '{"k": 12345}'), 7, 'what was changed is found');
SELECT is((SELECT id FROM e WHERE name LIKE '%of the last%'), 4001, 'and what is new');
SELECT ok(gin_clean_pending_list(indexrelid) >= 0, 'the pending list is taken over') FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am m ON m.oid = relam
WHERE indrelid = 'e'::regclass AND amname = 'gin' LIMIT 1;
SELECT is((SELECT id FROM e WHERE doc @> '{"k": 12345}'), 7, 'from which it is found');

-- ---- partitions, LIKE, ALTER TYPE, unordered columns ----

CREATE TABLE parts (id int, doc encrypted_jsonb, tags encrypted_text(nosalt,unordered)[]) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (1) TO (100);
CREATE INDEX ON parts USING gin (doc);
SELECT lives_ok('CREATE INDEX ON parts USING gin (tags)', 'elements of arrays that are declared unordered');
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
INSERT INTO parts VALUES (1, '{"a": 1}', '{x}'), (101, '{"a": 1}', '{y}');
SELECT is((SELECT count(*) FROM parts WHERE doc @> '{"a": 1}' AND tags && '{x,y}'), 2::bigint, 'partitions');
SELECT is_empty($$SELECT indexrelid::regclass FROM pg_index WHERE indrelid IN ('parts'::regclass, 'part1'::regclass, 'part2'::regclass) AND pg_get_indexdef(indexrelid) !~ 'salt=''?[0-9a-f]{32}'$$, 'have salts, too');
CREATE TABLE alike (LIKE e INCLUDING ALL);
INSERT INTO alike SELECT * FROM e;
SELECT is((SELECT count(*) FROM alike WHERE doc @> '{"k": 5}'), (SELECT count(*) FROM p WHERE doc @> '{"k": 5}'), 'LIKE INCLUDING ALL');
ALTER TABLE alike ALTER doc TYPE encrypted_jsonb(aes128,salt,mac);
SELECT is((SELECT count(*) FROM alike WHERE doc @> '{"k": 5}'), (SELECT count(*) FROM p WHERE doc @> '{"k": 5}'), 'ALTER TYPE to another specification');

-- ---- conversions ----

CREATE TABLE moved (LIKE p);
CREATE INDEX moved_doc ON moved USING gin (doc);
CREATE INDEX moved_path ON moved USING gin (doc jsonb_path_ops);
CREATE INDEX moved_name ON moved USING gin (name gin_trgm_ops) WHERE id > 5;
INSERT INTO moved SELECT * FROM p;
CREATE FUNCTION classes() RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(c.opcname, ' ' ORDER BY i.indexrelid::regclass::text) FROM pg_index i JOIN pg_opclass c ON c.oid = i.indclass[0] WHERE i.indrelid = 'moved'::regclass $$;
SELECT lives_ok($$SELECT tde_internal.tde_convert_offline('moved', '{doc,name}', NULL, true)$$, 'a column that has such indexes becomes encrypted');
SELECT is(classes(), 'encrypted_jsonb_ops encrypted_text_gin_trgm_ops encrypted_jsonb_path_ops', 'its indexes with it');
SELECT is((SELECT count(*) FROM moved WHERE doc @> '{"k": 5}'), (SELECT count(*) FROM p WHERE doc @> '{"k": 5}'), 'and find the rows');
SELECT lives_ok($$SELECT tde_internal.tde_convert_offline('moved', '{doc,name}', NULL, false)$$, 'and plain again');
SELECT is(classes(), 'jsonb_ops gin_trgm_ops jsonb_path_ops', '... likewise');

-- ---- who may not decrypt ----

CREATE ROLE blind;
GRANT SELECT ON e TO blind;
CREATE ROLE may_see;
SET tde_column.decrypt_role = 'may_see';
SET ROLE blind;
SELECT throws_ok('SELECT id FROM e WHERE ' || condition, '42501', NULL, 'refused: ' || condition)
FROM unnest('{"doc @> ''{\"k\": 5}''","doc @> ''{\"none\": 1}''","name LIKE ''%abcd%''","name LIKE ''%zzz%''","name % ''x''","words @@ ''none''","doc ? ''none''"}'::text[]) condition;
SELECT throws_ok('EXPLAIN SELECT id FROM e WHERE doc @> ''{"none": 1}''', '42501', NULL, 'nor does EXPLAIN tell');
SET enable_bitmapscan = off;
SELECT throws_ok('SELECT id FROM e WHERE doc @> ''{"k": 5}''', '42501', NULL, 'without the index, too');
RESET enable_bitmapscan;
RESET ROLE;
RESET tde_column.decrypt_role;

-- ---- errors ----

SELECT throws_ok('CREATE INDEX ON e USING gist (name gist_trgm_ops)', '42804', 'operator class "gist_trgm_ops" does not accept data type encrypted_text', 'GiST has none');
SELECT throws_ok('CREATE INDEX ON e USING gin (doc jsonb_ops (salt = ''xyz''))', '22023', 'salt of an operator class must be 32 hexadecimal digits', 'a salt that is none');
SELECT lives_ok('CREATE INDEX given ON e USING gin (doc jsonb_ops (salt = ''0123456789abcdef0123456789abcdef''))', 'one that is, as a dump has it');
SELECT matches(pg_get_indexdef('given'::regclass), 'salt=''?0123456789abcdef', 'stays');
DROP EXTENSION pg_trgm CASCADE;
SELECT is_empty('SELECT 1 FROM pg_opclass WHERE opcname ~ ''trgm''', 'with the extension its classes go');

-- An index of elements in their order, as PostgreSQL's own class makes it.
CREATE TABLE ordered (tags encrypted_text(nosalt)[]);
CREATE INDEX ordered_tags ON ordered USING gin (tags);
UPDATE pg_index SET indclass = (SELECT c.oid::text FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod WHERE opcname = 'array_ops' AND amname = 'gin')::oidvector WHERE indexrelid = 'ordered_tags'::regclass;
UPDATE pg_attribute SET atttypid = 'encrypted_text'::regtype, attoptions = NULL WHERE attrelid = 'ordered_tags'::regclass;
SELECT is(finding, 'index ordered_tags tells the order of all elements of the arrays in a column', 'the audit names it') FROM tde_audit() WHERE topic = 'order' AND object = 'ordered' AND finding ~ 'elements';
SELECT finish();
ROLLBACK;
