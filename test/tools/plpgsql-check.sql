-- plpgsql_check: functions over encrypted columns have no findings, and a mistake in one has.
SELECT * FROM no_plan();
CREATE EXTENSION plpgsql_check;
CREATE FUNCTION good(key int) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  r encrypted;
BEGIN
  SELECT * INTO r FROM encrypted WHERE id = key;
  IF r.ok AND r.born > '2024-01-02' THEN
    UPDATE encrypted SET n = r.n + 1 WHERE id = key;
  END IF;
  RETURN r.amount * 2;
END
$$;
CREATE FUNCTION bad(key int) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT nothing FROM encrypted WHERE id = key); END $$;
SELECT is_empty($$SELECT * FROM plpgsql_check_function('good(int)') WHERE plpgsql_check_function LIKE 'error%'$$, 'no errors');
SELECT isnt_empty($$SELECT * FROM plpgsql_check_function('bad(int)') WHERE plpgsql_check_function LIKE 'error%'$$, 'an error');
SELECT * FROM finish();
