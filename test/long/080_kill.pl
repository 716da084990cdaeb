# kill -9 at 256 points of what changes keys and the wallet: afterwards the wallet opens, and every value is readable.  Again and again the
# wallet is lost then, and its newest backup does as well.
#
# First at each system call on the wallet's folder, before and after it, through test/lib/killer.c; then at random moments, of the
# backend and of the whole server.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $random_points = $ENV{KILL_POINTS} // 60;
my $all_points    = 256;

my $node   = tde_node('kill', conf => "restart_after_crash = on\nfsync = on\ntde_column.wallet_generations = 3\n");
my $folder = $node->basedir . '/wallet';
my $vault  = $node->basedir . '/vault';
mkdir $vault or die "could not create $vault: $!";
$node->append_conf('postgresql.conf', qq{tde_column.wallet_backup_command = 'cp "%p" "$vault/%f"'\n});
my $plan   = $node->basedir . '/plan';
my $killer = $node->basedir . '/killer.so';
system_or_bail('gcc', '-O1', '-shared', '-fPIC', '-o', $killer, "$FindBin::RealBin/../lib/killer.c", '-ldl');

sub start_server
{
  local $ENV{LD_PRELOAD}    = $killer;
  local $ENV{KILLER_FOLDER} = $folder;
  local $ENV{KILLER_PLAN}   = $plan;
  $node->start;
}

