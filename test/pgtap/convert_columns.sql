-- tde_encrypt_columns(), tde_decrypt_columns(): one rewrite of a table converts several columns with what depends on more than one of them,
-- and back; what cannot be converted is named.
BEGIN;
\ir include/plan.sql
SELECT * FROM no_plan();
SET client_min_messages = warning;

CREATE TYPE mood AS ENUM ('ok', 'bad');
CREATE TABLE person (
  id int PRIMARY KEY,
  first varchar(20) DEFAULT 'nobody' NOT NULL,
  last text COLLATE "C",
  born date CHECK (born > '1900-01-01'),
  died date,
  pay numeric(10,2) DEFAULT 0,
  tags text[],
  boss int REFERENCES person,
  feels mood,
  full_name text GENERATED ALWAYS AS (last) STORED,
  CONSTRAINT lives CHECK (died IS NULL OR died >= born),
  UNIQUE (first, last));
CREATE INDEX by_names ON person (last text_pattern_ops, first varchar_pattern_ops) WHERE pay > 0;
CREATE VIEW names AS SELECT id, first, last FROM person;
CREATE VIEW ages AS SELECT n.first, p.died - p.born AS days FROM names n JOIN person p USING (id);
CREATE VIEW early AS SELECT born FROM person WHERE pay > 1;
CREATE FUNCTION on_person() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER watch BEFORE UPDATE OF first, born ON person FOR EACH ROW WHEN (old.last IS DISTINCT FROM new.last) EXECUTE FUNCTION on_person();
INSERT INTO person SELECT i, 'first' || i, 'last' || i, date '1970-01-01' + i, CASE WHEN i % 3 = 0 THEN date '2020-01-01' + i END, i * 1.5, ARRAY['a' || i], nullif(i - 1, 0), 'ok'
  FROM generate_series(1, 100) i;
CREATE TEMP TABLE before AS SELECT p::text, (SELECT string_agg(a::text, ';' ORDER BY first) FROM ages a) AS ages FROM person p;

CREATE FUNCTION types(relation regclass) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(attname || ' ' || regexp_replace(format_type(atttypid, atttypmod), ',?(aes[0-9]+|gcm)(?=[,)])', '', 'g'), ', ' ORDER BY attnum)
  FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
$$;
CREATE FUNCTION definitions() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT regexp_replace(pg_get_constraintdef(oid), '::(text|date|numeric|character varying)(\([0-9,]+\))?', '', 'g') FROM pg_constraint WHERE conrelid = 'person'::regclass
  UNION ALL SELECT regexp_replace(pg_get_indexdef(indexrelid), 'tde_internal[.]|::[a-z_.]+|[()]', '', 'g') FROM pg_index WHERE indrelid = 'person'::regclass
  UNION ALL SELECT c.relname || regexp_replace(pg_get_viewdef(c.oid), '::[a-z_.]+|[()]', '', 'g') FROM pg_class c WHERE relname IN ('names', 'ages', 'early')
  UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'watch'
  ORDER BY 1
$$;
CREATE TEMP TABLE defined AS SELECT * FROM definitions() d;
CREATE TEMP TABLE node AS SELECT pg_relation_filenode('person') AS before;

-- Errors, before anything is done.
SELECT throws_ok($$CALL tde_encrypt_columns('person', '{last,none}')$$, '42703', NULL, 'a column that is not there');
SELECT throws_ok($$CALL tde_encrypt_columns('person', '{first,feels}')$$, '42704', NULL, 'a type without an encrypted one');
SELECT throws_ok($$CALL tde_encrypt_columns('person', '{first,last}')$$, '2BP01', NULL, 'a column that another is generated from');
SELECT throws_ok($$CALL tde_encrypt_columns('person', '{first,born}', '{nosalt,salt,nomac}')$$, '22023', NULL, 'more specs than columns');
SELECT throws_ok($$CALL tde_encrypt_columns('person', '{first,born}', '{nosalt,aes1}')$$, '22023', NULL, 'an unknown modifier');
SELECT throws_ok($$CALL tde_encrypt_columns('person', '{first,first}')$$, NULL, NULL, 'a column twice');
SELECT throws_ok($$CALL tde_encrypt_columns('names')$$, '42809', NULL, 'a view');
SELECT is(pg_relation_filenode('person'), before, 'nothing has happened') FROM node;

-- Some of them.
CALL tde_encrypt_columns('person', '{born,died,first}', '{nosalt}');
SELECT is(types('person'), 'id integer, first encrypted_varchar(20,nosalt), last text, born encrypted_date(,nosalt), died encrypted_date(,nosalt), pay numeric(10,2), tags text[], boss integer, feels mood, full_name text',
  'some are encrypted');
SELECT * FROM set_eq('SELECT d FROM definitions() d', 'SELECT d FROM defined', 'what depends on them is as it was');
CALL tde_decrypt_columns('person', '{first,died,born}');
SELECT is(types('person'), 'id integer, first character varying(20), last text, born date, died date, pay numeric(10,2), tags text[], boss integer, feels mood, full_name text', 'and decrypted');

