--
-- Roles: who may decrypt
--

CREATE FUNCTION @extschema@.tde_may_decrypt() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.tde_may_decrypt() IS 'tell whether the current user may see encrypted values in clear';

--
-- Masks: how much others see of a column.  They are in its security label: SECURITY LABEL FOR tde_column ON COLUMN
--

CREATE FUNCTION @extschema@.tde_set_mask("table" regclass, "column" name, mask text, role regrole DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_set_mask(regclass, name, text, regrole) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_set_mask(regclass, name, text, regrole) IS
  'set what a role sees of a column that may not decrypt; without a role, what everybody else does';

CREATE FUNCTION @extschema@.tde_drop_mask("table" regclass, "column" name, role regrole DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_drop_mask(regclass, name, regrole) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_drop_mask(regclass, name, regrole) IS 'take a column''s mask for a role, or for everybody else, away';

-- The planner puts them into queries.  Whoever calls them gets back what was given.
CREATE FUNCTION tde_internal.tde_of_column(anyelement, regclass, int2) RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_of_column(anyelement, regclass, int2) IS 'a value of a column with masks';

CREATE FUNCTION tde_internal.tde_for_column(anyelement, regclass, int2) RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_for_column(anyelement, regclass, int2) IS
  'a value for a column with masks; an error if it is a column''s, and the user may not decrypt it';

--
-- Probes: comparisons by roles that may not decrypt
--

CREATE FUNCTION tde_internal.tde_probe_counts(OUT role oid, OUT hour timestamptz, OUT probes int8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_probe_counts() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tde_internal.tde_probe_counts() TO pg_monitor;
COMMENT ON FUNCTION tde_internal.tde_probe_counts() IS 'values that roles which may not decrypt have compared encrypted columns with';

CREATE VIEW tde.probes AS SELECT role::regrole AS role, hour, probes FROM tde_internal.tde_probe_counts();
GRANT SELECT ON tde.probes TO pg_monitor;
COMMENT ON VIEW tde.probes IS 'how many values each role that may not decrypt has last compared encrypted columns with in an hour';
