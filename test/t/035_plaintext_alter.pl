# ALTER TABLE with plain types, as applications and their migrations send it: encrypted columns stay encrypted, or it says so.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('altered', extension => 1, conf => "tde_column.passphrase_command = 'echo altered-passphrase'\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('altered-passphrase'), tde_create_key('k');
CREATE DOMAIN code AS varchar(20);
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a encrypted_text(nosalt), b int);
CREATE TABLE keys (id encrypted_int4(nosalt) PRIMARY KEY, other encrypted_text(nosalt) UNIQUE);
INSERT INTO keys VALUES (1, 'one');
CREATE TABLE parent (id int, s encrypted_text(nosalt)) PARTITION BY RANGE (id);
CREATE TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (10);
CREATE ROLE other;
CREATE FUNCTION alter_twice() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN FOR i IN 1 .. 2 LOOP ALTER TABLE t ALTER name TYPE varchar(60); ALTER TABLE t ALTER name TYPE varchar(70); END LOOP; END $$});

my $made = q{
DROP TABLE IF EXISTS t;
CREATE TABLE t (id int PRIMARY KEY, name encrypted_varchar(50,aes128,nosalt,sha256,'key=k') NOT NULL DEFAULT 'nobody', n encrypted_int4,
  d encrypted_numeric(10,2,nosalt), tags encrypted_text(nosalt)[], j encrypted_jsonb(nosalt), p pair);
CREATE INDEX ON t (name);
INSERT INTO t VALUES (1, 'Alice Secret', 5, 1.5, '{a,b}', '{"a": 1}', '(x,1)')};

sub types
{
  my ($table, @columns) = @_;
  return lines_of($node, "SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = '$table'::regclass AND attname IN (" . join(', ', map { "'$_'" } @columns) . ')');
}

sub in_files
{
  my ($text) = @_;
  return lines_of($node, "CHECKPOINT; SELECT position('$text'::bytea IN pg_read_binary_file(pg_relation_filepath('t'))) > 0");
}

# ---- keep ----

