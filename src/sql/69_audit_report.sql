--
-- tde_audit(): all findings, as rows and as JSON
--

-- What is said of a topic without findings, and what in PCI DSS 4.0.1 and in Annex A of ISO/IEC 27001:2022 it belongs to: docs/compliance.md.
CREATE FUNCTION tde_internal.tde_audit_topics(OUT topic text, OUT good text, OUT pci_dss text[], OUT iso_27001 text[]) RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  VALUES
    ('version', 'library and extension are of one version', ARRAY['6.3.3'], ARRAY['A.8.8']),
    ('preloading', 'the library is preloaded', ARRAY['2.2.1'], ARRAY['A.8.9']),
    ('policy', 'nothing is in the way of what tde_column.require asks for', ARRAY['3.5.1', '12.3.3'], ARRAY['A.5.31', 'A.8.24']),
    ('wallet file', 'it is there, belongs to the server alone, and is the one that was opened', ARRAY['3.6.1.2', '3.6.1.3', '3.6.1.4'], ARRAY['A.8.3', 'A.8.24']),
    ('wallet', 'open', ARRAY['3.6.1'], ARRAY['A.8.24']),
    ('passphrase command', 'configured', ARRAY['3.6.1.2', '3.7.6'], ARRAY['A.8.24']),
    ('master keys', 'the current one wraps the data keys of this database', ARRAY['3.6.1.2', '3.7.4', '3.7.5'], ARRAY['A.8.24']),
    ('data keys', 'all have a name, a version of the last year and room', ARRAY['3.7.4', '3.7.5'], ARRAY['A.8.24']),
    ('key wall', 'values are under their columns'' keys, as far as the first pages of tables show, and others are refused', ARRAY['3.5.1', '3.7.7'], ARRAY['A.8.24']),
    ('columns', 'all are salted, have a MAC and use AES', ARRAY['3.5.1'], ARRAY['A.8.24']),
    ('conversions', 'none is unfinished', ARRAY['3.5.1'], ARRAY['A.8.24']),
    ('plain columns', 'no plain column has a name that tells of personal data or secrets', ARRAY['3.5.1', '12.5.2'], ARRAY['A.5.9', 'A.5.12', 'A.5.34']),
    ('stored in clear', 'as far as catalogs tell, nothing that is stored is computed of encrypted columns', ARRAY['3.2.1', '3.5.1'], ARRAY['A.8.12', 'A.8.24']),
    ('constants', 'no stored expression has a plain constant beside an encrypted column', ARRAY['3.5.1'], ARRAY['A.8.12']),
    ('sent in clear', 'no publication, slot, foreign table or dump takes values elsewhere', ARRAY['3.5.1', '4.2.1'], ARRAY['A.5.14', 'A.8.12']),
    ('order', 'no index tells the order of encrypted values', ARRAY['3.5.1'], ARRAY['A.8.24']),
    ('index salts', 'no gin index has entries that are comparable with those of another one', ARRAY['3.5.1'], ARRAY['A.8.24']),
    ('row capture', 'no trigger, no job and no extension that is known here takes values elsewhere', ARRAY['3.5.1'], ARRAY['A.8.12']),
    ('statement log', 'no setting has statements logged', ARRAY['3.5.1'], ARRAY['A.8.12', 'A.8.15']),
    ('statement statistics', 'they hold no constants', ARRAY['3.5.1'], ARRAY['A.8.12']),
    ('freezing', 'no table waits for the wallet', ARRAY[]::text[], ARRAY['A.8.6']),
    ('schema privileges', 'no role may make objects in somebody else''s schema on a search path', ARRAY['7.2.2'], ARRAY['A.8.2', 'A.8.3']),
    ('captured names', 'encrypted values go to nobody else''s functions, operators and casts by their names', ARRAY['6.2.4', '7.2.2'], ARRAY['A.8.3']),
    ('search path', 'all have the schemas of users'' encrypted types that are used with them', ARRAY['2.2.1'], ARRAY['A.8.9'])
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_topics() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_topics() IS 'tde_audit(): its topics, and what they belong to in PCI DSS 4.0.1 and in Annex A of ISO/IEC 27001:2022';

