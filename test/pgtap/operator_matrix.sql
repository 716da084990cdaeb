-- The matrix: each binary operator of PostgreSQL's between every two types, with either or both operands encrypted, is of the same type and gives
-- the same values as between plain ones.  It is made of pg_operator, so that what a later version adds is in it.
BEGIN;
SELECT * FROM no_plan();
SET LOCAL client_min_messages = error;

-- Types that have an encrypted one, and others that stand beside them, with values of which few make an operator fail.
CREATE TEMP TABLE kind (name text, plain text, enc text, sample text[]);
INSERT INTO kind VALUES
  ('text', 'text', 'encrypted_text', '{ab,"b ","1"}'), ('varchar', 'varchar', 'encrypted_varchar', '{ab,"b ","2"}'), ('bpchar', 'bpchar', 'encrypted_bpchar', '{ab,"b ","1"}'),
  ('int2', 'int2', 'encrypted_int2', '{1,3,-2}'), ('int4', 'int4', 'encrypted_int4', '{1,2,-7}'), ('int8', 'int8', 'encrypted_int8', '{1,3,7}'),
  ('numeric', 'numeric', 'encrypted_numeric', '{1,2.5,-3}'), ('float4', 'float4', 'encrypted_float4', '{1,2.5,-0.1}'), ('float8', 'float8', 'encrypted_float8', '{1,2.5,-0.1}'),
  ('bool', 'bool', 'encrypted_bool', '{t,f}'), ('date', 'date', 'encrypted_date', '{2001-02-03,2001-03-04}'), ('time', 'time', 'encrypted_time', '{01:02:03,23:00}'),
  ('timetz', 'timetz', 'encrypted_timetz', '{01:02:03+01,23:00+00}'), ('timestamp', 'timestamp', 'encrypted_timestamp', '{2001-02-03,2001-03-04 05:06}'),
  ('timestamptz', 'timestamptz', 'encrypted_timestamptz', '{2001-02-03 00:00+00,2001-03-04 05:06+00}'), ('interval', 'interval', 'encrypted_interval', '{1 day,02:00}'),
  ('bytea', 'bytea', 'encrypted_bytea', '{\\x00ff,\\x61}'), ('uuid', 'uuid', 'encrypted_uuid', '{00000000-0000-0000-0000-000000000000,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'),
  ('json', 'json', 'encrypted_json', '{"[1,2]","{\"ab\":{\"b\":1}}"}'), ('jsonb', 'jsonb', 'encrypted_jsonb', '{"[1,2]","{\"ab\":{\"b\":1}}","1"}'),
  ('inet', 'inet', 'encrypted_inet', '{192.168.1.5/24,10.0.0.1,::1}'), ('name', 'name', NULL, '{ab,b}'), ('char', '"char"', NULL, '{a,b}'), ('oid', 'oid', NULL, '{1,3}'),
  ('xid', 'xid', NULL, '{1,3}'), ('money', 'money', NULL, '{1,2.50}'), ('cidr', 'cidr', NULL, '{192.168.1.0/24}'), ('bit', 'bit(4)', NULL, '{1010,0110}'),
  ('varbit', 'varbit', NULL, '{1010}'), ('jsonpath', 'jsonpath', NULL, '{$.ab}'), ('tsquery', 'tsquery', NULL, '{ab}'),
  ('point', 'point', NULL, '{"(1,2)"}'), ('pg_lsn', 'pg_lsn', NULL, '{0/10}'), ('int4range', 'int4range', NULL, '{"[1,5)"}'), ('numrange', 'numrange', NULL, '{"[1,5)"}'),
  ('daterange', 'daterange', NULL, '{"[2001-01-01,2002-01-01)"}'), ('tsrange', 'tsrange', NULL, '{"[2001-01-01,2002-01-01)"}'),
  ('tstzrange', 'tstzrange', NULL, '{"[2001-01-01,2002-01-01)"}'), ('int8multirange', 'int8multirange', NULL, '{"{[1,5)}"}'), ('macaddr', 'macaddr', NULL, '{08:00:2b:01:02:03}');
INSERT INTO kind SELECT name || '[]', plain || '[]', enc || '[]', ARRAY[ARRAY[sample[1]]::text, sample::text]
  FROM kind WHERE enc IS NOT NULL AND name NOT IN ('json', 'timetz') OR name = 'name';
