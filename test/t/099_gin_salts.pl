# Each GIN index of an encrypted column has a salt, of whatever class it is and whatever has made it; two tables' indexes share none.  One that has
# none, of an earlier version, is named by tde_audit(), and works as it is.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $conf = "tde_column.passphrase_command = 'echo salts-passphrase'\nfsync = off\nmax_locks_per_transaction = 1024\n";
my $node = tde_node('salts', extension => 1, conf => $conf);
$node->start;
lines_of($node, q(SELECT tde_wallet_create('salts-passphrase'); CREATE EXTENSION pg_trgm; SELECT tde_create_type('tsvector'); SELECT tde_create_gin_class('gin_trgm_ops');
CREATE VIEW classes AS
  SELECT c.opcname, c.opcintype::regtype AS type, c.opcdefault AND b.opcdefault AS is_default, b.opcname AS base_class, CASE WHEN b.opcname = 'array_ops' THEN s.base::regtype || '[]' ELSE s.base::regtype::text END AS base
  FROM pg_opclass c JOIN pg_amproc f ON (f.amprocfamily, f.amproclefttype, f.amprocnum) = (c.opcfamily, c.opcintype, 2) JOIN pg_proc p ON p.oid = f.amproc AND p.prosrc = 'tde_gin_extract_value'
  JOIN pg_amproc o ON o.amprocfamily = c.opcfamily AND o.amprocnum = 2 AND o.amproclefttype <> c.opcintype
  JOIN pg_amproc g ON g.amproc = o.amproc AND g.amprocnum = 2 AND g.amprocfamily <> c.opcfamily AND g.amproclefttype = o.amproclefttype
  JOIN pg_opclass b ON (b.opcfamily, b.opcintype) = (g.amprocfamily, g.amproclefttype) AND NOT EXISTS (SELECT FROM pg_amproc h WHERE h.amprocfamily = b.opcfamily AND h.amprocnum = 7)
  JOIN pg_type t ON t.oid = c.opcintype JOIN tde.types s ON s.type = CASE WHEN b.opcname = 'array_ops' THEN t.typelem ELSE t.oid END;
CREATE VIEW salts AS
  SELECT i.indrelid::regclass AS relation, i.indexrelid::regclass AS index, k, substring(array_to_string(attoptions, ' ') FROM '^salt=([0-9a-f]{32})$') AS salt
  FROM pg_index i CROSS JOIN generate_series(0, i.indnkeyatts - 1) k JOIN pg_attribute a ON (a.attrelid, a.attnum) = (i.indexrelid, k + 1) JOIN pg_opclass c ON c.oid = i.indclass[k] JOIN classes USING (opcname)));
my @classes = map { [ split /\|/ ] } split /\n/, lines_of($node, 'SELECT DISTINCT opcname, type, is_default, base_class, base FROM classes ORDER BY 1');
my $count = @classes;
is($count, lines_of($node, q(SELECT count(*) FROM pg_opclass c JOIN pg_amproc f ON (f.amprocfamily, f.amproclefttype, f.amprocnum) = (c.opcfamily, c.opcintype, 2) JOIN pg_proc p ON p.oid = amproc WHERE prosrc = 'tde_gin_extract_value')), 'all classes');
ok($count > 20, "$count classes");

