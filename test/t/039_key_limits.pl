# How many values each version of a key has encrypted: counted durably, never too few, whoever encrypts and whatever ends it; a version that
# has reached its limit is replaced, and no statement fails by that.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('limits', extension => 1, conf => "tde_column.passphrase_command = 'echo limits-passphrase'\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('limits-passphrase');
-- the number of the key of a stored value: a byte below 128
CREATE FUNCTION stored(anyelement) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE g (id int, a encrypted_text(aes256,salt,gcm,'key=g'));
CREATE TABLE m (id int, a encrypted_text(aes256,salt,sha256,'key=m'));
CREATE TABLE d (id int, a encrypted_text('3des168','key=d'))});

sub total
{
  my ($key, $db) = @_;
  return lines_of($node, "SELECT sum(total_encryptions) FROM tde.keys WHERE name = '$key'", $db ? (db => $db) : ());
}

sub last_version { return lines_of($node, "SELECT max(version) FROM tde.keys WHERE name = '$_[0]'") }

# Values of the table, by key (seven bits in a byte, the lowest first), beyond what is counted: none.  Deleted and rolled back ones are not
# among them, but count as well.
sub all_counted
{
  my ($table, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  return is(
    lines_of(
      $node, "SELECT k.id, n, total_encryptions
       FROM (SELECT b1 & 127 | CASE WHEN b1 < 128 THEN 0 ELSE (b2 & 127) << 7 END | CASE WHEN b1 < 128 OR b2 < 128 THEN 0 ELSE b3 << 14 END AS id,
                    count(*) AS n
             FROM (SELECT get_byte(stored(a), 1) AS b1, get_byte(stored(a), 2) AS b2, get_byte(stored(a), 3) AS b3 FROM $table) b GROUP BY 1) t
              JOIN tde.keys k USING (id) WHERE n > total_encryptions"),
    '', $name);
}

# ---- counting ----

is(total('g'), '0', 'nothing yet');
lines_of($node, "INSERT INTO g SELECT i, 'v' || i FROM generate_series(1, 1000) i");
my $total = total('g');
cmp_ok($total, '>=', 1000, 'no fewer than there are');
cmp_ok($total, '<=', 2064, 'and no more than twice as many and a block');
lines_of($node, "BEGIN; INSERT INTO g SELECT i, 'v' || i FROM generate_series(1, 1000) i; ROLLBACK");
cmp_ok(total('g'), '>=', $total + 1000, 'those of a transaction that is rolled back count');
$total = total('g');
lines_of($node, q{BEGIN READ ONLY; SELECT count(('v' || i)::encrypted_text(aes256,salt,gcm,'key=g')) FROM generate_series(1, 500) i; COMMIT});
cmp_ok(total('g'), '>=', $total + 500, 'those of a transaction that only reads');
$total = total('g');
lines_of(
  $node, q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET debug_parallel_query = on;
           SELECT count((id::text)::encrypted_text(aes256,salt,gcm,'key=g')) FROM g} =~ s/debug_parallel_query/$node->pg_version < 16 ? 'force_parallel_mode' : 'debug_parallel_query'/er);
cmp_ok(total('g'), '>=', $total + 1000, 'those of parallel workers');
$total = total('g');
lines_of($node, "INSERT INTO g VALUES (1, 'one more')") for 1 .. 5;
cmp_ok(total('g'), '<=', $total + 5 * 32, 'a session that encrypts one value counts 32');
is(lines_of($node, 'SELECT sum(des_blocks) FROM tde.key_counts'), '0', 'no blocks of triple DES');
lines_of($node, "INSERT INTO d SELECT i, repeat('x', 80) FROM generate_series(1, 100) i");
cmp_ok(lines_of($node, q{SELECT des_blocks FROM tde.key_counts JOIN tde.keys USING (id) WHERE name = 'd'}), '>=', 1100, 'eleven for each value of 80 bytes');

# ---- restarts ----

$total = total('g');
$node->restart;
is(total('g'), $total, 'a restart');
lines_of($node, "INSERT INTO g SELECT i, 'v' || i FROM generate_series(1, 3000) i");
$total = total('g');
$node->stop('immediate');
$node->start;
is(total('g'), $total, 'a crash');
all_counted('g', 'all that is stored is counted');

# ---- the table ----

foreach my $change ('UPDATE tde.key_counts SET encryptions = 0', 'DELETE FROM tde.key_counts', 'TRUNCATE tde.key_counts', 'INSERT INTO tde.key_counts VALUES (999, 0, 0)')
{
  fails_with($node, $change, { state => '42501', message => qr/^cannot change table "tde\.key_counts" directly$/, detail => qr/as many values as it may/ }, $change);
}
lines_of($node, 'VACUUM FULL tde.key_counts; CLUSTER tde.key_counts USING key_counts_id_key; VACUUM FREEZE tde.key_counts');
is(total('g'), $total, 'rewritten and frozen');
lines_of($node, "INSERT INTO g SELECT i, 'v' || i FROM generate_series(1, 100) i");
cmp_ok(total('g'), '>', $total, 'and goes on');
is(lines_of($node, 'SELECT count(*) FROM tde.data_keys k LEFT JOIN tde.key_counts c USING (id) WHERE c.id IS NULL'), '0', 'every key has a row');

# A transaction that holds the table locked keeps others waiting, but not for ever those who hold a page of an index.
my $locker = session($node);
session_try($locker, 'BEGIN; LOCK TABLE tde.key_counts IN ACCESS SHARE MODE');
is(attempt($node, "INSERT INTO g VALUES (1, 'beside a reader')")->{state}, '', 'readers of the table keep nobody waiting');
session_try($locker, 'COMMIT');

# ---- limits ----

is(last_version('g'), '1', 'no version is replaced far below its limit');
set_conf($node, 'tde_column.encryption_limit', '100');
my $start = log_offset($node);
lines_of($node, "INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 10) i");
is(last_version('g'), '2', 'beyond the limit there is another version');
like(log_since($node, $start), qr/LOG:  version 1 of data key "g" has encrypted as many values as a key may, and is replaced by version 2\n/, 'the log says so');
lines_of($node, "INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 10) i");
is(lines_of($node, "SELECT count(*) > 0 FROM g WHERE get_byte(stored(a), 1) = (SELECT id FROM tde.keys WHERE name = 'g' AND version = 2)"), 't', 'new values are under it');
is(last_version('g'), '2', 'and it is not replaced at once');
is(last_version('m') . last_version('d'), '11', 'nor are others');
lines_of($node, "INSERT INTO m SELECT i, 'w' || i FROM generate_series(1, 200) i; INSERT INTO d SELECT i, repeat('x', 80) FROM generate_series(1, 5) i");
is(last_version('m') . last_version('d'), '22', 'until they reach it');
my $cast = q{SELECT count(('v' || i)::encrypted_text(aes256,salt,gcm,'key=g')) FROM generate_series(1, 500) i};
my %full = (
  state   => '54000',
  message => qr/^version 2 of data key "g" has encrypted as many values as a key may$/,
  detail  => qr/^It may encrypt 200 values\.  The next transaction that stores values makes another version; this one stores none\.$/,
  hint    => qr/^Store a value under the key, or run tde_rotate_key\(\)\.$/);
fails_with($node, $cast, {%full}, 'what stores nothing finds no room when there is none');
fails_with($node, "BEGIN READ ONLY; $cast", {%full}, 'nor does a transaction that only reads');
fails_with($node, "SELECT pg_current_xact_id(); $cast", {%full}, 'nor does one that has a number and nothing else');
is(last_version('g'), '2', 'none of them makes a version');
lines_of($node, "INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 40) i");
is(last_version('g'), '3', 'but by the next that writes');
lines_of($node, q{DO $$ BEGIN FOR round IN 1 .. 3 LOOP INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 150) i; COMMIT; END LOOP; END $$});
cmp_ok(last_version('g'), '>=', 5, 'commits within a block');
lines_of($node, "BEGIN; INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 150) i; ROLLBACK; INSERT INTO g VALUES (1, 'x')");
lines_of($node, q{SELECT tde_rotate_key('g')});
my $before = last_version('g');
session_try($locker, 'BEGIN; LOCK TABLE tde.data_keys IN SHARE MODE');
is(attempt($node, "INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 110) i")->{state}, '', 'a lock on the keys keeps nobody waiting');
is(last_version('g'), $before, 'and the version stays');
session_try($locker, 'COMMIT');
lines_of($node, "INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 40) i");
is(last_version('g'), $before + 1, 'until it can be replaced');
fails_with($node, 'BEGIN; INSERT INTO g SELECT i, i FROM generate_series(1, 300) i; SELECT 1 / 0', { state => '22012' }, 'an error');
is(lines_of($node, 'SELECT count(*) FROM tde.keys WHERE state = $$active$$ AND name = $$g$$'), '1', 'one version is active');
is(lines_of($node, q{SELECT max(total_encryptions) FROM tde.keys WHERE name = 'g' AND version > 1}), '200', 'none has encrypted more than a key may');
all_counted($_, "$_: all that is stored is counted") for 'g', 'm', 'd';
is(lines_of($node, q{SELECT count(*) FROM g WHERE a::text NOT SIMILAR TO '[vw][0-9]+|one more|beside a reader|x'}), '0', 'everything can be read');

