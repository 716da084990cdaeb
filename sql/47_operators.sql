--
-- Types that stand for plain ones where PostgreSQL's own operator would compete: what an encrypted value that is joined to larger ones becomes, and
-- a plain value that nothing but itself becomes.
--

-- new in 0.2.0
DO $$
DECLARE
  sort record;
  ddl  text := '';
BEGIN
  FOR sort IN
    SELECT format('tde_internal.%s_%s', kind, base) AS name, 'pg_catalog.' || base AS base, kind, sources, b.typcategory, typinput, typoutput,
           oidvectortypes(proargtypes) AS arguments
    FROM (VALUES ('joined', 'int4', '{int2}'::text[]), ('joined', 'int8', '{int2,int4}'), ('joined', 'numeric', '{int2,int4,int8}'),
                 ('joined', 'float4', '{int2,int4,int8,numeric}'), ('joined', 'float8', '{int2,int4,int8,numeric,float4}'), ('joined', 'oid', '{int2,int4,int8}'),
                 ('joined', 'timestamp', '{date}'), ('joined', 'timestamptz', '{date,timestamp}'), ('joined', 'timetz', '{time}'),
                 ('joined', 'bpchar', '{bpchar}'), ('same', 'int4', '{int4}'), ('same', 'inet', '{inet}')) AS sorts (kind, base, sources)
    JOIN pg_type b ON b.oid = base::regtype JOIN pg_proc i ON i.oid = typinput
    UNION ALL
    SELECT 'tde_internal.bare_' || base, 'pg_catalog.' || base, 'bare', NULL, b.typcategory, typinput, typoutput, oidvectortypes(proargtypes)
    FROM unnest('{int2,int4,int8,numeric,float4,float8,oid,timestamp,timestamptz,timetz,varchar,cidr}'::text[]) base
    JOIN pg_type b ON b.oid = base::regtype JOIN pg_proc i ON i.oid = typinput
  LOOP
    -- the one of varchar is preferred to what || takes otherwise
    ddl := ddl || format(
      E'CREATE TYPE %1$s;\n'
      'CREATE FUNCTION %1$s_in(%2$s) RETURNS %1$s AS %3$L LANGUAGE internal STABLE STRICT PARALLEL SAFE;\n'
      'COMMENT ON FUNCTION %1$s_in(%2$s) IS ''I/O'';\n'
      'CREATE FUNCTION %1$s_out(%1$s) RETURNS cstring AS %4$L LANGUAGE internal STABLE STRICT PARALLEL SAFE;\n'
      'COMMENT ON FUNCTION %1$s_out(%1$s) IS ''I/O'';\n'
      'CREATE TYPE %1$s (INPUT = %1$s_in, OUTPUT = %1$s_out, LIKE = %5$s, CATEGORY = %6$L, PREFERRED = %7$s);\n'
      'COMMENT ON TYPE %1$s IS ''%8$s beside an array: for operators, not for columns'';\n'
      'REVOKE USAGE ON TYPE %1$s FROM PUBLIC;\n'
      'CREATE CAST (%1$s AS %5$s) WITHOUT FUNCTION;\nCREATE CAST (%5$s AS %1$s) WITHOUT FUNCTION%9$s;\n',
      sort.name, sort.arguments, sort.typinput, sort.typoutput, sort.base, sort.typcategory, (sort.kind = 'bare' AND sort.typcategory = 'S')::text,
      CASE sort.kind WHEN 'bare' THEN 'a plain value' ELSE 'an encrypted value' END, CASE sort.kind WHEN 'bare' THEN ' AS IMPLICIT' END)
    || coalesce((SELECT string_agg(format(E'CREATE FUNCTION %1$s(%2$s) RETURNS %1$s LANGUAGE sql STABLE PARALLEL SAFE '
                                          'AS ''SELECT $1::pg_catalog.%3$s::%4$s::%1$s'';\n'
                                          'COMMENT ON FUNCTION %1$s(%2$s) IS ''decrypt and cast'';\n'
                                          'CREATE CAST (%2$s AS %1$s) WITH FUNCTION %1$s(%2$s) AS IMPLICIT;\n',
                                          sort.name, '@extschema@.encrypted_' || source, source, sort.base), '')
                 FROM unnest(sort.sources) source), '');
  END LOOP;
  EXECUTE ddl;
END
$$;

