# Named keys, rotation of data keys, destruction of keys, a key for each table: what new values take, and that old ones stay
# readable, in sessions that have the old keys cached, too.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('years', extension => 1, conf => "max_prepared_transactions = 5\n");
$node->start;
lines_of($node, "SELECT tde_wallet_create('years-passphrase')");

# What a view says of the slot of a name, line by line: version, kind, state.
sub versions
{
  my ($name) = @_;
  return lines_of($node,
    "SELECT string_agg(version || kind || ':' || state, ' ' ORDER BY kind, version) FROM tde.keys WHERE name = '$name'");
}

# ---- named keys ----

is(lines_of($node, "SELECT tde_create_key('card')"), '1', 'a named key gets a slot');
lines_of($node, "SELECT tde_describe_key('card', 'card numbers')");
is(lines_of($node, "SELECT description FROM tde.keys WHERE name = 'card'"), 'card numbers', 'and a description');
fails_with($node, "SELECT tde_create_key('card')", { state => '42710', message => qr/key "card" already exists/ }, 'twice');
foreach my $name ('', '17', 'default', 'catalog', 'hash', 'x' x 64)
{
  fails_with($node, "SELECT tde_create_key('$name')", { state => '42602', message => qr/invalid name for a key/ }, "name \"$name\"");
}
lines_of($node, "BEGIN; SELECT tde_create_key('rolled'); ROLLBACK");
is(versions('rolled'), '1mac:active', 'a rollback does not take a key away');
fails_with($node, "BEGIN READ ONLY; SELECT tde_create_key('ro')", { state => '25006' }, 'in a read-only transaction');
fails_with($node, "SET tde_column.create_missing_keys = off; CREATE TABLE bad (a encrypted_text('key=nokey'))",
  { state => '42704', message => qr/key "nokey" does not exist/, hint => qr/tde_create_key\('nokey'\)/ }, 'a modifier names no key');
foreach my $call ("tde_rotate_key('nokey')", "tde_destroy_key('nokey', 'destroy nokey')", "tde_drop_key_version('nokey', 1)")
{
  fails_with($node, "SELECT $call",
    { state => '42704', message => qr/^key "nokey" does not exist$/, hint => qr/^The view tde.keys lists them\.$/ }, "no key: $call");
}
fails_with($node, "SELECT tde_describe_key('nokey', 'x')", { state => '42704' }, 'describing no key');
fails_with($node, "SELECT tde_describe_key(NULL, 'x')", { state => '22004' }, 'describing NULL');
fails_with($node, q{BEGIN; SELECT tde_describe_key('card', 'x'); PREPARE TRANSACTION 'p'}, { state => '0A000', message => qr/^cannot PREPARE/ }, 'a description cannot be prepared');

