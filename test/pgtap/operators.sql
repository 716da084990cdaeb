-- Operators, joins, grouping, sorting, windows, keys and partitions across encrypted and plain types, by example; the files named after
-- kinds of operators try all types.
BEGIN;
\ir include/family.sql
\ir include/statement.sql
SELECT * FROM no_plan();
SET LOCAL timezone = 'America/Los_Angeles';
SET LOCAL datestyle = 'Postgres, MDY';

CREATE TABLE n (i2 encrypted_int2, i4 encrypted_int4, i8 encrypted_int8, nu encrypted_numeric, f4 encrypted_float4, f8 encrypted_float8);
INSERT INTO n VALUES (1, 1, 1, 1, 1, 1), (2, 2, 2, 2.5, 2.5, 2.5), (3, 3, 3, 3, 3, 3);
SELECT gives($$SELECT i4 = i8, i2 < i8, nu = i4, nu > i8, f8 = nu, f4 = f8, i2 = f4, i4 = 1::int8, 1::int2 = i8, nu = 2.5::float8, f8 >= 2::int4
FROM n ORDER BY i4$$,
  E'(t,f,t,f,t,t,t,t,t,f,f)\n(t,f,f,t,t,t,f,f,f,t,t)\n(t,f,t,f,t,t,t,f,f,f,t)');
SELECT gives($$SELECT i4 % 2, f8 / 2, nu * 2, i8 + 1::int2 FROM n ORDER BY nu DESC$$,
  E'(1,1.5,6,4)\n(0,1.25,5.0,3)\n(1,0.5,2,2)');
SELECT gives($$SELECT coalesce(nu, 0.0), CASE WHEN i4 > 1 THEN nu ELSE '0' END, greatest(i8, 2::int8) FROM n ORDER BY i8$$,
  E'(1,0,2)\n(2.5,2.5,2)\n(3,3,3)');
SELECT gives($$SELECT i4 FROM n UNION SELECT 7 ORDER BY 1$$,
  E'(1)\n(2)\n(3)\n(7)');
SELECT gives($$SELECT min(i4), max(nu), max(f8), pg_typeof(max(nu)) FROM n$$,
  '(1,3,3,encrypted_numeric)');

CREATE TABLE s (t encrypted_text, v encrypted_varchar(20), c encrypted_bpchar, d encrypted_date, z encrypted_timestamptz, ts encrypted_timestamp, u encrypted_uuid,
                b encrypted_bool, j encrypted_jsonb, i encrypted_inet, iv encrypted_interval);
INSERT INTO s VALUES ('postgres', 'postgres', 'x  ', '2024-01-01', '2024-01-01 00:00', '2024-01-01', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', true,
                      '{"a": [1, 2]}', '10.0.0.1', '1 day');
SELECT gives($$SELECT t = v, t = 'postgres'::name, 'postgres'::name = v, v = 'postgres'::text, t = 'postgres'::varchar, c = 'x', d = ts, d = z, ts = z, b = true,
       j = '{"a": [1, 2]}'::jsonb, i = '10.0.0.1'::inet, iv = '24 hours'::interval, u > '00000000-0000-0000-0000-000000000000' FROM s$$,
  '(t,t,t,t,t,t,t,t,t,t,t,t,t,t)');
SELECT gives($$SELECT j -> 'a', j ->> 'a', j @> '{"a": [1]}', jsonb_array_length(j -> 'a'), host(i), d + 1, z - iv, extract(year FROM d), b AND true FROM s$$,
  '("[1, 2]","[1, 2]",t,2,10.0.0.1,01-02-2024,"Sun Dec 31 00:00:00 2023 PST",2024,t)');

-- plans: plain columns keep PostgreSQL's operators; encrypted ones have their own families
CREATE TABLE e (id int, k encrypted_int4 PRIMARY KEY, t encrypted_text(nosalt), w encrypted_int8);
INSERT INTO e SELECT g, g, 'k' || g % 100, g % 10 FROM generate_series(1, 1000) g;
CREATE TABLE p (id int, k int8, t varchar(10));
INSERT INTO p SELECT g, g, 'k' || g FROM generate_series(1, 200) g;
ANALYZE e, p;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = off;
SELECT gives($$SELECT count(*), sum(e.k) FROM e JOIN p ON e.k = p.k$$,
  '(200,20100)');
