# Transparent results: each statement, with the setting off and on, gives the same rows in the same order, and columns of the
# base types when it is on.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $node = tde_node(
  'transparent',
  extension => 1,
  conf => "tde_column.passphrase_command = 'echo transparent-passphrase'\nmax_prepared_transactions = 5\n");

$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('transparent-passphrase');
CREATE DOMAIN code AS encrypted_varchar(8,aes256,nosalt,mac);
CREATE DOMAIN price AS encrypted_numeric(6,1,aes256,salt) CHECK (VALUE > 0);
SELECT tde_create_type('macaddr');
CREATE TABLE odd (c code, p price, m encrypted_macaddr(aes128,nosalt));
INSERT INTO odd VALUES ('c1', 1.55, '08:00:2b:01:02:03'), ('c0', 7, NULL);
CREATE TYPE pair AS (x encrypted_text(aes128,nosalt), y int);
CREATE TABLE t (
  id int PRIMARY KEY,
  a encrypted_text(aes256,salt),
  n encrypted_numeric(15,2,aes128,nosalt),
  d encrypted_date(aes256,salt,sha256),
  i encrypted_int4(aes256,nosalt),
  v encrypted_varchar(20,aes192,salt,nomac),
  ts encrypted_timestamptz(3,aes256,nosalt),
  plain text,
  arr encrypted_text(aes128,salt)[],
  p pair);
INSERT INTO t SELECT g, CASE WHEN g = 7 THEN NULL ELSE 'name ' || g % 5 END, g * 1.25, date '2024-02-27' + g, 100 - g % 4, 'v' || g,
  timestamptz '2024-01-01 00:00:00+00' + g * interval '1.5 seconds', 'plain ' || g % 3, ARRAY['e' || g, 'f'], ROW('pair ' || g, g)::pair
FROM generate_series(1, 20) g;
CREATE TABLE u (id int PRIMARY KEY, a encrypted_text(aes128,nosalt), n encrypted_numeric(10,1));
INSERT INTO u SELECT g, 'name ' || g, g FROM generate_series(0, 6) g;
CREATE INDEX ON t (a);
CREATE INDEX ON u (n);
CREATE TABLE part (k int, a encrypted_text) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (10) TO (20);
INSERT INTO part SELECT g, 'part ' || g FROM generate_series(0, 19) g;
CREATE VIEW tv AS SELECT id, a, n FROM t WHERE id < 15;
CREATE VIEW uv AS SELECT id, a FROM t UNION ALL SELECT id, a FROM u;
CREATE TABLE ruled (id int, a encrypted_text(aes256,salt));
CREATE RULE ruled AS ON INSERT TO ruled DO INSTEAD INSERT INTO u (id, a) VALUES (new.id + 500, new.a) RETURNING id, a::encrypted_text(aes256,salt);
CREATE FUNCTION volatile_enc(int) RETURNS encrypted_int4 LANGUAGE sql VOLATILE AS $$ SELECT ($1 + 0 * random())::int4::encrypted_int4 $$;
CREATE FUNCTION rows_of_t() RETURNS SETOF t LANGUAGE sql STABLE AS $$ SELECT * FROM t WHERE id < 4 ORDER BY id $$;
CREATE FUNCTION names() RETURNS TABLE (id int, a encrypted_text) LANGUAGE plpgsql AS $$
  BEGIN RETURN QUERY SELECT t.id, t.a FROM t WHERE t.id < 4 ORDER BY t.id; END $$;
CREATE FUNCTION open_cursor(c refcursor) RETURNS refcursor LANGUAGE plpgsql AS $$
  BEGIN OPEN c FOR SELECT a FROM t ORDER BY id; RETURN c; END $$;
CREATE FUNCTION concatenated() RETURNS text LANGUAGE plpgsql AS $$
  DECLARE r record; s text := '';
  BEGIN FOR r IN SELECT * FROM t ORDER BY id LIMIT 3 LOOP s := s || r.a || pg_typeof(r.a) || pg_typeof(r.n); END LOOP; RETURN s; END $$;
