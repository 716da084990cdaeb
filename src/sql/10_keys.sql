--
-- Data keys
--
-- Wrapped by the master keys of the wallet.  Rows are added outside of transactions, by C code only.  A user catalog table,
-- so that logical decoding can read it; not dumped, since a dump holds plaintext and its restore uses the target's keys.

CREATE TABLE tde_data_keys (
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
  UNIQUE (slot, kind, version)
) WITH (user_catalog_table = true);
CREATE SEQUENCE tde_data_keys_id_seq AS int4 OWNED BY tde_data_keys.id;
REVOKE ALL ON tde_data_keys, tde_data_keys_id_seq FROM PUBLIC;
COMMENT ON TABLE tde_data_keys IS 'data keys, wrapped by a master key of the wallet';
COMMENT ON COLUMN tde_data_keys.id IS 'number by which values name the key';
COMMENT ON COLUMN tde_data_keys.uuid IS 'name of the key outside of this database';
COMMENT ON COLUMN tde_data_keys.slot IS '0: default key, above: named by modifiers, -1: literals, -2: keyed hash';
COMMENT ON COLUMN tde_data_keys.version IS 'version of the slot''s key; new values take the highest active one';
COMMENT ON COLUMN tde_data_keys.kind IS 'm: values with MAC, n: values without, c: literals, h: keyed hash';
COMMENT ON COLUMN tde_data_keys.state IS 'a: active, r: retired (reads only), d: destroyed';
COMMENT ON COLUMN tde_data_keys.database IS 'identity of the database that made the key';
COMMENT ON COLUMN tde_data_keys.master_key IS 'master key that wraps it';
COMMENT ON COLUMN tde_data_keys.check_value IS 'HKDF of the key, to tell a wrong key';
COMMENT ON COLUMN tde_data_keys.wrapped IS 'AES-256 key wrap (RFC 5649) of the key and of this row''s other fields';

--
-- Wallet
--

CREATE FUNCTION tde_wallet_create(passphrase text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_wallet_create(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_create(text) IS
  'make the wallet file and open it; without a passphrase one is made and returned';

CREATE FUNCTION tde_wallet_open(passphrase text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_wallet_open(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_open(text) IS
  'open the wallet for the whole instance; without a passphrase through tde_column.passphrase_command';

CREATE FUNCTION tde_wallet_close() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_wallet_close() FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_close() IS 'forget the master keys in the whole instance';

CREATE FUNCTION tde_wallet_status(OUT file text, OUT status text, OUT instance_wide boolean, OUT opened_at timestamptz,
                                  OUT master_keys int4, OUT current_master_key uuid)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_wallet_status() FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_status() IS 'state of the wallet';

CREATE VIEW tde_wallet AS SELECT * FROM tde_wallet_status();
GRANT EXECUTE ON FUNCTION tde_wallet_status() TO pg_monitor;
GRANT SELECT ON tde_wallet TO pg_monitor;
COMMENT ON VIEW tde_wallet IS 'state of the wallet: OPEN, CLOSED or NOT_AVAILABLE';

CREATE FUNCTION tde_ensure_keys() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_ensure_keys() FROM PUBLIC;
COMMENT ON FUNCTION tde_ensure_keys() IS 'make the data keys that this database lacks, if the wallet can be opened';

--
-- Counters
--

CREATE FUNCTION tde_stats_counters(OUT encryptions int8, OUT decryptions int8, OUT key_setups int8, OUT key_loads int8)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_stats_counters() IS 'work done by this backend';

CREATE VIEW tde_stats AS SELECT * FROM tde_stats_counters();
GRANT SELECT ON tde_stats TO PUBLIC;
COMMENT ON VIEW tde_stats IS 'values encrypted and decrypted, keys made ready and key table scans, by this backend';

--
