-- Functions and operators that a base type reaches by a cast of its own (floor(int4), age(date), interval * int4) take encrypted
-- values, and give the results, the result types and the errors that the base types give.
BEGIN;
\ir include/family.sql
\ir include/outcome.sql
SET LOCAL timezone = 'Asia/Kathmandu';
SELECT * FROM no_plan();

-- Of each type two columns, a plain one and an encrypted one.  1 is in the domain of nearly every function, 3 is not.
CREATE TEMP TABLE v (n int);
INSERT INTO v VALUES (1), (2), (3);
CREATE TEMP TABLE kind AS
  SELECT kind, type
  FROM (VALUES ('number', '{int2,int4,int8,numeric,float4,float8}'::text[]), ('moment', '{date,timestamp,timestamptz}'),
               ('span', '{time,interval}'), ('interval', '{interval}')) AS k (kind, types), unnest(types) type;
DO $$
DECLARE
  k record;
BEGIN
  FOR k IN SELECT * FROM kind WHERE kind <> 'interval' LOOP
    EXECUTE format('ALTER TABLE v ADD p_%s %1$s, ADD e_%1$s encrypted_%1$s(aes256, salt, mac)', k.type);
    EXECUTE format('UPDATE v SET p_%s = (%L::%1$s[])[n]', k.type,
                   CASE k.kind WHEN 'number' THEN '{1,NULL,3}' WHEN 'moment' THEN '{2024-02-29 13:14:15+00,NULL,1999-12-31 23:00+00}'
                     ELSE '{01:02:03,NULL,23:59:59.5}' END);
    EXECUTE format('UPDATE v SET e_%s = p_%1$s', k.type);
  END LOOP;
END
$$;

-- Expressions; $1 and $2 stand for values of a kind.
CREATE TEMP TABLE form AS
  SELECT format('%s($1)', f) AS form, ARRAY['number'] AS kinds
  FROM unnest('{acos,acosd,acosh,asin,asind,asinh,atan,atand,atanh,cbrt,ceil,ceiling,cos,cosd,cosh,cot,cotd,degrees,exp,floor,
                ln,log,log10,radians,round,sign,sin,sind,sinh,sqrt,tan,tand,tanh,to_timestamp,trunc,
                abs,@,|/,||/,-}'::text[]) f
  UNION ALL
  SELECT format('%s($1, $2)', f), ARRAY['number', 'number'] FROM unnest('{pow,power,mod,gcd,lcm}'::text[]) f
  UNION ALL
  SELECT form, ARRAY['number']
  FROM unnest(ARRAY['to_char($1, ''999.99'')', '$1 ^ 2', '$1 ^ 0.5', '$1 ^ ''2''', '2 ^ $1', '0.5 ^ $1',
                    'power($1, 2)', 'power(1.5, $1)', 'power($1, ''2'')',
                    'sqrt($1) + $1', 'floor($1 / 2.0)', 'interval ''1 day'' * ''2'' * $1', 'interval ''1 day'' * $1', '$1 * interval ''1 day''',
                    'interval ''1 day'' / $1', 'mod($1, 2)', 'mod(7, $1)', 'mod($1, ''2'')', 'mod(7.5, $1)', 'gcd($1, 6)', 'lcm($1, 4.5)', 'lcm(4, $1)']) form
  UNION ALL VALUES ('$1 ^ $2', '{number,number}'::text[]), ('$1 * $2', '{number,interval}'), ('$1 * $2', '{interval,number}'), ('$1 / $2', '{interval,number}')
  UNION ALL
  SELECT form, ARRAY['moment']
  FROM unnest(ARRAY['age($1)', 'age(''2025-01-01'', $1)', 'age($1, ''2020-01-01'')', 'age(timestamp ''2025-01-01'', $1)',
                    'date_trunc(''month'', $1)', 'date_trunc(''day'', $1, ''Europe/Rome'')', 'to_char($1, ''YYYY-MM-DD HH24:MI'')', 'extract(year FROM $1)',
                    'extract(hour FROM $1)', 'date_part(''epoch'', $1)', '$1 + interval ''1 day''', '$1 - interval ''1 hour''',
                    '$1 - ''2020-01-01''', '''2030-01-01'' - $1', '$1 - date ''2020-01-01''', 'timestamptz ''2030-01-01'' - $1', '$1 + time ''10:00''',
                    'extract(year FROM age($1))', 'generate_series($1, $1, ''1 day'')',
                    'generate_series($1, ''2024-03-02'', ''1 day'')', 'generate_series($1, date ''2024-03-02'', interval ''1 day'')',
                    'generate_series(date ''1999-12-30'', $1, ''1 year'')',
                    'date_bin(''3 hours'', $1, ''2020-01-01'')',
                    'date_bin(''3 hours'', ''2020-01-01'', $1)',
                    'date_bin(''3 hours'', $1, date ''2020-01-01'')',
                    'isfinite($1)', 'date($1)']) form
  UNION ALL
  SELECT form, ARRAY['moment', 'moment'] FROM unnest('{$1 - $2,"age($1, $2)"}'::text[]) form
  UNION ALL
  SELECT form, ARRAY['span'] FROM unnest(ARRAY['to_char($1, ''HH24:MI'')', 'date_trunc(''minute'', $1)', 'extract(minute FROM $1)', '$1 + interval ''1 hour''']) form
  UNION ALL
  SELECT form, ARRAY['interval'] FROM unnest('{$1 * 2,$1 * 1.5,2 * $1,$1 / 2,$1 * ''2'',-$1}'::text[]) form
  UNION ALL VALUES ('$1 + $2', '{moment,interval}'::text[]), ('$1 - $2', '{moment,interval}'), ('$1 + $2', '{interval,interval}'), ('$1 - $2', '{interval,interval}');

