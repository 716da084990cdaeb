# Transparent results: what drivers see, and what the setting must leave alone.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my %oid  = (int4 => 23, text => 25, varchar => 1043, date => 1082, numeric => 1700, text_array => 1009, numeric_array => 1231);
my $node = tde_node('limits', extension => 1, conf => "tde_column.passphrase_command = 'echo limits-passphrase'\nlog_temp_files = 0\n");

$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('limits-passphrase');
CREATE TABLE t (id int PRIMARY KEY, a encrypted_text(aes256,salt), n encrypted_numeric(15,2,aes128,nosalt), d encrypted_date,
  v encrypted_varchar(20));
INSERT INTO t SELECT g, 'name ' || g % 5, g * 1.25, date '2024-02-27' + g, 'v' || g FROM generate_series(1, 20) g;
CREATE INDEX ON t (n);
CREATE TABLE bare (LIKE t);
CREATE TABLE arrays (a encrypted_text(aes256,salt)[], n encrypted_numeric(6,1,nosalt)[]);
CREATE TABLE seen (place text, a text, n text);
CREATE FUNCTION note(place text) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE r record;
  BEGIN
    FOR r IN SELECT a, n FROM t WHERE id = 1 LOOP
      INSERT INTO seen VALUES (place, pg_typeof(r.a), pg_typeof(r.n));
    END LOOP;
    FOR r IN EXECUTE 'SELECT a, n FROM t WHERE id = 2' LOOP
      INSERT INTO seen VALUES (place, pg_typeof(r.a), pg_typeof(r.n));
    END LOOP;
    RETURN true;
  END $$;
CREATE FUNCTION note_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM note(tg_name); RETURN new; END $$;
CREATE TABLE now (id int);
CREATE TRIGGER immediate AFTER INSERT ON now FOR EACH ROW EXECUTE FUNCTION note_trigger();
CREATE TABLE later (id int);
CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_trigger();
CREATE DOMAIN noting AS int CHECK (note('domain'));
CREATE FUNCTION takes_encrypted(encrypted_text) RETURNS encrypted_text LANGUAGE sql AS $$ SELECT $1 $$;
CREATE PROCEDURE notes() LANGUAGE plpgsql AS $$ BEGIN PERFORM note('procedure'); COMMIT; PERFORM note('after commit'); END $$;
CREATE FUNCTION open_cursor(c refcursor) RETURNS refcursor LANGUAGE plpgsql AS $$
  BEGIN OPEN c FOR SELECT a FROM t ORDER BY id; RETURN c; END $$;
CREATE FUNCTION execute_prepared() RETURNS text LANGUAGE plpgsql AS $$
  DECLARE r record; BEGIN EXECUTE 'EXECUTE p' INTO r; RETURN r.a || ' ' || pg_typeof(r.a); END $$;
});

# The extended protocol, as drivers use it.

my $wire = TdeWire->connect($node);
my $got  = $wire->parse('', 'SELECT id, a, n, d, v FROM t WHERE n > $1 AND a = $2 ORDER BY n')->describe('')->execute('', '10', 'name 3')->sync;
is_deeply($got->{parameters}, [ @oid{qw(numeric text)} ],                   'parameters have the base types');
is_deeply($got->{types},      [ @oid{qw(int4 text numeric date varchar)} ], 'results have the base types');
is_deeply($got->{rows}, [ '13|name 3|16.25|2024-03-11|v13', '18|name 3|22.50|2024-03-16|v18' ], 'and values are right');

