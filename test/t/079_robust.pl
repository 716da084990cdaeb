# What goes on, what is refused, and what is said where something is in the way: a closed wallet, a copy of a database, another server's wallet,
# a command that would do more than somebody thinks.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $node = tde_node('robust', extension => 1);
$node->start;
lines_of($node, q{SELECT tde_wallet_create('robust-passphrase')});

# ---- an internal error of PostgreSQL's gets a name ----

lines_of($node, q{CREATE TABLE larger (x encrypted_int4, y encrypted_timestamp); CREATE TABLE smaller (x smallint, y date)});
fails_with(
  $node,
  "SELECT count(*) FROM larger $_",
  { state => '42804', message => qr/^JOIN\/USING types encrypted_\S+ and (smallint|date) cannot be matched$/, hint => qr/ON a\.x = b\.x/ },
  $_)
  foreach 'JOIN smaller USING (x)', 'JOIN smaller USING (y)', 'NATURAL JOIN smaller';
is(lines_of($node, 'SELECT count(*) FROM larger l JOIN smaller s ON l.x = s.x AND l.y = s.y'), '0', 'as the hint says');

# ---- VACUUM and REINDEX with the wallet closed ----

lines_of($node, q{
CREATE TABLE first_one (id int PRIMARY KEY);
CREATE TABLE sealed (id int PRIMARY KEY, k encrypted_int4, l int) WITH (fillfactor = 100);
CREATE INDEX sealed_k ON sealed (k);
CREATE INDEX sealed_l ON sealed (l);
CREATE TABLE parted (id int, k encrypted_text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100000);
CREATE INDEX ON parted (lower(k));
CREATE TABLE last_one (id int PRIMARY KEY);
INSERT INTO first_one SELECT generate_series(1, 20000);
INSERT INTO sealed SELECT i, i, i FROM generate_series(1, 20000) i;
INSERT INTO parted SELECT i, 'v' || i FROM generate_series(1, 100) i;
INSERT INTO last_one SELECT generate_series(1, 20000);
CREATE DATABASE plain});
my $fill = q{DELETE FROM first_one; DELETE FROM sealed WHERE k BETWEEN 2000 AND 15000; DELETE FROM last_one};
lines_of($node, $fill);
lines_of($node, 'SELECT tde_wallet_close()');

# How often each of them was vacuumed, and whether that vacuumed its indexes: they are as many rows then.
my $vacuumed = q{SELECT string_agg(relname || ' ' || vacuum_count, ', ' ORDER BY relname) FROM pg_stat_user_tables WHERE relname IN ('first_one', 'sealed', 'parted_1', 'last_one')};
my $skips = qr/WARNING: .*skipping indexes of table public\.sealed with encrypted values\nDETAIL: .*\nHINT:  Run the command again when the wallet is open/;

