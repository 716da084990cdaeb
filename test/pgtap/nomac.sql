-- Without a MAC damaged bytes may decrypt to anything: to a wrong value or to an error, but never to one that harms the
-- server, whatever is done with it then.  A crash ends this test before its plan.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
SET LOCAL statement_timeout = '600s';   -- the functions below would not return from an endless loop

-- What to do with a value, besides its output, send, cast and comparison functions; v is the decrypted one, e the
-- encrypted one.
CREATE TEMP TABLE deed (base regtype, deed text);
INSERT INTO deed SELECT base, unnest(deeds) FROM (VALUES
  ('text'::regtype,      ARRAY['length(e)', 'upper(e)', 'reverse(e)', 'substr(e, 2, 3)', 'e LIKE ''%x_''', 'e ~ ''[[:alpha:]]+$''', 'e || e', 'md5(e)',
                               'to_tsvector(''simple'', e)', 'normalize(e)', 'quote_literal(e)', 'to_json(v)', 'ascii(e)', 'lpad(e, 9)']),
  ('varchar',            ARRAY['length(e)', 'upper(e)', 'substr(e, 2, 3)', 'e LIKE ''%x_''', 'e ~ ''[[:alpha:]]+$''', 'v::varchar(3)']),
  ('bpchar',             ARRAY['length(v)', 'upper(v)', 'substr(v, 2, 3)', 'v ~ ''[[:alpha:]]+$''', 'v::char(3)']),
  ('json',               ARRAY['v -> ''k''', 'json_array_length(v)', 'v::jsonb', 'json_typeof(v)', 'v #>> ''{k,1}''']),
  ('bytea',              ARRAY['length(e)', 'encode(e, ''base64'')', 'get_byte(e, 0)', 'md5(v)', 'e || e', 'position(''\x00''::bytea in v)']),
  ('numeric',            ARRAY['v + 1', 'v - v', 'v * v', 'v / 7', '1 / v', 'v % 7', 'abs(v)', 'sign(v)', 'round(v, 2)', 'trunc(v)', 'ceil(v)', 'scale(v)',
                               'min_scale(v)', 'trim_scale(v)', 'v::int8', 'v::float8', 'v::numeric(5,2)', 'hash_numeric(v)', 'to_char(v, ''999D99'')',
                               'sqrt(abs(v))', 'ln(abs(v))', 'div(v, 3)', 'gcd(v, 12)', 'width_bucket(v, 0, 10, 5)', 'numeric_send(v)', 'v::text::numeric',
                               'power(v, 2)', 'exp(v)', 'avg(v)', 'sum(v)', 'stddev(v)']),
  ('int2',               ARRAY['v + 1::int2', 'v::text', 'v * v', 'hashint2(v)']),
  ('int4',               ARRAY['v + 1', 'v::text', 'v::numeric', 'v / 3', 'to_hex(v)']),
  ('int8',               ARRAY['v + 1', 'v::text', 'v::numeric', 'v / 3', 'to_hex(v)']),
  ('float4',             ARRAY['v + 1', 'v::numeric', 'v::int4', 'sqrt(v)', 'hashfloat4(v)']),
  ('float8',             ARRAY['v + 1', 'v::numeric', 'v::int8', 'exp(v)', 'sin(v)', 'to_char(v, ''9.9EEEE'')', 'hashfloat8(v)']),
  ('bool',               ARRAY['NOT v', 'v::int', 'hashchar(v::text::"char")']),
  ('date',               ARRAY['v + 1', 'v - 1', 'v::timestamp', 'v::timestamptz', 'extract(isoyear FROM v)', 'to_char(v, ''IYYY-IW-ID Mon TZ'')', 'v - date ''2000-01-01''',
                               'date_part(''julian'', v)', 'age(v)', 'date_trunc(''week'', v)', 'isfinite(v)', 'v + interval ''1 month''']),
  ('time',               ARRAY['v + interval ''1 hour''', 'extract(epoch FROM v)', 'v::interval', 'to_char(v, ''HH12:MI:SS.US'')', 'v::time(0)', 'time_hash(v)']),
  ('timetz',             ARRAY['v + interval ''1 hour''', 'extract(epoch FROM v)', 'v AT TIME ZONE ''UTC''', 'v::time', 'v::timetz(0)', 'timetz_hash(v)']),
  ('timestamp',          ARRAY['v + interval ''1 month''', 'v::date', 'v::time', 'v AT TIME ZONE ''Europe/Vienna''', 'extract(week FROM v)', 'date_trunc(''quarter'', v)',
                               'to_char(v, ''IYYY Q J HH24:MI:SS.US'')', 'age(v)', 'v::timestamp(0)', 'date_bin(''1 day'', v, ''2000-01-01'')']),
  ('timestamptz',        ARRAY['v + interval ''1 month''', 'v::date', 'v::time', 'v::timetz', 'v AT TIME ZONE ''Europe/Vienna''', 'extract(week FROM v)', 'date_trunc(''quarter'', v)',
                               'to_char(v, ''IYYY Q J HH24:MI:SS.US TZ OF'')', 'age(v)', 'v::timestamptz(0)', 'date_bin(''1 day'', v, ''2000-01-01+00'')']),
  ('interval',           ARRAY['v + v', '-v', 'v * 1.5', 'v / 3', 'justify_interval(v)', 'justify_days(v)', 'extract(epoch FROM v)', 'extract(decade FROM v)', 'to_char(v, ''YYYY MM DD HH24'')',
                               'now() + v', 'date ''2000-01-01'' - v', 'v::interval hour', 'v::interval(0)', 'v::time', 'interval_hash(v)', 'date_trunc(''hour'', v)']),
  ('uuid',               ARRAY['v::text', 'uuid_hash(v)'])
) AS list (base, deeds);
SELECT is_empty('SELECT enc FROM family f WHERE nomac AND NOT EXISTS (SELECT FROM deed d WHERE d.base = f.base)', 'something is done with each type');

