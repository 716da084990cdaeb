# An encrypted dump: values leave a database and enter another as they are, and the keys go separately, under a secret.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../../../test/perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeDump;
use TdeTest;
use Test::More;

my $source = tde_node('source', extension => 1, conf => "log_statement = 'all'\n");
my $target = tde_node('target', extension => 1, conf => "log_statement = 'all'\n");
my $dump   = PostgreSQL::Test::Utils::tempdir;
my $ciphertext = '-c tde_column.io_format=ciphertext';

foreach my $node ($source, $target)
{
  $node->start;
  lines_of($node, "SELECT tde_wallet_create('" . $node->name . "-passphrase')");
}
lines_of($source, 'CREATE DATABASE shop');
lines_of($source, tde_dump_schema(), db => 'shop');

# Several versions of keys, and a named one.
lines_of(
  $source, q{
SELECT tde_create_key('staff'), tde_rotate_key();
CREATE TABLE shop.staff (id int, a encrypted_text('key=staff'), b encrypted_text);
INSERT INTO shop.staff VALUES (1, 'needle-staff', 'needle-new');
}, db => 'shop');
my %expected = tde_dump_state($source, 'shop');
my $staff    = 'SELECT * FROM shop.staff';

# Values as they are encrypted.
my @verbatim = map { "SET tde_column.io_format = ciphertext; SELECT * FROM shop.$_ ORDER BY 1" } qw(every bare ruled list range hash);
my %as_stored = map { $_ => lines_of($source, $_, db => 'shop') } @verbatim;

# ---- dumps ----

my %dumps = (inserts => ['--inserts'], folder => [ '-Fd', '-Z0', '-j2' ]);
{
  local $ENV{PGOPTIONS} = $ciphertext;
  foreach my $name (sort keys %dumps)
  {
    $source->command_ok([ 'pg_dump', @{ $dumps{$name} }, '-f', "$dump/$name", 'shop' ], "$name: pg_dump");
    my $bytes = join '', map { read_bytes($_) } grep { -f } "$dump/$name", glob("$dump/$name/*");
    my @found = grep { index($bytes, $_) >= 0 } tde_dump_secrets();
    is("@found", '', "$name: no plaintext in it");
    like($bytes, qr/tde:AWw/, "$name: but ciphertext");
  }
}

# ---- the keys ----

my $keys = lines_of($source, "SELECT tde_export_keys('export-secret')", db => 'shop');
like($keys, qr{^tdekeys:[A-Za-z0-9+/=]+$}, 'tde_export_keys');
isnt(lines_of($source, "SELECT tde_export_keys('export-secret')", db => 'shop'), $keys, 'salted');

