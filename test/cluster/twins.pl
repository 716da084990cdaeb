# twins.pl - statements on plain and on encrypted twins of tables that Citus distributes: the same results, types and errors.
#
# Each statement of test/cluster/statements is run on each kind of table, in schema "plain" and in schema "encrypted", by a client that
# takes results as drivers do.  test/cluster/known lists by cause what differs.
use strict;
use warnings FATAL => 'all';

use Cluster;

# How a table becomes one of its kind; what its key is.
my %KINDS = (
  by_plain      => { key => 'id', distribute => q{SELECT create_distributed_table('t', 'id')} },
  by_text       => { key => 'pan', distribute => q{SELECT create_distributed_table('t', 'pan', colocate_with => 'none')} },
  by_number     => { key => 'n', distribute => q{SELECT create_distributed_table('t', 'n', colocate_with => 'none')} },
  reference     => { key => 'id', distribute => q{SELECT create_reference_table('t')} },
  citus_local   => { key => 'id', distribute => q{SELECT citus_add_local_table_to_metadata('t')} },
  local         => { key => 'id', distribute => 'SELECT 1' },
  columnar      => { key => 'id', using => 'USING columnar', distribute => q{SELECT create_distributed_table('t', 'id', colocate_with => 'none')} },
  partitioned   => { key => 'id, d', partitions => 1, distribute => q{SELECT create_distributed_table('t', 'id', colocate_with => 'none')} },
);
my @KINDS = grep { !$ENV{KINDS} || " $ENV{KINDS} " =~ / $_ / } sort keys %KINDS;

sub read_statements
{
  my ($file) = @_;
  my @statements;
  open my $in, '<', $file or die "$file: $!";
  local $/ = ";\n";
  while (my $text = <$in>)
  {
    my %statement;
    $text =~ s/^\s+|\s*;\s*$//g;
    $statement{only}   = $1 if $text =~ s/^-- only: (.*)\n//m;
    $statement{values} = [ split / \| /, $1, -1 ] if $text =~ s/^-- values: (.*)\n//m;
    $text =~ s/^--.*\n//mg;
    $text =~ s/^\s+//;
    push @statements, { %statement, text => $text } if $text ne '';
  }
  return @statements;
}

# ~text, ~numeric(15,2): the twin's type.
sub text_for
{
  my ($text, $side, $kind) = @_;
  $text =~ s/~(\w+)/$side eq 'plain' ? $1 : "encrypted_$1"/ge;
  $text =~ s/%KEY%/$KINDS{$kind}{key}/g;
  return $text;
}

