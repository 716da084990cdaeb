# With the wallet closed: what describes tables works, unless it has to print a constant of an encrypted type.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('closed_schema');
$node->start;
lines_of(
  $node, q{
CREATE EXTENSION tde_column;
SELECT tde_wallet_create('closed-passphrase');
CREATE TABLE bare (id int PRIMARY KEY, a encrypted_text, n encrypted_numeric(9,2,nosalt), g encrypted_text GENERATED ALWAYS AS (a) STORED, p text, UNIQUE (a, id));
CREATE STATISTICS bare_s ON a, p FROM bare;
CREATE VIEW bare_v AS SELECT upper(a) AS u, n + 1 AS n FROM bare;
CREATE TABLE parts (a encrypted_int4) PARTITION BY HASH (a);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO bare (id, a, n, p) SELECT i, 'a' || i % 50, i, 'p' || i % 5 FROM generate_series(1, 1000) i;
ANALYZE bare;
CREATE DATABASE constants;
});
lines_of(
  $node, q{
CREATE EXTENSION tde_column;
SET client_min_messages = error;
SELECT tde_ensure_keys();
CREATE TABLE constant (a encrypted_text DEFAULT 'x', n encrypted_int4 CHECK (n > 5), p text DEFAULT 'plain');
INSERT INTO constant VALUES (NULL, NULL);
}, db => 'constants');
my $statistics = "SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'bare' ORDER BY 1";
my $before     = lines_of($node, $statistics);
lines_of($node, 'SELECT tde_wallet_close()');

my ($out, $err) = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr('postgres') ]);
is($err, '', 'pg_dump --schema-only of tables without constants');
like($out, qr/a encrypted_text\(aes256,salt,gcm\),\n\s+n encrypted_numeric\(9,2,aes256,nosalt,gcm\)/, 'has the declarations');
like($out, qr/g encrypted_text\(aes256,salt,gcm\) GENERATED ALWAYS AS \(a\) STORED/, 'of generated columns, too');
like($out, qr/CREATE STATISTICS public\.bare_s/, 'and the statistics objects');
like($out, qr/ADD CONSTRAINT bare_a_id_key UNIQUE \(a, id\)/, 'and the keys');
($out, $err) = run_command([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', '\d bare', '-c', '\d+ bare_v', '-c', '\d+ parts' ]);
is($err, '', '\d');
like($out, qr/"bare_a_id_key" UNIQUE CONSTRAINT, btree \(a, id\)/, 'describes a table');

($out, $err) = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr('constants') ]);
like($err, qr/wallet is not open/, 'pg_dump says so if it meets a constant');
($out, $err) = run_command([ 'psql', '-X', '-d', $node->connstr('constants'), '-c', '\d constant' ]);
like($err, qr/wallet is not open/, 'and so does \d');
is(lines_of($node, 'SELECT count(*), count(a), count(p) FROM constant', db => 'constants'), '1|0|1', 'the table can be read but for its values');

is(attempt($node, 'ANALYZE')->{state}, '', 'ANALYZE');
is(lines_of($node, "SELECT count(*) FROM pg_stats WHERE tablename = 'bare' AND attname IN ('id', 'p')"), '2', 'of the other columns');
is(attempt($node, 'VACUUM (FREEZE) bare')->{state}, '', 'VACUUM');
is(attempt($node, 'EXPLAIN SELECT * FROM bare WHERE id = 5 ORDER BY p')->{state}, '', 'plans of conditions on other columns');
fails_with($node, "EXPLAIN SELECT * FROM bare WHERE a = 'a5'", { state => 'TDE01', message => qr/^wallet is not open$/ }, 'a constant of an encrypted type');
lines_of($node, "SELECT tde_wallet_open('closed-passphrase')");
is(lines_of($node, $statistics), $before, 'the statistics of encrypted columns were kept');
lines_of($node, 'SELECT tde_wallet_close()');
is(attempt($node, 'DROP TABLE bare CASCADE; DROP TABLE parts')->{state}, '', 'tables can be dropped');

$node->stop;
done_testing();
