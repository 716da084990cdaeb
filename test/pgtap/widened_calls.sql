-- Of f(integer) and f(double precision) PostgreSQL takes the second for an encrypted integer, which becomes both, and the first for a plain one: such a
-- call is refused, wherever it stands, and no other is.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
SET LOCAL tde_column.plaintext_alter = warn;

-- What is called for plain arguments and for encrypted ones.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE query INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;

CREATE TABLE p (s int2, i int4, b int8, n numeric, r float4, d date, t timestamp, tz timestamptz, a int4[], x text);
CREATE TABLE e (s encrypted_int2, i encrypted_int4, b encrypted_int8, n encrypted_numeric, r encrypted_float4, d encrypted_date, t encrypted_timestamp, tz encrypted_timestamptz,
                a encrypted_int4[], x encrypted_text);
INSERT INTO p VALUES (1, 2, 3, 4.5, 5.5, '2024-01-01', '2024-01-01', '2024-01-01', '{1}', 'a');
INSERT INTO e SELECT * FROM p;

-- Pairs of a function of each two types between which there is an implicit cast.
CREATE TEMP TABLE pair AS
  SELECT 'f' || row_number() OVER (ORDER BY s.base, castsource, casttarget) AS name, s.base, castsource::regtype AS small, casttarget::regtype AS large
  FROM pg_cast JOIN family s ON s.base = castsource WHERE castcontext = 'i' AND castmethod = 'f' AND castsource <> casttarget
    AND casttarget = ANY ('{int4,int8,numeric,float4,float8,timestamp,timestamptz}'::regtype[]);
