--
-- Where keys are used
--

CREATE FUNCTION @extschema@.tde_key_usage(relation regclass DEFAULT NULL, OUT key_id int4, OUT slot int4, OUT version int4, OUT kind text,
                              OUT object_type text, OUT object text, OUT "column" text, OUT count int8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_key_usage(regclass) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_key_usage(regclass) IS
  'list where data keys are used, in this database or in a table with its partitions and indexes';

CREATE FUNCTION @extschema@.tde_drop_key_version(name text, version int4) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_drop_key_version(text, int4) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_drop_key_version(text, int4) IS
  'drop an old version of a data key, unless something in this database is still encrypted under it';


-- Asks whether its caller may execute tde_foreign_values(), which has no rights of its own.
CREATE FUNCTION tde_internal.tde_foreign_values_in(relation regclass, pages int4, OUT "column" name, OUT declared_key text, OUT key text, OUT count int8)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_foreign_values_in(regclass, int4) IS 'tde_foreign_values() of one table';

-- Tables that may hold encrypted values, in arrays and the like, too; the function in C looks more closely.  It tells what the catalogs tell everybody.
CREATE FUNCTION tde_internal.tde_declared_tables(OUT relation regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT c.oid::regclass FROM pg_class c
  WHERE c.relkind IN ('r', 'm') AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.atttypid >= 16384)
$$;
COMMENT ON FUNCTION tde_internal.tde_declared_tables() IS 'tables with columns of users'' types';

CREATE FUNCTION @extschema@.tde_verify_table(relation regclass, first_block int8 DEFAULT 0, last_block int8 DEFAULT NULL, OUT object regclass, OUT tid tid,
                                             OUT "column" name, OUT sqlstate text, OUT problem text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_verify_table(regclass, int8, int8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tde_verify_table(regclass, int8, int8) TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tde_verify_table(regclass, int8, int8) IS
  'list what is wrong with the encrypted values of a table, of its partitions and their indexes; of the table only in these blocks, and without indexes if it stops before the end';

CREATE FUNCTION @extschema@.tde_verify_database(OUT object regclass, OUT tid tid, OUT "column" name, OUT sqlstate text, OUT problem text)
  RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT * FROM @extschema@.tde_verify_table(NULL)
$$;
REVOKE ALL ON FUNCTION @extschema@.tde_verify_database() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tde_verify_database() TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tde_verify_database() IS 'list what is wrong with the encrypted values of all tables and their indexes';

CREATE FUNCTION @extschema@.tde_foreign_values(relation regclass DEFAULT NULL, OUT "table" regclass, OUT "column" name,
                                   OUT declared_key text, OUT key text, OUT count int8) RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT tde_internal.tde_check_not_distributed($1, 'SELECT array_agg(f) FROM tde_foreign_values(%L) f');
  SELECT t.relation, f.*
  FROM tde_internal.tde_declared_tables() t CROSS JOIN LATERAL tde_internal.tde_foreign_values_in(t.relation, NULL) f
  WHERE $1 IS NULL OR t.relation IN (SELECT $1 UNION ALL SELECT p.relid FROM pg_partition_tree($1) p)
  ORDER BY 1, 2, 4
$$;
REVOKE ALL ON FUNCTION @extschema@.tde_foreign_values(regclass) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_foreign_values(regclass) IS
  'list columns that hold values under another data key than they declare, in this database or in a table with its partitions';
