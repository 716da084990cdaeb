--
-- Types that stand for plain ones where PostgreSQL's own operator or function would compete: what a plain value becomes beside an encrypted one of a
-- larger type, which it does not become (sql/31_missing.sql); and for arrays (sql/47_operators.sql).
--

-- new in 0.2.0
DO $$
DECLARE
  sort record;
  ddl  text := '';
BEGIN
  FOR sort IN
    SELECT 'tde_internal.' || s.name AS name, 'pg_catalog.' || s.base AS base, s.of, s.preferred, s.plain, s.encrypted, b.typcategory, typinput, typoutput,
           oidvectortypes(proargtypes) AS arguments
    FROM (VALUES ('plain_int4', 'int4', 'a smallint beside an encrypted integer', true, '{int4,int2}'::text[], '{}'::text[]),
                 ('plain_timestamp', 'timestamp', 'a date beside an encrypted timestamp', true, '{timestamp,date}', '{}'),
                 ('same_int4', 'int4', 'an encrypted value beside an array', false, '{}', '{int4}'), ('bare_int2', 'int2', 'a plain value beside an array', false, '{int2}', '{}'),
                 ('same_inet', 'inet', 'an encrypted value beside an array', false, '{}', '{inet}'), ('bare_cidr', 'cidr', 'a plain value beside an array', false, '{cidr}', '{}'),
                 -- preferred to what || takes otherwise
                 ('same_bpchar', 'bpchar', 'an encrypted value beside an array', false, '{}', '{bpchar}'), ('bare_varchar', 'varchar', 'a plain value beside an array', true, '{varchar}', '{}'))
      AS s (name, base, of, preferred, plain, encrypted)
    JOIN pg_type b ON b.oid = s.base::regtype JOIN pg_proc i ON i.oid = typinput
  LOOP
    ddl := ddl || format(
      E'CREATE TYPE %1$s;\n'
      'CREATE FUNCTION %1$s_in(%2$s) RETURNS %1$s AS %3$L LANGUAGE internal STABLE STRICT PARALLEL SAFE;\n'
      'COMMENT ON FUNCTION %1$s_in(%2$s) IS ''I/O'';\n'
      'CREATE FUNCTION %1$s_out(%1$s) RETURNS cstring AS %4$L LANGUAGE internal STABLE STRICT PARALLEL SAFE;\n'
      'COMMENT ON FUNCTION %1$s_out(%1$s) IS ''I/O'';\n'
      'CREATE TYPE %1$s (INPUT = %1$s_in, OUTPUT = %1$s_out, LIKE = %5$s, CATEGORY = %6$L, PREFERRED = %7$s);\n'
      'COMMENT ON TYPE %1$s IS ''%8$s: for operators and functions, not for columns'';\n'
      'REVOKE USAGE ON TYPE %1$s FROM PUBLIC;\n'
      'CREATE CAST (%1$s AS %5$s) WITHOUT FUNCTION;\nCREATE CAST (%5$s AS %1$s) WITHOUT FUNCTION%9$s;\n',
      sort.name, sort.arguments, sort.typinput, sort.typoutput, sort.base, sort.typcategory, sort.preferred::text, sort.of,
      CASE WHEN sort.plain <> '{}' THEN ' AS IMPLICIT' END)
    || coalesce((SELECT string_agg(format(E'CREATE FUNCTION %1$s(%2$s) RETURNS %1$s LANGUAGE sql %3$s PARALLEL SAFE AS ''SELECT %4$s::%5$s::%1$s'';\n'
                                          'COMMENT ON FUNCTION %1$s(%2$s) IS ''cast'';\n'
                                          'CREATE CAST (%2$s AS %1$s) WITH FUNCTION %1$s(%2$s) AS IMPLICIT;\n', sort.name, source, volatility, value, sort.base), '')
                 FROM (SELECT 'pg_catalog.' || plain AS source, 'IMMUTABLE' AS volatility, '$1' AS value FROM unnest(sort.plain) plain WHERE 'pg_catalog.' || plain <> sort.base
                       UNION ALL SELECT '@extschema@.encrypted_' || encrypted, 'STABLE', '$1::pg_catalog.' || encrypted FROM unnest(sort.encrypted) encrypted) AS sources), '');
  END LOOP;
  EXECUTE ddl;
END
$$;

