# Logical replication between plain and encrypted columns and between servers with different keys; logical decoding with a
# closed wallet, across rotations, and of a transaction that makes the keys it uses.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $logical = "wal_level = logical\nwal_retrieve_retry_interval = 200ms\nlogical_decoding_work_mem = 64kB\n"
  . "max_replication_slots = 20\nmax_wal_senders = 20\nmax_logical_replication_workers = 12\n";
my $publisher  = tde_node('publisher',  extension => 1, init => [ allows_streaming => 'logical' ], conf => $logical);
my $subscriber = tde_node('subscriber', extension => 1, init => [ allows_streaming => 'logical' ], conf => $logical);

# One database takes the changes as text, the other in binary.
my %takes = (postgres => 'false', bin => 'true');

foreach my $node ($publisher, $subscriber)
{
  $node->start;
  lines_of($node, "SELECT tde_wallet_create('" . $node->name . "-passphrase'), tde_create_key('own')");
}
$subscriber->safe_psql('postgres', 'CREATE DATABASE bin');
lines_of($subscriber, 'CREATE EXTENSION tde_column', db => 'bin');
lines_of($subscriber, "SELECT tde_create_key('own')", db => 'bin');

sub both { $subscriber->safe_psql($_, $_[0]) foreach sort keys %takes; return; }

# ---- the tables: name => columns of the publisher, and of the subscriber ----

my @types = split q{ }, q{text varchar(20) bpchar(10) int2 int4 int8 numeric(12,2) float4 float8 bool date time timetz timestamp timestamptz interval
  bytea uuid json jsonb inet};
my $plain = join ', ', map { "c$_ $types[$_]" } 0 .. $#types;

sub encrypted
{
  my ($words) = @_;
  return join ', ', map { my $type = $types[$_]; $type =~ s/\)$/,$words)/ or $type .= "($words)"; "c$_ encrypted_$type" } 0 .. $#types;
}

my ($ours, $theirs) = (encrypted('aes128,nosalt,sha256'), encrypted(q{aes256,salt,mac,'key=own'}));
my %tables = (
  # every type
  plain_to_enc => [ "id int PRIMARY KEY, $plain",  "id int PRIMARY KEY, $theirs" ],
  enc_to_plain => [ "id int PRIMARY KEY, $theirs", "id int PRIMARY KEY, $plain" ],
  enc_to_enc   => [ "id int PRIMARY KEY, $ours",   "id int PRIMARY KEY, $theirs" ],

  # rows are found by an encrypted key, or by all of their columns
  key_nosalt => [ 'k encrypted_text(nosalt) PRIMARY KEY, v encrypted_int4', 'k encrypted_text(aes128,nosalt) PRIMARY KEY, v encrypted_int4' ],
  key_salt   => [ 'k encrypted_text(salt) PRIMARY KEY, v encrypted_int4',   q{k encrypted_text(salt,'key=own') PRIMARY KEY, v int4} ],
  key_plain  => [ 'k text PRIMARY KEY, v int4',                             'k encrypted_text(salt) PRIMARY KEY, v encrypted_int4(nomac)' ],
  key_number => [ 'k encrypted_numeric PRIMARY KEY, v encrypted_int4',      'k encrypted_numeric(nosalt) PRIMARY KEY, v int4' ],
  whole_row  => [ 'k encrypted_text, v encrypted_int4(nosalt)',             'k encrypted_text(nosalt), v encrypted_int4' ],
  whole_mix  => [ 'k encrypted_text, v int4',                               'k text, v encrypted_int4' ]);
my @keyed = grep { /^(key|whole)/ } sort keys %tables;
my @wide  = grep { /_to_/ } sort keys %tables;

my $row = q{SELECT i, 'text ' || i, 'varchar ' || i, 'bpchar ' || i, i, i, i, i + 0.25, i, i + 0.5, mod(i, 2) = 0, date '2001-02-03' + i,
  time '01:02' + i * interval '1 min', timetz '01:02+01' + i * interval '1 min', timestamp '2001-02-03 04:05' + i * interval '1 day',
  timestamptz '2001-02-03 04:05Z' + i * interval '1 day', i * interval '1 hour', ('\x0' || mod(i, 10))::bytea,
  ('00000000-0000-0000-0000-00000000000' || mod(i, 10))::uuid, ('[' || i || ']')::json, ('{"a": ' || i || '}')::jsonb, ('10.0.0.' || i)::inet
  FROM generate_series(%d, %d) i};

