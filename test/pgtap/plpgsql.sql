-- PL/pgSQL: RETURN QUERY and CALL convert between encrypted and plain types where the plain types are the same, and nowhere else.
\set QUIET 1
\pset format unaligned
\pset tuples_only true
BEGIN;
\ir include/family.sql
\ir include/statement.sql
SELECT * FROM no_plan();

CREATE TABLE card (id int PRIMARY KEY, holder encrypted_text, amount encrypted_int4, code encrypted_varchar(4), tags encrypted_text[]);
INSERT INTO card VALUES (1, 'Alice', 5, 'abcd', '{a,NULL}'), (2, NULL, NULL, NULL, NULL), (3, 'Bob', 7, 'ef', '{}');
CREATE TYPE plain_card AS (id int, holder text, amount int);
CREATE TABLE other (id int, holder encrypted_text(aes128, nosalt));
INSERT INTO other VALUES (9, 'Carol');

-- A function with this result, whose body is the statement, and what it gives.
CREATE FUNCTION returned(result text, statement text, columns text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION pg_temp.f() RETURNS %s LANGUAGE plpgsql AS %L', result, 'BEGIN ' || statement || '; END');
  RETURN shown('SELECT * FROM pg_temp.f() ' || columns);
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE FUNCTION returns(result text, statement text, expected text, columns text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'DROP FUNCTION IF EXISTS pg_temp.f()';
  RETURN is(returned(result, statement, columns), expected, concat_ws(': ', result, statement));
END
$$;

--
-- Encrypted columns for plain ones
--
SELECT returns('TABLE (a text, n int)', 'RETURN QUERY SELECT holder, amount FROM card ORDER BY id', E'(Alice,5)\n(,)\n(Bob,7)');
SELECT returns('SETOF text', 'RETURN QUERY SELECT holder FROM card ORDER BY id', E'(Alice)\n()\n(Bob)');
SELECT returns('SETOF plain_card', 'RETURN QUERY SELECT id, holder, amount FROM card WHERE id = 1', '(1,Alice,5)');
SELECT returns('SETOF record', 'RETURN QUERY SELECT holder, amount FROM card WHERE id = 1', '(Alice,5)', 'AS f(a text, n int)');
SELECT returns('TABLE (a text)', 'RETURN QUERY EXECUTE ''SELECT holder FROM card WHERE id = $1'' USING 1', '(Alice)');
SELECT returns('TABLE (a text)', 'RETURN QUERY UPDATE card SET holder = upper(card.holder) WHERE id = 3 RETURNING holder', '(BOB)');
SELECT returns('TABLE (a text)', 'RETURN QUERY VALUES (''x''::text); RETURN QUERY SELECT holder FROM card WHERE id = 1', E'(x)\n(Alice)');
SELECT returns('TABLE (a text[])', 'RETURN QUERY SELECT tags FROM card ORDER BY id', E'("{a,NULL}")\n()\n({})');
SELECT returns('TABLE (a text)', 'RETURN QUERY SELECT holder FROM card UNION SELECT holder FROM other ORDER BY 1 LIMIT 2', E'(Alice)\n(BOB)');
SELECT returns('TABLE (a varchar)', 'RETURN QUERY SELECT code FROM card WHERE id = 1', '(abcd)');

-- what PostgreSQL refuses for plain columns, it refuses
SELECT returns('TABLE (a bigint)', 'RETURN QUERY SELECT amount FROM card', '42804 structure of query does not match function result type');
SELECT returns('TABLE (a text)', 'RETURN QUERY SELECT code FROM card', '42804 structure of query does not match function result type');
SELECT returns('TABLE (a text, b text)', 'RETURN QUERY SELECT holder FROM card', '42804 structure of query does not match function result type');
SELECT returns('TABLE (a text)', 'RETURN QUERY SELECT holder, holder FROM card', '42804 structure of query does not match function result type');
CREATE TYPE short AS (code varchar(3));
SELECT returns('SETOF short', 'RETURN QUERY SELECT code FROM card', '42804 structure of query does not match function result type');

--
-- Plain columns, and those with another specification, for encrypted ones: each value as its column declares
--
SELECT returns('SETOF card', 'RETURN QUERY SELECT 4, upper(''x''), 1 + 1, ''abc''::varchar(4), ARRAY[''t''::text]', '(4,X,2,abc,{t})');
SELECT returns('SETOF other', 'RETURN QUERY SELECT id, holder FROM card WHERE id = 1', '(1,Alice)');
SELECT is((SELECT pg_column_size(f.holder) FROM pg_temp.f()), (SELECT pg_column_size(holder) FROM other),
          'a value has the specification of the column that is declared');
SELECT returns('SETOF card', 'RETURN QUERY SELECT 4, NULL::text, 1, ''abcde''::varchar(5), NULL::text[]',
               '42804 structure of query does not match function result type');
ALTER TABLE other DROP COLUMN id, ADD COLUMN id bigint;
SELECT returns('SETOF other', 'RETURN QUERY SELECT ''y''::text, 1::bigint', '(y,1)');

--
-- Functions that change, nest and recur; plans that are made anew
--
CREATE FUNCTION countdown(n int) RETURNS TABLE (a text, left_over int) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT card.holder, n FROM card WHERE id = 1;
  IF n > 0 THEN
    RETURN QUERY SELECT * FROM countdown(n - 1);
  END IF;
  RETURN QUERY SELECT card.holder, n FROM card WHERE id = 3;
END
$$;
SELECT gives('SELECT * FROM countdown(1)', E'(Alice,1)\n(Alice,0)\n(BOB,0)\n(BOB,1)');
CREATE TABLE changing (a text);
INSERT INTO changing VALUES ('one');
CREATE FUNCTION changed() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT a FROM changing; END $$;
SELECT gives('SELECT changed()', '(one)');
ALTER TABLE changing ALTER a TYPE encrypted_text;
SELECT gives('SELECT changed()', '(one)');
CREATE OR REPLACE FUNCTION changed() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT a || '!' FROM changing; END $$;
SELECT gives('SELECT changed()', '(one!)');
CREATE OR REPLACE FUNCTION changed() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT a FROM changing; END $$;
SELECT gives('SELECT changed() FROM generate_series(1, 2)', E'(one)\n(one)');
CREATE FUNCTION next_ones() RETURNS TABLE (a text, n int) LANGUAGE plpgsql AS $$
BEGIN
  FOR a, n IN SELECT holder, amount FROM card WHERE amount IS NOT NULL ORDER BY id LOOP
    RETURN NEXT;
  END LOOP;
  RETURN QUERY SELECT holder, amount FROM card WHERE id = 1;
END
$$;
SELECT gives('SELECT * FROM next_ones()', E'(Alice,5)\n(BOB,7)\n(Alice,5)');

--
-- Who may not decrypt gets an error, and no mask that could be stored in place of the value
--
CREATE ROLE may_see;
CREATE ROLE writer;
GRANT SELECT ON card, changing, other TO writer;
CREATE FUNCTION holders() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT holder FROM card WHERE id = 1; END $$;
CREATE FUNCTION holders_for_all() RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS
  $$ BEGIN RETURN QUERY SELECT holder FROM card WHERE id = 1; END $$;
CREATE FUNCTION encrypted_holders() RETURNS SETOF encrypted_text LANGUAGE plpgsql AS
  $$ BEGIN RETURN QUERY SELECT holder FROM card WHERE id = 1; END $$;
SET LOCAL tde_column.decrypt_role = 'may_see';
SET LOCAL tde_column.decrypt_policy = 'mask';
SET LOCAL ROLE writer;
SELECT throws_ok('SELECT holders()', '42501', 'permission denied to decrypt values of type encrypted_text', 'RETURN QUERY decrypts for nobody who may not');
SELECT throws_ok('SELECT count(*) FROM countdown(1)', '42501', NULL, 'nor in functions that nest');
SELECT is((SELECT string_agg(h, '') FROM holders_for_all() h), 'Alice', 'a SECURITY DEFINER function decrypts as its owner may');
SELECT is((SELECT count(*) FROM encrypted_holders() h WHERE h = 'Alice'), 1::bigint, 'what stays encrypted may be compared');
RESET ROLE;
RESET tde_column.decrypt_policy;
RESET tde_column.decrypt_role;

--
-- CALL: variables for output arguments of the other type
--
CREATE PROCEDURE longer(INOUT x text, y int DEFAULT 1) LANGUAGE plpgsql AS $$ BEGIN x := x || repeat('!', y); END $$;
CREATE PROCEDURE made(a int, OUT b text, INOUT c int) LANGUAGE plpgsql AS $$ BEGIN b := a::text; c := c + a; END $$;
CREATE FUNCTION called(value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  x card.holder%TYPE := value;
  row card%ROWTYPE;
BEGIN
  CALL longer(x);
  CALL longer(y => 2, x => x);
  row.amount := 5;
  CALL made(2, row.holder, row.amount);
  RETURN x || ' ' || row.holder || ' ' || row.amount;
END
$$;
SELECT is(called('a'), 'a!!! 2 7', 'CALL assigns to encrypted variables and fields');
SELECT is(called('b'), 'b!!! 2 7', 'and again');
CREATE FUNCTION called_wrongly() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x card.holder%TYPE := 'a';
BEGIN
  CALL longer(x || 'b');
END
$$;
SELECT throws_ok('SELECT called_wrongly()', '42601', NULL, 'an expression is no variable');
CREATE FUNCTION called_constant() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x CONSTANT card.holder%TYPE := 'a';
BEGIN
  CALL longer(x);
END
$$;
SELECT throws_ok('SELECT called_constant()', '22005', NULL, 'nor may a constant be assigned to');

--
-- Lengths: variables and columns of the same one are assigned as they are, others are made to fit, as of plain columns
--
CREATE DOMAIN sized AS varchar(5);
CREATE DOMAIN encrypted_sized AS encrypted_varchar(5);
CREATE TABLE sized_plain (v varchar(5), n numeric(6,2), t timestamp(3), c char(5), i interval(2), s sized, a varchar(5)[]);
CREATE TABLE sized_encrypted (v encrypted_varchar(5), n encrypted_numeric(6,2), t encrypted_timestamp(3), c encrypted_bpchar(5), i encrypted_interval(2), s encrypted_sized,
                              a encrypted_varchar(5)[]);
INSERT INTO sized_plain VALUES ('abcde', 1234.56, '2026-01-02 03:04:05.678', 'abcd', '5.67 seconds', 'xyz', '{abcde,f}');
INSERT INTO sized_encrypted SELECT v, n, t, c, i, s, a FROM sized_plain;
-- what a variable of this type has of the column, and then the column of it
CREATE FUNCTION through_variable(columns text, variable text, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION pg_temp.through() RETURNS text LANGUAGE plpgsql AS %L', format(
    'DECLARE x %2$s; y %2$s; r text; BEGIN FOR turn IN 1 .. 2 LOOP SELECT %1$s INTO x FROM sized_%3$s LIMIT 1; FOR y IN SELECT %1$s FROM sized_%3$s LOOP END LOOP;
     INSERT INTO sized_%3$s (%1$s) VALUES (x); UPDATE sized_%3$s SET %1$s = x WHERE %1$s IS NOT NULL; END LOOP;
     SELECT string_agg(%1$s::text, '','') INTO r FROM sized_%3$s; RETURN concat_ws('' '', x::text, y::text, r); END', columns, variable, kind));
  EXECUTE 'SELECT pg_temp.through()' INTO result;
  RAISE EXCEPTION USING ERRCODE = 'TDE99', MESSAGE = result;
EXCEPTION WHEN SQLSTATE 'TDE99' THEN
  RETURN SQLERRM;
WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT is(through_variable(columns, variable, 'encrypted'), through_variable(columns, variable, 'plain'), format('%s by way of a variable of type %s', columns, variable))
FROM (VALUES ('v', '{varchar(5),varchar(6),varchar(3),varchar,text,char(3),sized,encrypted_varchar(5),encrypted_varchar(3),int}'::text[]),
             ('n', '{"numeric(6,2)","numeric(7,2)","numeric(6,1)","numeric(4,2)",numeric,float8,int,varchar(4),"encrypted_numeric(6,2)","encrypted_numeric(6,1)"}'),
             ('t', '{timestamp(3),timestamp(2),timestamp(6),timestamp,date,encrypted_timestamp(1)}'),
             ('c', '{char(5),char(6),char(3),varchar(5),text}'), ('i', '{interval(2),interval(1),interval}'),
             ('s', '{varchar(5),varchar(2),text,sized,encrypted_sized}'), ('a', '{varchar(5)[],varchar(3)[],text[]}')) AS t (columns, variables), unnest(variables) variable;

SELECT * FROM finish();
ROLLBACK;
