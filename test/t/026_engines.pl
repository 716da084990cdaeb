# Tables that are not simply a heap of this server: other access methods, foreign tables, partitions of all sorts.  What works on the rows
# of a table does the whole work, or refuses; it never crashes, and never says that there was nothing to do.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('engines', extension => 1, conf => "tde_column.passphrase_command = 'echo engines-passphrase'\n");
$node->start;

my $module = $node->basedir . '/heap_copy.so';
my ($server_include) = $node->config_data('--includedir-server');
system_or_bail('gcc', '-O1', '-shared', '-fPIC', "-I$server_include", '-o', $module, "$FindBin::RealBin/../lib/heap_copy.c");

lines_of(
  $node, qq{
SELECT tde_wallet_create();
CREATE FUNCTION heap_copy(internal) RETURNS table_am_handler LANGUAGE C AS '$module', 'heap_copy_handler';
CREATE ACCESS METHOD heap_copy TYPE TABLE HANDLER heap_copy;
CREATE TABLE other (id int, a encrypted_text, p text) USING heap_copy;
INSERT INTO other SELECT i, 'value ' || i, 'plain ' || i FROM generate_series(1, 100) i;
CREATE EXTENSION postgres_fdw;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE away (id int, a encrypted_text) SERVER elsewhere;
CREATE TABLE parts (id int, a encrypted_text, p text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (50);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (50) TO (200);
CREATE TABLE mixed (id int, a encrypted_text) PARTITION BY RANGE (id);
CREATE TABLE mixed1 PARTITION OF mixed FOR VALUES FROM (0) TO (50);
CREATE FOREIGN TABLE mixed2 PARTITION OF mixed FOR VALUES FROM (50) TO (200) SERVER elsewhere;
INSERT INTO parts SELECT i, 'value ' || i, 'secret ' || i FROM generate_series(1, 100) i;
INSERT INTO mixed SELECT i, 'value ' || i FROM generate_series(1, 40) i;
CREATE VIEW seen AS SELECT * FROM part1;
CREATE SEQUENCE counted;
CREATE MATERIALIZED VIEW kept AS SELECT id, a FROM part1;
CREATE INDEX place ON part1 (a);
CREATE FOREIGN TABLE plain_away (id int, p text) SERVER elsewhere;
CREATE VIEW plain_seen AS SELECT text 'p' AS p;
CREATE MATERIALIZED VIEW plain_kept AS SELECT text 'p' AS p;
ANALYZE parts; ANALYZE other});

# other access methods
is(lines_of($node, q{SELECT count(*) FROM other WHERE a > 'value 5'}), lines_of($node, q{SELECT count(*) FROM generate_series(1, 100) i WHERE 'value ' || i > 'value 5'}),
  'a table of another access method is read');
lines_of($node, 'SELECT tde_rotate_key()');
fails_with(
  $node, q{CALL tde_rekey_table('other')},
  { state => '0A000', message => qr/^cannot re-encrypt table "other"$/, detail => qr/^Its access method "heap_copy" is not heap\.$/,
    hint => qr/^Run ALTER TABLE public\.other SET ACCESS METHOD heap/ }, 'it is not re-encrypted');
is(lines_of($node, q{SELECT version, "column", count FROM tde_key_usage('other') WHERE object_type = 'table'}), '1|a|100', 'where keys are used in it is told');
fails_with($node, q{CALL tde_wipe_free_space('other')}, { state => '0A000', message => qr/is not stored as a heap/ }, 'it is not wiped');
fails_with($node, q{CALL tde_encrypt_column('other', 'p', online => true)}, { state => '0A000', message => qr/access method is not heap/ }, 'nor converted online');
lines_of($node, q{
CREATE TABLE midway (id int, p text, tde_convert_1 encrypted_text);
CREATE TRIGGER "~tde_convert_1" BEFORE INSERT OR UPDATE ON midway FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'p', 'tde_convert_1');
ALTER TABLE midway ENABLE ALWAYS TRIGGER "~tde_convert_1"; INSERT INTO midway VALUES (1, 'x'); ALTER TABLE midway SET ACCESS METHOD heap_copy});
fails_with($node, q{CALL tde_internal.tde_convert_all_rows('midway', 'p', 'tde_convert_1', 100, 0)},
  { state => '0A000', message => qr/^table "midway" is not stored as a heap$/ }, 'one that has become such a table meanwhile is no longer converted');
is(attempt($node, q{CALL tde_encrypt_column('other', 'p'); SELECT count(*) FROM other WHERE p LIKE 'plain %'})->{out}, '100', 'offline it is');
is(attempt($node, q{ALTER TABLE other SET ACCESS METHOD heap; CALL tde_rekey_table('other')})->{state}, '', 'the way that the hint names works');
is(lines_of($node, q{VACUUM other; SELECT version FROM tde_key_usage('other') WHERE object_type = 'table' AND "column" = 'a'}), '2', 'and re-encrypts it');

