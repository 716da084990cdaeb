--
-- Converting columns of tables that are there: plain to encrypted and back.
--
-- What commits is a procedure, which cannot have settings of its own, so each sets its search_path after every COMMIT.  Nor can
-- it be SECURITY DEFINER: all of this acts with the rights of who calls it, or with fewer, so everybody may execute it, parts that only
-- serve others included.  They do what the caller could do with SQL of his own; those in C check that he owns the table, unless it is one
-- of four catalogs that is wiped, and that the trigger is there that a conversion makes.
--
-- Every command that concerns the table, or what depends on it, is run as the owner of that, by tde_run_as(): modules/conversion/run_as.c.
--

CREATE FUNCTION tde_internal.tde_convert_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_convert_trigger() IS 'keep the copy of a column that is being converted';

CREATE PROCEDURE tde_internal.tde_convert_all_rows(relation regclass, source name, target name, batch_rows int, batch_delay float8)
  AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE tde_internal.tde_convert_all_rows(regclass, name, name, int, float8) IS
  'set a column from another one, or to NULL, in all rows where that was not done yet, in committed batches; fires no triggers';

CREATE FUNCTION tde_internal.tde_wipe_blocks(relation regclass, first_block int8, blocks int8, cutoff xid8) RETURNS int8
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_wipe_blocks(regclass, int8, int8, xid8) IS
  'overwrite remains of removed rows in some blocks; returns how many rows removed before cutoff are still there';

CREATE FUNCTION tde_internal.tde_validate(relation regclass, constraint_name name) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION tde_internal.tde_validate(regclass, name) IS 'validate a constraint, with the rights of the table''s owner';

CREATE FUNCTION tde_internal.tde_may_commit() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_may_commit() IS 'whether the procedure that calls it may COMMIT';

CREATE FUNCTION tde_internal.tde_must_commit() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_must_commit() IS 'error if the procedure that calls it may not COMMIT';

