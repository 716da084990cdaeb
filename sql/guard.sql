-- Declarations that would store in clear what they compute from encrypted columns.
CREATE TABLE t (id int, a encrypted_text, n encrypted_numeric, p text);
INSERT INTO t SELECT g, 'guarded' || g % 3, g, 'plain' FROM generate_series(1, 300) g;
CREATE TYPE pair AS (x encrypted_text, y text);
CREATE VIEW v AS SELECT id, a, upper(a) AS u FROM t;

-- generated columns: encrypted like what they are computed from, or refused
CREATE TABLE g (a encrypted_text, b text GENERATED ALWAYS AS (a) STORED);
DROP TABLE g;
\set VERBOSITY terse
CREATE TABLE g (a encrypted_int4, b bigint GENERATED ALWAYS AS (a) STORED);
DROP TABLE g;
CREATE TABLE g (a encrypted_text, b boolean GENERATED ALWAYS AS (a = 'x') STORED);
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'g'::regclass AND attnum > 0;
DROP TABLE g;
\set VERBOSITY default
CREATE TABLE g (a encrypted_text[], b text[] GENERATED ALWAYS AS (a) STORED);
\set VERBOSITY terse
CREATE TABLE g (a pair, b text GENERATED ALWAYS AS ((a).x) STORED);
CREATE TABLE g (a encrypted_text, b text GENERATED ALWAYS AS (a || random()) STORED);
CREATE TABLE g (a encrypted_text, b text GENERATED ALWAYS AS (a) STORED) PARTITION BY LIST (a);
DROP TABLE g;
CREATE SCHEMA gs CREATE TABLE g (a encrypted_text, b text GENERATED ALWAYS AS (a) STORED);
ALTER TABLE t ADD COLUMN b text GENERATED ALWAYS AS (a) STORED;
ALTER TABLE t DROP COLUMN b;
ALTER TABLE t ADD COLUMN b text GENERATED ALWAYS AS (coalesce(a, 'x')) STORED;
ALTER TABLE t DROP COLUMN b;
CREATE TABLE allowed (a encrypted_text, l encrypted_text[], c pair, i int,
  b encrypted_text GENERATED ALWAYS AS (a) STORED, d encrypted_text[] GENERATED ALWAYS AS (ARRAY[a]) STORED,
  e boolean GENERATED ALWAYS AS (a IS NULL) STORED, f text GENERATED ALWAYS AS ((c).y) STORED,
  h int GENERATED ALWAYS AS (i + 1) STORED, j encrypted_int4 GENERATED ALWAYS AS (length('x')) STORED);
INSERT INTO allowed VALUES ('x', '{y}', ROW('z', 'plain'), 1);
SELECT * FROM allowed;
-- with the event trigger off, too
ALTER EVENT TRIGGER tde_column_ddl DISABLE;
CREATE TABLE before (a encrypted_text(nosalt), b text GENERATED ALWAYS AS (a) STORED);
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
CREATE TABLE g (LIKE before INCLUDING GENERATED);
DROP TABLE g;
CREATE TABLE g (LIKE before);
DROP TABLE g, before;

-- extended statistics
\set VERBOSITY default
CREATE STATISTICS s ON (a::text), id FROM t;
\set VERBOSITY terse
CREATE STATISTICS s ON lower(a) FROM t;
CREATE STATISTICS s ON (a = 'x'), id FROM t;
CREATE STATISTICS s ON (n + 1), id FROM t;
CREATE TABLE later (p text, q int);
CREATE STATISTICS later_s ON lower(p), q FROM later;
ALTER TABLE later ALTER p TYPE encrypted_text;
DROP STATISTICS later_s;
ALTER TABLE later ALTER p TYPE encrypted_text;
-- what is stored of encrypted columns themselves is encrypted, or a number
CREATE STATISTICS s1 ON a, n, p FROM t;
CREATE STATISTICS s2 ON coalesce(a, a), (n IS NULL), p FROM t;
ANALYZE t;
SELECT stxname, stxdndistinct IS NOT NULL AS ndistinct, stxddependencies IS NOT NULL AS dependencies, stxdmcv IS NOT NULL AS mcv,
       stxdexpr IS NOT NULL AS expr, position('plain'::bytea IN stxdmcv::bytea) > 0 AS plain_column, position('guarded'::bytea IN stxdmcv::bytea) > 0 AS encrypted_column
