--
-- Roles: who may decrypt
--

CREATE FUNCTION @extschema@.tde_may_decrypt() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.tde_may_decrypt() IS 'tell whether the current user may see encrypted values in clear';

