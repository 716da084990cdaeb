-- Strings of every two types, plain and encrypted, compared in all ways: what plain columns give, encrypted ones give.  varchar = char(n) is
-- char(n)'s comparison, without the blanks at the end; text = char(n) is text's.
BEGIN;
SELECT * FROM no_plan();
SET LOCAL client_min_messages = error;

CREATE TEMP TABLE kind (name text, plain text, enc text);
INSERT INTO kind VALUES ('t', 'text', 'encrypted_text'), ('u', 'text', 'encrypted_text(nosalt)'), ('v', 'varchar(9)', 'encrypted_varchar(9)'),
  ('w', 'varchar', 'encrypted_varchar(nosalt)'), ('c', 'char(3)', 'encrypted_bpchar(3)'), ('n', 'name', NULL);
DO $$
DECLARE
  k record;
  v text := $v$unnest(ARRAY['', ' ', 'a', 'a ', 'a  ', 'ab', 'ab ', 'b', 'A', NULL]) WITH ORDINALITY AS s (v, n)$v$;
BEGIN
  FOR k IN SELECT * FROM kind LOOP
    EXECUTE format('CREATE TEMP TABLE plain_%s AS SELECT n AS id, v::%s AS x FROM %s', k.name, k.plain, v);
    IF k.enc IS NOT NULL THEN
      EXECUTE format('CREATE TEMP TABLE enc_%1$s (id int, x %2$s); INSERT INTO enc_%1$s SELECT n, v::%3$s FROM %4$s', k.name, k.enc, k.plain, v);
    END IF;
  END LOOP;
END
$$;

CREATE TEMP TABLE way (way text, query text, joins boolean DEFAULT false);
-- of each pair of rows
INSERT INTO way SELECT expression, 'SELECT string_agg(coalesce((' || expression || ')::text, ''-''), '' '' ORDER BY l.id, r.id) FROM %s l, %s r'
  FROM unnest('{=,<>,<,<=,>,>=,~<~,~<=~,~>~,~>=~,~,!~,~~,!~~,~*,~~*,^@,||}'::text[]) o CROSS JOIN LATERAL (SELECT format('l.x %s r.x', o)) e (expression)
  UNION ALL
  SELECT expression, 'SELECT string_agg(coalesce((' || expression || ')::text, ''-''), '' '' ORDER BY l.id, r.id) FROM %s l, %s r'
  FROM unnest(ARRAY['l.x IN (r.x)', 'l.x IN (r.x, r.x)', 'l.x = ANY (ARRAY[r.x])', 'l.x < ALL (ARRAY[r.x, r.x])', 'l.x IS DISTINCT FROM r.x', 'NULLIF(l.x, r.x) IS NULL',
                    'CASE l.x WHEN r.x THEN 1 ELSE 2 END', '(l.x, 1) = (r.x, 1)', 'l.x BETWEEN r.x AND r.x', 'quote_literal(COALESCE(l.x, r.x)::text)',
                    'quote_literal(GREATEST(l.x, r.x)::text)', 'quote_literal(CASE WHEN l.id > r.id THEN l.x ELSE r.x END::text)']) expression;
INSERT INTO way VALUES
  ('IN (SELECT)', 'SELECT string_agg(l.id::text, '' '' ORDER BY l.id) FROM %s l WHERE x IN (SELECT x FROM %s WHERE id > 1)', true),
  ('NOT IN (SELECT)', 'SELECT string_agg(l.id || coalesce((l.x NOT IN (SELECT x FROM %2$s WHERE id < 7))::text, ''-''), '' '' ORDER BY l.id) FROM %1$s l', true),
  ('JOIN', 'SELECT string_agg(l.id || ''='' || r.id, '' '' ORDER BY l.id, r.id) FROM %s l JOIN %s r ON l.x = r.x', true),
  ('JOIN USING', 'SELECT string_agg(l.id || ''='' || r.id, '' '' ORDER BY l.id, r.id) FROM %s l JOIN %s r USING (x)', true),
  ('FULL JOIN', 'SELECT string_agg(coalesce(l.id, 0) || ''='' || coalesce(r.id, 0), '' '' ORDER BY l.id, r.id) FROM %s l FULL JOIN %s r ON l.x = r.x', true),
  ('three tables', 'SELECT string_agg(l.id || ''='' || r.id || ''='' || m.id, '' '' ORDER BY l.id, r.id, m.id) FROM %1$s l JOIN %2$s r ON l.x = r.x JOIN %1$s m ON m.x = r.x', true),
  ('UNION', 'SELECT string_agg(quote_literal(x::text), '' '' ORDER BY x::text) FROM (SELECT x FROM %s UNION SELECT x FROM %s) s', false),
  ('EXCEPT', 'SELECT string_agg(quote_literal(x::text), '' '' ORDER BY x::text) FROM (SELECT x FROM %s EXCEPT SELECT x FROM %s) s', false),
  ('INTERSECT', 'SELECT string_agg(quote_literal(x::text), '' '' ORDER BY x::text) FROM (SELECT x FROM %s INTERSECT SELECT x FROM %s) s', false);

