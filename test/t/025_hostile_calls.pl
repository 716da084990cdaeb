# What an ordinary role gets by calling functions that everybody may execute as nobody means them to be called: errors, and
# nothing else.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('hostile', extension => 1, conf => "tde_column.passphrase_command = 'echo hostile-passphrase'\n");
$node->start;
lines_of($node, q(
SELECT tde_wallet_create('hostile-passphrase');
CREATE ROLE low LOGIN; CREATE ROLE owner LOGIN; CREATE ROLE reader; GRANT CREATE ON SCHEMA public TO owner, low;
GRANT CREATE ON DATABASE postgres TO owner; GRANT reader TO owner;
CREATE TABLE somebodys (a int)));

sub low       { return attempt($node, $_[0], user => 'low'); }
sub low_fails { my ($sql, $expected, $name) = @_; return fails_with($node, $sql, $expected, $name, user => 'low'); }
sub owner_ok { my ($sql, $name) = @_; my $got = attempt($node, $sql, user => 'owner'); is($got->{state}, '', $name) or diag($got->{err}); return $got; }
sub owner_fails { my ($sql, $expected, $name) = @_; return fails_with($node, $sql, $expected, $name, user => 'owner'); }

# ---- wiping ----

my $sizes = q{SELECT string_agg(pg_relation_size(c) || '', ' ') FROM unnest('{pg_class,pg_authid,pg_statistic,pg_attribute,pg_attrdef}'::regclass[]) c};
my $before = lines_of($node, $sizes);
foreach my $range ('-1, 1', '-2, 1', '-1, 3', '4294967295, 1', '-9223372036854775808, 1', '9223372036854775807, 1', '0, -1')
{
  low_fails("SELECT tde_internal.tde_wipe_blocks('pg_attrdef', $range, '1')", { state => '22023' }, "wiping blocks $range");
}
is(low("SELECT tde_internal.tde_wipe_blocks('pg_attrdef', $_, '1')")->{state}, '', "wiping blocks $_")
  foreach '4294967294, 9223372036854775807', '0, 9223372036854775807', '1, 0';
foreach my $catalog ('pg_class', 'pg_authid', 'pg_proc', 'pg_toast.pg_toast_1255', 'tde.data_keys', 'somebodys')
{
  low_fails("SELECT tde_internal.tde_wipe_blocks('$catalog', $_, 1, '1')", { state => '42501' }, "wiping $catalog from $_ on") foreach -1, 0;
}
is(low("SELECT tde_internal.tde_wipe_blocks($_, 0, 1000, '1')")->{state}, '', "everybody may wipe $_")
  foreach "'pg_statistic'", "'pg_statistic_ext_data'", "'pg_attribute'", "'pg_attrdef'",
  "(SELECT reltoastrelid FROM pg_class WHERE oid = 'pg_statistic'::regclass)";
low_fails("SELECT tde_internal.tde_wipe_blocks($_, 0, 1, '1')", { state => '42P01', message => qr/relation with OID $_ does not exist/ },
  "wiping relation $_")
  foreach 0, 4294967295;
low_fails("BEGIN READ ONLY; SELECT tde_internal.tde_wipe_blocks('pg_statistic', 0, 1, '1')", { state => '25006' }, 'wiping in a read-only transaction');
is(lines_of($node, $sizes), $before, 'no catalog has grown');
is(low('CALL tde_wipe_catalogs()')->{state}, '', 'everybody may wipe what his columns have left in the catalogs');

# ---- a conversion's own functions ----

owner_ok(q(
CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1), (99);
CREATE TABLE child (id int, fk int REFERENCES parent, src encrypted_int4, more encrypted_int4, g int GENERATED ALWAYS AS (id + 1) STORED);
INSERT INTO child VALUES (1, NULL, 98, 5), (2, NULL, 99, 6);
GRANT ALL ON child TO low), 'tables');
my $rows = "SELECT string_agg(concat_ws('|', id, fk, src, more, g), ' ' ORDER BY id) FROM child";
my $as_made = lines_of($node, $rows);
owner_fails("CALL tde_internal.tde_convert_all_rows('child', $_, 100, 0)",
  { state => '55000', message => qr/is not being converted/ }, "converting from and to $_")
  foreach "'src', 'fk'", "NULL, 'g'", "NULL, 'fk'", "'id', 'id'", "'id', 'src'";
owner_fails("CALL tde_internal.tde_convert_all_rows($_, 'src', 'fk', 100, 0)", { state => '42P01' }, "converting in relation $_")
  foreach 0, 4294967295;

# Whoever may make triggers on a table must not be able to have values decrypted.
foreach my $trigger (
  "zz BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'src', 'fk')",
  "zz BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('erase', 'src', 'fk')",
  "zz BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'src')",
  "zz BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger()",
  qq("~tde_convert_3" BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'src', 'fk')),
  qq("~tde_convert_3" BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('erase', 'src', 'fk')),
  qq("~tde_convert_3" AFTER UPDATE ON child FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'src', 'fk')),
  qq("~tde_convert_3" BEFORE UPDATE ON child FOR EACH STATEMENT EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'src', 'fk')))
{
  low_fails("BEGIN; CREATE TRIGGER $trigger; UPDATE child SET id = id", { state => '39P01', message => qr/can only be called as the trigger/ },
    "trigger $trigger");
}
is(lines_of($node, $rows), $as_made, 'nothing has changed');

