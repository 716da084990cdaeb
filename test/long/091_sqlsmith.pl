# Random queries, by sqlsmith, on encrypted columns of all types: no crash, no failed assertion, no internal error.
#
# SQLSMITH_SECONDS and SQLSMITH_SEED choose how long and which; make check-sanitize runs it on a server with assertions.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{SQLSMITH_SECONDS} // 90;
my $seed    = $ENV{SQLSMITH_SEED}    // 1;

# Only Debian has a package of it, which the script that calls this has tried to install.
plan skip_all => 'SKIPPED: there is no sqlsmith on PATH' if !grep { -x "$_/sqlsmith" } split /:/, $ENV{PATH};

# A value for each number i.
my %values = (
  text => q('text ' || i), varchar => q('varchar ' || i), bpchar => q('char ' || i), int2 => 'i', int4 => 'i', int8 => 'i * 10000000000',
  numeric => 'i / 7.0', float4 => 'i / 3.0', float8 => 'i / 3.0', bool => 'i % 2 = 0', date => q(date '2020-01-01' + i),
  time => q(time '10:00' + i * interval '1 min'), timetz => q(timetz '10:00+1' + i * interval '1 min'),
  timestamp   => q(timestamp '2020-01-01' + i * interval '1 hour'),
  timestamptz => q(timestamptz '2020-01-01Z' + i * interval '1 hour'),
  interval => q(i * interval '1 hour'), bytea => q(decode(md5(i::text), 'hex')), uuid => q(md5(i::text)::uuid),
  json => q(json_build_object('a', i)), jsonb => q(jsonb_build_object('a', i, 'b', jsonb_build_array(i))), inet => q(inet '10.0.0.0' + i));
my @types = sort keys %values;
my $node  = tde_node('sqlsmith', conf => "log_line_prefix = '%p %e '\nrestart_after_crash = on\n");

# A table with a column of each type, filled; key and constraints where the modifiers allow an index.
sub table
{
  my ($name, $modifiers) = @_;
  my $columns = join ', ', map { "c_$_ encrypted_$_$modifiers" } @types;
  my $values  = join ', ', map { "($values{$_})::$_" } @types;
  return "CREATE TABLE $name (id int PRIMARY KEY, plain text, $columns);\n"
    . "INSERT INTO $name SELECT i, 'plain ' || i, $values FROM generate_series(1, 100) i;\n"
    . "INSERT INTO $name (id) VALUES (101);\n";
}

$node->start;
$node->safe_psql('postgres',
  q{CREATE EXTENSION tde_column; SELECT tde_wallet_create('secret-passphrase'); CREATE ROLE smith LOGIN; CREATE SCHEMA smith AUTHORIZATION smith});
# An ordinary user, whose long queries end by themselves.
$node->safe_psql('postgres', q{ALTER ROLE smith SET statement_timeout = '1s'; ALTER ROLE smith SET search_path = smith, public});
$node->safe_psql(
  'postgres', 'SET ROLE smith; SET search_path = smith, public;' . table('salted', '') . table('unsalted', '(nosalt)') . q{
CREATE INDEX ON unsalted (c_text); CREATE INDEX ON unsalted (c_int4); CREATE INDEX ON unsalted USING hash (c_uuid);
CREATE TABLE unauthenticated (a encrypted_text(nomac), b encrypted_int4(nosalt, nomac), c encrypted_bytea(nomac));
INSERT INTO unauthenticated SELECT 'a' || i, i, decode(md5(i::text), 'hex') FROM generate_series(1, 100) i;
CREATE TABLE parts (k encrypted_int4(nosalt), v encrypted_text) PARTITION BY HASH (k);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT i, 'v' || i FROM generate_series(1, 100) i;
CREATE DOMAIN positive AS encrypted_int4(nosalt) CHECK (VALUE > 0);
CREATE TYPE pair AS (a encrypted_text, b encrypted_numeric(nosalt));
CREATE TABLE nested (d positive, p pair, arr encrypted_int4[], texts encrypted_text[]);
INSERT INTO nested SELECT i, ROW(('a' || i)::encrypted_text, i::numeric::encrypted_numeric)::pair, ARRAY[i]::encrypted_int4[],
  ARRAY['x' || i]::encrypted_text[] FROM generate_series(1, 100) i;
CREATE VIEW joined AS SELECT s.c_text, u.c_int4, u.c_numeric, s.c_jsonb FROM salted s JOIN unsalted u USING (id) WHERE u.c_int4 > 5;
});

# The queries, until the time is over.  sqlsmith writes a mark for each with --verbose.
my $started = time;
my ($out, $marks) = ('', '');
my $smith = IPC::Run::start(
  [ 'sqlsmith', '--verbose', '--exclude-catalog', "--seed=$seed", '--target=host=' . $node->host . ' port=' . $node->port . ' dbname=postgres user=smith' ],
  '<', \undef, '>', \$out, '2>', \$marks);
while (time < $started + $seconds && $smith->pumpable)
{
  # pump() waits for output
  $smith->pump_nb;
  select undef, undef, undef, 0.2;
}
my $still_running = $smith->pumpable;
$smith->kill_kill(grace => 5);

ok($still_running, 'sqlsmith runs until it is stopped') or diag(substr($marks, -2000));
my $queries = () = $marks =~ /[.eSCt](?=[.eSCt\n]|\z)/g;
note("$queries queries in $seconds s");
cmp_ok($queries, '>', $seconds, 'there were queries');
like($marks, qr/\./, 'some of them had a result');

# What the server says of it, without the statements themselves.
my $log = slurp_file($node->logfile);
is(lines_of($node, 'SELECT 1'), 1, 'the server is there');
unlike($log, qr/TRAP: |PANIC: |was terminated by signal|runtime error:|AddressSanitizer/, 'no crash, no failed assertion');
my %internal = map { $_ => 1 } $log =~ /^\d+ XX\S* ERROR:  (.*)/mg;

# PostgreSQL's own, which a query without any object of ours gives as well.
my @of_postgres = (
  [ qr/failed to find conversion function from unknown to text/,
    'SELECT FROM (SELECT 1 AS a) s WHERE EXISTS (SELECT s.a, pg_catalog.unknownin(NULL::cstring) FROM pg_class)' ],
  [ qr/invalid INTERVAL typmod: 0x[0-9a-f]+/,  q{SELECT pg_catalog.interval(i, 1) FROM (SELECT now() - now() AS i) s} ],
  [ qr/unrecognized interval typmod: -?[0-9]+/, q{SELECT pg_catalog.interval('1 day'::interval, 1)} ],
  [ qr/cache lookup failed for text search configuration [0-9]+/, q{SELECT pg_catalog.to_tsvector(3::oid::pg_catalog.regconfig, 'x')} ],
  [ qr/invalid non-zero objectSubId for object class [0-9]+/, 'SELECT pg_catalog.pg_identify_object(0, 0, 1)' ]);
foreach my $known (@of_postgres)
{
  my ($message, $query) = @$known;
  my @seen = grep { /^$message$/ } keys %internal or next;
  my (undef, undef, $err) = $node->psql('template1', $query);
  like($err, qr/ERROR:  $message$/m, "without the extension, too: $seen[0]");
  delete @internal{@seen};
}
is(join("\n", sort keys %internal), '', 'no internal error');

done_testing();
