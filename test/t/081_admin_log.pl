# Who calls what administers the wallet and keys stands in the server's log, one line for each call, without a secret: pgaudit, which runs
# beside this where it is installed, logs no function of pg_catalog.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my ($share) = run_command([ 'pg_config', '--sharedir' ]);
my $conf = -e "$share/extension/pgaudit.control" ? "shared_preload_libraries = 'tde_column,pgaudit'\npgaudit.log = all\npgaudit.log_catalog = on\n" : '';
my $node = tde_node('admin', extension => 1, conf => $conf);
$node->start;
my $me = lines_of($node, 'SELECT current_user');
lines_of($node, q{CREATE ROLE keeper LOGIN; GRANT pg_write_server_files TO keeper;
  SELECT format('GRANT EXECUTE ON ROUTINE %s TO keeper', p.oid::regprocedure) FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
  WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^tde_' \gexec});

# In an order that works; each with the key that it names.  Some fail, and are logged, too.
my @calls = (
  [ "tde_wallet_create('first secret')" ],
  [ 'tde_wallet_close()' ],
  [ "tde_wallet_open('wrong secret')" ],
  [ "tde_wallet_open('first secret')" ],
  [ 'tde_ensure_keys()' ],
  [ 'tde_wallet_save()' ],
  [ 'tde_wallet_take_over()' ],
  [ 'tde_wallet_backup()' ],
  [ "tde_wallet_change_passphrase('second secret')" ],
  [ "tde_create_key('card')", 'card' ],
  [ "tde_create_key('card')", 'card' ],
  [ "tde_describe_key('card', 'for cards')", 'card' ],
  [ "tde_rename_key('card', 'cards')", 'card' ],
  [ "tde_prepare_key('cards')", 'cards' ],
  [ "tde_rotate_key('cards')", 'cards' ],
  [ 'tde_rotate_key()', 'default' ],
  [ "tde_drop_key_version('cards', 1)", 'cards' ],
  [ "tde_destroy_key('cards', 'destroy cards')", 'cards' ],
  [ 'tde_prepare_master_key()' ],
  [ 'tde_rotate_master_key()' ],
  [ 'tde_rewrap_keys()' ],
  [ 'tde_rewrap_all_databases()' ],
  [ 'tde_rotate_hash_key()' ],
  [ 'tde_decryptions_reset()' ],
  [ "tde_purge_master_key('00000000-0000-4000-8000-000000000000')", '00000000-0000-4000-8000-000000000000' ],
  [ "tde_export_keys('third secret')" ],
  [ "tde_import_keys('nothing', 'third secret')" ],
  [ 'tde_wallet_split(2, 3)' ],
  [ "tde_wallet_open_share('no share, but a secret')" ],
  [ 'tde_wallet_forget_shares()' ],
  [ "tde_set_mask('pg_class', 'relname', 'null')" ],
  [ "tde_drop_mask('pg_class', 'relname')" ]);

my %called;
my $begin = log_offset($node);
foreach my $call (@calls)
{
  my ($text, $key) = @$call;
  my ($name) = $text =~ /^(\w+)/;
  my $offset = log_offset($node);
  attempt($node, "SELECT $text", user => 'keeper');
  my $line = 'LOG:  function ' . $name . ' called' . ($key ? " for key \"$key\"" : '') . ' by user "keeper", session user "keeper"';
  is(() = log_since($node, $offset) =~ /\Q$line\E$/mg, 1, "$text is logged");
  $called{$name} = 1;
}
unlike(log_since($node, $begin), qr/(first|second|third|wrong|but a) secret/, 'no secret is');
is(lines_of($node, q{SELECT DISTINCT proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
    WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^tde_' AND NOT has_function_privilege('public', p.oid, 'EXECUTE')
      AND proname <> ALL ('} . '{' . join(',', sort keys %called) . '}' . q{') ORDER BY 1}),
  join("\n", qw(tde_audit tde_audit_json tde_ciphertext_io tde_create_gin_class tde_create_type tde_foreign_values tde_key_fingerprint tde_key_usage tde_refresh_types
    tde_verify_database tde_verify_table tde_version)),
  'all are that are not for everybody, but for those that change neither the wallet nor keys');

# Under another name.
lines_of($node, q{CREATE FUNCTION lent() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'SELECT tde_wallet_close()'; GRANT EXECUTE ON FUNCTION lent TO PUBLIC; CREATE ROLE guest LOGIN});
my $offset = log_offset($node);
attempt($node, 'SELECT lent()', user => 'guest');
like(log_since($node, $offset), qr/function tde_wallet_close called by user "\Q$me\E", session user "guest"$/m, 'and who is behind a function that lends its rights');
$offset = log_offset($node);
attempt($node, 'SELECT tde_wallet_close()', user => 'guest');
unlike(log_since($node, $offset), qr/function tde_\w+ called/, 'who may not call it does not');
done_testing();
