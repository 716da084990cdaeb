-- What an encrypted value costs in bytes, beside what Oracle's rule makes of it, and what it costs in work.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

-- Bytes of a value: spec byte, key id (one byte below 128), salt, ciphertext, MAC.
-- CTR adds nothing to the plaintext; CBC with salt pads to the next multiple of the block, a full block more where it
-- fits; CBC without salt steals ciphertext, and pads only what is shorter than a block.
CREATE FUNCTION documented(c combination, size int) RETURNS int LANGUAGE sql AS $$
  SELECT 2 +
    CASE c.salt WHEN 'nosalt' THEN 0 ELSE CASE WHEN c.mac = 'gcm' THEN 12 WHEN c.mode = 'ctr' THEN 14 ELSE block END END +
    CASE WHEN c.mode = 'ctr' THEN size WHEN c.salt = 'salt' THEN (size / block + 1) * block ELSE greatest(size, block) END +
    CASE c.mac WHEN 'mac' THEN 20 WHEN 'nomac' THEN 0 ELSE 16 END
  FROM (SELECT CASE c.cipher WHEN '3des168' THEN 8 ELSE 16 END AS block) b
$$;
-- Oracle pads always, and adds 20 bytes of MAC and 16 of salt ("1 to 52 bytes").
CREATE FUNCTION oracles(c combination, size int) RETURNS int LANGUAGE sql AS $$
  SELECT (size / block + 1) * block + CASE c.salt WHEN 'salt' THEN 16 ELSE 0 END + CASE c.mac WHEN 'nomac' THEN 0 ELSE 20 END
  FROM (SELECT CASE c.cipher WHEN '3des168' THEN 8 ELSE 16 END AS block) b
$$;

CREATE TEMP TABLE measured (words text, size int, bytes int, in_row int);
CREATE FUNCTION measure(c combination) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE sized (size int, a encrypted_text(%s))', c.words);
  INSERT INTO sized SELECT size, repeat('x', size) FROM generate_series(0, 200) size;
  EXECUTE format('INSERT INTO measured SELECT %L, size, octet_length(stored(a)), pg_column_size(a) FROM sized', c.words);
  DROP TABLE sized;
END
$$;
SELECT is(count(measure(c)), 45::bigint, 'every combination is measured') FROM combination c WHERE good;
SELECT cmp_ok((SELECT max(id) FROM tde.data_keys), '<', 128, 'key ids take one byte here');

SELECT is_empty($$SELECT words, size, bytes, documented(c, size) FROM measured JOIN combination c USING (words) WHERE bytes <> documented(c, size)$$,
                'lengths 0 to 200: values have the documented size');
SELECT is_empty('SELECT words, size FROM measured WHERE in_row <> bytes + CASE WHEN bytes < 127 THEN 1 ELSE 4 END',
                'lengths 0 to 200: a column adds the varlena header and no alignment');

-- Against Oracle: AES with each of its four choices, over lengths 1 to 200.
CREATE TEMP TABLE contest AS
  SELECT salt, mac, size, bytes, oracles(c, size) AS oracle FROM measured JOIN combination c USING (words)
  WHERE cipher = 'aes256' AND mac IN ('mac', 'nomac') AND mode = CASE WHEN salt = 'nosalt' AND mac = 'nomac' THEN 'cbc' ELSE 'ctr' END AND size > 0;
SELECT is((SELECT count(*) FROM contest), 800::bigint, 'four choices, 200 lengths');
SELECT is_empty($$SELECT salt, mac FROM contest WHERE (salt, mac) <> ('nosalt', 'nomac') GROUP BY 1, 2 HAVING avg(bytes) >= avg(oracle)$$,
                'smaller than Oracle''s on average with salt and MAC, with MAC, with salt');
SELECT is_empty($$SELECT size, bytes, oracle FROM contest WHERE (salt, mac) = ('nosalt', 'nomac') AND size < 16 AND bytes > oracle + 2$$,
                'with neither, within two bytes of Oracle''s at every length below 16');
SELECT cmp_ok((SELECT avg(bytes) FROM contest WHERE (salt, mac) = ('nosalt', 'nomac') AND size >= 16), '<',
              (SELECT avg(oracle) FROM contest WHERE (salt, mac) = ('nosalt', 'nomac') AND size >= 16),
              'with neither, smaller than Oracle''s on average from 16 on');
SELECT is_empty($$SELECT m.words, m.size FROM measured m JOIN measured s ON s.words = replace(m.words, ',mac', ',sha256') AND s.size = m.size
                  WHERE m.words LIKE '%,mac,%' AND m.bytes <> s.bytes + 4$$, 'sha256 is 4 bytes shorter than mac');
SELECT set_eq($$SELECT replace(words, 'aes256,', ''), min(bytes - size), max(bytes - size) FROM measured WHERE words LIKE 'aes256,%,gcm,%' GROUP BY 1$$,
              $$VALUES ('salt,gcm,ctr', 30, 30), ('nosalt,gcm,ctr', 18, 18)$$, 'gcm adds 30 bytes with salt and 18 without');

-- What is encrypted is the base type's own bytes without a varlena header.
CREATE FUNCTION payload(f family) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  size text := (SELECT CASE WHEN typlen > 0 THEN typlen::text ELSE 'octet_length(stored(plain))' END FROM pg_type WHERE oid = f.base);
BEGIN
  RETURN is_empty(format('SELECT plain, octet_length(stored(enc)) FROM (SELECT value::%s AS plain, value::%1$s::%s(aes256,nosalt,mac) AS enc
                          FROM sample WHERE base = %L) s WHERE octet_length(stored(enc)) <> 2 + 20 + %s', f.plain, f.enc, f.base, size),
                  format('%s encrypts the bytes of %s and nothing more', f.enc, f.base));
