-- A value of one encrypted type in the place of another: through a cast WITHOUT FUNCTION, which a superuser can make, or in a
-- column whose type was changed in pg_attribute.  With a MAC it is refused before any function of the base type sees a byte
-- of it; without one it decrypts to garbage under another key, which harms nothing.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
SET LOCAL statement_timeout = '600s';

CREATE TEMP TABLE spec (n int, words text);
INSERT INTO spec VALUES (1, 'aes256,salt,mac'), (2, 'aes128,nosalt,sha256'), (1, 'aes128,salt,nomac'), (2, 'aes192,nosalt,nomac,cbc'), (1, 'aes256,nosalt,gcm'), (2, 'aes256,salt,gcm');

-- What reaches the base type's functions with the values e of a table c; columns plain and id are its others.
CREATE FUNCTION deeds(f family) RETURNS TABLE (deed text) LANGUAGE sql AS $$
  SELECT format(d, f.enc, f.plain) FROM unnest(ARRAY['SELECT e::%2$s FROM c', 'SELECT e::text FROM c', 'SELECT tde_internal.%1$s_send(e) FROM c', 'SELECT format(''%%s'', e) FROM c',
    'SELECT e::%1$s(aes192,cbc) FROM c', 'SELECT ROW(e)::text FROM c']) d
  UNION ALL
  SELECT format(d, f.plain) FROM unnest(ARRAY['SELECT e = e FROM c', 'SELECT e = plain FROM c', 'SELECT e < e FROM c', 'SELECT e >= plain FROM c', 'SELECT tde_internal.tde_cmp(e, e) FROM c',
    'SELECT tde_internal.tde_hash(e) FROM c', 'SELECT tde_internal.tde_hash_extended(e, 1) FROM c', 'SELECT e FROM c, generate_series(1, 3) ORDER BY e', 'SELECT DISTINCT e FROM c, generate_series(1, 3)',
    'SELECT count(DISTINCT e) FROM c, generate_series(1, 3)', 'SELECT count(*) FROM c a JOIN c b USING (e)', 'SELECT id FROM c WHERE e IN (plain, plain)']) d
  WHERE f.base <> 'json'::regtype
$$;
CREATE FUNCTION outcomes(target family, words text) RETURNS TABLE (deed text, outcome text) LANGUAGE plpgsql AS $$
BEGIN
  FOR deed IN SELECT d.deed FROM deeds(target) d LOOP
    outcome := coalesce(complaint(deed), 'done');
    RETURN NEXT;
  END LOOP;
END
$$;

