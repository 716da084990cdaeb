# TdeInstall - an older version of the extension in an installation of its own, for tests with PostgreSQL's test modules and without.
package TdeInstall;

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);

my $upgrade = abs_path(dirname(__FILE__) . '/../upgrade');

our @EXPORT_OK = qw(install_old);

# A copy in this folder of the (private) installation that pg_config belongs to, with an older version of the extension, built from its
# frozen sources, in place of this one; returns the folder whose bin has the programs.
sub install_old
{
  my ($version, $folder) = @_;
  my ($bindir, $prefix, $sharedir);
  foreach my $kind (qw(bindir pkglibdir sharedir))
  {
    chomp(my $dir = `pg_config --$kind`);
    $bindir //= $dir;
    $prefix //= $dir;
    $prefix = dirname($prefix) until index($dir, "$prefix/") == 0;
    $sharedir = $dir;
  }
  die "$prefix is no private installation" if $prefix =~ m{\A(?:/usr(?:/local)?)?/?\z};
  # PostgreSQL finds what belongs to it by the place of its programs
  my $old = "$folder/pg" . substr dirname($bindir), length $prefix;
  my $share = "$folder/pg" . substr $sharedir, length $prefix;
  my $log = `{ cp -a '$prefix' '$folder/pg' && rm '$share'/extension/tde_column* && tar -C '$folder' -xzf '$upgrade/tde_column-$version.tar.gz' &&
    make -s -C '$folder/tde_column-$version' -j2 PG_CONFIG='$old/bin/pg_config' PG_CFLAGS=-O1 with_llvm=no install; } 2>&1`;
  die "could not install version $version: $log" if $?;
  return $old;
}

1;