foreach my $case (
  [ 'varchar(100)', 'name', q{ALTER TABLE t ALTER COLUMN name TYPE varchar(100)}, q{encrypted_varchar(100,aes128,nosalt,sha256,'key=k')} ],
  [ 'with USING', 'name', q{ALTER TABLE "t" ALTER COLUMN "name" SET DATA TYPE varchar(99) USING "name"::varchar(99)},
    q{encrypted_varchar(99,aes128,nosalt,sha256,'key=k')} ],
  [ 'of another type', 'name', q{ALTER TABLE t ALTER name TYPE text}, q{encrypted_text(aes128,nosalt,sha256,'key=k')} ],
  [ 'several', 'n d', q{ALTER TABLE t ALTER n TYPE bigint, ALTER d TYPE numeric(12,3)}, 'encrypted_int8(aes256,salt,gcm) encrypted_numeric(12,3,aes256,nosalt,gcm)' ],
  [ 'by an expression', 'n', q{ALTER TABLE t ALTER n TYPE bigint USING (n + 1)::bigint}, 'encrypted_int8(aes256,salt,gcm)', 6 ],
  [ 'an array', 'tags', q{ALTER TABLE t ALTER tags TYPE varchar(10)[]}, 'encrypted_varchar(10,aes256,nosalt,gcm)[]' ],
  [ 'dropped and added', 'j', q{ALTER TABLE t DROP COLUMN j, ADD COLUMN j jsonb DEFAULT '[]'}, 'encrypted_jsonb(aes256,nosalt,gcm)', '[]' ],
  [ 'in ONLY, if it exists', 'j', q{ALTER TABLE IF EXISTS ONLY t ALTER j TYPE text}, 'encrypted_text(aes256,nosalt,gcm)' ],
  [ 'in a function, twice', 'name', q{SELECT alter_twice(); SELECT alter_twice()}, q{encrypted_varchar(70,aes128,nosalt,sha256,'key=k')} ],
  [ 'prepared as text', 'name', q{DO $$ BEGIN EXECUTE 'ALTER TABLE t ALTER name TYPE varchar(80)'; END $$}, q{encrypted_varchar(80,aes128,nosalt,sha256,'key=k')} ])
{
  my ($what, $columns, $sql, $expected, $value) = @$case;
  my @columns = split / /, $columns;
  lines_of($node, $made);
  my $before = lines_of($node, "SELECT $columns[0]::text FROM t");
  my $got    = attempt($node, $sql);
  is($got->{state}, '', "$what: done") or diag($got->{err});
  like($got->{err}, qr/NOTICE:.* column "$columns[0]" has type encrypted_\w+.* instead of .*DETAIL:  Column "$columns[0]" of table "t" is encrypted/s, 'it says so');
  is(types('t', @columns), $expected, 'specification and key stay, the modifiers are new');
  is(lines_of($node, "SELECT $columns[0]::text FROM t"), $value // $before, 'so does the value');
  is(in_files('Alice Secret'), 'f', 'nothing is in clear');
}
lines_of($node, $made);
is(lines_of($node, q{ALTER TABLE parent ALTER s TYPE varchar(20)}), '', 'a partitioned table');
is(types($_, 's'), 'encrypted_varchar(20,aes256,nosalt,gcm)', "$_ too") foreach qw(parent child);
lines_of($node, q{ALTER TYPE pair ALTER ATTRIBUTE a TYPE varchar(20)}) if lines_of($node, 'ALTER TABLE t DROP p') eq '';
is(types('pair', 'a'), 'encrypted_varchar(20,aes256,nosalt,gcm)', 'and an attribute of a composite type');

# What references an encrypted key.
lines_of($node, q{ALTER TABLE t ADD COLUMN r int REFERENCES keys DEFAULT 1, ADD COLUMN s varchar(10) REFERENCES keys (other), ADD COLUMN plain int});
is(types('t', qw(r s plain)), 'encrypted_int4(aes256,nosalt,gcm) encrypted_varchar(10,aes256,nosalt,gcm) integer', 'a new foreign key is encrypted like its key');
fails_with($node, q{INSERT INTO t (id, r) VALUES (2, 2)}, { state => '23503' }, 'and checked');

lines_of($node, q{CREATE TABLE plain (id int, c text); INSERT INTO plain VALUES (1, 'Bob Secret')});

# So is one of a new table, in whatever way its foreign keys are made.
foreach my $case (
  [ 'of a column', q{CREATE TABLE r (x int REFERENCES keys)} ],
  [ 'of a table', q{CREATE TABLE r (y int, x bigint, FOREIGN KEY (x) REFERENCES keys (id))} ],
  [ 'to the table itself', q{CREATE TABLE r (id encrypted_int4(nosalt) PRIMARY KEY, x int REFERENCES r)} ],
  [ 'of several columns', q{CREATE TABLE two (a int, b encrypted_int8(nosalt), PRIMARY KEY (b, a)); CREATE TABLE r (y int, x bigint, FOREIGN KEY (x, y) REFERENCES two)} ],
  [ 'at the end of a migration', q{BEGIN; CREATE TABLE r (x int NOT NULL, y int); CREATE INDEX ON r (x);
     ALTER TABLE r ADD CONSTRAINT r_x FOREIGN KEY (x) REFERENCES keys DEFERRABLE INITIALLY DEFERRED; COMMIT} ],
  [ 'with the column', q{CREATE TABLE r (y int); ALTER TABLE r ADD x int, ADD FOREIGN KEY (x) REFERENCES keys (id)} ],
  [ 'of a partitioned table', q{CREATE TABLE r (y int, x int REFERENCES keys) PARTITION BY LIST (y)} ],
  # which cannot be altered afterwards
  [ 'of a partition key', q{CREATE TABLE r (y int, x int REFERENCES keys) PARTITION BY RANGE (x); CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (1) TO (10)} ],
  [ 'of a partition key, in a clause', q{CREATE TABLE r (x bigint, FOREIGN KEY (x) REFERENCES keys (id)) PARTITION BY LIST (x)} ],
  [ 'of a partition key, with a schema', q{CREATE TABLE public.r (x int REFERENCES keys) PARTITION BY HASH (x)} ],
  [ 'beside inherited columns', q{CREATE TABLE two (a int); CREATE TABLE r (x int REFERENCES keys) INHERITS (two)} ])
{
  my ($what, $sql) = @$case;
  my $got = attempt($node, $sql);
  is($got->{state}, '', "a foreign key $what") or diag($got->{err});
  like(types('r', 'x'), qr/^encrypted_int[48]\(aes256,nosalt,gcm\)$/, 'is encrypted like the key');
  unlike($got->{err}, qr/WARNING/, 'no warning');
  is(types('r', 'y'), 'integer', 'the column beside it is not') if $sql =~ / y /;
  lines_of($node, 'DROP TABLE r; DROP TABLE IF EXISTS two');
}
lines_of($node, q{CREATE SCHEMA embedding CREATE TABLE r (x int REFERENCES public.keys) PARTITION BY RANGE (x) CREATE TABLE r2 (x int, FOREIGN KEY (x) REFERENCES public.keys)});
# from PostgreSQL 19 on foreign keys come after all tables
is(types('embedding.r', 'x'), $node->pg_version->major < 19 ? 'encrypted_int4(aes256,nosalt,gcm)' : 'integer', 'a partitioned table of CREATE SCHEMA');
is(types('embedding.r2', 'x'), 'encrypted_int4(aes256,nosalt,gcm)', 'a table of CREATE SCHEMA');

# Where it cannot be, or has rows already, somebody is told.
foreach my $case (
  [ 'of a table that there is', q{CREATE TABLE r (x int)}, q{ALTER TABLE r ADD FOREIGN KEY (x) REFERENCES keys} ],
  [ 'of a restored table', '', q{BEGIN; CREATE TABLE r (x int); INSERT INTO r VALUES (1); ALTER TABLE r ADD FOREIGN KEY (x) REFERENCES keys; COMMIT} ],
  [ 'of an identity column', '', q{CREATE TABLE r (x int GENERATED ALWAYS AS IDENTITY REFERENCES keys)} ],
  [ 'of an inherited column', q{CREATE TABLE parent_of_r (x int)}, q{CREATE TABLE r (x int REFERENCES keys) INHERITS (parent_of_r)} ],
  [ 'of a partition', q{CREATE TABLE parts (x int) PARTITION BY LIST (x)}, q{CREATE TABLE r PARTITION OF parts (FOREIGN KEY (x) REFERENCES keys) FOR VALUES IN (1)} ],
  [ 'of a typed table', q{CREATE TYPE typed AS (x int)}, q{CREATE TABLE r OF typed (FOREIGN KEY (x) REFERENCES keys)} ],
  [ 'of a domain', q{CREATE DOMAIN number AS int}, q{CREATE TABLE r (x number REFERENCES keys)} ],
  [ 'of a column with a view', '', q{BEGIN; CREATE TABLE r (x int); CREATE VIEW v_of_r AS SELECT x, count(*) FROM r GROUP BY x; ALTER TABLE r ADD FOREIGN KEY (x) REFERENCES keys; COMMIT} ],
  [ 'of a column that a trigger watches', '', q{BEGIN; CREATE TABLE r (x int); CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
    CREATE TRIGGER watch BEFORE UPDATE OF x ON r FOR EACH ROW EXECUTE FUNCTION watch(); ALTER TABLE r ADD FOREIGN KEY (x) REFERENCES keys; COMMIT} ],
  [ 'of a column with a policy', '', q{BEGIN; CREATE TABLE r (x int); CREATE POLICY seen ON r USING (x > 0); ALTER TABLE r ADD FOREIGN KEY (x) REFERENCES keys; COMMIT} ],
  [ 'of a column that another is generated of', '', q{BEGIN; CREATE TABLE r (x int, y int GENERATED ALWAYS AS (x + 1) STORED); ALTER TABLE r ADD FOREIGN KEY (x) REFERENCES keys; COMMIT} ],
  [ 'of a column that a function reads', '', q{BEGIN; CREATE TABLE r (x int); CREATE FUNCTION reads() RETURNS int BEGIN ATOMIC SELECT max(x) FROM r; END; ALTER TABLE r ADD FOREIGN KEY (x) REFERENCES keys; COMMIT} ],
  [ 'by wish', '', q{SET tde_column.plaintext_alter = warn; CREATE TABLE r (x int REFERENCES keys)} ])
{
  my ($what, $before, $sql) = @$case;
  lines_of($node, $before) if $before;
  my $offset = log_offset($node);
  my $got    = attempt($node, $sql);
  is($got->{state}, '', "a foreign key $what") or diag($got->{err});
  is(() = $got->{err} =~ /WARNING:.*? column "x" is stored in clear\nDETAIL:  It references column "id" of table "keys", which is encrypted/g, 1, 'one warning');
  like($got->{err}, qr/HINT:  To encrypt it, too: CALL tde_encrypt_column\('public\.r', 'x'\)/, 'which says what to do');
  like(log_since($node, $offset), qr/WARNING:.* column "x" is stored in clear/, 'and which the log has');
  is($what =~ /identity|domain|inherited|partition|typed|function reads|generated of/ ? '' : attempt($node, q{CALL tde_encrypt_column('public.r', 'x')})->{state}, '', 'and it works');
  is(attempt($node, q{COMMENT ON TABLE r IS 'altered'})->{err} . ($what =~ /partition|typed/ ? '' : attempt($node, 'ALTER TABLE r ADD z int4range')->{err}), '', 'it is said once');
  lines_of($node, 'DROP TABLE r CASCADE');
}
# PostgreSQL refuses it, with the type that was declared.
my $array = fails_with($node, 'CREATE TABLE r (x int[] REFERENCES keys)',
  { state => '42804', detail => qr/^Key columns "x" (?:of the referencing table )?and "id" (?:of the referenced table )?are of incompatible types: integer\[\] and encrypted_int4\./ }, 'a foreign key of an array');
unlike($array->{err}, qr/has type/, 'does not become encrypted');
fails_with($node, "SET tde_column.plaintext_alter = error; $_", { state => '42P16', message => qr/^column "x" is stored in clear/ }, 'or it is refused')
  foreach 'CREATE TABLE r (x int REFERENCES keys)', 'ALTER TABLE plain ADD x int REFERENCES keys';

# What cannot be kept is said before anything is touched.
my $filenode = lines_of($node, q{SELECT pg_relation_filenode('t')});
fails_with($node, q{ALTER TABLE t ALTER tags TYPE mood USING NULL}, { state => '42P16', message => qr/^cannot change column "tags" to type mood/,
  detail => qr/^Column "tags" of table public\.t is encrypted/, hint => qr/CALL tde_decrypt_column\('public\.t', 'tags'\)/ }, 'there is no such encrypted type');
fails_with($node, q{ALTER TABLE t ALTER name TYPE code}, { state => '42P16' }, 'nor over a domain');
lines_of($node, 'REVOKE USAGE ON TYPE code FROM PUBLIC; ALTER TABLE t OWNER TO other; GRANT CREATE ON SCHEMA public TO other');
fails_with($node, q{SET ROLE other; ALTER TABLE t ALTER name TYPE code}, { state => '42501', message => qr/^permission denied for type code/ }, 'nor without the privilege');
lines_of($node, 'GRANT USAGE ON TYPE code TO PUBLIC; ALTER TABLE t OWNER TO CURRENT_USER; REVOKE CREATE ON SCHEMA public FROM other');
fails_with($node, q{ALTER TABLE t ALTER name TYPE int, ALTER name DROP DEFAULT}, { state => '42804', hint => qr/USING name::encrypted_int4/ }, 'text has no cast to integer');
lines_of($node, q{CREATE TABLE unproved (a encrypted_text(nosalt,nomac))});
fails_with($node, q{ALTER TABLE unproved ALTER a TYPE jsonb USING a::jsonb}, { state => '0A000', message => qr/^type encrypted_jsonb cannot be declared with nomac/ },
  'what cannot be declared');
fails_with($node, q{ALTER TABLE t ALTER name TYPE nonesuch}, { state => '42704', message => qr/^type "nonesuch" does not exist/ }, 'an error of PostgreSQL');
is(lines_of($node, q{SELECT pg_relation_filenode('t')}), $filenode, 'nothing has been rewritten');

# Errors as without the extension.
lines_of($node, 'GRANT CREATE ON SCHEMA public TO other');
fails_with($node, q{SET ROLE other; ALTER TABLE t ALTER name TYPE varchar(20)}, { state => '42501', message => qr/^must be owner of table t/ }, 'who is not the owner');
fails_with($node, q{BEGIN READ ONLY; ALTER TABLE t ALTER name TYPE varchar(20)}, { state => '25006' }, 'a transaction that is read-only');
is(attempt($node, q{ALTER TABLE IF EXISTS nonesuch ALTER name TYPE varchar(20)})->{state}, '', 'no such table');

# Somebody encrypts the column while the statement waits for the table.
my $encrypting = $node->background_psql('postgres');
$encrypting->query_safe(q{BEGIN; ALTER TABLE plain ALTER c TYPE encrypted_text(nosalt)});
my $altering = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'ALTER TABLE plain ALTER c TYPE varchar(30)' ],
  '<', \undef, '>', \my $out, '2>', \my $err);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND relation = 'plain'::regclass}) or die;
