# An online conversion that others disturb: triggers made, replaced or disabled meanwhile, partitions that go and come, columns renamed.  Nobody gets
# the owner's rights by it, no stale copy is swapped in, no value stays in clear, and a message says how to go on.

use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('disturbed', extension => 1, conf => "tde_column.passphrase_command = 'echo disturbed-passphrase'\nfsync = off\n");
$node->start;
lines_of($node, q(SELECT tde_wallet_create('disturbed-passphrase'); CREATE ROLE app LOGIN; CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO app, mallory));

sub ok_as
{
  my ($user, $sql, $name) = @_;
  my $got = attempt($node, $sql, user => $user);
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($got->{state}, '', $name // $sql) or diag("$sql: $got->{err}");
  return $got;
}
sub app_ok { return ok_as('app', @_); }
sub app_fails { my ($sql, $expected, $name) = @_; return fails_with($node, $sql, $expected, $name, user => 'app'); }

#
# A column that a conversion has left in another table, by LIKE or DETACH, is nobody's decision
#
lines_of($node, q(CREATE TABLE src (id int, a text); INSERT INTO src VALUES (1, 'one'); CALL tde_encrypt_column('src', 'a', online => true);
CREATE TABLE lk (LIKE src INCLUDING ALL); CALL tde_abort_conversion('src', 'a');
CREATE TABLE whole (id int, a text) PARTITION BY RANGE (id); CREATE TABLE whole_1 PARTITION OF whole FOR VALUES FROM (0) TO (100);
CALL tde_encrypt_column('whole', 'a', online => true); ALTER TABLE whole DETACH PARTITION whole_1; CALL tde_abort_conversion('whole', 'a');
GRANT SELECT, INSERT, UPDATE, TRIGGER ON lk, whole_1 TO mallory));
my %refused = (state => '55000', message => qr/^conversion of column "a" of table "\w+" cannot go on$/, detail => qr/^Trigger "~tde_convert_2" is not enabled /);
foreach my $table ('lk', 'whole_1')
{
  foreach my $opener ('', ", 'pg_catalog.pg_read_file(text)'")
  {
    ok_as('mallory', qq(CREATE OR REPLACE TRIGGER "~tde_convert_2" BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'a', 'tde_convert_2'$opener)), "a trigger on $table");
    fails_with($node, "INSERT INTO $table (id, a) VALUES (11, 'PG_VERSION')", { %refused, hint => qr/^CALL tde_abort_conversion\('public\.$table', 'a'\); and begin again\.$/ },
      '... runs nothing as the owner', user => 'mallory');
    fails_with($node, "CALL tde_internal.tde_convert_all_rows('$table', 'a', 'tde_convert_2', 100, 0)", \%refused, '... nor when the owner is taken in');
    fails_with($node, qq(ALTER TABLE $table ENABLE ALWAYS TRIGGER "~tde_convert_2"), { state => '42501' }, '... and is not made the owner\'s', user => 'mallory');
  }
}
lines_of($node, q(DROP TABLE lk, whole, whole_1; GRANT TRIGGER, UPDATE, SELECT ON src TO mallory; CALL tde_encrypt_column('src', 'a', online => true)));
ok_as('mallory', q(CREATE OR REPLACE TRIGGER "~tde_convert_2" BEFORE INSERT OR UPDATE ON src FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'a', 'tde_convert_2', 'pg_catalog.pg_read_file(text)')),
  'a trigger that replaces that of a conversion');
fails_with($node, q(UPDATE src SET a = 'PG_VERSION'), \%refused, '... runs nothing as the owner', user => 'mallory');
lines_of($node, q(CALL tde_abort_conversion('src', 'a'); DROP TABLE src));

