# Transparent results: the rows of a SELECT are decrypted on their way to the client, whatever plan makes them and in whichever
# portions they are fetched.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $node = tde_node('rows', extension => 1, conf => "tde_column.passphrase_command = 'echo rows-passphrase'\nmax_parallel_workers_per_gather = 2\n");
$node->start;
lines_of($node, "SELECT tde_wallet_create('rows-passphrase')");

# Each type, by value and by reference, in text and in binary form.

my %value = (
  text        => q{'text ' || i},
  varchar     => q{repeat('x', i) || i},
  bpchar      => q{'char ' || i},
  int2        => q{i},
  int4        => q{i * -1000},
  int8        => q{i::int8 << 33},
  numeric     => q{i / 7.0},
  float4      => q{i / 3.0},
  float8      => q{-i / 3.0},
  bool        => q{i % 2 = 0},
  date        => q{date '2000-01-01' + i},
  time        => q{time '00:00' + i * interval '1.5 min'},
  timetz      => q{timetz '00:00+01' + i * interval '1.5 min'},
  timestamp   => q{timestamp '2000-01-01' + i * interval '1 day'},
  timestamptz => q{timestamptz '2000-01-01+00' + i * interval '1 day'},
  interval    => q{i * interval '1 day 1 min'},
  bytea       => q{decode(md5(i::text), 'hex')},
  uuid        => q{md5(i::text)::uuid},
  json        => q{json_build_object('k', i)},
  jsonb       => q{jsonb_build_object('k', i, 'l', ARRAY[i, 2])},
  inet        => q{'10.0.0.0'::inet + i});
my @types = sort keys %value;

lines_of($node, 'CREATE TABLE types (i int, ' . join(', ', map { "p_$_ $_, e_$_ encrypted_$_(aes256,salt)" } @types) . ')');
lines_of($node, 'INSERT INTO types (i, ' . join(', ', map { "p_$_, e_$_" } @types) . ') SELECT i, '
    . join(', ', map { ("($value{$_})::$_", $value{$_}) } @types) . ' FROM generate_series(1, 5) i; INSERT INTO types VALUES (6)');
lines_of($node, q{
CREATE DOMAIN amount AS encrypted_numeric(9,3,aes128,salt);
CREATE TABLE modified (p1 numeric(15,2), e1 encrypted_numeric(15,2), p2 varchar(7), e2 encrypted_varchar(7,nosalt),
                       p3 char(4), e3 encrypted_bpchar(4), p4 numeric(9,3), e4 amount)});
my $wire = TdeWire->connect($node);
foreach my $form (0, 1)
{
  my ($plain, $encrypted) = map {
    my $prefix = $_;
    $wire->parse('', 'SELECT ' . join(', ', map { "${prefix}_$_" } @types) . ' FROM types ORDER BY i')->describe('')->bind('', '', $form)->fetch('', 0)->sync
  } qw(p e);
  is($encrypted->{error}, '', 'all types, ' . ($form ? 'binary' : 'text'));
  is_deeply([ @$encrypted{qw(types rows)} ], [ @$plain{qw(types rows)} ], 'are as the plain ones');
  is(scalar @{ $encrypted->{rows} }, 6, 'with a row of NULLs');
}
my @described = map {
  my $prefix = $_;
  my $got = $wire->query('SELECT ' . join(', ', map { "${prefix}_$_ AS $_" } @types) . ', ' . join(', ', map { "m.$prefix$_ AS m$_" } 1 .. 4)
      . ' FROM types LEFT JOIN modified m ON true ORDER BY i');
  [ $got->{error}, $wire->{columns}, $got->{rows} ]
} qw(p e);
is_deeply($described[1], $described[0], 'all types, in a simple query; modifiers, too');
is(scalar @{ $described[0][2] }, 6, 'all rows');

# Plans, by the node at the top, and ways to fetch.

