-- Casts, assignment, length coercion and parameters follow the base type.
BEGIN;
\ir include/family.sql
\ir include/statement.sql
SELECT * FROM no_plan();
SET LOCAL timezone = 'America/Los_Angeles';
SET LOCAL datestyle = 'Postgres, MDY';

CREATE TABLE c (t encrypted_text(aes256), v encrypted_varchar(5), n encrypted_numeric(6, 2), i encrypted_int4, l encrypted_int8,
                d encrypted_date, z encrypted_timestamptz(0), b encrypted_bytea);

INSERT INTO c VALUES ('text', 'abc', 1.005, 7, 8, '2024-02-29', '2024-02-29 12:00:00.6+00', '\xdeadbeef');
-- from expressions of other types, as an assignment to the base type would take them
INSERT INTO c SELECT 'a'::varchar, 'b'::text, 5, 6::int8, 7::int4, now()::timestamp::date, '2020-01-01'::date, 'x'::bytea;
INSERT INTO c (n) VALUES (2.5::float8), (3::int2);
INSERT INTO c (i) VALUES (2.5::numeric);
SELECT gives($$SELECT t, v, n, i, l, b FROM c$$,
  E'(text,abc,1.01,7,8,"\\\\xdeadbeef")\n(a,b,5.00,6,7,"\\\\x78")\n(,,2.50,,,)\n(,,3.00,,,)\n(,,,3,,)');

-- the base type's own errors
SELECT is(complaint($$INSERT INTO c (v) VALUES ('abcdef')$$),
  '22001 value too long for type character varying(5)', 'INSERT INTO c (v) VALUES (''abcdef'')');
INSERT INTO c (v) VALUES ('abc     ');
SELECT is(complaint($$INSERT INTO c (n) VALUES (12345.6)$$),
  '22003 numeric field overflow [A field with precision 6, scale 2 must round to an absolute value less than 10^4.]', 'INSERT INTO c (n) VALUES (12345.6)');
SELECT is(complaint($$INSERT INTO c (n) VALUES ('x')$$),
  '22P02 invalid input syntax for type numeric: "x"', 'INSERT INTO c (n) VALUES (''x'')');
SELECT is(complaint($$INSERT INTO c (i) VALUES ('99999999999')$$),
  '22003 value "99999999999" is out of range for type integer', 'INSERT INTO c (i) VALUES (''99999999999'')');
SELECT is(complaint($$INSERT INTO c (d) VALUES ('2023-02-29')$$),
  '22008 date/time field value out of range: "2023-02-29"', 'INSERT INTO c (d) VALUES (''2023-02-29'')');
SELECT gives($$SELECT 'abcdef'::text::encrypted_varchar(3)$$,
  '(abc)');

-- functions and operators of the base type
SELECT gives($$SELECT t || '!', upper(t), length(t), substr(v, 2), n + 1, n * 2, -i, i % 2, l / 3, d + 1, date_trunc('year', z), length(b)
FROM c WHERE t = 'text'$$,
  '(text!,TEXT,4,bc,2.01,2.02,-7,1,2,03-01-2024,"Mon Jan 01 00:00:00 2024 PST",4)');
SELECT gives($$SELECT t::varchar(2), i::int8, i::text, n::int, l::numeric, d::timestamptz = '2024-02-29'::timestamptz FROM c WHERE t = 'text'$$,
  '(te,7,7,1,8,t)');
SELECT gives($$SELECT sum(n), avg(i), min(d), max(v), count(DISTINCT i) FROM c$$,
  '(11.51,5.3333333333333333,02-29-2024,b,3)');

-- a value travels between specifications
CREATE TABLE other (t encrypted_text('3des168', nosalt), n encrypted_numeric(5, 1, aes128, nomac, nosalt));
INSERT INTO other SELECT t, n FROM c WHERE t IS NOT NULL;
SELECT gives($$SELECT * FROM other ORDER BY t$$,
  E'(a,5.0)\n(text,1.0)');
