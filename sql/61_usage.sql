--
-- Where keys are used
--

CREATE FUNCTION @extschema@.tde_key_usage(relation regclass DEFAULT NULL, OUT key_id int4, OUT slot int4, OUT version int4, OUT kind text,
                              OUT object_type text, OUT object text, OUT "column" text, OUT count int8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_key_usage(regclass) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_key_usage(regclass) IS
  'list where data keys are used, in this database or in a table with its partitions and indexes';

CREATE FUNCTION @extschema@.tde_drop_key_version(name text, version int4) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.tde_drop_key_version(text, int4) FROM PUBLIC;
COMMENT ON FUNCTION @extschema@.tde_drop_key_version(text, int4) IS
  'drop an old version of a data key, unless something in this database is still encrypted under it';

