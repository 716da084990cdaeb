-- Trigger functions in C, PostgreSQL's own and contrib's, do with encrypted columns what they do with plain ones: on tables that are made so, and
-- on those whose columns are converted.
BEGIN;
SELECT * FROM no_plan();
SET client_min_messages = error;
CREATE EXTENSION refint;
CREATE EXTENSION autoinc;
CREATE EXTENSION insert_username;
CREATE EXTENSION moddatetime;
CREATE EXTENSION lo;
CREATE SEQUENCE plain_numbers;
CREATE SEQUENCE made_numbers;
CREATE SEQUENCE converted_numbers;

-- One table and its trigger for each function; statements of which one may fail.  $ stands for the kind: plain, made, converted.
CREATE TEMP TABLE functions (name text, columns text, triggers text[], statements text[]);
INSERT INTO functions VALUES
  ('tsvector', 'id int, title text, body varchar(50), other text, fts tsvector',
   '{"BEFORE INSERT OR UPDATE ON $_tsvector FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(''fts'', ''pg_catalog.english'', ''title'', ''body'')"}',
   ARRAY['INSERT INTO $_tsvector VALUES (1, ''nice titles'', ''of the bodies'', ''words''), (2, NULL, NULL, NULL), (3, ''ä "ö"'', NULL, NULL)',
         'UPDATE $_tsvector SET other = ''new''', 'UPDATE $_tsvector SET body = ''cats and dogs'', fts = ''x'' WHERE id < 3', 'UPDATE $_tsvector SET title = NULL WHERE id = 1',
         'UPDATE $_tsvector SET fts = ''kept'' WHERE id = 3']),
  ('configured', 'id int, title text, config regconfig, fts tsvector',
   '{"BEFORE INSERT OR UPDATE OF title ON $_configured FOR EACH ROW WHEN (new.title <> ''not this'') EXECUTE FUNCTION tsvector_update_trigger_column(fts, config, title)"}',
   ARRAY['INSERT INTO $_configured VALUES (1, ''the titles'', ''english''), (2, ''the titles'', ''simple''), (3, ''not this'', ''simple'')',
         'INSERT INTO $_configured VALUES (4, ''none'', NULL)', 'UPDATE $_configured SET title = ''dogs''']),
  ('autoinc', 'id int, label text',
   '{"BEFORE INSERT OR UPDATE ON $_autoinc FOR EACH ROW EXECUTE FUNCTION autoinc(''id'', ''$_numbers'')"}',
   ARRAY['INSERT INTO $_autoinc (label) VALUES (''a''), (''b'')', 'INSERT INTO $_autoinc VALUES (77, ''c'')', 'UPDATE $_autoinc SET id = 0 WHERE label = ''a''']),
  ('username', 'id int, label text, who text',
   '{"BEFORE INSERT OR UPDATE ON $_username FOR EACH ROW EXECUTE FUNCTION insert_username(''who'')"}',
   ARRAY['INSERT INTO $_username VALUES (1, ''a'', NULL), (2, ''b'', ''somebody'')', 'UPDATE $_username SET who = NULL']),
  ('moddatetime', 'id int, label text, at timestamptz, local timestamp',
   '{"BEFORE UPDATE ON $_moddatetime FOR EACH ROW EXECUTE FUNCTION moddatetime(''at'')",
     "BEFORE UPDATE ON $_moddatetime FOR EACH ROW EXECUTE FUNCTION moddatetime(''local'')"}',
   ARRAY['INSERT INTO $_moddatetime VALUES (1, ''a'', ''2020-01-01'', ''2020-01-01''), (2, ''b'', ''2020-01-01'', ''2020-01-01'')', 'UPDATE $_moddatetime SET label = ''c'' WHERE id = 1']),
  ('key', 'id int, name text, n int, PRIMARY KEY (name), UNIQUE (n)',
   '{"BEFORE DELETE OR UPDATE ON $_key FOR EACH ROW EXECUTE FUNCTION check_foreign_key(1, ''cascade'', ''name'', ''$_reference'', ''name'')"}',
   ARRAY['INSERT INTO $_key VALUES (1, ''it''''s'', 1), (2, ''n'', 2), (3, ''name'', 3)']),
  ('reference', 'name text, n int',
   '{"BEFORE INSERT ON $_reference FOR EACH ROW EXECUTE FUNCTION check_primary_key(''name'', ''$_key'', ''name'')",
     "BEFORE INSERT ON $_reference FOR EACH ROW EXECUTE FUNCTION check_primary_key(''n'', ''$_key'', ''n'')"}',
   ARRAY['INSERT INTO $_reference VALUES (''it''''s'', 1), (''n'', 2), (''name'', 3)', 'INSERT INTO $_reference VALUES (''none'', 1)', 'INSERT INTO $_reference VALUES (''n'', 4)',
         'UPDATE $_key SET name = ''n, n = 7'' WHERE id = 2', 'DELETE FROM $_key WHERE id = 1']),
  ('lo', 'id int, label text, object lo',
   '{"BEFORE DELETE OR UPDATE ON $_lo FOR EACH ROW EXECUTE FUNCTION lo_manage(object)"}',
   ARRAY['INSERT INTO $_lo VALUES (1, ''a'', lo_create(0)), (2, ''b'', lo_create(0))', 'UPDATE $_lo SET label = ''c'' WHERE id = 1', 'UPDATE $_lo SET object = NULL WHERE id = 1', 'DELETE FROM $_lo']);
