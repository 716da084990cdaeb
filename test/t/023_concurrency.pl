# Many sessions at once: unique encrypted keys stay unique, foreign keys hold, no update is lost, nobody waits for ever, and
# the indexes that saw it all are clean.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('crowd', extension => 1, conf => "tde_column.passphrase_command = 'echo crowd-passphrase'\njit = off\nmax_connections = 30\n");
$node->start;
lines_of($node, "CREATE EXTENSION amcheck; SELECT tde_wallet_create('crowd-passphrase')");

my ($clients, $rounds, $keys) = (8, 150, 40);
lines_of($node, q{
CREATE TABLE account (name encrypted_text(aes256,salt,mac) PRIMARY KEY, hits encrypted_int4(salt,sha256) NOT NULL,
                      total encrypted_numeric(nosalt) NOT NULL);
CREATE INDEX ON account USING hash (total);
CREATE INDEX ON account (hits);
CREATE TABLE entry (account encrypted_text(aes128,nosalt,sha256) REFERENCES account, amount encrypted_numeric NOT NULL);
CREATE INDEX ON entry (account);
CREATE TABLE seat (n encrypted_int4, EXCLUDE USING btree (n WITH =));
});

# What a session does: three of four count, the others take seats or look.
my %script = (
  count => qq{\\set k random(1, $keys)
\\set x random(1, 100)
BEGIN;
INSERT INTO account VALUES ('name ' || :k, 1, :x)
  ON CONFLICT (name) DO UPDATE SET hits = account.hits::int + 1, total = account.total + :x;
INSERT INTO entry VALUES ('name ' || :k, :x);
COMMIT;
},
  seats => q{\set n random(1, 60)
INSERT INTO seat VALUES (:n) ON CONFLICT DO NOTHING;
},
  look => qq{\\set k random(1, $keys)
SELECT count(*), sum(total) FROM account WHERE name >= 'name ' || :k;
SELECT count(*) FROM account a JOIN entry e ON a.name = e.account WHERE a.name = 'name ' || :k;
});
my @files;
foreach my $name (sort keys %script)
{
  my $file = $node->basedir . "/$name.sql";
  append_to_file($file, $script{$name});
  push @files, '-f', $file . ($name eq 'count' ? '@3' : '@1');
}

foreach my $mode ('prepared', 'simple')
{
  # sorted by nothing: updates of several rows of one transaction never meet in opposite orders, as each touches one row
  $node->command_ok([ 'pgbench', '-n', '-M', $mode, '-c', $clients, '-j', 2, '-t', $rounds, '--max-tries=20', @files, 'postgres' ],
    "$clients sessions, $mode");
}
is(lines_of($node, 'SELECT count(*) FROM account'), lines_of($node, 'SELECT count(DISTINCT name::text) FROM account'), 'names are unique');
is(lines_of($node, 'SELECT sum(hits::int) FROM account'), lines_of($node, 'SELECT count(*) FROM entry'), 'no update is lost');
is(lines_of($node, 'SELECT sum(total::numeric) FROM account'), lines_of($node, 'SELECT sum(amount::numeric) FROM entry'), 'nor its amount');
is(lines_of($node, 'SELECT count(*) FROM entry e LEFT JOIN account a ON a.name = e.account WHERE a.name IS NULL'), 0, 'each entry has its account');
is(lines_of($node, 'SELECT count(*) FROM seat'), lines_of($node, 'SELECT count(DISTINCT n::int) FROM seat'), 'no seat is taken twice');

# A unique key is waited for, and found to be taken when the other session commits; free when it does not.
foreach my $end ('COMMIT', 'ROLLBACK')
{
  my $key = "'wait for $end'";
  my ($first, $second) = ($node->background_psql('postgres'), $node->background_psql('postgres', on_error_stop => 0));

  $first->query_safe("BEGIN; INSERT INTO account VALUES ($key, 1, 0)");
  $second->query_until(qr/start/, "\\echo start\nINSERT INTO account VALUES ($key, 1, 0);\n\\echo done\n");
  $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    or die 'the second session does not wait';
  $first->query_safe($end);
  $first->quit;
  $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    or die 'the second session waits on';
  $second->quit;
  is(lines_of($node, "SELECT count(*) FROM account WHERE name = $key"), 1, "after $end there is one of the two");
}

# A key that has to be looked up while a page of an index is held: nobody waits there, where he could not be interrupted.
lines_of($node, q{CREATE TABLE paged (a encrypted_text) WITH (autovacuum_enabled = off); CREATE INDEX ON paged (a); INSERT INTO paged VALUES ('x')});
my $locker = session($node);
session_try($locker, q{SET idle_in_transaction_session_timeout = '10min'; BEGIN; LOCK TABLE tde.data_keys});
fails_with($node, q{SET statement_timeout = '1min'; SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT FROM paged WHERE a = 'x'::text},
  { state => '55P03', message => qr/^could not obtain lock on relation "tde.data_keys"/ }, 'a key under a page');
session_try($locker, 'ROLLBACK');
$locker->quit;

is(lines_of($node, q{SELECT count(bt_index_parent_check(i.indexrelid, true)) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_class t ON t.oid = i.indrelid WHERE c.relam = 403 AND t.relname IN ('account', 'entry', 'seat')}),
  4, 'amcheck finds nothing in the btree indexes');
$node->stop;
done_testing();
