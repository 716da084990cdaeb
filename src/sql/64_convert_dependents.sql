--
-- Converting columns: what depends on a column's type, so that PostgreSQL would not change it, is dropped and made again in the
-- same transaction: views with all that hangs on them; rules, policies, and triggers with a list of columns or WHEN.
--

CREATE TYPE tde_internal.tde_dependent AS (
  depth int, object text, relation regclass, refused text, removal text, creation text[], owner oid, classid oid, objid oid);
COMMENT ON TYPE tde_internal.tde_dependent IS
  'an object that depends on a column''s type, its address, the table or view that it is or belongs to, and that one''s owner, and commands, or why it cannot be made again';

CREATE FUNCTION tde_internal.tde_full_name(relation oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = relation
$$;
COMMENT ON FUNCTION tde_internal.tde_full_name(oid) IS 'name of a relation with its schema, whatever search_path is';

--
-- What makes them
--

CREATE FUNCTION tde_internal.tde_view_commands(view oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH v AS (
    SELECT c.oid, c.relacl, c.relowner, c.relowner::regrole AS owner, tde_internal.tde_full_name(c.oid) AS name, relkind = 'm' AS materialized,
           CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS kind,
           (SELECT amname FROM pg_am WHERE oid = c.relam) AS method, (SELECT spcname FROM pg_tablespace WHERE oid = c.reltablespace) AS tablespace,
           (SELECT string_agg(format('%s%I=%L', prefix, split_part(o, '=', 1), substr(o, strpos(o, '=') + 1)), ', ')
            FROM (SELECT '', c.reloptions UNION ALL SELECT 'toast.', reloptions FROM pg_class WHERE oid = c.reltoastrelid) AS r (prefix, list),
                 unnest(list) o) AS options
    FROM pg_class c WHERE c.oid = view
  ), columns AS (
    SELECT v.name, v.materialized, a.attrelid, a.attnum, quote_ident(a.attname) AS column_name, a.attacl, a.attstattarget, a.attoptions
    FROM v JOIN pg_attribute a ON attrelid = v.oid AND attnum > 0 AND NOT attisdropped
  ), given AS (
    -- by ALTER DEFAULT PRIVILEGES, to a view that the owner makes
    SELECT DISTINCT grantee FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclrole = (SELECT relowner FROM v) AND defaclobjtype = 'r'
  ), privileges AS (
    SELECT name, '' AS column_name, g.* FROM v, aclexplode(coalesce(relacl, acldefault('r', relowner))) g
    WHERE relacl IS NOT NULL OR EXISTS (SELECT FROM given)
    UNION ALL SELECT name, format(' (%s)', column_name), g.* FROM columns, aclexplode(attacl) g
  )
  SELECT array_agg(command ORDER BY place, command COLLATE "C") FROM (
    SELECT c.* FROM v CROSS JOIN LATERAL (VALUES
      (1, format('CREATE %s %s%s%s%s AS ', kind, name, ' USING ' || CASE WHEN materialized THEN quote_ident(method) END, ' WITH (' || options || ')',
                 ' TABLESPACE ' || quote_ident(tablespace))
          || rtrim(tde_internal.tde_definition('pg_class', oid), ';') || CASE WHEN materialized THEN ' WITH NO DATA' ELSE '' END),
      (5, format('COMMENT ON %s %s IS ', kind, name) || quote_literal(obj_description(oid, 'pg_class'))),
      (6, CASE WHEN relacl IS NOT NULL OR EXISTS (SELECT FROM given) THEN
            format('REVOKE ALL ON %s FROM %s%s', name, owner, (SELECT string_agg(CASE grantee WHEN 0 THEN ', PUBLIC' ELSE ', ' || grantee::regrole END, '') FROM given)) END)
    ) AS c (place, command)
    UNION ALL
    SELECT c.* FROM columns CROSS JOIN LATERAL (VALUES
      (3, format('ALTER VIEW %s ALTER COLUMN %s SET DEFAULT ', name, column_name) || coalesce(tde_internal.tde_constant_default(attrelid, attnum),
            (SELECT tde_internal.tde_definition('pg_attrdef', d.oid) FROM pg_attrdef d WHERE adrelid = attrelid AND adnum = attnum))),
      (4, CASE WHEN materialized AND attstattarget >= 0 THEN
            format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %s SET STATISTICS %s', name, column_name, attstattarget) END),
      (4, CASE WHEN materialized THEN format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %s SET (', name, column_name) || array_to_string(attoptions, ', ') || ')' END),
      (5, format('COMMENT ON COLUMN %s.%s IS ', name, column_name) || quote_literal(col_description(attrelid, attnum)))
    ) AS c (place, command)
    UNION ALL
    SELECT 7, format('GRANT %s%s ON %s TO %s%s', privilege_type, column_name, name, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
                     CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END) FROM privileges
  ) AS commands (place, command) WHERE command IS NOT NULL
$$;
COMMENT ON FUNCTION tde_internal.tde_view_commands(oid) IS 'commands that make a view again, with its owner, options, defaults, comments and privileges; without data';

CREATE FUNCTION tde_internal.tde_trigger_commands(trigger oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH RECURSIVE t AS (
    -- with those that it has on partitions, which may be enabled otherwise
    SELECT 0 AS depth, * FROM pg_trigger WHERE oid = trigger
    UNION ALL SELECT depth + 1, p.* FROM t JOIN pg_trigger p ON p.tgparentid = t.oid
  )
  SELECT tde_internal.tde_definition('pg_trigger', trigger) || array_agg(command ORDER BY depth, command COLLATE "C") FROM (
    SELECT depth, format('ALTER TABLE ONLY %s %s TRIGGER %I', tde_internal.tde_full_name(tgrelid),
                         CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, tgname)
    FROM t WHERE tgenabled <> 'O'
    UNION ALL SELECT depth, format('COMMENT ON TRIGGER %I ON %s IS %L', tgname, tde_internal.tde_full_name(tgrelid), obj_description(oid, 'pg_trigger')) FROM t
  ) AS commands (depth, command)
$$;
COMMENT ON FUNCTION tde_internal.tde_trigger_commands(oid) IS 'commands that make a trigger again, enabled as it is';

CREATE FUNCTION tde_internal.tde_rule_commands(rule oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT array_remove(ARRAY[
           tde_internal.tde_definition('pg_rewrite', rule),
           CASE WHEN ev_enabled <> 'O' THEN format('ALTER TABLE %s %s RULE %I', name,
             CASE ev_enabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, rulename) END,
           format('COMMENT ON RULE %I ON %s IS %L', rulename, name, obj_description(rule, 'pg_rewrite'))], NULL)
  FROM pg_rewrite CROSS JOIN LATERAL tde_internal.tde_full_name(ev_class) AS name WHERE oid = rule
$$;
COMMENT ON FUNCTION tde_internal.tde_rule_commands(oid) IS 'commands that make a rule again, enabled as it is';

CREATE FUNCTION tde_internal.tde_policy_commands(policy oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT ARRAY[
           format('CREATE POLICY %I ON %s AS %s FOR %s TO %s %s', polname, name, CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                  CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
                  (SELECT string_agg(CASE r WHEN 0 THEN 'PUBLIC' ELSE r::regrole::text END, ', ') FROM unnest(polroles) r),
                  tde_internal.tde_definition('pg_policy', policy)),
           format('COMMENT ON POLICY %I ON %s IS %L', polname, name, obj_description(policy, 'pg_policy'))]
  FROM pg_policy CROSS JOIN LATERAL tde_internal.tde_full_name(polrelid) AS name WHERE oid = policy
$$;
COMMENT ON FUNCTION tde_internal.tde_policy_commands(oid) IS 'commands that make a row security policy again';

--
-- What depends on a column's type
--

CREATE FUNCTION tde_internal.tde_dependents(a pg_attribute) RETURNS SETOF tde_internal.tde_dependent
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH RECURSIVE found (depth, classid, objid, objsubid) AS (
    -- A view depends by its rule.  Views that refer to each other would be found for ever.
    SELECT 0, 'pg_class'::regclass::oid, relation, attnum::int FROM tde_internal.tde_column_family(a)
    UNION
    SELECT f.depth + 1, CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass END, coalesce(r.ev_class, d.objid), 0
    FROM found f JOIN pg_class c ON f.classid = 'pg_class'::regclass AND c.oid = f.objid AND (f.depth = 0 OR relkind IN ('v', 'm')) AND f.depth < 100
    CROSS JOIN LATERAL (VALUES ('pg_class'::regclass, c.oid), ('pg_type', c.reltype), ('pg_type', (SELECT typarray FROM pg_type WHERE oid = c.reltype)))
      AS used (classid, objid)
    JOIN pg_depend d ON d.refclassid = used.classid AND d.refobjid = used.objid
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
    WHERE d.deptype <> 'i' AND r.ev_class IS DISTINCT FROM f.objid
      AND CASE f.depth WHEN 0 THEN d.refobjsubid = f.objsubid AND d.classid = ANY ('{pg_rewrite,pg_trigger,pg_policy}'::regclass[])
                       ELSE d.classid <> 'pg_attrdef'::regclass END
  ), objects AS (
    SELECT max(depth) AS depth, classid, objid FROM found WHERE depth > 0 GROUP BY classid, objid
  ), commands (classid, objid, relation, removal, creation) AS (
    SELECT classid, objid, objid, format('DROP %s %s', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'MATERIALIZED VIEW' END, tde_internal.tde_full_name(objid)),
           tde_internal.tde_view_commands(objid)
    FROM objects JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid AND relkind IN ('v', 'm')
    UNION ALL
    -- those of materialized views go with these
    SELECT classid, objid, indrelid, NULL, tde_internal.tde_index_commands(objid)
    FROM objects JOIN pg_index ON classid = 'pg_class'::regclass AND indexrelid = objid
    UNION ALL
    SELECT classid, objid, ev_class, format('DROP RULE %I ON %s', rulename, tde_internal.tde_full_name(ev_class)), tde_internal.tde_rule_commands(objid)
    FROM objects JOIN pg_rewrite r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
    UNION ALL
    SELECT classid, objid, tgrelid, format('DROP TRIGGER %I ON %s', tgname, tde_internal.tde_full_name(tgrelid)), tde_internal.tde_trigger_commands(objid)
    FROM objects JOIN pg_trigger t ON classid = 'pg_trigger'::regclass AND t.oid = objid AND tgparentid = 0
    UNION ALL
    SELECT classid, objid, polrelid, format('DROP POLICY %I ON %s', polname, tde_internal.tde_full_name(polrelid)), tde_internal.tde_policy_commands(objid)
    FROM objects JOIN pg_policy p ON classid = 'pg_policy'::regclass AND p.oid = objid
  )
  SELECT o.depth, pg_describe_object(classid, objid, 0), c.relation::regclass, CASE
           WHEN c.relation IS NULL OR o.depth = 100 THEN ''
           WHEN v.relkind = 'm' AND v.relispopulated THEN format(
             ', which has data: REFRESH MATERIALIZED VIEW %s WITH NO DATA before, and without these words afterwards', tde_internal.tde_full_name(v.oid))
           WHEN v.relpersistence = 't' AND v.relnamespace <> pg_my_temp_schema() THEN ', which is temporary in another session'
           WHEN v.relpersistence = 't' AND (v.relowner::regrole::text, v.relowner::regrole::text) <> (quote_ident(current_user), quote_ident(session_user)) THEN
             ', which is temporary, and of another role than the one that has logged in'
           WHEN EXISTS (SELECT FROM pg_depend d WHERE (d.classid, d.objid) = (o.classid, o.objid) AND deptype IN ('e', 'x')) THEN ', which belongs to an extension'
           WHEN EXISTS (SELECT FROM pg_seclabel l WHERE (l.classoid, l.objoid) = (o.classid, o.objid)) THEN ', which has a security label'
           WHEN f.type IS NOT NULL THEN format(
             ', with a constant of type %s, whose literal could run code of others as role "%s"', f.type, pg_get_userbyid(r.relowner))
         END, c.removal, c.creation, r.relowner, o.classid, o.objid
  FROM objects o LEFT JOIN commands c USING (classid, objid) LEFT JOIN pg_class r ON r.oid = c.relation
  LEFT JOIN LATERAL tde_internal.tde_foreign_constant(classid, objid, r.relowner) AS f (type) ON true LEFT JOIN pg_class v ON classid = 'pg_class'::regclass AND v.oid = objid
  -- triggers of partitions go with the table's
  WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE classid = 'pg_trigger'::regclass AND t.oid = objid AND tgparentid <> 0)
$$;
COMMENT ON FUNCTION tde_internal.tde_dependents(pg_attribute) IS
  'views, rules, triggers and policies that depend on a column''s type, and what depends on such views; those of lower depth come first';

CREATE FUNCTION tde_internal.tde_check_dependents(a pg_attribute) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  others text := (SELECT string_agg(format('%s, of role "%s"', object, pg_get_userbyid(relowner)), E'\n' ORDER BY object COLLATE "C")
                  FROM tde_internal.tde_dependents(a) JOIN pg_class c ON c.oid = relation WHERE NOT pg_has_role(relowner, 'USAGE'));
BEGIN
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'must be owner of what depends on the type of column "%"', a.attname USING ERRCODE = 'insufficient_privilege',
      DETAIL = others, HINT = 'It is dropped and made again, by a member of the roles that own it or by a superuser.';
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_dependents(pg_attribute) IS 'error if others own what has to be made again';

--
-- Dropping and making them
--

CREATE FUNCTION tde_internal.tde_lock(relation oid) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_lock(oid) IS 'lock a view, or a table with those that inherit from it, against all use';

CREATE FUNCTION tde_internal.tde_lock_all(relations oid[]) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  -- views before tables, as whoever reads them; those of others are not locked, but an error later
  SELECT tde_internal.tde_lock(oid) FROM (
    SELECT c.oid, min(n) FILTER (WHERE relkind IN ('v', 'm')) AS place FROM unnest(relations) WITH ORDINALITY AS r (relation, n) JOIN pg_class c ON c.oid = relation
    WHERE pg_has_role(relowner, 'USAGE') GROUP BY c.oid ORDER BY place NULLS LAST, c.oid) AS locks
$$;
COMMENT ON FUNCTION tde_internal.tde_lock_all(oid[]) IS 'lock tables, and before them views';

CREATE FUNCTION tde_internal.tde_remove_dependents(a pg_attribute) RETURNS tde_internal.tde_dependent[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  dependents tde_internal.tde_dependent[];
  dependent  tde_internal.tde_dependent;
BEGIN
  -- nobody changes them between reading and dropping
  PERFORM tde_internal.tde_lock_all(ARRAY(SELECT relation::oid FROM tde_internal.tde_dependents(a) ORDER BY depth DESC) || a.attrelid);
  dependents := ARRAY(SELECT d FROM tde_internal.tde_dependents(a) d WHERE refused IS NULL ORDER BY depth, object COLLATE "C");
  FOREACH dependent IN ARRAY ARRAY(SELECT o FROM unnest(dependents) o WHERE removal IS NOT NULL ORDER BY depth DESC) LOOP
    PERFORM tde_internal.tde_run_as(dependent.owner, dependent.removal);
  END LOOP;
  RETURN dependents;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_remove_dependents(pg_attribute) IS 'drop what depends on a column''s type; returns what was dropped';

CREATE FUNCTION tde_internal.tde_make_dependents(columns pg_attribute[], dependents tde_internal.tde_dependent[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  d      tde_internal.tde_dependent;
  types  text := CASE cardinality(columns) WHEN 1 THEN format('type of column "%s"', columns[1].attname)
                                           ELSE format('types of columns of table %s', columns[1].attrelid::regclass) END;
  detail text;
BEGIN
  FOREACH d IN ARRAY dependents LOOP
    PERFORM tde_internal.tde_run_as(d.owner, array_to_string(d.creation, ';'));
    -- online the old column may still be there: a view with "FROM card AS c (id, number)" finds it by its position
    IF EXISTS (
        SELECT FROM unnest(columns) a JOIN pg_attribute n ON (n.attrelid, n.attnum) = (a.attrelid, a.attnum) AND n.attname <> a.attname
        JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = a.attrelid AND refobjsubid = a.attnum
          AND classid = ANY ('{pg_rewrite,pg_trigger,pg_policy}'::regclass[])) THEN
      RAISE EXCEPTION 'It names columns of the table by their position.' USING ERRCODE = 'feature_not_supported';
    END IF;
  END LOOP;
  IF cardinality(dependents) > 0 THEN
    RAISE NOTICE 'made again for the new %', types
      USING DETAIL = (SELECT string_agg(object, E'\n' ORDER BY object COLLATE "C") FROM unnest(dependents));
  END IF;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RAISE EXCEPTION '% cannot be made again for the new %', d.object, types USING ERRCODE = SQLSTATE,
    DETAIL = concat_ws(E'\n', SQLERRM, nullif(detail, '')), HINT = CASE WHEN SQLSTATE = '42501' THEN format('It is made as its owner, role "%s": GRANT that what it lacks.', pg_get_userbyid(d.owner))
                ELSE 'Drop it, convert the column, and make it again as the new type allows.' END;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_make_dependents(pg_attribute[], tde_internal.tde_dependent[]) IS 'make again what was dropped, for the new types of columns';
