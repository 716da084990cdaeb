-- A table of many encrypted columns keeps its rows in one piece, unless the rows would be taken apart without encryption, too.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

CREATE FUNCTION many(columns int, type text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(format('c%s %s', i, type), ', ') FROM generate_series(1, columns) i
$$;
CREATE FUNCTION make(name text, columns int, type text, ending text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %s (%s) %s', name, many(columns, type), ending);
END
$$;
CREATE FUNCTION options(name regclass) RETURNS text LANGUAGE sql AS $$ SELECT array_to_string(reloptions, ',') FROM pg_class WHERE oid = name $$;
CREATE FUNCTION out_of_line(name regclass) RETURNS bigint LANGUAGE sql AS $$
  SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = name
$$;
CREATE FUNCTION fill(name regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO %s SELECT %s FROM generate_series(1, 20) i', name,
                 (SELECT string_agg('''value ''|| i', ', ') FROM pg_attribute WHERE attrelid = name AND attnum > 0));
END
$$;

-- 2032 and, for each column, the varlena header and what sizes.sql measures
SELECT make('with_mac', 50, 'encrypted_text(aes256,salt,mac)');
SELECT is(options('with_mac'), 'toast_tuple_target=3882', '50 columns with a MAC: 37 bytes each');
SELECT make('with_gcm', 50, 'encrypted_text(aes256,salt,gcm)');
SELECT is(options('with_gcm'), 'toast_tuple_target=3582', '50 columns with gcm: 31 bytes each');
SELECT make('padded', 50, 'encrypted_int4(aes256,nosalt,nomac,cbc)');
SELECT is(options('padded'), NULL, '50 columns without salt and MAC: 19 bytes each are less than half of what stays in line anyway');
SELECT make('huge', 500, 'encrypted_int4(aes256,salt,mac)');
SELECT is(options('huge'), 'toast_tuple_target=8160', '500 columns: the largest that there is');
SELECT make('of_default', 50, 'encrypted_text');
SELECT alike(options('of_default'), 'toast_tuple_target=%', '50 columns that do not say how');
SELECT make('arrays', 50, 'encrypted_int4(aes256,salt,gcm)[]');
SELECT is(options('arrays'), 'toast_tuple_target=3582', 'arrays count once');
SELECT make('few', 25, 'encrypted_text(aes256,salt,mac)');
SELECT is(options('few'), NULL, 'a few columns');
SELECT make('plain', 200, 'text');
SELECT is(options('plain'), NULL, 'a plain table');
SELECT make('"a ""wide"" one"', 50, 'encrypted_text(aes256,salt,gcm)');
SELECT is(options('"a ""wide"" one"'), 'toast_tuple_target=3582', 'a name in quotes');
SELECT make('pg_temp.temporary', 50, 'encrypted_text(aes256,salt,gcm)');
SELECT is(options('pg_temp.temporary'), 'toast_tuple_target=3582', 'a temporary table');

-- what that is for
SELECT fill('with_mac');
SELECT is(out_of_line('with_mac'), 0::bigint, 'short values stay in the row');
SELECT make('apart', 50, 'encrypted_text(aes256,salt,mac)');
ALTER TABLE apart SET (toast_tuple_target = 2031);
SELECT fill('apart');
SELECT cmp_ok(out_of_line('apart'), '>', 0::bigint, 'they would not with PostgreSQL''s target');
UPDATE with_mac SET c1 = (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 100) i);
SELECT cmp_ok(out_of_line('with_mac'), '>', 0::bigint, 'a long value does not');
SELECT results_eq('SELECT DISTINCT length(c1), c50 LIKE ''value %'' FROM with_mac', 'VALUES (3200, true)', 'and all is read');

-- what somebody has chosen
SELECT make('lower', 50, 'encrypted_text(aes256,salt,gcm)', 'WITH (toast_tuple_target = 1000, fillfactor = 90)');
SELECT is(options('lower'), 'toast_tuple_target=1000,fillfactor=90', 'a lower target stays');
SELECT make('higher', 50, 'encrypted_text(aes256,salt,gcm)', 'WITH (toast_tuple_target = 8000)');
SELECT is(options('higher'), 'toast_tuple_target=8000', 'a higher one, too');
SELECT make('filled', 50, 'encrypted_text(aes256,salt,gcm)', 'WITH (fillfactor = 90)');
SELECT is(options('filled'), 'fillfactor=90,toast_tuple_target=3582', 'other options stay');
SELECT is(options('apart'), 'toast_tuple_target=2031', 'ALTER TABLE sets a lower one');
ALTER TABLE apart ADD x encrypted_text(aes256,salt,mac);
SELECT is(options('apart'), 'toast_tuple_target=2031', 'that a later column does not change');

-- tables that become wide
SELECT make('grows', 30, 'encrypted_text(aes256,salt,gcm)');
SELECT is(options('grows'), NULL, '30 columns');
ALTER TABLE grows ADD a encrypted_int4(aes256,salt,gcm), ADD b encrypted_int4(aes256,salt,gcm), ADD c encrypted_int4(aes256,salt,gcm);
SELECT is(options('grows'), 'toast_tuple_target=3055', '3 more');
ALTER TABLE grows ADD d encrypted_int4(aes256,salt,gcm), DROP c;
SELECT is(options('grows'), 'toast_tuple_target=3055', 'one more, and one less');
ALTER TABLE grows ADD e encrypted_int4(aes256,salt,gcm);
SELECT is(options('grows'), 'toast_tuple_target=3086', 'one more');
SELECT make('parted', 50, 'encrypted_text(aes256,salt,gcm)', 'PARTITION BY LIST (c1)');
CREATE TABLE part PARTITION OF parted DEFAULT;
SELECT is(options('parted'), NULL, 'a partitioned table has no rows');
SELECT is(options('part'), 'toast_tuple_target=3582', 'its partitions have');
CREATE TABLE child () INHERITS (with_gcm);
SELECT is(options('child'), 'toast_tuple_target=3582', 'a table that inherits');
CREATE VIEW shown AS SELECT * FROM with_gcm;
SELECT is(options('shown'), NULL, 'a view has no rows');
SELECT lives_ok(format('CREATE TYPE composite AS (%s)', many(50, 'encrypted_text(aes256,salt,gcm)')), 'a composite type neither');

-- without privileges of a superuser
CREATE ROLE wide_owner;
CREATE SCHEMA wide_schema AUTHORIZATION wide_owner;
GRANT EXECUTE ON FUNCTION many(int, text), make(text, int, text, text), options(regclass) TO wide_owner;
SET ROLE wide_owner;
SELECT make('wide_schema.owned', 50, 'encrypted_text(aes256,salt,gcm)');
RESET ROLE;
SELECT is(options('wide_schema.owned'), 'toast_tuple_target=3582', 'another role''s table');

SELECT finish();
ROLLBACK;
