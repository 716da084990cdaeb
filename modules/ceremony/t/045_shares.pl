# Opening the wallet by shares: who can do it, which shares do it, and that they are gone when they should be.

use strict;
use warnings FATAL => 'all';

use Digest::SHA qw(sha256);
use FindBin;
use lib "$FindBin::RealBin/../../../test/perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node   = tde_node('shares', extension => 1, conf => "log_statement = all\nlog_min_duration_statement = 0\nlog_min_messages = info\n");
my @digits = split //, '0123456789abcdefghjkmnpqrstvwxyz';
my %all_shares;    # every share that was ever printed

# A share of other bytes, with the right checksum: change() gets its 40 bytes in a list.
sub forge
{
  my ($share, $change) = @_;
  my %value;
  @value{@digits} = 0 .. 31;
  my $bits  = join '', map { sprintf '%05b', $value{$_} } split //, substr($share =~ tr/-//dr, 4);
  my @bytes = unpack 'C40', pack 'B*', $bits;
  $change->(\@bytes);
  my $body = pack 'C40', @bytes;
  $body .= substr sha256("tde1$body"), 0, 5;
  my $forged = 'tde1' . join '', map { $digits[ oct "0b$_" ] } unpack('B*', $body) =~ /.{5}/g;
  $all_shares{$forged} = 1;
  return $forged;
}

# Split the wallet; the shares, by number, and what was said.
sub wallet_split
{
  my ($k, $n) = @_;
  my $got    = attempt($node, "SELECT tde_wallet_split($k, $n)");
  my @shares = split /\n/, $got->{out};
  $all_shares{$_} = 1 foreach @shares;
  return ($got->{err}, undef, @shares);
}

sub open_share
{
  my ($share, %opts) = @_;
  return attempt($node, "SELECT tde_wallet_open_share('$share')", %opts);
}

sub status { return lines_of($node, 'SELECT status FROM tde.wallet'); }

sub close_wallet
{
  lines_of($node, 'SELECT tde_wallet_close()');
  return;
}

$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('first passphrase');
CREATE TABLE card (id int, holder encrypted_text);
INSERT INTO card VALUES (1, 'Ada');
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN;
CREATE ROLE carol LOGIN;
CREATE ROLE dave LOGIN;
GRANT EXECUTE ON FUNCTION tde_wallet_open_share(text) TO alice, bob, carol;
});

# Who may, and what numbers are possible.

foreach my $call ('tde_wallet_split(2, 3)', "tde_wallet_open_share('tde1')", 'tde_wallet_forget_shares()')
{
  my ($name) = $call =~ /^(\w+)/;
  fails_with($node, "SELECT $call", { state => '42501', message => qr/^permission denied for function $name$/ },
    $call, user => 'dave');
}
foreach my $numbers ([ 2, 1 ], [ 2, 256 ], [ 0, 0 ])
{
  fails_with(
    $node,
    "SELECT tde_wallet_split($numbers->[0], $numbers->[1])",
    { state => '22023', message => qr/^number of shares must be from 2 to 255$/ },
    "$numbers->[0] of $numbers->[1]");
}
foreach my $k (-1, 0, 1, 4)
{
  fails_with(
    $node,
    "SELECT tde_wallet_split($k, 3)",
    { state => '22023', message => qr/^number of shares that open the wallet must be from 2 to 3$/ },
    "$k of 3");
}
close_wallet();
fails_with(
  $node,
  'SELECT tde_wallet_split(2, 3)',
  { state => 'TDE01', message => qr/^wallet is not open$/ },
  'splitting a closed wallet');
is(attempt($node, "SELECT tde_wallet_open('first passphrase')")->{state}, '', 'failures leave the passphrase as it was');

# Splitting.

my ($said, @old) = wallet_split(3, 4);
is(scalar(@old), 5, 'four shares');
like($said, qr/NOTICE:  00000: 3 of these 4 shares open the wallet from now on\n/, 'with a notice of how many are needed');
like(
  $said,
  qr/NOTICE:  00000: earlier copies of the wallet are still under the old passphrase\nHINT:  Once [^\n]*, remove "[^"]*\.previous", the copies/,
  'and one about earlier copies');
unlike($said, qr/WARNING/, 'and no warning');
like($old[$_], qr/^tde1(?:-[0-9a-hjkmnp-tv-z]{4}){18}$/, "share $_ looks as documented") foreach 1 .. 4;

