# Values that a plan would store in a column otherwise than the column declares: made by an extension that does not have them coerced.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('stored_spec', conf => "tde_column.passphrase_command = 'echo spec'\n");
$node->start;
my $module = $node->basedir . '/strip_coercion.so';
system_or_bail('gcc', '-O1', '-shared', '-fPIC', '-I' . $node->config_data('--includedir-server'), '-o', $module, "$FindBin::RealBin/../lib/strip_coercion.c");

lines_of($node, q{
CREATE EXTENSION tde_column;
SELECT tde_wallet_create();
SELECT tde_create_key('own');
CREATE TABLE source (id int PRIMARY KEY, bare text, mac encrypted_text(aes256,salt), nomac encrypted_text(aes256,salt,nomac), own encrypted_text('key=own'),
  n encrypted_numeric(10,2,nomac));
INSERT INTO source SELECT i, 'v' || i, 'v' || i, 'v' || i, 'v' || i, i FROM generate_series(1, 10) i;
CREATE TABLE target (id int PRIMARY KEY, mac encrypted_text(aes256,salt), n encrypted_numeric(10,2), note text);
CREATE TABLE parts (id int, mac encrypted_text(aes256,salt)) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TYPE mood AS ENUM ('sad', 'ok');
});

# As PostgreSQL makes them, all plans are good.
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
is(attempt($node, $_)->{err}, '', "stored: $_") foreach @good;
is(lines_of($node, q{SELECT count(mac) > 10 FROM target}), 't', 'and readable');
is(lines_of($node, q{SELECT DISTINCT kind FROM tde_key_usage('target') WHERE object_type = 'table' AND "column" = 'mac'}), 'mac', 'all under a key for values with MAC');

# Without the coercion they are not.
my $rows = lines_of($node, 'SELECT count(*) FROM target');
my %bad = (
  'INSERT ... SELECT' => q{INSERT INTO target (id, mac) SELECT id + 500, nomac FROM source},
  'of another key'    => q{INSERT INTO target (id, mac) SELECT id + 500, own FROM source},
  'UPDATE'            => q{UPDATE target SET note = 'x', mac = s.nomac FROM source s WHERE s.id = target.id},
  'ON CONFLICT'       => q{INSERT INTO target (id, note) SELECT id, bare FROM source ON CONFLICT (id) DO UPDATE SET mac = (SELECT nomac FROM source WHERE id = 1)},
  'MERGE'             => q{MERGE INTO target t USING source s ON s.id = t.id WHEN MATCHED THEN UPDATE SET mac = s.nomac},
  'WITH'              => q{WITH w AS (INSERT INTO target (id, mac) SELECT id + 500, nomac FROM source RETURNING id) SELECT * FROM w},
  'into partitions'   => q{INSERT INTO parts SELECT id, nomac FROM source});
foreach my $name (sort keys %bad)
{
  fails_with($node, "LOAD '$module'; $bad{$name}",
    { state => '42804', message => qr/^values for column "mac" of relation "(target|parts)" are not encrypted as it declares$/,
      detail => qr/^The column is of type encrypted_text\(aes256,salt,mac\); the plan stores values of type encrypted_text/, hint => qr/Cast the values/ },
    "without coercion, $name");
}
is(lines_of($node, 'SELECT count(*) FROM target'), $rows, 'nothing was stored');
is(attempt($node, "LOAD '$module'; INSERT INTO target SELECT id + 600, mac, NULL, bare FROM source; UPDATE target SET note = 'y' WHERE id > 600; DELETE FROM target WHERE id > 600")->{err},
  '', 'such an extension does no harm where values fit');

# Values that are there without their MAC, since the catalog was changed: nobody reads them, until somebody says that they are good.
lines_of($node, q{CREATE TABLE spoilt (id int, a encrypted_text(aes256,salt,nomac)); INSERT INTO spoilt SELECT i, 'v' || i FROM generate_series(1, 50) i;
  UPDATE pg_attribute SET atttypmod = (SELECT atttypmod FROM pg_attribute WHERE attrelid = 'target'::regclass AND attname = 'mac')
  WHERE attrelid = 'spoilt'::regclass AND attname = 'a'});
fails_with($node, q{SELECT max(length(a)) FROM spoilt}, { state => 'TDE04', message => qr/^value without MAC/, hint => qr/repair => true/ }, 'a value without its MAC');
fails_with($node, q{CALL tde_rekey_table('spoilt')}, { state => 'TDE04', message => qr/^value without MAC/, hint => qr/repair => true/ }, 're-encrypting it');
is(attempt($node, q{CALL tde_rekey_table('spoilt', repair => true)})->{state}, '', 'the way that the hint names works');
is(lines_of($node, q{SELECT count(*) FROM spoilt WHERE a = 'v' || id}), '50', 'and the values are there');
is(lines_of($node, q{VACUUM spoilt; SELECT DISTINCT kind FROM tde_key_usage('spoilt') WHERE object_type = 'table'}), 'mac', 'with a MAC');
fails_with($node, q{CALL tde_rekey_table('spoilt', repair => NULL)}, { state => '22004' }, 'repair must be said');

done_testing();
