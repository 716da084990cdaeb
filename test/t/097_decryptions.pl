# Who was given how many values of which columns in clear: exact to the value, whoever reads and however, over restarts, and after a crash but for the
# last minute.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node(
  'decryptions',
  extension => 1,
  conf      => "tde_column.passphrase_command = 'echo reader-passphrase'
tde_column.track_decryptions = on
wal_level = logical
max_connections = 100
restart_after_crash = on
");
$node->start;
my $me       = lines_of($node, 'SELECT current_user');
my $parallel = parallel_setting($node);
my $decode   = -e run_command([ 'pg_config', '--pkglibdir' ]) . '/test_decoding.so';

lines_of(
  $node, q{
SELECT tde_wallet_create('reader-passphrase');
CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE auditor LOGIN; GRANT pg_read_all_stats TO auditor;
GRANT ALL ON SCHEMA public TO alice, bob;
CREATE TABLE t (id int PRIMARY KEY, c encrypted_text, d encrypted_text(nosalt), n encrypted_int4, a encrypted_text[]);
INSERT INTO t SELECT g, 'c' || g, 'd' || g % 10, g, ARRAY['x', NULL, 'y'] FROM generate_series(1, 100) g;
-- columns before the one that is asked for are NULL
CREATE TABLE gaps (id int, a encrypted_text, b encrypted_text, c encrypted_text);
INSERT INTO gaps VALUES (1, NULL, NULL, 'x'), (2, 'x', NULL, 'y');
CREATE TABLE parts (k int, c encrypted_text) PARTITION BY RANGE (k);
CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE high (c encrypted_text, k int);
ALTER TABLE parts ATTACH PARTITION high FOR VALUES FROM (10) TO (20);
INSERT INTO parts SELECT g, 'p' || g FROM generate_series(1, 19) g;
CREATE TABLE rows_of_roles (owner name, c encrypted_text);
INSERT INTO rows_of_roles SELECT o, 'x' FROM unnest('{alice,alice,bob}'::name[]) o;
ALTER TABLE rows_of_roles ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON rows_of_roles USING (owner = current_user);
CREATE VIEW v AS SELECT id, c FROM t;
GRANT SELECT, UPDATE ON t, v, rows_of_roles TO alice, bob;
CREATE INDEX ON t (n);
CREATE FUNCTION as_bob(i int) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT c FROM t WHERE id = i';
ALTER FUNCTION as_bob OWNER TO bob;
CREATE FUNCTION in_plpgsql(i int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT length(c) FROM t WHERE id = i); END';
CREATE FUNCTION into_variable(i int) RETURNS int LANGUAGE plpgsql AS 'DECLARE s text; BEGIN SELECT c INTO s FROM t WHERE id <= i; RETURN length(s); END';
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM length(NEW.c); RETURN NEW; END';
CREATE TABLE watched (c encrypted_text);
CREATE TRIGGER look BEFORE INSERT ON watched FOR EACH ROW EXECUTE FUNCTION look()});

