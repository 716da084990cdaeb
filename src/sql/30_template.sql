--
-- Encrypted types
--

CREATE FUNCTION tde_internal.tde_type_base(type oid, OUT base regtype, OUT tag uuid)
  AS 'MODULE_PATHNAME', 'tde_type_base_and_tag' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_type_base(oid) IS 'base type and tag of an encrypted type; NULL for another type';

CREATE VIEW tde.types AS
  SELECT t.oid::pg_catalog.regtype AS type, b.base,
         EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid OPERATOR(pg_catalog.=) d.refobjid
                 WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
                   AND d.objid OPERATOR(pg_catalog.=) t.oid
                   AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
                   AND d.deptype OPERATOR(pg_catalog.=) 'e' AND x.extname OPERATOR(pg_catalog.=) 'tde_column') AS shipped
  FROM pg_catalog.pg_type t CROSS JOIN LATERAL tde_internal.tde_type_base(t.oid) b
  -- few others have modifiers, so that few are asked about
  WHERE t.typtype OPERATOR(pg_catalog.=) 'b' AND t.typmodin OPERATOR(pg_catalog.<>) 0::pg_catalog.oid AND b.base IS NOT NULL;
GRANT SELECT ON tde.types TO PUBLIC;
COMMENT ON VIEW tde.types IS 'encrypted types, their base types, and whether they are the extension''s or a user''s';

CREATE FUNCTION tde_internal.tde_typmod_in(words cstring[], base regtype, type_tag uuid) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_typmod_in(cstring[], regtype, uuid) IS 'modifiers of an encrypted type as its typmod';

