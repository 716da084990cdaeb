# A copy of a server reads with the wallet and changes nothing in it, until somebody says that the copy takes it over: base backups that are
# started on the same machine with the original's settings, recovery, standbys that are promoted, twice.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $pass = 'clone-passphrase';
my $node = tde_node('original', extension => 1, init => [ allows_streaming => 1 ], conf => "tde_column.passphrase_command = 'echo $pass'\n");
my $path = wallet_path($node);
$node->start;
lines_of(
  $node, qq{
SELECT tde_wallet_create();
SELECT tde_create_key('shredder', erasable => true);
CREATE TABLE card (id int PRIMARY KEY, number encrypted_text, shred encrypted_text('key=shredder'));
INSERT INTO card SELECT i, 'number ' || i, 'x' FROM generate_series(1, 20) i;
SELECT tde_rotate_master_key()});
my $retired = lines_of($node, q{SELECT id FROM tde.master_keys WHERE state = 'retired'});
$node->backup('base');
my $read = 'SELECT count(number::text), count(shred::text) FROM card';
is(lines_of($node, 'SELECT may_change, owner FROM tde.wallet'), 't|' . $node->data_dir . ' on ' . lc `hostname` =~ s/\n//r, 'the wallet is that of the server that made it');

# What would change the wallet is refused, and the file is as it was.
my @changes = (
  'SELECT tde_rotate_master_key()',
  'SELECT tde_prepare_master_key()',
  q{SELECT tde_purge_master_key((SELECT id FROM tde.master_keys WHERE state = 'retired' ORDER BY created LIMIT 1))},
  q{SELECT tde_create_key('more', erasable => true)},
  q{SELECT tde_destroy_key('shredder', 'destroy shredder')},
  q{SELECT tde_wallet_change_passphrase('of the clone')},
  'SELECT tde_wallet_split(2, 3)');

sub changes_nothing
{
  my ($clone, $file, $owner, $name) = @_;
  my $bytes = read_bytes($file);

  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is(lines_of($clone, $read), '20|20', "$name reads");
  is(lines_of($clone, 'SELECT may_change FROM tde.wallet'), 'f', 'the view tells that the wallet is another server\'s');
  foreach my $sql (@changes)
  {
    fails_with(
      $clone, $sql,
      {
        state   => '55000',
        message => qr/^wallet file "\Q$file\E" belongs to another server$/,
        detail  => qr/^The server in \Q$owner\E on .* changes it; this one is in \Q${\$clone->data_dir}\E on /,
        hint    => qr/tde_wallet_take_over\(\).*tde_wallet_save\(\)/
      },
      "$name: $sql");
  }
  is(read_bytes($file), $bytes, 'the file is as it was');
  is(lines_of($clone, $read), '20|20', 'and all can be read as before');
  like(lines_of($clone, q{SELECT string_agg(finding || ' ' || hint, '') FROM tde_audit() WHERE topic = 'wallet'}), qr/reads with it, and changes nothing in it.*tde_wallet_take_over\(\)/,
    'the audit tells');
  return;
}

# ---- a base backup, started beside the original with its settings: its wallet file, too ----

my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($node, 'base');
$clone->start;
changes_nothing($clone, $path, $node->data_dir, 'a clone');
is(lines_of($clone, q{SELECT tde_rotate_key(); INSERT INTO card VALUES (21, 'of the clone', NULL) RETURNING number}), "2\nof the clone", 'it makes data keys of its own');
is(lines_of($node, "SELECT tde_wallet_open(); $read"), "\n20|20", 'the original notices nothing');
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'and changes its wallet');
is(lines_of($node, $read), '20|20', 'as it likes');
is(lines_of($clone, "SELECT tde_wallet_open(); $read"), "\n21|20", 'the clone reads on with the new file');

# The original destroys a key and rotates; what the clone has open is more, and less.
lines_of($node, q{SELECT tde_create_key('short', erasable => true)});
lines_of($clone, 'SELECT tde_wallet_open()');
lines_of($node, q{SELECT tde_destroy_key('short', 'destroy short'); SELECT tde_rotate_master_key()});
is(attempt($clone, 'SELECT tde_wallet_open()')->{state}, '', 'an entry that the original has removed is no loss for the clone');
lines_of($node, "SELECT tde_purge_master_key('$retired')");
rename $path, "$path.away";
fails_with($clone, 'SELECT tde_wallet_save()', { state => '55000', message => qr/belongs to another server$/ }, 'the clone does not write the original\'s file');
rename "$path.away", $path;
fails_with(
  $clone, 'SELECT tde_wallet_open()',
  { state => 'TDE02', message => qr/lacks 1 master key that is open$/, hint => qr/^The server in \Q${\$node->data_dir}\E on .* has changed the wallet since\.  To keep what is open, set tde_column\.wallet_file to another path/ },
  'a master key that the original has purged is one');