sub import_fails
{
  my ($text, $secret, $expected, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  fails_with($target, "SELECT tde_import_keys('$text', '$secret')", $expected, $name);
  return;
}
my $wrong = {
  state   => 'TDE04',
  message => qr/^could not unwrap exported keys$/,
  detail  => qr/^The secret is wrong, or the text was changed\.$/
};
my $no_text = { state => '22023', message => qr/^text does not contain keys that tde_export_keys\(\) has exported$/ };
import_fails($keys, 'other-secret', $wrong, 'another secret');
import_fails(substr($keys, 0, 100) . ($keys =~ /^.{100}A/ ? 'B' : 'A') . substr($keys, 101), 'export-secret', $wrong, 'a changed text');
import_fails(substr($keys, 0, -16), 'export-secret', $wrong, 'a truncated text');
import_fails('',                    'export-secret', $no_text, 'no text');
import_fails('tdekeys:AQ==',        'export-secret', $no_text, 'a short text');
import_fails('tdekeys:' . 'AQAAAAE' . substr($keys, 15), 'export-secret', $no_text, 'few iterations');
import_fails($keys, '', { state => '22023', message => qr/^secret must not be empty$/ }, 'no secret');
is(lines_of($target, 'SELECT count(*) FROM tde.data_keys'), '3', 'nothing was imported');

# ---- restore ----

# Without the keys.
lines_of($target, 'CREATE DATABASE keyless');
lines_of($target, 'CREATE EXTENSION tde_column; CREATE TABLE bare (id int, a encrypted_text)', db => 'keyless');
my ($line) = $as_stored{ $verbatim[1] } =~ /^1\|(.*)$/m;
my $uuid = lines_of($source, q{SELECT uuid FROM tde.data_keys WHERE slot = 0 AND kind = 'm' AND version = 1}, db => 'shop');
my $unknown = {
  state   => 'TDE03',
  message => qr/^data key \Q$uuid\E is not in this database$/,
  hint    => qr/^Run tde_export_keys\(\) where the value comes from, and tde_import_keys\(\) here\.  The view tde\.keys tells there which version of which key it is\.$/
};
my $mode = 'SET tde_column.io_format = ciphertext;';
fails_with($target, "$mode INSERT INTO bare VALUES (1, '$line')", $unknown, 'a key that is not there', db => 'keyless');
write_bytes("$dump/copy", "1\t$line\n");
fails_with($target, "$mode\n\\copy bare FROM '$dump/copy'", $unknown, 'COPY of such a value', db => 'keyless');

# Into databases that have keys of their own, a named one in the slot that is another key's there.
sub make_target
{
  my ($db) = @_;
  lines_of($target, "CREATE DATABASE $db");
  lines_of(
    $target, q{
CREATE EXTENSION tde_column;
CREATE TABLE own (a encrypted_text, b encrypted_text('key=five'));
INSERT INTO own VALUES ('before', 'before');
SELECT tde_create_key('other');
}, db => $db);
  return;
}

my $exported    = lines_of($source, 'SELECT uuid FROM tde.data_keys ORDER BY 1', db => 'shop');
my $active_keys = q{SELECT slot, name, kind, version, uuid FROM tde.keys WHERE state = 'active' AND kind <> 'nomac' ORDER BY id};
foreach my $name (sort keys %dumps)
{
  make_target($name);
  my $active = lines_of($target, $active_keys, db => $name);
  my $imported = attempt($target, "SELECT tde_import_keys('$keys', 'export-secret')", db => $name);
  is($imported->{out}, lines_of($source, 'SELECT count(*) FROM tde.data_keys', db => 'shop'), "$name: keys imported");
  is(lines_of($target, "SELECT tde_import_keys('$keys', 'export-secret')", db => $name), '0', "$name: the second time there is nothing to do");
  {
    local $ENV{PGOPTIONS} = $ciphertext;
    if (@{ $dumps{$name} } < 2)
    {
      $target->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $name, '-f', "$dump/$name" ], "$name: psql");
    }
    else
    {
      $target->command_ok([ 'pg_restore', '-e', '-j4', '-d', $name, "$dump/$name" ], "$name: pg_restore -j4");
    }
  }
  is(lines_of($target, $_, db => $name), $as_stored{$_}, "$name: $_") foreach @verbatim;
  my %got = tde_dump_state($target, $name);
  is($got{$_}, $expected{$_}, "$name: $_") foreach sort keys %expected;
  is(lines_of($target, $staff, db => $name), '1|needle-staff|needle-new', "$name: under a named key and a new version");
  is(lines_of($target, 'SELECT * FROM own', db => $name), 'before|before', "$name: what was there");
  is(lines_of($target, $active_keys =~ s/WHERE/WHERE name NOT IN ('codes', 'staff') AND/r, db => $name), $active, "$name: the keys for new values are what they were");
  is(lines_of($target, q{SELECT uuid FROM tde.data_keys WHERE state = 'r' ORDER BY 1}, db => $name),
    $exported, "$name: imported keys are for reading only");
  is(lines_of($target, q{SELECT slot FROM tde.keys GROUP BY 1 HAVING count(DISTINCT name) > 1}, db => $name), '', "$name: no two keys share a slot");
}

