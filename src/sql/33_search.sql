--
-- Operator classes of GIN: in the place of one of a base type stands one of the encrypted type, whose entries tell nothing
-- (src/operators/blind.c).  Its family has the members of the base class beside ours, by which C knows what it stands for.
--

CREATE FUNCTION tde_internal.tde_gin_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_gin_options(internal) IS 'GIN support: the index''s salt';

CREATE FUNCTION tde_internal.tde_gin_plans(p tde_internal.type_plans, class oid DEFAULT NULL) RETURNS TABLE (base_class oid, of_type regtype, name name)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT c.oid, t.of_type, (p.name || CASE WHEN c.opcname LIKE b.typname || E'\\_%' THEN substr(c.opcname, length(b.typname) + 1) ELSE '_' || c.opcname END)::name
  FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod JOIN pg_type b ON b.oid = p.base JOIN pg_type e ON e.oid = p.enc
  CROSS JOIN LATERAL (SELECT CASE WHEN c.opcintype = 'anyarray'::regtype THEN e.typarray ELSE p.enc END::regtype) t (of_type)
  WHERE m.amname = 'gin' AND CASE WHEN class IS NULL THEN tde_internal.tde_is_core(c.oid) ELSE c.oid = class END
    -- elements of arrays are told apart by their hash
    AND (c.opcintype = coalesce(p.operand, p.base) OR (c.opcintype = 'anyarray'::regtype AND p.btree IS NOT NULL AND p.hash IS NOT NULL));
END;
COMMENT ON FUNCTION tde_internal.tde_gin_plans(tde_internal.type_plans, oid) IS
  'which classes of GIN an encrypted type or its arrays can have: PostgreSQL''s own, or this one';

