# Values in what functions of PostgreSQL's, and others', say of their arguments: in messages, warnings, lines of the log, details and hints.  The client
# gets them, the server log the rest.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('messages', extension => 1, init => [ allows_streaming => 1 ], conf => q{
tde_column.passphrase_command = 'echo messages-passphrase'
log_statement = none
log_min_messages = debug1
log_min_error_statement = panic
});
$node->start;
my ($word, $number) = ('Kw9canary', '744117');
lines_of(
  $node, qq{
SELECT tde_wallet_create('messages-passphrase');
CREATE TABLE card (a encrypted_text, n encrypted_int4, b encrypted_varchar(30));
INSERT INTO card VALUES ('$word', $number);
CREATE SEQUENCE few MAXVALUE 10;
CREATE FUNCTION complain(level text, value text) RETURNS void LANGUAGE plpgsql AS \$\$BEGIN
  CASE level
    WHEN 'hint' THEN RAISE 'a complaint' USING HINT = value;
    WHEN 'detail' THEN RAISE WARNING 'a complaint' USING DETAIL = value, HINT = value;
    WHEN 'warning' THEN RAISE WARNING 'a complaint of "%"', value;
    WHEN 'log' THEN RAISE LOG 'a complaint of "%"', value USING HINT = value;
    WHEN 'debug' THEN RAISE DEBUG 'a complaint of "%"', value;
    ELSE RAISE 'a complaint of %', value;
  END CASE;
END\$\$});

# What the log says, all the same.
my @cases = (
  [ q{SELECT complain('hint', a::text) FROM card},                  qr/ERROR:  a complaint\n/ ],
  [ q{SELECT complain('detail', a::text) FROM card},                qr/WARNING:  a complaint\n.*DETAIL:  Not logged/ ],
  [ q{SELECT complain('warning', a::text) FROM card},               qr/WARNING:  a complaint of "\*{9}"/ ],
  [ q{SELECT complain('log', a::text) FROM card},                   qr/LOG:  a complaint of "\*{9}"/ ],
  [ q{SELECT complain('debug', a::text) FROM card},                 qr/DEBUG:  a complaint of "\*{9}"/ ],
  [ q{SELECT complain('number', n::text) FROM card},                qr/ERROR:  a complaint of \*{6}\n/ ],
  [ q{SELECT pg_read_file('base/' || a) FROM card},                 qr/ERROR:  could not open file "\*+" for reading/ ],
  [ q{SELECT pg_read_file('pg_' || a) FROM card},                   qr/ERROR:  could not open file "\*+" for reading/ ],
  [ q{SELECT pg_stat_file('global/' || n) FROM card},               qr/ERROR:  could not stat file "\*+"/ ],
  [ q{SELECT pg_ls_dir('base/' || a) FROM card},                    qr/ERROR:  could not open directory "\*+"/ ],
  [ q{SELECT lo_import('base/' || a) FROM card},                    qr/ERROR:  could not open server file "\*+"/ ],
  [ q{SELECT pg_create_restore_point(a::text) FROM card},           qr/LOG:  restore point "\*{9}" created/ ],
  [ q{SELECT plainto_tsquery('english', 'the') @@ to_tsvector(a::text), to_tsquery('simple', quote_literal('! ' || n)) FROM card}, undef ],
  [ q{SELECT pg_terminate_backend(n) FROM card},                    qr/WARNING:  PID \*{6} is not a PostgreSQL/ ],
  [ q{SELECT setval('few', n::int8) FROM card},                     qr/ERROR:  setval: value \*{6} is out of bounds for sequence "\*+"/ ],
  [ q{SELECT setseed(n::float8) FROM card},                         qr/ERROR:  setseed parameter \*{6} is out of allowed range/ ],
  [ q{SELECT make_date(n, 13, 40) FROM card},                       qr/ERROR:  date field value out of range: \*{6}-\*\*-\*\*/ ],
  [ q{SELECT chr(n * 100) FROM card},                               qr/ERROR:  requested character too large/ ],
  [ q{UPDATE card SET b = repeat(a::text, 9)},                      qr/ERROR:  value too long for type character varying\(30\)/ ],
  [ q{SELECT no_such(a) FROM card},                                 qr/ERROR:  function no_such\(encrypted_text\) does not exist/ ]);
foreach my $case (@cases)
{
  my ($sql, $logged) = @$case;
  my $start = log_offset($node);
  attempt($node, $sql);
  my $text = log_since($node, $start);
  my @found = grep { /$word|$number/i } split /\n/, $text;
  is(scalar(@found), 0, "no value: $sql") or diag(join "\n", @found);
  like($text, $logged, 'but the rest') if $logged;
}

# The client gets all of it; what is no value's stays in the log.
my $got = attempt($node, q{SELECT complain('hint', a::text) FROM card});
is($got->{hint}, $word, 'the client gets the hint');
like(attempt($node, q{SELECT pg_create_restore_point(a::text), complain('detail', n::text) FROM card})->{err}, qr/DETAIL:  $number\n.*HINT:  $number/s, 'and those of a warning');
my $start = log_offset($node);
attempt($node, $_) foreach q{SELECT pg_read_file('base/nowhere')}, q{SELECT complain('hint', 'see page 12')}, q{SELECT pg_create_restore_point('point-12')};
my $text = log_since($node, $start);
like($text, $_, 'of a statement without values') foreach qr{could not open file "base/nowhere"}, qr/HINT:  see page 12\n/, qr/restore point "point-12" created at/;
$start = log_offset($node);
attempt($node, q{SET log_temp_files = 0; SET work_mem = 64; SET log_executor_stats = on; SELECT count(*) FROM (SELECT n, g FROM card, generate_series(1, 20000) g ORDER BY md5(a || g)) x});
$text = log_since($node, $start);
like($text, $_, 'of a statement with values, what a setting writes down') foreach qr{temporary file: path "base/pgsql_tmp/}, qr/LOG:  EXECUTOR STATISTICS\n.*DETAIL:  ! system usage stats/;

done_testing();
