# tde_column.passphrase_command: who runs it and when, and every way in which it can fail.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $node        = tde_node('command', extension => 1, conf => "tde_column.passphrase_timeout = 60s\nautovacuum_naptime = 1s\n");
my $runs        = dirname(wallet_path($node)) . '/runs';
my $right       = "echo run >> $runs; echo right-passphrase";
my $closed_hint = qr/^The passphrase command did not open it; the server log says why\.$/;

# The marker is in the command line of every process that the command starts.
my $marker = "86400.$$";
my $hang   = "sleep $marker & sleep $marker";

# What the log says of the passphrase command since the offset.
sub told
{
  my ($offset, $regexp, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  like(log_since($node, $offset), $regexp, $name);
  return;
}

sub wallet_status { return lines_of($node, 'SELECT status FROM tde.wallet'); }

$node->start;

# Making the wallet takes the command's passphrase, so that the command opens it later.

set_conf($node, 'tde_column.passphrase_command' => 'exit 1');
fails_with(
  $node,
  'SELECT tde_wallet_create()',
  {
    state   => 'TDE02',
    message => qr/^could not get a passphrase from the passphrase command$/,
    hint    => qr/^The server log says why\.$/
  },
  'a wallet whose passphrase the command does not print');
ok(!-e wallet_path($node), 'which is not made');
set_conf($node, 'tde_column.passphrase_command' => 'echo right-passphrase');
is(lines_of($node, 'SELECT tde_wallet_create() IS NULL'), 't', "a wallet under the command's passphrase, which is not returned");
set_conf($node, 'tde_column.passphrase_command' => '');
lines_of(
  $node, q{
SELECT tde_wallet_close();
SELECT tde_wallet_open('right-passphrase');
CREATE TABLE t (id int PRIMARY KEY, a encrypted_text);
INSERT INTO t SELECT i, 'value ' || i FROM generate_series(1, 100) i;
});
fails_with(
  $node,
  'SELECT tde_wallet_close(); SELECT tde_wallet_open()',
  {
    state   => 'TDE02',
    message => qr/^no passphrase command is configured$/,
    hint    => qr/^Give the passphrase to tde_wallet_open\(\), or set/
  },
  'opening without a passphrase and without a command');

# After a restart the first use opens it, and nothing else does.

set_conf($node, 'tde_column.passphrase_command' => $right);
$node->restart;
is(wallet_status(),                                 'CLOSED',  'a restart does not open it');
is(lines_of($node, 'SELECT count(*) FROM t'),       '100',     'what needs no key works');
is(count_lines($runs),                              0,         'and does not run the command');
is(lines_of($node, 'SELECT a FROM t WHERE id = 7'), 'value 7', 'the first use of a value opens it');
is(wallet_status(),                                 'OPEN',    'for the whole instance');
is(lines_of($node, 'SELECT a FROM t WHERE id = 8'), 'value 8', 'so that another session has it');
is(count_lines($runs),                              1,         'and the command ran once');

# Eight sessions at once.  The command takes long enough for all of them to ask.

set_conf($node, 'tde_column.passphrase_command' => "echo run >> $runs; sleep 1; echo right-passphrase");
$node->restart;
unlink $runs;
my $script = PostgreSQL::Test::Utils::tempdir . '/read.sql';
write_bytes($script, "SELECT sum(length(a)) FROM t;\n");
$node->command_checks_all(
  [ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 1, '-f', $script, 'postgres' ],
  0,                   [qr{transactions actually processed: 8/8}],
  [qr/^(?!.*ERROR)/s], 'eight sessions ask at once');
is(count_lines($runs), 1, 'and the command ran once for all of them');

# In a parallel worker.

set_conf($node, 'tde_column.passphrase_command' => $right);
$node->restart;
my $parallel = parallel_setting($node);
is(lines_of($node, "SET $parallel = on; SELECT max(length(a)) FROM t"), '9',    'the first use in a parallel worker opens it');
is(wallet_status(),                                                     'OPEN', 'for the whole instance, too');

# In autovacuum: ANALYZE needs the values.

lines_of($node, 'INSERT INTO t SELECT i, \'value \' || i FROM generate_series(101, 1000) i');
set_conf($node, 'autovacuum' => 'on');
$node->restart;
$node->poll_query_until('postgres', "SELECT last_autoanalyze IS NOT NULL FROM pg_stat_user_tables WHERE relname = 't'")
  or die 'autovacuum has not analyzed the table';
is(wallet_status(), 'OPEN', 'autovacuum has opened it');
is(lines_of($node, "SELECT count(*) FROM pg_statistic WHERE starelid = 't'::regclass AND staattnum = 2"),
  '1', 'and made statistics of the encrypted column');
set_conf($node, 'autovacuum' => 'off');

# tde_wallet_close() is stronger than the command.

unlink $runs;
lines_of($node, 'SELECT tde_wallet_close()');
fails_with(
  $node,
  'SELECT a FROM t WHERE id = 7',
  { state => 'TDE01', message => qr/^wallet is not open$/, hint => qr/^Open it with tde_wallet_open\(\)\.$/ },
  'closed by hand');
is(count_lines($runs), 0, 'a wallet that was closed by hand is not opened by the command');
lines_of($node, 'SELECT tde_wallet_open()');
is(count_lines($runs),                              1,         'tde_wallet_open() runs the command');
is(lines_of($node, 'SELECT a FROM t WHERE id = 7'), 'value 7', 'and opens it');

# What the command prints: one line counts.

foreach my $case (
  [ "printf 'right-passphrase'",           'no newline' ],
  [ "printf 'right-passphrase\\r\\n'",     'a Windows line end' ],
  [ "printf 'right-passphrase\\nmore\\n'", 'a second line' ])
{
  lines_of($node, 'SELECT tde_wallet_close()');
  set_conf($node, 'tde_column.passphrase_command' => $case->[0]);
  is(attempt($node, 'SELECT tde_wallet_open()')->{state}, '', "the command prints: $case->[1]");
}

# Commands that fail.

foreach my $case (
  [ 'exit 1', qr/LOG:  passphrase command failed\n.*DETAIL:  child process exited with exit code 1/, 'exits with 1' ],
  [ 'echo right-passphrase; exit 3',     qr/DETAIL:  child process exited with exit code 3/,    'prints it, but exits with 3' ],
  [ 'echo right-passphrase; kill -9 $$', qr/DETAIL:  child process exited with exit code 137/, 'is killed' ],
  [ 'no-such-command-anywhere',          qr/DETAIL:  .*(command not found|exit code 127)/,      'does not exist' ],
  [ 'true',                              qr/LOG:  passphrase command printed no passphrase/,    'prints nothing' ],
  [ 'echo; echo right-passphrase',       qr/LOG:  passphrase command printed no passphrase/,    'prints an empty line first' ],
  [ q(head -c 2000 /dev/zero | tr '\0' x), qr/LOG:  passphrase command printed more than 1023 bytes/, 'prints too much' ],
  [ 'yes',                                 qr/LOG:  passphrase command printed more than 1023 bytes/, 'prints without end' ],
  [
    'echo secret-but-wrong',
    qr/LOG:  could not open wallet file ".*": wrong passphrase or damaged wallet/,
    'prints a wrong passphrase'
  ])
{
  my ($command, $log, $name) = @$case;
  my $offset = log_offset($node);

  lines_of($node, 'SELECT tde_wallet_close()');
  set_conf($node, 'tde_column.passphrase_command' => $command);
  fails_with(
    $node,
    'SELECT tde_wallet_open()',
    {
      state   => 'TDE02',
      message => qr/^could not open the wallet through the passphrase command$/,
      hint    => qr/^The server log says why\.$/
    },
    "the command $name");
  told($offset, $log, "the log tells that the command $name");
  is(wallet_status(), 'CLOSED', 'closed');
}
fails_with(
  $node,
  'SELECT a FROM t WHERE id = 7',
  { state => 'TDE01', message => qr/^wallet is not open$/, hint => $closed_hint },
  'reading after the command has failed');
unlike(slurp_file($node->logfile), qr/could not open wallet file.*secret-but-wrong/, 'what the command printed is not told');

# Right again: at once by tde_wallet_open(); by itself after a pause.

set_conf($node, 'tde_column.passphrase_command' => 'exit 1');
is(attempt($node, 'SELECT tde_wallet_open()')->{state}, 'TDE02', 'it fails once more');
my $failed_at = time;
set_conf($node, 'tde_column.passphrase_command' => $right);
unlink $runs;
my $early = attempt($node, 'SELECT a FROM t WHERE id = 7');
SKIP:
{
  skip 'this machine is too slow to look into the pause', 2 if time - $failed_at > 4.5;
  is($early->{state},    'TDE01', 'after a failure the command rests');
  is(count_lines($runs), 0,       'so it is not run');
}
sleep(0.2) while time < $failed_at + 5.5;
is(lines_of($node, 'SELECT a FROM t WHERE id = 7'), 'value 7', 'after the pause the next use opens it');
is(count_lines($runs),                              1,         'with one run');

set_conf($node, 'tde_column.passphrase_command' => 'exit 1');
lines_of($node, 'SELECT tde_wallet_close()');
is(attempt($node, 'SELECT tde_wallet_open()')->{state}, 'TDE02', 'it fails again');
set_conf($node, 'tde_column.passphrase_command' => $right);
is(attempt($node, 'SELECT tde_wallet_open()')->{state}, '', 'tde_wallet_open() does not wait for the pause');

# Commands that hang.  Whatever ends the waiting, nothing of the command is left running.

sub hangs
{
  my ($command, $sql, $expected, $name) = @_;
  my $offset = log_offset($node);

  lines_of($node, 'SELECT tde_wallet_close()');
  set_conf($node, 'tde_column.passphrase_command' => $command);
  fails_with($node, $sql, $expected, $name);
  ok(none_left($marker), "$name: nothing of the command is left running");
  is(wallet_status(), 'CLOSED', "$name: closed");
  return $offset;
}

my $could_not = { state => 'TDE02', message => qr/^could not open the wallet through the passphrase command$/ };
my $timed_out = qr/LOG:  passphrase command did not finish in time\n.*HINT:  See tde_column\.passphrase_timeout\./;

set_conf($node, 'tde_column.passphrase_timeout' => '500');
told(hangs($hang, 'SELECT tde_wallet_open()', $could_not, 'a hanging command'),
  $timed_out, 'the log tells that it did not finish');
told(
  hangs(
    "echo right-passphrase; exec >&-; $hang",
    'SELECT tde_wallet_open()',
    $could_not,
    'a command that closes its output and hangs'
  ),
  $timed_out,
  'the log tells that it did not finish');
told(
  hangs(
    "sleep $marker & echo right-passphrase",
    'SELECT tde_wallet_open()',
    $could_not,
    'a command that leaves its output to a child'
  ),
  $timed_out,
  'the log tells that it did not finish');
hangs("trap '' TERM INT; $hang", 'SELECT tde_wallet_open()', $could_not, 'a hanging command that ignores signals');

set_conf($node, 'tde_column.passphrase_timeout' => '60000');
my $canceled = { state => '57014', message => qr/^canceling statement due to statement timeout$/ };
hangs($hang, 'SET statement_timeout = 500; SELECT tde_wallet_open()', $canceled, 'canceled in tde_wallet_open()');
hangs(
  "trap '' TERM INT; $hang",
  'SET statement_timeout = 500; SELECT tde_wallet_open()',
  $canceled, 'canceled, and the command ignores signals');

# A session that waits for another one's command can be canceled without harm to that one, and the end of a session ends its
# command.

sub waiting
{
  my ($pid, $what) = @_;
  $node->poll_query_until('postgres', "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid")
    or die "$what does not wait";
  return;
}

foreach my $end ('pg_terminate_backend', 'stop')
{
  my $opener = session($node);
  my $pid    = $opener->query('SELECT pg_backend_pid()');

  lines_of($node, 'SELECT tde_wallet_close()');
  $opener->query_until(qr/asking/, "\\echo asking\nSELECT tde_wallet_open();\n");
  waiting($pid, 'the opener');
  ok(is_running($marker), "$end: the command is running");
  if ($end eq 'pg_terminate_backend')
  {
    fails_with(
      $node,     'SET statement_timeout = 500; SELECT a FROM t WHERE id = 7',
      $canceled, 'canceled while another session runs the command');
    ok(scalar(processes_with($marker)), 'which goes on');
    lines_of($node, "SELECT pg_terminate_backend($pid)");
  }
  else
  {
    $node->stop('fast');
  }
  ok(none_left($marker), "$end: nothing of the command is left running");
  eval { $opener->quit; };
}
$node->start;

# For the sessions that wait while it fails the wallet is closed.

set_conf($node, 'tde_column.passphrase_command' => "sleep 1; exit 1");
write_bytes($script, "\\set id random(1, 100)\nSELECT a FROM t WHERE id = :id;\n");
my ($out, $err) =
  run_command([ 'pgbench', '-n', '-c', 4, '-j', 2, '-t', 1, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ]);
is(scalar(() = $err =~ /wallet is not open/g), 4, 'sessions that wait for a failing command get an error') or diag($err);

# Another process of the server is not disturbed by all this.

set_conf($node, 'tde_column.passphrase_command' => $right);
lines_of($node, 'SELECT tde_wallet_open()');
is(lines_of($node, 'SELECT count(a::text) FROM t'), '1000', 'at the end everything can be read');
unlike(
  slurp_file($node->logfile),
  qr/server process .* was terminated by signal|PANIC:|TRAP:/,
  'and no process of the server has crashed');

$node->stop;
done_testing();
