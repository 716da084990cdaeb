# Damaged files: bits of stored values are flipped in heap, TOAST and index pages of a stopped server.  Values with MAC are
# refused, those without may be wrong, and no backend ever ends.  Before that, amcheck finds nothing to say about indexes.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $seed = $ENV{TDE_TEST_SEED} // int rand 2**31;
srand $seed;
note("TDE_TEST_SEED=$seed makes the same choices again");

my $node = tde_node('damage', extension => 1, conf => "tde_column.passphrase_command = 'echo damage-passphrase'\njit = off\n");
$node->start;
lines_of($node, "SELECT tde_wallet_create('damage-passphrase')");

# For each type a value of the number i, such that none is equal to another if the type has so many.
my %value = (
  text        => q{'text ' || i},
  varchar     => q{repeat('x', i) || i},
  bpchar      => q{'char ' || i},
  int2        => q{i},
  int4        => q{i * 1000},
  int8        => q{i::int8 << 33},
  numeric     => q{i / 7.0 * 10 ^ (i % 20)},
  float4      => q{i / 3.0},
  float8      => q{-i / 3.0},
  bool        => q{i % 2 = 0},
  date        => q{date '2000-01-01' + i},
  time        => q{time '00:00' + i * interval '1.5 min'},
  timetz      => q{timetz '00:00+01' + i * interval '1.5 min'},
  timestamp   => q{timestamp '2000-01-01' + i * interval '1 day'},
  timestamptz => q{timestamptz '2000-01-01+00' + i * interval '1 day'},
  interval    => q{i * interval '1 day 1 min'},
  bytea       => q{decode(md5(i::text), 'hex')},
  uuid        => q{md5(i::text)::uuid},
  json        => q{json_build_object('k', i)},
  jsonb       => q{jsonb_build_object('k', i, 'l', ARRAY[i, 2])},
  inet        => q{'10.0.0.0'::inet + i});
my %column = (
  salted => 'aes256,salt,mac',
  nosalt => 'aes128,nosalt,sha256',
  nomac  => 'aes128,salt,nomac',
  gcm    => 'aes256,salt,gcm',
  siv    => 'aes256,nosalt,gcm',
  padded => q{aes256,salt,gcm,'pad=32'});
my $rows = 400;    # some pages of each index, with a root
my @tables;

# One table for each type: heap and btree files of its own, which no damage but the intended one reaches.
sub columns_of
{
  my ($type) = @_;
  return grep { ($_ ne 'nomac' || $type !~ /json|inet/) && ($_ ne 'padded' || $type =~ /text|char|bytea|json|numeric|inet/) } sort keys %column;
}

foreach my $type (sort keys %value)
{
  my @columns = columns_of($type);
  my $declared = join ', ', map { "$_ encrypted_$type($column{$_})" } @columns;
  my $values = join ', ', map { "($value{$type})::$type" } @columns;
  lines_of($node, "CREATE TABLE t_$type (id int, $declared); INSERT INTO t_$type SELECT i, $values FROM generate_series(1, $rows) i");
  lines_of($node, join ';', map { "CREATE INDEX ${type}_$_ ON t_$type ($_)" } @columns) if $type ne 'json';
  push @tables, "t_$type";
}
lines_of(
  $node, q{
CREATE TABLE large (id int, salted encrypted_text(aes256,salt,mac), nosalt encrypted_text(aes128,nosalt,sha256), nomac encrypted_text(aes128,nomac),
  gcm encrypted_text(aes256,salt,gcm), siv encrypted_text(aes256,nosalt,gcm), padded encrypted_text(aes256,salt,gcm,'pad=512'));
INSERT INTO large SELECT i, v, v, v, v, v, v FROM generate_series(1, 10) i, LATERAL (SELECT string_agg(md5(i::text || g), '') AS v FROM generate_series(1, 300) g) s;
-- the bytes of a stored value
CREATE FUNCTION stored(anyelement) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
-- what becomes of a statement: the number of its rows, or the error; in either case it is undone
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found bigint;
BEGIN
  EXECUTE statement;
  GET DIAGNOSTICS found = ROW_COUNT;
  RAISE SQLSTATE 'DONE0';
EXCEPTION
  WHEN SQLSTATE 'DONE0' THEN RETURN found;
  WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END
$$});

