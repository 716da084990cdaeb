--
-- Status and audit
--
-- What can be seen of this server and this database without a key.  The wallet is not opened for it.
--

CREATE FUNCTION @extschema@.tde_version() RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_version() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tde_version() TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tde_version() IS 'version of the library that is loaded';

CREATE FUNCTION tde_internal.tde_wallet_file_facts(OUT present boolean, OUT problem text, OUT regular boolean, OUT owned boolean, OUT mode text,
                                      OUT others boolean, OUT inside boolean, OUT folder_owned boolean, OUT folder_mode text,
                                      OUT folder_others boolean, OUT matches_memory boolean, OUT closed_by_user boolean)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_wallet_file_facts() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tde_internal.tde_wallet_file_facts() TO pg_monitor;
COMMENT ON FUNCTION tde_internal.tde_wallet_file_facts() IS 'facts about the wallet file';

CREATE VIEW tde.wallet AS
  SELECT w.*,
         CASE WHEN w.file = '' THEN NULL
              WHEN f.present IS NULL OR w.status = 'OPEN' AND f.present AND f.matches_memory IS NULL THEN 'unreadable'
              WHEN NOT f.present THEN 'missing'
              WHEN f.matches_memory IS NULL THEN 'present'
              WHEN f.matches_memory THEN 'open' ELSE 'changed' END AS file_state,
         CASE WHEN w.status = 'OPEN' THEN ARRAY(
           SELECT DISTINCT k.master_key FROM tde.data_keys k
           WHERE k.state <> 'd' AND NOT k.erasable AND k.master_key NOT IN (SELECT m.id FROM tde.master_keys m)) END AS lacks
  FROM tde_internal.tde_wallet_status() w, tde_internal.tde_wallet_file_facts() f;
GRANT SELECT ON tde.wallet TO pg_monitor;
COMMENT ON VIEW tde.wallet IS
  'state of the wallet: OPEN, CLOSED or NOT_AVAILABLE; state of its file: open (the file is what is open), changed, missing, unreadable, present (the wallet is closed); master keys that this database needs and the wallet lacks; the server that may change it';

CREATE FUNCTION tde_internal.tde_all_encryptions() RETURNS int8
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_all_encryptions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tde_internal.tde_all_encryptions() TO pg_monitor;
COMMENT ON FUNCTION tde_internal.tde_all_encryptions() IS 'values encrypted in all databases since the server started';

CREATE VIEW tde.status AS
  SELECT @extschema@.tde_version() AS library_version, x.extversion AS extension_version, w.instance_wide AS preloaded,
         w.status AS wallet_status, w.file AS wallet_file, f.present AS file_present, f.matches_memory AS file_matches_memory, w.master_keys,
         (SELECT pg_catalog.count(*) FROM tde.data_keys k WHERE k.state OPERATOR(pg_catalog.<>) 'd') AS data_keys,
         (SELECT pg_catalog.count(*) FROM tde_internal.oracle_columns) AS encrypted_columns,
         (SELECT pg_catalog.count(*) FROM tde.conversions) AS unfinished_conversions,
         tde_internal.tde_all_encryptions() AS encryptions
  FROM tde_internal.tde_wallet_status() w, tde_internal.tde_wallet_file_facts() f, pg_catalog.pg_extension x
  WHERE x.extname OPERATOR(pg_catalog.=) 'tde_column';
GRANT SELECT ON tde.status TO pg_monitor;
COMMENT ON VIEW tde.status IS 'one row for monitoring: versions, wallet, numbers of keys, columns, unfinished conversions and encryptions';

--
-- What tde_audit() finds.  Each part returns what is not as it should be.
--

CREATE TYPE tde_internal.tde_finding AS (severity text, topic text, object text, finding text, hint text);
COMMENT ON TYPE tde_internal.tde_finding IS 'a row of tde_audit()';

