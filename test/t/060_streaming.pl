# A streaming standby with a wallet file of its own: what it reads, how it follows new keys, rotations and destruction on the
# primary, what it refuses, and that it can take over.

use strict;
use warnings FATAL => 'all';

use File::Find;
use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

# Both open the wallet by a command that reads a file of their own.
sub passphrase_file { return $_[0]->basedir . '/passphrase'; }

sub use_command
{
  my ($node) = @_;
  write_bytes(passphrase_file($node), "streaming-passphrase\n");
  $node->append_conf('postgresql.conf', "tde_column.passphrase_command = 'cat " . passphrase_file($node) . "'\n");
  return;
}

my $primary = tde_node('primary', extension => 1, init => [ allows_streaming => 1 ]);
use_command($primary);
$primary->start;
lines_of(
  $primary, q{
SELECT tde_wallet_create('streaming-passphrase');
CREATE TABLE card (id int PRIMARY KEY, holder encrypted_text(aes256,salt), pan encrypted_text(nosalt) UNIQUE,
                   amount encrypted_numeric(15,2,aes128,salt,sha256), born encrypted_date(nosalt));
INSERT INTO card SELECT i, 'holder ' || i % 50, 'pan ' || i, i * 1.25, date '2000-01-01' + i % 90 FROM generate_series(1, 300) i;
CREATE INDEX ON card (holder);
CREATE INDEX ON card (amount);
CREATE INDEX ON card USING hash (born);
ANALYZE card;

-- every type, and each value of it beside another one
CREATE TABLE every (t encrypted_text, v encrypted_varchar(20), c encrypted_bpchar(10), i2 encrypted_int2, i4 encrypted_int4,
  i8 encrypted_int8, n encrypted_numeric, f4 encrypted_float4, f8 encrypted_float8, b encrypted_bool, d encrypted_date,
  ti encrypted_time, tz encrypted_timetz, ts encrypted_timestamp, tt encrypted_timestamptz, iv encrypted_interval,
  ba encrypted_bytea, u encrypted_uuid, j encrypted_json, jb encrypted_jsonb, ip encrypted_inet);
INSERT INTO every
  SELECT 'text ' || i, 'varchar ' || i, 'bpchar ' || i, i, i, i, i + 0.5, i, i, i > 1, date '2001-02-03' + i, time '01:02' + i * interval '1 min',
    timetz '01:02+01' + i * interval '1 min', timestamp '2001-02-03 04:05' + i * interval '1 day', timestamptz '2001-02-03 04:05Z' + i * interval '1 day',
    i * interval '1 hour', ('\x0' || i)::bytea, ('00000000-0000-0000-0000-00000000000' || i)::uuid, ('[' || i || ']')::json,
    ('{"a": ' || i || '}')::jsonb, ('10.0.0.' || i)::inet
  FROM generate_series(1, 2) i;
});

# What both must answer alike: every operator between the encrypted types, and between those and base types; then plans of
# all sorts.
my $operators = lines_of(
  $primary, q{
SELECT string_agg(format('SELECT %L, string_agg((l.%I OPERATOR(%s.%s) r.%I%s)::text, '','' ORDER BY l.i4, r.i4) FROM every l, every r',
                         o.oid::regoperator, l.attname, o.oprnamespace::regnamespace, o.oprname, r.attname,
                         CASE WHEN r.atttypid <> o.oprright THEN '::' || format_type(o.oprright, NULL) END), E';\n' ORDER BY o.oid)
FROM pg_operator o
JOIN tde.types lt ON o.oprleft = lt.type JOIN tde.types rt ON o.oprright IN (rt.type, rt.base)
JOIN pg_attribute l ON l.attrelid = 'every'::regclass AND l.atttypid = o.oprleft
JOIN pg_attribute r ON r.attrelid = 'every'::regclass AND r.atttypid = rt.type});
cmp_ok(scalar split(/\n/, $operators), '>', 300, 'there are operators to try');

