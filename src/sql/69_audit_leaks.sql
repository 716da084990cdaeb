--
-- tde_audit(): where values of encrypted columns are in clear
--
-- What catalogs tell, by dependencies and by the expressions and queries that they keep.  No table is read, and no expression evaluated.
--

CREATE FUNCTION tde_internal.tde_tree_in_clear(tree pg_node_tree, column_number int2, commands_only boolean) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_tree_in_clear(pg_node_tree, int2, boolean) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_tree_in_clear(pg_node_tree, int2, boolean) IS
  'whether what an expression or query computes, if it is stored, holds in clear what is computed of encrypted columns';

CREATE FUNCTION tde_internal.tde_tree_has_constant(tree pg_node_tree) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_tree_has_constant(pg_node_tree) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_tree_has_constant(pg_node_tree) IS
  'whether a constant stands in clear where it is compared with an encrypted value, or becomes one';

-- What is stored of expressions and queries.
CREATE FUNCTION tde_internal.tde_audit_stored() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH columns AS MATERIALIZED (SELECT * FROM tde_internal.tde_audited_columns()),
  tables AS MATERIALIZED (SELECT DISTINCT relation FROM columns)
  SELECT 'warning', 'stored in clear', c.oid::regclass::text,
         format('a materialized view with decrypted values: %s', string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)),
         format('Cast these columns to encrypted types in its query. Until then: REFRESH MATERIALIZED VIEW %s WITH NO DATA;', c.oid::regclass)
  FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind = 'm' AND c.relispopulated AND tde_internal.tde_tree_in_clear(r.ev_action, a.attnum, false)
  GROUP BY c.oid
  UNION ALL
  SELECT 'warning', 'stored in clear', r.ev_class::regclass::text, format('rule %I puts decrypted values into a plain column', r.rulename),
         format('Give that column an encrypted type, or: DROP RULE %I ON %s;', r.rulename, r.ev_class::regclass)
  FROM pg_rewrite r WHERE r.ev_type <> '1' AND tde_internal.tde_tree_in_clear(r.ev_action, 0::int2, true)
  UNION ALL
  SELECT 'warning', 'stored in clear', p.oid::regprocedure::text, 'a function whose commands put decrypted values into a plain column',
         format('Give that column an encrypted type, or: DROP %s %s;', CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, p.oid::regprocedure)
  FROM pg_proc p WHERE p.prosqlbody IS NOT NULL AND p.oid >= 16384 AND tde_internal.tde_tree_in_clear(p.prosqlbody, 0::int2, true)
  UNION ALL
  SELECT 'warning', 'stored in clear', d.adrelid::regclass::text, format('generated column %I has decrypted values', a.attname),
         format('ALTER TABLE %s ALTER COLUMN %I DROP EXPRESSION, DROP COLUMN %2$I;', d.adrelid::regclass, a.attname)
  FROM pg_attrdef d JOIN tables t ON t.relation = d.adrelid JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  WHERE a.attgenerated = 's' AND tde_internal.tde_tree_in_clear(d.adbin, 0::int2, false)
  UNION ALL
  SELECT 'warning', 'stored in clear', i.indexrelid::regclass::text,
         format('an index over an expression of table %s that holds decrypted values, by a function that is declared IMMUTABLE', i.indrelid::regclass),
         format('Let the function take and return encrypted types, or: DROP INDEX %s;', i.indexrelid::regclass)
  FROM pg_index i JOIN tables t ON t.relation = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid AND NOT x.relispartition AND x.relpersistence <> 't'
  WHERE i.indexprs IS NOT NULL AND tde_internal.tde_tree_in_clear(i.indexprs, 0::int2, false)
  UNION ALL
  SELECT 'warning', 'stored in clear', p.partrelid::regclass::text, 'its partition key holds decrypted values, by a function that is declared IMMUTABLE: bounds have them',
         'Make it again with a partition key of encrypted columns.'
  FROM pg_partitioned_table p JOIN tables t ON t.relation = p.partrelid WHERE p.partexprs IS NOT NULL AND tde_internal.tde_tree_in_clear(p.partexprs, 0::int2, false)
  UNION ALL
  SELECT 'warning', 'stored in clear', s.stxrelid::regclass::text, format('statistics %s keep decrypted values', o.identity),
         format('Name the columns themselves, whose statistics are encrypted: DROP STATISTICS %s;', o.identity)
  FROM pg_statistic_ext s JOIN tables t ON t.relation = s.stxrelid CROSS JOIN LATERAL pg_identify_object(s.tableoid, s.oid, 0) o
  WHERE s.stxexprs IS NOT NULL AND tde_internal.tde_tree_in_clear(s.stxexprs, 0::int2, false)
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_stored() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_stored() IS 'tde_audit(): what is computed of encrypted columns and stored in clear';

