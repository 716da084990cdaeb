# tde_verify_table(): everything that is wrong with stored values and index entries is found, with its place, and nothing else is said.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../../../test/perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('verify', extension => 1, conf => "tde_column.passphrase_command = 'echo verify-passphrase'\nautovacuum = off\nfsync = off\n");
$node->start;
lines_of($node, "SELECT tde_wallet_create('verify-passphrase'), tde_create_key('one'), tde_create_key('gone')");

sub problems
{
  my ($call) = @_;
  return lines_of($node, "SELECT object, tid, \"column\", sqlstate, problem FROM $call ORDER BY object::text, tid, \"column\", sqlstate");
}
sub problems_as
{
  my ($role, $call) = @_;
  return lines_of($node, "SET ROLE $role; SELECT object, tid, \"column\", sqlstate, problem FROM $call ORDER BY object::text, tid, \"column\", sqlstate");
}
sub file_of { return $node->data_dir . '/' . lines_of($node, "SELECT pg_relation_filepath('$_[0]')"); }

# The bytes of a stored value, as the table has them.
sub stored
{
  my ($table, $column, $id) = @_;
  return pack 'H*', (split /\n/, lines_of($node, qq{BEGIN;
UPDATE pg_attribute SET atttypid = 'bytea'::regtype, atttypmod = -1 WHERE attrelid = '$table'::regclass AND attname = '$column';
SELECT encode($column, 'hex') FROM $table WHERE id = $id; ROLLBACK}))[-1];
}

my $has_no_checksums = 0;

# Replace bytes of files, while the server does not run: [path, from, to], ...
sub edit
{
  lines_of($node, 'CHECKPOINT');
  $node->stop;
  # the damage is to be found by us
  $node->command_ok([ 'pg_checksums', '--disable', '--pgdata', $node->data_dir ], 'no checksums') if !$has_no_checksums++ && $node->pg_version >= 18;
  foreach my $change (@_)
  {
    my ($path, $from, $to) = @$change;
    my $bytes = read_bytes($path);
    my $at    = index $bytes, $from;
    die "not in $path" if $at < 0;
    substr $bytes, $at, length $to, $to;
    write_bytes($path, $bytes);
  }
  $node->start;
  return;
}
sub damaged { return flip_bit($_[0], length($_[0]) - 1, 3); }

# ---- nothing is wrong ----

lines_of(
  $node, q{
CREATE TYPE pair AS (i int, e encrypted_text('key=one'));
CREATE TYPE span AS RANGE (subtype = encrypted_int4);
CREATE DOMAIN secret AS encrypted_text('key=one');
CREATE TABLE t (id int PRIMARY KEY, a encrypted_text('key=one'), n encrypted_numeric(9,2,nomac), u encrypted_text(nosalt), arr encrypted_int4[], p pair, r span,
  d secret, big encrypted_text, plain text);
INSERT INTO t SELECT g, 'value ' || g, g, 'u' || g % 100, ARRAY[g, NULL, g + 1], format('(%s,p%s)', g, g)::pair, format('[%s,)', g)::span, 'd' || g,
  CASE WHEN g % 500 = 0 THEN (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 300) i) END FROM generate_series(1, 3000) g;
INSERT INTO t (id) VALUES (0);
CREATE INDEX t_a ON t (a); CREATE INDEX t_u ON t (u); CREATE UNIQUE INDEX t_lower ON t (lower(a)) WHERE id % 2 = 0; CREATE INDEX t_hash ON t USING hash (u);
CREATE INDEX t_brin ON t USING brin (n); CREATE INDEX t_include ON t (id) INCLUDE (a, arr); CREATE INDEX t_arr ON t (arr); CREATE INDEX t_two ON t (plain, n DESC);
CREATE INDEX t_where ON t (id) WHERE n > 5;
UPDATE t SET a = 'new ' || id WHERE id % 7 = 0; UPDATE t SET plain = 'x' WHERE id % 5 = 0; DELETE FROM t WHERE id % 11 = 0;
BEGIN; UPDATE t SET a = 'rolled back ' || id; ROLLBACK;
CREATE TABLE parts (id int, a encrypted_text) PARTITION BY LIST (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1); CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 'one'), (2, 'two');
CREATE MATERIALIZED VIEW view AS SELECT id, a FROM t;
CREATE TABLE empty (a encrypted_text PRIMARY KEY); CREATE TABLE none (a int);
});
is(problems("tde_verify_table('t')"), '', 'a table with nothing wrong');
is(problems("tde_verify_table('$_')"), '', "... $_") foreach qw(parts view empty none);
is(problems('tde_verify_database()'), '', '... the database');
lines_of($node, q{SELECT tde_rotate_key('one'); CALL tde_rekey_table('t'); VACUUM t});
is(problems("tde_verify_table('t')"), '', 'after a rotation and a re-encryption');

