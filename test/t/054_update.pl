# ALTER EXTENSION UPDATE from every older version: made by that version's own library, updated by this one, everything is read and
# written as before, and the extension's objects are those of a new installation.  Columns keep their specification, whatever the default is
# meanwhile, also those of a dump that the older version has made.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeDump;
use TdeTest;
use Test::More;

my $top      = "$FindBin::RealBin/../..";
my $manifest = slurp_file("$top/test/manifest/members.sql");
my $folder   = PostgreSQL::Test::Utils::tempdir;
my $type_of  = q{SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE (attrelid::regclass::text, attname) = };
my @versions = map { m{/tde_column--([\d.]+)\.sql$} ? $1 : () } glob "$top/src/sql/updates/*.sql";
my ($current) = slurp_file("$top/tde_column.control") =~ /^default_version = '([\d.]+)'/m;
ok(@versions > 0, "from @versions to $current");

foreach my $version (sort { old_version_runs($b) <=> old_version_runs($a) } @versions)
{
  my $old  = old_install($version);
  my $node = tde_node("from_$version", install => $old, conf => "tde_column.passphrase_command = 'echo update-secret'\n");
  $node->start;
  lines_of($node, "CREATE EXTENSION tde_column; SELECT tde_wallet_create('update-secret')");
  lines_of($node, "CREATE DATABASE $_") foreach qw(shop bare dumped);
  lines_of($node, tde_dump_schema(), db => 'shop');
  # what docs/moving-data.md says of dumps: without expressions that find no operator in public
  lines_of($node, tde_dump_schema(unnamed => 0), db => 'dumped');
  my $moods = q{
CREATE TYPE mood AS ENUM ('sad', 'ok');
SELECT tde_create_type('mood');
CREATE TABLE moods (a encrypted_mood(nosalt) PRIMARY KEY, b encrypted_mood DEFAULT 'sad');
INSERT INTO moods VALUES ('ok')};
  lines_of($node, $moods, db => $_) foreach qw(shop dumped);
  my %dumped = (tde_dump_state($node, 'dumped', unnamed => 0), map { $_ => lines_of($node, $_, db => 'dumped') } 'SELECT * FROM moods');
  lines_of(
    $node, q{
SELECT tde_rotate_key();
GRANT EXECUTE ON FUNCTION tde_create_key(text, boolean) TO pg_monitor;
REVOKE EXECUTE ON FUNCTION tde_may_decrypt() FROM PUBLIC;
}, db => 'shop');
  lines_of(
    $node, q{
CREATE SCHEMA "Its own"; SET search_path = "Its own", public; ALTER DATABASE bare SET search_path = "Its own", public;
CREATE EXTENSION tde_column SCHEMA "Its own";
CREATE SCHEMA "a) (b";
CREATE SCHEMA elsewhere;
CREATE TYPE "a) (b".size AS ENUM ('low', 'high');
SELECT tde_create_type('"a) (b".size', '"a) (b"');
ALTER TYPE "a) (b".encrypted_size RENAME TO secret;
ALTER TYPE "a) (b".secret SET SCHEMA elsewhere;
}, db => 'bare');
  is(lines_of($node, q{SELECT extversion FROM pg_extension WHERE extname = 'tde_column'}, db => 'bare'), $version, "made by $version");
  my @more = ('SELECT * FROM moods', 'SELECT * FROM tde.data_keys ORDER BY id', 'SELECT slot, name, version, state FROM tde.keys ORDER BY 1, 3');
  my $privileges = q{SELECT proname, proacl FROM pg_proc WHERE proname IN ('tde_create_key', 'tde_may_decrypt') ORDER BY 1};
  my %expected = (tde_dump_state($node, 'shop'), map { $_ => lines_of($node, $_, db => 'shop') } @more, $privileges);
  is(lines_of($node, "$type_of ('shop.bare', 'a')", db => 'shop'), 'encrypted_text(aes256,salt,mac)', 'the default was HMAC-SHA1') if $version eq '0.1.0';
  $node->command_ok([ 'pg_dump', '-Fc', '-f', "$folder/$version.dump", 'dumped' ], 'it is dumped');
  $node->stop;

  # The package is upgraded, the server started: before anybody updates the extension, what is stored is read.
  upgrade_install($old);
  $node->start;
  my %before = tde_dump_state($node, 'shop');
  is($before{$_}, $expected{$_}, "this library under the objects of $version: $_") foreach sort keys %before;
  like(lines_of($node, q{SELECT problem FROM tde_audit() WHERE problem LIKE 'the library%'}, db => 'shop'),
    qr/the library is of version \Q$current\E, the extension in this database of \Q$version\E/, 'and the audit says what is to be done')
    if lines_of($node, q{SELECT 1 FROM pg_proc WHERE proname = 'tde_audit' AND proargnames @> '{problem}'}, db => 'shop');

  is(lines_of($node, q{CREATE TABLE meanwhile (a encrypted_text, b encrypted_text(nosalt)); INSERT INTO meanwhile VALUES ('x', 'y'); SELECT a, b FROM meanwhile WHERE b = 'y'},
      db => 'bare'), 'x|y', 'new columns can be made and used');

  my %options = (shop => '', bare => '-c quote_all_identifiers=on', postgres => '-c standard_conforming_strings=off');
  foreach my $db (qw(shop bare postgres))
  {
    local $ENV{PGOPTIONS} = $options{$db};
    my $got = attempt($node, 'ALTER EXTENSION tde_column UPDATE', db => $db);
    is($got->{state}, '', "updated in $db $options{$db}") or diag($got->{err});
  }
  is(lines_of($node, q{SELECT extversion FROM pg_extension WHERE extname = 'tde_column'}, db => 'shop'), $current, "to $current");
  is(lines_of($node, q{SELECT DISTINCT i.schema FROM pg_depend d JOIN pg_extension x ON d.refclassid = x.tableoid AND d.refobjid = x.oid AND d.deptype = 'e'
      CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i WHERE x.extname = 'tde_column' AND i.schema IS NOT NULL ORDER BY 1}, db => $_),
    "pg_catalog\ntde\ntde_internal", "nothing of it is left in another schema, in $_") foreach sort keys %options;
  is(lines_of($node, q{SELECT type, shipped FROM tde.types WHERE NOT shipped}, db => 'shop'), 'encrypted_mood|f', q(a user's type is where it was));
  is(lines_of($node, q{DROP TABLE meanwhile; DROP SCHEMA "Its own"; SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'tde_column'}, db => 'bare'), 'pg_catalog',
    'the schema that it had can go');
  my %after = (tde_dump_state($node, 'shop'), map { $_ => lines_of($node, $_, db => 'shop') } @more, $privileges);
  is($after{$_}, $expected{$_}, "updated: $_") foreach sort keys %expected;
  is(lines_of($node, q{INSERT INTO moods VALUES ('sad', 'ok'); SELECT count(*) FROM moods WHERE a >= 'sad'}, db => 'shop'), '2', 'it can be written');

  # Columns of the older version beside new ones.
  lines_of(
    $node, q{
CREATE TABLE shop.young (id int PRIMARY KEY, k encrypted_text(nosalt) UNIQUE, a encrypted_text);
INSERT INTO shop.young SELECT id, k, a FROM shop.ruled;
ALTER TABLE shop.young ADD FOREIGN KEY (k) REFERENCES shop.ruled (k);
ALTER TABLE shop.ruled ADD FOREIGN KEY (k) REFERENCES shop.young (k) DEFERRABLE}, db => 'shop');
  is(lines_of($node, "$type_of ('shop.young', '$_->[0]')", db => 'shop'), $_->[1], "a new column, $_->[0]")
    foreach [ k => 'encrypted_text(aes256,nosalt,gcm)' ], [ a => 'encrypted_text(aes256,salt,gcm)' ];
  foreach my $join ('hashjoin', 'mergejoin', 'nestloop')
  {
    my $only = join ' ', map { "SET enable_$_ = " . ($_ eq $join ? 'on;' : 'off;') } 'hashjoin', 'mergejoin', 'nestloop';
    is(lines_of($node, "$only SELECT string_agg(y.id::text, ',' ORDER BY y.id) FROM shop.ruled r JOIN shop.young y ON r.k = y.k AND y.a IS NOT DISTINCT FROM r.a", db => 'shop'),
      '1,3', "joined by $join");
  }
  is(attempt($node, "INSERT INTO shop.$_ (id, k) VALUES (8, 'needle-k8')", db => 'shop')->{state}, '23503', "foreign keys hold: $_") foreach qw(young ruled);
  is(lines_of($node, q{CALL tde_rekey_table('shop.bare'); } . "$type_of ('shop.bare', 'a'); SELECT sum(pg_column_size(a) - octet_length(a::text)) FROM shop.bare", db => 'shop'),
    "encrypted_text(aes256,salt,mac)\n" . 20 * 37, 'rekeyed under its specification') if $version eq '0.1.0';
  is(lines_of($node, q{ALTER TABLE shop.bare ALTER a TYPE encrypted_text; } . "$type_of ('shop.bare', 'a'); SELECT sum(pg_column_size(a) - octet_length(a::text)) FROM shop.bare", db => 'shop'),
    "encrypted_text(aes256,salt,gcm)\n" . 20 * 31, "altered to today's default");

  # The older version's dump.
  lines_of($node, 'CREATE DATABASE restored');
  lines_of($node, "CREATE EXTENSION tde_column VERSION '$version'", db => 'restored');
  $node->command_ok([ 'pg_restore', '-e', '-d', 'restored', "$folder/$version.dump" ], 'its dump is restored');
  lines_of($node, 'ALTER EXTENSION tde_column UPDATE', db => 'restored');
  my %restored = (tde_dump_state($node, 'restored', unnamed => 0), map { $_ => lines_of($node, $_, db => 'restored') } 'SELECT * FROM moods');
  is($restored{$_}, $dumped{$_}, "restored: $_") foreach sort keys %restored;

  # The same objects as in a new installation.
  lines_of($node, 'CREATE DATABASE new');
  lines_of($node, 'CREATE EXTENSION tde_column', db => 'new');
  write_bytes("$folder/$_", lines_of($node, $manifest, db => $_) . "\n") foreach qw(new bare postgres);
  # where all identifiers are quoted, the extension's schema is so in the text of functions, of which there are hashes
  write_bytes("$folder/$_-texts", slurp_file("$folder/$_") =~ s/ [0-9a-f]{32}\b//gr) foreach qw(new bare);
  foreach my $pair ('new postgres', 'new-texts bare-texts')
  {
    my ($from, $to) = split / /, $pair;
    is(`diff -U0 $folder/$from $folder/$to | grep '^[-+][^-+]'`, '', "$to: the objects of a new installation (-) and of one updated from $version (+)")
      or diag("What a new installation has, src/sql/updates/tde_column--$version--$current.sql has to make.");
  }
  is(lines_of($node, 'SELECT tde_refresh_types()', db => $_), '0', "nothing is left to refresh in $_") foreach qw(shop bare postgres);
  $node->stop;
}
done_testing();
