# What ANALYZE and BRIN keep of encrypted columns belongs to no row: the thief of pg_statistic finds none of its values in the table.  The planner's numbers are
# those of plain columns.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('statistics', extension => 1, conf => "tde_column.passphrase_command = 'echo statistics-passphrase'\nautovacuum = off\nfsync = off\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('statistics-passphrase');
CREATE DOMAIN secret AS encrypted_text;
CREATE TABLE t (id int, born encrypted_date, town encrypted_text(nosalt), pay encrypted_numeric(9,2,nomac,nosalt,cbc), old encrypted_int4('3des168'), d secret, big encrypted_text,
  p_born date, p_town text, p_pay numeric(9,2), p_old int, p_d text, p_big text);
INSERT INTO t SELECT g, b, w, p, o, d, x, b, w, p, o, d, x
FROM generate_series(1, 5000) g, LATERAL (SELECT date '1950-01-01' + g * 7 % 20000, 'town ' || least(g * g % 97, 20), (g % 1000) * 10.5, g % 50, 'd' || g,
  CASE WHEN g % 10 = 0 THEN repeat('large ' || g, 500) ELSE 's' || g % 3 END) v (b, w, p, o, d, x);
CREATE STATISTICS t_both (mcv, ndistinct, dependencies) ON town, old FROM t;
CREATE STATISTICS t_plain (mcv, ndistinct, dependencies) ON p_town, p_old FROM t;
CREATE STATISTICS t_expr ON coalesce(town, town), (born IS NULL), old FROM t; CREATE INDEX t_lower ON t (lower(town)); CREATE INDEX t_plain_lower ON t (lower(p_town))});
my @columns = qw(born town pay old d big);

# The stored bytes of a column, as the table has them.
sub stored
{
  my ($column) = @_;
  my $type = lines_of($node, "SELECT attlen FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = '$column'");
  return map { pack 'H*', $_ } grep { /^[0-9a-f]+$/ && length $_ < 200 } split /\n/, lines_of($node, qq{BEGIN;
UPDATE pg_attribute SET atttypid = 'bytea'::regtype, atttypmod = -1 WHERE attrelid = 't'::regclass AND attname = '$column';
SELECT encode($column, 'hex') FROM t; ROLLBACK});
}

# How many values of the table the files of the statistics hold.
sub copies
{
  lines_of($node, 'VACUUM FULL pg_statistic; VACUUM FULL pg_statistic_ext_data; CHECKPOINT');
  my @relations = split /\n/, lines_of(
    $node, q{SELECT pg_relation_filepath(oid) FROM pg_class WHERE oid IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass)
    OR oid IN (SELECT reltoastrelid FROM pg_class WHERE oid IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass))});
  my $files = join '', map { read_bytes($node->data_dir . "/$_") } @relations;
  my %copies;
  foreach my $column (@columns)
  {
    my %values = map { $_ => 1 } stored($column);
    die "no values of $column" if !%values;
    $copies{$column} = grep { index($files, $_) >= 0 } keys %values;
  }
  return join ' ', map { "$_:$copies{$_}" } @columns;
}

is(copies(), join(' ', map { "$_:0" } @columns), 'before ANALYZE there is nothing');
lines_of($node, 'ANALYZE t');
is(copies(), join(' ', map { "$_:0" } @columns), 'what ANALYZE keeps is in no row');
is(lines_of($node, q{SELECT count(*) FROM pg_statistic WHERE starelid = 't'::regclass AND stakind1 + stakind2 + stakind3 > 0}), '13', 'there are statistics of all columns');
is(lines_of($node, q{SELECT count(*) FROM pg_statistic WHERE starelid IN ('t_lower'::regclass, 't_plain_lower'::regclass)}), '2', '... and of expressions');

