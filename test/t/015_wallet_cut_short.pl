# Changes of the wallet that are cut short: by a cancel or a timeout at any moment, by the end of the session or of the server, and by
# what is in the way in the wallet's folder.  Either nothing has happened, or file, memory and what the client got agree.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

# On a build for users, whose key derivation takes long enough to be cut short.
my $node       = tde_node('short', extension => 1, install => $ENV{USERS_INSTALL}, conf => "tde_column.wallet_generations = 3\nrestart_after_crash = on\n");
my $path       = wallet_path($node);
my $passphrase = 'short-passphrase';
$node->start;

# The command that the file's bytes can be opened by, while the wallet is open.
sub opens { return attempt($node, "SELECT tde_wallet_open('$_[0]')")->{state} eq ''; }

# The second argument of tde_wallet_create(), which a first attempt tells.
sub loss { return attempt($node, "SELECT tde_wallet_create('$passphrase')")->{err} =~ /confirm => '(lose [^']+)'/ ? $1 : 'nothing'; }

# ---- a timeout at any moment ----

# One that is generated is known to nobody but by the result.
# Longer and longer, so that it is long enough at last wherever this runs.
my @timeouts = map { int 40 * 1.2**$_ } 0 .. 60;
my ($made, $cut) = (0, 0);
foreach my $timeout (@timeouts)
{
  last if $made == 3;
  my $loss = $made ? loss() : 'nothing';
  my $got = attempt($node, "SET statement_timeout = $timeout; SELECT tde_wallet_create(NULL, '$loss')");
  if ($got->{state} eq '')
  {
    $made++;
    like($got->{out}, qr/^[0-9a-f]{64}$/, "created within $timeout ms: the passphrase is returned") or diag($got->{err});
    ok(opens($got->{out}), 'and opens the file');
    lines_of($node, 'SELECT tde_wallet_close()');
    unlink $path, "$path.previous" or die;
  }
  else
  {
    $cut++;
    is($got->{state}, '57014', "cut off after $timeout ms");
    is(wallet_folder_files($node), '', 'no file is left');
  }
}
cmp_ok($made, '>', 0, 'created at least once');
cmp_ok($cut,  '>', 0, 'cut off at least once');

lines_of($node, "DROP EXTENSION tde_column; CREATE EXTENSION tde_column; SELECT tde_wallet_create('$passphrase')");
lines_of($node, q{CREATE TABLE card (a encrypted_text(nosalt)); INSERT INTO card VALUES ('one'), ('two')});
sub is_intact { is(lines_of($node, q{SELECT string_agg(a, ',') FROM card}), 'one,two', $_[0]); return; }

($made, $cut) = (0, 0);
foreach my $timeout (@timeouts)
{
  last if $made == 3;
  my $before = read_bytes($path);
  my $got    = attempt($node, "SET statement_timeout = $timeout; SELECT tde_wallet_split(2, 3)");
  my @shares = split /\n/, $got->{out};
  if ($got->{state} eq '')
  {
    $made++;
    is(scalar(@shares), 3, "split within $timeout ms: the shares are returned");
    like(lines_of($node, "SELECT tde_wallet_open_share('$shares[0]'); SELECT tde_wallet_open_share('$shares[2]')"), qr/the wallet is open$/, 'and open it');
    lines_of($node, "SELECT tde_wallet_change_passphrase('$passphrase')");
  }
  else
  {
    $cut++;
    is($got->{state}, '57014', "cut off after $timeout ms");
    ok(read_bytes($path) eq $before, 'the file is what it was');
    unlike(wallet_folder_files($node), qr/tmp/, 'nothing is left beside it');
  }
}
cmp_ok($made, '>', 0, 'split at least once');
cmp_ok($cut,  '>', 0, 'cut off at least once');
foreach my $timeout (map { 100 * $_ } 1 .. 9)
{
  my $before = read_bytes($path);
  my $got    = attempt($node, "SET statement_timeout = $timeout; SELECT tde_wallet_change_passphrase('$passphrase')");
  is($got->{state} eq '' ? 1 : 0, read_bytes($path) eq $before ? 0 : 1, "changed within $timeout ms if it says so");
}
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'what memory has is what the file has');
ok(opens($passphrase), 'and it opens');
is_intact('all is readable');

# ---- the session ends, or the server ----

my $nap = "86400.$$";