my $count = 0;
foreach my $command ('VACUUM', 'VACUUM (VERBOSE false, ANALYZE)', 'VACUUM first_one, sealed, parted, last_one')
{
  my $got = attempt($node, $command);
  $count++;
  is($got->{state}, '', "$command: no error") or diag($got->{err});
  like($got->{err}, $skips, 'what is skipped is told');
  lines_of($node, 'SELECT pg_stat_force_next_flush()');
  is(lines_of($node, $vacuumed), "first_one $count, last_one $count, parted_1 $count, sealed $count", 'all tables were vacuumed');
}
is(lines_of($node, q{SELECT pg_stat_force_next_flush(); SELECT count(*) FROM pg_stat_user_tables WHERE relname = 'parted' AND analyze_count = 1}) =~ s/^\n//r, '1', 'partitioned ones are analyzed, too');
fails_with($node, 'VACUUM (INDEX_CLEANUP on) sealed', { state => 'TDE01' }, 'who wants the indexes vacuumed is told that it cannot be done');
fails_with($node, 'BEGIN; VACUUM sealed', { state => '25001' }, 'and not in a transaction block');

my $files = q{SELECT string_agg(relname || ' ' || relfilenode, ',' ORDER BY relname) FROM pg_class WHERE relname IN (%s)};
my $file  = sub { lines_of($node, sprintf $files, join ',', map { "'$_'" } @_) };
my ($plain, $encrypted) = ($file->('first_one', 'last_one'), $file->('sealed'));
my $got = attempt($node, 'VACUUM FULL');
is($got->{state}, '', 'VACUUM FULL: no error') or diag($got->{err});
like($got->{err}, qr/WARNING: .*skipping table public\.sealed with encrypted values in indexes/, 'what is skipped is told');
isnt($file->('first_one'), (split /,/, $plain)[0], 'plain tables are rewritten');
is($file->('sealed'), $encrypted, 'the encrypted one is not');

foreach my $command ('REINDEX DATABASE postgres', 'REINDEX SCHEMA public', 'REINDEX DATABASE CONCURRENTLY postgres')
{
  my ($last, $of_sealed, $encrypted) = ($file->('last_one_pkey'), $file->('sealed_l', 'sealed_pkey'), $file->('sealed_k'));
  $got = attempt($node, $command);
  is($got->{state}, '', "$command: no error") or diag($got->{err});
  like($got->{err}, qr/WARNING: .*skipping index public\.sealed_k with encrypted values/, 'what is skipped is told');
  isnt($file->('last_one_pkey'), $last, 'indexes of plain tables are made anew');
  isnt((split /,/, $file->('sealed_l', 'sealed_pkey'))[$_], (split /,/, $of_sealed)[$_], 'and so are plain indexes of encrypted ones') foreach 0, 1;
  is($file->('sealed_k'), $encrypted, 'but not encrypted ones');
}
fails_with($node, 'REINDEX INDEX sealed_k', { state => 'TDE01' }, 'an index by its name');
fails_with($node, 'REINDEX DATABASE plain', { state => '0A000' }, 'another database');

$node->command_ok([ 'vacuumdb', '-a', '-q' ], 'vacuumdb of all databases');
$node->command_ok([ 'reindexdb', '-a', '-q' ], 'reindexdb of all databases');

# What is built CONCURRENTLY is refused before an invalid index is there, or is left out; and no more is done than was asked for.
my $invalid = q{SELECT string_agg(indexrelid::regclass::text, ',') FROM pg_index WHERE NOT indisvalid};
lines_of($node, q{
CREATE ROLE tidy LOGIN; CREATE SCHEMA tidied AUTHORIZATION tidy;
CREATE TABLE tidied.one (LIKE sealed); INSERT INTO tidied.one SELECT i, NULL, i FROM generate_series(1, 20000) i; CREATE INDEX one_k ON tidied.one (k); CREATE INDEX one_l ON tidied.one (l);
ALTER TABLE tidied.one OWNER TO tidy;
CREATE TABLE filled (k encrypted_int4, l int, p int, j encrypted_int4); CREATE TABLE empty (LIKE filled);
CREATE INDEX filled_hash ON filled USING hash (k); CREATE INDEX ON filled (l) WHERE k > 5; CREATE INDEX ON filled ((k = 5)); CREATE INDEX ON filled (l) WHERE k IS NOT NULL; CREATE INDEX ON filled (l) INCLUDE (k);
INSERT INTO filled (l) SELECT generate_series(1, 100)});
lines_of($node, q{SELECT tde_wallet_open('robust-passphrase'); UPDATE filled SET k = 1; SELECT tde_wallet_close()});
foreach my $command (
  'REINDEX INDEX CONCURRENTLY sealed_k',
  'REINDEX (CONCURRENTLY false, CONCURRENTLY) INDEX sealed_k',
  'REINDEX INDEX CONCURRENTLY filled_l_idx',
  'REINDEX INDEX CONCURRENTLY filled_hash',
  'REINDEX INDEX CONCURRENTLY filled_expr_idx',
  'REINDEX TABLE CONCURRENTLY parted',
  'REINDEX INDEX CONCURRENTLY parted_lower_idx',
  'REINDEX TABLE CONCURRENTLY parted_1',
  'CREATE INDEX CONCURRENTLY ON filled (k)',
  'CREATE INDEX CONCURRENTLY ON filled USING hash (k)',
  'CREATE INDEX CONCURRENTLY ON filled USING brin (k)',
  'CREATE INDEX CONCURRENTLY ON filled ((k + 1))',
  'CREATE INDEX CONCURRENTLY ON filled ((k = j))',
  'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS filled_new ON filled (l) WHERE k < j')
{
  fails_with($node, $command, { state => 'TDE01', detail => qr/^Its keys are needed to build (?:index public\.\w+|an index of table public\.filled)\.$/, hint => qr/tde_wallet_open/ }, $command);
  is(lines_of($node, $invalid), '', 'and nothing is left behind');
}
foreach my $command ('TABLE CONCURRENTLY tidied.one', 'SCHEMA CONCURRENTLY tidied')
{
  fails_with($node, "REINDEX $command", { state => 'TDE01', detail => qr/tidied\.one_k/ }, "$command: by the owner", user => 'tidy');
  is(lines_of($node, $invalid), '', 'and nothing is left behind');
}
fails_with($node, 'REINDEX TABLE CONCURRENTLY sealed', { state => '42501' }, 'who may not is told that', user => 'tidy');
fails_with($node, 'CREATE INDEX CONCURRENTLY ON filled (k)', { state => '42501' }, 'of CREATE INDEX, too', user => 'tidy');
is(attempt($node, $_)->{err}, '', $_)
  foreach 'CREATE INDEX CONCURRENTLY ON empty (k)', 'REINDEX TABLE CONCURRENTLY empty', 'CREATE INDEX CONCURRENTLY ON filled (l) INCLUDE (k)', 'CREATE INDEX CONCURRENTLY ON filled (l) WHERE k IS NOT NULL',
  'REINDEX INDEX CONCURRENTLY filled_l_k_idx', 'REINDEX INDEX CONCURRENTLY filled_l_idx1', 'CREATE INDEX CONCURRENTLY ON filled (p)';

# Of a table with plain indexes beside encrypted ones, these are left out; what PostgreSQL passes over is passed over.
lines_of($node, q{ALTER TABLE sealed ADD EXCLUDE USING btree (l WITH =)}) ;
my $toast = 'SELECT c.relfilenode FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_class t ON t.reltoastrelid = i.indrelid WHERE t.relname = $$sealed$$';
foreach my $command ('TABLE CONCURRENTLY sealed', 'SCHEMA public', 'SCHEMA CONCURRENTLY public')
{
  my ($of_sealed, $of_toast, $encrypted) = ($file->('sealed_l', 'sealed_pkey'), lines_of($node, $toast), $file->('sealed_k'));
  $got = attempt($node, "REINDEX $command");
  is($got->{state}, '', "$command: no error") or diag($got->{err});
  like($got->{err}, qr/WARNING: .*skipping index public\.sealed_k with encrypted values/, 'what is skipped is told');
  like($got->{err}, qr/WARNING: .*0A000: cannot reindex exclusion constraint index public\.sealed_l_excl concurrently, skipping/, 'as PostgreSQL does') if $command =~ /CONC/;
  isnt((split /,/, $file->('sealed_l', 'sealed_pkey'))[$_], (split /,/, $of_sealed)[$_], 'the others are made anew') foreach 0, 1;
  isnt(lines_of($node, $toast), $of_toast, 'and that of its TOAST table');
  is($file->('sealed_k'), $encrypted, 'but not encrypted ones');
  like($got->{err}, qr/skipping index public\.filled_l_idx with.*skipping index public\.filled_expr_idx with/s, 'nor those whose condition or expression is') if $command =~ /SCHEMA/;
  unlike($got->{err}, qr/filled_l_idx1|filled_l_k_idx/, 'but those that need no key');
}
is(lines_of($node, $invalid), '', 'and nothing is left behind');
lines_of($node, 'ALTER TABLE sealed DROP CONSTRAINT sealed_l_excl');
my $before = $file->('last_one_pkey');
fails_with($node, 'REINDEX SCHEMA nowhere', { state => '3F000' }, 'a schema that there is none of');
is($file->('last_one_pkey'), $before, 'and nothing is done');

# Options are VACUUM's, and so is what it says of tables of others.
fails_with($node, $_, { state => '42601', message => qr/^unrecognized VACUUM option "bogus"$/ }, $_) foreach 'VACUUM (FULL, BOGUS)', 'VACUUM (FULL, BOGUS) sealed', 'VACUUM (BOGUS) sealed';
fails_with($node, 'VACUUM (FULL, PARALLEL 2) sealed', { state => '0A000', message => qr/PARALLEL|parallel/ }, 'options that do not go together');
unlike(attempt($node, 'VACUUM (FULL, BOGUS)')->{err}, qr/WARNING/, 'and there is nothing else to tell');
$got = attempt($node, 'VACUUM', user => 'tidy');
like($got->{err}, qr/WARNING: .*skipping indexes of table tidied\.one with encrypted values/, 'by another role: its own table');
is(scalar(() = $got->{err} =~ /skipping indexes/g), 1, 'and no other one');
$got = attempt($node, 'VACUUM FULL sealed', user => 'tidy');
like($got->{err}, qr/WARNING: .*(?:skipping "sealed" --- only|permission denied to vacuum "sealed")/, 'a table of others that is named');
unlike($got->{err}, qr/encrypted values/, 'is refused, not left out');
lines_of($node, 'DROP TABLE filled, empty; DROP SCHEMA tidied CASCADE; DROP ROLE tidy');

# Tables that are dropped while the passphrase command runs, which holds no lock on them, are left out.
my $folder = PostgreSQL::Test::Utils::tempdir;
my $gate   = "$folder/go";
set_conf($node, 'tde_column.passphrase_command' => "echo asked >$folder/asked; while test ! -e $gate; do sleep 0.05; done; exit 1");
foreach my $command ('VACUUM', 'VACUUM FULL', 'REINDEX SCHEMA public')
{
  unlink $gate, "$folder/asked";
  $node->restart;    # what closes the wallet by tde_wallet_close() asks no command
  lines_of($node, 'CREATE TABLE goes (a encrypted_text); CREATE INDEX ON goes (a); CREATE TABLE goes_too (id int PRIMARY KEY)');
  my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $command ], '>', \my $out, '2>', \my $err);
  for (my $tries = 0; !-e "$folder/asked" && $tries < 10 * $PostgreSQL::Test::Utils::timeout_default; $tries++)
  {
    select undef, undef, undef, 0.1;
  }
  lines_of($node, 'DROP TABLE goes, goes_too');
  write_bytes($gate, '');
  $run->finish;
  is($run->full_result(0), 0, "$command: tables are dropped meanwhile") or diag($err);
  unlike($err, qr/ERROR/, 'and that is no error');
}
set_conf($node, 'tde_column.passphrase_command' => '');
lines_of($node, 'SELECT tde_wallet_close()');

