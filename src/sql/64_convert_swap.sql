--
-- Converting a column online, second part: what hangs on the column is made for the copy, too, and the two are swapped.
--

CREATE FUNCTION tde_internal.tde_conversion_keys(relation regclass, column_name name) RETURNS TABLE (
  constraint_oid oid, referencing regclass, referenced regclass, name name, replacement name, definition text, valid boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- Foreign keys of the column and to it.  The definition's beginning is put together anew, with the copy in the column's place.
  SELECT f.oid, f.conrelid, f.confrelid, f.conname, format('tde_convert_%s_%s_%s', f.oid, a.attrelid, a.attnum)::name,
         CASE WHEN starts_with(def, before) THEN after || regexp_replace(substr(def, length(before) + 1), ' NOT VALID$', '') END,
         f.convalidated
  FROM tde.conversions v
  JOIN pg_attribute a ON a.attrelid = v.relation AND a.attname = v.column_name
  JOIN pg_constraint f ON f.contype = 'f' AND (f.conrelid = v.relation AND a.attnum = ANY (f.conkey)
                                              OR f.confrelid = v.relation AND a.attnum = ANY (f.confkey))
  CROSS JOIN LATERAL (
    SELECT format('FOREIGN KEY (%s) REFERENCES %s(%s)', string_agg(quote_ident(k.attname), ', ' ORDER BY n), f.confrelid::regclass,
                  string_agg(quote_ident(r.attname), ', ' ORDER BY n)),
           format('FOREIGN KEY (%s) REFERENCES %s(%s)',
                  string_agg(quote_ident(CASE WHEN k.attrelid = a.attrelid AND k.attnum = a.attnum THEN v.helper_column ELSE k.attname END),
                             ', ' ORDER BY n), f.confrelid::regclass,
                  string_agg(quote_ident(CASE WHEN r.attrelid = a.attrelid AND r.attnum = a.attnum THEN v.helper_column ELSE r.attname END),
                             ', ' ORDER BY n))
    FROM unnest(f.conkey, f.confkey) WITH ORDINALITY AS u (k, r, n)
    JOIN pg_attribute k ON k.attrelid = f.conrelid AND k.attnum = u.k
    JOIN pg_attribute r ON r.attrelid = f.confrelid AND r.attnum = u.r
  ) AS texts (before, after)
  CROSS JOIN LATERAL pg_get_constraintdef(f.oid) AS d (def)
  WHERE v.relation = $1 AND v.column_name = $2 AND v.phase = 'copy' AND f.conparentid = 0 AND f.conname !~ '^tde_convert(_[0-9]+)+$'
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion_keys(regclass, name) IS 'foreign keys of a column that is being copied, and what replaces them';

CREATE FUNCTION tde_internal.tde_add_keys(relation regclass, column_name name) RETURNS oid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  key record;
BEGIN
  PERFORM tde_internal.tde_lock_tables(ARRAY(SELECT referencing FROM tde_internal.tde_conversion_keys(relation, column_name)) || relation);
  FOR key IN SELECT * FROM tde_internal.tde_conversion_keys(relation, column_name) ORDER BY constraint_oid LOOP
    IF key.definition IS NULL THEN
      RAISE EXCEPTION 'foreign key "%" of table % cannot be replaced', key.name, key.referencing USING ERRCODE = 'feature_not_supported',
        HINT = 'Drop it, and make it again after tde_finish_conversion().';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = key.referencing AND conname = key.replacement) THEN
      PERFORM tde_internal.tde_run_as(tde_internal.tde_owner_of(key.referencing),
                                      format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', key.referencing, key.replacement, key.definition));
    END IF;
  END LOOP;
  RETURN ARRAY(SELECT c.oid FROM tde_internal.tde_conversion_keys(relation, column_name) k
               JOIN pg_constraint c ON c.conrelid = k.referencing AND c.conname = k.replacement WHERE k.valid);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_add_keys(regclass, name) IS 'add what replaces foreign keys; returns those that are to be validated';

CREATE PROCEDURE tde_internal.tde_validate_all(constraints oid[])
LANGUAGE plpgsql AS $$
DECLARE
  each oid;
BEGIN
  FOREACH each IN ARRAY constraints LOOP
    SET LOCAL search_path = pg_catalog, pg_temp;
    PERFORM tde_internal.tde_validate(conrelid, conname) FROM pg_constraint WHERE oid = each;
    COMMIT;
  END LOOP;
END
$$;
COMMENT ON PROCEDURE tde_internal.tde_validate_all(oid[]) IS 'validate constraints, and commit after each';

CREATE FUNCTION tde_internal.tde_swap_commands(relation regclass, column_name name) RETURNS TABLE (place int, command text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- for the table, or the partitioned table and what partitions have beside it
  WITH v AS (
    SELECT c.helper_column, c.helper_trigger, c.direction, c.opened_by, n.attrelid = r.attrelid AS is_root, n.attrelid::regclass AS relation, n AS old, h AS new, n.attnum, n.attnotnull, n.attacl,
           replace(helper_column, 'tde_convert_', 'tde_erase_') AS old_name, tde_internal.tde_constant_default(n.attrelid, n.attnum) AS literal,
           (SELECT tde_internal.tde_definition('pg_attrdef', d.oid) FROM pg_attrdef d WHERE adrelid = n.attrelid AND adnum = n.attnum) AS expr,
           n.attrelid IN (SELECT tde_internal.tde_not_nulls(r)) AS not_null,
           EXISTS (SELECT FROM pg_constraint WHERE conrelid = n.attrelid AND conname = helper_column AND contype = 'c' AND coninhcount = 0) AS has_check
    FROM tde.conversions c JOIN pg_attribute r ON r.attrelid = c.relation AND r.attname = c.column_name
    CROSS JOIN LATERAL tde_internal.tde_column_family(r) f JOIN pg_attribute n ON (n.attrelid, n.attnum) = (f.relation, f.attnum)
    JOIN pg_attribute h ON h.attrelid = f.relation AND h.attname = c.helper_column
    WHERE c.relation = $1 AND c.column_name = $2 AND c.phase = 'copy'
  ), checks AS (
    SELECT v.relation, k.oid, conname, convalidated, tde_internal.tde_definition('pg_constraint', k.oid) AS definition FROM v JOIN pg_constraint k ON conrelid = v.relation
    WHERE contype = 'c' AND v.attnum = ANY (conkey) AND coninhcount = 0
  ), stats AS (
    SELECT s.oid, format('%I.%I', nspname, stxname) AS name, stxstattarget, tde_internal.tde_definition('pg_statistic_ext', s.oid) AS definition
    FROM v JOIN pg_statistic_ext s ON stxrelid = v.relation JOIN pg_namespace n ON n.oid = stxnamespace WHERE v.attnum = ANY (stxkeys)
  ), indexes AS (
    SELECT r.index, r.replacement, r.parent, i.indrelid::regclass AS relation, i.indisclustered, i.indisreplident, k.oid AS constraint_oid, k.conname, k.contype, k.condeferrable, k.condeferred,
           c.relname, c.relkind, quote_ident(nspname) AS schema
    FROM tde_internal.tde_conversion_replacements(relation, column_name) r
    JOIN pg_index i ON i.indexrelid = r.index JOIN pg_class c ON c.oid = r.index JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_constraint k ON k.conindid = r.index AND k.contype IN ('p', 'u')
  )
  SELECT c.place, c.command FROM v CROSS JOIN LATERAL (VALUES
    (10, format('DROP TRIGGER %I ON %s', helper_trigger, relation)),
    (40, format('ALTER TABLE %s RENAME COLUMN %I TO %I', relation, column_name, old_name)),
    (41, format('ALTER TABLE %s RENAME COLUMN %I TO %I', relation, helper_column, column_name)),
    -- from now on the old column is written with NULLs only
    (90, CASE direction WHEN 'encrypt' THEN format(
           'CREATE TRIGGER %2$I BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger(''erase'', %3$L, %4$L%5$s)',
           relation, helper_trigger, old_name, column_name, ', ' || quote_literal(opened_by)) END),
    (91, CASE direction WHEN 'encrypt' THEN format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', relation, helper_trigger)
                        ELSE format('ALTER TABLE %s DROP COLUMN %I', relation, old_name) END)) AS c (place, command) WHERE c.command IS NOT NULL AND v.is_root
  UNION ALL
  SELECT c.place, c.command FROM v CROSS JOIN LATERAL (VALUES
    (42, CASE WHEN not_null THEN format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', relation, old_name) END),
    (42, format('ALTER TABLE ONLY %s ALTER COLUMN %I DROP DEFAULT', relation, old_name)),
    (50, format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT ', relation, column_name) || coalesce(literal, expr)),
    (51, CASE WHEN not_null THEN format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', relation, column_name) END),
    (52, CASE WHEN has_check THEN format('ALTER TABLE %s DROP CONSTRAINT %I', relation, helper_column) END),
    (81, format('COMMENT ON COLUMN %s.%I IS %L', relation, column_name, col_description(relation, attnum)))) AS c (place, command) WHERE c.command IS NOT NULL
  UNION ALL
  SELECT 43, format('ALTER SEQUENCE %s OWNED BY %s.%I', objid::regclass, relation, column_name) FROM v JOIN pg_depend d
    ON refclassid = 'pg_class'::regclass AND refobjid = relation AND refobjsubid = attnum AND classid = 'pg_class'::regclass AND deptype = 'a'
    JOIN pg_class s ON s.oid = objid WHERE s.relkind = 'S'
  UNION ALL
  SELECT 82, tde_internal.tde_kept_properties(v.old, v.new) FROM v
  UNION ALL
  -- of other providers: masks are for encrypted columns
  SELECT 83, format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', provider, relation, column_name, label) FROM v JOIN pg_seclabel
    ON provider <> 'tde_column' AND (objoid, classoid, objsubid) = (v.relation, 'pg_class'::regclass, v.attnum)
  UNION ALL
  SELECT 80, format('GRANT %s (%I) ON %s TO %s%s', privilege_type, column_name, relation,
                    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
  FROM v, aclexplode(attacl)
  UNION ALL
  -- those of partitions go with their table's; PostgreSQL makes none into a constraint of a partitioned table but by attaching
  SELECT c.place, c.command FROM indexes CROSS JOIN LATERAL (VALUES
    (32, CASE WHEN parent IS NOT NULL THEN NULL WHEN conname IS NULL THEN format('DROP INDEX %s', index) ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', relation, conname) END),
    (60, CASE WHEN relkind = 'i' OR conname IS NULL THEN format('ALTER INDEX %s.%I RENAME TO %I', schema, replacement, relname) END),
    (62, format('ALTER TABLE %s ADD CONSTRAINT ', relation) || quote_ident(conname) || CASE WHEN relkind = 'i' THEN format(' %s USING INDEX %I%s%s',
                CASE contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, relname, CASE WHEN condeferrable THEN ' DEFERRABLE' END,
                CASE WHEN condeferred THEN ' INITIALLY DEFERRED' END) END),
    (63, format('ALTER TABLE ONLY %s ADD CONSTRAINT ', relation) || quote_ident(conname) || CASE WHEN relkind = 'I' THEN ' ' || tde_internal.tde_definition('pg_constraint', constraint_oid) END),
    (64, CASE WHEN parent IS NOT NULL AND conname IS NOT NULL THEN format('ALTER INDEX %s ATTACH PARTITION %s.%I', parent, schema, relname) END),
    (65, format('COMMENT ON INDEX %s.%I IS %L', schema, relname, obj_description(index, 'pg_class'))),
    (66, 'COMMENT ON CONSTRAINT ' || quote_ident(conname) || format(' ON %s IS %L', relation, obj_description(constraint_oid, 'pg_constraint'))),
    (67, CASE WHEN indisclustered THEN format('ALTER TABLE %s CLUSTER ON %I', relation, relname) END),
    (68, CASE WHEN indisreplident THEN format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', relation, relname) END)) AS c (place, command)
  WHERE c.command IS NOT NULL
  UNION ALL
  SELECT c.place, c.command FROM checks CROSS JOIN LATERAL (VALUES
    (30, format('ALTER TABLE %s DROP CONSTRAINT %I', relation, conname)),
    (70, format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', relation, conname, definition, CASE WHEN convalidated THEN ' NOT VALID' END)),
    (71, format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, relation, obj_description(oid, 'pg_constraint')))) AS c (place, command)
  UNION ALL
  SELECT c.place, c.command FROM stats CROSS JOIN LATERAL (VALUES
    (31, format('DROP STATISTICS %s', name)),
    (72, definition),
    (73, format('COMMENT ON STATISTICS %s IS %L', name, obj_description(oid, 'pg_statistic_ext'))),
    (74, CASE WHEN stxstattarget >= 0 THEN format('ALTER STATISTICS %s SET STATISTICS %s', name, stxstattarget) END)) AS c (place, command)
  WHERE c.command IS NOT NULL
$$;
COMMENT ON FUNCTION tde_internal.tde_swap_commands(regclass, name) IS 'commands that put the copy of a column, with all that depends on it, in the column''s place';

CREATE FUNCTION tde_internal.tde_drop_superseded(a pg_attribute, helper_column name) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  other record;
BEGIN
  -- Made for what has been dropped meanwhile they would go on holding; made for the copy of another column they have the old column.
  FOR other IN
    SELECT 1, tde_internal.tde_owner_of(k.conrelid) AS owner, format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname) AS command
    FROM pg_attribute n JOIN pg_constraint k ON k.conrelid = n.attrelid AND n.attnum = ANY (k.conkey) OR k.confrelid = n.attrelid AND n.attnum = ANY (k.confkey)
    WHERE n.attrelid = a.attrelid AND n.attname IN (a.attname, helper_column) AND k.contype = 'f' AND k.conparentid = 0 AND k.conname ~ '^tde_convert(_[0-9]+)+$'
      AND NOT EXISTS (SELECT FROM tde_internal.tde_conversion_keys(a.attrelid, a.attname) WHERE (referencing, replacement) = (k.conrelid, k.conname))
    UNION
    SELECT 2, c.relowner, format('DROP INDEX %s', c.oid::regclass)
    FROM tde_internal.tde_column_family(a) f JOIN pg_attribute n ON n.attrelid = f.relation AND n.attname IN (a.attname, helper_column)
    JOIN pg_depend d ON (d.refclassid, d.refobjid, d.refobjsubid, d.classid) = ('pg_class'::regclass, n.attrelid, n.attnum, 'pg_class'::regclass)
    JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('i', 'I') AND NOT c.relispartition
    WHERE c.relname ~ '^tde_convert(_[0-9]+)+$'
      AND NOT EXISTS (SELECT FROM tde_internal.tde_conversion_replacements(a.attrelid, a.attname) r WHERE r.replacement = c.relname)
    ORDER BY 1
  LOOP
    PERFORM tde_internal.tde_run_as(other.owner, other.command);
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_drop_superseded(pg_attribute, name) IS
  'drop indexes and foreign keys that an online conversion has made and that will replace none of the column''s';

CREATE FUNCTION tde_internal.tde_swap(relation regclass, column_name name, partitions text[]) RETURNS oid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  a        pg_attribute := tde_internal.tde_convertible_column(relation, column_name);
  v        record;
  key      record;
  commands text;
  checks   text[];
  others   tde_internal.tde_dependent[];
  bindings tde_internal.tde_binding[];
BEGIN
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  PERFORM tde_internal.tde_lock_tables(ARRAY(SELECT d.relation FROM tde_internal.tde_dependents(a) d ORDER BY depth DESC) || ARRAY(
    SELECT unnest(ARRAY[referencing, referenced]) FROM tde_internal.tde_conversion_keys(relation, column_name)) || relation);
  a := tde_internal.tde_convertible_column(relation, column_name);
  PERFORM tde_internal.tde_drop_superseded(a, v.helper_column);
  PERFORM tde_internal.tde_check_taken_over(a, true) FROM tde.conversions c WHERE (c.relation, c.column_name) = ($1, $2) AND c.opened_by IS NOT NULL;
  PERFORM tde_internal.tde_check_conversion(a, v.direction = 'encrypt', true);
  PERFORM tde_internal.tde_check_partitions(relation, column_name, partitions);
  IF EXISTS (SELECT FROM @extschema@.tde_conversion_indexes(relation, column_name)) OR EXISTS (
      SELECT FROM tde_internal.tde_conversion_keys(relation, column_name) k
      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = k.referencing AND conname = k.replacement AND convalidated = k.valid)) THEN
    RAISE EXCEPTION 'column "%" has got new indexes or foreign keys meanwhile', column_name
      USING ERRCODE = 'object_in_use', HINT = format('CALL tde_finish_conversion(%L, %L); again.', relation, column_name);
  END IF;
  bindings := ARRAY(SELECT b FROM tde_internal.tde_bindings(a) b);    -- before anything is printed
  PERFORM tde_internal.tde_removed_masks(n) FROM tde_internal.tde_column_family(a) f JOIN pg_attribute n ON (n.attrelid, n.attnum) = (f.relation, f.attnum)
    WHERE v.direction = 'decrypt';    -- with the old column
  checks := ARRAY(SELECT format('%s %s', conrelid, conname) FROM tde_internal.tde_column_family(a) f JOIN pg_constraint
                  ON conrelid = f.relation AND contype = 'c' AND coninhcount = 0 AND convalidated AND f.attnum = ANY (conkey));
  others := tde_internal.tde_remove_dependents(a);
  -- read all at once, since each command changes what the next would read
  commands := (SELECT string_agg(command, ';' ORDER BY place, command) FROM tde_internal.tde_swap_commands(relation, column_name));
  FOR key IN SELECT tde_internal.tde_owner_of(referencing) AS owner, format(
        'ALTER TABLE %1$s DROP CONSTRAINT %2$I; ALTER TABLE %1$s RENAME CONSTRAINT %3$I TO %2$I; COMMENT ON CONSTRAINT %2$I ON %1$s IS %4$L',
        referencing, name, replacement, obj_description(constraint_oid, 'pg_constraint')) AS commands
      FROM tde_internal.tde_conversion_keys(relation, column_name) LOOP
    PERFORM tde_internal.tde_run_as(key.owner, key.commands);
  END LOOP;
  PERFORM tde_internal.tde_run_as(tde_internal.tde_owner_of(relation), commands);
  PERFORM tde_internal.tde_make_dependents(ARRAY[a], others);
  PERFORM tde_internal.tde_check_bindings(ARRAY[a], bindings, true);
  PERFORM tde_internal.tde_recompile_triggers(relation);
  IF v.direction = 'decrypt' THEN
    PERFORM tde_internal.tde_warn_of_rest(relation, column_name);
  END IF;
  RETURN ARRAY(SELECT oid FROM pg_constraint WHERE format('%s %s', conrelid, conname) = ANY (checks));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_swap(regclass, name, text[]) IS 'put the copy of a column in its place, under a lock; returns its CHECKs that are to be validated';

CREATE PROCEDURE @extschema@.tde_finish_conversion(relation regclass, column_name name, batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0,
                                       max_wait float8 DEFAULT 60)
LANGUAGE plpgsql AS $$
DECLARE
  v           record;
  missing     text;
  partitions  text[];
  constraints oid[];
  remaining   int8;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  IF v.phase IS NULL THEN
    RAISE EXCEPTION 'column "%" is not being converted', column_name USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = coalesce((
        SELECT format('If it has been renamed: ALTER TABLE %1$s RENAME COLUMN %2$I TO %3$I; CALL tde_finish_conversion(%4$L, %5$L);', $1, $2, c.column_name, $1, c.column_name) FROM tde.conversions c
        WHERE c.relation = $1 AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1 AND attname = c.column_name AND NOT attisdropped) LIMIT 1),
        format('CALL tde_encrypt_column(%L, %L, online => true); begins it.', relation, column_name));
  END IF;
  IF v.phase = 'copy' THEN
    missing := (SELECT string_agg(command, E'\n') FROM @extschema@.tde_conversion_indexes(relation, column_name) command);
    IF missing IS NOT NULL THEN
      RAISE EXCEPTION 'indexes of the copy of column "%" are missing', column_name USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = missing, HINT = format(E'Run these commands, or: SELECT tde_conversion_indexes(%L, %L) \\gexec', relation, column_name);
    END IF;
    -- in case that the copying was broken off, or a partition attached
    partitions := tde_internal.tde_partitions(relation);
    CALL tde_internal.tde_complete_copy(relation, column_name, v.helper_column, batch_rows, batch_delay);
    SET LOCAL search_path = pg_catalog, pg_temp;
    constraints := tde_internal.tde_add_keys(relation, column_name);
    COMMIT;
    CALL tde_internal.tde_validate_all(constraints);
    SET LOCAL search_path = pg_catalog, pg_temp;
    constraints := tde_internal.tde_swap(relation, column_name, partitions);
    COMMIT;
    CALL tde_internal.tde_validate_all(constraints);
    SET LOCAL search_path = pg_catalog, pg_temp;
    RAISE NOTICE 'column "%" has its new type now', column_name;
    SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  END IF;
  IF v.phase = 'erase' THEN
    RAISE NOTICE 'the old values are being erased';
    partitions := tde_internal.tde_partitions(relation);
    CALL tde_internal.tde_convert_all_rows(relation, NULL, v.helper_column, batch_rows, batch_delay);
    CALL @extschema@.tde_wipe_free_space(relation, max_wait, remaining);
    SET LOCAL search_path = pg_catalog, pg_temp;
    IF remaining > 0 THEN
      RAISE NOTICE '%', format('next: CALL tde_finish_conversion(%L, %L);', relation, column_name);
      COMMIT;  -- so that a procedure that goes on has its own search_path
      RETURN;
    END IF;
    PERFORM tde_internal.tde_lock_tables(ARRAY[relation]);
    PERFORM tde_internal.tde_check_partitions(relation, column_name, partitions);
    PERFORM tde_internal.tde_drop_helper(relation, v.helper_column, v.helper_trigger);
    COMMIT;
    CALL @extschema@.tde_wipe_catalogs();
    SET LOCAL search_path = pg_catalog, pg_temp;
  END IF;
  RAISE NOTICE '%', format('next: VACUUM (ANALYZE) %s;', relation);
  COMMIT;  -- as above
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_finish_conversion(regclass, name, int, float8, float8) IS
  'put the converted copy of a column in its place, and erase the old values';

CREATE FUNCTION tde_internal.tde_drop_helper(relation regclass, helper_column name, helper_trigger name) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM tde_internal.tde_lock_tables(ARRAY[relation]);
  PERFORM tde_internal.tde_run_as(tde_internal.tde_owner_of(relation),
                                  format('DROP TRIGGER %2$I ON %1$s; ALTER TABLE %1$s DROP COLUMN %3$I', relation, helper_trigger, helper_column));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_drop_helper(regclass, name, name) IS 'drop the second column of a conversion, and the trigger';

CREATE PROCEDURE @extschema@.tde_abort_conversion(relation regclass, column_name name, batch_rows int DEFAULT 10000, batch_delay float8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  v         record;
  key       record;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  IF v.phase IS DISTINCT FROM 'copy' THEN
    RAISE EXCEPTION '%', CASE WHEN v.phase IS NULL THEN format('column "%s" is not being converted', column_name)
                              ELSE format('column "%s" has its new type already', column_name) END
      USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = CASE WHEN v.phase IS NULL THEN 'See the view tde.conversions.'
                    ELSE format('CALL tde_finish_conversion(%L, %L); and then tde_decrypt_column().', relation, column_name) END;
  END IF;
  FOR key IN SELECT * FROM tde_internal.tde_conversion_keys(relation, column_name) LOOP
    PERFORM tde_internal.tde_run_as(tde_internal.tde_owner_of(key.referencing),
                                    format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', key.referencing, key.replacement));
  END LOOP;
  IF v.direction = 'encrypt' THEN
    PERFORM tde_internal.tde_drop_helper(relation, v.helper_column, v.helper_trigger);
    COMMIT;
    RETURN;
  END IF;
  -- the copy is in clear
  PERFORM tde_internal.tde_abandon_copy(relation, column_name);
  COMMIT;
  CALL @extschema@.tde_finish_conversion(relation, column_name, batch_rows, batch_delay);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_abort_conversion(regclass, name, int, float8) IS 'drop the copy of a column that is being converted';

CREATE FUNCTION tde_internal.tde_abandon_copy(relation regclass, column_name name) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  v     record;
  other record;
  owner oid := tde_internal.tde_owner_of(relation);
BEGIN
  PERFORM tde_internal.tde_lock_tables(ARRAY[relation]);
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  FOR other IN SELECT conrelid::regclass AS relation, conname FROM pg_constraint WHERE conname = v.helper_column AND coninhcount = 0
      AND conrelid IN (SELECT relation UNION SELECT relid FROM pg_partition_tree(relation)) LOOP
    PERFORM tde_internal.tde_run_as(owner, format('ALTER TABLE %s DROP CONSTRAINT %I', other.relation, other.conname));
  END LOOP;
  FOR other IN SELECT format('%I.%I', nspname, relname) AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = indrelid AND attnum = ANY (indkey)
      WHERE indrelid IN (SELECT relation UNION SELECT relid FROM pg_partition_tree(relation)) AND NOT c.relispartition AND attname = v.helper_column LOOP
    PERFORM tde_internal.tde_run_as(owner, format('DROP INDEX %s', other.name));
  END LOOP;
  PERFORM tde_internal.tde_run_as(owner, format(
    'DROP TRIGGER %2$I ON %1$s;
    CREATE TRIGGER %2$I BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger(''erase'', %3$L, %4$L);
    ALTER TABLE %1$s ENABLE ALWAYS TRIGGER %2$I', relation, v.helper_trigger, v.helper_column, column_name));
END
$$;
COMMENT ON FUNCTION tde_internal.tde_abandon_copy(regclass, name) IS 'have the copy of a column erased instead of kept';
