# tde_rotate_hash_key(): whatever depends on the hash key changes with it, or nothing does, beside all that others do meanwhile.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $conf = "tde_column.passphrase_command = 'echo hash-passphrase'\nautovacuum = off\nrestart_after_crash = on\nmax_prepared_transactions = 2\nmax_locks_per_transaction = 512\n";
my $node = tde_node('hash_key', extension => 1, conf => $conf, init => [ allows_streaming => 1 ]);
$node->start;
lines_of($node, q{SELECT tde_wallet_create('hash-passphrase')});

# ---- all that depends on it ----

# The class of GIN for trigrams and one of bloom are made by users; so is a function that may hash.
$node->safe_psql('postgres', q{
CREATE EXTENSION pg_trgm; CREATE EXTENSION bloom; CREATE EXTENSION amcheck;
SELECT tde_create_gin_class('gin_trgm_ops');
CREATE OPERATOR CLASS enc_bloom DEFAULT FOR TYPE encrypted_text USING bloom AS OPERATOR 1 =(encrypted_text, encrypted_text), FUNCTION 1 tde_internal.tde_hash(encrypted_text);
CREATE FUNCTION own(encrypted_text) RETURNS encrypted_text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE TABLE p (id int, doc jsonb, name text, tags text[], code text, n int, v varchar(20));
CREATE TABLE e (id int PRIMARY KEY, doc encrypted_jsonb, name encrypted_text, tags encrypted_text(nosalt)[], code encrypted_text(unordered) UNIQUE, n encrypted_int4,
  v encrypted_varchar(20));
INSERT INTO p SELECT i, jsonb_build_object('k' || i % 7, i % 100), 'Needle ' || md5(i::text), ARRAY['x' || i % 50, 'all'], 'c' || i, i % 300, 'v' || i % 300 FROM generate_series(1, 2000) i;
INSERT INTO e SELECT * FROM p;
CREATE INDEX e_doc ON e USING gin (doc);
CREATE INDEX e_name ON e USING gin (name gin_trgm_ops);
CREATE INDEX e_tags ON e USING gin (tags);
CREATE INDEX e_hash ON e USING hash (name);
CREATE INDEX e_number ON e USING hash (n);
CREATE INDEX e_array ON e USING hash (tags);
CREATE INDEX e_bloom ON e USING bloom (name);
CREATE INDEX e_partial ON e USING hash (v) WHERE id % 2 = 0;
CREATE INDEX e_expr ON e USING hash (lower(name));
CREATE INDEX e_own ON e (own(name));
CREATE INDEX e_by_hash ON e (tde_internal.tde_hash(code));
CREATE INDEX e_ordered ON e (name); CREATE INDEX e_lower ON e (lower(name)); CREATE INDEX e_brin ON e USING brin (n); CREATE INDEX e_where ON e (id) WHERE n > 5;
CREATE TABLE parts (id int, code encrypted_text(unordered)) PARTITION BY HASH (code);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE UNIQUE INDEX parts_code ON parts (code);
INSERT INTO parts SELECT id, code FROM p WHERE id <= 500;
CREATE MATERIALIZED VIEW view AS SELECT id, name FROM e WHERE id <= 100;
CREATE INDEX view_name ON view USING hash (name);
CREATE UNLOGGED TABLE unlogged AS SELECT id, code::encrypted_text FROM p; CREATE INDEX unlogged_code ON unlogged USING hash (code);
CREATE TABLE plain AS SELECT * FROM p; CREATE INDEX plain_code ON plain USING hash (code); CREATE INDEX plain_tags ON plain USING gin (tags);
ANALYZE;
});
my @dependent = qw(e_array e_bloom e_by_hash e_code_key e_doc e_expr e_hash e_name e_number e_own e_partial e_tags parts_0_code_idx parts_1_code_idx unlogged_code view_name);
my $listed = join "\n", @dependent;

