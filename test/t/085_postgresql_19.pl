# What PostgreSQL 19 brings beside SQL, on encrypted columns as on plain ones: COPY as JSON, of partitioned tables and with wrong values made NULL,
# foreign keys that are checked in batches, extended statistics in dumps, statistics of foreign tables, VACUUM by several processes, publications of
# sequences and of all tables but some, WAIT FOR, plan advice, the log of what the parser reads.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('nineteen', extension => 1, conf => qq(
tde_column.passphrase_command = 'echo nineteen-passphrase'
tde_column.plaintext_alter = warn
client_min_messages = error
wal_level = logical
max_wal_senders = 5
));
plan skip_all => 'of PostgreSQL 19' if $node->pg_version->major < 19;
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('nineteen-passphrase');
CREATE TABLE plain (id int PRIMARY KEY, a text, n int, d date, b bytea, m numeric(6,1), j jsonb, f bool);
CREATE TABLE enc (id int PRIMARY KEY, a encrypted_text, n encrypted_int4, d encrypted_date, b encrypted_bytea, m encrypted_numeric(6,1), j encrypted_jsonb, f encrypted_bool);
INSERT INTO plain SELECT i, nullif('it''s "' || i || '"', 'it''s "5"'), i, date '2026-01-01' + i, int4send(i), i * 1.5, jsonb_build_object('k', i), i > 3 FROM generate_series(1, 9) i;
INSERT INTO enc SELECT * FROM plain;
-- a partition has its columns elsewhere
CREATE TABLE plain_parts (x text, id int) PARTITION BY RANGE (id);
CREATE TABLE enc_parts (x encrypted_text(nosalt,key=second), id encrypted_int4) PARTITION BY RANGE (id);
CREATE TABLE plain_low (gone int, id int, x text);
CREATE TABLE enc_low (gone int, id encrypted_int4, x encrypted_text(nosalt,key=second));
ALTER TABLE plain_low DROP gone;
ALTER TABLE enc_low DROP gone;
ALTER TABLE plain_parts ATTACH PARTITION plain_low FOR VALUES FROM (1) TO (5);
ALTER TABLE enc_parts ATTACH PARTITION enc_low FOR VALUES FROM (1) TO (5);
CREATE TABLE plain_high PARTITION OF plain_parts FOR VALUES FROM (5) TO (10);
CREATE TABLE enc_high PARTITION OF enc_parts FOR VALUES FROM (5) TO (10);
INSERT INTO plain_parts SELECT 'x' || i, i FROM generate_series(1, 9) i;
INSERT INTO enc_parts SELECT * FROM plain_parts} =~ s/key=second/'key=second'/gr =~ s/^(SELECT tde_wallet_create.*)$/$1 SELECT tde_create_key('second');/mr);

# ---- COPY ----

sub same
{
  my ($sql, $what) = @_;
  my ($plain, $enc) = map { my $kind = $_; my $got = attempt($node, $sql =~ s/%/$kind/gr); $got->{out} . $got->{state} } qw(plain enc);
  isnt($plain, '', "$what: there is something");
  is($enc, $plain, $what);
}
same('COPY % TO STDOUT (FORMAT json)', 'as JSON');
same('COPY % (j, a, b) TO STDOUT (FORMAT json, FORCE_ARRAY)', 'as an array of JSON');
same('COPY (SELECT a, m, f, j FROM % ORDER BY id) TO STDOUT (FORMAT json)', 'a query as JSON');
same("COPY %_parts TO STDOUT$_", "a partitioned table$_") foreach '', ' (FORMAT csv, HEADER)', ' (FORMAT json)';
foreach my $kind (qw(plain enc))
{
  my $file = $node->basedir . "/$kind";
  write_bytes($file, "21\tx\toops\t2026-02-31\t\\\\xzz\t99999999\t{\t2\n22\tx\t5\t2026-01-01\t\\\\x00\tnan\t{}\tt\n");
  lines_of($node, "COPY $kind FROM '$file' (ON_ERROR SET_NULL)");
}
same('SELECT * FROM % WHERE id > 20 ORDER BY id', 'wrong values become NULL');
fails_with($node, q{SET SESSION AUTHORIZATION DEFAULT; SELECT tde_wallet_close(); COPY enc TO STDOUT (FORMAT json)}, { state => 'TDE01' }, 'a closed wallet');
lines_of($node, q{SELECT tde_wallet_open('nineteen-passphrase')});

