# files.pl - what nodes with the same keys write into their data directories: no plaintext of encrypted columns, after kill -9 and in
# base backups neither.
use strict;
use warnings FATAL => 'all';

use Test::More;
use Cluster;

my $MARKER  = 'MARKERholder';
my $cluster = Cluster->new('files', shared => 1, settings => "tde_column.citus_results = ciphertext\n");
my $node    = $cluster->coordinator;

# Files with the marker in data directories, and files of intermediate results at all.
sub files
{
  my ($folder) = @_;
  return split /\n/, `grep -rla $MARKER @{[ $folder // join ' ', map { $_->{data} } $cluster->nodes ]} 2>/dev/null`;
}
sub result_files { return split /\n/, join '', map { `find $_->{data}/base/pgsql_job_cache -type f 2>/dev/null` } $cluster->nodes; }

$node->sql(
  'CREATE TABLE e (id int PRIMARY KEY, n encrypted_int4, holder encrypted_text, pan encrypted_varchar(40))',
  q{SELECT create_distributed_table('e', 'id')},
  "INSERT INTO e SELECT g, g, '$MARKER' || g, '${MARKER}pan' || g FROM generate_series(1, 2000) g",
  'CREATE TABLE k (pan encrypted_varchar(40), holder encrypted_text)', q{SELECT create_distributed_table('k', 'pan')},
  'CREATE TABLE m (id int, n int, secret encrypted_text)', q{SELECT create_distributed_table('m', 'id', colocate_with => 'none')},
  "INSERT INTO m SELECT g, g, '${MARKER}m' || g FROM generate_series(1, 2000) g",
  'CREATE TABLE r (id int, holder encrypted_text)', q{SELECT create_reference_table('r')},
  'CREATE TABLE plain (id int, holder text)', q{SELECT create_distributed_table('plain', 'id', colocate_with => 'none')});

my %STATEMENTS = (
  'a CTE'              => 'WITH x AS MATERIALIZED (SELECT holder, pan FROM e WHERE id % 2 = 0 OFFSET 0) SELECT count(*), min(holder) FROM x',
  'a repartition join' => 'SELECT count(*), min(a.holder) FROM e a JOIN e b ON a.n = b.n WHERE a.holder <> b.pan',
  'a join of strings'  => 'SELECT count(*), min(a.pan) FROM e a JOIN e b ON a.holder = b.holder',
  'a join with a plain column' => 'SELECT count(*), min(m.secret) FROM e JOIN m ON e.n = m.n',
  'INSERT ... SELECT by repartitioning' => 'INSERT INTO k SELECT pan, holder FROM e',
  'INSERT ... SELECT through the coordinator' => 'INSERT INTO k SELECT pan, holder FROM e ORDER BY id LIMIT 100',
  'INSERT ... SELECT into a reference table'  => 'INSERT INTO r SELECT id, holder FROM e WHERE id < 100',
);
my %ROWS = ('a CTE' => "1000|${MARKER}10", 'a repartition join' => "2000|${MARKER}1", 'a join of strings' => "2000|${MARKER}pan1",
  'a join with a plain column' => "2000|${MARKER}m1");

foreach my $format ('on', 'off')
{
  foreach my $what (sort keys %STATEMENTS)
  {
    my $client = $node->client;
    $client->query($_) foreach "SET citus.enable_binary_protocol = $format", 'SET citus.enable_repartition_joins = on', 'BEGIN';
    my $got = $client->query($STATEMENTS{$what});
    is($got->{error}, '', "$what runs, binary protocol $format");
    is("@{ $got->{rows} }", $ROWS{$what}, '... with its rows') if $ROWS{$what};
    cmp_ok(scalar result_files(), '>', 0, '... has files') if $what =~ /CTE|plain column/;
    is(join(' ', files()), '', '... and no file has a marker');
    $client->query('COMMIT');
  }
}
is($node->sql("SELECT count(*), count(*) FILTER (WHERE holder LIKE '$MARKER%'), count(DISTINCT pan) FROM k"), '4200|4200|2000', 'all rows have arrived');
is($node->sql("SELECT count(*) FROM k WHERE pan = '${MARKER}pan7'::text"), '4', '... where they are looked for');
is($node->sql("SELECT count(*) FROM r WHERE holder LIKE '$MARKER%'"), 198, '... in the reference table, too');
$node->sql('INSERT INTO plain SELECT id, holder FROM e WHERE id < 5');
is($node->sql('SELECT holder FROM plain WHERE id = 3'), "${MARKER}3", 'a plain column gets plaintext, as ever');
$node->sql('DROP TABLE plain');
$_->sql('CHECKPOINT') foreach $cluster->nodes;

# a CTE's plain expression is as plain as its result
my $client = $node->client;
$client->query($_) foreach 'BEGIN', 'WITH x AS MATERIALIZED (SELECT holder, n, pan FROM e OFFSET 0) SELECT count(*) FROM x';
cmp_ok(scalar result_files(), '>', 0, 'there are files when a backend is killed');
my $pid = $client->query('SELECT pg_backend_pid()')->{rows}[0];
kill 'KILL', $pid;
sleep 1;
foreach (1 .. 100)
{
  last if eval { $node->sql('SELECT 1'); 1 };
  select undef, undef, undef, 0.2;
}
cmp_ok(scalar result_files(), '>', 0, '... and after the crash, as Citus leaves them');
is(join(' ', grep { !m{/pg_wal/} } files()), '', '... and none has a marker');
Cluster::shell("pg_basebackup -h $node->{socket} -p $node->{port} -U postgres -D $ENV{TDE_CLUSTER}/backup -X none -c fast 2>/dev/null");
is(join(' ', files("$ENV{TDE_CLUSTER}/backup")), '', '... nor has a base backup');

# who only looks like a node
my ($worker) = $cluster->workers;
like($worker->error(q{SELECT 'tde_column node:AAAA'::encrypted_text}), qr/^TDE04/, 'what is only marked as a node\'s is refused');
like($worker->error(q{SELECT 'tde_column node:'::encrypted_text}), qr/^$/, '... the mark alone is a text');
done_testing();
