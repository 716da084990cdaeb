# The wallet file: every way in which it can be wrong, what works without it, who may touch it, and what the log says.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node    = tde_node('wallet', wallet => 0);
my $path    = wallet_path($node);
my $folder  = dirname($path);
my $damaged = qr/^could not open wallet file "\Q$path\E": wrong passphrase or damaged wallet$/;

$node->start;

my $result = attempt($node, 'CREATE EXTENSION tde_column');
is($result->{state},                                      '',  'the extension can be created without a wallet');
is(lines_of($node, 'SELECT count(*) FROM tde.data_keys'), '0', 'and has no data keys then');

# No wallet file is configured.

fails_with(
  $node,
  "SELECT tde_wallet_create('x-passphrase')",
  {
    state   => 'TDE02',
    message => qr/^no wallet file is configured$/,
    hint    => qr/^Set tde_column\.wallet_file to a path outside/
  },
  'create without a setting');
fails_with(
  $node,
  "SELECT tde_wallet_open('x-passphrase')",
  { state => 'TDE02', message => qr/^no wallet file is configured$/ },
  'open without a setting');
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'NOT_AVAILABLE', 'the view says that there is none');
fails_with(
  $node,
  "ALTER SYSTEM SET tde_column.wallet_file = 'wallet.p12'",
  {
    state   => '22023',
    message => qr/invalid value for parameter "tde_column\.wallet_file"/,
    detail  => qr/^"wallet\.p12" is not an absolute path\.$/
  },
  'a relative path');

# There is none yet.

set_conf($node, 'tde_column.wallet_file' => "$folder/missing/tde.p12");
fails_with(
  $node,
  "SELECT tde_wallet_create('x-passphrase')",
  {
    state   => '58P01',
    message => qr/^could not create wallet file .*: No such file or directory$/,
    hint    => qr/^The folder must exist/
  },
  'create in a folder that does not exist');

set_conf($node, 'tde_column.wallet_file' => $path);
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'CLOSED', 'the view says that it is closed');
fails_with(
  $node,
  "SELECT tde_wallet_open('x-passphrase')",
  {
    state   => 'TDE02',
    message => qr/^could not open wallet file "\Q$path\E": No such file or directory$/,
    hint    => qr/^Put the wallet back there, from its backup/
  },
  'open a wallet that does not exist');

# Making one.

fails_with(
  $node,
  "SELECT tde_wallet_create('')",
  { state => '22023', message => qr/^passphrase must not be empty$/ },
  'an empty passphrase');
fails_with(
  $node,
  "SELECT tde_wallet_create(repeat('x', 1024))",
  { state => '22023', message => qr/^passphrase must be shorter than 1024 bytes$/ },
  'a passphrase that is too long');
is(wallet_folder_files($node), '', 'nothing was written by those failures');

my $generated = lines_of($node, 'SELECT tde_wallet_create()');
like($generated, qr/^[0-9a-f]{64}$/, 'a generated passphrase has 64 hexadecimal digits');
is(sprintf('%04o', (stat $path)[2] & 07777),         '0600',    "the file's mode is 0600");
is(wallet_folder_files($node),                       'tde.p12', 'no temporary file is left behind');
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'OPEN',    'creating it opens it');
is(lines_of($node, 'SELECT slot, kind FROM tde.data_keys ORDER BY slot'),
  "-2|h\n-1|c\n0|m", 'and makes the first data keys of the database');
lines_of($node, 'SELECT tde_wallet_close()');
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'CLOSED', 'closed');
lines_of($node, "SELECT tde_wallet_open('$generated')");
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'OPEN', 'the generated passphrase opens it');

# Before 3.4 the command does not know PBMAC1, but reads on if it is not to verify it.
my $knows = (run_command([ 'openssl', 'version' ]))[0] =~ /^OpenSSL 3\.(\d+)/ && $1 < 4 ? 0 : 1;
my @info  = ('openssl', 'pkcs12', '-info', '-in', $path, '-nodes', $knows ? () : '-nomacver');
my ($info_out, $info_err) = run_command([ @info, '-passin', "pass:$generated" ]);
is($?, 0, 'openssl pkcs12 -info reads it') or diag($info_err);
run_command([ @info, '-passin', 'pass:wrong' ]);
isnt($?, 0, 'openssl pkcs12 -info refuses it with another passphrase');

