--
-- Data keys
--
-- Wrapped by the master keys of the wallet.  Rows are added outside of transactions, by C code only.  A user catalog table,
-- so that logical decoding can read it; not dumped, since a dump holds plaintext and its restore uses the target's keys.
--
-- This table and the next two have no primary key, and no unique index of which all columns are NOT NULL: checks see to that in its place.
-- Tools that copy a table beside its writers and put the copy in its place (pg_repack, pg_squeeze) want such a key, and leave other tables
-- alone.  They must: by triggers and by logical decoding they would miss rows that C code adds outside of transactions, or changes in place.

CREATE TABLE tde.data_keys (
  id          int4 UNIQUE CHECK (id IS NOT NULL AND id > 0),
  uuid        uuid UNIQUE CHECK (uuid IS NOT NULL),
  slot        int4 CHECK (slot IS NOT NULL),
  version     int4 NOT NULL CHECK (version > 0),
  kind        "char" NOT NULL CHECK (kind IN ('m', 'n', 'c', 'h')),
  state       "char" NOT NULL CHECK (state IN ('a', 'p', 'r', 'd')),
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
-- Subscriptions want to know which row a change is of, although tde_guard_keys() leaves it out.
ALTER TABLE tde.data_keys REPLICA IDENTITY FULL;
CREATE INDEX data_keys_name_idx ON tde.data_keys (name COLLATE "C");
CREATE SEQUENCE tde.data_keys_id_seq AS int4 OWNED BY tde.data_keys.id;
REVOKE ALL ON tde.data_keys, tde.data_keys_id_seq FROM PUBLIC;
COMMENT ON TABLE tde.data_keys IS 'data keys, wrapped by a master key of the wallet';
COMMENT ON COLUMN tde.data_keys.id IS 'number by which values name the key';
COMMENT ON COLUMN tde.data_keys.uuid IS 'name of the key outside of this database';
COMMENT ON COLUMN tde.data_keys.slot IS '0: default key, above: named by modifiers, -1: literals, -2: keyed hash';
COMMENT ON COLUMN tde.data_keys.version IS 'version of the slot''s key; new values take the highest active one';
COMMENT ON COLUMN tde.data_keys.kind IS 'm: values with MAC, n: values without, c: literals, h: keyed hash';
COMMENT ON COLUMN tde.data_keys.state IS 'a: active, p: prepared (not yet for new values), r: retired (reads only), d: destroyed';
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
  number      int4 UNIQUE CHECK (number IS NOT NULL AND number BETWEEN 1 AND 16777215),
  spec        int4 CHECK (spec IS NOT NULL),
  key_slot    int4 NOT NULL,
  base_typmod int4 NOT NULL,
  UNIQUE (spec, key_slot, base_typmod)
) WITH (user_catalog_table = true);
REVOKE ALL ON tde.specifications FROM PUBLIC;
COMMENT ON TABLE tde.specifications IS 'modifiers of encrypted types that do not fit into a typmod';
COMMENT ON COLUMN tde.specifications.number IS 'number by which typmods name the row';
COMMENT ON COLUMN tde.specifications.spec IS 'cipher, mode, salt and MAC: bits 24 to 30 of a typmod; above them order and padding';
COMMENT ON COLUMN tde.specifications.key_slot IS 'slot of the data key';
COMMENT ON COLUMN tde.specifications.base_typmod IS 'typmod of the base type; -1: none';

-- How many values each key has encrypted.  Rows are added with those of keys, and changed in place by C code only (src/keys/limits.c).
CREATE TABLE tde.key_counts (
  id          int4 UNIQUE CHECK (id IS NOT NULL),
  encryptions int8 NOT NULL,
  des_blocks  int8 NOT NULL
) WITH (user_catalog_table = true);
REVOKE ALL ON tde.key_counts FROM PUBLIC;
COMMENT ON TABLE tde.key_counts IS 'how many values data keys have encrypted, counted ahead in blocks';
COMMENT ON COLUMN tde.key_counts.id IS 'number of the key';
COMMENT ON COLUMN tde.key_counts.encryptions IS 'values, at most';
COMMENT ON COLUMN tde.key_counts.des_blocks IS 'blocks of triple DES, at most';

