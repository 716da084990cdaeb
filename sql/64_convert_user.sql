--
-- What a user calls
--

CREATE PROCEDURE @extschema@.tde_encrypt_column(relation regclass, column_name name, spec text DEFAULT NULL, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  IF online THEN
    CALL tde_internal.tde_copy_column(relation, column_name,
      tde_internal.tde_encrypted_type_of(tde_internal.tde_convertible_column(relation, column_name), spec), true, batch_rows, batch_delay);
    RETURN;
  END IF;
  PERFORM tde_internal.tde_convert_offline(tde_internal.tde_convertible_column(relation, column_name),
    tde_internal.tde_encrypted_type_of(tde_internal.tde_convertible_column(relation, column_name), spec), true);
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
COMMENT ON PROCEDURE @extschema@.tde_encrypt_column(regclass, name, text, boolean, int, float8) IS
  'encrypt a column; spec: modifiers, by default tde_column.default_spec; online: by a copy of the column';

CREATE PROCEDURE @extschema@.tde_decrypt_column(relation regclass, column_name name, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  IF online THEN
    CALL tde_internal.tde_copy_column(relation, column_name,
      tde_internal.tde_plain_type_of(tde_internal.tde_convertible_column(relation, column_name)), false, batch_rows, batch_delay);
  ELSE
    PERFORM tde_internal.tde_convert_offline(tde_internal.tde_convertible_column(relation, column_name),
      tde_internal.tde_plain_type_of(tde_internal.tde_convertible_column(relation, column_name)), false);
  END IF;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_decrypt_column(regclass, name, boolean, int, float8) IS
  'give a column its base type back; online: by a copy of the column';