SELECT format('CREATE FUNCTION %I(%s) RETURNS text LANGUAGE sql AS ''SELECT ''''%3$s''''''', name, type, type) FROM pair, unnest(ARRAY[small, large]) type \gexec
CREATE TEMP TABLE called AS
  SELECT name, small, large, outcome(format('SELECT %I(%s) FROM p', name, attname)) AS plain, outcome(format('SELECT %I(%s) FROM e', name, attname)) AS encrypted, attname
  FROM pair, pg_attribute WHERE attrelid = 'p'::regclass AND attnum > 0 AND attname NOT IN ('a', 'x');
SELECT cmp_ok((SELECT count(*) FROM called WHERE plain !~ '^4'), '>', 40::bigint, 'users'' pairs of functions are called');
SELECT is(encrypted, plain, format('%s(%s) and %1$s(%s), of %s', name, small, large, attname)) FROM called WHERE encrypted <> plain AND encrypted <> '42725';
SELECT cmp_ok((SELECT count(*) FROM called WHERE plain <> encrypted), '>', 10::bigint, 'some calls are refused, which would give something else');
SELECT cmp_ok((SELECT count(*) FROM called WHERE plain = encrypted AND plain !~ '^4'), '>', 20::bigint, 'others not');

--
-- One pair, in all places.
--
CREATE FUNCTION g(int4) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''integer''';
CREATE FUNCTION g(float8) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''float''';
CREATE FUNCTION h(a int4, b text DEFAULT 'x') RETURNS text LANGUAGE sql AS 'SELECT ''integer''';
CREATE FUNCTION h(a float8, b text DEFAULT 'x') RETURNS text LANGUAGE sql AS 'SELECT ''float''';
CREATE FUNCTION v(VARIADIC int4[]) RETURNS text LANGUAGE sql AS 'SELECT ''integer''';
CREATE FUNCTION v(VARIADIC float8[]) RETURNS text LANGUAGE sql AS 'SELECT ''float''';
CREATE FUNCTION op(int4, int4) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION op(float8, float8) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR ~~~ (LEFTARG = int4, RIGHTARG = int4, FUNCTION = op);
CREATE OPERATOR ~~~ (LEFTARG = float8, RIGHTARG = float8, FUNCTION = op);
CREATE AGGREGATE total(int4) (SFUNC = int4pl, STYPE = int4);
CREATE AGGREGATE total(float8) (SFUNC = float8pl, STYPE = float8);
CREATE PROCEDURE proc(int4) LANGUAGE sql AS 'SELECT';
CREATE PROCEDURE proc(float8) LANGUAGE sql AS 'SELECT';
CREATE SCHEMA other;
CREATE FUNCTION other.g(int4) RETURNS text LANGUAGE sql AS 'SELECT ''other integer''';
CREATE FUNCTION other.g(float8) RETURNS text LANGUAGE sql AS 'SELECT ''other float''';
CREATE FUNCTION row_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION g_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.x := g(NEW.i); RETURN NEW; END';
CREATE FUNCTION one(float8) RETURNS text LANGUAGE sql AS 'SELECT ''float''';
CREATE FUNCTION literal(float8, int4) RETURNS text LANGUAGE sql AS 'SELECT ''integer''';
CREATE FUNCTION literal(float8, text) RETURNS text LANGUAGE sql AS 'SELECT ''text''';
CREATE POLICY on_e ON e USING (true);
CREATE TABLE fired (i encrypted_int4, x encrypted_text);
CREATE TRIGGER g_trigger BEFORE INSERT ON fired FOR EACH ROW EXECUTE FUNCTION g_trigger();
CREATE VIEW rows_of_e AS SELECT i FROM e;

SELECT is(SQLSTATE, '42725', statement)
FROM unnest(ARRAY[
  'SELECT g(i) FROM e', 'SELECT other.g(i) FROM e', 'SELECT 1 FROM e WHERE g(i) = ''float''', 'SELECT count(*) FROM e GROUP BY g(i)', 'SELECT i FROM e ORDER BY g(i)',
  'SELECT (SELECT g(i)) FROM e', 'WITH c AS (SELECT g(i) FROM e) SELECT 1 FROM c', 'SELECT 1 FROM e, LATERAL g(i)', 'SELECT g(i) FROM rows_of_e', 'SELECT g(''1''::encrypted_int4)',
  'SELECT h(i) FROM e', 'SELECT h(i, ''y'') FROM e', 'SELECT h(a => i) FROM e', 'SELECT h(b => ''y'', a => i) FROM e', 'SELECT v(i) FROM e', 'SELECT v(i, s) FROM e', 'SELECT i ~~~ i FROM e', 'SELECT i ~~~ ANY (ARRAY[i]) FROM e',
  'SELECT total(i) FROM e', 'SELECT total(DISTINCT i) FROM e', 'SELECT total(i ORDER BY s) FROM e', 'SELECT total(i) OVER () FROM e', 'SELECT g(coalesce(i, NULL)) FROM e',
  'INSERT INTO e (x) SELECT g(i) FROM e', 'UPDATE e SET x = g(i)', 'DELETE FROM e WHERE g(i) = ''float''', 'INSERT INTO e (i) VALUES (1) RETURNING g(i)', 'INSERT INTO fired VALUES (1)',
  'MERGE INTO e USING p ON false WHEN MATCHED AND g(e.i) = ''x'' THEN DO NOTHING',
  'EXPLAIN SELECT g(i) FROM e', 'CREATE TABLE made AS SELECT g(i) FROM e', 'SELECT g(i) INTO made FROM e', 'CREATE MATERIALIZED VIEW made AS SELECT g(i) FROM e', 'CREATE VIEW made AS SELECT g(i) FROM e',
  'DECLARE c CURSOR FOR SELECT g(i) FROM e', 'PREPARE q AS SELECT g(i) FROM e', 'CALL proc(''1''::encrypted_int4)',
  'DO $do$ DECLARE i encrypted_int4 = 1; BEGIN PERFORM g(i); END $do$', 'DO $do$ DECLARE i encrypted_int4 = 1; BEGIN CALL proc(i); END $do$',
  'CREATE FUNCTION made() RETURNS text LANGUAGE sql AS ''SELECT g(i) FROM e''', 'CREATE FUNCTION made() RETURNS text BEGIN ATOMIC SELECT g(i) FROM e; END',
  'CREATE FUNCTION made(text DEFAULT g(''1''::encrypted_int4)) RETURNS text LANGUAGE sql AS ''SELECT NULL''',
  'ALTER TABLE e ADD CHECK (g(i) = ''float'')', 'CREATE TABLE made (i encrypted_int4 CHECK (g(i) = ''float''))', 'CREATE TABLE made (x encrypted_text DEFAULT g(''1''::encrypted_int4))',
  'CREATE DOMAIN made AS encrypted_int4(aes256) CHECK (g(VALUE) = ''float'')', 'ALTER TABLE e ALTER x TYPE encrypted_text USING g(i)',
  'CREATE TRIGGER made BEFORE INSERT ON e FOR EACH ROW WHEN (g(NEW.i) = ''float'') EXECUTE FUNCTION row_trigger()', 'CREATE POLICY made ON e USING (g(i) = ''float'')',
  'ALTER POLICY on_e ON e USING (g(i) = ''float'')', 'CREATE POLICY made ON e WITH CHECK (g(i) = ''float'')', 'CREATE RULE made AS ON INSERT TO e DO ALSO SELECT g(NEW.i)', 'CREATE RULE made AS ON INSERT TO e WHERE g(NEW.i) = ''float'' DO INSTEAD NOTHING',
  'COPY e FROM ''/dev/null'' WHERE g(i) = ''float''', 'CREATE STATISTICS made ON (g(i)), s FROM e', 'CREATE INDEX ON e (i) WHERE g(i) = ''float'''
]) statement, LATERAL (SELECT substring(complaint(statement), 1, 5)) c (SQLSTATE);

-- What is said.
SELECT is(complaint('SELECT g(i) FROM e'), '42725 function g(encrypted_int4) is not unique [Of plain values g(integer) would be called, and of encrypted ones g(double precision).]', 'which functions');
SELECT is(complaint('SELECT i ~~~ i FROM e'),
          '42725 operator is not unique: encrypted_int4 ~~~ encrypted_int4 [Of plain values ~~~(integer,integer) would be called, and of encrypted ones ~~~(double precision,double precision).]',
          'and which operators');

-- What means the same either way is not refused.
SELECT is(outcome(format(query, 'e')), outcome(format(query, 'p')), query)
FROM unnest(ARRAY['SELECT g(i::int4) FROM %s', 'SELECT g(i + 0.5) FROM %s', 'SELECT g(r) FROM %s', 'SELECT g(n) FROM %s', 'SELECT other.g(r) FROM %s', 'SELECT h(n, ''y'') FROM %s', 'SELECT v(i, 1) FROM %s',
  'SELECT i ~~~ 1 FROM %s', 'SELECT i ~~~ 1.5 FROM %s', 'SELECT total(n) FROM %s', 'SELECT sqrt(i) + abs(i) FROM %s', 'SELECT one(i) FROM %s', 'SELECT literal(i, 1) FROM %s',
  'SELECT literal(i, ''1''::text) FROM %s']) query;

-- What was stored before there were two means what it meant.
CREATE VIEW stored AS SELECT one(i) FROM e;
CREATE FUNCTION one(int4) RETURNS text LANGUAGE sql AS 'SELECT ''integer''';
SELECT is((SELECT * FROM stored), 'float', 'a view calls what it called when it was made');

SELECT * FROM finish();
ROLLBACK;
