--
-- What a user calls
--

CREATE FUNCTION tde_internal.tde_columns_to_convert(relation regclass, columns name[], encrypting boolean) RETURNS pg_attribute[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  a       pg_attribute;
  chosen   pg_attribute[] := '{}';
  left_as text[]         := '{}';
  reason  text;
BEGIN
  IF columns IS NOT NULL THEN
    RETURN ARRAY(SELECT tde_internal.tde_convertible_column(relation, c) FROM unnest(columns) WITH ORDINALITY AS u (c, n) ORDER BY n);
  END IF;
  FOR a IN SELECT * FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND attinhcount = 0 ORDER BY attnum LOOP
    PERFORM tde_internal.tde_convertible_column(relation, a.attname);
    CONTINUE WHEN encrypting = EXISTS (SELECT FROM tde_internal.tde_type_spec(a.atttypid, a.atttypmod) WHERE base_type IS NOT NULL);
    BEGIN
      reason := NULL;
      IF encrypting THEN
        PERFORM tde_internal.tde_encrypted_type_of(a, NULL);
      END IF;
      PERFORM tde_internal.tde_check_conversion(a, encrypting, false);
    EXCEPTION WHEN wrong_object_type OR undefined_object OR feature_not_supported OR dependent_objects_still_exist THEN
      GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
      reason := SQLERRM || coalesce(': ' || replace(nullif(reason, ''), E'\n', '; '), '');
    END;
    IF reason IS NULL THEN
      chosen := chosen || a;
    ELSE
      left_as := left_as || reason;
    END IF;
  END LOOP;
  IF left_as <> '{}' THEN
    RAISE WARNING '% of table % stay as they are',
        CASE cardinality(left_as) WHEN 1 THEN '1 column' ELSE format('%s columns', cardinality(left_as)) END, relation
      USING DETAIL = array_to_string(left_as, E'\n'),
        HINT = format('CALL @extschema@.%s_column(%L, ...) for one of them says what to do.', CASE WHEN encrypting THEN 'tde_encrypt' ELSE 'tde_decrypt' END, relation);
  END IF;
  RETURN chosen;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_columns_to_convert(regclass, name[], boolean) IS
  'columns of a table that the user owns; NULL: all that can be converted, with a warning of the others';

CREATE PROCEDURE @extschema@.tde_encrypt_columns(relation regclass, columns name[] DEFAULT NULL, specs text[] DEFAULT NULL, online boolean DEFAULT false,
                                     batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  chosen pg_attribute[] := tde_internal.tde_columns_to_convert(relation, columns, true);
  types text[];
BEGIN
  IF cardinality(specs) NOT IN (1, cardinality(chosen)) THEN
    RAISE EXCEPTION 'number of specs does not match number of columns' USING ERRCODE = 'invalid_parameter_value',
      DETAIL = format('There are %s specs and %s columns.', cardinality(specs), cardinality(chosen)), HINT = 'Give one for each column, or one for all.';
  END IF;
  types := ARRAY(SELECT tde_internal.tde_encrypted_type_of(chosen[n], specs[least(n, cardinality(specs))]) FROM generate_subscripts(chosen, 1) n ORDER BY n);
  IF cardinality(chosen) = 0 THEN
    RETURN;
  ELSIF online THEN
    FOR n IN 1 .. cardinality(chosen) LOOP
      CALL tde_internal.tde_copy_column(relation, chosen[n].attname, types[n], true, batch_rows, batch_delay);
    END LOOP;
    RETURN;
  END IF;
  PERFORM tde_internal.tde_convert_offline(chosen, types, true);
  IF tde_internal.tde_is_distributed(relation) THEN
    RAISE NOTICE 'next, after COMMIT: SELECT run_command_on_all_nodes(''CALL tde_wipe_catalogs()'');';
  ELSIF tde_internal.tde_may_commit() THEN
    COMMIT;
    CALL @extschema@.tde_wipe_catalogs();
  ELSE
    RAISE NOTICE 'next, after COMMIT: CALL tde_wipe_catalogs();';
  END IF;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_encrypt_columns(regclass, name[], text[], boolean, int, float8) IS
  'encrypt columns of a table, by default all, rewriting it once; specs: modifiers, one for all or one for each, by default tde_column.default_spec; online: by copies of the columns, one after the other';

CREATE PROCEDURE @extschema@.tde_decrypt_columns(relation regclass, columns name[] DEFAULT NULL, online boolean DEFAULT false,
                                     batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  chosen pg_attribute[] := tde_internal.tde_columns_to_convert(relation, columns, false);
  types text[] := ARRAY(SELECT tde_internal.tde_plain_type_of(chosen[n]) FROM generate_subscripts(chosen, 1) n ORDER BY n);
BEGIN
  IF cardinality(chosen) = 0 THEN
    RETURN;
  ELSIF online THEN
    FOR n IN 1 .. cardinality(chosen) LOOP
      CALL tde_internal.tde_copy_column(relation, chosen[n].attname, types[n], false, batch_rows, batch_delay);
    END LOOP;
  ELSE
    PERFORM tde_internal.tde_convert_offline(chosen, types, false);
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