ANALYZE;
});

# Statements, and lines that go before them.  The last one is described, and executed.
my @statements = grep { /\S/ } split /\n\n+/, join '', <DATA>;
cmp_ok(scalar @statements, '>', 70, 'there are statements');

my ($off, $on) = map { run_all($_) } qw(off on);
my $parallel = run_all('on; SET ' . parallel_setting($node) . ' = on');
my $encrypted = 0;

foreach my $i (0 .. $#statements)
{
  my $sql = $statements[$i] =~ s/\s+/ /gr;

  $encrypted += $off->[$i]{types} =~ /encrypted_/;
  is($on->[$i]{types}, base_types($off->[$i]{types}), "types of: $sql");
  is($on->[$i]{rows},  $off->[$i]{rows},              "rows of: $sql");
  is($parallel->[$i]{rows}, $off->[$i]{rows},         "rows of, in parallel: $sql");
}
cmp_ok($encrypted, '>', 60, 'most of them show encrypted columns');

$node->stop;
done_testing();

# What psql says of each statement: {types, rows}
sub run_all
{
  my ($setting) = @_;
  my $script = "SET tde_column.transparent_results = $setting;\n";

  foreach my $text (@statements)
  {
    my @parts = split /;\s*(?:\n|$)/, $text;
    my $last  = pop @parts;

    $script .= "\\echo ==\nBEGIN;\n" . join('', map { "$_;\n" } @parts) . "\\echo --\n$last \\gdesc\n\\echo --\n$last;\nROLLBACK;\nDEALLOCATE ALL;\n";
  }
  my ($out, $err) = ('', '');
  $node->psql('postgres', $script, stdout => \$out, stderr => \$err);
  is($err, '', "no errors with the setting $setting");
  my @results = split /^==\n/m, $out;
  shift @results;
  return [ map { my (undef, $types, $rows) = split /^--\n/m; { types => $types, rows => $rows } } @results ];
}

# encrypted_numeric(15,2,aes128,...) is shown as numeric(15,2), likewise arrays.
sub base_types
{
  my ($types) = @_;
  my %names = (
    text => 'text', numeric => 'numeric', int4 => 'integer', date => 'date', varchar => 'character varying', bool => 'boolean',
    bpchar => 'character', timestamptz => 'timestamp with time zone');

  $types =~ s{\|encrypted_(\w+)(?:\(((?:\d+,)*)[^)]*\))?}{
    my ($name, $modifiers) = ($names{$1} // $1, $2 // '');
    $modifiers =~ s/(.*),$/($1)/;
    # timestamp(3) with time zone
    '|' . ($name =~ s/( with|$)/$modifiers$1/r)}gem;
  return $types;
}

__DATA__
SELECT * FROM t ORDER BY id

SELECT a FROM t WHERE id = 3

SELECT t.* FROM t WHERE a = 'name 2' ORDER BY id

TABLE u ORDER BY id

SELECT a FROM t ORDER BY a, id

SELECT a FROM t ORDER BY id

SELECT a AS renamed, n FROM t ORDER BY renamed DESC NULLS LAST, n DESC

SELECT a, n FROM t ORDER BY 1, 2 LIMIT 3 OFFSET 2

SELECT a FROM t ORDER BY a USING > , id FETCH FIRST 3 ROWS WITH TIES

SELECT a, upper(a), length(a) FROM t ORDER BY upper(a), id

SELECT id FROM t ORDER BY n DESC LIMIT 3

SELECT a, count(*) FROM t GROUP BY a ORDER BY a

SELECT a, count(*) FROM t GROUP BY a ORDER BY count(*) DESC, a

SELECT a, sum(n), max(n), min(d) FROM t GROUP BY 1 HAVING count(*) > 3 ORDER BY 1

SELECT coalesce(a, 'none') AS c, count(*) FROM t GROUP BY coalesce(a, 'none') ORDER BY c

SELECT a, i, count(*) FROM t GROUP BY ROLLUP (a, i) ORDER BY a, i, 3

SELECT a, i, grouping(a, i), count(*) FROM t GROUP BY GROUPING SETS ((a), (i), ()) ORDER BY grouping(a, i), a, i

SELECT a, i FROM t GROUP BY CUBE (a, i) ORDER BY a NULLS FIRST, i NULLS FIRST

SELECT coalesce(a, 'z'), count(*) FROM t GROUP BY GROUPING SETS ((coalesce(a, 'z')), ()) ORDER BY 1

SELECT id, a, plain FROM t GROUP BY id ORDER BY id

SELECT max(a), min(n), count(DISTINCT i) FROM t

SELECT max(i) FROM t WHERE false

SELECT DISTINCT a FROM t ORDER BY a

SELECT DISTINCT a, i FROM t ORDER BY i, a

SELECT DISTINCT ON (a) a, n, d FROM t ORDER BY a, n DESC

SELECT DISTINCT ON (i) a, n FROM t ORDER BY i, id

SELECT DISTINCT plain FROM t ORDER BY plain

SELECT id, a, row_number() OVER (ORDER BY a, id) FROM t ORDER BY id

SELECT a, n, rank() OVER (PARTITION BY a ORDER BY n DESC) FROM t ORDER BY a, n

SELECT a, lag(a) OVER (ORDER BY id), first_value(n) OVER w, max(n) OVER w FROM t WINDOW w AS (PARTITION BY i ORDER BY n) ORDER BY id

SELECT a, sum(count(*)) OVER (ORDER BY a) FROM t GROUP BY a ORDER BY a

SELECT a FROM t UNION SELECT a FROM u ORDER BY a

SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY 1

SELECT id, a FROM t INTERSECT SELECT id, a FROM t WHERE id < 5 ORDER BY id

SELECT a FROM u EXCEPT SELECT a FROM t ORDER BY 1

(SELECT a, n FROM t ORDER BY id LIMIT 2) UNION ALL (SELECT a, n FROM u ORDER BY id LIMIT 2) ORDER BY 2, 1

SELECT a FROM t UNION SELECT 'literal' ORDER BY 1

SELECT n FROM t WHERE id < 3 UNION SELECT '5' ORDER BY 1

SELECT a, unnest(ARRAY[1, 2]) AS x FROM t WHERE id < 4 ORDER BY a, x

SELECT id, unnest(arr) FROM t WHERE id < 4 ORDER BY id, 2

SELECT generate_series(1, 2), max(a) FROM t

SELECT volatile_enc(id) FROM t ORDER BY 1 LIMIT 4

WITH w AS (SELECT a, n FROM t WHERE id < 6) SELECT * FROM w ORDER BY n

WITH RECURSIVE r (id, a) AS (SELECT id, a FROM t WHERE id = 1 UNION ALL SELECT t.id, t.a FROM t JOIN r ON t.id = r.id + 1 WHERE t.id < 5) SELECT * FROM r ORDER BY id

WITH RECURSIVE r (id, a) AS (SELECT id, a FROM t WHERE id = 1 UNION ALL SELECT t.id, t.a FROM t JOIN r ON t.id = r.id + 1 WHERE t.id < 5) SELECT a FROM r UNION SELECT a FROM u ORDER BY a

WITH gone AS (DELETE FROM u WHERE id < 3 RETURNING id, a) SELECT a FROM gone ORDER BY a

WITH added AS (INSERT INTO u VALUES (900, 'x', 1) RETURNING *), more AS (SELECT * FROM t WHERE id = 1) SELECT added.a, more.n, more.a FROM added, more

WITH gone AS (DELETE FROM u WHERE id < 3 RETURNING id, a) SELECT a FROM gone UNION SELECT a FROM t WHERE id < 5 ORDER BY a

WITH gone AS (DELETE FROM u WHERE id < 3 RETURNING id, a) SELECT DISTINCT a FROM gone, LATERAL (SELECT 1 FROM gone g WHERE g.id < gone.id) l ORDER BY a

WITH gone AS (DELETE FROM u WHERE id < 4 RETURNING id, a), more AS (SELECT a, id FROM gone WHERE id > 1) SELECT a, generate_series(1, 2) FROM (WITH most AS (SELECT * FROM more) SELECT * FROM most, (WITH most AS (SELECT 1 AS one FROM gone) SELECT count(*) FROM most) c) m ORDER BY a, 2

WITH RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r WHERE id < 4), changed AS (UPDATE u SET n = 7 FROM r WHERE u.id = r.id RETURNING u.*) SELECT a, n FROM changed UNION ALL (SELECT t.a, t.n FROM t JOIN r USING (id)) ORDER BY a, n

