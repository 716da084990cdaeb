# Encrypted versions of a user's types are the user's: pg_dump dumps them with their data, and a restore makes them whole.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('user_types', extension => 1);

$node->start;
$node->safe_psql(
  'postgres', q{
SELECT tde_wallet_create('secret-passphrase');
CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE SCHEMA "Other";
CREATE TYPE "Other".color AS ENUM ('red', 'green');
SELECT tde_create_type('mood'), tde_create_type('citext', type_tag => '11111111-2222-4333-8444-555555555555'),
       tde_create_type('"Other".color', '"Other"');
CREATE TABLE person (id int PRIMARY KEY, name encrypted_citext(aes128, salt, sha256) UNIQUE, m encrypted_mood(nosalt) DEFAULT 'ok',
                     c "Other".encrypted_color, known encrypted_mood[], CHECK (m <> 'sad' OR id > 1));
CREATE DOMAIN a_mood AS encrypted_mood(aes128, nosalt) CHECK (VALUE > 'sad');  -- pg_dump brings domains before casts
CREATE TYPE a_pair AS (mood encrypted_mood(aes192, salt), name encrypted_citext(nosalt));
CREATE TABLE made (mood a_mood, pair a_pair);
INSERT INTO made VALUES ('ok', ROW('sad', 'Ann'));
CREATE INDEX person_m ON person USING hash (m);
CREATE VIEW happy AS SELECT id, name FROM person WHERE m >= 'ok' AND name = 'ANN';
INSERT INTO person VALUES (1, 'Ann', 'happy', 'red', '{ok,sad}'), (2, 'Bob', 'sad', 'green', NULL), (3, NULL, DEFAULT, NULL, '{}');
});

