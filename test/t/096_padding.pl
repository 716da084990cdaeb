# Padded columns outside of one session: files, rotations and conversions, dumps, ciphertext as it travels, what tde_verify_table() says.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('padding', extension => 1, conf => "tde_column.passphrase_command = 'echo padding-passphrase'\nautovacuum = off\nfsync = off\n");
$node->start;
lines_of($node, q{SELECT tde_wallet_create('padding-passphrase'), tde_create_key('own'); CREATE EXTENSION amcheck; CREATE EXTENSION pageinspect; CREATE DATABASE copy});
lines_of($node, 'CREATE EXTENSION tde_column', db => 'copy');

my $stored = q{CREATE FUNCTION stored(anyelement) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend'; CREATE EXTENSION citext; SELECT tde_create_type('citext')};
lines_of($node, $stored, db => $_) foreach qw(postgres copy);

# The lengths of the ciphertexts in a column, of as many rows.
sub lengths
{
  my ($table, $column, %more) = @_;
  return lines_of($node, "SELECT string_agg(length || 'x' || count, ' ' ORDER BY length) FROM (SELECT octet_length(stored($column)) AS length, count(*) FROM $table WHERE $column IS NOT NULL GROUP BY 1) s", %more);
}

# ---- files ----

lines_of(
  $node, q{
CREATE TABLE t (id int PRIMARY KEY, a encrypted_text(nosalt,'pad=16'), v encrypted_varchar(20,salt,gcm,'pad=max','key=own'), n encrypted_numeric(9,2,nosalt,'pad=32'), j encrypted_jsonb(unordered,'pad=100'), c encrypted_citext('pad=64'));
INSERT INTO t SELECT i, s, left(s, 20), i, json_build_object('k', s), s FROM generate_series(1, 400) i, repeat('Xy', i % 15) s;
CREATE INDEX t_a ON t (a) WITH (deduplicate_items = off); CREATE INDEX t_v ON t (v) WITH (deduplicate_items = off); CREATE INDEX t_lower ON t (lower(v)) WITH (deduplicate_items = off); CREATE INDEX t_j ON t (j); CREATE INDEX t_c ON t USING hash (c);
CREATE INDEX t_brin ON t USING brin (v) WITH (pages_per_range = 1); ANALYZE t});
# 2 bytes of header; 12 of the salt and 16 of the tag, with gcm
my %lengths = (a => '34x215 50x185', v => '111x400', n => '50x400', j => '130x400', c => '94x400');
is(lengths('t', $_), $lengths{$_}, "column $_") foreach sort keys %lengths;
foreach my $index (qw(t_v t_lower))
{
  is(lines_of($node, qq{SELECT count(DISTINCT itemlen) FROM generate_series(1, pg_relation_size('$index')::int4 / 8192 - 1) p, bt_page_stats('$index', p) s, bt_page_items('$index', p) i
    WHERE s.type = 'l' AND NOT (s.btpo_next <> 0 AND i.itemoffset = 1)}), '1', "all entries of $index have one length");
}
cmp_ok(lines_of($node, q{SELECT min(hoff) FROM (SELECT length(get_raw_page('t_brin', 2)) - 8000 AS hoff) s}), '>', 0, 'BRIN');
lines_of($node, "SELECT bt_index_parent_check('$_', true, true)") foreach qw(t_a t_v t_lower t_j);

# ---- the same after everything that writes values anew ----

my $sum  = q{SELECT md5(string_agg(t.*::text, '' ORDER BY id)) FROM t};
my $rows = lines_of($node, $sum);
sub unchanged
{
  my ($what, %more) = @_;
  is(lengths('t', $_, %more), $lengths{$_}, "$what: column $_") foreach sort keys %lengths;
  is(lines_of($node, $sum, %more), $rows, '... the values');
  return;
}
my $heads = 'SELECT string_agg(DISTINCT encode(substr(stored(a), 1, 2) || substr(stored(v), 1, 2), $$hex$$), $$ $$) FROM t';
my $before = lines_of($node, $heads);
lines_of($node, q{SELECT tde_rotate_key('default'), tde_rotate_key('own')});
lines_of($node, q{CALL tde_rekey_table('t')});
isnt(lines_of($node, $heads), $before, 'values are encrypted under new versions');
unchanged('after tde_rekey_table()');
is(lines_of($node, q{CALL tde_rekey_table('t')}), '', 'again');
lines_of($node, 'VACUUM FULL t; CLUSTER t USING t_a');
unchanged('after CLUSTER');

# ---- what is stored otherwise ----

is(lines_of($node, q{SELECT count(*) FROM tde_verify_table('t')}), '0', 'tde_verify_table() finds nothing');
lines_of($node, q{CREATE VIEW wanted AS SELECT NULL::encrypted_text(nosalt,'pad=32') AS a; CREATE TABLE relabelled (id int, a encrypted_text(nosalt,'pad=16')); INSERT INTO relabelled SELECT i, repeat('x', i) FROM generate_series(1, 40) i;
UPDATE pg_attribute p SET atttypmod = w.atttypmod FROM pg_attribute w WHERE p.attrelid = 'relabelled'::regclass AND p.attname = 'a' AND w.attrelid = 'wanted'::regclass});
is(lines_of($node, q{SELECT problem, count(*) FROM tde_verify_table('relabelled') GROUP BY 1}), 'value is encrypted otherwise than its column declares|24', '... but a multiple that the column does not declare');
lines_of($node, q{CALL tde_rekey_table('relabelled')});
is(lengths('relabelled', 'a'), '50x31 82x9', '... which tde_rekey_table() mends');
is(lines_of($node, q{SELECT count(*) FROM tde_verify_table('relabelled')}), '0', '... all of it');

# ---- conversions ----

lines_of($node, q{CREATE TABLE plain (id int PRIMARY KEY, a text NOT NULL UNIQUE, b varchar(10)); INSERT INTO plain SELECT i, repeat('x', i), 'b' FROM generate_series(1, 40) i;
CALL tde_encrypt_column('plain', 'a', $$aes256,salt,gcm,'pad=32'$$)});
is(lengths('plain', 'a'), '62x31 94x9', 'tde_encrypt_column()');
lines_of($node, q{CALL tde_encrypt_column('plain', 'b', $$nosalt,'pad=max'$$, online => true)});
lines_of($node, q{CALL tde_finish_conversion('plain', 'b')});
is(lengths('plain', 'b'), '59x40', '... online, too');
lines_of($node, q{CALL tde_decrypt_column('plain', 'a'); CALL tde_decrypt_column('plain', 'b')});
is(lines_of($node, q{SELECT count(*), sum(length(a)), min(b), max(pg_typeof(b)::text) FROM plain}), '40|820|b|character varying', 'tde_decrypt_column()');

# ---- what clients see ----

is(lines_of($node, q{SET tde_column.transparent_catalog = on; SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0}),
  'integer text character varying(20) numeric(9,2) jsonb citext', 'transparent catalogs tell nothing of it');

# ---- dumps ----

my $types = q{SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped};
sub restored
{
  my ($what, @options) = @_;
  my $dump = $node->basedir . '/dump.sql';
  lines_of($node, 'DROP TABLE IF EXISTS t', db => 'copy');
  {
    local $ENV{PGOPTIONS} = "@options";
    $node->run_log([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump, '-t', 't' ]);
    is($node->psql('copy', '', extra_params => [ '-v', 'ON_ERROR_STOP=1', '-f', $dump ]), 0, "$what is restored");
  }
  is(lines_of($node, $types, db => 'copy'), lines_of($node, $types), '... with the same types');
  unchanged($what, db => 'copy');
  return;
}
restored('a dump');
restored('a dump where the default is another', '-c tde_column.default_spec=aes128,nosalt,gcm,pad=48');
# a type of one's own is another one in each database, unless it comes in a dump
lines_of($node, 'ALTER TABLE t DROP c');
delete $lengths{c};
$rows = lines_of($node, $sum);
my $keys = lines_of($node, q{SELECT tde_export_keys('between-two-databases')});
lines_of($node, "SELECT tde_import_keys('$keys', 'between-two-databases')", db => 'copy');
restored('an encrypted dump', '-c tde_column.io_format=ciphertext');

# ---- ciphertext that travels ----

my $sent = q{SET tde_column.io_format = ciphertext; SELECT a FROM t WHERE id = 14};
my $hex  = lines_of($node, $sent);
lines_of($node, q{CREATE TABLE here (id int, a encrypted_text(nosalt,'pad=16')); CREATE TABLE there (id int, a encrypted_text(nosalt)); CREATE TABLE elsewhere (id int, a encrypted_text(nosalt,'pad=48'))});
lines_of($node, "SET tde_column.io_format = ciphertext; INSERT INTO $_ VALUES (14, '$hex')") foreach qw(here there elsewhere);
is(lines_of($node, $sent =~ s/FROM t/FROM here/r), $hex, 'in the ciphertext form a value is stored as it is where it fits');
is(join(' ', map { lengths($_, 'a') } qw(here there elsewhere)), '50x1 46x1 66x1', '... and encrypted anew elsewhere');
is(lines_of($node, "SELECT a FROM $_"), 'Xy' x 14, "... the value: $_") foreach qw(here there elsewhere);

done_testing;