my %parameters = (
  'SELECT FROM t WHERE $1 < n'                                            => ['numeric'],
  'SELECT FROM t WHERE v = $1'                                            => ['varchar'],
  'SELECT FROM t WHERE d BETWEEN $1 AND $2'                               => [qw(date date)],
  'SELECT FROM t WHERE a IN ($1, $2)'                                     => [qw(text text)],
  'SELECT FROM t WHERE a = ANY ($1)'                                      => ['text_array'],
  'SELECT FROM t WHERE a IS DISTINCT FROM $1'                             => ['text'],
  'SELECT FROM t WHERE a = $1 OR upper(a) = $1 OR a LIKE $1'              => ['text'],
  'SELECT FROM t WHERE (a, n) = ($1, $2)'                                 => [qw(text numeric)],
  'SELECT FROM t WHERE id IN (SELECT id FROM t WHERE n < $1)'             => ['numeric'],
  'INSERT INTO t VALUES ($1, $2, $3, $4, $5)'                             => [qw(int4 text numeric date varchar)],
  'INSERT INTO arrays VALUES ($1, $2)'                                    => [qw(text_array numeric_array)],
  'UPDATE arrays SET a = $1'                                              => ['text_array'],
  'INSERT INTO t (id, a) VALUES ($1, $2), ($3, $4)'                       => [qw(int4 text int4 text)],
  'INSERT INTO t (id, a) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET n = $2' => [qw(text numeric)],
  'UPDATE t SET a = $1, n = $2 WHERE v = $3'                              => [qw(text numeric varchar)],
  'DELETE FROM t WHERE n = $1 RETURNING a'                                => ['numeric'],
  'WITH w AS (SELECT a FROM t WHERE n = $1) SELECT * FROM w WHERE a = $2' => [qw(numeric text)],
  'DECLARE c CURSOR FOR SELECT a FROM t WHERE n = $1'                     => ['numeric']);
foreach my $sql (sort keys %parameters)
{
  $got = $wire->parse('', $sql)->describe('')->sync;
  is_deeply([ $got->{error}, @{ $got->{parameters} } ], [ '', @oid{ @{ $parameters{$sql} } } ], "types of the parameters of: $sql");
}

$got = $wire->query('BEGIN; SET LOCAL tde_column.transparent_results = off');
$got = $wire->parse('', 'SELECT a, n FROM t WHERE n = $1 AND a = $2')->describe('')->sync;
is(scalar(grep { $_ < 16384 } @{ $got->{parameters} }, @{ $got->{types} }), 0, 'switched off, all of them are encrypted types');
$wire->query('ROLLBACK');

my $work = 'SELECT encryptions, decryptions FROM tde.stats';
my ($before) = @{ $wire->query($work)->{rows} };
$got = $wire->parse('', 'INSERT INTO bare VALUES ($1, $2, $3, $4, $5) RETURNING id')->execute('', 100, 'new', '1.005', '2024-01-01', 'v')->sync;
is_deeply($got->{rows}, ['100'], 'a row is inserted');
my @work = map { [ split /\|/ ] } $before, $wire->query($work)->{rows}[0];
is($work[1][0] - $work[0][0], 4, 'its values are encrypted once');
is($work[1][1] - $work[0][1], 0, 'and not decrypted');
is_deeply($wire->query('SELECT * FROM bare')->{rows}, ['100|new|1.01|2024-01-01|v'], 'and they are right');
$got = $wire->parse('', 'INSERT INTO t (id, v) VALUES (101, $1)')->execute('', 'x' x 21)->sync;
like($got->{error}, qr/^22001 /, 'a value that is too long is refused');

# Arrays.
$got = $wire->parse('', 'INSERT INTO arrays VALUES ($1, $2) RETURNING a, n')->describe('')->execute('', '{x,NULL,"y z"}', '{{1.25,2},{3,NULL}}')->sync;
is_deeply([ $got->{types}, $got->{rows} ], [ [ @oid{qw(text_array numeric_array)} ], ['{x,NULL,"y z"}|{{1.3,2.0},{3.0,NULL}}'] ], 'arrays go in and come back');
is_deeply($wire->query('SELECT tde_verify_spec FROM (SELECT count(*) AS tde_verify_spec FROM tde_key_usage(\'arrays\') WHERE slot = 0) s')->{rows}, ['2'],
  'under the specification of their columns');