SELECT a, n FROM (SELECT a, n FROM t ORDER BY n DESC LIMIT 5) s ORDER BY n

SELECT (SELECT a FROM u WHERE u.id = t.id), n FROM t WHERE id < 5 ORDER BY id

SELECT a FROM t WHERE EXISTS (SELECT FROM u WHERE u.a = t.a AND u.n > 1) ORDER BY id

SELECT t.a, u.n, u.a FROM t JOIN u ON t.a = u.a ORDER BY t.id

SELECT t.a, u.a FROM t FULL JOIN u ON t.id = u.id ORDER BY t.id, u.id

SELECT a, t.n, u.n FROM t JOIN u USING (a) ORDER BY t.id

SELECT t.id, l.a FROM t, LATERAL (SELECT a FROM u WHERE u.id >= t.id ORDER BY u.id LIMIT 1) l ORDER BY t.id

SELECT a FROM part ORDER BY k

SELECT a FROM part ORDER BY a LIMIT 3

SELECT a, n FROM tv ORDER BY id

SELECT * FROM uv ORDER BY id, a

SELECT * FROM rows_of_t()

SELECT * FROM names()

SELECT (p).x, (p).y, arr[1] FROM t ORDER BY id LIMIT 3

SELECT arr, p, t FROM t WHERE id < 3 ORDER BY id