# ---- foreign keys ----

# More rows than a batch has, of columns with other specifications, and of several columns.
my @keys = (
  [ 'encrypted_text(nosalt)', 'encrypted_text(salt)', "'k' || %" ], [ 'encrypted_int8(salt)', 'encrypted_int4', '%' ], [ 'int8', 'encrypted_int8', '%' ],
  [ 'encrypted_int8', 'int4', '%' ], [ 'encrypted_numeric', 'encrypted_int2', '%' ], [ 'text', 'encrypted_varchar(9)', "'k' || %" ],
  [ 'encrypted_varchar(9)', 'text', "'k' || %" ], [ 'encrypted_date', 'date', "date '2026-01-01' + %" ]);
foreach my $key (@keys)
{
  my ($parent, $child, $value) = @$key;
  my $of = sub { return $value =~ s/%/$_[0]/r };
  my $name = "$child to $parent";
  lines_of($node, qq{CREATE TABLE parent (id $parent PRIMARY KEY, pair $parent, UNIQUE (pair, id)); INSERT INTO parent SELECT ${\$of->('i')}, ${\$of->('i')} FROM generate_series(1, 300) i;
                     CREATE TABLE child (a $child REFERENCES parent, b $child, c $child, FOREIGN KEY (b, c) REFERENCES parent (id, pair))});
  is(attempt($node, "INSERT INTO child SELECT ${\$of->('1 + i % 300')}, ${\$of->('1 + i % 300')}, ${\$of->('1 + i % 300')} FROM generate_series(1, 1000) i")->{err}, '', "$name: rows that are there");
  foreach my $columns ('a', 'b, c')
  {
    my $values = join ', ', map { $of->('i') } split /,/, $columns;
    my $got = fails_with($node, "INSERT INTO child ($columns) SELECT $values FROM generate_series(150, 301) i", { state => '23503', message => qr/violates foreign key constraint/ }, "$name: $columns");
    like($got->{detail}, qr/301|2026-10-29/, "$name: $columns: the detail tells which") or diag($got->{err});
  }
  fails_with($node, "DELETE FROM parent WHERE id = ${\$of->('7')}", { state => '23503' }, "$name: a row that is referenced");
  lines_of($node, 'DROP TABLE child, parent');
}

# ---- statistics in dumps ----

lines_of(
  $node, q{
CREATE SCHEMA rating;
SET search_path = rating;
CREATE TABLE rated (a encrypted_text(nosalt), b encrypted_int4(nosalt), c int);
INSERT INTO rated SELECT 'canary' || i % 3, i % 3, i FROM generate_series(1, 3000) i;
CREATE STATISTICS ratings (mcv, ndistinct, dependencies) ON a, b FROM rated;
ANALYZE rated});
my $common = q{SELECT most_common_vals FROM pg_stats_ext WHERE statistics_name = 'ratings'};
my $values = lines_of($node, $common);
like($values, qr/canary1,1/, 'there are values');
foreach my $format (qw(plaintext ciphertext))
{
  my $file = $node->basedir . "/$format.sql";
  local $ENV{PGOPTIONS} = "-c tde_column.io_format=$format";
  system_or_bail('pg_dump', '--statistics', '-n', 'rating', '-f', $file, $node->connstr('postgres'));
  like(read_bytes($file), qr/pg_restore_extended_stats/, "$format: a dump has them");
  unlike(read_bytes($file), qr/canary/, 'encrypted') if $format eq 'ciphertext';
  lines_of($node, 'DROP SCHEMA rating CASCADE');
  system_or_bail('psql', '-qXf', $file, '-v', 'ON_ERROR_STOP=1', $node->connstr('postgres'));
  local $ENV{PGOPTIONS} = '';
  is(lines_of($node, $common), $values, "$format: restored");
}
lines_of($node, 'CHECKPOINT');
unlike(read_bytes($node->data_dir . '/' . lines_of($node, q{SELECT pg_relation_filepath('pg_statistic_ext_data')})), qr/canary/, 'the catalog has nothing in clear');