lines_of($node, 'CREATE ROLE array_clerk; GRANT SELECT ON arrays TO array_clerk');
$wire->query('SET tde_column.decrypt_role = pg_monitor');
foreach my $case ([ 'null', '{NULL,NULL,NULL}|{{NULL,NULL},{NULL,NULL}}' ], [ 'mask', '{****,NULL,****}|{{0.0,0.0},{0.0,NULL}}' ])
{
  $wire->query("RESET ROLE; SET tde_column.decrypt_policy = '$case->[0]'; SET ROLE array_clerk");
  is_deeply($wire->query('SELECT * FROM arrays')->{rows}, [ $case->[1] ], "who may not decrypt sees elements as the policy $case->[0] says");
}
$wire->query(q{RESET ROLE; SET tde_column.decrypt_policy = 'error'; SET ROLE array_clerk});
like($wire->query('SELECT * FROM arrays')->{error}, qr/^42501 /, 'or an error');
$wire->query('RESET ROLE; RESET tde_column.decrypt_role');

# A statement whose table changes is analyzed again, by Bind or by Describe.
$wire->parse('named', 'SELECT DISTINCT a, n FROM t WHERE n < $1 AND a > $2 ORDER BY n')->sync;
$wire->parse('insert', 'INSERT INTO t (id, a, n) VALUES ($1, $2, $3) RETURNING a, n')->sync;
$wire->parse('all', 'SELECT a, n FROM t WHERE id < 3 ORDER BY id')->sync;
$wire->parse('function', 'SELECT takes_encrypted($1), a FROM t WHERE id = 1 AND a > $1')->sync;
foreach my $round (1, 2)
{
  lines_of($node, "ALTER TABLE t ADD COLUMN extra$round int");
  $got = $round == 1 ? $wire->describe('named')->sync : $wire->execute('named', 3, 'a')->describe('named')->sync;
  is($got->{error}, '', 'a named statement survives that its table changes: ' . ($round == 1 ? 'Describe' : 'Bind'));
  is_deeply([ $got->{parameters}, $got->{types} ], [ [ @oid{qw(numeric text)} ], [ @oid{qw(text numeric)} ] ], 'with the same types');
  is_deeply($got->{rows}, [ 'name 1|1.25', 'again|2.00', 'name 2|2.50' ], 'and result') if $round == 2;
  $got = $wire->execute('insert', 200 + $round, 'again', '2')->sync;
  is_deeply([ $got->{error}, @{ $got->{rows} } ], [ '', 'again|2.00' ], 'INSERT ... RETURNING');
  $got = $wire->execute('all')->sync;
  is_deeply([ $got->{error}, @{ $got->{rows} } ], [ '', 'name 1|1.25', 'name 2|2.50' ], 'without parameters');
  $got = $wire->execute('function', 'a')->sync;
  is_deeply([ $got->{error}, @{ $got->{rows} } ], [ '', 'a|name 1' ], 'a parameter of a function that takes an encrypted value');
}

lines_of($node, 'ALTER TABLE t ADD COLUMN extra_described int');
$got = $wire->describe('all')->sync;
is_deeply([ $got->{error}, $got->{types} ], [ '', [ @oid{qw(text numeric)} ] ], 'without parameters, described');

# Parameters of EXPLAIN keep their types.
$got = $wire->parse('', 'EXPLAIN (COSTS OFF) SELECT a FROM t WHERE n = $1')->describe('')->execute('', 7)->sync;
is($got->{error}, '', 'EXPLAIN with parameters');
cmp_ok($got->{parameters}[0], '>=', 16384, 'has those of an encrypted type');
unlike(join("\n", @{ $wire->query('EXPLAIN (GENERIC_PLAN) SELECT a FROM t WHERE n = $1 AND a = $2')->{rows} }), qr/^$/, 'EXPLAIN (GENERIC_PLAN)')
  if $node->pg_version >= 16;

# Plaintext is made above what spills: of a SELECT when its rows are sent, which EXPLAIN shows in the plan's top node.

# The plan as it is executed.
sub without_decryption
{
  my ($plan) = @_;

  $plan =~ s/^ {2}(?:->  |    )//mg if $plan =~ s/\AResult\n  Output: .*\n//;
  $plan =~ s/\A.*\n  Output: \K.*/$& =~ s{\(([\w.]+)\)::(?:text|numeric(?:\([\d,]+\))?|integer)}{$1}gr/e;
  return $plan;
}