SELECT array_agg(a ORDER BY id), array_agg(n ORDER BY id) FROM t

SELECT DISTINCT arr, arr[2:2] AS rest, arr[1] AS first FROM t ORDER BY arr

SELECT arr || 'x'::text, arr || ARRAY[plain], array_length(arr, 1) FROM t ORDER BY id

SELECT array_agg(arr) FROM (SELECT arr FROM t ORDER BY id) s

SELECT ARRAY(SELECT n FROM t ORDER BY id), ARRAY[a, 'x', NULL], ARRAY[[n, 1], [2, n]], '{}'::encrypted_int4[], NULL::encrypted_text(aes128)[] FROM t WHERE id IN (1, 7) ORDER BY id

SELECT a, array_agg(i ORDER BY id) AS all_of FROM t GROUP BY a UNION SELECT 'x', ARRAY[i] FROM t ORDER BY 1, 2

SELECT unnest(arr), arr FROM t ORDER BY id

SELECT '[2:3]={a,b}'::encrypted_text[], array_agg(d) OVER (ORDER BY id) FROM t ORDER BY id LIMIT 3

UPDATE t SET arr = arr || 'more'::text WHERE id < 3 RETURNING id, arr, ARRAY[n, n + 1]

SELECT CASE WHEN id > 5 THEN a ELSE 'small' END, nullif(a, 'name 1'), greatest(n, 3.5), a || '!' FROM t ORDER BY id

SELECT 'x'::encrypted_text, '12.345'::encrypted_numeric(8,1), NULL::encrypted_date(aes128)

SELECT c, p, m FROM odd ORDER BY c

SELECT DISTINCT m, p FROM odd ORDER BY p

UPDATE odd SET p = p + 1 WHERE c = 'c1' RETURNING *

VALUES ('a'::encrypted_text, 1), ('b', 2) ORDER BY 2 DESC

