/* tde_column 0.1.0: encrypted column types for PostgreSQL */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION tde_column" to load this file. \quit

--
-- Nobody else's objects
--
-- No name in here is looked up where others may make objects: all is written with its schema, and what is not is PostgreSQL's own.
-- The scripts of updates begin with the same line.
--
-- The extension's schema holds what users write: types, operators, functions.  Tables and views are in tde, where no tool takes
-- them for the application's.  What is reached through types, operators, casts and operator families is in tde_internal, which
-- belongs on no search path.
--

SET LOCAL search_path = pg_catalog, pg_temp;

DO $$
DECLARE
  other pg_namespace;
BEGIN
  SELECT * INTO other FROM pg_namespace WHERE nspname IN ('tde', 'tde_internal') LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'schema "%" already exists', other.nspname USING ERRCODE = 'duplicate_schema',
      DETAIL = format('It belongs to role "%s". The extension makes its own schema of this name, and takes over no other.',
                      pg_get_userbyid(other.nspowner)),
      HINT = format('Give it another name: ALTER SCHEMA %I RENAME TO ...;', other.nspname);
  END IF;
END
$$;

CREATE SCHEMA tde;
GRANT USAGE ON SCHEMA tde TO PUBLIC;
COMMENT ON SCHEMA tde IS 'tables and views of extension tde_column';
CREATE SCHEMA tde_internal;
GRANT USAGE ON SCHEMA tde_internal TO PUBLIC;
COMMENT ON SCHEMA tde_internal IS 'what extension tde_column reaches by OID: not for a search path';

--
-- Data keys
--
-- Wrapped by the master keys of the wallet.  Rows are added outside of transactions, by C code only.  A user catalog table,
-- so that logical decoding can read it; not dumped, since a dump holds plaintext and its restore uses the target's keys.

CREATE TABLE tde.data_keys (
  id          int4 PRIMARY KEY CHECK (id > 0),
  uuid        uuid NOT NULL UNIQUE,
  slot        int4 NOT NULL,
  version     int4 NOT NULL CHECK (version > 0),
  kind        "char" NOT NULL CHECK (kind IN ('m', 'n', 'c', 'h')),
  state       "char" NOT NULL CHECK (state IN ('a', 'r', 'd')),
  created     timestamptz NOT NULL,
  database    uuid NOT NULL,
  master_key  uuid NOT NULL,
  check_value bytea NOT NULL,
  wrapped     bytea NOT NULL,
  erasable    boolean NOT NULL,
  name        text CHECK (octet_length(name) BETWEEN 1 AND 63),
  description text,
  UNIQUE (slot, kind, version)
) WITH (user_catalog_table = true);
CREATE INDEX data_keys_name_idx ON tde.data_keys (name COLLATE "C");
CREATE SEQUENCE tde.data_keys_id_seq AS int4 OWNED BY tde.data_keys.id;
REVOKE ALL ON tde.data_keys, tde.data_keys_id_seq FROM PUBLIC;
COMMENT ON TABLE tde.data_keys IS 'data keys, wrapped by a master key of the wallet';
COMMENT ON COLUMN tde.data_keys.id IS 'number by which values name the key';
COMMENT ON COLUMN tde.data_keys.uuid IS 'name of the key outside of this database';
COMMENT ON COLUMN tde.data_keys.slot IS '0: default key, above: named by modifiers, -1: literals, -2: keyed hash';
COMMENT ON COLUMN tde.data_keys.version IS 'version of the slot''s key; new values take the highest active one';
COMMENT ON COLUMN tde.data_keys.kind IS 'm: values with MAC, n: values without, c: literals, h: keyed hash';
COMMENT ON COLUMN tde.data_keys.state IS 'a: active, r: retired (reads only), d: destroyed';
COMMENT ON COLUMN tde.data_keys.database IS 'identity of the database that made the key';
COMMENT ON COLUMN tde.data_keys.master_key IS 'master key that wraps it';
COMMENT ON COLUMN tde.data_keys.check_value IS 'HKDF of the key, to tell a wrong key';
COMMENT ON COLUMN tde.data_keys.erasable IS 'its master key is a wallet entry of its own; without that the key is destroyed';
COMMENT ON COLUMN tde.data_keys.name IS 'name of the slot, for modifiers; the same for all its versions';
COMMENT ON COLUMN tde.data_keys.description IS 'what the key is for';
COMMENT ON COLUMN tde.data_keys.wrapped IS 'AES-256 key wrap (RFC 5649) of the key and of this row''s other fields';

-- Modifiers that do not fit into the 31 bits of a typmod, which then names the row.  Rows are added as those of keys are, and never
-- changed: declarations hold their numbers.  Not dumped either: a dump has the modifiers as words.
CREATE TABLE tde.specifications (
  number      int4 PRIMARY KEY CHECK (number BETWEEN 1 AND 16777215),
  spec        int4 NOT NULL,
  key_slot    int4 NOT NULL,
  base_typmod int4 NOT NULL,
  UNIQUE (spec, key_slot, base_typmod)
) WITH (user_catalog_table = true);
REVOKE ALL ON tde.specifications FROM PUBLIC;
COMMENT ON TABLE tde.specifications IS 'modifiers of encrypted types that do not fit into a typmod';
COMMENT ON COLUMN tde.specifications.number IS 'number by which typmods name the row';
COMMENT ON COLUMN tde.specifications.spec IS 'cipher, mode, salt and MAC: bits 24 to 30 of a typmod';
COMMENT ON COLUMN tde.specifications.key_slot IS 'slot of the data key';
COMMENT ON COLUMN tde.specifications.base_typmod IS 'typmod of the base type; -1: none';

-- Only the functions of this extension change keys: what is encrypted under a key is lost with its row.  The table is part of a
-- publication FOR ALL TABLES, too.  What that brings from another server must not become keys of this one, nor end the replication
-- by its numbers: a replication worker drops the change.
CREATE FUNCTION tde_internal.tde_guard_keys() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE ALL ON FUNCTION tde_internal.tde_guard_keys() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_guard_keys() IS
  'refuses changes of tde.data_keys and tde.specifications by other means than the functions of this extension; in a replication worker, drops them';
CREATE TRIGGER tde_guard_keys
  BEFORE INSERT OR DELETE OR UPDATE OF id, uuid, slot, version, kind, state, created, database, master_key, check_value, wrapped, erasable, name
  ON tde.data_keys FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_guard_keys();
CREATE TRIGGER tde_guard_all_keys BEFORE TRUNCATE ON tde.data_keys
  FOR EACH STATEMENT EXECUTE FUNCTION tde_internal.tde_guard_keys();
ALTER TABLE tde.data_keys ENABLE ALWAYS TRIGGER tde_guard_keys;
ALTER TABLE tde.data_keys ENABLE ALWAYS TRIGGER tde_guard_all_keys;
CREATE TRIGGER tde_guard_specifications BEFORE INSERT OR DELETE OR UPDATE
  ON tde.specifications FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_guard_keys();
CREATE TRIGGER tde_guard_all_specifications BEFORE TRUNCATE ON tde.specifications
  FOR EACH STATEMENT EXECUTE FUNCTION tde_internal.tde_guard_keys();
ALTER TABLE tde.specifications ENABLE ALWAYS TRIGGER tde_guard_specifications;
ALTER TABLE tde.specifications ENABLE ALWAYS TRIGGER tde_guard_all_specifications;
COMMENT ON TRIGGER tde_guard_specifications ON tde.specifications IS 'declarations hold the numbers of its rows';
COMMENT ON TRIGGER tde_guard_all_specifications ON tde.specifications IS 'declarations hold the numbers of its rows';
COMMENT ON TRIGGER tde_guard_keys ON tde.data_keys IS 'keys are changed by functions only';
COMMENT ON TRIGGER tde_guard_all_keys ON tde.data_keys IS 'keys are changed by functions only';

--
-- Wallet
--