# somebody's trigger, of whose table the table of somebody else is a partition
ok_as('mallory', q(CREATE TABLE mine (id int, a text, tde_convert_2 encrypted_text) PARTITION BY RANGE (id);
CREATE TRIGGER "~tde_convert_2" BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'a', 'tde_convert_2', 'pg_catalog.pg_read_file(text)');
ALTER TABLE mine ENABLE ALWAYS TRIGGER "~tde_convert_2"), 'a trigger on a table of one\'s own');
lines_of($node, 'CREATE TABLE theirs PARTITION OF mine FOR VALUES FROM (0) TO (100)');
fails_with($node, q(INSERT INTO mine (id, a) VALUES (11, 'PG_VERSION')), \%refused, '... runs nothing as the owner of a partition', user => 'mallory');
lines_of($node, 'DROP TABLE mine');

#
# A copy that is stale is not swapped in
#
sub finished
{
  my ($table, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  app_ok("CALL tde_finish_conversion('$table', 'a')", $name);
  return lines_of($node, "SELECT string_agg(concat(id, a), ' ' ORDER BY id) FROM $table");
}
sub values_of { return join ' ', map { "$_$_[0]" } 1 .. 3; }
sub make
{
  my ($table) = @_;
  app_ok(qq(CREATE TABLE $table (id int, a text); INSERT INTO $table SELECT g, 'old' FROM generate_series(1, 3) g; CALL tde_encrypt_column('$table', 'a', online => true)), "$table is being encrypted");
  return;
}

# triggers that were disabled
make('loaded');
app_ok(q(ALTER TABLE loaded DISABLE TRIGGER USER; UPDATE loaded SET a = 'new'), 'changed while triggers are disabled');
app_fails(q(CALL tde_finish_conversion('loaded', 'a')), \%refused, '... is seen');
app_ok('ALTER TABLE loaded ENABLE TRIGGER USER', 'enabled again');
my %disabled = (%refused, hint => qr/^CALL tde_abort_conversion\('public\.loaded', 'a'\); and begin again\.$/);
app_fails($_, \%disabled, "... is seen by $_") foreach q(CALL tde_finish_conversion('loaded', 'a')), q(CALL tde_encrypt_column('loaded', 'a', online => true)), q(UPDATE loaded SET a = 'newer' WHERE id = 3);
app_ok($_) foreach q(CALL tde_abort_conversion('loaded', 'a')), q(CALL tde_encrypt_column('loaded', 'a', online => true));
is(finished('loaded', 'what the hint says'), values_of('new'), '... gives the right values');

# between the last pass and the lock of the swap
make('late');
my ($before, $call) = (session($node), '');
session_try($before, 'BEGIN; SELECT count(*) FROM late');
my $run = IPC::Run::start([ 'psql', '-X', '-U', 'app', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', "CALL tde_finish_conversion('late', 'a')" ], '>&', \$call);
ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'late'::regclass AND mode = 'AccessExclusiveLock')), 'the end waits for a reader');
is(session_try($before, q(ALTER TABLE late DISABLE TRIGGER USER; UPDATE late SET a = 'new'; ALTER TABLE late ENABLE TRIGGER USER; COMMIT))->{err}, '', 'who goes round the trigger');
$before->quit;
$run->finish;
like($call, qr/ERROR:  conversion of column "a" of table "late" cannot go on\nDETAIL:  Trigger "~tde_convert_2" of table public\.late was disabled meanwhile.*\nHINT:  CALL tde_abort_conversion\('public\.late', 'a'\); and begin again\./, '... is seen');

