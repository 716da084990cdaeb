-- Indexes, partitions and join methods are used for encrypted columns as for plain ones, for constants, expressions and
-- parameters, of the encrypted and of the base type.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();

CREATE FUNCTION result_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(r::text, '','' ORDER BY r::text) FROM (%s) r', query) INTO result;
  RETURN result;
END
$$;

-- The same query of the plain column.
CREATE FUNCTION in_clear(query text, f family) RETURNS text LANGUAGE sql AS $$
  SELECT regexp_replace(regexp_replace(query, f.enc || '(\(aes128\))?', f.plain, 'g'), '\m[ed]\M(?! *::)(?!'')', 'plain', 'g')
$$;

--
-- Index conditions: for each type, for each kind of operand
--
CREATE FUNCTION set_up(f family) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE t (n int, plain %s, e %s(aes256,salt,mac), d %2$s(aes128,nosalt,sha256))', f.plain, f.enc);
  EXECUTE format('INSERT INTO t SELECT row_number() OVER (), v, v, v FROM (SELECT DISTINCT ON (value::%s::text) value::%1$s AS v FROM sample
                  WHERE base = %L AND length(value) < 300) s', f.plain, f.base);
  INSERT INTO t SELECT s.* FROM t, LATERAL (SELECT t.*) s, generate_series(1, 20);
  CREATE INDEX t_e ON t (e);
  CREATE INDEX t_d ON t (d);
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_sort = off;
END
$$;

-- Conditions that an index on the column serves; v and w are two of the type's values, as literals.
CREATE FUNCTION conditions(f family, v text, w text) RETURNS TABLE (condition text) LANGUAGE sql AS $$
  SELECT format(c, col, operand[1], operand[2])
  FROM unnest('{e,d}'::text[]) col,
       unnest(ARRAY['%s = %s', '%2$s = %1$s', '%s < %s', '%s <= %s', '%s > %s', '%s >= %s', '%s BETWEEN %s AND %s', '%s IN (%s, %s)', '%s = ANY (ARRAY[%s, %s])']) c,
       (VALUES (ARRAY[v, w]), (ARRAY[format('%s::%s', v, f.plain), format('%s::%s', w, f.plain)]), (ARRAY[format('%s::%s(aes128)', v, f.enc), format('%s::%s', w, f.enc)]),
               (ARRAY[format('(SELECT %s::%s)', v, f.plain), format('(SELECT %s::%s)', w, f.enc)])) AS o (operand)
  -- an array of literals is of text; a list of different types is one of the base type
  WHERE c !~ 'ANY' OR operand[1] ~ '^''.*::'
  UNION ALL SELECT format('%s IS NULL', col) FROM unnest('{e,d}'::text[]) col
$$;

CREATE FUNCTION unindexed(f family) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  v text := (SELECT quote_literal(min(value)) FROM sample WHERE base = f.base::text AND length(value) < 300);
  w text := (SELECT quote_literal(max(value)) FROM sample WHERE base = f.base::text AND length(value) < 300);
  c text;
  query text;