-- abuse_NAME(bytes): the error of the decryption, or 'value' after everything was done with it.  What the deeds say does
-- not matter, except an error that PostgreSQL has for what cannot happen.
CREATE TEMP TABLE impossible (type text, deed text, message text);
CREATE FUNCTION make_abuse(f family) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  deeds text := (
    SELECT string_agg(format('BEGIN PERFORM %s; EXCEPTION WHEN OTHERS THEN IF SQLSTATE ~ ''^XX'' THEN INSERT INTO impossible VALUES (%L, %L, SQLERRM); END IF; END; ',
                             d, f.enc, d), E'\n')
    FROM (SELECT deed FROM deed WHERE deed.base = f.base
          UNION ALL SELECT unnest(ARRAY['tde_internal.' || f.name || '_send(e)', 'format(''%s'', v)', 'ARRAY[e]::text', 'ROW(v)'])
          UNION ALL SELECT unnest(ARRAY['e = e', 'e <> v', 'v = e']) WHERE EXISTS (SELECT FROM pg_operator WHERE oprname = '=' AND oprleft = f.enc AND oprright = f.base)
          UNION ALL SELECT unnest(ARRAY['e < e', 'e >= v', 'max(v)']) WHERE EXISTS (SELECT FROM pg_operator WHERE oprname = '<' AND oprleft = f.enc AND oprright = f.base)) AS u (d));
BEGIN
  EXECUTE format($f$
    CREATE FUNCTION %I(bytes bytea) RETURNS text LANGUAGE plpgsql AS $body$
    DECLARE
      e %s := %I(bytes);
      v %s;
    BEGIN
      BEGIN
        v := e;
        PERFORM tde_internal.%I(e);
      EXCEPTION WHEN OTHERS THEN
        RETURN SQLSTATE || ' ' || SQLERRM;
      END;
      %s
      RETURN 'value';
    END
    $body$ $f$, 'abuse_' || f.name, f.enc, 'forged_' || f.name, f.plain, f.name || '_out', deeds);
END
$$;
SELECT count(make_abuse(f)) FROM family f WHERE nomac \g /dev/null

