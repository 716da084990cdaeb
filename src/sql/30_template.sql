--
-- Encrypted types
--

CREATE VIEW tde_types AS
  SELECT c.castsource::pg_catalog.regtype AS type, c.casttarget::pg_catalog.regtype AS base,
         EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid OPERATOR(pg_catalog.=) d.refobjid
                 WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
                   AND d.objid OPERATOR(pg_catalog.=) c.castsource
                   AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
                   AND d.deptype OPERATOR(pg_catalog.=) 'e' AND x.extname OPERATOR(pg_catalog.=) 'tde_column') AS shipped
  FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) c.castfunc
  JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
  WHERE p.prosrc OPERATOR(pg_catalog.=) 'tde_decrypt' AND l.lanname OPERATOR(pg_catalog.=) 'c';
GRANT SELECT ON tde_types TO PUBLIC;
COMMENT ON VIEW tde_types IS 'encrypted types, their base types, and whether they are the extension''s or a user''s';

CREATE FUNCTION tde_typmod_in(words cstring[], base regtype, type_tag uuid) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_typmod_in(cstring[], regtype, uuid) IS 'modifiers of an encrypted type as its typmod';

CREATE FUNCTION tde_subscript(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_subscript(internal) IS 'subscripts of encrypted values';

CREATE FUNCTION tde_encrypt_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_encrypt_support(internal) IS 'planner support for casts that encrypt';
REVOKE ALL ON FUNCTION tde_encrypt_support(internal) FROM PUBLIC;

CREATE FUNCTION tde_base_family(base regtype, method name) RETURNS TABLE (family oid, name name, operand regtype)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- a type without an operator class of its own (varchar) has that of the type whose bytes it shares (text)
  SELECT f.oid, f.opfname, CASE WHEN c.opcintype = 'anyenum'::regtype THEN base ELSE c.opcintype::regtype END
  FROM pg_opclass c JOIN pg_opfamily f ON f.oid = c.opcfamily JOIN pg_am m ON m.oid = c.opcmethod
  WHERE m.amname = method AND c.opcdefault
    AND (c.opcintype = base OR c.opcintype = 'anyenum'::regtype AND (SELECT typtype FROM pg_type WHERE oid = base) = 'e'
         OR EXISTS (SELECT FROM pg_cast WHERE castsource = base AND casttarget = c.opcintype AND castmethod = 'b' AND castcontext = 'i'))
  ORDER BY c.opcintype = base DESC, (SELECT typispreferred FROM pg_type WHERE oid = c.opcintype) DESC
  LIMIT 1;
END;
COMMENT ON FUNCTION tde_base_family(regtype, name) IS
  'default operator family of a base type, and the type that it compares it as';

-- The extension's types share operator families where the base types do, so that members combine as there.  A user's type has
-- families of its own: pg_dump would not dump members of the extension's.
CREATE VIEW tde_type_plans AS
  SELECT t.type AS enc, t.base, y.typname AS name, quote_ident(n.nspname) AS schema, t.shipped,
         t.base = ANY ('{int2,int4,int8,numeric,float4,float8}'::regtype[]) AS number, o.operand,
         -- what its families compare with each other
         CASE WHEN o.operand IS NOT NULL
           THEN ARRAY(SELECT DISTINCT m FROM unnest(ARRAY[t.type, o.operand, tde_beside(t.base, o.operand, '='), t.base]) m) END AS members,
         b.family AS btree, (CASE WHEN t.shipped THEN 'tde_' || b.name ELSE y.typname || '_ops' END)::name AS btree_name,
         h.family AS hash, (CASE WHEN t.shipped THEN 'tde_' || h.name ELSE y.typname || '_ops' END)::name AS hash_name,
         ('tde_' || r.opfname)::name AS pattern_name
  FROM tde_types t JOIN pg_type y ON y.oid = t.type JOIN pg_namespace n ON n.oid = y.typnamespace
  LEFT JOIN LATERAL tde_base_family(t.base, 'btree') b ON true
  LEFT JOIN LATERAL tde_base_family(t.base, 'hash') h ON true
  CROSS JOIN LATERAL (SELECT coalesce(b.operand, h.operand)) o (operand)
  -- of strings: in the order of their bytes, for LIKE in all collations
  LEFT JOIN pg_opfamily r ON t.shipped AND r.opfname = (SELECT typname || '_pattern_ops' FROM pg_type WHERE oid = o.operand)
    AND r.opfnamespace = 'pg_catalog'::regnamespace AND r.opfmethod = (SELECT oid FROM pg_am WHERE amname = 'btree');
COMMENT ON VIEW tde_type_plans IS
  'what the template makes for a type: in which schema, and after which operator families of the base type (NULL: it has none)';

--
-- The template says in SQL what a type lacks, thing by thing, so that an update can complete the types that an older version made.
-- It is executed in few pieces, since each new operator makes PostgreSQL plan all queries anew.
--

CREATE FUNCTION tde_function_sql(signature text, result text, symbol text, volatility text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN to_regprocedure(signature) IS NULL THEN
  format(E'CREATE FUNCTION %1$s RETURNS %2$s AS ''MODULE_PATHNAME'', %3$L LANGUAGE C %4$s STRICT PARALLEL SAFE;\n'
         'COMMENT ON FUNCTION %1$s IS %5$L;\n', signature, result, symbol, volatility, comment)
  ELSE '' END;
COMMENT ON FUNCTION tde_function_sql(text, text, text, text, text) IS 'SQL that makes a function, if it is missing';

CREATE FUNCTION tde_cast_sql(schema text, source regtype, target regtype, symbol text, context text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- All are STABLE: IMMUTABLE ones would be folded, and one salt shared by many rows; VOLATILE ones would keep conditions out of
  -- indexes.  Those that encrypt know the column's modifiers.
  SELECT coalesce((
    SELECT tde_function_sql(signature, target::text, symbol, 'STABLE', comment)
           || CASE symbol WHEN 'tde_encrypt'
                THEN format(E'ALTER FUNCTION %s SUPPORT @extschema@.tde_encrypt_support;\n', signature) ELSE '' END
           || format(E'CREATE CAST (%s AS %s) WITH FUNCTION %s %s;\n', source, target, signature, context)
    -- named after the type, as PostgreSQL's, but for one that oid(int2) could mean
    FROM (SELECT format('%s.%I(%s%s)', schema, CASE target WHEN 'oid'::regtype THEN 'tde_oid' ELSE typname END, source,
                        -- an integer does not become a bit string of its own length, to be made longer or shorter, but has the wanted one
                        CASE WHEN symbol NOT LIKE 'tde_decrypt%' THEN ', int4, boolean' WHEN target = 'bit'::regtype THEN ', int4' ELSE '' END)
          FROM pg_type WHERE oid = target) AS t (signature)
    WHERE NOT EXISTS (SELECT FROM pg_cast WHERE castsource = source AND casttarget = target)), '');
END;
COMMENT ON FUNCTION tde_cast_sql(text, regtype, regtype, text, text, text) IS 'SQL that makes a cast, if it is missing';

CREATE FUNCTION tde_operator_sql(schema text, symbol text, l regtype, r regtype, result text, function text,
                                 volatility text, options text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT tde_function_sql(format('%s.%s(%s, %s)', schema, function, l, r), result, function, volatility,
                          format('implementation of %s operator', CASE WHEN symbol = '%' THEN symbol ELSE ltrim(symbol, '%') END))
         -- a commutator or negator that is named before it is made is there already, without a function
         || CASE WHEN EXISTS (SELECT FROM pg_operator
                              WHERE oid = to_regoperator(format('%s.%s(%s, %s)', schema, symbol, l, r)) AND oprcode <> 0) THEN ''
                 ELSE format(E'CREATE OPERATOR %1$s.%2$s (LEFTARG = %3$s, RIGHTARG = %4$s, FUNCTION = %1$s.%5$s%6$s);\n',
                             schema, symbol, l, r, function, options) END;
END;
COMMENT ON FUNCTION tde_operator_sql(text, text, regtype, regtype, text, text, text, text) IS
  'SQL that makes an operator, if it is missing';

CREATE FUNCTION tde_members_sql(family oid, l regtype, r regtype, operators text[], functions text[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  missing text;
BEGIN
  -- an element's place is its strategy or support number
  SELECT string_agg(item, ', ') INTO missing FROM (
    SELECT format('OPERATOR %s %s (%s, %s)', number, member, l, r) FROM unnest(operators) WITH ORDINALITY AS o (member, number)
    WHERE member IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_amop WHERE amopfamily = family AND amoplefttype = l AND amoprighttype = r AND amopstrategy = number)
    UNION ALL
    SELECT format('FUNCTION %s (%s, %s) %s', number, l, r, member) FROM unnest(functions) WITH ORDINALITY AS o (member, number)
    WHERE member IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_amproc WHERE amprocfamily = family AND amproclefttype = l AND amprocrighttype = r AND amprocnum = number)
  ) AS items (item);
  RETURN coalesce((SELECT format(E'ALTER OPERATOR FAMILY %I.%I USING %I ADD %s;\n', n.nspname, f.opfname, m.amname, missing)
                   FROM pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace JOIN pg_am m ON m.oid = f.opfmethod
                   WHERE f.oid = family AND missing IS NOT NULL), '');
END
$$;
COMMENT ON FUNCTION tde_members_sql(oid, regtype, regtype, text[], text[]) IS
  'SQL that adds operators and functions to a family that lacks them';

CREATE FUNCTION tde_class_sql(schema text, type regtype, family oid, suffix text DEFAULT '_ops') RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- its members are the family's; something must stand there, and what does says nothing
  SELECT coalesce((
    SELECT format(E'CREATE OPERATOR CLASS %s.%I%s FOR TYPE %s USING %I FAMILY %I.%I AS STORAGE %4$s;\n', schema, name,
                  CASE suffix WHEN '_ops' THEN ' DEFAULT' ELSE '' END, type, m.amname, n.nspname, f.opfname)
    FROM (SELECT (typname || suffix)::name FROM pg_type WHERE oid = type) AS t (name)
    CROSS JOIN pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace JOIN pg_am m ON m.oid = f.opfmethod
    WHERE f.oid = family AND NOT EXISTS (
      SELECT FROM pg_opclass c WHERE c.opcmethod = f.opfmethod AND c.opcintype = type AND c.opcfamily = f.oid)), '');
END;
COMMENT ON FUNCTION tde_class_sql(text, regtype, oid, text) IS
  'SQL that makes an operator class, the default one if its name ends in no more than _ops, if it is missing';

CREATE FUNCTION tde_aggregate_sql(signature text, options text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN to_regprocedure(signature) IS NULL THEN
  format(E'CREATE AGGREGATE %1$s (%2$s, PARALLEL = SAFE);\nCOMMENT ON AGGREGATE %1$s IS %3$L;\n', signature, options, comment)
  ELSE '' END;
COMMENT ON FUNCTION tde_aggregate_sql(text, text, text) IS 'SQL that makes an aggregate, if it is missing';

REVOKE ALL ON FUNCTION tde_base_family(regtype, name), tde_function_sql(text, text, text, text, text),
  tde_cast_sql(text, regtype, regtype, text, text, text), tde_operator_sql(text, text, regtype, regtype, text, text, text, text),
  tde_members_sql(oid, regtype, regtype, text[], text[]), tde_class_sql(text, regtype, oid, text), tde_aggregate_sql(text, text, text)
  FROM PUBLIC;