-- The argument confirm has a function of its own: with a default, another one's function of the passphrase alone would be the better match.
CREATE FUNCTION @extschema@.tde_wallet_create(passphrase text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION @extschema@.tde_wallet_create(passphrase text, confirm text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_create(text), @extschema@.tde_wallet_create(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_create(text) IS
  'make the wallet file and open it; without a passphrase the command is asked, or, if there is none, one is made and returned';
COMMENT ON FUNCTION @extschema@.tde_wallet_create(text, text) IS
  'likewise where data keys are that another wallet wraps; confirm names that loss, as the error without it says';

CREATE FUNCTION @extschema@.tde_wallet_open(passphrase text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION @extschema@.tde_wallet_open(passphrase text, confirm text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_open(text), @extschema@.tde_wallet_open(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_open(text) IS
  'open the wallet for the whole instance; without a passphrase through tde_column.passphrase_command';
COMMENT ON FUNCTION @extschema@.tde_wallet_open(text, text) IS
  'likewise if the file lacks master keys that are open; confirm names that loss, as the error without it says';

CREATE FUNCTION @extschema@.tde_wallet_save(path text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_save(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_save(text) IS
  'write the open wallet to a new file, without a path to tde_column.wallet_file; returns the path';

CREATE FUNCTION @extschema@.tde_wallet_take_over() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_take_over() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_take_over() IS
  'from now on this server may change the wallet, and the one that might until now may not';

CREATE FUNCTION @extschema@.tde_wallet_close() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_close() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_close() IS 'forget the master keys in the whole instance';

CREATE FUNCTION tde_internal.tde_wallet_status(OUT file text, OUT status text, OUT instance_wide boolean, OUT opened_at timestamptz,
                                  OUT master_keys int4, OUT current_master_key uuid,
                                  OUT owner text, OUT may_change boolean)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_wallet_status() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_wallet_status() IS 'state of the wallet';

GRANT EXECUTE ON FUNCTION tde_internal.tde_wallet_status() TO pg_monitor;

CREATE FUNCTION @extschema@.tde_ensure_keys() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_ensure_keys() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_ensure_keys() IS 'make the data keys that this database lacks, if the wallet can be opened';

CREATE FUNCTION @extschema@.tde_wallet_change_passphrase(passphrase text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_change_passphrase(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_change_passphrase(text) IS
  'encrypt the wallet file under another passphrase: the one that the passphrase command prints now, or this one';

CREATE FUNCTION @extschema@.tde_wallet_backup() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_backup() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_backup() IS 'hand the wallet to tde_column.wallet_backup_command';

--
-- Keys
--

CREATE FUNCTION @extschema@.tde_create_key(name text, erasable boolean DEFAULT false) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_create_key(text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_create_key(text, boolean) IS
  'make a data key for the modifier key=name; an erasable one is wrapped by a wallet entry of its own; returns its slot';

CREATE FUNCTION @extschema@.tde_describe_key(name text, description text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_describe_key(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_describe_key(text, text) IS 'say what a named data key is for; NULL removes the description';

CREATE FUNCTION @extschema@.tde_rename_key(name text, new_name text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rename_key(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rename_key(text, text) IS 'give a data key another name; columns that are declared with it keep it';

CREATE FUNCTION @extschema@.tde_rotate_key(name text DEFAULT 'default') RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rotate_key(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rotate_key(text) IS
  'make a new version of a data key, which new values take from now on; returns its number';

CREATE FUNCTION @extschema@.tde_destroy_key(name text, confirm text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_destroy_key(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_destroy_key(text, text) IS 'make everything under a named data key unreadable for ever';

CREATE FUNCTION @extschema@.tde_rotate_master_key() RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rotate_master_key() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rotate_master_key() IS
  'put a new current master key into the wallet and wrap the data keys of this database by it';

CREATE FUNCTION @extschema@.tde_rewrap_keys() RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rewrap_keys() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rewrap_keys() IS
  'wrap the data keys of this database by the current master key, after a rotation in another database; returns how many';

CREATE FUNCTION @extschema@.tde_prepare_master_key() RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_prepare_master_key() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_prepare_master_key() IS
  'put the next master key into the wallet, so that the wallet can be copied to standbys before tde_rotate_master_key()';

CREATE FUNCTION tde_internal.tde_key_encryptions(id int4) RETURNS int8
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_key_encryptions(int4) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_key_encryptions(int4) IS 'values that a data key of this database has encrypted since the server started';

-- Which version is the active one is said again here, as tde_keystore_is_newer() has it: a function in C would look at the table
-- under another snapshot than the view's own, and once for each row.
CREATE VIEW tde.keys AS
  SELECT k.slot,
         CASE k.slot WHEN 0 THEN 'default' WHEN -1 THEN 'catalog' WHEN -2 THEN 'hash' ELSE k.name END AS name,
         CASE k.kind WHEN 'm' THEN 'mac' WHEN 'n' THEN 'nomac' WHEN 'c' THEN 'catalog' ELSE 'hash' END AS kind,
         k.version,
         CASE WHEN k.state OPERATOR(pg_catalog.=) 'd' THEN 'destroyed'
              WHEN k.state OPERATOR(pg_catalog.=) 'a' AND NOT EXISTS (
                SELECT FROM tde.data_keys n
                WHERE n.slot OPERATOR(pg_catalog.=) k.slot AND n.kind OPERATOR(pg_catalog.=) k.kind
                  AND n.state OPERATOR(pg_catalog.=) 'a' AND n.version OPERATOR(pg_catalog.>) k.version) THEN 'active'
              ELSE 'retired' END AS state,
         k.created, k.master_key, tde_internal.tde_key_encryptions(k.id) AS encryptions, k.id, k.uuid,
         (SELECT pg_catalog.max(d.description) FROM tde.data_keys d
          WHERE d.slot OPERATOR(pg_catalog.=) k.slot AND d.name OPERATOR(pg_catalog.=) k.name) AS description
  FROM tde.data_keys k;
GRANT EXECUTE ON FUNCTION tde_internal.tde_key_encryptions(int4) TO pg_monitor;
GRANT SELECT ON tde.keys TO pg_monitor;
COMMENT ON VIEW tde.keys IS
  'data keys of this database, by which master key they are wrapped, and how many values they encrypted since the server started';

--
-- Counters
--

CREATE FUNCTION tde_internal.tde_stats_counters(OUT encryptions int8, OUT decryptions int8, OUT key_setups int8, OUT key_loads int8)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_internal.tde_stats_counters() IS 'work done by this backend';

CREATE VIEW tde.stats AS SELECT * FROM tde_internal.tde_stats_counters();
GRANT SELECT ON tde.stats TO PUBLIC;
COMMENT ON VIEW tde.stats IS 'values encrypted and decrypted, keys made ready and key table scans, by this backend';

--
-- Encrypted columns
--

CREATE FUNCTION tde_internal.tde_type_spec(type oid, typmod int4, OUT base_type text, OUT cipher text, OUT mode text, OUT salt boolean,
                              OUT mac text, OUT key_slot int4)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_type_spec(oid, int4) IS 'what a type and its modifier say; all NULL for a type that is not encrypted';

CREATE VIEW tde.encrypted_columns AS
  SELECT n.nspname AS schema_name, c.relname AS table_name, a.attname AS column_name,
         pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
         s.base_type, s.cipher, s.mode, s.salt, s.mac, s.key_slot
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
  WHERE a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped AND s.base_type IS NOT NULL
    AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'f', 'm']::"char"[])
    AND (pg_catalog.pg_has_role(c.relowner, 'USAGE')
         OR pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));
GRANT SELECT ON tde.encrypted_columns TO PUBLIC;
COMMENT ON VIEW tde.encrypted_columns IS 'encrypted columns that the current user has a privilege on, and how they are encrypted';

--
-- Declarations
--

CREATE FUNCTION tde_internal.tde_ddl_trigger() RETURNS event_trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_internal.tde_ddl_trigger() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_ddl_trigger() IS
  'give encrypted columns that were declared without modifiers the default specification';

CREATE FUNCTION tde_internal.tde_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_typanalyze(internal) IS 'statistics of an encrypted column, unless the wallet is closed';

--
-- Operand types: plain numbers as they stand beside an encrypted one.
--
-- COALESCE, CASE, IN and UNION of an encrypted numeric and an integer want an IMPLICIT cast of integers to encrypted_numeric.  With
-- that, + (encrypted_numeric, numeric) would suit 1 + 1.5 as well as PostgreSQL's own operator does, and "operator is not unique"
-- would be the answer to plain SQL.  + (encrypted_numeric, plain_numeric) does not: the parser prefers what names the operands' exact
-- types, and only among equals what names a preferred type.
--

DO $$
DECLARE
  operand record;
  ddl     text := '';
BEGIN
  FOR operand IN
    SELECT format('tde_internal.%I', name) AS name, b.typname AS base, sources, preferred, comment, typinput, typoutput, typreceive, typsend
    FROM (VALUES ('plain_int8',     'int8',    '{int2,int4}'::regtype[],             true,  'an integer'),
                 ('plain_decimal',  'numeric', '{}',                                 true,  'a numeric'),
                 ('plain_numeric',  'numeric', '{int2,int4,int8}',                   true,  'a numeric or an integer'),
                 ('plain_float8',   'float8',  '{float4}',                           true,  'a float'),
                 -- percentile_cont(0.5) WITHIN GROUP (ORDER BY $1) goes on meaning PostgreSQL's, whose float8 is preferred
                 ('plain_fraction', 'float8',  '{int2,int4,int8,numeric,float4}',    false, 'a number'))
      AS operands (name, base, sources, preferred, comment)
    JOIN pg_type b ON b.oid = base::regtype
  LOOP
    ddl := ddl || format(E'CREATE TYPE %s;\n', operand.name) || (
      SELECT string_agg(format(E'CREATE FUNCTION %1$s_%2$s(%3$s) RETURNS %4$s AS %5$L LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;\n'
                               'COMMENT ON FUNCTION %1$s_%2$s(%3$s) IS ''I/O'';\n', operand.name, suffix,
                               CASE WHEN result IS NULL THEN oidvectortypes(proargtypes) ELSE operand.name END,
                               coalesce(result, operand.name), prosrc), '')
      FROM (VALUES (operand.typinput, 'in', NULL), (operand.typoutput, 'out', 'cstring'),
                   (operand.typreceive, 'recv', NULL), (operand.typsend, 'send', 'bytea')) AS io (function, suffix, result)
      JOIN pg_proc p ON p.oid = function)
    || format(E'CREATE TYPE %1$s (INPUT = %1$s_in, OUTPUT = %1$s_out, RECEIVE = %1$s_recv, SEND = %1$s_send, LIKE = %2$s, '
              'CATEGORY = ''N'', PREFERRED = %4$s);\n'
              'COMMENT ON TYPE %1$s IS ''%3$s beside an encrypted number: for operators, not for columns'';\n'
              'CREATE CAST (%2$s AS %1$s) WITHOUT FUNCTION AS IMPLICIT;\nCREATE CAST (%1$s AS %2$s) WITHOUT FUNCTION AS IMPLICIT;\n',
              operand.name, operand.base, operand.comment, operand.preferred::text)
    || coalesce((
      SELECT string_agg(format(E'CREATE FUNCTION %1$s(%2$s) RETURNS %1$s AS %3$L LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;\n'
                               'COMMENT ON FUNCTION %1$s(%2$s) IS ''convert %2$s to %4$s'';\n'
                               'CREATE CAST (%2$s AS %1$s) WITH FUNCTION %1$s(%2$s) AS IMPLICIT;\n',
                               operand.name, castsource::regtype, prosrc, operand.base), '')
      FROM pg_cast JOIN pg_proc p ON p.oid = castfunc
      WHERE castsource = ANY (operand.sources) AND casttarget = operand.base::regtype), '');
  END LOOP;
  EXECUTE ddl;
END
$$;

CREATE FUNCTION tde_internal.tde_takes_numbers(encrypted regtype) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- not the small integers, of which operators with plain numbers of all types can be kept apart no other way
RETURN encrypted = ANY ('{int8,numeric,float4,float8}'::regtype[]);
COMMENT ON FUNCTION tde_internal.tde_takes_numbers(regtype) IS
  'do plain numbers of smaller types become the encrypted version of this base type implicitly?';

CREATE FUNCTION tde_internal.tde_beside(encrypted regtype, plain regtype, symbol text) RETURNS regtype
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN NOT tde_internal.tde_takes_numbers(encrypted) THEN plain
  -- float8 is preferred, and takes integers and numeric
  WHEN encrypted IN ('float4'::regtype, 'float8'::regtype) THEN CASE WHEN plain IN ('float4'::regtype, 'float8'::regtype) THEN plain END
  WHEN plain IN ('float4'::regtype, 'float8'::regtype) THEN CASE WHEN plain = 'float8'::regtype THEN 'tde_internal.plain_float8'::regtype END
  WHEN encrypted = 'numeric'::regtype THEN CASE WHEN plain = 'numeric'::regtype THEN 'tde_internal.plain_numeric'::regtype END
  WHEN plain = 'numeric'::regtype THEN 'tde_internal.plain_decimal'::regtype
  -- PostgreSQL has all operators of two integers for all sizes, but not %
  WHEN symbol <> '%' THEN plain
  WHEN plain = 'int8'::regtype THEN 'tde_internal.plain_int8'::regtype
END;
COMMENT ON FUNCTION tde_internal.tde_beside(regtype, regtype, text) IS
  'the type of a plain operand beside an encrypted one, which its base type names; NULL: an operator with another type serves it';

REVOKE ALL ON FUNCTION tde_internal.tde_takes_numbers(regtype), tde_internal.tde_beside(regtype, regtype, text) FROM PUBLIC;
--
-- Encrypted types
--

CREATE VIEW tde.types AS
  SELECT c.castsource::pg_catalog.regtype AS type, c.casttarget::pg_catalog.regtype AS base,
         EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid OPERATOR(pg_catalog.=) d.refobjid
                 WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
                   AND d.objid OPERATOR(pg_catalog.=) c.castsource
                   AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
                   AND d.deptype OPERATOR(pg_catalog.=) 'e' AND x.extname OPERATOR(pg_catalog.=) 'tde_column') AS shipped
  FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) c.castfunc
  JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
  WHERE p.prosrc OPERATOR(pg_catalog.=) 'tde_decrypt' AND l.lanname OPERATOR(pg_catalog.=) 'c';
GRANT SELECT ON tde.types TO PUBLIC;
COMMENT ON VIEW tde.types IS 'encrypted types, their base types, and whether they are the extension''s or a user''s';

CREATE FUNCTION tde_internal.tde_typmod_in(words cstring[], base regtype, type_tag uuid) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_typmod_in(cstring[], regtype, uuid) IS 'modifiers of an encrypted type as its typmod';

CREATE FUNCTION tde_internal.tde_subscript(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_subscript(internal) IS 'subscripts of encrypted values';

CREATE FUNCTION tde_internal.tde_encrypt_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_encrypt_support(internal) IS 'planner support for casts that encrypt';
REVOKE ALL ON FUNCTION tde_internal.tde_encrypt_support(internal) FROM PUBLIC;

CREATE FUNCTION tde_internal.tde_base_family(base regtype, method name) RETURNS TABLE (family oid, name name, operand regtype)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- a type without an operator class of its own (varchar) has that of the type whose bytes it shares (text)
  SELECT f.oid, f.opfname, CASE WHEN c.opcintype = 'anyenum'::regtype THEN base ELSE c.opcintype::regtype END
  FROM pg_opclass c JOIN pg_opfamily f ON f.oid = c.opcfamily JOIN pg_am m ON m.oid = c.opcmethod
  WHERE m.amname = method AND c.opcdefault
    AND (c.opcintype = base OR c.opcintype = 'anyenum'::regtype AND (SELECT typtype FROM pg_type WHERE oid = base) = 'e'
         OR EXISTS (SELECT FROM pg_cast WHERE castsource = base AND casttarget = c.opcintype AND castmethod = 'b' AND castcontext = 'i'))
  ORDER BY c.opcintype = base DESC, (SELECT typispreferred FROM pg_type WHERE oid = c.opcintype) DESC
  LIMIT 1;
END;
COMMENT ON FUNCTION tde_internal.tde_base_family(regtype, name) IS
  'default operator family of a base type, and the type that it compares it as';

-- The extension's types share operator families where the base types do, so that members combine as there.  A user's type has
-- families of its own: pg_dump would not dump members of the extension's.
CREATE VIEW tde_internal.type_plans AS
  SELECT t.type AS enc, t.base, y.typname AS name, quote_ident(n.nspname) AS schema, t.shipped,
         -- what is reached by OID
         CASE WHEN t.shipped THEN 'tde_internal' ELSE quote_ident(n.nspname) END AS inner_schema,
         t.base = ANY ('{int2,int4,int8,numeric,float4,float8}'::regtype[]) AS number, o.operand,
         -- what its families compare with each other
         CASE WHEN o.operand IS NOT NULL
           THEN ARRAY(SELECT DISTINCT m FROM unnest(ARRAY[t.type, o.operand, tde_internal.tde_beside(t.base, o.operand, '='), t.base]) m) END AS members,
         b.family AS btree, (CASE WHEN t.shipped THEN 'tde_' || b.name ELSE y.typname || '_ops' END)::name AS btree_name,
         h.family AS hash, (CASE WHEN t.shipped THEN 'tde_' || h.name ELSE y.typname || '_ops' END)::name AS hash_name,
         ('tde_' || r.opfname)::name AS pattern_name
  FROM tde.types t JOIN pg_type y ON y.oid = t.type JOIN pg_namespace n ON n.oid = y.typnamespace
  LEFT JOIN LATERAL tde_internal.tde_base_family(t.base, 'btree') b ON true
  LEFT JOIN LATERAL tde_internal.tde_base_family(t.base, 'hash') h ON true
  CROSS JOIN LATERAL (SELECT coalesce(b.operand, h.operand)) o (operand)
  -- of strings: in the order of their bytes, for LIKE in all collations
  LEFT JOIN pg_opfamily r ON t.shipped AND r.opfname = (SELECT typname || '_pattern_ops' FROM pg_type WHERE oid = o.operand)
    AND r.opfnamespace = 'pg_catalog'::regnamespace AND r.opfmethod = (SELECT oid FROM pg_am WHERE amname = 'btree');
COMMENT ON VIEW tde_internal.type_plans IS
  'what the template makes for a type: in which schema, and after which operator families of the base type (NULL: it has none)';

--
-- The template says in SQL what a type lacks, thing by thing, so that an update can complete the types that an older version made.
-- It is executed in few pieces, since each new operator makes PostgreSQL plan all queries anew.
--

-- What is there already counts only if it is ours: a member of the extension or, for a user's type, of a superuser's making, since
-- nobody else can call tde_create_type().  Anything else of this name is somebody's who wants it called, and is told.
CREATE FUNCTION tde_internal.tde_is_there(class regclass, object oid, owner oid, as_made boolean) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  of_extension text := (SELECT x.extname FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
                        WHERE d.classid = class AND d.objid = object AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e');
BEGIN
  IF object IS NULL THEN
    RETURN false;
  ELSIF as_made AND (of_extension = 'tde_column' OR of_extension IS NULL AND (SELECT rolsuper FROM pg_roles WHERE oid = owner)) THEN
    RETURN true;
  END IF;
  RAISE EXCEPTION '% already exists', pg_describe_object(class, object, 0) USING ERRCODE = 'duplicate_object',
    DETAIL = format('It belongs to role "%s"%s, and is none that an encrypted type can use.', pg_get_userbyid(owner),
                    coalesce(' and extension "' || of_extension || '"', '')),
    HINT = (SELECT format('Drop it, or give it another name: DROP %s %s;', upper(i.type), i.identity) FROM pg_identify_object(class, object, 0) i);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_is_there(regclass, oid, oid, boolean) IS
  'is there an object that the template makes; error if it is not as made, or somebody else''s; object: NULL if there is none';

CREATE FUNCTION tde_internal.tde_has_function(signature text, symbol text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  function regprocedure := to_regprocedure(signature);
  f        pg_proc;
BEGIN
  IF function IS NULL THEN
    RETURN false;
  END IF;
  SELECT * INTO f FROM pg_proc WHERE oid = function;
  RETURN tde_internal.tde_is_there(
    'pg_proc', f.oid, f.proowner, f.prosrc = symbol AND f.prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')
                                  AND f.probin = (SELECT probin FROM pg_proc WHERE oid = 'tde_internal.tde_typanalyze(internal)'::regprocedure));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_has_function(text, text) IS
  'is there a function of this library: its signature with schema, and its C symbol; error if something else is there';

CREATE FUNCTION tde_internal.tde_function_sql(signature text, result text, symbol text, volatility text, comment text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF tde_internal.tde_has_function(signature, symbol) THEN
    RETURN '';
  END IF;
  RETURN format(E'CREATE FUNCTION %1$s RETURNS %2$s AS ''MODULE_PATHNAME'', %3$L LANGUAGE C %4$s STRICT PARALLEL SAFE;\n'
                'COMMENT ON FUNCTION %1$s IS %5$L;\n', signature, result, symbol, volatility, comment);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_function_sql(text, text, text, text, text) IS 'SQL that makes a function, if it is missing';

CREATE FUNCTION tde_internal.tde_has_cast(source regtype, target regtype, function text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  c pg_cast;
BEGIN
  SELECT * INTO c FROM pg_cast WHERE castsource = source AND casttarget = target;
  RETURN c.oid IS NOT NULL AND tde_internal.tde_is_there('pg_cast', c.oid, (SELECT proowner FROM pg_proc WHERE oid = c.castfunc),
                                                         c.castfunc = to_regprocedure(function));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_has_cast(regtype, regtype, text) IS
  'is there a cast by this function; error if there is another one';

CREATE FUNCTION tde_internal.tde_cast_sql(schema text, inner_schema text, source regtype, target regtype, symbol text, context text,
                                          comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- All are STABLE: IMMUTABLE ones would be folded, and one salt shared by many rows; VOLATILE ones would keep conditions out of
  -- indexes.  Those that encrypt know the column's modifiers.
  SELECT coalesce((
    SELECT tde_internal.tde_function_sql(signature, target::text, symbol, 'STABLE', comment)
           || CASE symbol WHEN 'tde_encrypt'
                THEN format(E'ALTER FUNCTION %s SUPPORT tde_internal.tde_encrypt_support;\n', signature) ELSE '' END
           || format(E'CREATE CAST (%s AS %s) WITH FUNCTION %s %s;\n', source, target, signature, context)
    -- named after the type, as PostgreSQL's, but for one that oid(int2) could mean
    FROM (SELECT format('%s.%I(%s%s)', inner_schema, CASE target WHEN 'oid'::regtype THEN 'tde_oid' ELSE typname END, source,
                        -- an integer does not become a bit string of its own length, to be made longer or shorter, but has the wanted one
                        CASE WHEN symbol NOT LIKE 'tde_decrypt%' THEN ', int4, boolean' WHEN target = 'bit'::regtype THEN ', int4' ELSE '' END)
          FROM pg_type WHERE oid = target) AS t (signature)
    WHERE NOT tde_internal.tde_has_cast(source, target, signature)), '')
  -- int4(a), as a function that users write: where int4($1) is ambiguous without it, too
  || coalesce((
    SELECT tde_internal.tde_function_sql(format('%s.%I(%s)', schema, typname, source), target::text, symbol, 'STABLE', comment)
    FROM pg_type WHERE oid = target AND schema <> inner_schema AND symbol IN ('tde_decrypt', 'tde_decrypt_to')
      AND (SELECT count(*) FROM pg_proc WHERE proname = typname AND pronamespace = 'pg_catalog'::regnamespace AND pronargs = 1) > 1), '');
END;
COMMENT ON FUNCTION tde_internal.tde_cast_sql(text, text, regtype, regtype, text, text, text) IS 'SQL that makes a cast, if it is missing';

CREATE FUNCTION tde_internal.tde_operator_name(p tde_internal.type_plans, symbol text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- Those that begin with % are members of operator families alone, for no expression to find: %> of texts is pg_trgm's.
RETURN CASE WHEN symbol LIKE '\%_%' THEN p.inner_schema ELSE p.schema END || '.' || symbol;
COMMENT ON FUNCTION tde_internal.tde_operator_name(tde_internal.type_plans, text) IS 'an operator''s name, with its schema';

CREATE FUNCTION tde_internal.tde_has_operator(signature text, function text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  operator regoperator := to_regoperator(signature);
  o        pg_operator;
BEGIN
  IF operator IS NULL THEN
    RETURN false;
  END IF;
  SELECT * INTO o FROM pg_operator WHERE oid = operator;
  -- one that was named as commutator or negator before it is made is there already, without a function
  RETURN tde_internal.tde_is_there('pg_operator', o.oid, o.oprowner, o.oprcode = 0 OR o.oprcode = to_regprocedure(function)) AND o.oprcode <> 0;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_has_operator(text, text) IS
  'is there an operator with this function; error if there is another one';

CREATE FUNCTION tde_internal.tde_operator_sql(p tde_internal.type_plans, symbol text, l regtype, r regtype, result text, function text,
                                              volatility text, options text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  is_ours   boolean := function NOT LIKE '%.%';     -- one with a schema is PostgreSQL's
  name      text := CASE WHEN is_ours THEN p.inner_schema || '.' || function ELSE function END;
  signature text := format('%s(%s, %s)', name, l, r);
  operator  text := tde_internal.tde_operator_name(p, symbol);
  ddl       text := '';
BEGIN
  IF is_ours THEN
    ddl := tde_internal.tde_function_sql(
      signature, result, function, volatility,
      format('implementation of %s operator', CASE WHEN symbol = '%' THEN symbol ELSE ltrim(symbol, '%#') END));
  END IF;
  IF NOT tde_internal.tde_has_operator(format('%s(%s, %s)', operator, l, r), signature) THEN
    ddl := ddl || format(E'CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s%s);\n', operator, l, r, name, options);
  END IF;
  RETURN ddl;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text) IS
  'SQL that makes an operator, if it is missing';

CREATE FUNCTION tde_internal.tde_plain_comparison(symbol text, l regtype, r regtype) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF greatest(l::oid, r::oid) >= 16384 THEN     -- not PostgreSQL's own
    RETURN NULL;
  END IF;
  RETURN (SELECT format('pg_catalog.%I', p.proname) FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
          WHERE o.oprname = symbol AND o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprleft = l AND o.oprright = r
            AND o.oprresult = 'bool'::regtype AND p.pronamespace = 'pg_catalog'::regnamespace
            AND (p.proargtypes[0], p.proargtypes[1]) = (l, r));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_plain_comparison(text, regtype, regtype) IS
  'PostgreSQL''s function that compares two plain types, which operators of ours can have, too; NULL: it has none';

CREATE FUNCTION tde_internal.tde_members_sql(family oid, l regtype, r regtype, operators text[], functions text[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  missing text[] := '{}';
BEGIN
  -- an element's place is its strategy or support number
  FOR number IN 1 .. cardinality(operators) LOOP
    IF operators[number] IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_amop WHERE amopfamily = family AND amoplefttype = l AND amoprighttype = r AND amopstrategy = number) THEN
      missing := missing || format('OPERATOR %s %s (%s, %s)', number, operators[number], l, r);
    END IF;
  END LOOP;
  FOR number IN 1 .. cardinality(functions) LOOP
    IF functions[number] IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_amproc WHERE amprocfamily = family AND amproclefttype = l AND amprocrighttype = r AND amprocnum = number) THEN
      missing := missing || format('FUNCTION %s (%s, %s) %s', number, l, r, functions[number]);
    END IF;
  END LOOP;
  IF missing = '{}' THEN
    RETURN '';
  END IF;
  RETURN (SELECT format(E'ALTER OPERATOR FAMILY %I.%I USING %I ADD %s;\n', n.nspname, f.opfname, m.amname, array_to_string(missing, ', '))
          FROM pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace JOIN pg_am m ON m.oid = f.opfmethod WHERE f.oid = family);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_members_sql(oid, regtype, regtype, text[], text[]) IS
  'SQL that adds operators and functions to a family that lacks them';

CREATE FUNCTION tde_internal.tde_class_sql(schema text, type regtype, family oid, suffix text DEFAULT '_ops') RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- its members are the family's; something must stand there, and what does says nothing
  SELECT coalesce((
    SELECT format(E'CREATE OPERATOR CLASS %s.%I%s FOR TYPE %s USING %I FAMILY %I.%I AS STORAGE %4$s;\n', schema, name,
                  CASE suffix WHEN '_ops' THEN ' DEFAULT' ELSE '' END, type, m.amname, n.nspname, f.opfname)
    FROM (SELECT (typname || suffix)::name FROM pg_type WHERE oid = type) AS t (name)
    CROSS JOIN pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace JOIN pg_am m ON m.oid = f.opfmethod
    WHERE f.oid = family AND NOT EXISTS (
      SELECT FROM pg_opclass c WHERE c.opcmethod = f.opfmethod AND c.opcintype = type AND c.opcfamily = f.oid)), '');
END;
COMMENT ON FUNCTION tde_internal.tde_class_sql(text, regtype, oid, text) IS
  'SQL that makes an operator class, the default one if its name ends in no more than _ops, if it is missing';

CREATE FUNCTION tde_internal.tde_has_aggregate(signature text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce((SELECT tde_internal.tde_is_there('pg_proc', oid, proowner, prokind = 'a') FROM pg_proc WHERE oid = to_regprocedure(signature)), false);
COMMENT ON FUNCTION tde_internal.tde_has_aggregate(text) IS 'is there an aggregate; error if it is somebody else''s';

CREATE FUNCTION tde_internal.tde_aggregate_sql(signature text, options text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN tde_internal.tde_has_aggregate(signature) THEN '' ELSE
  format(E'CREATE AGGREGATE %1$s (%2$s, PARALLEL = SAFE);\nCOMMENT ON AGGREGATE %1$s IS %3$L;\n', signature, options, comment) END;
COMMENT ON FUNCTION tde_internal.tde_aggregate_sql(text, text, text) IS 'SQL that makes an aggregate, if it is missing';
REVOKE ALL ON FUNCTION tde_internal.tde_base_family(regtype, name), tde_internal.tde_is_there(regclass, oid, oid, boolean),
  tde_internal.tde_has_function(text, text), tde_internal.tde_function_sql(text, text, text, text, text),
  tde_internal.tde_has_cast(regtype, regtype, text),
  tde_internal.tde_cast_sql(text, text, regtype, regtype, text, text, text),
  tde_internal.tde_operator_name(tde_internal.type_plans, text), tde_internal.tde_has_operator(text, text),
  tde_internal.tde_operator_sql(tde_internal.type_plans, text, regtype, regtype, text, text, text, text),
  tde_internal.tde_plain_comparison(text, regtype, regtype), tde_internal.tde_members_sql(oid, regtype, regtype, text[], text[]),
  tde_internal.tde_class_sql(text, regtype, oid, text), tde_internal.tde_has_aggregate(text),
  tde_internal.tde_aggregate_sql(text, text, text) FROM PUBLIC;
--
-- The parts of the template: what an encrypted type lacks
--

CREATE FUNCTION tde_internal.tde_missing_casts(p tde_internal.type_plans, others tde_internal.type_plans[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg(tde_internal.tde_cast_sql(p.schema, p.inner_schema, source, target, symbol,
                                 CASE context WHEN 'i' THEN 'AS IMPLICIT' WHEN 'a' THEN 'AS ASSIGNMENT' ELSE '' END, comment), '')
  FROM (
    SELECT p.enc, p.enc, 'tde_coerce', 'i', 'adjust value to typmod'
    UNION ALL
    -- ASSIGNMENT from the base type: an IMPLICIT one would let encrypted and plain operators compete.
    SELECT p.base, p.enc, 'tde_encrypt', 'a', 'encrypt'
    UNION ALL
    SELECT castsource::regtype, p.enc, 'tde_encrypt',
           CASE WHEN castcontext = 'e' OR castcontext = 'i' AND tde_internal.tde_takes_numbers(p.base) THEN castcontext::text ELSE 'a' END, 'encrypt'
    FROM pg_cast
    WHERE casttarget = p.base AND castsource <> p.base
      AND castsource < 16384 AND castsource::regtype::text NOT IN ('"char"', 'name', 'xml', 'money')
    UNION ALL
    -- What the base type can be cast to.  IMPLICIT only between strings (varchar and bpchar to text), as a second implicit cast of a
    -- number would make arithmetic ambiguous, or silently inexact, and one to oid would compare -1 as the largest; and only of built-in
    -- types, as text would lend its operators to a type that compares otherwise (citext).
    SELECT p.enc, casttarget::regtype, 'tde_decrypt_to',
           CASE WHEN castcontext = 'i' AND p.base = ANY ('{text,varchar,bpchar}'::regtype[]) THEN 'i' ELSE 'a' END,
           'decrypt and cast'
    FROM pg_cast
    WHERE castsource = p.base AND casttarget <> p.base AND casttarget < 16384
      AND casttarget::regtype::text NOT IN ('"char"', 'name', 'xml', 'regclass')
    UNION ALL
    -- Explicit, for to_json() and its like, where they give more than the text in quotes.
    SELECT p.enc, 'json'::regtype, 'tde_decrypt_to_json', 'e', 'decrypt, as to_json()'
    WHERE p.number OR p.base = ANY ('{bool,date,timestamp,timestamptz}'::regtype[])
    UNION ALL
    -- Casts between encrypted types, as between their base types.  Those of a user's type with one of the extension's are the
    -- user's, and not IMPLICIT: comparisons of the two would be ambiguous.
    SELECT s.source, s.target, 'tde_recast', CASE WHEN c.castcontext = 'i' AND NOT p.shipped THEN 'a' ELSE c.castcontext::text END,
           'cast as between the base types'
    FROM unnest(others) t
    CROSS JOIN LATERAL (VALUES (p.enc, p.base, t.enc, t.base), (t.enc, t.base, p.enc, p.base))
      AS s (source, source_base, target, target_base)
    JOIN pg_cast c ON c.castsource = s.source_base AND c.casttarget = s.target_base
    WHERE t.enc <> p.enc AND (t.shipped OR NOT p.shipped)
  ) AS casts (source, target, symbol, context, comment);
END;
COMMENT ON FUNCTION tde_internal.tde_missing_casts(tde_internal.type_plans, tde_internal.type_plans[]) IS 'SQL that makes the casts that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_missing_arithmetic(p tde_internal.type_plans, others tde_internal.type_plans[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- With itself, every plain and every other encrypted number: were a pair missing, another one with a preferred type (float8)
  -- would be taken for it.  The result has the type that PostgreSQL gives to the base types'.
  SELECT coalesce(string_agg(tde_internal.tde_operator_sql(p, symbol, l, r, (CASE
           WHEN 'float4'::regtype = ALL (ARRAY[l_base, r_base]) THEN 'float4'::regtype
           WHEN ARRAY[l_base, r_base] && '{float4,float8}'::regtype[] THEN 'float8'
           WHEN 'numeric'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'numeric'
           WHEN 'int8'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'int8'
           WHEN 'int4'::regtype = ANY (ARRAY[l_base, r_base]) THEN 'int4'
           ELSE 'int2' END)::text, function, 'STABLE', ''), ''), '')
  FROM (
    SELECT p.enc, p.base, p.enc, p.base
    UNION ALL
    SELECT s.* FROM (SELECT unnest('{int2,int4,int8,numeric,float4,float8}'::regtype[]) AS type, NULL::regtype AS base
                     UNION ALL SELECT enc, base FROM unnest(others) WHERE number AND enc <> p.enc) AS o
    CROSS JOIN LATERAL (VALUES (p.enc, p.base, o.type, coalesce(o.base, o.type)),
                               (o.type, coalesce(o.base, o.type), p.enc, p.base)) AS s
  ) AS types (l_type, l_base, r_type, r_base)
  CROSS JOIN (VALUES ('+', 'tde_plus'), ('-', 'tde_minus'), ('*', 'tde_times'), ('/', 'tde_divided'), ('%', 'tde_modulo'))
    AS ops (symbol, function)
  CROSS JOIN LATERAL (SELECT CASE WHEN l_type = l_base THEN tde_internal.tde_beside(r_base, l_base, symbol) ELSE l_type END,
                             CASE WHEN r_type = r_base THEN tde_internal.tde_beside(l_base, r_base, symbol) ELSE r_type END) AS sides (l, r)
  WHERE p.number AND l IS NOT NULL AND r IS NOT NULL
    AND (symbol <> '%' OR NOT ARRAY[l_base, r_base] && '{float4,float8}'::regtype[]);
END;
COMMENT ON FUNCTION tde_internal.tde_missing_arithmetic(tde_internal.type_plans, tde_internal.type_plans[]) IS 'SQL that makes the arithmetic that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_comparison_sql(p tde_internal.type_plans, l regtype, r regtype, prefix text, ordered boolean, btree oid,
                                                hash oid, volatility text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  -- plain types are compared by PostgreSQL's functions
  cmp text := coalesce((SELECT format('pg_catalog.%I(%s, %s)', f.proname, l, r) FROM pg_amproc a JOIN pg_proc f ON f.oid = a.amproc
                        WHERE a.amprocfamily = p.btree AND a.amproclefttype = l AND a.amprocrighttype = r AND a.amprocnum = 1
                          AND f.pronamespace = 'pg_catalog'::regnamespace AND (f.proargtypes[0], f.proargtypes[1]) = (l, r)),
                       format('%s.tde_cmp(%s, %s)', p.inner_schema, l, r));
BEGIN
  -- btree, hash: the families that they are members of, or NULL
  RETURN (
  SELECT string_agg(tde_internal.tde_operator_sql(
           p, prefix || o.symbol, l, r, 'boolean', coalesce(tde_internal.tde_plain_comparison(o.symbol, l, r), o.function), volatility,
           format(', COMMUTATOR = OPERATOR(%s), NEGATOR = OPERATOR(%s), RESTRICT = %3$ssel, JOIN = %3$sjoinsel%4$s%5$s',
                  tde_internal.tde_operator_name(p, prefix || o.commutator), tde_internal.tde_operator_name(p, prefix || o.negator), o.selectivity,
                  CASE WHEN o.symbol = '=' AND btree IS NOT NULL THEN ', MERGES' END,
                  CASE WHEN o.symbol = '=' AND hash IS NOT NULL THEN ', HASHES' END)), '')
    || CASE WHEN btree IS NULL THEN '' ELSE
         CASE WHEN cmp LIKE 'pg_catalog.%' THEN ''
           ELSE tde_internal.tde_function_sql(cmp, 'int4', 'tde_cmp', volatility, 'less-equal-greater') END
         || tde_internal.tde_members_sql(btree, l, r,
                            ARRAY(SELECT tde_internal.tde_operator_name(p, prefix || s) FROM unnest('{<,<=,=,>=,>}'::text[]) s),
                            ARRAY[cmp]) END
    || CASE WHEN hash IS NULL THEN '' ELSE
         tde_internal.tde_members_sql(hash, l, r, ARRAY[tde_internal.tde_operator_name(p, prefix || '=')], '{}') END
  FROM (VALUES ('=',  'tde_eq', '=',  '<>', 'eq'),
               ('<>', 'tde_ne', '<>', '=',  'neq'),
               ('<',  'tde_lt', '>',  '>=', 'scalarlt'),
               ('<=', 'tde_le', '>=', '>',  'scalarle'),
               ('>',  'tde_gt', '<',  '<=', 'scalargt'),
               ('>=', 'tde_ge', '<=', '<',  'scalarge')) AS o (symbol, function, commutator, negator, selectivity)
  WHERE ordered OR o.symbol IN ('=', '<>'));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_comparison_sql(tde_internal.type_plans, regtype, regtype, text, boolean, oid, oid, text) IS
  'SQL that makes the operators that compare two types, as members of families';

CREATE FUNCTION tde_internal.tde_missing_comparisons(p tde_internal.type_plans, others tde_internal.type_plans[], btree oid, hash oid,
                                                     exact oid, inexact oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(tde_internal.tde_comparison_sql(p, l, r, prefix, ordered, btree, hash, volatility), ''), '')
  FROM (
    -- The base type's own members have other names, which no expression finds: plain columns keep PostgreSQL's operators.  So have
    -- those with numeric and varchar themselves, which foreign keys of plain columns find in the family.
    SELECT l, r, CASE WHEN p.enc IN (l, r) AND (l = r OR tde_internal.tde_beside(p.base, p.operand, '=') IN (l, r)) THEN ''
                   -- a user's type has them in his schema, under names that no extension has
                   ELSE CASE WHEN p.shipped THEN '%' ELSE '%#' END END,
           p.btree IS NOT NULL, $3, $4, 'IMMUTABLE'
    FROM unnest(p.members) l, unnest(p.members) r
    UNION ALL
    SELECT l, r, '', true, NULL, NULL, 'IMMUTABLE'
    FROM (VALUES (p.enc, 'name'::regtype), ('name', p.enc)) AS s (l, r)
    WHERE p.shipped AND p.operand = 'text'::regtype
    UNION ALL
    -- The extension's types with each other: in the family where the base types share one; numbers of all sorts in those that hash
    -- them alike.
    SELECT l, r, prefix, true, CASE WHEN shared THEN $3 END,
           CASE WHEN NOT shared THEN CASE WHEN ARRAY[p.base, o.base] && '{float4,float8}'::regtype[] THEN $6 ELSE $5 END
             WHEN o.hash = p.hash THEN $4 END,
           -- a comparison of timestamptz with date depends on the time zone
           coalesce((SELECT CASE WHEN provolatile = 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END
                     FROM pg_operator e JOIN pg_proc f ON f.oid = e.oprcode
                     WHERE oprname = '=' AND oprnamespace = 'pg_catalog'::regnamespace AND oprleft = p.operand AND oprright = o.operand),
                    'IMMUTABLE')
    FROM unnest(others) o
    CROSS JOIN LATERAL (SELECT o.btree = p.btree) s (shared)
    CROSS JOIN LATERAL (SELECT tde_internal.tde_beside(p.base, o.operand, '='), tde_internal.tde_beside(o.base, p.operand, '=')) b (beside_p, beside_o)
    CROSS JOIN LATERAL (VALUES (p.enc, o.enc, ''), (o.enc, p.enc, ''), (p.enc, beside_p, ''), (beside_p, p.enc, ''),
                               (o.enc, beside_o, ''), (beside_o, o.enc, ''),
                               (p.operand, o.operand, '%'), (o.operand, p.operand, '%'),
                               (p.enc, nullif(o.base, o.operand), '%'), (nullif(o.base, o.operand), p.enc, '%'),
                               (o.enc, nullif(p.base, p.operand), '%'), (nullif(p.base, p.operand), o.enc, '%')) AS m (l, r, prefix)
    WHERE o.enc <> p.enc AND o.shipped AND p.shipped AND (shared OR p.number AND o.number) AND l IS NOT NULL AND r IS NOT NULL
      AND (p.operand <> o.operand AND (prefix = '' OR shared) OR ARRAY[l, r] <@ ARRAY[p.enc, o.enc]
           OR shared AND prefix = '%' AND ARRAY[l, r] && ARRAY[p.enc, o.enc])
  ) AS sides (l, r, prefix, ordered, btree, hash, volatility);
END;
COMMENT ON FUNCTION tde_internal.tde_missing_comparisons(tde_internal.type_plans, tde_internal.type_plans[], oid, oid, oid, oid) IS
  'SQL that makes the comparison operators that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_missing_classes(p tde_internal.type_plans, btree oid, hash oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(tde_internal.tde_function_sql(signature, result, symbol, volatility, comment)
                             || tde_internal.tde_members_sql(family, l, r, '{}', array_fill(NULL::text, ARRAY[number - 1]) || signature), ''), '')
         || tde_internal.tde_class_sql(p.schema, p.enc, $2) || tde_internal.tde_class_sql(p.schema, p.enc, $3)
  FROM (
    SELECT $2, p.enc, p.enc, 2, format('%s.%I(internal)', p.inner_schema, p.name || '_sortsupport'), 'void', 'tde_sortsupport',
           'IMMUTABLE', 'sort support'
    UNION ALL
    SELECT $2, p.enc, amprocrighttype, 3,
           format('%s.tde_in_range(%s, %2$s, %s, boolean, boolean)', p.inner_schema, p.enc, amprocrighttype::regtype), 'boolean',
           'tde_in_range', CASE WHEN i.provolatile = 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END, 'window RANGE support'
    FROM pg_amproc JOIN pg_proc i ON i.oid = amproc WHERE amprocfamily = p.btree AND amproclefttype = p.operand AND amprocnum = 3
    UNION ALL
    SELECT $3, t, t, 1, format('%s.tde_hash(%s)', p.inner_schema, t), 'int4', 'tde_hash', 'IMMUTABLE', 'keyed hash'
    FROM unnest(p.members) t
    UNION ALL
    SELECT $3, t, t, 2, format('%s.tde_hash_extended(%s, int8)', p.inner_schema, t), 'int8', 'tde_hash_extended', 'IMMUTABLE',
           'hash with a seed'
    FROM unnest(p.members) t
  ) AS functions (family, l, r, number, signature, result, symbol, volatility, comment)
  WHERE family IS NOT NULL;
END;
COMMENT ON FUNCTION tde_internal.tde_missing_classes(tde_internal.type_plans, oid, oid) IS
  'SQL that makes the support functions and operator classes that an encrypted type lacks';

CREATE FUNCTION tde_internal.tde_missing_number_hashes(p tde_internal.type_plans, family oid, symbol text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- Each type with itself, too, for which PostgreSQL looks where a subquery is hashed.
  SELECT coalesce(string_agg(tde_internal.tde_comparison_sql(p, t, t, CASE t WHEN p.enc THEN '%%' ELSE '%' END, false, NULL, family, 'IMMUTABLE')
                             || tde_internal.tde_function_sql(signature, 'int4', symbol, 'IMMUTABLE', 'keyed hash of a number among such of other types')
                             || tde_internal.tde_members_sql(family, t, t, '{}', ARRAY[signature]), ''), '')
  FROM (SELECT p.enc UNION SELECT p.base WHERE p.base = ANY ('{numeric,float4,float8}'::regtype[])
        UNION SELECT tde_internal.tde_beside('int8', p.base, '=') WHERE p.base = ANY ('{numeric,float8}'::regtype[])) AS types (t)
  CROSS JOIN LATERAL (SELECT format('%s.%s(%s)', p.inner_schema, symbol, t)) s (signature)
  WHERE family IS NOT NULL;
END;
COMMENT ON FUNCTION tde_internal.tde_missing_number_hashes(tde_internal.type_plans, oid, text) IS
  'SQL that makes what an encrypted number lacks in a hash family of numbers of different sorts';

CREATE FUNCTION tde_internal.tde_missing_patterns(p tde_internal.type_plans, btree oid, pattern oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- What the default family compares.  Its equality is a member of both families for all pairs: the planner combines only equalities
  -- that are members of the same.
  SELECT coalesce(string_agg((
    SELECT string_agg(tde_internal.tde_operator_sql(
             p, prefix || o.symbol, l, r, 'boolean', coalesce(tde_internal.tde_plain_comparison(o.symbol, l, r), o.function), 'IMMUTABLE',
             format(', COMMUTATOR = OPERATOR(%s), NEGATOR = OPERATOR(%s), RESTRICT = %3$ssel, JOIN = %3$sjoinsel',
                    tde_internal.tde_operator_name(p, prefix || o.commutator), tde_internal.tde_operator_name(p, prefix || o.negator),
                    o.selectivity)), '')
    FROM (VALUES ('~<~',  'tde_pattern_lt', '~>~',  '~>=~', 'scalarlt'),
                 ('~<=~', 'tde_pattern_le', '~>=~', '~>~',  'scalarle'),
                 ('~>~',  'tde_pattern_gt', '~<~',  '~<=~', 'scalargt'),
                 ('~>=~', 'tde_pattern_ge', '~<=~', '~<~',  'scalarge')) AS o (symbol, function, commutator, negator, selectivity))
    || tde_internal.tde_function_sql(compare, 'int4', 'tde_pattern_cmp', 'IMMUTABLE', 'less-equal-greater')
    || CASE WHEN l = p.enc AND r = p.enc THEN tde_internal.tde_function_sql(sort, 'void', 'tde_pattern_sortsupport', 'IMMUTABLE', 'sort support') ELSE '' END
    || tde_internal.tde_members_sql($3, l, r,
                       ARRAY(SELECT tde_internal.tde_operator_name(p, prefix || o) FROM unnest('{~<~,~<=~,=,~>=~,~>~}'::text[]) o),
                       ARRAY[compare, CASE WHEN l = p.enc AND r = p.enc THEN sort END]), ''), '')
    || tde_internal.tde_class_sql(p.schema, p.enc, $3, '_pattern_ops')
  FROM pg_amop e JOIN pg_operator q ON q.oid = e.amopopr
  CROSS JOIN LATERAL (SELECT e.amoplefttype::regtype, e.amoprighttype::regtype, rtrim(q.oprname, '=')) s (l, r, prefix)
  CROSS JOIN LATERAL (SELECT format('%s.tde_pattern_cmp(%s, %s)', p.inner_schema, l, r),
                             format('%s.%I(internal)', p.inner_schema, p.name || '_pattern_sortsupport')) f (compare, sort)
  WHERE e.amopfamily = $2 AND e.amopstrategy = 3 AND $3 IS NOT NULL;
END;
COMMENT ON FUNCTION tde_internal.tde_missing_patterns(tde_internal.type_plans, oid, oid) IS
  'SQL that makes what an encrypted string lacks to be compared by its bytes; btree, pattern: its operator families';

CREATE FUNCTION tde_internal.tde_missing_aggregates(p tde_internal.type_plans) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- min and max, which keep an index useful
  SELECT coalesce((
    SELECT string_agg(tde_internal.tde_function_sql(format('%s.tde_%s(%s, %3$s)', p.inner_schema, a.suffix, p.enc), p.enc::text, 'tde_' || a.suffix,
                                       'IMMUTABLE', a.suffix || ' of two')
                      || tde_internal.tde_aggregate_sql(format('%s.%I(%s)', p.schema, a.name, p.enc),
                                           format('SFUNC = %1$s.tde_%2$s, STYPE = %3$s, COMBINEFUNC = %1$s.tde_%2$s, '
                                                  'SORTOP = OPERATOR(%4$s.%5$s)', p.inner_schema, a.suffix, p.enc, p.schema, a.sortop),
                                           a.name || 'imum of all values'), '')
    FROM (VALUES ('max', 'larger', '>'), ('min', 'smaller', '<')) AS a (name, suffix, sortop)
    WHERE p.btree IS NOT NULL AND EXISTS (
      SELECT FROM pg_proc WHERE proname = a.name AND prokind = 'a' AND pronargs = 1 AND (proargtypes[0] = p.operand
        OR proargtypes[0] = 'anyenum'::regtype AND (SELECT typtype FROM pg_type WHERE oid = p.base) = 'e'))), '')
  -- corr, covar_*, regr_*: of float8, which the other encrypted numbers become implicitly
  || coalesce((
    SELECT string_agg(tde_internal.tde_function_sql(format('%s.tde_regr_accum(float8[], %s, %s)', p.inner_schema, l, r), 'float8[]',
                                       'tde_regr_accum', 'STABLE', 'aggregate transition function')
                      || tde_internal.tde_function_sql(format('%s.tde_regr_count(int8, %s, %s)', p.inner_schema, l, r), 'int8',
                                          'tde_regr_count', 'IMMUTABLE', 'aggregate transition function')
                      || (SELECT string_agg(tde_internal.tde_aggregate_sql(
                                   format('%s.%I(%s, %s)', p.schema, f.proname, l, r),
                                   format('SFUNC = %s.%s, STYPE = %s, INITCOND = %L, COMBINEFUNC = %s%s', p.inner_schema,
                                          CASE WHEN aggtransfn = 'float8_regr_accum'::regproc THEN 'tde_regr_accum'
                                            ELSE 'tde_regr_count' END,
                                          aggtranstype::regtype, agginitval, aggcombinefn,
                                          CASE WHEN aggfinalfn <> 0 THEN format(', FINALFUNC = %s', aggfinalfn) END),
                                   obj_description(f.oid, 'pg_proc')), '')
                          FROM pg_aggregate JOIN pg_proc f ON f.oid = aggfnoid
                          WHERE aggtransfn IN ('float8_regr_accum'::regproc, 'int8inc_float8_float8'::regproc)
                            AND pronamespace = 'pg_catalog'::regnamespace), '')
    FROM (VALUES (p.enc, p.enc), (p.enc, p.base), (p.base, p.enc)) AS s (l, r) WHERE p.base = 'float8'::regtype), '');
END;
COMMENT ON FUNCTION tde_internal.tde_missing_aggregates(tde_internal.type_plans) IS 'SQL that makes the aggregates that an encrypted type lacks';

REVOKE ALL ON FUNCTION tde_internal.tde_missing_casts(tde_internal.type_plans, tde_internal.type_plans[]),
  tde_internal.tde_missing_arithmetic(tde_internal.type_plans, tde_internal.type_plans[]),
  tde_internal.tde_comparison_sql(tde_internal.type_plans, regtype, regtype, text, boolean, oid, oid, text),
  tde_internal.tde_missing_comparisons(tde_internal.type_plans, tde_internal.type_plans[], oid, oid, oid, oid),
  tde_internal.tde_missing_classes(tde_internal.type_plans, oid, oid),
  tde_internal.tde_missing_number_hashes(tde_internal.type_plans, oid, text),
  tde_internal.tde_missing_patterns(tde_internal.type_plans, oid, oid), tde_internal.tde_missing_aggregates(tde_internal.type_plans)
  FROM PUBLIC;
--
-- Making types, and keeping them up to date
--

CREATE FUNCTION tde_internal.tde_make_family(schema text, name name, method name) RETURNS oid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  query  CONSTANT text := 'SELECT f.oid, f.opfowner FROM pg_opfamily f JOIN pg_am m ON m.oid = f.opfmethod
                           WHERE f.opfname = $1 AND m.amname = $2 AND f.opfnamespace = $3::regnamespace';
  family oid;
  owner  oid;
BEGIN
  EXECUTE query INTO family, owner USING name, method, schema;
  IF name IS NOT NULL AND NOT tde_internal.tde_is_there('pg_opfamily', family, owner, true) THEN
    EXECUTE format('CREATE OPERATOR FAMILY %s.%I USING %I', schema, name, method);
    EXECUTE query INTO family, owner USING name, method, schema;
  END IF;
  RETURN family;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_make_family(text, name, name) IS 'operator family of this name, made if it is missing; NULL without a name';

CREATE FUNCTION tde_internal.tde_complete_type(p tde_internal.type_plans, others tde_internal.type_plans[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  btree   oid;
  hash    oid;
  exact   oid;     -- hash families in which numbers of different sorts meet: as numeric,
  inexact oid;     -- and with a float among them as float8
  pattern oid;
BEGIN
  IF (SELECT typsubscript = 0 FROM pg_type WHERE oid = p.enc)
     AND (SELECT typsubscript <> 0 AND typelem = 0 FROM pg_type WHERE oid = p.base) THEN
    EXECUTE format('ALTER TYPE %s SET (SUBSCRIPT = tde_internal.tde_subscript)', p.enc);
  END IF;
  btree := tde_internal.tde_make_family(p.schema, CASE WHEN p.btree IS NOT NULL THEN p.btree_name END, 'btree');
  hash := tde_internal.tde_make_family(p.schema, CASE WHEN p.hash IS NOT NULL THEN p.hash_name END, 'hash');
  exact := tde_internal.tde_make_family(
    p.schema, CASE WHEN p.number AND p.shipped AND p.base <> ALL ('{float4,float8}'::regtype[]) THEN 'tde_exact_number_ops' END, 'hash');
  inexact := tde_internal.tde_make_family(p.schema, CASE WHEN p.number AND p.shipped THEN 'tde_number_ops' END, 'hash');
  pattern := tde_internal.tde_make_family(p.schema, p.pattern_name, 'btree');
  EXECUTE tde_internal.tde_missing_casts(p, others) || tde_internal.tde_missing_arithmetic(p, others)
    || tde_internal.tde_missing_comparisons(p, others, btree, hash, exact, inexact) || tde_internal.tde_missing_classes(p, btree, hash)
    || tde_internal.tde_missing_aggregates(p)
    -- VOLATILE, so that it is evaluated above sorts and hash tables, which spill what they hold
    || tde_internal.tde_function_sql(format('%s.tde_result(%s, int4)', p.inner_schema, p.enc), p.base::text, 'tde_result',
                                    'VOLATILE', 'decrypt for a client');
  -- of functions and operators that there are now
  EXECUTE tde_internal.tde_missing_number_hashes(p, exact, 'tde_hash_numeric');
  EXECUTE tde_internal.tde_missing_number_hashes(p, inexact, 'tde_hash_float8');
  EXECUTE tde_internal.tde_missing_patterns(p, btree, pattern);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_complete_type(tde_internal.type_plans, tde_internal.type_plans[]) IS
  'make what an encrypted type lacks against the template, beside the others';

CREATE FUNCTION tde_internal.tde_complete_types(types regtype[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  others CONSTANT tde_internal.type_plans[] := ARRAY(SELECT o FROM tde_internal.type_plans o ORDER BY enc::oid);
  p      tde_internal.type_plans;
BEGIN
  FOREACH p IN ARRAY others LOOP
    IF p.enc = ANY (types) THEN
      PERFORM tde_internal.tde_complete_type(p, others);
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_complete_types(regtype[]) IS 'make what encrypted types lack against the template';

CREATE FUNCTION tde_internal.tde_make_type(base regtype, schema text, inner_schema text, type_tag uuid) RETURNS regtype
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning     -- no notices about the shell type
AS $make_type$
DECLARE
  base_row pg_type;
  name     text;           -- of the new type, not quoted
  enc      text;           -- the new type
  other    text;           -- one that has the tag
  io       text;           -- what the names of its functions begin with
  function record;
BEGIN
  SELECT * INTO base_row FROM pg_type WHERE oid = base;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'type with OID % does not exist', base::oid USING ERRCODE = 'undefined_object';
  END IF;
  -- a value of that type would pass for one of this, and its bytes would be taken for the base type's
  SELECT format_type(t.type, NULL) INTO other FROM tde.types t JOIN pg_type e ON e.oid = t.type JOIN pg_proc p ON p.oid = e.typmodin
  WHERE pg_get_function_sqlbody(p.oid) LIKE format('%%%L%%', type_tag);
  IF other IS NOT NULL THEN
    RAISE EXCEPTION 'type tag % is that of type %', type_tag, other USING ERRCODE = 'duplicate_object',
      DETAIL = 'Values are told by it from those of other types.', HINT = 'Leave the tag out: a new one is made.';
  END IF;
  name := 'encrypted_' || base_row.typname;
  enc := format('%s.%I', schema, name);
  io := format('%s."%s', inner_schema, replace(name, '"', '""'));
  -- By this one the base type and the tag are known.
  EXECUTE format('CREATE FUNCTION %s_typmod_in"(cstring[]) RETURNS int4 LANGUAGE sql STABLE STRICT PARALLEL SAFE '
                 'RETURN tde_internal.tde_typmod_in($1, %L::regtype, %L::uuid)', io, base, type_tag);
  -- of a type that was dropped this one may be left
  EXECUTE format('COMMENT ON FUNCTION %s_typmod_in"(cstring[]) IS ''I/O typmod'';', io)
    || tde_internal.tde_function_sql(format('%s_typmod_out"(int4)', io), 'cstring', 'tde_typmod_out', 'STABLE', 'I/O typmod');
  EXECUTE format('CREATE TYPE %s', enc);
  FOR function IN SELECT * FROM (VALUES
      ('in',   'cstring, oid, int4',  enc),
      ('out',  enc,                   'cstring'),
      ('recv', 'internal, oid, int4', enc),
      ('send', enc,                   'bytea')
    ) AS functions (suffix, args, result)
  LOOP
    EXECUTE format('CREATE FUNCTION %1$s_%2$s"(%3$s) RETURNS %4$s AS ''MODULE_PATHNAME'', %5$L LANGUAGE C STABLE STRICT PARALLEL SAFE;'
                   'COMMENT ON FUNCTION %1$s_%2$s"(%3$s) IS ''I/O''',
                   io, function.suffix, function.args, function.result, 'tde_' || function.suffix);
  END LOOP;
  EXECUTE format('CREATE TYPE %s (INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external, CATEGORY = %L, COLLATABLE = %s, '
                 'INPUT = %4$s_in", OUTPUT = %4$s_out", RECEIVE = %4$s_recv", SEND = %4$s_send", '
                 'TYPMOD_IN = %4$s_typmod_in", TYPMOD_OUT = %4$s_typmod_out", ANALYZE = tde_internal.tde_typanalyze)',
                 enc, base_row.typcategory, (base_row.typcollation <> 0)::text, io);
  EXECUTE format('COMMENT ON TYPE %s IS %L', enc, 'encrypted ' || base);
  -- IMPLICIT, so that every function of the base type takes an encrypted value
  EXECUTE tde_internal.tde_cast_sql(schema, inner_schema, enc::regtype, base, 'tde_decrypt', 'AS IMPLICIT', 'decrypt');
  RETURN enc::regtype;
END
$make_type$;
COMMENT ON FUNCTION tde_internal.tde_make_type(regtype, text, text, uuid) IS
  'make the encrypted version of a base type, which is to be completed: the type in a schema, what is reached by OID in an inner schema';

CREATE FUNCTION tde_internal.tde_remove_leftover(function regprocedure) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  body CONSTANT text := '^RETURN tde_internal\.tde_typmod_in\(\$1, .*''[-0-9a-f]{36}''::uuid\)$';
BEGIN
  -- The modifier function of a type is not dropped with it.
  IF tde_internal.tde_is_there('pg_proc', function, (SELECT proowner FROM pg_proc WHERE oid = function),
                               pg_get_function_sqlbody(function) ~ body) THEN
    EXECUTE format('DROP FUNCTION %s', function);
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_remove_leftover(regprocedure) IS
  'drop the modifier function of a type that was dropped; error if it is another function';

CREATE FUNCTION @extschema@.tde_create_type(base regtype,
                                            schema regnamespace
                                              DEFAULT pg_catalog.to_regnamespace(pg_catalog.quote_ident(pg_catalog.current_schema())),
                                            type_tag uuid DEFAULT pg_catalog.gen_random_uuid()) RETURNS regtype
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $create_type$
DECLARE
  base_row pg_type;
  existing regtype := (SELECT type FROM tde.types t WHERE t.base = $1);
  name     text;           -- of the new type, not quoted
  enc      text;           -- the new type
  type     regtype;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE EXCEPTION 'must be superuser to make an encrypted type'
      USING ERRCODE = 'insufficient_privilege', DETAIL = 'It is a base type with functions in C.';
  ELSIF base IS NULL OR type_tag IS NULL THEN
    RAISE EXCEPTION 'base type and type tag must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create the type in'
      USING ERRCODE = 'invalid_schema_name', HINT = 'Name one: tde_create_type(''type'', ''schema'').';
  ELSIF existing IS NOT NULL THEN
    RAISE EXCEPTION 'type % has an encrypted version already: %', base, existing USING ERRCODE = 'duplicate_object';
  END IF;
  SELECT * INTO base_row FROM pg_type WHERE oid = base;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'type with OID % does not exist', base::oid USING ERRCODE = 'undefined_object';
  ELSIF base_row.typtype NOT IN ('b', 'e') OR base_row.typlen = -2 OR base_row.typelem <> 0 AND base_row.typlen = -1
     OR EXISTS (SELECT FROM tde.types t WHERE t.type = $1) THEN
    RAISE EXCEPTION 'cannot make an encrypted type of %', base
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'Only base types and enums can be encrypted, not domains, arrays, composites, ranges, pseudo-types and '
                     'encrypted types.',
            HINT = 'Make the encrypted version of the element, field or base type; arrays, composites and domains can be made '
                   'of that.';
  END IF;
  name := 'encrypted_' || base_row.typname;
  enc := format('%s.%I', schema, name);
  IF octet_length(name || '_sortsupport') > 63 THEN
    RAISE EXCEPTION 'the name of type % is too long for an encrypted version', base USING ERRCODE = 'name_too_long';
  ELSIF to_regtype(enc) IS NOT NULL THEN
    RAISE EXCEPTION 'type % already exists', enc USING ERRCODE = 'duplicate_object';
  END IF;
  PERFORM tde_internal.tde_remove_leftover(to_regprocedure(format('%s.%I(cstring[])', schema, name || '_typmod_in')));
  type := tde_internal.tde_make_type(base, schema::text, schema::text, type_tag);
  PERFORM tde_internal.tde_complete_types(ARRAY[type]);
  RETURN type;
END
$create_type$;
COMMENT ON FUNCTION @extschema@.tde_create_type(regtype, regnamespace, uuid) IS
  'make the encrypted version of a base type; the tag names the type in key derivation and must stay the same for ever';

CREATE FUNCTION tde_internal.tde_template_objects() RETURNS TABLE (catalog oid, object oid)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT tableoid, oid FROM pg_proc UNION ALL SELECT tableoid, oid FROM pg_operator UNION ALL SELECT tableoid, oid FROM pg_cast
  UNION ALL SELECT tableoid, oid FROM pg_opfamily UNION ALL SELECT tableoid, oid FROM pg_opclass
$$;
COMMENT ON FUNCTION tde_internal.tde_template_objects() IS 'all objects of the sorts that the template makes';

CREATE FUNCTION @extschema@.tde_refresh_types() RETURNS int4
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $refresh_types$
DECLARE
  ours    boolean;
  before  text[];
  new     record;
  added   int4 := 0;
BEGIN
  -- What completes the extension's types belongs to it, what completes a user's type to the user, so that pg_dump dumps it,
  -- whether this is called by an update of the extension or by hand.
  FOREACH ours IN ARRAY ARRAY[true, false] LOOP
    before := ARRAY(SELECT catalog || ' ' || object FROM tde_internal.tde_template_objects());
    PERFORM tde_internal.tde_complete_types(ARRAY(SELECT t.type FROM tde.types t WHERE t.shipped = ours));
    FOR new IN
      SELECT i.type, i.identity, EXISTS (
               SELECT FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
               WHERE d.classid = catalog AND d.objid = object AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e') AS is_member
      FROM tde_internal.tde_template_objects() CROSS JOIN LATERAL pg_identify_object(catalog, object, 0) i
      WHERE (catalog || ' ' || object) NOT IN (SELECT unnest(before))
    LOOP
      added := added + 1;
      IF new.is_member <> ours THEN
        EXECUTE format('ALTER EXTENSION tde_column %s %s %s', CASE WHEN ours THEN 'ADD' ELSE 'DROP' END, new.type, new.identity);
      END IF;
    END LOOP;
  END LOOP;
  RETURN added;
END
$refresh_types$;
COMMENT ON FUNCTION @extschema@.tde_refresh_types() IS
  'make what encrypted types lack against this version''s template; returns how many functions, casts, operators and classes';

REVOKE ALL ON FUNCTION tde_internal.tde_make_family(text, name, name), tde_internal.tde_complete_type(tde_internal.type_plans, tde_internal.type_plans[]),
  tde_internal.tde_complete_types(regtype[]), tde_internal.tde_make_type(regtype, text, text, uuid), tde_internal.tde_remove_leftover(regprocedure),
  @extschema@.tde_create_type(regtype, regnamespace, uuid), tde_internal.tde_template_objects(), @extschema@.tde_refresh_types()
  FROM PUBLIC;
--
-- The types.  Their tags are part of the value format: they never change.
--

SELECT tde_internal.tde_make_type('text',        '@extschema@', 'tde_internal', '0c8d6fb5-7d0c-4b43-9b57-52b2f2a6d7a1');
SELECT tde_internal.tde_make_type('varchar',     '@extschema@', 'tde_internal', '6d2a1c1e-0d5f-4c0b-8f0c-9c8e0e4f5b12');
SELECT tde_internal.tde_make_type('bpchar',      '@extschema@', 'tde_internal', 'e20c9a4d-5f3b-4b6e-8a17-21c8d9f0b389');
SELECT tde_internal.tde_make_type('int2',        '@extschema@', 'tde_internal', '71b8e3f2-9d4c-4e0a-b5a6-c3d2e1f0a49a');
SELECT tde_internal.tde_make_type('int4',        '@extschema@', 'tde_internal', '2f7e9d84-5b6a-4a1d-8c3e-7e1f0b9a6c34');
SELECT tde_internal.tde_make_type('int8',        '@extschema@', 'tde_internal', '9e3b5c76-1a2d-4f8e-b4c5-3d6a8f7e0b45');
SELECT tde_internal.tde_make_type('numeric',     '@extschema@', 'tde_internal', 'b1f0a7a3-3c4e-4d7e-9a51-0a9c2f6d8e23');
SELECT tde_internal.tde_make_type('float4',      '@extschema@', 'tde_internal', '3c5d7e9f-0a1b-4c2d-9e3f-4a5b6c7d8eab');
SELECT tde_internal.tde_make_type('float8',      '@extschema@', 'tde_internal', '84a6c8e0-1b3d-4f5a-a7b9-c1d3e5f709bc');
SELECT tde_internal.tde_make_type('bool',        '@extschema@', 'tde_internal', 'c9d8e7f6-a5b4-4c3d-82e1-f0a9b8c7d6cd');
SELECT tde_internal.tde_make_type('date',        '@extschema@', 'tde_internal', '47a6d2e8-8f1b-4e9c-a7d3-6b5c4a3f2e56');
SELECT tde_internal.tde_make_type('time',        '@extschema@', 'tde_internal', '15e2f3a4-b5c6-4d7e-8f90-a1b2c3d4e5de');
SELECT tde_internal.tde_make_type('timetz',      '@extschema@', 'tde_internal', '6a7b8c9d-e0f1-4a2b-b3c4-d5e6f7a8b9ef');
SELECT tde_internal.tde_make_type('timestamp',   '@extschema@', 'tde_internal', 'f0e1d2c3-b4a5-4968-8776-655443322f01');
SELECT tde_internal.tde_make_type('timestamptz', '@extschema@', 'tde_internal', 'd8c1b0a9-2e3f-4a5b-8c7d-1f0e9d8c7b67');
SELECT tde_internal.tde_make_type('interval',    '@extschema@', 'tde_internal', '29384756-afbe-4dcd-9e8f-7a6b5c4d3e12');
SELECT tde_internal.tde_make_type('bytea',       '@extschema@', 'tde_internal', '5a4b3c2d-9f8e-4d7c-b6a5-4f3e2d1c0b78');
SELECT tde_internal.tde_make_type('uuid',        '@extschema@', 'tde_internal', 'ab12cd34-ef56-4a78-8b90-1c2d3e4f5a23');
SELECT tde_internal.tde_make_type('json',        '@extschema@', 'tde_internal', '0f1e2d3c-4b5a-4697-b8a9-cadbecfd0e34');
SELECT tde_internal.tde_make_type('jsonb',       '@extschema@', 'tde_internal', '7e6d5c4b-3a29-4180-9f0e-1d2c3b4a5f45');
SELECT tde_internal.tde_make_type('inet',        '@extschema@', 'tde_internal', 'd4c3b2a1-f0e9-48d7-86c5-b4a392817f56');
-- together, since PostgreSQL plans all queries of the template anew after each that has made operators
SELECT tde_internal.tde_complete_types(ARRAY(SELECT type FROM tde.types));

--
-- Parts of strings: of a large value without MAC they read and decrypt no more than they need.  Not for bpchar, whose
-- functions are those of text without the blanks at its end.
--

CREATE FUNCTION @extschema@.substr(@extschema@.encrypted_text, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.substr(@extschema@.encrypted_text, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION @extschema@.substr(@extschema@.encrypted_text, int4, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.substr(@extschema@.encrypted_text, int4, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION @extschema@."left"(@extschema@.encrypted_text, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_left' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@."left"(@extschema@.encrypted_text, int4) IS 'extract the first n characters';
CREATE FUNCTION @extschema@.substr(@extschema@.encrypted_varchar, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.substr(@extschema@.encrypted_varchar, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION @extschema@.substr(@extschema@.encrypted_varchar, int4, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.substr(@extschema@.encrypted_varchar, int4, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION @extschema@."left"(@extschema@.encrypted_varchar, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_left' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@."left"(@extschema@.encrypted_varchar, int4) IS 'extract the first n characters';
CREATE FUNCTION @extschema@.substr(@extschema@.encrypted_bytea, int4) RETURNS bytea
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.substr(@extschema@.encrypted_bytea, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION @extschema@.substr(@extschema@.encrypted_bytea, int4, int4) RETURNS bytea
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.substr(@extschema@.encrypted_bytea, int4, int4) IS 'extract portion of encrypted string';

--
-- Lengths, which need no copy of the plaintext.
--

DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT name, type FROM unnest('{length,char_length,character_length}'::text[]) name,
                                  unnest('{encrypted_text,encrypted_varchar,encrypted_bpchar}'::text[]) type
           UNION ALL VALUES ('length', 'encrypted_bytea') LOOP
    EXECUTE format('CREATE FUNCTION @extschema@.%s(@extschema@.%s) RETURNS int4 AS ''MODULE_PATHNAME'', ''tde_length'' '
                   'LANGUAGE C STABLE STRICT PARALLEL SAFE', f.name, f.type);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.%s(@extschema@.%s) IS %L', f.name, f.type,
                   CASE f.type WHEN 'encrypted_bytea' THEN 'length in bytes' ELSE 'length in characters' END);
  END LOOP;
END
$$;

--
-- LIKE, regular expressions and ^@, with which an index can help.  encrypted_bpchar has its own because text is the preferred type,
-- whose operators see no blanks at the end; so has it octet_length().
--

CREATE FUNCTION tde_internal.tde_match_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_match_support(internal) IS 'planner support for LIKE, regular expressions and ^@';
REVOKE ALL ON FUNCTION tde_internal.tde_match_support(internal) FROM PUBLIC;
DO $$
DECLARE
  op record;
BEGIN
  FOR op IN SELECT o.oprname AS name, n.oprname AS negator, format('tde_internal.tde_%s(%s, text)', p.proname, enc) AS signature,
                   o.oprrest AS rest, o.oprjoin AS joining, enc
            FROM (VALUES ('@extschema@.encrypted_text', 'text'), ('@extschema@.encrypted_varchar', 'text'),
                         ('@extschema@.encrypted_bpchar', 'bpchar')) AS sides (enc, string)
            JOIN pg_operator o ON oprleft = string::regtype AND oprright = 'text'::regtype
            JOIN pg_proc p ON p.oid = o.oprcode LEFT JOIN pg_operator n ON n.oid = o.oprnegate
            WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprrest::text ~ '(like|regexeq|regexne|prefix)sel$' LOOP
    EXECUTE format('CREATE FUNCTION %s RETURNS boolean AS ''MODULE_PATHNAME'', ''tde_match'' LANGUAGE C STABLE STRICT PARALLEL SAFE '
                   'SUPPORT tde_internal.tde_match_support', op.signature);
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', op.signature, format('implementation of %s operator', op.name));
    EXECUTE format('CREATE OPERATOR @extschema@.%s (LEFTARG = %s, RIGHTARG = text, FUNCTION = %s, %s RESTRICT = %s, JOIN = %s)',
                   op.name, op.enc, split_part(op.signature, '(', 1),
                   CASE WHEN op.negator IS NULL THEN '' ELSE format('NEGATOR = OPERATOR(@extschema@.%s),', op.negator) END,
                   op.rest, op.joining);
  END LOOP;
END
$$;
CREATE FUNCTION @extschema@.octet_length(@extschema@.encrypted_bpchar) RETURNS int4
  LANGUAGE sql STABLE PARALLEL SAFE RETURN pg_catalog.octet_length($1::bpchar);
COMMENT ON FUNCTION @extschema@.octet_length(@extschema@.encrypted_bpchar) IS 'octet length';
--
-- Functions and operators that a base type reaches by a cast of its own: floor(int4) is that of float8, age(date) that of
-- timestamptz.  An encrypted value becomes its base type implicitly, and nothing further, since two implicit casts of a number
-- would make abs(int4) and abs(numeric) equally good.  So these take encrypted values themselves.
--
-- Plain arguments and literals must go on meeting what they meet without them.  So a place beside an encrypted type is of a type that
-- PostgreSQL's own function has there or of an operand type, and where a literal can stand there is one of its own with a preferred
-- type; those of numeric alone (scale(numeric), round(numeric, int4)) are left out.
--
-- Which of its functions PostgreSQL takes for the base types, and what that returns, its parser is asked, here.  All are in SQL, and
-- disappear from the plans of the queries that call them.  Their bodies are texts, with schemas: parse trees take ten times the room.
--

DO $$
DECLARE
  -- what stands for several types
  sorts     CONSTANT jsonb := '{"number": ["encrypted_int2", "encrypted_int4", "encrypted_int8", "encrypted_numeric", "encrypted_float4",
                                           "encrypted_float8"],
                                "small": ["encrypted_int2", "encrypted_int4"], "float": ["encrypted_float4", "encrypted_float8"],
                                "operand": ["plain_int8", "plain_decimal", "plain_float8"],
                                "moment": ["encrypted_date", "encrypted_timestamp", "encrypted_timestamptz"],
                                "plain moment": ["date", "timestamp", "timestamptz"]}';
  functions CONSTANT jsonb := '{"^": "tde_power", "|/": "tde_sqrt", "||/": "tde_cbrt", "*": "tde_times", "/": "tde_divided",
                                "-": "tde_minus", "||": "tde_concatenate"}';
  call      record;
  result    regtype;
  function  text;
  ddl       text := '';
BEGIN
  FOR call IN
    WITH RECURSIVE combination (name, places, types) AS (
      SELECT name, places, '{}'::text[]
      FROM (VALUES
        ('{acos,acosd,acosh,asin,asind,asinh,atan,atand,atanh,cbrt,ceil,ceiling,cos,cosd,cosh,cot,cotd,degrees,exp,floor,ln,log,log10,
           radians,round,sign,sin,sind,sinh,sqrt,tan,tand,tanh,to_timestamp,trunc,|/,||/}'::text[], '{number}'::text[]),
        ('{pow,power,^}', '{number,number}'),
        ('{pow,power,^}', '{small,float8}'),    ('{pow,power,^}', '{float8,small}'),
        ('{pow,power,^}', '{small,numeric}'),   ('{pow,power,^}', '{numeric,small}'),
        ('{pow,power,^}', '{encrypted_int8,operand}'), ('{pow,power,^}', '{operand,encrypted_int8}'),
        ('{pow,power,^}', '{encrypted_numeric,plain_numeric}'), ('{pow,power,^}', '{plain_numeric,encrypted_numeric}'),
        ('{pow,power,^}', '{encrypted_numeric,plain_float8}'),  ('{pow,power,^}', '{plain_float8,encrypted_numeric}'),
        ('{pow,power,^}', '{float,float8}'),    ('{pow,power,^}', '{float8,float}'),
        ('{*,/}', '{interval,number}'), ('{*,/}', '{encrypted_interval,number}'), ('{*,/}', '{encrypted_interval,float8}'),
        ('{*}', '{number,interval}'),   ('{*}', '{number,encrypted_interval}'),   ('{*}', '{float8,encrypted_interval}'),
        ('{-}', '{moment,moment}'), ('{-}', '{moment,plain moment}'), ('{-}', '{plain moment,moment}'),
        -- what stands in quotes beside them would be taken for text, and they with it
        ('{||}', '{encrypted_bytea,encrypted_bytea}'), ('{||}', '{encrypted_jsonb,encrypted_jsonb}'),
        ('{age}', '{encrypted_date}'), ('{age}', '{moment,moment}'),
        ('{age}', '{moment,timestamp}'), ('{age}', '{moment,timestamptz}'), ('{age}', '{timestamp,moment}'), ('{age}', '{timestamptz,moment}'),
        ('{date_trunc}', '{text,encrypted_date}'), ('{date_trunc}', '{text,encrypted_time}'),
        ('{date_trunc}', '{text,encrypted_date,text}'), ('{date_trunc}', '{text,encrypted_timestamp,text}'),
        ('{generate_series}', '{encrypted_date,encrypted_date,interval}'),
        ('{to_char}', '{encrypted_int2,text}'), ('{to_char}', '{encrypted_date,text}'), ('{to_char}', '{encrypted_time,text}')
      ) AS calls (names, places), unnest(names) name
      UNION ALL
      SELECT name, places[2:], types || type
      FROM combination, jsonb_array_elements_text(coalesce(sorts -> places[1], to_jsonb(places[1:1]))) AS t (type)
      WHERE cardinality(places) > 0
    )
    SELECT name, functions ? name AS is_operator, types,
           CASE WHEN NOT functions ? name THEN format('pg_catalog.%s(%s)', name, array_to_string(operands, ', '))
             WHEN cardinality(types) = 1 THEN format('OPERATOR(pg_catalog.%s) %s', name, operands[1])
             ELSE format('%s OPERATOR(pg_catalog.%s) %s', operands[1], name, operands[2]) END AS expression
    FROM combination
    CROSS JOIN LATERAL (SELECT array_agg(format('$%s::pg_catalog.%I', number, replace(regexp_replace(type, '^(encrypted|plain)_', ''), 'decimal', 'numeric')))
                        FROM unnest(types) WITH ORDINALITY t (type, number)) o (operands)
    WHERE places = '{}'
  LOOP
    -- a subquery, since that of a set, too, has a type
    EXECUTE format('SELECT pg_catalog.pg_typeof((SELECT %s LIMIT 1))', regexp_replace(call.expression, '\$\d', 'NULL', 'g')) INTO result;
    call.types := ARRAY(SELECT regexp_replace(regexp_replace(t, '^encrypted_', '@extschema@.\&'), '^plain_', 'tde_internal.\&')
                        FROM unnest(call.types) t);
    function := format('%s.%I(%s)', CASE WHEN call.is_operator THEN 'tde_internal' ELSE '@extschema@' END,
                       coalesce(functions ->> call.name, call.name), array_to_string(call.types, ', '));
    ddl := ddl || format(E'CREATE FUNCTION %1$s RETURNS %2$s LANGUAGE sql STABLE PARALLEL SAFE AS %3$L;\n'
                         'COMMENT ON FUNCTION %1$s IS %4$L;\n', function,
                         CASE call.name WHEN 'generate_series' THEN 'SETOF ' ELSE '' END || result, 'SELECT ' || call.expression,
                         CASE WHEN call.is_operator THEN format('implementation of %s operator', call.name)
                           ELSE format('%s() of the base types', call.name) END);
    CONTINUE WHEN NOT call.is_operator;
    ddl := ddl || format(E'CREATE OPERATOR @extschema@.%s (%s, FUNCTION = tde_internal.%s);\n', call.name,
                         CASE cardinality(call.types) WHEN 1 THEN 'RIGHTARG = ' || call.types[1]
                           ELSE format('LEFTARG = %s, RIGHTARG = %s', VARIADIC call.types) END, functions ->> call.name);
  END LOOP;
  EXECUTE ddl;
END
$$;

--
-- percentile_cont() of PostgreSQL takes what it has sorted for float8.
--

-- percentile_cont('0.5') and percentile_cont($1) take the sorted values' type for the fraction's.
DO $$
DECLARE
  sorted text;
BEGIN
  FOREACH sorted IN ARRAY '{encrypted_int2,encrypted_int4,encrypted_int8,encrypted_numeric,encrypted_float4,encrypted_float8}'::text[] LOOP
    EXECUTE tde_internal.tde_cast_sql('tde_internal', 'tde_internal', format('@extschema@.%I', sorted)::regtype, 'tde_internal.plain_fraction',
                                      'tde_decrypt_to', 'AS IMPLICIT', 'decrypt and cast');
  END LOOP;
END
$$;

CREATE FUNCTION tde_internal.tde_percentile_transition(internal, @extschema@.encrypted_float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_percentile_transition(internal, @extschema@.encrypted_float8) IS 'aggregate transition function';
CREATE FUNCTION tde_internal.tde_percentile(internal, float8) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_percentile(internal, float8) IS 'aggregate final function';
CREATE FUNCTION tde_internal.tde_percentiles(internal, float8[]) RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_percentiles(internal, float8[]) IS 'aggregate final function';

CREATE AGGREGATE @extschema@.percentile_cont(tde_internal.plain_fraction ORDER BY @extschema@.encrypted_float8) (
  SFUNC = tde_internal.tde_percentile_transition, STYPE = internal, FINALFUNC = tde_internal.tde_percentile,
  FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.percentile_cont(tde_internal.plain_fraction ORDER BY @extschema@.encrypted_float8) IS
  'continuous distribution percentile';
CREATE AGGREGATE @extschema@.percentile_cont(float8[] ORDER BY @extschema@.encrypted_float8) (
  SFUNC = tde_internal.tde_percentile_transition, STYPE = internal, FINALFUNC = tde_internal.tde_percentiles,
  FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.percentile_cont(float8[] ORDER BY @extschema@.encrypted_float8) IS 'multiple continuous percentiles';
--
-- Re-encryption
--
-- The procedure checks itself that its caller owns the table; so PUBLIC may call it, as it may VACUUM.

CREATE PROCEDURE @extschema@.tde_rekey_table(relation regclass, batch_rows int4 DEFAULT 10000, delay interval DEFAULT '0',
                                 repair boolean DEFAULT false)
  AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.tde_rekey_table(regclass, int4, interval, boolean) IS
  're-encrypt, in committed batches, what is not under the newest key version or not as its column declares';
--
-- Where keys are used
--

CREATE FUNCTION @extschema@.tde_key_usage(relation regclass DEFAULT NULL, OUT key_id int4, OUT slot int4, OUT version int4, OUT kind text,
                              OUT object_type text, OUT object text, OUT "column" text, OUT count int8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_key_usage(regclass) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_key_usage(regclass) IS
  'where the data keys are used in this database, or in a table with its partitions and indexes';

CREATE FUNCTION @extschema@.tde_drop_key_version(name text, version int4) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_drop_key_version(text, int4) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_drop_key_version(text, int4) IS
  'drop an old version of a data key, unless something in this database is still encrypted under it';

--
-- Opening the wallet by shares
--

CREATE FUNCTION @extschema@.tde_wallet_split(k int4, n int4) RETURNS SETOF text
  AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 5;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_split(int4, int4) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_split(int4, int4) IS
  'encrypt the wallet under a passphrase that nobody sees, and return n shares of which any k open it';

CREATE FUNCTION @extschema@.tde_wallet_open_share(share text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_open_share(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_open_share(text) IS
  'give a share; the wallet opens when there are enough.  To be granted to the holders of shares';

CREATE FUNCTION @extschema@.tde_wallet_forget_shares() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_forget_shares() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_forget_shares() IS 'forget the shares that were given, to start over';
--
-- Encrypted dumps
--

CREATE FUNCTION @extschema@.tde_ciphertext_io() RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN true;
REVOKE ALL ON FUNCTION @extschema@.tde_ciphertext_io() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_ciphertext_io() IS
  'whoever may execute it may set tde_column.io_format to ciphertext and so dump and restore values as they are encrypted';

CREATE FUNCTION @extschema@.tde_export_keys(secret text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_export_keys(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_export_keys(text) IS 'all data keys of this database, as a text that only the secret opens';

CREATE FUNCTION @extschema@.tde_import_keys(exported text, secret text) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_import_keys(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_import_keys(text, text) IS
  'add exported data keys that this database lacks, for reading only; returns how many';
--
-- Converting columns: what a column becomes, its default, and names of operator classes.
--

CREATE FUNCTION tde_internal.tde_convertible_column(relation regclass, column_name name) RETURNS pg_attribute
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  c pg_class;
  a pg_attribute;
BEGIN
  SELECT * INTO STRICT c FROM pg_class WHERE oid = relation;
  IF c.relkind NOT IN ('r', 'p') THEN
    RAISE EXCEPTION '"%" is not a table', c.relname USING ERRCODE = 'wrong_object_type';
  END IF;
  IF NOT pg_has_role(c.relowner, 'USAGE') THEN
    RAISE EXCEPTION 'must be owner of table %', c.relname USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT * INTO a FROM pg_attribute WHERE attrelid = relation AND attname = column_name AND attnum > 0 AND NOT attisdropped;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'column "%" of relation "%" does not exist', column_name, c.relname USING ERRCODE = 'undefined_column';
  END IF;
  RETURN a;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_convertible_column(regclass, name) IS 'a column of a table that the user owns';

CREATE FUNCTION tde_internal.tde_encrypted_type_of(a pg_attribute, spec text) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  plain     text := format_type(a.atttypid, a.atttypmod);
  is_array  boolean := (SELECT typcategory = 'A' AND typelem <> 0 FROM pg_type WHERE oid = a.atttypid);
  element   regtype := CASE WHEN is_array THEN (SELECT typelem FROM pg_type WHERE oid = a.atttypid) ELSE a.atttypid END;
  encrypted regtype := (SELECT type FROM tde.types WHERE base = element ORDER BY shipped DESC, type::oid LIMIT 1);
  modifiers text;
BEGIN
  IF EXISTS (SELECT FROM tde.types WHERE type = element) THEN
    RAISE EXCEPTION 'column "%" is encrypted already, as %', a.attname, plain USING ERRCODE = 'wrong_object_type',
      HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE ... changes how.', a.attrelid::regclass, a.attname);
  ELSIF (SELECT typtype FROM pg_type WHERE oid = element) = 'd' THEN
    RAISE EXCEPTION 'column "%" is of domain %', a.attname, element USING ERRCODE = 'wrong_object_type',
      HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE ... to the domain''s base type first, or to a domain over an encrypted type.',
                    a.attrelid::regclass, a.attname);
  ELSIF encrypted IS NULL THEN
    RAISE EXCEPTION 'type % has no encrypted type', element USING ERRCODE = 'undefined_object',
      HINT = format('SELECT @extschema@.tde_create_type(%L); makes one.', element);
  ELSIF plain ~ '^interval [a-z]' THEN
    RAISE EXCEPTION 'an encrypted interval cannot be restricted to fields, as % is', plain USING ERRCODE = 'feature_not_supported',
      HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE interval; first.', a.attrelid::regclass, a.attname);
  END IF;
  -- '3des168' as well as 3des168: quoted strings are modifiers, too
  SELECT string_agg(quote_literal(coalesce(replace(item[1], '''''', ''''), trim(item[2]))), ',') INTO modifiers
  FROM regexp_matches(coalesce(spec, current_setting('tde_column.default_spec')),
                      '''((?:[^'']|'''')*)''|([^,'']*[^,''[:space:]][^,'']*)', 'g') AS items (item);
  RETURN format('%s(%s)%s', (SELECT format('%I.%I', nspname, typname) FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace
                             WHERE t.oid = encrypted),
                concat_ws(',', substring(plain FROM '\(([-0-9,]+)\)'), modifiers),
                CASE WHEN is_array THEN '[]' END);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_encrypted_type_of(pg_attribute, text) IS
  'the encrypted type for a column of a base type: with the base type''s modifiers, and others as told or by default';

CREATE FUNCTION tde_internal.tde_plain_type_of(a pg_attribute) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  base text := (SELECT base_type FROM tde_internal.tde_type_spec(a.atttypid, a.atttypmod));
BEGIN
  IF base IS NULL THEN
    RAISE EXCEPTION 'column "%" is not encrypted', a.attname USING ERRCODE = 'wrong_object_type';
  END IF;
  RETURN base || CASE WHEN (SELECT typcategory FROM pg_type WHERE oid = a.atttypid) = 'A' THEN '[]' ELSE '' END;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_plain_type_of(pg_attribute) IS 'the base type that a column has when it is decrypted';

CREATE FUNCTION tde_internal.tde_with_collation(a pg_attribute, type text) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT type || coalesce((SELECT format(' COLLATE %I.%I', nspname, collname)
                           FROM pg_collation c JOIN pg_namespace n ON n.oid = collnamespace WHERE c.oid = a.attcollation), '')
$$;
COMMENT ON FUNCTION tde_internal.tde_with_collation(pg_attribute, text) IS 'a type, with the collation that the column has';

CREATE FUNCTION tde_internal.tde_constant_default(a pg_attribute) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  is_plain boolean := (SELECT base_type IS NULL FROM tde_internal.tde_type_spec(a.atttypid, a.atttypmod));
  expr     text;
  tree     text;
  literal  text;
BEGIN
  SELECT pg_get_expr(adbin, adrelid), adbin::text INTO expr, tree FROM pg_attrdef WHERE adrelid = a.attrelid AND adnum = a.attnum;
  -- A cast may round or cut off, which the literal has behind it.  One that is not immutable may have another result tomorrow, as that
  -- of date to timestamptz.
  IF tree IS NULL OR tree ~ '\{(?!CONST |FUNCEXPR |RELABELTYPE )' OR EXISTS (
      SELECT FROM regexp_matches(tree, ':funcid (\d+)', 'g') f JOIN pg_proc p ON p.oid = f[1]::oid
      WHERE CASE WHEN pronamespace = 'pg_catalog'::regnamespace THEN NOT is_plain OR provolatile <> 'i' ELSE is_plain END) THEN
    RETURN NULL;
  END IF;
  -- As a literal without a type, since a constant of the old type would stay one: in clear, or under a key.
  IF is_plain THEN
    EXECUTE format('SELECT quote_literal(CAST(CAST(%s AS %s) AS text))', expr, format_type(a.atttypid, a.atttypmod)) INTO literal;
    RETURN literal;
  END IF;
  RETURN CASE WHEN expr IN ('true', 'false') THEN quote_literal(expr)
              ELSE coalesce((regexp_match(expr, '^(''(?:[^'']|'''')*'')(?:::[^'']+)?$'))[1],
                            quote_literal((regexp_match(expr, '^\(?(-?[0-9.]+)\)?(?:::.+)?$'))[1])) END;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_constant_default(pg_attribute) IS 'a column''s default as a literal; NULL if it is none or no constant';

CREATE FUNCTION tde_internal.tde_named_opclass(opclass oid) RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- CREATE INDEX on an encrypted column takes these for its own
  SELECT regexp_replace(opcname, '^encrypted_', '')::name FROM pg_opclass
  WHERE oid = opclass AND opcname ~ '^((encrypted_)?(text|varchar|bpchar)_pattern|varchar)_ops$'
    AND opcnamespace = CASE WHEN opcname ~ '^encrypted_' THEN '@extschema@' ELSE 'pg_catalog' END::regnamespace
$$;
COMMENT ON FUNCTION tde_internal.tde_named_opclass(oid) IS
  'by which name an operator class that is not the default is there for a column''s other type, too; NULL: it is not';
--
-- Converting columns of tables that are there: plain to encrypted and back.
--
-- What commits is a procedure, which cannot have settings of its own, so each sets its search_path after every COMMIT.  Nor can
-- it be SECURITY DEFINER: all of this acts with the rights of who calls it, so everybody may execute it, parts that only serve
-- others included.  They do what the caller could do with SQL of his own; those in C check that he owns the table, unless it is one
-- of four catalogs that is wiped, and that the trigger is there that a conversion makes.
--

CREATE FUNCTION tde_internal.tde_convert_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_convert_trigger() IS 'keep the copy of a column that is being converted';

CREATE FUNCTION tde_internal.tde_convert_rows(relation regclass, source name, target name, first_block int8, blocks int8, all_blocks int8,
                                 started timestamptz, OUT done int8, OUT skipped int8)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_convert_rows(regclass, name, name, int8, int8, int8, timestamptz) IS
  'set a column from another one, or to NULL, in rows of some blocks where that was not done yet; fires no triggers, skips locked rows';

CREATE FUNCTION tde_internal.tde_wipe_blocks(relation regclass, first_block int8, blocks int8, cutoff xid8) RETURNS int8
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_wipe_blocks(regclass, int8, int8, xid8) IS
  'overwrite what removed rows have left in some blocks; returns how many rows removed before cutoff are still there';

CREATE FUNCTION tde_internal.tde_validate(relation regclass, constraint_name name) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION tde_internal.tde_validate(regclass, name) IS 'validate a constraint, with the rights of the table''s owner';

CREATE FUNCTION tde_internal.tde_may_commit() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_may_commit() IS 'whether the procedure that calls it may COMMIT';

CREATE FUNCTION tde_internal.tde_must_commit() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_must_commit() IS 'error if the procedure that calls it may not COMMIT';

--
-- What keeps a column's type from being changed
--

CREATE FUNCTION tde_internal.tde_check_namesakes(a pg_attribute) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  trusted oid[] := ARRAY(SELECT oid FROM pg_roles WHERE rolsuper UNION SELECT relowner FROM pg_class WHERE oid = a.attrelid);
  others  text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_depend d LEFT JOIN pg_constraint c ON d.classid = 'pg_constraint'::regclass AND c.oid = d.objid
                 LEFT JOIN pg_index i ON d.classid = 'pg_class'::regclass AND i.indexrelid = d.objid
                 WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
                   AND CASE d.classid WHEN 'pg_constraint'::regclass THEN c.contype = 'c'
                                      WHEN 'pg_class'::regclass THEN coalesce(i.indexprs, i.indpred) IS NOT NULL
                                      WHEN 'pg_attrdef'::regclass THEN tde_internal.tde_constant_default(a) IS NULL
                                      ELSE true END) THEN
    RETURN;
  END IF;
  -- What uses the column is read again for its new type, with the extension's schema on the path: what somebody has put there under
  -- PostgreSQL's or the extension's names might match better.  Only superusers make functions in C.
  SELECT string_agg(format('%s, of role "%s"', pg_describe_object(classid, objid, 0), pg_get_userbyid(owner)), E'\n') INTO others FROM (
    SELECT 'pg_proc'::regclass, f.oid, proowner FROM pg_proc f JOIN pg_language l ON l.oid = prolang
    WHERE pronamespace = '@extschema@'::regnamespace AND proowner <> ALL (trusted) AND lanname NOT IN ('c', 'internal')
      AND EXISTS (SELECT FROM pg_proc p WHERE p.proname = f.proname AND p.oid <> f.oid
                  AND p.pronamespace IN ('pg_catalog'::regnamespace, f.pronamespace))
    UNION ALL
    SELECT 'pg_operator'::regclass, f.oid, oprowner FROM pg_operator f
    WHERE oprnamespace = '@extschema@'::regnamespace AND oprowner <> ALL (trusted)
      AND EXISTS (SELECT FROM pg_operator p WHERE p.oprname = f.oprname AND p.oid <> f.oid
                  AND p.oprnamespace IN ('pg_catalog'::regnamespace, f.oprnamespace))
  ) AS found (classid, objid, owner)
  WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE (d.classid, d.objid) = (found.classid, found.objid) AND deptype = 'e');
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'schema "%" has functions or operators of other roles that expressions of table % could call', '@extschema@', a.attrelid::regclass
      USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = format(E'They have names of PostgreSQL''s or the extension''s:\n%s', others),
        HINT = 'Move them to another schema, and REVOKE CREATE ON SCHEMA @extschema@ from their owners.';
  END IF;
  -- they could be made between this and the reading, while a lock is waited for
  SELECT string_agg(quote_ident(rolname), ', ' ORDER BY rolname) INTO others FROM (
    SELECT rolname FROM pg_roles r
    WHERE oid <> ALL (trusted) AND rolname <> 'pg_database_owner' AND NOT pg_has_role(oid, (SELECT relowner FROM pg_class WHERE oid = a.attrelid), 'MEMBER')
      AND EXISTS (SELECT FROM pg_roles m WHERE pg_has_role(r.oid, m.oid, 'MEMBER') AND has_schema_privilege(m.oid, '@extschema@', 'CREATE'))
    ORDER BY rolname LIMIT 10
  ) AS makers;
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'other roles may create functions in schema "%", which expressions of table % could call', '@extschema@', a.attrelid::regclass
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Among them: %s.', others),
        HINT = 'REVOKE CREATE ON SCHEMA @extschema@ from PUBLIC and from them, at least until the column is converted.';
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_namesakes(pg_attribute) IS
  'error if expressions that are read again could find functions or operators of others than superusers and the table''s owner';

CREATE FUNCTION tde_internal.tde_conversion_obstacles(a pg_attribute, encrypting boolean, online boolean) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- PostgreSQL refuses these one by one, some of them only after the table was rewritten
  SELECT CASE WHEN d.classid = 'pg_attrdef'::regclass THEN (
                SELECT format('generated column %I', g.attname) FROM pg_attrdef f JOIN pg_attribute g ON g.attrelid = adrelid AND g.attnum = adnum
                WHERE f.oid = d.objid)
              ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END
  FROM pg_depend d
  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
    AND (d.classid = ANY ('{pg_publication_rel,pg_proc}'::regclass[])
         OR d.classid = 'pg_attrdef'::regclass AND d.objid NOT IN (
           SELECT oid FROM pg_attrdef WHERE adrelid = a.attrelid AND adnum = a.attnum))
  UNION
  SELECT object || refused FROM tde_internal.tde_dependents(a) WHERE refused IS NOT NULL
  UNION
  SELECT format('index %s, which %s', i.indexrelid::regclass, reason)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
  CROSS JOIN LATERAL (
    SELECT 'has an expression of the column' WHERE encrypting AND i.indexprs::text ~ format(':varattno %s ', a.attnum)
    UNION ALL
    SELECT 'has a condition on the column' WHERE online AND i.indpred::text ~ format(':varattno %s ', a.attnum)
      AND pg_get_expr(i.indpred, i.indrelid) NOT IN (format('(%I IS NULL)', a.attname), format('(%I IS NOT NULL)', a.attname))
    UNION ALL
    SELECT CASE WHEN m.amname NOT IN ('btree', 'hash') THEN 'is of access method ' || m.amname
                ELSE 'names operator class ' || o.opcname END
    FROM generate_series(0, i.indnkeyatts - 1) k JOIN pg_opclass o ON o.oid = i.indclass[k]
    WHERE i.indkey[k] = a.attnum AND o.opcintype <> 'anyarray'::regtype
      AND (NOT o.opcdefault AND tde_internal.tde_named_opclass(o.oid) IS NULL OR m.amname NOT IN ('btree', 'hash'))
    UNION ALL
    SELECT 'is an exclusion constraint''s' WHERE online AND i.indisexclusion AND a.attnum = ANY (i.indkey)
  ) AS reasons (reason)
  WHERE i.indrelid = a.attrelid
  UNION
  SELECT pg_describe_object('pg_statistic_ext'::regclass, oid, 0) || ', which has an expression of the column' FROM pg_statistic_ext
  WHERE stxrelid = a.attrelid AND stxexprs::text ~ format(':varattno %s ', a.attnum)
  UNION
  SELECT 'the partition key' FROM pg_partitioned_table
  WHERE partrelid = a.attrelid AND (a.attnum = ANY (partattrs) OR partexprs::text ~ format(':varattno %s ', a.attnum))
  UNION
  SELECT 'the column''s identity sequence' WHERE a.attidentity <> '' AND (encrypting OR online)
  UNION
  SELECT 'the column''s own expression' WHERE a.attgenerated <> '' AND online
  UNION
  SELECT format('constraint %I on table %s, which sets the column on delete', conname, conrelid::regclass) FROM pg_constraint
  WHERE online AND contype = 'f' AND conrelid = a.attrelid AND a.attnum = ANY (confdelsetcols)
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion_obstacles(pg_attribute, boolean, boolean) IS 'objects that keep a column''s type from being changed';

CREATE FUNCTION tde_internal.tde_check_conversion(a pg_attribute, encrypting boolean, online boolean) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  obstacles text := (SELECT string_agg(o, E'\n' ORDER BY o COLLATE "C")
                     FROM tde_internal.tde_conversion_obstacles(a, encrypting, online) o);
  verb      text := CASE WHEN encrypting THEN 'encrypted' ELSE 'decrypted' END;
BEGIN
  IF obstacles IS NOT NULL THEN
    RAISE EXCEPTION 'column "%" of table "%" cannot be % because other objects depend on its type',
        a.attname, (SELECT relname FROM pg_class WHERE oid = a.attrelid), verb
      USING ERRCODE = 'dependent_objects_still_exist', DETAIL = obstacles,
        HINT = 'Drop them, convert the column, and make again those that the new type allows.';
  ELSIF online AND EXISTS (SELECT FROM pg_class WHERE oid = a.attrelid AND (relkind = 'p' OR relispartition)
                           UNION ALL SELECT FROM pg_inherits WHERE inhrelid = a.attrelid OR inhparent = a.attrelid) THEN
    RAISE EXCEPTION 'columns of partitioned tables and of tables with inheritance cannot be converted online'
      USING ERRCODE = 'feature_not_supported', HINT = 'Convert the column offline.';
  ELSIF online AND NOT EXISTS (SELECT FROM pg_class c JOIN pg_am m ON m.oid = relam WHERE c.oid = a.attrelid AND amname = 'heap') THEN
    RAISE EXCEPTION 'columns of tables whose access method is not heap cannot be converted online'
      USING ERRCODE = 'feature_not_supported', HINT = 'Convert the column offline.';
  ELSIF a.attinhcount > 0 THEN
    RAISE EXCEPTION 'column "%" is inherited', a.attname USING ERRCODE = 'invalid_table_definition',
      HINT = format('Convert the column of table %s: those that inherit it follow.',
                    (SELECT string_agg(inhparent::regclass::text, ', ') FROM pg_inherits WHERE inhrelid = a.attrelid));
  END IF;
  PERFORM tde_internal.tde_check_dependents(a);
  PERFORM tde_internal.tde_check_namesakes(a);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_conversion(pg_attribute, boolean, boolean) IS 'error if a column''s type cannot be changed';

CREATE FUNCTION tde_internal.tde_recompile_triggers(relation regclass) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  command text;
BEGIN
  -- Sessions that have called a function in PL/pgSQL keep its plans with the type that new.column had, and get errors from now on.
  FOR command IN SELECT DISTINCT format('ALTER FUNCTION %s %s', p.oid::regprocedure, CASE provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END)
      FROM pg_trigger JOIN pg_proc p ON p.oid = tgfoid JOIN pg_language l ON l.oid = prolang
      WHERE tgrelid = relation AND NOT tgisinternal AND lanname = 'plpgsql' AND pg_has_role(proowner, 'USAGE') LOOP
    EXECUTE command;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_recompile_triggers(regclass) IS 'have all sessions compile the functions of a table''s triggers anew';

CREATE FUNCTION tde_internal.tde_warn_of_rest(relation regclass, column_name name) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  rest text;
BEGIN
  -- printed for the encrypted column, a constant has its type's name behind it, and is read as that type again
  SELECT string_agg(pg_describe_object(classid, objid, 0), E'\n' ORDER BY pg_describe_object(classid, objid, 0) COLLATE "C") INTO rest FROM (
    SELECT DISTINCT d.classid, d.objid FROM pg_depend d JOIN pg_attribute a ON a.attrelid = relation AND a.attname = column_name
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
  ) AS users
  WHERE EXISTS (
      SELECT FROM pg_depend u JOIN pg_depend e ON (e.classid, e.objid, e.deptype) = (u.refclassid, u.refobjid, 'e')
      WHERE (u.classid, u.objid) = (users.classid, users.objid) AND e.refclassid = 'pg_extension'::regclass
        AND e.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tde_column'))
    AND NOT EXISTS (
      SELECT FROM pg_depend u JOIN pg_attribute o ON o.attrelid = u.refobjid AND o.attnum = u.refobjsubid
      CROSS JOIN LATERAL tde_internal.tde_type_spec(o.atttypid, o.atttypmod) s
      WHERE (u.classid, u.objid, u.refclassid) = (users.classid, users.objid, 'pg_class'::regclass) AND s.base_type IS NOT NULL);
  IF rest IS NOT NULL THEN
    RAISE WARNING 'what uses column "%" of table % still has constants or functions of encrypted types', column_name, relation
      USING DETAIL = rest, HINT = 'It needs the wallet, and goes with the extension: make it again without casts to encrypted types.';
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_warn_of_rest(regclass, name) IS
  'warning of what uses a decrypted column, no encrypted one, and nevertheless the extension';

--
-- Expressions of the user's, as text: read for the new type of a column they find the operators that belong to it.  Only these functions
-- have the extension's schema on their path, and they name all that they call.  It comes after pg_temp: names of temporary tables that
-- were printed with a path without it mean the same here.
--

CREATE FUNCTION tde_internal.tde_definition(class regclass, object oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp, @extschema@
AS $$
  SELECT CASE
    WHEN class OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass THEN pg_catalog.pg_get_constraintdef(object)
    WHEN class OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass THEN
      coalesce(pg_catalog.pg_get_viewdef(object), pg_catalog.pg_get_indexdef(object))
    WHEN class OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass THEN pg_catalog.pg_get_ruledef(object)
    WHEN class OPERATOR(pg_catalog.=) 'pg_catalog.pg_trigger'::pg_catalog.regclass THEN pg_catalog.pg_get_triggerdef(object)
    WHEN class OPERATOR(pg_catalog.=) 'pg_catalog.pg_policy'::pg_catalog.regclass THEN (
      SELECT pg_catalog.concat('USING (' OPERATOR(pg_catalog.||) pg_catalog.pg_get_expr(polqual, polrelid) OPERATOR(pg_catalog.||) ')',
                               ' WITH CHECK (' OPERATOR(pg_catalog.||) pg_catalog.pg_get_expr(polwithcheck, polrelid) OPERATOR(pg_catalog.||) ')')
      FROM pg_catalog.pg_policy WHERE oid OPERATOR(pg_catalog.=) object)
    WHEN class OPERATOR(pg_catalog.=) 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass THEN pg_catalog.pg_get_statisticsobjdef(object)
    ELSE (SELECT pg_catalog.pg_get_expr(adbin, adrelid) FROM pg_catalog.pg_attrdef WHERE oid OPERATOR(pg_catalog.=) object) END
$$;
COMMENT ON FUNCTION tde_internal.tde_definition(regclass, oid) IS
  'definition of a constraint, index, view (its query), rule, trigger, policy (its expressions), statistics object or default';

CREATE FUNCTION tde_internal.tde_run(command text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp, @extschema@
AS $$
BEGIN
  EXECUTE command;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_run(text) IS 'run a command with such definitions in it';

--
-- Offline
--

CREATE FUNCTION tde_internal.tde_index_commands(index oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- of a partitioned table's index those of its partitions are made, too
  SELECT array_remove(ARRAY[
           format('SET LOCAL default_tablespace = %L', coalesce((SELECT spcname FROM pg_tablespace WHERE oid = c.reltablespace), '')),
           regexp_replace(regexp_replace(tde_internal.tde_definition('pg_class', index), '\mencrypted_((text|varchar|bpchar)_pattern_ops)\M', '\1', 'g'),
                          ' ON ONLY ', ' ON '),
           format('COMMENT ON INDEX %s IS %L', index::regclass, obj_description(index, 'pg_class')),
           CASE WHEN i.indisclustered THEN format('ALTER TABLE %s CLUSTER ON %I', i.indrelid::regclass, c.relname) END,
           CASE WHEN i.indisreplident THEN format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', i.indrelid::regclass, c.relname) END], NULL)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indexrelid = index
$$;
COMMENT ON FUNCTION tde_internal.tde_index_commands(oid) IS 'what makes an index again, with its comment and its part in CLUSTER and replication';

CREATE FUNCTION tde_internal.tde_named_indexes(a pg_attribute) RETURNS TABLE (index regclass, commands text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT i.indexrelid, tde_internal.tde_index_commands(i.indexrelid)
  FROM pg_index i
  WHERE i.indrelid = a.attrelid AND EXISTS (
    SELECT FROM generate_series(0, i.indnkeyatts - 1) k WHERE i.indkey[k] = a.attnum AND tde_internal.tde_named_opclass(i.indclass[k]) IS NOT NULL)
$$;
COMMENT ON FUNCTION tde_internal.tde_named_indexes(pg_attribute) IS
  'indexes that ALTER TABLE cannot give the operator class that goes with a column''s new type, and what makes them again';

CREATE FUNCTION tde_internal.tde_size_of(relation regclass) RETURNS int8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class
  WHERE oid = relation OR relkind <> 'p' AND oid IN (SELECT relid FROM pg_partition_tree(relation))
$$;
COMMENT ON FUNCTION tde_internal.tde_size_of(regclass) IS 'bytes of a table with its indexes, and of its partitions';

CREATE FUNCTION tde_internal.tde_convert_offline(a pg_attribute, type text, encrypting boolean) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''     -- as it was, at the end
AS $$
DECLARE
  started  timestamptz := clock_timestamp();
  literal  text := tde_internal.tde_constant_default(a);
  before   int8 := tde_internal.tde_size_of(a.attrelid);
  indexes  text := (SELECT coalesce(string_agg(format('DROP INDEX %s', index), ';'), '') FROM tde_internal.tde_named_indexes(a));
  again    text := (SELECT coalesce(string_agg(array_to_string(commands, ';'), ';'), '') FROM tde_internal.tde_named_indexes(a));
  c        pg_class;
  detail   text;
  hint     text;
  others   tde_internal.tde_dependent[];
BEGIN
  PERFORM tde_internal.tde_check_conversion(a, encrypting, false);
  PERFORM type::regtype;      -- what its modifiers do not allow is said before anything is announced
  others := tde_internal.tde_remove_dependents(a);
  SELECT * INTO c FROM pg_class WHERE oid = a.attrelid;
  RAISE NOTICE 'rewriting table "%" and its indexes: column "%" becomes %', c.relname, a.attname, type
    USING DETAIL = format('It has about %s rows and %s. Nobody else can read or write it meanwhile.',
                          (SELECT sum(greatest(reltuples, 0))::int8 FROM pg_class
                           WHERE relkind <> 'p' AND (oid = a.attrelid OR oid IN (SELECT relid FROM pg_partition_tree(a.attrelid)))),
                          pg_size_pretty(before));
  PERFORM tde_internal.tde_run(indexes);
  PERFORM tde_internal.tde_run(format('ALTER TABLE %1$s %3$s ALTER COLUMN %2$I TYPE %4$s %5$s', a.attrelid::regclass, a.attname,
                 CASE WHEN literal IS NOT NULL THEN format('ALTER COLUMN %I DROP DEFAULT,', a.attname) END,
                 tde_internal.tde_with_collation(a, type),
                 CASE WHEN literal IS NOT NULL THEN format(', ALTER COLUMN %I SET DEFAULT %s', a.attname, literal) END));
  PERFORM tde_internal.tde_run(again);
  PERFORM tde_internal.tde_make_dependents(a, others);
  PERFORM tde_internal.tde_recompile_triggers(a.attrelid);
  IF NOT encrypting THEN
    PERFORM tde_internal.tde_warn_of_rest(a.attrelid, a.attname);
  END IF;
  RAISE NOTICE 'column "%" of table "%" is % now', a.attname, c.relname, type
    USING DETAIL = format('%s s, %s before, %s after.', round(extract(epoch FROM clock_timestamp() - started), 1),
                          pg_size_pretty(before), pg_size_pretty(tde_internal.tde_size_of(a.attrelid)));
EXCEPTION WHEN invalid_object_definition THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION '%', SQLERRM USING ERRCODE = SQLSTATE,
    DETAIL = coalesce(nullif(detail, ''), 'A condition of an index, or an expression, decrypts the column then, and would be stored.'),
    HINT = coalesce(nullif(hint, ''), format('Drop the indexes of table %s whose conditions compute with the column, and convert it then.', a.attrelid::regclass));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_convert_offline(pg_attribute, text, boolean) IS 'change a column''s type, rewriting the table';

--
-- What removed rows have left
--

CREATE FUNCTION tde_internal.tde_stored_parts(relation regclass) RETURNS SETOF regclass
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  part pg_class;
BEGIN
  FOR part IN
    SELECT c.* FROM pg_class c WHERE c.oid = relation OR c.oid IN (SELECT relid FROM pg_partition_tree(relation) WHERE isleaf) ORDER BY c.oid
  LOOP
    IF part.relkind = 'f' OR part.oid = relation AND part.relkind NOT IN ('r', 'p', 't') THEN
      RAISE EXCEPTION '"%" is not a table of this server', part.relname USING ERRCODE = 'wrong_object_type',
        DETAIL = CASE WHEN part.oid <> relation THEN format('It is a partition of table %s.', relation)
                      ELSE format('It is a %s.', (pg_identify_object('pg_class'::regclass, part.oid, 0)).type) END,
        HINT = CASE part.relkind WHEN 'f' THEN 'Call it where the rows are stored.' ELSE 'Name the table itself.' END;
    ELSIF part.relkind <> 'p' THEN
      RETURN NEXT part.oid;
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_stored_parts(regclass) IS 'a table, or the partitions of one, as far as they have pages here';

CREATE PROCEDURE @extschema@.tde_wipe_free_space(relation regclass, max_wait float8 DEFAULT 60, INOUT remaining int8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  parts    regclass[];
  part     regclass;
  cutoff   xid8;
  deadline timestamptz;
  pos      int8;
  blocks   int8;
  rest     int8;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  remaining := 0;
  deadline := clock_timestamp() + make_interval(secs => max_wait);
  cutoff := pg_snapshot_xmax(pg_current_snapshot());
  parts := ARRAY(SELECT r FROM tde_internal.tde_stored_parts(relation) p JOIN pg_class ON oid = p,
                             unnest(ARRAY[oid, nullif(reltoastrelid, 0)]) r WHERE r IS NOT NULL);
  FOREACH part IN ARRAY parts LOOP
    pos := 0;
    LOOP
      blocks := pg_relation_size(part) / current_setting('block_size')::int8;
      EXIT WHEN pos >= blocks;
      LOOP
        rest := tde_internal.tde_wipe_blocks(part, pos, 1024, cutoff);
        COMMIT;
        SET LOCAL search_path = pg_catalog, pg_temp;
        EXIT WHEN rest = 0 OR clock_timestamp() >= deadline;
        PERFORM pg_sleep(0.2);
      END LOOP;
      remaining := remaining + rest;
      pos := pos + 1024;
    END LOOP;
  END LOOP;
  IF remaining > 0 THEN
    RAISE WARNING '% removed row versions of table % could not be wiped yet', remaining, relation
      USING DETAIL = 'A transaction, replication slot or standby that is older than their removal keeps them.',
            HINT = 'Repeat it when that has ended.';
  END IF;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_wipe_free_space(regclass, float8, int8) IS
  'overwrite what removed rows have left in the pages of a table and of its TOAST table; waits some seconds for old transactions';

CREATE PROCEDURE @extschema@.tde_wipe_catalogs()
LANGUAGE plpgsql AS $$
DECLARE
  remaining int8;
BEGIN
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_statistic', 5, remaining);
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_statistic_ext_data', 5, remaining);
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_attribute', 5, remaining);
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_attrdef', 5, remaining);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_wipe_catalogs() IS 'overwrite what removed statistics and defaults of columns have left in the catalogs';
--
-- Converting a column online: a copy of it that a trigger keeps, and a swap.
--
-- The trigger is all the state there is: its arguments name the phase and the columns, so that nothing outlives the table or is
-- missing in a dump.
--

CREATE VIEW tde.conversions AS
  SELECT t.tgrelid::pg_catalog.regclass AS relation,
         (CASE WHEN g[1] OPERATOR(pg_catalog.=) 'copy' THEN g[2] ELSE g[3] END)::pg_catalog.name AS column_name,
         g[1] AS phase,
         CASE WHEN s.base_type IS NULL THEN 'decrypt' ELSE 'encrypt' END AS direction,
         pg_catalog.format_type(n.atttypid, n.atttypmod) AS new_type,
         (CASE WHEN g[1] OPERATOR(pg_catalog.=) 'copy' THEN g[3] ELSE g[2] END)::pg_catalog.name AS helper_column,
         t.tgname AS helper_trigger
  FROM pg_catalog.pg_trigger t
  JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid AND p.prosrc OPERATOR(pg_catalog.=) 'tde_convert_trigger'
  JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang AND l.lanname OPERATOR(pg_catalog.=) 'c'
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(pg_catalog.convert_from(pg_catalog.decode(hex, 'hex'), pg_catalog.getdatabaseencoding()) ORDER BY n)
    FROM pg_catalog.unnest(pg_catalog.string_to_array(pg_catalog.regexp_replace(pg_catalog.encode(t.tgargs, 'hex'), '(..)', '\1 ', 'g'), '00 '))
      WITH ORDINALITY AS a (hex, n)
    WHERE hex OPERATOR(pg_catalog.<>) '') AS arguments (g)
  JOIN pg_catalog.pg_attribute n ON n.attrelid OPERATOR(pg_catalog.=) t.tgrelid AND n.attname OPERATOR(pg_catalog.=) g[3]::pg_catalog.name
  CROSS JOIN LATERAL tde_internal.tde_type_spec(n.atttypid, n.atttypmod) s;
GRANT SELECT ON tde.conversions TO PUBLIC;
COMMENT ON VIEW tde.conversions IS
  'columns that are being converted online: being copied (phase copy), or swapped and their old values being erased (phase erase)';

CREATE FUNCTION tde_internal.tde_lock_tables(relations regclass[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  attempts int  := CASE WHEN current_setting('lock_timeout') = '0' THEN 30 ELSE 1 END;
  command  text;
BEGIN
  -- Whoever comes after a waiting lock waits, too: so wait briefly, and often.
  IF attempts > 1 THEN
    SET LOCAL lock_timeout = '2s';
  END IF;
  FOR attempt IN 1 .. attempts LOOP
    BEGIN
      FOR command IN SELECT tde_internal.tde_lock_commands(relations) LOOP
        EXECUTE command;
      END LOOP;
      RETURN;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      PERFORM pg_sleep(CASE WHEN attempt < attempts THEN 1 ELSE 0 END);
    END;
  END LOOP;
  RAISE EXCEPTION 'could not lock table % in time', (SELECT string_agg(DISTINCT r::text, ', ') FROM unnest(relations) r) USING ERRCODE = 'lock_not_available',
    DETAIL = 'Other transactions use it.', HINT = 'Call it again: it goes on where it was. lock_timeout says how long it waits.';
END
$$;
COMMENT ON FUNCTION tde_internal.tde_lock_tables(regclass[]) IS
  'lock tables and views that others use: waits for lock_timeout, or several times for two seconds';

CREATE FUNCTION tde_internal.tde_start_conversion(a pg_attribute, type text, encrypting boolean) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  helper text := 'tde_convert_' || a.attnum;
BEGIN
  PERFORM tde_internal.tde_check_conversion(a, encrypting, true);
  PERFORM tde_internal.tde_lock_tables(ARRAY[a.attrelid]);
  EXECUTE format('ALTER TABLE %s ADD COLUMN %I %s', a.attrelid::regclass, helper, tde_internal.tde_with_collation(a, type));
  IF a.attnotnull THEN
    -- a valid one spares SET NOT NULL its scan
    EXECUTE format('ALTER TABLE %1$s ADD CONSTRAINT %2$I CHECK (%2$I IS NOT NULL) NOT VALID', a.attrelid::regclass, helper);
  END IF;
  -- the last one to see the row
  EXECUTE format('CREATE TRIGGER %2$I BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger(''copy'', %3$L, %4$L)',
                 a.attrelid::regclass, '~' || helper, a.attname, helper);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', a.attrelid::regclass, '~' || helper);
  RAISE NOTICE 'column "%" is being copied to column "%" of type %', a.attname, helper, type;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_start_conversion(pg_attribute, text, boolean) IS 'add the copy of a column, and the trigger that keeps it';

CREATE PROCEDURE tde_internal.tde_convert_all_rows(relation regclass, source name, target name, batch_rows int, batch_delay float8)
LANGUAGE plpgsql AS $$
DECLARE
  started timestamptz;
  blocks  int8;
  step    int8;
  pos     int8;
  done    int8;
  batch   record;
BEGIN
  -- Rows that come, or move, later go through the trigger: one pass sees all others.
  SET LOCAL search_path = pg_catalog, pg_temp;
  started := clock_timestamp();
  pos := 0;
  done := 0;
  blocks := pg_relation_size(relation) / current_setting('block_size')::int8;
  step := (SELECT greatest(1, CASE WHEN reltuples > 0 THEN batch_rows / reltuples * relpages ELSE batch_rows / 100 END)
           FROM pg_class WHERE oid = relation);
  WHILE pos < blocks LOOP
    LOOP
      SELECT * INTO batch FROM tde_internal.tde_convert_rows(relation, source, target, pos, step, blocks, started);
      COMMIT;
      SET LOCAL search_path = pg_catalog, pg_temp;
      done := done + batch.done;
      EXIT WHEN batch.skipped = 0;
      PERFORM pg_sleep(0.1);
    END LOOP;
    pos := least(pos + step, blocks);
    IF batch_delay > 0 THEN
      PERFORM pg_sleep(batch_delay);
    END IF;
  END LOOP;
  RAISE NOTICE '%', format('%s rows of %s in %s s', done, relation, round(extract(epoch FROM clock_timestamp() - started), 1));
END
$$;
COMMENT ON PROCEDURE tde_internal.tde_convert_all_rows(regclass, name, name, int, float8) IS
  'set a column from another one, or to NULL, in all rows where that was not done yet, in committed batches';

CREATE PROCEDURE tde_internal.tde_complete_copy(relation regclass, column_name name, helper_column name, batch_rows int, batch_delay float8)
LANGUAGE plpgsql AS $$
DECLARE
  checks oid[];
BEGIN
  CALL tde_internal.tde_convert_all_rows(relation, column_name, helper_column, batch_rows, batch_delay);
  SET LOCAL search_path = pg_catalog, pg_temp;
  checks := ARRAY(SELECT oid FROM pg_constraint WHERE conrelid = relation AND conname = helper_column AND contype = 'c');
  CALL tde_internal.tde_validate_all(checks);
END
$$;
COMMENT ON PROCEDURE tde_internal.tde_complete_copy(regclass, name, name, int, float8) IS 'copy what was not copied yet';

CREATE FUNCTION tde_internal.tde_conversion_replacements(relation regclass, column_name name)
  RETURNS TABLE (index regclass, replacement name, valid boolean, command text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT i.indexrelid, new_name, n.indisvalid,
         CASE WHEN n.indisvalid THEN NULL WHEN NOT n.indisvalid THEN format('REINDEX INDEX CONCURRENTLY %s;', n.indexrelid::regclass)
              ELSE format('CREATE %sINDEX CONCURRENTLY %I ON %s USING %I (%s)%s%s%s%s%s;', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                new_name, relation, m.amname, keys.list, ' INCLUDE (' || included.list || ')',
                CASE WHEN i.indnullsnotdistinct THEN ' NULLS NOT DISTINCT' END,
                ' WITH (' || array_to_string(c.reloptions, ', ') || ')',
                ' TABLESPACE ' || (SELECT quote_ident(spcname) FROM pg_tablespace WHERE oid = c.reltablespace),
                ' WHERE ' || CASE pg_get_expr(i.indpred, i.indrelid)
                  WHEN format('(%I IS NULL)', a.attname) THEN format('%I IS NULL', v.helper_column)
                  WHEN format('(%I IS NOT NULL)', a.attname) THEN format('%I IS NOT NULL', v.helper_column)
                  ELSE pg_get_expr(i.indpred, i.indrelid) END) END
  FROM tde.conversions v
  JOIN pg_attribute a ON a.attrelid = v.relation AND a.attname = v.column_name
  JOIN pg_index i ON i.indrelid = v.relation AND (a.attnum = ANY (i.indkey) OR i.indpred::text ~ format(':varattno %s ', a.attnum))
  JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
  CROSS JOIN LATERAL (SELECT ('tde_convert_' || i.indexrelid)::name) AS names (new_name)
  LEFT JOIN pg_index n ON n.indexrelid = (SELECT oid FROM pg_class WHERE relnamespace = c.relnamespace AND relname = new_name)
  CROSS JOIN LATERAL (
    SELECT string_agg(CASE WHEN i.indkey[k] = a.attnum THEN quote_ident(v.helper_column) ELSE pg_get_indexdef(i.indexrelid, k + 1, false) END
      || coalesce((SELECT format(' COLLATE %I.%I', nspname, collname) FROM pg_collation o JOIN pg_namespace s ON s.oid = collnamespace
                   WHERE o.oid = i.indcollation[k] AND (i.indkey[k] = 0 OR i.indcollation[k] <> (
                     SELECT attcollation FROM pg_attribute x WHERE x.attrelid = i.indrelid AND x.attnum = i.indkey[k]))), '')
      || coalesce((SELECT format(' %I.%I%s', nspname, opcname, '(' || array_to_string(x.attoptions, ', ') || ')')
                   FROM pg_opclass o JOIN pg_namespace s ON s.oid = opcnamespace
                   JOIN pg_attribute x ON x.attrelid = i.indexrelid AND x.attnum = k + 1
                   WHERE o.oid = i.indclass[k] AND i.indkey[k] <> a.attnum AND (NOT o.opcdefault OR x.attoptions IS NOT NULL)), '')
      || coalesce((SELECT ' ' || tde_internal.tde_named_opclass(i.indclass[k]) WHERE i.indkey[k] = a.attnum), '')
      || CASE i.indoption[k] WHEN 1 THEN ' DESC NULLS LAST' WHEN 2 THEN ' NULLS FIRST' WHEN 3 THEN ' DESC' ELSE '' END, ', ' ORDER BY k)
    FROM generate_series(0, i.indnkeyatts - 1) k
  ) AS keys (list)
  CROSS JOIN LATERAL (
    SELECT string_agg(CASE WHEN i.indkey[k] = a.attnum THEN quote_ident(v.helper_column) ELSE pg_get_indexdef(i.indexrelid, k + 1, false) END,
                      ', ' ORDER BY k)
    FROM generate_series(i.indnkeyatts, i.indnatts - 1) k
  ) AS included (list)
  WHERE v.relation = $1 AND v.column_name = $2 AND v.phase = 'copy'
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion_replacements(regclass, name) IS 'indexes on a column that is being copied, and which ones replace them';

CREATE FUNCTION @extschema@.tde_conversion_indexes(relation regclass, column_name name) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT command FROM tde_internal.tde_conversion_replacements(relation, column_name) WHERE command IS NOT NULL ORDER BY index::oid
$$;
COMMENT ON FUNCTION @extschema@.tde_conversion_indexes(regclass, name) IS
  'commands for the indexes that are still to be made before tde_finish_conversion(); psql runs them with \gexec';

CREATE FUNCTION tde_internal.tde_conversion(relation regclass, column_name name, OUT phase text, OUT helper_column name, OUT helper_trigger name,
                               OUT direction text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM tde_internal.tde_convertible_column(relation, column_name);
  SELECT v.phase, v.helper_column, v.helper_trigger, v.direction INTO phase, helper_column, helper_trigger, direction
  FROM tde.conversions v WHERE v.relation = $1 AND v.column_name = $2;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion(regclass, name) IS 'the conversion of a column that is under way; NULLs if none is';

CREATE PROCEDURE tde_internal.tde_copy_column(relation regclass, column_name name, type text, encrypting boolean, batch_rows int, batch_delay float8)
LANGUAGE plpgsql AS $$
DECLARE
  v       record;
  command text;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  IF v.phase IS NULL THEN
    PERFORM tde_internal.tde_start_conversion(tde_internal.tde_convertible_column(relation, column_name), type, encrypting);
    COMMIT;
    SET LOCAL search_path = pg_catalog, pg_temp;
    SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  END IF;
  CALL tde_internal.tde_complete_copy(relation, column_name, v.helper_column, batch_rows, batch_delay);
  SET LOCAL search_path = pg_catalog, pg_temp;
  FOR command IN SELECT * FROM @extschema@.tde_conversion_indexes(relation, column_name) LOOP
    RAISE NOTICE 'next: %', command;
  END LOOP;
  RAISE NOTICE '%', format('next: CALL @extschema@.tde_finish_conversion(%L, %L);', relation, column_name);
END
$$;
COMMENT ON PROCEDURE tde_internal.tde_copy_column(regclass, name, text, boolean, int, float8) IS 'make or complete the copy of a column';
--
-- Converting columns: what depends on a column's type, so that PostgreSQL would not change it, is dropped and made again in the
-- same transaction: views with all that hangs on them; rules, policies, and triggers with a list of columns or WHEN.
--

CREATE TYPE tde_internal.tde_dependent AS (
  depth int, object text, relation regclass, refused text, removal text, creation text[]);
COMMENT ON TYPE tde_internal.tde_dependent IS
  'an object that depends on a column''s type, the table or view that it is or belongs to, and commands, or why it cannot be made again';

CREATE FUNCTION tde_internal.tde_full_name(relation oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = relation
$$;
COMMENT ON FUNCTION tde_internal.tde_full_name(oid) IS 'name of a relation with its schema, whatever search_path is';

--
-- What makes them
--

CREATE FUNCTION tde_internal.tde_view_commands(view oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH v AS (
    SELECT c.oid, c.relacl, c.relowner, c.relowner::regrole AS owner, tde_internal.tde_full_name(c.oid) AS name, relkind = 'm' AS materialized,
           CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS kind,
           (SELECT amname FROM pg_am WHERE oid = c.relam) AS method, (SELECT spcname FROM pg_tablespace WHERE oid = c.reltablespace) AS tablespace,
           (SELECT string_agg(format('%s%I=%L', prefix, split_part(o, '=', 1), substr(o, strpos(o, '=') + 1)), ', ')
            FROM (SELECT '', c.reloptions UNION ALL SELECT 'toast.', reloptions FROM pg_class WHERE oid = c.reltoastrelid) AS r (prefix, list),
                 unnest(list) o) AS options
    FROM pg_class c WHERE c.oid = view
  ), columns AS (
    SELECT v.name, v.materialized, a AS attribute, a.attrelid, a.attnum, quote_ident(a.attname) AS column_name, a.attacl, a.attstattarget, a.attoptions
    FROM v JOIN pg_attribute a ON attrelid = v.oid AND attnum > 0 AND NOT attisdropped
  ), given AS (
    -- by ALTER DEFAULT PRIVILEGES, to a view that the caller makes
    SELECT DISTINCT grantee FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclrole = (SELECT oid FROM pg_roles WHERE rolname = current_user) AND defaclobjtype = 'r'
  ), privileges AS (
    SELECT name, '' AS column_name, g.* FROM v, aclexplode(coalesce(relacl, acldefault('r', relowner))) g
    WHERE relacl IS NOT NULL OR EXISTS (SELECT FROM given)
    UNION ALL SELECT name, format(' (%s)', column_name), g.* FROM columns, aclexplode(attacl) g
  )
  SELECT array_agg(command ORDER BY place, command COLLATE "C") FROM (
    SELECT 1, format('CREATE %s %s%s%s%s AS %s%s', kind, name, ' USING ' || CASE WHEN materialized THEN quote_ident(method) END, ' WITH (' || options || ')',
                     ' TABLESPACE ' || quote_ident(tablespace), rtrim(tde_internal.tde_definition('pg_class', oid), ';'),
                     CASE WHEN materialized THEN ' WITH NO DATA' END) FROM v
    UNION ALL SELECT 2, format('ALTER %s %s OWNER TO %s', kind, name, owner) FROM v
    UNION ALL SELECT 3, format('ALTER VIEW %s ALTER COLUMN %s SET DEFAULT %s', name, column_name,
                               coalesce(tde_internal.tde_constant_default(attribute), tde_internal.tde_definition('pg_attrdef', d.oid)))
              FROM columns JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum
    UNION ALL SELECT 4, format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %s SET STATISTICS %s', name, column_name, attstattarget)
              FROM columns WHERE materialized AND attstattarget >= 0
    UNION ALL SELECT 4, format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %s SET (%s)', name, column_name, array_to_string(attoptions, ', '))
              FROM columns WHERE materialized AND attoptions IS NOT NULL
    UNION ALL SELECT 5, format('COMMENT ON %s %s IS ', kind, name) || quote_literal(obj_description(oid, 'pg_class')) FROM v
    UNION ALL SELECT 5, format('COMMENT ON COLUMN %s.%s IS ', name, column_name) || quote_literal(col_description(attrelid, attnum)) FROM columns
    UNION ALL SELECT 6, format('REVOKE ALL ON %s FROM %s%s', name, owner, (SELECT string_agg(CASE grantee WHEN 0 THEN ', PUBLIC' ELSE ', ' || grantee::regrole END, '') FROM given))
              FROM v WHERE relacl IS NOT NULL OR EXISTS (SELECT FROM given)
    UNION ALL SELECT 7, format('GRANT %s%s ON %s TO %s%s', privilege_type, column_name, name, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
                               CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END) FROM privileges
  ) AS commands (place, command) WHERE command IS NOT NULL
$$;
COMMENT ON FUNCTION tde_internal.tde_view_commands(oid) IS 'what makes a view again, with its owner, options, defaults, comments and privileges; without data';

CREATE FUNCTION tde_internal.tde_trigger_commands(trigger oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH RECURSIVE t AS (
    -- with those that it has on partitions, which may be enabled otherwise
    SELECT 0 AS depth, * FROM pg_trigger WHERE oid = trigger
    UNION ALL SELECT depth + 1, p.* FROM t JOIN pg_trigger p ON p.tgparentid = t.oid
  )
  SELECT tde_internal.tde_definition('pg_trigger', trigger) || array_agg(command ORDER BY depth, command COLLATE "C") FROM (
    SELECT depth, format('ALTER TABLE ONLY %s %s TRIGGER %I', tde_internal.tde_full_name(tgrelid),
                         CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, tgname)
    FROM t WHERE tgenabled <> 'O'
    UNION ALL SELECT depth, format('COMMENT ON TRIGGER %I ON %s IS %L', tgname, tde_internal.tde_full_name(tgrelid), obj_description(oid, 'pg_trigger')) FROM t
  ) AS commands (depth, command)
$$;
COMMENT ON FUNCTION tde_internal.tde_trigger_commands(oid) IS 'what makes a trigger again, enabled as it is';

CREATE FUNCTION tde_internal.tde_rule_commands(rule oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT array_remove(ARRAY[
           tde_internal.tde_definition('pg_rewrite', rule),
           CASE WHEN ev_enabled <> 'O' THEN format('ALTER TABLE %s %s RULE %I', name,
             CASE ev_enabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, rulename) END,
           format('COMMENT ON RULE %I ON %s IS %L', rulename, name, obj_description(rule, 'pg_rewrite'))], NULL)
  FROM pg_rewrite CROSS JOIN LATERAL tde_internal.tde_full_name(ev_class) AS name WHERE oid = rule
$$;
COMMENT ON FUNCTION tde_internal.tde_rule_commands(oid) IS 'what makes a rule again, enabled as it is';

CREATE FUNCTION tde_internal.tde_policy_commands(policy oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT ARRAY[
           format('CREATE POLICY %I ON %s AS %s FOR %s TO %s %s', polname, name, CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                  CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
                  (SELECT string_agg(CASE r WHEN 0 THEN 'PUBLIC' ELSE r::regrole::text END, ', ') FROM unnest(polroles) r),
                  tde_internal.tde_definition('pg_policy', policy)),
           format('COMMENT ON POLICY %I ON %s IS %L', polname, name, obj_description(policy, 'pg_policy'))]
  FROM pg_policy CROSS JOIN LATERAL tde_internal.tde_full_name(polrelid) AS name WHERE oid = policy
$$;
COMMENT ON FUNCTION tde_internal.tde_policy_commands(oid) IS 'what makes a row security policy again';

--
-- What depends on a column's type
--

CREATE FUNCTION tde_internal.tde_dependents(a pg_attribute) RETURNS SETOF tde_internal.tde_dependent
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH RECURSIVE columns AS (
    -- of tables that inherit it, too
    SELECT a.attrelid AS relation, a.attnum AS attnum
    UNION SELECT c.attrelid, c.attnum FROM columns JOIN pg_inherits ON inhparent = relation
          JOIN pg_attribute c ON c.attrelid = inhrelid AND c.attname = a.attname
  ), found (depth, classid, objid, objsubid) AS (
    -- A view depends by its rule.  Views that refer to each other would be found for ever.
    SELECT 0, 'pg_class'::regclass::oid, relation, attnum::int FROM columns
    UNION
    SELECT f.depth + 1, CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass END, coalesce(r.ev_class, d.objid), 0
    FROM found f JOIN pg_class c ON f.classid = 'pg_class'::regclass AND c.oid = f.objid AND (f.depth = 0 OR relkind IN ('v', 'm')) AND f.depth < 100
    CROSS JOIN LATERAL (VALUES ('pg_class'::regclass, c.oid), ('pg_type', c.reltype), ('pg_type', (SELECT typarray FROM pg_type WHERE oid = c.reltype)))
      AS used (classid, objid)
    JOIN pg_depend d ON d.refclassid = used.classid AND d.refobjid = used.objid
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
    WHERE d.deptype <> 'i' AND r.ev_class IS DISTINCT FROM f.objid
      AND CASE f.depth WHEN 0 THEN d.refobjsubid = f.objsubid AND d.classid = ANY ('{pg_rewrite,pg_trigger,pg_policy}'::regclass[])
                       ELSE d.classid <> 'pg_attrdef'::regclass END
  ), objects AS (
    SELECT max(depth) AS depth, classid, objid FROM found WHERE depth > 0 GROUP BY classid, objid
  ), commands (classid, objid, relation, removal, creation) AS (
    SELECT classid, objid, objid, format('DROP %s %s', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'MATERIALIZED VIEW' END, tde_internal.tde_full_name(objid)),
           tde_internal.tde_view_commands(objid)
    FROM objects JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid AND relkind IN ('v', 'm')
    UNION ALL
    -- those of materialized views go with these
    SELECT classid, objid, indrelid, NULL, tde_internal.tde_index_commands(objid)
    FROM objects JOIN pg_index ON classid = 'pg_class'::regclass AND indexrelid = objid
    UNION ALL
    SELECT classid, objid, ev_class, format('DROP RULE %I ON %s', rulename, tde_internal.tde_full_name(ev_class)), tde_internal.tde_rule_commands(objid)
    FROM objects JOIN pg_rewrite r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
    UNION ALL
    SELECT classid, objid, tgrelid, format('DROP TRIGGER %I ON %s', tgname, tde_internal.tde_full_name(tgrelid)), tde_internal.tde_trigger_commands(objid)
    FROM objects JOIN pg_trigger t ON classid = 'pg_trigger'::regclass AND t.oid = objid AND tgparentid = 0
    UNION ALL
    SELECT classid, objid, polrelid, format('DROP POLICY %I ON %s', polname, tde_internal.tde_full_name(polrelid)), tde_internal.tde_policy_commands(objid)
    FROM objects JOIN pg_policy p ON classid = 'pg_policy'::regclass AND p.oid = objid
  )
  SELECT o.depth, pg_describe_object(classid, objid, 0), c.relation::regclass, CASE
           WHEN c.creation IS NULL OR o.depth = 100 THEN ''
           WHEN v.relkind = 'm' AND v.relispopulated THEN format(
             ', which has data: REFRESH MATERIALIZED VIEW %s WITH NO DATA before, and without these words afterwards', tde_internal.tde_full_name(v.oid))
           WHEN v.relpersistence = 't' AND v.relnamespace <> pg_my_temp_schema() THEN ', which is temporary in another session'
           WHEN EXISTS (SELECT FROM pg_depend d WHERE (d.classid, d.objid) = (o.classid, o.objid) AND deptype IN ('e', 'x')) THEN ', which belongs to an extension'
           WHEN EXISTS (SELECT FROM pg_seclabel l WHERE (l.classoid, l.objoid) = (o.classid, o.objid)) THEN ', which has a security label'
         END, c.removal, c.creation
  FROM objects o LEFT JOIN commands c USING (classid, objid) LEFT JOIN pg_class v ON classid = 'pg_class'::regclass AND v.oid = objid
  -- triggers of partitions go with the table's
  WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE classid = 'pg_trigger'::regclass AND t.oid = objid AND tgparentid <> 0)
$$;
COMMENT ON FUNCTION tde_internal.tde_dependents(pg_attribute) IS
  'views, rules, triggers and policies that depend on a column''s type, and what depends on such views; those of lower depth come first';

CREATE FUNCTION tde_internal.tde_check_dependents(a pg_attribute) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  others text := (SELECT string_agg(format('%s, of role "%s"', object, pg_get_userbyid(relowner)), E'\n' ORDER BY object COLLATE "C")
                  FROM tde_internal.tde_dependents(a) JOIN pg_class c ON c.oid = relation WHERE NOT pg_has_role(relowner, 'USAGE'));
BEGIN
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'must be owner of what depends on the type of column "%"', a.attname USING ERRCODE = 'insufficient_privilege',
      DETAIL = others, HINT = 'It is dropped and made again, by a member of the roles that own it or by a superuser.';
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_dependents(pg_attribute) IS 'error if others own what has to be made again';

--
-- Dropping and making them
--

CREATE FUNCTION tde_internal.tde_lock_commands(relations regclass[]) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- Views before tables, as whoever reads them.  LOCK would lock all tables of a view, so it is given to the owner it has.
  SELECT command FROM (
    SELECT min(n), format('ALTER TABLE %s OWNER TO %s', tde_internal.tde_full_name(oid), relowner::regrole)
    FROM unnest(relations) WITH ORDINALITY AS r (relation, n) JOIN pg_class c ON c.oid = relation AND relkind IN ('v', 'm') GROUP BY oid, relowner
    UNION ALL
    SELECT NULL, format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', string_agg(tde_internal.tde_full_name(oid), ', ' ORDER BY oid))
    FROM pg_class WHERE oid = ANY (relations) AND relkind NOT IN ('v', 'm') AND pg_has_role(relowner, 'USAGE')
  ) AS commands (place, command) WHERE command IS NOT NULL ORDER BY place NULLS LAST
$$;
COMMENT ON FUNCTION tde_internal.tde_lock_commands(regclass[]) IS 'what locks tables, and before them views';

CREATE FUNCTION tde_internal.tde_remove_dependents(a pg_attribute) RETURNS tde_internal.tde_dependent[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  dependents tde_internal.tde_dependent[];
  command    text;
BEGIN
  -- nobody changes them between reading and dropping
  FOR command IN SELECT tde_internal.tde_lock_commands(ARRAY(SELECT relation FROM tde_internal.tde_dependents(a) ORDER BY depth DESC) || a.attrelid::regclass) LOOP
    EXECUTE command;
  END LOOP;
  dependents := ARRAY(SELECT d FROM tde_internal.tde_dependents(a) d WHERE refused IS NULL ORDER BY depth, object COLLATE "C");
  FOR command IN SELECT removal FROM unnest(dependents) WHERE removal IS NOT NULL ORDER BY depth DESC LOOP
    EXECUTE command;
  END LOOP;
  RETURN dependents;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_remove_dependents(pg_attribute) IS 'drop what depends on a column''s type; returns what was dropped';

CREATE FUNCTION tde_internal.tde_make_dependents(a pg_attribute, dependents tde_internal.tde_dependent[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''     -- commands for indexes set it
AS $$
DECLARE
  d       tde_internal.tde_dependent;
  command text;
  detail  text;
BEGIN
  FOREACH d IN ARRAY dependents LOOP
    FOREACH command IN ARRAY d.creation LOOP
      PERFORM tde_internal.tde_run(command);
    END LOOP;
    -- online the old column may still be there: a view with "FROM card AS c (id, number)" finds it by its position
    IF (SELECT attname <> a.attname FROM pg_attribute WHERE attrelid = a.attrelid AND attnum = a.attnum) AND EXISTS (
        SELECT FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = a.attrelid AND refobjsubid = a.attnum
          AND classid = ANY ('{pg_rewrite,pg_trigger,pg_policy}'::regclass[])) THEN
      RAISE EXCEPTION 'It names columns of the table by their position.' USING ERRCODE = 'feature_not_supported';
    END IF;
  END LOOP;
  IF cardinality(dependents) > 0 THEN
    RAISE NOTICE 'made again for the new type of column "%"', a.attname
      USING DETAIL = (SELECT string_agg(object, E'\n' ORDER BY object COLLATE "C") FROM unnest(dependents));
  END IF;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RAISE EXCEPTION '% cannot be made again for the new type of column "%"', d.object, a.attname USING ERRCODE = SQLSTATE,
    DETAIL = concat_ws(E'\n', SQLERRM, nullif(detail, '')), HINT = 'Drop it, convert the column, and make it again as the new type allows.';
END
$$;
COMMENT ON FUNCTION tde_internal.tde_make_dependents(pg_attribute, tde_internal.tde_dependent[]) IS 'make again what was dropped, for a column''s new type';
--
-- Converting a column online, second part: what hangs on the column is made for the copy, too, and the two are swapped.
--

CREATE FUNCTION tde_internal.tde_conversion_keys(relation regclass, column_name name) RETURNS TABLE (
  constraint_oid oid, referencing regclass, referenced regclass, name name, replacement name, definition text, valid boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- Foreign keys of the column and to it.  The definition's beginning is put together anew, with the copy in the column's place.
  SELECT f.oid, f.conrelid, f.confrelid, f.conname, ('tde_convert_' || f.oid)::name,
         CASE WHEN starts_with(def, before) THEN after || regexp_replace(substr(def, length(before) + 1), ' NOT VALID$', '') END,
         f.convalidated
  FROM tde.conversions v
  JOIN pg_attribute a ON a.attrelid = v.relation AND a.attname = v.column_name
  JOIN pg_constraint f ON f.contype = 'f' AND (f.conrelid = v.relation AND a.attnum = ANY (f.conkey)
                                              OR f.confrelid = v.relation AND a.attnum = ANY (f.confkey))
  CROSS JOIN LATERAL (
    SELECT format('FOREIGN KEY (%s) REFERENCES %s(%s)', string_agg(quote_ident(k.attname), ', ' ORDER BY n), f.confrelid::regclass,
                  string_agg(quote_ident(r.attname), ', ' ORDER BY n)),
           format('FOREIGN KEY (%s) REFERENCES %s(%s)',
                  string_agg(quote_ident(CASE WHEN k.attrelid = a.attrelid AND k.attnum = a.attnum THEN v.helper_column ELSE k.attname END),
                             ', ' ORDER BY n), f.confrelid::regclass,
                  string_agg(quote_ident(CASE WHEN r.attrelid = a.attrelid AND r.attnum = a.attnum THEN v.helper_column ELSE r.attname END),
                             ', ' ORDER BY n))
    FROM unnest(f.conkey, f.confkey) WITH ORDINALITY AS u (k, r, n)
    JOIN pg_attribute k ON k.attrelid = f.conrelid AND k.attnum = u.k
    JOIN pg_attribute r ON r.attrelid = f.confrelid AND r.attnum = u.r
  ) AS texts (before, after)
  CROSS JOIN LATERAL pg_get_constraintdef(f.oid) AS d (def)
  WHERE v.relation = $1 AND v.column_name = $2 AND v.phase = 'copy' AND f.conparentid = 0
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion_keys(regclass, name) IS 'foreign keys of a column that is being copied, and what replaces them';

CREATE FUNCTION tde_internal.tde_add_keys(relation regclass, column_name name) RETURNS oid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  key record;
BEGIN
  PERFORM tde_internal.tde_lock_tables(ARRAY(SELECT referencing FROM tde_internal.tde_conversion_keys(relation, column_name)) || relation);
  FOR key IN SELECT * FROM tde_internal.tde_conversion_keys(relation, column_name) ORDER BY constraint_oid LOOP
    IF key.definition IS NULL THEN
      RAISE EXCEPTION 'foreign key "%" of table % cannot be replaced', key.name, key.referencing USING ERRCODE = 'feature_not_supported',
        HINT = 'Drop it, and make it again after tde_finish_conversion().';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = key.referencing AND conname = key.replacement) THEN
      EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', key.referencing, key.replacement, key.definition);
    END IF;
  END LOOP;
  RETURN ARRAY(SELECT c.oid FROM tde_internal.tde_conversion_keys(relation, column_name) k
               JOIN pg_constraint c ON c.conrelid = k.referencing AND c.conname = k.replacement WHERE k.valid);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_add_keys(regclass, name) IS 'add what replaces foreign keys; returns those that are to be validated';

CREATE PROCEDURE tde_internal.tde_validate_all(constraints oid[])
LANGUAGE plpgsql AS $$
DECLARE
  each oid;
BEGIN
  FOREACH each IN ARRAY constraints LOOP
    SET LOCAL search_path = pg_catalog, pg_temp;
    PERFORM tde_internal.tde_validate(conrelid, conname) FROM pg_constraint WHERE oid = each;
    COMMIT;
  END LOOP;
END
$$;
COMMENT ON PROCEDURE tde_internal.tde_validate_all(oid[]) IS 'validate constraints, and commit after each';

CREATE FUNCTION tde_internal.tde_swap_commands(relation regclass, column_name name) RETURNS TABLE (place int, command text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH v AS (
    SELECT c.*, a.attnum, a.attnotnull, a.attacl, a.attstattarget, a.attoptions, replace(helper_column, 'tde_convert_', 'tde_erase_') AS old_name,
           tde_internal.tde_constant_default(a) AS literal, (SELECT tde_internal.tde_definition('pg_attrdef', f.oid) FROM pg_attrdef f WHERE adrelid = attrelid AND adnum = attnum) AS expr
    FROM tde.conversions c JOIN pg_attribute a ON attrelid = c.relation AND attname = c.column_name
    WHERE c.relation = $1 AND c.column_name = $2 AND c.phase = 'copy'
  ), checks AS (
    SELECT k.oid, conname, convalidated, tde_internal.tde_definition('pg_constraint', k.oid) AS definition FROM v JOIN pg_constraint k ON conrelid = v.relation
    WHERE contype = 'c' AND v.attnum = ANY (conkey)
  ), stats AS (
    SELECT s.oid, format('%I.%I', nspname, stxname) AS name, stxstattarget, tde_internal.tde_definition('pg_statistic_ext', s.oid) AS definition
    FROM v JOIN pg_statistic_ext s ON stxrelid = v.relation JOIN pg_namespace n ON n.oid = stxnamespace WHERE v.attnum = ANY (stxkeys)
  ), indexes AS (
    SELECT r.index, r.replacement, i.indisclustered, i.indisreplident, k.oid AS constraint_oid, k.conname, k.contype, k.condeferrable, k.condeferred,
           c.relname, quote_ident(nspname) AS schema
    FROM tde_internal.tde_conversion_replacements(relation, column_name) r
    JOIN pg_index i ON i.indexrelid = r.index JOIN pg_class c ON c.oid = r.index JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_constraint k ON k.conindid = r.index AND k.contype IN ('p', 'u')
  ), keys AS (
    SELECT * FROM tde_internal.tde_conversion_keys(relation, column_name)
  )
  SELECT 10, format('DROP TRIGGER %I ON %s', helper_trigger, relation) FROM v
  UNION ALL SELECT 20, format('ALTER TABLE %1$s DROP CONSTRAINT %2$I', referencing, name) FROM keys
  UNION ALL SELECT 21, format('ALTER TABLE %1$s RENAME CONSTRAINT %3$I TO %2$I', referencing, name, replacement) FROM keys
  UNION ALL SELECT 22, format('COMMENT ON CONSTRAINT %I ON %s IS %L', name, referencing, obj_description(constraint_oid, 'pg_constraint')) FROM keys
  UNION ALL SELECT 30, format('ALTER TABLE %s DROP CONSTRAINT %I', relation, conname) FROM checks
  UNION ALL SELECT 31, format('DROP STATISTICS %s', name) FROM stats
  UNION ALL SELECT 32, CASE WHEN conname IS NULL THEN format('DROP INDEX %s', index) ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', relation, conname) END
            FROM indexes
  UNION ALL SELECT 40, format('ALTER TABLE %s RENAME COLUMN %I TO %I', relation, column_name, old_name) FROM v
  UNION ALL SELECT 41, format('ALTER TABLE %s RENAME COLUMN %I TO %I', relation, helper_column, column_name) FROM v
  UNION ALL SELECT 42, format('ALTER TABLE %1$s ALTER COLUMN %2$I DROP NOT NULL, ALTER COLUMN %2$I DROP DEFAULT', relation, old_name) FROM v
  UNION ALL SELECT 43, format('ALTER SEQUENCE %s OWNED BY %s.%I', objid::regclass, relation, column_name) FROM v JOIN pg_depend d
            ON refclassid = 'pg_class'::regclass AND refobjid = relation AND refobjsubid = attnum AND classid = 'pg_class'::regclass AND deptype = 'a'
            JOIN pg_class s ON s.oid = objid WHERE s.relkind = 'S'
  UNION ALL SELECT 50, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', relation, column_name, coalesce(literal, expr)) FROM v WHERE expr IS NOT NULL
  UNION ALL SELECT 51, format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', relation, column_name) FROM v WHERE attnotnull
  UNION ALL SELECT 52, format('ALTER TABLE %s DROP CONSTRAINT %I', relation, helper_column) FROM v WHERE attnotnull
  UNION ALL SELECT 60, format('ALTER INDEX %s.%I RENAME TO %I', schema, replacement, relname) FROM indexes
  UNION ALL SELECT 61, format('COMMENT ON INDEX %s.%I IS %L', schema, relname, obj_description(index, 'pg_class')) FROM indexes
  UNION ALL SELECT 62, format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I%s%s', relation, conname,
              CASE contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, relname, CASE WHEN condeferrable THEN ' DEFERRABLE' END,
              CASE WHEN condeferred THEN ' INITIALLY DEFERRED' END) FROM indexes WHERE conname IS NOT NULL
  UNION ALL SELECT 63, format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, relation, obj_description(constraint_oid, 'pg_constraint'))
            FROM indexes WHERE conname IS NOT NULL
  UNION ALL SELECT 64, format('ALTER TABLE %s CLUSTER ON %I', relation, relname) FROM indexes WHERE indisclustered
  UNION ALL SELECT 65, format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', relation, relname) FROM indexes WHERE indisreplident
  UNION ALL SELECT 70, format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', relation, conname, definition,
                              CASE WHEN convalidated THEN ' NOT VALID' END) FROM checks
  UNION ALL SELECT 71, format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, relation, obj_description(oid, 'pg_constraint')) FROM checks
  UNION ALL SELECT 72, definition FROM stats
  UNION ALL SELECT 73, format('COMMENT ON STATISTICS %s IS %L', name, obj_description(oid, 'pg_statistic_ext')) FROM stats
  UNION ALL SELECT 74, format('ALTER STATISTICS %s SET STATISTICS %s', name, stxstattarget) FROM stats WHERE stxstattarget >= 0
  UNION ALL SELECT 80, format('GRANT %s (%I) ON %s TO %s%s', privilege_type, column_name, relation,
                              CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
            FROM v, aclexplode(attacl)
  UNION ALL SELECT 81, format('COMMENT ON COLUMN %s.%I IS %L', relation, column_name, col_description(relation, attnum)) FROM v
  UNION ALL SELECT 82, format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', relation, column_name, attstattarget) FROM v WHERE attstattarget >= 0
  UNION ALL SELECT 83, format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', relation, column_name, string_agg(o, ', ')) FROM v, unnest(attoptions) o
            WHERE o ~ '^n_distinct' GROUP BY relation, column_name
  -- from now on the old column is written with NULLs only
  UNION ALL SELECT 90, format('CREATE TRIGGER %2$I BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger(''erase'', %3$L, %4$L)',
                              relation, helper_trigger, old_name, column_name) FROM v WHERE direction = 'encrypt'
  UNION ALL SELECT 91, format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', relation, helper_trigger) FROM v WHERE direction = 'encrypt'
  UNION ALL SELECT 92, format('ALTER TABLE %s DROP COLUMN %I', relation, old_name) FROM v WHERE direction = 'decrypt'
$$;
COMMENT ON FUNCTION tde_internal.tde_swap_commands(regclass, name) IS 'what puts the copy of a column, and all that hangs on it, in the column''s place';

CREATE FUNCTION tde_internal.tde_swap(relation regclass, column_name name) RETURNS oid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  a        pg_attribute := tde_internal.tde_convertible_column(relation, column_name);
  v        record;
  command  text;
  checks   name[];
  others   tde_internal.tde_dependent[];
BEGIN
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  PERFORM tde_internal.tde_lock_tables(ARRAY(SELECT d.relation FROM tde_internal.tde_dependents(a) d ORDER BY depth DESC) || ARRAY(
    SELECT unnest(ARRAY[referencing, referenced]) FROM tde_internal.tde_conversion_keys(relation, column_name)) || relation);
  PERFORM tde_internal.tde_check_conversion(a, v.direction = 'encrypt', true);
  IF EXISTS (SELECT FROM @extschema@.tde_conversion_indexes(relation, column_name)) OR EXISTS (
      SELECT FROM tde_internal.tde_conversion_keys(relation, column_name) k
      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = k.referencing AND conname = k.replacement AND convalidated = k.valid)) THEN
    RAISE EXCEPTION 'column "%" has got new indexes or foreign keys meanwhile', column_name
      USING ERRCODE = 'object_in_use', HINT = format('CALL @extschema@.tde_finish_conversion(%L, %L); again.', relation, column_name);
  END IF;
  checks := ARRAY(SELECT conname FROM pg_constraint
                  WHERE conrelid = relation AND contype = 'c' AND convalidated AND a.attnum = ANY (conkey));
  others := tde_internal.tde_remove_dependents(a);
  -- all at once, since each changes what the next would read
  FOREACH command IN ARRAY ARRAY(SELECT c.command FROM tde_internal.tde_swap_commands(relation, column_name) c ORDER BY place, c.command) LOOP
    PERFORM tde_internal.tde_run(command);
  END LOOP;
  PERFORM tde_internal.tde_make_dependents(a, others);
  PERFORM tde_internal.tde_recompile_triggers(relation);
  IF v.direction = 'decrypt' THEN
    PERFORM tde_internal.tde_warn_of_rest(relation, column_name);
  END IF;
  RETURN ARRAY(SELECT oid FROM pg_constraint WHERE conrelid = relation AND conname = ANY (checks));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_swap(regclass, name) IS 'put the copy of a column in its place, under a lock; returns its CHECKs that are to be validated';

CREATE PROCEDURE @extschema@.tde_finish_conversion(relation regclass, column_name name, batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0,
                                       max_wait float8 DEFAULT 60)
LANGUAGE plpgsql AS $$
DECLARE
  v           record;
  missing     text;
  constraints oid[];
  remaining   int8;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  IF v.phase IS NULL THEN
    RAISE EXCEPTION 'column "%" is not being converted', column_name USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = format('CALL @extschema@.tde_encrypt_column(%L, %L, online => true); begins it.', relation, column_name);
  END IF;
  IF v.phase = 'copy' THEN
    missing := (SELECT string_agg(command, E'\n') FROM @extschema@.tde_conversion_indexes(relation, column_name) command);
    IF missing IS NOT NULL THEN
      RAISE EXCEPTION 'indexes of the copy of column "%" are missing', column_name USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = missing, HINT = format('Run these commands, or: SELECT @extschema@.tde_conversion_indexes(%L, %L) \gexec', relation, column_name);
    END IF;
    -- in case that the copying was broken off
    CALL tde_internal.tde_complete_copy(relation, column_name, v.helper_column, batch_rows, batch_delay);
    SET LOCAL search_path = pg_catalog, pg_temp;
    constraints := tde_internal.tde_add_keys(relation, column_name);
    COMMIT;
    CALL tde_internal.tde_validate_all(constraints);
    SET LOCAL search_path = pg_catalog, pg_temp;
    constraints := tde_internal.tde_swap(relation, column_name);
    COMMIT;
    CALL tde_internal.tde_validate_all(constraints);
    SET LOCAL search_path = pg_catalog, pg_temp;
    RAISE NOTICE 'column "%" has its new type now', column_name;
    SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  END IF;
  IF v.phase = 'erase' THEN
    RAISE NOTICE 'the old values are being erased';
    CALL tde_internal.tde_convert_all_rows(relation, NULL, v.helper_column, batch_rows, batch_delay);
    CALL @extschema@.tde_wipe_free_space(relation, max_wait, remaining);
    SET LOCAL search_path = pg_catalog, pg_temp;
    IF remaining > 0 THEN
      RAISE NOTICE '%', format('next: CALL @extschema@.tde_finish_conversion(%L, %L);', relation, column_name);
      RETURN;
    END IF;
    PERFORM tde_internal.tde_drop_helper(relation, v.helper_column, v.helper_trigger);
    COMMIT;
    CALL @extschema@.tde_wipe_catalogs();
    SET LOCAL search_path = pg_catalog, pg_temp;
  END IF;
  RAISE NOTICE '%', format('next: VACUUM (ANALYZE) %s;', relation);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_finish_conversion(regclass, name, int, float8, float8) IS
  'put the converted copy of a column in its place, and erase the old values';

CREATE FUNCTION tde_internal.tde_drop_helper(relation regclass, helper_column name, helper_trigger name) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM tde_internal.tde_lock_tables(ARRAY[relation]);
  EXECUTE format('DROP TRIGGER %I ON %s', helper_trigger, relation);
  EXECUTE format('ALTER TABLE %s DROP COLUMN %I', relation, helper_column);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_drop_helper(regclass, name, name) IS 'drop the second column of a conversion, and the trigger';

CREATE PROCEDURE @extschema@.tde_abort_conversion(relation regclass, column_name name, batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  v         record;
  key       record;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  IF v.phase IS DISTINCT FROM 'copy' THEN
    RAISE EXCEPTION '%', CASE WHEN v.phase IS NULL THEN format('column "%s" is not being converted', column_name)
                              ELSE format('column "%s" has its new type already', column_name) END
      USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = CASE WHEN v.phase IS NULL THEN 'See the view tde.conversions.'
                    ELSE format('CALL @extschema@.tde_finish_conversion(%L, %L); and then tde_decrypt_column().', relation, column_name) END;
  END IF;
  FOR key IN SELECT * FROM tde_internal.tde_conversion_keys(relation, column_name) LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', key.referencing, key.replacement);
  END LOOP;
  IF v.direction = 'encrypt' THEN
    PERFORM tde_internal.tde_drop_helper(relation, v.helper_column, v.helper_trigger);
    COMMIT;
    RETURN;
  END IF;
  -- the copy is in clear
  PERFORM tde_internal.tde_abandon_copy(relation, column_name);
  COMMIT;
  CALL @extschema@.tde_finish_conversion(relation, column_name, batch_rows, batch_delay);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_abort_conversion(regclass, name, int, float8) IS 'drop the copy of a column that is being converted';

CREATE FUNCTION tde_internal.tde_abandon_copy(relation regclass, column_name name) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  v     record;
  other record;
BEGIN
  PERFORM tde_internal.tde_lock_tables(ARRAY[relation]);
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  FOR other IN SELECT conname FROM pg_constraint WHERE conrelid = relation AND conname = v.helper_column LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', relation, other.conname);
  END LOOP;
  FOR other IN SELECT format('%I.%I', nspname, relname) AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = indrelid AND attnum = ANY (indkey)
      WHERE indrelid = relation AND attname = v.helper_column LOOP
    EXECUTE format('DROP INDEX %s', other.name);
  END LOOP;
  EXECUTE format('DROP TRIGGER %I ON %s', v.helper_trigger, relation);
  EXECUTE format('CREATE TRIGGER %2$I BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger(''erase'', %3$L, %4$L)',
                 relation, v.helper_trigger, v.helper_column, column_name);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', relation, v.helper_trigger);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_abandon_copy(regclass, name) IS 'have the copy of a column erased instead of kept';
--
-- What a user calls
--

CREATE PROCEDURE @extschema@.tde_encrypt_column(relation regclass, column_name name, spec text DEFAULT NULL, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  IF online THEN
    CALL tde_internal.tde_copy_column(relation, column_name,
      tde_internal.tde_encrypted_type_of(tde_internal.tde_convertible_column(relation, column_name), spec), true, batch_rows, batch_delay);
    RETURN;
  END IF;
  PERFORM tde_internal.tde_convert_offline(tde_internal.tde_convertible_column(relation, column_name),
    tde_internal.tde_encrypted_type_of(tde_internal.tde_convertible_column(relation, column_name), spec), true);
  IF tde_internal.tde_may_commit() THEN
    COMMIT;
    CALL @extschema@.tde_wipe_catalogs();
  ELSE
    RAISE NOTICE 'next, after COMMIT: CALL @extschema@.tde_wipe_catalogs();';
  END IF;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_encrypt_column(regclass, name, text, boolean, int, float8) IS
  'encrypt a column of a table: its spec as modifiers of the type (default: tde_column.default_spec); online with a copy of the column';

CREATE PROCEDURE @extschema@.tde_decrypt_column(relation regclass, column_name name, online boolean DEFAULT false,
                                    batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
BEGIN
  IF online THEN
    CALL tde_internal.tde_copy_column(relation, column_name,
      tde_internal.tde_plain_type_of(tde_internal.tde_convertible_column(relation, column_name)), false, batch_rows, batch_delay);
  ELSE
    PERFORM tde_internal.tde_convert_offline(tde_internal.tde_convertible_column(relation, column_name),
      tde_internal.tde_plain_type_of(tde_internal.tde_convertible_column(relation, column_name)), false);
  END IF;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_decrypt_column(regclass, name, boolean, int, float8) IS
  'give a column its base type back; online with a copy of the column';
--
-- Roles: who may decrypt
--

CREATE FUNCTION @extschema@.tde_may_decrypt() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.tde_may_decrypt() IS 'may the current user see encrypted values in clear, as tde_column.decrypt_role says';

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
         CASE s.mac WHEN 'sha1' THEN 'SHA-1' WHEN 'sha256' THEN 'SHA-256' WHEN 'nomac' THEN 'NOMAC' END AS integrity_alg
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
  WHERE a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped AND NOT c.relispartition AND s.base_type IS NOT NULL
    AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'f', 'm']::"char"[]);
COMMENT ON VIEW tde_internal.oracle_columns IS 'encrypted columns in Oracle''s words, for the views that Oracle has of them';

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

--
-- Master keys of the wallet
--

CREATE FUNCTION tde_internal.tde_master_key_list(OUT id uuid, OUT state text, OUT created timestamptz,
                                                 OUT backed_up timestamptz) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_master_key_list() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_master_key_list() IS 'master keys in the open wallet';

CREATE VIEW tde.master_keys AS SELECT * FROM tde_internal.tde_master_key_list() ORDER BY created, id;
GRANT EXECUTE ON FUNCTION tde_internal.tde_master_key_list() TO pg_monitor;
GRANT SELECT ON tde.master_keys TO pg_monitor;
COMMENT ON VIEW tde.master_keys IS
  'master keys in the open wallet: current, retired, prepared for the next rotation, or the wrapping key of an erasable data key; when the backup command first saved each';

CREATE FUNCTION @extschema@.tde_purge_master_key(id uuid) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_purge_master_key(uuid) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_purge_master_key(uuid) IS
  'remove a retired or erasable master key from the wallet if no data key of any database needs it';
--
-- Progress
--

CREATE FUNCTION tde_internal.tde_progress_status(OUT pid int4, OUT database_id oid, OUT table_id oid, OUT phase text, OUT blocks_total int8,
                                    OUT blocks_done int8, OUT rows_seen int8, OUT rows_changed int8, OUT started timestamptz)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_internal.tde_progress_status() IS 'how far running commands that take long are';

CREATE VIEW tde.progress AS
  SELECT s.pid, d.datname AS database_name, s.table_id,
         CASE WHEN d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() THEN s.table_id::pg_catalog.regclass END AS table_name,
         s.phase, s.blocks_total, s.blocks_done, s.rows_seen, s.rows_changed, s.started
  FROM tde_internal.tde_progress_status() s LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.database_id;
GRANT SELECT ON tde.progress TO PUBLIC;
COMMENT ON VIEW tde.progress IS
  'how far tde_rekey_table(), online conversions and tde_key_usage() are, of roles that the current user is a member of, or of all for pg_read_all_stats';
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
COMMENT ON FUNCTION tde_internal.tde_wallet_file_facts() IS 'what is where the wallet file should be';

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
  'state of the wallet: OPEN, CLOSED or NOT_AVAILABLE; what is true of its file: open (it is what is open), changed, missing, unreadable, present (the wallet is closed); master keys that data keys of this database need and it lacks; the server that may change it, and whether that is this one';

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
COMMENT ON VIEW tde.status IS 'versions, wallet, and how many keys, columns, unfinished conversions and encryptions there are, in one row';

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
    SELECT @extschema@.tde_version() AS library, x.extversion, a.default_version, w.instance_wide, x.extnamespace
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
     'Add tde_column to shared_preload_libraries and restart.'),
    (has_schema_privilege('public', extnamespace, 'CREATE'), 'warning', 'schema privileges', extnamespace::regnamespace::text,
     'everybody may make objects in the schema of types and operators, which statements of others then use',
     format('REVOKE CREATE ON SCHEMA %s FROM PUBLIC;', extnamespace::regnamespace))
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
  SELECT 'notice', 'master keys', id::text, format('current since %s', created::date), 'SELECT tde_rotate_master_key();'
  FROM tde.master_keys WHERE state = 'current' AND created < now() - interval '1 year'
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
  SELECT 'notice', 'data keys', format('%s (%s)', coalesce(name, format('slot %s', slot)), kind),
         format('its newest version is of %s', created::date),
         format('SELECT tde_rotate_key(%L); then CALL tde_rekey_table(...) for old values.', name)
  FROM tde.keys WHERE state = 'active' AND kind <> 'hash' AND created < now() - interval '1 year'
  UNION ALL
  SELECT 'notice', 'data keys', coalesce(name, format('slot %s', slot)), 'destroyed: what is still encrypted under it cannot be read any more',
         'Drop the columns that have it: tde.encrypted_columns.key_slot.'
  FROM tde.keys WHERE state = 'destroyed' GROUP BY slot, name
  UNION ALL
  SELECT 'warning', 'data keys', format('%s (%s), version %s', coalesce(name, format('slot %s', slot)), kind, version),
         format('has encrypted %s values since the server started; no more than 2^40 should be under one key', encryptions),
         format('SELECT tde_rotate_key(%L);', name)
  FROM tde.keys WHERE state = 'active' AND encryptions > 549755813888
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_keys() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_keys() IS 'tde_audit(): data keys';

-- Columns that are as their parent's are not told again.
CREATE FUNCTION tde_internal.tde_audit_columns() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT w.severity, 'columns', c.oid::regclass::text, format('%s: %s', w.finding, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)), w.hint
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
  CROSS JOIN LATERAL (VALUES
    (s.cipher IS NULL, 'warning', 'declared without modifiers, and encrypted as constants are, equal values alike', 'ALTER TABLE ... TYPE with modifiers.'),
    (s.mac = 'nomac', 'warning', 'without a MAC, so that changed bytes go unnoticed', 'ALTER TABLE ... TYPE with sha256, or mac.'),
    (s.cipher = '3des168', 'warning', 'under triple DES, of which NIST allows no new use', 'ALTER TABLE ... TYPE with aes256.'),
    (NOT s.salt, 'notice', 'without salt, so that files tell which values are equal', 'ALTER TABLE ... TYPE with salt, if nothing needs it so.')
  ) AS w (applies, severity, finding, hint)
  WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attinhcount = 0 AND s.base_type IS NOT NULL
    AND c.relkind IN ('r', 'p', 'f', 'm', 'c') AND c.relpersistence <> 't' AND w.applies
  GROUP BY c.oid, w.severity, w.finding, w.hint
  UNION ALL
  SELECT 'warning', 'conversions', relation::text, format('column %I is still being converted (phase %s)', column_name, phase),
         CASE WHEN phase = 'erase' THEN format('CALL tde_finish_conversion(%L, %L);', relation, column_name)
              ELSE format('Repeat the CALL that began it and go on, or CALL tde_abort_conversion(%L, %L);', relation, column_name) END
  FROM tde.conversions
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_columns() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_columns() IS 'tde_audit(): how columns are encrypted, and what is being converted';

-- To delete a page of a btree, VACUUM compares values, for which it needs the wallet.
CREATE FUNCTION tde_internal.tde_audit_freezing() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT 'warning', 'freezing', c.oid::regclass::text,
         format('%s transactions since it was frozen, and VACUUM can fail as long as nobody has opened the wallet, because of index %s',
                age(c.relfrozenxid), string_agg(x.oid::regclass::text, ', ' ORDER BY x.relname)),
         format('Open the wallet and run VACUUM %s; or VACUUM (INDEX_CLEANUP off) %1$s.', c.oid::regclass)
  FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
  WHERE c.relkind IN ('r', 'm') AND m.amname = 'btree' AND age(c.relfrozenxid) > current_setting('autovacuum_freeze_max_age')::int8 / 2
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
    ('pg_stat_statements.track_utility', s.value !~* '^(off|false|no|0)$', 'warning', 'statement statistics',
     'the file of pg_stat_statements can hold constants of defaults, views, partition bounds and DO blocks in clear',
     'Set it to off, then SELECT pg_stat_statements_reset();')
  ) AS f (name, applies, severity, topic, finding, hint)
  WHERE f.name = s.name AND f.applies
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_logging() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_logging() IS 'tde_audit(): settings that write constants of statements down';

CREATE FUNCTION tde_internal.tde_audit_search_path() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH s AS (SELECT * FROM tde_internal.tde_audited_settings() WHERE name = 'search_path')
  SELECT 'warning', 'search path', s.scope,
         format('search_path = %s lacks schema %I: comparisons with encrypted columns take the operators of the base types, and no index', s.value, n.nspname),
         format('Add %I to it.', n.nspname)
  FROM s CROSS JOIN pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace
  WHERE x.extname = 'tde_column' AND NOT (s.of_server AND EXISTS (SELECT FROM s WHERE of_database))
    AND NOT EXISTS (SELECT FROM regexp_matches(s.value, '"(?:[^"]|"")*"|[^",\s]+', 'g') AS m (word)
                    WHERE n.nspname = CASE WHEN word[1] ~ '^"' THEN replace(trim(both '"' FROM word[1]), '""', '"') ELSE lower(word[1]) END)
$$;
REVOKE ALL ON FUNCTION tde_internal.tde_audit_search_path() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_audit_search_path() IS 'tde_audit(): the extension''s schema on the search paths of the server, this database and roles';

-- SECURITY DEFINER, so that it takes EXECUTE on this one function alone.  It reads catalogs, settings and the wallet's state.
CREATE FUNCTION @extschema@.tde_audit() RETURNS SETOF tde_internal.tde_finding
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  WITH found AS MATERIALIZED (
    SELECT * FROM tde_internal.tde_audit_library()
    UNION ALL SELECT * FROM tde_internal.tde_audit_wallet()
    UNION ALL SELECT * FROM tde_internal.tde_audit_master_keys()
    UNION ALL SELECT * FROM tde_internal.tde_audit_keys()
    UNION ALL SELECT * FROM tde_internal.tde_audit_columns()
    UNION ALL SELECT * FROM tde_internal.tde_audit_freezing()
    UNION ALL SELECT * FROM tde_internal.tde_audit_logging()
    UNION ALL SELECT * FROM tde_internal.tde_audit_search_path())
  SELECT severity, topic, object, finding, hint FROM (
    SELECT * FROM found
    UNION ALL
    SELECT 'ok', topic, NULL, good, NULL FROM (VALUES
      ('version', 'library and extension are of one version'),
      ('preloading', 'the library is preloaded'),
      ('schema privileges', 'only some roles may make objects in the extension''s schema'),
      ('wallet file', 'it is there, belongs to the server alone, and is the one that was opened'),
      ('wallet', 'open'),
      ('passphrase command', 'configured'),
      ('master keys', 'the current one wraps the data keys of this database'),
      ('data keys', 'all have a name, a version of the last year and room'),
      ('columns', 'all are salted, have a MAC and use AES'),
      ('conversions', 'none is unfinished'),
      ('freezing', 'no table waits for the wallet'),
      ('statement log', 'no setting has statements logged'),
      ('statement statistics', 'they hold no constants'),
      ('search path', 'all have the extension''s schema')
    ) AS t (topic, good)
    WHERE NOT EXISTS (SELECT FROM found WHERE found.topic = t.topic)) AS r
  ORDER BY array_position(ARRAY['error', 'warning', 'notice', 'ok'], severity), topic, object, finding
$$;
REVOKE ALL ON FUNCTION @extschema@.tde_audit() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tde_audit() TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tde_audit() IS
  'is this server safe? what is wrong (error, warning, notice) or right (ok) with wallet, keys, columns and settings, for this database';
--
-- Last: from here on declarations are watched, and the first keys are made if the wallet is open already.
--

CREATE EVENT TRIGGER tde_column_ddl ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE',
               'CREATE TYPE', 'ALTER TYPE', 'CREATE DOMAIN', 'CREATE SCHEMA', 'CREATE INDEX', 'CREATE STATISTICS')
  EXECUTE FUNCTION tde_internal.tde_ddl_trigger();
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER tde_column_ddl IS
  'gives encrypted columns that were declared without modifiers the default specification';

DO $$
BEGIN
  IF NOT @extschema@.tde_ensure_keys() THEN
    RAISE WARNING 'the wallet is not open, so no data keys were made yet'
      USING HINT = 'Open it with tde_wallet_open().  Only if this server never had a wallet, make one with tde_wallet_create().';
  END IF;
  IF NOT '@extschema@' = ANY (ARRAY(SELECT trim(both ' "' FROM p) FROM unnest(string_to_array(
      (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'search_path'), ',')) p)) THEN
    RAISE WARNING 'schema "%" is not on the default search_path', '@extschema@'
      USING DETAIL = 'Comparisons with encrypted columns would then silently use the operators of the base type, without indexes.',
            HINT = 'Add the schema to search_path.';
  END IF;
END
$$;