-- Arrays meet PostgreSQL's operators, and strings have those of LIKE.  The others are members of the family alone, for no expression to find: what
-- users write means the base type's, and gets these where an index helps (src/operators/index_conditions.c).
CREATE FUNCTION tde_internal.tde_search_operators(p tde_internal.type_plans, base_class oid) RETURNS TABLE (strategy int2, l regtype, r regtype, operator text, ddl text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT e.amopstrategy, o.oprleft::regtype, o.oprright::regtype, format('%s.%s', o.oprnamespace::regnamespace, o.oprname), ''
  FROM pg_opclass c JOIN pg_amop e ON e.amopfamily = c.opcfamily AND e.amoplefttype = c.opcintype JOIN pg_operator o ON o.oid = e.amopopr
  WHERE c.oid = base_class
  UNION ALL
  SELECT e.amopstrategy, p.enc, o.oprright::regtype, coalesce(had.name, p.inner_schema || '.%' || o.oprname),
         CASE WHEN had.name IS NULL THEN
           tde_internal.tde_function_sql(f.name || format('(%s, %s)', p.enc, o.oprright::regtype), 'boolean', 'tde_search', f.volatility,
                                         format('search as %s() of the base type', b.proname))
           -- of words the base type's, which is given the lexemes that ANALYZE has kept (src/type/lexeme_statistics.c); others ask the operator itself, of
           -- the values that it has kept
           || tde_internal.tde_operator_sql(p, '%' || o.oprname, p.enc, o.oprright::regtype, 'boolean', f.name, f.volatility, NULL, NULL,
                                            CASE o.oprrest WHEN 'pg_catalog.tsmatchsel'::regproc THEN 'tsmatch' ELSE 'matching' END)
         ELSE '' END
  FROM pg_opclass c JOIN pg_amop e ON e.amopfamily = c.opcfamily AND e.amoplefttype = c.opcintype JOIN pg_operator o ON o.oid = e.amopopr
  JOIN pg_proc b ON b.oid = o.oprcode
  CROSS JOIN LATERAL (SELECT format('%s.%I', p.inner_schema, 'tde_' || b.proname),
                             CASE b.provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END) AS f (name, volatility)
  LEFT JOIN LATERAL (SELECT format('%s.%s', x.oprnamespace::regnamespace, x.oprname) FROM pg_operator x JOIN pg_proc y ON y.oid = x.oprcode
                     WHERE x.oprname = o.oprname AND (x.oprleft, x.oprright) = (p.enc, o.oprright) AND tde_internal.tde_is_of_library(y, 'tde_match')) had (name) ON true
  WHERE c.oid = base_class AND c.opcintype <> 'anyarray'::regtype;
END;
COMMENT ON FUNCTION tde_internal.tde_search_operators(tde_internal.type_plans, oid) IS
  'the operators of a class of GIN, for the base type and for the encrypted one, and SQL that makes what is missing of the latter';

CREATE FUNCTION tde_internal.tde_gin_sql(p tde_internal.type_plans, base_class oid, of_type regtype, name name, family oid) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  base      pg_opclass;
  functions text[] := ARRAY[NULL, format('%s.%I(%s, internal, internal)', p.inner_schema, name || '_extract_value', of_type),
                            format('%s.%I(%s, internal, int2, internal, internal, internal, internal)', p.inner_schema, name || '_extract_query', of_type),
                            NULL, NULL, format('%s.%I(internal, int2, %s, int4, internal, internal, internal)', p.inner_schema, name || '_triconsistent', of_type),
                            'tde_internal.tde_gin_options(internal)'];
  symbols   CONSTANT text[] := '{NULL,tde_gin_extract_value,tde_gin_extract_query,NULL,NULL,tde_gin_triconsistent}';
BEGIN
  SELECT * INTO base FROM pg_opclass c WHERE c.oid = base_class;
  RETURN concat(
    (SELECT string_agg(tde_internal.tde_function_sql(functions[number], CASE number WHEN 6 THEN '"char"' ELSE 'internal' END, symbols[number],
                                                     'IMMUTABLE', 'GIN support'), '' ORDER BY number) FROM unnest('{2,3,6}'::int[]) number),
    -- what the base class has, by which C finds it
    (SELECT tde_internal.tde_members_sql(family, base.opcintype, base.opcintype, '{}', array_agg((
       SELECT amproc::regprocedure::text FROM pg_amproc
       WHERE amprocfamily = base.opcfamily AND (amproclefttype, amprocrighttype, amprocnum) = (base.opcintype, base.opcintype, number)) ORDER BY number))
     FROM unnest('{1,2,3,4,5,6}'::int[]) number),
    (SELECT string_agg(o.ddl || tde_internal.tde_members_sql(family, o.l, o.r, array_fill(NULL::text, ARRAY[o.strategy - 1]) || o.operator, '{}'), '')
     FROM tde_internal.tde_search_operators(p, base_class) o),
    tde_internal.tde_members_sql(family, of_type, of_type, '{}', functions),
    (SELECT format(E'CREATE OPERATOR CLASS %s.%I%s FOR TYPE %s USING gin FAMILY %s.%2$I AS STORAGE int8;\n', p.schema, name,
                   CASE WHEN base.opcdefault THEN ' DEFAULT' ELSE '' END, of_type, p.schema)
     WHERE NOT EXISTS (SELECT FROM pg_opclass c WHERE c.opcfamily = family AND c.opcintype = of_type)));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_gin_sql(tde_internal.type_plans, oid, regtype, name, oid) IS
  'SQL that makes what a class of GIN lacks that stands for one of a base type';

CREATE FUNCTION tde_internal.tde_make_gin_classes(plans tde_internal.type_plans[], class oid DEFAULT NULL) RETURNS regtype[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
  commands text[] := '{}';
  types    regtype[] := '{}';
  plan     record;
BEGIN
  FOR plan IN SELECT p, g.*, tde_internal.tde_make_family(p.schema, g.name, 'gin') AS family
              FROM unnest(plans) p CROSS JOIN LATERAL tde_internal.tde_gin_plans(p, class) g LOOP
    commands := commands || tde_internal.tde_gin_sql(plan.p, plan.base_class, plan.of_type, plan.name, plan.family);
    types := types || plan.of_type;
  END LOOP;
  PERFORM tde_internal.tde_run_once(commands);
  RETURN types;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_make_gin_classes(tde_internal.type_plans[], oid) IS
  'make what encrypted types lack of classes of GIN: those of PostgreSQL''s own, or of this one; returns the types that have them';

CREATE FUNCTION tde_internal.tde_create_gin_class_of(named text, class oid) RETURNS regtype[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off     -- names are put together to others
AS $create_gin_class$
DECLARE
  base  pg_opclass;
  plans tde_internal.type_plans[];
  types regtype[];
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE EXCEPTION 'must be superuser to make an operator class' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT * INTO base FROM pg_opclass c WHERE c.oid = class;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'operator class "%" does not exist for access method "gin"', named USING ERRCODE = 'undefined_object',
      HINT = 'Create the extension that has it first, for example pg_trgm.';
  END IF;
  IF EXISTS (SELECT FROM pg_amop a JOIN pg_operator o ON o.oid = a.amopopr WHERE a.amopfamily = base.opcfamily AND o.oprname IN ('<', '<=')) THEN
    RAISE EXCEPTION 'operator class "%" cannot be made for encrypted types', base.opcname USING ERRCODE = 'feature_not_supported',
      DETAIL = 'It finds values by ranges of entries, and the entries of an encrypted column have no order.',
      HINT = 'A btree index serves these operators.';
  END IF;
  -- intarray's
  IF EXISTS (SELECT FROM pg_type WHERE oid = base.opcintype AND typsubscript = 'array_subscript_handler'::regproc) THEN
    RAISE EXCEPTION 'operator class "%" cannot be made for encrypted types', base.opcname USING ERRCODE = 'feature_not_supported',
      DETAIL = format('It is for %s alone, by operators that take no other arrays.', base.opcintype::regtype),
      HINT = 'An index without an operator class serves pg_catalog''s &&, @>, <@ and =.';
  END IF;
  -- all that it takes goes where the class is, and is dumped with the database
  plans := ARRAY(SELECT o FROM tde_internal.type_plans o ORDER BY o.enc::oid);
  FOR number IN 1 .. cardinality(plans) LOOP
    plans[number].schema := quote_ident(base.opcnamespace::regnamespace::name);
    plans[number].inner_schema := plans[number].schema;
  END LOOP;
  types := tde_internal.tde_make_gin_classes(plans, class);
  IF types = '{}' THEN
    RAISE EXCEPTION 'there is no encrypted type for operator class "%"', base.opcname USING ERRCODE = 'undefined_object',
      HINT = format('Make one first: SELECT tde_create_type(%L);', base.opcintype::regtype);
  END IF;
  RETURN types;
END
$create_gin_class$;
COMMENT ON FUNCTION tde_internal.tde_create_gin_class_of(text, oid) IS 'make the encrypted versions of an operator class of GIN, of this name';

-- Without settings, since the user's search_path counts.
CREATE FUNCTION @extschema@.tde_create_gin_class(class text) RETURNS regtype[]
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN tde_internal.tde_create_gin_class_of(class, (
  SELECT c.oid FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod JOIN pg_namespace n ON n.oid = c.opcnamespace
  CROSS JOIN LATERAL (SELECT parse_ident(class)) AS named (parts)
  WHERE m.amname = 'gin' AND c.opcname = parts[cardinality(parts)] AND CASE cardinality(parts) WHEN 1 THEN pg_opclass_is_visible(c.oid) ELSE n.nspname = parts[1] END));
COMMENT ON FUNCTION @extschema@.tde_create_gin_class(text) IS
  'make the encrypted versions of an operator class of GIN, such as gin_trgm_ops; returns the types that have it now';

REVOKE ALL ON FUNCTION tde_internal.tde_gin_plans(tde_internal.type_plans, oid),
  tde_internal.tde_search_operators(tde_internal.type_plans, oid), tde_internal.tde_gin_sql(tde_internal.type_plans, oid, regtype, name, oid),
  tde_internal.tde_make_gin_classes(tde_internal.type_plans[], oid),
  tde_internal.tde_create_gin_class_of(text, oid), @extschema@.tde_create_gin_class(text) FROM PUBLIC;
