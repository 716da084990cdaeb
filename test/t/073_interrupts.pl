# What is planned and declared costs little more than of plain columns, however deep and however much of it there is: results are the same, and
# a backend's memory grows as with a twin table of plain columns.  That loops and walks of trees can be interrupted: test/lint/loops.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

plan skip_all => 'memory of processes is read from /proc' unless -r '/proc/self/status';

my $node = tde_node('interrupts', extension => 1, conf => "tde_column.passphrase_command = 'echo interrupts-passphrase'\nmax_stack_depth = '2MB'\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('interrupts-passphrase');
CREATE TABLE e (id int, a encrypted_text, b text, n encrypted_int4);
CREATE TABLE p (id int, a text, b text, n int4);
INSERT INTO p SELECT g, CASE WHEN g % 3 > 0 THEN 'A' || g END, 'b' || g, g FROM generate_series(1, 50) g;
INSERT INTO e SELECT * FROM p;
CREATE INDEX ON e (lower(a)); CREATE INDEX ON p (lower(a));
CREATE INDEX ON e (coalesce(lower(a), b)); CREATE INDEX ON p (coalesce(lower(a), b));
CREATE INDEX ON e ((a || b)); CREATE INDEX ON p ((a || b));
CREATE FUNCTION as_it_is(encrypted_int4) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION as_it_is(int4) RETURNS boolean LANGUAGE sql AS 'SELECT true'});

