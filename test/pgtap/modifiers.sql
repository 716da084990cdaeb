-- Type modifiers: what is accepted, what is refused and how, what is printed, and what they do to values.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

SELECT tde_create_key('modifiers'), tde_create_key('an odd, "name" of it''s own');

-- The typmods of declarations, through a view.
CREATE FUNCTION typmods(declarations text[]) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
  result int[];
BEGIN
  EXECUTE 'CREATE VIEW declared AS SELECT ' || (SELECT string_agg(format('NULL::%s AS c%s', d, n), ', ' ORDER BY n)
                                               FROM unnest(declarations) WITH ORDINALITY AS u (d, n));
  result := ARRAY(SELECT atttypmod FROM pg_attribute WHERE attrelid = 'declared'::regclass ORDER BY attnum);
  DROP VIEW declared;
  RETURN result;
END
$$;

--
-- Accepted
--
SELECT is_empty(format('SELECT complaint(%L) FROM (VALUES (1)) v WHERE complaint(%1$L) IS NOT NULL', format('SELECT NULL::%s(%s)', enc, words)),
                format('%s(%s)', enc, words))
FROM family, combination WHERE good AND (mac <> 'nomac' OR nomac) AND cipher = 'aes256' ORDER BY name, words;

CREATE FUNCTION same(a text, b text) RETURNS text LANGUAGE sql AS
  $$ SELECT is((typmods(ARRAY[a]))[1], (typmods(ARRAY[b]))[1], format('%s is %s', a, b)) $$;
SELECT same('encrypted_text(AES128,NoSalt,"MAC")', 'encrypted_text(aes128,nosalt,mac)');
SELECT same('encrypted_text(mac,salt,aes128)', 'encrypted_text(aes128,salt,mac)');
SELECT same('encrypted_text(''aes128'',''salt'')', 'encrypted_text(aes128,salt)');
SELECT same('encrypted_text(sha1)', 'encrypted_text(mac)');
SELECT same('encrypted_text(des3)', 'encrypted_text(''3des168'')');
SELECT same('encrypted_text(''3des168'')', 'encrypted_text(''3des168'',cbc,salt,sha256)');
SELECT same('encrypted_text(cbc)', 'encrypted_text(aes256,cbc,salt,sha256)');
SELECT same('encrypted_text(nosalt,cbc)', 'encrypted_text(aes256,cbc,nosalt,sha256)');
SELECT same('encrypted_text(nosalt)', 'encrypted_text(aes256,ctr,nosalt,gcm)');
SELECT same('encrypted_text(aes192)', 'encrypted_text(aes192,ctr,salt,gcm)');
SELECT same('encrypted_text(nosalt,nomac)', 'encrypted_text(aes256,cbc,nosalt,nomac)');
SELECT same('encrypted_text(''KEY=modifiers'')', 'encrypted_text(aes256,salt,gcm,''key=modifiers'')');
SELECT same(format('encrypted_text(''key=%s'')', max(slot)), 'encrypted_text(''key=modifiers'')') FROM tde.keys WHERE name = 'modifiers';
SELECT same('encrypted_text(''key=0'')', 'encrypted_text(aes256,salt,gcm)');
SELECT same('encrypted_text(''key=default'')', 'encrypted_text(aes256,salt,gcm)');
SELECT same('encrypted_interval(3)', 'encrypted_interval(3,aes256,salt)');
SELECT same('encrypted_varchar(5000)', 'encrypted_varchar(5000,aes256,salt)');
SELECT same('encrypted_numeric(15,2)', 'encrypted_numeric(15,2,aes256,salt,gcm)');
SELECT same('encrypted_numeric(15)', 'encrypted_numeric(15,0,aes256)');
SELECT same('encrypted_varchar(25,aes128)', 'encrypted_varchar(25,aes128,salt,gcm,ctr)');
SELECT is(typmods(ARRAY['encrypted_text']), ARRAY[-1], 'a type without modifiers has none outside of a column');