foreach my $sql (
  'SELECT a, n FROM t ORDER BY id + 1',
  'SELECT a, n FROM t ORDER BY n, a LIMIT 5',
  'SELECT a, count(*) FROM t GROUP BY a ORDER BY count(*)',
  'SELECT a, rank() OVER (PARTITION BY a ORDER BY n) FROM t ORDER BY d',
  'SELECT a, n, count(*) FROM t GROUP BY ROLLUP (a, n) ORDER BY 3',
  'SELECT a FROM t UNION SELECT v FROM t ORDER BY 1',
  'SELECT DISTINCT a, n FROM t ORDER BY n',
  'SELECT x.a, y.n FROM t x JOIN t y ON x.a = y.v ORDER BY y.d',
  'WITH w AS MATERIALIZED (SELECT a, d FROM t) SELECT a FROM w ORDER BY d')
{
  foreach my $plan ('enable_hashagg = off; SET enable_hashjoin = off', 'enable_mergejoin = off', parallel_setting($node) . ' = on')
  {
    my %explained = map { $_ => lines_of($node, "SET $plan; SET tde_column.transparent_results = $_; EXPLAIN (VERBOSE, COSTS OFF) $sql") } qw(off on);
    # a subquery may be put around the statement, and be planned away again
    my ($off, $on) = map { s/"?\*SELECT\* \d+"?|\b(?:t|t_1|result|x)\.//gr } @explained{qw(off on)};
    isnt($on, $off, "EXPLAIN shows the decryption: $sql");
    is(without_decryption($on), $off, "in its top node, or one above; the plan is the one of encrypted columns: $sql");
  }
}
foreach my $sql (
  'WITH gone AS (DELETE FROM t WHERE id < 0 RETURNING a, n, d) SELECT a, n FROM gone ORDER BY d',
  'WITH gone AS (DELETE FROM t WHERE id < 0 RETURNING a, n) SELECT a, n, count(*) FROM gone GROUP BY a, n')
{
  my $explained = lines_of($node, "EXPLAIN (VERBOSE, COSTS OFF) $sql");
  my ($above, $below) = split /^.*?(?:Sort|Aggregate)\b.*?\n/m, $explained, 2;
  # the node that is found first may itself decrypt what comes out of it
  $below =~ s/\A\s*Output: .*\n//;
  ok($explained =~ /\)::text/ && $below !~ /\)::(?:text|numeric)/, "decrypted above sorts: $sql") or diag($explained);
}

# Statements that are not the client's own.

my @encrypted = ('encrypted_text|encrypted_numeric') x 2;
foreach my $case (
  [ 'function',     sub { $wire->query("SELECT note('function')") } ],
  [ 'function',     sub { $wire->parse('', 'SELECT note($1)')->describe('')->execute('', 'function')->sync } ],
  [ 'DO',           sub { $wire->query(q{DO $$BEGIN PERFORM note('DO'); END$$}) } ],
  [ 'procedure',    sub { $wire->query('CALL notes()') } ],
  [ 'after commit', sub { $wire->query('CALL notes()') } ],
  [ 'immediate',    sub { $wire->query('INSERT INTO now VALUES (1)') } ],
  [ 'deferred',     sub { $wire->query('INSERT INTO later VALUES (1)') } ],
  [ 'deferred',     sub { $wire->query('BEGIN; INSERT INTO later VALUES (1); COMMIT') } ],
  [ 'deferred',     sub { $wire->parse('', 'INSERT INTO later VALUES ($1)')->execute('', 1)->sync } ],
  [ 'domain',       sub { $wire->parse('', 'SELECT $1::noting')->execute('', 1)->sync } ],
  [ 'domain',       sub { $wire->query(q{SELECT '1'::noting}) } ],
  [ 'prepared',     sub { $wire->query(q{PREPARE n AS SELECT note('prepared'); EXECUTE n; DEALLOCATE n}) } ],
  [ 'explained',    sub { $wire->query(q{EXPLAIN ANALYZE SELECT note('explained')}) } ],
  [ 'declared',     sub { $wire->query(q{BEGIN; DECLARE c CURSOR FOR SELECT note('declared'); FETCH c; COMMIT}) } ])
{
  my ($place, $run) = @$case;

  # a new session, in which nothing has been analyzed yet
  $wire = TdeWire->connect($node);
  $wire->query('DELETE FROM seen');
  $got = $run->();
  is($got->{error}, '', "no error: $place");
  is_deeply([ @{ $wire->query("SELECT a, n FROM seen WHERE place = '$place'")->{rows} }[ 0, 1 ] ], \@encrypted, "its statements: $place");
}

