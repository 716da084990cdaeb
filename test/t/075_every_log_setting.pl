# Secrets and values through every setting of the log that the server has: nothing of them is written, in whatever form, but by the
# settings that docs/security.md names.

use strict;
use warnings FATAL => 'all';

use FindBin;
use IO::Select;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $correct = 'quiet-passphrase';
my $secret  = 'Zq7secret';          # each secret begins so
my $canary  = 'Kw9canary';
my $docs    = read_bytes("$FindBin::RealBin/../../docs/security.md");
chomp(my $share = qx(pg_config --sharedir));
my @audit = -e "$share/extension/pgaudit.control" ? 'pgaudit' : ();

my $libraries = join ',', 'tde_column', 'pg_stat_statements', 'auto_explain', @audit;
my $node = tde_node(
  'every', extension => 1, conf => qq{
shared_preload_libraries = '$libraries'
logging_collector = on
log_destination = 'stderr,csvlog,jsonlog'
log_filename = 'server.log'
log_rotation_size = 0
log_statement = none
log_min_error_statement = panic
deadlock_timeout = 10ms
pg_stat_statements.track_utility = off
restart_after_crash = on
max_locks_per_transaction = 256
});
$node->start;
lines_of(
  $node, qq{
CREATE EXTENSION pg_stat_statements;
SELECT tde_wallet_create('$correct');
CREATE FUNCTION opens() RETURNS void LANGUAGE plpgsql AS \$\$BEGIN PERFORM tde_wallet_open('${secret}body'); END\$\$;
CREATE FUNCTION complain(text) RETURNS void LANGUAGE plpgsql AS \$\$BEGIN RAISE 'bad "%"', \$1 USING ERRCODE = 'unique_violation'; END\$\$;
CREATE FUNCTION runs(text, text) RETURNS void LANGUAGE plpgsql AS \$\$BEGIN EXECUTE format(\$1, \$2); END\$\$;
CREATE TABLE card (id int, a encrypted_text(nosalt) UNIQUE, n encrypted_int8, b encrypted_varchar(5), CHECK (n > 0));
INSERT INTO card VALUES (1, '$canary', 1), (2, 'other', 2)});

# ---- what is sent ----

# %s is the secret.
my @secrets = (
  "SELECT tde_wallet_open('%s')",
  "SELECT tde_wallet_open(passphrase => lower('%s'))",
  "SELECT tde_wallet_create('%s')",
  "SELECT tde_wallet_change_passphrase('%s') FROM no_such_table",
  "SELECT tde_wallet_open_share('%s')",
  "SELECT length(tde_export_keys('%s'))",
  "SELECT tde_import_keys('tdekeys:x', '%s')",
  "SELECT tde_open_envelope('fernet', 'x', '%s')",
  "SELECT tde_import_oracle_ddl('CREATE TABLE t (a DATE ENCRYPT IDENTIFIED BY %s)')",
  "WITH x AS (SELECT '%s' AS p) SELECT tde_wallet_open(p) FROM x",
  "SELECT tde_wallet_open(p) FROM unnest(ARRAY['%s']) p",
  "SELECT tde_wallet_open(p) FROM (SELECT '%s' || (random() > 2) AS p OFFSET 0) x WHERE p <> ''",
  "DO \$\$BEGIN PERFORM tde_wallet_open('%s'); END\$\$",
  "DO \$\$DECLARE p text; BEGIN SELECT '%s' INTO p FROM pg_class LIMIT 1; PERFORM tde_wallet_open(p); END\$\$",
  "DO \$\$BEGIN EXECUTE 'SELECT tde_wallet_open(\$1)' USING '%s'; END\$\$",
  "DO \$\$BEGIN RAISE WARNING 'tde_wallet_open(1) %%', '%s'; END\$\$",
  "DO \$\$BEGIN RAISE 'of tde_wallet_open(1) %%', '%s' USING ERRCODE = 'unique_violation', HINT = '%s'; END\$\$",
  "PREPARE p(text) AS SELECT tde_wallet_open(\$1)",
  "EXECUTE p('%s')",
  "EXECUTE p('%s', 1)",
  "DO \$\$BEGIN EXECUTE 'EXECUTE p(''%s'')'; END\$\$",
  "DEALLOCATE p",
  "SELECT tde_wallet_open(%s)",
  "SELECT tde_wallet_open('%s' 'x')",
  "SELECT tde_wallet_open('%s",
  "SELECT tde_wallet_opne('%s')",
  "SELECT U&\"tde_wallet\\005fopen\"('%s')",
  "CREATE FUNCTION made() RETURNS void LANGUAGE plpgsql AS \$\$BEGIN PERFORM tde_wallet_open('%s'); END\$\$",
  "SELECT made()",
  "DROP FUNCTION made()",
  "SELECT opens()",
  "BEGIN; DECLARE c CURSOR FOR SELECT tde_wallet_open('%s'); FETCH c",
  "EXPLAIN (ANALYZE, VERBOSE) SELECT tde_wallet_open('%s')",
  "INSERT INTO tde.passphrase VALUES ('%s')",
  "SET tde_column.no_such = '%s'; SELECT tde_wallet_open(current_setting('tde_column.no_such'))");

