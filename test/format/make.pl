# What a released version writes, for test/t/056_format: values of all types under all specifications, in a dump that has them as they are
# stored, with the rows of their keys; the wallet; exported keys.  To be run once, when a version is released:
#
#   FORMAT_OF=0.1.0 TAP=test/format/make.pl test/check          without FORMAT_OF: of this version
#
# and what is in the folder that it names belongs into test/format/VERSION.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $version = $ENV{FORMAT_OF} // '';
my $node = tde_node('writer', $version ? (install => old_install($version)) : (), conf => "tde_column.passphrase_command = 'echo format-passphrase'\n");
$node->start;
lines_of($node, q{CREATE EXTENSION tde_column; SELECT tde_wallet_create('format-passphrase'); SELECT tde_create_key('named')});

my %sample = (
  bool   => 'true', bpchar => 'a word', bytea => '\x00ff10', date => '2024-02-29', float4 => '1.5', float8 => '-2.25', inet => '10.1.2.0/24', int2 => '-7', int4 => '123456',
  int8   => '9007199254740993', interval => '1 year 2 mons 3 days 04:05:06', json => '{"a": [1, null]}', jsonb => '{"a": [1, null]}', numeric => '12345.67', text => 'Straße 7',
  time   => '12:34:56', timestamp => '2024-02-29 12:34:56', timestamptz => '2024-02-29 12:34:56+00', timetz => '12:34:56+02', uuid => '6ba7b810-9dad-11d1-80b4-00c04fd430c8', varchar => 'Straße 7');
my @modifiers;
foreach my $cipher (qw(aes128 aes192 aes256 3des168))
{
  foreach my $salt (qw(salt nosalt))
  {
    push @modifiers, map { "$cipher,$salt,$_" } 'nomac', 'mac', 'sha256', 'gcm', map { ("ctr,$_", "cbc,$_") } qw(nomac mac sha256);
  }
}

my $made = 0;
my $plain = '';
lines_of($node, 'CREATE DATABASE written');
lines_of($node, 'CREATE EXTENSION tde_column; SELECT tde_create_key($$named$$)', db => 'written');
foreach my $type (split /\n/, lines_of($node, q{SELECT substr(typname, 11) FROM pg_type WHERE typname ~ '^encrypted_' AND typtype = 'b' AND typcategory <> 'A' ORDER BY 1}, db => 'written'))
{
  my $value = $sample{$type} // next;
  my $column = 0;
  my @columns = map { 'c' . ++$column . " encrypted_$type($_)" } grep { attempt($node, "CREATE TABLE tried (a encrypted_$type($_)); DROP TABLE tried", db => 'written')->{state} eq '' } @modifiers,
    "'aes256', 'salt', 'key=named'";
  lines_of($node, "SET TimeZone = 'UTC'; CREATE TABLE v_$type (" . join(', ', @columns) . "); INSERT INTO v_$type VALUES (" . join(', ', map { "'$value'" } @columns) . ')', db => 'written');
  $plain .= "$type $value\n";
  $made += @columns;
}
cmp_ok($made, '>', 500, 'values');

my $folder = PostgreSQL::Test::Utils::tempdir_short . '/' . ($version || lines_of($node, 'SELECT tde_version()'));
mkdir $folder or die $!;
{
  local $ENV{PGOPTIONS} = '-c tde_column.io_format=ciphertext';
  $node->command_ok([ 'pg_dump', '--no-owner', '-f', "$folder/dump.sql", 'written' ], 'dumped');
}
# psql's from before its releases of August 2025 do not know it
write_bytes("$folder/dump.sql", read_bytes("$folder/dump.sql") =~ s/^\\(un)?restrict .*\n//mgr);
write_bytes("$folder/plain",      $plain);
write_bytes("$folder/keys",       lines_of($node, q{SELECT tde_export_keys('format-secret')}, db => 'written') . "\n");
write_bytes("$folder/wallet.p12", read_bytes(wallet_path($node)));
system("cp -r $folder $ENV{FORMAT_TO}") == 0 or die if $ENV{FORMAT_TO};
diag("written to $folder");
done_testing();
