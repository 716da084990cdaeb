# What goes on, what is refused, and what is said where something is in the way: a closed wallet, a copy of a database, another server's wallet,
# a command that would do more than somebody thinks.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('robust', extension => 1);
$node->start;
lines_of($node, q{SELECT tde_wallet_create('robust-passphrase')});

# ---- VACUUM and REINDEX with the wallet closed ----

lines_of($node, q{
CREATE TABLE first_one (id int PRIMARY KEY);
CREATE TABLE sealed (id int PRIMARY KEY, k encrypted_int4, l int) WITH (fillfactor = 100);
CREATE INDEX sealed_k ON sealed (k);
CREATE INDEX sealed_l ON sealed (l);
CREATE TABLE parted (id int, k encrypted_text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100000);
CREATE INDEX ON parted (lower(k));
CREATE TABLE last_one (id int PRIMARY KEY);
INSERT INTO first_one SELECT generate_series(1, 20000);
INSERT INTO sealed SELECT i, i, i FROM generate_series(1, 20000) i;
INSERT INTO parted SELECT i, 'v' || i FROM generate_series(1, 100) i;
INSERT INTO last_one SELECT generate_series(1, 20000);
CREATE DATABASE plain});
my $fill = q{DELETE FROM first_one; DELETE FROM sealed WHERE k BETWEEN 2000 AND 15000; DELETE FROM last_one};
lines_of($node, $fill);
lines_of($node, 'SELECT tde_wallet_close()');

# How often each of them was vacuumed, and whether that vacuumed its indexes: they are as many rows then.
my $vacuumed = q{SELECT string_agg(relname || ' ' || vacuum_count, ', ' ORDER BY relname) FROM pg_stat_user_tables WHERE relname IN ('first_one', 'sealed', 'parted_1', 'last_one')};
my $skips = qr/WARNING: .*skipping indexes of table public\.sealed with encrypted values\nDETAIL: .*\nHINT:  Run the command again when the wallet is open/;

my $count = 0;
foreach my $command ('VACUUM', 'VACUUM (VERBOSE false, ANALYZE)', 'VACUUM first_one, sealed, parted, last_one')
{
  my $got = attempt($node, $command);
  $count++;
  is($got->{state}, '', "$command: no error") or diag($got->{err});
  like($got->{err}, $skips, 'what is skipped is told');
  lines_of($node, 'SELECT pg_stat_force_next_flush()');
  is(lines_of($node, $vacuumed), "first_one $count, last_one $count, parted_1 $count, sealed $count", 'all tables were vacuumed');
}
fails_with($node, 'VACUUM (INDEX_CLEANUP on) sealed', { state => 'TDE01' }, 'who wants the indexes vacuumed is told that it cannot be done');
fails_with($node, 'BEGIN; VACUUM sealed', { state => '25001' }, 'and not in a transaction block');

my $files = q{SELECT string_agg(relname || ' ' || relfilenode, ',' ORDER BY relname) FROM pg_class WHERE relname IN (%s)};
my $file  = sub { lines_of($node, sprintf $files, join ',', map { "'$_'" } @_) };
my ($plain, $encrypted) = ($file->('first_one', 'last_one'), $file->('sealed'));
my $got = attempt($node, 'VACUUM FULL');
is($got->{state}, '', 'VACUUM FULL: no error') or diag($got->{err});
like($got->{err}, qr/WARNING: .*skipping table public\.sealed with encrypted values in indexes/, 'what is skipped is told');
isnt($file->('first_one'), (split /,/, $plain)[0], 'plain tables are rewritten');
is($file->('sealed'), $encrypted, 'the encrypted one is not');

foreach my $command ('REINDEX DATABASE postgres', 'REINDEX SCHEMA public', 'REINDEX DATABASE CONCURRENTLY postgres')
{
  my ($last, $of_sealed, $encrypted) = ($file->('last_one_pkey'), $file->('sealed_l', 'sealed_pkey'), $file->('sealed_k'));
  $got = attempt($node, $command);
  is($got->{state}, '', "$command: no error") or diag($got->{err});
  like($got->{err}, qr/WARNING: .*skipping index public\.sealed_k with encrypted values/, 'what is skipped is told');
  isnt($file->('last_one_pkey'), $last, 'indexes of plain tables are made anew');
  isnt((split /,/, $file->('sealed_l', 'sealed_pkey'))[$_], (split /,/, $of_sealed)[$_], 'and so are plain indexes of encrypted ones') foreach 0, 1;
  is($file->('sealed_k'), $encrypted, 'but not encrypted ones');
}
fails_with($node, 'REINDEX INDEX sealed_k', { state => 'TDE01' }, 'an index by its name');
fails_with($node, 'REINDEX DATABASE plain', { state => '0A000' }, 'another database');

$node->command_ok([ 'vacuumdb', '-a', '-q' ], 'vacuumdb of all databases');
$node->command_ok([ 'reindexdb', '-a', '-q' ], 'reindexdb of all databases');

# What was left is done when it is open.
lines_of($node, q{SELECT tde_wallet_open('robust-passphrase')});
$got = attempt($node, 'VACUUM sealed');
is($got->{err}, '', 'open: nothing is skipped');
lines_of($node, 'REINDEX TABLE sealed; CREATE EXTENSION amcheck');
is(lines_of($node, q{SELECT bt_index_parent_check('sealed_k', true); SET enable_seqscan = off; SELECT count(*) FROM sealed WHERE k > 0}), "\n6999", 'and nothing is lost');

$node->stop;
done_testing();
