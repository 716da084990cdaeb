-- What a role may that is not among those who decrypt, and what only administrators may.
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_tde_reader, regress_tde_writer;
RESET client_min_messages;
CREATE ROLE regress_tde_reader;
CREATE ROLE regress_tde_writer;
CREATE TABLE salary (id int PRIMARY KEY, name encrypted_text, pay encrypted_numeric(10,2));
INSERT INTO salary VALUES (1, 'Ann', 1000), (2, 'Bob', 2000);
GRANT SELECT, INSERT ON salary TO regress_tde_reader, regress_tde_writer;
\set VERBOSITY terse
SET tde_column.decrypt_role = 'regress_tde_reader';
SET ROLE regress_tde_reader;
SELECT * FROM salary ORDER BY pay DESC;
RESET ROLE;
SET ROLE regress_tde_writer;
SELECT name FROM salary;
SELECT count(*) FROM salary WHERE pay::numeric > 1500;
INSERT INTO salary VALUES (3, 'Carol', 3000);
SELECT count(*) FROM salary;
-- keys, the wallet and conversions are for those who were granted them
SELECT tde_wallet_close();
SELECT tde_rotate_key('default');
SELECT * FROM tde.data_keys;
CALL tde_decrypt_column('salary', 'pay');
SET tde_column.decrypt_role = '';
RESET ROLE;
RESET tde_column.decrypt_role;
SELECT name, pay FROM salary ORDER BY id;
DROP TABLE salary;
DROP ROLE regress_tde_reader, regress_tde_writer;
