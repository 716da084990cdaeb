--
-- Converting columns: what a column becomes, its default, and names of operator classes.
--

CREATE FUNCTION tde_internal.tde_convertible_column(relation regclass, column_name name) RETURNS pg_attribute
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  c pg_class;
  a pg_attribute;
  v record;
BEGIN
  SELECT * INTO STRICT c FROM pg_class WHERE oid = relation;
  IF c.relkind NOT IN ('r', 'p') THEN
    RAISE EXCEPTION '"%" is not a table', c.relname USING ERRCODE = 'wrong_object_type',
      HINT = 'Name the table that stores the column.';
  END IF;
  IF NOT pg_has_role(c.relowner, 'USAGE') THEN
    RAISE EXCEPTION 'must be owner of table %', c.relname USING ERRCODE = 'insufficient_privilege',
      HINT = format('Have it called by role %I, which owns the table.', pg_get_userbyid(c.relowner));
  END IF;
  SELECT * INTO a FROM pg_attribute WHERE attrelid = relation AND attname = column_name AND attnum > 0 AND NOT attisdropped;
  IF NOT FOUND THEN
    SELECT format('ALTER TABLE %s RENAME COLUMN ... TO %I; and go on with it.', $1, $2) AS hint INTO v FROM tde.conversions u WHERE (u.relation, u.column_name) = ($1, $2);
    IF FOUND THEN
      RAISE EXCEPTION 'column "%" of relation "%" does not exist', column_name, c.relname USING ERRCODE = 'undefined_column',
        DETAIL = 'It has been renamed or dropped while it was being converted.', HINT = v.hint;
    END IF;
    RAISE EXCEPTION 'column "%" of relation "%" does not exist', column_name, c.relname USING ERRCODE = 'undefined_column';
  END IF;
  RETURN a;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_convertible_column(regclass, name) IS 'a column of a table that the user owns';

CREATE FUNCTION tde_internal.tde_encrypted_type_of(a pg_attribute, spec text) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  plain     text := format_type(a.atttypid, a.atttypmod);
  is_array  boolean := (SELECT typcategory = 'A' AND typelem <> 0 FROM pg_type WHERE oid = a.atttypid);
  element   regtype := CASE WHEN is_array THEN (SELECT typelem FROM pg_type WHERE oid = a.atttypid) ELSE a.atttypid END;
  encrypted regtype := (SELECT type FROM tde.types WHERE base = element ORDER BY shipped DESC, type::oid LIMIT 1);
  modifiers text;
  base_modifiers text;    -- numbers, or words as in geometry(Point,4326)
