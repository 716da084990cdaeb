--
-- Re-encryption
--
-- The procedure checks itself that its caller owns the table; so PUBLIC may call it, as it may VACUUM.

CREATE PROCEDURE @extschema@.tde_rekey_table(relation regclass, batch_rows int4 DEFAULT 10000, delay interval DEFAULT '0',
                                 repair boolean DEFAULT false)
  AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.tde_rekey_table(regclass, int4, interval, boolean) IS
  're-encrypt, in committed batches, values that are not under the newest key version or not as their column declares';