# The iterations of a build for users.  test/check runs the others on one with few of them, which says so.
my $users = $ENV{USERS_INSTALL} ? tde_node('users', install => $ENV{USERS_INSTALL}) : $node;
if ($users != $node)
{
  $users->start;
  lines_of($users, "CREATE EXTENSION tde_column; SELECT tde_wallet_create('$generated')");
  like(slurp_file($node->logfile), qr/WARNING:  this is a build of tde_column for its tests.*\n.*DETAIL:  1000 iterations/, 'a build for tests says what it is');
}
unlike(slurp_file($users->logfile), qr/build of tde_column for its tests/, 'a build for users is none');
$info[4] = wallet_path($users);
($info_out, $info_err) = run_command([ @info, '-passin', "pass:$generated" ]);
like($info_err, qr/PBES2, PBKDF2, AES-256-CBC, Iteration 600000, PRF hmacWithSHA256/, 'it is encrypted as documented');
like($info_err, $knows ? qr/MAC: PBMAC1 using PBKDF2, Iteration 600000/ : qr/MAC: PBMAC1/, 'and so is its MAC');
$users->stop if $users != $node;

# Data for what follows.  The unencrypted column has other values at every ANALYZE.

lines_of(
  $node, q{
CREATE TABLE card (
  id int PRIMARY KEY,
  holder encrypted_text(aes256,salt),
  amount encrypted_numeric(10,2),
  plain int);
INSERT INTO card SELECT i, 'holder ' || i, i * 1.25, i FROM generate_series(1, 20) i;
ANALYZE card;
});
my $all_rows = lines_of($node, 'SELECT * FROM card ORDER BY id');
like($all_rows, qr/^7\|holder 7\|8\.75\|7$/m, 'values can be read');

# Over an existing one.

my $good_bytes = read_bytes($path);
fails_with(
  $node,
  "SELECT tde_wallet_create('other-passphrase')",
  {
    state   => '58P02',
    message => qr/^wallet file "\Q$path\E" already exists$/,
    detail  => qr/never replaced/,
    hint    => qr/^Open it with tde_wallet_open\(\)/
  },
  'create over an existing wallet');
ok(read_bytes($path) eq $good_bytes, 'the existing wallet is unchanged');
is(wallet_folder_files($node),                        'tde.p12', 'and alone');
is(lines_of($node, 'SELECT * FROM card ORDER BY id'), $all_rows, 'the open wallet stays as it was');

# Wrong passphrase.

fails_with($node, "SELECT tde_wallet_open('wrong')", { state => 'TDE02', message => $damaged }, 'wrong passphrase');
fails_with(
  $node,
  "SELECT tde_wallet_open('')",
  { state => '22023', message => qr/^passphrase must not be empty$/ },
  'open with an empty passphrase');
is(lines_of($node, 'SELECT * FROM card ORDER BY id'), $all_rows, 'a failure to open leaves an open wallet open');

# Permissions.

sub open_with_mode
{
  my ($mode, $message, $hint, $name) = @_;
  chmod $mode, $path or die "chmod: $!";
  fails_with($node, "SELECT tde_wallet_open('$generated')", { state => 'TDE02', message => $message, hint => $hint }, $name);
  chmod 0600, $path;
  return;
}

my $open_to_others = qr/^wallet file "\Q$path\E" has group or world access$/;
open_with_mode(0644, $open_to_others, qr/^Run: chmod 600 \Q$path\E$/,                        'readable by the world');
open_with_mode(0640, $open_to_others, qr/^Run: chmod 600/,                                   'readable by the group');
open_with_mode(0602, $open_to_others, qr/^Run: chmod 600/,                                   'writable by the world');
open_with_mode(0000, qr/^could not open wallet file "\Q$path\E": Permission denied$/, undef, 'not readable');
chmod 0400, $path;
is(attempt($node, "SELECT tde_wallet_open('$generated')")->{state}, '', 'a read-only file will do');
chmod 0600, $path;

rename $path, "$path.good";
mkdir $path, 0700;
fails_with(
  $node,
  "SELECT tde_wallet_open('$generated')",
  { state => 'TDE02', message => qr/^wallet file "\Q$path\E" is not a regular file$/ },
  'a folder in its place');
rmdir $path;
rename "$path.good", $path;

# Damage: whatever it is, there is one message, and the wallet that is open stays open.

