/* tde_column 0.1.0 to 0.2.0; where it says parts, the build puts what update.awk makes of the parts of the install script */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION tde_column UPDATE" to load this file. \quit

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL quote_all_identifiers = off;
SET LOCAL jit = off;

-- Types, operators and functions that users write move to pg_catalog, from whatever schema they were in.  What tde_create_type() has made is no
-- member, and stays with its user.
DO $$
DECLARE
  before CONSTANT regnamespace := (SELECT extnamespace FROM pg_extension WHERE extname = 'tde_column');
  member record;
BEGIN
  FOR member IN
    SELECT catalog, object
    FROM (SELECT tableoid, oid FROM pg_type WHERE typnamespace = before AND typrelid = 0 AND typcategory <> 'A'
          UNION ALL SELECT tableoid, oid FROM pg_proc WHERE pronamespace = before
          UNION ALL SELECT tableoid, oid FROM pg_operator WHERE oprnamespace = before
          UNION ALL SELECT tableoid, oid FROM pg_opclass WHERE opcnamespace = before
          UNION ALL SELECT tableoid, oid FROM pg_opfamily WHERE opfnamespace = before) AS o (catalog, object)
    JOIN pg_depend d ON d.classid = catalog AND d.objid = object AND d.deptype = 'e'
    JOIN pg_extension x ON d.refclassid = x.tableoid AND d.refobjid = x.oid AND x.extname = 'tde_column'
  LOOP
    -- with the names that types have by now
    EXECUTE (SELECT format('ALTER %s %s SET SCHEMA pg_catalog', type, identity) FROM pg_identify_object(member.catalog, member.object, 0));
  END LOOP;
  -- There is no ALTER EXTENSION for one that is not relocatable.
  DELETE FROM pg_depend d USING pg_extension x
  WHERE x.extname = 'tde_column' AND d.classid = x.tableoid AND d.objid = x.oid AND d.refclassid = 'pg_namespace'::regclass AND d.refobjid = before;
  UPDATE pg_extension SET extnamespace = 'pg_catalog'::regnamespace WHERE extname = 'tde_column';
END
$$;

-- These have got a parameter or a column more.  Functions in SQL are bound to the first, so it goes when they are replaced.
ALTER FUNCTION tde_internal.tde_function_sql(text, text, text, text, text) RENAME TO tde_function_sql_before;
ALTER FUNCTION tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text)
  RENAME TO tde_operator_sql_before;
DROP FUNCTION tde_internal.tde_template_objects();

-- Encrypted numbers and moments become larger plain ones implicitly.  What was there instead goes: functions and operators that took larger ones for
-- them, of which sql/46_smaller.sql makes others, and what has the type of floats beside them.  What a user has made of these must be dropped first.
DO $$
DECLARE
  floats CONSTANT regtype := 'tde_internal.plain_float8';
  member record;
