# tde_prepare_key(): the next version of a key is there before anything is encrypted under it, so that other databases can have it first.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('prepared', extension => 1, conf => "tde_column.passphrase_command = 'echo prepared-passphrase'\n");
$node->start;
lines_of($node, q{
SELECT tde_wallet_create(), tde_create_key('card');
CREATE TABLE card (id int, pan encrypted_text('key=card'), n encrypted_int4(nomac, 'key=card'), note encrypted_text);
INSERT INTO card VALUES (1, 'a', 1, 'x')});

# Versions and their states, of values with a MAC and without.
sub versions { return lines_of($node, "SELECT string_agg(version || ':' || state, ' ' ORDER BY version) FROM tde.keys WHERE name = '$_[0]' AND kind = 'mac'"); }
sub kinds { return lines_of($node, "SELECT string_agg(kind || version || ':' || state, ' ' ORDER BY kind, version) FROM tde.keys WHERE name = '$_[0]'"); }
my $used = q{SELECT string_agg(version || ':' || count, ' ' ORDER BY version) FROM tde_key_usage('card') WHERE "column" = 'pan' AND object_type = 'table'};

# ---- prepared, and not used ----

my $cached = session($node);
is(session_try($cached, 'SELECT pan FROM card')->{out}, 'a', 'a session has the key');
is(lines_of($node, q{BEGIN; SELECT tde_prepare_key('card'); ROLLBACK}), '2', 'a version is prepared');
is(kinds('card'), 'mac1:active mac2:prepared nomac1:active nomac2:prepared', 'of both kinds, and a rollback does not take it away');
is(lines_of($node, q{SELECT tde_prepare_key('card')}), '2', 'again: it is the same one');
is(kinds('card'), 'mac1:active mac2:prepared nomac1:active nomac2:prepared', '... and there is no other');
session_try($cached, q{INSERT INTO card VALUES (2, 'b', 2, 'x')});
lines_of($node, q{INSERT INTO card VALUES (3, 'c', 3, 'x')});
is(lines_of($node, $used), '1:3', 'nothing is encrypted under it');
is(lines_of($node, q{SELECT total_encryptions FROM tde.keys WHERE name = 'card' AND state = 'prepared' AND kind = 'mac'}), '0', 'it has encrypted nothing');
is(lines_of($node, 'SELECT tde_prepare_key()'), '2', 'the default key');
is(versions('default'), '1:active 2:prepared', '... too');
fails_with($node, q{SELECT tde_drop_key_version('card', 2)},
  { state => '55006', message => qr/^cannot drop version 2 of key "card" because it is prepared$/, hint => qr/SELECT tde_rotate_key\('card'\);/ }, 'it cannot be dropped');
lines_of($node, q{CALL tde_rekey_table('card')});
is(lines_of($node, $used), '1:3', 'nor does re-encryption use it');

# ---- activated ----

is(lines_of($node, q{BEGIN; SELECT tde_rotate_key('card'); INSERT INTO card VALUES (4, 'd', 4, 'x'); ROLLBACK}), '2', 'a rotation takes the prepared version');
is(versions('card'), '1:active 2:prepared', '... and a rollback takes that back');
is(session_try($cached, q{INSERT INTO card VALUES (5, 'e', 5, 'x') RETURNING pan})->{out}, 'e', 'others write meanwhile');
is(lines_of($node, $used), '1:4', '... under the version that is active');
is(lines_of($node, q{SELECT tde_rotate_key('card')}), '2', 'with the commit');
is(kinds('card'), 'mac1:retired mac2:active nomac1:retired nomac2:active', '... it is active');
session_try($cached, q{INSERT INTO card VALUES (6, 'f', 6, 'x')});
is(lines_of($node, $used), '1:4 2:1', 'a session that was there takes it');
is(lines_of($node, q{SELECT string_agg(pan, '' ORDER BY id) FROM card}), 'abcef', 'all can be read');
is(lines_of($node, q{SELECT tde_rotate_key('card')}), '3', 'without a prepared one, a rotation makes one');
is(versions('card'), '1:retired 2:retired 3:active', '... at once');
is(lines_of($node, 'SELECT tde_rotate_key(), count(note) FROM card'), '2|5', 'the default key');

