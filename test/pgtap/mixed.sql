-- An encrypted number where PostgreSQL looks for a type that several values have in common: COALESCE, CASE, IN, UNION, ... with integers
-- and with plain numbers of other types.  And what is compared with them is found by an index.
BEGIN;
\ir include/family.sql
\ir include/outcome.sql
\ir include/plan.sql
SELECT * FROM no_plan();

CREATE TEMP TABLE v (n int, c bool);
CREATE TEMP TABLE number AS SELECT unnest('{int2,int4,int8,numeric,float4,float8}'::text[]) AS type;
DO $$
DECLARE
  t text;
BEGIN
  FOR t IN SELECT type FROM number LOOP
    EXECUTE format('ALTER TABLE v ADD p_%s %1$s, ADD e_%1$s encrypted_%1$s(aes256, salt, mac)', t);
  END LOOP;
  INSERT INTO v (n, c) VALUES (1, true), (2, false), (3, NULL);
  FOR t IN SELECT type FROM number LOOP
    EXECUTE format('UPDATE v SET p_%s = (''{7,NULL,-3}''::%1$s[])[n]', t);
    EXECUTE format('UPDATE v SET e_%s = p_%1$s', t);
  END LOOP;
END
$$;

-- $1 is a column, $2 what it meets.
CREATE TEMP TABLE form AS
  SELECT unnest(ARRAY[
    'coalesce($1, $2)', 'coalesce($2, $1)', 'coalesce($1, NULL, $2)', 'greatest($1, $2)', 'least($2, $1)',
    'CASE WHEN c THEN $1 ELSE $2 END', 'CASE c WHEN true THEN $2 WHEN false THEN $1 END',
    'ARRAY[$1, $2]', '(SELECT array_agg(u ORDER BY u) FROM (SELECT $1 UNION SELECT $2) s (u))',
    '(SELECT array_agg(u) FROM (VALUES ($1), ($2)) s (u))', '(SELECT u FROM (SELECT $1 INTERSECT SELECT $2) s (u))',
    '$1 IN ($2, 7, -3)', '$1 NOT IN ($2, 5)', '$1 = ANY (ARRAY[7, $2])', '$1 IN (SELECT $2)',
    '$1 BETWEEN $2 AND 8', '$1 IS DISTINCT FROM $2', 'nullif($1, $2)', 'CASE $1 WHEN $2 THEN 1 WHEN 7 THEN 2 ELSE 3 END',
    '($1, 1) < ($2, 2)', 'coalesce($1, $2) + 1', 'coalesce($1, $2) * 1.5', '-coalesce($1, $2)', 'abs(coalesce($2, $1))', 'coalesce($1, $2) > 0']) AS form;
CREATE TEMP TABLE expression AS
  -- what becomes the number implicitly
  SELECT replace(replace(form, '$1', 'p_' || type), '$2', value) AS plain, replace(replace(form, '$1', 'e_' || type), '$2', value) AS encrypted
  FROM form, number, unnest('{0,7,-3::int2,7::int8,0.5,7::numeric,7::float4,0.25::float8,NULL,''7'',p_int2,p_int4,p_int8,p_numeric,p_float4,p_float8}'::text[]) value
  -- what is of two operator families, and a plain smallint, which does not become an encrypted integer (docs/columns.md)
  WHERE (form !~ 'nullif|\(.*,.*\) <' OR value !~ CASE WHEN type IN ('int2', 'int4') THEN 'float|numeric|\.' WHEN type = 'int8' THEN 'numeric|^0\.5$' ELSE '^$' END)
    AND (type <> 'int4' OR value !~ 'int2' OR form ~ '\$1 (NOT )?(IN |=|BETWEEN|IS|WHEN)|nullif|, 1\)')
  UNION ALL
  -- another encrypted number
  SELECT replace(replace(form, '$1', 'p_' || a.type), '$2', 'p_' || b.type), replace(replace(form, '$1', 'e_' || a.type), '$2', 'e_' || b.type)
  FROM form, number a, number b
  -- an encrypted int2 with 7; what is of two operator families
  WHERE (form !~ 'ARRAY.7' OR b.type <> 'int2')
    AND (form !~ 'nullif|\(.*,.*\) <' OR a.type = b.type OR a.type ~ 'int' AND b.type ~ 'int' OR a.type ~ 'float' AND b.type ~ 'float');