CREATE FUNCTION tde_internal.tde_subscript(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_subscript(internal) IS 'subscripts of encrypted values';

CREATE FUNCTION tde_internal.tde_encrypt_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_encrypt_support(internal) IS 'planner support for casts that encrypt';
REVOKE ALL ON FUNCTION tde_internal.tde_encrypt_support(internal) FROM PUBLIC;

CREATE FUNCTION tde_internal.tde_decrypt_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_decrypt_support(internal) IS 'planner support for casts that decrypt';
REVOKE ALL ON FUNCTION tde_internal.tde_decrypt_support(internal) FROM PUBLIC;

CREATE FUNCTION tde_internal.tde_plain_index_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_plain_index_support(internal) IS 'planner support for comparisons of plain values with encrypted ones';
REVOKE ALL ON FUNCTION tde_internal.tde_plain_index_support(internal) FROM PUBLIC;

CREATE FUNCTION tde_internal.tde_coerce_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_coerce_support(internal) IS 'planner support for length coercions';
REVOKE ALL ON FUNCTION tde_internal.tde_coerce_support(internal) FROM PUBLIC;

CREATE FUNCTION tde_internal.tde_base_family(base regtype, method name) RETURNS TABLE (family oid, name name, operand regtype)
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
COMMENT ON FUNCTION tde_internal.tde_base_family(regtype, name) IS
  'default operator family of a base type, and the type that it compares it as';

-- The extension's types share operator families where the base types do, so that members combine as there.  A user's type has
-- families of its own: pg_dump would not dump members of the extension's.
CREATE VIEW tde_internal.type_plans AS
  SELECT t.type AS enc, t.base, made.name, quote_ident(n.nspname) AS schema, t.shipped,
         -- what is reached by OID
         CASE WHEN t.shipped THEN 'tde_internal' ELSE quote_ident(n.nspname) END AS inner_schema,
         t.base = ANY ('{int2,int4,int8,numeric,float4,float8}'::regtype[]) AS number, o.operand,
         -- what its families compare with each other
         CASE WHEN o.operand IS NOT NULL
           THEN ARRAY(SELECT DISTINCT m FROM unnest(ARRAY[t.type, o.operand, tde_internal.tde_beside(t.base, o.operand, '='), t.base]) m) END AS members,
         b.family AS btree, (CASE WHEN t.shipped THEN 'tde_' || b.name ELSE made.name || '_ops' END)::name AS btree_name,
         h.family AS hash, (CASE WHEN t.shipped THEN 'tde_' || h.name ELSE made.name || '_ops' END)::name AS hash_name,
         ('tde_' || r.opfname)::name AS pattern_name, ('tde_' || s.opfname)::name AS summary_name,
         -- what hashes alike: date and timestamp, which are ordered together, do not.  The name is behind the ordinary family's, whose merge joins are
         -- planned as before: PostgreSQL takes the first of them, and pg_upgrade makes them in the order of names.
         CASE WHEN b.operand = h.operand
           THEN (CASE WHEN t.shipped THEN 'tde_' || regexp_replace(h.name, '_ops$', '') ELSE made.name END || '_unordered_ops')::name END AS unordered_name
  FROM tde.types t JOIN pg_type y ON y.oid = t.type
  -- A type may have been renamed or moved since; what was made with it was not.
  JOIN pg_proc m ON m.oid = y.typmodin
  JOIN pg_namespace n ON n.oid = CASE WHEN t.shipped THEN y.typnamespace ELSE m.pronamespace END
  CROSS JOIN LATERAL (SELECT left(m.proname, -length('_typmod_in'))::name) AS made (name)
  LEFT JOIN LATERAL tde_internal.tde_base_family(t.base, 'btree') b ON true
  LEFT JOIN LATERAL tde_internal.tde_base_family(t.base, 'hash') h ON true
  CROSS JOIN LATERAL (SELECT coalesce(b.operand, h.operand)) o (operand)
  -- of strings: in the order of their bytes, for LIKE in all collations
  LEFT JOIN pg_opfamily r ON t.shipped AND r.opfname = (SELECT typname || '_pattern_ops' FROM pg_type WHERE oid = o.operand)
    AND tde_internal.tde_is_core(r.oid) AND r.opfmethod = (SELECT oid FROM pg_am WHERE amname = 'btree')
  -- the least and the largest of many, for BRIN
  LEFT JOIN LATERAL (SELECT f.opfname FROM pg_opclass c JOIN pg_opfamily f ON f.oid = c.opcfamily
                     WHERE t.shipped AND b.family IS NOT NULL AND c.opcintype = o.operand AND tde_internal.tde_is_core(c.oid)
                       AND right(f.opfname::text, 11) = '_minmax_ops' AND f.opfmethod = (SELECT oid FROM pg_am WHERE amname = 'brin')) s ON true;
COMMENT ON VIEW tde_internal.type_plans IS
  'what the template makes for a type: in which schema, and after which operator families of the base type (NULL: it has none)';

CREATE FUNCTION tde_internal.tde_extension_of(class regclass, object oid) RETURNS name
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (SELECT x.extname FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
          WHERE d.classid = class AND d.objid = object AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e');
END
$$;
COMMENT ON FUNCTION tde_internal.tde_extension_of(regclass, oid) IS 'the extension that an object is a member of; NULL: of none';

--
-- The template says in SQL what a type lacks, thing by thing, and what is other than it should be, so that an update can complete the
-- types that an older version made.
-- It is executed in few pieces (tde_complete_types() in 32_make.sql), since each new operator makes PostgreSQL plan all queries anew.
--

-- What is there already counts only if it is ours: a member of the extension or, for a user's type, of a superuser's making, since
-- nobody else can call tde_create_type(), by hand or in the script of an extension.  Anything else of this name is somebody's who wants
-- it called, and is told.
CREATE FUNCTION tde_internal.tde_is_there(class regclass, object oid, owner oid, as_made boolean) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  of_extension CONSTANT name := tde_internal.tde_extension_of(class, object);
BEGIN
  IF object IS NULL THEN
    RETURN false;
  ELSIF as_made AND (of_extension = 'tde_column' OR (SELECT rolsuper FROM pg_roles WHERE oid = owner)) THEN
    RETURN true;
  END IF;
  RAISE EXCEPTION '% already exists', pg_describe_object(class, object, 0) USING ERRCODE = 'duplicate_object',
    DETAIL = format('It belongs to role "%s"%s, and is none that an encrypted type can use.', pg_get_userbyid(owner),
                    coalesce(' and extension "' || of_extension || '"', '')),
    HINT = (SELECT format('Drop it, or give it another name: DROP %s %s;', upper(i.type), i.identity) FROM pg_identify_object(class, object, 0) i);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_is_there(regclass, oid, oid, boolean) IS
  'tell whether an object of the template exists; error if it differs or is somebody else''s; object: NULL if there is none';

CREATE FUNCTION tde_internal.tde_is_of_library(function pg_proc, symbol text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN function.prosrc = symbol AND function.prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')
    AND function.probin = (SELECT probin FROM pg_proc WHERE oid = 'tde_internal.tde_typanalyze(internal)'::regprocedure);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_is_of_library(pg_proc, text) IS 'tell whether a function is the one of this library that has this C symbol';

CREATE FUNCTION tde_internal.tde_has_function(signature text, symbol text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  function regprocedure := to_regprocedure(signature);
  f        pg_proc;
BEGIN
  IF function IS NULL THEN
    RETURN false;
  END IF;
  SELECT * INTO f FROM pg_proc WHERE oid = function;
  RETURN tde_internal.tde_is_there('pg_proc', f.oid, f.proowner, tde_internal.tde_is_of_library(f, symbol));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_has_function(text, text) IS
  'tell whether a function of this library exists, by its signature with schema and its C symbol; error if something else is there';

CREATE FUNCTION tde_internal.tde_function_sql(signature text, result text, symbol text, volatility text, comment text,
                                              support text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF tde_internal.tde_has_function(signature, symbol) THEN
    RETURN tde_internal.tde_alter_function_sql(signature::regprocedure, volatility, comment, support);
  END IF;
  RETURN format(E'CREATE FUNCTION %7$s RETURNS %2$s AS ''MODULE_PATHNAME'', %3$L LANGUAGE C %4$s%8$s PARALLEL SAFE%5$s;\n'
                'COMMENT ON FUNCTION %1$s IS %6$L;\n', signature, result, symbol, volatility, ' SUPPORT ' || support, comment,
                tde_internal.tde_with_defaults(signature), CASE WHEN volatility LIKE '% ON NULL INPUT' THEN '' ELSE ' STRICT' END);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_function_sql(text, text, text, text, text, text) IS
  'SQL that makes a function, if it is missing, or alters it; support: its planner support function, with schema';

CREATE FUNCTION tde_internal.tde_cast_function(source regtype, target regtype, symbol text) RETURNS regprocedure
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (SELECT p.oid FROM pg_cast c JOIN pg_proc p ON p.oid = c.castfunc
          WHERE castsource = source AND casttarget = target AND tde_internal.tde_is_of_library(p, symbol));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_cast_function(regtype, regtype, text) IS
  'the function of a cast, whatever its name, if it is of this library and has this C symbol; NULL: there is none';

CREATE FUNCTION tde_internal.tde_has_cast(source regtype, target regtype, function text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  c pg_cast;
BEGIN
  SELECT * INTO c FROM pg_cast WHERE castsource = source AND casttarget = target;
  RETURN c.oid IS NOT NULL AND tde_internal.tde_is_there('pg_cast', c.oid, (SELECT proowner FROM pg_proc WHERE oid = c.castfunc),
                                                         c.castfunc = to_regprocedure(function));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_has_cast(regtype, regtype, text) IS
  'tell whether a cast by this function exists; error if there is another one';

CREATE FUNCTION tde_internal.tde_cast_sql(schema text, inner_schema text, source regtype, target regtype, symbol text, context text,
                                          comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- All are STABLE: IMMUTABLE ones would be folded, and one salt shared by many rows; VOLATILE ones would keep conditions out of
  -- indexes.  Those that encrypt know the column's modifiers.
  SELECT coalesce((
    SELECT tde_internal.tde_function_sql(signature, target::text, symbol, 'STABLE', comment,
                                         CASE symbol WHEN 'tde_encrypt' THEN 'tde_internal.tde_encrypt_support'
                                                     WHEN 'tde_decrypt' THEN 'tde_internal.tde_decrypt_support'
                                                     WHEN 'tde_coerce' THEN 'tde_internal.tde_coerce_support' END)
           || CASE WHEN tde_internal.tde_has_cast(source, target, signature) THEN tde_internal.tde_alter_cast_sql(source, target, context)
                ELSE format(E'CREATE CAST (%s AS %s) WITH FUNCTION %s %s;\n', source, target, signature, context) END
    -- named after the type, as PostgreSQL's, but for one that oid(int2) could mean
    FROM (SELECT coalesce(tde_internal.tde_cast_function(source, target, symbol)::text,
                          format('%s.%I(%s%s)', inner_schema, CASE target WHEN 'oid'::regtype THEN 'tde_oid' ELSE typname END, source,
                          -- an integer does not become a bit string of its own length, to be made longer or shorter, but has the wanted one
                          CASE WHEN symbol NOT LIKE 'tde_decrypt%' THEN ', int4, boolean' WHEN target = 'bit'::regtype THEN ', int4' ELSE '' END))
          -- once, and not where it is used
          FROM pg_type WHERE oid = target OFFSET 0) AS t (signature)), '')
  -- int4(a), as a function that users write: where int4($1) is ambiguous without it, too
  || coalesce((
    SELECT tde_internal.tde_function_sql(format('%s.%I(%s)', schema, typname, source), target::text, symbol, 'STABLE', comment)
    FROM pg_type WHERE oid = target AND schema <> inner_schema AND symbol IN ('tde_decrypt', 'tde_decrypt_to')
      AND (SELECT count(*) FROM pg_proc WHERE proname = typname AND tde_internal.tde_is_core(oid) AND pronargs = 1) > 1), '');
END;
COMMENT ON FUNCTION tde_internal.tde_cast_sql(text, text, regtype, regtype, text, text, text) IS 'SQL that makes a cast, if it is missing, or alters it';

CREATE FUNCTION tde_internal.tde_operator_name(p tde_internal.type_plans, symbol text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- Those that begin with % are members of operator families alone, for no expression to find: %> of texts is pg_trgm's.
RETURN CASE WHEN symbol LIKE E'\\%_%' THEN p.inner_schema ELSE p.schema END || '.' || symbol;
COMMENT ON FUNCTION tde_internal.tde_operator_name(tde_internal.type_plans, text) IS 'an operator''s name, with its schema';

CREATE FUNCTION tde_internal.tde_has_operator(signature text, function text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  operator regoperator := to_regoperator(signature);
  o        pg_operator;
BEGIN
  IF operator IS NULL THEN
    RETURN false;
  END IF;
  SELECT * INTO o FROM pg_operator WHERE oid = operator;
  -- one that was named as commutator or negator before it is made is there already, without a function
  RETURN tde_internal.tde_is_there('pg_operator', o.oid, o.oprowner, o.oprcode = 0 OR o.oprcode = to_regprocedure(function)) AND o.oprcode <> 0;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_has_operator(text, text) IS
  'tell whether an operator with this function exists; error if there is another one';

CREATE FUNCTION tde_internal.tde_operator_sql(p tde_internal.type_plans, symbol text, l regtype, r regtype, result text, function text,
                                              volatility text, commutator text DEFAULT NULL, negator text DEFAULT NULL,
                                              selectivity text DEFAULT NULL, merges boolean DEFAULT false,
                                              hashes boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  is_ours   boolean := function NOT LIKE '%.%';     -- one with a schema is PostgreSQL's
  name      text := CASE WHEN is_ours THEN p.inner_schema || '.' || function ELSE function END;
  signature text := format('%s(%s, %s)', name, l, r);
  operator  text := tde_internal.tde_operator_name(p, symbol);
  operands  text := format('(%s, %s)', l, r);
  ddl       text := '';
BEGIN
  IF is_ours THEN
    ddl := tde_internal.tde_function_sql(
      signature, result, function, volatility,
      format('implementation of %s operator', CASE WHEN symbol = '%' THEN symbol ELSE ltrim(symbol, '%#') END),
      -- of what a btree index has, where one side may be plain
      CASE WHEN l <> r AND ltrim(symbol, '%#') IN ('=', '<', '<=', '>', '>=')
        THEN 'tde_internal.tde_plain_index_support' END);
  END IF;
  IF tde_internal.tde_has_operator(operator || operands, signature) THEN
    ddl := ddl || tde_internal.tde_alter_operator_sql((operator || operands)::regoperator, commutator, negator, selectivity, merges, hashes);
  ELSE
    ddl := ddl || format(E'CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s%s%s%s%s%s);\n', operator, l, r, name,
                         ', COMMUTATOR = OPERATOR(' || commutator || ')', ', NEGATOR = OPERATOR(' || negator || ')',
                         ', RESTRICT = ' || selectivity || 'sel, JOIN = ' || selectivity || 'joinsel',
                         CASE WHEN merges THEN ', MERGES' END, CASE WHEN hashes THEN ', HASHES' END);
  END IF;
  RETURN ddl;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text, text, text, boolean, boolean) IS
  'SQL that makes an operator, if it is missing, or alters it; selectivity: what the names of its estimators begin with';

-- What row level security lets a comparison see, it lets that of the encrypted types see, too: src/type/access.h says why it may.
CREATE FUNCTION tde_internal.tde_leakproof(symbol text, l regtype, r regtype) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  l_base CONSTANT regtype := tde_internal.tde_catalog_type(l);
  r_base CONSTANT regtype := tde_internal.tde_catalog_type(r);
  -- varchar is compared as text, beside a char(n) as one
  l_as   CONSTANT regtype := CASE WHEN l_base <> 'varchar'::regtype THEN l_base WHEN r_base = 'bpchar'::regtype THEN r_base ELSE 'text'::regtype END;
  r_as   CONSTANT regtype := CASE WHEN r_base <> 'varchar'::regtype THEN r_base WHEN l_base = 'bpchar'::regtype THEN l_base ELSE 'text'::regtype END;
BEGIN
  RETURN CASE WHEN EXISTS (SELECT FROM pg_operator o JOIN pg_proc f ON f.oid = o.oprcode
                           WHERE o.oprname = symbol AND o.oprleft = l_as AND o.oprright = r_as AND f.proleakproof)
    THEN ' LEAKPROOF' ELSE '' END;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_leakproof(text, regtype, regtype) IS
  'what CREATE FUNCTION adds of a comparison whose like of the base types is leakproof; empty if it is not';

CREATE FUNCTION tde_internal.tde_plain_comparison(symbol text, l regtype, r regtype) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT tde_internal.tde_is_core(greatest(l::oid, r::oid)) THEN
    RETURN NULL;
  END IF;
  RETURN (SELECT format('pg_catalog.%I', p.proname) FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
          WHERE o.oprname = symbol AND tde_internal.tde_is_core(o.oid) AND o.oprleft = l AND o.oprright = r
            AND o.oprresult = 'bool'::regtype AND tde_internal.tde_is_core(p.oid)
            AND (p.proargtypes[0], p.proargtypes[1]) = (l, r));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_plain_comparison(text, regtype, regtype) IS
  'PostgreSQL''s function that compares two plain types, which operators of ours can have, too; NULL: it has none';

CREATE FUNCTION tde_internal.tde_members_sql(family oid, l regtype, r regtype, operators text[], functions text[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  missing text[] := '{}';
BEGIN
  -- an element's place is its strategy or support number
  FOR number IN 1 .. cardinality(operators) LOOP
    IF operators[number] IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_amop WHERE amopfamily = family AND amoplefttype = l AND amoprighttype = r AND amopstrategy = number) THEN
      missing := missing || format('OPERATOR %s %s (%s, %s)', number, operators[number], l, r);
    END IF;
  END LOOP;
  FOR number IN 1 .. cardinality(functions) LOOP
    IF functions[number] IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_amproc WHERE amprocfamily = family AND amproclefttype = l AND amprocrighttype = r AND amprocnum = number) THEN
      missing := missing || format('FUNCTION %s (%s, %s) %s', number, l, r, functions[number]);
    END IF;
  END LOOP;
  IF missing = '{}' THEN
    RETURN '';
  END IF;
  RETURN (SELECT format(E'ALTER OPERATOR FAMILY %I.%I USING %I ADD %s;\n', n.nspname, f.opfname, m.amname, array_to_string(missing, ', '))
          FROM pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace JOIN pg_am m ON m.oid = f.opfmethod WHERE f.oid = family);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_members_sql(oid, regtype, regtype, text[], text[]) IS
  'SQL that adds operators and functions to a family that lacks them';

CREATE FUNCTION tde_internal.tde_class_sql(schema text, type regtype, family oid, suffix text DEFAULT '_ops') RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- its members are the family's; something must stand there, and what does says nothing
  RETURN coalesce((
    SELECT format(E'CREATE OPERATOR CLASS %s.%I%s FOR TYPE %s USING %I FAMILY %I.%I AS STORAGE %4$s;\n', schema, name,
                  CASE WHEN suffix IN ('_pattern_ops', '_unordered_ops') THEN '' ELSE ' DEFAULT' END, type, m.amname, n.nspname, f.opfname)
    FROM (SELECT (typname || suffix)::name FROM pg_type WHERE oid = type) AS t (name)
    CROSS JOIN pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace JOIN pg_am m ON m.oid = f.opfmethod
    WHERE f.oid = family AND NOT EXISTS (
      SELECT FROM pg_opclass c WHERE c.opcmethod = f.opfmethod AND c.opcintype = type AND c.opcfamily = f.oid)), '');
END
$$;
COMMENT ON FUNCTION tde_internal.tde_class_sql(text, regtype, oid, text) IS
  'SQL that makes an operator class, if it is missing; the default one but for patterns, and for columns without order';

CREATE FUNCTION tde_internal.tde_has_aggregate(signature text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce((SELECT tde_internal.tde_is_there('pg_proc', oid, proowner, prokind = 'a') FROM pg_proc
                 WHERE oid = to_regprocedure(replace(signature, ' ORDER BY', ','))), false);
COMMENT ON FUNCTION tde_internal.tde_has_aggregate(text) IS 'tell whether an aggregate exists; error if it is somebody else''s';

CREATE FUNCTION tde_internal.tde_aggregate_sql(signature text, options text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
-- one whose states go from process to process, or no longer do, is replaced
RETURN CASE WHEN tde_internal.tde_has_aggregate(signature)
    AND (SELECT aggcombinefn <> 0 FROM pg_aggregate WHERE aggfnoid = to_regprocedure(replace(signature, ' ORDER BY', ',')))
      = (options LIKE '%, COMBINEFUNC = %') THEN '' ELSE
  format(E'CREATE OR REPLACE AGGREGATE %1$s (%2$s, PARALLEL = SAFE);\nCOMMENT ON AGGREGATE %1$s IS %3$L;\n', signature, options, comment) END;
COMMENT ON FUNCTION tde_internal.tde_aggregate_sql(text, text, text) IS 'SQL that makes an aggregate, if it is missing or other than that';
REVOKE ALL ON FUNCTION tde_internal.tde_base_family(regtype, name), tde_internal.tde_extension_of(regclass, oid), tde_internal.tde_is_there(regclass, oid, oid, boolean),
  tde_internal.tde_is_of_library(pg_proc, text), tde_internal.tde_has_function(text, text), tde_internal.tde_function_sql(text, text, text, text, text, text),
  tde_internal.tde_cast_function(regtype, regtype, text), tde_internal.tde_has_cast(regtype, regtype, text),
  tde_internal.tde_cast_sql(text, text, regtype, regtype, text, text, text),
  tde_internal.tde_operator_name(tde_internal.type_plans, text), tde_internal.tde_has_operator(text, text),
  tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text, text, text, boolean, boolean),
  tde_internal.tde_plain_comparison(text, regtype, regtype), tde_internal.tde_leakproof(text, regtype, regtype), tde_internal.tde_members_sql(oid, regtype, regtype, text[], text[]),
  tde_internal.tde_class_sql(text, regtype, oid, text), tde_internal.tde_has_aggregate(text),
  tde_internal.tde_aggregate_sql(text, text, text) FROM PUBLIC;
