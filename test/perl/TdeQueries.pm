# TdeQueries - random statements on tables that all have the same columns, @COLUMNS; which ones is up to Perl's rand().
#
# The tables: a and b have a primary key, and are different; parts and spans are partitioned.  What a statement returns is determined
# by the rows alone: whatever order or plan it is read in, whatever values are equal and look different (1.0 and 1.00).  Nor does a
# statement fail because PostgreSQL computes a constant that no row needs.  Slices are of arrays without NULL: in the binary protocol, one
# that leaves the NULLs out says that there are some, which the conversion from an encrypted array corrects.  What differs for encrypted
# columns as docs/columns.md says ("What works differently") does not occur; remarks say where.
package TdeQueries;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';

our @EXPORT = qw(@COLUMNS random_choice random_statement statement_shapes);

# name, type, its modifier, and the value of number g
our @COLUMNS = (
  [ 'i',  'int4',        '',       'g % 11' ],
  [ 'i2', 'int4',        '',       'g % 9 - 3' ],
  [ 'b',  'int8',        '',       '(g % 8) * 5000000000' ],
  [ 'n',  'numeric',     '(10,2)', '(g % 17) * 1.25' ],
  [ 'n2', 'numeric',     '',       'trim_scale((g % 13) * 0.5)' ],
  [ 't',  'text',        '',       q{(ARRAY['abc', 'Abc', 'foo', 'zed', '', 'a', 'foo%', 'bar', 'éa'])[1 + g % 9]} ],
  [ 't2', 'text',        '',       q{(ARRAY['abc', 'A', 'foo', 'mm'])[1 + g % 4]} ],
  [ 'k',  'text',        '',       q{'Key ' || id} ],
  [ 'v',  'varchar',     '(20)',   q{(ARRAY['abc', 'Zed', 'abacus', 'x'])[1 + g % 4]} ],
  [ 'c',  'bpchar',      '(6)',    q{(ARRAY['ab', 'x', 'abc  ', 'zz'])[1 + g % 4]} ],
  [ 'd',  'date',        '',       q{date '2020-02-20' + g % 21} ],
  [ 'ts', 'timestamp',   '',       q{timestamp '2020-02-20' + g % 21 * interval '13 hours'} ],
  [ 'tz', 'timestamptz', '',       q{timestamptz '2020-02-20 00:00Z' + g % 19 * interval '13 hours'} ],
  [ 'iv', 'interval',    '',       q{justify_interval(g % 15 * interval '7 hours')} ],
  [ 'f',  'float8',      '',       'g % 12 / 4.0' ],
  [ 'ok', 'bool',        '',       'g % 2 = 0' ],
  [ 'u',  'uuid',        '',       q{('00000000-0000-0000-0000-00000000000' || g % 6)::uuid} ],
  [ 'j',  'jsonb',       '',       q{(ARRAY['{"a":1}', '{"a":"x","b":[1]}', '[1,2]', '3', 'null'])[1 + g % 5]::jsonb} ],
  [ 'ta', 'text[]',      '',       q{ARRAY['a', CASE g % 3 WHEN 0 THEN 'b' END, 'abc']} ],
  [ 'ia', 'int4[]',      '',       'ARRAY[1, g % 6, CASE g % 4 WHEN 0 THEN 3 END]' ],
  [ 'bs', 'bytea',       '',       q{decode(lpad(to_hex(g % 20), 4, '0'), 'hex')} ],
  [ 'ip', 'inet',        '',       q{('10.0.0.' || g % 6 || '/' || 8 + 8 * (g % 3))::inet} ],
  [ 'tm', 'time',        '',       q{time '10:00' + g % 11 * interval '31 minutes'} ],
  [ 'w',  'tsvector',    '',       q{(ARRAY['abc:1 foo:2', 'foo:1 bar:3A', '', 'zed:1,7', 'abc:1 abcd:2 zed:3'])[1 + g % 5]::tsvector} ]);

my @TABLES = qw(a a a b parts spans);

# Columns of a type; of k, which is unique, only conditions are made.
my %columns;
push @{ $columns{ $_->[1] } }, $_->[0] foreach grep { $_->[0] ne 'k' } @COLUMNS;
my @TYPES    = sort keys %columns;
my @SORTABLE = grep { !/\[\]|jsonb/ } @TYPES;
# Those that have max().  That of a varchar is a text, and of an encrypted one a varchar.
my @GREATEST = grep { !/\[\]|jsonb|bool|uuid|bytea|varchar|tsvector/ } @TYPES;

