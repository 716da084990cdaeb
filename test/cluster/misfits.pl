# misfits.pl - nodes that do not fit: with another server's wallet, or with an older library.  An error names the node, the others go on, and
# nothing is half-written.  In which order the libraries are loaded does not matter.

use strict;
use warnings FATAL => 'all';

use Cluster;
use Test::More;

my $cluster = Cluster->new('misfits', shared => 1);
my $node    = $cluster->coordinator;
my ($worker, $other) = $cluster->workers;

$node->sql(
  'CREATE TABLE card (pan encrypted_text(nosalt), holder encrypted_text)',
  q{SELECT create_distributed_table('card', 'pan')},
  q{INSERT INTO card SELECT 'pan' || g, 'holder' || g FROM generate_series(1, 200) g});
my ($here, $elsewhere) = map { one_of($_) } $worker, $other;
isnt($here, $elsewhere, 'both workers have rows');

# The key of a row that a worker has.
sub one_of
{
  my ($of) = @_;
  return $node->sql(q{SELECT min(result) FROM run_command_on_placements('card', 'SELECT min(pan) FROM %s') WHERE nodeport = } . $of->{port});
}

# A worker does not serve and is named, the other one does; afterwards, all is as it was.
sub is_named
{
  my ($name, $error) = @_;
  my $place = qr/127\.0\.0\.1:$worker->{port}/;
  foreach my $statement (
    "SELECT holder FROM card WHERE pan = '$here'",
    "UPDATE card SET holder = 'another' WHERE pan = '$here'",
    q{INSERT INTO card SELECT 'new' || g, 'new' FROM generate_series(1, 50) g},
    'SELECT count(holder || pan) FROM card')
  {
    my $said = $node->whole_error($statement);
    like($said, $error, "$name: $statement");
    like($said, $place, '... names the node');
  }
  is($node->sql("UPDATE card SET holder = holder || '' WHERE pan = '$elsewhere' RETURNING holder"), $elsewhere =~ s/pan/holder/r, '... the other node goes on');
  return;
}

sub is_whole
{
  my ($name) = @_;
  is($node->sql(q{SELECT count(*), count(DISTINCT holder), count(*) FILTER (WHERE holder LIKE 'holder%') FROM card}), '200|200|200', "$name: all rows are there, and no others");
  return;
}

# ---- another server's wallet ----

my $stranger = $cluster->new_server('stranger');
$stranger->sql('CREATE EXTENSION tde_column', q{SELECT tde_wallet_create('cluster-passphrase')});
$stranger->stop;
$worker->stop;
Cluster::shell("cd $worker->{folder} && mv wallet own && cp -R $stranger->{folder}/wallet wallet");
$worker->start;
is_named('another wallet', qr/master key/);
$worker->stop;
Cluster::shell("cd $worker->{folder} && rm -r wallet && mv own wallet");
$worker->start;
is_whole('its own wallet again');

# ---- an older library ----

my $old = $cluster->old_programs('0.1.0');
$worker->stop;
$worker->start($old);
# what is new in 0.2.0 is missing there
is_named('an older library', qr/^(?:TDE04 could not authenticate|22023 invalid modifiers|55000 cannot use a table that is distributed|42883 could not find function "tde_)/);
$worker->stop;
$worker->start;
is_whole('this library again');

my $late = $cluster->prepare('late')->start($old);
$late->sql('CREATE EXTENSION tde_column', q{SELECT tde_wallet_create('cluster-passphrase')}, 'CREATE EXTENSION citus');
like($node->whole_error("SELECT citus_add_node('127.0.0.1', $late->{port})"), qr/127\.0\.0\.1:$late->{port}/s, 'a node with an older library is not added, and named');
is($node->sql("SELECT count(*) FROM pg_dist_node WHERE nodeport = $late->{port}"), 0, '... not in part either');
is_whole('without it');

# ---- the other order of libraries ----

foreach my $server ($node, $worker, $other)
{
  $server->stop->set(q{shared_preload_libraries = 'tde_column,citus'})->start;
}
is_whole('tde_column before citus');
is($node->sql("SELECT holder FROM card WHERE pan = '$here'"), $here =~ s/pan/holder/r, '... a row is found by its key');
like($node->sql("EXPLAIN SELECT holder FROM card WHERE pan = '$here'"), qr/Task Count: 1\b/, '... on one node');
is($node->sql(q{INSERT INTO card SELECT 'new' || g, 'new' FROM generate_series(1, 50) g RETURNING 1}) =~ tr/1//, 50, '... rows are written');
is($node->sql(q{UPDATE card SET holder = pan WHERE pan LIKE 'new%' RETURNING holder}) =~ tr/n//, 50, '... and changed');

done_testing();
