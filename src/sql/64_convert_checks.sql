--
-- Converting columns: what keeps a column's type from being changed, and what the owners of its dependents may not.
--

CREATE FUNCTION tde_internal.tde_tree_uses(tree pg_node_tree, column_number int2) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_tree_uses(pg_node_tree, int2) IS 'whether an expression of one table reads a column; false if there is none';

CREATE FUNCTION tde_internal.tde_tree_null_test(tree pg_node_tree, column_number int2) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_tree_null_test(pg_node_tree, int2) IS 'IS NULL or IS NOT NULL, if a condition asks that of a column and nothing else';

CREATE FUNCTION tde_internal.tde_index_expression(index oid, key int, source int2, target int2) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION tde_internal.tde_index_expression(oid, int, int2, int2) IS
  'expression that is a key of an index, counted from 0, with another column in a column''s place; NULL if the key is none';

CREATE FUNCTION tde_internal.tde_column_family(a pg_attribute) RETURNS TABLE (relation oid, attnum int2)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH RECURSIVE family AS (
    SELECT a.attrelid AS relation, a.attnum AS attnum
    UNION SELECT c.attrelid, c.attnum FROM family JOIN pg_inherits ON inhparent = relation
          JOIN pg_attribute c ON c.attrelid = inhrelid AND c.attname = a.attname
  )
  SELECT relation, attnum FROM family
$$;
COMMENT ON FUNCTION tde_internal.tde_column_family(pg_attribute) IS 'a column, and the columns that inherit it';

CREATE FUNCTION tde_internal.tde_foreign_constant(class regclass, object oid, role oid) RETURNS regtype
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_foreign_constant(regclass, oid, oid) IS
  'type of a constant in an object''s expressions whose literal could run code of others than the role and superusers';

CREATE FUNCTION tde_internal.tde_foreign_constants(a pg_attribute, online boolean) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- What is read again for the column's new type is read as the table's owner, of tables that inherit it, too.  But the indexes of its copy
  -- are made by who runs CREATE INDEX CONCURRENTLY, which PostgreSQL allows in no function that could become somebody else.
  SELECT concat(pg_describe_object(d.classid, d.objid, 0),
                format(', with a constant of type %s, whose literal could run code of others as role "%s"', type, pg_get_userbyid(reader)),
                CASE WHEN reader <> owner THEN format(': role "%s" must convert the column', pg_get_userbyid(owner)) END)
  FROM tde_internal.tde_column_family(a) f JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relation AND d.refobjsubid = f.attnum
  CROSS JOIN tde_internal.tde_owner_of(a.attrelid) AS owner CROSS JOIN LATERAL (
    SELECT CASE WHEN online AND d.classid = 'pg_class'::regclass THEN (SELECT oid FROM pg_roles WHERE rolname = current_user) ELSE owner END) AS readers (reader)
  CROSS JOIN LATERAL tde_internal.tde_foreign_constant(d.classid, d.objid, reader) AS type
  WHERE d.classid = ANY ('{pg_class,pg_constraint,pg_attrdef,pg_statistic_ext}'::regclass[]) AND type IS NOT NULL
$$;
COMMENT ON FUNCTION tde_internal.tde_foreign_constants(pg_attribute, boolean) IS
  'objects of a column''s table that cannot be made again without running, as somebody, what belongs to others';