my %literals = (
  int4        => [qw(0 1 (-3) 42)],
  int8        => [ '10000000000',            '7::int8' ],
  numeric     => [ '0.5',                    '12.34', '(-1.0)' ],
  text        => [ q{'abc'::text},           q{'A'::text}, q{''::text}, q{'foo%'::text} ],
  varchar     => [ q{'abc'::varchar},        q{'Zed'::varchar} ],
  bpchar      => [ q{'ab'::bpchar},          q{'x'::bpchar} ],
  date        => [ q{date '2020-02-29'},     q{date '2021-01-01'} ],
  timestamp   => [q{timestamp '2020-02-29 12:00'}],
  timestamptz => [q{timestamptz '2020-02-29 12:00+02'}],
  interval    => [ q{interval '1 day'},      q{interval '2 hours'} ],
  float8      => [ '1.5::float8',            '0::float8' ],
  bool        => [qw(true false)],
  uuid        => [q{'00000000-0000-0000-0000-000000000001'::uuid}],
  jsonb       => [ q('{"a":1}'::jsonb),      q{'[1,2]'::jsonb} ],
  'text[]'    => [ q{ARRAY['a', 'b']},       q{'{}'::text[]} ],
  'int4[]'    => [ 'ARRAY[1, 2]',            q{'{3}'::int4[]} ],
  bytea       => [q{'\x0102'::bytea}],
  inet        => [q{'10.0.0.1'::inet}],
  time        => [q{time '10:00'}],
  tsvector    => [ q{'abc:1 foo:2'::tsvector}, q{''::tsvector} ]);

