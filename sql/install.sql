-- The extension in the database that all tests use, and an open wallet: this server's own, or one that is made for the tests.
CREATE EXTENSION tde_column;
SELECT coalesce(bool_or(status = 'OPEN'), false) AS is_open, current_setting('tde_column.passphrase_command') = 'echo regress-passphrase' AS is_own FROM tde.wallet
\gset
\if :is_open
\elif :is_own
SELECT tde_wallet_create()
\gset
\else
\echo 'The tests need an open wallet: run SELECT tde_wallet_open(); on this server, or SELECT tde_wallet_create(); if it never had one.'
\endif
SELECT slot, version, kind, state FROM tde.data_keys ORDER BY id;
SELECT status, instance_wide FROM tde.wallet;
