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
    WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b'
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
    WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND pronargs BETWEEN 1 AND 6 AND NOT proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[]
      AND prorettype <> ALL ('{internal,trigger,event_trigger,record}'::regtype[]) AND provolatile <> 'v'
    GROUP BY 1, 2, 3, 4
  )
  SELECT DISTINCT format('%I(%s)', proname, plain_arguments), format('%I(%s)', proname, encrypted_arguments) FROM call WHERE changed > 0;
SELECT cmp_ok((SELECT count(*) FROM pair), '>', 4000::bigint, 'and functions');

CREATE TEMP TABLE result AS SELECT *, outcome(plain) AS expected, outcome(encrypted) AS got FROM pair;
DELETE FROM result WHERE expected ~ '^[0-9A-Z]{5} ';    -- not of the base type, either

-- What there is not, by docs/columns.md.
DELETE FROM result WHERE encrypted IN ('NULL::encrypted_time + NULL', 'NULL + NULL::encrypted_time') AND got ~ '^42725';
DELETE FROM result WHERE encrypted ~ '^(pow|power)\(.*encrypted_numeric' AND encrypted ~ '\(NULL,|, NULL\)' AND got ~ '^42725'; -- a literal in quotes
SELECT is(got, expected, format('%s as %s', encrypted, plain)) FROM result WHERE got <> expected;
SELECT is((SELECT count(*) FROM result WHERE got = expected), (SELECT count(*) FROM result), 'all mean the same');

SELECT finish();
ROLLBACK;
