# A server whose OpenSSL is restricted to its real FIPS provider: everything works but what FIPS forbids, which is a clear error.
#
# test/lib/fips.sh gets the provider and writes the configurations.  What a server wrote under FIPS is read without it, and the
# reverse.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use MIME::Base64 qw(decode_base64);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

plan skip_all => 'SKIPPED: there is no FIPS provider; test/check says why' if !$ENV{FIPS_CONF};

# Every specification of AES, as modifiers.
my @specs;
foreach my $cipher ('aes128', 'aes192', 'aes256')
{
  foreach my $mode ('ctr', 'cbc')
  {
    foreach my $salt ('salt', 'nosalt')
    {
      push @specs, map { "'$cipher', $mode, $salt, $_" } grep { "$mode $salt $_" ne 'ctr nosalt nomac' } 'mac', 'sha256', 'nomac';
    }
  }
  push @specs, "'$cipher', ctr, salt, gcm";
}

# Start it under one of the configurations; without a name, under the system's own.
sub start
{
  my ($node, $name) = @_;
  local $ENV{OPENSSL_CONF} = "$ENV{FIPS_CONF}/$name.cnf" if $name;
  $node->stop if defined $node->{_pid};
  $node->start;
  return;
}

sub works
{
  my ($node, $sql, $name) = @_;
  my $got = attempt($node, $sql);
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($got->{state}, '', $name) or diag($got->{err});
  return;
}

sub open_wallet
{
  my ($node, $passphrase) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  works($node, "SELECT tde_wallet_open('$passphrase')", 'the wallet is opened');
  return;
}

# A table with a column of each specification, and rows that have no block, part of one, one, and many, for EVP's modes to do.
sub make_table
{
  my ($node, $name) = @_;
  my $columns = join ', ', map { "c$_ encrypted_text($specs[$_])" } 0 .. $#specs;
  my $values  = join ', ', ('v') x @specs;
  works(
    $node, "CREATE TABLE $name (id int, $columns);
INSERT INTO $name SELECT i, $values FROM (SELECT i, repeat('x' || i, i * i) AS v FROM generate_series(0, 40) i) s",
    "$name: a column of each of " . @specs . ' specifications, filled');
  return;
}

