-- Stored generated columns that are computed of encrypted ones: they have the values of the plain table's, hold ciphertext, and a
-- declaration with a plain type becomes an encrypted one.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
SET client_min_messages = warning;

-- Twins; each expression becomes a column of both.
CREATE TABLE p (id int, email varchar(60), name text, t timestamp, d date, j jsonb, a int, n numeric(10,2), b bytea, k int, ok bool);
CREATE TABLE e (id int, email encrypted_varchar(60,aes128,salt), name encrypted_text(nosalt,sha256), t encrypted_timestamp, d encrypted_date,
                j encrypted_jsonb, a encrypted_int4(salt,nomac), n encrypted_numeric(10,2), b encrypted_bytea, k int, ok encrypted_bool);
INSERT INTO p
  SELECT g, 'User' || g || '@X.org', CASE WHEN g % 7 > 0 THEN 'Name ' || g || ' ' END, timestamp '2020-01-01' + g * interval '1 hour',
         date '2020-01-01' + g, jsonb_build_object('k', 'v' || g, 'n', g), g, g / 4.0, convert_to('b' || g, 'UTF8'), g * 3, g % 5 = 0
  FROM generate_series(1, 50) g;
INSERT INTO e SELECT * FROM p;

CREATE TEMP TABLE generated (type text, expression text);
INSERT INTO generated VALUES
  ('text', 'lower(email)'), ('varchar(30)', 'upper(name)'), ('char(9)', 'left(name, 3)'), ('text', 'email'), ('text', 'lower(trim(name)) || email'),
  ('text', 'name COLLATE "C" || ''x'''), ('int', 'a + 1'), ('int', '4 * a'), ('int', 'a * a'), ('bigint', 'a * k'), ('int', 'a + a * 2'),
  ('numeric(12,1)', 'n * a'), ('numeric', 'round(n, 1)'), ('float8', 'sqrt(n)'), ('bool', 'a >= 18'), ('bool', 'name LIKE ''Name 1%'''), ('text', 'a::text'),
  ('date', 'date_trunc(''month'', t)'), ('int', 'extract(year FROM d)'), ('date', 'd + k'), ('text', 'j ->> ''k'''), ('int', '(j ->> ''n'')::int'),
  ('text', 'md5(b)'), ('int', 'length(name)'), ('text', 'coalesce(name, email)'), ('text', 'coalesce(name, '''')'), ('text', 'coalesce(name, '''') || '' '' || coalesce(email, '''')'), ('int', 'k + 1'), ('text', 'name || upper(''tail'')'),
  ('int', 'coalesce(a, 0) - coalesce(length(name), 1)'), ('int', 'coalesce(k, a)'), ('numeric', 'coalesce(a, n, 0)'), ('int', 'coalesce(a, 0)'),
  ('text', 'coalesce(lower(name), ''none'')'), ('date', 'coalesce(d, t::date, date ''2020-01-01'')'), ('int', 'coalesce(random()::int, a)'),
  ('text', 'CASE WHEN a > 30 AND name <> ''x'' OR t IS NULL THEN lower(name) ELSE ''none'' END'), ('text', 'CASE WHEN NOT ok THEN name END'), ('int', 'greatest(a, k, 45)'),
  ('numeric', 'least(n, a)'), ('varchar(20)', 'CASE WHEN left(email, 5) = ANY (''{User1,User2}'') THEN email ELSE name || ''!'' END'), ('int', 'CASE WHEN name > ALL (''{a,Name 44 }'') THEN a END'),
  ('text', 'nullif(name, ''Name 45 '')'), ('int', 'CASE WHEN name IS DISTINCT FROM ''Name 45 '' THEN a ELSE k END'), ('text', 'CASE WHEN random() > 2 THEN name END'),
  ('int', 'abs(-k) + a'), ('text', 'to_char(t, ''YYYY'')'), ('text', 'concat(name, email)'), ('text', 'now()::text || name'), ('int', 'random() + a'),
  ('int', 'nothing + a'), ('int', 'name'), ('text', 'pg_catalog.upper(e.name)'), ('int', '(SELECT a)'), ('int', 'sum(a)');

-- The error's code, or the type that the column gets and its values.
CREATE FUNCTION outcome(tab text, type text, expression text, OUT state text, OUT declared text, OUT content text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ADD g %s GENERATED ALWAYS AS (%s) STORED', tab, type, replace(expression, 'e.name', tab || '.name'));
  SELECT format_type(atttypid, atttypmod) INTO declared FROM pg_attribute WHERE attrelid = tab::regclass AND attname = 'g';
  EXECUTE format('UPDATE %s SET id = id WHERE id > 40', tab);
  EXECUTE format('SELECT string_agg(g::text, '','' ORDER BY id) FROM %s', tab) INTO content;
  EXECUTE format('ALTER TABLE %s DROP g', tab);
EXCEPTION WHEN OTHERS THEN
  state := SQLSTATE;
END $$;

SELECT ok((e.state, e.content) IS NOT DISTINCT FROM (p.state, p.content),
          format('%s GENERATED ALWAYS AS (%s): %s', type, expression, coalesce(e.state, 'as of plain columns')))
FROM generated, outcome('p', type, expression) p, outcome('e', type, expression) e;

SELECT is(e.declared, wanted, format('%s of %s', type, expression))
FROM (VALUES ('text', 'lower(email)', 'encrypted_text(aes128,salt,gcm)'), ('varchar(30)', 'upper(name)', 'encrypted_varchar(30,aes256,nosalt,sha256)'),
             ('int', 'a + 1', 'encrypted_int4(aes256,salt,nomac)'), ('numeric(12,1)', 'n * a', 'encrypted_numeric(12,1,aes256,salt,gcm)'),
             ('int', 'k + 1', 'integer'), ('encrypted_text(aes192,nosalt)', 'lower(email)', 'encrypted_text(aes192,nosalt,gcm)')) AS v(type, expression, wanted),
     outcome('e', type, expression) e;

-- CREATE TABLE, and tables made of that one.
CREATE TABLE made (email encrypted_text, n int, low text GENERATED ALWAYS AS (lower(made.email)) STORED, more int GENERATED ALWAYS AS (n + length(email)) STORED,
                   plain int GENERATED ALWAYS AS (n + 1) STORED);
CREATE TABLE copied (LIKE made INCLUDING ALL);
CREATE TABLE child () INHERITS (made);
CREATE TABLE parts (LIKE made INCLUDING ALL) PARTITION BY RANGE (n);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (10);
INSERT INTO made VALUES ('Ab', 1), (NULL, 2);
INSERT INTO copied VALUES ('Ab', 1), (NULL, 2);
INSERT INTO child VALUES ('Ab', 1), (NULL, 2);
INSERT INTO parts VALUES ('Ab', 1), (NULL, 2);
SELECT results_eq(format('SELECT email::text, n, low::text, more::int, plain FROM ONLY %s ORDER BY n', t),
                  $$VALUES ('Ab'::text, 1, 'ab'::text, 3, 2), (NULL, 2, NULL, NULL, 3)$$, 'values of ' || t)
FROM unnest('{made,copied,child,part}'::text[]) t;
SELECT ok(bool_and(CASE attname WHEN 'plain' THEN atttypid = 'int'::regtype ELSE atttypid::regtype::text LIKE 'encrypted%' END), 'types of ' || attrelid::regclass)
FROM pg_attribute WHERE attrelid IN ('made'::regclass, 'copied'::regclass, 'child'::regclass, 'part'::regclass) AND attgenerated = 's' GROUP BY attrelid;
UPDATE made SET email = 'Cd' WHERE n = 2;
SELECT is(array_agg(low::text), '{ab,cd,ab,cd}'::text[], 'after UPDATE') FROM (SELECT low FROM made ORDER BY tableoid, n) t;

-- An index on it serves as on every column.
CREATE INDEX ON made (low);
SET LOCAL enable_seqscan = off;
SELECT is(count(*)::int, 2, 'looked up') FROM made WHERE low = 'ab';

-- Who may not decrypt writes it.
CREATE ROLE writer;
GRANT ALL ON made TO writer;
GRANT USAGE ON SCHEMA public TO writer;
CREATE ROLE reader;
SET tde_column.decrypt_role = 'reader';
SET ROLE writer;
SELECT lives_ok($$INSERT INTO made VALUES ('Ef', 9)$$, 'who may not decrypt can write');
RESET ROLE;
RESET tde_column.decrypt_role;
SELECT is(low::text, 'ef', 'and what is generated is right') FROM made WHERE n = 9;

-- Settings, and what cannot be.
SET tde_column.plaintext_alter = 'error';
SELECT throws_ok('CREATE TABLE refused (a encrypted_text, g text GENERATED ALWAYS AS (lower(a)) STORED)', '42P17', NULL, 'a plain type, with plaintext_alter = error');
SELECT throws_ok('CREATE TABLE refused (a encrypted_text, g text GENERATED ALWAYS AS (a) STORED)', '42P17', NULL, 'of the column itself');
SELECT lives_ok('CREATE TABLE declared (a encrypted_text, g encrypted_text GENERATED ALWAYS AS (lower(a)) STORED)', 'an encrypted one is as it is declared');
RESET tde_column.plaintext_alter;
CREATE FUNCTION own(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1';
SELECT throws_ok('CREATE TABLE refused (a encrypted_text, g text GENERATED ALWAYS AS (own(a)) STORED)', '42P17', 'generation expression is not immutable',
                 'a function of a user''s own');
SELECT throws_ok('CREATE TABLE refused (a encrypted_jsonb, b encrypted_text(nomac), g jsonb GENERATED ALWAYS AS (to_jsonb(lower(b))) STORED)', NULL, NULL,
                 'no jsonb without MAC');
SELECT throws_ok('CREATE TABLE refused (a encrypted_text, n encrypted_int4, g text GENERATED ALWAYS AS (a || nullif(n::text, '''')) STORED)', '42P17', NULL,
                 'what is decrypted within');