# The same while a conversion is under way, which has a column of its name.
owner_ok("CALL tde_decrypt_column('child', 'src', online => true)", 'a conversion begins');
is(lines_of($node, 'SELECT string_agg(concat(src, tde_convert_3), $$ $$ ORDER BY id) FROM child'), '9898 9999', 'and has made its copy');
owner_fails("CALL tde_internal.tde_convert_all_rows('child', $_, 100, 0)",
  { state => '55000', message => qr/is not being converted/ }, "converting from and to $_ beside it")
  foreach "'src', 'fk'", "'more', 'tde_convert_3'", "'tde_convert_3', 'src'", "NULL, 'tde_convert_3'", "NULL, 'src'";
owner_ok("CALL tde_internal.tde_convert_all_rows('child', 'src', 'tde_convert_3', 100, 0)", 'what the procedure does');
owner_ok("CALL tde_internal.tde_convert_all_rows('child', 'src', 'tde_convert_3', $_)", "batches of $_")
  foreach '0, 0', '-1, -1', q(-2147483648, 'NaN'), q(2147483647, 'Infinity'), q(1, '-Infinity');
owner_fails("SET default_transaction_read_only = on; CALL tde_internal.tde_convert_all_rows('child', 'src', 'tde_convert_3', 100, 0)", { state => '25006' },
  'in a read-only transaction');
owner_fails("BEGIN; CALL tde_internal.tde_convert_all_rows('child', 'src', 'tde_convert_3', 100, 0)", { state => '25001' }, 'in a transaction block');
low_fails(qq(BEGIN; CREATE TRIGGER "~tde_convert_03" BEFORE UPDATE ON child FOR EACH ROW
  EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'more', 'tde_convert_3'); UPDATE child SET id = id),
  { state => '39P01' }, 'another trigger that decrypts into the copy');
low_fails(qq(CREATE TRIGGER "~tde_convert_3" BEFORE UPDATE ON child FOR EACH ROW
  EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'more', 'tde_convert_3')), { state => '42710' }, 'and one of the same name');

# A foreign key of the copy is kept, by a batch as by anybody.
owner_ok('UPDATE child SET tde_convert_3 = NULL; ALTER TABLE child DISABLE TRIGGER "~tde_convert_3"; UPDATE child SET tde_convert_3 = NULL; ALTER TABLE child ENABLE ALWAYS TRIGGER "~tde_convert_3"', 'copies are taken away');
owner_ok('ALTER TABLE child ADD CONSTRAINT key FOREIGN KEY (tde_convert_3) REFERENCES parent', 'and a foreign key is added');
owner_fails("CALL tde_internal.tde_convert_all_rows('child', 'src', 'tde_convert_3', 100, 0)",
  { state => '23503', message => qr/violates foreign key constraint "key"/ }, 'a copy that the foreign key forbids');
owner_ok('ALTER TABLE child ALTER CONSTRAINT key DEFERRABLE INITIALLY DEFERRED', 'one that is looked at when the transaction ends');
owner_fails("CALL tde_internal.tde_convert_all_rows('child', 'src', 'tde_convert_3', 100, 0)", { state => '23503' }, 'the same');
owner_ok('UPDATE child SET src = 99 WHERE id = 1', 'allowed');
owner_ok("CALL tde_internal.tde_convert_all_rows('child', 'src', 'tde_convert_3', 100, 0)", 'and one that it allows');
is(lines_of($node, 'SELECT string_agg(tde_convert_3::text, $$ $$ ORDER BY id) FROM child'), '99 99', 'is made');
owner_ok('ALTER TABLE child DROP CONSTRAINT key', 'the foreign key goes');
owner_ok("CALL tde_abort_conversion('child', 'src')", 'the conversion can be given up');
is(lines_of($node, 'SELECT count(*) FROM tde.conversions'), 0, 'and is over');

# ---- numbers that are nobody's ----

low_fails("SELECT tde_internal.tde_typmod_in('{aes256}', $_, '00000000-0000-0000-0000-000000000000')",
  { state => '42704', message => qr/type with OID $_ does not exist/ }, "modifiers of type $_")
  foreach 0, 4294967295;
low_fails("SELECT tde_internal.encrypted_bool_in('true', $_, -1)", { state => '42704', message => qr/type with OID $_ does not exist/ }, "a value of type $_")
  foreach 0, 4294967295;
low_fails("SELECT tde_internal.encrypted_bool_in('true', 'int4'::regtype, -1)", { state => '42809', message => qr/type integer is not an encrypted type/ },
  'a value of another type');
low_fails('SELECT tde_internal.encrypted_interval_typmod_out(889192447)', { state => '22023', message => qr/invalid type modifier 889192447/ },
  'a modifier that interval cannot have');
low_fails("SELECT tde_internal.encrypted_interval_in('1 day', 'encrypted_interval'::regtype, 889192447)", { state => '22023' }, 'and a value with it');
fails_with($node, 'SELECT tde_create_type(0::regtype)', { state => '42704', message => qr/type with OID 0 does not exist/ }, 'an encrypted version of type 0');

# ---- a table that is not the extension's ----

lines_of($node, "CREATE TABLE kept (a encrypted_text); INSERT INTO kept VALUES ('kept'); ALTER EXTENSION tde_column DROP TABLE tde.data_keys");
fails_with($node, $_, { state => '42704', message => qr/^extension "tde_column" is not installed in this database$/ }, "keys of somebody's table: $_")
  foreach 'SELECT a FROM kept', "SELECT tde_create_key('new')", "INSERT INTO kept VALUES ('new')";
lines_of($node, 'ALTER EXTENSION tde_column ADD TABLE tde.data_keys');
is(lines_of($node, 'SELECT a FROM kept'), 'kept', '... until it is the extension\'s again');

$node->stop;
done_testing();
