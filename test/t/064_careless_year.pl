# The year of a careless DBA: wrong moves of all kinds on a server whose wallet is backed up.  After each, either the next command that the
# error's hint names makes every value readable, or the error says what to put back, and no key is lost.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $pass  = 'careless-passphrase';
my $node  = tde_node('careless', extension => 1, conf => "wal_level = replica\nmax_wal_senders = 3\nrestart_after_crash = on\n");
my $path  = wallet_path($node);
my $vault = $node->basedir . '/vault';
my $moves = 0;
my $rows  = 0;
mkdir $vault or die "could not create $vault: $!";
$node->append_conf('postgresql.conf', qq{tde_column.wallet_backup_command = 'cp "%p" "$vault/%f"'\n});
$node->start;
lines_of(
  $node, qq{
SELECT tde_wallet_create('$pass'), tde_create_key('cards'), tde_create_key('shred', erasable => true);
CREATE TABLE card (id int PRIMARY KEY, a encrypted_text, b encrypted_text(nosalt, 'key=cards') UNIQUE, c encrypted_varchar(5000, 'key=shred'), n encrypted_int4(nomac))});
my $older = read_bytes($path);
lines_of($node, 'SELECT tde_rotate_master_key(); SELECT tde_rotate_key(); SELECT tde_rotate_key(\'cards\')');

