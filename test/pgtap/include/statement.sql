-- What a statement gives: its rows as text, each in a line.
CREATE FUNCTION shown(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line record;
  result text;
BEGIN
  FOR line IN EXECUTE statement LOOP
    result := concat_ws(E'\n', result, line::text);
  END LOOP;
  RETURN result;
END
$$;
CREATE FUNCTION gives(statement text, expected text) RETURNS text LANGUAGE sql AS
  $$ SELECT is(shown(statement), expected, regexp_replace(statement, '\s+', ' ', 'g')) $$;