CREATE FUNCTION tde_internal.tde_audit_library() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH v AS (
    SELECT @extschema@.tde_version() AS library, x.extversion, a.default_version, w.instance_wide
    FROM pg_extension x LEFT JOIN pg_available_extensions a ON a.name = x.extname CROSS JOIN tde.wallet w
    WHERE x.extname = 'tde_column')
  SELECT f.severity, f.topic, f.object, f.finding, f.hint
  FROM v CROSS JOIN LATERAL (VALUES
    (library <> extversion, 'error', 'version', 'extension',
     format('the library is of version %s, the extension in this database of %s', library, extversion),
     'Restart the server if its library is the older one, otherwise run ALTER EXTENSION tde_column UPDATE.'),
    (library <> default_version, 'warning', 'version', 'library',
     format('the library that is loaded is of version %s, the one that is installed of %s', library, default_version),
     'Restart the server, then run ALTER EXTENSION tde_column UPDATE in each database.'),
    (NOT instance_wide, 'warning', 'preloading', 'shared_preload_libraries',
     'the library is not preloaded: each session opens the wallet for itself, and results are not transparent',
     'Add tde_column to shared_preload_libraries and restart.')
  ) AS f (applies, severity, topic, object, finding, hint)
  WHERE f.applies
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_library() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_library() IS 'tde_audit(): versions, preloading, the extension''s schema';

CREATE FUNCTION tde_internal.tde_audit_wallet() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH w AS (
    SELECT w.*, f.*, coalesce(current_setting('tde_column.passphrase_command', true), '') <> '' AS command
    FROM tde.wallet w CROSS JOIN tde_internal.tde_wallet_file_facts() f)
  SELECT f.severity, f.topic, coalesce(f.object, nullif(w.file, '')), f.finding, f.hint
  FROM w CROSS JOIN LATERAL (VALUES
    (file = '', 'error', 'wallet file', 'tde_column.wallet_file', 'no wallet file is configured',
     'Set it to a path outside the data directory and reload the configuration.'),
    (NOT present AND status = 'OPEN', 'error', 'wallet file', NULL, 'the file does not exist; its keys are in memory only',
     'Put a copy of this wallet there before the server stops. Do not make a new one, which would not have these keys.'),
    (NOT present AND status <> 'OPEN', 'error', 'wallet file', NULL, 'the file does not exist',
     'Put a copy of the wallet there; only if this server never had one, make it with tde_wallet_create().'),
    (file <> '' AND present IS NULL, 'error', 'wallet file', NULL, format('the file cannot be looked at: %s', problem),
     'Let the user that runs the server enter its folder.'),
    (NOT regular, 'error', 'wallet file', NULL, 'it is not a regular file', 'Put the wallet there.'),
    (regular AND NOT owned, 'error', 'wallet file', NULL, 'the file is not owned by the user that runs the server',
     'Change its owner with chown.'),
    (regular AND others, 'error', 'wallet file', NULL, format('others may access the file: its mode is %s', mode),
     format('Run: chmod 600 %s', file)),
    (regular AND owned AND NOT others AND status = 'OPEN' AND matches_memory IS NULL, 'error', 'wallet file', NULL,
     format('the file cannot be read: its mode is %s', mode), format('Run: chmod 600 %s', file)),
    (NOT folder_owned, 'error', 'wallet file', NULL, 'the folder belongs neither to the user that runs the server nor to root, so its owner can replace the file',
     'Change its owner with chown.'),
    (folder_others, 'error', 'wallet file', NULL, format('others can replace the file: the mode of its folder is %s', folder_mode),
     format('Run: chmod 700 %s', regexp_replace(file, '/[^/]*$', ''))),
    (inside, 'warning', 'wallet file', NULL, 'the file is inside the data directory, so base backups hold it beside the data that it protects',
     'Move it elsewhere and set tde_column.wallet_file.'),
    (NOT may_change, 'warning', 'wallet', NULL, format('it belongs to the server in %s: this one reads with it, and changes nothing in it', owner),
     'If this server has replaced that one, call tde_wallet_take_over(); if it is a copy of it, give it a wallet file of its own first.'),
    (NOT matches_memory, 'warning', 'wallet file', NULL, 'the file is not the one that is open, so keys cannot be changed',
     'See that it is the right one, then read it with tde_wallet_open().'),
    (status <> 'OPEN' AND closed_by_user, 'warning', 'wallet', NULL, 'closed by tde_wallet_close(): encrypted values can be neither read nor written',
     'Open it with tde_wallet_open().'),
    (status <> 'OPEN' AND NOT closed_by_user AND NOT command, 'warning', 'wallet', NULL,
     'closed: encrypted values can be neither read nor written', 'Open it with tde_wallet_open().'),
    (status <> 'OPEN' AND NOT closed_by_user AND command, 'notice', 'wallet', NULL,
     'closed until a key is needed, or because the passphrase command failed', 'Try it with tde_wallet_open(); the server log says why it fails.'),
    (NOT command, 'notice', 'passphrase command', 'tde_column.passphrase_command',
     'not configured: after each restart, encrypted values cannot be used until somebody opens the wallet',
     'Set it to a command that asks your key service, unless it shall be so.')
  ) AS f (applies, severity, topic, object, finding, hint)
  WHERE f.applies
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_wallet() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_wallet() IS 'tde_audit(): the wallet and its file';

