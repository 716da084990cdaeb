-- Row level security: what uses an index with plain columns uses it with encrypted ones, and no error tells anything of a hidden value.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

CREATE ROLE tenant;
GRANT USAGE ON SCHEMA tde_internal TO tenant;
GRANT SELECT ON ALL TABLES IN SCHEMA pg_temp TO tenant;

--
-- Plans
--
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  plan text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
    plan := plan || line || E'\n';
  END LOOP;
  RETURN CASE WHEN plan ~ 'Index Cond' THEN 'index' ELSE 'scan' END;
END
$$;

-- Twins: a plain column, a salted and an unsalted one, of the type; 2000 rows of ten tenants.
CREATE FUNCTION make_twins(f family) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE twins (owner text DEFAULT ''other'', plain %s, salted %s(aes256,salt,gcm), unsalted %2$s(aes256,nosalt,gcm))', f.plain, f.enc);
  EXECUTE format('INSERT INTO twins SELECT ''other'', v, v, v FROM (SELECT %L::%s AS v) s, generate_series(1, 2000)',
                 (SELECT min(value) FROM sample WHERE base = f.base::text AND length(value) < 100), f.plain);
  CREATE INDEX ON twins (plain);
  CREATE INDEX ON twins (salted);
  CREATE INDEX ON twins (unsalted);
  ALTER TABLE twins ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own ON twins USING (owner = current_setting('tde_test.owner', true));
  GRANT SELECT ON twins TO tenant;
  ANALYZE twins;
END
$$;
CREATE FUNCTION compare_plans(f family) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  value text := (SELECT max(s.value) FROM sample s WHERE base = f.base::text AND length(s.value) < 100);
  op    text;
  clause text;
  plain text;
BEGIN
  PERFORM make_twins(f);
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_bitmapscan = off;
  SET LOCAL ROLE tenant;
  FOREACH op IN ARRAY ARRAY['=', '<', '<=', '>', '>='] LOOP
    FOREACH clause IN ARRAY ARRAY['%2$L', '%2$L::%3$s', 'ANY (ARRAY[%2$L, %2$L]::%3$s[])'] LOOP
      CONTINUE WHEN clause LIKE 'ANY%' AND op <> '=';
      plain := plan_of(format('SELECT 1 FROM twins WHERE %1$s ' || op || ' ' || clause, 'plain', value, f.plain));
      RETURN NEXT is(plan_of(format('SELECT 1 FROM twins WHERE %1$s ' || op || ' ' || clause, 'salted', value, f.plain)) || ' ' ||
                     plan_of(format('SELECT 1 FROM twins WHERE %1$s ' || op || ' ' || clause, 'unsalted', value, f.plain)),
                     plain || ' ' || plain, format('%s %s %s: %s', f.name, op, clause, plain));
    END LOOP;
  END LOOP;
  RESET ROLE;
  DROP TABLE twins;
END
$$;
SELECT compare_plans(f) FROM family f WHERE f.base <> 'json'::regtype ORDER BY name;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Only where the base types' comparison is.
SELECT is_empty($$
  SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_operator o ON o.oprcode = p.oid
  -- a varchar is compared as text, beside a char(n) as one
  CROSS JOIN LATERAL (SELECT CASE WHEN 'bpchar'::regtype IN (tde_internal.tde_catalog_type(o.oprleft), tde_internal.tde_catalog_type(o.oprright)) THEN 'bpchar' ELSE 'text' END) s (string)
  WHERE p.proleakproof AND p.probin LIKE '%tde_column' AND NOT EXISTS (
    SELECT FROM pg_operator b JOIN pg_proc f ON f.oid = b.oprcode
    WHERE f.proleakproof AND b.oid < 12000 AND b.oprname = ltrim(o.oprname, '%#')
      AND b.oprleft = replace(tde_internal.tde_catalog_type(o.oprleft)::regtype::text, 'character varying', string)::regtype
      AND b.oprright = replace(tde_internal.tde_catalog_type(o.oprright)::regtype::text, 'character varying', string)::regtype)$$,
  'comparisons are leakproof as those of the base types are');
