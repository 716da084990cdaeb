-- The modifier pad: stored lengths fall onto multiples, and nothing else tells padded values from others.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

CREATE TEMP TABLE kind AS SELECT f.* FROM family f JOIN pg_type t ON t.oid = f.base WHERE t.typlen = -1;
SELECT cmp_ok((SELECT count(*) FROM kind), '>=', 8::bigint, 'there are types whose values have lengths');
-- what a value with gcm has beyond its plaintext, while the number of its key is below 128
CREATE FUNCTION plain_bytes(value bytea, salt text) RETURNS int LANGUAGE sql AS $$ SELECT octet_length(value) - CASE salt WHEN 'salt' THEN 30 ELSE 18 END $$;
CREATE FUNCTION padded(size int, pad int) RETURNS int LANGUAGE sql AS $$ SELECT (size / pad + 1) * pad $$;

--
-- Every type, cipher and several multiples, beside a twin that is not padded and a plain one
--
CREATE FUNCTION twins(k kind, cipher text, salt text, pad int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  words text := format('%s,%s,gcm', cipher, salt);
  what text := format('%s(%s,pad=%s)', k.enc, words, pad);
  text_of text := CASE k.base::text WHEN 'json' THEN '::text' ELSE '' END;   -- json has no operators
  other int := CASE WHEN pad > 1000 THEN 48 ELSE pad * 3 END;
  of_twin text;
  op text;
BEGIN
  EXECUTE format('CREATE TABLE twin (n int, p %1$s, u %2$s(%3$s), a %2$s(%3$s,''pad=%4$s''), b %2$s(%3$s,''pad=%5$s''))', k.plain, k.enc, words, pad, other);
  EXECUTE format('INSERT INTO twin SELECT n, value::%s, value::%1$s, value::%1$s, value::%1$s FROM (SELECT row_number() OVER (ORDER BY length(value)) AS n, value FROM sample WHERE base::regtype = %L::regtype) s',
                 k.plain, k.base);
  RETURN NEXT is_empty(format('SELECT n, octet_length(stored(a)) FROM twin WHERE plain_bytes(stored(a), %1$L) <> padded(plain_bytes(stored(u), %1$L), %2$s)
                               OR plain_bytes(stored(b), %1$L) <> padded(plain_bytes(stored(u), %1$L), %3$s)', salt, pad, other), what || ': lengths');
  RETURN NEXT is_empty('SELECT n FROM twin WHERE a::text IS DISTINCT FROM p::text OR b::text IS DISTINCT FROM p::text', '... the values');
  RETURN NEXT is_empty('SELECT n FROM twin WHERE get_byte(stored(a), 0) = get_byte(stored(u), 0)', '... say that they are padded');
  EXECUTE 'INSERT INTO twin SELECT n, p, u, a, b FROM twin; UPDATE twin SET a = p WHERE ctid IN (SELECT max(ctid) FROM twin GROUP BY n)';
  RETURN NEXT is_empty(format('SELECT n FROM twin GROUP BY n HAVING count(DISTINCT stored(a)) <> %s', CASE salt WHEN 'salt' THEN 2 ELSE 1 END),
                       '... ' || CASE salt WHEN 'salt' THEN 'are encrypted anew each time' ELSE 'are the same again' END);
  FOREACH op IN ARRAY CASE k.base::text WHEN 'json' THEN '{=,<>}' ELSE '{=,<>,<,<=,>,>=}' END::text[] LOOP
    FOREACH of_twin IN ARRAY '{a,b,u,p}'::text[] LOOP
      RETURN NEXT is_empty(format('SELECT x.n, y.n FROM twin x, twin y WHERE (x.a%s %s y.%s%1$s) IS DISTINCT FROM (x.p%1$s %2$s y.p%1$s) OR (x.%3$s%1$s %2$s y.a%1$s) IS DISTINCT FROM (x.p%1$s %2$s y.p%1$s)', text_of, op, of_twin),
                           format('... %s of the column and %s', op, of_twin));
    END LOOP;
  END LOOP;
  DROP TABLE twin;
END
$$;
SELECT twins(k, cipher, salt, pad) FROM kind k, (VALUES ('aes128', 'salt', 16), ('aes192', 'salt', 4096), ('aes256', 'salt', 2), ('aes128', 'nosalt', 7), ('aes192', 'nosalt', 16), ('aes256', 'nosalt', 100)) v (cipher, salt, pad)
ORDER BY name, cipher, salt;

-- What never has a length to be hidden.
SELECT is(complaint(format('CREATE TABLE refused (a %s(''pad=16''))', enc)),
          format('0A000 type %s cannot be padded [All values of type %s have the same length.]', enc, base), format('%s is not padded', enc))
FROM family f JOIN pg_type t ON t.oid = f.base WHERE t.typlen <> -1 ORDER BY enc;

-- A constant is encrypted once, to the size in which most rows can equal it, whatever rows come first.
CREATE TABLE met (id int, v text, a encrypted_text(nosalt,'pad=16'), n numeric, b encrypted_numeric(nosalt,'pad=4'));
CREATE FUNCTION found(condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  direction text;
BEGIN
  FOREACH direction IN ARRAY '{id,id DESC,hashint4(id)}'::text[] LOOP
    EXECUTE 'TRUNCATE met; INSERT INTO met SELECT i, v, v, n, n FROM generate_series(0, 99) i, repeat(''x'', i) v, LATERAL (SELECT (i % 10)::numeric / 10 ^ (i % 3)::numeric AS n) s ORDER BY ' || replace(direction, 'id', 'i');
    RETURN NEXT results_eq(format('SELECT id FROM met WHERE %s ORDER BY 1', replace(replace(condition, 'V', 'a'), 'N', 'b')),
                           format('SELECT id FROM met WHERE %s ORDER BY 1', replace(replace(condition, 'V', 'v'), 'N', 'n')), format('%s, rows by %s', condition, direction));
  END LOOP;
END
$$;
SELECT found(format('V %s repeat(''x'', %s)', op, n)) FROM unnest('{=,<>}'::text[]) op, unnest('{0,1,14,15,16,17,31,32,47,48,64,98,99,100,500}'::int[]) n;
SELECT found(format('V %s %L', op, repeat('x', n))) FROM unnest('{=,<>}'::text[]) op, unnest('{0,15,16,17,48,99,100}'::int[]) n;
SELECT found(format('N %s %s', op, n)) FROM unnest('{=,<>}'::text[]) op, unnest('{0,0.00,1.0,0.1,0.100,7,1e200}'::text[]) n;

--
-- To the longest value
--
CREATE TABLE alike (v encrypted_varchar(10,'pad=max'), c encrypted_bpchar(5,nosalt,'pad=max'), n encrypted_numeric(12,2,'pad=max'), s encrypted_varchar(3,'pad=max'));
INSERT INTO alike SELECT repeat(c, i), left(repeat(c, i), 5), n, left(repeat(c, i), 3) FROM unnest('{x,é,世,🌍}'::text[]) c, generate_series(0, 10) i, unnest('{0,0.01,-9999999999.99,9999999999.99,NaN,1000}'::numeric[]) n;
SELECT is(min(octet_length(stored(v))), 30 + 41, 'varchar(10): four bytes for each character, and one') FROM alike;
SELECT is(min(octet_length(stored(s))), 30 + 13, 'varchar(3)') FROM alike;
SELECT ok(count(DISTINCT octet_length(stored(v))) = 1 AND count(DISTINCT octet_length(stored(c))) = 1 AND count(DISTINCT octet_length(stored(n))) = 1 AND count(DISTINCT octet_length(stored(s))) = 1,
          'all values have one length') FROM alike;
SELECT is_empty('SELECT FROM alike a, alike b WHERE (a.c = b.c) <> (stored(a.c) = stored(b.c))', 'unsalted ones tell which are equal');
SELECT is(complaint('CREATE TABLE refused (a ' || declaration || ')'), '22023 type ' || enc || ' cannot be padded to its longest value [The declaration does not limit its length.]', declaration || ' has no longest value')
FROM (VALUES ('encrypted_text', 'encrypted_text(''pad=max'')'), ('encrypted_varchar', 'encrypted_varchar(''pad=max'')'), ('encrypted_numeric', 'encrypted_numeric(''pad=max'')'),
             ('encrypted_bytea', 'encrypted_bytea(''pad=max'')'), ('encrypted_jsonb', 'encrypted_jsonb(''pad=max'')')) v (enc, declaration);
SELECT is(octet_length(stored(repeat('世', 6)::encrypted_varchar(8,'pad=max'))), 30 + 33, 'a cast');

--
-- Modifiers
--
SELECT is(complaint(format('CREATE TABLE refused (a encrypted_text(%s))', words)), '22023 invalid modifiers for type encrypted_text [' || detail || ']', words)
FROM (VALUES ('sha256,''pad=16''', 'Only values with gcm can be padded.'), ('mac,''pad=16''', 'Only values with gcm can be padded.'), ('nomac,''pad=16''', 'Only values with gcm can be padded.'),
             ('cbc,''pad=16''', 'Only values with gcm can be padded.'), ('cbc,gcm,''pad=16''', 'GCM is a mode of its own, which cbc contradicts.'), ('''3des168'',''pad=16''', 'Only values with gcm can be padded.'),
             ('''pad=16'',''PAD=16''', 'Padding is named more than once.'), ('''pad=0'',''pad=16''', 'Padding is named more than once.')) v (words, detail)
UNION ALL
SELECT is(complaint(format('CREATE TABLE refused (a encrypted_text(''pad=%s''))', pad)), '22023 invalid modifiers for type encrypted_text [Values are padded to a multiple of 2 to 4096 bytes, or to "max".]', 'pad=' || pad)
FROM unnest('{"",1,01,4097,-16,+16," 16",16x,0x10,99999999999999999999,maximum}'::text[]) pad;
CREATE FUNCTION declared(declaration text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  printed text;
BEGIN
  EXECUTE format('CREATE TEMP TABLE declaration (a %s)', declaration);
  SELECT format_type(atttypid, atttypmod) INTO printed FROM pg_attribute WHERE attrelid = 'declaration'::regclass AND attname = 'a';
  DROP TABLE declaration;
  RETURN printed;
END
$$;
SELECT tde_create_key('padded');
SELECT is(declared(d), p, d) FROM (VALUES
  ('encrypted_text(''pad=16'')', 'encrypted_text(aes256,salt,gcm,''pad=16'')'), ('encrypted_text(aes128,ctr,gcm,nosalt,''PAD=4096'')', 'encrypted_text(aes128,nosalt,gcm,''pad=4096'')'),
  ('encrypted_text(''pad=2'',''key=padded'')', 'encrypted_text(aes256,salt,gcm,''pad=2'',''key=padded'')'), ('encrypted_text(''pad=0'')', 'encrypted_text(aes256,salt,gcm)'),
  ('encrypted_varchar(34,''pad=MAX'',unordered)', 'encrypted_varchar(34,aes256,salt,gcm,unordered,''pad=max'')'), ('encrypted_numeric(12,2,''pad=016'')', 'encrypted_numeric(12,2,aes256,salt,gcm,''pad=16'')'),
  ('encrypted_bytea(sha256,''pad=0'')', 'encrypted_bytea(aes256,salt,sha256)')) v (d, p);
SELECT is(declared(p), p, p || ' reads back') FROM kind k, unnest('{aes128,aes192,aes256}'::text[]) cipher, unnest('{salt,nosalt}'::text[]) salt, unnest('{"","unordered,"}'::text[]) o, unnest('{2,16,4096}'::text[]) pad,
  unnest('{"",",''key=padded''"}'::text[]) key, format('%s(%s,%s,gcm,%s''pad=%s''%s)', k.enc, cipher, salt, o, pad, key) p
WHERE k.base::text <> 'json' OR o = '';
SET LOCAL tde_column.default_spec = 'aes128,nosalt,gcm,pad=24';
SELECT is(declared(d), p, d || ' by default') FROM (VALUES
  ('encrypted_text', 'encrypted_text(aes128,nosalt,gcm,''pad=24'')'), ('encrypted_int4', 'encrypted_int4(aes128,nosalt,gcm)'), ('encrypted_text(''pad=0'')', 'encrypted_text(aes128,nosalt,gcm)'),
  ('encrypted_text(''pad=8'')', 'encrypted_text(aes128,nosalt,gcm,''pad=8'')'), ('encrypted_text(unordered)', 'encrypted_text(aes128,nosalt,gcm,unordered,''pad=24'')'),
  ('encrypted_text(salt)', 'encrypted_text(aes128,salt,gcm)'), ('encrypted_varchar(5,''key=padded'')', 'encrypted_varchar(5,aes128,nosalt,gcm,''pad=24'',''key=padded'')'),
  ('encrypted_varchar(5,''pad=max'')', 'encrypted_varchar(5,aes128,nosalt,gcm,''pad=max'')')) v (d, p);
RESET tde_column.default_spec;
SELECT is(complaint('SET LOCAL tde_column.default_spec = ''aes256,salt,gcm,pad=max'''),
          '22023 invalid value for parameter "tde_column.default_spec": "aes256,salt,gcm,pad=max" [The default declares no length that "pad=max" could be of.]', 'no default has a longest value');

--
-- The ways to another column
--
CREATE TABLE source (n int, a encrypted_text('pad=16'), u encrypted_text, z encrypted_text(nosalt,'pad=64'));
INSERT INTO source SELECT i, v, v, v FROM generate_series(0, 70) i, repeat('é', i) v;
CREATE FUNCTION is_padded(target text, size int, salt text DEFAULT 'salt') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN is_empty(format('SELECT n FROM %s WHERE a::text <> repeat(''é'', n) OR plain_bytes(stored(a), %L) <> %s', target, salt,
                         CASE size WHEN 0 THEN '2 * n' ELSE format('padded(2 * n, %s)', size) END), format('%s: %s', target, CASE size WHEN 0 THEN 'not padded' ELSE 'padded to ' || size END));
END
$$;
SELECT is_padded('source', 16);
CREATE TABLE s16 (n int, a encrypted_text('pad=16')); CREATE TABLE s32 (n int, a encrypted_text('pad=32')); CREATE TABLE s0 (n int, a encrypted_text);
CREATE TABLE n16 (n int, a encrypted_text(nosalt,'pad=16')); CREATE TABLE n48 (n int, a encrypted_text(nosalt,'pad=48')); CREATE TABLE key16 (n int, a encrypted_text('pad=16','key=padded'));
CREATE FUNCTION arrive(column_of text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  target record;
BEGIN
  FOR target IN SELECT * FROM (VALUES ('s16', 16, 'salt'), ('s32', 32, 'salt'), ('s0', 0, 'salt'), ('n16', 16, 'nosalt'), ('n48', 48, 'nosalt'), ('key16', 16, 'salt')) v (name, size, salt) LOOP
    EXECUTE format('TRUNCATE %s; INSERT INTO %1$s SELECT n, %s FROM source s', target.name, column_of);
    RETURN NEXT is_padded(target.name, target.size, target.salt) || ' from ' || column_of;
    EXECUTE format('UPDATE %s t SET a = NULL; UPDATE %1$s t SET a = (SELECT %s FROM source s WHERE s.n = t.n)', target.name, column_of);
    RETURN NEXT is_padded(target.name, target.size, target.salt) || ' by UPDATE';
  END LOOP;
END
$$;
SELECT arrive(c) FROM unnest(ARRAY['a', 'u', 'z', 'a::text', '(ARRAY[z])[1]', 'coalesce(a, z)', '(SELECT max(z) FROM source m WHERE m.n = s.n)', 'repeat(''é'', n)', 'z::encrypted_varchar(100)']) c;
TRUNCATE n16; INSERT INTO n16 SELECT n, z FROM source; INSERT INTO n16 SELECT n, a::text FROM source;
SELECT is((SELECT count(DISTINCT stored(a)) FROM n16), 71::bigint, 'values of another multiple become the same as the column''s');

CREATE TABLE made AS SELECT n, a FROM source; SELECT is_padded('made', 16);
CREATE TABLE liked (LIKE source INCLUDING ALL); INSERT INTO liked (n, a) SELECT n, u FROM source; SELECT is_padded('liked', 16);
CREATE DOMAIN padded_text AS encrypted_text('pad=32'); CREATE TABLE domained (n int, a padded_text); INSERT INTO domained SELECT n, a FROM source; SELECT is_padded('domained', 32);
CREATE TYPE pair AS (n int, a encrypted_text(nosalt,'pad=32')); CREATE TABLE composed (p pair); INSERT INTO composed SELECT ROW(n, a)::pair FROM source;
CREATE VIEW parts AS SELECT (p).n, (p).a FROM composed; SELECT is_padded('parts', 32, 'nosalt');
CREATE TABLE arrayed (n int, a encrypted_text('pad=32')[]); INSERT INTO arrayed SELECT n, ARRAY[a, repeat('é', n)] FROM source; INSERT INTO arrayed SELECT n, ARRAY[repeat('é', n)] FROM source;
CREATE VIEW elements AS SELECT n, e AS a FROM arrayed, unnest(a) e; SELECT is_padded('elements', 32);
CREATE TABLE defaulted (n int, a encrypted_text('pad=32') DEFAULT 'éé'); INSERT INTO defaulted VALUES (2); INSERT INTO defaulted VALUES (2, DEFAULT); SELECT is_padded('defaulted', 32);
CREATE TABLE triggered (n int, a encrypted_text('pad=32'));
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE v encrypted_text := repeat('é', NEW.n); BEGIN NEW.a := v; RETURN NEW; END $$;
CREATE TRIGGER fill BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION fill(); INSERT INTO triggered SELECT generate_series(0, 70); SELECT is_padded('triggered', 32);

--
-- ALTER TABLE, both ways
--
CREATE TABLE altered (n int, a encrypted_text(nosalt)); INSERT INTO altered SELECT n, a FROM source; CREATE UNIQUE INDEX altered_i ON altered (a); CREATE INDEX altered_h ON altered USING hash (a);
CREATE FUNCTION alter_to(words text, size int, salt text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE altered ALTER a TYPE encrypted_text(%s)', words);
  RETURN NEXT is_padded('altered', size, salt) || ' after ALTER TYPE to ' || words;
  SET LOCAL enable_seqscan = off;
  RETURN NEXT results_eq('SELECT n FROM altered WHERE a = repeat(''é'', 37)', 'VALUES (37)', '... found by its index');
  SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off;
  RETURN NEXT results_eq('SELECT n FROM altered WHERE a = repeat(''é'', 37)', 'VALUES (37)', '... and without it');
  RESET enable_seqscan; RESET enable_indexscan; RESET enable_indexonlyscan; RESET enable_bitmapscan;
  RETURN NEXT throws_ok('INSERT INTO altered VALUES (1, repeat(''é'', 37))', '23505', NULL, '... unique');
END
$$;
SELECT alter_to(words, size, salt) FROM (VALUES (1, 'nosalt,gcm,''pad=16''', 16, 'nosalt'), (2, 'nosalt,gcm,''pad=48''', 48, 'nosalt'), (3, 'nosalt,gcm,''pad=24''', 24, 'nosalt'), (4, 'salt,gcm,''pad=96''', 96, 'salt'),
  (5, 'salt,gcm,''pad=32''', 32, 'salt'), (6, 'salt,gcm,''pad=32'',unordered', 32, 'salt'), (7, 'salt,gcm', 0, 'salt'), (8, 'nosalt,gcm,''pad=2''', 2, 'nosalt'), (9, 'nosalt,gcm', 0, 'nosalt')) v (i, words, size, salt) ORDER BY i;
CREATE TABLE longer (n int, a encrypted_varchar(100,aes256,salt,gcm,'pad=max')); INSERT INTO longer SELECT n, a FROM source;
ALTER TABLE longer ALTER a TYPE encrypted_varchar(80,aes256,salt,gcm,'pad=max'); SELECT is_padded('longer', 321);
ALTER TABLE longer ALTER a TYPE encrypted_varchar(90,aes256,salt,gcm,'pad=max'); SELECT is_padded('longer', 361);
ALTER TABLE longer ALTER a TYPE varchar(95); SELECT is_padded('longer', 381);
ALTER TABLE longer ALTER a TYPE text; SELECT is_padded('longer', 381);
SELECT is(format_type(atttypid, atttypmod), 'encrypted_text(aes256,salt,gcm,''pad=381'')', 'a plain type keeps the padding') FROM pg_attribute WHERE attrelid = 'longer'::regclass AND attname = 'a';
CREATE TABLE wider (n int, a encrypted_varchar(100,aes256,salt,gcm,'pad=16')); INSERT INTO wider SELECT n, a FROM source; CREATE TEMP TABLE file AS SELECT pg_relation_filenode('wider') AS before;
ALTER TABLE wider ALTER a TYPE encrypted_varchar(200,aes256,salt,gcm,'pad=16');
SELECT is(before, pg_relation_filenode('wider'), 'a wider column of the same padding is not written anew') FROM file; SELECT is_padded('wider', 16);

--
-- What is kept elsewhere
--
-- statistics: of a value that is often there, and of bounds
CREATE FUNCTION stored_array(anyarray) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE counted (a encrypted_text('pad=512'), b encrypted_text(nosalt,'pad=512')); INSERT INTO counted SELECT v, v FROM generate_series(1, 3000) i, LATERAL (SELECT CASE WHEN i % 2 = 0 THEN 'often' ELSE repeat('x', i % 7) || i END AS v) s; ANALYZE counted;
SELECT cmp_ok(octet_length(stored_array(stavalues)), '>=', (512 + 28) * array_length(stavalues, 1), format('statistics %s of column %s', kind, staattnum))
FROM pg_statistic, LATERAL (VALUES (stakind1, stavalues1), (stakind2, stavalues2)) s (kind, stavalues) WHERE starelid = 'counted'::regclass AND kind IN (1, 2);
-- results of functions in indexes
CREATE INDEX source_lower ON source (lower(a)); CREATE INDEX source_upper ON source (upper(z));
SELECT matches(pg_get_indexdef('source_lower'::regclass), $$NULL::encrypted_text\(aes256,nosalt,gcm,'pad=16'\)$$, 'what an index holds of an expression is padded as the column is');
SET LOCAL enable_seqscan = off;
SELECT results_eq('SELECT n FROM source WHERE lower(a) = repeat(''é'', 44)', 'VALUES (44)', '... found by it');
SELECT results_eq('SELECT n FROM source WHERE upper(z) = upper(repeat(''é'', 44))', 'VALUES (44)', '... of the other column');
RESET enable_seqscan;
CREATE TABLE generated (n int, b encrypted_varchar(100,'pad=max'), a encrypted_text(nosalt,'pad=128') GENERATED ALWAYS AS (lower(b)) STORED);
INSERT INTO generated (n, b) SELECT n, upper(a) FROM source; SELECT is_padded('generated', 128, 'nosalt');
-- compressed values are padded after that
SET LOCAL tde_column.compression = pglz;
CREATE TABLE compressed (n int, a encrypted_text('pad=512'), b encrypted_text(nosalt,'pad=512'), z encrypted_text('pad=1024'), u encrypted_text);
INSERT INTO compressed SELECT n, v, v, v, v FROM generate_series(1, 30) i, LATERAL (SELECT i * 1000 AS n, repeat('compressed', i * 100) AS v) s;
SELECT is_empty('SELECT n FROM compressed WHERE a::text <> b::text OR a::text <> repeat(''compressed'', n / 10) OR z <> a', 'compressed values');
SELECT is_empty('SELECT n FROM compressed WHERE plain_bytes(stored(a), ''salt'') <> padded(plain_bytes(stored(u), ''salt''), 512) OR plain_bytes(stored(z), ''salt'') <> padded(plain_bytes(stored(u), ''salt''), 1024) OR plain_bytes(stored(b), ''nosalt'') <> padded(n, 512)', '... have the lengths of what they are compressed to');
UPDATE compressed SET a = z; SELECT is_empty('SELECT n FROM compressed WHERE plain_bytes(stored(a), ''salt'') <> padded(plain_bytes(stored(u), ''salt''), 512) OR a <> b', '... copied, too');
RESET tde_column.compression;
-- values out of line
CREATE TABLE large (n int, a encrypted_text('pad=4096'), b encrypted_bytea(nosalt,'pad=1000')); INSERT INTO large SELECT i, repeat('x', i), repeat('y', i)::bytea FROM unnest('{0,4095,4096,50000,1000000}'::int[]) i;
SELECT is_empty('SELECT n FROM large WHERE plain_bytes(stored(a), ''salt'') <> padded(n, 4096) OR plain_bytes(stored(b), ''nosalt'') <> padded(n, 1000) OR length(a) <> n OR length(b) <> n OR substr(a, n - 2, 9) <> left(repeat(''x'', n), 3)', 'values out of line');
SELECT is(count(*), 1::bigint, '... found by a constant') FROM large WHERE b = repeat('y', 4096)::bytea;
-- everything that looks at values
CREATE TABLE many (id int, v text, a encrypted_text(nosalt,'pad=16'), b encrypted_text('pad=100')); INSERT INTO many SELECT i, v, v, v FROM generate_series(1, 500) i, LATERAL (SELECT left(md5((i % 50)::text), i % 33) AS v) s;
SELECT results_eq(replace(q, '@', c), replace(q, '@', 'v'), replace(q, '@', c)) FROM unnest('{a,b}'::text[]) c, unnest(ARRAY[
  'SELECT count(DISTINCT @), min(@)::text, max(@)::text, string_agg(@, '','' ORDER BY @, id) FROM many', 'SELECT @::text, count(*) FROM many GROUP BY @ ORDER BY 1', 'SELECT id FROM many ORDER BY @, id',
  'SELECT count(*) FROM many x JOIN many y USING (@)', 'SELECT id FROM many WHERE @ LIKE ''a%'' ORDER BY 1', 'SELECT sum(length(@)), sum(octet_length(@)) FROM many',
  'SELECT (array_agg(@ ORDER BY id))[7]::text FROM many', 'SELECT id, rank() OVER (ORDER BY @) FROM many ORDER BY 1', 'SELECT id FROM many WHERE @ IN (SELECT @ FROM many WHERE id < 9) ORDER BY 1',
  'SELECT to_jsonb(@) FROM many ORDER BY id', 'SELECT id FROM many WHERE @ < ''8'' ORDER BY 1', 'SELECT @::text FROM many EXCEPT SELECT @::text FROM many WHERE id < 20 ORDER BY 1']) q;
SELECT is(count(*), (SELECT count(*) FROM many x JOIN many y USING (v)), 'joins of columns of different padding') FROM many x JOIN many y ON x.a = y.b;
CREATE TABLE parted (a encrypted_text(nosalt,'pad=16')) PARTITION BY HASH (a); CREATE TABLE part0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE part1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT b FROM many; SELECT is((SELECT count(*) FROM parted WHERE a = left(md5('7'), 7)), (SELECT count(*) FROM many WHERE v = left(md5('7'), 7)), 'hash partitions');
CREATE TABLE referenced (a encrypted_text(nosalt,'pad=16') PRIMARY KEY); CREATE TABLE referencing (a encrypted_text(nosalt,'pad=64') REFERENCES referenced, b encrypted_text REFERENCES referenced);
INSERT INTO referenced SELECT DISTINCT v FROM many; INSERT INTO referencing SELECT v, v FROM many; SELECT throws_ok('INSERT INTO referencing VALUES (''none'')', '23503', NULL, 'foreign keys between columns of different padding');
SELECT lives_ok('INSERT INTO referenced VALUES (left(md5(''7''), 7)) ON CONFLICT DO NOTHING', 'ON CONFLICT');

--
-- Forged: padding is authentic
--
CREATE TEMP TABLE padded_value AS SELECT k.name, salt, NULL::bytea AS padded, NULL::bytea AS unpadded FROM kind k, unnest('{salt,nosalt}'::text[]) salt;
DO $$
DECLARE
  v record;
BEGIN
  FOR v IN SELECT p.*, k.enc, k.plain, (SELECT max(value) FROM sample WHERE base::regtype = k.base AND length(value) < 40) AS value FROM padded_value p JOIN kind k USING (name) LOOP
    EXECUTE format('UPDATE padded_value SET padded = stored(%L::%s::%s(%s,''pad=32'')), unpadded = stored(%1$L::%2$s::%3$s(%4$s)) WHERE name = %5$L AND salt = %4$L', v.value, v.plain, v.enc, v.salt, v.name);
    EXECUTE format($f$CREATE OR REPLACE FUNCTION verdict_%s(bytes bytea) RETURNS text LANGUAGE plpgsql AS $body$
      BEGIN PERFORM tde_internal.%I(%I(bytes)); RETURN NULL; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $body$ $f$, v.name, v.name || '_out', 'forged_' || v.name);
  END LOOP;
END
$$;
CREATE FUNCTION verdict(name text, bytes bytea) RETURNS text LANGUAGE plpgsql AS $$ DECLARE v text; BEGIN EXECUTE format('SELECT verdict_%s($1)', name) INTO v USING bytes; RETURN v; END $$;
CREATE FUNCTION relabelled(bytes bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT set_byte(bytes, 0, get_byte(bytes, 0) # 132) $$;   -- mode and parity
SELECT ok(bool_and(verdict(name, padded) IS NULL AND verdict(name, unpadded) IS NULL), 'the values themselves') FROM padded_value;
SELECT ok(bool_and(verdict(name, relabelled(padded)) = 'TDE04'), 'padding cannot be denied, to be shown as a part of the value') FROM padded_value;
SELECT ok(bool_and(verdict(name, relabelled(unpadded)) = 'TDE04'), 'nor claimed') FROM padded_value;
SELECT ok(bool_and(verdict(name, set_bit(padded, bit, 1 - get_bit(padded, bit))) IN ('TDE04', CASE WHEN bit BETWEEN 8 AND 15 THEN 'TDE03' END)), 'no bit can be changed') FROM padded_value, LATERAL generate_series(0, 8 * octet_length(padded) - 1) bit;
SELECT ok(bool_and(verdict(name, substr(padded, 1, octet_length(padded) - n)) = 'TDE04' AND verdict(name, padded || substr(padded, 1, n)) = 'TDE04'), 'nor a byte of padding be taken away or added') FROM padded_value, generate_series(1, 40) n;

SELECT * FROM finish();
ROLLBACK;
