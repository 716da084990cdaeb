-- Salted values never look alike, whichever way equal ones come; unsalted ones always do.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

-- A table with one column for each combination of words takes 100 equal values in many ways.
CREATE TEMP TABLE used AS
  SELECT row_number() OVER (ORDER BY words) AS i, words, salt, mode, cipher FROM combination WHERE good;
CREATE FUNCTION values_of(value text) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(value, ', ') FROM used $$;
CREATE FUNCTION columns(form text) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(format(form, 'c' || i, words), ', ' ORDER BY i) FROM used $$;

DO $$ BEGIN EXECUTE format('CREATE TABLE taken (%s)', columns('%s encrypted_text(%s)')); END $$;
CREATE TEMP TABLE way (name text, statements text[], times int);
INSERT INTO way VALUES
  ('statements of one row each',
    ARRAY[format('INSERT INTO taken VALUES (%s)', values_of('''same'''))], 100),
  ('a statement of 100 rows',
    ARRAY['INSERT INTO taken VALUES ' || (SELECT string_agg('(' || values_of('''same''') || ')', ', ') FROM generate_series(1, 100))], 1),
  ('INSERT ... SELECT of a literal',
    ARRAY[format('INSERT INTO taken SELECT %s FROM generate_series(1, 100)', values_of('''same'''))], 1),
  ('INSERT ... SELECT of a typed literal',
    ARRAY[format('INSERT INTO taken SELECT %s FROM generate_series(1, 100)', values_of('encrypted_text ''same'''))], 1),
  ('INSERT ... SELECT of a literal cast to the column''s type',
    ARRAY[format('INSERT INTO taken SELECT %s FROM generate_series(1, 100)', columns('''same''::encrypted_text(%2$s)'))], 1),
  ('INSERT ... SELECT of a literal of the base type',
    ARRAY[format('INSERT INTO taken SELECT %s FROM generate_series(1, 100)', values_of('text ''same'''))], 1),
  ('INSERT ... SELECT from a subquery',
    ARRAY[format('INSERT INTO taken SELECT %s FROM (SELECT text ''same'' AS t FROM generate_series(1, 100) OFFSET 0) s', values_of('t'))], 1),
  ('UPDATE to a literal',
    ARRAY[format('INSERT INTO taken SELECT %s FROM generate_series(1, 100)', values_of('''another''')),
          format('UPDATE taken SET %s', columns('%s = ''same'''))], 1),
  ('ON CONFLICT DO UPDATE',
    ARRAY['TRUNCATE taken', 'ALTER TABLE taken ADD id serial UNIQUE',
          format('INSERT INTO taken SELECT %s FROM generate_series(1, 100)', values_of('''another''')),
          format('INSERT INTO taken SELECT %s, id FROM generate_series(1, 100) id ON CONFLICT (id) DO UPDATE SET %s', values_of('''another'''),
                 columns('%s = ''same''')), 'ALTER TABLE taken DROP id'], 1),
  ('DEFAULT',
    ARRAY['ALTER TABLE taken ' || columns('ALTER %s SET DEFAULT ''same'''), 'INSERT INTO taken DEFAULT VALUES'], 100),
  ('DEFAULT of many rows',
    ARRAY['ALTER TABLE taken ADD id int', 'INSERT INTO taken (id) SELECT generate_series(1, 100)', 'ALTER TABLE taken DROP id',
          'ALTER TABLE taken ' || columns('ALTER %s DROP DEFAULT')], 1),
  ('COPY',
    ARRAY[format('COPY (SELECT %s FROM generate_series(1, 100)) TO %L', values_of('''same'''), current_setting('data_directory') || '/tde_salt_test'),
          format('COPY taken FROM %L', current_setting('data_directory') || '/tde_salt_test'),
          format('COPY (SELECT) TO PROGRAM %L', 'cat >/dev/null; rm ' || current_setting('data_directory') || '/tde_salt_test')], 1),
  ('prepared statement, custom plans',
    ARRAY['SET LOCAL plan_cache_mode = force_custom_plan', format('PREPARE add AS INSERT INTO taken VALUES (%s)', values_of('$1')),
          'DO $do$ BEGIN FOR i IN 1..100 LOOP EXECUTE ''EXECUTE add (''''same'''')''; END LOOP; END $do$', 'DEALLOCATE add'], 1),
  ('prepared statement, generic plan',
    ARRAY['SET LOCAL plan_cache_mode = force_generic_plan', format('PREPARE add AS INSERT INTO taken VALUES (%s)', values_of('$1')),
          'DO $do$ BEGIN FOR i IN 1..100 LOOP EXECUTE ''EXECUTE add (''''same'''')''; END LOOP; END $do$', 'DEALLOCATE add'], 1),
  ('prepared statement of 100 rows',
    ARRAY[format('PREPARE add AS INSERT INTO taken SELECT %s FROM generate_series(1, 100)', values_of('$1')),
          'EXECUTE add (''same'')', 'DEALLOCATE add', 'SET LOCAL plan_cache_mode = auto'], 1),
  ('a literal in a function',
    ARRAY[format('DO $do$ BEGIN FOR i IN 1..100 LOOP INSERT INTO taken VALUES (%s); END LOOP; END $do$', values_of('''same'''))], 1),
  ('a variable of the base type',
    ARRAY[format('DO $do$ DECLARE v text := ''same''; BEGIN FOR i IN 1..100 LOOP INSERT INTO taken VALUES (%s); END LOOP; END $do$',
                 values_of('v'))], 1),
  ('a variable of the encrypted type',
    ARRAY[format('DO $do$ DECLARE v encrypted_text := ''same''; BEGIN FOR i IN 1..100 LOOP INSERT INTO taken VALUES (%s); END LOOP; END $do$',
                 values_of('v'))], 1),
  ('rows from JSON',
    ARRAY[format('INSERT INTO taken SELECT r.* FROM generate_series(1, 100) n,
                  LATERAL json_populate_record(NULL::taken, (%L || repeat('' '', n))::json) r',
                 (SELECT json_object_agg('c' || i, 'same') FROM used))], 1);

