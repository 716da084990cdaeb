# Converting columns of partitioned tables online: they become what they become offline, while others write, move rows and add partitions,
# and with a crash in each step; what is refused.

use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('partitions', extension => 1, conf => "tde_column.passphrase_command = 'echo partitions-passphrase'\n");
$node->start;
lines_of($node, q(SELECT tde_wallet_create('partitions-passphrase'); CREATE ROLE app LOGIN; GRANT CREATE ON SCHEMA public TO app;
CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing; GRANT USAGE ON FOREIGN SERVER nowhere TO app));

sub app { return attempt($node, $_[0], user => 'app'); }
sub app_ok
{
  my ($sql, $name) = @_;
  my $got = app($sql);
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($got->{state}, '', $name) or diag("$sql: $got->{err}");
  return $got;
}
sub app_fails { my ($sql, $expected, $name) = @_; return fails_with($node, $sql, $expected, $name, user => 'app'); }
sub make_indexes { my ($table, $column) = @_; app_ok($_, $_) foreach split /\n/, app("SELECT tde_conversion_indexes('$table', '$column')")->{out}; return; }

# Files of the database that hold the text.
sub files_with
{
  my ($text) = @_;
  $node->safe_psql('postgres', 'CHECKPOINT');
  my $folder = $node->data_dir . '/base/' . lines_of($node, "SELECT oid FROM pg_database WHERE datname = 'postgres'");
  return join ' ', sort grep { index(read_bytes("$folder/$_"), $text) >= 0 } grep { !/^\.\.?$/ } slurp_dir($folder);
}

#
# Two tables, of which one is converted online
#
sub make_table
{
  my ($t) = @_;
  app_ok(qq(
CREATE TABLE $t (id int, a text NOT NULL DEFAULT 'none' CONSTRAINT ${t}_check CHECK (a <> ''), b text, moves int DEFAULT 0, CONSTRAINT ${t}_key PRIMARY KEY (id, a), CONSTRAINT ${t}_b UNIQUE (b, id) INCLUDE (a) DEFERRABLE) PARTITION BY RANGE (id);
CREATE TABLE ${t}_1 (dropped int, moves int, b text, a text NOT NULL DEFAULT 'none', id int NOT NULL, CONSTRAINT ${t}_check CHECK (a <> ''), CONSTRAINT own CHECK (a <> 'own'));
ALTER TABLE ${t}_1 DROP dropped; ALTER TABLE $t ATTACH PARTITION ${t}_1 FOR VALUES FROM (0) TO (1000);
CREATE TABLE ${t}_2 PARTITION OF $t FOR VALUES FROM (1000) TO (2000) PARTITION BY RANGE (id);
CREATE TABLE ${t}_21 PARTITION OF ${t}_2 FOR VALUES FROM (1000) TO (1500); CREATE TABLE ${t}_22 PARTITION OF ${t}_2 DEFAULT; ALTER TABLE ${t}_21 ALTER b SET NOT NULL;
CREATE INDEX ${t}_lower ON $t (lower(a)); CREATE INDEX ${t}_bytes ON $t (a text_pattern_ops DESC, moves) WITH (fillfactor = 80) WHERE a IS NOT NULL; CREATE INDEX ${t}_own ON ${t}_21 (b, a); CREATE INDEX ${t}_hash ON $t USING hash (b);
COMMENT ON INDEX ${t}_lower IS 'lower'; COMMENT ON CONSTRAINT ${t}_key ON $t IS 'key'; COMMENT ON COLUMN ${t}_1.a IS 'first'; COMMENT ON COLUMN $t.a IS 'all'; GRANT SELECT (a) ON ${t}_22 TO PUBLIC; GRANT UPDATE (a) ON $t TO PUBLIC;
ALTER TABLE ${t}_21 ALTER a SET STATISTICS 33, ALTER b SET (n_distinct = 5); CREATE STATISTICS ${t}_statistics ON a, b FROM ${t}_22;
CREATE FUNCTION ${t}_touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.moves = new.moves + 1; RETURN new; END'; CREATE TRIGGER touch BEFORE UPDATE OF a, b ON $t FOR EACH ROW EXECUTE FUNCTION ${t}_touch();
CREATE VIEW ${t}_view AS SELECT id, a, b FROM $t WHERE a <> 'x'; CREATE VIEW ${t}_leaf AS SELECT a FROM ${t}_21;
INSERT INTO $t (id, a, b) SELECT g, 'PARTMARK' || g, 'PARTBEE' || g FROM generate_series(1, 1999) g; ANALYZE $t), "table $t");
}
make_table($_) foreach 'offl', 'onli';
my @asked = (
  q(SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, attacl, attstattarget, (SELECT o FROM unnest(attoptions) o WHERE o ~ 'distinct'), pg_get_expr(adbin, adrelid), col_description(attrelid, attnum), attislocal, attinhcount
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid::regclass::text ~ '^T(_[0-9]+)?$' AND attnum > 0 AND NOT attisdropped ORDER BY 1, 2),
  q(SELECT indexrelid::regclass::text COLLATE "C", indrelid::regclass, pg_get_indexdef(indexrelid), indisvalid, indisreplident, (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = indexrelid), obj_description(indexrelid, 'pg_class')
    FROM pg_index WHERE indrelid::regclass::text ~ '^T(_[0-9]+)?$' ORDER BY 1),
  # from 18 on, ADD PRIMARY KEY to a partition makes NOT NULLs its own that it has inherited
  q(SELECT conrelid::regclass, conname, contype, convalidated, conislocal OR contype = 'n', coninhcount, condeferrable, pg_get_constraintdef(oid), (SELECT conrelid::regclass FROM pg_constraint p WHERE p.oid = k.conparentid), obj_description(oid, 'pg_constraint')
    FROM pg_constraint k WHERE conrelid::regclass::text ~ '^T(_[0-9]+)?$' ORDER BY 1, 2),
  q(SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid::regclass::text ~ '^T(_[0-9]+)?$' ORDER BY 1, 2),
  q(SELECT pg_get_viewdef('T_view'), pg_get_viewdef('T_leaf'), pg_get_statisticsobjdef(oid) FROM pg_statistic_ext WHERE stxname = 'T_statistics'));