lines_of(
  $node, q{
CREATE TABLE t (id int PRIMARY KEY, a encrypted_text(aes256,salt), n encrypted_int4(aes128,nosalt), k int);
INSERT INTO t SELECT i, CASE WHEN i % 10 > 0 THEN 'value ' || i % 7 END, 1000 - i, i % 3 FROM generate_series(1, 40) i;
CREATE INDEX t_n ON t (n);
CREATE INDEX t_k ON t (k, a);
CREATE TABLE part (id int, a encrypted_text, n encrypted_int4) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (20);
CREATE TABLE part2 (n encrypted_int4, junk int, a encrypted_text, id int);
ALTER TABLE part2 DROP COLUMN junk;
ALTER TABLE part ATTACH PARTITION part2 FOR VALUES FROM (20) TO (100);
INSERT INTO part SELECT id, a, n FROM t;
CREATE INDEX ON part (a, id);
CREATE FUNCTION rows_of_t() RETURNS SETOF t LANGUAGE sql VOLATILE AS $$ SELECT * FROM t ORDER BY id $$;
VACUUM ANALYZE t, part;
});

my $off           = 'enable_seqscan = off';
my $workers       = 'parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
# from PostgreSQL 18 on without another node above
my $set_operation = '(?:Subquery Scan|HashSetOp)';
my @plans         = (
  [ 'Seq Scan',          '',                         'SELECT a, n FROM t' ],
  [ 'Seq Scan',          '',                         'SELECT * FROM t' ],
  [ 'Index Scan',        $off,                       'SELECT n, a FROM t WHERE id > 5' ],
  [ 'Index Only Scan',   $off,                       'SELECT a FROM t WHERE k = 1' ],
  [ 'Sort',              '',                         'SELECT a, n, id FROM t ORDER BY a, id' ],
  [ 'Incremental Sort',  "$off; SET enable_sort = off", 'SELECT id, a, n FROM t ORDER BY id, a' ],
  [ 'Limit',             '',                         'SELECT n, a FROM t ORDER BY n LIMIT 9' ],
  [ 'LockRows',          '',                         'SELECT a, n FROM t FOR UPDATE' ],
  [ 'Unique',            'enable_hashagg = off',     'SELECT DISTINCT a FROM t' ],
  [ '\w*Aggregate',      'enable_sort = off',        'SELECT a, max(n) FROM t GROUP BY a' ],
  [ 'Group',             'enable_hashagg = off',     'SELECT a FROM t GROUP BY a' ],
  [ 'WindowAgg',         '',                         'SELECT a, n, lag(a) OVER (ORDER BY id) FROM t' ],
  [ 'Append',            '',                         'SELECT a, n FROM part' ],
  [ 'Append',            '',                         q{SELECT a FROM t UNION ALL SELECT 'constant'} ],
  [ 'Merge Append',      "$off; SET enable_sort = off", 'SELECT a, n FROM part ORDER BY a, id' ],
  [ $set_operation,      '',                         'SELECT a FROM t EXCEPT SELECT a FROM part WHERE id < 35' ],
  [ $set_operation,      '',                         'SELECT a FROM t INTERSECT ALL SELECT a FROM part' ],
  [ 'Hash Join',         'enable_mergejoin = off; SET enable_nestloop = off', 'SELECT t.a, part.n FROM t JOIN part ON t.n = part.n' ],
  [ 'Merge Join',        'enable_hashjoin = off; SET enable_nestloop = off', 'SELECT t.a, part.n FROM t JOIN part ON t.n = part.n' ],
  [ 'Nested Loop',       'enable_hashjoin = off; SET enable_mergejoin = off', 'SELECT t.a, part.n FROM t JOIN part ON t.n = part.n' ],
  [ 'CTE Scan',          '',                         'WITH w AS MATERIALIZED (SELECT * FROM t) SELECT a, n FROM w' ],
  [ 'Function Scan',     '',                         'SELECT a, n FROM rows_of_t()' ],
  [ 'ProjectSet',        '',                         'SELECT a, generate_series(1, 2) FROM t' ],
  [ 'Values Scan',       '',                         q{SELECT * FROM (VALUES ('x'::encrypted_text, 1), ('y', 2), (NULL, 3)) v} ],
  [ 'Result',            '',                         q{SELECT 'x'::encrypted_text, '5'::encrypted_int4(aes128,nosalt)} ],
  [ 'Result',            '',                         'SELECT (SELECT max(a) FROM t), (SELECT n FROM t WHERE id = 1)' ],
  [ 'Subquery Scan',     '',                         'SELECT a FROM (SELECT a, n FROM t ORDER BY n OFFSET 3) s WHERE n > 970' ],
  [ 'Gather',            $workers,                   'SELECT a, n FROM t WHERE n > 0' ],
  [ 'Gather Merge',      $workers,                   'SELECT a, n FROM t ORDER BY n' ]);