END
$$;
SELECT payload(f) FROM family f ORDER BY name;

--
-- Work
--
CREATE FUNCTION work_of(query text, OUT encryptions bigint, OUT decryptions bigint) LANGUAGE plpgsql AS $$
DECLARE
  before tde.stats;
BEGIN
  -- once before, so that plans, caches and keys are there
  EXECUTE query;
  SELECT * INTO before FROM tde.stats;
  EXECUTE query;
  SELECT s.encryptions - before.encryptions, s.decryptions - before.decryptions INTO encryptions, decryptions FROM tde.stats s;
END
$$;
SET LOCAL max_parallel_workers_per_gather = 0;   -- the counters are those of one process
CREATE TABLE worked (id int, a encrypted_text(aes256,salt), b encrypted_text(aes256,nosalt), n encrypted_numeric(10,2));
INSERT INTO worked SELECT i, 'value ' || i, 'value ' || i % 10, i FROM generate_series(1, 1000) i;
CREATE INDEX ON worked (id);

SELECT results_eq($$SELECT * FROM work_of('SELECT count(*) FROM worked')$$, 'VALUES (0::bigint, 0::bigint)', 'count(*): no work');
SELECT results_eq($$SELECT * FROM work_of('SELECT count(a), count(n) FROM worked')$$, 'VALUES (0::bigint, 0::bigint)', 'count of a column: no work');
SELECT results_eq($$SELECT * FROM work_of('SELECT id FROM worked WHERE a IS NOT NULL ORDER BY id')$$, 'VALUES (0::bigint, 0::bigint)',
                  'IS NULL, and other columns: no work');
-- a value that was decrypted a moment ago need not be again
SELECT results_eq($$SELECT encryptions, decryptions BETWEEN 1 AND 1000 FROM work_of('SELECT max(length(a)) FROM worked')$$, 'VALUES (0::bigint, true)',
                  'length(a): at most one decryption for each row');
SELECT results_eq($$SELECT encryptions, decryptions <= 10 FROM work_of('SELECT avg(n) FROM worked WHERE id <= 10')$$, 'VALUES (0::bigint, true)',
                  'only rows that pass the other conditions are decrypted');
-- an index is built with maintenance_work_mem, which the plaintexts of its sort may fill, too
SET LOCAL work_mem = '64kB';
SET LOCAL max_parallel_maintenance_workers = 0;
CREATE TABLE indexed AS SELECT ('value ' || md5(i::text))::encrypted_text(aes256,salt) AS a FROM generate_series(1, 10000) i;
CREATE INDEX indexed_a ON indexed (a);
-- where a page ends, PostgreSQL compares two values once more, to see how much of them the pages above need
SELECT results_eq($$SELECT decryptions BETWEEN 10000 AND 10000 + pg_relation_size('indexed_a') / 8192 FROM work_of('REINDEX INDEX indexed_a')$$,
                  'VALUES (true)', 'CREATE INDEX: one decryption for each row, and one for each page');
RESET work_mem;

SELECT results_eq($$SELECT * FROM work_of('UPDATE worked SET id = id WHERE id <= 10')$$, 'VALUES (0::bigint, 0::bigint)',
                  'UPDATE of another column: values are copied');
SELECT results_eq($$SELECT encryptions FROM work_of('INSERT INTO worked (a) SELECT ''x''::text FROM generate_series(1, 10)')$$, 'VALUES (10::bigint)',
                  'INSERT of the base type: one encryption for each value');
CREATE TABLE copied (LIKE worked);
SELECT results_eq($$SELECT * FROM work_of('INSERT INTO copied SELECT * FROM worked')$$, 'VALUES (0::bigint, 0::bigint)',
                  'INSERT ... SELECT between columns of one specification: values are copied');

-- Searches in an index meet the values of its upper pages again and again, and those of its leaves once.
CREATE TABLE searched (id int, salted encrypted_int4(aes256,salt,gcm), unsalted encrypted_int4(aes256,nosalt,gcm), mac encrypted_int4(aes256,salt,sha1),
                       nomac encrypted_int4(aes256,salt,nomac));
INSERT INTO searched SELECT i, i, i, i, i FROM generate_series(1, 20000) i;
CREATE INDEX ON searched (salted);
CREATE INDEX ON searched (unsalted);
CREATE INDEX ON searched (mac);
CREATE INDEX ON searched (nomac);
ANALYZE searched;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
CREATE FUNCTION decrypted_by_search(col text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  before bigint;
  found  int;
BEGIN
  FOR i IN 1 .. 800 LOOP
    IF i = 601 THEN
      SELECT decryptions INTO before FROM tde.stats;
    END IF;
    EXECUTE format('SELECT id FROM searched WHERE %I = $1', col) INTO found USING (i * 7919) % 20000 + 1;
    ASSERT found = (i * 7919) % 20000 + 1;
  END LOOP;
  RETURN (SELECT decryptions - before FROM tde.stats) / 200.0;
END
$$;
-- each goes down by some 15 comparisons, and decrypts what it has found
SELECT cmp_ok(decrypted_by_search(col), '<', 11::numeric, format('a search in an index (%s) decrypts less than it compares', col))
FROM unnest('{salted,unsalted,mac,nomac}'::text[]) col;

SELECT finish();
ROLLBACK;
