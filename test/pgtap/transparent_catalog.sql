-- With tde_column.transparent_catalog, what a client reads from the catalogs of encrypted columns is what it would read of plain ones.
BEGIN;
SELECT * FROM no_plan();
SET client_min_messages = warning;

-- Twins, with a column of each type, with modifiers where it has them, and arrays; domains, composite types, views and indexes of both.
DO $$
DECLARE
  types CONSTANT text[] := ARRAY['text', 'varchar', 'varchar(40)', 'bpchar', 'bpchar(8)', 'int2', 'int4', 'int8', 'numeric', 'numeric(9)', 'numeric(25,5)',
    'numeric(8,-2)', 'float4', 'float8', 'bool', 'date', 'time', 'time(3)', 'timetz', 'timetz(0)', 'timestamp', 'timestamp(3)', 'timestamptz', 'timestamptz(0)',
    'interval', 'interval(3)', 'bytea', 'uuid', 'json', 'jsonb', 'inet'];
  plain text;
  enc   text;
BEGIN
  SELECT string_agg(format('c%s %s', i, t), ', ' ORDER BY i),
         string_agg(format('c%s encrypted_%s', i, regexp_replace(t, '\)(\[\])?$',
           CASE i % 3 WHEN 0 THEN ',nosalt)\1' WHEN 1 THEN ',''key=own'',aes128)\1' ELSE ')\1' END)), ', ' ORDER BY i)
    INTO plain, enc FROM unnest(types || ARRAY(SELECT t || '[]' FROM unnest(types) t)) WITH ORDINALITY u (t, i);
  EXECUTE format('CREATE TABLE p (id int PRIMARY KEY, %s)', plain);
  EXECUTE format('CREATE TABLE e (id int PRIMARY KEY, %s)', enc);
  EXECUTE format('CREATE TYPE pc AS (%s)', plain);
  EXECUTE format('CREATE TYPE ec AS (%s)', enc);
