
# docs/reference.md has all functions that users call, views, settings and SQLSTATEs, and no others, as a new installation has them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeDocs;
use TdeTest;
use Test::More;

my $file = 'docs/reference.md';
my $page = doc_page($file);
my $node = tde_node('reference');
$node->start;
lines_of($node, 'CREATE EXTENSION tde_column');

# The first cells of a section's tables.
sub documented
{
  my ($section) = @_;
  my ($text) = $page =~ /^## \Q$section\E\n(.*?)(?=^## |\z)/ms or die "$file has no section \"$section\"";
  $text =~ s/^### `.*?(?=^###|\z)//msg;    # the columns of views
  return $text =~ /^\| `([^`|]+)` \|/mg;
}

# Compare them with what the server has.  The extra text says what to add: a line of the table.
sub same
{
  my ($section, %there) = @_;
  my @documented = documented($section);
  my %documented = map { $_ => 1 } @documented;
  my @missing = grep { !exists $documented{$_} } sort keys %there;
  my @superfluous = grep { !exists $there{$_} } sort keys %documented;
  my %times;
  my @twice = grep { $times{$_}++ == 1 } @documented;

  is_deeply([ \@missing, \@superfluous, \@twice ], [ [], [], [] ], "$file, \"$section\": " . keys(%there) . ' entries, each of them there once');
  diag("$file lacks: $_\nAdd to the section \"$section\":\n| `$_` | $there{$_} |") foreach @missing;
  diag("$file has \"$_\", and the extension does not: remove it from the section \"$section\", or write it as above") foreach @superfluous;
  diag("$file has \"$_\" twice in the section \"$section\": remove one") foreach @twice;
  return;
}

# name => comment
sub rows { return map { my ($name, $comment) = split /\t/, $_, 2; ($name => $comment) } split /\n/, lines_of($node, $_[0]); }

my $members = q{SELECT objid FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid WHERE d.deptype = 'e' AND extname = 'tde_column'};
my %functions = rows(qq{
  SELECT format('%s(%s)%s', proname, regexp_replace(regexp_replace(pg_get_function_arguments(p.oid), '(^|, )IN ', '\\1', 'g'), '(^|, )OUT .*', ''),
                ' → ' || pg_get_function_result(p.oid))
         || E'\\t' || coalesce(obj_description(p.oid, 'pg_proc'), '')
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE p.oid IN ($members) AND nspname = 'pg_catalog' AND proname ~ '^tde_'});

# As the page writes them: defaults without casts, and without expressions.
%functions = map {
  my $comment = $functions{$_};
  s/::\w+(\[\])?//g;
  s/DEFAULT \w+\(.*?\)(?=, \w+ \w+ DEFAULT |\) →)/DEFAULT .../g;
  ($_ => $comment)
} keys %functions;
my @uncommented = grep { $functions{$_} eq '' } sort keys %functions;
is_deeply(\@uncommented, [], 'every function has a comment') or diag(join "\n", map { "$_ has no comment: write COMMENT ON beside its definition in src/sql/" } @uncommented);
same('Functions and procedures', %functions);

my %views = rows(qq{
  SELECT c.oid::regclass || E'\\t' || coalesce(obj_description(c.oid, 'pg_class'), '')
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE c.oid IN ($members) AND relkind IN ('v', 'r') AND nspname = 'tde'});
same('Views and tables', %views);

foreach my $view (sort keys %views)
{
  my ($text) = $page =~ /^### `\Q$view\E`\n(.*?)(?=^##|\z)/ms;
  my @columns = ($text // '') =~ /^\| `(\w+)` \|/mg;
  is(join(', ', @columns), lines_of($node, qq{
    SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '$view'::regclass AND attnum > 0}),
    "$file, \"$view\": its columns, in their order")
    or diag("correct the table below the heading \"### `$view`\" in $file, or add it");
}

my %settings = rows(qq{SELECT name || E'\\t' || short_desc FROM pg_settings WHERE name ~ '^tde_column[.]'});
same('Settings', %settings);
foreach my $row (split /\n/, lines_of($node, qq{
  SELECT name || E'\\t' || CASE WHEN boot_val = '' THEN 'empty' WHEN unit IS NULL THEN boot_val ELSE current_setting(name) END || E'\\t' ||
         CASE context WHEN 'postmaster' THEN 'restart' WHEN 'sighup' THEN 'reload' WHEN 'user' THEN 'session' ELSE context END
  FROM pg_settings WHERE name ~ '^tde_column[.]' AND name <> 'tde_column.wallet_file'}))
{
  my ($name, $default, $change) = split /\t/, $row;
  ok($page =~ /^\| `\Q$name\E` \| `?\Q$default\E`? \| $change \|/m, "$file says the default of $name, and who changes it")
    or diag("$file must have: | `$name` | $default | $change | ...");
}

my %errors = map { $_ => 'what it means, and what to do' } map { join '', /'(.)'/g } grep { /^#define ERRCODE_TDE/ } split /\n/, slurp_file("$FindBin::RealBin/../../src/server/error.h");
same('SQLSTATEs', %errors);

# The types have a page of their own.
my $columns = doc_page('docs/columns.md');
my ($types) = $columns =~ /^## Types\n(.*?)(?=^## )/ms or die 'docs/columns.md has no section "Types"';
my %documented = map { $_ => 1 } $types =~ /`(encrypted_\w+)(?:\([\w,]+\))?`(?=,| \|)/g;
is(join(' ', sort keys %documented), lines_of($node, q{SELECT string_agg(type::text, ' ' ORDER BY type::text COLLATE "C") FROM tde.types WHERE shipped}),
  'docs/columns.md, "Types": each of them')
  or diag('correct the table in the section "Types" of docs/columns.md');

$node->stop;
done_testing();
