-- What the planner expects of a condition on an encrypted column is what it expects of a plain one: all operators of btree and of the classes of
-- GIN, of all types, with an index or without.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE EXTENSION pg_trgm;
CREATE EXTENSION hstore;
SELECT tde_create_type('tsvector'), tde_create_type('hstore') \g /dev/null
SELECT tde_create_gin_class('gin_trgm_ops'), tde_create_gin_class('gin_hstore_ops') \g /dev/null

-- ---- twins: a column of each type, and of its arrays where they have a class; all rows are in the sample ----

CREATE TEMP TABLE made (base regtype, enc regtype, value text);
INSERT INTO made SELECT base, enc, CASE
    WHEN base IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) THEN 'CASE WHEN g % 13 > 0 THEN CASE g % 3 WHEN 0 THEN ''Name '' || g % 20 ELSE md5(g::text) END END'
    WHEN base IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN 'g % 1000'
    WHEN base = 'bool'::regtype THEN 'g % 5 = 0'
    WHEN base IN ('time'::regtype, 'timetz'::regtype) THEN '(time ''00:00'' + g % 1400 * interval ''1 minute'')'
    WHEN base = 'interval'::regtype THEN 'g % 700 * interval ''1 hour'''
    WHEN base IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) THEN 'date ''2020-01-01'' + g % 900'
    WHEN base = 'bytea'::regtype THEN 'decode(md5((g % 800)::text), ''hex'')'
    WHEN base = 'uuid'::regtype THEN 'md5((g % 800)::text)'
    WHEN base = 'inet'::regtype THEN '''10.0.0.0''::inet + g % 900'
    WHEN base = 'jsonb'::regtype THEN 'CASE WHEN g % 11 > 0 THEN jsonb_build_object(''k'', g % 40, ''a'' || g % 7, jsonb_build_array(''x'' || g % 90, NULL, true)) END'
    WHEN base = 'tsvector'::regtype THEN 'CASE WHEN g % 11 > 0 THEN to_tsvector(''english'', ''The dogs '' || left(md5(g::text), 2) || '' run '' || g % 50) END'
    WHEN base = 'hstore'::regtype THEN 'hstore(''k'' || g % 30, ''v'' || g % 9)'
    ELSE '(g % 900) / 4.0' END
FROM (SELECT base, enc FROM family WHERE name <> 'encrypted_json' UNION ALL
      VALUES ('tsvector'::regtype, 'encrypted_tsvector'::regtype), ('hstore'::regtype, 'encrypted_hstore'::regtype)) f;
INSERT INTO made SELECT a.typarray, e.typarray, format('CASE g %% 5 WHEN 0 THEN ''{}'' WHEN 1 THEN NULL ELSE ARRAY[(SELECT (%1$s)::%2$s FROM (SELECT g %% 90 AS g) s), NULL, (SELECT (%1$s)::%2$s FROM (SELECT 3 AS g) s)]::%2$s[] END', value, base)
FROM made m JOIN pg_type a ON a.oid = m.base JOIN pg_type e ON e.oid = m.enc
WHERE EXISTS (SELECT FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod WHERE amname = 'gin' AND opcintype = e.typarray);
CREATE FUNCTION column_of(base regtype) RETURNS name LANGUAGE sql AS $$ SELECT 'c' || base::oid $$;
DO $$
BEGIN
  EXECUTE (SELECT format('CREATE TABLE p (id int, %s)', string_agg(column_of(base) || ' ' || base, ', ')) FROM made);
  EXECUTE (SELECT format('CREATE TABLE e (id int, %s)', string_agg(column_of(base) || ' ' || enc, ', ')) FROM made);
  EXECUTE (SELECT format('INSERT INTO p SELECT g, %s FROM generate_series(1, 3000) g', string_agg(format('(%s)::%s', value, base), ', ')) FROM made);
  INSERT INTO e SELECT * FROM p;
END
$$;
ANALYZE p;
ANALYZE e;

-- ---- conditions ----

CREATE FUNCTION values_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE query; END $$;
CREATE TEMP TABLE condition (base regtype, operator text, condition text, kind text);
-- btree: with values from three places
INSERT INTO condition
SELECT m.base, o.oprname, format('%s %s %L', column_of(m.base), o.oprname, v.value), 'ordered'
FROM made m JOIN pg_opclass c ON c.opcintype = CASE m.base WHEN 'varchar'::regtype THEN 'text'::regtype ELSE m.base END AND c.opcdefault
JOIN pg_am a ON a.oid = c.opcmethod AND a.amname = 'btree' JOIN pg_amop x ON x.amopfamily = c.opcfamily AND (x.amoplefttype, x.amoprighttype) = (c.opcintype, c.opcintype)
JOIN pg_operator o ON o.oid = x.amopopr AND o.oprname NOT LIKE '#%'  -- hstore's, which encrypted types do not have
CROSS JOIN LATERAL values_of(format('SELECT DISTINCT %1$s::text FROM p WHERE id IN (3, 4, 1500, 2880) AND %1$s IS NOT NULL', column_of(m.base))) AS v (value);
-- strings
INSERT INTO condition
SELECT m.base, o, format('%s %s %L', column_of(m.base), o, v), 'search' FROM made m, unnest('{~~,!~~,~~*,!~~*,~,!~,~*,!~*,^@}'::text[]) o, unnest('{%me%,Name 1%,Name 5,%ab%,abc,^Name}'::text[]) v
WHERE m.base IN ('text'::regtype, 'varchar'::regtype);
-- the classes of GIN: queries for each type that an operator takes beside the column's
CREATE TEMP TABLE query (base regtype, operand regtype, query text);
INSERT INTO query VALUES
  ('jsonb', 'jsonb', '{"k": 5}'), ('jsonb', 'jsonb', '{"a3": ["x3"]}'), ('jsonb', 'jsonb', '{}'), ('jsonb', 'text', 'a3'), ('jsonb', 'text[]', '{a3,k}'), ('jsonb', 'text[]', '{none}'),
  ('jsonb', 'jsonpath', '$.a3[*] ? (@ == "x3")'), ('jsonb', 'jsonpath', '$.k == 7'),
  ('text', 'text', 'Name 5'), ('text', 'text', '%me%'), ('varchar', 'text', 'Name 5'), ('varchar', 'text', 'ab.d'),
  ('tsvector', 'tsquery', 'dog'), ('tsvector', 'tsquery', 'dog & 7'), ('tsvector', 'tsquery', '7 | 8'), ('tsvector', 'tsquery', '!dog'), ('tsvector', 'tsquery', 'c4:*'), ('tsvector', 'tsquery', 'none'),
  ('hstore', 'hstore', 'k3=>v3'), ('hstore', 'text', 'k3'), ('hstore', 'text[]', '{k3,k4}');
INSERT INTO condition
SELECT DISTINCT m.base, o.oprname, CASE WHEN side THEN format('%s OPERATOR(%s.%s) %L::%s', column_of(m.base), o.oprnamespace::regnamespace, o.oprname, q.query, q.operand)
                                  ELSE format('%L::%s OPERATOR(%s.%s) %s', q.query, q.operand, y.oprnamespace::regnamespace, y.oprname, column_of(m.base)) END, 'search'
FROM query q JOIN made m USING (base) JOIN pg_opclass c ON c.opcintype = m.enc JOIN pg_am a ON a.oid = c.opcmethod AND a.amname = 'gin'
JOIN pg_amop x ON x.amopfamily = c.opcfamily AND x.amoplefttype <> m.enc AND x.amoprighttype = q.operand JOIN pg_operator o ON o.oid = x.amopopr
LEFT JOIN pg_operator y ON y.oid = o.oprcom CROSS JOIN unnest('{t,f}'::bool[]) side
WHERE side OR y.oid IS NOT NULL;
INSERT INTO condition
SELECT m.base, o, format('%s %s ARRAY[(SELECT %1$s[1] FROM p WHERE id = 12)]', column_of(m.base), o), 'array' FROM made m, unnest('{&&,@>,<@,=}'::text[]) o WHERE m.base::text ~ '\[]$';
UPDATE condition SET condition = replace(condition, substring(condition FROM 'ARRAY.*'), quote_literal(v.value)), kind = 'search'
FROM (SELECT c.condition AS was, x.value FROM condition c,
        LATERAL values_of(format('SELECT %s::text', substring(c.condition FROM 'ARRAY.*'))) AS x (value)
      WHERE c.kind = 'array') v WHERE condition = v.was;

CREATE FUNCTION expected(twin text, condition text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM %s WHERE %s', twin, condition) INTO plan;
  RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8;
END
$$;
CREATE TEMP TABLE estimate AS SELECT c.*, expected('p', condition) AS plain, expected('e', condition) AS encrypted FROM condition c;
SELECT cmp_ok((SELECT count(*) FROM estimate WHERE kind = 'search'), '>=', 150::bigint, 'searches of all types');
SELECT cmp_ok((SELECT count(DISTINCT base) FROM estimate WHERE kind = 'ordered'), '>=', 20::bigint, 'comparisons of all types');
SELECT is_empty('SELECT base, condition, plain, encrypted FROM estimate WHERE kind = ''search'' AND abs(plain - encrypted) > 1', 'a search is expected to find as many rows');
-- inside a bin of the histogram PostgreSQL interpolates between numbers: two bins at most
SELECT is_empty('SELECT base, condition, plain, encrypted FROM estimate WHERE kind = ''ordered'' AND abs(plain - encrypted) > CASE WHEN operator = ''='' THEN 0 ELSE 30 END',
                'and so is a comparison, within what the histogram tells');

-- words that the planner computes
CREATE FUNCTION own_query(text) RETURNS tsquery LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN $1::tsquery; END $$;
SELECT is(expected('e', c), expected('p', c), c)
FROM (SELECT replace(q, '@@', attname || ' @@') FROM pg_attribute, unnest(ARRAY['@@ to_tsquery(''dog'')', '@@ plainto_tsquery(''dogs 7'')', '@@ websearch_to_tsquery(''dog or 7'')', '@@ (to_tsquery(''dog'') && ''7'')',
        '@@ to_tsquery(current_setting(''default_text_search_config'')::regconfig, ''dog'')', '@@ own_query(''dog'')', '@@ ''''::tsquery', '@@ NULL::tsquery']) q
      WHERE attrelid = 'e'::regclass AND atttypid = 'encrypted_tsvector'::regtype) AS x (c);

