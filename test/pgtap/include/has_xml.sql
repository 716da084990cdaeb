-- Sets :has_xml, whether this PostgreSQL was built with libxml.
CREATE FUNCTION pg_temp.has_xml() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SELECT xmlcomment('''')';
  RETURN true;
EXCEPTION WHEN feature_not_supported THEN
  RETURN false;
END
$$;
SELECT pg_temp.has_xml() AS has_xml \gset
