-- Encrypted columns
--

CREATE FUNCTION tde_internal.tde_type_spec(type oid, typmod int4, OUT base_type text, OUT cipher text, OUT mode text, OUT salt boolean,
                              OUT mac text, OUT key_slot int4)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_type_spec(oid, int4) IS 'properties of a type with its modifier; all NULL for a type that is not encrypted';

CREATE FUNCTION tde_internal.tde_catalog_type(type oid) RETURNS oid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_type(oid) IS 'base type of an encrypted type; any other type as it is';

CREATE FUNCTION tde_internal.tde_catalog_typmod(type oid, typmod int4) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_typmod(oid, int4) IS 'typmod of the base type of an encrypted type; any other type''s as it is';

CREATE FUNCTION tde_internal.tde_catalog_tree(tree pg_node_tree) RETURNS pg_node_tree
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_tree(pg_node_tree) IS 'expression of encrypted columns as it would be of plain ones';

CREATE FUNCTION tde_internal.tde_catalog_classes(classes oidvector) RETURNS oidvector
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_classes(oidvector) IS 'operator classes of encrypted types as those of their base types';

CREATE FUNCTION tde_internal.tde_catalog_indexdef(index oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_indexdef(oid) IS 'pg_get_indexdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_indexdef(index oid, column_number int4, pretty boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_indexdef(oid, int4, boolean) IS 'pg_get_indexdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_constraintdef(constraint_oid oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_constraintdef(oid) IS 'pg_get_constraintdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_constraintdef(constraint_oid oid, pretty boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_constraintdef(oid, boolean) IS 'pg_get_constraintdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_partkeydef(table_oid oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_partkeydef(oid) IS 'pg_get_partkeydef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_viewdef(view oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_viewdef(oid) IS 'pg_get_viewdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_viewdef(view oid, pretty boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_viewdef(oid, boolean) IS 'pg_get_viewdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_viewdef_name(view text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_viewdef_name(text) IS 'pg_get_viewdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_viewdef_name(view text, pretty boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_viewdef_name(text, boolean) IS 'pg_get_viewdef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_ruledef(rule oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_ruledef(oid) IS 'pg_get_ruledef() as it would be of plain columns';

CREATE FUNCTION tde_internal.tde_catalog_ruledef(rule oid, pretty boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_catalog_ruledef(oid, boolean) IS 'pg_get_ruledef() as it would be of plain columns';

CREATE VIEW tde.encrypted_columns AS
  SELECT n.nspname AS schema_name, c.relname AS table_name, a.attname AS column_name,
         pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
         s.base_type, s.cipher, s.mode, s.salt, s.mac, s.key_slot
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  CROSS JOIN LATERAL tde_internal.tde_type_spec(a.atttypid, a.atttypmod) s
  WHERE a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped AND s.base_type IS NOT NULL
    AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'f', 'm']::"char"[])
    AND (pg_catalog.pg_has_role(c.relowner, 'USAGE')
         OR pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));
GRANT SELECT ON tde.encrypted_columns TO PUBLIC;
COMMENT ON VIEW tde.encrypted_columns IS 'encrypted columns that the current user has a privilege on, and how they are encrypted';

--
-- Declarations
--

CREATE FUNCTION tde_internal.tde_ddl_trigger() RETURNS event_trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_internal.tde_ddl_trigger() FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_ddl_trigger() IS
  'give the default specification to encrypted columns declared without modifiers';

-- As PostgreSQL's, everybody may execute them: a trigger on a table of his own can call them, and what they decrypt he has the right to.
CREATE FUNCTION tde_internal.tde_tsvector_update_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_tsvector_update_trigger() IS 'tsvector_update_trigger() for encrypted columns';

CREATE FUNCTION tde_internal.tde_tsvector_update_trigger_column() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_tsvector_update_trigger_column() IS 'tsvector_update_trigger_column() for encrypted columns';

-- In a client's own statement alone, which puts it there: the row is no value of its type any more.
CREATE FUNCTION tde_internal.tde_plain_rows(anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_internal.tde_plain_rows(anyelement) IS 'a row of a client''s result, with fields of the base types';

CREATE FUNCTION tde_internal.tde_taken_name(catalog oid, object oid) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
REVOKE ALL ON FUNCTION tde_internal.tde_taken_name(oid, oid) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_taken_name(oid, oid) IS
  'schema of the functions or operators in place of which this one would be called for encrypted values (of a cast: empty); NULL: none';

CREATE FUNCTION tde_internal.tde_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_typanalyze(internal) IS 'statistics of an encrypted column, unless the wallet is closed';

CREATE FUNCTION tde_internal.tde_brin_add_value(internal, internal, internal, internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_brin_add_value(internal, internal, internal, internal) IS
  'BRIN support: the least and the largest value of a range of blocks, encrypted once more';