-- Plain columns that have, or may have, what encrypted ones have.  Of a table that was copied from decrypted values nothing is left but names.
CREATE FUNCTION tde_internal.tde_audit_copies() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH columns AS MATERIALIZED (SELECT * FROM tde_internal.tde_audited_columns() WHERE relkind IN ('r', 'p', 'f')),
  plain AS MATERIALIZED (SELECT * FROM tde_internal.tde_plain_columns()),
  keys AS MATERIALIZED (
    SELECT DISTINCT p.relation, p.attnum, p.attname, e.relation AS encrypted_relation, e.attname AS encrypted_name
    FROM pg_constraint o CROSS JOIN LATERAL unnest(o.conkey, o.confkey) k (own, other)
    CROSS JOIN LATERAL (VALUES (o.conrelid, k.own, o.confrelid, k.other), (o.confrelid, k.other, o.conrelid, k.own)) s (relation, attnum, other_relation, other_attnum)
    JOIN plain p ON p.relation = s.relation AND p.attnum = s.attnum JOIN columns e ON e.relation = s.other_relation AND e.attnum = s.other_attnum
    WHERE o.contype = 'f' AND o.conparentid = 0),
  named AS MATERIALIZED (
    SELECT e.attname, e.base_id, min(e.relation::regclass::text) AS encrypted_relation FROM columns e WHERE NOT e.is_temporary AND NOT e.is_partition GROUP BY 1, 2)
  SELECT 'warning', 'stored in clear', relation::regclass::text,
         format('by foreign key, column %I has values of encrypted column %s.%I in clear', attname, encrypted_relation::regclass, encrypted_name),
         format('CALL tde_encrypt_column(%L, %L);', relation::regclass, attname)
  FROM keys
  UNION ALL
  SELECT 'notice', 'stored in clear', p.relation::regclass::text,
         format('in clear, while columns of the same names are encrypted elsewhere: %s', string_agg(format('%I (%s)', p.attname, n.encrypted_relation), ', ' ORDER BY p.attnum)),
         format('If they have the same values: CALL tde_encrypt_columns(%L, %L);', p.relation::regclass, array_agg(p.attname ORDER BY p.attnum))
  FROM plain p JOIN named n ON n.attname = p.attname AND n.base_id = p.type_id
  WHERE NOT EXISTS (SELECT FROM keys k WHERE k.relation = p.relation AND k.attnum = p.attnum)
  GROUP BY p.relation
  UNION ALL
  SELECT 'notice', 'plain columns', p.relation::regclass::text,
         format('in clear, and named as what is personal or secret: %s', string_agg(format('%I (%s)', p.attname, d.kind), ', ' ORDER BY p.attnum)),
         format('Look at values with tde_discover(), then: CALL tde_encrypt_columns(%L, %L);', p.relation::regclass, array_agg(p.attname ORDER BY p.attnum))
  FROM plain p CROSS JOIN LATERAL (SELECT min(k.kind) AS kind FROM tde_internal.tde_sensitive_kinds() k WHERE p.attname ~* k.names) d
  WHERE d.kind IS NOT NULL AND NOT EXISTS (SELECT FROM named n WHERE n.attname = p.attname AND n.base_id = p.type_id)
  GROUP BY p.relation
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_copies() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_copies() IS 'tde_audit(): plain columns with the values or the names of encrypted ones, and those with names that tell';

