-- What the extension's objects look like in the catalogs: labels, volatilities, casts, operators, privileges, comments.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

CREATE TEMP TABLE member AS
  SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND x.extname = 'tde_column';
CREATE TEMP TABLE fn AS
  SELECT p.*, p.oid::regprocedure::text AS signature,
         EXISTS (SELECT FROM family f WHERE f.enc = p.prorettype OR f.enc = ANY (p.proargtypes)) AS on_values
  FROM pg_proc p JOIN member m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid;
CREATE TEMP TABLE enc_type AS SELECT t.*, f.enc, f.base, f.name FROM family f JOIN pg_type t ON t.oid = f.enc;

--
-- Types
--
SELECT is_empty('SELECT enc FROM family WHERE name <> ''encrypted_'' || (SELECT typname FROM pg_type WHERE oid = base)',
                'types are named encrypted_ and the base type''s internal name');
SELECT is_empty($$SELECT e.enc FROM enc_type e JOIN pg_type b ON b.oid = e.base
                  WHERE (e.typcategory, e.typispreferred, e.typcollation <> 0, e.typlen, e.typstorage, e.typalign, e.typdelim) IS DISTINCT FROM
                        (b.typcategory, false, b.typcollation <> 0, -1::int2, 'e'::"char", 'i'::"char", b.typdelim)$$,
                'category and collatability are the base type''s; never preferred; stored external, since ciphertext does not compress');
SELECT is_empty('SELECT enc FROM enc_type WHERE 0 IN (typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typarray)',
                'types have text and binary I/O, modifiers, statistics and an array type');
SELECT is_empty('SELECT enc FROM family WHERE obj_description(enc, ''pg_type'') IS NULL', 'types have a comment');

-- Tags are part of the value format: these never change, and no two are equal.
CREATE FUNCTION tag(type regtype) RETURNS uuid LANGUAGE sql AS $$
  SELECT substring(pg_get_function_sqlbody(typmodin) FROM '[-0-9a-f]{36}')::uuid FROM pg_type WHERE oid = type
$$;
SELECT is(tag(('encrypted_' || name)::regtype), tag, 'the tag of encrypted_' || name) FROM (VALUES
  ('text',        uuid '0c8d6fb5-7d0c-4b43-9b57-52b2f2a6d7a1'),
  ('varchar',     '6d2a1c1e-0d5f-4c0b-8f0c-9c8e0e4f5b12'),
  ('numeric',     'b1f0a7a3-3c4e-4d7e-9a51-0a9c2f6d8e23'),
  ('int4',        '2f7e9d84-5b6a-4a1d-8c3e-7e1f0b9a6c34'),
  ('int8',        '9e3b5c76-1a2d-4f8e-b4c5-3d6a8f7e0b45'),
  ('date',        '47a6d2e8-8f1b-4e9c-a7d3-6b5c4a3f2e56'),
  ('timestamptz', 'd8c1b0a9-2e3f-4a5b-8c7d-1f0e9d8c7b67'),
  ('bytea',       '5a4b3c2d-9f8e-4d7c-b6a5-4f3e2d1c0b78')) AS shipped (name, tag);
SELECT is((SELECT count(DISTINCT tag(enc)) FROM family), (SELECT count(*) FROM family), 'no two types have one tag');

-- Operand types have the bytes of the types that they stand for, and are what the parser prefers to others of their category.
CREATE TEMP TABLE operand_type AS
  SELECT t.*, c.casttarget FROM pg_type t JOIN member m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid
  JOIN pg_cast c ON c.castsource = t.oid AND castmethod = 'b' WHERE typname ~ '^plain_';
SELECT set_eq('SELECT typname FROM operand_type', '{plain_int4,plain_int8,plain_decimal,plain_numeric,plain_fraction,plain_timestamp,plain_bytea}'::name[], 'the operand types');
SELECT is_empty($$SELECT o.typname FROM operand_type o JOIN pg_type b ON b.oid = casttarget
                  WHERE (o.typlen, o.typbyval, o.typalign, o.typstorage) <> (b.typlen, b.typbyval, b.typalign, b.typstorage)
                     OR o.typcategory <> CASE o.typname WHEN 'plain_bytea' THEN 'U' WHEN 'plain_timestamp' THEN 'D' ELSE 'N' END OR o.typispreferred <> (o.typname <> 'plain_fraction') OR obj_description(o.oid, 'pg_type') IS NULL
                     OR NOT EXISTS (SELECT FROM pg_cast c WHERE castsource = b.oid AND c.casttarget = o.oid AND castcontext = 'i' AND castmethod = 'b')$$,
                'they are their base types by another name, with a comment; all but one are preferred');

