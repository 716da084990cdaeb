-- Encrypted versions of a user's own types: enums and types of other extensions.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
CREATE EXTENSION citext;
CREATE EXTENSION hstore;
CREATE EXTENSION ltree;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE color AS ENUM ('red', 'green');
CREATE SCHEMA "My Types";
CREATE TYPE "My Types"."Odd ""name" AS ENUM ('x', 'y');

SELECT is(tde_create_type(base)::text, enc, base || ' has an encrypted version') FROM (VALUES
  ('mood'::regtype, 'encrypted_mood'), ('color', 'encrypted_color'), ('citext', 'encrypted_citext'), ('hstore', 'encrypted_hstore'),
  ('ltree', 'encrypted_ltree'), ('point', 'encrypted_point'), ('cidr', 'encrypted_cidr'), ('xid', 'encrypted_xid'),
  ('money', 'encrypted_money')) AS t (base, enc);
SELECT is(tde_create_type('"My Types"."Odd ""name"', schema => '"My Types"')::text, '"My Types"."encrypted_Odd ""name"', 'in a schema of its own');
SELECT is((SELECT count(*) FROM tde.types WHERE NOT shipped), 10::bigint, 'they are the user''s');
SELECT is_empty($$SELECT pg_describe_object(classid, objid, 0) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
                  AND pg_describe_object(classid, objid, 0) ~ 'mood|color|citext\(|hstore\(|Odd'
                  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tde_column')$$, 'so are their functions and operators');

-- Each with its own values, under the specification of its column.
CREATE TABLE u (id int, m encrypted_mood, c encrypted_color(nosalt), t encrypted_citext, h encrypted_hstore(aes128, sha256), l encrypted_ltree,
                p encrypted_point, n encrypted_cidr, x encrypted_xid, y encrypted_money, o "My Types"."encrypted_Odd ""name");
INSERT INTO u VALUES (1, 'sad', 'red', 'Abc', 'a=>1', 'a.b', '(1,2)', '10.0.0.0/8', '5', '1.5', 'x'),
                     (2, 'happy', 'green', 'aBC', 'a=>2', 'a.b.c', '(3,4)', '10.0.0.0/9', '6', '2.5', 'y');
INSERT INTO u (id) VALUES (3);
INSERT INTO u (id, m, c, t) VALUES (4, 'ok', 'red', 'b');
SELECT results_eq('SELECT id FROM u WHERE m IS NOT NULL ORDER BY m DESC', ARRAY[2, 4, 1], 'an enum sorts in its order');
SELECT is((SELECT count(*) FROM u WHERE m > 'sad' AND m <= 'happy'::mood), 2::bigint, 'and is compared with literals and plain values');
SELECT is((SELECT min(m)::text || max(m)::text || max(t)::text || min(y)::text FROM u), 'sadhappyb$1.50', 'min and max, where the base type has them');
SELECT is((SELECT count(*) FROM pg_proc WHERE proname = 'max' AND proargtypes[0] IN ('encrypted_ltree'::regtype, 'encrypted_point'::regtype, 'encrypted_xid'::regtype)), 0::bigint,
          'and none where it has not');
SELECT is((SELECT count(DISTINCT t) || ' ' || count(DISTINCT lower(t::text)) FROM u), '2 2', 'citext is one value in either case');
SELECT is((SELECT count(*) FROM u a JOIN u b USING (t)), 5::bigint, 'and joins so');
SELECT is((SELECT count(*) FROM u WHERE t LIKE 'ab%' AND t = 'ABC'), 2::bigint, 'and is not text to LIKE');
SELECT throws_ok($$SELECT t = 'abc'::text FROM u$$, '42883', NULL, 'not compared with text, which would not be the same');
SELECT throws_ok('SELECT m = c FROM u', '42883', NULL, 'two enums cannot be compared');
SELECT throws_ok('SELECT p = p FROM u', '42883', NULL, 'no order and no equality without operator classes');
SELECT lives_ok('SELECT count(*) FROM u GROUP BY x', 'a hash class alone lets group');
SELECT throws_ok('SELECT x < x FROM u', '42883', NULL, 'but not order');
SELECT is((SELECT (h -> 'a') || (h['a']) FROM u WHERE id = 2), '22', 'functions and subscripts of the base type');
UPDATE u SET h['b'] = '7' WHERE id IN (2, 3);
SELECT results_eq('SELECT h::text FROM u WHERE id IN (2, 3) ORDER BY id', ARRAY['"a"=>"2", "b"=>"7"', '"b"=>"7"'], 'which assign, too');
SELECT is((SELECT count(DISTINCT stored(v)) FROM (SELECT ('a=>1'::hstore)::encrypted_hstore(aes128, salt) v FROM generate_series(1, 3) g OFFSET 0) s), 3::bigint, 'salted');
ALTER TYPE mood ADD VALUE 'great';
SELECT throws_ok('CREATE TABLE bad (m encrypted_mood(nomac))', '0A000', NULL, 'nomac is refused');

CREATE INDEX u_m ON u (m);
CREATE INDEX u_t ON u USING hash (t);
ALTER TABLE u ADD UNIQUE (l), ADD EXCLUDE (o WITH OPERATOR("My Types".=));
SET LOCAL enable_seqscan = off;
SELECT is((SELECT id FROM u WHERE m = 'happy'), 2, 'btree index on an enum');
SELECT is((SELECT count(*) FROM u WHERE t = 'ABC'), 2::bigint, 'hash index on citext');
SELECT throws_ok($$INSERT INTO u (l) VALUES ('a.b')$$, '23505', NULL, 'unique ltree');

SELECT ok(amvalidate(c.oid), format('amvalidate: %s for %s', opcname, opcintype::regtype))
FROM pg_opclass c JOIN tde.types t ON t.type = c.opcintype WHERE NOT shipped ORDER BY opcname;
SELECT set_eq('SELECT opcintype::regtype::text || amname FROM pg_opclass c JOIN tde.types t ON t.type = c.opcintype JOIN pg_am m ON m.oid = opcmethod WHERE NOT shipped',
  $$SELECT t.type::text || amname FROM tde.types t JOIN pg_opclass c ON opcdefault AND opcintype IN (t.base, CASE WHEN t.base = 'cidr'::regtype THEN 'inet'::regtype END,
      CASE WHEN (SELECT typtype FROM pg_type WHERE oid = t.base) = 'e' THEN 'anyenum'::regtype END) JOIN pg_am m ON m.oid = opcmethod
    WHERE NOT shipped AND amname IN ('btree', 'hash')$$, 'operator classes where the base types have them');

-- What cannot be had.
CREATE DOMAIN d AS int;
CREATE TYPE pair AS (a int);
SELECT throws_ok(format('SELECT tde_create_type(%L)', t), '0A000', 'cannot make an encrypted type of ' || t, 'no encrypted ' || t)
FROM unnest('{oid,public.d,public.pair,integer[],int4range,anyelement,cstring,encrypted_int4,int2vector}'::text[]) t;
SELECT throws_ok($$SELECT tde_create_type('int4')$$, '42710', 'type integer has an encrypted version already: encrypted_int4', 'one is enough');
SELECT throws_ok($$SELECT tde_create_type('mood')$$, '42710', 'type public.mood has an encrypted version already: public.encrypted_mood', 'of a user''s type, too');
CREATE TYPE encrypted_box AS ENUM ();
SELECT throws_ok($$SELECT tde_create_type('box')$$, '42710', 'type public.encrypted_box already exists', 'the name is taken');
CREATE TYPE type_with_a_name_of_fifty_bytes_and_some_more_letters AS ENUM ();
SELECT throws_ok($$SELECT tde_create_type('type_with_a_name_of_fifty_bytes_and_some_more_letters')$$, '42622', NULL, 'the name is too long');
SELECT throws_ok($$SELECT tde_internal.tde_create_type_in('box', NULL, NULL, gen_random_uuid())$$, '3F000', 'no schema has been selected to create the type in', 'no schema');
SELECT throws_ok(format('SELECT tde_create_type(''path'', %L)', s), '0A000', 'cannot make an encrypted type in schema ' || s, 'pg_dump would leave it out')
FROM unnest('{pg_catalog,information_schema,tde,tde_internal}'::text[]) s;
SET LOCAL search_path = pg_catalog, public;
SELECT throws_ok($$SELECT tde_create_type('path')$$, '0A000', 'cannot make an encrypted type in schema pg_catalog', 'not by the search path either');
SET LOCAL search_path = DEFAULT;
CREATE SCHEMA place;
CREATE TYPE place.seat AS ENUM ('aisle');
SELECT is(tde_create_type('place.seat')::text, 'place.encrypted_seat', 'beside the base type, if that is a user''s');
SET LOCAL search_path = place, public;
SELECT is(tde_create_type('line')::text, 'encrypted_line', 'PostgreSQL''s where one makes all else');
SET LOCAL search_path = DEFAULT;
SELECT is((SELECT typnamespace FROM pg_type WHERE typname = 'encrypted_line'), 'place'::regnamespace::oid, 'that is in the first schema of search_path');
SELECT throws_ok($$SELECT tde_create_type('box', 'public', '0c8d6fb5-7d0c-4b43-9b57-52b2f2a6d7a1')$$, '42710', NULL, 'the tag of another type');
CREATE ROLE nobody_special;
GRANT CREATE ON SCHEMA public TO nobody_special;
GRANT EXECUTE ON FUNCTION tde_create_type, tde_internal.tde_create_type_in TO nobody_special;
SET LOCAL ROLE nobody_special;
SELECT throws_ok($$SELECT tde_create_type('path')$$, '42501', 'must be superuser to make an encrypted type', 'not for everybody');
RESET ROLE;

--
-- tde_refresh_types() makes what is missing, once, and gives it to whom it belongs
--
CREATE TEMP TABLE before AS SELECT pg_identify_object(catalog, object, 0)::text AS object FROM tde_internal.tde_template_objects();
CREATE TEMP TABLE member_before AS SELECT pg_describe_object(classid, objid, 0) AS object FROM pg_depend WHERE refclassid = 'pg_extension'::regclass;
CREATE FUNCTION family_members() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT amopfamily::text || ' ' || amopopr::regoperator || amopstrategy FROM pg_amop WHERE amopfamily IN (SELECT oid FROM pg_opfamily WHERE opfname ~ 'tde|encr')
  UNION ALL
  SELECT amprocfamily::text || ' ' || amproc::regprocedure || amprocnum FROM pg_amproc WHERE amprocfamily IN (SELECT oid FROM pg_opfamily WHERE opfname ~ 'tde|encr')
$$;
CREATE TEMP TABLE family_before AS SELECT family_members();
SELECT is(tde_refresh_types(), 0, 'nothing is missing');

ALTER EXTENSION tde_column DROP CAST (encrypted_int4 AS int8);
ALTER EXTENSION tde_column DROP FUNCTION int8(encrypted_int4);
ALTER EXTENSION tde_column DROP OPERATOR *(encrypted_int4, numeric);
ALTER EXTENSION tde_column DROP OPERATOR <(encrypted_int8, int4);
ALTER EXTENSION tde_column DROP FUNCTION max(encrypted_text);
ALTER EXTENSION tde_column DROP OPERATOR CLASS encrypted_date_ops USING btree;
DROP CAST (encrypted_int4 AS int8);
DROP FUNCTION int8(encrypted_int4);
DROP OPERATOR *(encrypted_int4, numeric);
ALTER OPERATOR FAMILY tde_integer_ops USING btree DROP OPERATOR 1 (int8, int4), FUNCTION 1 (int8, encrypted_int2);
DROP OPERATOR <(encrypted_int8, int4);
DROP AGGREGATE max(encrypted_text);
DROP OPERATOR CLASS encrypted_date_ops USING btree;
DROP CAST (encrypted_citext AS text);
DROP CAST (encrypted_ltree AS ltree);
SELECT is((SELECT base FROM tde.types WHERE type = 'encrypted_ltree'::regtype), 'ltree'::regtype, 'a type without its cast is one still');
DROP OPERATOR >(encrypted_mood, mood);
DROP FUNCTION tde_ge(mood, encrypted_mood) CASCADE;
DROP OPERATOR FAMILY encrypted_ltree_ops USING btree CASCADE;
ALTER TYPE encrypted_hstore SET (SUBSCRIPT = NONE);
SELECT cmp_ok(tde_refresh_types(), '>', 8, 'what was dropped is made again');
SELECT is(tde_refresh_types(), 0, 'once');
SELECT set_eq('SELECT pg_identify_object(catalog, object, 0)::text FROM tde_internal.tde_template_objects()',
              'SELECT object FROM before UNION ALL VALUES (''(function,public,,"public.family_members()")'')', 'all is there again');
SELECT is((SELECT count(*) FROM family_members()), (SELECT count(*) FROM family_before), 'families have all members');
SELECT set_eq('SELECT pg_describe_object(classid, objid, 0) FROM pg_depend WHERE refclassid = ''pg_extension''::regclass', 'SELECT object FROM member_before',
              'the extension''s belongs to it, the user''s does not');
SELECT is((SELECT count(*) FROM u WHERE h['b'] = '7'), 2::bigint, 'subscripts work again');
SELECT is_empty('SELECT opcname FROM pg_opclass c JOIN tde.types t ON t.type = c.opcintype WHERE NOT amvalidate(c.oid)', 'amvalidate finds nothing');
SELECT is_empty('SELECT o.oid::regoperator FROM pg_operator o WHERE oprcode = 0', 'no operator is a shell');

SELECT finish();
ROLLBACK;
