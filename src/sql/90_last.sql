--
-- Last: from here on declarations are watched, and the first keys are made if the wallet is open already.
--

CREATE EVENT TRIGGER tde_column_ddl ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'IMPORT FOREIGN SCHEMA',
               'CREATE TYPE', 'ALTER TYPE', 'CREATE DOMAIN', 'CREATE SCHEMA', 'CREATE INDEX', 'CREATE STATISTICS', 'CREATE TRIGGER',
               'CREATE FUNCTION', 'CREATE PROCEDURE', 'CREATE AGGREGATE', 'CREATE OPERATOR', 'CREATE CAST',
               'ALTER FUNCTION', 'ALTER PROCEDURE', 'ALTER ROUTINE', 'ALTER AGGREGATE', 'ALTER OPERATOR',
               'ALTER DOMAIN', 'CREATE RULE', 'CREATE POLICY', 'ALTER POLICY')
  EXECUTE FUNCTION tde_internal.tde_ddl_trigger();
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER tde_column_ddl IS
  'gives the default specification to encrypted columns declared without modifiers; refuses functions that would be called in place of others';

-- A session that has not loaded the library must do so before the extension goes: types of users take our function for ANALYZE back then.
CREATE EVENT TRIGGER tde_column_drop ON ddl_command_start WHEN TAG IN ('DROP EXTENSION', 'DROP OWNED')
  EXECUTE FUNCTION tde_internal.tde_ddl_trigger();
ALTER EVENT TRIGGER tde_column_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER tde_column_drop IS 'loads the library, which cleans up when the extension is dropped';

-- What comes next; CREATE EXTENSION would swallow a NOTICE.
DO $$
DECLARE
  wallet tde.wallet;
BEGIN
  IF @extschema@.tde_ensure_keys() THEN
    RETURN;
  END IF;
  SELECT * INTO wallet FROM tde.wallet;
  IF coalesce(wallet.file, '') = '' THEN
    RAISE WARNING 'no wallet file is configured'
      USING HINT = 'Set tde_column.wallet_file to a path outside the data directory, reload the configuration, and call tde_wallet_create().';
  ELSIF wallet.file_state = 'missing' THEN
    RAISE INFO 'there is no wallet yet'
      USING HINT = 'Make it with tde_wallet_create().  If this server had one before, put a copy of that at tde_column.wallet_file instead.';
  ELSIF wallet.file_state = 'present' THEN
    RAISE INFO 'the wallet is not open' USING HINT = 'Open it with tde_wallet_open().';
  ELSE
    RAISE WARNING 'the wallet file cannot be used' USING HINT = 'tde_audit() says why.';
  END IF;
END
$$;
