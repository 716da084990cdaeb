# pg_upgrade carries encrypted columns over: files go as they are, and what the schema holds of values goes encrypted, too.  The
# extension is updated afterwards.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeDump;
use TdeTest;
use Test::More;

# OLD_INSTALL: the prefix of an older version of PostgreSQL, see test/upgrade/run; without it, this one with an older version of the extension,
# whose types are in public, and with this one, whose types are in pg_catalog
my %installs = $ENV{OLD_INSTALL} ? (older => $ENV{OLD_INSTALL}) : (old_version_runs('0.1.0') ? ('0.1.0' => old_install('0.1.0')) : (), this => undef);
foreach my $name (sort keys %installs)
{
  my $old = tde_node("old_$name", $installs{$name} ? (install => $installs{$name}) : ());
  my $new = tde_node("new_$name");

  $_->append_conf('postgresql.conf', "tde_column.passphrase_command = 'echo upgrade-secret'\n") foreach $old, $new;
  $new->append_conf('postgresql.conf', "tde_column.wallet_file = '" . wallet_path($old) . "'\n");
  $old->start;
  lines_of($old, "CREATE EXTENSION tde_column; SELECT tde_wallet_create('upgrade-secret')");
  lines_of($old, 'CREATE ROLE owner; CREATE DATABASE shop OWNER owner');
  # pg_upgrade runs with an empty search_path, on which IS DISTINCT FROM and its like find no operator in public
  my @unnamed = (unnamed => $name ne '0.1.0');
  lines_of($old, tde_dump_schema(@unnamed), db => 'shop');
  lines_of(
    $old, q{
CREATE TYPE mood AS ENUM ('sad', 'ok');
SELECT tde_create_type('mood');
CREATE DOMAIN a_mood AS encrypted_mood(nosalt) CHECK (VALUE > 'sad');
CREATE TABLE moods (a a_mood, b encrypted_mood DEFAULT 'sad');
INSERT INTO moods VALUES ('ok');
CREATE EXTENSION citext;
SELECT tde_create_type('citext');
CREATE TABLE anycase (a encrypted_citext(nosalt) UNIQUE);
INSERT INTO anycase VALUES ('Ann');
GRANT EXECUTE ON FUNCTION tde_create_key(text, boolean) TO owner;
REVOKE EXECUTE ON FUNCTION tde_may_decrypt() FROM PUBLIC;
}, db => 'shop');
  my @more = ('SELECT * FROM moods', q{SELECT * FROM anycase WHERE a = 'ANN'},
    q{SELECT proname, proacl FROM pg_proc WHERE proname IN ('tde_create_key', 'tde_may_decrypt', 'tde_rotate_key') ORDER BY oid::regprocedure::text},
    'SELECT * FROM tde.data_keys ORDER BY id', 'SELECT last_value FROM tde.data_keys_id_seq',
    q{SELECT reloptions FROM pg_class WHERE relname = 'data_keys'}, 'SELECT tde_refresh_types()');
  my %expected = (tde_dump_state($old, 'shop', @unnamed), map { $_ => lines_of($old, $_, db => 'shop') } @more);
  $old->stop;

  # In the server's own folder, so that what is left there can be looked at.
  chdir $new->data_dir or die;
  command_ok(
    [
      'pg_upgrade', '--no-sync', '--retain', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $old->config_data('--bindir'),
      '-B', $new->config_data('--bindir'), '-s', $new->host, '-p', $old->port, '-P', $new->port
    ],
    'pg_upgrade') or diag(map { "$_\n" } grep { /error:|ERROR|Command was/ } map { split /\n/, slurp_file($_) } glob($new->data_dir . '/pg_upgrade_output.d/*/log/*.log'));
  my @dumps = glob($new->data_dir . '/pg_upgrade_output.d/*/dump/*.custom');
  cmp_ok(scalar(@dumps), '>', 2, 'its dumps of the schema are there');
  foreach my $dump (@dumps)
  {
    (my $script = `pg_restore -f - $dump`) =~ s/^--.*//mg;
    is(join(' ', grep { index($script, $_) >= 0 } tde_dump_secrets()), '', 'no plaintext in ' . basename($dump));
  }

  $new->start;
  # a later major version has aggregates that the older one had not, or had otherwise; the same one has none
  my $made = lines_of($new, 'SELECT tde_refresh_types()', db => 'shop');
  cmp_ok($made, $new->pg_version > $old->pg_version ? '>=' : '==', 0, 'what types lack there is made');
  my %got = (tde_dump_state($new, 'shop', @unnamed), map { $_ => lines_of($new, $_, db => 'shop') } @more);
  # PostgreSQL 16 and later leave the table's name away
  foreach my $views (grep { /pg_views/ } keys %expected)
  {
    s/\b(ruled|unnamed)\.//g foreach $got{$views}, $expected{$views};
  }
  is($got{$_}, $expected{$_}, $_) foreach sort keys %expected;
  lines_of($new, 'ALTER EXTENSION tde_column UPDATE', db => $_) foreach qw(postgres shop);
  my %updated = (tde_dump_state($new, 'shop', @unnamed), map { $_ => lines_of($new, $_, db => 'shop') } @more);
  s/\b(ruled|unnamed)\.//g foreach @updated{ grep { /pg_views/ } keys %updated };
  is($updated{$_}, $got{$_}, "updated: $_") foreach sort keys %got;
  lines_of($new, q{INSERT INTO moods VALUES ('ok', 'ok'); INSERT INTO shop.list VALUES ('needle-two', 6)}, db => 'shop');
  is(lines_of($new, q{SELECT count(*) FROM moods; SELECT x FROM shop.list WHERE k = 'needle-two' ORDER BY x}, db => 'shop'),
    "2\n2\n6", 'it can be written');
  $new->stop;
}
done_testing();