-- A hint that ends with a semicolon ends with the command, after a colon or from its start.
CREATE FUNCTION tde_internal.tde_hinted_command(hint text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT substring(CASE WHEN hint ~ '^[A-Z]{4}' THEN hint ELSE regexp_replace(hint, E'^[^\'":]*: ', '') END FROM '^[A-Z]{4,} .*;$')
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_hinted_command(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_hinted_command(text) IS 'tde_audit(): the command in a hint; NULL if it has none that can be run as it is';

-- SECURITY DEFINER, so that it takes EXECUTE on this one function alone.  It reads catalogs, settings and the wallet's state.
CREATE FUNCTION @extschema@.tde_audit() RETURNS TABLE (severity text, topic text, object text, finding text, hint text, command text)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  WITH found AS MATERIALIZED (
    SELECT * FROM tde_internal.tde_audit_library()
    UNION ALL SELECT * FROM tde_internal.tde_audit_policy()
    UNION ALL SELECT * FROM tde_internal.tde_audit_wallet()
    UNION ALL SELECT * FROM tde_internal.tde_audit_master_keys()
    UNION ALL SELECT * FROM tde_internal.tde_audit_keys()
    UNION ALL SELECT * FROM tde_internal.tde_audit_tables()
    UNION ALL SELECT * FROM tde_internal.tde_audit_columns()
    UNION ALL SELECT * FROM tde_internal.tde_audit_stored()
    UNION ALL SELECT * FROM tde_internal.tde_audit_copies()
    UNION ALL SELECT * FROM tde_internal.tde_audit_constants()
    UNION ALL SELECT * FROM tde_internal.tde_audit_sent()
    UNION ALL SELECT * FROM tde_internal.tde_audit_jobs()
    UNION ALL SELECT * FROM tde_internal.tde_audit_key_wall()
    UNION ALL SELECT * FROM tde_internal.tde_audit_order()
    UNION ALL SELECT * FROM tde_internal.tde_audit_freezing()
    UNION ALL SELECT * FROM tde_internal.tde_audit_logging()
    UNION ALL SELECT * FROM tde_internal.tde_audit_capture()
    UNION ALL SELECT * FROM tde_internal.tde_audit_search_path()
    UNION ALL SELECT * FROM tde_internal.tde_audit_path_schemas()
    UNION ALL SELECT * FROM tde_internal.tde_audit_names())
  SELECT r.severity, r.topic, r.object, r.finding, r.hint, tde_internal.tde_hinted_command(r.hint) FROM (
    SELECT * FROM found
    UNION ALL
    SELECT 'ok', t.topic, NULL, t.good, NULL FROM tde_internal.tde_audit_topics() t WHERE NOT EXISTS (SELECT FROM found WHERE found.topic = t.topic)) AS r
  ORDER BY array_position(ARRAY['error', 'warning', 'notice', 'ok'], r.severity), r.topic, r.object, r.finding
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION @extschema@.tde_audit() FROM PUBLIC;
-- new in 0.2.0
GRANT EXECUTE ON FUNCTION @extschema@.tde_audit() TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tde_audit() IS
  'check this server and database: findings (error, warning, notice, ok) on wallet, keys, columns, settings and what is in clear, with the command that comes next';

CREATE FUNCTION @extschema@.tde_audit_json() RETURNS jsonb
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT jsonb_build_object(
    'tde_column', @extschema@.tde_version(), 'postgresql', current_setting('server_version'), 'system_identifier', (SELECT c.system_identifier::text FROM pg_control_system() c),
    'database', current_database(), 'time', now(),
    'findings', jsonb_agg(jsonb_build_object('severity', a.severity, 'topic', a.topic, 'object', a.object, 'finding', a.finding, 'hint', a.hint, 'command', a.command,
                                             'pci_dss_4_0_1', t.pci_dss, 'iso_27001_2022', t.iso_27001) ORDER BY a.ordinality))
  FROM @extschema@.tde_audit() WITH ORDINALITY a JOIN tde_internal.tde_audit_topics() t ON t.topic = a.topic
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION @extschema@.tde_audit_json() FROM PUBLIC;
-- new in 0.2.0
GRANT EXECUTE ON FUNCTION @extschema@.tde_audit_json() TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tde_audit_json() IS 'tde_audit() as one JSON document, with the requirements of PCI DSS and ISO 27001 that each finding belongs to';