# A column and an index for each class.
sub plain_columns     { return 'id int, ' . join ', ', map { "c$_ $classes[$_][4]" } 0 .. $#classes; }
sub encrypted_columns { return 'id int, ' . join ', ', map { "c$_ $classes[$_][1]" } 0 .. $#classes; }
sub indexes           { my ($table, $concurrently) = @_; return map { "CREATE INDEX " . ($concurrently // '') . " ${table}_i$_ ON $table USING gin (c$_ $classes[$_][3])" } 0 .. $#classes; }
sub encrypting        { my ($table) = @_; return "CALL tde_encrypt_columns('$table', '{" . join(',', map { "c$_" } 0 .. $#classes) . "}')"; }
sub rows { my ($table) = @_; return "INSERT INTO $table (id, " . join(', ', map { "c$_" } grep { $classes[$_][4] =~ /^(?:text\[\]|jsonb|integer\[\]|text)$/ } 0 .. $#classes) . ') SELECT g, '
    . join(', ', map { { 'text[]' => q(ARRAY['w' || g, 'all']), jsonb => q(jsonb_build_object('k', g)), 'integer[]' => 'ARRAY[g, 0]', text => q('name ' || g) }->{ $classes[$_][4] } // () } 0 .. $#classes) . ' FROM generate_series(1, 60) g'; }

my %seen;
sub salts_of
{
  my ($table, $expected, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is(lines_of($node, "SELECT count(*), count(salt), count(DISTINCT salt) FROM salts WHERE relation = '$table'::regclass"), "$expected|$expected|$expected", "$name: each has a salt");
  my @salts = split /\n/, lines_of($node, "SELECT salt FROM salts WHERE relation = '$table'::regclass");
  is(scalar(grep { $seen{$_}++ } @salts), 0, '... of its own');
  is(lines_of($node, "SELECT count(*) FROM tde_verify_table('$table')"), '0', '... and entries that fit the rows');
  return join ' ', sort @salts;
}
sub run { lines_of($node, $_) foreach @_; return; }

run('CREATE TABLE made (' . encrypted_columns() . ')', rows('made'), join ';', indexes('made'));
my $made = salts_of('made', $count, 'CREATE INDEX');
run('CREATE TABLE later (' . encrypted_columns() . ')', rows('later'), indexes('later', 'CONCURRENTLY'));
salts_of('later', $count, 'CREATE INDEX CONCURRENTLY');

run('CREATE TABLE several (a encrypted_text[], b encrypted_jsonb, d int); CREATE EXTENSION btree_gin; CREATE INDEX ON several USING gin (d, a, b)');
salts_of('several', 2, 'an index of several columns');

run('CREATE TABLE alike (LIKE made INCLUDING ALL)', rows('alike'));
salts_of('alike', $count, 'LIKE INCLUDING ALL');

# PostgreSQL's own command finds no class of the new type for one that is named.
my @defaults = grep { $classes[$_][2] eq 't' } 0 .. $#classes;
run('CREATE TABLE altered (' . plain_columns() . ')', rows('altered'), (indexes('altered'))[@defaults],
  'ALTER TABLE altered ' . join ', ', map { "ALTER c$_ TYPE $classes[$_][1] USING c$_\::$classes[$_][1]" } @defaults);
my $altered = salts_of('altered', scalar @defaults, 'ALTER COLUMN TYPE');
run('ALTER TABLE altered ' . join ', ', map { "ALTER c$_ TYPE " . ($classes[$_][1] =~ s/^(.*?)(\[\])?$/"$1(nosalt)" . ($2 || '')/er) } grep { $classes[$_][1] !~ /numeric|varchar|char|bit|time|interval/ } @defaults);
is(lines_of($node, q(SELECT string_agg(salt, ' ' ORDER BY salt) FROM salts WHERE relation = 'altered'::regclass)), $altered, '... and to another specification: the same');

run('CREATE TABLE converted (' . plain_columns() . ')', rows('converted'), join(';', indexes('converted')), encrypting('converted'));
salts_of('converted', $count, 'tde_encrypt_columns()');

run('CREATE TABLE slowly (' . plain_columns() . ')', rows('slowly'), join ';', indexes('slowly'));
foreach my $column (map { "c$_" } 0 .. $#classes)
{
  run("CALL tde_encrypt_column('slowly', '$column', online => true)");
  run(split /\n/, lines_of($node, "SELECT tde_conversion_indexes('slowly', '$column')"));
  run("CALL tde_finish_conversion('slowly', '$column')");
}
salts_of('slowly', $count, 'online');

# Partitions: one salt for an index and its parts, or one for each.
sub partitions
{
  my ($t, $columns, @then) = @_;
  run("CREATE TABLE $t ($columns) PARTITION BY RANGE (id); CREATE TABLE ${t}_1 PARTITION OF $t FOR VALUES FROM (0) TO (30)", @then,
    "CREATE TABLE ${t}_2 PARTITION OF $t FOR VALUES FROM (30) TO (50)", "CREATE TABLE ${t}_3 (LIKE $t); ALTER TABLE $t ATTACH PARTITION ${t}_3 FOR VALUES FROM (50) TO (100)", rows($t));
  return;
}
sub partition_salts
{
  my ($t, $expected, $name) = @_;
  is(lines_of($node, "SELECT relation, count(*), count(salt), count(DISTINCT salt) FROM salts WHERE relation IN (SELECT relid FROM pg_partition_tree('$t')) GROUP BY 1 ORDER BY 1"), join("\n", map { "$_|$expected|$expected|$expected" } $t, "${t}_1", "${t}_2", "${t}_3"), "$name: each has a salt");
  my @salts = split /\n/, lines_of($node, "SELECT DISTINCT salt FROM salts WHERE relation IN (SELECT relid FROM pg_partition_tree('$t'))");
  is(scalar(grep { $seen{$_}++ } @salts), 0, '... that no other table has');
  is(lines_of($node, "SELECT count(*) FROM tde_verify_table('${t}_$_')"), '0', "... and entries that fit the rows of ${t}_$_") foreach 1 .. 3;
}
partitions('parts', encrypted_columns(), join ';', indexes('parts'));
partition_salts('parts', $count, 'partitions');
partitions('parts_altered', plain_columns(), join(';', (indexes('parts_altered'))[@defaults]), 'ALTER TABLE parts_altered ' . join ', ', map { "ALTER c$_ TYPE $classes[$_][1] USING c$_\::$classes[$_][1]" } @defaults);
partition_salts('parts_altered', scalar @defaults, 'partitions, ALTER COLUMN TYPE');
partitions('parts_converted', plain_columns(), join(';', indexes('parts_converted')), encrypting('parts_converted'));
partition_salts('parts_converted', $count, 'partitions, tde_encrypt_columns()');

# A dump carries them.
my $dump = $node->basedir . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-t', 'made', '-t', 'parts*', 'postgres' ], 'dumped');
run('CREATE DATABASE copy');
lines_of($node, q(CREATE EXTENSION tde_column; CREATE EXTENSION pg_trgm; SELECT tde_create_type('tsvector'); SELECT tde_create_gin_class('gin_trgm_ops')), db => 'copy');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('copy'), '--exit-on-error', $dump ], 'and restored');
my $defined = q(SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid::regclass::text ~ '^(made|parts)' ORDER BY indexrelid::regclass::text COLLATE "C");
is(lines_of($node, $defined, db => 'copy'), lines_of($node, $defined), '... with their salts');

#
# Without a salt, as earlier versions have left indexes of arrays
#
is(lines_of($node, q(SELECT severity FROM tde_audit() WHERE topic = 'index salts')), 'ok', 'the audit finds nothing so far');
run(q(CREATE TABLE old (id int, a encrypted_text(nosalt)[]); CREATE TABLE old_parts (id int, a encrypted_text(nosalt)[]) PARTITION BY RANGE (id); CREATE TABLE old_parts_1 PARTITION OF old_parts FOR VALUES FROM (0) TO (100);
CREATE INDEX old_a ON old USING gin (a); CREATE INDEX old_b ON old USING gin (a); CREATE INDEX old_parts_a ON old_parts USING gin (a);
SET allow_system_table_mods = on; UPDATE pg_attribute SET attoptions = NULL WHERE attrelid IN ('old_a'::regclass, 'old_b'::regclass, 'old_parts_a'::regclass, 'old_parts_1_a_idx'::regclass)),
  q(INSERT INTO old SELECT g, ARRAY['w' || g, 'all'] FROM generate_series(1, 60) g; INSERT INTO old_parts SELECT * FROM old));
my $audit = q(SELECT object, finding, command FROM tde_audit() WHERE topic = 'index salts' AND severity <> 'ok' ORDER BY finding);
my $why = 'has no salt: values have the entries that they have in other indexes without one';
my $commands = sub { return "DROP INDEX public.$_[0]; CREATE INDEX $_[0] ON public.$_[1] USING gin (a);" };
my $found = join "\n", map { "public.$_->[1]|index public.$_->[0] $why|" . $commands->(@$_) } [ 'old_a', 'old' ], [ 'old_b', 'old' ], [ 'old_parts_a', 'old_parts' ];
is(lines_of($node, $audit), $found, 'it names them, with commands');
run('REINDEX TABLE old');
is(lines_of($node, $audit), $found, 'REINDEX leaves them so');
is(lines_of($node, q(SELECT count(*) FROM tde_verify_table('old'))), '0', '... and they have the entries that fit');
is(lines_of($node, q(SET enable_seqscan = off; SELECT id FROM old WHERE a && '{w7}')), '7', '... and find rows');
run('ALTER TABLE old ALTER a TYPE encrypted_text(nosalt)[]');    # which writes nothing anew
is(lines_of($node, q(SELECT count(*) FROM tde_verify_table('old'))), '0', 'ALTER TABLE keeps a file as it is');
run('REINDEX INDEX CONCURRENTLY old_b');
is(lines_of($node, q(SELECT index, salt IS NOT NULL FROM salts WHERE relation = 'old'::regclass ORDER BY 1)), "old_a|f\nold_b|t", 'REINDEX CONCURRENTLY draws one');
is(lines_of($node, q(SELECT count(*) FROM tde_verify_table('old'))), '0', '... and entries fit it');
run($_) foreach split /\n/, lines_of($node, q(SELECT command FROM tde_audit() WHERE topic = 'index salts' AND command IS NOT NULL));
salts_of('old', 2, 'the commands');
is(lines_of($node, q(SELECT count(*), count(salt) FROM salts WHERE relation IN ('old_parts'::regclass, 'old_parts_1'::regclass))), '2|2', '... also of partitions');
is(lines_of($node, $audit), '', '... and the audit is silent');

#
# A server that has not preloaded the library
#
my $alone = tde_node('alone', preload => 0, extension => 1, conf => $conf);
$alone->start;
lines_of($alone, q(SELECT tde_wallet_create('salts-passphrase'); CREATE TABLE t (a encrypted_text[]); CREATE TABLE p (a text[]); CREATE INDEX p_a ON p USING gin (a); INSERT INTO t VALUES ('{x}'); INSERT INTO p VALUES ('{x}')));
foreach my $command ('CREATE INDEX t_a ON t USING gin (a)', 'ALTER TABLE p ALTER a TYPE encrypted_text[]')
{
  my ($rc, $out, $err) = $alone->psql('postgres', $command);
  like($err, qr/index "[pt]_a" would have no salt.*Repeat it: the library is loaded now/s, "a session's first command is refused, or draws one: $command")
    if $rc != 0;
  lines_of($alone, "SELECT tde_version(); $command") if $rc != 0;
}
is(lines_of($alone, q(SELECT count(*) FROM pg_attribute WHERE attrelid IN ('t_a'::regclass, 'p_a'::regclass) AND array_to_string(attoptions, ' ') ~ '^salt=')), '2', 'both have one in the end');

$node->stop;
$alone->stop;
done_testing();