# Session role and role (if one of them is not ours), column and number of what has been counted since the last call; comparisons apart.
sub counted
{
  my ($purpose) = @_;
  my $lines = lines_of(
    $node, "SELECT CASE WHEN session_role <> '$me' OR role_name <> '$me' THEN replace(session_role || '/' || role_name, '$me', 'me') || ':' ELSE '' END
       || concat_ws('.', table_name, column_name) || ' ' || decrypted
     FROM tde.decryptions WHERE purpose = '$purpose' ORDER BY 1");
  lines_of($node, 'SELECT tde_decryptions_reset()');
  return $lines;
}

# ---- what is counted ----

# to which there is no cast but that by text
my $xml = attempt($node, "SELECT xmlcomment('')")->{state} eq '' ? 'xml' : '"char"';
my @kinds = (
  [ 'SELECT',                      'SELECT c, d, n, a FROM t WHERE id <= 10', "t.a 20\nt.c 10\nt.d 10\nt.n 10" ],
  [ 'a view',                      'SELECT c FROM v WHERE id <= 10', 't.c 10' ],
  [ 'results as they are stored',  'SET tde_column.transparent_results = off; SELECT d, c, a FROM t WHERE id <= 10', " 20\nt.c 10\nt.d 10" ],
  [ 'a cursor',                    'BEGIN; DECLARE x CURSOR FOR SELECT c FROM t; FETCH 7 FROM x; MOVE 5 FROM x; FETCH 3 FROM x; COMMIT', 't.c 10' ],
  [ 'a cursor WITH HOLD',          'DECLARE x CURSOR WITH HOLD FOR SELECT id, c FROM t; FETCH 7 FROM x', 't.c 7' ],
  [ 'COPY of a table',             'COPY t TO STDOUT', "t 200\nt.c 100\nt.d 100\nt.n 100" ],
  [ 'COPY of columns with NULLs',  'COPY gaps (c, id, b, a) TO STDOUT', "gaps.a 1\ngaps.c 2" ],
  [ 'COPY of a query',             'COPY (SELECT d, c FROM t WHERE id <= 10) TO STDOUT', "t.c 10\nt.d 10" ],
  [ 'functions and operators',     'SELECT length(c), c LIKE $$c%$$, n + 1, upper(d), left(c, 1), c::varchar FROM t WHERE id <= 10', "t.c 40\nt.d 10\nt.n 10" ],
  [ 'output functions',            "SELECT tde_internal.encrypted_text_out(c), tde_internal.encrypted_text_send(d), c::$xml FROM t WHERE id <= 10", "t.c 20\nt.d 10" ],
  [ 'a condition by a function',   'SELECT id FROM t WHERE length(c) > 0', 't.c 100' ],
  [ 'aggregates',                  'SELECT sum(n), max(length(c)), string_agg(d, $$,$$) FROM t', "t.c 100\nt.d 100\nt.n 100" ],
  [ 'a window',                    'SELECT sum(n) OVER (ROWS UNBOUNDED PRECEDING) FROM t', 't.n 100' ],
  [ 'parallel workers',            "SET $parallel = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
                                    SELECT sum(length(c)) FROM t", 't.c 100' ],
  [ 'a join',                      'SELECT x.c, y.d, length(x.d) FROM t x JOIN t y USING (id) WHERE id <= 10', "t.c 10\nt.d 20" ],
  [ 'a lateral subquery',          'SELECT l FROM t, LATERAL (SELECT length(t.c) AS l OFFSET 0) x WHERE id <= 10', 't.c 10' ],
  [ 'a correlated subquery',       'SELECT (SELECT max(length(t.c) + g.id) FROM gaps g) FROM t WHERE id <= 10', 't.c 20' ],
  [ 'a subquery apart',            'SELECT length(x) FROM (SELECT c AS x FROM t WHERE id <= 10 OFFSET 0) s', 't.c 10' ],
  [ 'WITH',                        'WITH w AS MATERIALIZED (SELECT c AS x FROM t WHERE id <= 10) SELECT x FROM w', 't.c 10' ],
  [ 'WITH RECURSIVE',              'WITH RECURSIVE r AS (SELECT 1 AS i, c FROM t WHERE id = 1 UNION ALL SELECT i + 1, c FROM r WHERE i < 5)
                                    SELECT length(c) FROM r', 't.c 5' ],
  [ 'UNION ALL of functions',      'SELECT length(c) FROM t WHERE id <= 10 UNION ALL SELECT length(d) FROM t', "t.c 10\nt.d 100" ],
  [ 'UNION ALL of two columns',    'SELECT c FROM t WHERE id <= 10 UNION ALL SELECT d FROM t', ' 110' ],
  [ 'partitions',                  'SELECT c, length(c) FROM parts', 'parts.c 38' ],
  [ 'one of them',                 'SELECT c FROM high', 'parts.c 10' ],
  [ 'array elements',              'SELECT a::text[] FROM t WHERE id <= 10', 't.a 20' ],
  [ 'RETURNING',                   'UPDATE t SET d = d WHERE id <= 10 RETURNING c, length(n::text)', "t.c 10\nt.n 10" ],
  [ 'ON CONFLICT',                 'INSERT INTO t (id, c) VALUES (1, $$c1$$) ON CONFLICT (id) DO UPDATE SET n = t.n + 1', 't.n 1' ],
  [ 'EXPLAIN ANALYZE',             'EXPLAIN ANALYZE SELECT c FROM t WHERE id <= 10', 't.c 10' ],
  [ 'EXPLAIN',                     'EXPLAIN SELECT length(c) FROM t WHERE id <= 10', '' ],
  [ 'a prepared statement',        'PREPARE q AS SELECT c FROM t WHERE id = $1; EXECUTE q(1); EXECUTE q(2)', 't.c 2' ],
  [ 'storing them',                'CREATE TEMP TABLE u AS SELECT c FROM t', '' ],
  [ 'what is rolled back',         'BEGIN; SELECT c FROM t WHERE id <= 10; ROLLBACK', 't.c 10' ],
  [ 'PL/pgSQL',                    'SELECT in_plpgsql(1), in_plpgsql(2)', 't.c 2' ],
  [ 'a variable of PL/pgSQL',      'SELECT into_variable(1)', ' 1' ],
  [ 'a trigger',                   'INSERT INTO watched VALUES ($$x$$), ($$y$$)', ' 2' ],
  [ 'a whole row',                 'SELECT gaps, row_to_json(gaps) FROM gaps', ' 6' ],
  [ 'a constant',                  'SELECT $$x$$::encrypted_text', ' 1' ],
  [ 'SECURITY DEFINER',            'SET SESSION AUTHORIZATION alice; SELECT as_bob(1)', 'alice/bob:t.c 1' ],
  [ 'SET ROLE',                    'SET ROLE alice; SELECT c FROM t WHERE id <= 10', 'me/alice:t.c 10' ],
  [ 'policies of rows',            'SET SESSION AUTHORIZATION alice; SELECT c FROM rows_of_roles', 'alice/alice:rows_of_roles.c 2' ]);

counted('reader');
foreach my $kind (@kinds)
{
  my ($name, $sql, $expected) = @$kind;
  my $got;

  lines_of($node, "SET client_min_messages = error; $sql");
  $got = counted('reader');
  is($got, $expected, $name);
}

attempt($node, 'SELECT c, 1 / (id - 15) FROM t WHERE id BETWEEN 11 AND 20');
is(counted('reader'), 't.c 4', 'a statement that an error ends');

if ($decode)
{
  lines_of($node, q{SELECT pg_create_logical_replication_slot('s', 'test_decoding')});
  lines_of($node, q{INSERT INTO gaps VALUES (3, 'x', 'y', NULL); SELECT tde_decryptions_reset()});
  lines_of($node, q{SELECT * FROM pg_logical_slot_get_changes('s', NULL, NULL); SELECT pg_drop_replication_slot('s')});
  is(counted('reader'), "gaps.a 1\ngaps.b 1", 'logical decoding');
}

# ---- masks: what shows some of a value gives it, what shows something else does not ----

set_conf($node, 'tde_column.decrypt_role' => 'auditor', 'tde_column.decrypt_policy' => 'null');
lines_of(
  $node, q{
CREATE ROLE carol LOGIN; GRANT SELECT, UPDATE ON t TO carol;
SELECT tde_set_mask('t', 'c', 'null'), tde_set_mask('t', 'c', 'first 1, last 1', 'alice'), tde_set_mask('t', 'c', 'clear', 'bob'),
  tde_set_mask('t', 'd', 'constant ''x'''), tde_set_mask('t', 'd', 'hash', 'alice'), tde_set_mask('t', 'n', 'range 10', 'alice')});
my %given = (
  'SELECT c, d, n, a FROM t WHERE id <= 10' => { alice => "t.c 10\nt.d 10\nt.n 10", bob => 't.c 10', carol => '' },
  'UPDATE t SET id = id WHERE id <= 10 RETURNING c, d, n' => { alice => "t.c 10\nt.d 10\nt.n 10", bob => 't.c 10', carol => '' },
  'DECLARE x CURSOR WITH HOLD FOR SELECT c, d FROM t; FETCH 7 FROM x' => { alice => "t.c 7\nt.d 7", bob => 't.c 7', carol => '' },
  'SELECT tde_internal.encrypted_text_out(c), tde_internal.encrypted_text_send(c) FROM t WHERE id <= 10' => { alice => '', bob => 't.c 20', carol => '' },
  "SELECT string_agg(c, ',' ORDER BY c) FROM t WHERE id <= 10" => { alice => '', bob => 't.c 10', carol => '' },
  'SELECT length(c) FROM t WHERE id <= 10'               => { alice => '', bob => 't.c 10', carol => '' },
  'SELECT max(c), count(lower(c)) FROM t WHERE id <= 10' => { alice => '', bob => 't.c 11', carol => '' },
  'SET row_security = off; SELECT c FROM t WHERE id <= 10' => { alice => '', bob => 't.c 10', carol => '' });
foreach my $sql (sort keys %given)
{
  foreach my $role (sort keys %{ $given{$sql} })
  {
    (my $expected = $given{$sql}{$role}) =~ s{^}{$role/$role:}mg if $given{$sql}{$role};
    attempt($node, $sql, user => $role);
    is(counted('reader'), $expected // '', "$role: $sql");
  }
}
set_conf($node, 'tde_column.decrypt_role' => '', 'tde_column.decrypt_policy' => 'error');

# ---- comparisons: nobody sees their values ----

lines_of($node, 'SELECT id FROM t ORDER BY c');
is(counted('reader'), '', 'a sort gives nobody a value');
lines_of($node, 'SELECT id FROM t ORDER BY c');
is(counted('comparison'), ' 100', '... and decrypts each once, of no column');
lines_of($node, 'SELECT id FROM t WHERE c > $$c5$$');
is(counted('comparison'), ' 100', 'a condition decrypts each');
lines_of($node, 'SELECT c FROM t WHERE c > $$c5$$ AND id <= 10');
is(counted('reader'), 't.c 4', 'what has been compared and is shown is counted as shown');

# ---- who sees the counts, and who may forget them ----

lines_of($node, "SELECT tde_decryptions_reset(); SET SESSION AUTHORIZATION alice; SELECT c FROM t WHERE id <= 3");
lines_of($node, "SET SESSION AUTHORIZATION bob; SELECT c FROM t WHERE id <= 4");
foreach my $role ([ 'alice', 'alice 3' ], [ 'bob', 'bob 4' ], [ 'auditor', "alice 3\nbob 4" ])
{
  is(
    lines_of($node, "SET SESSION AUTHORIZATION $role->[0]; SELECT role_name || ' ' || decrypted FROM tde.decryptions ORDER BY 1"),
    $role->[1], "what $role->[0] sees");
}
fails_with($node, 'SELECT tde_decryptions_reset()', { state => '42501' }, 'only who was granted it forgets', user => 'auditor');
fails_with($node, 'SET tde_column.track_decryptions = off', { state => '55P02' }, 'no session is left out');
fails_with($node, "ALTER ROLE alice SET tde_column.track_decryptions = off", { state => '55P02' }, 'and no role');
is(lines_of($node, "SELECT tde_decryptions_reset(current_date)"), '0',  'what was counted today is not of before today');
is(lines_of($node, "SELECT tde_decryptions_reset('tomorrow')"), '2', '... but of before tomorrow');

# ---- the log ----

set_conf($node, 'tde_column.log_decryptions' => 'on');
my $offset = log_offset($node);
lines_of($node, "SET application_name = 'report'; SET ROLE alice; SELECT c, length(d) FROM t WHERE id <= 10; SELECT 1");
my @lines = grep { /values decrypted/ } split /\n/, log_since($node, $offset);
is(scalar @lines, 1, 'one line for a statement');
like($lines[0], qr/values decrypted for user "alice", session user "$me", application "report": (?:public.t.c \(10\), public.t.d \(10\)|public.t.d \(10\), public.t.c \(10\))$/,
  'who, by what, and how many of what');
unlike(log_since($node, $offset), qr/c10/, 'no value');
set_conf($node, 'tde_column.log_decryptions' => 'off');

# ---- many sessions, restarts, a crash ----

my $script = $node->basedir . '/read.sql';
append_to_file($script, "SELECT c FROM t WHERE id <= 7;\nSELECT length(d) FROM t WHERE id <= 3;\n");
lines_of($node, 'SELECT tde_decryptions_reset()');

sub total { return lines_of($node, "SELECT column_name || ' ' || sum(decrypted) FROM tde.decryptions WHERE purpose = 'reader' GROUP BY column_name ORDER BY 1") }

sub read_by_many
{
  my ($clients, $times, $protocol) = @_;
  run_log([ 'pgbench', '-n', '-c', $clients, '-j', 2, '-t', $times, '-M', $protocol, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ])
    or BAIL_OUT('pgbench fails');
  return;
}

read_by_many(64, 20, 'simple');
is(total(), "c 8960\nd 3840", '64 sessions');
read_by_many(64, 20, 'prepared');
is(total(), "c 17920\nd 7680", '64 sessions of prepared statements');
$node->restart;
is(total(), "c 17920\nd 7680", 'a restart loses nothing');
unlike(log_since($node, $offset), qr/are lost/, '... and the log does not say so');

read_by_many(64, 5, 'simple');
my $now = lines_of($node, 'SELECT now()');
$node->poll_query_until('postgres', "SELECT written > '$now' FROM tde.decryptions_info") or die 'the file is not written';
my $session = session($node);
my $pid     = $session->query('SELECT pg_backend_pid()');
$offset = log_offset($node);
session_try($session, 'SELECT c FROM t');
kill 'KILL', $pid;
$node->wait_for_log(qr/database system is ready to accept connections/, $offset);
$node->poll_query_until('postgres', 'SELECT true');
eval { $session->quit };
my ($c, $d) = total() =~ /^c (\d+)\nd (\d+)$/;
ok($c >= 17920 + 2240 && $c <= 17920 + 2240 + 100 && $d == 7680 + 960, 'a crash loses at most what came after the file was written')
  or diag("c $c, d $d");
like(log_since($node, $offset), qr/decryptions that were counted after .* are lost/, '... and the log says so');

# ---- no room ----

set_conf($node, 'log_min_messages' => 'warning');
$node->append_conf('postgresql.conf', 'tde_column.decryptions_max = 100');
$node->restart;
lines_of($node, 'SELECT tde_decryptions_reset()');
lines_of($node, join ' ', map { "CREATE TABLE many_$_ (c encrypted_text); INSERT INTO many_$_ VALUES ('x'), ('y');" } 1 .. 101);
lines_of($node, 'SELECT tde_decryptions_reset()');
lines_of($node, join ' ', map { "SELECT c FROM many_$_;" } 1 .. 101);
is(lines_of($node, 'SELECT used, max, others FROM tde.decryptions_info'), '100|100|2', 'what finds no row is counted for all');
is(lines_of($node, 'SELECT sum(decrypted) FROM tde.decryptions'),         '200',       '... and the rows are as they were');
$node->restart;
is(lines_of($node, 'SELECT used, max, others FROM tde.decryptions_info'), '100|100|2', 'after a restart, too');

# ---- a file that cannot be read; not tracked; not preloaded ----

$node->stop;
my $file = $node->data_dir . '/pg_stat/tde_column.decryptions';
write_bytes($file, flip_bit(read_bytes($file), 100, 0));
$offset = log_offset($node);
$node->start;
is(lines_of($node, 'SELECT used, others FROM tde.decryptions_info'), '0|0', 'a damaged file is not read');
like(log_since($node, $offset), qr/could not read file "pg_stat\/tde_column.decryptions"/, '... and the log says so');

set_conf($node, 'tde_column.track_decryptions' => 'off');
lines_of($node, 'SELECT c FROM t; SELECT id FROM t ORDER BY c');
is(lines_of($node, 'SELECT count(*) FROM tde.decryptions'), '0', 'nothing is counted while it is off');

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
fails_with(
  $node, 'SELECT * FROM tde.decryptions',
  { state => '55000', message => qr/must be loaded via shared_preload_libraries/, hint => qr/restart/ }, 'without preloading');

$node->stop;
done_testing();
