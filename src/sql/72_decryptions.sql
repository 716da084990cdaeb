--
-- Who decrypted what
--

CREATE FUNCTION tde_internal.tde_decryption_rows(OUT day date, OUT database_id oid, OUT session_role_id oid, OUT role_id oid, OUT table_id oid,
                                    OUT column_number int2, OUT purpose text, OUT decrypted int8)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_internal.tde_decryption_rows() IS 'numbers of values that roles were given in clear';

CREATE FUNCTION tde_internal.tde_decryptions_info(OUT others int8, OUT since timestamptz, OUT written timestamptz, OUT used int8, OUT max int8)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_decryptions_info() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tde_internal.tde_decryptions_info() TO pg_read_all_stats;
COMMENT ON FUNCTION tde_internal.tde_decryptions_info() IS 'since when decryptions are counted, and what found no row';

CREATE VIEW tde.decryptions AS
  SELECT r.day, pg_catalog.pg_get_userbyid(r.session_role_id) AS session_role, pg_catalog.pg_get_userbyid(r.role_id) AS role_name,
         d.datname AS database_name, r.table_id,
         CASE WHEN d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() THEN r.table_id::pg_catalog.regclass END AS table_name,
         r.column_number, a.attname AS column_name, r.purpose, r.decrypted
  FROM tde_internal.tde_decryption_rows() r
  LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) r.database_id
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) r.table_id AND a.attnum OPERATOR(pg_catalog.=) r.column_number
    AND d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();
GRANT SELECT ON tde.decryptions TO PUBLIC;
COMMENT ON VIEW tde.decryptions IS
  'values that roles were given in clear, by column and day (UTC), with tde_column.track_decryptions; the current user''s own, those of all for pg_read_all_stats';

CREATE VIEW tde.decryptions_info AS SELECT * FROM tde_internal.tde_decryptions_info();
GRANT SELECT ON tde.decryptions_info TO pg_read_all_stats;
COMMENT ON VIEW tde.decryptions_info IS
  'values for which tde.decryptions had no row left, since when it counts, when its file was written, how many rows it has and can have';

CREATE FUNCTION @extschema@.tde_decryptions_reset(before date DEFAULT NULL) RETURNS int8
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_decryptions_reset(date) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_decryptions_reset(date) IS
  'forget what tde.decryptions counted before a day, or all; returns the number of rows';
