-- CREATE OR REPLACE VIEW where an expression takes the place of an encrypted column: what PostgreSQL takes with plain columns is taken, and
-- the view's columns keep their types.
BEGIN;
\ir include/family.sql
\ir include/statement.sql
SELECT * FROM no_plan();

CREATE TABLE p (id int, a text, v varchar(5), n bigint, l text[]);
CREATE TABLE e (id int, a encrypted_text(nosalt), v encrypted_varchar(5), n encrypted_int8, l encrypted_text[]);
INSERT INTO p VALUES (1, 'x', 'vv', 6, '{l}'), (2, NULL, NULL, NULL, NULL);
INSERT INTO e SELECT * FROM p;
CREATE FUNCTION types(relation regclass) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = relation AND attnum > 0 $$;

-- What a view gives whose query is replaced, or the error's code.
CREATE FUNCTION replaced(twin text, old text, new text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  before text;
BEGIN
  EXECUTE format('CREATE VIEW w AS SELECT %s FROM %s', old, twin);
  before := types('w');
  EXECUTE format('CREATE OR REPLACE VIEW w AS %s', replace(new, '%', twin));
  IF types('w') NOT LIKE before || '%' THEN
    RETURN 'other types: ' || types('w');
  END IF;
  -- what pg_dump writes
  EXECUTE format('CREATE VIEW again AS %s', pg_get_viewdef('w'::regclass));
  IF types('again') <> types('w') THEN
    RETURN 'another definition: ' || types('again');
  END IF;
  before := shown('SELECT * FROM w ORDER BY id');
  DROP VIEW w, again;
  RETURN before;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
CREATE TEMP TABLE replacement (old text, new text, taken boolean);
INSERT INTO replacement VALUES
  ('id, a', 'SELECT id, upper(a) AS a FROM %', true), ('id, a', 'SELECT id, a FROM %', true), ('id, n', 'SELECT id, n / 2 AS n FROM %', true),
  ('id, n', 'SELECT id, sum(n)::bigint AS n FROM % GROUP BY id', true), ('id, l', 'SELECT id, l || l AS l FROM %', true),
  ('id, v', 'SELECT id, left(v, 1)::varchar(5) AS v FROM %', true), ('id, a', 'SELECT id, coalesce(a, ''none'') AS a, a || a AS b FROM %', true),
  ('id, upper(a) AS a', 'SELECT id, lower(a) AS a FROM %', true),
  ('id, a', 'WITH q AS (SELECT id, lower(a) AS a FROM %) SELECT id, a FROM q', true),
  ('id, v', 'SELECT id, upper(v) AS v FROM %', false), ('id, n', 'SELECT id, a AS n FROM %', false), ('id, a', 'SELECT id, upper(a) AS b FROM %', false),
  ('id, a', 'SELECT id FROM %', false);
SELECT is(replaced('e', old, new), replaced('p', old, new), old || ' by ' || new) FROM replacement;
SELECT is(replaced('e', old, new) LIKE '_____', NOT taken, 'and that is what it should be') FROM replacement;
-- cast it yourself; of a column through which the view is written, it is seen at once that this is needed
SELECT is(replaced('e', old, new), '42P16', old || ' by ' || new)
FROM (VALUES ('id, a', 'SELECT id, upper(a) AS a FROM % UNION SELECT id, a FROM %'), ('id, a', 'SELECT id, upper(a) AS a FROM % ORDER BY 2'),
             ('id, a', 'SELECT DISTINCT id, upper(a) AS a FROM %'), ('id, upper(a) AS a', 'SELECT id, a FROM %'), ('id, a', 'SELECT id, a FROM p')) AS v (old, new);

-- Nothing but a view that exists.
CREATE VIEW w AS SELECT upper(a) AS a FROM e;
SELECT lives_ok('CREATE OR REPLACE TEMP VIEW w AS SELECT a FROM e', 'a view of the same name in another schema is another one');
SELECT is(types('pg_temp.w'), 'encrypted_text(aes256,nosalt,gcm)', 'and gets the types of its query');
SELECT lives_ok('CREATE OR REPLACE VIEW new AS SELECT a FROM e', 'a new one');
SELECT is(types('new'), 'encrypted_text(aes256,nosalt,gcm)', 'likewise');

-- The rule that a view is.
CREATE VIEW ruled AS SELECT id, a, n FROM e;
SELECT types('ruled') AS before \gset
SELECT lives_ok($$CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO ruled DO INSTEAD SELECT id, upper(a) || 'x' AS a, 5 AS n FROM e$$, 'a rule "_RETURN" with expressions');
SELECT is(types('ruled'), :'before', 'the view keeps its types');
SELECT is((SELECT array_agg((a, n)::text ORDER BY id) FROM ruled), (SELECT array_agg((upper(a) || 'x', 5)::text ORDER BY id) FROM e), 'and has their values');
SELECT throws_ok($$CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO ruled DO INSTEAD SELECT id, a FROM p$$, '42P17', NULL, 'of columns of another table it is refused, as for CREATE OR REPLACE VIEW');
-- A cast that is put there has no name, by which PostgreSQL would call a column that has none of its own.
CREATE VIEW named AS SELECT n AS abs, a AS upper FROM e;
SELECT types('named') AS before \gset
SELECT throws_ok($$CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO named DO INSTEAD SELECT $$ || expression || ', a FROM e', '42P17', 'SELECT rule''s target entry 1 has different column name from column "abs"',
  expression || ' without that name') FROM unnest('{n + 1,1,-n,(SELECT n),"CASE WHEN true THEN n END"}'::text[]) expression;
SELECT lives_ok($$CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO named DO INSTEAD SELECT abs(n + 1), upper(a) FROM e$$, 'functions give columns their names');
SELECT is(types('named'), :'before', 'and the view keeps its types');
CREATE ROLE stranger;
SET LOCAL ROLE stranger;
SELECT throws_ok($$CREATE RULE "_RETURN" AS ON SELECT TO $$ || relation || ' DO INSTEAD SELECT 1 + 1', '42501', NULL, 'nor for whom ' || relation || ' does not belong to') FROM unnest('{e,ruled,named}'::text[]) relation;
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
