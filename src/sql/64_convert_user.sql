--
-- What a user calls
--

CREATE FUNCTION tde_internal.tde_all_convertible(relation regclass, encrypting boolean) RETURNS name[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  a      pg_attribute;
  names  name[] := '{}';
  others text[] := '{}';
  detail text;
  hint   text;
BEGIN
  FOR a IN SELECT * FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND attinhcount = 0 ORDER BY attnum LOOP
    PERFORM tde_internal.tde_convertible_column(relation, a.attname);
    CONTINUE WHEN encrypting = EXISTS (SELECT FROM tde_internal.tde_type_spec(a.atttypid, a.atttypmod) WHERE base_type IS NOT NULL);
    BEGIN
      IF encrypting THEN
        PERFORM tde_internal.tde_encrypted_type_of(a, NULL);
      END IF;
      PERFORM tde_internal.tde_check_conversion(a, encrypting, false);
      names := names || a.attname;
    EXCEPTION WHEN wrong_object_type OR undefined_object OR feature_not_supported OR dependent_objects_still_exist THEN
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
COMMENT ON FUNCTION tde_internal.tde_all_convertible(regclass, boolean) IS 'columns of a table that can be converted, with a warning of the others';

CREATE FUNCTION tde_internal.tde_targets(relation regclass, column_names name[], specs text[], encrypting boolean) RETURNS TABLE (column_name name, type text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  names name[] := coalesce(column_names, tde_internal.tde_all_convertible(relation, encrypting));
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
COMMENT ON FUNCTION tde_internal.tde_targets(regclass, name[], text[], boolean) IS
  'columns to be converted, NULL: all that can be, and the types that they get; specs: of each, or one for all';

CREATE PROCEDURE @extschema@.tde_encrypt_columns(relation regclass, columns name[] DEFAULT NULL, specs text[] DEFAULT NULL, online boolean DEFAULT false,
                                     batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  target record;
BEGIN
  IF online THEN
    FOR target IN SELECT t.column_name, t.type FROM tde_internal.tde_targets(relation, columns, specs, true) t LOOP
      CALL tde_internal.tde_copy_column(relation, target.column_name, target.type, true, batch_rows, batch_delay);
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
    FOR target IN SELECT t.column_name, t.type FROM tde_internal.tde_targets(relation, columns, NULL, false) t LOOP
      CALL tde_internal.tde_copy_column(relation, target.column_name, target.type, false, batch_rows, batch_delay);
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
