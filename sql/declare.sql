-- Wherever a type can be declared, a bare one gets the default specification.
CREATE TABLE t (a encrypted_text, b encrypted_int4[], c encrypted_varchar(7), d int);
ALTER TABLE t ADD COLUMN e encrypted_numeric, ALTER COLUMN d TYPE encrypted_int4 USING d::encrypted_int4;
CREATE TYPE pair AS (x encrypted_date, y encrypted_bytea(aes128));
ALTER TYPE pair ADD ATTRIBUTE z encrypted_timestamptz;
CREATE DOMAIN secret AS encrypted_text CHECK (length(VALUE) < 10);
INSERT INTO t (a, b, c) VALUES ('x', '{1,2}', 'y');
CREATE TABLE u AS SELECT a, (array_agg(c))[1] AS c FROM t GROUP BY a;
SELECT a AS a, array_agg(c) AS c INTO v FROM t GROUP BY a;
CREATE TABLE p (k int, a encrypted_text) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE q (f encrypted_int8) INHERITS (t);
CREATE TABLE l (LIKE t);
CREATE SCHEMA s CREATE TABLE w (a encrypted_text);
CREATE TABLE typed OF pair;
CREATE MATERIALIZED VIEW m AS SELECT (array_agg(a))[1] AS a FROM t;

SELECT c.oid::regclass AS relation, attname, format_type(atttypid, atttypmod)
FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid JOIN LATERAL tde_internal.tde_type_spec(atttypid, atttypmod) s ON s.base_type IS NOT NULL
WHERE c.relname IN ('t', 'pair', 'u', 'v', 'p', 'p1', 'q', 'l', 'w', 'typed', 'm') AND attnum > 0 ORDER BY 1, attnum;
SELECT format_type(typbasetype, typtypmod) FROM pg_type WHERE typname = 'secret';

-- what the event trigger does, when a statement comes that alters the table
ALTER EVENT TRIGGER tde_column_ddl DISABLE;
CREATE TABLE ctas AS SELECT (array_agg(a))[1] AS a FROM t;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'ctas'::regclass AND attnum = 1;
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
ALTER TABLE ctas ADD COLUMN b int;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'ctas'::regclass AND attnum = 1;
SELECT * FROM u, v, ctas;

-- an index may name an operator class of the base type that its encrypted version has, too
CREATE TABLE classes (i encrypted_int4, t encrypted_text, v encrypted_varchar);
CREATE INDEX one ON classes (i int4_ops, t text_ops DESC, v pg_catalog.varchar_ops);
CREATE INDEX two ON classes USING hash (i int4_ops);
CREATE INDEX three ON classes (i int8_ops);
CREATE INDEX four ON classes (t text_pattern_ops);
SELECT indexrelid::regclass, opcname FROM pg_index, unnest(indclass) WITH ORDINALITY AS c (oid, n) JOIN pg_opclass o USING (oid)
WHERE indrelid = 'classes'::regclass ORDER BY indexrelid::regclass::text, n;
DROP TABLE classes;

-- keys are made where they are declared, and only there
SELECT count(*) FROM tde.data_keys WHERE name = 'rolled back';
BEGIN;
CREATE TABLE k (a encrypted_text('key=rolled back'));
ROLLBACK;
SELECT version, kind FROM tde.data_keys WHERE name = 'rolled back';

-- a trigger function is no function for everybody
SELECT tde_internal.tde_ddl_trigger();

\set VERBOSITY terse
DROP TABLE t, u, v, p, q, l, s.w, typed, ctas CASCADE;
DROP SCHEMA s;
DROP TYPE pair;
DROP DOMAIN secret;

-- DEFAULT NULL of a new column is none, as for plain types: no value for all rows, which PostgreSQL refuses where the row type is used
CREATE TABLE used_row (a encrypted_text);
CREATE TABLE using_row (r used_row);
ALTER TABLE used_row ADD COLUMN b encrypted_text(nosalt) DEFAULT NULL, ADD COLUMN c encrypted_int4[] DEFAULT NULL NOT NULL;
SELECT attname, atthasdef, atthasmissing, attnotnull FROM pg_attribute WHERE attrelid = 'used_row'::regclass AND attnum > 0 ORDER BY attnum;
ALTER TABLE used_row ADD COLUMN d encrypted_text DEFAULT 'x';
DROP TABLE used_row, using_row;
