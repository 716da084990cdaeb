-- hypopg: an index on an encrypted column is one to be planned with.
SELECT * FROM no_plan();
CREATE EXTENSION hypopg;
CREATE TEMP TABLE plan (line text);
SELECT FROM hypopg_create_index('CREATE INDEX ON encrypted (born)');
CREATE FUNCTION pg_temp.plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN ' || query; END $$;
SELECT matches(string_agg(p, ' '), 'Index Scan (using|on) "<\d+>btree_encrypted_born', 'the planner takes it') FROM pg_temp.plan($$SELECT * FROM encrypted WHERE born = '2024-01-07'$$) p;
SELECT * FROM finish();
