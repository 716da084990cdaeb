# Load - clients that write and read tables of a cluster while something happens to its nodes, and remember what they were told.
package Load;

use strict;
use warnings FATAL => 'all';

use POSIX ();
use TdeWire;

my @running;

# card: by an encrypted column; pay: by a plain one; copies: by another encrypted column, so that INSERT ... SELECT moves rows; kind: a
# reference table; control: without encrypted columns.
#
# What Citus 13.2 does to plain tables, too: a worker that updates while a shard comes to it by block_writes may find no row there, and says so.
# Clients of workers count that, and are told nothing that is untrue.
our @TABLES = (
  q{CREATE TABLE card (pan encrypted_text(nosalt, 'key=cards') PRIMARY KEY, holder encrypted_text, amount encrypted_numeric(15,2,nomac), client int)},
  q{SELECT create_distributed_table('card', 'pan')},
  q{CREATE TABLE pay (id bigint PRIMARY KEY, pan encrypted_text('key=cards'), amount encrypted_int4, client int)},
  q{SELECT create_distributed_table('pay', 'id', colocate_with => 'none')},
  q{CREATE TABLE copies (holder encrypted_text(nosalt) PRIMARY KEY, pan encrypted_text('key=cards'), client int)},
  q{SELECT create_distributed_table('copies', 'holder', colocate_with => 'none')},
  q{CREATE TABLE kind (id int PRIMARY KEY, name encrypted_text(nosalt))},
  q{SELECT create_reference_table('kind')},
  q{CREATE TABLE control (id bigint PRIMARY KEY, client int, updates int DEFAULT 0)},
  q{SELECT create_distributed_table('control', 'id', colocate_with => 'none')},
  q{INSERT INTO kind SELECT g, 'kind' || g FROM generate_series(1, 10) g},
);

# ->start($folder, node, ...): one client for each node that is named, numbered from 1.
sub start
{
  my ($class, $folder, @nodes) = @_;
  my $self = bless { folder => $folder, pids => [] }, $class;
  my $number = 0;

  unlink "$folder/stop";
  foreach my $node (@nodes)
  {
    $number++;
    my $pid = fork // die "fork: $!";
    if ($pid == 0)
    {
      my $client = Load::Client->new($node, $number, $folder);
      eval { $client->work; 1 } or $client->note("died: $@");
      $client->save;
      POSIX::_exit(0);    # what ends a test is the parent's
    }
    push @{ $self->{pids} }, $pid;
  }
  push @running, $self;
  return $self;
}

# What the clients were told: {card => {pan => number of updates, ...}, pay => {id => 1, ...}, copies => ..., control => ..., notes => [...],
# missed => how often clients of workers have found no row, by table}
sub stop
{
  my ($self) = @_;
  my %told = map { $_ => {} } qw(card pay copies control);
  my (@notes, %missed);

  open my $stop, '>', "$self->{folder}/stop" or die $!;
  close $stop;
  foreach my $number (1 .. @{ $self->{pids} })
  {
    waitpid $self->{pids}[ $number - 1 ], 0;
    open my $in, '<', "$self->{folder}/told.$number" or die "client $number: $!";
    while (<$in>)
    {
      chomp;
      my ($what, $key, $value) = split /\t/;
      if ($what eq 'note')      { push @notes, "client $number: $key"; }
      elsif ($what eq 'missed') { $missed{$key} += $value; }
      else                      { $told{$what}{$key} = $value; }
    }
  }
  @running = grep { $_ != $self } @running;
  return { %told, notes => \@notes, missed => \%missed };
}

END
{
  my $status = $?;
  foreach my $load (@running) { kill 'KILL', @{ $load->{pids} }; }
  $? = $status;
}

package Load::Client;

sub new
{
  my ($class, $node, $number, $folder) = @_;
  return bless {
    node => $node, number => $number, folder => $folder, told => { map { $_ => {} } qw(card pay copies control) },
    pans => [], ids => [], notes => [], missed => {}, errors => 0
  }, $class;
}

sub note
{
  my ($self, $text) = @_;
  push @{ $self->{notes} }, (scalar localtime) . " $text" =~ s/\s+/ /gr if @{ $self->{notes} } < 50;
  return;
}

# The answer, or undef after an error, which is noted.
sub ask
{
  my ($self, $sql, @values) = @_;
  my $got = @values ? $self->{wire}->parse('', $sql)->execute('', @values)->sync : $self->{wire}->query($sql);

  return $got->{rows} unless $got->{error};
  $self->{errors}++;
  $self->note("$got->{error} in: $sql" . ($got->{fields}{W} ? " ($got->{fields}{W})" : ''));
  return;
}