($said, my @shares) = wallet_split(3, 5);
is(scalar(@shares),                              6,      'five shares');
is(status(),                                     'OPEN', 'the wallet stays open');
is(lines_of($node, 'SELECT holder FROM card'),   'Ada',  'values can be read');
is(scalar(keys %{ { map { $_ => 1 } @shares[ 1 .. 5 ] } }), 5, 'all shares are different');

# Trying them while the wallet is open.

my $got = open_share($shares[1]);
is($got->{out}, '1 of 3 shares are in', 'a share while the wallet is open');
like($got->{err}, qr/NOTICE:  00000: wallet is open already\n/, 'with a notice that it is');
open_share($shares[2]);
is(open_share($shares[3])->{out}, '3 of 3 shares are in, the wallet is open', 'opened anew');

# Opening, by roles that can do nothing else, each in a session of its own, one of them in a transaction that is rolled back.

foreach my $chosen ([ 1, 2, 3 ], [ 5, 3, 1 ], [ 4, 5, 2 ])
{
  my ($first, $second, $third) = @shares[@$chosen];
  close_wallet();
  is(open_share($first, user => 'alice')->{out}, '1 of 3 shares are in', "shares @$chosen: the first");
  $second = uc $second;
  $second =~ s/-//g;
  $got = attempt($node, "BEGIN; SELECT tde_wallet_open_share('$second'); ROLLBACK", user => 'bob');
  like($got->{out}, qr/^2 of 3 shares are in$/m, "shares @$chosen: the second, in capitals without dashes");
  is(status(), 'CLOSED', "shares @$chosen: two do not open the wallet");
  fails_with($node, 'SELECT holder FROM card', { state => 'TDE01' }, "shares @$chosen: values cannot be read");
  $third =~ tr/01-/OI /;
  $got = open_share($third, user => 'carol');
  is($got->{out}, '3 of 3 shares are in, the wallet is open', "shares @$chosen: the third, with O, I and spaces")
    or diag($got->{err});
  is($got->{err}, '', "shares @$chosen: and nothing else is said");
  is(status(), 'OPEN', "shares @$chosen: the wallet is open");
  is(lines_of($node, 'SELECT holder FROM card'), 'Ada', "shares @$chosen: values can be read");
}
is(lines_of($node, "SELECT count(*) FROM tde_wallet_split(2, 2)"), '2', 'split anew');
fails_with(
  $node,
  "SELECT tde_wallet_open('first passphrase')",
  { state => 'TDE02', message => qr/wrong passphrase or damaged wallet$/ },
  'the former passphrase does not open it');
(undef, @shares) = wallet_split(3, 5);

# What is no share, damaged, in already, or of another split.  None of that counts.

close_wallet();
open_share($shares[2]);
foreach my $text ('', 'x', 'first passphrase', 'tde', 'tde2' . substr($shares[3], 4))
{
  fails_with(
    $node,
    "SELECT tde_wallet_open_share('$text')",
    { state => '22023', message => qr/^not a share of a wallet$/, detail => qr/begin with "tde1"/ },
    "'" . substr($text, 0, 4) . "'");
}
my $length    = qr/^It must have 76 letters and digits, with or without dashes and spaces\.$/;
my $character = qr/^It has characters that do not occur in shares\.$/;
my $checksum  = qr/^Its checksum is wrong\.$/;
(my $exchanged = $shares[3]) =~ s/^(.{10})(.*?)(\w)((?!\3)\w)/$1$2$4$3/;
(my $mistyped  = $shares[3]) =~ s/(.)$/$1 eq '7' ? '8' : '7'/e;
foreach my $damage (
  [ "$shares[3]0",                $length,    'a character too many' ],
  [ substr($shares[3], 0, -1),    $length,    'a character too few' ],
  [ substr($shares[3], 0, 40),    $length,    'half of it' ],
  [ $shares[3] =~ s/.$/u/r,       $character, 'a letter that does not occur' ],
  [ "$shares[3]\xe2\x80\x93",     $character, 'another kind of dash' ],
  [ $exchanged,                   $checksum,  'two characters exchanged' ],
  [ $mistyped,                    $checksum,  'a wrong character' ])
{
  my ($text, $detail, $name) = @$damage;
  $all_shares{$text} = 1;
  fails_with(
    $node,
    "SELECT tde_wallet_open_share('$text')",
    { state => '22023', message => qr/^share is damaged$/, detail => $detail, hint => qr/group by group/ }, $name);
}
fails_with(
  $node,
  "SELECT tde_wallet_open_share('$shares[2]')",
  {
    state   => '22023',
    message => qr/^share 2 is in already$/,
    detail  => qr/^1 of 3 shares are in\.$/,
    hint    => qr/tde_wallet_forget_shares\(\)/
  },
  'the same share again');
