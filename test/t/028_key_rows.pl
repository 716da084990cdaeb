# Rows of the key table are there for ever, or not at all: errors while a key is made, a sequence that is behind, keys that are
# changed by the transaction that made them, and logical decoding of that.  And a wallet file that is none does not keep anybody
# waiting.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use POSIX qw(mkfifo);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('rows', extension => 1, conf => "wal_level = logical\n");
$node->start;
lines_of($node, q(CREATE EXTENSION amcheck; SELECT tde_wallet_create('rows-passphrase')));

# Is every row of the table in each of its indexes, and nothing else?
sub indexes_agree
{
  my ($name) = @_;
  my $got = attempt($node, q(SELECT count(bt_index_check(indexrelid, true)) FROM pg_index WHERE indrelid = 'tde.data_keys'::regclass));
  is($got->{state}, '', "$name: indexes agree with the table") or diag($got->{err});
  is(lines_of($node, 'SET enable_seqscan = off; SELECT count(*) FROM tde.data_keys WHERE id > 0'),
    lines_of($node, 'SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM tde.data_keys WHERE id > 0'),
    "$name: and find as many rows");
  return;
}

# ---- an error after the row is in the table, before it is in all indexes ----

my $count = 'SELECT count(*) FROM tde.data_keys';
my $before = lines_of($node, $count);
lines_of($node, 'CREATE UNIQUE INDEX too_strict ON tde.data_keys (kind)');
fails_with($node, "SELECT tde_create_key('one')", { state => '23505', message => qr/too_strict/ }, 'an index refuses the row');
fails_with($node, 'SELECT tde_rotate_key()', { state => '23505' }, 'likewise a version');
is(lines_of($node, $count), $before, 'the row is not there');
indexes_agree('after the error');
lines_of($node, 'DROP INDEX tde.too_strict');
is(attempt($node, "SELECT tde_create_key('one')")->{state}, '', 'the key can be made then');
indexes_agree('after it was made');

# ---- and no other way to lose one ----

my $session = session($node);
session_try($session, "BEGIN; CREATE TABLE lost (a encrypted_text('key=one')); SAVEPOINT s; SELECT tde_create_key('two'); ROLLBACK TO s; SELECT tde_create_key('three')");
is(lines_of($node, q(SELECT string_agg(name, ' ' ORDER BY id) FROM tde.data_keys WHERE name IS NOT NULL)), 'one two three', 'others see keys at once');
$node->stop('immediate');
eval { $session->quit };
$node->start;
lines_of($node, q(SELECT tde_wallet_open('rows-passphrase')));
is(lines_of($node, q(SELECT string_agg(name, ' ' ORDER BY id) FROM tde.data_keys WHERE name IS NOT NULL)), 'one two three', 'a crash takes none away');
is(lines_of($node, q(SELECT to_regclass('lost') IS NULL)), 't', 'though it does the transaction');
indexes_agree('after the crash');
lines_of($node, 'VACUUM FREEZE tde.data_keys');
indexes_agree('after VACUUM FREEZE');

# ---- a sequence that is behind ----

# the row's key cannot be unwrapped, but its number counts
edit_keys($node, q(INSERT INTO tde.data_keys
  SELECT 1900000000, gen_random_uuid(), slot, version + 1, kind, 'r', created, database, master_key, check_value, wrapped, false, NULL
  FROM tde.data_keys WHERE slot = 0));
is(attempt($node, 'SELECT tde_rotate_key()')->{state}, '', 'a version is made at once');
is(lines_of($node, 'SELECT max(id) FROM tde.data_keys'), 1900000001, 'with the next number');
lines_of($node, q(CREATE ROLE low LOGIN; GRANT CREATE ON SCHEMA public TO low; SELECT setval('tde.data_keys_id_seq', 1)));
is(attempt($node, 'CREATE TABLE lows (a encrypted_text(nomac)); INSERT INTO lows VALUES ($$x$$)', user => 'low')->{state}, '',
  'also for a role that has no right to the sequence');
is(lines_of($node, q(SELECT max(id) FROM tde.data_keys WHERE kind = 'n')), 1900000002, 'the next number again');
edit_keys($node, 'UPDATE tde.data_keys SET id = 2147483647 WHERE id = 1900000000');
fails_with($node, 'SELECT tde_rotate_key()', { state => '2200H' }, 'no number is left');
edit_keys($node, q(DELETE FROM tde.data_keys WHERE id = 2147483647; SELECT setval('tde.data_keys_id_seq', 1900000002)));

