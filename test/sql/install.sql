-- The extension in the database that all tests use.
CREATE EXTENSION tde_column;
SELECT slot, version, kind, state FROM tde.data_keys ORDER BY id;
SELECT status, instance_wide, master_keys FROM tde.wallet;