# ---- input in the ciphertext form ----

my %broken = (
  'plaintext'        => [ 'plain', '22P02', qr/^value is not in the ciphertext form$/ ],
  'an empty string'  => [ '', '22P02', qr/^value is not in the ciphertext form$/ ],
  'not base64'       => [ 'tde:???', 'TDE04', qr/^ciphertext form of an encrypted value is damaged$/ ],
  'nothing'          => [ 'tde:', 'TDE04', qr/^ciphertext form of an encrypted value is damaged$/ ],
  'truncated'        => [ substr($line, 0, -8), 'TDE04', qr/^ciphertext form of an encrypted value is damaged$/ ],
  'a changed letter' => [ substr($line, 0, 70) . ($line =~ /^.{70}x/ ? 'y' : 'x') . substr($line, 71), 'TDE04', qr/is damaged$/ ]);
foreach my $name (sort keys %broken)
{
  my ($value, $state, $message) = @{ $broken{$name} };
  my $insert = "$mode INSERT INTO shop.bare VALUES (100, '$value')";
  fails_with($target, $insert, { state => $state, message => $message }, $name, db => 'inserts');
}
fails_with(
  $target,
  "$mode SELECT '$line'::encrypted_varchar",
  { state => '42804', message => qr/^encrypted value is not of type encrypted_varchar$/ },
  'a value of another type',
  db => 'inserts');

# A value that does not fit the column is encrypted anew.
lines_of($target, 'CREATE TABLE fits (a encrypted_text(aes128,nosalt,sha256)); CREATE TABLE narrow (a encrypted_varchar(3))',
  db => 'inserts');
lines_of($target, "$mode INSERT INTO fits VALUES ('$line')", db => 'inserts');
is(lines_of($target, 'SELECT * FROM fits', db => 'inserts'), 'needle-1', 'a column with another specification');
my $varchar = lines_of($source, "$mode SELECT a_varchar FROM shop.every WHERE id = 1", db => 'shop');
fails_with($target, "$mode INSERT INTO narrow VALUES ('$varchar')", { state => '22001' }, 'a column that is too narrow', db => 'inserts');
write_bytes("$dump/narrow", "$varchar\n");
fails_with($target, "$mode\n\\copy narrow FROM '$dump/narrow'", { state => '22001' }, 'COPY into it', db => 'inserts');

# Binary.
lines_of($source, "$mode COPY shop.every TO '$dump/binary' (FORMAT binary)", db => 'shop');
is(scalar(grep { index(read_bytes("$dump/binary"), $_) >= 0 } tde_dump_secrets()), 0, 'COPY in binary: no plaintext');
lines_of($target, "TRUNCATE shop.every; $mode COPY shop.every FROM '$dump/binary' (FORMAT binary)", db => 'inserts');
is(lines_of($target, $verbatim[0], db => 'inserts'), $as_stored{ $verbatim[0] }, 'and back');

# Whoever forgets the setting is told.
lines_of($target, 'CREATE TABLE forgot (a encrypted_text)', db => 'inserts');
like(
  attempt($target, "INSERT INTO forgot VALUES ('$line')", db => 'inserts')->{err},
  qr/WARNING:.*is encrypted once more, as if it were plaintext\n.*HINT:  Set tde_column.io_format to ciphertext/s,
  'ciphertext as plaintext: a warning');
unlike(attempt($target, "INSERT INTO forgot VALUES ('tde:hello'), ('tde:')", db => 'inserts')->{err},
  qr/WARNING/, 'and none for what only begins so');

# Enums: the payload is an OID.
lines_of(
  $source, q{
CREATE TYPE mood AS ENUM ('needle-sad');
SELECT tde_create_type('mood');
CREATE TABLE moods (a encrypted_mood);
INSERT INTO moods VALUES ('needle-sad');
});
fails_with(
  $source,
  "$mode SELECT * FROM moods",
  {
    state   => '0A000',
    message => qr/^values of type encrypted_mood have no ciphertext form$/,
    hint    => qr/to plaintext for such columns/
  },
  'an enum');

