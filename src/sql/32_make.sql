--
-- Making types, and keeping them up to date
--

CREATE FUNCTION tde_internal.tde_make_family(schema text, name name, method name) RETURNS oid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  query  CONSTANT text := 'SELECT f.oid, f.opfowner FROM pg_opfamily f JOIN pg_am m ON m.oid = f.opfmethod
                           WHERE f.opfname = $1 AND m.amname = $2 AND f.opfnamespace = $3::regnamespace';
  family oid;
  owner  oid;
BEGIN
  EXECUTE query INTO family, owner USING name, method, schema;
  IF name IS NOT NULL AND NOT tde_internal.tde_is_there('pg_opfamily', family, owner, true) THEN
    EXECUTE format('CREATE OPERATOR FAMILY %s.%I USING %I', schema, name, method);
    EXECUTE query INTO family, owner USING name, method, schema;
  END IF;
  RETURN family;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_make_family(text, name, name) IS 'operator family of this name, made if it is missing; NULL without a name';

CREATE FUNCTION tde_internal.tde_join_extension(p tde_internal.type_plans, families oid[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  made_by CONSTANT name := tde_internal.tde_extension_of('pg_type', p.enc);
  member  record;
BEGIN
  IF p.shipped OR made_by IS NULL THEN
    RETURN;
  END IF;
  -- what was left by a type of this name, and is used now
  FOR member IN
    SELECT i.type, i.identity
    FROM (SELECT f.tableoid, f.oid FROM pg_proc f
          WHERE tde_internal.tde_is_of_library(f, f.prosrc) AND f.pronamespace = p.schema::regnamespace
            AND (p.base = ANY (f.proargtypes) OR f.proname = ANY (ARRAY[p.name || '_typmod_out', p.name || '_sortsupport', p.name || '_unordered_sortsupport']))
          UNION ALL SELECT o.tableoid, o.oid FROM pg_operator o JOIN pg_proc f ON f.oid = o.oprcode
          WHERE tde_internal.tde_is_of_library(f, f.prosrc) AND p.base IN (o.oprleft, o.oprright)
          UNION ALL SELECT tableoid, oid FROM pg_cast
          WHERE castsource = (SELECT typarray FROM pg_type WHERE oid = p.base) AND casttarget = 'tde_internal.plain_array'::regtype
          UNION ALL SELECT tableoid, oid FROM pg_opfamily WHERE oid = ANY (families)) AS used (catalog, object)
    CROSS JOIN LATERAL pg_identify_object(catalog, object, 0) i
    WHERE tde_internal.tde_extension_of(catalog, object) IS NULL
  LOOP
    EXECUTE format('ALTER EXTENSION %I ADD %s %s', made_by, member.type, member.identity);
  END LOOP;
  -- So that pg_dump and Citus make the base type first.  pg_upgrade does not keep it.
  INSERT INTO pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
  SELECT x.tableoid, x.oid, 0, 'pg_type'::regclass, p.base, 0, 'n'
  FROM pg_extension x
  WHERE x.extname = made_by AND NOT tde_internal.tde_is_core(p.base) AND tde_internal.tde_extension_of('pg_type', p.base) IS NULL
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = x.tableoid AND d.objid = x.oid
                    AND d.refclassid = 'pg_type'::regclass AND d.refobjid = p.base);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_join_extension(tde_internal.type_plans, oid[]) IS
  'if another extension has made a type, it has all that the type uses, and depends on the base type';

CREATE FUNCTION tde_internal.tde_make_families(p tde_internal.type_plans) RETURNS oid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN ARRAY[
    tde_internal.tde_make_family(p.schema, CASE WHEN p.btree IS NOT NULL THEN p.btree_name END, 'btree'),
    tde_internal.tde_make_family(p.schema, CASE WHEN p.hash IS NOT NULL THEN p.hash_name END, 'hash'),
    -- in which numbers of different sorts meet: as numeric, and with a float among them as float8
    tde_internal.tde_make_family(
      p.schema, CASE WHEN p.number AND p.shipped AND p.base <> ALL ('{float4,float8}'::regtype[]) THEN 'tde_exact_number_ops' END, 'hash'),
    tde_internal.tde_make_family(p.schema, CASE WHEN p.number AND p.shipped THEN 'tde_number_ops' END, 'hash'),
    tde_internal.tde_make_family(p.schema, p.pattern_name, 'btree'),
    tde_internal.tde_make_family(p.schema, p.summary_name, 'brin'),
    tde_internal.tde_make_family(p.schema, p.unordered_name, 'btree')];
END
$$;
COMMENT ON FUNCTION tde_internal.tde_make_families(tde_internal.type_plans) IS
  'operator families of an encrypted type, made if they are missing: btree, hash, hash of exact numbers, of all numbers, btree for LIKE, BRIN, btree without order';

CREATE FUNCTION tde_internal.tde_missing_first(p tde_internal.type_plans, others tde_internal.type_plans[], families oid[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN tde_internal.tde_missing_casts(p, others) || tde_internal.tde_missing_array_casts(p) || tde_internal.tde_missing_arithmetic(p, others)
    || tde_internal.tde_missing_comparisons(p, others, families[1], families[2], families[3], families[4])
    || tde_internal.tde_missing_classes(p, families[1], families[2]) || tde_internal.tde_missing_aggregates(p, others)
    -- VOLATILE, so that it is evaluated above sorts and hash tables, which spill what they hold
    || tde_internal.tde_function_sql(format('%s.tde_result(%s, int4)', p.inner_schema, p.enc), p.base::text, 'tde_result',
                                    'VOLATILE', 'decrypt for a client');
END
$$;
COMMENT ON FUNCTION tde_internal.tde_missing_first(tde_internal.type_plans, tde_internal.type_plans[], oid[]) IS
  'SQL that makes what an encrypted type lacks, alone and beside others';

CREATE FUNCTION tde_internal.tde_missing_then(p tde_internal.type_plans, families oid[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN tde_internal.tde_missing_number_hashes(p, families[3], 'tde_hash_numeric') || tde_internal.tde_missing_number_hashes(p, families[4], 'tde_hash_float8')
    || tde_internal.tde_missing_patterns(p, families[1], families[5]) || tde_internal.tde_missing_summaries(p, families[1], families[6])
    || tde_internal.tde_missing_unordered(p, families[1], families[2], families[7]);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_missing_then(tde_internal.type_plans, oid[]) IS
  'SQL that makes what an encrypted type lacks of operators and functions that there are by now';

CREATE FUNCTION tde_internal.tde_run_once(commands text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  piece text;
BEGIN
  FOR piece IN
    SELECT string_agg(line, E'\n' ORDER BY part, place)
    FROM (SELECT line, min(ARRAY[part, place])
          FROM unnest(commands) WITH ORDINALITY c (command, part), string_to_table(command, E'\n') WITH ORDINALITY l (line, place)
          WHERE line <> '' GROUP BY line) AS lines (line, first)
    CROSS JOIN LATERAL (SELECT first[1], first[2]) f (part, place)
    GROUP BY part ORDER BY part
  LOOP
    EXECUTE piece;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_run_once(text[]) IS 'run commands, one on a line, each of them once: several types want what they share';

CREATE FUNCTION tde_internal.tde_complete_types(types regtype[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
  others   CONSTANT tde_internal.type_plans[] := ARRAY(SELECT o FROM tde_internal.type_plans o ORDER BY enc::oid);
  wanted   CONSTANT tde_internal.type_plans[] := ARRAY(SELECT o FROM unnest(others) o WHERE o.enc = ANY (types));
  families oid[] := '{}';      -- a row for each of them
  commands text[] := '{}';
  p        tde_internal.type_plans;
BEGIN
  -- First all that is to be made, then that is made, in few pieces, since each new operator makes PostgreSQL plan all queries anew.
  FOREACH p IN ARRAY wanted LOOP
    IF (SELECT typsubscript = 0 FROM pg_type WHERE oid = p.enc)
       AND (SELECT typsubscript <> 0 AND typelem = 0 FROM pg_type WHERE oid = p.base) THEN
      EXECUTE format('ALTER TYPE %s SET (SUBSCRIPT = tde_internal.tde_subscript)', p.enc);
    END IF;
    families := families || ARRAY[tde_internal.tde_make_families(p)];
  END LOOP;
  FOR number IN 1 .. cardinality(wanted) LOOP
    p := wanted[number];
    -- what it has in common with one that is still to come, that one's turn makes
    commands := commands || tde_internal.tde_missing_first(
      p, ARRAY(SELECT o FROM unnest(others) o WHERE NOT (o.enc = ANY (types) AND o.enc::oid > p.enc::oid)), ARRAY(SELECT unnest(families[number:number])));
  END LOOP;
  PERFORM tde_internal.tde_run_once(commands);
  commands := '{}';
  FOR number IN 1 .. cardinality(wanted) LOOP
    commands := commands || tde_internal.tde_missing_then(wanted[number], ARRAY(SELECT unnest(families[number:number])));
  END LOOP;
  PERFORM tde_internal.tde_run_once(commands);
  PERFORM tde_internal.tde_make_gin_classes(wanted);
  FOR number IN 1 .. cardinality(wanted) LOOP
    PERFORM tde_internal.tde_join_extension(wanted[number], ARRAY(SELECT unnest(families[number:number])));
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_complete_types(regtype[]) IS 'make what encrypted types lack against the template';

CREATE FUNCTION tde_internal.tde_remove_leftover(function regprocedure) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  body CONSTANT text := '^RETURN tde_internal[.]tde_typmod_in[(][$]1, .*''[-0-9a-f]{36}''::uuid[)]$';
BEGIN
  -- The modifier function of a type is not dropped with it.
  IF tde_internal.tde_is_there('pg_proc', function, (SELECT proowner FROM pg_proc WHERE oid = function),
                               pg_get_function_sqlbody(function) ~ body) THEN
    EXECUTE format('DROP FUNCTION %s', function);
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_remove_leftover(regprocedure) IS
  'drop the modifier function of a type that was dropped; error if it is another function';

CREATE FUNCTION tde_internal.tde_make_type(base regtype, schema text, inner_schema text, type_tag uuid) RETURNS regtype
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning     -- no notices about the shell type
AS $make_type$
DECLARE
  base_row pg_type;
  name     text;           -- of the new type, not quoted
  enc      text;           -- the new type
  other    text;           -- one that has the tag
  io       text;           -- what the names of its functions begin with
  function record;
BEGIN
  SELECT * INTO base_row FROM pg_type WHERE oid = base;
  SELECT format_type(t.type, NULL) INTO other FROM tde.types t WHERE t.base = $1;
  IF other IS NOT NULL THEN
    RAISE EXCEPTION 'type % has an encrypted version already: %', base, other USING ERRCODE = 'duplicate_object';
  END IF;
  -- a value of that type would pass for one of this, and its bytes would be taken for the base type's
  SELECT format_type(t.type, NULL) INTO other FROM tde.types t CROSS JOIN LATERAL tde_internal.tde_type_base(t.type) b
  WHERE b.tag = type_tag;
  IF other IS NOT NULL THEN
    RAISE EXCEPTION 'type tag % is that of type %', type_tag, other USING ERRCODE = 'duplicate_object',
      DETAIL = 'Values are told by it from those of other types.', HINT = 'Leave the tag out: a new one is made.';
  END IF;
  name := 'encrypted_' || base_row.typname;
  enc := format('%s.%I', schema, name);
  IF octet_length(name || '_unordered_sortsupport') > 63 THEN
    RAISE EXCEPTION 'the name of type % is too long for an encrypted version', base USING ERRCODE = 'name_too_long';
  ELSIF to_regtype(enc) IS NOT NULL THEN
    RAISE EXCEPTION 'type % already exists', enc USING ERRCODE = 'duplicate_object';
  END IF;
  PERFORM tde_internal.tde_remove_leftover(to_regprocedure(format('%s.%I(cstring[])', inner_schema, name || '_typmod_in')));
  io := format('%s."%s', inner_schema, replace(name, '"', '""'));
  -- By this one the base type and the tag are known.
  EXECUTE format('CREATE FUNCTION %s_typmod_in"(cstring[]) RETURNS int4 LANGUAGE sql STABLE STRICT PARALLEL SAFE '
                 'RETURN tde_internal.tde_typmod_in($1, %L::regtype, %L::uuid)', io, base, type_tag);
  -- of a type that was dropped this one may be left
  EXECUTE format('COMMENT ON FUNCTION %s_typmod_in"(cstring[]) IS ''I/O typmod'';', io)
    || tde_internal.tde_function_sql(format('%s_typmod_out"(int4)', io), 'cstring', 'tde_typmod_out', 'STABLE', 'I/O typmod');
  EXECUTE format('CREATE TYPE %s', enc);
  FOR function IN SELECT * FROM (VALUES
      ('in',   'cstring, oid, int4',  enc),
      ('out',  enc,                   'cstring'),
      ('recv', 'internal, oid, int4', enc),
      ('send', enc,                   'bytea')
    ) AS functions (suffix, args, result)
  LOOP
    EXECUTE format('CREATE FUNCTION %1$s_%2$s"(%3$s) RETURNS %4$s AS ''MODULE_PATHNAME'', %5$L LANGUAGE C STABLE STRICT PARALLEL SAFE;'
                   'COMMENT ON FUNCTION %1$s_%2$s"(%3$s) IS ''I/O''',
                   io, function.suffix, function.args, function.result, 'tde_' || function.suffix);
  END LOOP;
  EXECUTE format('CREATE TYPE %s (INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external, CATEGORY = %L, COLLATABLE = %s, '
                 'INPUT = %4$s_in", OUTPUT = %4$s_out", RECEIVE = %4$s_recv", SEND = %4$s_send", '
                 'TYPMOD_IN = %4$s_typmod_in", TYPMOD_OUT = %4$s_typmod_out", ANALYZE = tde_internal.tde_typanalyze)',
                 enc, base_row.typcategory, (base_row.typcollation <> 0)::text, io);
  EXECUTE format('COMMENT ON TYPE %s IS %L', enc, 'encrypted ' || base);
  -- IMPLICIT, so that every function of the base type takes an encrypted value
  EXECUTE tde_internal.tde_cast_sql(schema, inner_schema, enc::regtype, base, 'tde_decrypt', 'AS IMPLICIT', 'decrypt');
  RETURN enc::regtype;
END
$make_type$;
COMMENT ON FUNCTION tde_internal.tde_make_type(regtype, text, text, uuid) IS
  'make the encrypted version of a base type, which is to be completed: the type in a schema, what is reached by OID in an inner schema';

CREATE FUNCTION tde_internal.tde_is_system_schema(schema regnamespace) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN schema = ANY ('{pg_catalog,information_schema,tde,tde_internal}'::regnamespace[]);
COMMENT ON FUNCTION tde_internal.tde_is_system_schema(regnamespace) IS
  'tell whether a schema is one whose objects pg_dump takes for those of PostgreSQL or of an extension';

CREATE FUNCTION tde_internal.tde_create_type_in(base regtype, schema regnamespace, path_schema name, type_tag uuid) RETURNS regtype
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off     -- names are put together to others
AS $create_type$
DECLARE
  base_row pg_type;
  type     regtype;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE EXCEPTION 'must be superuser to make an encrypted type'
      USING ERRCODE = 'insufficient_privilege', DETAIL = 'It is a base type with functions in C.';
  ELSIF base IS NULL OR type_tag IS NULL THEN
    RAISE EXCEPTION 'base type and type tag must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  SELECT * INTO base_row FROM pg_type WHERE oid = base;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'type with OID % does not exist', base::oid USING ERRCODE = 'undefined_object';
  ELSIF base = 'oid'::regtype THEN
    RAISE EXCEPTION 'cannot make an encrypted type of %', base
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'vacuumlo removes the large objects that no column of type oid or lo refers to.',
            HINT = 'Encrypt what the large objects hold, as bytea; for other numbers take bigint.';
  ELSIF base_row.typtype NOT IN ('b', 'e') OR base_row.typlen = -2 OR base_row.typelem <> 0 AND base_row.typlen = -1
     OR EXISTS (SELECT FROM tde.types t WHERE t.type = $1) THEN
    RAISE EXCEPTION 'cannot make an encrypted type of %', base
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'Only base types and enums can be encrypted, not domains, arrays, composites, ranges, pseudo-types and '
                     'encrypted types.',
            HINT = 'Make the encrypted version of the element, field or base type; arrays, composites and domains can be made '
                   'of that.';
  END IF;
  schema := coalesce(schema, (SELECT typnamespace FROM pg_type WHERE oid = base AND NOT tde_internal.tde_is_system_schema(typnamespace)),
                     to_regnamespace(quote_ident(path_schema)));
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create the type in'
      USING ERRCODE = 'invalid_schema_name', HINT = 'Name one: tde_create_type(''type'', ''schema'').';
  ELSIF tde_internal.tde_is_system_schema(schema) THEN
    RAISE EXCEPTION 'cannot make an encrypted type in schema %', schema USING ERRCODE = 'feature_not_supported',
      DETAIL = 'pg_dump dumps nothing of a user''s that is there.', HINT = 'Name another one: tde_create_type(''type'', ''schema'').';
  END IF;
  type := tde_internal.tde_make_type(base, schema::text, schema::text, type_tag);
  PERFORM tde_internal.tde_complete_types(ARRAY[type]);
  RETURN type;
END
$create_type$;
COMMENT ON FUNCTION tde_internal.tde_create_type_in(regtype, regnamespace, name, uuid) IS
  'make the encrypted version of a base type; schema: if NULL, where the base type is, if that is a user''s, and else path_schema';

-- Without settings, since the user's search_path counts.
CREATE FUNCTION @extschema@.tde_create_type(base regtype, schema regnamespace DEFAULT NULL, type_tag uuid DEFAULT gen_random_uuid()) RETURNS regtype
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN tde_internal.tde_create_type_in(base, schema, current_schema(), type_tag);
COMMENT ON FUNCTION @extschema@.tde_create_type(regtype, regnamespace, uuid) IS
  'make the encrypted version of a base type; the tag names the type in key derivation and must stay the same for ever';

CREATE FUNCTION tde_internal.tde_template_objects() RETURNS TABLE (catalog oid, object oid, state text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT catalog, object, row_id || coalesce(description, '')
  FROM (SELECT tableoid, oid, ctid FROM pg_proc UNION ALL SELECT tableoid, oid, ctid FROM pg_operator
        UNION ALL SELECT tableoid, oid, ctid FROM pg_cast UNION ALL SELECT tableoid, oid, ctid FROM pg_opfamily
        UNION ALL SELECT tableoid, oid, ctid FROM pg_opclass) AS objects (catalog, object, row_id)
  LEFT JOIN pg_description d ON d.classoid = catalog AND d.objoid = object AND d.objsubid = 0
$$;
COMMENT ON FUNCTION tde_internal.tde_template_objects() IS
  'all objects of the sorts that the template makes; state: another one after each change';

CREATE FUNCTION @extschema@.tde_refresh_types() RETURNS int4
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off     -- names are put together to others
SET jit = off
AS $refresh_types$
DECLARE
  owner   record;
  before  text[];
  change  record;
  changes int4 := 0;
BEGIN
  -- What completes the extension's types belongs to it, what completes a user's type to the user, so that pg_dump dumps it, or to the
  -- extension that made the type, whether this is called by an update of the extension or by hand.
  FOR owner IN
    SELECT x.extension, array_agg(t.type) AS types
    FROM tde.types t CROSS JOIN LATERAL tde_internal.tde_extension_of('pg_type', t.type) x (extension)
    GROUP BY x.extension ORDER BY x.extension = 'tde_column' DESC NULLS LAST, x.extension
  LOOP
    before := ARRAY(SELECT format('%s %s %s', catalog, object, state) FROM tde_internal.tde_template_objects());
    PERFORM tde_internal.tde_complete_types(owner.types);
    FOR change IN
      SELECT i.type, i.identity, catalog || ' ' || object || ' ' NOT IN (SELECT substring(b FROM '^[0-9]+ [0-9]+ ') FROM unnest(before) b) AS is_new,
             tde_internal.tde_extension_of(catalog, object) AS extension
      FROM tde_internal.tde_template_objects() CROSS JOIN LATERAL pg_identify_object(catalog, object, 0) i
      WHERE format('%s %s %s', catalog, object, state) NOT IN (SELECT unnest(before))
    LOOP
      changes := changes + 1;
      IF change.is_new AND change.extension IS DISTINCT FROM owner.extension THEN
        IF change.extension IS NOT NULL THEN
          EXECUTE format('ALTER EXTENSION %I DROP %s %s', change.extension, change.type, change.identity);
        END IF;
        IF owner.extension IS NOT NULL THEN
          EXECUTE format('ALTER EXTENSION %I ADD %s %s', owner.extension, change.type, change.identity);
        END IF;
      END IF;
    END LOOP;
  END LOOP;
  RETURN changes;
END
$refresh_types$;
COMMENT ON FUNCTION @extschema@.tde_refresh_types() IS
  'complete encrypted types that an older version made; returns how many functions, casts, operators and classes it made or altered';

REVOKE ALL ON FUNCTION tde_internal.tde_make_family(text, name, name), tde_internal.tde_join_extension(tde_internal.type_plans, oid[]),
  tde_internal.tde_make_families(tde_internal.type_plans), tde_internal.tde_missing_first(tde_internal.type_plans, tde_internal.type_plans[], oid[]),
  tde_internal.tde_missing_then(tde_internal.type_plans, oid[]), tde_internal.tde_run_once(text[]),
  tde_internal.tde_complete_types(regtype[]), tde_internal.tde_make_type(regtype, text, text, uuid), tde_internal.tde_remove_leftover(regprocedure),
  tde_internal.tde_is_system_schema(regnamespace), tde_internal.tde_create_type_in(regtype, regnamespace, name, uuid),
  @extschema@.tde_create_type(regtype, regnamespace, uuid), tde_internal.tde_template_objects(), @extschema@.tde_refresh_types()
  FROM PUBLIC;
