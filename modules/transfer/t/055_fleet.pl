# Servers that share keys: one database's keys become those of others, with rotations, renamings and destructions that come later.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../../../test/perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $origin = tde_node('origin', extension => 1, conf => "max_prepared_transactions = 2\nlog_statement = 'all'\n");
my $other  = tde_node('other', extension => 1, conf => "max_prepared_transactions = 2\nlog_statement = 'all'\n");
my $secret = 'a secret for the fleet';

foreach my $node ($origin, $other)
{
  $node->start;
  lines_of($node, "SELECT tde_wallet_create('" . $node->name . "-passphrase')");
}

sub exported { return lines_of($_[0], "SELECT tde_export_keys('$secret', adoptable => true)", db => $_[1]); }
sub adoption { return "SELECT tde_import_keys('$_[0]', '$secret', adopt => true)"; }
sub adopted  { return lines_of($_[0], adoption($_[1]), db => $_[2]); }
sub fingerprint { return lines_of($_[0], 'SELECT tde_key_fingerprint()', db => $_[1]); }

# Everything that has to agree, and the numbers, which need not.
my $keys = 'SELECT name, slot, kind, version, state, uuid FROM tde.keys ORDER BY uuid';
sub agree
{
  my ($name, $db) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is(lines_of($other, $keys, db => $db), lines_of($origin, $keys), "$name: the same keys");
  return is(fingerprint($other, $db), fingerprint($origin), "$name: the same fingerprint");
}

sub differ
{
  my ($name, $db) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  return isnt(fingerprint($other, $db), fingerprint($origin), "$name: another fingerprint");
}

# A refusal changes nothing.
sub refused
{
  my ($text, $expected, $name, %opts) = @_;
  my $before = lines_of($other, 'SELECT * FROM tde.data_keys ORDER BY id', db => $opts{db});
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  fails_with($other, $opts{sql} // adoption($text), $expected, $name, %opts);
  return is(lines_of($other, 'SELECT * FROM tde.data_keys ORDER BY id', db => $opts{db}), $before, "$name: nothing has changed");
}

# What the hash class's first function makes of a value.
sub hash_of
{
  my ($node, $value, $db) = @_;
  my $function = lines_of($node, q{SELECT p.amproc FROM pg_amproc p JOIN pg_opfamily f ON f.oid = p.amprocfamily JOIN pg_am m ON m.oid = f.opfmethod
    WHERE m.amname = 'hash' AND p.amproclefttype = 'encrypted_text'::regtype AND p.amprocnum = 1}, db => $db);
  return lines_of($node, "SELECT $function('$value'::encrypted_text)", db => $db);
}

# ---- the first time ----

lines_of($origin, q{SELECT tde_create_key('cards'), tde_create_key('erasable', erasable => true), tde_rotate_key('cards'), tde_rotate_key();
  SELECT tde_create_key('gone'); SELECT tde_destroy_key('gone', confirm => 'destroy gone');
  CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text('key=cards', nosalt), holder encrypted_text, note encrypted_text('key=erasable'),
    amount encrypted_numeric(nomac, nosalt));
  INSERT INTO card SELECT i, 'pan' || i, 'holder' || i, 'note' || i, i FROM generate_series(1, 20) i});
like(fingerprint($origin), qr/^[0-9a-f]{32}$/, 'a fingerprint');
differ('at first');
isnt(hash_of($other, 'x'), hash_of($origin, 'x'), 'and another hash');

my $plain = lines_of($origin, "SELECT tde_export_keys('$secret')");
refused($plain, { state => '22023', message => qr/^exported keys do not tell all that is to be adopted$/, hint => qr/adoptable => true/ },
  'what is exported for reading');
is(lines_of($origin, "SELECT tde_export_keys('$secret', false) ~ '^tdekeys:AQ'"), 't', 'adoptable => false is the same as without');
my $first = exported($origin);
is(exported($origin) eq $first, '', 'the text is salted');
is(lines_of($origin, q{SELECT string_agg(slot || ':' || kind, ' ' ORDER BY slot, kind) FROM tde.keys WHERE kind = 'nomac'}),
  '0:nomac 1:nomac 2:nomac', 'who adopts the keys need not make any for columns without MAC');

