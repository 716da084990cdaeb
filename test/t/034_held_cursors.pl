# A client's cursor WITH HOLD: its rows are kept as ciphertext, and it has the base types before its transaction ends and after.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my %oid  = (bool => 16, int4 => 23, text => 25);
my $node = tde_node('held', extension => 1, conf => "tde_column.passphrase_command = 'echo held-passphrase'\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('held-passphrase');
CREATE TABLE t (id int PRIMARY KEY, a encrypted_text(aes256,salt), n encrypted_int4, b encrypted_bool(nosalt));
INSERT INTO t SELECT g, 'name ' || g, g * 10, g % 2 = 0 FROM generate_series(1, 4) g;
INSERT INTO t VALUES (5);
CREATE FUNCTION fetched(c refcursor) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE r record; BEGIN FETCH c INTO r; RETURN pg_typeof(r.a) || ' ' || r.a; END $$;
CREATE FUNCTION executed() RETURNS text LANGUAGE plpgsql AS $$
  DECLARE r record; BEGIN EXECUTE 'FETCH FIRST FROM c' INTO r; RETURN pg_typeof(r.a) || ' ' || r.a; END $$;
CREATE TABLE seen (what text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (fetched('c')); RETURN NULL; END $$;
CREATE TABLE later (id int);
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
CREATE FUNCTION insert_later() RETURNS int LANGUAGE sql AS 'INSERT INTO later VALUES (1) RETURNING id';
CREATE ROLE may_see; CREATE ROLE clerk; GRANT SELECT ON t TO clerk});

my $query    = 'SELECT a, n, b, id FROM t ORDER BY id';
my @types    = @oid{qw(text int4 bool int4)};
my @rows     = ((map { "name $_|" . $_ * 10 . '|' . ($_ % 2 ? 'f' : 't') . "|$_" } 1 .. 4), '|||5');
my $declared = "DECLARE c SCROLL CURSOR WITH HOLD FOR $query";

# What a client is told and gets, at all places of the cursor.
foreach my $case ([ 'by itself', $declared ], [ 'in a transaction', "BEGIN; $declared; COMMIT" ],
  [ 'and fetched from before', "BEGIN; $declared; FETCH 2 FROM c; MOVE ABSOLUTE 0 IN c; COMMIT" ],
  [ 'from a union', "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT * FROM ($query) q UNION ALL SELECT * FROM ($query) r WHERE id < 0" ])
{
  my $wire = TdeWire->connect($node);
  is($wire->query($case->[1])->{error}, '', "declared $case->[0]");
  my $got = $wire->describe_portal('c')->sync;
  is_deeply($got->{types}, \@types, 'the portal has the base types');
  $got = $wire->parse('', 'FETCH 2 FROM c')->describe('')->execute('')->sync;
  is_deeply($got, { types => \@types, parameters => [], rows => [ @rows[ 0, 1 ] ], error => '' }, 'FETCH, in the extended protocol');
  $got = $wire->query('FETCH NEXT FROM c');
  is_deeply($got, { types => \@types, parameters => [], rows => [ $rows[2] ], error => '' }, 'in the simple one');
  is_deeply($wire->query('MOVE 1 IN c; FETCH ALL FROM c')->{rows}, [ $rows[4] ], 'after MOVE, and NULLs');
  is_deeply($wire->query('BEGIN; FETCH BACKWARD 2 FROM c')->{rows}, [ reverse @rows[ 3, 4 ] ], 'backward, in a transaction');
  like($wire->query('SAVEPOINT s; SELECT 1 / 0')->{error}, qr/^22012 /, 'an error');
  is_deeply($wire->query('ROLLBACK TO s; FETCH ABSOLUTE 1 FROM c')->{rows}, [ $rows[0] ], 'does not harm it');
  $wire->query('ROLLBACK');
  $got = $wire->parse('', 'FETCH 1 FROM c')->bind('', '', 1)->fetch('', 0)->sync;
  is_deeply($got->{rows}, [ "name 2|" . pack('N', 20) . '|' . pack('C', 1) . '|' . pack('N', 2) ], 'in binary form');
  is_deeply($wire->query('SELECT executed()')->{rows}, ['text name 1'], 'FETCH in a string that a function executes');
  like($wire->query("SELECT fetched('c')")->{error}, qr/^55000 portal "c" cannot be run/, 'FETCH of PL/pgSQL is refused');
  like($wire->fetch('c', 0)->sync->{error}, qr/^55000 portal "c" cannot be run/, 'so is Execute of the portal');
  is_deeply($wire->query('FETCH FIRST FROM c')->{rows}, [ $rows[0] ], 'neither harms it');
  is_deeply($wire->query('SET tde_column.transparent_results = off; FETCH FIRST FROM c')->{types}, \@types, 'nor does the setting');
  is($wire->query('CLOSE c')->{error}, '', 'CLOSE');
  like($wire->query('FETCH c')->{error}, qr/^34000 cursor "c" does not exist/, 'then it is gone');
}

