--
-- What the template has made before must be as it would make it now: what differs is altered, in place, since columns, indexes and
-- views depend on it
--

-- Citus calls the function of a cast with one argument.
CREATE FUNCTION tde_internal.tde_with_defaults(signature text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(signature, ', ?(int4|integer), ?boolean[)]$', ', int4 DEFAULT -1, boolean DEFAULT false)');
COMMENT ON FUNCTION tde_internal.tde_with_defaults(text) IS 'the signature of a cast''s function with defaults for the typmod and whether it is explicit';

-- An extension's script may not replace users' functions, and no ALTER gives a function defaults.
CREATE FUNCTION tde_internal.tde_cast_defaults(typmod int4 DEFAULT -1, is_explicit boolean DEFAULT false) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN is_explicit;
COMMENT ON FUNCTION tde_internal.tde_cast_defaults(int4, boolean) IS 'has the defaults that the functions of casts have';

CREATE FUNCTION tde_internal.tde_alter_function_sql(function regprocedure, volatility text, comment text, support text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  f pg_proc;
BEGIN
  SELECT * INTO f FROM pg_proc WHERE oid = function;
  RETURN concat(
    -- ALTER FUNCTION takes no planner support away
    CASE WHEN support IS NULL AND f.prosupport <> 0 THEN format(E'UPDATE pg_catalog.pg_proc SET prosupport = 0 WHERE oid = %s;\n', f.oid) END,
    CASE WHEN (f.provolatile, f.proisstrict, f.proparallel, f.procost, f.prosecdef, f.proleakproof, f.proconfig IS NULL)
              <> (lower(left(volatility, 1))::"char", volatility NOT LIKE '% ON NULL INPUT', 's'::"char", 1::float4, false, volatility LIKE '% LEAKPROOF', true)
           OR f.prosupport <> support::regproc
      THEN format(E'ALTER FUNCTION %s %s %s PARALLEL SAFE COST 1 SECURITY INVOKER %sLEAKPROOF%s RESET ALL;\n', function,
                  split_part(volatility, ' ', 1), CASE WHEN volatility LIKE '% ON NULL INPUT' THEN 'CALLED ON NULL INPUT' ELSE 'STRICT' END,
                  CASE WHEN volatility LIKE '% LEAKPROOF' THEN '' ELSE 'NOT ' END, ' SUPPORT ' || support) END,
    CASE WHEN f.pronargdefaults = 0 AND tde_internal.tde_with_defaults(function::text) <> function::text
      THEN format(E'UPDATE pg_catalog.pg_proc SET (pronargdefaults, proargdefaults) = (SELECT pronargdefaults, proargdefaults FROM pg_catalog.pg_proc '
                  'WHERE oid = %s) WHERE oid = %s;\n', 'tde_internal.tde_cast_defaults(int4, boolean)'::regprocedure::oid, f.oid) END,
    CASE WHEN (SELECT description FROM pg_description WHERE objoid = function AND classoid = 'pg_proc'::regclass AND objsubid = 0) IS DISTINCT FROM comment THEN format(E'COMMENT ON FUNCTION %s IS %L;\n', function, comment) END,
    -- operators and casts would not work for others; what users write is the administrator's to grant
    CASE WHEN f.pronamespace = 'tde_internal'::regnamespace AND NOT has_function_privilege('public', function, 'EXECUTE')
      THEN format(E'GRANT EXECUTE ON FUNCTION %s TO PUBLIC;\n', function) END);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_alter_function_sql(regprocedure, text, text, text) IS
  'SQL that gives a function of the template the properties that it should have; support: NULL if none';

-- Only the estimators can be altered by ALTER OPERATOR in all versions of PostgreSQL.
CREATE FUNCTION tde_internal.tde_alter_operator_sql(operator regoperator, commutator text, negator text, selectivity text, merges boolean,
                                                    hashes boolean) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  o         pg_operator;
  restrict_ CONSTANT text := coalesce('pg_catalog.' || selectivity || 'sel', 'NONE');
  join_     CONSTANT text := coalesce('pg_catalog.' || selectivity || 'joinsel', 'NONE');
  operands  CONSTANT text := '(%s, %s)';
BEGIN
  SELECT * INTO o FROM pg_operator WHERE oid = operator;
  RETURN concat(
    CASE WHEN (o.oprrest, o.oprjoin) <> (replace(restrict_, 'NONE', '-')::regproc, replace(join_, 'NONE', '-')::regproc)
      THEN format(E'ALTER OPERATOR %s SET (RESTRICT = %s, JOIN = %s);\n',
                  format('%I.%s(%s, %s)', o.oprnamespace::regnamespace, o.oprname, o.oprleft::regtype, o.oprright::regtype), restrict_, join_) END,
    (SELECT format(E'UPDATE pg_catalog.pg_operator SET oprcom = %s, oprnegate = %s, oprcanmerge = %L, oprcanhash = %L WHERE oid = %s;\n',
                   comm, neg, can_merge, can_hash, o.oid)
     FROM (SELECT coalesce(to_regoperator(commutator || format(operands, o.oprright::regtype, o.oprleft::regtype))::oid, o.oprcom),
                  coalesce(to_regoperator(negator || format(operands, o.oprleft::regtype, o.oprright::regtype))::oid, o.oprnegate),
                  -- of an operator that is a member of more families than one, each part of the template knows one
                  o.oprcanmerge OR merges, o.oprcanhash OR hashes) AS wanted (comm, neg, can_merge, can_hash)
     WHERE (o.oprcom, o.oprnegate, o.oprcanmerge, o.oprcanhash) <> (comm, neg, can_merge, can_hash)));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_alter_operator_sql(regoperator, text, text, text, boolean, boolean) IS
  'SQL that gives an operator of the template the properties that it should have, as tde_operator_sql() has them';

-- There is no ALTER CAST.
CREATE FUNCTION tde_internal.tde_alter_cast_sql(source regtype, target regtype, context text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce((SELECT format(E'UPDATE pg_catalog.pg_cast SET castcontext = %L WHERE oid = %s;\n', wanted, oid)
                   FROM pg_cast, (SELECT CASE context WHEN 'AS IMPLICIT' THEN 'i' WHEN 'AS ASSIGNMENT' THEN 'a' ELSE 'e' END::"char") w (wanted)
                   WHERE castsource = source AND casttarget = target AND castcontext <> wanted), '');
END;
COMMENT ON FUNCTION tde_internal.tde_alter_cast_sql(regtype, regtype, text) IS
  'SQL that gives a cast of the template the context that it should have, as CREATE CAST says it';

REVOKE ALL ON FUNCTION tde_internal.tde_with_defaults(text), tde_internal.tde_cast_defaults(int4, boolean), tde_internal.tde_alter_function_sql(regprocedure, text, text, text),
  tde_internal.tde_alter_operator_sql(regoperator, text, text, text, boolean, boolean), tde_internal.tde_alter_cast_sql(regtype, regtype, text) FROM PUBLIC;