my $foreign = {
  state   => '22023',
  message => qr/^share belongs to another split than those that are in$/,
  detail  => qr/^Of the other split, 1 are in\.$/,
  hint    => qr/tde_wallet_forget_shares\(\)/ };
my $other_k = forge($shares[3], sub { $_[0][6] = 2 });
fails_with($node, "SELECT tde_wallet_open_share('$old[3]')",  $foreign, 'a share of an earlier split');
fails_with($node, "SELECT tde_wallet_open_share('$other_k')", $foreign, 'one that says that two are enough');
is(attempt($node, 'SELECT tde_wallet_open_share(NULL)')->{out}, '', 'NULL');
open_share($shares[1]);
is(open_share($shares[5])->{out}, '3 of 3 shares are in, the wallet is open', 'the right ones are not hindered by that');

# Enough shares that do not open it are dropped.

my $do_not_open = {
  state   => 'TDE02',
  message => qr/^the 3 shares do not open the wallet and were dropped$/,
  detail  => qr/^With the passphrase that they make: could not open wallet file ".*": wrong passphrase or damaged wallet\.$/,
  hint    => qr/a share is not genuine/ };
my $forged = forge($shares[2], sub { $_[0][20] ^= 1 });

close_wallet();
open_share($shares[1]);
is(open_share($forged)->{out}, '2 of 3 shares are in', 'a forged share cannot be told from a genuine one');
fails_with($node, "SELECT tde_wallet_open_share('$shares[3]')", $do_not_open, 'one forged share');
is(status(), 'CLOSED', 'the wallet stays closed');
is(open_share($shares[1])->{out}, '1 of 3 shares are in', 'all are dropped, the genuine ones too');
open_share($shares[2]);
open_share($shares[3]);
is(status(), 'OPEN', 'without the forged one they open it');
open_share($forged);
open_share($shares[3]);
fails_with($node, "SELECT tde_wallet_open_share('$shares[4]')", $do_not_open, 'one forged share while the wallet is open');
is(status(), 'OPEN', 'which it stays');

close_wallet();
open_share($shares[1]);
lines_of($node, 'SELECT tde_wallet_forget_shares()');
is(open_share($old[1])->{out}, '1 of 3 shares are in', 'forgotten, so that shares of another split can be given');
open_share($old[2]);
fails_with($node, "SELECT tde_wallet_open_share('$old[3]')", $do_not_open, 'shares of an earlier split');

my $path = wallet_path($node);
rename $path, "$path.away" or die "rename: $!";
open_share($shares[1]);
open_share($shares[2]);
fails_with(
  $node,
  "SELECT tde_wallet_open_share('$shares[3]')",
  { state => 'TDE02', detail => qr/^With the passphrase that they make: could not open wallet file .*: No such file or directory\.$/ },
  'the file is missing');
rename "$path.away", $path or die "rename: $!";

# Opening and closing the wallet forgets shares.

open_share($shares[1]);
close_wallet();
is(open_share($shares[1])->{out}, '1 of 3 shares are in', 'closing the wallet forgets them');
open_share($shares[2]);
open_share($shares[3]);
lines_of($node, "SELECT tde_wallet_change_passphrase('second passphrase')");
close_wallet();
open_share($shares[1]);
lines_of($node, "SELECT tde_wallet_open('second passphrase')");
is(open_share($shares[1])->{out}, '1 of 3 shares are in', 'opening it forgets them');
open_share($shares[2]);
fails_with($node, "SELECT tde_wallet_open_share('$shares[3]')", $do_not_open, 'shares of a passphrase that was changed');

# A new master key does not make them useless.

(undef, @shares) = wallet_split(2, 2);
lines_of($node, 'SELECT tde_rotate_master_key()');
lines_of($node, "INSERT INTO card VALUES (2, 'Grace')");
close_wallet();
open_share($shares[2]);
is(open_share($shares[1])->{out}, '2 of 2 shares are in, the wallet is open', 'shares from before the master key was rotated');
is(lines_of($node, 'SELECT holder FROM card ORDER BY id'), "Ada\nGrace", 'open a wallet with all master keys');

