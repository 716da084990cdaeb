# tde_column.transparent_catalog where it takes more than one session of psql: the extended protocol, EXPLAIN, databases without the
# extension, a server without the library, a closed wallet, roles.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $node = tde_node('catalog', extension => 1);
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('catalog-passphrase');
CREATE TABLE t (id int PRIMARY KEY, a encrypted_varchar(20) DEFAULT 'x', n encrypted_numeric(10,2));
CREATE DATABASE bare;
CREATE ROLE tool LOGIN; ALTER ROLE tool SET tde_column.transparent_catalog = on; GRANT SELECT ON t TO tool;
});

my $types   = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum";
my @plain   = ('integer', 'character varying(20)', 'numeric(10,2)');
my @truth   = split /\n/, lines_of($node, $types);
my $columns = "SELECT data_type FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position";
like("@truth", qr/^integer encrypted_varchar\(20,.*encrypted_numeric\(10,2,/, 'off, clients are told the encrypted types');

# By role, as a tool connects.
is(attempt($node, $types, user => 'tool')->{out}, join("\n", @plain), 'a role that has the setting');
is(attempt($node, $columns, user => 'tool')->{out}, "integer\ncharacter varying\nnumeric", 'information_schema');
is(attempt($node, 'TABLE tde.encrypted_columns', user => 'tool')->{out} =~ s/[^\n]*encrypted_[^\n]*//gr, "\n", 'the view of the extension tells the truth');
like(attempt($node, "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY; $types; COMMIT", user => 'tool')->{out}, qr/encrypted_varchar/,
  'READ ONLY, as of one moment: the truth');
is(attempt($node, "BEGIN ISOLATION LEVEL REPEATABLE READ; $types; COMMIT", user => 'tool')->{out}, join("\n", @plain), 'not READ ONLY');
is(attempt($node, "BEGIN READ ONLY; $types; COMMIT", user => 'tool')->{out}, join("\n", @plain), 'not as of one moment');

# The extended protocol, with plans that stay.
my $wire = TdeWire->connect($node);
$wire->query('SET tde_column.transparent_catalog = on');
foreach my $mode (qw(force_custom_plan force_generic_plan))
{
  $wire->query("SET plan_cache_mode = $mode");
  is_deeply($wire->parse($mode, $types)->execute($mode)->sync->{rows}, \@plain, "prepared, $mode");
  $wire->query('SET tde_column.transparent_catalog = off');
  is_deeply($wire->execute($mode)->sync->{rows}, \@truth, '... follows the setting, off');
  $wire->query('BEGIN; SET LOCAL tde_column.transparent_catalog = on');
  is_deeply($wire->execute($mode)->sync->{rows}, \@plain, '... on for a transaction');
  $wire->query('ROLLBACK');
  is_deeply($wire->execute($mode)->sync->{rows}, \@truth, '... and off again with its end');
  $wire->query('SET tde_column.transparent_catalog = on');
  is_deeply($wire->parse('', $types)->execute('')->sync->{rows}, \@plain, 'not named');
}
is_deeply($wire->query("DECLARE c CURSOR WITH HOLD FOR $types; FETCH ALL FROM c")->{rows}, \@plain, 'a cursor WITH HOLD');
is_deeply($wire->query("PREPARE p AS $types; EXECUTE p")->{rows}, \@plain, 'EXECUTE');
is_deeply($wire->query("CREATE TEMP TABLE x AS EXECUTE p; TABLE x")->{rows}, \@truth, 'not CREATE TABLE AS EXECUTE');
is_deeply($wire->query("COPY ($types) TO STDOUT; SELECT 1")->{rows}, ['1'], 'COPY');
like(join("\n", @{ $wire->query("EXPLAIN (VERBOSE, COSTS OFF) $types")->{rows} }), qr/tde_catalog_type/, 'EXPLAIN shows it');
like(join("\n", @{ $wire->query("EXPLAIN (VERBOSE, COSTS OFF) EXECUTE p")->{rows} }), qr/tde_catalog_type/, 'EXPLAIN EXECUTE');
unlike(join("\n", @{ $wire->query("EXPLAIN (VERBOSE, COSTS OFF) CREATE TABLE y AS $types")->{rows} }), qr/tde_catalog_type/,
  'EXPLAIN CREATE TABLE AS');
$wire->query('SET tde_column.transparent_catalog = off');
unlike(join("\n", @{ $wire->query("EXPLAIN (VERBOSE, COSTS OFF) $types")->{rows} }), qr/tde_catalog_type/, 'off, there is nothing of it');

# psql's own listings, which are several queries each.
my $listing = '\d t';
my ($off, $on) = map { lines_of($node, "SET tde_column.transparent_catalog = $_;\n$listing") } qw(off on);
like($off, qr/encrypted_varchar\(20.*encrypted_numeric/s, 'off, \d shows encrypted types');
like($on, qr/character varying\(20\).*numeric\(10,2\)/s, 'on, base types');

# The wallet is not asked.
lines_of($node, 'SELECT tde_wallet_close()');
is(attempt($node, $types, user => 'tool')->{out}, join("\n", @plain), 'the wallet is closed');

# Without the extension, and while its library is another one's.
is(lines_of($node, "SET tde_column.transparent_catalog = on; SELECT format_type(atttypid, atttypmod) FROM pg_attribute
                    WHERE attrelid = 'pg_class'::regclass AND attname = 'relname'", db => 'bare'), 'name', 'a database without the extension');
is(lines_of($node, "CREATE SCHEMA tde_internal;
  CREATE FUNCTION tde_internal.tde_catalog_type(oid) RETURNS oid LANGUAGE sql AS 'SELECT 16::oid';
  CREATE FUNCTION tde_internal.tde_catalog_typmod(oid, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
  SET tde_column.transparent_catalog = on; SELECT format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = 'pg_class'::regclass AND attname = 'relname'", db => 'bare'), 'name', "somebody else's functions are not called");
$node->stop;

# The library is loaded by a session.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->start;
is(lines_of($node, "LOAD 'tde_column'; SET tde_column.transparent_catalog = on; $types"), join("\n", @truth),
  'without shared_preload_libraries it has no effect, as transparent results have none');
$node->stop;
done_testing();
