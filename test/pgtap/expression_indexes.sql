-- Indexes over expressions of encrypted columns, and with such conditions: what PostgreSQL makes of plain columns is made of encrypted ones,
-- holds ciphertext, serves the same queries, and nothing else is.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();

-- Twins.
CREATE TABLE p (id int, email varchar(60), name text, c char(20), t timestamp, tz timestamptz, d date, j jsonb, a int, n numeric(10,2), b bytea,
                u uuid, x text, ok bool);
CREATE TABLE e (id int, email encrypted_varchar(60,aes128,salt), name encrypted_text(nosalt,sha256), c encrypted_bpchar(20), t encrypted_timestamp,
                tz encrypted_timestamptz, d encrypted_date, j encrypted_jsonb, a encrypted_int4(salt,nomac), n encrypted_numeric(10,2), b encrypted_bytea,
                u encrypted_uuid, x text, ok encrypted_bool);
INSERT INTO p
  SELECT g, 'User' || g || '@X.org', CASE WHEN g % 7 > 0 THEN 'Name ' || g || ' ' END, 'C' || g, timestamp '2020-01-01' + g * interval '1 hour',
         timestamptz '2020-01-01' + g * interval '1 hour', date '2020-01-01' + g, jsonb_build_object('k', 'v' || g, 'n', g), g, g / 4.0,
         convert_to('b' || g, 'UTF8'), md5(g::text)::uuid, 'x' || g, g % 50 = 0
  FROM generate_series(1, 1500) g;
INSERT INTO e SELECT * FROM p;

