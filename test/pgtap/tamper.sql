-- Damaged, forged and misplaced values: with a MAC they are always refused, all in the same words; without one they may
-- give a wrong value, but never harm the server.
--
-- The bytes come in through functions of a superuser (see include/family.sql), or as somebody would bring them in who can
-- write the table's file: by relabelling a column in pg_attribute.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
SET LOCAL statement_timeout = '600s';   -- the functions below would not return from an endless loop

-- Stored values: of text under every combination, and of every type.
CREATE TEMP TABLE original (name text, words text, mac boolean, value text, bytes bytea);
CREATE FUNCTION originals(f family, words text, list text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE made (value text, a %s(%s))', f.enc, words);
  EXECUTE format('INSERT INTO made SELECT v, v::%s FROM unnest($1) v', f.plain) USING list;
  EXECUTE format('INSERT INTO original SELECT %L, %L, %L, value, stored(a) FROM made', f.name, words, words !~ 'nomac');
  DROP TABLE made;
END
$$;
SELECT count(originals(f, words, ARRAY(SELECT repeat('x', n) FROM unnest('{0,1,7,8,15,16,17,33}'::int[]) n)))
FROM family f, combination WHERE name = 'encrypted_text' AND good \g /dev/null
SELECT count(originals(f, words, ARRAY(SELECT value FROM sample WHERE base = f.base::text AND length(value) < 40)))
FROM family f, combination
WHERE good AND name <> 'encrypted_text' AND cipher = 'aes128' AND mode = 'ctr' AND (mac <> 'nomac' OR f.nomac) \g /dev/null

-- What becomes of bytes: NULL if they are a value, otherwise the error.
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM family LOOP
    EXECUTE format($f$
      CREATE FUNCTION %I(bytes bytea) RETURNS text LANGUAGE plpgsql AS $body$
      DECLARE
        detail text;
      BEGIN
        PERFORM tde_internal.%I(%I(bytes));
        RETURN NULL;
      EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
        RETURN SQLSTATE || ' ' || SQLERRM || ' ' || detail;
      END
      $body$ $f$, 'verdict_' || f.name, f.name || '_out', 'forged_' || f.name);
  END LOOP;
END
$$;
CREATE FUNCTION verdicts(query text) RETURNS TABLE (name text, words text, what text, verdict text) LANGUAGE plpgsql AS $$
DECLARE
  n text;
BEGIN
  FOR n IN SELECT DISTINCT o.name FROM original o LOOP
    RETURN QUERY EXECUTE format('SELECT name, words, what, verdict_%s(damaged) FROM (%s) d WHERE name = %L', n, query, n);
  END LOOP;
END
$$;
CREATE FUNCTION flip(bytes bytea, n bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS
  $$ SELECT set_bit(bytes, n, 1 - get_bit(bytes, n)) $$;
\set refused '\'TDE04 could not authenticate encrypted value The stored bytes were changed, or were not made under their key for this type.\''

SELECT is_empty('SELECT * FROM verdicts(''SELECT *, words AS what, bytes AS damaged FROM original'') WHERE verdict IS NOT NULL',
                'undamaged, the forged values are values');

--
-- With a MAC
--

-- The key id is the second byte; a flipped bit there may name a key that does not exist, or a longer number.
CREATE TEMP TABLE flipped AS
  SELECT * FROM verdicts('SELECT *, n::text AS what, flip(bytes, n) AS damaged
                          FROM original, generate_series(0, 8 * octet_length(bytes) - 1) n WHERE mac');
SELECT cmp_ok((SELECT count(*) FROM flipped), '>', 10000::bigint, 'bits were flipped');
SELECT is_empty('SELECT * FROM flipped WHERE verdict IS NULL', 'no flip of a bit in a value with MAC gives a value');
SELECT is_empty('SELECT * FROM flipped WHERE verdict NOT LIKE ''TDE04%'' AND NOT (what::int BETWEEN 8 AND 15 AND verdict LIKE ''TDE03%'')',
                'TDE04 wherever it is, or TDE03 in the key''s id');
SELECT set_eq('SELECT DISTINCT verdict FROM flipped WHERE verdict NOT LIKE ''TDE03%''', ARRAY[:refused], 'all in the same words');

CREATE TEMP TABLE resized AS
  SELECT * FROM verdicts('SELECT *, n::text AS what, substr(bytes, 1, n) AS damaged FROM original, generate_series(0, octet_length(bytes) - 1) n WHERE mac')
  UNION ALL
  SELECT * FROM verdicts('SELECT *, ''+'' || n AS what, bytes || decode(repeat(''00'', n), ''hex'') AS damaged FROM original, generate_series(1, 40) n WHERE mac')
  UNION ALL
  SELECT * FROM verdicts('SELECT *, ''twice'' AS what, bytes || bytes AS damaged FROM original WHERE mac')
  UNION ALL
  -- Cut from the front, the next bytes are read as a header.  They are as good as random, and now and then say that there is no
  -- MAC; then that is a question of the nomac key, and of nomac.sql.
  SELECT * FROM verdicts('SELECT *, ''without its first '' || n AS what, substr(bytes, n + 1) AS damaged FROM original, generate_series(1, 20) n
                          WHERE mac AND (n >= octet_length(bytes) OR get_byte(bytes, least(n, octet_length(bytes) - 1)) & 48 <> 0)');
SELECT is_empty('SELECT * FROM resized WHERE verdict IS NULL', 'a value with MAC cannot be truncated or extended');
SELECT set_eq('SELECT DISTINCT verdict FROM resized WHERE verdict NOT LIKE ''TDE03%''', ARRAY[:refused], 'in the same words');
SELECT is(verdict_encrypted_text(''), :refused, 'no bytes at all');

-- That there is no MAC, with the parity that goes with it, the specification says in vain: the key is one for values with MAC.
CREATE TEMP TABLE denied AS
  SELECT * FROM verdicts($$SELECT *, 'no MAC' AS what,
                                  set_byte(bytes, 0, (get_byte(bytes, 0) & 79) + CASE WHEN bit_count((get_byte(bytes, 0) & 79)::bit(8)) % 2 = 0 THEN 128 ELSE 0 END) AS damaged
                           FROM original WHERE mac$$);
SELECT cmp_ok((SELECT count(*) FROM denied), '>', 20::bigint, 'MACs were denied');
SELECT is_empty('SELECT * FROM denied WHERE verdict IS NULL', 'no value whose MAC is denied is one');
SELECT set_eq('SELECT DISTINCT verdict FROM denied', ARRAY[:refused], 'in the same words');

-- Blocks exchanged within a value and between values.
SELECT is_empty($$SELECT * FROM verdicts('SELECT a.*, b.value AS what, substr(a.bytes, 1, octet_length(a.bytes) / 2) || substr(b.bytes, octet_length(a.bytes) / 2 + 1) AS damaged
                                          FROM original a JOIN original b USING (name, words) WHERE a.mac AND a.bytes <> b.bytes') WHERE verdict IS NULL$$,
                'halves of two values do not make one');

-- A value of one type is none of another, although key and specification are the same.
CREATE FUNCTION as_type(f family) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN set_eq(format('SELECT DISTINCT verdict_%s(bytes) FROM original WHERE mac AND name <> %L', f.name, f.name),
                ARRAY['TDE04 could not authenticate encrypted value The stored bytes were changed, or were not made under their key for this type.'],
                format('values of other types are refused as %s', f.enc));
END
$$;
SELECT as_type(f) FROM family f ORDER BY name;

-- Keys of other kinds and slots, by their id.
CREATE TEMP TABLE other_key AS
  SELECT * FROM verdicts('SELECT o.*, kind::text AS what, set_byte(bytes, 1, id) AS damaged FROM original o, tde.data_keys k
                          WHERE id <> get_byte(bytes, 1) AND id < 128 AND (mac OR kind <> ''n'')');
SELECT is((SELECT count(DISTINCT what) FROM other_key), 4::bigint, 'there are keys of four kinds');
SELECT set_eq('SELECT DISTINCT verdict FROM other_key', ARRAY[:refused], 'under a key of another kind a value is refused, with MAC or without');
SELECT is_empty('SELECT * FROM verdicts(''SELECT *, '''''''' AS what, set_byte(bytes, 1, 127) AS damaged FROM original'')
                 WHERE verdict IS DISTINCT FROM ''TDE03 data key 127 does not exist in this database The value was encrypted in another database, or its key was dropped.''',
                'a key that does not exist is named');
SELECT is(verdict_encrypted_text(substr(bytes, 1, 1) || id || substr(bytes, 3)), :refused, format('key id %s is malformed', id))
FROM original, unnest(ARRAY['\x00', '\x8100', '\x8000', '\x81808080808001', '\xffffffff7f', '\xffffffffff']::bytea[]) id
WHERE words = 'aes256,salt,mac,ctr' AND value = repeat('x', 33);

--
-- Without a MAC, in a column that is declared with one
--
CREATE FUNCTION relabel(declared text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'CREATE VIEW wanted AS SELECT NULL::' || declared || ' AS a';
  UPDATE pg_attribute p SET atttypmod = w.atttypmod FROM pg_attribute w
  WHERE p.attrelid = 'pasted'::regclass AND p.attname = 'a' AND w.attrelid = 'wanted'::regclass AND w.attname = 'a';
  DROP VIEW wanted;
END
$$;
CREATE TABLE pasted (id int, a encrypted_text(aes256,salt,nomac));
INSERT INTO pasted VALUES (1, 'x');
CREATE TABLE target (t text, e encrypted_text(aes128,nosalt));
CREATE TEMP TABLE reading (statement text);
INSERT INTO reading SELECT unnest(ARRAY[
  'SELECT length(a) FROM pasted', 'SELECT a::text FROM pasted', 'SELECT upper(a) FROM pasted', 'SELECT a || ''y'' FROM pasted',
  'SELECT id FROM pasted WHERE a = ''x''', 'SELECT id FROM pasted WHERE ''x'' = a', 'SELECT id FROM pasted WHERE a = ''x''::text', 'SELECT id FROM pasted WHERE a > ''w''',
  'SELECT id FROM pasted WHERE a IN (''x'', ''y'')', 'SELECT id FROM pasted WHERE a LIKE ''x%''', 'SELECT id FROM pasted WHERE a IS DISTINCT FROM ''x''', 'SELECT nullif(a, ''x'') FROM pasted',
  'SELECT id FROM pasted WHERE a BETWEEN ''a'' AND ''z''', 'SELECT CASE WHEN a = ''x'' THEN 1 END FROM pasted',
  'SELECT tde_internal.encrypted_text_out(a) FROM pasted', 'SELECT p.id FROM pasted p WHERE EXISTS (SELECT FROM pasted q WHERE q.a <> p.a::text)',
  'INSERT INTO target (t) SELECT a FROM pasted', 'INSERT INTO target (e) SELECT a FROM pasted', 'SELECT a::text FROM (SELECT a FROM pasted OFFSET 0) s',
  'DELETE FROM pasted WHERE a = ''x''', 'UPDATE pasted SET id = 2 WHERE a = ''x'''
]);
CREATE FUNCTION refused_as(declared text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM relabel(declared);
  RETURN QUERY SELECT is(complaint(statement), 'TDE04 value without MAC in a column that is declared with MAC [Somebody may have put it there to circumvent the MAC.]',
                         format('%s: %s', declared, statement)) FROM reading;
END
$$;
SELECT refused_as('encrypted_text(aes256,salt,mac)');
SELECT refused_as('encrypted_text(aes256,salt,gcm)');
SELECT is((SELECT count(*) FROM pasted), 1::bigint, 'other columns and the row itself can be read');

CREATE FUNCTION paste(f family, mac text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE pasted;
  EXECUTE format('CREATE TABLE pasted (a %s(aes128,salt,nomac))', f.enc);
  EXECUTE format('INSERT INTO pasted SELECT %L', (SELECT max(value) FROM sample WHERE base = f.base::text AND length(value) < 40));
  EXECUTE 'SELECT tde_internal.tde_cmp(a, a) FROM pasted';   -- a value that is remembered is refused, too
  PERFORM relabel(format('%s(aes128,salt,%s)', f.enc, mac));
  RETURN is(complaint(format('SELECT a::%s FROM pasted', f.plain)),
            'TDE04 value without MAC in a column that is declared with MAC [Somebody may have put it there to circumvent the MAC.]',
            format('a value without MAC in a column of %s(%s)', f.enc, mac));
END
$$;
SELECT paste(f, mac) FROM family f, unnest('{mac,gcm}'::text[]) mac WHERE f.nomac ORDER BY name, mac;

-- A MACed value of another specification may stand there: the column was declared otherwise before.
CREATE FUNCTION moved(c combination, declared text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE pasted;
  EXECUTE format('CREATE TABLE pasted (a encrypted_text(%s))', c.words);
  INSERT INTO pasted VALUES ('x');
  PERFORM relabel(format('encrypted_text(%s)', declared));
  RETURN results_eq('SELECT a::text, a = ''x'' FROM pasted', 'VALUES (''x'', true)', format('a value of %s in a column of %s', c.words, declared));
END
$$;
SELECT moved(c, declared) FROM combination c, unnest('{"aes256,salt,mac","aes256,salt,gcm","aes256,nosalt,gcm"}'::text[]) declared WHERE good AND mac <> 'nomac';

-- Compressed before encryption: nothing is decompressed before the MAC is checked.
SET LOCAL tde_column.compression = pglz;
DELETE FROM original;
SELECT originals(f, words, ARRAY[repeat('compressible ', 300)]) FROM family f, unnest('{"aes256,salt,mac","aes256,salt,gcm"}'::text[]) words WHERE name = 'encrypted_text' \g /dev/null
SELECT cmp_ok(octet_length(bytes), '<', 200, words || ': a value is compressed') FROM original;
SELECT set_eq($$SELECT DISTINCT verdict FROM verdicts('SELECT *, n::text AS what, flip(bytes, n) AS damaged
                FROM original, generate_series(0, 8 * octet_length(bytes) - 1) n WHERE n NOT BETWEEN 8 AND 15')$$, ARRAY[:refused],
              'each flipped bit in it is refused in the same words');

SELECT finish();
ROLLBACK;
