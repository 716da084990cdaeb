# GIN indexes of encrypted columns: the thief of the files finds nothing of values in them; entries that collide lose no row; dumps carry them; what
# works while the wallet is closed.  Which conditions use them, test/pgtap/search.sql shows.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeInstall qw(install_variant);
use TdeTest;
use Test::More;

my $tables = q{
CREATE EXTENSION pg_trgm;
SELECT tde_create_type('tsvector');
SELECT tde_create_gin_class('gin_trgm_ops');
CREATE TABLE p (id int, doc jsonb, name text, tags text[], words tsvector);
CREATE TABLE e (id int, doc encrypted_jsonb, name encrypted_text, tags encrypted_text(nosalt)[], words encrypted_tsvector);
INSERT INTO p SELECT i, jsonb_build_object('k' || i % 7, i % 100, 'list', jsonb_build_array('needle' || i)), 'Needle ' || md5(i::text), ARRAY['needle' || i % 50, 'all'],
  to_tsvector('simple', 'needle' || i % 50 || ' ' || md5(i::text)) FROM generate_series(1, 2000) i;
INSERT INTO e SELECT * FROM p;
CREATE INDEX e_doc ON e USING gin (doc);
CREATE INDEX e_path ON e USING gin (doc jsonb_path_ops) WITH (fastupdate = off);
CREATE INDEX e_name ON e USING gin (name gin_trgm_ops);
CREATE INDEX e_tags ON e USING gin (tags);
CREATE INDEX e_words ON e USING gin (words);
VACUUM ANALYZE e;
};
my @conditions = (
  q{doc @> '{"k3": 5}'}, q{doc @> '{"list": ["needle77"]}'}, q{doc ? 'k3'}, q{doc ?| '{k1,k2}'}, q{doc @? '$.k1 ? (@ > 50)'}, q{name LIKE '%abc%'}, q{name ~* 'ABC[0-9]'},
  q{name % ('Needle ' || md5('7'))}, q{tags && '{needle7,needle8}'}, q{tags @> '{needle7,all}'}, q{tags <@ '{needle7,all}'}, q{tags = '{needle7,all}'}, q{words @@ 'needle7'},
  q{words @@ '!needle7'}, q{words @@ 'needle7 & !needle8'}, q{words @@ 'needle:* & needle7'}, q{words @@ 'needle4:*'}, q{words @@ '(needle7 | needle8) & !(needle9 | needle1:*)'});
my $by_index = 'SET enable_seqscan = off;';