# ---- values ----

lines_of(
  $node, q{
CREATE TABLE v (id int, a encrypted_text, b encrypted_text('key=one'), w encrypted_text(aes128), m encrypted_text(nomac), g encrypted_text('key=gone'));
INSERT INTO v (id, a, b, w, m) SELECT i, 'a' || i, 'b' || i, 'w' || i, 'm' || i FROM generate_series(1, 5) i;
INSERT INTO v (id, g) VALUES (6, 'g'); ALTER TABLE v ALTER a SET STORAGE EXTERNAL});
lines_of($node, q{INSERT INTO v (id, a) SELECT 7, string_agg(md5(i::text), '') FROM generate_series(1, 300) i});
my $v = file_of('v');
my %bytes = map { my $column = $_; map { ("$column$_" => stored('v', $column, $_)) } 1 .. 5 } qw(a b w m);
my $toast = file_of(lines_of($node, q{SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'v'::regclass}));
my $long = stored('v', 'a', 7);
edit([ $v, $bytes{a1}, damaged($bytes{a1}) ], [ $v, $bytes{a2}, $bytes{b2} ], [ $v, $bytes{w3}, $bytes{a3} ], [ $v, $bytes{a4}, "\xff\xff\xff\xff" ],
  [ $toast, substr($long, 4000, 100), 'x' x 100 ]);
