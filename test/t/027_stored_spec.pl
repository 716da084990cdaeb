# What a statement stores in encrypted columns is encrypted as they declare, also where a module has planned the statement that compares
# types only, and where a function gives out other values than it is said to; tde_rekey_table() mends what is there.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('stored_spec', conf => "tde_column.passphrase_command = 'echo spec-passphrase'\njit = off\n");
my $module = $node->basedir . '/strip_coercion.so';
my ($server_include) = $node->config_data('--includedir-server');
system_or_bail('gcc', '-O1', '-shared', '-fPIC', "-I$server_include", "-I$FindBin::RealBin/../../src", '-o', $module, "$FindBin::RealBin/../lib/strip_coercion.c");
# it is called by ours, as one that was loaded before
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$module, tde_column'\n");
$node->start;

lines_of(
  $node, q{
CREATE EXTENSION tde_column;
SELECT tde_wallet_create();
SELECT tde_create_key('other');
CREATE TABLE source (id int PRIMARY KEY, a encrypted_text(aes128,salt,nomac), n encrypted_numeric(12,4,aes128,salt,nomac),
                     arr encrypted_int4(aes128,salt,nomac)[], plain varchar(20));
INSERT INTO source SELECT i, 'text ' || i, i / 8.0, ARRAY[i, i + 1], 'plain ' || i FROM generate_series(1, 40) i;
CREATE TABLE target (id int PRIMARY KEY, gone int, a encrypted_text(aes256,nosalt,mac,'key=other'), n encrypted_numeric(10,2,aes256,salt,mac,'key=other'),
                     arr encrypted_int4(aes256,salt,mac,'key=other')[], plain varchar(5));
ALTER TABLE target DROP gone;
CREATE TABLE parts (LIKE target) PARTITION BY RANGE (id);
CREATE TABLE part1 (x int, arr encrypted_int4(aes256,salt,mac,'key=other')[], n encrypted_numeric(10,2,aes256,salt,mac,'key=other'), plain varchar(5),
                    a encrypted_text(aes256,nosalt,mac,'key=other'), id int NOT NULL);
ALTER TABLE part1 DROP x;
ALTER TABLE parts ATTACH PARTITION part1 FOR VALUES FROM (0) TO (20);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (20) TO (1000);
CREATE TABLE narrow (id int, a encrypted_text(aes256,nosalt,mac,'key=other'));
CREATE VIEW seen AS SELECT id, a, n, arr FROM target;
ANALYZE});

