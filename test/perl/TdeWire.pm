# TdeWire - a client that speaks PostgreSQL's extended query protocol message by message, as drivers do.
#
# {null}: what stands for NULL in rows, by default nothing.
package TdeWire;

use strict;
use warnings FATAL => 'all';

use IO::Socket::UNIX;

# With these settings of the session: "-c log_statement=all".
sub connect
{
  my ($class, $node, $options) = @_;
  my $path   = $node->host . '/.s.PGSQL.' . $node->port;
  my $socket = IO::Socket::UNIX->new($path) or die "could not connect to $path: $!";
  my $self   = bless { socket => $socket }, $class;
  my $user   = getpwuid $>;
  my $start  = pack('N', 196608) . "user\0$user\0database\0postgres\0" . (defined $options ? "options\0$options\0" : '') . "\0";

  syswrite $socket, pack('N', 4 + length $start) . $start;
  $self->until_ready;
  return $self;
}

sub put
{
  my ($self, $type, $body) = @_;
  $self->{out} .= $type . pack('N', 4 + length $body) . $body;
  return $self;
}

sub parse
{
  my ($self, $name, $sql, @types) = @_;
  return $self->put('P', "$name\0$sql\0" . pack 'n N*', scalar @types, @types);
}

sub describe        { return $_[0]->put('D', "S$_[1]\0"); }
sub describe_portal { return $_[0]->put('D', "P$_[1]\0"); }

# Parameters in text form; the result in text form (0) or in binary form (1).
sub bind
{
  my ($self, $portal, $name, $form, @values) = @_;
  return $self->put('B',
    "$portal\0$name\0" . pack('n n', 0, scalar @values) . join('', map { pack 'N/a*', $_ } @values) . pack 'n n', 1, $form);
}

# So many rows, or all (0).
sub fetch
{
  my ($self, $portal, $rows) = @_;
  return $self->put('E', "$portal\0" . pack 'N', $rows);
}

# With parameters in text form, and all rows in text form.
sub execute
{
  my ($self, $name, @values) = @_;
  return $self->bind('', $name, 0, @values)->fetch('', 0);
}

# Send what was put together; {types => [...], parameters => [...], rows => ['a|b', ...], error => 'state message',
# fields => {its fields by PostgreSQL's letters},
# suspended => are there more rows, perhaps}
sub sync
{
  my ($self) = @_;
  $self->put('S', '');
  syswrite $self->{socket}, delete $self->{out};
  return $self->until_ready;
}

# Without reading what the server answers: that is until_ready().
sub ask
{
  my ($self, $sql) = @_;
  $self->put('Q', "$sql\0");
  syswrite $self->{socket}, delete $self->{out};
  return $self;
}

sub query { return $_[0]->ask($_[1])->until_ready; }

# COPY FROM STDIN with its data.
sub copy
{
  my ($self, $sql, $data) = @_;
  $self->put('Q', "$sql\0")->put('d', $data)->put('c', '');
  syswrite $self->{socket}, delete $self->{out};
  return $self->until_ready;
}

sub take
{
  my ($self, $size) = @_;
  my $bytes = '';
  while (length $bytes < $size)
  {
    sysread($self->{socket}, $bytes, $size - length $bytes, length $bytes) or die 'the server has closed the connection';
  }
  return $bytes;
}

sub until_ready
{
  my ($self) = @_;
  my %got = (types => [], parameters => [], rows => [], error => '');

  while (1)
  {
    my ($type, $size) = unpack 'a N', $self->take(5);
    my $body = $size > 4 ? $self->take($size - 4) : '';

    if ($type eq 'T')
    {
      my ($count, @fields) = unpack 'n (Z* N n N n N n)*', $body;
      $got{types} = [ map { $fields[ $_ * 7 + 3 ] } 0 .. $count - 1 ];
      $self->{columns} = [ map { my $c = $_; join ' ', @fields[ map { $c * 7 + $_ } 0, 3, 4, 5 ] } 0 .. $count - 1 ]; # name, type, size, typmod
    }
    elsif ($type eq 't')
    {
      (undef, my @types) = unpack 'n N*', $body;
      $got{parameters} = \@types;
    }
    elsif ($type eq 'D')
    {
      my ($count, $rest) = unpack 'n a*', $body;
      my @values;
      foreach (1 .. $count)
      {
        (my $length, $rest) = unpack 'N a*', $rest;
        push @values, $length == 0xffffffff ? $self->{null} // '' : substr $rest, 0, $length, '';
      }
      push @{ $got{rows} }, join '|', @values;
    }
    elsif ($type eq 'E')
    {
      my %field = map { /^(.)(.*)/s } split /\0/, $body;
      $got{error} ||= "$field{C} $field{M}";
      $got{fields} ||= \%field;
    }
    $got{suspended} = 1 if $type eq 's';
    return \%got if $type eq 'Z';
  }
}

1;