ALTER TABLE other ALTER t TYPE encrypted_text(aes192), ALTER n TYPE numeric;
SELECT gives($$SELECT * FROM other ORDER BY t$$,
  E'(a,5.0)\n(text,1.0)');
ALTER TABLE other ALTER t TYPE text;
SELECT gives($$SELECT * FROM other ORDER BY t$$,
  E'(a,5.0)\n(text,1.0)');
DROP TABLE c, other;

-- parameters
CREATE TABLE prm (t encrypted_text(nosalt), n encrypted_numeric);
PREPARE ins AS INSERT INTO prm VALUES ($1, $2);
EXECUTE ins('one', 1);
EXECUTE ins('two', 2.50);
PREPARE typed(text, int) AS INSERT INTO prm VALUES ($1, $2);
EXECUTE typed('three', 3);
PREPARE find AS SELECT * FROM prm WHERE t = $1;
SELECT gives($$EXECUTE find('two')$$,
  '(two,2.50)');
PREPARE find_text(text) AS SELECT * FROM prm WHERE t = $1 AND n > 2;
SELECT gives($$EXECUTE find_text('three')$$,
  '(three,3)');
SELECT gives($$SELECT * FROM prm WHERE t IN ('one', 'three') ORDER BY n$$,
  E'(one,1)\n(three,3)');
SELECT gives($$SELECT * FROM prm WHERE t = ANY (ARRAY['two']) AND n BETWEEN 2 AND 3$$,
  '(two,2.50)');
DEALLOCATE ALL;
DROP TABLE prm;

-- casts that make NULL of a value: of infinity, and since PostgreSQL 18 of JSON's null
CREATE TABLE moment (s encrypted_timestamp, z encrypted_timestamptz, t encrypted_time, tz encrypted_timetz, j encrypted_jsonb);
CREATE INDEX ON moment (cast(s AS time));
INSERT INTO moment (s, z, t, tz, j) VALUES ('infinity', '-infinity', 'infinity'::timestamp, 'infinity'::timestamptz, 'null'), ('2024-02-29 01:02', NULL, '03:04', NULL, '5');
SELECT gives($$SELECT s::time, s::encrypted_time, z::time, z::timetz, z::encrypted_timetz, t, tz FROM moment x ORDER BY x.s$$,
  E'(01:02:00,01:02:00,,,,03:04:00,)\n(,,,,,,)');
UPDATE moment SET t = s, tz = z;
SELECT gives($$SELECT t, tz FROM moment WHERE s = 'infinity' OR s::time = '01:02' ORDER BY moment.s$$,
  E'(01:02:00,)\n(,)');
ALTER TABLE moment ALTER z TYPE encrypted_time, ALTER tz TYPE time;
SELECT gives($$SELECT count(*), count(z), count(tz) FROM moment$$,
  '(2,0,0)');
SELECT CASE WHEN current_setting('server_version_num')::int < 180000 THEN pass('JSON''s null is no number before PostgreSQL 18')
            ELSE gives($$SELECT j::int, j::encrypted_numeric FROM moment x ORDER BY x.s$$, E'(5,5)\n(,)') END;
DROP TABLE moment;

-- from one length to another, with the same specification
CREATE TABLE lengths (long encrypted_varchar(10), short encrypted_varchar(3), n encrypted_numeric(9,4), rounded encrypted_numeric(9,1));
INSERT INTO lengths (long, n) VALUES ('abcdef', 1.2345);
SELECT throws_ok('UPDATE lengths SET short = long', '22001', 'value too long for type character varying(3)', 'a shorter column refuses it');
SELECT results_eq('SELECT long::encrypted_varchar(3)::text, n::encrypted_numeric(9,1)::text FROM lengths', $$VALUES ('abc', '1.2')$$, 'an explicit cast cuts it off');
SELECT results_eq('UPDATE lengths SET rounded = n, short = long::varchar(3) RETURNING short::text, rounded::text', $$VALUES ('abc', '1.2')$$, 'an assignment rounds');

SELECT * FROM finish();
ROLLBACK;