# ---- keys that are changed by the transaction that made them, and logical decoding ----

lines_of($node, q(CREATE PUBLICATION everything FOR ALL TABLES; SELECT pg_create_logical_replication_slot('slot', 'pgoutput');
CREATE TABLE t (id serial PRIMARY KEY, a encrypted_text('key=one'))));
lines_of($node, $_) foreach (
  "SELECT tde_rotate_key(), tde_rotate_key('one'), tde_rotate_master_key()",
  "BEGIN; SELECT tde_create_key('four'); CREATE TABLE u (a encrypted_text('key=four')); INSERT INTO u VALUES ('y');
   SELECT tde_rotate_master_key(); INSERT INTO u VALUES ('z'); SAVEPOINT s; SELECT tde_rotate_key('four'); INSERT INTO u VALUES ('z');
   SELECT tde_rotate_master_key(); ROLLBACK TO s; INSERT INTO t (a) VALUES ('x'); SELECT tde_rotate_key('one');
   SELECT tde_rotate_master_key(); INSERT INTO t (a) VALUES ('x'); COMMIT",
  "BEGIN; SELECT tde_create_key('five'), tde_rotate_master_key(); SELECT tde_destroy_key('five', 'destroy five'); COMMIT",
  "BEGIN; SELECT tde_create_key('six'), tde_rotate_master_key(); ROLLBACK",
  "INSERT INTO t (a) VALUES ('x')");
is(lines_of($node, q(SELECT string_agg(get_byte(data, 0)::int::text, ' ') FROM (
    SELECT data FROM pg_logical_slot_get_binary_changes('slot', NULL, NULL, 'proto_version', '1', 'publication_names', 'everything')) d
  WHERE chr(get_byte(data, 0)) = 'C')), join(' ', (ord 'C') x 4), 'all transactions that committed are decoded');
is(lines_of($node, q(SELECT string_agg(a::text, '' ORDER BY id) FROM t)), 'xxx', 'and values are readable');
is(lines_of($node, q(SELECT string_agg(a::text, '' ORDER BY a) FROM u)), 'yz', 'all of them');
is(lines_of($node, q(SELECT string_agg(DISTINCT concat(name, '=', state), ' ') FROM tde.data_keys WHERE name IN ('four', 'five', 'six'))),
  'five=d four=a six=a', 'a key that was destroyed is, one whose transaction failed is not');
indexes_agree('at the end');

# Only a server with assertions finds the contradiction that this would be.
my $from = lines_of($node, 'SELECT pg_current_wal_insert_lsn()');
lines_of($node, q(BEGIN; SELECT tde_create_key('untold'); ROLLBACK));
my $wal = (run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal', '-s', $from, '-e', lines_of($node, 'SELECT pg_current_wal_flush_lsn()') ]))[0];
like($wal, qr/FPI/, 'the row of a new key is in the WAL');
unlike($wal, qr/NEW_CID/, 'and nothing that tells logical decoding by which command');

# ---- a wallet file that is none ----

my $wallet = wallet_path($node);
lines_of($node, 'SELECT tde_wallet_close()');
rename $wallet, "$wallet.kept" or die "could not rename $wallet: $!";
my %other = (
  'a FIFO'            => sub { mkfifo($wallet, 0600) or die "could not make a FIFO: $!"; },
  'a folder'          => sub { mkdir $wallet, 0700 or die "could not make a folder: $!"; },
  'a link to /dev/null' => sub { symlink '/dev/null', $wallet or die "could not link: $!"; });
foreach my $what (sort keys %other)
{
  $other{$what}->();
  fails_with($node, "SET statement_timeout = '3min'; SELECT tde_wallet_open('rows-passphrase')", { state => 'TDE02', message => qr/is not a regular file/ }, "the wallet is $what");
  fails_with($node, q(SET statement_timeout = '3min'; SELECT a FROM t), { state => 'TDE01' }, "the wallet is $what: reading a value");
  rmdir $wallet or unlink $wallet;
}
rename "$wallet.kept", $wallet or die "could not rename it back: $!";
my $folder = dirname($wallet);
chmod 0770, $folder;
like(attempt($node, "SELECT tde_wallet_open('rows-passphrase')")->{err}, qr/WARNING:.*folder "\Q$folder\E" of the wallet file has group or world write access/,
  'others can write its folder');
chmod 0700, $folder;
unlike(attempt($node, "SELECT tde_wallet_close(); SELECT tde_wallet_open('rows-passphrase')")->{err}, qr/WARNING/, 'nobody else can');

$node->stop;
done_testing();
