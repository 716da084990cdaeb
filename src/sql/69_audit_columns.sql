--
-- tde_audit(): how columns are encrypted, and which are not
--
-- A database has many columns, and few types of them are encrypted: the types are looked up first, and once.
--

CREATE FUNCTION tde_internal.tde_audited_columns(OUT relation oid, OUT relkind "char", OUT is_temporary boolean, OUT is_partition boolean, OUT is_inherited boolean,
                                                 OUT attnum int2, OUT attname name, OUT type text, OUT type_id oid, OUT typmod int4, OUT base_id oid, OUT base_type text, OUT cipher text,
                                                 OUT mode text, OUT salt boolean, OUT mac text)
  RETURNS SETOF record
LANGUAGE sql VOLATILE ROWS 10000
SET search_path = pg_catalog, pg_temp
AS $$
  WITH encrypted AS MATERIALIZED (
    SELECT u.type_id, t.base::oid AS base_id FROM tde.types t JOIN pg_type y ON y.oid = t.type CROSS JOIN LATERAL unnest(ARRAY[y.oid, y.typarray]) u (type_id))
  SELECT c.oid, c.relkind, c.relpersistence = 't', c.relispartition, a.attinhcount > 0, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.atttypid, a.atttypmod, e.base_id,
         s.base_type, s.cipher, s.mode, s.salt, s.mac
  FROM encrypted e JOIN pg_attribute a ON a.atttypid = e.type_id JOIN pg_class c ON c.oid = a.attrelid
  CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 't')
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audited_columns() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audited_columns() IS 'tde_audit(): encrypted columns of tables, views and composite types, and how they are encrypted';

CREATE FUNCTION tde_internal.tde_plain_columns(OUT relation oid, OUT attnum int2, OUT attname name, OUT type_id oid) RETURNS SETOF record
LANGUAGE sql VOLATILE ROWS 10000
SET search_path = pg_catalog, pg_temp
AS $$
  WITH bases AS MATERIALIZED (
    SELECT u.type_id FROM tde.types t JOIN pg_type b ON b.oid = t.base CROSS JOIN LATERAL unnest(ARRAY[b.oid, b.typarray]) u (type_id)),
  numbered AS MATERIALIZED (
    SELECT d.refobjid, d.refobjsubid FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    WHERE d.classid = s.tableoid AND d.refclassid = s.tableoid AND d.deptype = 'a')
  SELECT c.oid, a.attnum, a.attname, a.atttypid
  FROM bases b JOIN pg_attribute a ON a.atttypid = b.type_id JOIN pg_class c ON c.oid = a.attrelid
  WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' AND a.attgenerated = ''
    AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND NOT c.relispartition AND c.oid >= 16384
    AND NOT EXISTS (SELECT FROM numbered n WHERE n.refobjid = c.oid AND n.refobjsubid = a.attnum)
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = c.tableoid AND d.objid = c.oid AND d.deptype = 'e')
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_plain_columns() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_plain_columns() IS
  'tde_audit(): columns of users'' tables that are plain, could be encrypted, and are no serial, identity or generated columns';