-- ... and are computed by it alone, where it estimates their clause
SELECT lives_ok(format('EXPLAIN SELECT FROM e WHERE %1$s @@ ''dog'' AND CASE WHEN id < 0 THEN %1$s @@ to_tsquery(''dog &'') ELSE true END', attname), 'a condition that is not evaluated')
FROM pg_attribute WHERE attrelid = 'e'::regclass AND atttypid = 'encrypted_tsvector'::regtype;

-- ---- what is kept of words ----

SELECT is((SELECT count(*) FROM pg_statistic WHERE starelid = 'e'::regclass AND 4 IN (stakind1, stakind2, stakind3, stakind4, stakind5) AND staattnum = (
  SELECT attnum FROM pg_attribute WHERE attrelid = 'e'::regclass AND atttypid = 'encrypted_tsvector'::regtype)), 0::bigint, 'PostgreSQL has no words of them in clear');
SELECT is((SELECT pg_typeof(stavalues1::text) FROM pg_statistic LIMIT 1), 'text'::regtype, 'statistics can be read');
CREATE ROLE may_see;
CREATE ROLE blind;
GRANT SELECT ON e TO blind;
SET tde_column.decrypt_role = 'may_see';
SET ROLE blind;
SELECT is(expected('e', condition), 15::float8, 'nor do estimates tell them to whoever may not decrypt: ' || condition)
FROM (SELECT format('%s @@ %L', attname, w) FROM pg_attribute, unnest('{dog,none}'::text[]) w WHERE attrelid = 'e'::regclass AND atttypid = 'encrypted_tsvector'::regtype) c (condition);
RESET ROLE;
-- ---- with indexes, and of expressions that they have ----

CREATE INDEX ON p USING gin (to_tsvector('english', c25));
CREATE INDEX ON e USING gin (to_tsvector('english', c25));
DO $$
BEGIN
  EXECUTE (SELECT string_agg(format('CREATE INDEX ON %s USING gin (%s);', t, column_of(base)), '') FROM made, unnest('{p,e}'::text[]) t
           WHERE base IN ('jsonb'::regtype, 'tsvector'::regtype, 'hstore'::regtype, 'text[]'::regtype));
END
$$;
ANALYZE p;
ANALYZE e;
INSERT INTO estimate SELECT 'text', '@@', c, 'expression', expected('p', c), expected('e', c)
FROM unnest(ARRAY['to_tsvector(''english'', c25) @@ ''name''::tsquery', 'to_tsvector(''english'', c25) @@ ''name & 5''::tsquery']) c;
SELECT is_empty('SELECT base, condition, plain, encrypted FROM estimate WHERE kind = ''expression'' AND plain <> encrypted', 'of an expression that an index has');
SELECT is_empty('SELECT base, condition, plain FROM estimate WHERE kind = ''search'' AND abs(expected(''e'', condition) - expected(''p'', condition)) > 1', 'with indexes');

SELECT finish();
ROLLBACK;
