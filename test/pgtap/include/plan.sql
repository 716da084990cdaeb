-- The plan of a query, as JSON: its text differs between versions.
CREATE FUNCTION plan_of(query text, options text DEFAULT '') RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT json, COSTS off%s) %s', options, query) INTO plan;
  RETURN plan;
END
$$;
-- What was read, with how many rows.
CREATE FUNCTION execution_of(query text) RETURNS jsonb LANGUAGE sql AS
  $$ SELECT plan_of(query, ', ANALYZE, TIMING off, SUMMARY off') $$;
CREATE FUNCTION all_of(plan jsonb, path text) RETURNS text[] LANGUAGE sql AS
  $$ SELECT ARRAY(SELECT node #>> '{}' FROM jsonb_path_query(plan, ('strict $.**.' || path)::jsonpath) node ORDER BY 1) $$;
CREATE FUNCTION uses_index(plan jsonb) RETURNS boolean LANGUAGE sql AS
  $$ SELECT cardinality(all_of(plan, '"Index Cond"')) > 0 $$;
