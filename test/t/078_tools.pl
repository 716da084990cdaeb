# Tables of the extension under the tools that rewrite, copy, rebuild or empty tables, while others make keys and a logical slot is
# behind: afterwards every value is readable, all keys are there, and the slot decodes all.  And what such tools do beside re-encryption,
# whoever may read what a slot sends, and tables that have columns of a later version.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('tools', extension => 1, init => [ allows_streaming => 'logical' ],
  conf => "wal_level = logical\nmax_replication_slots = 10\nmax_wal_senders = 10\n");
$node->start;
my $bindir = (run_command([ 'pg_config', '--bindir' ]))[0];
my @at     = ('-h', $node->host, '-p', $node->port);

# ---- what each tool must leave ----

# No primary key, so that the tools that want one have nothing but our tables to work at.
lines_of(
  $node, q{
SELECT tde_wallet_create('tools-passphrase'), tde_create_key('one');
CREATE TABLE secret (n serial, v encrypted_text('key=one'), w encrypted_text);
CREATE TABLE plain (n serial, v text);
CREATE TABLE typed (a encrypted_varchar(4999));
INSERT INTO typed VALUES ('typed');
CREATE SEQUENCE made});

# All tables that belong to the extension, from the catalogs: none is forgotten when there is another one.
my @ours = split /\n/, lines_of($node, q{
SELECT format('%I.%I', n.nspname, c.relname) FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'tde_column'
JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'm', 'p') JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' ORDER BY 1});
is("@ours", 'tde.data_keys tde.key_counts tde.specifications', 'the tables of the extension');

# Make a version of a key, one of the default key in a transaction that is rolled back, and a specification; write values under them.
my $make = q{
SELECT nextval('made') AS i \gset
SELECT tde_rotate_key('one');
BEGIN; SELECT tde_rotate_key(); ROLLBACK;
BEGIN;
INSERT INTO secret (v, w) VALUES ('value ' || :i, 'other ' || :i);
INSERT INTO plain (v) VALUES ('value ' || :i);
COMMIT;
SELECT format('CREATE TABLE typed_%s (a encrypted_varchar(%s)); INSERT INTO typed_%1$s VALUES (%1$L)', :i, 5000 + :i) \gexec
};
sub make_keys { return attempt($node, $make); }

my $counts = 'SELECT sum(total_encryptions) FROM tde.keys';
my %slot;

# Have the slot begin here, and put a change behind it that was made before the tool comes.
sub fall_behind
{
  lines_of($node, q{SELECT pg_create_logical_replication_slot('behind', 'test_decoding')});
  make_keys();
  $slot{counted} = lines_of($node, $counts);
  $slot{from}    = lines_of($node, 'SELECT count(*) FROM plain') - 1;
  return;
}

my $complaints = q{SELECT count(*), string_agg(finding, '; ') FROM tde_audit() WHERE severity = 'error'};

sub all_is_well
{
  my ($name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  lines_of($node, 'CHECKPOINT');
  my $rest = make_keys();
  is($rest->{state}, '', "$name: keys can be made afterwards") or diag($rest->{err});
  my $got = attempt($node, q{SELECT count(*), count(*) FILTER (WHERE s.v = p.v AND s.w = replace(p.v, 'value', 'other')) FROM plain p LEFT JOIN secret s USING (v)});
  my $all = lines_of($node, 'SELECT count(*) FROM plain');
  is($got->{out}, "$all|$all", "$name: every value is readable") or diag($got->{err});
  $got = attempt($node, q{DO $$ DECLARE t regclass; a text; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relname LIKE 'typed\_%' LOOP
    EXECUTE format('SELECT a FROM %s', t) INTO STRICT a; IF a <> substr(t::text, 7) THEN RAISE 'wrong'; END IF; END LOOP; END $$});
  is($got->{state}, '', "$name: every specification is there") or diag($got->{err});
  is(lines_of($node, q{SELECT count(*) = max(version) AND max(version) >= max((SELECT count(*) FROM plain)) FROM tde.keys WHERE name = 'one'}), 't',
    "$name: every version of the key is there");
  cmp_ok(lines_of($node, $counts), '>=', $slot{counted}, "$name: what keys have encrypted is not forgotten");
  is(lines_of($node, $complaints), '0|', "$name: tde_audit() has no complaint");

  $got = attempt($node, q{SELECT count(*), count(DISTINCT data) FROM pg_logical_slot_get_changes('behind', NULL, NULL)
    WHERE data LIKE 'table public.secret: INSERT: % v[encrypted_text]:''value %'' w[encrypted_text]:''other %'''});
  my $new = $all - $slot{from};
  is($got->{out}, "$new|$new", "$name: the slot decodes all") or diag($got->{err});
  lines_of($node, q{SELECT pg_drop_replication_slot('behind')});
  return;
}

# Start a program, whose sessions have this name; all that it says gets into the text.
sub start_as
{
  my ($name, $text, @command) = @_;
  local $ENV{PGAPPNAME} = $name;
  return IPC::Run::start([@command], '>', $text, '2>&1');
}

# Run a program while keys are made all the time.  With rewritten catalogs a deadlock of the two is nobody's fault.
sub beside_makers
{
  my ($name, @command) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  fall_behind();
  my $more   = 'SELECT last_value > %d + 2 FROM made';
  my $script = $node->basedir . '/make.sql';
  (my $loop = $make) =~ s/^SELECT format.*\n//m;
  write_bytes($script, $loop);
  my $before = lines_of($node, 'SELECT last_value FROM made');
  my $makers = start_as('makers', \my $err, 'pgbench', '-n', '-c', 2, '-R', 20, '-t', 1_000_000, @at, '-f', $script, 'postgres');
  $node->poll_query_until('postgres', sprintf $more, $before) or die 'nobody makes keys';
  my ($good, $out, $tries) = (0, '', 0);
  do { $good = IPC::Run::run([@command], '>', \$out, '2>&1') } while !$good && $out =~ /deadlock detected/ && $tries++ < 5;
  $before = lines_of($node, 'SELECT last_value FROM made');
  $node->poll_query_until('postgres', sprintf $more, $before) if $err !~ /ERROR/;
  $makers->signal('INT');
  eval { $makers->finish };
  $node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'makers'}) or die 'pgbench does not end';
  unlike($err =~ s/^.*deadlock detected.*$//mr, qr/ERROR/, "$name: makers of keys meet no error");
  all_is_well($name);
  return { good => $good, out => $out };
}

sub by_psql
{
  my @commands = @_;
  my $script   = $node->basedir . '/tool.sql';
  write_bytes($script, join '', map { "$_;\n" } @commands);
  return ('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', @at, '-f', $script, 'postgres');
}

# ---- commands, and the programs that send them ----

my @indexes = split /\n/, lines_of($node, q{
SELECT format('%s %I %I', indrelid::regclass, n.nspname, c.relname) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = relnamespace
WHERE indrelid IN (} . join(', ', map { "'$_'::regclass" } @ours) . q{) ORDER BY indrelid, indexrelid});
my %first;
$first{ (split ' ')[0] } //= (split ' ')[2] foreach @indexes;
is(join(' ', sort keys %first), "@ours", 'each table has an index');
my @index_names = map { join '.', (split ' ')[ 1, 2 ] } @indexes;
my @runs = (
  [ 'REINDEX INDEX',              by => [ map { "REINDEX INDEX $_" } @index_names ] ],
  [ 'REINDEX INDEX CONCURRENTLY', by => [ map { "REINDEX INDEX CONCURRENTLY $_" } @index_names ] ],
  [ 'REINDEX TABLE',              by => [ map { "REINDEX TABLE $_" } @ours ] ],
  [ 'REINDEX TABLE CONCURRENTLY', by => [ map { "REINDEX TABLE CONCURRENTLY $_" } @ours ] ],
  [ 'VACUUM FULL of ours',        by => [ map { "VACUUM (FULL, FREEZE, ANALYZE) $_" } @ours ] ],
  [ 'CLUSTER of ours',            by => [ map { "CLUSTER $_ USING $first{$_}" } @ours ] ],
  ($node->pg_version->major >= 19 ? [ 'REPACK of ours', by => [ map { ("REPACK $_", "REPACK $_ USING INDEX $first{$_}") } @ours ] ] : ()),
  [ 'REINDEX SCHEMA',             by => [ 'REINDEX SCHEMA tde', 'REINDEX SCHEMA CONCURRENTLY tde' ] ],
  [ 'REINDEX of all',             by => [ 'REINDEX DATABASE postgres', 'REINDEX SYSTEM postgres', 'REINDEX DATABASE CONCURRENTLY postgres' ] ],
  [ 'VACUUM FULL of all',         by => [ 'CLUSTER', 'VACUUM FULL' ] ],
  (map { [ "@$_", command => [ @$_, @at, '-d', 'postgres' ] ] } ['reindexdb'], ['clusterdb'], [ 'vacuumdb', '-f', '-z' ]));
foreach my $run (@runs)
{
  my ($name, $kind, $what) = @$run;
  my $got = beside_makers($name, $kind eq 'by' ? by_psql(@$what) : @$what);
  ok($got->{good}, $name) or diag($got->{out});
}
lines_of($node, 'ALTER TABLE tde.key_counts ADD PRIMARY KEY (id)');
is(lines_of($node, q{SELECT severity, topic, object FROM tde_audit() WHERE finding ~ 'copy table tde.key_counts'}),
  "error|data keys|tde.key_counts_id_key\nerror|data keys|tde.key_counts_pkey", 'tde_audit() finds keys by which they would be copied');
lines_of($node, 'ALTER TABLE tde.key_counts DROP CONSTRAINT key_counts_pkey; ALTER TABLE tde.key_counts ALTER id DROP NOT NULL');
foreach my $table (@ours)
{
  foreach my $sql ("TRUNCATE $table", "TRUNCATE secret, $table CASCADE")
  {
    fails_with($node, $sql, { state => '42501', message => qr/^cannot change table "\Q$table\E" directly$/ }, $sql);
  }
}
is(lines_of($node, 'SELECT count(*) > 0 FROM secret'), 't', 'and the other table is not emptied either');

# ---- tools that copy a table beside its writers ----

# An old transaction has pg_repack wait when it has copied a table, until it may put the copy in the table's place.
sub repack
{
  my ($name, @options) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  fall_behind();
  my $old = session($node);
  session_try($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE TEMP TABLE has_number (a int)');
  my $run = start_as('copier', \my $out, "$bindir/pg_repack", @at, '-d', 'postgres', '-T', 600, @options);
  my $tries = 10 * $PostgreSQL::Test::Utils::timeout_default;
  while ($run->pumpable && $tries-- > 0)
  {
    last if lines_of($node, q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'copier' AND (wait_event_type = 'Lock' OR
      state = 'idle' AND EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = 'repack'::regnamespace AND c.relname LIKE 'table\_%' AND c.relhasindex))});
    $run->pump_nb;
    select undef, undef, undef, 0.1;
  }
  my $made = make_keys();
  is($made->{state}, '', "$name: keys are made meanwhile") or diag($made->{err});
  session_try($old, 'ROLLBACK');
  $old->quit;
  my $good = $run->finish;
  all_is_well($name);
  return { good => $good, out => $out };
}

