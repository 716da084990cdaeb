-- What a closed wallet means.  The demo runs this with the wallet open, and with the passphrase in its environment.
\set ECHO queries
SELECT * FROM card WHERE id = :id;
SELECT tde_wallet_close();
SELECT * FROM card WHERE id = :id;
SELECT count(*) FROM card;
\set ECHO none
\getenv passphrase passphrase
\echo 'SELECT tde_wallet_open(''...'');'
SELECT tde_wallet_open(:'passphrase');
\set ECHO queries
SELECT * FROM card WHERE id = :id;
