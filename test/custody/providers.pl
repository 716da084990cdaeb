# Each provider of tde-passphrase with its service: the wallet moves there from a typed passphrase, and the service is down, slow, refuses,
# answers garbage, has another key of the same name and a newer version.  PROVIDERS names them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeCustody;
use TdeTest;
use Test::More;
use Time::HiRes qw(time);

my $read = 'SELECT a FROM t WHERE id = 7';

# Exit codes that each of them ends with.  A service that is down is often no answer at all, and a program that finds no key refuses.
my %codes = (down => qr/69|77|78/, slow => qr/75/, garbage => qr/65|69/, revoke => qr/77/, other => qr/65|77/);
my %undo = (down => 'up', slow => 'up', garbage => 'up', revoke => 'allow', other => 'own');

# What the first query waits for: the command with the service, and the server, which reads the wallet.
sub opening_time
{
  my ($self) = @_;
  $self->{node}->restart;
  my $begun = time;
  is(attempt($self->{node}, $read)->{out}, 'value 7', 'a restarted server opens the wallet by it');
  return time - $begun;
}

sub opens_quickly
{
  my ($self) = @_;
  my ($opening, $answer) = (99, 0);
  # others may use this machine: the quickest of three says what the program takes
  foreach (1 .. 3)
  {
    my $now = opening_time($self);
    $opening = $now if $now < $opening;
  }
  chomp($answer = (run_command([ '/usr/bin/python3', "$FindBin::RealBin/answer.py", $TdeCustody::tool, $self->{conf} ]))[0]);
  note(sprintf '%s: the first query takes %.2f s, of which its service %.2f s', $self->{provider}, $opening, $answer);
SKIP:
  {
    my ($load) = -r '/proc/loadavg' ? slurp_file('/proc/loadavg') =~ /^(\S+)/ : 0;
    skip 'the machine is too slow to say how long opening takes', 1 if $opening - $answer > 2 && $load > 4;
    cmp_ok($opening - $answer, '<=', 2, 'within 2 s, but for what its service takes');
  }
  return;
}

sub survives
{
  my ($self, $case) = @_;
  my $node = $self->{node};

  service($self, $case);
  is(lines_of($node, $read), 'value 7', "$case: the running server goes on");
  $node->restart;
  my $offset = log_offset($node);
  is(lines_of($node, 'SELECT n FROM plain'), '1', "$case: a restarted one serves plain tables");
  fails_with($node, $read, { state => 'TDE01', message => qr/^wallet is not open$/ }, "$case: encrypted ones not");
  my @said = tool_lines($self, $offset);
  is(scalar(@said), 1, "$case: the log has one line of why") or diag(log_since($node, $offset));
  note($said[0]);
  like(log_since($node, $offset), qr/DETAIL:  child process exited with exit code $codes{$case}$/m, "$case: and the exit code");
  service($self, $undo{$case});
  is(attempt($node, 'SELECT tde_wallet_open()')->{state}, '', "$case: it opens again");
  return;
}

foreach my $provider (split ' ', $ENV{PROVIDERS})
{
  subtest $provider => sub {
    my $node = tde_node("custody_$provider", extension => 1, install => $ENV{USERS_INSTALL});
    my $self = custody($node, $provider, timeout => 10);

    $node->start;
    lines_of($node, q{SELECT tde_wallet_create('a typed passphrase'); CREATE TABLE t (id int PRIMARY KEY, a encrypted_text);
      INSERT INTO t SELECT i, 'value ' || i FROM generate_series(1, 20) i; CREATE TABLE plain AS SELECT 1 AS n});
    my $init = call_tool($self, 'init');
    is($init->{code}, 0, 'init moves the wallet from a typed passphrase') or diag($init->{err});
    set_conf($node, 'tde_column.passphrase_command' => command_for($self));
    opens_quickly($self);

    $self->{wallet}{timeout} = 4;
    survives($self, $_) foreach qw(down slow garbage revoke other);

    my ($passphrase, $key, $blob) = (call_tool($self, 'get')->{out}, field($self, 'key'), field($self, 'blob'));
    my $wallet = read_bytes(wallet_path($node));
    $self->{wallet}{timeout} = 10;
    service($self, 'newer');
    my $rotate = call_tool($self, 'rotate');
    is($rotate->{code}, 0, 'rotate') or diag($rotate->{err});
    isnt(field($self, 'blob'), $blob, 'wraps anew');
    isnt(field($self, 'key'), $key, 'by another version of the key') unless $provider =~ /systemd/;    # a machine has one secret
    is(call_tool($self, 'get')->{out}, $passphrase, 'the same passphrase');
    is(read_bytes(wallet_path($node)), $wallet, 'and the wallet is as it was');
    opened_by_command($self, $read, 'value 7', 'which the server opens');

    service($self, 'stop');
    $node->stop;
  };
}
done_testing();