BEGIN
  PERFORM set_up(f);
  FOR c IN SELECT condition FROM conditions(f, v, w) LOOP
    query := format('SELECT n FROM t WHERE %s', c);
    IF NOT uses_index(plan_of(query)) OR 'Seq Scan' = ANY (all_of(plan_of(query), '"Node Type"')) THEN
      RETURN NEXT query;
    END IF;
    IF result_of(query) IS DISTINCT FROM result_of(in_clear(query, f)) THEN
      RETURN NEXT 'other rows than for plain values: ' || query;
    END IF;
  END LOOP;
  FOR query IN SELECT format(q, col) FROM unnest('{e,d}'::text[]) col, unnest(ARRAY['SELECT n FROM t ORDER BY %s LIMIT 1', 'SELECT n FROM t ORDER BY %s DESC LIMIT 3',
      'SELECT %s FROM t ORDER BY 1', 'SELECT a.n FROM t a, t b WHERE a.%s = b.plain', 'SELECT a.n FROM t a, t b WHERE a.%s = b.e', 'SELECT a.n FROM t a, t b WHERE b.plain < a.%s']) q LOOP
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off;
    IF NOT EXISTS (SELECT FROM unnest(all_of(plan_of(query), '"Node Type"')) node WHERE node LIKE '%Index%Scan') THEN
      RETURN NEXT query;
    END IF;
    SET LOCAL enable_hashjoin = on;
    SET LOCAL enable_mergejoin = on;
  END LOOP;
  -- min and max
  FOR query IN SELECT format('SELECT %s(%s) FROM t', proname, col) FROM pg_proc, unnest('{e,d}'::text[]) col
      WHERE prokind = 'a' AND proname IN ('min', 'max') AND proargtypes[0] = f.enc LOOP
    IF 'Limit' <> ALL (all_of(plan_of(query), '"Node Type"')) THEN
      RETURN NEXT query;
    END IF;
  END LOOP;
  -- from the index alone, with the value
  ANALYZE t;
  query := format('SELECT e FROM t WHERE e >= %s', v);
  IF 'Index Only Scan' <> ALL (all_of(plan_of(query), '"Node Type"')) AND 'Bitmap Index Scan' <> ALL (all_of(plan_of(query), '"Node Type"')) THEN
    RETURN NEXT query;
  END IF;
  -- hash index
  DROP INDEX t_e, t_d;
  CREATE INDEX ON t USING hash (e);
  FOR query IN SELECT format('SELECT n FROM t WHERE e = %s%s', v, suffix) FROM unnest(ARRAY['', '::' || f.plain, '::' || f.enc]) suffix LOOP
    IF NOT uses_index(plan_of(query)) THEN
      RETURN NEXT 'hash index: ' || query;
    END IF;
  END LOOP;
  -- merge join of two indexes, without a sort
  CREATE INDEX ON t (e);
  CREATE INDEX ON t (plain);
  SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_nestloop = off;
  FOREACH c IN ARRAY ARRAY['e', 'plain'] LOOP
    query := format('SELECT count(*) FROM t a JOIN t b ON a.e = b.%s', c);
    -- the index of a plain column is ordered by another family
    PERFORM set_config('enable_sort', (c = 'plain')::text, true);
    IF 'Merge Join' <> ALL (all_of(plan_of(query), '"Node Type"')) OR c = 'e' AND 'Sort' = ANY (all_of(plan_of(query), '"Node Type"')) THEN
      RETURN NEXT query;
    END IF;
  END LOOP;
  SET LOCAL enable_hashjoin = on;
  SET LOCAL enable_nestloop = on;
  DROP TABLE t;
END
$$;
SELECT is_empty(format('SELECT unindexed(f) FROM family f WHERE name = %L', name), format('indexes serve columns of %s', enc))
FROM family f WHERE base <> 'json'::regtype ORDER BY name;
RESET enable_sort;

--
-- Parameters, in custom and in generic plans
--
CREATE TABLE t (id int, a encrypted_text(nosalt), n encrypted_int4, m encrypted_numeric, p text, i int);
INSERT INTO t SELECT g, 'v' || g, g, g, 'v' || g, g FROM generate_series(1, 1000) g;
CREATE INDEX t_a ON t (a);
CREATE INDEX t_n ON t (n);
CREATE INDEX t_m ON t (m);
CREATE INDEX t_an ON t (a, n);
ANALYZE t;
SET LOCAL enable_seqscan = off;