$encrypting->query_safe('COMMIT');
$encrypting->quit;
$altering->finish;
is(types('plain', 'c'), 'encrypted_varchar(30,aes256,nosalt,gcm)', 'a column that became encrypted meanwhile');

# ---- warn, error, and the way that is meant ----

lines_of($node, $made =~ s/pair/int/r =~ s/'\(x,1\)'/1/r);
fails_with($node, q{SET tde_column.plaintext_alter = error; ALTER TABLE t ALTER n TYPE bigint, ALTER name TYPE text},
  { state => '42P16', message => qr/^cannot change column "n" to type bigint/, hint => qr/^Declare an encrypted type\.  To decrypt the column: CALL tde_decrypt_column/ }, 'error');
is(lines_of($node, q{SET tde_column.plaintext_alter = error; ALTER TABLE t ALTER n TYPE encrypted_int8(aes192,salt)}), '', 'encrypted types are taken');
my $offset = log_offset($node);
my $got    = attempt($node, q{SET tde_column.plaintext_alter = warn; ALTER TABLE t ALTER name TYPE text});
like($got->{err}, qr/WARNING:.* column "name" is stored in clear.*Its type becomes text, and it holds values of column "name" of table "t", which is encrypted/s, 'warn');
like(log_since($node, $offset), qr/WARNING:.* column "name" is stored in clear/, 'which the log has');
is(types('t', 'name'), 'text', 'and it is decrypted');
foreach my $setting (qw(keep warn error))
{
  lines_of($node, $made =~ s/pair/int/r =~ s/'\(x,1\)'/1/r);
  $got = attempt($node, qq{SET tde_column.plaintext_alter = $setting; CALL tde_decrypt_column('t', 'name'); SELECT current_setting('tde_column.plaintext_alter')});
  is("$got->{state} $got->{out}", " $setting", "tde_decrypt_column() with $setting") or diag($got->{err});
  is(types('t', 'name'), 'character varying(50)', 'decrypts it');
}

