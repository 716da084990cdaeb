# What functions in procedural languages get of encrypted columns, and write into them, is what it is of plain columns: in triggers, results of
# statements, rows and arguments, for every type.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('languages', extension => 1);
$node->start;
lines_of($node, q{SELECT tde_wallet_create('languages-passphrase')});

# ---- two tables of the same columns ----

# Two values of each type that there is; the second is what functions write.
my %values = (
  text                          => [ 'a "b" \\c', 'ü' ],
  'character varying'           => [ 'vary',      '' ],
  character                     => [ 'x',         'y' ],
  smallint                      => [ -5,          7 ],
  integer                       => [ 5,           -70000 ],
  bigint                        => [ '9007199254740993', 12 ],
  numeric                       => [ '1.50',      '100000000000000000000.25' ],
  real                          => [ '1.5',       '0.1' ],
  'double precision'            => [ '2.25',      '1e300' ],
  boolean                       => [ 'f',         't' ],
  date                          => [ '2024-02-29', '1999-12-31' ],
  'time without time zone'      => [ '12:34:56',  '00:00:01.5' ],
  'time with time zone'         => [ '12:34:56+02', '01:00:00-03' ],
  'timestamp without time zone' => [ '2024-02-29 12:34:56', '1999-12-31 00:00:00' ],
  'timestamp with time zone'    => [ '2024-02-29 12:34:56+00', '1999-12-31 00:00:00+00' ],
  interval                      => [ '1 day 02:00:00', '1 mon' ],
  bytea                         => [ '\x0061ff',  '\x62275c' ],
  uuid => [ 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '00000000-0000-0000-0000-000000000001' ],
  json  => [ '{"a": [1, true]}', '[]' ],
  jsonb => [ '{"a": [1, true]}', '[]' ],
  inet  => [ '10.0.0.1/8', '::1' ]);
my @types = map { [ split /\|/ ] } split /\n/, lines_of($node, q{SELECT type, base FROM tde.types ORDER BY 1});
is_deeply([ sort map { $_->[1] } @types ], [ sort keys %values ], 'each type has values here');

my @tables = ([ 'plain', 1 ], [ 'encrypted', 0 ]);
my @columns;
foreach my $type (@types)
{
  (my $name = $type->[0]) =~ s/encrypted_//;
  push @columns, [ "c_$name", $type, 0 ], [ "a_$name", $type, 1 ];
}
my @names = map { $_->[0] } @columns;

