-- Statements of plain types, for test/core/expressions: every operator and function of pg_catalog that takes one to three operands,
-- literals and parameters among them.  Their types, means and counts come from the catalogs of a database without the extension.
--
-- The table namesake(name) is there: the functions of which the extension has others of the same name.

CREATE TABLE statement (id serial, text text);

-- The types one meets, and what has no type yet.
CREATE TABLE type AS
  SELECT format_type(oid, NULL) AS name, typname FROM pg_type
  WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r', 'm') AND typcategory NOT IN ('A', 'Z') AND typname !~ '^(pg_(?!lsn)|reg(?!class)|_|txid|gtsv|acl|refc)';
INSERT INTO type VALUES ('integer[]', '_int4'), ('text[]', '_text'), ('numeric[]', '_numeric'), ('date[]', '_date');
CREATE TABLE operand AS
  SELECT 'NULL::' || name AS value, typname ~ '^(int[248]|numeric|float[48]|text|varchar|bpchar|bytea|bool|date|time|timetz|timestamp|timestamptz|interval|uuid|inet|json|jsonb|name|oid|money)$' AS often FROM type
  UNION ALL SELECT literal, true FROM unnest('{NULL,1,1.5,''1'',''2024-01-01''}'::text[]) literal;
CREATE TABLE parameter AS SELECT value AS l, value AS r, often FROM operand UNION ALL VALUES ('$1', '$2', true);