CREATE FUNCTION tde_internal.tde_run_as(role oid, commands text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION tde_internal.tde_run_as(oid, text) IS 'run commands with no more than the rights of a role that the caller could become';

CREATE FUNCTION tde_internal.tde_owner_of(relation oid) RETURNS oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT relowner FROM pg_class WHERE oid = relation
$$;
COMMENT ON FUNCTION tde_internal.tde_owner_of(oid) IS 'the role that owns a table or view';

CREATE FUNCTION tde_internal.tde_recompile_triggers(relation regclass) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  command text;
BEGIN
  -- Sessions that have called a function in PL/pgSQL keep its plans with the type that new.column had, and get errors from now on.
  FOR command IN SELECT DISTINCT format('ALTER FUNCTION %s %s', p.oid::regprocedure, CASE provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END)
      FROM pg_trigger JOIN pg_proc p ON p.oid = tgfoid JOIN pg_language l ON l.oid = prolang
      WHERE (tgrelid = relation OR tgrelid IN (SELECT relid FROM pg_partition_tree(relation))) AND NOT tgisinternal AND lanname = 'plpgsql' AND pg_has_role(proowner, 'USAGE') LOOP
    EXECUTE command;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_recompile_triggers(regclass) IS 'have all sessions compile the functions of a table''s triggers anew';

CREATE FUNCTION tde_internal.tde_warn_of_rest(relation regclass, column_name name) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  rest text;
BEGIN
  -- printed for the encrypted column, a constant has its type's name behind it, and is read as that type again
  SELECT string_agg(pg_describe_object(classid, objid, 0), E'\n' ORDER BY pg_describe_object(classid, objid, 0) COLLATE "C") INTO rest FROM (
    SELECT DISTINCT d.classid, d.objid FROM pg_depend d JOIN pg_attribute a ON a.attrelid = relation AND a.attname = column_name
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
  ) AS users
  WHERE EXISTS (
      SELECT FROM pg_depend u JOIN pg_depend e ON (e.classid, e.objid, e.deptype) = (u.refclassid, u.refobjid, 'e')
      WHERE (u.classid, u.objid) = (users.classid, users.objid) AND e.refclassid = 'pg_extension'::regclass
        AND e.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tde_column'))
    AND NOT EXISTS (
      SELECT FROM pg_depend u JOIN pg_attribute o ON o.attrelid = u.refobjid AND o.attnum = u.refobjsubid
      CROSS JOIN LATERAL tde_internal.tde_type_spec(o.atttypid, o.atttypmod) s
      WHERE (u.classid, u.objid, u.refclassid) = (users.classid, users.objid, 'pg_class'::regclass) AND s.base_type IS NOT NULL);
  IF rest IS NOT NULL THEN
    RAISE WARNING 'what uses column "%" of table % still has constants or functions of encrypted types', column_name, relation
      USING DETAIL = rest, HINT = 'It needs the wallet, and goes with the extension: make it again without casts to encrypted types.';
  END IF;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_warn_of_rest(regclass, name) IS
  'warn of objects that use a decrypted column, no encrypted one, and still the extension';

CREATE FUNCTION tde_internal.tde_definition(class regclass, object oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION tde_internal.tde_definition(regclass, oid) IS
  'definition of a constraint, index, view (its query), rule, trigger, policy (its expressions), statistics object or default';

--
-- Offline
--

CREATE FUNCTION tde_internal.tde_index_commands(index oid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- of a partitioned table's index those of its partitions are made, too
  SELECT array_remove(ARRAY[
           format('SET LOCAL default_tablespace = %L', coalesce((SELECT spcname FROM pg_tablespace WHERE oid = c.reltablespace), '')),
           replace(tde_internal.tde_definition('pg_class', index), ' ON ONLY ', ' ON '),
           format('COMMENT ON INDEX %s IS %L', index::regclass, obj_description(index, 'pg_class')),
           CASE WHEN i.indisclustered THEN format('ALTER TABLE %s CLUSTER ON %I', i.indrelid::regclass, c.relname) END,
           CASE WHEN i.indisreplident THEN format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', i.indrelid::regclass, c.relname) END], NULL)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indexrelid = index
$$;
COMMENT ON FUNCTION tde_internal.tde_index_commands(oid) IS 'commands that make an index again, with its comment and its part in CLUSTER and replication';

CREATE FUNCTION tde_internal.tde_named_indexes(a pg_attribute) RETURNS TABLE (index regclass, commands text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT i.indexrelid, tde_internal.tde_index_commands(i.indexrelid)
  FROM pg_index i
  WHERE i.indrelid = a.attrelid AND (
    NOT i.indisexclusion AND (tde_internal.tde_tree_uses(i.indexprs, a.attnum) OR tde_internal.tde_tree_uses(i.indpred, a.attnum))
    OR EXISTS (
      SELECT FROM generate_series(0, i.indnkeyatts - 1) k WHERE i.indkey[k] = a.attnum AND (
        tde_internal.tde_named_opclass(a.atttypid, i.indclass[k]) IS NOT NULL
        -- ALTER TABLE makes the index of a constraint without a class
        OR tde_internal.tde_is_unordered(i.indclass[k]) AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x')))))
$$;
COMMENT ON FUNCTION tde_internal.tde_named_indexes(pg_attribute) IS
  'indexes that ALTER TABLE cannot give the operator class or the expression that goes with a column''s new type, and what makes them again';

CREATE FUNCTION tde_internal.tde_size_of(relation regclass) RETURNS int8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class
  WHERE oid = relation OR relkind <> 'p' AND oid IN (SELECT relid FROM pg_partition_tree(relation))
$$;
COMMENT ON FUNCTION tde_internal.tde_size_of(regclass) IS 'bytes of a table with its indexes, and of its partitions';

CREATE FUNCTION tde_internal.tde_lock_columns(columns pg_attribute[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  a   pg_attribute;
  now pg_attribute;
BEGIN
  PERFORM tde_internal.tde_lock_all(ARRAY(
    SELECT relation::oid FROM unnest(columns) c CROSS JOIN LATERAL tde_internal.tde_dependents(c) ORDER BY depth DESC) || columns[1].attrelid);
  FOREACH a IN ARRAY columns LOOP
    now := tde_internal.tde_convertible_column(a.attrelid, a.attname);
    IF (now.attnum, now.atttypid, now.atttypmod) <> (a.attnum, a.atttypid, a.atttypmod) THEN
      RAISE EXCEPTION 'column "%" of table % was changed meanwhile', a.attname, a.attrelid::regclass
        USING ERRCODE = 'object_in_use', HINT = 'Call it again.';
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_lock_columns(pg_attribute[]) IS
  'lock the table of columns and what depends on their types; error if they are not the same any more';

CREATE FUNCTION tde_internal.tde_type_command(columns pg_attribute[], types text[]) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT format('ALTER TABLE %s ', columns[1].attrelid::regclass) || string_agg(
    format('ALTER COLUMN %I TYPE %s', columns[n].attname, tde_internal.tde_with_collation(columns[n], types[n])), ', ' ORDER BY n)
  FROM generate_subscripts(columns, 1) n
$$;
COMMENT ON FUNCTION tde_internal.tde_type_command(pg_attribute[], text[]) IS 'the command that changes the types of columns of a table';

CREATE FUNCTION tde_internal.tde_default_commands(a pg_attribute) RETURNS TABLE (removal text, creation text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- A constant is read again for the new type.  Each partition, and each table that inherits the column, has one of its own.
  SELECT format('ALTER TABLE ONLY %s ALTER COLUMN %I DROP DEFAULT', relation::regclass, a.attname),
         format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', relation::regclass, a.attname, literal)
  FROM tde_internal.tde_column_family(a) f CROSS JOIN LATERAL tde_internal.tde_constant_default(f.relation, f.attnum) AS literal
  WHERE literal IS NOT NULL
$$;
COMMENT ON FUNCTION tde_internal.tde_default_commands(pg_attribute) IS
  'commands before and after a column''s type is changed: constant defaults, also of columns that inherit it';

CREATE FUNCTION tde_internal.tde_convert_offline(relation regclass, column_names name[], specs text[], encrypting boolean) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''     -- as it was, at the end
SET tde_column.plaintext_allowed = on
AS $$
DECLARE
  started  timestamptz := clock_timestamp();
  columns  pg_attribute[];
  types    text[];
  family   pg_attribute[];
  owner    oid;
  before   int8;
  command  text;
  indexes  text;
  again    text;
  removed  text;
  restored text;
  a        pg_attribute;
  c        pg_class;
  detail   text;
  others   tde_internal.tde_dependent[] := '{}';
  bindings tde_internal.tde_binding[];
BEGIN
  SELECT array_agg(tde_internal.tde_convertible_column(relation, t.column_name) ORDER BY n), array_agg(t.type ORDER BY n) INTO columns, types
  FROM tde_internal.tde_targets(relation, column_names, specs, encrypting, false) WITH ORDINALITY AS t (column_name, type, n);
  IF columns IS NULL THEN
    RETURN false;
  END IF;
  FOREACH a IN ARRAY columns LOOP
    PERFORM tde_internal.tde_check_conversion(a, encrypting, false);
  END LOOP;
  PERFORM t::regtype FROM unnest(types) t;    -- what its modifiers do not allow is said before anything is announced
  PERFORM tde_internal.tde_lock_columns(columns);
  FOREACH a IN ARRAY columns LOOP
    PERFORM tde_internal.tde_check_conversion(a, encrypting, false);    -- again: now nobody gives any of it to somebody else
  END LOOP;
  family := ARRAY(SELECT n FROM unnest(columns) u CROSS JOIN LATERAL tde_internal.tde_column_family(u) f JOIN pg_attribute n ON (n.attrelid, n.attnum) = (f.relation, f.attnum));
  owner := tde_internal.tde_owner_of(relation);
  before := tde_internal.tde_size_of(relation);
  bindings := ARRAY(SELECT DISTINCT b FROM unnest(columns) u CROSS JOIN LATERAL tde_internal.tde_bindings(u) b);    -- before anything is printed
  command := tde_internal.tde_type_command(columns, types);
  SELECT coalesce(string_agg(format('DROP INDEX %s', index), ';'), ''), coalesce(string_agg(array_to_string(commands, ';'), ';'), '') INTO indexes, again
  FROM (SELECT DISTINCT i.* FROM unnest(columns) u CROSS JOIN LATERAL tde_internal.tde_named_indexes(u) i) AS named;
  SELECT coalesce(string_agg(removal, ';'), ''), coalesce(string_agg(creation, ';'), '') INTO removed, restored
  FROM unnest(columns) u CROSS JOIN LATERAL (SELECT * FROM tde_internal.tde_identity_commands(u) UNION ALL SELECT * FROM tde_internal.tde_default_commands(u)) AS commands;
  FOREACH a IN ARRAY columns LOOP
    others := tde_internal.tde_remove_dependents(a) || others;    -- made again in the reverse order
  END LOOP;
  SELECT * INTO c FROM pg_class WHERE oid = relation;
  RAISE NOTICE 'rewriting table "%" and its indexes: %', c.relname,
      (SELECT string_agg(format('column "%s" becomes %s', columns[n].attname, types[n]), ', ' ORDER BY n) FROM generate_subscripts(columns, 1) n)
    USING DETAIL = format('It has about %s rows and %s. Nobody else can read or write it meanwhile.',
                          (SELECT sum(greatest(reltuples, 0))::int8 FROM pg_class
                           WHERE relkind <> 'p' AND (oid = relation OR oid IN (SELECT relid FROM pg_partition_tree(relation)))),
                          pg_size_pretty(before));
  PERFORM tde_internal.tde_run_as(owner, concat_ws(';', indexes, removed));
  PERFORM tde_internal.tde_run_as(owner, concat_ws(';', command, restored));
  PERFORM tde_internal.tde_check_bindings(columns, bindings, false);        -- what is in an index is evaluated as soon as it is read
  PERFORM tde_internal.tde_run_as(owner, again);
  PERFORM tde_internal.tde_run_as(owner, p.kept) FROM unnest(family) f JOIN pg_attribute n ON (n.attrelid, n.attnum) = (f.attrelid, f.attnum)
    CROSS JOIN LATERAL (SELECT tde_internal.tde_kept_properties(f, n) UNION ALL SELECT tde_internal.tde_removed_masks(f) WHERE NOT encrypting) AS p (kept);
  PERFORM tde_internal.tde_make_dependents(columns, others);
  PERFORM tde_internal.tde_check_bindings(columns, bindings, true);
  PERFORM tde_internal.tde_recompile_triggers(relation);
  IF NOT encrypting THEN
    PERFORM tde_internal.tde_warn_of_rest(relation, u.attname) FROM unnest(columns) u;
  END IF;
  RAISE NOTICE '% now',
      (SELECT string_agg(format('column "%s" of table "%s" is %s', columns[n].attname, c.relname, types[n]), ', ' ORDER BY n)
       FROM generate_subscripts(columns, 1) n)
    USING DETAIL = format('%s s, %s before, %s after.', round(extract(epoch FROM clock_timestamp() - started), 1),
                          pg_size_pretty(before), pg_size_pretty(tde_internal.tde_size_of(relation)));
  RETURN true;
EXCEPTION WHEN invalid_object_definition THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RAISE EXCEPTION '%', SQLERRM USING ERRCODE = SQLSTATE,
    DETAIL = coalesce(nullif(detail, ''), 'A condition of an index, or an expression, decrypts the column then, and would be stored.'),
    HINT = format('Drop the indexes of table %s that compute with the column, and convert it then.', relation);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_convert_offline(regclass, name[], text[], boolean) IS
  'change the types of columns of a table, rewriting it once; returns whether there were any';

--
-- What removed rows have left
--

CREATE FUNCTION tde_internal.tde_stored_parts(relation regclass) RETURNS SETOF regclass
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  part pg_class;
BEGIN
  FOR part IN
    SELECT c.* FROM pg_class c WHERE c.oid = relation OR c.oid IN (SELECT relid FROM pg_partition_tree(relation) WHERE isleaf) ORDER BY c.oid
  LOOP
    IF part.relkind = 'f' OR part.oid = relation AND part.relkind NOT IN ('r', 'p', 't') THEN
      RAISE EXCEPTION '"%" is not a table of this server', part.relname USING ERRCODE = 'wrong_object_type',
        DETAIL = CASE WHEN part.oid <> relation THEN format('It is a partition of table %s.', relation)
                      ELSE format('It is a %s.', (pg_identify_object('pg_class'::regclass, part.oid, 0)).type) END,
        HINT = CASE part.relkind WHEN 'f' THEN 'Call it where the rows are stored.' ELSE 'Name the table itself.' END;
    ELSIF part.relkind <> 'p' THEN
      RETURN NEXT part.oid;
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_stored_parts(regclass) IS 'a table, or the partitions of one, as far as they have pages here';

CREATE PROCEDURE @extschema@.tde_wipe_free_space(relation regclass, max_wait float8 DEFAULT 60, INOUT remaining int8 DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
  parts    regclass[];
  part     regclass;
  cutoff   xid8;
  deadline timestamptz;
  pos      int8;
  blocks   int8;
  rest     int8;
BEGIN
  PERFORM tde_internal.tde_must_commit();
  PERFORM tde_internal.tde_check_not_distributed(relation, 'CALL tde_wipe_free_space(%L)');
  SET LOCAL search_path = pg_catalog, pg_temp;
  remaining := 0;
  deadline := clock_timestamp() + make_interval(secs => max_wait);
  cutoff := pg_snapshot_xmax(pg_current_snapshot());
  parts := ARRAY(SELECT r FROM tde_internal.tde_stored_parts(relation) p JOIN pg_class ON oid = p,
                             unnest(ARRAY[oid, nullif(reltoastrelid, 0)]) r WHERE r IS NOT NULL);
  FOREACH part IN ARRAY parts LOOP
    pos := 0;
    LOOP
      blocks := pg_relation_size(part) / current_setting('block_size')::int8;
      EXIT WHEN pos >= blocks;
      LOOP
        rest := tde_internal.tde_wipe_blocks(part, pos, 1024, cutoff);
        COMMIT;
        SET LOCAL search_path = pg_catalog, pg_temp;
        EXIT WHEN rest = 0 OR clock_timestamp() >= deadline;
        PERFORM pg_sleep(0.2);
      END LOOP;
      remaining := remaining + rest;
      pos := pos + 1024;
    END LOOP;
  END LOOP;
  IF remaining > 0 THEN
    RAISE WARNING '% removed row versions of table % could not be wiped yet', remaining, relation
      USING DETAIL = 'A transaction, replication slot or standby that is older than their removal keeps them.',
            HINT = 'Repeat it when that has ended.';
  END IF;
  COMMIT;  -- so that a procedure that goes on has its own search_path
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_wipe_free_space(regclass, float8, int8) IS
  'overwrite remains of removed rows in the pages of a table and of its TOAST table; waits up to max_wait seconds for old transactions';

CREATE PROCEDURE @extschema@.tde_wipe_catalogs()
LANGUAGE plpgsql AS $$
DECLARE
  remaining int8;
BEGIN
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_statistic', 5, remaining);
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_statistic_ext_data', 5, remaining);
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_attribute', 5, remaining);
  CALL @extschema@.tde_wipe_free_space('pg_catalog.pg_attrdef', 5, remaining);
END
$$;
COMMENT ON PROCEDURE @extschema@.tde_wipe_catalogs() IS 'overwrite remains of removed statistics and column defaults in the catalogs';
