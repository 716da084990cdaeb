# nodes.pl - shards move, nodes come and go, and one is restored from an old backup, while clients write and read encrypted columns: what
# they were told stays true.
use strict;
use warnings FATAL => 'all';

use Test::More;
use Cluster;
use Load;

my $cluster = Cluster->new('nodes', shared => 1, settings => "citus.background_task_queue_interval = '1s'\n");
my $node    = $cluster->coordinator;
my ($worker1, $worker2) = $cluster->workers;

# A shard of a table on a node.
sub shard
{
  my ($table, $where) = @_;
  return $node->sql("SELECT min(shardid) FROM citus_shards WHERE table_name = '$table'::regclass AND nodeport = $where->{port}");
}
sub shards { return $node->sql("SELECT count(*) FROM citus_shards WHERE table_name <> 'kind'::regclass AND nodeport = $_[0]{port}"); }

sub move
{
  my ($shard, $from, $to, $mode) = @_;
  return "SELECT citus_move_shard_placement($shard, '127.0.0.1', $from->{port}, '127.0.0.1', $to->{port}, '$mode')";
}

# The message, detail and hint of a warning that psql shows with the error.
sub shown
{
  my ($sql) = @_;
  open my $psql, '-|', qq{psql -XAtq -h $node->{socket} -p $node->{port} -U postgres -d postgres -c "$sql" 2>&1} or die $!;
  return join '', <$psql>;
}

# What moves have left behind is gone: Citus tries again while it is in use, but not when its node is.
sub cleaned
{
  foreach (1 .. 60)
  {
    $node->sql('CALL citus_cleanup_orphaned_resources()');
    return if !$node->sql('SELECT count(*) FROM pg_dist_cleanup');
    sleep 1;
  }
  die 'not cleaned up: ', shown('CALL citus_cleanup_orphaned_resources()'), $node->sql('SELECT * FROM pg_dist_cleanup');
}

sub rebalance
{
  cleaned();
  return $node->sql(q{SELECT rebalance_table_shards(shard_transfer_mode => 'block_writes')});
}

sub set_everywhere
{
  my ($setting) = @_;
  foreach my $each ($cluster->nodes)
  {
    $each->sql("ALTER SYSTEM SET $setting", 'SELECT pg_reload_conf()');
  }
  return;
}

# ---- under load ----

$node->sql(@Load::TABLES);
$node->sql(q{INSERT INTO card SELECT '0-' || g, 'holder 0-' || g, 0, 0 FROM generate_series(1, 20000) g},
  q{INSERT INTO pay SELECT g, '0-' || g, g, 0 FROM generate_series(1, 20000) g});
my $load = Load->start($cluster->{folder}, $node, $node, $worker1);

# What is done while the clients work.
sub meanwhile
{
  my ($name, $action) = @_;
  my $count  = 'SELECT count(*) FROM control';
  my $before = $node->sql($count);
  is(eval { $action->(); 1 } ? '' : $@, '', $name);
  cmp_ok($node->sql($count), '>', $before, '... while clients write');
  return;
}

foreach my $results ('plaintext', 'ciphertext')
{
  set_everywhere("tde_column.citus_results = $results");
  foreach my $mode ('block_writes', 'force_logical')
  {
    foreach my $table ('card', 'pay', $mode eq 'block_writes' ? ('copies', 'control') : ())
    {
      my ($from, $to) = $results eq 'plaintext' ? ($worker1, $worker2) : ($worker2, $worker1);
      meanwhile("a shard of $table moves by $mode, $results between nodes", sub { $node->sql(move(shard($table, $from), $from, $to, $mode)); });
    }
  }
}

my $added = $cluster->new_server('added');
meanwhile('a node is added that has adopted the keys', sub {
  # the export makes keys without MAC for all slots
  $_->adopt($node) foreach $worker1, $worker2;
  $added->sql('CREATE EXTENSION tde_column', q{SELECT tde_wallet_create('cluster-passphrase')});
  $added->adopt($node)->sql('CREATE EXTENSION citus');
  $cluster->add($added);
});
set_everywhere('tde_column.citus_results = ciphertext');
meanwhile('shards are moved to it', \&rebalance);
cmp_ok(shards($added), '>', 0, '... and it has some');
is($node->sql(q{SELECT count(DISTINCT result) FROM run_command_on_all_nodes('SELECT tde_key_fingerprint()')}), 1, '... and the same keys');

meanwhile('a key is rotated', sub { $node->sql(q{SELECT tde_rotate_key('cards')}); });
meanwhile('a node is drained and removed', sub {
  $node->sql("SELECT citus_drain_node('127.0.0.1', $worker2->{port}, shard_transfer_mode => 'block_writes')");
  cleaned();
  $node->sql("SELECT citus_remove_node('127.0.0.1', $worker2->{port})");
});
is(shards($worker2), 0, '... and has no shard');
meanwhile('a node comes back, and shards are moved to it in the background', sub {
  $node->sql("SELECT citus_add_node('127.0.0.1', $worker2->{port})");
  $node->sql('SELECT citus_rebalance_start()', 'SELECT citus_rebalance_wait()');
});
cmp_ok(shards($worker2), '>', 0, '... and it has some');

my $told = $load->stop;
note("clients of workers have found no row in $_ $told->{missed}{$_} times") foreach sort keys %{ $told->{missed} };
is(join("\n", @{ $told->{notes} }), '', 'no client had an error, or found other rows than it had been told');

