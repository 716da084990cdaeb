# What a superuser's views, policies and indexes name is the same after a conversion of somebody's column as before.
#
# A conversion prints what depends on the column and reads it again.  In between, whoever owns a schema can put something of his own in the
# place of a superuser's: drop that and take its name, give the schema's name to another one, or have a function that fits the column's new
# type better.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('rebound', extension => 1, conf => "tde_column.passphrase_command = 'echo rebound-passphrase'\nfsync = off\nlog_error_verbosity = terse\n");
$node->start;
my $me = lines_of($node, 'SELECT current_user');
lines_of($node, q(SELECT tde_wallet_create('rebound-passphrase'); CREATE ROLE mallory LOGIN; GRANT CREATE ON DATABASE postgres TO mallory));
forget();

sub forget
{
  lines_of($node, join ';', 'DROP SCHEMA IF EXISTS moved, boss CASCADE', 'CREATE SCHEMA boss; GRANT USAGE ON SCHEMA boss TO mallory',
    map { "DROP SCHEMA IF EXISTS $_ CASCADE; CREATE SCHEMA $_ AUTHORIZATION mallory" } qw(mal mal2 mal3));
}

# Mallory's table, whose CHECK does something as soon as it is evaluated for an encrypted value.
sub table_that
{
  my ($does) = @_;
  my $sql = q(CREATE FUNCTION mal.deed(what text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN IF current_setting('mal.armed', true) = 'on' THEN ) . $does . q( END IF; RETURN true; END $$;
  CREATE TABLE mal.t (id int, a text CHECK (mal.deed(a))); INSERT INTO mal.t VALUES (1, 'x'));
  is(attempt($node, $sql, user => 'mallory')->{state}, '', 'mallory has a table');
}

my $spy = q( RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE LOG ''TRAP ran as %'', current_user; RETURN ''trapped''; END');
my $good = q( RETURNS text LANGUAGE sql AS $$SELECT 'good'$$);
my $armed = q(SET mal.armed = 'on'; );
my $offset = 0;

# The conversion is refused, names what it would call, and changed nothing; or it was made, and the answer is the same.
sub is_refused
{
  my ($name, $convert, $detail, $ask, $answer) = @_;
  $offset = log_offset($node);
  fails_with($node, $convert, { state => '55000', message => qr/^names in what depends on column "\w+" of table \S+ mean something else now$/, detail => $detail, hint => qr/^See who owns/ }, $name);
  is(attempt($node, $ask)->{out}, $answer, "$name: as it was");
  unlike(log_since($node, $offset), qr/TRAP ran as $me/, "$name: nothing of mallory's ran as the superuser");
}

sub is_made
{
  my ($name, $convert, $ask, $answer) = @_;
  is(attempt($node, $convert)->{state}, '', "$name: converted") or diag(attempt($node, $convert)->{err});
  is(attempt($node, $ask)->{out}, $answer, "$name: as it was");
}

# The call waits for a lock of a table while another session does that, and something more, and COMMITs.
sub waits_for
{
  my ($table, $does, $call, $name, $more) = @_;
  my ($other, $caller) = (session($node), session($node));
  $other->query_safe("BEGIN; $does");
  $caller->query_until(qr/calling/, "\\echo calling\n$call;\n");
  ok($node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = '$table'::regclass AND NOT granted)"), "$name: a call waits");
  $more->() if $more;
  $other->query_safe('COMMIT');
  session_try($caller, 'SELECT 1');
  unlike(log_since($node, $offset), qr/TRAP ran as $me/, "$name: nothing of mallory's ran as the superuser");
  $_->quit foreach $other, $caller;
}

my $encrypt = q(CALL tde_encrypt_column('mal.t', 'a'));
my $view = q(CREATE VIEW boss.v AS SELECT id, mal.f(a) AS f FROM mal.t);
my $ask = 'SELECT f FROM boss.v';

#
# In the conversion itself
#
table_that("DROP FUNCTION mal.f(text); CREATE FUNCTION mal.f(text) $spy;");
lines_of($node, "CREATE FUNCTION mal.f(text) $good; $view");
is_refused('a function dropped and made', $armed . $encrypt, qr/function mal\.f\(text\)/, $ask, 'good');
is_made('nothing done', $encrypt, $ask, 'good');
forget();

table_that("ALTER SCHEMA mal2 RENAME TO moved; CREATE SCHEMA mal2; CREATE FUNCTION mal2.f(text) $spy;");
lines_of($node, "CREATE FUNCTION mal2.f(text) $good; CREATE VIEW boss.v AS SELECT mal2.f(a) AS f FROM mal.t");
is_refused('a schema renamed', $armed . $encrypt, qr/^view boss\.v: schema mal2, which was renamed$/m, $ask, 'good');
forget();

# both functions are the superuser's
table_that('ALTER SCHEMA mal3 RENAME TO moved; ALTER SCHEMA mal2 RENAME TO mal3; ALTER SCHEMA moved RENAME TO mal2;');
lines_of($node, "CREATE FUNCTION mal2.f(text) $good; CREATE FUNCTION mal3.f(text) RETURNS text LANGUAGE sql AS \$\$SELECT 'other'\$\$; CREATE VIEW boss.v AS SELECT mal2.f(a) AS f, mal3.f(a) AS g FROM mal.t");
is_refused('schemas exchanged', $armed . $encrypt, qr/^view boss\.v: schema mal2, which was renamed$/m, $ask, 'good');
forget();

table_that('DROP TABLE mal.x; CREATE TABLE mal.x AS SELECT $x$trapped$x$::text AS f;');
lines_of($node, q(CREATE TABLE mal.x AS SELECT 'good'::text AS f; CREATE VIEW boss.v AS SELECT f FROM mal.t, mal.x WHERE a <> ''));
is_refused('a table dropped and made', $armed . $encrypt, qr/^view boss\.v: table mal\.x, of role "mallory"$/m, $ask, 'good');
forget();

# Its policy goes to another table.
table_that('ALTER SCHEMA mal2 RENAME TO moved; CREATE SCHEMA mal2; CREATE TABLE mal2.x (a text);');
lines_of($node, q(CREATE TABLE mal2.x (a text); ALTER TABLE mal2.x ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON mal2.x USING (EXISTS (SELECT FROM mal.t WHERE t.a = x.a))));
is_refused('a table with a policy', $armed . $encrypt, qr/^policy p on table mal2\.x: /m, q(SELECT count(*) FROM pg_policy WHERE polrelid = 'mal2.x'::regclass), '1');
forget();

#
# Made before: it fits better
#
foreach my $online ('false', 'true')
{
  my $convert = "CALL tde_encrypt_column('mal.t', 'a', online => $online)";
  my $finish = q(CALL tde_finish_conversion('mal.t', 'a'));
  table_that('NULL;');
  is(attempt($node, "CREATE FUNCTION mal.f(encrypted_text) $spy", user => 'mallory')->{state}, '', 'mallory has a function of encrypted values');
  lines_of($node, "CREATE FUNCTION mal.f(text) $good; $view");
  is(attempt($node, $convert)->{state}, '', 'begun online') if $online eq 'true';
  is_refused("a function that fits better, online $online", $online eq 'true' ? $finish : $convert, qr/^view boss\.v: function mal\.f\((?:pg_catalog\.)?encrypted_text\), of role "mallory"$/m, $ask, 'good');

  # where a superuser has made it, or the view is his who has, it is meant
  lines_of($node, 'ALTER FUNCTION mal.f(encrypted_text) OWNER TO CURRENT_USER; ALTER VIEW boss.v SET SCHEMA mal; ALTER VIEW mal.v OWNER TO mallory; CREATE VIEW boss.w AS SELECT f, v FROM mal.v');
  is_made("a superuser's function and a view of a view, online $online", $online eq 'true' ? $finish : $convert, 'SELECT f FROM boss.w', 'trapped');
  forget();
}

# Who was called may have another function of that name, which he could give to the first one, too.
table_that('NULL;');
lines_of($node, "CREATE FUNCTION mal.f(text) $good; CREATE FUNCTION mal.f(encrypted_text) RETURNS text LANGUAGE sql AS \$\$SELECT 'encrypted'\$\$; $view");
lines_of($node, "ALTER FUNCTION mal.f($_) OWNER TO mallory") foreach 'text', 'encrypted_text';
is_made("both are mallory's", $encrypt, $ask, 'encrypted');
forget();

# A type of the table's owner comes with the column, and is nobody's doing.
lines_of($node, q(CREATE TYPE mal.color AS ENUM ('red'); ALTER TYPE mal.color OWNER TO mallory; SELECT tde_create_type('mal.color', 'boss')));
is(attempt($node, q(CREATE TABLE mal.t (a mal.color, b mal.color[]); INSERT INTO mal.t VALUES ('red', '{red}')), user => 'mallory')->{state}, '', 'mallory has a type');
lines_of($node, q(CREATE VIEW boss.v AS SELECT a, b FROM mal.t WHERE a IS NOT NULL AND b = b));
foreach my $column ('a', 'b')
{
  is_made("encrypted, $column", "CALL tde_encrypt_column('mal.t', '$column')", 'SELECT * FROM boss.v', 'red|{red}');
  is_made("decrypted, $column", "CALL tde_decrypt_column('mal.t', '$column')", 'SELECT * FROM boss.v', 'red|{red}');
}
forget();

#
# Indexes of a superuser's table that name something in somebody's schema: evaluated as the superuser
#
my $take_name = 'ALTER SCHEMA mal2 RENAME TO moved; CREATE SCHEMA mal2; CREATE FUNCTION mal2.g(text, text) ' . ($spy =~ s/text LANGUAGE plpgsql/boolean IMMUTABLE LANGUAGE plpgsql/r =~ s/trapped/true/r) .
  '; CREATE OPERATOR mal2.=== (FUNCTION = mal2.g, LEFTARG = text, RIGHTARG = text)';
my $same = q(CREATE FUNCTION boss.same(text, text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 = $2'; CREATE OPERATOR mal2.=== (FUNCTION = boss.same, LEFTARG = text, RIGHTARG = text));

lines_of($node, "$same; CREATE TABLE boss.t (a text, b text); INSERT INTO boss.t VALUES ('x', 'y'); CREATE INDEX i ON boss.t (a, (b OPERATOR(mal2.===) 'z'))");
is(attempt($node, q(CALL tde_encrypt_column('boss.t', 'a', online => true)))->{state}, '', 'begun online');
my $commands = attempt($node, q(SELECT tde_conversion_indexes('boss.t', 'a')))->{out};
is(attempt($node, $take_name, user => 'mallory')->{state}, '', 'mallory changes what the commands mean');
is(attempt($node, $commands)->{state}, '', 'they are run');
fails_with($node, q(CALL tde_finish_conversion('boss.t', 'a')), { state => '55000', detail => qr/^index boss\.i: operator mal2\.===\(text,text\), of role "mallory"$/m }, 'an index, online');
forget();

lines_of($node, "$same; CREATE TABLE boss.t (a text PRIMARY KEY, b text); INSERT INTO boss.t VALUES ('x', 'y'); CREATE INDEX i ON boss.t ((a IS NULL OR b OPERATOR(mal2.===) 'z')); CREATE TABLE boss.x (a text REFERENCES boss.t)");
$offset = log_offset($node);
waits_for('boss.x', 'LOCK TABLE boss.x IN ACCESS SHARE MODE', q(CALL tde_encrypt_column('boss.t', 'a', 'aes256,nosalt')), 'an index, offline', sub { is(attempt($node, $take_name, user => 'mallory')->{state}, '', 'mallory takes a name') });
like(log_since($node, $offset), qr/ERROR:  names in what depends on column "a" of table boss\.t mean something else now$/m, 'an index, offline: refused');
forget();

# A type in statistics, which are read again as well.
is(attempt($node, "CREATE FUNCTION mal.spy(what text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE LOG ''TRAP ran as %'', current_user; RETURN true; END'; CREATE DOMAIN mal.dom AS text CHECK (mal.spy(value)); GRANT USAGE ON SCHEMA mal TO PUBLIC", user => 'mallory')->{state}, '', 'mallory has a domain');
lines_of($node, q(CREATE TABLE boss.t (a text, b text); CREATE STATISTICS boss.s ON a, (b = ANY ('{x}'::mal.dom[])) FROM boss.t));
$offset = log_offset($node);
fails_with($node, "CALL tde_encrypt_column('boss.t', 'a', online => $_)", { state => '2BP01', detail => qr/^statistics object boss\.s, with a constant of type mal\.dom\[\]/ }, "statistics, online $_") foreach 'false', 'true';
unlike(log_since($node, $offset), qr/TRAP ran as $me/, "statistics: nothing of mallory's ran as the superuser");
forget();

#
# The rights are those that there are under the lock
#
lines_of($node, q(CREATE TABLE boss.parent (a text); CREATE TABLE boss.child () INHERITS (boss.parent); INSERT INTO boss.child VALUES ('x'); ALTER TABLE boss.child OWNER TO mallory));
is(attempt($node, "CREATE FUNCTION mal.spy(what text) $spy; ALTER TABLE boss.child ADD CHECK (mal.spy(a) <> '')", user => 'mallory')->{state}, '', 'mallory has a child');
lines_of($node, 'ALTER TABLE boss.child OWNER TO CURRENT_USER');
$offset = log_offset($node);
waits_for('boss.child', 'ALTER TABLE boss.child OWNER TO mallory', q(CALL tde_encrypt_column('boss.parent', 'a')), 'a child that was given away');
like(log_since($node, $offset), qr/ERROR:  owners lack privileges/, '... refused');
is(lines_of($node, q(SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'boss.parent'::regclass AND attname = 'a')), 'text', '... and as it was');

$node->stop;
done_testing();
