-- periods: system versioning of a table with encrypted columns.
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE EXTENSION periods CASCADE;
CREATE TABLE versioned (id int PRIMARY KEY, n encrypted_int4);
SELECT FROM periods.add_system_time_period('versioned');
SELECT FROM periods.add_system_versioning('versioned');
INSERT INTO versioned VALUES (1, 5);
UPDATE versioned SET n = 6;
DELETE FROM versioned;
SELECT set_eq('SELECT n FROM versioned_history', 'VALUES (5), (6)', 'the history');
SELECT matches(format_type(atttypid, NULL), '^encrypted_int4', 'of the encrypted type') FROM pg_attribute WHERE attrelid = 'versioned_history'::regclass AND attname = 'n';
SELECT * FROM finish();