SELECT gives($$SELECT count(*) FROM e JOIN p USING (t)$$,
  '(990)');
SELECT gives($$SELECT count(*) FROM e a JOIN e b ON a.w = b.k$$,
  '(900)');
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = on;
SELECT gives($$SELECT count(*), sum(e.k) FROM e JOIN p ON e.k = p.k$$,
  '(200,20100)');
SELECT gives($$SELECT count(*) FROM e JOIN p USING (t)$$,
  '(990)');
SELECT gives($$SELECT count(*) FROM e a JOIN e b ON a.w = b.k$$,
  '(900)');
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = on;
SELECT gives($$SELECT count(*), sum(e.k) FROM e JOIN p ON e.k = p.k$$,
  '(200,20100)');
SET LOCAL enable_mergejoin = on;
SET LOCAL enable_nestloop = on;
SET LOCAL enable_hashjoin = on;
SELECT gives($$SELECT w, count(*), min(t), max(k) FROM e GROUP BY w ORDER BY w LIMIT 3$$,
  E'(0,100,k0,1000)\n(1,100,k1,991)\n(2,100,k12,992)');
SELECT gives($$SELECT count(DISTINCT t), count(DISTINCT w) FROM e$$,
  '(100,10)');
SELECT gives($$SELECT k FROM e ORDER BY k DESC LIMIT 3$$,
  E'(1000)\n(999)\n(998)');
