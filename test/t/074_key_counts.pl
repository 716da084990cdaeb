# Whatever encrypts is counted: each way that values are stored, with each kind of limit; what ends in the midst; and a server that was a standby.
# No version encrypts more than it may, in the midst of a statement either, and nothing but what stores values makes a version.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $rows = 500;
my $node = tde_node(
  'counts',
  extension => 1,
  init      => [ allows_streaming => 'logical' ],
  conf      => "tde_column.passphrase_command = 'echo counts-passphrase'\nmin_parallel_table_scan_size = 0\nclient_min_messages = warning\n");
$node->start;
lines_of(
  $node, qq{
SELECT tde_wallet_create('counts-passphrase');
CREATE TABLE plain AS SELECT i AS id, 'v' || i AS t FROM generate_series(1, $rows) i;
CREATE TABLE fixed (t text); INSERT INTO fixed VALUES ('w1'), ('w2'), ('w3');
ANALYZE plain});

# ---- each way, under a key of its own ----

# How many values it stores, at least, and the statements; what is put in place of <...> is below.
my %ways = (
  insert       => [ $rows,     'CREATE TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT id, t FROM plain' ],
  constants    => [ 3,         q{CREATE TABLE <t> (id int, a <type>); INSERT INTO <t> VALUES (1, 'x'), (2, 'y'), (3, 'z')} ],
  'explicit cast' => [ $rows,  'CREATE TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT id, t::<type> FROM plain' ],
  default      => [ $rows,     q{CREATE TABLE <t> (id int, a <type> DEFAULT 'x'); INSERT INTO <t> SELECT id FROM plain} ],
  added        => [ $rows,     'CREATE TABLE <t> AS SELECT id FROM plain; ALTER TABLE <t> ADD a <type> DEFAULT random()::text' ],
  update       => [ $rows,     q{CREATE TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT id FROM plain; UPDATE <t> SET a = 'u' || id} ],
  conflict     => [ $rows,     q{CREATE TABLE <t> (id int PRIMARY KEY, a <type>); INSERT INTO <t> SELECT id FROM plain;
                                 INSERT INTO <t> SELECT id, t FROM plain ON CONFLICT (id) DO UPDATE SET a = EXCLUDED.a} ],
  merge        => [ $rows,     'CREATE TABLE <t> (id int, a <type>); MERGE INTO <t> USING plain p ON p.id = <t>.id WHEN NOT MATCHED THEN INSERT VALUES (p.id, p.t)' ],
  copy         => [ $rows,     qq{CREATE TABLE <t> (id int, a <type>); COPY <t> FROM PROGRAM 'seq 1 $rows | sed "s/.*/&,v&/"' (FORMAT csv)} ],
  'copy binary' => [ $rows,    q{CREATE TABLE <t> (id int, a <type>); COPY plain TO '<file>' (FORMAT binary); COPY <t> FROM '<file>' (FORMAT binary)} ],
  'create as'  => [ $rows,     'CREATE TABLE <t> AS SELECT id, t::<type> AS a FROM plain' ],
  'select into' => [ $rows,    'SELECT id, t::<type> AS a INTO <t> FROM plain' ],
  parallel     => [ $rows,     'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; CREATE TABLE <t> AS SELECT id, t::<type> AS a FROM plain' ],
  explain      => [ $rows,     'EXPLAIN ANALYZE CREATE TABLE <t> AS SELECT id, t::<type> AS a FROM plain' ],
  matview      => [ $rows,     'CREATE MATERIALIZED VIEW <t> AS SELECT id, t::<type> AS a FROM plain; REFRESH MATERIALIZED VIEW <t>' ],
  'alter type' => [ $rows,     'CREATE TABLE <t> AS SELECT id, t AS a FROM plain; ALTER TABLE <t> ALTER a TYPE <type>' ],
  'alter using' => [ $rows,    'CREATE TABLE <t> AS SELECT id, t AS a FROM plain; ALTER TABLE <t> ALTER a TYPE <type> USING (a || 1)::<type>' ],
  respecified  => [ $rows,     q{CREATE TABLE <t> (id int, a encrypted_text(aes128,nosalt,sha256)); INSERT INTO <t> SELECT id, t FROM plain; ALTER TABLE <t> ALTER a TYPE <type>} ],
  arrays       => [ 2 * $rows, 'CREATE TABLE <t> (id int, a <type>[]); INSERT INTO <t> SELECT id, ARRAY[t, t] FROM plain' ],
  'array variables' => [ 2,    q{CREATE TABLE <t> (id int, a <type>[]); DO $$ DECLARE v <type>[] := ARRAY['a', 'b']; BEGIN INSERT INTO <t> VALUES (1, v); END $$} ],
  domains      => [ $rows,     'CREATE DOMAIN <t>_domain AS <type>; CREATE TABLE <t> (id int, a <t>_domain); INSERT INTO <t> SELECT id, t FROM plain' ],
  composites   => [ $rows,     'CREATE TYPE <t>_type AS (x int, y <type>); CREATE TABLE <t> (id int, a <t>_type); INSERT INTO <t> SELECT id, ROW(id, t)::<t>_type FROM plain' ],
  variables    => [ 3,         q{CREATE TABLE <t> (id int, a <type>); DO $$ DECLARE v <type>; BEGIN FOR i IN 1 .. 3 LOOP v := 'x' || i; INSERT INTO <t> VALUES (i, v); END LOOP; END $$} ],
  'results of functions' => [ 1, q{CREATE FUNCTION <t>_f() RETURNS encrypted_text LANGUAGE plpgsql AS $$ DECLARE v <type> := 'x'; BEGIN RETURN v; END $$;
                                 CREATE TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT 1, <t>_f()} ],
  triggers     => [ $rows,     q{CREATE TABLE <t> (id int, a <type>); CREATE FUNCTION <t>_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.a := 'x' || NEW.id; RETURN NEW; END $$;
                                 CREATE TRIGGER t BEFORE INSERT ON <t> FOR EACH ROW EXECUTE FUNCTION <t>_f(); INSERT INTO <t> SELECT id FROM plain} ],
  prepared     => [ 2,         q{CREATE TABLE <t> (id int, a <type>); PREPARE p AS INSERT INTO <t> VALUES ($1, $2); EXECUTE p(1, 'a'); EXECUTE p(2, 'b')} ],
  returning    => [ $rows,     'CREATE TABLE <t> (id int, a <type>); WITH w AS (INSERT INTO <t> SELECT id, t FROM plain RETURNING a) SELECT count(*) FROM w' ],
  cursors      => [ 3,         q{CREATE TABLE <t> (id int, a <type>); DO $$ DECLARE r record; BEGIN FOR r IN SELECT id, t::<type> AS a FROM plain LIMIT 3 LOOP
                                 INSERT INTO <t> VALUES (r.id, r.a); END LOOP; END $$} ],
  temporary    => [ $rows,     'CREATE TEMP TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT id, t FROM plain' ],
  unlogged     => [ $rows,     'CREATE UNLOGGED TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT id, t FROM plain' ],
  partitions   => [ $rows,     'CREATE TABLE <t> (id int, a <type>) PARTITION BY HASH (id); CREATE TABLE <t>_0 PARTITION OF <t> FOR VALUES WITH (MODULUS 1, REMAINDER 0);
                                 INSERT INTO <t> SELECT id, t FROM plain' ],
  rekey        => [ $rows,     q{CREATE TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT id, t FROM plain; SELECT tde_rotate_key('<key>'); CALL tde_rekey_table('<t>', batch_rows => 100)} ],
  'rekey arrays' => [ 2 * $rows, q{CREATE TABLE <t> (id int, a <type>[]); INSERT INTO <t> SELECT id, ARRAY[t, t] FROM plain; SELECT tde_rotate_key('<key>'); CALL tde_rekey_table('<t>')} ],
  convert      => [ $rows,     q{CREATE TABLE <t> (id int PRIMARY KEY, a text); INSERT INTO <t> SELECT id, t FROM plain; SELECT tde_create_key('<key>'); CALL tde_encrypt_column('<t>', 'a', <words>)} ],
  'convert online' => [ $rows, q{CREATE TABLE <t> (id int PRIMARY KEY, a text); INSERT INTO <t> SELECT id, t FROM plain; SELECT tde_create_key('<key>'); CALL tde_encrypt_column('<t>', 'a', <words>, online => true);
                                 UPDATE <t> SET a = 'late' WHERE id = 7; CALL tde_finish_conversion('<t>', 'a')} ],
  'expression index' => [ 2 * $rows, 'CREATE TABLE <t> (id int, a <type>); INSERT INTO <t> SELECT id, t FROM plain; CREATE INDEX ON <t> (lower(a)); REINDEX TABLE <t>' ]);

my %specs = (gcm => 'aes256,salt,gcm', mac => 'aes256,salt,sha256', '3des' => q{'3des168',sha256});
my $number = 0;

# Values under each version of a key that are stored, by what keeps them, against what is counted: values, and blocks where they are those of triple DES.
sub uncounted
{
  my ($key, $spec) = @_;
  my $counted = $spec eq '3des' ? 'least(c.encryptions, c.des_blocks)' : 'c.encryptions';
  return qq{SELECT string_agg(format('version %s: %s stored, %s counted', k.version, u.stored, $counted), ', ')
    FROM (SELECT key_id, sum(count) AS stored FROM tde_key_usage() WHERE object_type IN ('table', 'materialized view', 'index') GROUP BY key_id) u
    JOIN tde.keys k ON k.id = u.key_id JOIN tde.key_counts c ON c.id = k.id
    WHERE k.name = '$key' AND u.stored > $counted};
}

foreach my $way (sort keys %ways)
{
  foreach my $spec (sort keys %specs)
  {
    my ($stored, $sql) = @{ $ways{$way} };
    my ($table, $key) = ('t' . ++$number, "k$number");
    my $words = "$specs{$spec},'key=$key'";
    (my $quoted = $words) =~ s/'/''/g;
    my %of = (t => $table, key => $key, type => "encrypted_text($words)", words => "'$quoted'", file => $node->basedir . "/$table");
    $sql =~ s/<(\w+)>/$of{$1}/g;
    my $seen = "SELECT coalesce(sum(count), 0) >= $stored FROM tde_key_usage() u JOIN tde.keys k ON k.id = u.key_id AND k.name = '$key'";
    my @lines = split /\n/, lines_of($node, "$sql;\n$seen;\n" . uncounted($key, $spec));
    my $bad = @lines && $lines[-1] =~ /version/ ? pop @lines : '';
    is($bad, '', "$way, $spec: all that is stored is counted");
    is((grep { /^[tf]$/ } @lines)[-1], 't', "$way, $spec: and is stored");
  }
}

# ---- in the midst of a statement ----

# Blocks of eight bytes under each version, of values of so many bytes, against what a version may have, and has counted.
sub too_many
{
  my ($table, $key, $blocks) = @_;
  return lines_of(
    $node, qq{SELECT count(*) > 2, string_agg(format('version %s: %s values, %s blocks counted', k.version, u.count, c.des_blocks), ', ')
      FILTER (WHERE u.count * $blocks > c.des_blocks OR c.des_blocks > 1048576)
    FROM tde_key_usage('$table') u JOIN tde.keys k ON k.id = u.key_id JOIN tde.key_counts c ON c.id = k.id
    WHERE k.name = '$key' AND u.object_type = 'table'});
}

lines_of(
  $node, q{CREATE TABLE many (id int, a encrypted_text('3des168','key=many'));
  INSERT INTO many SELECT i, repeat('x', 8000) FROM generate_series(1, 2300) i});
is(too_many('many', 'many', 1001), 't|', 'one INSERT spreads over versions, and puts no more under each than it may have');
my $before = lines_of($node, q{SELECT tde_rotate_key('many')});
lines_of($node, q{CALL tde_rekey_table('many')});
is(too_many('many', 'many', 1001), 't|', 'so does re-encryption');
is(lines_of($node, "SELECT count(*) FROM tde_key_usage('many') u JOIN tde.keys k ON k.id = u.key_id WHERE k.version < $before AND u.object_type = 'table'"), '0', 'which comes to an end');
lines_of($node, q{SELECT tde_create_key('plainer'); CREATE TABLE plainer AS SELECT i AS id, repeat('x', 8000) AS a FROM generate_series(1, 2300) i; CALL tde_encrypt_column('plainer', 'a', $$'3des168','key=plainer'$$)});
is(too_many('plainer', 'plainer', 1001), 't|', 'and a conversion');
fails_with(
  $node, q{INSERT INTO many VALUES (0, repeat('x', 8388608))},
  { state => '54000', message => qr/^value is too large for triple DES$/, detail => qr/^It has 1048577 blocks; a key may encrypt 1048576 blocks of 8 bytes\.$/, hint => qr/aes256/ },
  'more than a version may encrypt at once');

# ---- versions are replaced by what stores, and by nothing else ----

# Put the count of a key where no test can wait for it to come.
sub set_count
{
  my ($key, $column, $count, @db) = @_;
  lines_of(
    $node, qq{ALTER TABLE tde.key_counts DISABLE TRIGGER tde_guard_counts;
    UPDATE tde.key_counts SET $column = $count WHERE id = (SELECT id FROM tde.keys WHERE name = '$key' AND kind = 'mac' AND state = 'active');
    ALTER TABLE tde.key_counts ENABLE ALWAYS TRIGGER tde_guard_counts}, @db);
  return;
}
sub version { return lines_of($node, "SELECT max(version) FROM tde.keys WHERE name = '$_[0]' AND kind = 'mac'") }

lines_of($node, 'CREATE ROLE nobody LOGIN; REVOKE TEMP ON DATABASE postgres FROM PUBLIC; CREATE TABLE forbidden (a encrypted_text)');
my @casts = (
  q{SELECT count(repeat('x', 8000)::TYPE) FROM generate_series(1, 1200)},
  q{SELECT pg_current_xact_id(), count(repeat('x', 8000)::TYPE) FROM generate_series(1, 1200)},
  q{BEGIN; SELECT pg_current_xact_id(); SELECT count(repeat('x', 8000)::TYPE) FROM generate_series(1, 1200); COMMIT},
  q{BEGIN; SAVEPOINT s; SELECT pg_current_xact_id(); SELECT count(repeat('x', 8000)::TYPE) FROM generate_series(1, 1200); RELEASE s; COMMIT},
  q{DO $$ DECLARE v TYPE; BEGIN FOR i IN 1 .. 1200 LOOP v := repeat('x', 8000); END LOOP; PERFORM pg_current_xact_id(); END $$},
  q{DO $$ DECLARE v TYPE; BEGIN BEGIN INSERT INTO forbidden VALUES ('x'); EXCEPTION WHEN OTHERS THEN END;
    FOR i IN 1 .. 1200 LOOP v := repeat('x', 8000); END LOOP; PERFORM pg_current_xact_id(); END $$},
  q{DO $$ BEGIN BEGIN COPY forbidden FROM '/nowhere'; EXCEPTION WHEN OTHERS THEN END;
    PERFORM count(repeat('x', 8000)::TYPE), pg_current_xact_id() FROM generate_series(1, 1200); END $$},
  q{DO $$ DECLARE v TYPE; BEGIN ROLLBACK; FOR i IN 1 .. 1200 LOOP v := repeat('x', 8000); END LOOP; PERFORM pg_current_xact_id(); END $$},
  q{EXPLAIN (ANALYZE) SELECT count(repeat('x', 8000)::TYPE), pg_current_xact_id() FROM generate_series(1, 1200)},
  q{COPY (SELECT count(repeat('x', 8000)::TYPE), pg_current_xact_id() FROM generate_series(1, 1200)) TO STDOUT},
  q{BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT length(repeat('x', 8000)::TYPE), pg_current_xact_id() FROM generate_series(1, 1200); COMMIT},
  q{PREPARE p AS SELECT count(repeat('x', 8000)::TYPE), pg_current_xact_id() FROM generate_series(1, 1200); EXECUTE p},
  q{SELECT count(repeat('x', 8000)::encrypted_text(gcm)::TYPE), pg_current_xact_id() FROM generate_series(1, 1200)},
  q{SELECT count(repeat('x', 8000)::encrypted_varchar(gcm)::TYPE), pg_current_xact_id() FROM generate_series(1, 1200)},
  q{DO $$ DECLARE g encrypted_text(gcm) := repeat('x', 8000); v TYPE; BEGIN FOR i IN 1 .. 1200 LOOP v := g; END LOOP; PERFORM pg_current_xact_id(); END $$},
  q{BEGIN; ALTER ROLE nobody SET work_mem = '5MB'; SELECT count(repeat('x', 8000)::TYPE) FROM generate_series(1, 1200); COMMIT});

# By triple DES nothing is taken from the key; by gcm, when its version has reached half and when it is full.
my $des = q{SELECT des_blocks FROM tde.key_counts JOIN tde.keys USING (id) WHERE name = 'default' AND kind = 'mac' AND state = 'active'};
$before = version('default') . '|' . lines_of($node, $des);
foreach my $cast (@casts)
{
  (my $sql = $cast) =~ s/TYPE/encrypted_text('3des168')/g;
  is(attempt($node, $sql, user => 'nobody')->{state}, '', "triple DES: $cast");
}
is(version('default') . '|' . lines_of($node, $des), $before, 'queries take nothing of what a key may encrypt by triple DES');
$before = version('default');
foreach my $cast (@casts)
{
  set_count('default', 'encryptions', 2147483648);
  (my $sql = $cast) =~ s/TYPE/encrypted_text(gcm)/g;
  attempt($node, $sql, user => 'nobody');
  set_count('default', 'encryptions', 4294967296);
  is(attempt($node, $sql, user => 'nobody')->{state}, '54000', "gcm, full: $cast");
}
is(version('default'), $before, 'queries make no version, whatever they do');
lines_of($node, q{INSERT INTO forbidden VALUES ('x')});
is(version('default'), $before + 1, 'the next that stores makes one');

# What somebody may not see is not shown by a cast that makes it no literal.
lines_of($node, q{CREATE TABLE hidden (a encrypted_text(gcm), n encrypted_int4(gcm)); INSERT INTO hidden VALUES ('secret', 7); GRANT SELECT ON hidden TO nobody; CREATE ROLE reader});
set_conf($node, 'tde_column.decrypt_role', 'reader');
foreach my $sql (
  q{SELECT a::encrypted_text('3des168') FROM hidden},
  q{SELECT a::encrypted_varchar('3des168') FROM hidden},
  q{SELECT n::encrypted_text('3des168') FROM hidden},
  q{SELECT lower(a::encrypted_text('3des168'))::text FROM hidden},
  q{DO $$ DECLARE v encrypted_text('3des168'); BEGIN SELECT a INTO v FROM hidden; RAISE WARNING '%', v; END $$})
{
  my $got = attempt($node, $sql, user => 'nobody');
  is($got->{state}, '42501', "a role that may not decrypt: $sql");
  unlike("$got->{out} $got->{err}", qr/secret|\b7\b/, 'and sees nothing');
}
set_conf($node, 'tde_column.decrypt_role', '');

# A young version lives on beyond its half, but not beyond all.
my $key_made = lines_of($node, q{CREATE TABLE young (a encrypted_text(gcm,'key=young')); SELECT created FROM tde.keys WHERE name = 'young'});
set_count('young', 'encryptions', 2147483648);
my $young = lines_of($node, qq{INSERT INTO young VALUES ('x'); SELECT now() < timestamptz '$key_made' + interval '60 s'});
SKIP:
{
  skip 'the machine is too slow', 1 if $young eq 'f';
  is(version('young'), 1, 'a version of less than a minute is not replaced at its half');
}
set_count('young', 'encryptions', 4294967290);
lines_of($node, q{INSERT INTO young SELECT 'x' FROM generate_series(1, 100)});
is(version('young'), 2, 'but when it is full, in the midst of a statement');
is(lines_of($node, q{SELECT total_encryptions FROM tde.keys WHERE name = 'young' AND version = 1}), '4294967296', 'and never has more');
set_count('young', 'encryptions', 3221225471);
unlike(lines_of($node, 'SELECT finding FROM tde_audit()'), qr/values that a key may/, 'the audit is content below three quarters');
set_count('young', 'encryptions', 3221225472);
set_count('many', 'des_blocks', 786432);
is(
  lines_of($node, q{SELECT severity, object, finding, hint FROM tde_audit() WHERE topic = 'data keys' AND finding ~ 'a key may$' ORDER BY object}),
  'warning|many (mac), version ' . version('many') . q{|has encrypted 786432 of the 1048576 blocks of triple DES that a key may|Store a value under it, or: SELECT tde_rotate_key('many');}
    . "\nwarning|young (mac), version 2|has encrypted 3221225472 of the 4294967296 values that a key may|Store a value under it, or: SELECT tde_rotate_key('young');",
  'and then tells which versions are near their limits');

# ---- what ends in the midst ----

lines_of(
  $node, q{CREATE TABLE killed (id int, a encrypted_text(gcm,'key=killed')); INSERT INTO killed SELECT i, 'v' || i FROM generate_series(1, 40000) i;
  SELECT tde_rotate_key('killed')});
my $rekey = session($node);
$rekey->query_until(qr/begun/, "\\echo begun\nCALL tde_rekey_table('killed', batch_rows => 200);\n");
$node->poll_query_until('postgres', q{SELECT total_encryptions > 2000 FROM tde.keys WHERE name = 'killed' AND version = 2}) or die 'nothing is re-encrypted';
$node->stop('immediate');
eval { $rekey->{run}->kill_kill };
$node->start;
is(lines_of($node, uncounted('killed', 'gcm')), '', 'kill -9 while a table is re-encrypted: all that is stored is counted');
lines_of($node, q{CALL tde_rekey_table('killed')});
is(lines_of($node, uncounted('killed', 'gcm')), '', 'and when that is done');

# ---- replication: an apply worker; a session that lives through the promotion of its standby ----

lines_of($node, 'CREATE DATABASE sub');
lines_of($node, q{SET client_min_messages = error; CREATE EXTENSION tde_column; CREATE TABLE plain (id int, t encrypted_text('3des168','key=sub'))}, db => 'sub');
lines_of($node, q{CREATE PUBLICATION pub FOR TABLE plain; SELECT pg_create_logical_replication_slot('sub', 'pgoutput')});
lines_of($node, q{CREATE SUBSCRIPTION sub CONNECTION '} . $node->connstr . q{ dbname=postgres' PUBLICATION pub WITH (create_slot = false, slot_name = 'sub')}, db => 'sub');
$node->poll_query_until('sub', "SELECT count(*) = $rows FROM plain") or die 'nothing is copied';
lines_of($node, q{INSERT INTO plain SELECT 1000 + i, repeat('x', 8000) FROM generate_series(1, 1200) i});
$node->poll_query_until('sub', "SELECT count(*) = $rows + 1200 FROM plain") or die 'nothing is applied';
is(
  lines_of(
    $node, q{SELECT count(*) > 1, bool_and(u.count <= c.encryptions AND c.des_blocks <= 1048576), sum(u.count) FROM tde_key_usage('plain') u
    JOIN tde.keys k ON k.id = u.key_id AND k.name = 'sub' JOIN tde.key_counts c ON c.id = k.id}, db => 'sub'),
  't|t|' . ($rows + 1200),
  'an apply worker counts, and makes versions');
set_count('sub', 'des_blocks', 1048576, db => 'sub');
lines_of($node, q{INSERT INTO plain VALUES (3000, 'x')});
ok($node->poll_query_until('sub', 'SELECT count(*) = 1 FROM plain WHERE id = 3000'), 'also when there is no room for the first value that it gets');
lines_of($node, 'ALTER SUBSCRIPTION sub DISABLE; ALTER SUBSCRIPTION sub SET (slot_name = none); DROP SUBSCRIPTION sub', db => 'sub');
lines_of($node, q{SELECT pg_drop_replication_slot('sub')});

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('promoted');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "tde_column.wallet_file = '" . wallet_path($node) . "'");
lines_of($node, q{CREATE TABLE later (id int, a encrypted_text(gcm,'key=later')); ALTER TABLE later REPLICA IDENTITY FULL});
$standby->start;
$node->wait_for_catchup($standby);
my $survivor = session($standby);
is(session_try($survivor, q{SELECT count(('v' || i)::encrypted_text(gcm,'key=later')) FROM generate_series(1, 1000) i})->{out}, '1000', 'a session on a standby');
is(lines_of($standby, q{SELECT total_encryptions FROM tde.keys WHERE name = 'later'}), '0', 'counts nothing');
$node->stop;
$standby->promote;
is(session_try($survivor, q{INSERT INTO later SELECT i, 'v' || i FROM generate_series(1, 20) i})->{state}, '', 'but when it goes on after the promotion');
cmp_ok(lines_of($standby, q{SELECT total_encryptions FROM tde.keys WHERE name = 'later'}), '>=', 20, 'it does');
$survivor->quit;
$standby->stop;

done_testing();
