# Metrics: one view with what a monitoring system asks for, and files by which Prometheus, OpenTelemetry and Grafana do: each name in them is a column.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IO::Socket::INET;
use IPC::Run;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $files = "$FindBin::RealBin/../../clients/monitoring";
my $node  = tde_node('metrics', extension => 1);
$node->start;
lines_of($node, q{CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor; CREATE ROLE nobody LOGIN});

sub metric { return lines_of($node, "SELECT $_[0] FROM tde.metrics") }

is(metric('wallet_open, wallet_opened, wallet_refused, data_keys'), '0|0|0|0', 'before there is a wallet');
lines_of($node, q{SELECT tde_wallet_create('metrics-passphrase'); CREATE TABLE t (a encrypted_text); INSERT INTO t SELECT 'x' || g FROM generate_series(1, 100) g});
lines_of($node, 'SELECT tde_wallet_close()');
is(metric('wallet_open'), '0', 'a closed wallet');
attempt($node, q{SELECT tde_wallet_open('wrong-passphrase')});
lines_of($node, q{SELECT tde_wallet_open('metrics-passphrase')});
is(metric('wallet_open, wallet_opened, wallet_refused'), '1|1|1', 'openings and refusals');

my $before = metric('decryptions');
lines_of($node, 'SELECT a FROM t');
is(metric('decryptions') - $before, 100, 'values decrypted');
ok(metric('encryptions') >= 100, 'values encrypted');
is(metric('not_authentic'), '0', 'no failed authentication');
lines_of($node, q{
  CREATE FUNCTION stored(anyelement) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
  CREATE TABLE bytes (b bytea); INSERT INTO bytes SELECT set_byte(stored(a), octet_length(stored(a)) - 1, get_byte(stored(a), octet_length(stored(a)) - 1) # 1) FROM t LIMIT 1;
  CREATE FUNCTION as_value(bytea) RETURNS encrypted_text LANGUAGE internal IMMUTABLE STRICT AS 'byteasend'});
fails_with($node, 'SELECT length(as_value(b)) FROM bytes', { state => 'TDE04' }, 'a changed value');
is(metric('not_authentic'), '1', '... is counted');
like(metric('key_age_seconds'), qr/^\d+$/, 'the age of the oldest key');
is(metric('values_left <= 2147483648 - 100, values_left > 2147400000, data_keys > 0'), 't|t|t', 'values that are left');
lines_of($node, "ALTER SYSTEM SET tde_column.encryption_limit = 1000; SELECT pg_reload_conf()");
$node->poll_query_until('postgres', 'SELECT values_left <= 900 FROM tde.metrics') or die 'the limit does not count';
pass('... of a policy\'s limit');

# ---- who may ----

is(attempt($node, 'SELECT wallet_open FROM tde.metrics', user => 'monitor')->{out}, '1', 'pg_monitor reads them');
fails_with($node, 'SELECT * FROM tde.metrics', { state => '42501', message => qr/permission denied for view metrics/ }, 'others do not', user => 'nobody');

# ---- the files ----

my @columns = split /\n/, lines_of($node, q{SELECT attname FROM pg_attribute WHERE attrelid = 'tde.metrics'::regclass AND attnum > 0 ORDER BY attnum});
my %known = map { $_ => 1 } @columns;
is_deeply([ slurp_file("$files/postgres_exporter.yaml") =~ /^    - (\w+):/mg ], \@columns, 'postgres_exporter gets all columns');
is_deeply([ slurp_file("$files/otel_sqlquery.yaml") =~ /value_column: (\w+)/g ], \@columns, 'and OpenTelemetry');
foreach my $file ('alerts.yaml', 'grafana.json')
{
  my @used = slurp_file("$files/$file") =~ /tde_column_(\w+)/g;
  ok(@used > 0, "$file uses metrics");
  is(join(' ', grep { !$known{$_} } @used), '', '... that there are');
}
is(decode_json(slurp_file("$files/grafana.json"))->{title}, 'tde_column', 'the dashboard is JSON');

SKIP:
{
  my ($promtool) = grep { -x } map { "$_/promtool" } split /:/, $ENV{PATH};
  skip 'promtool is not installed', 2 if !$promtool;
  command_ok([ $promtool, 'check', 'rules', "$files/alerts.yaml" ], 'promtool takes the alerts');
  command_ok([ $promtool, 'test', 'rules', "$files/alerts_test.yaml" ], '... and they fire when they should');
}

SKIP:
{
  my ($exporter) = grep { -x } map { ("$_/prometheus-postgres-exporter", "$_/postgres_exporter") } split /:/, $ENV{PATH};
  skip 'postgres_exporter is not installed', 2 if !$exporter;
  my $port = PostgreSQL::Test::Cluster::get_free_port();
  local $ENV{DATA_SOURCE_NAME} = 'host=' . $node->host . ' port=' . $node->port . ' user=monitor dbname=postgres sslmode=disable';
  my $running = IPC::Run::start(
    [ $exporter, "--web.listen-address=127.0.0.1:$port", "--extend.query-path=$files/postgres_exporter.yaml", '--disable-default-metrics', '--disable-settings-metrics' ],
    '>', \my $out, '2>', \my $err);
  my $page = '';
  foreach (1 .. 100 * 10)
  {
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
    if ($socket)
    {
      print $socket "GET /metrics HTTP/1.0\r\n\r\n";
      $page = do { local $/; <$socket> };
      last;
    }
    select undef, undef, undef, 0.1;
  }
  $running->signal('TERM');
  $running->finish;
  is(join(' ', grep { $page !~ /^tde_column_${_}(?:\{[^}]*\})? /m } @columns), '', 'postgres_exporter tells all of them') or diag($err);
  like($page, qr/^tde_column_wallet_open(?:\{[^}]*\})? 1\r?$/m, '... with their values');
}

$node->stop;
done_testing();
