# A snapshot of a virtual machine that is resumed twice: nothing that a session will use as a salt or a nonce is in its memory when it waits for
# its client, nor a tenth of a second after it was drawn.
#
# The memory of a session is read, then the session goes on: what it stores has none of the salts that were there.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

plan skip_all => 'the memory of processes can be looked at on Linux only' if $^O ne 'linux' || !-r '/proc/self/maps';

my $node = tde_node('snapshots', extension => 1);
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('a passphrase');
CREATE FUNCTION stored(anyelement) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE v (id int GENERATED ALWAYS AS IDENTITY, gcm encrypted_text(gcm), ctr encrypted_text(sha256), cbc encrypted_text(cbc,sha256), few encrypted_int4(gcm));
CREATE TABLE locked (id int); INSERT INTO locked VALUES (1)});

# The salts of new rows, behind spec byte and the key's number, which is below 128; as NAME:HEX.
my $new = join q{ || ' ' || }, map { my ($name, $size) = @$_; "'$name:' || encode(substr(stored($name), 3, $size), 'hex')" }
  [ gcm => 12 ], [ ctr => 14 ], [ cbc => 16 ], [ few => 12 ];
my $insert = q{INSERT INTO v (gcm, ctr, cbc, few) SELECT i, i, i, i FROM generate_series(1, 50) i};
my $insert_and_tell = "WITH n AS ($insert RETURNING *) SELECT string_agg($new, ' ') FROM n";

my $session = session($node);
my $pid = session_try($session, 'SELECT pg_backend_pid()')->{out};
plan skip_all => 'the memory of other processes cannot be read here' if !memory_of($pid);

# How many of these salts are in the memory?
sub found
{
  my ($memory, $salts) = @_;
  my %there;
  my @salts = split / /, $salts;

  die "no salts: $salts" unless @salts >= 30;
  foreach (@salts)
  {
    my ($name, $salt) = /^(\w+):([0-9a-f]+)$/ or die;
    $salt = pack 'H*', $salt;
    $there{$name}++ if grep { index($_->[1], $salt) >= 0 } @$memory;
  }
  return join ', ', map { "$_: $there{$_}" } sort keys %there;
}

