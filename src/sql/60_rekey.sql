--
-- Re-encryption
--
-- The procedure checks itself that its caller owns the table; so PUBLIC may call it, as it may VACUUM.

CREATE PROCEDURE @extschema@.tde_rekey_table(relation regclass, batch_rows int4 DEFAULT 10000, delay interval DEFAULT '0',
                                 repair boolean DEFAULT false)
  AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.tde_rekey_table(regclass, int4, interval, boolean) IS
  're-encrypt, in committed batches, values that are not under the newest key version or not as their column declares';

CREATE PROCEDURE @extschema@.tde_rekey_database(batch_rows int4 DEFAULT 10000, delay interval DEFAULT '0', repair boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
  tables oid[];
  skips  text;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;    -- until the next COMMIT
  -- Partitions one by one; a table takes along those that inherit it.  Smallest first: with most tables done, most is known of the rest.
  SELECT array_agg(c.oid ORDER BY pg_total_relation_size(c.oid), c.oid) FILTER (WHERE mine),
         string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid::regclass::text COLLATE "C") FILTER (WHERE NOT mine)
  INTO tables, skips
  FROM pg_class c CROSS JOIN LATERAL pg_has_role(c.relowner, 'USAGE') AS mine
  WHERE c.relkind = 'r' AND EXISTS (
      SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.atttypid >= 16384 AND t.typtype <> 'e')
    AND c.relnamespace <> 'tde'::regnamespace AND (c.relpersistence <> 't' OR c.relnamespace = pg_my_temp_schema())
    AND NOT EXISTS (SELECT FROM pg_inherits JOIN pg_class p ON p.oid = inhparent WHERE inhrelid = c.oid AND p.relkind = 'r');
  IF skips IS NOT NULL THEN
    RAISE WARNING 'tables of other owners are not re-encrypted' USING DETAIL = skips, HINT = 'Have their owners, or a superuser, call tde_rekey_database().';
  END IF;
  FOR n IN 1 .. coalesce(cardinality(tables), 0) LOOP
    CONTINUE WHEN NOT EXISTS (SELECT FROM pg_class WHERE oid = tables[n]);    -- dropped meanwhile
    RAISE NOTICE 'table % of %: %, %', n, cardinality(tables), tables[n]::regclass, pg_size_pretty(pg_total_relation_size(tables[n]));
    CALL @extschema@.tde_rekey_table(tables[n], batch_rows, delay, repair);
    COMMIT;
    SET LOCAL search_path = pg_catalog, pg_temp;
  END LOOP;
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_rekey_database(int4, interval, boolean) IS
  'tde_rekey_table() of all tables of the caller that have encrypted columns, one after the other; can be repeated';
