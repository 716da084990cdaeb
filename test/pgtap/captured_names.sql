-- Nobody but a superuser makes a function, an operator, an aggregate or a cast that is called for encrypted values in place of PostgreSQL's
-- or the extension's: by any name that this server has, for any type of arguments, by any statement.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

CREATE ROLE captor;
CREATE SCHEMA captor AUTHORIZATION captor;
CREATE SCHEMA elsewhere AUTHORIZATION captor;
CREATE DOMAIN held AS encrypted_text(aes256);
CREATE DOMAIN held_list AS encrypted_text[];
CREATE TYPE span AS RANGE (subtype = encrypted_int4);
CREATE TABLE person (name encrypted_text, age encrypted_int4);
CREATE FUNCTION captor.same(anyelement, anyelement) RETURNS boolean LANGUAGE sql AS 'SELECT true';
SELECT format('CREATE FUNCTION captor.same(%s, %1$s) RETURNS boolean LANGUAGE sql AS ''SELECT true''', enc) FROM family \gexec
CREATE FUNCTION captor.state(int, anyelement) RETURNS int LANGUAGE sql AS 'SELECT 1';

-- What the role is told: SQLSTATE and message; NULL if it is allowed.
CREATE FUNCTION captor_is_told(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  told text;
BEGIN
  PERFORM set_config('role', 'captor', true);
  told := complaint(statement);
  PERFORM set_config('role', 'none', true);
  RETURN told;
END
$$;

-- Statements that make something of a name that PostgreSQL has for a base type, for the encrypted type of it.
CREATE FUNCTION captures(f family) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT DISTINCT format('CREATE FUNCTION captor.%I(%s) RETURNS int LANGUAGE sql AS ''SELECT 1''', proname, taken)
  FROM pg_proc, unnest(ARRAY[f.enc::text, f.enc::text || '[]', 'anyelement', 'anycompatible', 'int, VARIADIC ' || f.enc || '[]']) AS taken
  WHERE oid < 12000 AND proargtypes[0] = f.base
    AND (taken = f.enc::text OR oid::int8 % 10 = 0)           -- of most shapes some names tell
  UNION ALL
  SELECT DISTINCT format('CREATE FUNCTION captor.%I(text, anyelement) RETURNS int LANGUAGE sql AS ''SELECT 1''', proname)
  FROM pg_proc WHERE oid < 12000 AND proargtypes[1] = f.base AND oid::int8 % 10 = 0
  UNION ALL
  SELECT DISTINCT format('CREATE AGGREGATE captor.%I(%s) (sfunc = captor.state, stype = int)', proname, taken)
  FROM pg_proc, unnest(ARRAY[f.enc::text, 'anyelement']) AS taken
  WHERE oid < 12000 AND prokind = 'a' AND proargtypes[0] = f.base
  UNION ALL
  SELECT DISTINCT format('CREATE OPERATOR captor.%s (leftarg = %s, rightarg = %s, function = captor.same)', oprname, taken, taken)
  FROM pg_operator, unnest(ARRAY[f.enc::text, 'anyelement']) AS taken
  WHERE oid < 12000 AND f.base IN (oprleft, oprright) AND oprleft <> 0
$$;
SELECT cmp_ok((SELECT count(*) FROM captures(f)), '>', 5::bigint, format('ways to take calls for %s are found', enc)) FROM family f ORDER BY name;
SELECT is_empty(format($$SELECT told, statement FROM (SELECT statement, captor_is_told(statement) AS told FROM family f, captures(f) statement WHERE name = %L) s
                         WHERE told IS NULL OR told !~ '^42501 must be superuser to give '$$, name), format('none of them is allowed for %s', enc))
FROM family f ORDER BY name;

-- The extension's own functions, whatever the arguments: secrets go there, as constants that have no type.
SELECT is_empty($$
  SELECT told, proname FROM (
    SELECT DISTINCT proname, captor_is_told(format('CREATE FUNCTION captor.%I(varchar) RETURNS int LANGUAGE sql AS ''SELECT 1''', proname)) AS told
    FROM pg_proc JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = pg_proc.oid AND d.deptype = 'e'
    JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'tde_column'
    WHERE pronamespace = 'pg_catalog'::regnamespace AND proname LIKE 'tde\_%') s
  WHERE told IS NULL OR told !~ '^42501'$$, 'the names of the extension''s own functions are not to be had');

-- What takes encrypted values, however it is declared
SELECT matches(captor_is_told(format('CREATE FUNCTION captor.%s RETURNS int LANGUAGE sql AS ''SELECT 1''', signature)), '^42501', signature)
FROM unnest(ARRAY['lower(held)', 'lower(held_list)', 'lower(encrypted_varchar)', 'lower(int, encrypted_text)', 'lower(a int, b encrypted_text DEFAULT NULL)',
                  'lower(IN a encrypted_int4)', 'lower(span)', 'array_to_string(encrypted_text[], text)', 'concat(VARIADIC encrypted_text[])',
                  'lower(VARIADIC anyarray)', 'strpos(anyelement, varchar)', 'power(anynonarray, int)', 'array_to_tsvector(anyarray)',
                  'array_to_tsvector(anycompatiblearray)']) AS signature;
SELECT is(captor_is_told(format('CREATE FUNCTION captor.%s RETURNS int LANGUAGE sql AS ''SELECT 1''', signature)), NULL, signature || ' may be made')
FROM unnest(ARRAY['own(encrypted_text)', 'own(anyelement)', 'lower(text)', 'lower(varchar)', 'round(float8, int)', 'age(person)',
                  'array_ndims(anyelement)', 'array_upper(anyarray)', 'array_append(anyarray)']) AS signature;

-- A type of a function's name: a call that none fits exactly is a cast to it, and runs its checks.
CREATE FUNCTION type_is_told(name name) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(told, '; ') FROM (
    SELECT format('%s: %s', definition, captor_is_told(format('CREATE %s', format(definition, 'captor.' || quote_ident(name))))) AS told
    FROM unnest(ARRAY['DOMAIN %s AS encrypted_text(aes256)', 'DOMAIN %s AS encrypted_int4(aes256)', 'DOMAIN %s AS xml',
                      'TYPE %s AS ENUM (''a'')', 'TYPE %s AS RANGE (subtype = pg_lsn)', 'TYPE r AS RANGE (subtype = pg_lsn, multirange_type_name = %s)']) AS definition) t
  WHERE told !~ ': 42501 must be superuser to give a type this name'
$$;
SELECT is_empty($$
  SELECT proname, told FROM (SELECT DISTINCT proname, type_is_told(proname) AS told FROM pg_proc
    WHERE oid < 12000 AND pronargs = 1 AND proargtypes[0] = 'text'::regtype
      AND NOT EXISTS (SELECT FROM pg_type WHERE typname = proname AND oid < 12000)) s
  WHERE told IS NOT NULL$$, 'no type has the name of a function of text');
-- Nor of a function of any type: no value fits that exactly.
SELECT is_empty($$
  SELECT DISTINCT proname, definition, told FROM pg_proc,
    unnest(ARRAY['DOMAIN %s AS encrypted_text(aes256)', 'DOMAIN %s AS encrypted_text[]', 'DOMAIN %s AS xml', 'TYPE %s AS RANGE (subtype = encrypted_text)']) AS definition,
    LATERAL (SELECT captor_is_told(format('CREATE %s', format(definition, 'captor.' || quote_ident(proname)))) AS told) t
  WHERE oid < 12000 AND pronargs - pronargdefaults <= 1
    AND proargtypes[0] IN (SELECT oid FROM pg_type WHERE typname ~ '^any' AND typtype = 'p')
    AND NOT EXISTS (SELECT FROM pg_type WHERE typname = proname AND oid < 12000)
    AND (told ~ '^42501 must be superuser to give a type this name') IS NOT true$$, 'no type that takes encrypted values has the name of a function of any type');
SELECT matches(captor_is_told(statement), '^42501', statement)
FROM unnest(ARRAY['CREATE DOMAIN captor.abs AS text', 'CREATE DOMAIN captor.abs AS varchar(10)', 'CREATE DOMAIN captor.isfinite AS name',
                  'CREATE DOMAIN captor.length AS int']) AS statement;
SELECT is(captor_is_told(statement), NULL, statement || ' is allowed')
FROM unnest(ARRAY['CREATE DOMAIN captor.age AS int', 'CREATE DOMAIN captor.lower AS text', 'CREATE DOMAIN captor.name AS text', 'CREATE TABLE captor.upper (a int)',
                  'CREATE TYPE captor.md5 AS (a int)', 'CREATE TYPE captor.status AS ENUM (''a'')', 'CREATE DOMAIN captor.to_json AS text', 'CREATE TYPE captor.mode AS ENUM (''a'')',
                  'CREATE DOMAIN pg_temp.reverse AS encrypted_text(aes256)', 'CREATE DOMAIN captor.free AS encrypted_text(aes256)']) AS statement;
SELECT matches(captor_is_told(statement), '^42501', statement)
FROM unnest(ARRAY['ALTER DOMAIN captor.free RENAME TO reverse', 'ALTER TYPE captor.free RENAME TO initcap', 'ALTER TYPE captor.status RENAME TO initcap']) AS statement;
DROP DOMAIN captor.lower;
DROP TABLE captor.upper;
DROP TYPE captor.md5;
CREATE DOMAIN captor.reverse AS encrypted_text(aes256);
ALTER DOMAIN captor.reverse OWNER TO captor;
SELECT is(array_agg(replace(object, 'public.', '') || ': ' || hint), ARRAY['captor.reverse: See what it does. ALTER DOMAIN captor.reverse RENAME TO another name, or DROP it.'],
          'the audit lists types') FROM tde_audit() WHERE topic = 'captured names';
DROP DOMAIN captor.reverse;

-- By every statement
CREATE FUNCTION captor.upper(encrypted_text) RETURNS int LANGUAGE sql AS 'SELECT 1';      -- as if from before the extension
CREATE FUNCTION captor.mine(encrypted_text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE captor.max(encrypted_text) (sfunc = captor.state, stype = int);
CREATE AGGREGATE captor.total(encrypted_text) (sfunc = captor.state, stype = int);
CREATE PROCEDURE captor.initcap(encrypted_text) LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE captor.mine(encrypted_int4) LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR captor.~ (leftarg = encrypted_text, rightarg = encrypted_text, function = captor.same);
CREATE OPERATOR captor.=== (leftarg = encrypted_text, rightarg = encrypted_text, function = captor.same);
CREATE TYPE captor.word AS ENUM ('a');
CREATE FUNCTION captor.word(encrypted_text) RETURNS captor.word LANGUAGE sql AS $$ SELECT 'a'::captor.word $$;
CREATE FUNCTION captor.cipher(captor.word) RETURNS encrypted_text LANGUAGE sql AS $$ SELECT 'a'::encrypted_text $$;
DO $$
DECLARE
  owned text;
BEGIN
  FOREACH owned IN ARRAY ARRAY['FUNCTION captor.upper', 'FUNCTION captor.mine(encrypted_text)', 'AGGREGATE captor.max(encrypted_text)', 'AGGREGATE captor.total(encrypted_text)',
                               'PROCEDURE captor.initcap', 'PROCEDURE captor.mine(encrypted_int4)', 'OPERATOR captor.~(encrypted_text, encrypted_text)',
                               'OPERATOR captor.===(encrypted_text, encrypted_text)', 'TYPE captor.word', 'FUNCTION captor.word', 'FUNCTION captor.cipher',
                               'FUNCTION captor.state', 'TABLE person'] LOOP
    EXECUTE format('ALTER %s OWNER TO captor', owned);
  END LOOP;
END
$$;
SELECT matches(captor_is_told(statement), '^42501 must be superuser to ', statement)
FROM unnest(ARRAY['CREATE OR REPLACE FUNCTION captor.upper(encrypted_text) RETURNS int LANGUAGE sql AS ''SELECT 2''',
                  'CREATE PROCEDURE captor.lower(encrypted_text) LANGUAGE sql AS ''SELECT 2''',
                  'ALTER FUNCTION captor.upper STABLE', 'ALTER FUNCTION captor.upper SET SCHEMA elsewhere', 'ALTER ROUTINE captor.upper SECURITY DEFINER',
                  'ALTER FUNCTION captor.mine(encrypted_text) RENAME TO lower', 'ALTER ROUTINE captor.mine(encrypted_text) RENAME TO lower',
                  'ALTER PROCEDURE captor.mine(encrypted_int4) RENAME TO abs', 'ALTER PROCEDURE captor.initcap SET SCHEMA elsewhere',
                  'ALTER AGGREGATE captor.total(encrypted_text) RENAME TO min', 'ALTER AGGREGATE captor.max(encrypted_text) SET SCHEMA elsewhere',
                  'ALTER OPERATOR captor.~(encrypted_text, encrypted_text) SET SCHEMA elsewhere',
                  'ALTER OPERATOR captor.~(encrypted_text, encrypted_text) SET (RESTRICT = NONE)',
                  'DO $d$ BEGIN EXECUTE ''CREATE FUNCTION captor.lower(encrypted_text) RETURNS int LANGUAGE sql AS $f$SELECT 1$f$''; END $d$',
                  'CREATE CAST (encrypted_text AS captor.word) WITH FUNCTION captor.word(encrypted_text) AS IMPLICIT',
                  'CREATE CAST (encrypted_text AS captor.word) WITH FUNCTION captor.word(encrypted_text) AS ASSIGNMENT',
                  'CREATE CAST (captor.word AS encrypted_text) WITH FUNCTION captor.cipher(captor.word) AS IMPLICIT',
                  'CREATE CAST (encrypted_text AS captor.word) WITH INOUT AS IMPLICIT']) AS statement;
SELECT is(captor_is_told(statement), NULL, statement || ' is allowed')
FROM unnest(ARRAY['CREATE FUNCTION pg_temp.lower(encrypted_text) RETURNS int LANGUAGE sql AS ''SELECT 1''',
                  'CREATE CAST (encrypted_text AS captor.word) WITH FUNCTION captor.word(encrypted_text)',
                  'ALTER FUNCTION captor.mine(encrypted_text) RENAME TO other', 'ALTER OPERATOR captor.===(encrypted_text, encrypted_text) SET SCHEMA elsewhere',
                  'CREATE AGGREGATE captor.sum(person) (sfunc = captor.state, stype = int)']) AS statement;

-- The audit lists what is there, with what to do.
SELECT is(array_agg(severity || ': ' || replace(object, 'public.', '') ORDER BY object COLLATE "C"),
          ARRAY['warning: captor.initcap(encrypted_text)', 'warning: captor.max(encrypted_text)', 'warning: captor.upper(encrypted_text)',
                'warning: captor.~(encrypted_text,encrypted_text)'], 'the audit lists those that there are')
FROM tde_audit() WHERE topic = 'captured names';
SELECT is(array_agg(complaint(substring(hint FROM '(ALTER .* RENAME TO) another name') || ' former' || n)), ARRAY[NULL, NULL, NULL],
          'and says how they are renamed')
FROM (SELECT hint, row_number() OVER () AS n FROM tde_audit() WHERE topic = 'captured names' AND hint LIKE '%RENAME%') h;
SELECT is(array_agg(replace(object, 'public.', '')), ARRAY['captor.~(encrypted_text,encrypted_text)'], 'after which they are gone')
FROM tde_audit() WHERE topic = 'captured names';
DROP CAST (encrypted_text AS captor.word);
CREATE CAST (encrypted_text AS captor.word) WITH FUNCTION captor.word(encrypted_text) AS IMPLICIT;
DROP OPERATOR captor.~ (encrypted_text, encrypted_text);
SELECT is(array_agg(finding), ARRAY['made by captor: applied to encrypted values by itself'], 'a cast is listed, too')
FROM tde_audit() WHERE topic = 'captured names';
DROP CAST (encrypted_text AS captor.word);
SELECT is(array_agg(severity), ARRAY['ok'], 'nothing is left') FROM tde_audit() WHERE topic = 'captured names';

-- A type of somebody's own: from when it is encrypted.
CREATE TYPE mood AS ENUM ('sad', 'happy');
SELECT tde_create_type('mood');
SELECT matches(captor_is_told('CREATE FUNCTION captor.enum_first(encrypted_mood) RETURNS int LANGUAGE sql AS ''SELECT 1'''), '^42501', 'a user''s encrypted type');
SELECT is(array_agg(severity), ARRAY['ok'], 'what tde_create_type() makes is no capture') FROM tde_audit() WHERE topic = 'captured names';

SELECT finish();
ROLLBACK;