# ---- without writing the table anew, as PostgreSQL does for the base type ----

lines_of($node, q{CREATE TABLE wide (v encrypted_varchar(10,aes128,nosalt,sha256,'key=k'), n encrypted_numeric(10,2,nosalt), t encrypted_timestamptz(3),
  b encrypted_bpchar(5), s encrypted_varchar(10,nomac)); CREATE INDEX ON wide (v);
  INSERT INTO wide VALUES ('short', 1.25, '2026-01-02 03:04:05.678+00', 'x', 'y')});
foreach my $case (
  [ 'a longer varchar', 'v TYPE varchar(20)', 'same' ],
  [ 'varchar of any length', q{v TYPE encrypted_varchar(aes128,nosalt,sha256,'key=k')}, 'same' ],
  [ 'a shorter varchar', 'v TYPE varchar(9)', 'new' ],
  [ 'a longer varchar under another key', 'v TYPE encrypted_varchar(30,aes128,nosalt,sha256)', 'new' ],
  [ 'a longer varchar of another specification', 's TYPE encrypted_varchar(20,mac)', 'new' ],
  [ 'more digits', 'n TYPE numeric(12,2)', 'same' ],
  [ 'another scale', 'n TYPE numeric(14,3)', 'new' ],
  [ 'microseconds', 't TYPE timestamptz(6)', 'same' ],
  [ 'tenths of a second', 't TYPE timestamptz(1)', 'new' ],
  [ 'more blanks', 'b TYPE char(6)', 'new' ])
{
  my ($what, $change, $file) = @$case;
  my $files = q{SELECT pg_relation_filenode('wide') || ' ' || pg_relation_filenode('wide_v_idx')};
  my $before = lines_of($node, $files);

  lines_of($node, "ALTER TABLE wide ALTER $change");
  is(lines_of($node, $files) eq $before ? 'same' : 'new', $file, "$what: the $file file");
}
is(lines_of($node, q{SET enable_seqscan = off; SELECT v, n, t AT TIME ZONE 'UTC', b, s FROM wide WHERE v = 'short'}), 'short|1.250|2026-01-02 03:04:05.7|x     |y',
  'the values are there');
