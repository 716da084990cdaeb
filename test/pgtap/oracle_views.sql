-- dba_, all_ and user_encrypted_columns: Oracle's columns and spellings, and who sees what.
BEGIN;
\ir include/family.sql
SELECT plan(15);

SELECT is((SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = name::regclass AND attnum > 0),
          columns || 'table_name column_name encryption_alg salt integrity_alg', name || ' has Oracle''s columns')
FROM (VALUES ('tde.dba_encrypted_columns', 'owner '), ('tde.all_encrypted_columns', 'owner '), ('tde.user_encrypted_columns', '')) AS views (name, columns);

CREATE ROLE alice;
CREATE ROLE bob;
CREATE ROLE monitor IN ROLE pg_monitor;
CREATE SCHEMA sales AUTHORIZATION alice;
CREATE TABLE sales.employee (id int, a encrypted_text(aes128,salt,mac), b encrypted_text(aes192,nosalt,sha256), c encrypted_int4(aes256,nosalt,nomac,cbc),
                             d encrypted_date('3des168',mac), e encrypted_text(aes256)[], f encrypted_int8(nosalt), "Mixed" encrypted_text(aes256,salt,nomac));
CREATE TABLE sales.parted (a encrypted_text(aes256)) PARTITION BY LIST (a);
CREATE TABLE sales.part PARTITION OF sales.parted DEFAULT;
CREATE VIEW sales.viewed AS SELECT a FROM sales.employee;
CREATE TABLE sales.dropped (a encrypted_text, b int);
ALTER TABLE sales.dropped DROP a;
ALTER TABLE sales.employee OWNER TO alice;
CREATE TABLE public.shared (a encrypted_text(aes256,nosalt,nomac,cbc), b encrypted_text(aes256));
GRANT SELECT (b) ON public.shared TO bob;

-- What a role reads, without what other tests may have left.
CREATE FUNCTION rows_of(role name, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SET LOCAL ROLE %I', role);
  RETURN QUERY EXECUTE query;
  RESET ROLE;
END
$$;

SELECT results_eq($$SELECT * FROM tde.dba_encrypted_columns WHERE owner = 'sales' ORDER BY table_name, column_name$$, $$VALUES
  ('sales'::name, 'employee'::name, 'Mixed'::name, 'AES 256 bits key', 'YES', 'NOMAC'),
  ('sales', 'employee', 'a', 'AES 128 bits key', 'YES', 'SHA-1'),
  ('sales', 'employee', 'b', 'AES 192 bits key', 'NO', 'SHA-256'),
  ('sales', 'employee', 'c', 'AES 256 bits key', 'NO', 'NOMAC'),
  ('sales', 'employee', 'd', '3 Key Triple DES 168 bits key', 'YES', 'SHA-1'),
  ('sales', 'employee', 'e', 'AES 256 bits key', 'YES', 'GCM'),
  ('sales', 'employee', 'f', 'AES 256 bits key', 'NO', 'GCM'),
  ('sales', 'parted', 'a', 'AES 256 bits key', 'YES', 'GCM')$$, 'dba_: all columns of tables, in Oracle''s words');
SELECT set_eq($$SELECT * FROM tde.dba_encrypted_columns$$, $$SELECT * FROM tde.all_encrypted_columns$$, 'to a superuser, all_ is dba_');

SELECT set_eq($$SELECT rows_of('alice', 'SELECT owner || ''.'' || table_name || ''.'' || column_name FROM tde.all_encrypted_columns')$$,
  ARRAY['sales.employee.Mixed', 'sales.employee.a', 'sales.employee.b', 'sales.employee.c', 'sales.employee.d', 'sales.employee.e', 'sales.employee.f'],
  'all_: the columns of one''s own tables');
SELECT set_eq($$SELECT rows_of('bob', 'SELECT owner || ''.'' || table_name || ''.'' || column_name FROM tde.all_encrypted_columns')$$,
  ARRAY['public.shared.a', 'public.shared.b'], 'all_: and of tables that one has a privilege on');
SELECT set_eq($$SELECT rows_of('alice', 'SELECT table_name || ''.'' || column_name FROM tde.user_encrypted_columns')$$,
  ARRAY['employee.Mixed', 'employee.a', 'employee.b', 'employee.c', 'employee.d', 'employee.e', 'employee.f'], 'user_: of tables that one owns');
SELECT is_empty($$SELECT rows_of('bob', 'SELECT column_name::text FROM tde.user_encrypted_columns')$$, 'user_: and of no others');
SELECT cmp_ok((SELECT count(*) FROM tde.user_encrypted_columns), '<', (SELECT count(*) FROM tde.dba_encrypted_columns), 'not even to a superuser');

SELECT throws_ok($$SELECT rows_of('alice', 'SELECT column_name::text FROM tde.dba_encrypted_columns')$$, '42501', NULL, 'dba_ is not for everybody');
SELECT throws_ok($$SELECT rows_of('alice', 'SELECT column_name::text FROM tde_internal.oracle_columns')$$, '42501', NULL, 'nor what is under it');
SELECT set_eq($$SELECT rows_of('monitor', 'SELECT owner || table_name || column_name FROM tde.dba_encrypted_columns')$$,
              $$SELECT owner || table_name || column_name FROM tde.dba_encrypted_columns$$, 'pg_monitor may read it');

-- A view's column is not a place where anything is stored.
SELECT is_empty($$SELECT FROM tde.dba_encrypted_columns WHERE table_name IN ('viewed', 'part', 'dropped')$$, 'no views, partitions, dropped columns');
SELECT set_eq($$SELECT schema_name, table_name, column_name FROM tde.encrypted_columns WHERE schema_name = 'sales' AND table_name <> 'part'$$,
              $$SELECT owner, table_name, column_name FROM tde.dba_encrypted_columns WHERE owner = 'sales'$$, 'the same columns as in tde.encrypted_columns');

SELECT finish();
ROLLBACK;