-- Only the functions of this extension change keys: what is encrypted under a key is lost with its row.  The table is part of a
-- publication FOR ALL TABLES, too.  What that brings from another server must not become keys of this one, nor end the replication
-- by its numbers: a replication worker drops the change.
CREATE FUNCTION tde_internal.tde_guard_keys() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE ALL ON FUNCTION tde_internal.tde_guard_keys() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_guard_keys() IS
  'refuses changes of tde.data_keys, tde.specifications and tde.key_counts except by functions of this extension; in a replication worker, ignores them';
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
COMMENT ON TRIGGER tde_guard_specifications ON tde.specifications IS 'declared columns refer to its rows by number';
COMMENT ON TRIGGER tde_guard_all_specifications ON tde.specifications IS 'declared columns refer to its rows by number';
CREATE TRIGGER tde_guard_counts BEFORE INSERT OR DELETE OR UPDATE
  ON tde.key_counts FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_guard_keys();
CREATE TRIGGER tde_guard_all_counts BEFORE TRUNCATE ON tde.key_counts
  FOR EACH STATEMENT EXECUTE FUNCTION tde_internal.tde_guard_keys();
ALTER TABLE tde.key_counts ENABLE ALWAYS TRIGGER tde_guard_counts;
ALTER TABLE tde.key_counts ENABLE ALWAYS TRIGGER tde_guard_all_counts;
COMMENT ON TRIGGER tde_guard_counts ON tde.key_counts IS 'only C code counts';
COMMENT ON TRIGGER tde_guard_all_counts ON tde.key_counts IS 'only C code counts';
COMMENT ON TRIGGER tde_guard_keys ON tde.data_keys IS 'only functions change keys';
COMMENT ON TRIGGER tde_guard_all_keys ON tde.data_keys IS 'only functions change keys';

--
-- Wallet
--

-- Secrets come by COPY tde.passphrase FROM STDIN: its data stand in no statement and in no parameter.  The next function that needs one,
-- and is given none as an argument, takes it.
CREATE VIEW tde.passphrase AS SELECT NULL::text AS secret WHERE false;
COMMENT ON VIEW tde.passphrase IS 'takes a passphrase, a share or the secret of exported keys, by COPY, for the next function that needs one';
CREATE FUNCTION tde_internal.tde_give_secret() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE ALL ON FUNCTION tde_internal.tde_give_secret() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_give_secret() IS 'keeps what COPY brings to tde.passphrase, in memory of the session, for a minute';
-- new in 0.2.0
CREATE TRIGGER tde_give_secret INSTEAD OF INSERT ON tde.passphrase FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_give_secret();
COMMENT ON TRIGGER tde_give_secret ON tde.passphrase IS 'nothing is stored';