lines_of($node, 'ALTER TABLE wide ALTER v TYPE varchar(40)');
fails_with($node, q{INSERT INTO wide (v) VALUES (repeat('x', 41))}, { state => '22001', message => qr/^value too long/ }, 'the new length is kept');

# ---- identity: a default, with a sequence that the column owns ----

lines_of($node, q{CREATE ROLE owner; GRANT CREATE ON SCHEMA public TO owner;
  CREATE TABLE numbered (s encrypted_int2(nosalt) PRIMARY KEY, i encrypted_int4 NOT NULL, l encrypted_int8 NOT NULL, "Odd ""name" encrypted_int4 NOT NULL,
    n encrypted_int4, d encrypted_int4 NOT NULL DEFAULT 7, x encrypted_text NOT NULL DEFAULT 'x', p int NOT NULL DEFAULT 1);
  ALTER TABLE numbered OWNER TO owner;
  INSERT INTO numbered VALUES (5, 5, 5, 5)});
foreach my $column ('s', 'i', 'l', q{"Odd ""name"})
{
  my $options = $column eq 'l' ? ' (START 10000000000 INCREMENT 10)' : '';
  my $got = attempt($node, qq{SET tde_column.transparent_catalog = on; ALTER TABLE "numbered" ALTER COLUMN $column ADD GENERATED BY DEFAULT AS IDENTITY$options});
  is($got->{state}, '', "column $column becomes numbered") or diag($got->{err});
  like($got->{err}, qr/^(?:psql:[^ ]* )?NOTICE: .* column ".*" uses sequence "numbered_.*_seq" instead of being an identity column$/m, 'which it says');
}
# as Django goes on
lines_of($node, q{SELECT setval(pg_get_serial_sequence('numbered', 'i'), coalesce(max(i), 1), max(i) IS NOT NULL) FROM numbered;
  SET ROLE owner; INSERT INTO numbered VALUES (DEFAULT); INSERT INTO numbered DEFAULT VALUES; INSERT INTO numbered (s, i) VALUES (100, -1)});
is(lines_of($node, q{SELECT s, i, l, "Odd ""name" FROM numbered ORDER BY s}), "1|6|10000000000|1\n2|7|10000000010|2\n5|5|5|5\n100|-1|10000000020|3", 'the rows have numbers');
is(lines_of($node, q{SELECT string_agg(seqtypid::regtype || ' ' || pg_get_userbyid(relowner), ', ' ORDER BY seqtypid) FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid
  WHERE relname ~ '^numbered'}), 'bigint owner, smallint owner, integer owner, integer owner', 'sequences have the type and the owner of what they number');