my $by_index = 'SET enable_seqscan = off; SET enable_indexonlyscan = off;';
my @conditions = (q{doc @> '{"k3": 5}'}, q{name LIKE '%abc%'}, q{tags && '{x7,x8}'}, q{tags = '{x7,all}'}, q{code = 'c77'}, q{code IN ('c1', 'c2', 'c3')}, q{n = 77}, q{v = 'v78' AND id % 2 = 0},
  q{name = 'Needle ' || md5('77')}, q{lower(name) = lower('Needle ' || md5('78'))});

sub rows_of { return lines_of($node, "$by_index SELECT count(*), sum(hashint4(id)) FROM $_[0] WHERE $_[1]"); }

sub all_is_found
{
  my ($what) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is(join("\n", map { rows_of('e', $_) } @conditions), join("\n", map { rows_of('p', $_) } @conditions), "$what: the same rows by index");
  is(lines_of($node, "$by_index SELECT count(*) FROM parts JOIN p USING (id) WHERE parts.code = p.code"), '500', '... and from partitions');
  is(lines_of($node, "$by_index SELECT count(*) FROM view WHERE name = 'Needle ' || md5('77')"), '1', '... and from a materialized view');
  lines_of($node, 'INSERT INTO unlogged SELECT id, code FROM p WHERE NOT EXISTS (SELECT FROM unlogged)');    # a crash has emptied it
  is(lines_of($node, "$by_index SELECT count(*) FROM unlogged WHERE code = 'c77'"), '1', '... and from an unlogged table');
  is(lines_of($node, "SELECT count(bt_index_check(i, true)) FROM unnest('{e_code_key,parts_0_code_idx,e_own,e_ordered,e_by_hash}'::regclass[]) i"), '5', '... and btrees are in order');
  is(lines_of($node, 'SELECT * FROM tde_verify_database()'), '', '... and verified');
  return fails_with($node, q{INSERT INTO e (id, code) VALUES (99999, 'c77')}, { state => '23505' }, '... and unique');
}

my $versions = q{SELECT version, state FROM tde.keys WHERE name = 'hash' ORDER BY version};
my $files = q{SELECT string_agg(c.oid::regclass || ':' || pg_relation_filenode(c.oid), ' ' ORDER BY c.oid) FROM pg_class c WHERE relkind IN ('i', 'r', 'm') AND oid >= 16384};
sub changed_files
{
  my %before = map { split /:/ } split / /, $_[0];
  my %after  = map { split /:/ } split / /, $_[1];
  return join "\n", sort grep { $before{$_} ne $after{$_} } keys %before;
}

all_is_found('before');
my $before = lines_of($node, $files);
is(lines_of($node, 'SELECT * FROM tde_rotate_hash_key(dry_run => true) i ORDER BY i::text'), $listed, 'a dry run names what depends on it');
is(lines_of($node, $versions) . lines_of($node, $files), "1|active$before", '... and changes nothing');

# What functions give for a value, whatever it is for: those of which it is another one afterwards are those that indexes are looked for by.
my $results = q{SET client_min_messages = error; CREATE TEMP TABLE result (function regprocedure, result text);
DO $$
DECLARE
  f record;
  r text;
BEGIN
  FOR f IN SELECT p.oid::regprocedure AS name, pg_get_function_arguments(p.oid) AS args, p.pronargs AS n, format_type(p.proargtypes[0], NULL) AS one, format_type(p.proargtypes[1], NULL) AS two,
             p.proname, p.pronamespace::regnamespace AS schema
           FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'tde_column'
           WHERE p.provolatile = 'i' AND p.prokind = 'f' AND NOT p.proretset AND p.pronargs IN (1, 2) AND 'internal'::regtype <> ALL (p.proargtypes) LOOP
    BEGIN
      EXECUTE format('SELECT %s.%I(%s)::text', f.schema, f.proname, concat_ws(', ', format('%L::%s', sample(f.one), f.one), CASE WHEN f.n = 2 THEN format('%L::%s', sample(f.two, 1), f.two) END)) INTO r;
      INSERT INTO result VALUES (f.name, r);
    EXCEPTION WHEN OTHERS THEN
      NULL;
    END;
  END LOOP;
END
$$;
SELECT function, result FROM result ORDER BY 1;};
lines_of($node, q{CREATE FUNCTION sample(type text, other int DEFAULT 0) RETURNS text LANGUAGE sql AS $$
  SELECT CASE WHEN type ~ 'bool' THEN 'true' WHEN type ~ 'timestamp' THEN '2000-01-0' || 1 + other || ' 12:00' WHEN type ~ 'date' THEN '2000-01-0' || 1 + other WHEN type ~ 'interval' THEN 1 + other || ' hour'
         WHEN type ~ 'time' THEN '12:0' || other WHEN type ~ 'uuid' THEN '00000000-0000-0000-0000-00000000000' || other WHEN type ~ 'inet' THEN '10.0.0.' || other ELSE 1 + other || '' END $$});
