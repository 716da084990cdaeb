# The runbooks of docs/operation.md for the key that wraps the passphrase.  What is run here stands there, to the letter.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeCustody;
use TdeTest;
use Test::More;

foreach my $program ('gpg', '/usr/bin/python3')
{
  plan(skip_all => "$program is not here") if system("command -v $program >/dev/null") != 0;
}

my ($page) = slurp_file("$FindBin::RealBin/../../docs/operation.md") =~ /\n### The key of the passphrase\n(.*?)\n## /s;
my $read = 'SELECT a FROM t';

my $node = tde_node('custody_runbooks', extension => 1);
my $self = custody($node, 'gnupg');
my ($wallet, $envelope) = (wallet_path($node), envelope_of($self));
my $copy = $node->basedir . '/copy';

sub stands_there
{
  my ($command) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 2;
  ok(index($page, "`$command`") >= 0, "docs/operation.md says: $command");
  return;
}

# A command of the page, by the tool.
sub tool_does
{
  my ($command, $provider, @arguments) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  stands_there($command);
  my ($verb) = $command =~ /^tde-passphrase PROVIDER (.*)$/;
  my $got = call_tool({ %$self, provider => $provider }, map { $_ eq 'COPY' ? $copy : $_ } split / /, $verb);
  is($got->{code}, 0, "$command works") or diag($got->{err});
  return $got->{out};
}

sub shell_does
{
  my ($command, %open) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  stands_there($command);
  $command =~ s/\b\Q$_\E\b/$open{$_}/g foreach sort keys %open;
  system_or_bail(split / /, $command);
  return;
}

sub sql_does
{
  my ($server, $command) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  stands_there($command);
  is(attempt($server, $command)->{state}, '', "$command works");
  return;
}

sub opens_itself
{
  my ($name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  return opened_by_command($self, $read, 'kept', "$name: the server opens the wallet again");
}

# The key is gone for good: GnuPG has another one.
sub lose_key
{
  service($self, 'other');
  is(call_tool($self, 'get')->{code}, 77, 'the key is lost');
  return;
}

call_tool($self, 'init');
$node->append_conf('postgresql.conf', "tde_column.passphrase_command = '" . command_for($self) . "'\n");
$node->start;
lines_of($node, q{SELECT tde_wallet_create(); CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('kept')});

# The safe: a key that this machine cannot use.
my $safe = custody($node, 'gnupg');
my $home = $safe->{settings}{gnupg}{GNUPGHOME};
$self->{settings}{'gnupg.safe'} = $safe->{settings}{gnupg};
write_conf($self);
sub lock_away { rename "$home/private-keys-v1.d", "$home/away" or die; mkdir "$home/private-keys-v1.d", 0700; service($safe, 'stop'); write_conf($self); return; }
sub fetch { rmdir "$home/private-keys-v1.d"; rename "$home/away", "$home/private-keys-v1.d" or die; return; }
lock_away();
like(tool_does('tde-passphrase PROVIDER copy COPY', 'gnupg.safe'), qr/this machine cannot unwrap it: try it where its key is/, 'says that it could not try it');
is((stat $copy)[2] & 07777, 0600, 'its mode');
is(call_tool({ %$self, provider => 'gnupg.safe' }, 'copy', $copy)->{code}, 73, 'it replaces nothing');

# ---- a newer version ----

service($self, 'newer');
my $key = field($self, 'key');
tool_does('tde-passphrase PROVIDER rotate', 'gnupg');
isnt(field($self, 'key'), $key, 'by the newer version');
opens_itself('a newer version');

# ---- disabled, and enabled again ----

service($self, 'revoke');
is(lines_of($node, $read), 'kept', 'disabled: the open wallet goes on');
stands_there('tde-passphrase PROVIDER check');
my $check = call_tool($self, 'check');
is($check->{code}, 77, 'check finds it out');
like($check->{err}, qr/No secret key/, 'and says why');
$node->restart;
fails_with($node, $read, { state => 'TDE01' }, 'a restart opens nothing');
service($self, 'allow');
sql_does($node, 'SELECT tde_wallet_open();');
is(lines_of($node, $read), 'kept', 'enabled again');

# ---- lost, and the wallet is closed: the copy, at the machine that has its key ----

lose_key();
$node->restart;
fails_with($node, $read, { state => 'TDE01' }, 'lost, and closed');
unlink $envelope;
shell_does('cp COPY FILE.envelope', COPY => $copy, FILE => $wallet);
shell_does('chmod 600 FILE.envelope', FILE => $wallet);
fetch();
sql_does($node, 'SELECT tde_wallet_open();');
is(lines_of($node, $read), 'kept', 'the copy opens the wallet');
tool_does('tde-passphrase PROVIDER rotate', 'gnupg');
lock_away();
opens_itself('the copy, wrapped by another key');

# ---- lost, and the wallet is open ----

lose_key();
tool_does('tde-passphrase PROVIDER init --replace', 'gnupg');
opens_itself('another key');

# ---- the passphrase has leaked ----

my $leaked = call_tool($self, 'get')->{out};
tool_does('tde-passphrase PROVIDER init --replace', 'gnupg');
isnt(call_tool($self, 'get')->{out}, $leaked, 'leaked: there is another one');
ok(-e "$envelope.previous", 'FILE.envelope.previous is there');
stands_there('FILE.envelope.previous');
unlink "$envelope.previous", glob("$wallet.*[0-9]"), glob("$wallet.previous*");
opens_itself('leaked');

# ---- restored elsewhere ----

$node->stop;
my $there = tde_node('custody_elsewhere', wallet => 0);
system_or_bail('rm', '-rf', $there->data_dir);
system_or_bail('cp', '-Rp', $node->data_dir, $there->data_dir);
mkdir $there->basedir . '/wallet', 0700;
my $moved = { %$self, node => $there, conf => $there->basedir . '/kms.conf', wallet => { %{ $self->{wallet} }, file => wallet_path($there) } };
system_or_bail('cp', '-p', $wallet,   wallet_path($there));
system_or_bail('cp', '-p', $envelope, envelope_of($moved));
write_conf($moved);
$there->append_conf('postgresql.conf', sprintf "port = %d\nunix_socket_directories = '%s'\ntde_column.wallet_file = '%s'\ntde_column.passphrase_command = '%s'\n",
  $there->port, $there->host, wallet_path($there), command_for($moved));
$there->start;
sql_does($there, 'SELECT tde_wallet_open();');
sql_does($there, 'SELECT tde_wallet_take_over();');
is(lines_of($there, $read), 'kept', 'restored elsewhere');
is(attempt($there, 'SELECT tde_rotate_master_key()')->{state}, '', 'and it changes the wallet');
$there->restart;
is(lines_of($there, $read), 'kept', 'restarted there');
$there->stop;

# ---- init was interrupted: the server was not there ----

is(call_tool($self, 'init', '--replace')->{code}, 73, 'init without a server');
$node->start;
opens_itself('interrupted');
tool_does('tde-passphrase PROVIDER init', 'gnupg');
opens_itself('done');

service($_, 'stop') foreach $self, $safe;
$node->stop;
done_testing();
