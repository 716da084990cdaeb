# tde_rekey_table() beside sessions that insert, update, delete and move rows between partitions, while keys are rotated: no
# change is lost, nobody meets a deadlock, and when the call returns no visible value is under an older key.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run qw(start finish pump);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('writers', extension => 1, conf => "tde_column.passphrase_command = 'echo writers-passphrase'\njit = off\nmax_connections = 30\ndeadlock_timeout = 200ms\n");
$node->start;
my ($clients, $seconds, $rows) = (8, 10, 2000);
lines_of($node, qq{
CREATE EXTENSION amcheck; SELECT tde_wallet_create('writers-passphrase');
CREATE FUNCTION bytes(encrypted_text) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE account (id serial PRIMARY KEY, a encrypted_text(salt) UNIQUE, b encrypted_int4(nosalt), big encrypted_text(aes128,salt)[], p text, n int NOT NULL DEFAULT 0);
CREATE INDEX ON account (b);
CREATE TABLE moves (id int, a encrypted_text(nosalt), p text, n int NOT NULL, k int) PARTITION BY LIST (k);
CREATE TABLE moves_0 PARTITION OF moves FOR VALUES IN (0);
CREATE TABLE moves_1 PARTITION OF moves FOR VALUES IN (1);
-- what the sessions did: rows more, and how often n was raised in rows that are there no more or still are
CREATE TABLE ledger (rows int, raised int);
INSERT INTO account (a, b, big, p) SELECT i || ':0', i, ARRAY[repeat('x', 3000)], i || ':0' FROM generate_series(1, $rows) i;
INSERT INTO moves SELECT i, i || ':0', i || ':0', 0, i % 2 FROM generate_series(1, 200) i;
CREATE INDEX ON moves (id);
CREATE SEQUENCE names;
});

# Two rows in one transaction, in the order of their numbers, so that the sessions meet no deadlock among themselves.
my %script = (
  'update@4' => qq{\\set i random(1, $rows / 10)
\\set j random(:i + 1, $rows)
\\set v random(1, 1000000000)
BEGIN;
WITH u AS (UPDATE account SET a = id || ':' || :v, p = id || ':' || :v, b = :v, n = n + 1 WHERE id = :i RETURNING 1)
  INSERT INTO ledger SELECT 0, count(*) FROM u;
WITH u AS (UPDATE account SET n = n + 1 WHERE id = :j RETURNING 1) INSERT INTO ledger SELECT 0, count(*) FROM u;
COMMIT;
},
  'insert@1' => q{\set v random(1, 1000000000)
BEGIN;
INSERT INTO account (a, b, p) VALUES ('new ' || nextval('names') || ' ' || :v, :v, NULL);
INSERT INTO ledger VALUES (1, 0);
UPDATE account SET p = a WHERE p IS NULL AND b = :v;
COMMIT;
},
  'delete@1' => qq{\\set i random($rows / 2, $rows)
WITH d AS (DELETE FROM account WHERE id = :i RETURNING n) INSERT INTO ledger SELECT -1, -n FROM d;
},
  'move@2' => q{\set i random(1, 200)
WITH u AS (UPDATE moves SET k = 1 - k, n = n + 1 WHERE id = :i RETURNING 1) INSERT INTO ledger SELECT 0, count(*) FROM u;
});
my @files;
foreach my $name (sort keys %script)
{
  my ($file, $weight) = split /@/, $name;
  append_to_file($node->basedir . "/$file.sql", $script{$name});
  push @files, '-f', $node->basedir . "/$file.sql\@$weight";
}

my ($said, $offset) = ('', log_offset($node));
local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
my $pgbench = start [ 'pgbench', '-n', '-M', 'prepared', '-c', $clients, '-j', 2, '-T', $seconds, '--max-tries=100', @files, 'postgres' ], '>', \$said, '2>&1';

