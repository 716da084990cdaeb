# Secrets that come by COPY tde.passphrase: each function takes one, once; who may give one, and what drops it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $passphrase = 'correct horse\\battery "staple"';
my $node = tde_node('given', extension => 1, conf => "log_statement = all\nlog_min_messages = debug1\n");
$node->start;

my $wire = TdeWire->connect($node);
my $give = 'COPY tde.passphrase FROM STDIN';
my $none = qr/^22023 no passphrase was given|^TDE02 no passphrase command is configured/;

sub escaped { return "$_[0]\n" =~ s/\\/\\\\/gr; }
sub given   { return $wire->copy($give, escaped($_[0] // $passphrase))->{error}; }
sub answer  { my $got = $wire->query($_[0]); return $got->{error} || join '|', @{ $got->{rows} }; }

# The wallet is closed, so that tde_wallet_open() without a secret is an error.
sub is_gone
{
  my ($name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  like(answer('SELECT tde_wallet_open()'), $none, "$name: it is gone");
  return;
}

# One for later: it is there for a minute.
my $patient = TdeWire->connect($node);

# ---- each function ----

is(given(), '', 'a passphrase is given');
is(answer('SELECT tde_wallet_create()'), '', 'tde_wallet_create() takes it, and returns none of its own');
is(answer('SELECT tde_wallet_close()'), '', 'closed');
is_gone('used');
is(answer("SELECT tde_wallet_open('correct horse\\battery \"staple\"')"), '', 'it is the passphrase of the wallet, backslash included');
answer('SELECT tde_wallet_close()');
given();
is(answer('SELECT tde_wallet_open()'), '', 'tde_wallet_open()');
given('another horse battery');
is(answer('SELECT tde_wallet_change_passphrase()'), '', 'tde_wallet_change_passphrase()');
$passphrase = 'another horse battery';
given('a secret for the keys');
like(my $exported = answer('SELECT tde_export_keys()'), qr/^tdekeys:/, 'tde_export_keys()');
given('a secret for the keys');
like(answer('SELECT tde_export_keys(NULL, true)'), qr/^tdekeys:/, 'tde_export_keys(NULL, adoptable)');
given('a secret for the keys');
is(answer("SELECT tde_import_keys('$exported')"), '0', 'tde_import_keys(exported)');
like(answer("SELECT tde_import_keys('$exported')"), qr/^22023 no secret was given$/, 'not twice');
is(answer('SELECT tde_import_keys(NULL) IS NULL'), 't', 'nothing to import');
like(answer('SELECT tde_wallet_open_share()'), qr/^22023 no share was given$/, 'no share');
my @shares = split /\|/, answer('SELECT tde_wallet_split(2, 3)');
given($shares[0]);
is(answer('SELECT tde_wallet_open_share()'), '1 of 2 shares are in', 'tde_wallet_open_share()');
given($shares[2]);
is(answer('SELECT tde_wallet_open_share()'), '2 of 2 shares are in, the wallet is open', 'the wallet is open');
given();
is(answer('SELECT tde_wallet_change_passphrase()'), '', 'back to a passphrase');
answer('SELECT tde_wallet_close()');

# ---- what drops it ----

$patient->copy($give, escaped($passphrase));
my $given_at = time;

given();
answer('SELECT 1 / 0');
is_gone('an error');
answer('BEGIN');
given();
answer('ROLLBACK');
is_gone('a rollback');
answer('BEGIN; SAVEPOINT s');
given();
answer('ROLLBACK TO s; COMMIT');
is_gone('a rollback to a savepoint');
given();
answer('DISCARD ALL');
is_gone('DISCARD');
given('wrong passphrase of it');
like(answer('SELECT tde_wallet_open()'), qr/^TDE02 could not open wallet file/, 'a wrong one');
is_gone('a wrong one');
given('wrong passphrase of it');
given();
is(answer('SELECT tde_wallet_open()'), '', 'the last one counts');
answer('SELECT tde_wallet_close()');
is($wire->copy($give, "wrong passphrase of it\n" . escaped($passphrase))->{error}, '', 'also of several rows');
is(answer('SELECT tde_wallet_open()'), '', 'of which the last is taken');
answer('SELECT tde_wallet_close()');
answer('BEGIN');
given();
is(answer('SELECT tde_wallet_open(); COMMIT'), '', 'in one transaction, as behind a pooler');
answer('SELECT tde_wallet_close()');
given();
is(answer("SELECT tde_wallet_open('wrong passphrase of it')"), "TDE02 could not open wallet file \"" . wallet_path($node) . '": wrong passphrase or damaged wallet',
  'an argument comes first');

# ---- who and how ----

lines_of(
  $node, q{
CREATE ROLE operator LOGIN; CREATE ROLE giver LOGIN; CREATE ROLE nobody LOGIN;
GRANT INSERT ON tde.passphrase TO operator, giver;
GRANT EXECUTE ON FUNCTION tde_wallet_open(text) TO operator});
answer('SET SESSION AUTHORIZATION giver');
is(given(), '', 'a role that may give one');
like(answer('SELECT tde_wallet_open()'), qr/^42501 permission denied for function tde_wallet_open/, 'and not use it');
given();
answer('RESET SESSION AUTHORIZATION');
is_gone('of another user');
answer('SET SESSION AUTHORIZATION operator');
given();
is(answer('SELECT tde_wallet_open()'), '', 'a role that may do both');
answer('SET SESSION AUTHORIZATION nobody');
like(given(), qr/^42501 permission denied for view passphrase/, 'others may not');
like(answer('SELECT tde_internal.tde_give_secret()'), qr/^42501 permission denied for (function|schema)/, 'nor call the trigger function');
answer('RESET SESSION AUTHORIZATION');
answer('SELECT tde_wallet_close()');
like(answer('SELECT tde_internal.tde_give_secret()'), qr/^39P01 tde_give_secret\(\) must be called as the trigger/, 'which is none to call');

lines_of($node, q{
CREATE VIEW trap AS SELECT NULL::text AS a;
CREATE TRIGGER trap INSTEAD OF UPDATE ON trap FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_give_secret();
CREATE TABLE tmp (a text);
CREATE FUNCTION passes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO tde.passphrase VALUES (NEW.a); RETURN NEW; END';
CREATE TRIGGER passes BEFORE INSERT ON tmp FOR EACH ROW EXECUTE FUNCTION passes()});
like(answer("UPDATE trap SET a = 'x'"), qr/^39P01 tde_give_secret\(\) must be called as the trigger of tde.passphrase/, 'nor a trigger of something else');
like(answer("INSERT INTO tde.passphrase VALUES ('x')"), qr/^0A000 a secret cannot be inserted/, 'INSERT is refused');
like($wire->parse('', 'INSERT INTO tde.passphrase VALUES ($1)')->execute('', 'x')->sync->{error}, qr/^0A000 a secret cannot be inserted/, 'with a parameter, too');
like($wire->copy('COPY tmp FROM STDIN', "x\n")->{error}, qr/^0A000 a secret cannot be inserted/, 'and in a trigger that COPY calls');
like($wire->copy($give, "\n")->{error},             qr/^22023 secret must not be empty/,            'an empty one');
like($wire->copy($give, "\\N\n")->{error},          qr/^22004 secret must not be null/,             'NULL');
like($wire->copy($give, 'x' x 1024 . "\n")->{error}, qr/^22023 secret must be shorter than 1024 bytes/, 'one that is too long');
is(answer('SELECT count(*) FROM tde.passphrase'), '0', 'nobody reads one');
is($wire->copy('COPY tde.passphrase (secret) FROM STDIN (FORMAT csv)', "\"another horse battery\"\n")->{error}, '', 'CSV');
is(answer('SELECT tde_wallet_open()'), '', 'is as good');
answer('SELECT tde_wallet_close()');

# ---- a minute ----

sleep 1 while time < $given_at + 62;
like($patient->query('SELECT tde_wallet_open()')->{error}, $none, 'after a minute it is gone, in an idle session');

my $log = slurp_file($node->logfile);
unlike($log, qr/battery|\Q$shares[0]\E|a secret for the keys|wrong passphrase of it/, 'the log has none of them');
like($log, qr/statement: COPY tde\.passphrase FROM STDIN/, 'but the statements');
$node->stop;
done_testing();