my @questions = (
  'SELECT * FROM person ORDER BY id',
  'SELECT name, m FROM person ORDER BY m DESC, name',
  'SELECT * FROM happy',
  q{SELECT *, (pair).name = 'ANN' FROM made},
  'SELECT min(m), max(m), max(name) FROM person',
  'SELECT a.id, b.id FROM person a JOIN person b USING (name) ORDER BY 1',
  q{SELECT pg_get_function_sqlbody('encrypted_citext_typmod_in'::regproc)},
  'SELECT * FROM tde.encrypted_columns ORDER BY 1, 2, 3',
  'SELECT type, base, shipped FROM tde.types ORDER BY type::text',
  q{SELECT pg_describe_object(classid, objid, 0) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' ORDER BY 1},
  q{SELECT pg_identify_object(catalog, object, 0)::text, obj_description(object, catalog::regclass::name) FROM tde_internal.tde_template_objects() ORDER BY 1},
  # of operator families, by name; OIDs differ
  q{SELECT f.opfname, pg_describe_object('pg_amop'::regclass, o.oid, 0) FROM pg_amop o JOIN pg_opfamily f ON f.oid = amopfamily
    UNION ALL SELECT f.opfname, pg_describe_object('pg_amproc'::regclass, p.oid, 0) FROM pg_amproc p JOIN pg_opfamily f ON f.oid = amprocfamily ORDER BY 1, 2},
  'SELECT c.oid::text IS NOT NULL, opcname, amvalidate(c.oid) FROM pg_opclass c JOIN tde.types t ON t.type = opcintype ORDER BY opcname, opcmethod',
);

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump';

foreach my $format ('plain', 'custom')
{
  my $restored = "restored_$format";

  $node->safe_psql('postgres', "CREATE DATABASE $restored");
  $node->command_ok([ 'pg_dump', '-F', $format, '-f', "$dump.$format", 'postgres' ], "pg_dump, format $format");
  if ($format eq 'plain')
  {
    $node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $restored, '-f', "$dump.plain" ], 'psql restores it');
  }
  else
  {
    $node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $restored, "$dump.custom" ], 'pg_restore restores it');
  }
  foreach my $question (@questions)
  {
    is(lines_of($node, $question, db => $restored), lines_of($node, $question), "$format: $question");
  }
  is(lines_of($node, 'SELECT tde_refresh_types()', db => $restored), '0', "$format: nothing is missing");
  fails_with($node, "INSERT INTO person VALUES (4, 'ANN')", { state => '23505' }, "$format: the unique index works", db => $restored);
  fails_with($node, "INSERT INTO person VALUES (0, 'x', 'sad')", { state => '23514' }, "$format: the constraint works", db => $restored);
}
like(slurp_file("$dump.plain"), qr/CREATE TYPE public\.encrypted_mood \(/, 'the dump makes the type');
unlike(slurp_file("$dump.plain"), qr/CREATE (?:TYPE|FUNCTION|OPERATOR)[^;]*encrypted_text_/, "and leaves the extension's to the extension");

# A type can be dropped with all that it has, and made again.

$node->safe_psql('restored_plain', 'DROP TABLE person CASCADE; DROP TYPE encrypted_mood, mood CASCADE');
is(
  lines_of(
    $node,
    q{CREATE TYPE mood AS ENUM ('a', 'b'); SELECT tde_create_type('mood'); CREATE TABLE t (m encrypted_mood); INSERT INTO t VALUES ('b'), ('a');
      SELECT max(m) FROM t; SELECT tde_refresh_types()}, db => 'restored_plain'),
  "encrypted_mood\nb\n0",
  'and the type can be made again');

# Names that are hard to read; types that are renamed or moved; settings that change how names and literals are written.

my $sql = q{
SELECT current_setting('quote_all_identifiers');
CREATE SCHEMA "a) (b";
CREATE SCHEMA elsewhere;
CREATE TYPE "a) (b"."s', (" AS ENUM ('low', 'high');
SELECT count(tde_create_type('"a) (b"."s'', ("', '"a) (b"'));
SELECT tde_refresh_types();
CREATE TABLE sizes (s "a) (b"."encrypted_s', (" UNIQUE);
INSERT INTO sizes VALUES ('high'), ('low');
ALTER TYPE "a) (b"."encrypted_s', (" RENAME TO secret;
SELECT tde_refresh_types();
ALTER TYPE "a) (b".secret SET SCHEMA elsewhere;
ALTER TYPE "a) (b"."s', (" RENAME TO size;
SELECT tde_refresh_types();
DROP FUNCTION "a) (b".tde_result CASCADE;
SELECT tde_refresh_types();
SET search_path = "a) (b", public;
SELECT s FROM sizes WHERE s > 'low'};
foreach my $options ('', '-c quote_all_identifiers=on', $node->pg_version->major < 19 ? '-c standard_conforming_strings=off' : ())
{
  local $ENV{PGOPTIONS} = $options;
  lines_of($node, 'CREATE DATABASE odd');
  lines_of($node, 'CREATE EXTENSION tde_column', db => 'odd');
  my $got = attempt($node, $sql, db => 'odd');
  is($got->{state}, '', "odd names $options") or diag($got->{err});
  is($got->{out} =~ s/^(?:on|off)\n//r, "1\n0\n0\n0\n1\nhigh", 'types are complete after they are renamed and moved');
  lines_of($node, 'DROP DATABASE odd');
}

# Modifiers that are words, as geometry(Point,4326) has them, come before those of the extension, and a conversion keeps them.

my $module = $node->basedir . '/word_modifiers.so';
my ($server_include) = $node->config_data('--includedir-server');
system_or_bail('gcc', '-O1', '-shared', '-fPIC', "-I$server_include", '-o', $module, "$FindBin::RealBin/../lib/word_modifiers.c");
lines_of(
  $node, q{
CREATE TYPE shape;
CREATE FUNCTION shape_in(cstring) RETURNS shape LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION shape_out(shape) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE FUNCTION shape_typmod_in(cstring[]) RETURNS int4 LANGUAGE c IMMUTABLE STRICT AS 'MODULE';
CREATE FUNCTION shape_typmod_out(int4) RETURNS cstring LANGUAGE c IMMUTABLE STRICT AS 'MODULE';
CREATE TYPE shape (INPUT = shape_in, OUTPUT = shape_out, TYPMOD_IN = shape_typmod_in, TYPMOD_OUT = shape_typmod_out, LIKE = text);
SELECT tde_create_type('shape');
CREATE TABLE worded (a shape(round,7), b encrypted_shape(Square, 5, aes128), c encrypted_shape('round', nosalt), d encrypted_shape(aes192), e shape(square,1)[]);
INSERT INTO worded VALUES ('x');
CALL tde_encrypt_column('worded', 'a');
CALL tde_encrypt_column('worded', 'e', 'aes128');
} =~ s/MODULE/$module/gr);
my $types = q{SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'worded'::regclass AND attnum > 0};
is(
  lines_of($node, $types),
  'encrypted_shape(round,7,aes256,salt,gcm) encrypted_shape(square,5,aes128,salt,gcm) encrypted_shape(round,0,aes256,nosalt,gcm) '
    . 'encrypted_shape(aes192,salt,gcm) encrypted_shape(square,1,aes128,salt,gcm)[]',
  'modifiers that are words');
lines_of($node, q{CALL tde_decrypt_column('worded', 'a')});
like(lines_of($node, $types), qr/^shape\(round,7\) /, 'and back');
fails_with($node, 'CREATE TABLE wrong (a encrypted_shape(oval))', { state => '22023', message => qr/no shape is oval/ }, 'a word that the type does not know');
fails_with($node, 'CREATE TABLE wrong (a encrypted_text(oval))', { state => '22023', message => qr/invalid modifiers/ }, 'nor a type without words');

# The library and the extension go only with their types.

fails_with($node, 'DROP EXTENSION tde_column', { state => '2BP01' }, 'the extension cannot be dropped under a user\'s type', db => 'restored_plain');
is(attempt($node, 'DROP TABLE t; DROP EXTENSION tde_column CASCADE', db => 'restored_plain')->{state}, '', 'but with CASCADE');

$node->stop;
done_testing();