SKIP:
{
  skip 'SKIPPED: there is no pg_repack here', 1 if !-x "$bindir/pg_repack" || !lines_of($node, q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_repack'});
  lines_of($node, 'CREATE EXTENSION pg_repack');
  my $got = repack('pg_repack -t', map { ('-t', $_) } @ours);
  ok($got->{good}, 'pg_repack of our tables goes on') or diag($got->{out});
  like($got->{out}, qr/WARNING: relation "\Q$_\E" must have a primary key or not-null unique keys/, "and leaves $_ alone") foreach @ours;
  $got = repack('pg_repack -x', '-x', map { ('-t', $_) } @ours);
  ok($got->{good}, 'pg_repack of our indexes goes on') or diag($got->{out});
  $got = repack('pg_repack, no table of others');
  ok($got->{good}, 'pg_repack of the database goes on') or diag($got->{out});
  lines_of($node, q{CREATE TABLE card (id int PRIMARY KEY, v encrypted_text('key=one')); INSERT INTO card SELECT i, 'card ' || i FROM generate_series(1, 500) i});
  $got = repack('pg_repack of the database');
  ok($got->{good}, 'pg_repack of the database goes on') or diag($got->{out});
  like($got->{out}, qr/repacking table "public.card"/, 'and does the others\' tables');
  is(lines_of($node, q{SELECT count(*) FROM card WHERE v = 'card ' || id}), 500, 'whose values are what they were');

  # ---- re-encryption and conversions fire no triggers, by which pg_repack follows changes ----

  my $old = session($node);
  session_try($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE TEMP TABLE has_number (a int)');
  lines_of($node, q{SELECT tde_rotate_key('one')});
  my $run = start_as('copier', \my $out, "$bindir/pg_repack", @at, '-d', 'postgres', '-T', 600, '-t', 'card');
  $node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_trigger WHERE tgrelid = 'card'::regclass AND tgname = 'repack_trigger'}) or die 'pg_repack does not begin';
  my $followed = { state => '55006', message => qr/^cannot change rows of table "card" because of trigger "repack_trigger"$/,
    detail => qr/like pg_repack, follows changes by it/, hint => qr/when the tool has ended.*drop the trigger/ };
  fails_with($node, q{CALL tde_rekey_table('card')}, $followed, 'tde_rekey_table() beside pg_repack');
  session_try($old, 'ROLLBACK');
  $old->quit;
  ok($run->finish, 'pg_repack ends') or diag($out);
  lines_of($node, q{CALL tde_rekey_table('card')});
  is(lines_of($node, q{SELECT count(DISTINCT version) FROM tde_key_usage('card') WHERE object_type = 'table'}), 1, 'then the table is re-encrypted');
  lines_of($node, q{ALTER TABLE card ADD old text; UPDATE card SET old = v;
CREATE TRIGGER left_over AFTER UPDATE ON card FOR EACH ROW EXECUTE FUNCTION repack.repack_trigger('SELECT 1'); ALTER TABLE card ENABLE ALWAYS TRIGGER left_over});
  fails_with($node, q{CALL tde_encrypt_column('card', 'old', online => true)}, { state => '55006', message => qr/^cannot change rows of table "card" because of trigger "left_over"$/ },
    'a conversion beside it, or what it has left');
  lines_of($node, q{DROP TRIGGER left_over ON card});
  is(attempt($node, q{CALL tde_finish_conversion('card', 'old')})->{state} =~ /^(|55000)$/ ? 1 : 0, 1, 'which goes on when that is gone');
}

