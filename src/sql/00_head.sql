/* tde_column: encrypted column types for PostgreSQL */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION tde_column" to load this file. \quit

--
-- Nobody else's objects
--
-- No name in here is looked up where others may make objects: all is written with its schema, and what is not is PostgreSQL's own.
-- The scripts of updates begin with the same settings.
--
-- The extension's schema, pg_catalog, holds what users write: types, operators, functions.  So they are found on every search_path.  Tables
-- and views are in tde, where no tool takes them for the application's.  What is reached through types, operators, casts and operator families is in tde_internal, which
-- belongs on no search path.
--

SET LOCAL search_path = pg_catalog, pg_temp;
-- Names of types are put together to others.  (How string literals are read has been settled when this is executed: none of them has a
-- backslash, but for E'...'.)
SET LOCAL quote_all_identifiers = off;
-- It would compile queries over the catalogs that run once: 40 % of all time.
SET LOCAL jit = off;

DO $$
DECLARE
  other pg_namespace;
BEGIN
  SELECT * INTO other FROM pg_namespace WHERE nspname IN ('tde', 'tde_internal') LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'schema "%" already exists', other.nspname USING ERRCODE = 'duplicate_schema',
      DETAIL = format('It belongs to role "%s". The extension makes its own schema of this name, and takes over no other.',
                      pg_get_userbyid(other.nspowner)),
      HINT = format('Give it another name: ALTER SCHEMA %I RENAME TO ...;', other.nspname);
  END IF;
END
$$;

CREATE SCHEMA tde;
GRANT USAGE ON SCHEMA tde TO PUBLIC;
COMMENT ON SCHEMA tde IS 'tables and views of extension tde_column';
CREATE SCHEMA tde_internal;
GRANT USAGE ON SCHEMA tde_internal TO PUBLIC;
COMMENT ON SCHEMA tde_internal IS 'internal objects of extension tde_column; not for a search path';

CREATE FUNCTION tde_internal.tde_is_core(object oid) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN object < 16384;
COMMENT ON FUNCTION tde_internal.tde_is_core(oid) IS 'tell whether initdb has made an object: pg_catalog has those of extensions, too';
REVOKE ALL ON FUNCTION tde_internal.tde_is_core(oid) FROM PUBLIC;

-- What is made by the dozen: a query says it in SQL, from functions of the template where it has them, and this runs it.
CREATE FUNCTION tde_internal.tde_run(command text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE command;
END
$$;
COMMENT ON FUNCTION tde_internal.tde_run(text) IS 'run a command with such definitions in it';