# The most memory, in kB, that the backend ever had, is the last line: a session of its own.
my $memory = q{SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')};

# Something around something, so many times.
sub nested
{
  my ($times, $around, $inner) = @_;
  $inner = $around->($inner) foreach 1 .. $times;
  return $inner;
}

# A statement on one of the tables: result, SQLSTATE and memory.  One that does not end is told to at last.
sub run_on
{
  my ($table, $sql) = @_;
  my ($out, $err, $timed_out) = ('', '', 0);

  $sql =~ s/\bTHE_TABLE\b/$table/g;
  # the columns of a new table
  $sql =~ s/\bTHE_COLUMNS\b/$table eq 'e' ? 'id int, a encrypted_text, b text, n encrypted_int4' : 'id int, a text, b text, n int4'/ge;
  $node->psql(
    'postgres', "SET client_min_messages = error; SET jit = off; SET enable_seqscan = off;\n$sql;\n$memory",
    stdout        => \$out,
    stderr        => \$err,
    on_error_stop => 0,
    timeout       => $PostgreSQL::Test::Utils::timeout_default,
    timed_out     => \$timed_out,
    extra_params  => [ '-v', 'VERBOSITY=verbose' ]);
  return { end => 'none' } if $timed_out;
  my ($result, $used) = $out =~ /^(.*?)(\d+)\z/s;
  return { end => TdeTest::parse_error("$err\n")->{state}, result => $result, memory => $used };
}

# The same as with plain columns, in at most three times the memory.  Statements in sizes that grow, so that what doubles ends before
# it has all of the machine's.
sub behaves
{
  my ($name, @statements) = @_;

  local $Test::Builder::Level = $Test::Builder::Level + 1;
  subtest $name => sub {
    foreach my $sql (@statements)
    {
      my ($plain, $encrypted) = map { run_on($_, $sql) } qw(p e);

      is($encrypted->{end}, $plain->{end}, 'it ends the same way') && is($encrypted->{result}, $plain->{result}, 'with the same result') or last;
      my $most = 3 * $plain->{memory} + 32 * 1024;
      cmp_ok($encrypted->{memory}, '<', $most, 'and little more memory') or last;
    }
  };
  return;
}

my $length = sub { "length($_[0])::text" };
my $lower = sub { "lower($_[0])" };
my $coalesce = sub { "coalesce(lower($_[0]), b)" };
my $select = 'SELECT count(*), min(id), sum(id) FROM THE_TABLE WHERE';

# ---- queries ----

foreach my $column (qw(a b))
{
  behaves("calls inside each other, with casts, of $column", map { "$select " . nested($_, $length, $column) . q{ = '1'} } 16, 40, 400);
  behaves("calls inside each other, of $column", map { "$select " . nested($_, $lower, $column) . q{ = 'b7'} } 400, 3200);
  behaves("COALESCE inside each other, of $column", map { "$select " . nested($_, sub { "coalesce($_[0], b)" }, $column) . q{ = 'b6'} } 400, 1600);
  behaves("calls and COALESCE inside each other, of $column", map { "$select " . nested($_, $coalesce, $column) . q{ = 'b6'} } 12, 40, 800);
  behaves("conditions inside each other, of $column",
    map { "$select " . nested($_, sub { "(coalesce(lower($_[0]), b) = 'b6')::text" }, $column) . q{ = 'false'} } 12, 40, 400);
  behaves("deeper than the stack, of $column", "$select " . nested(20000, $lower, $column) . q{ = 'x'});
  behaves("calls side by side, of $column",
    "$select " . join ' OR ', map { nested(10, $lower, $column) . " = 'a$_'" } 1 .. 1000);
  behaves("AND and OR inside each other, of $column",
    "$select " . nested(300, sub { "(lower($column) = 'z' OR (lower($column) <> 'y' AND $_[0]))" }, "lower($column) = 'a7'"));
  behaves("CASE, ARRAY and ROW, of $column",
    "$select " . nested(200, sub { "CASE WHEN lower($_[0]) = 'x' THEN b ELSE lower($column) END" }, $column) . q{ = 'a7'},
    "$select " . nested(200, sub { "(lower($column) = ANY (ARRAY[($_[0])::text, 'a7']))" }, "lower($column) = 'a7'"),
    "$select (" . join(', ', ("lower($column)") x 300) . ') = (' . join(', ', (q{'a7'}) x 300) . ')');
  behaves("IN with many values, of $column", "$select lower($column) IN (" . join(', ', map { "'a$_'" } 20 .. 10000) . ')');
}
behaves('UNION ALL of many', join ' UNION ALL ', (q{SELECT id FROM THE_TABLE WHERE lower(a) = 'a7'}) x 500);
behaves('subqueries inside each other', 'SELECT count(*) FROM ' . nested(100, sub { "(SELECT * FROM $_[0] WHERE lower(a) <> 'a7') s" }, 'THE_TABLE'));

# ---- declarations ----

my $generated = 'DROP TABLE IF EXISTS made; CREATE TABLE made (THE_COLUMNS, made text GENERATED ALWAYS AS (%s) STORED);' .
  'INSERT INTO made SELECT * FROM THE_TABLE; SELECT count(*), min(made), max(made) FROM made; DROP TABLE made';
my $partitioned = 'DROP TABLE IF EXISTS made; CREATE TABLE made (THE_COLUMNS) PARTITION BY LIST ((%s));' .
  q{CREATE TABLE made_1 PARTITION OF made FOR VALUES IN ('a7'); CREATE TABLE made_2 PARTITION OF made DEFAULT;} .
  'INSERT INTO made SELECT * FROM THE_TABLE; SELECT (SELECT count(*) FROM made_1), (SELECT count(*) FROM made_2); DROP TABLE made';
my $indexed = 'DROP INDEX IF EXISTS made; CREATE INDEX made ON THE_TABLE ((%1$s)); ' .
  q{EXPLAIN (COSTS off) SELECT id FROM THE_TABLE WHERE %1$s = 'a7'\g /dev/null} . "\n" . q{SELECT id FROM THE_TABLE WHERE %1$s = 'a7'; DROP INDEX made};
my $partial = 'DROP INDEX IF EXISTS made; CREATE INDEX made ON THE_TABLE (id) WHERE %1$s; SELECT count(*) FROM THE_TABLE WHERE id > 0 AND %1$s; DROP INDEX made';

foreach my $form (['CREATE INDEX', $indexed], ['GENERATED', $generated], ['PARTITION BY', $partitioned])
{
  my ($name, $sql) = @$form;

  behaves("$name: calls and COALESCE inside each other", map { sprintf $sql, nested($_, $coalesce, 'a') } 8, 12, 20, 200);
  behaves("$name: calls inside each other", map { sprintf $sql, nested($_, $lower, 'a') } 40, 400);
}
behaves('CREATE INDEX WHERE: conditions inside each other',
  map { sprintf $partial, nested($_, sub { "(length((lower($_[0]) = 'x')::text))::text" }, 'a') . q{ = '5'} } 10, 20, 60);

# ---- tables with many columns and many indexes ----

behaves('CREATE TABLE with many generated columns', map {
    'DROP TABLE IF EXISTS made; CREATE TABLE made (THE_COLUMNS, ' . join(', ', map { "made_$_ text GENERATED ALWAYS AS (lower(a) || ${_}::text) STORED" } 1 .. $_) . ')' } 40, 1200);
lines_of($node, 'SET client_min_messages = error; DROP TABLE made; ' . join '; ', map { my $twin = $_;
  "CREATE TABLE many_$twin (LIKE $twin)", map { "CREATE INDEX ON many_$twin (lower(a || 'x$_'))" } 1 .. 150 } 'p', 'e');

# How often a statement asks to which extension a function or an operator belongs.
sub asked
{
  my ($table, $sql) = @_;
  my $scans = q{SELECT pg_stat_get_xact_numscans('pg_depend_depender_index'::regclass)};
  return lines_of($node, "SET enable_seqscan = off; BEGIN; SELECT count(*) FROM many_$table WHERE $sql \\g /dev/null\n$scans;");
}
foreach my $sql (
  (join ' OR ', map { "a = 'a$_'" } 1 .. 20), (join ' OR ', map { "a LIKE 'a$_%'" } 1 .. 20))
{
  cmp_ok(asked('e', $sql), '<', 20, 'conditions beside many indexes do not ask for each of these: ' . substr $sql, 0, 30);
}

# ---- the guard against plaintext ----

behaves('CREATE TABLE AS of subqueries that name a column twice',
  map { 'DROP TABLE IF EXISTS made; CREATE TABLE made AS ' .
    nested($_, sub { "SELECT left(x || x, 3) AS x FROM ($_[0] OFFSET 0) s" }, 'SELECT b AS x FROM THE_TABLE') .
    '; SELECT count(x), min(x) FROM made; DROP TABLE made' } 12, 40);

# ---- parameters that keep each other ----

behaves('parameters of open types, each of which keeps the next',
  map { my $last = $_;
    "PREPARE q AS SELECT count(*) FROM THE_TABLE WHERE as_it_is(\$1) AND n = 1 OR " . join(' OR ', map { "n IN (\$$_, \$@{[$_ + 1]})" } 1 .. $last - 1) .
    '; EXECUTE q (' . join(', ', 1 .. $last) . ')' } 50, 600);

done_testing;
