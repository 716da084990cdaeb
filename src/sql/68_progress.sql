--
-- Progress
--

CREATE FUNCTION tde_internal.tde_progress_status(OUT pid int4, OUT database_id oid, OUT table_id oid, OUT phase text, OUT blocks_total int8,
                                    OUT blocks_done int8, OUT rows_seen int8, OUT rows_changed int8, OUT started timestamptz)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_internal.tde_progress_status() IS 'progress of commands that take long';

CREATE VIEW tde.progress AS
  SELECT s.pid, d.datname AS database_name, s.table_id,
         CASE WHEN d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() THEN s.table_id::pg_catalog.regclass END AS table_name,
         s.phase, s.blocks_total, s.blocks_done, s.rows_seen, s.rows_changed, s.started
  FROM tde_internal.tde_progress_status() s LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.database_id;
GRANT SELECT ON tde.progress TO PUBLIC;
COMMENT ON VIEW tde.progress IS
  'progress of tde_rekey_table(), online conversions, tde_verify_table(), tde_key_usage() and tde_discover() of roles that the current user is a member of; of all for pg_read_all_stats';
