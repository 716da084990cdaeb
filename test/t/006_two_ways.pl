# Data that comes back: committed rows after a crash, and a plain dump restored into another database, which encrypts them
# under that database's keys.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('two_ways', extension => 1, conf => "tde_column.passphrase_command = 'echo two-ways-passphrase'\n");

$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('two-ways-passphrase');
CREATE TYPE pair AS (a encrypted_text, b encrypted_int4);
CREATE DOMAIN code AS encrypted_varchar(8,aes256,nosalt,mac);
CREATE TABLE parent (id int PRIMARY KEY, name encrypted_text UNIQUE);
CREATE TABLE t (
  id int PRIMARY KEY,
  te encrypted_text(aes256,salt),
  vc encrypted_varchar(20,aes192,nosalt,sha256),
  nu encrypted_numeric(15,2,aes128,salt,nomac),
  i4 encrypted_int4('3des168'),
  i8 encrypted_int8(aes256,cbc),
  da encrypted_date('key=four') DEFAULT '2001-02-03',
  ts encrypted_timestamptz(3,aes256,salt),
  bl encrypted_bytea(aes256,nosalt,nomac),
  ar encrypted_text[],
  pa pair,
  co code,
  pn encrypted_text REFERENCES parent (name),
  CHECK (i4 > -1000));
CREATE INDEX ON t (te);
CREATE VIEW v AS SELECT id, te FROM t WHERE te <> 'nothing';
INSERT INTO parent SELECT i, 'parent ' || i FROM generate_series(1, 5) i;
INSERT INTO t SELECT i, 'text ' || i || repeat(' long', i % 7 * 60), 'v' || i, i * 1.5, -i, i::bigint << 33, date '2001-02-03',
  timestamptz '2020-01-01 00:00:00+00' + i * interval '1.001 seconds', decode(repeat(md5(i::text), i % 5 * 100 + 1), 'hex'),
  ARRAY['x' || i, NULL, ''], ROW('p' || i, i)::pair, 'c' || i, 'parent ' || (i % 5 + 1)
FROM generate_series(1, 300) i;
INSERT INTO t (id, te) VALUES (1000, ''), (1001, NULL);
});

my $everything = 'SELECT * FROM t ORDER BY id';
my $before     = lines_of($node, $everything);
like($before, qr/^7\|text 7\|v7\|10\.50\|-7\|60129542144\|2001-02-03\|/m, 'there are values of all types');

# A crash.  What was committed is there, through the index as well.

my $session = session($node);
session_try($session, "BEGIN; INSERT INTO t (id, te) VALUES (2000, 'not committed'); UPDATE t SET vc = 'changed'");
lines_of($node, "CHECKPOINT; INSERT INTO t (id, te, ar) VALUES (1002, 'after the checkpoint', ARRAY['a'])");
$before = lines_of($node, $everything);
$node->stop('immediate');
eval { $session->quit };
$node->start;
is(lines_of($node, $everything), $before, 'after a crash all committed rows are there');
is(lines_of($node, "SET enable_seqscan = off; SELECT id FROM t WHERE te = 'after the checkpoint'"),
  '1002', 'through the index, too');
is(lines_of($node, "SELECT count(*) FROM t WHERE te = 'not committed'::text"), '0', 'and others are not');

# A plain dump, restored into another database.

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
my ($out, $err) = run_command([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ]);
is($err, '', 'pg_dump');
unlike(slurp_file($dump), qr/COPY public\.tde_data_keys/, 'the dump has no keys');
like(slurp_file($dump), qr/^CREATE EXTENSION IF NOT EXISTS tde_column/m, 'but the extension');
lines_of($node, 'CREATE DATABASE restored');
($out, $err) = run_command([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ]);
unlike($err, qr/ERROR/, 'restoring it') or diag($err);
is(lines_of($node, $everything,              db => 'restored'), $before, 'gives the same values');
is(lines_of($node, 'SELECT count(*) FROM v', db => 'restored'), lines_of($node, 'SELECT count(*) FROM v'), 'and views');
my $declared = q{SELECT table_name, column_name, type FROM tde.encrypted_columns ORDER BY 1, 2};
is(lines_of($node, $declared, db => 'restored'), lines_of($node, $declared), 'columns are declared as they were');
my $uuids = 'SELECT uuid FROM tde.data_keys ORDER BY 1';
my %seen  = map { $_ => 1 } split /\n/, lines_of($node, $uuids);
is(scalar(grep { $seen{$_} } split /\n/, lines_of($node, $uuids, db => 'restored')), 0, 'under keys of its own');
is(lines_of($node, "SET enable_seqscan = off; SELECT id FROM t WHERE te = 'after the checkpoint'", db => 'restored'),
  '1002', 'indexes work');
is(lines_of($node, 'BEGIN; INSERT INTO t (id) VALUES (3000) RETURNING da; ROLLBACK', db => 'restored'),
  '2001-02-03', 'and so do defaults');
($out, $err) = run_command([ 'pg_dump', '-d', $node->connstr('restored'), '-f', "$dump.again" ]);
# pg_dump of newer minor releases writes a random key of its own
my ($first, $second) = map { slurp_file($_) =~ s/^\\(?:un)?restrict .*//mgr } ($dump, "$dump.again");
ok($first eq $second, 'a dump of the restored database is the same dump');

$node->stop;
done_testing();
