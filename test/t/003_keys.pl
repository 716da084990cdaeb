# Data keys are made outside of transactions: neither a rollback nor a crash takes one away under which something may be
# encrypted.  Then: one key for each slot, other databases, and rows of tde.data_keys that somebody changed.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('keys', extension => 1, conf => "max_prepared_transactions = 5\nrestart_after_crash = on\n");

sub open_wallet { return lines_of($_[0], "SELECT tde_wallet_open('keys-passphrase')"); }

sub rows_of_slot
{
  my ($key, %opts) = @_;
  my $name = $key ? "= 'k$key'" : 'IS NULL';
  return lines_of($node, "SELECT count(*) FROM tde.data_keys WHERE name $name AND kind = 'm'", %opts);
}

sub column { return "encrypted_text(aes256,salt,mac,'key=k$_[0]')"; }

$node->start;
lines_of($node, "SELECT tde_wallet_create('keys-passphrase')");

# A table whose column stayed bare keeps every value under the key that it came with.  With it, values under a new key get
# into the pages of an index that everybody reads.  (The trigger would give the column a specification.)
lines_of(
  $node, q{
CREATE TABLE seed (a encrypted_text);
INSERT INTO seed SELECT 'm-' || lpad(i::text, 4, '0') FROM generate_series(0, 400, 4) i;
ALTER EVENT TRIGGER tde_column_ddl DISABLE;
CREATE TABLE bare AS SELECT ''::text::encrypted_text AS v WHERE false;
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
INSERT INTO bare SELECT a FROM seed;
CREATE UNIQUE INDEX ON bare (v);
});
is(lines_of($node, "SELECT atttypmod FROM pg_attribute WHERE attrelid = 'bare'::regclass AND attname = 'v'"),
  '-1', 'the column is bare');

my $by_index = "SET enable_seqscan = off; SET enable_bitmapscan = off;";
my $range    = "SELECT count(*), min(v::text), max(v::text) FROM (SELECT v FROM bare WHERE v <= 'm-9'::text ORDER BY v) s";
like(lines_of($node, "$by_index EXPLAIN $range"), qr/Index (Only )?Scan using bare_v_idx/, 'it is read through the index');
my $all = '101|m-0000|m-0400';
is(lines_of($node, "$by_index $range"), $all, 'all values are there');