BEGIN
  IF EXISTS (SELECT FROM tde.types WHERE type = element) THEN
    RAISE EXCEPTION 'column "%" is encrypted already, as %', a.attname, plain USING ERRCODE = 'wrong_object_type',
      HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE ... changes how.', a.attrelid::regclass, a.attname);
  ELSIF (SELECT typtype FROM pg_type WHERE oid = element) = 'd' THEN
    RAISE EXCEPTION 'column "%" is of domain %', a.attname, element USING ERRCODE = 'wrong_object_type',
      HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE ... to the domain''s base type first, or to a domain over an encrypted type.',
                    a.attrelid::regclass, a.attname);
  ELSIF encrypted IS NULL THEN
    RAISE EXCEPTION 'type % has no encrypted type', element USING ERRCODE = 'undefined_object',
      HINT = CASE WHEN (SELECT typtype FROM pg_type WHERE oid = element) IN ('b', 'e') THEN format('SELECT tde_create_type(%L); makes one.', element)
                  ELSE coalesce((SELECT format('CREATE TYPE ... AS RANGE (SUBTYPE = %1$s); ALTER TABLE %2$s ALTER COLUMN %3$I TYPE ... USING %3$I::text::...;', type, a.attrelid::regclass, a.attname)
                                 FROM pg_range JOIN tde.types ON base = rngsubtype WHERE rngtypid = element ORDER BY shipped DESC LIMIT 1),
                                'Base types and enums have encrypted types: store what is to be encrypted in columns of such types.') END;
  ELSIF plain ~ '^interval [a-z]' THEN
    RAISE EXCEPTION 'an encrypted interval cannot be restricted to fields, as % is', plain USING ERRCODE = 'feature_not_supported',
      HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE interval; first.', a.attrelid::regclass, a.attname);
  END IF;
  -- '3des168' as well as 3des168: quoted strings are modifiers, too
  SELECT string_agg(quote_literal(coalesce(replace(item[1], '''''', ''''), trim(item[2]))), ',') INTO modifiers
  FROM regexp_matches(coalesce(spec, current_setting('tde_column.default_spec')),
                      '''((?:[^'']|'''')*)''|([^,'']*[^,''[:space:]][^,'']*)', 'g') AS items (item);
  SELECT string_agg(CASE WHEN word ~ '^-?[0-9]+$' THEN word ELSE quote_literal(word) END, ',') INTO base_modifiers
  FROM regexp_split_to_table(substring(plain FROM '[(]([^()]+)[)](?: with(?:out)? time zone)?(?:[[][]])?$'), ' *, *') word;
  RETURN format('%s(%s)%s', encrypted,
                concat_ws(',', base_modifiers, modifiers),
                CASE WHEN is_array THEN '[]' END);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_encrypted_type_of(pg_attribute, text) IS
  'the encrypted type for a column of a base type: with the base type''s modifiers, and others as told or by default';

CREATE FUNCTION tde_internal.tde_plain_type_of(a pg_attribute) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  base text := (SELECT base_type FROM tde_internal.tde_type_spec(a.atttypid, a.atttypmod));
BEGIN
  IF base IS NULL THEN
    RAISE EXCEPTION 'column "%" is not encrypted', a.attname USING ERRCODE = 'wrong_object_type',
      HINT = 'The view tde.encrypted_columns lists those that are.';
  END IF;
  RETURN base || CASE WHEN (SELECT typcategory FROM pg_type WHERE oid = a.atttypid) = 'A' THEN '[]' ELSE '' END;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_plain_type_of(pg_attribute) IS 'the base type that a column has when it is decrypted';

CREATE FUNCTION tde_internal.tde_with_collation(a pg_attribute, type text) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT type || coalesce((SELECT format(' COLLATE %I.%I', nspname, collname)
                           FROM pg_collation c JOIN pg_namespace n ON n.oid = collnamespace WHERE c.oid = a.attcollation
                           AND (SELECT typcollation FROM pg_type t WHERE t.oid = $2::regtype) <> 0), '')
$$;
COMMENT ON FUNCTION tde_internal.tde_with_collation(pg_attribute, text) IS 'a type, with the collation that the column has, if it can have one';

CREATE FUNCTION tde_internal.tde_kept_properties(a pg_attribute, changed pg_attribute) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- A new type comes with its own storage and compression.  What is its default, and what it cannot have, is nobody's choice.
  SELECT format('ALTER TABLE ONLY %s ALTER COLUMN %I %s', a.attrelid::regclass, a.attname, property)
  FROM pg_type o JOIN pg_type n ON n.oid = changed.atttypid CROSS JOIN LATERAL (VALUES
    (CASE WHEN a.attstattarget >= 0 AND a.attstattarget IS DISTINCT FROM changed.attstattarget THEN format('SET STATISTICS %s', a.attstattarget) END),
    ('SET (' || (SELECT string_agg(option, ', ') FROM unnest(a.attoptions) option WHERE option ~ '^n_distinct' AND option <> ALL (coalesce(changed.attoptions, '{}'))) || ')'),
    (CASE WHEN a.attstorage NOT IN (o.typstorage, changed.attstorage) AND n.typstorage <> 'p' THEN
       'SET STORAGE ' || CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'm' THEN 'MAIN' WHEN 'e' THEN 'EXTERNAL' ELSE 'EXTENDED' END END),
    (CASE WHEN a.attcompression NOT IN ('', changed.attcompression) AND n.typstorage <> 'p' THEN
       'SET COMPRESSION ' || CASE a.attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END END)) AS properties (property)
  WHERE o.oid = a.atttypid AND property IS NOT NULL
$$;
COMMENT ON FUNCTION tde_internal.tde_kept_properties(pg_attribute, pg_attribute) IS
  'commands that give a column, whose type has changed or will have, the statistics target, options, storage and compression that it had before';

CREATE FUNCTION tde_internal.tde_removed_masks(a pg_attribute) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  masks text := (SELECT label FROM pg_seclabel WHERE provider = 'tde_column' AND (objoid, classoid, objsubid) = (a.attrelid, 'pg_class'::regclass, a.attnum));
BEGIN
  IF masks IS NULL THEN
    RETURN NULL;
  END IF;
  RAISE NOTICE 'masks of column "%" of table % go with its encryption', a.attname, a.attrelid::regclass USING DETAIL = masks,
    HINT = format('When it is encrypted again: SECURITY LABEL FOR tde_column ON COLUMN %s.%I IS %L;', a.attrelid::regclass, a.attname, masks);
  RETURN format('SECURITY LABEL FOR tde_column ON COLUMN %s.%I IS NULL', a.attrelid::regclass, a.attname);
END
$$;
COMMENT ON FUNCTION tde_internal.tde_removed_masks(pg_attribute) IS 'tell of a column''s masks; the command that removes them, NULL if there are none';

CREATE FUNCTION tde_internal.tde_constant_default(relation oid, column_number int2) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION tde_internal.tde_constant_default(oid, int2) IS 'a column''s default as a literal; NULL if it is none or no constant';

CREATE FUNCTION tde_internal.tde_named_opclass(type oid, opclass oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_named_opclass(oid, oid) IS
  'operator class to be named for a column of this type when it becomes encrypted, or plain; NULL: the default, or there is none';

CREATE FUNCTION tde_internal.tde_is_unordered(opclass oid) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  -- only superusers make functions in C, and operator classes
  SELECT EXISTS (SELECT FROM pg_opclass c JOIN pg_amproc f ON (f.amprocfamily, f.amproclefttype, f.amprocrighttype, f.amprocnum) = (c.opcfamily, c.opcintype, c.opcintype, 1)
                 JOIN pg_proc p ON p.oid = f.amproc JOIN pg_language l ON l.oid = p.prolang
                 WHERE c.oid = opclass AND p.prosrc = 'tde_unordered_cmp' AND l.lanname = 'c')
$$;
COMMENT ON FUNCTION tde_internal.tde_is_unordered(oid) IS
  'tell whether an operator class is the one by which indexes tell no order: the column''s declaration chooses it, and CREATE INDEX names none';
