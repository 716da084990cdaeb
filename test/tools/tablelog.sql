-- table_log: the history has the rows that were, and keeps ciphertext.
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE EXTENSION table_log;
SELECT FROM table_log_init(5, 'public', 'encrypted', 'public', 'encrypted_log');
UPDATE encrypted SET n = 7 WHERE id = 5;
DELETE FROM encrypted WHERE id = 6;
SELECT set_eq($$SELECT id, holder, n FROM encrypted_log WHERE trigger_tuple = 'old'$$, $$SELECT id, holder, n FROM plain WHERE id IN (5, 6)$$, 'the history');
SELECT col_type_is('encrypted_log', 'n', format_type(atttypid, atttypmod), 'of the encrypted type') FROM pg_attribute WHERE attrelid = 'encrypted'::regclass AND attname = 'n';
SELECT * FROM finish();
