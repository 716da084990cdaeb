# An entry that is too long for the log is an error of the log itself.  The entries after it are without values and secrets as before.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $marker = 'Xplaintext_markerX';
my $node   = tde_node('long_entry', extension => 1, conf => "log_statement = none\nlog_min_error_statement = error\n");
$node->start;
lines_of($node, qq{SELECT tde_wallet_create('long-passphrase'); CREATE TABLE t (a encrypted_text); INSERT INTO t VALUES ('$marker')});

# Each newline takes two bytes in the log, and no string has more than 1 GB.
my $session = session($node);
my $offset  = log_offset($node);
my $got     = session_try($session, q{SET client_min_messages = panic; DO $$ BEGIN PERFORM a::text FROM t; RAISE EXCEPTION '%', repeat(E'\n', 540000000); END $$});
like(log_since($node, $offset), qr/ERROR:  (?:invalid memory alloc request size|out of memory|could not)/, 'the entry is too long');
unlike(log_since($node, $offset), qr/\n\t\n\t\n/, 'and is not there');
session_try($session, 'RESET client_min_messages');

$offset = log_offset($node);
$got = session_try($session, 'SELECT a::text::int FROM t');
like($got->{message}, qr/"$marker"/, 'a client gets the next error as it is') or diag($got->{err});
$got = session_try($session, "SELECT tde_wallet_open('wrong-passphrase-$marker')");
is($got->{state}, 'TDE02', 'and the one of a passphrase') or diag($got->{err});
my $text = log_since($node, $offset);
like($text, qr/ERROR:  invalid input syntax for type integer: "\*+"/, 'the log has it without the value');
like($text, qr/CONTEXT:  statement of user "[^"]+" hidden, since it passes a secret to tde_wallet_open/, 'the other without the passphrase');
unlike($text, qr/\Q$marker\E/, 'neither is in clear');

$session->quit;
$node->stop;
done_testing();