--
-- Refused, each with its own words
--
SET LOCAL tde_column.create_missing_keys = off;
CREATE TEMP TABLE bad (declaration text, state text, message text, detail text);
INSERT INTO bad
  SELECT format('encrypted_text(%s)', list), '22023', 'invalid modifiers for type encrypted_text', detail FROM (VALUES
    ('aes512',                'Modifier "aes512" is not known.'),
    ('''''',                  'Modifier "" is not known.'),
    ('aes256,25',             'Modifier "25" is not known.'),
    ('salt,nosalt',           'Modifier "nosalt" contradicts or repeats an earlier one.'),
    ('salt,salt',             'Modifier "salt" contradicts or repeats an earlier one.'),
    ('nosalt,nosalt',         'Modifier "nosalt" contradicts or repeats an earlier one.'),
    ('aes128,aes128',         'Modifier "aes128" contradicts or repeats an earlier one.'),
    ('aes128,aes256',         'Modifier "aes256" contradicts or repeats an earlier one.'),
    ('mac,sha1',              'Modifier "sha1" contradicts or repeats an earlier one.'),
    ('nomac,sha256',          'Modifier "sha256" contradicts or repeats an earlier one.'),
    ('nomac,nomac',           'Modifier "nomac" contradicts or repeats an earlier one.'),
    ('ctr,cbc',               'Modifier "cbc" contradicts or repeats an earlier one.'),
    ('ctr,ctr',               'Modifier "ctr" contradicts or repeats an earlier one.'),
    ('ctr,nosalt,nomac',      'In ctr mode without salt and without MAC every value would be encrypted with the same key stream.'),
    ('''3des168'',ctr',       'Triple DES is available in cbc mode only.'),
    ('des3,ctr,nosalt,nomac', 'Triple DES is available in cbc mode only.'),
    ('''key=modifiers'',''key=default''', 'More than one key is named.'),
    ('''key=0'',''key=0''',   'More than one key is named.')
  ) AS v (list, detail);
INSERT INTO bad VALUES
  ('encrypted_text(''key=x'')',      '42704', 'key "x" does not exist', NULL),
  ('encrypted_text(''key='')',       '42704', 'key "" does not exist', NULL),
  ('encrypted_text(''key= 1'')',     '42704', 'key " 1" does not exist', NULL),
  ('encrypted_text(''key=1x'')',     '42704', 'key "1x" does not exist', NULL),
  ('encrypted_text(''key=catalog'')', '42704', 'key "catalog" does not exist', NULL),
  ('encrypted_text(''key=-1'')',     '42704', 'key "-1" does not exist', NULL),
  ('encrypted_text(''key=16777216'')', '42704', 'key "16777216" does not exist', 'No key of this database has this number.'),
  ('encrypted_text(''key=99999999999999999999'')', '42704', 'key "99999999999999999999" does not exist', 'No key of this database has this number.'),
  ('encrypted_text(25)',             '22023', 'base type text of encrypted_text does not take the modifier "25"', NULL),
  ('encrypted_int4(25,aes128)',      '22023', 'base type integer of encrypted_int4 does not take the modifier "25"', NULL),
  ('encrypted_numeric(0)',           '22023', 'NUMERIC precision 0 must be between 1 and 1000', NULL),
  ('encrypted_numeric(1,2,3)',       '22023', 'invalid NUMERIC type modifier', NULL),
  ('encrypted_varchar(0)',           '22023', 'length for type varchar must be at least 1', NULL),
  ('encrypted_varchar(-1)',          '22023', 'length for type varchar must be at least 1', NULL),
  ('encrypted_varchar(1,2)',         '22023', 'invalid type modifier', NULL),
  ('encrypted_timestamptz(-1)',      '22023', 'TIMESTAMP(-1) WITH TIME ZONE precision must not be negative', NULL);
INSERT INTO bad
  SELECT format('%s(nomac)', enc), '0A000', format('type %s cannot be declared with nomac', enc),
         format('Damaged bytes of type %s could crash the server, so they must be authenticated.', base)
  FROM family WHERE NOT nomac;

CREATE FUNCTION expected(b bad) RETURNS text LANGUAGE sql AS
  $$ SELECT b.state || ' ' || b.message || coalesce(' [' || b.detail || ']', '') $$;
SELECT is(complaint('CREATE TABLE refused (a ' || declaration || ')'), expected(b), declaration) FROM bad b;
SELECT is(complaint('SELECT NULL::' || declaration), expected(b), declaration || ' in a cast') FROM bad b;
CREATE TABLE there (a text);
SELECT is_empty($$SELECT declaration FROM bad b WHERE complaint('ALTER TABLE there ADD b ' || declaration) IS DISTINCT FROM expected(b)
                  OR complaint('ALTER TABLE there ALTER a TYPE ' || declaration) IS DISTINCT FROM expected(b)
                  OR complaint('CREATE DOMAIN refused AS ' || declaration) IS DISTINCT FROM expected(b)
                  OR complaint('CREATE TYPE refused AS (a ' || declaration || ')') IS DISTINCT FROM expected(b)$$,
                'the same in ALTER TABLE, CREATE DOMAIN and CREATE TYPE');
SELECT throws_ok('CREATE TABLE refused (a encrypted_text(3des168))', '42601', NULL, '3des168 without quotes is no SQL');
SELECT hasnt_relation('refused', 'nothing is left of them');

--
-- Printed
--

-- All combinations, with base modifiers at their limits, and beyond those of a typmod's bits.
CREATE TEMP TABLE limits (base regtype, list text);
INSERT INTO limits VALUES
  ('numeric', '1,0,'), ('numeric', '15,2,'), ('numeric', '62,0,'), ('numeric', '62,63,'), ('varchar', '1,'), ('varchar', '4094,'), ('bpchar', '1,'),
  ('numeric', '63,2,'), ('numeric', '5,-2,'), ('numeric', '5,64,'), ('numeric', '1000,1000,'), ('numeric', '1000,-1000,'), ('varchar', '4095,'),
  ('varchar', '10485760,'), ('bpchar', '5000,'), ('interval', '0,'), ('interval', '6,'), ('interval', '4,3,'),
  ('bpchar', '4094,'), ('timestamptz', '0,'), ('timestamptz', '6,'), ('timestamp', '0,'), ('time', '3,'), ('timetz', '6,');
INSERT INTO limits SELECT base, '' FROM family;
CREATE FUNCTION reparsed(f family) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  declared text[] := ARRAY(SELECT format('%s(%s%s%s)', f.enc, l.list, c.words, slot)
                           FROM combination c, limits l, unnest(ARRAY['', ',''key=modifiers''', ',''key=an odd, "name" of it''''s own''']) slot
                           WHERE c.good AND l.base = f.base AND (c.mac <> 'nomac' OR f.nomac));
  first int[] := typmods(declared);
  printed text[] := ARRAY(SELECT format_type(f.enc, m) FROM unnest(first) WITH ORDINALITY AS u (m, n) ORDER BY n);
