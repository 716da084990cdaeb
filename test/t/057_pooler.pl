# Clients behind pgbouncer in transaction mode: transparent results, prepared statements, and what SET does to the others.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my ($program) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin';
plan skip_all => 'SKIPPED: there is no pgbouncer on PATH' if !$program;
my ($version) = `$program --version` =~ /PgBouncer (\d+\.\d+)/ or die 'pgbouncer tells no version';
my $knows_statements = $version =~ /^1\.(\d+)/ ? $1 >= 21 : 1;

my $node = tde_node('pooler', extension => 1, conf => "log_min_messages = warning\n");
$node->start;
lines_of($node, q{SELECT tde_wallet_create('pooler-passphrase');
  CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text(nosalt), amount encrypted_numeric, born encrypted_date);
  CREATE INDEX ON card (pan);
  INSERT INTO card SELECT i, 'pan' || i, i + 0.5, date '2000-01-01' + i FROM generate_series(1, 100) i});

# The pooler is where a node would be, for clients.
my $folder = PostgreSQL::Test::Utils::tempdir_short;
my $pooler = bless { host => $folder, port => PostgreSQL::Test::Cluster::get_free_port() }, 'Pooler';
sub Pooler::host { return $_[0]{host} }
sub Pooler::port { return $_[0]{port} }

my $user = getpwuid $>;
write_bytes("$folder/users", qq{"$user" ""\n});
write_bytes("$folder/ini", <<"INI" . ($knows_statements ? "max_prepared_statements = 50\n" : ''));
[databases]
postgres = host=@{[$node->host]} port=@{[$node->port]} dbname=postgres
[pgbouncer]
unix_socket_dir = $folder
listen_addr =
listen_port = @{[$pooler->port]}
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
default_pool_size = 3
logfile = $folder/log
ignore_startup_parameters = extra_float_digits
INI
my $run = IPC::Run::start([ $program, "$folder/ini" ], '<', \undef, '>', "$folder/out", '2>', "$folder/err");
my $socket = "$folder/.s.PGSQL." . $pooler->port;
for (my $tries = 0; !-S $socket && $tries < 10 * $PostgreSQL::Test::Utils::timeout_default; $tries++)
{
  select undef, undef, undef, 0.1;
}
die 'pgbouncer does not start: ' . slurp_file("$folder/err") if !-S $socket;

my @clients = map { TdeWire->connect($pooler) } 1 .. 12;
my $processes = 'SELECT count(DISTINCT pid) FROM pg_stat_activity WHERE datname = \'postgres\' AND pid <> pg_backend_pid()';

# ---- simple queries, and statements without a name ----

my $select = 'SELECT pan, amount, born FROM card WHERE pan = $1';
sub row { return sprintf 'pan%d|%d.5|%s', $_[0], $_[0], lines_of($node, "SELECT date '2000-01-01' + $_[0]"); }
my %row = map { $_ => row($_) } 1 .. 100;

