--
-- Converting columns: what is printed and read again for a column's new type refers to the same as before.
--
-- A text names what a tree has by its OID.  Between the two the owner of a schema may drop what others have there and make his own of that
-- name, or give the schema's name to another one; and for the new type something else of that name may fit better.
--

-- new in 0.2.0
CREATE TYPE tde_internal.tde_reference AS (class oid, object oid, description text);
COMMENT ON TYPE tde_internal.tde_reference IS 'what an object refers to, or the schema of that, and its name at the time';

-- new in 0.2.0
CREATE TYPE tde_internal.tde_binding AS (description text, type text, names text[], args text[], owner oid, refs tde_internal.tde_reference[]);
COMMENT ON TYPE tde_internal.tde_binding IS
  'an object that a conversion makes again, how it is found by its name, the owner of its table or view, and what it refers to';

CREATE FUNCTION tde_internal.tde_relation_of(class regclass, object oid) RETURNS oid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_relation_of(regclass, oid) IS 'the table, view or index that an object with expressions is, or belongs to';

CREATE FUNCTION tde_internal.tde_foreign_owner(class regclass, object oid, role oid) RETURNS oid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_foreign_owner(regclass, oid, oid) IS 'owner of an object; NULL if that is the role or a superuser, or if it has none';

CREATE FUNCTION tde_internal.tde_references(class oid, object oid) RETURNS SETOF tde_internal.tde_reference
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH parts AS (
    SELECT $1 AS classid, $2 AS objid
    -- a view's query, and the defaults of its columns
    UNION SELECT d.classid, d.objid FROM pg_depend d WHERE $1 = 'pg_class'::regclass AND d.refclassid = $1 AND d.refobjid = $2
      AND (d.classid = 'pg_rewrite'::regclass AND d.deptype = 'i' OR d.classid = 'pg_attrdef'::regclass)
  ), named AS (
    -- the type of a row stands for its table, as an index does, which is made anew; that of an array for its elements'
    SELECT CASE WHEN coalesce(e.typrelid, t.typrelid) <> 0 THEN 'pg_class'::regclass::oid ELSE refclassid END AS class,
           coalesce(nullif(coalesce(e.typrelid, t.typrelid), 0), e.oid, indrelid, refobjid) AS object
    FROM parts JOIN pg_depend d USING (classid, objid)
    LEFT JOIN pg_type t ON refclassid = 'pg_type'::regclass AND t.oid = refobjid LEFT JOIN pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
    LEFT JOIN pg_index ON refclassid = 'pg_class'::regclass AND indexrelid = refobjid
    WHERE refclassid <> 'pg_attrdef'::regclass AND (refclassid, refobjid) NOT IN (SELECT * FROM parts)
  )
  SELECT class, object, pg_describe_object(class, object, 0) FROM (
    SELECT class, object FROM named
    UNION SELECT 'pg_namespace'::regclass, to_regnamespace(i.schema) FROM named CROSS JOIN LATERAL pg_identify_object(class, object, 0) i
    WHERE to_regnamespace(i.schema) IS NOT NULL
  ) AS all_of_them (class, object)
$$;
COMMENT ON FUNCTION tde_internal.tde_references(oid, oid) IS 'what an object refers to, and the schemas of that, without what is PostgreSQL''s own';

CREATE FUNCTION tde_internal.tde_bindings(a pg_attribute) RETURNS SETOF tde_internal.tde_binding
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT pg_describe_object(classid, objid, 0), i.type, i.object_names, i.object_args, tde_internal.tde_owner_of(tde_internal.tde_relation_of(classid, objid)),
         ARRAY(SELECT r FROM tde_internal.tde_references(classid, objid) r)
  FROM (
    SELECT classid, objid FROM tde_internal.tde_dependents(a)
    UNION
    -- those of partitions follow from their parents', under names that PostgreSQL chooses
    SELECT d.classid, d.objid FROM tde_internal.tde_column_family(a) f
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relation AND d.refobjsubid = f.attnum
    LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
    LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
    WHERE d.classid = ANY ('{pg_attrdef,pg_statistic_ext}'::regclass[]) OR k.contype <> 'n' AND k.conparentid = 0
      OR c.relkind IN ('i', 'I') AND NOT c.relispartition
  ) AS objects
  CROSS JOIN LATERAL pg_identify_object_as_address(classid, objid, 0) i
