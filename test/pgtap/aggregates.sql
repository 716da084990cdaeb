-- Aggregates of PostgreSQL's over encrypted values give what they give over plain ones: each that takes a base type, in each form of a call.
BEGIN;
\set ON_ERROR_STOP on
SELECT * FROM no_plan();
SET LOCAL client_min_messages = error;
SET LOCAL jit = off;
SELECT tde_create_type('money');
SELECT tde_create_type('bit');
SELECT tde_create_type('xml');

-- A plain column p_x beside an encrypted one e_x.  Floats are such that the order in which they are added makes no difference.
CREATE TEMP TABLE col (name text, type regtype, typmod text, enc text, value text);
INSERT INTO col VALUES
  ('t',  'text',             '',     'encrypted_text',             $$'t' || id % 7$$),
  ('v',  'varchar',          '(20)', 'encrypted_varchar(20)',      $$'v' || id % 11$$),
  ('b',  'bpchar',           '(6)',  'encrypted_bpchar(6,nosalt)', $$'b' || id % 5$$),
  ('i2', 'int2',             '',     'encrypted_int2',             'id % 13 - 6'),
  ('i4', 'int4',             '',     'encrypted_int4(nosalt)',     'id % 17 * 100000000'),
  ('i8', 'int8',             '',     'encrypted_int8',             'id % 19 * 500000000000000000'),
  ('n',  'numeric',          '',     'encrypted_numeric',          'id % 23 * 1.7'),
  ('f4', 'float4',           '',     'encrypted_float4',           'id % 9 * 0.5'),
  ('f8', 'float8',           '',     'encrypted_float8',           'id % 12 * 0.25'),
  ('o',  'bool',             '',     'encrypted_bool',             'id % 4 > 0'),
  ('iv', 'interval',         '',     'encrypted_interval',         $$id % 8 * interval '1 day 01:00'$$),
  ('y',  'bytea',            '',     'encrypted_bytea',            $$decode(md5((id % 6)::text), 'hex')$$),
  ('m',  'money',            '',     'encrypted_money',            '(id % 10)::money'),
  ('z',  'bit',              '(8)',  'encrypted_bit(8)',           '(id % 15)::bit(8)'),
  ('x',  'xml',              '',     'encrypted_xml',              $$format('<a>%s</a>', id)::xml$$);
\ir include/has_xml.sql
\if :has_xml
\else
  DELETE FROM col WHERE type = 'xml'::regtype;
  SELECT skip('aggregates of xml: this PostgreSQL has no libxml');
\endif
SELECT format('CREATE TABLE twin (id int, g int, %s)', string_agg(format('p_%1$s %2$s%3$s, e_%1$s %4$s', name, type, typmod, enc), ', ')) FROM col \gexec
SELECT format('INSERT INTO twin SELECT id, id %% 4, %s FROM generate_series(1, 60) id', string_agg(format('CASE WHEN id %% 10 > 0 THEN %1$s END, CASE WHEN id %% 10 > 0 THEN %1$s END', value), ', '))
FROM col \gexec

-- Each aggregate with each choice of columns, of which one at least is encrypted.  A @ is p in the plain call.
CREATE TEMP TABLE call AS
  WITH place AS (
    SELECT type AS taken, '@_' || name AS argument FROM col
    UNION ALL SELECT 'text', '@_' || name FROM col WHERE name IN ('v', 'b')
    UNION ALL SELECT type, 'p_' || name FROM col
    UNION ALL SELECT 'text', quote_literal('-'))
  SELECT p.oid::regprocedure AS aggregate, p.proname AS name, concat_ws(', ', one.argument, two.argument) AS args, one.argument AS first, p.pronargs = 1 AS single
  FROM pg_proc p JOIN pg_aggregate a ON a.aggfnoid = p.oid
  JOIN place one ON one.taken = p.proargtypes[0]
  LEFT JOIN place two ON two.taken = p.proargtypes[1]
  WHERE a.aggkind = 'n' AND p.oid < 16384 AND p.pronargs IN (1, 2) AND (p.pronargs = 1 OR two.taken IS NOT NULL)
    AND concat(one.argument, two.argument) LIKE '%@%';
