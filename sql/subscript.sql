-- Subscripts of encrypted jsonb read and assign as those of jsonb do.
\set VERBOSITY terse
CREATE TABLE sub (id int, j encrypted_jsonb(aes128, salt, sha256), k jsonb);
INSERT INTO sub SELECT id, k, k FROM (VALUES (1, '{"a": {"b": [10, 20, 30]}, "c": null}'::jsonb), (2, '[1, {"x": "y"}]'), (3, NULL), (4, '5')) v (id, k);

SELECT id, j['a'], j['a']['b'], j['a']['b'][1], j['a']['b'][-1], j['c'], j[1]['x'], j['nothing'], j[NULL] FROM sub ORDER BY id;
SELECT count(*) FROM sub WHERE j['a'] IS DISTINCT FROM k['a'] OR j['a']['b'][2] IS DISTINCT FROM k['a']['b'][2] OR j[0] IS DISTINCT FROM k[0];
SELECT id, pg_typeof(j['a']), ((ARRAY[j])[1])[1]['x'], j[id::text], j[id] FROM sub WHERE id = 2;
SELECT id FROM sub WHERE j['a']['b'][0] = '10' ORDER BY j['a'];
SELECT j['a']['b'][e.i], j['a'][e.t] FROM sub, (SELECT '1'::encrypted_int4 AS i, 'b'::encrypted_text AS t) e WHERE id = 1;
SELECT j[1:2] FROM sub;
SELECT j[1.5] FROM sub;

-- how a value is stored: cipher, salt and MAC are in its first byte
CREATE FUNCTION stored(encrypted_jsonb) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';

BEGIN;
UPDATE sub SET j['a']['b'][1] = '"new"', k['a']['b'][1] = '"new"' WHERE id = 1;
UPDATE sub SET j['p'] = '{"q": 1}', j['p']['r'] = to_jsonb(id), j['s'] = NULL, k['p'] = '{"q": 1}', k['p']['r'] = to_jsonb(id), k['s'] = NULL WHERE id IN (1, 3);
UPDATE sub SET j[5] = j[1], k[5] = k[1] WHERE id = 2;
SELECT id, j, j::jsonb IS NOT DISTINCT FROM k AS same, get_byte(stored(j), 0) = (SELECT get_byte(stored(j), 0) FROM sub WHERE id = 4) AS as_declared
FROM sub ORDER BY id;
ROLLBACK;
UPDATE sub SET j['a'] = '1' WHERE id = 4;
UPDATE sub SET j[NULL] = '1' WHERE id = 1;
UPDATE sub SET j['a'][1:2] = '1' WHERE id = 1;
UPDATE sub SET j[-7] = '1' WHERE id = 2;
UPDATE sub SET j['a'] = 'no json' WHERE id = 1;
UPDATE sub SET j['a'].f = '1' WHERE id = 1;

-- rows that are written by one statement, or by one prepared statement, share no salt
INSERT INTO sub (id, j['a'], j['b']) SELECT 10, '1', '2' FROM generate_series(1, 3);
PREPARE add AS INSERT INTO sub (id, j['a'], j['b']) VALUES (10, '1', '2');
EXECUTE add; EXECUTE add;
SELECT count(*), count(DISTINCT stored(j)), count(DISTINCT j), min(j::text) FROM sub WHERE id = 10;
INSERT INTO sub (id, j['x']) VALUES (11, '[1]') RETURNING j, j['x'][0];
CREATE TABLE with_key (id int PRIMARY KEY, j encrypted_jsonb(nosalt));
INSERT INTO with_key VALUES (1, '{}'), (1 + 1, '{}');
INSERT INTO with_key VALUES (1, '{"new": 1}') ON CONFLICT (id) DO UPDATE SET j['was'] = excluded.j RETURNING j;

-- what is read is plain, and must not get into an index; views and functions keep the expression
\set VERBOSITY sqlstate
CREATE INDEX ON sub ((j['a']));
\set VERBOSITY terse
CREATE TABLE gen (j encrypted_jsonb, a jsonb GENERATED ALWAYS AS (j['a']) STORED);
CREATE VIEW sub_view AS SELECT id, j['a']['b'] AS b FROM sub;
SELECT pg_get_viewdef('sub_view') LIKE '%j)::jsonb)[''a''::text][''b''::text] AS b%';
SELECT * FROM sub_view WHERE id = 1;
CREATE FUNCTION set_x(int) RETURNS void LANGUAGE sql BEGIN ATOMIC UPDATE sub SET j['x'] = to_jsonb($1) WHERE id = 11; END;
SELECT set_x(12);
SELECT j FROM sub WHERE id = 11;

-- domains, arrays, composite types, PL/pgSQL
CREATE DOMAIN doc AS encrypted_jsonb(aes192, salt) CHECK (VALUE IS NOT NULL);
CREATE TYPE pair AS (n int, j encrypted_jsonb(aes192, salt));
CREATE TABLE holder (d doc, l encrypted_jsonb(aes192, salt)[], p pair);
INSERT INTO holder VALUES ('{"a": 1}', '{"{\"a\": 2}","{\"a\": 3}"}', (1, '{"a": 4}'));
UPDATE holder SET d['b'] = '5', p.j['b'] = '6', l[2] = '{"b": 7}';
SELECT d['b'], (l[1])['a'], (l[2])['b'], (p).j['b'], d, l, p FROM holder;
SELECT count(DISTINCT get_byte(stored(v), 0)) FROM holder, LATERAL (VALUES (d), (l[1]), (l[2]), ((p).j)) x (v);
DO $$
DECLARE
  typed encrypted_jsonb(aes192, salt) := '{"a": {}}';
  bare encrypted_jsonb;
  many encrypted_jsonb[] := ARRAY['{"a": 1}'];
BEGIN
  FOR i IN 1..3 LOOP
    typed['a']['k' || i] := to_jsonb(i);
    bare['n'] := to_jsonb(i);
    BEGIN
      typed['a']['b']['c'] := '1';
      typed['a']['k1']['c'] := '1';
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE '%', SQLERRM;
    END;
  END LOOP;
  RAISE NOTICE '% % % %', typed, typed['a']['k2'], bare, (many[1])['a'];
  RAISE NOTICE '%', get_byte(stored(typed), 0) = (SELECT get_byte(stored((p).j), 0) FROM holder);
END
$$;

-- types without subscripts have none when they are encrypted
SELECT ('x'::encrypted_text)[1];
SELECT ('{}'::encrypted_json)['a'];
DROP VIEW sub_view;
DROP TABLE sub, holder, with_key CASCADE;
DROP FUNCTION stored;
DROP TYPE pair;
DROP DOMAIN doc;
