--
-- Roles: who may decrypt
--

CREATE FUNCTION @extschema@.tde_may_decrypt() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.tde_may_decrypt() IS 'may the current user see encrypted values in clear, as tde_column.decrypt_role says';

