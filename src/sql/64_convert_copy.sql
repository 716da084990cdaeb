--
-- Converting a column online: a copy of it that a trigger keeps, and a swap.
--
-- The trigger is all the state there is: its arguments name the phase and the columns, so that nothing outlives the table or is
-- missing in a dump.
--

CREATE VIEW tde.conversions AS
  SELECT t.tgrelid::pg_catalog.regclass AS relation,
         (CASE WHEN g[1] OPERATOR(pg_catalog.=) 'copy' THEN g[2] ELSE g[3] END)::pg_catalog.name AS column_name,
         g[1] AS phase,
         CASE WHEN n.attnum IS NULL THEN NULL WHEN s.base_type IS NULL THEN 'decrypt' ELSE 'encrypt' END AS direction,
         pg_catalog.format_type(n.atttypid, n.atttypmod) AS new_type,
         (CASE WHEN g[1] OPERATOR(pg_catalog.=) 'copy' THEN g[3] ELSE g[2] END)::pg_catalog.name AS helper_column,
         t.tgname AS helper_trigger,
         g[4] AS opened_by
  FROM pg_catalog.pg_trigger t
  JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid AND p.prosrc OPERATOR(pg_catalog.=) 'tde_convert_trigger'
  JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang AND l.lanname OPERATOR(pg_catalog.=) 'c'
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(pg_catalog.convert_from(pg_catalog.decode(hex, 'hex'), pg_catalog.getdatabaseencoding()) ORDER BY n)
    FROM pg_catalog.unnest(pg_catalog.string_to_array(pg_catalog.regexp_replace(pg_catalog.encode(t.tgargs, 'hex'), '(..)', E'\\1 ', 'g'), '00 '))
      WITH ORDINALITY AS a (hex, n)
    WHERE hex OPERATOR(pg_catalog.<>) '') AS arguments (g)
  -- it may have been renamed
  LEFT JOIN pg_catalog.pg_attribute n ON n.attrelid OPERATOR(pg_catalog.=) t.tgrelid AND n.attname OPERATOR(pg_catalog.=) g[3]::pg_catalog.name
  LEFT JOIN LATERAL tde_internal.tde_type_spec(n.atttypid, n.atttypmod) s ON true
  -- partitions have copies of their table's
  WHERE t.tgparentid OPERATOR(pg_catalog.=) 0 AND g[1] OPERATOR(pg_catalog.=) ANY ('{copy,erase}') AND g[3] IS NOT NULL;
GRANT SELECT ON tde.conversions TO PUBLIC;
COMMENT ON VIEW tde.conversions IS
  'columns in online conversion: being copied (phase copy), or swapped while old values are erased (phase erase)';

