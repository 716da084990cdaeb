# What is computed of encrypted columns is not stored in clear without a word: in any part of a value, under whatever is written around
# it, at every place where PostgreSQL stores what an expression gives.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('row_guard', extension => 1, conf => "tde_column.passphrase_command = 'echo guard-passphrase'\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('guard-passphrase');
CREATE TYPE pair AS (x encrypted_text, y text);
CREATE TYPE around AS (f pair, g text);
CREATE DOMAIN held AS pair;
CREATE FUNCTION clear(encrypted_text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION pair_of(encrypted_text) RETURNS pair IMMUTABLE LANGUAGE plpgsql AS 'DECLARE r public.pair; BEGIN r.x := $1; r.y := $1; RETURN r; END';
CREATE FUNCTION same(anyelement) RETURNS anyelement IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE TABLE t (a encrypted_text, p text, i int, q text, c pair);
INSERT INTO t VALUES ('secret', 'plain', 1, 'plain', ROW('secret', 'plain'));
CREATE VIEW seen AS SELECT a, ROW(a, a::text)::pair AS bad, ROW(a, p)::pair AS good, upper(a) AS u, p, i FROM t;
CREATE VIEW chosen AS SELECT i FROM t WHERE a = 'x';
});

# A value of type pair, in clear in one part or in none; and what may be written around it: its type, and whether it is more than passed on.
my %value = (bad => ['ROW(a, clear(a))::pair', 'pair_of(a)'], good => [ 'ROW(a, p)::pair', 'c' ]);
my @wrappers = (
  [ 'V',                                               'pair' ],
  [ 'CASE WHEN i > 0 THEN V END',                      'pair' ],
  [ 'CASE i WHEN 2 THEN NULL ELSE V END',              'pair' ],
  [ 'CASE WHEN a IS NULL THEN NULL ELSE V END',        'pair' ],
  [ 'COALESCE(NULL, V)',                               'pair' ],
  [ '(ARRAY[V])[1]',                                   'pair' ],
  [ '(ROW(V, p)::around).f',                           'pair' ],
  [ '(array_append(NULL::pair[], V))[1]',              'pair' ],
  [ 'V::held',                                         'held' ],
  [ 'ARRAY[V]',                                        'pair[]' ],
  [ 'ARRAY[ARRAY[V, V]]',                              'pair[]' ],
  [ 'NULL::pair[] || V',                               'pair[]' ],
  [ 'ROW(V, p)::around',                               'around' ],
  [ 'ARRAY[ROW(V, p)::around]',                        'around[]' ],
  [ '(V).y',                                           'text' ],
  [ 'lower((V).y)',                                    'text' ],
  [ 'NULLIF(V, c)',                                    'pair', 'compares' ],
  [ 'GREATEST(V, c)',                                  'pair', 'compares' ],
  [ q{CASE WHEN a = 'x' THEN V END},                   'pair', 'compares' ],
  [ 'same(V)',                                         'pair', 'calls' ],
  [ '(same(V)).y',                                     'text', 'calls' ]);

my @columns = 'a encrypted_text, p text, i int, c pair';

# Where PostgreSQL stores what an expression E of type T gives.
my %places = (
  'generated column'           => "CREATE TABLE o (@columns, g T GENERATED ALWAYS AS (E) STORED)",
  'index'                      => 'CREATE INDEX ON t ((E))',
  'statistics'                 => 'CREATE STATISTICS o ON (E), i FROM t',
  'partition key'              => "CREATE TABLE o (@columns) PARTITION BY RANGE ((E))",
  'CREATE TABLE AS'            => 'CREATE TABLE o AS SELECT E AS e FROM t',
  'SELECT INTO'                => 'SELECT E AS e INTO o FROM t',
  'materialized view'          => 'CREATE MATERIALIZED VIEW o AS SELECT E AS e FROM t',
  'EXPLAIN ANALYZE'            => 'EXPLAIN ANALYZE CREATE TABLE o AS SELECT E AS e FROM t',
  'EXECUTE'                    => 'DEALLOCATE ALL; PREPARE o AS SELECT E AS e FROM t; CREATE TABLE o AS EXECUTE o',
  'USING'                      => 'ALTER TABLE t ALTER q TYPE T USING E',
  'added column'               => 'ALTER TABLE t ADD g T GENERATED ALWAYS AS (E) STORED',
  'subquery'                   => 'CREATE TABLE o AS SELECT e FROM (SELECT E AS e FROM t) s',
  'row of a subquery'          => 'CREATE TABLE o AS SELECT (s.r).e FROM (SELECT r FROM (SELECT E AS e FROM t) r) s',
  'WITH'                       => 'CREATE TABLE o AS WITH w AS (SELECT E AS e FROM t) SELECT e FROM w',
  'UNION'                      => 'CREATE TABLE o AS SELECT NULL::T AS e UNION ALL SELECT E FROM t',
  'VALUES'                     => 'CREATE TABLE o AS SELECT e FROM t, LATERAL (VALUES (NULL::T), (E)) v (e)',
  'subselect'                  => 'CREATE TABLE o AS SELECT (SELECT E) AS e FROM t',
  'aggregate'                  => 'CREATE TABLE o AS SELECT (array_agg(E))[1] AS e FROM t',
  'window'                     => 'CREATE TABLE o AS SELECT lag(E) OVER (ORDER BY i) AS e FROM t',
  'a function of the FROM'     => 'CREATE TABLE o AS SELECT e FROM t, unnest(ARRAY[E]) e',
  'a JOIN'                     => 'CREATE TABLE o AS SELECT e FROM (SELECT i, E AS e FROM t) s FULL JOIN t USING (i)',
  'RETURNING'                  => 'CREATE TABLE o AS WITH w AS (UPDATE t SET i = 1 RETURNING E AS e) SELECT e FROM w');

