# Copies of the wallet: the backup command gets each new file before it takes effect, earlier copies stay beside the file, and a new
# passphrase is one that is strong and that the next start will have.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use File::Basename qw(basename dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node  = tde_node('backups', extension => 1, conf => "tde_column.wallet_generations = 3\n");
my $path  = wallet_path($node);
my $vault = $node->basedir . '/a vault, it\'s full';
my $save  = qq{cp "%p" "$vault/%f" && echo copied 100%%};
mkdir $vault or die "could not create $vault: $!";
$node->start;

sub vault     { return map { "$vault/$_" } sort grep { /^tde/ } slurp_dir($vault); }
sub masters   { return lines_of($node, 'SELECT count(*), count(backed_up) FROM tde.master_keys'); }
sub is_intact { is(lines_of($node, 'SELECT string_agg(a, \',\') FROM card'), 'one,two', $_[0]); return; }

fails_with($node, 'SELECT tde_wallet_backup()', { state => '55000', message => qr/^no wallet backup command is configured$/, hint => qr/wallet_backup_command.*tde_wallet_save/ },
  'no command');

# ---- each kind of change ----

set_conf($node, 'tde_column.wallet_backup_command' => $save);
my $passphrase = 'backups-passphrase';
lines_of($node, "SELECT tde_wallet_create('$passphrase'); CREATE TABLE card (a encrypted_text(nosalt)); INSERT INTO card VALUES ('one'), ('two')");
is(scalar(vault()), 1, 'a new wallet is backed up');
is(masters(), '1|1', 'and the view says so');
my %changes = (
  '1 rotation'   => 'SELECT tde_rotate_master_key()',
  '2 prepared'   => 'SELECT tde_prepare_master_key()',
  '3 erasable'   => q{SELECT tde_create_key('shred', erasable => true)},
  '4 destroyed'  => q{SELECT tde_destroy_key('shred', 'destroy shred')},
  '5 purged'     => q{SELECT tde_purge_master_key(id) FROM tde.master_keys WHERE state = 'retired'},
  '6 passphrase' => q{SELECT tde_wallet_change_passphrase('second-passphrase')},
  '7 taken over' => 'SELECT tde_wallet_take_over()',
  '8 on demand'  => 'SELECT tde_wallet_backup()',
  '9 split'      => 'SELECT tde_wallet_split(2, 3)');
foreach my $name (sort keys %changes)
{
  my $before = vault();
  my $got    = attempt($node, $changes{$name});
  is($got->{state}, '', $name) or diag($got->{err});
  is(scalar(vault()), $before + 1, '... is backed up, once');
  ok(read_bytes((vault())[-1]) eq read_bytes($path), '... as the file is then');
  lines_of($node, q{SELECT tde_wallet_change_passphrase('third-passphrase')}) if $name =~ /split/;
}
like((vault())[-1], qr{/tde\.p12\.\d{8}T\d{6}\.\d{6}Z$}, 'under a name with the time');
is((split /\|/, masters())[0], (split /\|/, masters())[1], 'all master keys are in a backup');
my $count = vault();
lines_of($node, "SELECT tde_wallet_save('@{[ $node->basedir ]}/saved.p12')");
is(scalar(vault()), $count, 'a copy that somebody makes is not a change');

# ---- the wallet is lost: what the runbook says ----

$node->stop;
unlink $path or die;
$node->start;
fails_with($node, 'SELECT * FROM card', { state => 'TDE01' }, 'without the wallet');
system_or_bail('cp', (vault())[-1], $path);
chmod 0600, $path;
lines_of($node, q{SELECT tde_wallet_open('third-passphrase')});
is_intact('the newest backup has everything');

# ---- it fails ----

set_conf($node, 'tde_column.wallet_backup_command' => 'exit 3');
my $bytes  = read_bytes($path);
my $failed = {
  state   => 'TDE02',
  message => qr/^the wallet was not changed, because its backup failed$/,
  detail  => qr/server log says why/,
  hint    => qr/wallet_backup_failure = warning/
};
my $offset = log_offset($node);
foreach my $change ('tde_rotate_master_key()', 'tde_prepare_master_key()', q{tde_create_key('e', true)}, q{tde_wallet_change_passphrase('fourth-passphrase')},
  'tde_wallet_split(2, 3)', 'tde_wallet_backup()')
{
  fails_with($node, "SELECT $change", $failed, "failed: $change");
}
like(log_since($node, $offset), qr/LOG:  wallet backup command failed\n.*DETAIL:  child process exited with exit code 3/, 'the log says why');
ok(read_bytes($path) eq $bytes, 'the file is what it was');
unlike(wallet_folder_files($node), qr/tmp/, 'nothing is left beside it');
is_intact('all is readable');

