--
-- Making types, and keeping them up to date
--

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
  pattern oid;
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
  pattern := @extschema@.tde_make_family(p.schema, p.pattern_name, 'btree');
  EXECUTE @extschema@.tde_missing_casts(p) || @extschema@.tde_missing_arithmetic(p)
    || @extschema@.tde_missing_comparisons(p, btree, hash, exact, inexact) || @extschema@.tde_missing_classes(p, btree, hash)
    || @extschema@.tde_missing_aggregates(p)
    -- VOLATILE, so that it is evaluated above sorts and hash tables, which spill what they hold
    || @extschema@.tde_function_sql(format('%s.tde_result(%s, int4)', p.schema, p.enc), p.base::text, 'tde_result',
                                    'VOLATILE', 'decrypt for a client');
  -- of functions and operators that there are now
  EXECUTE @extschema@.tde_missing_number_hashes(p, exact, 'tde_hash_numeric');
  EXECUTE @extschema@.tde_missing_number_hashes(p, inexact, 'tde_hash_float8');
  EXECUTE @extschema@.tde_missing_patterns(p, btree, pattern);
END
$$;
COMMENT ON FUNCTION tde_complete_type(regtype) IS 'make what an encrypted type lacks against the template';

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

REVOKE ALL ON FUNCTION tde_make_family(text, name, name), tde_complete_type(regtype), tde_create_type(regtype, regnamespace, uuid),
  tde_template_objects(), tde_refresh_types() FROM PUBLIC;
