--
-- Encrypted dumps
--

CREATE FUNCTION @extschema@.tde_ciphertext_io() RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN true;
REVOKE ALL ON FUNCTION @extschema@.tde_ciphertext_io() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_ciphertext_io() IS
  'EXECUTE on it is the right to set tde_column.io_format to ciphertext, which dumps and restores values without decrypting them';

CREATE FUNCTION @extschema@.tde_export_keys(secret text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_export_keys(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_export_keys(text) IS 'all data keys of this database, as a text that only the secret opens; by default the one that COPY has brought';

-- Functions of their own, so that the privilege to make this database's keys those of another is one of its own, too.
CREATE FUNCTION @extschema@.tde_export_keys(secret text, adoptable boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_export_keys(text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_export_keys(text, boolean) IS
  'the same; adoptable: with all that another database needs to have the same keys, those that were destroyed included';

CREATE FUNCTION @extschema@.tde_import_keys(exported text, secret text DEFAULT NULL) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_import_keys(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_import_keys(text, text) IS
  'add exported data keys that this database lacks, for reading only; returns how many; the secret is by default the one that COPY has brought';

CREATE FUNCTION @extschema@.tde_import_keys(exported text, secret text, adopt boolean) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_import_keys(text, text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_import_keys(text, text, boolean) IS
  'the same; adopt: make the keys of this database those that were exported, and return how many were added, changed or removed';
