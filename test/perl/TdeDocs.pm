# TdeDocs - the pages of the documentation: their examples, as a psql script, and the names in their tables.
package TdeDocs;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(doc_pages doc_page doc_examples doc_output);

my $top = "$FindBin::RealBin/../..";

# The pages, README.md first.
sub doc_pages { return ('README.md', map { s{^\Q$top\E/}{}r } sort glob "$top/docs/*.md"); }

sub doc_page { return slurp_file("$top/$_[0]"); }

# The examples of a page, in order: { line, kind, code, output }.
#
#   ```sql             run by psql, the page's blocks in one session
#   ```sh              run by a shell
#   ```text            right below an example: what it prints; "..." stands for anything.  Without it, it must run without an error
#   <!-- sql ... -->   as ```sql, not shown: what a reader has, and the example needs
#   <!-- sh ... -->    likewise
#   <!-- run by FILE -->   above an example: a test of its own runs it
sub doc_examples
{
  my ($page) = @_;
  my ($number, @examples) = (0);
  my ($into, $end, $above, $below);    # the text that a line goes to, and what ends it; what stands above, the example that ends above

  foreach my $line (split /\n/, doc_page($page))
  {
    $number++;
    if ($into)
    {
      if ($line =~ $end) { undef $into }
      else               { $$into .= "$line\n" }
    }
    elsif ($line =~ /^\s*(```|<!-- )(sql|sh)$/)
    {
      $end   = $1 eq '```' ? qr/^\s*```$/ : qr/^\s*-->$/;
      $below = { line => $number, kind => $2, code => '', elsewhere => $above };
      $into  = \$below->{code};
      push @examples, $below;
    }
    elsif ($line =~ /^```/)
    {
      my $ignored = '';
      $end  = qr/^```$/;
      $into = \($line eq '```text' && $below ? $below->{output} : $ignored);
      $$into //= '';
      undef $below;
    }
    elsif ($line ne '')
    {
      undef $below;
      $above = $line =~ /^\s*<!-- run by (\S+) -->$/ ? $1 : undef;
    }
    undef $above if $line !~ /^\s*<!-- run by/;
  }
  return @examples;
}

# What psql prints, or a page shows, without what differs by the width of a column; and without places in statements that the page which is
# to be compared does not show, since a newer PostgreSQL tells more of them.
sub doc_output
{
  my ($text, $page) = @_;
  $text =~ s/^LINE \d+: .*\n *\^\n//mg if defined $page && $page !~ /^LINE \d+: /m;
  $text =~ s/[ \t]+/ /g;
  $text =~ s/-{2,}/--/g;
  $text =~ s/^ | $//mg;
  $text =~ s/\n{2,}/\n/g;
  $text =~ s/\A\n|\n\z//g;
  return $text;
}

1;
