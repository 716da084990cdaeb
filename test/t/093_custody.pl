# tde-passphrase: the passphrase under a key of a service, here GnuPG's agent.  What happens to services of all kinds: make check-custody.

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

foreach my $program ('gpg', '/usr/bin/python3')
{
  plan(skip_all => "$program is not here") if system("command -v $program >/dev/null") != 0;
}

my $node = tde_node('custody', extension => 1);
my $self = custody($node, 'gnupg');
my $path = envelope_of($self);
my $read = 'SELECT a FROM t WHERE id = 7';
my $result;

sub fails
{
  my ($code, $text, $name, @command) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  my $got = call_tool($self, @command ? @command : 'get');

  is($got->{code}, $code, "$name: exit code") or diag($got->{err});
  like($got->{err}, qr/^tde-passphrase: .*$text[^\n]*\n\z/, "$name: why, in one line");
  is($got->{out}, '', "$name: prints nothing");
  return;
}

sub succeeds
{
  my ($name, @command) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  my $got = call_tool($self, @command);
  is($got->{code}, 0, $name) or diag($got->{err});
  return $got->{out};
}

# ---- what make install has installed ----

chomp(my $bindir = (run_command([ 'pg_config', '--bindir' ]))[0]);
like((run_command([ "$bindir/tde-passphrase", '--help' ]))[0], qr/^usage: tde-passphrase /m, 'the command is beside those of the server');
like((run_command([ "$bindir/tde-passphrase", 'no', 'get' ]))[1], qr/could not open "\/etc\/tde_column\/kms.conf"|there is no provider/, 'and finds its parts');

# ---- a new wallet ----

fails(66, 'there is no envelope', 'get before init');
fails(64, 'usage: ', 'a wrong call', 'open');
like(succeeds('init', 'init'), qr/holds the passphrase, wrapped by gnupg, key [0-9A-F]{40}\nnext: set tde_column\.passphrase_command, then SELECT tde_wallet_create/, 'init says what comes next');
is((stat $path)[2] & 07777, 0600, 'nobody else reads the envelope');
my $passphrase = succeeds('get', 'get');
like($passphrase, qr/^[0-9a-f]{64}\n\z/, 'get prints 256 bits');
unlike(read_bytes($path), qr/\Q@{[ substr($passphrase, 0, 16) ]}\E/, 'which are not in the envelope');
fails(73, 'is there: rotate wraps its passphrase anew', 'init again', 'init');

$node->append_conf('postgresql.conf', "tde_column.passphrase_command = '" . command_for($self) . "'\n");
$node->start;
lines_of($node, q{SELECT tde_wallet_create(); CREATE TABLE t (id int PRIMARY KEY, a encrypted_text); INSERT INTO t SELECT i, 'value ' || i FROM generate_series(1, 20) i;
  CREATE TABLE plain AS SELECT 1 AS n});
opened_by_command($self, $read, 'value 7', 'the server opens the wallet by it');
like(succeeds('check', 'check'), qr/^".*envelope" opens ".*tde\.p12"\nwrapped by gnupg, key [0-9A-F]{40}\n\z/, 'check says which key it is');

# ---- rotate ----

my $wallet = read_bytes(wallet_path($node));
my $before = field($self, 'key');
service($self, 'newer');
like(succeeds('check', 'check'), qr/"tde-passphrase gnupg rotate" would wrap it by gnupg, key (?!$before)/, 'check tells of a newer key');
succeeds('rotate', 'rotate');
isnt(field($self, 'key'), $before, 'rotate wraps by the newer key');
is(succeeds('get after rotate', 'get'), $passphrase, 'the same passphrase');
is(read_bytes(wallet_path($node)), $wallet, 'and the wallet is as it was');

# ---- a wallet under a typed passphrase, with and without a command ----