# One kind of the key has come since.
lines_of($node, q{SELECT tde_create_key('late'), tde_prepare_key('late'); CREATE TABLE late (n encrypted_int4(nomac, 'key=late'))});
is(kinds('late'), 'mac1:active mac2:prepared nomac1:active', 'a kind that came after the preparation');
is(lines_of($node, q{SELECT tde_rotate_key('late'); SELECT n FROM late}), '2', 'is rotated, too');
is(kinds('late'), 'mac1:retired mac2:active nomac1:retired nomac2:active', '... with a new version');

# ---- a version at its limit overtakes it ----

lines_of($node, q{SELECT tde_create_key('full'), tde_prepare_key('full'); CREATE TABLE full_of (pan encrypted_text('key=full'))});
set_conf($node, 'tde_column.encryption_limit', '100');
lines_of($node, q{INSERT INTO full_of SELECT i::text FROM generate_series(1, 300) i; INSERT INTO full_of VALUES ('x')});
unlike(versions('full'), qr/2:active/, 'a version that is full is not replaced by the prepared one');
like(versions('full'), qr/^1:retired 2:prepared(?: \d:retired)* \d:active$/, '... but by a later one');
set_conf($node, 'tde_column.encryption_limit', '0');
my ($last) = versions('full') =~ /(\d+):active$/;
is(lines_of($node, q{SELECT tde_rotate_key('full')}), $last + 1, 'a rotation does not go back to it');
like(versions('full'), qr/^1:retired 2:retired .*@{[ $last + 1 ]}:active$/, '... and it is retired');
is(lines_of($node, q{SELECT count(pan) FROM full_of}), '301', 'all can be read');

# ---- who edits files ----

lines_of($node, q{SELECT tde_create_key('edited'); CREATE TABLE edited (pan encrypted_text('key=edited')); SELECT tde_rotate_key('edited')});
my $unwrap = { state => 'TDE04', message => qr/^could not unwrap data key \d+$/ };
edit_keys($node, q{UPDATE tde.data_keys SET state = 'p' WHERE name = 'edited' AND version = 2});
fails_with($node, q{INSERT INTO edited VALUES ('x')}, $unwrap, 'the newest version says that it is only prepared');
edit_keys($node, q{UPDATE tde.data_keys SET state = 'a' WHERE name = 'edited' AND version = 2});
is(lines_of($node, q{INSERT INTO edited VALUES ('x') RETURNING pan}), 'x', 'put right, it is for new values');
lines_of($node, q{SELECT tde_prepare_key('edited')});
edit_keys($node, q{UPDATE tde.data_keys SET state = 'a' WHERE name = 'edited' AND version = 3});
fails_with($node, q{INSERT INTO edited VALUES ('x')}, $unwrap, 'a prepared version says that it is active');

# ---- refused ----

fails_with($node, q{SELECT tde_prepare_key('nokey')}, { state => '42704', message => qr/^key "nokey" does not exist$/ }, 'no key');
fails_with($node, q{BEGIN READ ONLY; SELECT tde_prepare_key('card')}, { state => '25006' }, 'a read-only transaction');
lines_of($node, 'CREATE ROLE nobody LOGIN');
fails_with($node, q{SELECT tde_prepare_key('card')}, { state => '42501' }, 'a role without the privilege', user => 'nobody');
set_conf($node, 'tde_column.passphrase_command', q{''});
lines_of($node, 'SELECT tde_wallet_close()');
fails_with($node, "SELECT $_('card')", { state => 'TDE01' }, "a closed wallet: $_") foreach 'tde_prepare_key', 'tde_rotate_key';

$cached->quit;
$node->stop;
done_testing();
