--
-- PostgreSQL's own aggregates over encrypted values (src/operators/aggregates.c)
--

CREATE FUNCTION tde_internal.tde_missing_own_aggregates(p tde_internal.type_plans) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- min and max, which keep an index useful
  SELECT coalesce((
    SELECT string_agg(tde_internal.tde_function_sql(format('%s.tde_%s(%s, %3$s)', p.inner_schema, a.suffix, p.enc), p.enc::text, 'tde_' || a.suffix,
                                       'IMMUTABLE', a.suffix || ' of two')
                      || tde_internal.tde_aggregate_sql(format('%s.%I(%s)', p.schema, a.name, p.enc),
                                           format('SFUNC = %1$s.tde_%2$s, STYPE = %3$s, COMBINEFUNC = %1$s.tde_%2$s, '
                                                  'SORTOP = OPERATOR(%4$s.%5$s)', p.inner_schema, a.suffix, p.enc, p.schema, a.sortop),
                                           a.name || 'imum of all values'), '')
    FROM (VALUES ('max', 'larger', '>'), ('min', 'smaller', '<')) AS a (name, suffix, sortop)
    WHERE p.btree IS NOT NULL AND EXISTS (
      SELECT FROM pg_proc WHERE proname = a.name AND prokind = 'a' AND pronargs = 1 AND (proargtypes[0] = p.operand
        OR proargtypes[0] = 'anyenum'::regtype AND (SELECT typtype FROM pg_type WHERE oid = p.base) = 'e'))), '')
  -- corr, covar_*, regr_*: of float8, which the other encrypted numbers become implicitly
  || coalesce((
    SELECT string_agg(tde_internal.tde_function_sql(format('%s.tde_regr_accum(float8[], %s, %s)', p.inner_schema, l, r), 'float8[]',
                                       'tde_regr_accum', 'STABLE', 'aggregate transition function')
                      || tde_internal.tde_function_sql(format('%s.tde_regr_count(int8, %s, %s)', p.inner_schema, l, r), 'int8',
                                          'tde_regr_count', 'IMMUTABLE', 'aggregate transition function')
                      || (SELECT string_agg(tde_internal.tde_aggregate_sql(
                                   format('%s.%I(%s, %s)', p.schema, f.proname, l, r),
                                   format('SFUNC = %s.%s, STYPE = %s, INITCOND = %L%s%s', p.inner_schema,
                                          CASE WHEN aggtransfn = 'float8_regr_accum'::regproc THEN 'tde_regr_accum'
                                            ELSE 'tde_regr_count' END,
                                          aggtranstype::regtype, agginitval,
                                          -- workers would pass on sums of values in clear, but may pass on a number of them
                                          CASE WHEN aggtranstype = 'int8'::regtype THEN format(', COMBINEFUNC = %s', aggcombinefn) END,
                                          CASE WHEN aggfinalfn <> 0 THEN format(', FINALFUNC = %s', aggfinalfn) END),
                                   obj_description(f.oid, 'pg_proc')), '')
                          FROM pg_aggregate JOIN pg_proc f ON f.oid = aggfnoid
                          WHERE aggtransfn IN ('float8_regr_accum'::regproc, 'int8inc_float8_float8'::regproc)
                            AND tde_internal.tde_is_core(f.oid)), '')
    FROM (VALUES (p.enc, p.enc), (p.enc, p.base), (p.base, p.enc)) AS s (l, r) WHERE p.base = 'float8'::regtype), '');
END;
COMMENT ON FUNCTION tde_internal.tde_missing_own_aggregates(tde_internal.type_plans) IS
  'SQL that makes the aggregates that an encrypted type lacks whose transition functions are like no other''s';

-- An aggregate of PostgreSQL's for one choice of the types of its arguments.
-- new in 0.2.0
CREATE TYPE tde_internal.aggregate_plan AS (name name, args text, a pg_aggregate, result text, comment text, boxed boolean, partial boolean, moving boolean);
COMMENT ON TYPE tde_internal.aggregate_plan IS 'an aggregate that the template makes after one of PostgreSQL''s';

