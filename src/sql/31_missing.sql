--
-- The parts of the template: what an encrypted type lacks
--

CREATE FUNCTION tde_internal.tde_missing_casts(p tde_internal.type_plans, others tde_internal.type_plans[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg(tde_internal.tde_cast_sql(p.schema, p.inner_schema, source, target, symbol,
                                 CASE context WHEN 'i' THEN 'AS IMPLICIT' WHEN 'a' THEN 'AS ASSIGNMENT' ELSE '' END, comment), '')
  FROM (
    SELECT p.enc, p.enc, 'tde_coerce', 'i', 'adjust value to typmod'
    UNION ALL
    -- by which the type is known to be encrypted: tde_make_type() makes it
    SELECT p.enc, p.base, 'tde_decrypt', 'i', 'decrypt'
    UNION ALL
    -- ASSIGNMENT from the base type: an IMPLICIT one would let encrypted and plain operators compete.
    SELECT p.base, p.enc, 'tde_encrypt', 'a', 'encrypt'
    UNION ALL
    -- IMPLICIT for COALESCE and its like, so that the first of two strings says what both become; not to timestamp, so that
    -- date - timestamp means PostgreSQL's, nor from varchar to char(n), of which varchar = char(n) would be ambiguous
    SELECT castsource::regtype, p.enc, 'tde_encrypt',
           CASE WHEN castcontext = 'e' OR castcontext = 'i' AND (tde_internal.tde_takes_numbers(p.base) OR p.base = 'timestamptz'::regtype
                                                                 OR ARRAY[castsource::regtype, p.base] <@ '{text,varchar,bpchar,name}'::regtype[]
                                                                    AND (castsource, p.base) <> ('varchar'::regtype, 'bpchar'::regtype))
             THEN castcontext::text ELSE 'a' END, 'encrypt'
    FROM pg_cast
    WHERE casttarget = p.base AND castsource <> p.base
      AND tde_internal.tde_is_core(castsource) AND castsource NOT IN ('"char"'::regtype, 'xml'::regtype, 'money'::regtype)
    UNION ALL
    -- What the base type can be cast to.  IMPLICIT where the base types' is: strings (varchar and bpchar to text), and what becomes a larger number or
    -- moment (sql/46_smaller.sql), but not a number that stands for an object; and only of built-in types, as text would lend its operators to a type
    -- that compares otherwise (citext).
    SELECT p.enc, casttarget::regtype, 'tde_decrypt_to',
           -- char(n) would not know which of text(char(n)) and text(name) is meant
           CASE WHEN castcontext = 'i' AND (p.base = ANY ('{text,varchar,bpchar}'::regtype[]) AND (p.base, casttarget) <> ('bpchar'::regtype, 'name'::regtype)
                                            OR p.shipped AND casttarget = ANY ('{int4,int8,numeric,float4,float8,oid,timestamp,timestamptz,interval}'::regtype[]))
             THEN 'i' ELSE 'a' END,
           'decrypt and cast'
    FROM pg_cast
    WHERE castsource = p.base AND casttarget <> p.base AND tde_internal.tde_is_core(casttarget)
      AND casttarget NOT IN ('"char"'::regtype, 'xml'::regtype, 'regclass'::regtype)
    UNION ALL
    -- Explicit, for to_json() and its like, where they give more than the text in quotes.
    SELECT p.enc, 'json'::regtype, 'tde_decrypt_to_json', 'e', 'decrypt, as to_json()'
    WHERE p.number OR p.base = ANY ('{bool,date,timestamp,timestamptz}'::regtype[])
    UNION ALL
    -- Casts between encrypted types, as between their base types.  Those of a user's type with one of the extension's are the
    -- user's, and not IMPLICIT: comparisons of the two would be ambiguous.
    -- A time and an interval have nothing in common but operators of intervals, which it meets as one, decrypted.
    SELECT s.source, s.target, 'tde_recast',
           CASE WHEN c.castcontext = 'i' AND (NOT p.shipped OR s.target_base = 'interval'::regtype) THEN 'a' ELSE c.castcontext::text END,
           'cast as between the base types'
    FROM unnest(others) t
    CROSS JOIN LATERAL (VALUES (p.enc, p.base, t.enc, t.base), (t.enc, t.base, p.enc, p.base))
      AS s (source, source_base, target, target_base)
    JOIN pg_cast c ON c.castsource = s.source_base AND c.casttarget = s.target_base
    WHERE t.enc <> p.enc AND (t.shipped OR NOT p.shipped)
  ) AS casts (source, target, symbol, context, comment);
END;
COMMENT ON FUNCTION tde_internal.tde_missing_casts(tde_internal.type_plans, tde_internal.type_plans[]) IS 'SQL that makes the casts that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_missing_array_casts(p tde_internal.type_plans) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(format(E'CREATE CAST (%s AS tde_internal.%s) WITH FUNCTION tde_internal.%2$s(anyarray) AS IMPLICIT;\n', source, target), ''), '')
  FROM (SELECT typarray::regtype, target
        FROM (VALUES (p.enc, 'encrypted_array'), (p.base, 'plain_array')) AS sides (element, target) JOIN pg_type e ON e.oid = element
        WHERE typarray <> 0) AS casts (source, target)
  WHERE NOT tde_internal.tde_has_cast(source, ('tde_internal.' || target)::regtype, format('tde_internal.%s(anyarray)', target));
END;
COMMENT ON FUNCTION tde_internal.tde_missing_array_casts(tde_internal.type_plans) IS
  'SQL that makes the casts that arrays lack by which those of an encrypted and of its base type meet';

CREATE FUNCTION tde_internal.tde_missing_arithmetic(p tde_internal.type_plans, others tde_internal.type_plans[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- With itself, every plain and every other encrypted number: were a pair missing, another one with a preferred type (float8)
  -- would be taken for it.  The result has the type that PostgreSQL gives to the base types'.
  SELECT coalesce(string_agg(tde_internal.tde_operator_sql(p, symbol, l, r, (CASE
           WHEN 'float4'::regtype = ALL (ARRAY[l_base, r_base]) THEN 'float4'::regtype
           WHEN ARRAY[l_base, r_base] && '{float4,float8}'::regtype[] THEN 'float8'
           WHEN 'numeric'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'numeric'
           WHEN 'int8'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'int8'
           WHEN 'int4'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'int4'
           ELSE 'int2' END)::text, function, 'STABLE'), ''), '')
  FROM (
    SELECT p.enc, p.base, p.enc, p.base
    UNION ALL
    SELECT s.* FROM (SELECT unnest('{int2,int4,int8,numeric,float4,float8}'::regtype[]) AS type, NULL::regtype AS base
                     UNION ALL SELECT enc, base FROM unnest(others) WHERE number AND enc <> p.enc) AS o
    CROSS JOIN LATERAL (VALUES (p.enc, p.base, o.type, coalesce(o.base, o.type)),
                               (o.type, coalesce(o.base, o.type), p.enc, p.base)) AS s
  ) AS types (l_type, l_base, r_type, r_base)
  CROSS JOIN (VALUES ('+', 'tde_plus'), ('-', 'tde_minus'), ('*', 'tde_times'), ('/', 'tde_divided'), ('%', 'tde_modulo'))
    AS ops (symbol, function)
  CROSS JOIN LATERAL (SELECT CASE WHEN l_type = l_base THEN tde_internal.tde_beside(r_base, l_base, symbol) ELSE l_type END,
                             CASE WHEN r_type = r_base THEN tde_internal.tde_beside(l_base, r_base, symbol) ELSE r_type END) AS sides (l, r)
  WHERE p.number AND l IS NOT NULL AND r IS NOT NULL
    AND (symbol <> '%' OR NOT ARRAY[l_base, r_base] && '{float4,float8}'::regtype[]);
END;
COMMENT ON FUNCTION tde_internal.tde_missing_arithmetic(tde_internal.type_plans, tde_internal.type_plans[]) IS 'SQL that makes the arithmetic that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_padded(p tde_internal.type_plans, l regtype, r regtype) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p.base = 'bpchar'::regtype AND NOT ARRAY[l, r] && ARRAY[p.enc, p.base] THEN 'tde_padded_' ELSE 'tde_' END;
COMMENT ON FUNCTION tde_internal.tde_padded(tde_internal.type_plans, regtype, regtype) IS
  'what the names of functions begin with that compare two types in the families of a type: other strings, beside char(n), as such';

CREATE FUNCTION tde_internal.tde_comparison_sql(p tde_internal.type_plans, l regtype, r regtype, prefix text, ordered boolean, btree oid,
                                                hash oid, volatility text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  -- plain types are compared by PostgreSQL's functions
  cmp text := coalesce((SELECT format('pg_catalog.%I(%s, %s)', f.proname, l, r) FROM pg_amproc a JOIN pg_proc f ON f.oid = a.amproc
                        WHERE a.amprocfamily = p.btree AND a.amproclefttype = l AND a.amprocrighttype = r AND a.amprocnum = 1
                          AND tde_internal.tde_is_core(f.oid) AND (f.proargtypes[0], f.proargtypes[1]) = (l, r)),
                       format('%s.%scmp(%s, %s)', p.inner_schema, tde_internal.tde_padded(p, l, r), l, r));
BEGIN
  -- btree, hash: the families that they are members of, or NULL.  The functions in C are kind || function: tde_eq(), or tde_padded_eq().
  RETURN (
  SELECT string_agg(tde_internal.tde_operator_sql(
           p, prefix || o.symbol, l, r, 'boolean',
           coalesce(tde_internal.tde_plain_comparison(o.symbol, l, r), tde_internal.tde_padded(p, l, r) || o.function),
           volatility || tde_internal.tde_leakproof(o.symbol, l, r),
           tde_internal.tde_operator_name(p, prefix || o.commutator), tde_internal.tde_operator_name(p, prefix || o.negator), o.selectivity,
           merges => o.symbol = '=' AND btree IS NOT NULL, hashes => o.symbol = '=' AND hash IS NOT NULL), '')
    || CASE WHEN btree IS NULL THEN '' ELSE
         CASE WHEN cmp LIKE 'pg_catalog.%' THEN ''
           ELSE tde_internal.tde_function_sql(cmp, 'int4', tde_internal.tde_padded(p, l, r) || 'cmp', volatility || tde_internal.tde_leakproof('<', l, r), 'less-equal-greater') END
         || tde_internal.tde_members_sql(btree, l, r,
                            ARRAY(SELECT tde_internal.tde_operator_name(p, prefix || s) FROM unnest('{<,<=,=,>=,>}'::text[]) s),
                            ARRAY[cmp]) END
    || CASE WHEN hash IS NULL THEN '' ELSE
         tde_internal.tde_members_sql(hash, l, r, ARRAY[tde_internal.tde_operator_name(p, prefix || '=')], '{}') END
  FROM (VALUES ('=',  'eq', '=',  '<>', 'eq'),
               ('<>', 'ne', '<>', '=',  'neq'),
               ('<',  'lt', '>',  '>=', 'scalarlt'),
               ('<=', 'le', '>=', '>',  'scalarle'),
               ('>',  'gt', '<',  '<=', 'scalargt'),
               ('>=', 'ge', '<=', '<',  'scalarge')) AS o (symbol, function, commutator, negator, selectivity)
  WHERE ordered OR o.symbol IN ('=', '<>'));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_comparison_sql(tde_internal.type_plans, regtype, regtype, text, boolean, oid, oid, text) IS
  'SQL that makes the operators that compare two types, as members of families';

CREATE FUNCTION tde_internal.tde_missing_comparisons(p tde_internal.type_plans, others tde_internal.type_plans[], btree oid, hash oid,
                                                     exact oid, inexact oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(tde_internal.tde_comparison_sql(p, l, r, prefix, ordered, btree, hash, volatility), ''), '')
  FROM (
    -- The base type's own members have other names, which no expression finds: plain columns keep PostgreSQL's operators.  So have
    -- those with numeric and varchar themselves, which foreign keys of plain columns find in the family.
    SELECT l, r, CASE WHEN p.enc IN (l, r) AND (l = r OR tde_internal.tde_beside(p.base, p.operand, '=') IN (l, r)) THEN ''
                   -- a user's type has them in his schema, under names that no extension has
                   ELSE CASE WHEN p.shipped THEN '%' ELSE '%#' END END,
           p.btree IS NOT NULL, $3, $4, 'IMMUTABLE'
    FROM unnest(p.members) l, unnest(p.members) r
    UNION ALL
    SELECT l, r, '', true, NULL, NULL, 'IMMUTABLE'
    FROM (VALUES (p.enc, 'name'::regtype), ('name', p.enc)) AS s (l, r)
    WHERE p.shipped AND p.operand = 'text'::regtype
    UNION ALL
    -- A varchar beside a char(n) is one, and the planner sorts and hashes each as such.
    SELECT l, r, prefix, true, $3, $4, 'IMMUTABLE'
    FROM unnest(others) o
    CROSS JOIN LATERAL (VALUES (p.enc, o.enc, ''), (o.enc, p.enc, ''), (p.base, o.enc, ''), (o.enc, p.base, ''), (o.enc, o.enc, '%%')) AS s (l, r, prefix)
    WHERE p.shipped AND p.base = 'bpchar'::regtype AND o.shipped AND o.base = 'varchar'::regtype
    UNION ALL
    -- The extension's types with each other: in the family where the base types share one; numbers of all sorts in those that hash
    -- them alike.
    SELECT l, r, prefix, true, CASE WHEN shared THEN $3 END,
           CASE WHEN NOT shared THEN CASE WHEN ARRAY[p.base, o.base] && '{float4,float8}'::regtype[] THEN $6 ELSE $5 END
             WHEN o.hash = p.hash THEN $4 END,
           -- a comparison of timestamptz with date depends on the time zone
           coalesce((SELECT CASE WHEN provolatile = 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END
                     FROM pg_operator e JOIN pg_proc f ON f.oid = e.oprcode
                     WHERE oprname = '=' AND tde_internal.tde_is_core(e.oid) AND oprleft = p.operand AND oprright = o.operand),
                    'IMMUTABLE')
    FROM unnest(others) o
    CROSS JOIN LATERAL (SELECT o.btree = p.btree) s (shared)
    CROSS JOIN LATERAL (SELECT tde_internal.tde_beside(p.base, o.operand, '='), tde_internal.tde_beside(o.base, p.operand, '=')) b (beside_p, beside_o)
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
COMMENT ON FUNCTION tde_internal.tde_missing_comparisons(tde_internal.type_plans, tde_internal.type_plans[], oid, oid, oid, oid) IS
  'SQL that makes the comparison operators that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_missing_classes(p tde_internal.type_plans, btree oid, hash oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(tde_internal.tde_function_sql(signature, result, symbol, volatility, comment)
                             || tde_internal.tde_members_sql(family, l, r, '{}', array_fill(NULL::text, ARRAY[number - 1]) || signature), ''), '')
         || tde_internal.tde_class_sql(p.schema, p.enc, $2) || tde_internal.tde_class_sql(p.schema, p.enc, $3)
  FROM (
    SELECT $2, p.enc, p.enc, 2, format('%s.%I(internal)', p.inner_schema, p.name || '_sortsupport'), 'void', 'tde_sortsupport',
           'IMMUTABLE', 'sort support'
    UNION ALL
    SELECT $2, p.enc, amprocrighttype, 3,
           format('%s.tde_in_range(%s, %2$s, %s, boolean, boolean)', p.inner_schema, p.enc, amprocrighttype::regtype), 'boolean',
           'tde_in_range', CASE WHEN i.provolatile = 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END, 'window RANGE support'
    FROM pg_amproc JOIN pg_proc i ON i.oid = amproc WHERE amprocfamily = p.btree AND amproclefttype = p.operand AND amprocnum = 3
    UNION ALL
    SELECT $3, t, t, 1, format('%s.tde_hash(%s)', p.inner_schema, t), 'int4', 'tde_hash', 'IMMUTABLE', 'keyed hash'
    FROM unnest(p.members) t
    UNION ALL
    SELECT $3, t, t, 2, format('%s.tde_hash_extended(%s, int8)', p.inner_schema, t), 'int8', 'tde_hash_extended', 'IMMUTABLE',
           'hash with a seed'
    FROM unnest(p.members) t
    UNION ALL
    SELECT $3, t.type, t.type, 1, format('%s.tde_padded_hash(%s)', p.inner_schema, t.type), 'int4', 'tde_padded_hash', 'IMMUTABLE',
           'keyed hash of a string beside a char(n)'
    FROM tde.types t WHERE p.shipped AND p.base = 'bpchar'::regtype AND t.base = 'varchar'::regtype
  ) AS functions (family, l, r, number, signature, result, symbol, volatility, comment)
  WHERE family IS NOT NULL;
END;
COMMENT ON FUNCTION tde_internal.tde_missing_classes(tde_internal.type_plans, oid, oid) IS
  'SQL that makes the support functions and operator classes that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_missing_number_hashes(p tde_internal.type_plans, family oid, symbol text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- Each type with itself, too, for which PostgreSQL looks where a subquery is hashed.
  SELECT coalesce(string_agg(tde_internal.tde_comparison_sql(p, t, t, CASE t WHEN p.enc THEN '%%' ELSE '%' END, false, NULL, family, 'IMMUTABLE')
                             || tde_internal.tde_function_sql(signature, 'int4', symbol, 'IMMUTABLE', 'keyed hash of a number among such of other types')
                             || tde_internal.tde_members_sql(family, t, t, '{}', ARRAY[signature]), ''), '')
  FROM (SELECT p.enc UNION SELECT p.base WHERE p.base = ANY ('{numeric,float4,float8}'::regtype[])
        UNION SELECT tde_internal.tde_beside('int8', p.base, '=') WHERE p.base = 'numeric'::regtype) AS types (t)
  CROSS JOIN LATERAL (SELECT format('%s.%s(%s)', p.inner_schema, symbol, t)) s (signature)
  WHERE family IS NOT NULL;
END;
COMMENT ON FUNCTION tde_internal.tde_missing_number_hashes(tde_internal.type_plans, oid, text) IS
  'SQL that makes what an encrypted number lacks in a hash family of numbers of different sorts';

CREATE FUNCTION tde_internal.tde_missing_patterns(p tde_internal.type_plans, btree oid, pattern oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- What the default family compares.  Its equality is a member of both families for all pairs: the planner combines only equalities
  -- that are members of the same.
  SELECT coalesce(string_agg((
    SELECT string_agg(tde_internal.tde_operator_sql(
             p, prefix || o.symbol, l, r, 'boolean', coalesce(tde_internal.tde_plain_comparison(o.symbol, l, r), kind || o.function),
             'IMMUTABLE' || tde_internal.tde_leakproof(o.symbol, l, r),
             tde_internal.tde_operator_name(p, prefix || o.commutator), tde_internal.tde_operator_name(p, prefix || o.negator), o.selectivity), '')
    FROM (VALUES ('~<~',  'pattern_lt', '~>~',  '~>=~', 'scalarlt'),
                 ('~<=~', 'pattern_le', '~>=~', '~>~',  'scalarle'),
                 ('~>~',  'pattern_gt', '~<~',  '~<=~', 'scalargt'),
                 ('~>=~', 'pattern_ge', '~<=~', '~<~',  'scalarge')) AS o (symbol, function, commutator, negator, selectivity))
    || tde_internal.tde_function_sql(compare, 'int4', kind || 'pattern_cmp', 'IMMUTABLE' || tde_internal.tde_leakproof('~<~', l, r), 'less-equal-greater')
    || CASE WHEN l = p.enc AND r = p.enc THEN tde_internal.tde_function_sql(sort, 'void', 'tde_pattern_sortsupport', 'IMMUTABLE', 'sort support') ELSE '' END
    || tde_internal.tde_members_sql($3, l, r,
                       ARRAY(SELECT tde_internal.tde_operator_name(p, prefix || o) FROM unnest('{~<~,~<=~,=,~>=~,~>~}'::text[]) o),
                       ARRAY[compare, CASE WHEN l = p.enc AND r = p.enc THEN sort END]), ''), '')
    || tde_internal.tde_class_sql(p.schema, p.enc, $3, '_pattern_ops')
  FROM pg_amop e JOIN pg_operator q ON q.oid = e.amopopr
  CROSS JOIN LATERAL (SELECT e.amoplefttype::regtype, e.amoprighttype::regtype, rtrim(q.oprname, '=')) s (l, r, prefix)
  CROSS JOIN LATERAL (SELECT tde_internal.tde_padded(p, l, r)) k (kind)
  CROSS JOIN LATERAL (SELECT format('%s.%spattern_cmp(%s, %s)', p.inner_schema, kind, l, r),
                             format('%s.%I(internal)', p.inner_schema, p.name || '_pattern_sortsupport')) f (compare, sort)
  WHERE e.amopfamily = $2 AND e.amopstrategy = 3 AND $3 IS NOT NULL
    -- another encrypted type of the family has sort support of its own, and says so in its turn
    AND (l <> r OR l = p.enc OR kind <> 'tde_' OR tde_internal.tde_catalog_type(l) = l);
END;
COMMENT ON FUNCTION tde_internal.tde_missing_patterns(tde_internal.type_plans, oid, oid) IS
  'SQL that makes what an encrypted string lacks to be compared by its bytes; btree, pattern: its operator families';

CREATE FUNCTION tde_internal.tde_missing_unordered(p tde_internal.type_plans, btree oid, hash oid, unordered oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- All equalities that order and hash share, so that the planner combines them as before.
  SELECT coalesce(string_agg((
    SELECT string_agg(tde_internal.tde_operator_sql(
             p, prefix || o.symbol, l, r, 'boolean', kind || o.function, 'IMMUTABLE',
             tde_internal.tde_operator_name(p, prefix || o.commutator), tde_internal.tde_operator_name(p, prefix || o.negator), o.selectivity), '')
    FROM (VALUES ('~<',  'unordered_lt', '~>',  '~>=', 'scalarlt'),
                 ('~<=', 'unordered_le', '~>=', '~>',  'scalarle'),
                 ('~>',  'unordered_gt', '~<',  '~<=', 'scalargt'),
                 ('~>=', 'unordered_ge', '~<=', '~<',  'scalarge')) AS o (symbol, function, commutator, negator, selectivity))
    || tde_internal.tde_function_sql(compare, 'int4', kind || 'unordered_cmp', 'IMMUTABLE', 'less-equal-greater in an order that tells nothing')
    || CASE WHEN l = p.enc AND r = p.enc THEN tde_internal.tde_function_sql(sort, 'void', 'tde_unordered_sortsupport', 'IMMUTABLE', 'sort support') ELSE '' END
    || tde_internal.tde_members_sql($4, l, r,
         ARRAY(SELECT CASE WHEN s = '=' THEN equal ELSE tde_internal.tde_operator_name(p, prefix || s) END
               FROM unnest('{~<,~<=,=,~>=,~>}'::text[]) WITH ORDINALITY u (s, place) ORDER BY place),
         ARRAY[compare, CASE WHEN l = p.enc AND r = p.enc THEN sort END]), ''), '')
    || tde_internal.tde_class_sql(p.schema, p.enc, $4, '_unordered_ops')
  FROM pg_amop e JOIN pg_operator q ON q.oid = e.amopopr JOIN pg_namespace n ON n.oid = q.oprnamespace
  CROSS JOIN LATERAL (SELECT e.amoplefttype::regtype, e.amoprighttype::regtype, coalesce(nullif(rtrim(q.oprname, '='), ''), '%'),
                             format('%I.%s', n.nspname, q.oprname)) s (l, r, prefix, equal)
  CROSS JOIN LATERAL (SELECT tde_internal.tde_padded(p, l, r)) k (kind)
  CROSS JOIN LATERAL (SELECT format('%s.%sunordered_cmp(%s, %s)', p.inner_schema, kind, l, r),
                             format('%s.%I(internal)', p.inner_schema, p.name || '_unordered_sortsupport')) f (compare, sort)
  WHERE e.amopfamily = $2 AND e.amopstrategy = 3 AND $4 IS NOT NULL
    AND EXISTS (SELECT FROM pg_amop h WHERE h.amopfamily = $3 AND h.amopopr = e.amopopr)
    -- another encrypted type of the family has sort support of its own, and says so in its turn
    AND (l <> r OR l = ANY (p.members) OR kind <> 'tde_');
END;
COMMENT ON FUNCTION tde_internal.tde_missing_unordered(tde_internal.type_plans, oid, oid, oid) IS
  'SQL that makes what an encrypted type lacks to be indexed without telling its order; btree, hash: the families whose equalities it takes';

CREATE FUNCTION tde_internal.tde_missing_summaries(p tde_internal.type_plans, btree oid, brin oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- PostgreSQL's functions keep the least and the largest value, ours encrypts them once more; they compare by the operators of the family.
  SELECT coalesce(string_agg(tde_internal.tde_members_sql($3, p.enc, r, operators, CASE r WHEN p.enc THEN ARRAY[
             'pg_catalog.brin_minmax_opcinfo(internal)', 'tde_internal.tde_brin_add_value(internal, internal, internal, internal)',
             'pg_catalog.brin_minmax_consistent(internal, internal, internal)', 'pg_catalog.brin_minmax_union(internal, internal, internal)']
           ELSE '{}' END), ''), '')
         || tde_internal.tde_class_sql(p.schema, p.enc, $3, '_minmax_ops')
  FROM (SELECT e.amoprighttype::regtype, array_agg(format('%I.%s', n.nspname, o.oprname) ORDER BY e.amopstrategy)
        FROM pg_amop e JOIN pg_operator o ON o.oid = e.amopopr JOIN pg_namespace n ON n.oid = o.oprnamespace
        WHERE e.amopfamily = $2 AND e.amoplefttype = p.enc GROUP BY e.amoprighttype) AS members (r, operators)
  WHERE $3 IS NOT NULL;
END;
COMMENT ON FUNCTION tde_internal.tde_missing_summaries(tde_internal.type_plans, oid, oid) IS
  'SQL that makes what an encrypted type lacks to be summarized by BRIN; btree: the family whose operators it takes';

REVOKE ALL ON FUNCTION tde_internal.tde_missing_casts(tde_internal.type_plans, tde_internal.type_plans[]),
  tde_internal.tde_missing_array_casts(tde_internal.type_plans),
  tde_internal.tde_missing_arithmetic(tde_internal.type_plans, tde_internal.type_plans[]),
  tde_internal.tde_padded(tde_internal.type_plans, regtype, regtype),
  tde_internal.tde_comparison_sql(tde_internal.type_plans, regtype, regtype, text, boolean, oid, oid, text),
  tde_internal.tde_missing_comparisons(tde_internal.type_plans, tde_internal.type_plans[], oid, oid, oid, oid),
  tde_internal.tde_missing_classes(tde_internal.type_plans, oid, oid),
  tde_internal.tde_missing_number_hashes(tde_internal.type_plans, oid, text),
  tde_internal.tde_missing_patterns(tde_internal.type_plans, oid, oid),
  tde_internal.tde_missing_unordered(tde_internal.type_plans, oid, oid, oid),
  tde_internal.tde_missing_summaries(tde_internal.type_plans, oid, oid)
  FROM PUBLIC;
