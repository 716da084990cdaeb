-- LIKE, regular expressions and ^@ of encrypted strings give what those of plain strings give, and use an index where those do.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();

CREATE TEMP TABLE kind AS
  SELECT * FROM (VALUES (1, 'text', ' COLLATE "C"', ''), (2, 'varchar', ' COLLATE "C"', ''), (3, 'bpchar', ' COLLATE "C"', ''),
                        (4, 'text', ' COLLATE "C"', ' text_pattern_ops')) AS k (id, type, clause, class);
SELECT EXISTS (SELECT FROM pg_collation WHERE collname = 'en-x-icu') AS icu \gset
\if :icu
  CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  INSERT INTO kind VALUES (5, 'text', ' COLLATE "en-x-icu"', ''), (6, 'varchar', ' COLLATE "en-x-icu"', ''), (7, 'bpchar', ' COLLATE "en-x-icu"', ''),
                          (8, 'text', ' COLLATE ignore_case', ''), (9, 'text', ' COLLATE "en-x-icu"', ' text_pattern_ops'),
                          (10, 'varchar', ' COLLATE "en-x-icu"', ' varchar_pattern_ops'), (11, 'bpchar', ' COLLATE "en-x-icu"', ' bpchar_pattern_ops');
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
    EXECUTE format('CREATE INDEX ON t (p%s%s)', k.id, k.class);
    EXECUTE format('CREATE INDEX ON t (e%s%s)', k.id, k.class);
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
-- What ends in an error may do so when it is planned already, as the operators that encrypted strings have are asked for estimates.
SELECT is_empty('SELECT encrypted FROM condition WHERE index_used(encrypted) IS DISTINCT FROM index_used(plain) AND rows_of(plain) ~ ''^[0-9A-Z]{5}$'' IS NOT TRUE',
                'an index is used where plain strings use one');
SELECT cmp_ok((SELECT count(*) FROM condition WHERE index_used(encrypted)), '>', (SELECT count(*) * 12 FROM kind), 'which is so');
SELECT cmp_ok((SELECT count(*) FROM condition WHERE rows_of(plain) !~ '^[0-9A-Z]{5}$'), '>', 110 * (SELECT count(*) FROM kind), 'few are errors');

-- Pattern operator classes: the order of bytes, by itself and by index, with plain strings and encrypted ones of the other type.
CREATE TEMP TABLE ordering AS
  SELECT l.type || ' ' || operator || ' ' || r.type AS name,
         format('a.%s%s %s b.%s%s', a, l.id, operator, b, r.id) AS encrypted, format('a.p%s %s b.p%s', l.id, operator, r.id) AS plain
  FROM kind l JOIN kind r ON l.clause = r.clause AND l.class <> '' AND r.class <> '' AND (l.type = 'bpchar') = (r.type = 'bpchar'),
       unnest('{~<~,~<=~,=,~>=~,~>~}'::text[]) operator, (VALUES ('e', 'e'), ('e', 'p'), ('p', 'e')) AS side (a, b);