my %result = map { split /\|/, $_, 2 } split /\n/, lines_of($node, $results);
cmp_ok(scalar(keys %result), '>', 1500, 'functions are called');

# ---- it is rotated ----

my $offset = log_offset($node);
is(lines_of($node, 'SELECT * FROM tde_rotate_hash_key() i ORDER BY i::text'), $listed, 'rotated');
like(log_since($node, $offset), qr/LOG:  hash key rotated to version 2 by user "[^"]+".*\n.*DETAIL:  16 indexes were built anew\./, '... and the log tells');
is(lines_of($node, $versions), "1|retired\n2|active", '... to a new version');
is(changed_files($before, lines_of($node, $files)), $listed, 'these indexes are built anew, and no others');
all_is_found('rotated');

my %again = map { split /\|/, $_, 2 } split /\n/, lines_of($node, $results);
my %other = map { $_ => 1 } grep { $result{$_} ne $again{$_} } keys %result;
# Two of three comparisons without order come out the same by chance.
my %keyed = map { split /\|/ } split /\n/, lines_of($node, q{SELECT p.oid::regprocedure, p.prosrc ~ 'hash' AND p.prosrc !~ 'padded' FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
  WHERE l.lanname = 'c' AND p.prosrc ~ '^tde_((padded_)?(hash|unordered_\w+)|hash_numeric|hash_float8|gin_extract_\w+)$'});
