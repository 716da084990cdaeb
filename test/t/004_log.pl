# What PostgreSQL's own errors tell about encrypted columns: the client gets all of it, the server log no plaintext.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

# Statements are not logged: that their literals stand in the log is documented.  So the marker may be nowhere in it.
my $node = tde_node(
  'log', extension => 1, conf => q{
log_statement = none
log_min_messages = info
log_min_error_statement = panic
log_error_verbosity = verbose
});
my $marker = 'Xplaintext_markerX';
my $folder = PostgreSQL::Test::Utils::tempdir;

$node->start;
lines_of(
  $node, qq{
SELECT tde_wallet_create('log-passphrase');
CREATE TABLE parent (a encrypted_text PRIMARY KEY);
CREATE TABLE t (
  id int UNIQUE,
  a encrypted_text(aes256,nosalt) UNIQUE,
  b encrypted_varchar(30) CHECK (b <> 'refused'),
  n encrypted_int4 CHECK (n > 0),
  f encrypted_text REFERENCES parent,
  d encrypted_text REFERENCES parent DEFERRABLE INITIALLY DEFERRED,
  u encrypted_text,
  UNIQUE (u) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO t (id, a, b) VALUES (1, '$marker', 'taken'), (2, '$marker-2', 'taken');
CREATE TABLE plain (a text UNIQUE);
INSERT INTO plain VALUES ('plain-value');
CREATE TABLE values_of (a encrypted_text);
INSERT INTO values_of VALUES ('$marker');
CREATE FUNCTION complain(text) RETURNS void LANGUAGE plpgsql AS
  'BEGIN RAISE EXCEPTION ''complaint'' USING DETAIL = \$1; END';
CREATE FUNCTION insert_value(text) RETURNS void LANGUAGE plpgsql AS
  'BEGIN EXECUTE format(''INSERT INTO t (a) VALUES (%L)'', \$1); END';
});

my $session = session($node);

# An error that the client gets with the marker and the log without.  field is where the client sees it.
sub is_hidden
{
  my ($sql, $state, $field, $regexp, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  my $offset = log_offset($node);
  my $got    = session_try($session, $sql);
  my $text   = log_since($node, $offset);
  session_try($session, 'ROLLBACK');

  is($got->{state}, $state, "$name: SQLSTATE") or diag($got->{err});
  like($got->{$field}, $regexp,              "$name: the client sees it");
  like($text,          qr/ERROR:  $state: /, "$name: the log has the error");
  my @lines = grep { /\Q$marker\E/ } split /\n/, $text;
  is(scalar(@lines), 0, "$name: the log has no plaintext") or diag(join "\n", @lines);
  return $text;
}

my $text = is_hidden(
  "INSERT INTO t (a) VALUES ('$marker')",
  '23505', 'detail',
  qr/^Key \(a\)=\($marker\) already exists\.$/,
  'unique violation');
like($text, qr/DETAIL:  Not logged, since the statement used encrypted values\./, 'the log says that something was left out');

# The statement after it is about a plain table, in the same session and the same transaction.
foreach my $begin ('', 'BEGIN')
{
  session_try($session, $begin) if $begin;
  session_try($session, "SELECT count(a::text) FROM t");
  my $offset = log_offset($node);
  my $got    = session_try($session, "INSERT INTO plain VALUES ('plain-value')");
  is($got->{state}, '23505', 'a violation on a plain table');
  like(log_since($node, $offset), qr/DETAIL:  Key \(a\)=\(plain-value\) already exists\./,
    "keeps its DETAIL in the log $begin");
  session_try($session, 'ROLLBACK') if $begin;
}

is_hidden(
  "INSERT INTO t (a, n) VALUES ('$marker-3', -1)",
  '23514', 'detail',
  qr/^Failing row contains \(null, $marker-3, /,
  'check violation');
is_hidden(
  "UPDATE t SET b = 'refused' WHERE id = 1",
  '23514',
  'detail',
  qr/^Failing row contains \(1, $marker, /,
  'check violation by UPDATE');
is_hidden(
  "INSERT INTO t (a, id) SELECT 'x' || a, 1 FROM t WHERE id = 2",
  '23505', 'detail',
  qr/^Key \(id\)=\(1\)/,
  'violation of a plain index of such a table');
is_hidden(
  "INSERT INTO t (f) VALUES ('$marker')",
  '23503', 'detail', qr/^Key \(f\)=\($marker\) is not present in table "parent"\.$/,
  'foreign key');
is_hidden(
  "BEGIN; INSERT INTO t (d) VALUES ('$marker'); COMMIT",
  '23503', 'detail',
  qr/^Key \(d\)=\($marker\) is not present/,
  'deferred foreign key');
session_try($session, "INSERT INTO t (u) VALUES ('$marker')");
is_hidden(
  "BEGIN; INSERT INTO t (u) VALUES ('$marker'); COMMIT",
  '23505', 'detail',
  qr/^Key \(u\)=\($marker\) already exists\.$/,
  'deferred unique constraint');
session_try($session, "INSERT INTO parent VALUES ('$marker'); INSERT INTO t (f) VALUES ('$marker')");
is_hidden('DELETE FROM parent', '23503', 'detail', qr/^Key \(a\)=\($marker\) is still referenced/, 'foreign key, deleting');
is_hidden(
  "ALTER TABLE values_of ADD CHECK (a <> '$marker'), ADD UNIQUE (a)",
  '23514', 'message', qr/check constraint ".*" of relation "values_of" is violated/,
  'ALTER TABLE');
session_try($session, "CREATE TABLE twice (a encrypted_text); INSERT INTO twice VALUES ('$marker'), ('$marker')");
is_hidden(
  'CREATE UNIQUE INDEX ON twice (a)',
  '23505', 'detail',
  qr/^Key \(a\)=\($marker\) is duplicated\.$/,
  'CREATE UNIQUE INDEX');
is_hidden(
  "SELECT insert_value('$marker')",
  '23505', 'context',
  qr/^SQL statement "INSERT INTO t \(a\) VALUES \('$marker'\)"/,
  "a function's CONTEXT");
is_hidden('SELECT complain(a::text) FROM values_of', 'P0001', 'detail', qr/^$marker$/,                  'RAISE');
is_hidden("SELECT a::text::json FROM values_of", '22P02', 'detail', qr/^Token "$marker" is invalid\.$/, 'DETAIL of a function');

# Messages that quote a stored value.

session_try($session, "CREATE TABLE numbers (a encrypted_text); INSERT INTO numbers VALUES ('$marker')");
foreach my $case (
  [ "SELECT (a || '')::int FROM numbers",                    '22P02', qr/^invalid input syntax for type integer: "$marker"$/ ],
  [ "SELECT a::encrypted_int4 FROM numbers",                 '22P02', qr/^invalid input syntax for type integer: "$marker"$/ ],
  [ "SELECT set_config('work_mem', a::text, true) FROM numbers", '22023', qr/^invalid value for parameter "work_mem": "$marker"$/ ],
  [ "SELECT to_tsquery('simple', a || ' & ! (') FROM numbers", '42601', qr/"$marker & ! \("$/i ],
  [ "SELECT a::text::regclass FROM numbers",                 '42P01', qr/^relation "$marker" does not exist$/i ],
  [ "SELECT (a || '\" x \"')::int FROM numbers",             '22P02', qr/"$marker" x ""$/ ])
{
  my ($sql, $state, $message) = @$case;
  my $logged = is_hidden($sql, $state, 'message', $message, "message: $sql");
  like($logged, qr/ERROR:  $state: .*"\*+/, 'the log has the rest of it');
  unlike($logged, qr/\Q$marker\E/i, 'and not in small letters either');
}
my $word = is_hidden("SELECT a, '$marker'::text, no_such FROM numbers", '42703', 'message', qr/"no_such" does not exist/, 'a name');
like($word, qr/column "no_such" does not exist/, 'is logged');
$word = is_hidden("INSERT INTO t (id, a) VALUES (1, '$marker-9')", '23505', 'message', qr/"t_id_key"$/, 'a constraint');
like($word, qr/unique constraint "t_id_key"/, 'is logged');

# COPY tells in its CONTEXT what it was reading.

my $file = "$folder/data";
foreach my $case (
  [ '(id, a)', "7\t$marker\n", '23505', qr/^COPY t, line 1: "7\\t$marker"$|^COPY t, line 1/, 'unique violation' ],
  [
    '(id, b)',
    "7\tok\n8\t$marker" . ('x' x 30) . "\n",
    '22001',
    qr/^COPY t, line 2, column b: "$marker/,
    'a value that is too long'
  ],
  [ '(id, a, n)', "7\t$marker-7\t-1\n", '23514', qr/^COPY t, line 1: "7\t$marker-7\t-1"/, 'check violation' ],
  [
    '(id, a)', "7\t$marker-7\textra\n", '22P04',
    qr/^COPY t, line 1: "7\t$marker-7\textra"/,
    'too many fields in the first line'
  ],
  [ '(id, a, b)', "7\t$marker-7\n",     '22P04', qr/^COPY t, line 1: "7\t$marker-7"/,     'too few fields in the first line' ],
  [ '(id, a)',    "seven\t$marker-7\n", '22P02', qr/^COPY t, line 1, column id: "seven"/, 'a plain column' ],
  [
    '(a, id)',
    "$marker-7\t7\n$marker-8\tseven\n",
    '22P02',
    qr/^COPY t, line 2, column id: "seven"/,
    'a plain column after an encrypted one'
  ],
  [ '(id, a)', "7\t$marker-7\xff\n", '22021', qr/^COPY t, line 1/, 'wrong encoding' ])
{
  my ($columns, $data, $state, $context, $name) = @$case;
  write_bytes($file, $data);
  is_hidden("COPY t $columns FROM '$file'", $state, 'context', $context, "COPY: $name");
}

# Parallel workers.

my $parallel = parallel_setting($node);
my $started  = lines_of($node, 'SELECT pg_postmaster_start_time()');

session_try($session, "SET $parallel = on");
my $got = session_try($session, 'SELECT 1 / (length(a) - length(a)) FROM values_of');
is($got->{state}, '22012', 'an error in a parallel worker');
like($got->{context}, qr/parallel worker/, 'it was one') or diag($got->{err});
$got = session_try($session, 'SELECT 1 / (length(a) - length(a)) FROM plain');
like($got->{context}, qr/parallel worker/, 'an error in a parallel worker without encrypted values');
is(session_try($session, 'SELECT a FROM values_of')->{out}, $marker, 'the session goes on');
is_hidden(
  'SELECT a::text::json FROM values_of',
  '22P02',
  'detail',
  qr/^Token "$marker" is invalid\.$/,
  'DETAIL from a parallel worker');

# In the leader nothing is known of what the worker saw, so this takes a session that has not seen a value.
$session->quit;
$session = session($node);
session_try($session, "SET $parallel = on");
is_hidden(
  'SELECT a::text::json FROM values_of',
  '22P02', 'detail',
  qr/^Token "$marker" is invalid\.$/,
  'DETAIL from a parallel worker, first statement');
my $offset = log_offset($node);
$got = session_try($session, q{SELECT (a || '-wrong')::json FROM plain});
is($got->{state}, '22P02', 'an error about a plain value in a parallel worker');
like(
  log_since($node, $offset),
  qr/DETAIL:  Token "plain" is invalid\.|DETAIL:  Token "plain-value/,
  'keeps its DETAIL in the log');

# The session's own entry, which has user and database, is the one that has the message of a parallel worker as CONTEXT.
my $entries = log_since($node, $offset);
is(scalar(() = $entries =~ /DETAIL:  Token "plain/g), 2, 'in the entries of worker and session');
like($entries, qr/CONTEXT:  .*\n\tparallel worker$/m, 'with CONTEXT');
unlike($entries, qr/Logged by the parallel worker|Not logged/, 'and nothing is left out');
session_try($session, "RESET $parallel");

# What is not an ERROR has its CONTEXT, too: a warning, temporary files, the end of a session.

lines_of(
  $node, q{
CREATE FUNCTION warn(text) RETURNS void LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''a warning''; END';
CREATE FUNCTION execute_with(command text, value text) RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE format(command, value); END'});
foreach my $case (
  [ 'a warning',       'SELECT warn(%L)',                                                              qr/WARNING:  01000: a warning\n/ ],
  [ 'temporary files', 'SELECT count(*) FROM (SELECT i, %L FROM generate_series(1, 60000) i OFFSET 0)', qr/LOG:  00000: temporary file: / ])
{
  my ($name, $command, $entry) = @$case;
  $offset = log_offset($node);
  $got = session_try($session, "\\set SHOW_CONTEXT always\nSET log_temp_files = 0; SET work_mem = 64; SELECT execute_with('$command x', a::text) FROM values_of");
  is($got->{state}, '', $name) or diag($got->{err});
  $entries = log_since($node, $offset);
  like($entries, $entry, "$name: it is in the log");
  unlike($entries, qr/\Q$marker\E/, "$name: without a value in its CONTEXT");
  like($got->{err}, qr/SQL statement "SELECT warn\('$marker'\)/, 'which the client gets') if $name =~ /warning/;
}

my $doomed = TdeWire->connect($node);
$offset = log_offset($node);
$doomed->ask("SELECT execute_with('SELECT pg_sleep(180), %L', a::text) FROM values_of");
$node->poll_query_until('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") or die 'it does not sleep';
ok($node->wait_for_log(qr/FATAL:  57P01: terminating connection/, $offset), 'a session that is ended');
unlike(log_since($node, $offset), qr/\Q$marker\E/, 'says so without a value in the CONTEXT');

# Our own errors never quote a value, so they keep what they say.

$offset = log_offset($node);
lines_of($node, 'SELECT tde_wallet_close()');
is(session_try($session, 'SELECT a FROM values_of')->{state}, 'TDE01', 'an error of ours');
like(
  log_since($node, $offset),
  qr/ERROR:  TDE01: wallet is not open\n.*DETAIL:  Its keys are needed to read or write encrypted values\.\n.*HINT:/,
  'keeps its DETAIL and HINT in the log');
$session->quit;

# The log does not wait for a client that does not read.

lines_of($node, "SELECT tde_wallet_open('log-passphrase')");
my $deaf = TdeWire->connect($node);
my $long = 5_000_000;
$offset = log_offset($node);
$deaf->ask("SELECT (repeat('A', $long) || a)::int FROM values_of");
ok($node->wait_for_log(qr/ERROR:  22P02: invalid input syntax for type integer: "\*+"/, $offset),
  'an error whose client does not read it is in the log');
unlike(log_since($node, $offset), qr/AAAA|\Q$marker\E/, 'without what it quotes');
my $error = $deaf->until_ready->{error};
is(length($error =~ s/[^A]//gr), $long, 'and the client still gets it as it is');
like($error, qr/A\Q$marker\E"/, 'with the value');

# Background processes log through the same hook.

lines_of($node, 'CHECKPOINT');
is(lines_of($node, 'SELECT pg_postmaster_start_time()'), $started, 'the server has been running all the time');
unlike(
  slurp_file($node->logfile),
  qr/server process .* was terminated by signal|PANIC:|TRAP:/,
  'and none of its processes has crashed');

$node->stop;
done_testing();