foreach my $table (sort keys %tables)
{
  lines_of($publisher, "CREATE TABLE $table ($tables{$table}[0])");
  both("CREATE TABLE $table ($tables{$table}[1])");
}
lines_of($publisher, "ALTER TABLE $_ REPLICA IDENTITY FULL") foreach qw(whole_row whole_mix);
lines_of($publisher, "INSERT INTO $_ " . sprintf $row, 1, 10) foreach @wide;
lines_of($publisher, "INSERT INTO $_ SELECT i || '.0', i FROM generate_series(1, 30) i") foreach grep { $_ ne 'key_number' } @keyed;
lines_of($publisher, "INSERT INTO key_number SELECT i, i FROM generate_series(1, 30) i");
lines_of($publisher, 'INSERT INTO whole_row SELECT * FROM whole_row WHERE v <= 5');

sub contents
{
  my ($table) = @_;
  return "SELECT * FROM $table ORDER BY 1, 2";
}

# Types differ, and what they print does not: numbers of another scale apart, which the tables do not have.
sub same_everywhere
{
  my ($name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  $publisher->wait_for_catchup("sub_$_") foreach sort keys %takes;
  foreach my $table (sort keys %tables)
  {
    my $expected = lines_of($publisher, contents($table));
    is(lines_of($subscriber, contents($table), db => $_), $expected, "$name: $table, binary = $takes{$_}") foreach sort keys %takes;
  }
  return;
}

# ---- initial copy, while keys are rotated on both sides ----

lines_of($publisher, 'CREATE PUBLICATION pub FOR TABLE ' . join ', ', sort keys %tables);
my $connection = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql($_, "CREATE SUBSCRIPTION sub_$_ CONNECTION '$connection' PUBLICATION pub WITH (binary = $takes{$_}, streaming = on)") foreach sort keys %takes;
foreach (1 .. 2)
{
  lines_of($publisher, "SELECT tde_rotate_key('default'), tde_rotate_key('own'), tde_rotate_key('catalog'), tde_rotate_master_key()");
  both("SELECT tde_rotate_key('default'), tde_rotate_key('own'), tde_rotate_key('catalog')");
}
$subscriber->wait_for_subscription_sync($publisher, "sub_$_", $_) foreach sort keys %takes;
same_everywhere('initial copy');
is(lines_of($subscriber, 'SELECT count(*) FROM tde.encrypted_columns'), lines_of($subscriber, 'SELECT count(*) FROM tde.encrypted_columns', db => 'bin'),
  'both databases have the encrypted columns');

# ---- changes ----

lines_of(
  $publisher, join ';', map { ("INSERT INTO $_ " . sprintf($row, 11, 20), "UPDATE $_ SET c0 = 'changed', c6 = c6 * 2, c19 = NULL WHERE id IN (3, 12)",
      "UPDATE $_ SET c0 = repeat('long ', 3000) WHERE id = 4", "UPDATE $_ SET c4 = 0 WHERE id = 4", "UPDATE $_ SET id = 40 WHERE id = 5", "DELETE FROM $_ WHERE c4 = '7'") } @wide);
same_everywhere('changes');

lines_of(
  $publisher, join ';', map { ("UPDATE $_ SET v = v::int + 100 WHERE v::int % 3 = 0", "DELETE FROM $_ WHERE v = '8'",
      "UPDATE $_ SET k = '777' WHERE v = '10'", "UPDATE $_ SET k = k WHERE v = '11'", "UPDATE $_ SET v = NULL WHERE v = '13'", "DELETE FROM $_ WHERE v IS NULL") } @keyed);
lines_of($publisher, 'DELETE FROM whole_row WHERE ctid = (SELECT min(ctid) FROM whole_row WHERE v = 1)');
same_everywhere('rows found by encrypted keys, and by whole rows');
lines_of($publisher, 'TRUNCATE key_salt; INSERT INTO key_salt VALUES ($$new$$, 1)');
same_everywhere('TRUNCATE');

# ---- row filters and column lists ----

lines_of($publisher, 'CREATE TABLE filtered (id int PRIMARY KEY, a encrypted_text, b encrypted_text)');
both('CREATE TABLE filtered (id int PRIMARY KEY, a text)');
fails_with($publisher, "CREATE PUBLICATION f FOR TABLE filtered WHERE ($_)",
  { state => '0A000', message => qr/^invalid publication WHERE expression$/, detail => qr/^User-defined|mutable functions are not allowed/ }, "row filter $_")
  foreach "a = 'x'", "a = 'x'::text", "a::text = 'x'", 'a IS NULL';
lines_of($publisher, q{CREATE PUBLICATION f FOR TABLE filtered (id, a) WHERE (id > 1); INSERT INTO filtered VALUES (1, 'a', 'b'), (2, 'a', 'b')});
$subscriber->safe_psql($_, "CREATE SUBSCRIPTION sub_f_$_ CONNECTION '$connection' PUBLICATION f WITH (binary = $takes{$_})") foreach sort keys %takes;
$subscriber->wait_for_subscription_sync($publisher, "sub_f_$_", $_) foreach sort keys %takes;
lines_of($publisher, "INSERT INTO filtered VALUES (0, 'c', 'd'), (3, 'c', 'd')");
$publisher->wait_for_catchup("sub_f_$_") foreach sort keys %takes;
is(lines_of($subscriber, 'SELECT * FROM filtered ORDER BY 1', db => $_), "2|a\n3|c", "a column list, and a filter on another column: binary = $takes{$_}")
  foreach sort keys %takes;

# ---- closed wallets ----

# The publisher's: the walsender fails, the slot stays where it is, and all arrives later.
my $offset = log_offset($publisher);
lines_of($publisher, q{SELECT tde_wallet_close(); INSERT INTO key_plain VALUES ('plain', 1)});
$publisher->wait_for_catchup("sub_$_") foreach sort keys %takes;
is(lines_of($publisher, "SELECT count(*) FROM key_plain WHERE k = 'plain'"), 1, 'plain columns go on');
$subscriber->safe_psql($_, "ALTER SUBSCRIPTION sub_$_ DISABLE") foreach sort keys %takes;
lines_of($publisher, q{SELECT tde_wallet_open('publisher-passphrase'); INSERT INTO key_nosalt VALUES ('closed', 1); SELECT tde_wallet_close()});
$subscriber->safe_psql($_, "ALTER SUBSCRIPTION sub_$_ ENABLE") foreach sort keys %takes;
$publisher->wait_for_log(qr/ERROR:  wallet is not open.*CONTEXT:  slot "sub_\w+", output plugin "pgoutput", in the change callback/s, $offset);
lines_of($publisher, "SELECT tde_wallet_open('publisher-passphrase')");
same_everywhere('after the publisher\'s wallet was closed');

# The subscriber's.
$offset = log_offset($subscriber);
lines_of($subscriber, 'SELECT tde_wallet_close()');
lines_of($publisher, "INSERT INTO key_salt VALUES ('closed', 2); UPDATE key_nosalt SET v = 3 WHERE k = 'closed'");
$subscriber->wait_for_log(qr/ERROR:  wallet is not open/, $offset);
lines_of($subscriber, "SELECT tde_wallet_open('subscriber-passphrase')");
same_everywhere('after the subscriber\'s wallet was closed');

# ---- all tables: the table of keys is one of them, and must stay what it is on the subscriber ----

# With and without the initial copy: ids of the publisher's rows that the subscriber has, and that it does not have.
my $own_keys = 'SELECT * FROM tde.data_keys ORDER BY id';
$publisher->safe_psql('postgres', 'CREATE DATABASE all_tables');
lines_of($publisher, 'CREATE EXTENSION tde_column; CREATE TABLE t (a encrypted_text PRIMARY KEY); CREATE PUBLICATION everything FOR ALL TABLES', db => 'all_tables');
lines_of($publisher, "SELECT tde_rotate_key('default'), tde_create_key('theirs'); INSERT INTO t VALUES ('copied')", db => 'all_tables');
my $all = $publisher->connstr . ' dbname=all_tables';
foreach my $copy ('true', 'false')
{
  my $db = "all_$copy";
  $subscriber->safe_psql('postgres', "CREATE DATABASE $db");
  lines_of($subscriber, "CREATE EXTENSION tde_column; CREATE TABLE t (a encrypted_text PRIMARY KEY)", db => $db);
  my $before = lines_of($subscriber, $own_keys, db => $db);
  $subscriber->safe_psql($db, "CREATE SUBSCRIPTION sub_$db CONNECTION '$all' PUBLICATION everything WITH (copy_data = $copy)");
  $subscriber->wait_for_subscription_sync($publisher, "sub_$db", $db);
  lines_of($publisher, "BEGIN; SELECT tde_rotate_key('theirs'), tde_rotate_master_key(); INSERT INTO t VALUES ('changed, copy_data = $copy'); COMMIT", db => 'all_tables');
  edit_keys($publisher, "DELETE FROM tde.data_keys WHERE name = 'theirs' AND version = 2", db => 'all_tables');
  $publisher->wait_for_catchup("sub_$db");
  is(lines_of($subscriber, $own_keys, db => $db), $before, "the keys are the subscriber's own, copy_data = $copy");
  like(lines_of($subscriber, 'SELECT * FROM t ORDER BY a DESC', db => $db), $copy eq 'true' ? qr{^copied\nchanged} : qr{^changed}, 'the other tables have their rows');
}
$subscriber->safe_psql("all_$_", "DROP SUBSCRIPTION sub_all_$_") foreach 'true', 'false';

# ---- logical decoding ----

sub decode
{
  my ($session, %opts) = @_;
  my $function = $opts{peek} ? 'pg_logical_slot_peek_changes' : 'pg_logical_slot_get_changes';
  return session_try($session, "SELECT data FROM $function('decode', NULL, NULL, 'skip-empty-xacts', '1', 'include-xids', '0') WHERE data !~ '^(BEGIN|COMMIT|table tde.data_keys)'");
}

lines_of(
  $publisher, q{
SELECT pg_create_logical_replication_slot('decode', 'test_decoding');
CREATE TABLE decoded (a encrypted_text(nosalt));
INSERT INTO decoded VALUES ('one')});
my $decoder = session($publisher);
my $one = "table public.decoded: INSERT: a[encrypted_text]:'one'";
is(decode($decoder, peek => 1)->{out}, $one, 'decoded in clear');

lines_of($publisher, 'SELECT tde_wallet_close()');
my $closed = decode($decoder);
is($closed->{state}, 'TDE01', 'not with a closed wallet') or diag($closed->{err});
lines_of($publisher, "SELECT tde_wallet_open('publisher-passphrase')");
is(decode($decoder)->{out}, $one, 'and from there on when it is open');

# What is behind rotations is decoded under the snapshot that was in force then, after the old rows are gone for others.
lines_of($publisher, $_) foreach
  "INSERT INTO decoded VALUES ('before')",
  "SELECT tde_rotate_key('default')",
  "INSERT INTO decoded VALUES ('new key')",
  'SELECT tde_rotate_master_key()',
  'VACUUM tde.data_keys',
  "INSERT INTO decoded VALUES ('new master')",
  "SELECT tde_rotate_master_key()",
  'VACUUM tde.data_keys',
  "BEGIN; SELECT tde_rotate_master_key(); INSERT INTO decoded VALUES ('with it'); SELECT tde_rotate_key('default'); INSERT INTO decoded VALUES ('and a key'); COMMIT";
my $rotated = join "\n", map { "table public.decoded: INSERT: a[encrypted_text]:'$_'" } 'before', 'new key', 'new master', 'with it', 'and a key';
is(decode($decoder, peek => 1)->{out}, $rotated, 'across rotations, in a session that had read the keys before');
is(attempt($publisher, "SELECT data FROM pg_logical_slot_peek_changes('decode', NULL, NULL, 'skip-empty-xacts', '1', 'include-xids', '0') WHERE data !~ '^(BEGIN|COMMIT|table tde.data_keys)'")->{out},
  $rotated, 'and in one that had not');
is(decode($decoder)->{out}, $rotated, 'once more');
is(session_try($decoder, "SELECT a FROM decoded WHERE a = 'and a key'")->{out}, 'and a key', 'the session goes on with the keys of now');

# A transaction that makes its keys, rolled back in part.
my $maker = session($publisher);
my $made  = session_try(
  $maker, q{
BEGIN;
SELECT tde_create_key('inside');
CREATE TABLE inside (a encrypted_text('key=inside'), b encrypted_text(nomac,'key=other'));
INSERT INTO inside VALUES ('i1', 'i2');
SAVEPOINT s;
SELECT tde_rotate_key('inside');
INSERT INTO inside VALUES ('undone', 'undone');
ROLLBACK TO s;
INSERT INTO inside VALUES ('i3', 'i4');
CREATE TABLE many (a encrypted_text('key=inside'));
INSERT INTO many SELECT 'many ' || i FROM generate_series(1, 2000) i});
is($made->{state}, '', 'a transaction makes keys') or diag($made->{err});
session_try($maker, 'COMMIT');
my $decoded = decode($decoder);
is($decoded->{state}, '', 'decoded after its commit') or diag($decoded->{err});
like($decoded->{out}, qr/^table public.inside: INSERT: a\[encrypted_text\]:'i1' b\[encrypted_text\]:'i2'
table public.inside: INSERT: a\[encrypted_text\]:'i3' b\[encrypted_text\]:'i4'
table public.many: .*'many 1'\n/, 'with its values');
like($decoded->{out}, qr/'many 2000'$/, 'all of them');
$maker->quit;

# A destroyed key: what is under it cannot be decoded, and the slot is advanced past it.
lines_of(
  $publisher, q{
SELECT tde_create_key('short', erasable => true);
CREATE TABLE short (a encrypted_text('key=short')); INSERT INTO short VALUES ('gone');
SELECT tde_destroy_key('short', confirm => 'destroy short');
INSERT INTO decoded VALUES ('after')});
my $gone = decode($decoder);
is($gone->{state}, 'TDE03', 'a value under a destroyed key cannot be decoded') or diag($gone->{err});
like($gone->{err}, qr/(master key|data key) .*(not in the wallet|destroyed)/, 'the error names it');
my $past = lines_of($publisher, 'SELECT pg_current_wal_lsn()');
session_try($decoder, "SELECT pg_replication_slot_advance('decode', '$past')");
lines_of($publisher, "INSERT INTO decoded VALUES ('further on')");
is(decode($decoder)->{out}, "table public.decoded: INSERT: a[encrypted_text]:'further on'", 'the slot can be advanced past it');
$decoder->quit;

# ---- changes under keys that are being made ----

# Sent while the transaction is open, which made the key and may yet roll back.
foreach my $end ('ROLLBACK', 'COMMIT')
{
  my $maker = session($publisher);
  session_try($maker, "BEGIN; SELECT tde_rotate_key('own'); INSERT INTO enc_to_plain (id, c0) SELECT i, 'row ' || i FROM generate_series(101, 1500) i");
  $publisher->poll_query_until('postgres',
    "SELECT count(*) = 2 FROM pg_stat_replication_slots WHERE stream_count > 0 AND slot_name IN ('sub_postgres', 'sub_bin')")
    or die 'nothing is streamed';
  session_try($maker, "$end; SELECT pg_stat_reset_replication_slot(NULL)");
  $maker->quit;
  same_everywhere("streamed, then $end");
}

lines_of($publisher, q{BEGIN; SELECT tde_rotate_key('own'), tde_rotate_master_key(); INSERT INTO enc_to_plain (id, c0) VALUES (50, 'under a new key'); COMMIT});
both("SELECT tde_rotate_key('own')");
lines_of($subscriber, 'SELECT tde_rotate_master_key()');
lines_of($publisher, q{INSERT INTO enc_to_enc (id, c0) VALUES (51, 'to a new key')});
same_everywhere('after rotations on both sides');

$subscriber->safe_psql($_, "DROP SUBSCRIPTION sub_$_; DROP SUBSCRIPTION sub_f_$_") foreach sort keys %takes;
$subscriber->stop;
$publisher->stop;
done_testing();