# What is stored stays encrypted.

$wire->query(
  q{CREATE VIEW s1 AS SELECT a FROM t; CREATE TABLE s2 AS SELECT a FROM t; SELECT a INTO s3 FROM t;
    CREATE MATERIALIZED VIEW s4 AS SELECT DISTINCT a FROM t; CREATE TABLE s5 AS VALUES ('x'::encrypted_text);
    REFRESH MATERIALIZED VIEW s4; CREATE TEMP VIEW s6 AS SELECT a FROM t UNION SELECT a FROM t;
    CREATE FUNCTION s7() RETURNS SETOF encrypted_text LANGUAGE sql BEGIN ATOMIC SELECT a FROM t ORDER BY id; END;
    EXPLAIN ANALYZE CREATE TABLE s8 AS SELECT a FROM t});
is_deeply(
  $wire->query(q{SELECT relname, format_type(atttypid, -1) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
                 WHERE attname IN ('a', 'column1') AND relname ~ '^s[1-8]$' ORDER BY 1})->{rows},
  [ map { "s$_|encrypted_text" } 1 .. 6, 8 ],
  'columns of views and tables that are made of a query');
$wire = TdeWire->connect($node);
$wire->query($_)
  foreach 'PREPARE p AS SELECT a FROM t ORDER BY a', 'CREATE TABLE e1 AS EXECUTE p', 'EXPLAIN ANALYZE CREATE TABLE e2 AS EXECUTE p',
  'CREATE TABLE e3 AS EXECUTE p WITH NO DATA', 'PREPARE d AS SELECT DISTINCT a FROM t UNION SELECT a FROM t', 'CREATE TABLE e4 AS EXECUTE d';
is_deeply(
  $wire->query(q{SELECT relname, format_type(atttypid, -1) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
                 WHERE attname = 'a' AND relname ~ '^e[1-4]$' ORDER BY 1})->{rows},
  [ map { "e$_|encrypted_text" } 1 .. 4 ],
  'and those of tables that are made of a prepared statement');
is_deeply($wire->query('SELECT count(DISTINCT a) FROM e1 JOIN e2 USING (a) JOIN e4 USING (a)')->{rows}, $wire->query('SELECT count(DISTINCT a) FROM t')->{rows}, 'with the rows');
is_deeply($wire->query('EXECUTE p')->{types}, [ $oid{text} ], 'the client itself gets the base type');
my $refused = q{PREPARE p AS WITH w AS (DELETE FROM t WHERE false) SELECT a FROM t; CREATE TABLE s9 AS EXECUTE p};
fails_with($node, $refused, { state => '0A000', message => qr/cannot create a table from prepared statement "p"/ },
  'a table of a prepared statement that decrypts itself');
fails_with($node, $refused =~ s/CREATE/EXPLAIN ANALYZE CREATE/r, { state => '0A000' }, 'also in EXPLAIN');
fails_with($node, q{PREPARE p AS SELECT ROW(a) FROM t; CREATE TABLE s9 AS EXECUTE p}, { state => '0A000' }, 'also with rows');
$wire = TdeWire->connect($node);
$wire->query($_) foreach 'PREPARE p AS SELECT a FROM t', 'ALTER TABLE t RENAME TO moved', 'EXECUTE p', 'ALTER TABLE moved RENAME TO t';
like($wire->query('CREATE TABLE s9 AS EXECUTE p')->{error}, qr/^0A000 /, 'also after it could not be analyzed');
is(attempt($node, "SET tde_column.transparent_results = off; $refused")->{err}, '', 'with the setting off it can be made');
is(lines_of($node, q{COPY (SELECT a, n FROM t WHERE id < 3 ORDER BY id) TO STDOUT}), "name 1\t1.25\nname 2\t2.50", 'COPY of a query');