# The one thing that counts: all values can be read, by an index, too, and new ones written.
sub nothing_is_lost
{
  my ($name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  $rows++;
  my $got = attempt($node, "INSERT INTO card VALUES ($rows, 'a$rows', 'b$rows', 'c$rows', $rows);
    SELECT count(*) FROM card WHERE a::text = 'a' || id AND b::text = 'b' || id AND c::text = 'c' || id AND n = id;
    SET enable_seqscan = off; SELECT a FROM card WHERE b = 'b$rows'");
  is($got->{out}, "$rows\na$rows", "$name: every value is readable") or diag($got->{err});
  $moves++;
  return;
}

sub refused
{
  my ($name, $sql, $expected) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  fails_with($node, $sql, $expected, $name);
  nothing_is_lost($name);
  return;
}

sub reopen  { lines_of($node, "SELECT tde_wallet_open('$pass')"); return; }
sub restart { $node->restart; return; }
sub newest  { my ($file) = reverse sort glob "$vault/*"; return read_bytes($file); }

sub put
{
  my ($bytes) = @_;
  unlink $path;
  write_bytes($path, $bytes);
  chmod 0600, $path;
  return;
}

# Without the file, or with a wrong one, after a restart: the error of opening says what to put back; the newest backup it is.
sub back_from_backup
{
  my ($name, $sql, $expected) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  restart();
  fails_with($node, $sql, $expected, "$name, restarted");
  put(newest());
  reopen();
  nothing_is_lost("$name, restarted: with the backup");
  return;
}
nothing_is_lost('before');
$moves = 0;

# ---- January: the wallet's file ----

my $open = "SELECT tde_wallet_open('$pass')";
unlink $path;
fails_with($node, $open, { state => 'TDE02', hint => qr/^Put the wallet back there, from its backup.*tde_wallet_save\(\) writes it/ }, 'removed');
lines_of($node, 'SELECT tde_wallet_save()');
nothing_is_lost('removed: saved');

unlink $path;
back_from_backup('removed', $open, { state => 'TDE02', hint => qr/^Put the wallet back there, from its backup/ });

put(substr read_bytes($path), 0, 1000);
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02', message => qr/has changed since it was opened/, hint => qr/^Put the right file there/ }, 'truncated');
unlink $path;
lines_of($node, 'SELECT tde_wallet_save()');
nothing_is_lost('truncated: saved');

put(substr read_bytes($path), 0, 1000);
back_from_backup('truncated', $open, { state => 'TDE02', message => qr/wrong passphrase or damaged wallet$/ });

put($older);
fails_with($node, $open, { state => 'TDE02', message => qr/lacks 1 master key that is open$/, hint => qr/^The file is an older one\.  If it is the right one, .*run tde_wallet_close\(\).*Otherwise put the right one there/ }, 'an older file');
unlink $path;
lines_of($node, 'SELECT tde_wallet_save()');
nothing_is_lost('an older file: saved');

put($older);
restart();
reopen();
my $lacks = lines_of($node, 'SELECT lacks[1] FROM tde.wallet');
fails_with($node, 'SELECT a FROM card', { state => 'TDE03', message => qr/^master key \Q$lacks\E is not in the wallet$/ }, 'an older file, restarted');
is(lines_of($node, 'SELECT array_length(lacks, 1) FROM tde.wallet'), '1', 'the view says which key it lacks');
fails_with($node, q{SELECT tde_create_key('stray')}, { state => 'TDE03' }, 'and no key is made under it');
put(newest());
reopen();
nothing_is_lost('an older file, restarted: with the backup');

my $good = read_bytes($path);
foreign_wallet($path, $pass);
fails_with($node, $open, { state => 'TDE02', message => qr/lacks \d+ master keys that are open$/, hint => qr/another server has changed|another server's|has changed the wallet/ }, 'another server\'s file');
put($good);
reopen();
nothing_is_lost('another server\'s file: put back');

foreign_wallet($path, 'foreign-passphrase');
back_from_backup('another server\'s file', $open, { state => 'TDE02', message => qr/wrong passphrase or damaged wallet$/ });

chmod 0644, $path;
restart();
fails_with($node, $open, { state => 'TDE02', message => qr/has group or world access$/, hint => qr/^Run: chmod 600 \Q$path\E$/ }, 'readable by all');
chmod 0600, $path;
reopen();
nothing_is_lost('readable by all: chmod');

# ---- February: settings ----

set_conf($node, 'tde_column.wallet_file' => "$path.typo");
fails_with($node, $open, { state => 'TDE02', message => qr/could not open wallet file "\Q$path\E\.typo"/, hint => qr/set tde_column\.wallet_file to where it is/ }, 'a path with a typo');
nothing_is_lost('a path with a typo: what is open stays open');
restart();
fails_with($node, $open, { state => 'TDE02', hint => qr/set tde_column\.wallet_file to where it is/ }, 'a path with a typo, restarted');
fails_with($node, "SELECT tde_wallet_create('$pass')", { state => '55000', message => qr/^this server has data keys/, hint => qr/^Put that wallet back at tde_column\.wallet_file.*lose \d+ data keys/ },
  'a new wallet at that path');
set_conf($node, 'tde_column.wallet_file' => $path);
reopen();
nothing_is_lost('a path with a typo, restarted: set back');

set_conf($node, 'tde_column.passphrase_command' => 'echo careles-passphrase');
restart();
fails_with($node, 'SELECT a FROM card', { state => 'TDE01', hint => qr/passphrase command did not open it; the server log says why/ }, 'a typo in the passphrase command');
set_conf($node, 'tde_column.passphrase_command' => "echo $pass");
lines_of($node, 'SELECT tde_wallet_open()');
nothing_is_lost('a typo in the passphrase command: mended');
fails_with($node, q{SELECT tde_wallet_change_passphrase('something-else')}, { state => '55000', hint => qr/^Have the command print the new passphrase first/ }, 'a passphrase that the command does not print');
restart();
nothing_is_lost('a passphrase that the command does not print: the next start opens the wallet');
set_conf($node, 'tde_column.passphrase_command' => '');

set_conf($node, 'tde_column.wallet_backup_command' => 'cp "%p" /nowhere/%f');
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02', hint => qr/^Fix the command, and try again/ }, 'a backup command with a typo');
set_conf($node, 'tde_column.wallet_backup_command' => qq{cp "%p" "$vault/%f"});
lines_of($node, 'SELECT tde_rotate_master_key()');
nothing_is_lost('a backup command with a typo: mended');

# ---- March: functions called too fast ----

refused('a new wallet while one is open', "SELECT tde_wallet_create('$pass')", { state => '58P02' });
unlink $path;
refused('a new wallet for a lost file', "SELECT tde_wallet_create('$pass')", { state => '55000', message => qr/^a wallet is open already$/, hint => qr/^tde_wallet_save\(\)/ });
lines_of($node, 'SELECT tde_wallet_save()');
refused('a wrong passphrase', q{SELECT tde_wallet_open('careless')}, { state => 'TDE02', message => qr/wrong passphrase or damaged wallet$/ });
refused('a weak passphrase', q{SELECT tde_wallet_change_passphrase('careless')}, { state => '22023', message => qr/too weak$/ });
lines_of($node, 'SELECT tde_wallet_close()');
fails_with($node, 'SELECT a FROM card', { state => 'TDE01', hint => qr/tde_wallet_open\(\)/ }, 'closed');
reopen();
nothing_is_lost('closed: opened');
refused('destroying without saying so', q{SELECT tde_destroy_key('cards', 'yes')}, { state => '22023', hint => qr/confirm => 'destroy cards'/ });
refused('destroying the default key', q{SELECT tde_destroy_key('default', 'destroy default')}, { state => '22023' });
refused('dropping a version in use', q{INSERT INTO card (id, b) VALUES (-1, 'old'); SELECT tde_rotate_key('cards'); SELECT tde_drop_key_version('cards', 2)}, { state => '2BP01', hint => qr/tde_rekey_table/ });
lines_of($node, 'DELETE FROM card WHERE id = -1');
refused('dropping the active version', q{SELECT tde_drop_key_version('cards', 3)}, { state => '55006', hint => qr/tde_rotate_key/ });
refused('purging the current master key', q{SELECT tde_purge_master_key(id) FROM tde.master_keys WHERE state = 'current'}, { state => '55000', hint => qr/tde_rotate_master_key\(\) retires/ });
refused('purging a master key that an erasable key needs', q{SELECT tde_purge_master_key(id) FROM tde.master_keys WHERE state = 'erasable'}, { state => '2BP01', detail => qr/1 data key/ });
refused('a name that another key has', q{SELECT tde_rename_key('cards', 'shred')}, { state => '42710' });
refused('a rename that is rolled back, and a new key of the name', q{BEGIN; SELECT tde_rename_key('cards', 'old'); SELECT tde_create_key('cards')}, { state => '55000', hint => qr/^Commit first/ });

# ---- June: SQL on the tables of keys ----

my $guarded = { state => '42501', message => qr/^cannot change table "tde\.data_keys" directly$/ };
lines_of($node, 'CREATE TABLE saved_keys AS SELECT * FROM tde.data_keys');
refused("keys: $_", "SET session_replication_role = replica; $_", $guarded)
  foreach 'DELETE FROM tde.data_keys', 'TRUNCATE tde.data_keys', "UPDATE tde.data_keys SET state = 'd'", 'INSERT INTO tde.data_keys SELECT * FROM saved_keys';
refused('specifications: TRUNCATE', 'TRUNCATE tde.specifications', { state => '42501' });
refused('DROP TABLE tde.data_keys', 'DROP TABLE tde.data_keys', { state => '2BP01' });
refused('DROP EXTENSION', 'DROP EXTENSION tde_column', { state => '2BP01' });

# ---- August: clones ----

$node->backup('base');
my $clone = PostgreSQL::Test::Cluster->new('careless_clone');
$clone->init_from_backup($node, 'base');
$clone->start;    # with production's settings
lines_of($clone, $open);
is(lines_of($clone, 'SELECT count(a::text) FROM card'), $rows, 'a clone reads');
my $belongs = { state => '55000', message => qr/belongs to another server$/, hint => qr/tde_wallet_take_over\(\)/ };
fails_with($clone, "SELECT $_", $belongs, "a clone: $_")
  foreach 'tde_rotate_master_key()', q{tde_purge_master_key(id) FROM tde.master_keys WHERE state = 'retired'}, q{tde_destroy_key('shred', 'destroy shred')},
  q{tde_wallet_change_passphrase('of-the-clone')};
nothing_is_lost('a clone that wants to change the wallet');

# Somebody follows the hint on the clone, which shares the file with production.
lines_of($clone, 'SELECT tde_wallet_take_over(); SELECT tde_rotate_master_key()');
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02', message => qr/has changed since it was opened/, hint => qr/tde_wallet_open\(\)/ }, 'a clone that took the wallet over');
reopen();
fails_with($node, 'SELECT tde_rotate_master_key()', $belongs, '... which is the clone\'s now');
lines_of($node, 'SELECT tde_wallet_take_over(); SELECT tde_rotate_master_key()');
$clone->stop;
nothing_is_lost('a clone that took the wallet over: taken back');

# ---- October: dumps ----

my $file = $node->basedir . '/careless.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-t', 'card', '-f', $file, 'postgres' ], 'a dump');
my $dumped = $rows;
lines_of($node, 'CREATE DATABASE other');
lines_of($node, q{CREATE EXTENSION tde_column; SELECT tde_create_key('gdpr', erasable => true), tde_create_key('b')}, db => 'other');
$node->command_ok([ 'pg_restore', '-e', '-d', 'other', $file ], 'restored into a database with other keys of the same numbers');
lines_of($node, q{SELECT tde_destroy_key('gdpr', 'destroy gdpr')}, db => 'other');
is(lines_of($node, 'SELECT count(a::text), count(b::text), count(c::text) FROM card', db => 'other'), "$dumped|$dumped|$dumped", 'is not destroyed with one of them');
nothing_is_lost('a dump restored beside other keys');
lines_of($node, 'SELECT tde_wallet_close(); CREATE DATABASE closed');
lines_of($node, 'CREATE EXTENSION tde_column', db => 'closed');
$node->command_fails_like([ 'pg_restore', '-e', '-d', 'closed', $file ], qr/wallet is not open.*HINT:  Open it with tde_wallet_open\(\)/s, 'restored with a closed wallet');
reopen();
$node->command_ok([ 'pg_restore', '-e', '--clean', '--if-exists', '-d', 'closed', $file ], 'again, with an open one');
is(lines_of($node, 'SELECT count(a::text) FROM card', db => 'closed'), $dumped, 'is all there');
nothing_is_lost('a dump restored with a closed wallet');

# ---- December: the machine ----

my ($folder) = $path =~ m{^(.*)/};
SKIP:
{
  skip 'root can write everywhere', 3 if $> == 0;
  chmod 0500, $folder;
  isnt(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'a folder that cannot be written');
  chmod 0700, $folder;
  lines_of($node, 'SELECT tde_rotate_master_key()');
  nothing_is_lost('a folder that cannot be written');
}
foreach my $change ('SELECT tde_rotate_master_key()', q{SELECT tde_rotate_key('cards')}, q{SELECT tde_create_key('extra', erasable => true)})
{
  my $session = session($node);
  $session->query_until(qr/now/, "\\echo now\n$change;\n");
  select undef, undef, undef, rand 0.8;
  my $postmaster = $node->{_pid};
  $node->kill9;
  foreach (1 .. 20 * $PostgreSQL::Test::Utils::timeout_default)
  {
    last unless kill 0, $postmaster;
    select undef, undef, undef, 0.05;
  }
  eval { $session->quit };
  $node->start;
  reopen();
  nothing_is_lost("kill -9: $change");
}

# Whoever insists gets what he names, and the backup brings it back.
put($older);
my $loss = fails_with($node, $open, { state => 'TDE02' }, 'an older file, once more');
my ($confirm) = $loss->{hint} =~ /confirm => '([^']+)'/;
lines_of($node, "SELECT tde_wallet_open('$pass', confirm => '$confirm')");
fails_with($node, 'SELECT a FROM card', { state => 'TDE03', message => qr/is not in the wallet$/ }, 'insisted: keys are not there');
put(newest());
reopen();
nothing_is_lost('insisted: with the backup');

cmp_ok($moves, '>=', 30, "$moves wrong moves");
$node->stop;
done_testing();
