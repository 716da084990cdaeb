-- Queries that want the order of an expression, which an index of encrypted columns has encrypted: the plans are those of plain columns, and so are
-- the rows.  (expression_indexes.sql has the expressions.)
BEGIN;
\ir include/plan.sql
SELECT * FROM no_plan();

CREATE TABLE p (id int PRIMARY KEY, name text, email varchar(60), n int, secret text);
CREATE TABLE e (id int PRIMARY KEY, name encrypted_text, email encrypted_varchar(60), n encrypted_int4, secret encrypted_text(unordered));
INSERT INTO p SELECT g, CASE WHEN g % 5 > 0 THEN 'Name ' || g * 7 % 997 END, 'User' || g * 11 % 4999 || '@x.org', g % 300, 's' || g FROM generate_series(1, 3000) g;
INSERT INTO e SELECT * FROM p;
CREATE TABLE p_parts (id int, name text) PARTITION BY RANGE (id);
CREATE TABLE e_parts (id int, name encrypted_text) PARTITION BY RANGE (id);
CREATE TABLE p_second (more int, name text, id int);
CREATE TABLE e_second (more int, name encrypted_text, id int);
SELECT replace(command, '@', twin)
FROM unnest('{p,e}'::text[]) twin, unnest(ARRAY['CREATE INDEX ON @ (lower(name))', 'CREATE INDEX ON @ (n, upper(email) DESC NULLS LAST)', 'CREATE INDEX ON @ (email)',
  'CREATE INDEX ON @ (abs(n - 150)) INCLUDE (n, id) WHERE id < 1000', 'CREATE INDEX ON @ (upper(secret))', 'CREATE INDEX ON @ (lower(email) text_pattern_ops)',
  'CREATE TABLE @_first PARTITION OF @_parts FOR VALUES FROM (0) TO (1000)', 'ALTER TABLE @_second DROP more',
  'ALTER TABLE @_parts ATTACH PARTITION @_second FOR VALUES FROM (1000) TO (9000)', 'CREATE INDEX ON @_parts (lower(name))',
  'INSERT INTO @_parts SELECT id, name FROM @', 'CREATE VIEW @_view AS SELECT id, lower(name) AS low, n FROM @', 'ANALYZE @', 'ANALYZE @_parts']) command
\gexec
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SET enable_bitmapscan = off;

CREATE TEMP TABLE query (statement text);
INSERT INTO query VALUES
  ('SELECT id, name FROM @ ORDER BY lower(name) LIMIT 10'), ('SELECT id FROM @ WHERE name IS NOT NULL ORDER BY lower(name) DESC, id LIMIT 10'),
  ('SELECT lower(name) FROM @ ORDER BY 1 DESC LIMIT 700'), ('SELECT lower(name) FROM @ ORDER BY 1 NULLS FIRST LIMIT 10'),
  ('SELECT id FROM @ WHERE lower(name) > ''name 5'' ORDER BY lower(name), id LIMIT 10'), ('SELECT id FROM @ WHERE lower(name) IS NOT NULL ORDER BY lower(name) DESC, id LIMIT 10'),
  ('SELECT id FROM @ WHERE lower(name) IS NULL'), ('SELECT id FROM @ WHERE n = 7 ORDER BY upper(email) DESC NULLS LAST'),
  ('SELECT n, upper(email) FROM @ ORDER BY n, upper(email) DESC NULLS LAST LIMIT 10'), ('SELECT n, upper(email) FROM @ ORDER BY n, upper(email) LIMIT 10'),
  ('SELECT email::text FROM @ ORDER BY email::text LIMIT 10'), ('SELECT lower(email) FROM @ ORDER BY lower(email) USING ~<~ LIMIT 10'),
  ('SELECT id FROM @ WHERE id < 1000 ORDER BY abs(n - 150), id LIMIT 10'), ('SELECT n FROM @ WHERE id < 1000 ORDER BY abs(n - 150) DESC LIMIT 1'),
  ('SELECT DISTINCT lower(name) FROM @'), ('SELECT DISTINCT ON (lower(name)) lower(name), id FROM @ ORDER BY lower(name), id LIMIT 10'),
  ('SELECT lower(name), count(*) FROM @ GROUP BY lower(name) HAVING count(*) > 1 LIMIT 10'), ('SELECT lower(name), count(*), max(id) FROM @ GROUP BY 1 ORDER BY 1 DESC LIMIT 10'),
  ('SELECT lower(name), row_number() OVER (PARTITION BY lower(name) ORDER BY id) FROM @ LIMIT 20'),
  ('SELECT max(lower(name)) FROM @'), ('SELECT min(lower(name)), max(lower(name)) || ''!'' FROM @ WHERE lower(name) < ''name 6'' HAVING min(lower(name)) > ''n'''),
  ('SELECT max(email::text) FROM @'), ('SELECT max(upper(email)) FROM @ WHERE n = 7'), ('SELECT (SELECT max(lower(name)) FROM @ i WHERE i.id = o.id) FROM @ o WHERE id < 5 ORDER BY id'),
  ('SELECT lower(name), id FROM @ WHERE id = 7 ORDER BY lower(name)'), ('SELECT low, id FROM @_view ORDER BY low, id LIMIT 10'),
  ('SELECT low, count(*) FROM @_view GROUP BY low ORDER BY low LIMIT 10'), ('SELECT id FROM (SELECT id, low FROM @_view OFFSET 0) s ORDER BY low, id LIMIT 10'),
  ('SELECT low FROM (SELECT low FROM @_view UNION ALL SELECT lower(name) FROM @) u ORDER BY 1 LIMIT 10'),
  ('SELECT lower(name) FROM @_parts ORDER BY lower(name) DESC NULLS FIRST LIMIT 700'), ('SELECT max(lower(name)) FROM @_parts'),
  ('SELECT v.id, w.id FROM @ v JOIN @ w ON w.id = v.id + 1 ORDER BY lower(v.name), v.id LIMIT 10'),
  ('SELECT v.id, w.id FROM @ v LEFT JOIN @ w ON w.id = v.id + 1 AND w.n = 7 ORDER BY lower(v.name) NULLS LAST, v.id LIMIT 10'),
  ('SELECT v.id, w.id FROM @ v LEFT JOIN @ w ON w.id = v.id + 1 AND w.n = 7 ORDER BY lower(w.name), v.id LIMIT 10'),
  ('SELECT id FROM @ WHERE id IN (SELECT id FROM @ ORDER BY lower(name), id LIMIT 50) ORDER BY lower(name), id LIMIT 5'),
  ('WITH s AS MATERIALIZED (SELECT id, name FROM @ ORDER BY lower(name), id LIMIT 5) SELECT id FROM s'),
  ('SELECT id FROM @ ORDER BY lower(name), id LIMIT 5 FOR UPDATE');
