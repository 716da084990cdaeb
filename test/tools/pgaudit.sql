-- pgaudit: statements on encrypted columns are logged, and those that pass secrets are hidden.
SELECT * FROM no_plan();
CREATE EXTENSION pgaudit;
INSERT INTO encrypted (id, holder) VALUES (3000, 'audited');
SELECT FROM tde_wallet_close();
SELECT FROM tde_wallet_open('tools-passphrase');
\getenv log TOOLS_LOG
SELECT matches(pg_read_file(:'log'), 'AUDIT: SESSION,\d+,\d+,WRITE,INSERT,[^\n]*INSERT INTO encrypted', 'a line');
SELECT doesnt_match(pg_read_file(:'log'), 'tools-passphrase', 'no passphrase');
SELECT * FROM finish();
