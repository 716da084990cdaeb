# tde_audit() and tde.status: each state that should be told is made, seen, and undone.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use POSIX qw(mkfifo);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

# What the server's log holds of statements, and who is on which search path, is part of the audit: nothing that init() sets is in the way.
my $node = tde_node(
  'audit', extension => 1, wallet => 0, init => [ allows_streaming => 1 ], conf => q{
shared_preload_libraries = 'tde_column, pg_stat_statements'
session_preload_libraries = 'auto_explain'
pg_stat_statements.track_utility = off
log_statement = none
log_min_error_statement = panic
});
my $path   = wallet_path($node);
my $folder = dirname($path);
$node->start;
lines_of($node, 'CREATE ROLE app LOGIN');

# What is told of a topic: severity, object, finding.
sub told
{
  my ($topic, %opts) = @_;
  my $before = $opts{within} ? "BEGIN; $opts{within};" : '';
  return attempt($opts{node} // $node, "\\set QUIET on\n$before SELECT severity, object, finding FROM tde_audit() WHERE topic = '$topic'", %opts)->{out};
}

sub hint
{
  my ($topic) = @_;
  return lines_of($node, "SELECT hint FROM tde_audit() WHERE topic = '$topic'");
}

my $status = 'SELECT wallet_status, wallet_file, file_present, file_matches_memory, master_keys FROM tde.status';

# No wallet yet.

is(told('wallet file'), 'error|tde_column.wallet_file|no wallet file is configured', 'no wallet file is configured');
like(told('wallet'), qr/^warning\|\|closed: encrypted values can be neither read nor written$/, 'and the wallet is closed');
is(told('master keys'), 'notice||cannot be told while the wallet is closed', 'master keys cannot be told');
is(lines_of($node, $status), 'NOT_AVAILABLE||||', 'the status says so');
fails_with(
  $node,
  "BEGIN; CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('x')",
  { state => 'TDE01', hint => qr/^No wallet file is configured\. Set tde_column\.wallet_file and reload the configuration\.$/ },
  'a value without a wallet');
set_conf($node, 'tde_column.wallet_file' => $path);
is(told('wallet file'), "error|$path|the file does not exist", 'a file that does not exist');
like(hint('wallet file'), qr/only if this server never had one/, 'which is made only if it never was there');
is(lines_of($node, $status), "CLOSED|$path|f||", 'in the status');

# Everything as it should be.

lines_of($node, "SELECT tde_wallet_create('audit-passphrase')");
like(told('passphrase command'), qr/^notice\|tde_column\.passphrase_command\|not configured/, 'no passphrase command');
set_conf($node, 'tde_column.passphrase_command' => 'echo audit-passphrase');
is(lines_of($node, "SELECT topic, severity, finding FROM tde_audit() WHERE severity <> 'ok'"), '', 'nothing is wrong');
is(
  lines_of($node, 'SELECT string_agg(topic, $$, $$) FROM tde_audit()'),
  'captured names, columns, constants, conversions, data keys, freezing, index salts, key wall, master keys, order, passphrase command, plain columns, policy, preloading, row capture, '
    . 'schema privileges, search path, sent in clear, statement log, statement statistics, stored in clear, version, wallet, wallet file',
  'and all topics say so');
is(lines_of($node, $status), "OPEN|$path|t|t|1", 'the status with an open wallet');
is(
  lines_of($node, 'SELECT library_version = extension_version, library_version = tde_version(), preloaded, data_keys, encrypted_columns,
                          unfinished_conversions, encryptions FROM tde.status'),
  't|t|t|3|0|0|0',
  'versions and counts');
lines_of($node, "CREATE TABLE counted (a encrypted_text); INSERT INTO counted SELECT i::text FROM generate_series(1, 10) i");
is(lines_of($node, 'SELECT encrypted_columns, encryptions FROM tde.status'), '1|10', 'a column and ten values more');
lines_of($node, 'CREATE DATABASE other');
is(lines_of($node, 'CREATE EXTENSION tde_column; SELECT encrypted_columns, encryptions FROM tde.status', db => 'other'),
  '0|10', 'encryptions are those of the server');

# Versions, preloading (005_no_preload.pl), privileges on the schema.

is(
  told('version', within => "UPDATE pg_extension SET extversion = '0.0.9' WHERE extname = 'tde_column'"),
  'error|extension|the library is of version 0.2.0, the extension in this database of 0.0.9',
  'another version of the extension');
my $shared = 'CREATE SCHEMA "Sha red"; CREATE ROLE maker; GRANT CREATE ON SCHEMA "Sha red" TO maker, PUBLIC; CREATE SCHEMA own AUTHORIZATION maker';
is(told('schema privileges', within => $shared) =~ s/\|.*//r, 'ok', 'others may create in a schema that is on no path');
is(
  told('schema privileges', within => "$shared; ALTER ROLE app SET search_path = public, own, \"Sha red\""),
  'warning|"Sha red"|on a search path (role app), and these may make objects in it, which statements of others then use: PUBLIC, maker',
  'or in one that is, everybody');
is(
  told('schema privileges', within => "$shared; REVOKE CREATE ON SCHEMA \"Sha red\" FROM PUBLIC; ALTER ROLE app SET search_path = public, own, \"Sha red\"") =~ s/\|.*//r,
  'notice', 'or some');

# The file.

sub with_mode
{
  my ($object, $mode, $back, $expected, $name) = @_;
  chmod $mode, $object or die "chmod: $!";
  is(told('wallet file'), $expected, $name);
  chmod $back, $object;
  return;
}

with_mode($path, 0640, 0600, "error|$path|others may access the file: its mode is 0640", 'readable by the group');
with_mode($path, 0602, 0600, "error|$path|others may access the file: its mode is 0602", 'writable by the world');
with_mode($path, 0000, 0600, "error|$path|the file cannot be read: its mode is 0000", 'not readable');
with_mode($folder, 0770, 0700, "error|$path|others can replace the file: the mode of its folder is 0770", 'a folder for the group');
with_mode($folder, 0000, 0700, "error|$path|the file cannot be looked at: Permission denied", 'a folder that is closed');
with_mode($folder, 01777, 0700, 'ok||it is there, belongs to the server alone, and is the one that was opened', 'a folder with the sticky bit');
with_mode($folder, 0755, 0700, 'ok||it is there, belongs to the server alone, and is the one that was opened', 'a folder that others may read');

my $good = read_bytes($path);
write_bytes($path, "$good\0");
is(told('wallet file'), "warning|$path|the file is not the one that is open, so keys cannot be changed", 'another file in its place');
is(lines_of($node, $status), "OPEN|$path|t|f|1", 'in the status');
write_bytes($path, $good);
rename $path, "$path.good";
is(told('wallet file'), "error|$path|the file does not exist; its keys are in memory only", 'removed while it is open');
like(hint('wallet file'), qr/^Put a copy of this wallet there before the server stops\. Do not make a new one/, 'and how to go on');
is(lines_of($node, $status), "OPEN|$path|f||1", 'in the status');
mkdir $path;
is(told('wallet file'), "error|$path|it is not a regular file", 'a folder in its place');
rmdir $path;
mkfifo($path, 0600) or die "mkfifo: $!";
is(told('wallet file'), "error|$path|it is not a regular file", 'a pipe in its place, at which nobody waits');
unlink $path;
rename "$path.good", $path;
is(told('wallet file'), 'ok||it is there, belongs to the server alone, and is the one that was opened', 'put back');
my $inside = $node->data_dir . '/tde.p12';
write_bytes($inside, $good);
set_conf($node, 'tde_column.wallet_file' => $inside);
is(told('wallet file'), "warning|$inside|the file is inside the data directory, so base backups hold it beside the data that it protects",
  'inside the data directory');
unlink $inside;
set_conf($node, 'tde_column.wallet_file' => $path);
lines_of($node, 'SELECT tde_wallet_close()');
like(told('wallet'), qr/^warning\|\Q$path\E\|closed by tde_wallet_close\(\)/, 'closed');
$node->restart;
like(told('wallet'), qr/^notice\|\Q$path\E\|closed until a key is needed/, 'not opened yet by the command');
is(lines_of($node, 'SELECT wallet_status FROM tde.status'), 'CLOSED', 'looking does not open it');
lines_of($node, 'SELECT tde_wallet_open()');

# Keys.

my $old = lines_of($node, 'SELECT current_master_key FROM tde.wallet');
lines_of($node, 'SELECT tde_rotate_master_key()', db => 'other');
is(told('master keys'), "warning|$old|retired, but still wraps data keys of this database: 3", 'after a rotation elsewhere');
is(hint('master keys'), 'SELECT tde_rewrap_keys();', 'what to do');
lines_of($node, "SELECT tde_create_key('erased', true); SELECT tde_rewrap_keys()");
is(told('master keys'), 'ok||the current one wraps the data keys of this database', 'done; the key of an erasable one is as it should be');

my $master = lines_of($node, 'SELECT current_master_key FROM tde.wallet');
rename $path, "$path.good";
lines_of($node, 'SELECT tde_wallet_close()');
foreign_wallet($path, 'audit-passphrase');
lines_of($node, "SELECT tde_wallet_open('audit-passphrase')");
like(told('master keys'), qr/^error\|\Q$master\E\|not in the wallet, but needed for data keys of this database: 3$/m, 'a wallet of another server');
rename "$path.good", $path;
lines_of($node, "SELECT tde_wallet_open('audit-passphrase', confirm => 'forget 1 master key')");

# Times and counts that no test can wait for.
my $older = q{CREATE OR REPLACE VIEW tde.keys AS SELECT k.slot, k.name, k.kind::text, k.version, 'active' AS state,
  CASE k.slot WHEN 0 THEN timestamptz '2001-02-03' ELSE now() END AS created, k.master_key,
  5::int8 AS encryptions, k.id, k.uuid, k.description,
  CASE k.slot WHEN -1 THEN 1099511627777 ELSE 5 END AS total_encryptions
  FROM (SELECT slot, CASE slot WHEN 0 THEN 'default' WHEN -1 THEN 'catalog' ELSE name END AS name, CASE kind WHEN 'm' THEN 'mac' ELSE 'other' END AS kind,
    version, master_key, id, uuid, description FROM tde.data_keys) AS k};
is(
  told('data keys', within => $older),
  "warning|catalog (other), version 1|has encrypted 1099511627777 of the 1099511627776 values that a key may\n"
    . 'notice|default (mac)|its newest version is of 2001-02-03',
  'a key that is old, and one that has encrypted much');
is(
  told('master keys', within => q{CREATE OR REPLACE VIEW tde.master_keys AS
    SELECT id, state, timestamptz '2001-02-03' AS created, backed_up FROM tde_internal.tde_master_key_list() WHERE state = 'current'
    UNION ALL SELECT id, state, created, backed_up FROM tde_internal.tde_master_key_list() WHERE state <> 'current'}),
  "notice|$master|current since 2001-02-03",
  'an old master key');
my $made = q{CREATE OR REPLACE VIEW tde.keys AS SELECT k.slot, 'name'::text AS name, k.kind::text, k.version, 'active' AS state, now() - interval '%s' AS created, k.master_key,
  5::int8 AS encryptions, k.id, k.uuid, k.description, 5::int8 AS total_encryptions FROM tde.data_keys k WHERE k.slot = 0};
foreach ([ '0', '364 days', 'ok' ], [ '0', '367 days', 'notice' ], [ '90d', '89 days', 'ok' ], [ '90d', '91 days', 'warning' ], [ '36h', '35 hours', 'ok' ], [ '36h', '37 hours', 'warning' ])
{
  set_conf($node, 'tde_column.rotate_after', $_->[0]);
  like(told('data keys', within => sprintf $made, $_->[1]), qr/^$_->[2]\|/, "rotate_after = $_->[0], a key of $_->[1]");
}
set_conf($node, 'tde_column.rotate_after', '0');
my $crowd = q{CREATE OR REPLACE VIEW tde.master_keys AS SELECT * FROM (
    SELECT id, state, created, backed_up FROM tde_internal.tde_master_key_list()
    UNION ALL SELECT gen_random_uuid(), 'erasable', now(), now() FROM generate_series(1, 256)) k LIMIT %d};
is(told('master keys', within => sprintf($crowd, 191)), 'ok||the current one wraps the data keys of this database', 'many master keys');
like(told('master keys', within => sprintf($crowd, 192)), qr/^notice\|\|192 of the 256 that a wallet has room for, 1\d\d of them of erasable keys$/, 'more of them');
like(told('master keys', within => sprintf($crowd, 256)), qr/^warning\|\|256 of the 256 that a wallet has room for, 2\d\d of them of erasable keys$/, 'as many as there is room for');
lines_of($node, "SELECT tde_destroy_key('erased', 'destroy erased')");
is(
  told('data keys'),
  'notice|erased|destroyed: what is still encrypted under it cannot be read any more',
  'one that was destroyed');

# Columns.

lines_of(
  $node, q{
CREATE SCHEMA app;
CREATE TABLE app.weak (a encrypted_text(nomac), "B b" encrypted_text(nomac,nosalt,cbc), c encrypted_text('3des168'), d encrypted_text, e text);
CREATE TABLE app.parted (a encrypted_int4(nosalt)) PARTITION BY LIST (a);
CREATE TABLE app.part PARTITION OF app.parted DEFAULT;
CREATE TYPE app.pair AS (a encrypted_text(nomac), b text);
CREATE TEMP TABLE temporary (a encrypted_text(nosalt));
ALTER EVENT TRIGGER tde_column_ddl DISABLE;
CREATE TABLE app.bare AS SELECT 'x'::encrypted_text AS a;
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
});
is(
  told('columns'),
  join("\n",
    'warning|app.bare|declared without modifiers, and encrypted as constants are, equal values alike: a',
    'warning|app.pair|without a MAC, so that changed bytes go unnoticed: a',
    'warning|app.weak|under triple DES, of which NIST allows no new use: c',
    'warning|app.weak|without a MAC, so that changed bytes go unnoticed: a, "B b"',
    'notice|app.parted|without salt, so that files tell which values are equal: a',
    'notice|app.weak|in clear, while all columns before are encrypted: e',
    'notice|app.weak|without salt, so that files tell which values are equal: "B b"'),
  'columns, those of a table together');
lines_of($node, 'DROP SCHEMA app CASCADE');

# Conversions.

lines_of($node, "CREATE TABLE plain (id int PRIMARY KEY, a text); INSERT INTO plain SELECT i, 'x' FROM generate_series(1, 10) i");
lines_of($node, "CALL tde_encrypt_column('plain', 'a', online => true)");
lines_of($node, 'CREATE TABLE ranked (a encrypted_text(aes128,salt,gcm) UNIQUE, b encrypted_int4(aes128,salt,gcm,unordered) UNIQUE)');
is(told('order'), 'notice|public.ranked|indexes tell the order of all values of a column, salted or not: public.ranked_a_key (a)', 'indexes tell an order');
is(hint('order'), 'Unless something needs <, ORDER BY or LIKE by index: ALTER TABLE public.ranked ALTER a TYPE encrypted_text(aes128,salt,gcm,unordered);', '... with what helps');
lines_of($node, hint('order') =~ s/^.*?: //r);
is(told('order'), 'ok||no index tells the order of encrypted values', '... which it does');
lines_of($node, 'DROP TABLE ranked');
is(told('conversions'), 'warning|public.plain|column a is still being converted (phase copy)', 'an unfinished conversion');
is(lines_of($node, 'SELECT unfinished_conversions FROM tde.status'), '1', 'in the status');
lines_of($node, "CALL tde_abort_conversion('plain', 'a')");
is(told('conversions'), 'ok||none is unfinished', 'which was undone');

# Freezing.

lines_of($node, 'CREATE TABLE frozen (a encrypted_text PRIMARY KEY, b int UNIQUE); CREATE TABLE plain_index (a encrypted_text, b int UNIQUE)');
my $aged = "UPDATE pg_class SET relfrozenxid = '3000000000' WHERE oid IN ('frozen'::regclass, 'plain_index'::regclass)";
is(told('freezing', within => $aged), 'ok||no table waits for the wallet', 'an old table where a command opens the wallet');
set_conf($node, 'tde_column.passphrase_command' => '');
like(
  told('freezing', within => $aged),
  qr/\Awarning\|public\.frozen\|\d{10} transactions since it was frozen, .* because of index public\.frozen_pkey\z/,
  'where people open it: tables with an index on an encrypted column');
is(told('freezing'), 'ok||no table waits for the wallet', 'but not before they are old');
set_conf($node, 'tde_column.passphrase_command' => 'echo audit-passphrase');

# Search paths, which the operators of users' types need.

my $mood = q{CREATE SCHEMA "Odd, one"; CREATE TYPE "Odd, one".mood AS ENUM ('ok'); SELECT tde_create_type('"Odd, one".mood')};
lines_of(
  $node, q{
CREATE ROLE quoted LOGIN;
CREATE ROLE nobody NOLOGIN;
ALTER ROLE app SET search_path = app, pg_temp;
ALTER ROLE nobody SET search_path = app;
ALTER ROLE quoted SET search_path = "Odd, one", public;
ALTER ROLE quoted IN DATABASE other SET search_path = app;
} . $mood);
is(told('search path'), q(ok||all have the schemas of users' encrypted types that are used with them), 'a type that no column has');
lines_of($node, $_, db => 'other') foreach $mood, 'CREATE TABLE diary (m "Odd, one".encrypted_mood)';
lines_of($node, 'CREATE TABLE diary (m "Odd, one".encrypted_mood[]); ALTER DATABASE postgres SET search_path = "Odd, one"');
my $lacks = 'lacks schema "Odd, one": comparisons with columns of type "Odd, one".encrypted_mood take the operators of the base type, and no index';
is(told('search path'), "warning|role app|search_path = app, pg_temp $lacks", 'of a role');
is(told('search path', db => 'other') =~ s/\|search_path.*//gr, "warning|role app\nwarning|role quoted in database other\nwarning|server", 'of a role in a database, and of the server');
lines_of($node, 'ALTER ROLE app RESET search_path; ALTER DATABASE postgres SET search_path = app');
is(told('search path') =~ s/:.*//r, 'warning|database postgres|search_path = app lacks schema "Odd, one"', 'of a database');
lines_of($node, 'ALTER DATABASE postgres SET search_path = "Odd, one", public; ALTER ROLE quoted IN DATABASE other RESET search_path');
is(told('search path') =~ s/\|.*//r, 'ok', q(which stands for the server's));
lines_of($node, q{
CREATE FUNCTION reads() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN (SELECT count(*) FROM public.diary); END $$;
CREATE FUNCTION reads_not() RETURNS bigint LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT 1';
CREATE FUNCTION finds() RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, "Odd, one" AS $$ BEGIN RETURN (SELECT count(*) FROM public.diary); END $$});
is(told('search path'), "warning|function \"Odd, one\".reads()|search_path = pg_catalog, pg_temp $lacks", 'of a function that names such a table');
lines_of($node, 'DROP TABLE diary; ALTER DATABASE postgres RESET search_path');

# Logging.

lines_of(
  $node, q{
ALTER ROLE app SET log_statement = 'ALL';
ALTER ROLE app SET log_min_duration_statement = '250ms';
ALTER ROLE quoted SET log_statement = 'ddl';
ALTER ROLE quoted SET log_min_duration_statement = -1;
});
is(
  told('statement log'),
  "warning|role app|log_min_duration_statement = 250ms: statements that take so long are logged with their constants\n"
    . "warning|role app|log_statement = ALL: statements are logged with their constants\n"
    . 'notice|role quoted|log_statement = ddl: constants of defaults, CHECK constraints and partition bounds are logged',
  'settings of roles that log statements');
lines_of($node, 'ALTER ROLE app RESET ALL; ALTER ROLE quoted RESET ALL');
my %logging = (
  'log_statement'                     => 'mod',
  'log_min_duration_statement'        => '0',
  'log_min_duration_sample'           => '100',
  'log_transaction_sample_rate'       => '0.5',
  'log_parameter_max_length_on_error' => '-1',
  'debug_print_plan'                  => 'on',
  'auto_explain.log_min_duration'     => '0');
set_conf($node, %logging);
is(told('statement log') =~ s/:.*//gr, join("\n", map { "warning|server|$_ = $logging{$_}" } sort keys %logging), 'settings of the server');
is(
  told('statement log', within => 'SET log_statement = none; SET log_min_duration_statement = -1') =~ s/:.*//gr,
  join("\n", map { "warning|server|$_ = $logging{$_}" } sort keys %logging),
  'which the session does not hide');
set_conf($node, 'pg_stat_statements.track_utility' => 'on');
like(told('statement statistics'), qr/^warning\|server\|pg_stat_statements\.track_utility = on: .* in clear$/, 'pg_stat_statements keeps constants');
lines_of($node, q{DO $$BEGIN PERFORM 'in-the-file-of-statements'::encrypted_text; END$$});
ok((grep { -f && index(read_bytes($_), 'in-the-file-of-statements') >= 0 } glob($node->data_dir . '/pg_stat_tmp/*')), 'as it does');

# Others that keep values.

is(told('row capture'), 'ok||no trigger, no job and no extension that is known here takes values elsewhere', 'nothing captures rows');
lines_of(
  $node, q{
CREATE EXTENSION tcn;
CREATE SCHEMA pgq;
CREATE FUNCTION pgq.logutriga() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM to_jsonb( NEW ) - 'id'; RETURN NEW; END $$;
CREATE FUNCTION history() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO old_rows SELECT OLD.*; RETURN NEW; END $$;
CREATE TABLE captured (a encrypted_text(nosalt) PRIMARY KEY);
CREATE TABLE no_key (a encrypted_text);
CREATE TABLE not_encrypted (a text PRIMARY KEY);
} . join ' ', map { my $table = $_; map { "CREATE TRIGGER \"t $_\" AFTER UPDATE ON $table FOR EACH ROW EXECUTE FUNCTION $_();" }
  qw(triggered_change_notification pgq.logutriga audit history) } qw(captured no_key not_encrypted));
is(
  told('row capture'),
  join("\n",
    'warning|public.captured|trigger "t pgq.logutriga", function pgq.logutriga(): rows are put into tables of events in clear',
    'warning|public.captured|trigger "t triggered_change_notification", function public.triggered_change_notification(): '
      . 'values of the encrypted primary key are sent in clear to all who listen',
    'warning|public.no_key|trigger "t pgq.logutriga", function pgq.logutriga(): rows are put into tables of events in clear',
    map { "notice|public.$_|trigger \"t audit\", function public.audit(): "
        . 'rows become text or JSON, which is in clear unless it is stored in an encrypted column' } qw(captured no_key)),
  'triggers on tables with encrypted columns');
lines_of($node, 'DROP TABLE captured, no_key, not_encrypted');
my $installed = q{INSERT INTO pg_extension SELECT (1000000 + n)::oid, name, extowner, extnamespace, extrelocatable, extversion
  FROM pg_extension, (VALUES (1, 'powa'::name), (2, 'pgpool_adm')) AS v (n, name) WHERE extname = 'tde_column'};
is(told('row capture', within => $installed) =~ s/,.*//gr,
  "warning|extension pgpool_adm|the query cache of pgpool-II\nwarning|extension powa|what pg_qualstats keeps is copied into its tables", 'extensions');
like(told('row capture', within => 'ALTER ROLE app SET pg_qualstats.enabled = on'),
  qr/^warning\|role app\|pg_qualstats keeps constants of conditions/, 'pg_qualstats');

# A standby whose wallet is a copy of before a rotation.

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('audit_standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
own_wallet($standby);
send_wallet($node, $standby);
$standby->start;
# what ALTER SYSTEM has set for the primary came with the backup
set_conf($standby, 'tde_column.wallet_file' => wallet_path($standby));
lines_of($standby, 'SELECT tde_wallet_open()');
is(told('master keys', node => $standby), 'ok||the current one wraps the data keys of this database', 'a standby with a copy of the wallet');
my $newer = lines_of($node, 'SELECT tde_rotate_master_key()');
$node->wait_for_catchup($standby);
is(told('master keys', node => $standby), "error|$newer|not in the wallet, but needed for data keys of this database: 4",
  'and one whose wallet lacks the newest master key, although it is open');
is(lines_of($standby, 'SELECT wallet_status, file_matches_memory, master_keys FROM tde.status'), 'OPEN|t|2', 'while its file and its memory are the same');
$standby->stop;

# Who may look.

lines_of($node, 'CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor; CREATE ROLE auditor LOGIN; GRANT EXECUTE ON FUNCTION tde_audit() TO auditor');
my $all = lines_of($node, 'SELECT * FROM tde_audit()');
is(lines_of($node, 'SET ROLE monitor; SELECT * FROM tde_audit()'), $all, 'pg_monitor sees the same as a superuser');
is(lines_of($node, 'SET ROLE auditor; SELECT * FROM tde_audit()'), $all, 'and so does whoever may call it, without any other privilege');
is(lines_of($node, 'SET ROLE monitor; SELECT wallet_status, tde_version() = library_version FROM tde.status'), 'OPEN|t', 'pg_monitor and the status');
fails_with($node, 'SELECT * FROM tde_audit()', { state => '42501', message => qr/function tde_audit$/ }, 'not for everybody', user => 'app');
fails_with($node, 'SELECT * FROM tde.status', { state => '42501', message => qr/view status$/ }, 'nor the status', user => 'app');
fails_with($node, 'SELECT tde_version()', { state => '42501', message => qr/function tde_version$/ }, 'nor the version', user => 'app');
fails_with($node, 'SELECT tde_internal.tde_audit_wallet()', { state => '42501' }, 'pg_monitor and a part of it', user => 'monitor');

$node->stop;
done_testing();
