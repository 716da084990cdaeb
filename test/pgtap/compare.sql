-- Encrypted values compare, sort and group as the values of their base type do, each operator with each pair of values.
BEGIN;
\ir include/family.sql
\ir include/plan.sql
SELECT * FROM no_plan();

-- Under collations the operators of strings are the base type's too.
CREATE TEMP TABLE specs (words text);
INSERT INTO specs VALUES ('aes256,salt,mac'), ('aes128,nosalt,sha256'), ('aes192,nosalt,mac,cbc'), ('aes256,salt,nomac'), ('aes256,salt,gcm'), ('aes256,nosalt,gcm');

CREATE FUNCTION set_up(f family, words text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE pairs AS SELECT row_number() OVER ()::int AS n, value::%s AS plain FROM sample
                  WHERE base = %L AND length(value) <= 2000', f.plain, f.base);   -- longer ones do not fit into a btree
  INSERT INTO pairs VALUES (0, NULL);
  EXECUTE format('ALTER TABLE pairs ADD enc %s(%s)', f.enc, words);
  UPDATE pairs SET enc = plain;
END
$$;

-- The operators of the extension between the type and its base, in either place.  A type without operators of its own
-- (varchar) is compared as the one that it is the same bytes as (text).
CREATE FUNCTION operators(f family) RETURNS TABLE (symbol name, l text, r text) LANGUAGE sql AS $$
  WITH plain AS (SELECT f.base AS type UNION SELECT casttarget FROM pg_cast WHERE castsource = f.base AND castmethod = 'b' AND castcontext = 'i')
  SELECT DISTINCT oprname, CASE oprleft WHEN f.enc THEN 'enc' ELSE 'plain' END, CASE oprright WHEN f.enc THEN 'enc' ELSE 'plain' END
  FROM pg_operator
  WHERE f.enc IN (oprleft, oprright) AND (oprleft = f.enc OR oprleft IN (TABLE plain)) AND (oprright = f.enc OR oprright IN (TABLE plain))
    AND oprresult = 'bool'::regtype AND oprname IN ('=', '<>', '<', '<=', '>', '>=')
$$;

CREATE FUNCTION default_opclass(type oid, method name) RETURNS boolean LANGUAGE sql AS $$
  SELECT EXISTS (SELECT FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod
                 WHERE amname = method AND opcdefault AND (opcintype = type OR EXISTS (
                   SELECT FROM pg_cast WHERE castsource = type AND casttarget = opcintype AND castmethod = 'b' AND castcontext = 'i')))
$$;

-- Types that have an order get all six operators in all three ways, those that only know equality two of them.
SELECT is((SELECT count(*) FROM operators(f)),
          CASE WHEN default_opclass(base, 'btree') THEN 18 WHEN default_opclass(base, 'hash') THEN 6 ELSE 0 END::bigint,
          format('%s has the comparison operators that %s has', enc, base))
FROM family f ORDER BY name;

CREATE FUNCTION compared(f family, words text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  name text := format('%s(%s): ', f.enc, words);
  differing text[] := '{}';
  wrong boolean;
  o record;
BEGIN
  PERFORM set_up(f, words);
  FOR o IN SELECT * FROM operators(f) LOOP
    EXECUTE format('SELECT count(*) > 0 FROM pairs a, pairs b WHERE (a.%s %s b.%s) IS DISTINCT FROM (a.plain OPERATOR(pg_catalog.%2$s) b.plain)',
                   o.l, o.symbol, o.r) INTO wrong;
    IF wrong THEN
      differing := differing || format('%s %s %s', o.l, o.symbol, o.r);
    END IF;
  END LOOP;
  RETURN NEXT is(differing, '{}', name || 'operators agree with those of the base type');
  IF EXISTS (SELECT FROM operators(f)) THEN
    RETURN NEXT is_empty('SELECT a.n, b.n AS m FROM pairs a, pairs b
                          WHERE (a.enc IS DISTINCT FROM b.enc) <> (a.plain IS DISTINCT FROM b.plain)', name || 'IS DISTINCT FROM');
    RETURN NEXT is_empty('SELECT a.n, b.n AS m FROM pairs a, pairs b, pairs c WHERE c.n = 1 AND
                          (a.enc IN (b.enc, c.enc)) IS DISTINCT FROM (a.plain IN (b.plain, c.plain))', name || 'IN');
  END IF;
  IF default_opclass(f.enc, 'btree') THEN
    RETURN NEXT results_eq('SELECT n FROM pairs ORDER BY enc, n', 'SELECT n FROM pairs ORDER BY plain, n', name || 'ORDER BY');
    RETURN NEXT results_eq('SELECT n FROM pairs ORDER BY enc DESC NULLS LAST, n', 'SELECT n FROM pairs ORDER BY plain DESC NULLS LAST, n',
                           name || 'ORDER BY DESC');
    RETURN NEXT set_eq('SELECT array_agg(n ORDER BY n) FROM pairs GROUP BY enc', 'SELECT array_agg(n ORDER BY n) FROM pairs GROUP BY plain',
                       name || 'GROUP BY');
    RETURN NEXT is((SELECT count(DISTINCT enc) FROM pairs), (SELECT count(DISTINCT plain) FROM pairs), name || 'DISTINCT');
    RETURN NEXT set_eq('SELECT a.n, b.n AS m FROM pairs a JOIN pairs b USING (enc)', 'SELECT a.n, b.n AS m FROM pairs a JOIN pairs b USING (plain)',
                       name || 'JOIN');

    -- by the index alone
    CREATE INDEX ordered ON pairs (enc, n);
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_sort = off;
    SET LOCAL enable_bitmapscan = off;
    RETURN NEXT results_eq('SELECT n FROM pairs ORDER BY enc, n', 'SELECT n FROM pairs ORDER BY plain, n', name || 'order of a btree index');
    RETURN NEXT set_eq('SELECT a.n, b.n AS m FROM pairs a JOIN LATERAL (SELECT n FROM pairs x WHERE x.enc >= a.enc OFFSET 0) b ON true',
                       'SELECT a.n, b.n AS m FROM pairs a JOIN pairs b ON b.plain >= a.plain', name || 'range scans of a btree index');
    RETURN NEXT set_eq('SELECT a.n, b.n AS m FROM pairs a JOIN LATERAL (SELECT n FROM pairs x WHERE x.enc = a.enc OFFSET 0) b ON true',
                       'SELECT a.n, b.n AS m FROM pairs a JOIN pairs b ON b.plain = a.plain', name || 'equality by a btree index');
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_sort = on;
    SET LOCAL enable_bitmapscan = on;
  END IF;
  DROP TABLE pairs;
END
$$;
SELECT compared(f, words) FROM family f, specs WHERE f.nomac OR words NOT LIKE '%nomac%' ORDER BY name, words;

-- Literals and parameters take the encrypted type's side, so that an index on the column serves.
CREATE TABLE looked_up (id int, a encrypted_text(aes256,nosalt), n encrypted_numeric);
INSERT INTO looked_up SELECT i, i::text, i FROM generate_series(1, 100) i;
CREATE INDEX ON looked_up (a);
CREATE INDEX ON looked_up (n);
SET LOCAL enable_seqscan = off;
SELECT ok(uses_index(plan_of($$SELECT id FROM looked_up WHERE a = '7'$$)), 'a literal is looked up in the index');
SELECT results_eq($$SELECT id FROM looked_up WHERE a = '7'$$, 'SELECT 7', 'and found');
PREPARE look_up AS SELECT id FROM looked_up WHERE a = $1;
SET LOCAL plan_cache_mode = force_generic_plan;
SELECT ok(uses_index(plan_of($$EXECUTE look_up('7')$$)), 'an untyped parameter is looked up in the index');
SELECT results_eq($$EXECUTE look_up('7')$$, 'SELECT 7', 'and found');
SELECT results_eq($$SELECT id FROM looked_up WHERE n BETWEEN '7' AND '8.5' ORDER BY 1$$, 'VALUES (7), (8)', 'a range by the index');

-- Whatever has to do with plain types alone stays without us: it must not need a wallet, nor lose its indexes.
CREATE TABLE ours AS SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND x.extname = 'tde_column';
CREATE FUNCTION involved(expression text, type text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE plain_table (a %s, b %1$s)', type);
  EXECUTE format('CREATE VIEW plain_view AS SELECT %s AS x FROM plain_table', expression);
  RETURN QUERY SELECT format('%s uses %s', expression, pg_describe_object(classid, objid, 0)) FROM ours o
    WHERE EXISTS (SELECT FROM pg_depend d JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                  WHERE r.ev_class = 'plain_view'::regclass AND (d.refclassid, d.refobjid) = (o.classid, o.objid));
  DROP VIEW plain_view;
  DROP TABLE plain_table;
EXCEPTION WHEN undefined_function OR ambiguous_function OR datatype_mismatch OR feature_not_supported THEN
  RETURN NEXT format('%s: %s', expression, SQLERRM);
END
$$;
CREATE FUNCTION left_alone(type text, value text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT involved(format(e, quote_literal(value)), type) FROM unnest(ARRAY[
    'a = %s', '%s = a', 'a <> %s', 'a < %s', 'a >= %s', 'a IN (%s, %1$s)', 'a BETWEEN %s AND b', 'a = ANY (ARRAY[a, %s])', 'a = b', 'count(DISTINCT a)',
    'CASE a WHEN %s THEN 1 END', 'coalesce(a, %s)', 'nullif(a, %s)', 'a IS DISTINCT FROM %s', 'greatest(a, %s)', 'row_number() OVER (ORDER BY a)',
    '(a, a) = (b, b)', '(a, a) < (%s, %1$s)', quote_ident(type) || '(%s)', '%s::' || type]) e
  WHERE type NOT IN ('json', 'xid') OR e = 'coalesce(a, %s)'
$$;

SELECT is_empty(format('SELECT left_alone(%L, %L)', type, value), format('plain %s is left alone', type))
FROM (VALUES ('text', 'x'), ('varchar', 'x'), ('bpchar', 'x'), ('name', 'x'), ('int2', '1'), ('int4', '1'), ('int8', '1'), ('numeric', '1'), ('float4', '1'), ('float8', '1'),
  ('bool', 'true'), ('date', '2026-01-01'), ('time', '12:00'), ('timetz', '12:00+00'), ('timestamp', '2026-01-01'), ('timestamptz', '2026-01-01'),
  ('interval', '1 day'), ('bytea', 'x'), ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), ('json', '1'), ('jsonb', '1'), ('inet', '::1'), ('cidr', '::1'),
  ('oid', '1'), ('money', '1'), ('bit', '1')) AS plain (type, value);

-- Strings compare under the collation that is asked for.
CREATE TABLE collated (a encrypted_text COLLATE "C", b encrypted_text COLLATE "POSIX");
INSERT INTO collated VALUES ('a', 'B');
SELECT throws_ok('SELECT a < b FROM collated', '42P22', NULL, 'conflicting collations are noticed as for text');
SELECT results_eq('SELECT a < b COLLATE "C" FROM collated', 'SELECT false', 'an explicit collation is used');

-- Values that are stored out of line are compared, and not where they are stored.
CREATE FUNCTION equal_out_of_line(words text, OUT same bigint, OUT different bigint, OUT groups bigint, OUT toasted boolean) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TEMP TABLE large (id int, a encrypted_text(%s), b encrypted_text(%1$s))', words);
  INSERT INTO large SELECT id, plain, plain FROM generate_series(1, 3) id, repeat(md5(id::text), 200) plain;
  SELECT count(*) FILTER (WHERE x.a = y.b), count(*) FILTER (WHERE x.a <> y.b) INTO same, different FROM large x, large y;
  SELECT count(*) INTO groups FROM (SELECT a FROM large UNION SELECT b FROM large) u;
  SELECT pg_relation_size(reltoastrelid) > 6 * 6400 INTO toasted FROM pg_class WHERE oid = 'large'::regclass;
  DROP TABLE large;
END
$$;
SELECT results_eq(format('SELECT * FROM equal_out_of_line(%L)', words), 'VALUES (3::bigint, 6::bigint, 3::bigint, true)',
                  format('%s: large values are equal where their texts are', words))
FROM unnest(ARRAY['aes256,salt', 'aes256,nosalt', 'aes256,salt,mac', 'aes256,nosalt,mac', 'aes256,salt,nomac', 'aes256,cbc,nosalt,nomac']) words;

-- A long list of constants, which PostgreSQL makes a hash table of.
CREATE FUNCTION in_list(f family, words text, form text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  list text;
  side text;
BEGIN
  PERFORM set_up(f, words);
  SELECT repeat(string_agg(quote_literal(plain), ', ') || ', ', 12) || quote_literal(min(plain::text)) INTO list FROM (SELECT plain FROM pairs WHERE n % 2 = 1) odd;
  FOREACH side IN ARRAY '{plain,enc}'::text[] LOOP
    RETURN QUERY EXECUTE format('SELECT array_agg(n ORDER BY n)::text FROM pairs WHERE %s %s (%s)', side, form, list);
  END LOOP;
  DROP TABLE pairs;
END
$$;
SELECT is(found[2], found[1], format('%s(%s) %s a list of constants', enc, words, form))
FROM (SELECT f.enc, words, form, ARRAY(SELECT in_list(f, words, form)) AS found FROM family f, specs, unnest('{IN,NOT IN}'::text[]) form
      WHERE default_opclass(f.base, 'hash') AND (f.nomac OR words NOT LIKE '%nomac%') OFFSET 0) l;

-- What is a constant for one evaluation of an expression is another one for the next.
CREATE FUNCTION equal_ones(e encrypted_text, plain text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  p text;
  found text[] = '{}';
BEGIN
  FOREACH p IN ARRAY plain LOOP
    IF p = e THEN found := found || p; END IF;
    IF e = p THEN found := found || ('again ' || p); END IF;
  END LOOP;
  RETURN found;
END
$$;
CREATE TABLE unsalted (a encrypted_text(nosalt));
INSERT INTO unsalted VALUES ('two');
SELECT is(equal_ones(a, '{one,two,three,two}'), '{two,"again two",two,"again two"}', 'a variable beside an unsalted value') FROM unsalted;
SELECT is(equal_ones(a, '{two,one,three,two}'), '{two,"again two",two,"again two"}', 'a variable beside an unsalted value, equal at first') FROM unsalted;

SELECT finish();
ROLLBACK;
