# No hint and no mistake loses the master keys: the wallet file is removed, replaced by an older one or by another server's, or its path is
# mistyped, while the wallet is open; what errors say then is done, and everything can be read.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $pass = 'kept-passphrase';
my $node = tde_node('kept', extension => 1);
my $path = wallet_path($node);
$node->start;
lines_of(
  $node, qq{
SELECT tde_wallet_create('$pass');
CREATE TABLE card (id int PRIMARY KEY, number encrypted_text);
INSERT INTO card SELECT i, 'number ' || i FROM generate_series(1, 20) i;
CREATE ROLE keeper LOGIN;
GRANT EXECUTE ON FUNCTION tde_wallet_save TO keeper});
my $bytes   = read_bytes($path);
my $facts   = "SELECT status, file_state, coalesce(array_length(lacks, 1), 0) FROM tde.wallet";
my $numbers = sub { return lines_of($node, 'SELECT count(number::text) FROM card'); };

# Everything can be read now, and after a restart.
sub nothing_is_lost
{
  my ($name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($numbers->(), 20, "$name: values can be read");
  $node->restart;
  lines_of($node, "SELECT tde_wallet_open('$pass')");
  is($numbers->(), 20, 'after a restart, too');
  is(lines_of($node, $facts), 'OPEN|open|0', 'and the file is the one that is open');
  return;
}
is(lines_of($node, $facts), 'OPEN|open|0', 'the file is the one that is open');

# ---- the file is removed ----

unlink $path;
is(lines_of($node, $facts), 'OPEN|missing|0', 'removed: the view tells');
fails_with($node, "SELECT tde_wallet_create('$pass')", { state => '55000', message => qr/^a wallet is open already$/, hint => qr/^tde_wallet_save\(\) writes the open wallet/ },
  'removed: no new wallet');
my $got = fails_with($node, "SELECT tde_wallet_open('$pass')", { state => 'TDE02', hint => qr/tde_wallet_save\(\) writes it/ }, 'removed: open');
unlike($got->{hint}, qr/create/, 'no hint says create');
isnt(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'removed: no rotation');
is($numbers->(), 20, 'and nothing is lost');
is(lines_of($node, 'SELECT tde_wallet_save()'), $path, 'the open wallet is written');
is((stat $path)[2] & 07777, 0600, 'for nobody else');
is(lines_of($node, $facts), 'OPEN|open|0', 'it is the one that is open');
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'and can be changed again');
nothing_is_lost('saved');

# ---- another name for it, mistyped ----

set_conf($node, 'tde_column.wallet_file' => "$path.typo");
fails_with($node, "SELECT tde_wallet_create('$pass')", { state => '55000' }, 'a path that was mistyped: no new wallet');
is(lines_of($node, $facts), 'OPEN|missing|0', 'the view tells');
set_conf($node, 'tde_column.wallet_file' => $path);
nothing_is_lost('the right path again');

# ---- the wallet is closed, and its file not there ----

lines_of($node, 'SELECT tde_wallet_close()');
rename $path, "$path.away";
is(lines_of($node, $facts), 'CLOSED|missing|0', 'closed: the view tells');
fails_with(
  $node,
  "SELECT tde_wallet_create('$pass')",
  {
    state   => '55000',
    message => qr/^this server has data keys wrapped by another wallet$/,
    detail  => qr/^database "postgres": 3 data keys$/,
    hint    => qr/^Put that wallet back at tde_column.wallet_file, from its backup.*confirm => 'lose 3 data keys'/
  },
  'closed: no new wallet where data keys are');
lines_of($node, 'CREATE DATABASE empty');
lines_of($node, 'CREATE EXTENSION tde_column', db => 'empty');
fails_with($node, "SELECT tde_wallet_create('$pass')", { state => '55000', detail => qr/^database "postgres": 3 data keys$/ }, 'nor from a database that has none', db => 'empty');
fails_with($node, "SELECT tde_wallet_create('$pass', 'lose 2 data keys')", { state => '55000' }, 'nor for a loss that is not the one');
my $began = time;
fails_with(
  $node,
  "BEGIN; ALTER DATABASE empty RENAME TO other; SELECT tde_wallet_create('$pass')",
  { state => '55000', detail => qr/database "other" could not be looked at/, hint => qr/'lose 3 data keys and those of 1 database'/ },
  'a database that is locked, by the session itself');