CREATE FUNCTION tde_internal.tde_lock_tables(relations regclass[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  attempts int := CASE WHEN current_setting('lock_timeout') = '0' THEN 30 ELSE 1 END;
BEGIN
  -- Whoever comes after a waiting lock waits, too: so wait briefly, and often.
  IF attempts > 1 THEN
    SET LOCAL lock_timeout = '2s';
  END IF;
  FOR attempt IN 1 .. attempts LOOP
    BEGIN
      PERFORM tde_internal.tde_lock_all(relations::oid[]);
      RETURN;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      PERFORM pg_sleep(CASE WHEN attempt < attempts THEN 1 ELSE 0 END);
    END;
  END LOOP;
  RAISE EXCEPTION 'could not lock table % in time', (SELECT string_agg(DISTINCT r::text, ', ') FROM unnest(relations) r) USING ERRCODE = 'lock_not_available',
    DETAIL = 'Other transactions use it.', HINT = 'Call it again: it goes on where it was. lock_timeout says how long it waits.';
END
$$;
COMMENT ON FUNCTION tde_internal.tde_lock_tables(regclass[]) IS
  'lock tables and views that others use: waits for lock_timeout, or several times for two seconds';

CREATE FUNCTION tde_internal.tde_not_nulls(a pg_attribute) RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  WITH family AS (
    SELECT f.relation, n.attnotnull FROM tde_internal.tde_column_family(a) f JOIN pg_attribute n ON (n.attrelid, n.attnum) = (f.relation, f.attnum)
  )
  SELECT relation FROM family f WHERE attnotnull AND NOT EXISTS (SELECT FROM pg_inherits JOIN family p ON p.relation = inhparent AND p.attnotnull WHERE inhrelid = f.relation)
$$;
COMMENT ON FUNCTION tde_internal.tde_not_nulls(pg_attribute) IS 'the table whose column is NOT NULL, or partitions where it is and in what they are partitions of it is not';

CREATE FUNCTION tde_internal.tde_partitions(relation regclass) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- what is detached and attached again gets another row
  SELECT ARRAY(SELECT concat(inhrelid::regclass, ' ', i.xmin) FROM pg_partition_tree(relation) JOIN pg_inherits i ON inhrelid = relid WHERE isleaf ORDER BY 1)
$$;
COMMENT ON FUNCTION tde_internal.tde_partitions(regclass) IS 'the partitions that have the rows of a table, as they were attached';

CREATE FUNCTION tde_internal.tde_check_partitions(relation regclass, column_name name, seen text[]) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  others text := (SELECT string_agg(split_part(p, ' ', 1), ', ') FROM unnest(tde_internal.tde_partitions(relation)) p WHERE p <> ALL (seen));
  v      record;
BEGIN
  -- the batches have looked at them, too, but not under this lock
  SELECT c.phase, t.tgname, t.tgrelid::regclass AS relation INTO v FROM tde.conversions c JOIN pg_trigger t ON t.tgname = c.helper_trigger
  WHERE (c.relation, c.column_name) = ($1, $2) AND tgenabled <> 'A' AND (tgrelid = c.relation OR tgrelid IN (SELECT relid FROM pg_partition_tree(c.relation)));
  IF FOUND THEN
    RAISE EXCEPTION 'conversion of column "%" of table "%" cannot go on', column_name, (SELECT relname FROM pg_class WHERE oid = relation)
      USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = format('Trigger "%s" of table %s was disabled meanwhile.  Rows may have been written without it.', v.tgname, v.relation),
        HINT = CASE v.phase WHEN 'copy' THEN format('CALL tde_abort_conversion(%L, %L); and begin again.', relation, column_name)
               ELSE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I; CALL tde_finish_conversion(%L, %L);', relation, v.tgname, relation, column_name) END;
  END IF;
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'table % has got new partitions meanwhile', relation USING ERRCODE = 'object_in_use',
      DETAIL = others, HINT = format('CALL tde_finish_conversion(%L, %L); again.', relation, column_name);
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_check_partitions(regclass, name, text[]) IS
  'error if a table has partitions whose rows nobody has looked at, or rows that were written without the trigger';

CREATE FUNCTION tde_internal.tde_start_conversion(a pg_attribute, type text, encrypting boolean, opened_by regprocedure) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET tde_column.plaintext_allowed = on
AS $$
DECLARE
  helper text := 'tde_convert_' || a.attnum;
  owner  oid  := tde_internal.tde_owner_of(a.attrelid);
  v      record;
BEGIN
  PERFORM tde_internal.tde_check_conversion(a, encrypting, true, opened_by IS NULL);
  IF opened_by IS NOT NULL THEN
    PERFORM tde_internal.tde_check_taken_over(a, false);
  END IF;
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = a.attrelid AND tgname = '~' || helper) THEN
    SELECT c.phase, c.column_name, c.direction INTO v FROM tde.conversions c WHERE (c.relation, c.helper_trigger) = (a.attrelid::regclass, '~' || helper);
    RAISE EXCEPTION 'a conversion of column "%" has been broken off', a.attname USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = CASE WHEN v.phase = 'erase' THEN format('CALL tde_finish_conversion(%L, %L);', a.attrelid::regclass, v.column_name)
                  WHEN v.column_name <> a.attname AND v.direction IS NOT NULL
                  THEN format('ALTER TABLE %1$s RENAME COLUMN %2$I TO %3$I; CALL tde_abort_conversion(%4$L, %5$L);', a.attrelid::regclass, a.attname, v.column_name, a.attrelid::regclass, v.column_name)
                  -- the copy has been dropped: a decrypted one is still in the rows
                  ELSE format('End it: DROP TRIGGER %I ON %s;', '~' || helper, a.attrelid::regclass) || CASE WHEN encrypting THEN '' ELSE format(' VACUUM FULL %s;', a.attrelid::regclass) END END;
  END IF;
  PERFORM tde_internal.tde_lock_tables(ARRAY[a.attrelid]);
  PERFORM tde_internal.tde_run_as(owner, format('ALTER TABLE %s ADD COLUMN %I %s', a.attrelid::regclass, helper, tde_internal.tde_with_collation(a, type)));
  -- a valid one spares SET NOT NULL its scan
  PERFORM tde_internal.tde_run_as(owner, format('ALTER TABLE %1$s ADD CONSTRAINT %2$I CHECK (%2$I IS NOT NULL) NOT VALID', relation::regclass, helper))
    FROM tde_internal.tde_not_nulls(a) AS relation;
  -- the last one to see the row
  PERFORM tde_internal.tde_run_as(owner, format(
    'CREATE TRIGGER %2$I BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger(''copy'', %3$L, %4$L%5$s);
    ALTER TABLE %1$s ENABLE ALWAYS TRIGGER %2$I', a.attrelid::regclass, '~' || helper, a.attname, helper, ', ' || quote_literal(opened_by)));
  RAISE NOTICE 'column "%" is being copied to column "%" of type %', a.attname, helper, type
    USING DETAIL = 'SELECT *, and COPY and INSERT without a list of columns, meet one more column until tde_finish_conversion() has ended.';
END
$$;
COMMENT ON FUNCTION tde_internal.tde_start_conversion(pg_attribute, text, boolean, regprocedure) IS 'add the copy of a column, and the trigger that keeps it';

CREATE PROCEDURE tde_internal.tde_complete_copy(relation regclass, column_name name, helper_column name, batch_rows int, batch_delay float8)
LANGUAGE plpgsql AS $$
DECLARE
  checks oid[];
BEGIN
  CALL tde_internal.tde_convert_all_rows(relation, column_name, helper_column, batch_rows, batch_delay);
  SET LOCAL search_path = pg_catalog, pg_temp;
  checks := ARRAY(SELECT k.oid FROM pg_constraint k JOIN tde_internal.tde_column_family(tde_internal.tde_convertible_column(relation, column_name)) f ON k.conrelid = f.relation
                  WHERE conname = helper_column AND contype = 'c' AND coninhcount = 0);
  CALL tde_internal.tde_validate_all(checks);
END
$$;
COMMENT ON PROCEDURE tde_internal.tde_complete_copy(regclass, name, name, int, float8) IS 'copy what was not copied yet';

CREATE FUNCTION tde_internal.tde_conversion_replacements(relation regclass, column_name name)
  RETURNS TABLE (index regclass, replacement name, parent regclass, place int, command text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- Of a partitioned table: an index without any, those of its partitions, which are attached to it.  That of a constraint comes with the swap.
  -- What replaces one for another column's copy is none of these: see tde_drop_superseded().
  SELECT i.indexrelid, coalesce((SELECT relname FROM pg_class WHERE oid = n.indexrelid), new_name), up.inhparent::regclass, commands.place, commands.command
  FROM tde.conversions v
  JOIN pg_attribute r ON r.attrelid = v.relation AND r.attname = v.column_name
  CROSS JOIN LATERAL tde_internal.tde_column_family(r) f
  JOIN pg_attribute a ON a.attrelid = f.relation AND a.attnum = f.attnum
  JOIN pg_attribute h ON h.attrelid = f.relation AND h.attname = v.helper_column
  JOIN pg_index i ON i.indrelid = f.relation AND (a.attnum = ANY (i.indkey) OR tde_internal.tde_tree_uses(i.indpred, a.attnum)
                                                              OR tde_internal.tde_tree_uses(i.indexprs, a.attnum))
  JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
  JOIN pg_namespace l ON l.oid = c.relnamespace
  LEFT JOIN pg_inherits up ON up.inhrelid = i.indexrelid
  LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
  CROSS JOIN LATERAL (SELECT format('tde_convert_%s_%s', i.indexrelid, r.attnum)::name, (
    SELECT format('%I.%I', nspname, format('tde_convert_%s_%s', up.inhparent, r.attnum)) FROM pg_class p JOIN pg_namespace s ON s.oid = p.relnamespace WHERE p.oid = up.inhparent)) AS names (new_name, new_parent)
  LEFT JOIN pg_index n ON n.indexrelid = coalesce(
    (SELECT oid FROM pg_class WHERE relnamespace = c.relnamespace AND relname = new_name),
    -- PostgreSQL has made it, in a partition that is newer than its table's
    (SELECT indexrelid FROM pg_inherits p JOIN pg_index o ON o.indexrelid = p.inhrelid WHERE p.inhparent = to_regclass(new_parent) AND o.indrelid = f.relation))
  CROSS JOIN LATERAL (
    SELECT string_agg(CASE WHEN i.indkey[k] = a.attnum THEN quote_ident(v.helper_column)
                           ELSE coalesce('(' || tde_internal.tde_index_expression(i.indexrelid, k, a.attnum, h.attnum) || ')', pg_get_indexdef(i.indexrelid, k + 1, false)) END
      || coalesce((SELECT format(' COLLATE %I.%I', nspname, collname) FROM pg_collation o JOIN pg_namespace s ON s.oid = collnamespace
                   WHERE o.oid = i.indcollation[k] AND (i.indkey[k] = 0 OR i.indcollation[k] <> (
                     SELECT attcollation FROM pg_attribute x WHERE x.attrelid = i.indrelid AND x.attnum = i.indkey[k]))), '')
      -- what an expression gives may become encrypted with the column
      || coalesce((SELECT ' ' || coalesce(CASE WHEN i.indkey[k] = a.attnum THEN tde_internal.tde_named_opclass(a.atttypid, o.oid)
                                               WHEN i.indkey[k] = 0 AND x.attoptions IS NULL THEN tde_internal.tde_named_opclass(x.atttypid, o.oid) END,
                                          CASE WHEN i.indkey[k] <> a.attnum AND (NOT o.opcdefault OR x.attoptions IS NOT NULL)
                                               THEN format('%I.%I%s', nspname, opcname, '(' || array_to_string(x.attoptions, ', ') || ')') END)
                   FROM pg_opclass o JOIN pg_namespace s ON s.oid = opcnamespace JOIN pg_attribute x ON x.attrelid = i.indexrelid AND x.attnum = k + 1
                   WHERE o.oid = i.indclass[k]), '')
      || CASE i.indoption[k] WHEN 1 THEN ' DESC NULLS LAST' WHEN 2 THEN ' NULLS FIRST' WHEN 3 THEN ' DESC' ELSE '' END, ', ' ORDER BY k)
    FROM generate_series(0, i.indnkeyatts - 1) k
  ) AS keys (list)
  CROSS JOIN LATERAL (
    SELECT string_agg(CASE WHEN i.indkey[k] = a.attnum THEN quote_ident(v.helper_column) ELSE pg_get_indexdef(i.indexrelid, k + 1, false) END,
                      ', ' ORDER BY k)
    FROM generate_series(i.indnkeyatts, i.indnatts - 1) k
  ) AS included (list)
  LEFT JOIN LATERAL (
    SELECT CASE c.relkind WHEN 'I' THEN 1 ELSE 2 END,
           CASE WHEN n.indisvalid OR c.relkind = 'I' AND (n.indexrelid IS NOT NULL OR k.oid IS NOT NULL) THEN NULL
                WHEN NOT n.indisvalid THEN format('REINDEX INDEX CONCURRENTLY %s;', n.indexrelid::regclass)
                ELSE format('CREATE %sINDEX %s%I ON %s%s USING %I (%s)%s%s%s%s%s;', CASE WHEN i.indisunique THEN 'UNIQUE ' END, CASE WHEN c.relkind = 'i' THEN 'CONCURRENTLY ' END,
                       new_name, CASE WHEN c.relkind = 'I' THEN 'ONLY ' END, i.indrelid::regclass, m.amname, keys.list, ' INCLUDE (' || included.list || ')',
                CASE WHEN i.indnullsnotdistinct THEN ' NULLS NOT DISTINCT' END,
                ' WITH (' || array_to_string(c.reloptions, ', ') || ')',
                ' TABLESPACE ' || (SELECT quote_ident(spcname) FROM pg_tablespace WHERE oid = c.reltablespace),
                ' WHERE ' || coalesce(quote_ident(v.helper_column) || ' ' || tde_internal.tde_tree_null_test(i.indpred, a.attnum),
                                      pg_get_expr(i.indpred, i.indrelid))) END
    UNION ALL
    -- leaves first: the last one of an index that is attached already makes PostgreSQL lock the tables above, against all others
    SELECT 1000 - (SELECT count(*) FROM pg_partition_ancestors(i.indexrelid))::int, format('ALTER INDEX %s ATTACH PARTITION %I.%I;', new_parent, l.nspname, new_name)
    WHERE up.inhparent IS NOT NULL AND k.oid IS NULL AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = n.indexrelid)
  ) AS commands (place, command) ON commands.command IS NOT NULL
  WHERE v.relation = $1 AND v.column_name = $2 AND v.phase = 'copy'
    AND (SELECT relname FROM pg_class WHERE oid = coalesce(pg_partition_root(i.indexrelid), i.indexrelid)) !~ '^tde_convert(_[0-9]+)+$'
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion_replacements(regclass, name) IS 'indexes on a column that is being copied, and which ones replace them';

CREATE FUNCTION @extschema@.tde_conversion_indexes(relation regclass, column_name name) RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  -- the user reads their texts
  others text := (SELECT string_agg(o, E'\n' ORDER BY o COLLATE "C")
                  FROM tde_internal.tde_foreign_constants(tde_internal.tde_convertible_column(relation, column_name), true) o);
BEGIN
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'column "%" of table % cannot be converted by role "%"', column_name, relation, current_user
      USING ERRCODE = 'dependent_objects_still_exist', DETAIL = others, HINT = 'Drop them, convert the column, and make them again.';
  END IF;
  RETURN QUERY SELECT command FROM tde_internal.tde_conversion_replacements(relation, column_name) WHERE command IS NOT NULL ORDER BY place, index::oid;
END
$$;
COMMENT ON FUNCTION @extschema@.tde_conversion_indexes(regclass, name) IS
  E'commands that make the indexes needed before tde_finish_conversion(); psql runs them by \\gexec';

CREATE FUNCTION tde_internal.tde_conversion(relation regclass, column_name name, OUT phase text, OUT helper_column name, OUT helper_trigger name,
                               OUT direction text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM tde_internal.tde_convertible_column(relation, column_name);
  SELECT v.phase, v.helper_column, v.helper_trigger, v.direction INTO phase, helper_column, helper_trigger, direction
  FROM tde.conversions v WHERE v.relation = $1 AND v.column_name = $2 AND v.direction IS NOT NULL;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_conversion(regclass, name) IS 'the conversion of a column that is under way; NULLs if none is';

CREATE PROCEDURE tde_internal.tde_copy_column(relation regclass, column_name name, type text, encrypting boolean, opened_by regprocedure,
                                               batch_rows int, batch_delay float8)
LANGUAGE plpgsql AS $$
DECLARE
  v       record;
  command text;
  present text;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  SET LOCAL search_path = pg_catalog, pg_temp;
  SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  IF v.phase IS NULL THEN
    PERFORM tde_internal.tde_start_conversion(tde_internal.tde_convertible_column(relation, column_name), type, encrypting, opened_by);
    COMMIT;
    SET LOCAL search_path = pg_catalog, pg_temp;
    SELECT * INTO v FROM tde_internal.tde_conversion(relation, column_name);
  END IF;
  present := (SELECT c.opened_by FROM tde.conversions c WHERE c.relation = $1 AND c.column_name = $2);
  IF present IS DISTINCT FROM opened_by::text THEN
    RAISE EXCEPTION 'column "%" is being %', column_name, CASE WHEN present IS NULL THEN 'encrypted as it is' ELSE 'taken over by function ' || present END
      USING ERRCODE = 'object_in_use', HINT = format('CALL tde_finish_conversion(%1$L, %2$L); ends that, CALL tde_abort_conversion(%1$L, %2$L); undoes it.', relation, column_name);
  END IF;
  CALL tde_internal.tde_complete_copy(relation, column_name, v.helper_column, batch_rows, batch_delay);
  SET LOCAL search_path = pg_catalog, pg_temp;
  FOR command IN SELECT * FROM @extschema@.tde_conversion_indexes(relation, column_name) LOOP
    RAISE NOTICE 'next: %', command;
  END LOOP;
  RAISE NOTICE '%', format('next: CALL tde_finish_conversion(%L, %L);', relation, column_name);
  COMMIT;  -- so that a procedure that goes on has its own search_path
END
$$;
COMMENT ON PROCEDURE tde_internal.tde_copy_column(regclass, name, text, boolean, regprocedure, int, float8) IS 'make or complete the copy of a column';
