-- Expressions of plain types mean what they meant without the extension: its operators, functions and casts neither take their
-- places nor make them ambiguous.
BEGIN;
SELECT * FROM no_plan();

CREATE TEMP TABLE type AS SELECT unnest('{int2,int4,int8,numeric,float4,float8,text,varchar,bpchar,name,bool,date,time,timetz,timestamp,timestamptz,interval,bytea,uuid,json,jsonb,inet,
  cidr,oid,money,"char",xml}'::text[]) AS name;

-- The type of the expression, or its error; operators and functions of other schemas than the listed are not seen.
CREATE FUNCTION meaning(expression text, path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  before text := current_setting('search_path');
  result text;
BEGIN
  PERFORM set_config('search_path', path, true);
  EXECUTE 'SELECT pg_catalog.pg_typeof(' || expression || ')' INTO result;
  PERFORM set_config('search_path', before, true);
  RETURN result;
EXCEPTION WHEN OTHERS THEN   -- which restores it
  RETURN SQLSTATE;
END
$$;
CREATE FUNCTION changed(expression text) RETURNS boolean LANGUAGE sql AS $$
  SELECT meaning(expression, 'pg_catalog') IS DISTINCT FROM meaning(expression, current_setting('search_path'))
$$;

SELECT is(meaning('NULL::numeric = NULL::int4', 'pg_catalog'), 'boolean', 'the test can tell');
SELECT is(meaning('NULL::numeric = NULL::text', 'pg_catalog'), '42883', 'a type from an error');

SELECT is_empty(format('SELECT e FROM (SELECT format(%L, l.name, r.name) AS e FROM type l, type r) s WHERE changed(e)', pattern), format('%s of plain types', pattern))
FROM unnest(ARRAY['NULL::%s = NULL::%s', 'NULL::%s <> NULL::%s', 'NULL::%s < NULL::%s', 'NULL::%s >= NULL::%s', 'NULL::%s + NULL::%s', 'NULL::%s - NULL::%s', 'NULL::%s * NULL::%s',
  'NULL::%s / NULL::%s', 'NULL::%s %% NULL::%s', 'NULL::%s || NULL::%s', 'NULL::%s IN (NULL::%s)', 'NULL::%s = ANY (ARRAY[NULL::%s])', 'NULL::%s BETWEEN NULL::%s AND NULL::%2$s',
  'coalesce(NULL::%s, NULL::%s)', 'greatest(NULL::%s, NULL::%s)', 'nullif(NULL::%s, NULL::%s)', 'ARRAY[NULL::%s, NULL::%s]', 'CASE WHEN true THEN NULL::%s ELSE NULL::%s END',
  'NULL::%s IS DISTINCT FROM NULL::%s', '(NULL::%s, 1) < (NULL::%s, 2)', 'mod(NULL::%s, NULL::%s)', 'power(NULL::%s, NULL::%s)']) pattern;

-- Functions that are called as types are, and aggregates, where the extension has namesakes.
CREATE TEMP TABLE namesake AS
  SELECT DISTINCT proname FROM pg_proc p
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'tde_column'
  WHERE EXISTS (SELECT FROM pg_proc c WHERE c.proname = p.proname AND c.pronamespace = 'pg_catalog'::regnamespace);
SELECT cmp_ok((SELECT count(*) FROM namesake), '>', 20::bigint, 'there are namesakes');
SELECT is_empty('SELECT e FROM (SELECT format(''%I(NULL::%s)'', proname, name) AS e FROM namesake, type) s WHERE changed(e)', 'functions of plain types');
SELECT is_empty('SELECT e FROM (SELECT format(''%I(%s)'', proname, argument) AS e FROM namesake, unnest(ARRAY[''NULL'', ''''''1'''''', ''1'', ''1.5'']) argument) s WHERE changed(e)',
                'functions of literals');

SELECT finish();
ROLLBACK;
