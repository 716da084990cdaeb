# keys.pl - what nodes with keys of their own may not do, and what nodes with the same keys do; maintenance of distributed tables.
use strict;
use warnings FATAL => 'all';

use Test::More;
use Cluster;

my $NOT_SHARED = qr/^55000 cannot .*: the nodes do not share their keys/;

# ---- nodes with keys of their own ----

my $own = Cluster->new('own', shared => 0);
my $node = $own->coordinator;
my ($worker) = $own->workers;

$node->sql('CREATE TABLE e (id int, pan encrypted_text(aes256, nosalt), n encrypted_int4)',
  "INSERT INTO e SELECT g, 'pan' || g, g FROM generate_series(1, 50) g");
foreach my $call (q{create_distributed_table('e', 'pan')}, q{create_distributed_table('e', 'n', shard_count => 2)},
  q{create_distributed_table(table_name => 'e', distribution_column => 'pan')}, q{create_distributed_table_concurrently('e', 'pan')})
{
  like($node->error("SELECT $call"), $NOT_SHARED, "$call is refused");
  like($node->error("DO \$\$ BEGIN PERFORM $call; END \$\$"), $NOT_SHARED, '... in PL/pgSQL');
}
like($node->error(q{SELECT create_distributed_table(oid, 'pan') FROM pg_class WHERE relname = 'e'}), $NOT_SHARED, '... whatever the arguments are');
like($node->error(q{SELECT * FROM create_distributed_table('e', 'pan')}), $NOT_SHARED, '... in FROM');
is($node->sql('SELECT count(*) FROM pg_dist_partition'), 0, 'nothing is distributed then');
$node->sql(q{SELECT create_distributed_table('e', 'id')});
is($node->sql('SELECT count(*), sum(n), min(pan) FROM e'), '50|1275|pan1', 'a plain distribution column is fine');
like($node->error(q{SELECT alter_distributed_table('e', distribution_column => 'pan')}), $NOT_SHARED, 'alter_distributed_table() is refused');
$node->sql(q{SELECT alter_distributed_table('e', shard_count => 6)});
is($node->sql('SELECT count(*), sum(n) FROM e'), '50|1275', '... for nothing else');

$node->sql('CREATE TABLE f (id int, n encrypted_int4, m int)', q{SELECT create_distributed_table('f', 'id', colocate_with => 'none')},
  'INSERT INTO f SELECT g, g, g FROM generate_series(1, 50) g');
