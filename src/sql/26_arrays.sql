--
-- Arrays of encrypted and plain elements beside each other.  PostgreSQL's operators want two arrays of one type.  These take types to which
-- arrays of all encrypted types and of all their base types are cast implicitly: nine operators serve them all, and suit no two plain
-- arrays, nor what stands in quotes beside an array.
--

-- new in 0.2.0
DO $$
DECLARE
  operand record;
BEGIN
  FOR operand IN SELECT 'tde_internal.' || name AS name, comment
                 FROM (VALUES ('encrypted_array', 'an array of encrypted elements'), ('plain_array', 'an array of plain elements')) AS t (name, comment) LOOP
    -- the type, and the function by which arrays are cast to it
    EXECUTE format('CREATE TYPE %1$s;'
                   'CREATE FUNCTION %1$s_in(cstring) RETURNS %1$s AS ''anyarray_in'' LANGUAGE internal STABLE STRICT PARALLEL SAFE;'
                   'COMMENT ON FUNCTION %1$s_in(cstring) IS ''I/O'';'
                   'CREATE FUNCTION %1$s_out(%1$s) RETURNS cstring AS ''anyarray_out'' LANGUAGE internal STABLE STRICT PARALLEL SAFE;'
                   'COMMENT ON FUNCTION %1$s_out(%1$s) IS ''I/O'';'
                   'CREATE TYPE %1$s (INPUT = %1$s_in, OUTPUT = %1$s_out, LIKE = anyarray, COLLATABLE = true);'
                   'COMMENT ON TYPE %1$s IS ''%2$s, for operators, not for columns'';'
                   'REVOKE USAGE ON TYPE %1$s FROM PUBLIC;'
                   'CREATE FUNCTION %1$s(anyarray) RETURNS %1$s AS ''MODULE_PATHNAME'', ''tde_array_operand'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;'
                   'COMMENT ON FUNCTION %1$s(anyarray) IS ''the array itself''', operand.name, operand.comment);
  END LOOP;
END
$$;

-- new in 0.2.0
CREATE FUNCTION tde_internal.tde_array_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_array_support(internal) IS 'planner support for operators between encrypted and plain arrays';
-- new in 0.2.0
REVOKE ALL ON FUNCTION tde_internal.tde_array_support(internal) FROM PUBLIC;

-- new in 0.2.0
DO $$
DECLARE
  op record;
BEGIN
  FOR op IN
    SELECT o.*, l, r
    FROM (VALUES ('=',  'tde_array_eq', '=', '<>', 'eqsel', 'eqjoinsel'), ('<>', 'tde_array_ne', '<>', '=', 'neqsel', 'neqjoinsel'),
                 ('<',  'tde_array_lt', '>', '>=', 'scalarltsel', 'scalarltjoinsel'), ('<=', 'tde_array_le', '>=', '>', 'scalarlesel', 'scalarlejoinsel'),
                 ('>',  'tde_array_gt', '<', '<=', 'scalargtsel', 'scalargtjoinsel'), ('>=', 'tde_array_ge', '<=', '<', 'scalargesel', 'scalargejoinsel'),
                 ('&&', 'tde_array_overlap', '&&', NULL, 'arraycontsel', 'arraycontjoinsel'),
                 ('@>', 'tde_array_contains', '<@', NULL, 'arraycontsel', 'arraycontjoinsel'),
                 ('<@', 'tde_array_contained', '@>', NULL, 'arraycontsel', 'arraycontjoinsel'))
      AS o (name, function, commutator, negator, rest, joining),
      (VALUES ('tde_internal.encrypted_array', 'tde_internal.plain_array'), ('tde_internal.plain_array', 'tde_internal.encrypted_array')) AS s (l, r)
  LOOP
    EXECUTE format('CREATE FUNCTION tde_internal.%1$s(%2$s, %3$s) RETURNS boolean AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE '
                   'SUPPORT tde_internal.tde_array_support;'
                   'COMMENT ON FUNCTION tde_internal.%1$s(%2$s, %3$s) IS ''implementation of %4$s operator'';'
                   'CREATE OPERATOR @extschema@.%4$s (LEFTARG = %2$s, RIGHTARG = %3$s, FUNCTION = tde_internal.%1$s, '
                   'COMMUTATOR = OPERATOR(@extschema@.%5$s)%6$s, RESTRICT = %7$s, JOIN = %8$s)',
                   op.function, op.l, op.r, op.name, op.commutator, ', NEGATOR = OPERATOR(@extschema@.' || op.negator || ')', op.rest, op.joining);
  END LOOP;
END
$$;