# What is in a table, by its key; a key that is there twice shows.
sub found
{
  my ($sql) = @_;
  my (%found, @twice);
  foreach my $row (split /\n/, $node->sql($sql))
  {
    my ($key, $value) = split /\|/, $row;
    push @twice, $key if exists $found{$key};
    $found{$key} = $value;
  }
  is("@twice", '', 'no row is there twice');
  return \%found;
}
my %QUERIES = (
  card    => q{SELECT pan, amount::int FROM card WHERE client > 0 AND holder = 'holder ' || pan},
  pay     => q{SELECT id, 1 FROM pay WHERE client > 0 AND pan::text LIKE client || '-%'},
  copies  => q{SELECT holder, 1 FROM copies WHERE client > 0 AND holder = 'holder ' || pan},
  control => q{SELECT id, updates FROM control},
);
foreach my $table (sort keys %QUERIES)
{
  is_deeply(found($QUERIES{$table}), $told->{$table}, 'all ' . keys(%{ $told->{$table} }) . " rows that were written to $table are there");
}
is($node->sql(q{SELECT count(*), count(DISTINCT pan), sum(amount) FROM card WHERE client = 0 AND holder = 'holder ' || pan}), '20000|20000|0.00',
  'and what was there before');

# ---- nodes without the keys ----

my $rows = q{SELECT count(*), count(DISTINCT pan), count(holder) FROM card WHERE client = 0};

# No row is lost, and other nodes go on, whatever is said of a new one.
sub goes_on
{
  my ($name) = @_;
  is($node->sql($rows), '20000|20000|20000', "$name: all rows are there");
  is($node->sql(q{UPDATE card SET amount = amount + 1 WHERE pan = '0-77' RETURNING holder}), 'holder 0-77', '... and are written');
  return;
}

foreach my $lacks ('extension', 'wallet')
{
  my $new = $cluster->new_server("without_$lacks");
  $new->sql('CREATE EXTENSION tde_column') if $lacks eq 'wallet';
  $new->sql('CREATE EXTENSION citus');
  my $said = shown("SELECT citus_add_node('127.0.0.1', $new->{port})");
  like($said, qr/wallet is not open.*server at 127\.0\.0\.1:$new->{port}.*ERROR/s, "a node without $lacks is not added, and named");
  is($node->sql("SELECT count(*) FROM pg_dist_node WHERE nodeport = $new->{port}"), 0, '... not in part either');
  goes_on("without $lacks");
  $new->stop;
}

my $closed = $cluster->new_server('closed');
$closed->sql('CREATE EXTENSION tde_column', q{SELECT tde_wallet_create('cluster-passphrase')});
$closed->adopt($node)->sql('CREATE EXTENSION citus', 'SELECT tde_wallet_close()');
$cluster->add($closed);
like($node->whole_error('SELECT rebalance_table_shards()'), qr/wallet is not open.*server at 127\.0\.0\.1:$closed->{port}/s,
  'nothing moves to a node whose wallet is closed, and it is named');
goes_on('closed wallet');
$closed->sql(q{SELECT tde_wallet_open('cluster-passphrase')});
rebalance();
cmp_ok(shards($closed), '>', 0, '... until it is open');
goes_on('open wallet');

# ---- a node as it was before a key was rotated ----

$closed->sql('CHECKPOINT');
$closed->backup;
$node->sql(q{SELECT tde_rotate_key('cards')});
my $uuid = $node->sql(q{SELECT uuid FROM tde.keys WHERE name = 'cards' AND kind = 'mac' AND state = 'active'});
$node->sql(q{INSERT INTO card SELECT '9-' || g, 'holder 9-' || g, 0, 9 FROM generate_series(1, 200) g});
my $lost = $node->sql(q{SELECT sum(result::int) FROM run_command_on_placements('card', 'SELECT count(*) FROM %s WHERE client = 9')}
    . " WHERE nodeport = $closed->{port}");
cmp_ok($lost, '>', 0, 'some rows are written to the node that is to be restored');
my $elsewhere = 200 - $lost;
$closed->restore;
my $difference = $node->sql(q{SELECT string_agg(n.nodeport::text, ' ') FROM run_command_on_workers('SELECT tde_key_fingerprint()') r}
    . q{ JOIN pg_dist_node n USING (nodeport) WHERE r.result <> tde_key_fingerprint()});
is($difference, $closed->{port}, 'a restored node has another fingerprint');
goes_on('restored');
is($node->sql('SELECT count(*) FROM card WHERE client = 9'), $elsewhere, '... and what was written to other nodes since');
my $missing = qr/^\w+ data key $uuid is not in this database.*server at 127\.0\.0\.1:$closed->{port}/s;
like($node->whole_error(q{INSERT INTO copies SELECT 'x' || pan, pan, 9 FROM card WHERE client = 9}), $missing, 'it names the version that it lacks');
is($node->sql(q{SELECT count(*) FROM copies WHERE client = 9}), 0, '... and nothing is written');
like($node->whole_error(move(shard('card', $worker1), $worker1, $closed, 'block_writes')), $missing, '... also when a shard moves to it');
goes_on('restored, and named');
$closed->adopt($node);
is($node->sql(q{INSERT INTO copies SELECT 'x' || pan, pan, 9 FROM card WHERE client = 9}, q{SELECT count(*) FROM copies WHERE client = 9}), $elsewhere,
  'with the version it takes them');
$node->sql(move(shard('card', $worker1), $worker1, $closed, 'block_writes'));
goes_on('adopted');
done_testing();