BEGIN
  FOR member IN
    SELECT format('ALTER OPERATOR FAMILY @extschema@.tde_number_ops USING hash DROP OPERATOR %s (%s, %s)', amopstrategy, amoplefttype::regtype, amoprighttype::regtype) AS command, 1 AS step
    FROM pg_amop WHERE floats IN (amoplefttype, amoprighttype)
    UNION ALL
    SELECT format('ALTER OPERATOR FAMILY @extschema@.tde_number_ops USING hash DROP FUNCTION %s (%s, %s)', amprocnum, amproclefttype::regtype, amprocrighttype::regtype), 1
    FROM pg_amproc WHERE floats IN (amproclefttype, amprocrighttype)
    UNION ALL
    SELECT format('DROP OPERATOR %s', o.oid::regoperator), 2
    FROM pg_operator o JOIN pg_depend d ON d.classid = o.tableoid AND d.objid = o.oid AND d.deptype = 'e'
    JOIN pg_proc p ON p.oid = o.oprcode JOIN pg_language l ON l.oid = p.prolang
    WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tde_column') AND d.refclassid = 'pg_extension'::regclass
      AND (floats IN (oprleft, oprright)
           OR lanname = 'sql' AND proname = ANY ('{tde_power,tde_sqrt,tde_cbrt,tde_times,tde_divided,tde_minus,tde_concatenate}'))
    UNION ALL
    SELECT format('DROP CAST (%s AS %s)', castsource::regtype, casttarget::regtype), 3 FROM pg_cast WHERE floats IN (castsource, casttarget)
    UNION ALL
    SELECT format('DROP FUNCTION %s', p.oid::regprocedure), 4
    FROM pg_proc p JOIN pg_depend d ON d.classid = p.tableoid AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_language l ON l.oid = p.prolang
    WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tde_column') AND d.refclassid = 'pg_extension'::regclass
      AND ((floats = ANY (proargtypes) OR prorettype = floats) AND proname !~ '^plain_float8_'
           OR lanname = 'sql' AND (proname = ANY ('{tde_power,tde_sqrt,tde_cbrt,tde_times,tde_divided,tde_minus,tde_concatenate}')
                                   OR obj_description(p.oid, 'pg_proc') = proname || '() of the base types'))
    ORDER BY 2, 1
  LOOP
    EXECUTE member.command;
  END LOOP;
END
$$;

-- LIKE and its like may stand in conditions of indexes, and are estimated by what they say of the values that ANALYZE has kept.
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
           WHERE p.prosrc = 'tde_match' AND l.lanname = 'c' AND p.pronamespace = 'tde_internal'::regnamespace LOOP
    EXECUTE format('ALTER FUNCTION %s IMMUTABLE', f);
    EXECUTE (SELECT format('ALTER OPERATOR %s.%s (%s, %s) SET (RESTRICT = matchingsel)', oprnamespace::regnamespace, oprname, oprleft::regtype, oprright::regtype)
             FROM pg_operator WHERE oprcode = f);
  END LOOP;
END
$$;

-- Foreign tables that are imported are declared, too, and names of functions and operators are looked at.
DROP EVENT TRIGGER tde_column_ddl;
CREATE EVENT TRIGGER tde_column_ddl ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'IMPORT FOREIGN SCHEMA',
               'CREATE TYPE', 'ALTER TYPE', 'CREATE DOMAIN', 'CREATE SCHEMA', 'CREATE INDEX', 'CREATE STATISTICS', 'CREATE TRIGGER',
               'CREATE FUNCTION', 'CREATE PROCEDURE', 'CREATE AGGREGATE', 'CREATE OPERATOR', 'CREATE CAST',
               'ALTER FUNCTION', 'ALTER PROCEDURE', 'ALTER ROUTINE', 'ALTER AGGREGATE', 'ALTER OPERATOR',
               'ALTER DOMAIN', 'CREATE RULE', 'CREATE POLICY', 'ALTER POLICY')
  EXECUTE FUNCTION tde_internal.tde_ddl_trigger();
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
CREATE EVENT TRIGGER tde_column_drop ON ddl_command_start WHEN TAG IN ('DROP EXTENSION', 'DROP OWNED')
  EXECUTE FUNCTION tde_internal.tde_ddl_trigger();
ALTER EVENT TRIGGER tde_column_drop ENABLE ALWAYS;

-- No key by which pg_repack and its like would take the tables of keys and specifications; see the comment of the install script.
ALTER TABLE tde.data_keys DROP CONSTRAINT data_keys_pkey, DROP CONSTRAINT data_keys_uuid_key, DROP CONSTRAINT data_keys_slot_kind_version_key,
  DROP CONSTRAINT data_keys_id_check, DROP CONSTRAINT data_keys_state_check;
