-- Every operator and every function of PostgreSQL that takes a base type takes the encrypted one, and means the same by it.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

-- The type of an expression, as a base type, or its error.  Nothing is evaluated.
CREATE FUNCTION outcome(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  type oid;
BEGIN
  EXECUTE 'SELECT pg_catalog.pg_typeof((SELECT ' || expression || ' WHERE false))' INTO type;
  RETURN coalesce((SELECT base FROM family WHERE enc = type), type::regtype)::text;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;

-- Operators as PostgreSQL declares them, with one or both operands encrypted, and the same with a literal for the other.
CREATE TEMP TABLE pair (plain text, encrypted text);
INSERT INTO pair
  WITH operand AS (
    SELECT o.oid, o.oprname, side, format('NULL::%s', coalesce(f.plain, format_type(t, NULL))) AS plain, 'NULL::' || f.enc AS encrypted
    FROM pg_operator o CROSS JOIN LATERAL (VALUES ('l', oprleft), ('r', oprright)) s (side, t) LEFT JOIN family f ON f.base = t
    WHERE oid < 12000 AND oprkind = 'b'
  )
  SELECT DISTINCT format('%s %s %s', p.l, l.oprname, p.r), format('%s %s %s', e.l, l.oprname, e.r)
  FROM operand l JOIN operand r USING (oid)
  CROSS JOIN LATERAL (VALUES (l.encrypted, r.plain, l.plain, r.plain), (l.plain, r.encrypted, l.plain, r.plain),
                             (l.encrypted, r.encrypted, l.plain, r.plain), (l.encrypted, 'NULL', l.plain, 'NULL'), ('NULL', r.encrypted, 'NULL', r.plain))
    AS c (el, er, pl, pr)
  CROSS JOIN LATERAL (SELECT el AS l, er AS r) e CROSS JOIN LATERAL (SELECT pl AS l, pr AS r) p
  WHERE l.side = 'l' AND r.side = 'r' AND e.l IS NOT NULL AND e.r IS NOT NULL;
SELECT cmp_ok((SELECT count(*) FROM pair), '>', 900::bigint, 'there are operators');

-- Functions, with one or all of the arguments encrypted that can be, and the same with NULL for all others.
INSERT INTO pair
  WITH call AS (
    SELECT p.oid, proname, literal, encrypted,
           string_agg(CASE WHEN f.enc IS NOT NULL AND encrypted IN (0, place) THEN format('NULL::%s', f.plain) WHEN literal THEN 'NULL'
                        ELSE 'NULL::' || format_type(t, NULL) END, ', ' ORDER BY place) AS plain_arguments,
           string_agg(CASE WHEN f.enc IS NOT NULL AND encrypted IN (0, place) THEN format('NULL::%s', f.enc) WHEN literal THEN 'NULL'
                        ELSE 'NULL::' || format_type(t, NULL) END, ', ' ORDER BY place) AS encrypted_arguments,
           count(f.enc) FILTER (WHERE encrypted IN (0, place)) AS changed
    FROM pg_proc p, generate_series(0, pronargs) encrypted, unnest('{true,false}'::bool[]) literal,
         unnest(proargtypes::oid[]) WITH ORDINALITY AS a (t, place) LEFT JOIN family f ON f.base = t
    WHERE oid < 12000 AND prokind = 'f' AND pronargs BETWEEN 1 AND 6 AND NOT proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[]
      AND prorettype <> ALL ('{internal,trigger,event_trigger,record}'::regtype[]) AND provolatile <> 'v'
    GROUP BY 1, 2, 3, 4
  )
  SELECT DISTINCT format('%I(%s)', proname, plain_arguments), format('%I(%s)', proname, encrypted_arguments) FROM call WHERE changed > 0;
SELECT cmp_ok((SELECT count(*) FROM pair), '>', 4000::bigint, 'and functions');

CREATE TEMP TABLE result AS SELECT *, outcome(plain) AS expected, outcome(encrypted) AS got FROM pair;
DELETE FROM result WHERE expected ~ '^[0-9A-Z]{5} ';    -- not of the base type, either

-- What there is not, by docs/columns.md.
DELETE FROM result WHERE encrypted IN ('NULL::encrypted_time + NULL', 'NULL + NULL::encrypted_time') AND got ~ '^42725';
-- A constant in quotes, of which a plain value beside it tells what it is meant to be.
DELETE FROM result WHERE (encrypted ~ '^NULL (<<|>>) NULL::encrypted_int4$' OR encrypted ~ '^get_bit\(NULL, NULL::encrypted_int4\)' OR encrypted ~ '^set_bit\(NULL, NULL::encrypted_int4, '
                          OR encrypted = '"timestamp"(NULL::encrypted_date, NULL)') AND got ~ '^42725';
-- For operator classes, not for users.
DELETE FROM result WHERE encrypted ~ '^in_range\(' AND got ~ '^42725';
DELETE FROM result WHERE encrypted ~ '^(pow|power)\(.*encrypted_numeric' AND encrypted ~ '\(NULL,|, NULL\)' AND got ~ '^42725'; -- a literal in quotes
SELECT is(got, expected, format('%s as %s', encrypted, plain)) FROM result WHERE got <> expected;
SELECT is((SELECT count(*) FROM result WHERE got = expected), (SELECT count(*) FROM result), 'all mean the same');

-- Two encrypted arguments of different types, which PostgreSQL makes what an operator or a function takes.  What other functions are made
-- of is not for users.
CREATE TEMP TABLE becomes AS
  SELECT s.base AS source, s.plain, s.enc, t.base AS target FROM family s, family t
  WHERE s.base = t.base OR EXISTS (SELECT FROM pg_cast WHERE castsource = s.base AND casttarget = t.base AND castcontext = 'i');
CREATE TEMP TABLE two AS
  WITH signature AS (
    SELECT oprname AS name, true AS is_operator, ARRAY[oprleft, oprright] AS types FROM pg_operator WHERE oid < 12000 AND oprkind = 'b'
    UNION ALL
    SELECT proname, false, string_to_array(proargtypes::text, ' ')::oid[] FROM pg_proc p
    WHERE oid < 12000 AND prokind = 'f' AND pronargs BETWEEN 2 AND 6 AND NOT proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[]
      AND prorettype <> ALL ('{internal,trigger,event_trigger,record}'::regtype[]) AND provolatile <> 'v'
      AND NOT EXISTS (SELECT FROM pg_operator WHERE oprcode = p.oid) AND NOT EXISTS (SELECT FROM pg_amproc WHERE amproc = p.oid)
      AND NOT EXISTS (SELECT FROM pg_aggregate WHERE p.oid IN (aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggminvtransfn, aggmfinalfn))
      AND NOT EXISTS (SELECT FROM pg_cast WHERE castfunc = p.oid) AND NOT EXISTS (SELECT FROM pg_range WHERE rngsubdiff = p.oid)
  ), call AS (
    SELECT name, is_operator, string_agg('NULL::' || CASE n WHEN i THEN a.plain WHEN j THEN b.plain ELSE other END, ', ' ORDER BY n) AS plain,
           string_agg('NULL::' || CASE n WHEN i THEN a.enc::text WHEN j THEN b.enc::text ELSE other END, ', ' ORDER BY n) AS encrypted
    FROM signature s, generate_series(1, 5) i, generate_series(i + 1, 6) j, becomes a, becomes b,
         unnest(types) WITH ORDINALITY t (type, n) CROSS JOIN LATERAL format_type(type, NULL) f (other)
    WHERE j <= cardinality(types) AND a.target = types[i] AND b.target = types[j] AND a.source <> b.source
    GROUP BY name, is_operator, types, i, j, a.source, b.source
  )
  SELECT DISTINCT name, CASE WHEN is_operator THEN replace(plain, ', ', format(' %s ', name)) ELSE format('%I(%s)', name, plain) END AS plain,
         CASE WHEN is_operator THEN replace(encrypted, ', ', format(' %s ', name)) ELSE format('%I(%s)', name, encrypted) END AS encrypted
  FROM call;
CREATE TEMP TABLE two_result AS SELECT *, outcome(plain) AS expected, outcome(encrypted) AS got FROM two;
DELETE FROM two_result WHERE expected ~ '^[0-9A-Z]{5} ';
SELECT is(got, expected, format('%s as %s', encrypted, plain)) FROM two_result WHERE got <> expected AND got !~ '^42883 (function .* does not exist|operator does not exist: )';
SELECT cmp_ok((SELECT count(*) FROM two_result WHERE got = expected), '>', 2000::bigint, 'two encrypted arguments mean what two plain ones mean');

-- Or there is no such function: an encrypted time becomes a time with time zone only where it is cast (docs/columns.md).  By cause, and how many:
CREATE TEMP TABLE known (cause text, names text[], calls bigint);
INSERT INTO known VALUES ('of a time and one with time zone', '{overlaps,timezone}', 16);
SELECT is_empty('SELECT encrypted, got FROM two_result r WHERE got <> expected AND NOT EXISTS (SELECT FROM known WHERE r.name::text = ANY (names))', 'each has a cause');
-- later versions have more functions
SELECT results_eq('SELECT cause, count(*) FROM known JOIN two_result r ON r.name::text = ANY (names) WHERE got <> expected GROUP BY 1 ORDER BY 1',
                  'SELECT cause, calls FROM known ORDER BY 1', 'as many as that')
WHERE current_setting('server_version_num')::int < 160000;

SELECT finish();
ROLLBACK;
