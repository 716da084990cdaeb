-- What a session remembers of functions, casts and operator classes that are somebody else's: none of it outlives a change.
BEGIN;
\set ON_ERROR_STOP on
SELECT * FROM no_plan();

-- Two functions that differ in what they return
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE FUNCTION one(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION two(mood) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 2; END';
CREATE CAST (mood AS int) WITH FUNCTION one(mood);
SELECT tde_create_type('mood');
CREATE TABLE m (p mood, e encrypted_mood);
INSERT INTO m VALUES ('sad', 'sad'), ('happy', 'happy');

PREPARE casts AS SELECT p::int, e::int FROM m;
SELECT results_eq('casts', 'VALUES (1, 1), (1, 1)', 'a cast');
DROP CAST (mood AS int);
CREATE CAST (mood AS int) WITH FUNCTION two(mood);
SELECT results_eq('SELECT p::int, e::int FROM m', 'VALUES (2, 2), (2, 2)', 'a cast with another function');
SELECT results_eq('SELECT e::int FROM m', 'VALUES (2), (2)', 'once more');
CREATE OR REPLACE FUNCTION two(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 22';
SELECT results_eq('SELECT p::int, e::int FROM m', 'VALUES (22, 22), (22, 22)', 'its function was replaced, in another language');
DROP CAST (mood AS int);
DROP FUNCTION two(mood);
SELECT throws_ok('SELECT e::int FROM m', '42846', NULL, 'without the cast there is none');
CREATE FUNCTION two(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 3';
CREATE CAST (mood AS int) WITH FUNCTION two(mood);
SELECT results_eq('SELECT p::int, e::int FROM m', 'VALUES (3, 3), (3, 3)', 'the function was dropped and made again');

-- A function that is replaced, with its cast, while it runs
CREATE FUNCTION restless(mood) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  DROP CAST (mood AS int);
  CREATE CAST (mood AS int) WITH FUNCTION one(mood);
  CREATE OR REPLACE FUNCTION one(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 11';
  PERFORM e::int FROM m;
  RETURN 4;
END
$$;
DROP CAST (mood AS int);
CREATE CAST (mood AS int) WITH FUNCTION restless(mood);
SELECT is((SELECT e::int FROM m LIMIT 1), 4, 'a call goes on with the function that it began with');
SELECT results_eq('SELECT p::int, e::int FROM m', 'VALUES (11, 11), (11, 11)', 'and the next one takes the new one');

-- A type with functions of its own: a varchar that is compared as it is told
CREATE TYPE word;
CREATE FUNCTION word_in(cstring, oid, int) RETURNS word LANGUAGE internal IMMUTABLE STRICT AS 'varcharin';
CREATE FUNCTION word_out(word) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'varcharout';
CREATE FUNCTION word_send(word) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'varcharsend';
CREATE FUNCTION word_typmod_in(cstring[]) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'varchartypmodin';
CREATE FUNCTION word_typmod_out(int) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'varchartypmodout';
CREATE TYPE word (INPUT = word_in, OUTPUT = word_out, SEND = word_send, TYPMOD_IN = word_typmod_in, TYPMOD_OUT = word_typmod_out, LIKE = varchar);
CREATE FUNCTION word_fit(word, int, boolean) RETURNS word LANGUAGE internal IMMUTABLE STRICT AS 'varchar';
CREATE CAST (word AS word) WITH FUNCTION word_fit(word, int, boolean);
CREATE FUNCTION word_lt(word, word) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'bytealt';
CREATE FUNCTION word_le(word, word) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'byteale';
CREATE FUNCTION word_eq(word, word) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'byteaeq';
CREATE FUNCTION word_ge(word, word) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'byteage';
CREATE FUNCTION word_gt(word, word) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'byteagt';
CREATE FUNCTION word_cmp(word, word) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'byteacmp';
CREATE FUNCTION word_backwards(word, word) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT word_cmp($2, $1)';
CREATE OPERATOR < (LEFTARG = word, RIGHTARG = word, FUNCTION = word_lt);
CREATE OPERATOR <= (LEFTARG = word, RIGHTARG = word, FUNCTION = word_le);
CREATE OPERATOR = (LEFTARG = word, RIGHTARG = word, FUNCTION = word_eq);
CREATE OPERATOR >= (LEFTARG = word, RIGHTARG = word, FUNCTION = word_ge);
CREATE OPERATOR > (LEFTARG = word, RIGHTARG = word, FUNCTION = word_gt);
CREATE OPERATOR CLASS word_ops DEFAULT FOR TYPE word USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 word_cmp(word, word);
SELECT tde_create_type('word');
CREATE TABLE w (e encrypted_word);
INSERT INTO w VALUES ('abc'), ('def');

PREPARE least AS SELECT e::text FROM w a WHERE NOT EXISTS (SELECT FROM w b WHERE b.e < a.e);
SELECT results_eq('least', ARRAY['abc'], 'the order of a type');
DROP OPERATOR FAMILY word_ops USING btree;
CREATE OPERATOR CLASS word_ops DEFAULT FOR TYPE word USING btree AS
  OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 word_backwards(word, word);
SELECT results_eq('least', ARRAY['def'], 'another operator class has another order');

SELECT is('uvwxyz'::encrypted_word(3)::text, 'uvw', 'a length');
DROP CAST (word AS word);
CREATE FUNCTION word_end(word, int, boolean) RETURNS word LANGUAGE sql IMMUTABLE STRICT AS 'SELECT right($1::text, 2)::word';
CREATE CAST (word AS word) WITH FUNCTION word_end(word, int, boolean);
SELECT is('uvwxyz'::encrypted_word(3)::text, 'yz', 'another function for it');

SELECT typsend::regproc AS send FROM pg_type WHERE oid = 'encrypted_word'::regtype \gset
SELECT is(:send(e), 'abc', 'the binary format') FROM w LIMIT 1;
CREATE FUNCTION word_shout(word) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS 'SELECT upper($1::text)::bytea';
ALTER TYPE word SET (SEND = word_shout);
SELECT is(:send(e), 'ABC', 'another one') FROM w LIMIT 1;

-- What is made ready again and again is not kept again and again.
CREATE FUNCTION held() RETURNS bigint LANGUAGE sql AS $$SELECT sum(used_bytes) FROM pg_backend_memory_contexts WHERE name = 'tde_column types'$$;
SELECT count(*) FROM m WHERE e::int = 11 AND e < 'happy';
SELECT held() AS before \gset
DO $$
BEGIN
  FOR i IN 1..50 LOOP
    EXECUTE 'CREATE OR REPLACE FUNCTION unrelated() RETURNS int LANGUAGE sql AS ''SELECT 1''';
    PERFORM count(*) FROM m WHERE e::int = 11 AND e < 'happy';
  END LOOP;
END
$$;
SELECT is(held(), :before::bigint, 'memory stays the same when other functions change');

SELECT * FROM finish();
ROLLBACK;