CREATE FUNCTION with_parameter(mode text, type text, condition text, argument text, rows int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
  found int;
BEGIN
  PERFORM set_config('plan_cache_mode', mode, true);
  EXECUTE format('PREPARE s%s AS SELECT id FROM t WHERE %s', type, condition);
  plan := execution_of(format('EXECUTE s(%s)', argument));
  DEALLOCATE s;
  SELECT round(node::float8)::int INTO found FROM jsonb_path_query(plan, 'strict $[0].Plan."Actual Rows"') node;
  RETURN is((uses_index(plan), found), (true, rows), format('%s %s with %s, %s', condition, type, argument, mode));
END
$$;
SELECT with_parameter(mode, type, condition, argument, rows)
FROM unnest('{force_generic_plan,force_custom_plan}'::text[]) mode, (VALUES
  ('', 'a = $1', '''v7''', 1), ('(text)', 'a = $1', '''v7''', 1), ('(varchar)', 'a = $1', '''v7''', 1), ('(encrypted_text)', 'a = $1', '''v7''', 1),
  ('', 'n = $1', '7', 1), ('(int)', 'n = $1', '7', 1), ('(bigint)', 'n = $1', '7', 1), ('(smallint)', 'n = $1', '7', 1), ('(encrypted_int8)', 'n = $1', '7', 1),
  ('', 'm = $1', '7.0', 1), ('(numeric)', 'm = $1', '7.00', 1),
  ('', 'n BETWEEN $1 AND 12', '10', 3), ('(int)', 'n > $1', '995', 5), ('', 'n < $1', '3', 2),
  ('', 'a IN ($1, ''v8'')', '''v7''', 2), ('(text)', 'a IN ($1, ''v8'')', '''v7''', 2),
  ('(text[])', 'a = ANY ($1)', '''{v1,v2,v3}''', 3), ('', 'a = ANY ($1)', '''{v1,v2,v3}''', 3), ('(int[])', 'n = ANY ($1)', '''{1,2,3}''', 3), ('(bigint[])', 'n = ANY ($1)', '''{1,2,3}''', 3),
  ('(text, int)', 'a = $1 AND n = $2', '''v7'', 7', 1), ('(text, int)', '(a, n) = ($1, $2)', '''v7'', 7', 1), ('(text)', '$1 = a', '''v7''', 1)
) AS c (type, condition, argument, rows);
RESET plan_cache_mode;
RESET enable_seqscan;

--
-- What one index can do
--
CREATE FUNCTION has_node(query text, node text, name text) RETURNS text LANGUAGE sql AS
  $$ SELECT ok(node = ANY (all_of(plan_of(query), '"Node Type"')), name) $$;
SELECT has_node('SELECT id FROM t ORDER BY a, n LIMIT 3', 'Index Scan', 'ORDER BY two columns LIMIT');
SELECT ok('Sort' <> ALL (all_of(plan_of('SELECT id FROM t WHERE a = ''v7'' ORDER BY n'), '"Node Type"')), 'equality in the first column, order of the second');
SELECT ok('Sort' <> ALL (all_of(plan_of('SELECT id FROM t WHERE a = ''v7''::text ORDER BY n LIMIT 1'), '"Node Type"')), 'and with a plain constant');
SELECT ok(uses_index(plan_of('SELECT id FROM t WHERE a LIKE ''v99%''')), 'LIKE uses an index');
SELECT results_eq('SELECT id FROM t WHERE a LIKE ''v99%'' ORDER BY id', 'SELECT id FROM t WHERE p LIKE ''v99%'' ORDER BY id', 'and finds the rows');
SELECT ok(NOT uses_index(plan_of('SELECT id FROM t WHERE lower(a) = ''v7''')), 'a function of it does not');
SELECT ok(uses_index(plan_of('SELECT id FROM t WHERE a::text = ''v7''')), 'the decrypted value does');

-- Partial indexes
CREATE TABLE partial (id int, a encrypted_text, n encrypted_int4);
INSERT INTO partial SELECT g, 'v' || g % 10, g FROM generate_series(1, 2000) g;
CREATE INDEX by_enc ON partial (id) WHERE a = 'v3';
CREATE INDEX by_range ON partial (id) WHERE n > 1900;
ANALYZE partial;
SELECT is(all_of(plan_of(query), '"Index Name"'), ARRAY[index], query) FROM (VALUES
  ('SELECT id FROM partial WHERE a = ''v3'' AND id < 100', 'by_enc'), ('SELECT id FROM partial WHERE ''v3'' = a AND id < 100', 'by_enc'),
  ('SELECT id FROM partial WHERE n > 1900 AND id < 1950', 'by_range'), ('SELECT id FROM partial WHERE n > 1950 AND id < 1980', 'by_range'),
  ('SELECT id FROM partial WHERE n = 1950 AND id < 1980', 'by_range'), ('SELECT id FROM partial WHERE n > 1950::bigint AND id < 1980', 'by_range'),
  ('SELECT id FROM partial WHERE n IN (1950, 1960) AND id < 1980', 'by_range')) AS q (query, index);
