--
-- Converting columns: to PostgreSQL an identity column is a plain integer, so an encrypted one is numbered as a serial column is.
--

CREATE FUNCTION tde_internal.tde_identity_commands(a pg_attribute) RETURNS TABLE (removal text, creation text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  numbers pg_sequence;
  name    text;
  counted record;
BEGIN
  IF a.attidentity = '' THEN
    RETURN;
  END IF;
  SELECT s.* INTO numbers FROM pg_depend d JOIN pg_sequence s ON s.seqrelid = d.objid
  WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND (d.refobjid, d.refobjsubid, d.deptype) = (a.attrelid, a.attnum, 'i');
  name := tde_internal.tde_full_name(numbers.seqrelid);
  EXECUTE format('SELECT last_value, is_called FROM %s', name) INTO counted;
  removal := format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', tde_internal.tde_full_name(a.attrelid), a.attname);
  SELECT concat_ws(';', format('CREATE SEQUENCE %s AS %s INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s CACHE %s %s OWNED BY %s.%I',
                               name, numbers.seqtypid::regtype, numbers.seqincrement, numbers.seqmin, numbers.seqmax, numbers.seqstart, numbers.seqcache,
                               CASE WHEN numbers.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END, tde_internal.tde_full_name(a.attrelid), a.attname),
                   format('SELECT setval(%L, %s, %L)', name, counted.last_value, counted.is_called),
                   format('COMMENT ON SEQUENCE %s IS %L', name, obj_description(numbers.seqrelid, 'pg_class')),
                   -- an identity's numbers take no privilege of their own
                   (SELECT string_agg(DISTINCT format('GRANT USAGE ON SEQUENCE %s TO %s', name, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END), ';')
                    FROM (SELECT relacl FROM pg_class WHERE oid = a.attrelid UNION ALL SELECT attacl FROM pg_attribute WHERE attrelid = a.attrelid) AS acls (acl)
                    CROSS JOIN LATERAL aclexplode(acl) WHERE privilege_type = 'INSERT'),
                   format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT nextval(%L::regclass)', tde_internal.tde_full_name(a.attrelid), a.attname, name)) INTO creation;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_identity_commands(pg_attribute) IS
  'commands that drop a column''s identity, and that number it by a default instead, from where it was; none if it has none';