# Is every value there as it was made?
sub check_table
{
  my ($node, $name) = @_;
  foreach my $i (0 .. $#specs)
  {
    my $got = attempt($node, "SELECT count(*), sum(length(c${i}::text)) FROM $name WHERE c${i}::text = repeat('x' || id, id * id)");
    is("$got->{out}$got->{err}", '41|' . lines_of($node, q{SELECT sum(length(repeat('x' || i, i * i))) FROM generate_series(0, 40) i}),
      "$name, $specs[$i]: every value");
  }
  return;
}

# What is refused names the cipher and what to do.
sub refuses_3des
{
  my ($node, $sql, $name) = @_;
  return fails_with(
    $node, $sql,
    { state => '0A000',
      message => qr/^cipher 3des168 is not available in this server's OpenSSL$/,
      detail  => qr/^OpenSSL is restricted to what FIPS allows\.$/,
      hint    => qr/^Declare the column with another cipher\.  To re-encrypt existing values, run tde_rekey_table/
    },
    $name);
}

# The default, gcm, gives way where nothing but AES-GCM-SIV would do.
sub check_gcm
{
  my ($node) = @_;
  fails_with(
    $node,
    q{CREATE TABLE siv (a encrypted_text(nosalt, gcm)); INSERT INTO siv VALUES ('x')},
    { state => '0A000', message => qr/^cipher AES-GCM-SIV \(gcm without salt\) is not available in this server's OpenSSL$/ },
    'gcm without salt');
  is(lines_of($node, q{CREATE TABLE defaults (a encrypted_text, b encrypted_text(nosalt)); SET tde_column.default_spec = 'nosalt';
       ALTER TABLE defaults ADD c encrypted_text; INSERT INTO defaults VALUES ('x', 'y', 'z'); CREATE INDEX ON defaults (lower(a)); SELECT * FROM defaults WHERE lower(a) = 'x';
       SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'defaults'::regclass AND attnum > 0 ORDER BY attnum}),
    join("\n", 'x|y|z', map { "encrypted_text(aes256,$_)" } 'salt,gcm', 'nosalt,sha256', 'nosalt,sha256'), 'gcm is the default, and sha256 without salt');
  return;
}

note(slurp_file("$ENV{FIPS_CONF}/../log/fips.log") =~ /(OpenSSL FIPS Provider\n\s+version: \S+)/ ? $1 : 'no version');
# On a build for users, since the numbers in the file are looked at.
my $node = tde_node('fips', install => $ENV{USERS_INSTALL});
start($node, 'openssl');

# It is real: PostgreSQL's own md5() is refused.
like(attempt($node, q{SELECT md5('x')})->{err}, qr/could not compute MD5 hash/, 'there is no MD5');

# The wallet
lines_of($node, 'CREATE EXTENSION tde_column');
works($node, q{SELECT tde_wallet_create('first-passphrase')}, 'a wallet is made');
my ($form) = run_command([ 'openssl', 'asn1parse', '-inform', 'DER', '-in', wallet_path($node) ]);
like($form, qr/:PBMAC1\n.*:PBKDF2\n.*:0927C0\n.*:hmacWithSHA256\n.*:hmacWithSHA256\n/s, 'its MAC is PBMAC1');
make_table($node, 'under');
check_table($node, 'under');
check_gcm($node);
lines_of($node, 'SELECT tde_wallet_close()');
fails_with($node, q{SELECT tde_wallet_open('second-passphrase')}, { state => 'TDE02', message => qr/wrong passphrase or damaged wallet$/ },
  'another passphrase');
open_wallet($node, 'first-passphrase');
check_table($node, 'under');

# Keys
foreach my $sql (
  'SELECT tde_rotate_master_key()',
  'SELECT tde_prepare_master_key(); SELECT tde_rotate_master_key()',
  'SELECT tde_purge_master_key((SELECT id FROM tde.master_keys WHERE state = $$retired$$ LIMIT 1))',
  'SELECT tde_rotate_key()',
  'SELECT tde_wallet_take_over()',
  q{SELECT tde_wallet_change_passphrase('second-passphrase')},
  q{CALL tde_rekey_table('under')},
  q{SELECT tde_create_key('doomed', erasable => true); CREATE TABLE doomed (a encrypted_text('key=doomed'));
    INSERT INTO doomed VALUES ('x'); SELECT tde_destroy_key('doomed', 'destroy doomed')},
  q{CREATE TABLE hashed (a encrypted_int4(nosalt)); CREATE INDEX ON hashed USING hash (a); INSERT INTO hashed SELECT generate_series(1, 100);
    SET enable_seqscan = off; SELECT 1 / count(*) FROM hashed WHERE a = 50})
{
  works($node, $sql, $sql =~ s/\s+/ /gr);
}
start($node, 'openssl');
open_wallet($node, 'second-passphrase');
check_table($node, 'under');

# Data keys as a text, put back where nothing else opens them
my $exported = lines_of($node, q{SELECT tde_export_keys('a long enough secret')});
like($exported, qr/^tdekeys:/, 'data keys are exported');
works($node, "SELECT tde_import_keys('$exported', 'a long enough secret')", 'and imported');
fails_with($node, "SELECT tde_import_keys('$exported', 'another long secret')", { state => 'TDE04' }, 'under another secret');

# Shares
my @shares = split /\n/, lines_of($node, 'SELECT tde_wallet_split(2, 3)');
is(scalar @shares, 3, 'three shares');
lines_of($node, 'SELECT tde_wallet_close()');
works($node, "SELECT tde_wallet_open_share('$_')", 'a share') foreach @shares[ 0, 2 ];
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'OPEN', 'two of them open the wallet');
works($node, q{SELECT tde_wallet_change_passphrase('third-passphrase')}, 'a passphrase instead of them');

# Triple DES
lines_of($node, q{CREATE TABLE old_cipher (id int, a encrypted_text('3des168'))});
refuses_3des($node, q{INSERT INTO old_cipher VALUES (1, 'x')}, 'writing triple DES');

# Without FIPS
start($node);
unlike(attempt($node, q{SELECT md5('x')})->{err}, qr/./, 'without FIPS there is MD5');
open_wallet($node, 'third-passphrase');
check_table($node, 'under');
make_table($node, 'without');
lines_of($node, q{INSERT INTO old_cipher VALUES (1, 'x')});

# And with it again
start($node, 'openssl');
open_wallet($node, 'third-passphrase');
check_table($node, 'without');
refuses_3des($node, 'SELECT a FROM old_cipher', 'reading triple DES');
is(lines_of($node, 'SELECT id FROM old_cipher'), '1', 'the other columns are there');

# As strict as the provider can be, and with the provider but no word of FIPS
foreach my $name (grep { -e "$ENV{FIPS_CONF}/$_.cnf" } 'strict', 'only')
{
  note("$name.cnf");
  start($node, $name);
  open_wallet($node, 'third-passphrase');
  works($node, 'SELECT tde_rotate_master_key(), tde_rotate_key()', "$name: keys are rotated");
  check_table($node, 'under');
  make_table($node, "by_$name");
  check_table($node, "by_$name");
  my $got = attempt($node, q{INSERT INTO old_cipher VALUES (2, 'x')});
  ok($got->{state} =~ /^(0A000)?$/, "$name: triple DES is written, or refused by name") or diag($got->{err});
  like($got->{message}, qr/^cipher 3des168 is not available/, "$name: by name") if $got->{state};
}

# As the hint says
start($node);
open_wallet($node, 'third-passphrase');
lines_of($node, q{DELETE FROM old_cipher WHERE id = 2; ALTER TABLE old_cipher ALTER a TYPE encrypted_text});
start($node, 'openssl');
open_wallet($node, 'third-passphrase');
is(lines_of($node, 'SELECT a FROM old_cipher'), 'x', 'what was re-encrypted without FIPS is read with it');
$node->stop;

# A wallet of an earlier version
my $old = tde_node('earlier', install => $ENV{USERS_INSTALL});
write_bytes(wallet_path($old), decode_base64(join '', <DATA>));
start($old, 'openssl');
lines_of($old, 'CREATE EXTENSION tde_column');
my $path = wallet_path($old);
fails_with(
  $old, q{SELECT tde_wallet_open('secret')},
  { state   => 'TDE02',
    message => qr/^could not open wallet file "\Q$path\E": it has a MAC that this server's OpenSSL cannot verify$/,
    detail  => qr/^An earlier version wrote it\.  Its MAC needs PKCS12KDF, which OpenSSL's FIPS provider does not have\.$/,
    hint    => qr/^Open it once where OpenSSL is not restricted to FIPS, and change it there, by tde_wallet_take_over\(\) or /
  },
  'a wallet of an earlier version, under FIPS');
start($old);
open_wallet($old, 'secret');
lines_of($old, q{SELECT tde_wallet_take_over(); CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('kept')});
start($old, 'openssl');
open_wallet($old, 'secret');
is(lines_of($old, 'SELECT a FROM t'), 'kept', 'after any change without FIPS it is opened under it');
$old->stop;

done_testing();

# test/unit/wallets.h has it, too; the passphrase is "secret".
__DATA__
MIIB6AIBAzCCAZUGCSqGSIb3DQEHAaCCAYYEggGCMIIBfjCCAXoGCSqGSIb3DQEHBqCCAWswggFnAgEAMIIBYAYJKoZIhvcNAQcBMGAGCSqGSIb3DQEFDTBT
MDIGCSqGSIb3DQEFDDAlBBB3JMZUQ6SY2IFfEoFp6AdpAgMJJ8AwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJGoRyaHvmWShL6ZHkYd4MSAgfDQQK3i
jJYJmT4CrYMxtuG8kVBCG6HsvwzYk1eiGjrt+PpTsRjuUSO1LV/z+ULlcBAL//qJDEQEo7XZHkH7ML/BVTFlXbuxOMJgkIP6QNB77T8pQ6071hoodiFCElMx
QIP84yn6V5I5xyee+SYls6DV7rpnuKhQ7Yvp1ppY3UxoGo/9W+kpFlYAQ/8jmyj/xQKihehV5huI7s6MpNarbzXJ0Efe9RwO2Hb7WANou1geM9hzJzNEP5xS
UqhT4RLXyf7Q9C83SBo8SeczmibtJPjKQ71QXj3XQbLMto9jYkYBFMNOHh9Np0J/hBsV6jSo0RwwSjAxMA0GCWCGSAFlAwQCAQUABCDJG0pI1THxydLpyNT8
M0lhCq459BE4PYuiprseA0Y+UgQQZ6lVkxXOt4cqlNQ9DuiA7QIDHoSA
