-- Encrypted values become the JSON that values of the base type become.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();
SET LOCAL timezone = 'America/St_Johns';

CREATE FUNCTION differing(f family) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE pairs AS SELECT value::%s AS plain FROM sample WHERE base = %L', f.plain, f.base);
  EXECUTE format('ALTER TABLE pairs ADD enc %s', f.enc);
  UPDATE pairs SET enc = plain;
  INSERT INTO pairs VALUES (NULL, NULL);
  RETURN QUERY SELECT plain::text FROM pairs
    WHERE to_json(enc)::text IS DISTINCT FROM to_json(plain)::text OR to_jsonb(enc) IS DISTINCT FROM to_jsonb(plain)
       OR json_build_array(enc)::text <> json_build_array(plain)::text OR row_to_json(ROW(enc))::text <> row_to_json(ROW(plain))::text;
  RETURN QUERY SELECT 'json_agg' FROM pairs HAVING json_agg(enc)::text <> json_agg(plain)::text;
  DROP TABLE pairs;
END
$$;
SELECT is_empty(format('SELECT differing(f) FROM family f WHERE enc = %L::regtype', enc), format('%s as JSON', enc)) FROM family ORDER BY name;

SELECT finish();
ROLLBACK;