SELECT is(all_of(plan_of('SELECT id FROM partial WHERE n > 1800 AND id < 100'), '"Index Name"'), '{}', 'an index that does not hold all of the rows is not used');

-- Joins with plain columns, by the index of the encrypted one
CREATE TABLE few AS SELECT g AS i, g::bigint AS b, 'v' || g AS p, ('v' || g)::varchar AS v FROM generate_series(1, 5) g;
ANALYZE few;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT is((uses_index(plan_of(query)), result_of(query)), (true, text '(1),(2),(3),(4),(5)'), query) FROM unnest(ARRAY[
  'SELECT id FROM few JOIN t ON t.a = few.p', 'SELECT id FROM few JOIN t ON few.p = t.a', 'SELECT id FROM few JOIN t ON t.a = few.v', 'SELECT id FROM few JOIN t ON t.n = few.i',
  'SELECT id FROM few JOIN t ON t.n = few.b', 'SELECT x.id FROM few JOIN t ON t.n = few.i JOIN t x ON x.a = t.a']) query;
SELECT is(result_of('SELECT id FROM t WHERE a IN (SELECT p FROM few)'), '(1),(2),(3),(4),(5)', 'a semi-join');
SELECT is(result_of('SELECT count(*) FROM t WHERE NOT EXISTS (SELECT FROM few WHERE few.p = t.a)'), '(995)', 'an anti-join');
RESET enable_seqscan;
RESET enable_hashjoin;
RESET enable_mergejoin;

--
-- Partition pruning: how many partitions are read
--
CREATE TABLE list (id int, a encrypted_text(nosalt)) PARTITION BY LIST (a);
CREATE TABLE list_ab PARTITION OF list FOR VALUES IN ('a', 'b');
CREATE TABLE list_c PARTITION OF list FOR VALUES IN ('c');
CREATE TABLE list_null PARTITION OF list FOR VALUES IN (NULL);
CREATE TABLE list_rest PARTITION OF list DEFAULT;
CREATE TABLE range (id int, a encrypted_int4) PARTITION BY RANGE (a);
CREATE TABLE range_1 PARTITION OF range FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE range_2 PARTITION OF range FOR VALUES FROM (10) TO (20);
CREATE TABLE range_3 PARTITION OF range FOR VALUES FROM (20) TO (MAXVALUE);
CREATE TABLE hash (id int, a encrypted_text) PARTITION BY HASH (a);
CREATE TABLE hash_0 PARTITION OF hash FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE hash_1 PARTITION OF hash FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE hash_2 PARTITION OF hash FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE hash_3 PARTITION OF hash FOR VALUES WITH (MODULUS 4, REMAINDER 3);
INSERT INTO list SELECT g, substr('abcdef', g, 1) FROM generate_series(1, 6) g;
INSERT INTO list VALUES (7, NULL);
INSERT INTO range SELECT g, g * 5 FROM generate_series(0, 6) g;
INSERT INTO hash SELECT g, 'v' || g FROM generate_series(1, 40) g;
ANALYZE list, range, hash;

-- At run time partitions are in the plan, but never executed; 'Subplans Removed' ones are not even in it.
CREATE FUNCTION partitions_read(query text) RETURNS int LANGUAGE sql AS $$
  SELECT count(DISTINCT node ->> 'Relation Name') FROM jsonb_path_query(execution_of(query), 'strict $.** ? (exists (@."Relation Name"))') node
  WHERE node ->> 'Relation Name' ~ '_' AND (node ->> 'Actual Loops')::float8 > 0
