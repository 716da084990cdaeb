# The library is not in shared_preload_libraries: no wallet for the whole instance, but each session opens it for itself.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('no_preload', preload => 0);
my $runs = dirname(wallet_path($node)) . '/runs';

$node->start;
is(attempt($node, 'CREATE EXTENSION tde_column')->{state}, '', 'CREATE EXTENSION');
is(lines_of($node, 'SELECT status, instance_wide FROM tde.wallet'),
  'CLOSED|f', 'the view says that the wallet is not for the instance');

my $result = attempt($node, "SELECT tde_wallet_create('x-passphrase')");
is($result->{state}, '', 'a wallet can be made');
like(
  $result->{err},
  qr/NOTICE:  00000: wallet created but not open\nHINT:  Set tde_column\.passphrase_command, or add tde_column to shared_preload_libraries and run tde_wallet_open\(\)\./,
  'with a notice that it is not open');
is(sprintf('%04o', (stat wallet_path($node))[2] & 07777), '0600', "the file's mode is 0600");

my $not_instance_wide = {
  state   => '55000',
  message => qr/^cannot open the wallet for the whole instance$/,
  detail  => qr/^tde_column is not in shared_preload_libraries, so each session opens the wallet for itself\.$/,
  hint    => qr/^Add tde_column to shared_preload_libraries and restart, or set tde_column\.passphrase_command\.$/ };
fails_with($node, "SELECT tde_wallet_open('x-passphrase')", $not_instance_wide, 'tde_wallet_open(passphrase)');
fails_with(
  $node,
  'SELECT tde_wallet_open()',
  { state => 'TDE02', message => qr/^no passphrase command is configured$/ },
  'tde_wallet_open() without a command');

# Closed.  The event trigger is there, so that a bare column gets the default specification in a session whose first statement
# this is.

my $closed = {
  state   => 'TDE01',
  message => qr/^wallet is not open$/,
  hint    => qr/^Set tde_column\.passphrase_command, or add tde_column to shared_preload_libraries\.$/ };

is(attempt($node, 'CREATE TABLE made_closed (id int, a encrypted_text)')->{state}, '', 'closed: a table can be made');
is(
  lines_of(
    $node,
    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'made_closed'::regclass AND attname = 'a'"
  ),
  'encrypted_text(aes256,salt,gcm)',
  'and has the default specification');
fails_with($node, "INSERT INTO made_closed VALUES (1, 'x')", $closed, 'closed: INSERT');
is(lines_of($node, 'INSERT INTO made_closed (id) VALUES (1) RETURNING id, a'), '1|', 'closed: INSERT of other columns');
is(lines_of($node, 'SELECT count(*) FROM tde.data_keys'),                      '0',  'there are no keys yet');

set_conf($node, 'tde_column.wallet_file' => '');
fails_with(
  $node,
  "INSERT INTO made_closed VALUES (1, 'x')",
  {
    state => 'TDE01',
    hint  =>
      qr/^No wallet file is configured\. Set tde_column\.wallet_file, and also tde_column\.passphrase_command, or add tde_column to shared_preload_libraries\.$/
  },
  'closed, and no wallet file: INSERT');
set_conf($node, 'tde_column.wallet_file' => wallet_path($node));
is(
  lines_of($node, "SELECT severity, topic, hint FROM tde_audit() WHERE topic = 'preloading'"),
  'warning|preloading|Add tde_column to shared_preload_libraries and restart.',
  'the audit tells that it is not preloaded');

# With a command each session opens it by itself.

set_conf($node, 'tde_column.passphrase_command' => "echo run >> $runs; echo x-passphrase");
lines_of(
  $node, q{
CREATE TABLE t (
  id int PRIMARY KEY,
  a encrypted_text,
  b encrypted_varchar(20),
  n encrypted_numeric(10,2,aes128,nosalt,nomac),
  k encrypted_text(aes256,salt,mac,'key=five'));
});
is(lines_of($node, 'SELECT slot, kind FROM tde.data_keys ORDER BY slot, kind'),
  "-2|h\n-1|c\n0|m\n0|n\n1|m", 'declaring columns makes the keys');
is(
  lines_of($node, "SELECT column_name, type FROM tde.encrypted_columns WHERE table_name = 't' ORDER BY 1"),
  join("\n",
    'a|encrypted_text(aes256,salt,gcm)',         'b|encrypted_varchar(20,aes256,salt,gcm)',
    "k|encrypted_text(aes256,salt,mac,'key=five')", 'n|encrypted_numeric(10,2,aes128,nosalt,nomac)'),
  'and bare columns have the default specification');
lines_of($node, "INSERT INTO t SELECT i, 'value ' || i, 'b' || i, i, 'k' || i FROM generate_series(1, 1000) i");
is(lines_of($node, 'SELECT a, b, n, k FROM t WHERE id = 7'), 'value 7|b7|7.00|k7', 'values can be written and read');

unlink $runs;
is(lines_of($node, 'SELECT count(*) FROM t'), '1000', 'what needs no key');
is(count_lines($runs),                        0,      'does not run the command');
is(lines_of($node, 'SELECT count(a::text), count(n::numeric) FROM t; SELECT max(length(b)) FROM t'),
  "1000|1000\n5", 'one session');