#
# amcheck
#

my $amcheck = lines_of($node, "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'");
SKIP:
{
  skip 'amcheck is not installed', 2 if !$amcheck;
  lines_of($node, 'CREATE EXTENSION amcheck');
  my $check = q{SELECT c.relname, outcome(format('SELECT bt_index_parent_check(%s, true, true)', c.oid)) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
    WHERE c.relkind = 'i' AND a.amname = 'btree' AND c.relname ~ '_(salted|nosalt|nomac|gcm|siv|padded)$' AND outcome(format('SELECT bt_index_parent_check(%s, true, true)', c.oid)) <> '1'};
  is(lines_of($node, $check), '', 'amcheck: new indexes');

  # salted, so that no value of them is twice on a page; splits, deleted pages, and duplicates of all
  foreach my $table (@tables)
  {
    my $columns = join ', ', columns_of($table =~ s/^t_//r);
    lines_of($node,
      "INSERT INTO $table SELECT id + 1000, $columns FROM $table, generate_series(1, 8); DELETE FROM $table WHERE id > 1000 AND id % 3 = 0; VACUUM $table;"
        . "UPDATE $table SET id = id + 5000 WHERE id > 1050; DELETE FROM $table WHERE id > 1000; VACUUM $table");
  }
  is(lines_of($node, $check), '', 'amcheck: indexes after insertions, updates, deletions and VACUUM');
}

#
# Damage
#

# The stored bytes of all values: table, id, column => bytes.
sub stored_values
{
  my ($table, @columns) = @_;
  my @values;
  foreach my $column (@columns)
  {
    foreach (split /\n/, lines_of($node, "SELECT id, encode(stored($column), 'hex') FROM $table WHERE id <= $rows ORDER BY id"))
    {
      my ($id, $hex) = split /\|/;
      push @values, { table => $table, column => $column, id => $id, bytes => pack('H*', $hex) };
    }
  }
  return @values;
}

# What PostgreSQL stores of a value in one piece: at most TOAST_MAX_CHUNK_SIZE bytes, of which some at its end are left alone.
sub pieces
{
  my ($bytes) = @_;
  return ($bytes) if length $bytes < 1900;
  return map { substr $bytes, $_ * 1996, 1500 } 0 .. int(length($bytes) / 1996) - 1;
}

# Flip one bit somewhere in each of the values, wherever the file has them; those that were hit.
sub damage
{
  my ($path, @values) = @_;
  my $file = $node->data_dir . "/$path";
  my $bytes = read_bytes($file);
  my @hit;
  foreach my $value (@values)
  {
    my @pieces = pieces($value->{bytes});
    my $piece  = $pieces[ rand @pieces ];
    my $found  = index $bytes, $piece;
    next if $found < 0;
    # a value may stand there twice: after an update, or in an index
    for (; $found >= 0; $found = index $bytes, $piece, $found + 1)
    {
      my $position = $found + int rand length $piece;
      substr($bytes, $position, 1) = chr(ord(substr($bytes, $position, 1)) ^ 1 << int rand 8);
    }
    push @hit, $value;
  }
  write_bytes($file, $bytes);
  return @hit;
}

sub chosen
{
  my ($part, @values) = @_;
  return grep { rand() < $part } @values;
}

# Stop, change files, start.
sub stopped
{
  my ($change) = @_;
  $node->stop;
  my @result = $change->();
  $node->start;
  return @result;
}

sub path_of { return lines_of($node, "SELECT pg_relation_filepath($_[0])") }
sub path_of_relation { return path_of("'$_[0]'") }

# One session, which must outlive it all.
sub survives
{
  my ($name, $work) = @_;
  my $offset  = log_offset($node);
  my $session = session($node);
  my $pid     = session_try($session, 'SELECT pg_backend_pid()')->{out};
  $work->(sub { return session_try($session, $_[0])->{out} });
  is(session_try($session, 'SELECT pg_backend_pid()')->{out}, $pid, "$name: the backend lives on");
  $session->quit;
  unlike(log_since($node, $offset), qr/terminated by signal|PANIC|TRAP:|server process .* exited/, "$name: and so do all others");
  return;
}

# 18 has them by default.
my $checksums = lines_of($node, 'SHOW data_checksums');

# TDE03 where the flip hit the key's number.
my $refused = qr/^(?:TDE04 could not authenticate encrypted value|TDE03 data key \d+ does not exist in this database)$/;
# Errors that PostgreSQL has for what cannot happen; but without a MAC an index may be in disorder.
my $impossible = qr/^XX(?!000 mergejoin input data is out of order)/;

my @heap = map { stored_values("t_$_", columns_of($_)) } sort keys %value;
push @heap, stored_values('large', qw(salted nosalt nomac gcm siv padded));
my %path = map { $_ => path_of_relation($_) } @tables, map { my $t = $_; map { "${t}_$_" } columns_of($t) } grep { $_ ne 'json' } sort keys %value;
$path{toast}  = path_of(q{reltoastrelid) FROM pg_class WHERE oid = ('large'::regclass});
my %original;
lines_of($node, 'CHECKPOINT');

# Indexes first; the heap is as it was.

my @damaged = stopped(
  sub {
    command_ok([ 'pg_checksums', '--disable', '-D', $node->data_dir ], 'checksums off') if $checksums eq 'on';
    $original{$_} = read_bytes($node->data_dir . "/$path{$_}") foreach keys %path;
    my @hit;
    foreach my $type (grep { $_ ne 'json' } sort keys %value)
    {
      foreach my $column (columns_of($type))
      {
        push @hit, damage($path{"${type}_$column"}, chosen(0.15, grep { $_->{table} eq "t_$type" && $_->{column} eq $column } @heap));
      }
    }
    return @hit;
  });
cmp_ok(scalar @damaged, '>', 500, 'values in indexes were damaged: ' . @damaged);
survives(
  'damaged indexes',
  sub {
    my ($query) = @_;
    $query->('SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off');
    my (@wrong, %seen);
    foreach my $type (grep { $_ ne 'json' } sort keys %value)
    {
      foreach my $column (columns_of($type))
      {
        my $literal = "(SELECT ($value{$type})::$type FROM (VALUES (7)) v (i))";
        my @queries = (
          "SELECT $column FROM t_$type ORDER BY $column",
          "SELECT id, ${column}::text FROM t_$type ORDER BY $column DESC",
          (map { "SELECT id FROM t_$type WHERE $column $_ $literal" } '=', '<', '>='),
          "INSERT INTO t_$type (id, $column) SELECT 9000, ($value{$type})::$type FROM (VALUES (11)) v (i)",
          "UPDATE t_$type SET $column = ($value{$type})::$type FROM (VALUES (13)) v (i) WHERE id = 5",
          "DELETE FROM t_$type WHERE $column = $literal",
          "SELECT count(*) FROM t_$type a JOIN t_$type b USING ($column)");
        push @queries, "SELECT bt_index_check('${type}_$column'::regclass, true)" if $amcheck;
        foreach (split /\n/, $query->('SELECT s, outcome(s) FROM unnest(ARRAY[' . join(', ', map { "\$q\$$_\$q\$" } @queries) . ']) s'))
        {
          my ($statement, $outcome) = /^(.*)\|(.*)$/;
          $seen{ $outcome =~ /^\d+$/ ? 'rows' : substr($outcome, 0, 5) }++;
          # XX002 is what amcheck finds
          push @wrong, "$outcome: $statement" if $outcome !~ /^\d+$|^XX002/ && ($column eq 'nomac' ? $outcome =~ $impossible : $outcome !~ $refused);
        }
      }
      $query->("VACUUM t_$type");
    }
    is(join("\n", @wrong), '', 'damaged indexes: rows, or a value is refused');
    note(join ', ', map { "$_: $seen{$_}" } sort keys %seen);
    cmp_ok($seen{TDE04}, '>', 20, 'damaged indexes: values are refused');
  });

# Heap and TOAST, with the indexes undamaged.

@damaged = stopped(
  sub {
    write_bytes($node->data_dir . "/$path{$_}", $original{$_}) foreach keys %path;
    my @hit = map { my $t = $_; damage($path{$t}, chosen(0.1, grep { $_->{table} eq $t } @heap)) } @tables;
    push @hit, damage($path{toast}, chosen(0.7, grep { $_->{table} eq 'large' } @heap));
    return @hit;
  });
cmp_ok(scalar @damaged, '>', 500, 'values in tables were damaged: ' . @damaged);
cmp_ok(scalar(grep { $_->{table} eq 'large' } @damaged), '>', 5, 'some out of line');
# Equal values in columns without salt have the same bytes.
my %hit = map { ("$_->{table} $_->{bytes}" => 1) } @damaged;
my %is_damaged = map { ("$_->{table} $_->{column} $_->{id}" => $hit{"$_->{table} $_->{bytes}"}) } @heap;
survives(
  'damaged tables',
  sub {
    my ($query) = @_;
    $query->('SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off');
    my (@returned, @lost, @broken);
    foreach my $table (@tables, 'large')
    {
      foreach my $column ($table eq 'large' ? sort keys %column : columns_of($table =~ s/^t_//r))
      {
        foreach (split /\n/, $query->("SELECT id, outcome(format('SELECT ${column}::text, $column FROM $table WHERE id = %s', id)) FROM generate_series(1, $rows) id"))
        {
          my ($id, $outcome) = split /\|/, $_, 2;
          my $what = "$table $column $id: $outcome";
          if (!$is_damaged{"$table $column $id"}) { push @lost, $what if $outcome ne ($table eq 'large' && $id > 10 ? '0' : '1') }
          elsif ($column eq 'nomac') { push @broken, $what if $outcome =~ $impossible }
          elsif ($outcome !~ $refused) { push @returned, $what }
        }
      }
    }
    is(join("\n", @returned), '', 'damaged tables: each damaged value with MAC is refused');
    is(join("\n", @lost),     '', 'damaged tables: all others are there');
    is(join("\n", @broken),   '', 'damaged tables: those without MAC meet nothing impossible');

    my @wrong;
    foreach my $table (@tables, 'large')
    {
      foreach my $column ($table eq 'large' ? sort keys %column : columns_of($table =~ s/^t_//r))
      {
        my @statements = (
          "SELECT count($column) FROM $table",
          "SELECT $column FROM $table ORDER BY $column",
          "SELECT DISTINCT $column FROM $table",
          "SELECT max($column), min($column) FROM $table",
          "SELECT $column = $column FROM $table",
          "SELECT array_agg($column)::text, json_agg($column) FROM $table",
          "SELECT md5(${column}::text) FROM $table",
          "UPDATE $table SET $column = $column",
          "ALTER TABLE $table ALTER $column TYPE text USING ${column}::text",
          "REINDEX TABLE $table",
          "ANALYZE $table ($column)",
          "CREATE TABLE copied AS SELECT * FROM $table");
        foreach (split /\n/, $query->('SELECT s, outcome(s) FROM unnest(ARRAY[' . join(', ', map { "'$_'" } @statements) . ']) s'))
        {
          my ($statement, $outcome) = split /\|/, $_, 2;
          push @wrong, "$outcome: $statement" if $outcome =~ $impossible || $outcome =~ /^TDE/ && $outcome !~ $refused;
        }
      }
    }
    is(join("\n", @wrong), '', 'damaged tables: whatever is done with them');
  });

$node->stop;
done_testing();
