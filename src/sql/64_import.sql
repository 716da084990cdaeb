--
-- What applications have encrypted, and Oracle's declarations: modules/import.
--

-- Not IMMUTABLE, which they are, so that EXPLAIN shows no value, and nothing stores one in an expression.
CREATE FUNCTION @extschema@.tde_open_envelope(format text, value text, key bytea) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.tde_open_envelope(text, text, bytea) IS
  'what an application has encrypted, in clear; format: fernet, rails, laravel, sqlalchemy or sqlalchemy-gcm';

CREATE FUNCTION @extschema@.tde_import_oracle_ddl(ddl text) RETURNS SETOF text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.tde_import_oracle_ddl(text) IS
  E'Oracle''s CREATE TABLE and ALTER TABLE as commands of ours, with encrypted types for ENCRYPT clauses; psql runs them by \\gexec';
