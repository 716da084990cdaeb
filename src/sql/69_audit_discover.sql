--
-- Plain columns that look as if they should not be: by their names for tde_audit(), by a sample of their values for tde_discover()
--

-- names: of columns, without regard to case.  shape: what values have in them; no group in it may be captured.
CREATE FUNCTION tde_internal.tde_sensitive_kinds(OUT kind text, OUT names text, OUT shape text) RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  VALUES
    ('card number', '(^|_)(pan|(credit_?)?card_?(no|num|number)|cc_?(no|num|number)|credit_?card)$', E'\\m[2-6](?:[ -]?\\d){12,18}\\M'),
    ('IBAN', '(^|_)iban(_|$)', E'\\m[A-Z]{2}\\d{2}(?: ?[A-Z0-9]){11,30}\\M'),
    ('e-mail address', '(^|_)e_?mail(_?addr(ess)?)?s?$', E'[[:alnum:]._%+-]+@(?:[[:alnum:]-]+\\.)+[[:alpha:]]{2,}'),
    ('US social security number', '(^|_)(ssn|social_security(_?(no|num|number))?)$', E'\\m(?!000|666|9)\\d{3}-(?!00)\\d{2}-(?!0000)\\d{4}\\M'),
    ('UK national insurance number', '(^|_)(nino|national_insurance(_?(no|num|number))?)$', E'\\m[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]\\M'),
    ('French NIR', NULL, E'\\m[12] ?\\d{2} ?(?:0[1-9]|1[0-2]) ?\\d{2} ?\\d{3} ?\\d{3} ?\\d{2}\\M'),
    ('Spanish DNI', '(^|_)(dni|nif)$', E'\\m\\d{8}-?[A-Z]\\M'),
    ('Italian codice fiscale', '(^|_)codice_?fiscale$', E'\\m[A-Z]{6}\\d{2}[A-EHLMPRST]\\d{2}[A-Z]\\d{3}[A-Z]\\M'),
    ('Polish PESEL', '(^|_)pesel$', E'\\m\\d{11}\\M'),
    ('Brazilian CPF', '(^|_)cpf$', E'\\m\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}\\M'),
    ('national id', '(^|_)(national_id|tax_id|tin|passport(_?(no|num|number))?|identity_?card)$', NULL),
    ('phone number', '(^|_)(phone|mobile|telephone|fax)(_?(no|num|number))?$', NULL),
    ('name of a person', '(^|_)(first|last|middle|family|given|full|maiden)_?name$|(^|_)surname$', NULL),
    ('date of birth', '(^|_)(birth_?(date|day)|date_?of_?birth|dob)$', NULL),
    ('password or secret', '(^|_)(password|passwd|passphrase|secret|api_?key|private_?key|access_?token|refresh_?token)$', NULL),
    ('health', '(^|_)(diagnosis|medication|blood_?type|icd_?(10|11)?_?code)$', NULL),
    ('pay', '(^|_)(salary|wage|income)$', NULL)
$$;
COMMENT ON FUNCTION tde_internal.tde_sensitive_kinds() IS 'what should be encrypted: how such columns are named, and what their values look like';

