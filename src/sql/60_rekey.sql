--
-- Re-encryption
--
-- The procedure checks itself that its caller owns the table; so PUBLIC may call it, as it may VACUUM.

CREATE PROCEDURE tde_rekey_table(relation regclass, batch_rows int4 DEFAULT 10000, delay interval DEFAULT '0')
  AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE tde_rekey_table(regclass, int4, interval) IS
  're-encrypt, in committed batches, what is not under the newest key version or not as its column declares';

CREATE FUNCTION tde_rekey_status(OUT pid int4, OUT database_id oid, OUT table_id oid, OUT phase text, OUT blocks_total int8,
                                 OUT blocks_done int8, OUT rows_seen int8, OUT rows_changed int8, OUT started timestamptz)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_rekey_status() IS 'running calls of tde_rekey_table()';

CREATE VIEW tde_rekey_progress AS
  SELECT s.pid, d.datname AS database_name, s.table_id,
         CASE WHEN d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() THEN s.table_id::pg_catalog.regclass END AS table_name,
         s.phase, s.blocks_total, s.blocks_done, s.rows_seen, s.rows_changed, s.started
  FROM tde_rekey_status() s LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.database_id;
GRANT SELECT ON tde_rekey_progress TO PUBLIC;
COMMENT ON VIEW tde_rekey_progress IS 'running calls of tde_rekey_table() of roles that the current user is a member of, or of all for pg_read_all_stats';
