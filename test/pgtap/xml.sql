-- XMLELEMENT and XMLFOREST print values of every encrypted type, arrays and domains of it as they print plain ones, wherever they stand.
BEGIN;
SELECT * FROM no_plan();
SET LOCAL client_min_messages = error;
\ir include/has_xml.sql
\if :has_xml

-- A value of each type that there is.
CREATE TEMP TABLE value (base text, value text);
INSERT INTO value VALUES
  ('text', 'a <b> & "c"'), ('character varying', 'vary'), ('character', 'x'), ('smallint', '-5'), ('integer', '5'), ('bigint', '9007199254740993'), ('numeric', '1.50'),
  ('real', '1.5'), ('double precision', '2.25'), ('boolean', 'f'), ('date', '2024-02-29'), ('time without time zone', '12:34:56'), ('time with time zone', '12:34:56+02'),
  ('timestamp without time zone', '2024-02-29 12:34:56'), ('timestamp with time zone', '2024-02-29 12:34:56+00'), ('interval', '1 day'), ('bytea', '\x0061ff'),
  ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), ('json', '{"a": [1, true]}'), ('jsonb', '{"a": 1}'), ('inet', '10.0.0.1/8');
SELECT set_eq('SELECT base::text FROM tde.types', 'SELECT base FROM value', 'each type has a value here');

-- Two tables of one row, with a column, an array and a domain of each type.
SELECT format('CREATE DOMAIN pg_temp.plain_%1$s AS %2$s; CREATE DOMAIN pg_temp.enc_%1$s AS %3$s', n, base, type)
FROM (SELECT row_number() OVER (ORDER BY type) AS n, base, type FROM tde.types) t \gexec
SELECT format('CREATE TEMP TABLE %s (%s)', side, string_agg(format('c%1$s %2$s, a%1$s %2$s[], d%1$s pg_temp.%3$s_%1$s', n, CASE side WHEN 'enc' THEN type::text ELSE base::text END, side), ', ' ORDER BY n))
FROM (SELECT row_number() OVER (ORDER BY type) AS n, base, type FROM tde.types) t, unnest('{plain,enc}'::text[]) side GROUP BY side \gexec
SELECT format('INSERT INTO plain VALUES (%s)', string_agg(format('%1$L, ARRAY[%1$L, NULL]::%2$s[], %1$L', value, v.base), ', ' ORDER BY type)) FROM tde.types t JOIN value v ON v.base = t.base::text \gexec
INSERT INTO enc SELECT * FROM plain;

CREATE TEMP TABLE query (query text);
INSERT INTO query SELECT format('SELECT xmlelement(name e, xmlattributes(%1$s AS a), %1$s, xmlforest(%1$s))::text FROM %%s', c)
  FROM generate_series(1, (SELECT count(*) FROM tde.types)) n, unnest(ARRAY['c' || n, 'a' || n, 'd' || n]) c;
CREATE FUNCTION pg_temp.result(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE query INTO result;
  RETURN result;
END
$$;
SELECT is(pg_temp.result(format(query, 'enc')), pg_temp.result(format(query, 'plain')), query) FROM query;

-- Where they may stand.
SELECT n AS bool FROM (SELECT row_number() OVER (ORDER BY type) AS n, base FROM tde.types) t WHERE base = 'boolean'::regtype \gset
SELECT is(pg_temp.result(format(q, 'enc')), pg_temp.result(format(q, 'plain')), q)
FROM (SELECT replace(unnest(ARRAY[
  'SELECT XmlForest((SELECT ok FROM %1$s) AS x, NOT ok AS y, coalesce(ok, false) AS z, NULLIF(ok, true) AS n) FROM %1$s',
  'WITH w AS (SELECT xmlelement(name a, ok) AS x FROM %1$s) SELECT x FROM w',
  'SELECT xmlagg(xmlelement(name a, ok)) FROM %1$s',
  'SELECT xmlconcat(xmlforest(ok), (SELECT xmlelement(name b, (SELECT ok FROM %1$s LIMIT 1)))) FROM %1$s',
  'SELECT count(*) FROM %1$s WHERE xmlforest(ok)::text = ''<ok>false</ok>''',
  'SELECT xmlforest(ok) FROM %1$s UNION ALL SELECT xmlforest(ok) FROM %1$s LIMIT 1']), 'ok', 'c' || :bool) AS q) t;
SELECT format('CREATE TEMP VIEW seen AS SELECT xmlforest(c%1$s AS ok) AS x FROM enc', :bool) \gexec
SELECT is(x::text, '<ok>false</ok>', 'a view') FROM seen;
SELECT format('CREATE FUNCTION pg_temp.by_sql() RETURNS xml LANGUAGE sql AS ''SELECT xmlforest(c%1$s AS ok) FROM enc''', :bool) \gexec
SELECT is(pg_temp.by_sql()::text, '<ok>false</ok>', 'an SQL function');
SELECT format('CREATE FUNCTION pg_temp.by_plpgsql() RETURNS xml LANGUAGE plpgsql AS ''DECLARE r enc; BEGIN SELECT * INTO r FROM enc; RETURN xmlforest(r.c%1$s AS ok); END''', :bool) \gexec
SELECT is(pg_temp.by_plpgsql()::text, '<ok>false</ok>', 'a PL/pgSQL function');
\else
SELECT skip('XMLELEMENT and XMLFOREST: this PostgreSQL has no libxml');
\endif

SELECT * FROM finish();
ROLLBACK;