VALUES (1.5::encrypted_numeric(5,1)), ('2')

SELECT concatenated(), pg_typeof(a), pg_typeof(max(n)) FROM t WHERE id = 1 GROUP BY a

SELECT a, n FROM t ORDER BY id FOR UPDATE

SELECT a, n FROM t ORDER BY a, id LIMIT 2 FOR NO KEY UPDATE SKIP LOCKED

SELECT t.a, u.a FROM t JOIN u ON t.id = u.id ORDER BY t.a FOR SHARE OF t

SELECT id, a FROM t TABLESAMPLE BERNOULLI (100) ORDER BY id

INSERT INTO u VALUES (100, 'new', 7) RETURNING *

INSERT INTO u SELECT id + 200, a, n FROM t WHERE id < 3 RETURNING id, a, n, upper(a)

INSERT INTO u VALUES (3, 'again', 8) ON CONFLICT (id) DO UPDATE SET a = excluded.a, n = u.n + 1 RETURNING *

INSERT INTO part VALUES (3, 'routed') RETURNING a

UPDATE t SET a = 'changed', n = n + 1 WHERE id = 4 RETURNING a, n, d

UPDATE t SET a = u.a FROM u WHERE t.id = u.id AND t.id < 3 RETURNING t.a, u.a, u.n

UPDATE tv SET a = 'through the view' WHERE id = 2 RETURNING *

DELETE FROM u WHERE id = 5 RETURNING a, n

DELETE FROM part WHERE k = 12 RETURNING *

INSERT INTO ruled VALUES (1, 'by rule') RETURNING a

DECLARE c CURSOR FOR SELECT a, n FROM t ORDER BY id;
FETCH 3 FROM c

DECLARE c CURSOR FOR SELECT a, n FROM t ORDER BY id;
MOVE 4 FROM c;
FETCH BACKWARD 2 FROM c

DECLARE c NO SCROLL CURSOR FOR SELECT DISTINCT a FROM t ORDER BY a;
FETCH ALL FROM c

DECLARE c CURSOR FOR SELECT a, n FROM t FOR UPDATE;
MOVE 2 FROM c;
UPDATE t SET a = 'current' WHERE CURRENT OF c RETURNING id, a

DECLARE c CURSOR FOR SELECT a FROM u;
MOVE 2 FROM c;
DELETE FROM u WHERE CURRENT OF c RETURNING a

PREPARE s AS SELECT a, n FROM t ORDER BY id LIMIT 2;
EXECUTE s

PREPARE s (int, text) AS SELECT a, n FROM t WHERE id < $1 OR a = $2 ORDER BY id;
EXECUTE s (3, 'name 4')

PREPARE s AS SELECT id, a, d FROM t WHERE n = $1 AND a = $2 AND d > $3 AND i IN ($4, $5);
EXECUTE s (5, 'name 4', '2024-03-01', 100, 99)

PREPARE s AS INSERT INTO t (id, a, n, d) VALUES ($1, $2, $3, $4) RETURNING a, n, d;
EXECUTE s (300, 'inserted', 1.005, '2024-12-31')

PREPARE s AS UPDATE t SET a = $1 WHERE n BETWEEN $2 AND $3 RETURNING id, a;
EXECUTE s ('updated', 2, 4)

PREPARE s AS SELECT a, n FROM t WHERE a = ANY ($1) ORDER BY id;
EXECUTE s ('{name 1,name 2}')

PREPARE s AS SELECT coalesce(a, $1), $2 = a, a || $3 FROM t WHERE id = 7;
EXECUTE s ('missing', 'x', 'y')

PREPARE s AS SELECT a FROM t ORDER BY id LIMIT 2;
ALTER TABLE t ADD COLUMN another int;
EXECUTE s

PREPARE s AS SELECT DISTINCT a FROM t WHERE a > $1 ORDER BY a;
ALTER TABLE t ADD COLUMN another int;
EXECUTE s ('name 2')
