# TdeCustody - what the tests of tde-passphrase have in common: its settings, its calls, and services of test/custody.

package TdeCustody;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

our @EXPORT = qw(custody service write_conf command_for envelope_of field call_tool tool_lines opened_by_command);

my ($top) = $FindBin::RealBin =~ m{^(.*?)/(?:test|modules)/};
our $tool = "$top/clients/kms/tde-passphrase";

# The wallet of this node by this provider: {node, provider, conf, folder}.  The service, if there is one, is started.
sub custody
{
  my ($node, $provider, %settings) = @_;
  # gpg's sockets want a short path
  my $self = { node => $node, provider => $provider, conf => $node->basedir . '/kms.conf', folder => PostgreSQL::Test::Utils::tempdir_short(), settings => {} };

  $self->{wallet} = { file => wallet_path($node), timeout => 5, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres', psql => $node->config_data('--bindir') . '/psql', %settings };
  service($self, 'start');
  service($self, 'up');
  return $self;
}

sub write_conf
{
  my ($self) = @_;
  my $text = '';
  foreach my $section ([ 'wallet', $self->{wallet} ], map { [ $_, $self->{settings}{$_} ] } sort keys %{ $self->{settings} })
  {
    $text .= "[$section->[0]]\n" . join('', map { "$_ = $section->[1]{$_}\n" } sort keys %{ $section->[1] });
  }
  write_bytes($self->{conf}, $text);
  chmod 0600, $self->{conf};
  return;
}

# What test/custody/service knows; it prints settings that have changed.
sub service
{
  my ($self, $action) = @_;
  local $ENV{CUSTODY} = $self->{folder};
  my ($out, $err) = ('', '');

  # not until the daemons end that it starts, which have its output no more
  IPC::Run::run([ "$top/test/custody/service", $self->{provider}, $action ], '<', \undef, '>', \$out, '2>', \$err)
    or die "test/custody/service $self->{provider} $action failed: $out$err";
  $self->{settings}{ $self->{provider} }{$1} = $2 while $out =~ /^(\S+) = (.*)$/mg;
  write_conf($self);
  return;
}

# For tde_column.passphrase_command.
sub command_for
{
  my ($self) = @_;
  return "$tool --config $self->{conf} $self->{provider} get";
}

sub envelope_of { return wallet_path($_[0]{node}) . '.envelope'; }

sub field
{
  my ($self, $name, $path) = @_;
  return read_bytes($path // envelope_of($self)) =~ /"$name": "(.*?)"/ ? $1 : undef;
}

# {code, out, err} of a call.
sub call_tool
{
  my ($self, @arguments) = @_;
  my ($out, $err) = ('', '');

  IPC::Run::run([ $tool, '--config', $self->{conf}, $self->{provider}, @arguments ], '<', \undef, '>', \$out, '2>', \$err);
  return { code => $? >> 8, signal => $? & 127, out => $out, err => $err };
}

# What the tool has said in the server's log since then.
sub tool_lines
{
  my ($self, $offset) = @_;
  return grep { /^tde-passphrase: / } split /\n/, log_since($self->{node}, $offset);
}

# After a restart, which forgets what is open, the first query reads.
sub opened_by_command
{
  my ($self, $sql, $expected, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  $self->{node}->restart;
  return is(attempt($self->{node}, $sql)->{out}, $expected, $name);
}

1;