# It gets a file of its own.
set_conf($clone, 'tde_column.wallet_file' => "$path.clone");
my $bytes = read_bytes($path);
is(lines_of($clone, 'SELECT tde_wallet_save()'), "$path.clone", 'a file of its own');
is(attempt($clone, 'SELECT tde_rotate_master_key()')->{state}, '55000', 'is a copy first');
lines_of($clone, 'SELECT tde_wallet_take_over()');
is(lines_of($clone, 'SELECT may_change FROM tde.wallet'), 't', 'taken over');
is(attempt($clone, $_)->{state}, '', "the clone may: $_") foreach $changes[0], $changes[2], $changes[4];
is(read_bytes($path), $bytes, 'the file of the original is as it was');
is(lines_of($node, $read), '20|20', 'which reads what the clone has destroyed for itself');
is(attempt($node, 'SELECT tde_prepare_master_key()')->{state}, '', 'and changes its own');
$clone->restart;
is(lines_of($clone, 'SELECT count(number::text) FROM card; SELECT may_change FROM tde.wallet'), "21\nt", 'a restart does not make the clone another server');
$clone->stop;

# ---- the original's file, taken over by a clone: said aloud, and found out ----

my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($node, 'base');
$second->start;
is(lines_of($second, "SELECT tde_wallet_open(); SELECT tde_wallet_take_over(); $read"), "\n\n20|20", 'a clone takes the file itself over');
fails_with($node, 'SELECT tde_rotate_master_key()', { state => 'TDE02', message => qr/has changed since it was opened$/ }, 'the original finds it changed');
fails_with($node, 'SELECT tde_wallet_open(); SELECT tde_rotate_master_key()', { state => '55000', message => qr/belongs to another server$/ }, 'and another server\'s');
is(lines_of($node, $read), '20|20', 'but reads');
lines_of($node, 'SELECT tde_wallet_take_over()');
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'until it takes it back');
$second->stop;

# ---- standbys: promoted one after the other ----

$node->backup('standbys');
my @standbys = map { PostgreSQL::Test::Cluster->new("standby$_") } 1, 2;
foreach my $standby (@standbys)
{
  $standby->init_from_backup($node, 'standbys', has_streaming => 1);
  own_wallet($standby);
  send_wallet($node, $standby);
  $standby->start;
  $node->wait_for_catchup($standby);
  is(lines_of($standby, $read), '20|20', $standby->name . ' reads');
}
$node->stop;
foreach my $standby (@standbys)
{
  $standby->promote;
  changes_nothing($standby, wallet_path($standby), $node->data_dir, $standby->name . ', promoted,');
  lines_of($standby, 'SELECT tde_wallet_take_over()');
  is(attempt($standby, 'SELECT tde_rotate_master_key()')->{state}, '', 'it has taken its wallet over');
  is(lines_of($standby, $read), '20|20', 'and reads all');
  $standby->stop;
}

# ---- the same server, restarted and crashed; and moved: another one ----

$node->start;
is(lines_of($node, "$read; SELECT may_change FROM tde.wallet"), "20|20\nt", 'the original, restarted');
$node->stop('immediate');
my $folder = $node->data_dir;
rename $folder, "$folder.moved" or die "could not rename $folder: $!";
rename "$folder.moved", $folder or die "could not rename it back: $!";
$node->start;
is(lines_of($node, "$read; SELECT may_change FROM tde.wallet"), "20|20\nt", 'after a crash, its folder renamed and back');
$node->stop;
rename $folder, "$folder.gone" or die "could not rename $folder: $!";
PostgreSQL::Test::RecursiveCopy::copypath("$folder.gone", $folder);
chmod 0700, $folder;
$node->start;
is(lines_of($node, "$read; SELECT may_change FROM tde.wallet"), "20|20\nf", 'a copy of its files at the same place is another');
lines_of($node, 'SELECT tde_wallet_take_over()');
is(attempt($node, 'SELECT tde_rotate_master_key()')->{state}, '', 'which takes over');
$node->stop;

done_testing();