-- A table c whose column e is said to be of one type and is of another.
CREATE FUNCTION make_confused(source family, target family, words text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  value text := (SELECT max(value) FROM sample WHERE base = source.base::text AND length(value) < 60);
BEGIN
  EXECUTE format('CREATE TABLE c (id int, plain %s, e %s(%s))', target.plain, source.enc, words);
  EXECUTE format('INSERT INTO c VALUES (1, %L, %L)', (SELECT max(v.value) FROM sample v WHERE base = target.base::text AND length(v.value) < 60), value);
  EXECUTE format('SELECT e::%s FROM c', source.plain);   -- what was decrypted as one type must not be had as another from memory
  UPDATE pg_attribute SET atttypid = target.enc,
    atttypmod = (SELECT typmod_of(target.enc, words)), attcollation = (SELECT typcollation FROM pg_type WHERE oid = target.enc)
  WHERE attrelid = 'c'::regclass AND attname = 'e';
END
$$;
CREATE FUNCTION typmod_of(type regtype, words text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  result int;
BEGIN
  EXECUTE format('SELECT tde_internal.%I(%L::cstring[])', (SELECT typname FROM pg_type WHERE oid = type) || '_typmod_in', string_to_array(replace(words, '''', ''), ',')) INTO result;
  RETURN result;
END
$$;

CREATE TEMP TABLE outcome (source text, target text, words text, deed text, outcome text);
CREATE FUNCTION confuse(source family, target family, words text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM make_confused(source, target, words);
  INSERT INTO outcome SELECT source.name, target.name, words, o.* FROM outcomes(target, words) o;
  DROP TABLE c;
END
$$;
-- each pair with a MAC and without, by turns in either of two specifications
CREATE TEMP VIEW numbered AS SELECT f, row_number() OVER (ORDER BY name) AS n FROM family f;
SELECT count(confuse(s.f, t.f, words)) FROM numbered s, numbered t, spec p
WHERE s.n <> t.n AND (words !~ 'nomac' OR (s.f).nomac AND (t.f).nomac) AND (s.n + t.n + p.n) % 2 = 0 \g /dev/null
-- the test itself: nothing is wrong with a value of the right type
SELECT count(confuse(f, f, words)) FROM family f, spec WHERE words !~ 'nomac' OR f.nomac \g /dev/null

SELECT is_empty('SELECT DISTINCT target, deed, outcome FROM outcome WHERE source = target AND outcome <> ''done''', 'values of their own type are had');
SELECT cmp_ok((SELECT count(*) FROM outcome WHERE source <> target), '>', 5000::bigint, 'types are confused');
-- a value is equal to itself by its bytes, where keys are at hand: no function of the base type is asked
SELECT is_empty('SELECT source, target, words, deed, outcome FROM outcome WHERE source <> target AND words !~ ''nomac''
                   AND (deed <> ''SELECT e = e FROM c'' OR outcome <> ''done'')
                   AND outcome <> ''TDE04 could not authenticate encrypted value [The stored bytes were changed, or were not made under their key for this type.]''',
                'with a MAC the value of another type is refused');
SELECT is_empty('SELECT source, target, words, deed, outcome FROM outcome WHERE source <> target AND words ~ ''nomac'' AND outcome ~ ''^XX''',
                'without a MAC no function meets what cannot be');
SELECT cmp_ok((SELECT count(*) FROM outcome WHERE source <> target AND words ~ 'nomac' AND outcome = 'done'), '>', 100::bigint, 'some garbage is a value');

--
-- Casts WITHOUT FUNCTION
--
CREATE CAST (encrypted_uuid AS encrypted_json) WITHOUT FUNCTION;
CREATE CAST (encrypted_interval AS encrypted_uuid) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (encrypted_bool AS encrypted_inet) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bytea AS encrypted_jsonb) WITHOUT FUNCTION;
CREATE CAST (encrypted_inet AS bytea) WITHOUT FUNCTION;
CREATE TABLE lied (u encrypted_uuid, b encrypted_interval, o encrypted_bool, i encrypted_inet, p bytea);
INSERT INTO lied VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '1 day', true, '10.0.0.1', '\x00');
\set refused '\'TDE04 could not authenticate encrypted value [The stored bytes were changed, or were not made under their key for this type.]\''
SELECT is(complaint(statement), :refused, statement) FROM unnest(ARRAY[
  'SELECT u::encrypted_json::text FROM lied', 'SELECT json_typeof(u::encrypted_json) FROM lied', 'SELECT b::encrypted_uuid::text FROM lied', 'SELECT b = u FROM lied', 'SELECT u = b FROM lied',
  'SELECT uuid_send(b::encrypted_uuid) FROM lied', 'INSERT INTO lied (i) SELECT o FROM lied RETURNING host(i)', 'SELECT host(o::encrypted_inet) FROM lied',
  'SELECT p::encrypted_jsonb -> ''a'' FROM lied', 'SELECT convert_to(''\x00'', ''UTF8'')::encrypted_jsonb::text', 'SELECT ''''::bytea::encrypted_jsonb::text', 'SELECT i::bytea::encrypted_jsonb::text FROM lied']) statement;
SELECT is((SELECT host(i) FROM lied WHERE i IS NOT NULL), '10.0.0.1', 'other values are had');
SELECT isnt(stored(i), NULL, 'a superuser sees the stored bytes') FROM lied;

SELECT finish();
ROLLBACK;
