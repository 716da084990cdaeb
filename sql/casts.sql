-- Casts, assignment and length coercion follow the base type.
CREATE TABLE c (t encrypted_text(aes256), v encrypted_varchar(5), n encrypted_numeric(6, 2), i encrypted_int4, l encrypted_int8,
                d encrypted_date, z encrypted_timestamptz(0), b encrypted_bytea);

INSERT INTO c VALUES ('text', 'abc', 1.005, 7, 8, '2024-02-29', '2024-02-29 12:00:00.6+00', '\xdeadbeef');
-- from expressions of other types, as an assignment to the base type would take them
INSERT INTO c SELECT 'a'::varchar, 'b'::text, 5, 6::int8, 7::int4, now()::timestamp::date, '2020-01-01'::date, 'x'::bytea;
INSERT INTO c (n) VALUES (2.5::float8), (3::int2);
INSERT INTO c (i) VALUES (2.5::numeric);
SELECT t, v, n, i, l, b FROM c;

-- the base type's own errors
INSERT INTO c (v) VALUES ('abcdef');
INSERT INTO c (v) VALUES ('abc     ');
INSERT INTO c (n) VALUES (12345.6);
INSERT INTO c (n) VALUES ('x');
INSERT INTO c (i) VALUES ('99999999999');
INSERT INTO c (d) VALUES ('2023-02-29');
SELECT 'abcdef'::text::encrypted_varchar(3);

-- functions and operators of the base type
SELECT t || '!', upper(t), length(t), substr(v, 2), n + 1, n * 2, -i, i % 2, l / 3, d + 1, date_trunc('year', z), length(b)
FROM c WHERE t = 'text';
SELECT t::varchar(2), i::int8, i::text, n::int, l::numeric, d::timestamptz = '2024-02-29'::timestamptz FROM c WHERE t = 'text';
SELECT sum(n), avg(i), min(d), max(v), count(DISTINCT i) FROM c;

-- a value travels between specifications
CREATE TABLE other (t encrypted_text('3des168', nosalt), n encrypted_numeric(5, 1, aes128, nomac, nosalt));
INSERT INTO other SELECT t, n FROM c WHERE t IS NOT NULL;
SELECT * FROM other ORDER BY t;
ALTER TABLE other ALTER t TYPE encrypted_text(aes192), ALTER n TYPE numeric;
SELECT * FROM other ORDER BY t;
ALTER TABLE other ALTER t TYPE text;
SELECT * FROM other ORDER BY t;
DROP TABLE c, other;

-- parameters
CREATE TABLE prm (t encrypted_text(nosalt), n encrypted_numeric);
PREPARE ins AS INSERT INTO prm VALUES ($1, $2);
EXECUTE ins('one', 1);
EXECUTE ins('two', 2.50);
PREPARE typed(text, int) AS INSERT INTO prm VALUES ($1, $2);
EXECUTE typed('three', 3);
PREPARE find AS SELECT * FROM prm WHERE t = $1;
EXECUTE find('two');
PREPARE find_text(text) AS SELECT * FROM prm WHERE t = $1 AND n > 2;
EXECUTE find_text('three');
SELECT * FROM prm WHERE t IN ('one', 'three') ORDER BY n;
SELECT * FROM prm WHERE t = ANY (ARRAY['two']) AND n BETWEEN 2 AND 3;
DEALLOCATE ALL;
DROP TABLE prm;
