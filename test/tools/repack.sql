-- pg_repack: the table has the rows that it had, in a new file.
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE EXTENSION pg_repack;
DELETE FROM encrypted WHERE id % 2 = 0;
SELECT pg_relation_filenode('encrypted') AS before \gset
\! pg_repack --no-order -t public.encrypted -d repack >/dev/null 2>&1
SELECT ok(pg_relation_filenode('encrypted') <> :before, 'it was copied');
SELECT set_eq('SELECT * FROM encrypted', 'SELECT * FROM plain WHERE id % 2 = 1', 'its rows');
SET enable_seqscan = off;
SELECT is(id, 7, 'its index') FROM encrypted WHERE holder = 'holder 7';
SELECT * FROM finish();