--
-- Functions
--
SELECT cmp_ok((SELECT count(*) FROM fn WHERE on_values), '>', 100::bigint, 'functions are found');
SELECT is_empty('SELECT signature FROM fn WHERE obj_description(oid, ''pg_proc'') IS NULL', 'functions have a comment');
SELECT is_empty('SELECT signature FROM fn WHERE on_values AND (proparallel <> ''s'' OR NOT proisstrict OR prosecdef OR proleakproof AND prosrc !~ ''^tde_(padded_)?(pattern_)?(eq|ne|lt|le|gt|ge|cmp)$'')
                 AND prolang = (SELECT oid FROM pg_language WHERE lanname = ''c'')
                 AND oid NOT IN (SELECT aggtransfn FROM pg_aggregate WHERE aggtranstype = ''internal''::regtype)
                 AND prosrc <> ''tde_transition''',
                'functions of values are parallel safe and strict, and none but comparisons is leakproof');
SELECT is_empty('SELECT signature FROM fn WHERE proparallel = ''s'' AND provolatile = ''v'' AND proname <> ''tde_result''',
                'nothing volatile is labelled parallel safe, but for what is only volatile so that sorts do not see plaintext');
SELECT is_empty('SELECT f.enc FROM family f LEFT JOIN fn ON fn.proname = ''tde_result'' AND fn.proargtypes::text = f.enc::oid || '' 23''
                 WHERE fn.prorettype IS DISTINCT FROM f.base OR fn.provolatile <> ''v''', 'each type has a function for transparent results');
SELECT is_empty($$SELECT signature FROM fn WHERE provolatile = 'v' AND oid IN (
                    SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout]::oid[]) FROM enc_type
                    UNION SELECT castfunc FROM pg_cast)$$, 'no I/O or cast function is volatile');
SELECT is_empty($$SELECT signature FROM fn WHERE provolatile <> 's' AND oid IN (
                    SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout]::oid[]) FROM enc_type
                    UNION SELECT castfunc FROM pg_cast WHERE casttarget IN (SELECT enc FROM family) OR castsource IN (SELECT enc FROM family))$$,
                'they are stable: immutable ones would be folded, and one salt shared by many rows');
SELECT is_empty($$SELECT signature FROM fn WHERE prosecdef AND has_function_privilege('public', oid, 'EXECUTE')$$,
                'no function that is SECURITY DEFINER is for everybody');
SELECT is_empty($$SELECT signature FROM fn JOIN pg_language l ON l.oid = prolang WHERE lanname = 'plpgsql'
                  AND prokind <> 'p' AND NOT coalesce(array_to_string(proconfig, ' ') ~ 'search_path=pg_catalog', false)$$,
                'functions in PL/pgSQL do not depend on search_path');
SELECT is_empty($$SELECT signature FROM fn WHERE prokind = 'p' AND prosrc !~ 'SET LOCAL search_path = pg_catalog'
                  AND regexp_replace(prosrc, ':=|=>', '', 'g') ~ '[-+*/<>=|]'$$,
                'nor do procedures, which set it if they have an operator');

--
-- Casts
--
CREATE TEMP TABLE cast_ AS
  SELECT c.*, f.enc, f.base, p.pronargs, p.provolatile, format('%s -> %s', castsource::regtype, casttarget::regtype) AS name
  FROM pg_cast c JOIN family f ON f.enc IN (castsource, casttarget) LEFT JOIN pg_proc p ON p.oid = castfunc;
SELECT is_empty('SELECT name FROM cast_ WHERE castmethod <> ''f''', 'no cast does without a function');
SELECT is_empty($$SELECT enc FROM family f WHERE NOT EXISTS (SELECT FROM cast_ WHERE castsource = f.enc AND casttarget = f.enc
                  AND castcontext = 'i' AND pronargs = 3)$$, 'types have a length coercion');
SELECT is_empty($$SELECT enc FROM family f WHERE NOT EXISTS (SELECT FROM cast_ WHERE castsource = f.enc AND casttarget = f.base
                  AND castcontext = 'i')$$, 'an encrypted value is its base type''s, implicitly');