# A cursor that is not the client's own.
$wire = TdeWire->connect($node);
$wire->query(q{BEGIN; SELECT open_cursor('c')});
$got = $wire->parse('', 'FETCH 2 FROM c')->describe('')->execute('')->sync;
is_deeply($got->{rows}, [ 'name 1', 'name 2' ], 'a cursor of a function');
cmp_ok($got->{types}[0], '>=', 16384, 'has an encrypted column');

# A prepared statement keeps its result when a function executes it, and when the setting has been changed.
$wire = TdeWire->connect($node);
$wire->query('PREPARE p AS SELECT a FROM t WHERE id = 1');
is_deeply($wire->query('SELECT execute_prepared()')->{rows}, ['name 1 text'], 'a function executes what the client has prepared');
lines_of($node, 'ALTER TABLE t ADD COLUMN extra3 int');
is_deeply($wire->query('SELECT execute_prepared()')->{rows}, ['name 1 text'], 'also after the table has changed');
lines_of($node, 'ALTER TABLE t ADD COLUMN extra4 int');
$wire->query('SET tde_column.transparent_results = off');
is_deeply($wire->query('EXECUTE p'), { types => [ $oid{text} ], rows => ['name 1'], parameters => [], error => '' }, 'also with the setting off');
$wire->query('PREPARE off AS SELECT a FROM t WHERE id = 1; SET tde_column.transparent_results = on');
lines_of($node, 'ALTER TABLE t ADD COLUMN extra5 int');
$got = $wire->query('EXECUTE off');
is_deeply([ $got->{error}, $got->{rows} ], [ '', ['name 1'] ], 'one that was prepared with it off');
cmp_ok($got->{types}[0], '>=', 16384, 'stays encrypted with it on');

# A portal was told the types of a prepared statement; another one that has taken its name since then has others.
$wire = TdeWire->connect($node);
$wire->query('BEGIN; PREPARE p AS SELECT a FROM t WHERE id = 1');
$wire->parse('e', 'EXECUTE p')->bind('portal', 'e', 0)->sync;
$wire->query('DEALLOCATE p; PREPARE p AS SELECT n FROM t WHERE id = 1');
like($wire->fetch('portal', 0)->sync->{error}, qr/^42804 query result type does not match portal result type/, 'rows of other types than a portal has');

# Nothing that PostgreSQL spills is plaintext: what would be kept for the client on disk stays in memory.
lines_of($node, q{CREATE TABLE big (id int, a encrypted_text(aes256,salt)); INSERT INTO big SELECT g, 'value ' || g FROM generate_series(1, 5000) g});
foreach my $sql (
  'UPDATE big SET id = id RETURNING a',
  'DELETE FROM big WHERE id < 0; PREPARE p AS SELECT a FROM big; EXECUTE p',
  'PREPARE p AS UPDATE big SET id = id RETURNING a; EXECUTE p',
  'BEGIN; DECLARE c CURSOR FOR SELECT a FROM big; FETCH ALL FROM c')
{
  my %files;
  foreach my $setting (qw(off on))
  {
    my $offset = log_offset($node);
    my $rows   = lines_of($node, "SET work_mem = '64kB'; SET tde_column.transparent_results = $setting; $sql");
    is(scalar(split /\n/, $rows), 5000, "with the setting $setting, all rows come: $sql");
    $files{$setting} = () = log_since($node, $offset) =~ /temporary file: /g;
  }
  ok($files{off} > 0 && $files{on} == 0, 'and decrypted ones are not in a temporary file') or diag(explain \%files);
}

# A parameter that the server reads as a plain value is kept out of the log as before, where parameters would be logged.
my $offset = log_offset($node);
$wire = TdeWire->connect($node);
$wire->query('SET log_parameter_max_length_on_error = -1');
$got = $wire->parse('', 'INSERT INTO t (id, a) VALUES (1 / $1, $2)')->execute('', 0, 'parameter value')->sync;
like($got->{error}, qr/^22012 /, 'an error before a parameter is encrypted');
like(log_since($node, $offset), qr/division by zero/, 'is logged');
unlike(log_since($node, $offset), qr/parameter value/, 'but not the parameter');

