--
-- The hash key
--

-- What depends on the results of functions under the hash key: indexes, which are built anew when it is rotated, and what stands in its way.  Of a
-- btree or BRIN index that is an operator class or an expression; of the other access methods it is what they keep.  A function of neither
-- PostgreSQL nor this extension may hash, too.  The function in C looks which indexes are of encrypted columns.
CREATE FUNCTION tde_internal.tde_hash_key_users(OUT relation oid, OUT index oid, OUT obstacle text) RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH functions AS (
    SELECT p.oid, l.lanname = 'c' AND p.prosrc ~ '^tde_((padded_)?(hash|unordered_[a-z0-9_]+)|hash_numeric|hash_float8|gin_extract_[a-z0-9_]+)$' AS keyed
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.oid >= 16384),
  suspects AS (
    SELECT f.oid, f.keyed FROM functions f JOIN pg_proc p USING (oid) WHERE f.keyed OR p.prosrc !~ '^tde_' OR p.probin IS NULL),
  uses AS (
    SELECT d.classid, d.objid, s.keyed, false AS by_class FROM suspects s JOIN pg_depend d ON (d.refclassid, d.refobjid) = ('pg_proc'::regclass, s.oid)
    UNION ALL
    SELECT d.classid, d.objid, s.keyed, false
    FROM suspects s JOIN pg_operator o ON o.oprcode = s.oid JOIN pg_depend d ON (d.refclassid, d.refobjid) = ('pg_operator'::regclass, o.oid)
    UNION ALL
    SELECT d.classid, d.objid, s.keyed, true
    FROM suspects s JOIN pg_amproc m ON m.amproc = s.oid JOIN pg_opclass c ON c.opcfamily = m.amprocfamily
      JOIN pg_depend d ON (d.refclassid, d.refobjid) = ('pg_opclass'::regclass, c.oid))
  SELECT i.indrelid, i.indexrelid,
         CASE WHEN c.relpersistence = 't' AND c.relnamespace <> pg_my_temp_schema()
              THEN format('Index %s is of a temporary table of another session.', c.oid::regclass) END
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
  WHERE c.relkind = 'i' AND i.indislive AND i.indrelid >= 16384
    AND (m.amname NOT IN ('btree', 'brin') OR EXISTS (SELECT FROM uses u WHERE (u.classid, u.objid) = ('pg_class'::regclass, c.oid)))
  UNION ALL
  -- hash partitions are chosen by the extended hash, which has no key; generated columns may not compute a hash, which tells of the value
  SELECT p.partrelid, NULL, format('Table %s is partitioned by it.', p.partrelid::regclass)
  FROM pg_partitioned_table p
  WHERE EXISTS (SELECT FROM uses u WHERE (u.classid, u.objid) = ('pg_class'::regclass, p.partrelid) AND u.keyed AND NOT (u.by_class AND p.partstrat = 'h'))
  UNION ALL
  SELECT c.conrelid, NULL, format('Constraint %I of %s depends on it.', c.conname, coalesce(nullif(c.conrelid, 0)::regclass::text, c.contypid::regtype::text))
  FROM pg_constraint c
  WHERE c.contype = 'c' AND EXISTS (SELECT FROM uses u WHERE (u.classid, u.objid) = ('pg_constraint'::regclass, c.oid) AND u.keyed)
  UNION ALL
  SELECT t.relation, NULL, format('Table %s is distributed by Citus.', t.relation)
  FROM tde_internal.tde_declared_tables() t WHERE tde_internal.tde_is_distributed(t.relation)
  ORDER BY 1, 2
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_hash_key_users() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_hash_key_users() IS 'indexes that may depend on the hash key, and what keeps it from being rotated';

CREATE FUNCTION @extschema@.tde_rotate_hash_key(dry_run boolean DEFAULT false) RETURNS SETOF regclass
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rotate_hash_key(boolean) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rotate_hash_key(boolean) IS
  'make a new hash key, build all indexes anew that depend on it, in this transaction, and return them; a dry run only returns them';