SELECT is_empty($$SELECT name FROM cast_ c WHERE casttarget = enc AND castsource <> enc AND (pronargs <> 3 OR castcontext <> coalesce(
                    (SELECT CASE WHEN s.enc IS NOT NULL AND c.base <> 'interval'::regtype OR b.castsource = ANY ('{int2,int4,int8,numeric,float4}'::regtype[])
                                   AND c.base = ANY ('{int8,numeric,float4,float8}'::regtype[])
                                   OR ARRAY[b.castsource::regtype, c.base] <@ '{text,varchar,bpchar,name}'::regtype[] AND b.castsource <> 'varchar'::regtype
                                   OR (b.castsource, c.base) = ('varchar'::regtype, 'text'::regtype)
                                   OR c.base = 'timestamptz'::regtype AND b.castsource IN ('date'::regtype, 'timestamp'::regtype) OR b.castcontext = 'e' THEN b.castcontext ELSE 'a' END
                     FROM pg_cast b LEFT JOIN family s ON s.enc = c.castsource
                     WHERE b.castsource = coalesce(s.base, c.castsource) AND b.casttarget = c.base AND b.castsource <> b.casttarget), 'a'))$$,
                'what becomes an encrypted value does so by assignment, larger numbers, strings, timestamptz and encrypted values, but a time, as the base types do; all know the '
                'column''s modifiers');
SELECT is_empty($$SELECT enc FROM family f WHERE NOT EXISTS (SELECT FROM cast_ WHERE castsource = f.base AND casttarget = f.enc)$$,
                'the base type can be assigned');
SELECT set_eq($$SELECT name FROM cast_ WHERE castsource = enc AND casttarget <> base AND casttarget < 12000 AND castcontext = 'i'$$,
              $$SELECT format('%s -> %s', f.enc, b.casttarget::regtype) FROM family f JOIN pg_cast b ON b.castsource = f.base AND b.castcontext = 'i' AND b.casttarget <> f.base
                WHERE ARRAY[f.base, b.casttarget::regtype] <@ '{text,varchar,bpchar,name}'::regtype[] AND (f.base, b.casttarget) <> ('bpchar'::regtype, 'name'::regtype)
                   OR b.casttarget = ANY ('{int4,int8,numeric,float4,float8,oid,timestamp,timestamptz,interval}'::regtype[])$$,
              'strings, numbers and moments become others implicitly as the base types do');
SELECT is_empty($$SELECT name FROM cast_ c WHERE castsource = enc AND castcontext = 'i' AND casttarget >= 12000 AND casttarget NOT IN (SELECT enc FROM family)
                  AND casttarget NOT IN (SELECT oid FROM pg_type WHERE typnamespace = 'tde_internal'::regnamespace AND typname ~ '^(plain|same)_')$$,
                'of the types that only functions and operators take, they become two sorts');
SELECT is_empty($$SELECT f.enc, b.casttarget::regtype FROM family f JOIN pg_cast b ON b.castsource = f.base
                  JOIN pg_type t ON t.oid = b.casttarget AND t.oid < 12000
                  WHERE b.casttarget NOT IN (f.base, '"char"'::regtype, 'name'::regtype, 'xml'::regtype, 'money'::regtype)
                    AND t.typcategory NOT IN ('R') AND b.casttarget::regtype::text !~ '^reg|^oid$'
                    AND NOT EXISTS (SELECT FROM cast_ c WHERE c.castsource = f.enc AND c.casttarget = b.casttarget)$$,
                'what the base type can be cast to, the encrypted type can');
SELECT is_empty($$SELECT b.castsource::regtype, f.enc FROM family f JOIN pg_cast b ON b.casttarget = f.base
                  WHERE b.castsource NOT IN (f.base, '"char"'::regtype, 'name'::regtype, 'xml'::regtype, 'money'::regtype) AND b.castsource < 16384
                    AND NOT EXISTS (SELECT FROM cast_ c WHERE c.castsource = b.castsource AND c.casttarget = f.enc)$$,
                'and what can be cast to the base type, to the encrypted one');

--
-- Operators and operator classes
--
CREATE TEMP TABLE operator AS SELECT o.*, o.oid::regoperator::text AS signature FROM pg_operator o
  JOIN member m ON m.classid = 'pg_operator'::regclass AND m.objid = o.oid;
SELECT is_empty($$SELECT signature FROM operator o JOIN pg_proc p ON p.oid = oprcode LEFT JOIN family l ON l.enc = oprleft LEFT JOIN family r ON r.enc = oprright
                  WHERE o.oprresult = 'bool'::regtype AND o.oprname !~ '[~@]' AND p.provolatile <> coalesce((SELECT bp.provolatile FROM pg_operator b JOIN pg_proc bp ON bp.oid = b.oprcode WHERE b.oid < 12000 AND b.oprname = '='
                    AND b.oprleft = coalesce(l.base, o.oprleft) AND b.oprright = coalesce(r.base, o.oprright)), 'i')$$,
                'comparisons are immutable, as index members must be, but where the base types'' own depend on the time zone');