SELECT is_empty($$SELECT oid::regprocedure, prosrc FROM pg_proc WHERE proleakproof AND probin LIKE '%tde_column'
                  AND prosrc !~ '^tde_(padded_)?(pattern_)?(eq|ne|lt|le|gt|ge|cmp)$'$$, 'and nothing else is');

--
-- Errors
--
SELECT tde_create_key('gone');
CREATE TABLE secret (id int, what text, a encrypted_text(aes256,nosalt,gcm), n encrypted_int4(aes256,salt,sha256));
CREATE TABLE donor (a encrypted_text(aes256,nosalt,gcm,'key=gone'), o encrypted_text(aes128,nosalt,sha256), m encrypted_text(aes256,salt,nomac),
                    n encrypted_int4(aes256,salt,sha256,'key=gone'), i encrypted_int4(aes128,salt,nomac));
INSERT INTO donor VALUES ('hidden', 'hidden', 'hidden', 7, 7);
CREATE FUNCTION flipped(bytea, place int) RETURNS bytea LANGUAGE sql AS $$ SELECT set_bit($1, place, 1 - get_bit($1, place)) $$;
INSERT INTO secret VALUES (0, 'good', 'hidden', 7);
-- the forged ones as they are
CREATE TEMP TABLE declared AS SELECT attnum, atttypmod FROM pg_attribute WHERE attrelid = 'secret'::regclass AND attnum IN (3, 4);
UPDATE pg_attribute SET atttypmod = -1 WHERE attrelid = 'secret'::regclass AND attnum IN (3, 4);
INSERT INTO secret SELECT place, 'flipped bit ' || place, forged_encrypted_text(flipped(stored(a), place)), forged_encrypted_int4(flipped(stored(n), place))
  FROM secret, unnest(ARRAY[16, 40, 100]) place WHERE id = 0;
INSERT INTO secret SELECT 200, 'cut', forged_encrypted_text(substr(stored(a), 1, 19)), forged_encrypted_int4(substr(stored(n), 1, 20)) FROM secret WHERE id = 0;
INSERT INTO secret SELECT 201, 'key that is not there', forged_encrypted_text(set_byte(stored(a), 1, 99)), forged_encrypted_int4(set_byte(stored(n), 1, 99)) FROM secret WHERE id = 0;
INSERT INTO secret SELECT 202, 'destroyed key', a, n FROM donor;
INSERT INTO secret SELECT 203, 'no header', forged_encrypted_text(substr(stored(a), 3)), forged_encrypted_int4(substr(stored(n), 3)) FROM secret WHERE id = 0;
INSERT INTO secret SELECT 204, 'key of another kind', forged_encrypted_text(set_byte(stored(a), 1, (SELECT id FROM tde.data_keys WHERE kind = 'h'))),
  forged_encrypted_int4(set_byte(stored(n), 1, (SELECT id FROM tde.data_keys WHERE kind = 'h'))) FROM secret WHERE id = 0;
INSERT INTO secret SELECT 205, 'key without MAC', forged_encrypted_text(set_byte(stored(a), 1, (SELECT id FROM tde.data_keys WHERE kind = 'n'))),
  forged_encrypted_int4(set_byte(stored(n), 1, (SELECT id FROM tde.data_keys WHERE kind = 'n'))) FROM secret WHERE id = 0;
INSERT INTO secret SELECT 206, 'value without MAC', forged_encrypted_text(stored(m)), forged_encrypted_int4(stored(i)) FROM donor;
UPDATE pg_attribute a SET atttypmod = d.atttypmod FROM declared d WHERE attrelid = 'secret'::regclass AND a.attnum = d.attnum;
SELECT tde_destroy_key('gone', 'destroy gone');
CREATE TABLE visible (id int, a encrypted_text(aes256,nosalt,gcm), n encrypted_int4);
INSERT INTO visible VALUES (1, 'mine', 1);