sub all_of { my ($t) = @_; return join "\n", map { lines_of($node, s/\bT(?=_|\b|\()/$t/gr) =~ s/\b$t/T/gr =~ s/ ON (?:a, b|b, a) FROM/ ON both FROM/r } @asked; }
is(all_of('onli'), all_of('offl'), 'they are the same');

my $slowly = 'batch_rows => 100, batch_delay => 0.1';
sub progress_of { return "SELECT count(*) = 1 FROM tde.progress WHERE phase = '$_[0]' AND table_name = 'onli'::regclass AND rows_changed > 0"; }

app_ok(q(ALTER TABLE onli_1 ALTER a SET DEFAULT 'first'; ALTER TABLE onli_1 REPLICA IDENTITY USING INDEX onli_1_pkey), 'what one partition has for itself');
app_ok("CALL tde_encrypt_column('offl', 'a'); CALL tde_encrypt_column('offl', 'b')", 'offline');

crash_during($node, 'app', "CALL tde_encrypt_column('onli', 'a', online => true, $slowly)", progress_of('copying'));
is(lines_of($node, 'SELECT relation, column_name, phase FROM tde.conversions'), 'onli|a|copy', 'after a crash the copy is there, once');
my $copied = lines_of($node, 'SELECT count(tde_convert_2) FROM onli');
ok($copied > 0 && $copied < 1999, 'with some rows') or diag($copied);

# Others write, and move rows to and fro between partitions, all the time.
my $script = $node->basedir . '/writer.sql';
append_to_file($script, <<'WRITER');
\set id random(1, 1999)
\set r random(1, 1000000)
UPDATE onli SET a = 'PARTMARK' || :r || md5(a), b = 'PARTBEE' || :r WHERE id = :id;
UPDATE onli SET id = 1999 - :id, b = 'PARTBEEm' || :r WHERE id = :id AND NOT EXISTS (SELECT FROM onli WHERE id = 1999 - :id);
DELETE FROM onli WHERE id = :id AND id % 7 = 0;
INSERT INTO onli (id, a, b) VALUES (:id, 'PARTMARKn' || :r || md5(random()::text), 'PARTBEEn' || :r) ON CONFLICT DO NOTHING;
WRITER
sub writers
{
  my ($seconds) = @_;
  my $output = '';
  my $run = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-j', 1, '-R', 100, '-T', $seconds, '-f', $script, '-U', 'app', '-h', $node->host, '-p', $node->port, 'postgres' ], '>&', \$output);
  return sub { my $ok = $run->finish; ok($ok, 'the writers had no error') or diag($output); };
}
lines_of($node, 'ALTER TABLE onli DROP CONSTRAINT onli_b; ALTER TABLE offl DROP CONSTRAINT offl_b');    # ON CONFLICT takes no deferrable one
my $finish = writers(8);
like(app_ok("CALL tde_encrypt_column('onli', 'a', online => true, batch_rows => 200)", 'copied')->{err}, qr/next: CREATE INDEX tde_convert_[\d_]+ ON ONLY public\.onli .*next: ALTER INDEX public\.tde_convert_[\d_]+ ATTACH PARTITION /s, 'what comes next');
my @attached = map { [/^ALTER INDEX (\S+) ATTACH PARTITION (\S+);/] } grep { /ATTACH/ } split /\n/, app("SELECT tde_conversion_indexes('onli', 'a')")->{out};
my @too_soon = grep { my ($n, $index) = ($_, $attached[$_][1]); grep { $_->[0] eq $index } @attached[$n + 1 .. $#attached] } 0 .. $#attached;
ok(@attached == 8 && !@too_soon, 'an index is attached when it has all of its own') or diag(explain(\@attached));
make_indexes('onli', 'a');
$finish->();
is(lines_of($node, 'SELECT count(*) FROM onli WHERE tde_convert_2::text IS DISTINCT FROM a'), '0', 'all copies are right');
is(join(' ', app("SELECT tde_conversion_indexes('onli', 'a')")->{out}), '', 'no index is missing');

# A partition that is made meanwhile has all of it.  One that comes with rows of its own is seen.
app_ok("CREATE TABLE ${_}_3 PARTITION OF $_ FOR VALUES FROM (2000) TO (3000); INSERT INTO $_ (id, a, b) VALUES (2000, 'PARTMARK2000', 'PARTBEE')", "a new partition of $_") foreach 'offl', 'onli';
make_indexes('onli', 'a');
my $reader = session($node);
session_try($reader, q(CREATE TABLE onli_4 (LIKE onli INCLUDING DEFAULTS INCLUDING CONSTRAINTS); ALTER TABLE onli_4 OWNER TO app; INSERT INTO onli_4 (id, a, b, tde_convert_2) VALUES (3000, 'PARTMARK3000', 'PARTBEE', 'other');
BEGIN; SELECT count(*) FROM onli));
my $output = '';
my $call = IPC::Run::start([ 'psql', '-X', '-U', 'app', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', "CALL tde_finish_conversion('onli', 'a')" ], '>&', \$output);
ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'onli'::regclass)), 'the end waits for a reader');
is(session_try($reader, 'ALTER TABLE onli ATTACH PARTITION onli_4 FOR VALUES FROM (3000) TO (4000); COMMIT')->{err}, '', 'who attaches a partition');
$call->finish;
like($output, qr/ERROR:  table public\.onli has got new partitions meanwhile\nDETAIL:  public\.onli_4\nHINT:  CALL tde_finish_conversion\('public\.onli', 'a'\); again\./, 'it is seen');
$reader->quit;
lines_of($node, 'DROP TABLE onli_4');

crash_during($node, 'app', "CALL tde_finish_conversion('onli', 'a', $slowly)", progress_of('erasing'));
is(lines_of($node, 'SELECT column_name, phase, helper_column FROM tde.conversions'), 'a|erase|tde_erase_2', 'after another crash it was swapped');
$finish = writers(3);
app_ok("CALL tde_finish_conversion('onli', 'a')", 'finished while others write');
$finish->();
is(files_with('PARTMARK'), '', 'no file holds a value');
app_ok("CALL tde_encrypt_column('onli', 'b', online => true)", 'a column that may be NULL, but in one partition');
app_ok(q(CREATE TABLE onli_5 (LIKE onli INCLUDING ALL); INSERT INTO onli_5 (id, a, b) VALUES (5000, 'x', 'PARTBEE5'); ALTER TABLE onli ATTACH PARTITION onli_5 FOR VALUES FROM (5000) TO (6000)), 'a partition that nobody has copied is attached');
make_indexes('onli', 'b');
app_ok("CALL tde_finish_conversion('onli', 'b')", 'finished');
is(lines_of($node, 'SELECT id, a, b FROM onli_5'), '5000|x|PARTBEE5', 'its rows are encrypted, too');
is(lines_of($node, q(SELECT pg_get_expr(adbin, adrelid), indisreplident FROM pg_attrdef, pg_index WHERE adrelid = 'onli_1'::regclass AND pg_get_expr(adbin, adrelid) ~ 'first' AND indexrelid = 'onli_1_pkey'::regclass)), q('first'::encrypted_text|t), 'what one partition has for itself stays');
app_ok(q(DROP TABLE onli_5; ALTER TABLE onli_1 ALTER a SET DEFAULT 'none'; ALTER TABLE onli_1 REPLICA IDENTITY DEFAULT), 'again as the others');
is(files_with('PARTBEE'), '', 'no file holds one of it');
is(all_of('onli'), all_of('offl'), 'online all of it is what it is offline') or diag(all_of('onli'), "\n\n", all_of('offl'));

app_ok('DROP INDEX onli_lower, offl_lower', 'what is computed of an encrypted column');
app_ok("CALL tde_decrypt_column('onli', 'a', online => true)", 'being decrypted');
isnt(files_with('PARTMARK'), '', 'its copy is in clear');
app_ok("CALL tde_abort_conversion('onli', 'a')", 'decrypted, and not');
is(files_with('PARTMARK'), '', 'nothing is left of it');
app_ok("CALL tde_decrypt_column('offl', 'b')", 'decrypted offline');
app_ok("CALL tde_decrypt_column('onli', 'b', online => true)", 'being decrypted');
make_indexes('onli', 'b');
app_ok("CALL tde_finish_conversion('onli', 'b')", 'decrypted');
is(all_of('onli'), all_of('offl'), 'that, too');

#
# Progress counts all partitions; constraints of several columns
#
app_ok(q(CREATE TABLE keyed (id int, a text, b text, UNIQUE (a, id, b), PRIMARY KEY (b, id)) PARTITION BY HASH (id); CREATE TABLE keyed_0 PARTITION OF keyed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE keyed_1 PARTITION OF keyed FOR VALUES WITH (MODULUS 2, REMAINDER 1); ALTER TABLE keyed ALTER a SET STORAGE PLAIN; INSERT INTO keyed SELECT g, repeat('x', 2000) || g, g FROM generate_series(1, 40) g), 'a table with keys');
my $slow = IPC::Run::start([ 'psql', '-X', '-U', 'app', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', "CALL tde_encrypt_column('keyed', 'b', online => true, batch_rows => 1, batch_delay => 0.1)" ], '>&', \$output);
ok($node->poll_query_until('postgres', q(SELECT blocks_total = (pg_relation_size('keyed_0') + pg_relation_size('keyed_1')) / current_setting('block_size')::int FROM tde.progress WHERE table_name = 'keyed'::regclass)), 'all blocks are counted');
$slow->finish;
app_ok('SET client_min_messages = error; SELECT 1', 'go on');
make_indexes('keyed', 'b');
app_ok("CALL tde_finish_conversion('keyed', 'b')", 'finished');
app_fails("INSERT INTO keyed VALUES (1, 'y', '1')", { state => '23505' }, 'the key holds');
is(lines_of($node, q(SELECT conrelid::regclass::text, contype, coninhcount FROM pg_constraint WHERE contype IN ('p', 'u') AND conrelid::regclass::text ~ 'keyed' ORDER BY 1, 2)),
  "keyed|p|0\nkeyed|u|0\nkeyed_0|p|1\nkeyed_0|u|1\nkeyed_1|p|1\nkeyed_1|u|1", 'as constraints of all');

#
# What is refused, before anything happens
#
app_ok(q(CREATE TABLE refs (id int, a text, b text, PRIMARY KEY (a, id)) PARTITION BY RANGE (id); CREATE TABLE refs_1 PARTITION OF refs FOR VALUES FROM (0) TO (10); CREATE TABLE codes (b text PRIMARY KEY); ALTER TABLE refs ADD CONSTRAINT outwards FOREIGN KEY (b) REFERENCES codes;
CREATE TABLE of_refs (a text, id int, CONSTRAINT inwards FOREIGN KEY (a, id) REFERENCES refs); CREATE TABLE far (id int, a text) PARTITION BY RANGE (id); CREATE FOREIGN TABLE far_1 PARTITION OF far FOR VALUES FROM (0) TO (1) SERVER nowhere;
CREATE TABLE parent (a text); CREATE TABLE child () INHERITS (parent)), 'others');
foreach my $case (
  [ 'refs',  'b', '2BP01', qr/^constraint outwards on table public\.refs, a foreign key of partitioned tables\n/ ],
  [ 'refs',  'a', '2BP01', qr/^constraint inwards on table public\.of_refs, a foreign key of partitioned tables$/m ],
  [ 'far',   'a', '2BP01', qr/^partition public\.far_1, which is not a heap of this server$/ ],
  [ 'keyed', 'id', '2BP01', qr/^the partition key, which cannot change: make a new table/ ],
  [ 'keyed_0', 'a', '42P16', qr// ],
  [ 'parent', 'a', '0A000', qr// ],
  [ 'child', 'a', '0A000', qr// ])
{
  my ($table, $column, $state, $detail) = @$case;
  app_fails("CALL tde_encrypt_column('$table', '$column', online => true)", { state => $state, ($state eq '2BP01' ? (detail => $detail) : ()) }, "$table.$column");
  is(lines_of($node, 'SELECT count(*) FROM tde.conversions'), '0', '... and nothing has begun');
}

$node->stop;
done_testing();
