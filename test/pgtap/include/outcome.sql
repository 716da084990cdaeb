-- The value and the type of an expression, or its error.  Only the words of the error matter, not the names of types in them.
CREATE FUNCTION outcome(expression text, tables text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg((e IS NULL)::text || coalesce(e::text, ''''), '' '' ORDER BY n) || min(pg_typeof(e)::text)
                  FROM (SELECT %s AS e, n FROM %s) s', expression, tables) INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
