-- decoderbufs: changes of encrypted columns are those of plain ones, for who is shown transparent catalogs.
SELECT * FROM no_plan();
SET client_min_messages = warning;
SELECT FROM pg_create_logical_replication_slot('tools_decoderbufs', 'decoderbufs');
INSERT INTO plain VALUES (3000, 'new', 1.5, 5, '2024-02-29', '2024-02-29 12:00Z', false, NULL);
INSERT INTO encrypted SELECT * FROM plain WHERE id = 3000;
SET tde_column.transparent_catalog = on;
CREATE TEMP TABLE told AS SELECT substring(data FROM 'table\[public\.(\w+)\]') AS side, substring(data FROM 'NEW TUPLE.*') AS row
  FROM pg_logical_slot_get_changes('tools_decoderbufs', NULL, NULL, 'debug-mode', '1');
SELECT matches((SELECT row FROM told WHERE side = 'plain'), 'column_name\[n\], column_type\[23\], datum\[5\]', 'the plain row');
SELECT is((SELECT row FROM told WHERE side = 'encrypted'), (SELECT row FROM told WHERE side = 'plain'), 'the same of the encrypted row');
SELECT pg_drop_replication_slot('tools_decoderbufs') \g /dev/null
SELECT * FROM finish();
