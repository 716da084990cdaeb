-- Whatever the specification and the data key, encrypted values are in the same relations to each other, and to plain values, as
-- their plaintexts are: each ordered pair of values in each pair of columns, by operators, support functions, sorts, groups,
-- aggregates and the three ways to join.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();

-- Values that are written differently but equal, or nearly.
INSERT INTO sample
  SELECT base, value FROM unnest('{text,character varying,character}'::text[]) base,
    unnest(ARRAY['a  ', 'a' || chr(1), 'A ', 'aa', 'á', 'a' || chr(769), 'ä', 'Z', 'ß', 'ss', 'SS', '10', '9', '-']) value;
INSERT INTO sample
  SELECT base, unnest(list) FROM (VALUES
    ('numeric',             ARRAY['1.00', '1.000000000000000000000', '-0', '0e5', '-1.50', '1e20', '100000000000000000000', '0.00000000000000000001', '9999', '99990000',
                                  '123456789012345678901234567890', '123456789012345678901234567891', '3.1415926535897932384626433832795028841971']),
    ('real',                ARRAY['-1', '1e10', '1.0000001', '16777216', '0.5']),
    ('double precision',    ARRAY['-1', '1e300', '1.0000000000000002', '9007199254740993', '0.5', '2.2250738585072014e-308']),
    ('date',                ARRAY['0001-01-01', '0001-12-31 BC', '2024-02-29', '1970-01-01']),
    ('time without time zone', ARRAY['12:34:56', '12:34:56.000001', '00:00:00.000001']),
    ('time with time zone', ARRAY['14:00+02', '11:00-01', '12:00-12', '00:00+12', '23:59:59.999999+00']),
    ('timestamp without time zone', ARRAY['0001-01-01 00:00:00.000001 BC', '2024-02-29 23:59:59', '1970-01-01', '2024-02-29 24:00:00']),
    ('timestamp with time zone', ARRAY['2000-01-01 02:00+02', '0001-01-01 12:00+00 BC', '2024-02-29 23:59:59-12', '1970-01-01+00']),
    ('interval',            ARRAY['1 day', '24 hours', '30 days 00:00:00.000001', '720 hours', '1 year', '12 mons', '360 days', '-24 hours', '-1 day', '1 mon -30 days', '-1 mon 30 days']),
    ('bytea',               ARRAY['\x01', '\x0001', '\xff00', '\xfe', '\x5a5a']),
    ('bigint',              ARRAY['2147483648', '-4294967297']),
    ('uuid',                ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', '00000000-0000-0000-0000-000000000001'])
  ) AS list (base, list);
INSERT INTO sample
  SELECT base, unnest(list), false FROM (VALUES
    ('jsonb', ARRAY['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '{"a": 1.0, "b": 2}', '{"a": 1, "a": 0, "b": 2, "a": 1}', '[]', '[1]', '[1.00]', '"a"', '"A"', 'true', '1', '1.0', '{"a": []}', '[[]]']),
    ('inet',  ARRAY['192.168.1.0/24', '192.168.1.5/32', '192.168.1.5/16', '10.0.0.0/8', '10.0.0.0', '::ffff:192.168.1.5', '::/0', 'fe80::1/64'])
  ) AS list (base, list);

CREATE TEMP TABLE variant (i int, words text);
INSERT INTO variant VALUES (1, 'aes256,salt,mac'), (2, 'aes128,nosalt,sha256'), (3, '''3des168'',nosalt,mac,cbc'), (4, 'aes256,salt,sha256,''key=first'''),
  (5, 'aes256,salt,sha256,''key=second'''), (6, 'aes192,nosalt,nomac,cbc'), (7, 'aes256,salt,gcm'), (8, 'aes128,nosalt,gcm');

-- A collation under which different strings are equal, where the server has ICU.
CREATE TEMP TABLE under (clause text);
INSERT INTO under VALUES ('');
DO $$
BEGIN
  CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  INSERT INTO under VALUES ('COLLATE "ignore_case"'), ('COLLATE "en-x-icu"');
EXCEPTION WHEN feature_not_supported THEN
  NULL;
END
$$;

CREATE FUNCTION has_order(f family) RETURNS boolean LANGUAGE sql AS
  $$ SELECT EXISTS (SELECT FROM pg_operator WHERE oprname = '<' AND oprleft = f.enc AND oprright = f.enc) $$;

-- The view vals: the values in clear; in columns e1, e2, ...; and in the column mixed, of all specifications by turns.
CREATE FUNCTION set_up(f family, clause text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  names text[] := ARRAY(SELECT 'e' || i FROM variant WHERE f.nomac OR words !~ 'nomac' ORDER BY i);
BEGIN
  EXECUTE format('CREATE TABLE stored_vals (n int, plain %s %s%s)', f.plain, clause,
    (SELECT string_agg(format(', e%s %s(%s) %s', i, f.enc, words, clause), '' ORDER BY i) FROM variant WHERE 'e' || i = ANY (names)));
  EXECUTE format('INSERT INTO stored_vals (n, plain) SELECT row_number() OVER (ORDER BY md5(value)), value::%s FROM sample WHERE base = %L AND length(value) < 300',
                 f.plain, f.base);
  INSERT INTO stored_vals (n) VALUES (0);
  EXECUTE 'UPDATE stored_vals SET ' || (SELECT string_agg(format('%s = plain', name), ', ') FROM unnest(names) name);
  EXECUTE format('CREATE VIEW vals AS SELECT *, CASE n %% %s %s END AS mixed FROM stored_vals', cardinality(names),
    (SELECT string_agg(format('WHEN %s THEN %s', i - 1, name), ' ') FROM unnest(names) WITH ORDINALITY AS u (name, i)));
  RETURN names || 'mixed'::text;
END
$$;

CREATE FUNCTION number_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  result bigint;
BEGIN
  EXECUTE query INTO result;
  RETURN result;
END
$$;

-- Pairs of columns, and what differs in them from the plaintexts; every operator, cmp, hash.
CREATE FUNCTION differing_pairs(f family, names text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  pair record;
  claim record;
BEGIN
  FOR pair IN SELECT l, r FROM unnest(names || 'plain'::text) l, unnest(names || 'plain'::text) r WHERE (l, r) <> ('plain', 'plain') LOOP
    FOR claim IN
      SELECT oprname::text AS name, format('(a.%s %s b.%s) IS DISTINCT FROM (a.plain OPERATOR(pg_catalog.%s) b.plain)', pair.l, oprname, pair.r, oprname) AS broken
      FROM pg_operator WHERE oprleft = f.enc AND oprright = f.enc AND oprname IN ('=', '<>', '<', '<=', '>', '>=')
      UNION ALL
      SELECT 'cmp', format('sign(tde_internal.tde_cmp(a.%s, b.%s)) IS DISTINCT FROM CASE WHEN a.plain OPERATOR(pg_catalog.<) b.plain THEN -1
                            WHEN a.plain OPERATOR(pg_catalog.=) b.plain THEN 0 WHEN a.plain OPERATOR(pg_catalog.>) b.plain THEN 1 END', pair.l, pair.r)
      WHERE has_order(f)
      UNION ALL
      SELECT 'hash', format('a.plain OPERATOR(pg_catalog.=) b.plain AND tde_internal.tde_hash(a.%s) <> tde_internal.tde_hash(b.%s)', pair.l, pair.r)
      WHERE has_order(f)
      UNION ALL
      -- decides to which partition a row belongs, so it is the base type's
      SELECT 'extended hash', format('a.n = b.n AND (tde_internal.tde_hash_extended(a.%1$s, 0), tde_internal.tde_hash_extended(a.%1$s, 42)) <> (tde_internal.tde_hash_extended(b.plain, 0), tde_internal.tde_hash_extended(b.plain, 42))', pair.l)
      WHERE has_order(f) AND pair.r = 'plain'
    LOOP
      IF number_of('SELECT count(*) FROM vals a, vals b WHERE ' || claim.broken) > 0 THEN
        RETURN NEXT format('%s %s %s', pair.l, claim.name, pair.r);
      END IF;
    END LOOP;
  END LOOP;
END
$$;

-- Columns of which a set of values is another one than that of the plaintexts.
CREATE FUNCTION differing_sets(f family, names text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  name text;
  query text;
  hashed text;
BEGIN
  FOREACH name IN ARRAY names LOOP
    FOREACH hashed IN ARRAY ARRAY['on', 'off'] LOOP
      PERFORM set_config('enable_hashagg', hashed, true);
      FOREACH query IN ARRAY ARRAY[
        'SELECT count(*) FROM (SELECT %s FROM vals GROUP BY 1) s',
        'SELECT count(*) FROM (SELECT DISTINCT %s FROM vals) s',
        'SELECT count(DISTINCT %s) FROM vals',
        'SELECT count(*) FROM (SELECT %s FROM vals INTERSECT SELECT %1$s FROM vals WHERE n %% 2 = 0) s',
        'SELECT sum(g * g) FROM (SELECT count(*) OVER (PARTITION BY %s) AS g FROM vals) s',
        'SELECT sum(n * r) FROM (SELECT n, rank() OVER (ORDER BY %s) AS r FROM vals) s',
        'SELECT sum(i * n) FROM (SELECT n, row_number() OVER (ORDER BY %s, n) AS i FROM vals) s',
        'SELECT sum(i * n) FROM (SELECT n, row_number() OVER (ORDER BY %s DESC NULLS LAST, n) AS i FROM vals) s'
      ] LOOP
        IF number_of(format(query, name)) IS DISTINCT FROM number_of(format(query, 'plain')) THEN
          RETURN NEXT format(query, name);
        END IF;
      END LOOP;
    END LOOP;
    RETURN QUERY EXECUTE format('SELECT %L WHERE ARRAY(SELECT n FROM vals ORDER BY %s, n) <> ARRAY(SELECT n FROM vals ORDER BY plain, n)', 'ORDER BY ' || name, name);
    IF EXISTS (SELECT FROM pg_proc WHERE proname = 'max' AND prokind = 'a' AND proargtypes[0] = f.enc) THEN
      RETURN QUERY EXECUTE format('SELECT %L FROM vals HAVING (max(%s)::%s, min(%2$s)::%3$s) IS DISTINCT FROM (max(plain), min(plain))', 'min, max of ' || name, name, f.plain);
    END IF;
  END LOOP;
  -- equal values of different specifications are one
  IF number_of(format('SELECT count(*) FROM (SELECT %s FROM vals) s', array_to_string(names, ' FROM vals UNION SELECT '))) <>
     number_of('SELECT count(*) FROM (SELECT DISTINCT plain FROM vals) s') THEN
    RETURN NEXT 'UNION';
  END IF;
  PERFORM set_config('enable_hashagg', 'on', true);
END
$$;

-- Joins whose count is another one than that of the plaintexts, or that are not planned as they should be.
CREATE FUNCTION differing_joins(f family, names text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  method text;
  pair record;
  query text;
  expected bigint := number_of('SELECT count(*) FROM stored_vals a JOIN stored_vals b ON a.plain OPERATOR(pg_catalog.=) b.plain');
BEGIN
  FOREACH method IN ARRAY ARRAY['Hash Join', 'Merge Join', 'Nested Loop'] LOOP
    PERFORM set_config('enable_hashjoin', (method = 'Hash Join')::text, true), set_config('enable_mergejoin', (method = 'Merge Join')::text, true),
            set_config('enable_nestloop', (method = 'Nested Loop')::text, true);
    FOR pair IN SELECT l, r FROM unnest(names || 'plain'::text) l, unnest(names || 'plain'::text) r WHERE (l, r) <> ('plain', 'plain') LOOP
      query := format('SELECT count(*) FROM vals a JOIN vals b ON a.%s = b.%s', pair.l, pair.r);
      IF number_of(query) <> expected OR method <> ALL (all_of(plan_of(query), '"Node Type"')) THEN
        RETURN NEXT format('%s: %s', method, query);
      END IF;
    END LOOP;
  END LOOP;
  SET LOCAL enable_hashjoin = on;
  SET LOCAL enable_mergejoin = on;
  SET LOCAL enable_nestloop = on;
END
$$;

CREATE FUNCTION properties(f family, clause text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  names text[] := set_up(f, clause);
  subject text := f.enc || ' ' || clause;
BEGIN
  RETURN NEXT is(ARRAY(SELECT differing_pairs(f, names)), '{}', subject || ': pairs of values');
  IF has_order(f) THEN
    RETURN NEXT is(ARRAY(SELECT differing_sets(f, names)), '{}', subject || ': order, groups, min and max');
    RETURN NEXT is(ARRAY(SELECT differing_joins(f, names)), '{}', subject || ': joins');
  END IF;
  DROP VIEW vals;
  DROP TABLE stored_vals;
END
$$;
SELECT properties(f, clause) FROM family f, under
WHERE clause = '' OR (SELECT typcollation FROM pg_type WHERE oid = f.base) <> 0 ORDER BY name, clause;

--
-- Different types: whatever operator there is between two, one of them encrypted
--
CREATE TEMP TABLE shared (base text, value text);
INSERT INTO shared
  SELECT base, value FROM unnest('{smallint,integer,bigint,numeric,real,double precision}'::text[]) base, unnest('{0,1,-1,2,255,32767,-32768}'::text[]) value
  UNION ALL
  SELECT base, value FROM unnest('{date,timestamp without time zone,timestamp with time zone}'::text[]) base, unnest('{2000-01-01,1999-12-31,infinity,-infinity,2024-02-29}'::text[]) value
  UNION ALL
  SELECT base, value FROM unnest('{text,character varying,name}'::text[]) base, unnest('{"",a,A,aa,"a ",z}'::text[]) value;
INSERT INTO shared VALUES ('bigint', '9007199254740993'), ('bigint', '9007199254740992'), ('double precision', '9007199254740992'), ('numeric', '9007199254740993'),
  ('numeric', '1.00'), ('numeric', '0.1'), ('real', '0.1'), ('double precision', '0.1'), ('double precision', 'NaN'), ('numeric', 'NaN'), ('real', 'NaN'), ('real', '-0'),
  ('timestamp without time zone', '2000-01-01 00:00:00.000001'), ('timestamp with time zone', '1999-12-31 23:00-01');

-- The type in clear of an operand, and what makes one of a value v of that type.
CREATE FUNCTION sides(operand regtype) RETURNS TABLE (type text, value text) LANGUAGE sql AS $$
  SELECT coalesce((SELECT f.plain FROM family f WHERE f.enc = $1), regexp_replace(format_type($1, NULL), '^tde_internal\.plain_', ''))::regtype::text,
         'v' || CASE WHEN $1 IN (SELECT f.enc FROM family f) OR $1::text ~ '^tde_internal\.plain_' THEN '::' || $1 ELSE '' END
$$;
-- The hash function of an operand in the operator's family.
CREATE FUNCTION hash_of(op pg_operator, operand oid) RETURNS text LANGUAGE sql AS $$
  SELECT amproc::regproc FROM pg_amop JOIN pg_am m ON m.oid = amopmethod JOIN pg_amproc ON amprocfamily = amopfamily
  WHERE amopopr = op.oid AND amname = 'hash' AND amprocnum = 1 AND amproclefttype = operand
$$;
CREATE FUNCTION differing_operator(o regoperator) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  op pg_operator;
  l record;
  r record;
BEGIN
  SELECT * INTO op FROM pg_operator WHERE oid = o;
  SELECT * INTO l FROM sides(op.oprleft);
  SELECT * INTO r FROM sides(op.oprright);
  RETURN number_of(format(
    'SELECT count(*) FROM (SELECT %1$s AS e, v FROM (SELECT value::%2$s AS v FROM shared WHERE base = %3$L) s) a,
                          (SELECT %4$s AS e, v FROM (SELECT value::%5$s AS v FROM shared WHERE base = %6$L) s) b
     WHERE (a.e OPERATOR(%7$s) b.e) IS DISTINCT FROM (a.v OPERATOR(pg_catalog.%8$s) b.v) OR (a.e OPERATOR(%7$s) b.e) AND %9$s',
    l.value, l.type, l.type, r.value, r.type, r.type, (SELECT format('%I.%s', nspname, op.oprname) FROM pg_namespace WHERE oid = op.oprnamespace), op.oprname,
    CASE WHEN op.oprcanhash THEN format('%s(a.e) <> %s(b.e)', hash_of(op, op.oprleft), hash_of(op, op.oprright)) ELSE 'false' END)) > 0;
END
$$;
CREATE TEMP TABLE mixed_operator AS
  SELECT o.oid::regoperator AS o FROM pg_operator o
  WHERE oprname IN ('=', '<>', '<', '<=', '>', '>=') AND oprleft <> oprright
    AND (oprleft IN (SELECT enc FROM family) OR oprright IN (SELECT enc FROM family))
    AND EXISTS (SELECT FROM shared, sides(oprleft) s WHERE base = s.type) AND EXISTS (SELECT FROM shared, sides(oprright) s WHERE base = s.type);
SELECT cmp_ok((SELECT count(*) FROM mixed_operator), '>', 300::bigint, 'there are operators between different types');
SELECT is_empty('SELECT o FROM mixed_operator WHERE differing_operator(o)', 'they agree with those of the base types, and equal values hash alike');

SELECT finish();
ROLLBACK;