cmp_ok(time - $began, '<', 60, 'is not waited for');
my $maker = session($node, db => 'empty');
session_try($maker, 'BEGIN; LOCK TABLE tde.data_keys IN SHARE ROW EXCLUSIVE MODE');
fails_with($node, "SELECT tde_wallet_create('$pass')", { state => '55000', detail => qr/^database "postgres": 3 data keys$/ }, 'nor is who makes keys elsewhere');
$maker->quit;
ok(!-e $path, 'there is none');
rename "$path.away", $path;
lines_of($node, "SELECT tde_wallet_open('$pass')");
nothing_is_lost('the file is back');

# ---- an older one, and another server's ----

my $newest = read_bytes($path);
lines_of($node, 'SELECT tde_rotate_master_key()');
my $current = read_bytes($path);
write_bytes($path, $newest);
is(lines_of($node, $facts), 'OPEN|changed|0', 'an older file: the view tells');
fails_with($node, "SELECT tde_wallet_open('$pass')", { state => 'TDE02', message => qr/lacks 1 master key that is open$/, hint => qr/tde_wallet_save\(\).*'forget 1 master key'/ },
  'an older file is not opened');
is($numbers->(), 20, 'nothing is lost');
unlink $path;
lines_of($node, 'SELECT tde_wallet_save()');
nothing_is_lost('the open wallet written in its place');
foreign_wallet($path, $pass);
fails_with($node, "SELECT tde_wallet_open('$pass')", { state => 'TDE02', message => qr/lacks \d master keys that are open$/ }, 'nor is another server\'s');
unlink $path;
lines_of($node, 'SELECT tde_wallet_save()');
nothing_is_lost('nor by another server\'s');

# ---- copies ----

my $copy = dirname($path) . '/copy.p12';
is(lines_of($node, "SELECT tde_wallet_save('$copy')"), $copy, 'a copy');
is(lines_of($node, $facts), 'OPEN|open|0', 'the configured file stays the one that is open');
fails_with($node, "SELECT tde_wallet_save('$copy')", { state => '58P02' }, 'it replaces nothing');
fails_with($node, 'SELECT tde_wallet_save()', { state => '58P02' }, 'nor does the other form');
fails_with($node, "SELECT tde_wallet_save('$path')", { state => '58P02' }, 'nor the name of the wallet file');
fails_with($node, "SELECT tde_wallet_save('relative')", { state => '42602', message => qr/^path "relative" is not absolute$/ }, 'a relative path');
fails_with($node, "SELECT tde_wallet_save('$copy.2')", { state => '42501', hint => qr/pg_write_server_files/ }, 'a file of one\'s choice', user => 'keeper');
ok(!-e "$copy.2", 'is not for who may call the function only');
fails_with($node, 'SELECT tde_wallet_close(); SELECT tde_wallet_save()', { state => 'TDE01' }, 'closed: nothing to save');
rename $copy, $path;
lines_of($node, "SELECT tde_wallet_open('$pass')");
nothing_is_lost('the copy');

# ---- lost for good, but for exported keys ----

my $exported = lines_of($node, q{SELECT tde_export_keys('an export secret')});
lines_of($node, 'SELECT tde_wallet_close()');
unlink $path, "$path.previous";
like(attempt($node, "SELECT tde_wallet_create('$pass', confirm => 'lose 3 data keys')")->{err}, qr/^(?!.*ERROR)/s, 'who insists gets a new wallet');
is(lines_of($node, $facts), 'OPEN|open|1', 'which lacks the master key of this database');
fails_with($node, 'SELECT number FROM card', { state => 'TDE03' }, 'nothing can be read');
fails_with($node, q{INSERT INTO card VALUES (21, 'x')}, { state => 'TDE03' }, 'nor written');
is(lines_of($node, "SELECT tde_import_keys('$exported', 'an export secret')"), 3, 'keys that were exported are wrapped anew');
is(lines_of($node, "SELECT tde_import_keys('$exported', 'an export secret')"), 0, 'once');
nothing_is_lost('with them');
is(lines_of($node, q{INSERT INTO card VALUES (21, 'x') RETURNING number; SELECT string_agg(DISTINCT state, ' ') FROM tde.keys}), "x\nactive", 'they are for new values as before');

$node->stop;
done_testing();
