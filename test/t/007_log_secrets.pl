# Secrets in statements: none of them in any log, view or file, by whatever way they come; and the log has an entry of every statement.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

chomp(my $share = qx(pg_config --sharedir));
my $has_pgaudit = -e "$share/extension/pgaudit.control";
my $secret  = 'Xhidden_secretX';
my $correct = "good_$secret";

my $node = tde_node(
  'secrets', extension => 1, conf => q{
logging_collector = on
log_destination = 'stderr,csvlog,jsonlog'
log_filename = 'server.log'
log_line_prefix = '%p user=%u,db=%d '
log_statement = all
log_min_duration_statement = 0
log_min_error_statement = debug5
log_min_messages = info
log_error_verbosity = verbose
log_parameter_max_length_on_error = -1
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_verbose = on
pg_stat_statements.track = all
pg_stat_statements.track_utility = on
pgaudit.log = all
pgaudit.log_parameter = on
max_locks_per_transaction = 256
});
my @audit = $has_pgaudit ? 'pgaudit' : ();

# Every file of the log, the statistics' files among those of the data directory, and what views show of statements.
sub log_files { return glob($node->data_dir . '/log/*'); }

sub log_text
{
  my ($since) = @_;
  return join '', map { substr(read_bytes($_), $since->{$_} // 0) } log_files();
}
sub log_now { return { map { $_ => -s $_ } log_files() }; }

# The collector writes later than the client is answered.
sub wait_for_log_line
{
  my ($since, $regexp) = @_;
  foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
  {
    my $text = log_text($since);
    return $text if $text =~ $regexp;
    select undef, undef, undef, 0.1;
  }
  return log_text($since);
}

sub nowhere
{
  my ($way, $text, $views) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  my @lines = grep { /$secret/i } split /\n/, $text;
  is(scalar(@lines), 0, "$way: no log has the secret") or diag(join "\n", @lines[ 0 .. ($#lines > 8 ? 8 : $#lines) ]);
  like($text, qr/statement of user "\w+" hidden, since it passes a secret to (tde_\w+|EXECUTE); at most \d+ bytes/, "$way: the log tells that there was a statement");
  unlike($views, qr/$secret/i, "$way: nor have the views");
  return;
}

# [name, SQL, where it can be sent]
my @ways = (
  [ 'literal',       "SELECT 'seen 1', tde_wallet_open('$secret')" ],
  [ 'correct',       "SELECT 'seen 2', tde_wallet_open('$correct')" ],
  [ 'escapes',       "SELECT 'seen 3', tde_wallet_open(E'\\'$secret')" ],
  [ 'dollars',       "SELECT 'seen 4', tde_wallet_open(\$x\$$secret\$x\$)" ],
  [ 'named',         "SELECT 'seen 5', tde_wallet_open(passphrase => '$secret')" ],
  [ 'quoted name',   "SELECT 'seen 6', \"tde_wallet_open\" ('$secret')" ],
  [ 'expression',    "SELECT 'seen 7', tde_wallet_open('' || lower('$secret'))" ],
  [ 'block',         "DO \$\$BEGIN PERFORM 'seen 8', tde_wallet_open('$secret'); END\$\$" ],
  [ 'correct block', "DO \$\$BEGIN PERFORM 'seen 9', tde_wallet_open('$correct'); END\$\$" ],
  [ 'block, quoted', "DO 'BEGIN PERFORM tde_wallet_open(''$secret''); END' /* seen 10 */" ],
  [ 'variable',      "DO \$\$DECLARE p text := '$correct'; BEGIN PERFORM tde_wallet_open(p); END\$\$ /* seen 11 */" ],
  [ 'dynamic', "DO \$\$BEGIN EXECUTE 'SELECT tde_wallet_open(''$secret'')'; END\$\$ /* seen 12 */" ],
  [ 'format',
    "DO \$\$BEGIN EXECUTE format('SELECT tde_wallet_open(%L)', '$secret'); END\$\$ /* seen 13 */" ],
  [ 'using', "DO \$\$BEGIN EXECUTE 'SELECT tde_wallet_open(\$1)' USING '$correct'; END\$\$ /* seen 14 */" ],
  [ 'nested block', "DO \$a\$BEGIN EXECUTE 'DO \$b\$BEGIN PERFORM tde_wallet_open(''$correct''); END\$b\$'; END\$a\$ /* seen 15 */" ],
  [ 'prepared', "PREPARE p(text) AS SELECT 'seen 16', tde_wallet_open(\$1); EXECUTE p('$secret')" ],
  [ 'prepared, correct', "PREPARE p(text) AS SELECT tde_wallet_open(\$1)\\; EXECUTE p('$correct') /* seen 17 */" ],
  [ 'prepared, wrong arguments', "PREPARE p(text) AS SELECT tde_wallet_open(\$1); EXECUTE p('$secret', 1) /* seen 18 */" ],
  [ 'prepared, in a block', "PREPARE p(text) AS SELECT tde_wallet_open(\$1); DO \$\$BEGIN EXECUTE 'EXECUTE p(''$correct'')'; END\$\$ /* seen 40 */" ],
  [ 'prepared, format', "PREPARE p(text) AS SELECT tde_wallet_open(\$1); DO \$\$BEGIN EXECUTE format('EXECUTE p(%L)', '$secret'); END\$\$ /* seen 41 */" ],
  [ 'prepared literal', "PREPARE p AS SELECT tde_wallet_open('$correct'); EXECUTE p; DEALLOCATE p /* seen 20 */" ],
  [ 'bound', "SELECT 'seen 21', tde_wallet_open(\$1) \\bind '$secret' \\g", 16 ],
  [ 'function', "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS \$\$BEGIN PERFORM tde_wallet_open('$secret'); END\$\$; SELECT f(), 'seen 22'; DROP FUNCTION f()" ],
  [ 'cursor',   "BEGIN; DECLARE c CURSOR FOR SELECT 'seen 23', tde_wallet_open('$correct'); FETCH c; COMMIT" ],
  [ 'copy',     "COPY (SELECT 'seen 24', tde_wallet_open('$correct')) TO STDOUT" ],
  [ 'explain',  "EXPLAIN (ANALYZE, VERBOSE) SELECT 'seen 25', tde_wallet_open('$correct')" ],
  [ 'unquoted', "SELECT 'seen 26', tde_wallet_open($secret)" ],
  [ 'identifier', "SELECT 'seen 27', tde_wallet_open(\"$secret\")" ],
  [ 'syntax error', "SELECT 'seen 28', tde_wallet_open('$secret' 'x')" ],
  [ 'unterminated', "SELECT 'seen 29', tde_wallet_open('$secret", 'own' ],
  [ 'misspelt',     "SELECT 'seen 30', tde_wallet_opne('$secret')" ],
  [ 'keyword misspelt', "SELET 'seen 31', tde_wallet_open('$secret')" ],
  [ 'share',            "SELECT 'seen 32', tde_wallet_open_share('tde1-$secret')" ],
  [ 'change', "SELECT 'seen 33', tde_wallet_change_passphrase('$correct')" ],
  [ 'create',       "SELECT 'seen 34', tde_wallet_create('$secret')" ],
  [ 'export',       "SELECT 'seen 35', length(tde_export_keys('$secret')) > 0" ],
  [ 'import',       "SELECT 'seen 36', tde_import_keys('tdekeys:$secret', '$secret')" ],
  [ 'envelope',     "SELECT 'seen 42', tde_open_envelope('fernet', 'x', '$secret')" ],
  [ 'ddl',          "SELECT 'seen 43', tde_import_oracle_ddl('CREATE TABLE t (a DATE ENCRYPT IDENTIFIED BY $secret)')" ],
  [ 'broken ddl',   "SELECT 'seen 44', tde_import_oracle_ddl('CREATE TABLE t (a DATE ENCRYPT IDENTIFIED $secret)')" ],
  [ 'after another', "SELECT 1; SELECT 'seen 37', tde_wallet_open('$secret')" ],
);

$node->start;
$ENV{PGOPTIONS} = '-c log_statement=none -c log_min_duration_statement=-1 -c log_min_error_statement=panic';
lines_of(
  $node, qq{
CREATE EXTENSION pg_stat_statements;
SELECT tde_wallet_create('$correct');
CREATE FUNCTION wrapper(text) RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM tde_wallet_open(\$1); END';
CREATE ROLE monitor LOGIN IN ROLE pg_monitor});
delete $ENV{PGOPTIONS};

foreach my $order ("tde_column,pg_stat_statements,auto_explain", "auto_explain,pg_stat_statements,tde_column")
{
  my @libraries = $order =~ /^tde/ ? (split(/,/, $order), @audit) : (@audit, split /,/, $order);
  $node->append_conf('postgresql.conf', "shared_preload_libraries = '" . join(',', @libraries) . "'\n");
  $node->restart;
  my $session = session($node);
  my $number  = 0;
  foreach my $way (@ways)
  {
    my ($name, $sql, $special) = @$way;
    next if $special && $special eq '16' && $node->pg_version < 16;
    my $since = log_now();
    $session->query('SELECT tde_wallet_close()') if $name =~ /correct|variable|using/;
    if (($special // '') eq 'own') { attempt($node, $sql) }
    else                           { session_try($session, $sql) }
    # the session's last statement is this one; its end is told by a marker of another session
    my $views = lines_of(
      $node, q{SELECT query FROM pg_stat_activity; SELECT query FROM pg_stat_statements},
      connstr => $node->connstr('postgres') . ' user=monitor');
    $number++;
    lines_of($node, "SELECT 'end of $number'");
    nowhere("$libraries[0] first, $name", wait_for_log_line($since, qr/statement: SELECT 'end of $number'.*duration.*end of $number/s), $views);
    session_try($session, 'ROLLBACK; DEALLOCATE ALL');
  }
  $session->quit;
  my @files = grep { -f && index(read_bytes($_), $secret) >= 0 } (log_files(), glob($node->data_dir . '/{pg_stat_tmp,pg_stat}/*'));
  is("@files", '', "$libraries[0] first: no file of the data directory has the secret, nor pg_stat_statements' texts");
  like(read_bytes($node->data_dir . '/pg_stat_tmp/pgss_query_texts.stat'), qr/<hidden: tde_wallet_open>/, 'which are there');
}

# A portal is run by a message of its own, whose text the server shows before any hook is called: not while it runs, either.  What is logged would
# hide it, too, so nothing is.

my $script = $node->basedir . '/asleep.sql';
append_to_file($script, "SELECT pg_sleep(60), tde_wallet_open('$secret') IS NULL;\n");
local $ENV{PGOPTIONS} = join ' ', map { "-c $_" } qw(log_statement=none log_duration=off log_min_duration_statement=-1 log_min_messages=warning
  auto_explain.log_min_duration=-1 log_parser_stats=off log_planner_stats=off log_executor_stats=off);
my $bench = IPC::Run::start([ 'pgbench', '-n', '-M', 'extended', '-t', 1, '-f', $script, $node->connstr('postgres') ], '>', \my $bench_out, '2>', \my $bench_err);
my $asleep = q{FROM pg_stat_activity WHERE wait_event = 'PgSleep'};
$node->poll_query_until('postgres', "SELECT count(*) = 1 $asleep") or die 'pgbench does not sleep';
like(lines_of($node, "SELECT query $asleep"), qr/^<hidden: tde_wallet_open>\s*$/, 'the text of a portal that runs is hidden in pg_stat_activity');
lines_of($node, "SELECT pg_terminate_backend(pid) $asleep");
$bench->finish;
delete $ENV{PGOPTIONS};

# What a function of one's own passes on is known once it was called, also if the call is refused.

my $since = log_now();
attempt($node, "SELECT wrapper('$secret')");
like(
  wait_for_log_line($since, qr/CONTEXT:  statement of user "\w+" hidden, since/),
  qr/ERROR:  TDE02(?:(?!$secret).)*CONTEXT:  statement of user "\w+" hidden, since it passes a secret; at most 64 bytes\n/s,
  'the secret that a function passes on is not in the entry of its error');
lines_of($node, 'CREATE ROLE low LOGIN; CREATE TABLE theirs (a int)');
$since = log_now();
attempt($node, "SELECT wrapper('$secret')", user => 'low');
my $refused = wait_for_log_line($since, qr/CONTEXT:  statement of user "\w+" hidden, since/);
like($refused, qr/ERROR:  42501: permission denied for function tde_wallet_open\n(?:(?!$secret).)*CONTEXT:  statement of user "low" hidden/s, 'nor in that of a refusal');

# What has no secret is seen.

my @seen = (
  "SELECT 'audit 1' /* tde_wallet_ */",
  "CREATE TABLE tde_wallet_history (a text DEFAULT 'audit 2')",
  "INSERT INTO tde_wallet_history VALUES ('audit 3') -- tde_wallet_open(",
  "SELECT 'audit 4' FROM no_such_table /* tde_wallet_ */",
  "SELECT 'audit 5' AS \"tde_wallet_open(\"",
  "GRANT EXECUTE ON FUNCTION tde_wallet_open(text) TO low /* audit 6 */",
  "SELECT 'audit 7' WHERE false AND tde_wallet_open() IS NULL");

# What an attacker may write to have the log hold less: of these it has who, when and what is called.

my @dark = (
  "SELECT 'audit 8' /* tde_wallet_open( 'x' ) */",
  "SELECT 'audit 9' WHERE CASE WHEN true THEN true ELSE tde_wallet_open(version()) IS NULL END",
  "SELECT 'audit 10' FROM no_such_table WHERE 'tde_export_keys(1)' <> ''");
$since = log_now();
attempt($node, $_) foreach @seen, @dark;
lines_of($node, "SELECT 'end of attack'");
my $text = wait_for_log_line($since, qr/duration.*end of attack/s);
like($text, qr/user=[^,]+,db=postgres LOG:  00000: statement: .*audit $_\b/, "the log has it all: $_") foreach 1 .. 7;
like($text, qr/ERROR:  42P01: relation "no_such_table" does not exist.*?STATEMENT:  SELECT 'audit 4'/s, 'and errors');
unlike($text, qr/audit (8|9|10)/, 'a call that is never made hides its statement');
like($text, qr/user=[^,]+,db=postgres LOG:  00000: statement of user "\w+" hidden, since it passes a secret to $_; at most 128 bytes/, "of which the log tells, with $_")
  foreach qw(tde_wallet_open tde_export_keys);
like($text, qr/ERROR:  42P01: error 42P01, whose message is hidden/, 'and how it ended');

# Nobody hides the statement of somebody else.

lines_of(
  $node, q{
CREATE FUNCTION dark() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF false THEN PERFORM tde_wallet_open('x'); END IF; EXECUTE $q$SELECT CASE WHEN false THEN tde_wallet_open('x') END$q$; RETURN NEW; END$$;
CREATE FUNCTION darker() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN EXECUTE 'PREPARE dark(text) AS SELECT tde_wallet_open($1)'; BEGIN EXECUTE 'EXECUTE dark(''x'', 1)'; EXCEPTION WHEN OTHERS THEN END; DEALLOCATE dark; RETURN NEW; END$$;
CREATE TRIGGER darker BEFORE INSERT ON theirs FOR EACH ROW EXECUTE FUNCTION darker();
CREATE TRIGGER dark BEFORE INSERT ON theirs FOR EACH ROW EXECUTE FUNCTION dark()});
$since = log_now();
attempt($node, "INSERT INTO theirs SELECT 1 /* audit 11 */ UNION ALL SELECT 1 / (random() * 0)::int");
lines_of($node, "SELECT 'end of others'");
$text = wait_for_log_line($since, qr/duration.*end of others/s);
like($text, qr/statement: INSERT INTO theirs SELECT 1 .. audit 11/, 'the statement that runs the trigger of another is logged');
like($text, qr/ERROR:  22012: .*STATEMENT:  INSERT INTO theirs SELECT 1 .. audit 11/s, 'also with an error after that');
lines_of($node, "INSERT INTO theirs VALUES (12)");
is(lines_of($node, q{SELECT count(*) FROM pg_stat_statements WHERE query LIKE 'INSERT INTO theirs VALUES%'}), 1, 'and pg_stat_statements has such a statement');

SKIP:
{
  skip 'pgaudit is not installed (package postgresql-NN-pgaudit)', 2 unless $has_pgaudit;
  my $all = join '', map { read_bytes($_) } log_files();
  like($all, qr/AUDIT: SESSION,\d+,\d+,READ,SELECT,,,statement of user "\w+" hidden/, 'pgaudit has written class and command');
  like($all, qr/AUDIT: SESSION.*DO,,,statement of user "\w+" hidden/,            'also of blocks');
}

unlike(join('', map { read_bytes($_) } log_files()), qr/server process .* was terminated by signal|PANIC:|TRAP:/, 'no process has crashed');
$node->stop;
done_testing();