# ---- many sessions, and kill -9 ----

set_conf($node, 'tde_column.encryption_limit', '2000');
my $script = $node->basedir . '/insert.sql';
append_to_file($script, "INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 20) i;\n");
$before = last_version('g');
$node->command_ok([ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 100, '-f', $script, 'postgres' ], 'eight sessions');
cmp_ok(last_version('g'), '>=', $before + 6, 'replaced every 2000 values or so');
cmp_ok(last_version('g'), '<=', $before + 16, 'once each');
all_counted('g', 'eight sessions: all that is stored is counted');
foreach my $round (1 .. 5)
{
  my $bench = IPC::Run::start([ 'pgbench', '-n', '-c', 4, '-T', 20, '-f', $script, $node->connstr('postgres') ], '>', \my $out, '2>', \my $err);
  my $rows = lines_of($node, 'SELECT count(*) FROM g');
  $node->poll_query_until('postgres', "SELECT count(*) > $rows + 400 * $round FROM g") or die 'pgbench does not insert';
  $node->stop('immediate');
  $bench->finish;
  $node->start;
  all_counted('g', "kill $round: all that is stored is counted");
}

# ---- without preloading ----

my $alone = tde_node('alone', preload => 0, conf => "tde_column.passphrase_command = 'echo limits-passphrase'\ntde_column.encryption_limit = 100\n");
$alone->start;
lines_of($alone, $_) foreach 'SET client_min_messages = error; CREATE EXTENSION tde_column', q{SELECT tde_wallet_create('limits-passphrase')}, 'SELECT tde_ensure_keys()';
lines_of($alone, q{CREATE TABLE g (id int, a encrypted_text(aes256,salt,gcm)); INSERT INTO g SELECT i, 'w' || i FROM generate_series(1, 150) i});
is(lines_of($alone, q{SELECT string_agg(version || state || (total_encryptions >= 150), ' ' ORDER BY version) FROM tde.keys WHERE name = 'default' AND kind = 'mac'}),
  '1retiredtrue 2activefalse', 'without preloading');

done_testing();
