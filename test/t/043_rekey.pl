# tde_rekey_table(): every value of a table gets under the newest key version and into its column's specification, whatever it
# is in, and nothing else happens to it; also where it is interrupted, and beside transactions that hold rows.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('rekey', extension => 1, conf => "tde_column.passphrase_command = 'echo rekey-passphrase'\njit = off\nrestart_after_crash = on\nwal_level = replica\nmax_wal_senders = 4\n");
$node->start;
lines_of($node, q{
SELECT tde_wallet_create('rekey-passphrase');
CREATE FUNCTION bytes(encrypted_text) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE FUNCTION bytes(encrypted_int4) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE FUNCTION forge(bytea) RETURNS encrypted_text LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
-- specification and key, as the header has them
CREATE FUNCTION head(encrypted_text) RETURNS text LANGUAGE sql STABLE AS $$SELECT encode(substr(bytes($1), 1, 2), 'hex')$$;
CREATE FUNCTION head(encrypted_int4) RETURNS text LANGUAGE sql STABLE AS $$SELECT encode(substr(bytes($1), 1, 2), 'hex')$$;
CREATE FUNCTION newest() RETURNS text LANGUAGE sql STABLE AS
  $$SELECT lpad(to_hex(max(id)), 2, '0') FROM tde.data_keys WHERE slot = 0 AND kind = 'm'$$;
});

