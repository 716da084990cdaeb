-- Arithmetic and aggregates of encrypted numbers give the results, the result types and the errors of plain ones.
BEGIN;
\ir include/family.sql
\ir include/outcome.sql
SELECT * FROM no_plan();

-- Two columns of each number type, one plain and one encrypted.
CREATE TEMP TABLE number AS SELECT * FROM family WHERE base = ANY ('{int2,int4,int8,numeric,float4,float8}'::regtype[]);
SELECT is((SELECT count(*) FROM number), 6::bigint, 'the six number types');
CREATE TEMP TABLE v (n int);
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM number LOOP
    EXECUTE format('ALTER TABLE v ADD p_%s %s, ADD e_%1$s %3$s(aes256, salt, mac)', f.base::oid::int, f.plain, f.enc);
  END LOOP;
  INSERT INTO v (n) VALUES (1), (2), (3), (4);
  FOR f IN SELECT * FROM number LOOP
    EXECUTE format('UPDATE v SET p_%s = (ARRAY[7, -3, NULL, 2.5]::float8[])[n]', f.base::oid::int);
    EXECUTE format('UPDATE v SET e_%s = p_%1$s', f.base::oid::int);
  END LOOP;
END
$$;
CREATE TEMP TABLE operand AS
  SELECT 'p_' || base::oid::int AS plain, 'e_' || base::oid::int AS enc, base::text AS type FROM number;

-- Every operator on every pair of number types, one or both of them encrypted.
CREATE TEMP TABLE expression AS
  SELECT format('%s %s %s', l.plain, symbol, r.plain) AS plain,
         ARRAY[format('%s %s %s', l.enc, symbol, r.enc), format('%s %s %s', l.enc, symbol, r.plain), format('%s %s %s', l.plain, symbol, r.enc)] AS encrypted
  FROM operand l, operand r, unnest('{+,-,*,/,%}'::text[]) symbol;
-- Against constants, and NULL.
INSERT INTO expression
  SELECT format('%s %s %s', l.plain, symbol, r.value), ARRAY[format('%s %s %s', l.enc, symbol, r.value)]
  FROM operand l, unnest('{+,-,*,/,%}'::text[]) symbol, unnest('{1,2.5,3000000000,''2'',2::int2,1e2::float8,NULL}'::text[]) r (value);
INSERT INTO expression
  SELECT format('%s %s %s', r.value, symbol, l.plain), ARRAY[format('%s %s %s', r.value, symbol, l.enc)]
  FROM operand l, unnest('{+,-,*,/,%}'::text[]) symbol, unnest('{1,2.5,3000000000,''2'',2::int2,1e2::float8,NULL}'::text[]) r (value);
INSERT INTO expression
  SELECT format(f, o.plain), ARRAY[format(f, o.enc)]
  FROM operand o, unnest('{-%s,+%s,@ %s,abs(%s),%s * 2 + 1.5,(%1$s + 1) / %1$s,%s / 0,0.0 / %s}'::text[]) f;
-- Dates and intervals take plain integers and floats.
INSERT INTO expression
  SELECT format(f, o.plain), ARRAY[format(f, o.enc)]
  FROM operand o, unnest(ARRAY['date ''2024-01-01'' + %s', 'date ''2024-01-01'' - %s']) f
  WHERE o.type <> 'smallint' AND o.type !~ 'numeric|real|double|bigint'
  UNION ALL
  SELECT format(f, o.plain), ARRAY[format(f, o.enc)]
  FROM operand o, unnest(ARRAY['interval ''1 day'' * %s', '%s * interval ''1 day''', 'interval ''1 day'' / %s']) f WHERE o.type = 'double precision';
SELECT is(outcome(e, 'v'), outcome(plain, 'v'), format('%s as %s', e, plain))
FROM expression, unnest(encrypted) e WHERE outcome(e, 'v') IS DISTINCT FROM outcome(plain, 'v');
SELECT is((SELECT count(*) FROM expression, unnest(encrypted) e WHERE outcome(e, 'v') = outcome(plain, 'v')),
          (SELECT sum(cardinality(encrypted)) FROM expression), 'encrypted numbers compute as plain ones');
SELECT cmp_ok((SELECT count(*) FROM expression WHERE outcome(plain, 'v') ~ '^(true|false)'), '>', 250::bigint, 'and not because none does');

-- The types between themselves and with dates: what the operators of numbers might have taken from them.
CREATE TEMP TABLE t AS SELECT 1 AS n, date '2024-02-01' AS p_d, timestamptz '2024-02-01 12:00+00' AS p_z, interval '36 hours' AS p_i,
  jsonb '[1, 2]' AS p_j, inet '10.0.0.1' AS p_a;
