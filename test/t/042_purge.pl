# tde.master_keys and tde_purge_master_key(): a retired or erasable master key goes only if no database needs it, in no open
# transaction either.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node(
  'purge', extension => 1, conf => q{
tde_column.passphrase_command = 'echo purge-passphrase'
max_prepared_transactions = 5
synchronous_commit = off
});
my $path = wallet_path($node);
my $result;

sub sql { return lines_of($node, $_[0], db => $_[1] // 'postgres'); }

sub rotate { return sql('SELECT tde_rotate_master_key()', $_[0]); }

sub master_state { return sql("SELECT state FROM tde.master_keys WHERE id = '$_[0]'"); }

sub purge { return attempt($node, "SELECT tde_purge_master_key('$_[0]')"); }

sub current { return sql("SELECT id FROM tde.master_keys WHERE state = 'current'"); }

# A purge in another session, which waits for something.  Returns a function that waits for its end, and tells it as attempt().
sub purge_behind
{
  my ($id, $waits_for) = @_;
  my $session = session($node);

  $session->query_until(qr/asked/, "\\echo asked\nSELECT tde_purge_master_key('$id');\n");
  $node->poll_query_until('postgres', "SELECT count(*) > 0 FROM $waits_for") or die "the purge does not wait: $waits_for";
  return sub {
    my $end = session_try($session, 'SELECT 1');
    $session->quit;
    return $end;
  };
}
my $worker_waits = "pg_stat_activity WHERE backend_type = 'tde_column data keys' AND wait_event_type = 'Lock'";

sub refused
{
  my ($got, $detail, $name, $hint) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  is($got->{state}, '2BP01', "$name: refused") or diag($got->{err});
  like($got->{message}, qr/^master key [-0-9a-f]{36} is still needed$/, "$name: message");
  is($got->{detail}, $detail, "$name: detail");
  is($got->{hint}, $hint // 'Run tde_rewrap_all_databases(), then try again.', "$name: hint");
  return;
}

$node->start;
sql("SELECT tde_wallet_create('purge-passphrase'); CREATE DATABASE b");
sql('CREATE EXTENSION tde_column', 'b');
foreach my $db ('postgres', 'b')
{
  sql("CREATE TABLE t (id int, a encrypted_text); INSERT INTO t SELECT i, 'value ' || i FROM generate_series(1, 20) i", $db);
}
sql('CREATE DATABASE closed TEMPLATE b ALLOW_CONNECTIONS false');

# What an interrupted DROP DATABASE leaves: nobody can connect to it, and it needs nothing.
sql("CREATE DATABASE half TEMPLATE b");
sql("UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'half'");

# The view.

my $first = current();
like($first, qr/^[-0-9a-f]{36}$/, 'one current key');
is(sql('SELECT current_master_key FROM tde.wallet'), $first, 'the same as in tde.wallet');
is(sql("SELECT created BETWEEN now() - interval '10 minutes' AND now() FROM tde.master_keys"), 't', 'made just now');
sql('CREATE ROLE watcher LOGIN IN ROLE pg_monitor; CREATE ROLE nobody LOGIN');
is(lines_of($node, 'SET ROLE watcher; SELECT count(*) FROM tde.master_keys'), '1', 'pg_monitor may read it');
fails_with($node, 'SET ROLE nobody; SELECT * FROM tde.master_keys', { state => '42501' }, 'others may not');
fails_with($node, "SET ROLE watcher; SELECT tde_purge_master_key('$first')", { state => '42501' }, 'pg_monitor may not purge');

# What is never purged.

my $gone = sql("SELECT tde_create_key('gone')");
sql(q{SELECT tde_destroy_key('gone', 'destroy gone')});
my $second   = rotate();
my $prepared = sql('SELECT tde_prepare_master_key()');
sql("SELECT tde_create_key('own', erasable => true)");
my $erasable = sql("SELECT id FROM tde.master_keys WHERE state = 'erasable'");
is(
  sql('SELECT id, state FROM tde.master_keys'),
  "$first|retired\n$second|current\n$prepared|prepared\n$erasable|erasable",
  'the four states, in the order of their creation');
foreach my $state (
  [ $second,   'current',  qr/tde_rotate_master_key\(\) retires/ ],
  [ $prepared, 'prepared', qr/^Only retired/ ])
{
  fails_with(
    $node,
    "SELECT tde_purge_master_key('$state->[0]')",
    { state => '55000', message => qr/^cannot purge master key $state->[0]$/, detail => qr/^It is $state->[1]\.$/, hint => $state->[2] },
    "the $state->[1] key");
}
fails_with(
  $node,
  "SELECT tde_purge_master_key('00000000-0000-0000-0000-000000000001')",
  { state => '42704', message => qr/^master key 0{8}-.* is not in the wallet$/, hint => qr/tde\.master_keys/ },
  'an unknown key');
fails_with($node, "BEGIN READ ONLY; SELECT tde_purge_master_key('$first')", { state => '25006' }, 'in a read-only transaction');
fails_with(
  $node,
  "BEGIN; SELECT tde_rotate_key(); SELECT tde_purge_master_key('$first')",
  { state => '25001', hint => qr/^Commit/ },
  'in a transaction that has changed data keys');

# What is needed.  Rows of destroyed keys do not count, the one of "gone" stays under the first master key.

refused(purge($first), qq{database "b": 3 data keys\ndatabase "closed": 3 data keys}, 'two databases need it');
is(sql("SELECT count(*) FROM tde.data_keys WHERE master_key = '$first'"), '1', 'a destroyed data key has it in its row');
sql('ALTER DATABASE closed ALLOW_CONNECTIONS true');
rotate('closed');
sql('ALTER DATABASE closed ALLOW_CONNECTIONS false');
refused(purge($first), 'database "b": 3 data keys', 'one database needs it');

# An erasable key is needed as long as it has a row that is not destroyed.

my $in_use = 'tde_destroy_key() removes it, and makes all values under these data keys unreadable.';
refused(purge($erasable), 'database "postgres": 1 data key', 'the entry of an erasable key', $in_use);
sql("CREATE TABLE precious (a encrypted_text('key=own')); INSERT INTO precious VALUES ('kept'); SELECT tde_rotate_key('own')");
refused(purge($erasable), 'database "postgres": 2 data keys', 'the entry of an erasable key with two versions', $in_use);
is(sql('SELECT a FROM precious'), 'kept', 'what is encrypted under it can be read');

# A rotation that has not committed hides the rows that it would give back.

my $other = session($node, db => 'b');
session_try($other, 'BEGIN; SELECT tde_rotate_master_key()');
my $end = purge_behind($first, $worker_waits);
session_try($other, 'ROLLBACK');
refused($end->(), 'database "b": 3 data keys', 'a rotation that rolls back meanwhile');
is(sql('SELECT max(a::text) FROM t', 'b'), 'value 9', 'its values can be read');

session_try($other, 'BEGIN; SELECT tde_rotate_master_key()');
$end = purge_behind($first, $worker_waits);
session_try($other, 'COMMIT');
$result = $end->();
is($result->{state}, '', 'a rotation that commits meanwhile') or diag($result->{err});
like(
  $result->{err},
  qr/NOTICE: .*master key $first removed from the wallet\nDETAIL: .*Backups and standbys .*\nHINT: .*"\Q$path\E\.previous" is one/,
  'the notice');
is(master_state($first), '', 'the key is gone');
fails_with($node, "SELECT tde_purge_master_key('$first')", { state => '42704' }, 'once more');

# Rotations were committed with synchronous_commit = off, and nothing but the purge has seen to it that they are on disk.

my $crashing = current();
my $flusher  = sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
sql('ALTER DATABASE closed ALLOW_CONNECTIONS true');
kill 'STOP', $flusher;
rotate($_) foreach 'postgres', 'b', 'closed';
purge($crashing);
is(master_state($crashing), '', 'purged after rotations that nobody has flushed');
$other->quit;
$node->stop('immediate');
$node->start;
is(sql('SELECT count(a::text) FROM t', $_), '20', "$_ can be read after a crash") foreach 'postgres', 'b', 'closed';
sql("DROP DATABASE $_") foreach 'closed', 'half';

# The previous copy of the wallet has it still.

set_conf($node, 'tde_column.wallet_file' => "$path.previous");
sql("SELECT tde_wallet_open('purge-passphrase')");
is(master_state($crashing), 'retired', 'the previous copy of the wallet holds the key');
set_conf($node, 'tde_column.wallet_file' => $path);
sql("SELECT tde_wallet_open('purge-passphrase', confirm => 'forget 1 master key')");
is(master_state($crashing), '', 'and the wallet does not');

# CREATE EXTENSION that has not committed: its keys are in a table that nobody sees.

sql('CREATE DATABASE c');
my $hidden  = current();
my $creator = session($node, db => 'c');
session_try($creator, 'BEGIN; CREATE EXTENSION tde_column');
rotate($_) foreach 'postgres', 'b';
$end = purge_behind($hidden, $worker_waits);
session_try($creator, 'COMMIT');
refused($end->(), 'database "c": 3 data keys', 'an extension that is being created');

# DROP EXTENSION that rolls back; and one that commits.

session_try($creator, 'BEGIN; DROP EXTENSION tde_column');
$end = purge_behind($hidden, $worker_waits);
session_try($creator, 'ROLLBACK');
refused($end->(), 'database "c": 3 data keys', 'an extension that is not dropped');
session_try($creator, 'BEGIN; DROP EXTENSION tde_column');
$end = purge_behind($hidden, $worker_waits);
session_try($creator, 'COMMIT');
is($end->()->{state},    '', 'an extension that is dropped');
is(master_state($hidden), '', 'its keys need no master key');
$creator->quit;
sql('DROP DATABASE c');

# A database that is copied after the databases were listed, and whose template is gone before it is looked at.

sql('CREATE DATABASE aaa');
sql('CREATE EXTENSION tde_column', 'aaa');
my $copied = current();
rotate('postgres');
my $slow = session($node, db => 'aaa');
session_try($slow, 'BEGIN; LOCK TABLE tde.data_keys IN ROW EXCLUSIVE MODE');
$end = purge_behind($copied, $worker_waits);
sql('CREATE DATABASE copy_of_b TEMPLATE b');
sql('DROP DATABASE b');
session_try($slow, 'COMMIT');
refused($end->(), qq{database "aaa": 3 data keys\ndatabase "copy_of_b": 3 data keys}, 'a database that is made meanwhile');
rotate($_) foreach 'aaa', 'copy_of_b';

# Instead of rotating it in each database: wrap them all by the current one.

rotate('postgres');
my $all = 'SELECT * FROM tde_rewrap_all_databases()';
session_try($slow, 'BEGIN; LOCK TABLE tde.data_keys IN ROW EXCLUSIVE MODE');
sql("ALTER DATABASE aaa SET lock_timeout = '100ms'");
$result = attempt($node, $all);
is($result->{out}, "aaa|\ncopy_of_b|3\npostgres|0", 'where they cannot be wrapped, and how many were not');
like($result->{err}, qr/WARNING:  55000: could not wrap the data keys of database "aaa"\nHINT:  The server log says why\.$/m, '... is said');
session_try($slow, 'COMMIT');
sql('ALTER DATABASE aaa RESET lock_timeout');
is(sql($all), "aaa|3\ncopy_of_b|0\npostgres|0", 'once more');
is(sql("SELECT count(*) FROM tde.keys WHERE state <> 'destroyed' AND master_key <> (SELECT current_master_key FROM tde.wallet)", $_), $_ eq 'postgres' ? '2' : '0',
  "... all of $_, but for the erasable key, which has a master key of its own") foreach 'aaa', 'copy_of_b', 'postgres';
is(sql('SELECT count(a::text) FROM t', 'copy_of_b'), '20', 'values can be read');
fails_with($node, "BEGIN; SELECT tde_rotate_master_key(); $all", { state => '25001', hint => qr/^Commit/ }, 'in a transaction that has changed data keys');
fails_with($node, "SELECT tde_wallet_close(); $all", { state => 'TDE01' }, 'with the wallet closed');
sql("SELECT tde_wallet_open('purge-passphrase')");

# Two purges of the same key; canceling; a wallet that changes; no worker.

session_try($slow, 'BEGIN; LOCK TABLE tde.data_keys IN ROW EXCLUSIVE MODE');
$end = purge_behind($copied, $worker_waits);
my $next = purge_behind($copied, "pg_locks WHERE locktype = 'object' AND classid = 'pg_extension'::regclass AND NOT granted");
session_try($slow, 'COMMIT');
is($end->()->{state},  '',      'of two purges at once, one');
is($next->()->{state}, '42704', 'finds the key');

my $old = rotate('postgres');
rotate('postgres');
session_try($slow, 'BEGIN; LOCK TABLE tde.data_keys IN ROW EXCLUSIVE MODE');
$end = purge_behind($old, $worker_waits);
sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT tde_purge%' AND backend_type = 'client backend'");
is($end->()->{state}, '57014', 'a purge can be canceled');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'tde_column data keys'"),
  'its worker ends with it');
is(master_state($old), 'retired', 'the key is there');

$end = purge_behind($old, $worker_waits);
sql('SELECT tde_prepare_master_key()');
session_try($slow, 'COMMIT');
$result = $end->();
is($result->{state}, '55006', 'a purge while the wallet changes') or diag($result->{err});
is($result->{hint}, 'Try again.', 'has to be repeated');
is(master_state($old), 'retired', 'the key is there');
$slow->quit;

# A statement that has read the key table before the rotation, and goes on after the purge.

my $stale  = sql('SELECT DISTINCT master_key FROM tde.data_keys WHERE slot = 0');
my $gate   = session($node);
my $reader = session($node);
session_try($gate, 'SELECT pg_advisory_lock(15)');
session_try($reader, 'SELECT max(a) FROM t');
$reader->query_until(qr/asked/, "\\echo asked\nSELECT count(a::text), count(pg_advisory_xact_lock_shared(id)) FROM t;\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") or die;
rotate($_) foreach 'postgres', 'copy_of_b', 'aaa';
is(purge($stale)->{state}, '', 'purged while a statement runs that has read the old rows of the key table');
session_try($gate, 'SELECT pg_advisory_unlock(15)');
$result = session_try($reader, 'SELECT 1');
is($result->{state}, '', 'that statement goes on') or diag($result->{err});
like($result->{out}, qr/^20\|20$/m, 'and reads all');
$reader->quit;
$gate->quit;

# An erasable key that was not made: its wallet entry stays, and can be purged when nobody is making it any more.  What holds
# up both is a lock on the table of data keys.

sub erasable { return sql("SELECT string_agg(id::text, ' ') FROM tde.master_keys WHERE state = 'erasable' AND id <> '$erasable'"); }
my $blocker = session($node);
my $maker   = session($node);
session_try($blocker, 'BEGIN; LOCK TABLE tde.data_keys IN SHARE ROW EXCLUSIVE MODE');
$maker->query_until(qr/asked/, "\\echo asked\nSELECT tde_create_key('unmade', erasable => true);\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE relation = 'tde.data_keys'::regclass AND NOT granted") or die;
my $left = erasable();
like($left, qr/^[-0-9a-f]{36}$/, 'the wallet entry is there before the key');
$end = purge_behind($left, "pg_locks WHERE locktype = 'object' AND classid = 'pg_extension'::regclass AND NOT granted");
sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT tde_create_key%' AND backend_type = 'client backend'");
$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM $worker_waits") or die 'the purge does not go on';
is(session_try($maker, 'SELECT 1')->{state}, '57014', 'the making was canceled');
fails_with(
  $node,
  "SELECT tde_create_key('unmade', erasable => true)",
  { state => '55006', message => qr/^cannot make an erasable key while a master key is being purged$/, hint => qr/^Try again later/ },
  'no erasable key is made during a purge');
is(erasable(), $left, 'that leaves no wallet entry');
session_try($blocker, 'ROLLBACK');
$result = $end->();
is($result->{state}, '', 'an entry without a key is purged') or diag($result->{err});
like($result->{err}, qr/DETAIL: .*Backups of a database that was dropped/, 'with a notice');
is(erasable(), '', 'it is gone');
sql("SELECT tde_create_key('unmade', erasable => true)");
refused(purge(erasable()), 'database "postgres": 1 data key', 'a key made later, of the same name', $in_use);

# One of a database that was dropped, and one whose key was destroyed, with an older copy of the wallet in place.

sql('CREATE DATABASE gone TEMPLATE copy_of_b');
sql("SELECT tde_create_key('lost', erasable => true)", 'gone');
my ($lost) = grep { sql("SELECT count(*) FROM tde.data_keys WHERE master_key = '$_'") eq '0' } split / /, erasable();
refused(purge($lost), 'database "gone": 1 data key', 'the entry of a key of another database', $in_use);
sql('DROP DATABASE gone');
is(purge($lost)->{state}, '', 'its entry is purged when the database was dropped');
my $destroyed = erasable();
my $copy      = read_bytes($path);
sql(q{SELECT tde_destroy_key('unmade', 'destroy unmade')});
is(erasable(), '', 'tde_destroy_key() removes the entry itself');
write_bytes($path, $copy);
sql("SELECT tde_wallet_open('purge-passphrase')");
is(erasable(), $destroyed, 'an older copy of the wallet has it still');
is(purge($destroyed)->{state}, '', 'there it is purged');
is(sql('SELECT a FROM precious'), 'kept', 'the other erasable key is as it was');
$_->quit foreach $blocker, $maker;

# The role that may, and nothing is lost.

sql('CREATE ROLE keeper LOGIN; GRANT EXECUTE ON FUNCTION tde_purge_master_key(uuid) TO keeper');
$old = sql("SELECT id FROM tde.master_keys WHERE state = 'retired' ORDER BY created LIMIT 1");
is(attempt($node, "SELECT tde_purge_master_key('$old')", user => 'keeper')->{state}, '', 'a role with the privilege may purge');
my $keys = sql('SELECT id, state, created FROM tde.master_keys');

$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->restart;
is(sql('SELECT id, state, created FROM tde.master_keys'), $keys, 'after a restart the wallet holds the same keys');
is(sql('SELECT count(a::text) FROM t', $_), '20', "$_ can be read") foreach 'postgres', 'copy_of_b';
$old = sql("SELECT id FROM tde.master_keys WHERE state = 'retired' ORDER BY created LIMIT 1");
fails_with(
  $node,
  "SELECT tde_purge_master_key('$old')",
  { state => '53400', message => qr/^no background worker is free/, hint => qr/max_worker_processes/ },
  'without background workers');

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
fails_with(
  $node,
  "SELECT tde_purge_master_key('$old')",
  { state => '55000', message => qr/without shared_preload_libraries/, hint => qr/^Add tde_column/ },
  'not preloaded');
is(sql('SELECT id, state, created FROM tde.master_keys'), $keys, 'the view works there');
$node->stop;

done_testing();
