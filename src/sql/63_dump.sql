--
-- Encrypted dumps
--

CREATE FUNCTION tde_ciphertext_io() RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN true;
REVOKE ALL ON FUNCTION tde_ciphertext_io() FROM PUBLIC;
COMMENT ON FUNCTION tde_ciphertext_io() IS
  'whoever may execute it may set tde_column.io_format to ciphertext and so dump and restore values as they are encrypted';