my $size          = length $good_bytes;
my %damaged_files = ('one byte too many' => $good_bytes . "\0", 'another kind of file' => "-----BEGIN CERTIFICATE-----\n");

$damaged_files{"cut to $_ bytes"} = substr($good_bytes, 0, $_) foreach (0, 1, 2, 4, 30, int($size / 2), $size - 20, $size - 1);
# The last 8 bytes say nothing in a file with PBMAC1 (RFC 9579); before them is the MAC.
foreach my $position (
  0, 1, 3, 5, 20, 60,
  int($size / 3),
  int($size / 2),
  int($size * 3 / 4),
  $size - 60, $size - 30, $size - 15, $size - 5, $size - 1)
{
  $damaged_files{"a bit flipped in byte $position"} = flip_bit($good_bytes, $position, $position % 8);
}
foreach my $name (sort keys %damaged_files)
{
  write_bytes($path, $damaged_files{$name});
  fails_with($node, "SELECT tde_wallet_open('$generated')", { state => 'TDE02', message => $damaged }, $name);
}
write_bytes($path, 'x' x (1024 * 1024 + 1));
fails_with(
  $node,
  "SELECT tde_wallet_open('$generated')",
  { state => 'TDE02', message => qr/^wallet file "\Q$path\E" is too large to be a wallet$/ },
  'a huge file');
is(lines_of($node, 'SELECT * FROM card ORDER BY id'), $all_rows, 'the wallet that is open stays open all the time');

# The wallet of another server in its place.

foreign_wallet($path, 'foreign-passphrase');
lines_of($node, "SELECT tde_wallet_close(); SELECT tde_wallet_open('foreign-passphrase')");
my $foreign_bytes = read_bytes($path);
isnt($foreign_bytes, $good_bytes, 'there is another wallet now');
my $keys           = lines_of($node, 'SELECT * FROM tde.data_keys ORDER BY id');
my $master         = lines_of($node, 'SELECT DISTINCT master_key FROM tde.data_keys');
my $missing_master = {
  state   => 'TDE03',
  message => qr/^master key \Q$master\E is not in the wallet$/,
  detail  => qr/^Data key \d+ was wrapped under it\.$/,
  hint    =>
    qr/^The wallet belongs to another server .* Put the right file at tde_column\.wallet_file and run tde_wallet_open\(\)\.$/ };

fails_with($node, 'SELECT holder FROM card',                     $missing_master, 'SELECT with a foreign wallet');
fails_with($node, "INSERT INTO card VALUES (21, 'x', 1, 1)",     $missing_master, 'INSERT with a foreign wallet');
fails_with($node, "UPDATE card SET amount = plain WHERE id = 1", $missing_master, 'UPDATE with a foreign wallet');
# Values under such a key would be lost as soon as the right file is back.
fails_with($node, "CREATE TABLE mixed (a encrypted_text('key=nine'))",
  $missing_master, 'no key is made under a foreign master key');
is(lines_of($node, 'SELECT count(*), sum(plain) FROM card'),   '20|210', 'the table is as it was');
is(lines_of($node, 'SELECT * FROM tde.data_keys ORDER BY id'), $keys,    'and so are the data keys');
write_bytes($path, $good_bytes);
fails_with(
  $node,
  "SELECT tde_wallet_open('foreign-passphrase')",
  { state => 'TDE02', message => $damaged },
  "the foreign wallet's passphrase");
lines_of($node, "SELECT tde_wallet_open('$generated', 'forget 1 master key')");
is(lines_of($node, 'SELECT * FROM card ORDER BY id'), $all_rows, 'with the right file back everything can be read');

# Inside of the data directory.

my $inside  = $node->data_dir . '/tde.p12';
my $warning = qr/WARNING:  01000: wallet file "\Q$inside\E" is inside the data directory\nDETAIL:  Every base backup/;

set_conf($node, 'tde_column.wallet_file' => $inside);
$result = attempt($node, 'SELECT tde_wallet_save()');
is($result->{out}, $inside, 'a wallet inside of the data directory can be made');
like($result->{err}, $warning, 'with a warning');
$result = attempt($node, "SELECT tde_wallet_open('$generated')");
is($result->{state}, '', 'and opened');
like($result->{err}, $warning, 'with the same warning');
symlink $node->data_dir, "$folder/link" or die "symlink: $!";
set_conf($node, 'tde_column.wallet_file' => "$folder/link/tde.p12");
like(
  attempt($node, "SELECT tde_wallet_open('$generated')")->{err},
  qr/WARNING:  01000: wallet file "\Q$folder\E\/link\/tde\.p12" is inside the data directory/,
  'a symbolic link does not hide that');
