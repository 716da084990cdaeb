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

my $node       = tde_node('short', conf => "tde_column.wallet_generations = 3\nrestart_after_crash = on\n");
my $path       = wallet_path($node);
my $passphrase = 'short-passphrase';
$node->start;
lines_of($node, 'CREATE EXTENSION tde_column');

# The command that the file's bytes can be opened by, while the wallet is open.
sub opens { return attempt($node, "SELECT tde_wallet_open('$_[0]')")->{state} eq ''; }

# The second argument of tde_wallet_create(), which a first attempt tells.
sub loss { return attempt($node, "SELECT tde_wallet_create('$passphrase')")->{err} =~ /confirm => '(lose [^']+)'/ ? $1 : 'nothing'; }

# ---- a timeout at any moment ----

# One that is generated is known to nobody but by the result.
my ($made, $cut) = (0, 0);
for (my $timeout = 60; $timeout <= 1260 && $made < 3; $timeout += 60)
{
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
for (my $timeout = 60; $timeout <= 1800 && $made < 3; $timeout += 60)
{
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
attempt($node, "SET statement_timeout = $_; SELECT tde_wallet_change_passphrase('$passphrase')") foreach map { 100 * $_ } 1 .. 9;
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'what memory has is what the file has');
ok(opens($passphrase), 'and it opens');
is_intact('all is readable');

# ---- the session ends, or the server ----

my $nap = "86400.$$";

# Run while the backup command hangs, in a session of its own; then do what ends it.
sub during
{
  my ($statement, $end) = @_;
  my $session = IPC::Run::start(['psql', '-X', '-q', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', $statement], '<', \undef, '>', \my $out, '2>', \my $err);
  ok(is_running("sleep $nap"), "under way: $statement");
  $end->();
  eval { $session->finish } or 1;
  return;
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

# The key is out of the file, so it is out of memory, too, whatever becomes of the copies.
lines_of($node, q{SELECT tde_create_key('gone', erasable => true)});
unlink "$path.previous" or die;
mkdir "$path.previous"  or die;
$got = attempt($node, q{SELECT tde_destroy_key('gone', 'destroy gone')});
is($got->{state}, '', 'a key is destroyed where a copy cannot be replaced');
like($got->{err}, qr/WARNING: .*could not remove earlier copy "\Q$path\E\.previous" of the wallet: /, 'with a warning that names the copy');
rmdir "$path.previous" or die;
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'the next change finds the file as it left it');
is(lines_of($node, q{SELECT file_state FROM tde.wallet}), 'open', 'the view says so, too');
is_intact('all is readable');

# ---- a wallet behind a symbolic link ----

my $real = $node->basedir . '/real';
mkdir $real, 0700 or die;
rename $path, "$real/wallet.p12" or die;
symlink "$real/wallet.p12", $path or die;
like(attempt($node, "SELECT tde_wallet_change_passphrase('$passphrase')")->{err}, qr/HINT:  Remove "\Q$real\E\/wallet\.p12\.previous"/, 'copies are where the link leads');
lines_of($node, q{SELECT tde_create_key('gone', erasable => true)});
like(attempt($node, q{SELECT tde_destroy_key('gone', 'destroy gone')})->{err}, qr/removed from "\Q$real\E\/wallet\.p12"/, 'and so is what a key was removed from');

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