# what is not here, or no table
foreach my $relation ('away', 'seen', 'counted')
{
  fails_with($node, "CALL tde_rekey_table('$relation')",     { state => '42809', message => qr/^cannot re-encrypt relation/ }, "re-encrypting $relation");
  fails_with($node, "SELECT * FROM tde_key_usage('$relation')", { state => '42809', message => qr/^relation "$relation" stores no values here$/ }, "keys used in $relation");
  fails_with($node, "CALL tde_wipe_free_space('$relation')", { state => '42809', message => qr/^"$relation" is not a table of this server$/ }, "wiping $relation");
}
fails_with($node, q{CALL tde_rekey_table('kept')}, { state => '42809', message => qr/^cannot re-encrypt relation "kept"$/, hint => qr/REFRESH/ }, 're-encrypting a materialized view');
fails_with($node, q{CALL tde_rekey_table('place')}, { state => '42809' }, 're-encrypting an index');
fails_with($node, qq{CALL tde_wipe_free_space('$_')}, { state => '42809' }, "wiping $_") foreach 'kept', 'place';
is(lines_of($node, qq{SELECT DISTINCT "column" FROM tde_key_usage('$_') WHERE object LIKE 'public.$_'}), 'a', "keys used in $_") foreach 'kept', 'place';
foreach my $relation ('plain_away', 'plain_seen', 'plain_kept', 'place')
{
  foreach my $online ('false', 'true')
  {
    fails_with($node, "CALL tde_encrypt_column('$relation', '" . ($relation eq 'place' ? 'a' : 'p') . "', online => $online)",
      { state => '42809', message => qr/^"$relation" is not a table/ }, "encrypting a column of $relation, online $online");
  }
}
my $other = session($node);
my $temp = session_try($other, q{CREATE TEMP TABLE passing (id int, a encrypted_text, p text); INSERT INTO passing VALUES (1, 'a', 'p'); SELECT 'passing'::regclass::oid})->{out};
foreach my $call ("CALL tde_rekey_table($temp)", "CALL tde_wipe_free_space($temp)",
  "CALL tde_encrypt_column($temp, 'p')", "CALL tde_encrypt_column($temp, 'p', online => true)", "CALL tde_decrypt_column($temp, 'a')")
{
  (my $what = $call) =~ s/$temp/a temporary table of another session/;
  fails_with($node, $call, { state => '0A000', message => qr/temporary tables of other sessions/ }, $what);
}
is(lines_of($node, "SELECT key_id, object_type, count FROM tde_key_usage($temp)"), '|table|', 'keys used in it: not known, as for all that cannot be read');
$other->quit;
fails_with($node, q{SELECT * FROM tde_key_usage(0)}, { state => '42P01' }, 'keys used in nothing');
fails_with($node, q{CALL tde_wipe_free_space('mixed')},
  { state => '42809', message => qr/^"mixed2" is not a table of this server$/, detail => qr/^It is a partition of table public\.mixed\.$/ }, 'wiping a table with a foreign partition');
like(attempt($node, q{CALL tde_rekey_table('mixed')})->{err}, qr/WARNING: .*skipping foreign table "mixed2"\n.*table "mixed": 40 rows re-encrypted/s,
  'the partitions that are here are re-encrypted, the others named');

# partitions: the whole work
my $notice = attempt($node, q{CALL tde_encrypt_column('parts', 'p')})->{err};
like($notice, qr/about 100 rows and [1-9]\d* (bytes|kB)\./, 'what a conversion announces of a partitioned table is its partitions\' size');
lines_of($node, q{CREATE TABLE old (p text) PARTITION BY RANGE (p); CREATE TABLE old1 PARTITION OF old FOR VALUES FROM ('a') TO ('z');
  INSERT INTO old SELECT 'erasable ' || i FROM generate_series(1, 100) i; DELETE FROM old; CHECKPOINT});
my $file = $node->data_dir . '/' . lines_of($node, q{SELECT pg_relation_filepath('old1')});
like(read_bytes($file), qr/erasable 77/, 'removed rows are in the file');
is(attempt($node, q{CALL tde_wipe_free_space('old'); CHECKPOINT})->{state}, '', 'wiping a partitioned table');
unlike(read_bytes($file), qr/erasable/, 'wipes its partitions');

# A modifier that is wrong is told before anything else.
my $wrong = attempt($node, q{CREATE TABLE plain (p text); CALL tde_encrypt_column('plain', 'p', 'aes257')});
is($wrong->{state}, '22023', 'an unknown cipher') or diag($wrong->{err});
unlike($wrong->{err}, qr/rewriting/, 'and no rewriting is announced');

done_testing();
