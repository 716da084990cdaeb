-- pg_partman: partitions of a table with encrypted columns, by a plain one; an encrypted control column is refused.
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE SCHEMA partman;
CREATE EXTENSION pg_partman SCHEMA partman;
CREATE TABLE parts (id int NOT NULL, born date NOT NULL, holder encrypted_text(nosalt), n encrypted_int4) PARTITION BY RANGE (id);
CREATE TABLE by_encrypted (id int NOT NULL, n encrypted_int4(nosalt) NOT NULL) PARTITION BY RANGE (n);
SELECT ok(partman.create_parent('public.parts', 'id', 'native', '500'), 'a parent');
INSERT INTO parts SELECT id, born, holder, n FROM plain;
SELECT partman.run_maintenance() \g /dev/null
CALL partman.partition_data_proc('public.parts');
SELECT set_eq('SELECT id, holder, n FROM parts', 'SELECT id, holder, n FROM encrypted', 'its rows');
SELECT is((SELECT count(*) FROM ONLY parts_default), 0::bigint, 'all in partitions of their own');
SELECT throws_like($$SELECT partman.create_parent('public.by_encrypted', 'n', 'native', '500')$$, '%', 'an encrypted control column');
SELECT * FROM finish();
