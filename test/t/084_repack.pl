# REPACK of tables with encrypted columns, as PostgreSQL 19 has it in place of VACUUM FULL and CLUSTER: rows and indexes stay what they are, also
# CONCURRENTLY beside sessions that write, rotate keys, re-encrypt and convert; no value in clear is in the files by which it follows the
# writers; a crash leaves the old table.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run qw(start finish);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('repack', extension => 1, conf => q(
tde_column.passphrase_command = 'echo repack-passphrase'
wal_level = replica
max_wal_senders = 4
logical_decoding_work_mem = '64kB'
max_connections = 30
restart_after_crash = on
));
plan skip_all => 'there is no REPACK before PostgreSQL 19' if $node->pg_version->major < 19;
$node->start;
my $rows = 2000;
lines_of(
  $node, qq{
CREATE EXTENSION amcheck;
SELECT tde_wallet_create('repack-passphrase');
-- the plain columns have the same values
CREATE TABLE twin (id int PRIMARY KEY, e encrypted_text(nosalt) UNIQUE, e_big encrypted_text, e_n encrypted_int4, p text UNIQUE, p_big text, p_n int,
                   lower text GENERATED ALWAYS AS (lower(e)) STORED);
ALTER TABLE twin ALTER e_big SET STORAGE EXTERNAL, ALTER p_big SET STORAGE EXTERNAL;
CREATE INDEX ON twin (e_n);
CREATE INDEX ON twin (upper(e));
CREATE FUNCTION fill(int, int) RETURNS void BEGIN ATOMIC
  INSERT INTO twin SELECT i, 'Name' || i, repeat('kanari' || i, 500), i, 'Name' || i, repeat('canary' || i, 500), i FROM generate_series(\$1, \$2) i;
END;
SELECT fill(1, $rows);
DELETE FROM twin WHERE id % 5 = 0});
# Rows whose encrypted columns are not what the plain ones are, or that an index does not have
my $differ = q{SELECT count(*) FROM twin WHERE (e::text, replace(e_big, 'kanari', 'canary'), e_n::int, lower::text) IS DISTINCT FROM (p, p_big, p_n, lower(p))};
my $check = q{SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'twin'::regclass};

sub is_whole
{
  my ($count, $what) = @_;
  is(lines_of($node, "SELECT count(*) FROM twin"), $count, "$what: no row is lost");
  is(lines_of($node, $differ), 0, "$what: and each has its values");
  is(attempt($node, $check)->{err}, '', "$what: so have the indexes");
  is(lines_of($node, q{SET enable_seqscan = off; SELECT id FROM twin WHERE e = 'Name7' AND upper(e) = 'NAME7' AND e_n > 0}), 7, "$what: they find a row");
}

# ---- alone ----

my $left = $rows * 4 / 5;
foreach my $command ('REPACK twin', 'REPACK twin USING INDEX twin_e_n_idx', 'REPACK (CONCURRENTLY) twin', 'REPACK (CONCURRENTLY, ANALYZE) twin USING INDEX twin_e_key')
{
  is(attempt($node, $command)->{err}, '', $command);
  is_whole($left, $command);
}
is(lines_of($node, 'SELECT array_agg(e::text ORDER BY ctid) = array_agg(e::text ORDER BY e) FROM twin'), 't', 'in the order of an encrypted column');

# By an encrypted column it follows the writers, too.
lines_of($node, q{CREATE TABLE keyed (e encrypted_text(salt) PRIMARY KEY, n int); INSERT INTO keyed SELECT 'k' || i, i FROM generate_series(1, 100) i});
is(attempt($node, 'REPACK (CONCURRENTLY) keyed')->{err}, '', 'a table whose key is encrypted');

fails_with($node, "REPACK (CONCURRENTLY) tde.$_", { state => '0A000' }, "the extension's own, CONCURRENTLY: $_") foreach 'data_keys', 'key_counts';
is(attempt($node, "REPACK tde.$_")->{err}, '', "the extension's own: $_") foreach 'data_keys', 'key_counts';

# ---- what it writes down ----