CREATE TEMP TABLE form (name text, query text, single boolean);
INSERT INTO form VALUES
  ('plain',       'SELECT %1$s(%2$s) FROM twin', NULL),
  ('DISTINCT',    'SELECT %1$s(DISTINCT %2$s) FROM twin', NULL),
  ('ORDER BY',    'SELECT %1$s(%2$s ORDER BY %3$s DESC, id) FROM twin', NULL),
  ('DISTINCT ORDER BY', 'SELECT %1$s(DISTINCT %2$s ORDER BY %3$s) FROM twin', true),
  ('FILTER',      'SELECT %1$s(%2$s) FILTER (WHERE id %% 3 = 0) FROM twin', NULL),
  ('GROUP BY',    'SELECT g, %1$s(%2$s) FROM twin GROUP BY g ORDER BY g', NULL),
  ('ROLLUP',      'SELECT g, %1$s(%2$s) FROM twin GROUP BY ROLLUP (g) ORDER BY g', NULL),
  ('OVER',        'SELECT id, %1$s(%2$s) OVER (PARTITION BY g ORDER BY id) FROM twin', NULL),
  ('moving',      'SELECT id, %1$s(%2$s) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING) FROM twin', NULL),
  ('FILTER OVER', 'SELECT id, %1$s(%2$s) FILTER (WHERE id %% 3 = 0) OVER (ORDER BY id ROWS 4 PRECEDING) FROM twin', NULL),
  ('no row',      'SELECT %1$s(%2$s) FROM twin WHERE id < 0', NULL),
  ('NULL alone',  'SELECT %1$s(%2$s) FROM twin WHERE id %% 10 = 0', NULL),
  ('no group',    'SELECT g, %1$s(%2$s) FROM twin WHERE id < 0 GROUP BY g', NULL),
  ('HAVING',      'SELECT g FROM twin GROUP BY g HAVING %1$s(%2$s) IS NOT NULL ORDER BY g', NULL);

CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) q', query) INTO result;
  RETURN coalesce(result, 'none');
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
CREATE FUNCTION differing(call call) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(string_agg(f.name, ', '), '')
  FROM form f CROSS JOIN LATERAL (SELECT format(f.query, quote_ident(call.name), call.args, call.first)) q (query)
  WHERE (f.single IS NULL OR call.single) AND answer(replace(q.query, '@', 'e')) <> answer(replace(q.query, '@', 'p'))
$$;
SELECT cmp_ok((SELECT count(*) FROM call)::int, '>', 100, 'there are calls');
SELECT is(differing(c), '', format('%s of %s', c.aggregate, replace(c.args, '@', 'e'))) FROM call c;
-- what they return has the same type
SELECT is(answer(replace(q, '@', 'e')), answer(replace(q, '@', 'p')), 'type: ' || replace(q, '@', 'e'))
FROM (SELECT DISTINCT format('SELECT pg_typeof(%I(%s)) FROM twin', name, args) FROM call WHERE name NOT IN ('min', 'max')) AS t (q);

-- Ordered-set aggregates.
SELECT is(answer(replace(q, '@', 'e')), answer(replace(q, '@', 'p')), replace(q, '@', 'e'))
FROM (SELECT format('SELECT percentile_cont(%s) WITHIN GROUP (ORDER BY @_%s%s) FROM twin%s', fraction, name, direction, rest)
      FROM unnest(ARRAY['0.5', '0', '1', '0.33', $$'{0,0.25,NULL,0.9}'::float8[]$$, 'NULL::float8']) fraction, unnest('{i2,i4,i8,n,f4,f8,iv}'::text[]) name,
        unnest(ARRAY['', ' DESC']) direction, unnest(ARRAY['', ' WHERE id < 0', ' WHERE id % 10 = 0', ' GROUP BY g ORDER BY g']) rest) AS t (q);

-- What is ranked is of the plain type.
SELECT is(answer(replace(q, '@', 'e')), answer(replace(q, '@', 'p')), replace(q, '@', 'e'))
FROM (SELECT format('SELECT %s(%s%s) WITHIN GROUP (ORDER BY @_%s%s) FROM twin%s', function, format(given, name, type), more, name, direction, rest)
      FROM unnest('{rank,dense_rank,percent_rank,cume_dist}'::text[]) function, unnest(ARRAY['(SELECT p_%1$s FROM twin WHERE id = 33)', 'NULL::%2$s']) given,
        (SELECT name, type FROM col WHERE name <> 'x') c, (VALUES ('', ''), ('', ' DESC'), (', ''t3''::text', ' DESC NULLS LAST, @_t')) AS k (more, direction),
        unnest(ARRAY['', ' WHERE id < 0', ' GROUP BY g ORDER BY g']) rest) AS t (q);