-- refint wants it so from PostgreSQL 19 on, and before it does not mind
UPDATE functions SET triggers = replace(triggers::text, 'BEFORE', 'AFTER')::text[] WHERE name IN ('key', 'reference');

CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || regexp_replace(SQLERRM, '(plain|made|converted)', 'this', 'g');
END
$$;
CREATE FUNCTION rows_of(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  f functions;
BEGIN
  FOR f IN SELECT * FROM functions LOOP
    RETURN QUERY EXECUTE format('SELECT %L || to_jsonb(t)::text FROM %s_%s t', f.name, kind, CASE f.name WHEN 'lo' THEN 'lo_kept' ELSE f.name END);
  END LOOP;
END
$$;
CREATE VIEW plain_lo_kept AS SELECT loid IS NOT NULL AS lo FROM pg_largeobject_metadata, LATERAL (SELECT oid AS loid) l;
CREATE VIEW made_lo_kept AS TABLE plain_lo_kept;
CREATE VIEW converted_lo_kept AS TABLE plain_lo_kept;
CREATE FUNCTION set_up(kind text, encrypted boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  f functions;
  t text;
  n int;
BEGIN
  FOR f IN SELECT * FROM functions LOOP
    n := 0;
    EXECUTE format('CREATE TABLE %s_%s (%s)', kind, f.name, CASE WHEN encrypted THEN
      regexp_replace(regexp_replace(f.columns, '\m(text|varchar|timestamptz|timestamp)\M', 'encrypted_\1', 'g'), '\mint\M', 'encrypted_int4', 'g') ELSE f.columns END);
    FOREACH t IN ARRAY f.triggers LOOP
      n := n + 1;
      EXECUTE format('CREATE TRIGGER t%s %s', n, replace(t, '$', kind));
    END LOOP;
  END LOOP;
END
$$;
CREATE FUNCTION run(kind text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT try(replace(statement, '$', kind)) FROM functions CROSS JOIN unnest(statements) WITH ORDINALITY AS s (statement, n)
  ORDER BY name = 'reference', name, n
$$;

DO $$ BEGIN PERFORM set_up('plain', false), set_up('made', true), set_up('converted', false); END $$;
SELECT is(try(format('CALL tde_encrypt_columns(%L)', 'converted_' || name)), 'ok', 'encrypted: ' || name) FROM functions;
CREATE TEMP TABLE before AS SELECT tgrelid::regclass, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid::regclass::text ~ '^plain_';
SELECT is((SELECT count(*)::int FROM pg_attribute WHERE attrelid = 'converted_tsvector'::regclass AND format_type(atttypid, atttypmod) ~ 'encrypted'), 4, 'columns are converted');
CREATE TEMP TABLE expected AS SELECT r, n FROM run('plain') WITH ORDINALITY AS r (r, n);
SELECT results_eq($$SELECT * FROM run('made')$$, 'SELECT r FROM expected ORDER BY n', 'statements on tables made with encrypted columns');
SELECT results_eq($$SELECT * FROM run('converted')$$, 'SELECT r FROM expected ORDER BY n', 'statements on converted tables');
SELECT bag_eq($$SELECT rows_of('made')$$, $$SELECT rows_of('plain')$$, 'rows of tables made with encrypted columns');
SELECT bag_eq($$SELECT rows_of('converted')$$, $$SELECT rows_of('plain')$$, 'rows of converted tables');
SELECT is((SELECT count(*)::int FROM expected WHERE r <> 'ok'), 3, 'some statements failed, of all the same: ' || (SELECT string_agg(r, '; ') FROM expected WHERE r <> 'ok'));

-- Decrypted, they have the triggers that they had.
SELECT is(try(format('CALL tde_decrypt_columns(%L)', 'converted_' || name)), 'ok', 'decrypted: ' || name) FROM functions;
SELECT bag_eq($$SELECT replace(pg_get_triggerdef(oid), 'converted_', 'plain_') FROM pg_trigger WHERE tgrelid::regclass::text ~ '^converted_'$$,
  $$SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid::regclass::text ~ '^plain_'$$, 'decrypted, they call PostgreSQL''s functions again');
SELECT is((SELECT count(*)::int FROM pg_depend WHERE classid = 'pg_trigger'::regclass AND refclassid = 'pg_proc'::regclass
  AND objid IN (SELECT oid FROM pg_trigger WHERE tgrelid = 'converted_tsvector'::regclass)), 0, 'and need nothing of the extension');
SELECT lives_ok($$UPDATE converted_tsvector SET title = 'decrypted now'$$, 'they go on');
SELECT is((SELECT DISTINCT fts @@ 'decrypt' FROM converted_tsvector), true, 'with what is plain');

-- The whole of the trigger stays: as it is enabled, its comment, those of partitions.  One column of two is enough.
CREATE TABLE parted (id int, title text, body text, fts tsvector) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (1) TO (10);
CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (10) TO (20);
CREATE TRIGGER words BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(fts, 'pg_catalog.english', title, body);
COMMENT ON TRIGGER words ON parted IS 'words';
ALTER TABLE part2 DISABLE TRIGGER words;
CREATE FUNCTION triggers_of() RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(concat_ws(' ', tgrelid::regclass, tgfoid::regproc, tgenabled, obj_description(oid, 'pg_trigger')), ', ' ORDER BY tgrelid)
  FROM pg_trigger WHERE tgname = 'words'
$$;
CREATE TEMP TABLE triggers AS SELECT oid FROM pg_trigger WHERE tgname = 'words';
CALL tde_encrypt_columns('parted', '{title,body}');
SELECT is(triggers_of(), 'parted tde_internal.tde_tsvector_update_trigger O words, part1 tde_internal.tde_tsvector_update_trigger O, part2 tde_internal.tde_tsvector_update_trigger D',
  'of a partitioned table');
CALL tde_decrypt_column('parted', 'title');
SELECT alike(triggers_of(), 'parted tde_internal.%', 'one of two is encrypted');
INSERT INTO parted VALUES (1, 'titles', 'bodies'), (11, 'titles', 'bodies');
SELECT is((SELECT string_agg(fts::text, ',') FROM parted), $$'bodi':2 'titl':1$$, 'both are read');
ALTER TABLE parted ALTER body TYPE encrypted_text(aes128);
CALL tde_decrypt_column('parted', 'body');
SELECT is(triggers_of(), 'parted tsvector_update_trigger O words, part1 tsvector_update_trigger O, part2 tsvector_update_trigger D', 'none is');
SELECT set_eq($$SELECT oid FROM pg_trigger WHERE tgname = 'words'$$, 'TABLE triggers', 'they are the same triggers');

-- ALTER TABLE of one's own, and a column that takes the place of another.
ALTER TABLE parted ALTER title TYPE encrypted_text USING title::encrypted_text;
SELECT alike(triggers_of(), 'parted tde_internal.%', 'ALTER TYPE');
ALTER TABLE parted RENAME title TO old; ALTER TABLE parted RENAME body TO title; ALTER TABLE parted RENAME old TO body;
SELECT alike(triggers_of(), 'parted tde_internal.%', 'RENAME');
ALTER TABLE parted DROP body, ADD body text;
CREATE TABLE plain_copy (LIKE parted);
SELECT alike(triggers_of(), 'parted tde_internal.%', 'the new column is encrypted, too');
ALTER TABLE parted DROP body;
SELECT alike(triggers_of(), 'parted tsvector_update_trigger%', 'DROP');

-- The tsvector itself may be encrypted.
DO $$ BEGIN PERFORM tde_create_type('tsvector'); END $$;
CREATE TABLE hidden (id int, title encrypted_text, fts encrypted_tsvector);
CREATE TRIGGER words BEFORE INSERT OR UPDATE ON hidden FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(fts, 'pg_catalog.english', title);
INSERT INTO hidden VALUES (1, 'titles');
SELECT is(fts::tsvector::text, $$'titl':1$$, 'an encrypted tsvector') FROM hidden;
CREATE FUNCTION audited() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT object FROM tde_audit() WHERE topic = 'row capture' AND finding ~ 'words of encrypted columns'
$$;
SELECT set_eq('SELECT audited()', '{public.made_tsvector,public.made_configured}'::text[], 'the audit names columns that hold words in clear');

-- Nobody gets words of what he may not see, nor of its mask.
CREATE ROLE writer;
GRANT ALL ON made_tsvector, made_moddatetime TO writer;
SET tde_column.decrypt_role = 'nobody_at_all';
SET tde_column.decrypt_policy = mask;
SET ROLE writer;
SELECT throws_ok($$UPDATE made_tsvector SET body = 'x'$$, '42501', NULL, 'an error for those who may not decrypt, whatever the policy');
SELECT throws_ok($$UPDATE made_moddatetime SET label = 'x'$$, '42501', NULL, 'also of moddatetime()');
RESET ROLE;
RESET tde_column.decrypt_role;
RESET tde_column.decrypt_policy;
SELECT throws_ok('SELECT tde_internal.tde_tsvector_update_trigger()', NULL, NULL, 'it is called by triggers only');
SELECT * FROM finish();
ROLLBACK;
