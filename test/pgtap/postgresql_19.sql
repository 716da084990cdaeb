-- What PostgreSQL 19 brings to SQL, on encrypted columns as on plain ones.  Its REPACK, COPY, foreign keys and statistics: test/t/084_repack.pl,
-- test/t/085_postgresql_19.pl.
BEGIN;
SELECT current_setting('server_version_num')::int < 190000 AS older \gset
\if :older
SELECT plan(1);
SELECT skip('of PostgreSQL 19');
\else
SELECT * FROM no_plan();
SET LOCAL client_min_messages = error;

CREATE TABLE plain (id int PRIMARY KEY, a text UNIQUE, n int, d date, u uuid, b bytea, m numeric, j jsonb);
CREATE TABLE enc (id encrypted_int4 PRIMARY KEY, a encrypted_text UNIQUE, n encrypted_int4(nosalt), d encrypted_date, u encrypted_uuid, b encrypted_bytea,
                  m encrypted_numeric, j encrypted_jsonb);
INSERT INTO plain SELECT i, CASE WHEN i % 3 > 0 THEN 'a' || i END, nullif(i % 4, 0), date '2026-01-01' + i,
    ('63616e61-7279-6361-6e61-' || lpad(i::text, 12, '0'))::uuid, int4send(i), i * 1.5, jsonb_build_object('k', i) FROM generate_series(1, 9) i;
INSERT INTO enc SELECT * FROM plain;
CREATE TABLE plain_other (n int NOT NULL, a text NOT NULL, x date);
CREATE TABLE enc_other (n encrypted_int4 NOT NULL, a encrypted_text NOT NULL, x encrypted_date);
INSERT INTO plain_other SELECT i % 12, 'a' || i % 12, date '2026-01-01' + i FROM generate_series(1, 2000) i;
INSERT INTO enc_other SELECT * FROM plain_other;
ANALYZE plain, enc, plain_other, enc_other;

-- Rows as text, and the plan; % is plain or enc.
CREATE FUNCTION run(query text, kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('WITH q AS (%s) SELECT q::text FROM q', replace(query, '%', kind));
EXCEPTION WHEN OTHERS THEN
  RETURN NEXT SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE FUNCTION plan_of(query text, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line   text;
  result text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || replace(query, '%', kind) LOOP
    result := result || replace(line, kind, '') || E'\n';
  END LOOP;
  RETURN result;
END
$$;
CREATE FUNCTION same(query text, what text) RETURNS text LANGUAGE sql AS $$
  SELECT is((SELECT array_agg(r ORDER BY r) FROM run(query, 'enc') r), (SELECT array_agg(r ORDER BY r) FROM run(query, 'plain') r), what)
$$;

SELECT same('SELECT id, lag(a) IGNORE NULLS OVER w, lead(a, 2) RESPECT NULLS OVER w, first_value(n) IGNORE NULLS OVER w, nth_value(n, 2) IGNORE NULLS OVER w,
               lag(a, 1, ''none'') IGNORE NULLS OVER w, last_value(d) IGNORE NULLS OVER w FROM % WINDOW w AS (ORDER BY id)', 'IGNORE NULLS');
SELECT same('INSERT INTO % (id, a) VALUES (3, ''x''), (4, ''y''), (50, ''new'') ON CONFLICT (id) DO SELECT RETURNING id, a, n + 1, upper(a)', 'ON CONFLICT DO SELECT');
SELECT same('INSERT INTO % AS t (id, a) VALUES (60, ''a4''), (61, ''a5'') ON CONFLICT (a) DO SELECT FOR UPDATE WHERE t.n = 1 RETURNING id, a', 'with FOR UPDATE and WHERE');
SELECT same('SELECT a FROM %_other WHERE n NOT IN (SELECT id FROM %)', 'NOT IN');
SELECT is(plan_of('SELECT a FROM %_other WHERE n NOT IN (SELECT id FROM %)', 'enc'), plan_of('SELECT a FROM %_other WHERE n NOT IN (SELECT id FROM %)', 'plain'),
          'as an anti join');
SET LOCAL min_eager_agg_group_size = 0;
SELECT same('SELECT t.id, sum(o.n), avg(m), count(*), max(o.x), min(o.a) FROM % t JOIN %_other o ON t.id = o.n GROUP BY t.id', 'aggregates before a join');
SELECT same('SELECT u::bytea::text, u::bytea::uuid = u FROM %', 'bytea and uuid');
SELECT same('SELECT encode(b, ''base64url''), encode(b, ''base32hex''), error_on_null(n + 1) FROM % WHERE n > 0', 'encodings, error_on_null()');
SELECT same('SELECT error_on_null(a) FROM %', 'error_on_null() of NULL');
SELECT same('SELECT random(d, d) = d FROM %', 'random()');
SELECT same('SELECT json_array(SELECT a FROM % WHERE false), json_array(SELECT n FROM % ORDER BY id)', 'json_array() without rows');
SELECT same('SELECT jsonb_path_query(j, ''$.k.string().upper()'') FROM %', 'functions of jsonpath');

SELECT finish();
\endif
ROLLBACK;