BEGIN
  RETURN ok(typmods(printed) = first AND 0 <> ALL (first) AND cardinality(first) = (SELECT count(DISTINCT m) FROM unnest(first) m),
            format('%s: %s declarations have different typmods, and what is printed of them reads back', f.enc, cardinality(first)));
END
$$;
SELECT reparsed(f) FROM family f ORDER BY name;
SET LOCAL tde_column.default_spec = 'aes128,nosalt,sha256,cbc';
SELECT reparsed(f) FROM family f WHERE name = 'encrypted_numeric';
RESET tde_column.default_spec;

-- A typmod that nobody made, from a damaged catalog, is either refused or means what it prints.
CREATE FUNCTION typmod_in_out(f family) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  typmod int;
  words text;
  again int;
  refused int := 0;
  wrong int[] := '{}';
BEGIN
  FOR i IN 1..1500 LOOP
    -- every third one with bits where cipher, mode, salt and MAC are good
    typmod := CASE i % 4 WHEN 0 THEN (random() * 2147483647)::int WHEN 1 THEN (3 << 28) + (1 << 26) + (1 << 24) + (random() * 16777215)::int
                         -- ... and of no key, or one that exists
                         WHEN 2 THEN (3 << 28) + (1 << 26) + (1 << 24) + ((random() * 4095)::int << 12) + (random() * 1)::int
                         ELSE ((random() * 4294967295) - 2147483648)::int END;
    BEGIN
      EXECUTE format('SELECT tde_internal.%s(%s)', f.name || '_typmod_out', typmod) INTO words;
      EXECUTE format('SELECT tde_internal.%s_typmod_in(%L::cstring[])', f.name, string_to_array(replace(trim(words, '()'), '''', ''), ',')) INTO again;
      IF again <> typmod THEN
        wrong := wrong || typmod;
      END IF;
    EXCEPTION WHEN invalid_parameter_value OR feature_not_supported OR undefined_object THEN
      refused := refused + 1;
    END;
  END LOOP;
  RETURN ok(wrong = '{}' AND refused > 500, format('%s: typmods that nobody made are refused, or printed as what reads back', f.enc)) ||
    CASE WHEN wrong <> '{}' THEN diag(format('wrong: %s', wrong[1:5])) ELSE '' END;
END
$$;
SELECT typmod_in_out(f) FROM family f ORDER BY name;

-- Nor does a function write what cannot be read then, whoever calls it with a modifier that he has made himself.
CREATE FUNCTION writes(f family, typmod int) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT complaint(format(call, f.enc, typmod, (SELECT max(value) FROM sample WHERE base = f.base::text AND length(value) < 40), f.plain, f.name))
  FROM unnest(ARRAY['SELECT tde_internal.%5$s(%3$L::%4$s, %2$s, true)', 'SELECT tde_internal.%5$s(%3$L::%1$s, %2$s, true)',
                    'SELECT tde_internal.%5$s_in(%3$L, %1$L::regtype, %2$s)']) call
$$;
CREATE TEMP TABLE handmade AS SELECT (typmods(ARRAY['encrypted_text(aes256,salt,nomac)', 'encrypted_text(aes128,cbc,nosalt,nomac)']))[n] AS typmod FROM generate_series(1, 2) n;
SELECT set_eq(format('SELECT writes(f, typmod) FROM family f, handmade WHERE enc = %L::regtype', enc),
              (SELECT array_agg(format('22023 invalid type modifier %s for type %s [It says nomac, but values of type %s must be authenticated.]', typmod, enc, base)) FROM handmade),
              format('%s: nothing is written without a MAC', enc))
FROM family WHERE NOT nomac ORDER BY name;
SELECT set_eq(format('SELECT writes(f, 0) FROM family f WHERE enc = %L::regtype', enc), ARRAY['22023 invalid type modifier 0 for an encrypted type'],
              format('%s: a modifier that says nothing', enc))
FROM family ORDER BY name;

--
-- The default specification
--
CREATE FUNCTION bare_column(setting text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  type text;
BEGIN
  PERFORM set_config('tde_column.default_spec', setting, true);
  CREATE TABLE bare (a encrypted_text, b encrypted_varchar(7), c encrypted_text[]);
  type := (SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'bare'::regclass AND attnum > 0);
  DROP TABLE bare;
  PERFORM set_config('tde_column.default_spec', 'aes256,salt,gcm', true);
  RETURN type;
END
$$;
SELECT is(bare_column('aes256,salt,gcm'), 'encrypted_text(aes256,salt,gcm) encrypted_varchar(7,aes256,salt,gcm) encrypted_text(aes256,salt,gcm)[]', 'as shipped');
SELECT is(bare_column('aes256,salt,mac'), 'encrypted_text(aes256,salt,mac) encrypted_varchar(7,aes256,salt,mac) encrypted_text(aes256,salt,mac)[]', 'as Oracle');
SELECT is(bare_column('nosalt'), 'encrypted_text(aes256,nosalt,gcm) encrypted_varchar(7,aes256,nosalt,gcm) encrypted_text(aes256,nosalt,gcm)[]', 'without salt');
SELECT is(bare_column('sha256'), 'encrypted_text(aes256,salt,sha256) encrypted_varchar(7,aes256,salt,sha256) encrypted_text(aes256,salt,sha256)[]',
          'parts left open are as shipped');
SELECT is(bare_column('NOSALT, aes128 ,cbc'),
          'encrypted_text(aes128,cbc,nosalt,sha256) encrypted_varchar(7,aes128,cbc,nosalt,sha256) encrypted_text(aes128,cbc,nosalt,sha256)[]', 'any order, any case; gcm gives way to sha256 in cbc');
SELECT is(complaint(format('SET LOCAL tde_column.default_spec = %L', setting)),
          format('22023 invalid value for parameter "tde_column.default_spec": "%s" [%s]', setting, detail), format('default_spec = %L is refused', setting))
FROM (VALUES
  ('aes512',           'Modifier "aes512" is not known.'),
  ('salt,nosalt',      'Modifier "nosalt" contradicts or repeats an earlier one.'),
  ('ctr,nosalt,nomac', 'In ctr mode without salt and without MAC every value would be encrypted with the same key stream.'),
  ('3des168',          'Triple DES is for old data only and cannot be the default.'),
  ('key=1',            'A key cannot be named here.'),
  ('aes256,,salt',     'List syntax is invalid.'),
  ('25',               'Modifier "25" is not known.')) AS v (setting, detail);
SELECT is(current_setting('tde_column.default_spec'), 'aes256,salt,gcm', 'and the setting is what it was');

--
-- What the base type's modifiers do to values
--
CREATE FUNCTION coerced(f family, list text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  differing text[] := '{}';
  base name := (SELECT typname FROM pg_type WHERE oid = f.base);
  plain text;
  enc text;
  v text;
BEGIN
  EXECUTE format('CREATE TABLE plain_column (a %s(%s))', base, trim(list, ','));
  EXECUTE format('CREATE TABLE enc_column (a %s(%saes256))', f.enc, list);
  FOR v IN SELECT value FROM sample WHERE sample.base = f.base::text UNION SELECT '12345.678' WHERE f.base = 'numeric'::regtype
           UNION SELECT 'two   ' WHERE f.base IN ('varchar'::regtype, 'bpchar') LOOP
    -- assignment of a literal, of the base type, of an expression of the encrypted type; explicit cast
    FOR plain, enc IN VALUES
        (format('INSERT INTO plain_column VALUES (%L)', v), format('INSERT INTO enc_column VALUES (%L)', v)),
        (format('INSERT INTO plain_column SELECT %L::%s', v, f.plain), format('INSERT INTO enc_column SELECT %L::%s', v, f.plain)),
        (format('INSERT INTO plain_column SELECT %L::%s', v, f.plain), format('INSERT INTO enc_column SELECT %L::%s', v, f.enc)),
        (format('INSERT INTO plain_column SELECT %L::%s(%s)', v, base, trim(list, ',')), format('INSERT INTO enc_column SELECT %L::%s(%s%s)', v, f.enc, list, 'aes256')) LOOP
      TRUNCATE plain_column, enc_column;
      plain := complaint(plain);
      enc := complaint(enc);
      plain := coalesce(plain, (SELECT format('%s', a) FROM plain_column));
      enc := coalesce(enc, (SELECT format('%s', a) FROM enc_column));
      IF plain IS DISTINCT FROM enc THEN
        differing := differing || format('%s: %s instead of %s', v, enc, plain);
      END IF;
    END LOOP;
  END LOOP;
  DROP TABLE plain_column, enc_column;
  RETURN is(differing, '{}', format('values in %s(%s) and their errors are those of %s', f.enc, trim(list, ','), f.base));
END
$$;
SELECT coerced(f, list) FROM family f JOIN (VALUES
  ('varchar'::regtype, '5,'), ('varchar', '200,'), ('bpchar', '5,'), ('bpchar', '1,'), ('numeric', '5,2,'), ('numeric', '5,'), ('numeric', '62,62,'),
  ('timestamptz', '0,'), ('timestamp', '3,'), ('time', '0,'), ('timetz', '2,')) AS l (base, list) USING (base) ORDER BY name, list;

SELECT finish();
ROLLBACK;