SELECT gives($$SELECT k, sum(k) OVER (ORDER BY k RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM e WHERE k < 6 ORDER BY k$$,
  E'(1,3)\n(2,6)\n(3,10)\n(4,14)\n(5,12)');
SELECT gives($$SELECT d, count(*) OVER (ORDER BY d RANGE BETWEEN '1 day' PRECEDING AND CURRENT ROW) FROM s$$,
  '(01-01-2024,1)');
SET LOCAL enable_seqscan = off;
-- the plan of max() is printed differently by different versions
CREATE FUNCTION uses_index(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text; found boolean := false;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    found := found OR line LIKE '%Index%Scan Backward using e_pkey%';
  END LOOP;
  RETURN found;
END $$;
SELECT gives($$SELECT uses_index('SELECT max(k) FROM e')$$,
  '(t)');
SELECT gives($$EXPLAIN (COSTS OFF) SELECT * FROM e WHERE k = 5::int8$$,
  E'("Index Scan using e_pkey on e")\n("  Index Cond: (k = ''5''::bigint)")');
SELECT gives($$EXPLAIN (COSTS OFF) SELECT * FROM e WHERE k BETWEEN 5 AND 7$$,
  E'("Index Scan using e_pkey on e")\n("  Index Cond: ((k >= 5) AND (k <= 7))")');
SELECT gives($$SELECT id FROM e WHERE k BETWEEN 5 AND 7 ORDER BY k$$,
  E'(5)\n(6)\n(7)');
CREATE INDEX ON e USING hash (t);
SELECT gives($$EXPLAIN (COSTS OFF) SELECT * FROM e WHERE t = 'k5'$$,
  '("Bitmap Heap Scan on e")
("  Recheck Cond: (t = ''k5''::encrypted_text)")
("  ->  Bitmap Index Scan on e_t_idx")
("        Index Cond: (t = ''k5''::encrypted_text)")');
SELECT gives($$SELECT count(*) FROM e WHERE t = 'k5'$$,
  '(10)');
SET LOCAL enable_seqscan = on;

-- foreign keys, encrypted to plain and to another specification; partitions; exclusion
CREATE TABLE child (k encrypted_int4(aes128, nosalt) REFERENCES e, t text);
INSERT INTO child VALUES (7, 'x');
SELECT is(complaint($$INSERT INTO child VALUES (7777, 'x')$$),
  '23503 insert or update on table "child" violates foreign key constraint "child_k_fkey" [Key (k)=(7777) is not present in table "e".]', 'INSERT INTO child VALUES (7777, ''x'')');
SELECT is(complaint($$DELETE FROM e WHERE k = 7$$),
  '23503 update or delete on table "e" violates foreign key constraint "child_k_fkey" on table "child" [Key (k)=(7) is still referenced from table "child".]', 'DELETE FROM e WHERE k = 7');
CREATE TABLE plain_child (k int REFERENCES e (k));
INSERT INTO plain_child VALUES (8);
SELECT is(complaint($$INSERT INTO plain_child VALUES (8888)$$),
  '23503 insert or update on table "plain_child" violates foreign key constraint "plain_child_k_fkey" [Key (k)=(8888) is not present in table "e".]', 'INSERT INTO plain_child VALUES (8888)');
CREATE TABLE parts (a encrypted_text, n encrypted_int4) PARTITION BY LIST (a);
CREATE TABLE parts_x PARTITION OF parts FOR VALUES IN ('x', 'y');
CREATE TABLE parts_d PARTITION OF parts DEFAULT PARTITION BY RANGE (n);
CREATE TABLE parts_d1 PARTITION OF parts_d FOR VALUES FROM (0) TO (10);
CREATE TABLE hashed (a encrypted_int8) PARTITION BY HASH (a);
CREATE TABLE hashed0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts VALUES ('x', 1), ('z', 2);
INSERT INTO hashed SELECT generate_series(1, 100);
SELECT gives($$SELECT tableoid::regclass, a, n FROM parts ORDER BY a$$,
  E'(parts_x,x,1)\n(parts_d1,z,2)');
SELECT gives($$SELECT count(*) > 20 AS spread FROM hashed0$$,
  '(t)');
CREATE TABLE ex (a encrypted_int4, EXCLUDE (a WITH =));
INSERT INTO ex VALUES (1), (2);
SELECT is(complaint($$INSERT INTO ex VALUES (1)$$),
  '23P01 conflicting key value violates exclusion constraint "ex_a_excl" [Key (a)=(1) conflicts with existing key (a)=(1).]', 'INSERT INTO ex VALUES (1)');
MERGE INTO ex USING (VALUES (2), (3)) v (a) ON ex.a = v.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.a);
SELECT gives($$SELECT * FROM ex ORDER BY a$$,
  E'(1)\n(3)');
DROP FUNCTION uses_index;
DROP TABLE n, s, e, p, child, plain_child, parts, hashed, ex CASCADE;

--
-- Bloom indexes of hashes, with an operator class as docs/columns.md has it
--
CREATE EXTENSION bloom;
CREATE FUNCTION bloom(type text, made text, sought text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan text;
  n    bigint;
BEGIN
  EXECUTE format('CREATE OPERATOR CLASS %1$s_bloom_ops DEFAULT FOR TYPE %1$s USING bloom AS OPERATOR 1 = (%1$s, %1$s), FUNCTION 1 tde_internal.tde_hash(%1$s)', type);
  EXECUTE format('CREATE TABLE bloomed (id int, salted %1$s, unsalted %1$s(nosalt))', type);
  EXECUTE format('INSERT INTO bloomed SELECT i, %1$s, %1$s FROM generate_series(1, 300) i', made);
  CREATE INDEX ON bloomed USING bloom (salted, unsalted);
  EXECUTE format('SELECT count(*) FROM bloomed WHERE salted = %1$s AND unsalted = %1$s', sought) INTO n;
  FOR plan IN EXECUTE format('EXPLAIN SELECT FROM bloomed WHERE unsalted = %s', sought) LOOP
    EXIT WHEN plan ~ 'Index Scan on bloomed_salted_unsalted_idx';
  END LOOP;
  DROP TABLE bloomed;
  RETURN concat_ws(' ', n, plan);
END
$$;
SET LOCAL enable_seqscan = off;
SELECT matches(bloom(type, made, sought), '^1 .*Index Scan', format('a bloom index of %s', type))
FROM (VALUES ('encrypted_text', '''v'' || i', '''v7'''), ('encrypted_varchar', '''v'' || i', '''v7'''), ('encrypted_int4', 'i', '''7'''),
             ('encrypted_numeric', 'i / 2.0', '''3.5'''), ('encrypted_date', 'date ''2026-01-01'' + i', '''2026-01-08'''),
             ('encrypted_uuid', 'md5(i::text)::uuid', '''8f14e45f-ceea-167a-5a36-dedd4bea2543''')) AS t (type, made, sought);

SELECT * FROM finish();
ROLLBACK;