my $unwrap = { state => 'TDE04', message => qr/^could not unwrap exported keys$/ };
my $no_text = { state => '22023', message => qr/^text does not contain keys/ };
refused($first, $unwrap, 'another secret', sql => "SELECT tde_import_keys('$first', 'another secret', adopt => true)");
refused(substr($first, 0, -16), $unwrap, 'a truncated text');
refused(substr($first, 0, 100) . ($first =~ /^.{100}A/ ? 'B' : 'A') . substr($first, 101), $unwrap, 'a changed text');
refused($first =~ s/^tdekeys:Ag/tdekeys:AQ/r, $unwrap, 'a text of the other format');
refused($first =~ s/^tdekeys:Ag/tdekeys:Aw/r, $no_text, 'a text of a later format');
refused('', $no_text, 'no text');
is(lines_of($other, "SELECT tde_import_keys(NULL, 'x', true) IS NULL AND tde_import_keys('x', 'x', NULL) IS NULL AND tde_export_keys('x', NULL) IS NULL"),
  't', 'NULLs');
fails_with($other, "SELECT tde_import_keys('x', NULL, true)", { state => '22023', message => qr/^no secret was given$/, hint => qr/COPY tde\.passphrase/ }, 'no secret');

# Data, wherever it is.
foreach my $case (
  [ 'a table', q{CREATE TABLE used (a encrypted_text); INSERT INTO used VALUES ('x')}, 'DROP TABLE used', qr/^table public\.used, column a: 1 value$/m ],
  [ 'a view', q{CREATE VIEW used AS SELECT 'x'::encrypted_text AS a}, 'DROP VIEW used', qr/^view public\.used: 1 value$/m ],
  [ 'a default', q{CREATE TABLE used (a encrypted_text DEFAULT 'x')}, 'DROP TABLE used', qr/^default .*: 1 value$/m ],
  [ 'deleted rows', q{CREATE TABLE used (a encrypted_text); INSERT INTO used VALUES ('x'); CREATE INDEX ON used (a)}, 'DROP TABLE used', qr/^index public\.used_a_idx/m ])
{
  my ($name, $make, $drop, $detail) = @$case;
  lines_of($other, $make);
  refused($first, { state => '2BP01', message => qr/^cannot adopt keys because this database has encrypted data$/, detail => $detail, hint => qr/./ }, $name);
  lines_of($other, $drop);
}
lines_of($other, q{BEGIN; CREATE TABLE used (a encrypted_text); INSERT INTO used VALUES ('x'); PREPARE TRANSACTION 'p'});
refused($first, { state => '55006', message => qr/^cannot adopt keys while there are prepared transactions$/ }, 'a prepared transaction');
lines_of($other, q{ROLLBACK PREPARED 'p'});
refused($first, { state => '2BP01', message => qr/encrypted data/ }, 'what the transaction itself has stored',
  sql => q{BEGIN; CREATE TABLE used (a encrypted_text); INSERT INTO used VALUES ('x'); } . adoption($first));

# Slots of other keys.
lines_of($other, q{SELECT tde_create_key('pay'); CREATE TABLE declared (a encrypted_text('key=pay'))});
refused($first, { state => '2BP01', message => qr/^cannot adopt keys because slot 1 is not that of key "pay" there$/, detail => qr/column a of table declared/ },
  'a declared column of another key');
lines_of($other, 'DROP TABLE declared; CREATE DOMAIN declared AS encrypted_text(\'key=pay\')');
refused($first, { state => '2BP01', message => qr/slot 1/, detail => qr/type declared/ }, 'a domain');
lines_of($other, 'DROP DOMAIN declared');
lines_of($other, q{CREATE FUNCTION declared(a text) RETURNS text STABLE RETURN (a::encrypted_text('key=pay'))::text});
refused($first, { state => '2BP01', message => qr/slot 1/, detail => qr/function declared/ }, 'a function');
lines_of($other, 'DROP FUNCTION declared');
lines_of($other, q{CREATE TABLE beside (a encrypted_text, b encrypted_int4(nomac)); CREATE VIEW beside_view AS SELECT a FROM beside});