$$;
SELECT is((partitions_read(query), result_of(query)), (partitions, result), query) FROM (VALUES
  ('SELECT id FROM list WHERE a = ''a''', 1, '(1)'), ('SELECT id FROM list WHERE a = ''c''::text', 1, '(3)'), ('SELECT id FROM list WHERE ''e'' = a', 1, '(5)'),
  ('SELECT id FROM list WHERE a IN (''a'', ''b'')', 1, '(1),(2)'), ('SELECT id FROM list WHERE a IN (''a'', ''c'')', 2, '(1),(3)'), ('SELECT id FROM list WHERE a IS NULL', 1, '(7)'),
  ('SELECT id FROM list WHERE a = ANY (''{a,c}''::text[])', 2, '(1),(3)'), ('SELECT id FROM list WHERE a = (SELECT ''c''::text)', 1, '(3)'),
  ('SELECT id FROM list WHERE a = (SELECT ''c''::encrypted_text)', 1, '(3)'), ('SELECT id FROM list WHERE a = ''c''::encrypted_text(aes128)', 1, '(3)'),
  ('SELECT id FROM range WHERE a = 10', 1, '(2)'), ('SELECT id FROM range WHERE a < 10', 1, '(0),(1)'), ('SELECT id FROM range WHERE a >= 20::bigint', 1, '(4),(5),(6)'),
  ('SELECT id FROM range WHERE a BETWEEN 5 AND 15', 2, '(1),(2),(3)'), ('SELECT id FROM range WHERE a < (SELECT 10)', 1, '(0),(1)'), ('SELECT id FROM range WHERE a = (SELECT 25::bigint)', 1, '(5)'),
  ('SELECT id FROM range WHERE a IN (5, 25)', 2, '(1),(5)'), ('SELECT id FROM range WHERE a = 10::encrypted_int8', 1, '(2)'),
  ('SELECT id FROM hash WHERE a = ''v7''', 1, '(7)'), ('SELECT id FROM hash WHERE a = ''v7''::text', 1, '(7)'), ('SELECT id FROM hash WHERE a = (SELECT ''v7''::text)', 1, '(7)'),
  ('SELECT id FROM hash WHERE a > ''v8''', 4, '(9)')
) AS q (query, partitions, result);

SET LOCAL plan_cache_mode = force_generic_plan;
PREPARE in_list AS SELECT id FROM list WHERE a = $1;
PREPARE in_list_text(text) AS SELECT id FROM list WHERE a = $1;
PREPARE in_range(int) AS SELECT id FROM range WHERE a >= $1;
PREPARE in_hash AS SELECT id FROM hash WHERE a = $1;
PREPARE in_hash_text(text) AS SELECT id FROM hash WHERE a = $1;
SELECT is(partitions_read(query), 1, query || ' of a generic plan') FROM unnest(ARRAY[
  'EXECUTE in_list(''c'')', 'EXECUTE in_list_text(''c'')', 'EXECUTE in_range(20)', 'EXECUTE in_hash(''v7'')', 'EXECUTE in_hash_text(''v7'')']) query;
-- of a nested loop, for each of its rows
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
CREATE INDEX ON list (a);
CREATE INDEX ON range (a);
SET LOCAL enable_seqscan = off;
SELECT is(partitions_read('SELECT list.id FROM (VALUES (''c''::text)) v (p) JOIN list ON list.a = v.p'), 1, 'a join reads the partitions of its rows');
SELECT is(partitions_read('SELECT range.id FROM (SELECT i FROM few WHERE i = 5 OFFSET 0) f JOIN range ON range.a = f.i'), 1, 'and by a range');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_seqscan;
SET LOCAL enable_partitionwise_join = on;
SELECT is((SELECT count(*)::int FROM unnest(all_of(plan_of('SELECT count(*) FROM hash a JOIN hash b ON a.a = b.a'), '"Node Type"')) n WHERE n LIKE '%Join' OR n = 'Nested Loop'), 4,
          'partitions are joined by pairs');
SELECT is(result_of('SELECT count(*) FROM hash a JOIN hash b ON a.a = b.a'), '(40)', 'and nothing is lost');

SELECT finish();
ROLLBACK;