DO $$
DECLARE
  k record;
BEGIN
  FOR k IN SELECT * FROM kind LOOP
    EXECUTE format('CREATE TEMP TABLE %I AS SELECT n, v::%s AS plain FROM unnest(%L::text[]) WITH ORDINALITY t (v, n)', 'of ' || k.name, k.plain, k.sample);
    IF k.enc IS NOT NULL THEN
      EXECUTE format('ALTER TABLE %I ADD enc %s; UPDATE %1$I SET enc = plain::%2$s', 'of ' || k.name, k.enc);
    END IF;
  END LOOP;
END
$$;

-- Which operators there are, of the plain types.
CREATE FUNCTION pg_temp.exists(op text, l text, r text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT NULL::%s OPERATOR(pg_catalog.%s) NULL::%s', l, op, r);
  RETURN true;
EXCEPTION WHEN undefined_function OR ambiguous_function THEN
  RETURN false;
END
$$;
CREATE TEMP TABLE plain AS
  SELECT op, l.name AS l, r.name AS r
  FROM (SELECT DISTINCT oprname::text AS op FROM pg_operator WHERE oid < 16384 AND oprkind = 'b') o, kind l, kind r
  WHERE (l.enc IS NOT NULL OR r.enc IS NOT NULL) AND pg_temp.exists(op, l.plain, r.plain);

-- The type of the result, as a plain type, and its values for all samples; or its error.
CREATE FUNCTION pg_temp.outcome(op text, l text, l_column text, r text, r_column text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  of_type oid;
  result  text;
BEGIN
  EXECUTE format('SELECT pg_typeof((SELECT l.%s %s r.%s FROM %I l, %I r LIMIT 0))', l_column, op, r_column, 'of ' || l, 'of ' || r) INTO of_type;
  of_type := coalesce((SELECT base FROM tde.types t WHERE t.type = of_type),
                   (SELECT b.typarray FROM tde.types t JOIN pg_type e ON e.oid = t.type JOIN pg_type b ON b.oid = t.base WHERE e.typarray = of_type), of_type);
  BEGIN
    EXECUTE format('SELECT string_agg(coalesce((l.%s %s r.%s)::text, ''-''), ''|'' ORDER BY l.n, r.n) FROM %I l, %I r', l_column, op, r_column, 'of ' || l, 'of ' || r) INTO result;
  EXCEPTION WHEN OTHERS THEN
    result := SQLSTATE;
  END;
  RETURN of_type::regtype || ': ' || result;
EXCEPTION WHEN undefined_function OR ambiguous_function THEN
  RETURN SQLSTATE;
END
$$;
ALTER TABLE plain ADD outcome text;
UPDATE plain SET outcome = pg_temp.outcome(op, l, 'plain', r, 'plain');
CREATE TEMP TABLE cell AS
  SELECT op, l, r, l_column, r_column, outcome AS expected, pg_temp.outcome(op, l, l_column, r, r_column) AS got
  FROM plain JOIN kind kl ON kl.name = l JOIN kind kr ON kr.name = r, (VALUES ('enc', 'enc'), ('enc', 'plain'), ('plain', 'enc')) s (l_column, r_column)
  WHERE (l_column = 'plain' OR kl.enc IS NOT NULL) AND (r_column = 'plain' OR kr.enc IS NOT NULL);
SELECT cmp_ok((SELECT count(*) FROM cell), '>', 4500::bigint, 'there are operators');

-- What stays different, by docs/columns.md: some arrays and elements of different sorts have no common type; and a literal beside an encrypted bigint
-- or a varbit would be ambiguous with another operator that shifts one.
CREATE TEMP TABLE differs AS 
  SELECT *, got ~ '^42' AND (op = '||' AND l || r ~ '\[\]' AND rtrim(l, '[]') <> rtrim(r, '[]') OR op IN ('<<', '>>') AND l IN ('int8', 'varbit') AND r = 'int2') AS known
  FROM cell WHERE got <> expected;
SELECT is(got, expected, format('%s %s %s (%s, %s)', l, op, r, l_column, r_column)) FROM differs WHERE NOT known;
SELECT cmp_ok((SELECT count(*) FROM differs WHERE known), '<=', 20::bigint, 'few are left out');

SELECT * FROM finish();
ROLLBACK;