my $wire = TdeWire->connect($node);
$wire->query('SET tde_column.transparent_results = off');
$wire->query($declared);
cmp_ok($wire->query('FETCH 1 FROM c')->{types}[0], '>=', 16384, 'with the setting off a cursor has the encrypted types');
is_deeply($wire->query("SELECT fetched('c')")->{rows}, ['encrypted_text name 2'], 'and functions fetch from it');

# Between its rows are put down and the transaction's end.
$wire = TdeWire->connect($node);
is($wire->query('DECLARE c CURSOR WITH HOLD FOR SELECT a, insert_later() FROM t WHERE id < 3')->{error}, '', 'a deferred trigger fetches');
is(lines_of($node, 'SELECT what FROM seen'), "encrypted_text name 1\nencrypted_text name 2", 'and gets what functions get');
is_deeply($wire->query('FETCH BACKWARD 1 FROM c; MOVE 0 FROM c')->{types}, [ @oid{qw(text int4)} ], 'the client goes on with the base types');

# In the files.
lines_of($node, q{CREATE TABLE big (id int, a encrypted_text(aes256,salt)); INSERT INTO big SELECT g, 'value ' || g FROM generate_series(1, 5000) g});
$wire = TdeWire->connect($node);
$wire->query("SET work_mem = '64kB'");
$wire->query('DECLARE c CURSOR WITH HOLD FOR SELECT a FROM big ORDER BY id');
my $kept = sub { join '', map { read_bytes($_) } glob $node->data_dir . '/base/pgsql_tmp/pgsql_tmp*' };
cmp_ok(length $kept->(), '>', 100_000, 'the rows are in a temporary file');
unlike($kept->(), qr/value \d/, 'as ciphertext');
is_deeply($wire->query('FETCH ALL FROM c')->{rows}, [ map { "value $_" } 1 .. 5000 ], 'all are fetched');
unlike($kept->(), qr/value \d/, 'and stand in no other file');

# Who may see is asked when rows are fetched.
$wire = TdeWire->connect($node);
$wire->query($_) foreach "SET tde_column.decrypt_role = 'may_see'", $declared, 'SET ROLE clerk';
like($wire->query('FETCH 1 FROM c')->{error}, qr/^42501 /, 'who may not see gets an error');
$wire = TdeWire->connect($node);
$wire->query($_) foreach "SET tde_column.decrypt_role = 'may_see'", "SET tde_column.decrypt_policy = 'mask'", 'SET ROLE clerk', $declared;
is_deeply($wire->query('FETCH 1 FROM c')->{rows}, ['****|0|f|1'], 'or what the policy says');
is_deeply($wire->query('FETCH ALL FROM c')->{rows}, [ map { $_ < 5 ? "****|0|f|$_" : '|||5' } 2 .. 5 ], 'for each row');
$wire->query('RESET ROLE');
is_deeply($wire->query('MOVE BACKWARD ALL IN c; FETCH FIRST FROM c')->{rows}, [ $rows[0] ], 'and who may, sees');

# The wallet is closed meanwhile.
$wire = TdeWire->connect($node);
$wire->query($declared);
lines_of($node, 'ALTER SYSTEM SET tde_column.passphrase_command = \'\'; SELECT pg_reload_conf(); SELECT tde_wallet_close()');
like($wire->query('FETCH 1 FROM c')->{error}, qr/^\w+ wallet is not open/, 'the wallet is not open');
lines_of($node, q{SELECT tde_wallet_open('held-passphrase')});
is_deeply($wire->query("CLOSE c; $declared; FETCH 1 FROM c")->{rows}, [ $rows[0] ], 'and open again');

done_testing();
