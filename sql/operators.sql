-- Operators, functions and joins of encrypted columns beside the same of plain ones.
CREATE TABLE p (id int PRIMARY KEY, t text, v varchar(20), i int4, n numeric(10,2), d date, s timestamptz, j jsonb, b bytea, a text[]);
INSERT INTO p SELECT g, 'Text ' || g % 7, 'v' || g, g % 5, g * 1.25, '2000-01-01'::date + g, '2000-01-01'::timestamptz + g * '1 hour'::interval,
                     jsonb_build_object('k', g % 3, 'l', ARRAY[g]), decode(lpad(to_hex(g), 8, '0'), 'hex'), ARRAY['x' || g % 2, 'y'] FROM generate_series(1, 60) g;
CREATE TABLE e (id int PRIMARY KEY, t encrypted_text, v encrypted_varchar(20), i encrypted_int4(nosalt), n encrypted_numeric(10,2), d encrypted_date,
                s encrypted_timestamptz, j encrypted_jsonb, b encrypted_bytea, a encrypted_text[]);
INSERT INTO e SELECT * FROM p;
CREATE TABLE question (q text);
INSERT INTO question VALUES
  ('t || v || i'), ('t LIKE ''%3'''), ('t ~ ''[1-3]$'''), ('t ILIKE ''text%'''), ('upper(t)'), ('substr(t, 2, 3)'), ('length(v)'), ('t < v'), ('t = ANY (''{Text 1,Text 2}'')'),
  ('i + n'), ('i * 2 - id'), ('n / 3'), ('-n'), ('abs(i - 3)'), ('round(n, 1)'), ('i BETWEEN 1 AND 3'), ('n > i'), ('i IN (1, 2)'), ('n::int'), ('coalesce(i, 0)'),
  ('d + 1'), ('d - date ''2000-01-01'''), ('s - interval ''1 day'''), ('extract(year FROM s)'), ('date_trunc(''day'', s)'), ('d < s'), ('to_char(s, ''YYYY-MM-DD'')'),
  ('j -> ''k'''), ('j ->> ''k'''), ('j @> ''{"k": 1}'''), ('j ? ''l'''), ('j #>> ''{l,0}'''), ('jsonb_array_length(j -> ''l'')'), ('b || ''\x00'''), ('encode(b, ''hex'')'), ('a[1]'),
  ('a && ''{x1}'''), ('array_length(a, 1)'), ('CASE WHEN i > 2 THEN t ELSE v END'), ('greatest(i, 2)'), ('nullif(t, ''Text 1'')'), ('concat(t, n)'), ('md5(t)'), ('t IS DISTINCT FROM v');
CREATE FUNCTION answer(q text, side text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE format('SELECT array_agg((%s)::text ORDER BY id) FROM %I', q, side) INTO answer;
  RETURN answer;
END
$$;
SELECT q, answer(q, 'p') AS plain, answer(q, 'e') AS encrypted FROM question WHERE answer(q, 'p') IS DISTINCT FROM answer(q, 'e');
SELECT count(*) FROM question WHERE answer(q, 'e') IS NOT NULL;

CREATE FUNCTION same(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  plain     text;
  encrypted text;
BEGIN
  EXECUTE format('SELECT array_agg(r::text) FROM (%s) r', replace(query, '@', 'p')) INTO plain;
  EXECUTE format('SELECT array_agg(r::text) FROM (%s) r', replace(query, '@', 'e')) INTO encrypted;
  RETURN plain = encrypted;
END
$$;
SELECT query FROM unnest(ARRAY[
  'SELECT i, count(*), sum(n), avg(n), min(d), max(t) FROM @ GROUP BY i ORDER BY i', 'SELECT DISTINCT t FROM @ ORDER BY t', 'SELECT i, n FROM @ ORDER BY i DESC, n LIMIT 7',
  'SELECT x.id, y.id FROM @ x JOIN p y ON x.v = y.v ORDER BY 1, 2', 'SELECT x.id, y.id FROM @ x JOIN e y USING (i) ORDER BY 1, 2', 'SELECT string_agg(v, '','' ORDER BY n) FROM @',
  'SELECT id, rank() OVER (PARTITION BY i ORDER BY n) FROM @ ORDER BY id', 'SELECT t FROM @ WHERE i = 1 UNION SELECT t FROM p WHERE i = 2 ORDER BY t',
  'SELECT id FROM @ WHERE n > (SELECT avg(n) FROM @) ORDER BY id', 'SELECT t, i, count(*) FROM @ GROUP BY GROUPING SETS ((t), (i), ()) ORDER BY 1, 2']) query WHERE same(query) IS NOT TRUE;
DROP TABLE p, e, question;
DROP FUNCTION answer, same;
