-- wal2json: changes of encrypted columns are those of plain ones, for who is shown transparent catalogs.
SELECT * FROM no_plan();
SELECT FROM pg_create_logical_replication_slot('tools_wal2json', 'wal2json');
INSERT INTO plain VALUES (3000, 'new', 1.5, 5, '2024-02-29', '2024-02-29 12:00Z', false, NULL);
INSERT INTO encrypted SELECT * FROM plain WHERE id = 3000;
UPDATE plain SET ok = true WHERE id = 3000;
UPDATE encrypted SET ok = true WHERE id = 3000;
SET tde_column.transparent_catalog = on;
CREATE TEMP TABLE change AS SELECT data::jsonb AS change FROM pg_logical_slot_get_changes('tools_wal2json', NULL, NULL, 'format-version', '2', 'add-tables', 'public.*');
CREATE TEMP VIEW told AS SELECT change ->> 'table' AS side, change - 'table' AS change FROM change WHERE change ? 'table';
SELECT is((SELECT count(*) FROM told WHERE side = 'plain'), 2::bigint, 'changes of the plain table');
SELECT bag_eq($$SELECT change FROM told WHERE side = 'encrypted'$$, $$SELECT change FROM told WHERE side = 'plain'$$, 'the same of the encrypted table');
SELECT pg_drop_replication_slot('tools_wal2json') \g /dev/null
SELECT * FROM finish();
