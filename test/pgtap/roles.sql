-- tde_column.decrypt_role: a role that may write encrypted values and not see them; what its results show; and what of the
-- extension everybody may call.
\set QUIET 1
\pset format unaligned
\pset tuples_only true
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

CREATE ROLE may_see;
CREATE ROLE writer;
CREATE ROLE reader IN ROLE may_see;
CREATE ROLE heir NOINHERIT IN ROLE may_see;
GRANT CREATE ON SCHEMA public TO reader;

CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text(nosalt) UNIQUE CHECK (pan <> 'bad'), holder encrypted_varchar(30) NOT NULL,
                   amount encrypted_numeric(6,2) DEFAULT 1.5, born encrypted_date, note encrypted_jsonb);
CREATE TABLE payment (pan encrypted_text REFERENCES card (pan));
CREATE TABLE part (pan encrypted_text, id int) PARTITION BY LIST (pan);
CREATE TABLE part_a PARTITION OF part FOR VALUES IN ('4111');
CREATE TABLE hashed (pan encrypted_text) PARTITION BY HASH (pan);
CREATE TABLE hashed_a PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_b PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO card VALUES (1, '4111', 'Alice', 5, '2001-02-03', '{"a": 1}'), (2, '5500', 'Bob', NULL, NULL, NULL);
GRANT SELECT, INSERT, UPDATE, DELETE ON card, payment, part, hashed, hashed_a, hashed_b TO writer, reader, heir;