-- Constants of base types beside encrypted columns: of a bare literal there is ciphertext in the catalogs.
CREATE FUNCTION tde_internal.tde_audit_constants() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH columns AS MATERIALIZED (SELECT * FROM tde_internal.tde_audited_columns()),
  tables AS MATERIALIZED (SELECT DISTINCT relation FROM columns),
  types AS MATERIALIZED (SELECT DISTINCT type_id FROM columns)
  SELECT 'notice', 'constants', f.object, format('%s has a constant in clear', f.part),
         format('Write it as a string without a type, for it to be encrypted. It goes by: %s;', f.command)
  FROM (
    SELECT o.conrelid::regclass::text AS object, format('constraint %I', o.conname) AS part, o.conbin AS tree, format('ALTER TABLE %s DROP CONSTRAINT %I', o.conrelid::regclass, o.conname) AS command
    FROM pg_constraint o JOIN tables t ON t.relation = o.conrelid WHERE o.contype = 'c' AND o.conislocal
    UNION ALL
    SELECT o.contypid::regtype::text, format('constraint %I', o.conname), o.conbin, format('ALTER DOMAIN %s DROP CONSTRAINT %I', o.contypid::regtype, o.conname)
    FROM pg_constraint o JOIN pg_type d ON d.oid = o.contypid WHERE o.contype = 'c' AND tde_internal.tde_catalog_type(d.typbasetype) <> d.typbasetype
    UNION ALL
    SELECT d.adrelid::regclass::text, format('the default of column %I', c.attname), d.adbin,
           format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', d.adrelid::regclass, c.attname)
    FROM pg_attrdef d JOIN columns c ON c.relation = d.adrelid AND c.attnum = d.adnum JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = ''
    UNION ALL
    SELECT p.polrelid::regclass::text, format('policy %I', p.polname), x.tree, format('DROP POLICY %I ON %s', p.polname, p.polrelid::regclass)
    FROM pg_policy p JOIN tables t ON t.relation = p.polrelid CROSS JOIN LATERAL (VALUES (p.polqual), (p.polwithcheck)) x (tree)
    UNION ALL
    SELECT g.tgrelid::regclass::text, format('the condition of trigger %I', g.tgname), g.tgqual, format('DROP TRIGGER %I ON %s', g.tgname, g.tgrelid::regclass)
    FROM pg_trigger g JOIN tables t ON t.relation = g.tgrelid WHERE g.tgparentid = 0
    UNION ALL
    SELECT i.indexrelid::regclass::text, 'its condition', i.indpred, format('DROP INDEX %s', i.indexrelid::regclass)
    FROM pg_index i JOIN tables t ON t.relation = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid AND NOT x.relispartition
    UNION ALL
    SELECT r.ev_class::regclass::text, CASE WHEN r.ev_type = '1' THEN 'its query' ELSE format('rule %I', r.rulename) END, x.tree,
           CASE WHEN r.ev_type <> '1' THEN format('DROP RULE %I ON %s', r.rulename, r.ev_class::regclass)
                ELSE format('DROP %s %s', CASE v.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, r.ev_class::regclass) END
    FROM pg_rewrite r JOIN pg_class v ON v.oid = r.ev_class CROSS JOIN LATERAL (VALUES (r.ev_action), (r.ev_qual)) x (tree)
    WHERE EXISTS (SELECT FROM pg_depend d JOIN tables t ON t.relation = d.refobjid
                  WHERE d.classid = r.tableoid AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = v.tableoid AND d.objid = v.oid AND d.deptype = 'e')
  ) AS f (object, part, tree, command)
  WHERE f.tree IS NOT NULL AND tde_internal.tde_tree_has_constant(f.tree)
  GROUP BY f.object, f.part, f.command
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_constants() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_constants() IS 'tde_audit(): constants in clear in CHECK constraints, defaults, policies, conditions, views and rules';

