# Where keys are used, and dropping the versions that are not used any more.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('key_usage', extension => 1, conf => "max_prepared_transactions = 2\n");
$node->start;
lines_of($node, "SELECT tde_wallet_create('usage-passphrase'), tde_create_key('one')");

# All places, by the key's slot.
sub usage
{
  my ($where, $relation) = @_;
  $relation = $relation ? "'$relation'" : '';
  return lines_of($node,
    qq{SELECT kind, version, object_type, object, "column", count FROM tde_key_usage($relation) WHERE $where ORDER BY 1, 2, 3, 4, 5, 6});
}

sub drop_fails
{
  my ($arguments, $expected, $name) = @_;
  return fails_with($node, "SELECT tde_drop_key_version($arguments)", { state => '2BP01', %$expected }, $name);
}

is(usage('true'), '', 'a new database uses no key');

# ---- tables ----

lines_of(
  $node, q{
CREATE TABLE card (id int PRIMARY KEY, a encrypted_text(aes256,salt,'key=one'), gone encrypted_text('key=one'), n encrypted_numeric(9,2,nomac));
INSERT INTO card VALUES (1, 'x', 'x', 1), (2, repeat('long ', 10000), 'x', NULL), (3, NULL, 'x', 3), (4, 'z', 'x', 4);
ALTER TABLE card DROP gone;
DELETE FROM card WHERE id = 4;
CREATE TYPE pair AS (i int, e encrypted_text);
CREATE DOMAIN secret AS encrypted_text('key=one');
CREATE TYPE pairs AS (list pair[], d secret);
CREATE TYPE span AS RANGE (subtype = encrypted_int4);
CREATE TABLE nested (id int, arr encrypted_text('key=one')[], c pairs, r span, mr span_multirange, domains secret[]);
INSERT INTO nested VALUES (1, '{a,NULL,b}', ROW(ARRAY[(1, 'p'), (2, NULL), (3, 'q')]::pair[], 'd'), span('1', '5'),
  span_multirange(span('1', '2'), span('3', NULL), span('4', '4')), '{x,y}'), (2, NULL, NULL, 'empty', '{}', '{}');
CREATE TABLE big (arr encrypted_text('key=one')[]);
INSERT INTO big SELECT array_agg('element ' || i) FROM generate_series(1, 1000) i;
CREATE MATERIALIZED VIEW copied AS SELECT id, a FROM card;
CREATE TABLE parts (id int, a encrypted_text('key=one')) PARTITION BY LIST (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 'x'), (2, 'y'), (2, 'z');
});
lines_of($node, 'SELECT tde_wallet_close()');
is(
  usage('slot >= 0'), 'mac|1|materialized view|public.copied|a|2
mac|1|table|public.big|arr|1000
mac|1|table|public.card|a|2
mac|1|table|public.nested|arr|2
mac|1|table|public.nested|c|1
mac|1|table|public.nested|c|2
mac|1|table|public.nested|domains|2
mac|1|table|public.parts_1|a|1
mac|1|table|public.parts_2|a|2
nomac|1|table|public.card|n|2', 'tables, with arrays, composites and domains, without dropped columns and dead rows; the wallet is closed');
is(usage('slot = -1'), "catalog|1|table|public.nested|mr|3\ncatalog|1|table|public.nested|r|2", 'ranges and multiranges');
is(usage('true', 'parts'), "mac|1|table|public.parts_1|a|1\nmac|1|table|public.parts_2|a|2", 'one table, with its partitions');
is(usage('true', 'parts_2'), 'mac|1|table|public.parts_2|a|2', 'one partition');
lines_of($node, "SELECT tde_wallet_open('usage-passphrase')");

# ---- who may see what ----

my $old = session($node);
session_try($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM card');
lines_of($node, 'DELETE FROM parts WHERE id = 1');
is(usage('true', 'parts_1'), 'mac|1|table|public.parts_1|a|1', 'a deleted row counts as long as an older transaction can see it');
session_try($old, 'COMMIT');
is(usage('true', 'parts_1'), '', 'and no longer');
session_try($old, "BEGIN; INSERT INTO parts VALUES (1, 'uncommitted')");
is(usage('true', 'parts_1'), 'mac|1|table|public.parts_1|a|1', 'a row counts before it is committed');
session_try($old, 'ROLLBACK');
is(usage('true', 'parts_1'), '', 'and not if it never is');
lines_of($node, "BEGIN; INSERT INTO parts VALUES (1, 'prepared'); PREPARE TRANSACTION 'p'");
is(usage('true', 'parts_1'), 'mac|1|table|public.parts_1|a|1', 'a row of a prepared transaction counts');
lines_of($node, "ROLLBACK PREPARED 'p'");
lines_of($node, "CREATE TABLE twice (a encrypted_text(nosalt)); INSERT INTO twice VALUES ('x'), ('x')");
is(attempt($node, 'CREATE UNIQUE INDEX CONCURRENTLY ON twice (a)')->{state}, '23505', 'an index whose build fails');
is(usage('true', 'twice'), 'mac|1|table|public.twice|a|2', 'and is left without a page');
lines_of($node, 'DROP TABLE twice');
session_try($old, "CREATE TEMP TABLE other AS SELECT a FROM card");
like(usage('key_id IS NULL'), qr/^\|\|table\|pg_temp_\d+\.other\|\|$/, "another session's temporary table cannot be read");
session_try($old, "DROP TABLE other");

# ---- catalogs ----

lines_of(
  $node, q{
SET client_min_messages = error;
CREATE TABLE place (a encrypted_text('key=one') DEFAULT 'x', b encrypted_text('key=one') CHECK (b <> 'x'), id int);
INSERT INTO place SELECT 'a' || i % 3, 'b' || i % 3, i FROM generate_series(1, 60) i;
CREATE STATISTICS place_s ON a, b FROM place;
ANALYZE place;
ALTER TABLE place ADD fast encrypted_text('key=one') DEFAULT 'fast';
CREATE INDEX place_i ON place (id) WHERE a > 'm';
CREATE VIEW place_v AS SELECT id FROM place WHERE a IN ('x', 'y');
CREATE MATERIALIZED VIEW place_m AS WITH q AS (SELECT id FROM place WHERE a = 'x') SELECT count(*) FROM q;
CREATE RULE place_r AS ON UPDATE TO place WHERE old.a = 'x' DO INSTEAD NOTHING;
CREATE POLICY place_p ON place USING (a = 'x') WITH CHECK (b = 'x' OR b = 'y');
CREATE TRIGGER place_t BEFORE UPDATE ON place FOR EACH ROW WHEN (new.a = 'x') EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE FUNCTION place_f(p encrypted_text DEFAULT 'x') RETURNS SETOF encrypted_text BEGIN ATOMIC SELECT 'x'::encrypted_text; SELECT 'y'::encrypted_text; END;
CREATE DOMAIN place_d AS encrypted_text CHECK (value <> 'x');
CREATE TABLE place_range (a encrypted_int4('key=one')) PARTITION BY RANGE (a);
CREATE TABLE place_range_1 PARTITION OF place_range FOR VALUES FROM (1) TO (MAXVALUE);
CREATE TABLE place_list (a encrypted_int4('key=one')) PARTITION BY LIST (a);
CREATE TABLE place_list_1 PARTITION OF place_list FOR VALUES IN (1, 2);
});
is(
  usage(q{slot = -1 AND object LIKE '%place%'}), 'catalog|1|default|public.place|a|1
catalog|1|default|public.place|fast|1
catalog|1|domain constraint|place_d_check on public.place_d||1
catalog|1|function|public.place_f(pg_catalog.encrypted_text)||3
catalog|1|index definition|public.place_i||1
catalog|1|materialized view|public.place_m||1
catalog|1|policy|place_p on public.place||3
catalog|1|rule|place_r on public.place||1
catalog|1|table constraint|place_b_check on public.place||1
catalog|1|trigger|place_t on public.place||1
catalog|1|view|public.place_v||2', 'constants of stored expressions');
is(
  lines_of(
    $node, q{SELECT object_type, object, "column", count > 0 FROM tde_key_usage('place') WHERE slot = 1
             UNION ALL SELECT object_type, object, "column", count > 0 FROM tde_key_usage() WHERE object_type = 'partition bound' ORDER BY 1, 2, 3}),
  'fast default|public.place|fast|t
partition bound|public.place_list_1||t
partition bound|public.place_range_1||t
statistics|public.place|a|t
statistics|public.place|b|t
statistics|public.place_s||t
table|public.place|a|t
table|public.place|b|t
table|public.place|fast|t', 'statistics, extended ones, fast defaults and partition bounds');
session_try($old, "BEGIN; CREATE VIEW uncommitted AS SELECT id FROM place WHERE a = 'x'");
like(usage('slot = -1'), qr/^catalog\|1\|row of pg_rewrite\|\d+\|\|1$/m, 'a view counts before it is committed');
session_try($old, 'ROLLBACK');

# ---- indexes ----

# Long values make many pages of few entries, and so many pivots.
lines_of(
  $node, q{
CREATE TABLE indexed (id int, a encrypted_text('key=one'), i encrypted_int4('key=one'));
INSERT INTO indexed SELECT i, lpad(i::text, 300, '-'), i FROM generate_series(1, 2000) i;
CREATE INDEX indexed_a ON indexed (id, a) INCLUDE (i);
CREATE INDEX indexed_h ON indexed USING hash (a);
});
my $leaves = lines_of($node, q{SELECT count FROM tde_key_usage('indexed') WHERE object_type = 'index' AND "column" = 'i'});
is($leaves, '2000', 'the leaves of an index');
is(lines_of($node, q{SELECT count(*) FROM tde_key_usage('indexed') WHERE object = 'public.indexed_h'}), '0', 'a hash index holds no values');

# Under a new version: the rows first; what stays in the index are its pivots.
is(lines_of($node, "SELECT tde_rotate_key('one')"), '2', 'a new version');
lines_of($node, q{UPDATE indexed SET a = a || '', i = i + 0});
lines_of($node, 'VACUUM indexed');
my $usage = lines_of($node, q{SELECT version, object_type, "column", count FROM tde_key_usage('indexed') ORDER BY 1, 2, 3});
unlike($usage, qr/^1\|table/m,         'no row is under the old version');
unlike($usage, qr/^1\|index\|i\|/m,    'nor a leaf of the index');
like($usage, qr/^2\|table\|a\|2000$/m, 'all rows are under the new one');
lines_of(
  $node, q{
DROP TABLE indexed;
CREATE TABLE pivots (a encrypted_text('key=one'));
INSERT INTO pivots SELECT lpad(i::text, 300, '-') FROM generate_series(1, 2000) i;
CREATE INDEX pivots_a ON pivots (a);
SELECT tde_rotate_key('one');
UPDATE pivots SET a = a || '';
VACUUM pivots;
});
$usage = lines_of($node, q{SELECT version, object_type, count FROM tde_key_usage('pivots') ORDER BY 1, 2, 3});
unlike($usage, qr/^2\|table/m, 'after an update and VACUUM no row is under the old version');
like($usage, qr/^2\|index\|[1-9]/m, 'but pivots of the index are');
lines_of($node, 'REINDEX TABLE pivots');
is(lines_of($node, q{SELECT count(*) FROM tde_key_usage('pivots') WHERE version = 2}), '0', 'until it is built anew');

# What sums up blocks: the two bounds of each range, of ranges that are gone, too.
lines_of(
  $node, q{
SELECT tde_create_key('sum');
CREATE TABLE summed (id int, i encrypted_int4('key=sum'), arr text[]);
INSERT INTO summed SELECT g, nullif(g, 0) FROM generate_series(0, 2000) g;
CREATE INDEX summed_b ON summed USING brin (id, i) WITH (pages_per_range = 1);
});
my $pages = lines_of($node, q{SELECT pg_relation_size('summed') / current_setting('block_size')::int});
my $in_summaries = q{SELECT version, "column", count FROM tde_key_usage('summed') WHERE object = 'public.summed_b' ORDER BY 1, 2};
is(lines_of($node, $in_summaries), '1|i|' . 2 * $pages, 'a BRIN index has two values for each range');
lines_of($node, q{SELECT tde_rotate_key('sum'); UPDATE summed SET i = i + 0});
lines_of($node, 'VACUUM summed');
is(lines_of($node, q{SELECT count(*) FROM tde_key_usage('summed') WHERE object_type = 'table' AND version = 1}), '0', 'no row is under the old version');
like(lines_of($node, $in_summaries), qr/^1\|i\|\d+\n2\|i\|\d+$/, 'summaries keep bounds that went');
drop_fails("'sum', 1", { detail => qr/index public\.summed_b, column i: \d+ values/ }, 'and so the version');
lines_of($node, 'DELETE FROM summed');
lines_of($node, 'VACUUM summed');
is(lines_of($node, q{SELECT pg_relation_size('summed')}), '0', 'the table has no blocks any more');
like(lines_of($node, $in_summaries), qr/^1\|i\|\d+$/m, 'those of ranges that are gone stay, since the table may grow again');
lines_of($node, 'REINDEX INDEX summed_b');
is(lines_of($node, $in_summaries), '', 'until the index is built anew');
lines_of($node, 'DROP TABLE summed');

lines_of($node, 'CREATE TABLE other_methods (arr encrypted_text[]); CREATE OPERATOR CLASS other_ops FOR TYPE encrypted_text[] USING gin AS OPERATOR 1 && (anyarray, anyarray), FUNCTION 2 ginarrayextract(anyarray, internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal, internal), FUNCTION 4 ginarrayconsistent(internal, smallint, anyarray, integer, internal, internal, internal, internal),
  STORAGE encrypted_text; CREATE INDEX other_g ON other_methods USING gin (arr other_ops)');
is(usage('key_id IS NULL'), '||index|public.other_g||', 'an index of another access method cannot be read');
drop_fails("'one', 2", { detail => qr/^index public\.other_g: cannot be read, so which keys it uses is not known$/ }, 'that is reason to keep a key');
lines_of($node, 'DROP INDEX other_g');

# ---- dropping a version ----

fails_with(
  $node, "SELECT tde_drop_key_version('one', 3)", {
    state   => '55006',
    message => qr/^cannot drop version 3 of key "one" because it is the active one$/,
    detail  => qr/^New values with MAC are encrypted under it\.$/,
    hint    => qr/^Make a newer version first: SELECT tde_rotate_key\('one'\);$/
  },
  'the active version');
fails_with($node, "SELECT tde_drop_key_version('one', 4)", { state => '42704', message => qr/^key "one" has no version 4$/ }, 'no such version');
fails_with($node, "SELECT tde_drop_key_version('two', 1)", { state => '42704', message => qr/^key "two" does not exist$/ }, 'no such key');
fails_with($node, "SELECT tde_drop_key_version(NULL, 1)", { state => '55006', message => qr/^cannot drop version 1 of key "default"/ }, 'the default key');
fails_with($node, "SELECT tde_drop_key_version('one', NULL)", { state => '22004' }, 'no version');
fails_with($node, "BEGIN READ ONLY; SELECT tde_drop_key_version('one', 2)", { state => '25006' }, 'a read-only transaction');
drop_fails(
  "'one', 1",
  {
    message => qr/^cannot drop version 1 of key "one" because it is still used$/,
    detail  => qr/^fast default public\.place, column fast: 1 value\n(?:.*\n){9}and \d+ other places$/,
    hint    => qr/^Use CALL tde_rekey_table/
  },
  'a version that is used');
lines_of($node, q{BEGIN; INSERT INTO parts VALUES (1, 'prepared'); PREPARE TRANSACTION 'p'});
fails_with(
  $node,
  "SELECT tde_drop_key_version('one', 2)",
  { state => '55006', detail => qr/^The transaction prepared as "p" may have stored values under it\.$/ },
  'while there is a prepared transaction');
lines_of($node, "ROLLBACK PREPARED 'p'");

# Version 2 is not used any more.
lines_of($node, "BEGIN; SELECT tde_drop_key_version('one', 2); ROLLBACK");
is(lines_of($node, "SELECT version FROM tde.keys WHERE name = 'one' ORDER BY 1"), "1\n2\n3", 'rolled back, the version is there again');
lines_of($node, "BEGIN; SAVEPOINT s; SELECT tde_drop_key_version('one', 2); ROLLBACK TO s; SELECT tde_drop_key_version('one', 2); COMMIT");
is(lines_of($node, "SELECT version FROM tde.keys WHERE name = 'one' ORDER BY 1"), "1\n3", 'committed, it is gone');
is(lines_of($node, 'SELECT count(DISTINCT a) FROM pivots'), '2000', 'and everything can be read');

# ---- transactions on their way ----

# A session that has not yet learned of the new version goes on with the old one; dropping waits for it.
lines_of($node, q{CREATE TABLE late (a encrypted_text('key=one')); SELECT tde_create_key('late'); ALTER TABLE late ALTER a TYPE encrypted_text('key=late')});
session_try($old, q{BEGIN; INSERT INTO late VALUES ('before')});
lines_of($node, "SELECT tde_rotate_key('late')");
my $dropper = session($node);
$dropper->query_until(qr/asking/, "\\echo asking\nSELECT tde_drop_key_version('late', 1);\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'virtualxid' AND NOT granted")
  or die 'tde_drop_key_version() does not wait';
session_try($old, q{INSERT INTO late VALUES ('after'); COMMIT});
my $result = session_try($dropper, 'SELECT 1');
like($result->{err}, qr/table public\.late, column a: \d values?$/m, 'dropping waits for the transactions that are running, and sees what they did');
lines_of($node, q{UPDATE late SET a = a || ''});
is(session_try($dropper, "SELECT tde_drop_key_version('late', 1)")->{state}, '', 'then it goes');
is(lines_of($node, "SELECT a FROM late ORDER BY a"), "after\nbefore", 'and nothing is lost');

# Tables cannot be dropped or truncated until the transaction ends, but written to.
lines_of($node, "SELECT tde_rotate_key('late'); UPDATE late SET a = a || ''");
session_try($dropper, "BEGIN; SELECT tde_drop_key_version('late', 2)");
fails_with($node, "SET lock_timeout = '100ms'; TRUNCATE card", { state => '55P03' }, 'TRUNCATE waits for the end of the transaction');
is(attempt($node, q{UPDATE late SET a = a || ''})->{state}, '', 'UPDATE does not');
session_try($dropper, 'COMMIT');
is(lines_of($node, "SELECT version FROM tde.keys WHERE name = 'late'"), '3', 'one version is left');

# A statement that was parsed before holds a literal under the old version of the catalog's key.
session_try($old, q{PREPARE literal AS SELECT count(*) FROM late WHERE a = 'before'; EXECUTE literal});
session_try($old, q{PREPARE constant AS SELECT 'constant'::encrypted_text; EXECUTE constant});
lines_of(
  $node, q{
SET client_min_messages = error;
DROP TABLE place, nested, place_range, place_list CASCADE;
DROP FUNCTION place_f;
DROP DOMAIN place_d;
CREATE VIEW kept AS SELECT id FROM card WHERE a = 'x';
SELECT tde_rotate_key('catalog');
});
drop_fails("'catalog', 1", { detail => qr/^view public\.kept: 1 value$/ }, 'the key of literals');
lines_of($node, q{CREATE OR REPLACE VIEW kept AS SELECT id FROM card WHERE a = 'x'});
is(attempt($node, "SELECT tde_drop_key_version('catalog', 1)")->{state}, '', 'goes when the view was made anew');
is(lines_of($node, 'SELECT * FROM kept'),                     '1',        'the view works');
is(session_try($old, 'EXECUTE literal')->{out},               '1',        'and so does a statement that was prepared before');
is(session_try($old, 'EXECUTE constant')->{out},              'constant', 'also one that reads no table');

# ---- damaged values ----

lines_of($node, "SELECT tde_rotate_key('late'); UPDATE late SET a = a || ''; CREATE TABLE blob (a bytea); INSERT INTO blob VALUES ('\\x00ff00ff00')");
my $type = lines_of($node, "SELECT 'encrypted_text'::regtype::oid");
lines_of($node, "UPDATE pg_attribute SET atttypid = $type WHERE attrelid = 'blob'::regclass AND attname = 'a'");
is(usage('key_id IS NULL'), '||table|public.blob|a|1', 'a value without a header is counted, too');
drop_fails("'late', 3", { detail => qr/^table public\.blob, column a: 1 damaged value$/ }, 'and may have been under the version');
lines_of($node, 'DROP TABLE blob');

# ---- how far it is ----

my $locker = session($node);
my $looker = session($node);
lines_of($node, "CREATE TABLE held (a encrypted_text); INSERT INTO held VALUES ('x')");
session_try($locker, 'BEGIN; LOCK TABLE held');
$looker->query_until(qr/asked/, "\\echo asked\nSELECT count(*) > 0 FROM tde_key_usage();\n");
$node->poll_query_until('postgres',
  q{SELECT count(*) = 1 FROM tde.progress WHERE phase = 'looking for keys' AND database_name = 'postgres' AND table_id IS NULL
    AND table_name IS NULL AND blocks_done = 0 AND started < now() - interval '5.1 s'})
  or die 'the view does not show it';
session_try($locker, 'COMMIT');
like(session_try($looker, 'SELECT 1')->{err}, qr/NOTICE: .*looking for keys, \d+ %/, 'every few seconds it says how far it is');
is(lines_of($node, 'SELECT count(*) FROM tde.progress'), '0', 'the view shows it no longer');
$_->quit foreach $locker, $looker;
lines_of($node, 'DROP TABLE held');

# ---- who may ----

lines_of($node, 'CREATE ROLE clerk LOGIN');
fails_with($node, 'SELECT * FROM tde_key_usage()', { state => '42501' }, 'not everybody may look', user => 'clerk');
fails_with($node, "SELECT tde_drop_key_version('late', 3)", { state => '42501' }, 'nor drop', user => 'clerk');
lines_of($node, 'GRANT EXECUTE ON FUNCTION tde_key_usage, tde_drop_key_version TO clerk');
is(attempt($node, 'SELECT count(*) > 0 FROM tde_key_usage()', user => 'clerk')->{out}, 't', 'but who was granted it');
is(attempt($node, "SELECT tde_drop_key_version('late', 3)", user => 'clerk')->{state}, '', 'likewise');

$_->quit foreach $old, $dropper;
$node->stop;
done_testing();