set_conf($node, 'tde_column.wallet_backup_command' => "sleep 86400.$$", 'tde_column.wallet_backup_timeout' => '200ms');
fails_with($node, 'SELECT tde_rotate_master_key()', $failed, 'a command that hangs');
set_conf($node, 'tde_column.wallet_backup_timeout' => '1min');
fails_with($node, q{SET statement_timeout = '200ms'; SELECT tde_rotate_master_key()}, { state => '57014' }, 'cancelled');
ok(none_left("sleep 86400.$$"), 'it is gone');
ok(read_bytes($path) eq $bytes, 'the file is what it was');
unlike(wallet_folder_files($node), qr/tmp/, 'nothing is left beside it');

set_conf($node, 'tde_column.wallet_backup_command' => 'exit 3', 'tde_column.wallet_backup_failure' => 'warning');
lines_of($node, 'SELECT tde_rotate_master_key()') if lines_of($node, q{SELECT count(*) FROM tde.master_keys WHERE state = 'prepared'});

like(attempt($node, 'SELECT tde_rotate_master_key()')->{err}, qr/WARNING:.*the wallet was changed, and its backup failed\n.*\nHINT:.*tde_wallet_backup\(\)/, 'it may be but a warning');
is(lines_of($node, q{SELECT count(*) FROM tde.master_keys WHERE backed_up IS NULL AND state = 'current'}), '1', 'the view tells which key no backup has');
like(lines_of($node, q{SELECT severity, finding, hint FROM tde_audit() WHERE topic = 'master keys'}) // '', qr/warning\|no backup of the wallet has it\|SELECT tde_wallet_backup\(\);/,
  'and so does the audit');
$node->restart;
lines_of($node, q{SELECT tde_wallet_open('third-passphrase')});
is(lines_of($node, 'SELECT count(*) FROM tde.master_keys WHERE backed_up IS NULL'), '1', 'after a restart, too');
set_conf($node, 'tde_column.wallet_backup_command' => $save, 'tde_column.wallet_backup_failure' => 'error');
lines_of($node, 'SELECT tde_wallet_backup()');
is(lines_of($node, 'SELECT count(*) FROM tde.master_keys WHERE backed_up IS NULL'), '0', 'until it is backed up');

# What it leaves running in the background is its own affair, as with archive_command.
my $nap = "300.$$";
set_conf($node, 'tde_column.wallet_backup_command' => qq{$save; sleep $nap &}, 'tde_column.wallet_backup_timeout' => '3min');
is(attempt($node, 'SELECT tde_wallet_backup()')->{state}, '', 'a command that leaves something in the background is done');
my %naps = processes_with("sleep $nap");
kill 'KILL', keys %naps;
like(slurp_file($node->logfile), qr/^copied 100%$/m, 'what it prints is in the server log');

# Somebody puts another file there while the command runs.
set_conf($node, 'tde_column.wallet_backup_command' => qq{cp "$vault/@{[ basename((vault())[0]) ]}" "$path"});
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02', message => qr/has changed since it was opened$/ }, 'a file that changes meanwhile is not overwritten');
system_or_bail('cp', (vault())[-1], $path);
set_conf($node, 'tde_column.wallet_backup_command' => '');
lines_of($node, 'CREATE ROLE nobody LOGIN');
fails_with($node, 'SELECT tde_wallet_backup()', { state => '42501' }, 'not for everybody', user => 'nobody');
fails_with($node, 'SHOW tde_column.wallet_backup_command', { state => '42501' }, 'nor is the command', user => 'nobody');

# ---- earlier copies beside the file ----

my @was;
foreach (1 .. 5)
{
  unshift @was, read_bytes($path);
  lines_of($node, 'SELECT tde_rotate_master_key()');
}
is(wallet_folder_files($node), 'tde.p12 tde.p12.previous tde.p12.previous.2 tde.p12.previous.3', 'as many as are to be kept');
ok(read_bytes("$path.previous") eq $was[0] && read_bytes("$path.previous.2") eq $was[1] && read_bytes("$path.previous.3") eq $was[2], 'in their order');
set_conf($node, 'tde_column.wallet_generations' => '2');
lines_of($node, q{SELECT tde_create_key('gone', erasable => true)});
is(wallet_folder_files($node), 'tde.p12 tde.p12.previous tde.p12.previous.2', 'fewer');
lines_of($node, q{SELECT tde_rotate_master_key(); SELECT tde_destroy_key('gone', 'destroy gone')});
is(wallet_folder_files($node), 'tde.p12 tde.p12.previous', 'none that has a key which was destroyed');
ok(read_bytes("$path.previous") eq read_bytes($path), 'but a copy of the file as it is');
is_intact('all is readable');

