# The table of data keys is changed by the functions of the extension only: nobody deletes keys by a statement, and who changes them in
# the files is found out, or sends new values nowhere.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('guarded', extension => 1);
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('guarded-passphrase'), tde_create_key('cards');
CREATE TABLE card (id int PRIMARY KEY, number encrypted_text('key=cards'), note encrypted_text);
INSERT INTO card VALUES (1, '4111', 'first')});
my $all = 'SELECT string_agg(k::text, chr(10) ORDER BY id) FROM tde.data_keys k';
my $before = lines_of($node, $all);

# ---- statements, of a superuser ----

my $refused = { state => '42501', message => qr/^cannot change table "tde.data_keys" directly$/, detail => qr/would lose all values under that key/ };
my %statement = (
  'DELETE FROM tde.data_keys'                                                             => qr/tde_drop_key_version\(\).*tde_destroy_key\(\)/,
  'DELETE FROM tde.data_keys WHERE version = 1'                                           => qr/tde_drop_key_version\(\)/,
  'WITH gone AS (DELETE FROM tde.data_keys RETURNING id) SELECT count(*) FROM gone'       => qr/tde_drop_key_version\(\)/,
  'TRUNCATE tde.data_keys'                                                                => qr/tde_drop_key_version\(\)/,
  'TRUNCATE card, tde.data_keys RESTART IDENTITY CASCADE'                                 => qr/tde_drop_key_version\(\)/,
  q{DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT format('%I.%I', schemaname, tablename)::regclass FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema') LOOP EXECUTE format('TRUNCATE %s CASCADE', t); END LOOP; END $$} => qr/tde_drop_key_version\(\)/,
  q{UPDATE tde.data_keys SET state = 'r'}                                                 => qr/tde_rotate_key\(\), tde_rename_key\(\) and tde_describe_key\(\)/,
  q{UPDATE tde.data_keys SET name = 'other' WHERE name = 'cards'}                         => qr/tde_rename_key\(\)/,
  q{UPDATE tde.data_keys SET erasable = true, description = 'x'}                          => qr/tde_rename_key\(\)/,
  q{INSERT INTO tde.data_keys SELECT * FROM tde.data_keys}                                => qr/tde_create_key\(\).*tde_import_keys\(\)/,
  q{COPY tde.data_keys FROM PROGRAM 'echo "100,,,,,,,,,,,,,"' (FORMAT csv, FORCE_NULL (name))} => undef);
foreach my $sql (sort keys %statement)
{
  foreach my $role ('origin', 'replica', 'local')
  {
    my $got = attempt($node, "SET session_replication_role = $role; $sql");
    next if !defined $statement{$sql} && isnt($got->{state}, '', "$role: $sql");
    is($got->{state}, '42501', "$role: $sql") or diag($got->{err});
    like($got->{$_}, $refused->{$_}, $_) foreach qw(message detail);
    like($got->{hint}, $statement{$sql}, 'hint');
  }
}
is(lines_of($node, $all), $before, 'all keys are as they were');
is(lines_of($node, 'SELECT number, note FROM card'), '4111|first', 'and values are readable');
fails_with($node, 'SELECT tde_internal.tde_guard_keys()', { state => '39P01' }, 'the trigger, called as a function');

# ---- what the functions do ----

is(lines_of($node, q{SELECT tde_describe_key('cards', 'of customers'); SELECT description FROM tde.keys WHERE name = 'cards'}), "\nof customers", 'a key is described');
lines_of($node, q{SELECT tde_rotate_key('cards'); SELECT tde_rename_key('cards', 'visa')});
is(lines_of($node, q{SELECT string_agg(version::text, ',' ORDER BY version) FROM tde.keys WHERE name = 'visa'}), '1,2', 'all versions have the new name');
is(lines_of($node, q{INSERT INTO card VALUES (2, '4112', 'second'); SELECT number FROM card ORDER BY id}), "4111\n4112", 'the column has kept the key');
is(lines_of($node, q{SELECT tde_rotate_master_key() IS NOT NULL; SELECT count(number) FROM card}), "t\n2", 'also when the master key is another');
fails_with($node, q{SELECT tde_rename_key('cards', 'x')}, { state => '42704', message => qr/^key "cards" does not exist$/ }, 'nothing has the old name');
fails_with($node, q{SELECT tde_rename_key('default', 'x')}, { state => '22023', message => qr/^cannot rename key "default"$/ }, 'the default key');
fails_with($node, q{SELECT tde_create_key('x'); SELECT tde_rename_key('x', 'visa')}, { state => '42710', message => qr/^key "visa" already exists$/ }, 'a name that is taken');
fails_with($node, qq{SELECT tde_rename_key('x', '$_')}, { state => '42602' }, "the name \"$_\"") foreach '', '12', 'hash', 'default';
is(lines_of($node, q{BEGIN; SELECT tde_rename_key('x', 'y'); ROLLBACK; SELECT count(*) FROM tde.keys WHERE name = 'x'}), "\n1", 'a rollback takes a name back');
my $long = 'ä' x 31;
is(lines_of($node, qq{SELECT tde_rename_key('x', '$long'); SELECT tde_rotate_key('$long')}), "\n2", 'a long one');
lines_of($node, q{CREATE ROLE low LOGIN});
fails_with($node, q{SELECT tde_rename_key('visa', 'x')}, { state => '42501' }, 'not everybody may', user => 'low');

# several calls in one statement see each other's changes
lines_of($node, q{SELECT tde_create_key('pa'), tde_create_key('pb')});
fails_with($node, q{SELECT tde_rename_key(k, 'same') FROM (VALUES ('pa'), ('pb')) v(k)}, { state => '42710' }, 'two keys, one name');
is(attempt($node, q{SELECT tde_rename_key('pa', 'pa1'), tde_rename_key('pa1', 'pa2')})->{state}, '', 'one key renamed twice');
is(attempt($node, 'SELECT tde_rotate_master_key(), tde_rotate_master_key()')->{state}, '', 'two rotations of the master key');
fails_with($node, q{SELECT tde_destroy_key('pb', 'destroy pb') FROM generate_series(1, 2)}, { state => '42704', message => qr/^key "pb" does not exist$/ }, 'a key destroyed twice');

# ---- indexes that a DBA has made ----

lines_of($node, 'CREATE INDEX odd ON tde.data_keys (lower(name))');
my $odd = { state => '55000', message => qr/^cannot change table "tde.data_keys" because of index "odd"$/, hint => qr/^Drop the index\.$/ };
fails_with($node, $_, $odd, "an index of an expression: $_") foreach q{SELECT tde_create_key('odd')}, 'SELECT tde_rotate_master_key()', q{SELECT tde_rename_key('pb', 'odd')};
lines_of($node, 'DROP INDEX tde.odd; CREATE INDEX odd ON tde.data_keys (name) WHERE slot > 0');
fails_with($node, q{SELECT tde_create_key('odd')}, $odd, 'a partial index');
lines_of($node, 'DROP INDEX tde.odd; CREATE INDEX odd ON tde.data_keys USING hash (name); CREATE INDEX odd2 ON tde.data_keys (name)');
is(attempt($node, q{SELECT tde_create_key('Ab'), tde_create_key('a-b'), tde_create_key('A-b')})->{state}, '', 'others are none to search by');
fails_with($node, qq{SELECT tde_create_key('$_')}, { state => '42710' }, "\"$_\" is there") foreach 'Ab', 'a-b', 'A-b';
lines_of($node, 'DROP INDEX tde.odd, tde.odd2, tde.data_keys_name_idx');
fails_with($node, q{SELECT tde_create_key('Ab')}, { state => '42710' }, 'without an index');
lines_of($node, 'CREATE INDEX data_keys_name_idx ON tde.data_keys (name COLLATE "C")');

# ---- a lock on the table ----

# A comparison that needs a key holds a page of the index: it must not wait there.
lines_of($node, q{CREATE TABLE indexed (a encrypted_int4); INSERT INTO indexed SELECT generate_series(1, 20); SELECT tde_rotate_key();
INSERT INTO indexed SELECT generate_series(21, 40); CREATE INDEX ON indexed (a)});
my $locker = session($node);
session_try($locker, 'BEGIN; LOCK TABLE tde.data_keys IN ACCESS EXCLUSIVE MODE');
my $blocked = attempt($node, q{SET statement_timeout = '2s'; SET enable_seqscan = off; SELECT count(*) FROM indexed WHERE a = 33});
like($blocked->{state}, qr/^(55P03|57014)$/, 'a search of an index does not wait for the table of keys without end') or diag($blocked->{err});
session_try($locker, 'ROLLBACK');
$locker->quit;
is(lines_of($node, q{SET enable_seqscan = off; SELECT count(*) FROM indexed WHERE a = 33}), 1, 'when it is free, the value is found');

# ---- who edits files ----

# a version that is in use now, put back to an older one
edit_keys($node, q{UPDATE tde.data_keys SET state = 'r' WHERE slot = 1 AND version = 2});
fails_with($node, q{INSERT INTO card VALUES (3, '4113', 'third')}, { state => 'TDE04', message => qr/^could not unwrap data key \d+$/ }, 'the newest version says that it is imported');
is(lines_of($node, q{SELECT number FROM card WHERE id = 1}), '4111', 'what is under others can be read');
edit_keys($node, q{UPDATE tde.data_keys SET state = 'a' WHERE slot = 1 AND version = 2});
is(lines_of($node, q{INSERT INTO card VALUES (3, '4113', 'third') RETURNING number}), '4113', 'put right, it is for new values');
edit_keys($node, q{UPDATE tde.data_keys SET state = 'd' WHERE slot = 1 AND version = 2});
fails_with($node, q{INSERT INTO card VALUES (4, '4114', 'fourth')}, { state => 'TDE03', message => qr/^the data key of slot 1 was destroyed$/ }, 'it says that it was destroyed');
edit_keys($node, q{UPDATE tde.data_keys SET state = 'a' WHERE slot = 1 AND version = 2});

# ---- thousands of keys ----

# How many pages of the table of keys a session reads for this.
my $read_so_far = q{SELECT heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0) FROM pg_statio_all_tables WHERE relid = 'tde.data_keys'::regclass};
my $reads = sub {
  my $before = lines_of($node, $read_so_far);
  lines_of($node, "$_[0]\nSELECT pg_stat_force_next_flush()");
  return lines_of($node, $read_so_far) - $before;
};
my $undone = q{DO $$ BEGIN FOR i IN 1 .. 300 LOOP
  BEGIN INSERT INTO card VALUES (-1, 'x', 'y'); RAISE 'back'; EXCEPTION WHEN raise_exception THEN NULL; END; INSERT INTO card VALUES (1000 + i, 'x', 'y');
  DELETE FROM card WHERE id > 1000; END LOOP; END $$;};
my $make = sub { "DO \$\$ BEGIN FOR i IN 1 .. $_[0] LOOP PERFORM tde_create_key('$_[1]' || i); END LOOP; END \$\$;" };
my ($few_undone, $few_made) = map { $reads->($_) } $undone, $make->(200, 'few');
$reads->($make->(3000, 'many'));
my ($many_undone, $many_made) = map { $reads->($_) } $undone, $make->(200, 'last');
note("pages read by 300 that are rolled back: $few_undone with few keys, $many_undone with 3,200; by 200 keys that are made: $few_made, $many_made");
cmp_ok($many_undone, '<', 2 * $few_undone + 100, 'a rollback does not read all keys');
cmp_ok($many_made, '<', 2 * $few_made + 100, 'a key is made as fast as the first ones');
is(lines_of($node, q{SELECT tde_create_key('one of many')}), lines_of($node, 'SELECT max(slot) FROM tde.keys'), 'in a slot of its own');

$node->stop;
done_testing();
