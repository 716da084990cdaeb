# The core without its modules, with one of another version, and with one that cannot be loaded: what needs them says so, and nothing else changes.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

# The server looks for libraries in a folder of ours alone, which has no modules.
my $folder = PostgreSQL::Test::Utils::tempdir;
my $node = tde_node('modules', extension => 1,
  conf => "dynamic_library_path = '$folder'\ntde_column.passphrase_command = 'echo module-passphrase'\n");
chomp(my $server_include = `pg_config --includedir-server`);
chomp(my $libdir = `pg_config --pkglibdir`);
my $dlsuffix = -e "$libdir/plpgsql.dylib" ? '.dylib' : '.so';
foreach my $library (grep { !m{/(?:tde_column_|citus)} } glob("$libdir/*$dlsuffix"))
{
  symlink($library, "$folder/" . basename($library)) or die "could not make a link: $!";
}

sub build
{
  my ($source, $library, @options) = @_;
  system_or_bail('gcc', '-O1', '-shared', '-fPIC', "-I$server_include", "-I$FindBin::RealBin/../../src", @options, '-o', "$folder/$library$dlsuffix",
    "$FindBin::RealBin/../lib/$source");
  return;
}

$node->start;
is(log_since($node, 0) =~ /module/ ? 'told' : 'silent', 'silent', 'a server without modules starts, and nothing is said');

# ---- functions ----

my %calls = (
  audit    => [ '* FROM tde_audit()', "* FROM tde_discover('public')", "tde_internal.tde_foreign_values_in('plain_rows', 1)" ],
  ceremony => [ 'tde_wallet_split(2, 3)', "tde_wallet_open_share('x')", 'tde_wallet_forget_shares()' ],
  conversion => [ "CALL tde_rekey_table('pg_class')", "CALL tde_rekey_database()", "CALL tde_encrypt_column('plain_rows', 'a')",
    "CALL tde_take_over_column('plain_rows', 'a', 'upper(text)')" ],
  decryptions => [ 'tde_decryptions_reset()', 'tde_internal.tde_decryptions_info()', 'count(*) FROM tde.decryptions' ],
  import => [ "tde_open_envelope('fernet', 'x', 'y')", "tde_import_oracle_ddl('CREATE TABLE t (a DATE)')" ],
  masks => [ "tde_set_mask('pg_class', 'relname', 'null')", "tde_drop_mask('pg_class', 'relname')", "tde_internal.tde_for_column('x'::text, 'pg_class', 1::int2)" ],
  transfer => [ "tde_export_keys('a secret of some length')", "tde_export_keys('a secret of some length', true)", "tde_import_keys('x', 'y')", "tde_internal.tde_take_keys('x')" ],
  verify   => [ "tde_verify_table('pg_class')", 'tde_verify_database()' ],
  citus    => [ 'tde_internal.tde_hash_fingerprint()' ],
  catalog  => [ "tde_internal.tde_catalog_typmod('int4'::regtype, -1)" ]);