-- Operators.
INSERT INTO statement (text)
  SELECT format('SELECT %s %s %s', l.l, oprname, r.r)
  FROM (SELECT DISTINCT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b') o, parameter l, parameter r
  WHERE l.often AND r.often OR l.l = r.r OR r.r IN ('$2', 'NULL') OR l.l IN ('$1', 'NULL');
INSERT INTO statement (text)
  SELECT format('SELECT %s %s', oprname, l)
  FROM (SELECT DISTINCT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'l') o, parameter;

-- Functions of one argument with everything; of two and three with everything where the extension has a namesake.
CREATE TABLE function AS
  SELECT DISTINCT proname AS name, pronargs AS arguments, proname IN (SELECT name FROM namesake) AS namesake, prokind
  FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace AND pronargs BETWEEN 1 AND 3 AND NOT proretset
    AND NOT proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[];
INSERT INTO statement (text) SELECT format('SELECT %I(%s)', name, l) FROM function, parameter WHERE arguments = 1 AND prokind IN ('f', 'a');
INSERT INTO statement (text)
  SELECT format('SELECT %I(%s, %s)', name, l.l, r.r) FROM function, parameter l, parameter r
  WHERE arguments = 2 AND prokind IN ('f', 'a') AND namesake AND l.often AND r.often;
INSERT INTO statement (text)
  SELECT format('SELECT %I(%s, %s, %s)', name, a, b, c) FROM function,
    unnest('{NULL::date,NULL::timestamp,NULL::timestamptz,NULL::interval,NULL::text,NULL::int,NULL::numeric,NULL,$1,''1'',''2024-01-01'',1,1.5}'::text[]) a,
    unnest('{NULL::date,NULL::timestamp,NULL::timestamptz,NULL::float8,NULL::text,NULL::int,NULL::numeric,NULL,$2,''1'',''2024-01-01'',1,1.5}'::text[]) b,
    unnest('{NULL::date,NULL::timestamp,NULL::timestamptz,NULL::interval,NULL::text,NULL::int,NULL,$3,''1'',''1 day'',1,1.5}'::text[]) c
  WHERE arguments = 3 AND prokind IN ('f', 'a') AND namesake;
-- The others with the types they declare, each argument a literal or a parameter in turn, or all of them.
INSERT INTO statement (text)
  SELECT DISTINCT format('SELECT %I(%s)', proname,
    string_agg(CASE WHEN instead = -1 OR instead = place THEN format(form, place) ELSE 'NULL::' || format_type(t, NULL) END, ', ' ORDER BY place))
  FROM pg_proc p, generate_series(-1, pronargs) instead, unnest('{NULL,''1'',$%s,1,1.5}'::text[]) form, unnest(proargtypes::oid[]) WITH ORDINALITY AS a (t, place)
  WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a') AND pronargs BETWEEN 2 AND 3 AND NOT proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[]
  GROUP BY p.oid, proname, instead, form;

-- Casts, in each of their notations.
INSERT INTO statement (text)
  SELECT format(form, typname, coalesce(value, '$1'), name)
  FROM type, (SELECT value FROM operand UNION ALL VALUES (NULL)) o, unnest('{SELECT %1$I(%2$s),SELECT %2$s::%3$s,"SELECT pg_catalog.%1$I(%2$s)"}'::text[]) form;
INSERT INTO statement (text) SELECT format('SELECT %s %L', name, literal) FROM type, unnest('{1,2024-01-01}'::text[]) literal;

-- What looks for a common type, or for the operators of an order.
INSERT INTO statement (text)
  SELECT format(form, l.l, r.r) FROM parameter l, parameter r,
    unnest('{SELECT %s IN (%s),SELECT %s = ANY (ARRAY[%s]),SELECT %s BETWEEN %s AND %2$s,"SELECT coalesce(%s, %s)","SELECT greatest(%s, %s)","SELECT nullif(%s, %s)",
             "SELECT ARRAY[%s, %s]",SELECT CASE WHEN true THEN %s ELSE %s END,SELECT CASE %s WHEN %s THEN 1 END,SELECT %s IS DISTINCT FROM %s,"SELECT (%s, 1) < (%s, 2)",
             SELECT %s UNION SELECT %s,SELECT %s EXCEPT ALL SELECT %s,"VALUES (%s), (%s)",SELECT %s IN (SELECT %s),SELECT %s > ALL (SELECT %s),
             "SELECT lag(%s, 1, %s) OVER ()",SELECT %s LIKE %s,SELECT %s NOT ILIKE %s,SELECT %s SIMILAR TO %s,SELECT %s AT TIME ZONE %s,
             "SELECT substring(%s FROM %s)","SELECT position(%s IN %s)",SELECT extract(year FROM %s) + %s,
             "SELECT 1 FROM (SELECT %s AS a) x JOIN (SELECT %s AS a) y USING (a)","SELECT (%s, %s) OVERLAPS (%1$s, %2$s)",SELECT %s COLLATE \"C\" < %s}'::text[]) form
  WHERE l.often AND r.often OR l.l = r.r;
INSERT INTO statement (text)
  SELECT format(form, l) FROM parameter,
    unnest('{SELECT %s ORDER BY 1,SELECT DISTINCT %s,SELECT %s GROUP BY 1,"SELECT count(DISTINCT %s)","SELECT row_number() OVER (PARTITION BY %1$s ORDER BY %1$s)",
             SELECT %s IS NULL,SELECT NOT %s,SELECT 1 LIMIT %s,SELECT 1 WHERE %s,"SELECT (%s)[1]","SELECT (%s).a",SELECT * FROM generate_series(1\, %s),
             "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY %s)","SELECT percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY %s)",
             "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY %s)",SELECT mode() WITHIN GROUP (ORDER BY %s),"SELECT percentile_cont(%s) WITHIN GROUP (ORDER BY 1.5)",
             "SELECT percentile_cont($1) WITHIN GROUP (ORDER BY %s)",SELECT rank(1) WITHIN GROUP (ORDER BY %s),SELECT rank(%1$s) WITHIN GROUP (ORDER BY %1$s),
             "SELECT sum(%s) OVER (ORDER BY 1 ROWS 1 PRECEDING)",SELECT sum(1) OVER (ORDER BY %1$s RANGE 1 PRECEDING),SELECT trim(%s),SELECT overlay(%s PLACING ''x'' FROM 1),
             "SELECT xmlelement(name a, %s)","SELECT json_build_object(''a'', %s)",SELECT extract(epoch FROM %s)}'::text[]) form;
INSERT INTO statement (text)
  SELECT format('SELECT 1 FROM (SELECT %1$s AS a, now() AS t) x ORDER BY sum(1) OVER (ORDER BY a RANGE BETWEEN %2$s PRECEDING AND %2$s FOLLOWING)', l.l, r.r)
  FROM parameter l, parameter r WHERE l.often AND r.often;

-- Names of functions, operators and types as values.
INSERT INTO statement (text)
  SELECT DISTINCT format('SELECT %L::%s', quote_ident(proname), kind) FROM pg_proc, unnest('{regproc}'::text[]) kind WHERE pronamespace = 'pg_catalog'::regnamespace
  UNION ALL SELECT DISTINCT format('SELECT %L::regprocedure', oid::regprocedure) FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind <> 'w'
  UNION ALL SELECT DISTINCT format('SELECT %L::regoper', oprname) FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace
  UNION ALL SELECT DISTINCT format('SELECT %L::regoperator', oid::regoperator) FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace
  UNION ALL SELECT DISTINCT format('SELECT %L::regtype', name) FROM type;