ALTER TABLE tde.data_keys ALTER id DROP NOT NULL, ALTER uuid DROP NOT NULL, ALTER slot DROP NOT NULL,
  ADD UNIQUE (id), ADD UNIQUE (uuid), ADD UNIQUE (slot, kind, version),
  ADD CONSTRAINT data_keys_id_check CHECK (id IS NOT NULL AND id > 0),
  ADD CONSTRAINT data_keys_state_check CHECK (state IN ('a', 'p', 'r', 'd')),
  ADD CONSTRAINT data_keys_uuid_check CHECK (uuid IS NOT NULL),
  ADD CONSTRAINT data_keys_slot_check CHECK (slot IS NOT NULL),
  REPLICA IDENTITY FULL;
ALTER TABLE tde.specifications DROP CONSTRAINT specifications_pkey, DROP CONSTRAINT specifications_spec_key_slot_base_typmod_key,
  DROP CONSTRAINT specifications_number_check;
ALTER TABLE tde.specifications ALTER number DROP NOT NULL, ALTER spec DROP NOT NULL,
  ADD UNIQUE (number), ADD UNIQUE (spec, key_slot, base_typmod),
  ADD CONSTRAINT specifications_number_check CHECK (number IS NOT NULL AND number BETWEEN 1 AND 16777215),
  ADD CONSTRAINT specifications_spec_check CHECK (spec IS NOT NULL);

-- How many values each key has encrypted.  Rows are added with those of keys, and changed in place by C code only (src/keys/limits.c).
CREATE TABLE tde.key_counts (
  id          int4 UNIQUE CHECK (id IS NOT NULL),
  encryptions int8 NOT NULL,
  des_blocks  int8 NOT NULL
) WITH (user_catalog_table = true);
REVOKE ALL ON tde.key_counts FROM PUBLIC;
-- What keys have encrypted so far is not known.
INSERT INTO tde.key_counts SELECT id, 0, 0 FROM tde.data_keys;
CREATE TRIGGER tde_guard_counts BEFORE INSERT OR DELETE OR UPDATE
  ON tde.key_counts FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_guard_keys();
CREATE TRIGGER tde_guard_all_counts BEFORE TRUNCATE ON tde.key_counts
  FOR EACH STATEMENT EXECUTE FUNCTION tde_internal.tde_guard_keys();
ALTER TABLE tde.key_counts ENABLE ALWAYS TRIGGER tde_guard_counts;
ALTER TABLE tde.key_counts ENABLE ALWAYS TRIGGER tde_guard_all_counts;

-- One procedure in C does what it did for a batch.
DROP FUNCTION tde_internal.tde_convert_rows(regclass, name, name, int8, int8, int8, timestamptz);

-- What is made again for a column's new type is made as its owner.
DROP FUNCTION tde_internal.tde_constant_default(pg_attribute), tde_internal.tde_lock_commands(regclass[]);
-- One rewrite of a table converts several columns.
DROP FUNCTION tde_internal.tde_convert_offline(pg_attribute, text, boolean),
  tde_internal.tde_make_dependents(pg_attribute, tde_internal.tde_dependent[]);
-- Indexes of partitions are attached to their table's, and partitions may come meanwhile.
DROP FUNCTION tde_internal.tde_conversion_replacements(regclass, name), tde_internal.tde_swap(regclass, name);
ALTER TYPE tde_internal.tde_dependent ADD ATTRIBUTE owner oid, ADD ATTRIBUTE classid oid, ADD ATTRIBUTE objid oid;

-- A copy may be what a function makes of the values.
DROP FUNCTION tde_internal.tde_start_conversion(pg_attribute, text, boolean), tde_internal.tde_check_conversion(pg_attribute, boolean, boolean);
DROP PROCEDURE tde_internal.tde_copy_column(regclass, name, text, boolean, int, float8);

-- Nobody else makes any in pg_catalog.
DROP FUNCTION tde_internal.tde_check_namesakes(pg_attribute);

-- A column more; who may call it stays so.
ALTER FUNCTION @extschema@.tde_audit() RENAME TO tde_audit_before;

