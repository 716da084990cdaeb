# tde_column.require: what a standard excludes is neither declared nor written, and still read; the server says what is in the way, and tde_audit() which columns.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('require', extension => 1, conf => "tde_column.passphrase_command = 'echo require-passphrase'\n");
$node->start;
lines_of($node, "SELECT tde_wallet_create()");

# All specifications, and what excludes them: FIPS, PCI DSS, CNSA 2.0.  FIPS is asked of a server that has no FIPS provider, where everything is excluded.
my %des = (pci => 'triple DES', cnsa2 => 'triple DES');
my %expected;
foreach my $cipher (qw(aes128 aes192 aes256 '3des168'))
{
  foreach my $salt (qw(salt nosalt))
  {
    foreach my $mac (qw(gcm sha256 mac nomac))
    {
      next if $cipher =~ /3des/ && $mac eq 'gcm';
      my %by;
      $by{cnsa2} = 'HMAC with SHA-1 or SHA-256'             if $mac =~ /^(sha256|mac)$/;
      $by{cnsa2} = 'a key of less than 256 bits'            if $cipher ne 'aes256';
      $by{$_}    = 'encryption without a MAC'               foreach $mac eq 'nomac' ? qw(pci cnsa2) : ();
      $by{cnsa2} = 'CBC under a constant IV (nosalt, nomac)' if "$salt,$mac" eq 'nosalt,nomac';
      $by{cnsa2} = 'AES-GCM-SIV (gcm without salt)'         if "$salt,$mac" eq 'nosalt,gcm';
      %by        = %des                                     if $cipher =~ /3des/;
      $by{fips}  = 'encryption outside of a validated module';
      $expected{"$cipher,$salt,$mac"} = \%by;
    }
  }
}
# tables from before
my %table = map { my $name = $_; $name =~ s/\W/_/g; ($_ => "old_$name") } sort keys %expected;
lines_of($node, join ' ', 'SET client_min_messages = error;', map { "CREATE TABLE $table{$_} (id int, a encrypted_text($_)); INSERT INTO $table{$_} VALUES (1, 'old');" } sort keys %table);