# What gives a value of the type; <type> stands for an expression.  No number grows beyond what its type or column holds.
my %forms = (
  int4 => [
    '(<int4> + <int4>)', '(<int4> - <int4>)', '(- <int4>)', 'abs(<int4>)', 'length(<text>)', 'char_length(<varchar>)', 'octet_length(<bpchar>)',
    'position(<text> IN <text>)', '(<int4> % 7)', '(<int4> / 3)', '<bool>::int4', '(<date> - <date>)', 'cardinality(<int4[]>)',
    'array_length(<text[]>, 1)', '(<int4[]>)[1]', 'strpos(<text>, <varchar>)', 'ascii(<text>)', 'num_nonnulls(<int4>, <text>)', '(<int4> & 6)',
    '(<int4> # <int4>)', 'length(<bytea>)', 'masklen(<inet>)', '(SELECT count(*)::int4 FROM b z WHERE z.i < <int4>)',
    '(SELECT z.i2 FROM b z WHERE z.id = <int4>)' ],
  int8    => [ '<int4>::int8', '(<int8> / 3)', '(<int8> + <int4>)', '(<int8> - <int8>)' ],
  numeric => [
    '(<numeric> + <numeric>)', '(<numeric> - <numeric>)', '(<numeric> * <numeric>)', '(- <numeric>)', 'round(<numeric>, 1)', 'trunc(<numeric>)',
    '<int4>::numeric', 'ceil(<numeric>)', 'extract(year FROM <date>)', 'extract(hour FROM <timestamp>)', '<numeric>::numeric(12,1)',
    '(<int4> + <numeric>)', '(<int4> * 1.5)', 'sign(<numeric>)', 'mod(<numeric>, 3)' ],
  float8 => [ '(<float8> + <float8>)', '(<float8> * 2)', 'sqrt(abs(<float8>))', '<int4>::float8', '<numeric>::float8', 'round(<float8>)' ],
  text   => [
    '(<text> || <text>)', '(<text> || <int4>)', '(<text> || <varchar>)', 'lower(<text>)', 'upper(<varchar>)', 'substr(<text>, 2)',
    'substring(<text> FROM 1 FOR 2)', 'left(<varchar>, 2)', '<int4>::text', '<numeric>::text', '<date>::text', '<bpchar>::text',
    q{replace(<text>, 'a', <text>)}, q{to_char(<numeric>, 'FM990.00')}, q{to_char(<timestamp>, 'YYYY-MM')}, 'concat(<text>, <int4>, <date>)',
    q{format('%s-%s', <text>, <numeric>)}, 'md5(<text>)', 'trim(<bpchar>)', q{rpad(<text>, 5, '*')}, 'reverse(<varchar>)',
    q{split_part(<text>, 'o', 1)}, q{regexp_replace(<text>, '[aeiou]', '-', 'g')}, q{(<jsonb> ->> 'a')}, q{array_to_string(<text[]>, ',')},
    '(<text[]>)[2]', 'initcap(<text>)', 'quote_literal(<text>)', '<uuid>::text', q{encode(<bytea>, 'hex')}, 'host(<inet>)',
    '(<text> COLLATE "C")', q{concat_ws(',', <varchar>, <bpchar>)}, q{translate(<text>, 'abc', 'xyz')}, q{overlay(<text> PLACING 'QQ' FROM 2)},
    'jsonb_typeof(<jsonb>)', '<interval>::text', '(SELECT max(z.t) FROM a z WHERE z.i = <int4>)', '(SELECT z.k FROM a z WHERE z.id = <int4>)' ],
  varchar     => [ '<text>::varchar(3)', '<varchar>::varchar', '<int4>::varchar' ],
  bpchar      => [ '<text>::char(4)',    '<bpchar>::char(3)' ],
  date        => [ '(<date> + <int4> % 100)', '<timestamp>::date', '(<date> - 3)' ],
  timestamp   => [
    '(<timestamp> + <interval>)', '<date>::timestamp', q{date_trunc('month', <timestamp>)}, '<timestamp>::timestamp(0)',
    q{(<timestamptz> AT TIME ZONE 'UTC')}, '(<date> + <interval>)', '(<date> + <time>)' ],
  timestamptz => [ '(<timestamptz> + <interval>)', q{(<timestamp> AT TIME ZONE 'UTC')}, q{date_trunc('day', <timestamptz>)} ],
  interval    => [
    '(<timestamp> - <timestamp>)', '(<interval> * 2)', '(<interval> + <interval>)', '(- <interval>)', 'age(<timestamp>, <timestamp>)',
    'justify_hours(<interval>)', '(<time> - <time>)' ],
  time => [ '<timestamp>::time', '(<time> + <interval>)' ],
  bool => [
    q{(<text> LIKE '%a%')}, q{(<text> ~ '^[a-m]')}, q{(<varchar> ILIKE 'a%')}, q{(<text> IN (<text>, 'abc', 'Q'))},
    '(<int4> BETWEEN 1 AND <int4>)', '(<int4> = ANY (<int4[]>))', '(<text> = ANY (<text[]>))', q{(<jsonb> @> '{"a":1}')}, q{(<jsonb> ? 'a')},
    '(NOT <bool>)', '(<bool> AND <bool>)', '(<bool> OR <bool>)', '(<text> IS NULL)', '(<bool> IS TRUE)', '(<int4> IS DISTINCT FROM <int4>)',
    '(<text> IS NOT DISTINCT FROM <text>)', '((<int4>, <text>) < (<int4>, <text>))', '(<int4> > <numeric>)', '(<int4> < <int8>)',
    '(<date> < <timestamp>)', '(<text> = <varchar>)', q{(<bpchar> = 'ab')}, q{(<text> SIMILAR TO '%(a|b)%')}, '(<int4[]> && <int4[]>)',
    '(<text[]> @> ARRAY[<text>])', q{starts_with(<text>, 'a')}, q{(<inet> << '10.0.0.0/8')}, '(<int4> IN (1, 2, <int4>))', '(<text[]> = <text[]>)',
    # of subqueries
    'EXISTS (SELECT FROM b z WHERE z.i = <int4>)', 'NOT EXISTS (SELECT FROM b z WHERE z.i = <int4> AND lower(z.t) = <text>)',
    '(<text> IN (SELECT z.t FROM b z))', '(<int4> NOT IN (SELECT z.i FROM b z WHERE z.i IS NOT NULL))',
    '(<int4> > ALL (SELECT z.i2 FROM b z WHERE z.i2 < 5))', '(<date> = ANY (SELECT z.d FROM b z WHERE z.i < 5))',
    '(lower(<text>) IN (SELECT lower(z.t) FROM b z))', '((SELECT <int4>) < <int4>)', '((SELECT <text>) = <text>)',
    # of what a and b have indexes of
    '(lower(<text>) = <text>)', '(coalesce(<int4>, 0) = <int4>)', '((<int4> + 1) = <int4>)', '(length(<text>) > <int4>)',
    q{(upper(<varchar>) = 'ABC')}, '((<date> + 1) = <date>)', '((<numeric> * 2) < <numeric>)', q{((<jsonb> ->> 'a') = '1')},
    q{((<text> || <varchar>) LIKE 'ab%')}, q{(date_trunc('month', <timestamp>) = <timestamp>)}, q{(<varchar>::text LIKE 'a%')},
    q{(left(<varchar>, 2) = ANY (ARRAY[<text>, 'ab']))}, '(abs(<int4>) IN (1, 2, 3))', q{(NOT <bool> AND lower(<text>) = 'abc')} ],
  'text[]' =>
    [ 'ARRAY[<text>, <text>]', '(<text[]> || <text[]>)', q{string_to_array(<text>, 'o')}, '(array_remove(<text[]>, NULL))[1:1]',
    'array_append(<text[]>, <varchar>::text)' ],
  'int4[]' => [ 'ARRAY[<int4>, <int4>]', '(<int4[]> || <int4[]>)', 'array_remove(<int4[]>, <int4>)' ],
  jsonb    => [
    'to_jsonb(<int4>)', 'to_jsonb(<text>)', q{jsonb_build_object('k', <text>, 'n', <numeric>)}, q{(<jsonb> -> 'a')}, '(<jsonb> || <jsonb>)',
    'to_jsonb(<text[]>)', 'jsonb_build_array(<int4>, <date>, <bool>)' ],
  bytea => [ '(<bytea> || <bytea>)', q{convert_to(<text>, 'UTF8')} ],
  inet  => [ '(<inet> + 1)',         'set_masklen(<inet>, 8)' ],
  uuid  => [],
  tsvector => [ q{to_tsvector('simple', <text>)}, '(<tsvector> || <tsvector>)', 'strip(<tsvector>)', q{setweight(<tsvector>, 'A')} ]);