# Of a worker, at the second time.
sub expect
{
  my ($self, $expected, $sql, @values) = @_;
  my $found;

  foreach (0 .. $self->{node}{name} =~ /^worker/)
  {
    my $rows = $self->ask($sql, @values) or return;
    $found = join ' ', @$rows;
    return if $found eq $expected;
  }
  $self->note("wrong: '$found', not '$expected': $sql @values");
  return;
}

sub work
{
  my ($self) = @_;
  my $parent = getppid;

  srand $self->{number};
  $self->{wire} = $self->{node}->client;
  for (my $i = 1; !-e "$self->{folder}/stop" && getppid == $parent; $i++)
  {
    $self->write($i);
    $self->update($i);
    $self->read($i);
    $self->read_all if $i % 10 == 0;
  }
  return;
}

sub write
{
  my ($self, $i) = @_;
  my ($number, $told) = ($self->{number}, $self->{told});
  my $pan = "$number-$i";
  my $id  = $number * 1_000_000 + $i;

  if ($self->ask("INSERT INTO card VALUES ('$pan', 'holder $pan', 0, $number)"))
  {
    $told->{card}{$pan} = 0;
    push @{ $self->{pans} }, $pan;
  }
  $told->{pay}{$id} = 1 if $self->ask("INSERT INTO pay VALUES (\$1, \$2, \$3, $number)", $id, $pan, $i);
  if ($self->ask("INSERT INTO control VALUES ($id, $number)"))
  {
    $told->{control}{$id} = 0;
    push @{ $self->{ids} }, $id;
  }
  $told->{copies}{"holder $pan"} = 1
    if $i % 3 == 0 && defined $told->{card}{$pan} && $self->ask("INSERT INTO copies SELECT holder, pan, client FROM card WHERE pan = '$pan'");
  return;
}

# Was it told of one row?
sub update_one
{
  my ($self, $table, $sql, $key) = @_;
  my $rows = $self->ask($sql, $key) or return 0;

  if (!@$rows && $self->{node}{name} =~ /^worker/) { $self->{missed}{$table}++; }
  elsif ("@$rows" ne $key) { $self->note("wrong: an update of $table where the key is $key has found '@$rows'"); }
  return scalar @$rows;
}

# Two shards in one transaction, each third time.
sub update
{
  my ($self, $i) = @_;
  my %told = %{ $self->{told} };
  my %found;

  return if !@{ $self->{pans} } || !@{ $self->{ids} };
  my $id   = $self->{ids}[ rand @{ $self->{ids} } ];
  my @pans = map { $self->{pans}[ rand @{ $self->{pans} } ] } 1 .. ($i % 3 ? 1 : 2);
  my $before = $self->{errors};
  $self->ask('BEGIN') if @pans > 1;
  foreach my $pan (sort @pans)
  {
    $found{$pan} += $self->update_one('card', 'UPDATE card SET amount = amount + 1 WHERE pan = $1 RETURNING pan', $pan);
  }
  $self->ask('COMMIT') if @pans > 1;
  if ($self->{errors} == $before) { $told{card}{$_} += $found{$_} foreach keys %found; }
  $told{control}{$id} += $self->update_one('control', 'UPDATE control SET updates = updates + 1 WHERE id = $1 RETURNING id', $id);
  return;
}

sub read
{
  my ($self, $i) = @_;

  return if !@{ $self->{pans} };
  my $pan = $self->{pans}[ rand @{ $self->{pans} } ];
  $self->expect("holder $pan|$self->{told}{card}{$pan}.00|kind3", q{SELECT holder, amount, name FROM card JOIN kind ON id = 3 WHERE pan = $1}, $pan);
  return;
}

# All shards.
sub read_all
{
  my ($self) = @_;
  my ($number, $told) = ($self->{number}, $self->{told});
  my $sum = 0;

  $sum += $_ foreach values %{ $told->{card} };
  my $cards = scalar keys %{ $told->{card} };
  $self->expect("$cards|$cards|$sum.00", "SELECT count(*), count(DISTINCT pan), sum(amount) FROM card WHERE holder LIKE 'holder $number-%'");
  $self->expect(scalar(keys %{ $told->{$_} }), "SELECT count(*) FROM $_ WHERE client = $number") foreach qw(pay copies control);
  return;
}

sub save
{
  my ($self) = @_;
  my $file = "$self->{folder}/told.$self->{number}";

  open my $out, '>', $file or die "$file: $!";
  foreach my $table (sort keys %{ $self->{told} })
  {
    print $out "$table\t$_\t$self->{told}{$table}{$_}\n" foreach sort keys %{ $self->{told}{$table} };
  }
  print $out "missed\t$_\t$self->{missed}{$_}\n" foreach sort keys %{ $self->{missed} };
  print $out "note\t", tr/\t/ /r, "\n" foreach @{ $self->{notes} };
  close $out;
  return;
}

1;
