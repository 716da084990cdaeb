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
         h.family AS hash, (CASE WHEN t.shipped THEN 'tde_' || h.name ELSE y.typname || '_ops' END)::name AS hash_name
  FROM tde_types t JOIN pg_type y ON y.oid = t.type JOIN pg_namespace n ON n.oid = y.typnamespace
  LEFT JOIN LATERAL tde_base_family(t.base, 'btree') b ON true
  LEFT JOIN LATERAL tde_base_family(t.base, 'hash') h ON true
  CROSS JOIN LATERAL (SELECT coalesce(b.operand, h.operand)) o (operand);
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

CREATE FUNCTION tde_class_sql(schema text, type regtype, family oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- its members are the family's; something must stand there, and what does says nothing
  SELECT coalesce((
    SELECT format(E'CREATE OPERATOR CLASS %1$s.%2$I DEFAULT FOR TYPE %3$s USING %4$I FAMILY %5$I.%6$I AS STORAGE %3$s;\n',
                  schema, (SELECT typname FROM pg_type WHERE oid = type) || '_ops', type, m.amname, n.nspname, f.opfname)
    FROM pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace JOIN pg_am m ON m.oid = f.opfmethod
    WHERE f.oid = family AND NOT EXISTS (
      SELECT FROM pg_opclass c WHERE c.opcmethod = f.opfmethod AND c.opcintype = type AND c.opcdefault)), '');
END;
COMMENT ON FUNCTION tde_class_sql(text, regtype, oid) IS 'SQL that makes an operator class, if it is missing';

CREATE FUNCTION tde_aggregate_sql(signature text, options text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN to_regprocedure(signature) IS NULL THEN
  format(E'CREATE AGGREGATE %1$s (%2$s, PARALLEL = SAFE);\nCOMMENT ON AGGREGATE %1$s IS %3$L;\n', signature, options, comment)
  ELSE '' END;
COMMENT ON FUNCTION tde_aggregate_sql(text, text, text) IS 'SQL that makes an aggregate, if it is missing';

--
-- The parts of the template
--

CREATE FUNCTION tde_missing_casts(p tde_type_plans) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg(tde_cast_sql(p.schema, source, target, symbol,
                                 CASE context WHEN 'i' THEN 'AS IMPLICIT' WHEN 'a' THEN 'AS ASSIGNMENT' ELSE '' END, comment), '')
  FROM (
    SELECT p.enc, p.enc, 'tde_coerce', 'i', 'adjust value to typmod'
    UNION ALL
    -- ASSIGNMENT from the base type: an IMPLICIT one would let encrypted and plain operators compete.
    SELECT p.base, p.enc, 'tde_encrypt', 'a', 'encrypt'
    UNION ALL
    SELECT castsource::regtype, p.enc, 'tde_encrypt',
           CASE WHEN castcontext = 'e' OR castcontext = 'i' AND tde_takes_numbers(p.base) THEN castcontext::text ELSE 'a' END, 'encrypt'
    FROM pg_cast
    WHERE casttarget = p.base AND castsource <> p.base
      AND castsource < 16384 AND castsource::regtype::text NOT IN ('"char"', 'name', 'xml', 'money')
    UNION ALL
    -- What the base type can be cast to.  IMPLICIT only between strings (varchar and bpchar to text), as a second implicit cast of a
    -- number would make arithmetic ambiguous, or silently inexact, and one to oid would compare -1 as the largest; and only of built-in
    -- types, as text would lend its operators to a type that compares otherwise (citext).
    SELECT p.enc, casttarget::regtype, 'tde_decrypt_to',
           CASE WHEN castcontext = 'i' AND p.base = ANY ('{text,varchar,bpchar}'::regtype[]) THEN 'i' ELSE 'a' END,
           'decrypt and cast'
    FROM pg_cast
    WHERE castsource = p.base AND casttarget <> p.base AND casttarget < 16384
      AND casttarget::regtype::text NOT IN ('"char"', 'name', 'xml', 'regclass')
    UNION ALL
    -- Explicit, for to_json() and its like, where they give more than the text in quotes.
    SELECT p.enc, 'json'::regtype, 'tde_decrypt_to_json', 'e', 'decrypt, as to_json()'
    WHERE p.number OR p.base = ANY ('{bool,date,timestamp,timestamptz}'::regtype[])
    UNION ALL
    -- Casts between encrypted types, as between their base types.  Those of a user's type with one of the extension's are the
    -- user's, and not IMPLICIT: comparisons of the two would be ambiguous.
    SELECT s.source, s.target, 'tde_recast', CASE WHEN c.castcontext = 'i' AND NOT p.shipped THEN 'a' ELSE c.castcontext::text END,
           'cast as between the base types'
    FROM tde_types t
    CROSS JOIN LATERAL (VALUES (p.enc, p.base, t.type, t.base), (t.type, t.base, p.enc, p.base))
      AS s (source, source_base, target, target_base)
    JOIN pg_cast c ON c.castsource = s.source_base AND c.casttarget = s.target_base
    WHERE t.type <> p.enc AND (t.shipped OR NOT p.shipped)
  ) AS casts (source, target, symbol, context, comment);
END;
COMMENT ON FUNCTION tde_missing_casts(tde_type_plans) IS 'SQL that makes the casts that an encrypted type lacks';

CREATE FUNCTION tde_missing_arithmetic(p tde_type_plans) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- With itself, every plain and every other encrypted number: were a pair missing, another one with a preferred type (float8)
  -- would be taken for it.  The result has the type that PostgreSQL gives to the base types'.
  SELECT coalesce(string_agg(tde_operator_sql(p.schema, symbol, l, r, (CASE
           WHEN 'float4'::regtype = ALL (ARRAY[l_base, r_base]) THEN 'float4'::regtype
           WHEN ARRAY[l_base, r_base] && '{float4,float8}'::regtype[] THEN 'float8'
           WHEN 'numeric'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'numeric'
           WHEN 'int8'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'int8'
           WHEN 'int4'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'int4'
           ELSE 'int2' END)::text, function, 'STABLE', ''), ''), '')
  FROM (
    SELECT p.enc, p.base, p.enc, p.base
    UNION ALL
    SELECT s.* FROM (SELECT unnest('{int2,int4,int8,numeric,float4,float8}'::regtype[]) AS type, NULL::regtype AS base
                     UNION ALL SELECT type, base FROM tde_types
                     WHERE base = ANY ('{int2,int4,int8,numeric,float4,float8}'::regtype[]) AND type <> p.enc) AS o
    CROSS JOIN LATERAL (VALUES (p.enc, p.base, o.type, coalesce(o.base, o.type)),
                               (o.type, coalesce(o.base, o.type), p.enc, p.base)) AS s
  ) AS types (l_type, l_base, r_type, r_base)
  CROSS JOIN (VALUES ('+', 'tde_plus'), ('-', 'tde_minus'), ('*', 'tde_times'), ('/', 'tde_divided'), ('%', 'tde_modulo'))
    AS ops (symbol, function)
  CROSS JOIN LATERAL (SELECT CASE WHEN l_type = l_base THEN tde_beside(r_base, l_base, symbol) ELSE l_type END,
                             CASE WHEN r_type = r_base THEN tde_beside(l_base, r_base, symbol) ELSE r_type END) AS sides (l, r)
  WHERE p.number AND l IS NOT NULL AND r IS NOT NULL
    AND (symbol <> '%' OR NOT ARRAY[l_base, r_base] && '{float4,float8}'::regtype[]);
END;
COMMENT ON FUNCTION tde_missing_arithmetic(tde_type_plans) IS 'SQL that makes the arithmetic that an encrypted type lacks';

CREATE FUNCTION tde_comparison_sql(schema text, l regtype, r regtype, prefix text, ordered boolean, btree oid, hash oid,
                                   volatility text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- btree, hash: the families that they are members of, or NULL
  RETURN (
  SELECT string_agg(@extschema@.tde_operator_sql(
           schema, prefix || o.symbol, l, r, 'boolean', o.function, volatility,
           format(', COMMUTATOR = OPERATOR(%1$s.%2$s), NEGATOR = OPERATOR(%1$s.%3$s), RESTRICT = %4$ssel, JOIN = %4$sjoinsel%5$s%6$s',
                  schema, prefix || o.commutator, prefix || o.negator, o.selectivity,
                  CASE WHEN o.symbol = '=' AND btree IS NOT NULL THEN ', MERGES' END,
                  CASE WHEN o.symbol = '=' AND hash IS NOT NULL THEN ', HASHES' END)), '')
    || CASE WHEN btree IS NULL THEN '' ELSE
         @extschema@.tde_function_sql(format('%s.tde_cmp(%s, %s)', schema, l, r), 'int4', 'tde_cmp', volatility, 'less-equal-greater')
         || @extschema@.tde_members_sql(btree, l, r,
                            ARRAY(SELECT format('%s.%s%s', schema, prefix, s) FROM unnest('{<,<=,=,>=,>}'::text[]) s),
                            ARRAY[format('%s.tde_cmp(%s, %s)', schema, l, r)]) END
    || CASE WHEN hash IS NULL THEN '' ELSE @extschema@.tde_members_sql(hash, l, r, ARRAY[format('%s.%s=', schema, prefix)], '{}') END
  FROM (VALUES ('=',  'tde_eq', '=',  '<>', 'eq'),
               ('<>', 'tde_ne', '<>', '=',  'neq'),
               ('<',  'tde_lt', '>',  '>=', 'scalarlt'),
               ('<=', 'tde_le', '>=', '>',  'scalarle'),
               ('>',  'tde_gt', '<',  '<=', 'scalargt'),
               ('>=', 'tde_ge', '<=', '<',  'scalarge')) AS o (symbol, function, commutator, negator, selectivity)
  WHERE ordered OR o.symbol IN ('=', '<>'));
END
$$;
COMMENT ON FUNCTION tde_comparison_sql(text, regtype, regtype, text, boolean, oid, oid, text) IS
  'SQL that makes the operators that compare two types, as members of families';

CREATE FUNCTION tde_missing_comparisons(p tde_type_plans, btree oid, hash oid, exact oid, inexact oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(tde_comparison_sql(p.schema, l, r, prefix, ordered, btree, hash, volatility), ''), '')
  FROM (
    -- The base type's own members have other names, which no expression finds: plain columns keep PostgreSQL's operators.  So have
    -- those with numeric and varchar themselves, which foreign keys of plain columns find in the family.
    SELECT l, r, CASE WHEN p.enc IN (l, r) AND (l = r OR tde_beside(p.base, p.operand, '=') IN (l, r)) THEN '' ELSE '%' END,
           p.btree IS NOT NULL, $2, $3, 'IMMUTABLE'
    FROM unnest(p.members) l, unnest(p.members) r
    UNION ALL
    SELECT l, r, '', true, NULL, NULL, 'IMMUTABLE'
    FROM (VALUES (p.enc, 'name'::regtype), ('name', p.enc)) AS s (l, r)
    WHERE p.shipped AND p.operand = 'text'::regtype
    UNION ALL
    -- The extension's types with each other: in the family where the base types share one; numbers of all sorts in those that hash
    -- them alike.
    SELECT l, r, prefix, true, CASE WHEN shared THEN $2 END,
           CASE WHEN NOT shared THEN CASE WHEN ARRAY[p.base, o.base] && '{float4,float8}'::regtype[] THEN $5 ELSE $4 END
             WHEN o.hash = p.hash THEN $3 END,
           -- a comparison of timestamptz with date depends on the time zone
           coalesce((SELECT CASE WHEN provolatile = 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END
                     FROM pg_operator e JOIN pg_proc f ON f.oid = e.oprcode
                     WHERE oprname = '=' AND oprnamespace = 'pg_catalog'::regnamespace AND oprleft = p.operand AND oprright = o.operand),
                    'IMMUTABLE')
    FROM tde_type_plans o
    CROSS JOIN LATERAL (SELECT o.btree = p.btree) s (shared)
    CROSS JOIN LATERAL (SELECT tde_beside(p.base, o.operand, '='), tde_beside(o.base, p.operand, '=')) b (beside_p, beside_o)
    CROSS JOIN LATERAL (VALUES (p.enc, o.enc, ''), (o.enc, p.enc, ''), (p.enc, beside_p, ''), (beside_p, p.enc, ''),
                               (o.enc, beside_o, ''), (beside_o, o.enc, ''),
                               (p.operand, o.operand, '%'), (o.operand, p.operand, '%'),
                               (p.enc, nullif(o.base, o.operand), '%'), (nullif(o.base, o.operand), p.enc, '%'),
                               (o.enc, nullif(p.base, p.operand), '%'), (nullif(p.base, p.operand), o.enc, '%')) AS m (l, r, prefix)
    WHERE o.enc <> p.enc AND o.shipped AND p.shipped AND (shared OR p.number AND o.number) AND l IS NOT NULL AND r IS NOT NULL
      AND (p.operand <> o.operand AND (prefix = '' OR shared) OR ARRAY[l, r] <@ ARRAY[p.enc, o.enc]
           OR shared AND prefix = '%' AND ARRAY[l, r] && ARRAY[p.enc, o.enc])
  ) AS sides (l, r, prefix, ordered, btree, hash, volatility);
END;
COMMENT ON FUNCTION tde_missing_comparisons(tde_type_plans, oid, oid, oid, oid) IS
  'SQL that makes the comparison operators that an encrypted type lacks';

CREATE FUNCTION tde_missing_classes(p tde_type_plans, btree oid, hash oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(tde_function_sql(signature, result, symbol, volatility, comment)
                             || tde_members_sql(family, l, r, '{}', array_fill(NULL::text, ARRAY[number - 1]) || signature), ''), '')
         || tde_class_sql(p.schema, p.enc, $2) || tde_class_sql(p.schema, p.enc, $3)
  FROM (
    SELECT $2, p.enc, p.enc, 2, format('%s.%I(internal)', p.schema, p.name || '_sortsupport'), 'void', 'tde_sortsupport',
           'IMMUTABLE', 'sort support'
    UNION ALL
    SELECT $2, p.enc, amprocrighttype, 3,
           format('%s.tde_in_range(%s, %2$s, %s, boolean, boolean)', p.schema, p.enc, amprocrighttype::regtype), 'boolean',
           'tde_in_range', CASE WHEN i.provolatile = 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END, 'window RANGE support'
    FROM pg_amproc JOIN pg_proc i ON i.oid = amproc WHERE amprocfamily = p.btree AND amproclefttype = p.operand AND amprocnum = 3
    UNION ALL
    SELECT $3, t, t, 1, format('%s.tde_hash(%s)', p.schema, t), 'int4', 'tde_hash', 'IMMUTABLE', 'keyed hash'
    FROM unnest(p.members) t
    UNION ALL
    SELECT $3, t, t, 2, format('%s.tde_hash_extended(%s, int8)', p.schema, t), 'int8', 'tde_hash_extended', 'IMMUTABLE',
           'hash with a seed'
    FROM unnest(p.members) t
  ) AS functions (family, l, r, number, signature, result, symbol, volatility, comment)
  WHERE family IS NOT NULL;
END;
COMMENT ON FUNCTION tde_missing_classes(tde_type_plans, oid, oid) IS
  'SQL that makes the support functions and operator classes that an encrypted type lacks';

CREATE FUNCTION tde_missing_number_hashes(p tde_type_plans, family oid, symbol text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- Each type with itself, too, for which PostgreSQL looks where a subquery is hashed.
  SELECT coalesce(string_agg(tde_comparison_sql(p.schema, t, t, CASE t WHEN p.enc THEN '%%' ELSE '%' END, false, NULL, family, 'IMMUTABLE')
                             || tde_function_sql(signature, 'int4', symbol, 'IMMUTABLE', 'keyed hash of a number among such of other types')
                             || tde_members_sql(family, t, t, '{}', ARRAY[signature]), ''), '')
  FROM (SELECT p.enc UNION SELECT p.base WHERE p.base = ANY ('{numeric,float4,float8}'::regtype[])
        UNION SELECT tde_beside('int8', p.base, '=') WHERE p.base = ANY ('{numeric,float8}'::regtype[])) AS types (t)
  CROSS JOIN LATERAL (SELECT format('%s.%s(%s)', p.schema, symbol, t)) s (signature)
  WHERE family IS NOT NULL;
END;
COMMENT ON FUNCTION tde_missing_number_hashes(tde_type_plans, oid, text) IS
  'SQL that makes what an encrypted number lacks in a hash family of numbers of different sorts';

CREATE FUNCTION tde_missing_aggregates(p tde_type_plans) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- min and max, which keep an index useful
  SELECT coalesce((
    SELECT string_agg(tde_function_sql(format('%s.tde_%s(%s, %3$s)', p.schema, a.suffix, p.enc), p.enc::text, 'tde_' || a.suffix,
                                       'IMMUTABLE', a.suffix || ' of two')
                      || tde_aggregate_sql(format('%s.%I(%s)', p.schema, a.name, p.enc),
                                           format('SFUNC = %1$s.tde_%2$s, STYPE = %3$s, COMBINEFUNC = %1$s.tde_%2$s, '
                                                  'SORTOP = OPERATOR(%1$s.%4$s)', p.schema, a.suffix, p.enc, a.sortop),
                                           a.name || 'imum of all values'), '')
    FROM (VALUES ('max', 'larger', '>'), ('min', 'smaller', '<')) AS a (name, suffix, sortop)
    WHERE p.btree IS NOT NULL AND EXISTS (
      SELECT FROM pg_proc WHERE proname = a.name AND prokind = 'a' AND pronargs = 1 AND (proargtypes[0] = p.operand
        OR proargtypes[0] = 'anyenum'::regtype AND (SELECT typtype FROM pg_type WHERE oid = p.base) = 'e'))), '')
  -- corr, covar_*, regr_*: of float8, which the other encrypted numbers become implicitly
  || coalesce((
    SELECT string_agg(tde_function_sql(format('%s.tde_regr_accum(float8[], %s, %s)', p.schema, l, r), 'float8[]',
                                       'tde_regr_accum', 'STABLE', 'aggregate transition function')
                      || tde_function_sql(format('%s.tde_regr_count(int8, %s, %s)', p.schema, l, r), 'int8',
                                          'tde_regr_count', 'IMMUTABLE', 'aggregate transition function')
                      || (SELECT string_agg(tde_aggregate_sql(
                                   format('%s.%I(%s, %s)', p.schema, f.proname, l, r),
                                   format('SFUNC = %s.%s, STYPE = %s, INITCOND = %L, COMBINEFUNC = %s%s', p.schema,
                                          CASE WHEN aggtransfn = 'float8_regr_accum'::regproc THEN 'tde_regr_accum'
                                            ELSE 'tde_regr_count' END,
                                          aggtranstype::regtype, agginitval, aggcombinefn,
                                          CASE WHEN aggfinalfn <> 0 THEN format(', FINALFUNC = %s', aggfinalfn) END),
                                   obj_description(f.oid, 'pg_proc')), '')
                          FROM pg_aggregate JOIN pg_proc f ON f.oid = aggfnoid
                          WHERE aggtransfn IN ('float8_regr_accum'::regproc, 'int8inc_float8_float8'::regproc)
                            AND pronamespace = 'pg_catalog'::regnamespace), '')
    FROM (VALUES (p.enc, p.enc), (p.enc, p.base), (p.base, p.enc)) AS s (l, r) WHERE p.base = 'float8'::regtype), '');
END;
COMMENT ON FUNCTION tde_missing_aggregates(tde_type_plans) IS 'SQL that makes the aggregates that an encrypted type lacks';

CREATE FUNCTION tde_make_family(schema text, name name, method name) RETURNS oid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  query  CONSTANT text := 'SELECT f.oid FROM pg_opfamily f JOIN pg_am m ON m.oid = f.opfmethod
                           WHERE f.opfname = $1 AND m.amname = $2 AND f.opfnamespace = $3::regnamespace';
  family oid;
BEGIN
  EXECUTE query INTO family USING name, method, schema;
  IF family IS NULL AND name IS NOT NULL THEN
    EXECUTE format('CREATE OPERATOR FAMILY %s.%I USING %I', schema, name, method);
    EXECUTE query INTO family USING name, method, schema;
  END IF;
  RETURN family;
END
$$;
COMMENT ON FUNCTION tde_make_family(text, name, name) IS 'operator family of this name, made if it is missing; NULL without a name';

CREATE FUNCTION tde_complete_type(type regtype) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  p       @extschema@.tde_type_plans;
  btree   oid;
  hash    oid;
  exact   oid;     -- hash families in which numbers of different sorts meet: as numeric,
  inexact oid;     -- and with a float among them as float8
BEGIN
  SELECT * INTO STRICT p FROM @extschema@.tde_type_plans WHERE enc = type;
  IF (SELECT typsubscript = 0 FROM pg_type WHERE oid = p.enc)
     AND (SELECT typsubscript <> 0 AND typelem = 0 FROM pg_type WHERE oid = p.base) THEN
    EXECUTE format('ALTER TYPE %s SET (SUBSCRIPT = @extschema@.tde_subscript)', type);
  END IF;
  btree := @extschema@.tde_make_family(p.schema, CASE WHEN p.btree IS NOT NULL THEN p.btree_name END, 'btree');
  hash := @extschema@.tde_make_family(p.schema, CASE WHEN p.hash IS NOT NULL THEN p.hash_name END, 'hash');
  exact := @extschema@.tde_make_family(
    p.schema, CASE WHEN p.number AND p.shipped AND p.base <> ALL ('{float4,float8}'::regtype[]) THEN 'tde_exact_number_ops' END, 'hash');
  inexact := @extschema@.tde_make_family(p.schema, CASE WHEN p.number AND p.shipped THEN 'tde_number_ops' END, 'hash');
  EXECUTE @extschema@.tde_missing_casts(p) || @extschema@.tde_missing_arithmetic(p)
    || @extschema@.tde_missing_comparisons(p, btree, hash, exact, inexact) || @extschema@.tde_missing_classes(p, btree, hash)
    || @extschema@.tde_missing_aggregates(p)
    -- VOLATILE, so that it is evaluated above sorts and hash tables, which spill what they hold
    || @extschema@.tde_function_sql(format('%s.tde_result(%s, int4)', p.schema, p.enc), p.base::text, 'tde_result',
                                    'VOLATILE', 'decrypt for a client');
  -- of functions and operators that there are now
  EXECUTE @extschema@.tde_missing_number_hashes(p, exact, 'tde_hash_numeric');
  EXECUTE @extschema@.tde_missing_number_hashes(p, inexact, 'tde_hash_float8');
END
$$;
COMMENT ON FUNCTION tde_complete_type(regtype) IS 'make what an encrypted type lacks against the template';

--
-- Making types, and keeping them up to date
--

CREATE FUNCTION tde_create_type(base regtype,
                                schema regnamespace
                                  DEFAULT pg_catalog.to_regnamespace(pg_catalog.quote_ident(pg_catalog.current_schema())),
                                type_tag uuid DEFAULT pg_catalog.gen_random_uuid()) RETURNS regtype
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning     -- no notices about the shell type
AS $create_type$
DECLARE
  base_row pg_type;
  existing regtype := (SELECT type FROM @extschema@.tde_types t WHERE t.base = $1);
  name     text;           -- of the new type, not quoted
  enc      text;           -- the new type
  fn       text;
  io       record;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE EXCEPTION 'must be superuser to make an encrypted type'
      USING ERRCODE = 'insufficient_privilege', DETAIL = 'It is a base type with functions in C.';
  ELSIF base IS NULL OR type_tag IS NULL THEN
    RAISE EXCEPTION 'base type and type tag must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create the type in'
      USING ERRCODE = 'invalid_schema_name', HINT = 'Name one: tde_create_type(''type'', ''schema'').';
  ELSIF existing IS NOT NULL THEN
    RAISE EXCEPTION 'type % has an encrypted version already: %', base, existing USING ERRCODE = 'duplicate_object';
  END IF;
  SELECT * INTO STRICT base_row FROM pg_type WHERE oid = base;
  IF base_row.typtype NOT IN ('b', 'e') OR base_row.typlen = -2 OR base_row.typelem <> 0 AND base_row.typlen = -1
     OR EXISTS (SELECT FROM @extschema@.tde_types WHERE type = $1) THEN
    RAISE EXCEPTION 'cannot make an encrypted type of %', base
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'Only base types and enums can be encrypted, not domains, arrays, composites, ranges, pseudo-types and '
                     'encrypted types.',
            HINT = 'Make the encrypted version of the element, field or base type; arrays, composites and domains can be made '
                   'of that.';
  END IF;
  name := 'encrypted_' || base_row.typname;
  enc := format('%s.%I', schema, name);
  IF octet_length(name || '_sortsupport') > 63 THEN
    RAISE EXCEPTION 'the name of type % is too long for an encrypted version', base USING ERRCODE = 'name_too_long';
  ELSIF to_regtype(enc) IS NOT NULL THEN
    RAISE EXCEPTION 'type % already exists', enc USING ERRCODE = 'duplicate_object';
  END IF;

  -- By the first of these the base type and the tag are known.  They are not dropped with a type, and so perhaps left from one of
  -- the same name.
  fn := format('%s.%I(cstring[])', schema, name || '_typmod_in');
  EXECUTE format('CREATE OR REPLACE FUNCTION %s RETURNS int4 LANGUAGE sql STABLE STRICT PARALLEL SAFE '
                 'RETURN @extschema@.tde_typmod_in($1, %L::regtype, %L::uuid)', fn, base, type_tag);
  EXECUTE format('COMMENT ON FUNCTION %s IS ''I/O typmod'';', fn)
    || @extschema@.tde_function_sql(format('%s.%I(int4)', schema, name || '_typmod_out'), 'cstring', 'tde_typmod_out',
                                    'STABLE', 'I/O typmod');
  EXECUTE format('CREATE TYPE %s', enc);
  FOR io IN SELECT * FROM (VALUES
      ('in',   'cstring, oid, int4',  enc),
      ('out',  enc,                   'cstring'),
      ('recv', 'internal, oid, int4', enc),
      ('send', enc,                   'bytea')
    ) AS io (suffix, args, result)
  LOOP
    fn := format('%s.%I(%s)', schema, name || '_' || io.suffix, io.args);
    EXECUTE format('CREATE FUNCTION %s RETURNS %s AS ''MODULE_PATHNAME'', %L LANGUAGE C STABLE STRICT PARALLEL SAFE',
                   fn, io.result, 'tde_' || io.suffix);
    EXECUTE format('COMMENT ON FUNCTION %s IS ''I/O''', fn);
  END LOOP;
  EXECUTE format('CREATE TYPE %s (INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external, CATEGORY = %L, COLLATABLE = %s, '
                 'INPUT = %4$s_in", OUTPUT = %4$s_out", RECEIVE = %4$s_recv", SEND = %4$s_send", '
                 'TYPMOD_IN = %4$s_typmod_in", TYPMOD_OUT = %4$s_typmod_out", ANALYZE = @extschema@.tde_typanalyze)',
                 enc, base_row.typcategory, (base_row.typcollation <> 0)::text, format('%s."%s', schema, replace(name, '"', '""')));
  EXECUTE format('COMMENT ON TYPE %s IS %L', enc, 'encrypted ' || base);
  -- IMPLICIT, so that every function of the base type takes an encrypted value
  EXECUTE @extschema@.tde_cast_sql(schema::text, enc::regtype, base, 'tde_decrypt', 'AS IMPLICIT', 'decrypt');
  PERFORM @extschema@.tde_complete_type(enc::regtype);
  RETURN enc::regtype;
END
$create_type$;
COMMENT ON FUNCTION tde_create_type(regtype, regnamespace, uuid) IS
  'make the encrypted version of a base type; the tag names the type in key derivation and must stay the same for ever';

CREATE FUNCTION tde_template_objects() RETURNS TABLE (catalog oid, object oid)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT tableoid, oid FROM pg_proc UNION ALL SELECT tableoid, oid FROM pg_operator UNION ALL SELECT tableoid, oid FROM pg_cast
  UNION ALL SELECT tableoid, oid FROM pg_opfamily UNION ALL SELECT tableoid, oid FROM pg_opclass
$$;
COMMENT ON FUNCTION tde_template_objects() IS 'all objects of the sorts that the template makes';

CREATE FUNCTION tde_refresh_types() RETURNS int4
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $refresh_types$
DECLARE
  ours    boolean;
  before  text[];
  new     record;
  added   int4 := 0;
BEGIN
  -- What completes the extension's types belongs to it, what completes a user's type to the user, so that pg_dump dumps it,
  -- whether this is called by an update of the extension or by hand.
  FOREACH ours IN ARRAY ARRAY[true, false] LOOP
    before := ARRAY(SELECT catalog || ' ' || object FROM @extschema@.tde_template_objects());
    PERFORM @extschema@.tde_complete_type(type)
    FROM unnest(ARRAY(SELECT enc FROM @extschema@.tde_type_plans p WHERE p.shipped = ours)) type;
    FOR new IN
      SELECT i.type, i.identity, EXISTS (
               SELECT FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
               WHERE d.classid = catalog AND d.objid = object AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e') AS is_member
      FROM @extschema@.tde_template_objects() CROSS JOIN LATERAL pg_identify_object(catalog, object, 0) i
      WHERE (catalog || ' ' || object) NOT IN (SELECT unnest(before))
    LOOP
      added := added + 1;
      IF new.is_member <> ours THEN
        EXECUTE format('ALTER EXTENSION tde_column %s %s %s', CASE WHEN ours THEN 'ADD' ELSE 'DROP' END, new.type, new.identity);
      END IF;
    END LOOP;
  END LOOP;
  RETURN added;
END
$refresh_types$;
COMMENT ON FUNCTION tde_refresh_types() IS
  'make what encrypted types lack against this version''s template; returns how many functions, casts, operators and classes';

REVOKE ALL ON FUNCTION tde_base_family(regtype, name), tde_function_sql(text, text, text, text, text),
  tde_cast_sql(text, regtype, regtype, text, text, text), tde_operator_sql(text, text, regtype, regtype, text, text, text, text),
  tde_members_sql(oid, regtype, regtype, text[], text[]), tde_class_sql(text, regtype, oid), tde_aggregate_sql(text, text, text),
  tde_comparison_sql(text, regtype, regtype, text, boolean, oid, oid, text), tde_missing_casts(tde_type_plans),
  tde_missing_arithmetic(tde_type_plans), tde_missing_comparisons(tde_type_plans, oid, oid, oid, oid),
  tde_missing_classes(tde_type_plans, oid, oid), tde_missing_number_hashes(tde_type_plans, oid, text),
  tde_missing_aggregates(tde_type_plans), tde_make_family(text, name, name), tde_complete_type(regtype),
  tde_create_type(regtype, regnamespace, uuid), tde_template_objects(), tde_refresh_types() FROM PUBLIC;

