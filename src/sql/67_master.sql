--
-- Master keys of the wallet
--

CREATE FUNCTION tde_internal.tde_master_key_list(OUT id uuid, OUT state text, OUT created timestamptz,
                                                 OUT backed_up timestamptz) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_master_key_list() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_master_key_list() IS 'master keys in the open wallet';

CREATE VIEW tde.master_keys AS SELECT * FROM tde_internal.tde_master_key_list() ORDER BY created, id;
GRANT EXECUTE ON FUNCTION tde_internal.tde_master_key_list() TO pg_monitor;
GRANT SELECT ON tde.master_keys TO pg_monitor;
COMMENT ON VIEW tde.master_keys IS
  'master keys in the open wallet: current, retired, prepared for the next rotation, or of one erasable data key; when each was first backed up';

CREATE FUNCTION @extschema@.tde_purge_master_key(id uuid) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_purge_master_key(uuid) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_purge_master_key(uuid) IS
  'remove a retired or erasable master key from the wallet if no data key of any database needs it';