-- Who gets values in clear and may store them: whether the other side encrypts them, no catalog here tells.
CREATE FUNCTION tde_internal.tde_audit_sent() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH columns AS MATERIALIZED (SELECT * FROM tde_internal.tde_audited_columns() WHERE relkind IN ('r', 'p', 'f') AND NOT is_temporary),
  published AS (
    SELECT p.pubname, t.tablename, t.schemaname, count(*) OVER (PARTITION BY p.pubname) AS tables, row_number() OVER (PARTITION BY p.pubname ORDER BY t.schemaname, t.tablename) AS number
    FROM pg_publication p JOIN pg_publication_tables t USING (pubname)
    WHERE EXISTS (SELECT FROM columns c JOIN pg_class k ON k.oid = c.relation JOIN pg_namespace n ON n.oid = k.relnamespace
                  WHERE n.nspname = t.schemaname AND k.relname = t.tablename AND c.attname = ANY (t.attnames)))
  SELECT 'notice', 'sent in clear', format('publication %I', pubname),
         format('subscribers get values of encrypted columns in clear, of %s tables such as %s', tables, string_agg(format('%I.%I', schemaname, tablename), ', ' ORDER BY number)),
         format('See that they store them encrypted, and that the connection is encrypted. Otherwise: DROP PUBLICATION %I;', pubname)
  FROM published WHERE number <= 3 GROUP BY pubname, tables
  UNION ALL
  SELECT 'notice', 'sent in clear', format('slot %s', slot_name), format('whoever may use this slot for logical decoding (%s) gets values of encrypted columns in clear', plugin),
         format('If nobody needs it: SELECT pg_drop_replication_slot(%L);', slot_name)
  FROM pg_replication_slots WHERE slot_type = 'logical' AND database = current_database() AND EXISTS (SELECT FROM columns)
  UNION ALL
  SELECT CASE WHEN w.fdwname = 'file_fdw' THEN 'warning' ELSE 'notice' END, 'sent in clear', c.relation::regclass::text,
         format('server %I (%I) gets values in clear, or has them: %s', s.srvname, w.fdwname, string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum)),
         format('See that its columns are encrypted, and the connection. Otherwise: DROP FOREIGN TABLE %s;', c.relation::regclass)
  FROM columns c JOIN pg_foreign_table f ON f.ftrelid = c.relation JOIN pg_foreign_server s ON s.oid = f.ftserver JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
  GROUP BY c.relation, s.srvname, w.fdwname
  UNION ALL
  SELECT 'warning', 'sent in clear', format('process %s', pid),
         format('%s by user %I: it writes values in clear, unless its session has set tde_column.io_format = ciphertext', application_name, usename),
         format('If it shall not: SELECT pg_terminate_backend(%s);', pid)
  FROM pg_stat_activity WHERE application_name ~ '^pg_dump' AND datname = current_database() AND EXISTS (SELECT FROM columns)
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_sent() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_sent() IS 'tde_audit(): publications, slots, foreign tables and dumps';

-- Jobs of pg_cron.  Its table is read only if it is what that extension has made: a plain table of its own.
CREATE FUNCTION tde_internal.tde_audit_jobs() RETURNS SETOF tde_internal.tde_finding
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  jobs regclass;
BEGIN
  SELECT c.oid INTO jobs
  FROM pg_extension x JOIN pg_depend d ON d.refclassid = x.tableoid AND d.refobjid = x.oid AND d.deptype = 'e' AND d.classid = 'pg_class'::regclass
  JOIN pg_class c ON c.oid = d.objid AND c.relname = 'job' AND c.relkind = 'r' AND NOT c.relrowsecurity
  WHERE x.extname = 'pg_cron';
  IF jobs IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($query$
    SELECT 'notice', 'row capture', format('job %%s of pg_cron', j.jobid),
           format('its command, and what it returns, are kept in clear; it names a table with encrypted columns: %%s', string_agg(DISTINCT c.relname, ', ')),
           format('Let it call a function, and have it return nothing. Otherwise: SELECT cron.unschedule(%%s);', j.jobid)
    FROM ONLY %s j JOIN tde_internal.tde_audited_columns() a ON a.relkind IN ('r', 'p', 'f') JOIN pg_class c ON c.oid = a.relation AND strpos(j.command, c.relname) > 0
    WHERE j.database = current_database()
    GROUP BY j.jobid$query$, jobs);
END
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_jobs() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_jobs() IS 'tde_audit(): jobs of pg_cron that name tables with encrypted columns';
