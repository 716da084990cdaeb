# Typical mistakes of an administrator.  Each is answered by an error, or a WARNING or NOTICE, with its SQLSTATE, in PostgreSQL's style, and by a hint that
# names the next command.  That command is taken out of the hint and run, and mends the situation: what was wrong works, or what was meant does.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $pass  = 'mistake-passphrase';
my $node  = tde_node('mistakes', extension => 1, init => [ allows_streaming => 1 ], conf => "max_prepared_transactions = 1\nmax_locks_per_transaction = 512\n");
my $path  = wallet_path($node);
my $count = 0;

# What a statement says: its first error, else its first WARNING or NOTICE.
sub said
{
  my ($server, $sql, %opts) = @_;
  my $got = attempt($server, $sql, %opts);
  return $got if $got->{state} || $got->{err} !~ /(WARNING|NOTICE):  [0-9A-Z]{5}: /;
  return { %{ TdeTest::parse_error($got->{err} =~ s/\A.*?(?:WARNING|NOTICE):  (?=[0-9A-Z]{5}: )/ERROR:  /sr . "\n") }, out => $got->{out}, goes_on => 1 };
}

# A mistake:
#
#   before  => SQL or CODE  what it needs
#   wrong   => SQL          the mistake; user => and db => of the session
#   state, message, hint    what it says; what is in parentheses in the hint is taken out of it
#   mend    => CODE         makes the next command of what was taken; without it the first such text is it
#   fill    => LIST         for each "..." in it
#   by      => USER         who runs it
#   sh      => 1            it is the shell's
#   then    => SQL or CODE  what works now, without a word: the mistake itself if it is not given.  The code gets what the command has returned
#   gives   => TEXT         the result of that
sub mistake
{
  my ($server, $name, %m) = @_;
  my %session = map { defined $m{$_} ? ($_ => $m{$_}) : () } qw(user db);
  my %mender  = (defined $m{db} ? (db => $m{db}) : (), defined $m{by} ? (user => $m{by}) : ());

  local $Test::Builder::Level = $Test::Builder::Level + 1;
  $count++;
  ref $m{before} ? $m{before}->() : lines_of($server, $m{before}, %mender) if $m{before};
  my $got = said($server, $m{wrong}, %session);
  is($got->{state}, $m{state}, "$name: SQLSTATE") or diag($got->{err});
  like($got->{message}, $m{message}, "$name: message");
  unlike($got->{message}, qr/^[A-Z][a-z]|\.$/, "$name: in the style of PostgreSQL's") unless $got->{message} =~ /^(?:JOIN|NUMERIC)/;
  like($got->{hint}, $m{hint}, "$name: hint");
  unlike($got->{context}, qr/PL.pgSQL function (?:tde_internal\.)?tde_/, "$name: no word of how our functions are made");
  my @found = $got->{hint} =~ $m{hint} or return;
  my $command = $m{mend} ? $m{mend}->(@found) : $found[0];
  my @fill = @{ $m{fill} // [] };
  $command =~ s/\Q...\E/shift @fill/ge if @fill;
  my $done = { state => '', err => '', out => '' };
  if   ($m{sh}) { $done->{state} = system($command) == 0 ? '' : 'failed' }
  else          { $done = attempt($server, $command, %mender) }
  is($done->{state}, '', "$name: $command") or diag($done->{err});
  my $then = ref $m{then} ? $m{then}->($done->{out}) : $m{then} // $m{wrong};
  my $now  = attempt($server, $then, %session);
  is($now->{state}, '', "$name: mended") or diag("$then\n$now->{err}");
  unlike($now->{err}, qr/\Q$got->{message}\E/, "$name: no word of it any more") if $got->{goes_on};
  is($now->{out}, $m{gives}, "$name: $then") if defined $m{gives};
  return;
}

# ---- the wallet ----

$node->start;
lines_of($node, 'CREATE DATABASE late TEMPLATE postgres');
lines_of($node, 'CREATE TABLE late (id int, a encrypted_text)', db => 'late');
my $open = "SELECT tde_wallet_open('$pass')";

mistake(
  $node, 'values before there is a wallet',
  before  => 'CREATE TABLE early (id int PRIMARY KEY, a encrypted_text)',
  wrong   => "INSERT INTO early VALUES (1, 'x')",
  state   => 'TDE01',
  message => qr/^wallet is not open$/,
  hint    => qr/^There is no file at tde_column\.wallet_file\..*  Only if this server never had one, make it with (tde_wallet_create)\(\)\.$/,
  mend    => sub { "SELECT $_[0]('$pass')" });
mistake(
  $node, 'made again',
  wrong   => "SELECT tde_wallet_create('$pass')",
  state   => '58P02',
  message => qr/^wallet file "\Q$path\E" already exists$/,
  hint    => qr/^Open it with (tde_wallet_open)\(\)/,
  mend    => sub { "SELECT $_[0]()" },
  then    => 'SELECT status FROM tde.wallet',
  gives   => 'OPEN');
mistake(
  $node, 'a closed wallet',
  before  => 'SELECT tde_wallet_close()',
  wrong   => 'SELECT a FROM early',
  state   => 'TDE01',
  message => qr/^wallet is not open$/,
  hint    => qr/^Open it with (tde_wallet_open)\(\)\.$/,
  mend    => sub { "SELECT $_[0]('$pass')" },
  gives   => 'x');
mistake(
  $node, 'saved where it is',
  wrong   => 'SELECT tde_wallet_save()',
  state   => '58P02',
  message => qr/already exists$/,
  hint    => qr/  (tde_wallet_save)\(path\) writes the open wallet to another file\.$/,
  mend    => sub { "SELECT $_[0]('$path.copy')" },
  then    => 'SELECT file_state FROM tde.wallet',
  gives   => 'open');
mistake(
  $node, 'removed while it is open',
  before  => sub { unlink $path },
  wrong   => 'SELECT tde_rotate_master_key() IS NOT NULL',
  state   => 'TDE02',
  message => qr/^could not open wallet file "\Q$path\E": No such file or directory$/,
  hint    => qr/If it is open in this server, (tde_wallet_save\(\)) writes it\./,
  mend    => sub { "SELECT $_[0]" },
  gives   => 't');
mistake(
  $node, 'a forgotten passphrase',
  before  => "SELECT tde_wallet_change_passphrase('nobody-knows-it'); SELECT tde_wallet_close()",
  wrong   => $open,
  state   => 'TDE02',
  message => qr/: wrong passphrase or damaged wallet$/,
  hint    => qr/^Earlier copies are beside it \("(\Q$path\E\.previous)" is the last one\)/,
  mend    => sub { "cp '$_[0]' '$path'" },
  sh      => 1);
mistake(
  $node, 'moved away',
  before  => sub { lines_of($node, 'SELECT tde_wallet_close()'); rename $path, "$path.away" },
  wrong   => $open,
  state   => 'TDE02',
  message => qr/No such file or directory$/,
  hint    => qr/^Put the wallet back there, .*set (tde_column\.wallet_file) to where it is/,
  mend    => sub { "ALTER SYSTEM SET $_[0] = '$path.away'; SELECT pg_reload_conf(); SELECT pg_sleep(0.3)" });
lines_of($node, 'ALTER SYSTEM RESET tde_column.wallet_file; SELECT pg_reload_conf(); SELECT pg_sleep(0.3)');
mistake(
  $node, 'a new one, while data needs the old one',
  before  => 'SELECT tde_wallet_close()',
  wrong   => "SELECT tde_wallet_create('$pass')",
  state   => '55000',
  message => qr/^this server has data keys wrapped by another wallet$/,
  hint    => qr/^(?=Put that wallet back at tde_column\.wallet_file).*open it with (tde_wallet_open)\(\)\./,
  mend    => sub { rename "$path.away", $path; "SELECT $_[0]('$pass')" },
  then    => 'SELECT a FROM early',
  gives   => 'x');
mistake(
  $node, 'readable by others',
  before  => sub { lines_of($node, 'SELECT tde_wallet_close()'); chmod 0644, $path },
  wrong   => $open,
  state   => 'TDE02',
  message => qr/has group or world access$/,
  hint    => qr/^Run: (chmod 600 \S+)$/,
  sh      => 1);
mistake(
  $node, 'a folder that others may write to',
  before  => sub { chmod 0777, dirname($path) },
  wrong   => $open,
  state   => '01000',
  message => qr/^folder ".*" of the wallet file has group or world write access$/,
  hint    => qr/^Run: (chmod go-w \S+)$/,
  sh      => 1);
chmod 0700, dirname($path);
mistake(
  $node, 'another passphrase, and none given',
  wrong   => 'SELECT tde_wallet_change_passphrase()',
  state   => '22023',
  message => qr/^no passphrase was given, and no passphrase command is configured$/,
  hint    => qr/^Give it by (COPY tde\.passphrase FROM STDIN), and call the function in the same session/,
  mend    => sub { "$_[0];\n$pass\n\\.\nSELECT tde_wallet_change_passphrase()" },
  then    => $open);
mistake(
  $node, 'a backup without a command',
  wrong   => 'SELECT tde_wallet_backup()',
  state   => '55000',
  message => qr/^no wallet backup command is configured$/,
  hint    => qr/^Set (tde_column\.wallet_backup_command), or/,
  mend    => sub { qq{ALTER SYSTEM SET $_[0] = 'cp "%p" "$path.%f"'; SELECT pg_reload_conf(); SELECT pg_sleep(0.3)} });
set_conf($node, 'tde_column.wallet_backup_command' => 'false');
mistake(
  $node, 'a backup that fails',
  wrong   => 'SELECT tde_rotate_master_key() IS NOT NULL',
  state   => 'TDE02',
  message => qr/^the wallet was not changed, because its backup failed$/,
  hint    => qr/^Fix the command, and try again\.  With (tde_column\.wallet_backup_failure = warning), changes are made/,
  mend    => sub { "ALTER SYSTEM SET $_[0]; SELECT pg_reload_conf(); SELECT pg_sleep(0.3)" },
  gives   => 't');
set_conf($node, 'tde_column.wallet_backup_command' => '', 'tde_column.wallet_backup_failure' => 'error');
mistake(
  $node, 'no share',
  wrong   => "SELECT tde_wallet_open_share('bla')",
  state   => '22023',
  message => qr/^not a share of a wallet$/,
  hint    => qr/^Give what (tde_wallet_split)\(\) has returned to you\.$/,
  mend    => sub { "SELECT $_[0](2, 2)" },
  then    => sub { join '; ', map { "SELECT tde_wallet_open_share('$_')" } split /\n/, $_[0] },
  gives   => "1 of 2 shares are in\n2 of 2 shares are in, the wallet is open");
lines_of($node, "SELECT tde_wallet_change_passphrase('$pass')");

my $current = lines_of($node, 'SELECT current_master_key FROM tde.wallet');
mistake(
  $node, 'the current master key purged',
  wrong   => "SELECT tde_purge_master_key('$current')",
  state   => '55000',
  message => qr/^cannot purge master key \Q$current\E$/,
  hint    => qr/; (tde_rotate_master_key\(\)) retires the current one\.$/,
  mend    => sub { "SELECT $_[0]" });
mistake(
  $node, 'an unknown master key purged',
  before  => 'SELECT tde_rotate_master_key()',
  wrong   => "SELECT tde_purge_master_key('$current')",
  state   => '42704',
  message => qr/is not in the wallet$/,
  hint    => qr/^The view (tde\.master_keys) lists them\.$/,
  mend    => sub { "SELECT id FROM $_[0] WHERE state = 'retired' LIMIT 1" },
  then    => sub { "SELECT tde_purge_master_key('$_[0]')" });

# ---- keys ----

mistake(
  $node, 'the default key destroyed',
  wrong   => "SELECT tde_destroy_key('default', 'destroy default')",
  state   => '22023',
  message => qr/^cannot destroy key "default"$/,
  hint    => qr/^Make a newer version, (SELECT tde_rotate_key\('default'\);) re-encrypt .*, (CALL tde_rekey_database\(\);) and drop that with (tde_drop_key_version)\(\)\.$/,
  mend    => sub { "$_[0] $_[1] SELECT $_[2]('default', 1)" },
  then    => q{SELECT count(*) FROM tde.keys WHERE name = 'default' AND version = 1; SELECT a FROM early},
  gives   => "0\nx");
mistake(
  $node, 'a key that is there',
  before  => "SELECT tde_create_key('cards')",
  wrong   => "SELECT tde_create_key('cards')",
  state   => '42710',
  message => qr/^key "cards" already exists$/,
  hint    => qr/: (SELECT tde_rotate_key\('cards'\);)$/,
  then    => "SELECT max(version) FROM tde.keys WHERE name = 'cards'",
  gives   => '2');
mistake(
  $node, 'a key that is not there',
  wrong   => "SELECT tde_rotate_key('crads')",
  state   => '42704',
  message => qr/^key "crads" does not exist$/,
  hint    => qr/^The view (tde\.keys) lists them\.$/,
  mend    => sub { "SELECT DISTINCT name FROM $_[0] WHERE name LIKE 'c%ds'" },
  then    => sub { "SELECT tde_rotate_key('$_[0]')" },
  gives   => '3');
mistake(
  $node, 'a declaration with an unknown key, where none is made',
  wrong   => q{SET tde_column.create_missing_keys = off; CREATE TABLE of_nobody (a encrypted_text('key=nobody'))},
  state   => '42704',
  message => qr/^key "nobody" does not exist$/,
  hint    => qr/^Make it: (SELECT tde_create_key\('nobody'\);)$/);
mistake(
  $node, 'no confirmation',
  before  => q{SELECT tde_create_key('doomed'); CREATE TABLE doomed (id int PRIMARY KEY, a encrypted_text('key=doomed')); CREATE TABLE doomed_too (LIKE doomed);
               INSERT INTO doomed VALUES (1, 'x')},
  wrong   => "SELECT tde_destroy_key('doomed', 'yes')",
  state   => '22023',
  message => qr/^destruction of key "doomed" is not confirmed$/,
  hint    => qr/^To confirm, run: (SELECT .*;)$/,
  then    => q{SELECT count(*) FROM tde.keys WHERE name = 'doomed' AND state <> 'destroyed'},
  gives   => '0');
mistake(
  $node, 'values under a destroyed key',
  wrong   => 'SELECT a FROM doomed',
  state   => 'TDE03',
  message => qr/^data key \d+ was destroyed$/,
  hint    => qr/: (ALTER TABLE .* USING NULL;)$/,
  fill    => [ 'doomed', 'a', 'encrypted_text' ],
  mend    => sub { $_[0] =~ s/NAME/cards/r });
mistake(
  $node, 'new values under a destroyed key',
  wrong   => "INSERT INTO doomed_too VALUES (2, 'y')",
  state   => 'TDE03',
  message => qr/^the data key of slot \d+ was destroyed$/,
  hint    => qr/: (ALTER TABLE .* USING NULL;)$/,
  fill    => [ 'doomed_too', 'a', 'encrypted_text' ],
  mend    => sub { $_[0] =~ s/NAME/cards/r });
mistake(
  $node, 'the version in use dropped',
  before  => q{SELECT tde_create_key('drops'); CREATE TABLE drops (a encrypted_text('key=drops')); INSERT INTO drops VALUES ('x')},
  wrong   => "SELECT tde_drop_key_version('drops', 1)",
  state   => '55006',
  message => qr/^cannot drop version 1 of key "drops" because it is the only one$/,
  hint    => qr/^Make a newer version first, (SELECT tde_rotate_key\('drops'\)), or/,
  then    => "SELECT max(version) FROM tde.keys WHERE name = 'drops'",
  gives   => '2');
mistake(
  $node, 'a version dropped that values are under',
  wrong   => "SELECT tde_drop_key_version('drops', 1)",
  state   => '2BP01',
  message => qr/^cannot drop version 1 of key "drops" because it is still used$/,
  hint    => qr/^Use (CALL tde_rekey_table\(\.\.\.\)) for tables/,
  fill    => ["'drops'"]);
mistake(
  $node, 'a version that there is none of',
  wrong   => "SELECT tde_drop_key_version('drops', 1)",
  state   => '42704',
  message => qr/^key "drops" has no version 1$/,
  hint    => qr/^The view (tde\.keys) lists them\.$/,
  mend    => sub { "SELECT tde_rotate_key('drops'); CALL tde_rekey_table('drops'); SELECT min(version) FROM $_[0] WHERE name = 'drops'" },
  then    => sub { "SELECT tde_drop_key_version('drops', " . (split /\n/, $_[0])[-1] . ')' });
mistake(
  $node, 'keys deleted',
  before  => "SELECT tde_create_key('unused'); SELECT tde_rotate_key('unused')",
  wrong   => "DELETE FROM tde.data_keys WHERE name = 'unused' AND version = 1",
  state   => '42501',
  message => qr/^cannot change table "tde\.data_keys" directly$/,
  hint    => qr/^Remove a version that nothing uses any more with (tde_drop_key_version)\(\)/,
  mend    => sub { "SELECT $_[0]('unused', 1)" },
  then    => q{SELECT version FROM tde.keys WHERE name = 'unused'},
  gives   => '2');
mistake(
  $node, 'a key updated',
  wrong   => "UPDATE tde.data_keys SET name = 'used' WHERE name = 'unused'",
  state   => '42501',
  message => qr/^cannot change table "tde\.data_keys" directly$/,
  hint    => qr/(tde_rename_key)\(\)/,
  mend    => sub { "SELECT $_[0]('unused', 'used')" },
  then    => q{SELECT name FROM tde.keys WHERE name LIKE '%used'},
  gives   => 'used');
mistake(
  $node, 'a key inserted',
  wrong   => 'INSERT INTO tde.data_keys DEFAULT VALUES',
  state   => '42501',
  message => qr/^cannot change table "tde\.data_keys" directly$/,
  hint    => qr/^Make keys with (tde_create_key)\(\)/,
  mend    => sub { "SELECT $_[0]('inserted')" },
  then    => q{SELECT name FROM tde.keys WHERE name = 'inserted'},
  gives   => 'inserted');
mistake(
  $node, 'a key made in a transaction that has renamed one',
  wrong   => "BEGIN; SELECT tde_rename_key('inserted', 'renamed'); SELECT tde_rotate_key(); COMMIT",
  state   => '55000',
  message => qr/^cannot make version \d+ of key "default" in a transaction that has renamed, dropped or adopted keys$/,
  hint    => qr/^(Commit) first\.$/,
  mend    => sub { "BEGIN; SELECT tde_rename_key('inserted', 'renamed'); $_[0]; SELECT tde_rotate_key()" },
  then    => q{SELECT count(*) FROM tde.keys WHERE name = 'renamed'},
  gives   => '1');
mistake(
  $node, 'a prepared transaction that has rotated',
  wrong   => "BEGIN; CREATE TABLE prepared (id int); SELECT tde_rotate_master_key(); PREPARE TRANSACTION 'p'",
  state   => '0A000',
  message => qr/^cannot PREPARE a transaction that has changed encryption keys$/,
  hint    => qr/^Change keys in (a transaction of its own)\.$/,
  mend    => sub { 'SELECT tde_rotate_master_key()' },
  then    => "BEGIN; CREATE TABLE prepared (id int); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'");
mistake(
  $node, 'a weak secret',
  wrong   => "SELECT tde_export_keys('short')",
  state   => '22023',
  message => qr/^secret is too weak$/,
  hint    => qr/^(SELECT gen_random_uuid\(\);) makes one/,
  then    => sub { "SELECT length(tde_export_keys('$_[0]')) > 100" },
  gives   => 't');
my $exported = lines_of($node, "SELECT tde_export_keys('secret-of-export')");
mistake(
  $node, 'keys imported with another secret',
  wrong   => "SELECT tde_import_keys('$exported', 'secret-of-import')",
  state   => 'TDE04',
  message => qr/^could not unwrap exported keys$/,
  hint    => qr/^Give the secret that (tde_export_keys)\(\) was given/,
  mend    => sub { "SELECT $_[0]('secret-of-import')" },
  then    => sub { "SELECT tde_import_keys('$_[0]', 'secret-of-import')" },
  gives   => '0');
mistake(
  $node, 'half of the keys imported',
  wrong   => q{SELECT tde_import_keys('} . substr($exported, 0, 6) . q{', 'secret-of-export')},
  state   => '22023',
  message => qr/^text does not contain keys that tde_export_keys\(\) has exported$/,
  hint    => qr/^Give the whole text that (tde_export_keys)\(\) has returned\.$/,
  mend    => sub { "SELECT $_[0]('secret-of-export')" },
  then    => sub { "SELECT tde_import_keys('$_[0]', 'secret-of-export')" },
  gives   => '0');
mistake(
  $node, 'a database without keys',
  db      => 'late',
  wrong   => "INSERT INTO late VALUES (1, 'x') RETURNING a",
  state   => 'TDE03',
  message => qr/^this database has no data key for literals yet$/,
  hint    => qr/^Run once in this database, as a superuser: (SELECT tde_wallet_open\(\);)$/,
  gives   => 'x');

# ---- types ----

# Modifiers and names: what the hint says is put into the declaration.
foreach (
  [ 'text(aes-256)',        'a hyphen',                           '42601', qr/^type modifiers must be simple constants/,                      qr/^Modifiers are words such as (aes256)/,   'text(%s)' ],
  [ 'text(key=cards)',      'a key without quotes',               '42601', qr/^type modifiers must be simple constants/,                      qr/Quote '3des168' and '(key=)NAME'\.$/,     q{text('%scards')} ],
  [ 'text(aes257)',         'a cipher that there is none of',     '22023', qr/^invalid modifiers for type encrypted_text$/,                  qr/one of aes128, aes192, (aes256)/,         'text(%s)' ],
  [ 'text(3des168)',        'triple DES without quotes',          '42601', qr/^trailing junk after numeric literal/,                         qr/^Quote it: ('3des168')\.$/,               'text(%s)' ],
  [ 'text(des3,gcm)',       'a MAC that the cipher cannot have',  '22023', qr/^invalid modifiers for type encrypted_text$/,                  qr/gcm, (sha256), mac or nomac/,             'text(des3,%s)' ],
  [ 'text(salt,nosalt)',    'two that contradict each other',     '22023', qr/^invalid modifiers for type encrypted_text$/,                  qr/; salt or (nosalt);/,                     'text(%s)' ],
  [ 'text(30)',             'a length of text',                   '22023', qr/^base type text of encrypted_text does not take the modifier "30"$/, qr/^Write encrypted_(varchar\(30\))\.$/, '%s' ],
  [ 'int4(4)',              'a length of a number',               '22023', qr/^base type integer of encrypted_int4 does not take the modifier "4"$/, qr/^(Leave it out)\.$/,               'int4' ],
  [ q{text('pad=max')},     'the longest of any length',          '22023', qr/^type encrypted_text cannot be padded to its longest value$/,  qr/: ('pad=64')\.$/,                         'text(%s)' ],
  [ q{text(nomac,'pad=8')}, 'padding without gcm',                '22023', qr/^invalid modifiers for type encrypted_text$/,                  qr/; (gcm), sha256, mac or nomac/,           q{text(%s,'pad=8')} ],
  [ q{text('key=hash')},    'a key that has another use',         '42602', qr/^invalid name for a key: "hash"$/,                             qr/^()/,                                     q{text('key=hashes')} ])
{
  my ($declared, $name, $state, $message, $hint, $meant) = @$_;
  my $table = 'typed' . $count;
  mistake($node, $name, wrong => "CREATE TABLE $table (a encrypted_$declared)", state => $state, message => $message, hint => $hint,
    mend => sub { "CREATE TABLE $table (a encrypted_" . sprintf($meant =~ /%/ ? $meant : "$meant%.0s", $_[0]) . ')' }, then => "SELECT a FROM $table");
}
mistake(
  $node, 'a type without an encrypted one',
  wrong   => 'CREATE TABLE funds (a encrypted_money)',
  state   => '42704',
  message => qr/^type "encrypted_money" does not exist$/,
  hint    => qr/^A superuser makes it: (SELECT tde_create_type\('money'\);)$/);
mistake(
  $node, 'serial',
  wrong   => 'CREATE TABLE numbered (id encrypted_serial)',
  state   => '42704',
  message => qr/^type "encrypted_serial" does not exist$/,
  hint    => qr/^Write (encrypted_int4 NOT NULL), and run (ALTER TABLE \.\.\. ALTER COLUMN \.\.\. ADD GENERATED BY DEFAULT AS IDENTITY)\.$/,
  mend    => sub { "CREATE TABLE numbered (id $_[0], n int); $_[1]" =~ s/ALTER TABLE \.{3} ALTER COLUMN \.{3}/ALTER TABLE numbered ALTER COLUMN id/r },
  then    => 'INSERT INTO numbered (n) VALUES (1), (2) RETURNING id',
  gives   => "1\n2");
mistake(
  $node, "SQL's name of a type in a cast",
  wrong   => 'SELECT 1::encrypted_integer',
  state   => '42704',
  message => qr/^type "encrypted_integer" does not exist$/,
  hint    => qr/^Write (encrypted_int4)\.$/,
  mend    => sub { "SELECT 1::$_[0]" },
  then    => 'SELECT 1::encrypted_int4',
  gives   => '1');
mistake(
  $node, "Oracle's declaration",
  wrong   => "CREATE TABLE oracle (a text ENCRYPT USING 'AES256')",
  state   => '42601',
  message => qr/^syntax error at or near "ENCRYPT"$/,
  hint    => qr/^Declare an encrypted type, such as (encrypted_text)\./,
  mend    => sub { "CREATE TABLE oracle (a $_[0], p text)" },
  then    => 'SELECT a FROM oracle');
mistake(
  $node, 'another kind of numbers under a CHECK',
  before  => 'CREATE TABLE narrower (n encrypted_numeric CHECK (n > 5))',
  wrong   => 'ALTER TABLE narrower ALTER n TYPE encrypted_int4',
  state   => '42725',
  message => qr/^operator is not unique: encrypted_int4 > /,
  hint    => qr/: (ALTER TABLE .*;)$/,
  fill    => [ 'narrower', 'narrower_n_check', 'n', 'encrypted_int4', 'n > 5' ],
  then    => 'INSERT INTO narrower VALUES (6)',
  gives   => '');
mistake(
  $node, 'a column with an index over an expression',
  before  => q{CREATE TABLE computed (a text); INSERT INTO computed VALUES ('A'); CREATE INDEX ON computed (lower(a))},
  wrong   => 'ALTER TABLE computed ALTER a TYPE encrypted_text',
  state   => '42P17',
  message => qr/^functions in index expression must be marked IMMUTABLE$/,
  hint    => qr/: (DROP INDEX .*;)$/,
  fill    => [ 'computed_lower_idx', 'computed', 'a', 'encrypted_text', 'computed (lower(a))' ],
  then    => q{SELECT a FROM computed WHERE lower(a) = 'a'},
  gives   => 'A');
mistake(
  $node, 'an index with a condition',
  before  => 'CREATE TABLE conditional (n int); CREATE INDEX ON conditional (n) WHERE n > 5',
  wrong   => 'ALTER TABLE conditional ALTER n TYPE encrypted_text',
  state   => '42883',
  message => qr/^operator does not exist: encrypted_text > integer$/,
  hint    => qr/^A CHECK constraint, or the condition of an index, .* (Drop it), change the type, and make it again/,
  mend    => sub { q{DROP INDEX conditional_n_idx; ALTER TABLE conditional ALTER n TYPE encrypted_text; CREATE INDEX ON conditional (n) WHERE n > '5'} },
  then    => q{INSERT INTO conditional VALUES ('6')},
  gives   => '');
# what has another cause keeps PostgreSQL's hint
foreach ("ALTER n TYPE encrypted_text USING to_chr(n, '9')",
  'ALTER n TYPE encrypted_int4, ADD CHECK (nofunc(n))',
  'ALTER n TYPE encrypted_int4, ADD z int CHECK (nofunc(z))',
  'ALTER n TYPE encrypted_int4, ADD z int DEFAULT nofunc(1)',
  'ALTER n TYPE encrypted_int4 USING raises(n)')
{
  lines_of($node, q{DROP TABLE IF EXISTS others; CREATE TABLE others (n numeric); INSERT INTO others VALUES (1);
    CREATE OR REPLACE FUNCTION raises(numeric) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN nofunc($1); END $$});
  like(attempt($node, "ALTER TABLE others $_")->{hint}, qr/^No function matches/, "$_: PostgreSQL's hint");
}
mistake(
  $node, "Oracle's ALTER TABLE",
  wrong   => 'ALTER TABLE oracle MODIFY (p ENCRYPT)',
  state   => '42601',
  message => qr/^syntax error at or near "MODIFY"$/,
  hint    => qr/: (CALL tde_encrypt_column\('TABLE', 'COLUMN'\);)$/,
  mend    => sub { $_[0] =~ s/TABLE/oracle/r =~ s/COLUMN/p/r },
  then    => q{SELECT count(*) FROM tde.encrypted_columns WHERE table_name = 'oracle' AND column_name = 'p'},
  gives   => '1');
mistake(
  $node, 'an encrypted type of an array',
  wrong   => "SELECT tde_create_type('int4[]')",
  state   => '0A000',
  message => qr/^cannot make an encrypted type of integer\[\]$/,
  hint    => qr/^Make the encrypted version of the (element), /,
  mend    => sub { 'CREATE TABLE arrays (a encrypted_int4[])' },
  then    => q{INSERT INTO arrays VALUES ('{1,2}') RETURNING a[2]},
  gives   => '2');
mistake(
  $node, 'text for bytea',
  before  => 'CREATE TABLE bytes (b encrypted_bytea)',
  wrong   => "INSERT INTO bytes VALUES ('abc'::text)",
  state   => '42804',
  message => qr/^column "b" is of type encrypted_bytea but expression is of type text$/,
  hint    => qr/(cast) the expression\.$/,
  mend    => sub { "INSERT INTO bytes VALUES ($_[0]('abc'::text AS bytea)) RETURNING b" },
  then    => 'SELECT b FROM bytes',
  gives   => '\x616263');
mistake(
  $node, 'columns of two types joined by name',
  before  => 'CREATE TABLE larger (x encrypted_int4); CREATE TABLE smaller (x smallint)',
  wrong   => 'SELECT count(*) FROM larger JOIN smaller USING (x)',
  state   => '42804',
  message => qr/^JOIN\/USING types encrypted_int4 and smallint cannot be matched$/,
  hint    => qr/: (ON a\.x = b\.x)\.$/,
  mend    => sub { "SELECT count(*) FROM larger a JOIN smaller b $_[0]" },
  then    => 'SELECT count(*) FROM larger a JOIN smaller b ON a.x = b.x',
  gives   => '0');

# What is wrong with a value alone is said as of a plain column, to the letter.
my %columns = (v => 'varchar(3)', n => 'numeric(4,2)', i => 'int2', d => 'date', b => 'bytea', j => 'jsonb', u => 'uuid', f => 'bool', t => 'time', c => 'inet');
lines_of($node, "CREATE TABLE $_->[0] (" . join(', ', map { "$_->{column} $_->{type}" } @{ $_->[1] }) . ')')
  foreach [ plain => [ map { { column => $_, type => $columns{$_} } } sort keys %columns ] ],
  [ encrypted => [ map { { column => $_, type => "encrypted_$columns{$_}" } } sort keys %columns ] ];
foreach (
  [ v => q{'long one'} ], [ n => 123.45 ], [ i => 40000 ], [ d => q{'2026-13-01'} ], [ b => q{'\xzz'} ], [ j => q{'\{x'} ], [ u => q{'1'} ], [ f => q{'perhaps'} ],
  [ t => q{'25:00'} ], [ c => q{'1.2.3'} ])
{
  my ($column, $value) = @$_;
  my ($encrypted, $plain) = map { attempt($node, "INSERT INTO $_ ($column) VALUES ($value)") } qw(encrypted plain);
  $count++;
  isnt($plain->{state}, '', "$columns{$column}: a wrong value");
  is($encrypted->{$_}, $plain->{$_}, "$columns{$column}: $_ as of a plain column") foreach qw(state message detail hint);
}

# ---- declarations ----

lines_of($node, q{CREATE EXTENSION pg_trgm; CREATE TABLE docs (id int PRIMARY KEY, t encrypted_text, n encrypted_int4, p text);
                  INSERT INTO docs SELECT i, 'text ' || i, i, i FROM generate_series(1, 20) i});
mistake(
  $node, 'a gin index',
  wrong   => 'CREATE INDEX docs_gin ON docs USING gin (t gin_trgm_ops)',
  state   => '42804',
  message => qr/^operator class "gin_trgm_ops" does not accept data type encrypted_text$/,
  hint    => qr/: (SELECT tde_create_gin_class\('gin_trgm_ops'\);)$/);
mistake(
  $node, 'a gist index',
  wrong   => 'CREATE INDEX ON docs USING gist (t)',
  state   => '42704',
  message => qr/^data type encrypted_text has no default operator class for access method "gist"$/,
  hint    => qr/^Encrypted columns have (btree), hash, brin and gin indexes/,
  mend    => sub { "CREATE INDEX docs_btree ON docs USING $_[0] (t)" },
  then    => q{SET enable_seqscan = off; SELECT id FROM docs WHERE t = 'text 7'},
  gives   => '7');
mistake(
  $node, 'an index over an expression in clear',
  wrong   => q{CREATE INDEX ON docs (to_char(n, '999'))},
  state   => '42P17',
  message => qr/^functions in index expression must be marked IMMUTABLE$/,
  hint    => qr/^Index the column itself, or what .* make of it: (lower)\(name\)\./,
  mend    => sub { "CREATE INDEX docs_lower ON docs ($_[0](t)); CREATE INDEX docs_n ON docs (n)" },
  then    => q{SET enable_seqscan = off; SELECT id FROM docs WHERE lower(t) = 'text 7'},
  gives   => '7');
mistake(
  $node, 'an index that would tell the order',
  before  => 'CREATE TABLE secret (a encrypted_text(unordered))',
  wrong   => 'CREATE INDEX ON secret (a text_pattern_ops)',
  state   => '0A000',
  message => qr/^index "secret_a_idx" would tell the order of column "a"$/,
  hint    => qr/(ALTER TABLE \.\.\. ALTER COLUMN \.\.\. TYPE), with the modifier (ordered)\.$/,
  mend    => sub { "$_[0] encrypted_text($_[1])" },
  fill    => [ 'secret', 'a' ]);
mistake(
  $node, 'an identity column',
  wrong   => 'CREATE TABLE identity (id encrypted_int4 GENERATED ALWAYS AS IDENTITY)',
  state   => '22023',
  message => qr/^identity column type must be smallint, integer, or bigint$/,
  hint    => qr/^Declare the column NOT NULL without it, and run (ALTER TABLE \.\.\. ALTER COLUMN \.\.\. ADD GENERATED BY DEFAULT AS IDENTITY): /,
  mend    => sub { "CREATE TABLE identity (id encrypted_int4 NOT NULL, n int); $_[0]" },
  fill    => [ 'identity', 'id' ],
  then    => 'INSERT INTO identity (n) VALUES (1) RETURNING id',
  gives   => '1');
mistake(
  $node, 'the identity of a column that can be NULL',
  before  => 'CREATE TABLE nullable (id encrypted_int4, n int)',
  wrong   => 'ALTER TABLE nullable ALTER id ADD GENERATED BY DEFAULT AS IDENTITY',
  state   => '55000',
  message => qr/^column "id" of relation "nullable" must be declared NOT NULL before identity can be added$/,
  hint    => qr/^(ALTER TABLE public\.nullable ALTER COLUMN id SET NOT NULL;)$/);
mistake(
  $node, 'an identity that is always generated',
  before  => 'CREATE TABLE always (id encrypted_int4 NOT NULL, n int)',
  wrong   => 'ALTER TABLE always ALTER id ADD GENERATED ALWAYS AS IDENTITY',
  state   => '22023',
  message => qr/^identity column type must be smallint, integer, or bigint$/,
  hint    => qr/^If the column is encrypted, write (GENERATED BY DEFAULT)\.$/,
  mend    => sub { "ALTER TABLE always ALTER id ADD $_[0] AS IDENTITY" },
  then    => 'INSERT INTO always (n) VALUES (1) RETURNING id',
  gives   => '1');
mistake(
  $node, 'decrypted by ALTER TABLE',
  before  => q{CREATE TABLE altered (a encrypted_text); INSERT INTO altered VALUES ('x')},
  wrong   => 'ALTER TABLE altered ALTER a TYPE text',
  state   => '00000',
  message => qr/^column "a" has type encrypted_text\(.*\) instead of text$/,
  hint    => qr/^To decrypt it: (CALL tde_decrypt_column\('public\.altered', 'a'\);)$/,
  then    => q{SELECT pg_typeof(a), a FROM altered},
  gives   => 'text|x');
mistake(
  $node, 'decrypted by ALTER TABLE, where that is an error',
  before  => q{CREATE TABLE kept (a encrypted_text); INSERT INTO kept VALUES ('x')},
  wrong   => 'SET tde_column.plaintext_alter = error; ALTER TABLE kept ALTER a TYPE text',
  state   => '42P16',
  message => qr/^cannot change column "a" to type text$/,
  hint    => qr/  To decrypt the column: (CALL tde_decrypt_column\('public\.kept', 'a'\))\.$/,
  then    => q{SELECT pg_typeof(a), a FROM kept},
  gives   => 'text|x');
mistake(
  $node, 'encrypted by ALTER TABLE, with another base type',
  before  => q{CREATE TABLE digits (p text); INSERT INTO digits VALUES ('5')},
  wrong   => 'ALTER TABLE digits ALTER p TYPE encrypted_int4',
  state   => '42804',
  message => qr/^column "p" cannot be cast automatically to type encrypted_int4$/,
  hint    => qr/"(USING .*)"\.$/,
  mend    => sub { "ALTER TABLE digits ALTER p TYPE encrypted_int4 $_[0]" },
  then    => 'SELECT p + 1 FROM digits',
  gives   => '6');
mistake(
  $node, 'a table of decrypted values',
  wrong   => 'CREATE TABLE in_clear AS SELECT t::text AS t FROM docs',
  state   => '01000',
  message => qr/^table "in_clear" stores decrypted values$/,
  hint    => qr/^(Cast) them to an encrypted type\.$/,
  mend    => sub { "DROP TABLE in_clear; CREATE TABLE in_clear AS SELECT $_[0](t AS encrypted_text) AS t FROM docs" },
  then    => q{SELECT count(*) FROM tde.encrypted_columns WHERE table_name = 'in_clear'},
  gives   => '1');
mistake(
  $node, 'statistics of decrypted values',
  wrong   => 'CREATE STATISTICS docs_s ON (lower(t)), p FROM docs',
  state   => '42P17',
  message => qr/^statistics object "docs_s" would store decrypted values$/,
  hint    => qr/^Name (the columns) themselves/,
  mend    => sub { 'CREATE STATISTICS docs_s ON t, p FROM docs' },
  then    => 'ANALYZE docs');
mistake(
  $node, 'a generated column in clear',
  wrong   => q{ALTER TABLE docs ADD g text GENERATED ALWAYS AS (to_char(n, '999')) STORED},
  state   => '42P17',
  message => qr/^generation expression is not immutable$/,
  hint    => qr/make of encrypted columns: (lower\(name\))\./,
  mend    => sub { 'ALTER TABLE docs ADD g text GENERATED ALWAYS AS (' . $_[0] =~ s/name/t/r . ') STORED' },
  then    => 'SELECT g FROM docs WHERE id = 3',
  gives   => 'text 3');

# ---- conversions ----

my @converted = (before => q{CREATE TABLE people (id int PRIMARY KEY, name text, ssn encrypted_text); INSERT INTO people SELECT i, 'name ' || i, i FROM generate_series(1, 50) i});
mistake(
  $node, 'a plain column decrypted',
  @converted,
  wrong   => "CALL tde_decrypt_column('people', 'name')",
  state   => '42809',
  message => qr/^column "name" is not encrypted$/,
  hint    => qr/^The view (tde\.encrypted_columns) lists those that are\.$/,
  mend    => sub { "SELECT column_name FROM $_[0] WHERE table_name = 'people'" },
  then    => sub { "CALL tde_decrypt_column('people', '$_[0]')" });
mistake(
  $node, 'an encrypted column encrypted',
  before  => "CALL tde_encrypt_column('people', 'ssn')",
  wrong   => "CALL tde_encrypt_column('people', 'ssn', 'aes128')",
  state   => '42809',
  message => qr/^column "ssn" is encrypted already, as encrypted_text\(aes256,salt,gcm\)$/,
  hint    => qr/^(ALTER TABLE public\.people ALTER COLUMN ssn TYPE \.\.\.) changes how\.$/,
  fill    => ['encrypted_text(aes128)'],
  then    => q{SELECT cipher FROM tde.encrypted_columns WHERE table_name = 'people'},
  gives   => 'aes128');
mistake(
  $node, 'a column whose type has no encrypted one',
  before  => 'CREATE TABLE places (p point, r int4range)',
  wrong   => "CALL tde_encrypt_column('places', 'p')",
  state   => '42704',
  message => qr/^type point has no encrypted type$/,
  hint    => qr/^(SELECT tde_create_type\('point'\);) makes one\.$/);
mistake(
  $node, 'a range encrypted',
  before  => q{INSERT INTO places (r) VALUES ('[1,5)'), ('empty'), (NULL), ('(,3)')},
  wrong   => "CALL tde_encrypt_column('places', 'r')",
  state   => '42704',
  message => qr/^type int4range has no encrypted type$/,
  hint    => qr/^(CREATE TYPE \.\.\. AS RANGE \(SUBTYPE = encrypted_int4\); ALTER TABLE public\.places ALTER COLUMN r TYPE .*;)$/,
  fill    => [ ('encrypted_int4range') x 3 ],
  then    => 'SELECT r FROM places ORDER BY r',
  gives   => "empty\n(,3)\n[1,5)\n");
mistake(
  $node, 'a view in place of the table',
  before  => 'CREATE VIEW people_view AS SELECT * FROM people',
  wrong   => "CALL tde_encrypt_column('people_view', 'name')",
  state   => '42809',
  message => qr/^"people_view" is not a table$/,
  hint    => qr/^Name (the table) that stores the column\.$/,
  mend    => sub { "CALL tde_encrypt_column('people', 'name')" },
  then    => q{SELECT name FROM people_view WHERE name = 'name 7'},
  gives   => 'name 7');
lines_of($node, "CALL tde_decrypt_column('people', 'name'); CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; GRANT CREATE ON SCHEMA public TO ann; DROP VIEW people_view");
mistake(
  $node, 'not the owner',
  before  => 'ALTER TABLE people OWNER TO ann',
  user    => 'bob',
  wrong   => "CALL tde_encrypt_column('people', 'name')",
  state   => '42501',
  message => qr/^must be owner of table people$/,
  hint    => qr/^Have it called by role (ann), which owns the table\.$/,
  mend    => sub { "SET ROLE $_[0]; CALL tde_encrypt_column('people', 'name'); CALL tde_decrypt_column('people', 'name')" },
  then    => 'SELECT 1');
mistake(
  $node, 'online in a transaction block',
  wrong   => "BEGIN; CALL tde_encrypt_column('people', 'name', online => true); COMMIT",
  state   => '25001',
  message => qr/^a procedure that commits cannot be called in a transaction block or by a function$/,
  hint    => qr/^Commit first, and (CALL) it by itself\.$/,
  mend    => sub { "$_[0] tde_encrypt_column('people', 'name', online => true)" },
  then    => 'SELECT phase FROM tde.conversions',
  gives   => 'copy');
mistake(
  $node, 'offline while it is converted online',
  wrong   => "CALL tde_encrypt_column('people', 'name')",
  state   => '55006',
  message => qr/^column "name" of table "people" is being converted online$/,
  hint    => qr/, (CALL tde_abort_conversion\('public\.people', 'name'\);) undoes it\.$/,
  then    => "CALL tde_encrypt_column('people', 'name'); SELECT name FROM people WHERE id = 7",
  gives   => 'name 7');
mistake(
  $node, 'likewise, and it is ended',
  before  => "CALL tde_decrypt_column('people', 'name'); CALL tde_encrypt_column('people', 'name', online => true)",
  wrong   => "CALL tde_encrypt_column('people', 'name')",
  state   => '55006',
  message => qr/is being converted online$/,
  hint    => qr/^(CALL tde_finish_conversion\('public\.people', 'name'\);) ends that, /,
  then    => q{SELECT count(*) FROM tde.encrypted_columns WHERE table_name = 'people'},
  gives   => '2');
mistake(
  $node, 'ended before it was begun',
  before  => "CALL tde_decrypt_column('people', 'name')",
  wrong   => "CALL tde_finish_conversion('people', 'name')",
  state   => '55000',
  message => qr/^column "name" is not being converted$/,
  hint    => qr/^(CALL tde_encrypt_column\('public\.people', 'name', online => true\);) begins it\.$/);
mistake(
  $node, 'ended without its indexes',
  before  => "CALL tde_decrypt_column('people', 'name'); CREATE INDEX people_name ON people (name); CALL tde_encrypt_column('people', 'name', online => true)",
  wrong   => "CALL tde_finish_conversion('people', 'name')",
  state   => '55000',
  message => qr/^indexes of the copy of column "name" are missing$/,
  hint    => qr/, or: (SELECT tde_conversion_indexes\('public\.people', 'name'\) \\gexec)$/);
mistake(
  $node, 'the copy dropped',
  before  => "CALL tde_decrypt_column('people', 'name'); DROP INDEX people_name; CALL tde_encrypt_column('people', 'name', online => true)",
  wrong   => q{DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE people DROP COLUMN %I', helper_column) FROM tde.conversions); END $$; UPDATE people SET id = id},
  state   => '55000',
  message => qr/^conversion of column "name" of table "people" cannot go on$/,
  hint    => qr/^End the conversion: (DROP TRIGGER .*;)$/,
  then    => 'UPDATE people SET id = id');
mistake(
  $node, 'the column altered',
  before  => "CALL tde_encrypt_column('people', 'name', online => true)",
  wrong   => 'ALTER TABLE people ALTER name TYPE encrypted_text; UPDATE people SET id = id',
  state   => '55000',
  message => qr/^conversion of column "name" of table "people" cannot go on$/,
  hint    => qr/^End the conversion: (DROP TRIGGER .*;)$/,
  then    => 'UPDATE people SET id = id');
mistake(
  $node, 'begun again without its copy',
  before  => q{CALL tde_decrypt_column('people', 'name'); CALL tde_encrypt_column('people', 'name', online => true);
               DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE people DROP COLUMN %I', helper_column) FROM tde.conversions); END $$},
  wrong   => "CALL tde_encrypt_column('people', 'name', online => true)",
  state   => '55000',
  message => qr/^a conversion of column "name" has been broken off$/,
  hint    => qr/^End it: (DROP TRIGGER .*;)$/,
  then    => "CALL tde_encrypt_column('people', 'name', online => true); CALL tde_finish_conversion('people', 'name'); SELECT name FROM people WHERE id = 7",
  gives   => 'name 7');
{
  my $writer = session($node);
  my $wrong  = q{SET lock_timeout = '100ms'; CALL tde_decrypt_column('people', 'name', online => true)};
  mistake(
    $node, 'a table in use',
    before  => sub { session_try($writer, 'BEGIN; UPDATE people SET id = id WHERE id = 1') },
    wrong   => $wrong,
    state   => '55P03',
    message => qr/^could not lock table public\.people in time$/,
    hint    => qr/^(Call it again): it goes on where it was/,
    mend    => sub { session_try($writer, 'COMMIT'); $wrong },
    then    => "CALL tde_finish_conversion('people', 'name'); SELECT name FROM people WHERE id = 7",
    gives   => 'name 7');
  $writer->quit;
}
mistake(
  $node, 'what depends on the column',
  before  => 'CREATE INDEX people_trgm ON people USING gist (name gist_trgm_ops)',
  wrong   => "CALL tde_encrypt_column('people', 'name')",
  state   => '2BP01',
  message => qr/^column "name" of table "people" cannot be encrypted because other objects depend on its type$/,
  hint    => qr/^(Drop) them, convert the column/,
  mend    => sub { "$_[0] INDEX people_trgm" });
mistake(
  $node, 'a partition in place of its table',
  before  => 'CREATE TABLE parted (id int, p text) PARTITION BY RANGE (id); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (9)',
  wrong   => "CALL tde_encrypt_column('parted_1', 'p')",
  state   => '42P16',
  message => qr/^column "p" is inherited$/,
  hint    => qr/^Convert the column of table (public\.parted): /,
  mend    => sub { "CALL tde_encrypt_column('$_[0]', 'p')" },
  then    => "INSERT INTO parted VALUES (1, 'x'); SELECT p FROM parted_1",
  gives   => 'x');
mistake(
  $node, 'as many modifiers as columns, but for one',
  before  => 'CREATE TABLE many (a text, b text, c text)',
  wrong   => "CALL tde_encrypt_columns('many', '{a,b,c}', '{aes128,aes256}')",
  state   => '22023',
  message => qr/^number of specs does not match number of columns$/,
  hint    => qr/^Give one for each column, or (one) for all\.$/,
  mend    => sub { "CALL tde_encrypt_columns('many', '{a,b,c}', '{aes128}')" },
  then    => q{SELECT count(*) FROM tde.encrypted_columns WHERE table_name = 'many'},
  gives   => '3');
mistake(
  $node, 're-encrypted in a transaction block',
  wrong   => "BEGIN; CALL tde_rekey_table('many'); COMMIT",
  state   => '25001',
  message => qr/^tde_rekey_table\(\) cannot run inside a transaction block$/,
  hint    => qr/^(Commit) first\.$/,
  mend    => sub { "BEGIN; $_[0]; CALL tde_rekey_table('many')" },
  then    => 'SELECT * FROM many');
mistake(
  $node, 'a view re-encrypted',
  before  => 'CREATE VIEW many_view AS SELECT * FROM many; CREATE MATERIALIZED VIEW many_kept AS SELECT * FROM many',
  wrong   => "CALL tde_rekey_table('many_view')",
  state   => '42809',
  message => qr/^cannot re-encrypt relation "many_view"$/,
  hint    => qr/^Call (tde_rekey_table)\(\) for the tables that it reads\.$/,
  mend    => sub { "CALL $_[0]('many')" },
  then    => 'SELECT * FROM many_view');
mistake(
  $node, 'a materialized view re-encrypted',
  wrong   => "CALL tde_rekey_table('many_kept')",
  state   => '42809',
  message => qr/^cannot re-encrypt relation "many_kept"$/,
  hint    => qr/^(REFRESH MATERIALIZED VIEW) refreshes it\.$/,
  mend    => sub { "$_[0] many_kept" },
  then    => 'SELECT * FROM many_kept');

# ---- roles ----

mistake(
  $node, 'a key rotated by somebody',
  user    => 'bob',
  wrong   => 'SELECT tde_rotate_key() > 0',
  state   => '42501',
  message => qr/^permission denied for function tde_rotate_key$/,
  hint    => qr/^Have a superuser run: (GRANT EXECUTE ON FUNCTION tde_rotate_key TO \.\.\.;)$/,
  fill    => ['bob'],
  gives   => 't');
mistake(
  $node, 'a wallet opened by somebody',
  user    => 'bob',
  wrong   => $open,
  state   => '42501',
  message => qr/^permission denied for function tde_wallet_open$/,
  hint    => qr/^Have a superuser run: (GRANT EXECUTE ON FUNCTION tde_wallet_open\(text\) TO \.\.\.;)$/,
  fill    => ['bob']);
mistake(
  $node, 'a type made by somebody',
  user    => 'bob',
  wrong   => "SELECT tde_create_type('box')",
  state   => '42501',
  message => qr/^permission denied for function tde_create_type$/,
  hint    => qr/^Have (a superuser) call it\.$/,
  mend    => sub { "SELECT tde_create_type('box')" },
  then    => 'SELECT NULL::encrypted_box');
mistake(
  $node, 'a role that there is none of',
  before  => 'GRANT SELECT, INSERT ON docs TO bob',
  wrong   => "ALTER DATABASE postgres SET tde_column.decrypt_role = 'pii'",
  state   => '42704',
  message => qr/^role "pii" does not exist$/,
  hint    => qr/^(CREATE ROLE pii;)$/);
mistake(
  $node, 'read without the right',
  user    => 'bob',
  wrong   => 'SELECT t FROM docs WHERE id = 7',
  state   => '42501',
  message => qr/^permission denied to decrypt values of type encrypted_text$/,
  hint    => qr/, or have a superuser run "(GRANT pii TO bob)"\.$/,
  gives   => 'text 7');
mistake(
  $node, 'copied without the right',
  user    => 'bob',
  before  => 'REVOKE pii FROM bob',
  wrong   => 'COPY (SELECT id, t FROM docs WHERE id = 7) TO STDOUT',
  state   => '42501',
  message => qr/^permission denied to decrypt values of type encrypted_text$/,
  hint    => qr/^(Leave encrypted columns out of the query), /,
  mend    => sub { 'COPY (SELECT id FROM docs) TO STDOUT' },
  then    => 'COPY (SELECT id FROM docs WHERE id = 7) TO STDOUT',
  gives   => '7');
mistake(
  $node, 'a role that was dropped',
  before  => 'DROP ROLE pii',
  user    => 'bob',
  wrong   => 'SELECT t FROM docs WHERE id = 7',
  state   => '42501',
  message => qr/^permission denied to decrypt values of type encrypted_text$/,
  hint    => qr/^Have a superuser run "(CREATE ROLE pii)", or set /,
  mend    => sub { "$_[0] ROLE bob" },
  gives   => 'text 7');
mistake(
  $node, 'a mask of a plain column',
  wrong   => "SELECT tde_set_mask('docs', 'p', 'null')",
  state   => '42809',
  message => qr/^column "p" of table "docs" is not encrypted$/,
  hint    => qr/^Masks are for columns of (an encrypted type)/,
  mend    => sub { "CALL tde_encrypt_column('docs', 'p')" });
mistake(
  $node, 'a mask misspelt',
  wrong   => "SELECT tde_set_mask('docs', 't', 'frist 1')",
  state   => '22023',
  message => qr/^invalid mask/,
  hint    => qr/^A mask is one of: clear; (first 6), last 4/,
  mend    => sub { "REVOKE pii FROM bob; SELECT tde_set_mask('docs', 't', '$_[0]')" },
  then    => 'SET ROLE bob; SELECT t FROM docs WHERE id = 12',
  gives   => 'text 1*');
mistake(
  $node, 'a mask that the type has no parts for',
  wrong   => "SELECT tde_set_mask('docs', 'n', 'domain')",
  state   => '22023',
  message => qr/^values of type encrypted_int4 have no such parts$/,
  hint    => qr/^For any type there are clear, (null) and constant\.$/,
  mend    => sub { "SELECT tde_set_mask('docs', 'n', '$_[0]')" },
  then    => 'SET ROLE bob; SELECT n FROM docs WHERE id = 12',
  gives   => '');
mistake(
  $node, 'a label on the table',
  wrong   => q{SECURITY LABEL FOR tde_column ON TABLE docs IS 'null'},
  state   => '0A000',
  message => qr/^only columns have masks$/,
  hint    => qr/^Use (SECURITY LABEL FOR tde_column ON COLUMN)\.$/,
  mend    => sub { "$_[0] docs.p IS 'null'" },
  then    => 'SET ROLE bob; SELECT p FROM docs WHERE id = 12',
  gives   => '');
mistake(
  $node, 'ciphertext without the right',
  before  => 'ALTER DATABASE postgres RESET tde_column.decrypt_role',
  user    => 'bob',
  wrong   => q{SET tde_column.io_format = ciphertext; SELECT left(t::text, 4), t FROM docs WHERE id = 7},
  state   => '42501',
  message => qr/^permission denied to /,
  hint    => qr/have EXECUTE granted on function (tde_ciphertext_io\(\))\.$/,
  mend    => sub { "GRANT EXECUTE ON FUNCTION $_[0] TO bob" });

# ---- dumps ----

my $cipher = lines_of($node, 'SET tde_column.io_format = ciphertext; SELECT n FROM docs WHERE id = 7');
mistake(
  $node, 'an encrypted dump read as a plain one',
  before  => 'CREATE TABLE restored (n encrypted_int4)',
  wrong   => "COPY restored FROM STDIN;\n$cipher\n\\.",
  state   => '22P02',
  message => qr/^invalid input syntax for type integer/,
  hint    => qr/^Set (tde_column\.io_format) to (ciphertext) to restore an encrypted dump\.$/,
  mend    => sub { "SET $_[0] = $_[1]; COPY restored FROM STDIN;\n$cipher\n\\.\n" },
  then    => 'SELECT n FROM restored',
  gives   => '7');
my $foreign = lines_of($node, 'SET tde_column.io_format = ciphertext; SELECT a FROM late', db => 'late');
mistake(
  $node, 'an encrypted dump of another database',
  wrong   => "SET tde_column.io_format = ciphertext; INSERT INTO early VALUES (2, '$foreign')",
  state   => 'TDE03',
  message => qr/key .*/,
  hint    => qr/^Run (tde_export_keys)\(\) where the value comes from, and (tde_import_keys)\(\) here\./,
  mend    => sub { my $keys = lines_of($node, "SELECT $_[0]('secret-of-export')", db => 'late'); "SELECT $_[1]('$keys', 'secret-of-export')" });
mistake(
  $node, 'the extension dropped while columns need it',
  db      => 'late',
  wrong   => 'DROP EXTENSION tde_column',
  state   => '2BP01',
  message => qr/^cannot drop extension tde_column because other objects depend on it$/,
  hint    => qr/^Decrypt the columns first, by (tde_decrypt_column)\(\)\./,
  mend    => sub { "CALL $_[0]('late', 'a')" },
  then    => 'DROP EXTENSION tde_column; SELECT a FROM late',
  gives   => 'x');

# ---- settings ----

mistake(
  $node, 'a setting of the server in a session',
  wrong   => "SET tde_column.rotate_after = '1d'",
  state   => '55P02',
  message => qr/^parameter "tde_column\.rotate_after" cannot be changed now$/,
  hint    => qr/^(ALTER SYSTEM SET tde_column\.rotate_after = \.\.\.; SELECT pg_reload_conf\(\);)$/,
  fill    => [q{'1d'}],
  then    => 'SELECT pg_sleep(0.3); SHOW tde_column.rotate_after',
  gives   => "\n1d");
foreach (
  [ 'default_spec', 'foo',   qr/^Modifiers are, in any order: one of (aes128),/ ],
  [ 'require',      'pcii',  qr/^Standards are: fips, (pci) and cnsa2\.$/ ],
  [ 'io_format',    'cipher', qr/^Available values: (plaintext), ciphertext\.$/ ],
  [ 'key_wall',     'off',   qr/^Available values: error, (warn)\.$/ ],
  [ 'compression',  'zstd',  qr/^Available values: off, (pglz)/ ],
  [ 'plaintext_alter', 'never', qr/^Available values: keep, warn, (error)\.$/ ])
{
  my ($setting, $wrong, $hint) = @$_;
  mistake($node, "$setting: a word that is not known", wrong => "SET tde_column.$setting = '$wrong'", state => '22023',
    message => qr/^invalid value for parameter "tde_column\.$setting": "$wrong"$/, hint => $hint,
    mend => sub { "SET tde_column.$setting = '$_[0]'" }, then => 'SELECT 1');
}
mistake(
  $node, 'what a standard excludes',
  wrong   => 'SET tde_column.require = pci; CREATE TABLE required (a encrypted_text(nomac))',
  state   => '0A000',
  message => qr/^tde_column\.require = pci excludes encryption without a MAC$/,
  hint    => qr/^Columns with (aes256, salt and gcm) satisfy all standards\.$/,
  mend    => sub { 'SET tde_column.require = pci; CREATE TABLE required (a encrypted_text(' . $_[0] =~ s/ and/,/r . '))' },
  then    => 'SELECT * FROM required');

# ---- another server, a standby ----

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('mistakes_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
own_wallet($standby);
$standby->start;
my $reads = 'SELECT a FROM early WHERE id = 1';
mistake(
  $standby, 'a standby without a wallet',
  wrong   => $reads,
  state   => 'TDE01',
  message => qr/^wallet is not open$/,
  hint    => qr/^There is no file .* and open it with (tde_wallet_open)\(\)\./,
  mend    => sub { send_wallet($node, $standby); "SELECT $_[0]('$pass')" },
  gives   => 'x');
lines_of($node, 'SELECT tde_rotate_master_key()');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
mistake(
  $standby, 'a standby that was not told of the new master key',
  wrong   => $reads,
  state   => 'TDE03',
  message => qr/^master key \S+ is not in the wallet$/,
  hint    => qr/^Copy the primary's wallet file to tde_column\.wallet_file and run (tde_wallet_open\(\))\.$/,
  mend    => sub { send_wallet($node, $standby); "SELECT $_[0]" },
  gives   => 'x');
my $refused = attempt($standby, 'SELECT tde_rotate_key()');
is("$refused->{state} $refused->{message}", '25006 cannot execute tde_rotate_key() in a read-only transaction', 'a key rotated on a standby');
$standby->stop;

my $other = tde_node('mistakes_other', extension => 1);
$other->start;
send_wallet($node, $other);
mistake(
  $other, 'the wallet of another server',
  wrong   => $open,
  state   => '01000',
  message => qr/^the wallet that was opened belongs to another server$/,
  hint    => qr/^If this server is a copy of that one, run (tde_wallet_take_over\(\)) before/,
  mend    => sub { "SELECT $_[0]" },
  then    => "$open; SELECT tde_rotate_master_key() IS NOT NULL",
  gives   => "\nt");
lines_of($node, 'SELECT tde_wallet_close()');
send_wallet($other, $node);
mistake(
  $node, 'changes of a wallet that is another server\'s now',
  before  => $open,
  wrong   => 'SELECT tde_rotate_master_key() IS NOT NULL',
  state   => '55000',
  message => qr/belongs to another server/,
  hint    => qr/(tde_wallet_take_over\(\))/,
  mend    => sub { "SELECT $_[0]" },
  gives   => 't');
mistake(
  $other, 'a wallet that is lost for good',
  before  => sub { lines_of($other, 'SELECT tde_wallet_close()'); unlink wallet_path($other) },
  wrong   => "SELECT tde_wallet_create('another-passphrase')",
  state   => '55000',
  message => qr/^this server has data keys wrapped by another wallet$/,
  hint    => qr/ nevertheless, run: (SELECT tde_wallet_create\(\.\.\., confirm => 'lose \d+ data keys'\);)$/,
  fill    => ["'another-passphrase'"],
  then    => 'SELECT status FROM tde.wallet',
  gives   => 'OPEN');
lines_of($node, 'SELECT tde_wallet_close()');
my $right = read_bytes($path);
send_wallet($other, $node);
mistake(
  $node, 'a wallet that is not this one',
  wrong   => "SELECT tde_wallet_open('another-passphrase')",
  state   => 'TDE03',
  message => qr/^the wallet that was opened lacks the master keys? of \d+ data keys? of this database$/,
  hint    => qr/^If it is the wrong one, run (tde_wallet_close\(\)), put the right file at "(.*)", and run (tde_wallet_open)\(\) again\.$/,
  mend    => sub { write_bytes($_[1], $right); "SELECT $_[0]; SELECT $_[2]('$pass')" },
  then    => $reads,
  gives   => 'x');
# Where it has called them from, somebody wants to know.
my $called = attempt($node, "CREATE TABLE nothing (a int); DO \$\$BEGIN PERFORM 1; CALL tde_decrypt_column('nothing', 'a'); END\$\$");
like($called->{message}, qr/^column "a" is not encrypted$/, 'called by a block of code: message');
is($called->{context} =~ s/line \d+/line N/r,
  qq(SQL statement "CALL tde_decrypt_column('nothing', 'a')"\nPL/pgSQL function inline_code_block line N at CALL), 'called by a block of code: its context');

$node->stop;
$other->stop;

# ---- without shared_preload_libraries ----

my $alone = tde_node('mistakes_alone', extension => 1, preload => 0);
$alone->start;
lines_of($alone, "SELECT tde_wallet_create('$pass'); CREATE TABLE alone (a encrypted_text)");
mistake(
  $alone, 'opened where each session does that by itself',
  wrong   => $open,
  state   => '55000',
  message => qr/^cannot open the wallet for the whole instance$/,
  hint    => qr/, or set (tde_column\.passphrase_command)\.$/,
  mend    => sub { "LOAD 'tde_column'; ALTER SYSTEM SET $_[0] = 'echo $pass'; SELECT pg_reload_conf(); SELECT pg_sleep(0.3)" },
  then    => 'SELECT tde_wallet_open()');
lines_of($alone, "INSERT INTO alone VALUES ('x')");
mistake(
  $alone, 'a passphrase command that prints another one',
  before  => sub { set_conf($alone, 'tde_column.passphrase_command' => 'echo wrong') },
  wrong   => 'SELECT a FROM alone',
  state   => 'TDE01',
  message => qr/^wallet is not open$/,
  hint    => qr/^The passphrase command did not open it; (the server log says why)\.$/,
  mend    => sub {
    my ($why) = slurp_file($alone->logfile) =~ /LOG:  could not open wallet file ".*": (wrong passphrase)/ or return 'the log does not say why';
    set_conf($alone, 'tde_column.passphrase_command' => "echo $pass");
    return "SELECT 1 -- $why";
  },
  gives => 'x');
mistake(
  $alone, 'values where nothing opens the wallet',
  before  => sub { set_conf($alone, 'tde_column.passphrase_command' => '') },
  wrong   => 'SELECT a FROM alone',
  state   => 'TDE01',
  message => qr/^wallet is not open$/,
  hint    => qr/, or add (tde_column) to (shared_preload_libraries)\.$/,
  mend    => sub {
    lines_of($alone, "ALTER SYSTEM SET $_[1] = '$_[0]'");
    $alone->restart;
    return $open;
  },
  gives => 'x');
$alone->stop;

cmp_ok($count, '>=', 60, "$count mistakes");
done_testing();
