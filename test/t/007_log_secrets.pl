# Secrets in statements: none of them in any log, view or file, by whatever way they come; and the log has every statement.

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
  my ($way, $text, $seen, $views) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  my @lines = grep { /$secret/i } split /\n/, $text;
  is(scalar(@lines), 0, "$way: no log has the secret") or diag(join "\n", @lines[ 0 .. ($#lines > 8 ? 8 : $#lines) ]);
  like($text, $seen, "$way: the log has the statement");
  unlike($views, qr/$secret/i, "$way: nor have the views");
  return;
}

# [name, SQL, what the log must have of it]
my @ways = (
  [ 'literal',       "SELECT 'seen 1', tde_wallet_open('$secret')",              qr/'seen 1', tde_wallet_open\('\*+'\)/ ],
  [ 'correct',       "SELECT 'seen 2', tde_wallet_open('$correct')",             qr/'seen 2', tde_wallet_open\('\*+'\)/ ],
  [ 'escapes',       "SELECT 'seen 3', tde_wallet_open(E'\\'$secret')",          qr/'seen 3', tde_wallet_open\(E'\*+'\)/ ],
  [ 'dollars',       "SELECT 'seen 4', public.tde_wallet_open(\$x\$$secret\$x\$)", qr/tde_wallet_open\(\$x\$\*+\$x\$\)/ ],
  [ 'named',         "SELECT 'seen 5', tde_wallet_open(passphrase => '$secret')", qr/'seen 5', tde_wallet_open\(passphrase/ ],
  [ 'quoted name',   "SELECT 'seen 6', \"tde_wallet_open\" ('$secret')",         qr/'seen 6', "+tde_wallet_open/ ],
  [ 'expression',    "SELECT 'seen 7', tde_wallet_open('' || lower('$secret'))", qr/'seen 7', tde_wallet_open/ ],
  [ 'block',         "DO \$\$BEGIN PERFORM 'seen 8', tde_wallet_open('$secret'); END\$\$", qr/'seen 8', tde_wallet_open/ ],
  [ 'correct block', "DO \$\$BEGIN PERFORM 'seen 9', tde_wallet_open('$correct'); END\$\$", qr/'seen 9', tde_wallet_open/ ],
  [ 'block, quoted', "DO 'BEGIN PERFORM tde_wallet_open(''$secret''); END' /* seen 10 */",   qr/seen 10/ ],
  [ 'variable',      "DO \$\$DECLARE p text := '$correct'; BEGIN PERFORM tde_wallet_open(p); END\$\$ /* seen 11 */", qr/seen 11/ ],
  [ 'dynamic', "DO \$\$BEGIN EXECUTE 'SELECT tde_wallet_open(''$secret'')'; END\$\$ /* seen 12 */", qr/seen 12/ ],
  [ 'format',
    "DO \$\$BEGIN EXECUTE format('SELECT tde_wallet_open(%L)', '$secret'); END\$\$ /* seen 13 */", qr/seen 13/ ],
  [ 'using', "DO \$\$BEGIN EXECUTE 'SELECT tde_wallet_open(\$1)' USING '$correct'; END\$\$ /* seen 14 */", qr/seen 14/ ],
  [ 'nested block', "DO \$a\$BEGIN EXECUTE 'DO \$b\$BEGIN PERFORM tde_wallet_open(''$correct''); END\$b\$'; END\$a\$ /* seen 15 */",
    qr/seen 15/ ],
  [ 'prepared', "PREPARE p(text) AS SELECT 'seen 16', tde_wallet_open(\$1); EXECUTE p('$secret')", qr/EXECUTE p\('\*+'\)/ ],
  [ 'prepared, correct', "PREPARE p(text) AS SELECT tde_wallet_open(\$1)\\; EXECUTE p('$correct') /* seen 17 */", qr/seen 17/ ],
  [ 'prepared, wrong arguments', "PREPARE p(text) AS SELECT tde_wallet_open(\$1); EXECUTE p('$secret', 1) /* seen 18 */", qr/seen 18/ ],
  [ 'prepared, in a block', "PREPARE p(text) AS SELECT tde_wallet_open(\$1); DO \$\$BEGIN EXECUTE 'EXECUTE p(''$correct'')'; END\$\$ /* seen 40 */",
    qr/seen 40/ ],
  [ 'prepared, format', "PREPARE p(text) AS SELECT tde_wallet_open(\$1); DO \$\$BEGIN EXECUTE format('EXECUTE p(%L)', '$secret'); END\$\$ /* seen 41 */",
    qr/seen 41/ ],
  [ 'prepared literal', "PREPARE p AS SELECT tde_wallet_open('$correct'); EXECUTE p; DEALLOCATE p /* seen 20 */", qr/seen 20/ ],
  [ 'bound', "SELECT 'seen 21', tde_wallet_open(\$1) \\bind '$secret' \\g",          qr/seen 21/, 16 ],
  [ 'function', "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS \$\$BEGIN PERFORM tde_wallet_open('$secret'); END\$\$; SELECT f(), 'seen 22'; DROP FUNCTION f()",
    qr/seen 22/ ],
  [ 'cursor',   "BEGIN; DECLARE c CURSOR FOR SELECT 'seen 23', tde_wallet_open('$correct'); FETCH c; COMMIT", qr/seen 23/ ],
  [ 'copy',     "COPY (SELECT 'seen 24', tde_wallet_open('$correct')) TO STDOUT",    qr/seen 24/ ],
  [ 'explain',  "EXPLAIN (ANALYZE, VERBOSE) SELECT 'seen 25', tde_wallet_open('$correct')", qr/seen 25/ ],
  [ 'unquoted', "SELECT 'seen 26', tde_wallet_open($secret)",                        qr/SELECT '\*{7}', tde_wallet_open\(\*+\)/ ],
  [ 'identifier', "SELECT 'seen 27', tde_wallet_open(\"$secret\")",                  qr/'seen 27', tde_wallet_open/ ],
  [ 'syntax error', "SELECT 'seen 28', tde_wallet_open('$secret' 'x')",              qr/'seen 28', tde_wallet_open/ ],
  [ 'unterminated', "SELECT 'seen 29', tde_wallet_open('$secret",                    qr/'seen 29', tde_wallet_open/, 'own' ],
  [ 'misspelt',     "SELECT 'seen 30', tde_wallet_opne('$secret')",                  qr/'seen 30', tde_wallet_opne\('\*+'\)/ ],
  [ 'keyword misspelt', "SELET 'seen 31', tde_wallet_open('$secret')",               qr/SELET 'seen 31'/ ],
  [ 'share',            "SELECT 'seen 32', tde_wallet_open_share('tde1-$secret')",   qr/'seen 32', tde_wallet_open_share\('\*+'\)/ ],
  [ 'change', "SELECT 'seen 33', tde_wallet_change_passphrase('$correct')", qr/'seen 33', tde_wallet_change_passphrase\('\*+'\)/ ],
  [ 'create',       "SELECT 'seen 34', tde_wallet_create('$secret')",                qr/'seen 34', tde_wallet_create\('\*+'\)/ ],
  [ 'export',       "SELECT 'seen 35', length(tde_export_keys('$secret')) > 0",      qr/'seen 35', length\(tde_export_keys\('\*+'\)/ ],
  [ 'import',       "SELECT 'seen 36', tde_import_keys('tdekeys:$secret', '$secret')", qr/'seen 36', tde_import_keys\('\*+', '\*+'\)/ ],
  [ 'after another', "SELECT 1; SELECT 'seen 37', tde_wallet_open('$secret')",       qr/'seen 37', tde_wallet_open/ ],
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
    my ($name, $sql, $seen, $special) = @$way;
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
    nowhere("$libraries[0] first, $name", wait_for_log_line($since, qr/statement: SELECT 'end of $number'.*duration.*end of $number/s), $seen, $views);
    session_try($session, 'ROLLBACK; DEALLOCATE ALL');
  }
  $session->quit;
  my @files = grep { -f && index(read_bytes($_), $secret) >= 0 } (log_files(), glob($node->data_dir . '/{pg_stat_tmp,pg_stat}/*'));
  is("@files", '', "$libraries[0] first: no file of the data directory has the secret, nor pg_stat_statements' texts");
  like(read_bytes($node->data_dir . '/pg_stat_tmp/pgss_query_texts.stat'), qr/seen/, 'which are there');
}

# What a function of one's own passes on is known once it was called.

my $since = log_now();
attempt($node, "SELECT wrapper('$secret')");
like(
  wait_for_log_line($since, qr/STATEMENT:  SELECT wrapper/),
  qr/ERROR:  TDE02(?:(?!$secret).)*STATEMENT:  SELECT wrapper\('\*+'\)/s,
  'the secret that a function passes on is not in the entry of its error');

# What an attacker may write to have the log hold less.

$since = log_now();
foreach my $sql (
  "SELECT 'audit 1' /* tde_wallet_ */",
  "SELECT 'audit 2' /* tde_wallet_open( */, lower('audit 2')",
  "CREATE TABLE tde_wallet_history (a text DEFAULT 'audit 3')",
  "INSERT INTO tde_wallet_history VALUES ('audit 4') -- tde_wallet_open(",
  "UPDATE tde_wallet_history SET a = 'audit 5' WHERE 'tde_wallet_open(' <> ''",
  "SELECT 'audit 6' FROM no_such_table /* tde_wallet_ */",
  "SELECT 'audit 7' AS \"tde_wallet_open(\"",
  "SELECT 'audit 8' WHERE CASE WHEN true THEN true ELSE tde_wallet_open(version()) IS NULL END")
{
  attempt($node, $sql);
}
lines_of($node, "SELECT 'end of attack'");
my $text = wait_for_log_line($since, qr/duration.*end of attack/s);
like($text, qr/user=[^,]+,db=postgres LOG:  00000: statement: .*'audit $_'/, "the log has it all: $_") foreach 1 .. 8;
like($text, qr/lower\('audit 2'\)/,                                   'also what follows a comment');
like($text, qr/ERROR:  42P01: relation "no_such_table" does not exist.*?STATEMENT:  SELECT 'audit 6'/s, 'and errors');

SKIP:
{
  skip 'pgaudit is not installed (package postgresql-NN-pgaudit)', 2 unless $has_pgaudit;
  my $all = join '', map { read_bytes($_) } log_files();
  like($all, qr/AUDIT: SESSION.*'seen 1', tde_wallet_open\('\*+'\)/, 'pgaudit has written');
  like($all, qr/AUDIT: SESSION.*DO/,                                'also blocks');
}

unlike(join('', map { read_bytes($_) } log_files()), qr/server process .* was terminated by signal|PANIC:|TRAP:/, 'no process has crashed');
$node->stop;
done_testing();