sub set { return join '', map { "SET $_; " } grep { $_ } @_ }

# The rows without the work of this test: decrypted by the output functions.
sub expected
{
  my ($settings, $sql) = @_;
  return [ @{ $wire->query("SET tde_column.transparent_results = off; $settings$sql")->{rows} } ];
}

sub base_types
{
  my ($got) = @_;
  return scalar grep { $_ >= 16384 } @{ $got->{types} };
}

# The plan's top node, or the one below, if one more was needed to show the decryption.
sub executed_node
{
  my ($got) = @_;
  my ($top, $next) = @{ $got->{rows} };

  return $top eq 'Result' && ($next // '') =~ /^ *->  (.*)/ ? $1 : $top;
}

foreach my $plan (@plans)
{
  my ($top, $settings, $sql) = @$plan;
  my $ordered = $sql =~ /ORDER BY/ || $top !~ /Gather|Agg|Unique|Group/ && $sql !~ /EXCEPT|INTERSECT/;
  my $rows    = sub { return $ordered ? $_[0] : [ sort @{ $_[0] } ] };
  $settings = set($settings);
  $wire     = TdeWire->connect($node);
  my $expected = $rows->(expected($settings, $sql));
  my $got      = $wire->query("RESET tde_column.transparent_results; EXPLAIN (COSTS OFF) $sql");
  like(executed_node($got), qr/^$top(?: |$)/, "$top: $sql") or diag(join "\n", @{ $got->{rows} });

  $got = $wire->query($sql);
  is_deeply([ $got->{error}, base_types($got), $rows->($got->{rows}) ], [ '', 0, $expected ], 'its rows');

  # a generic plan at last, and its portal in portions
  $wire->parse('s', $sql)->sync;
  $got = $wire->execute('s')->sync foreach 1 .. 7;
  is_deeply([ $got->{error}, $rows->($got->{rows}) ], [ '', $expected ], 'of a prepared statement');
  $wire->query('BEGIN');
  my ($portion, @portions) = $wire->bind('p', 's', 0)->fetch('p', 3)->sync;
  push @portions, @{ $portion->{rows} };
  while ($portion->{suspended})
  {
    $portion = $wire->fetch('p', 3)->sync;
    push @portions, @{ $portion->{rows} };
  }
  is_deeply([ $portion->{error}, $rows->(\@portions) ], [ '', $expected ], 'in portions');

  $wire->query("DECLARE c CURSOR FOR $sql");
  my @fetched = map { @{ $wire->query($_)->{rows} } } 'FETCH 2 FROM c', 'FETCH FROM c', 'FETCH ALL FROM c';
  is_deeply($rows->(\@fetched), $expected, 'from a cursor');
  $wire->query('ROLLBACK');
}

# Scrolling back, over rows that have been shown.
$wire = TdeWire->connect($node);
foreach my $sql ('SELECT id, a, n FROM t ORDER BY id', 'SELECT id, a, n FROM part WHERE id < 12 ORDER BY id')
{
  my $all = $wire->query($sql)->{rows};

  $wire->query("BEGIN; DECLARE c CURSOR FOR $sql");
  my @steps = map { $wire->query($_)->{rows} } 'FETCH 4 FROM c', 'FETCH BACKWARD 2 FROM c', 'MOVE 3 FROM c', 'FETCH FROM c', 'FETCH ABSOLUTE 2 FROM c', 'FETCH LAST FROM c';
  is_deeply(\@steps, [ [ @$all[ 0 .. 3 ] ], [ @$all[ 2, 1 ] ], [], [ $all->[5] ], [ $all->[1] ], [ $all->[-1] ] ], "back and forth: $sql");
  $wire->query('COMMIT');
}

# A scrollable cursor puts down what it has shown: as ciphertext.  What the statement itself decrypts is seen there.
lines_of($node, q{CREATE TABLE big (id int, a encrypted_text(aes256,salt));
  INSERT INTO big SELECT i, repeat('plain', 5) || i FROM generate_series(1, 3000) i; ANALYZE big});
foreach my $case ([ 'b.a', 0 ], [ 'b.a::text', 1 ])
{
  my ($column, $clear) = @$case;
  my $declare = "DECLARE c SCROLL CURSOR FOR SELECT $column FROM big b JOIN big USING (id)";

  $wire = TdeWire->connect($node);
  $wire->query(q{SET work_mem = '64kB'; SET enable_mergejoin = off; BEGIN});
  like(executed_node($wire->query("EXPLAIN (COSTS OFF) $declare")), qr/^Materialize/, "a scrollable cursor of $column");
  $wire->query($declare);
  my $got = $wire->query('FETCH ALL FROM c');
  is_deeply([ @{ $got->{types} }, scalar @{ $got->{rows} }, $got->{rows}[0] =~ /^plain/ ], [ 25, 3000, 1 ], 'shows text');
  is_deeply($wire->query('FETCH PRIOR FROM c')->{rows}, [ $got->{rows}[-1] ], 'also when it goes back');
  my $written = join '', map { read_bytes($_) } glob $node->data_dir . '/base/pgsql_tmp/pgsql_tmp*';
  cmp_ok(length $written, '>', 100_000, 'it writes');
  is($written =~ /plainplain/ ? 1 : 0, $clear, $clear ? 'what was decrypted before' : 'nothing in clear');
  $wire->query('ROLLBACK');
}

# EXPLAIN shows and measures the decryption.  What looks at no value decrypts none.
sub decryptions { return $wire->query('SELECT decryptions FROM tde.stats')->{rows}[0] }
my $before = decryptions();
my $got    = $wire->query('EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT a, n FROM t ORDER BY id + 1');
is($got->{error}, '', 'EXPLAIN ANALYZE');
like(
  join("\n", @{ $got->{rows} }),
  qr/^Result \(actual rows=40(?:\.00)? loops=1\)\n  Output: \(a\)::text, \(n\)::integer, .*\n  ->  Sort .*\n {8}Output: a, n, \(+id \+ 1\)+\n/,
  'shows where columns are decrypted');
is(decryptions() - $before, 76, 'and decrypts them');
$before = decryptions();
is($wire->query('BEGIN; DECLARE c CURSOR FOR SELECT a FROM t; MOVE ALL FROM c; COMMIT')->{error}, '', 'MOVE');
is(decryptions(), $before, 'decrypts nothing');
SKIP:
{
  skip 'no EXPLAIN (SERIALIZE) before PostgreSQL 17', 2 if $node->pg_version < 17;
  is($wire->query('EXPLAIN (ANALYZE, SERIALIZE) SELECT a FROM t WHERE a IS NOT NULL')->{error}, '', 'EXPLAIN (ANALYZE, SERIALIZE)');
  is(decryptions() - $before, 36, 'decrypts what would be sent');
}

# A value in the middle that is refused: the rows before it are there, and the session goes on.
$wire->query(
  q{CREATE CAST (encrypted_text AS bytea) WITHOUT FUNCTION; CREATE CAST (bytea AS encrypted_text) WITHOUT FUNCTION;
    CREATE TABLE damaged (id int, a encrypted_text(aes256,salt), n encrypted_int4); INSERT INTO damaged SELECT i, 'value ' || i, i FROM generate_series(1, 5) i;
    UPDATE damaged SET a = set_byte(a::bytea, 20, get_byte(a::bytea, 20) # 1)::encrypted_text WHERE id = 3;
    DROP CAST (encrypted_text AS bytea); DROP CAST (bytea AS encrypted_text)});
$got = $wire->query('SELECT id, a, n FROM damaged ORDER BY id');
like($got->{error}, qr/^TDE0\d /, 'a damaged value');
is_deeply($got->{rows}, [ '1|value 1|1', '2|value 2|2' ], 'ends the result');
$wire->query('BEGIN; SAVEPOINT s; DECLARE c CURSOR FOR SELECT id, a, n FROM damaged ORDER BY id');
is_deeply($wire->query('FETCH 2 FROM c')->{rows}, [ '1|value 1|1', '2|value 2|2' ], 'a cursor comes as far');
like($wire->query('FETCH 2 FROM c')->{error}, qr/^TDE0\d /, 'and no farther');
$wire->query('ROLLBACK TO s');
is_deeply($wire->query('SELECT n FROM damaged WHERE id = 3; COMMIT')->{rows}, [3], 'the session goes on');

# Who may not see values.
lines_of($node, q{CREATE ROLE clerk; CREATE ROLE may_see; GRANT SELECT ON t, types TO clerk});
my %policy = (null => [ '1||', '10||', '2||' ], mask => [ '1|****|0', '10||0', '2|****|0' ]);
foreach my $policy (sort keys %policy)
{
  $wire = TdeWire->connect($node);
  $wire->query("SET tde_column.decrypt_role = may_see; SET tde_column.decrypt_policy = '$policy'; SET ROLE clerk");
  foreach my $sql ('SELECT id, a, n FROM t WHERE id IN (1, 2, 10) ORDER BY id::text', 'SELECT DISTINCT id::text, a, n FROM t WHERE id IN (1, 2, 10) ORDER BY 1')
  {
    is_deeply($wire->query($sql)->{rows}, $policy{$policy}, "the policy $policy: $sql");
    $wire->parse('', $sql)->sync;
    is_deeply($wire->execute('')->sync->{rows}, $policy{$policy}, 'in the extended protocol');
  }
}
$wire->query(q{RESET ROLE; SET tde_column.decrypt_policy = 'error'; SET ROLE clerk});
like($wire->query('SELECT a FROM t WHERE id = 1')->{error}, qr/^42501 permission denied to decrypt/, 'the policy error');
is_deeply($wire->query('SELECT id FROM t WHERE id = 1')->{rows}, [1], 'leaves other columns');

# Neither many rows nor many fetches take memory.
lines_of($node, q{CREATE TABLE long (a encrypted_text(aes256,salt), v encrypted_varchar(3,aes256,nosalt)); INSERT INTO long SELECT repeat('x', 300), 'abc' FROM generate_series(1, 3000)});
foreach my $restriction ('', q{SET tde_column.decrypt_role = may_see; SET tde_column.decrypt_policy = mask; SET ROLE may_not_see; })
{
  lines_of($node, q{CREATE ROLE may_not_see; GRANT pg_read_all_stats, pg_read_all_data TO may_not_see;
    GRANT SELECT ON pg_backend_memory_contexts TO may_not_see; GRANT EXECUTE ON FUNCTION pg_get_backend_memory_contexts TO may_not_see}) if $restriction;
  $wire = TdeWire->connect($node);
  $wire->query("${restriction}BEGIN; DECLARE c CURSOR FOR SELECT a, v FROM long");
  my $used = sub { return $wire->query(q{SELECT sum(used_bytes) FROM pg_backend_memory_contexts WHERE name IN ('ExecutorState', 'ExprContext', 'PortalContext')})->{rows}[0] };
  $wire->query('FETCH 1 FROM c');
  my $first = $used->();
  $wire->query('FETCH 1 FROM c') foreach 1 .. 500;
  my $portions = $used->();
  cmp_ok($portions, '<', $first + 1000, 'memory of 500 portions');
  $got = $wire->parse('', 'FETCH 2400 FROM c')->execute('')->sync;
  is(scalar @{ $got->{rows} }, 2400, 'a portion of many rows');
  cmp_ok($used->(), '<', $portions + 10000, 'and its memory');
}

# The function that a statement has on the way there is no different when somebody calls it.
$wire = TdeWire->connect($node);
$wire->query(
  q{CREATE FUNCTION shown(int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE x text; y int; BEGIN
      SELECT tde_internal.tde_result(a, -1), tde_internal.tde_result(n, -1) INTO x, y FROM t WHERE id = $1; RETURN x || ' ' || y || ' ' || pg_typeof(tde_internal.tde_result('lit'::encrypted_text, -1)); END $$;
    CREATE FUNCTION assigned() RETURNS text LANGUAGE plpgsql AS $$ DECLARE x text; e encrypted_text := 'assigned'; BEGIN x := tde_internal.tde_result(e, -1); RETURN x; END $$;
    CREATE FUNCTION body(int) RETURNS text BEGIN ATOMIC SELECT tde_internal.tde_result(a, -1) FROM t WHERE id = $1; END;
    CREATE VIEW shown_view AS SELECT id, tde_internal.tde_result(a, -1) AS r, a FROM t});
foreach my $setting (qw(off on))
{
  $wire->query("SET tde_column.transparent_results = $setting");
  is_deeply($wire->query('SELECT shown(1), assigned(), body(2), tde_internal.tde_result(a, -1), a FROM t WHERE id = 3')->{rows},
    ['value 1 999 text|assigned|value 2|value 3|value 3'], "tde_result() in SQL, setting $setting");
  is_deeply($wire->query('SELECT * FROM shown_view WHERE id = 4')->{rows}, ['4|value 4|value 4'], 'in a view');
}

# Whole rows tell the types of their fields in the binary form.  With transparent catalogs they are those that the catalogs tell.
$wire = TdeWire->connect($node);
lines_of($node, q{CREATE TYPE plain_pair AS (a text, b int); CREATE TYPE encrypted_pair AS (a encrypted_text(nosalt), b encrypted_int4);
CREATE TABLE plain_rows (i int, a text, n numeric(10,2), l varchar(5)[], p plain_pair);
CREATE TABLE encrypted_rows (i int, a encrypted_text, n encrypted_numeric(10,2), l encrypted_varchar(5)[], p encrypted_pair);
INSERT INTO plain_rows SELECT i, 'a' || i, i / 3.0, ARRAY['l' || i, NULL], ROW('p' || i, i)::plain_pair FROM generate_series(1, 20) i; INSERT INTO plain_rows (i) VALUES (21);
INSERT INTO encrypted_rows SELECT i, a, n, l, CASE WHEN p IS NOT NULL THEN ROW((p).a, (p).b)::encrypted_pair END FROM plain_rows;
CREATE FUNCTION plain_function(int) RETURNS SETOF plain_rows LANGUAGE sql AS 'SELECT * FROM plain_rows WHERE i <= $1';
CREATE FUNCTION encrypted_function(int) RETURNS SETOF encrypted_rows LANGUAGE sql AS 'SELECT * FROM encrypted_rows WHERE i <= $1';
CREATE VIEW plain_view AS SELECT i, t AS whole FROM plain_rows t; CREATE VIEW encrypted_view AS SELECT i, t AS whole FROM encrypted_rows t});
my @rows_of = (
  'SELECT t FROM $_rows t ORDER BY i', 'SELECT i, t, a FROM $_rows t ORDER BY t.a DESC', 'SELECT t FROM $_rows t ORDER BY t', 'SELECT array_agg(t ORDER BY i) FROM $_rows t',
  'SELECT p FROM $_rows ORDER BY i', 'SELECT array_agg(p ORDER BY i), count(*) FROM $_rows', 'SELECT array_agg(ROW(a, n, p) ORDER BY i) FROM $_rows', 'SELECT ROW(i, t) FROM $_rows t ORDER BY i',
  'SELECT ARRAY(SELECT t FROM $_rows t ORDER BY i)', '(SELECT t FROM $_rows t WHERE i = 3)', 'SELECT r FROM (SELECT ROW(a, n) AS r FROM $_rows ORDER BY i OFFSET 0) s',
  'SELECT $_function(3)', 'SELECT ROW(1, $_function(3), 2)', 'SELECT ARRAY[ROW(a, t), ROW(n, t)] FROM $_rows t ORDER BY i', 'SELECT $_function(3) ORDER BY 1', 'SELECT f FROM $_function(4) f', 'SELECT whole FROM $_view ORDER BY i', 'SELECT max(i), (SELECT t FROM $_rows t WHERE i = 2) FROM $_rows',
  'WITH c AS MATERIALIZED (SELECT t FROM $_rows t) SELECT t FROM c ORDER BY (t).i', 'SELECT t, u FROM $_rows t LEFT JOIN $_rows u ON u.i = t.i + 15 ORDER BY t.i', 'SELECT t FROM $_rows t WHERE i = 2 FOR UPDATE',
  q{UPDATE $_rows SET a = 'b' || i WHERE i = 5 RETURNING $_rows, i}, q{INSERT INTO $_rows (i, a) VALUES (30, 'x') RETURNING $_rows}, 'DELETE FROM $_rows t WHERE i = 30 RETURNING t, t.p',
  'EXECUTE $_prepared', q{SELECT CASE WHEN i > 3 THEN t END FROM $_rows t ORDER BY i});
$wire->query("PREPARE ${_}_prepared AS SELECT t FROM ${_}_rows t ORDER BY i") foreach qw(plain encrypted);
# Composite types are two for plain and encrypted.
my %twin = map { pack('N', $_->[0]) => pack('N', $_->[1]) } map { [ split /\|/ ] } split /\n/, lines_of($node,
  q{SELECT e.oid, p.oid FROM pg_type e JOIN pg_type p ON p.typname = replace(e.typname, 'encrypted_', 'plain_') WHERE e.typname ~ '^_?encrypted_(pair|rows)$'});
my $twins = join '|', map { quotemeta } keys %twin;
foreach my $setting (qw(on off))
{
  $wire->query("SET tde_column.transparent_catalog = $setting; DEALLOCATE ALL");
  $wire->query("PREPARE ${_}_prepared AS SELECT t FROM ${_}_rows t ORDER BY i") foreach qw(plain encrypted);
  foreach my $sql (@rows_of)
  {
    foreach my $form (0, 1)
    {
      my ($plain, $encrypted) = map { (my $of = $sql) =~ s/\$/$_/g; $wire->parse('', $of)->bind('', '', $form)->fetch('', 0)->sync } qw(plain encrypted);
      my $name = "$sql, catalogs $setting, " . ($form ? 'binary' : 'text');
      is($encrypted->{error}, '', $name);
      next if $setting eq 'off' && $form;
      is_deeply([ map { s/($twins)/$twin{$1}/gr } @{ $encrypted->{rows} } ], $plain->{rows}, "$name: as plain rows");
    }
  }
}
$wire->query('SET tde_column.transparent_catalog = on; PREPARE kept AS SELECT i, t FROM encrypted_rows t');
like($wire->query('CREATE TABLE stored AS EXECUTE kept')->{error}, qr/cannot create a table from prepared statement "kept"/, 'what is for a client is stored nowhere');
is($wire->query('CREATE TABLE stored AS SELECT i, t FROM encrypted_rows t')->{error}, '', 'another statement stores the rows');
is_deeply($wire->query('SELECT pg_typeof((t).a), (t).a FROM stored WHERE i = 2')->{rows}, ['encrypted_text|a2'], 'encrypted');
like($wire->query('SELECT tde_internal.tde_plain_rows(t) FROM encrypted_rows t')->{error}, qr/is for results of clients' statements only/, 'nor does anybody call its function');
is($wire->query('SELECT row_to_json(t) FROM encrypted_rows t WHERE i = 2')->{rows}[0], $wire->query('SELECT row_to_json(t) FROM plain_rows t WHERE i = 2')->{rows}[0], 'arguments of functions are what they were');

# With a module that measures statements, on either side.
foreach my $order ('auto_explain, tde_column', 'tde_column, auto_explain')
{
  $node->append_conf('postgresql.conf',
    "shared_preload_libraries = '$order'\nauto_explain.log_min_duration = 0\nauto_explain.log_analyze = on\nauto_explain.log_verbose = on\nauto_explain.log_nested_statements = on\n");
  $node->restart;
  my $offset = log_offset($node);
  $wire = TdeWire->connect($node);
  $got  = $wire->query('SELECT a, n FROM t WHERE id = 11 ORDER BY a');
  is_deeply([ @$got{qw(error types rows)} ], [ '', [ 25, 23 ], ['value 4|989'] ], "with $order");
  my $log = log_since($node, $offset);
  like($log, qr/Output: a, n\n.*actual time.*rows=1/s, 'the plan is in the log');
  unlike($log, qr/value 4/, 'and no value');
}

$node->stop;
done_testing();
