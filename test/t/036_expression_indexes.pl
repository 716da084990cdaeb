# Indexes over expressions of encrypted columns in the life of a database: files, dumps, rotation, conversions, checks, a closed wallet.
# What they are and which queries use them: test/pgtap/expression_indexes.sql.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('indexed', extension => 1, conf => "tde_column.passphrase_command = 'echo indexed-passphrase'\nautovacuum = off\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('indexed-passphrase');
CREATE EXTENSION amcheck;
CREATE TABLE u (id int, email encrypted_text(salt), ok encrypted_bool);
INSERT INTO u SELECT g, 'Secretive' || g || '@X.org', g % 10 = 0 FROM generate_series(1, 2000) g;
CREATE UNIQUE INDEX u_lower ON u (lower(email));
CREATE INDEX CONCURRENTLY u_left ON u (left(email, 12)) WHERE ok;
CREATE INDEX u_hash ON u USING hash (upper(email))});

sub lookup
{
  my ($database) = @_;
  return join ' ', map { lines_of($node, "SET enable_seqscan = off; SELECT id FROM u WHERE $_", db => $database) }
    q{lower(email) = 'secretive7@x.org'}, q{ok AND left(email, 12) = 'Secretive100'}, q{upper(email) = 'SECRETIVE9@X.ORG'};
}

sub in_index
{
  my ($index) = @_;
  return lines_of($node, "CHECKPOINT; SELECT position('ecretive'::bytea IN pg_read_binary_file(pg_relation_filepath('$index'))) > 0");
}

is(lookup('postgres'), "7 100\n1000 9", 'rows are found');
is(in_index($_), 'f', "$_ has no plaintext") foreach qw(u_lower u_left u_hash);
is(lines_of($node, q{SET enable_seqscan = off; EXPLAIN (COSTS off) SELECT id FROM u WHERE upper(email) = 'X'}) =~ /u_hash/, 1, 'a hash index is used');

# What an index has is what its expression gives again.
my $checks = q{SELECT bt_index_check(i, true) FROM unnest('{u_lower,u_left}'::regclass[]) i};
is(attempt($node, $checks)->{state}, '', 'amcheck finds each row in the index');
lines_of($node, 'REINDEX TABLE u; VACUUM u');
is(attempt($node, $checks)->{state}, '', 'also after REINDEX');

# What is computed has the version of the key that it is computed of, so that it is the same again after a rotation; of several, the latest.
my @pg_amcheck = ('pg_amcheck', '--heapallindexed', '--parent-check', 'postgres');
lines_of($node, q{
CREATE TABLE pairs (id int, a encrypted_text, b encrypted_text, glued encrypted_text GENERATED ALWAYS AS (a || b) STORED);
CREATE INDEX pairs_both ON pairs ((a || b)); CREATE INDEX pairs_some ON pairs (lower(a)) WHERE id > 0;
INSERT INTO pairs SELECT g, 'a' || g, 'b' || g FROM generate_series(1, 100) g});

# Keys are replaced, and the old version goes.
lines_of($node, q{SELECT tde_rotate_key()});
$node->command_ok(\@pg_amcheck, 'pg_amcheck after a rotation');
lines_of($node, q{UPDATE pairs SET a = 'c' || id WHERE id <= 50; INSERT INTO pairs SELECT g, 'a' || g, 'b' || g FROM generate_series(101, 150) g; UPDATE pairs SET id = id + 1});
$node->command_ok(\@pg_amcheck, 'and among rows of two versions');
lines_of($node, q{REINDEX TABLE pairs; CREATE INDEX pairs_new ON pairs (upper(b))});
$node->command_ok(\@pg_amcheck, 'also in indexes made then');
is(lines_of($node, q{SELECT count(*) FROM pairs WHERE glued::text <> a || b OR lower(a) <> lower(a::text)}), '0', 'with the right values');
my $usage = q{SELECT object, count(DISTINCT key_id), sum(count) FROM tde_key_usage() WHERE object LIKE 'public.pairs%' AND object_type = 'index' GROUP BY 1 ORDER BY 1};
like(lines_of($node, $usage), qr/^public.pairs_new\|2\|150$/m, 'of both versions');
lines_of($node, q{CALL tde_rekey_table('pairs'); VACUUM (INDEX_CLEANUP on) pairs; REINDEX TABLE pairs});
$node->command_ok(\@pg_amcheck, 'after re-encryption');
unlike(lines_of($node, $usage), qr/\|2\|/, 'of one version then');
lines_of($node, q{INSERT INTO u VALUES (3000, 'Secretive3000@X.org', true)});
fails_with($node, q{INSERT INTO u VALUES (3000, 'SECRETIVE5@X.org', true)}, { state => '23505' }, 'UNIQUE under two versions of a key');
like(lines_of($node, q{SELECT string_agg(object::text, ' ') FROM tde_key_usage()}), qr/u_lower/, 'key usage knows the index');
lines_of($node, q{CALL tde_rekey_table('u')});
lines_of($node, q{VACUUM (INDEX_CLEANUP on) u; REINDEX TABLE u});
is(lookup('postgres'), "7 100\n1000 9", 'after a rotation');
is(attempt($node, $checks)->{state}, '', 'which amcheck likes');
is(lines_of($node, q{SELECT count(DISTINCT key_id) FROM tde_key_usage() WHERE object = 'public.u_lower'}), '1', 'one version is left in an index');

