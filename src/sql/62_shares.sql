--
-- Opening the wallet by shares
--

CREATE FUNCTION @extschema@.tde_wallet_split(k int4, n int4) RETURNS SETOF text
  AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 5;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_split(int4, int4) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_split(int4, int4) IS
  'encrypt the wallet under a passphrase that nobody sees, and return n shares of which any k open it';

CREATE FUNCTION @extschema@.tde_wallet_open_share(share text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_open_share(text) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_open_share(text) IS
  'give a share, by default the one that COPY has brought; the wallet opens with the last one; for the holders of shares';

CREATE FUNCTION @extschema@.tde_wallet_forget_shares() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_wallet_forget_shares() FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_wallet_forget_shares() IS 'forget the shares that were given, to start over';