my $typed = tde_node('typed', extension => 1);
my $other = { %$self, node => $typed, conf => $typed->basedir . '/kms.conf', wallet => { %{ $self->{wallet} }, file => wallet_path($typed), PGPORT => $typed->port, PGHOST => $typed->host } };
service($other, 'up');
$typed->start;
$result = call_tool($other, 'check');
is($result->{code}, 66, 'no envelope and no wallet');
lines_of($typed, q{SELECT tde_wallet_create('a typed passphrase'); SELECT tde_wallet_close()});
$result = call_tool($other, 'init');
is($result->{code}, 73, 'init while the wallet is closed');
like($result->{err}, qr/no passphrase command is configured.*HINT: Give the passphrase to tde_wallet_open\(\)/, 'says what to do');
lines_of($typed, q{SELECT tde_wallet_open('a typed passphrase'); CREATE TABLE t (id int, a encrypted_text); INSERT INTO t VALUES (7, 'typed')});
$result = call_tool($other, 'init');
is($result->{code}, 0, 'init moves a wallet from a typed passphrase') or diag($result->{err});
my ($copy) = $result->{out} =~ /copied to "(.*?)"/;
is((stat $copy)[2] & 07777, 0600, 'with a copy of it before');
is(lines_of($typed, $read), 'typed', 'the server reads on');
set_conf($typed, 'tde_column.passphrase_command' => command_for($other));
opened_by_command($other, $read, 'typed', 'and opens it by the command');
$result = attempt($typed, q{SELECT tde_wallet_close(); SELECT tde_wallet_open('a typed passphrase')});
is($result->{state}, 'TDE02', 'the typed passphrase opens it no more');
lines_of($typed, 'SELECT tde_wallet_open()');

my $first = call_tool($other, 'get')->{out};
$typed->restart;    # init has it opened
$result = call_tool($other, 'init', '--replace');
is($result->{code}, 0, 'init --replace, beside a command') or diag($result->{err});
isnt(call_tool($other, 'get')->{out}, $first, 'makes another passphrase');
opened_by_command($other, $read, 'typed', 'which the server opens the wallet by');
write_bytes(wallet_path($typed) . '.before', read_bytes($copy));

# the server refuses: the wallet stays as it is, and so does what get prints
$first = call_tool($other, 'get')->{out};
set_conf($typed, 'tde_column.wallet_backup_command' => 'false');
$result = call_tool($other, 'init', '--replace');
is($result->{code}, 73, 'init where the server refuses') or diag($result->{err});
like($result->{err}, qr/^tde-passphrase: the server did not change the passphrase: .*backup.*\n\z/, 'says what the server says');
is(call_tool($other, 'get')->{out}, $first, 'get prints what opens the wallet');
like(call_tool($other, 'check')->{out}, qr/init was interrupted: call it again/, 'check tells of it');
is(call_tool($other, 'rotate')->{code}, 73, 'rotate waits for that');
opened_by_command($other, $read, 'typed', 'and the server opens it');
set_conf($typed, 'tde_column.wallet_backup_command' => '');
is(call_tool($other, 'init')->{code}, 0, 'init goes on');
opened_by_command($other, $read, 'typed', 'to the end');

# ---- envelopes that are none of this wallet's, or were changed ----

