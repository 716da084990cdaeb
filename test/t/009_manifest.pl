# The extension's objects are those in test/manifest/objects-N.txt, so that a change of the template shows what it makes; and
# tde_refresh_types() makes them so again.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $top  = "$FindBin::RealBin/../..";
my $node = tde_node('manifest');
$node->start;
lines_of($node, 'CREATE EXTENSION tde_column');

my $manifest = slurp_file("$top/test/manifest/members.sql");
my $folder   = PostgreSQL::Test::Utils::tempdir;

# The lines in which the objects are others than those in the file; without the hashes of functions' texts, if these differ in themselves.
sub differences
{
  my ($file, %opts) = @_;
  my %objects = (were => slurp_file($file), are => lines_of($node, $manifest, db => $opts{db}) . "\n");
  foreach my $name (keys %objects)
  {
    $objects{$name} =~ s/ [0-9a-f]{32}\b//g if $opts{without_texts};
    write_bytes("$folder/$name", $objects{$name});
  }
  return `diff -U0 $folder/were $folder/are | grep '^[-+][^-+]'`;
}

my $file = sprintf "test/manifest/objects-%d.txt", $node->pg_version =~ /^(\d+)/;
ok(-e "$top/$file", "$file is there") or diag('"make manifest" makes it');
is(differences(-e "$top/$file" ? "$top/$file" : '/dev/null'), '', 'has the objects of a new installation')
  or diag("If these are the objects that you want, run \"make manifest\" and commit $file.");

# Settings that change how names and literals are written, and, up to 18, how literals are read.
foreach my $setting ('quote_all_identifiers=on', $node->pg_version->major < 19 ? 'standard_conforming_strings=off' : ())
{
  lines_of($node, 'CREATE DATABASE odd');
  {
    local $ENV{PGOPTIONS} = "-c $setting";
    my $got = attempt($node, 'CREATE EXTENSION tde_column; SELECT tde_refresh_types()', db => 'odd');
    is($got->{out},     '0', "made with $setting") or diag($got->{err});
    unlike($got->{err}, qr/search_path|escape/, 'it warns of nothing that is not so');
  }
  # where identifiers are quoted, functions' texts have the extension's schema in quotes
  is(differences("$top/$file", db => 'odd', without_texts => scalar($setting =~ /quote/)), '', 'the same objects');
  lines_of($node, 'DROP DATABASE odd');
}

# What was spoilt is mended in place; nothing is altered that is right.

write_bytes("$folder/new", lines_of($node, $manifest) . "\n");
is(lines_of($node, 'SELECT tde_refresh_types()'), '0', 'tde_refresh_types() alters nothing of a new installation');
is(lines_of($node, q{CREATE TYPE mood AS ENUM ('sad', 'happy'); SELECT tde_create_type('mood'); SELECT tde_refresh_types()}),
  "encrypted_mood\n0", 'nor of a type of a user');
my %spoilt = (
  'functions' => q{DO $$
    DECLARE f regprocedure;
    BEGIN
      FOR f IN SELECT oid FROM pg_proc WHERE prosrc IN ('tde_eq', 'tde_plus', 'tde_encrypt', 'tde_sortsupport') LOOP
        EXECUTE format('ALTER FUNCTION %s VOLATILE COST 777 CALLED ON NULL INPUT PARALLEL UNSAFE SECURITY DEFINER LEAKPROOF SET work_mem = 64', f);
      END LOOP;
    END $$},
  'planner support'  => q{UPDATE pg_proc SET prosupport = 0 WHERE prosrc = 'tde_encrypt'},
  'foreign planner support' => q{UPDATE pg_proc SET prosupport = 'array_unnest_support'::regproc WHERE prosrc = 'tde_decrypt'},
  'privileges' => q{REVOKE ALL ON FUNCTION tde_internal.tde_eq(encrypted_int4, encrypted_int4), tde_internal.tde_cmp(encrypted_text, encrypted_text) FROM PUBLIC},
  'comments' => q{COMMENT ON FUNCTION tde_internal.tde_eq(encrypted_int4, encrypted_int4) IS 'wrong';
    COMMENT ON FUNCTION tde_internal.tde_cmp(encrypted_text, encrypted_text) IS NULL},
  'estimators' => q{ALTER OPERATOR =(encrypted_int4, encrypted_int4) SET (RESTRICT = NONE, JOIN = neqjoinsel)},
  'other properties of operators' => q{UPDATE pg_operator SET oprcanhash = false, oprcanmerge = false, oprcom = 0, oprnegate = 0
    WHERE oprleft = 'encrypted_text'::regtype AND oprname IN ('=', '<', '~<~')},
  'casts' => q{UPDATE pg_cast SET castcontext = 'e' WHERE casttarget = 'encrypted_numeric'::regtype OR castsource = 'encrypted_text'::regtype});
foreach my $what (sort keys %spoilt)
{
  lines_of($node, $spoilt{$what});
  isnt(differences("$folder/new"), '', "$what are spoilt");
  cmp_ok(lines_of($node, 'SELECT tde_refresh_types()'), '>', 0, 'tde_refresh_types() alters them');
  is(differences("$folder/new"), '', 'as they were');
}
is(lines_of($node, 'SELECT tde_refresh_types()'), '0', 'after which there is nothing to alter');

$node->stop;
done_testing();