unlink "$folder/link", $inside;
set_conf($node, 'tde_column.wallet_file' => $path);

# After a restart it is closed.

$node->restart;
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'CLOSED', 'it is closed after a restart');
my $closed = {
  state   => 'TDE01',
  message => qr/^wallet is not open$/,
  detail  => qr/^Its keys are needed to read or write encrypted values\.$/,
  hint    => qr/^Open it with tde_wallet_open\(\)\.$/ };

fails_with($node, 'SELECT * FROM card',                                    $closed, 'closed: SELECT');
fails_with($node, "SELECT id FROM card WHERE holder = 'x'::text",          $closed, 'closed: WHERE');
fails_with($node, "INSERT INTO card VALUES (21, 'x', 1, 1)",               $closed, 'closed: INSERT');
fails_with($node, "UPDATE card SET holder = 'x'",                          $closed, 'closed: UPDATE');
fails_with($node, "COPY card FROM PROGRAM 'printf \"21\\tx\\t1\\t1\\n\"'", $closed, 'closed: COPY FROM');
fails_with($node, 'COPY card TO STDOUT',                                   $closed, 'closed: COPY TO');
fails_with($node, 'COPY card TO STDOUT (FORMAT binary)',                   $closed, 'closed: binary COPY TO');
is(lines_of($node, 'SELECT count(*), count(holder), sum(plain) FROM card'), '20|20|210', 'closed: counting, and other columns');
is(lines_of($node, 'COPY (SELECT id, plain FROM card WHERE id = 3) TO STDOUT'), "3\t3",  'closed: COPY of other columns');
is(lines_of($node, 'INSERT INTO card (id, plain) VALUES (21, 21) RETURNING id, plain'),
  '21|21', 'closed: INSERT of other columns');
is(lines_of($node, 'DELETE FROM card WHERE id = 21 RETURNING id'), '21', 'closed: DELETE');
is(lines_of($node, 'UPDATE card SET plain = plain + 1000 WHERE id > 0; SELECT sum(plain) FROM card'),
  '20210', 'closed: UPDATE of other columns');

my $statistics = q{SELECT attname, most_common_vals::text, histogram_bounds::text FROM pg_stats
      WHERE tablename = 'card' AND attname = '%s'};
my $encrypted_statistics = q{SELECT starelid, staattnum, stadistinct, stawidth, stakind1, stakind2, stakind3 FROM pg_statistic
      WHERE starelid = 'card'::regclass AND staattnum IN (2, 3) ORDER BY 2};
my $plain_before     = lines_of($node, sprintf $statistics, 'plain');
my $encrypted_before = lines_of($node, $encrypted_statistics);

is(scalar(split /\n/, $encrypted_before), 2, 'both encrypted columns have statistics');
$result = attempt($node, 'ANALYZE card');
is($result->{state}, '', 'closed: ANALYZE succeeds') or diag($result->{err});
isnt(lines_of($node, sprintf $statistics, 'plain'), $plain_before, 'it refreshes the statistics of other columns');
is(lines_of($node, $encrypted_statistics), $encrypted_before, 'and keeps those of encrypted ones');
is(attempt($node, 'VACUUM card')->{state}, '',                'closed: VACUUM');

$result = attempt($node, '\d card');
is($result->{err}, '', 'closed: \d');
like($result->{out}, qr/^holder\|encrypted_text\(aes256,salt,gcm\)/m, 'it shows the modifiers');
like(
  lines_of($node, q{SELECT column_name, cipher, mac, salt FROM tde.encrypted_columns WHERE table_name = 'card' ORDER BY 1}),
  qr/^amount\|aes256\|gcm\|t\nholder\|aes256\|gcm\|t$/,
  'closed: the view of encrypted columns');
my ($schema) = run_command([ 'pg_dump', '-s', '-d', $node->connstr('postgres') ]);
like($schema, qr/holder (?:public\.)?encrypted_text\(aes256,salt,gcm\)/, 'closed: pg_dump -s');

