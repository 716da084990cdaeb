-- Large values: TOAST, compression before encryption, and that one value's settings do not matter to its reader.
CREATE TABLE big (id int, a encrypted_text(aes256), b encrypted_bytea(nomac), c encrypted_text(nosalt));
INSERT INTO big SELECT 1, repeat('abcdefgh', 20000), decode(repeat('00ff', 50000), 'hex'), repeat('x', 100000);
SET tde_column.compression = pglz;
INSERT INTO big SELECT 2, repeat('abcdefgh', 20000), decode(repeat('00ff', 50000), 'hex'), repeat('x', 100000);
-- below 2000 bytes nothing is compressed
INSERT INTO big SELECT 3, repeat('a', 1999), 'x', 'y';
INSERT INTO big SELECT 4, repeat('a', 2000), 'x', 'y';
SET tde_column.compression = off;
SELECT id, pg_column_size(a) > 100000 AS a, pg_column_size(b) > 90000 AS b, pg_column_size(c) > 100000 AS c FROM big WHERE id < 3;
SELECT id, pg_column_size(a) FROM big WHERE id > 2;
SELECT id, a = repeat('abcdefgh', 20000), b = decode(repeat('00ff', 50000), 'hex'), c = repeat('x', 100000) FROM big WHERE id < 3;
SELECT length(a), right(a, 3), length(b), length(c) FROM big ORDER BY id;
-- what does not get smaller is stored as it is
SET tde_column.compression = pglz;
SELECT setseed(0.5);
CREATE TABLE noise (a encrypted_bytea(nomac));
INSERT INTO noise SELECT string_agg(sha256(g::text::bytea), '') FROM generate_series(1, 100) g;
SELECT length(a), pg_column_size(a) FROM noise;
RESET tde_column.compression;
\set VERBOSITY terse
SET tde_column.compression = zstd;
-- a large value as a key is refused by the index, as ever
CREATE INDEX ON big (a);
DROP TABLE big, noise;