sub setup
{
  my ($client, $side, $kind) = @_;
  my $schema = "${side}_$kind";
  my $partitions = $KINDS{$kind}{partitions} ? 'PARTITION BY RANGE (d)' : '';
  my $using      = $KINDS{$kind}{using} // '';
  my $day        = $KINDS{$kind}{partitions} ? 'date'                   : '~date';
  my @statements = (
    "CREATE SCHEMA $schema", "SET search_path = $schema, public", 'SET client_min_messages = error', "SET timezone = 'UTC'",
    'SET citus.enable_repartition_joins = on',
    "CREATE TABLE t (id int, n ~int4, amount ~numeric(15,2), holder ~text, pan ~varchar(20), d $day, ts ~timestamptz, ok ~bool, j ~jsonb,"
      . " note text, PRIMARY KEY (%KEY%)) $partitions$using",
    $partitions ? (q{CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-01-16')},
      q{CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM ('2024-01-16') TO ('2025-01-01')}) : (),
    $KINDS{$kind}{distribute},
    'CREATE TABLE other (id int PRIMARY KEY, n int, name text)',
    q{SELECT create_distributed_table('other', 'id', colocate_with => 'none')},
    'CREATE TABLE small (id int PRIMARY KEY, holder ~text, amount ~numeric(15,2))',
    q{SELECT create_reference_table('small')},
    'CREATE TABLE here (id int, n ~int4, holder ~text, amount ~numeric(15,2))',
    q{INSERT INTO other SELECT g, g, 'name' || g FROM generate_series(1, 40) g},
    q{INSERT INTO small VALUES (1, 'holder1', 10.50), (2, 'holder2', 20), (3, 'nobody', NULL)},
    map { "INSERT INTO t VALUES ($_, $_, @{[ $_ * 1.25 ]}, 'holder@{[ $_ % 5 ]}', '4111$_', '2024-01-@{[ sprintf '%02d', $_ ]}',"
        . " '2024-01-01 10:00:$_+00', @{[ $_ % 2 ? 'true' : 'false' ]}, '{\"a\": $_}', 'note$_')" } 1 .. 30,
  );
  foreach (@statements)
  {
    my $text = text_for($_, $side, $kind);
    my $got = $client->query($text);
    die "$schema: $got->{error}\n$text\n" if $got->{error};
  }
  return;
}

# What a client sees: errors by their SQLSTATE, rows in their order where one is asked for.
sub seen
{
  my ($got, $text) = @_;
  return "error " . substr($got->{error}, 0, 5) . "\n" if $got->{error};
  my @rows = $text =~ /order by/i ? @{ $got->{rows} } : sort @{ $got->{rows} };
  return join "\n", "types @{ $got->{types} }", @rows, '';
}

my $number = 0;

sub run_statement
{
  my ($client, $statement, $side, $kind) = @_;
  my $text = text_for($statement->{text}, $side, $kind);
  if (!$statement->{values})
  {
    my $got = $client->query($text);
    return (seen($got, $text), $got->{error});
  }
  # often enough that the server may choose a generic plan
  my $name = 's' . ++$number;
  my $described = $client->parse($name, $text)->describe($name)->sync;
  return (seen($described, $text), $described->{error}) if $described->{error};
  my ($all, $error) = ('', '');
  foreach (1 .. 7)
  {
    my $got = $client->execute($name, @{ $statement->{values} })->sync;
    $all .= seen($got, $text);
    $error ||= $got->{error};
  }
  return ("types @{ $described->{types} }\n$all", $error);
}

sub read_known
{
  my %known;
  my $cause;
  open my $in, '<', $ENV{TDE_KNOWN} or die "$ENV{TDE_KNOWN}: $!";
  while (<$in>)
  {
    chomp;
    next if /^#|^$/;
    if (/^(\[[\w-]+\].*)/) { $cause = $1; next; }
    $known{$_} = $cause;
  }
  return %known;
}

my $cluster    = Cluster->new('twins', shared => 1, settings => ($ENV{SETTINGS} // '') . "\n");
my @statements = read_statements($ENV{TDE_KNOWN} =~ s/known$/statements/r);
my %known      = read_known();
my ($run, $same, $plain_runs, $runs, $silent, @new, %found) = (0, 0, 0, 0, 0);

foreach my $kind (@KINDS)
{
  my %client = map { $_ => $cluster->coordinator->client } qw(plain encrypted);
  setup($client{$_}, $_, $kind) foreach qw(plain encrypted);
  foreach my $statement (@statements)
  {
    next if $statement->{only} && " $statement->{only} " !~ / $kind /;
    my ($plain)           = run_statement($client{plain}, $statement, 'plain', $kind);
    my ($encrypted, $why) = run_statement($client{encrypted}, $statement, 'encrypted', $kind);
    my $id                = "$kind $statement->{text}" =~ s/\s+/ /gr;
    $run++;
    $plain_runs++ unless $plain =~ /^error/m;
    if ($plain eq $encrypted)
    {
      $same++;
      $runs++ unless $plain =~ /^error/m;
      next;
    }
    $silent++ unless $encrypted =~ /^error/m;
    $found{$id} = 1;
    next if $known{$id} && !$ENV{VERBOSE};
    push @new, $id unless $known{$id};
    print "differs: $id\n  plain: ", $plain =~ s/\n/\n    /gr, "\n  encrypted: ", $encrypted =~ s/\n/\n    /gr, "\n  $why\n";
  }
}
my @gone = grep { my $id = $_; !$found{$id} && grep { $id =~ /^\Q$_\E / } @KINDS } sort keys %known;
print "the same now, take it out of test/cluster/known: $_\n" foreach @gone;
if ($ENV{UPDATE} && @new)
{
  open my $out, '>>', $ENV{TDE_KNOWN} or die $!;
  print $out "\n[new]\n", map { "$_\n" } @new;
}
printf "%d statements on %d kinds of tables; of %d that run on plain tables, %d run the same on encrypted ones (%.1f %%); %d give other results\n",
  $run, scalar @KINDS, $plain_runs, $runs, 100 * $runs / ($plain_runs || 1), $silent;
exit(@new || @gone ? 1 : 0);