CREATE FUNCTION tde_internal.tde_audit_columns() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH columns AS MATERIALIZED (SELECT * FROM tde_internal.tde_audited_columns()),
  counted AS MATERIALIZED (
    SELECT c.oid, s.staattnum, c.reltuples * (1 - s.stanullfrac) AS filled, CASE WHEN s.stadistinct < 0 THEN -s.stadistinct * c.reltuples ELSE s.stadistinct END AS different
    FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid WHERE c.reltuples >= 1000)
  SELECT w.severity, 'columns', c.relation::regclass::text,
         format('%s: %s', w.finding, string_agg(concat(quote_ident(c.attname), CASE WHEN w.few THEN format(' (about %s)', round(n.different::numeric)) END), ', ' ORDER BY c.attnum)),
         CASE WHEN w.wanted IS NULL OR c.relkind = 'm' THEN w.hint
              ELSE format('%s: ALTER %s %s %s;', w.hint, CASE c.relkind WHEN 'c' THEN 'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, c.relation::regclass,
                          string_agg(format('ALTER %s %I TYPE %s', CASE c.relkind WHEN 'c' THEN 'ATTRIBUTE' ELSE 'COLUMN' END, c.attname,
                                            regexp_replace(c.type, w.unwanted, w.wanted)), ', ' ORDER BY c.attnum)) END
  FROM columns c LEFT JOIN counted n ON n.oid = c.relation AND n.staattnum = c.attnum
  CROSS JOIN LATERAL (VALUES
    (c.cipher IS NULL, 'warning', 'declared without modifiers, and encrypted as constants are, equal values alike', 'Declare it anew', '$', '', false),
    (c.mac = 'nomac', 'warning', 'without a MAC, so that changed bytes go unnoticed', 'Give it a MAC', '(,cbc)?,(no)?salt,nomac', E',\\2salt,gcm', false),
    (c.cipher = '3des168', 'warning', 'under triple DES, of which NIST allows no new use', 'Use AES', '''3des168''', 'aes256', false),
    (NOT c.salt, 'notice', 'without salt, so that files tell which values are equal', 'If nothing needs it so', ',nosalt,', ',salt,', false),
    (NOT c.salt AND n.different * 10 <= n.filled, 'warning', 'without salt, and with so few values that their frequencies tell them', 'Give it a salt', ',nosalt,', ',salt,', true),
    (c.base_type = 'oid', 'warning', 'vacuumlo does not see which large objects it refers to, and removes them', 'ALTER TABLE ... TYPE oid, or never run vacuumlo here.', NULL, NULL, false)
  ) AS w (applies, severity, finding, hint, unwanted, wanted, few)
  WHERE NOT c.is_inherited AND NOT c.is_temporary AND c.relkind IN ('r', 'p', 'f', 'm', 'c') AND w.applies
  GROUP BY c.relation, c.relkind, w.severity, w.finding, w.hint, w.wanted, w.unwanted
  UNION ALL
  -- the same rule as of ADD COLUMN: src/ddl/added_columns.c
  SELECT 'notice', 'columns', p.relation::regclass::text, format('in clear, while all columns before are encrypted: %s', string_agg(quote_ident(p.attname), ', ' ORDER BY p.attnum)),
         format('CALL tde_encrypt_columns(%L, %L);', p.relation::regclass, array_agg(p.attname ORDER BY p.attnum))
  FROM (SELECT *, min(attnum) OVER (PARTITION BY relation) AS first_plain FROM tde_internal.tde_plain_columns()) p
  JOIN (SELECT relation, max(attnum) AS last_encrypted FROM columns GROUP BY relation) e ON e.relation = p.relation AND last_encrypted < first_plain
  GROUP BY p.relation
  UNION ALL
  SELECT 'warning', 'conversions', relation::text, format('column %I is still being converted (phase %s)', column_name, phase),
         -- not where both are there
         coalesce((SELECT format('ALTER TABLE %s RENAME COLUMN ... TO %I;  ', relation, n) FROM unnest(ARRAY[column_name, helper_column]) n
                   WHERE NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = relation AND attname = n AND NOT attisdropped) LIMIT 1), '')
         || CASE WHEN phase = 'erase' THEN format('CALL tde_finish_conversion(%L, %L);', relation, column_name)
              ELSE format('Repeat the CALL that began it and go on, or CALL tde_abort_conversion(%L, %L).', relation, column_name) END
  FROM tde.conversions
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_columns() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_columns() IS 'tde_audit(): how columns are encrypted, and what is being converted';