my $repartition = 'SET citus.enable_repartition_joins = on';
my $join        = 'SELECT count(*) FROM e JOIN f ON e.n = f.n';
my $client      = $node->client;
$client->query($repartition);
like($client->query($join)->{error}, $NOT_SHARED, 'a repartition join by encrypted columns is refused');
is($client->query('SELECT count(*) FROM e JOIN f ON e.id = f.m')->{rows}[0], 50, '... by plain ones it is not');
is($client->query('SELECT count(*) FROM e JOIN f ON e.id = f.id AND e.n = f.n')->{error} // '', '', '... nor one more condition');
is($client->query('SELECT count(*), sum(f.n) FROM e JOIN f ON e.n = f.m')->{rows}[0], '50|1275', '... nor a join by an encrypted and a plain one');

# ---- nodes with the same keys ----

my $shared = Cluster->new('shared', shared => 1);
$node = $shared->coordinator;
my @workers = $shared->workers;

$node->sql(
  'CREATE TABLE dn (pan encrypted_text(aes256, nosalt), v int, PRIMARY KEY (pan))', q{SELECT create_distributed_table('dn', 'pan')},
  q{INSERT INTO dn VALUES ('MARKERa', 1), ('MARKERb', 2), ('MARKERc', 3), ('MARKERd', 4)});
foreach my $each ($shared->nodes)
{
  is($each->sql("SELECT v FROM dn WHERE pan = '$_->[0]'::text"), $_->[1], "$each->{name} finds $_->[0]")
    foreach [ 'MARKERb', 2 ], [ 'MARKERc', 3 ], [ 'MARKERd', 4 ];
  like($each->error(q{INSERT INTO dn VALUES ('MARKERa', 99)}), qr/^23505/, "$each->{name} refuses a second one");
  like(
    $each->sql(q{EXPLAIN SELECT v FROM dn WHERE pan = 'MARKERa'::text}),
    qr/Task Count: 1\n/, "$each->{name} asks one shard");
  is($each->sql(q{UPDATE dn SET v = v + 10 WHERE pan = 'MARKERa'::text RETURNING pan}), 'MARKERa', "$each->{name} updates");
}
is($node->sql(q{SELECT v FROM dn WHERE pan = 'MARKERa'}), 31, 'each update counts');
is($node->sql($repartition, 'CREATE TABLE g (id int, n encrypted_int4)', q{SELECT create_distributed_table('g', 'id', colocate_with => 'none')},
    'INSERT INTO g SELECT g, g FROM generate_series(1, 50) g', 'SELECT count(*) FROM g a JOIN g b ON a.n = b.n'),
  50, 'a repartition join by encrypted columns has all rows');

# joins of an encrypted with a plain column: what the plain one's table gives is evaluated first, and no more of it than is read
my $mixed = $node->client;
my $join_mixed = 'SELECT count(*), max(o.name) FROM g JOIN o ON g.n = o.n';
$node->sql('CREATE TABLE o (id int PRIMARY KEY, gone varchar(20), n int, name text, note text)', q{SELECT create_distributed_table('o', 'id', colocate_with => 'none')},
  'ALTER TABLE o DROP COLUMN gone', q{INSERT INTO o SELECT i, i + 5, 'name' || i, 'note' FROM generate_series(1, 50) i});
like($mixed->query($join_mixed)->{fields}{H}, qr/^Set citus.enable_repartition_joins to on/, 'a join with a plain column wants the setting');
$mixed->query($repartition);
sub joined { return join ' ', @{ $mixed->query($_[0])->{rows} }; }
is(joined($join_mixed), '45|name9', '... with it, it has all rows');
is(joined("$join_mixed WHERE o.note = 'note' AND o.id < 10 AND g.id > 8 AND o.n + g.n > 20"), '4|name9', '... under conditions');
is(joined('SELECT count(*) FROM g JOIN dn ON g.n = dn.v'), 4, '... by a column of a table that is distributed by another encrypted one');
is(joined("SELECT count(*) FROM g JOIN dn ON g.n = dn.v WHERE dn.pan = 'MARKERa'"), 1, '... where that is given');
is($_->sql($repartition, $join_mixed), '45|name9', "... on $_->{name}") foreach $shared->nodes;
is(joined("$join_mixed WHERE g.id IN (SELECT id FROM o WHERE id < 10 OFFSET 0)"), '4|name4', '... beside a subquery');
my $plan = join "\n", @{ $mixed->query("EXPLAIN (VERBOSE, COSTS OFF) $join_mixed WHERE o.note = 'note'")->{rows} };
is(() = $plan =~ /Distributed Subplan/g, 1, '... one table is evaluated first');
like($plan, qr/Output: NULL::integer, NULL::integer, n, name, NULL::text\n.*\n?.*Filter: \(o\.note = 'note'::text\)/, '... what is read of it, under its own condition');
$mixed->query('SET citus.max_intermediate_result_size = 0');
like($mixed->query($join_mixed)->{error}, qr/the intermediate result size exceeds citus.max_intermediate_result_size/, '... within the limit of Citus');
$mixed->query('RESET citus.max_intermediate_result_size');
like($mixed->query('SELECT count(*) FROM g LEFT JOIN o ON g.n = o.n')->{fields}{H}, qr/WITH x AS MATERIALIZED/, 'what Citus does not do with plain columns: a hint');
is(joined('WITH x AS MATERIALIZED (SELECT n::int FROM g) SELECT count(o.id) FROM x LEFT JOIN o ON x.n = o.n'), 45, '... which works');

is($node->sql('CREATE TABLE src (id int, a encrypted_numeric(15,2,nomac))', q{SELECT create_distributed_table('src', 'id')},
    'INSERT INTO src SELECT g, g FROM generate_series(1, 9) g', 'CREATE TABLE dst (id int, a encrypted_numeric(15,2,mac))',
    'INSERT INTO dst SELECT id, a FROM src WHERE id < 5', 'INSERT INTO dst SELECT id, a FROM src WHERE id > 5 RETURNING a',
    'SELECT count(*), sum(a) FROM dst'), '8|40.00', 'what is inserted from a distributed table fits the column, also with RETURNING');
# plaintext on the way into a column is encrypted as the column's values are, wherever the cast runs: not as a literal
foreach my $way ('INSERT INTO src SELECT g, g + 0.5 FROM generate_series(100, 101) g', 'INSERT INTO dst SELECT id, id + 0.5 FROM src WHERE id = 9')
{
  my $plan = $node->sql("EXPLAIN (VERBOSE, COSTS OFF) $way");
  like($plan, qr/encrypted_numeric\(.*, \d+, false\)/, "modifiers of a column: $way");
  unlike($plan, qr/'-1'::integer/, '... and nowhere a literal');
  $node->sql($way);
}
is($node->sql('SELECT sum(a) FROM src WHERE id >= 100'), '202.00', '... with its value');
is($node->sql('SELECT a FROM dst ORDER BY a DESC LIMIT 1'), '9.50', '... from another node');
foreach my $condition ('n = 7::int8', 'n = 7::int2', '7 = n', q{n = '7'}, 'n = 3 + 4', 'n = 7::int8 AND m = 7')
{
  $node->sql('CREATE TABLE num (n encrypted_int4, m int)', q{SELECT create_distributed_table('num', 'n', colocate_with => 'none')},
    'INSERT INTO num SELECT g, g FROM generate_series(1, 30) g') if !$node->sql(q{SELECT count(*) FROM pg_class WHERE relname = 'num'});
  like($node->sql("EXPLAIN SELECT * FROM num WHERE $condition"), qr/Task Count: 1\n/, "$condition asks one shard");
  is($node->sql("SELECT m FROM num WHERE $condition"), 7, '... and finds the row');
}

$node->sql('CREATE DOMAIN amount AS encrypted_numeric(10,2)', 'CREATE TABLE dom (a amount)');
like($node->error(q{SELECT create_distributed_table('dom', 'a')}), qr/^0A000 cannot distribute table "dom" by column "a" of a domain/, 'a domain is refused');

# a wallet that is closed
$workers[0]->sql('SELECT tde_wallet_close()');
$node->sql('CREATE TABLE closed (pan encrypted_text(aes256, nosalt))');
like($node->error(q{SELECT create_distributed_table('closed', 'pan')}), $NOT_SHARED, 'a node whose wallet is closed does not tell');
like($node->whole_error(q{SELECT create_distributed_table('closed', 'pan')}), qr/127\.0\.0\.1:$workers[0]{port}.*wallet is not open/, '... and is named');
$workers[0]->sql(q{SELECT tde_wallet_open('cluster-passphrase')});
$node->sql(q{SELECT create_distributed_table('closed', 'pan')});
pass('... and then it does');

# who may not
$node->sql('CREATE ROLE somebody LOGIN', 'GRANT SELECT ON dn TO somebody', 'GRANT CREATE ON SCHEMA public TO somebody');
is($node->sql('SET ROLE somebody', q{SELECT v FROM dn WHERE pan = 'MARKERb'::text}), 2, 'another role finds its shard');
$node->sql('GRANT SELECT ON g TO somebody', 'GRANT SELECT (n, name) ON o TO somebody');
my $somebody = $node->client;
$somebody->query($_) foreach 'SET ROLE somebody', $repartition;
is($somebody->query($join_mixed)->{rows}[0], '45|name9', 'another role joins by what it may read');
like($somebody->query("$join_mixed WHERE o.note = 'note'")->{error}, qr/^42501 permission denied for table o$/, '... and by nothing else');
like($node->error('SELECT tde_internal.tde_called(1)'), qr/^0A000/, 'tde_called() cannot be called');
like($node->error(q{SELECT tde_internal.tde_distribute('version'::regproc::oid, 1)}), qr/^0A000/, 'tde_distribute() calls nothing else');
like($node->error(q{SELECT tde_internal.tde_distribute('create_distributed_table(regclass,text,citus.distribution_type,text,int)'::regprocedure::oid, 1)}),
  qr/^0A000/, '... nor with other arguments');
like($node->error(q{CREATE INDEX ON g (tde_internal.tde_called(n))}), qr/^(42P16|0A000)/, 'tde_called() gets into no index');

# ---- maintenance ----

foreach my $call ('CALL tde_rekey_table(%s)', 'SELECT * FROM tde_key_usage(%s)', 'SELECT * FROM tde_foreign_values(%s)', 'CALL tde_wipe_free_space(%s)')
{
  my $error = $node->error(sprintf $call, q{'g'});
  like($error, qr/^0A000 table public.g is distributed by Citus/, sprintf "$call is refused", 'g');
}
foreach my $call ('tde_key_usage', 'tde_foreign_values')
{
  my ($instead) = $node->whole_error("SELECT * FROM $call('g')") =~ /(SELECT .*);/;
  is($node->sql("SELECT bool_and(success) FROM ($instead) r"), 't', "$call() runs on all shards as the hint says");
}
like($node->error(q{CALL tde_encrypt_column('f', 'm', online => true)}), qr/./, 'an online conversion is refused');
my ($command) = $node->whole_error(q{CALL tde_rekey_table('g')}) =~ /(SELECT .*);/;
ok($command, 'the command to run instead is in the hint');
$node->sql(q{SELECT tde_rotate_key('default')});
is($node->sql("SELECT count(*), bool_and(success) FROM ($command) r"), '4|t', 'it runs on all shards');
is($node->sql('SELECT count(*), sum(n) FROM g'), '50|1275', '... and all rows are there');
$node->sql('CREATE TABLE p (id int, secret text)', q{SELECT create_distributed_table('p', 'id', colocate_with => 'none')},
  q{INSERT INTO p SELECT g, 'secret' || g FROM generate_series(1, 20) g}, q{CALL tde_encrypt_column('p', 'secret')});
is($node->sql(q{SELECT count(*) FROM p WHERE secret = 'secret7'}), 1, 'a column is encrypted offline');
is($node->sql(q{SELECT DISTINCT result FROM run_command_on_shards('p', 'SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = %L::regclass AND attname = ''secret''')}),
  'encrypted_text', '... on all shards');

# ---- GIN indexes ----

$node->sql('CREATE TABLE note (id int, doc encrypted_jsonb, tags encrypted_text(nosalt)[])', q{SELECT create_distributed_table('note', 'id', colocate_with => 'none')},
  'CREATE INDEX ON note USING gin (doc)', 'CREATE INDEX ON note USING gin (tags)', q{INSERT INTO note SELECT g, jsonb_build_object('k', g % 2000) FROM generate_series(1, 20000) g}, 'VACUUM ANALYZE note',
  map { "INSERT INTO note VALUES (50000 + $_, NULL, '{t$_,all}')" } 1 .. 20);
is($node->sql(q{SELECT count(*), sum(id) FROM note WHERE doc @> '{"k": 3}'}), '10|90030', 'JSON is searched on all shards');
is($node->sql(q{SELECT count(*) FROM note WHERE tags && ARRAY['t3','t4']}), 2, '... and elements of arrays');
like($node->sql(q{SET citus.explain_all_tasks = on; EXPLAIN (COSTS off) SELECT count(*) FROM note WHERE doc @> '{"k": 3}'}), qr/Bitmap Index Scan on note_doc_idx_/, '... by their indexes');

# ---- a node with other keys comes later ----

my $stranger = $shared->add_stranger;
is($node->sql(q{SELECT v FROM dn WHERE pan = 'MARKERb'::text}), 2, 'the coordinator goes on');
like($stranger->error(q{SELECT v FROM dn WHERE pan = 'MARKERb'::text}), $NOT_SHARED, 'a worker with other keys refuses');
like($node->error('CREATE TABLE h (pan encrypted_text(aes256, nosalt), v int)') || $node->error(q{SELECT create_distributed_table('h', 'pan')}),
  $NOT_SHARED, 'nothing more is distributed by encrypted columns');
like($node->error(q{INSERT INTO dn SELECT 'x' || g, g FROM generate_series(1, 9) g}), $NOT_SHARED, 'nor are rows moved between nodes');
is($node->sql('SELECT count(*) FROM dn'), 4, '... and none is written');

done_testing();
