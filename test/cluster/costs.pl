# costs.pl - what two workers make of the time that one server takes, for plain and for encrypted tables, and what a query costs that finds
# its shard by an encrypted column.  It measures, so it is run by name only, and wants a machine that does nothing else:
# PARTS=costs ROWS=1600000 ROUNDS=7.  Fails where encryption costs more than is hoped for.
use strict;
use warnings FATAL => 'all';

use Cluster;
use Time::HiRes qw(time);

my $ROWS   = $ENV{ROWS}   || 1_600_000;
my $ROUNDS = $ENV{ROUNDS} || 7;
my @SIDES  = qw(plain encrypted);
my %LIMIT  = (scale => 1.1, router => 1.2);

my $cluster = Cluster->new('costs', shared => 1, settings => "autovacuum = off\nmax_parallel_workers_per_gather = 0\nmax_wal_size = 8GB\n");
my $node    = $cluster->coordinator;
my $client  = $node->client;

sub ask
{
  my ($sql) = @_;
  my $got = $client->query($sql);
  die "$got->{error}\n$sql\n" if $got->{error};
  return $got->{rows}[0];
}

sub median { return (sort { $a <=> $b } @_)[ $#_ / 2 ]; }

sub seconds
{
  my ($sql) = @_;
  my $start = time;
  ask($sql);
  return time - $start;
}

# The time of a query by its key, in milliseconds.
sub latency
{
  my ($table, $mode) = @_;
  my $out = `pgbench -n -M $mode -t 2000 -h $node->{socket} -p $node->{port} -U postgres -f $cluster->{folder}/$table.sql postgres 2>&1`;
  return $out =~ /latency average = ([\d.]+) ms/ ? $1 : die $out;
}

my $copied = "$cluster->{folder}/rows";
ask("COPY (SELECT g, md5(g::text) FROM generate_series(1, $ROWS) g) TO '$copied'");
foreach my $side (@SIDES)
{
  my %type = map { $_ => $side eq 'plain' ? $_ : "encrypted_$_" } qw(text int4);
  ask("CREATE TABLE ${side}_$_ (id int, a $type{text})") foreach qw(one two);
  ask("SELECT create_distributed_table('${side}_two', 'id', colocate_with => 'none')");
  ask("CREATE TABLE ${side}_key (k $type{int4} PRIMARY KEY, v int)");
  ask("SELECT create_distributed_table('${side}_key', 'k', colocate_with => 'none')");
  ask("INSERT INTO ${side}_key SELECT g, g FROM generate_series(1, 20000) g");
  open my $script, '>', "$cluster->{folder}/${side}_key.sql" or die $!;
  print $script "\\set k random(1, 20000)\nSELECT v FROM ${side}_key WHERE k = :k;\n";
  close $script;
}

my %STATEMENTS = (
  'INSERT ... SELECT' => sub { "INSERT INTO $_[0] SELECT g, md5(g::text) FROM generate_series(1, $ROWS) g" },
  'COPY'              => sub { "COPY $_[0] FROM '$copied'" },
  'scan'              => sub { "SELECT avg(length(a)) FROM $_[0]" },
);
my %taken;

# round 0 warms up
foreach my $round (0 .. $ROUNDS)
{
  foreach my $what ('INSERT ... SELECT', 'COPY', 'scan')
  {
    foreach my $table (map { ("${_}_one", "${_}_two") } @SIDES)
    {
      ask("TRUNCATE $table") if $what ne 'scan';
      my $time = seconds($STATEMENTS{$what}->($table));
      push @{ $taken{$what}{$table} }, $time if $round;
    }
  }
  foreach my $mode (qw(simple prepared))
  {
    foreach my $side (@SIDES)
    {
      my $time = latency("${side}_key", $mode);
      push @{ $taken{$mode}{$side} }, $time if $round;
    }
  }
}

my $missed = 0;
printf "%d rows, medians of %d rounds; seconds, and with two workers / on one server\n", $ROWS, $ROUNDS;
printf "%-20s %25s %25s %s\n", '', @SIDES, 'ratio of ratios';
foreach my $what (sort keys %STATEMENTS)
{
  my %time  = map { $_ => median(@{ $taken{$what}{$_} }) } keys %{ $taken{$what} };
  my @ratio = map { $time{"${_}_two"} / $time{"${_}_one"} } @SIDES;
  printf "%-20s %8.2f %8.2f  %5.2f %8.2f %8.2f  %5.2f  %5.2f\n", $what, (map { ($time{"$SIDES[$_]_one"}, $time{"$SIDES[$_]_two"}, $ratio[$_]) } 0, 1),
    $ratio[1] / $ratio[0];
  $missed++ if $ratio[1] / $ratio[0] > $LIMIT{scale};
}
foreach my $mode (qw(simple prepared))
{
  my @time = map { median(@{ $taken{$mode}{$_} }) } @SIDES;
  printf "by key, %-8s ms  %8.3f %8.3f  %5.2f\n", $mode, @time, $time[1] / $time[0];
  $missed++ if $time[1] / $time[0] > $LIMIT{router};
}
print "$missed of 5 cost more than is hoped for\n";
exit($missed ? 1 : 0);
