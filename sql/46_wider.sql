--
-- Wider types: an encrypted value as a larger plain type, where PostgreSQL's function has no version for its own: mod(int2, int4), atan2(int4, int4).
-- Encrypted values become such a type implicitly, plain values do not, so that no call with plain arguments can mean a function with one.
-- Literals and parameters of open type still could.  So there are such functions only where those alone are ambiguous anyway, or where
-- PostgreSQL's own function takes a preferred type: not for round(numeric, int4).  Beside a wider type stands one that takes nothing
-- smaller, encrypted or plain, so that mod(int4, int2) goes on meaning the one of int4.
--

-- new in 0.2.0
DO $$
DECLARE
  wider record;
  ddl   text := '';
BEGIN
  FOR wider IN
    SELECT 'tde_internal.' || kind || '_' || base AS name, kind, 'pg_catalog.' || base AS base, b.typcategory, sources, typinput, typoutput,
           oidvectortypes(proargtypes) AS arguments
    FROM (VALUES ('wider', 'int4', '{int2}'::text[]), ('wider', 'int8', '{int2,int4}'), ('wider', 'numeric', '{int2,int4,int8}'),
                 ('wider', 'float8', '{int2,int4,int8,numeric,float4}'), ('wider', 'timestamptz', '{date}'),
                 ('wider', 'oid', '{int2,int4,int8}'), ('wider', 'interval', '{time}'), ('only', 'int8', '{int8}'), ('only', 'numeric', '{numeric}'), ('only', 'timestamptz', '{timestamptz}'),
                 ('only', 'inet', '{inet}'), ('only', 'bit', '{}'), ('only', 'pg_lsn', '{}'))
      AS types (kind, base, sources)
    JOIN pg_type b ON b.oid = base::regtype JOIN pg_proc i ON i.oid = typinput
  LOOP
    ddl := ddl || format(
      E'CREATE TYPE %1$s;\n'
      'CREATE FUNCTION %1$s_in(%2$s) RETURNS %1$s AS %3$L LANGUAGE internal STABLE STRICT PARALLEL SAFE;\n'
      'COMMENT ON FUNCTION %1$s_in(%2$s) IS ''I/O'';\n'
      'CREATE FUNCTION %1$s_out(%1$s) RETURNS cstring AS %4$L LANGUAGE internal STABLE STRICT PARALLEL SAFE;\n'
      'COMMENT ON FUNCTION %1$s_out(%1$s) IS ''I/O'';\n'
      'CREATE TYPE %1$s (INPUT = %1$s_in, OUTPUT = %1$s_out, LIKE = %5$s, CATEGORY = %6$L);\n'
      'COMMENT ON TYPE %1$s IS ''%8$s: for functions, not for columns'';\n'
      'REVOKE USAGE ON TYPE %1$s FROM PUBLIC;\n'
      'CREATE CAST (%5$s AS %1$s) WITHOUT FUNCTION%7$s;\nCREATE CAST (%1$s AS %5$s) WITHOUT FUNCTION;\n',
      wider.name, wider.arguments, wider.typinput, wider.typoutput, wider.base, wider.typcategory,
      CASE wider.kind WHEN 'only' THEN ' AS IMPLICIT' END,
      CASE wider.kind WHEN 'only' THEN 'a value of this type beside a smaller encrypted one' ELSE 'an encrypted value of a smaller type' END)
    || coalesce((SELECT string_agg(format(E'CREATE FUNCTION %1$s(%2$s) RETURNS %1$s LANGUAGE sql STABLE PARALLEL SAFE '
                                 'AS ''SELECT $1::pg_catalog.%3$s::%4$s::%1$s'';\n'
                                 'COMMENT ON FUNCTION %1$s(%2$s) IS ''decrypt and cast'';\n'
                                 'CREATE CAST (%2$s AS %1$s) WITH FUNCTION %1$s(%2$s) AS IMPLICIT;\n',
                                 wider.name, '@extschema@.encrypted_' || source, source, wider.base), '')
        FROM unnest(wider.sources) source), '');
  END LOOP;
  EXECUTE ddl;
END
$$;

-- A date has no other way either: with a timestamp the functions are those of timestamp.  Not with a parsed body: pg_upgrade makes the cast after it.
-- new in 0.2.0
CREATE FUNCTION tde_internal.only_timestamptz(date) RETURNS tde_internal.only_timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'SELECT $1::pg_catalog.timestamptz::tde_internal.only_timestamptz';
COMMENT ON FUNCTION tde_internal.only_timestamptz(date) IS 'cast';
-- new in 0.2.0
CREATE CAST (date AS tde_internal.only_timestamptz) WITH FUNCTION tde_internal.only_timestamptz(date) AS IMPLICIT;

-- What is an inet already.  Not varbit to bit: beside a literal that would be as good as PostgreSQL's own.
-- new in 0.2.0
CREATE CAST (cidr AS tde_internal.only_inet) WITHOUT FUNCTION AS IMPLICIT;

-- new in 0.2.0
DO $$
DECLARE
  call   record;
  result regtype;
  ddl    text := '';
BEGIN
  FOR call IN
    SELECT name, places, (SELECT string_agg(format('$%s::pg_catalog.%s', n, regexp_replace(place, '^(wider|only)_', '')), ', ' ORDER BY n)
                          FROM unnest(places) WITH ORDINALITY p (place, n)) AS arguments
    FROM (VALUES
      ('{mod,gcd,lcm}'::text[], '{wider_int4,int4}'::text[]), ('{mod,gcd,lcm}', '{int4,wider_int4}'),
      ('{mod,gcd,lcm}', '{wider_int8,only_int8}'),       ('{mod,gcd,lcm}', '{only_int8,wider_int8}'),
      ('{mod,gcd,lcm}', '{wider_numeric,only_numeric}'), ('{mod,gcd,lcm}', '{only_numeric,wider_numeric}'),
      ('{atan2,atan2d}', '{wider_float8,wider_float8}'), ('{atan2,atan2d}', '{wider_float8,float8}'), ('{atan2,atan2d}', '{float8,wider_float8}'),
      ('{date_bin}', '{interval,wider_timestamptz,only_timestamptz}'), ('{date_bin}', '{interval,only_timestamptz,wider_timestamptz}'),
      ('{generate_series}', '{wider_timestamptz,only_timestamptz,interval}'), ('{generate_series}', '{only_timestamptz,wider_timestamptz,interval}')
    ) AS calls (names, places), unnest(names) name
  LOOP
    EXECUTE format('SELECT pg_catalog.pg_typeof((SELECT pg_catalog.%s(%s) LIMIT 1))', call.name, regexp_replace(call.arguments, '[$][0-9]', 'NULL', 'g')) INTO result;
    call.places := ARRAY(SELECT regexp_replace(p, '^(wider|only)_', E'tde_internal.\\&') FROM unnest(call.places) p);
    ddl := ddl || format(E'CREATE FUNCTION @extschema@.%1$s(%2$s) RETURNS %3$s LANGUAGE sql STABLE PARALLEL SAFE AS ''SELECT pg_catalog.%1$s(%4$s)'';\n'
                         'COMMENT ON FUNCTION @extschema@.%1$s(%2$s) IS ''%1$s() of the base types'';\n',
                         call.name, array_to_string(call.places, ', '), CASE call.name WHEN 'generate_series' THEN 'SETOF ' ELSE '' END || result, call.arguments);
  END LOOP;
  EXECUTE ddl;
END
$$;
