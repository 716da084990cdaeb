-- What a client is told of its results: base types, with the values decrypted above what may spill.
CREATE TABLE person (id int PRIMARY KEY, name encrypted_text(aes256,salt), salary encrypted_numeric(15,2,aes128,nosalt), born encrypted_date);
INSERT INTO person VALUES (1, 'Ann', 1000, '2000-02-29'), (2, 'Bob', 2000.555, '1999-12-31'), (3, 'Ann', NULL, NULL);
SHOW tde_column.transparent_results;
SELECT * FROM person ORDER BY name, id \gdesc
SELECT * FROM person ORDER BY name, id;
SELECT name, sum(salary), max(salary) FROM person GROUP BY name ORDER BY name \gdesc
INSERT INTO person VALUES (4, 'Dan', 3, now()) RETURNING name, salary \gdesc
EXPLAIN (VERBOSE, COSTS OFF) SELECT name, salary FROM person ORDER BY born;
EXPLAIN (VERBOSE, COSTS OFF) DECLARE c CURSOR FOR SELECT name FROM person;
PREPARE q AS SELECT name FROM person WHERE salary BETWEEN $1 AND $2 AND name IN ($3, $4) AND born = $5;
PREPARE typed (encrypted_numeric) AS SELECT FROM person WHERE salary = $1 AND name = $2;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
EXECUTE q (1, 2000.56, 'Ann', 'Bob', '1999-12-31');
-- what is stored keeps the encrypted type
CREATE VIEW names AS SELECT name FROM person;
CREATE TABLE copied AS SELECT name FROM person;
CREATE TABLE executed AS EXECUTE q (1, 2, 'a', 'b', '2000-01-01');
SELECT attrelid::regclass, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid IN ('names'::regclass, 'copied'::regclass, 'executed'::regclass) AND attname = 'name' ORDER BY 1;
-- and so do rows; arrays are shown as those of the base type
SELECT array_agg(name ORDER BY id), row(name) FROM person WHERE id = 1 GROUP BY name \gdesc
SET tde_column.transparent_results = off;
SELECT name, salary FROM person \gdesc
PREPARE encrypted AS SELECT FROM person WHERE salary = $1;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'encrypted';
DROP TABLE person, copied, executed CASCADE;