# Call it; what the last notice says, or the error.
sub rekey
{
  my ($arguments, %opts) = @_;
  my $err;

  $node->psql('postgres', ($opts{before} // '') . " CALL tde_rekey_table($arguments)", stderr => \$err, extra_params => $opts{extra} // []);
  return $err;
}

sub rekeyed
{
  my ($table, $rows, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  like(rekey("'$table'"), qr/table "$table": $rows rows re-encrypted/, $name);
  return;
}

# How many values of a column there are under the newest key, and under others.
sub heads { return lines_of($node, "SELECT count(*) FILTER (WHERE substr(head($_[1]), 3) = newest()), count(*) FILTER (WHERE substr(head($_[1]), 3) <> newest()) FROM $_[0]"); }

# ---- everything that a value can be in ----

lines_of($node, q{
CREATE TYPE pair AS (n int, s encrypted_text(aes256,salt), also text);
CREATE DOMAIN dom AS encrypted_text(aes128,nosalt,sha256);
CREATE DOMAIN pairs AS pair[];
CREATE TYPE numbers AS RANGE (subtype = encrypted_int4, multirange_type_name = numberses);
CREATE TABLE shapes (id int PRIMARY KEY, gone encrypted_text, a encrypted_text(aes256,salt) UNIQUE, plain text, arr encrypted_text(aes192,nosalt)[], p pair,
                     d dom, ds dom[], ps pairs, r numbers, rs numberses, big encrypted_text(salt), packed encrypted_text(salt),
                     copied encrypted_text(aes128,salt) GENERATED ALWAYS AS (a) STORED, "any" encrypted_text(aes256,salt));
ALTER TABLE shapes ALTER packed SET STORAGE main;
SET tde_column.compression = pglz;
INSERT INTO shapes (id, gone, a, plain, arr, p, d, ds, ps, r, rs, big, packed, "any")
  SELECT i, 'gone', CASE WHEN i % 7 > 0 THEN 'a' || i END, 'plain' || i, ARRAY['x' || i, NULL, ''], ROW(i, 'p' || i, 'also')::pair, 'd' || i % 3,
         ARRAY['e', 'f' || i]::dom[], ARRAY[ROW(1, 'q' || i, NULL)::pair, NULL]::pairs, CASE i % 3 WHEN 0 THEN 'empty' WHEN 1 THEN '[1,]' ELSE '[2,20)' END::numbers,
         CASE WHEN i % 5 = 0 THEN '{}' ELSE '{[1,2),[5,)}' END::numberses, CASE WHEN i % 100 = 0 THEN repeat('big' || i, 3000) END, repeat('c', 3000), 'any' || i
  FROM generate_series(1, 300) i;
INSERT INTO shapes (id) VALUES (0);
RESET tde_column.compression;
ALTER TABLE shapes ALTER plain SET STORAGE external;
UPDATE shapes SET plain = repeat('long', 2000), arr = array_fill('element'::text, ARRAY[50, 20], ARRAY[0, 7]) WHERE id = 5;
ALTER TABLE shapes DROP COLUMN gone;
ALTER TABLE shapes ADD COLUMN late encrypted_text(aes256,salt) DEFAULT 'late';
CREATE VIEW content AS SELECT id, a::text, plain, arr::text, array_dims(arr), p::text AS p, d::text, ds::text, ps::text, r::text AS r, rs::text AS rs, md5(big::text) AS big,
                              packed::text, copied::text, "any"::text, late::text FROM shapes;
SET client_min_messages = error;
CREATE TABLE content_before AS TABLE content;
-- values in another specification than their column's, as a change of the catalog alone leaves them
UPDATE pg_attribute SET atttypmod = (SELECT typtypmod FROM pg_type WHERE typname = 'dom') WHERE attrelid = 'shapes'::regclass AND attname = 'any';
SELECT tde_rotate_key();
});
my $different = 'SELECT count(*) FROM (TABLE content EXCEPT TABLE content_before) x';
# id 0 has no value but the default of the column that was added later
rekeyed('shapes', 301, 'all rows are re-encrypted');
is(lines_of($node, $different), 0, 'which changes no value');
my $newest = lines_of($node, 'SELECT newest()');
foreach my $place ('a', 'arr[1]', 'arr[3]', 'arr[9][8]', '(p).s', 'd', 'ds[2]', '(ps[1]).s', 'big', 'packed', 'copied', '"any"', 'late')
{
  like(heads('shapes', $place), qr/^[1-9]\d*\|0$/, "$place is under the newest key");
}
is(lines_of($node, 'SELECT string_agg(DISTINCT head("any"), $$,$$) FROM shapes'), lines_of($node, 'SELECT string_agg(DISTINCT head(d), $$,$$) FROM shapes'), 'and a value in another specification is in the declared one');
rekeyed('shapes', 0, 'a second call finds nothing to do');
# A range declares nothing for its bounds: they stay in the specification of literals, under its key.
my $bounds = q{SELECT string_agg(DISTINCT head(b), ',') FROM (SELECT lower(r) FROM shapes UNION ALL SELECT upper(r) FROM shapes UNION ALL SELECT lower(rs) FROM shapes) x (b)};
my $before = lines_of($node, $bounds);
lines_of($node, q{SELECT tde_rotate_key('catalog')});
rekeyed('shapes', 280, 'rows with ranges, after a rotation of the key of literals');
like(lines_of($node, $bounds), qr/^(?!\Q$before\E)\w{4}$/, 'bounds of ranges keep their specification');
is(lines_of($node, $different), 0, 'and their values');
like(rekey("'shapes'"), qr/HINT:  Run VACUUM \(ANALYZE\) public.shapes; REINDEX TABLE CONCURRENTLY public.shapes;/, 'it says what is left to do');
lines_of($node, 'VACUUM (ANALYZE) shapes') and fail('VACUUM says something');
lines_of($node, 'REINDEX TABLE CONCURRENTLY shapes');
edit_keys($node, q{CREATE TABLE older AS SELECT * FROM tde.data_keys WHERE slot = 0 AND version = 1; DELETE FROM tde.data_keys WHERE slot = 0 AND version = 1});
is(lines_of($node, $different), 0, 'the old version of the key is not needed any more');
is(lines_of($node, q{SET enable_seqscan = off; SELECT id FROM shapes WHERE a = 'a17'}), 17, 'not for the index either');
edit_keys($node, 'INSERT INTO tde.data_keys TABLE older');

# ALTER TYPE keeps values that fit, under whichever version they are; a change of the specification makes them current.
lines_of($node, q{
CREATE TABLE source (a encrypted_text(aes256,salt)); INSERT INTO source VALUES ('s');
SELECT tde_rotate_key();
ALTER TABLE source ALTER a TYPE encrypted_text(aes256,salt);
});
is(heads('source', 'a'), '0|1', 'ALTER TYPE that changes nothing leaves the old key');
rekeyed('source', 1, 'so there is something to do');
lines_of($node, q{SELECT tde_rotate_key(); ALTER TABLE source ALTER a TYPE encrypted_text(aes128,nosalt,sha256)});
rekeyed('source', 0, 'after a change of the specification there is not');

# ---- nothing else happens to a row ----

lines_of($node, q{
CREATE TABLE quiet (id int PRIMARY KEY, a encrypted_text(salt) UNIQUE, changed int NOT NULL DEFAULT 0);
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.changed := new.changed + 1; RETURN new; END $$;
CREATE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a trigger fired'; END $$;
CREATE TABLE refers (a encrypted_text(salt) REFERENCES quiet (a), id int REFERENCES quiet);
INSERT INTO quiet SELECT i, 'a' || i FROM generate_series(1, 20) i;
INSERT INTO refers SELECT a, id FROM quiet;
CREATE TRIGGER touch BEFORE UPDATE ON quiet FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER forbid AFTER UPDATE ON quiet EXECUTE FUNCTION forbid();
ALTER TABLE quiet ENABLE ALWAYS TRIGGER touch;
CREATE RULE never AS ON UPDATE TO quiet DO INSTEAD NOTHING;
ALTER TABLE quiet ADD CHECK (id > 5) NOT VALID, ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT tde_rotate_key();
});
rekeyed('quiet', 20, 'neither triggers nor rules, row security or a constraint that is not valid stand in the way');
is(lines_of($node, 'SELECT count(*), sum(changed) FROM quiet'), '20|0', 'none of them has done anything');
rekeyed('refers', 20, 'nor do foreign keys');
is(lines_of($node, 'SELECT count(*) FROM refers JOIN quiet USING (id) WHERE refers.a = quiet.a'), 20, 'which still hold');

lines_of($node, q{
CREATE ROLE owner; CREATE ROLE other; GRANT CREATE, USAGE ON SCHEMA public TO owner;
SET ROLE owner;
CREATE FUNCTION who(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF current_user <> 'owner' THEN RAISE 'called by %', current_user; END IF; RETURN $1; END $$;
CREATE TABLE owned (id int, a encrypted_text(salt)) WITH (fillfactor = 100); CREATE INDEX ON owned (who(id)); CREATE INDEX ON owned (a);
INSERT INTO owned SELECT i, 'a' || i FROM generate_series(1, 300) i;
RESET ROLE; SELECT tde_rotate_key();
});
rekeyed('owned', 300, 'functions of an index run as the owner of the table');
lines_of($node, 'SELECT tde_rotate_key()');
like(rekey("'public.owned'", before => 'SET ROLE owner;'), qr/300 rows/, 'whom we obey, too');
lines_of($node, 'SELECT tde_rotate_key()');
like(rekey("'public.owned'", before => "SET tde_column.decrypt_role = 'pg_monitor'; SET ROLE owner;"), qr/300 rows/, 'also if the owner may not decrypt');

# ---- partitions and children ----

lines_of($node, q{
CREATE TABLE parts (id int, a encrypted_text(salt), k int) PARTITION BY LIST (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (k int, dropped int, id int, a encrypted_text(salt)); ALTER TABLE parts_2 DROP dropped;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES IN (3, 4) PARTITION BY RANGE (id);
CREATE TABLE parts_3_1 PARTITION OF parts_3 FOR VALUES FROM (0) TO (1000);
CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE parts_5 PARTITION OF parts FOR VALUES IN (5) SERVER nowhere;
CREATE INDEX ON parts_1 (a);
INSERT INTO parts SELECT i, 'a' || i, i % 3 + 1 FROM generate_series(1, 90) i;
CREATE TABLE parent (a encrypted_text(salt)); CREATE TABLE child (n encrypted_int4(nosalt)) INHERITS (parent);
INSERT INTO parent VALUES ('p'); INSERT INTO child VALUES ('c', 1);
CREATE TABLE empty_parts (a encrypted_text(salt)) PARTITION BY LIST (a);
SELECT tde_rotate_key();
});
my $said = rekey("'parts'");
like($said, qr/skipping foreign table "parts_5"/, 'foreign partitions are left out, and named');
like($said, qr/"parts": 90 rows.*REINDEX TABLE CONCURRENTLY public.parts;/s, 'all others are taken');
is(heads("(SELECT a FROM parts_1 UNION ALL SELECT a FROM parts_2 UNION ALL SELECT a FROM parts_3) p", 'a'), '90|0', 'and all their values are current');
rekeyed('parent', 2, 'a table with its children');
is(heads('child', 'n'), '1|0', 'with the columns that only they have');
like(rekey("'empty_parts'"), qr/stores no encrypted columns/, 'there may be no partition');

# ---- what it refuses ----

lines_of($node, q{CREATE VIEW v AS TABLE source; CREATE MATERIALIZED VIEW mv AS TABLE source; CREATE TABLE plain (a text); CREATE TABLE published (a encrypted_text);
                  INSERT INTO published VALUES ('a'); SET client_min_messages = error; CREATE PUBLICATION p FOR TABLE published; SELECT tde_rotate_key()});
like(rekey("'plain'"), qr/NOTICE:  table "plain" stores no encrypted columns/, 'a table without encrypted columns is only a notice');
foreach my $case (
  [ "CALL tde_rekey_table('v')", '42809', qr/cannot re-encrypt relation "v"/, 'a view' ],
  [ "CALL tde_rekey_table('mv')", '42809', qr/cannot re-encrypt relation "mv"/, 'a materialized view' ],
  [ "CALL tde_rekey_table('parts_5')", '42809', qr/cannot re-encrypt relation "parts_5"/, 'a foreign table' ],
  [ "CALL tde_rekey_table('source', 0)", '22023', qr/batch_rows must be/, 'a batch of nothing' ],
  [ "CALL tde_rekey_table('source', delay => '-1 s')", '22023', qr/delay must be/, 'a negative delay' ],
  [ "CALL tde_rekey_table(NULL)", '22004', qr/must not be null/, 'NULL' ],
  [ "BEGIN; CALL tde_rekey_table('source')", '25001', qr/cannot run inside a transaction block/, 'a transaction block' ],
  [ "SET default_transaction_read_only = on; CALL tde_rekey_table('source')", '25006', qr/read-only transaction/, 'a read-only transaction' ],
  [ "CALL tde_rekey_table('published')", '55000', qr/does not have a replica identity/, 'a published table without replica identity' ],
  [ "SET ROLE other; CALL tde_rekey_table('public.owned')", '42501', qr/must be owner of table owned/, 'somebody else than the owner' ],
  [ "GRANT owner TO other; ALTER TABLE parts OWNER TO owner; SET ROLE other; CALL tde_rekey_table('public.parts')", '42501', qr/must be owner of table parts_1/, 'the owner of the parent of a table of others' ])
{
  my ($sql, $state, $message, $name) = @$case;
  fails_with($node, $sql, { state => $state, message => $message }, "refused: $name");
}
lines_of($node, "CREATE TABLE forged (id int, a encrypted_text(aes256,salt), b encrypted_text); INSERT INTO forged VALUES (1, 'right', 'right'), (2, 'wrong', 'right')");
lines_of($node, q{UPDATE forged SET a = forge(set_byte(bytes(a), 20, get_byte(bytes(a), 20) # 1)) WHERE id = 2; SELECT tde_rotate_key()});
fails_with($node, "CALL tde_rekey_table('forged')", { state => 'TDE04', context => qr/re-encrypting column "a" of row \(0,\d\) of table "forged"/ }, 'a damaged value');
lines_of($node, q{CREATE TABLE nomac (a encrypted_text(aes256,salt,nomac)); INSERT INTO nomac VALUES ('not authentic'); CREATE TABLE downgraded AS TABLE nomac;
                  UPDATE pg_attribute SET atttypmod = (SELECT atttypmod FROM pg_attribute WHERE attrelid = 'forged'::regclass AND attname = 'a')
                    WHERE attrelid = 'downgraded'::regclass AND attname = 'a'});
fails_with($node, "CALL tde_rekey_table('downgraded')", { state => 'TDE04', message => qr/value without MAC/, context => qr/column "a"/ }, 'a value without MAC gets none through the back door');
rekeyed('nomac', 0, 'where none is declared there is another key, which nobody rotated');

# ---- isolation: updates by others are no errors ----

like(rekey("'source'", before => 'SET default_transaction_isolation = serializable;'), qr/1 rows/, 'serializable by default is read committed here');
lines_of($node, q{CREATE FUNCTION committed(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN RAISE EXCEPTION 'another isolation'; END IF; RETURN $1; END$$;
  CREATE TABLE isolated (id int, a encrypted_text(salt)); CREATE INDEX ON isolated (a); CREATE INDEX ON isolated (committed(id));
  INSERT INTO isolated VALUES (1, 'x'); SELECT tde_rotate_key()});
like(rekey("'isolated'", before => 'SET default_transaction_isolation = serializable;'), qr/1 rows/, 'also to an expression of an index');
lines_of($node, 'CREATE TABLE big (id int PRIMARY KEY, a encrypted_text(salt), p text, filler text)');
lines_of($node, "INSERT INTO big SELECT i, 'value ' || i, 'value ' || i, repeat('f', 100) FROM generate_series(1, 3000) i; SELECT tde_rotate_key()");

# ---- rows that others hold ----

sub start_rekey
{
  my ($arguments) = @_;
  my $session = $node->background_psql('postgres', on_error_stop => 0);
  $session->query_until(qr/start/, "\\echo start\nCALL tde_rekey_table($arguments);\n\\echo done\n");
  return $session;
}

sub wait_for
{
  my ($condition, $what) = @_;
  $node->poll_query_until('postgres', $condition) or die "waited in vain: $what";
  return;
}
my $waits   = q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'tde_rekey_table'};
my $nobody  = q{SELECT count(*) = 0 FROM tde.progress};
my $holder  = $node->background_psql('postgres', on_error_stop => 0);

$holder->query_safe("BEGIN; UPDATE big SET a = 'held', p = 'held' WHERE id = 2000");
my $running = start_rekey("'big', 1000000");
wait_for($waits, 'for the row that is held');
is(lines_of($node, "SELECT count(*) FROM big WHERE substr(head(a), 3) = newest() AND id < 2000"), 1999, 'the rows before one that is held are done and committed');
is(lines_of($node, "SELECT phase, rows_changed, rows_seen <= 2000, blocks_done BETWEEN 1 AND blocks_total, database_name, table_name, started < now() FROM tde.progress"),
  're-encrypting|1999|t|t|postgres|big|t', 'the view shows how far it is');
is(lines_of($node, "SET ROLE other; SELECT count(*) FROM tde.progress"), 0, 'but not to everybody');
is(lines_of($node, "SELECT count(*) FROM pg_stat_progress_$_ WHERE pid IN (SELECT pid FROM tde.progress)"), 0, "pg_stat_progress_$_ does not show it")
  foreach split /\n/, lines_of($node, q{SELECT substr(viewname, 18) FROM pg_views WHERE viewname LIKE 'pg\_stat\_progress\_%'});
is(lines_of($node, "UPDATE big SET p = p WHERE id IN (1, 2999) RETURNING id"), "2999\n1", 'others can write');
is($holder->query_safe("UPDATE big SET p = 'value 1' WHERE id = 1 RETURNING id"), 1, 'and who holds the row meets no deadlock');
$holder->query_safe('COMMIT');
wait_for($nobody, 'for the end');
$running->quit;
is(lines_of($node, "SELECT count(*) FILTER (WHERE a = p), count(*) FILTER (WHERE a = 'held') FROM big"), '3000|1', 'no update is lost');
is(heads('big', 'a'), '3000|0', 'and all is current');

# The holder deletes, aborts, or moves the row to another partition.
lines_of($node, 'CREATE TABLE moves (id int, a encrypted_text(salt), k int) PARTITION BY LIST (k)');
lines_of($node, "CREATE TABLE moves_$_ PARTITION OF moves FOR VALUES IN ($_)") foreach 1, 2;
lines_of($node, "INSERT INTO moves SELECT i, 'a' || i, 2 FROM generate_series(1, 10) i");
foreach my $case ([ "DELETE FROM moves WHERE id = 1", 'COMMIT', 9 ], [ "DELETE FROM moves WHERE id = 2", 'ROLLBACK', 9 ], [ "UPDATE moves SET k = 1 WHERE id = 3", 'COMMIT', 9 ],
  [ "UPDATE moves SET id = id WHERE id = 4; UPDATE moves SET k = 1 WHERE id = 4", 'COMMIT', 9 ],
  [ "SAVEPOINT s; UPDATE moves SET k = 1 WHERE id = 5; ROLLBACK TO s; UPDATE moves SET id = id WHERE id = 5", 'COMMIT', 9 ])
{
  my ($sql, $end, $rows) = @$case;
  lines_of($node, 'SELECT tde_rotate_key()');
  $holder->query_safe("BEGIN; $sql");
  $running = start_rekey("'moves'");
  wait_for($waits, "for $sql");
  $holder->query_safe($end);
  wait_for($nobody, 'for the end');
  $running->quit;
  is(heads('moves', 'a'), "$rows|0", "a row is waited for: $sql; $end");
}

# Who checks a foreign key holds a lock that does not hinder us.
lines_of($node, 'CREATE TABLE checks (id int REFERENCES big); SELECT tde_rotate_key()');
$holder->query_safe('BEGIN; INSERT INTO checks SELECT i FROM generate_series(1, 100) i');
$running = start_rekey("'big'");
wait_for("SELECT count(*) = 3000 FROM big WHERE substr(head(a), 3) = newest()", 'for the referenced rows');
pass('rows whose keys others refer to are not waited for');
$holder->query_safe('ROLLBACK');
$running->quit;

# What a transaction has written before the key was rotated, and commits after all was done.
$holder->query_safe("BEGIN; INSERT INTO big VALUES (0, 'late', 'late')");
lines_of($node, 'SELECT tde_rotate_key()');
$running = start_rekey("'big'");
wait_for("SELECT phase = 'waiting for writers' FROM tde.progress", 'for the writer');
$holder->query_safe('COMMIT');
wait_for($nobody, 'for the end');
is(heads('big', 'a'), '3001|0', 'values of a transaction that began before are not left behind');
$running->quit;
$holder->quit;

# ---- interrupted ----

lines_of($node, 'SELECT tde_rotate_key()');
$running = start_rekey("'big', 100, '10 min'");
wait_for("SELECT count(*) >= 100 FROM big WHERE substr(head(a), 3) = newest()", 'for a batch');
lines_of($node, 'SELECT pg_cancel_backend(pid) FROM tde.progress');
wait_for($nobody, 'for the cancel');
$running->quit;
my $done = lines_of($node, "SELECT count(*) FROM big WHERE substr(head(a), 3) = newest()");
ok($done >= 100 && $done < 3001 && $done % 100 == 0, "what was committed before a cancel stays ($done rows)");
$running = start_rekey("'big', 100, '300 ms'");
wait_for("SELECT rows_changed > 300 FROM tde.progress", 'for some batches');
my $offset = log_offset($node);
kill 'KILL', lines_of($node, 'SELECT pid FROM tde.progress');
eval { $running->{run}->finish };
foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
  last if log_since($node, $offset) =~ /ready to accept connections/;
  select undef, undef, undef, 0.1;
}
my $rest = 3001 - lines_of($node, "SELECT count(*) FROM big WHERE substr(head(a), 3) = newest()");
ok($rest < 3001 - $done, 'nor is it lost in a crash');
rekeyed('big', $rest, 'the next call does the rest');
is(lines_of($node, 'SELECT count(*) FROM big WHERE a = p'), 3001, 'and every value is there');

lines_of($node, 'SELECT tde_rotate_key()');
like(rekey("'big', 100, '200 ms'"), qr/NOTICE:  table "big": re-encrypting, \d+ %, \d+ rows changed, \d+ rows\/s, about \d+ s left/, 'every few seconds it says how far it is');

# ---- a whole database ----

lines_of($node, q{
CREATE DATABASE whole;
CREATE ROLE mate LOGIN});
lines_of($node, q{
CREATE EXTENSION tde_column;
CREATE TYPE state AS ENUM ('new', 'old');
CREATE TABLE kept (s state);
CREATE TABLE small (a encrypted_text, l encrypted_int4[]); CREATE TABLE parts (a encrypted_text, n int) PARTITION BY LIST (n);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1); CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
CREATE TABLE above (a encrypted_text); CREATE TABLE below () INHERITS (above);
CREATE TABLE his (a encrypted_text); CREATE SCHEMA mate AUTHORIZATION mate; ALTER TABLE his OWNER TO mate;
INSERT INTO small VALUES ('a', '{1,2}'); INSERT INTO parts SELECT g, g % 2 + 1 FROM generate_series(1, 3000) g;
INSERT INTO above VALUES ('b'); INSERT INTO below VALUES ('c'); INSERT INTO his VALUES ('d');
SELECT tde_rotate_key()}, db => 'whole');
my $got = attempt($node, 'CALL tde_rekey_database()', db => 'whole', user => 'mate');
like($got->{err}, qr/WARNING:  01000: tables of other owners are not re-encrypted\nDETAIL:  public\.above, public\.parts_1, public\.parts_2, public\.small\nHINT:  Have their owners/, "tables that others own");
like($got->{err}, qr/NOTICE:  00000: table 1 of 1: public\.his, \d+ \w+\n.*\n.*NOTICE:  00000: table "his": 1 rows re-encrypted/, "one's own");
$got = attempt($node, 'CALL tde_rekey_database()', db => 'whole');
is($got->{state}, '', 'a superuser') or diag($got->{err});
is(join(' ', $got->{err} =~ /table "(\w+)": (?:[1-9]\d*) rows re-encrypted/g), 'small above parts_1 parts_2', '... re-encrypts all others, the smallest first');
unlike($got->{err}, qr/kept|"below"/, '... and looks at no table twice');
$got = attempt($node, 'CALL tde_rekey_database()', db => 'whole');
is(() = $got->{err} =~ /0 rows re-encrypted/g, 5, 'a second call finds nothing');
fails_with($node, 'BEGIN; CALL tde_rekey_database()', { state => '25001' }, 'in a transaction block', db => 'whole');
lines_of($node, 'DROP DATABASE whole; DROP ROLE mate');

# ---- replicas, and the wallet closed ----

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
fails_with($standby, "CALL tde_rekey_table('big')", { state => '25006', message => qr/during recovery/ }, 'on a standby');
$standby->stop;

lines_of($node, 'SELECT tde_rotate_key(); SELECT tde_wallet_close()');
fails_with($node, "CALL tde_rekey_table('big')", { state => 'TDE01', hint => qr/tde_wallet_open/ }, 'with the wallet closed');
$node->stop;
done_testing();