# Conditions that indexes of GIN serve.
my @searches = (
  q{<text> LIKE '%bc%'}, q{<text> ILIKE '%FOO%'}, q{<text> ~ '[ab]b?c'}, q{<varchar> LIKE '%bac%'}, q{<varchar> ~* 'Z.D'}, q{<text> % 'abcd'},
  q{<text> % <text>}, q{'abc' <% <varchar>}, q{<text> %> 'foo'}, q{<text> = 'abc'}, q{lower(<text>) LIKE '%mm%'}, q{<text> LIKE '%' || <varchar> || '%'},
  q(<jsonb> @> '{"a":1}'), '<jsonb> @> <jsonb>', '<jsonb> <@ <jsonb>', q{<jsonb> ? 'b'}, q{<jsonb> ?| ARRAY['b', 'c']}, q{<jsonb> ?& ARRAY['a', 'b']},
  q{<jsonb> @? '$.b[*] ? (@ == 1)'}, q{<jsonb> @@ '$.a == 1'}, q{(<jsonb> -> 'a') @> '1'},
  '<int4[]> && <int4[]>', '<int4[]> @> ARRAY[<int4>]', '<int4[]> <@ ARRAY[1, 2, 3]', '<text[]> && <text[]>', q{<text[]> @> ARRAY['b', 'a']},
  '<text[]> <@ <text[]>', '<text[]> = <text[]>', '<text[]> @> ARRAY[<varchar>]::text[]',
  q{<tsvector> @@ 'abc & !zed'}, q{<tsvector> @@ to_tsquery('simple', 'ab:* | bar')}, q{<tsvector> @@ 'abc <-> foo'}, q{<tsvector> @@ '!foo'},
  q{<tsvector> @@ 'bar:A'::tsquery}, '<tsvector> @@ plainto_tsquery(<text>)', q{to_tsvector('simple', <text>) @@ 'foo'}, q{'zed'::tsquery @@ <tsvector>});
push @{ $forms{bool} }, map { "($_)" } @searches;

foreach my $type (@TYPES)
{
  my $value = "<$type>";
  push @{ $forms{$type} }, "coalesce($value, $value)", "CASE WHEN <bool> THEN $value ELSE $value END", "(SELECT $value LIMIT 1)", "(SELECT $value)";
  push @{ $forms{bool} }, "($value $_ $value)" foreach $type =~ /\[\]/ ? () : qw(= <> < >=);
}
push @{ $forms{$_} }, "greatest(<$_>, <$_>)", "least(<$_>, <$_>)" foreach grep { $_ ne 'bool' } @SORTABLE;
# nullif() of encrypted arrays, and that of numbers of different types, has a type of its own
push @{ $forms{$_} }, "nullif(<$_>, <$_>)" foreach grep { !/numeric|varchar|bpchar/ } @SORTABLE;

sub random_choice { return $_[ rand @_ ]; }

sub chance { return rand() < $_[0]; }

sub expression
{
  my ($type, $depth, @aliases) = @_;

  if ($depth <= 0 || chance(0.25))
  {
    return random_choice(@aliases) . '.' . random_choice(@{ $columns{$type} }) if chance(0.78);
    return chance(0.07) ? "NULL::$type" : random_choice(@{ $literals{$type} });
  }
  # not by s///e, which must not be entered again
  return join '', map { /^<([a-z0-9]+(?:\[\])?)>$/ && $columns{$1} ? expression($1, $depth - 1, @aliases) : $_ }
    split /(<[a-z0-9]+(?:\[\])?>)/, random_choice(@{ $forms{$type} });
}

# An expression of which equal values look alike.
sub distinct_value
{
  my ($type, $depth, @aliases) = @_;
  my $value = expression($type, $depth, @aliases);
  return $value             if $value =~ /^\w+\.\w+$/;
  return "trim_scale($value)"       if $type eq 'numeric';
  return "justify_interval($value)" if $type eq 'interval';
  return "($value)::char(6)"        if $type eq 'bpchar';
  return $value;
}

