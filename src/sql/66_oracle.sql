--
-- Oracle's views, with its columns and spellings
--
-- OWNER is the schema: in Oracle the two are one, and scripts say OWNER.TABLE_NAME to name the table.  The tables of USER_... are
-- those that the current user owns.  Partitions are not listed, as they are not there; they are encrypted as their table is.
-- Everything is NULL of a column that was left without a specification.
--

CREATE VIEW tde_internal.oracle_columns AS
  SELECT a.attrelid, a.attnum, c.relowner, n.nspname AS owner, c.relname AS table_name, a.attname AS column_name,
         CASE s.cipher WHEN '3des168' THEN '3 Key Triple DES 168 bits key'
                       WHEN 'aes128' THEN 'AES 128 bits key'
                       WHEN 'aes192' THEN 'AES 192 bits key'
                       WHEN 'aes256' THEN 'AES 256 bits key' END AS encryption_alg,
         CASE s.salt WHEN true THEN 'YES' WHEN false THEN 'NO' END AS salt,
         CASE s.mac WHEN 'sha1' THEN 'SHA-1' WHEN 'sha256' THEN 'SHA-256' WHEN 'gcm' THEN 'GCM' WHEN 'nomac' THEN 'NOMAC' END AS integrity_alg
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
  WHERE a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped AND NOT c.relispartition AND s.base_type IS NOT NULL
    AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'f', 'm']::"char"[]);
COMMENT ON VIEW tde_internal.oracle_columns IS 'encrypted columns in Oracle''s words, for the views named as in Oracle';

CREATE VIEW tde.dba_encrypted_columns AS
  SELECT owner, table_name, column_name, encryption_alg, salt, integrity_alg FROM tde_internal.oracle_columns;
GRANT SELECT ON tde.dba_encrypted_columns TO pg_monitor;
COMMENT ON VIEW tde.dba_encrypted_columns IS 'all encrypted columns, as in Oracle';

CREATE VIEW tde.all_encrypted_columns AS
  SELECT owner, table_name, column_name, encryption_alg, salt, integrity_alg FROM tde_internal.oracle_columns
  WHERE pg_catalog.pg_has_role(relowner, 'USAGE')
     OR pg_catalog.has_any_column_privilege(attrelid, 'SELECT, INSERT, UPDATE, REFERENCES')
     OR pg_catalog.has_table_privilege(attrelid, 'DELETE');
GRANT SELECT ON tde.all_encrypted_columns TO PUBLIC;
COMMENT ON VIEW tde.all_encrypted_columns IS 'encrypted columns of tables that the current user may access, as in Oracle';

CREATE VIEW tde.user_encrypted_columns AS
  SELECT table_name, column_name, encryption_alg, salt, integrity_alg FROM tde_internal.oracle_columns
  WHERE pg_catalog.pg_get_userbyid(relowner) OPERATOR(pg_catalog.=) current_user;
GRANT SELECT ON tde.user_encrypted_columns TO PUBLIC;
COMMENT ON VIEW tde.user_encrypted_columns IS 'encrypted columns of tables that the current user owns, as in Oracle';