# Read and write beside values under a key whose maker has not committed, or has rolled back.  The value to insert must be
# free, and lies beside such a value in the index.
sub use_index
{
  my ($session, $value, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  my $result = session_try($session, "$by_index $range");
  is($result->{state}, '', "$name: reading the index") or diag($result->{err});
  $result = session_try($session, "BEGIN; INSERT INTO bare VALUES ('$value'); ROLLBACK;");
  is($result->{state}, '', "$name: writing into it") or diag($result->{err});
  $result = session_try($session, "INSERT INTO bare SELECT v FROM bare WHERE v = 'm-0004'::text");
  is($result->{state}, '23505', "$name: its unique check") or diag($result->{err});
  return;
}

sub is_usable
{
  my ($slot, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  is(rows_of_slot($slot),                 '1',  "$name: the key is there");
  is(lines_of($node, "$by_index $range"), $all, "$name: no value came or went");
  is(
    lines_of(
      $node,
      'CREATE TABLE u_'
        . $slot . ' (a '
        . column($slot)
        . "); INSERT INTO u_$slot VALUES ('x') RETURNING a; DROP TABLE u_$slot"
    ),
    'x',
    "$name: the key can be used");
  is(rows_of_slot($slot), '1', "$name: it is still the only one");
  return;
}

# A value under the slot's key beside every value of the table.
sub fill
{
  my ($slot, $table) = @_;
  return "INSERT INTO $table SELECT 'm-' || lpad((i + 2)::text, 4, '0') FROM generate_series(0, 400, 4) i;"
    . " INSERT INTO bare SELECT a FROM $table;";
}

my $maker  = session($node);
my $reader = session($node);
my $result;

# Make the reader remember the keys that there were.
use_index($reader, 'm-0001', 'before');

$result = session_try($maker, 'BEGIN; CREATE TABLE newer (a ' . column(7) . '); ' . fill(7, 'newer'));
is($result->{state}, '',  'a transaction makes a key and values under it') or diag($result->{err});
is(rows_of_slot(7),  '1', 'the key is there before it commits');
use_index($reader, 'm-0005', 'before the rollback');
session_try($maker, 'ROLLBACK');
use_index($reader, 'm-0005', 'after the rollback');
use_index($maker,  'm-0005', 'after the rollback, where the key was made');
is_usable(7, 'rolled back');

# Its index entries are there still: nothing has vacuumed the table.
lines_of($node, 'CREATE EXTENSION pageinspect');
cmp_ok(
  lines_of(
    $node,
    "SELECT sum(live_items + dead_items) FROM generate_series(1, pg_relation_size('bare_v_idx') / current_setting('block_size')::int - 1) b, LATERAL bt_page_stats('bare_v_idx', b::int)"
  ),
  '>', 200,
  'the index still has entries under that key');

# ALTER TABLE, in a subtransaction.

session_try($maker, 'CREATE TABLE altered (id int)');
$result = session_try($maker,
      'BEGIN; SAVEPOINT s; ALTER TABLE altered ADD COLUMN a '
    . column(8) . '; '
    . "INSERT INTO altered (a) SELECT 'm-' || lpad((i + 1)::text, 4, '0') FROM generate_series(0, 400, 4) i; "
    . 'INSERT INTO bare SELECT a FROM altered; ROLLBACK TO s');
is($result->{state}, '', 'a subtransaction that rolls back makes a key') or diag($result->{err});
$result = session_try($maker, "$by_index $range");
is($result->{out}, $all, 'the transaction goes on') or diag($result->{err});
use_index($reader, 'm-0003', 'after the rollback to a savepoint');
session_try($maker, 'COMMIT');
use_index($reader, 'm-0003', 'and after the commit');
is_usable(8, 'rolled back to a savepoint');

# A block with EXCEPTION; a variable brings a value out of it.

$result = session_try(
  $maker, q{
DO $block$
DECLARE
  value encrypted_text;
BEGIN
  BEGIN
    CREATE TABLE inner_table (a } . column(9) . q{);
    INSERT INTO inner_table VALUES ('from inside');
    SELECT a INTO value FROM inner_table;
    INSERT INTO bare VALUES (value);
    RAISE EXCEPTION 'undone';
  EXCEPTION WHEN raise_exception THEN
    NULL;
  END;
  CREATE TABLE rescued (a encrypted_text);
  INSERT INTO rescued VALUES (value);
  RAISE NOTICE 'rescued: %', value::text;
END
$block$});
is($result->{state}, '', 'a block that rolls back makes a key') or diag($result->{err});
like($result->{err}, qr/rescued: from inside/, 'a variable with a value under it outlives the block');
is(lines_of($node, 'SELECT a FROM rescued'), 'from inside', 'and the value can be stored');
use_index($reader, 'm-0003', 'after the block');
is_usable(9, 'rolled back by an exception handler');

# A transaction whose snapshot is older than the key.

$result = session_try($reader, "BEGIN ISOLATION LEVEL REPEATABLE READ; $range;");
is($result->{state}, '', 'an old snapshot');
lines_of($node,
      'CREATE TABLE later (a '
    . column(10)
    . ' UNIQUE); '
    . "INSERT INTO later VALUES ('later 1'); "
    . "INSERT INTO bare SELECT a FROM later");
is(session_try($reader, "INSERT INTO later VALUES ('later 2') RETURNING a")->{out},
  'later 2', 'it writes under a key that is newer than itself');
is(session_try($reader, 'SELECT a FROM later')->{out}, 'later 2', 'and reads what it has written, not what it must not see');
is(session_try($reader, "$by_index $range")->{out},    $all,      'it reads the index');
is(session_try($reader, "INSERT INTO later VALUES ('later 1')")->{state}, '23505', 'its unique check sees the newer value');
session_try($reader, 'ROLLBACK');
lines_of($node, "DELETE FROM bare WHERE v = 'later 1'::text");

# Two-phase commit.

# A new key is there for ever, whatever becomes of the transaction.
my $in_two = 'BEGIN; CREATE TABLE prepared (a ' . column(11) . "); INSERT INTO prepared VALUES ('in two phases'); CREATE TABLE other (a " . column(30) . "); PREPARE TRANSACTION 'with keys'";
$result = session_try($maker, $in_two);
is($result->{state}, '', 'a transaction that has made keys can be prepared') or diag($result->{err});
is_usable(11, 'prepared');
is(session_try($reader, "CREATE TABLE beside (a encrypted_text('key=k30')); INSERT INTO beside VALUES ('beside'); SELECT a FROM beside")->{out}, 'beside',
  'others use its keys');
$node->stop('immediate');
$node->start;
lines_of($node, "SELECT tde_wallet_open('keys-passphrase')");
lines_of($node, "COMMIT PREPARED 'with keys'");
is(lines_of($node, 'SELECT a FROM prepared; SELECT a FROM beside'), "in two phases\nbeside", 'a crash and the commit leave all readable');
eval { $_->quit } foreach $maker, $reader;
$_ = session($node) foreach $maker, $reader;
session_try($maker, 'DROP TABLE prepared, other, beside');
$result = session_try($maker, $in_two =~ s/key=k30/key=k31/r);
is($result->{state}, '', 'another one') or diag($result->{err});
lines_of($node, "ROLLBACK PREPARED 'with keys'");
is(lines_of($node, "CREATE TABLE beside (a encrypted_text('key=k31')); INSERT INTO beside VALUES ('beside') RETURNING a"), 'beside', 'rolled back, its key is there');

# Eight sessions declare the same slot.  A lock makes all of them look for the key before the first one makes it.

my $gate   = session($node);
my $script = PostgreSQL::Test::Utils::tempdir . '/declare.sql';

write_bytes($script,
  'CREATE TABLE declared_:client_id (a ' . column(12) . ");\nINSERT INTO declared_:client_id VALUES ('one of eight');\n");
session_try($gate, 'BEGIN; LOCK TABLE tde.data_keys IN SHARE MODE');
my ($bench_out, $bench_err) = ('', '');
my $bench = IPC::Run::start(
  [ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 1, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ],
  '>', \$bench_out, '2>', \$bench_err);
$node->poll_query_until('postgres',
  "SELECT count(*) = 8 FROM pg_locks WHERE relation = 'tde.data_keys'::regclass AND NOT granted")
  or die 'eight sessions do not wait';
session_try($gate, 'COMMIT');
$bench->finish;
like($bench_out, qr{transactions actually processed: 8/8}, 'eight sessions declare the same slot at once') or diag($bench_err);
is(rows_of_slot(12), '1', 'and have one key');
is(lines_of($node, join ' UNION ', map { "SELECT a::text FROM declared_$_" } 0 .. 7), 'one of eight', 'which all of them use');
is(lines_of($node, 'SELECT count(*) FROM (SELECT FROM tde.data_keys GROUP BY slot, kind, version HAVING count(*) > 1) d'),
  '0', 'no slot has a version twice');

# Crash right after a key was made, in a transaction that never ends.

$result = session_try($maker, 'BEGIN; CREATE TABLE crashed (a ' . column(13) . '); ' . fill(13, 'crashed'));
is($result->{state}, '', 'an open transaction makes a key and values under it') or diag($result->{err});
my $keys = lines_of($node, 'SELECT * FROM tde.data_keys ORDER BY id');
lines_of($node, 'CHECKPOINT');
session_try($maker, 'CREATE TABLE crashed_too (a ' . column(14) . ')');
is(rows_of_slot(14), '1', 'and one more after a checkpoint');
$node->stop('immediate');
eval { $_->quit } foreach $maker, $reader, $gate;
$node->start;
is(lines_of($node, 'SELECT * FROM tde.data_keys WHERE name IS DISTINCT FROM \'k14\' ORDER BY id'), $keys, 'after the crash all rows are there');
open_wallet($node);
is_usable(13, 'after a crash');
is_usable(14, 'made after the checkpoint');
$reader = session($node);
use_index($reader, 'm-0003', 'after the crash');
is(
  lines_of(
    $node,
    "SELECT count(*) FROM tde.data_keys k WHERE NOT EXISTS (SELECT FROM tde.data_keys i WHERE i.id = k.id AND i.uuid = k.uuid)"
  ),
  '0',
  'rows and indexes agree');
lines_of($node, 'CREATE EXTENSION amcheck');
is(lines_of($node, "SELECT count(bt_index_check(indexrelid, true)) FROM pg_index WHERE indrelid = 'tde.data_keys'::regclass"),
  '4', "the indexes of tde.data_keys are sound");

# Other databases.

lines_of($node, 'CREATE DATABASE second');
lines_of(
  $node, q{
CREATE EXTENSION tde_column;
CREATE TABLE t (a encrypted_text UNIQUE);
INSERT INTO t VALUES ('in the second');
}, db => 'second');
is(lines_of($node, 'SELECT a FROM t', db => 'second'), 'in the second', 'a second database works at once: the wallet is open');
my %uuids = map { $_ => lines_of($node, 'SELECT uuid FROM tde.data_keys ORDER BY 1', db => $_) } qw(postgres second);
my %seen  = map { $_ => 1 } split /\n/, $uuids{postgres};
is(scalar(grep { $seen{$_} } split /\n/, $uuids{second}), 0, 'it has keys of its own');
isnt(
  lines_of($node, 'SELECT DISTINCT database FROM tde.data_keys', db => 'second'),
  lines_of($node, 'SELECT DISTINCT database FROM tde.data_keys'),
  'which name another database');

foreach my $strategy (qw(wal_log file_copy))
{
  lines_of($node, "CREATE DATABASE copy_$strategy TEMPLATE second STRATEGY $strategy");
  is(
    lines_of($node, "SET enable_seqscan = off; SELECT a FROM t WHERE a >= ''::text", db => "copy_$strategy"),
    'in the second',
    "a database copied by $strategy can be read");
  is(lines_of($node, 'CREATE TABLE n (a ' . column(3) . "); INSERT INTO n VALUES ('new') RETURNING a", db => "copy_$strategy"),
    'new', 'and makes keys');
}
isnt(
  lines_of($node, 'SELECT uuid FROM tde.data_keys WHERE name = \'k3\'', db => 'copy_wal_log'),
  lines_of($node, 'SELECT uuid FROM tde.data_keys WHERE name = \'k3\'', db => 'copy_file_copy'),
  'of its own from then on');

# DROP EXTENSION and CREATE EXTENSION, in one session.

my $second = session($node, db => 'second');
is(session_try($second, 'SELECT a FROM t')->{out}, 'in the second', 'a session that has read values');
session_try($second, 'SET client_min_messages = warning; DROP EXTENSION tde_column CASCADE');
is(session_try($second, "CREATE EXTENSION tde_column")->{state}, '', 'the extension anew');
$result = session_try($second,
  "CREATE TABLE again (a encrypted_text, n encrypted_int4); INSERT INTO again VALUES ('again', 5) RETURNING a, n");
is($result->{out}, 'again|5', 'works in the same session') or diag($result->{err});
%seen = map { $_ => 1 } split /\n/, $uuids{second};
is(scalar(grep { $seen{$_} } split /\n/, lines_of($node, 'SELECT uuid FROM tde.data_keys', db => 'second')), 0,
  'with new keys');
session_try($second,
      'BEGIN; DROP EXTENSION tde_column CASCADE; CREATE EXTENSION tde_column; CREATE TABLE gone (a encrypted_text); '
    . "INSERT INTO gone VALUES ('x'); ROLLBACK");
$result = session_try($second, 'SELECT a, n FROM again');
is($result->{out}, 'again|5', 'the same rolled back leaves everything as it was') or diag($result->{err});
$second->quit;

# CREATE EXTENSION, then a crash.  With wal_level = minimal, as here, a table made in the same transaction is not logged.

is(lines_of($node, 'SHOW wal_level'), 'minimal', 'wal_level');
lines_of($node, 'CREATE DATABASE third');
lines_of($node, "CREATE EXTENSION tde_column; CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('third')",
  db => 'third');
$keys = lines_of($node, 'SELECT * FROM tde.data_keys ORDER BY id', db => 'third');
$node->stop('immediate');
eval { $reader->quit };
$node->start;
is(lines_of($node, 'SELECT * FROM tde.data_keys ORDER BY id', db => 'third'),
  $keys, 'keys outlive a crash right after CREATE EXTENSION');
open_wallet($node);
is(lines_of($node, 'SELECT a FROM t', db => 'third'), 'third', 'and so do values');

# Rows that somebody changed.  Each session reads the table anew.

lines_of($node, 'CREATE TABLE tampered (a ' . column(15) . "); INSERT INTO tampered VALUES ('untouched')");
lines_of($node, 'CREATE TABLE saved AS SELECT * FROM tde.data_keys WHERE name = \'k15\'');
my $id      = lines_of($node, 'SELECT id FROM saved');
my $unwrap  = qr/^could not unwrap data key $id$/;
my @changes = (
  [ "slot = slot + 100",                                                    $unwrap ],
  [ "slot = -1, kind = 'c', version = 99",                          $unwrap ],
  [ 'version = 2',                                                  $unwrap ],
  [ "created = created + interval '1 second'",                      $unwrap ],
  [ "uuid = gen_random_uuid()",                                     $unwrap ],
  [ "database = gen_random_uuid()",                                 $unwrap ],
  [ "state = 'r'",                                                  $unwrap ],
  [ "erasable = true",                                              $unwrap ],
  [ "name = 'another'",                                             $unwrap ],
  [ "kind = 'c'",                                                   $unwrap ],
  [ "kind = 'n'",                                                   qr/^could not authenticate encrypted value$/ ],
  [ "kind = 'h'",                                                   qr/^could not authenticate encrypted value$/ ],
  [ "wrapped = set_byte(wrapped, 0, get_byte(wrapped, 0) # 1)",     $unwrap ],
  [ "wrapped = set_byte(wrapped, 60, get_byte(wrapped, 60) # 128)", $unwrap ],
  [ "wrapped = set_byte(wrapped, length(wrapped) - 1, get_byte(wrapped, length(wrapped) - 1) # 16)", $unwrap ],
  [ "wrapped = substr(wrapped, 1, length(wrapped) - 8)",                                             $unwrap ],
  [ "wrapped = ''",                                                                                  $unwrap ],
  [ "wrapped = (SELECT wrapped FROM tde.data_keys WHERE slot = 0)",                                  $unwrap ],
  [
    "check_value = set_byte(check_value, 3, get_byte(check_value, 3) # 4)",
    qr/^check value of data key $id does not fit the key$/
  ]);

foreach my $change (@changes)
{
  my ($set, $message) = @$change;
  edit_keys($node, "UPDATE tde.data_keys SET $set WHERE id = $id");
  fails_with($node, 'SELECT a FROM tampered', { state => 'TDE04', message => $message }, "SET $set");
  edit_keys($node, "DELETE FROM tde.data_keys WHERE id = $id; INSERT INTO tde.data_keys SELECT * FROM saved");
  is(lines_of($node, 'SELECT a FROM tampered'), 'untouched', 'the row put back, the value can be read');
}

# Relabelled for values without MAC, a key must not encrypt one either.
edit_keys($node, "UPDATE tde.data_keys SET kind = 'n' WHERE id = $id");
fails_with(
  $node,
  "CREATE TABLE downgraded (a encrypted_text(aes256,salt,nomac,'key=k15')); INSERT INTO downgraded VALUES ('x')",
  {
    state   => 'TDE04',
    message => $unwrap,
    detail  => qr/^Its row in tde.data_keys was changed or damaged\.$/,
    hint    => qr/^Restore the row/
  },
  'a key relabelled as one for values without MAC');
edit_keys($node, "DELETE FROM tde.data_keys WHERE id = $id; INSERT INTO tde.data_keys SELECT * FROM saved");

my $nowhere = lines_of($node, 'SELECT gen_random_uuid()');
edit_keys($node, "UPDATE tde.data_keys SET master_key = '$nowhere' WHERE id = $id");
fails_with(
  $node,
  'SELECT a FROM tampered',
  { state => 'TDE03', message => qr/^master key \Q$nowhere\E is not in the wallet$/ },
  'another master key');
edit_keys($node, "DELETE FROM tde.data_keys WHERE id = $id");
fails_with(
  $node,
  'SELECT a FROM tampered',
  {
    state   => 'TDE03',
    message => qr/^data key $id does not exist in this database$/,
    detail  => qr/encrypted in another database, or its key was dropped/
  },
  'a key that is gone');
fails_with(
  $node,
  "INSERT INTO tampered VALUES ('x')",
  {
    state   => 'TDE03',
    message => qr/^the data key of slot \d+ is missing$/,
    detail  => qr/^Its rows in tde.data_keys are gone\.$/,
    hint    => qr/^Restore a backup that has them/
  },
  'writing without a key');
is(lines_of($node, 'SELECT a FROM rescued'), 'from inside', 'values under other keys can be read all the time');
edit_keys($node, 'INSERT INTO tde.data_keys SELECT * FROM saved');
is(lines_of($node, 'SELECT a FROM tampered'), 'untouched', 'the row put back, the value can be read');
$node->stop;

# SIGKILL between the wallet file and the first key.

$node = tde_node('killed', conf => "restart_after_crash = on\n");
$node->start;
lines_of($node, 'CREATE EXTENSION tde_column; CREATE TABLE t (a encrypted_text)');
$gate = session($node);
my $victim     = session($node);
my $victim_pid = $victim->query('SELECT pg_backend_pid()');

session_try($gate, 'BEGIN; LOCK TABLE tde.data_keys IN SHARE MODE');
$victim->query_until(qr/asking/, "\\echo asking\nSELECT tde_wallet_create('killed-passphrase');\n");
$node->poll_query_until('postgres',
  "SELECT count(*) = 1 FROM pg_locks WHERE relation = 'tde.data_keys'::regclass AND NOT granted AND pid = $victim_pid")
  or die 'tde_wallet_create() does not wait';
ok(-s wallet_path($node), 'the wallet is written');
is(lines_of($node, 'SELECT count(*) FROM tde.data_keys'), '0', 'and there is no key yet');
my $offset = log_offset($node);
kill 'KILL', $victim_pid;
$node->wait_for_log(qr/all server processes terminated; reinitializing/, $offset);
$node->poll_query_until('postgres', 'SELECT true') or die 'the server did not come back';
eval { $_->quit } foreach $gate, $victim;
unlike(log_since($node, $offset), qr/killed-passphrase/, 'the report of the crash does not quote the passphrase');
is(lines_of($node, 'SELECT count(*) FROM tde.data_keys'), '0',       'after the crash there is no key');
is(wallet_folder_files($node),                            'tde.p12', 'but the wallet, and no temporary file');
is(lines_of($node, 'SELECT status FROM tde.wallet'),      'CLOSED',  'closed');
fails_with($node, "SELECT tde_wallet_create('other-passphrase')", { state => '58P02' }, 'it cannot be made once more');
fails_with($node, "INSERT INTO t VALUES ('x')",        { state => 'TDE01' }, 'nor written without');
lines_of($node, "SELECT tde_wallet_open('killed-passphrase')");
is(lines_of($node, 'SELECT slot, kind FROM tde.data_keys ORDER BY slot'), "-2|h\n-1|c\n0|m", 'opening it makes the keys');
is(lines_of($node, "INSERT INTO t VALUES ('alive') RETURNING a"),         'alive',           'and everything works');

$node->stop;
done_testing();