# The least and the largest values that a BRIN index keeps.
lines_of(
  $node, q{CREATE INDEX t_brin ON t USING brin (born, town, pay, old) WITH (pages_per_range = 1);
INSERT INTO t (id, born, town, pay, old, p_born, p_town, p_pay, p_old) SELECT g, b, w, p, o, b, w, p, o FROM generate_series(5001, 5500) g, LATERAL (SELECT date '1950-01-01' + g, 'town ' || g, g % 7000, g) v (b, w, p, o);
SELECT brin_summarize_new_values('t_brin'); CHECKPOINT});
my $brin = read_bytes($node->data_dir . '/' . lines_of($node, q{SELECT pg_relation_filepath('t_brin')}));
foreach my $column (qw(born town pay old))
{
  is(scalar(grep { index($brin, $_) >= 0 } stored($column)), 0, "BRIN keeps no value of $column as it is in a row");
}
foreach my $condition (q{born < '1950-03-01'}, q{town > 'town 54'}, 'pay < 20', 'old > 5490', 'old = 7')
{
  my $by_brin = lines_of($node, "SET enable_seqscan = off; SET enable_indexscan = off; EXPLAIN (COSTS off) SELECT id FROM t WHERE $condition");
  like($by_brin, qr/Bitmap Index Scan on t_brin/, "by BRIN: $condition");
  is(lines_of($node, "SET enable_seqscan = off; SELECT string_agg(id::text, ',' ORDER BY id) FROM t WHERE $condition"),
    lines_of($node, "SELECT string_agg(id::text, ',' ORDER BY id) FROM t WHERE " . ($condition =~ s/^/p_/r)), '... the same rows');
}
lines_of($node, 'DELETE FROM t WHERE id > 5000; DROP INDEX t_brin');

# The same numbers as of the plain columns.
foreach my $column (@columns, 'lower')
{
  my ($table, $name, $other, $plain) = $column eq 'lower' ? ('t_lower', 'lower', 't_plain_lower', 'lower') : ('t', $column, 't', "p_$column");
  my $facts = q{SELECT null_frac, n_distinct, most_common_freqs, round(correlation::numeric, 3), array_length(most_common_vals::text::text[], 1), array_length(histogram_bounds::text::text[], 1)
    FROM pg_stats WHERE tablename = '%s' AND attname = '%s'};
  is(lines_of($node, sprintf $facts, $table, $name), lines_of($node, sprintf $facts, $other, $plain), "statistics of $column");
  next if $column eq 'lower';
  my $values = q{SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE tablename = 't' AND attname = '%s'};
  is(lines_of($node, sprintf $values, $column), lines_of($node, sprintf $values, "p_$column"), "... and its values");
}
sub estimate { my ($rows) = lines_of($node, "EXPLAIN SELECT * FROM t WHERE $_[0]") =~ /rows=(\d+)/; return $rows; }
foreach my $condition (q{town = 'town 20'}, q{town = 'town 3'}, q{town < 'town 20'}, q{born < '1960-01-01'}, q{born BETWEEN '1970-01-01' AND '1980-01-01'}, 'pay > 1000', 'old = 7', q{d = 'd7'},
  q{town = 'town 20' AND old = 7}, q{lower(town) > 'town 3'}, q{big = 's1'})
{
  my $plain = estimate($condition =~ s/\b(?=(?:town|born|pay|old|d|big)\b(?! \d))/p_/gr);
  # between two bounds of a histogram PostgreSQL goes by the values of dates, and takes the middle of encrypted ones
  if ($condition =~ /^born/) { cmp_ok(abs(estimate($condition) / $plain - 1), '<', 0.03, "the planner expects about as many rows: $condition"); }
  else                       { is(estimate($condition), $plain, "the planner expects as many rows: $condition"); }
}

# What it costs of keys: only what is kept, but where statistics over several columns are built.
my $encrypts = 'ANALYZE t; SELECT encryptions FROM tde.stats';
cmp_ok(lines_of($node, $encrypts), '>', 10_000, 'with them, the values of the sample are encrypted');
lines_of($node, 'DROP STATISTICS t_both, t_plain, t_expr; DROP INDEX t_lower, t_plain_lower');
cmp_ok(lines_of($node, $encrypts), '<', 1_500, 'without them, what is kept');
is(copies(), join(' ', map { "$_:0" } @columns), '... and nothing is kept as it was');

$node->stop;
done_testing();