-- What a role is told that sees nothing of the tables, in each of which is one row.
DO $$
DECLARE
  secret_id int;
BEGIN
  FOR secret_id IN SELECT id FROM secret LOOP
    EXECUTE format('CREATE TABLE secret_%1$s (LIKE secret)', secret_id);
    EXECUTE format('INSERT INTO secret_%1$s SELECT * FROM secret WHERE id = %1$s', secret_id);
    EXECUTE format('ALTER TABLE secret_%1$s ENABLE ROW LEVEL SECURITY', secret_id);
    EXECUTE format('CREATE POLICY nothing ON secret_%1$s USING (what = ''nobody sees it'')', secret_id);
    EXECUTE format('GRANT SELECT ON secret_%1$s TO tenant', secret_id);
  END LOOP;
END
$$;
GRANT SELECT ON visible TO tenant;
CREATE FUNCTION told(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  m text; d text; h text; c text;
  n int;
BEGIN
  EXECUTE query INTO n;
  RETURN 'no error: ' || n;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT, c = PG_EXCEPTION_CONTEXT;
  RETURN concat_ws('|', SQLSTATE, m, d, h, regexp_replace(c, 'SQL statement.*', 'SQL statement'));
END
$$;
CREATE TEMP TABLE answers (role text, what text, query text, answer text);
GRANT ALL ON answers TO tenant;
CREATE FUNCTION ask(role text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r record;
  q text;
BEGIN
  FOR r IN SELECT id, what FROM kinds LOOP
    FOREACH q IN ARRAY ARRAY['s.a = ''hidden''', 's.a = ''x''', 's.a < ''x''', 's.a > ''y''::text', 's.a = v.a', 's.a <= v.a', 's.n = 7', 's.n < 8', 's.n >= v.n', 's.n <> 7::bigint'] LOOP
      INSERT INTO answers VALUES (role, r.what, q, told(format('SELECT count(*) FROM secret_%s s, visible v WHERE %s', r.id, q)));
    END LOOP;
  END LOOP;
END
$$;
CREATE TEMP TABLE kinds AS SELECT id, what FROM secret;
GRANT SELECT ON kinds TO tenant;
SELECT ask('superuser');
SET LOCAL ROLE tenant;
SELECT ask('tenant');
RESET ROLE;
SELECT is((SELECT count(DISTINCT answer) FROM answers WHERE role = 'superuser' AND what <> 'good' AND answer NOT LIKE 'no error%') > 3, true, 'superusers are told the reason');
SELECT is_empty($$SELECT what, query, answer FROM answers WHERE role = 'tenant' AND what <> 'good'
                  AND answer NOT LIKE 'no error: 0' AND answer NOT LIKE 'TDE04|could not authenticate encrypted value|%'$$, 'others get one error');
SELECT is((SELECT count(DISTINCT answer) FROM answers WHERE role = 'tenant' AND answer NOT LIKE 'no error%'), 1::bigint, 'with the same detail, hint and context');
SELECT is_empty($$SELECT what, query, answer FROM answers WHERE role = 'tenant' AND what = 'good' AND answer <> 'no error: 0'$$, 'a good value gives none, and is not seen');
SELECT isnt_empty($$SELECT 1 FROM answers WHERE role = 'tenant' AND answer LIKE 'TDE04%'$$, 'hidden values are compared');
-- Whether there is an error does not depend on what the values are compared with.
SELECT is_empty($$SELECT what, regexp_replace(query, '''.*''', '...') AS op FROM answers WHERE role = 'tenant' AND query LIKE 's.a = ''%' GROUP BY 1, 2
                  HAVING count(DISTINCT answer) > 1$$, 'nor does it depend on the other operand');
SELECT ok((SELECT bool_and(told(format('SELECT count(*) FROM secret_%s WHERE length(a) > 0', id)) !~ 'hidden') FROM kinds), 'no value in any error');

SELECT finish();
ROLLBACK;