# A dump with ciphertext as text, restored into another database.
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-t', 'u', 'postgres' ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->safe_psql('restored', 'CREATE EXTENSION tde_column');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ], 'restored');
is(lookup('restored'), "7 100\n1000 9", 'finds the same');
like(lines_of($node, q{SET enable_seqscan = off; EXPLAIN (COSTS off) SELECT id FROM u WHERE lower(email) = 'x'}, db => 'restored'), qr/Index Cond.*\n?/, 'by the index');

# A crash.
$node->stop('immediate');
$node->start;
is(lookup('postgres'), "7 100\n1000 9", 'after a crash');

# A plain table with such indexes is encrypted, and is decrypted when they are dropped.
lines_of($node, q{CREATE TABLE p (id int, email text, ok bool); INSERT INTO p SELECT g, 'Secretive' || g, g = 5 FROM generate_series(1, 100) g;
CREATE UNIQUE INDEX p_lower ON p (lower(email)); CREATE INDEX p_some ON p (id) WHERE length(email) > 5; CREATE INDEX p_ok ON p (id) WHERE ok;
COMMENT ON INDEX p_lower IS 'one of each'});
is(attempt($node, q{CALL tde_encrypt_column('p', 'email')})->{state}, '', 'a table with such an index is encrypted');
is(attempt($node, q{CALL tde_encrypt_column('p', 'ok')})->{state}, '', 'and one with a condition');
is(in_index('p_lower'), 'f', 'its index, too');
is(lines_of($node, q{SELECT obj_description('p_lower'::regclass)}), 'one of each', 'with its comment');
fails_with($node, q{INSERT INTO p VALUES (1, 'SECRETIVE5')}, { state => '23505' }, 'and is UNIQUE');
fails_with($node, q{CALL tde_decrypt_column('p', 'email')}, { state => '2BP01', detail => qr/index public\.p_lower, which computes with the column by function tde_internal\.tde_computed/ },
  'it is not decrypted with them');
lines_of($node, 'DROP INDEX p_lower, p_some');
is(attempt($node, q{CALL tde_decrypt_column('p', 'email')})->{state}, '', 'but without');
is(attempt($node, q{CALL tde_decrypt_column('p', 'ok')})->{state}, '', 'one whose condition is a comparison stays');
is(lines_of($node, q{SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indexrelid = 'p_ok'::regclass}), '(ok = true)', 'as that');

# A column gets another specification: the index serves on as it is, and says that it is as it was.
lines_of($node, q{SELECT tde_create_key('another')});
my $altered = attempt($node, q{ALTER TABLE u ALTER email TYPE encrypted_varchar(60,aes128,nosalt,sha256,'key=another')});
is($altered->{state}, '', 'a column with such an index gets another key');
like($altered->{err}, qr/WARNING:.* index "$_" keeps the former specification and key of its column/, "of which $_ tells") foreach qw(u_lower u_left);
is(lookup('postgres'), "7 100\n1000 9", 'it serves on');
lines_of($node, q{DROP INDEX u_lower, u_left, u_hash; CREATE UNIQUE INDEX u_lower ON u (lower(email));
CREATE INDEX u_left ON u (left(email, 12)) WHERE ok; CREATE INDEX u_hash ON u USING hash (upper(email))});
is(lookup('postgres'), "7 100\n1000 9", 'made anew, too');
is(attempt($node, q{ALTER TABLE u ADD z int})->{err}, '', 'without a warning then');

# A column gets another type: what the index computes is for the former one, which it says.
lines_of($node, q{CREATE TABLE typed (id int, i encrypted_int4, v encrypted_varchar(10), d encrypted_numeric(8,2));
  CREATE INDEX t_abs ON typed (abs(i)); CREATE INDEX t_some ON typed (id) WHERE abs(i) > 5; CREATE INDEX t_lower ON typed (lower(v)); CREATE INDEX t_round ON typed (round(d))});
like(attempt($node, 'ALTER TABLE typed ALTER i TYPE bigint')->{err}, qr/WARNING:.* index "$_" computes with the former type of its column/, "$_ tells of another type") foreach qw(t_abs);
is(attempt($node, 'INSERT INTO typed (i) VALUES (3000000000)')->{state}, '22003', 'which it is then');
lines_of($node, 'DROP INDEX t_abs, t_some; CREATE INDEX t_abs ON typed (abs(i)); CREATE INDEX t_some ON typed (id) WHERE abs(i) > 5');
is(attempt($node, 'INSERT INTO typed (i) VALUES (3000000000)')->{state}, '', '... and no more when it is made anew, as the hint says');
unlike(attempt($node, "ALTER TABLE typed ALTER $_")->{err}, qr/former type/, "not: $_") foreach ('v TYPE text', 'd TYPE numeric(12,4)', 'id TYPE bigint');

# A closed wallet.
lines_of($node, 'SELECT tde_wallet_close()');
is(attempt($node, q{INSERT INTO u (id) VALUES (1)})->{state}, '', 'NULL is no value');
fails_with($node, q{SELECT id FROM u WHERE lower(email) = 'x'}, { state => 'TDE01' }, 'a lookup');
fails_with($node, q{CREATE INDEX ON u (upper(email))}, { state => 'TDE01' }, 'a new index');

done_testing();
