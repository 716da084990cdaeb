-- SQL's names of types after "encrypted_" are names of ours in declarations, and hints elsewhere.
BEGIN;
SELECT * FROM no_plan();

CREATE TEMP TABLE word AS
  SELECT name, CASE name WHEN 'double' THEN 'float8' WHEN 'string' THEN 'text' WHEN 'number' THEN 'numeric' ELSE name END AS plain
  FROM unnest('{int,integer,bigint,smallint,decimal,char,character,boolean,real,double,float,string,number}'::text[]) name;
SELECT lives_ok(format('CREATE TABLE by_%s (p %s, e encrypted_%1$s, a encrypted_%1$s[], n encrypted_%1$s NOT NULL)', name, plain), name) FROM word;
SELECT is(ROW((tde_internal.tde_type_base(e.atttypid)).base, substring(format_type(e.atttypid, e.atttypmod), '\((\d+)'), e.atttypmod >= 0, a.atttypid),
          ROW(p.atttypid::regtype, substring(format_type(p.atttypid, p.atttypmod), '\((\d+)'), true, (SELECT typarray FROM pg_type WHERE oid = e.atttypid)),
          name || ': type, length, specification and array')
FROM word, LATERAL (SELECT * FROM pg_attribute WHERE attrelid = ('by_' || name)::regclass) p JOIN pg_attribute e ON e.attrelid = p.attrelid AND e.attname = 'e'
  JOIN pg_attribute a ON a.attrelid = p.attrelid AND a.attname = 'a' WHERE p.attname = 'p';

-- Everywhere where columns are declared, with all that may stand there.
CREATE TABLE t (c encrypted_char(3, aes128, nosalt), d encrypted_decimal(9, 2, aes192), l encrypted_character(aes256), g text GENERATED ALWAYS AS (upper(c)) STORED);
ALTER TABLE t ADD COLUMN i encrypted_int DEFAULT 7, ALTER COLUMN d TYPE encrypted_bigint;
CREATE TYPE pair AS (x encrypted_boolean, y encrypted_string);
ALTER TYPE pair ADD ATTRIBUTE z encrypted_real;
CREATE DOMAIN age AS encrypted_smallint;
CREATE TABLE parted (k encrypted_integer) PARTITION BY HASH (k);
SELECT results_eq($$SELECT attname::text COLLATE "default", split_part(format_type(atttypid, atttypmod), ',', 1) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum$$,
                  $$VALUES ('c', 'encrypted_bpchar(3'), ('d', 'encrypted_int8(aes256'), ('l', 'encrypted_bpchar(1'), ('g', 'encrypted_text(aes128'), ('i', 'encrypted_int4(aes256')$$,
                  'CREATE TABLE and ALTER TABLE');
INSERT INTO t VALUES ('ab', 12, 'x');
SELECT results_eq('SELECT c::text, d::int8, l::text, g::text, i::int4 FROM t', $$VALUES ('ab', 12::int8, 'x', 'AB', 7)$$, 'with values');
SELECT is(format_type(typbasetype, -1), 'encrypted_int2', 'a domain') FROM pg_type WHERE typname = 'age';
SELECT is(string_agg(format_type(atttypid, -1), ' ' ORDER BY attnum), 'encrypted_bool encrypted_text encrypted_float4', 'a composite type')
FROM pg_attribute WHERE attrelid = 'pair'::regclass;

-- A type that is there is that one.
CREATE DOMAIN encrypted_int AS text;
CREATE TABLE other (i encrypted_int, j encrypted_integer);
SELECT is((SELECT atttypid FROM pg_attribute WHERE attrelid = 'other'::regclass AND attname = 'i'), 'encrypted_int'::regtype::oid, 'a type of that name');
CREATE TABLE quoted (i "encrypted_bigint");
SELECT throws_ok('CREATE TABLE x (i "Encrypted_Int")', '42704', NULL, 'no name in other letters');
SELECT throws_ok('CREATE TABLE x (i public.encrypted_smallint)', '42704', NULL, 'nor with a schema');
SELECT throws_ok('CREATE TABLE x (i encrypted_integer(3))', NULL, NULL, 'no modifier that the type lacks');

SELECT finish();
ROLLBACK;