CREATE TEMP TABLE indexed (expression text, condition text);
INSERT INTO indexed VALUES
  ('lower(email)', '%s = ''user77@x.org'''), ('upper(name)', '%s IN (''NAME 8 '', ''NAME 9 '')'), ('lower(trim(name))', '%s = ''name 9'''),
  ('lower(trim(name)) text_pattern_ops', '%s LIKE ''name 10%%'''), ('lower(name) COLLATE "C"', '%s < ''name 2'' COLLATE "C"'),
  ('(lower(name) COLLATE "C" )', '%s < ''name 2'''), ('(email::text COLLATE "C" )', '%s > ''User9'''), ('lower(email COLLATE "C")', '%s = ''user77@x.org'''), ('left(name, 6)', '%s = ''Name 9'''), ('substr(email, 5)', '%s = ''77@X.org'''),
  ('length(name)', '%s > 9'), ('name || x', '%s = ''Name 9 x9'''), ('(email || '':'') || name', '%s = ''User9@X.org:Name 9 '''),
  ('email::text', '%s = ''User9@X.org'''), ('email::text text_pattern_ops', '%s LIKE ''User9%%'''), ('c::text', '%s = ''C9'''), ('upper(c)', '%s = ''C9'''),
  ('date_trunc(''day'', t)', '%s = ''2020-01-03'''), ('t::date', '%s BETWEEN ''2020-01-03'' AND ''2020-01-04'''), ('extract(month FROM d)', '%s = 3'),
  ('d + 1', '%s = ''2020-02-02'''), ('tz AT TIME ZONE ''UTC''', '%s < ''2020-01-03'''), ('t::time', '%s = ''03:00'''),
  ('date_trunc(''day'', tz)', '%s = ''2020-01-03'''), ('d::text', '%s = ''2020-02-02'''), ('tz::date', '%s = ''2020-02-02'''),
  ('j ->> ''k''', '%s = ''v77'''), ('(j ->> ''n'')::int', '%s < 10'), ('j -> ''n''', '%s = ''77'''), ('j #>> ''{k}''', '%s = ''v8'''), ('j[''k'']', '%s = ''"v8"'''),
  ('a + 1', '%s = 7'), ('a % 500', '%s = 7'), ('-a', '%s > -5'), ('abs(a - 700)', '%s < 5'), ('a::text', '%s = ''77'''), ('a::numeric', '%s = 77'), ('a::int8', '%s = 77'),
  ('a + n', '%s = 10'), ('n * 2', '%s = 10'), ('round(n)', '%s = 10'), ('round(n, 1)', '%s = 10.3'), ('floor(n)::int', '%s = 10'), ('n::int', '%s = 10'), ('greatest(a, 5)', '%s = 9'),
  ('a = 5', '%s'), ('a > 1490 AND ok', '%s'), ('md5(name)', '%s = md5(''Name 9 '')'), ('md5(b)', '%s = md5(''b9''::bytea)'), ('length(b)', '%s = 2'),
  ('encode(b, ''hex'')', '%s = ''6239'''), ('u::text', '%s = ''45c48cce-2e2d-7fbd-ea1a-fc51c7c6ad26'''), ('coalesce(name, ''none'')', '%s = ''none'''),
  ('coalesce(a, 0)', '%s = 9'), ('coalesce(n, a, 0)', '%s = 2.5'), ('coalesce(email, x)', '%s = ''User9@X.org'''), ('coalesce(a, 0) - coalesce(length(name), 1)', '%s = 2'),
  ('coalesce(lower(name), x)', '%s = ''x7'''), ('coalesce(d, date ''2020-01-01'')', '%s = ''2020-02-02'''), ('coalesce(length(name), 7)', '%s < 8'),
  ('concat(name, x)', '%s = ''x7'''), ('random() + a', '%s = 7'), ('name::varchar(3)', '%s = ''Nam'''), ('now() - t', '%s < interval ''1 day'''),
  ('ok', '%s'), ('ok::bool', 'NOT %s'), ('ok', '%s = true'), ('regexp_replace(name, ''[aeiou]'', '''')', '%s = ''Nme 9 '''), ('to_char(t, ''YYYY'')', '%s = ''2020'''),
  ('name LIKE ''Name 1%''', '%s'),
  ('CASE WHEN a > 700 THEN lower(name) END', '%s = ''name 900 '''), ('CASE WHEN ok THEN email ELSE ''none'' END', '%s = ''User50@X.org'''),
  ('lower(CASE WHEN name LIKE ''N%%'' AND NOT ok OR t IS NULL THEN name ELSE upper(x) END)', '%s IN (''x7'', ''name 9 '')'),
  ('CASE a WHEN 7 THEN email WHEN 8 THEN name ELSE x END', '%s = ''x9'''),
  ('CASE WHEN name IS NULL THEN ''-'' WHEN left(email, 5) = ANY (''{User7,User8}'') THEN email::text ELSE upper(name) END', '%s = ''User8@X.org'''),
  ('coalesce(CASE WHEN a < 10 THEN d END, ''2020-01-01'')', '%s = ''2020-01-05'''), ('CASE WHEN CASE WHEN ok THEN a ELSE a + 1 END > 1490 THEN a END', '%s = 1495'),
  ('CASE WHEN length(name) > 9 THEN name END', '%s = ''Name 1000 '''), ('greatest(name, email || ''x'')', '%s = ''User9@X.orgx'''), ('least(a, n, 7)', '%s = 1.5'),
  ('greatest(t::date, d)', '%s = ''2020-02-02'''), ('greatest(lower(name), ''name 8'') COLLATE "C"', '%s < ''name 9'''), ('least(j ->> ''k'', name)', '%s = ''v7'''),
  ('nullif(name, ''Name 8 '')', '%s = ''Name 9 '''), ('CASE WHEN random() > 2 THEN a ELSE 0 END', '%s = 0');

-- What happens to one of the tables: the error's code; or the types that the index has, if its condition uses it, and the rows that it finds; if it
-- gives their order, and the first of them; if it tells the greatest, and that.
CREATE TEMP TABLE outcome (expression text, condition text, of text, state text, types regtype[], used boolean, found bigint,
  ordered boolean, first text, extreme boolean, maximum text);
CREATE FUNCTION greatest_of(query text, OUT extreme boolean, OUT maximum text) LANGUAGE plpgsql AS $$
BEGIN
  extreme := plan_of(query)::text !~ '"Node Type": "Aggregate"';
  EXECUTE query INTO maximum;