-- The argument confirm has a function of its own: with a default, another one's function of the passphrase alone would be the better match.
CREATE FUNCTION @extschema@.tde_wallet_create(passphrase text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION @extschema@.tde_wallet_create(passphrase text, confirm text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_create(text), @extschema@.tde_wallet_create(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_create(text) IS
  'make the wallet file and open it; by default under the passphrase that COPY has brought or tde_column.passphrase_command prints, or under a new one, which is returned';
COMMENT ON FUNCTION @extschema@.tde_wallet_create(text, text) IS
  'make a new wallet although databases have data keys of another one; the error without confirm says what to pass';

CREATE FUNCTION @extschema@.tde_wallet_open(passphrase text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION @extschema@.tde_wallet_open(passphrase text, confirm text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_open(text), @extschema@.tde_wallet_open(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_open(text) IS
  'open the wallet for the whole server; by default with the passphrase that COPY has brought or tde_column.passphrase_command prints';
COMMENT ON FUNCTION @extschema@.tde_wallet_open(text, text) IS
  'open the wallet although its file lacks master keys that are open; the error without confirm says what to pass';

CREATE FUNCTION @extschema@.tde_wallet_save(path text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_save(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_save(text) IS
  'write the open wallet to a new file, by default tde_column.wallet_file; returns the path';

CREATE FUNCTION @extschema@.tde_wallet_take_over() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_take_over() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_take_over() IS
  'let this server change the wallet, and no other one';

CREATE FUNCTION @extschema@.tde_wallet_close() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_close() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_close() IS 'close the wallet: all processes forget the master keys';

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
  'encrypt the wallet file under another passphrase; by default the one that COPY has brought or the passphrase command prints now';

CREATE FUNCTION @extschema@.tde_wallet_backup() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_backup() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_backup() IS 'run tde_column.wallet_backup_command now';

--
-- Keys
--

CREATE FUNCTION @extschema@.tde_create_key(name text, erasable boolean DEFAULT false) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_create_key(text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_create_key(text, boolean) IS
  'make a data key for the modifier key=NAME and return its slot; an erasable one is wrapped by a wallet entry of its own';

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
  'have all new values take the next version of a data key, the prepared one or a new one, and return its number';

CREATE FUNCTION @extschema@.tde_prepare_key(name text DEFAULT 'default') RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_prepare_key(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_prepare_key(text) IS
  'make the next version of a data key, which no value takes until tde_rotate_key(), and return its number';

CREATE FUNCTION @extschema@.tde_destroy_key(name text, confirm text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_destroy_key(text, text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_destroy_key(text, text) IS 'make everything under a named data key unreadable for ever';

CREATE FUNCTION @extschema@.tde_rotate_master_key() RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rotate_master_key() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rotate_master_key() IS
  'make a new master key, wrap the data keys of this database by it, and return its id';

CREATE FUNCTION @extschema@.tde_rewrap_keys() RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rewrap_keys() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rewrap_keys() IS
  'wrap the data keys of this database by the current master key, after a rotation in another database; returns how many';

CREATE FUNCTION @extschema@.tde_rewrap_all_databases(OUT database name, OUT data_keys int4) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_rewrap_all_databases() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_rewrap_all_databases() IS
  'wrap the data keys of each database by the current master key; returns how many were under another one, NULL where that failed';

CREATE FUNCTION @extschema@.tde_prepare_master_key() RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_prepare_master_key() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_prepare_master_key() IS
  'put the next master key into the wallet, to be copied to standbys before tde_rotate_master_key()';

CREATE FUNCTION tde_internal.tde_key_encryptions(id int4) RETURNS int8
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_key_encryptions(int4) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_key_encryptions(int4) IS 'values that a data key of this database has encrypted since the server started';

-- Which version is the active one is said again here, as tde_keys_is_newer() has it: a function in C would look at the table
-- under another snapshot than the view's own, and once for each row.
CREATE VIEW tde.keys AS
  SELECT k.slot,
         CASE k.slot WHEN 0 THEN 'default' WHEN -1 THEN 'catalog' WHEN -2 THEN 'hash' ELSE k.name END AS name,
         CASE k.kind WHEN 'm' THEN 'mac' WHEN 'n' THEN 'nomac' WHEN 'c' THEN 'catalog' ELSE 'hash' END AS kind,
         k.version,
         CASE WHEN k.state OPERATOR(pg_catalog.=) 'd' THEN 'destroyed'
              WHEN k.state OPERATOR(pg_catalog.=) 'p' THEN 'prepared'
              WHEN k.state OPERATOR(pg_catalog.=) 'a' AND NOT EXISTS (
                SELECT FROM tde.data_keys n
                WHERE n.slot OPERATOR(pg_catalog.=) k.slot AND n.kind OPERATOR(pg_catalog.=) k.kind
                  AND n.state OPERATOR(pg_catalog.=) 'a' AND n.version OPERATOR(pg_catalog.>) k.version) THEN 'active'
              ELSE 'retired' END AS state,
         k.created, k.master_key, tde_internal.tde_key_encryptions(k.id) AS encryptions, k.id, k.uuid,
         (SELECT pg_catalog.max(d.description) FROM tde.data_keys d
          WHERE d.slot OPERATOR(pg_catalog.=) k.slot AND d.name OPERATOR(pg_catalog.=) k.name) AS description,
         (SELECT c.encryptions FROM tde.key_counts c WHERE c.id OPERATOR(pg_catalog.=) k.id) AS total_encryptions
  FROM tde.data_keys k;
GRANT EXECUTE ON FUNCTION tde_internal.tde_key_encryptions(int4) TO pg_monitor;
GRANT SELECT ON tde.keys TO pg_monitor;
COMMENT ON VIEW tde.keys IS
  'data keys of this database, their master keys, and how many values they have encrypted: since the server started, and ever, at most';

CREATE FUNCTION @extschema@.tde_key_fingerprint() RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION @extschema@.tde_key_fingerprint() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tde_key_fingerprint() TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tde_key_fingerprint() IS
  'a value that two databases have in common if, and only if, they have the same data keys; it tells nothing of them';

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
