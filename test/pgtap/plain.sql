-- Expressions of plain types mean what they mean without the extension, whatever of its is on the search path: its operators,
-- functions and casts neither take the places of PostgreSQL's nor make them ambiguous.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

-- The type of an expression, or why it has none.
CREATE FUNCTION outcome(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  type text;
BEGIN
  EXECUTE 'SELECT pg_catalog.pg_typeof((SELECT ' || expression || ' LIMIT 1))' INTO type;
  RETURN type;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END
$$;

CREATE TEMP TABLE operand AS
  SELECT format('NULL::%s', type) AS value FROM (SELECT plain FROM family UNION ALL SELECT unnest('{name,cidr,oid,xid,money,"\"char\"",xml,bit,varbit,pg_lsn}'::text[])) t (type)
  UNION ALL VALUES ('NULL'), ('1'), ('1.5'), ('''2''');
-- PostgreSQL's functions of which the extension has others, by the number of their arguments.
CREATE TEMP TABLE namesake AS
  SELECT DISTINCT c.proname AS name, c.pronargs AS arguments FROM pg_proc p
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'tde_column'
  JOIN pg_proc c ON c.proname = p.proname AND c.oid < 12000;
SELECT cmp_ok((SELECT count(*) FROM namesake WHERE arguments = n), '>', few::bigint, format('namesakes with %s arguments', n))
FROM (VALUES (1, 50), (2, 15), (3, 3)) AS v (n, few);

CREATE TEMP TABLE expression (text text);
INSERT INTO expression
  SELECT format('%s %s %s', l.value, symbol, r.value)
  FROM operand l, operand r, unnest('{=,<>,<,<=,>,>=,+,-,*,/,%,||,^,~~,!~~,~,^@,#,&,|,<<,>>,->,->>,~<~}'::text[]) symbol
  UNION ALL
  SELECT format(form, l.value, r.value)
  FROM operand l, operand r,
       unnest('{%s IN (%s),%s = ANY (ARRAY[%s]),%s BETWEEN %s AND %2$s,"coalesce(%s, %s)","greatest(%s, %s)","nullif(%s, %s)","ARRAY[%s, %s]",
                CASE WHEN true THEN %s ELSE %s END,%s IS DISTINCT FROM %s,"(%s, 1) < (%s, 2)"}'::text[]) form
  UNION ALL
  SELECT format('%s %s', symbol, value) FROM operand, unnest('{-,+,@,|/,||/,~}'::text[]) symbol
  UNION ALL
  SELECT format('%I(%s)', name, value) FROM namesake, operand WHERE arguments = 1
  UNION ALL
  SELECT format('%I(%s, %s)', name, l.value, r.value) FROM namesake, operand l, operand r WHERE arguments = 2;
INSERT INTO expression
  SELECT format('%I(%s, %s, %s)', name, a, b, c)
  FROM namesake, unnest('{NULL::date,NULL::timestamp,NULL::timestamptz,NULL::interval,NULL::text,NULL,''2024-01-01'',''1 day'',1,1.5}'::text[]) a,
       unnest('{NULL::date,NULL::timestamp,NULL::timestamptz,NULL::float8,NULL::text,NULL,''2024-01-01'',1,1.5}'::text[]) b,
       unnest('{NULL::timestamp,NULL::timestamptz,NULL::interval,NULL::text,NULL,''1 day'',1,1.5}'::text[]) c
  WHERE arguments = 3;

-- And others, in whose way a cast could be.
INSERT INTO expression
  SELECT format('%s(%s)', function, value) FROM operand, unnest('{sum,avg,stddev,corr,abs,upper,factorial,scale}'::text[]) function
  UNION ALL
  SELECT format('%s(%s, %s)', function, l.value, r.value) FROM operand l, operand r, unnest('{mod,div}'::text[]) function;

-- Ranges and what is in them.
INSERT INTO expression
  SELECT format(form, range, value)
  FROM unnest('{int4range,int8range,numrange,daterange,tsrange,tstzrange,int4multirange,int8multirange,nummultirange,datemultirange,tsmultirange,
                tstzmultirange}'::text[]) range,
       unnest(ARRAY['NULL', '1', '1::int2', '1::int8', '1.5', '1::float8', '''1''', '''[1,2)''', '''{}''', '''empty''', 'NULL::date', 'NULL::timestamp',
                    'NULL::timestamptz', 'NULL::time', 'NULL::text', 'NULL::int4range', 'NULL::numrange', 'NULL::tstzrange', 'NULL::int4[]']) value,
       unnest('{NULL::%s @> %s,%2$s <@ NULL::%1$s,NULL::%s <@ %s,%2$s @> NULL::%1$s,NULL::%s && %s}'::text[]) form;

-- Arrays.
CREATE TEMP TABLE array_operand AS
  SELECT format('NULL::%s[]', plain) AS value FROM family
  UNION ALL SELECT unnest(ARRAY['NULL', '''{}''', 'ARRAY[1]', 'ARRAY[1.5]', 'ARRAY[''x'']', 'ARRAY[[1]]', 'NULL::name[]', 'NULL::int2vector', '1', 'NULL::int4range',
                                'NULL::jsonb', 'NULL::inet', 'NULL::tsquery']);
INSERT INTO expression
  SELECT format(form, l.value, r.value)
  FROM array_operand l, array_operand r,
       unnest('{%s = %s,%s <> %s,%s < %s,%s && %s,%s @> %s,%s <@ %s}'::text[]) form;

-- A search path of nothing but pg_catalog hides the extension's operators and functions.
ALTER FUNCTION outcome SET search_path = pg_catalog;
CREATE TEMP TABLE expected AS SELECT text, outcome(text) FROM expression;
ALTER FUNCTION outcome RESET search_path;
-- What is an error to PostgreSQL has a result: an integer in a range of bigint or numeric, a date or timestamp in one of timestamptz.
UPDATE expected SET outcome = 'boolean'
WHERE outcome ~ '^operator does not exist: ' AND text ~ 'range @> |<@ NULL::.*range'
  AND (text ~ '(int8|num)(multi)?range' AND text ~ '(^|> )1(::int2)?($| )' OR text ~ 'num(multi)?range' AND text ~ '1::int8'
       OR text ~ 'tstz(multi)?range' AND text ~ '::(date|timestamp)($| )');
SELECT cmp_ok((SELECT count(*) FROM expected WHERE outcome !~ 'exist|unique|cannot|could not|invalid'), '>', 5000::bigint, 'many expressions have a type');
SELECT is(outcome(text), outcome, text) FROM expected WHERE outcome(text) <> outcome;
SELECT is_empty('SELECT text FROM expected WHERE outcome(text) <> outcome', 'expressions of plain values mean what they mean without the extension');

SELECT finish();
ROLLBACK;
