-- Arrays of encrypted elements meet arrays of plain ones as two plain arrays meet: the same results and the same errors, in comparisons,
-- containment and overlap, by an index and without one.
BEGIN;
\ir include/family.sql
\ir include/outcome.sql
\ir include/plan.sql
SELECT * FROM no_plan();

-- Of each type two columns of arrays: with few and many elements, NULLs, none, two dimensions, other bounds.
CREATE TEMP TABLE v (n int);
INSERT INTO v SELECT generate_series(1, 7);
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT name, plain, base, nomac FROM family LOOP
    EXECUTE format('ALTER TABLE v ADD p_%1$s %2$s[], ADD e_%1$s %3$I[]', f.name, f.plain, f.name);
    EXECUTE format($f$
      UPDATE v SET p_%1$s = a FROM (
        SELECT n, CASE n WHEN 1 THEN few[1:1] WHEN 2 THEN few[1:2] WHEN 3 THEN few[2:2] || NULL || few[1:1] WHEN 4 THEN '{}'
                    WHEN 5 THEN ARRAY[[few[1], few[2]], [few[2], few[1]]] WHEN 6 THEN ('[0:1]=' || few[1:2]::text)::%2$s[] END AS a
        FROM generate_series(1, 7) n, (SELECT array_agg(value::%2$s) AS few FROM sample WHERE base::regtype = %3$L::regtype) s) s WHERE v.n = s.n$f$,
      f.name, f.plain, f.base);
    EXECUTE format('UPDATE v SET e_%1$s = p_%1$s::%1$I[]', f.name);
  END LOOP;
END
$$;
CREATE TEMP TABLE pair AS
  SELECT form, tables, replace(replace(form, '$1', '(l).p_' || name), '$2', '(r).p_' || name) AS plain,
         replace(replace(form, '$1', format('(l).%s_%s', sides[1], name)), '$2', format('(r).%s_%s', sides[2], name)) AS encrypted
  FROM family, (VALUES ('{e,p}'::text[]), ('{p,e}'), ('{e,e}')) AS s (sides),
       unnest(ARRAY['$1 = $2', '$1 <> $2', '$1 < $2', '$1 <= $2', '$1 > $2', '$1 >= $2', '$1 && $2', '$1 @> $2', '$1 <@ $2',
                    '$1 IS DISTINCT FROM $2', '$1 IN ($2, $1)', 'CASE $1 WHEN $2 THEN 1 ELSE 2 END', 'NOT $1 && $2', '($1 || $2)::text',
                    'array_cat($1, $2)::text', '$2[1] = ANY ($1)', 'array_position($1, $2[1])']) form,
       (VALUES ('(SELECT l.n * 10 + r.n AS n, l, r FROM v l, v r) v')) AS t (tables);
CREATE TEMP TABLE result AS SELECT *, outcome(plain, tables) AS expected, outcome(encrypted, tables) AS got FROM pair;
SELECT is(got, expected, format('%s as %s', encrypted, plain)) FROM result WHERE got IS DISTINCT FROM expected;
SELECT is((SELECT count(*) FROM result WHERE got = expected), (SELECT count(*) FROM result), 'encrypted arrays give what plain ones give');
SELECT cmp_ok((SELECT count(*) FROM result WHERE expected ~ '^(true|false)'), '>', 800::bigint, 'and not because nothing works');