# The index calls the function for each row that is changed in the new table, while the file with the changes is there.
lines_of(
  $node, q{
CREATE FUNCTION look(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  file  text;
  bytes bytea;
BEGIN
  FOR file IN
    WITH RECURSIVE paths (path) AS (
      SELECT d || '/' || f FROM unnest('{base/pgsql_tmp,pg_replslot}'::text[]) d, pg_catalog.pg_ls_dir(d, true, false) f
      UNION ALL SELECT path || '/' || f FROM paths, pg_catalog.pg_ls_dir(path, true, false) f WHERE (pg_catalog.pg_stat_file(path, true)).isdir)
    SELECT p.path FROM paths p WHERE NOT (pg_catalog.pg_stat_file(p.path, true)).isdir
  LOOP
    bytes := pg_catalog.pg_read_binary_file(file, 0, 1000000000, true);
    RAISE LOG 'looked: canary % kanari %', position('canary'::bytea IN bytes) > 0, position('kanari'::bytea IN bytes) > 0;
  END LOOP;
  RETURN 0;
END
$$;
CREATE INDEX looking ON twin (look(id))});

# It waits for whoever reads the table, and what he writes then it gets from the file.
sub hold_repack
{
  my ($holder) = @_;
  my ($out, $err) = ('', '');

  session_try($holder, 'BEGIN; SELECT count(*) FROM twin');
  my $repack = start([ 'psql', '-X', '-c', 'REPACK (CONCURRENTLY) twin', $node->connstr('postgres') ], '>', \$out, '2>', \$err);
  $node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'twin'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted})
    or die 'REPACK does not wait';
  return ($repack, \$err);
}
my $holder = session($node);
my $offset = log_offset($node);
my ($repack, $err) = hold_repack($holder);
session_try($holder, q{UPDATE twin SET e_big = e_big || 'x', p_big = p_big || 'x' WHERE id <= 200; SELECT fill(10001, 10100); COMMIT});
finish($repack);
is($$err, '', 'REPACK (CONCURRENTLY) beside a writer');
my $log = log_since($node, $offset);
like($log, qr/looked: canary t/, 'what the writer changed is in a file: plain values');
unlike($log, qr/looked: canary \w kanari t/, 'no encrypted value in clear');
lines_of($node, 'DROP INDEX looking');
is_whole($left + 100, 'what the writer changed');

# ---- beside others ----

my $script = $node->basedir . '/script';
write_bytes($script, qq{\\set i random(1, $rows)
\\set v random(1, 1000000)
UPDATE twin SET e_n = :v, p_n = :v, e = 'Name' || id || '.' || :v, p = 'Name' || id || '.' || :v WHERE id = :i AND id <> 7;
});
my $transactions = 400;
my $writers = start([ 'pgbench', '-n', '-c', 4, '-t', $transactions, '-f', $script, $node->connstr('postgres') ], '>', \my $said, '2>&1');
my $repacked = 0;
lines_of($node, "CREATE TABLE clear (id int PRIMARY KEY, t text); INSERT INTO clear SELECT i, 'clear' || i FROM generate_series(1, 2000) i");
while ($writers->pumpable && $repacked < 10)
{
  my $got = attempt($node, 'REPACK (CONCURRENTLY) twin');
  is($got->{err}, '', 'REPACK (CONCURRENTLY) beside writers') if $got->{err};
  $repacked++;
  $writers->pump_nb;
}
# one waits for the other, or says so
my $rekeying = session($node);
lines_of($node, 'SELECT tde_rotate_key()');
my $repacking = start([ 'psql', '-X', '-c', 'REPACK (CONCURRENTLY) twin', '-c', 'REPACK (CONCURRENTLY) clear', $node->connstr('postgres') ], '>', \my $out, '2>', \my $repack_err);
is(session_try($rekeying, q{CALL tde_rekey_table('twin')})->{state}, '', 'tde_rekey_table() beside it');
is(session_try($rekeying, q{CALL tde_encrypt_column('clear', 't')})->{state}, '', 'and a conversion');
finish($repacking);
finish($writers);
like($said, qr{number of transactions actually processed: ${\(4 * $transactions)}/}, 'no writer has met an error');
cmp_ok($repacked, '>', 0, "REPACK (CONCURRENTLY) $repacked times");
is(lines_of($node, $differ), 0, 'each row has its values');
is(attempt($node, $check)->{err}, '', 'so have the indexes');
is(lines_of($node, q{SELECT count(*) FROM clear WHERE t = 'clear' || id}), 2000, 'and the converted table');

# ---- a crash ----

$offset = log_offset($node);
($repack, $err) = hold_repack($holder);
session_try($holder, q{UPDATE twin SET e_big = 'x', p_big = 'x' WHERE id = 1});
my $pid = lines_of($node, q{SELECT pid FROM pg_stat_progress_repack});
kill 'KILL', $pid;
eval { finish($repack) };
$node->wait_for_log(qr/all server processes terminated; reinitializing/, $offset);
$node->poll_query_until('postgres', 'SELECT true') or die 'the server is not back';
is(lines_of($node, $differ), 0, 'killed: each row has its values');
is(attempt($node, $check)->{err}, '', 'killed: so have the indexes');
is(lines_of($node, q{SELECT count(*) FROM pg_class WHERE relname ~ '^pg_temp_'}), 0, 'no half-made table is left');
is(attempt($node, 'REPACK (CONCURRENTLY) twin')->{err}, '', 'and it can be run again');

# ---- the wallet is closed ----

lines_of($node, 'SELECT tde_wallet_close()');
fails_with($node, $_, { state => 'TDE01', hint => qr/tde_wallet_open/ }, $_) foreach 'REPACK twin', 'REPACK (CONCURRENTLY) twin';
is(attempt($node, 'SELECT count(id) FROM twin')->{err}, '', 'the old table is there');

done_testing();