ALTER TABLE t ADD e_d encrypted_date, ADD e_z encrypted_timestamptz, ADD e_i encrypted_interval, ADD e_j encrypted_jsonb, ADD e_a encrypted_inet;
UPDATE t SET e_d = p_d, e_z = p_z, e_i = p_i, e_j = p_j, e_a = p_a;
SELECT is(outcome(replace(e, 'x_', 'e_'), 't, v'), outcome(replace(e, 'x_', 'p_'), 't, v'), e)
FROM (SELECT unnest('{x_d + 1,x_d - 1,x_d - x_d,x_d + x_i,x_z - x_i,x_z - x_z,x_i * 2,x_i * 1.5,x_i / 2,2 * x_i,x_i + x_i,-x_i,x_d - ''2024-01-01'',x_a + 5,x_a - x_a,
                      x_j - 0}'::text[])) x (e);
SELECT is(outcome(replace(e, 'x_', 'e_'), 't JOIN v USING (n)'), outcome(replace(e, 'x_', 'p_'), 't JOIN v USING (n)'), e)
FROM (SELECT unnest(ARRAY['x_d + x_23', 'x_d - x_23', 'x_23 + x_d', 'x_i * x_701', 'x_701 * x_i', 'x_i / x_701', 'x_a + x_20', 'x_j - x_23'])) x (e);

-- Comparisons of numbers of different types convert one side, a constant once for all rows.
SELECT is(outcome(format(c.form, o.enc), 'v'), outcome(format(c.form, o.plain), 'v'), format(c.form, o.type))
FROM operand o, unnest('{=,<>,<,<=,>,>=}'::text[]) symbol, unnest('{7,2.5,-3::int2,7::int8,3000000000,2.5::float8,-3::numeric}'::text[]) r (value),
     LATERAL (VALUES ('%s ' || symbol || ' ' || r.value), (r.value || ' ' || symbol || ' %s')) c (form);

-- What is no constant: a variable, and what an array has.
CREATE FUNCTION greater(kind text, thresholds int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := '';
  threshold int;
  r record;
BEGIN
  FOREACH threshold IN ARRAY thresholds LOOP
    FOR r IN SELECT p_1700, e_1700, p_20, e_20 FROM v ORDER BY n LOOP
      result := result || ' ' || CASE kind WHEN 'plain' THEN coalesce(r.p_1700 > threshold, false) || ',' || coalesce(threshold = r.p_20, false)
        ELSE coalesce(r.e_1700 > threshold, false) || ',' || coalesce(threshold = r.e_20, false) END;
    END LOOP;
  END LOOP;
  RETURN result;
END
$$;
SELECT is(greater('enc', '{0,7,-3,2}'), greater('plain', '{0,7,-3,2}'), 'a variable is converted anew');
SELECT is(outcome('e_1700 = ANY (ARRAY[7, -3])', 'v'), outcome('p_1700 = ANY (ARRAY[7, -3])', 'v'), 'and so is an element of an array');

-- Aggregates of one number, and of two.
CREATE FUNCTION aggregate(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT %s || '' '' || pg_typeof(%1$s)::text FROM v', call) INTO result;
  RETURN result;
END
$$;
SELECT is(aggregate(format(call, o.enc)), aggregate(format(call, o.plain)), format(call, o.type))
FROM operand o, unnest('{sum(%s),avg(%s),stddev(%s),stddev_pop(%s),variance(%s),var_pop(%s),count(%s)}'::text[]) call;
SELECT is(aggregate(format('%s(%s, %s)', f, a.l, a.r)), aggregate(format('%s(%s, %s)', f, l.plain, r.plain)), format('%s(%s, %s)', f, a.l, a.r))
FROM operand l, operand r, LATERAL (VALUES (l.enc, r.enc), (l.enc, r.plain), (l.plain, r.enc)) a (l, r),
     unnest('{corr,covar_pop,covar_samp,regr_avgx,regr_avgy,regr_count,regr_intercept,regr_r2,regr_slope,regr_sxx,regr_sxy,regr_syy}'::text[]) f;

-- What is computed is plain, and gets encrypted into a generated column.
ALTER TABLE v ADD g numeric GENERATED ALWAYS AS (e_23 * 1.5) STORED;
SELECT is((SELECT format_type(atttypid, atttypmod) ~ '^encrypted_numeric' FROM pg_attribute WHERE attrelid = 'v'::regclass AND attname = 'g'), true,
          'a generated column of a product is encrypted');
SELECT is(outcome('g::numeric', 'v'), outcome('e_23 * 1.5', 'v'), 'and is what it is computed from');
ALTER TABLE v DROP g;

-- The encrypted operand says by its column whether a MAC must be there.
ALTER TABLE v ADD no encrypted_int4(nomac, aes128, salt);
UPDATE v SET no = n;
SELECT is(outcome('no * 1.5', 'v'), outcome('n * 1.5', 'v'), 'values without MAC are computed with');

SELECT finish();
ROLLBACK;
