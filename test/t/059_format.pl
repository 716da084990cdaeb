# What released versions have written is read by this one: wallets, exported keys, values of all types under all specifications as they stand
# in a dump.  test/format/make.pl writes a folder for each release.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $top = "$FindBin::RealBin/../format";
my @versions = map { m{([\d.]+)$} } grep { -d } glob "$top/*";
ok(@versions > 0, "@versions");

foreach my $version (@versions)
{
  my $folder = "$top/$version";
  my %plain = map { /^(\w+) (.*)$/ ? ($1 => $2) : () } split /\n/, read_bytes("$folder/plain");
  my $node = tde_node("format_$version");
  $node->start;

  # The wallet, on a server that has none.
  write_bytes(wallet_path($node), read_bytes("$folder/wallet.p12"));
  chmod 0600, wallet_path($node);
  lines_of($node, 'CREATE EXTENSION tde_column');
  is(attempt($node, "SELECT tde_wallet_open('another passphrase')")->{state}, 'TDE02', "$version: the wallet is not opened by another passphrase");
  lines_of($node, "SELECT tde_wallet_open('format-passphrase')");
  is(lines_of($node, 'SELECT count(*) FROM tde.master_keys'), '1', "$version: the wallet");

  # Exported keys, and then the values that they have encrypted.
  lines_of($node, 'CREATE DATABASE written');
  # its dump names the schema of its objects
  lines_of($node, "CREATE EXTENSION tde_column VERSION '$version'", db => 'written');
  chomp(my $keys = read_bytes("$folder/keys"));
  lines_of($node, "SELECT tde_import_keys('$keys', 'format-secret')", db => 'written');
  {
    local $ENV{PGOPTIONS} = '-c tde_column.io_format=ciphertext';
    $node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('written'), '-f', "$folder/dump.sql" ], "$version: a dump");
  }
  lines_of($node, 'ALTER EXTENSION tde_column UPDATE', db => 'written');
  foreach my $type (sort keys %plain)
  {
    my %values;
    push @{ $values{$_} }, $_ foreach split /\n/, lines_of($node, "SET TimeZone = 'UTC'; SELECT value FROM v_$type v, json_each_text(to_json(v)) e (name, value)", db => 'written');
    my ($first) = keys %values;
    my $expected = lines_of($node, "SET TimeZone = 'UTC'; SELECT to_json('$plain{$type}'::$type) #>> '{}'", db => 'written');
    is(join('|', keys %values), $expected, "$version: $type, all alike");
    cmp_ok(scalar(@{ $values{$first} }), '>', 35, "$version: $type, under all specifications");
  }
  $node->stop;
}
done_testing();