# ---- passphrases ----

$bytes = read_bytes($path);
foreach my $weak ('short', 'elevenbytes', 'x' x 40, 'ababababababab')
{
  my $expected = { state => '22023', message => qr/ is too weak$/, detail => qr/^It must have at least 12 bytes \(tde_column\.passphrase_min_length\), 5 of them different\.$/ };
  fails_with($node, "SELECT tde_wallet_change_passphrase('$weak')", $expected, "a weak passphrase: $weak");
  fails_with($node, "SELECT tde_export_keys('$weak')", $expected, "a weak secret: $weak");
  set_conf($node, 'tde_column.passphrase_command' => "echo $weak");
  fails_with($node, 'SELECT tde_wallet_change_passphrase()', $expected, "a command that prints $weak");
  set_conf($node, 'tde_column.passphrase_command' => '');
}
set_conf($node, 'tde_column.passphrase_min_length' => '30');
fails_with($node, q{SELECT tde_wallet_change_passphrase('correct horse battery staple')}, { state => '22023', detail => qr/at least 30 bytes/ }, 'as long as the setting says');
set_conf($node, 'tde_column.passphrase_min_length' => '1000');
is(attempt($node, 'SELECT tde_wallet_split(2, 3)')->{state}, '', 'a random one is strong, however long it is');
set_conf($node, 'tde_column.passphrase_min_length' => '12');
lines_of($node, q{SELECT tde_wallet_change_passphrase('third-passphrase')});
$bytes = read_bytes($path);
isnt(attempt($node, 'ALTER SYSTEM SET tde_column.passphrase_min_length = 7')->{state}, '', 'which cannot be less than 8');
fails_with($node, 'SELECT tde_wallet_change_passphrase()', { state => '22023', message => qr/^no passphrase was given, and no passphrase command is configured$/ }, 'none');

# The next start must be able to open the wallet.
my $old = { state => '55000', message => qr/^the passphrase command does not print this passphrase$/, detail => qr/next start/, hint => qr/print the new passphrase first/ };
set_conf($node, 'tde_column.passphrase_command' => 'echo third-passphrase');
fails_with($node, q{SELECT tde_wallet_change_passphrase('correct horse battery')}, $old, 'the command prints the old one');
set_conf($node, 'tde_column.passphrase_command' => 'exit 1');
fails_with($node, q{SELECT tde_wallet_change_passphrase('correct horse battery')}, { state => 'TDE02', message => qr/^could not get a passphrase/ }, 'the command fails');
ok(read_bytes($path) eq $bytes, 'nothing has changed');
set_conf($node, 'tde_column.passphrase_command' => 'echo correct horse battery');
lines_of($node, 'SELECT tde_wallet_change_passphrase()');
lines_of($node, q{SELECT tde_wallet_change_passphrase('correct horse battery')});
$node->restart;
is_intact('changed to what the command prints, which opens it after a restart');
unlike(slurp_file($node->logfile), qr/tde_[a-z_]+\('(?:second|third|fourth|correct|backups)/, 'the log has no passphrase');
$node->stop;

my $new = tde_node('new', extension => 1, conf => "tde_column.passphrase_command = 'echo of the command'\n");
$new->start;
fails_with($new, q{SELECT tde_wallet_create('of the argument')}, $old, 'a new wallet under another passphrase than the command prints');
set_conf($new, 'tde_column.passphrase_command' => 'echo weak');
fails_with($new, 'SELECT tde_wallet_create()', { state => '22023', message => qr/^passphrase that the command prints is too weak$/ }, 'a new wallet under a weak one');
ok(!-e wallet_path($new), 'neither is made');
set_conf($new, 'tde_column.passphrase_command' => 'echo of the command', 'tde_column.wallet_backup_command' => 'false');
fails_with($new, 'SELECT tde_wallet_create()', $failed, 'a new wallet that cannot be backed up');
is(wallet_folder_files($new), '', 'is not made');
$new->stop;

done_testing();