my $reads = q{
SELECT count(*), min(holder), max(pan), sum(amount), max(born) FROM card;
SELECT pan FROM card WHERE holder = 'holder 7' ORDER BY pan;
SELECT id, holder, amount FROM card ORDER BY holder DESC, amount LIMIT 20;
SELECT a.pan, b.pan FROM card a JOIN card b ON a.holder = b.holder WHERE a.id = 3 ORDER BY b.pan;
SELECT holder, count(*), avg(amount) FROM card GROUP BY holder ORDER BY holder;
COPY card TO STDOUT;
COPY (SELECT * FROM every ORDER BY i4) TO STDOUT (FORMAT csv);
};
my $by_index = q{
SET enable_seqscan = off;
SELECT id FROM card WHERE pan = 'pan 42';
SELECT id FROM card WHERE holder BETWEEN 'holder 11' AND 'holder 13' ORDER BY id;
SELECT id FROM card WHERE amount > 370 ORDER BY amount;
SELECT id FROM card WHERE born = '2000-01-31' ORDER BY id;
};
my $by_workers = 'SET ' . parallel_setting($primary) . " = on; $reads";

sub same_reads
{
  my ($standby, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  $primary->wait_for_catchup($standby);
  is(lines_of($standby, $reads),    lines_of($primary, $reads),    "$name: scans, sorts, joins, groups, COPY");
  is(lines_of($standby, $by_index), lines_of($primary, $by_index), "$name: by index");
  return;
}

# ---- a standby without a wallet, and with one ----

$primary->backup('base');
my @found;
find(sub { push @found, $File::Find::name if /p12|passphrase/ }, $primary->backup_dir . '/base');
is("@found", '', 'pg_basebackup copies no wallet');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
own_wallet($standby);
use_command($standby);
$standby->start;

my $offset = log_offset($standby);
fails_with(
  $standby, 'SELECT holder FROM card',
  { state => 'TDE01', message => qr/^wallet is not open$/, hint => qr/server log/ },
  'without a wallet file');
like(log_since($standby, $offset), qr/could not open wallet file.*No such file/, 'the log says why');
lines_of($primary, "INSERT INTO card VALUES (301, 'late', 'pan 301', 1, '2001-01-01')");
$primary->wait_for_catchup($standby);
is(lines_of($standby, 'SELECT count(*) FROM card'), 301, 'replay goes on');
fails_with($standby, "SELECT tde_wallet_create('other-passphrase')", { state => '25006', message => qr/tde_wallet_create\(\) during recovery/ },
  'a wallet that is not the primary\'s is of no use');
send_wallet($primary, $standby);
lines_of($standby, 'SELECT tde_wallet_open()');
same_reads($standby, 'with a copy of the wallet');
is(lines_of($standby, $by_workers), lines_of($primary, $reads),     'in parallel workers');
is(lines_of($standby, $operators),  lines_of($primary, $operators), 'every operator');
like(lines_of($standby, "SET enable_seqscan = off; EXPLAIN (COSTS off) SELECT id FROM card WHERE holder = 'x'"),
  qr/card_holder_idx/, 'the index is used');

# ---- new keys ----

# A session that has read the key table before.
my $reader = session($standby);
session_try($reader, 'SELECT max(holder) FROM card');

# In that session, and in a new one.
sub reads
{
  my ($sql, $expected, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;

  $primary->wait_for_catchup($standby);
  foreach my $got (session_try($reader, $sql), attempt($standby, $sql))
  {
    is($got->{out}, $expected, $name) or diag($got->{err});
  }
  return;
}

lines_of(
  $primary, q{
SELECT tde_create_key('named');
CREATE TABLE named (a encrypted_text('key=named'), b encrypted_text(nomac)); INSERT INTO named VALUES ('n1', 'n2')});
reads('SELECT * FROM named', 'n1|n2', 'a named key, and the first without MAC');

# A column that stayed bare keeps the keys that its values came with; so these get into pages that everybody reads.
lines_of(
  $primary, q{
ALTER EVENT TRIGGER tde_column_ddl DISABLE;
CREATE TABLE bare AS SELECT ''::text::encrypted_text AS v WHERE false;
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
CREATE UNIQUE INDEX ON bare (v);
INSERT INTO bare SELECT a FROM named;
SELECT tde_rotate_key('named')});
my $maker = session($primary);
my $made  = session_try(
  $maker, q{
BEGIN;
CREATE TABLE newer (a encrypted_text('key=ninety')); INSERT INTO newer SELECT 'm' || i FROM generate_series(1, 500) i;
SELECT tde_rotate_key('named'); INSERT INTO named SELECT 'm' || i FROM generate_series(501, 900) i;
INSERT INTO bare SELECT a FROM newer; INSERT INTO bare SELECT a FROM named WHERE a < 'n'});
is($made->{state}, '', 'a transaction makes keys, and values under them') or diag($made->{err});
my $range = "SET enable_seqscan = off; SELECT v FROM bare WHERE v <= 'z'";
my $shown = "SELECT slot, kind, version, state FROM tde.keys WHERE slot > 0 ORDER BY slot, kind, version";
my $keys  = "1|mac|1|retired\n1|mac|2|retired\n1|mac|3|active\n2|mac|1|active";
reads($range, 'n1',  'the index, while the transaction is open');
reads($shown, $keys, 'its keys are there');
session_try($maker, 'ROLLBACK');
reads($range, 'n1',  'the index, when it was rolled back');
reads($shown, $keys, 'its keys are there still');

$primary->safe_psql('postgres', 'CREATE DATABASE fresh');
lines_of($primary, 'SELECT tde_wallet_close()');
lines_of($primary, 'CREATE EXTENSION tde_column', db => 'fresh');
$primary->wait_for_catchup($standby);
my $fresh = session($standby, db => 'fresh');
my $early = session_try($fresh, "SELECT 'x'::encrypted_text");
is($early->{state}, 'TDE03', 'a database without keys') or diag($early->{err});
like($early->{hint}, qr/on the primary/, 'the hint says where to make them');
lines_of($primary, "SELECT tde_wallet_open(); CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('first')", db => 'fresh');
$primary->wait_for_catchup($standby);
is(session_try($fresh, "SELECT a, tde_internal.tde_hash(a) IS NOT NULL FROM t WHERE a = 'first'")->{out}, 'first|t', 'and with them, in the same session');
$fresh->quit;

# ---- rotation of data keys ----

lines_of(
  $primary, q{
SELECT tde_rotate_key('default'), tde_rotate_key('catalog');
UPDATE card SET holder = holder || ' again' WHERE id % 2 = 0;
CREATE VIEW seventh AS SELECT id FROM card WHERE holder = 'holder 7'});
same_reads($standby, 'after a rotation of data keys');
lines_of($primary, "CALL tde_rekey_table('card', 50)");
same_reads($standby, 'after re-encryption');
reads('SELECT count(*) FROM seventh', lines_of($primary, 'SELECT count(*) FROM seventh'), 'a literal under the new key');

# ---- what a standby refuses ----

foreach my $refused (
  [ "tde_create_key('other')",                              'in a read-only transaction' ],
  [ "tde_create_key('other', erasable => true)",            'in a read-only transaction' ],
  [ "tde_rotate_key('named')",                              'in a read-only transaction' ],
  [ "tde_destroy_key('named', confirm => 'destroy named')", 'in a read-only transaction' ],
  [ 'tde_rotate_master_key()',                              'in a read-only transaction' ],
  [ 'tde_prepare_master_key()',                             'during recovery' ])
{
  my ($call, $when) = @$refused;
  my ($function) = $call =~ /(\w+)/;
  fails_with($standby, "SELECT $call", { state => '25006', message => qr/^cannot execute $function\(\) $when$/ }, $call);
}
is(lines_of($standby, 'SELECT tde_ensure_keys()'), 't', 'no key is missing');
is(read_bytes(wallet_path($standby)), read_bytes(wallet_path($primary)), 'the wallet file is what it was');
fails_with($standby, "CALL tde_rekey_table('card')", { state => '25006' }, 'tde_rekey_table()');

# ---- rotation of the master key ----

# Not prepared: who has a data key ready goes on with it, others are told what is missing.
my $second = lines_of($primary, 'SELECT tde_rotate_master_key()');
$primary->wait_for_catchup($standby);
is(session_try($reader, 'SELECT holder FROM card WHERE id = 301')->{out}, 'late', 'a session that has the data key reads on');
fails_with(
  $standby,
  'SELECT holder FROM card',
  { state => 'TDE03', message => qr/^master key $second is not in the wallet$/, hint => qr/copy the primary's wallet file/i },
  'the standby\'s wallet lacks the new master key');
send_wallet($primary, $standby);
lines_of($standby, 'SELECT tde_wallet_open()');
same_reads($standby, 'with a new copy of the wallet');

# Prepared: nobody notices, not even sessions that begin meanwhile.
my $script = $standby->basedir . '/read.sql';
append_to_file($script, "SELECT max(holder), sum(amount) FROM card WHERE pan > 'pan 2';\n");
my $load = IPC::Run::start(
  [ 'pgbench', '-n', '-C', '-c', 2, '-T', 4, '-h', $standby->host, '-p', $standby->port, '-f', $script, 'postgres' ],
  '>', \my $load_out, '2>', \my $load_err);
my $third = lines_of($primary, 'SELECT tde_prepare_master_key()');
send_wallet($primary, $standby);
lines_of($standby, 'SELECT tde_wallet_open()');
is(lines_of($primary, 'SELECT tde_rotate_master_key()'), $third, 'the prepared master key is taken');
lines_of($primary, q{SELECT tde_rotate_key('default'); UPDATE card SET holder = holder || '!', amount = amount + 1});
same_reads($standby, 'after a prepared rotation');
ok($load->finish, 'no read failed meanwhile') or diag($load_err);

# ---- destruction ----

lines_of(
  $primary, q{
SELECT tde_create_key('shredder', erasable => true);
CREATE TABLE shred (a encrypted_text('key=shredder')); INSERT INTO shred VALUES ('gone')});
$primary->wait_for_catchup($standby);
fails_with($standby, 'SELECT a FROM shred', { state => 'TDE03', message => qr/^master key .* is not in the wallet$/ },
  'an erasable key\'s wallet entry is not on the standby');
lines_of($primary, "SELECT tde_destroy_key('shredder', confirm => 'destroy shredder')");
$primary->wait_for_catchup($standby);
fails_with($standby, 'SELECT a FROM shred', { state => 'TDE03', message => qr/^data key \d+ was destroyed$/ }, 'destroyed there, too');

# ---- restarts ----

$reader->quit;
fails_with($standby, "SELECT tde_wallet_change_passphrase('its own-passphrase')", { state => '55000', message => qr/belongs to another server$/ }, 'the wallet is the primary\'s');
lines_of($standby, 'SELECT tde_wallet_take_over()');
write_bytes(passphrase_file($standby), "its own-passphrase\n");
lines_of($standby, 'SELECT tde_wallet_change_passphrase()');
$standby->restart;
same_reads($standby, 'under a passphrase of its own, opened by command');

$standby->append_conf('postgresql.conf', "tde_column.passphrase_command = ''\n");
$standby->restart;
lines_of($primary, "INSERT INTO card SELECT i, 'more', 'pan ' || i, 1, '2001-01-01' FROM generate_series(302, 400) i; VACUUM card");
$primary->wait_for_catchup($standby);
is(lines_of($standby, 'SELECT count(*) FROM card'), 400, 'replay goes on with a closed wallet, index entries included');
fails_with($standby, 'SELECT holder FROM card', { state => 'TDE01', hint => qr/^Open it with tde_wallet_open\(\)\.$/ }, 'but nothing can be read');
lines_of($standby, "SELECT tde_wallet_open('its own-passphrase')");
same_reads($standby, 'opened by hand');

# ---- opening beside a primary that removes rows ----

# The standby does not wait for queries, and replays meanwhile what conflicts with every snapshot that there is.
my $folder = $standby->basedir;
write_bytes("$folder/command", "touch $folder/began; while [ ! -e $folder/go ]; do sleep 0.1; done; cat " . passphrase_file($standby) . "\n");
set_conf($standby, max_standby_streaming_delay => '0', hot_standby_feedback => 'off', 'tde_column.passphrase_command' => "sh $folder/command",
  'tde_column.passphrase_timeout' => '10min');
lines_of($standby, 'SELECT tde_wallet_close()');
my ($opened, $refused) = ('', '');
my $opening = IPC::Run::start([ 'psql', '-X', '-At', '-h', $standby->host, '-p', $standby->port, '-c', 'SELECT tde_wallet_open()', 'postgres' ],
  '>', \$opened, '2>', \$refused);
for (my $i = 0; !-e "$folder/began" && $i < 10 * $PostgreSQL::Test::Utils::timeout_default; $i++) { select undef, undef, undef, 0.1 }
lines_of($primary, $_) foreach 'CREATE TABLE gone (a int)', 'DROP TABLE gone', 'VACUUM pg_class, pg_attribute, pg_type, pg_depend, tde.data_keys';
$primary->wait_for_catchup($standby);
write_bytes("$folder/go", '');
ok($opening->finish, 'the wallet is opened while rows are removed that were there when this began') or diag($refused);
same_reads($standby, 'and values are read');
lines_of($standby, 'ALTER SYSTEM RESET ALL');
$standby->reload;

# ---- promotion ----

# A version of which no commit tells.
my $writer = session($standby);
my $loads  = 'SELECT max(a) FROM named; SELECT key_loads FROM tde.stats';
is(session_try($writer, $loads)->{out}, "n1\n1", 'a session has read the key table');
session_try($maker, "BEGIN; SELECT tde_rotate_key('named')");
$primary->wait_for_catchup($standby);
is(session_try($writer, $loads)->{out}, "n1\n2", 'and reads it again when a key was made, though the transaction is open');
session_try($maker, 'ROLLBACK');
$maker->quit;
$primary->wait_for_catchup($standby);
my $before = lines_of($primary, $reads);
$primary->stop;
$standby->promote;
is(lines_of($standby, $reads), $before, 'promoted, it has it all');
is(session_try($writer, "INSERT INTO named (a) VALUES ('from before')")->{state}, '', 'a session from before the promotion writes');
is(lines_of($standby, "SELECT version FROM tde.keys WHERE name = 'named' AND encryptions > 0"), '4', 'under the newest key');
$writer->quit;
lines_of(
  $standby, q{
INSERT INTO card VALUES (500, 'promoted', 'pan 500', 5, '2002-02-02');
SELECT tde_create_key('after'), tde_rotate_key('default'), tde_rotate_master_key();
CREATE TABLE after (a encrypted_text('key=after', nomac)); INSERT INTO after VALUES ('new')});
is(lines_of($standby, 'SELECT a FROM after'), 'new', 'it makes keys, rotates, and writes');
fails_with($standby, "INSERT INTO card VALUES (501, 'x', 'pan 42', 5, '2002-02-02')", { state => '23505' }, 'unique keys are unique still');
$standby->restart;
lines_of($standby, "SELECT tde_wallet_open('its own-passphrase')");
is(lines_of($standby, "SELECT holder FROM card WHERE pan = 'pan 500'"), 'promoted', 'and all is there after a restart');
$standby->stop;
done_testing();
