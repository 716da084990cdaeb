-- LIKE, regular expressions and ^@ of encrypted strings give what those of plain strings give, and use an index where those do.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();

CREATE TEMP TABLE kind AS
  SELECT * FROM (VALUES (1, 'text', ' COLLATE "C"'), (2, 'varchar', ' COLLATE "C"'), (3, 'bpchar', ' COLLATE "C"')) AS k (id, type, clause);
SELECT EXISTS (SELECT FROM pg_collation WHERE collname = 'en-x-icu') AS icu \gset
\if :icu
  CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  INSERT INTO kind VALUES (4, 'text', ' COLLATE "en-x-icu"'), (5, 'varchar', ' COLLATE "en-x-icu"'), (6, 'bpchar', ' COLLATE "en-x-icu"'),
                          (7, 'text', ' COLLATE ignore_case');
\else
  SELECT pass('this PostgreSQL has no ICU: not tested in its collations');
\endif
DO $$
DECLARE
  k record;
BEGIN
  EXECUTE (SELECT format('CREATE TABLE t (n int%s)', string_agg(format(', p%s %s%3$s, e%1$s encrypted_%2$s(aes256,salt,mac)%3$s', id, type, clause), '' ORDER BY id)) FROM kind);
  EXECUTE (SELECT 'INSERT INTO t SELECT row_number() OVER ()' || string_agg(', v, v', '' ORDER BY id)
           || ' FROM unnest($1) v' FROM kind) USING ARRAY['', ' ', 'a', 'A', 'ab', 'abc', 'Abc', 'abd', 'abc ', 'abc  x', 'abcd', 'ab%', 'ab_', 'ab\c', 'xyz', 'Grüße', 'Grüß Gott', '世界', NULL, repeat('abc', 100)];
  INSERT INTO t SELECT x.* FROM t, generate_series(1, 20), LATERAL (SELECT t.*) x;
  FOR k IN SELECT * FROM kind LOOP
    EXECUTE format('CREATE INDEX ON t (p%s)', k.id);
    EXECUTE format('CREATE INDEX ON t (e%s)', k.id);
  END LOOP;
END
$$;
ANALYZE t;

CREATE TEMP TABLE condition AS
  SELECT replace(form, '$1', 'p' || id) AS plain, replace(form, '$1', 'e' || id) AS encrypted
  FROM kind, LATERAL (
    SELECT format('$1 %s %L', operator, p) FROM unnest('{LIKE,NOT LIKE,ILIKE,NOT ILIKE,~~,!~~}'::text[]) operator,
      unnest(ARRAY['abc%', 'ab\%', 'ab\_', '_bc%', '%c', 'abc', 'Abc%', '', '%', 'a_c', 'Grü%', '世%', 'ab\\c', ' %', 'abc %', 'ABC%']) p
    UNION ALL
    SELECT format('$1 %s %L', operator, p) FROM unnest('{~,!~,~*,!~*}'::text[]) operator, unnest(ARRAY['^abc', '^ab+c', 'c$', '^abc$', '', '^Gr(ü|u)', '^(abc|abd)', '^.bc']) p
    UNION ALL
    SELECT format('$1 %s %s', operator, p) FROM unnest('{LIKE,^@,~}'::text[]) operator, unnest(ARRAY['''abc''', 'substr(''abcd'', 1, 3)', '(SELECT ''ab%'')', 'NULL', '''abc''::varchar']) p
      WHERE type <> 'bpchar' OR operator <> '^@'
    UNION ALL
    SELECT format('$1 LIKE %L ESCAPE ''#''', p) FROM unnest('{ab#%,abc%}'::text[]) p
    UNION ALL
    SELECT '$1 LIKE p' || id) f (form);
CREATE FUNCTION rows_of(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(n::text, '','' ORDER BY n) FROM t WHERE %s', condition) INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
CREATE FUNCTION index_used(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN uses_index(plan_of('SELECT n FROM t WHERE ' || condition));
EXCEPTION WHEN OTHERS THEN
  RETURN false;
END
$$;

SELECT is_empty('SELECT encrypted FROM condition WHERE rows_of(encrypted) IS DISTINCT FROM rows_of(plain)', 'the rows of plain strings');
SET LOCAL enable_seqscan = off;
SELECT is_empty('SELECT encrypted FROM condition WHERE rows_of(encrypted) IS DISTINCT FROM rows_of(plain)', 'and by index');
SELECT is_empty('SELECT encrypted FROM condition WHERE index_used(encrypted) IS DISTINCT FROM index_used(plain)', 'an index is used where plain strings use one');
SELECT cmp_ok((SELECT count(*) FROM condition WHERE index_used(encrypted)), '>', 60::bigint, 'which is so');
SELECT cmp_ok((SELECT count(*) FROM condition WHERE rows_of(plain) !~ '^[0-9A-Z]{5}$'), '>', 110 * (SELECT count(*) FROM kind), 'few are errors');

-- A hash index serves a pattern without wildcards.
CREATE TABLE h (p text COLLATE "C", e encrypted_text COLLATE "C");
INSERT INTO h SELECT v, v FROM generate_series(1, 100) v;
CREATE INDEX ON h USING hash (p);
CREATE INDEX ON h USING hash (e);
SELECT is(uses_index(plan_of(format(q, 'e'))), uses_index(plan_of(format(q, 'p'))), q)
FROM unnest('{SELECT FROM h WHERE %s LIKE ''7'',SELECT FROM h WHERE %s LIKE ''7%%'',SELECT FROM h WHERE %s ~ ''^7$''}'::text[]) q;
SELECT is((SELECT count(*) FROM h WHERE e LIKE '7'), 1::bigint, 'and finds it');

-- A match tells of the value, so no index condition may hold it.
SELECT throws_ok($$CREATE INDEX ON t (n) WHERE e1 LIKE 'a%'$$, '42P17', NULL, 'no partial index');

SELECT finish();
ROLLBACK;