-- With the types of the kinds, one or both of them encrypted.
CREATE TEMP TABLE expression AS
  SELECT DISTINCT replace(replace(form, '$1', 'p_' || a.type), '$2', 'p_' || b.type) AS plain,
         replace(replace(form, '$1', m.l || '_' || a.type), '$2', m.r || '_' || b.type) AS encrypted
  FROM form JOIN kind a ON a.kind = kinds[1] JOIN kind b ON b.kind = coalesce(kinds[2], kinds[1]),
       (VALUES ('e', 'e'), ('e', 'p'), ('p', 'e')) AS m (l, r)
  WHERE (cardinality(kinds) = 2 OR a.type = b.type AND m.l = 'e');
CREATE TEMP TABLE result AS
  SELECT *, outcome(encrypted, tables) AS got, outcome(plain, tables) AS expected
  FROM expression, unnest('{(SELECT * FROM v WHERE n < 3) v,(SELECT * FROM v WHERE n = 3) v}'::text[]) tables;
-- Of two smallints PostgreSQL does not know which one to take.
DELETE FROM result WHERE expected = '42725' AND encrypted ~ '^(gcd|lcm)';
-- A power of an encrypted bigint or numeric and a literal in quotes is refused: it must not become one of another type.
DELETE FROM result WHERE encrypted ~ 'pow' AND encrypted ~ 'e_(int8|numeric)' AND encrypted ~ '''2''' AND got ~ '^42725';
SELECT is(got, expected, format('%s as %s', encrypted, plain)) FROM result WHERE got IS DISTINCT FROM expected;
SELECT is((SELECT count(*) FROM result WHERE got = expected), (SELECT count(*) FROM result), 'encrypted arguments give what plain ones give');
SELECT cmp_ok((SELECT count(*) FROM result WHERE expected ~ '^(true|false)'), '>', 1500::bigint, 'and not because nothing works');

-- What stands in quotes beside an encrypted value becomes what it meets; and casts with a length of their own.
CREATE TEMP TABLE w AS SELECT 1 AS n, bytea '\x00ff' AS p_b, jsonb '{"a": 1}' AS p_j, 9 AS p_i, 1234567890123::int8 AS p_l, 12.5 AS p_n;
ALTER TABLE w ADD e_b encrypted_bytea, ADD e_j encrypted_jsonb, ADD e_i encrypted_int4, ADD e_l encrypted_int8, ADD e_n encrypted_numeric;
UPDATE w SET e_b = p_b, e_j = p_j, e_i = p_i, e_l = p_l, e_n = p_n;
SELECT is(outcome(replace(e, 'x_', 'e_'), 'w'), outcome(replace(e, 'x_', 'p_'), 'w'), e)
FROM unnest(ARRAY['x_b || ''\x01''', '''\x01'' || x_b', 'x_b || x_b', 'x_b || p_b', 'x_b || NULL', 'x_j || ''{"z": 1}''', '''[1]'' || x_j', 'x_j || x_j', 'p_j || x_j',
                  'x_j || jsonb_build_object(''n'', x_n)', 'x_i::bit(8)', 'x_i::bit', 'x_i::bit(40)', 'x_l::bit(64)', 'CAST(x_l AS bit(3))', 'x_i::bit varying',
                  'x_i::money', 'x_l::money', 'x_n::money']) e;

-- Ranges hold encrypted values; an encrypted timestamptz meets smaller moments.
SELECT is(outcome(replace(form, 'x_', 'e_'), 'v'), outcome(replace(form, 'x_', 'p_'), 'v'), form)
FROM (VALUES ('int4', '1', '3'), ('int8', '1', '3'), ('numeric', '0.5', '2'), ('date', '''2000-01-01''', '''2024-02-29'''),
             ('timestamp', '''2000-01-01''', '''2024-02-29 13:14:15'''), ('timestamptz', '''2000-01-01''', '''2024-02-29 13:14:16''')) AS t (type, low, high)
CROSS JOIN LATERAL (SELECT CASE type WHEN 'numeric' THEN 'num' WHEN 'timestamp' THEN 'ts' WHEN 'timestamptz' THEN 'tstz' ELSE type END) s (short),
     unnest(ARRAY['%1$srange(%3$s, %4$s) @> x_%2$s', 'x_%2$s <@ %1$srange(%3$s, %4$s)', '%1$smultirange(%1$srange(%3$s, %4$s)) @> x_%2$s',
                  'x_%2$s <@ ''{}''::%1$smultirange', 'NOT x_%2$s <@ ''empty''::%1$srange', 'x_%2$s <@ NULL::%1$srange',
                  '%1$srange(NULL, x_%2$s) @> x_%2$s']) f (template)
CROSS JOIN LATERAL (SELECT format(template, short, type, low, high)) AS e (form)
UNION ALL
SELECT is(outcome(replace(form, 'x_', 'e_'), 'v'), outcome(replace(form, 'x_', 'p_'), 'v'), form)
FROM unnest('{date,timestamp}'::text[]) type,
     unnest(ARRAY['coalesce(x_timestamptz, %s ''1900-01-01'') + interval ''0''', 'greatest(x_timestamptz, %s ''2000-01-01'') - interval ''1 day''',
                  'CASE WHEN n = 1 THEN %s ''1900-01-01'' ELSE x_timestamptz END + interval ''0''', 'x_timestamptz IN (%s ''1900-01-01'', x_timestamptz)',
                  '(SELECT max(u) FROM (SELECT x_timestamptz UNION SELECT %s ''1900-01-01'') s (u)) + interval ''0''',
                  'x_timestamptz - %s ''2000-01-01''', 'age(%s ''2000-01-01'', x_timestamptz)']) f (template)