-- All of them: but for the enum and what the generated column hangs on.
CALL tde_encrypt_columns('person', specs => '{nosalt}');
SELECT is(types('person'), 'id encrypted_int4(,nosalt), first encrypted_varchar(20,nosalt), last text, born encrypted_date(,nosalt), died encrypted_date(,nosalt), pay encrypted_numeric(10,2,nosalt), tags encrypted_text(,nosalt)[], boss encrypted_int4(,nosalt), feels mood, full_name encrypted_text(,nosalt)',
  'all that can be');
SELECT * FROM set_eq('SELECT d FROM definitions() d', 'SELECT d FROM defined', 'what depends on them is as it was');
SELECT * FROM set_eq($$SELECT p::text, (SELECT string_agg(a::text, ';' ORDER BY first) FROM ages a) FROM person p$$, 'TABLE before', 'so are the rows');
INSERT INTO person (id, born) VALUES (1000, '2000-01-01');
SELECT is(first::text || pay, 'nobody0.00', 'and the defaults') FROM person WHERE id = 1000;
SELECT throws_ok($$UPDATE person SET died = '1960-01-01' WHERE id = 7$$, '23514', NULL, 'and a constraint of two columns');
DELETE FROM person WHERE id = 1000;
CALL tde_encrypt_columns('person', '{}');
CALL tde_decrypt_columns('person');
SELECT is(types('person'), 'id integer, first character varying(20), last text, born date, died date, pay numeric(10,2), tags text[], boss integer, feels mood, full_name text', 'all are decrypted');
SELECT * FROM set_eq('SELECT d FROM definitions() d', 'SELECT d FROM defined', 'and what depends on them is as it was');
SELECT * FROM set_eq($$SELECT p::text, (SELECT string_agg(a::text, ';' ORDER BY first) FROM ages a) FROM person p$$, 'TABLE before', 'and the rows');

-- Identity columns are numbered by a default, from where they were; who may insert still may.
CREATE ROLE tde_test_clerk;
CREATE TABLE numbered (id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 100 INCREMENT BY 10) PRIMARY KEY, small smallint GENERATED BY DEFAULT AS IDENTITY, always int GENERATED ALWAYS AS IDENTITY, note text);
GRANT INSERT (note), SELECT ON numbered TO tde_test_clerk;
INSERT INTO numbered (note) SELECT 'note' FROM generate_series(1, 3);
COMMENT ON SEQUENCE numbered_id_seq IS 'of numbered';
SELECT throws_like($$CALL tde_encrypt_columns('numbered', '{always}')$$, '%cannot be encrypted because other objects depend on its type', 'GENERATED ALWAYS has no such default');
CALL tde_encrypt_columns('numbered', '{id,small,note}', '{nosalt}');
SELECT is(types('numbered'), 'id encrypted_int8(,nosalt), small encrypted_int2(,nosalt), always integer, note encrypted_text(,nosalt)', 'identity columns are encrypted');
SET ROLE tde_test_clerk;
INSERT INTO numbered (note) VALUES ('by the clerk');
RESET ROLE;
SELECT is(string_agg(concat_ws('-', id, small, always), ' ' ORDER BY id), '100-1-1 110-2-2 120-3-3 130-4-4', 'the numbers go on') FROM numbered;
SELECT is(pg_get_serial_sequence('numbered', 'id')::regclass::text || obj_description('numbered_id_seq'::regclass), 'numbered_id_seqof numbered', 'the column owns the sequence');
CALL tde_decrypt_columns('numbered');
INSERT INTO numbered (note) VALUES ('last');
SELECT is(string_agg(concat_ws('-', id, small, always), ' ' ORDER BY id), '100-1-1 110-2-2 120-3-3 130-4-4 140-5-5', 'and when they are decrypted') FROM numbered;

-- ---- hash indexes whose class is named: the encrypted type's is the default one; one of the user's own has no counterpart ----

CREATE OPERATOR CLASS own_ops FOR TYPE text USING hash AS OPERATOR 1 =, FUNCTION 1 hashtext(text);
CREATE TABLE hashed (c char(10), v varchar(10), t text, own text);
CREATE INDEX hashed_c ON hashed USING hash (c bpchar_pattern_ops);
CREATE INDEX hashed_v ON hashed USING hash (v varchar_pattern_ops);
CREATE INDEX hashed_t ON hashed USING hash (t text_pattern_ops);
CREATE INDEX hashed_own ON hashed USING hash (own own_ops);
INSERT INTO hashed SELECT 'c' || i, 'v' || i, 't' || i, 'own' || i FROM generate_series(1, 100) i;
SELECT throws_ok($$CALL tde_encrypt_columns('hashed', '{own}')$$, '2BP01', NULL, 'an index by a class of one''s own is an obstacle');
CALL tde_encrypt_columns('hashed', '{c,v,t}');
SET enable_seqscan = off;
SELECT is((SELECT count(*) FROM jsonb_path_query(plan_of(format('SELECT FROM hashed WHERE %s = %L', a, v)), '$.**."Index Cond"')), 1::bigint, 'the index serves: ' || a)
FROM (VALUES ('c', 'c5'), ('v', 'v5'), ('t', 't5')) t (a, v);
SELECT is((SELECT count(*) FROM hashed WHERE c = 'c5'), 1::bigint, '... and finds what is stored with blanks');
CALL tde_decrypt_columns('hashed');
SELECT is((SELECT count(*) FROM hashed WHERE c = 'c5' AND v = 'v5'), 1::bigint, '... and when it is plain again');

SELECT * FROM finish();
ROLLBACK;