is(count_lines($runs),                                                             1,               'runs it once');
is(lines_of($node, "SELECT a FROM t WHERE id = 8; SELECT status FROM tde.wallet"), "value 8\nOPEN", 'another session');
is(count_lines($runs),                                                             2,               'runs it again');
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'CLOSED', 'in a session that has not used it, it is closed');

# The event trigger loads it.
lines_of($node, 'CREATE ROLE captor; CREATE SCHEMA captor AUTHORIZATION captor');
is(
  attempt($node, "SET ROLE captor; CREATE FUNCTION captor.lower(encrypted_text) RETURNS int LANGUAGE sql AS 'SELECT 1'")->{state},
  '42501', 'a name that is taken');
is(attempt($node, 'SET ROLE captor; CREATE DOMAIN captor.lower AS encrypted_text(aes256)')->{state}, '42501', 'and for a type');
is(attempt($node, 'SELECT tde_wallet_open(); SELECT status FROM tde.wallet')->{out}, "\nOPEN",
  'tde_wallet_open() runs it, too');
fails_with($node, "SELECT tde_wallet_open('x-passphrase')", $not_instance_wide, 'with a passphrase it is an error as before');
fails_with(
  $node,
  'SELECT tde_wallet_open(); SELECT tde_wallet_close(); SELECT a FROM t WHERE id = 7',
  { state => 'TDE01', message => qr/^wallet is not open$/ },
  'closed by hand, in this session');

my $parallel = parallel_setting($node);
is(lines_of($node, "SET $parallel = on; SELECT max(length(a)), sum(n::numeric) FROM t"),
  '10|500500.00', 'a parallel worker opens it for itself');
is(attempt($node, 'ANALYZE t')->{state},                                                '',  'ANALYZE');
is(lines_of($node, "SELECT count(*) FROM pg_statistic WHERE starelid = 't'::regclass"), '5', 'with statistics of all columns');

# DROP EXTENSION in a session that has used nothing of it.
lines_of($node, 'CREATE DATABASE gone');
lines_of($node, q{CREATE EXTENSION tde_column; CREATE TYPE pair AS (s encrypted_text(nosalt), i int); CREATE TABLE pairs (p pair);
  INSERT INTO pairs VALUES (ROW('a', 1)); ANALYZE pairs}, db => 'gone');
is(lines_of($node, q{SELECT typanalyze FROM pg_type WHERE typname = 'pair'}, db => 'gone'), 'tde_internal.tde_typanalyze', "a composite type's statistics are ours");
is(attempt($node, 'DROP EXTENSION tde_column CASCADE', db => 'gone')->{state}, '', 'DROP EXTENSION');
is(attempt($node, 'ANALYZE pairs; SELECT * FROM pairs', db => 'gone')->{out}, '(1)', '... leaves composite types that can be analyzed');

# A wallet that another session made anew is of no use to this one: keys are looked up by the master key's name.
lines_of($node, 'CREATE DATABASE second');
is(
  attempt(
    $node,
    "CREATE EXTENSION tde_column; CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('second') RETURNING a",
    db => 'second'
  )->{out},
  'second',
  'another database');

set_conf($node, 'tde_column.passphrase_command' => 'echo wrong');
fails_with(
  $node,
  'SELECT a FROM t WHERE id = 7',
  {
    state   => 'TDE01',
    message => qr/^wallet is not open$/,
    hint    => qr/^The passphrase command did not open it; the server log says why\.$/
  },
  'a wrong passphrase');
like(
  slurp_file($node->logfile),
  qr/LOG:  could not open wallet file ".*": wrong passphrase or damaged wallet/,
  'the log says why');

# What is left out of the log, where nobody knows what a parallel worker has seen, the client still gets.
lines_of($node, q{CREATE TABLE plain_json (x text); INSERT INTO plain_json VALUES ('bad')});
my $plain = attempt($node, "LOAD 'tde_column'; SET $parallel = on; SELECT x::json FROM plain_json");
like($plain->{context}, qr/parallel worker/, 'an error of a parallel worker');
is($plain->{detail}, 'Token "bad" is invalid.', 'reaches the client with its DETAIL');
$plain = attempt($node, "LOAD 'tde_column'; SET $parallel = on; SELECT x::int FROM plain_json");
is($plain->{message}, 'invalid input syntax for type integer: "bad"', 'and with what it quotes');

# Then preloaded.

set_conf($node, 'tde_column.passphrase_command' => '');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'tde_column'\n");
$node->restart;
lines_of($node, "SELECT tde_wallet_open('x-passphrase')");
is(lines_of($node, 'SELECT instance_wide, status FROM tde.wallet'),
  't|OPEN', 'preloaded after all, it is open for the instance');
is(lines_of($node, 'SELECT a, b, n, k FROM t WHERE id = 7'), 'value 7|b7|7.00|k7', 'and everything can be read');
unlike(
  slurp_file($node->logfile),
  qr/server process .* was terminated by signal|PANIC:|TRAP:/,
  'no process of the server has crashed');

$node->stop;
done_testing();