CREATE FUNCTION tde_internal.tde_aggregate_plans(p tde_internal.type_plans, others tde_internal.type_plans[]) RETURNS SETOF tde_internal.aggregate_plan
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- Those that take the base type, or text for a string, by the implicit cast.  Each other argument is of the type that PostgreSQL's has, or of
  -- an encrypted type that becomes that.
  WITH taken (enc, base) AS (
    SELECT enc, as_type FROM unnest(CASE WHEN p.shipped THEN others ELSE ARRAY[p] END) o
    CROSS JOIN LATERAL (SELECT o.base UNION SELECT 'text'::regtype WHERE o.base = ANY ('{text,varchar,bpchar}'::regtype[])) t (as_type)
    WHERE o.shipped = p.shipped
  ), choices (aggregate, args) AS (
    SELECT f.oid, concat_ws(', ', one.type, two.type)
    FROM pg_proc f
    CROSS JOIN LATERAL (SELECT enc FROM taken WHERE base = f.proargtypes[0]
                        UNION ALL SELECT CASE f.proargtypes[0] WHEN 'bytea'::regtype THEN 'tde_internal.plain_bytea'::regtype
                                         ELSE f.proargtypes[0]::regtype END) one (type)
    CROSS JOIN LATERAL (SELECT enc FROM taken WHERE f.pronargs = 2 AND base = f.proargtypes[1]
                        UNION ALL SELECT CASE f.proargtypes[1] WHEN 'bytea'::regtype THEN 'tde_internal.plain_bytea'::regtype
                                         ELSE f.proargtypes[1]::regtype END) two (type)
    WHERE f.prokind = 'a' AND tde_internal.tde_is_core(f.oid) AND f.pronargs IN (1, 2) AND p.enc IN (one.type, two.type)
  )
  SELECT f.proname, c.args, a, f.prorettype::regtype::text, obj_description(f.oid, 'pg_proc'),
         p.shipped AND a.aggcombinefn <> 0 AND a.aggtranstype <> 'internal'::regtype, p.shipped AND a.aggcombinefn <> 0,
         -- a first value that becomes the state must be of its type
         a.aggmtransfn <> 0 AND (a.aggminitval IS NOT NULL OR NOT (SELECT proisstrict FROM pg_proc WHERE oid = a.aggmtransfn))
  FROM choices c JOIN pg_aggregate a ON a.aggfnoid = c.aggregate JOIN pg_proc f ON f.oid = c.aggregate
  -- the others are above
  WHERE a.aggkind = 'n' AND f.proname NOT IN ('min', 'max')
    -- avg(interval) has a state of its own from 17 on: what stands for the one before could not go there by pg_upgrade
    AND a.aggtranstype <> 'interval[]'::regtype
    AND a.aggtransfn NOT IN ('float8_regr_accum'::regproc, 'int8inc_float8_float8'::regproc);
END;
COMMENT ON FUNCTION tde_internal.tde_aggregate_plans(tde_internal.type_plans, tde_internal.type_plans[]) IS
  'PostgreSQL''s aggregates that values of an encrypted type are given to, and what is made after them';

CREATE FUNCTION tde_internal.tde_name_of(function oid) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (SELECT proname FROM pg_proc WHERE oid = function);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_name_of(oid) IS 'name of a function, without its schema and arguments';

CREATE FUNCTION tde_internal.tde_boxed_result(g tde_internal.aggregate_plan) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN 'boxed_' || coalesce(tde_internal.tde_name_of(nullif((g.a).aggfinalfn::oid, 0)), (SELECT typname FROM pg_type WHERE oid = (g.a).aggtranstype));
COMMENT ON FUNCTION tde_internal.tde_boxed_result(tde_internal.aggregate_plan) IS
  'name of the final function of an aggregate with a state in a box: after PostgreSQL''s, or, if it has none, the type of the state';

