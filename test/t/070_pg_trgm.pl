# pg_trgm, whose operators begin with % and <, beside this extension: in the same schema and in another, whichever was first.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('pg_trgm');
$node->start;

# An operator of each of its names, the index that serves it, and a view, whose operators are fixed when it is made.
my $table = <<'SQL';
CREATE TABLE doc (t text);
INSERT INTO doc SELECT 'filler ' || n FROM generate_series(1, 200) n;
INSERT INTO doc VALUES ('a word'), ('two words'), ('zebra');
CREATE INDEX doc_gin ON doc USING gin (t gin_trgm_ops);
CREATE INDEX doc_gist ON doc USING gist (t gist_trgm_ops);
CREATE VIEW found AS SELECT t FROM doc WHERE t %> 'word' OR t % 'zebras';
SQL
my $found = <<'SQL';
SELECT t, 'op' FROM doc WHERE t %> 'word' ORDER BY t;
SELECT t, 'commuted' FROM doc WHERE 'word' <% t ORDER BY t;
SELECT t, 'strict' FROM doc WHERE t %>> 'word' ORDER BY t;
SELECT t, 'similar' FROM doc WHERE t % 'zebras';
SELECT t, round((t <-> 'zebras')::numeric, 3) FROM doc ORDER BY t <-> 'zebras' LIMIT 1;
SELECT t, round((t <->> 'words')::numeric, 3), round(('words' <<-> t)::numeric, 3) FROM doc ORDER BY 'words' <<-> t, t LIMIT 2;
SELECT t, 'view' FROM found ORDER BY t;
EXECUTE p('word');
SQL
my $prepared = "PREPARE p(text) AS SELECT t, 'prepared' FROM doc WHERE t %> \$1 ORDER BY t;\n";
my $plan     = <<'SQL';
SET enable_seqscan = off;
SET enable_indexscan = off;
EXPLAIN (COSTS off) SELECT t FROM doc WHERE t %> 'word';
SQL

# What such a database says without this extension.
sub database
{
  my ($name, $path, @statements) = @_;
  $node->safe_psql('postgres', "CREATE DATABASE $name; ALTER DATABASE $name SET search_path TO $path");
  my ($rc, $out, $err) = $node->psql($name, join('', map { "$_;\n" } @statements));
  is($rc, 0, "$name: is made") or diag($err);
  return;
}
my $both = 'public, extensions';
database('neither', $both, 'CREATE SCHEMA extensions', 'CREATE EXTENSION pg_trgm SCHEMA extensions', $table);
my $expected = $node->safe_psql('neither', $prepared . $found);
like($expected, qr/^a word\|op\ntwo words\|op\na word\|commuted\n/, 'pg_trgm finds words');
my $expected_plan = $node->safe_psql('neither', $plan);
like($expected_plan, qr/Index Scan.*doc_gi.*%> 'word'/s, 'with its index');

my %orders = (
  trgm_first => [ 'CREATE EXTENSION pg_trgm SCHEMA %s', $table, 'CREATE EXTENSION tde_column' ],
  tde_first  => [ 'CREATE EXTENSION tde_column', 'CREATE EXTENSION pg_trgm SCHEMA %s', $table ]);
for my $order (sort keys %orders)
{
  for my $schema ('public', 'extensions')
  {
    my $name = "${order}_$schema";
    database($name, $both, 'CREATE SCHEMA extensions', map { s{SCHEMA %s}{SCHEMA $schema}r } @{ $orders{$order} });
    my ($rc, $out, $err) = $node->psql($name, $prepared . $found, on_error_stop => 0);
    is($out, $expected, "$name: the same rows");
    is($err, '',        "$name: no errors");
    ($rc, $out) = $node->psql($name, $plan);
    is($out, $expected_plan, "$name: the same plan");
  }
}

# A statement that is planned again after the extension was created.
database('replanned', $both, 'CREATE SCHEMA extensions', 'CREATE EXTENSION pg_trgm SCHEMA extensions', $table);
my $again = $node->safe_psql('replanned', "$prepared EXECUTE p('word'); CREATE EXTENSION tde_column; EXECUTE p('word');");
is($again, join("\n", ('a word|prepared', 'two words|prepared') x 2), 'a prepared statement, too');

$node->stop;
done_testing();