# Of columns, for the most part, so that an index serves it.
sub search
{
  my @aliases = @_;
  my $one = join '', map { /^<(.*)>$/ ? expression($1, 0, @aliases) : $_ } split /(<[a-z0-9]+(?:\[\])?>)/, random_choice(@searches);
  return $one if chance(0.7);
  return "($one) " . random_choice('AND', 'OR', 'AND NOT') . ' (' . search(@aliases) . ')';
}

sub any_value     { return expression(random_choice(@TYPES), @_); }
sub sortable_value { return distinct_value(random_choice(@SORTABLE), @_); }
sub condition     { return expression('bool', 2, @_); }
sub maybe_where   { return chance(0.6) ? ' WHERE ' . condition(@_) : ''; }
sub table         { return random_choice(@TABLES); }
sub direction     { return random_choice('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'); }

# of rows of x
my @aggregates = (
  sub { 'count(*)' },
  sub { 'count(' . any_value(1, 'x') . ')' },
  sub { 'count(DISTINCT ' . sortable_value(1, 'x') . ')' },
  sub { 'sum(' . expression(random_choice(qw(int4 int8 numeric interval)), 1, 'x') . ')' },
  sub { 'round(avg(' . expression(random_choice(qw(int4 numeric)), 1, 'x') . '), 6)' },
  sub { 'round(' . random_choice(qw(stddev var_pop)) . '(' . expression(random_choice(qw(int4 numeric)), 1, 'x') . '), 4)' },
  sub { random_choice(qw(min max)) . '(' . distinct_value(random_choice(@GREATEST), 1, 'x') . ')' },
  sub { 'string_agg(' . expression(random_choice(qw(text varchar)), 1, 'x') . q{, ',' ORDER BY x.id)} },
  sub { 'array_agg(' . any_value(1, 'x') . ' ORDER BY x.id)' },
  sub { 'array_agg(x.id ORDER BY ' . sortable_value(1, 'x') . direction() . ', x.id)' },
  sub { 'array_agg(DISTINCT ' . distinct_value(random_choice(qw(int4 text date numeric)), 1, 'x') . ')' },
  sub { 'jsonb_agg(' . any_value(1, 'x') . ' ORDER BY x.id)' },
  sub { 'jsonb_object_agg(x.id, ' . any_value(1, 'x') . ')' },
  sub { 'bool_or(' . expression('bool', 1, 'x') . ')' },
  sub { 'sum(' . expression('int4', 1, 'x') . ') FILTER (WHERE ' . expression('bool', 1, 'x') . ')' },
  sub { 'percentile_disc(0.5) WITHIN GROUP (ORDER BY ' . distinct_value(random_choice(qw(int4 text date numeric)), 1, 'x') . ')' });

sub aggregate { return random_choice(@aggregates)->(); }

sub window_function
{
  my $partition = chance(0.6) ? 'PARTITION BY ' . sortable_value(1, 'x') : '';
  my %distance  = (int4 => '2', int8 => '3', numeric => '1.5', float8 => '2.5');
  $distance{$_} = q{interval '10 days'} foreach qw(date timestamp timestamptz interval);

  if (chance(0.3))
  {
    my $type = random_choice(sort keys %distance);
    return random_choice('sum(x.id)', 'count(*)') . " OVER ($partition ORDER BY " . expression($type, 1, 'x')
      . " RANGE BETWEEN $distance{$type} PRECEDING AND $distance{$type} FOLLOWING)";
  }
  my $function = random_choice(
    'row_number()', 'rank()', 'dense_rank()', 'ntile(3)', 'cume_dist()', 'count(*)', 'lag(' . any_value(0, 'x') . ')',
    'lead(' . any_value(1, 'x') . ', 2)', 'first_value(' . any_value(1, 'x') . ')', 'last_value(' . any_value(0, 'x') . ')',
    'nth_value(' . any_value(0, 'x') . ', 2)', 'sum(' . expression(random_choice(qw(int4 numeric)), 1, 'x') . ')', 'max(' . distinct_value(random_choice(qw(int4 text date)), 1, 'x') . ')');
  my $frame =
    random_choice('', '', 'ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING', 'ROWS UNBOUNDED PRECEDING', 'GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW');
  return "$function OVER ($partition ORDER BY " . sortable_value(1, 'x') . direction() . ", x.id $frame)";
}

# A column, which is not k, and a new value for it.
sub assignment
{
  my ($depth, @aliases) = @_;
  my $type = random_choice(@TYPES);
  return (random_choice(@{ $columns{$type} }), distinct_value($type, $depth, @aliases));
}

# In a transaction, which shows the table.  New rows stay only where a key lets them be there but once: rows are in the order of their id.
sub change
{
  my ($table, $statement) = @_;
  my $stays = chance(0.2) && ($table =~ /^[ab]$/ || $statement !~ /^INSERT/);
  return ('BEGIN', $statement, "SELECT * FROM $table ORDER BY id", $stays ? 'COMMIT' : 'ROLLBACK');
}

