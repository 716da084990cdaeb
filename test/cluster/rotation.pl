# rotation.pl - keys are rotated on the coordinator while clients write and read through three nodes, which send each other ciphertext: nobody meets a
# value whose key he lacks.  SECONDS: how long, 60 by default.
use strict;
use warnings FATAL => 'all';

use Test::More;
use Cluster;
use Load;

my $cluster = Cluster->new('rotation', shared => 1, settings => "tde_column.citus_results = ciphertext\n");
my $node    = $cluster->coordinator;
my ($worker, $other) = $cluster->workers;
my $seconds = $ENV{SECONDS_OF_LOAD} // 60;

sub fingerprints { return $node->sql(q{SELECT count(DISTINCT result) FROM run_command_on_all_nodes('SELECT tde_key_fingerprint()') WHERE success}); }

# version:state of a key on a node
sub versions
{
  my ($where, $key) = @_;
  return $where->sql("SELECT string_agg(version || ':' || state, ' ' ORDER BY version) FROM tde.keys WHERE name = '$key' AND kind = 'mac'");
}

# ---- under load ----

$node->sql(@Load::TABLES);
my $load  = Load->start($cluster->{folder}, $node, $worker, $other, $node);
my $until = time + $seconds;
my $rotations = 0;
while (time < $until)
{
  $node->sql("SELECT tde_rotate_key('$_')") foreach 'cards', 'default';
  $rotations++;
}
my $told = $load->stop;
note("$rotations rotations of two keys, " . keys(%{ $told->{control} }) . ' rows in each table');
is(join("\n", @{ $told->{notes} }), '', 'no client had an error, or found other rows than it had been told');
cmp_ok(scalar keys %{ $told->{copies} }, '>', 0, 'rows were moved between nodes');
is($node->sql('SELECT count(*) FROM copies WHERE client > 0 AND holder = \'holder \' || pan'), scalar keys %{ $told->{copies} }, '... and all are there');
like(versions($_, 'cards'), qr/^1:retired.* @{[ $rotations + 1 ]}:active$/, "$_->{name} has all versions") foreach $cluster->nodes;
is(fingerprints(), 1, 'all nodes have the same keys');

# ---- other changes, and other nodes ----

$node->sql(q{SELECT tde_create_key('late')}, q{SELECT tde_prepare_key('late')});
is(versions($_, 'late'), '1:active 2:prepared', "$_->{name} has a new key and its prepared version") foreach $cluster->nodes;
foreach my $call (q{tde_rotate_key('late')}, q{tde_prepare_key('late')}, q{tde_create_key('of_worker')})
{
  like($worker->whole_error("SELECT $call"), qr/^55000 cannot change keys on a worker, since the nodes share their keys.*on the coordinator/s, "$call is refused on a worker");
}
is($worker->sql(q{SELECT count(*) FROM tde.keys WHERE name = 'of_worker'}), 0, '... and nothing is made');

$node->sql('BEGIN', q{SELECT tde_rotate_key('late')}, 'ROLLBACK');
is(versions($node, 'late'), '1:active 2:prepared', 'a rotation that is rolled back');
is(versions($worker, 'late'), '1:retired 2:active', '... has come to other nodes');
$node->sql('CREATE TABLE late (id int, a encrypted_text(\'key=late\'))', q{SELECT create_distributed_table('late', 'id')});
$worker->sql(q{INSERT INTO late SELECT g, 'late' || g FROM generate_series(1, 20) g});
is($_->sql(q{SELECT count(*) FROM late WHERE a = 'late' || id}), 20, "... whose values $_->{name} reads") foreach $cluster->nodes;
$node->sql(q{SELECT tde_rotate_key('late')});
is(versions($_, 'late'), '1:retired 2:active', "... and the next one goes on there: $_->{name}") foreach $cluster->nodes;
is(fingerprints(), 1, '... with the same keys');

# two at once: one after the other
my @at_once = map { $node->client } 1 .. 3;
$_->ask(q{SELECT tde_rotate_key('late')}) foreach @at_once;
is(join(' ', sort map { $_->until_ready->{rows}[0] } @at_once), '3 4 5', 'three sessions rotate at once');
is(fingerprints(), 1, '... with the same keys');

$worker->sql('SELECT tde_wallet_close()');
my $error = $node->whole_error(q{SELECT tde_rotate_key('late')});
like($error, qr/^55000 could not bring keys to node 127\.0\.0\.1:$worker->{port}.*wallet is not open.*citus_disable_node/s, 'a node whose wallet is closed is named');
is(versions($node, 'late') =~ s/.* //r, '5:active', '... and nothing is rotated');
$worker->sql(q{SELECT tde_wallet_open('cluster-passphrase')});
is($node->sql(q{SELECT tde_rotate_key('late')}), 6, '... until it is open');

$worker->stop;
like($node->whole_error(q{SELECT tde_rotate_key('late')}), qr/^55000 could not bring keys to node 127\.0\.0\.1:$worker->{port}/, 'a node that is down is named');
$worker->start;
is($node->sql(q{SELECT tde_rotate_key('late')}), 7, '... until it is up');
is(fingerprints(), 1, '... with the same keys');

# who may
$node->sql('CREATE ROLE keeper LOGIN', 'GRANT EXECUTE ON FUNCTION tde_rotate_key(text) TO keeper');
like($node->whole_error('SET ROLE keeper; SELECT tde_rotate_key()'), qr/permission denied for function tde_take_keys/, 'who may not have keys adopted on a node rotates none');
$_->sql('GRANT EXECUTE ON FUNCTION tde_internal.tde_take_keys(text) TO keeper') foreach $cluster->nodes;
cmp_ok($node->sql('SET ROLE keeper', 'SELECT tde_rotate_key()'), '>', 1, '... and who may, does');

# what nodes are given
my ($given) = $node->sql(q{SELECT tde_export_keys('a secret of somebody', adoptable => true)});
like($worker->error("SELECT tde_internal.tde_take_keys('$given')"), qr/^TDE04 could not unwrap exported keys/, 'keys under another secret are not taken');
like($worker->error("SELECT tde_internal.tde_take_keys('$_')"), qr/^22023 text does not contain keys/, "nor '$_'") foreach '', 'tdekeys:', 'tdekeys:AAAA';

# a node with keys of its own
my $stranger = $cluster->add_stranger;
my $before   = $stranger->sql('SELECT tde_key_fingerprint()');
is($node->sql(q{SELECT tde_rotate_key('late')}), 8, 'beside a node with keys of its own');
is($stranger->sql('SELECT tde_key_fingerprint()'), $before, '... which keeps them');
is($stranger->sql(q{SELECT tde_rotate_key()}), 2, '... and rotates them itself');

done_testing();