# What is told of each statement, by its number.  Markers are notices, so that they come in between.
sub told
{
  my (@statements) = @_;
  my $script = "SET client_min_messages = notice;\n";
  foreach my $number (0 .. $#statements)
  {
    $script .= "DO 'BEGIN RAISE NOTICE ''\@$number\@''; END';\nBEGIN;\n$statements[$number];\nROLLBACK;\n";
  }
  $node->psql('postgres', $script, stderr => \my $told, on_error_stop => 0);
  my (undef, %told) = split /^[^\n]*\@(\d+)\@(?:\n|\z)/m, $told, -1;
  return \%told;
}

sub expressions
{
  my ($kind) = @_;
  my @found;
  my @passing = grep { $_->[0] =~ /^(?:CASE i|COALESCE|\(ARRAY|\(ROW)/ } @wrappers;
  foreach my $wrapper (@wrappers)
  {
    next if $kind eq 'good' && $wrapper->[2];
    foreach my $value (@{ $value{$kind} })
    {
      my $first = $wrapper->[0] =~ s/\bV\b/$value/gr;
      push @found, [ $first, $wrapper->[1] ];
      next if $value ne $value{$kind}[0];
      push @found, map { [ $wrapper->[0] =~ s/\bV\b/$_->[0]/gr =~ s/\bV\b/$value/gr, $wrapper->[1] ] } @passing;
    }
  }
  return @found;
}

foreach my $kind (sort keys %value)
{
  my @expressions = expressions($kind);
  cmp_ok(scalar @expressions, '>', 80, "expressions: $kind");
  foreach my $place (sort keys %places)
  {
    my @statements = map { my ($e, $type) = @$_; $places{$place} =~ s/\bE\b/$e/gr =~ s/\bT\b/$type/gr } @expressions;
    my $told = told(@statements);
    my @wrong =
      grep { ($told->{$_} // '') !~ ($kind eq 'bad' ? qr/stores? decrypted values/ : qr/^(?!.*(?:ERROR|decrypted))/s) } 0 .. $#statements;
    is(scalar @wrong, 0, "$place: $kind");
    diag("$statements[$_]: " . ($told->{$_} // '')) foreach @wrong[ 0 .. ($#wrong < 4 ? $#wrong : 4) ];
  }
}

# Whatever the place, what is not a row: as before.
my @bare = ('a::text', 'upper(a)', 'ARRAY[a]::text[]', 'row_to_json(ROW(a))', 'CASE WHEN a IS NOT NULL THEN a::text END', q{a = 'x'}, 'concat(a)');
my $told = told(map { ("CREATE TABLE o AS SELECT $_ AS e FROM t", "ALTER TABLE t ALTER q TYPE text USING ($_)::text") } @bare);
like($told->{$_}, qr/stores decrypted values/, $bare[ $_ / 2 ] . ($_ % 2 ? ' by USING' : '')) foreach 0 .. 2 * $#bare + 1;

# What decides within the expression: subqueries that tell whether there are rows, and FILTER.
my @deciding = ('EXISTS (SELECT FROM t u WHERE u.a = t.a)', 'EXISTS (SELECT FROM t u JOIN t v ON u.a = v.a)', 'EXISTS (SELECT FROM t u JOIN t v USING (a))',
  q{EXISTS (SELECT FROM (SELECT upper(a) AS b FROM t) s WHERE b = 'X')}, q{EXISTS (SELECT FROM (SELECT i FROM t WHERE a = 'x') s)}, q{EXISTS (SELECT FROM chosen)},
  q{EXISTS (WITH w AS (SELECT i FROM t WHERE a = 'x') SELECT FROM w)}, q{EXISTS (SELECT 1 FROM t HAVING max(a) > 'x')}, 'EXISTS (SELECT FROM generate_series(1, length(t.a)))',
  'EXISTS (SELECT a FROM t EXCEPT SELECT a FROM seen)', q{EXISTS (SELECT 1 UNION ALL SELECT i FROM t WHERE a = 'x')}, 'EXISTS (SELECT FROM t u LIMIT length(t.a))',
  q{NOT EXISTS (SELECT FROM t u WHERE EXISTS (SELECT FROM t v WHERE v.a = 'x'))}, q{CASE WHEN EXISTS (SELECT FROM t u WHERE a = 'x') THEN p END}, q{i IN (SELECT i FROM t WHERE a = 'x')},
  q{i > ALL (SELECT i FROM t WHERE a = 'x')}, q{(SELECT array_agg(p) FILTER (WHERE a = 'x') FROM t)}, q{(SELECT count(a) FILTER (WHERE a = 'x') FROM t)});
$told = told(map { "CREATE TABLE o AS SELECT $_ AS e FROM t" } @deciding);
like($told->{$_}, qr/stores decrypted values/, $deciding[$_]) foreach 0 .. $#deciding;

# Rows of subqueries and views, whose types do not tell.
my @rows = (
  'SELECT row_to_json(s) FROM (SELECT a FROM t) s', 'SELECT row_to_json(v) FROM (SELECT u FROM seen) v', 'SELECT (v).u FROM seen v', 'SELECT (v).bad FROM seen v',
  'SELECT v FROM seen v', 'SELECT (v.bad).y FROM seen v', 'SELECT b FROM (SELECT (v).bad.y AS b FROM seen v) s',
  'SELECT p AS e FROM t UNION ALL SELECT a FROM t', 'SELECT e FROM (SELECT a AS e FROM t UNION SELECT p FROM t) s', 'SELECT r.y FROM (SELECT bad AS r FROM seen) s, LATERAL (SELECT (r).*) r', 'SELECT y FROM seen, unnest(ARRAY[bad])');
$told = told(map { "CREATE TABLE o AS $_" } @rows);
like($told->{$_}, qr/stores decrypted values/, $rows[$_]) foreach 0 .. $#rows;
my @plain = (
  'SELECT (v.good).y FROM seen v', 'SELECT good, p FROM seen', 'SELECT (v).p FROM seen v', 'SELECT y FROM t, unnest(ARRAY[c])', 'SELECT c FROM t',
  'SELECT array_agg(c) FROM t', 'SELECT (array_agg(good))[1].y FROM seen', 'SELECT row_to_json(s) FROM (SELECT p FROM t) s', 'SELECT count(a) FROM t',
  'SELECT y FROM (SELECT (c).y FROM t) s',
  q{SELECT i FROM t WHERE a > 'x'}, q{SELECT u.p FROM t u JOIN t v ON u.a = v.a}, q{SELECT p FROM t WHERE EXISTS (SELECT FROM t u WHERE u.a = t.a)}, 'SELECT count(*) FROM t GROUP BY a HAVING max(a) > $$x$$',
  'SELECT i FROM t ORDER BY a LIMIT 1', 'SELECT row_number() OVER (PARTITION BY a ORDER BY a) FROM t', 'SELECT i FROM t INTERSECT SELECT i FROM t', q{SELECT i FROM chosen},
  q{SELECT (SELECT p FROM t u WHERE u.a = t.a) FROM t}, q{SELECT ARRAY(SELECT p FROM t u WHERE u.a = 'x')}, 'SELECT EXISTS (SELECT FROM t u WHERE u.a IS NOT NULL)', 'SELECT EXISTS (SELECT a FROM t u WHERE u.p = t.p) FROM t',
  'SELECT EXISTS (SELECT a FROM t UNION SELECT a FROM t ORDER BY a)', 'SELECT i IN (SELECT i FROM t WHERE p = $$x$$) FROM t', 'SELECT array_agg(p) FILTER (WHERE i > 0) FROM t', 'SELECT EXISTS (WITH RECURSIVE w AS (SELECT i FROM t UNION ALL SELECT i + 1 FROM w WHERE i < 3) SELECT FROM w)');
$told = told(map { "CREATE TABLE o AS $_" } @plain);
is($told->{$_} // '', '', $plain[$_]) foreach 0 .. $#plain;

# ALTER ... USING by the setting
$told = told(map { "SET LOCAL tde_column.$_; ALTER TABLE t ALTER q TYPE text USING upper(a)" }
    'plaintext_alter = keep', 'plaintext_alter = warn', 'plaintext_alter = error', 'plaintext_allowed = on');
like($told->{0}, qr/^psql:.*WARNING:  column "q" stores decrypted values\nDETAIL:  In table "t", USING computes them .* type text .*\nHINT:  Declare/, 'keep');
like($told->{1}, qr/WARNING:  column "q" stores decrypted values/, 'warn');
like($told->{2}, qr/ERROR:  column "q" stores decrypted values/,   'error');
is($told->{3} // '', '', 'allowed, as tde_decrypt_column() does');
$told = told(
  'ALTER TABLE t ALTER q TYPE encrypted_text USING upper(a)', 'ALTER TABLE t ALTER q TYPE text USING lower(p)',
  'ALTER TABLE t ALTER q TYPE text USING a', 'SET LOCAL tde_column.plaintext_alter = warn; ALTER TABLE t ALTER a TYPE text USING upper(a)',
  q{ALTER TABLE t ALTER q TYPE text USING 'constant'}, 'DO $$ BEGIN ALTER TABLE t ALTER q TYPE text USING upper(a); END $$');
is($told->{0} // '', '', 'an encrypted type');
is($told->{1} // '', '', 'of plain columns');
like($told->{2}, qr/stores decrypted values/, 'by the assignment to the type');
is(() = $told->{3} =~ /WARNING/g, 1, 'a column that was encrypted: one warning');
is($told->{4} // '', '', 'a constant');
like($told->{5}, qr/stores decrypted values/, 'in a DO block');

# A materialized view over a view that is another one when it is filled again.
my $change = 'CREATE VIEW w AS SELECT p AS x, i FROM t; CREATE MATERIALIZED VIEW "M" AS SELECT x, i FROM w; CREATE UNIQUE INDEX ON "M" (i); ALTER MATERIALIZED VIEW "M" RENAME x TO y;'
  . ' CREATE OR REPLACE VIEW w AS SELECT upper(a) AS x, i FROM t;';
$told = told(map { "$change $_" } 'REFRESH MATERIALIZED VIEW "M"', 'REFRESH MATERIALIZED VIEW CONCURRENTLY "M"', 'REFRESH MATERIALIZED VIEW "M" WITH NO DATA', 'DO $$ BEGIN REFRESH MATERIALIZED VIEW "M"; END $$',
  'SET ROLE pg_monitor; REFRESH MATERIALIZED VIEW "M"', 'REFRESH MATERIALIZED VIEW w');
like($told->{$_}, qr/WARNING:  materialized view "M" stores decrypted values\nDETAIL:  Columns: "y"\.\nHINT:  Cast them/, "REFRESH after a change: $_") foreach 0, 1, 3;
is($told->{2} // '', '', 'WITH NO DATA stores nothing');
unlike($told->{4}, qr/decrypted/, 'who may not is told that');
like($told->{4}, qr/ERROR:  (?:must be owner|permission denied)/, 'by PostgreSQL');
like($told->{5}, qr/ERROR:  "w" is not a .*materialized view/, 'another relation');
$told = told('CREATE MATERIALIZED VIEW m AS SELECT a, p FROM seen; REFRESH MATERIALIZED VIEW m');
is($told->{0} // '', '', 'one that decrypts nothing');

# Queries that read each column of the next twice: forty deep, as views, subqueries and functions; a view that reads itself.
my $views = 'CREATE VIEW v0 AS SELECT p AS e FROM t; ' . join '', map { "CREATE VIEW v$_ AS SELECT x.e || y.e AS e FROM v" . ($_ - 1) . ' x, v' . ($_ - 1) . ' y; ' } 1 .. 40;
my $within = 'SELECT p AS e FROM t';
$within = "SELECT e || e AS e FROM ($within) s" foreach 1 .. 40;
my $rows = 'CREATE VIEW b0 AS SELECT p FROM t; ' . join '', map { "CREATE VIEW b$_ AS SELECT x.p FROM b" . ($_ - 1) . ' x JOIN b' . ($_ - 1) . ' y USING (p); ' } 1 .. 40;
my $lateral = 'SELECT e40 FROM t, LATERAL (VALUES (p)) v0 (e0)' . join '', map { ', LATERAL (VALUES (e' . ($_ - 1) . ' || e' . ($_ - 1) . ")) v$_ (e$_)" } 1 .. 40;
$told = told("$views EXPLAIN CREATE TABLE o AS SELECT e FROM v1; SET LOCAL statement_timeout = '100s'; CREATE MATERIALIZED VIEW o AS SELECT e FROM v40 WITH NO DATA",
  "CREATE TABLE o AS $within WITH NO DATA", "CREATE TABLE o AS $lateral WITH NO DATA",
  "$rows SET LOCAL statement_timeout = '100s'; CREATE MATERIALIZED VIEW o AS SELECT EXISTS (SELECT FROM b40) AS e WITH NO DATA",
  'CREATE VIEW w AS SELECT u FROM seen; CREATE OR REPLACE VIEW w AS SELECT u FROM w; CREATE TABLE o AS SELECT u FROM w');
is($told->{$_} // '', '', 'the search does not double with each level') foreach 0 .. 3;
like($told->{4}, qr/ERROR:  infinite recursion/, 'a view that reads itself');

done_testing();