-- Values to damage, of each way in which a value can be without a MAC.
CREATE TEMP TABLE original (name text, words text, bytes bytea);
CREATE FUNCTION originals(f family, words text, list text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE made (a %s(%s))', f.enc, words);
  EXECUTE format('INSERT INTO made SELECT v::%s FROM unnest($1) v', f.plain) USING list;
  EXECUTE format('INSERT INTO original SELECT %L, %L, stored(a) FROM made', f.name, words);
  DROP TABLE made;
END
$$;
SELECT count(originals(f, words, ARRAY(SELECT value FROM sample WHERE base = f.base::text AND length(value) < 40 ORDER BY md5(value) LIMIT 6)))
FROM family f, combination WHERE good AND mac = 'nomac' AND f.nomac AND cipher IN ('aes128', '3des168') \g /dev/null

CREATE TEMP TABLE outcome (name text, what text, outcome text);
CREATE FUNCTION abuse(f family) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  -- all bytes that a spec without a MAC can have: any flag, any parity
  specs int[] := ARRAY(SELECT DISTINCT spec + flag + parity FROM combination, unnest('{0,64}'::int[]) flag, unnest('{0,128}'::int[]) parity
                       WHERE good AND mac = 'nomac');
  key int := (SELECT min(id) FROM tde.data_keys WHERE kind = 'n');
BEGIN
  EXECUTE format('INSERT INTO outcome SELECT name, ''undamaged'', abuse_%s(bytes) FROM original WHERE name = %L', f.name, f.name);
  EXECUTE format('INSERT INTO outcome SELECT name, ''flipped'', abuse_%s(set_bit(bytes, n, 1 - get_bit(bytes, n)))
                  FROM original, generate_series(0, 8 * octet_length(bytes) - 1) n WHERE name = %L', f.name, f.name);
  EXECUTE format('INSERT INTO outcome SELECT name, ''resized'', abuse_%s(substr(bytes || bytes, 1, n::int))
                  FROM original, generate_series(0, 2 * octet_length(bytes)) n WHERE name = %L', f.name, f.name);
  EXECUTE format('INSERT INTO outcome SELECT %L, ''random'', abuse_%s(set_byte(set_byte(random_bytes(2 + n %% 79), 0, $1[1 + n %% cardinality($1)]), 1, $2))
                  FROM generate_series(1, 2000) n', f.name, f.name) USING specs, key;
  -- of the right length, behind the right header
  EXECUTE format('INSERT INTO outcome SELECT %L, ''random'', abuse_%s(substr(bytes, 1, 2) || random_bytes(octet_length(bytes) - 2))
                  FROM original, generate_series(1, 20) WHERE name = %1$L', f.name, f.name);
END
$$;
CREATE FUNCTION random_bytes(size int) RETURNS bytea LANGUAGE sql VOLATILE AS
  $$ SELECT substr(string_agg(uuid_send(gen_random_uuid()), ''), 5, size) FROM generate_series(1, 2 + size / 16) $$;
SELECT count(abuse(f)) FROM family f WHERE nomac \g /dev/null

-- Compressed ones: what is decompressed was not vouched for either.
SET LOCAL tde_column.compression = pglz;
DELETE FROM original;
SELECT count(originals(f, 'aes128,salt,nomac', ARRAY[repeat('compressible ', 300), repeat('a', 3000) || md5('a') || repeat('ab', 500)]))
FROM family f WHERE base = 'text'::regtype \g /dev/null
SELECT ok(bool_and(octet_length(bytes) < 200), 'values are compressed') FROM original;
SELECT count(abuse(f)) FROM family f WHERE base = 'text'::regtype \g /dev/null

SELECT is_empty('SELECT * FROM outcome WHERE what = ''undamaged'' AND outcome <> ''value''', 'undamaged values are values');
SELECT ok(bool_or(outcome = 'value') FILTER (WHERE what = 'flipped'),
          format('%s survives %s flipped bits, %s other lengths and %s random strings; some are values', name, count(*) FILTER (WHERE what = 'flipped'),
                 count(*) FILTER (WHERE what = 'resized'), count(*) FILTER (WHERE what = 'random')))
FROM outcome GROUP BY name ORDER BY name;
SELECT is_empty('SELECT DISTINCT name, outcome FROM outcome
                 WHERE outcome <> ''value'' AND outcome NOT LIKE ''TDE03%'' AND outcome <> ''TDE04 could not authenticate encrypted value''',
                'what is no value is refused as a value with a wrong MAC is');
SELECT is_empty('SELECT type, deed, message, count(*) FROM impossible GROUP BY 1, 2, 3', 'no function meets what cannot be');

-- Short texts are looked at byte by byte: none is zero, and what is not ASCII is in the encoding.
CREATE FUNCTION forged_short(plain text, n int, byte int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  bytes bytea;
BEGIN
  CREATE TEMP TABLE short (a encrypted_text(aes256,salt,nomac));
  EXECUTE 'INSERT INTO short VALUES ($1)' USING plain;
  SELECT stored(a) INTO bytes FROM short;
  DROP TABLE short;
  -- in counter mode a changed bit of the ciphertext is the same changed bit of the text
  n := octet_length(bytes) - octet_length(plain) + n;
  RETURN abuse_encrypted_text(set_byte(bytes, n, get_byte(bytes, n) # ascii('a') # byte));
END
$$;
SELECT is(forged_short(repeat('a', size), n, byte), CASE WHEN byte BETWEEN 1 AND 127 THEN 'value' ELSE 'TDE04 could not authenticate encrypted value' END,
          format('byte %s of %s is %s', n, size, byte))
FROM generate_series(1, 9) size, generate_series(0, size - 1, 3) n, unnest('{0,1,127,128,255}'::int[]) byte;

-- A bool is false or true, a date is one that exists, a text is in the database's encoding.
SELECT cmp_ok((SELECT count(*) FROM outcome WHERE name = 'encrypted_' || type AND what = 'flipped' AND outcome <> 'value'), '>', 0::bigint,
              format('some damage of encrypted_%s is noticed', type))
FROM family f, LATERAL (SELECT typname FROM pg_type WHERE oid = f.base) AS t (type) WHERE f.nomac AND base IN ('text'::regtype, 'varchar', 'numeric', 'bool', 'date', 'timestamptz') ORDER BY name;

SELECT finish();
ROLLBACK;