CREATE FUNCTION pg_temp.outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE query INTO result;
  RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
CREATE TEMP TABLE compared (way text, plan text, l text, r text, expected text, got text);
DO $$
DECLARE
  plan text;
BEGIN
  FOREACH plan IN ARRAY '{nestloop,hashjoin,mergejoin}'::text[] LOOP
    PERFORM set_config('enable_' || p, (p = plan)::text, true) FROM unnest('{nestloop,hashjoin,mergejoin}'::text[]) p;
    INSERT INTO compared
      SELECT way, plan, l_kind || l.name, r_kind || r.name, pg_temp.outcome(format(query, 'plain_' || l.name, 'plain_' || r.name)),
             pg_temp.outcome(format(query, l_kind || l.name, r_kind || r.name))
      FROM kind l, kind r, way, (VALUES ('enc_', 'enc_'), ('enc_', 'plain_'), ('plain_', 'enc_')) s (l_kind, r_kind)
      WHERE (l_kind = 'plain_' OR l.enc IS NOT NULL) AND (r_kind = 'plain_' OR r.enc IS NOT NULL) AND (plan = 'nestloop' OR joins);
  END LOOP;
END
$$;
SELECT cmp_ok((SELECT count(*) FROM compared WHERE expected !~ '^[0-9A-Z]{5}$'), '>', 4000::bigint, 'there are comparisons');

-- By docs/compatibility.md: a plain name has no families, and a plain varchar does not become an encrypted char(n) that comes first (in CASE ELSE does).
DELETE FROM compared WHERE 'plain_n' IN (l, r) AND way = '(l.x, 1) = (r.x, 1)' AND got ~ '^(0A000|42704)$';
DELETE FROM compared WHERE 'plain_n' IN (l, r) AND 'enc_c' IN (l, r) AND way ~ 'COALESCE|GREATEST|CASE WHEN|UNION|EXCEPT|INTERSECT|USING' AND got ~ '^(42846|XX000)$';
DELETE FROM compared WHERE l = 'enc_c' AND r IN ('plain_v', 'plain_w') AND way ~ 'COALESCE|GREATEST|UNION|EXCEPT|INTERSECT'
  OR r = 'enc_c' AND l IN ('plain_v', 'plain_w') AND way ~ 'CASE WHEN';
SELECT is(got, expected, format('%s of %s and %s, %s', way, l, r, plan)) FROM compared WHERE got <> expected;
SELECT is((SELECT count(*) FROM compared WHERE got <> expected), 0::bigint, 'all give the same');

-- Foreign keys: what the parent has is found with and without blanks, as of plain columns.
CREATE FUNCTION pg_temp.foreign_key(child text, parent text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := '';
  value  text;
BEGIN
  EXECUTE format('CREATE TEMP TABLE parent (v %s PRIMARY KEY); CREATE TEMP TABLE child (v %s REFERENCES parent); INSERT INTO parent VALUES (''a''), (''b '')', parent, child);
  FOREACH value IN ARRAY ARRAY['a', 'a ', 'b', 'b ', 'c'] LOOP
    BEGIN
      EXECUTE format('INSERT INTO child VALUES (%L)', value);
      result := result || quote_literal(value);
    EXCEPTION WHEN foreign_key_violation THEN
      NULL;
    END;
  END LOOP;
  DROP TABLE child, parent;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
SELECT is(pg_temp.foreign_key(CASE WHEN l_enc THEN c.enc ELSE c.plain END, CASE WHEN r_enc THEN p.enc ELSE p.plain END), pg_temp.foreign_key(c.plain, p.plain),
          format('a foreign key of %s to %s (%s, %s)', c.plain, p.plain, l_enc, r_enc))
FROM kind c, kind p, (VALUES (true, true), (true, false)) s (l_enc, r_enc) WHERE c.enc IS NOT NULL AND p.enc IS NOT NULL;

SELECT * FROM finish();
ROLLBACK;
