# Random statements on plain tables and on encrypted twins of them: the same rows, types of results, and errors.
#
# SEED and STATEMENTS choose which and how many: SEED=7 STATEMENTS=100000 make check T=long TAP=test/long/095_random_queries.pl
# A seed gives the same statements each time.  The twins are tables of the same names in the schemas "plain" and "encrypted", so that both
# get the same text.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use TdeQueries;
use TdeTest;
use TdeWire;
use Test::More;

my $seed       = $ENV{SEED}       // 1;
my $statements = $ENV{STATEMENTS} // 2000;
my @sides      = qw(plain encrypted);
# settings below make costs look high enough for jit, which would take most of the time
my $node       = tde_node('random', extension => 1, conf => "jit = off\n");
my $parallel   = parallel_setting($node);

# Specifications, which the columns of a table take in turn; those that their types or indexes cannot have are skipped.
my @specs = ('', 'nosalt', 'aes128,sha256', 'unordered', 'nomac', 'nosalt,mac', q{'3des168'}, 'aes192,cbc', 'nosalt,unordered', 'nosalt,nomac');

# Statements that make plans of other kinds; each holds for some statements.
my @settings = (
  '', '', 'SET enable_seqscan = off', 'SET enable_hashjoin = off; SET enable_hashagg = off', 'SET enable_mergejoin = off; SET enable_sort = off',
  'SET enable_nestloop = off; SET enable_indexscan = off', q{SET enable_seqscan = off; SET enable_bitmapscan = off; SET work_mem = '64kB'},
  'SET plan_cache_mode = force_generic_plan',
  "SET $parallel = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0");

# name => how far its values are from those of others, ids, and what follows its columns
my %tables = (
  a     => { shift => 0, ids => '1, 40',    end => ', PRIMARY KEY (id), UNIQUE (k))' },
  b     => { shift => 5, ids => '2, 50, 2', end => ', PRIMARY KEY (id), UNIQUE (k))' },
  parts => { shift => 1, ids => '1, 40',    end => ') PARTITION BY LIST (lower(t))' },
  spans => { shift => 3, ids => '1, 40',    end => ') PARTITION BY RANGE (d, i)' });

# Of all four, and of those that have a primary key.
my @indexes = ('(i)', '(t2)', '(d)', '(lower(t))', '(coalesce(i, 0))', '(id) WHERE ok', 'USING gin (j)', 'USING gin (t2 gin_trgm_ops, w)');
my @more_indexes = (
  '((i + 1))', '(length(t))', '(upper(v))', '((d + 1))', '((n * 2))', q{(id) WHERE lower(t) = 'abc'}, q{((j ->> 'a'))}, '((t || v))',
  q{(date_trunc('month', ts))}, '(ta)', '((v::text))', 'USING hash (u)', '(iv)', '(left(v, 2))', '(abs(i))', '(tz DESC)', '(c)', '(n2)',
  'USING gin (ia)', '(t text_pattern_ops)', 'USING gin (ta)', 'USING gin (j jsonb_path_ops) WITH (fastupdate = off)', 'USING gin (t gin_trgm_ops)',
  'USING gin (v gin_trgm_ops)', 'USING gin (w)', q{USING gin (to_tsvector('simple', t2))}, 'USING gin (lower(t) gin_trgm_ops)',
  q{USING gin ((j -> 'a'))}, '(u)', '(tm)', '(k)', '(b)', '(n, c)', '(bs)', '(ip)', '(f)');
my @partitions = (
  q{CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN ('abc', 'foo')}, q{CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN ('', NULL)},
  'CREATE TABLE parts_3 PARTITION OF parts DEFAULT',
  q{CREATE TABLE spans_1 PARTITION OF spans FOR VALUES FROM (MINVALUE, MINVALUE) TO ('2020-02-25', 5)},
  q{CREATE TABLE spans_2 PARTITION OF spans FOR VALUES FROM ('2020-02-25', 5) TO ('2020-03-05', 0)},
  'CREATE TABLE spans_3 PARTITION OF spans DEFAULT');

