-- What ORMs work in: two schemas, one of which is encrypted when the ORM has made its tables and their first rows.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS twin_plain, twin_enc CASCADE;
CREATE SCHEMA twin_plain;
CREATE SCHEMA twin_enc;

-- Every column but surrogate keys and those of types that have no encrypted form, unsalted where an index or a foreign key needs it.
CREATE OR REPLACE PROCEDURE encrypt_twin() LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT a.attrelid::regclass AS relation, a.attname AS name,
                  EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND a.attnum = ANY (i.indkey))
                  OR EXISTS (SELECT FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid = c.oid AND a.attnum = ANY (f.conkey)) AS keyed
             FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relkind = 'r' AND c.relnamespace = 'twin_enc'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'id'
              AND a.atttypid < 16384
            ORDER BY c.relname, a.attnum LOOP
    CALL tde_encrypt_column(r.relation, r.name, CASE WHEN r.keyed THEN 'nosalt' ELSE 'salt' END);
  END LOOP;
END
$$;

-- The truth, which tde_column.transparent_catalog does not change in functions: the plain columns of the encrypted twin.
CREATE OR REPLACE FUNCTION left_plain() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT string_agg(c.relname || '.' || a.attname, ' ' ORDER BY c.relname, a.attnum)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
   WHERE c.relkind = 'r' AND c.relnamespace = 'twin_enc'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'id'
     AND a.atttypid < 16384 $$;