# What drivers send for a parameter.
my %parameters = (
  int4 => [ 1, 42 ], int8 => [ 10000000000, 7 ], numeric => [ '2.50', -1 ], text => [ 'abc', '' ], varchar => [ 'Zed', 'abc' ],
  bpchar => [ 'ab', 'x  ' ], date => ['2020-02-29'], timestamp => ['2020-02-29 12:00'],
  timestamptz => ['2020-02-29 12:00+02'], bool => [ 't', 'f' ], float8 => ['1.5']);

# Each returns statements to be run in turn: as text, or with a value for a parameter, as drivers send them.  Those whose rows are in order
# end in ORDER BY, without parentheses.
my %shapes = (
  expressions => sub {
    return 'SELECT x.id, ' . any_value(3, 'x') . ', ' . any_value(3, 'x') . ' FROM ' . table() . ' x' . maybe_where('x') . ' ORDER BY 1';
  },
  join => sub {
    my $type = random_choice(@SORTABLE);
    return 'SELECT x.id, y.id, ' . any_value(2, 'x', 'y') . ' FROM ' . table() . ' x ' . random_choice('', 'LEFT', 'FULL', 'RIGHT') . ' JOIN '
      . table() . ' y ON ' . expression($type, chance(0.3), 'x') . ' = ' . expression($type, chance(0.3), 'y') . maybe_where('x', 'y')
      . ' ORDER BY 1, 2';
  },
  search => sub {
    return 'SELECT x.id, ' . any_value(0, 'x') . ' FROM ' . table() . ' x WHERE ' . search('x') . ' ORDER BY 1';
  },
  search_by_index => sub {
    return ('BEGIN', 'SET LOCAL enable_seqscan = off', map({ "SELECT x.id FROM a x WHERE " . search('x') . ' ORDER BY 1' } 1 .. 8), 'ROLLBACK');
  },
  search_in_join => sub {
    return 'SELECT x.id, y.id FROM ' . table() . ' x JOIN b y ON ' . search('x', 'y') . ' WHERE ' . search('y') . ' ORDER BY 1, 2';
  },
  search_and_delete => sub {
    my $table = table();
    return change($table, "DELETE FROM $table x WHERE " . search('x') . ' RETURNING x.id, ' . any_value(1, 'x'));
  },
  join_by_condition => sub {
    return 'SELECT x.id, y.id FROM ' . table() . ' x JOIN ' . table() . ' y ON x.id = y.id + ' . random_choice(0 .. 2) . ' WHERE '
      . condition('x', 'y') . ' ORDER BY 1, 2';
  },
  join_of_rows => sub {
    return 'SELECT x.id, y.id FROM ' . table() . ' x JOIN ' . table() . ' y ON (x.i, x.t, x.d) ' . random_choice(qw(= < >=))
      . ' (y.i2, y.t2, y.d) ORDER BY 1, 2';
  },
  semijoin => sub {
    my $type = random_choice(@SORTABLE);
    return 'SELECT x.id, ' . any_value(1, 'x') . ' FROM ' . table() . ' x WHERE ' . expression($type, 0, 'x') . ' '
      . random_choice('IN', 'NOT IN', '= ANY', '< ALL', '>= ANY') . ' (SELECT ' . expression($type, 0, 'y') . ' FROM ' . table() . ' y'
      . maybe_where('y') . ') ORDER BY 1';
  },
  lateral => sub {
    return 'SELECT x.id, l.* FROM ' . table() . ' x, LATERAL (SELECT y.id AS other, ' . any_value(1, 'x', 'y') . ' AS q FROM b y WHERE '
      . expression('bool', 1, 'x', 'y') . ' ORDER BY y.id LIMIT 2) l ORDER BY 1, 2';
  },
  subquery => sub {
    my $type = random_choice(@SORTABLE);
    return 'SELECT s.id, s.q, s.r FROM (SELECT x.id, ' . any_value(2, 'x') . ' AS q, ' . expression($type, 1, 'x') . ' AS r FROM ' . table() . ' x'
      . maybe_where('x') . random_choice('', ' OFFSET 0', ' ORDER BY id LIMIT 20') . ') s WHERE s.r '
      . random_choice('IS NOT NULL', '>= (SELECT ' . expression($type, 0, 'y') . ' FROM b y ORDER BY y.id LIMIT 1)') . ' ORDER BY 1';
  },
  with => sub {
    return 'WITH c AS ' . random_choice('', 'MATERIALIZED') . ' (SELECT x.*, ' . sortable_value(1, 'x') . ' AS q FROM ' . table()
      . ' x) SELECT c.id, c.q, ' . any_value(2, 'c') . ' FROM c' . maybe_where('c') . ' ORDER BY 1';
  },
  recursive => sub {
    my $column = random_choice(map { @$_ } @columns{@TYPES});
    return "WITH RECURSIVE r(id, level, q) AS (SELECT x.id, 1, x.$column FROM a x WHERE x.id < 3"
      . " UNION ALL SELECT x.id, r.level + 1, x.$column FROM a x JOIN r ON x.id = r.id * 2 WHERE r.level < 4) SELECT * FROM r ORDER BY 1, 2";
  },
  values => sub {
    my $type = random_choice(@TYPES);
    return 'SELECT x.id, s.place, s.q FROM ' . table() . ' x CROSS JOIN LATERAL (VALUES '
      . join(', ', map { "($_, " . expression($type, chance(0.5), 'x') . ')' } 1 .. 3) . ') s(place, q) ORDER BY 1, 2';
  },
  limit => sub {
    return 'SELECT x.id, ' . any_value(1, 'x') . ', ' . sortable_value(1, 'x') . ' FROM ' . table() . ' x' . maybe_where('x') . ' ORDER BY 3'
      . direction() . ', 1 LIMIT 7 OFFSET 3';
  },
  group => sub {
    my @keys = map { sortable_value(1, 'x') } 1 .. random_choice(1, 1, 2);
    return 'SELECT ' . join(', ', @keys, aggregate(), aggregate()) . ' FROM ' . table() . ' x' . maybe_where('x') . ' GROUP BY '
      . join(', ', 1 .. @keys) . (chance(0.3) ? ' HAVING ' . random_choice('count(*) > 1', 'max(x.i) > 3', q{min(lower(x.t)) < 'b'}) : '');
  },
  grouping_sets => sub {
    my ($one, $two) = map { random_choice(@{ $columns{ random_choice(@SORTABLE) } }) } 1, 2;
    return "SELECT x.$one, x.$two, grouping(x.$one), " . aggregate() . ' FROM ' . table() . ' x GROUP BY ' . random_choice(qw(CUBE ROLLUP))
      . "(x.$one, x.$two)";
  },
  window => sub {
    return 'SELECT x.id, ' . window_function() . ', ' . window_function() . ' FROM ' . table() . ' x' . maybe_where('x') . ' ORDER BY 1';
  },
  set_operation => sub {
    my @types = map { random_choice(@SORTABLE) } 1, 2;
    my $side  = sub {
      my ($alias) = @_;
      # columns of one type, too, have numbers of other scales, of which any may be the one that is kept
      my @values = map { $_ eq 'numeric' ? 'trim_scale(' . distinct_value($_, chance(0.3), $alias) . ')' : distinct_value($_, chance(0.3), $alias) } @types;
      return 'SELECT ' . join(', ', @values) . ' FROM ' . table() . " $alias" . maybe_where($alias);
    };
    return join ' ', $side->('x'), random_choice('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'EXCEPT ALL', 'INTERSECT ALL'), $side->('y');
  },
  distinct => sub {
    return 'SELECT DISTINCT ' . sortable_value(1, 'x') . ', ' . sortable_value(1, 'x') . ' FROM ' . table() . ' x' . maybe_where('x');
  },
  distinct_on => sub {
    return 'SELECT DISTINCT ON (1) ' . sortable_value(1, 'x') . ', x.id, ' . any_value(1, 'x') . ' FROM ' . table() . ' x ORDER BY 1, 2';
  },
  view => sub {
    return (
      'BEGIN',
      'CREATE TEMPORARY VIEW seen AS SELECT x.*, ' . any_value(2, 'x') . ' AS one, ' . any_value(2, 'x') . ' AS two FROM ' . table() . ' x',
      'SELECT id, one, two FROM seen' . random_choice('', ' x WHERE ' . condition('x')) . ' ORDER BY 1',
      'SELECT count(*), max(' . expression(random_choice(qw(int4 text date)), 1, 'x') . ') FROM seen x',
      'ROLLBACK');
  },
  prepared => sub {
    my $type = random_choice(@SORTABLE);
    return (
      "PREPARE asked ($type) AS SELECT x.id, " . any_value(1, 'x') . ' FROM ' . table() . ' x WHERE x.' . random_choice(@{ $columns{$type} }) . ' '
        . random_choice('=', '<', '>=', '<>', 'IS DISTINCT FROM') . ' $1' . random_choice('', ' OR ' . condition('x')) . ' ORDER BY 1',
      (map { "EXECUTE asked ($_)" } @{ $literals{$type} }, 'NULL'),
      'DEALLOCATE ALL');
  },
  parameter => sub {
    my $type   = random_choice(sort keys %parameters);
    my $column = random_choice(@{ $columns{$type} });
    my $query  = 'SELECT x.*, ' . any_value(1, 'x') . ' FROM ' . table() . " x WHERE x.$column "
      . random_choice('=', '<', '>=', '<>', 'IS DISTINCT FROM') . ' $1' . random_choice('', ' OR ' . condition('x')) . ' ORDER BY 1';
    return map { { query => $query, value => $_ } } @{ $parameters{$type} };
  },
  cursor => sub {
    return (
      'BEGIN',
      'DECLARE c SCROLL CURSOR ' . random_choice('', 'WITH HOLD ') . 'FOR SELECT x.id, ' . any_value(1, 'x') . ', ' . any_value(0, 'x') . ' FROM '
        . table() . ' x' . maybe_where('x') . ' ORDER BY 1',
      map({ ("FETCH $_ FROM c") } '3', 'BACKWARD 2', 'ABSOLUTE 5', 'LAST', 'BACKWARD 3'),
      'COMMIT',
      'FETCH ABSOLUTE 2 FROM c',
      'CLOSE ALL');
  },
  function => sub {
    my $column = random_choice(map { @$_ } @columns{@TYPES});
    return (
      "CREATE OR REPLACE FUNCTION pg_temp.told() RETURNS SETOF text LANGUAGE plpgsql AS \$f\$ DECLARE r record; kept a.$column%TYPE; "
        . "BEGIN FOR r IN SELECT x.id, x.$column AS q, " . any_value(2, 'x') . ' AS e FROM ' . table() . ' x ORDER BY 1 LIMIT 12 LOOP '
        . q{kept := r.q; RETURN NEXT concat_ws('|', r.id, kept, r.e, kept IS DISTINCT FROM r.q); END LOOP; END $f$},
      'SELECT * FROM pg_temp.told()');
  },
  update => sub {
    my ($table,  $from)  = (table(), chance(0.3));
    my ($column, $value) = assignment(2, 'x', $from ? 'y' : ());
    return change($table,
        "UPDATE $table x SET $column = $value"
        . ($from ? ' FROM b y WHERE x.id = y.id AND ' . condition('x', 'y') : maybe_where('x'))
        . " RETURNING x.id, x.$column, "
        . any_value(1, 'x'));
  },
  update_with => sub {
    my ($column, $value) = assignment(1, 'x');
    return change('a',
      "WITH u AS (UPDATE a x SET $column = $value" . maybe_where('x') . ' RETURNING *) SELECT u.id, ' . any_value(1, 'u') . ' FROM u ORDER BY 1');
  },
  delete => sub {
    my $table = table();
    return change($table,
      "DELETE FROM $table x USING b y WHERE x.id = y.id AND " . condition('x', 'y') . ' RETURNING x.id, ' . any_value(1, 'x', 'y'));
  },
  insert => sub {
    my ($table,  $from)  = (table(), table());
    my ($column, $value) = assignment(1, 'x');
    my $above = 1000 * random_choice(1 .. 50);
    return change($table, "INSERT INTO $table (id, $column) SELECT x.id + $above, $value FROM $from x" . maybe_where('x') . ' RETURNING *');
  },
  conflict => sub {
    my ($column, $value) = assignment(1, 'x', 'excluded');
    my ($id, $key, $target) = @{ random_choice(
        [ 'y.id',        'NULL',           '(id)' ],
        [ 'y.id + 1000', q{'Key ' || y.id}, '(k)' ],
        [ 'y.id + 1000', q{'KEY ' || y.id}, '(lower(k))' ]) };
    my $type = (grep { $_->[0] eq $column } @COLUMNS)[0][1];
    return change('a',
        "INSERT INTO a AS x (id, k, $column) SELECT $id, $key, "
        . distinct_value($type, 0, 'y')
        . " FROM b y ON CONFLICT $target DO "
        . random_choice('NOTHING', ("UPDATE SET $column = $value WHERE " . condition('x', 'excluded')) x 3)
        . ' RETURNING *');
  },
  merge => sub {
    my ($column, $value) = assignment(1, 'x', 'y');
    my $type = (grep { $_->[0] eq $column } @COLUMNS)[0][1];
    return change('a',
        'MERGE INTO a x USING b y ON x.id = y.id WHEN MATCHED AND '
        . condition('x', 'y')
        . " THEN UPDATE SET $column = $value WHEN MATCHED THEN "
        . random_choice('DO NOTHING', 'DELETE')
        . " WHEN NOT MATCHED THEN INSERT (id, $column) VALUES (y.id + 1000, "
        . distinct_value($type, 0, 'y') . ')');
  });

sub statement_shapes { return sort keys %shapes; }

# (shape, statements that are to be run in turn)
sub random_statement
{
  my $shape = random_choice(statement_shapes());
  return ($shape, $shapes{$shape}->());
}

1;