cmp_ok(scalar(grep { /hash/ } keys %other), '>', 50, 'hashes are others under another key');
is(join("\n", sort grep { ($keyed{$_} // '') eq 't' && !$other{$_} } keys %result), '', '... all of them');
cmp_ok(scalar(grep { !/hash/ } keys %other), '>', 0, '... and comparisons without order');
is(join("\n", sort grep { !exists $keyed{$_} } keys %other), '', 'they are those that indexes are looked for by');

# ---- one transaction ----

$before = lines_of($node, $files);
lines_of($node, 'BEGIN; SELECT count(*) FROM tde_rotate_hash_key(); INSERT INTO e (id, name, code) VALUES (5001, \'gone\', \'gone\'); ROLLBACK');
is(lines_of($node, $versions) . lines_of($node, $files), "1|retired\n2|active$before", 'rolled back: nothing has changed');
all_is_found('rolled back');
is((split /\n/, lines_of($node, qq{$by_index BEGIN; SAVEPOINT s; SELECT count(*) FROM tde_rotate_hash_key(); ROLLBACK TO s; SELECT id FROM e WHERE code = 'c5'; SELECT id FROM e WHERE n = 5 AND id = 5; COMMIT}))[-1],
  '5', '... to a savepoint');
fails_with($node, qq{BEGIN; DECLARE c CURSOR FOR SELECT a.id FROM e a JOIN e b ON a.n = b.n; FETCH c; SELECT tde_rotate_hash_key()},
  { state => '55006', message => qr/in a transaction that has hashed encrypted values/, hint => qr/transaction of its own/ }, 'not beside a cursor that joins by it');
fails_with($node, 'BEGIN; SELECT tde_rotate_hash_key(); PREPARE TRANSACTION \'x\'', { state => '0A000' }, 'it cannot be prepared');
fails_with($node, 'SET default_transaction_read_only = on; SELECT tde_rotate_hash_key()', { state => '25006' }, 'not in a read-only transaction');
is(lines_of($node, $versions), "1|retired\n2|active", '... and nothing has changed');

# ---- whom it waits for, and who waits ----

sub out_of { return session_try(@_)->{out}; }

sub waits
{
  my ($sql, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  return fails_with($node, "SET lock_timeout = '100ms'; SET enable_mergejoin = off; $sql", { state => '55P03' }, $name);
}
lines_of($node, 'CREATE TABLE other AS SELECT id, code::encrypted_text(unordered) FROM p');
# 16 sorts for count(DISTINCT), and what is sorted is grouped without hashes
my $by_hash = $node->pg_version->major < 16 ? '' : 'SET enable_presorted_aggregate = off;';
foreach my $use ('SELECT count(*) FROM e', 'SELECT count(*) FROM other a JOIN other b USING (code)', 'SELECT count(DISTINCT name) FROM (SELECT code::encrypted_text AS name FROM p GROUP BY 1) s')
{
  my $session = session($node);
  session_try($session, "SET enable_mergejoin = off; $by_hash BEGIN; $use");
  waits('SELECT tde_rotate_hash_key()', "it waits for a transaction: $use");
  session_try($session, 'SAVEPOINT s; SELECT 1/0');
  session_try($session, 'ROLLBACK TO s');
  waits('SELECT tde_rotate_hash_key()', '... also after a part of it has failed');
  session_try($session, 'COMMIT');
  $session->quit;
}
my $session = session($node);
session_try($session, 'SET enable_mergejoin = off; BEGIN; SAVEPOINT s; SELECT count(*) FROM other a JOIN other b USING (code); SELECT 1/0');
session_try($session, 'ROLLBACK TO s; SELECT count(*) FROM plain');
waits('SELECT tde_rotate_hash_key()', 'what has hashed only in a subtransaction is waited for as well');
session_try($session, 'COMMIT');
$session->quit;
$session = session($node);
session_try($session, 'BEGIN; SELECT count(*) FROM tde_rotate_hash_key()');
waits('SELECT id FROM e WHERE id = 1', 'others wait: for a table with such an index');
waits('SELECT count(*) FROM other a JOIN other b USING (code)', '... to hash');
waits(q{SELECT tde_create_key('another')}, '... to make a key');
waits('CREATE INDEX ON other USING hash (code)', '... to make such an index');
is(lines_of($node, 'SET enable_hashagg = off; SELECT count(*) FROM other WHERE id = 5; SELECT max(code) FROM other; SELECT count(*) FROM plain a JOIN plain b USING (code)'), "1\nc999\n2000", 'the rest goes on');
session_try($session, 'ROLLBACK');
$session->quit;

# ---- sessions that go on ----

# Prepared, a transaction that reads what was there before, and one that has not seen any of it.
my @sessions = map { session($node) } 1 .. 2;
my $prepared = q{SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; PREPARE by_code(text) AS SELECT id FROM e WHERE code = $1; PREPARE by_name(text) AS SELECT id FROM e WHERE name LIKE $1;
  PREPARE by_n(int) AS SELECT count(*) FROM e WHERE n = $1};
session_try($_, $prepared) foreach @sessions;
my $execute = q{EXECUTE by_code('c77'); EXECUTE by_name('%' || md5('77') || '%'); EXECUTE by_n(77)};
is(out_of($_, $execute), out_of($sessions[0], $execute), 'prepared') foreach @sessions;
my $was = out_of($sessions[0], $execute);
session_try($sessions[1], 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM plain');
lines_of($node, q{UPDATE e SET code = 'moved', name = 'moved', n = 7777 WHERE id = 77; DELETE FROM e WHERE id = 78});
lines_of($node, 'SELECT count(*) FROM tde_rotate_hash_key()');
is(out_of($sessions[1], $execute), $was, 'a snapshot from before sees the rows of then, by the new index');
session_try($sessions[1], 'COMMIT');
isnt(out_of($_, $execute), $was, 'prepared statements go on') foreach @sessions;
is(out_of($_, q{EXECUTE by_code('moved')}), '77', '... and find') foreach @sessions;
$_->quit foreach @sessions;
lines_of($node, q{UPDATE e SET code = p.code, name = p.name, n = p.n FROM p WHERE e.id = 77 AND p.id = 77; INSERT INTO e SELECT * FROM p WHERE id = 78});
all_is_found('after others');

# Readers, writers and joins in workers; each statement looks at its own result.
lines_of($node, q{CREATE TABLE big AS SELECT i AS id, ('b' || i)::encrypted_text AS code FROM generate_series(1, 20000) i; ALTER TABLE big SET (parallel_workers = 2); ANALYZE big;
CREATE FUNCTION must(what text, got int8, wanted int8) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF got <> wanted THEN RAISE EXCEPTION '%: % in place of %', what, got, wanted; END IF; RETURN 1; END $$});
my %script = (
  reads => q{SET enable_seqscan = off;
\set id random(1, 2000)
SELECT must('code', count(*), 1) FROM e WHERE code = 'c' || :id;
SELECT must('name', count(*), 1) FROM e WHERE name LIKE '%' || md5(:id::text) || '%';
SELECT must('hash', count(*), 1) FROM e WHERE name = 'Needle ' || md5(:id::text);
},
  joins => q{SELECT must('join', count(*), 20000) FROM big a JOIN big b ON a.code = b.code;
SELECT must('groups', count(*), 20000) FROM (SELECT code FROM big GROUP BY code) s;
},
  writes => q{SET enable_seqscan = off;
\set id random(10000, 100000000)
INSERT INTO e (id, code, name, n) VALUES (:id, 'w' || :id, 'written ' || :id, :id) ON CONFLICT DO NOTHING;
SELECT must('written', count(*), 1) FROM e WHERE code = 'w' || :id AND name = 'written ' || :id;
});
write_bytes($node->basedir . "/$_.sql", $script{$_}) foreach keys %script;
$ENV{PGOPTIONS} = '-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0 -c enable_mergejoin=off -c enable_nestloop=off';
like(lines_of($node, 'EXPLAIN SELECT count(*) FROM big a JOIN big b ON a.code = b.code'), qr/Parallel Hash Join/, 'a join that workers share');
my %said;
my @running = map {
  my $kind = $_;
  $said{$kind} = '';
  IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', 12, '-f', $node->basedir . "/$kind.sql", '-h', $node->host, '-p', $node->port, 'postgres' ], '>', \$said{$kind}, '2>&1')
} sort keys %script;
delete $ENV{PGOPTIONS};
my $rotated = 0;
foreach (1 .. 6)
{
  $rotated++ if attempt($node, 'SELECT count(*) FROM tde_rotate_hash_key()')->{state} eq '';
  select undef, undef, undef, 1;
}
$_->finish foreach @running;
cmp_ok($rotated, '>=', 4, 'rotated beside readers, writers and joins');
unlike($said{$_}, qr/ERROR|aborted/, "$_ are right") foreach sort keys %script;
like($said{$_}, qr/number of transactions actually processed: [1-9]/, "... and there are some: $_") foreach sort keys %script;
lines_of($node, 'DELETE FROM e WHERE id > 5000');
all_is_found('beside others');

# ---- what cannot be built anew ----

my $refusal = { state => '2BP01', message => qr/^cannot rotate the hash key because something depends on it that is not built anew$/, hint => qr/^Drop it, rotate the hash key, and make it again\./ };
my $owner = session($node);
session_try($owner, 'CREATE TEMP TABLE mine (a encrypted_text); CREATE INDEX mine_a ON mine USING hash (a)');
lines_of($node, q{CREATE TABLE ranges (a encrypted_text) PARTITION BY RANGE (a encrypted_text_unordered_ops); CREATE TABLE lists (a encrypted_text) PARTITION BY LIST (tde_internal.tde_hash(a));
CREATE TABLE checked (a encrypted_text CONSTRAINT odd CHECK (tde_internal.tde_hash(a) <> 0));
CREATE DOMAIN odd AS encrypted_text CONSTRAINT odder CHECK (tde_internal.tde_hash(VALUE) <> 0); CREATE TABLE hashes (a encrypted_text) PARTITION BY HASH (a)});
$before = lines_of($node, $files) . lines_of($node, $versions);
fails_with($node, 'CREATE TABLE numbers (a encrypted_text, h int GENERATED ALWAYS AS (tde_internal.tde_hash(a)) STORED)', { state => '42P17', message => qr/would store decrypted values/ }, 'no generated column depends on it');
foreach my $call ('tde_rotate_hash_key()', 'tde_rotate_hash_key(true)')
{
  my $refused = attempt($node, "SELECT $call");
  is(join("\n", sort split /\n/, $refused->{detail}), 'Constraint odd of public.checked depends on it.
Constraint odder of public.odd depends on it.
Index pg_temp_N.mine_a is of a temporary table of another session.
Table public.lists is partitioned by it.
Table public.ranges is partitioned by it.' =~ s/pg_temp_N/($refused->{detail} =~ m{(pg_temp_\d+)})[0]/er, "$call names all that it cannot build anew");
  fails_with($node, "SELECT $call", $refusal, '... and is refused');
}
is(lines_of($node, $files) . lines_of($node, $versions), $before, '... before anything is changed');
session_try($owner, 'DROP TABLE mine');
$owner->quit;
lines_of($node, 'DROP TABLE ranges, lists, checked; DROP DOMAIN odd');
is(lines_of($node, 'CREATE TEMP TABLE mine (a encrypted_text); CREATE INDEX mine_a ON mine USING hash (a); INSERT INTO mine SELECT code FROM p; SELECT count(*) FROM tde_rotate_hash_key(); '
      . "$by_index SELECT count(*) FROM mine WHERE a = 'c77'"), "17\n1", "what is left is built anew, with the session's own temporary tables");

# ---- who ----

lines_of($node, 'CREATE ROLE keeper LOGIN; CREATE ROLE nobody LOGIN; GRANT EXECUTE ON FUNCTION tde_rotate_hash_key(boolean) TO keeper');
# An index that cannot be built quotes its key, and a function what it likes, to who may read the table alone.
lines_of($node, q{CREATE TABLE quoted (id int, code encrypted_text(unordered)); INSERT INTO quoted VALUES (1, 'quoted value'), (2, 'quoted value');
  CREATE FUNCTION apart(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN i; END'; CREATE UNIQUE INDEX quoted_code ON quoted (code, apart(id));
  CREATE OR REPLACE FUNCTION apart(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'quoted value'; RETURN 1; END $$});
fails_with($node, 'SELECT tde_rotate_hash_key()', { state => '23505', detail => qr/quoted value/ }, 'what an index says is told to who may read the table');
my $not_told = attempt($node, 'SELECT tde_rotate_hash_key()', user => 'keeper');
is($not_told->{state}, '23505', '... to others that it fails');
like($not_told->{message}, qr/^message of an index or a function of table public\.quoted is not shown$/, '... and of which table');
unlike($not_told->{err}, qr/quoted value/, '... and no value');
lines_of($node, 'DROP TABLE quoted; DROP FUNCTION apart');
fails_with($node, 'SELECT tde_rotate_hash_key(true)', { state => '42501' }, 'not everybody may', user => 'nobody');
is(attempt($node, 'SELECT count(*) FROM tde_rotate_hash_key()', user => 'keeper')->{out}, '16', 'who may needs no right on a table');
# what an index calls is called as the table's owner
lines_of($node, q{CREATE ROLE owner LOGIN; GRANT CREATE ON SCHEMA public TO owner});
lines_of($node, q{SET SESSION AUTHORIZATION owner; CREATE TABLE trap (a encrypted_text); INSERT INTO trap VALUES ('x');
CREATE FUNCTION who(encrypted_text) RETURNS encrypted_text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'owner' THEN RAISE 'as %', current_user; END IF; RETURN $1; END $$;
CREATE INDEX trap_who ON trap USING hash (who(a))});
is(lines_of($node, 'SELECT count(*) FROM tde_rotate_hash_key()'), '17', "functions of an index run as the table's owner");

# ---- killed in the middle ----

lines_of($node, q{CREATE TABLE slow AS SELECT i AS id, ('s' || i)::encrypted_text AS a FROM generate_series(1, 200) i;
CREATE FUNCTION slowly(encrypted_text) RETURNS encrypted_text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN IF current_setting('slow.down', true) = 'yes' THEN PERFORM pg_sleep(0.2); END IF; RETURN $1; END $$;
CREATE INDEX slow_a ON slow USING hash (slowly(a)); CREATE INDEX slow_b ON slow USING hash (a)});
$before = lines_of($node, $versions);
foreach my $how ('the process', 'the server')
{
  my $middle = IPC::Run::start([ 'psql', '-XAtq', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', "SET slow.down = 'yes'; SELECT tde_rotate_hash_key()" ], '>', \my $out, '2>&1');
  ok($node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM tde.progress WHERE phase = 'rebuilding indexes' AND blocks_total > 0 AND blocks_done > 0)}), 'progress is shown');
  ok($node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')}), 'it builds an index');
  if ($how eq 'the process')
  {
    my $since = log_offset($node);
    kill 'KILL', lines_of($node, q{SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
    $middle->finish;
    # connections are accepted for a moment yet
    $node->wait_for_log(qr/database system is ready to accept connections/, $since);
  }
  else
  {
    $node->stop('immediate');
    $middle->finish;
    $node->start;
  }
  is(lines_of($node, $versions), $before, "$how is killed in the middle: the key is the old one");
  all_is_found("$how is killed in the middle");
}
is(lines_of($node, "$by_index SELECT id FROM slow WHERE a = 's77'"), '77', '... and what it was at');
is(lines_of($node, 'SELECT count(*) FROM tde_rotate_hash_key()'), '19', '... and it can be repeated');
$node->stop('immediate');
$node->start;
all_is_found('killed afterwards');
isnt(lines_of($node, $versions), $before, '... the key is the new one');

# ---- a standby ----

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
own_wallet($standby);
send_wallet($node, $standby);
$standby->start;
my $there = session($standby);
my $join = q{SET enable_seqscan = off; SET enable_mergejoin = off; SELECT count(*) FROM e WHERE code = 'c77'; SELECT count(*) FROM e WHERE name LIKE '%' || md5('77') || '%'; SELECT count(*) FROM other a JOIN other b USING (code)};
is(out_of($there, $join), "1\n1\n2000", 'a standby reads by index');
fails_with($standby, 'SELECT tde_rotate_hash_key()', { state => '25006' }, '... and rotates nothing');
is(lines_of($standby, 'SELECT count(*) FROM tde_rotate_hash_key(true)'), '19', '... but names the indexes');
lines_of($node, 'SELECT count(*) FROM tde_rotate_hash_key()');
$node->wait_for_catchup($standby);
is(out_of($there, $join), "1\n1\n2000", 'it follows the rotation');
session_try($there, 'BEGIN; SELECT count(*) FROM other a JOIN other b USING (code)');
lines_of($standby, q{ALTER SYSTEM SET max_standby_streaming_delay = '100ms'; SELECT pg_reload_conf()});
lines_of($node, 'SELECT count(*) FROM tde_rotate_hash_key()');
$node->wait_for_catchup($standby);
like(attempt($standby, "$join")->{out}, qr/^1\n1\n2000$/, 'a transaction there that has hashed is in the way, and goes');
cmp_ok(lines_of($standby, q{SELECT confl_lock FROM pg_stat_database_conflicts WHERE datname = 'postgres'}), '>', 0, '... as others that are');
eval { $there->quit };
$standby->stop;

# ---- the wallet is closed ----

lines_of($node, q{ALTER SYSTEM SET tde_column.passphrase_command = ''; SELECT pg_reload_conf(), tde_wallet_close()});
fails_with($node, 'SELECT tde_rotate_hash_key()', { state => 'TDE01', detail => qr/to rotate the hash key/ }, 'with the wallet closed');
is(lines_of($node, 'SELECT count(*) FROM tde_rotate_hash_key(true)'), '19', '... a dry run');
$node->stop;
done_testing();
