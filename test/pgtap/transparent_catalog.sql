-- With tde_column.transparent_catalog, what a client reads from the catalogs of encrypted columns is what it would read of plain ones.
BEGIN;
SELECT * FROM no_plan();
SET client_min_messages = warning;

-- Twins, with a column of each type, with modifiers where it has them, and arrays; domains, composite types, views and indexes of both.
DO $$
DECLARE
  types CONSTANT text[] := ARRAY['text', 'varchar', 'varchar(40)', 'bpchar', 'bpchar(8)', 'int2', 'int4', 'int8', 'numeric', 'numeric(9)', 'numeric(25,5)',
    'numeric(8,-2)', 'float4', 'float8', 'bool', 'date', 'time', 'time(3)', 'timetz', 'timetz(0)', 'timestamp', 'timestamp(3)', 'timestamptz', 'timestamptz(0)',
    'interval', 'interval(3)', 'bytea', 'uuid', 'json', 'jsonb', 'inet'];
  plain text;
  enc   text;
BEGIN
  SELECT string_agg(format('c%s %s', i, t), ', ' ORDER BY i),
         string_agg(format('c%s encrypted_%s', i, regexp_replace(t, '\)(\[\])?$',
           CASE i % 3 WHEN 0 THEN ',nosalt)\1' WHEN 1 THEN ',''key=own'',aes128)\1' ELSE ')\1' END)), ', ' ORDER BY i)
    INTO plain, enc FROM unnest(types || ARRAY(SELECT t || '[]' FROM unnest(types) t)) WITH ORDINALITY u (t, i);
  EXECUTE format('CREATE TABLE p (id int PRIMARY KEY, %s)', plain);
  EXECUTE format('CREATE TABLE e (id int PRIMARY KEY, %s)', enc);
  EXECUTE format('CREATE TYPE pc AS (%s)', plain);
  EXECUTE format('CREATE TYPE ec AS (%s)', enc);