CREATE FUNCTION tde_internal.tde_aggregate_functions(p tde_internal.type_plans, g tde_internal.aggregate_plan) RETURNS TABLE (signature text, result text, symbol text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT p.inner_schema || '.' || f.signature, f.result, f.symbol
  FROM (VALUES
    (NOT g.boxed, format('%s(%s, %s)', tde_internal.tde_name_of((g.a).aggtransfn), (g.a).aggtranstype::regtype, g.args), (g.a).aggtranstype::regtype::text, 'tde_transition'),
    (g.boxed, format('boxed_%s(internal, %s)', tde_internal.tde_name_of((g.a).aggtransfn), g.args), 'internal', 'tde_boxed_transition'),
    (g.boxed, format('boxed_%s(internal, internal)', tde_internal.tde_name_of((g.a).aggcombinefn)), 'internal', 'tde_boxed_combine'),
    (g.boxed, 'boxed_serialize(internal)', 'bytea', 'tde_boxed_serialize'),
    (g.boxed, 'boxed_deserialize(bytea, internal)', 'internal', 'tde_boxed_deserialize'),
    (g.boxed, format('%s(internal)', tde_internal.tde_boxed_result(g)), g.result, CASE (g.a).aggfinalfn::oid WHEN 0 THEN 'tde_boxed_value' ELSE 'tde_boxed_final' END),
    (g.partial AND NOT g.boxed, tde_internal.tde_name_of((g.a).aggserialfn) || '(internal)', 'bytea', 'tde_sealed_serialize'),
    (g.partial AND NOT g.boxed, tde_internal.tde_name_of((g.a).aggdeserialfn) || '(bytea, internal)', 'internal', 'tde_sealed_deserialize'),
    (g.moving, format('%s(%s, %s)', tde_internal.tde_name_of((g.a).aggmtransfn), (g.a).aggmtranstype::regtype, g.args), (g.a).aggmtranstype::regtype::text, 'tde_transition'),
    (g.moving, format('%s(%s, %s)', tde_internal.tde_name_of((g.a).aggminvtransfn), (g.a).aggmtranstype::regtype, g.args), (g.a).aggmtranstype::regtype::text, 'tde_transition')
  ) AS f (applies, signature, result, symbol)
  WHERE f.applies;
END;
COMMENT ON FUNCTION tde_internal.tde_aggregate_functions(tde_internal.type_plans, tde_internal.aggregate_plan) IS
  'the functions that are made for an aggregate, named after PostgreSQL''s for which they stand';

CREATE FUNCTION tde_internal.tde_aggregate_options(p tde_internal.type_plans, g tde_internal.aggregate_plan) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN format(CASE WHEN g.boxed
      THEN 'SFUNC = %1$s.boxed_%2$s, STYPE = internal, SSPACE = 64, COMBINEFUNC = %1$s.boxed_%3$s, SERIALFUNC = %1$s.boxed_serialize, '
           'DESERIALFUNC = %1$s.boxed_deserialize, FINALFUNC = %1$s.%4$s'
      ELSE 'SFUNC = %1$s.%2$s, STYPE = %5$s, SSPACE = %6$s' END,
    p.inner_schema, tde_internal.tde_name_of((g.a).aggtransfn), tde_internal.tde_name_of((g.a).aggcombinefn), tde_internal.tde_boxed_result(g),
    (g.a).aggtranstype::regtype, (g.a).aggtransspace)
  || CASE WHEN g.boxed THEN '' ELSE concat(CASE WHEN (g.a).agginitval IS NOT NULL THEN format(', INITCOND = %L', (g.a).agginitval) END,
       CASE WHEN (g.a).aggfinalfn <> 0 THEN format(', FINALFUNC = %s', (g.a).aggfinalfn) END,
       CASE WHEN g.partial THEN format(', COMBINEFUNC = %s, SERIALFUNC = %s.%s, DESERIALFUNC = %2$s.%4$s', (g.a).aggcombinefn, p.inner_schema,
                                       tde_internal.tde_name_of((g.a).aggserialfn), tde_internal.tde_name_of((g.a).aggdeserialfn)) END) END
  || CASE WHEN g.moving THEN concat(
       format(', MSFUNC = %1$s.%2$s, MINVFUNC = %1$s.%3$s, MSTYPE = %4$s, MSSPACE = %5$s', p.inner_schema, tde_internal.tde_name_of((g.a).aggmtransfn),
              tde_internal.tde_name_of((g.a).aggminvtransfn), (g.a).aggmtranstype::regtype, (g.a).aggmtransspace),
       CASE WHEN (g.a).aggminitval IS NOT NULL THEN format(', MINITCOND = %L', (g.a).aggminitval) END,
       CASE WHEN (g.a).aggmfinalfn <> 0 THEN format(', MFINALFUNC = %s', (g.a).aggmfinalfn) END) ELSE '' END;
COMMENT ON FUNCTION tde_internal.tde_aggregate_options(tde_internal.type_plans, tde_internal.aggregate_plan) IS 'what CREATE AGGREGATE says of an aggregate';

CREATE FUNCTION tde_internal.tde_missing_aggregates(p tde_internal.type_plans, others tde_internal.type_plans[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  plans CONSTANT tde_internal.aggregate_plan[] := ARRAY(SELECT g FROM tde_internal.tde_aggregate_plans(p, others) g);
BEGIN
  RETURN tde_internal.tde_missing_own_aggregates(p)
    || coalesce((SELECT string_agg(tde_internal.tde_function_sql(signature, result, symbol,
                                     CASE WHEN symbol IN ('tde_transition', 'tde_boxed_transition', 'tde_boxed_combine') THEN 'STABLE CALLED ON NULL INPUT' ELSE 'STABLE' END,
                                     'aggregate support function'), '')
                 FROM (SELECT DISTINCT f.* FROM unnest(plans) g CROSS JOIN LATERAL tde_internal.tde_aggregate_functions(p, g) f) AS functions), '')
    || coalesce((SELECT string_agg(tde_internal.tde_aggregate_sql(format('%s.%I(%s)', p.schema, g.name, g.args), tde_internal.tde_aggregate_options(p, g), g.comment), '')
                 FROM unnest(plans) g), '');
END
$$;
COMMENT ON FUNCTION tde_internal.tde_missing_aggregates(tde_internal.type_plans, tde_internal.type_plans[]) IS 'SQL that makes the aggregates that an encrypted type lacks';

REVOKE ALL ON FUNCTION tde_internal.tde_missing_own_aggregates(tde_internal.type_plans),
  tde_internal.tde_aggregate_plans(tde_internal.type_plans, tde_internal.type_plans[]), tde_internal.tde_name_of(oid),
  tde_internal.tde_boxed_result(tde_internal.aggregate_plan),
  tde_internal.tde_aggregate_functions(tde_internal.type_plans, tde_internal.aggregate_plan),
  tde_internal.tde_aggregate_options(tde_internal.type_plans, tde_internal.aggregate_plan),
  tde_internal.tde_missing_aggregates(tde_internal.type_plans, tde_internal.type_plans[]) FROM PUBLIC;
