--
-- What a user calls
--

CREATE FUNCTION tde_internal.tde_all_convertible(relation regclass, encrypting boolean, online boolean) RETURNS name[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  a        pg_attribute;
  names    name[] := '{}';
  others   text[] := '{}';
  has_type boolean;
  detail   text;
  hint     text;
BEGIN
  -- online, one that is being copied goes on; one that is being erased is an error, as all are offline
  FOR a IN SELECT * FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND attinhcount = 0 ORDER BY attnum LOOP
    PERFORM tde_internal.tde_convertible_column(relation, a.attname);
    CONTINUE WHEN encrypting = EXISTS (SELECT FROM tde_internal.tde_type_spec(a.atttypid, a.atttypmod) WHERE base_type IS NOT NULL)
      OR online AND EXISTS (SELECT FROM tde.conversions v WHERE (v.relation, v.helper_column) = (a.attrelid, a.attname));
    has_type := false;
    BEGIN
      IF encrypting THEN
        PERFORM tde_internal.tde_encrypted_type_of(a, NULL);
      END IF;
      has_type := true;
      PERFORM tde_internal.tde_check_conversion(a, encrypting, online AND NOT EXISTS (
        SELECT FROM tde.conversions v WHERE (v.relation, v.column_name, v.phase) = (a.attrelid, a.attname, 'erase')));
      names := names || a.attname;
    EXCEPTION WHEN wrong_object_type OR undefined_object OR feature_not_supported OR dependent_objects_still_exist THEN
      -- what keeps a table from it keeps all its columns
      IF online AND has_type AND SQLSTATE = '0A000' THEN
        RAISE;
      END IF;
      GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
      others := others || concat_ws('  ', quote_ident(a.attname) || ': ' || SQLERRM || '.', replace(nullif(detail, ''), E'\n', '; ') || '.', nullif(hint, ''));
    END;
  END LOOP;
  IF others <> '{}' THEN
    RAISE WARNING '%', CASE cardinality(others) WHEN 1 THEN format('1 column of table %s stays as it is', relation)
                       ELSE format('%s columns of table %s stay as they are', cardinality(others), relation) END
      USING DETAIL = array_to_string(others, E'\n');
  END IF;
  RETURN names;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_all_convertible(regclass, boolean, boolean) IS 'columns of a table that can be converted, with a warning of the others';

CREATE FUNCTION tde_internal.tde_targets(relation regclass, column_names name[], specs text[], encrypting boolean, online boolean)
  RETURNS TABLE (column_name name, type text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  names name[] := coalesce(column_names, tde_internal.tde_all_convertible(relation, encrypting, online));
BEGIN
  IF cardinality(specs) NOT IN (1, cardinality(names)) THEN
    RAISE EXCEPTION 'number of specs does not match number of columns' USING ERRCODE = 'invalid_parameter_value',
      DETAIL = format('There are %s specs and %s columns.', cardinality(specs), cardinality(names)), HINT = 'Give one for each column, or one for all.';
  END IF;
  RETURN QUERY SELECT a.attname, CASE WHEN encrypting THEN tde_internal.tde_encrypted_type_of(a, specs[least(n, cardinality(specs))])
                                      ELSE tde_internal.tde_plain_type_of(a) END
    FROM generate_subscripts(names, 1) n CROSS JOIN LATERAL tde_internal.tde_convertible_column(relation, names[n]) a ORDER BY n;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_targets(regclass, name[], text[], boolean, boolean) IS
  'columns to be converted, NULL: all that can be, and the types that they get; specs: of each, or one for all';

CREATE PROCEDURE @extschema@.tde_encrypt_columns(relation regclass, columns name[] DEFAULT NULL, specs text[] DEFAULT NULL, online boolean DEFAULT false,
                                     batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  target record;
BEGIN
  IF online THEN
    FOR target IN SELECT t.column_name, t.type FROM tde_internal.tde_targets(relation, columns, specs, true, true) t LOOP
      CALL tde_internal.tde_copy_column(relation, target.column_name, target.type, true, NULL, batch_rows, batch_delay);
    END LOOP;
    RETURN;
  ELSIF NOT tde_internal.tde_convert_offline(relation, columns, specs, true) THEN
    RETURN;
  END IF;
  IF tde_internal.tde_is_distributed(relation) THEN
    RAISE NOTICE 'next, after COMMIT: SELECT run_command_on_all_nodes(''CALL @extschema@.tde_wipe_catalogs()'');';
  ELSIF tde_internal.tde_may_commit() THEN
    COMMIT;
    CALL @extschema@.tde_wipe_catalogs();
  ELSE
    RAISE NOTICE 'next, after COMMIT: CALL @extschema@.tde_wipe_catalogs();';
  END IF;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_encrypt_columns(regclass, name[], text[], boolean, int, float8) IS
  'encrypt columns of a table, by default all, rewriting it once; specs: modifiers, one for all or one for each, by default tde_column.default_spec; online: by copies of the columns, one after the other';

CREATE PROCEDURE @extschema@.tde_decrypt_columns(relation regclass, columns name[] DEFAULT NULL, online boolean DEFAULT false,
                                     batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  target record;
BEGIN
  IF online THEN
    FOR target IN SELECT t.column_name, t.type FROM tde_internal.tde_targets(relation, columns, NULL, false, true) t LOOP
      CALL tde_internal.tde_copy_column(relation, target.column_name, target.type, false, NULL, batch_rows, batch_delay);
    END LOOP;
  ELSE
    PERFORM tde_internal.tde_convert_offline(relation, columns, NULL, false);
  END IF;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_decrypt_columns(regclass, name[], boolean, int, float8) IS
  'give columns of a table their base types back, by default all, rewriting it once; online: by copies of the columns, one after the other';

CREATE PROCEDURE @extschema@.tde_encrypt_column(relation regclass, column_name name, spec text DEFAULT NULL, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  CALL @extschema@.tde_encrypt_columns(relation, ARRAY[column_name], ARRAY[spec], online, batch_rows, batch_delay);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_encrypt_column(regclass, name, text, boolean, int, float8) IS
  'encrypt a column; spec: modifiers, by default tde_column.default_spec; online: by a copy of the column';

CREATE PROCEDURE @extschema@.tde_decrypt_column(relation regclass, column_name name, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  CALL @extschema@.tde_decrypt_columns(relation, ARRAY[column_name], online, batch_rows, batch_delay);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_decrypt_column(regclass, name, boolean, int, float8) IS
  'give a column its base type back; online: by a copy of the column';

--
-- Columns that somebody else has encrypted: a function of the owner opens each value, in the batches and in rows that are written meanwhile.
--

CREATE FUNCTION tde_internal.tde_taken_over_type(a pg_attribute, opened_by regprocedure, spec text) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  p       pg_proc;
  owner   oid := tde_internal.tde_owner_of(a.attrelid);
  lacking text;
BEGIN
  SELECT * INTO p FROM pg_proc WHERE oid = opened_by;
  IF p.prokind = 'f' AND NOT p.proretset AND p.pronargs = 1 AND p.pronamespace <> pg_my_temp_schema() AND (
      p.proargtypes[0] IN (a.atttypid, (SELECT reltype FROM pg_class WHERE oid = a.attrelid))
      OR EXISTS (SELECT FROM pg_cast WHERE (castsource, casttarget, castcontext) = (a.atttypid, p.proargtypes[0], 'i'))) THEN
    NULL;
  ELSE
    RAISE EXCEPTION 'function % cannot open values of column "%"', opened_by, a.attname USING ERRCODE = 'wrong_object_type',
      DETAIL = format('It has to take a value of type %s, or a row of table %s, and to return what that is in clear.', format_type(a.atttypid, NULL), a.attrelid::regclass),
      HINT = 'A function that is not temporary, for one value: it may call others.';
  END IF;
  -- it runs as the owner, also when others write
  lacking := CASE WHEN tde_internal.tde_foreign_owner('pg_proc', opened_by, owner) IS NOT NULL THEN format('ALTER FUNCTION %s OWNER TO %s;', opened_by, owner::regrole)
                  WHEN NOT has_function_privilege(owner, opened_by, 'EXECUTE') THEN format('GRANT EXECUTE ON FUNCTION %s TO %s;', opened_by, owner::regrole)
                  WHEN NOT has_schema_privilege(owner, p.pronamespace, 'USAGE') THEN format('GRANT USAGE ON SCHEMA %s TO %s;', p.pronamespace::regnamespace, owner::regrole) END;
  IF lacking IS NOT NULL THEN
    RAISE EXCEPTION 'role "%" cannot open values of column "%" by function %', pg_get_userbyid(owner), a.attname, opened_by
      USING ERRCODE = 'insufficient_privilege', HINT = lacking,
        DETAIL = 'The function runs as the owner of the table, also in rows that others write. It must belong to the owner or to a superuser.';
  END IF;
  RETURN tde_internal.tde_encrypted_type_of(jsonb_populate_record(a, jsonb_build_object('atttypid', p.prorettype::oid, 'atttypmod', -1)), spec);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_taken_over_type(pg_attribute, regprocedure, text) IS
  'the encrypted type for what a function makes of a column''s values; error if it cannot, or may not';

CREATE FUNCTION tde_internal.tde_check_taken_over(a pg_attribute, now boolean) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  others text;
  later  text;
BEGIN
  -- They were written for what is stored until now.  What serves the programs that use it may stay until the swap.
  SELECT string_agg(object, E'\n' ORDER BY object COLLATE "C") FILTER (WHERE now OR NOT serves), string_agg(object, E'\n' ORDER BY object COLLATE "C") FILTER (WHERE serves)
  INTO others, later FROM (
    SELECT DISTINCT pg_describe_object(classid, objid, objsubid), classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass)
    FROM tde_internal.tde_column_family(a) f JOIN pg_depend ON (refclassid, refobjid, refobjsubid) = ('pg_class'::regclass, f.relation, f.attnum)
    WHERE NOT (classid = 'pg_constraint'::regclass AND EXISTS (SELECT FROM pg_constraint WHERE oid = objid AND contype = 'n'))
    UNION SELECT format('security label of provider %I', provider), true FROM pg_seclabel WHERE (objoid, classoid, objsubid) = (a.attrelid, 'pg_class'::regclass, a.attnum)
  ) AS users (object, serves);
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'column "%" of table % cannot be taken over because other objects use what it holds', a.attname, a.attrelid::regclass
      USING ERRCODE = 'dependent_objects_still_exist', DETAIL = others, HINT = 'Drop them, take the column over, and make again what its values in clear need.';
  ELSIF later IS NOT NULL THEN
    RAISE NOTICE 'before CALL tde_finish_conversion(%, %), drop what uses the values as they are', quote_literal(a.attrelid::regclass), quote_literal(a.attname)
      USING DETAIL = later;
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_taken_over(pg_attribute, boolean) IS 'error if objects use what a column holds before it is taken over';

CREATE PROCEDURE @extschema@.tde_take_over_column(relation regclass, column_name name, opened_by regprocedure, spec text DEFAULT NULL,
                                      batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  CALL tde_internal.tde_copy_column(relation, column_name,
    tde_internal.tde_taken_over_type(tde_internal.tde_convertible_column(relation, column_name), opened_by, spec), true, opened_by, batch_rows, batch_delay);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_take_over_column(regclass, name, regprocedure, text, int, float8) IS
  'make an encrypted column, online, of one that holds what something else has encrypted: opened_by decrypts a value of it, or a row';