--
-- Operators of PostgreSQL's that a base type reaches by an implicit cast of its own: int2 & int4 is that of int4, time + timestamp that of interval.
-- They take the wider types of 46_wider.sql there.  All that the server has are looked at, so that those of a later version are among them.
--

-- new in 0.2.0
DO $$
DECLARE
  ddl text;
BEGIN
  WITH wider AS (
    SELECT w.oid AS wider, b.oid AS base, array_agg(s.base::oid) AS sources
    FROM pg_type w JOIN pg_cast c ON c.casttarget = w.oid JOIN tde.types s ON s.type = c.castsource
    JOIN pg_type b ON b.typname = substr(w.typname, 7) AND tde_internal.tde_is_core(b.oid)
    WHERE w.typnamespace = 'tde_internal'::regnamespace AND left(w.typname::text, 6) = 'wider_'
    GROUP BY w.oid, b.oid
  ), side AS (
    -- the other operand is plain, or an encrypted value that becomes its base type; one that is to become something wider, too, is not there
    SELECT o.oid AS operator, o.oprname, o.oprleft = w.base AND side = 'left' AS on_left, w.wider, w.base, w.sources,
           CASE side WHEN 'left' THEN o.oprright ELSE o.oprleft END AS other
    FROM wider w CROSS JOIN unnest('{left,right}'::text[]) side
    JOIN pg_operator o ON tde_internal.tde_is_core(o.oid) AND o.oprkind = 'b' AND CASE side WHEN 'left' THEN o.oprleft ELSE o.oprright END = w.base
  ), wanted AS (
    SELECT operator, CASE WHEN on_left THEN wider ELSE beside END::regtype AS l, CASE WHEN on_left THEN beside ELSE wider END::regtype AS r
    FROM side s
    -- where a literal beside it could be both, it is of a type that less becomes, so that PostgreSQL's own operator fits plain operands better
    CROSS JOIN LATERAL (SELECT CASE other WHEN 'int8'::regtype THEN (CASE base WHEN other THEN 'tde_internal.only_int8' ELSE 'tde_internal.bare_int8' END)::regtype
                                 WHEN 'inet'::regtype THEN 'tde_internal.only_inet' WHEN 'bit'::regtype THEN 'tde_internal.only_bit'
                                 WHEN 'pg_lsn'::regtype THEN 'tde_internal.only_pg_lsn' ELSE other::regtype END) b (beside)
    -- one of two that mean the same of a smaller type leaves a choice: time + time, which is none of PostgreSQL's either
    WHERE NOT (other = ANY (sources) AND EXISTS (SELECT FROM pg_operator x WHERE x.oprname = s.oprname AND tde_internal.tde_is_core(x.oid)
                 AND (x.oprleft, x.oprright) = (CASE WHEN on_left THEN other ELSE base END, CASE WHEN on_left THEN base ELSE other END)))
      -- what takes a smaller type itself is found without this one
      AND NOT EXISTS (SELECT FROM pg_operator x WHERE x.oprname = s.oprname AND tde_internal.tde_is_core(x.oid)
                        AND (on_left AND x.oprleft = ANY (sources) AND x.oprright = other OR NOT on_left AND x.oprright = ANY (sources) AND x.oprleft = other))
      -- and what the template makes for each type
      AND NOT EXISTS (SELECT FROM pg_operator x JOIN tde.types e ON e.base = s.base JOIN tde.types f ON f.base = s.other
                      WHERE x.oprname = s.oprname AND (x.oprleft, x.oprright) = (CASE WHEN on_left THEN e.type ELSE f.type END, CASE WHEN on_left THEN f.type ELSE e.type END))
    UNION ALL
    -- Money takes float8, and each of the smaller types but numeric itself; these, too, become encrypted_numeric, and so stand beside it.
    SELECT o.oid, CASE WHEN on_left THEN e.type ELSE 'money' END, CASE WHEN on_left THEN 'money' ELSE e.type END
    FROM pg_operator o CROSS JOIN LATERAL (SELECT o.oprright = 'money'::regtype) s (on_left)
    JOIN (VALUES ('int2'::regtype, 'int2'::regtype), ('int4', 'int4'), ('int8', 'int8'), ('float8', 'numeric')) AS t (takes, base)
      ON takes = CASE WHEN on_left THEN o.oprleft ELSE o.oprright END
    JOIN tde.types e ON e.base = t.base
    WHERE tde_internal.tde_is_core(o.oid) AND 'money'::regtype IN (o.oprleft, o.oprright)
  )
  SELECT string_agg(format(
    E'CREATE FUNCTION %1$s RETURNS %2$s LANGUAGE sql %3$s PARALLEL SAFE AS ''SELECT $1::%4$s OPERATOR(pg_catalog.%6$s) $2::%5$s'';\n'
    'COMMENT ON FUNCTION %1$s IS ''implementation of %6$s operator'';\n'
    'CREATE OPERATOR @extschema@.%6$s (LEFTARG = %7$s, RIGHTARG = %8$s, FUNCTION = tde_internal.%9$I%10$s%11$s%12$s%13$s);\n',
    format('tde_internal.%I(%s, %s)', function, l, r), o.oprresult::regtype, CASE o.oprresult WHEN 'bool'::regtype THEN 'IMMUTABLE' ELSE 'STABLE' END,
    plain_l, plain_r, o.oprname, l, r, function, ', COMMUTATOR = OPERATOR(@extschema@.' || commutator.oprname || ')',
    ', NEGATOR = OPERATOR(@extschema@.' || negator.oprname || ')', ', RESTRICT = ' || nullif(o.oprrest::oid, 0)::regproc, ', JOIN = ' || nullif(o.oprjoin::oid, 0)::regproc), ''
    ORDER BY o.oprname, l::text, r::text) INTO ddl
  FROM wanted JOIN pg_operator o ON o.oid = operator JOIN pg_proc p ON p.oid = o.oprcode
  LEFT JOIN pg_operator commutator ON commutator.oid = o.oprcom LEFT JOIN pg_operator negator ON negator.oid = o.oprnegate
  CROSS JOIN LATERAL (SELECT 'tde_' || p.proname, (SELECT 'pg_catalog.' || quote_ident(typname) FROM pg_type WHERE oid = o.oprleft),
                             (SELECT 'pg_catalog.' || quote_ident(typname) FROM pg_type WHERE oid = o.oprright)) f (function, plain_l, plain_r);
  PERFORM tde_internal.tde_run(ddl);