END
$$;
CREATE DOMAIN pd AS varchar(9);
CREATE DOMAIN ed AS encrypted_varchar(9,nosalt);
CREATE DOMAIN pda AS numeric(9,2)[];
CREATE DOMAIN eda AS encrypted_numeric(9,2)[];
CREATE TABLE p2 (a pd, b pda, c pd[], gone text, d pc);
CREATE TABLE e2 (a ed, b eda, c ed[], gone encrypted_text, d ec);
ALTER TABLE p2 DROP gone;
ALTER TABLE e2 DROP gone;
CREATE VIEW pv AS SELECT * FROM p;
CREATE VIEW ev AS SELECT * FROM e;
CREATE INDEX pi ON p (c3, c7);
CREATE INDEX ei ON e (c3, c7);
CREATE VIEW users_view AS SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'e'::regclass AND attnum > 0;
CREATE FUNCTION in_function() RETURNS text LANGUAGE plpgsql AS
  $$ BEGIN RETURN (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3'); END $$;
CREATE FUNCTION pg_temp.truth(index oid) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN pg_get_indexdef(index); END $$;
CREATE FUNCTION in_inlined() RETURNS SETOF text LANGUAGE sql STABLE AS
  $$ SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' $$;

SELECT isnt(format_type(a.atttypid, a.atttypmod), 'character varying(40)', 'off, a column has its encrypted type')
  FROM pg_attribute a WHERE attrelid = 'e'::regclass AND attname = 'c3';
PREPARE told AS SELECT format_type(a.atttypid, a.atttypmod) = 'character varying(40)' AS told FROM pg_attribute a WHERE attrelid = 'e'::regclass AND attname = 'c3';
EXECUTE told \gset off_
SET plan_cache_mode = force_generic_plan;

SET tde_column.transparent_catalog = on;

-- ---- what drivers and ORMs read ----

CREATE TEMP TABLE twins (plain regclass, enc regclass);
INSERT INTO twins VALUES ('p', 'e'), ('p2', 'e2'), ('pc', 'ec'), ('pv', 'ev'), ('pi', 'ei');

SELECT is(e.types::text, p.types::text, format('format_type(), %s', enc))
  FROM twins,
  LATERAL (SELECT array_agg((attname, regexp_replace(format_type(atttypid, atttypmod), '^e(?!n)', 'p'), attcollation, attndims) ORDER BY attnum) AS types
             FROM pg_attribute WHERE attrelid = plain AND attnum > 0 AND NOT attisdropped) p,
  LATERAL (SELECT array_agg((attname, regexp_replace(format_type(atttypid, atttypmod), '^e(?!n)', 'p'), attcollation, attndims) ORDER BY attnum) AS types
             FROM pg_attribute WHERE attrelid = enc AND attnum > 0 AND NOT attisdropped) e;
SELECT is(count(*), (SELECT count(*) FROM pg_attribute WHERE attrelid = 'p'::regclass), 'pg_attribute joined with pg_type, on its oid and in a subselect')
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  JOIN pg_attribute b ON b.attrelid = 'p'::regclass AND b.attname = a.attname AND (b.atttypid, b.atttypmod) = (t.oid, a.atttypmod)
  WHERE a.attrelid = 'e'::regclass AND t.oid < 12000
    AND t.typname = (SELECT s.typname FROM pg_type s WHERE s.oid = (SELECT c.atttypid FROM pg_attribute c WHERE c.attrelid = b.attrelid AND c.attnum = b.attnum));

-- Whole rows of a view, but for names.
CREATE FUNCTION pg_temp.anonymous(r jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_object_agg(key, value ORDER BY key) FROM jsonb_each(r)
   WHERE key NOT IN ('table_name', 'udt_name', 'domain_name', 'object_name', 'view_name') OR value #>> '{}' !~ '^_?[pe][cdiv2]?a?$' $$;
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.columns: %s.%s', enc, e.column_name))
  FROM twins JOIN information_schema.columns e ON e.table_name = enc::text JOIN information_schema.columns p ON p.table_name = plain::text AND p.ordinal_position = e.ordinal_position;
SELECT is(count(*), (SELECT 2 * count(*) + 4 FROM pg_attribute WHERE attrelid = 'p'::regclass AND attnum > 0), 'in all columns')
  FROM twins JOIN information_schema.columns e ON e.table_name = enc::text;
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.attributes: %s', e.attribute_name))
  FROM information_schema.attributes e JOIN information_schema.attributes p USING (attribute_name) WHERE e.udt_name = 'ec' AND p.udt_name = 'pc';
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.domains: %s', e.domain_name))
  FROM information_schema.domains e JOIN information_schema.domains p ON p.domain_name = replace(e.domain_name, 'e', 'p') WHERE e.domain_name IN ('ed', 'eda');
SELECT is(pg_temp.anonymous(to_jsonb(e)), pg_temp.anonymous(to_jsonb(p)), format('information_schema.element_types: %s', e.collection_type_identifier))
  FROM information_schema.element_types e JOIN information_schema.element_types p USING (collection_type_identifier)
  WHERE e.object_name = 'e' AND p.object_name = 'p';
SELECT is(array_agg((e.udt_schema, e.udt_name) ORDER BY column_name)::text, (SELECT array_agg((udt_schema, udt_name) ORDER BY column_name)::text
          FROM information_schema.column_udt_usage WHERE table_name = 'p'), 'information_schema.column_udt_usage')
  FROM information_schema.column_udt_usage e WHERE table_name = 'e';
SELECT is(format_type(typbasetype, typtypmod), 'character varying(9)', 'pg_type tells the type that a domain is over') FROM pg_type WHERE oid = 'ed'::regtype;

-- ---- expressions ----

CREATE TABLE px (id int, a varchar(50) DEFAULT 'x' NOT NULL, n numeric(10,2) DEFAULT 0, big bigint DEFAULT 3, f float8 DEFAULT 0.5, t timestamptz DEFAULT now(),
  ok bool DEFAULT true, no bool DEFAULT false, up text DEFAULT upper('x'), g text GENERATED ALWAYS AS (upper(a)) STORED, s numeric GENERATED ALWAYS AS (n * n) STORED,
  j jsonb DEFAULT '{}', d date DEFAULT current_date, day date DEFAULT '2020-02-29', b bytea DEFAULT '\x00', plain text DEFAULT 'y');
CREATE TABLE ex (id int, a encrypted_varchar(50,nosalt) DEFAULT 'x' NOT NULL, n encrypted_numeric(10,2,nosalt) DEFAULT 0, big encrypted_int8 DEFAULT 3,
  f encrypted_float8 DEFAULT 0.5, t encrypted_timestamptz DEFAULT now(), ok encrypted_bool(nosalt) DEFAULT true, no encrypted_bool DEFAULT false,
  up encrypted_text DEFAULT upper('x'), g text GENERATED ALWAYS AS (upper(a)) STORED, s numeric GENERATED ALWAYS AS (n * n) STORED, j encrypted_jsonb DEFAULT '{}',
  d encrypted_date DEFAULT current_date, day encrypted_date DEFAULT '2020-02-29', b encrypted_bytea DEFAULT '\x00', plain text DEFAULT 'y');
-- As tde_encrypt_column() leaves defaults: constants of the encrypted type.
CREATE TABLE literals (b encrypted_bool DEFAULT 't', i encrypted_int4 DEFAULT '3', l encrypted_int8 DEFAULT '30', n encrypted_numeric(10,2) DEFAULT '0.50', neg encrypted_int4 DEFAULT '-1');
CREATE FUNCTION pg_temp.both(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(command, 'px');
  EXECUTE format(command, 'ex');
END
$$;
SELECT pg_temp.both(command) FROM unnest(ARRAY[
  'CREATE INDEX %1$s_1 ON %1$s (lower(a))', 'CREATE INDEX %1$s_2 ON %1$s ((a || ''x''))', 'CREATE INDEX %1$s_3 ON %1$s (a varchar_pattern_ops) WHERE ok',
  'CREATE UNIQUE INDEX %1$s_4 ON %1$s (upper(left(a, 3)), n DESC NULLS LAST) INCLUDE (id) WHERE a LIKE ''a%%''', 'CREATE INDEX %1$s_5 ON %1$s (n) WHERE NOT ok',
  'CREATE INDEX %1$s_6 ON %1$s (a, n) WHERE n > 5 AND a IS NOT NULL', 'CREATE INDEX %1$s_7 ON %1$s USING hash (a)', 'CREATE INDEX %1$s_8 ON %1$s (length(a))',
  'CREATE INDEX %1$s_0 ON %1$s (id) WHERE ''-H'' >= a::text COLLATE "C" AND up COLLATE "C" < ''x''',
  'CREATE INDEX %1$s_9 ON %1$s (id, plain) WHERE plain <> ''z''',
  'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c1 CHECK (n > 0)', 'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c2 CHECK (a IN (''a'', ''b'') AND d > ''2020-01-01'' AND a <> ''x'')',
  'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c3 CHECK (ok OR length(a) < 10)', 'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c4 CHECK (n BETWEEN 1.5 AND 10.5)',
  'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c5 CHECK (up <> upper(up))', 'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c6 CHECK (CASE WHEN ok THEN n ELSE 0.5 END < 100.5)',
  'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c7 UNIQUE (a, n)', 'ALTER TABLE %1$s ADD CONSTRAINT %1$s_c8 CHECK (plain LIKE ''y%%'' OR id = 3)']) command \g /dev/null

SELECT is(e.shown, p.shown, format('default of %s', attname))
  FROM (SELECT attname, pg_get_expr(adbin, adrelid) AS shown FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'ex'::regclass) e
  JOIN (SELECT attname, pg_get_expr(adbin, adrelid) AS shown FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'px'::regclass) p
    USING (attname);
SELECT is(string_agg(column_default, ' ' ORDER BY ordinal_position), 'true 3 30 0.50 ''-1''::integer', 'defaults that are encrypted constants')
  FROM information_schema.columns WHERE table_name = 'literals';
SELECT is(regexp_replace(pg_get_indexdef(e.oid), '\mex', 'px', 'g'), pg_get_indexdef(p.oid), format('pg_get_indexdef(), %s', e.relname))
  FROM pg_class e JOIN pg_class p ON p.relname = replace(e.relname, 'ex', 'px') WHERE e.relname ~ '^ex_\d$';
SELECT is(pg_get_indexdef(e.oid, 1, true), pg_get_indexdef(p.oid, 1, true), format('pg_get_indexdef() of a column, %s', e.relname))
  FROM pg_class e JOIN pg_class p ON p.relname = replace(e.relname, 'ex', 'px') WHERE e.relname ~ '^ex_\d$';
SELECT is((pg_get_expr(e.indexprs, e.indrelid), pg_get_expr(e.indpred, e.indrelid), e.indclass)::text, (pg_get_expr(p.indexprs, p.indrelid), pg_get_expr(p.indpred, p.indrelid), p.indclass)::text,
          format('pg_index, %s', e.indexrelid::regclass))
  FROM pg_index e JOIN pg_index p ON p.indexrelid = replace(e.indexrelid::regclass::text, 'ex', 'px')::regclass WHERE e.indexrelid::regclass::text ~ '^ex_\d$';
SELECT is(regexp_replace(e.indexdef, '\mex', 'px', 'g'), p.indexdef, 'pg_indexes') FROM pg_indexes e JOIN pg_indexes p ON p.indexname = 'px_4' WHERE e.indexname = 'ex_4';
SELECT is(pg_get_constraintdef(e.oid), pg_get_constraintdef(p.oid), format('pg_get_constraintdef(), %s', e.conname))
  FROM pg_constraint e JOIN pg_constraint p ON p.conname = replace(e.conname, 'ex', 'px') WHERE e.conname ~ '^ex_c\d$';
SELECT is((pg_get_constraintdef(e.oid, true), pg_get_expr(e.conbin, e.conrelid))::text, (pg_get_constraintdef(p.oid, true), pg_get_expr(p.conbin, p.conrelid))::text,
          format('pg_get_constraintdef(), pretty, %s', e.conname))
  FROM pg_constraint e JOIN pg_constraint p ON p.conname = replace(e.conname, 'ex', 'px') WHERE e.conname ~ '^ex_c\d$';
SELECT is(count(*), 0::bigint, 'what is plain is defined as it was')
  FROM pg_index i WHERE (indrelid < 16384 OR indrelid = 'px'::regclass) AND pg_get_indexdef(indexrelid) IS DISTINCT FROM pg_temp.truth(indexrelid);

CREATE TEMP TABLE raw AS SELECT conname, conbin::text AS tree FROM pg_constraint WHERE conbin IS NOT NULL;
SELECT is(string_agg(c.conname, ' ' ORDER BY c.conname), 'ex_c1 ex_c2 ex_c3 ex_c4 ex_c5 ex_c6', 'trees of plain expressions are not touched')
  FROM pg_constraint c JOIN raw USING (conname) WHERE c.conbin::text <> raw.tree;

-- ---- queries ----

CREATE TABLE pq (id int, a varchar(50), t text, n numeric(10,2), i int4, big bigint, ok bool, d date, j jsonb, c bpchar(10));
CREATE TABLE eq (id int, a encrypted_varchar(50,nosalt), t encrypted_text(nosalt), n encrypted_numeric(10,2), i encrypted_int4, big encrypted_int8, ok encrypted_bool,
  d encrypted_date, j encrypted_jsonb, c encrypted_bpchar(10,nosalt));
CREATE UNIQUE INDEX ON pq (c bpchar_pattern_ops);
CREATE UNIQUE INDEX ON eq (c bpchar_pattern_ops);
CREATE FUNCTION pg_temp.twins(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE regexp_replace(command, '@(?!>)', 'pq', 'g');
  EXECUTE regexp_replace(command, '@(?!>)', 'eq', 'g');
END
$$;
CREATE TABLE view_queries (number int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO view_queries (query) VALUES
  ('SELECT * FROM @'),
  ('SELECT t FROM @ WHERE t = ''A'' AND a <> ''b'' AND n > 5 AND i = 3 AND big = 4'),
  ('SELECT upper(a) AS u, t || ''x'' AS tx, length(t) AS l, n * 2 AS n2, i + 1 AS i1, -i AS neg, big / 2 AS half FROM @'),
  ('SELECT a::text AS at, t::varchar(5) AS tv, n::int4 AS ni, i::numeric(5,1) AS inum, i::int4 AS ii, d::timestamp AS dt, t::bytea AS b FROM @'),
  ('SELECT id FROM @ WHERE ok AND NOT (a LIKE ''x%'' OR t ~ ''y'') AND d > ''2020-01-01'' AND i BETWEEN 1 AND 10 AND t IN (''a'', ''b'') AND n IS NOT NULL'),
  ('SELECT ok, count(*) AS c, sum(i) AS s, max(a) AS ma, min(t) AS mt, avg(n) AS an, count(DISTINCT t) AS ct FROM @ GROUP BY ok HAVING sum(i) > 3'),
  ('SELECT string_agg(a, '','' ORDER BY t DESC, i USING >) FILTER (WHERE i > 3) AS s, array_agg(i) AS aa, json_agg(t) AS jt FROM @'),
  ('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i) AS p, rank(5, ''A'') WITHIN GROUP (ORDER BY i, t DESC) AS r FROM @'),
  ('SELECT sum(i) OVER (PARTITION BY a ORDER BY n DESC NULLS LAST ROWS 2 PRECEDING) AS s, lag(t) OVER w AS l, first_value(i) OVER w AS f FROM @ WINDOW w AS (ORDER BY i, d DESC)'),
  ('SELECT DISTINCT ON (a) a, t FROM @ ORDER BY a DESC, t, i NULLS FIRST LIMIT 3'),
  ('SELECT a FROM @ x WHERE EXISTS (SELECT FROM @ y WHERE y.t = x.t) AND x.i IN (SELECT big FROM @) AND n > ALL (SELECT n FROM @ WHERE i = 1) AND i = (SELECT max(i) FROM @)'),
  ('WITH RECURSIVE r AS (SELECT id, t, i FROM @ WHERE t = ''A'' UNION ALL SELECT s.id, s.t, s.i FROM @ s JOIN r ON s.i = r.i) SELECT * FROM r'),
  ('SELECT a FROM @ UNION SELECT a FROM @ WHERE i > 5 ORDER BY 1'),
  ('SELECT CASE WHEN i > 3 THEN t ELSE ''none'' END AS c, CASE a WHEN ''x'' THEN 1 ELSE 2 END AS k, coalesce(t, ''z'') AS z, nullif(i, 3) AS ni, greatest(i, 5) AS g FROM @'),
  ('SELECT j -> ''k'' AS k, j ->> ''l'' AS l, j @> ''{"a": 1}'' AS c, extract(year FROM d) AS y, date_part(''month'', d) AS m, substring(t FROM 2 FOR 3) AS s, trim(a) AS tr FROM @'),
  ('SELECT x.id, y.t FROM @ x LEFT JOIN @ y USING (t) JOIN LATERAL (SELECT upper(y.a) AS u) z ON z.u = x.a'),
  ('SELECT (a, i) < (''x'', 3) AS lt, a IS DISTINCT FROM ''q'' AS df, t COLLATE "C" < ''z'' AS co, d + 1 AS tomorrow, now() - d AS age, c || ''x'' AS cx FROM @'),
  ('SELECT grouping(a, i) AS g, a, i, sum(big) AS s FROM @ GROUP BY ROLLUP (a, i), CUBE (ok)'),
  ('SELECT f.x, f.y FROM @, LATERAL (VALUES (t, i), (''v'', 3)) f (x, y)'),
  ('SELECT i::text || t AS it, to_char(n, ''9.9'') AS tc, round(n, 1) AS r, abs(i) AS ab, n % 3 AS mo, sqrt(i) AS sq, md5(t) AS m FROM @');
SELECT pg_temp.twins(format('CREATE VIEW @_%s AS %s', number, query)) FROM view_queries \g /dev/null
SELECT pg_temp.twins(command) FROM unnest(ARRAY[
  'CREATE VIEW @_renamed (one, two) AS SELECT upper(a), i + 1 FROM @ UNION ALL SELECT a, i FROM @', 'ALTER VIEW @_renamed RENAME COLUMN two TO "Two"',
  'CREATE MATERIALIZED VIEW @_m AS SELECT id, a FROM @ WHERE t = ''A'' AND i > 3',
  'CREATE RULE r1 AS ON INSERT TO @_1 WHERE new.t = ''A'' AND new.i > 3 DO INSTEAD INSERT INTO @ (id, t, i, n) VALUES (new.id, upper(new.t), new.i + 1, 3)',
  'CREATE RULE r2 AS ON UPDATE TO @_1 WHERE old.t <> new.t DO INSTEAD (UPDATE @ SET t = lower(new.t), i = @.i + old.i WHERE @.i = old.i; DELETE FROM @ WHERE n > 5)',
  'CREATE RULE r3 AS ON DELETE TO @_1 WHERE old.ok DO INSTEAD NOTHING', 'CREATE RULE r4 AS ON DELETE TO @_2 DO INSTEAD DELETE FROM @ WHERE a = ''x''',
  'CREATE RULE r5 AS ON INSERT TO @_2 DO INSTEAD INSERT INTO @ (c) VALUES (new.t) ON CONFLICT (c bpchar_pattern_ops) DO UPDATE SET t = excluded.t WHERE excluded.c <> ''f'' RETURNING t',
  'CREATE RULE r6 AS ON UPDATE TO @_2 WHERE new.t = ''A'' DO INSTEAD INSERT INTO @ (t) SELECT t FROM @ WHERE t = old.t',
  'CREATE POLICY p1 ON @ USING (t = ''A'' AND i > 3) WITH CHECK (lower(a) = current_user OR i IN (SELECT i FROM @_1))']) command \g /dev/null

SELECT is(replace(pg_get_viewdef(e.oid), 'eq', 'pq'), pg_get_viewdef(p.oid), format('pg_get_viewdef(), %s: %s', e.relname, v.query))
  FROM pg_class e JOIN pg_class p ON p.relname = replace(e.relname, 'eq', 'pq') LEFT JOIN view_queries v ON e.relname = 'eq_' || v.number
  WHERE e.relname ~ '^eq_(\d+|renamed|m)$';
SELECT is(ARRAY[replace(pg_get_viewdef(e.oid, true), 'eq', 'pq'), replace(pg_get_viewdef(e.relname::text), 'eq', 'pq'), replace(pg_get_viewdef(e.relname::text, true), 'eq', 'pq')],
          ARRAY[pg_get_viewdef(p.oid, true), pg_get_viewdef(p.relname::text), pg_get_viewdef(p.relname::text, true)], format('pg_get_viewdef(), other forms, %s', e.relname))
  FROM pg_class e JOIN pg_class p ON p.relname = replace(e.relname, 'eq', 'pq') WHERE e.relname ~ '^eq_(\d+|renamed|m)$';
SELECT is(replace(e.definition, 'eq', 'pq'), p.definition, 'pg_views') FROM pg_views e JOIN pg_views p ON p.viewname = 'pq_3' WHERE e.viewname = 'eq_3';
SELECT is(replace(e.view_definition, 'eq', 'pq'), p.view_definition::text, 'information_schema.views')
  FROM information_schema.views e JOIN information_schema.views p ON p.table_name = 'pq_3' WHERE e.table_name = 'eq_3';
SELECT is(replace(e.definition, 'eq', 'pq'), p.definition, 'pg_matviews') FROM pg_matviews e JOIN pg_matviews p ON p.matviewname = 'pq_m' WHERE e.matviewname = 'eq_m';
SELECT is(replace(e.definition, 'eq', 'pq'), p.definition, format('pg_rules, %s', e.rulename))
  FROM pg_rules e JOIN pg_rules p ON p.tablename = replace(e.tablename, 'eq', 'pq') AND p.rulename = e.rulename WHERE e.tablename ~ '^eq_';
SELECT is(replace(pg_get_ruledef(e.oid, true), 'eq', 'pq'), pg_get_ruledef(p.oid, true), format('pg_get_ruledef(), pretty, %s', e.rulename))
  FROM pg_rewrite e JOIN pg_rewrite p ON p.ev_class::regclass::text = replace(e.ev_class::regclass::text, 'eq', 'pq') AND p.rulename = e.rulename
  WHERE e.ev_class::regclass::text ~ '^eq_[12]$';
SELECT is(replace((e.qual, e.with_check)::text, 'eq', 'pq'), (p.qual, p.with_check)::text, 'pg_policies')
  FROM pg_policies e JOIN pg_policies p ON p.tablename = 'pq' WHERE e.tablename = 'eq';
SELECT is((pg_get_viewdef(0::oid), pg_get_ruledef(0::oid), pg_get_partkeydef('eq'::regclass))::text, '(,,)', 'what is not there has no definition');
CREATE FUNCTION pg_temp.true_view(view oid) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN pg_get_viewdef(view); END $$;
SELECT is(count(*), 0::bigint, 'what is plain is defined as it was') FROM pg_class WHERE relkind = 'v' AND relname !~ '^eq_' AND pg_get_viewdef(oid) IS DISTINCT FROM pg_temp.true_view(oid);
CREATE FUNCTION pg_temp.true_rule(rule oid) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN pg_get_ruledef(rule); END $$;
CREATE TABLE ppart (a varchar(10), n int4) PARTITION BY RANGE (lower(a), a varchar_pattern_ops, (n + 0));
CREATE TABLE epart (a encrypted_varchar(10,nosalt), n encrypted_int4) PARTITION BY RANGE (lower(a), a varchar_pattern_ops, (n + 0));
SELECT is(pg_get_partkeydef('epart'::regclass), pg_get_partkeydef('ppart'::regclass), 'pg_get_partkeydef()');

-- ---- in other forms of a query ----

SELECT is((a).atttypid, 'varchar'::regtype::oid, 'in a whole row') FROM pg_attribute a WHERE attrelid = 'e'::regclass AND attname = 'c3';
WITH a AS MATERIALIZED (SELECT * FROM pg_attribute)
SELECT is(atttypid, 'varchar'::regtype::oid, 'in WITH') FROM a WHERE attrelid = 'e'::regclass AND attname = 'c3';
SELECT is(a.atttypmod, 44, 'in an outer join') FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND attname = 'c3' WHERE c.oid = 'e'::regclass;
SELECT is(t, 'varchar'::regtype::oid, 'in a lateral subselect, sorted')
  FROM pg_class c, LATERAL (SELECT max(atttypid) AS t FROM pg_attribute WHERE attrelid = c.oid AND attname = 'c3' GROUP BY attname ORDER BY 1 LIMIT 1) a WHERE c.oid = 'e'::regclass;
SELECT is(string_agg(t::regtype::text, ','), 'character varying,encrypted_varchar', 'not in a user''s view') FROM
  (SELECT atttypid AS t FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' UNION ALL
   SELECT regexp_replace(type, '\(.*', '')::regtype FROM users_view WHERE attname = 'c3') u;
SELECT isnt(in_function(), 'character varying(40)', 'nor in a function');
SELECT isnt(t, 'character varying(40)', 'nor in one that is inlined') FROM in_inlined() t;
SELECT is(count(*), (SELECT count(*) - 1 FROM pg_attribute WHERE attrelid = 'e'::regclass AND attnum > 0), 'nor in tde.encrypted_columns')
  FROM tde.encrypted_columns WHERE table_name = 'e';
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'nor with system columns of pg_attribute') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' AND tableoid > 0;
SELECT is(count(*), 1::bigint, 'the number of rows is the same') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
SELECT ok(atttypid = 'encrypted_varchar'::regtype, 'nor in rows that are locked') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' FOR SHARE;

-- What stores what it reads.
CREATE TEMP TABLE stored AS SELECT atttypid FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
INSERT INTO stored SELECT atttypid FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
WITH new AS (INSERT INTO stored SELECT atttypid FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' RETURNING *) SELECT FROM new;
SELECT is(array_agg(DISTINCT atttypid), ARRAY['encrypted_varchar'::regtype::oid], 'CREATE TABLE AS and INSERT see the truth') FROM stored;

-- Prepared statements and cursors follow the setting when they are planned.
EXECUTE told \gset on_
SET tde_column.transparent_catalog = off;
EXECUTE told \gset off_again_
SET tde_column.transparent_catalog = on;
EXECUTE told \gset on_again_
SELECT is(ARRAY[:'off_told', :'on_told', :'off_again_told', :'on_again_told'], '{f,t,f,t}'::text[], 'a prepared statement follows the setting');
DECLARE c CURSOR FOR SELECT atttypid = 'varchar'::regtype AS told FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
FETCH c \gset cursor_
SELECT ok(:'cursor_told', 'a cursor');
CLOSE c;

-- ---- when it has no effect ----

SET row_security = off;
SELECT is(pg_get_viewdef('eq_2'::regclass), pg_temp.true_view('eq_2'::regclass), 'not on views') UNION ALL
SELECT is(pg_get_ruledef(oid), pg_temp.true_rule(oid), 'nor on rules') FROM pg_rewrite WHERE rulename = 'r1' AND ev_class = 'eq_1'::regclass;
SELECT isnt(replace(pg_get_viewdef('eq_2'::regclass), 'eq', 'pq'), pg_get_viewdef('pq_2'::regclass), 'which have encrypted literals and casts');
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not with row_security off') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET row_security;
SET synchronize_seqscans = off;
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not with synchronize_seqscans off') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET synchronize_seqscans;
SET tde_column.transparent_results = off;
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not without transparent results') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET tde_column.transparent_results;
SET tde_column.io_format = ciphertext;
SELECT is(atttypid, 'encrypted_varchar'::regtype::oid, 'not for who wants ciphertext') FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
RESET tde_column.io_format;

-- Permissions are those of the catalog, and columns of it that nobody may read stay so.
CREATE ROLE reader;
GRANT SELECT ON stored TO reader;
REVOKE SELECT ON pg_attribute FROM PUBLIC;
GRANT SELECT (attrelid, attname, atttypid) ON pg_attribute TO reader;
SET ROLE reader;
SELECT 'varchar'::regtype = atttypid AS told FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3' \gset reader_
SAVEPOINT s;
\set ON_ERROR_STOP off
SELECT atttypmod FROM pg_attribute WHERE attrelid = 'e'::regclass AND attname = 'c3';
\set state :LAST_ERROR_SQLSTATE
ROLLBACK TO s;
SELECT data_type AS told FROM information_schema.columns WHERE table_name = 'stored' \gset view_
RESET ROLE;
SELECT is(ARRAY[:'reader_told', :'state', :'view_told'], '{t,42501,oid}'::text[], 'a role reads what it may read of the catalog, itself and through views');

-- So are those of functions.
REVOKE EXECUTE ON FUNCTION pg_get_indexdef(oid), pg_get_constraintdef(oid, bool), pg_get_viewdef(text), pg_get_ruledef(oid) FROM PUBLIC;
SET ROLE reader;
SAVEPOINT s;
\set ON_ERROR_STOP off
SELECT pg_get_indexdef(indexrelid) FROM pg_index LIMIT 1;
\set indexdef_state :SQLSTATE
ROLLBACK TO s;
SELECT pg_get_constraintdef(oid, true) FROM pg_constraint LIMIT 1;
\set constraintdef_state :SQLSTATE
ROLLBACK TO s;
SELECT pg_get_viewdef('eq_2'::text);
\set viewdef_state :SQLSTATE
ROLLBACK TO s;
SELECT pg_get_ruledef(oid) FROM pg_rewrite LIMIT 1;
\set ruledef_state :SQLSTATE
ROLLBACK TO s;
\set ON_ERROR_STOP on
RESET ROLE;
SELECT is(ARRAY[:'indexdef_state', :'constraintdef_state', :'viewdef_state', :'ruledef_state'], array_fill('42501'::text, ARRAY[4]), 'and calls what it may call');

SELECT * FROM finish();
ROLLBACK;