# Tables that Citus has distributed.
lines_of($other, q{SET allow_system_table_mods = on; CREATE TABLE declared (a encrypted_text);
  CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char"); INSERT INTO pg_catalog.pg_dist_partition VALUES ('declared', 'h')});
refused($first, { state => '2BP01', message => qr/^cannot adopt keys because table declared is distributed$/ }, 'a distributed table');
lines_of($other, 'SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_partition, declared');

# From here on the key's slot is named by nothing; other columns are no obstacle.

# Nobody else.
lines_of($other, 'CREATE ROLE nobody');
refused($first, { state => '42501', message => qr/^permission denied for function tde_import_keys$/ }, 'a role without the privilege',
  sql => 'SET ROLE nobody; ' . adoption($first));
fails_with($other, 'SET ROLE nobody; SELECT tde_key_fingerprint()', { state => '42501' }, 'nor may it see the fingerprint');
is(attempt($other, 'SET ROLE pg_monitor; SELECT tde_key_fingerprint()')->{state}, '', 'pg_monitor may');
lines_of($other, 'GRANT EXECUTE ON FUNCTION tde_import_keys(text, text) TO nobody');
refused($first, { state => '42501', message => qr/^permission denied/ }, 'a role that may import for reading', sql => 'SET ROLE nobody; ' . adoption($first));
refused($first, { state => '25006', message => qr/read-only transaction$/ }, 'a read-only transaction',
  sql => 'BEGIN READ ONLY; ' . adoption($first));

lines_of($other, 'SELECT tde_wallet_close()');
refused($first, { state => 'TDE01', message => qr/^wallet is not open$/ }, 'a closed wallet');
lines_of($other, q{SELECT tde_wallet_open('other-passphrase')});

# A rollback takes all of it back.
my $before = fingerprint($other);
my $result = attempt($other, 'BEGIN; ' . adoption($first) . '; SELECT tde_key_fingerprint(); ROLLBACK');
like($result->{out}, qr/^@{[fingerprint($origin)]}$/m, 'in the transaction the keys are those of the origin') or diag($result->{err});
is(fingerprint($other), $before, 'after a rollback they are not');
is(lines_of($other, q{CREATE TABLE again (a encrypted_text); INSERT INTO again VALUES ('x') RETURNING a; DROP TABLE again}), 'x', 'and the own ones serve');
refused($first, { state => '0A000', message => qr/^cannot PREPARE a transaction that has changed encryption keys$/ }, 'PREPARE TRANSACTION',
  sql => 'BEGIN; ' . adoption($first) . "; PREPARE TRANSACTION 'p'");

# A session that is there already, with a statement of old literals.  Its transaction is waited for.
my $session = session($other);
lines_of($other, 'CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text(nosalt), holder encrypted_text)');
session_try($session, q{PREPARE old AS SELECT 'literal'::encrypted_text; EXECUTE old});
session_try($session, 'BEGIN; SELECT 1');
refused($first, { state => '55P03', message => qr/lock timeout/ }, 'others\' transactions', sql => "SET lock_timeout = '200ms'; " . adoption($first));
session_try($session, 'COMMIT');
my $count = 'SELECT count(*) FROM tde.data_keys';
my $moved = lines_of($other, $count) + lines_of($origin, $count);
is(adopted($other, $first), $moved, 'adopted: its own keys go, and those of the origin come');
agree('adopted');
is(adopted($other, $first), '0', 'the second time there is nothing to do');
is(session_try($session, 'EXECUTE old')->{out}, 'literal', 'an old prepared statement is parsed anew');
is(hash_of($other, 'x'), hash_of($origin, 'x'), 'the same hash');
is(session_try($session, q{INSERT INTO card VALUES (1, 'pan1', 'holder1') RETURNING holder})->{out}, 'holder1', 'the session writes');
is(lines_of($other, q{SELECT string_agg(DISTINCT k.name || k.version, ' ') FROM tde_key_usage('card') u JOIN tde.keys k ON k.id = u.key_id WHERE object_type = 'table'}),
  'default2', 'under the newest version');
lines_of($other, 'DROP TABLE card');
unlike(slurp_file($other->logfile) . slurp_file($origin->logfile), qr/\Q$secret\E/, 'the secret is in no log');

# ---- values travel as they are ----

my $form = 'SET tde_column.io_format = ciphertext; ';
my $table = q{CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text('key=cards', nosalt), holder encrypted_text, note encrypted_text('key=erasable'),
    amount encrypted_numeric(nomac, nosalt))};
lines_of($other, $table);
is(lines_of($other, q{SELECT count(*) FROM tde.keys WHERE kind = 'nomac' AND slot = 0}), '1', 'a column without MAC makes no key');
agree('declared');
my $rows = lines_of($origin, $form . "COPY card TO STDOUT");
sub load
{
  my ($rows) = @_;
  my $file = PostgreSQL::Test::Utils::tempdir . '/rows';
  write_bytes($file, "$rows\n");
  chmod 0644, $file;
  return attempt($other, $form . "\\copy card FROM '$file'");
}
is(load($rows)->{state}, '', 'COPY of ciphertext');
my $all = 'SELECT * FROM card ORDER BY id';
is(lines_of($other, $all), lines_of($origin, $all), 'which the other one reads');
is(lines_of($other, $form . $all), lines_of($origin, $form . $all), 'byte for byte');
is(lines_of($other, "CREATE INDEX ON card USING hash (pan); SET enable_seqscan = off; SELECT id FROM card WHERE pan = 'pan7'"), '7', 'a hash index');

# ---- rotations ----

lines_of($origin, q{SELECT tde_rotate_key(), tde_rotate_key('cards'); INSERT INTO card VALUES (101, 'pan101', 'h', 'n', 1)});
differ('rotated');
my $newest = lines_of($origin, $form . 'COPY (SELECT * FROM card WHERE id = 101) TO STDOUT');
my $uuid = lines_of($origin, q{SELECT uuid FROM tde.keys WHERE name = 'cards' AND kind = 'mac' AND state = 'active'});
$result = load($newest);
is($result->{state}, 'TDE03', 'a value of a version that is not here');
like($result->{message}, qr/^data key \Q$uuid\E is not in this database$/, 'names it');
like($result->{hint}, qr/tde\.keys/, 'and says where it is found');
my $second = exported($origin);
is(session_try($session, q{SELECT count(*) FROM card WHERE pan = 'pan3'})->{out}, '1', 'a session with its keys ready');
is(adopted($other, $second), '4', 'adopted: two versions for values with and without MAC');
agree('rotated');
is(load($newest)->{state}, '', 'its values can be read');
session_try($session, q{INSERT INTO card VALUES (102, 'pan102', 'h', 'n', 2)});
my $usage = q{SELECT string_agg(k.name || k.version || ':' || u.count, ' ' ORDER BY k.name, k.version) FROM tde_key_usage('card') u
  JOIN tde.keys k ON k.id = u.key_id WHERE object_type = 'table' AND "column" = 'pan'};
is(lines_of($other, $usage), 'cards2:20 cards3:2', 'new values take the newest version, in sessions that were there, too');

# In two steps, so that nobody meets a version that he lacks.
lines_of($origin, q{SELECT tde_prepare_key('cards')});
my $prepared = exported($origin);
is(adopted($other, $prepared), '2', 'adopted: a version that is prepared');
agree('prepared');
session_try($session, q{INSERT INTO card VALUES (203, 'pan203', 'h', 'n', 3)});
is(lines_of($other, $usage), 'cards2:20 cards3:3', 'new values do not take it');
is(lines_of($origin, q{SELECT tde_rotate_key('cards'); INSERT INTO card VALUES (204, 'pan204', 'h', 'n', 4)}), '4', 'the origin does');
$newest = lines_of($origin, $form . 'COPY (SELECT * FROM card WHERE id = 204) TO STDOUT');
is(load($newest)->{state}, '', 'a value under it can be read before the other one rotates');
is(lines_of($other, 'SELECT pan FROM card WHERE id = 204'), 'pan204', '... and is what it was');
is(adopted($other, exported($origin)), '2', 'adopted: it is active');
agree('prepared and rotated');
session_try($session, q{INSERT INTO card VALUES (205, 'pan205', 'h', 'n', 5)});
is(lines_of($other, $usage), 'cards2:20 cards3:3 cards4:2', 'new values take it');
is(adopted($other, $prepared), '0', 'adopted once more: the export of the time between');
agree('an export of the time between');

# An export that is older than what is here.
refused($first, { state => '55000', message => qr/^exported keys lack version 3 of key "(?:default|cards)" of this database$/, hint => qr/adoptable/ },
  'an older export');

# A new key, a name, a version that was dropped.
lines_of($origin, q{SELECT tde_create_key('new'); SELECT tde_rename_key('cards', 'payments')});
adopted($other, exported($origin));
agree('a new key and another name');
like(lines_of($other, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'card'::regclass AND attname = 'pan'"),
  qr/'key=payments'/, 'a column has the key under its new name');
is(lines_of($other, q{SELECT pan FROM card WHERE pan = 'pan3'}), 'pan3', 'and its values');
lines_of($origin, q{CREATE TABLE x (a encrypted_text('key=new')); SELECT tde_rotate_key('new'); SELECT tde_drop_key_version('new', 1)});
$result = attempt($other, adoption(exported($origin)));
is($result->{state}, '', 'a version that was dropped there') or diag($result->{err});
like($result->{err}, qr/NOTICE:  \S+ version 1 of key "new" was dropped where the keys come from, and stays here\n.*?HINT:  Drop it here, too: SELECT tde_drop_key_version\('new', 1\);/s,
  'a notice says what to do');
differ('dropped there');
lines_of($other, q{SELECT tde_drop_key_version('new', 1)});
agree('dropped on both');

# ---- versions made after changes that a rollback undoes ----

# They stay, and what the rollback brings back would have their slot, version or UUID.
my $freed = { state => '55000', message => qr/^cannot make version \d of key "\w+" in a transaction that has renamed, dropped or adopted keys$/, hint => qr/^Commit first\.$/ };
lines_of($origin, 'CREATE DATABASE apart');
lines_of($origin, q{CREATE EXTENSION tde_column; SELECT tde_create_key('apart'), tde_rotate_key(); CREATE TABLE x (a encrypted_text('key=apart'))}, db => 'apart');
my $apart = lines_of($origin, "SELECT tde_export_keys('$secret')", db => 'apart');
my $apart_rows = lines_of($origin, 'SELECT * FROM tde.data_keys ORDER BY id', db => 'apart');
foreach my $changes (
  q{SELECT tde_rename_key('apart', 'renamed'); SELECT tde_rotate_key('renamed')},
  q{SELECT tde_rename_key('apart', 'renamed'); CREATE TABLE y (a encrypted_text('key=renamed', nomac)); INSERT INTO y VALUES ('x')},
  "SELECT tde_drop_key_version('default', 1); SELECT tde_import_keys('$apart', '$secret')",
  "DROP TABLE x; @{[ adoption(exported($origin)) ]}; SELECT tde_rotate_key()",
  "DROP TABLE x; @{[ adoption(exported($origin)) ]}; SELECT tde_import_keys('$apart', '$secret')")
{
  fails_with($origin, "BEGIN; $changes; ROLLBACK", $freed, substr($changes, 0, 60), db => 'apart');
  is(lines_of($origin, 'SELECT * FROM tde.data_keys ORDER BY id', db => 'apart'), $apart_rows, 'which leaves nothing');
}
is(attempt($origin, q{BEGIN; SELECT tde_rotate_key('apart'); SELECT tde_rename_key('apart', 'renamed'); ROLLBACK; SELECT tde_rotate_key('apart')}, db => 'apart')->{state},
  '', 'in the other order, and afterwards, they can be made');

# Nothing is stored under keys that a rollback takes away: its index would keep what nobody can compare.
lines_of($other, 'CREATE DATABASE apart');
lines_of($other, q{CREATE EXTENSION tde_column; CREATE TABLE x (a encrypted_int4(nosalt) PRIMARY KEY, b encrypted_text)}, db => 'apart');
my $adopted = { state => '55000', message => qr/^cannot store values under key "\w+" in the transaction that has adopted it$/, hint => qr/^Commit first\.$/ };
foreach my $time ('the first time', 'later')
{
  my $ciphertext = lines_of($origin, "CREATE TEMP TABLE f (a encrypted_int4(nosalt)); INSERT INTO f VALUES (7); ${form}COPY f TO STDOUT");
  fails_with($other, "BEGIN; @{[ adoption(exported($origin)) ]}; $_; COMMIT", $adopted, "$time: $_", db => 'apart')
    foreach 'INSERT INTO x VALUES (1)', "SAVEPOINT s; INSERT INTO x VALUES (1, 'a')", "CREATE TABLE y (a encrypted_text DEFAULT 'b')", "${form}INSERT INTO x VALUES ('$ciphertext')";
  is(attempt($other, "BEGIN; @{[ adoption(exported($origin)) ]}; SELECT count(*) FROM x WHERE a > 1; ROLLBACK; INSERT INTO x SELECT i FROM generate_series(1, 500) i; TRUNCATE x", db => 'apart')->{state},
    '', 'a rollback does no harm');
  is(attempt($other, "BEGIN; SAVEPOINT s; @{[ adoption(exported($origin)) ]}; ROLLBACK TO s; INSERT INTO x VALUES (2); COMMIT", db => 'apart')->{state}, '', 'nor one to a savepoint');
  lines_of($other, 'TRUNCATE x', db => 'apart');
  adopted($other, exported($origin), 'apart');
  lines_of($other, q{INSERT INTO x VALUES (3, 'c'); SET enable_seqscan = off; SELECT a FROM x WHERE a = 3; TRUNCATE x}, db => 'apart');
  lines_of($origin, q{SELECT tde_rotate_key(), tde_rotate_key('catalog')});
}

# ---- a key that was made here ----

lines_of($other, q{SELECT tde_rotate_key(); INSERT INTO card VALUES (103, 'pan103', 'own', 'n', 3)});
refused(exported($origin), { state => '55000', message => qr/^exported keys lack version 4 of key "default" of this database$/, detail => qr/made here/ },
  'a version that was made here');
lines_of($origin, 'SELECT tde_rotate_key()');
refused(exported($origin), { state => '55000', message => qr/^exported keys lack version 4 of key "default"/ }, 'the same version made by both');
my $own = lines_of($other, "SELECT tde_export_keys('$secret')");
lines_of($origin, "SELECT tde_import_keys('$own', '$secret')");
adopted($other, exported($origin));
agree('brought to the origin');
is(lines_of($other, 'SELECT holder FROM card WHERE id = 103'), 'own', 'its values can be read');
lines_of($other, q{INSERT INTO card VALUES (104, 'pan104', 'later', 'n', 4)});
is(lines_of($other, q{SELECT (SELECT k.uuid FROM tde.keys k WHERE k.name = 'default' AND k.kind = 'mac' AND k.state = 'active')}),
  lines_of($origin, q{SELECT (SELECT k.uuid FROM tde.keys k WHERE k.name = 'default' AND k.kind = 'mac' AND k.state = 'active')}), 'and both have one for new values');

# ---- destroying ----

my $entries = q{SELECT count(*) FROM tde.master_keys WHERE state = 'erasable'};
my $before_it = lines_of($other, $entries);
is(lines_of($other, q{SELECT count(*) FROM tde.master_keys m JOIN tde.keys k ON k.master_key = m.id WHERE m.state = 'erasable' AND k.name = 'erasable' AND k.kind = 'mac'}),
  '1', 'the other wallet has an entry of its own for the erasable key');
my $alive = exported($origin);
lines_of($origin, q{SELECT tde_destroy_key('erasable', confirm => 'destroy erasable'); SELECT tde_destroy_key('payments', confirm => 'destroy payments')});
is(lines_of($other, 'SELECT note FROM card WHERE id = 3'), 'note3', 'destroyed there, it can still be read here');
my $destroyed = exported($origin);
$result = attempt($other, adoption($destroyed));
is($result->{state}, '', 'brought here') or diag($result->{err});
like($result->{err}, qr/NOTICE:  \S+ version 1 of key "erasable" was destroyed where the keys come from, and now is here\n.*?HINT:  Other copies of the wallet/s,
  'a notice tells');
is(lines_of($other, $entries), $before_it - 1, 'its entry is gone, and only that');
agree('destroyed');
fails_with($other, 'SELECT note FROM card WHERE id = 3', { state => 'TDE03', message => qr/was destroyed/ }, 'no value can be read');
is(session_try($session, 'SELECT pan FROM card WHERE id = 3')->{state}, 'TDE03', 'in no session');
fails_with($other, q{INSERT INTO card VALUES (105, 'x', 'x', 'x', 5)}, { state => 'TDE03' }, 'nor written');
is(lines_of($other, 'SELECT holder FROM card WHERE id = 3'), 'holder3', 'others can');
refused($alive, { state => '55000', message => qr/^exported keys are older than those of this database$/, detail => qr/was destroyed here, and not there/ },
  'an export from before does not bring it back');

# ---- after a crash, another wallet, an old backup ----

$other->stop('immediate');
$other->start;
lines_of($other, q{SELECT tde_wallet_open('other-passphrase')});
agree('after a crash');
eval { $session->quit };
is(lines_of($other, 'SELECT holder FROM card WHERE id = 3'), 'holder3', 'and values');

# The wallet is lost: with the export it is made anew.
$other->stop;
foreign_wallet(wallet_path($other), 'foreign-passphrase');
$other->start;
lines_of($other, q{SELECT tde_wallet_open('foreign-passphrase')});
lines_of($other, q{SELECT tde_wallet_take_over()});
fails_with($other, 'SELECT holder FROM card WHERE id = 3', { state => 'TDE03', message => qr/is not in the wallet/ }, 'another wallet');
like(adopted($other, $destroyed), qr/^[1-9]/, 'keys are wrapped anew');
is(lines_of($other, 'SELECT holder FROM card WHERE id = 3'), 'holder3', 'with the keys adopted anew its values can be read');
agree('another wallet');

# ---- a second database, without keys, of an older server ----

lines_of($other, 'CREATE DATABASE second');
lines_of($other, 'SELECT tde_wallet_close()');
lines_of($other, 'CREATE EXTENSION tde_column', db => 'second');
is(lines_of($other, 'SELECT count(*) FROM tde.data_keys', db => 'second'), '0', 'a database without keys');
lines_of($other, q{SELECT tde_wallet_open('foreign-passphrase')});
like(adopted($other, $destroyed, 'second'), qr/^[1-9]/, 'adopts them as well');
agree('a database without keys', 'second');
is(lines_of($other, 'SELECT count(DISTINCT database) FROM tde.data_keys', db => 'second'), '1', 'it has one identity');
is(lines_of($other, 'SELECT count(*) FROM tde.data_keys k WHERE NOT EXISTS (SELECT FROM tde.key_counts c WHERE c.id = k.id)', db => 'second'), '0', 'and counts for each key');
lines_of($other, q{CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('x')}, db => 'second');
is(lines_of($other, 'SELECT a FROM t', db => 'second'), 'x', 'and uses them');

# ---- another hash key ----

lines_of($other, q{CREATE INDEX by_hash ON card USING hash (holder); CREATE TABLE listed (id int, tags encrypted_text(nosalt)[], code encrypted_text(unordered) UNIQUE);
  INSERT INTO listed SELECT i, ARRAY['t' || i], 'c' || i FROM generate_series(1, 100) i; CREATE INDEX listed_tags ON listed USING gin (tags)});
my $search = q{SET enable_seqscan = off; SELECT count(*) FROM card WHERE holder = 'holder3'; SELECT id FROM listed WHERE tags @> '{t77}'; SELECT id FROM listed WHERE code = 'c78'};
is(lines_of($other, $search), "1\n77\n78", 'indexes of keyed hashes');
my $index_files = q{SELECT string_agg(pg_relation_filenode(c)::text, ' ') FROM unnest('{by_hash,listed_tags,listed_code_key}'::regclass[]) c};
my $files_before = lines_of($other, $index_files);
is(adopted($other, exported($origin)), '0', 'the keys are those that it has');
is(lines_of($other, $index_files), $files_before, '... and no index is built anew');
my $old = exported($other);
lines_of($origin, 'SELECT count(*) FROM tde_rotate_hash_key()');
my $rotated = exported($origin);
isnt(hash_of($other, 'x'), hash_of($origin, 'x'), 'the origin has another hash key');
refused($rotated, { state => 'TDE03', message => qr/was destroyed$/, context => qr/^building index "card_pan_idx" under another hash key/ }, 'with an index of a destroyed key');
lines_of($other, 'DROP INDEX card_pan_idx');
fails_with($other, "BEGIN; SET enable_mergejoin = off; SET enable_nestloop = off; SELECT count(*) FROM listed a JOIN (SELECT code FROM listed OFFSET 0) b USING (code); " . adoption($rotated), { state => '55006', message => qr/^cannot change the hash key/ },
  'not in a transaction that has hashed');
is(lines_of($other, $search), "1\n77\n78", '... and nothing has changed');
lines_of($other, 'BEGIN; ' . adoption($rotated) . '; ROLLBACK');
is(lines_of($other, $search) . lines_of($other, $index_files), "1\n77\n78$files_before", '... nor by a rollback');
is(adopted($other, $rotated), '1', 'the other database adopts it');
is(hash_of($other, 'x'), hash_of($origin, 'x'), '... and has it');
isnt(lines_of($other, $index_files), $files_before, '... and builds its indexes anew');
is(lines_of($other, $search), "1\n77\n78", '... which find what they did');
is(lines_of($other, q{SELECT count(*) FROM tde_verify_table('listed')}), '0', '... and are right');
agree('another hash key');
refused($old, { state => '55000', message => qr/^exported keys lack version 2 of key "hash" of this database$/ }, 'what was exported before');

$_->stop foreach $origin, $other;
done_testing();