my $passphrase = 'passphrase 0';
my @candidates = ($passphrase);    # of which one opens the wallet or its newest backup; the likeliest is the last
my $number     = 0;
my $inserted   = 0;
srand($ENV{KILL_SEED} // 42);

start_server();
lines_of($node, "CREATE EXTENSION tde_column; SELECT tde_wallet_create('$passphrase')");
lines_of($node, 'CREATE DATABASE second');
foreach my $db ('postgres', 'second')
{
  lines_of($node, 'CREATE EXTENSION tde_column', db => $db) if $db ne 'postgres';
  lines_of($node, q{
SELECT tde_create_key('k'), tde_create_key('wiped', erasable => true);
CREATE TABLE t (id int PRIMARY KEY, a encrypted_text('key=k'), b encrypted_text(nosalt), n encrypted_int4(nosalt, nomac, 'key=k'),
                e encrypted_text('key=wiped'));
CREATE UNIQUE INDEX ON t (b);
INSERT INTO t SELECT i, 'a' || i, 'b' || i, i, 'e' || i FROM generate_series(1, 2000) i}, db => $db);
}

# The operations.  Each gets a statement that has not run before.
my %operations = (
  rotate_master => sub { "SELECT tde_rotate_master_key()" },
  prepare       => sub { "SELECT tde_prepare_master_key(); SELECT tde_rotate_master_key()" },
  passphrase    => sub { push @candidates, 'passphrase ' . ++$number; "SELECT tde_wallet_change_passphrase('$candidates[-1]')" },
  create        => sub { "SELECT tde_create_key('made" . ++$number . "')" },
  erasable      => sub { "SELECT tde_create_key('doomed" . ++$number . "', erasable => true); SELECT tde_destroy_key('doomed$number', 'destroy doomed$number')" },
  rotate_key    => sub { "SELECT tde_rotate_key('k'), tde_rotate_key('wiped'), tde_rotate_key(), tde_rotate_key('catalog')" },
  rekey         => sub { "SELECT tde_rotate_key('k'), tde_rotate_key(); CALL tde_rekey_table('t', 100)" });

sub wait_until_up
{
  foreach (1 .. 600)
  {
    return
      if IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SELECT 1' ], '<', \undef, '>', \my $out, '2>', \my $err);
    sleep 0.05;
  }
  BAIL_OUT('the server does not come up');
}

# What is wrong with the data, in both databases.
sub problems
{
  my ($good) = grep { attempt($node, "SELECT tde_wallet_open('$_')")->{state} eq '' } reverse @candidates;
  return 'the wallet does not open' if !defined $good;
  my @problems;

  foreach my $db ('postgres', 'second')
  {
    my $result = attempt($node, "INSERT INTO t VALUES (100000 + $inserted, 'a', 'c$inserted', $inserted, 'e') ON CONFLICT (id) DO NOTHING;
      SELECT count(*) FILTER (WHERE a::text = 'a' || id AND b::text = 'b' || id AND n = id AND e::text = 'e' || id) || ' ' ||
             count(*) FILTER (WHERE id > 100000 AND a = 'a' AND n = id - 100000) FROM t;
      SET enable_seqscan = off; SELECT count(*) FROM t WHERE b IN ('b1', 'b1000', 'c$inserted')", db => $db);
    push @problems, "$db: $result->{out} $result->{err}" if $result->{out} ne "2000 $inserted\n3";
  }
  @candidates = ((grep { $_ ne $good } @candidates), $good);
  return "@problems";
}

# The file and all copies beside it are gone; the newest backup that is whole takes its place.  It may be of a change that was killed
# before it took effect, and so have another passphrase than the file had.
sub lose_wallet
{
  my ($backup) = reverse sort grep { -s $_ } glob "$vault/*";

  $node->stop('fast');
  unlink glob "$folder/*";
  write_bytes("$folder/tde.p12", read_bytes($backup));
  chmod 0600, "$folder/tde.p12";
  start_server();
}

# The wallet opens with a passphrase that was set or was being set, and all is readable and writable in both databases.  The
# server may notice only now that a process was killed, and so restart, which closes the wallet.
sub verify
{
  my ($name) = @_;
  my $problems;

  $inserted++;
  my $lost = $inserted % 16 == 0;
  lose_wallet() if $lost;
  foreach (1 .. 5)
  {
    wait_until_up();
    $problems = problems();
    last if $problems eq '';
    sleep 1;
  }
  is($problems, '', $name);
  BAIL_OUT('what follows would fail, too') if $problems ne '';
  @candidates = $candidates[-1] if $lost;
}

# Run an operation in a backend of its own; its pid comes first.
sub begin_operation
{
  my ($sql) = @_;
  my %run = (out => '', err => '');

  $run{psql} = IPC::Run::start(
    [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-c', 'SELECT pg_backend_pid()',
      map { ('-c', $_) } split /; /, $sql ],
    '<', \undef, '>', \$run{out}, '2>', \$run{err}, IPC::Run::timeout(300));
  return \%run;
}

sub end_operation
{
  my ($run) = @_;
  $run->{psql}->finish;
  return $run->{psql}->full_result(0) == 0;
}

# ---- at each system call on the wallet's folder ----

my $points = 0;
foreach my $name (qw(rotate_master prepare passphrase erasable create))
{
  foreach my $when ('before', 'after')
  {
    my $complete = 0;
    for (my $n = 1; !$complete && $n <= 80; $n++)
    {
      my $sql = $operations{$name}->();
      append_to_file("$plan.new", "$n $when\n");
      rename "$plan.new", $plan or BAIL_OUT("rename: $!");
      $complete = end_operation(begin_operation($sql));
      unlink $plan;
      wait_until_up();
      verify("$name, $when call $n" . ($complete ? ': complete' : ''));
      $points++ unless $complete;
    }
    ok($complete, "$name: all calls were met");
  }
}
note "$points points at system calls";
cmp_ok($points, '>=', 90, 'there are many');

# ---- at random moments ----

my %duration;
foreach my $name (sort keys %operations)
{
  my $start = time;
  ok(end_operation(begin_operation($operations{$name}->())), "$name runs");
  $duration{$name} = time - $start;
}
verify('undisturbed');

my @names = sort keys %operations;
for (my $i = 1; $i <= $random_points || $points < $all_points; $i++)
{
  my $name = $names[ $i % @names ];
  my $run  = begin_operation($operations{$name}->());

  $run->{psql}->pump until $run->{out} =~ /^(\d+)\n/;
  my $pid   = $1;
  my $delay = rand($duration{$name} * 1.1);
  sleep $delay;
  my $whole = $i % 2;
  if ($whole)
  {
    my $postmaster = $node->{_pid};
    $node->kill9;
    # it is there for a moment longer, and another one would not start
    foreach (1 .. 200)
    {
      last unless kill 0, $postmaster;
      sleep 0.05;
    }
  }
  else
  {
    kill 'KILL', $pid;
  }
  end_operation($run);
  start_server() if $whole;
  wait_until_up();
  verify(sprintf '%s, %s killed after %.3f s', $name, $whole ? 'server' : 'backend', $delay);
  $points++;
}
cmp_ok($points, '>=', $all_points, "$points points in all");

$node->stop;
done_testing();
