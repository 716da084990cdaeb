# What locks all objects of the extension does so in a server with few connections and PostgreSQL's own max_locks_per_transaction; from 19 on, whose
# table of locks does not grow, with what README says.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('default_locks', conf => "max_connections = 20\ntde_column.passphrase_command = 'echo locks-passphrase'\nfsync = off\n");
my $grows = $node->pg_version->major < 19;
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = 512') if !$grows;
$node->start;
is(lines_of($node, 'SHOW max_locks_per_transaction'), $grows ? '64' : '512', 'the setting');

is(attempt($node, 'CREATE EXTENSION tde_column')->{state}, '', 'CREATE EXTENSION');
lines_of($node, "SELECT tde_wallet_create('locks-passphrase'); CREATE TABLE t (a encrypted_text, n encrypted_int4); INSERT INTO t VALUES ('x', 1)");

my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '--file', $dump, 'postgres' ], 'pg_dump');
lines_of($node, 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '--single-transaction', '-f', $dump, 'restored' ], '... and its restoration, in one transaction');
is(lines_of($node, 'SELECT a, n FROM t', db => 'restored'), 'x|1', '... with its rows');

is(lines_of($node, q{BEGIN; DROP TABLE t; DROP EXTENSION tde_column; SELECT count(*) > 7000 FROM pg_locks; COMMIT}), 't', 'DROP EXTENSION locks all objects');
is(attempt($node, 'DROP EXTENSION tde_column CASCADE', db => 'restored')->{state}, '', 'DROP EXTENSION CASCADE');
is(attempt($node, 'CREATE EXTENSION tde_column', db => 'restored')->{state}, '', '... and once more from the beginning');
is(attempt($node, 'DROP DATABASE restored')->{state}, '', 'the database goes');

$node->stop;
done_testing();