$result = attempt($node, 'CREATE TABLE made_closed (a encrypted_text)');
is($result->{state}, '', 'closed: a table can be made') or diag($result->{err});

lines_of($node, "SELECT tde_wallet_open('$generated')");
is(lines_of($node, 'SELECT count(*), sum(amount::numeric) FROM card'), '20|262.50', 'opened again, all values are there');
is(lines_of($node, "INSERT INTO made_closed VALUES ('later') RETURNING a"),
  'later', 'and the table that was made meanwhile can be used');

# Privileges.

lines_of(
  $node, q{
CREATE ROLE bob LOGIN;
GRANT SELECT, INSERT ON card TO bob;
GRANT CREATE ON SCHEMA public TO bob;
});
foreach
  my $call ('tde_wallet_create(NULL)', "tde_wallet_open('x-passphrase')", 'tde_wallet_close()', 'tde_internal.tde_wallet_status()', 'tde_ensure_keys()')
{
  (my $function = $call) =~ s/^tde_internal\.|\(.*//g;
  fails_with(
    $node, "SELECT $call",
    { state => '42501', message => qr/^permission denied for function $function$/ },
    "not for everybody: $call",
    user => 'bob');
}
fails_with(
  $node,
  'SELECT wrapped FROM tde.data_keys',
  { state => '42501', message => qr/^permission denied for table data_keys$/ },
  'not for everybody: wrapped keys',
  user => 'bob');
fails_with(
  $node,
  'SELECT * FROM tde.wallet',
  { state => '42501', message => qr/^permission denied for view wallet$/ },
  'not for everybody: tde.wallet',
  user => 'bob');
fails_with(
  $node,
  'SHOW tde_column.passphrase_command',
  { state => '42501' },
  'not for everybody: the passphrase command',
  user => 'bob');
fails_with(
  $node,
  "SET tde_column.wallet_file = '/tmp/x'",
  { state => '55P02' },
  'nobody sets the wallet file in a session',
  user => 'bob');
is(attempt($node, "INSERT INTO card VALUES (30, 'by bob', 1, 1) RETURNING holder", user => 'bob')->{out},
  'by bob', 'a role without any privilege but on the table reads and writes it');
is(attempt($node, 'CREATE TABLE of_bob (a encrypted_text); INSERT INTO of_bob VALUES (1) RETURNING a', user => 'bob')->{out},
  '1', 'and makes tables of its own');

# What everybody may execute: what serves types, casts, operators and indexes, and these.  Whoever adds a function that is for
# everybody says so here.
my $executable = q{
WITH ours AS (
  SELECT p.oid, p.proname FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
  WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
    AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tde_column')),
serving AS (
  SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript]::oid[]) AS oid FROM pg_type
  UNION ALL SELECT castfunc FROM pg_cast
  UNION ALL SELECT unnest(ARRAY[oprcode, oprrest, oprjoin]::oid[]) FROM pg_operator
  UNION ALL SELECT amproc::oid FROM pg_amproc
  UNION ALL SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn, aggfnoid]::oid[]) FROM pg_aggregate)
SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) FROM ours
WHERE has_function_privilege('public', oid, 'EXECUTE') AND oid NOT IN (SELECT oid FROM serving WHERE oid IS NOT NULL)};