sub create_tables
{
  my ($side) = @_;
  my @sql;
  foreach my $name (sort keys %tables)
  {
    my @columns = 'id int';
    foreach my $column (@COLUMNS)
    {
      my ($label, $type, $modifier) = @$column;
      my $spec = $specs[ (@columns + $tables{$name}{shift}) % @specs ];
      # jsonb, inet and tsvector are not read without a MAC, and the last has no hash; t has an index of patterns, arrays have btrees
      $spec = 'nosalt' if $spec =~ /nomac/ && $type =~ /jsonb|inet|tsvector/ || $spec =~ /unordered/ && ($label eq 't' || $type =~ /\[|tsvector/);
      # what ON CONFLICT finds
      $spec = $name eq 'a' ? 'nosalt,unordered' : 'nosalt' if $label eq 'k';
      my $all = join ',', grep { $_ ne '' } $modifier =~ /([\d,]+)/, $spec;
      my ($base, $array) = $type =~ /^(\w+)(.*)/;
      push @columns, $side eq 'plain' ? "$label $base$modifier$array" : "$label encrypted_$base" . ($all ne '' ? "($all)" : '') . $array;
    }
    push @sql, "CREATE TABLE $name (" . join(', ', @columns) . $tables{$name}{end};
  }
  push @sql, @partitions, map { my $table = $_; map { "CREATE INDEX ON $table $_" } @indexes } sort keys %tables;
  push @sql, map { my $table = $_; map { "CREATE INDEX ON $table $_" } @more_indexes } qw(a b);
  push @sql, map { "CREATE UNIQUE INDEX ON $_ (lower(k))" } qw(a b);
  return @sql;
}

# Each column has a NULL in another row of seven.
sub fill_tables
{
  my $names = join ', ', 'id', map { $_->[0] } @COLUMNS;
  my $place = 0;
  my $values = join ', ', map { $place++; "CASE WHEN (g + $place) % 7 > 0 THEN $_->[3] END" } @COLUMNS;
  # not TRUNCATE, which takes long with so many indexes
  return map {
    ( "DELETE FROM $_",
      "INSERT INTO $_ ($names) SELECT id, $values FROM (SELECT id, id * 3 + $tables{$_}{shift} AS g FROM generate_series($tables{$_}{ids}) id) s")
  } sort keys %tables;
}

my %client;

# None of these may fail.
sub run_on
{
  my ($side, @sql) = @_;
  foreach my $sql (@sql)
  {
    my $got = $client{$side}->query($sql);
    die "$side: $got->{error}\n$sql\n" if $got->{error};
  }
  return;
}

sub run_on_both
{
  my @sql = @_;
  run_on($_, @sql) foreach @sides;
  return;
}

sub choose_settings
{
  my ($settings) = @_;
  run_on($_, 'RESET ALL', "SET search_path = $_, public", q{SET timezone = 'UTC'}, 'SET client_min_messages = error', $settings) foreach @sides;
  return;
}

# What a client gets, in lines: an error, or the types of parameters, name, type and modifier of each column, and the rows.
sub seen
{
  my ($side, $statement) = @_;
  my $client = $client{$side};
  my ($sql, $got) = ($statement);

  $client->{columns} = [];
  if (ref $statement)
  {
    $sql = $statement->{query};
    $got = $client->parse('', $sql)->describe('')->bind('', '', 1, $statement->{value})->fetch('', 0)->sync;
  }
  else
  {
    $got = $client->query($sql);
  }
  return split / /, $got->{error}, 2 if $got->{error};
  # one that is compared with a varchar is a text for PostgreSQL, and of the column's type if that is encrypted
  my @parameters = map { $_ == 1043 ? 25 : $_ } @{ $got->{parameters} };
  my @rows       = map { s/([^[:print:]])/sprintf '\\x%02x', ord $1/ger } @{ $got->{rows} };
  @rows = sort @rows if $sql !~ /^FETCH|^EXECUTE|ORDER BY [^()]*$/;
  return ("parameters @parameters", 'columns ' . join(', ', @{ $client->{columns} }), @rows);
}

# Is what both sides have seen the same?  Of errors the SQLSTATE: messages name types.
sub same
{
  my ($sql, $plain, $encrypted) = @_;
  my ($status, $columns, @rows) = @$encrypted;

  return 0 if $plain->[0] ne $status;
  return 1 if $status !~ /^parameters/;
  $columns = quotemeta $columns;
  # values of different specifications, or encrypted and plain ones, lose their modifier where they meet: it is -1
  $columns =~ s/\\ 4294967295\b/\\ \\d+/g if $sql =~ /\b(UNION|INTERSECT|EXCEPT|VALUES|CASE|coalesce|greatest|least)\b/;
  return $plain->[1] =~ /^$columns$/ && join("\n", @rows) eq join("\n", @$plain[ 2 .. $#$plain ]);
}

# The first lines that differ, from a little before where they do.
sub difference
{
  my ($plain, $encrypted) = @_;
  my @diff;
  foreach my $place (0 .. ($#$plain > $#$encrypted ? $#$plain : $#$encrypted))
  {
    my ($one, $other) = map { $_->[$place] // '(no more)' } $plain, $encrypted;
    next if $one eq $other;
    my $from = ($one ^ $other) =~ /^(\0*)/ && length $1 > 60 ? length($1) - 60 : 0;
    my $cut  = $from ? '...' : '';
    push @diff, "  - $cut" . substr($one, $from, 200), "  + $cut" . substr($other, $from, 200);
    last if @diff == 6;
  }
  return @diff;
}

sub text_of { return ref $_[0] ? "$_[0]{query}; -- \$1 = '$_[0]{value}'" : "$_[0];"; }

$node->start;
lines_of($node, q{SELECT tde_wallet_create('secret-passphrase'); CREATE SCHEMA plain; CREATE SCHEMA encrypted; CREATE EXTENSION pg_trgm;
  SELECT tde_create_gin_class('gin_trgm_ops'); SELECT tde_create_type('tsvector')});
foreach my $side (@sides)
{
  $client{$side} = TdeWire->connect($node);
  $client{$side}{null} = '(null)';
}
choose_settings('');
run_on($_, create_tables($_)) foreach @sides;

srand $seed;
my ($differences, $failed, $settings) = (0, 0, '');
my %succeeded;    # shape => statements of it that returned rows
foreach my $number (1 .. $statements)
{
  if ($number % 100 == 1)
  {
    choose_settings($settings = random_choice(@settings));
    run_on_both(fill_tables(), $number == 1 ? 'ANALYZE ' . join ', ', sort keys %tables : ());
  }
  my ($shape, @steps) = random_statement();
  my (@done, $error, $differs);
  foreach my $step (@steps)
  {
    push @done, text_of($step);
    my ($plain, $encrypted) = map {
      my @lines = eval { seen($_, $step) } or die "statement $number of seed $seed, with schema $_; $settings\n" . join("\n", @done, $@);
      \@lines
    } @sides;
    $error ||= $plain->[0] !~ /^parameters/;
    $succeeded{$shape}++ if @$plain > 2;
    $differs //= join "\n", @done, difference($plain, $encrypted) if !same("@done", $plain, $encrypted);
  }
  $failed++ if $error;
  next if !$differs;
  diag("statement $number of seed $seed, $shape; after SET search_path = plain, public (-) or encrypted, public (+); $settings\n$differs")
    if ++$differences <= 10;
  # what it has changed may differ, too
  run_on_both('ROLLBACK', fill_tables());
}
is($differences, 0, "$statements statements of seed $seed give the same on plain and encrypted tables");
note("$failed failed on both");
cmp_ok($failed, '<', 0.1 * $statements, 'nearly all of them succeed');
is(join(' ', grep { !$succeeded{$_} } statement_shapes()), '', 'those of each shape return rows') if $statements >= 1000;

done_testing();
