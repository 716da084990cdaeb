--
-- Plain columns that look as if they should not be: by their names for tde_audit(), by a sample of their values for tde_discover()
--

-- names: of columns, without regard to case.  What values look like, and the kinds without names: modules/audit/shapes.c.
CREATE FUNCTION tde_internal.tde_sensitive_kinds(OUT kind text, OUT names text) RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  VALUES
    ('card number', '(^|_)(pan|(credit_?)?card_?(no|num|number)|cc_?(no|num|number)|credit_?card)$'),
    ('IBAN', '(^|_)iban(_|$)'),
    ('e-mail address', '(^|_)e_?mail(_?addr(ess)?)?s?$'),
    ('US social security number', '(^|_)(ssn|social_security(_?(no|num|number))?)$'),
    ('UK national insurance number', '(^|_)(nino|national_insurance(_?(no|num|number))?)$'),
    ('Spanish DNI', '(^|_)(dni|nif)$'),
    ('Italian codice fiscale', '(^|_)codice_?fiscale$'),
    ('Polish PESEL', '(^|_)pesel$'),
    ('Brazilian CPF', '(^|_)cpf$'),
    ('national id', '(^|_)(national_id|tax_id|tin|passport(_?(no|num|number))?|identity_?card)$'),
    ('phone number', '(^|_)(phone|mobile|telephone|fax)(_?(no|num|number))?$'),
    ('name of a person', '(^|_)(first|last|middle|family|given|full|maiden)_?name$|(^|_)surname$'),
    ('date of birth', '(^|_)(birth_?(date|day)|date_?of_?birth|dob)$'),
    ('password or secret', '(^|_)(password|passwd|passphrase|secret|api_?key|private_?key|access_?token|refresh_?token)$'),
    ('health', '(^|_)(diagnosis|medication|blood_?type|icd_?(10|11)?_?code)$'),
    ('pay', '(^|_)(salary|wage|income)$')
$$;
COMMENT ON FUNCTION tde_internal.tde_sensitive_kinds() IS 'what should be encrypted: how such columns are named';

-- Of those relations it reads tables that the current user may read, and evaluates nothing of anybody: modules/audit/discover.c.
CREATE FUNCTION tde_internal.tde_sampled(relations oid[], sample_rows int4, OUT relation oid, OUT attname name, OUT kind text, OUT filled int8, OUT shaped int8, OUT valid int8)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION tde_internal.tde_sampled(oid[], int4) IS 'tde_discover(): how many values of plain columns look like what should be encrypted';

-- A column whose values have the shape, but mostly not the check digits, holds something else.
CREATE FUNCTION @extschema@.tde_discover(schema name DEFAULT '%', sample_rows int4 DEFAULT 1000)
  RETURNS TABLE (relation regclass, column_name name, looks_like text, by_name boolean, matches numeric, sampled int8, command text)
LANGUAGE sql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
  WITH by_value AS MATERIALIZED (
    SELECT coalesce(pg_partition_root(s.relation), s.relation)::oid AS relation, s.attname, s.kind, sum(s.filled)::int8 AS filled, sum(s.valid) AS valid
    FROM tde_internal.tde_sampled(ARRAY(
      SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.oid >= 16384 AND n.nspname LIKE schema
        AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = c.tableoid AND d.objid = c.oid AND d.deptype = 'e')
      ORDER BY c.oid), sample_rows) s
    GROUP BY 1, 2, 3 HAVING sum(s.valid) * 100 >= sum(s.filled) AND sum(s.valid) * 3 >= sum(s.shaped)),
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
