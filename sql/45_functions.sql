--
-- Functions and operators that a base type reaches by a cast of its own: floor(int4) is that of float8, age(date) that of
-- timestamptz.  An encrypted value becomes its base type implicitly, and nothing further, since two implicit casts of a number
-- would make abs(int4) and abs(numeric) equally good.  So these take encrypted values themselves.
--
-- Plain arguments and literals must go on meeting what they meet without them.  So a place beside an encrypted type is of a type that
-- PostgreSQL's own function has there or of an operand type, and where a literal can stand there is one of its own with a preferred
-- type; those of numeric alone (scale(numeric), round(numeric, int4)) are left out.
--
-- Which of its functions PostgreSQL takes for the base types, and what that returns, its parser is asked, here, one by one.  All are
-- in SQL, and disappear from the plans of the queries that call them.  Their bodies are texts, with schemas: parse trees take ten
-- times the room.
--

DO $$
DECLARE
  -- what stands for several types
  sorts     CONSTANT jsonb := '{"number": ["encrypted_int2", "encrypted_int4", "encrypted_int8", "encrypted_numeric", "encrypted_float4",
                                           "encrypted_float8"],
                                "small": ["encrypted_int2", "encrypted_int4"], "float": ["encrypted_float4", "encrypted_float8"],
                                "operand": ["plain_int8", "plain_decimal", "plain_float8"],
                                "moment": ["encrypted_date", "encrypted_timestamp", "encrypted_timestamptz"],
                                "local moment": ["encrypted_date", "encrypted_timestamp"],
                                "plain moment": ["date", "timestamp", "timestamptz"]}';
  functions CONSTANT jsonb := '{"^": "tde_power", "|/": "tde_sqrt", "||/": "tde_cbrt", "*": "tde_times", "/": "tde_divided",
                                "-": "tde_minus", "||": "tde_concatenate"}';
  call      record;
  result    regtype;
  function  text;
  ddl       text := '';
BEGIN
  FOR call IN
    WITH RECURSIVE combination (name, places, types) AS (
      SELECT name, places, '{}'::text[]
      FROM (VALUES
        ('{acos,acosd,acosh,asin,asind,asinh,atan,atand,atanh,cbrt,ceil,ceiling,cos,cosd,cosh,cot,cotd,degrees,exp,floor,ln,log,log10,
           radians,round,sign,sin,sind,sinh,sqrt,tan,tand,tanh,to_timestamp,trunc,|/,||/}'::text[], '{number}'::text[]),
        ('{pow,power,^}', '{number,number}'),
        ('{pow,power,^}', '{small,float8}'),    ('{pow,power,^}', '{float8,small}'),
        ('{pow,power,^}', '{small,numeric}'),   ('{pow,power,^}', '{numeric,small}'),
        ('{pow,power,^}', '{encrypted_int8,operand}'), ('{pow,power,^}', '{operand,encrypted_int8}'),
        ('{pow,power,^}', '{encrypted_numeric,plain_numeric}'), ('{pow,power,^}', '{plain_numeric,encrypted_numeric}'),
        ('{pow,power,^}', '{encrypted_numeric,plain_float8}'),  ('{pow,power,^}', '{plain_float8,encrypted_numeric}'),
        ('{pow,power,^}', '{float,float8}'),    ('{pow,power,^}', '{float8,float}'),
        ('{*,/}', '{interval,number}'), ('{*,/}', '{encrypted_interval,number}'), ('{*,/}', '{encrypted_interval,float8}'),
        ('{*}', '{number,interval}'),   ('{*}', '{number,encrypted_interval}'),   ('{*}', '{float8,encrypted_interval}'),
        ('{-}', '{moment,moment}'), ('{-}', '{local moment,plain moment}'), ('{-}', '{plain moment,local moment}'),
        -- timestamp and date become the preferred type, and the encrypted one implicitly
        ('{-,age}', '{encrypted_timestamptz,timestamptz}'), ('{-,age}', '{timestamptz,encrypted_timestamptz}'),
        -- what stands in quotes beside them would be taken for text, and they with it
        ('{||}', '{encrypted_bytea,encrypted_bytea}'), ('{||}', '{encrypted_jsonb,encrypted_jsonb}'),
        ('{age}', '{encrypted_date}'), ('{age}', '{moment,moment}'),
        ('{age}', '{local moment,timestamp}'), ('{age}', '{local moment,timestamptz}'),
        ('{age}', '{timestamp,local moment}'), ('{age}', '{timestamptz,local moment}'),
        ('{date_trunc}', '{text,encrypted_date}'), ('{date_trunc}', '{text,encrypted_time}'),
        ('{date_trunc}', '{text,encrypted_date,text}'), ('{date_trunc}', '{text,encrypted_timestamp,text}'),
        ('{generate_series}', '{encrypted_date,encrypted_date,interval}'),
        ('{to_char}', '{encrypted_int2,text}'), ('{to_char}', '{encrypted_date,text}'), ('{to_char}', '{encrypted_time,text}')
      ) AS calls (names, places), unnest(names) name
      UNION ALL
      SELECT name, places[2:], types || type
      FROM combination, jsonb_array_elements_text(coalesce(sorts -> places[1], to_jsonb(places[1:1]))) AS t (type)
      WHERE cardinality(places) > 0
    )
    SELECT name, functions ? name AS is_operator, types,
           CASE WHEN NOT functions ? name THEN format('pg_catalog.%s(%s)', name, array_to_string(operands, ', '))
             WHEN cardinality(types) = 1 THEN format('OPERATOR(pg_catalog.%s) %s', name, operands[1])
             ELSE format('%s OPERATOR(pg_catalog.%s) %s', operands[1], name, operands[2]) END AS expression
    FROM combination
    CROSS JOIN LATERAL (SELECT array_agg(format('$%s::pg_catalog.%I', number, replace(regexp_replace(type, '^(encrypted|plain)_', ''), 'decimal', 'numeric')))
                        FROM unnest(types) WITH ORDINALITY t (type, number)) o (operands)
    WHERE places = '{}'
  LOOP
    -- a subquery, since that of a set, too, has a type
    EXECUTE format('SELECT pg_catalog.pg_typeof((SELECT %s LIMIT 1))', regexp_replace(call.expression, '[$][0-9]', 'NULL', 'g')) INTO result;
    call.types := ARRAY(SELECT regexp_replace(regexp_replace(t, '^encrypted_', E'@extschema@.\\&'), '^plain_', E'tde_internal.\\&')
                        FROM unnest(call.types) t);
    function := format('%s.%I(%s)', CASE WHEN call.is_operator THEN 'tde_internal' ELSE '@extschema@' END,
                       coalesce(functions ->> call.name, call.name), array_to_string(call.types, ', '));
    ddl := ddl || format(E'CREATE FUNCTION %1$s RETURNS %2$s LANGUAGE sql STABLE PARALLEL SAFE AS %3$L;\n'
                         'COMMENT ON FUNCTION %1$s IS %4$L;\n', function,
                         CASE call.name WHEN 'generate_series' THEN 'SETOF ' ELSE '' END || result, 'SELECT ' || call.expression,
                         CASE WHEN call.is_operator THEN format('implementation of %s operator', call.name)
                           ELSE format('%s() of the base types', call.name) END);
    CONTINUE WHEN NOT call.is_operator;
    ddl := ddl || format(E'CREATE OPERATOR @extschema@.%s (%s, FUNCTION = tde_internal.%s);\n', call.name,
                         CASE cardinality(call.types) WHEN 1 THEN 'RIGHTARG = ' || call.types[1]
                           ELSE format('LEFTARG = %s, RIGHTARG = %s', VARIADIC call.types) END, functions ->> call.name);
  END LOOP;
  PERFORM tde_internal.tde_run(ddl);