CREATE FUNCTION tde_internal.tde_requires(standard text) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_requires(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_requires(text) IS 'whether tde_column.require has this standard';

CREATE FUNCTION tde_internal.tde_key_age(created timestamptz) RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE WHEN created >= now() - coalesce(nullif(policy, '0')::interval, '1 year') THEN NULL WHEN policy = '0' THEN 'notice'
              WHEN tde_internal.tde_requires('pci') THEN 'error' ELSE 'warning' END
  FROM coalesce(current_setting('tde_column.rotate_after', true), '0') policy
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_key_age(timestamptz) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_key_age(timestamptz) IS
  'tde_audit(): how severe it is that a key made then is still in use: a warning after tde_column.rotate_after (an error where tde_column.require has pci), a notice after a year where that says nothing; otherwise NULL';

-- The list of master keys would open the wallet, or fail.
CREATE FUNCTION tde_internal.tde_audit_master_keys() RETURNS SETOF tde_internal.tde_finding
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF (SELECT status FROM tde.wallet) <> 'OPEN' THEN
    RETURN QUERY SELECT 'notice', 'master keys', NULL, 'cannot be told while the wallet is closed', 'Open it with tde_wallet_open(), and look again.';
    RETURN;
  END IF;
  RETURN QUERY
  SELECT CASE WHEN m.id IS NULL THEN 'error' ELSE 'warning' END, 'master keys', k.master_key::text,
         format(CASE WHEN m.id IS NULL THEN 'not in the wallet, but needed for data keys of this database: %s'
                     ELSE 'retired, but still wraps data keys of this database: %s' END, count(*)),
         CASE WHEN m.id IS NULL THEN 'The wallet belongs to another server or is older than these keys. Put the right file there, then run tde_wallet_open().'
              ELSE 'SELECT tde_rewrap_keys();' END
  FROM tde.keys k LEFT JOIN tde.master_keys m ON m.id = k.master_key
  WHERE k.state <> 'destroyed' AND (m.id IS NULL OR m.state = 'retired')
  GROUP BY k.master_key, m.id
  UNION ALL
  SELECT tde_internal.tde_key_age(created), 'master keys', id::text, format('current since %s', created::date), 'SELECT tde_rotate_master_key();'
  FROM tde.master_keys WHERE state = 'current' AND tde_internal.tde_key_age(created) IS NOT NULL
  UNION ALL
  SELECT CASE WHEN count(*) < 256 THEN 'notice' ELSE 'warning' END, 'master keys', NULL,
         format('%s of the 256 that a wallet has room for, %s of them of erasable keys', count(*), count(*) FILTER (WHERE state = 'erasable')),
         'Remove retired ones: SELECT tde_purge_master_key(id) FROM tde.master_keys WHERE state = ''retired''; and destroy keys that are no longer needed.'
  FROM tde.master_keys HAVING count(*) >= 192
  UNION ALL
  SELECT 'warning', 'master keys', id::text, 'no backup of the wallet has it', 'SELECT tde_wallet_backup();'
  FROM tde.master_keys WHERE backed_up IS NULL AND coalesce(current_setting('tde_column.wallet_backup_command', true), '') <> '';
END
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_master_keys() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_master_keys() IS 'tde_audit(): master keys';

CREATE FUNCTION tde_internal.tde_audit_keys() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT tde_internal.tde_key_age(created), 'data keys', format('%s (%s)', coalesce(name, format('slot %s', slot)), kind),
         format('its newest version is of %s', created::date),
         CASE kind WHEN 'hash' THEN 'SELECT * FROM tde_rotate_hash_key();'
                   ELSE format('For old values CALL tde_rekey_table(...) afterwards: SELECT tde_rotate_key(%L);', name) END
  FROM tde.keys WHERE state = 'active' AND tde_internal.tde_key_age(created) IN ('error', 'warning', CASE WHEN kind <> 'hash' THEN 'notice' END)
  UNION ALL
  SELECT 'notice', 'data keys', coalesce(name, format('slot %s', slot)), 'destroyed: what is still encrypted under it cannot be read any more',
         'Drop the columns that have it: tde.encrypted_columns.key_slot.'
  FROM tde.keys WHERE state = 'destroyed' GROUP BY slot, name
  UNION ALL
  -- at half of this the next transaction that stores values makes another version (src/keys/limits.c)
  SELECT 'warning', 'data keys', format('%s (%s), version %s', coalesce(k.name, format('slot %s', k.slot)), k.kind, k.version),
         format('has encrypted %s of the %s %s that a key may', l.used, l.most, l.unit),
         format('Store a value under it, or: SELECT tde_rotate_key(%L);', k.name)
  FROM tde.keys k JOIN tde.key_counts c ON c.id = k.id
  CROSS JOIN LATERAL (VALUES
    (k.total_encryptions, 1099511627776, 'values', true),
    (k.total_encryptions, 4294967296, 'values', k.kind = 'mac' AND EXISTS (
      SELECT FROM tde.encrypted_columns e WHERE e.key_slot = k.slot AND e.mac = 'gcm' AND e.salt)),
    (c.des_blocks, 1048576, 'blocks of triple DES', true)
  ) AS l (used, most, unit, applies)
  WHERE k.state = 'active' AND l.applies AND l.used >= l.most / 4 * 3
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_keys() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_keys() IS 'tde_audit(): data keys';

-- Columns that are as their parent's are not told again.
-- Why the extension's tables have none: sql/10_keys.sql.
CREATE FUNCTION tde_internal.tde_audit_tables() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT 'error', 'data keys', i.indexrelid::regclass::text,
         format('by this index of columns that are NOT NULL, pg_repack and its like copy table %s, and lose keys that are made meanwhile', i.indrelid::regclass),
         format('Drop it if it was added, and have its columns be as they were: ALTER TABLE %s ALTER COLUMN ... DROP NOT NULL.', i.indrelid::regclass)
  FROM pg_extension x JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = x.oid AND d.deptype = 'e' AND d.classid = 'pg_class'::regclass
  JOIN pg_index i ON i.indrelid = d.objid AND i.indisunique AND i.indpred IS NULL
  WHERE x.extname = 'tde_column' AND NOT EXISTS (
    SELECT FROM unnest(i.indkey::int2[]) k (column_number) LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.column_number AND a.attnotnull
    WHERE k.column_number = 0 OR a.attnum IS NULL)
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_tables() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_tables() IS 'tde_audit(): keys by which tools would copy the extension''s tables';

-- To delete a page of a btree, and to sum up blocks for BRIN, VACUUM compares values, for which it needs the wallet.
CREATE FUNCTION tde_internal.tde_audit_freezing() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT 'warning', 'freezing', c.oid::regclass::text,
         format('%s transactions since it was frozen, and VACUUM can fail as long as nobody has opened the wallet, because of index %s',
                age(c.relfrozenxid), string_agg(x.oid::regclass::text, ', ' ORDER BY x.relname)),
         format('Open the wallet and run VACUUM %s; or VACUUM (INDEX_CLEANUP off) %1$s.', c.oid::regclass)
  FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
  WHERE c.relkind IN ('r', 'm') AND m.amname IN ('btree', 'brin') AND age(c.relfrozenxid) > current_setting('autovacuum_freeze_max_age')::int8 / 2
    AND coalesce(current_setting('tde_column.passphrase_command', true), '') = ''
    AND EXISTS (SELECT FROM pg_attribute a CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
                WHERE a.attrelid = x.oid AND s.base_type IS NOT NULL)
  GROUP BY c.oid, c.relfrozenxid
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_freezing() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_freezing() IS 'tde_audit(): tables that must be vacuumed soon, and for which VACUUM may need the wallet';

-- The settings that count here: the server's, whatever the session has, and those of this database and of roles that log in.
CREATE FUNCTION tde_internal.tde_audited_settings(OUT scope text, OUT of_server boolean, OUT of_database boolean, OUT name text, OUT value text)
  RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT 'server', true, false, s.name,
         CASE WHEN s.source IN ('default', 'environment variable', 'configuration file', 'command line', 'override') THEN s.setting
              ELSE coalesce((SELECT f.setting FROM pg_file_settings f WHERE lower(f.name) = s.name AND f.applied ORDER BY f.seqno DESC LIMIT 1),
                            s.boot_val) END
  FROM pg_settings s
  UNION ALL
  SELECT concat_ws(' in ', 'role ' || quote_ident(r.rolname), 'database ' || quote_ident(d.datname)), false, r.oid IS NULL,
         split_part(entry, '=', 1), substr(entry, strpos(entry, '=') + 1)
  FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole LEFT JOIN pg_database d ON d.oid = s.setdatabase
  CROSS JOIN LATERAL unnest(s.setconfig) entry
  WHERE (s.setdatabase = 0 OR d.datname = current_database()) AND (s.setrole = 0 OR r.rolcanlogin)
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audited_settings() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audited_settings() IS 'settings of the server, of this database and of roles in it';

CREATE FUNCTION tde_internal.tde_audit_logging() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT f.severity, f.topic, s.scope, format('%s = %s: %s', s.name, s.value, f.finding), f.hint
  FROM tde_internal.tde_audited_settings() s CROSS JOIN LATERAL (VALUES
    ('log_statement', s.value ~* '^(mod|all)$', 'warning', 'statement log', 'statements are logged with their constants',
     'Set it to none or ddl; or let clients use parameters, and set log_parameter_max_length = 0.'),
    ('log_statement', s.value ~* '^ddl$', 'notice', 'statement log', 'constants of defaults, CHECK constraints and partition bounds are logged',
     'Set it to none while such statements run.'),
    ('log_min_duration_statement', s.value !~ '^-', 'warning', 'statement log', 'statements that take so long are logged with their constants',
     'Let clients use parameters, and set log_parameter_max_length = 0.'),
    ('log_min_duration_sample', s.value !~ '^-', 'warning', 'statement log', 'some statements are logged with their constants',
     'Let clients use parameters, and set log_parameter_max_length = 0.'),
    ('log_transaction_sample_rate', s.value !~ '^[0.]+$', 'warning', 'statement log', 'statements of some transactions are logged with their constants',
     'Let clients use parameters, and set log_parameter_max_length = 0.'),
    ('log_min_error_statement', s.value !~* '^(log|fatal|panic)$', 'notice', 'statement log', 'statements that fail are logged with their constants',
     'Let clients use parameters, or set it to panic.'),
    ('log_parameter_max_length_on_error', s.value !~ '^0', 'warning', 'statement log', 'parameters of statements that fail are logged', 'Set it to 0.'),
    ('auto_explain.log_min_duration', s.value !~ '^-', 'warning', 'statement log', 'statements and plans are logged with the constants of their conditions',
     'Set it to -1, or let clients use parameters and set auto_explain.log_parameter_max_length = 0.'),
    ('pgaudit.log', s.value !~* '^(none)?$', 'warning', 'statement log', 'statements are logged with their constants',
     'Let clients use parameters, and set pgaudit.log_parameter = off.'),
    (CASE WHEN s.name ~ '^debug_print_' THEN s.name END, s.value ~* '^(on|true|yes|1)$', 'warning', 'statement log',
     'trees of statements are logged with their constants', 'Set it to off.'),
    ('pg_stat_statements.track_utility', s.value !~* '^(off|false|no|0)$', 'warning', 'statement statistics',
     'the file of pg_stat_statements can hold constants of defaults, views, partition bounds and DO blocks in clear',
     'Set it to off, then: SELECT pg_stat_statements_reset();')
  ) AS f (name, applies, severity, topic, finding, hint)
  WHERE f.name = s.name AND f.applies
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_logging() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_logging() IS 'tde_audit(): settings that write constants of statements down';

-- Who takes rows elsewhere, in clear, whatever is stored in the table.  What a function does with a row as text is not looked at.
CREATE FUNCTION tde_internal.tde_audit_capture() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT f.severity, 'row capture', g.tgrelid::regclass::text, format('trigger %I, function %s: %s', g.tgname, p.oid::regprocedure, f.finding), f.hint
  FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid CROSS JOIN LATERAL (VALUES
    (p.pronamespace = to_regnamespace('pgq'), 'warning', 'rows are put into tables of events in clear',
     'Drop it, or have it ignore the encrypted columns: ignore=COLUMN,COLUMN.'),
    (p.proname = 'triggered_change_notification' AND EXISTS (
       SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
       WHERE i.indrelid = g.tgrelid AND i.indisprimary AND s.base_type IS NOT NULL),
     'warning', 'values of the encrypted primary key are sent in clear to all who listen', 'Drop it, or take another primary key.'),
    (p.prosrc ~ '^tde_tsvector_update_trigger' AND p.pronamespace = 'tde_internal'::regnamespace AND NOT EXISTS (
       SELECT FROM pg_attribute a CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
       WHERE a.attrelid = g.tgrelid AND s.base_type IS NOT NULL
         AND a.attname = convert_from(substr(g.tgargs, 1, position(decode('00', 'hex') IN g.tgargs) - 1), getdatabaseencoding())),
     'warning', 'words of encrypted columns are stored in clear, in a tsvector column', 'Drop it, or give that column an encrypted type.'),
    (p.prosrc ~* E'\\m(to_jsonb?|row_to_json|jsonb?_build_object|hstore|xmlforest)\\s*\\(\\s*(new|old)\\M' OR p.prosrc ~* E'\\m(new|old)\\s*(\\.\\s*\\*\\s*)?\\)?\\s*::\\s*(text|jsonb?)\\M',
     'notice', 'rows become text or JSON, which is in clear unless it is stored in an encrypted column',
     'Encrypt the column that gets it, or store rows in columns of the types that this table has.')
  ) AS f (applies, severity, finding, hint)
  WHERE f.applies AND NOT g.tgisinternal AND g.tgenabled <> 'D' AND EXISTS (
    SELECT FROM pg_attribute a CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
    WHERE a.attrelid = g.tgrelid AND a.attnum > 0 AND NOT a.attisdropped AND s.base_type IS NOT NULL)
  UNION ALL
  SELECT 'warning', 'row capture', s.scope, 'pg_qualstats keeps constants of conditions and statements as examples, in clear',
         'Set pg_qualstats.enabled = off, then: SELECT pg_qualstats_reset();'
  FROM tde_internal.tde_audited_settings() s WHERE s.name = 'pg_qualstats.enabled' AND s.value ~* '^(on|true|yes|1)$'
  UNION ALL
  SELECT 'warning', 'row capture', 'extension ' || quote_ident(x.extname), f.finding, f.hint
  FROM pg_extension x JOIN (VALUES
    ('^powa$', 'what pg_qualstats keeps is copied into its tables, in clear', 'Set pg_qualstats.enabled = off, and empty its tables.'),
    ('^pgpool_', 'the query cache of pgpool-II, if it is on, goes on giving out values when the wallet is closed or a role has lost the right to decrypt',
     'Set memory_cache_enabled = off in pgpool.conf, or name the tables in cache_unsafe_memqcache_table_list.')
  ) AS f (name, finding, hint) ON x.extname ~ f.name
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_capture() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_capture() IS 'tde_audit(): triggers and extensions that keep values of encrypted columns in clear';

CREATE FUNCTION tde_internal.tde_path_schemas(path text) RETURNS SETOF name
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE WHEN word[1] ~ '^"' THEN replace(trim(both '"' FROM word[1]), '""', '"') ELSE lower(word[1]) END
  FROM regexp_matches(path, '"(?:[^"]|"")*"|[^",[:space:]]+', 'g') AS m (word)
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_path_schemas(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_path_schemas(text) IS 'names of the schemas in a search_path, not quoted';

-- The extension's own types have their operators in pg_catalog.  A function that is parsed when it is called uses such a type if it names a
-- table that has it.
CREATE FUNCTION tde_internal.tde_audit_search_path() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH s AS (SELECT * FROM tde_internal.tde_audited_settings() WHERE name = 'search_path'),
  used AS (
    SELECT t.type, n.nspname, c.relname
    FROM tde.types t JOIN pg_type y ON y.oid = t.type JOIN pg_proc m ON m.oid = y.typmodin JOIN pg_namespace n ON n.oid = m.pronamespace
    JOIN pg_attribute a ON a.atttypid IN (y.oid, y.typarray) JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
    WHERE NOT t.shipped),
  paths AS (
    SELECT s.scope, s.value, NULL AS source FROM s WHERE NOT (s.of_server AND EXISTS (SELECT FROM s WHERE of_database))
    UNION ALL
    SELECT 'function ' || p.oid::regprocedure, substr(entry, strpos(entry, '=') + 1), p.prosrc
    FROM pg_proc p CROSS JOIN LATERAL unnest(p.proconfig) entry WHERE entry LIKE 'search_path=%')
  SELECT DISTINCT 'warning', 'search path', p.scope,
         format('search_path = %s lacks schema %I: comparisons with columns of type %s take the operators of the base type, and no index',
                p.value, u.nspname, u.type),
         format('Add %I to it.', u.nspname)
  FROM paths p JOIN used u ON p.source IS NULL OR strpos(p.source, u.relname) > 0
  WHERE u.nspname NOT IN (SELECT w.schema FROM tde_internal.tde_path_schemas(p.value) w (schema))
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_search_path() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_search_path() IS 'tde_audit(): schemas of users'' encrypted types on the search paths of the server, this database, roles and functions';

-- What superusers have made is theirs to answer for, and casts of an encrypted type that tde_create_type() has made call the library.
CREATE FUNCTION tde_internal.tde_audit_names() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH made AS (
    SELECT p.tableoid AS catalog, p.oid, p.proowner AS owner, CASE p.prokind WHEN 'a' THEN 'AGGREGATE' ELSE 'ROUTINE' END AS kind,
           p.oid::regprocedure::text AS name, NULL AS cast_types
    FROM pg_proc p WHERE NOT tde_internal.tde_is_core(p.oid)
    UNION ALL
    SELECT o.tableoid, o.oid, o.oprowner, 'OPERATOR', o.oid::regoperator::text, NULL
    FROM pg_operator o WHERE NOT tde_internal.tde_is_core(o.oid)
    UNION ALL
    SELECT c.tableoid, c.oid, coalesce(f.proowner, t.typowner), 'CAST', NULL, format('(%s AS %s)', c.castsource::regtype, c.casttarget::regtype)
    FROM pg_cast c JOIN pg_type t ON t.oid = c.casttarget LEFT JOIN pg_proc f ON f.oid = c.castfunc
    WHERE c.castcontext <> 'e' AND NOT tde_internal.tde_is_core(c.oid)
    UNION ALL
    SELECT t.tableoid, t.oid, t.typowner, CASE t.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, t.oid::regtype::text, NULL
    FROM pg_type t WHERE t.typtype NOT IN ('c', 'p') AND NOT tde_internal.tde_is_core(t.oid))
  SELECT DISTINCT 'warning', 'captured names', coalesce(m.name, 'cast ' || m.cast_types),
         CASE WHEN m.kind = 'CAST' THEN format('made by %I: applied to encrypted values by itself', r.rolname)
              WHEN m.kind IN ('DOMAIN', 'TYPE') THEN format('made by %I: functions of this name in schema %I, called with encrypted values, are casts to it', r.rolname, m.meant)
              ELSE format('made by %I: called for encrypted values in place of that of schema %I', r.rolname, m.meant) END,
         CASE WHEN m.kind = 'CAST' THEN format('DROP CAST %s; the owner may create it without AS IMPLICIT.', m.cast_types)
              WHEN m.kind = 'OPERATOR' THEN format('See what it does. DROP OPERATOR %s; its owner may give it another name.', m.name)
              ELSE format('See what it does. ALTER %s %s RENAME TO another name, or DROP it.', m.kind, m.name) END
  FROM (SELECT made.*, tde_internal.tde_taken_name(made.catalog, made.oid) AS meant FROM made JOIN pg_roles o ON o.oid = made.owner AND NOT o.rolsuper) m
  JOIN pg_roles r ON r.oid = m.owner
  WHERE m.meant IS NOT NULL
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_names() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_names() IS
  'tde_audit(): functions, operators and casts of others that are called for encrypted values in place of PostgreSQL''s or ours';

-- An owner may do so anyway; "$user" is a role's own schema.
CREATE FUNCTION tde_internal.tde_audit_path_schemas() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE WHEN bool_or(a.grantee = 0) THEN 'warning' ELSE 'notice' END, 'schema privileges', n.oid::regnamespace::text,
         format('on a search path (%s), and these may make objects in it, which statements of others then use: %s',
                string_agg(DISTINCT s.scope, ', '), string_agg(DISTINCT coalesce(quote_ident(r.rolname), 'PUBLIC'), ', ')),
         format('REVOKE CREATE ON SCHEMA %s FROM %s; or take it off the paths of those who do not trust them.', n.oid::regnamespace,
                string_agg(DISTINCT coalesce(quote_ident(r.rolname), 'PUBLIC'), ', '))
  FROM tde_internal.tde_audited_settings() s
  CROSS JOIN LATERAL tde_internal.tde_path_schemas(s.value) p (schema)
  JOIN pg_namespace n ON n.nspname = p.schema
  CROSS JOIN LATERAL aclexplode(n.nspacl) a
  LEFT JOIN pg_roles r ON r.oid = a.grantee
  WHERE s.name = 'search_path' AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner AND r.rolsuper IS NOT true
  GROUP BY n.oid
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_path_schemas() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_path_schemas() IS 'tde_audit(): schemas on search paths in which others than their owners may make objects';

-- A file that was put in another one's place shows in its first pages.
CREATE FUNCTION tde_internal.tde_audit_key_wall() RETURNS SETOF tde_internal.tde_finding
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  r record;
BEGIN
  RETURN QUERY
  SELECT 'warning', 'key wall', scope, 'key_wall = warn: values under other keys than their columns declare are read',
         CASE WHEN of_database THEN format('If SELECT * FROM tde_foreign_values() finds none: ALTER DATABASE %I RESET tde_column.key_wall;', current_database())
              ELSE 'If SELECT * FROM tde_foreign_values() finds none in any database, take the setting back.' END
  FROM tde_internal.tde_audited_settings() WHERE name = 'tde_column.key_wall' AND lower(value) = 'warn';
  FOR r IN SELECT t.relation FROM tde_internal.tde_declared_tables() t LOOP
    BEGIN
      RETURN QUERY
      SELECT 'error', 'key wall', r.relation::text,
             format('column %I is declared with key "%s", and has values under key "%s" in its first pages: %s', f."column", f.declared_key, f.key, f.count),
             format('Only if you know how they got there: CALL tde_rekey_table(%L, repair => true);', r.relation)
      FROM tde_internal.tde_foreign_values_in(r.relation, 4) f;
    EXCEPTION WHEN OTHERS THEN
      RETURN QUERY SELECT 'error', 'key wall', r.relation::text, format('cannot be read: %s', SQLERRM), NULL;
    END;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_key_wall() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_key_wall() IS 'tde_audit(): values under other keys than their columns declare';
