# Sorts and index builds of encrypted columns keep to work_mem and maintenance_work_mem, hash tables to what plain ones take, and what
# is beyond that is sorted all the same.
#
# What counts is the peak of a new session's own memory: the kernel's peak of all that was resident, without shared memory and files,
# which only grow.  SORT_ROWS and SORT_MB ('8 32 64') choose other sizes.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

plan skip_all => 'the peak of a process is told on Linux only' if !-r "/proc/$$/status" || slurp_file("/proc/$$/status") !~ /^VmHWM:/m;

# Nothing but the sort: no compiler in the session, and no part of it in another one.
my $node = tde_node('sort_memory', extension => 1, conf => <<'END');
shared_buffers = 16MB
jit = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
END
$node->start;

my $rows = $ENV{SORT_ROWS} // 200_000;
lines_of(
  $node, qq{
SELECT tde_wallet_create('a passphrase');
CREATE TABLE s (
  plain text COLLATE "C",
  nomac encrypted_text(nosalt,nomac) COLLATE "C",
  gcm encrypted_text(salt,gcm) COLLATE "C",
  alike text COLLATE "C",
  alike_enc encrypted_text(nosalt,nomac) COLLATE "C");
INSERT INTO s SELECT t, t, t, a, a FROM (
  SELECT md5(i::text) || md5((i + 1)::text) AS t, 'customer number ' || (i * 7919 % $rows) || repeat(' ', 40) || i AS a
  FROM generate_series(1, $rows) i) v;
VACUUM ANALYZE s});

# In kB.
sub peak_of
{
  my (@statements) = @_;
  my $session = session($node);
  my $pid     = session_try($session, 'SELECT pg_backend_pid()')->{out};

  foreach my $sql (@statements)
  {
    my $result = session_try($session, $sql);
    die "$sql: $result->{err}" if $result->{state};
  }
  my %kb = slurp_file("/proc/$pid/status") =~ /^(\w+):\s+(\d+) kB$/mg;
  $session->quit;
  return $kb{VmHWM} - $kb{RssShmem} - $kb{RssFile};
}

my $idle = peak_of();

# The statement with an encrypted column takes at most 1.3 times the memory of the one with the plain column; or of a session that fills
# what the setting allows: a sort doubles its array of tuples or leaves it, so that plain ones may end well below.
sub takes_as_much
{
  my ($setting, $mb, $sql, $plain, $encrypted) = @_;
  my $set = "SET $setting = '${mb}MB'";
  my $allowed = $sql =~ /GROUP BY|JOIN/ ? 2 * $mb : $mb;    # hash_mem_multiplier
  my @kb  = map { peak_of($set, sprintf $sql, $_) } $plain, $encrypted;

  local $Test::Builder::Level = $Test::Builder::Level + 1;
  my $limit = 1.3 * ($kb[0] > $idle + $allowed * 1024 ? $kb[0] : $idle + $allowed * 1024);
  cmp_ok($kb[1], '<=', $limit, "$setting = ${mb}MB, $encrypted: " . sprintf $sql, $encrypted);
  note(sprintf '%s MB: plain %d kB, %s %d kB: %.2f', $mb, $kb[0], $encrypted, $kb[1], $kb[1] / $kb[0]);
  return;
}

# Of rows: PostgreSQL 18 does not count what a sort of one column alone has in memory (tuplesort_putdatum()).
my $sort = 'SELECT count(*) FROM (SELECT %1$s, ctid FROM s ORDER BY %1$s OFFSET 0) v';
foreach my $mb (split / /, $ENV{SORT_MB} // '4 16')
{
  takes_as_much('work_mem', $mb, $sort, 'plain', $_) foreach 'nomac', 'gcm';
  takes_as_much('work_mem', $mb, $sort, 'alike', 'alike_enc');
  takes_as_much('work_mem', $mb, 'SELECT count(DISTINCT %s) FROM s', 'plain', 'nomac');
  takes_as_much('work_mem', $mb, 'SELECT count(*) FROM (SELECT %1$s FROM s GROUP BY %1$s OFFSET 0) v', 'plain', 'nomac');
  takes_as_much('work_mem', $mb, 'SELECT count(*) FROM s x JOIN s y ON x.%1$s = y.%1$s', 'plain', 'nomac');
  takes_as_much('maintenance_work_mem', $mb, 'BEGIN; CREATE INDEX ON s (%s); ROLLBACK', 'plain', 'nomac');
}

# What there was no memory for is in its place: at the least memory, written to disk and not, with and without a prefix in common.

foreach my $mb ('64kB', '1MB', '40MB')
{
  foreach my $pair ([ 'plain', 'nomac' ], [ 'plain', 'gcm' ], [ 'alike', 'alike_enc' ])
  {
    my ($plain, $encrypted) = @$pair;
    is(
      lines_of(
        $node, qq{
SET work_mem = '$mb';
SELECT count(*) FROM (SELECT $plain AS a, lag($plain) OVER (ORDER BY $encrypted) AS b FROM s) v WHERE b > a;
SELECT count(*) = $rows AND count(DISTINCT $encrypted) = $rows FROM s;
SELECT array_agg(a) = (SELECT array_agg(a) FROM (SELECT $plain AS a FROM s ORDER BY $plain LIMIT 3000) v)
FROM (SELECT $plain AS a FROM s ORDER BY $encrypted LIMIT 3000) v}),
      "0\nt\nt", "sorted with $mb: $encrypted");
  }
}

# Plaintexts may take more than the memory of a sort that holds hardly anything: pointers to values out of line.  Equal ones count once.
lines_of(
  $node, q{
CREATE TABLE large (a encrypted_text(nosalt,nomac) COLLATE "C");
ALTER TABLE large ALTER a SET STORAGE EXTERNAL;
INSERT INTO large SELECT repeat(md5((i % 300)::text), 1000) FROM generate_series(1, 600) i});
is(lines_of($node, "SET work_mem = '1MB'; SELECT count(DISTINCT a) FROM large"),
  300, 'equal values out of line are counted once, however little memory there is');
$node->stop;
done_testing();