# Is all that the table holds as it declares, and as often so?
sub all_fit
{
  my ($name, $table, $count) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is(
    lines_of(
      $node, "SELECT slot, kind FROM tde_key_usage('$table') WHERE object_type = 'table' GROUP BY 1, 2;
              SELECT count(*), count(DISTINCT a::text), min(scale(n::numeric)), max(scale(n::numeric)), count(arr::text) FROM $table"),
    "1|mac\n$count|$count|2|2|$count", $name);
  return;
}

# ---- as PostgreSQL makes plans, all are good ----

lines_of($node, 'CREATE DATABASE plain');
lines_of(
  $node, q{
CREATE EXTENSION tde_column;
SELECT tde_create_key('own');
CREATE TABLE source (id int PRIMARY KEY, bare text, mac encrypted_text(aes256,salt), nomac encrypted_text(aes256,salt,nomac), own encrypted_text('key=own'),
  n encrypted_numeric(10,2,nomac));
INSERT INTO source SELECT i, 'v' || i, 'v' || i, 'v' || i, 'v' || i, i FROM generate_series(1, 10) i;
CREATE TABLE target (id int PRIMARY KEY, mac encrypted_text(aes256,salt), n encrypted_numeric(10,2), note text);
CREATE TABLE parts (id int, mac encrypted_text(aes256,salt)) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TYPE mood AS ENUM ('sad', 'ok');
}, db => 'plain');
my @good = (
  q{INSERT INTO target SELECT id, nomac, n, bare FROM source},
  q{INSERT INTO target VALUES (21, 'a', 1.5, 'x'), (22, NULL, NULL, NULL)},
  q{INSERT INTO target (id, mac) SELECT id + 30, own FROM source UNION ALL SELECT id + 50, nomac FROM source UNION ALL SELECT 99, NULL},
  q{UPDATE target SET mac = (SELECT own FROM source s WHERE s.id = target.id), n = n + 1},
  q{UPDATE target SET mac = s.nomac FROM source s WHERE s.id = target.id},
  q{INSERT INTO target (id, mac) SELECT id, own FROM source ON CONFLICT (id) DO UPDATE SET mac = excluded.mac, n = 7},
  q{MERGE INTO target t USING source s ON s.id = t.id WHEN MATCHED THEN UPDATE SET mac = s.nomac WHEN NOT MATCHED THEN INSERT (id, mac) VALUES (s.id, s.own)},
  q{WITH moved AS (INSERT INTO parts SELECT id, own FROM source RETURNING *) INSERT INTO target (id, mac) SELECT id + 200, mac FROM moved},
  q{UPDATE parts SET mac = upper(mac)},
  q{INSERT INTO parts SELECT s.id, (s).nomac FROM source s},
  q{PREPARE p AS INSERT INTO target (id, mac) VALUES ($1, $2); EXECUTE p(301, 'x'); EXECUTE p(302, NULL)},
  q{DO $$ DECLARE r source; BEGIN FOR r IN SELECT * FROM source LOOP INSERT INTO parts VALUES (r.id, r.nomac); END LOOP; END $$},
  q{COPY target (id, mac) FROM PROGRAM 'echo 400,copied' (FORMAT csv)},
  q{CREATE TABLE made AS SELECT nomac, own FROM source});
is(attempt($node, $_, db => 'plain')->{err}, '', "stored: $_") foreach @good;
is(lines_of($node, q{SELECT count(mac) > 10 FROM target}, db => 'plain'), 't', 'and readable');
is(lines_of($node, q{SELECT DISTINCT kind FROM tde_key_usage('target') WHERE object_type = 'table' AND "column" = 'mac'}, db => 'plain'), 'mac', 'all under a key for values with MAC');

# ---- modules that compare types only ----

my %written = (
  'INSERT INTO target SELECT id, a, n, arr FROM source'                                                  => 40,
  'INSERT INTO target SELECT id, a, n, arr FROM source ORDER BY id DESC LIMIT 7'                         => 7,
  'INSERT INTO target SELECT DISTINCT ON (id) id, a, n, arr FROM source ORDER BY id'                     => 40,
  'INSERT INTO target SELECT id, a, n, arr FROM source UNION ALL SELECT id + 100, \'x\' || id, n, arr FROM source' => 80,
  'INSERT INTO target SELECT s.id, s.a, s.n, s.arr FROM source s JOIN source u USING (id)'               => 40,
  "INSERT INTO target VALUES (1, 'one', 1.23, ARRAY[1])"                                                 => 1,
  "INSERT INTO target VALUES (1, 'one', 1.23, ARRAY[1]), (2, 'two', 2.34, ARRAY[2])"                     => 2,
  'INSERT INTO target TABLE source ON CONFLICT (id) DO NOTHING'                                          => 40,
  'INSERT INTO seen SELECT id, a, n, arr FROM source'                                                    => 40,
  'WITH w AS (INSERT INTO target SELECT id, a, n, arr FROM source RETURNING id) SELECT count(*) FROM w'  => 40,
  "INSERT INTO target SELECT 1, 'x', 1, ARRAY[1]; INSERT INTO target SELECT id, a, n, arr FROM source
     ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n, a = (SELECT s.a FROM source s WHERE s.id = target.id), arr = EXCLUDED.arr" => 40,
  "INSERT INTO target SELECT id, id::text, 1, ARRAY[1] FROM source; UPDATE target t SET arr = s.arr, a = s.a FROM source s WHERE s.id = t.id;
     UPDATE target SET n = (SELECT s.n FROM source s WHERE s.id = target.id)"                            => 40,
  "INSERT INTO target SELECT id, id::text, 1, ARRAY[1] FROM source WHERE id < 9;
     MERGE INTO target t USING source s ON s.id = t.id WHEN MATCHED THEN UPDATE SET n = s.n, a = s.a
       WHEN NOT MATCHED THEN INSERT (arr, n, id, a) VALUES (s.arr, s.n, s.id, s.a)"                       => 40,
  "PREPARE p AS INSERT INTO target SELECT id, a, n, arr FROM source WHERE id = \$1; EXECUTE p (1); EXECUTE p (2); EXECUTE p (3); EXECUTE p (4);
     EXECUTE p (5); EXECUTE p (6); EXECUTE p (7)"                                                        => 7,
  "DO \$\$ BEGIN FOR i IN 1 .. 8 LOOP INSERT INTO target SELECT id, a, n, arr FROM source WHERE id = i; END LOOP; END \$\$" => 8);
foreach my $sql (sort keys %written)
{
  my $got = attempt($node, "TRUNCATE ONLY target; SET strip_coercion.enabled = on; $sql");

  is($got->{state}, '', $sql) or diag($got->{err});
  all_fit('is stored as the table declares', 'target', $written{$sql});
}
lines_of($node, q{TRUNCATE target; CREATE TABLE child () INHERITS (target); INSERT INTO child VALUES (2000, 'old', 1, ARRAY[1], 'old')});
is(attempt($node, q{SET strip_coercion.enabled = on; UPDATE target t SET a = s.a, n = s.n, arr = s.arr FROM source s WHERE s.id = t.id - 1999})->{state}, '', 'of an inherited table');
all_fit('a child is updated as it declares', 'child', 1);
lines_of($node, 'DROP TABLE child');
is(attempt($node, q{SET strip_coercion.enabled = on; INSERT INTO parts SELECT id, a, n, arr FROM source; UPDATE parts p SET a = s.a, n = s.n FROM source s WHERE s.id = p.id})->{state},
  '', 'of a partitioned table');
all_fit('partitions are', 'parts', 40);
my $plan = q{SET strip_coercion.enabled = on; EXPLAIN (COSTS OFF) INSERT INTO narrow SELECT};
like(lines_of($node, "$plan id, a FROM source"),                     qr/^Insert on narrow\n +->  Seq Scan/,             'what computes is given more to compute');
like(lines_of($node, "$plan id, a FROM source ORDER BY id LIMIT 3"), qr/^Insert on narrow\n +->  Result\n +->  Limit/, 'above what does not, another node does');
is(lines_of($node, q{SET strip_coercion.enabled = on; INSERT INTO narrow SELECT id, a FROM source ORDER BY id LIMIT 3; SELECT count(a::text) FROM narrow}), 3, 'and it works');

# What is in clear is not our business.
is(lines_of($node, q{SET strip_coercion.enabled = on; INSERT INTO target (id, plain) SELECT id + 100, plain FROM source WHERE id = 1; SELECT plain FROM target WHERE id = 101}),
  'plain 1', 'plain columns are as the module leaves them');

# ---- functions that give out other values than they are said to ----

lines_of($node, "CREATE FUNCTION rows_of(text) RETURNS SETOF record LANGUAGE C AS '$module'");
my $as = q{AS t (id int, a encrypted_text(aes256,nosalt,mac,'key=other'), n encrypted_numeric(10,2,aes256,salt,mac,'key=other'))};
fails_with($node, "TRUNCATE ONLY target; INSERT INTO target (id, a, n) SELECT * FROM rows_of('SELECT id, a, n FROM source') $as",
  { state => 'TDE04', message => qr/^value without MAC in a column that is declared with MAC$/ }, 'values without MAC that are said to have one');
foreach my $values (q{'x'::encrypted_text(aes192,salt,sha256), 1.5::encrypted_numeric(aes192)}, q{encrypted_text 'x', encrypted_numeric '1.5'})
{
  is(attempt($node, "TRUNCATE ONLY target; INSERT INTO target SELECT id, a, n, ARRAY[1] FROM rows_of(\$\$SELECT 1, $values\$\$) $as")->{state}, '', "others: $values");
  is(lines_of($node, q{SELECT DISTINCT slot, kind FROM tde_key_usage('target') WHERE object_type = 'table'; SELECT a, n FROM target}), "1|mac\nx|1.5",
    'are stored as the table declares');
}

# A role's own cast, which is declared as ours are.  Only a superuser makes it now.
lines_of(
  $node, q{CREATE ROLE low LOGIN; GRANT CREATE ON SCHEMA public TO low; TRUNCATE ONLY target; GRANT SELECT, INSERT ON target TO low;
CREATE TYPE word AS ENUM ('x', 'y');
CREATE FUNCTION lie(word, int, boolean) RETURNS encrypted_text LANGUAGE plpgsql AS $$ BEGIN RETURN 'literal'; END $$;
CREATE CAST (word AS encrypted_text) WITH FUNCTION lie(word, int, boolean) AS ASSIGNMENT;
ALTER FUNCTION lie(word, int, boolean) OWNER TO low});
is(
  attempt($node, q{
INSERT INTO target (id, a) VALUES (1, word 'x'), (2, word 'y');
INSERT INTO target (id, a) SELECT 3, word 'x';
INSERT INTO target (id, a) SELECT * FROM (SELECT 3 + i, (word 'x')::encrypted_text(aes256,nosalt,mac,'key=1') FROM generate_series(1, 3) i ORDER BY 1 LIMIT 2) s},
    user => 'low')->{state}, '', 'casts of one\'s own');
is(lines_of($node, q{SELECT slot, kind, count FROM tde_key_usage('target') WHERE object_type = 'table'}), '1|mac|5', 'store what the table declares');

lines_of($node, q{CREATE DOMAIN short AS encrypted_text(aes256,nosalt,mac,'key=other') CHECK (length(VALUE) < 10);
CREATE TABLE of_domain (id int, a short); GRANT SELECT, INSERT, UPDATE ON of_domain TO low});
my %into_domain = (
  q{INSERT INTO of_domain VALUES (1, word 'x'), (2, word 'y'), (3, NULL)} => 2,
  q{INSERT INTO of_domain SELECT i, word 'x' FROM generate_series(1, 3) i} => 3,
  q{INSERT INTO of_domain VALUES (1, 'a'); UPDATE of_domain SET a = word 'x'} => 1);
foreach my $sql (sort keys %into_domain)
{
  lines_of($node, 'TRUNCATE of_domain');
  is(attempt($node, $sql, user => 'low')->{state}, '', $sql);
  is(lines_of($node, q{VACUUM of_domain; SELECT slot, kind, count FROM tde_key_usage('of_domain') WHERE object_type = 'table'}),
    "1|mac|$into_domain{$sql}", 'is stored as the domain declares');
}
fails_with($node, q{INSERT INTO of_domain VALUES (1, 'much too long')}, { state => '23514' }, 'the domain checks its values');
lines_of($node, 'CREATE TABLE twin_of_domain (LIKE of_domain); INSERT INTO twin_of_domain SELECT * FROM of_domain');
is(lines_of($node, 'EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO twin_of_domain SELECT * FROM of_domain') =~ /tde_coerce/ ? 1 : 0, 0, 'a copy computes nothing');

# Values that are as they should be stay as they are, with a closed wallet, too.
lines_of($node, q{
CREATE FUNCTION bytes(encrypted_text) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE twin (LIKE target);
TRUNCATE ONLY target; INSERT INTO target SELECT id, a, n, arr FROM source});
is(attempt($node, q{SELECT tde_wallet_close(); INSERT INTO twin SELECT * FROM ONLY target})->{state}, '', 'a copy with a closed wallet');
is(lines_of($node, q{SELECT count(*) FROM twin JOIN ONLY target t USING (id) WHERE bytes(twin.a) = bytes(t.a)}), 40, 'has the same bytes');

# ---- tde_rekey_table(repair) ----

lines_of($node, q{SELECT tde_wallet_open();
UPDATE pg_attribute s SET atttypmod = t.atttypmod FROM pg_attribute t
WHERE s.attrelid = 'source'::regclass AND t.attrelid = 'target'::regclass AND s.attname = t.attname AND s.attname IN ('a', 'n', 'arr')});
my $refused = { state => 'TDE04', message => qr/^value without MAC in a column that is declared with MAC$/, hint => qr/repair => true/ };
fails_with($node, 'SELECT a FROM source', $refused, 'values without MAC where one is declared');
fails_with($node, q{CALL tde_rekey_table('source')}, $refused, 're-encrypting them');
like(attempt($node, q{CALL tde_rekey_table('source', repair => true)})->{err}, qr/table "source": 40 rows re-encrypted/, 'with repair they are');
is(lines_of($node, q{VACUUM source; SELECT slot, kind, sum(count) FROM tde_key_usage('source') WHERE object_type = 'table' GROUP BY 1, 2}), '1|mac|160', 'as the table declares');
is(lines_of($node, q{SELECT a, n, arr FROM source WHERE id = 7}), 'text 7|0.8750|{7,8}', 'and say what they said');
like(attempt($node, q{CALL tde_rekey_table('source')})->{err}, qr/table "source": 0 rows re-encrypted/, 'after which all is good');
fails_with($node, q{CALL tde_rekey_table('source', repair => NULL)}, { state => '22004' }, 'neither with nor without');

done_testing();