# Run while the backup command hangs, in a session of its own; then do what ends it.  Returns what the session was told.
sub during
{
  my ($statement, $end) = @_;
  my $session = IPC::Run::start(['psql', '-X', '-q', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', $statement], '<', \undef, '>', \my $out, '2>', \my $err);
  ok(is_running("sleep $nap"), "under way: $statement");
  $end->();
  eval { $session->finish } or 1;
  return $err;
}

my $fds = $node->basedir . '/fds';
set_conf($node, 'tde_column.wallet_backup_command' => "ls -l /proc/self/fd > $fds 2>&1; sleep $nap && true", 'tde_column.wallet_backup_timeout' => '5min');
my $bytes     = read_bytes($path);
my $terminate = sub {
  lines_of($node, q{SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
};
during('SELECT tde_rotate_master_key()', $terminate);
ok(none_left("sleep $nap"), 'terminated: the command is gone');
unlike(wallet_folder_files($node), qr/tmp/, 'nothing is left beside the wallet');
SKIP: {
  skip 'no /proc', 1 unless -d '/proc/self/fd';
  unlike(slurp_file($fds), qr/socket|\Q@{[ $node->data_dir ]}\E\/(?:base|global|pg_wal)/, 'the command had no socket and no file of the server open');
}
is_intact('the wallet can be used');

rename $path, "$path.away" or die;
lines_of($node, 'SELECT tde_wallet_close()');
is(attempt($node, "SELECT tde_wallet_create('$passphrase')")->{state}, '55000', 'keys are here');
during("SELECT tde_wallet_create('$passphrase', '@{[ loss() ]}')", $terminate);
ok(none_left("sleep $nap"), 'terminated: the command is gone');
unlike(wallet_folder_files($node), qr/tmp/, 'nothing is left of a wallet that was being made');
ok(!-e $path, 'nor is it there');
rename "$path.away", $path or die;

foreach my $how ('immediate', 'kill')
{
  ok(opens($passphrase), "before: $how");
  during(
    'SELECT tde_rotate_master_key()',
    sub {
      return $node->stop('immediate') if $how eq 'immediate';
      my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
      my $is  = lines_of($node, q{SELECT pid FROM pg_stat_activity WHERE query LIKE '%tde_rotate_master%' AND pid <> pg_backend_pid()});
      kill 'KILL', $is;
    });
  ok(none_left("sleep $nap"), "$how: the command is gone with the server process");
  $node->start if $how eq 'immediate';
  $node->poll_query_until('postgres', 'SELECT true') or die 'no server';
  ok(read_bytes($path) eq $bytes, 'the file is what it was');
}
set_conf($node, 'tde_column.wallet_backup_command' => '');
ok(opens($passphrase), 'it opens');
is_intact('all is readable');
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'and can be changed');
unlike(wallet_folder_files($node), qr/tmp/, 'what was left beside it is gone');

# ---- something is in the way ----

sub copies { return join ' ', map { unpack('%32C*', read_bytes($_)) } grep { -f } map { "$path.previous$_" } '', '.2', '.3'; }

lines_of($node, 'SELECT tde_rotate_master_key()') foreach 1 .. 4;
mkdir "$path.previous.9" or die;
my $got = attempt($node, 'SELECT tde_rotate_master_key()');
is($got->{state}, '', 'an old copy that cannot be removed is no reason to refuse a change');
like($got->{err}, qr/WARNING: .*could not remove earlier copy "\Q$path\E\.previous\.9" of the wallet: /, 'but one to say so');
rmdir "$path.previous.9" or die;

rename "$path.previous.3", "$path.kept" or die;
mkdir "$path.previous.3" or die;
my $copies = copies();
foreach (1 .. 4)
{
  fails_with($node, 'SELECT tde_rotate_master_key()', { state => '42809', message => qr/^could not rename file "\Q$path\E\.previous\.2" to "\Q$path\E\.previous\.3": / }, 'copies that cannot be shifted');
}
is(copies(), $copies, 'no attempt has cost one');
unlike(wallet_folder_files($node), qr/tmp/, 'nothing is left beside it');
rmdir "$path.previous.3" or die;
rename "$path.kept", "$path.previous.3" or die;

# A key is destroyed when no copy has it any more, and those are looked for first; what a crash left are copies, too.
lines_of($node, q{SELECT tde_create_key('gone', erasable => true)});
$bytes = read_bytes($path);
unlink "$path.previous" or die;
foreach my $in_the_way ("$path.previous", "$path.previous.7")
{
  mkdir $in_the_way or die;
  $got = attempt($node, q{SELECT tde_destroy_key('gone', 'destroy gone')});
  isnt($got->{state}, '', "a key is not destroyed while there is $in_the_way");
  like($got->{err}, qr/ERROR: .*"\Q$in_the_way\E"/, 'which the error names');
  ok(read_bytes($path) eq $bytes, 'the file has it still');
  is(lines_of($node, q{SELECT state FROM tde.keys WHERE name = 'gone'}), 'active', 'and so has the database');
  rmdir $in_the_way or die;
}
write_bytes("$path.$_", $bytes) foreach '4711.tmp', 'previous.tmp', 'previous.33';
write_bytes("$path.mine", 'not ours');
is(attempt($node, q{SELECT tde_destroy_key('gone', 'destroy gone')})->{state}, '', 'destroyed');
is(wallet_folder_files($node), 'tde.p12 tde.p12.mine tde.p12.previous', 'no copy is left that has it, whoever left it');
unlink "$path.mine" or die;
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'the next change finds the file as it left it');
is(lines_of($node, q{SELECT file_state FROM tde.wallet}), 'open', 'the view says so, too');
is_intact('all is readable');

# A copy of a change that was not made may be the newest one in the vault: it is named.
my $vault = $node->basedir . '/vault';
mkdir $vault or die;
set_conf($node, 'tde_column.wallet_backup_command' => qq{cp "%p" "$vault/%f"; sleep $nap && true});
my $cancel = sub { lines_of($node, q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%tde_wallet_split%' AND pid <> pg_backend_pid()}) };
my $said   = during('SELECT tde_wallet_split(2, 3)', $cancel);
like($said, qr/ERROR: .*canceling statement due to user request/, 'cut off after the backup');
my ($vain) = grep { /^tde/ } slurp_dir($vault);
like($said, qr/WARNING: .*wallet backup "\Q$vain\E", if it was made, is of a change that did not take effect/, 'the backup is named');
ok(none_left("sleep $nap"), 'the command is gone');

# Nobody opens another wallet while one is being made.
lines_of($node, 'SELECT tde_wallet_close()');
rename $path, "$path.away" or die;
my $loss = loss();
during(
  "SELECT tde_wallet_create('$passphrase', '$loss')",
  sub {
    rename "$path.away", $path or die;
    fails_with($node, "SET statement_timeout = '2s'; SELECT tde_wallet_open('$passphrase')", { state => '57014' }, 'another one is not opened meanwhile');
    $terminate->();
  });
set_conf($node, 'tde_column.wallet_backup_command' => 'kill -SEGV $$');
ok(opens($passphrase), 'but afterwards');
my $offset = log_offset($node);
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02' }, 'a command that crashes');
like(log_since($node, $offset), qr/DETAIL:  child process exited with exit code 139/, 'its status is that of shells, and no core of ours is written');
set_conf($node, 'tde_column.wallet_backup_command' => 'trap "" TERM; kill 0; exit 0');
is(attempt($node, 'SELECT tde_wallet_backup()')->{state}, '', 'a command that ends all others of its own');
set_conf($node, 'tde_column.wallet_backup_command' => qq{cp "$path.previous" "$path"; false}, 'tde_column.wallet_backup_failure' => 'warning');
$bytes = read_bytes($path);
$got   = attempt($node, 'SELECT tde_rotate_master_key()');
is($got->{state}, 'TDE02', 'a change that fails after its backup did');
unlike($got->{err}, qr/the wallet was changed/, 'is not said to have been made');
write_bytes($path, $bytes);
set_conf($node, 'tde_column.wallet_backup_command' => '', 'tde_column.wallet_backup_failure' => 'error');
is_intact('all is readable');

# ---- a wallet behind a symbolic link ----

my $real = $node->basedir . '/real';
mkdir $real, 0700 or die;
rename $path, "$real/wallet.p12" or die;
symlink "$real/wallet.p12", $path or die;
like(attempt($node, "SELECT tde_wallet_change_passphrase('$passphrase')")->{err}, qr/HINT:  Once .*, remove "\Q$real\E\/wallet\.p12\.previous"/, 'copies are where the link leads');
lines_of($node, q{SELECT tde_create_key('gone', erasable => true)});
like(attempt($node, q{SELECT tde_destroy_key('gone', 'destroy gone')})->{err}, qr/removed from "\Q$real\E\/wallet\.p12"/, 'and so is what a key was removed from');

like(attempt($node, q{SELECT tde_rotate_master_key(); SELECT tde_purge_master_key(id) FROM tde.master_keys WHERE state = 'retired' LIMIT 1})->{err}, qr/"\Q$real\E\/wallet\.p12\.previous" is one until/, 'and the copy of what was purged');
rename "$real/wallet.p12", "$real/away" or die;
fails_with($node, 'SELECT tde_wallet_save()', { state => '58P02', message => qr/^wallet file "\Q$path\E" is a symbolic link that leads nowhere$/, hint => qr/^Remove it/ }, 'a link that leads nowhere');
rename "$real/away", "$real/wallet.p12" or die;

# ---- a copy that is saved ----

set_conf($node, 'tde_column.wallet_backup_command' => 'true');
lines_of($node, 'SELECT tde_prepare_master_key()');
set_conf($node, 'tde_column.wallet_backup_command' => '');
lines_of($node, 'SELECT tde_rotate_master_key(); SELECT tde_rotate_master_key()');
is(lines_of($node, 'SELECT count(*) > 0 FROM tde.master_keys WHERE backed_up IS NULL'), 't', 'a key without a backup');
set_conf($node, 'tde_column.wallet_backup_command' => 'true');
unlink $path or die;
lines_of($node, 'SELECT tde_wallet_save()');
is(lines_of($node, 'SELECT count(*) FROM tde.master_keys WHERE backed_up IS NULL'), '0', 'has one, once the wallet was saved and backed up');
$node->restart;
ok(opens($passphrase), 'it opens');
is(lines_of($node, 'SELECT count(*) FROM tde.master_keys WHERE backed_up IS NULL'), '0', 'the file says the same');
is_intact('all is readable');
$node->stop;

done_testing();