END
$$;
CREATE DOMAIN pd AS varchar(9);
CREATE DOMAIN ed AS encrypted_varchar(9,nosalt);
CREATE DOMAIN pda AS numeric(9,2)[];
CREATE DOMAIN eda AS encrypted_numeric(9,2)[];
CREATE TABLE p2 (a pd, b pda, c pd[], gone text, d pc);
CREATE TABLE e2 (a ed, b eda, c ed[], gone encrypted_text, d ec);
ALTER TABLE p2 DROP gone;
ALTER TABLE e2 DROP gone;
CREATE VIEW pv AS SELECT * FROM p;
CREATE VIEW ev AS SELECT * FROM e;
CREATE INDEX pi ON p (c3, c7);
CREATE INDEX ei ON e (c3, c7);
CREATE VIEW users_view AS SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'e'::regclass AND attnum > 0;
CREATE FUNCTION in_function() RETURNS text LANGUAGE plpgsql AS
  $$ BEGIN RETURN (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3'); END $$;
CREATE FUNCTION in_inlined() RETURNS SETOF text LANGUAGE sql STABLE AS
  $$ SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' $$;

SELECT isnt(format_type(a.atttypid, a.atttypmod), 'character varying(40)', 'off, a column has its encrypted type')
  FROM pg_attribute a WHERE attrelid = 'e'::regclass AND attname = 'c3';
PREPARE told AS SELECT format_type(a.atttypid, a.atttypmod) = 'character varying(40)' AS told FROM pg_attribute a WHERE attrelid = 'e'::regclass AND attname = 'c3';
EXECUTE told \gset off_
SET plan_cache_mode = force_generic_plan;

SET tde_column.transparent_catalog = on;

-- ---- what drivers and ORMs read ----

CREATE TEMP TABLE twins (plain regclass, enc regclass);
INSERT INTO twins VALUES ('p', 'e'), ('p2', 'e2'), ('pc', 'ec'), ('pv', 'ev'), ('pi', 'ei');

SELECT is(e.types::text, p.types::text, format('format_type(), %s', enc))
  FROM twins,
  LATERAL (SELECT array_agg((attname, regexp_replace(format_type(atttypid, atttypmod), '^e(?!n)', 'p'), attcollation, attndims) ORDER BY attnum) AS types
             FROM pg_attribute WHERE attrelid = plain AND attnum > 0 AND NOT attisdropped) p,
  LATERAL (SELECT array_agg((attname, regexp_replace(format_type(atttypid, atttypmod), '^e(?!n)', 'p'), attcollation, attndims) ORDER BY attnum) AS types
             FROM pg_attribute WHERE attrelid = enc AND attnum > 0 AND NOT attisdropped) e;
SELECT is(count(*), (SELECT count(*) FROM pg_attribute WHERE attrelid = 'p'::regclass), 'pg_attribute joined with pg_type, on its oid and in a subselect')
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  JOIN pg_attribute b ON b.attrelid = 'p'::regclass AND b.attname = a.attname AND (b.atttypid, b.atttypmod) = (t.oid, a.atttypmod)
  WHERE a.attrelid = 'e'::regclass AND t.typnamespace = 'pg_catalog'::regnamespace
    AND t.typname = (SELECT s.typname FROM pg_type s WHERE s.oid = (SELECT c.atttypid FROM pg_attribute c WHERE c.attrelid = b.attrelid AND c.attnum = b.attnum));

-- Whole rows of a view, but for names.
CREATE FUNCTION pg_temp.anonymous(r jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_object_agg(key, value ORDER BY key) FROM jsonb_each(r)
   WHERE key NOT IN ('table_name', 'udt_name', 'domain_name', 'object_name', 'view_name') OR value #>> '{}' !~ '^_?[pe][cdiv2]?a?$' $$;
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.columns: %s.%s', enc, e.column_name))
  FROM twins JOIN information_schema.columns e ON e.table_name = enc::text JOIN information_schema.columns p ON p.table_name = plain::text AND p.ordinal_position = e.ordinal_position;
SELECT is(count(*), (SELECT 2 * count(*) + 4 FROM pg_attribute WHERE attrelid = 'p'::regclass AND attnum > 0), 'in all columns')
  FROM twins JOIN information_schema.columns e ON e.table_name = enc::text;
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.attributes: %s', e.attribute_name))
  FROM information_schema.attributes e JOIN information_schema.attributes p USING (attribute_name) WHERE e.udt_name = 'ec' AND p.udt_name = 'pc';
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.domains: %s', e.domain_name))
  FROM information_schema.domains e JOIN information_schema.domains p ON p.domain_name = replace(e.domain_name, 'e', 'p') WHERE e.domain_name IN ('ed', 'eda');
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.element_types: %s', e.collection_type_identifier))
  FROM information_schema.element_types e JOIN information_schema.element_types p USING (collection_type_identifier)
  WHERE e.object_name = 'e' AND p.object_name = 'p';
SELECT is(array_agg((e.udt_schema, e.udt_name) ORDER BY column_name)::text, (SELECT array_agg((udt_schema, udt_name) ORDER BY column_name)::text
          FROM information_schema.column_udt_usage WHERE table_name = 'p'), 'information_schema.column_udt_usage')
  FROM information_schema.column_udt_usage e WHERE table_name = 'e';
SELECT is(format_type(typbasetype, typtypmod), 'character varying(9)', 'pg_type tells the type that a domain is over') FROM pg_type WHERE oid = 'ed'::regtype;

-- ---- in other forms of a query ----

SELECT is((a).atttypid, 'varchar'::regtype::oid, 'in a whole row') FROM pg_attribute a WHERE attrelid = 'e'::regclass AND attname = 'c3';
WITH a AS MATERIALIZED (SELECT * FROM pg_attribute)
SELECT is(atttypid, 'varchar'::regtype::oid, 'in WITH') FROM a WHERE attrelid = 'e'::regclass AND attname = 'c3';
SELECT is(a.atttypmod, 44, 'in an outer join') FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND attname = 'c3' WHERE c.oid = 'e'::regclass;
SELECT is(t, 'varchar'::regtype::oid, 'in a lateral subselect, sorted')
  FROM pg_class c, LATERAL (SELECT max(atttypid) AS t FROM pg_attribute WHERE attrelid = c.oid AND attname = 'c3' GROUP BY attname ORDER BY 1 LIMIT 1) a WHERE c.oid = 'e'::regclass;
SELECT is(string_agg(t::regtype::text, ','), 'character varying,encrypted_varchar', 'not in a user''s view') FROM
  (SELECT atttypid AS t FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' UNION ALL
   SELECT regexp_replace(type, '\(.*', '')::regtype FROM users_view WHERE attname = 'c3') u;
SELECT isnt(in_function(), 'character varying(40)', 'nor in a function');
SELECT isnt(t, 'character varying(40)', 'nor in one that is inlined') FROM in_inlined() t;
SELECT is(count(*), (SELECT count(*) - 1 FROM pg_attribute WHERE attrelid = 'e'::regclass AND attnum > 0), 'nor in tde.encrypted_columns')
  FROM tde.encrypted_columns WHERE table_name = 'e';
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'nor with system columns of pg_attribute') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' AND tableoid > 0;
SELECT is(count(*), 1::bigint, 'the number of rows is the same') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
SELECT ok(atttypid = 'encrypted_varchar'::regtype, 'nor in rows that are locked') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' FOR SHARE;

-- What stores what it reads.
CREATE TEMP TABLE stored AS SELECT atttypid FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
INSERT INTO stored SELECT atttypid FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
WITH new AS (INSERT INTO stored SELECT atttypid FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' RETURNING *) SELECT FROM new;
SELECT is(array_agg(DISTINCT atttypid), ARRAY['encrypted_varchar'::regtype::oid], 'CREATE TABLE AS and INSERT see the truth') FROM stored;

-- Prepared statements and cursors follow the setting when they are planned.
EXECUTE told \gset on_
SET tde_column.transparent_catalog = off;
EXECUTE told \gset off_again_
SET tde_column.transparent_catalog = on;
EXECUTE told \gset on_again_
SELECT is(ARRAY[:'off_told', :'on_told', :'off_again_told', :'on_again_told'], '{f,t,f,t}'::text[], 'a prepared statement follows the setting');
DECLARE c CURSOR FOR SELECT atttypid = 'varchar'::regtype AS told FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
FETCH c \gset cursor_
SELECT ok(:'cursor_told', 'a cursor');
CLOSE c;

-- ---- when it has no effect ----

SET row_security = off;
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not with row_security off') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET row_security;
SET synchronize_seqscans = off;
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not with synchronize_seqscans off') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET synchronize_seqscans;
SET tde_column.transparent_results = off;
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not without transparent results') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET tde_column.transparent_results;
SET tde_column.io_format = ciphertext;
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not for who wants ciphertext') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET tde_column.io_format;

-- Permissions are those of the catalog, and columns of it that nobody may read stay so.
CREATE ROLE reader;
GRANT SELECT ON stored TO reader;
REVOKE SELECT ON pg_attribute FROM PUBLIC;
GRANT SELECT (attrelid, attname, atttypid) ON pg_attribute TO reader;
SET ROLE reader;
SELECT 'varchar'::regtype = atttypid AS told FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' \gset reader_
SAVEPOINT s;
\set ON_ERROR_STOP off
SELECT atttypmod FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
\set state :LAST_ERROR_SQLSTATE
ROLLBACK TO s;
SELECT data_type AS told FROM information_schema.columns WHERE table_name = 'stored' \gset view_
RESET ROLE;
SELECT is(ARRAY[:'reader_told', :'state', :'view_told'], '{t,42501,oid}'::text[], 'a role reads what it may read of the catalog, itself and through views');

SELECT * FROM finish();
ROLLBACK;