# ---- statistics of foreign tables ----

lines_of(
  $node, q{
CREATE TABLE plain_rated AS SELECT 'canary' || i % 3 AS a, i % 3 AS b FROM generate_series(1, 3000) i;
CREATE TABLE enc_rated (a encrypted_text(nosalt), b encrypted_int4(nosalt));
INSERT INTO enc_rated TABLE plain_rated;
ANALYZE plain_rated, enc_rated;
CREATE EXTENSION postgres_fdw;
DO $$ BEGIN
  EXECUTE format('CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER back});
foreach my $pair ([qw(enc enc)], [qw(enc plain)], [qw(plain enc)], [qw(plain plain)])
{
  my ($here, $there) = @$pair;
  my $types = $here eq 'enc' ? 'a encrypted_text(nosalt), b encrypted_int4(nosalt)' : 'a text, b int';
  lines_of($node, "CREATE FOREIGN TABLE ${here}_of_$there ($types) SERVER back OPTIONS (table_name '${there}_rated', import_stats 'true'); ANALYZE ${here}_of_$there");
  is(lines_of($node, "SELECT attname, n_distinct, (SELECT string_agg(v, ',' ORDER BY v) FROM unnest(most_common_vals::text::text[]) v) FROM pg_stats WHERE tablename = '${here}_of_$there' ORDER BY 1"),
    "a|3|canary0,canary1,canary2\nb|3|0,1,2", "$here: statistics of a foreign table, $there there");
}
lines_of($node, 'DROP FOREIGN TABLE plain_of_enc, plain_of_plain; DROP TABLE plain_rated; VACUUM FULL pg_statistic; CHECKPOINT');
unlike(read_bytes($node->data_dir . '/' . lines_of($node, q{SELECT pg_relation_filepath('pg_statistic')})), qr/canary/, 'the catalog has nothing in clear');

# ---- publications ----

lines_of(
  $node, q{
CREATE DATABASE subscriber;
CREATE TABLE published (id encrypted_int4(nosalt) PRIMARY KEY, a encrypted_text);
CREATE TABLE kept_back (id int PRIMARY KEY, a encrypted_text);
CREATE SEQUENCE numbers;
INSERT INTO published SELECT i, 'v' || i FROM generate_series(1, 5) i;
SELECT setval('numbers', 42);
CREATE PUBLICATION tables FOR ALL TABLES EXCEPT (TABLE kept_back, tde.data_keys);
CREATE PUBLICATION sequences FOR ALL SEQUENCES;
SELECT pg_create_logical_replication_slot('slot', 'pgoutput')});
is(lines_of($node, q{SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_publication_tables WHERE tablename IN ('published', 'kept_back', 'data_keys')}), 'published', 'all tables but two');
my $subscriber = sub { lines_of($node, $_[0], db => 'subscriber') };
$subscriber->(q{CREATE EXTENSION tde_column; SELECT tde_create_key('a'), tde_create_key('b'), tde_create_key('c'), tde_create_key('d');
  CREATE TABLE published (id int PRIMARY KEY, a encrypted_text('key=d')); CREATE SEQUENCE numbers});
# not what other parts of this file have made
lines_of($node, q{DROP PUBLICATION tables; CREATE PUBLICATION tables FOR TABLE published});
$subscriber->(sprintf q{CREATE SUBSCRIPTION s CONNECTION '%s' PUBLICATION tables, sequences WITH (create_slot = false, slot_name = 'slot')}, $node->connstr('postgres') =~ s/'/''/gr);
ok($node->poll_query_until('subscriber', q{SELECT count(*) = 5 FROM published}), 'rows arrive');
ok($node->poll_query_until('subscriber', q{SELECT last_value = 42 FROM numbers}), 'and sequences');
lines_of($node, q{INSERT INTO published VALUES (6, 'v6'); SELECT setval('numbers', 77)});
$subscriber->('ALTER SUBSCRIPTION s REFRESH SEQUENCES');
ok($node->poll_query_until('subscriber', q{SELECT last_value = 77 FROM numbers}), 'again');
ok($node->poll_query_until('subscriber', q{SELECT count(*) = 6 FROM published WHERE a LIKE 'v%'}), 'values are under the key here');
my $last = lines_of($node, 'SELECT last_value FROM tde.data_keys_id_seq');
is($subscriber->('SELECT last_value FROM tde.data_keys_id_seq'), $last, q{the sequence of keys' numbers is one of them});
$subscriber->(q{SELECT tde_create_key('e'), tde_create_key('f'); SELECT tde_rotate_key('d')});
is($subscriber->(q{SELECT count(*) > 0 AND count(*) = count(DISTINCT id) FROM tde.data_keys}), 't', 'keys that are made then have numbers of their own');
is($subscriber->(q{SELECT count(*) FROM published WHERE a LIKE 'v%'}), '6', 'and values are read');
$subscriber->('ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s');

my $lsn = lines_of($node, q{INSERT INTO published VALUES (7, 'v7'); SELECT pg_current_wal_insert_lsn()});
is(lines_of($node, "SELECT a FROM published WHERE id = 7; WAIT FOR LSN '$lsn' WITH (MODE 'primary_flush'); SELECT a FROM published WHERE id = 7"), "v7\nsuccess\nv7", 'WAIT FOR');

# ---- plan advice ----

lines_of(
  $node, q{
CREATE TABLE plain_left AS SELECT i AS id, 'a' || i AS a FROM generate_series(1, 1000) i;
CREATE TABLE plain_right AS TABLE plain_left;
CREATE TABLE enc_left (id encrypted_int4, a encrypted_text(nosalt));
CREATE TABLE enc_right (id encrypted_int4, a encrypted_text(nosalt));
INSERT INTO enc_left TABLE plain_left;
INSERT INTO enc_right TABLE plain_left;
CREATE INDEX ON plain_right (id);
CREATE INDEX ON enc_right (id);
ANALYZE plain_left, plain_right, enc_left, enc_right});
foreach my $advice ('JOIN_ORDER(r l) HASH_JOIN(l)', 'JOIN_ORDER(l r) NESTED_LOOP_PLAIN(r) INDEX_SCAN(r public.%_right_id_idx)', 'JOIN_ORDER(l r) MERGE_JOIN_PLAIN(r) SEQ_SCAN(l r)')
{
  my $query = 'SELECT l.id, r.a FROM %_left l JOIN %_right r USING (id)';
  same("LOAD 'pg_plan_advice'; SET pg_plan_advice.advice = '$advice'; SELECT count(*), max(id), min(a) FROM ($query OFFSET 0) q", "rows by $advice");
  my ($plain, $enc) = map { my $kind = $_; lines_of($node, "LOAD 'pg_plan_advice'; SET pg_plan_advice.advice = '$advice'; EXPLAIN (COSTS off) $query" =~ s/%/$kind/gr) =~ s/$kind//gr } qw(plain enc);
  like($plain, qr{/\* matched \*/}, "$advice is taken");
  is($enc, $plain, "$advice: the same plan");
}

# ---- VACUUM by several processes ----

lines_of(
  $node, q{
CREATE TABLE many (id int, a encrypted_text(nosalt), n encrypted_int4);
INSERT INTO many SELECT i, 'value' || i, i FROM generate_series(1, 30000) i;
CREATE INDEX ON many (a);
CREATE INDEX ON many (n);
CREATE EXTENSION amcheck});
lines_of($node, q{DELETE FROM many WHERE id % 100 < 95});
lines_of($node, q{SET min_parallel_index_scan_size = 0; VACUUM (PARALLEL 2, INDEX_CLEANUP on) many});
is(attempt($node, q{SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'many'::regclass})->{err}, '', 'indexes that parallel workers vacuum');

# ---- the log ----

my $offset = log_offset($node);
lines_of($node, q{SET debug_print_raw_parse = on; SELECT id FROM enc WHERE a = 'Qz7canary'; SELECT tde_wallet_open('Qz7secret') WHERE false});
my $log = log_since($node, $offset);
like($log, qr/raw parse tree/, 'what the parser reads is in the log');
unlike($log, qr/Qz7secret/, 'but not a secret');

done_testing();