-- Parallel workers hand states on.  In which order floats are added up then, nobody knows.
CREATE TEMP TABLE parallel_call AS SELECT DISTINCT ON (aggregate, first) * FROM call WHERE single AND name <> 'xmlagg' OR name LIKE 'regr%' OR name LIKE 'co%';
ALTER TABLE twin SET (parallel_workers = 2);
ANALYZE twin;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_leader_participation = off;
SELECT is(answer(replace(q, '@', 'e')), answer(replace(q, '@', 'p')), 'parallel: ' || replace(q, '@', 'e'))
FROM (SELECT format(CASE WHEN name ~ '^(var|std|regr|co)' THEN 'SELECT %2$sround(%1$s(%3$s)::numeric, 9) FROM twin%4$s' ELSE 'SELECT %2$s%1$s(%3$s) FROM twin%4$s' END,
                    quote_ident(name), columns, args, rest)
      FROM parallel_call, (VALUES ('', ''), ('', ' WHERE id < 0'), ('g, ', ' GROUP BY g ORDER BY g'), ('id, ', ' GROUP BY id ORDER BY id')) AS r (columns, rest)) AS t (q);
\ir include/plan.sql
SELECT alike(plan_of(q)::text, '%"Partial Mode": "Partial"%', 'partial: ' || q)
FROM (SELECT format('SELECT g, %I(e_%s) FROM twin GROUP BY g', name, col) FROM (VALUES ('sum', '{i2,i4,i8,n,f4,f8,iv}'::text[]), ('avg', '{i2,i4,i8,n,f4,f8,iv}'), ('stddev', '{i2,i4,i8,n,f4,f8}'),
        ('bool_and', '{o}'), ('bool_or', '{o}'), ('every', '{o}'), ('bit_xor', '{i2,i4,i8}')) AS a (name, cols), unnest(cols) col) AS t (q);

-- Whoever calls the functions of aggregates himself gets NULL or an error: of no state a value makes one.
CREATE TEMP TABLE answered (signature text, answer text);
DO $do$
DECLARE
  f record;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure::text AS signature, format('SELECT (tde_internal.%I(%s)) IS NULL', p.proname, (
        SELECT string_agg(coalesce((SELECT format('(SELECT %I FROM twin WHERE %1$I IS NOT NULL LIMIT 1)', attname) FROM pg_attribute
                                    WHERE attrelid = 'twin'::regclass AND atttypid = t AND attname LIKE 'e\_%' LIMIT 1), format('NULL::%s', t::regtype)), ', ' ORDER BY n)
        FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (t, n))) AS call
    FROM pg_proc p WHERE p.pronamespace = 'tde_internal'::regnamespace AND p.oid IN (
      SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[]) FROM pg_aggregate)
  LOOP
    BEGIN
      EXECUTE f.call INTO f.call;
      INSERT INTO answered VALUES (f.signature, f.call);
    EXCEPTION WHEN OTHERS THEN
      INSERT INTO answered VALUES (f.signature, SQLERRM);
    END;
  END LOOP;
END
$do$;
SELECT cmp_ok((SELECT count(*) FROM answered)::int, '>', 100, 'there are such functions');
SELECT is_empty($$SELECT * FROM answered WHERE signature ~ '[(,]internal' AND answer IN ('true', 'false')$$, 'states are no values');
CREATE AGGREGATE pg_temp.mine(encrypted_int2) (SFUNC = tde_internal.int2_avg_accum, STYPE = int8[]);
SELECT is((SELECT pg_temp.mine(e_i2) FROM twin), NULL, 'an aggregate of others that begins without a state');

-- Of equal values max() and min() give the one that they give of plain ones.
SELECT is((SELECT max(n::encrypted_numeric)::text FROM unnest(list) n), (SELECT max(n)::text FROM unnest(list) n), format('max of %s', list))
FROM (VALUES ('{1.0,1.00}'::numeric[]), ('{1.00,1.0}'), ('{2,1.0,1.00,2.0}')) v (list);
SELECT is((SELECT min(n::encrypted_numeric)::text FROM unnest(list) n), (SELECT min(n)::text FROM unnest(list) n), format('min of %s', list))
FROM (VALUES ('{1.0,1.00}'::numeric[]), ('{1.00,1.0}'), ('{2,1.0,1.00,2.0}')) v (list);

SELECT * FROM finish();
ROLLBACK;
