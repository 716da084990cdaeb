--
-- Citus: tables on several servers
--

CREATE FUNCTION tde_internal.tde_called(VARIADIC "any") RETURNS record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_called("any") IS
  'stands for operators and casts where Citus plans UPDATE, MERGE and ON CONFLICT; cannot be called otherwise';

CREATE FUNCTION tde_internal.tde_distribute(function oid, VARIADIC "any") RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_internal.tde_distribute(oid, "any") IS
  'stands for the functions of Citus that distribute a table, and asks first whether all nodes have the same hash key; cannot be called otherwise';

CREATE FUNCTION tde_internal.tde_hash_fingerprint() RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_hash_fingerprint() IS 'the same in two databases if they have the same hash key';

CREATE FUNCTION tde_internal.tde_take_keys(exported text) RETURNS int4
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_internal.tde_take_keys(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_internal.tde_take_keys(text) IS
  'make the keys of the coordinator, which has the same hash key, this database''s, and return how many rows have changed; the coordinator calls it on other nodes';

CREATE FUNCTION tde_internal.tde_is_distributed(relation regclass) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_is_distributed(regclass) IS 'tell whether the rows of a table are in shards of Citus';

CREATE FUNCTION tde_internal.tde_check_not_distributed(relation regclass, command text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_check_not_distributed(regclass, text) IS
  'error if Citus distributes a table; command: the one to run on its shards, with %L for each';