-- What stands beside them: literals, ARRAY[...], parameters, what is aggregated or made of a subquery, a domain.
CREATE DOMAIN tags AS encrypted_text[];
CREATE TEMP TABLE w AS SELECT n, p_encrypted_int4 AS p_i, p_encrypted_text AS p_t, p_encrypted_text AS p_d, n % 3 AS p_s FROM v;
ALTER TABLE w ADD e_i encrypted_int4[], ADD e_t encrypted_text[], ADD e_d tags, ADD e_s encrypted_int4;
UPDATE w SET e_i = p_i::encrypted_int4[], e_t = p_t::encrypted_text[], e_d = p_d::encrypted_text[], e_s = p_s;
SELECT is(outcome(replace(form, 'x_', 'e_'), 'w'), outcome(replace(form, 'x_', 'p_'), 'w'), form)
FROM unnest(ARRAY['x_i && ARRAY[1]', 'ARRAY[1, NULL] && x_i', 'x_i @> ARRAY[0, 1]', 'x_i <@ ''{0,1,2}''', '''{0}'' <@ x_i', 'x_i = ARRAY[0, 1]', 'x_i <> ''{0,1}''',
                  'x_i @> ARRAY[]::int[]', 'x_i && NULL', 'x_i && ARRAY[NULL]::int[]', 'x_i = ARRAY[[0, 1], [1, 0]]', 'x_i @> ARRAY[[0], [1]]',
                  'x_t && ARRAY[''a'']', 'x_t @> ARRAY['''', '' '']', 'x_d = ARRAY['''']', 'ARRAY['''', NULL] <@ x_d', 'x_d && ''{a}''',
                  'ARRAY[x_s] && ARRAY[1, 5]', 'ARRAY[x_s, 4] = ARRAY[1, 4]', 'ARRAY(SELECT x_s FROM w) @> ARRAY[n]',
                  '(SELECT array_agg(x_s) FROM w) && ARRAY[n]', 'x_s = ANY (ARRAY[1, 2])', 'x_s = ANY (p_i)', 'n = ANY (x_i)', 'x_s <> ALL (ARRAY[1])',
                  'x_i || 4 @> ARRAY[4]', 'x_i || ARRAY[4] && ARRAY[4]', 'nullif(x_i, ARRAY[0])::text', 'x_t = ARRAY['''' COLLATE "C"]',
                  'x_i = ANY (SELECT p_i FROM w)', '(x_i)[1:1] = ARRAY[0]',
                  -- as wrong
                  'x_i && ARRAY[1]::int8[]', 'x_i = ARRAY[1.5]', 'x_i && ARRAY[''a'']', 'x_t @> ARRAY[''a''::varchar]', 'x_t && ARRAY[1]', 'x_i && 1']) form;
SELECT throws_ok('SELECT e_i && ARRAY[1::int8] FROM w WHERE false', '42883', NULL, 'arrays that cannot meet are an error although there are no rows');
SELECT throws_ok(format('SELECT e_i && p FROM w, (SELECT NULL::int8[] AS p OFFSET 0) s%s', o), '42883', NULL, 'whatever stands there')
FROM unnest(ARRAY['', ' WHERE false']) o;
PREPARE overlap AS SELECT n FROM w WHERE e_i && $1 ORDER BY n;
SELECT results_eq('EXECUTE overlap (''{1}'')', 'SELECT n FROM w WHERE p_i && ''{1}'' ORDER BY n', 'a parameter');
PREPARE contained(int[]) AS SELECT n FROM w WHERE e_i <@ $1 ORDER BY n;
SELECT results_eq('EXECUTE contained (''{0,1}'')', 'SELECT n FROM w WHERE p_i <@ ''{0,1}'' ORDER BY n', 'a parameter of plain type');

-- By an index, as plain columns are found, whatever the plan was made for.
CREATE TABLE tagged (n int, p int[], e encrypted_int4[]);
INSERT INTO tagged SELECT g, a, a::encrypted_int4[] FROM (SELECT g, ARRAY[g % 97, g % 89, g] AS a FROM generate_series(1, 500) g) s;
INSERT INTO tagged VALUES (0, NULL, NULL), (-1, '{}', '{}');
CREATE INDEX tagged_gin ON tagged USING gin (e);
CREATE INDEX tagged_btree ON tagged (e);
ANALYZE tagged;
SET LOCAL enable_seqscan = off;
SELECT matches(plan_of('SELECT n FROM tagged WHERE ' || replace(condition, 'x', 'e'))::text, index, condition || ' by an index')
FROM (VALUES ('x && ARRAY[5]', 'tagged_gin'), ('x @> ARRAY[5, 7]', 'tagged_gin'), ('ARRAY[5] <@ x', 'tagged_gin'), ('x = ARRAY[5, 5, 5]', 'tagged_btree'),
             ('x < ARRAY[2]', 'tagged_btree'), ('x && (SELECT ARRAY[5])', 'Seq Scan'), ('x && p', 'Seq Scan')) AS c (condition, index);
SELECT results_eq(format('SELECT n FROM tagged WHERE %s ORDER BY n', replace(condition, 'x', 'e')),
                  format('SELECT n FROM tagged WHERE %s ORDER BY n', replace(condition, 'x', 'p')), condition)
FROM unnest(ARRAY['x && ARRAY[5]', 'x @> ARRAY[5, 7]', 'ARRAY[5] <@ x', 'x = ARRAY[5, 5, 5]', 'x < ARRAY[2]', 'x && ARRAY[5, NULL]', 'x @> ARRAY[NULL]::int[]',
                  'x <@ ARRAY[5, 102, 94]', 'x @> ''{}''::int[]', 'x && (SELECT ARRAY[5])', 'x && p', 'NOT x && ARRAY[5]', 'x <> ARRAY[1, 1, 1]']) condition;
SET LOCAL plan_cache_mode = force_generic_plan;
PREPARE found(int[]) AS SELECT n FROM tagged WHERE e && $1 ORDER BY n;
SELECT matches(plan_of('EXECUTE found (''{5}'')')::text, 'tagged_gin', 'a generic plan uses it, too');
SELECT results_eq('EXECUTE found (''{5,8}'')', 'SELECT n FROM tagged WHERE p && ''{5,8}'' ORDER BY n', 'and finds the same');
RESET enable_seqscan;

-- Whoever may only write compares, as with single values; no value without MAC passes for one of a column with MAC.
CREATE ROLE writer;
GRANT SELECT ON tagged TO writer;
CREATE ROLE reader;
SET LOCAL tde_column.decrypt_role = reader;
SET LOCAL ROLE writer;
SELECT is((SELECT count(*) FROM tagged WHERE e && ARRAY[5]), (SELECT count(*) FROM tagged WHERE p && ARRAY[5]), 'who may not decrypt, compares');
RESET ROLE;
RESET tde_column.decrypt_role;
CREATE TEMP TABLE declared (e encrypted_int4(aes256, salt, mac)[]);
CREATE TEMP TABLE careless (e encrypted_int4(aes256, salt, nomac)[]);
INSERT INTO careless VALUES ('{5}');
SELECT is((SELECT e && ARRAY[5] FROM careless), true, 'a value without MAC');
UPDATE pg_attribute SET atttypmod = (SELECT atttypmod FROM pg_attribute WHERE attrelid = 'declared'::regclass AND attname = 'e')
FROM (SELECT 1) s WHERE attrelid = 'careless'::regclass AND attname = 'e';
SELECT matches(complaint('SELECT e && ARRAY[5] FROM careless'), 'MAC', 'not in a column that declares one');

-- Nobody makes columns of the types that the operators take.
SET LOCAL ROLE writer;
SELECT throws_ok(format('CREATE TEMP TABLE kept (a tde_internal.%I)', type), '42501', NULL, type || ' is no type for columns')
FROM unnest('{encrypted_array,plain_array}'::text[]) type;
RESET ROLE;

-- Types of users have them, too.
CREATE TYPE mood AS ENUM ('sad', 'happy');
SELECT lives_ok('SELECT tde_create_type(''mood'')', 'a type of one''s own');
SELECT results_eq('SELECT ARRAY[''sad''::encrypted_mood] && ARRAY[''sad''::mood], ARRAY[''sad''::mood] @> ARRAY[''happy''::encrypted_mood]', 'VALUES (true, false)',
                  'has these operators');
SELECT is(tde_refresh_types(), 0, 'and lacks nothing');
SELECT lives_ok('DROP TYPE encrypted_mood CASCADE; SELECT tde_create_type(''mood''); DROP TYPE mood CASCADE', 'it can be made again, and dropped');

SELECT finish();
ROLLBACK;