my $good = read_bytes($path);
sub with_envelope
{
  my ($content, @rest) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  write_bytes($path, $content);
  chmod 0600, $path;
  fails(@rest);
  return;
}
with_envelope(read_bytes(envelope_of($other)), 65, 'is not that of wallet', 'the envelope of another wallet');
foreach my $field ('id', 'key')
{
  my $value = field($other, $field, "$path");
  (my $changed = $good) =~ s/("$field": ".*?)(.)"/$1 . ($2 eq '0' ? '1' : '0') . '"'/e;
  with_envelope($changed, 65, 'the envelope was changed, or', "another $field in the envelope");
}
(my $swapped = $good) =~ s/"blob": ".*?"/'"blob": "' . field($other, 'blob', envelope_of($other)) . '"'/e;
with_envelope($swapped, 65, 'the envelope was changed, or', 'what another envelope has wrapped');
with_envelope('', 65, 'is no envelope', 'an empty envelope');
with_envelope(substr($good, 0, 100), 65, 'is no envelope', 'half an envelope');
with_envelope($good =~ s/"provider": "gnupg"/"provider": "..\/x"/r, 65, 'is no envelope', 'a provider that is a path');
with_envelope($good =~ s/"provider": "gnupg"/"provider": "none"/r, 64, 'there is no provider "none", only age, aws, ', 'a provider that nobody knows');
write_bytes($path, $good);

# ---- who may write ----

foreach my $case ([ $path, 0620, 'others may write ".*envelope"' ], [ $self->{conf}, 0646, 'others may write ".*conf"' ], [ $node->basedir . '/wallet', 0770, 'others may write to folder' ])
{
  my ($file, $mode, $text) = @$case;
  my $old = (stat $file)[2] & 07777;
  chmod $mode, $file;
  fails(77, $text, 'a file that others may write');
  chmod $old, $file;
}
unlink $path;
symlink "$path.gone", $path;
fails(66, 'could not open', 'a link that leads nowhere');
unlink $path;
write_bytes($path, $good);
$self->{settings}{gnupg}{AWS_SECRET_ACCESS_KEY} = 'in-clear';
service($self, 'up');
fails(78, 'AWS_SECRET_ACCESS_KEY in section \[gnupg\] is a secret in clear', 'a secret in the settings');
delete $self->{settings}{gnupg}{AWS_SECRET_ACCESS_KEY};
service($self, 'up');

# ---- what the service's program sees, and who else: nothing in arguments and environment, no core file, nobody's PATH ----

my $seen = $self->{folder} . '/seen';
my $gpg  = $self->{folder} . '/gnupg/bin/gpg';
my ($true_gpg) = grep { -x } map { "$_/gpg" } split /:/, $ENV{PATH};
write_bytes($gpg, qq{#!/bin/sh\n{ echo "\$@"; env; ulimit -c; umask; tr '\\0' ' ' </proc/\$PPID/cmdline; } >>$seen; exec $true_gpg "\$@"\n});
chmod 0755, $gpg;
{
  local $ENV{TDE_LEAK} = 'of the caller';
  local $ENV{LC_ALL}   = 'xx_YY.nonsense';
  local $ENV{PYTHONPATH} = '/nonexistent';
  succeeds("$_, watched", $_) foreach 'rotate', 'get', 'check';
}
my $what = slurp_file($seen);
unlike($what, qr/\Q@{[ substr($passphrase, 0, 16) ]}\E/, 'the passphrase is in no argument and no variable');
unlike($what, qr/TDE_LEAK|xx_YY/, 'variables of the caller stay out');
like($what, qr/^0\n0077\n/m, 'no core file, and files for nobody else');
unlink $gpg;

# ---- the service fails ----

my %fails = (
  down    => [ 77, 'the service refuses: gpg: .*No secret key' ],
  slow    => [ 75, 'the service did not answer within 2 s' ],
  garbage => [ 65, 'the service answered with something that is no passphrase of ours' ],
  other   => [ 77, 'the service refuses: gpg: .*No secret key' ]);
$self->{wallet}{timeout} = 2;
foreach my $case (sort keys %fails)
{
  my ($code, $text) = @{ $fails{$case} };
  lines_of($node, $read);
  service($self, $case);
  is(lines_of($node, $read), 'value 7', "$case: the running server goes on");
  $node->restart;
  my $offset = log_offset($node);
  is(lines_of($node, 'SELECT n FROM plain'), '1', "$case: a restarted one serves plain tables");
  fails_with($node, $read, { state => 'TDE01', message => qr/^wallet is not open$/, hint => qr/the server log says why/ }, "$case: encrypted ones not");
  my @said = tool_lines($self, $offset);
  is(scalar(@said), 1, "$case: the log has one line of why");
  like($said[0], qr/$text.*\(envelope ".*", key [0-9A-F]{40}\)$/, "$case: with the envelope and the key");
  like(log_since($node, $offset), qr/LOG:  passphrase command failed\n.*DETAIL:  child process exited with exit code $code$/m, "$case: and the exit code");
  service($self, $case eq 'other' ? 'own' : 'up');
  lines_of($node, 'SELECT tde_wallet_open()');
  is(lines_of($node, $read), 'value 7', "$case: it opens again");
}
ok(none_left('sleep 61'), 'nothing is left running');

service($self, 'stop');
$_->stop foreach $node, $typed;
done_testing();
