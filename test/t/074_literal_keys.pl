# A key at its end keeps nobody from storing: literals and rows' texts are encrypted when a statement is parsed, before it counts as one that
# stores.  What any role may cast shuts nobody out, and makes no version of a column's key.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $node = tde_node('literals', extension => 1, conf => "tde_column.passphrase_command = 'echo literals-passphrase'\nclient_min_messages = warning\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('literals-passphrase');
CREATE ROLE nobody LOGIN; CREATE ROLE writer LOGIN; CREATE ROLE clerk LOGIN;
REVOKE TEMP ON DATABASE postgres FROM PUBLIC;
CREATE TABLE t (id int, a encrypted_text); INSERT INTO t VALUES (1, 'x');
CREATE VIEW v AS SELECT * FROM t;
SET client_min_messages = error;
CREATE TYPE r AS (x int, y encrypted_text('3des168','key=r'));
CREATE TABLE c (id int, v r, w int); CREATE VIEW cv AS SELECT * FROM c;
GRANT ALL ON t, v, c, cv TO writer; GRANT INSERT (v) ON c TO clerk; GRANT SELECT ON t TO nobody, clerk;
GRANT CREATE ON SCHEMA public TO writer;
CREATE FUNCTION store(x text) RETURNS text LANGUAGE plpgsql AS $$DECLARE v encrypted_text := 'in a variable'; BEGIN
  INSERT INTO t VALUES (8, 'of a function'); INSERT INTO t VALUES (9, v); RETURN 'stored'; END$$});

# The key has encrypted all that it may.
sub fill
{
  my ($key) = @_;
  lines_of(
    $node, qq{ALTER TABLE tde.key_counts DISABLE TRIGGER tde_guard_counts;
    UPDATE tde.key_counts SET encryptions = 1099511627776, des_blocks = 1048576 WHERE id = (SELECT id FROM tde.keys WHERE name = '$key' AND state = 'active');
    ALTER TABLE tde.key_counts ENABLE ALWAYS TRIGGER tde_guard_counts});
  return;
}
sub version { return lines_of($node, "SELECT max(version) FROM tde.keys WHERE name = '$_[0]'") }

# ---- literals: whoever comes next makes the version, which takes 2^40 values each time ----

my @literals = (
  [ writer => q{INSERT INTO t VALUES (2, 'inserted')} ],
  [ writer => q{INSERT INTO t SELECT 2, 'selected'} ],
  [ writer => q{WITH w AS (SELECT 'of a CTE'::encrypted_text AS a) INSERT INTO t SELECT 2, a FROM w} ],
  [ writer => q{UPDATE t SET a = 'updated' WHERE id = 2} ],
  [ writer => q{INSERT INTO v VALUES (3, 'of a view')} ],
  [ writer => q{MERGE INTO t USING (SELECT 3 AS id) s ON s.id = t.id WHEN MATCHED THEN UPDATE SET a = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (3, 'new')} ],
  [ writer => q{DELETE FROM t WHERE a = 'merged'} ],
  [ writer => q{PREPARE p AS INSERT INTO t VALUES (4, 'prepared'); EXECUTE p} ],
  [ writer => q{PREPARE p (encrypted_text) AS INSERT INTO t VALUES (5, $1); EXECUTE p ('executed')} ],
  [ writer => q{SELECT store('x')} ],
  [ writer => q{DO $$DECLARE v encrypted_text; BEGIN v := 'x'; INSERT INTO t VALUES (6, v); END$$} ],
  [ writer => q{CREATE TABLE made (a encrypted_text DEFAULT 'x'); INSERT INTO made DEFAULT VALUES; DROP TABLE made} ],
  [ nobody => q{SELECT count(*) FROM t WHERE a = 'x'} ],
  [ nobody => q{SELECT count(g::text::encrypted_text) FROM generate_series(1, 100) g} ],
  [ nobody => q{DO $$DECLARE v encrypted_text; BEGIN v := 'x'; END$$} ]);
foreach my $case (@literals)
{
  my ($user, $sql) = @$case;
  fill('catalog');
  my $before = version('catalog');
  is(attempt($node, $sql, user => $user)->{state}, '', "at the end of the literals' key, $user: $sql");
  is(version('catalog'), $before + 1, 'there is one version more');
}
fill('catalog');
my $before = version('catalog');
my $wire = TdeWire->connect($node, '-c tde_column.transparent_results=off');
my $result = $wire->parse('', 'INSERT INTO t VALUES (7, $1)')->execute('', 'bound')->sync;
ok(!$result->{error}, 'a parameter that is bound') or diag(explain($result));
close $wire->{socket};
is(version('catalog'), $before + 1, 'makes a version');
is(
  lines_of($node, q{SELECT string_agg(id || a::text, ' ' ORDER BY id, a) FROM t}),
  '1x 2updated 2updated 2updated 4prepared 5executed 6x 7bound 8of a function 9in a variable',
  'all is stored, and can be read');