# What a session does, and leaves behind when it waits; and what it has to do before it goes on, perhaps.
my $fails = q{INSERT INTO v (gcm, ctr, cbc, few) SELECT i, i, i, 1 / (10 - i) FROM generate_series(1, 50) i};
my @before = (
  [ 'INSERT'  => $insert ],
  [ 'one row' => q{INSERT INTO v (gcm, ctr, cbc, few) VALUES ('x', 'x', 'x', 1)} ],
  [ 'a query' => q{SELECT count('x'::encrypted_text(gcm)), count('x'::encrypted_text(sha256)), count('x'::encrypted_text(cbc,sha256)), count(i::encrypted_int4(gcm)) FROM generate_series(1, 3) i} ],
  [ 'a block' => q{DO $$ DECLARE g encrypted_text(gcm); c encrypted_text(sha256); BEGIN FOR i IN 1 .. 3 LOOP g := 'x'; c := 'x'; END LOOP; END $$} ],
  [ 'an error'                  => $fails ],
  [ 'INSERT in a transaction'   => "BEGIN; $insert" ],
  [ 'an error in a transaction' => $fails, 'ROLLBACK' ],
  [ 'an error below a savepoint' => "BEGIN; SAVEPOINT s; $fails", 'ROLLBACK TO s' ],
  [ 'a cursor, half read' => q{DECLARE c CURSOR FOR SELECT i::text::encrypted_text(gcm), i::text::encrypted_text(sha256) FROM generate_series(1, 100) i; FETCH 7 FROM c} ],
  [ 'the end of a transaction' => 'COMMIT' ],
  [ 'an error caught' => q{CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ DECLARE g encrypted_text(gcm); BEGIN
       BEGIN g := 'x'; PERFORM 1 / 0; EXCEPTION WHEN OTHERS THEN g := 'y'; END; INSERT INTO v (gcm, ctr) VALUES (g, 'x'); END $$; SELECT f()} ],
  # statements of functions share what is drawn ahead, until the client's ends
  [ 'a loop of INSERT' => q{DO $$ BEGIN FOR i IN 1 .. 9 LOOP INSERT INTO v (gcm, ctr, cbc, few) VALUES ('x', 'x', 'x', i); END LOOP; END $$} ],
  [ 'the same in a transaction, as the next three' => q{BEGIN; DO $$ BEGIN FOR i IN 1 .. 9 LOOP INSERT INTO v (gcm, ctr, cbc, few) VALUES ('x', 'x', 'x', i); END LOOP; END $$} ],
  [ 'a function in SQL' => q{CREATE FUNCTION s() RETURNS SETOF int LANGUAGE sql AS $$ INSERT INTO v (gcm, ctr, cbc, few) VALUES ('x', 'x', 'x', 1); INSERT INTO v (gcm, ctr, cbc, few) SELECT i, i, i, i FROM generate_series(1, 9) i RETURNING 1 $$;
       SELECT s()} ],
  [ 'errors caught' => q{CREATE FUNCTION e() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
       FOR n IN 1 .. 3 LOOP
         BEGIN INSERT INTO v (gcm, ctr, cbc, few) SELECT i, i, i, 1 / (3 - i) FROM generate_series(1, 5) i; EXCEPTION WHEN OTHERS THEN NULL; END;
         INSERT INTO v (gcm, ctr, cbc, few) VALUES ('x', 'x', 'x', 1);
       END LOOP; END $$;
       SELECT e()} ],
  [ 'rows of a trigger' => q{CREATE TABLE fires (id int); CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO v (gcm, ctr, cbc, few) VALUES ('x', 'x', 'x', NEW.id); INSERT INTO v (gcm, ctr, cbc, few) VALUES ('x', 'x', 'x', NEW.id); RETURN NULL; END $$;
       CREATE TRIGGER fired AFTER INSERT ON fires FOR EACH ROW EXECUTE FUNCTION fired();
       INSERT INTO fires VALUES (1), (2), (3)} ],
  [ 'its end' => 'COMMIT' ],
  [ 'CREATE TABLE AS'   => q{CREATE TEMP TABLE x AS SELECT i::text::encrypted_text(gcm) AS a, i::text::encrypted_text(sha256) AS b FROM generate_series(1, 10) i} ],
  [ 'a rewritten table' => 'ALTER TABLE x ALTER a TYPE encrypted_text(sha256), ALTER b TYPE encrypted_text(gcm)' ],
  [ 'COPY'              => q{COPY v (gcm, ctr, cbc, few) FROM PROGRAM 'echo "1,1,1,1"' (FORMAT csv)} ]);

session_try($session, $insert);
foreach (@before)
{
  my ($what, $sql, $afterwards) = @$_;
  session_try($session, $sql);
  my $memory = memory_of($pid);
  session_try($session, $afterwards) if $afterwards;
  is(found($memory, session_try($session, $insert_and_tell)->{out}), '', "$what: no salt of later values is in memory");
}

# A statement that waits in the midst: what it has drawn ahead is of no use after a tenth of a second.
my $locker = session($node);
session_try($locker, 'BEGIN; UPDATE locked SET id = 2');
$session->query_until(
  qr/begun/, q{\echo begun
DO $$ DECLARE g encrypted_text(gcm); c encrypted_text(sha256); b encrypted_text(cbc,sha256); f encrypted_int4(gcm);
BEGIN
  FOR i IN 1 .. 30 LOOP g := 'x'; c := 'x'; b := 'x'; f := 1; END LOOP;
  PERFORM FROM locked FOR UPDATE;
  FOR i IN 1 .. 30 LOOP g := 'x'; c := 'x'; b := 'x'; f := 1; INSERT INTO v (gcm, ctr, cbc, few) VALUES (g, c, b, f); END LOOP;
END $$;
});
$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid") or die 'nobody waits';
# longer than that; how much longer does not matter
select undef, undef, undef, 1;
my $memory = memory_of($pid);
my $last   = lines_of($node, 'SELECT max(id) FROM v');
session_try($locker, 'COMMIT');
$node->poll_query_until('postgres', "SELECT count(*) = 30 FROM v WHERE id > $last") or die 'the statement does not go on';
is(found($memory, lines_of($node, "SELECT string_agg($new, ' ') FROM v WHERE id > $last")), '', 'a statement that waits: no salt of later values is in memory');
$_->quit foreach $session, $locker;
$node->stop;

done_testing();