CREATE FUNCTION tde_internal.tde_audit_order() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  -- partitions have what the partitioned table has
  WITH hiding AS MATERIALIZED (SELECT DISTINCT opcintype FROM pg_opclass c WHERE tde_internal.tde_is_unordered(c.oid)),
  telling AS (
    SELECT i.indrelid, i.indexrelid, a.attnum, a.attname, a.type, a.salt, a.type_id IN (SELECT opcintype FROM hiding) AS can_hide
    FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid AND x.relpersistence <> 't' AND NOT x.relispartition
    JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree'
    CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) k
    JOIN tde_internal.tde_audited_columns() a ON a.relation = i.indrelid AND a.attnum = i.indkey[k]
    WHERE a.cipher IS NOT NULL AND NOT tde_internal.tde_is_unordered(i.indclass[k]))
  SELECT 'notice', 'order', indrelid::regclass::text,
         format('indexes tell the order of all values of a column%s: %s', CASE WHEN bool_or(salt) THEN ', salted or not' ELSE '' END,
                string_agg(format('%s (%I)', indexrelid::regclass, attname), ', ' ORDER BY attnum, indexrelid::regclass::text)),
         coalesce(format('Unless something needs <, ORDER BY or LIKE by index: ALTER TABLE %s %s;', indrelid::regclass,
                         string_agg(DISTINCT format('ALTER %I TYPE %s', attname, regexp_replace(type, '[)]$', ',unordered)')), ', ')
                           FILTER (WHERE can_hide)),
                  'Drop them, unless something needs them: values of these types have no other order.')
  FROM telling GROUP BY indrelid
  UNION ALL
  SELECT 'notice', 'order', i.indrelid::regclass::text, format('index %s tells the order of all elements of the arrays in a column', i.indexrelid::regclass),
         format('Make it again, under hashes: DROP INDEX %s; %s;', i.indexrelid::regclass, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON '))
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid AND x.relpersistence <> 't' AND NOT x.relispartition
  JOIN pg_am m ON m.oid = x.relam AND m.amname = 'gin'
  WHERE EXISTS (SELECT FROM pg_attribute e CROSS JOIN LATERAL tde_internal.tde_type_spec(e.atttypid, -1) s WHERE e.attrelid = x.oid AND s.cipher IS NOT NULL)
  UNION ALL
  -- of an earlier version, whose conversions drew none; REINDEX leaves it so
  SELECT 'notice', 'index salts', i.indrelid::regclass::text, format('index %s has no salt: values have the entries that they have in other indexes without one', i.indexrelid::regclass),
         format('Make it again: DROP INDEX %s; %s;', i.indexrelid::regclass, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON '))
  FROM pg_index i WHERE i.indexrelid IN (
    SELECT coalesce(pg_partition_root(x.indexrelid), x.indexrelid) FROM pg_index x CROSS JOIN LATERAL generate_series(0, x.indnkeyatts - 1) k
    JOIN pg_opclass o ON o.oid = x.indclass[k] JOIN pg_amproc f ON (f.amprocfamily, f.amproclefttype, f.amprocnum) = (o.opcfamily, o.opcintype, 7)
    JOIN pg_attribute e ON (e.attrelid, e.attnum) = (x.indexrelid, k + 1)
    WHERE o.opcmethod = (SELECT oid FROM pg_am WHERE amname = 'gin') AND f.amproc = 'tde_internal.tde_gin_options'::regproc AND e.attoptions IS NULL)
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_order() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_order() IS 'tde_audit(): indexes whose files tell the order of encrypted values, or what other indexes have of them';

CREATE FUNCTION tde_internal.tde_type_excluded(type oid, typmod int4) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_type_excluded(oid, int4) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_type_excluded(oid, int4) IS 'what tde_column.require excludes of a type with its modifier; NULL: nothing';

CREATE FUNCTION tde_internal.tde_tree_excluded(tree pg_node_tree) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_tree_excluded(pg_node_tree) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_tree_excluded(pg_node_tree) IS 'what tde_column.require excludes of how the expressions of an index are encrypted; NULL: nothing';

CREATE FUNCTION tde_internal.tde_required_of_server(OUT standard text, OUT severity text, OUT finding text, OUT hint text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_required_of_server() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_required_of_server() IS 'what of this server is in the way of tde_column.require';

CREATE FUNCTION tde_internal.tde_audit_policy() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT severity, 'policy', 'tde_column.require', format('%s: %s', standard, finding), hint FROM tde_internal.tde_required_of_server()
  UNION ALL
  SELECT 'error', 'policy', c.relation::regclass::text, format('%s, which can be read and not written: %s', x.excluded, string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum)),
         CASE WHEN c.relkind IN ('r', 'p') THEN format('ALTER TABLE %s %s;', c.relation::regclass,
           string_agg(format('ALTER COLUMN %I TYPE %s', c.attname, regexp_replace(c.type, '(''3des168''|aes[0-9]+)(,cbc)?,(no)?salt,(gcm|sha256|mac|nomac)', 'aes256,salt,gcm')), ', ' ORDER BY c.attnum))
           ELSE 'Declare it anew with aes256, salt and gcm.' END
  FROM tde_internal.tde_audited_columns() c CROSS JOIN LATERAL tde_internal.tde_type_excluded(c.type_id, c.typmod) x (excluded)
  WHERE NOT c.is_inherited AND c.relkind IN ('r', 'p', 'f', 'm', 'c') AND x.excluded IS NOT NULL
  GROUP BY c.relation, c.relkind, x.excluded
  UNION ALL
  SELECT 'error', 'policy', x.indexrelid::regclass::text, format('%s, in an index over an expression of %s', e.excluded, x.indrelid::regclass), format('DROP INDEX %s;', x.indexrelid::regclass)
  FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid AND NOT c.relispartition CROSS JOIN LATERAL tde_internal.tde_tree_excluded(x.indexprs) e (excluded)
  WHERE x.indexprs IS NOT NULL AND x.indrelid IN (SELECT relation FROM tde_internal.tde_audited_columns()) AND e.excluded IS NOT NULL
$$;
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_audit_policy() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_policy() IS 'tde_audit(): what breaks tde_column.require';
