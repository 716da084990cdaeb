-- Partition keys with expressions of encrypted columns: rows go where those of plain columns go, the same partitions are pruned, and what
-- has no encrypted form is refused.  Operator classes that are named in partition keys and in ON CONFLICT.
BEGIN;
\ir include/family.sql
\ir include/statement.sql
SELECT * FROM no_plan();

CREATE TABLE p (id int, name text, email varchar(60), a int, b int, n numeric(10,2), d date, t timestamp, ok bool);
CREATE TABLE e (id int, name encrypted_text, email encrypted_varchar(60,aes128,nosalt), a encrypted_int4(nomac), b encrypted_int4, n encrypted_numeric(10,2),
                d encrypted_date, t encrypted_timestamp, ok encrypted_bool);
INSERT INTO p SELECT g, CASE WHEN g % 5 > 0 THEN 'Name ' || g % 3 END, 'U' || g % 4 || '@X.org', g % 9, g % 4, g / 4.0, date '2020-01-01' + g,
                     timestamp '2020-01-01' + g * interval '1 hour', g % 2 = 0 FROM generate_series(1, 60) g;
INSERT INTO e SELECT * FROM p;

-- How such a table is made: key, bounds of its three partitions, and a condition that prunes.
CREATE TEMP TABLE keys (key text, bounds text[], condition text);
INSERT INTO keys VALUES
  ('LIST (lower(name))', '{IN (''name 0''),IN (''name 1''),DEFAULT}', 'lower(name) = ''name 1'''),
  ('LIST (lower(name) COLLATE "C")', '{IN (''name 0''),IN (''name 1''),DEFAULT}', 'lower(name) COLLATE "C" = ''name 1'''),
  ('LIST (left(email, 2))', '{IN (''U0''),"IN (''U1'', ''U2'')",DEFAULT}', 'left(email, 2) IN (''U0'', ''U1'')'),
  ('RANGE ((a + b))', '{FROM (MINVALUE) TO (4),FROM (4) TO (8),FROM (8) TO (MAXVALUE)}', 'a + b = 5'),
  ('RANGE (abs(a - 4), b, (n * 2))', '{"FROM (0, MINVALUE, MINVALUE) TO (2, 2, 10)","FROM (2, 2, 10) TO (3, 0, 0)",DEFAULT}', 'abs(a - 4) = 3 AND b = 1'),
  ('RANGE (date_trunc(''month'', t))', '{FROM (MINVALUE) TO (''2020-01-01''),FROM (''2020-01-01'') TO (''2020-02-01''),DEFAULT}',
   'date_trunc(''month'', t) = ''2020-01-01'''),
  ('LIST (extract(month FROM d))', '{IN (1),IN (2),DEFAULT}', 'extract(month FROM d) = 2'),
  ('LIST ((CASE WHEN a > 3 THEN lower(name) END))', '{IN (''name 1''),IN (NULL),DEFAULT}', 'CASE WHEN a > 3 THEN lower(name) END = ''name 1'''),
  ('LIST (greatest(name, left(email, 3)))', '{IN (''U0''),IN (''U1@''),DEFAULT}', 'greatest(name, left(email, 3)) = ''U1@'''),
  ('RANGE (a)', '{FROM (0) TO (3),FROM (3) TO (6),DEFAULT}', 'a = 4'),
  ('RANGE (a int4_ops, name text_ops)', '{"FROM (0, ''N'') TO (3, ''N'')","FROM (3, ''N'') TO (6, ''N'')",DEFAULT}', 'a = 4'),
  ('LIST (name text_pattern_ops)', '{IN (''Name 0''),IN (NULL),DEFAULT}', 'name IS NULL'),
  ('LIST (email varchar_ops)', '{IN (''U0@X.org''),IN (NULL),DEFAULT}', 'email = ''U0@X.org'''),
  ('HASH (upper(name))', '{"WITH (MODULUS 3, REMAINDER 0)","WITH (MODULUS 3, REMAINDER 1)","WITH (MODULUS 3, REMAINDER 2)"}', 'upper(name) = ''NAME 1'''),
  ('HASH (a int4_ops)', '{"WITH (MODULUS 3, REMAINDER 0)","WITH (MODULUS 3, REMAINDER 1)","WITH (MODULUS 3, REMAINDER 2)"}', 'a = 4'),
  -- what has no encrypted form
  ('LIST ((NOT ok))', '{IN (true),DEFAULT}', NULL),
  ('LIST ((random() + a))', '{IN (1),DEFAULT}', NULL),
  ('LIST (name name_ops)', '{IN (''a''),DEFAULT}', NULL);