CREATE TABLE few (LIKE t);
INSERT INTO few SELECT DISTINCT ON (n) * FROM t;
CREATE FUNCTION pairs(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(format(''%%s,%%s'', a.n, b.n), '' '' ORDER BY a.n, b.n) FROM few a, t b WHERE %s', condition) INTO result;
  RETURN result;
END
$$;
SELECT is_empty('SELECT name, encrypted FROM ordering WHERE pairs(encrypted) IS DISTINCT FROM pairs(plain)', 'comparisons by bytes');
SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT is_empty('SELECT name, encrypted FROM ordering WHERE pairs(encrypted) IS DISTINCT FROM pairs(plain)', 'also without indexes');
SELECT is((SELECT string_agg(e4, ',' ORDER BY e4 USING ~<~) FROM t), (SELECT string_agg(p4, ',' ORDER BY p4 USING ~<~) FROM t), 'sorted by bytes');
SELECT is((SELECT string_agg(e4, ',' ORDER BY e4 USING ~>~) FROM t), (SELECT string_agg(p4, ',' ORDER BY p4 USING ~>~) FROM t), 'and downwards');
SELECT is((SELECT array_agg(e3::text ORDER BY e3 USING ~<~, n) FROM t), (SELECT array_agg(p3::text ORDER BY p3 USING ~<~, n) FROM t), 'and char(n)');
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
SET LOCAL enable_sort = off;
SELECT is(all_of(plan_of('SELECT e4 FROM t ORDER BY e4 USING ~>~'), '"Scan Direction"'), '{Backward}', 'an index has that order');
RESET enable_sort;
SELECT ok(uses_index(plan_of($$SELECT FROM t WHERE e4 = 'abc'$$)), 'it finds what is equal');
SELECT is_empty('SELECT opcname FROM pg_opclass WHERE opcname ~ ''_pattern_ops$'' AND NOT amvalidate(oid)', 'the classes are whole');
CREATE TABLE crossed (t encrypted_text, v encrypted_varchar(9));
CREATE INDEX crossed_index ON crossed (t varchar_pattern_ops, v text_pattern_ops);
SELECT results_eq($$SELECT opcname::text COLLATE "default" FROM pg_index, unnest(indclass::oid[]) WITH ORDINALITY AS class (oid, n)
                    JOIN pg_opclass o USING (oid) WHERE indexrelid = 'crossed_index'::regclass ORDER BY n$$,
                  ARRAY['varchar_pattern_ops', 'text_pattern_ops'], 'text with the class of varchar, and the other way round');
SELECT lives_ok(replace(pg_get_indexdef('crossed_index'::regclass), 'crossed_index', 'again'), 'its definition can be executed again');
SELECT results_eq($$SELECT opcname::text COLLATE "default" FROM pg_index JOIN pg_opclass o ON o.oid = indclass[0] WHERE indrelid = 't'::regclass AND opcnamespace = 'tde_internal'::regnamespace ORDER BY 1$$,
                  $$SELECT format('%s_pattern_ops', type) FROM kind WHERE class <> '' ORDER BY 1$$, 'they are taken for those of the plain types');
\if :icu
  SELECT throws_ok('CREATE INDEX ON t (e8 text_pattern_ops)', '0A000', NULL, 'not for a nondeterministic collation');
  SELECT throws_ok('CREATE INDEX ON t (e8 encrypted_text_pattern_ops)', '0A000', NULL, 'by its own name neither');
\endif
SELECT throws_ok('CREATE INDEX ON t (e3 text_pattern_ops)', '42804', NULL, 'not that of another type');

-- An operator class of one's own says nothing of patterns.
CREATE TABLE o (e encrypted_text COLLATE "C");
INSERT INTO o SELECT v FROM generate_series(1, 100) v;
CREATE FUNCTION compare_backward(encrypted_text, encrypted_text) RETURNS int4 IMMUTABLE LANGUAGE sql RETURN -tde_internal.tde_cmp($1, $2);
CREATE OPERATOR CLASS backward FOR TYPE encrypted_text USING btree AS
  OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, OPERATOR 1 > (encrypted_text, text), OPERATOR 2 >= (encrypted_text, text),
  OPERATOR 4 <= (encrypted_text, text), OPERATOR 5 < (encrypted_text, text), FUNCTION 1 compare_backward(encrypted_text, encrypted_text);
CREATE INDEX ON o (e backward);
SELECT is((SELECT count(*) FROM o WHERE e LIKE '7%'), 11::bigint, 'an index in another order is not used');

-- A hash index serves a pattern without wildcards.
CREATE TABLE h (p text COLLATE "C", e encrypted_text COLLATE "C");
INSERT INTO h SELECT v, v FROM generate_series(1, 100) v;
CREATE INDEX ON h USING hash (p);
CREATE INDEX ON h USING hash (e);
SELECT is(uses_index(plan_of(format(q, 'e'))), uses_index(plan_of(format(q, 'p'))), q)
FROM unnest('{SELECT FROM h WHERE %s LIKE ''7'',SELECT FROM h WHERE %s LIKE ''7%%'',SELECT FROM h WHERE %s ~ ''^7$''}'::text[]) q;
SELECT is((SELECT count(*) FROM h WHERE e LIKE '7'), 1::bigint, 'and finds it');

SELECT lives_ok($$CREATE INDEX ON t (n) WHERE e1 LIKE 'a%'$$, 'a partial index');

SELECT finish();
ROLLBACK;