lines_of($node, q{SELECT tde_destroy_key('gone', confirm => 'destroy gone')});
is(
  problems("tde_verify_table('v')"), 'v|(0,1)|a|TDE04|could not authenticate encrypted value
v|(0,2)|a|TDE06|value under key "one" in a column that is declared with key "default"
v|(0,3)|w|42804|value is encrypted otherwise than its column declares
v|(0,4)|a|TDE04|could not authenticate encrypted value
v|(0,6)|g|TDE03|data key 5 was destroyed
v|(0,7)|a|TDE04|could not authenticate encrypted value', 'every value that is damaged, or elsewhere');
is(lines_of($node, "SET tde_column.key_wall = warn; SELECT count(*) FROM tde_verify_table('v') WHERE sqlstate = 'TDE06'"), '1', 'whatever key_wall is');
is(lines_of($node, q{SELECT count(*) FROM tde_verify_database() WHERE object = 'v'::regclass}), '6', '... among all tables');

# ---- indexes ----

lines_of(
  $node, q{
CREATE TABLE x (id int, a encrypted_text(nosalt), b encrypted_text, pad text);
INSERT INTO x SELECT g, 'a' || g % 300 + 100, 'b' || g + 1000, repeat('x', 200) FROM generate_series(1, 3000) g;
CREATE INDEX x_a ON x (a); CREATE INDEX x_b ON x (b); CREATE INDEX x_hash ON x USING hash (a); CREATE INDEX x_lower ON x (lower(b)); CREATE INDEX x_brin ON x USING brin (b)});
is(problems("tde_verify_table('x')"), '', 'indexes with nothing wrong');
my ($b7, $b8) = map { stored('x', 'b', $_) } 7, 8;
my $place = lines_of($node, 'SELECT ctid FROM x WHERE id = 7');
# the table has the other value; x_b still has the first
edit([ file_of('x'), $b7, $b8 ], [ file_of('x_b'), $b8, damaged($b8) ]);
is(
  problems("tde_verify_table('x')") =~ s/\(\d+,\d+\)/at/gr, 'x_b|at|b|XX002|entry has another value than its row
x_b|at|b|TDE04|could not authenticate encrypted value
x_b|at||TDE04|could not authenticate encrypted value
x_lower|at|lower|XX002|entry has another value than its row', 'an entry that is damaged, and a value that is not that of the entry');
like(problems("tde_verify_table('x')"), qr/^x_b\|\Q$place\E\|b\|XX002/m, '... with the place of the row');
lines_of($node, q{REINDEX TABLE x});
is(problems("tde_verify_table('x')"), '', '... and REINDEX mends it');

# rows that came while the index was not looked at
lines_of($node, q{UPDATE pg_index SET indisready = false WHERE indexrelid IN ('x_a'::regclass, 'x_hash'::regclass, 'x_lower'::regclass)});
lines_of($node, q{INSERT INTO x (id, a, b) VALUES (5000, 'lost', 'Lost'), (5001, NULL, NULL); DELETE FROM x WHERE id = 1});
lines_of($node, q{UPDATE pg_index SET indisready = true WHERE indexrelid IN ('x_a'::regclass, 'x_hash'::regclass, 'x_lower'::regclass)});
is(
  problems("tde_verify_table('x')") =~ s/\(\d+,\d+\)/at/gr, 'x_a|at||XX002|row has no entry in the index
x_a|at||XX002|row has no entry in the index
x_hash|at||XX002|row has no entry in the index
x_lower|at||XX002|row has no entry in the index
x_lower|at||XX002|row has no entry in the index', 'rows without an entry');
is(problems("tde_verify_table('x', last_block => 100000)"), '', 'a part of the table: without indexes');
lines_of($node, 'REINDEX TABLE x; CHECKPOINT');

# an index or a table that cannot be read is one problem, and the rest is read
edit([ file_of('x_a'), substr(read_bytes(file_of('x_a')), 8192, 24), "\0" x 24 ]);
like(problems("tde_verify_table('x')"), qr/^x_a\|\|\|XX00\d\|[^\n]*$/, 'an index that is broken');
lines_of($node, 'DROP INDEX x_a');

# what an expression does is the owner's matter
lines_of($node, q{CREATE FUNCTION fails(encrypted_text) RETURNS encrypted_text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1; END $$;
  CREATE INDEX x_fails ON x (fails(b))});
lines_of($node, q{CREATE OR REPLACE FUNCTION fails(encrypted_text) RETURNS encrypted_text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'failed' USING ERRCODE = 'ZZ001'; END $$});
like(problems("tde_verify_table('x', 0)"), qr/^x_fails\|\(\d+,\d+\)\|\|ZZ001\|/m, 'an expression that fails');
# what it says may be a value: of a table that the caller may not read it is not told
lines_of($node, q{CREATE OR REPLACE FUNCTION fails(encrypted_text) RETURNS encrypted_text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'of %', $1::text USING HINT = $1::text; END $$;
  CREATE ROLE monitor IN ROLE pg_monitor});
like(problems("tde_verify_table('x', 0)"), qr/^x_fails\|\(\d+,\d+\)\|\|P0001\|of \w/m, 'what an expression says, told to who may read the table');
my $told = problems_as('monitor', "tde_verify_table('x', 0)");
like($told, qr/^x_fails\|\(\d+,\d+\)\|\|P0001\|message of an index or a function of table public\.x is not shown$/m, '... to others, that it fails');
unlike($told, qr/\|of \w/, '... and not what it says');
lines_of($node, 'SET ROLE monitor; SELECT count(*) FROM tde_verify_database()');
lines_of($node, q{CREATE OR REPLACE FUNCTION fails(encrypted_text) RETURNS encrypted_text IMMUTABLE LANGUAGE plpgsql AS
  $$ BEGIN RAISE NOTICE 'noticed %', $1::text; RAISE INFO 'informed %', $1::text; RAISE WARNING 'warned %', $1::text USING ERRCODE = '22023'; RETURN $1; END $$});
like(attempt($node, "SELECT count(*) FROM tde_verify_table('x', 0)")->{err}, qr/noticed \w.*informed \w.*warned \w/s, 'nor is what is no error');
my $quiet = attempt($node, "SET ROLE monitor; SELECT count(*) FROM tde_verify_table('x', 0); DO \$\$ BEGIN RAISE NOTICE 'mine'; END \$\$");
is($quiet->{state}, '', '... to others') or diag($quiet->{err});
unlike($quiet->{err}, qr/noticed|informed|warned/, '... which is for the log alone');
like($quiet->{err}, qr/mine/, '... as long as it takes');
lines_of($node, 'DROP INDEX x_fails');

# ---- GIN indexes ----

# Lists and trees of rows, NULL, arrays without elements, several columns, a condition, an expression, entries in the pending list; dead rows and new ones.
lines_of(
  $node, q{
CREATE TABLE g (id int, tags encrypted_text(nosalt)[], doc encrypted_jsonb, note text);
INSERT INTO g SELECT i, CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE ARRAY['all', 't' || i % 70, NULL, 'u' || i] END, jsonb_build_object('k', i % 100, 'all', true), 'n' || i FROM generate_series(1, 6000) i;
CREATE INDEX g_tags ON g USING gin (tags) WITH (fastupdate = off); CREATE INDEX g_doc ON g USING gin (doc);
CREATE INDEX g_two ON g USING gin (tags, doc jsonb_path_ops) WHERE id > 10; CREATE INDEX g_expr ON g USING gin ((doc -> 'k'));
CREATE INDEX g_array ON g USING hash (tags);
INSERT INTO g SELECT i, ARRAY['new', 't' || i], '{"k": "new"}' FROM generate_series(6001, 6300) i;
UPDATE g SET tags = tags || 'changed'::encrypted_text WHERE id % 17 = 0; UPDATE g SET note = 'x' WHERE id % 5 = 0; DELETE FROM g WHERE id % 11 = 0});
lines_of($node, 'CREATE EXTENSION pageinspect');
is(lines_of($node, q{SELECT EXISTS (SELECT FROM generate_series(1, pg_relation_size('g_tags') / 8192 - 1) p
  WHERE '{data,leaf}' <@ (gin_page_opaque_info(get_raw_page('g_tags', p::int))).flags)}), 't', 'there are trees of rows');
is(lines_of($node, q{SELECT n_pending_tuples > 0 FROM gin_metapage_info(get_raw_page('g_doc', 0))}), 't', 'and a pending list');
is(problems("tde_verify_table('g')"), '', 'GIN indexes with nothing wrong');
lines_of($node, 'VACUUM g');
is(problems("tde_verify_table('g')"), '', '... vacuumed');
lines_of($node, q{SELECT tde_rotate_key(); CALL tde_rekey_table('g')});
is(problems("tde_verify_table('g')"), '', '... re-encrypted');

# rows that came while the index was not looked at
my $gins = q{indexrelid IN ('g_tags'::regclass, 'g_doc'::regclass, 'g_two'::regclass, 'g_expr'::regclass)};
lines_of($node, "UPDATE pg_index SET indisready = false WHERE $gins");
lines_of($node, q{INSERT INTO g VALUES (7000, '{lost}', '{"k": "lost"}'), (7001, NULL, NULL), (2, '{all}', '{}')});
lines_of($node, "UPDATE pg_index SET indisready = true WHERE $gins");
is(
  problems("tde_verify_table('g')") =~ s/\(\d+,\d+\)/at/gr, 'g_doc|at|doc|XX002|row has no entry in the index
g_doc|at|doc|XX002|row has no entry in the index
g_doc|at|doc|XX002|row has no entry in the index
g_expr|at|expr|XX002|row has no entry in the index
g_expr|at|expr|XX002|row has no entry in the index
g_expr|at|expr|XX002|row has no entry in the index
g_tags|at|tags|XX002|row has no entry in the index
g_tags|at|tags|XX002|row has no entry in the index
g_tags|at|tags|XX002|row has no entry in the index
g_two|at|tags|XX002|row has no entry in the index
g_two|at|tags|XX002|row has no entry in the index', 'rows without an entry');
lines_of($node, 'REINDEX TABLE g');
is(problems("tde_verify_table('g')"), '', '... and REINDEX mends it');

# The keys of a GIN index, as its root has them, which is its only page of entries: after the tuple's header, of 8 bytes.
sub keys_of
{
  my ($index) = @_;
  lines_of($node, 'CHECKPOINT');
  my $page = substr read_bytes(file_of($index)), 8192, 8192;
  my ($lower) = unpack 'x12 v', $page;
  return map { substr $page, ($_ & 0x7fff) + 8, 8 } unpack 'x24 V' . ($lower - 24) / 4, $page;
}
lines_of($node, q{CREATE TABLE few (id int, tags encrypted_text(nosalt)[]); CREATE INDEX few_tags ON few USING gin (tags) WITH (fastupdate = off);
INSERT INTO few SELECT i, ARRAY['u' || i] FROM generate_series(1, 20) i});
my @keys = keys_of('few_tags');
is(scalar(@keys), 20, 'keys');
edit([ file_of('few_tags'), $keys[7], flip_bit($keys[7], 2, 5) ]);
is(
  problems("tde_verify_table('few')") =~ s/\(0,(\d+)\)/at/gr, 'few_tags|at|tags|XX002|row has no entry in the index
few_tags|at|tags|XX002|entry has another value than its row', 'an entry that is damaged: the row lacks it, and has another one');
is(lines_of($node, q{SELECT count(DISTINCT tid) FROM tde_verify_table('few')}), '1', '... both of the same row');
is(lines_of($node, q{SET enable_seqscan = off; SELECT count(*) FROM generate_series(1, 20) i WHERE EXISTS (SELECT FROM few WHERE few.tags @> ARRAY['u' || i]::text[])}), '19', '... which a search misses, and no other');
lines_of($node, 'REINDEX INDEX few_tags');
# a row has changed in its file, and its entries are those of before
my ($u3, $u4) = map { stored('few', 'tags', $_) } 3, 4;
edit([ file_of('few'), substr($u3, -20), substr($u4, -20) ]);
is(
  problems("tde_verify_table('few')") =~ s/\(0,(\d+)\)/at/gr, 'few_tags|at|tags|XX002|row has no entry in the index
few_tags|at|tags|XX002|entry has another value than its row', 'a value that is not that of its entries');
edit([ file_of('few_tags'), substr(read_bytes(file_of('few_tags')), 8192, 24), "\0" x 24 ]);
like(problems("tde_verify_table('few')"), qr/^few_tags\|\|\|XX00\d\|[^\n]*$/m, 'an index that is broken');
lines_of($node, 'DROP TABLE few');

# ---- who, and what ----

lines_of($node, 'CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher; CREATE ROLE nobody LOGIN');
is(attempt($node, 'SELECT count(*) FROM tde_verify_database()', user => 'watcher')->{out}, '6', 'pg_monitor may');
fails_with($node, 'SELECT * FROM x', { state => '42501' }, '... and cannot read the table', user => 'watcher');
fails_with($node, "SELECT * FROM $_", { state => '42501' }, "others may not: $_", user => 'nobody') foreach "tde_verify_table('x')", 'tde_verify_database()';
lines_of($node, 'CREATE VIEW a_view AS SELECT * FROM x; CREATE SEQUENCE s');
fails_with($node, "SELECT * FROM tde_verify_table('$_')", { state => '42809' }, "no table: $_") foreach qw(a_view s x_b);
fails_with($node, 'SELECT * FROM tde_verify_table(99)', { state => '42P01' }, 'no such table');
fails_with($node, "SELECT * FROM tde_verify_table('x', $_)", { state => '22023' }, "no such blocks: $_") foreach '-1', '2, 1', '0, 4294967295';
is(problems("tde_verify_table('v', 0, 0)") =~ tr/\n//, 5, 'some blocks');
is(problems("tde_verify_table('v', 1)"), '', 'other blocks');
lines_of($node, 'CREATE TABLE many AS SELECT g AS id, (\'x\' || g)::encrypted_text AS a FROM generate_series(1, 200000) g');
fails_with($node, "SET statement_timeout = 30; SELECT * FROM tde_verify_table('many')", { state => '57014', hint => qr/^To go on there: SELECT \* FROM tde_verify_table\('public\.many', first_block => \d+\);/,
    context => qr/^verifying block \d+ of table public\.many, with 0 problems before/ }, 'a command that is cancelled says where to go on');
lines_of($node, "ALTER SYSTEM SET tde_column.passphrase_command = ''; SELECT pg_reload_conf(), tde_wallet_close()");
fails_with($node, "SELECT * FROM tde_verify_table('x')", { state => 'TDE01' }, 'with the wallet closed');
lines_of($node, "SELECT tde_wallet_open('verify-passphrase')");

# ---- beside others ----

my $script = $node->basedir . '/write.sql';
write_bytes($script, q{\set id random(1, 100000000)
INSERT INTO t (id, a, n, u) VALUES (:id, 'value ' || :id, :id % 1000, 'u' || :id % 100) ON CONFLICT DO NOTHING;
INSERT INTO g VALUES (:id, ARRAY['all', 'w' || :id], jsonb_build_object('k', :id % 1000)); DELETE FROM g WHERE id = (SELECT id FROM g WHERE id > :id LIMIT 1);
UPDATE g SET tags = ARRAY['changed', 'c' || :id] WHERE id = (SELECT id FROM g WHERE id > :id % 6000 LIMIT 1);
UPDATE t SET a = 'changed ' || :id, n = :id % 1000 WHERE id = (SELECT id FROM t WHERE id > :id % 3000 LIMIT 1);
DELETE FROM t WHERE id = (SELECT id FROM t WHERE id > :id LIMIT 1);
});
my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', 14, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ], '>', \my $said, '2>&1');
my @found;
foreach my $meanwhile (
  'SELECT 1', 'VACUUM t, g', q{SELECT tde_rotate_key('one'); CALL tde_rekey_table('t')}, 'REINDEX TABLE CONCURRENTLY t', 'VACUUM FULL t', q{SELECT gin_clean_pending_list('g_doc')},
  'REINDEX TABLE CONCURRENTLY g', 'SELECT tde_rotate_hash_key()')
{
  my $other = IPC::Run::start([ 'psql', '-XAtq', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', $meanwhile ], '>', \my $out, '2>&1');
  push @found, problems("tde_verify_table('t')"), problems("tde_verify_table('g')") foreach 1 .. 4;
  $other->finish;
}
is(join('', @found), '', 'nothing is wrong beside writers, VACUUM, re-encryption, REINDEX and VACUUM FULL');
$writers->finish;
like($said, qr/number of failed transactions: 0|number of transactions actually processed: [1-9]/, '... who write');
is(problems("tde_verify_table('$_')"), '', "... nor afterwards: $_") foreach qw(t g);

# Tables and indexes that come and go, and columns that change under it.
lines_of($node, 'DROP TABLE v, x CASCADE');
my $changes = $node->basedir . '/change.sql';
lines_of($node, 'CREATE SCHEMA s0; CREATE SCHEMA s1');
write_bytes($changes, q{CREATE TABLE s:client_id.comes (id int, doc jsonb, tags text[]);
INSERT INTO s:client_id.comes SELECT i, jsonb_build_object('k', i), ARRAY['t' || i] FROM generate_series(1, 300) i;
CREATE INDEX ON s:client_id.comes USING gin (doc);
CALL tde_encrypt_column('s:client_id.comes', 'doc');
CALL tde_encrypt_column('s:client_id.comes', 'tags', online => true);
CREATE INDEX comes_tags ON s:client_id.comes USING gin (tags);
ALTER TABLE s:client_id.comes ALTER doc TYPE encrypted_jsonb(aes128,nosalt,mac);
REINDEX TABLE s:client_id.comes;
DROP INDEX s:client_id.comes_tags;
CALL tde_decrypt_column('s:client_id.comes', 'doc');
TRUNCATE s:client_id.comes;
DROP TABLE s:client_id.comes;
});
@found = ();
my $changing = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', 10, '-f', $changes, '-h', $node->host, '-p', $node->port, 'postgres' ], '>', \$said, '2>&1');
push @found, problems('tde_verify_database()') foreach 1 .. 30;
is(join('', @found), '', 'nothing is wrong beside tables that come, change and go');
$changing->finish;
like($said, qr/number of transactions actually processed: [1-9]/, '... of which there are some') or diag($said);

done_testing();