-- Check digits.
CREATE FUNCTION tde_internal.tde_has_check_digits(kind text, found text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE kind
    WHEN 'card number' THEN (
      SELECT sum(CASE WHEN (length(signs) - i) % 2 = 0 THEN digit WHEN digit > 4 THEN 2 * digit - 9 ELSE 2 * digit END) % 10 = 0
      FROM generate_series(1, length(signs)) i CROSS JOIN LATERAL (SELECT substr(signs, i, 1)::int4) d (digit))
    WHEN 'IBAN' THEN (
      SELECT string_agg(CASE WHEN sign ~ '[A-Z]' THEN (ascii(sign) - 55)::text ELSE sign END, '' ORDER BY i)::numeric % 97 = 1
      FROM (SELECT substr(signs, 5) || left(signs, 4)) m (moved) CROSS JOIN LATERAL generate_series(1, length(moved)) i CROSS JOIN LATERAL substr(moved, i, 1) sign)
    WHEN 'French NIR' THEN 97 - left(signs, 13)::int8 % 97 = right(signs, 2)::int8
    WHEN 'Spanish DNI' THEN substr('TRWAGMYFPDXBNJZSQVHLCKE', left(signs, 8)::int4 % 23 + 1, 1) = right(signs, 1)
    WHEN 'Polish PESEL' THEN (
      SELECT sum(substr(signs, i, 1)::int4 * (ARRAY[1, 3, 7, 9])[(i - 1) % 4 + 1]) % 10 = (10 - right(signs, 1)::int4) % 10 FROM generate_series(1, 10) i)
      AND substr(signs, 3, 2)::int4 % 20 BETWEEN 1 AND 12 AND substr(signs, 5, 2)::int4 BETWEEN 1 AND 31
    ELSE true END
  FROM regexp_replace(found, '[ -]', '', 'g') s (signs)
$$;
COMMENT ON FUNCTION tde_internal.tde_has_check_digits(text, text) IS 'whether the check digits of a value are right, or its kind has none';

-- Tables of which the current user may read all rows, and no code of others runs for it: PostgreSQL's own types and no policy.
CREATE FUNCTION tde_internal.tde_sampled(schema name, sample_rows int4, OUT relation oid, OUT attname name, OUT kind text, OUT filled int8, OUT shaped int8, OUT valid int8)
  RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT c.oid, coalesce(pg_partition_root(c.oid), c.oid)::oid AS root, array_agg(a.attname ORDER BY a.attnum) AS columns,
           string_agg(format('(%L::name, left(t.%I::text, 2000))', a.attname, a.attname), ', ' ORDER BY a.attnum) AS pairs,
           CASE WHEN c.reltuples > 10.0 * sample_rows AND c.relpages > 100
                THEN format('TABLESAMPLE SYSTEM (%s)', least(100, greatest(200.0 * sample_rows / c.reltuples, 1000.0 / c.relpages))) END AS part
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.oid >= 16384 AND c.relam = (SELECT oid FROM pg_am WHERE amname = 'heap') AND n.nspname LIKE schema
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      AND a.atttypid = ANY ('{text,varchar,bpchar,int8,numeric,json,jsonb,text[],varchar[]}'::regtype[])
      AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT') AND NOT row_security_active(c.oid)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = c.tableoid AND d.objid = c.oid AND d.deptype = 'e')
    GROUP BY c.oid
    ORDER BY c.oid
  LOOP
    CONTINUE WHEN NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.oid);
    -- The planner computes what it can of the expressions that indexes and statistics have.
    IF tde_internal.tde_foreign_owner('pg_class', t.oid, (SELECT oid FROM pg_roles WHERE rolname = current_user)) IS NOT NULL AND EXISTS (
         SELECT FROM pg_index WHERE indrelid = t.oid AND (indexprs IS NOT NULL OR indpred IS NOT NULL)
         UNION ALL SELECT FROM pg_statistic_ext WHERE stxrelid = t.oid AND stxexprs IS NOT NULL) THEN
      RAISE NOTICE 'table % was not read: its indexes or statistics have expressions, which run code of its owner', t.oid::regclass
        USING HINT = 'Have its owner call tde_discover().';
      CONTINUE;
    END IF;
    BEGIN
      RETURN QUERY EXECUTE format($query$
        SELECT %s::oid, v.attname, k.kind, count(*), count(s.found), count(*) FILTER (WHERE tde_internal.tde_has_check_digits(k.kind, s.found))
        FROM (SELECT %s FROM ONLY %s AS r %s LIMIT %s) t CROSS JOIN LATERAL (VALUES %s) v (attname, value)
        CROSS JOIN LATERAL (SELECT * FROM tde_internal.tde_sensitive_kinds() WHERE shape IS NOT NULL) k
        CROSS JOIN LATERAL (SELECT CASE WHEN v.value ~ '@|[0-9].*[0-9].*[0-9].*[0-9]' THEN substring(v.value, k.shape) END) s (found)
        WHERE v.value IS NOT NULL GROUP BY 2, 3$query$,
        t.root, (SELECT string_agg(quote_ident(c), ', ') FROM unnest(t.columns) c), t.oid::regclass, t.part, sample_rows, t.pairs);
    EXCEPTION WHEN lock_not_available THEN
      RAISE NOTICE 'table % was not read: %', t.oid::regclass, SQLERRM;
    END;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_sampled(name, int4) IS 'tde_discover(): how many values of plain columns look like what should be encrypted';

-- A column whose values have the shape, but mostly not the check digits, holds something else.
CREATE FUNCTION @extschema@.tde_discover(schema name DEFAULT '%', sample_rows int4 DEFAULT 1000)
  RETURNS TABLE (relation regclass, column_name name, looks_like text, by_name boolean, matches numeric, sampled int8, command text)
LANGUAGE sql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
  WITH by_value AS MATERIALIZED (
    SELECT s.relation, s.attname, s.kind, sum(s.filled)::int8 AS filled, sum(s.valid) AS valid
    FROM tde_internal.tde_sampled(schema, sample_rows) s GROUP BY 1, 2, 3 HAVING sum(s.valid) * 100 >= sum(s.filled) AND sum(s.valid) * 3 >= sum(s.shaped)),
  by_name AS MATERIALIZED (
    SELECT c.oid AS relation, a.attname, k.kind
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid CROSS JOIN tde_internal.tde_sensitive_kinds() k
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't' AND c.oid >= 16384 AND n.nspname LIKE schema AND a.attname ~* k.names
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND has_column_privilege(c.oid, a.attnum, 'SELECT')
      AND EXISTS (SELECT FROM tde.types t WHERE t.base = a.atttypid))
  SELECT relation::regclass, attname, kind, n.kind IS NOT NULL, round(v.valid * 100 / v.filled, 1), v.filled, format('CALL tde_encrypt_column(%L, %L);', relation::regclass, attname)
  FROM by_value v FULL JOIN by_name n USING (relation, attname, kind)
  ORDER BY relation::regclass::text, attname, kind
$$;
COMMENT ON FUNCTION @extschema@.tde_discover(name, int4) IS
  'plain columns that look as if they should be encrypted, by their names and by a sample of their values, of tables that the current user may read';
