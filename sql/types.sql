-- Each encrypted type beside its base type: the same values, order, indexes, groups, arrays and texts.
CREATE TABLE sample (base regtype, v text);
INSERT INTO sample
  SELECT base, unnest(v) FROM (VALUES
    ('int2'::regtype, '{5,-3,0,32767}'::text[]), ('int4', '{5,-3,0,2147483647}'), ('int8', '{5,-3,0,9223372036854775807}'),
    ('numeric', '{5,-3.50,0,NaN,1e100}'), ('float4', '{5,-3.5,0,NaN}'), ('float8', '{5,-3.5,0,Infinity}'), ('bool', '{t,f}'),
    ('text', '{b,a,"",Grüße}'), ('varchar', '{b,a,"",Grüße}'), ('bpchar', '{b,a,"",Grüße}'), ('bytea', '{"\\\\x00","\\\\xff","\\\\x"}'),
    ('date', '{2000-02-29,1999-12-31,infinity}'), ('time', '{12:00,00:00,24:00}'), ('timetz', '{12:00+01,12:00+00}'),
    ('timestamp', '{2000-02-29 12:00,-infinity}'), ('timestamptz', '{2000-02-29 12:00+00,infinity}'), ('interval', '{1 mon,30 days,-1 day}'),
    ('uuid', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,00000000-0000-0000-0000-000000000000}'), ('json', '{"{\"k\":  1}",null}'),
    ('jsonb', '{"{\"k\": 1}","[1, 2]",null}'), ('inet', '{192.168.1.5/24,::1}')) AS s (base, v);

-- What a query says of a type's twins, which are t.p and t.e; or what the error is.
CREATE FUNCTION says(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE query INTO answer;
  RETURN answer;
EXCEPTION WHEN undefined_function THEN
  RETURN 'no operator';
END
$$;
CREATE FUNCTION twins(base regtype, words text) RETURNS TABLE (question text, same boolean) LANGUAGE plpgsql AS $$
DECLARE
  enc      text := 'encrypted_' || (SELECT typname FROM pg_type WHERE oid = base);
  side     text;
  template text;
  answers  text[];
BEGIN
  EXECUTE format('CREATE TABLE t (id serial, p %s, e %s(%s))', (SELECT typname FROM pg_type WHERE oid = base), enc, words);
  EXECUTE format('INSERT INTO t (p, e) SELECT v::%1$s, v::%1$s FROM sample, generate_series(1, 3) WHERE base = %2$L::regtype ORDER BY sample.v',
                 (SELECT typname FROM pg_type WHERE oid = base), base);
  INSERT INTO t VALUES (0);
  FOREACH template IN ARRAY '{"array_agg(@::text ORDER BY id)", "count(*) FILTER (WHERE @ = (SELECT @ FROM t WHERE id = 1))",
      "count(DISTINCT @)", "array_agg(id ORDER BY @, id)", "min(@)", "array_agg(@ ORDER BY id)::text", "json_agg(@ ORDER BY id)",
      "count(*) FILTER (WHERE @ > (SELECT @ FROM t WHERE id = 1))"}'::text[] LOOP
    answers := '{}';
    FOREACH side IN ARRAY '{p,e}'::text[] LOOP
      answers := answers || coalesce(says('SELECT ' || replace(template, '@', side) || ' FROM t'), 'null');
    END LOOP;
    RETURN QUERY SELECT replace(template, '@', 'v'), answers[1] = answers[2];
  END LOOP;
  -- no value of the table stands anywhere as it is in the plain column
  RETURN QUERY EXECUTE 'SELECT ''bytes'', bool_and(position(textsend(p::text) IN byteasend_of(e)) = 0 OR length(p::text) < 4) FROM t';
  DROP TABLE t;
END
$$;
CREATE FUNCTION byteasend_of(anyelement) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
SELECT base, words, question FROM (SELECT DISTINCT base FROM sample) s, unnest('{"aes256, salt, gcm","aes128, nosalt, mac"}'::text[]) words, twins(base, words)
WHERE same IS NOT TRUE;
SELECT count(DISTINCT base) AS types, count(*) FROM (SELECT DISTINCT base FROM sample) s, twins(base, 'aes192, salt, sha256') WHERE same;

-- indexes of each kind find what is there
CREATE TABLE indexed (id int PRIMARY KEY, t encrypted_text UNIQUE, n encrypted_numeric(10,2), d encrypted_date(nosalt));
INSERT INTO indexed SELECT g, 't' || g, g / 2.0, '2000-01-01'::date + g FROM generate_series(1, 500) g;
CREATE INDEX ON indexed USING hash (n);
CREATE INDEX ON indexed USING brin (d);
CREATE INDEX ON indexed (d, n) WHERE n > 100;
SET enable_seqscan = off;
SELECT id, n FROM indexed WHERE t = 't77';
SELECT id FROM indexed WHERE n = 38.5;
SELECT count(*) FROM indexed WHERE d BETWEEN '2000-02-01' AND '2000-02-29';
INSERT INTO indexed VALUES (501, 't77') ON CONFLICT (t) DO UPDATE SET n = 0 RETURNING id, n;
RESET enable_seqscan;
DROP TABLE indexed, sample;
DROP FUNCTION twins, says, byteasend_of;