-- The value, and the type as a base type.
CREATE FUNCTION result(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(coalesce((%s)::text, ''null'') || '' '' || regexp_replace(pg_typeof(%1$s)::text, ''(\w+\.)?encrypted_'', '''')::regtype, '','' ORDER BY n) FROM v', expression)
    INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ';
END
$$;
CREATE TEMP TABLE result AS
  SELECT plain, encrypted, result(plain) AS expected, result(encrypted) AS got FROM expression;
SELECT is(got, expected, encrypted || ' as ' || plain) FROM result WHERE got IS DISTINCT FROM expected;
SELECT is((SELECT count(*) FROM result WHERE got = expected), (SELECT count(*) FROM result), 'encrypted numbers meet others as plain ones do');
SELECT cmp_ok((SELECT count(*) FROM result WHERE expected !~ '^[0-9A-Z]{5} '), '>', 1500::bigint, 'and not because nothing works');

-- Where the search path does not have the extension, only the casts are there, and PostgreSQL's own operators: some expressions are
-- refused, and none gives something else.
ALTER FUNCTION result SET search_path = pg_catalog;
UPDATE result SET got = result(encrypted);
SELECT is(got, expected, encrypted || ' as ' || plain || ', from pg_catalog alone') FROM result WHERE got IS DISTINCT FROM expected AND got !~ '^42883';
SELECT cmp_ok((SELECT count(*) FROM result WHERE got = expected), '>', 1500::bigint, 'most are not refused');

--
-- What PostgreSQL finds by an index of the plain column, and joins by hashing and merging, it does of the encrypted one.
--

CREATE TEMP TABLE w (LIKE v);
DO $$
DECLARE
  t text;
BEGIN
  EXECUTE (SELECT format('INSERT INTO w SELECT g, true%s FROM generate_series(1, 200) g', string_agg(', g, g', '')) FROM number);
  FOR t IN SELECT type FROM number LOOP
    EXECUTE format('CREATE INDEX ON w (p_%s)', t);
    EXECUTE format('CREATE INDEX ON w (e_%s)', t);
  END LOOP;
END
$$;
ANALYZE w;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_nestloop = off;

-- Which sorts of joins a plan has, and if an index has a condition.
CREATE FUNCTION nodes(query text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(DISTINCT word, ' ' ORDER BY word)
  FROM regexp_matches(plan_of(query)::text, '"Index Cond"|(?:Hash|Merge) Join|Nested Loop', 'g') m (words), unnest(words) word
$$;

CREATE TEMP TABLE condition AS
  SELECT format('SELECT n FROM w WHERE ' || form, 'p_' || type, value) AS plain, format('SELECT n FROM w WHERE ' || form, 'e_' || type, value) AS encrypted
  FROM number, unnest('{7,7::int2,7::int8,7.0,7::float4,7::float8,''7''}'::text[]) value,
       unnest('{%s = %s,%2$s > %1$s,%s BETWEEN %s AND 9,"%s IN (%s, 8)",%s = ANY (ARRAY[%s]),%s = (SELECT %s),"(%s, n) > (%s, 0)"}'::text[]) form
  WHERE form !~ 'ANY|SELECT' OR value !~ '^''';
SELECT is(nodes(encrypted), nodes(plain), encrypted) FROM condition
WHERE nodes(plain) ~ 'Index Cond' AND nodes(encrypted) IS DISTINCT FROM nodes(plain);
SELECT cmp_ok((SELECT count(*) FROM condition WHERE nodes(plain) ~ 'Index Cond'), '>', 150::bigint, 'conditions use an index');

CREATE TEMP TABLE joined AS
  SELECT format('SELECT FROM w a JOIN w b ON a.p_%s = b.p_%s', a.type, b.type) AS plain, format('SELECT FROM w a JOIN w b ON a.%s_%s = b.%s_%s', m.l, a.type, m.r, b.type) AS encrypted
  FROM number a, number b, (VALUES ('e', 'e'), ('e', 'p'), ('p', 'e')) AS m (l, r);
SELECT is_empty($$SELECT encrypted FROM joined WHERE nodes(plain) ~ 'Hash|Merge' AND nodes(encrypted) !~ 'Hash|Merge'$$, 'joins are not by nested loops');
-- Their rows, by a hash join, a hashed subquery and a semijoin made of unique rows; in w they are 200.
CREATE FUNCTION rows_of(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  result int;
BEGIN
  EXECUTE format('SELECT count(*) FROM (%s) q', query) INTO result;
  RETURN result;
END
$$;
SET LOCAL enable_mergejoin = off;
SELECT is_empty($$SELECT encrypted FROM joined WHERE nodes(encrypted) <> 'Hash Join' OR rows_of(encrypted) <> 200$$, 'hash joins find the same rows');
SELECT is_empty($$SELECT query FROM joined, LATERAL (SELECT replace(replace(encrypted, 'JOIN w b ON', 'WHERE'), ' = b.', ' NOT IN (SELECT ') || ' FROM w)' AS query) q
                  WHERE rows_of(query) <> 0$$, 'hashed subqueries too');
SELECT is_empty($$SELECT query FROM joined, LATERAL (SELECT replace(replace(encrypted, 'JOIN w b ON', 'WHERE'), ' = b.', ' IN (SELECT ') || ' FROM w UNION ALL SELECT ' || substring(encrypted FROM 'b\.(.*)') || ' FROM w)' AS query) q
                  WHERE rows_of(query) <> 200$$, 'and semijoins');

SELECT finish();
ROLLBACK;
