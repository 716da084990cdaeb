# pg_basebackup, WAL archive and recovery to points before, between and after rotations of data keys and of the master key.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('origin', init => [ has_archiving => 1, allows_streaming => 1 ]);
$node->start;
lines_of($node, 'CREATE EXTENSION tde_column');
lines_of(
  $node, q{
SELECT tde_wallet_create('pitr-passphrase');
CREATE TABLE card (id int PRIMARY KEY, holder encrypted_text(salt) UNIQUE, amount encrypted_numeric(nosalt,nomac));
INSERT INTO card SELECT i, 'first ' || i, i FROM generate_series(1, 100) i});
$node->backup('base');

# At each point: its name in the WAL, what the table held then, and the wallet file of then.
my (@points, %rows, %keys, %current);

sub point
{
  my ($name) = @_;

  lines_of($node, "SELECT pg_create_restore_point('$name')");
  push @points, $name;
  $rows{$name}    = lines_of($node, 'SELECT * FROM card ORDER BY id');
  $keys{$name}    = lines_of($node, 'SELECT slot, kind, version, state, master_key FROM tde.keys ORDER BY id');
  $current{$name} = lines_of($node, 'SELECT current_master_key FROM tde.wallet');
  copy(wallet_path($node), wallet_copy($name)) or die "could not copy the wallet: $!";
  return;
}

sub wallet_copy { return $node->basedir . "/wallet.$_[0]"; }

point('start');
lines_of($node, q{SELECT tde_rotate_key('default'); UPDATE card SET holder = 'second ' || id WHERE id % 2 = 0});
point('data_key');
lines_of($node, q{SELECT tde_rotate_master_key(); UPDATE card SET amount = amount + 1 WHERE id % 3 = 0; INSERT INTO card VALUES (101, 'after', 1)});
point('master_key');
lines_of($node, q{SELECT tde_rotate_key('default'), tde_create_key('later'), tde_rotate_key('catalog');
ALTER TABLE card ADD COLUMN note encrypted_text('key=later') DEFAULT 'noted'; UPDATE card SET holder = 'third ' || id WHERE id % 5 = 0;
CREATE VIEW noted AS SELECT id FROM card WHERE note = 'noted'});
point('new_key');
lines_of($node, q{SELECT tde_rotate_master_key(); UPDATE card SET holder = holder || '!'; CREATE INDEX ON card (note)});
point('second_master_key');

# A key made in a transaction that is still open where recovery ends: its values are gone, the key may be there.
my $maker = session($node);
session_try($maker, q{BEGIN; SELECT tde_rotate_key('later'); INSERT INTO card VALUES (200, 'open', 2)});
point('open_transaction');
session_try($maker, 'COMMIT');
$maker->quit;
lines_of($node, 'SELECT pg_switch_wal()');
$node->poll_query_until('postgres', q{SELECT last_archived_wal >= pg_walfile_name(pg_create_restore_point('end') - 20000000) FROM pg_stat_archiver})
  or die 'the WAL is not archived';

# A server recovered to this point, with the wallet of that one.
sub recovered
{
  my ($point, $wallet) = @_;
  my $copy = PostgreSQL::Test::Cluster->new("${point}_with_$wallet");

  $copy->init_from_backup($node, 'base', has_restoring => 1, standby => 0);
  own_wallet($copy);
  write_bytes(wallet_path($copy), read_bytes(wallet_copy($wallet)));
  $copy->append_conf('postgresql.conf', "recovery_target_name = '$point'\nrecovery_target_action = 'promote'\narchive_mode = off\n");
  $copy->start;
  $copy->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery does not end';
  return $copy;
}

# The wallet of the end holds all retired keys, so it opens every point.
foreach my $point (@points)
{
  my $copy = recovered($point, $points[-1]);

  is(lines_of($copy, 'SELECT count(*) FROM card'), scalar(split /\n/, $rows{$point}), "$point: recovered without a key");
  lines_of($copy, "SELECT tde_wallet_open('pitr-passphrase')");
  is(lines_of($copy, 'SELECT * FROM card ORDER BY id'), $rows{$point}, "$point: all values");
  is(lines_of($copy, 'SELECT slot, kind, version, state, master_key FROM tde.keys ORDER BY id'), $keys{$point}, "$point: keys");
  is(lines_of($copy, 'SET enable_seqscan = off; SELECT holder FROM card ORDER BY holder LIMIT 1'),
    (sort map { (split /\|/)[1] } split /\n/, $rows{$point})[0], "$point: by index");

  fails_with($copy, 'SELECT tde_rotate_master_key()', { state => '55000', message => qr/belongs to another server$/, hint => qr/tde_wallet_take_over\(\)/ },
    "$point: the wallet is the other server's");
  lines_of($copy, 'SELECT tde_wallet_take_over()');

  # It goes on from there: under the wallet's master key, which is newer than that of the rows.
  lines_of($copy, q{INSERT INTO card VALUES (300, 'recovered', 3); SELECT tde_rotate_key('default'), tde_rotate_master_key();
INSERT INTO card VALUES (301, 'and rotated', 3)});
  is(lines_of($copy, 'SELECT holder FROM card WHERE id >= 300 ORDER BY id'), "recovered\nand rotated", "$point: it goes on");
  $copy->stop;
}

# A wallet from before the rotation knows neither the key that wraps the data keys now, nor what to do about it.
foreach my $case ([ 'data_key', 'start' ], [ 'master_key', 'data_key' ], [ 'second_master_key', 'master_key' ])
{
  my ($point, $wallet) = @$case;
  my $copy = recovered($point, $wallet);

  lines_of($copy, "SELECT tde_wallet_open('pitr-passphrase')");
  if ($current{$point} eq $current{$wallet})
  {
    is(lines_of($copy, 'SELECT * FROM card ORDER BY id'), $rows{$point}, "$point with the wallet of $wallet: data keys are not in the wallet");
    $copy->stop;
    next;
  }
  fails_with($copy, $_, { state => 'TDE03', message => qr/^master key $current{$point} is not in the wallet$/, hint => qr/wallet .* is older than the key/ },
    "$point with the wallet of $wallet: $_")
    foreach 'SELECT max(holder) FROM card', "INSERT INTO card VALUES (300, 'x', 1)", "SELECT tde_create_key('other')", "SELECT tde_rotate_key('default')",
    'SELECT tde_rotate_master_key()';
  is(lines_of($copy, 'SELECT count(*) FROM card'), scalar(split /\n/, $rows{$point}), 'what needs no key goes on');
  write_bytes(wallet_path($copy), read_bytes(wallet_copy($point)));
  lines_of($copy, "SELECT tde_wallet_open('pitr-passphrase')");
  is(lines_of($copy, 'SELECT * FROM card ORDER BY id'), $rows{$point}, 'with the right wallet all is there');
  $copy->stop;
}
$node->stop;
done_testing();