# The first error of a statement, whose work is undone.
lines_of(
  $node, q{
CREATE FUNCTION refused(sql text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE sql;
  RAISE EXCEPTION USING ERRCODE = 'P0999';
EXCEPTION WHEN OTHERS THEN
  RETURN CASE SQLSTATE WHEN 'P0999' THEN '' ELSE SQLSTATE || ' ' || SQLERRM END;
END
$$});

sub refused
{
  my ($standard, @sql) = @_;
  my @lines = split /\n/, lines_of($node, "SET client_min_messages = error; SET tde_column.require = $standard;" . join ' ', map { "SELECT 'x' || refused(\$sql\$$_\$sql\$);" } @sql);
  return map { s/^x//r } @lines;
}

foreach my $standard (qw(fips pci cnsa2))
{
  foreach my $spec (sort keys %expected)
  {
    my $what = $expected{$spec}{$standard};
    my $error = defined $what ? "0A000 tde_column.require = $standard excludes $what" : '';
    my $table = $table{$spec};
    my @writes = ("INSERT INTO $table VALUES (2, 'new')", "UPDATE $table SET a = 'new'", "CREATE TABLE made (a encrypted_text($spec))", "CREATE TABLE made (a encrypted_text($spec)[])",
      "CREATE TABLE made AS SELECT a FROM $table", "CREATE TABLE made (LIKE $table)", "ALTER TABLE $table ADD b encrypted_text($spec)", "CREATE DOMAIN made AS encrypted_text($spec)");
    is_deeply([ refused($standard, @writes) ], [ map { $error } @writes ], "$standard, $spec: " . ($error || 'written')) or diag(join "\n", @writes);
    is(lines_of($node, "SET tde_column.require = $standard; SELECT a FROM $table WHERE a = 'old' AND a LIKE 'o%' GROUP BY a; UPDATE $table SET id = 1; ANALYZE $table; VACUUM FULL $table"),
      'old', '... read, searched and maintained');
  }
  my @broken = grep { defined $expected{$_}{$standard} && ($standard ne 'fips' || /3des|nosalt,gcm|nosalt,nomac/) } sort keys %expected;
  is(lines_of($node, "SET tde_column.require = $standard; SELECT object FROM tde_audit() WHERE topic = 'policy' AND object ~ 'old_' ORDER BY object COLLATE \"C\""),
    join("\n", sort map { "public.$table{$_}" } @broken), "$standard: the audit has those that break it");
}

# Where nothing is required, nothing is refused.
is_deeply([ refused("''", map { "INSERT INTO $_ VALUES (2, 'new')" } sort values %table) ], [ map { '' } keys %table ], 'nothing is required');

# The commands of the audit mend what there is.
my $policy = q{SELECT count(*) FROM tde_audit() WHERE topic = 'policy' AND severity = 'error'};
lines_of($node, q{CREATE TABLE indexed (a encrypted_text); INSERT INTO indexed VALUES ('X'); CREATE INDEX low ON indexed (lower(a))});
is((refused('cnsa2', q{INSERT INTO indexed VALUES ('y')}))[0], '0A000 tde_column.require = cnsa2 excludes AES-GCM-SIV (gcm without salt)', 'an index over an expression is unsalted');
is(lines_of($node, q{SET tde_column.require = cnsa2; SET enable_seqscan = off; SELECT a FROM indexed WHERE lower(a) = 'x'}), 'X', 'it serves for queries');
is((refused('cnsa2', 'CREATE INDEX ON indexed (upper(a))'))[0], '0A000 tde_column.require = cnsa2 excludes AES-GCM-SIV (gcm without salt)', 'another one is refused');
lines_of($node, q{ALTER DATABASE postgres SET tde_column.require = 'pci, cnsa2'});
cmp_ok(lines_of($node, $policy), '>', 20, 'a policy is set on a database that breaks it');
foreach my $command (split /\n/, lines_of($node, q{SELECT command FROM tde_audit() WHERE topic = 'policy' AND command IS NOT NULL ORDER BY command ~ 'ALTER TABLE'}))
{
  is(attempt($node, "SET client_min_messages = error; $command")->{state}, '', $command);
}
is(lines_of($node, $policy), '0', 'after the commands of the audit nothing breaks it');
is(lines_of($node, "INSERT INTO $_ VALUES (3, 'new'); SELECT string_agg(DISTINCT a::text, ' ') FROM $_"), 'new old', "$_ is written") foreach sort values %table;

# Pieces of other things: the default, ages, and what is no value of a column.
is(attempt($node, q{SET tde_column.default_spec = 'aes128'; CREATE TABLE made (a encrypted_text)})->{message}, 'tde_column.require = cnsa2 excludes a key of less than 256 bits', 'a default that is excluded');
is(attempt($node, q{CREATE TABLE made (a encrypted_text DEFAULT 'x', CHECK (a <> 'y')); CREATE VIEW v AS SELECT a FROM made WHERE a = 'z'; SELECT string_agg(a, ',' ORDER BY a) FROM made; DROP TABLE made CASCADE})->{state},
  '', 'literals are no values of columns');
is(lines_of($node, q{SELECT severity FROM tde_audit() WHERE topic = 'policy' AND finding ~ 'cryptoperiod'}), 'warning', 'pci: no cryptoperiod is set');
set_conf($node, 'tde_column.rotate_after', '1d');
is(lines_of($node, q{SELECT count(*) FROM tde_audit() WHERE topic = 'policy' AND finding ~ 'cryptoperiod'}), '0', '... it is');
is(lines_of($node, q{SELECT tde_internal.tde_key_age(now() - interval '2 days'), tde_internal.tde_key_age(now())}), 'error|', 'an older key is an error');
is(lines_of($node, q{SET tde_column.require = fips; SELECT tde_internal.tde_key_age(now() - interval '2 days')}), 'warning', '... and without pci a warning');

# Who may set it, and to what.
lines_of($node, 'CREATE ROLE app LOGIN');
fails_with($node, q{SET tde_column.require = ''}, { state => '42501' }, 'a role cannot set it', user => 'app');
fails_with($node, q{SET tde_column.require = 'nist'}, { state => '22023', hint => qr/Standards are: fips, pci and cnsa2/ }, 'a word that is not known');
is(lines_of($node, q{SET tde_column.require = FIPS, Pci; SHOW tde_column.require}), 'fips, pci', 'a list, in any case');

# At start: what is in the way is in the log, and a word that is not known requires everything.
lines_of($node, 'ALTER DATABASE postgres RESET tde_column.require');
my $from = log_offset($node);
set_conf($node, 'tde_column.require', 'fips, cnsa2');
$node->restart;
my $log = log_since($node, $from);
like($log, qr/LOG:  tde_column\.require = fips: OpenSSL is not restricted to its FIPS provider: nothing can be encrypted\n.*HINT:  Start the server/, 'the log says what is in the way of fips');
like($log, qr/LOG:  tde_column\.require = cnsa2: keys are derived/, '... and of cnsa2');
like(attempt($node, 'SELECT tde_wallet_open()')->{err}, qr/WARNING:.*tde_column\.require = fips: OpenSSL/, 'and whoever opens the wallet is told');
$from = log_offset($node);
$node->append_conf('postgresql.conf', "tde_column.require = 'pcidss'\n");
unlink $node->data_dir . '/postgresql.auto.conf';
$node->restart;
like(log_since($node, $from), qr/WARNING:  invalid value for parameter "tde_column\.require": "pcidss"\n.*DETAIL:  All standards are required\./, 'a word that is not known, at start');
is(attempt($node, q{INSERT INTO indexed VALUES ('y')})->{message}, 'tde_column.require = fips excludes encryption outside of a validated module', '... requires everything');
is(lines_of($node, 'SELECT a FROM indexed'), 'X', '... and reads');

# Without shared_preload_libraries, a client's value does not do away with the database's.
$node->append_conf('postgresql.conf', "tde_column.require = ''\nshared_preload_libraries = ''\n");
$node->restart;
lines_of($node, q{LOAD 'tde_column'; ALTER DATABASE postgres SET tde_column.require = 'pci'; GRANT ALL ON ALL TABLES IN SCHEMA public TO app});
{
  local $ENV{PGOPTIONS} = q{-c tde_column.require=};
  like(attempt($node, q{SELECT tde_version() IS NULL; CREATE TEMP TABLE made (a encrypted_text(nomac))}, user => 'app')->{err},
    qr/excludes encryption|permission denied/, 'not by the options of a connection');
  is(attempt($node, q{SELECT 'x'::encrypted_text; SHOW tde_column.require}, user => 'app')->{out} =~ s/.*\n//sr, 'fips, pci, cnsa2', 'then everything is required');
}

$node->stop;
done_testing();