foreach my $case (
  [ 'GENERATED ALWAYS', 'ALTER i ADD GENERATED ALWAYS AS IDENTITY', '22023' ],
  [ 'a column without NOT NULL', 'ALTER n ADD GENERATED BY DEFAULT AS IDENTITY', '55000' ],
  [ 'a column with a default', 'ALTER d ADD GENERATED BY DEFAULT AS IDENTITY', '22023' ],
  [ 'of a text', 'ALTER x ADD GENERATED BY DEFAULT AS IDENTITY', '22023' ],
  [ 'a column that is not there', 'ALTER y ADD GENERATED BY DEFAULT AS IDENTITY', '42703' ],
  [ 'a plain column with a default', 'ALTER p ADD GENERATED BY DEFAULT AS IDENTITY', '55000' ],
  [ "another's table", 'ALTER i ADD GENERATED BY DEFAULT AS IDENTITY', '42501', 'SET ROLE other' ],
  [ 'a read-only transaction', 'ALTER i ADD GENERATED BY DEFAULT AS IDENTITY', '25006', 'SET transaction_read_only = on' ],
  [ 'not with plaintext_alter = error', 'ALTER i ADD GENERATED BY DEFAULT AS IDENTITY', '22023', 'SET tde_column.plaintext_alter = error' ])
{
  my ($what, $change, $state, $before) = @$case;
  lines_of($node, 'ALTER TABLE numbered ALTER i DROP DEFAULT');
  is(attempt($node, 'BEGIN; ' . ($before ? "$before; " : '') . "ALTER TABLE numbered $change")->{state}, $state, "an identity: $what");
}
is(lines_of($node, q{SELECT count(*) FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid WHERE relname ~ '^numbered'}), '4', 'none has left a sequence');
lines_of($node, 'DROP TABLE numbered');
is(lines_of($node, q{SELECT count(*) FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid WHERE relname ~ '^numbered'}), '0', 'they go with the table');

# ---- identity in company: other changes of the same statement, children, event triggers ----

lines_of($node, q{CREATE TABLE company_plain (i int, d int NOT NULL DEFAULT 7, t int NOT NULL, k int, c int NOT NULL);
  CREATE TABLE company_encrypted (i encrypted_int4, d encrypted_int4 NOT NULL DEFAULT 7, t encrypted_int4 NOT NULL, k encrypted_int4(nosalt), c encrypted_int4 NOT NULL);
  CREATE TABLE child_plain (c int NOT NULL DEFAULT 99) INHERITS (company_plain); CREATE TABLE child_encrypted (c encrypted_int4 NOT NULL DEFAULT 99) INHERITS (company_encrypted)});
foreach my $case (
  [ 'twice', 'ALTER c ADD GENERATED BY DEFAULT AS IDENTITY, ALTER c ADD GENERATED BY DEFAULT AS IDENTITY', 0 ],
  [ 'after SET DEFAULT', 'ALTER c SET DEFAULT 5, ALTER c ADD GENERATED BY DEFAULT AS IDENTITY', 0 ],
  [ 'before SET DEFAULT', 'ALTER c ADD GENERATED BY DEFAULT AS IDENTITY, ALTER c SET DEFAULT 5', 0 ],
  [ 'with NOT NULL', 'ALTER i SET NOT NULL, ALTER i ADD GENERATED BY DEFAULT AS IDENTITY', 1 ],
  [ 'with DROP DEFAULT', 'ALTER d DROP DEFAULT, ALTER d ADD GENERATED BY DEFAULT AS IDENTITY', 1 ],
  [ 'with another type', 'ALTER t TYPE int8, ALTER t ADD GENERATED BY DEFAULT AS IDENTITY (START 10000000000)', 1 ],
  [ 'with a primary key', 'ADD PRIMARY KEY (k), ALTER k ADD GENERATED BY DEFAULT AS IDENTITY', 1 ],
  [ 'alone', 'ALTER c ADD GENERATED BY DEFAULT AS IDENTITY', 1 ])
{
  my ($what, $change, $allowed) = @$case;
  foreach my $kind ('plain', 'encrypted')
  {
    my $state = attempt($node, "ALTER TABLE company_$kind $change")->{state};
    ok($allowed ? $state eq '' : $state =~ /^(?:22023|55000|42601)$/, "an identity $what, $kind") or diag($state);
  }
}
my $rows = q{INSERT INTO company_%1$s DEFAULT VALUES; INSERT INTO child_%1$s (i, d, t, k) VALUES (1, 1, 1, 1); SELECT i, d, t, k, c FROM company_%1$s ORDER BY c};
is(lines_of($node, sprintf($rows, 'encrypted')), lines_of($node, sprintf($rows, 'plain')), 'rows are numbered alike, those of a child have its default');
lines_of($node, q{CREATE FUNCTION seen() RETURNS event_trigger LANGUAGE plpgsql AS
  'BEGIN INSERT INTO seen SELECT command_tag, object_identity FROM pg_event_trigger_ddl_commands(); END';
  CREATE TABLE seen (tag text, object text); CREATE TABLE watched (i encrypted_int4 NOT NULL); CREATE EVENT TRIGGER seen ON ddl_command_end EXECUTE FUNCTION seen();
  ALTER TABLE watched ALTER i ADD GENERATED BY DEFAULT AS IDENTITY; DROP EVENT TRIGGER seen});