$$;
COMMENT ON FUNCTION tde_internal.tde_bindings(pg_attribute) IS 'what is read again for a column''s new type';

CREATE FUNCTION tde_internal.tde_changed_names(bindings tde_internal.tde_binding[]) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- relations may be made again themselves
  SELECT format('%s: %s, which was %s', b.description, r.description, CASE WHEN now IS NULL THEN 'dropped' ELSE 'renamed' END)
  FROM unnest(bindings) b CROSS JOIN LATERAL unnest(b.refs) r CROSS JOIN LATERAL pg_describe_object(r.class, r.object, 0) AS now
  WHERE now <> r.description OR now IS NULL AND r.class <> ALL ('{pg_class,pg_constraint}'::regclass[])
$$;
COMMENT ON FUNCTION tde_internal.tde_changed_names(tde_internal.tde_binding[]) IS 'what objects referred to that is not there any more under its name';

CREATE FUNCTION tde_internal.tde_foreign_references(columns pg_attribute[], bindings tde_internal.tde_binding[]) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH again AS (
    SELECT b.*, o.classid, o.objid FROM (
      -- a default that is NULL is none any more
      SELECT * FROM unnest(bindings) u WHERE type <> 'default value' OR EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = to_regclass(format('%I.%I', names[1], names[2])) AND attname = names[3] AND atthasdef)) b
    CROSS JOIN LATERAL pg_get_object_address(b.type, b.names, b.args) o
  )
  SELECT format('%s: %s, of role "%s"', g.description, r.description, pg_get_userbyid(f.owner))
  FROM again g CROSS JOIN LATERAL tde_internal.tde_references(g.classid, g.objid) r
  CROSS JOIN LATERAL tde_internal.tde_foreign_owner(r.class, r.object, g.owner) AS f (owner)
  WHERE f.owner IS NOT NULL AND r.class <> 'pg_namespace'::regclass
    AND NOT EXISTS (
      -- the same, or a view that was made again as well, or the same role's function of that name, for other arguments
      SELECT FROM unnest(g.refs) b WHERE (b.class, b.object) = (r.class, r.object)
        OR b.description = r.description AND EXISTS (SELECT FROM again v WHERE (v.classid, v.objid) = (r.class, r.object))
        OR EXISTS (SELECT FROM pg_proc o JOIN pg_proc n USING (pronamespace, proname, proowner)
                   WHERE (b.class, r.class) = ('pg_proc'::regclass, 'pg_proc'::regclass) AND (o.oid, n.oid) = (b.object, r.object)))
    AND NOT EXISTS (
      -- the columns' types themselves
      SELECT FROM unnest(columns) a JOIN pg_attribute n ON (n.attrelid, n.attname) = (a.attrelid, a.attname) JOIN pg_type t ON t.oid = n.atttypid
      WHERE r.class = 'pg_type'::regclass AND r.object IN (t.oid, t.typelem))
  UNION ALL
  SELECT format('%s, of role "%s"', description, pg_get_userbyid(o.owner))
  FROM again g CROSS JOIN LATERAL tde_internal.tde_owner_of(tde_internal.tde_relation_of(classid, objid)) AS o (owner) WHERE o.owner <> g.owner
$$;
COMMENT ON FUNCTION tde_internal.tde_foreign_references(pg_attribute[], tde_internal.tde_binding[]) IS
  'what objects that were made again refer to, did not refer to before, and belongs to others than their owners and superusers';

CREATE FUNCTION tde_internal.tde_check_bindings(columns pg_attribute[], bindings tde_internal.tde_binding[], made boolean) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  changes text[] := ARRAY(SELECT DISTINCT c FROM tde_internal.tde_changed_names(bindings) c ORDER BY c);
BEGIN
  IF made AND changes = '{}' THEN
    changes := ARRAY(SELECT DISTINCT f FROM tde_internal.tde_foreign_references(columns, bindings) f ORDER BY f);
  END IF;
  IF changes <> '{}' THEN
    RAISE EXCEPTION 'names in what depends on column % of table % mean something else now',
        (SELECT string_agg(format('"%s"', attname), ', ') FROM unnest(columns)), columns[1].attrelid::regclass
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = array_to_string(changes, E'\n'),
        HINT = 'See who owns these and the schemas that they are in. Then call it again, or drop what names them before.';
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_bindings(pg_attribute[], tde_internal.tde_binding[], boolean) IS
  'error if what is read again for a column''s new type does not mean what it did; made: it was read';
