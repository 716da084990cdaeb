-- substr(), left() and length() of encrypted strings: what the base type's functions say, however the value is stored, and
-- without reading more of it than needed where that can be done.
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\set ON_ERROR_STOP 1
BEGIN;
SELECT plan(12);

CREATE TABLE strings (id int, plain text,
  ctr encrypted_text(nomac), mac encrypted_text, cbc encrypted_text(cbc,nomac), v encrypted_varchar(nosalt,nomac));
CREATE TABLE bytes (id int, plain bytea, ctr encrypted_bytea(nomac), mac encrypted_bytea);
-- characters of one to four bytes, at all offsets; short, in line, and out of line
INSERT INTO strings SELECT n, s, s, s, s, s
  FROM unnest(ARRAY[0, 1, 15, 16, 17, 100, 3000, 20000]) n, LATERAL (
    SELECT coalesce(string_agg(substr('aäβ€漢😀z', 1 + i * i % 7, 1), '' ORDER BY i), '') AS s FROM generate_series(1, n) i) x;
INSERT INTO bytes SELECT id, p, p, p FROM strings, LATERAL convert_to(plain, 'UTF8') p;

CREATE TEMP TABLE bounds AS
  SELECT start, length FROM unnest(ARRAY[-20, -1, 0, 1, 2, 15, 16, 17, 18, 2999, 5000, 19999, 20001, 2147483647]) start,
    unnest(ARRAY[0, 1, 2, 14, 15, 16, 17, 33, 20000, 2147483647]) length;

SELECT is_empty($$
  SELECT id, start, length FROM strings, bounds
  WHERE (substr(ctr, start, length), substr(mac, start, length), substr(cbc, start, length), substr(v, start, length))
        IS DISTINCT FROM (substr(plain, start, length), substr(plain, start, length), substr(plain, start, length), substr(plain, start, length))
     OR substring(ctr, start, length) IS DISTINCT FROM substr(plain, start, length) $$,
  'substr() of text, from and for');
SELECT is_empty($$
  SELECT id, start, length FROM bytes, bounds
  WHERE substr(ctr, start, length) IS DISTINCT FROM substr(plain, start, length)
     OR substring(mac, start, length) IS DISTINCT FROM substr(plain, start, length) $$,
  'substr() of bytea, from and for');
SELECT is_empty($$
  SELECT id, start FROM strings JOIN bytes b USING (id), bounds
  WHERE substr(strings.ctr, start) IS DISTINCT FROM substr(strings.plain, start)
     OR substr(b.ctr, start) IS DISTINCT FROM substr(b.plain, start) $$,
  'substr(), from only');
SELECT is_empty($$
  SELECT id, start FROM strings, bounds
  WHERE "left"(ctr, start) IS DISTINCT FROM "left"(plain, start) OR "left"(v, -start) IS DISTINCT FROM "left"(plain, -start) $$,
  'left()');

SELECT throws_ok('SELECT substr(ctr, 1, -1) FROM strings WHERE id = 20000', '22011', NULL, 'a negative length is an error');

-- read: chunks of the TOAST table, counted by the statistics of its index
CREATE FUNCTION chunks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  toast  oid := (SELECT indexrelid FROM pg_index WHERE indrelid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'bytes'::regclass));
  before bigint := pg_stat_get_xact_tuples_fetched(toast);
BEGIN
  EXECUTE query;
  RETURN pg_stat_get_xact_tuples_fetched(toast) - before;
END $$;
SELECT ok(chunks('SELECT sum(length(substr(ctr, 30000, 10))) FROM bytes WHERE id = 20000') BETWEEN 1 AND 3,
  'ten bytes of a large value without MAC are read from three chunks at most');
SELECT cmp_ok(chunks('SELECT sum(length(substr(mac, 30000, 10))) FROM bytes WHERE id = 20000'), '>', 20::bigint,
  'a value with MAC is read whole');

SELECT is(substr('äbc'::encrypted_text, 2, 1), 'b', 'a literal');

SELECT is_empty($$
  SELECT id FROM strings s
  WHERE (length(s.ctr), char_length(s.mac), character_length(cbc), length(v), char_length(v), octet_length(s.ctr))
        IS DISTINCT FROM (length(s.plain), length(s.plain), length(s.plain), length(s.plain), length(s.plain), octet_length(s.plain)) $$
  -- the names stand for ours, not for the cast and PostgreSQL's own
  || (SELECT '' FROM pg_proc WHERE proname = 'character_length' AND prosrc = 'tde_length' AND proargtypes[0] = 'encrypted_varchar'::regtype),
  'lengths of text');
SELECT is_empty('SELECT id FROM bytes WHERE (length(ctr), length(mac)) IS DISTINCT FROM (length(plain), length(plain))', 'lengths of bytea');
CREATE TABLE padded (plain char(7), enc encrypted_bpchar(7));
INSERT INTO padded SELECT s, s FROM unnest(ARRAY['', ' ', 'a', '  ä  ', 'a漢😀', '1234567']) s;
SELECT is_empty('SELECT plain FROM padded WHERE (length(enc), char_length(enc), character_length(enc)) <> (length(plain), length(plain), length(plain))',
  'lengths of char(n), without the blanks at the end');
SELECT results_eq($$ SELECT length('abc'), length(NULL), char_length('ab '), length('abc'::varchar), length('a '::char(3)), length('ab'::name) $$,
  $$ VALUES (3, NULL::int, 3, 3, 1, 2) $$, 'literals and plain values have their own functions still');

SELECT * FROM finish();
ROLLBACK;