lines_of($node, q{
CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text(nosalt, 'key=card') UNIQUE, n encrypted_int4(nosalt, nomac, 'key=card'),
                   note encrypted_text);
INSERT INTO card SELECT i, 'pan ' || i, i, 'note ' || i FROM generate_series(1, 50) i});
is(lines_of($node, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'card'::regclass AND attname = 'pan'"),
  q{encrypted_text(aes256,nosalt,gcm,'key=card')}, 'the type prints the name');

# ---- rotation, seen by a session that has everything cached ----

my $other = session($node);
is(session_try($other, "SELECT count(*) FROM card WHERE pan = 'pan 7' OR n = 8")->{out}, '2', 'another session has the keys');
is(lines_of($node, "SELECT tde_rotate_key('card')"), '2', 'rotated');
is(lines_of($node, 'SELECT tde_rotate_key()'), '2', 'the default key, too');
is(lines_of($node, "SELECT tde_rotate_key('catalog')"), '2', 'and that of literals');
is(versions('card'), '1mac:retired 2mac:active 1nomac:retired 2nomac:active', 'what the view says');
is(session_try($other, "INSERT INTO card SELECT i, 'pan ' || i, i, 'note ' || i FROM generate_series(51, 60) i")->{state},
  '', 'the other session writes on');
is(lines_of($node, "SELECT string_agg(kind || version || '=' || encryptions, ' ' ORDER BY kind, version) FROM tde.keys WHERE name = 'card'"),
  'mac1=50 mac2=10 nomac1=50 nomac2=10', 'under the new version (constants of comparisons do not count)');
is(session_try($other, "SELECT count(*), count(pan), sum(n), max(note) FROM card")->{out}, '60|60|1830|note 9', 'and reads all');
fails_with($node, "INSERT INTO card VALUES (99, 'pan 7', 1, '')", { state => '23505' }, 'a value under the old version is a duplicate');
is(lines_of($node, "SET enable_seqscan = off; SELECT string_agg(id::text, ' ' ORDER BY id) FROM card WHERE pan IN ('pan 7', 'pan 55')"),
  '7 55', 'the index finds values under both versions');
lines_of($node, "BEGIN; SELECT tde_rotate_key('card'); ROLLBACK");
is(lines_of($node, "SELECT max(version) FROM tde.keys WHERE name = 'card'"), '3', 'a rollback does not undo a rotation');
is(
  session_try($other,
    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM card WHERE id = 0")->{out}, '0', 'a transaction with an old snapshot');
lines_of($node, "SELECT tde_rotate_key('card'); INSERT INTO card VALUES (61, 'pan 61', 61, '')");
is(session_try($other, "SELECT count(pan) FROM card; INSERT INTO card VALUES (62, 'pan 62', 62, ''); COMMIT")->{state},
  '', 'goes on while the key is rotated');
is(lines_of($node, "SELECT count(*) FROM card WHERE pan = 'pan 62' AND n = 62"), '1', 'what it has written is there');

# The literals of views and defaults are under catalog keys.
lines_of($node, "CREATE VIEW w AS SELECT id FROM card WHERE pan = 'pan 3'; ALTER TABLE card ALTER note SET DEFAULT 'none'");
lines_of($node, "SELECT tde_rotate_key('catalog')");
is(lines_of($node, 'SELECT id FROM w'), '3', 'a view made under an older literal key');
is(lines_of($node, "INSERT INTO card (id, pan) VALUES (63, 'pan 63') RETURNING note"), 'none', 'a default, too');

# ---- a hundred versions ----

lines_of($node, "SELECT count(tde_rotate_key('card')) FROM generate_series(1, 100)");
is(lines_of($node, "SELECT max(version) FROM tde.keys WHERE name = 'card'"), '104', 'a hundred versions');
lines_of($node, "INSERT INTO card VALUES (70, 'pan 70', 70, '')");
is(lines_of($node, "SELECT count(pan), sum(n) FROM card"), '64|2023', 'all values are readable');
is(session_try($other, "SELECT note FROM card WHERE pan = 'pan 9'")->{out}, 'note 9', 'in the old session, too');

# ---- wrapped by the current master key ----

lines_of($node, 'BEGIN; SELECT tde_rotate_master_key(); ROLLBACK');
my $strangers = "SELECT count(*) FROM tde.keys WHERE master_key <> (SELECT current_master_key FROM tde.wallet)";
is(lines_of($node, $strangers), lines_of($node, 'SELECT count(*) FROM tde.keys'), 'a rotation that was rolled back leaves the keys under the old one');
is(lines_of($node, 'SELECT tde_rewrap_keys() = (SELECT count(*) FROM tde.keys)'), 't', 'rewrapped');
is(lines_of($node, $strangers), '0', 'all are under the current one');
is(lines_of($node, 'SELECT tde_rewrap_keys()'), '0', 'and need nothing more');
is(lines_of($node, "SELECT count(pan), sum(n) FROM card"), '64|2023', 'all values are readable');

# ---- destruction ----

lines_of($node, "SELECT tde_create_key('doomed', erasable => true)");
lines_of($node, "CREATE TABLE doomed (a encrypted_text('key=doomed'), b encrypted_int4(nomac, 'key=doomed')); INSERT INTO doomed VALUES ('x', 1)");
is(lines_of($node, "SELECT count(DISTINCT master_key) FROM tde.keys WHERE name = 'doomed'"), '1', 'both kinds have one wrapping key');
is(lines_of($node, "SELECT master_key = (SELECT master_key FROM tde.keys WHERE name = 'default' LIMIT 1) FROM tde.keys WHERE name = 'doomed' LIMIT 1"),
  'f', 'which is its own');
lines_of($node, 'SELECT tde_rotate_master_key()');
is(lines_of($node, 'SELECT a, b FROM doomed'), 'x|1', 'the rotation of the master key leaves it alone');
fails_with($node, "SELECT tde_destroy_key('doomed', 'doomed')",
  { state => '22023', message => qr/not confirmed/, hint => qr/confirm => 'destroy doomed'/ }, 'destruction wants to be confirmed');
fails_with($node, "SELECT tde_destroy_key('$_', 'destroy $_')", { state => '22023', message => qr/cannot destroy/ }, "destroying $_")
  foreach qw(default catalog);
session_try($other, 'SELECT a FROM doomed');
like(attempt($node, "SELECT tde_destroy_key('doomed', 'destroy doomed')")->{err}, qr/wallet entry of key "doomed" removed/, 'destroyed');
is(read_bytes(wallet_path($node)), read_bytes(wallet_path($node) . '.previous'), 'the previous copy of the wallet does not have it either');
is(session_try($other, 'SELECT a FROM doomed')->{state}, 'TDE03', 'nobody reads its values any more');
is(session_try($other, 'SELECT b FROM doomed')->{state}, 'TDE03', 'of neither kind');
fails_with($node, "INSERT INTO doomed VALUES ('y', 2)", { state => 'TDE03', message => qr/was destroyed/ }, 'nor writes');
fails_with($node, "CREATE TABLE d2 (a encrypted_text('key=doomed'))", { state => '42704', message => qr/^key "doomed" was destroyed$/, hint => qr/^Make another one/ }, 'nobody declares it');
is(lines_of($node, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'doomed'::regclass AND attname = 'a'"),
  "encrypted_text(aes256,salt,gcm,'key=doomed')", 'its name stands in the declaration');
is(versions('doomed'), '1mac:destroyed 1nomac:destroyed', 'the view says so');
lines_of($node, 'SELECT tde_wallet_close()');
lines_of($node, "SELECT tde_wallet_open('years-passphrase')");
is(lines_of($node, "SELECT count(pan) FROM card"), '64', 'the wallet opens as before');
is(lines_of($node, "SELECT tde_create_key('doomed')"), '4', 'the name is free again');
like(lines_of($node, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'doomed'::regclass AND attname = 'a'"),
  qr/^encrypted_text\(aes256,salt,gcm,'key=doomed~destroyed~\d+'\)$/, 'and the declaration of the destroyed one does not name the new one');

lines_of($node, "CREATE TABLE logical (a encrypted_text('key=rolled')); INSERT INTO logical VALUES ('x')");
lines_of($node, "BEGIN; SELECT tde_destroy_key('rolled', 'destroy rolled'); ROLLBACK");
is(lines_of($node, 'SELECT a FROM logical'), 'x', 'the destruction of one that is not erasable can be rolled back');
like(attempt($node, "SELECT tde_destroy_key('rolled', 'destroy rolled')")->{err}, qr/in this database only/, 'it is honest about backups');
fails_with($node, 'SELECT a FROM logical', { state => 'TDE03' }, 'its values are lost');
fails_with($node, "BEGIN; $_; PREPARE TRANSACTION 'p'", { state => '0A000', message => qr/^cannot PREPARE a transaction that has changed encryption keys$/ }, "PREPARE after $_")
  foreach "SELECT tde_create_key('two-phase'); SELECT tde_rename_key('two-phase', 'renamed')", "SELECT tde_destroy_key('two-phase', 'destroy two-phase')";

# ---- a key for each table ----

lines_of($node, q{
SET tde_column.key_per_table = on;
CREATE TABLE own (a encrypted_text, b encrypted_int4(nosalt), c encrypted_text('key=card'));
CREATE TABLE parts (id int, a encrypted_text) PARTITION BY LIST (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE plain (a text);
CREATE TEMP TABLE passing (a encrypted_text)});
my $slots = "SELECT string_agg(table_name || '.' || column_name || '=' || coalesce(name, key_slot::text), ' ' ORDER BY table_name, column_name)
  FROM tde.encrypted_columns LEFT JOIN (SELECT DISTINCT slot, name FROM tde.keys) k ON slot = key_slot WHERE table_name IN ('own', 'parts', 'part1')";
is(lines_of($node, $slots), 'own.a=public.own own.b=public.own own.c=card part1.a=public.parts parts.a=public.parts',
  'columns that name no key have the table\'s, those of partitions their parent\'s');
lines_of($node, 'DROP TABLE own; SET tde_column.key_per_table = on; CREATE TABLE own (a encrypted_text)');
like(lines_of($node, $slots), qr/own\.a=public\.own~2/, 'a table of the same name gets another key');
lines_of($node, "INSERT INTO own VALUES ('x'); INSERT INTO parts VALUES (1, 'y')");
is(lines_of($node, 'SELECT a, (SELECT a FROM parts) FROM own'), 'x|y', 'values in such tables');
lines_of($node, 'CREATE ROLE maker LOGIN; GRANT CREATE ON SCHEMA public TO maker');
fails_with($node, 'SET tde_column.key_per_table = on', { state => '42501' }, 'not everybody sets it', user => 'maker');

# ---- who may ----

foreach my $call ("tde_create_key('x')", 'tde_rotate_key()', "tde_destroy_key('card', 'destroy card')", 'tde_rotate_master_key()',
  'tde_prepare_master_key()', 'tde_rewrap_keys()', "tde_wallet_change_passphrase('x-passphrase')", "tde_describe_key('card', 'x')")
{
  fails_with($node, "SELECT $call", { state => '42501' }, "$call by anybody", user => 'maker');
}
fails_with($node, 'SELECT * FROM tde.keys', { state => '42501' }, 'the view of keys by anybody', user => 'maker');
lines_of($node, q{
CREATE ROLE keeper LOGIN; GRANT pg_monitor TO keeper;
GRANT EXECUTE ON FUNCTION tde_create_key, tde_rotate_key, tde_describe_key, tde_rotate_master_key TO keeper});
is(attempt($node, "SELECT tde_create_key('kept') > 0, tde_rotate_key('kept'), tde_describe_key('kept', 'x')", user => 'keeper')->{out},
  't|2|', 'a role that was granted them makes keys');
is(attempt($node, "SELECT tde_rotate_master_key() IS NOT NULL; SELECT state FROM tde.keys WHERE name = 'kept' AND version = 2", user => 'keeper')->{out},
  "t\nactive", 'and sees them');

$other->quit;
$node->restart;
lines_of($node, "SELECT tde_wallet_open('years-passphrase')");
is(lines_of($node, "SELECT count(pan), sum(n) FROM card"), '64|2023', 'after a restart all values are readable');

# ---- descriptions ----

my $describing = session($node);
$describing->query(q{BEGIN; SELECT tde_describe_key('card', 'in a long transaction')});
is(attempt($node, q{SET lock_timeout = '3min'; SELECT tde_create_key('meanwhile') > 0})->{out}, 't', 'others make keys while one is described');
$describing->query('ROLLBACK');
$describing->quit;
lines_of($node, q{SELECT tde_create_key('gone'); SELECT tde_describe_key('gone', 'the first'); SELECT tde_destroy_key('gone', 'destroy gone')});
fails_with($node, "SELECT tde_describe_key('gone', 'x')", { state => '42704' }, 'describing a destroyed one');
lines_of($node, q{SELECT tde_create_key('gone'); SELECT tde_describe_key('gone', 'the second')});
is(lines_of($node, q{SELECT string_agg(description, ',' ORDER BY slot) FROM tde.keys WHERE name = 'gone'}), 'the first,the second', 'nor its namesake');

# ---- a key that is made is told at once, while the transaction goes on ----

$other = session($node);
session_try($other, q{SELECT tde_create_key('told'); CREATE TABLE told (a encrypted_text(nosalt, 'key=told')); INSERT INTO told VALUES ('x')});
my $maker = session($node);
$maker->query(q{BEGIN; SELECT tde_rotate_key('told')});
session_try($other, q{INSERT INTO told VALUES ('y')});
is(lines_of($node, q{SELECT string_agg(version || '=' || encryptions, ' ' ORDER BY version) FROM tde.keys WHERE name = 'told'}), '1=1 2=1', 'others write under it');
$maker->query('ROLLBACK');
$_->quit foreach $maker, $other;

done_testing();