# In a pipeline, which is one transaction up to its end, nothing is committed before its time.
lines_of($node, 'CREATE TABLE piped (id int)');
my $wire = TdeWire->connect($node);
my $ended = $wire->parse('', 'INSERT INTO piped VALUES (1)')->execute('')->parse('', 'VACUUM sealed')->execute('')->sync;
like($ended->{error}, qr/^25001/, 'VACUUM in a pipeline is refused');
undef $wire;
is(lines_of($node, 'SELECT count(*) FROM piped; DROP TABLE piped'), '0', 'a pipeline with VACUUM in it is no less than a transaction');

# What was left is done when it is open.
lines_of($node, q{SELECT tde_wallet_open('robust-passphrase')});
$got = attempt($node, 'VACUUM sealed');
is($got->{err}, '', 'open: nothing is skipped');
lines_of($node, 'REINDEX TABLE sealed; CREATE EXTENSION amcheck');
is(lines_of($node, q{SELECT bt_index_parent_check('sealed_k', true); SET enable_seqscan = off; SELECT count(*) FROM sealed WHERE k > 0}), "\n6999", 'and nothing is lost');

# ---- a copy of a database ----

# Who owns a database and may make others copies it, with keys and rights, but ALTER DATABASE ... SET does not go along by itself.
lines_of($node, q{
CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE reader LOGIN; CREATE ROLE pii; GRANT pii TO reader;
CREATE DATABASE shop OWNER owner;
ALTER DATABASE shop SET tde_column.decrypt_role = 'pii';
ALTER DATABASE shop SET work_mem = '5MB';
ALTER ROLE reader IN DATABASE shop SET tde_column.decrypt_policy = 'mask'});
lines_of($node, q{CREATE EXTENSION tde_column; CREATE TABLE card (ssn encrypted_text); GRANT SELECT ON card TO owner, reader; INSERT INTO card VALUES ('SECRET')}, db => 'shop');
fails_with($node, 'SELECT ssn FROM card', { state => '42501' }, 'who owns the database does not see values', user => 'owner', db => 'shop');
is(attempt($node, 'CREATE DATABASE copy TEMPLATE shop; CREATE DATABASE "Of Copy" TEMPLATE = copy', user => 'owner')->{err}, '', 'he copies it, and the copy');
my $settings = q{SELECT coalesce(setrole::regrole::text, '') || ' ' || array_to_string(setconfig, ',') FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase WHERE datname = '%s' ORDER BY 1};
foreach my $copy ('copy', 'Of Copy')
{
  fails_with($node, 'SELECT ssn FROM card', { state => '42501' }, "$copy: nor does he there", user => 'owner', db => $copy);
  is(attempt($node, 'SELECT ssn FROM card', user => 'reader', db => $copy)->{out}, 'SECRET', 'who may, does');
  is(lines_of($node, sprintf $settings, $copy), "- tde_column.decrypt_role=pii\nreader tde_column.decrypt_policy=mask", 'settings of the extension are there, and no others');
  fails_with($node, qq{ALTER DATABASE "$copy" RESET tde_column.decrypt_role}, { state => '42501' }, 'which he cannot take away', user => 'owner');
}
is(attempt($node, 'CREATE DATABASE fresh')->{err}, '', 'a new database');
is(lines_of($node, sprintf $settings, 'fresh'), '', 'has none');

