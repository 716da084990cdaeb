-- Types, operators and functions are found on every search path, as PostgreSQL's own are.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

SELECT is_empty($$SELECT pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'tde_column'
  CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND i.schema NOT IN ('pg_catalog', 'tde', 'tde_internal')$$, 'nothing is in another schema');

CREATE TABLE public.plain (id int, v bytea, c char(5), s varchar(9), i int4, n numeric, j jsonb, d date, a int4[]);
CREATE TABLE public.sealed (id int, v encrypted_bytea, c encrypted_bpchar(5), s encrypted_varchar(9), i encrypted_int4, n encrypted_numeric, j encrypted_jsonb,
  d encrypted_date, a encrypted_int4[]);
INSERT INTO public.plain SELECT g, convert_to('v' || g, 'UTF8'), 'c' || g % 3, 's' || g % 3, g % 5, g / 4.0, jsonb_build_object('k', g), '2024-01-01'::date + g, ARRAY[g, g + 1]
  FROM generate_series(1, 20) g;
INSERT INTO public.sealed SELECT * FROM public.plain;

-- What an expression gives for all rows, with its type, under a search path.
CREATE FUNCTION public.given(relation text, expression text, path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('search_path', path, true);
  EXECUTE pg_catalog.format('SELECT pg_catalog.string_agg(pg_catalog.concat_ws('' '', %1$s, tde_internal.tde_catalog_type(pg_catalog.pg_typeof(%1$s))::regtype), E''\n'' ORDER BY id)
                             FROM public.%2$I', expression, relation) INTO result;
  PERFORM pg_catalog.set_config('search_path', 'public', true);
  RETURN result;
END
$$;
SELECT is(public.given('sealed', expression, path), public.given('plain', expression, 'public'), format('%s under "%s"', expression, path))
FROM unnest(ARRAY[$$v || '\x00'$$, $$c = 'c1 '$$, $$c = 'c1'::char(9)$$, $$s LIKE 's1%'$$, 'i * 1.5', 'i + n', 'i IS DISTINCT FROM n', 'nullif(i, 3)', 'length(s)',
                  'substr(s, 2)', $$j || '{"x": 1}'$$, $$j -> 'k'$$, 'd - 1', $$d < '2024-01-09'$$, 'a = ARRAY[1, 2]', '3 = ANY (a)', 'floor(n)', 'i IN (1, 2.0)',
                  $$coalesce(n, 0)$$, $$s || c$$]) expression,
  unnest('{"pg_catalog, pg_temp","","pg_temp, pg_catalog"}'::text[]) path;

SELECT finish();
ROLLBACK;