sub literal
{
  my ($column, $which) = @_;
  (my $value = $values{ $column->[1][1] }[$which]) =~ s/'/''/g;
  return "'$value'" unless $column->[2];
  $value =~ s/(["\\])/\\$1/g;
  return qq{'{"$value",NULL}'};
}

foreach my $table (@tables)
{
  my $declared = join ', ', map { "$_->[0] " . $_->[1][ $table->[1] ] . ($_->[2] ? '[]' : '') } @columns;
  lines_of($node, "CREATE TABLE \"$table->[0]\" (id int PRIMARY KEY, $declared, twice int GENERATED ALWAYS AS (id * 2) STORED)");
}
foreach my $which (0, 1)
{
  my $values = join ', ', map { literal($_, $which) } @columns;
  lines_of($node, "CREATE TABLE given_$which AS SELECT * FROM plain; INSERT INTO given_$which VALUES (1, $values)");
}
lines_of($node, q{CREATE TABLE seen (language text, what text, kind text, name text, value text)});

# ---- what a language is to be tried with ----

sub fill
{
  my ($table) = @_;
  my $list = join ', ', 'id', @names;
  return "INSERT INTO \"$table\" ($list) SELECT $list FROM given_0; INSERT INTO \"$table\" (id) VALUES (2)";
}

# Functions that return each column's value, of the column's type in both tables; where a language makes bytea of something else than text, that
# is an error (below), as other scalars are by themselves in PL/Lua.
my %returns = (
  plpgsql    => 'BEGIN RETURN (SELECT %1$s FROM given_1); END',
  plpython3u => q{return plpy.execute('SELECT %1$s FROM given_1')[0]['%1$s']},
  plperl     => q{return spi_exec_query('SELECT %1$s FROM given_1')->{rows}[0]{%1$s};},
  pltcl      => 'spi_exec {SELECT %1$s FROM given_1}; return $%1$s',
  pllua      => q{for r in spi.rows('SELECT %1$s FROM given_1') do return r.%1$s end});

sub return_values
{
  my ($language) = @_;
  my %refused = (plpython3u => qr/_bytea/, pllua => qr/_bytea|c_(int|float|bool)/);
  my @returned = grep { $_ !~ ($refused{$language} // qr/^$/) } @names;
  my $sql = '';
  foreach my $column (grep { my $name = $_->[0]; grep { $name eq $_ } @returned } @columns)
  {
    foreach my $table (@tables)
    {
      my $type     = $column->[1][ $table->[1] ] . ($column->[2] ? '[]' : '');
      my $function = "returns_$table->[0]_$column->[0]";
      $sql .= "CREATE OR REPLACE FUNCTION $function() RETURNS $type LANGUAGE $language AS \$\$" . sprintf($returns{$language}, $column->[0]) . " \$\$;\n"
        . "INSERT INTO seen SELECT '$language', 'result', '$table->[0]', '$column->[0]', $function()::text;\n";
    }
  }
  lines_of($node, $sql);
  return @returned + 0;
}

# Compare what has been noted of plain and encrypted columns; as many things must have been noted as there are columns.
sub compare
{
  my ($language, $what, $rows) = @_;
  my $noted = "seen WHERE language = '$language' AND what = '$what'";
  is(lines_of($node, "SELECT count(*) FROM $noted AND kind = 'encrypted'"), $rows, "$language: $what: of all columns");
  is(lines_of($node, qq{
SELECT kind, name, value FROM $noted AND (name, coalesce(value, 'NULL')) NOT IN
  (SELECT name, coalesce(value, 'NULL') FROM $noted GROUP BY 1, 2 HAVING count(DISTINCT kind) = 2) ORDER BY 2, 1}), '', "$language: $what");
}

my $all = @names + 0;
foreach my $language (languages())
{
  my ($name, %code) = @$language;

  if (!attempt_language($name))
  {
    note "SKIPPED: $name is not installed here";
    next;
  }
  lines_of($node, $_) foreach @{ $code{functions} };

  foreach my $table (map { $_->[0] } @tables)
  {
    lines_of($node, qq{DELETE FROM "$table"});
    lines_of($node, qq{CREATE TRIGGER noted BEFORE INSERT ON "$table" FOR EACH ROW EXECUTE FUNCTION ${name}_trigger('$table')});
    lines_of($node, fill($table));
    lines_of($node, qq{DROP TRIGGER noted ON "$table"});
    lines_of($node, qq{SELECT ${name}_statement('$table')});
    lines_of($node, qq{SELECT ${name}_argument(t, '$table') FROM "$table" t ORDER BY id}) if $code{argument};
    lines_of($node, qq{CREATE TRIGGER written BEFORE UPDATE ON "$table" FOR EACH ROW EXECUTE FUNCTION ${name}_write()});
    lines_of($node, qq{UPDATE "$table" SET id = id});
    lines_of($node, qq{DROP TRIGGER written ON "$table"});
    lines_of($node, join ';', map { "INSERT INTO seen SELECT '$name', 'written', '$table', '$_', $_\::text FROM \"$table\"" } @names);
  }
  compare($name, 'result',    return_values($name));
  compare($name, 'trigger',   2 * $all);
  compare($name, 'statement', 2 * $all);
  compare($name, 'argument',  2 * $all) if $code{argument};
  compare($name, 'written',   2 * $all);
}

sub attempt_language
{
  my ($name) = @_;
  return 1 if $name eq 'plpgsql';
  return lines_of($node, "SELECT count(*) FROM pg_available_extensions WHERE name = '$name'") && lines_of($node, "CREATE EXTENSION $name; SELECT 1");
}

# What is noted is how the language itself prints its value.
sub languages
{
  return (
    [ 'plpgsql',
      argument  => 1,
      functions => [
        q{CREATE FUNCTION plpgsql_note(what text, kind text, r jsonb) RETURNS void LANGUAGE sql BEGIN ATOMIC
  INSERT INTO seen SELECT 'plpgsql', what, kind, key, value FROM jsonb_each_text(r) WHERE key NOT IN ('id', 'twice'); END},
        q{CREATE FUNCTION plpgsql_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM plpgsql_note('trigger', TG_ARGV[0], to_jsonb(NEW)); RETURN NEW; END $$},
        q{CREATE FUNCTION plpgsql_statement(kind text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record; BEGIN FOR r IN EXECUTE format('SELECT * FROM %I', kind) LOOP PERFORM plpgsql_note('statement', kind, to_jsonb(r)); END LOOP; END $$},
        (map { qq{CREATE FUNCTION plpgsql_argument(r "$_->[0]", kind text) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN PERFORM plpgsql_note('argument', kind, to_jsonb(r)); END \$\$} } @tables),
        q{CREATE FUNCTION plpgsql_write() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE g given_1; BEGIN SELECT * INTO g FROM given_1; } . join(' ', map { "NEW.$_ := g.$_;" } @names) . q{ RETURN NEW; END $$} ] ],

    [ 'plpython3u',
      argument  => 1,
      functions => [
        (map { qq{CREATE FUNCTION plpython3u_$_->[0] LANGUAGE plpython3u AS \$\$
def note(what, kind, r):
    for k in r:
        if k not in ('id', 'twice'):
            plpy.execute("INSERT INTO seen VALUES ('plpython3u', %s, %s, %s, %s)" % tuple(plpy.quote_literal(x) for x in (what, kind, k, repr(r[k]))))
$_->[1]
\$\$} }
          [ 'trigger() RETURNS trigger', q{note('trigger', TD["args"][0], TD["new"])} ],
          [ 'statement(kind text) RETURNS void', q{
for r in plpy.execute('SELECT * FROM ' + kind):
    note('statement', kind, r)} ],
          [ 'argument(r plain, kind text) RETURNS void',     q{note('argument', kind, r)} ],
          [ 'argument(r encrypted, kind text) RETURNS void', q{note('argument', kind, r)} ]),
        q{CREATE FUNCTION plpython3u_write() RETURNS trigger LANGUAGE plpython3u AS $$
for k, v in plpy.execute('SELECT * FROM given_1')[0].items():
    if k not in ('id', 'twice'):
        TD["new"][k] = v
return "MODIFY"
$$} ] ],

    [ 'plperl',
      argument  => 1,
      functions => [
        (map { qq{CREATE FUNCTION plperl_$_->[0] LANGUAGE plperl AS \$\$
my \$note = sub { my (\$what, \$kind, \$r) = \@_;
  spi_exec_query(sprintf q{INSERT INTO seen VALUES ('plperl', %s, %s, %s, %s)},
      map { defined \$_ ? quote_literal(\$_) : 'NULL' } \$what, \$kind, \$_, ref \$r->{\$_} ? encode_array_literal(\$r->{\$_}) : \$r->{\$_})
    foreach grep { \$_ ne 'id' && \$_ ne 'twice' } keys %\$r; };
$_->[1]
\$\$} }
          [ 'trigger() RETURNS trigger', q{$note->('trigger', $_TD->{args}[0], $_TD->{new}); return;} ],
          [ 'statement(kind text) RETURNS void', q{$note->('statement', $_[0], $_) foreach @{ spi_exec_query("SELECT * FROM $_[0]")->{rows} };} ],
          [ 'argument(r plain, kind text) RETURNS void',     q{$note->('argument', $_[1], $_[0]);} ],
          [ 'argument(r encrypted, kind text) RETURNS void', q{$note->('argument', $_[1], $_[0]);} ]),
        q{CREATE FUNCTION plperl_write() RETURNS trigger LANGUAGE plperl AS $$
my $given = spi_exec_query('SELECT * FROM given_1')->{rows}[0];
$_ eq 'id' || $_ eq 'twice' || ($_TD->{new}{$_} = $given->{$_}) foreach keys %$given;
return 'MODIFY';
$$} ] ],

    [ 'pltcl',
      argument  => 1,
      functions => [
        (map { qq{CREATE FUNCTION pltcl_$_->[0] LANGUAGE pltcl AS \$\$
proc note {what kind list} {
  array set r \$list
  foreach k [split {@names}] {
    set v NULL
    if {[info exists r(\$k)]} { set v '[quote \$r(\$k)]' }
    spi_exec "INSERT INTO seen VALUES ('pltcl', '\$what', '\$kind', '\$k', \$v)"
  }
}
$_->[1]
\$\$} }
          [ 'trigger() RETURNS trigger', q{note trigger $1 [array get NEW]; return OK} ],
          [ 'statement(kind text) RETURNS void', q{
foreach id {1 2} { catch {unset row}; spi_exec -array row "SELECT * FROM $1 WHERE id = $id"; note statement $1 [array get row] } } ],
          [ 'argument(r plain, kind text) RETURNS void',     q{note argument $2 [array get 1]} ],
          [ 'argument(r encrypted, kind text) RETURNS void', q{note argument $2 [array get 1]} ]),
        q{CREATE FUNCTION pltcl_write() RETURNS trigger LANGUAGE pltcl AS $$
spi_exec -array given {SELECT * FROM given_1}
foreach k [array names given] { if {$k ne "id" && $k ne "twice" && [string index $k 0] ne "."} { set NEW($k) $given($k) } }
return [array get NEW]
$$} ] ],

    [ 'pllua',
      functions => [
        (map { qq{CREATE FUNCTION pllua_$_->[0] LANGUAGE pllua AS \$\$
$_->[1]
end
do
  local insert = spi.prepare([[INSERT INTO seen VALUES ('pllua', \$1, \$2, \$3, \$4)]], {'text', 'text', 'text', 'text'})
  function note(what, kind, r)
    for k, v in pairs(r) do
      if k ~= 'id' and k ~= 'twice' then
        insert:execute(what, kind, k, v ~= nil and (math.type(v) or type(v)) .. (tostring(v):gsub('[^ -~]', function(c) return '<' .. c:byte() .. '>' end)) or nil)
      end
    end
  end
\$\$} }
          [ 'trigger() RETURNS trigger', q{note('trigger', (...), trigger.new)} ],
          [ 'statement(kind text) RETURNS void', q{for r in spi.rows('SELECT * FROM ' .. kind) do note('statement', kind, r) end} ]),
        q{CREATE FUNCTION pllua_write() RETURNS trigger LANGUAGE pllua AS $$
for r in spi.rows('SELECT * FROM given_1') do
  for k, v in pairs(r) do
    if k ~= 'id' and k ~= 'twice' then trigger.new[k] = v end
  end
end
return trigger.new
$$} ] ]);
}

# ---- where columns stand ----

# The first column of a variable length, where PostgreSQL knows its place in all rows: the base type may stand elsewhere.  The second row comes when
# the session knows where the columns of the table are.
SKIP:
{
  skip 'PL/Perl is not installed here', 1 unless lines_of($node, q{SELECT count(*) FROM pg_language WHERE lanname = 'plperl'});

  lines_of($node, q{CREATE FUNCTION change() RETURNS trigger LANGUAGE plperl AS $$ $_TD->{new}{last} = 9; return 'MODIFY' $$});
  my $sql = '';
  foreach my $column (grep { !$_->[2] } @columns)
  {
    foreach my $table (@tables)
    {
      my $name = "$table->[0]_$column->[0]";
      $sql .= "CREATE TABLE $name (id int, v $column->[1][$table->[1]], last int2); CREATE TRIGGER t BEFORE INSERT ON $name FOR EACH ROW EXECUTE FUNCTION change();\n"
        . ("INSERT INTO $name VALUES (1, " . literal($column, 0) . ", 3);\n") x 2
        . "INSERT INTO seen SELECT 'plperl', 'place', '$table->[0]', '$column->[0] ' || row_number() OVER (), concat_ws(' ', id, v::text, last) FROM $name;\n";
    }
  }
  lines_of($node, $sql);
  compare('plperl', 'place', 2 * grep { !$_->[2] } @columns);
}

# ---- what is between a language and its statements ----

SKIP:
{
  skip 'PL/Python is not installed here', 7 unless lines_of($node, q{SELECT count(*) FROM pg_language WHERE lanname = 'plpython3u'});

  lines_of($node, q{
CREATE TABLE e (n encrypted_int4, ok encrypted_bool);
INSERT INTO e VALUES (5, false);
CREATE FUNCTION query(q text) RETURNS text LANGUAGE plpython3u AS $$ return repr([dict(r) for r in plpy.execute(q)]) $$;
CREATE FUNCTION cursor(q text) RETURNS text LANGUAGE plpython3u AS $$ return repr([dict(r) for r in plpy.cursor(q)]) $$;
CREATE PROCEDURE twice(INOUT n encrypted_int4) LANGUAGE plpgsql AS $$ BEGIN n := n * 2; END $$;
CREATE FUNCTION inner_type() RETURNS regtype LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN SELECT n INTO r FROM e; RETURN pg_typeof(r.n); END $$;
CREATE PROCEDURE over_commit() LANGUAGE plpython3u AS $$
seen = []
for r in plpy.cursor('SELECT n FROM e'):
    seen.append(r['n'])
    plpy.commit()
plpy.notice(repr(seen))
$$});
  is(lines_of($node, q{SELECT query('SELECT n, ok, ROW(n, ok) AS r, e AS w FROM e')}),
    q([{'n': 5, 'ok': False, 'r': {'f1': 5, 'f2': False}, 'w': {'n': 5, 'ok': False}}]), 'rows within a row');
  is(lines_of($node, q{SELECT cursor('SELECT n, ok FROM e')}), q([{'n': 5, 'ok': False}]), 'a cursor');
  is(lines_of($node, q{SELECT query('UPDATE e SET n = n + 1 RETURNING n, ok')}), q([{'n': 6, 'ok': False}]), 'RETURNING');
  is(lines_of($node, q{SELECT query('CALL twice(4::encrypted_int4)')}), q([{'n': 8}]), 'CALL');
  is(lines_of($node, q{SELECT query('SELECT inner_type() AS t')}), q([{'t': 'encrypted_int4'}]), 'statements of a function in between are as they were');
  is(attempt($node, q{DO LANGUAGE plpython3u $$ plpy.notice(repr(plpy.execute('SELECT n FROM e')[0]['n'])) $$})->{err} =~ /NOTICE: .* 6$/m ? 1 : 0, 1, 'DO');
  like(attempt($node, 'CALL over_commit()')->{err}, qr/NOTICE: .* \[6\]$/m, 'a cursor over a COMMIT');

  # What a function declares, it cannot be given otherwise.
  lines_of($node, q{
CREATE FUNCTION scalar(n encrypted_int4) RETURNS text LANGUAGE plpython3u AS $$ return repr(n) $$;
CREATE FUNCTION bytes() RETURNS encrypted_bytea LANGUAGE plpython3u AS $$ return b'1' $$;
CREATE FUNCTION words(t encrypted_text) RETURNS encrypted_text LANGUAGE plpython3u AS $$ return t + '!' $$});
  fails_with($node, 'SELECT scalar(n) FROM e', { state => '0A000' }, 'a parameter that would be text');
  fails_with($node, 'SELECT bytes()', { state => '0A000' }, 'a result that would be made of text');
  is(lines_of($node, q{SELECT words('text')}), 'text!', 'what is text to the language anyway');
}

done_testing();
