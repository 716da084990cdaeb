# Logical replication between servers that share keys: values travel as they are encrypted, in text and in binary.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $publisher  = tde_node('publisher', extension => 1, conf => "wal_level = logical\nmax_wal_senders = 5\nmax_replication_slots = 5\n");
my $subscriber = tde_node('subscriber', extension => 1);
my $all        = 'SET tde_column.io_format = %s; SELECT * FROM t ORDER BY id';

foreach my $node ($publisher, $subscriber)
{
  $node->start;
  lines_of($node, "SELECT tde_wallet_create('" . $node->name . "-passphrase'); "
      . 'CREATE TABLE t (id int PRIMARY KEY, a encrypted_text, n encrypted_numeric(nosalt))');
}
lines_of($publisher, "CREATE PUBLICATION p FOR TABLE t; INSERT INTO t VALUES (1, 'first', 1.5)");
my $keys = lines_of($publisher, "SELECT tde_export_keys('shared-passphrase')");
lines_of($subscriber, "SELECT tde_import_keys('$keys', 'shared-passphrase')");
lines_of($subscriber, 'ALTER DATABASE postgres SET tde_column.io_format = ciphertext');

my $connection = $publisher->connstr('postgres') =~ s/'/''/gr . " options=''-c tde_column.io_format=ciphertext''";
foreach my $binary ('false', 'true')
{
  lines_of($subscriber, "TRUNCATE t; CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION p WITH (binary = $binary)");
  $subscriber->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_subscription_rel WHERE srsubstate = 'r'}) or die;
  lines_of($publisher, "INSERT INTO t VALUES (2, 'second-$binary', NULL); UPDATE t SET a = 'changed-$binary' WHERE id = 1");
  $publisher->wait_for_catchup('s');
  is(lines_of($subscriber, sprintf $all, 'ciphertext'),
    lines_of($publisher, sprintf $all, 'ciphertext'), "binary = $binary: the same ciphertext");
  is(lines_of($subscriber, sprintf $all, 'plaintext'),
    "1|changed-$binary|1.5\n2|second-$binary|", "binary = $binary: which can be read");
  lines_of($subscriber, 'DROP SUBSCRIPTION s');
  lines_of($publisher, 'DELETE FROM t WHERE id = 2');
}

$_->stop foreach $publisher, $subscriber;
done_testing();
