# Cluster - a coordinator and two workers of Citus on private servers, with keys that they share or with keys of their own.
package Cluster;

use strict;
use warnings FATAL => 'all';

use IO::Socket::INET;
use TdeInstall qw(install_old);
use TdeWire;

my @running;

sub shell
{
  my ($command) = @_;
  system('bash', '-c', $command) == 0 or die "failed: $command";
  return;
}

# A port that nobody listens at.
sub free_port
{
  my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "no free port: $!";
  return $socket->sockport;
}

# ->new('name', shared => 0 or 1): starts it; 'settings' are added to postgresql.conf of all nodes.
sub new
{
  my ($class, $name, %options) = @_;
  my $folder = "$ENV{TDE_CLUSTER}/$name";
  my $self   = bless { folder => $folder, nodes => [] }, $class;

  mkdir $folder or die "$folder: $!";
  push @{ $self->{nodes} }, Cluster::Node->new($self, $_, free_port()) foreach qw(coordinator worker1 worker2);
  my ($coordinator, @workers) = @{ $self->{nodes} };
  $coordinator->initdb($options{settings} // '');
  if ($options{shared})
  {
    $coordinator->start->keys;
    $coordinator->stop;
    $_->copy_of($coordinator) foreach @workers;
  }
  else
  {
    $_->initdb($options{settings} // '') foreach @workers;
  }
  foreach my $node ($coordinator, @workers)
  {
    $node->start;
    $node->keys unless $options{shared};
    $node->sql('CREATE EXTENSION citus', 'CREATE EXTENSION IF NOT EXISTS citus_columnar');
  }
  $coordinator->sql("SELECT citus_set_coordinator_host('127.0.0.1', $coordinator->{port})");
  $coordinator->sql("SELECT citus_add_node('127.0.0.1', $_->{port})") foreach @workers;
  return $self;
}

# One more server, which runs, and is no node yet.
sub new_server
{
  my ($self, $name, $settings) = @_;
  return $self->prepare($name, $settings)->start;
}

# ... that does not run yet.
sub prepare
{
  my ($self, $name, $settings) = @_;
  return Cluster::Node->new($self, $name, free_port())->initdb($settings // '');
}

# An installation with an earlier version of the extension: its folder of programs.
sub old_programs
{
  my ($self, $version) = @_;
  my $folder = "$self->{folder}/$version";
  mkdir $folder or die "$folder: $!";
  return install_old($version, $folder) . '/bin';
}

sub add
{
  my ($self, $node) = @_;
  $self->coordinator->sql("SELECT citus_add_node('127.0.0.1', $node->{port})");
  push @{ $self->{nodes} }, $node;
  return $node;
}

# One more worker, with keys of its own.
sub add_stranger
{
  my ($self) = @_;
  my $node = $self->new_server('stranger')->keys;

  $node->sql('CREATE EXTENSION citus');
  return $self->add($node);
}

sub coordinator { return $_[0]{nodes}[0]; }
sub workers     { return @{ $_[0]{nodes} }[ 1, 2 ]; }
sub nodes       { return @{ $_[0]{nodes} }; }

END
{
  my $status = $?;
  foreach my $node (@running) { system "pg_ctl -D $node->{data} -m immediate stop >/dev/null 2>&1"; }
  $? = $status;
}

package Cluster::Node;

sub new
{
  my ($class, $cluster, $name, $port) = @_;
  my $folder = "$cluster->{folder}/$name";
  return bless { name => $name, port => $port, folder => $folder, data => "$folder/data", socket => $cluster->{folder} }, $class;
}

sub host { return $_[0]{socket}; }
sub port { return $_[0]{port}; }

sub settings
{
  my ($self) = @_;
  return <<"CONF";
port = $self->{port}
tde_column.wallet_file = '$self->{folder}/wallet/tde_column.p12'
CONF
}

sub initdb
{
  my ($self, $more) = @_;
  Cluster::shell("mkdir -p -m 700 $self->{folder}/wallet && initdb -D $self->{data} -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null");
  return $self->set(<<"CONF" . $more . $self->settings);
listen_addresses = '127.0.0.1'
unix_socket_directories = '$self->{socket}'
shared_preload_libraries = 'citus,tde_column'
tde_column.passphrase_command = 'echo cluster-passphrase'
fsync = off
max_prepared_transactions = 50
wal_level = logical
citus.shard_count = 4
citus.enable_statistics_collection = off
max_connections = 200
CONF
}

sub copy_of
{
  my ($self, $other) = @_;
  Cluster::shell("mkdir -p $self->{folder} && cp -R $other->{data} $other->{folder}/wallet $self->{folder}");
  return $self->set($self->settings);
}

# bin: the programs of another installation.
sub start
{
  my ($self, $bin) = @_;
  my $pg_ctl = ($bin ? "$bin/" : '') . 'pg_ctl';
  Cluster::shell("$pg_ctl -D $self->{data} -l $self->{folder}/log -w start >/dev/null");
  push @running, $self;
  return $self;
}

# More lines of postgresql.conf, for the next start.
sub set
{
  my ($self, $lines) = @_;
  open my $conf, '>>', "$self->{data}/postgresql.conf" or die $!;
  print $conf "$lines\n";
  close $conf;
  return $self;
}

sub stop
{
  my ($self, $mode) = @_;
  Cluster::shell("pg_ctl -D $self->{data} -m " . ($mode // 'fast') . ' -w stop >/dev/null');
  return $self;
}

# The extension, a wallet and keys of all kinds.
sub keys
{
  my ($self) = @_;
  $self->sql('CREATE EXTENSION tde_column');
  $self->sql("SELECT tde_wallet_create('cluster-passphrase')");
  $self->sql("SELECT tde_create_key('cards')");
  $self->sql('CREATE TABLE made (a encrypted_text(nomac), b encrypted_text(mac))', 'DROP TABLE made');
  return $self;
}

# The keys of another node in place of its own.
sub adopt
{
  my ($self, $origin) = @_;
  my $keys = $origin->sql(q{SELECT tde_export_keys('a secret for nodes', adoptable => true)});

  $self->sql("SELECT tde_import_keys('$keys', 'a secret for nodes', adopt => true)");
  return $self;
}

# A base backup without the wallet, and the server as it was then.
sub backup
{
  my ($self) = @_;
  Cluster::shell("pg_basebackup -h $self->{socket} -p $self->{port} -U postgres -D $self->{folder}/backup -X stream -c fast --no-sync");
  return $self;
}

sub restore
{
  my ($self) = @_;
  $self->stop('immediate');
  Cluster::shell("rm -rf $self->{data} && mv $self->{folder}/backup $self->{data}");
  return $self->start;
}

# A client that stays connected.
sub client { return TdeWire->connect($_[0]); }

# Statements of a session of its own; the last one's rows.
sub sql
{
  my ($self, @statements) = @_;
  my $client = $self->client;
  my $got;

  foreach (@statements)
  {
    $got = $client->query($_);
    die "$self->{name}: $got->{error}\n$_\n" if $got->{error};
  }
  return join "\n", @{ $got->{rows} };
}

# The error of a statement: SQLSTATE and message; '' if there is none.
sub error
{
  my ($self, $statement) = @_;
  return $self->client->query($statement)->{error};
}

# The same with detail, hint and context, a line each.
sub whole_error
{
  my ($self, $statement) = @_;
  my $got = $self->client->query($statement);
  return join "\n", $got->{error}, grep { defined } @{ $got->{fields} }{qw(D H W)};
}

1;