--
-- PostgreSQL's functions and operators of which there is one for a type and one for a larger type: abs(int4) and abs(float8), date_trunc(text, timestamp)
-- and date_trunc(text, timestamptz).  An encrypted value becomes both implicitly, and neither takes its own type; so the parser would find them equally
-- good, or silently take the larger one, if that is preferred.  So of the one for the smaller type there is a version that takes encrypted values
-- themselves.  What pg_proc and pg_operator have is looked at, so that what a later version of PostgreSQL adds is among them.
--

-- new in 0.2.0
DO $$
DECLARE
  ddl text;
BEGIN
  WITH encrypted AS MATERIALIZED (SELECT type, base FROM tde.types
  ), widening AS (
    SELECT castsource AS type, casttarget AS larger FROM pg_cast
    WHERE castcontext = 'i' AND castsource <> casttarget
      AND castsource = ANY ('{int2,int4,int8,numeric,float4,date,time,timestamp}'::regtype[])
      AND casttarget = ANY ('{int4,int8,numeric,float4,float8,oid,timestamp,timestamptz,interval}'::regtype[])
  ), signature AS (
    SELECT proname AS name, oid, proname AS function, false AS is_operator, string_to_array(proargtypes::text, ' ')::oid[] AS args, prorettype AS result,
           proretset AS of_set, provolatile AS volatility
    FROM pg_proc WHERE tde_internal.tde_is_core(oid) AND prokind = 'f' AND pronargs BETWEEN 1 AND 4 AND provariadic = 0 AND proallargtypes IS NULL
    UNION ALL
    SELECT oprname, o.oid, proname, true, CASE oprkind WHEN 'b' THEN ARRAY[oprleft, oprright] ELSE ARRAY[oprright] END, oprresult, false, provolatile
    FROM pg_operator o JOIN pg_proc p ON p.oid = oprcode WHERE tde_internal.tde_is_core(o.oid)
  ), rival AS (
    -- the places where another one takes something larger
    SELECT s.oid, s.is_operator, ARRAY(SELECT i FROM generate_subscripts(s.args, 1) i WHERE s.args[i] <> r.args[i]) AS places
    FROM signature s JOIN signature r USING (name, is_operator)
    WHERE r.oid <> s.oid AND cardinality(r.args) = cardinality(s.args)
      AND NOT EXISTS (SELECT FROM unnest(s.args, r.args) a (its, others) WHERE its <> others AND (its, others) NOT IN (SELECT type, larger FROM widening))
  ), disputed AS (
    -- the places of one of them, or all: what is encrypted there meets both
    SELECT s.*, r.places FROM signature s JOIN rival r USING (oid, is_operator)
    UNION
    SELECT s.*, ARRAY(SELECT DISTINCT p FROM rival r, unnest(r.places) p WHERE (r.oid, r.is_operator) = (s.oid, s.is_operator) ORDER BY p)
    FROM signature s WHERE (oid, is_operator) IN (SELECT oid, is_operator FROM rival)
  ), version AS (
    WITH RECURSIVE v AS (
      SELECT d.*, '{}'::oid[] AS types, false AS is_encrypted FROM disputed d
      UNION ALL
      SELECT name, v.oid, function, is_operator, args, result, of_set, volatility, places, types || c.type, is_encrypted OR c.encrypted
      FROM v CROSS JOIN LATERAL (SELECT args[cardinality(types) + 1] AS base, cardinality(types) + 1 = ANY (places) AS disputed) a
      CROSS JOIN LATERAL (SELECT a.base AS type, false AS encrypted WHERE NOT a.disputed
                          UNION ALL SELECT t.type, true FROM encrypted t WHERE a.disputed AND t.base = a.base
                          -- what a plain value of a smaller type becomes, and what stands in quotes
                          UNION ALL SELECT t.oid, false FROM pg_type t WHERE a.disputed AND cardinality(places) > 1
                            AND t.oid = CASE a.base WHEN 'int4'::regtype THEN 'tde_internal.plain_int4'::regtype
                                                    WHEN 'timestamp'::regtype THEN 'tde_internal.plain_timestamp'::regtype END) AS c
      WHERE cardinality(types) < cardinality(args)
    )
    SELECT name, function, is_operator, args, result, of_set, volatility, types FROM v
    WHERE cardinality(types) = cardinality(args) AND is_encrypted
      -- what the template makes, or is above, it makes for plain values beside, too
      AND NOT EXISTS (SELECT FROM pg_operator x LEFT JOIN encrypted l ON l.type = x.oprleft JOIN encrypted r ON r.type = x.oprright
                      WHERE is_operator AND x.oprname = name AND ARRAY[l.base, r.base]::oid[] = CASE cardinality(args) WHEN 1 THEN NULL || args ELSE args END)
  ), beside AS (
    -- where there is a version for an encrypted moment in one place, all that take its base type there have one: what stands in quotes beside it is to
    -- choose among them as among PostgreSQL's
    SELECT s.oid, s.is_operator, ARRAY(SELECT CASE n WHEN i THEN t.type ELSE a END FROM unnest(s.args) WITH ORDINALITY u (a, n) ORDER BY n) AS types
    FROM (SELECT DISTINCT name, is_operator, cardinality(args) AS arguments, i, types[i] AS type FROM version, generate_subscripts(types, 1) i WHERE types[i] <> args[i]) m
    JOIN encrypted t USING (type) JOIN signature s USING (name, is_operator)
    WHERE cardinality(s.args) = arguments AND s.args[i] = t.base AND t.base = ANY ('{date,time,timestamp}'::regtype[])
      -- but beside a timestamp stands what a date becomes, above
      AND NOT (t.base = 'timestamp'::regtype AND EXISTS (SELECT FROM rival r WHERE (r.oid, r.is_operator) = (s.oid, s.is_operator) AND i = ANY (r.places)))
  ), wanted AS (
    SELECT * FROM version
    UNION SELECT name, function, is_operator, args, result, of_set, volatility, types FROM beside JOIN signature USING (oid, is_operator)
  )
  SELECT string_agg(format(
      E'CREATE FUNCTION %1$s RETURNS %2$s LANGUAGE sql %3$s AS ''SELECT %4$s'';\nCOMMENT ON FUNCTION %1$s IS %5$L;\n', signature,
      CASE WHEN of_set THEN 'SETOF ' ELSE '' END || result::regtype, CASE volatility WHEN 'v' THEN 'VOLATILE PARALLEL RESTRICTED' ELSE 'STABLE PARALLEL SAFE' END,
      CASE WHEN NOT is_operator THEN format('pg_catalog.%I(%s)', name, array_to_string(operands, ', '))
        WHEN cardinality(types) = 1 THEN format('OPERATOR(pg_catalog.%s) %s', name, operands[1])
        ELSE format('%s OPERATOR(pg_catalog.%s) %s', operands[1], name, operands[2]) END,
      CASE WHEN is_operator THEN format('implementation of %s operator', name) ELSE format('%s() of the base types', name) END)
    || CASE WHEN is_operator THEN format(E'CREATE OPERATOR @extschema@.%s (%s, FUNCTION = tde_internal.%I);\n', name,
                                         CASE cardinality(types) WHEN 1 THEN 'RIGHTARG = ' || types[1]::regtype
                                           ELSE format('LEFTARG = %s, RIGHTARG = %s', types[1]::regtype, types[2]::regtype) END, 'tde_' || function) ELSE '' END, ''
    ORDER BY is_operator, name, signature) INTO ddl
  FROM wanted
  CROSS JOIN LATERAL (SELECT array_agg(format('$%s::pg_catalog.%I', n, typname) ORDER BY n) FROM unnest(args) WITH ORDINALITY u (arg, n) JOIN pg_type t ON t.oid = arg) o (operands)
  CROSS JOIN LATERAL (SELECT format('%s.%I(%s)', CASE WHEN is_operator THEN 'tde_internal' ELSE '@extschema@' END,
                                    CASE WHEN is_operator THEN 'tde_' ELSE '' END || function,
                                    (SELECT string_agg(type::regtype::text, ', ' ORDER BY n) FROM unnest(types) WITH ORDINALITY u (type, n)))) f (signature)
  -- a function of a cast, or what the template makes for a plain value beside
  WHERE to_regprocedure(signature) IS NULL
    AND NOT EXISTS (SELECT FROM pg_operator x WHERE is_operator AND x.oprname = name AND (x.oprleft, x.oprright) = (types[1], types[2]));
  PERFORM tde_internal.tde_run(ddl);
END
$$;