# while the old values are erased
make('erasing');
my $reader = session($node);
session_try($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM late');
app_ok(q(CALL tde_finish_conversion('erasing', 'a', max_wait => 0)), 'swapped');
session_try($reader, 'COMMIT');
$reader->quit;
app_ok(q(ALTER TABLE erasing DISABLE TRIGGER USER; ALTER TABLE erasing ENABLE TRIGGER USER; UPDATE erasing SET a = 'new'), 'triggers are disabled and enabled, and rows are written');
app_fails(q(CALL tde_finish_conversion('erasing', 'a')), { %refused, hint => qr/^ALTER TABLE public\.erasing ENABLE ALWAYS TRIGGER "~tde_convert_2"; CALL tde_finish_conversion\('public\.erasing', 'a'\);$/ }, '... is seen');
app_ok(q(ALTER TABLE erasing ENABLE ALWAYS TRIGGER "~tde_convert_2"), 'what the hint says');
is(finished('erasing', '... ends it'), values_of('new'), 'with the right values');

# partitions that go and come again
app_ok(q(CREATE TABLE parts (id int, a text) PARTITION BY RANGE (id); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (3); CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (3) TO (100) PARTITION BY RANGE (id);
CREATE TABLE parts_21 PARTITION OF parts_2 FOR VALUES FROM (3) TO (50); INSERT INTO parts SELECT g, 'old' FROM generate_series(1, 6) g; CALL tde_encrypt_column('parts', 'a', online => true)), 'partitions are being encrypted');
app_ok(q(INSERT INTO parts VALUES (40, 'kept')), 'a row that is written meanwhile');
my $kept = lines_of($node, 'SELECT ctid, xmin FROM parts WHERE id = 1');
app_ok(q(ALTER TABLE parts DETACH PARTITION parts_2; UPDATE parts_21 SET a = CASE WHEN id <> 4 THEN 'new' END WHERE id < 40; ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (3) TO (100)), 'one goes, changes and comes again');
app_ok(q(CREATE TABLE parts_3 (LIKE parts); INSERT INTO parts_3 (id, a, tde_convert_2) VALUES (101, 'mine', 'other'); BEGIN; INSERT INTO erasing VALUES (4); SAVEPOINT s; UPDATE parts_3 SET id = 100; RELEASE s;
ALTER TABLE parts ATTACH PARTITION parts_3 FOR VALUES FROM (100) TO (200); COMMIT), 'another one comes with a copy of its own');
app_ok(q(CALL tde_encrypt_column('parts', 'a', online => true, batch_rows => 1)), 'going on');
is(lines_of($node, 'SELECT ctid, xmin FROM parts WHERE id = 1'), $kept, '... writes nothing of the others');
is(lines_of($node, 'SELECT count(*) FROM parts WHERE a IS DISTINCT FROM tde_convert_2::text'), '0', '... makes the copies anew');
app_ok(q(ALTER TABLE parts DETACH PARTITION parts_1; UPDATE parts_1 SET a = 'new'; ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES FROM (1) TO (3)), 'one more');
is(finished('parts', 'finished'), '1new 2new 3new 4 5new 6new 40kept 100mine', '... with the right values');

# triggers that change the row after its copy is made
app_ok(q(CREATE FUNCTION upper_a() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.a = upper(new.a); RETURN new; END'; CREATE TABLE ordered (id int, a text); INSERT INTO ordered VALUES (1, 'old'), (2, 'old'), (3, 'old');
CREATE TRIGGER "~zz" BEFORE INSERT OR UPDATE ON ordered FOR EACH ROW EXECUTE FUNCTION upper_a()), 'a trigger that fires late');
app_fails(q(CALL tde_encrypt_column('ordered', 'a', online => true)), { state => '2BP01', detail => qr/^trigger "~zz" on table public\.ordered, which fires after the conversion's: ALTER TRIGGER "~zz" ON public\.ordered RENAME TO "z_~zz"; before$/ }, '... is named');
app_ok($_) foreach q(ALTER TRIGGER "~zz" ON ordered RENAME TO "z_~zz"), q(CALL tde_encrypt_column('ordered', 'a', online => true)), q(UPDATE ordered SET a = 'new'),
  q(CREATE TRIGGER "~zzz" BEFORE DELETE ON ordered FOR EACH ROW EXECUTE FUNCTION upper_a(); CREATE TRIGGER "~~" AFTER UPDATE ON ordered FOR EACH ROW EXECUTE FUNCTION upper_a(); UPDATE ordered SET a = 'new'),
  q(CREATE TRIGGER "ärger" BEFORE INSERT OR UPDATE ON ordered FOR EACH ROW EXECUTE FUNCTION upper_a());
app_fails(q(UPDATE ordered SET a = 'newer'), { %refused, detail => qr/^Trigger "ärger" fires after that of the conversion, /, hint => qr/^ALTER TRIGGER "ärger" ON public\.ordered RENAME TO "z_ärger";$/ }, 'one that is made meanwhile stops writes');
app_fails(q(CALL tde_finish_conversion('ordered', 'a')), { state => '2BP01', detail => qr/^trigger "ärger" on table/ }, '... and the swap');
app_ok($_) foreach q(ALTER TRIGGER "ärger" ON ordered RENAME TO "z_ärger"), q(UPDATE ordered SET a = 'newer');
is(finished('ordered', 'renamed'), values_of('NEWER'), '... it is right');

#
# Columns that are renamed or dropped
#
sub files_with
{
  my ($text) = @_;
  $node->safe_psql('postgres', 'CHECKPOINT');
  my $folder = $node->data_dir . '/base/' . lines_of($node, "SELECT oid FROM pg_database WHERE datname = 'postgres'");
  return join ' ', sort grep { index(read_bytes("$folder/$_"), $text) >= 0 } grep { !/^\.\.?$/ } slurp_dir($folder);
}
lines_of($node, q(CALL tde_abort_conversion('late', 'a')));

# while the old values are erased
make('phase');
$reader = session($node);
session_try($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM late');
app_ok(q(CALL tde_finish_conversion('phase', 'a', max_wait => 0)), 'swapped');
session_try($reader, 'COMMIT');
$reader->quit;
app_ok(q(ALTER TABLE phase RENAME a TO aa), 'renamed');
app_ok(q(UPDATE phase SET aa = 'new', tde_erase_2 = 'OLDMARK'), '... writes go on');
is(lines_of($node, 'SELECT count(tde_erase_2) FROM phase'), '0', '... and leave no old value');
is(lines_of($node, 'SELECT relation, column_name, phase, direction, helper_column FROM tde.conversions'), 'phase|a|erase||tde_erase_2', '... the conversion is listed');
is(lines_of($node, 'SELECT unfinished_conversions FROM tde.status'), '1', '... and counted');
is(lines_of($node, q(SELECT finding, hint FROM tde_audit() WHERE topic = 'conversions')),
  q(column a is still being converted (phase erase)|ALTER TABLE public.phase RENAME COLUMN ... TO a;  CALL tde_finish_conversion('public.phase', 'a');), '... and the audit tells the way on');
app_fails(q(CALL tde_finish_conversion('phase', 'a')), { state => '42703', detail => qr/^It has been renamed or dropped while /, hint => qr/^ALTER TABLE public\.phase RENAME COLUMN \.\.\. TO a; and go on with it\.$/ }, '... as its end does');
app_fails(q(CALL tde_finish_conversion('phase', 'aa')),
  { state => '55000', hint => qr/^If it has been renamed: ALTER TABLE public\.phase RENAME COLUMN aa TO a; CALL tde_finish_conversion\('public\.phase', 'a'\);$/ }, '... by the new name, too');
app_ok(q(ALTER TABLE phase RENAME COLUMN aa TO a; ALTER TABLE phase RENAME COLUMN tde_erase_2 TO x), 'the old column is renamed');
app_fails(q(UPDATE phase SET a = 'newer'), { state => '55000', hint => qr/^ALTER TABLE public\.phase RENAME COLUMN x TO tde_erase_2;$/ }, '... how to go on');
app_ok('ALTER TABLE phase RENAME COLUMN x TO tde_erase_2', '... which is done');
is(finished('phase', '... and it is ended'), values_of('new'), '... with the right values');

app_ok(q(CREATE TABLE taken (id int, a bytea); INSERT INTO taken VALUES (1, 'x'); CREATE FUNCTION opened(bytea) RETURNS text LANGUAGE sql RETURN encode($1, 'escape'); CALL tde_take_over_column('taken', 'a', 'opened(bytea)')), 'taken over');
app_ok('ALTER TABLE taken RENAME a TO aa', 'renamed');
app_fails('UPDATE taken SET id = 2', { state => '55000', hint => qr/^ALTER TABLE public\.taken RENAME COLUMN aa TO a; CALL tde_abort_conversion\('public\.taken', 'a'\);$/ }, '... how to go on');
app_ok('ALTER TABLE taken DROP aa', 'dropped');
app_fails('UPDATE taken SET id = 2', { state => '55000', hint => qr/^End the conversion: DROP TRIGGER "~tde_convert_2" ON public\.taken; ALTER TABLE public\.taken DROP COLUMN tde_convert_2;$/ }, '... how to end');
app_ok('DROP TABLE taken', 'it goes');

# while it is copied: nothing stays in clear
sub decrypting
{
  my ($mark, $more) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  app_ok(qq(CREATE TABLE opened (id int, a encrypted_text NOT NULL); INSERT INTO opened SELECT g, '$mark' FROM generate_series(1, 3) g; CALL tde_decrypt_column('opened', 'a', online => true)), 'being decrypted');
  isnt(files_with($mark), '', 'the copy is in clear');
  app_ok($more, $more);
  return;
}
sub hint_of { my ($sql) = @_; return attempt($node, $sql, user => 'app')->{err} =~ /^HINT:\s+(.*)$/m ? $1 : ''; }
my $drops = 'End the conversion: DROP TRIGGER "~tde_convert_2" ON public.opened;';
foreach my $case (
  [ 'RENAMEDMARK', 'ALTER TABLE opened RENAME a TO aa', q(UPDATE opened SET id = id), q(ALTER TABLE public.opened RENAME COLUMN aa TO a; CALL tde_abort_conversion('public.opened', 'a');) ],
  [ 'AGAINMARK', 'ALTER TABLE opened RENAME a TO aa', q(CALL tde_decrypt_column('opened', 'aa', online => true)), q(ALTER TABLE public.opened RENAME COLUMN aa TO a; CALL tde_abort_conversion('public.opened', 'a');) ],
  [ 'LOSTMARK', 'ALTER TABLE opened DROP a', q(UPDATE opened SET id = id),
    "$drops ALTER TABLE public.opened DROP CONSTRAINT IF EXISTS tde_convert_2; UPDATE public.opened SET tde_convert_2 = NULL; ALTER TABLE public.opened DROP COLUMN tde_convert_2; CALL tde_wipe_free_space('public.opened');" ],
  [ 'COPYMARK', 'ALTER TABLE opened DROP tde_convert_2', q(UPDATE opened SET id = id), "$drops VACUUM FULL public.opened;" ],
  [ 'DROPPEDMARK', 'ALTER TABLE opened DROP tde_convert_2', q(CALL tde_decrypt_column('opened', 'a', online => true)), 'End it: DROP TRIGGER "~tde_convert_2" ON public.opened; VACUUM FULL public.opened;' ])
{
  my ($mark, $more, $sql, $wanted) = @$case;
  decrypting($mark, $more);
  my $told = hint_of($sql);
  is($told, $wanted, '... what helps');
  app_ok($told =~ s/^End .*?: //r, '... is done');
  is(files_with($mark), '', '... no value stays in clear');
  is(lines_of($node, 'SELECT count(*) FROM tde.conversions'), '0', '... and no conversion');
  app_ok('UPDATE opened SET id = id; DROP TABLE opened', '... rows are written');
}

$node->stop;
done_testing();
