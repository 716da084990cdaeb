# An online conversion that others disturb: triggers made, replaced or disabled meanwhile, partitions that go and come, columns renamed.  Nobody gets
# the owner's rights by it, no stale copy is swapped in, no value stays in clear, and a message says how to go on.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('disturbed', extension => 1, conf => "tde_column.passphrase_command = 'echo disturbed-passphrase'\nfsync = off\n");
$node->start;
lines_of($node, q(SELECT tde_wallet_create('disturbed-passphrase'); CREATE ROLE app LOGIN; CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO app, mallory));

sub ok_as
{
  my ($user, $sql, $name) = @_;
  my $got = attempt($node, $sql, user => $user);
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($got->{state}, '', $name // $sql) or diag("$sql: $got->{err}");
  return $got;
}
sub app_ok { return ok_as('app', @_); }
sub app_fails { my ($sql, $expected, $name) = @_; return fails_with($node, $sql, $expected, $name, user => 'app'); }

#
# A column that a conversion has left in another table, by LIKE or DETACH, is nobody's decision
#
lines_of($node, q(CREATE TABLE src (id int, a text); INSERT INTO src VALUES (1, 'one'); CALL tde_encrypt_column('src', 'a', online => true);
CREATE TABLE lk (LIKE src INCLUDING ALL); CALL tde_abort_conversion('src', 'a');
CREATE TABLE whole (id int, a text) PARTITION BY RANGE (id); CREATE TABLE whole_1 PARTITION OF whole FOR VALUES FROM (0) TO (100);
CALL tde_encrypt_column('whole', 'a', online => true); ALTER TABLE whole DETACH PARTITION whole_1; CALL tde_abort_conversion('whole', 'a');
GRANT SELECT, INSERT, UPDATE, TRIGGER ON lk, whole_1 TO mallory));
my %refused = (state => '55000', message => qr/^conversion of column "a" of table "\w+" cannot go on$/, detail => qr/^Trigger "~tde_convert_2" is not enabled /);
foreach my $table ('lk', 'whole_1')
{
  foreach my $opener ('', ", 'pg_catalog.pg_read_file(text)'")
  {
    ok_as('mallory', qq(CREATE OR REPLACE TRIGGER "~tde_convert_2" BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'a', 'tde_convert_2'$opener)), "a trigger on $table");
    fails_with($node, "INSERT INTO $table (id, a) VALUES (11, 'PG_VERSION')", { %refused, hint => qr/^CALL tde_abort_conversion\('public\.$table', 'a'\); and begin again\.$/ },
      '... runs nothing as the owner', user => 'mallory');
    fails_with($node, "CALL tde_internal.tde_convert_all_rows('$table', 'a', 'tde_convert_2', 100, 0)", \%refused, '... nor when the owner is taken in');
    fails_with($node, qq(ALTER TABLE $table ENABLE ALWAYS TRIGGER "~tde_convert_2"), { state => '42501' }, '... and is not made the owner\'s', user => 'mallory');
  }
}
lines_of($node, q(DROP TABLE lk, whole, whole_1; GRANT TRIGGER, UPDATE, SELECT ON src TO mallory; CALL tde_encrypt_column('src', 'a', online => true)));
ok_as('mallory', q(CREATE OR REPLACE TRIGGER "~tde_convert_2" BEFORE INSERT OR UPDATE ON src FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'a', 'tde_convert_2', 'pg_catalog.pg_read_file(text)')),
  'a trigger that replaces that of a conversion');
fails_with($node, q(UPDATE src SET a = 'PG_VERSION'), \%refused, '... runs nothing as the owner', user => 'mallory');
lines_of($node, q(CALL tde_abort_conversion('src', 'a'); DROP TABLE src));

# somebody's trigger, of whose table the table of somebody else is a partition
ok_as('mallory', q(CREATE TABLE mine (id int, a text, tde_convert_2 encrypted_text) PARTITION BY RANGE (id);
CREATE TRIGGER "~tde_convert_2" BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'a', 'tde_convert_2', 'pg_catalog.pg_read_file(text)');
ALTER TABLE mine ENABLE ALWAYS TRIGGER "~tde_convert_2"), 'a trigger on a table of one\'s own');
lines_of($node, 'CREATE TABLE theirs PARTITION OF mine FOR VALUES FROM (0) TO (100)');
fails_with($node, q(INSERT INTO mine (id, a) VALUES (11, 'PG_VERSION')), \%refused, '... runs nothing as the owner of a partition', user => 'mallory');
lines_of($node, 'DROP TABLE mine');

$node->stop;
done_testing();
