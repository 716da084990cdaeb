-- pglogical: a table with encrypted columns in another database, that has other specifications there: the copy, and changes.
SELECT * FROM no_plan();
SET client_min_messages = warning;
CREATE EXTENSION pglogical;
\getenv host PGHOST
SELECT FROM pglogical.create_node('provider', format('host=%s dbname=pglogical user=postgres', :'host'));
SELECT FROM pglogical.replication_set_add_table('default', 'encrypted');
CREATE DATABASE pglogical_other;
\connect pglogical_other
SET client_min_messages = error;
CREATE EXTENSION tde_column;
CREATE EXTENSION pglogical;
CREATE TABLE encrypted (id int PRIMARY KEY, holder encrypted_text(aes128,salt), amount encrypted_numeric(15,2), n encrypted_int4(nosalt), born date, at encrypted_timestamptz,
                        ok bool, u encrypted_uuid);
SELECT FROM pglogical.create_node('subscriber', format('host=%s dbname=pglogical_other user=postgres', :'host'));
SELECT FROM pglogical.create_subscription('tools', format('host=%s dbname=pglogical user=postgres', :'host'));
SELECT pglogical.wait_for_subscription_sync_complete('tools') \g /dev/null
\connect pglogical
UPDATE encrypted SET n = 7, ok = NOT ok WHERE id = 5;
DELETE FROM encrypted WHERE id = 6;
INSERT INTO encrypted (id, holder, born) VALUES (3000, 'new', '2024-02-29');
SELECT pglogical.wait_slot_confirm_lsn(NULL, NULL) \g /dev/null
SELECT md5(string_agg(e::text, ';' ORDER BY id)) AS here FROM encrypted e \gset
\connect pglogical_other
CREATE EXTENSION pgtap;
SELECT * FROM no_plan();
SELECT is(md5(string_agg(e::text, ';' ORDER BY id)), :'here', 'the rows there') FROM encrypted e;
SELECT FROM pglogical.drop_subscription('tools');
SELECT * FROM finish();