-- What a statement says that a role executes, and the text of its one result.
CREATE FUNCTION complaint_of(role name, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  complaint text;
BEGIN
  EXECUTE format('SET LOCAL ROLE %I', role);
  complaint := complaint(statement);
  RESET ROLE;
  RETURN complaint;
END
$$;
CREATE FUNCTION result_of(role name, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SET LOCAL ROLE %I', role);
  EXECUTE query INTO result;
  RESET ROLE;
  RETURN result;
END
$$;
CREATE FUNCTION allowed(role name, statement text) RETURNS text LANGUAGE sql AS
  $$ SELECT is(complaint_of(role, statement), NULL, role || ' may: ' || statement) $$;
CREATE FUNCTION denied(role name, statement text, type text) RETURNS text LANGUAGE sql AS
  $$ SELECT is(complaint_of(role, statement), format('42501 permission denied to decrypt values of type %s '
                 '[Only roles with privileges of role "may_see" may decrypt.]', type), role || ' may not: ' || statement) $$;

--
-- Who
--
SELECT allowed('writer', 'SELECT pan::text FROM card');
SELECT is(result_of('writer', 'SELECT tde_may_decrypt()'), 'true', 'unless it is set, everybody may decrypt');

SET LOCAL tde_column.decrypt_role = 'may_see';
SELECT denied('writer', 'SELECT pan::text FROM card', 'encrypted_text');
SELECT is(result_of('writer', 'SELECT tde_may_decrypt()'), 'false', 'tde_may_decrypt() says so');
SELECT denied('writer', 'SELECT length(pan) FROM card', 'encrypted_text');
SELECT denied('writer', 'SELECT length(holder) FROM card', 'encrypted_varchar');
SELECT allowed('reader', 'SELECT pan::text FROM card');
SELECT is(result_of('reader', 'SELECT tde_may_decrypt()'), 'true', 'tde_may_decrypt() says so');
SELECT denied('heir', 'SELECT pan::text FROM card', 'encrypted_text');
SELECT allowed('heir', 'SET LOCAL ROLE may_see; SELECT ''x''::encrypted_text::text');
SELECT is((SELECT string_agg(pan::text, ',' ORDER BY id) FROM card), '4111,5500', 'superusers may');

-- the answer that is remembered is forgotten when memberships change
GRANT may_see TO writer;
SELECT allowed('writer', 'SELECT pan::text FROM card');
REVOKE may_see FROM writer;
SELECT denied('writer', 'SELECT pan::text FROM card', 'encrypted_text');
ALTER ROLE writer SUPERUSER;
SELECT allowed('writer', 'SELECT pan::text FROM card');
ALTER ROLE writer NOSUPERUSER;
ALTER ROLE may_see RENAME TO other_name;
SELECT is(complaint_of('reader', 'SELECT pan::text FROM card'), '42501 permission denied to decrypt values of type encrypted_text '
            '[Only superusers may decrypt, since there is no role "may_see".]', 'if the role is gone, nobody may ...');
SELECT is((SELECT pan::text FROM card WHERE id = 1), '4111', '... but superusers');
ALTER ROLE other_name RENAME TO may_see;
SELECT allowed('reader', 'SELECT pan::text FROM card');

SELECT matches(complaint_of(role, format('SET LOCAL %s', setting)), '^42501 permission denied to set parameter', format('%s may not set %s', role, setting))
FROM unnest('{writer,reader}'::name[]) role, unnest('{tde_column.decrypt_role = '''',tde_column.decrypt_policy = mask}'::text[]) setting;

--
-- What it cannot see: whatever function takes an encrypted value
--
SELECT denied('writer', 'SELECT lower(pan) FROM card', 'encrypted_text');
SELECT denied('writer', 'SELECT FROM card WHERE pan LIKE ''4%''', 'encrypted_text');
SELECT denied('writer', 'SELECT concat(pan) FROM card', 'encrypted_text');
SELECT denied('writer', 'SELECT ARRAY[pan]::text FROM card', 'encrypted_text');
SELECT denied('writer', 'SELECT ROW(pan)::text FROM card', 'encrypted_text');
SELECT denied('writer', 'SELECT to_jsonb(card) FROM card', 'encrypted_text');
SELECT denied('writer', 'SELECT pan::int FROM card', 'encrypted_text');
SELECT denied('writer', 'SELECT sum(amount) FROM card', 'encrypted_numeric');
SELECT denied('writer', 'SELECT note[''a''] FROM card', 'encrypted_jsonb');
SELECT denied('writer', 'SELECT pan::encrypted_varchar FROM card', 'encrypted_text');
SELECT denied('writer', 'UPDATE card SET amount = amount + 1', 'encrypted_numeric');
SELECT denied('writer', 'UPDATE card SET note[''b''] = ''2''', 'encrypted_jsonb');
SELECT denied('writer', 'INSERT INTO card (id, pan, holder) SELECT 3, concat(pan, ''1''), ''x'' FROM card WHERE id = 1', 'encrypted_text');
SELECT denied('writer', 'WITH w AS (UPDATE card SET holder = ''x'' RETURNING pan) SELECT concat(pan) FROM w', 'encrypted_text');
SELECT denied('writer', 'DO $d$ BEGIN RAISE NOTICE ''%'', (SELECT pan FROM card WHERE id = 1); END $d$', 'encrypted_text');
SELECT denied('writer', 'DO $d$ DECLARE j encrypted_jsonb := (SELECT note FROM card WHERE id = 1); BEGIN j[''b''] := ''2''; RAISE NOTICE ''%'', j; END $d$',
              'encrypted_jsonb');
SELECT is_empty('SELECT FROM card WHERE holder LIKE ''%*%'' OR id > 2', 'and nothing was written');

CREATE TABLE held ();
CREATE FUNCTION fill_held() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  f record;
BEGIN
  INSERT INTO held DEFAULT VALUES;
  FOR f IN SELECT family.*, (SELECT max(value) FROM sample s WHERE s.base = family.base::text AND value <> '') AS value FROM family LOOP
    EXECUTE format('ALTER TABLE held ADD %I %s', f.name, f.enc);
    EXECUTE format('UPDATE held SET %I = %L', f.name, f.value);
  END LOOP;
END
$$;
SELECT fill_held();
GRANT SELECT ON held TO writer;

CREATE TEMP TABLE fn AS
  SELECT p.oid::regprocedure::text AS signature, p.*, l.lanname = 'c' AS is_c,
         CASE WHEN prokind = 'a' THEN 'aggregate' WHEN l.lanname = 'c' THEN prosrc::name ELSE proname END AS symbol
  FROM pg_proc p JOIN pg_language l ON l.oid = prolang
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'tde_column';

-- Functions that must work without the right to decrypt: comparisons, hashes, the order of indexes; what gives an encrypted value.
CREATE TEMP TABLE blind AS SELECT unnest('{tde_eq,tde_ne,tde_lt,tde_le,tde_gt,tde_ge,tde_cmp,tde_hash,tde_hash_numeric,
  tde_hash_float8,tde_pattern_lt,tde_pattern_le,tde_pattern_gt,tde_pattern_ge,tde_pattern_cmp,tde_pattern_sortsupport,
  tde_padded_eq,tde_padded_ne,tde_padded_lt,tde_padded_le,tde_padded_gt,tde_padded_ge,tde_padded_cmp,tde_padded_hash,tde_padded_pattern_lt,
  tde_padded_pattern_le,tde_padded_pattern_gt,tde_padded_pattern_ge,tde_padded_pattern_cmp,tde_unordered_lt,tde_unordered_le,tde_unordered_gt,tde_unordered_ge,tde_unordered_cmp,
  tde_padded_unordered_lt,tde_padded_unordered_le,tde_padded_unordered_gt,tde_padded_unordered_ge,tde_padded_unordered_cmp,tde_in_range,tde_larger,tde_smaller,tde_coerce,tde_encrypt,tde_in,tde_recv,tde_sortsupport,tde_regr_count}'::name[]) AS symbol;

-- A call of a function with columns of held, and with 1, 'true' and the like elsewhere.
CREATE FUNCTION call_of(f fn) RETURNS text LANGUAGE sql AS $$
  SELECT format('SELECT %s(%s) FROM held LIMIT 1', f.oid::regproc, string_agg(coalesce(
           (SELECT quote_ident(name) FROM family WHERE enc = type),
           CASE WHEN type = 'float8[]'::regtype THEN '''{0,0,0,0,0,0}''::float8[]' WHEN type = 'boolean'::regtype THEN 'true'
             WHEN type IN ('int8[]'::regtype, 'interval[]'::regtype, 'text[]'::regtype) THEN format('''{0,0}''::%s', type::regtype)
             WHEN (SELECT typcategory FROM pg_type WHERE oid = type) = 'D' THEN format('''2024-01-01 10:00+00''::%s', type::regtype)
             WHEN (SELECT typcategory FROM pg_type WHERE oid = type) = 'R'
               -- with two bounds: PostgreSQL 17 does not look at the element for another one
               THEN format(CASE WHEN type::regtype::text ~ 'multi' THEN '''{[%s)}''::%s' ELSE '''[%s)''::%s' END,
                           CASE WHEN type::regtype::text ~ '(int.|num)(multi)?range' THEN '1,2' ELSE '2024-01-01,2024-01-02' END, type::regtype)
             WHEN f.symbol = 'tde_recast' THEN '-1'    -- without a modifier
             ELSE format('%L::%s', '1', type::regtype) END), ', ' ORDER BY place))
  FROM unnest(f.proargtypes::oid[]) WITH ORDINALITY AS a (type, place)
$$;
CREATE TEMP TABLE decrypting AS
  SELECT signature, symbol, call_of(fn) AS call FROM fn
  WHERE proargtypes::oid[] && (SELECT array_agg(enc::oid) FROM family) AND prokind = 'f' AND symbol NOT IN (SELECT symbol FROM blind)
    AND proname !~ 'typmod' AND 'internal'::regtype <> ALL (proargtypes::oid[]);
SELECT cmp_ok((SELECT count(*) FROM decrypting), '>', 300::bigint, 'functions that decrypt are found');
SELECT is_empty('SELECT signature, complaint_of(''postgres'', call) FROM decrypting WHERE complaint_of(''postgres'', call) ~ ''^42''',
                'a superuser can call them');
SELECT is_empty('SELECT signature, complaint_of(''writer'', call) FROM decrypting
                 WHERE complaint_of(''writer'', call) IS NULL OR complaint_of(''writer'', call) !~ ''^42501 permission denied to decrypt''',
                'every one of them refuses to decrypt');
SELECT is_empty($$SELECT signature, complaint_of('writer', call_of(fn)) FROM fn WHERE prokind = 'a' AND proargtypes::oid[] && (SELECT array_agg(enc::oid) FROM family)
                  AND proname NOT IN ('min', 'max', 'percentile_cont', 'regr_count') AND complaint_of('writer', call_of(fn)) !~ '^42501 permission denied to decrypt'$$,
                'so does every aggregate that computes');
SELECT matches(complaint_of('writer', format('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY encrypted_%s) FROM held', type)),
               '^42501 permission denied to decrypt', 'percentile_cont() of ' || type || ' does, too')
FROM unnest('{int4,float8,interval}'::text[]) type;

--
-- What it can do
--
SELECT allowed('writer', statement) FROM unnest(ARRAY[
  'INSERT INTO card VALUES (3, ''6011'', ''Carol'', 7, ''1999-01-01'', ''{}'')',
  'UPDATE card SET pan = pan, holder = holder, amount = 8 WHERE pan = ''6011''',
  'UPDATE card SET holder = pan WHERE id = 3',
  'INSERT INTO payment VALUES (''6011'')',
  'INSERT INTO payment SELECT pan FROM card WHERE id = 3',
  'DELETE FROM payment WHERE pan > ''5''',
  'INSERT INTO part SELECT pan, id FROM card WHERE id = 1',
  'INSERT INTO hashed SELECT pan FROM card WHERE id < 3',
  'SELECT FROM hashed WHERE pan = ''4111''',
  'SELECT FROM hashed WHERE pan = (SELECT pan FROM card WHERE id = 1)',
  'UPDATE hashed SET pan = ''6011'' WHERE pan = ''5500''',
  'INSERT INTO card (id, pan, holder) VALUES (4, ''6011'', ''x'') ON CONFLICT (pan) DO UPDATE SET holder = excluded.holder',
  'SELECT FROM card WHERE pan IN (''4111'', ''5500'') AND amount BETWEEN 1 AND 9',
  'SELECT max(holder), count(DISTINCT pan) FROM card GROUP BY born ORDER BY max(born)',
  'SELECT c.id FROM card c JOIN payment p USING (pan)',
  'DELETE FROM card WHERE id = 3']) statement;
SELECT is(result_of('reader', 'SELECT tableoid::regclass || '' '' || pan FROM part'), 'part_a 4111', 'its row is in the right partition');

SELECT is(result_of('reader', 'SELECT count(*) || '' '' || min(pan) || '' '' || max(pan) FROM hashed WHERE pan = ''4111'' OR pan = ''6011'''),
          '2 4111 6011', 'rows are found in the hash partitions where it has put them');
SELECT allowed('writer', format('INSERT INTO hashed_%s SELECT pan FROM hashed_%s', part, part)) FROM unnest('{a,b}'::text[]) part;

-- A hash that everybody can compute tells the value, whatever way it is asked for.
SELECT denied('writer', statement, 'encrypted_text') FROM unnest(ARRAY[
  'SELECT tde_internal.tde_hash_extended(pan, 0) FROM card',
  'SELECT id FROM card WHERE tde_internal.tde_hash_extended(pan, 0) = 1',
  'SELECT hash_array_extended(ARRAY[pan], 0) FROM card',
  'SELECT hash_record_extended(ROW (pan), 0) FROM card',
  'DO $$BEGIN PERFORM tde_internal.tde_hash_extended(pan, 0) FROM card; END$$']) statement;
SELECT allowed('reader', 'SELECT tde_internal.tde_hash_extended(pan, 0), hash_array_extended(ARRAY[pan], 0) FROM card');
SELECT allowed('writer', 'SELECT tde_internal.tde_hash_extended(''4111''::encrypted_text, 0)');

-- constants are no column's values
SELECT is(result_of('writer', 'SELECT ''abc''::encrypted_text || upper(''d''::encrypted_text)'), 'abcD', 'it may see constants');
SELECT matches(result_of('writer', 'EXPLAIN (FORMAT json) SELECT FROM card WHERE pan = ''4111'''), 'pan = ''4111''', 'EXPLAIN shows them');
SELECT is(result_of('writer', 'SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = ''card_pan_check'''),
          'CHECK ((pan <> ''bad''::encrypted_text))', 'and so does what describes tables');

--
-- Errors that quote rows are what they are without encryption
--
SELECT is(complaint_of('writer', statement), complaint, statement) FROM (VALUES
  ('INSERT INTO card (id, pan, holder) VALUES (3, ''4111'', ''x'')',
   '23505 duplicate key value violates unique constraint "card_pan_key" [Key (pan)=(****) already exists.]'),
  ('INSERT INTO card (id, pan) VALUES (3, ''6011'')',
   '23502 null value in column "holder" of relation "card" violates not-null constraint [Failing row contains (3, ****, null, ****, null, null).]'),
  ('INSERT INTO card (id, pan, holder) VALUES (3, ''bad'', ''x'')',
   '23514 new row for relation "card" violates check constraint "card_pan_check" [Failing row contains (3, ****, ****, ****, null, null).]'),
  ('INSERT INTO payment VALUES (''6011'')',
   '23503 insert or update on table "payment" violates foreign key constraint "payment_pan_fkey" [Key (pan)=(****) is not present in table "card".]'),
  ('INSERT INTO part VALUES (''6011'')',
   '23514 no partition of relation "part" found for row [Partition key of the failing row contains (pan) = (****).]')
) AS statements (statement, complaint);
SELECT matches(complaint_of('reader', 'INSERT INTO card (id, pan, holder) VALUES (3, ''4111'', ''x'')'), 'Key \(pan\)=\(4111\)',
               'who may decrypt sees the values there');

CREATE FUNCTION insert_twice() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    INSERT INTO card (id, pan, holder) VALUES (3, '4111', 'x');
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO card (id, pan, holder) VALUES (3, '6011', 'x');
  END;
  DELETE FROM card WHERE id = 3;
  RETURN (SELECT concat(pan) FROM card WHERE id = 1);
END
$$;
SELECT denied('writer', 'SELECT insert_twice()', 'encrypted_text');
SELECT is(result_of('reader', 'SELECT insert_twice()'), '4111', 'after an error that was caught, a statement is what it was before');

--
-- SECURITY DEFINER functions show what their owner may see
--
SET LOCAL ROLE reader;
CREATE FUNCTION last_two(encrypted_text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS 'SELECT right($1::text, 2)';
RESET ROLE;
SELECT is(result_of('writer', 'SELECT string_agg(last_two(pan), '','' ORDER BY id) FROM card'), '11,00', 'the end of a number, by a function');
SELECT denied('writer', 'SELECT last_two(pan), lower(pan) FROM card', 'encrypted_text');

--
-- A client's results, by the policy
--
CREATE VIEW cards AS SELECT id, pan, holder AS h FROM card;
GRANT SELECT ON cards TO writer;
SELECT denied('writer', 'SELECT tde_internal.tde_result(pan, -1) FROM card', 'encrypted_text');

SET LOCAL tde_column.decrypt_policy = 'null';
SET LOCAL ROLE writer;
SELECT id, pan, amount IS NULL AS without FROM card WHERE id = 1 \gset
RESET ROLE;
SELECT is(:{?pan}, false, 'policy null');
SELECT is(:'id' || :'without'::text, '1f', 'what is no encrypted value is as ever');

SET LOCAL tde_column.decrypt_policy = 'mask';
SET LOCAL ROLE writer;
SELECT pan, holder, amount, born, note, 'x'::encrypted_text AS x FROM card WHERE id = 1 \gset
SELECT h AS viewed FROM cards WHERE id = 1 \gset
SELECT holder::encrypted_varchar(3) AS short FROM card WHERE id = 1 \gset
INSERT INTO card (id, pan, holder) VALUES (3, '6011', 'Carol') RETURNING pan AS returned \gset
RESET ROLE;
SELECT is(ARRAY[:'pan', :'holder', :'amount', :'born', :'note', :'x', :'viewed', :'short', :'returned'],
          '{****,****,0.00,1970-01-01,"null",x,****,***,****}', 'policy mask');
SELECT is((SELECT pan || ' ' || holder FROM card WHERE id = 3), '6011 Carol', 'only the result is masked');
SELECT denied('writer', statement, 'encrypted_text') FROM unnest(ARRAY[
  'SELECT pan::text FROM card', 'UPDATE card SET holder = pan || ''x''', 'CREATE TEMP TABLE copied AS SELECT concat(pan) FROM card']) statement;

SET LOCAL ROLE writer;
SELECT encrypted_inet, encrypted_uuid, encrypted_bool, encrypted_time, encrypted_interval, encrypted_int8, encrypted_float8, encrypted_bytea,
       encrypted_timestamp, encrypted_json FROM held \gset
RESET ROLE;
SELECT is(ARRAY[:'encrypted_inet', :'encrypted_uuid', :'encrypted_bool', :'encrypted_time', :'encrypted_interval', :'encrypted_int8', :'encrypted_float8',
                :'encrypted_bytea', :'encrypted_timestamp', :'encrypted_json'],
          ARRAY['0.0.0.0', '00000000-0000-0000-0000-000000000000', 'f', '00:00:00', '00:00:00', '0', '0', '\x', '1970-01-01 00:00:00', 'null'],
          'masks of other types');

-- pg_dump, which sets row_security off, and COPY want all or an error
GRANT pg_write_server_files TO writer;
SELECT allowed('writer', 'SELECT tde_internal.tde_result(pan, -1) FROM card');
SELECT denied('writer', statement, 'encrypted_text') FROM unnest(ARRAY[
  'SET LOCAL row_security = off; SELECT tde_internal.tde_result(pan, -1) FROM card', 'COPY card TO ''/dev/null''', 'COPY (SELECT pan FROM card) TO ''/dev/null'' (FORMAT binary)']) statement;

--
-- What can be granted (what everybody may call is in test/t/001_wallet.pl)
--
SELECT matches(complaint_of('writer', 'SELECT tde_ensure_keys()'), '^42501 permission denied for function', 'keys are not made by everybody');
GRANT EXECUTE ON FUNCTION tde_ensure_keys(), tde_internal.tde_wallet_status() TO writer;
SELECT allowed('writer', 'SELECT tde_ensure_keys()');
SELECT allowed('writer', 'SELECT tde_internal.tde_wallet_status()');
SELECT matches(complaint_of('writer', 'SELECT FROM tde.data_keys'), '^42501 permission denied for table', 'and wrapped keys stay unread');

-- Who is granted a function needs nothing else, and who is not gets no further by what it calls.
CREATE ROLE granted;
GRANT EXECUTE ON FUNCTION tde_verify_database(), tde_verify_table(regclass, bigint, bigint), tde_foreign_values(regclass) TO granted;
SELECT is(complaint_of('granted', 'SELECT count(*) FROM ' || call), NULL, call || ' by who is granted it')
FROM unnest('{"tde_verify_database()","tde_verify_table(NULL)","tde_foreign_values()","tde_foreign_values(''card'')"}'::text[]) call;
SELECT matches(complaint_of('writer', 'SELECT count(*) FROM ' || call), '^42501 permission denied for function tde_', call || ' by who is not')
FROM unnest('{"tde_verify_database()","tde_verify_table(NULL)","tde_foreign_values()","tde_internal.tde_foreign_values_in(''card'', NULL)"}'::text[]) call;

SELECT finish();
ROLLBACK;
