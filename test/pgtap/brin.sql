-- BRIN: the bounds of ranges of blocks are encrypted values, and lead queries to the blocks as those of plain columns do.
BEGIN;
\set ON_ERROR_STOP on
SELECT * FROM no_plan();
\i test/pgtap/include/family.sql
-- the bounds of a range must fit into a page
DELETE FROM sample WHERE length(value) > 1000;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;

SELECT set_eq(
  $$ SELECT enc::text FROM family f JOIN pg_opclass c ON c.opcintype = f.enc AND c.opcdefault JOIN pg_am m ON m.oid = c.opcmethod WHERE amname = 'brin' $$,
  $$ SELECT enc::text FROM family WHERE name NOT IN ('encrypted_bool', 'encrypted_json', 'encrypted_jsonb') $$,
  'all types have a class whose base types have one that keeps the least and the largest');
SELECT ok(amvalidate(c.oid), format('%s is complete', opcname))
FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod JOIN family f ON f.enc = c.opcintype WHERE amname = 'brin';

-- Each type, salted and not: what each operator finds through the index is what it finds without.
CREATE FUNCTION found(relation text, condition text, method text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  ids text;
BEGIN
  PERFORM set_config('enable_bitmapscan', (method = 'index')::text, true), set_config('enable_seqscan', (method <> 'index')::text, true);
  EXECUTE format('SELECT string_agg(id::text, '','' ORDER BY id) FROM %s WHERE %s', relation, condition) INTO ids;
  RETURN ids;
END
$$;
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  plan text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    plan := plan || line || E'\n';
  END LOOP;
  RETURN plan;
END
$$;
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM family WHERE name NOT IN ('encrypted_bool', 'encrypted_json', 'encrypted_jsonb') LOOP
    EXECUTE format('CREATE TABLE %I (id int, s %s(salt), u %2$s(nosalt)) WITH (fillfactor = 10)', 't_' || f.name, f.enc);
    EXECUTE format('INSERT INTO %I SELECT i, value::%s, value::%2$s FROM sample, generate_series(1, 5) i WHERE base::regtype = %L::regtype '
                   'UNION ALL SELECT 0, NULL, NULL', 't_' || f.name, f.plain, f.plain);
    EXECUTE format('CREATE INDEX %I ON %I USING brin (s, u) WITH (pages_per_range = 1)', 'b_' || f.name, 't_' || f.name);
  END LOOP;
END
$$;
SELECT is(found('t_' || name, condition, 'index'), found('t_' || name, condition, 'table'), format('%s: %s', name, left(condition, 60)))
FROM family JOIN (SELECT base::regtype, min(value) AS least, max(value) AS largest FROM sample GROUP BY 1) s USING (base)
CROSS JOIN unnest('{s,u}'::text[]) "column" CROSS JOIN unnest('{<,<=,=,>=,>}'::text[]) symbol CROSS JOIN unnest(ARRAY[least, largest]) value
CROSS JOIN LATERAL (SELECT format('%s %s %L', "column", symbol, value)) c (condition)
WHERE name NOT IN ('encrypted_bool', 'encrypted_json', 'encrypted_jsonb');

SET LOCAL enable_bitmapscan = on;
SET LOCAL enable_seqscan = off;

-- An index is used where one of a plain column would be: with constants of other types, parameters, BETWEEN, IN, IS NULL.
CREATE TABLE log (id int, at encrypted_timestamptz, i encrypted_int4, d encrypted_date, pad text);
INSERT INTO log SELECT g, '2025-01-01'::timestamptz + g * interval '1 hour', g, '2025-01-01'::date + g / 24, repeat('x', 200) FROM generate_series(1, 2000) g;
CREATE INDEX log_brin ON log USING brin (at, i, d) WITH (pages_per_range = 2);
ANALYZE log;
PREPARE by_parameter AS SELECT count(*) FROM log WHERE i < $1;
SELECT matches(plan_of(query), 'Bitmap Index Scan on log_brin\s+Index Cond: ', query)
FROM unnest(ARRAY['SELECT FROM log WHERE i = 5', 'SELECT FROM log WHERE i < 5::int8', 'SELECT FROM log WHERE 5::int2 > i', 'SELECT FROM log WHERE i BETWEEN 5 AND 7',
                  'SELECT FROM log WHERE i IN (5, 7)', 'SELECT FROM log WHERE i IS NULL', $$SELECT FROM log WHERE at > '2025-03-20'$$,
                  $$SELECT FROM log WHERE at < '2025-01-02'::date$$, $$SELECT FROM log WHERE d < '2025-01-02'::timestamp$$, 'EXECUTE by_parameter(7)']) query;
SELECT is((SELECT count(*) FROM log WHERE i BETWEEN 5 AND 7), 3::bigint, 'BETWEEN');
SELECT is((SELECT count(*) FROM log WHERE i < 5::int8), 4::bigint, 'beside another type');
SELECT is((SELECT count(*) FROM log WHERE at > '2025-03-20'), (SELECT count(*) FROM log WHERE at::timestamptz > '2025-03-20'), 'moments');
CREATE FUNCTION rechecked(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING OFF, SUMMARY OFF) ' || query INTO plan;
  RETURN jsonb_path_query_first(plan::jsonb, '$.**."Lossy Heap Blocks"');
END
$$;
SELECT cmp_ok(rechecked('SELECT FROM log WHERE i = 1000'), '<=', 2, 'one range is read for one value');

-- New ranges, values that make a range's bounds wider, and rows that go
INSERT INTO log (id, i) SELECT g, g FROM generate_series(2001, 4000) g;
SELECT is((SELECT count(*) FROM log WHERE i > 3990), 10::bigint, 'ranges that are not summed up are read');
SELECT cmp_ok(brin_summarize_new_values('log_brin'), '>', 0, 'ranges are summed up');
SELECT is((SELECT count(*) FROM log WHERE i > 3990), 10::bigint, 'and found');
UPDATE log SET i = i - 10000 WHERE id = 1;
SELECT is((SELECT id FROM log WHERE i < 0), 1, 'a new least value');
SELECT lives_ok($$ SELECT brin_desummarize_range('log_brin', 0) $$, 'a range is forgotten');
SELECT is((SELECT count(*) FROM log WHERE i BETWEEN 1 AND 9), 8::bigint, 'and read');

-- Names of classes of the base type that do the same
SELECT lives_ok($$ CREATE INDEX ON log USING brin (at timestamptz_minmax_ops, i int4_minmax_ops) $$, 'the default classes of the base types by name');
SELECT throws_ok($$ CREATE INDEX ON log USING brin (i int4_bloom_ops) $$, '42804', NULL, 'not a class that keeps hashes');
SELECT throws_ok($$ CREATE INDEX ON log USING brin (i int4_minmax_multi_ops) $$, '42804', NULL, 'nor one that keeps many values');

-- What an expression makes of a column is encrypted in it, too.
CREATE INDEX log_twice ON log USING brin ((i * 2)) WITH (pages_per_range = 2);
SELECT matches(plan_of('SELECT FROM log WHERE i * 2 = 3000'), 'Bitmap Index Scan on log_twice\s+Index Cond: ', 'an expression');
SELECT is((SELECT id FROM log WHERE i * 2 = 3000), 1500, 'found by it');
SELECT throws_ok($$ CREATE INDEX ON log USING brin (nullif(i * 2, 5)) $$, '42P17', NULL, 'an expression that decrypts');

SELECT * FROM finish();
ROLLBACK;
