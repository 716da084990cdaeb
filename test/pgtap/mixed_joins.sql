-- Joins of encrypted with plain columns, for all pairs of types that PostgreSQL compares: what a node may write to a temporary file (what it sorts,
-- hashes or remembers) is ciphertext or the plain column, and the rows are those of plain twins.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();
SET LOCAL timezone = 'Europe/Berlin';

-- Types as in a cast, which "character" alone is not: that is character(1).
CREATE TEMP TABLE pair AS
  SELECT f.enc, f.plain AS base, o.other
  FROM family f CROSS JOIN (SELECT plain FROM family UNION VALUES ('name'), ('oid')) AS o (other)
  WHERE complaint(format('SELECT NULL::%s = NULL::%s', f.plain, o.other)) IS NULL;
SELECT cmp_ok((SELECT count(*) FROM pair), '>', 60::bigint, 'there are pairs');
INSERT INTO sample SELECT 'name', unnest('{"",a,A,ab}'::text[]) UNION ALL SELECT 'oid', unnest('{0,1,32767,4294967295}'::text[]);

-- A key that shows the value of a column of e by a cast to something else than an encrypted type, and not encrypted again.
CREATE FUNCTION decrypts(key text) RETURNS boolean LANGUAGE sql AS
  $$ SELECT key ~ '\me\.x\)?(::(character varying|bpchar|text|name|oid|double precision|real|numeric|bigint|integer|smallint|date|interval|time[a-z ]*)(\[\])?)+\)*(::(?!encrypted_)|( |,|$))' $$;
SELECT is(decrypts(key), expected, key)
FROM (VALUES ('e.x', false), ('(e.x)::encrypted_float8', false), ('((e.x)::oid)::encrypted_int8', false), ('((e.x)::oid)', true), ('(p.y = (e.x)::double precision)', true),
             ('((e.x)::text = p.y)', true), ('((p.y)::text = e.x)', false)) AS k (key, expected);

-- Each table's columns are of this pair's types; t has the plain twin of e.
CREATE FUNCTION fill(pair) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TEMP TABLE e (x %s); CREATE TEMP TABLE t (x %s); CREATE TEMP TABLE p (y %s)', $1.enc, $1.base, $1.other);
  EXECUTE format('INSERT INTO p SELECT value::%1$s FROM sample WHERE base::regtype = %1$L::regtype AND complaint(format(''SELECT %%L::%1$s = NULL::%2$s'', value)) IS NULL', $1.other, $1.base);
  EXECUTE format('INSERT INTO t SELECT value::%s FROM sample WHERE base::regtype = %L::regtype AND complaint(format(''SELECT %%L::%1$s = y FROM p'', value)) IS NULL', $1.base, $1.base);
  INSERT INTO p VALUES (NULL);
  INSERT INTO t VALUES (NULL);
  INSERT INTO e SELECT x FROM t;
END
$$;

CREATE TEMP TABLE form AS SELECT unnest(ARRAY[
  'SELECT x::text, y::text FROM $e e JOIN p ON $c', 'SELECT x::text, y::text FROM $e e LEFT JOIN p ON $c', 'SELECT x::text, y::text FROM p LEFT JOIN $e e ON $c AND true',
  'SELECT x::text, y::text FROM $e e FULL JOIN p ON $c',
  'SELECT y::text FROM p WHERE EXISTS (SELECT FROM $e e WHERE $c)', 'SELECT x::text FROM $e e WHERE NOT EXISTS (SELECT FROM p WHERE $c)',
  'SELECT x::text FROM $e e WHERE x IN (SELECT y FROM p)', 'SELECT y::text FROM p WHERE y IN (SELECT x FROM $e e)', 'SELECT y::text FROM p WHERE y NOT IN (SELECT x FROM $e e WHERE x IS NOT NULL)',
  'SELECT * FROM (SELECT x::text, y::text FROM $e e JOIN p ON $c OFFSET 0) s', 'WITH w AS MATERIALIZED (SELECT x, y FROM $e e, p WHERE $c) SELECT x::text, y::text FROM w', 'SELECT x::text, l.y::text FROM $e e, LATERAL (SELECT y FROM p WHERE $c OFFSET 0) l']) AS form;
CREATE TEMP TABLE seen (enc regtype, other text, form text, method text, key text);
CREATE TEMP TABLE given (enc regtype, other text, form text, method text, got text, expected text);
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(r::text, E''\n'' ORDER BY r::text COLLATE "C") FROM (%s) r', query) INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
DO $$
DECLARE
  p pair;
  m text;
BEGIN
  FOR p IN SELECT * FROM pair LOOP
    PERFORM fill(p);
    FOREACH m IN ARRAY '{hashjoin,mergejoin,nestloop}'::text[] LOOP
      PERFORM set_config('enable_' || method, (method = m)::text, true) FROM unnest('{hashjoin,mergejoin,nestloop}'::text[]) method;
      INSERT INTO seen
        SELECT p.enc, p.other, q.query, m, key
        FROM form CROSS JOIN unnest('{e.x = p.y,p.y = e.x}'::text[]) condition
        CROSS JOIN LATERAL (SELECT replace(replace(form, '$e', 'e'), '$c', condition) WHERE condition = 'e.x = p.y' OR form LIKE '%$c%') q (query)
        CROSS JOIN LATERAL plan_of(q.query, ', VERBOSE') plan CROSS JOIN unnest('{"\"Sort Key\"[*]","\"Hash Cond\"","\"Merge Cond\"","\"Cache Key\"","\"Group Key\"[*]"}'::text[]) path
        CROSS JOIN LATERAL unnest(all_of(plan, path)) key;
      INSERT INTO given
        SELECT p.enc, p.other, form, m, rows_of(replace(replace(form, '$e', 'e'), '$c', 'e.x = p.y')), rows_of(replace(replace(form, '$e', 't'), '$c', 'e.x = p.y')) FROM form;
    END LOOP;
    DROP TABLE e, t, p;
  END LOOP;
END
$$;
SELECT cmp_ok((SELECT count(*) FROM seen), '>', 1000::bigint, 'nodes have keys');
SELECT is(key, NULL, format('%s with %s by %s: %s', enc, other, method, form)) FROM (SELECT DISTINCT ON (enc, other) * FROM seen WHERE decrypts(key) ORDER BY enc, other, form) s;
SELECT is((SELECT count(*) FROM seen WHERE decrypts(key)), 0::bigint, 'nothing is decrypted that may come into temporary files');
SELECT is(got, expected, format('%s with %s by %s: %s', enc, other, method, form)) FROM given WHERE got IS DISTINCT FROM expected;
SELECT cmp_ok((SELECT count(*) FROM given WHERE got = expected), '>', 1000::bigint, 'rows are those of plain twins');

SELECT * FROM finish();
ROLLBACK;
