# The runbooks of docs/operation.md: lost wallet, wrong wallet, clone, failover, leaked passphrase.  What is run here stands there, to the letter.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $page = slurp_file("$FindBin::RealBin/../../docs/operation.md");
my $pass = 'runbook-passphrase';

my $node = tde_node('runbooks', extension => 1, conf => "wal_level = replica\nmax_wal_senders = 3\n");
my $path = wallet_path($node);
$node->start;
lines_of(
  $node, qq{
SELECT tde_wallet_create('$pass'), tde_create_key('cards');
CREATE TABLE card (id int PRIMARY KEY, a encrypted_text, b encrypted_text('key=cards'));
INSERT INTO card SELECT i, 'a' || i, 'b' || i FROM generate_series(1, 20) i});

# A command of the page, with what it leaves open filled in; the statements in it.
sub runbook
{
  my ($command, %open) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  ok(index($page, $command) >= 0, "docs/operation.md says: $command");
  $command =~ s/\Q$_\E/$open{$_}/g foreach sort keys %open;
  return $command;
}

sub reads
{
  my ($server, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is(lines_of($server, q{SELECT count(*) FROM card WHERE a::text = 'a' || id AND b::text = 'b' || id}), '20', "$name: every value is readable");
  return;
}
my $open = runbook("SELECT tde_wallet_open('...');", "'...'" => "'$pass'");
my $save = runbook('SELECT tde_wallet_save();');

# ---- lost ----

my $backup = read_bytes($path);
unlink $path;
lines_of($node, $save);
$node->restart;
lines_of($node, $open);
reads($node, 'lost while it was open');

unlink $path;
$node->restart;
write_bytes($node->basedir . '/newest', $backup);
foreach my $command ('cp /backup/wallets/NEWEST FILE', 'chmod 600 FILE')
{
  system_or_bail(split / /, runbook($command, '/backup/wallets/NEWEST' => $node->basedir . '/newest', FILE => $path));
}
lines_of($node, $open);
reads($node, 'lost while it was closed');

# ---- wrong ----

lines_of($node, 'SELECT tde_rotate_master_key()');
my $newer = read_bytes($path);
unlink $path;
write_bytes($path, $backup);
chmod 0600, $path;
unlink $path;    # "take it away, then"
lines_of($node, $save);
reads($node, 'an older one');
foreign_wallet($path, 'foreign-passphrase');
chmod 0600, $path;
$node->restart;
write_bytes($path, $newer);
lines_of($node, $open);
reads($node, 'another server\'s');

# ---- clone ----

$node->backup('base');
my $clone = PostgreSQL::Test::Cluster->new('runbooks_clone');
$clone->init_from_backup($node, 'base');
$clone->start;
lines_of($clone, $open);
my $settings = runbook(q{ALTER SYSTEM SET tde_column.wallet_file = '...'; SELECT pg_reload_conf();}, '...' => $clone->basedir . '/own.p12');
lines_of($clone, $_) foreach split /(?<=;) /, $settings;
$clone->poll_query_until('postgres', q{SELECT current_setting('tde_column.wallet_file') LIKE '%own.p12'}) or die;
lines_of($clone, $save);
my $take = runbook('SELECT tde_wallet_take_over();');
lines_of($clone, $take);
lines_of($clone, 'SELECT tde_rotate_master_key()');
reads($clone, 'a clone with a file of its own');
lines_of($node, 'SELECT tde_rotate_master_key()');
reads($node, 'the original beside it');
$clone->stop;

# ---- failover ----

$node->backup('standby');
my $standby = PostgreSQL::Test::Cluster->new('runbooks_standby');
$standby->init_from_backup($node, 'standby', has_streaming => 1);
own_wallet($standby);
send_wallet($node, $standby);
$standby->start;
lines_of($standby, $open);
$node->wait_for_catchup($standby);
$node->stop('immediate');
$standby->promote;
reads($standby, 'promoted');
my ($failover) = $page =~ /### Promotion \(failover\)\n.*?```sql\n(.*?)```/s;
$failover =~ s/tde_wallet_open\(\)/tde_wallet_open('$pass')/;
my @said = map { lines_of($standby, $_) } grep { /\S/ } split /^/, $failover =~ s/--.*//gr;
unlike($said[-1], qr/^error\|/m, 'the audit finds nothing wrong');
lines_of($standby, 'SELECT tde_rotate_master_key()');
reads($standby, 'taken over');

# ---- a passphrase has leaked ----

my $leaked = read_bytes(wallet_path($standby));
my ($block) = $page =~ /### A passphrase has leaked\n.*?```sql\n(.*?)```/s;
$block =~ s/tde_wallet_change_passphrase\(\)/tde_wallet_change_passphrase('a-new-passphrase')/;
$block =~ s/SELECT tde_rotate_key\(\);.*/SELECT tde_rotate_key(), tde_rotate_key('cards');/;
$block =~ s/tde_rekey_table\('\.\.\.'\)/tde_rekey_table('card')/;
lines_of($standby, $_) foreach grep { /\S/ } split /^/, $block =~ s/--.*//gr;
reads($standby, 'after a leak');
unlink glob wallet_path($standby) . '.previous*';
is(lines_of($standby, q{SELECT count(*) FROM tde.master_keys}), '1', 'the old master keys are gone');
write_bytes(wallet_path($standby) . '.leaked', $leaked);
chmod 0600, wallet_path($standby) . '.leaked';
$standby->append_conf('postgresql.conf', "tde_column.wallet_file = '@{[ wallet_path($standby) ]}.leaked'\n");
$standby->restart;
lines_of($standby, $open);
fails_with($standby, 'SELECT a FROM card', { state => 'TDE03', message => qr/is not in the wallet$/ }, 'a copy of the wallet that has leaked with it opens nothing any more');
$standby->stop;

done_testing();
