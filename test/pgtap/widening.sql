-- An encrypted number or moment becomes what its base type becomes: functions that take something larger, one's own among them, and COALESCE and its
-- like beside a larger plain value give the value and the type that plain ones give.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

-- The value and the type, as a base type, of an expression; an error's SQLSTATE.
CREATE FUNCTION result(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT coalesce((%s)::text, ''null'') || '' '' || regexp_replace(pg_typeof((%1$s))::text, ''(\w+\.)?encrypted_'', '''')::regtype', expression) INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
SET LOCAL timezone = 'Europe/Berlin';

--
-- PostgreSQL's functions, with one argument of a type that becomes the parameter's implicitly.
--
CREATE TEMP TABLE becomes AS
  SELECT s.base AS source, s.enc, b.casttarget::regtype AS target FROM family s JOIN pg_cast b ON b.castsource = s.base AND b.castcontext = 'i'
  WHERE b.casttarget = ANY ('{int4,int8,numeric,float4,float8,oid,timestamp,timestamptz,interval}'::regtype[]) AND b.casttarget <> s.base;
CREATE TEMP TABLE sampled AS
  SELECT type::regtype, value FROM (VALUES
    ('int2', '3'), ('int4', '2'), ('int8', '5'), ('numeric', '2.5'), ('float4', '0.5'), ('float8', '0.25'), ('oid', '1259'), ('bool', 'true'),
    ('date', '2024-03-31'), ('time', '10:30'), ('timetz', '10:30+02'), ('timestamp', '2024-03-31 02:30'), ('timestamptz', '2024-03-31 02:30+01'), ('interval', '1 day 2 hours'),
    ('text', 'UTC'), ('bpchar', 'abc'), ('varchar', 'abc'), ('name', 'abc'), ('bytea', '\x0102030405'), ('bit', '10110011'), ('varbit', '1011'), ('inet', '10.0.0.1'), ('cidr', '10.0.0.0/8'),
    ('money', '1.5'), ('point', '(1,2)'), ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), ('json', '[1,2,3,4]'), ('jsonb', '[1,2,3,4]')) AS s (type, value);
CREATE TEMP TABLE call AS
  WITH signature AS (
    SELECT oid, proname, string_to_array(proargtypes::text, ' ')::oid[] AS types FROM pg_proc p
    WHERE oid < 12000 AND prokind = 'f' AND pronargs BETWEEN 1 AND 6 AND provolatile <> 'v' AND NOT proretset AND prorettype <> ALL ('{internal,cstring,void}'::regtype[])
      AND proname <> 'in_range' AND proname !~ '^(pg_|has_|ts_|binary_upgrade|currtid|row_security|col_description|obj_desc|shobj)'
      AND NOT EXISTS (SELECT FROM pg_aggregate WHERE p.oid IN (aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggminvtransfn, aggmfinalfn))
      AND NOT EXISTS (SELECT FROM pg_cast WHERE castfunc = p.oid) AND NOT EXISTS (SELECT FROM pg_operator WHERE p.oid IN (oprrest, oprjoin))
  )
  SELECT proname, format('%I(%s)', proname, string_agg(format('%L::%s', CASE n WHEN i THEN own.value ELSE s.value END, CASE n WHEN i THEN b.source ELSE s.type END), ', ' ORDER BY n)) AS plain,
         format('%I(%s)', proname, string_agg(format('%L::%s', CASE n WHEN i THEN own.value ELSE s.value END, CASE n WHEN i THEN b.enc::text ELSE s.type::text END), ', ' ORDER BY n)) AS encrypted
  FROM signature, generate_subscripts(types, 1) i JOIN LATERAL (SELECT * FROM becomes WHERE target = types[i]) b ON true JOIN sampled own ON own.type = b.source,
       unnest(types) WITH ORDINALITY t (type, n) LEFT JOIN sampled s ON s.type = t.type
  GROUP BY oid, proname, types, i, b.source, b.enc
  HAVING count(s.value) = cardinality(types);
CREATE TEMP TABLE called AS SELECT DISTINCT encrypted, plain, result(plain) AS expected FROM call;
DELETE FROM called WHERE expected IN ('42883', '42725');      -- there is none of the smaller type, either
SELECT cmp_ok((SELECT count(*) FROM called WHERE expected !~ '^[0-9A-Z]{5}$'), '>', 300::bigint, 'functions take smaller values');
SELECT is(got, expected, format('%s as %s', encrypted, plain)) FROM (SELECT *, result(encrypted) AS got FROM called) r WHERE got <> expected;

--
-- A function of one's own for each larger type, as for the audit triggers of applications.
--
SELECT format('CREATE FUNCTION own_%s(%s) RETURNS text LANGUAGE sql AS ''SELECT $1 || '''' '''' || pg_typeof($1)''', replace(target::text, ' ', '_'), target) FROM (SELECT DISTINCT target FROM becomes) t \gexec
SELECT is(result(format('own_%s(%L::%s)', replace(target::text, ' ', '_'), value, enc)), result(format('own_%s(%L::%s)', replace(target::text, ' ', '_'), value, source)),
          format('a function of a user''s that takes %s, of %s', target, enc))
FROM becomes JOIN sampled ON type = source;

CREATE TABLE audited (id encrypted_int4 PRIMARY KEY, small encrypted_int2, price encrypted_numeric(10,2), changed encrypted_timestamp, day encrypted_date);
CREATE TABLE audit (id bigint, small int, price float8, changed timestamptz, day timestamp);
CREATE FUNCTION write_audit(id bigint, small int, price float8, changed timestamptz, day timestamp) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit VALUES (id, small, price, changed, day);
END
$$;
CREATE FUNCTION audit_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_audit(NEW.id, NEW.small, NEW.price, NEW.changed, NEW.day);
  RETURN NULL;
END
$$;
CREATE TRIGGER audit_changes AFTER INSERT OR UPDATE ON audited FOR EACH ROW EXECUTE FUNCTION audit_changes();
SELECT lives_ok('INSERT INTO audited VALUES (1, 2, 3.5, ''2024-01-02 03:04'', ''2024-01-02'')', 'a trigger passes columns to a function whose parameters are larger');
SELECT results_eq('SELECT * FROM audit', $$VALUES (1::bigint, 2, 3.5::float8, timestamptz '2024-01-02 03:04', timestamp '2024-01-02')$$, 'which gets their values');

--
-- Moments beside larger plain ones; numbers are in mixed.sql.
--
CREATE TEMP TABLE form AS
  SELECT unnest(ARRAY['coalesce($1, $2)', 'coalesce($2, $1)', 'coalesce(nullif($1, $1), $2)', 'greatest($1, $2)', 'least($2, $1)', 'CASE WHEN true THEN $1 ELSE $2 END',
    'CASE WHEN false THEN $1 ELSE $2 END', 'CASE $1 WHEN $2 THEN 1 ELSE 2 END', 'ARRAY[$1, $2]', '(SELECT array_agg(u ORDER BY u) FROM (SELECT $1 UNION SELECT $2) s (u))',
    '(SELECT array_agg(u ORDER BY u) FROM (SELECT $2 UNION ALL SELECT $1) s (u))', '(SELECT array_agg(u) FROM (VALUES ($1), ($2)) s (u))',
    '(SELECT u FROM (SELECT $1 INTERSECT SELECT $2) s (u))', '(SELECT u FROM (SELECT $1 EXCEPT SELECT $2) s (u))', '$1 IN ($2, $1)', '$1 NOT IN ($2)', '$1 = ANY (ARRAY[$2])',
    '$1 IN (SELECT $2)', '$2 IN (SELECT $1)', '$1 BETWEEN $2 AND $2', '$1 IS DISTINCT FROM $2', '($1, 1) = ($2, 1)', '($1, 1) IS DISTINCT FROM ($2, 1)', '$1 = $2', '$1 < $2', '$2 >= $1',
    '(SELECT x FROM (SELECT $1 AS x) a JOIN (SELECT $2 AS x) b USING (x))', '(SELECT x FROM (SELECT $2 AS x) a NATURAL JOIN (SELECT $1 AS x) b)', '(SELECT x FROM (SELECT $1 AS x) a FULL JOIN (SELECT $2 AS x) b USING (x) LIMIT 1)',
    '(SELECT lag($1, 1, $2) OVER ())']) AS form;
CREATE TEMP TABLE pair AS
  SELECT DISTINCT form, replace(replace(form, '$1', format('%L::%s', own.value, b.source)), '$2', larger) AS plain,
         replace(replace(form, '$1', format('%L::%s', own.value, enc)), '$2', larger) AS encrypted
  FROM becomes b JOIN sampled own ON own.type = b.source JOIN sampled l ON l.type = b.target,
       unnest(ARRAY[format('%L::%s', l.value, target), format('%L::%s', own.value, target)] || CASE WHEN target = 'timestamptz'::regtype THEN '{now(),current_timestamp}'::text[] END) larger, form
  WHERE target = ANY ('{timestamp,timestamptz,interval}'::regtype[]);
CREATE TEMP TABLE paired AS SELECT *, result(plain) AS expected, result(encrypted) AS got FROM pair;
SELECT cmp_ok((SELECT count(*) FROM paired WHERE expected !~ '^[0-9A-Z]{5}$'), '>', 200::bigint, 'moments meet larger ones');
SELECT is(got, expected, format('%s as %s', encrypted, plain)) FROM paired WHERE got <> expected;

--
-- rank() and its like of something larger than the column: the same, and what is sorted is encrypted.
--
CREATE TABLE ranked (i2 encrypted_int2, i4 encrypted_int4, i8 encrypted_int8, n encrypted_numeric, d encrypted_date, t encrypted_timestamp,
  pi2 int2, pi4 int4, pi8 int8, pn numeric, pd date, pt timestamp);
INSERT INTO ranked SELECT i, i, i, i, d + i, d + i, i, i, i, i, d + i, d + i FROM generate_series(0, 9) i, CAST('2024-01-01' AS date) d;
CREATE TEMP TABLE rank_call AS
  SELECT format('SELECT (%s(%s) WITHIN GROUP (ORDER BY ', called, direct) AS call, key, descending || '))::text FROM ranked' AS rest
  FROM unnest('{rank,dense_rank,percent_rank,cume_dist}'::text[]) called, unnest('{""," DESC"}'::text[]) descending,
    (VALUES ('i2', '3.5'), ('i4', '3.5'), ('i8', '3.5'), ('i8', '''3.5''::float8'), ('n', '''3.5''::float8'), ('i2', '3'), ('i4', '3::int8'),
            ('d', 'timestamp ''2024-01-04 12:00'''), ('t', 'timestamptz ''2024-01-04 12:00''')) AS k (key, direct);
CREATE FUNCTION one_value(query text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE r text; BEGIN EXECUTE query INTO r; RETURN r; END $$;
CREATE FUNCTION sorts_encrypted(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line ~ 'WITHIN GROUP' THEN RETURN line ~ 'ORDER BY \(*(ranked\.)?[a-z0-9]+\)?::encrypted_'; END IF;
  END LOOP;
END
$$;
SELECT is(one_value(call || key || rest), one_value(call || 'p' || key || rest), call || key || rest) FROM rank_call;
SELECT ok(sorts_encrypted(call || key || rest), 'encrypted: ' || call || key || rest) FROM rank_call;

SELECT * FROM finish();
ROLLBACK;
