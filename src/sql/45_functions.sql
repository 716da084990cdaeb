--
-- Operators beside which what stands in quotes must be an encrypted value, too, since it would be taken for text, or for an interval, and they with it;
-- and differences of moments, which PostgreSQL has for two of one type.  All are in SQL, and disappear from the plans of the queries that call them.
-- Their bodies are texts, with schemas: parse trees take ten times the room.
--

-- new in 0.2.0
DO $$
DECLARE
  -- what stands for several types
  sorts    CONSTANT jsonb := '{"moment": ["encrypted_date", "encrypted_timestamp", "encrypted_timestamptz"],
                               "local moment": ["encrypted_date", "encrypted_timestamp"], "plain moment": ["date", "timestamp", "timestamptz"]}';
  operator record;
  result   regtype;
  ddl      text := '';
BEGIN
  FOR operator IN
    SELECT name, function, l, r, format('$1::pg_catalog.%s OPERATOR(pg_catalog.%s) $2::pg_catalog.%s', replace(l, 'encrypted_', ''), name, replace(r, 'encrypted_', '')) AS expression
    FROM (VALUES ('-', 'tde_minus', 'moment', 'moment'), ('-', 'tde_minus', 'local moment', 'plain moment'), ('-', 'tde_minus', 'plain moment', 'local moment'),
                 -- timestamp and date become the preferred type, and the encrypted one implicitly
                 ('-', 'tde_minus', 'encrypted_timestamptz', 'timestamptz'), ('-', 'tde_minus', 'timestamptz', 'encrypted_timestamptz'),
                 ('||', 'tde_concatenate', 'encrypted_bytea', 'encrypted_bytea'), ('||', 'tde_concatenate', 'encrypted_jsonb', 'encrypted_jsonb'))
      AS operators (name, function, left_sort, right_sort),
      jsonb_array_elements_text(coalesce(sorts -> left_sort, to_jsonb(ARRAY[left_sort]))) l, jsonb_array_elements_text(coalesce(sorts -> right_sort, to_jsonb(ARRAY[right_sort]))) r
  LOOP
    EXECUTE format('SELECT pg_catalog.pg_typeof(%s)', regexp_replace(operator.expression, '[$][0-9]', 'NULL', 'g')) INTO result;
    ddl := ddl || format(E'CREATE FUNCTION %1$s RETURNS %2$s LANGUAGE sql STABLE PARALLEL SAFE AS %3$L;\nCOMMENT ON FUNCTION %1$s IS %4$L;\n'
                         'CREATE OPERATOR @extschema@.%5$s (LEFTARG = %6$s, RIGHTARG = %7$s, FUNCTION = tde_internal.%8$s);\n',
                         format('tde_internal.%s(%s, %s)', operator.function, operator.l, operator.r), result, 'SELECT ' || operator.expression,
                         format('implementation of %s operator', operator.name), operator.name, operator.l, operator.r, operator.function);
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
FROM (VALUES ('plain_numeric', 'numeric', '{int2,int4,int8,numeric}'::text[]), ('plain_decimal', 'numeric', '{int2,int4,int8,numeric}')) AS operands (operand, base, sources), unnest(sources) source;

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

-- What stands for array_agg(anynonarray) of encrypted values: workers would pass on their parts in clear (src/operators/prepared.c).
-- new in 0.2.0
CREATE AGGREGATE tde_internal.array_agg(anynonarray) (SFUNC = array_agg_transfn, STYPE = internal, FINALFUNC = array_agg_finalfn, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE tde_internal.array_agg(anynonarray) IS 'concatenate aggregate input into an array, in one process';