# Those that convert columns act with the rights of who calls them, and want the table's owner.
# tde_called(), tde_distribute(), tde_foreign_values_in() and tde_plain_rows() stand in what the caller may execute, and are an error otherwise; PostgreSQL's own
# tsvector_update_trigger() is everybody's, too.
# 18 casts integers to bytea; of the others there is one for a larger type, too.
my %since = (bytea => 18, random => 17, to_bin => 17, to_oct => 17);
is(
  lines_of($node, $executable),
  join(' ', grep { $node->pg_version >= ($since{$_} // 15) } qw(
    abs age bit bool bpchar bytea ceil ceiling char_length character_length date date_bin date_part date_trunc exp extract float4 float8
    floor gcd generate_series int2 int4 int8 isfinite lcm left length ln log log10 mod money name numeric octet_length overlaps
    pg_size_pretty pow power random round sign sqrt substr
    tde_abandon_copy tde_abort_conversion tde_add_keys tde_all_convertible tde_bindings tde_called tde_catalog_classes
    tde_catalog_constraintdef tde_catalog_indexdef tde_catalog_partkeydef tde_catalog_ruledef tde_catalog_tree tde_catalog_type
    tde_catalog_typmod tde_catalog_viewdef tde_catalog_viewdef_name tde_changed_names tde_check_bindings tde_check_conversion
    tde_check_dependents tde_check_not_distributed tde_check_partitions tde_check_rights tde_check_taken_over tde_column_family tde_complete_copy
    tde_computed tde_constant_default tde_conversion tde_conversion_indexes tde_conversion_keys tde_conversion_obstacles
    tde_conversion_replacements tde_convert_all_rows tde_convert_offline tde_convert_trigger tde_convertible_column tde_copy_column
    tde_declared_tables tde_decrypt_column tde_decrypt_columns tde_decryption_rows tde_default_commands tde_definition tde_dependents tde_discover
    tde_distribute tde_drop_helper tde_drop_superseded tde_encrypt_column tde_encrypt_columns tde_encrypted_type_of tde_finish_conversion tde_for_column
    tde_foreign_constant tde_foreign_constants tde_foreign_owner tde_foreign_references tde_foreign_values_in tde_full_name tde_hash_fingerprint
    tde_identity_commands tde_import_oracle_ddl tde_index_commands tde_index_expression tde_is_distributed tde_is_unordered tde_kept_properties tde_lock
    tde_lock_all tde_lock_columns tde_lock_tables tde_make_dependents tde_may_commit tde_may_decrypt tde_missing_rights tde_must_commit
    tde_named_indexes tde_named_opclass tde_not_nulls tde_of_column tde_open_envelope tde_owner_of tde_partitions tde_plain_rows tde_plain_type_of
    tde_policy_commands tde_progress_status tde_recompile_triggers tde_references tde_rekey_database tde_rekey_table tde_relation_of
    tde_remove_dependents tde_removed_masks tde_result tde_rule_commands tde_run tde_run_as tde_sampled tde_sensitive_kinds tde_size_of
    tde_start_conversion tde_stats_counters tde_stored_parts tde_swap tde_swap_commands tde_take_over_column tde_taken_over_type tde_targets tde_tree_null_test tde_tree_uses
    tde_trigger_commands tde_tsvector_update_trigger tde_tsvector_update_trigger_column tde_type_base tde_type_command tde_type_spec
    tde_typmod_in tde_validate tde_validate_all tde_view_commands tde_warn_of_rest tde_wipe_blocks tde_wipe_catalogs
    tde_wipe_free_space tde_with_collation
    text time timestamp timestamptz timetz timezone to_bin to_char to_hex to_oct trunc width_bucket)),
  'what everybody may execute');

# The passphrase is not in the server log, by whatever way it comes.  The log is as talkative as it gets.

my $marker = 'xhidden_passphrasex';
my $offset = log_offset($node);
my $script = PostgreSQL::Test::Utils::tempdir . '/open.sql';

$node->append_conf(
  'postgresql.conf', q{
log_statement = 'all'
log_min_duration_statement = 0
log_duration = on
log_error_verbosity = 'verbose'
log_min_messages = 'debug1'
log_min_error_statement = 'debug5'
log_parameter_max_length_on_error = -1
session_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_verbose = on
});
$node->restart;
lines_of($node, "SELECT tde_wallet_open('$generated')");
is(lines_of($node, "SELECT 'seen in the log'"), 'seen in the log', 'the settings are taken');
like(log_since($node, $offset), qr/statement: SELECT 'seen in the log'/,  'the log has statements');
like(log_since($node, $offset), qr/Query Text: SELECT 'seen in the log'/, 'the log has plans');

write_bytes($script, "SELECT tde_wallet_open(:p);\n");
lines_of($node, "SELECT tde_wallet_close()");
rename $path, "$path.good";
my $data_keys = lines_of($node, 'SELECT count(*) FROM tde.data_keys');
my %ways = (
  'create'            => "SELECT tde_wallet_create('$marker', 'lose $data_keys data keys')",
  'create over'       => "SELECT tde_wallet_create('$marker')",
  'open'              => "SELECT tde_wallet_open('$marker')",
  'wrong'             => "SELECT tde_wallet_open('wrong_$marker')",
  'upper case'        => "SELECT TDE_Wallet_OPEN('$marker')",
  'upper case, wrong' => "SELECT TDE_Wallet_OPEN('wrong_$marker')",
  'in a block'        => "DO \$\$BEGIN PERFORM tde_wallet_open('$marker'); END\$\$",
  'in a block, wrong' => "DO \$\$BEGIN PERFORM tde_wallet_open('wrong_$marker'); END\$\$",
  'an unquoted word'  => "SELECT tde_wallet_open($marker)",
  'an identifier'     => "SELECT tde_wallet_open(\"$marker\")",
  'prepared'          => "PREPARE p(text) AS SELECT tde_wallet_open(\$1); EXECUTE p('$marker')",
  'prepared, wrong'   => "PREPARE p(text) AS SELECT tde_wallet_open(\$1); EXECUTE p('wrong_$marker')",
  'explain execute'   => "PREPARE p(text) AS SELECT tde_wallet_open(\$1);\nEXPLAIN ANALYZE EXECUTE p('$marker')",
  'execute as table'  => "PREPARE p(text) AS SELECT tde_wallet_open(\$1);\nCREATE TEMP TABLE t AS EXECUTE p('$marker')",
  'execute, together' => "PREPARE p(text) AS SELECT tde_wallet_open(\$1);\nSELECT 1\\; EXECUTE p('$marker')",
  'from VALUES'       => "SELECT tde_wallet_open(x) FROM (VALUES ('$marker')) v(x)",
  'from WITH'         => "WITH v AS (SELECT '$marker' AS x) SELECT tde_wallet_open(x) FROM v",
  'from a function'   => "SELECT w FROM lower('$marker') l, tde_wallet_open(l) w",
  'from a subquery'   => "SELECT tde_wallet_open((SELECT max(v) FROM (VALUES ('$marker')) x(v)))",
  'block, SELECT INTO' => "DO \$\$DECLARE p text; BEGIN SELECT '$marker' INTO p; PERFORM tde_wallet_open(p); END\$\$",
  'block, FOR'        => "DO \$\$DECLARE r record; BEGIN FOR r IN SELECT '$marker' AS pw LOOP PERFORM tde_wallet_open(r.pw); END LOOP; END\$\$",
  'explain'           => "EXPLAIN (ANALYZE, VERBOSE) SELECT tde_wallet_open('$marker')",
  'syntax error'      => "SELECT tde_wallet_open('$marker'",
  'mistyped'          => "SELECT tde_wallet_opne('$marker')",
  'mistyped keyword'  => "SELET tde_wallet_open('$marker')",
  'wrong type'        => "SELECT tde_wallet_open('$marker', 1/0)",
  'division by zero'  => "SELECT tde_wallet_open('$marker'), 1/(random()*0)::int");

sub is_hidden
{
  my ($way, $run) = @_;
  my $start = log_offset($node);
  $run->();
  my @lines = grep { /\Q$marker\E/ } split /\n/, log_since($node, $start);
  is(scalar(@lines), 0, "the passphrase is not in the log: $way") or diag(join "\n", @lines);
  return;
}

foreach my $way ('create', sort grep { $_ ne 'create' } keys %ways)
{
  is_hidden($way, sub { attempt($node, $ways{$way}) });
}
foreach my $mode (qw(simple extended prepared))
{
  foreach my $passphrase ($marker, "wrong_$marker")
  {
    is_hidden(
      "pgbench -M $mode with $passphrase",
      sub {
        my $argument = $mode eq 'simple' ? "'$passphrase'" : $passphrase;
        run_command(
          [
            'pgbench', '-n',          '-t', 1,           '-M', $mode,       '-f', $script,
            '-D',      "p=$argument", '-h', $node->host, '-p', $node->port, 'postgres' ]);
      });
  }
}
is(lines_of($node, 'SELECT status FROM tde.wallet'), 'OPEN', 'it was opened in these ways');
like(log_since($node, $offset), qr/LOG:  00000: wallet opened by user "\w+"/, 'the log tells who opened it');
fails_with($node, "SELECT tde_wallet_open('x-passphrase')", { state => '42501' }, 'a role that may not open it', user => 'bob');
like(
  log_since($node, $offset),
  qr/permission denied for function tde_wallet_open/,
  'the log tells that somebody tried who may not');

$node->stop;
is(scalar(grep { index(read_bytes($_), $marker) >= 0 } grep { -f } glob($node->data_dir . '/{*,*/*,*/*/*}')),
  0, 'nor is it in any file of the data directory');

done_testing();