-- What becomes of one of the tables: an error, or the rows of each partition; partitions that the condition reads, and rows that it finds.
CREATE FUNCTION partitioned(twin text, k keys) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan text := '';
  line text;
  rows text;
  failure text;
BEGIN
  EXECUTE format('CREATE TABLE parted (LIKE %s) PARTITION BY %s', twin, k.key);
  FOR i IN 1 .. cardinality(k.bounds) LOOP
    EXECUTE format('CREATE TABLE part%s PARTITION OF parted %s %s', i, CASE WHEN k.bounds[i] <> 'DEFAULT' THEN 'FOR VALUES' END, k.bounds[i]);
  END LOOP;
  EXECUTE format('INSERT INTO parted SELECT * FROM %s', twin);
  EXECUTE 'UPDATE parted SET a = 4, name = ''Name 1'' WHERE id = 7';
  FOR line IN EXECUTE 'EXPLAIN SELECT * FROM parted WHERE ' || k.condition LOOP
    plan := plan || coalesce(substring(line FROM ' on (part\d)'), '');
  END LOOP;
  EXECUTE format('SELECT (SELECT string_agg(tableoid::regclass || '' '' || id, '','' ORDER BY tableoid::regclass::text, id) FROM parted) || '' '' ||
                         (SELECT count(*) FROM parted WHERE %s)', k.condition) INTO rows;
  DROP TABLE parted;
  -- hashes of encrypted values are others
  RETURN CASE WHEN k.key LIKE 'HASH%' THEN regexp_replace(rows, '.* ', '') || ' ' || length(plan) ELSE plan || ' ' || rows END;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;

SELECT is(partitioned('e', k), partitioned('p', k), k.key) FROM keys k WHERE condition IS NOT NULL;
SELECT unalike(partitioned('e', k), '_____', k.key || ' is accepted') FROM keys k WHERE condition IS NOT NULL;
SELECT is(partitioned('e', k), CASE WHEN k.key LIKE '%_ops%' THEN '42804' ELSE '42P17' END, k.key || ' is refused') FROM keys k WHERE condition IS NULL;

-- columns of a composite type
CREATE TYPE composed AS (a encrypted_text, n encrypted_int4);
CREATE TABLE typed OF composed PARTITION BY LIST (lower(a));
SELECT matches(pg_get_partkeydef('typed'::regclass), 'tde_computed', 'what is computed of a type''s columns stays encrypted');
SELECT throws_ok('CREATE TABLE refused OF nothing PARTITION BY LIST (lower(a))', '42704', NULL, 'a type that is not there');

--
-- Partitions of partitions, and what is computed is not in clear
--
CREATE TABLE parted (a encrypted_text, n encrypted_int4('key=parted')) PARTITION BY LIST (lower(a));
CREATE TABLE part PARTITION OF parted FOR VALUES IN ('x', 'y') PARTITION BY RANGE ((n + 1));
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (1) TO (5);
INSERT INTO parted VALUES ('X', 1);
SELECT gives('SELECT tableoid::regclass, a FROM parted WHERE lower(a) = ''x'' AND n + 1 = 2', '(part_1,X)');
SELECT throws_ok('INSERT INTO parted VALUES (''X'', 4)', '23514', NULL, 'no partition for it');
SELECT throws_ok('INSERT INTO part_1 VALUES (''Z'', 1)', '23514', NULL, 'a partition takes only what belongs there');
SELECT is((SELECT array_agg(DISTINCT opcintype::regtype::text ORDER BY opcintype::regtype::text) FROM pg_partitioned_table, unnest(partclass) c, pg_opclass
           WHERE partrelid IN ('parted'::regclass, 'part'::regclass) AND pg_opclass.oid = c), '{encrypted_int4,encrypted_text}', 'keys are encrypted');
CREATE TABLE other (LIKE parted);
INSERT INTO other VALUES ('Z', 1);
ALTER TABLE parted ATTACH PARTITION other FOR VALUES IN ('z');
SELECT gives('SELECT tableoid::regclass, a FROM parted WHERE lower(a) = ''z''', '(other,Z)');
-- what pg_dump writes
SELECT lives_ok(format('CREATE TABLE again (a encrypted_text, n encrypted_int4) PARTITION BY %s', pg_get_partkeydef('parted'::regclass)), 'its own definition is taken');
SELECT is(pg_get_partkeydef('again'::regclass), pg_get_partkeydef('parted'::regclass), 'and stays');

-- who may not decrypt may write
CREATE ROLE may_see;
CREATE ROLE writer;
GRANT SELECT, INSERT ON parted TO writer;
SET LOCAL tde_column.decrypt_role = 'may_see';
SET LOCAL ROLE writer;
SELECT lives_ok('INSERT INTO parted VALUES (''y'', 2)', 'a role that may not decrypt writes into partitions');
SELECT unalike(complaint('INSERT INTO parted VALUES (''secret'', 2)'), '%secret%', 'and is not told what is computed');
RESET ROLE;
RESET tde_column.decrypt_role;

--
-- ON CONFLICT
--
CREATE TABLE unique_p (k int, f text, v varchar, c char(5));
CREATE TABLE unique_e (k encrypted_int4, f encrypted_text, v encrypted_varchar, c encrypted_bpchar(5));
DO $$
DECLARE
  keys text;
BEGIN
  FOREACH keys IN ARRAY ARRAY['k', 'f text_pattern_ops', 'v varchar_pattern_ops, k', 'lower(f) text_pattern_ops, k', 'c, f'] LOOP
    EXECUTE format('CREATE UNIQUE INDEX ON unique_p (%1$s); CREATE UNIQUE INDEX ON unique_e (%1$s);', keys);
  END LOOP;
END
$$;
CREATE FUNCTION conflict(twin text, keys text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('WITH i AS (INSERT INTO unique_%1$s VALUES (1, ''a'', ''b'', ''c'') ON CONFLICT (%2$s) DO NOTHING RETURNING 1) SELECT * FROM i;
                  INSERT INTO unique_%1$s VALUES (1, ''a'', ''b'', ''c'') ON CONFLICT (%2$s) DO UPDATE SET k = excluded.k', twin, keys);
  RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
SELECT is(ARRAY[conflict('e', keys), conflict('p', keys)], ARRAY[expected, expected], 'ON CONFLICT (' || keys || ')')
FROM (VALUES ('k int4_ops', 'taken'), ('f text_pattern_ops', 'taken'), ('f text_ops', '42P10'), ('f varchar_pattern_ops', 'taken'), ('k int4_ops, v text_pattern_ops', 'taken'),
             ('lower(f) text_pattern_ops, k', 'taken'), ('lower(f) text_ops, k', '42P10'), ('c bpchar_ops, f text_ops', 'taken'), ('c bpchar_pattern_ops, f', '42P10'),
             ('k int8_ops', '42P10'), ('f', 'taken'), ('f COLLATE "C" text_pattern_ops', '42P10')) AS v (keys, expected);

-- Errors name the key as it was declared.
CREATE TABLE no_partition_p (a text, n int4) PARTITION BY RANGE (lower(a), (n + 0), n);
CREATE TABLE no_partition_e (a encrypted_text(nosalt), n encrypted_int4) PARTITION BY RANGE (lower(a), (n + 0), n);
CREATE FUNCTION detail(twin text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  said text;
BEGIN
  EXECUTE format('INSERT INTO no_partition_%s VALUES (''Ab'', 3)', twin);
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
  RETURN said;
END
$$;
SELECT is(ARRAY[detail('e'), detail('p')], array_fill('Partition key of the failing row contains (lower(a), (n + 0), n) = (ab, 3, 3).'::text, ARRAY[2]), 'an error names the key as it was declared');

SELECT * FROM finish();
ROLLBACK;