# ---- who may ----

lines_of($source, q{
CREATE ROLE reader LOGIN;
GRANT USAGE ON SCHEMA shop TO reader;
GRANT ALL ON ALL TABLES IN SCHEMA shop TO reader;
CREATE FUNCTION shop.lend() RETURNS text SECURITY DEFINER LANGUAGE plpgsql AS 'BEGIN RETURN concat(a) FROM shop.bare LIMIT 1; END';
}, db => 'shop');
my $denied = {
  state   => '42501',
  message => qr/^permission denied to read and write encrypted values as ciphertext$/,
  hint    => qr/EXECUTE granted on function tde_ciphertext_io\(\)/
};
my %as_reader = (db => 'shop', user => 'reader');
my $got = fails_with($source, "$mode SELECT a FROM shop.bare", $denied, 'an ordinary role reads', %as_reader);
unlike("$got->{out}$got->{err}", qr/needle|tde:/, 'and gets neither plaintext nor ciphertext');
$got = fails_with($source, "$mode COPY shop.bare TO stdout", $denied, 'COPY', %as_reader);
unlike("$got->{out}$got->{err}", qr/needle|tde:/, 'gives neither');
fails_with($source, "$mode INSERT INTO shop.bare VALUES (200, '$line')", $denied, 'it writes', %as_reader);
fails_with($source, "$mode SELECT shop.lend()", $denied, "a SECURITY DEFINER function does not lend its owner's right", %as_reader);
{
  local $ENV{PGOPTIONS} = $ciphertext;
  $source->command_fails_like([ 'pg_dump', '-U', 'reader', '-t', 'shop.bare', 'shop' ],
    qr/permission denied to read and write/, 'pg_dump as that role');
}
fails_with($source, $_, { state => '42501' }, $_, %as_reader)
  foreach "SELECT tde_export_keys('x-passphrase')", "SELECT tde_import_keys('x', 'y')", 'SELECT tde_ciphertext_io()';
lines_of($source, 'GRANT EXECUTE ON FUNCTION tde_ciphertext_io() TO reader', db => 'shop');
is(attempt($source, "$mode SELECT a FROM shop.bare WHERE id = 1", %as_reader)->{out}, $line, 'granted');
{
  local $ENV{PGOPTIONS} = $ciphertext;
  $source->command_ok([ 'pg_dump', '-U', 'reader', '-t', 'shop.bare', '-f', "$dump/reader", 'shop' ], 'granted: pg_dump');
}
lines_of($source, 'REVOKE EXECUTE ON FUNCTION tde_ciphertext_io() FROM reader', db => 'shop');
fails_with($source, "$mode SELECT a FROM shop.bare", $denied, 'revoked', %as_reader);

# ---- a closed wallet ----

# What only passes through needs no key.
lines_of($_, 'SELECT tde_wallet_close()') foreach $source, $target;
is(lines_of($source, $verbatim[1], db => 'shop'), $as_stored{ $verbatim[1] }, 'closed: values can be dumped');
lines_of($target, "CREATE TABLE closed (a encrypted_text); $mode INSERT INTO closed VALUES ('$line')", db => 'inserts');
fails_with($target, 'SELECT * FROM closed', { state => 'TDE01' }, 'closed: and restored, but not read', db => 'inserts');
fails_with($source, "SELECT tde_export_keys('export-secret')", { state => 'TDE01' }, 'closed: no keys', db => 'shop');
lines_of($target, "SELECT tde_wallet_open('target-passphrase')");
is(lines_of($target, 'SELECT * FROM closed', db => 'inserts'), 'needle-1', 'open: read');

unlike(slurp_file($_->logfile), qr/export-secret|other-secret|tdekeys:/, 'the log of ' . $_->name . ' has no secret')
  foreach $source, $target;

$_->stop foreach $source, $target;
done_testing();
