# tde_column.decrypt_role where pgTAP does not reach: dumps, the end of a transaction, and clients that set it themselves, with and
# without the library in shared_preload_libraries.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('roles', extension => 1);
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('x-passphrase');
CREATE ROLE may_see;
CREATE ROLE writer LOGIN;
CREATE ROLE reader LOGIN IN ROLE may_see;
CREATE TABLE card (id int, pan encrypted_text(nosalt) PRIMARY KEY);
CREATE TABLE payment (pan encrypted_text REFERENCES card DEFERRABLE INITIALLY DEFERRED);
INSERT INTO card VALUES (1, '4111');
GRANT SELECT, INSERT, UPDATE ON card, payment TO writer, reader;
ALTER DATABASE postgres SET tde_column.decrypt_role = 'may_see';
ALTER ROLE writer SET tde_column.decrypt_policy = mask;
});

# What a role's client gets: its SQL, and options that it connects with.
sub as_role
{
  my ($role, $sql, $options) = @_;
  local $ENV{PGOPTIONS} = $options // '';
  return attempt($node, $sql, user => $role);
}

my $refused = qr/^permission denied to decrypt values of type/;

is(as_role('writer', 'SELECT pan FROM card')->{out}, '****', 'the policy is for the results of a client');
is(as_role('reader', 'SELECT pan FROM card')->{out}, '4111', 'members see the values');

# auto_explain prints plans when a statement ends, with the values of a function's variables.

lines_of(
  $node, q{
CREATE FUNCTION found(id int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  wanted encrypted_text := (SELECT c.pan FROM card c WHERE c.id = $1);
BEGIN
  RETURN (SELECT count(*) FROM card c WHERE c.pan = wanted);
END $$;
CREATE FUNCTION pay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM found(new.id);
  RETURN new;
END $$;
CREATE TRIGGER pay BEFORE UPDATE ON card FOR EACH ROW EXECUTE FUNCTION pay()});
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'tde_column,auto_explain'
tde_column.passphrase_command = 'echo x-passphrase'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_verbose = on
});
$node->restart;
my $since = log_offset($node);
foreach my $case ([ 'SELECT found(1)', '1' ], [ "UPDATE card SET pan = '4112'; UPDATE card SET pan = '4111'", '' ])
{
  my ($sql, $expected) = @$case;
  my $got = as_role('writer', $sql);
  is($got->{state}, '',        "a plan does not make a statement fail: $sql") or diag($got->{err});
  is($got->{out},   $expected, 'nor does it change what it does');
}
like(log_since($node, $since), qr/\(c\.pan = '\*\*\*\*'/, 'the plan has no value that the role may not see');
as_role('reader', 'SELECT found(1)');
like(log_since($node, $since), qr/\(c\.pan = '4111'/, 'and one that it may');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'tde_column'\n");
$node->restart;

# Dumps have all, or an error.

sub dump_as
{
  my ($role, @options) = @_;
  my ($out, $err) = ('', '');
  my $ok = IPC::Run::run [ 'pg_dump', '-a', '-t', 'card', '-U', $role, @options, $node->connstr('postgres') ], '>', \$out, '2>', \$err;
  return ($ok, $out, $err);
}

foreach my $options ([], ['--inserts'])
{
  my ($ok, $out, $err) = dump_as('writer', @$options);
  ok(!$ok, "pg_dump @$options fails");
  like($err, qr/permission denied to decrypt/, 'because of the restriction');
  unlike($out, qr/\*\*\*\*/, 'and has no masks');
  ($ok, $out, $err) = dump_as('reader', @$options);
  ok($ok, "a member's pg_dump @$options does not") or diag($err);
  like($out, qr/4111/, 'and has the values');
}

# A deferred constraint is checked where no statement is running.

my $late = as_role('writer', "BEGIN; INSERT INTO payment VALUES ('5500'); COMMIT");
is($late->{state}, '42501', 'a violation of a deferred constraint is an error, which quotes nothing');
unlike($late->{err}, qr/5500/, 'no value in it');

# A client cannot set it.

my $connection = as_role('writer', 'SELECT 1', '-c tde_column.decrypt_role=');
like($connection->{err}, qr/permission denied to set parameter "tde_column\.decrypt_role"/, 'a client cannot connect with its own setting');
is(as_role('writer', "SET tde_column.decrypt_role = ''")->{state}, '42501', 'nor set it later');
is(as_role('writer', "RESET ALL; SET ROLE none; DISCARD ALL; SELECT lower(pan) FROM card")->{state}, '42501', 'nor reset it');

# Without shared_preload_libraries it can, but to no avail.

set_conf($node, 'tde_column.passphrase_command' => 'echo x-passphrase');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
is(as_role('reader', 'SELECT pan FROM card')->{out}, '4111', 'without preload: members see the values');
like(as_role('writer', 'SELECT pan FROM card')->{message}, $refused, 'others do not');
foreach my $case (
  [ "SET tde_column.decrypt_role = ''; SELECT pan FROM card",           '' ],
  [ "BEGIN; SET LOCAL tde_column.decrypt_role = ''; SELECT pan FROM card", '' ],
  [ "SELECT pan FROM card",                                             '-c tde_column.decrypt_role=' ],
  [ "SELECT pan FROM card",                                             '-c tde_column.decrypt_role=writer' ],
  [ "SELECT 'x'::encrypted_text; RESET ALL; SELECT pan FROM card",      '-c tde_column.decrypt_role=' ],
  [ "SET " . parallel_setting($node) . " = on; SELECT max(lower(pan)) FROM card", '-c tde_column.decrypt_role=' ])
{
  my ($sql, $options) = @$case;
  like(as_role('writer', $sql, $options)->{message}, $refused, "$options $sql");
}
is(as_role(scalar getpwuid($<), 'SELECT pan FROM card', '-c tde_column.decrypt_role=writer')->{out}, '4111', 'a superuser can set it');

$node->stop;
done_testing();
