# Logical decoding with tde_column.transparent_catalog: output plugins tell of encrypted columns what they tell of plain ones, message by message.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $logical = "wal_level = logical\nwal_retrieve_retry_interval = 200ms\nlogical_decoding_work_mem = 64kB\nmax_replication_slots = 20\nmax_wal_senders = 20\n";
my $node = tde_node('changes', extension => 1, init => [ allows_streaming => 'logical' ], conf => $logical);
$node->start;
lines_of($node, q{SELECT tde_wallet_create('changes-passphrase')});

# Which plugins there are: PostgreSQL's, and those that are installed; newer versions want a list of the others.
my @plugins = ('pgoutput', 'test_decoding');
chomp(my $folder = `pg_config --pkglibdir`);
my @others = grep { -e "$folder/$_.so" } 'wal2json', 'decoderbufs';
if (lines_of($node, q{SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'}))
{
  $node->append_conf('postgresql.conf', "output_plugin_libraries = '" . join(', ', @plugins, @others, 'tde_column') . "'\n");
  $node->restart;
  lines_of($node, q{SELECT tde_wallet_open('changes-passphrase')});
}
push @plugins, @others;
diag("not installed, so not tested: $_") foreach grep { my $plugin = $_; !grep { $_ eq $plugin } @plugins } 'wal2json', 'decoderbufs';

# ---- the same tables in two schemas ----

my @types = split q{ }, q{text varchar(20) bpchar(10) int2 int4 int8 numeric(12,2) float4 float8 bool date time timetz timestamp timestamptz interval
  bytea uuid json jsonb inet};
my $values = q{'te"xt', 'vary', 'bp', -5, 7, 9007199254740993, 1.5, 1.5, 2.25, false, '2024-02-29', '12:34:56', '12:34:56+02', '2024-02-29 12:34:56',
  '2024-02-29 12:34:56+00', '1 day', '\x00ff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": [1, true]}', '{"a": 1}', '10.0.0.1/8'};

lines_of($node, q{CREATE EXTENSION citext; CREATE SCHEMA plain; CREATE SCHEMA encrypted});
lines_of($node, q{SELECT tde_create_type('citext')});
my $citext = lines_of($node, q{SELECT type::regtype FROM tde.types WHERE base = 'citext'::regtype});

# Columns of plain types; an encrypted table has the encrypted ones where there is a number sign.
sub make
{
  my ($sql) = @_;
  lines_of($node, "SET search_path TO plain, public; " . ($sql =~ s/#citext/citext/gr =~ s/#//gr));
  lines_of($node, "SET search_path TO encrypted, public; " . ($sql =~ s/#citext/$citext/gr =~ s/#(\w)/encrypted_$1/gr));
  return;
}

make('CREATE TABLE wide (id int PRIMARY KEY, ' . join(', ', map { "c$_ #$types[$_]" } 0 .. $#types) . ', list #text[], numbers #int4[])');
make('CREATE TABLE keyed (k #text PRIMARY KEY, note text)');
make('CREATE TABLE whole (a #int4, b #text, c text); ALTER TABLE whole REPLICA IDENTITY FULL');
make('CREATE TABLE by_index (id int PRIMARY KEY, k #int8 NOT NULL UNIQUE, c #bool); ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_k_key');
make('CREATE TABLE toasted (id int PRIMARY KEY, long #text, n #int4); ALTER TABLE toasted ALTER long SET STORAGE EXTERNAL');
make('CREATE TABLE parts (id int, n #numeric(10,2), v #varchar(5000), PRIMARY KEY (id)) PARTITION BY RANGE (id)');
make('CREATE TABLE part (v #varchar(5000), gone int, id int NOT NULL, n #numeric(10,2)); ALTER TABLE part DROP gone; ALTER TABLE parts ATTACH PARTITION part FOR VALUES FROM (0) TO (1000)');
make('CREATE TABLE own (id int PRIMARY KEY, w #citext)');
make('CREATE TABLE altered (id int PRIMARY KEY, a #int4, gone #text)');
make('CREATE TABLE some_columns (id int PRIMARY KEY, a #int4, secret #text, b #bool)');

foreach my $schema ('plain', 'encrypted')
{
  lines_of($node, "CREATE PUBLICATION $schema FOR TABLE " . join(', ', map { "$schema.$_" } qw(wide keyed whole by_index toasted parts own altered)) .
    ", $schema.some_columns (id, b, a) WHERE (id > 1) WITH (publish_via_partition_root)");
  lines_of($node, "CREATE PUBLICATION leaves_$schema FOR TABLE $schema.parts");
}
lines_of($node, "SELECT pg_create_logical_replication_slot('s_$_', '$_')") foreach @plugins;

# ---- changes ----

my @changes = (
  "INSERT INTO wide VALUES (1, $values, '{a,NULL,b}', '{{1,2},{3,4}}'), (2" . ', NULL' x (@types + 2) . ')',
  'UPDATE wide SET c4 = 8, c9 = true WHERE id = 1',
  'UPDATE wide SET id = 3 WHERE id = 1',
  'DELETE FROM wide',
  q{INSERT INTO keyed VALUES ('4111', 'x'), ('5500', 'y')},
  q{UPDATE keyed SET note = 'z'},
  q{UPDATE keyed SET k = '4112' WHERE k = '4111'},
  q{DELETE FROM keyed WHERE k = '5500'},
  q{INSERT INTO whole VALUES (1, 'one', 'eins'), (NULL, 'two', 'zwei')},
  q{UPDATE whole SET b = 'three'},
  q{DELETE FROM whole},
  q{INSERT INTO by_index VALUES (1, 10, true), (2, 20, false)},
  q{UPDATE by_index SET k = 30 WHERE id = 1},
  q{DELETE FROM by_index},
  q{INSERT INTO toasted VALUES (1, repeat('long ', 1000), 5)},
  q{UPDATE toasted SET n = 6},
  q{UPDATE toasted SET id = 2},
  q{DELETE FROM toasted},
  q{INSERT INTO parts VALUES (1, 1.5, 'p'), (2, NULL, NULL)},
  q{UPDATE parts SET n = 2 WHERE id = 1},
  q{DELETE FROM parts},
  q{INSERT INTO own VALUES (1, 'Word')},
  q{INSERT INTO altered VALUES (1, 5, 'x'); ALTER TABLE altered DROP gone; INSERT INTO altered VALUES (2, 6); ALTER TABLE altered ADD late #bool DEFAULT false;
    INSERT INTO altered VALUES (3, 7, true); ALTER TABLE altered ALTER a TYPE #numeric(10,1); INSERT INTO altered VALUES (4, 7.5, NULL)},
  q{INSERT INTO some_columns VALUES (1, 1, 'filtered', true), (2, 2, 'not sent', false)},
  q{UPDATE some_columns SET a = 3},
  q{TRUNCATE keyed, whole},
  q{INSERT INTO toasted SELECT i, repeat('x', 100), i FROM generate_series(1, 2000) i},
  q{ALTER TABLE own ALTER w TYPE text});
make($_) foreach @changes;

# ---- what plugins tell ----

my $on  = 'SET tde_column.transparent_catalog = on; ';
my $off = 'SET tde_column.transparent_catalog = off; ';

sub decoded
{
  my ($set, $plugin, @options) = @_;
  my $options = join '', map { ", '$_'" } @options;
  return attempt($node, "${set}SELECT data FROM pg_logical_slot_peek_changes('s_$plugin', NULL, NULL$options)");
}

# The changes of tables in a schema, without its name.
sub of_schema
{
  my ($text, $schema) = @_;
  my ($other) = grep { $_ ne $schema } 'plain', 'encrypted';
  return join "\n", map { s/\b$schema\b//gr } grep { /\b$schema\b/ && !/\b$other\b/ } split /\n/, $text;
}

foreach my $test ([ 'test_decoding', 'skip-empty-xacts', 1 ], [ 'test_decoding', 'stream-changes', 1 ], [ 'wal2json', 'format-version', 2, 'include-pk', 1 ],
  [ 'wal2json', 'format-version', 2, 'include-typmod', 0, 'include-type-oids', 1, 'include-not-null', 1 ])
{
  my ($plugin, @options) = @$test;
  next unless grep { $_ eq $plugin } @plugins;
  my $got = decoded($on, $plugin, @options);
  is($got->{state}, '', "$plugin, @options") or diag($got->{err});
  my $plain = of_schema($got->{out}, 'plain');
  cmp_ok(length $plain, '>', 10000, '... tells of plain tables');
  is(of_schema($got->{out}, 'encrypted'), $plain, '... and the same of encrypted ones');
}
SKIP:
{
  skip 'decoderbufs is not installed' unless grep { $_ eq 'decoderbufs' } @plugins;
  my @messages = split /^txid.*\n/m, decoded($on, 'decoderbufs', 'debug-mode', 1)->{out} =~ s/(txid.*table\[)/\n$1/gr;
  my %messages;
  foreach my $text (split /(?=^txid\[)/m, decoded($on, 'decoderbufs', 'debug-mode', 1)->{out})
  {
    push @{ $messages{$1} }, $text =~ s/^txid.*table\[\w+//r if $text =~ /table\[(plain|encrypted)\./;
  }
  cmp_ok(scalar @{ $messages{plain} }, '>', 30, 'decoderbufs tells of plain tables');
  is(join('', @{ $messages{encrypted} }), join('', @{ $messages{plain} }), '... and the same of encrypted ones');
}

my %elements = map { my ($type, $base) = split /\|/; (sprintf('%08x', $type) => $base) }
  split /\n/, lines_of($node, q{SELECT type::oid, base::oid FROM tde.types WHERE base IN ('int4'::regtype, 'text'::regtype)});
my $elements = join '|', sort keys %elements;

# pgoutput's messages, with the numbers of tables as their names: types of their own, tables and changes.
sub messages
{
  my ($set, $publication, @options) = @_;
  my $options = join ', ', map { "'$_'" } 'publication_names', $publication, @options;
  my $got = attempt($node, "${set}SELECT encode(data, 'hex') FROM pg_logical_slot_peek_binary_changes('s_pgoutput', NULL, NULL, $options)");
  is($got->{state}, '', "pgoutput, $options") or diag($got->{err});
  my (%names, $streams, @messages);
  foreach my $message (map { pack 'H*', $_ } split /\n/, $got->{out})
  {
    my $kind = substr $message, 0, 1;
    $streams = $kind eq 'S' if $kind =~ /[SE]/;
    next unless $kind =~ /[RYIUDT]/;
    my $text = substr $message, $streams ? 5 : 1;
    if ($kind =~ /[RIUD]/)
    {
      my $table = unpack 'N', $text;
      $names{$table} = (split /\0/, substr $text, 4)[1] if $kind eq 'R';
      $text = $names{$table} . ' ' . (substr $text, 4) =~ s/^(plain|encrypted)\0//r;
    }
    $text = '' if $kind eq 'T';
    # in binary, an array tells the type of its elements itself
    my $hex = unpack('H*', $text) =~ s/($elements)/sprintf '%08x', $elements{$1}/ger;
    push @messages, join ' ', $streams ? 'stream' : 'whole', $kind, $hex;
  }
  return @messages;
}

foreach my $options ([ 'proto_version', 1 ], [ 'proto_version', 1, 'binary', 'true' ], [ 'proto_version', 2, 'streaming', 'true' ])
{
  foreach my $publication ('', 'leaves_')
  {
    my @plain     = messages($on, "${publication}plain",     @$options);
    my @encrypted = messages($on, "${publication}encrypted", @$options);
    cmp_ok(scalar @plain, '>', $publication ? 5 : 2000, '... tells of plain tables');
    is_deeply(\@encrypted, \@plain, '... and the same of encrypted ones');
  }
}
like(join(' ', messages($on, 'encrypted', 'proto_version', 2, 'streaming', 'true')), qr/stream R .*stream I /, 'a transaction in progress was streamed');
like(join(' ', map { pack 'H*', (split / /)[2] } grep { / Y / } messages($on, 'encrypted', 'proto_version', 1)), qr/public\0citext\0/, 'a base type that is not PostgreSQL\'s own');

# ---- settings: as catalogs ----

foreach my $set ($off, "$on SET tde_column.transparent_results = off; ")
{
  like(decoded($set, 'test_decoding')->{out}, qr/c4\[encrypted_int4\]:'7'/, "encrypted types: $set");
  like(join(' ', map { pack 'H*', (split / /)[2] // '' } messages($set, 'encrypted', 'proto_version', 1)), qr/pg_catalog\0encrypted_int4|\0encrypted_int4\0/, '... of pgoutput, too');
}
like(decoded("$on SET tde_column.io_format = ciphertext; ", 'test_decoding')->{out}, qr/c4\[encrypted_int4\]:'tde/, 'the ciphertext form has encrypted types');

# ---- who may not see values ----

lines_of($node, q{SELECT tde_wallet_close()});
my $closed = decoded($on, 'test_decoding');
is($closed->{state}, 'TDE01', 'a closed wallet') or diag($closed->{err});
lines_of($node, q{SELECT tde_wallet_open('changes-passphrase')});
lines_of($node, q{CREATE ROLE pii; CREATE ROLE reader REPLICATION LOGIN; ALTER ROLE reader SET tde_column.transparent_catalog = on});
set_conf($node, 'tde_column.decrypt_role' => 'pii', 'tde_column.decrypt_policy' => 'mask');
$node->reload;
my $peek = q{SELECT count(*) FROM pg_logical_slot_peek_changes('s_%s', NULL, NULL)};
my @textual = grep { /^(test_decoding|wal2json)$/ } @plugins;
foreach my $plugin (@textual)
{
  my $refused = attempt($node, sprintf($peek, $plugin), user => 'reader');
  is($refused->{state}, '42501', "$plugin: an error, whatever the policy, since a mask would be taken for a value") or diag($refused->{err} . $refused->{out});
}
lines_of($node, 'GRANT pii TO reader');
is(attempt($node, sprintf($peek, $_), user => 'reader')->{state}, '', "$_: a member of the role") foreach @textual;
set_conf($node, 'tde_column.decrypt_role' => '');
$node->reload;

# ---- walsenders ----

my ($stdout, $stderr) = ('', '');
my $end = lines_of($node, 'SELECT pg_current_wal_lsn()');
IPC::Run::run([ 'pg_recvlogical', '-d', $node->connstr('postgres') . ' user=reader', '-S', 's_test_decoding', '--start', '-f', '-', '--endpos', $end, '--no-loop' ],
  '>', \$stdout, '2>', \$stderr) or diag($stderr);
is(of_schema($stdout, 'encrypted'), of_schema($stdout, 'plain'), 'a walsender of a role that has the setting');
cmp_ok(length of_schema($stdout, 'plain'), '>', 10000, '... and it tells much');

# A native subscription of that role: its tables are encrypted, too.
my $subscriber = tde_node('subscriber', extension => 1, init => [ allows_streaming => 'logical' ], conf => $logical);
$subscriber->start;
lines_of($subscriber, q{SELECT tde_wallet_create('subscriber-passphrase')});
lines_of($node, "GRANT USAGE ON SCHEMA encrypted TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA encrypted TO reader; ALTER ROLE reader SUPERUSER");
my $columns = join(', ', map { "c$_ " . ('encrypted_' . $types[$_]) } 0 .. $#types) . ', list encrypted_text[], numbers encrypted_int4[]';
lines_of($node, "CREATE PUBLICATION native FOR TABLE encrypted.wide, encrypted.keyed; INSERT INTO encrypted.wide VALUES (10, $values, '{a,NULL}', '{{1,2}}')");
foreach my $binary ('false', 'true')
{
  $subscriber->safe_psql('postgres', "CREATE DATABASE db_$binary");
  lines_of($subscriber, 'CREATE EXTENSION tde_column; CREATE SCHEMA encrypted', db => "db_$binary");
  lines_of($subscriber, "CREATE TABLE encrypted.wide (id int PRIMARY KEY, $columns); CREATE TABLE encrypted.keyed (k encrypted_text PRIMARY KEY, note text)", db => "db_$binary");
  $subscriber->safe_psql("db_$binary", "CREATE SUBSCRIPTION native_$binary CONNECTION '" . $node->connstr . " dbname=postgres user=reader' PUBLICATION native WITH (binary = $binary)");
  $subscriber->wait_for_subscription_sync($node, "native_$binary", "db_$binary");
}
lines_of($node, "INSERT INTO encrypted.wide VALUES (11, $values, '{a,NULL}', '{{1,2}}'); UPDATE encrypted.wide SET c4 = 9 WHERE id = 10; INSERT INTO encrypted.keyed VALUES ('new', 'n')");
lines_of($node, "UPDATE encrypted.keyed SET k = 'newer' WHERE k = 'new'; DELETE FROM encrypted.keyed WHERE k = '4112'");
foreach my $binary ('false', 'true')
{
  $node->wait_for_catchup("native_$binary");
  is(lines_of($subscriber, "SELECT * FROM $_ ORDER BY 1", db => "db_$binary"), lines_of($node, "SELECT * FROM $_ ORDER BY 1"), "native subscription: $_, binary = $binary")
    foreach 'encrypted.wide', 'encrypted.keyed';
}

# ---- small values in a row so wide that its TOAST table has them: int4 has no way to say so ----

lines_of($node, 'CREATE TABLE encrypted.many (id int PRIMARY KEY, ' . join(', ', map { "n$_ encrypted_int4" } 1 .. 400) . ')');
lines_of($node, 'INSERT INTO encrypted.many SELECT 1' . ', i' x 400 . ' FROM generate_series(7, 7) i; UPDATE encrypted.many SET n1 = 8');
my ($inserted, $updated) = grep { /encrypted\.many/ } split /\n/, decoded($on, 'test_decoding')->{out};
is(scalar(() = $inserted =~ /n\d+\[integer\]:7/g), 400, 'an INSERT tells all');
cmp_ok(scalar(() = $updated =~ /n\d+\[integer\]:7/g), '<', 399, 'an UPDATE leaves out those that it has not changed');
like($updated, qr/id\[integer\]:1 .*\bn1\[integer\]:8/, '... and tells what it has');
unlike($updated, qr/null|unchanged/, '... and nothing else');

# ---- the path of libraries ----

is(lines_of($node, 'SHOW dynamic_library_path'), '$libdir/tde_column:$libdir', 'the path has our folder first');
my $offset = log_offset($node);
sub restart_with_path
{
  $node->append_conf('postgresql.conf', "dynamic_library_path = '$_[0]'\n");    # reading it anew would not do, which is what set_conf() waits for
  $offset = log_offset($node);
  $node->restart;
  lines_of($node, q{SELECT tde_wallet_open('changes-passphrase')});
  return lines_of($node, 'SHOW dynamic_library_path');
}
is(restart_with_path('$libdir:/nowhere'), '$libdir:/nowhere', 'a path that somebody has set stays as it is');
like(log_since($node, $offset), qr/WARNING:  logical decoding does not follow "tde_column.transparent_catalog".*DETAIL:.*HINT:  Let "dynamic_library_path" begin with "\$libdir\/tde_column:"/s,
  '... and who has left the folder out is told at the start');
is(restart_with_path('/nowhere:$libdir/tde_column:$libdir'), '/nowhere:$libdir/tde_column:$libdir', 'a path that has it stays as it is');
like(decoded($on, 'test_decoding')->{out}, qr/c4\[integer\]:9/, '... and decoding follows');

# The library in another folder than $libdir, as in the volume of an extension's image: a link, since there is to be one library.
my $volume = PostgreSQL::Test::Utils::tempdir;
symlink("$folder/tde_column.so", "$volume/tde_column.so") or die "could not make a link: $!";
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$volume/tde_column'\n");
is(restart_with_path("\$libdir:$volume"), "\$libdir:$volume", 'a library that has been packed without the folder leaves the path as it is');
like(log_since($node, $offset), qr/WARNING:  logical decoding does not follow "tde_column.transparent_catalog".*DETAIL:  There is no file "\Q$volume\E\/tde_column\/pgoutput.*HINT:/s,
  '... and says so at the start');
mkdir "$volume/tde_column" or die "could not make a folder: $!";
symlink('../tde_column.so', "$volume/tde_column/$_.so") or die "could not make a link: $!" foreach @plugins;
is(restart_with_path("\$libdir:$volume"), "$volume/tde_column:\$libdir:$volume", 'with the folder, that comes first');
unlike(log_since($node, $offset), qr/does not follow/, '... and nothing is said');
like(decoded($on, 'test_decoding')->{out}, qr/c4\[integer\]:9/, '... and decoding follows');
fails_with($node, q{SELECT pg_create_logical_replication_slot('ours', 'tde_column')},
  { state => '22023', message => qr/^"tde_column" is not an output plugin$/ }, 'the library is no output plugin by itself');

done_testing();
