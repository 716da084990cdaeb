# What backends keep of values in clear in their own memory is gone soon after the wallet is closed or keys are destroyed, in idle
# backends too, and is not in core dumps before.
#
# Marker values are put together by the server, so that no statement holds one.  A session uses them in ways that send none of
# them to its client; then all memory that is its own is searched for them: heap, stack, static and mapped memory.
use strict;
use warnings FATAL => 'all';
no warnings 'portable';    # addresses have more than 32 bits

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

plan skip_all => 'the memory of processes can be looked at on Linux only' if $^O ne 'linux' || !-r '/proc/self/maps';

my $node = tde_node('memory', extension => 1, conf => "max_prepared_transactions = 2\n");
$node->start;

# What is promised, on a machine that is not busy.  Here it is waited for, and told.
my $seconds = 2;

# How often the markers are there: all in all, and where.
sub count_markers
{
  my ($pid, $pattern) = @_;
  my %count = (all => 0);
  my $parts = memory_of($pid) or return;

  foreach my $part (@$parts)
  {
    my ($name, $bytes) = @$part;
    my $found = 0;
    $found++ while $bytes =~ /$pattern/g;
    next unless $found;
    $name =~ s{.*/}{};
    $count{$name} += $found;
    $count{all} += $found;
  }
  return \%count;
}

