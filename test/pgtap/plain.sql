-- Plain values keep PostgreSQL's operators, functions and errors, whatever of the extension's is on the search path.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

-- The type of an expression, or why it has none.
CREATE FUNCTION outcome(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  type text;
BEGIN
  EXECUTE 'SELECT pg_catalog.pg_typeof(' || expression || ')' INTO type;
  RETURN type;
EXCEPTION WHEN syntax_error_or_access_rule_violation OR feature_not_supported OR data_exception THEN
  RETURN SQLERRM;
END
$$;

CREATE TEMP TABLE operand AS SELECT format('NULL::%s', plain) AS value FROM family UNION ALL VALUES ('NULL'), ('1'), ('1.5'), ('''2''');
CREATE TEMP TABLE moment AS
  SELECT unnest('{NULL::date,NULL::timestamp,NULL::timestamptz,NULL::interval,NULL::text,NULL,''2024-01-01'',''1 day''}'::text[]) AS value;
CREATE TEMP TABLE expression AS
  SELECT format('%s %s %s', l.value, symbol, r.value) AS text
  FROM operand l, operand r, unnest('{=,<>,<,<=,>,>=,+,-,*,/,%,||,^}'::text[]) symbol
  UNION ALL
  SELECT format('%s(%s)', function, o.value)
  FROM operand o, unnest('{min,max,sum,avg,corr,stddev,abs,upper,length,date,text,int4,numeric,age,ceil,exp,factorial,floor,log,round,scale,sign,sqrt,
                           to_timestamp,trunc,|/}'::text[]) function
  UNION ALL
  SELECT format('%s(%s, %s)', function, l.value, r.value)
  FROM operand l, operand r, unnest('{corr,regr_slope,coalesce,greatest,date_trunc,round,age,div,log,mod,power,to_char,trunc}'::text[]) function
  UNION ALL
  SELECT format(call, a.value, b.value, c.value)
  FROM unnest('{"(SELECT generate_series(%s, %s, %s) LIMIT 1)","date_bin(%s, %s, %s)","date_trunc(%s, %s, %s)"}'::text[]) call, moment a, moment b, moment c;
SELECT cmp_ok((SELECT count(*) FROM expression), '>', 9000::bigint, 'there are expressions');

-- A search path of nothing but pg_catalog hides the extension's operators and functions.
ALTER FUNCTION outcome SET search_path = pg_catalog;
CREATE TEMP TABLE expected AS SELECT text, outcome(text) FROM expression;
ALTER FUNCTION outcome RESET search_path;
SELECT is(outcome(text), outcome, text) FROM expected WHERE outcome(text) <> outcome;
SELECT is_empty('SELECT text FROM expected WHERE outcome(text) <> outcome', 'expressions of plain values mean what they mean without the extension');

SELECT finish();
ROLLBACK;