CREATE TEMP TABLE seen (way text, words text, salt text, value bytea);
CREATE FUNCTION written(w way) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..array_length(w.statements, 1) - 1 LOOP
    EXECUTE w.statements[i];
  END LOOP;
  FOR i IN 1..w.times LOOP   -- the last one
    EXECUTE w.statements[array_length(w.statements, 1)];
  END LOOP;
  EXECUTE format('INSERT INTO seen SELECT %L, u.words, u.salt, v FROM taken, LATERAL (VALUES %s) AS c (i, v), used u WHERE u.i = c.i',
                 w.name, (SELECT string_agg(format('(%s, stored(c%s))', i, i), ', ') FROM used));
  RETURN NEXT is((SELECT count(*) FROM taken WHERE c1 = 'same'), 100::bigint, w.name || ': 100 rows');
  RETURN NEXT is_empty(format('SELECT words, count(DISTINCT value) FROM seen WHERE way = %L GROUP BY words, salt
                               HAVING count(DISTINCT value) <> CASE salt WHEN ''salt'' THEN 100 ELSE 1 END', w.name),
                       w.name || ': 100 values where salted, and one where not');
  TRUNCATE taken;
END
$$;
SELECT written(w) FROM way w;

-- Over all ways.
SELECT is_empty('SELECT words FROM seen WHERE salt = ''nosalt'' GROUP BY words HAVING count(DISTINCT value) > 1',
                'without salt every way gives the same bytes');
SELECT is_empty('SELECT value FROM seen GROUP BY value HAVING count(DISTINCT words) > 1', 'no two specifications give the same bytes');
-- Two bytes of header, since the key's id is below 128.
SELECT is_empty($$SELECT substr(value, 3, CASE WHEN words LIKE '%ctr' THEN 14 WHEN words LIKE '%3des%' THEN 8 ELSE 16 END) AS salt
                  FROM seen WHERE salt = 'salt' GROUP BY 1 HAVING count(*) > 1$$, 'no salt is used twice');
SELECT cmp_ok((SELECT count(DISTINCT value) FROM seen WHERE salt = 'salt'), '=',
              (SELECT count(*) * 100 FROM way) * (SELECT count(*) FROM used WHERE salt = 'salt'), 'all salted values differ');

-- Each bit of the salts is set about as often as not: with n values, 8 standard deviations are 4 * sqrt(n).
SELECT is_empty($$SELECT bit FROM seen, generate_series(0, 8 * 14 - 1) bit WHERE salt = 'salt' AND words LIKE '%ctr'
                  GROUP BY bit HAVING abs(sum(get_bit(substr(value, 3), bit)) - count(*) / 2.0) > 4 * sqrt(count(*))$$,
                'the salts look random');

-- The other types too.
CREATE FUNCTION of_type(f family) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  words text;
BEGIN
  FOREACH words IN ARRAY ARRAY['aes256,salt,mac', 'aes128,salt,sha256,cbc', 'aes192,nosalt,mac', 'aes256,nosalt,sha256,cbc', 'aes256,salt,gcm', 'aes128,nosalt,gcm'] LOOP
    EXECUTE format('CREATE TABLE typed (a %s(%s))', f.enc, words);
    EXECUTE format('INSERT INTO typed SELECT %L FROM generate_series(1, 100)', (SELECT max(value) FROM sample WHERE base = f.base::text));
    RETURN NEXT is((SELECT count(DISTINCT stored(a)) FROM typed), CASE WHEN words LIKE '%nosalt%' THEN 1 ELSE 100 END::bigint,
                   format('%s(%s)', f.enc, words));
    DROP TABLE typed;
  END LOOP;
END
$$;
SELECT of_type(f) FROM family f ORDER BY name;

SELECT finish();
ROLLBACK;
