# Encrypted types that the script of somebody's extension makes belong to that extension, with all that they use: pg_dump dumps the
# extension, after the base type; tde_refresh_types() and updates of this extension keep it so.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('extension_types', conf => "tde_column.passphrase_command = 'echo secret-passphrase'\n");
my $mood = q{CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')};
my $tag  = '6c3be3a8-1111-4222-8333-000000000001';
# what an encrypted type has and no extension, and how many members the extension has
my $free = q{SELECT pg_describe_object(catalog, object, 0) FROM tde_internal.tde_template_objects()
  WHERE tde_internal.tde_extension_of(catalog::regclass, object) IS NULL AND object >= 16384 ORDER BY 1};
my $members = q{SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tde_test_moods')};
# what pg_dump and Citus bring before the extension
my $needed = q{SELECT pg_describe_object(refclassid, refobjid, 0) FROM pg_depend WHERE classid = 'pg_extension'::regclass
  AND objid = (SELECT oid FROM pg_extension WHERE extname = 'tde_test_moods') AND refclassid = 'pg_type'::regclass};

# Put an extension into a private installation.
sub install_types
{
  my ($folder, $name, $requires, $script) = @_;
  write_bytes("$folder/extension/$name.control", "default_version = '1.0'\nrequires = '$requires'\n");
  write_bytes("$folder/extension/$name--1.0.sql", $script);
  return;
}

$node->start;
my $share = $node->config_data('--sharedir');
install_types($share, 'tde_test_moods', 'tde_column', "SELECT tde_create_type('mood', type_tag => '$tag');");
install_types($share, 'tde_test_more', 'tde_column, citext', q{SELECT tde_create_type('citext', type_tag => '6c3be3a8-1111-4222-8333-000000000002');
  CREATE TYPE "s', (" AS ENUM ('low', 'high'); SELECT tde_create_type('"s'', ("', type_tag => '6c3be3a8-1111-4222-8333-000000000003');});

# ---- made by a script ----

lines_of($node, "SET client_min_messages = error; CREATE EXTENSION tde_column; SELECT tde_wallet_create('secret-passphrase'); $mood");
my $made = attempt($node, 'CREATE EXTENSION tde_test_moods; CREATE EXTENSION tde_test_more CASCADE');
is($made->{state}, '', 'the script of an extension makes types') or diag($made->{err});
is(lines_of($node, $free), '', 'all that they have belongs to it');
is(lines_of($node, 'SELECT tde_refresh_types()'), '0', 'nothing is missing');
my $count = lines_of($node, $members);
lines_of(
  $node, q{
CREATE TABLE person (id int PRIMARY KEY, m encrypted_mood(nosalt) DEFAULT 'ok', c encrypted_citext UNIQUE, s "encrypted_s', (");
CREATE INDEX ON person (m);
INSERT INTO person VALUES (1, 'happy', 'Ann', 'low'), (2, DEFAULT, 'Bob', 'high');
CREATE VIEW happy AS SELECT id FROM person WHERE m > 'ok' AND c = 'ANN';
});
is(lines_of($node, $needed), 'type mood', 'the extension depends on the base type');

my $folder = PostgreSQL::Test::Utils::tempdir;
foreach my $format ('plain', 'custom')
{
  $node->command_ok([ 'pg_dump', '-F', $format, '-f', "$folder/$format", 'postgres' ], "pg_dump, format $format");
  lines_of($node, "CREATE DATABASE $format");
  my @restore = $format eq 'plain' ? ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$folder/plain") : ('pg_restore', '-e', "$folder/custom");
  $node->command_ok([ @restore, '-d', $format ], '... is restored');
  is(lines_of($node, $_, db => $format), lines_of($node, $_), "... $_")
    foreach 'SELECT * FROM person ORDER BY m', 'SELECT * FROM happy', 'SELECT type, base, shipped FROM tde.types ORDER BY 1', $members,
    q{SELECT pg_get_function_sqlbody('encrypted_mood_typmod_in'::regproc)};
  is(lines_of($node, 'SELECT tde_refresh_types()', db => $format), '0', '... and nothing is missing');
}
unlike(slurp_file("$folder/plain"), qr/CREATE (?:TYPE|FUNCTION|OPERATOR|CAST|AGGREGATE)\b(?! public\.mood )/, "the dump leaves the extensions' objects to them");

# ---- mended ----

lines_of($node, q{ALTER EXTENSION tde_test_moods DROP AGGREGATE min(encrypted_mood); DROP AGGREGATE min(encrypted_mood)});
is(lines_of($node, 'SELECT tde_refresh_types()'), '1', 'what is missing is made');
is(lines_of($node, $free), '', '... for the extension');
is(lines_of($node, $members), $count, '... whose members are the same');

# ---- after a type that was made by hand ----

lines_of($node, 'CREATE DATABASE hand');
lines_of($node, "SET client_min_messages = error; CREATE EXTENSION tde_column; $mood; SELECT tde_create_type('mood'); DROP TYPE encrypted_mood CASCADE;
  CREATE EXTENSION tde_test_moods", db => 'hand');
is(lines_of($node, $free, db => 'hand'), '', 'what was left of a type made by hand belongs to the extension');
is(lines_of($node, $members, db => 'hand'), $count, '... nothing else does');
is(lines_of($node, "DROP EXTENSION tde_test_moods; $free", db => 'hand'), '', 'with the extension all goes');
is(attempt($node, q{DROP TYPE mood; DROP EXTENSION tde_column}, db => 'hand')->{state}, '', '... and holds nothing back');

# ---- after pg_upgrade ----

my %before = map { $_ => lines_of($node, $_) } 'SELECT * FROM person ORDER BY m', $members;
$node->stop;
my $new = tde_node('new', conf => "tde_column.passphrase_command = 'echo secret-passphrase'\n");
$new->append_conf('postgresql.conf', "tde_column.wallet_file = '" . wallet_path($node) . "'\n");
my $bindir = $new->config_data('--bindir');
chdir $folder or die;
command_ok([ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir, '-s', $new->host, '-p', $node->port, '-P', $new->port ],
  'pg_upgrade');
$new->start;
is(lines_of($new, $_), $before{$_}, "... $_") foreach sort keys %before;
is(lines_of($new, $free), '', '... and nothing belongs to nobody');
is(lines_of($new, $needed), '', '... but the extension does not depend on the base type');
lines_of($new, 'SELECT tde_refresh_types()');
is(lines_of($new, $needed), 'type mood', '... until tde_refresh_types() makes it so again');
$new->stop;

# ---- made by an older version ----

my $old = old_install('0.1.0');
my $aged = tde_node('aged', install => $old, conf => "tde_column.passphrase_command = 'echo update-secret'\n");
$aged->start;
install_types($aged->config_data('--sharedir'), 'tde_test_moods', 'tde_column', '');
# its own tde_create_type() cannot be called in a script
lines_of(
  $aged, qq{
CREATE EXTENSION tde_column; SELECT tde_wallet_create('update-secret');
$mood; SELECT tde_create_type('mood', type_tag => '$tag');
CREATE EXTENSION tde_test_moods;
DO \$\$
DECLARE
  o record;
BEGIN
  FOR o IN SELECT i.type, i.identity FROM (SELECT tableoid, oid FROM pg_type WHERE typname = 'encrypted_mood'
      UNION ALL SELECT tableoid, oid FROM pg_proc UNION ALL SELECT tableoid, oid FROM pg_operator UNION ALL SELECT tableoid, oid FROM pg_cast
      UNION ALL SELECT tableoid, oid FROM pg_opfamily UNION ALL SELECT tableoid, oid FROM pg_opclass) AS objects (catalog, object)
    CROSS JOIN LATERAL pg_identify_object(catalog, object, 0) i
    WHERE pg_describe_object(catalog, object, 0) ~ 'mood'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = catalog AND d.objid = object AND d.deptype IN ('e', 'i')) LOOP
    EXECUTE format('ALTER EXTENSION tde_test_moods ADD %s %s', o.type, o.identity);
  END LOOP;
END
\$\$;
CREATE TABLE moods (m encrypted_mood(nosalt) PRIMARY KEY);
INSERT INTO moods VALUES ('ok'), ('sad');
});
$aged->stop;
upgrade_install($old);
$aged->start;
lines_of($aged, 'ALTER EXTENSION tde_column UPDATE');
is(lines_of($aged, $free), '', 'what an update adds to the type belongs to its extension');
is(lines_of($aged, $members), $count, '... which has the members of a new one');
is(lines_of($aged, 'SELECT tde_refresh_types()'), '0', '... all of them');
is(lines_of($aged, q{INSERT INTO moods VALUES ('happy'); SELECT m FROM moods WHERE m >= 'ok' ORDER BY m DESC}), "happy\nok", '... and works');
is(lines_of($aged, $needed), 'type mood', '... and depends on the base type');
$aged->stop;
done_testing();