CROSS JOIN LATERAL (SELECT format(template, type)) AS e (form);

-- What is computed is plain, and gets encrypted into a generated column.
ALTER TABLE v ADD g numeric GENERATED ALWAYS AS (floor(e_numeric)) STORED;
SELECT is((SELECT format_type(atttypid, atttypmod) ~ '^encrypted_numeric' FROM pg_attribute WHERE attrelid = 'v'::regclass AND attname = 'g'), true,
          'a generated column of a function is encrypted');
SELECT is(outcome('g::numeric', 'v'), outcome('floor(e_numeric)', 'v'), 'and is what it is computed from');
ALTER TABLE v DROP g;

-- percentile_cont() sorts and interpolates as PostgreSQL's.
CREATE TEMP TABLE p (n int, p numeric);
INSERT INTO p SELECT g, (g * 7919 % 1009) * 0.25 FROM generate_series(1, 500) g UNION ALL SELECT 0, NULL;
CREATE FUNCTION percentile(type text, modifiers text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('CREATE TEMP TABLE x (n int, a %s%s)', type, modifiers);
  INSERT INTO x SELECT * FROM p;
  EXECUTE format('SELECT string_agg(concat_ws('' '', g, r::text, pg_typeof(r)), '','' ORDER BY g) FROM (SELECT n %% 3 AS g, %s AS r FROM x GROUP BY 1) s',
                 call) INTO result;
  DROP TABLE x;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT is(percentile('encrypted_' || type, '(aes256, salt, mac)', call), percentile(type, '', call), format('%s, %s', call, type))
FROM unnest('{int2,int4,int8,numeric,float4,float8}'::text[]) type,
     unnest(ARRAY['percentile_cont(0.5) WITHIN GROUP (ORDER BY a)', 'percentile_cont(0.37) WITHIN GROUP (ORDER BY a DESC)',
                  'percentile_cont(0) WITHIN GROUP (ORDER BY a NULLS FIRST)', 'percentile_cont(1) WITHIN GROUP (ORDER BY a)',
                  'percentile_cont(0.1) WITHIN GROUP (ORDER BY a) FILTER (WHERE n > 1000)', 'percentile_cont(1.01) WITHIN GROUP (ORDER BY a)',
                  'percentile_cont(''NaN''::float8) WITHIN GROUP (ORDER BY a)', 'percentile_cont(NULL::float8) WITHIN GROUP (ORDER BY a)',
                  'percentile_cont(ARRAY[0.9, 0.1, NULL, 0.5]) WITHIN GROUP (ORDER BY a)', 'percentile_cont(''{{0,1},{0.25,0.75}}''::float8[]) WITHIN GROUP (ORDER BY a)',
                  'percentile_cont(''{}''::float8[]) WITHIN GROUP (ORDER BY a)']) call;
SELECT matches(percentile('encrypted_int4', '', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY a)'), '^0 \d+(\.\d+)? double precision,1 ', 'there are results');

SELECT finish();
ROLLBACK;