END
$$;

--
-- Arrays and elements of different sorts: int4[] || numeric is numeric[], since || takes what both become.  An encrypted int4 becomes its base
-- type and nothing larger; so here encrypted values become types that stand for larger ones, and what stands beside is of a type that only one
-- plain type becomes.
--

-- new in 0.2.0
DO $$
BEGIN
  EXECUTE (SELECT string_agg(format(
      E'CREATE FUNCTION %1$s RETURNS pg_catalog.%2$s[] LANGUAGE sql STABLE PARALLEL SAFE AS ''SELECT %3$s OPERATOR(pg_catalog.||) %4$s'';\n'
      'COMMENT ON FUNCTION %1$s IS ''implementation of || operator'';\n'
      'CREATE OPERATOR @extschema@.|| (LEFTARG = tde_internal.%5$s, RIGHTARG = tde_internal.%6$s, FUNCTION = tde_internal.tde_array_cat);\n',
      format('tde_internal.tde_array_cat(tde_internal.%s, tde_internal.%s)', l || l_array, r || r_array), result,
      format('$1::pg_catalog.%1$s%3$s::pg_catalog.%2$s%3$s', substr(l, strpos(l, '_') + 1), result, l_array),
      format('$2::pg_catalog.%1$s%3$s::pg_catalog.%2$s%3$s', substr(r, strpos(r, '_') + 1), result, r_array), l || l_array, r || r_array), '')
    FROM (SELECT 'joined_' || base, 'bare_' || base, base FROM unnest('{int4,int8,numeric,float4,float8,oid,timestamp,timestamptz,timetz}'::text[]) base
          UNION ALL VALUES ('same_int4', 'bare_int2', 'int4'), ('same_inet', 'bare_cidr', 'inet'),
                           -- of two strings the first says what both become, and a varchar does not become a char(n) by itself
                           ('joined_bpchar', 'bare_varchar', 'bpchar')) AS pairs (encrypted, plain, result)
    CROSS JOIN (VALUES ('[]', '[]'), ('[]', ''), ('', '[]')) AS shapes (l_array, r_array)
    CROSS JOIN LATERAL (VALUES (encrypted, plain), (plain, encrypted)) AS s (l, r)
    WHERE l <> 'bare_varchar');
END
$$;
