# A plain dump holds plaintext and no keys; its restore encrypts everything under the keys of the database that it goes to.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeDump;
use TdeTest;
use Test::More;

my $source = tde_node('source', extension => 1);
my $target = tde_node('target', extension => 1);
my $dump   = PostgreSQL::Test::Utils::tempdir;

foreach my $node ($source, $target)
{
  $node->start;
  lines_of($node, "SELECT tde_wallet_create('" . $node->name . "-passphrase'); CREATE ROLE reader LOGIN");
}

lines_of($source, 'CREATE DATABASE shop');
lines_of($source, tde_dump_schema(), db => 'shop');
lines_of($source, 'GRANT USAGE ON SCHEMA shop TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader', db => 'shop');
my %expected = tde_dump_state($source, 'shop');
my $ids      = lines_of($source, 'SELECT string_agg(uuid::text, chr(10)) FROM tde.data_keys', db => 'shop');

# A dump must not be told that encrypted columns are plain, whatever clients are.
lines_of($source, 'ALTER DATABASE shop SET tde_column.transparent_catalog = on');
is(lines_of($source, "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'shop' AND udt_name LIKE 'encrypted%'", db => 'shop'), 0,
  'clients are told base types');

# Every way to dump and to restore.  The target has keys of its own, and other ones, in all of its databases.
sub is_restored
{
  my ($db, $name) = @_;
  my %got = tde_dump_state($target, $db);

  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($got{$_}, $expected{$_}, "$name: $_") foreach sort keys %expected;
  my $keys = lines_of($target, 'SELECT string_agg(uuid::text, chr(10)) FROM tde.data_keys', db => $db);
  is(scalar(grep { index($ids, $_) >= 0 } split /\n/, $keys), 0, "$name: the target's own keys");
  return;
}

my @ways = (
  [ 'plain',   [],                                                  undef ],
  [ 'inserts', [ '--inserts', '--rows-per-insert=3' ],              undef ],
  [ 'columns', [ '--column-inserts' ],                              undef ],
  [ 'custom',  [ '-Fc' ],                                           ['-j4'] ],
  [ 'folder',  [ '-Fd', '-j2' ],                                    ['-j4'] ],
  [ 'serializable',  [ '-Fc', '--serializable-deferrable' ],        [] ],
  [ 'row_security',  [ '-Fc', '--enable-row-security' ],            [] ],
  [ 'reader',    [ '-Fc', '-U', 'reader', '-n', 'shop', '--no-owner' ], [] ],
);

foreach my $way (@ways)
{
  my ($name, $dumping, $restoring) = @$way;

  lines_of($target, "CREATE DATABASE $name");
  lines_of($target, 'CREATE EXTENSION tde_column', db => $name) if $name eq 'reader';
  $source->command_ok([ 'pg_dump', @$dumping, '-f', "$dump/$name", 'shop' ], "$name: pg_dump");
  if ($restoring)
  {
    $target->command_ok([ 'pg_restore', '-e', @$restoring, '-d', $name, "$dump/$name" ], "$name: pg_restore");
  }
  else
  {
    $target->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $name, '-f', "$dump/$name" ], "$name: psql");
  }
  is_restored($name, $name);
}

unlike(slurp_file("$dump/plain"), qr/tde_data_keys|tde:/, 'a plain dump holds no keys and no ciphertext');

# In a restore, which empties the search path, operators are found without a schema.

lines_of($target, 'CREATE DATABASE others');
lines_of($target, 'CREATE EXTENSION tde_column; CREATE TABLE t (id int, i encrypted_int4, n encrypted_numeric)', db => 'others');
is(lines_of($target, "SET search_path = ''; CREATE VIEW public.v AS SELECT i IS DISTINCT FROM n FROM public.t; SELECT count(*) FROM public.v", db => 'others'), '0',
  'IS DISTINCT FROM of two encrypted types');
is(attempt($target, "SET search_path = ''; CREATE INDEX CONCURRENTLY ON public.t (id) WHERE i IS DISTINCT FROM 5", db => 'others')->{state}, '', 'and in an index');

# The whole instance.

$source->command_ok([ 'pg_dumpall', '-f', "$dump/all" ], 'pg_dumpall');
$target->command_ok([ 'psql', '-Xq', '-d', 'postgres', '-f', "$dump/all" ], 'psql restores it');
lines_of($target, 'ALTER DATABASE shop RESET tde_column.transparent_catalog');
is_restored('shop', 'pg_dumpall');

# With the wallet closed nothing but the schema comes out, and what is encrypted is an error, not an empty dump.

lines_of($source, 'SELECT tde_wallet_close()');
$source->command_fails_like([ 'pg_dump', '-a', 'shop' ], qr/wallet is not open/, 'a closed wallet: the data');
$source->command_ok([ 'pg_dump', '-s', '-t', 'shop.bare', '-f', "$dump/schema", 'shop' ], 'a closed wallet: a schema without constants');

$_->stop foreach $source, $target;
done_testing();