# Time.  The log tells that they are forgotten without anybody asking.

close_wallet();
set_conf($node, 'tde_column.share_timeout' => '1');
my $offset = log_offset($node);
open_share($shares[1]);
ok($node->wait_for_log(qr/LOG:  (?:00000: )?shares of the wallet expired: 1\n/, $offset), 'shares expire by themselves');
is(open_share($shares[2])->{out}, '1 of 2 shares are in', 'and do not count any more');

# Shares come and go as fast as one can type, and each time the worker ends at once: there is room for eight.

unlike(slurp_file($node->logfile), qr/no background worker is free/, 'workers have been free all the time');

# Without a free background worker it is the next call that looks.

$node->append_conf('postgresql.conf', "max_worker_processes = 0\n");
$node->restart;
$offset = log_offset($node);
is(open_share($shares[1])->{out}, '1 of 2 shares are in', 'a restart forgets shares');
like(log_since($node, $offset), qr/LOG:  no background worker is free to forget expired shares/, 'no worker');
sleep 2;
unlike(log_since($node, $offset), qr/shares of the wallet expired/, 'nobody has looked');
is(open_share($shares[2])->{out}, '1 of 2 shares are in', 'the next call does');
like(log_since($node, $offset), qr/LOG:  shares of the wallet expired: 1\n/, 'and the log says so');
set_conf($node, 'tde_column.share_timeout' => '600');
open_share($shares[2]);
is(open_share($shares[1])->{out}, '2 of 2 shares are in, the wallet is open', 'both in time');

# Not with a passphrase command, which could not open it then; as many as there can be.

set_conf($node, 'tde_column.passphrase_command' => 'echo second passphrase');
my $before = read_bytes(wallet_path($node));
fails_with(
  $node,
  'SELECT tde_wallet_split(2, 3)',
  {
    state   => '55000',
    message => qr/^the wallet cannot be split while a passphrase command is configured$/,
    detail  => qr/next start/,
    hint    => qr/^Run ALTER SYSTEM SET tde_column\.passphrase_command = '' and then SELECT pg_reload_conf\(\)\.$/
  },
  'splitting with a passphrase command');
ok(read_bytes(wallet_path($node)) eq $before, 'which changes nothing');
set_conf($node, 'tde_column.passphrase_command' => '');
($said, my @many) = wallet_split(255, 255);
close_wallet();
$got = attempt($node, join ';', map { "SELECT tde_wallet_open_share('$_')" } reverse @many[ 1 .. 255 ]);
like($got->{out}, qr/^254 of 255 shares are in\n255 of 255 shares are in, the wallet is open\z/m, '255 of 255');

# The log: who gave a share, but none of them in any form.

my $log = slurp_file($node->logfile);
like($log, qr/LOG:  share 1 of the wallet given by user "alice": 1 of 3 are in\n/, 'the log tells who gave a share');
like($log, qr/LOG:  shares of the wallet forgotten by user "/,                      'and who made it forget them');
like($log, qr/LOG:  wallet split in 5 shares by user "[^"]*", of which 3 open it/,  'and who has split the wallet');
(my $letters = lc $log) =~ s/[- ]//g;
$letters =~ tr/oil/011/;
my @pieces = map { substr(lc($_) =~ tr/-//dr, 16, 20) } keys %all_shares;
is(scalar(grep { index($letters, $_) >= 0 } @pieces), 0, 'but no piece of a share, of ' . @pieces);
unlike($log, qr/server process .* was terminated by signal|PANIC:|TRAP:/, 'no process has crashed');
$node->stop;

# Not preloaded.

my $alone = tde_node('shares_alone', preload => 0);
$alone->start;
attempt($alone, 'CREATE EXTENSION tde_column');
foreach my $call ('tde_wallet_split(2, 3)', "tde_wallet_open_share('x')", 'tde_wallet_forget_shares()')
{
  fails_with(
    $alone,
    "SELECT $call",
    {
      state   => '55000',
      message => qr/^cannot open the wallet by shares$/,
      detail  => qr/^tde_column is not in shared_preload_libraries,/,
      hint    => qr/^Add tde_column to shared_preload_libraries and restart\.$/
    },
    "not preloaded: $call");
}
$alone->stop;
done_testing();
