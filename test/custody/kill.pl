# tde-passphrase is killed at 200 points of init and rotate: whatever it leaves behind, the wallet opens, by get or, before init has
# changed anything, by the passphrase of before; and the same call goes on to the end.

use strict;
use warnings FATAL => 'all';

use FindBin;
use IPC::Run;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeCustody;
use TdeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $points = $ENV{POINTS} // 200;
my $typed  = 'a typed passphrase';
my $read   = 'SELECT a FROM t';
my $killed = "$FindBin::RealBin/killed.py";

my $node = tde_node('kill', extension => 1);
my $self = custody($node, 'gnupg', timeout => 20);
my ($wallet, $envelope) = (wallet_path($node), envelope_of($self));
$node->start;
lines_of($node, "SELECT tde_wallet_create('$typed'); CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('kept')");
set_conf($node, 'tde_column.passphrase_command' => command_for($self));
my $original = read_bytes($wallet);

sub command_of { return ('/usr/bin/python3', '-IS', $killed, $_[0], $TdeCustody::tool, '--config', $self->{conf}, 'gnupg', @_[ 1 .. $#_ ]); }

# How many lines it runs.
sub lines_of_call
{
  my (@command) = @_;
  my $err = '';
  IPC::Run::run([ command_of(0, @command) ], '<', \undef, '>', \my $out, '2>', \$err) or die $err;
  return $err =~ /(\d+)\n\z/ ? $1 : die $err;
}

sub kill_at
{
  my ($nth, @command) = @_;
  IPC::Run::run([ command_of($nth, @command) ], '<', \undef, '>', \my $out, '2>', \my $err);
  die "it was not killed: $out$err" unless ($? & 127) == 9;
  return;
}

sub kill_after
{
  my ($seconds, @command) = @_;
  my $run = IPC::Run::start([ $TdeCustody::tool, '--config', $self->{conf}, 'gnupg', @command ], '<', \undef, '>', \my $out, '2>', \my $err);
  sleep($seconds);
  $run->signal('KILL');
  eval { $run->finish };
  return;
}

# What the killed one has asked of the server may still be under way.
sub settle
{
  sleep(0.1);    # its psql ends with it, and the server learns of that later
  $node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'psql' AND pid <> pg_backend_pid()}) or die;
  return;
}

sub opens
{
  my ($passphrase) = @_;
  return attempt($node, 'SELECT tde_wallet_close(); SELECT tde_wallet_open(' . ($passphrase ? "'$passphrase'" : '') . "); $read")->{out} =~ /kept/;
}

# The wallet under the typed passphrase, and no envelope.
sub start_typed
{
  lines_of($node, 'SELECT tde_wallet_close()');
  unlink glob("$wallet*");
  write_bytes($wallet, $original);
  chmod 0600, $wallet;
  lines_of($node, "SELECT tde_wallet_open('$typed')");
  return;
}

my %left;

sub goes_on
{
  my ($name, @command) = @_;
  settle();
  my $files = join ' ', map { s/.*tde\.p12//r } grep { !/\.p12$|\d$/ } glob("$wallet*");
  my $by = opens() ? 'get' : !-e $envelope && opens($typed) ? 'the typed passphrase' : 'NOTHING';
  $left{"$command[0]: $files: opens by $by"}++;
  my $again = call_tool($self, @command);
  # where it was done already, init says so
  my $good = $by ne 'NOTHING' && ($again->{code} == 0 || ($again->{code} == 73 && $again->{err} =~ /is there: rotate/)) && opens();
  ok($good, $name) or diag("$files: opens by $by; then: $again->{code} $again->{err}");
  return;
}

start_typed();
my $total = lines_of_call('init');
note("init runs $total lines");
my $wanted = int($points * 0.4);
foreach my $i (1 .. $wanted)
{
  start_typed();
  my $nth = 1 + int(($i - 1) * ($total - 1) / $wanted);
  kill_at($nth, 'init');
  goes_on("init, killed before line $nth", 'init');
}

# init --replace has an envelope to lose.
start_typed();
call_tool($self, 'init');
my ($good_wallet, $good_envelope) = (read_bytes($wallet), read_bytes($envelope));
sub start_enveloped
{
  lines_of($node, 'SELECT tde_wallet_close()');
  unlink glob("$wallet*");
  foreach my $file ([ $wallet, $good_wallet ], [ $envelope, $good_envelope ])
  {
    write_bytes(@$file);
    chmod 0600, $file->[0];
  }
  lines_of($node, 'SELECT tde_wallet_open()');
  return;
}
my $took = time;
$total = do { start_enveloped(); lines_of_call('init', '--replace') };
$took = time - $took + 1;
$wanted = int($points * 0.2);
foreach my $i (1 .. $wanted)
{
  start_enveloped();
  my $nth = 1 + int(($i - 1) * ($total - 1) / $wanted);
  kill_at($nth, 'init', '--replace');
  goes_on("init --replace, killed before line $nth", 'init', '--replace');
}
# at any time, also while the server is at work
foreach my $i (1 .. $wanted)
{
  start_enveloped();
  my $after = $took * $i / $wanted;
  kill_after($after, 'init', '--replace');
  goes_on(sprintf('init --replace, killed after %.2f s', $after), 'init', '--replace');
}

start_enveloped();
service($self, 'newer');
$total  = lines_of_call('rotate');
$wanted = $points - int($points * 0.4) - 2 * int($points * 0.2);
foreach my $i (1 .. $wanted)
{
  start_enveloped();
  my $nth = 1 + int(($i - 1) * ($total - 1) / $wanted);
  kill_at($nth, 'rotate');
  goes_on("rotate, killed before line $nth", 'rotate');
}
note("$left{$_} times $_") foreach sort keys %left;
is(scalar(grep { /NOTHING/ } keys %left), 0, 'in all states something opens the wallet');

service($self, 'stop');
$node->stop;
done_testing();