# ---- settings that decide what superusers declare ----

foreach my $setting ([ default_spec => 'nosalt,nomac' ], [ plaintext_alter => 'warn' ])
{
  my ($name, $value) = @$setting;
  fails_with($node, "SET tde_column.$name = '$value'", { state => '42501' }, "$name: not for everybody", user => 'owner');
  fails_with($node, "ALTER DATABASE shop SET tde_column.$name = '$value'", { state => '42501' }, 'nor for who owns a database', user => 'owner');
  lines_of($node, "GRANT SET ON PARAMETER tde_column.$name TO owner");
  is(attempt($node, "SET tde_column.$name = '$value'", user => 'owner')->{state}, '', 'but for who was granted it');
}
fails_with($node, "ALTER DATABASE shop SET tde_column.plaintext_allowed = on", { state => '22023' }, 'what decrypting uses is for no database', user => 'owner');
fails_with($node, "ALTER ROLE owner SET tde_column.plaintext_allowed = on", { state => '22023' }, 'and for no role', user => 'owner');
lines_of($node, q{GRANT CREATE ON SCHEMA public TO owner; CREATE TABLE owned (a encrypted_text); INSERT INTO owned VALUES ('x'); ALTER TABLE owned OWNER TO owner});
is(attempt($node, "CALL tde_decrypt_column('owned', 'a')", user => 'owner')->{state}, '', 'who owns a table decrypts its columns as before');