CREATE FUNCTION hint_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE command;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN hint;
END $$;
SELECT alike(hint_of(format('CREATE TABLE refused (a encrypted_text, n encrypted_int4, g text GENERATED ALWAYS AS (%s) STORED)', e)), 'A generated column can have%', 'the error says why: ' || e)
FROM unnest(ARRAY['a || nullif(n::text, '''')', 'own(a)', 'now()::text || a']) e;
CREATE DOMAIN short AS text;
SELECT throws_ok('CREATE TABLE refused (a encrypted_text, g short GENERATED ALWAYS AS (lower(a)) STORED)', '42P17', NULL, 'a domain');

-- columns that come from another table or type
CREATE FUNCTION generated_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE command;
  INSERT INTO came (a, n) VALUES ('Abc', 5);
  SELECT g || ' ' || pg_typeof(g) INTO result FROM came;
  DROP TABLE came;
  RETURN result;
END $$;
CREATE TABLE source (a encrypted_text, n encrypted_int4);
CREATE TABLE more (a encrypted_text, x int);
SELECT is(generated_of(format('CREATE TABLE came %s', declared)), 'abc encrypted_text', 'columns of another: ' || declared)
FROM unnest(ARRAY['(g text GENERATED ALWAYS AS (lower(a)) STORED) INHERITS (source)',
                  '(LIKE source, g text GENERATED ALWAYS AS (lower(a)) STORED)',
                  '(g text GENERATED ALWAYS AS (lower(a)) STORED, LIKE source)',
                  '(a encrypted_text, g text GENERATED ALWAYS AS (lower(a)) STORED) INHERITS (source, more)']) declared;
SELECT is(generated_of('CREATE TABLE came (x int, g int GENERATED ALWAYS AS (n + 1) STORED) INHERITS (more, source)'), '6 encrypted_int4', 'of the second parent');
-- of what the same statement drops, alters or adds
CREATE FUNCTION altered(VARIADIC commands text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  command text;
  result text;
BEGIN
  FOREACH command IN ARRAY commands LOOP EXECUTE command; END LOOP;
  INSERT INTO came (a) VALUES ('Abc');
  SELECT g || ' ' || pg_typeof(g) INTO result FROM came;
  DROP TABLE came;
  DROP TABLE IF EXISTS parent;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
SELECT is(altered('CREATE TABLE came (a text)', 'ALTER TABLE came ALTER a TYPE encrypted_text, ADD g text GENERATED ALWAYS AS (lower(a)) STORED'),
          'abc encrypted_text', 'a column that becomes encrypted');
SELECT is(altered('CREATE TABLE came (a text, x text)', 'ALTER TABLE came DROP a, ADD a encrypted_text, ADD g text GENERATED ALWAYS AS (lower(a)) STORED'),
          'abc encrypted_text', 'a column in the place of a plain one');
SELECT is(altered('CREATE TABLE came (a encrypted_text, n encrypted_int4)', 'ALTER TABLE came ALTER a TYPE varchar(30), ADD g text GENERATED ALWAYS AS (lower(a)) STORED'),
          'abc encrypted_text', 'a column that stays encrypted');
SET LOCAL tde_column.plaintext_alter = warn;
SELECT is(altered('CREATE TABLE came (a encrypted_text)', 'ALTER TABLE came ALTER a TYPE text, ADD g text GENERATED ALWAYS AS (lower(a)) STORED'),
          'abc text', 'a column that is decrypted');
RESET tde_column.plaintext_alter;
-- from 16 on a child may have an expression of its own
SELECT is(altered('CREATE TABLE parent (a encrypted_text, g text GENERATED ALWAYS AS (lower(a)) STORED)', 'CREATE TABLE came (g text GENERATED ALWAYS AS (upper(a)) STORED) INHERITS (parent)'),
          CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'ABC encrypted_text' ELSE '42611' END, 'a column that is merged with its parent''s');
SELECT is(altered('CREATE TABLE parent (a encrypted_text, g text GENERATED ALWAYS AS (lower(a)) STORED)', format('CREATE TABLE came (g %s GENERATED ALWAYS AS (upper(a)) STORED) INHERITS (parent)', t)),
          CASE WHEN t = 'nothing' THEN '42704' ELSE '42804' END, 'what would be another type: ' || t)
FROM unnest('{varchar(3),date,nothing,int,text[]}'::text[]) t;
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
SELECT lives_ok('CREATE FOREIGN TABLE far (a encrypted_text, g text GENERATED ALWAYS AS (lower(a)) STORED) SERVER nowhere', 'of a foreign table');
SELECT alike(format_type(atttypid, atttypmod), 'encrypted_text(%', '... whose column becomes encrypted') FROM pg_attribute WHERE attrelid = 'far'::regclass AND attname = 'g';
SELECT throws_ok('CREATE TABLE refused (LIKE nothing, g text GENERATED ALWAYS AS (lower(a)) STORED)', '42P01', NULL, 'LIKE of a table that is not there');
SELECT throws_ok('CREATE TABLE refused (g text GENERATED ALWAYS AS (low) STORED) INHERITS (made)', '42P17', NULL, 'of a column that is generated itself');

SELECT finish();
ROLLBACK;