# What goes wrong in so many rounds of all clients: each one asks, in the middle of what the others do.
sub wrong_answers
{
  my ($rounds, $ask) = @_;
  my @wrong;
  foreach my $round (1 .. $rounds)
  {
    foreach my $i (0 .. $#clients)
    {
      my $id  = 1 + ($round * 7 + $i * 13) % 100;
      my $got = $ask->($clients[$i], $id, $i);
      push @wrong, "client $i, id $id: $got->{error} @{ $got->{rows} } (@{ $got->{types} })"
        if $got->{error} || "@{ $got->{rows} }" ne $row{$id} || "@{ $got->{types} }" ne '25 1700 1082';
    }
  }
  return join "\n", @wrong;
}

is(wrong_answers(5, sub { $_[0]->query("SELECT pan, amount, born FROM card WHERE pan = 'pan$_[1]'") }), '', 'simple queries');
is(wrong_answers(5, sub { $_[0]->parse('', $select)->bind('', '', 0, "pan$_[1]")->describe_portal('')->fetch('', 0)->sync }), '',
  'statements without a name, with parameters');
is(wrong_answers(5, sub { $_[0]->parse('', $select, 25)->bind('', '', 0, "pan$_[1]")->describe_portal('')->fetch('', 0)->sync }), '',
  'with parameters declared as text');

# Clients within transactions at once, each on a server connection of its own; the fourth would wait.
$clients[$_]->query('BEGIN') foreach 0 .. 2;
cmp_ok(lines_of($node, $processes), '==', 3, 'three server connections');
$clients[$_]->query("INSERT INTO card VALUES (200 + $_, 'new$_', 1, '2024-01-01')") foreach 0 .. 2;
is_deeply([ map { $clients[$_]->query("SELECT pan FROM card WHERE pan LIKE 'new%'")->{rows}[0] } 0 .. 2 ], [qw(new0 new1 new2)], 'transactions');
$clients[$_]->query('ROLLBACK') foreach 0 .. 2;

# Keys are rotated meanwhile.
is(wrong_answers(3, sub { lines_of($node, 'SELECT tde_rotate_key()') if $_[2] == 0; $_[0]->parse('', $select)->bind('', '', 0, "pan$_[1]")->describe_portal('')->fetch('', 0)->sync }),
  '', 'with rotations between');

# ---- prepared statements ----

SKIP:
{
  skip "pgbouncer $version has no prepared statements in transaction mode", 4 if !$knows_statements;

  # Clients that share a statement, under other names.
  my $prepared = join ' ', map { $clients[$_]->parse("s$_", $select)->describe("s$_")->sync->{error} } 0 .. $#clients;
  is($prepared =~ s/ //gr, '', 'prepared');
  is(wrong_answers(20, sub { $_[0]->bind('', "s$_[2]", 0, "pan$_[1]")->describe_portal('')->fetch('', 0)->sync }), '', 'named statements on all server connections');

  # The table changes: its statements are planned anew, wherever they are.
  lines_of($node, q{ALTER TABLE card ALTER pan TYPE encrypted_text(nosalt, sha256); SELECT tde_rotate_key()});
  is(wrong_answers(5, sub { $_[0]->bind('', "s$_[2]", 0, "pan$_[1]")->describe_portal('')->fetch('', 0)->sync }), '', 'after ALTER TABLE and a rotation');
  my $update = 'UPDATE card SET amount = amount + $1 WHERE pan = $2 RETURNING amount';
  $clients[$_]->parse("u$_", $update)->sync foreach 0 .. $#clients;
  is(join(' ', map { $clients[$_]->execute("u$_", '1', 'pan5')->sync->{rows}[0] } 0 .. $#clients), join(' ', map { 6.5 + $_ } 0 .. $#clients),
    'UPDATE with RETURNING, one client after the other');
  lines_of($node, q{UPDATE card SET amount = 5.5 WHERE pan = 'pan5'});
}

# pgbench, as fast as it goes.
my $script = "$folder/script";
write_bytes($script, "\\set id random(1, 100)\nSELECT 1 / (amount = :id + 0.5)::int FROM card WHERE pan = 'pan' || :id;\n");
foreach my $protocol ('simple', 'extended', $knows_statements ? 'prepared' : ())
{
  my ($out, $err) = ('', '');
  IPC::Run::run([ 'pgbench', '-n', '-M', $protocol, '-c', 12, '-j', 2, '-t', 50, '-f', $script, '-h', $pooler->host, '-p', $pooler->port, 'postgres' ],
    '>', \$out, '2>', \$err);
  like($out, qr{transactions actually processed: 600/600\n(?:number of failed transactions: 0 )?}, "pgbench -M $protocol") or diag($err);
}

# ---- SET ----

# SET is for the server connection, which other clients get; SET LOCAL is for the transaction.
my $local = $clients[0]->query('BEGIN; SET LOCAL tde_column.transparent_results = off; SELECT pan FROM card WHERE id = 7; COMMIT');
is("@{ $local->{rows} }", 'pan7', 'SET LOCAL: the value is the same');
isnt("@{ $local->{types} }", '25', 'its type is the encrypted one');
is(wrong_answers(2, sub { $_[0]->query("SELECT pan, amount, born FROM card WHERE pan = 'pan$_[1]'") }), '', 'no other client notices');

$clients[0]->query('SET tde_column.transparent_results = off');
my @types = map { $clients[ $_ % @clients ]->query('SELECT pan FROM card WHERE id = 7')->{types}[0] } 0 .. 11;
ok((grep { $_ != 25 } @types), 'SET without LOCAL: others get what this client has asked for, as with every setting');
# all server connections at once, so that each is set right again
$clients[$_]->query('BEGIN; SET tde_column.transparent_results = on') foreach 0 .. 2;
$clients[$_]->query('COMMIT') foreach 0 .. 2;
is(wrong_answers(2, sub { $_[0]->query("SELECT pan, amount, born FROM card WHERE pan = 'pan$_[1]'") }), '', 'until it is set again');

# ---- the wallet closes, and opens again ----

lines_of($node, 'SELECT tde_wallet_close()');
like($_->query("SELECT pan FROM card WHERE pan = 'pan7'")->{error}, qr/^TDE01 /, 'a closed wallet') foreach $clients[4];
lines_of($node, q{SELECT tde_wallet_open('pooler-passphrase')});
is(wrong_answers(2, sub { $_[0]->query("SELECT pan, amount, born FROM card WHERE pan = 'pan$_[1]'") }), '', 'opened again, all go on');

undef @clients;
$run->signal('INT');
$run->finish;
$node->stop;
done_testing();
