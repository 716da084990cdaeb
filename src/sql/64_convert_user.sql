--
-- What a user calls
--

CREATE PROCEDURE tde_encrypt_column(relation regclass, column_name name, spec text DEFAULT NULL, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  IF online THEN
    CALL @extschema@.tde_copy_column(relation, column_name,
      @extschema@.tde_encrypted_type_of(@extschema@.tde_convertible_column(relation, column_name), spec), true, batch_rows, batch_delay);
    RETURN;
  END IF;
  PERFORM @extschema@.tde_convert_offline(@extschema@.tde_convertible_column(relation, column_name),
    @extschema@.tde_encrypted_type_of(@extschema@.tde_convertible_column(relation, column_name), spec), true);
  IF @extschema@.tde_may_commit() THEN
    COMMIT;
    CALL @extschema@.tde_wipe_catalogs();
  ELSE
    RAISE NOTICE 'next, after COMMIT: CALL @extschema@.tde_wipe_catalogs();';
  END IF;
END
$$;
COMMENT ON PROCEDURE tde_encrypt_column(regclass, name, text, boolean, int, float8) IS
  'encrypt a column of a table: its spec as modifiers of the type (default: tde_column.default_spec); online with a copy of the column';

CREATE PROCEDURE tde_decrypt_column(relation regclass, column_name name, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  IF online THEN
    CALL @extschema@.tde_copy_column(relation, column_name,
      @extschema@.tde_plain_type_of(@extschema@.tde_convertible_column(relation, column_name)), false, batch_rows, batch_delay);
  ELSE
    PERFORM @extschema@.tde_convert_offline(@extschema@.tde_convertible_column(relation, column_name),
      @extschema@.tde_plain_type_of(@extschema@.tde_convertible_column(relation, column_name)), false);
  END IF;
END
$$;
COMMENT ON PROCEDURE tde_decrypt_column(regclass, name, boolean, int, float8) IS
  'give a column its base type back; online with a copy of the column';