END
$$;

--
-- What is in a range: PostgreSQL's own operators want the element's type itself.  A range becomes its domain without work; beside the range
-- type itself, what stands in quotes would be taken for an encrypted value instead of a range.
--

-- new in 0.2.0
SELECT tde_internal.tde_run(string_agg(format(
  E'CREATE DOMAIN %1$s AS pg_catalog.%2$s;\n'
  'COMMENT ON DOMAIN %1$s IS ''a range beside an encrypted value: for operators, not for columns'';\n'
  'CREATE FUNCTION tde_internal.tde_contains(%1$s, %3$s) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE '
  'AS ''SELECT $1::pg_catalog.%2$s OPERATOR(pg_catalog.@>) $2::%4$s'';\n'
  'COMMENT ON FUNCTION tde_internal.tde_contains(%1$s, %3$s) IS ''implementation of @> operator'';\n'
  'CREATE FUNCTION tde_internal.tde_contained(%3$s, %1$s) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE '
  'AS ''SELECT $1::%4$s OPERATOR(pg_catalog.<@) $2::pg_catalog.%2$s'';\n'
  'COMMENT ON FUNCTION tde_internal.tde_contained(%3$s, %1$s) IS ''implementation of <@ operator'';\n'
  'CREATE OPERATOR @extschema@.@> (LEFTARG = %1$s, RIGHTARG = %3$s, FUNCTION = tde_internal.tde_contains, '
  'COMMUTATOR = OPERATOR(@extschema@.<@));\n'
  'CREATE OPERATOR @extschema@.<@ (LEFTARG = %3$s, RIGHTARG = %1$s, FUNCTION = tde_internal.tde_contained, '
  'COMMUTATOR = OPERATOR(@extschema@.@>));\n',
  format('tde_internal.plain_%s', range), range, '@extschema@.encrypted_' || base, 'pg_catalog.' || base), ''))
FROM (VALUES ('int4', 'int4'), ('int8', 'int8'), ('numeric', 'num'), ('date', 'date'), ('timestamp', 'ts'), ('timestamptz', 'tstz'))
  AS ranges (base, name), unnest(ARRAY[name || 'range', name || 'multirange']) range;