is(lines_of($node, q{SELECT tag, object FROM seen ORDER BY tag}), "ALTER TABLE|public.watched\nCREATE SEQUENCE|public.watched_i_seq", 'event triggers see the sequence');
lines_of($node, 'DROP TABLE company_plain, company_encrypted, watched CASCADE');

# A type that has no encrypted one yet: the hint says how to get it, and then the same statement works.
lines_of($node, q{CREATE EXTENSION citext; CREATE SCHEMA "Odd"; CREATE TYPE "Odd"."State" AS ENUM ('new', 'done');
  CREATE TABLE moved (id int, c encrypted_text(nosalt), p encrypted_numeric, n encrypted_inet, s encrypted_text, l encrypted_varchar(10)[], r encrypted_text);
  INSERT INTO moved VALUES (1, 'Alice', 12.5, '10.0.0.0/8', 'done', '{new,done}', '[1,2)')});
foreach my $case (
  [ 'c', 'citext', 'TYPE citext', 'encrypted_citext(aes256,nosalt,gcm)', 'Alice' ],
  [ 'p', 'money', 'TYPE money', 'encrypted_money(aes256,salt,gcm)', '$12.50' ],
  [ 'n', 'cidr', 'TYPE cidr USING n::cidr', 'encrypted_cidr(aes256,salt,gcm)', '10.0.0.0/8' ],
  [ 's', 'an enum', q{TYPE "Odd"."State" USING s::"Odd"."State"}, '"Odd"."encrypted_State"(aes256,salt,gcm)', 'done' ],
  [ 'l', 'an array', q{TYPE "Odd"."State"[] USING l::text[]::"Odd"."State"[]}, '"Odd"."encrypted_State"(aes256,salt,gcm)[]', '{new,done}' ])
{
  my ($column, $what, $type, $expected, $value) = @$case;
  my $alter = "ALTER TABLE moved ALTER $column $type";
  if ($what ne 'an array')
  {
    my $got = fails_with($node, $alter, { state => '42P16', hint => qr/^Let a superuser run SELECT tde_create_type\(/ }, "$what has no encrypted type yet");
    lines_of($node, $1) if $got->{err} =~ /run (SELECT tde_create_type\(.*\)); then repeat/ or die $got->{err};
  }
  my $again = attempt($node, $alter);
  is($again->{state}, '', "$what: the statement once more") or diag($again->{err});
  is(types('moved', $column), $expected, "$what: the column is of the encrypted type");
  is(lines_of($node, "SELECT $column\::text FROM moved"), $value, "$what: with its value");
}
fails_with($node, "ALTER TABLE moved ALTER r TYPE $_", { state => '42P16', hint => qr/^No encrypted type stands for that one\.  To decrypt the column: / }, "none can be made of $_")
  foreach 'code', 'int4range', 'oid USING r::text::oid';
fails_with($node, 'SET tde_column.plaintext_alter = error; ALTER TABLE moved ALTER s TYPE bit', { state => '42P16', hint => qr/^Declare an encrypted type\./ }, 'nor is one wanted');

# New columns of tables that have encrypted ones.
my @declared = ([ 'text', 'text' ], [ q{varchar(10) NOT NULL DEFAULT 'd' CHECK (%s <> 'x')}, 'varchar(10)' ], [ q{int[] DEFAULT '{1}'}, 'int4[]' ], [ 'numeric(5,2) DEFAULT random()', 'numeric(5,2)' ],
  [ 'timestamptz DEFAULT now()', 'timestamptz' ], [ 'text COLLATE "C" UNIQUE', 'text' ]);
my @others = ('serial', 'int GENERATED ALWAYS AS IDENTITY', 'int4range', 'number', 'text GENERATED ALWAYS AS (lower(c)) STORED', 'encrypted_text(nosalt)');
lines_of($node, q{CREATE TABLE whole (s serial, id int GENERATED BY DEFAULT AS IDENTITY, c encrypted_text, r int4range); CREATE TABLE mixed (id int, c encrypted_text);
  CREATE TABLE none (id int, c text); CREATE TABLE parts_of (id encrypted_int4(nosalt), c encrypted_text) PARTITION BY HASH (id);
  CREATE TABLE part_of PARTITION OF parts_of FOR VALUES WITH (MODULUS 1, REMAINDER 0); CREATE TABLE child_of () INHERITS (mixed)});
lines_of($node, "INSERT INTO $_ (c) VALUES ('row')") foreach qw(whole mixed none parts_of);
my ($said, $number) = (qr/NOTICE:.* column "\w+" (?:is stored in clear|has type)/, 0);
foreach my $on ('off', 'on')
{
  foreach my $table (qw(whole mixed none parts_of))
  {
    my @list = (@declared, map { [ $_ ] } grep { $table ne 'none' || !/encrypted|lower/ } @others);
    foreach my $case (@list)
    {
      my ($definition, $base) = @$case;
      next if $definition =~ /UNIQUE|IDENTITY/ && $table =~ /parts_of|mixed/;    # PostgreSQL has none there
      my $name  = 'n' . $number++;
      my $got   = attempt($node, "SET tde_column.encrypt_new_columns = $on; ALTER TABLE $table ADD COLUMN $name " . $definition =~ s/%s/$name/r);
      my $type  = types($table, $name);
      my $what  = "$on: $definition of table $table";
      is($got->{state}, '', "$what is added") or diag($got->{err});
      if ($on eq 'on' && $base && $table ne 'none')
      {
        (my $stem = $base) =~ s/[(\[].*//;
        like($type, qr/^encrypted_$stem\(.*aes256,salt,gcm\)(?:\[\])?$/, "$what is encrypted");
        is(lines_of($node, "SELECT $name IS NOT NULL FROM $table"), $definition =~ /DEFAULT/ ? 't' : 'f', "$what has its default");
        like($got->{err}, qr/encrypt_new_columns is on/, "$what is told of");
      }
      else
      {
        unlike($type, qr/encrypted/, "$what stays plain") if $definition !~ /encrypted|lower/;
        my $told = $on eq 'off' && $base && $table =~ /whole|parts_of/;
        is($got->{err} =~ /$said/ ? 1 : 0, $told ? 1 : $definition =~ /lower/ && $table ne 'none' ? 1 : 0, $told ? "$what is told of" : "$what needs no words");
        if ($told)
        {
          lines_of($node, $1) if $got->{err} =~ /(CALL tde_encrypt_column\([^)]*\))/ && $definition !~ /UNIQUE/;
          like(types($table, $name), qr/^encrypted/, "$what: the hint encrypts it") if $definition !~ /UNIQUE/;
          lines_of($node, "ALTER TABLE $table DROP $name") if $definition =~ /UNIQUE/;
        }
      }
    }
  }
}
is(lines_of($node, qq{SELECT count(*), count(c.attname) FROM pg_attribute p LEFT JOIN pg_attribute c ON c.attrelid = '$_->[1]'::regclass AND c.attname = p.attname
  AND (c.atttypid, c.atttypmod) = (p.atttypid, p.atttypmod) WHERE p.attrelid = '$_->[0]'::regclass AND p.attname ~ '^n'}) =~ s/^(\d+)\|\1$//r, '', "columns of $_->[1] follow")
  foreach [ 'parts_of', 'part_of' ], [ 'mixed', 'child_of' ];
lines_of($node, q{CREATE TABLE behind (c encrypted_text)});
like(attempt($node, "ALTER TABLE behind ADD $_")->{err}, qr/HINT:  To encrypt it, too: CALL tde_encrypt_column\('public.behind', '/, "$_ in clear") foreach 'a text', 'b int';
my $audit = q{SELECT finding FROM tde_audit() WHERE object = 'public.behind' AND finding ~ 'all columns before'};
is(lines_of($node, $audit), 'in clear, while all columns before are encrypted: a, b', 'the audit tells of them');
lines_of($node, $_) foreach lines_of($node, q{SELECT hint FROM tde_audit() WHERE object = 'public.behind' AND finding ~ 'all columns before'});
is(lines_of($node, $audit), '', 'its hint encrypts them');
lines_of($node, q{CREATE TABLE mistaken (a encrypted_text, b encrypted_text)});
unlike(attempt($node, 'ALTER TABLE mistaken ADD IF NOT EXISTS a text')->{err}, $said, 'nothing is added');
is(attempt($node, 'ALTER TABLE mistaken ADD IF NOT EXISTS a text GENERATED ALWAYS AS (lower(b) || now()::text) STORED')->{state}, '', 'nor looked at');
is(attempt($node, q{ALTER TABLE mistaken ADD IF NOT EXISTS a encrypted_text('key=not_made')})->{state}, '', '... whatever it declares');
is(lines_of($node, q{SELECT count(*) FROM tde.keys WHERE name = 'not_made'}), '0', '... which makes no key');
lines_of($node, q{SET tde_column.encrypt_new_columns = on; CALL tde_decrypt_column('mistaken', 'b', online => true)});
lines_of($node, q{SET tde_column.encrypt_new_columns = on; CALL tde_finish_conversion('mistaken', 'b')});
is(types('mistaken', 'a', 'b'), 'encrypted_text(aes256,salt,gcm) text', 'a conversion online decrypts');

done_testing();