# An error afterwards, or a rollback, takes no version away, and makes no more of them.
fill('catalog');
$before = version('catalog');
fails_with($node, q{INSERT INTO t VALUES (1, 'x')}, { state => '42501' }, 'a statement that may not store', user => 'nobody') foreach 1 .. 3;
lines_of($node, q{BEGIN; INSERT INTO t VALUES (1, 'x'); ROLLBACK});
is(version('catalog'), $before + 1, 'makes one version and no more');

# Where none can be made, the error says so; the next of the others helps.
fill('catalog');
$before = version('catalog');
fails_with(
  $node, q{BEGIN READ ONLY; SELECT 'x'::encrypted_text},
  { state => '54000', message => qr/^version \d+ of data key "catalog" has/, detail => qr/No version can be made in a read-only transaction/, hint => qr/tde_rotate_key/ },
  'a transaction that only reads makes none');
is(version('catalog'), $before, 'and there is none');
is(attempt($node, q{INSERT INTO t VALUES (1, 'x')}, user => 'writer')->{state}, '', 'but one that writes');
is(attempt($node, q{BEGIN READ ONLY; SELECT 'x'::encrypted_text})->{state}, '', 'makes one for all');

# ---- the text of a row, which is encrypted as its type declares when it is parsed ----

my @rows = (
  [ writer => q{INSERT INTO c VALUES (1, '(1,inserted)')} ],
  [ writer => q{INSERT INTO c SELECT 2, '(2,selected)'} ],
  [ writer => q{INSERT INTO c VALUES (3, '(3,one)'), (3, '(3,two)')} ],
  [ writer => q{UPDATE c SET v = '(1,updated)' WHERE id = 1} ],
  [ writer => q{INSERT INTO cv VALUES (4, '(4,of a view)')} ],
  [ writer => q{MERGE INTO c USING (SELECT 1 AS id) s ON s.id = c.id WHEN MATCHED THEN UPDATE SET v = '(1,merged)'} ],
  [ writer => q{DO $$BEGIN INSERT INTO c VALUES (5, '(5,of a block)'); END$$} ],
  [ clerk  => q{INSERT INTO c (v) VALUES ('(6,of a clerk)')} ]);
foreach my $case (@rows)
{
  my ($user, $sql) = @$case;
  fill('r');
  $before = version('r');
  is(attempt($node, $sql, user => $user)->{state}, '', "at the end of a column's key, $user: $sql");
  is(version('r'), $before + 1, 'there is one version more');
}
is(
  lines_of($node, q{SELECT string_agg((v).x || (v).y::text, ' ' ORDER BY (v).x, (v).y) FROM c}),
  '1merged 2selected 3one 3two 4of a view 5of a block 6of a clerk',
  'all is stored, and can be read');

fill('r');
$before = version('r');
my %parsed = (
  state   => '54000',
  message => qr/^version \d+ of data key "r" has encrypted as many values as a key may$/,
  detail  => qr/^It may encrypt 1048576 blocks of 8 bytes\.  The next transaction that stores values makes another version; this one has stored none yet\.$/,
  hint    => qr/^Store a value under the key by an expression, as ROW\(\.\.\.\) is in place of a row's text, or run tde_rotate_key\(\)\.$/);
fails_with($node, $_->[1], {%parsed}, "$_->[0]: $_->[1]", user => $_->[0])
  foreach (
  [ nobody => q{SELECT '(1,x)'::r} ],
  [ nobody => q{INSERT INTO c VALUES (1, '(1,x)')} ],
  [ nobody => q{UPDATE c SET v = '(1,x)'} ],
  [ nobody => q{DELETE FROM c WHERE v::text = ('(1,x)'::r)::text} ],
  [ writer => q{WITH w AS (SELECT '(1,x)'::r AS v) INSERT INTO c SELECT 1, v FROM w} ]);
is(version('r'), $before, "whoever may not store makes no version of a column's key");
is(attempt($node, q{INSERT INTO c VALUES (1, ROW(1, 'x'))}, user => 'writer')->{state}, '', 'what the hint says');
is(version('r'), $before + 1, 'makes one');

done_testing();
