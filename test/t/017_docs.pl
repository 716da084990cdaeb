
# Every example of README.md and docs/*.md is run, and prints what the page shows.  Each page has a server of its own.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use File::Temp qw(tempdir);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeDocs;
use TdeTest;
use Test::More;

# A psql script of the page's examples, each between two marks.
sub script
{
  my ($folder, @examples) = @_;
  my $script = "\\pset pager off\n";
  foreach my $number (0 .. $#examples)
  {
    my ($kind, $code, $output) = @{ $examples[$number] }{qw(kind code output)};
    my $fails = ($output // '') =~ /^ERROR:/m;
    $script .= "\\echo '\@begin $number'\n";
    $script .= "\\set ON_ERROR_STOP " . ($fails ? 'off' : 'on') . "\n";
    if ($kind eq 'sh')
    {
      append_to_file("$folder/$number.sh", "cd $folder\n$code");
      $script .= "\\! bash -e $folder/$number.sh || echo 'ERROR:  the shell failed'\n";
    }
    else { $script .= $code }
    $script .= "\\echo '\@end $number'\n";
  }
  return $script;
}

my @pages = grep { !$ENV{PAGES} || " $ENV{PAGES} " =~ / \Q$_\E / } doc_pages();
foreach my $page (@pages)
{
  my @examples = doc_examples($page);
  if (my @elsewhere = grep { $_->{elsewhere} } @examples)
  {
    ok(-f "$FindBin::RealBin/../../$_->{elsewhere}", "$page:$_->{line}: $_->{elsewhere} runs this example") foreach @elsewhere;
  }
  @examples = grep { !$_->{elsewhere} } @examples;
  next unless @examples;

  (my $name = $page) =~ s/\W+/_/g;
  my $node = tde_node($name, conf => "wal_level = logical\nmax_prepared_transactions = 2\n");
  my $folder = tempdir(CLEANUP => 1);
  $node->start;
  append_to_file("$folder/script.sql", script($folder, @examples));
  local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres', PGCLIENTENCODING => 'UTF8', WALLET => wallet_path($node), PGDATA => $node->data_dir);
  delete $ENV{PGAPPNAME};
  my $said = `psql -X -q <'$folder/script.sql' 2>&1`;

  foreach my $number (0 .. $#examples)
  {
    my $example = $examples[$number];
    my $where = "$page:$example->{line}";
    my ($got, $ended) = $said =~ /^\@begin $number\n(.*?)(^\@end $number$|\z)/ms;
    my $advice = "run the example by hand, then correct $page or the code";
    unless (defined $got)
    {
      fail("$where: runs");
      diag("The example did not run, since one above it failed.");
      next;
    }
    if (defined $example->{output})
    {
      my ($shown, $printed) = (doc_output($example->{output}), doc_output($got, $example->{output}));
      my $expected = join '.*?', map { quotemeta } split /\.\.\./, $shown, -1;
      ok($printed =~ /\A$expected\z/s, "$where: prints what the page shows")
        or diag("The page shows:\n$shown\npsql prints:\n$printed\n$advice");
    }
    else
    {
      ok($ended && $got !~ /^(?:ERROR|FATAL):/m, "$where: runs without an error") or diag("psql prints:\n$got\n$advice");
    }
  }
  $node->stop('immediate');
}

done_testing();
