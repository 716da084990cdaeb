# Keys have names everywhere: in declarations, in what is printed of them and in dumps, which make the keys that they name.  Modifiers that
# a typmod has no bits for have a row of tde.specifications.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Utils;
use Test::More;
use TdeTest;

my $node = tde_node('names', extension => 1, conf => "max_wal_senders = 3\nwal_level = logical\n");
$node->start;
lines_of($node, q{SELECT tde_wallet_create('names-passphrase')});

sub type_of
{
  my ($table, $column, %opts) = @_;
  return lines_of($node, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '$table'::regclass AND attname = '$column'", %opts);
}

sub restore
{
  my ($from, $to) = @_;
  my $file = PostgreSQL::Test::Utils::tempdir() . "/$to.dump";
  $node->command_ok([ 'pg_dump', '-Fc', '-f', $file, $from ], "$from is dumped");
  $node->command_ok([ 'pg_restore', '-e', '-j2', '-d', $to, $file ], "... and restored into $to");
  return;
}

# ---- names in dumps ----

lines_of($node, q{SELECT tde_create_key('cards'); CREATE TABLE ck (a encrypted_text(nosalt, 'key=cards'), b encrypted_int4(nomac, 'key=cards'));
INSERT INTO ck VALUES ('4111', 1)});
is(type_of('ck', 'a'), "encrypted_text(aes256,nosalt,gcm,'key=cards')", 'a column says its key');

# A database whose slot of that number is another key, which is then destroyed: once it took the restored table with it.
lines_of($node, 'CREATE DATABASE other');
lines_of($node, q{CREATE EXTENSION tde_column; SELECT tde_create_key('gdpr_customer_42', erasable => true)}, db => 'other');
restore('postgres', 'other');
is(type_of('ck', 'a', db => 'other'), "encrypted_text(aes256,nosalt,gcm,'key=cards')", 'under the key of this name');
lines_of($node, q{SELECT tde_destroy_key('gdpr_customer_42', 'destroy gdpr_customer_42')}, db => 'other');
is(lines_of($node, 'SELECT * FROM ck', db => 'other'), '4111|1', 'which a neighbour of its old number cannot take with it');
is(lines_of($node, q{SELECT tde_rotate_key('cards'), count(*) FROM tde.keys WHERE name = 'cards'}, db => 'other'), '2|2', 'its key can be rotated');

# Renamed, it is still the column's.
lines_of($node, q{SELECT tde_rename_key('cards', 'it''s, "odd" \\ (key)')});
is(type_of('ck', 'a'), q{encrypted_text(aes256,nosalt,gcm,E'key=it''s, "odd" \\\\ (key)')}, 'renamed');
lines_of($node, 'CREATE DATABASE odd');
restore('postgres', 'odd');
is(lines_of($node, 'SELECT * FROM ck', db => 'odd'), '4111|1', 'an odd name is restored');
is(type_of('ck', 'a', db => 'odd'), type_of('ck', 'a'), '... as it was');

# ---- keys that declarations make ----

my $made = attempt($node, q{CREATE TABLE made (a encrypted_text('key=new'), b encrypted_text(nosalt, 'key=new'))});
like($made->{err}, qr/NOTICE:.*data key "new" created\nDETAIL:  A declaration names it.*\nHINT:.*create_missing_keys = off/, 'a declaration makes its key, and says so');
is(scalar(() = $made->{err} =~ /NOTICE/g), 1, '... once');
foreach my $declaration (
  q{ALTER TABLE made ADD c encrypted_text('key=KEY')},
  q{ALTER TABLE made ALTER c TYPE encrypted_text('key=KEY')},
  q{CREATE DOMAIN dom_KEY AS encrypted_text('key=KEY')},
  q{CREATE TYPE type_KEY AS (a encrypted_text('key=KEY'))},
  q{CREATE VIEW view_KEY AS SELECT 'x'::encrypted_text('key=KEY') AS a},
  q{DO 'BEGIN CREATE TABLE do_KEY (a encrypted_text(''key=KEY'')); END'})
{
  my $key = 'k' . (lines_of($node, 'SELECT max(slot) FROM tde.keys') + 1);
  like(attempt($node, $declaration =~ s/KEY/$key/gr)->{err}, qr/NOTICE:.*data key "$key" created/, "made by $declaration");
}
my $keys = lines_of($node, 'SELECT count(*) FROM tde.data_keys');
my $missing = { state => '42704', message => qr/^key "typo" does not exist$/, hint => qr/^Make it: SELECT tde_create_key\('typo'\);$/ };
fails_with($node, $_, $missing, "not by $_")
  foreach q{SELECT 'x'::encrypted_text('key=typo')}, q{PREPARE p AS SELECT $1::encrypted_text('key=typo')},
  q{SET tde_column.create_missing_keys = off; CREATE TABLE refused (a encrypted_text('key=typo'))};
fails_with($node, q{CREATE TABLE refused (a encrypted_text('key=77'))},
  { state => '42704', message => qr/^key "77" does not exist$/, detail => qr/^No key of this database has this number\.$/, hint => qr/tde\.keys/ }, 'a number that no key has');
lines_of($node, 'CREATE ROLE maker LOGIN; GRANT CREATE ON SCHEMA public TO maker; GRANT USAGE ON SCHEMA public TO maker');
fails_with($node, q{CREATE TABLE refused (a encrypted_text('key=typo'))},
  { state => '42501', message => qr/^permission denied to create key "typo"$/, detail => qr/^The key does not exist, and user "maker" has no right/, hint => qr/tde_create_key\('typo'\)/ },
  'who may not make keys does not make one by a declaration', user => 'maker');
fails_with($node, 'SET tde_column.create_missing_keys = on', { state => '42501' }, 'and does not set it', user => 'maker');
is(lines_of($node, 'SELECT count(*) FROM tde.data_keys'), $keys, 'no key was made');
lines_of($node, 'GRANT EXECUTE ON FUNCTION tde_create_key(text, boolean) TO maker');
is(attempt($node, q{CREATE TABLE allowed (a encrypted_text('key=maker''s')); INSERT INTO allowed VALUES ('x') RETURNING a}, user => 'maker')->{out}, 'x', 'who may, does');
lines_of($node, 'CREATE DATABASE restored OWNER maker');
lines_of($node, 'CREATE EXTENSION tde_column', db => 'restored');
is(attempt($node, q{CREATE TEMP TABLE t (a encrypted_text('key=owner')); INSERT INTO t VALUES ('x') RETURNING a}, db => 'restored', user => 'maker')->{out}, 'x',
  'and so does the owner of a database, to restore it');
lines_of($node, 'SELECT tde_wallet_close()');
fails_with($node, q{CREATE TABLE refused (a encrypted_text('key=later'))}, { state => 'TDE01', message => qr/^wallet is not open$/ }, 'not with a closed wallet');
lines_of($node, q{SELECT tde_wallet_open('names-passphrase')});

# Names are names, whatever they look like; digits alone are a number.
lines_of($node, q{SELECT tde_create_key('+1'), tde_create_key('-9'); CREATE TABLE signs (a encrypted_text('key=+1'), b encrypted_text('key=-9'))});
is(type_of('signs', 'a') . type_of('signs', 'b'), "encrypted_text(aes256,salt,gcm,'key=+1')encrypted_text(aes256,salt,gcm,'key=-9')", 'names with a sign');

# One key of a name, whatever is rolled back.
my $changed = { state => '55000', message => qr/^cannot make key "\w+" in a transaction that has renamed, destroyed or rewrapped keys$/, hint => qr/^Commit first\.$/ };
lines_of($node, q{SELECT tde_create_key('twin'); CREATE TABLE twin (a encrypted_text('key=twin'))});
fails_with($node, "BEGIN; $_; ROLLBACK", $changed, $_)
  foreach q{SELECT tde_destroy_key('twin', 'destroy twin'); SELECT tde_create_key('twin')}, q{SELECT tde_rename_key('twin', 'other'); CREATE TABLE b (a encrypted_text('key=twin'))},
  q{SAVEPOINT s; SELECT tde_rename_key('twin', 'other'); ROLLBACK TO s; CREATE TABLE b (a encrypted_text('key=another'))};
is(lines_of($node, 'SELECT name FROM tde.keys WHERE slot > 0 GROUP BY name HAVING count(DISTINCT slot) > 1'), '', 'no two keys have one name');

# The column of a key that was destroyed, whose name another one has by now, is not under a neighbour's after a restore.
lines_of($node, q{SELECT tde_destroy_key('twin', 'destroy twin')});
is(type_of('twin', 'a'), "encrypted_text(aes256,salt,gcm,'key=twin')", 'a destroyed key has its name');
lines_of($node, q{SELECT tde_create_key('twin')});
like(type_of('twin', 'a'), qr/'key=twin~destroyed~\d+'\)$/, '... until another one has it');
lines_of($node, "CREATE TABLE twin2 (a @{[ type_of('twin', 'a') ]}, b encrypted_text('key=twin'))");
is(lines_of($node, q{SELECT count(DISTINCT key_slot) FROM tde.encrypted_columns WHERE table_name IN ('twin', 'twin2')}), '2', 'what is printed means the same key');
my $printed = type_of('twin', 'a') =~ /key=([^']+)'/ ? $1 : '';
my $taken   = { state => '42710', message => qr/^key name "twin~destroyed~\d+" is taken$/, detail => qr/^Declarations use this name for key \d+, which was destroyed/ };
fails_with($node, "SELECT tde_create_key('$printed')", $taken, 'a key that would be called so');
fails_with($node, "SELECT tde_rename_key('twin', '$printed')", $taken, 'or be renamed so');
lines_of($node, 'DROP TABLE twin, twin2');

# A key of such a name that was there before, as a restore elsewhere makes it, keeps it.
my $next = lines_of($node, 'SELECT max(slot) + 2 FROM tde.keys');
lines_of($node, "CREATE TABLE before (a encrypted_text('key=early~destroyed~$next')); SELECT tde_create_key('early'); CREATE TABLE early (a encrypted_text('key=early'));");
is(lines_of($node, q{SELECT key_slot FROM tde.encrypted_columns WHERE table_name = 'early'}), $next, 'a key whose number such a name has');
lines_of($node, q{SELECT tde_destroy_key('early', 'destroy early'); SELECT tde_create_key('early')});
is(type_of('before', 'a'), "encrypted_text(aes256,salt,gcm,'key=early~destroyed~$next')", 'a key that has such a name of its own');
is(type_of('early', 'a'), "encrypted_text(aes256,salt,gcm,'key=early~~destroyed~$next')", 'another one that is destroyed is told from it');
lines_of($node, "CREATE TABLE again (a @{[ type_of('before', 'a') ]}, b @{[ type_of('early', 'a') ]})");
is(lines_of($node, q{SELECT string_agg(a.key_slot || '=' || b.key_slot, ',') FROM tde.encrypted_columns a JOIN tde.encrypted_columns b ON (a.table_name, b.column_name) IN (('before', 'a'), ('early', 'b')) WHERE b.table_name = 'again' AND a.key_slot = b.key_slot}),
  join(',', map { "$_=$_" } $next - 1, $next), 'what is printed means the same keys');
fails_with($node, "SELECT 'x'::encrypted_text('key=twin~destroyed~$_')", { state => '42704' }, "no key: number $_") foreach '', '99999999999999999999', '-1', '0', '4294967298', '2x';
lines_of($node, 'DROP TABLE before, early, again');

# Two that were destroyed are told from each other, too.
$next = lines_of($node, 'SELECT max(slot) + 2 FROM tde.keys');
lines_of($node, "CREATE TABLE q1 (a encrypted_text('key=q~destroyed~$next')); CREATE TABLE q2 (a encrypted_text('key=q'))");
lines_of($node, "SELECT tde_destroy_key('q~destroyed~$next', 'destroy q~destroyed~$next'); SELECT tde_destroy_key('q', 'destroy q'); SELECT tde_create_key('q')");
isnt(type_of('q1', 'a'), type_of('q2', 'a'), 'names of destroyed keys that look alike');
lines_of($node, 'DROP TABLE q1, q2');

# What else a dump holds may be what names a key first.
lines_of($node, q{CREATE DATABASE source; CREATE DATABASE target});
lines_of($node, q{CREATE EXTENSION tde_column; SELECT tde_create_key(k) FROM unnest('{mv,st,tr,po,ma}'::text[]) k;
CREATE TABLE base (a encrypted_text, b encrypted_int4, c int);
CREATE MATERIALIZED VIEW mv AS SELECT a::encrypted_text(nosalt,'key=mv') AS a FROM base;
CREATE STATISTICS st ON (b::encrypted_int4(nosalt,'key=st')), c FROM base;
CREATE FUNCTION tr() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER tr BEFORE UPDATE ON base FOR EACH ROW WHEN (NEW.a = 'x'::encrypted_text('key=tr')) EXECUTE FUNCTION tr();
CREATE POLICY po ON base USING (a <> 'x'::encrypted_text('key=po'))}, db => 'source');
restore('source', 'target');
is(lines_of($node, q{SELECT string_agg(DISTINCT name, ',' ORDER BY name) FROM tde.keys WHERE slot > 0}, db => 'target'), 'mv,po,st,tr', 'materialized views, statistics, triggers, policies');
lines_of($node, q{CREATE TABLE stored AS SELECT 'x'::encrypted_text('key=ctas') AS a});
is(type_of('stored', 'a'), "encrypted_text(aes256,salt,gcm,'key=ctas')", 'CREATE TABLE AS');
lines_of($node, q{SELECT 'x'::encrypted_text('key=into') AS a INTO stored_too});
is(type_of('stored_too', 'a'), "encrypted_text(aes256,salt,gcm,'key=into')", 'SELECT INTO');
lines_of($node, q{SELECT 'x'::encrypted_text('key=union') AS a INTO stored_union UNION ALL SELECT 'y'::encrypted_text('key=union')});
is(type_of('stored_union', 'a'), "encrypted_text(aes256,salt,gcm,'key=union')", '... of a UNION');
is(attempt($node, q{EXPLAIN ANALYZE CREATE TABLE explained AS SELECT 'x'::encrypted_text('key=explained') AS a})->{state}, '', 'EXPLAIN ANALYZE CREATE TABLE AS');
fails_with($node, q{SET standard_conforming_strings = off\; SELECT '\' AS created, 'x'::encrypted_text('key=nothing')}, { state => '42704', message => qr/^key "nothing" does not exist$/ },
  'a message that cannot be parsed again') if $node->pg_version->major < 19;
lines_of($node, q{CREATE TABLE IF NOT EXISTS stored (a encrypted_text('key=typo'))});
is(lines_of($node, q{SELECT count(*) FROM tde.keys WHERE name = 'typo'}), '0', 'not a table that is there already');
# what is there in a schema further down the search_path is another table
lines_of($node, 'CREATE SCHEMA first; CREATE SCHEMA second; CREATE TABLE second.fresh (x int); CREATE TABLE second.copied (x int)');
my $fresh = attempt($node, q{SET search_path = first, second, public;
  CREATE TABLE IF NOT EXISTS fresh (a encrypted_int4('key=fresh'), b int GENERATED ALWAYS AS (a + 1) STORED)});
is($fresh->{state}, '', 'IF NOT EXISTS, of a table that is in another schema') or diag($fresh->{err});
is(type_of('first.fresh', 'b'), "encrypted_int4(aes256,salt,gcm,'key=fresh')", '... is prepared as others are');
like(attempt($node, q{SET search_path = first, second, public; CREATE TABLE IF NOT EXISTS copied AS SELECT a::int FROM fresh})->{err}, qr/stores decrypted values/, '... and warned of');
fails_with($node, "SELECT 'x'::encrypted_text('key=$_')", { state => '42704', hint => qr/^The view tde\.keys lists them\.$/ }, "a name that no key can have: '$_'")
  foreach '', 'hash', 'catalog';
fails_with($node, q{SELECT tde_create_key('sole'); SELECT tde_rotate_key('sole'); SELECT tde_drop_key_version('sole', 1); SELECT tde_drop_key_version('sole', 2)},
  { state => '55006', message => qr/because it is the only one$/ }, 'a slot is not set free, to be given to another key');

# ---- modifiers that do not fit ----

my %large = (
  'encrypted_varchar(5000)'               => [ "repeat('x', 5000)",   "repeat('x', 5001)" ],
  "encrypted_varchar(10485760,'key=new')" => [ "repeat('x', 100000)", undef ],
  'encrypted_bpchar(5000,nosalt)'         => [ "'padded'",            "repeat('x', 5001)" ],
  'encrypted_numeric(210,10)'             => [ '10::numeric ^ 199',   '10::numeric ^ 200' ],
  'encrypted_numeric(5,-2)'               => [ '1234567',             '12345678' ],
  'encrypted_numeric(3,5,nomac)'          => [ '0.00999',             '0.1' ],
  'encrypted_interval(2)'                 => [ "'1.23456 s'",         undef ],
);
foreach my $declared (sort keys %large)
{
  my ($fits, $too_large) = @{ $large{$declared} };
  my ($base) = $declared =~ s/^encrypted_|,[a-z'].*(?=\))//gr;
  lines_of($node, "CREATE TABLE enc (a $declared); CREATE TABLE plain (a $base); INSERT INTO enc VALUES ($fits); INSERT INTO plain VALUES ($fits)");
  is(lines_of($node, 'SELECT left(a::text, 30), length(a::text) FROM enc'), lines_of($node, 'SELECT left(a::text, 30), length(a::text) FROM plain'), "$declared holds what $base holds");
  is(attempt($node, "INSERT INTO enc VALUES ($too_large)")->{state}, attempt($node, "INSERT INTO plain VALUES ($too_large)")->{state}, '... and no more')
    if $too_large;
  like(type_of('enc', 'a'), qr/^\Q@{[ $declared =~ s{[,)].*}{}r ]}\E/, '... and says so');
  lines_of($node, "CREATE TABLE again (a @{[ type_of('enc', 'a') ]}); DROP TABLE plain");
  is(lines_of($node, q{SELECT count(DISTINCT atttypmod) FROM pg_attribute WHERE attname = 'a' AND attrelid IN ('enc'::regclass, 'again'::regclass)}), '1',
    '... the same each time');
  lines_of($node, 'DROP TABLE enc, again');
}

# The rows are there whatever becomes of the transaction, for everybody at once, and nobody changes them.
my $reader = session($node);
session_try($reader, 'SELECT 1');
lines_of($node, q{BEGIN; CREATE TABLE lost (a encrypted_varchar(6000)); ROLLBACK});
lines_of($node, q{CREATE TABLE kept (a encrypted_varchar(6000), b encrypted_varchar(6001)); INSERT INTO kept VALUES ('x', 'y')});
is(session_try($reader, 'SELECT * FROM kept')->{out}, 'x|y', 'another session reads');
is(lines_of($node, 'SELECT count(*), count(DISTINCT (spec, key_slot, base_typmod)) FROM tde.specifications') =~ /^(\d+)\|\1$/ ? 1 : 0, 1, 'each has one row');
foreach my $change ('DELETE FROM tde.specifications', 'TRUNCATE tde.specifications', 'UPDATE tde.specifications SET number = number + 1',
  'INSERT INTO tde.specifications VALUES (9999, 53, 0, 1)')
{
  fails_with($node, "SET session_replication_role = replica; $change",
    { state => '42501', message => qr/^cannot change table "tde.specifications" directly$/, detail => qr/types of columns/ }, $change);
}
fails_with($node, q{BEGIN READ ONLY; SELECT 'x'::encrypted_varchar(7000)},
  { state => '25006', message => qr/^modifiers that no column is declared with cannot be used in a read-only transaction$/ }, 'a new one where nothing may be written');
is(lines_of($node, q{BEGIN READ ONLY; SELECT 'x'::encrypted_varchar(6000)}), 'x', 'one that is there');
fails_with($node, 'SELECT a FROM kept', { state => '42501' }, 'nobody needs a privilege on the table', user => 'maker');
lines_of($node, 'GRANT SELECT ON kept TO maker');
is(attempt($node, 'SELECT a FROM kept', user => 'maker')->{out}, 'x', '... but that on his own');

# Who may not make a table makes no row, either.
lines_of($node, 'REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC; CREATE ROLE lowly LOGIN');
fails_with($node, q{SELECT 'x'::encrypted_varchar(7001)}, { state => '42501', message => qr/^permission denied to use modifiers/ }, 'without the privilege', user => 'lowly');
is(attempt($node, q{SELECT 'x'::encrypted_varchar(6000)}, user => 'lowly')->{out}, 'x', 'one that is there, for everybody');

# A rewritten table may go again.
fails_with($node, q{BEGIN; CLUSTER tde.specifications USING specifications_number_key; SELECT 'x'::encrypted_varchar(7002)},
  { state => '55006', message => qr/^cannot add rows to table "tde\.specifications", which this transaction has rewritten$/ }, 'after CLUSTER, not in this transaction');

# Beside REINDEX CONCURRENTLY.
my $waits = session($node);
session_try($waits, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $reindex = session($node);
$reindex->query_until(qr/started/, "\\echo started\nREINDEX TABLE CONCURRENTLY tde.specifications;\n");
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'REINDEX%' AND wait_event_type = 'Lock'});
is(session_try($waits, q{CREATE TABLE beside_reindex (a encrypted_varchar(7003)); COMMIT})->{state}, '', 'no deadlock');

# Eight at once.
my $script = PostgreSQL::Test::Utils::tempdir() . '/declare.sql';
write_bytes($script, "CREATE TABLE at_once_:client_id (a encrypted_varchar(8000), b encrypted_varchar(8001,'key=at once'));\n");
$node->command_ok([ 'pgbench', '-n', '-c8', '-j2', '-t1', '-f', $script, 'postgres' ], 'eight declare the same at once');
is(lines_of($node, q{SELECT count(*) FROM tde.specifications WHERE base_typmod IN (8004, 8005)}), '2', 'and there is one row of each');

# A parallel worker, an index, a foreign key, a partition's bounds.
lines_of($node, q{CREATE TABLE many (a encrypted_varchar(5005,nosalt) PRIMARY KEY, n encrypted_numeric(100,2)); INSERT INTO many SELECT 'v' || i, i FROM generate_series(1, 3000) i;
CREATE TABLE refers (a encrypted_varchar(5006) REFERENCES many); INSERT INTO refers VALUES ('v7');
CREATE TABLE parts (a encrypted_varchar(5007)) PARTITION BY RANGE (a); CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM ('a') TO ('m')});
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
like(lines_of($node, "$parallel EXPLAIN (COSTS OFF) SELECT count(*) FROM many WHERE n < 1000 AND a::encrypted_varchar(5008) <> 'v1'"), qr/Parallel/, 'a parallel plan');
is(lines_of($node, "$parallel SELECT count(*) FROM many WHERE n < 1000 AND a::encrypted_varchar(5008) <> 'v1'"), '998', '... and its result');
is(attempt($node, q{INSERT INTO refers VALUES ('none')})->{state}, '23503', 'a foreign key between two of them');
is(attempt($node, q{INSERT INTO parts VALUES ('b'); INSERT INTO parts VALUES ('x')})->{state}, '23514', 'bounds of a partition');

# More keys than there were bits for.
lines_of($node, q{SELECT count(tde_create_key('k ' || i)) FROM generate_series(1, 4200) i; CREATE TABLE far (a encrypted_varchar(10, 'key=k 4200'), n encrypted_numeric(9,2,nosalt,'key=k 4200'));
INSERT INTO far VALUES ('far', 1)});
is(lines_of($node, 'SELECT * FROM far'), 'far|1.00', 'key 4,200 and more');
# Rows that a superuser forges, or that are damaged, in a database of their own.
lines_of($node, 'CREATE DATABASE forged');
lines_of($node, q{CREATE EXTENSION tde_column; CREATE ROLE visitor LOGIN; SELECT tde_create_key('a');
CREATE TABLE forged (a encrypted_varchar(7000), n encrypted_numeric(300,2), t encrypted_timestamp)}, db => 'forged');
sub forge { return "ALTER TABLE tde.$_[0] DISABLE TRIGGER ALL; $_[1]; ALTER TABLE tde.$_[0] ENABLE TRIGGER ALL;"; }
foreach my $forged ([ 1, 'a', '1' ], [ 2, 'n', '2.5' ])
{
  my ($number, $column, $value) = @$forged;
  foreach my $base (-7, 3, 2147483647)
  {
    lines_of($node, forge('specifications', "UPDATE tde.specifications SET base_typmod = $base WHERE number = $number"), db => 'forged');
    fails_with($node, $_, { state => '22023', message => qr/^invalid type modifier/ }, "a modifier that the base type cannot have: $base, $_", db => 'forged')
      foreach "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'forged'::regclass AND attname = '$column'", "INSERT INTO forged ($column) VALUES ($value)";
  }
  lines_of($node, forge('specifications', "UPDATE tde.specifications SET base_typmod = @{[ $number == 1 ? 7004 : (300 << 16) + 6 ]} WHERE number = $number"), db => 'forged');
}
my $half = 0xffffff >> 1;
lines_of($node, forge('specifications', "UPDATE tde.specifications SET number = $half WHERE number = 1"), db => 'forged');
my $full = { state => '54000', message => qr/^no more combinations of modifiers can be recorded$/, detail => qr/is kept for roles with the privilege CREATE on the database/ };
fails_with($node, q{SELECT 'x'::encrypted_varchar(8000)}, $full, 'whoever may make temporary tables only does not take the last numbers', db => 'forged', user => 'visitor');
is(attempt($node, q{SELECT 'x'::encrypted_varchar(8000)}, db => 'forged')->{out}, 'x', 'which others can have');
lines_of($node, forge('specifications', "UPDATE tde.specifications SET number = 16777215 WHERE number = $half"), db => 'forged');
fails_with($node, q{SELECT 'x'::encrypted_varchar(8001)}, $full, 'until there are none', db => 'forged');
my $last = { state => '54000', message => qr/^no key can be made after slot or version 2147483647$/ };
lines_of($node, forge('data_keys', 'UPDATE tde.data_keys SET slot = 2147483647 WHERE slot = 1'), db => 'forged');
fails_with($node, q{SELECT tde_create_key('b')}, $last, 'a slot that none comes after', db => 'forged');
lines_of($node, forge('data_keys', 'UPDATE tde.data_keys SET version = 2147483647 WHERE slot = 0'), db => 'forged');
fails_with($node, q{SELECT tde_rotate_key()}, $last, 'a version that none comes after', db => 'forged');

$keys = lines_of($node, 'SELECT count(*) FROM tde.specifications');
lines_of($node, q{SET temp_tablespaces = ''; CREATE TEMP TABLE q (a encrypted_varchar(10,'key=k 4200')); INSERT INTO q VALUES ('q'); BEGIN READ ONLY; UPDATE q SET a = (SELECT a FROM q LIMIT 1)});
is(lines_of($node, 'SELECT count(*) FROM tde.specifications'), $keys, 'plans make no rows');
cmp_ok(lines_of($node, q{SELECT max(key_slot) FROM tde.encrypted_columns WHERE table_name = 'far'}), '>', 4200, '... which the view tells');
like(type_of('far', 'a'), qr/'key=k 4200'/, '... and the declaration');

# A standby has the rows when it has the columns.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('names_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
own_wallet($standby);
send_wallet($node, $standby);
$standby->start;
lines_of($standby, q{SELECT tde_wallet_open('names-passphrase')});
lines_of($node, q{CREATE TABLE streamed (a encrypted_varchar(9000, 'key=streamed')); INSERT INTO streamed VALUES ('s')});
$node->wait_for_catchup($standby);
is(lines_of($standby, 'SELECT a FROM streamed'), 's', 'on a standby');
like(lines_of($standby, q{SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'streamed'::regclass AND attname = 'a'}),
  qr/^encrypted_varchar\(9000,.*'key=streamed'\)$/, '... with name and length');
fails_with($standby, q{SELECT 'x'::encrypted_varchar(9001)}, { state => '25006' }, '... which makes none');
$standby->stop;

# Another table of that name, with other rows of these numbers, in one session.
my $session = session($node, db => 'restored');
lines_of($node, 'ALTER DATABASE restored OWNER TO CURRENT_USER');
session_try($session, q{CREATE TABLE first (a encrypted_varchar(5100)); INSERT INTO first VALUES (repeat('x', 5100)); DROP EXTENSION tde_column CASCADE});
session_try($session, 'CREATE EXTENSION tde_column; CREATE TABLE second (a encrypted_varchar(5050))');
is(session_try($session, q{INSERT INTO second VALUES (repeat('x', 5051))})->{state}, '22001', 'rows of a dropped extension are forgotten');

# A crash right after.
lines_of($node, q{CREATE TABLE crashed (a encrypted_varchar(9100)); INSERT INTO crashed VALUES ('c')});
$node->stop('immediate');
$node->start;
lines_of($node, q{SELECT tde_wallet_open('names-passphrase')});
is(lines_of($node, 'SELECT a FROM crashed'), 'c', 'after a crash');

done_testing();