lines_of($node, 'CREATE TABLE plain_rows (id int, a text)');
foreach my $module (sort keys %calls)
{
  foreach my $call (@{ $calls{$module} })
  {
    fails_with(
      $node,
      $call =~ /^CALL/ ? $call : "SELECT $call",
      { state => '0A000',
        message => qr/^module "$module" of tde_column is not installed$/,
        detail  => qr/^This function is in the library "tde_column_$module", which the server does not find\.$/,
        hint    => qr/^Install it: Debian's package is "postgresql-${\$node->pg_version->major}-tde-column-$module", / },
      "$call without module $module");
  }
}

# Every module stands above; and so it is with each function of theirs, with whatever arguments.
my $functions = slurp_file("$FindBin::RealBin/../../src/functions/modules.c");
my %module_of;
$module_of{"tde_$2"} = $1 while $functions =~ /^MODULE_FUNCTION\((\w+), (\w+)\)/mg;
my %modules = reverse %module_of;
is(join(' ', sort keys %modules), join(' ', sort keys %calls), 'these are all modules');
my %left = %module_of;
foreach my $line (split /\n/, lines_of($node, q{
  SELECT p.prosrc, CASE WHEN p.prorettype = 'trigger'::regtype
      THEN format('CREATE TABLE triggered AS SELECT 1 AS a; CREATE TRIGGER t BEFORE UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION %s(); UPDATE triggered SET a = 2', p.oid::regproc)
      ELSE format('%s %s(%s)', CASE p.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT' END, p.oid::regproc, (
        SELECT string_agg(CASE WHEN t = 'pg_node_tree'::regtype THEN '(SELECT ev_action FROM pg_rewrite LIMIT 1)' WHEN t = 'anyelement'::regtype THEN '1'
                               ELSE format('%L::%s', CASE WHEN t = 'date'::regtype THEN '2000-01-01' WHEN t::regtype::text LIKE '%[]' THEN '{1}' ELSE '1' END, t::regtype) END,
                          ', ' ORDER BY n)
        FROM unnest(p.proargtypes) WITH ORDINALITY a (t, n))) END
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c' WHERE p.probin ~ 'tde_column' ORDER BY 1, 2}))
{
  my ($name, $call) = split /\|/, $line, 2;
  my $module = $module_of{$name} or next;
  delete $left{$name};
  fails_with($node, $call, { state => '0A000', message => qr/^module "$module" of tde_column is not installed$/ }, "$name of module $module");
}
is(join(' ', keys %left), 'tde_convert_rows', 'all of them, but for one that version 0.1.0 had in SQL');

# ---- the rest ----

is(attempt($node, 'CREATE DATABASE another')->{state}, '', 'a database');
is(attempt($node, 'CREATE EXTENSION tde_column', db => 'another')->{state}, '', 'CREATE EXTENSION needs no module');
is(attempt($node, "SELECT tde_create_type('macaddr', 'public')", db => 'another')->{state}, '', 'nor does a type of a user');

lines_of($node, "SELECT tde_wallet_create('module-passphrase')");
is(attempt($node, "CREATE TABLE t (id int, a encrypted_text(aes256,nosalt)); CREATE INDEX ON t (a);
  INSERT INTO t VALUES (1, 'one'), (2, 'two')")->{state}, '', 'encrypted columns need no module');
is(lines_of($node, "SELECT id FROM t WHERE a = 'two'"), '2', 'nor do queries');
is($node->safe_psql('postgres', 'SHOW tde_column.share_timeout'), '10min', 'settings of modules are there');

my $since = log_offset($node);
$node->append_conf('postgresql.conf', 'tde_column.track_decryptions = on');
$node->reload;
$node->wait_for_log(qr/module "decryptions" of tde_column was missing when the server started/, $since);
is(lines_of($node, 'SHOW tde_column.track_decryptions'), 'off', 'what is not counted is not said to be');
$node->restart;
like(log_since($node, $since), qr/WARNING:  module "decryptions" of tde_column was missing when the server started/, 'a server whose configuration says so starts, with a WARNING');
is(lines_of($node, "SELECT id FROM t WHERE a = 'two'"), '2', 'and works');

my $told = attempt($node, q{SET tde_column.transparent_catalog = on; SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'a';
  SELECT count(*) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0});
is($told->{state}, '', 'transparent catalogs without their module are no error');
is($told->{out}, "encrypted_text(aes256,nosalt,gcm)\n2", 'but catalogs show what is there');
is(() = $told->{err} =~ /WARNING: .*catalogs show encrypted types, although "tde_column\.transparent_catalog" is on\nDETAIL:  Module "catalog" of tde_column is missing\./g, 1,
  'and the session is told so, once');

# Masks that are there without their module: nobody sees more, and nobody stores what they would show later.
lines_of($node, q{CREATE ROLE alice LOGIN; GRANT SELECT, INSERT, UPDATE ON t TO alice; ALTER TABLE t ADD b encrypted_text;
  SET allow_system_table_mods = on; ALTER DATABASE postgres SET tde_column.decrypt_role = 'pg_monitor'});
is(attempt($node, 'UPDATE t SET b = a', user => 'alice')->{state}, '', 'without masks, values go from column to column');
fails_with($node, q{SECURITY LABEL FOR tde_column ON COLUMN t.b IS 'clear TO alice'}, { state => '22023' }, 'no mask is set');
lines_of($node, q{INSERT INTO pg_seclabel VALUES ('t'::regclass, 'pg_class'::regclass, 3, 'tde_column', 'clear TO alice')});
is(attempt($node, 'SELECT b FROM t', user => 'alice')->{state}, '42501', 'clear shows nothing');
is(attempt($node, 'SELECT count(b) FROM t WHERE b = a', user => 'alice')->{out}, '2', 'queries that show nothing run');
fails_with($node, $_, { state => '0A000', message => qr/^cannot change rows while columns have masks, without a module$/, hint => qr/^Install the module "masks"/ }, $_, user => 'alice')
  foreach 'UPDATE t SET b = a', 'INSERT INTO t SELECT id + 5, a, a FROM t', 'WITH x AS (UPDATE t SET b = a RETURNING id) SELECT * FROM x', 'DO $$ BEGIN UPDATE t SET b = a; END $$';
lines_of($node, 'ALTER DATABASE postgres RESET tde_column.decrypt_role');
lines_of($node, 'DELETE FROM pg_seclabel');

# ---- of another version ----

build('module_of_yesterday.c', 'tde_column_transfer', '-DTDE_VERSION="0.0.1"');
fails_with(
  $node,
  "SELECT tde_export_keys('a secret of some length')",
  { state => '55000', message => qr/^module "transfer" of tde_column is of version 0\.0\.1$/, detail => qr/^tde_column itself is of version \S+\.$/,
    hint => qr/^Install both of one version, and restart the server\.$/ },
  'a module of another version');
write_bytes("$folder/tde_column_ceremony$dlsuffix", 'no library');
$node->restart;
like(log_since($node, 0), qr/WARNING:  module "ceremony" of tde_column is not loaded: could not load library/, 'a server with a broken module starts, with a WARNING');
is(lines_of($node, "SELECT a FROM t WHERE id = 1"), 'one', 'and works');

# ---- where Citus is ----

build('citus_settings.c', 'citus');
my $offset = log_offset($node);
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$folder/citus, tde_column'\n");
$node->restart;
like(log_since($node, $offset), qr/WARNING:  module "citus" of tde_column is missing, and Citus is here\n.*DETAIL:  Statements on tables with encrypted columns/,
  'Citus without its module: the server starts, with a WARNING');
is(lines_of($node, 'SELECT count(*) FROM t'), '2', 'tables that Citus does not distribute can be used');
attempt($node, "SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid oid, partmethod \"char\", partkey text, colocationid int);
  CREATE TABLE plain (id int); INSERT INTO pg_catalog.pg_dist_partition VALUES ('t'::regclass, 'h', NULL, 1), ('plain'::regclass, 'h', NULL, 1)");
my $refused = {
  state   => '0A000',
  message => qr/^cannot use table "t", which Citus distributes, without a module$/,
  detail  => qr/^It has encrypted columns, and module "citus" of tde_column was missing when the server started\.$/,
  hint    => qr/^Install the module "citus" of tde_column, and restart the server\.$/ };
fails_with($node, $_, $refused, $_)
  foreach 'SELECT count(*) FROM t', "INSERT INTO t VALUES (3, 'x')", 'SELECT 1 WHERE EXISTS (SELECT FROM t)', "UPDATE t SET id = 4", 'WITH x AS (SELECT a FROM t) SELECT count(*) FROM x';
is(lines_of($node, 'SELECT count(*) FROM plain'), '0', 'a plain table that Citus distributes can be used');

done_testing();