sub send_secrets
{
  my ($wire) = @_;
  my $number = 0;

  foreach my $sql (@secrets)
  {
    $number++;
    $wire->query($sql =~ s/%s/$secret$number/gr =~ s/%%/%/gr);
    $wire->query('ROLLBACK') if $sql =~ /^BEGIN/;
  }
  foreach my $data ("${secret}copied\n", "${secret}copied\tmore\n", "${secret}copied\xff\n", "\\N\t${secret}copied\n")
  {
    $wire->copy('COPY tde.passphrase FROM STDIN', $data);
    $wire->query('SELECT tde_wallet_open()');
  }
  foreach my $sql (
    'SELECT tde_wallet_open($1)',
    'WITH x AS (SELECT $1::text AS p) SELECT tde_wallet_open(p) FROM x',
    'SELECT tde_wallet_open(p) FROM unnest(ARRAY[$1::text]) p',
    'INSERT INTO tde.passphrase VALUES ($1)',
    "SELECT tde_wallet_open(\$1), '${secret}beside'")
  {
    $wire->parse('', $sql)->execute('', "${secret}bound")->sync;
    $wire->parse('named', $sql)->sync;
    $wire->execute('named', "${secret}bound")->sync foreach 1 .. 2;
    $wire->execute('named', "${secret}bound\xff")->sync;
    $wire->query("EXECUTE named('${secret}executed')");
    $wire->query('DEALLOCATE named');
  }
  $wire->parse('', "SELECT tde_wallet_open('${secret}parsed')")->execute('')->sync;
  return;
}