# A dump as INSERT commands is made with results of a client.
my $dump = PostgreSQL::Test::Utils::tempdir . '/inserts.sql';
my ($out, $err) = run_command([ 'pg_dump', '--inserts', '-t', 'bare', '-d', $node->connstr('postgres'), '-f', $dump ]);
is($err, '', 'pg_dump --inserts');
like(slurp_file($dump), qr/^INSERT INTO public\.bare VALUES \(100, 'new', 1\.01, '2024-01-01', 'v'\);/m, 'has values of the base types');
lines_of($node, "ALTER TABLE bare RENAME TO bare_before;" . slurp_file($dump) =~ s/^\\.*//mgr);
is(lines_of($node, 'SELECT * FROM bare'), '100|new|1.01|2024-01-01|v', 'and can be restored');

# A column that is declared with MAC shows no value without.
lines_of(
  $node, q{CREATE TABLE m (a encrypted_text(aes256,salt,nomac), b encrypted_text(aes256,salt,mac)); INSERT INTO m VALUES ('x', 'y');
  UPDATE pg_attribute SET atttypmod = (SELECT atttypmod FROM pg_attribute WHERE attrelid = 'm'::regclass AND attname = 'b')
  WHERE attrelid = 'm'::regclass AND attname = 'a'});
foreach my $sql ('SELECT a FROM m', 'SELECT DISTINCT a FROM m', 'SELECT a FROM m ORDER BY b', 'UPDATE m SET b = b RETURNING a')
{
  fails_with($node, $sql, { state => 'TDE04', message => qr/^value without MAC in a column that is declared with MAC/ }, "refused: $sql");
}

# A closed wallet.
set_conf($node, 'tde_column.passphrase_command' => '');
lines_of($node, 'SELECT tde_wallet_close()');
foreach my $setting (qw(off on))
{
  fails_with($node, "SET tde_column.transparent_results = $setting; SELECT a FROM t",
    { state => 'TDE01', message => qr/^wallet is not open/ }, "closed wallet, setting $setting");
}
is(lines_of($node, 'SELECT count(*) FROM t WHERE a IS NOT NULL'), '22', 'what needs no value works');
set_conf($node, 'tde_column.passphrase_command' => 'echo limits-passphrase');

# With pg_stat_statements, on either side: one entry for a statement, whatever the setting.
SKIP:
{
  skip 'pg_stat_statements is not installed', 4
    unless lines_of($node, q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'});
  foreach my $order ('pg_stat_statements, tde_column', 'tde_column, pg_stat_statements')
  {
    $node->append_conf('postgresql.conf', "shared_preload_libraries = '$order'\n");
    $node->restart;
    lines_of($node, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()');
    foreach my $setting (qw(off on))
    {
      lines_of(
        $node, qq{SET tde_column.transparent_results = $setting; SELECT a, 1 AS probe FROM t WHERE n = 1 ORDER BY a; SELECT DISTINCT a, 2 AS probe FROM t;
        SELECT a, 3 AS probe FROM t UNION SELECT 'x', 4; UPDATE t SET n = 5 WHERE id = 3 RETURNING a AS probe});
      $wire = TdeWire->connect($node);
      $wire->query("SET tde_column.transparent_results = $setting");
      $wire->parse('', 'SELECT a, 6 AS probe FROM t WHERE n = $1')->execute('', 1)->sync;
    }
    is(lines_of($node, q{SELECT count(*), sum(calls), count(DISTINCT queryid) FROM pg_stat_statements WHERE query ~ 'AS probe'}),
      '5|10|5', "statements counted with $order");
    is(lines_of($node, q{SELECT bool_and(query ~ '\$1') FROM pg_stat_statements WHERE query ~ 'AS probe'}), 't', 'and normalized');
  }
}

$node->stop;

# Without the library in shared_preload_libraries.
$node = tde_node('late', preload => 0, wallet => 0);
$node->start;
is(lines_of($node, q{LOAD 'tde_column'; SHOW tde_column.transparent_results}), 'off', 'not preloaded: the setting is off');
fails_with($node, q{LOAD 'tde_column'; SET tde_column.transparent_results = on},
  { state => '22023', detail => qr/not in shared_preload_libraries/ }, 'and cannot be switched on');
$node->stop;
done_testing();