sub is_gone
{
  my ($pid, $pattern, $name) = @_;
  my ($found, $tries);
  foreach (0 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
  {
    $tries = $_;
    $found = count_markers($pid, $pattern);
    last if $found->{all} == 0;
    select undef, undef, undef, 0.1;
  }
  note("$name: after " . $tries / 10 . ' s') if $tries > 10 * $seconds;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  return is($found->{all}, 0, $name) || diag(join ', ', map { "$_ $found->{$_}" } sort keys %$found) && 0;
}

lines_of(
  $node, q{
SELECT tde_wallet_create('a passphrase');
SELECT tde_create_key('other');
CREATE TABLE card (
  id int PRIMARY KEY,
  ssn encrypted_text,
  nosalt encrypted_text(nosalt),
  nomac encrypted_text(nosalt,nomac),
  doc encrypted_text,
  packed encrypted_text,
  other encrypted_text('key=other'));
INSERT INTO card
SELECT i, t, t, t, t || repeat(' text', 60), repeat(t, 1000), t
FROM (SELECT i, 'ZQ' || 'MARK' || (1000000 + i * 7919) AS t FROM generate_series(1, 3000) i) v;
ANALYZE card;
CREATE TABLE parted (a encrypted_text) PARTITION BY HASH (a);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
});
my $marker = qr/ZQMARK\d{7}/;

# Statements that use the values, but send none to the client.
my @uses = (
  'SELECT count(*) FROM card x JOIN card y ON x.ssn = y.nosalt',
  'SELECT count(*) FROM (SELECT ssn FROM card ORDER BY ssn OFFSET 0) v',
  'SELECT count(*) FROM (SELECT nomac FROM card ORDER BY nomac OFFSET 0) v',
  'SELECT count(*) FROM (SELECT DISTINCT doc FROM card) v',
  'SELECT count(*) FROM card WHERE nosalt = (SELECT nosalt FROM card WHERE id = 7)',
  'SELECT count(*) FROM card WHERE ssn > (SELECT ssn FROM card WHERE id = 7) OR doc < (SELECT doc FROM card WHERE id = 9)',
  'SELECT count(*) FROM card WHERE packed >= (SELECT packed FROM card WHERE id = 7)',
  'SELECT count(*) FROM card WHERE other > (SELECT other FROM card WHERE id = 7)',
  'SELECT max(ssn) IS NULL FROM card',
  'CREATE TEMP TABLE IF NOT EXISTS mine AS SELECT id, ssn FROM card WHERE id < 1000',
  'CREATE INDEX IF NOT EXISTS mine_ssn ON mine (ssn)',
  'INSERT INTO mine SELECT id, doc FROM card WHERE id < 100',
  'INSERT INTO parted SELECT ssn FROM card WHERE id < 100');

sub use_values
{
  my ($session) = @_;
  foreach my $sql (@uses)
  {
    my $result = session_try($session, $sql);
    die "$sql: $result->{err}" if $result->{state};
  }
  return;
}

sub pid_of { return session_try($_[0], 'SELECT pg_backend_pid()')->{out}; }

my $idle = session($node);
my $pid  = pid_of($idle);
if (!defined count_markers($pid, $marker))
{
  plan skip_all => 'the memory of other processes cannot be read here';
}
is(count_markers($pid, $marker)->{all}, 0, 'a session that has not used values holds none');

# An idle session.

use_values($idle);
cmp_ok(count_markers($pid, $marker)->{all}, '>', 10, 'one that has used them remembers some');

# Left out of core dumps.
my @dumped;
my $name;
foreach (split /\n/, slurp_file("/proc/$pid/smaps"))
{
  $name = $_ if /^[0-9a-f]+-/;
  push @dumped, $name if /^VmFlags:.*\bdd\b/ && $name =~ /rw-p/;
}
cmp_ok(scalar(@dumped), '>', 0, 'there is private memory that core dumps leave out');
my $in_dump = 0;
foreach my $part (own_memory($pid))
{
  my ($address, $size) = @$part;
  next if grep { /^0*([0-9a-f]+)-([0-9a-f]+)/ && hex $1 == $address } @dumped;
  open my $memory, '<:raw', "/proc/$pid/mem" or die;
  my $bytes = '';
  sysseek($memory, $address, 0) && sysread($memory, $bytes, $size);
  $in_dump++ while $bytes =~ /$marker/g;
}
cmp_ok($in_dump, '<', 10, 'which holds what the session remembers: little is on other pages, such as the stack');

my $in_block = session($node);
my $block    = pid_of($in_block);
session_try($in_block, 'BEGIN');
use_values($in_block);
cmp_ok(count_markers($block, $marker)->{all}, '>', 10, 'so does one in a transaction');

my $failed = session($node);
my $abort  = pid_of($failed);
session_try($failed, 'BEGIN');
use_values($failed);
session_try($failed, 'SELECT 1/0');

my $busy   = session($node);
my $worker = pid_of($busy);
use_values($busy);
$busy->query_until(qr/started/, "\\echo started\nSELECT pg_sleep(3);\n");

lines_of($node, 'SELECT tde_wallet_close()');
is_gone($pid,    $marker, "closed: gone from an idle session");
is_gone($block,  $marker, 'closed: gone from a session in a transaction');
is_gone($abort,  $marker, 'closed: gone from a session in a transaction that has failed');
$node->poll_query_until('postgres', "SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $worker") or die;
is_gone($worker, $marker, 'closed: gone from a session whose statement has ended since');
is(session_try($idle, 'SELECT count(ssn::text) FROM card')->{state}, 'TDE01', 'and it cannot use values any more');
is_gone($pid, $marker, 'nor does that leave any');

# The session that closes it.
lines_of($node, "SELECT tde_wallet_open('a passphrase')");
session_try($failed,   'ROLLBACK');
session_try($in_block, 'COMMIT');
use_values($idle);
cmp_ok(count_markers($pid, $marker)->{all}, '>', 10, 'opened again, it remembers values again');
session_try($idle, 'SELECT tde_wallet_close()');
is_gone($pid, $marker, 'closed by the session itself');
lines_of($node, "SELECT tde_wallet_open('a passphrase')");

# A key is destroyed, keys are rotated.

foreach my $change (
  'SELECT tde_rotate_key()', 'SELECT tde_rotate_master_key()', "SELECT tde_destroy_key('other', 'destroy other')",
  "SELECT tde_wallet_open('a passphrase')")
{
  use_values($idle);
  cmp_ok(count_markers($pid, $marker)->{all}, '>', 10, "before $change");
  @uses = grep { !/other/ } @uses if $change =~ /destroy/;
  lines_of($node, $change);
  is_gone($pid, $marker, "$change: gone from an idle session");
}

# ---- values that went to the client ----

# Whatever function, aggregate or statement gave them, and whatever memory they went through: what PostgreSQL's own buffer of the last
# 8 kB for the client still holds is overwritten here by other output.
my @values = map { my $of = $_; map { sprintf $of, $_ } qw(ssn nosalt nomac doc packed) }
  'SELECT min(%s) FROM card', 'SELECT max(%s) FROM card', 'SELECT %s FROM card WHERE id < 9', 'SELECT DISTINCT %s FROM card LIMIT 3',
  'SELECT %1$s FROM card ORDER BY %1$s DESC LIMIT 3', 'SELECT %1$s FROM card GROUP BY %1$s LIMIT 3', 'SELECT max(%s) OVER () FROM card LIMIT 2',
  'SELECT first_value(%1$s) OVER (ORDER BY %1$s) FROM card LIMIT 2', 'SELECT %s::text FROM card WHERE id = 7', q{SELECT %s || '-' FROM card WHERE id = 7},
  'SELECT substr(%s, 1, 13) FROM card WHERE id < 5', q{SELECT string_agg(%s, ',') FROM card WHERE id < 9}, 'SELECT array_agg(%s) FROM card WHERE id < 9',
  'SELECT json_agg(%s) FROM card WHERE id < 9', 'SELECT to_jsonb(%s) FROM card WHERE id < 9', q{SELECT format('%%s', %s), concat(%1$s) FROM card WHERE id = 7},
  q{SELECT regexp_replace(%s, '$', '!'), split_part(%1$s, ' ', 1) FROM card WHERE id = 7}, q{SELECT coalesce(NULL, %s), greatest(%1$s, 'A') FROM card WHERE id = 7},
  'SELECT mode() WITHIN GROUP (ORDER BY %1$s), percentile_disc(0.5) WITHIN GROUP (ORDER BY %1$s) FROM card', 'SELECT (SELECT min(%s::text) FROM card)',
  'WITH x AS MATERIALIZED (SELECT %s AS a FROM card) SELECT min(a) FROM x', 'SELECT %1$s FROM card WHERE id = 1 UNION SELECT %1$s FROM card WHERE id = 2',
  'BEGIN; DECLARE c CURSOR FOR SELECT %s FROM card; FETCH 5 FROM c; COMMIT', 'BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT %s FROM card; COMMIT; FETCH 5 FROM c; CLOSE c',
  'PREPARE p AS SELECT %s FROM card WHERE id = $1; EXECUTE p (7); DEALLOCATE p', 'COPY (SELECT %s FROM card WHERE id < 9) TO STDOUT',
  'INSERT INTO mine SELECT id, %s FROM card WHERE id = 9 RETURNING ssn', 'EXPLAIN (VERBOSE) SELECT FROM card WHERE %1$s > (SELECT min(%1$s) FROM card)',
  q{DO $do$ DECLARE v text; BEGIN SELECT %s INTO v FROM card WHERE id = 7; RAISE NOTICE '%%', v; END $do$};
push @values, 'SELECT v FROM (SELECT id, ssn, packed FROM card) v WHERE id = 7', 'SELECT row_to_json(v) FROM (SELECT id, ssn FROM card) v WHERE id < 3', 'TABLE mine LIMIT 5';
my $sent = session($node);
$pid = pid_of($sent);
session_try($sent, "\\o /dev/null\nCREATE TEMP TABLE mine AS SELECT id, ssn FROM card LIMIT 10");
my @chunks;
push @chunks, [ splice @values, 0, 10 ] while @values;
foreach my $statements (@chunks)
{
  foreach my $sql (@$statements)
  {
    my $result = session_try($sent, $sql);
    die "$sql: $result->{err}" if $result->{state};
  }
  session_try($sent, q{SELECT repeat('-', 100000)});
  lines_of($node, 'SELECT tde_wallet_close()');
  is_gone($pid, $marker, "sent to the client: $statements->[0] ...") or last;
  lines_of($node, "SELECT tde_wallet_open('a passphrase')");
}
$sent->quit;

# Large values, and caches that take their memory.

$sent = session($node);
$pid  = pid_of($sent);
session_try($sent, "\\o /dev/null\nSELECT array_agg(packed::text) FROM card");
session_try($sent, "SELECT string_agg(packed, ',') FROM card WHERE id < 1000");
foreach my $i (1 .. 70)
{
  session_try($sent, "CREATE TYPE pg_temp.kind_$i AS ENUM ('a', 'b', 'c')");
  session_try($sent, "CREATE TEMP TABLE of_kind_$i (kind pg_temp.kind_$i, note text DEFAULT 'x')");
  session_try($sent, "SELECT * FROM of_kind_$i WHERE kind = 'a'");
}
session_try($sent, q{SELECT repeat('-', 100000)});
lines_of($node, 'SELECT tde_wallet_close()');
is_gone($pid, $marker, 'from memory that caches have taken');
lines_of($node, "SELECT tde_wallet_open('a passphrase')");
$sent->quit;

# What an error leaves of a passphrase on the stack.  (The argument itself stays in memory of PostgreSQL's.)

my $passphrase = qr/WRONG-PASSPHRASE-7-\w+/;
$pid = pid_of($idle);
foreach my $call ('tde_wallet_open(%s)', "tde_import_keys('tdekeys:', %s)", 'tde_wallet_create(%s)')
{
  my $sql    = sprintf "SELECT $call FROM card WHERE id = 7", "'WRONG-' || 'PASSPHRASE-' || id || '-' || repeat('x', 200)";
  my $result = session_try($idle, $sql);
  isnt($result->{state}, '', "$call fails");
  is(count_markers($pid, $passphrase)->{'[stack]'} // 0, 0, 'and leaves no passphrase on the stack');
}

# Data keys that one session has unwrapped are in shared memory for the others: which, by the row that stands before the key; until the wallet is
# closed or a key changes.  A row of the table has these fields apart.
sub unwrapped
{
  my %unwrapped;
  my $shared = memory_of($pid, 's');
  foreach my $key (split /\n/, lines_of($node, q{SELECT name || ' ' || version || ' ' || ascii(kind) || ' ' || ascii(state) || ' ' || replace(uuid::text, '-', '') FROM tde.data_keys WHERE name IS NOT NULL}))
  {
    my ($key_name, $version, $kind, $state, $uuid) = split / /, $key;
    my $row = pack 'CCH*', $kind, $state, $uuid;
    $unwrapped{"$key_name $version"} = 1 if grep { index($_->[1], $row) >= 0 } @$shared;
  }
  return join ', ', sort keys %unwrapped;
}
sub open_wallet { return lines_of($node, q{SELECT tde_wallet_open('a passphrase')}); }
open_wallet();
lines_of($node, q{SELECT tde_create_key('kept'), tde_create_key('alone', erasable => true); CREATE TABLE keyed (a encrypted_text('key=kept'), b encrypted_text('key=alone'))});
sub write_and_read { return lines_of($node, q{INSERT INTO keyed VALUES ('x', 'x'); SELECT count(*) FROM keyed WHERE a > 'A' AND b > 'A'}); }
write_and_read() foreach 1 .. 2;
is(unwrapped(), 'kept 1', 'an unwrapped key is kept for other sessions, but for one that can be destroyed alone');
lines_of($node, 'SELECT tde_wallet_close()');
is(unwrapped(), '', 'until the wallet is closed');
open_wallet();
write_and_read() foreach 1 .. 2;
is(unwrapped(), 'kept 1', 'and opened again');
lines_of($node, q{SELECT tde_rotate_key('kept')});
is(unwrapped(), '', 'or a key changes');

$_->quit foreach $idle, $in_block, $failed, $busy;
$node->stop;

# Without shared_preload_libraries a session closes the wallet for itself.

my $alone = tde_node('memory_alone', preload => 0);
$alone->start;
lines_of($alone, "CREATE EXTENSION tde_column; SELECT tde_wallet_create('x-passphrase')");
set_conf($alone, 'tde_column.passphrase_command' => 'echo x-passphrase');
lines_of(
  $alone, q{
CREATE TABLE card (ssn encrypted_text);
INSERT INTO card SELECT 'ZQ' || 'MARK' || (1000000 + i) FROM generate_series(1, 1000) i});
$idle = session($alone);
$pid  = pid_of($idle);
@uses = ("SELECT count(*) FROM card x JOIN card y ON x.ssn = y.ssn WHERE x.ssn > 'A'");
use_values($idle);
cmp_ok(count_markers($pid, $marker)->{all}, '>', 10, 'not preloaded: a session remembers values');
session_try($idle, 'SELECT tde_wallet_close()');
is_gone($pid, $marker, 'not preloaded: until it closes the wallet');
use_values($idle) if session_try($idle, 'SELECT tde_wallet_open()')->{state} eq '';
lines_of($alone, 'SELECT tde_rotate_key()');
is_gone($pid, $marker, 'not preloaded: or keys change');
$idle->quit;
$alone->stop;
done_testing();