# What is stored, or a parameter: without a literal, so that statements may be logged.
sub send_values
{
  my ($wire) = @_;

  $wire->query($_)
    foreach (
    'INSERT INTO card (a) SELECT a FROM card',
    'INSERT INTO card (id, a, n) SELECT id, a || 1, -1 FROM card',
    'INSERT INTO card (b) SELECT a::text FROM card',
    'UPDATE card SET n = a::text::int8',
    'SELECT a::text::json FROM card',
    'SELECT complain(a::text) FROM card',
    'SELECT pg_read_file(a::text) FROM card',
    q{SELECT to_tsquery('simple', repeat(a::text, 300)) FROM card},
    q{SELECT a::text::regclass FROM card},
    q{SELECT runs('SELECT 1 / 0 WHERE %L <> ''''', a::text) FROM card},
    q{SELECT runs('DO $d$BEGIN RAISE WARNING ''%s''; END$d$', 'no value') FROM card},
    q{SET work_mem = 64; SELECT runs('SELECT count(*) FROM (SELECT i, %L FROM generate_series(1, 20000) i ORDER BY random()) x', a::text) FROM card; RESET work_mem});
  $wire->copy('COPY card (n) FROM STDIN',     "$canary\n");
  $wire->copy('COPY card (id, a) FROM STDIN', "1\t$canary\n");
  $wire->copy('COPY card (id, a) FROM STDIN', "1\t$canary\t\n");
  foreach my $sql ('INSERT INTO card (n) VALUES ($1)', 'INSERT INTO card (a) VALUES ($1)', 'SELECT id FROM card WHERE n = $1', 'SELECT id FROM card WHERE a = $1')
  {
    $wire->parse('', $sql)->execute('', $canary)->sync;
    $wire->parse('named', $sql)->sync;
    $wire->execute('named', $canary)->sync foreach 1 .. 2;
    $wire->query('DEALLOCATE named');
  }
  return;
}

# Two sessions that wait for each other; each statement ends in a literal.
sub deadlock
{
  my ($options, $first, $second) = @_;
  my @wires = map { TdeWire->connect($node, $options) } 1 .. 2;

  $wires[$_]->query("SELECT pg_advisory_lock(75, $_)") foreach 0, 1;
  $wires[0]->ask($first);
  $node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die 'nobody waits';
  $wires[1]->ask($second);
  # the one that is told of the deadlock goes first: its end frees the other
  my ($told) = IO::Select->new(map { $_->{socket} } @wires)->can_read(180) or die 'no deadlock';
  my ($wire) = grep { $_->{socket} == $told } @wires;
  my $error = $wire->until_ready->{error};
  close $_->{socket} foreach $wire, @wires;
  return $error;
}

# ---- what is written ----

sub files { return grep { -f } glob($node->data_dir . '/{log,pg_stat_tmp,pg_stat}/*'); }
sub sizes { return { map { $_ => m{/log/} ? -s $_ : 0 } files() }; }

# In clear, in any case; as decimal bytes, as trees have constants; as hexadecimal digits; with a backslash before each character.
sub forms
{
  my ($word) = @_;
  my @bytes = unpack 'C*', $word;
  my $any = join '|', quotemeta($word), join('\s+', @bytes), join('', map { sprintf '%02x', $_ } @bytes), join('\\\\', '', map { quotemeta } split //, $word);
  return qr/$any/i;
}
my %forms = ($secret => forms($secret), $canary => forms($canary));

sub written
{
  my ($word, $since) = @_;
  my @found;

  foreach my $file (files())
  {
    my $text = substr read_bytes($file), $since->{$file} // 0;
    $text =~ s/\\n/ /g;
    push @found, substr($text, $-[0] > 100 ? $-[0] - 100 : 0, 200) while @found < 20 && $text =~ /$forms{$word}/g;
  }
  return @found;
}

# The collector writes what was sent before this.
sub wait_for_collector
{
  my ($number) = @_;
  my $mark = "collected $number";

  $node->psql('postgres', "DO \$\$BEGIN RAISE WARNING '$mark'; END\$\$", extra_params => ['-q']);
  foreach (1 .. 600)
  {
    return if (3 == grep { index(read_bytes($_), $mark) >= 0 } glob($node->data_dir . '/log/server.*'));
    select undef, undef, undef, 0.05;
  }
  die 'the log does not come';
}

my $passes = 0;

# All of it, under these settings; value: may values be written?
sub run_with
{
  my ($settings, $name, $may_write_values) = @_;
  my $options = join ' ', map { "-c $_=$settings->{$_}" } sort keys %$settings;
  my $since   = sizes();
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  my $wire = TdeWire->connect($node, $options);
  send_secrets($wire);
  my $texts = lines_of($node, q{SELECT query FROM pg_stat_activity; SELECT query FROM pg_stat_statements});
  send_values($wire) if !$may_write_values;
  close $wire->{socket};
  wait_for_collector(++$passes);
  foreach my $word ($secret, $may_write_values ? () : $canary)
  {
    my @found = written($word, $since);
    is(scalar(@found), 0, "$name: no " . ($word eq $secret ? 'secret' : 'value')) or diag(join "\n----\n", @found);
  }
  is(scalar(grep { $_ =~ $forms{$secret} } split /\n/, $texts), 0, "$name: no secret in views");
  return;
}

# ---- the settings ----

# These write statements or parameters down, says docs/security.md.
my %written_by = map { $_ => 1 } qw(log_statement log_min_duration_statement log_min_duration_sample log_transaction_sample_rate
  log_min_error_statement log_parameter_max_length_on_error debug_print_raw_parse debug_print_parse debug_print_rewritten debug_print_plan
  auto_explain.log_min_duration pgaudit.log pg_stat_statements.track_utility);
ok(index($docs, $_) >= 0, "docs/security.md says that $_ writes statements down") foreach map { s/^(auto_explain|pgaudit)\..*/$1/r } sort keys %written_by;

# These do nothing without another one.
sub companion
{
  my ($name) = @_;
  return { 'auto_explain.log_min_duration' => 0 } if $name =~ /^auto_explain\./;
  return { 'pgaudit.log'                   => 'all' } if $name =~ /^pgaudit\./;
  return { log_min_duration_statement      => 0 } if $name eq 'log_parameter_max_length';
  return { log_min_duration_sample         => 0 } if $name eq 'log_statement_sample_rate';
  return {};
}

# name, vartype, context, setting, enumvals, least, greatest; what can be set without a restart and is not about where and when a file begins
my @settings = map { [ split /\|/ ] } split /\n/, lines_of(
  $node, q{
SELECT name, vartype, context, setting, array_to_string(enumvals, ','), min_val, max_val FROM pg_settings
WHERE (category ~ '^Reporting and Logging / W(hat|hen)' OR name ~ '^(log_|debug_|trace_|auto_explain\.|pgaudit\.|pg_stat_statements\.)')
  AND category !~ 'Where to Log' AND vartype <> 'string' AND context NOT IN ('internal', 'postmaster')
  AND name NOT IN ('debug_discard_caches', 'log_startup_progress_interval')
ORDER BY 1});
cmp_ok(scalar(@settings), '>', 40, 'there are settings');
push @settings, [ 'pgaudit.log', 'enum', 'superuser', 'none', 'all' ] if @audit;

sub values_of
{
  my ($name, $type, $context, $now, $words, $least, $greatest) = @_;
  my @values =
    $type eq 'bool' ? qw(on off) :
    $type eq 'enum' ? split(/,/, $words) :
    $type eq 'real' ? ($least, $greatest) :
    ($least, $least < 0 ? 0 : (), $name =~ /length/ ? 3 : ());
  return grep { $_ ne $now } @values;
}

# The search finds what is there.
my $since = sizes();
my $wire = TdeWire->connect($node, '-c log_statement=all -c debug_print_plan=on');
$wire->parse('', 'SELECT count(*) FROM card WHERE a = $1')->execute('', $canary)->sync;
$wire->query("SELECT '$secret'");
close $wire->{socket};
wait_for_collector('control');
cmp_ok(scalar(written($canary, $since)), '>', 0, 'a parameter that is logged is found');
like(join('', written($secret, $since)), qr/statement: SELECT '$secret'/, 'so is a literal');
like(join('', written($secret, $since)), qr/constvalue[^]]* 90\s+113\s+55/, 'and a constant in numbers');

my @sighup;
my %loudest;
foreach my $setting (@settings)
{
  my ($name, $type, $context) = @$setting;
  my $with = companion($name);
  my $may = grep { $written_by{$_} } $name, keys %$with;
  foreach my $value (values_of(@$setting))
  {
    if ($context eq 'sighup')
    {
      push @sighup, [ $name, $value ];
      next;
    }
    run_with({ %$with, $name => $value }, "$name = $value", $may);
    # the last word of an enumeration and "on" are not always the loudest, but these are many at once
    $loudest{$name} = $value if $value ne 'off' && $value !~ /^(panic|none|off)$/;
  }
}

# What only the configuration has: all at once, twice.
foreach my $which (0, -1)
{
  my %values;
  push @{ $values{ $_->[0] } }, $_->[1] foreach @sighup;
  $node->append_conf('postgresql.conf', join '', map { "$_ = $values{$_}[$which]\n" } keys %values);
  $node->reload;
  run_with({}, "settings of the configuration ($which)", 0);
}
delete $loudest{log_statement_stats};    # excludes the others
$loudest{log_min_messages} = $loudest{log_min_error_statement} = 'debug5';
$loudest{'auto_explain.log_min_duration'} = $loudest{log_min_duration_statement} = 0;
$loudest{log_statement} = 'all';
$loudest{log_parameter_max_length} = $loudest{log_parameter_max_length_on_error} = -1;
run_with(\%loudest, 'all at once', 1);

# ---- deadlocks and crashes, which tell of statements of others ----

foreach my $options ('', '-c log_min_error_statement=error -c log_lock_waits=on')
{
  my $since = sizes();
  my $error = deadlock(
    $options,
    "SELECT pg_advisory_lock(75, 1), tde_export_keys('${secret}dead')",
    "SELECT pg_advisory_lock(75, 0), tde_export_keys('${secret}lock')");
  like($error, qr/deadlock detected/, 'a deadlock of statements with secrets');
  wait_for_collector(++$passes);
  is(join("\n", written($secret, $since)), '', "tells none of them $options");
}
$since = sizes();
like(
  deadlock('', "SELECT pg_advisory_lock(75, 1), '$canary'::encrypted_text", "SELECT pg_advisory_lock(75, 0), '$canary-2'"),
  qr/deadlock detected/, 'a deadlock of statements with values');
wait_for_collector(++$passes);
is(join("\n", written($canary, $since)), '', 'tells none of them, since statements that fail are not logged');
like(join('', map { read_bytes($_) } glob($node->data_dir . '/log/server.log')), qr/DETAIL:  Process \d+ waits for ExclusiveLock/, 'but who waited for whom');

$since = sizes();
my $doomed = TdeWire->connect($node);
my ($pid) = @{ $doomed->query('SELECT pg_backend_pid()')->{rows} };
$doomed->ask("SELECT pg_sleep(180), '$canary'::encrypted_text");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die 'it does not sleep';
kill KILL => $pid;
$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
wait_for_collector(++$passes);
is(join("\n", written($canary, $since)), '', 'a process that is killed: nor is the statement that it was running');
like(
  join('', map { substr read_bytes($_), $since->{$_} // 0 } glob($node->data_dir . '/log/server.log')),
  qr/terminated by signal 9.*\n.*DETAIL:  Not logged, since log_min_error_statement/,
  'and the log says why');

$node->stop;
done_testing();
