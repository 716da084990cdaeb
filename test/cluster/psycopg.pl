# psycopg.pl - psycopg 3 sees encrypted columns of distributed tables as it sees plain ones: test/drivers/python/test_psycopg3.py, on a cluster.
# It is run by name only, since it wants PyPI.
use strict;
use warnings FATAL => 'all';

use Cluster;

my $drivers = $ENV{TDE_KNOWN} =~ s{cluster/known$}{drivers}r;
my $cluster = Cluster->new('psycopg', shared => 1);
my $node    = $cluster->coordinator;

$ENV{PGHOST}     = $node->host;
$ENV{PGPORT}     = $node->port;
$ENV{PGUSER}     = 'postgres';
$ENV{PGDATABASE} = 'postgres';
Cluster::shell("psql -Xq -f $drivers/setup.sql");
# one shard, since it compares what COPY gives, byte by byte
$node->sql(map { "SELECT create_distributed_table('$_', 'id', shard_count => 1)" } qw(plain enc));
# it prints TAP
exit(system("$ENV{TDE_PYTHON} $drivers/python/test_psycopg3.py") ? 1 : 0);