FROM pg_statistic_ext JOIN pg_statistic_ext_data ON stxoid = oid WHERE stxname IN ('s1', 's2') ORDER BY 1;
CHECKPOINT;
SELECT c.relname, position('guarded'::bytea IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0 AS in_clear
FROM pg_class c JOIN pg_class o ON c.oid IN (o.oid, o.reltoastrelid) WHERE o.relname IN ('pg_statistic', 'pg_statistic_ext_data') AND c.relkind = 'r' ORDER BY 1;
SELECT count(*) FROM t WHERE a = 'guarded1' AND p = 'plain';

-- tables and materialized views made of queries: a warning that names the columns
\set VERBOSITY default
CREATE TABLE q AS SELECT id, a, a::text AS b, upper(a), p FROM t;
DROP TABLE q;
SELECT id, u INTO q FROM v; DROP TABLE q;
CREATE TABLE q (one, two) AS SELECT id, u FROM (SELECT * FROM v) x; DROP TABLE q;
CREATE TABLE q AS WITH w AS (SELECT a || p AS b, n FROM t) SELECT b, n FROM w; DROP TABLE q;
CREATE TABLE q AS WITH RECURSIVE r (i, b) AS (SELECT 1, a::text FROM t UNION ALL SELECT i + 1, b FROM r WHERE i < 2) SELECT * FROM r; DROP TABLE q;
CREATE TABLE q AS WITH i AS (INSERT INTO t VALUES (0, 'returned') RETURNING a::text AS b) SELECT b FROM i; DROP TABLE q;
CREATE TABLE q AS SELECT p AS b FROM t UNION ALL SELECT a FROM t; DROP TABLE q;
CREATE TABLE q AS SELECT a FROM t UNION ALL SELECT a FROM t; DROP TABLE q;
CREATE TABLE q AS SELECT upper(a) AS b, count(*), count(a) AS c, count(a) OVER () AS d, bool_and(a IS NULL) AS e FROM t GROUP BY upper(a), a; DROP TABLE q;
CREATE TABLE q AS SELECT upper(a) AS b, sum(n) AS s FROM t GROUP BY 1; DROP TABLE q;
CREATE TABLE q AS SELECT (SELECT a::text FROM t LIMIT 1) AS b, EXISTS (SELECT a FROM t) AS c, ARRAY(SELECT a FROM t) AS d, ARRAY(SELECT upper(a) FROM t) AS e; DROP TABLE q;
CREATE TABLE q AS SELECT x.* FROM t, LATERAL (VALUES (a::text, id)) x (b, c); DROP TABLE q;
CREATE TABLE q AS SELECT w, id FROM t JOIN v USING (id), unnest(string_to_array(v.a, 'd')) w; DROP TABLE q;
CREATE TABLE q AS SELECT row_to_json(t) AS b FROM t; DROP TABLE q;
CREATE TABLE q AS SELECT upper(a)::encrypted_text(aes128) AS b, n * 2 AS m, (n * 2)::encrypted_numeric AS o FROM t; DROP TABLE q;
CREATE TABLE IF NOT EXISTS t AS SELECT upper(a) FROM t;
PREPARE made AS SELECT u FROM v;
CREATE TABLE q AS EXECUTE made; DROP TABLE q;
CREATE MATERIALIZED VIEW m AS SELECT a, u AS b FROM v WITH NO DATA; DROP MATERIALIZED VIEW m;
CREATE MATERIALIZED VIEW m AS SELECT a, p FROM t; DROP MATERIALIZED VIEW m;

CREATE VIEW selfish AS SELECT u FROM v;
CREATE OR REPLACE VIEW selfish AS SELECT u FROM selfish;
\set VERBOSITY terse
CREATE TABLE q AS SELECT u FROM selfish;
\set VERBOSITY default
DROP VIEW selfish;

-- what is indexed stays encrypted
CREATE INDEX i ON t (lower(a)); DROP INDEX i;
CREATE INDEX i ON t (id) WHERE t.a LIKE 'x%'; DROP INDEX i;
CREATE TABLE x (a encrypted_text, EXCLUDE ((a::text) WITH =)); DROP TABLE x;
-- what PostgreSQL refuses to index: of encrypted columns it is said why.  19 says where in the statement, too.
CREATE FUNCTION refusal(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  hint   text;
BEGIN
  EXECUTE command;
  RETURN 'done';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(E'\n', sqlerrm, 'DETAIL:  ' || nullif(detail, ''), 'HINT:  ' || nullif(hint, ''));
END
$$;
SELECT refusal('CREATE INDEX ON t ((p || random()))');
SELECT refusal('CREATE INDEX ON t ((a || random()))');

-- functions that are said to be immutable; PostgreSQL does not look into them, and neither inlines them then
CREATE FUNCTION in_sql(encrypted_text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
CREATE FUNCTION in_plpgsql(encrypted_text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION of_text(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT upper($1)';
CREATE FUNCTION encrypted(encrypted_text) RETURNS encrypted_text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN upper($1); END';
SELECT refusal('CREATE INDEX i ON t (of_text(a))');
CREATE INDEX i ON t (in_plpgsql(a)); DROP INDEX i;
\set VERBOSITY terse
CREATE INDEX i ON t (in_sql(a)); DROP INDEX i;
CREATE INDEX CONCURRENTLY i ON t ((a = 'x')); DROP INDEX i;
CREATE INDEX i ON t (encrypted(a)) WHERE a > 'b'; DROP INDEX i;
CREATE TABLE parted (a encrypted_text) PARTITION BY LIST (in_plpgsql(a)); DROP TABLE parted;

-- operators of the base type on encrypted columns are none for an index
CREATE TABLE x (a encrypted_jsonb, EXCLUDE (a WITH @>));
CREATE INDEX ON t USING brin (a text_bloom_ops);
SELECT refusal($$CREATE INDEX ON t USING gin (to_tsvector('simple', a))$$);
CREATE TABLE x (a encrypted_text) PARTITION BY RANGE (a name_ops);

DROP TABLE t, allowed, later CASCADE;
DROP TYPE pair;
DROP FUNCTION in_sql, in_plpgsql, of_text, encrypted;