EXCEPTION WHEN undefined_function THEN
  NULL;
END
$$;
SET enable_seqscan = off;
DO $$
DECLARE
  i record;
  twin text;
  query text;
  sorted text;
BEGIN
  FOR i IN SELECT DISTINCT * FROM indexed LOOP
    FOREACH twin IN ARRAY '{p,e}'::text[] LOOP
      BEGIN
        EXECUTE format('CREATE INDEX one ON %s (%s)', twin, CASE WHEN i.expression ~ '_ops$|COLLATE "C"$' THEN regexp_replace(i.expression, '^(.*)( \w+_ops| COLLATE "C")$', '(\1)\2')
                                                        ELSE '(' || i.expression || ')' END);
        query := format('SELECT id FROM %s WHERE %s', twin, format(i.condition, '(' || regexp_replace(i.expression, ' (\w+_ops|COLLATE "C")$', '') || ')'));
        sorted := format('SELECT %s AS value FROM %s ORDER BY 1 DESC LIMIT 400', regexp_replace(i.expression, ' \w+_ops$', ''), twin);
        EXECUTE 'ANALYZE ' || twin;
        EXECUTE format('INSERT INTO outcome SELECT $1, $2, $3, NULL, ARRAY(SELECT atttypid FROM pg_attribute WHERE attrelid = ''one''::regclass ORDER BY attnum),
                        $4::jsonb::text ~ ''"Index Name": "one"'', (SELECT sum(hashint4(id)) FROM (%s) q),
                        $5::jsonb::text ~ ''"Index Name": "one"'' AND $5::text !~ ''Sort Key'', (SELECT string_agg(regexp_replace(value::text, ''\.0+$'', ''''), '','') FROM (%s) q), m.*
                        FROM greatest_of($6) m', query, sorted)
          USING i.expression, i.condition, twin, plan_of(query), plan_of(sorted),
                format('SELECT max(%s) FROM %s', regexp_replace(i.expression, ' \w+_ops$', ''), twin);
        DROP INDEX one;
      EXCEPTION WHEN OTHERS THEN
        INSERT INTO outcome VALUES (i.expression, i.condition, twin, SQLSTATE || CASE WHEN SQLSTATE <> '42P17' THEN SQLERRM ELSE '' END);
      END;
    END LOOP;
  END LOOP;
END
$$;
-- Of these PostgreSQL makes something else before it looks for an order: it inlines functions in SQL, and computes constants.
CREATE TEMP TABLE folded AS SELECT unnest(ARRAY['coalesce(n, a, 0)', 'least(a, n, 7)', 'round(n)']) AS expression;
CREATE TEMP TABLE pair AS SELECT expression, condition, p.state AS plain_state, e.state, p.used AS plain_used, e.used, p.found AS plain_found, e.found, e.types,
    p.ordered AS plain_ordered, e.ordered, p.first AS plain_first, e.first, p.extreme AS plain_extreme, e.extreme, p.maximum AS plain_maximum, e.maximum
  FROM outcome p JOIN outcome e USING (expression, condition) WHERE p.of = 'p' AND e.of = 'e';

-- Not there: what is no function to PostgreSQL (subscripts, AND) or that are not IMMUTABLE.
SELECT is(state, plain_state, expression || ' can be indexed as it can of plain columns') FROM pair WHERE expression !~ ' AND ok$|j\[';
SELECT is(state, '42P17', expression || ' is refused') FROM pair WHERE expression ~ ' AND ok$|j\[';
SELECT cmp_ok((SELECT count(*) FROM pair WHERE state IS NULL), '>=', 60::bigint, 'most can');
SELECT is_empty('SELECT expression, types FROM pair WHERE state IS NULL AND NOT types <@ (SELECT array_agg(enc) FROM family)', 'what the index holds is encrypted');
SELECT is(found, plain_found, format(condition, expression) || ' finds the same rows') FROM pair WHERE state IS NULL;
SELECT is(used, plain_used, format(condition, expression) || ' uses the index as it does of plain columns') FROM pair WHERE state IS NULL AND condition <> 'NOT %s';
SELECT is(ordered, plain_ordered, 'ORDER BY ' || expression || ' uses the index as it does of plain columns') FROM pair WHERE state IS NULL AND expression NOT IN (SELECT * FROM folded);
SELECT is(first, plain_first, expression || ' gives the same') FROM pair WHERE state IS NULL;
SELECT is((extreme, maximum), (plain_extreme, plain_maximum), format('so does max(%s)', expression)) FROM pair WHERE state IS NULL;
SELECT cmp_ok(count(*), '>', 50::bigint, 'most serve ' || kind) FROM pair, LATERAL (VALUES ('ORDER BY', ordered), ('max', extreme)) k (kind, serves) WHERE serves GROUP BY kind;
SELECT ok(used, 'and NOT ok') FROM pair WHERE condition = 'NOT %s';

-- Conditions of indexes.
CREATE TEMP TABLE partial AS
  SELECT unnest(ARRAY['ok', 'NOT ok', 'ok AND x IS NOT NULL', 'NOT ok OR a = 1', 'name LIKE ''Name 1%''', 'name ~ ''^Name 1''', 'length(name) > 9',
                      'lower(email) = ''user9@x.org''', 'email::text > ''User8''', 'a % 2 = 0', 'a = ANY (ARRAY[1, 2, 3])', 'name IS NOT NULL',
                      'email::text COLLATE "C" > ''User8''', '''Name 8'' >= lower(name) COLLATE "C"']) AS condition;
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM partial LOOP
    EXECUTE format('CREATE INDEX one ON e (id) WHERE %s', c.condition);
    INSERT INTO outcome SELECT c.condition, NULL, 'partial', NULL, NULL,
      plan_of(format('SELECT id FROM e WHERE id = 9 AND (%s)', c.condition))::text ~ '"Index Name": "one"';
    DROP INDEX one;
  END LOOP;
END
$$;
SELECT ok(used, 'an index WHERE ' || expression || ' serves the same condition') FROM outcome WHERE of = 'partial';
SELECT is((SELECT count(*) FROM outcome WHERE of = 'partial'), (SELECT count(*) FROM partial), 'all can be made');
-- By its definition a dump makes it again.
CREATE INDEX collated ON e (id) WHERE 'User8' > email::text COLLATE "C" OR lower(name) COLLATE "C" > 'n';
SELECT is(cardinality(string_to_array(pg_get_indexdef('collated'::regclass), 'COLLATE "C"')), 3, 'the definition of a condition has its collations');
DROP INDEX collated;

-- UNIQUE, ON CONFLICT, joins, subqueries, prepared statements, partitions.
CREATE UNIQUE INDEX unique_email ON e (lower(email)) WHERE x IS NOT NULL;
SELECT throws_ok($$INSERT INTO e (email, x) VALUES ('USER9@x.ORG', 'x')$$, '23505', NULL, 'UNIQUE');
SELECT lives_ok($$INSERT INTO e (id, email, x) VALUES (-1, 'USER9@x.ORG', 'x') ON CONFLICT (lower(email)) WHERE x IS NOT NULL DO UPDATE SET x = 'again'$$, 'ON CONFLICT');
SELECT is((SELECT x FROM e WHERE lower(email) = 'user9@x.org'), 'again', 'finds the row');
CREATE UNIQUE INDEX unique_number ON e (coalesce(a, 0)) WHERE id < 0;
INSERT INTO e (id) VALUES (-3);
SELECT throws_ok('INSERT INTO e (id, a) VALUES (-4, 0)', '23505', NULL, 'UNIQUE of COALESCE');
SELECT lives_ok('INSERT INTO e (id) VALUES (-5) ON CONFLICT (coalesce(a, 0)) WHERE id < 0 DO UPDATE SET a = 0', 'and ON CONFLICT');
CREATE TABLE conflicting (n encrypted_int4(nosalt), ok encrypted_bool, f encrypted_bool);
CREATE UNIQUE INDEX ON conflicting (n) WHERE ok;
INSERT INTO conflicting VALUES (1, true);
SELECT lives_ok('INSERT INTO conflicting VALUES (1, true) ON CONFLICT (n) WHERE ok DO NOTHING', 'ON CONFLICT where a boolean is true');
SELECT throws_ok('INSERT INTO conflicting VALUES (1) ON CONFLICT (n) WHERE f DO NOTHING', '42P10', NULL, 'not another one');
SELECT is((SELECT count(*) FROM e WHERE id = -3 AND a = 0), 1::bigint, 'find the row');
DELETE FROM e WHERE id = -3;
DROP INDEX unique_number;
CREATE INDEX every_email ON e (lower(email));
PREPARE by_email (text) AS SELECT id FROM e WHERE lower(email) = lower($1);
SELECT results_eq('EXECUTE by_email(''USER8@X.ORG'')', 'VALUES (8)', 'a parameter');
SET LOCAL plan_cache_mode = force_generic_plan;
SELECT ok(plan_of('EXECUTE by_email(''x'')')::text ~ 'every_email', 'in a generic plan');
SELECT ok(plan_of('SELECT FROM e v JOIN e w ON lower(v.email) = lower(w.email) WHERE v.id = 3', '')::text ~ '"Index Cond": "[^"]*v\.email', 'a join');
SELECT ok(plan_of('SELECT id FROM e WHERE lower(email) = ''x'' UNION ALL SELECT 1')::text ~ 'every_email', 'a UNION');
SELECT ok(plan_of('SELECT FROM (SELECT * FROM e WHERE lower(email) = ''x'' OFFSET 0) s')::text ~ 'every_email', 'a subquery');
SELECT ok(plan_of('WITH s AS MATERIALIZED (SELECT id FROM e WHERE lower(email) = ''x'') SELECT FROM s')::text ~ 'every_email', 'WITH');
SELECT ok(plan_of('SELECT (SELECT max(id) FROM e WHERE lower(e.email) = p.x) FROM p')::text ~ 'every_email', 'a subquery of each row');
SELECT is((SELECT count(*) FROM e v JOIN e w ON v.id = w.id + 1 WHERE (SELECT w.a) < v.a), 1499::bigint, 'a subquery that reads the second of two tables');
SELECT ok(plan_of('UPDATE e SET x = x WHERE lower(email) = ''x''')::text ~ 'every_email', 'UPDATE');
SELECT ok(plan_of('SELECT FROM p LEFT JOIN e ON lower(e.email) = p.x')::text ~ 'every_email', 'an outer join');
SELECT is((SELECT count(*) FROM p LEFT JOIN e ON lower(e.email) = 'user' || p.id || '@x.org' WHERE e.id = p.id), 1500::bigint, 'finds the rows');
-- PostgreSQL makes inner joins of outer ones where a condition rejects rows of NULLs, or else has no plan for them
SELECT is((SELECT count(*) FROM p FULL JOIN e ON p.id = 1 WHERE lower(e.email) = 'user8@x.org'), 1::bigint, 'a FULL JOIN that a condition makes another one');
SELECT is((SELECT count(*) FROM p FULL JOIN e ON p.id = 1 WHERE CASE WHEN p.id > 1 THEN 'x' ELSE 'user8@x.org' END || '' = lower(e.email)), 1::bigint, 'likewise, beside a CASE');
SELECT is((SELECT count(*) FROM p LEFT JOIN e ON e.id = p.id AND p.id > 1 WHERE CASE WHEN p.id = 1 THEN 'x' END = coalesce(lower(e.email), 'x')), 1::bigint,
          'but NULL in a COALESCE rejects nothing');
SELECT ok(plan_of('SELECT FROM p LEFT JOIN e ON e.id = p.id WHERE lower(e.email) = ''x''')::text ~ 'every_email', 'a condition on the optional table of an outer join');
SELECT ok(plan_of('SELECT FROM p LEFT JOIN e ON e.id = p.id WHERE ' || condition)::text !~ '"Join Type": "(Left|Right|Anti)"', 'no outer join any more: ' || condition)
FROM unnest(ARRAY['lower(e.email) = ''x''', 'lower(e.email) = p.x', 'NOT lower(e.email) > ''x''', 'lower(e.email) IN (''x'', ''y'')', 'p.x = ''x'' AND lower(e.email) < ''x''']) condition;
SELECT ok(plan_of('SELECT FROM p LEFT JOIN e ON e.id = p.id WHERE ' || condition)::text ~ '"Join Type": "(Left|Right|Anti)"', 'still one: ' || condition)
FROM unnest(ARRAY['lower(e.email) = ''x'' OR p.id = 1', 'coalesce(e.name, ''none'') = ''none''', '(lower(e.email) = ''x'') IS NULL', 'e.id IS NULL']) condition;
SELECT is((SELECT count(*) FROM p LEFT JOIN e ON e.id = p.id + 700 WHERE (NOT lower(e.email) < 'user9') IS NOT TRUE),
  (SELECT count(*) FROM p LEFT JOIN p e ON e.id = p.id + 700 WHERE (NOT lower(e.email) < 'user9') IS NOT TRUE), 'rows of NULLs are where they are for plain columns');
DROP INDEX every_email, unique_email;
SELECT results_eq('EXECUTE by_email(''USER8@X.ORG'')', 'VALUES (8)', 'after the index is dropped');
CREATE TABLE parent (id int, s encrypted_text) PARTITION BY RANGE (id);
CREATE TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (1000);
CREATE INDEX ON parent (lower(s));
CREATE TABLE later PARTITION OF parent FOR VALUES FROM (1000) TO (2000);
INSERT INTO parent SELECT id, email FROM p WHERE id < 2000;
SELECT is(cardinality(all_of(plan_of('SELECT FROM parent WHERE lower(s) = ''user5@x.org'''), '"Index Name"')), 2, 'partitions');
SELECT is((SELECT id FROM parent WHERE lower(s) = 'user1005@x.org'), 1005, 'find their rows');

-- Its definition can be executed again, as a dump does, and serves the same.
CREATE INDEX every_email ON e (lower(email), (a::text), (j ->> 'k') DESC);
SELECT lives_ok(replace(pg_get_indexdef('every_email'::regclass), 'every_email', 'restored'), 'the definition');
SELECT is(replace(pg_get_indexdef('restored'::regclass), 'restored', 'every_email'), pg_get_indexdef('every_email'::regclass), 'makes the same index');
DROP INDEX every_email;
SELECT ok(plan_of('SELECT FROM e WHERE lower(email) = ''x''')::text ~ 'restored', 'which serves the same');
SELECT lives_ok('ALTER TABLE e ALTER email TYPE varchar(90), ALTER a TYPE encrypted_int4(aes256,nosalt)', 'its columns can be altered');
SELECT ok(plan_of('SELECT FROM e WHERE lower(email) = ''x''')::text ~ 'restored', 'and it serves the same');
SELECT is((SELECT id FROM e WHERE lower(email) = 'user5@x.org'), 5, 'and finds the rows');

-- Functions of users.
CREATE FUNCTION mine(text) RETURNS text LANGUAGE sql IMMUTABLE RETURN lower($1);
CREATE FUNCTION mine_encrypted(encrypted_text) RETURNS encrypted_text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN lower($1); END';
CREATE FUNCTION lower(encrypted_text, int) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'x';
SELECT throws_ok('CREATE INDEX ON e (mine(name))', '42P17', NULL, 'one of plain values');
SELECT lives_ok('CREATE INDEX ON e (mine_encrypted(name))', 'one of encrypted values');

-- Operators of users that are called as PostgreSQL's are.
CREATE SCHEMA other;
CREATE FUNCTION other.same_in_any_case(text, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN lower($1) OPERATOR(pg_catalog.=) lower($2); END';
CREATE OPERATOR other.= (LEFTARG = text, RIGHTARG = text, FUNCTION = other.same_in_any_case);
CREATE OPERATOR other.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = other.same_in_any_case);
CREATE TABLE c (a encrypted_text(nosalt), b encrypted_varchar);
INSERT INTO c VALUES ('Name', 'Name');
CREATE INDEX ON c (a);
CREATE INDEX ON c (b);
CREATE INDEX ON c (lower(a));
SELECT results_eq('SELECT count(*) FROM c WHERE ' || condition, 'VALUES (1::bigint)', condition)
FROM unnest(ARRAY['a OPERATOR(other.=) ''NAME''', 'a::text OPERATOR(other.=) ''NAME''', 'b::text OPERATOR(other.=) ''NAME''', 'lower(a) OPERATOR(other.=) ''NAME''',
  'lower(a) OPERATOR(other.<>) ''NAME''', 'a::text OPERATOR(other.=) ANY (ARRAY[''x'', ''NAME''])', 'NOT a::text OPERATOR(other.<>) ''X''']) condition;
SELECT throws_ok('CREATE INDEX ON c ((1)) WHERE a::text OPERATOR(other.=) ''NAME''', '42P17', NULL, 'and no condition is made of one');
SELECT ok(plan_of('SELECT FROM c WHERE a::text = ''Name''')::text ~ '"Index Name": "c_a_idx"', 'while PostgreSQL''s own uses the index');
-- Citext's equality is its own.
CREATE EXTENSION citext;
SELECT tde_create_type('citext');
CREATE TABLE ci (t encrypted_citext);
INSERT INTO ci VALUES ('Name');
CREATE INDEX ON ci (t);
SELECT ok(plan_of(format('SELECT FROM ci WHERE t::citext %s ''x''', operator))::text ~ '"Index Name": "ci_t_idx"', operator || ' of a user''s type') FROM unnest('{=,<}'::text[]) operator;
SELECT results_eq('SELECT count(*) FROM ci WHERE t::citext = ''NAME''', 'VALUES (1::bigint)', 'finds its rows');

-- The function itself calls nothing else, for nobody.
SELECT throws_ok(format('SELECT tde_internal.tde_computed(%s, %L::regprocedure, %s) FROM e LIMIT 1', result, function, arguments), state, NULL,
                 format('%s(%s)', function, arguments))
FROM (VALUES ('NULL::encrypted_text(nosalt)', 'pg_read_file(text)', 'name', '0A000'), ('NULL::encrypted_text(nosalt)', 'now()', 'name', '0A000'),
             ('NULL::encrypted_text(nosalt)', 'mine(text)', 'name', '0A000'), ('NULL::encrypted_text(nosalt)', 'array_out(anyarray)', 'name', '0A000'),
             ('NULL::encrypted_text(nosalt)', 'textin(cstring)', 'name', '0A000'), ('NULL::encrypted_text(nosalt)', 'int4_sum(bigint,integer)', 'a', '22023'),
             ('NULL::encrypted_text', 'lower(text)', '''x''::text', '22023'), ('NULL::text', 'lower(text)', 'name', '42809'),
             ('NULL::encrypted_text(nosalt)', 'lower(text)', '''x''', '42P18'), ('NULL::encrypted_text(nosalt)', 'lower(text)', 'VARIADIC ARRAY[x]', '0A000'),
             ('NULL::encrypted_int4(nosalt)', 'lower(text)', 'name', '22P02'), ('NULL::encrypted_text(nosalt)', '-', 'name, name, name', '22023'))
  AS v (result, function, arguments, state);
REVOKE EXECUTE ON FUNCTION pg_catalog.lower(text) FROM PUBLIC;
CREATE ROLE nobody;
GRANT SELECT, INSERT ON e TO nobody;
SET ROLE nobody;
SELECT throws_ok('SELECT tde_internal.tde_computed(NULL::encrypted_text(nosalt), ''lower(text)''::regprocedure, name) FROM e', '42501', NULL, 'nor one that its caller may not call');
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_catalog.lower(text) TO PUBLIC;
-- Who may not decrypt can write, and learns nothing by errors.
CREATE ROLE reader;
SET tde_column.decrypt_role = 'reader';
SET ROLE nobody;
SELECT lives_ok($$INSERT INTO e (id, email, j) VALUES (0, 'New@X.org', '{}')$$, 'who may not decrypt can write');
SELECT throws_like($$SELECT tde_internal.tde_computed(NULL::encrypted_int4(nosalt), 0::regprocedure, email) FROM e$$, 'permission denied to decrypt%', 'and does not see values in errors');
SELECT throws_like(format('SELECT tde_internal.tde_computed(%s, %L::regprocedure, %s) FROM e', result, function, arguments), 'permission denied to decrypt%', 'nor in those of ' || function)
FROM (VALUES ('NULL::encrypted_text(nosalt)', 'to_tsvector(regconfig,text)', 'email, x'), ('NULL::encrypted_text(nosalt)', 'to_tsquery(regconfig,text)', $$'simple'::regconfig, name$$),
             ('NULL::encrypted_bool(nosalt)', 'jsonb_path_exists(jsonb,jsonpath,jsonb,boolean)', $$'{}'::jsonb, name, '{}'::jsonb, false$$))
  AS v (result, function, arguments);
SELECT lives_ok($$SELECT tde_internal.tde_computed(NULL::encrypted_text(nosalt), 'lower(text)'::regprocedure, email) = 'x' FROM e$$, 'nor what is computed');
RESET ROLE;

-- ---- errors name the key as it was declared ----

CREATE TABLE pu (id int, a text, n int4, b text);
CREATE TABLE eu (id int, a encrypted_text(nosalt), n encrypted_int4(nosalt), b encrypted_text(nosalt));
CREATE FUNCTION pg_temp.detail(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  said text;
BEGIN
  EXECUTE command;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
  RETURN concat_ws(' ', SQLSTATE, SQLERRM, said);
END
$$;
CREATE FUNCTION pg_temp.twin_detail(command text, OUT plain text, OUT enc text) LANGUAGE sql AS $$
  SELECT pg_temp.detail(replace(command, '@', 'pu')), replace(pg_temp.detail(replace(command, '@', 'eu')), 'eu', 'pu') $$;
SELECT is(plain, enc, 'a row') FROM pg_temp.twin_detail('INSERT INTO @ VALUES (1, ''Abc'', 3, ''x'')');
SELECT pg_temp.twin_detail(command) FROM unnest(ARRAY['CREATE UNIQUE INDEX @_lower ON @ (lower(a))', 'CREATE UNIQUE INDEX @_sum ON @ (id, (n + 1))',
  'CREATE UNIQUE INDEX @_both ON @ ((a || b), upper(b), n)']) command \g /dev/null
SELECT is(enc, plain, 'as of plain columns: ' || command)
FROM unnest(ARRAY['INSERT INTO @ VALUES (2, ''aBC'', 4, ''y'')', 'INSERT INTO @ VALUES (1, ''q'', 3, ''y'')', 'UPDATE @ SET a = ''ABC'', id = 9 WHERE false; INSERT INTO @ VALUES (7, ''abc'', 1, ''z'')',
  'CREATE UNIQUE INDEX ON @ ((id - id)); INSERT INTO @ VALUES (5, ''r'', 5, ''r'')',
  'INSERT INTO @ VALUES (11, ''u'', 31, ''u''), (12, ''v'', 32, ''v''); CREATE UNIQUE INDEX ON @ ((n / 100))',
  'CREATE TABLE copied (LIKE @ INCLUDING INDEXES); INSERT INTO copied VALUES (1, ''A''); DO $d$ BEGIN INSERT INTO copied VALUES (2, ''a''); END $d$']) command, pg_temp.twin_detail(command);
SELECT matches(enc, 'Key \(lower\(a\)\)=\(abc\) already exists', 'it is the key of lower(a)') FROM pg_temp.twin_detail('INSERT INTO @ VALUES (2, ''aBC'', 4, ''y'')');

SELECT finish();
ROLLBACK;