--
-- percentile_cont() of PostgreSQL takes what it has sorted for float8.
--

-- percentile_cont('0.5') and percentile_cont($1) take the sorted values' type for the fraction's.
SELECT tde_internal.tde_run(string_agg(tde_internal.tde_cast_sql(
  'tde_internal', 'tde_internal', format('@extschema@.encrypted_%s', sorted)::regtype, 'tde_internal.plain_fraction', 'tde_decrypt_to', 'AS IMPLICIT',
  'decrypt and cast'), ''))
FROM unnest('{int2,int4,int8,numeric,float4,float8}'::text[]) sorted;

-- COALESCE(NULLIF(5, n), n): what is of a type for operands and an encrypted number become the former, as the base types do.
-- new in 0.2.0
SELECT tde_internal.tde_run(string_agg(format(
  E'CREATE FUNCTION tde_internal.%1$s(%2$s) RETURNS tde_internal.%1$s LANGUAGE sql STABLE PARALLEL SAFE '
  'AS ''SELECT $1::pg_catalog.%3$s::pg_catalog.%4$s::tde_internal.%1$s'';\n'
  'COMMENT ON FUNCTION tde_internal.%1$s(%2$s) IS ''decrypt and cast'';\n'
  'CREATE CAST (%2$s AS tde_internal.%1$s) WITH FUNCTION tde_internal.%1$s(%2$s) AS IMPLICIT;\n',
  operand, '@extschema@.encrypted_' || source, source, base), ''))
FROM (VALUES ('plain_numeric', 'numeric', '{int2,int4,int8,numeric}'::text[]), ('plain_decimal', 'numeric', '{int2,int4,int8,numeric}'),
             ('plain_float8', 'float8', '{int2,int4,int8,numeric,float4,float8}')) AS operands (operand, base, sources), unnest(sources) source;

CREATE FUNCTION tde_internal.tde_percentile_transition(internal, @extschema@.encrypted_float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_percentile_transition(internal, @extschema@.encrypted_float8) IS 'aggregate transition function';
CREATE FUNCTION tde_internal.tde_percentile(internal, float8) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_percentile(internal, float8) IS 'aggregate final function';
CREATE FUNCTION tde_internal.tde_percentiles(internal, float8[]) RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_percentiles(internal, float8[]) IS 'aggregate final function';

CREATE AGGREGATE @extschema@.percentile_cont(tde_internal.plain_fraction ORDER BY @extschema@.encrypted_float8) (
  SFUNC = tde_internal.tde_percentile_transition, STYPE = internal, FINALFUNC = tde_internal.tde_percentile,
  FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.percentile_cont(tde_internal.plain_fraction ORDER BY @extschema@.encrypted_float8) IS
  'continuous distribution percentile';
CREATE AGGREGATE @extschema@.percentile_cont(float8[] ORDER BY @extschema@.encrypted_float8) (
  SFUNC = tde_internal.tde_percentile_transition, STYPE = internal, FINALFUNC = tde_internal.tde_percentiles,
  FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.percentile_cont(float8[] ORDER BY @extschema@.encrypted_float8) IS 'multiple continuous percentiles';

-- new in 0.2.0
SELECT tde_internal.tde_run(string_agg(tde_internal.tde_function_sql('tde_internal.' || signature, result, symbol, volatility, comment), ''))
FROM (VALUES
  ('tde_percentile_transition(internal, @extschema@.encrypted_interval)', 'internal', 'tde_percentile_transition', 'STABLE CALLED ON NULL INPUT', 'aggregate transition function'),
  ('tde_interval_percentile(internal, float8)', 'interval', 'tde_percentile', 'STABLE', 'aggregate final function'),
  ('tde_interval_percentiles(internal, float8[])', 'interval[]', 'tde_percentiles', 'STABLE', 'aggregate final function')
) AS f (signature, result, symbol, volatility, comment);

-- new in 0.2.0
SELECT tde_internal.tde_run(string_agg(tde_internal.tde_aggregate_sql(
  format('@extschema@.percentile_cont(%s ORDER BY @extschema@.encrypted_interval)', fraction),
  format('SFUNC = tde_internal.tde_percentile_transition, STYPE = internal, FINALFUNC = tde_internal.%s, FINALFUNC_MODIFY = READ_WRITE', final), comment), ''))
FROM (VALUES ('tde_internal.plain_fraction', 'tde_interval_percentile', 'continuous distribution percentile'),
             ('float8[]', 'tde_interval_percentiles', 'multiple continuous percentiles')) AS a (fraction, final, comment);

-- What stands for array_agg(anynonarray) of encrypted values: workers would pass on their parts in clear (src/operators/prepared_aggregates.c).
-- new in 0.2.0
CREATE AGGREGATE tde_internal.array_agg(anynonarray) (SFUNC = array_agg_transfn, STYPE = internal, FINALFUNC = array_agg_finalfn, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE tde_internal.array_agg(anynonarray) IS 'concatenate aggregate input into an array, in one process';