CREATE FUNCTION tde_internal.tde_missing_rights(a pg_attribute, online boolean) RETURNS TABLE (object text, command text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH made AS (
    -- what is made again, as whom, and of which table or view it is
    SELECT object, owner, relation FROM tde_internal.tde_dependents(a)
    UNION ALL SELECT format('table %s', a.attrelid::regclass), tde_internal.tde_owner_of(a.attrelid), a.attrelid::regclass
  ), in_schemas AS (
    SELECT m.object, m.owner, c.relnamespace AS schema, c.reltablespace AS tablespace FROM made m JOIN pg_class c
      ON c.oid = m.relation AND relkind IN ('v', 'm') AND m.object = pg_describe_object('pg_class'::regclass, c.oid, 0)
    UNION ALL SELECT format('index %s', i.index), c.relowner, c.relnamespace, c.reltablespace
    FROM tde_internal.tde_named_indexes(a) i JOIN pg_class c ON c.oid = i.index WHERE NOT online
    UNION ALL SELECT format('sequence %s', d.objid::regclass), tde_internal.tde_owner_of(a.attrelid), (SELECT relnamespace FROM pg_class WHERE oid = d.objid), 0
    FROM pg_depend d WHERE a.attidentity <> '' AND NOT online AND (d.classid, d.refclassid) = ('pg_class'::regclass, 'pg_class'::regclass)
      AND (d.refobjid, d.refobjsubid, d.deptype) = (a.attrelid, a.attnum, 'i')
    UNION ALL SELECT pg_describe_object('pg_statistic_ext'::regclass, s.oid, 0), tde_internal.tde_owner_of(a.attrelid), stxnamespace, 0
    FROM pg_statistic_ext s WHERE online AND stxrelid = a.attrelid AND a.attnum = ANY (stxkeys)
  ), keys AS (
    -- offline they are made again as the owner of the table that is altered
    SELECT pg_describe_object('pg_constraint'::regclass, f.oid, 0) AS object, CASE WHEN online THEN tde_internal.tde_owner_of(conrelid) ELSE tde_internal.tde_owner_of(a.attrelid) END AS owner,
           confrelid, (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = confrelid AND attnum = ANY (confkey)) AS columns, confkey
    FROM pg_constraint f WHERE contype = 'f' AND (conrelid = a.attrelid AND a.attnum = ANY (conkey) OR confrelid = a.attrelid AND a.attnum = ANY (confkey))
  )
  SELECT DISTINCT object, format('GRANT USAGE ON SCHEMA %I TO %s', nspname, owner::regrole) FROM made JOIN pg_namespace n
    ON n.oid = (SELECT relnamespace FROM pg_class c WHERE c.oid = relation) WHERE NOT has_schema_privilege(owner, n.oid, 'USAGE')
  UNION ALL
  SELECT object, format('GRANT CREATE ON SCHEMA %s TO %s', schema::regnamespace, owner::regrole) FROM in_schemas WHERE NOT has_schema_privilege(owner, schema, 'CREATE')
  UNION ALL
  SELECT object, format('GRANT CREATE ON TABLESPACE %I TO %s', spcname, owner::regrole) FROM in_schemas JOIN pg_tablespace t ON t.oid = tablespace
  WHERE NOT has_tablespace_privilege(owner, t.oid, 'CREATE')
  UNION ALL
  SELECT m.object, format('GRANT EXECUTE ON FUNCTION %s TO %s', tgfoid::regprocedure, owner::regrole) FROM made m JOIN pg_trigger t
    ON tgrelid = m.relation AND m.object = pg_describe_object('pg_trigger'::regclass, t.oid, 0) WHERE NOT has_function_privilege(owner, tgfoid, 'EXECUTE')
  UNION ALL
  SELECT m.object, format('GRANT TRIGGER ON %s TO %s', m.relation, owner::regrole) FROM made m JOIN pg_trigger t
    ON tgrelid = m.relation AND m.object = pg_describe_object('pg_trigger'::regclass, t.oid, 0) WHERE NOT has_table_privilege(owner, m.relation, 'TRIGGER')
  UNION ALL
  SELECT object, format('GRANT REFERENCES (%s) ON %s TO %s', columns, confrelid::regclass, owner::regrole) FROM keys
  WHERE NOT has_table_privilege(owner, confrelid, 'REFERENCES') AND EXISTS (
    SELECT FROM unnest(confkey) k WHERE NOT has_column_privilege(owner, confrelid, k, 'REFERENCES'))
  UNION ALL
  SELECT format('table %s', c.oid::regclass), format('ALTER TABLE %s OWNER TO %s', c.oid::regclass, owner::regrole)
  FROM tde_internal.tde_owner_of(a.attrelid) AS owner CROSS JOIN tde_internal.tde_column_family(a) f JOIN pg_class c ON c.oid = f.relation
  -- What is in their CHECKs runs as the owner of the table that is altered, who may be a member of all roles: a superuser's alone may differ.
  WHERE tde_internal.tde_foreign_owner('pg_class', c.oid, owner) IS NOT NULL OR NOT pg_has_role(owner, c.relowner, 'USAGE')
$$;
COMMENT ON FUNCTION tde_internal.tde_missing_rights(pg_attribute, boolean) IS
  'what owners could not make again for a column''s new type, and the command that gives them the right to';

CREATE FUNCTION tde_internal.tde_conversion_obstacles(a pg_attribute, encrypting boolean, online boolean) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- PostgreSQL refuses these one by one, some of them only after the table was rewritten
  SELECT CASE WHEN d.classid = 'pg_attrdef'::regclass THEN (
                SELECT format('generated column %I', g.attname) FROM pg_attrdef f JOIN pg_attribute g ON g.attrelid = adrelid AND g.attnum = adnum
                WHERE f.oid = d.objid)
              ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END
  FROM pg_depend d
  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
    AND (d.classid = ANY ('{pg_publication_rel,pg_proc}'::regclass[])
         OR d.classid = 'pg_attrdef'::regclass AND d.objid NOT IN (
           SELECT oid FROM pg_attrdef WHERE adrelid = a.attrelid AND adnum = a.attnum))
  UNION
  SELECT object || refused FROM tde_internal.tde_dependents(a) WHERE refused IS NOT NULL
  UNION
  SELECT * FROM tde_internal.tde_foreign_constants(a, online)
  UNION
  SELECT format('index %s, which %s', i.indexrelid::regclass, reason)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
  CROSS JOIN LATERAL (
    SELECT 'has an expression of the whole row' WHERE online AND tde_internal.tde_tree_uses(i.indexprs, 0::int2)
    UNION ALL
    SELECT 'computes with the column by function ' || d.refobjid::regprocedure
    FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = 'pg_proc'::regclass
      AND (tde_internal.tde_tree_uses(i.indexprs, a.attnum) OR tde_internal.tde_tree_uses(i.indpred, a.attnum))
    UNION ALL
    SELECT 'has a condition on the column' WHERE online AND tde_internal.tde_tree_uses(i.indpred, a.attnum)
      AND tde_internal.tde_tree_null_test(i.indpred, a.attnum) IS NULL
    UNION ALL
    SELECT CASE WHEN m.amname NOT IN ('btree', 'hash', 'brin', 'gin') THEN 'is of access method ' || m.amname
                ELSE 'names operator class ' || o.opcname END
    FROM generate_series(0, i.indnkeyatts - 1) k JOIN pg_opclass o ON o.oid = i.indclass[k]
    WHERE i.indkey[k] = a.attnum AND o.opcintype <> 'anyarray'::regtype
      AND (tde_internal.tde_named_opclass(a.atttypid, o.oid) IS NULL AND (m.amname = 'gin' OR NOT (o.opcdefault OR tde_internal.tde_is_unordered(o.oid)))
           OR m.amname NOT IN ('btree', 'hash', 'brin', 'gin')
           -- that of inet holds networks
           OR m.amname = 'brin' AND NOT EXISTS (SELECT FROM pg_amproc f WHERE f.amprocfamily = o.opcfamily AND f.amproc = 'brin_minmax_opcinfo'::regproc))
    UNION ALL
    SELECT 'is an exclusion constraint''s' WHERE online AND i.indisexclusion AND a.attnum = ANY (i.indkey)
  ) AS reasons (reason)
  WHERE i.indrelid = a.attrelid
  UNION
  SELECT pg_describe_object('pg_statistic_ext'::regclass, oid, 0) || ', which has an expression of the column' FROM pg_statistic_ext
  WHERE stxrelid = a.attrelid AND tde_internal.tde_tree_uses(stxexprs, a.attnum)
  UNION
  SELECT 'the partition key, which cannot change: make a new table with it encrypted, and copy the rows' FROM pg_partitioned_table
  WHERE partrelid = a.attrelid AND (a.attnum = ANY (partattrs) OR tde_internal.tde_tree_uses(partexprs, a.attnum))
  UNION
  SELECT CASE WHEN online THEN 'the column''s identity: convert the column offline'
              ELSE format('the column''s identity, GENERATED ALWAYS: ALTER TABLE %s ALTER %I SET GENERATED BY DEFAULT; before', a.attrelid::regclass, a.attname) END
  WHERE a.attidentity <> '' AND (online OR a.attidentity = 'a')
  UNION
  SELECT 'the column''s own expression' WHERE a.attgenerated <> '' AND online
  UNION
  SELECT format('constraint %I on table %s, which sets the column on delete', conname, conrelid::regclass) FROM pg_constraint
  WHERE online AND contype = 'f' AND conrelid = a.attrelid AND a.attnum = ANY (confdelsetcols)
  UNION
  -- PostgreSQL adds none of them NOT VALID, and under a lock it would read all rows
  SELECT format('constraint %I on table %s, a foreign key of partitioned tables', conname, conrelid::regclass) FROM pg_constraint
  WHERE online AND contype = 'f' AND (conrelid = a.attrelid AND a.attnum = ANY (conkey) OR confrelid = a.attrelid AND a.attnum = ANY (confkey))
    AND EXISTS (SELECT FROM pg_class WHERE oid = a.attrelid AND (relkind = 'p' OR relispartition))
  UNION
  -- they fire in the order of their names
  SELECT format('trigger %I on table %s, which fires after the conversion''s: ALTER TRIGGER %1$I ON %2$s RENAME TO %3$I; before', tgname, tgrelid::regclass, 'z_' || tgname)
  FROM pg_trigger WHERE online AND tgrelid = a.attrelid AND tgparentid = 0 AND NOT tgisinternal AND tgenabled <> 'D'
    AND tgtype & 3 = 3 AND tgtype & 20 <> 0 AND tgname > '~tde_convert_' AND tgfoid <> 'tde_internal.tde_convert_trigger()'::regprocedure
  UNION
  SELECT format('partition %s, which is not a heap of this server', c.oid::regclass) FROM pg_class c LEFT JOIN pg_am m ON m.oid = relam
  WHERE online AND c.oid = a.attrelid AND relispartition AND relkind <> 'p' AND amname IS DISTINCT FROM 'heap'
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion_obstacles(pg_attribute, boolean, boolean) IS 'objects that keep a column''s type from being changed';

CREATE FUNCTION tde_internal.tde_check_rights(a pg_attribute, online boolean) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  objects  text;
  commands text;
BEGIN
  SELECT string_agg(DISTINCT object, E'\n'), string_agg(DISTINCT command || ';', ' ') INTO objects, commands
  FROM tde_internal.tde_missing_rights(a, online);
  IF objects IS NOT NULL THEN
    RAISE EXCEPTION 'owners lack privileges to make again what depends on the type of column "%"', a.attname USING ERRCODE = 'insufficient_privilege',
      DETAIL = objects, HINT = commands;
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_rights(pg_attribute, boolean) IS 'error if owners could not make again what is theirs';

CREATE FUNCTION tde_internal.tde_check_conversion(a pg_attribute, encrypting boolean, online boolean, remade boolean DEFAULT true) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  obstacles text := (SELECT string_agg(o, E'\n' ORDER BY o COLLATE "C")
                     FROM (
                       -- offline PostgreSQL sees to what partitions have themselves
                       SELECT DISTINCT o FROM tde_internal.tde_column_family(a) f JOIN pg_attribute n ON (n.attrelid, n.attnum) = (f.relation, f.attnum)
                       CROSS JOIN LATERAL tde_internal.tde_conversion_obstacles(n, encrypting, online) o WHERE online OR n.attrelid = a.attrelid) AS found (o));
  verb      text := CASE WHEN encrypting THEN 'encrypted' ELSE 'decrypted' END;
  running   record;
BEGIN
  SELECT * INTO running FROM tde.conversions v WHERE v.relation = a.attrelid AND a.attname IN (v.column_name, v.helper_column);
  IF FOUND AND NOT online THEN
    RAISE EXCEPTION 'column "%" of table "%" is being converted online', a.attname, (SELECT relname FROM pg_class WHERE oid = a.attrelid)
      USING ERRCODE = 'object_in_use',
        HINT = format('CALL tde_finish_conversion(%L, %L); ends that', a.attrelid::regclass, running.column_name)
               || CASE running.phase WHEN 'copy' THEN format(', CALL tde_abort_conversion(%L, %L); undoes it.', a.attrelid::regclass, running.column_name) ELSE '.' END;
  ELSIF obstacles IS NOT NULL THEN
    RAISE EXCEPTION 'column "%" of table "%" cannot be % because other objects depend on its type',
        a.attname, (SELECT relname FROM pg_class WHERE oid = a.attrelid), verb
      USING ERRCODE = 'dependent_objects_still_exist', DETAIL = obstacles,
        HINT = 'Drop them, convert the column, and make again those that the new type allows.';
  ELSIF online AND EXISTS (SELECT FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE a.attrelid IN (inhrelid, inhparent) AND NOT relispartition) THEN
    RAISE EXCEPTION 'columns of tables with inheritance cannot be converted online'
      USING ERRCODE = 'feature_not_supported', HINT = 'Convert the column offline.';
  ELSIF online AND NOT EXISTS (SELECT FROM pg_class c LEFT JOIN pg_am m ON m.oid = relam WHERE c.oid = a.attrelid AND (relkind = 'p' OR amname = 'heap')) THEN
    RAISE EXCEPTION 'columns of tables whose access method is not heap cannot be converted online'
      USING ERRCODE = 'feature_not_supported', HINT = 'Convert the column offline.';
  ELSIF online AND tde_internal.tde_is_distributed(a.attrelid) THEN
    RAISE EXCEPTION 'columns of tables that Citus distributes cannot be converted online'
      USING ERRCODE = 'feature_not_supported', HINT = 'Convert the column offline.';
  ELSIF a.attinhcount > 0 THEN
    RAISE EXCEPTION 'column "%" is inherited', a.attname USING ERRCODE = 'invalid_table_definition',
      HINT = format('Convert the column of table %s: those that inherit it follow.',
                    (SELECT string_agg(inhparent::regclass::text, ', ') FROM pg_inherits WHERE inhrelid = a.attrelid));
  END IF;
  IF remade THEN
    PERFORM tde_internal.tde_check_dependents(a);
    PERFORM tde_internal.tde_check_rights(a, online);
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_conversion(pg_attribute, boolean, boolean, boolean) IS
  'error if a column''s type cannot be changed; remade: views and the like will be made again, and do not go before';