SELECT is_empty($$SELECT signature FROM operator o JOIN pg_proc p ON p.oid = oprcode WHERE o.oprresult <> 'bool'::regtype AND p.provolatile <> 's'$$,
                'what returns plain values is stable, so that no index can hold them');
SELECT is_empty($$SELECT signature FROM operator WHERE oprname IN ('=', '<>', '<', '<=', '>', '>=') AND 0 IN (oprcom, oprnegate, oprrest::oid, oprjoin::oid)
                  AND oprleft <> 'xid'::regtype$$,
                'comparisons have commutator, negator and selectivity estimators');
SELECT is_empty($$SELECT o.signature FROM operator o WHERE oprcom <> 0 AND NOT EXISTS (SELECT FROM pg_operator c WHERE c.oid = o.oprcom AND c.oprcom = o.oid)
                  UNION SELECT o.signature FROM operator o WHERE oprnegate <> 0 AND NOT EXISTS (SELECT FROM pg_operator n WHERE n.oid = o.oprnegate AND n.oprnegate = o.oid)$$,
                'commutators and negators are mutual, and complete');
SELECT is_empty($$SELECT signature FROM operator WHERE (oprcanhash OR oprcanmerge) AND NOT EXISTS (
                    SELECT FROM pg_amop JOIN pg_am m ON m.oid = amopmethod WHERE amopopr = operator.oid AND m.amname IN ('btree', 'hash'))$$,
                'HASHES and MERGES only for members of a family');
SELECT ok(amvalidate(c.oid), format('amvalidate: %s for %s', opcname, opcintype::regtype))
FROM pg_opclass c JOIN member m ON m.classid = 'pg_opclass'::regclass AND m.objid = c.oid ORDER BY opcname;
SELECT is_empty($$SELECT f.enc FROM family f WHERE EXISTS (
                    SELECT FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod WHERE amname = 'btree' AND opcdefault AND (opcintype = f.base OR EXISTS (
                      SELECT FROM pg_cast WHERE castsource = f.base AND casttarget = opcintype AND castmethod = 'b' AND castcontext = 'i')))
                  AND NOT EXISTS (SELECT FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod WHERE amname = 'btree' AND opcdefault AND opcintype = f.enc)$$,
                'types whose base type has an order have a default btree operator class');
SELECT is_empty($$SELECT amproc FROM pg_amproc p JOIN pg_opfamily o ON o.oid = amprocfamily JOIN pg_am m ON m.oid = opfmethod
                  JOIN family f ON f.enc = amproclefttype WHERE amname = 'btree' AND amprocnum = 4$$,
                'no equalimage: equal values have different bytes, so btrees must not deduplicate');

--
-- Relations, privileges, event trigger
--
SELECT is_empty($$SELECT objid::regclass FROM member WHERE classid = 'pg_class'::regclass AND obj_description(objid, 'pg_class') IS NULL
                  AND objid IN (SELECT oid FROM pg_class WHERE relkind IN ('r', 'v'))$$, 'tables and views have a comment');
SELECT ok(NOT has_any_column_privilege('public', 'tde.data_keys', 'SELECT, INSERT, UPDATE'), 'wrapped keys are not for everybody');
SELECT ok('user_catalog_table=true' = ANY (reloptions), 'logical decoding can read the keys') FROM pg_class WHERE oid = 'tde.data_keys'::regclass;
SELECT is_empty($$SELECT extconfig FROM pg_extension WHERE extname = 'tde_column' AND 'tde.data_keys'::regclass = ANY (extconfig)$$, 'keys are not dumped');
SELECT is_empty($$SELECT signature FROM fn WHERE NOT on_values AND proname ~ '^tde_(wallet|create|ensure|ddl)' AND has_function_privilege('public', oid, 'EXECUTE')$$,
                'wallet, keys and types are not for everybody to manage');
SELECT set_eq($$SELECT objid::regclass::text FROM member JOIN pg_class c ON c.oid = objid WHERE classid = 'pg_class'::regclass AND relkind IN ('r', 'v')
                AND has_table_privilege('public', c.oid, 'SELECT')$$, 
                ARRAY['tde.stats', 'tde.encrypted_columns', 'tde.types', 'tde.conversions', 'tde.all_encrypted_columns', 'tde.user_encrypted_columns',
                      'tde.progress', 'tde.decryptions'], 'what everybody may read');
SELECT is(evtenabled, 'A'::"char", 'the event trigger fires in every session_replication_role') FROM pg_event_trigger WHERE evtname = 'tde_column_ddl';
SELECT isnt((SELECT obj_description(oid, 'pg_event_trigger') FROM pg_event_trigger WHERE evtname = 'tde_column_ddl'), NULL, 'and has a comment');

SELECT finish();
ROLLBACK;
