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
  my ($column, $table) = (@_, 't');
  return map { pack 'H*', $_ } grep { /^[0-9a-f]+$/ && length $_ < 200 } split /\n/, lines_of($node, qq{BEGIN;
UPDATE pg_attribute SET atttypid = 'bytea'::regtype, atttypmod = -1 WHERE attrelid = '$table'::regclass AND attname = '$column';
SELECT encode($column, 'hex') FROM $table; ROLLBACK});
}

# What PostgreSQL has in the files of the statistics.
sub statistics_files
{
  lines_of($node, 'VACUUM FULL pg_statistic; VACUUM FULL pg_statistic_ext_data; CHECKPOINT');
  my @relations = split /\n/, lines_of(
    $node, q{SELECT pg_relation_filepath(oid) FROM pg_class WHERE oid IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass)
    OR oid IN (SELECT reltoastrelid FROM pg_class WHERE oid IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass))});
  return join '', map { read_bytes($node->data_dir . "/$_") } @relations;
}

# How many values of the table are there.
sub copies
{
  my $files = statistics_files();
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

# Values inside others: the same bytes stand alone in the columns v and n, of which the thief has them.  TYPE and RANGE are the twins' types.
my %containers = (
  words => ['text_list', 'secret_list', 'ARRAY[v, v]::TYPE'], list => ['text[]', 'encrypted_text(nosalt)[]', q{(CASE WHEN id % 2 = 0 THEN ARRAY[v] END)::TYPE}],
  pair => ['plain_pair', 'secret_pair', 'ROW(v, id % 7)::TYPE'], pairs => ['plain_pair[]', 'secret_pair[]', 'ARRAY[ROW(v, 1)]::TYPE'],
  late => ['plain_late', 'secret_late', 'ROW(id % 7, v)::TYPE'],
  nested => ['plain_nest', 'secret_nest', 'ROW(ARRAY[v], n)::TYPE'], span => ['int4range', 'secret_range', 'TYPE(n, NULL)'],
  spans => ['int4multirange', 'secret_multirange', 'TYPE(RANGE(n, NULL))']);
my @boxes = sort keys %containers;
lines_of(
  $node, q{
CREATE TYPE plain_pair AS (s text, i int); CREATE TYPE secret_pair AS (s encrypted_text(nosalt), i int);
CREATE TYPE plain_late AS (i int); CREATE TYPE secret_late AS (i int);
CREATE TYPE plain_nest AS (l text[], n int); CREATE TYPE secret_nest AS (l encrypted_text(nosalt)[], n encrypted_int4(nosalt));
CREATE TYPE secret_range AS RANGE (subtype = encrypted_int4, multirange_type_name = secret_multirange);
CREATE DOMAIN text_list AS text[]; CREATE DOMAIN secret_list AS encrypted_text(nosalt)[];
CREATE TABLE p_box (id int, v text, n int); CREATE TABLE box (id int, v encrypted_text(nosalt), n encrypted_int4(nosalt));
INSERT INTO p_box SELECT g, 'word ' || g * g % 211, g * g % 97 FROM generate_series(1, 3000) g; INSERT INTO box SELECT * FROM p_box});
foreach my $name (@boxes)
{
  my ($plain, $encrypted, $value) = @{ $containers{$name} };
  lines_of($node, "ALTER TABLE p_box ADD $name $plain; ALTER TABLE box ADD $name $encrypted");
}
lines_of($node, 'ALTER TYPE plain_late ADD ATTRIBUTE s text; ALTER TYPE secret_late ADD ATTRIBUTE s encrypted_text(nosalt)');
foreach my $which (0, 1)
{
  my $table = qw(p_box box)[$which];
  my $values = join ', ', map { $containers{$_}[2] =~ s/TYPE/$containers{$_}[$which]/r =~ s/RANGE/$containers{span}[$which]/r } @boxes;
  lines_of($node, "INSERT INTO $table (id, n, v, " . join(', ', @boxes) . ") SELECT id, n, v, $values FROM $table;
    DELETE FROM $table WHERE pair IS NULL; CREATE STATISTICS ${table}_both (mcv) ON list, n, pair FROM $table; ANALYZE $table");
}
sub box_copies
{
  my $files = statistics_files();
  my %values = map { $_ => 1 } map { stored($_, 'box') } qw(v n);
  cmp_ok(scalar(keys %values), '>=', 150, 'the thief has the values');
  return scalar grep { index($files, $_) >= 0 } keys %values;
}
is(box_copies(), 0, 'what ANALYZE keeps of arrays, composites, ranges, and domains and nests of them, is in no row');
my $kinds = q{SELECT attname, null_frac, n_distinct, most_common_freqs, most_common_elem_freqs, elem_count_histogram,
  array_length(most_common_vals::text::text[], 1), array_length(histogram_bounds::text::text[], 1), most_common_elems::text FROM pg_stats WHERE tablename = '%s' AND attname NOT IN ('v', 'n', 'id') ORDER BY 1};
is(lines_of($node, sprintf $kinds, 'box'), lines_of($node, sprintf $kinds, 'p_box'), 'they are as of plain columns');
$node->append_conf('postgresql.conf', "autovacuum = on\nautovacuum_naptime = 1\nautovacuum_analyze_threshold = 1\nautovacuum_analyze_scale_factor = 0\n");
$node->reload;
lines_of($node, 'UPDATE box SET id = id');
ok($node->poll_query_until('postgres', q{SELECT autoanalyze_count > 0 FROM pg_stat_user_tables WHERE relname = 'box'}), 'autovacuum analyzes it');
is(box_copies(), 0, '... and keeps nothing as it is in a row');

# Composite types stay without the extension, and can be analyzed.
lines_of($node, 'DROP EXTENSION tde_column CASCADE; ANALYZE box');
is(lines_of($node, q{SELECT string_agg(format('%s:%s', typname, typanalyze), ' ' ORDER BY typname) FROM pg_type WHERE typname ~ '^_?secret_(pair|nest|late)$'}),
  '_secret_late:array_typanalyze _secret_nest:array_typanalyze _secret_pair:array_typanalyze secret_late:- secret_nest:- secret_pair:-', 'as they were before it');

$node->stop;
done_testing();