-- A join by that expression reads both sides in its order.
INSERT INTO query VALUES ('SELECT count(*) FROM @ v JOIN @ w ON lower(v.name) = lower(w.name) AND v.id < w.id');

-- What a plan is made of, without the names of twins.
CREATE FUNCTION nodes_of(plan jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT regexp_replace(concat_ws(' ', all_of(plan, '"Node Type"'), all_of(plan, '"Index Name"'), all_of(plan, '"Scan Direction"')), '\m[pe]_', '@_', 'g') $$;
CREATE FUNCTION rows_of(statement text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  result text[];
BEGIN
  EXECUTE format('WITH q AS (%s) SELECT array_agg(q::text) FROM q', statement) INTO result;
  RETURN result;
END
$$;
SELECT is(nodes_of(plan_of(replace(statement, '@', 'e'))), nodes_of(plan_of(replace(statement, '@', 'p'))), statement) FROM query;
SELECT is(rows_of(replace(statement, '@', 'e')), rows_of(replace(statement, '@', 'p')), 'the rows of ' || statement) FROM query;
SELECT cmp_ok((SELECT count(*) FROM query WHERE nodes_of(plan_of(replace(statement, '@', 'e'))) ~ 'Index'), '>=', 35::bigint, 'most use indexes');

-- Not in the order of an unordered column's index, which serves equality.
SELECT matches(nodes_of(plan_of('SELECT id FROM e ORDER BY upper(secret) LIMIT 3')), 'Sort', 'an unordered index gives no order');
SELECT matches(nodes_of(plan_of('SELECT max(upper(secret)) FROM e')), 'Aggregate', 'and does not tell the greatest');
SELECT is(rows_of('SELECT id FROM e ORDER BY upper(secret) LIMIT 30'), rows_of('SELECT id FROM p ORDER BY upper(secret) LIMIT 30'), 'the rows are sorted');
SELECT is(rows_of('SELECT max(upper(secret)) FROM e'), rows_of('SELECT max(upper(secret)) FROM p'), 'and read');
SELECT is(nodes_of(plan_of('SELECT id FROM e WHERE ' || condition)), nodes_of(plan_of('SELECT id FROM p WHERE ' || condition)), 'but it serves ' || condition)
FROM unnest(ARRAY['upper(secret) = ''S77''', 'upper(secret) IN (''S77'', ''S78'')', 'upper(secret) = upper(''s'' || 77)']) condition;
SELECT is((SELECT id FROM e WHERE upper(secret) = 'S77'), 77, 'and finds the row');
SELECT is((SELECT count(*) FROM e v JOIN e w ON upper(v.secret) = upper(w.secret)), 3000::bigint, 'a join by it finds all');

-- Who may not decrypt gets an error, whatever plan there is, also one that was made for somebody who may.
CREATE ROLE reader;
CREATE ROLE nobody;
GRANT SELECT ON e, e_view TO reader, nobody;
SET tde_column.decrypt_role = 'reader';
SET plan_cache_mode = force_generic_plan;
PREPARE in_order AS SELECT id FROM e ORDER BY lower(name) LIMIT 10;
PREPARE gathered AS SELECT array_agg(id ORDER BY low) FROM e_view;
PREPARE extreme AS SELECT max(lower(name)) FROM e;
SET ROLE reader;
SELECT matches(nodes_of(plan_of('EXECUTE in_order')), 'Index', 'who may decrypt has the order');
SELECT lives_ok('EXECUTE ' || statement, statement || ': who may decrypt') FROM unnest('{in_order,gathered,extreme}'::text[]) statement;
SET ROLE nobody;
SELECT throws_ok('EXECUTE ' || statement, '42501', NULL, statement || ': who may not decrypt') FROM unnest('{in_order,gathered,extreme}'::text[]) statement;
RESET ROLE;

SELECT finish();
ROLLBACK;
