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

DO $$
BEGIN
  IF NOT @extschema@.tde_ensure_keys() THEN
    RAISE WARNING 'the wallet is not open, so no data keys were made yet'
      USING HINT = 'Open it with tde_wallet_open().  Only if this server never had a wallet, make one with tde_wallet_create().';
  END IF;
END
$$;