sub rows_of
{
  my ($node, $table, $condition, $db) = @_;
  return lines_of($node, "$by_index SELECT count(*), sum(hashint4(id)) FROM $table WHERE $condition", db => $db // 'postgres');
}

sub same_rows
{
  my ($node, $what, $db) = @_;
  is(rows_of($node, 'e', $_, $db), rows_of($node, 'p', $_, $db), "$what: $_") foreach @conditions;
  return;
}

# ---- the thief ----

my $node = tde_node('search', extension => 1);
$node->start;
lines_of($node, q{SELECT tde_wallet_create('search-passphrase')});
$node->safe_psql('postgres', $tables);
$node->safe_psql('postgres', 'CHECKPOINT');
my @indexes = qw(e_doc e_path e_name e_tags e_words);
my %file = map { $_ => $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')") } @indexes;
my %bytes = map { $_ => slurp_file($file{$_}) } @indexes;
unlike($bytes{$_}, qr/needle|Needle|list/, "$_ holds no word of a value") foreach @indexes;
my $plain = $node->safe_psql('postgres', 'CREATE INDEX p_tags ON p USING gin (tags); CHECKPOINT; SELECT pg_relation_filepath(\'p_tags\')');
like(slurp_file($node->data_dir . "/$plain"), qr/needle/, '... as a plain one does');
lines_of($node, 'CREATE TABLE a (tags encrypted_text(nosalt)[]); CREATE TABLE b (LIKE a)');
lines_of($node, "INSERT INTO $_ SELECT ARRAY['needle' || i] FROM generate_series(1, 500) i; CREATE INDEX ${_}_tags ON $_ USING gin (tags)") foreach qw(a b);
lines_of($node, 'CHECKPOINT');
my ($a, $b) = map { slurp_file($node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('${_}_tags')")) } qw(a b);
my %in_a = map { $_ => 1 } grep { !/\0/ } unpack('(a8)*', $a);
cmp_ok(scalar(keys %in_a), '>', 400, 'there are images of entries');
cmp_ok(scalar(grep { $in_a{$_} } unpack('(a8)*', $b)), '<', 5, 'two indexes of the same values have none in common');

# ---- all that changes ----

same_rows($node, 'by index');
lines_of($node, q{SELECT tde_rotate_key('default'); CALL tde_rekey_table('e')});
same_rows($node, 'after a rotation');
lines_of($node, "REINDEX INDEX CONCURRENTLY $_") foreach @indexes;
same_rows($node, 'after REINDEX CONCURRENTLY');
lines_of($node, "DELETE FROM $_ WHERE id % 3 = 0") foreach qw(p e);
lines_of($node, 'INSERT INTO e SELECT id + 5000, doc, name, tags, words FROM p WHERE id < 200; INSERT INTO p SELECT id + 5000, doc, name, tags, words FROM p WHERE id < 200');
same_rows($node, 'after changes');

# ---- a dump ----

my $dump = "$PostgreSQL::Test::Utils::tmp_check/dump.sql";
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ], 'a dump');
like(slurp_file($dump), qr/USING gin \(name public\.encrypted_text_gin_trgm_ops \(salt='?[0-9a-f]{32}/, 'has classes and salts');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
command_ok([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copy'), '-f', $dump ], 'can be restored');
same_rows($node, 'restored', 'copy');
is(lines_of($node, q{SELECT pg_get_indexdef('e_doc'::regclass)}, db => 'copy'), lines_of($node, q{SELECT pg_get_indexdef('e_doc'::regclass)}), 'with its salt');
is(lines_of($node, 'SELECT tde_refresh_types()', db => 'copy'), 0, '... and complete');

# ---- the wallet is closed ----

lines_of($node, 'CREATE TABLE hashed (LIKE e); CREATE INDEX ON hashed USING hash (name); CREATE TABLE ordered (LIKE e); CREATE INDEX ON ordered (name)');
lines_of($node, "INSERT INTO $_ TABLE e LIMIT 1000; DELETE FROM $_ WHERE id % 5 = 0") foreach qw(hashed ordered e);
lines_of($node, 'SELECT tde_wallet_close()');
my $closed = { state => 'TDE01', message => qr/wallet is not open/ };
fails_with($node, "$by_index SELECT id FROM e WHERE doc \@> '{\"k3\": 5}'", $closed, 'a search needs it');
fails_with($node, 'CREATE INDEX ON e USING gin (tags)', $closed, 'so does a build');
fails_with($node, 'REINDEX INDEX e_doc', $closed, 'and REINDEX');
is(lines_of($node, q{SELECT gin_clean_pending_list('e_doc') > 0}), 't', 'the pending list is taken over without it');
# what points to dead rows goes, and so do the rows; of a table with a btree over encrypted values neither does
lines_of($node, 'CREATE EXTENSION pageinspect; CREATE EXTENSION pgstattuple');
my $dead = q{SELECT dead_item_count + dead_tuple_count FROM (SELECT count(*) FILTER (WHERE lp_flags = 3) AS dead_item_count FROM generate_series(0, pg_relation_size('%1$s')::int / 8192 - 1) b,
  heap_page_items(get_raw_page('%1$s', b))) i, pgstattuple('%1$s')};
sub dead { return lines_of($node, sprintf $dead, $_[0]) }
cmp_ok(dead($_), '>', 0, "$_ has dead rows") foreach qw(e hashed ordered);
foreach my $vacuum ('VACUUM', 'VACUUM (PARALLEL 2)')
{
  my $said = attempt($node, "$vacuum e, hashed, ordered");
  is($said->{state}, '', "$vacuum runs without it");
  is(join(',', $said->{err} =~ /WARNING:  \w+: skipping indexes of table (\S+) with encrypted values/g), 'public.ordered', '... and leaves out btrees');
}
is(dead($_), 0, "... $_ is clean") foreach qw(e hashed);
cmp_ok(dead('ordered'), '>', 0, '... and the other one is not');
is(attempt($node, 'VACUUM (INDEX_CLEANUP on) e')->{state}, '', 'those of gin do not');
is(join(',', attempt($node, 'VACUUM FULL e, hashed')->{err} =~ /WARNING:  \w+: skipping table (\S+) with encrypted values/g), 'public.e,public.hashed', 'VACUUM FULL builds all');
is(lines_of($node, 'SELECT count(*) FROM p WHERE id = 7'), 1, 'plain tables are served');
lines_of($node, q{SELECT tde_wallet_open('search-passphrase')});
lines_of($node, 'DELETE FROM p; INSERT INTO p TABLE e');
same_rows($node, 'opened again');
$node->stop;

# ---- entries that collide ----

my $few = tde_node('few', install => install_variant('-DTDE_ENTRY_BITS=4', PostgreSQL::Test::Utils::tempdir));
$few->start;
lines_of($few, q{SET client_min_messages = warning; CREATE EXTENSION tde_column; SELECT tde_wallet_create('search-passphrase')});
$few->safe_psql('postgres', $tables);
cmp_ok($few->safe_psql('postgres', q{SELECT pg_relation_size('e_name')}), '<', length($bytes{e_name}), 'a library whose entries collide: there are few of them');
same_rows($few, 'of sixteen entries');
$few->stop;
done_testing();