# Each round makes a new version and leaves nothing under an older one, while the sessions go on.
my $older = q{
WITH newest AS (SELECT max(id) FROM tde.data_keys WHERE slot = 0 AND kind = 'm')
SELECT count(*) FROM (SELECT a FROM account UNION ALL SELECT big[1] FROM account UNION ALL SELECT a FROM moves) v
WHERE get_byte(bytes(a), 1) <> (TABLE newest)};
my ($rounds, $left) = (0, 0);
while ($pgbench->pumpable)
{
  lines_of($node, 'SELECT tde_rotate_key()');
  foreach my $table ('account', 'moves')
  {
    my $got = attempt($node, "CALL tde_rekey_table('$table', 200)");
    is($got->{state}, '', "round $rounds, $table") or diag($got->{err});
  }
  my $behind = lines_of($node, $older);
  $left += $behind;
  $rounds++;
  last if $rounds > 100;
  $pgbench->pump_nb;
}
finish $pgbench;
note($said);
is($?, 0, 'the sessions had no errors');
cmp_ok($rounds, '>', 2, "$rounds rotations");
is($left, 0, 'no value was left under an older key');
my ($transactions) = $said =~ /number of transactions actually processed: (\d+)/;
cmp_ok($transactions // 0, '>', 500, 'the sessions did something');
unlike(log_since($node, $offset), qr/deadlock detected/, 'nobody has met a deadlock');

is(lines_of($node, 'SELECT count(*) FROM account WHERE a <> p OR a IS NULL OR p IS NULL'), 0, 'every value of the table is what was written last');
is(lines_of($node, 'SELECT count(*) FROM moves WHERE a <> p OR a <> id || $$:0$$'), 0, 'and of the partitions');
is(lines_of($node, 'SELECT count(*) FROM moves'), 200, 'no row was lost on the way to another partition');
is(lines_of($node, 'SELECT count(*) FROM account'), lines_of($node, "SELECT $rows + sum(rows) FROM ledger"), 'all rows that were inserted and not deleted are there');
is(lines_of($node, 'SELECT sum(n) FROM (SELECT n FROM account UNION ALL SELECT n FROM moves) x'), lines_of($node, 'SELECT sum(raised) FROM ledger'), 'no update is lost');
is(lines_of($node, q{SELECT count(*) FROM (SELECT bt_index_parent_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relkind = 'i' AND i.indrelid IN ('account'::regclass, 'moves_0'::regclass, 'moves_1'::regclass)) x}),
  5, 'amcheck finds nothing in the indexes');
is(lines_of($node, q{SET enable_seqscan = off; SELECT count(*) FROM account x WHERE EXISTS (SELECT FROM account y WHERE y.a = x.p AND y.id = x.id)}),
  lines_of($node, 'SELECT count(*) FROM account'), 'and each row is found through its own');

# Old values that are copied from another table without an end.
lines_of($node, q{CREATE TABLE spring (a encrypted_text(salt)); CREATE TABLE pool (a encrypted_text(salt)); INSERT INTO spring VALUES ('old'); SELECT tde_rotate_key()});
append_to_file($node->basedir . '/copy.sql', "INSERT INTO pool TABLE spring;\n");
$pgbench = start [ 'pgbench', '-n', '-c', 2, '-T', 600, '-f', $node->basedir . '/copy.sql', 'postgres' ], '>', \$said, '2>&1';
$node->poll_query_until('postgres', 'SELECT count(*) > 10 FROM pool') or die 'nothing is copied';
like(attempt($node, "CALL tde_rekey_table('pool', delay => '50 ms')")->{err}, qr/WARNING:.*"pool" still has values to re-encrypt/, 'who copies old values without an end does not make it endless');
$pgbench->signal('TERM'); # INT is ignored where the test runs in the background
eval { finish $pgbench };
is(attempt($node, "CALL tde_rekey_table('spring')")->{state}, '', 'the table that they came from');
unlike(attempt($node, "CALL tde_rekey_table('pool')")->{err}, qr/WARNING/, 'and then this one');
is(lines_of($node, q{SELECT count(*) FROM pool WHERE get_byte(bytes(a), 1) <> (SELECT max(id) FROM tde.data_keys WHERE slot = 0 AND kind = 'm')}), 0, 'are re-encrypted');
$node->stop;
done_testing();
