# A primary and its standby get this version in place of 0.1.0 one after the other, so that one of them always serves.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $install = old_install('0.1.0');
my $primary = tde_node('primary', install => $install, init => [ allows_streaming => 1 ], conf => "tde_column.passphrase_command = 'echo rolling-passphrase'\n");
$primary->start;
lines_of($primary, q{SET client_min_messages = error; CREATE EXTENSION tde_column; SELECT tde_wallet_create('rolling-passphrase')});
lines_of($primary, q{
CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text(nosalt), holder encrypted_varchar(20), amount encrypted_numeric(15,2));
CREATE INDEX ON card (pan);
CREATE VIEW rich AS SELECT id, pan FROM card WHERE amount > 50;
INSERT INTO card SELECT i, 'pan' || i, 'holder' || i, i FROM generate_series(1, 100) i});

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby', install_path => $install);
$standby->init_from_backup($primary, 'base', has_streaming => 1);
own_wallet($standby);
send_wallet($primary, $standby);
$standby->start;

my @queries = (
  q{SELECT holder, amount FROM card WHERE pan = 'pan7'},
  q{SELECT count(*), sum(amount) FROM card WHERE pan LIKE 'pan1%'},
  q{SELECT max(holder) FROM card},
  q{SELECT pan FROM rich ORDER BY id DESC LIMIT 2},
  q{PREPARE p(text) AS SELECT id FROM card WHERE pan = $1; EXECUTE p('pan9')});
my $all = join '; ', @queries;
my $round = 0;

# What the primary writes is read by both alike.
sub both_serve
{
  my ($name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  $round++;
  is(attempt($primary, "INSERT INTO card VALUES (1000 + $round, 'pan-$round', 'holder$round', $round); UPDATE card SET amount = amount + 1 WHERE pan = 'pan7';
    SELECT tde_rotate_key()")->{state}, '', "$name: the primary writes");
  $primary->wait_for_catchup($standby, 'replay');
  my $expected = lines_of($primary, $all);
  is(lines_of($standby, $all), $expected, "$name: the standby reads it");
  return like($expected, qr/^holder7\|\d+\.00$/m, "$name: as it was written");
}

both_serve('both have 0.1.0');

# The package is there for both; a running server goes on with what it has loaded.
upgrade_install($install);
both_serve('the new package is installed');

$standby->restart;
both_serve('the standby has the new library');
is(lines_of($standby, q{SELECT extversion FROM pg_extension WHERE extname = 'tde_column'}), '0.1.0', 'with the extension of before');

# The standby takes over.
$primary->stop;
$standby->promote;
lines_of($standby, q{SELECT tde_wallet_take_over()});
is(attempt($standby, q{INSERT INTO card VALUES (2000, 'promoted', 'h', 1); SELECT tde_rotate_key()})->{state}, '', 'promoted, it writes and makes keys, before the extension is updated');
is(lines_of($standby, q{SELECT pan FROM card WHERE pan = 'promoted'}), 'promoted', 'and reads');

# The former primary becomes a standby of it.
$primary->enable_streaming($standby);
$primary->append_conf('postgresql.conf', "tde_column.wallet_file = '" . wallet_path($primary) . "'\n");
$primary->set_standby_mode;
$primary->start;
($primary, $standby) = ($standby, $primary);
is(lines_of($primary, 'SELECT pg_is_in_recovery()') . lines_of($standby, 'SELECT pg_is_in_recovery()'), 'ft', 'they have changed places');
both_serve('both have the new library');

my $session = session($standby);
is(session_try($session, q{SELECT holder FROM card WHERE pan = 'pan8'})->{out}, 'holder8', 'a session of the standby');
is(attempt($primary, 'ALTER EXTENSION tde_column UPDATE')->{state}, '', 'the extension is updated');
both_serve('updated');
is(session_try($session, q{SELECT holder FROM card WHERE pan = 'pan8'})->{out}, 'holder8', 'the session goes on');
is(lines_of($standby, q{SELECT extversion FROM pg_extension WHERE extname = 'tde_column'}), lines_of($primary, q{SELECT tde_version()}), 'the update is there, too');
is(attempt($primary, q{CREATE TABLE later (a encrypted_text(gcm)); INSERT INTO later VALUES ('x')})->{state}, '', 'what is new in it');
$primary->wait_for_catchup($standby, 'replay');
is(lines_of($standby, 'SELECT a FROM later'), 'x', 'can be read there');
like(lines_of($standby, 'SELECT tde_key_fingerprint()'), qr/^@{[lines_of($primary, 'SELECT tde_key_fingerprint()')]}$/, 'and the keys are the same');

eval { $session->quit };
$_->stop foreach $standby, $primary;
done_testing();