SKIP:
{
  skip 'SKIPPED: there is no pg_squeeze here', 1 if !lines_of($node, q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_squeeze'});
  $node->append_conf('postgresql.conf', "shared_preload_libraries = 'tde_column, pg_squeeze'\n");
  # newer minor versions name the libraries that may decode
  $node->append_conf('postgresql.conf', "output_plugin_libraries = 'test_decoding, pg_squeeze'\n")
    if lines_of($node, q{SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'});
  $node->restart;
  lines_of($node, q{SELECT tde_wallet_open('tools-passphrase'); CREATE EXTENSION pg_squeeze});
  fall_behind();
  foreach my $table (@ours)
  {
    my ($schema, $name) = split /[.]/, $table;
    my $got = attempt($node, "SELECT squeeze.squeeze_table('$schema', '$name')");
    isnt($got->{state}, '', "pg_squeeze does not take $table");
    like($got->{message}, qr/identity/, 'for want of a key');
  }
  all_is_well('pg_squeeze');
}

# ---- a restore that drops what is there first ----

lines_of($node, 'CREATE DATABASE cleaned');
lines_of($node, q{CREATE EXTENSION tde_column; CREATE TABLE dumped (v encrypted_text('key=two')); INSERT INTO dumped VALUES ('dumped')}, db => 'cleaned');
my $dump = $node->basedir . '/dump';
system_or_bail('pg_dump', @at, '-Fc', '-f', $dump, 'cleaned');
lines_of($node, q{CREATE TABLE later (v encrypted_text('key=two'), w encrypted_varchar(5001)); SELECT pg_create_logical_replication_slot('cleaned', 'test_decoding');
INSERT INTO later VALUES ('later', 'too')}, db => 'cleaned');
run_command([ 'pg_restore', @at, '--clean', '--if-exists', '-d', 'cleaned', $dump ]);
is(lines_of($node, 'SELECT v FROM dumped; SELECT v, w FROM later', db => 'cleaned'), "dumped\nlater|too", 'pg_restore --clean: what it does not restore is readable, too');
is(lines_of($node, q{SELECT data FROM pg_logical_slot_get_changes('cleaned', NULL, NULL) WHERE data LIKE '%later:%'}, db => 'cleaned'),
  q{table public.later: INSERT: v[encrypted_text]:'later' w[encrypted_varchar]:'too'}, 'pg_restore --clean: the slot decodes it');
lines_of($node, q{SELECT pg_drop_replication_slot('cleaned')});

# ---- who may read what a slot sends: who may now ----

lines_of($node, q{CREATE ROLE pii; CREATE ROLE staff IN ROLE pii; CREATE ROLE reader LOGIN REPLICATION; CREATE ROLE other NOINHERIT;
ALTER DATABASE postgres SET tde_column.decrypt_role = 'pii'});
fall_behind();
lines_of($node, 'CREATE ROLE later LOGIN REPLICATION');
my $peek = q{SELECT count(*) FROM pg_logical_slot_peek_changes('behind', NULL, NULL) WHERE data LIKE 'table public.secret:%'};
my $io   = q{SET tde_column.io_format = ciphertext;};
foreach my $step (
  [ reader => '',                                                                       0, 'without a right' ],
  [ later  => '',                                                                       0, 'a role that was not there' ],
  [ reader => 'GRANT pii TO reader',                                                    1, 'after a GRANT' ],
  [ reader => 'REVOKE pii FROM reader',                                                 0, 'after a REVOKE' ],
  [ later  => 'GRANT staff TO later',                                                   1, 'through another role' ],
  [ later  => 'REVOKE pii FROM staff',                                                  0, 'which lost it' ],
  [ reader => 'GRANT pii TO other; GRANT other TO reader',                              0, 'one that does not inherit it' ],
  [ reader => 'ALTER ROLE other INHERIT; REVOKE pii FROM other; GRANT pii TO other',    1, 'and then does' ],
  [ reader => 'REVOKE other FROM reader; ALTER ROLE reader SUPERUSER',                  1, 'a superuser' ],
  [ reader => 'ALTER ROLE reader NOSUPERUSER',                                          0, 'and none any more' ],
  [ reader => 'GRANT EXECUTE ON FUNCTION tde_ciphertext_io() TO reader',                0, 'who may read ciphertext' ],
  [ reader => '',                                                                       1, 'reads that', $io ],
  [ later  => '',                                                                       0, 'others do not', $io ],
  [ later  => 'GRANT EXECUTE ON FUNCTION tde_ciphertext_io() TO staff',                 1, 'but through another role', $io ],
  [ reader => 'REVOKE EXECUTE ON FUNCTION tde_ciphertext_io() FROM reader',             0, 'and no longer than he may', $io ])
{
  my ($user, $sql, $may, $name, $set) = @$step;
  lines_of($node, $sql) if $sql;
  my $got = attempt($node, ($set // '') . $peek, user => $user);
  is($got->{state} || $got->{out}, $may ? 1 : 42501, "a slot, $name") or diag($got->{err});
  like($got->{hint}, qr/run "GRANT pii TO $user"/, 'the hint says what to do') if !$may && !$set;
}

# A walsender that runs.
my $sent = '';
lines_of($node, 'GRANT pii TO reader');
my $receiver = start_as('receiver', \$sent, 'pg_recvlogical', @at, '-U', 'reader', '-d', 'postgres', '-S', 'behind', '--start', '--no-loop', '-f', '-');
my $wait = sub { for (my $i = 0; $sent !~ $_[0] && $i < 10 * $PostgreSQL::Test::Utils::timeout_default; $i++) { $receiver->pump_nb; select undef, undef, undef, 0.1 } };
$wait->(qr/'value \d+'/);
like($sent, qr/'value \d+'/, 'a walsender sends values');
lines_of($node, q{REVOKE pii FROM reader; INSERT INTO secret (v) VALUES ('not to be seen')});
$wait->(qr/permission denied/);
like($sent,   qr/permission denied to decrypt values of type (public[.])?encrypted_text/, 'and stops after a REVOKE');
unlike($sent, qr/not to be seen/,                                               'without the value');
$receiver->finish;
lines_of($node, q{DELETE FROM secret WHERE v = 'not to be seen'; ALTER DATABASE postgres RESET tde_column.decrypt_role});
$node->poll_query_until('postgres', q{SELECT NOT active FROM pg_replication_slots WHERE slot_name = 'behind'}) or die 'the walsender does not end';
lines_of($node, q{SELECT pg_drop_replication_slot('behind')});

# ---- columns that the library does not know, as a later version's ----

sub refuses
{
  my ($table, $sql) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  fails_with($node, $sql, { state => '55000', message => qr/^cannot change table "\Q$table\E" because of column "w1"$/, hint => qr/install its library.*Drop the column/s }, "$table: $sql");
  return;
}
my $readable = q{SELECT count(*) = (SELECT count(*) FROM plain) FROM secret WHERE v LIKE 'value%' AND w LIKE 'other%'; SELECT a FROM typed};
foreach my $table (@ours)
{
  lines_of($node, "ALTER TABLE $table " . join ', ', map { "ADD COLUMN w$_ int8 DEFAULT 1" } 1 .. 40);
  is(attempt($node, $readable)->{out}, "t\ntyped", "$table with more columns: values are readable");
  refuses($table, 'SELECT tde_rotate_key()') if $table ne 'tde.specifications';
  refuses($table, 'CREATE TABLE typed_more (a encrypted_varchar(9000))') if $table eq 'tde.specifications';
  refuses($table, $_) foreach $table eq 'tde.data_keys' ? ('SELECT tde_rotate_master_key()', q{SELECT tde_describe_key('one', 'x')}, q{SELECT tde_rename_key('one', 'x')}) : ();
  lines_of($node, "ALTER TABLE $table " . join ', ', map { "DROP COLUMN w$_" } 1 .. 40);
  my $made = make_keys();
  is($made->{state}, '', "$table: when they are dropped, keys are made") or diag($made->{err});
  is(attempt($node, q{SELECT tde_describe_key('one', 'first')})->{state}, '', 'and changed');
  is(attempt($node, $readable)->{out}, "t\ntyped", 'and values are readable');
}
my $altered = 'BEGIN; DROP TRIGGER tde_guard_keys ON tde.data_keys; ALTER TABLE tde.data_keys RESET (user_catalog_table); ALTER TABLE tde.data_keys ALTER wrapped TYPE int USING 7;';
fails_with($node, "$altered SELECT v FROM secret", { state => 'XX001', message => qr/^column 11 of table "tde.data_keys" has an unexpected type$/ }, 'a column of another type');
is(attempt($node, $readable)->{out}, "t\ntyped", 'which was rolled back');

$node->stop;
done_testing();