# ---- the ciphertext form ----

lines_of($node, q{CREATE TABLE formed (t encrypted_text, v encrypted_varchar(30), n encrypted_numeric, i encrypted_int4, b encrypted_bool, d encrypted_date);
INSERT INTO formed VALUES ('x', 'y', 1.50, 5, true, '2026-01-02')});
my $set = q{SET tde_column.io_format = ciphertext; };
foreach my $json ('row_to_json(formed)', 'to_jsonb(formed)', 'json_build_object(1, t, 2, v, 3, n, 4, i, 5, b, 6, d)', 'jsonb_agg(formed)')
{
  my $out = lines_of($node, "$set SELECT $json FROM formed" . ($json =~ /agg/ ? '' : ''));
  is(scalar(() = $out =~ /: ?"tde:/g), 6, "$json: six values in the ciphertext form");
}
is(lines_of($node, "$set SELECT t::text, v::text, n::text, i::text, b::text, d::text FROM formed"), 'x|y|1.50|5|true|2026-01-02', 'casts to text decrypt, of every type');
is(lines_of($node, "$set SELECT count(*) FROM formed WHERE i::text = '5' AND n::text = '1.50'"), '1', 'so conditions with them find rows');
is(lines_of($node, "$set SELECT count(*) FROM formed WHERE i = '5'::text::encrypted_int4"), '1', 'and casts from text encrypt');
like(lines_of($node, "$set SELECT i, n FROM formed"), qr/^tde:\S+\|tde:\S+$/, 'columns are in the ciphertext form');
my ($cipher) = lines_of($node, "$set SELECT i FROM formed");
foreach my $column ('i', 'v')
{
  fails_with($node, "COPY formed ($column) FROM stdin;\n$cipher\n\\.", { state => $column eq 'i' ? '22P02' : '22001', hint => qr/^Set tde_column\.io_format to ciphertext/ }, "restored without the setting: $column");
}

# ---- errors name the next command ----

fails_with($node, 'DROP EXTENSION tde_column', { state => '2BP01', hint => qr/tde_decrypt_column\(\)/ }, 'DROP EXTENSION');
$got = attempt($node, 'BEGIN; DROP EXTENSION tde_column CASCADE; ROLLBACK');
like($got->{err}, qr/WARNING: .*\d+ encrypted columns are dropped, with all their values and the data keys\nDETAIL:  These are .*public\.sealed\.k.*\nHINT:  To keep the values/, 'CASCADE names what goes with it');
lines_of($node, 'CREATE TABLE docs (j encrypted_jsonb, t encrypted_text)');
fails_with($node, 'CREATE INDEX ON docs USING gist (t)', { state => '42704', hint => qr/^Encrypted columns have btree, hash, brin and gin indexes/ }, 'an index: gist');
fails_with($node, "CREATE INDEX ON docs USING $_", { state => $_ =~ /tsv/ ? '42804' : '42704', hint => qr/tde_create_gin_class\('(?:gin_trgm|tsvector)_ops'\)/ }, "an index: $_")
  foreach 'gin (t)', 'gin (t tsvector_ops)';
lines_of($node, 'CREATE INDEX ON docs USING gin (j); CREATE INDEX ON docs USING gin (j jsonb_path_ops)');
fails_with($node, "CREATE TABLE refused (a encrypted_text($_))", { state => '42601', hint => qr/without a hyphen/ }, "modifier: $_") foreach 'aes-256', 'key=1';
foreach (
  [ 'CREATE TABLE refused (t encrypted_timestamp with time zone)',            '42601', 'encrypted_timestamptz' ],
  [ 'CREATE TABLE refused (n encrypted_Double  Precision)',                   '42601', 'encrypted_float8' ],
  [ "CREATE TABLE refused (\"grün\" int, n encrypted_character\nvarying(10))", '42601', 'encrypted_varchar' ],
  [ 'SELECT 1::encrypted_integer',                                            '42704', 'encrypted_int4' ],
  [ 'CREATE FUNCTION refused(encrypted_boolean[]) RETURNS int RETURN 1',      '42704', 'encrypted_bool' ],
  [ q{DO $$ BEGIN PERFORM '1'::encrypted_double precision; END $$},           '42601', 'encrypted_float8' ],
  [ 'CREATE TABLE refused (a text with time zone)',                           '42601', undef ],
  [ 'SELECT 1::encrypted_nothing',                                            '42704', undef ])
{
  fails_with($node, $_->[0], { state => $_->[1], hint => defined $_->[2] ? qr/^Write $_->[2]\.$/ : undef }, "a name of SQL: $_->[0]");
}
fails_with($node, 'CREATE TABLE refused (id encrypted_int4 GENERATED ALWAYS AS IDENTITY)', { state => '22023', hint => qr/ADD GENERATED BY DEFAULT AS IDENTITY/ }, 'identity');
if ($node->pg_version >= 18)
{
  fails_with($node, 'CREATE TABLE refused (a encrypted_text, b text GENERATED ALWAYS AS (upper(a)))', { state => '42P17', hint => qr/write STORED/ }, 'virtual');
  fails_with($node, 'CREATE TABLE refused (n encrypted_int4, b bool GENERATED ALWAYS AS (n > 5))', { state => '0A000', hint => qr/write STORED/ }, 'virtual, by an operator');
  fails_with($node, 'ALTER TABLE docs ADD u encrypted_text GENERATED ALWAYS AS (t) VIRTUAL', { state => '0A000', hint => qr/^Write STORED/ }, 'virtual, of an encrypted type');
}

# ---- another server's wallet ----

my $path   = wallet_path($node);
my $right  = read_bytes($path);
lines_of($node, 'SELECT tde_wallet_close()');
my $other = tde_node('robust_other', extension => 1);
$other->start;
lines_of($other, q{SELECT tde_wallet_create('another-passphrase'); SELECT tde_rotate_master_key()});
write_bytes($path, read_bytes(wallet_path($other)));
$other->stop;
$got = attempt($node, q{SELECT tde_wallet_open('another-passphrase')});
is($got->{state}, '', 'it opens');
like($got->{err}, qr/WARNING: .*the wallet that was opened lacks the master keys? of \d+ data keys? of this database\nDETAIL: .*\nHINT:  If it is the wrong one, run tde_wallet_close\(\)/, 'and warns');
write_bytes($path, $right);
fails_with($node, q{SELECT tde_wallet_open('robust-passphrase')}, { state => 'TDE02', hint => qr/run tde_wallet_close\(\) and open this one/ }, 'the right one in its place');
$got = attempt($node, q{SELECT tde_wallet_close(); SELECT tde_wallet_open('robust-passphrase')});
is($got->{err}, '', 'closed, it opens');
fails_with($node, q{SELECT tde_wallet_open('forgotten')}, { state => 'TDE02', hint => qr/^Earlier copies are beside it/ }, 'a forgotten passphrase');
write_bytes($path, '');
fails_with($node, q{SELECT tde_wallet_open('robust-passphrase')}, { state => 'TDE02', detail => qr/^The file is empty/ }, 'an empty file');

$node->stop;
done_testing();
