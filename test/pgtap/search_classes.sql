-- GIN indexes whose operator class changes under them, and of columns of all specifications and collations: the rows of plain twins, or an error that
-- says what to do.
BEGIN;
\ir include/plan.sql
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE EXTENSION pg_trgm VERSION '1.3';
SELECT tde_create_gin_class('gin_trgm_ops') \g /dev/null

CREATE TABLE p (id int, name text);
CREATE TABLE e (id int, name encrypted_text);
INSERT INTO p SELECT i, 'Name ' || md5(i::text) FROM generate_series(1, 1000) i;
INSERT INTO e SELECT * FROM p;
CREATE INDEX p_name ON p USING gin (name gin_trgm_ops);
CREATE INDEX e_name ON e USING gin (name gin_trgm_ops);
ANALYZE;
SET enable_seqscan = off;
CREATE FUNCTION rows_of(twin text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found text;
BEGIN
  EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(hashint4(id)), 0) FROM %s WHERE %s', twin, condition) INTO found;
  RETURN found;
END
$$;
CREATE FUNCTION same(what text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT is(rows_of('e', c), rows_of('p', c), what || ': ' || c) FROM unnest('{"name LIKE ''%abc%''","name ~* ''AB[0-9]''","name % ''Name 28dd2c7955ce926456240b2ff0100bde''"}'::text[]) c
  UNION ALL SELECT is((SELECT count(*) FROM tde_verify_table('e')), 0::bigint, what || ': nothing is wrong')
$$;

-- ---- the extension is updated ----

PREPARE by_name(text) AS SELECT count(*) FROM e WHERE name LIKE $1;
SELECT same('an old version');
SELECT results_eq('EXECUTE by_name(''%abc%'')', 'SELECT count(*) FROM p WHERE name LIKE ''%abc%''', 'a prepared statement');
ALTER EXTENSION pg_trgm UPDATE;
SELECT same('updated');
SELECT results_eq('EXECUTE by_name(''%abc%'')', 'SELECT count(*) FROM p WHERE name LIKE ''%abc%''', 'the prepared statement goes on');
INSERT INTO e VALUES (2001, 'Name of abc'); INSERT INTO p VALUES (2001, 'Name of abc');
SELECT same('written afterwards');
SELECT is(tde_create_gin_class('gin_trgm_ops'), '{encrypted_text,encrypted_varchar}'::regtype[], 'the class is made again');
SELECT is(rows_of('e', 'name = ''Name of abc'''), rows_of('p', 'name = ''Name of abc'''), '... and an operator that came with the update finds the row');
SELECT same('made again');

-- ---- the class is dropped ----

SELECT throws_ok(statement, '2BP01', NULL, 'no part of it goes alone: ' || statement)
FROM unnest('{"ALTER OPERATOR FAMILY encrypted_text_gin_trgm_ops USING gin DROP FUNCTION 2 (text)","DROP FUNCTION gin_extract_value_trgm(text, internal)","DROP OPERATOR CLASS gin_trgm_ops USING gin"}'::text[]) statement;
SELECT same('whole');
SELECT throws_ok('DROP OPERATOR CLASS encrypted_text_gin_trgm_ops USING gin', '2BP01', NULL, 'a class goes with its index alone');
SELECT lives_ok('DROP OPERATOR CLASS encrypted_text_gin_trgm_ops USING gin CASCADE', '... as the owner says');
SELECT is(to_regclass('e_name'), NULL, '... and the index is gone');
SELECT is(rows_of('e', 'name LIKE ''%abc%'''), rows_of('p', 'name LIKE ''%abc%'''), '... and rows are found without');
SELECT throws_ok('CREATE INDEX ON e USING gin (name gin_trgm_ops)', '42804', NULL, 'there is no class now');
SELECT lives_ok('SELECT tde_create_gin_class(''gin_trgm_ops'')', 'it is made anew');
SELECT lives_ok('CREATE INDEX e_name ON e USING gin (name gin_trgm_ops)', '... and so is the index');
SELECT same('anew');

-- ---- all specifications ----

CREATE TABLE source AS SELECT i AS id, 'Name ' || md5(i::text) AS name, ARRAY['t' || i % 50, NULL, 'all'] AS tags, jsonb_build_object('k', i % 100) AS doc FROM generate_series(1, 500) i;
CREATE TEMP TABLE found (spec text, condition text, encrypted text, plain text, problems bigint);
DO $$
DECLARE
  spec      text;
  condition text;
BEGIN
  FOREACH spec IN ARRAY '{salt\,gcm,nosalt\,gcm,salt\,mac,nosalt\,mac,nosalt\,sha256\,cbc,salt\,nomac,nosalt\,nomac,aes128\,unordered,nosalt\,unordered,''3des168''\,salt\,sha256}'::text[] LOOP
    EXECUTE format('CREATE TABLE spec (id int, name encrypted_text(%1$s), tags encrypted_text(%1$s)[], doc encrypted_jsonb(%2$s))', spec, regexp_replace(spec, ',(unordered|nomac)', ''));
    INSERT INTO spec SELECT * FROM source;
    CREATE INDEX ON spec USING gin (name gin_trgm_ops, tags);
    CREATE INDEX ON spec USING gin (doc);
    UPDATE spec SET name = name || 'x', doc = doc || '{"new": 1}' WHERE id % 5 = 0;
    FOREACH condition IN ARRAY '{"name LIKE ''%abc%''","tags && ''{t7}''","tags @> ''{t7,all}''","doc @> ''{\"k\": 5}''","doc ? ''k''"}'::text[] LOOP
      INSERT INTO found SELECT spec, condition, rows_of('spec', condition), rows_of('source', condition), (SELECT count(*) FROM tde_verify_table('spec'));
    END LOOP;
    DROP TABLE spec;
  END LOOP;
END
$$;
SELECT is(encrypted, plain, spec || ': ' || condition) FROM found;
SELECT is(problems, 0::bigint, spec || ': nothing is wrong') FROM found;
SELECT is(count(*), 50::bigint, 'of each one') FROM found;

-- ---- collations by which different strings are equal ----

SELECT EXISTS (SELECT FROM pg_collation WHERE collname = 'en-x-icu') AS icu \gset
\if :icu
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE pc (id int, tags text[] COLLATE ignore_case, name text COLLATE ignore_case);
CREATE TABLE ec (id int, tags encrypted_text[] COLLATE ignore_case, name encrypted_text COLLATE ignore_case);
INSERT INTO pc SELECT i, ARRAY[CASE i % 2 WHEN 0 THEN 'T' ELSE 't' END || i % 50, 'ALL'], 'N' || i FROM generate_series(1, 500) i;
INSERT INTO ec SELECT * FROM pc;
CREATE INDEX ON pc USING gin (tags);
CREATE INDEX ON ec USING gin (tags);
SELECT is(rows_of('ec', c), rows_of('pc', c), 'nondeterministic, by index: ' || c) FROM unnest('{"tags && ''{t7}''","tags @> ''{T7,all}''","tags <@ ''{t7,T8,all}''","tags = ''{T7,all}''","tags && ''{none}''"}'::text[]) c;
SELECT cmp_ok((SELECT count(*) FROM ec WHERE tags && '{t7,T8}'), '>', 10::bigint, 'case does not count');
SELECT ok(uses_index(plan_of('SELECT id FROM ec WHERE tags && ''{t7}''')), '... by the index');
SELECT is((SELECT count(*) FROM tde_verify_table('ec')), 0::bigint, '... in which nothing is wrong');
\else
  SELECT pass('this PostgreSQL has no ICU: not tested in its collations');
\endif
SELECT finish();
ROLLBACK;
