/* tde_column 0.1.0 to 0.2.0; where it says parts, the build puts what update.awk makes of the parts of the install script */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION tde_column UPDATE" to load this file. \quit

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL quote_all_identifiers = off;

-- These have got a parameter or a column more.  Functions in SQL are bound to the first, so it goes when they are replaced.
ALTER FUNCTION tde_internal.tde_function_sql(text, text, text, text, text) RENAME TO tde_function_sql_before;
ALTER FUNCTION tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text)
  RENAME TO tde_operator_sql_before;
DROP FUNCTION tde_internal.tde_template_objects();

-- Those with timestamptz serve timestamp and date, too, now that these become encrypted_timestamptz implicitly.
DROP OPERATOR @extschema@.-(@extschema@.encrypted_timestamptz, date);
DROP OPERATOR @extschema@.-(@extschema@.encrypted_timestamptz, timestamp);
DROP OPERATOR @extschema@.-(date, @extschema@.encrypted_timestamptz);
DROP OPERATOR @extschema@.-(timestamp, @extschema@.encrypted_timestamptz);
DROP FUNCTION tde_internal.tde_minus(@extschema@.encrypted_timestamptz, date), tde_internal.tde_minus(@extschema@.encrypted_timestamptz, timestamp),
  tde_internal.tde_minus(date, @extschema@.encrypted_timestamptz), tde_internal.tde_minus(timestamp, @extschema@.encrypted_timestamptz),
  @extschema@.age(@extschema@.encrypted_timestamptz, timestamp), @extschema@.age(timestamp, @extschema@.encrypted_timestamptz);

-- LIKE and its like may stand in conditions of indexes.
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
           WHERE p.prosrc = 'tde_match' AND l.lanname = 'c' AND p.pronamespace = 'tde_internal'::regnamespace LOOP
    EXECUTE format('ALTER FUNCTION %s IMMUTABLE', f);
  END LOOP;
END
$$;

-- Foreign tables that are imported are declared, too.
DROP EVENT TRIGGER tde_column_ddl;
CREATE EVENT TRIGGER tde_column_ddl ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'IMPORT FOREIGN SCHEMA',
               'CREATE TYPE', 'ALTER TYPE', 'CREATE DOMAIN', 'CREATE SCHEMA', 'CREATE INDEX', 'CREATE STATISTICS')
  EXECUTE FUNCTION tde_internal.tde_ddl_trigger();
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;

-- How many values each key has encrypted.  Rows are added with those of keys, and changed in place by C code only (src/keys/limits.c).
CREATE TABLE tde.key_counts (
  id          int4 PRIMARY KEY,
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

-- @parts@

DROP FUNCTION tde_internal.tde_function_sql_before(text, text, text, text, text);
DROP FUNCTION tde_internal.tde_operator_sql_before(tde_internal.type_plans, text, regtype, regtype, text, text, text, text);
REVOKE ALL ON FUNCTION tde_internal.tde_function_sql(text, text, text, text, text, text), tde_internal.tde_template_objects(), tde_internal.tde_extension_of(regclass, oid), tde_internal.tde_coerce_support(internal), tde_internal.tde_decrypt_support(internal),
  tde_internal.tde_join_extension(tde_internal.type_plans, oid[]),
  tde_internal.tde_with_defaults(text), tde_internal.tde_cast_defaults(int4, boolean), tde_internal.tde_alter_function_sql(regprocedure, text, text, text), tde_internal.tde_alter_operator_sql(regoperator, text, text, text, boolean, boolean),
  tde_internal.tde_alter_cast_sql(regtype, regtype, text), tde_internal.tde_leakproof(text, regtype, regtype), tde_internal.tde_missing_array_casts(tde_internal.type_plans),
  tde_internal.tde_missing_summaries(tde_internal.type_plans, oid, oid), tde_internal.tde_is_of_library(pg_proc, text), tde_internal.tde_cast_function(regtype, regtype, text),
  tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text, text, text, boolean, boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION @extschema@.tde_export_keys(text, boolean), @extschema@.tde_import_keys(text, text, boolean),
  @extschema@.tde_key_fingerprint() FROM PUBLIC;
REVOKE ALL ON FUNCTION tde_internal.tde_give_secret() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tde_key_fingerprint() TO pg_monitor;

-- What the template makes, for users' types, too.
SELECT @extschema@.tde_refresh_types();