-- @parts@

DO $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN SELECT coalesce(quote_ident(r.rolname), 'PUBLIC')
                 FROM pg_proc p CROSS JOIN LATERAL aclexplode(p.proacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
                 WHERE p.oid = '@extschema@.tde_audit_before()'::regprocedure LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION @extschema@.tde_audit() TO %s', grantee);
  END LOOP;
END
$$;
DROP FUNCTION @extschema@.tde_audit_before();

DROP FUNCTION tde_internal.tde_missing_aggregates(tde_internal.type_plans), tde_internal.tde_named_opclass(oid);
DROP FUNCTION tde_internal.tde_complete_type(tde_internal.type_plans, tde_internal.type_plans[]);
-- With its functions for input and output, but nobody's column; our functions that named it are others now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_attribute JOIN pg_type t ON t.oid = atttypid WHERE 'tde_internal.plain_float8'::regtype IN (t.oid, t.typelem, t.typbasetype)) THEN
    RAISE EXCEPTION 'a column has type tde_internal.plain_float8' USING ERRCODE = 'dependent_objects_still_exist', HINT = 'Give it type double precision first.';
  END IF;
  DROP TYPE tde_internal.plain_float8 CASCADE;
END
$$;
DROP FUNCTION tde_internal.tde_function_sql_before(text, text, text, text, text);
DROP FUNCTION tde_internal.tde_operator_sql_before(tde_internal.type_plans, text, regtype, regtype, text, text, text, text);
REVOKE ALL ON FUNCTION tde_internal.tde_is_core(oid), tde_internal.tde_is_system_schema(regnamespace),
  tde_internal.tde_create_type_in(regtype, regnamespace, name, uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_tables(), tde_internal.tde_function_sql(text, text, text, text, text, text), tde_internal.tde_template_objects(), tde_internal.tde_extension_of(regclass, oid), tde_internal.tde_coerce_support(internal), tde_internal.tde_decrypt_support(internal), tde_internal.tde_plain_index_support(internal),
  tde_internal.tde_join_extension(tde_internal.type_plans, oid[]),
  tde_internal.tde_with_defaults(text), tde_internal.tde_cast_defaults(int4, boolean), tde_internal.tde_alter_function_sql(regprocedure, text, text, text), tde_internal.tde_alter_operator_sql(regoperator, text, text, text, boolean, boolean),
  tde_internal.tde_alter_cast_sql(regtype, regtype, text), tde_internal.tde_leakproof(text, regtype, regtype), tde_internal.tde_padded(tde_internal.type_plans, regtype, regtype),
  tde_internal.tde_missing_array_casts(tde_internal.type_plans),
  tde_internal.tde_missing_summaries(tde_internal.type_plans, oid, oid), tde_internal.tde_is_of_library(pg_proc, text), tde_internal.tde_cast_function(regtype, regtype, text),
  tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text, text, text, boolean, boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION @extschema@.tde_prepare_key(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_taken_name(oid, oid), tde_internal.tde_audit_names(), tde_internal.tde_audit_path_schemas(),
  tde_internal.tde_path_schemas(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.tde_foreign_values(regclass), tde_internal.tde_audit_key_wall() FROM PUBLIC;

REVOKE ALL ON FUNCTION tde_internal.tde_make_families(tde_internal.type_plans),
  tde_internal.tde_missing_first(tde_internal.type_plans, tde_internal.type_plans[], oid[]),
  tde_internal.tde_missing_then(tde_internal.type_plans, oid[]), tde_internal.tde_run_once(text[]),
  tde_internal.tde_missing_own_aggregates(tde_internal.type_plans),
  tde_internal.tde_aggregate_plans(tde_internal.type_plans, tde_internal.type_plans[]), tde_internal.tde_name_of(oid),
  tde_internal.tde_boxed_result(tde_internal.aggregate_plan),
  tde_internal.tde_aggregate_functions(tde_internal.type_plans, tde_internal.aggregate_plan),
  tde_internal.tde_aggregate_options(tde_internal.type_plans, tde_internal.aggregate_plan),
  tde_internal.tde_missing_aggregates(tde_internal.type_plans, tde_internal.type_plans[]) FROM PUBLIC;

-- Values under other keys than their columns declare are refused now.  Here nobody could look for them before, so they are read with a warning until
-- somebody has, and takes this back: ALTER DATABASE ... RESET tde_column.key_wall.
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET tde_column.key_wall = warn', current_database());
  PERFORM set_config('tde_column.key_wall', 'warn', false);
END
$$;

REVOKE ALL ON FUNCTION @extschema@.tde_export_keys(text, boolean), @extschema@.tde_import_keys(text, text, boolean),
  @extschema@.tde_key_fingerprint() FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_missing_unordered(tde_internal.type_plans, oid, oid, oid),
  tde_internal.tde_audit_order(), tde_internal.tde_key_age(timestamptz), tde_internal.tde_requires(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_give_secret(), tde_internal.tde_take_keys(text), @extschema@.tde_verify_table(regclass, int8, int8),
  @extschema@.tde_verify_database() FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_gin_plans(tde_internal.type_plans, oid), tde_internal.tde_search_operators(tde_internal.type_plans, oid),
  tde_internal.tde_gin_sql(tde_internal.type_plans, oid, regtype, name, oid), tde_internal.tde_make_gin_classes(tde_internal.type_plans[], oid),
  tde_internal.tde_create_gin_class_of(text, oid), @extschema@.tde_create_gin_class(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_hash_key_users(), @extschema@.tde_rotate_hash_key(boolean), @extschema@.tde_rewrap_all_databases() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.tde_set_mask(regclass, name, text, regrole), @extschema@.tde_drop_mask(regclass, name, regrole) FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_probe_counts() FROM PUBLIC;
GRANT SELECT ON tde.probes TO pg_monitor;
GRANT EXECUTE ON FUNCTION tde_internal.tde_probe_counts() TO pg_monitor;
REVOKE ALL ON FUNCTION tde_internal.tde_decryptions_info(), @extschema@.tde_decryptions_reset(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tde_internal.tde_decryptions_info() TO pg_read_all_stats;
REVOKE ALL ON FUNCTION tde_internal.tde_event_counters() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tde_internal.tde_event_counters() TO pg_monitor;
GRANT SELECT ON tde.metrics TO pg_monitor;
GRANT SELECT ON tde.decryptions TO PUBLIC;
GRANT SELECT ON tde.decryptions_info TO pg_read_all_stats;
GRANT EXECUTE ON FUNCTION @extschema@.tde_verify_table(regclass, int8, int8), @extschema@.tde_verify_database() TO pg_monitor;
GRANT EXECUTE ON FUNCTION @extschema@.tde_key_fingerprint() TO pg_monitor;

-- What the template makes, for users' types, too.
SELECT @extschema@.tde_refresh_types();

-- ANALYZE of columns with encrypted values inside others; those that are made from now on the library sees.
WITH RECURSIVE holds (type) AS (
  SELECT t.type::oid FROM tde.types t
  UNION
  SELECT t.oid FROM holds h
  JOIN pg_type t ON t.typelem = h.type OR t.typbasetype = h.type
    OR EXISTS (SELECT FROM pg_range r WHERE r.rngsubtype = h.type AND t.oid IN (r.rngtypid, r.rngmultitypid))
    OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.atttypid = h.type AND NOT a.attisdropped))
UPDATE pg_type t SET typanalyze = 'tde_internal.tde_typanalyze'::regproc
FROM holds h
WHERE h.type = t.oid AND t.typanalyze <> 'tde_internal.tde_typanalyze'::regproc AND EXISTS (SELECT FROM pg_attribute a WHERE a.atttypid = t.oid);
