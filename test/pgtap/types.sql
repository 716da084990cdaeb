-- Every encrypted type gives back what it was given: each sample value of its base type, under every combination of
-- modifiers, through every way in; and its bytes say what the column declares.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

SELECT cmp_ok((SELECT count(*) FROM family)::int, '>=', 8, 'the extension has encrypted types');
SELECT is_empty('SELECT base FROM family WHERE samples = 0', 'there are sample values for all of them');

-- Strings of every length around the block sizes, and beyond what a short varlena header can say.
CREATE TEMP TABLE given AS SELECT base, value FROM sample;
INSERT INTO given
  SELECT base, CASE base WHEN 'bytea' THEN '\x' || repeat('a5', n) ELSE repeat('é', n / 2) || repeat('-', n % 2) END
  FROM unnest('{text,character varying,character,bytea}'::text[]) base, generate_series(1, 200) n;

-- The table enc gets a column for each combination, and a row for each value; the table plain holds the same values.
CREATE FUNCTION set_up(f family, list boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'CREATE TABLE enc (n int, ' ||
    (SELECT string_agg(format('c%s %s(%s)%s', i, f.enc, words, CASE WHEN list THEN '[]' END), ', ' ORDER BY i) FROM used(f)) || ')';
  EXECUTE format('CREATE TABLE plain AS SELECT row_number() OVER ()::int AS n, %s AS v FROM given WHERE base = %L',
                 format(CASE WHEN list THEN 'ARRAY[value::%s, NULL]' ELSE 'value::%s' END, f.plain), f.base);
  INSERT INTO plain VALUES (0, NULL);
END
$$;

CREATE FUNCTION used(f family) RETURNS TABLE (i bigint, words text, spec int) LANGUAGE sql AS
  $$ SELECT row_number() OVER (ORDER BY words), words, spec FROM combination WHERE good AND (mac <> 'nomac' OR f.nomac) $$;

-- "v, v, v, ...": what goes into all columns of enc.
CREATE FUNCTION all_columns(f family, value text) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(value, ', ') FROM used(f) $$;

CREATE FUNCTION fill(f family, list boolean, way text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  file text := quote_literal(current_setting('data_directory') || '/tde_types_test');
  format text := CASE way WHEN 'COPY in binary' THEN 'binary' ELSE 'text' END;
  p record;
BEGIN
  TRUNCATE enc;
  CASE way
    WHEN 'literal' THEN
      FOR p IN SELECT n, CASE WHEN v IS NOT NULL THEN format('%s', v) END AS v FROM plain LOOP
        EXECUTE format('INSERT INTO enc VALUES (%s, %s)', p.n, all_columns(f, quote_nullable(p.v)));
      END LOOP;
    WHEN 'parameter' THEN
      EXECUTE format('PREPARE add_row AS INSERT INTO enc VALUES ($1, %s)', all_columns(f, '$2'));
      FOR p IN SELECT n, CASE WHEN v IS NOT NULL THEN format('%s', v) END AS v FROM plain LOOP
        EXECUTE format('EXECUTE add_row (%s, %L)', p.n, p.v);
      END LOOP;
      DEALLOCATE add_row;
    WHEN 'assignment' THEN
      EXECUTE format('INSERT INTO enc SELECT n, %s FROM plain', all_columns(f, 'v'));
    WHEN 'row' THEN
      EXECUTE format('INSERT INTO enc SELECT r.* FROM (SELECT ROW(n, %s)::text::enc AS e FROM plain OFFSET 0) s, LATERAL (SELECT (e).*) r',
                     all_columns(f, 'v'));
    WHEN 'COPY as text', 'COPY in binary' THEN
      EXECUTE format('COPY (SELECT n, %s FROM plain) TO %s (FORMAT %s)', all_columns(f, 'v'), file, format);
      EXECUTE format('COPY enc FROM %s (FORMAT %s)', file, format);
      EXECUTE format('COPY pg_temp.nothing TO PROGRAM %L', 'rm ' || file);
  END CASE;
END
$$;
CREATE TEMP TABLE nothing ();

-- Values that did not come back, through the cast, the output and the send function; bytes of another spec; lost rows.
CREATE FUNCTION lost(f family, list boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  one text := CASE WHEN list THEN '[1]' ELSE '' END;
  sends text[] := ARRAY(SELECT typsend::text FROM pg_type WHERE oid IN (f.enc, f.base) ORDER BY oid = f.base);
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT format(''%%s under %%s'', left(format(''%%s'', p.v), 40), words)
     FROM plain p LEFT JOIN enc USING (n)
     CROSS JOIN LATERAL (VALUES %s) AS e (words, spec, value)
     WHERE enc.n IS NULL OR (p.v%s IS NULL) <> (e.value IS NULL)
       OR p.v%s IS NOT NULL AND (format(''%%s'', e.value::%s), format(''%%s'', e.value), %s(e.value), get_byte(stored(e.value), 0) & 63)
          IS DISTINCT FROM (format(''%%s'', p.v%s), format(''%%s'', p.v%s), %s(p.v%s), e.spec)',
    (SELECT string_agg(format('(%L, %s, c%s%s)', words, spec, i, one), ', ') FROM used(f)),
    one, one, f.plain, sends[1], one, one, sends[2], one);
END
$$;

CREATE FUNCTION round_trip(f family, list boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  way text;
BEGIN
  PERFORM set_up(f, list);
  FOREACH way IN ARRAY ARRAY['literal', 'parameter', 'assignment', 'row', 'COPY as text', 'COPY in binary'] LOOP
    PERFORM fill(f, list, way);
    RETURN NEXT is_empty(format('SELECT lost(f, %L) FROM family f WHERE enc = %L::regtype', list, f.enc),
                         format('%s%s comes back: %s', f.enc, CASE WHEN list THEN '[]' END, way));
  END LOOP;
  DROP TABLE enc, plain;
END
$$;

SELECT round_trip(f, false) FROM family f ORDER BY name;
DELETE FROM given WHERE length(value) BETWEEN 18 AND 300;   -- enough for arrays
SELECT round_trip(f, true) FROM family f ORDER BY name;

-- 100 kB, out of line.
DELETE FROM given;
CREATE FUNCTION large(f family) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_up(f, false);
  EXECUTE format('INSERT INTO plain SELECT 1, %s', CASE f.base::text
    WHEN 'bytea' THEN 'decode(repeat(md5(random()::text), 6250), ''hex'')'
    WHEN 'json' THEN 'to_json(repeat(md5(random()::text) || ''é'', 3030))'
    WHEN 'jsonb' THEN 'to_jsonb(repeat(md5(random()::text) || ''é'', 3030))'
    ELSE 'repeat(md5(random()::text) || ''é'', 3030)' END);
  PERFORM fill(f, false, 'assignment');
  RETURN NEXT is_empty(format('SELECT lost(f, false) FROM family f WHERE enc = %L::regtype', f.enc),
                       format('%s comes back: 100 kB', f.enc));
  DROP TABLE enc, plain;
END
$$;
SELECT large(f) FROM family f WHERE base IN ('text'::regtype, 'varchar', 'bytea', 'json', 'jsonb') ORDER BY name;

-- Domains and composite types say how their values are encrypted, as columns do.
CREATE FUNCTION containers(f family) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  sends text := (SELECT typsend FROM pg_type WHERE oid = f.base);
  c record;
BEGIN
  FOR c IN SELECT words, spec FROM combination WHERE words IN ('aes128,salt,sha256,ctr', 'aes192,nosalt,mac,cbc', '''3des168'',salt,mac,cbc') LOOP
    EXECUTE format('CREATE DOMAIN contained AS %s(%s) CHECK (VALUE IS NOT NULL)', f.enc, c.words);
    EXECUTE format('CREATE TYPE pair AS (a %s(%s), b contained)', f.enc, c.words);
    CREATE TABLE containers (d contained, p pair, l contained[], q pair[]);
    EXECUTE format('INSERT INTO containers
                      SELECT value::contained, ROW(value, value)::pair, ARRAY[value]::contained[], ARRAY[ROW(value, value)]::pair[]
                      FROM sample WHERE base = %L', f.base);
    EXECUTE format('INSERT INTO containers SELECT %1$L, %2$L, %3$L, %4$L', value, ROW(value, value)::text, ARRAY[value]::text,
                   ARRAY[ROW(value, value)]::text) FROM sample WHERE base = f.base::text LIMIT 1;
    RETURN NEXT set_eq(
      format('SELECT DISTINCT n, get_byte(stored(e), 0) & 63, %s(e::%s) FROM containers,
              LATERAL (VALUES (1, d::%3$s), (2, (p).a), (3, (p).b::%3$s), (4, l[1]::%3$s), (5, q[1].a), (6, q[1].b::%3$s)) AS m (n, e)',
             sends, f.plain, f.enc),
      format('SELECT n, %s, %s(value::%s) FROM sample, generate_series(1, 6) n WHERE base = %L', c.spec, sends, f.plain, f.base),
      format('%s(%s) in domains, composite types and arrays of them', f.enc, c.words));
    RETURN NEXT throws_ok('INSERT INTO containers (d) VALUES (NULL)', '23514', NULL, format('a domain over %s has its own CHECK', f.enc));
    DROP TABLE containers;
    DROP TYPE pair;
    DROP DOMAIN contained;
  END LOOP;
END
$$;
SELECT containers(f) FROM family f ORDER BY name;

SELECT finish();
ROLLBACK;
