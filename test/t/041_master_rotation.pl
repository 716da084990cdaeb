# Rotation of the master key: several databases and sessions, rollback, standbys, a wallet file that is wrong, missing or cannot
# be written, the change of its passphrase, and a thousand data keys.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;
use Time::HiRes qw(time);

my $node = tde_node('master', extension => 1, conf => "tde_column.wallet_generations = 1\nwal_level = replica\nmax_wal_senders = 5\nmax_prepared_transactions = 5\n");
my $path = wallet_path($node);
my $rows = 50;
my $result;

sub sql { return lines_of($node, $_[0], db => $_[1] // 'postgres'); }

sub rotate { return sql('SELECT tde_rotate_master_key()', $_[0]); }

sub current { return sql("SELECT id FROM tde.master_keys WHERE state = 'current'"); }

sub masters { return sql('SELECT id, state FROM tde.master_keys'); }

sub wrapped_by { return sql('SELECT DISTINCT master_key FROM tde.data_keys', $_[0]); }

sub open_wallet { return sql("SELECT tde_wallet_open('master-passphrase')"); }

sub can_read
{
  my ($name, @databases) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  foreach my $db (@databases)
  {
    $result = attempt($node, "SELECT count(*) FROM t WHERE a::text = 'value ' || id", db => $db);
    is($result->{out}, $rows, "$name: all values of $db") or diag($result->{err});
  }
  return;
}

sub can_work
{
  my ($name, @databases) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  can_read($name, @databases);
  foreach my $db (@databases)
  {
    $result = attempt($node, "INSERT INTO t VALUES (0, 'new'); DELETE FROM t WHERE a = 'new'; SELECT tde_rotate_key() > 1", db => $db);
    is($result->{out}, 't', "$name: $db goes on, and makes keys") or diag($result->{err});
  }
  return;
}

# Run a statement in several sessions at once: lists of [database, sessions, times].  They begin together, when all are there.
sub at_once
{
  my ($statement, @where) = @_;
  my $script = PostgreSQL::Test::Utils::tempdir . '/at_once.sql';
  my ($all, $gate, $failed) = (0, session($node), '');
  my @runs;

  write_bytes($script, "SELECT pg_advisory_lock_shared(hashtext(current_database()));\n$statement;\n");
  $all += $_->[1] foreach @where;
  session_try($gate, 'SELECT 1');
  my @gates = map { session($node, db => $_->[0]) } @where;
  session_try($_, 'SELECT pg_advisory_lock(hashtext(current_database()))') foreach @gates;
  foreach (@where)
  {
    my ($db, $sessions, $times) = @$_;
    my $output = '';
    push @runs,
      [
      IPC::Run::start(
        [ 'pgbench', '-n', '-c', $sessions, '-j', $sessions, '-t', $times, '-f', $script, '-h', $node->host, '-p', $node->port, $db ],
        '>', \$output, '2>', \$output),
      \$output
      ];
  }
  $node->poll_query_until('postgres', "SELECT count(*) = $all FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    or die "$all sessions do not wait";
  $_->quit foreach @gates, $gate;
  foreach (@runs)
  {
    $_->[0]->finish or $failed .= ${ $_->[1] };
  }
  return $failed;
}

$node->start;
sql("SELECT tde_wallet_create('master-passphrase'); CREATE DATABASE second");
sql('CREATE EXTENSION tde_column', 'second');
sql("CREATE TABLE t (id int, a encrypted_text); INSERT INTO t SELECT i, 'value ' || i FROM generate_series(1, $rows) i", $_)
  foreach 'postgres', 'second';

# ---- a rotation in one database does not strand the others ----

my $first  = current();
my $cached = session($node, db => 'second');
session_try($cached, 'SELECT count(a::text) FROM t');
my $second = rotate();
is(masters(), "$first|retired\n$second|current", 'the old master key stays in the wallet');
is(wrapped_by('postgres'), $second, 'this database is under the new one');
is(wrapped_by('second'),   $first,  'the other one under the old one');
can_read('rotated', 'postgres', 'second');
is(session_try($cached, 'SELECT count(a::text) FROM t')->{out}, $rows, 'in a session that was there before, too');
$cached->quit;
sql('SELECT tde_wallet_close()');
is(attempt($node, 'SELECT a FROM t', db => 'second')->{state}, 'TDE01', 'closed');
open_wallet();
can_read('opened again', 'postgres', 'second');
$node->restart;
open_wallet();
can_work('after a restart', 'postgres', 'second');
is(sql("SELECT string_agg(version || ' ' || (master_key = '$second'), ', ' ORDER BY version) FROM tde.keys WHERE name = 'default'", 'second'),
  '1 false, 2 true', 'a new data key is wrapped by the current master key');

# ---- at once ----

sql("SELECT count(tde_create_key('many' || i)) FROM generate_series(1, 100) i", 'second');
my $before = sql('SELECT count(*) FROM tde.master_keys');
my $one    = 'SELECT 1 / (count(DISTINCT master_key) = 1)::int FROM tde.data_keys';
is(at_once("SELECT tde_rotate_master_key();\n$one", [ 'postgres', 2, 8 ], [ 'second', 2, 8 ]),
  '', 'two sessions each of two databases rotate at once, and always find all data keys under one');
is(sql('SELECT count(*) FROM tde.master_keys'), $before + 32, 'each has made its master keys');
is(sql("SELECT count(*) FROM tde.master_keys WHERE state = 'current'"), 1, 'one of which is the current one');
is(sql('SELECT count(*) FROM tde.data_keys WHERE master_key NOT IN (SELECT id FROM tde.master_keys)', $_), '0', 'which is in the wallet')
  foreach 'postgres', 'second';
can_work('rotated at once', 'postgres', 'second');
open_wallet();
can_read('and opened again', 'postgres', 'second');

# First keys: CREATE EXTENSION in two databases, then opening the wallet in databases that lack keys.

my @new = map { "new$_" } 1 .. 2;
sql("CREATE DATABASE $_") foreach @new;
is(at_once('CREATE EXTENSION tde_column', map { [ $_, 1, 1 ] } @new), '', 'CREATE EXTENSION in two databases at once');
is(sql("SELECT string_agg(slot || kind::text || version, ' ' ORDER BY slot) FROM tde.data_keys", $_), '-2h1 -1c1 0m1', "$_ has its keys")
  foreach @new;
sql('SELECT tde_wallet_close()');
foreach my $db (@new)
{
  sql('SET client_min_messages = error; DROP EXTENSION tde_column; CREATE EXTENSION tde_column', $db);
  is(sql('SELECT count(*) FROM tde.data_keys', $db), '0', 'closed: no keys');
}
is(at_once("SELECT tde_wallet_open('master-passphrase')", map { [ $_, 2, 1 ] } @new), '', 'the wallet is opened by four sessions at once');
is(sql("SELECT string_agg(slot || kind::text || version, ' ' ORDER BY slot) FROM tde.data_keys", $_), '-2h1 -1c1 0m1', "$_ has its keys once")
  foreach @new;
sql('CREATE DATABASE new3');
isnt(at_once('CREATE EXTENSION tde_column', [ 'new3', 2, 1 ]), '', 'CREATE EXTENSION by two sessions of one database: one fails');
is(sql("CREATE TABLE n (a encrypted_text); INSERT INTO n VALUES ('x') RETURNING a", 'new3'), 'x', 'and the other has made it');
is(sql('SELECT count(*) FROM tde.data_keys', 'new3'), '3', 'with its keys once');

# ---- rolled back ----

my $under = wrapped_by('postgres');
sql('BEGIN; SELECT tde_rotate_master_key(); SELECT count(a::text) FROM t; ROLLBACK');
is(wrapped_by('postgres'), $under, 'rolled back: the data keys are as they were');
isnt(current(), $under, 'the wallet has the new master key');
can_work('rolled back', 'postgres', 'second');
fails_with(
  $node,
  "BEGIN; SELECT tde_rotate_master_key(); PREPARE TRANSACTION 'rotation'",
  { state => '0A000', message => qr/has changed encryption keys/ },
  'PREPARE TRANSACTION');
is(wrapped_by('postgres') eq current() ? 1 : 0, 0, 'undoes it, too');

# ---- while others write ----

my $writer = session($node);
my $reader = session($node);
session_try($writer, "BEGIN; INSERT INTO t VALUES (-1, 'writer 1')");
session_try($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(a::text) FROM t');
my $rotator = session($node);
session_try($rotator, "SET lock_timeout = '3min'");
is(session_try($rotator, 'BEGIN; SELECT tde_rotate_master_key()')->{state}, '', 'a transaction that writes holds up no rotation');
is(session_try($writer, "INSERT INTO t VALUES (-1, 'writer 2')")->{state}, '', 'nor is it held up');
is(session_try($reader, 'SELECT count(a::text) FROM t')->{out}, $rows, 'nor one with an old snapshot');
is(session_try($writer, "SET lock_timeout = '100ms'; SAVEPOINT s; SELECT tde_create_key('late')")->{state}, '55P03', 'a new key has to wait');
session_try($writer, 'ROLLBACK TO s');
session_try($rotator, 'COMMIT');
is(session_try($writer, "SELECT tde_create_key('late') > 0; INSERT INTO t VALUES (-1, 'writer 3'); COMMIT")->{state}, '', 'for its end');
is(session_try($reader, 'SELECT count(a::text) FROM t; COMMIT')->{out}, $rows, 'the old snapshot again');
is(wrapped_by('postgres'), current(), 'all keys are under the new master key, the late one, too');
is(sql('WITH d AS (DELETE FROM t WHERE id < 0 RETURNING a) SELECT count(a::text) FROM d'), '3', 'what was written can be read');
$_->quit foreach $writer, $reader, $rotator;

# ---- who, and where not ----

sql('CREATE ROLE rotator LOGIN; CREATE ROLE other LOGIN; GRANT EXECUTE ON FUNCTION tde_rotate_master_key() TO rotator');
is(attempt($node, 'SELECT tde_rotate_master_key() IS NOT NULL', user => 'rotator')->{out}, 't', 'EXECUTE is all that a role needs');
is(wrapped_by('postgres'), current(), 'it has rotated');
fails_with($node, 'SELECT tde_rotate_master_key()', { state => '42501' }, 'without it', user => 'other');
fails_with($node, 'SELECT * FROM tde.data_keys', { state => '42501' }, 'it sees no wrapped key', user => 'rotator');
my $masters = masters();
fails_with(
  $node,
  'BEGIN READ ONLY; SELECT tde_rotate_master_key()',
  { state => '25006', message => qr/^cannot execute tde_rotate_master_key\(\) in a read-only transaction$/ },
  'in a read-only transaction');
is(masters(), $masters, 'made no master key');

# A standby has a wallet file of its own.

my $standby        = PostgreSQL::Test::Cluster->new('standby');
my $standby_wallet = $standby->basedir . '/wallet.p12';
$node->backup('base');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "tde_column.wallet_file = '$standby_wallet'\n");

sub copy_wallet
{
  write_bytes($standby_wallet, read_bytes($path));
  return lines_of($standby, "SELECT tde_wallet_open('master-passphrase')");
}

$standby->start;
copy_wallet();
is(lines_of($standby, 'SELECT count(a::text) FROM t'), $rows, 'a standby reads');
fails_with($standby, 'SELECT tde_rotate_master_key()', { state => '25006' }, 'but does not rotate');
fails_with($standby, 'SELECT tde_prepare_master_key()', { state => '25006' }, 'nor prepare');
my $prepared = sql('SELECT tde_prepare_master_key()');
is(sql('SELECT tde_prepare_master_key()'), $prepared, 'the next master key is prepared once');
copy_wallet();
is(rotate(), $prepared, 'the rotation takes the prepared one');
$node->wait_for_catchup($standby);
is(lines_of($standby, 'SELECT count(a::text) FROM t'), $rows, 'the standby has it already');
my $unprepared = rotate();
$node->wait_for_catchup($standby);
fails_with($standby, 'SELECT a FROM t', { state => 'TDE03', message => qr/^master key $unprepared is not in the wallet$/ }, 'a rotation that was not prepared');
copy_wallet();
is(lines_of($standby, 'SELECT count(a::text) FROM t'), $rows, 'until the wallet is copied');
$standby->stop;

# ---- the file ----

# Nothing has changed, in memory and in the file, and no other file is left.
sub nothing_happened
{
  my ($name, $bytes) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  is(masters(), $masters, "$name: the same master keys");
  ok(read_bytes($path) eq $bytes, "$name: the same file");
  is(wallet_folder_files($node), 'tde.p12 tde.p12.previous', "$name: no temporary file");
  can_read($name, 'postgres', 'second');
  return;
}

my $older = read_bytes($path);
my $newest = rotate();
my $bytes = read_bytes($path);
$masters = masters();

write_bytes($path, $older);
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02', message => qr/has changed since it was opened$/ },
  'an older file is there, but not opened');
can_read('it goes on with what it knows', 'postgres', 'second');
fails_with(
  $node,
  "SELECT tde_wallet_open('master-passphrase')",
  {
    state   => 'TDE02',
    message => qr/^wallet file "\Q$path\E" lacks 1 master key that is open$/,
    detail  => qr/under data keys wrapped by .*$newest could no longer be read/,
    hint    => qr/tde_wallet_save\(\)\..*confirm => 'forget 1 master key'/
  },
  'an older file does not replace what is open');
can_read('nothing is lost', 'postgres', 'second');
fails_with($node, "SELECT tde_wallet_open('master-passphrase', confirm => 'forget 2 master keys')", { state => 'TDE02' }, 'nor for a loss that is not the one');
like(attempt($node, "SELECT tde_wallet_open('master-passphrase', confirm => 'forget 1 master key')")->{err}, qr/WARNING:  01000: 1 master key is not open any more\nDETAIL:  .* lacks $newest/,
  'who insists may');
foreach my $statement ('SELECT a FROM t', 'SELECT tde_rotate_master_key()', "SELECT tde_create_key('none')", "INSERT INTO t VALUES (0, 'x')")
{
  fails_with(
    $node,
    $statement,
    { state => 'TDE03', message => qr/^master key $newest is not in the wallet$/, hint => qr/older than the key.*tde_wallet_open\(\)/ },
    "an older wallet: $statement");
}
ok(read_bytes($path) eq $older, 'it is left as it is');
can_read('an older wallet', 'second');
write_bytes($path, $bytes);
open_wallet();
nothing_happened('the right wallet again', $bytes);

rename $path, "$path.away";
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02', message => qr/\Q$path\E.*No such file or directory$/, hint => qr/^Put the wallet back there/ }, 'no file');
ok(!-e $path, 'none is made');
rename "$path.away", $path;
nothing_happened('the file is back', $bytes);

chmod 0500, dirname($path);
fails_with(
  $node,
  'SELECT tde_rotate_master_key()',
  { state => '42501', message => qr/^could not create wallet file ".*": Permission denied$/, hint => qr/^The folder must exist and be writable/ },
  'a folder that cannot be written');
chmod 0700, dirname($path);
nothing_happened('it can be written again', $bytes);

# A file that cannot grow: the limit of one process.  After that much, write() is short, as on a full disk.
SKIP:
{
  skip 'FULL FILE NOT TESTED: there is no prlimit here', 7 if system('prlimit --version >/dev/null 2>&1') != 0;
  my $limited = session($node);
  my $pid     = session_try($limited, 'SELECT pg_backend_pid()')->{out};
  system_or_bail('prlimit', '--pid', $pid, '--fsize=500:');
  $result = session_try($limited, 'SELECT tde_rotate_master_key()');
  is($result->{state}, '53100', 'no room after 500 bytes') or diag($result->{err});
  like($result->{message}, qr/^could not write wallet file ".*": No space left on device$/, 'message');
  nothing_happened('no room', $bytes);
  $limited->quit;
}

is(rotate() eq current() ? 1 : 0, 1, 'and now it works');
can_work('after all that', 'postgres', 'second');

# ---- the passphrase ----

$masters = masters();
$result  = attempt($node, "SELECT tde_wallet_change_passphrase('another-passphrase')");
like($result->{err}, qr/NOTICE: .*still under the old passphrase/, 'changing the passphrase says what stays under the old one');
can_read('changed', 'postgres', 'second');
is(sprintf('%04o', (stat "$path$_")[2] & 07777), '0600', "mode of tde.p12$_") foreach '', '.previous';
fails_with($node, "SELECT tde_wallet_open('master-passphrase')", { state => 'TDE02', message => qr/wrong passphrase or damaged wallet$/ }, 'the old one');
sql("SELECT tde_wallet_close(); SELECT tde_wallet_open('another-passphrase')");
is(masters(), $masters, 'the new one opens the same keys');
set_conf($node, 'tde_column.wallet_file' => "$path.previous");
sql("SELECT tde_wallet_close(); SELECT tde_wallet_open('master-passphrase')");
is(masters(), $masters, 'the old one opens the previous copy');
set_conf($node, 'tde_column.wallet_file' => $path);
sql("SELECT tde_wallet_open('another-passphrase')");

# ---- a thousand data keys ----

sql("SELECT count(tde_create_key('key ' || i)) FROM generate_series(1, 1000) i");
my $started = time;
rotate();
my $took = time - $started;
diag(sprintf 'rotation with %d data keys: %.2f s', sql('SELECT count(*) FROM tde.data_keys'), $took);
cmp_ok($took, '<', 5, 'a thousand data keys are rotated in an instant');
is(wrapped_by('postgres'), current(), 'all of them');
is(sql("CREATE TABLE last (a encrypted_text('key=key 1000')); INSERT INTO last VALUES ('x') RETURNING a"), 'x', 'and can be used');
can_read('with a thousand keys', 'postgres', 'second');
$node->stop;

# ---- a disk that is full ----

# The wallet's folder is a small file system that only the server sees.  Linux lets an ordinary user have one in name spaces of
# his own; in the second of them he is himself again, since PostgreSQL does not run as root.
SKIP:
{
  my $full   = tde_node('full', extension => 1, conf => "tde_column.wallet_generations = 1\n");
  my $folder = dirname(wallet_path($full));
  my @spaces = (
    'unshare', '--map-root-user', '--mount', 'sh', '-c',
    'mount -t tmpfs -o size=64k,mode=700 tmpfs "$1" && u=$2 g=$3 && shift 3 && exec unshare --map-user="$u" --map-group="$g" "$@"',
    'sh', $folder, $<, $( + 0);

  skip 'FULL DISK NOT TESTED: this system gives its users no name spaces', 18
    if system(join(' ', map { "'$_'" } @spaces, 'true') . ' 2>/dev/null') != 0;
  my @pg_ctl = ('pg_ctl', '-w', '-s', '-D', $full->data_dir, '-l', $full->logfile);
  system_or_bail(@spaces, @pg_ctl, 'start');

  my $files = "SELECT string_agg(f, ' ' ORDER BY f) FROM pg_ls_dir('$folder') f";
  lines_of($full, "SELECT tde_wallet_create('x-passphrase'); SELECT tde_create_key('first', erasable => true); CREATE TABLE t (a encrypted_text, b encrypted_text('key=first')); INSERT INTO t VALUES ('x', 'y')");
  my $keys = lines_of($full, 'SELECT * FROM tde.master_keys');
  is(attempt($full, "COPY (SELECT repeat('x', 100000)) TO '$folder/fill'")->{state}, '53100', 'the disk is full');
  foreach my $statement (
    'SELECT tde_rotate_master_key()', 'SELECT tde_prepare_master_key()',
    "SELECT tde_wallet_change_passphrase('y-passphrase')", 'SELECT tde_wallet_split(2, 3)',
    "SELECT tde_create_key('second', erasable => true)",   "SELECT tde_destroy_key('first', 'destroy first')",
    'SELECT tde_wallet_take_over()')
  {
    fails_with($full, $statement,
      { state => '53100', message => qr/^could not write wallet file ".*": No space left on device$/ }, "a full disk: $statement");
  }
  is(lines_of($full, $files), 'fill tde.p12 tde.p12.previous', 'no temporary file is left');
  lines_of($full, "COPY (SELECT) TO '$folder/fill'; SELECT tde_wallet_close(); SELECT tde_wallet_open('x-passphrase')");
  is(lines_of($full, 'SELECT * FROM tde.master_keys'), $keys, 'the wallet is as it was');
  is(lines_of($full, 'SELECT tde_rotate_master_key() IS NOT NULL, a, b FROM t'), 't|x|y', 'with room again the rotation succeeds');
  system_or_bail(@pg_ctl, 'stop');
}

done_testing();
