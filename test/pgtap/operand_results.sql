-- Results of the types that only operands have, beside encrypted numbers: where a query ends they have the base type, as of plain columns.
BEGIN;
SELECT * FROM no_plan();
SET LOCAL client_min_messages = error;

CREATE TEMP TABLE plain (n numeric(15,2), b bigint, i int, f float8, o oid);
CREATE TEMP TABLE enc (n encrypted_numeric(15,2), b encrypted_int8, i encrypted_int4, f encrypted_float8, o oid);
INSERT INTO plain VALUES (1.5, 3, 2, 5, 7);
INSERT INTO enc SELECT * FROM plain;

CREATE TEMP TABLE query (query text);
INSERT INTO query
  SELECT format('SELECT %s AS x FROM %%s', e)
  FROM unnest(ARRAY['NULLIF(5, n)', 'NULLIF(5.5, b)', 'NULLIF(5::float8, n)', 'NULLIF(o, i)', 'COALESCE(NULLIF(5, n), n)', 'COALESCE(n, NULLIF(5, n))', 'COALESCE(NULLIF(5.5, b), b)',
                    'COALESCE(b, NULLIF(5.5, b))', 'GREATEST(n, NULLIF(5, n), i)', 'GREATEST(NULLIF(5.5, b), n, i, b)', 'GREATEST(NULLIF(0::float8, n), f, n, b, i)', 'COALESCE(NULLIF(5::float8, n), f, i)', 'CASE WHEN i > 0 THEN NULLIF(5, n) ELSE n END',
                    'NULLIF(5, n) + 1', 'NULLIF(5, n)::text || ''x''']) e
  UNION ALL SELECT unnest(ARRAY['SELECT NULLIF(5, n) AS x FROM %1$s UNION SELECT n FROM %1$s ORDER BY x', 'SELECT n AS x FROM %1$s UNION ALL SELECT NULLIF(5, n) FROM %1$s ORDER BY 1',
                                'SELECT NULLIF(5, n) AS x FROM %1$s INTERSECT (SELECT NULLIF(5, n) FROM %1$s EXCEPT SELECT NULLIF(7, n) FROM %1$s)',
                                'SELECT DISTINCT NULLIF(5, n) AS x FROM %1$s ORDER BY 1', 'SELECT x FROM (SELECT NULLIF(5, n) AS x FROM %1$s) s',
                                'WITH c AS (SELECT NULLIF(5, n) AS x FROM %1$s) SELECT x FROM c', 'SELECT max(NULLIF(5, n)) AS x FROM %1$s']);
-- The column's type in a table and in a view that are made of it, and its values; of encrypted types the base type.
CREATE FUNCTION pg_temp.results(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  type   text;
  result text;
BEGIN
  EXECUTE 'CREATE TEMP TABLE made AS ' || query;
  EXECUTE 'CREATE TEMP VIEW seen AS ' || query;
  SELECT string_agg(format_type(coalesce(t.base, a.atttypid), NULL), ' ') INTO type FROM pg_attribute a LEFT JOIN tde.types t ON t.type = a.atttypid
  WHERE attrelid IN ('made'::regclass, 'seen'::regclass) AND attnum > 0;
  SELECT string_agg(x::text, ' ') INTO result FROM made;
  DROP VIEW seen;
  DROP TABLE made;
  RETURN type || ': ' || result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT is(pg_temp.results(format(query, 'enc')), pg_temp.results(format(query, 'plain')), query) FROM query;

SELECT * FROM finish();
ROLLBACK;
