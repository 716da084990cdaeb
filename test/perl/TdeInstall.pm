# TdeInstall - an older version of the extension, or this one compiled otherwise, in an installation of its own, for tests with PostgreSQL's test
# modules and without.
package TdeInstall;

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);

my $top     = abs_path(dirname(__FILE__) . '/../..');
my $upgrade = "$top/test/upgrade";

our @EXPORT_OK = qw(install_old install_variant);

# A copy in this folder of the (private) installation that pg_config belongs to; returns the folder whose bin has the programs, and that of what
# is shared.
sub copied
{
  my ($folder) = @_;
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
  system('cp', '-a', $prefix, "$folder/pg") == 0 or die "could not copy $prefix";
  # PostgreSQL finds what belongs to it by the place of its programs
  return map { "$folder/pg" . substr $_, length $prefix } dirname($bindir), $sharedir;
}

# With an older version of the extension, built from its frozen sources, in place of this one.
sub install_old
{
  my ($version, $folder) = @_;
  my ($own, $share) = copied($folder);
  my $log = `{ rm '$share'/extension/tde_column* && tar -C '$folder' -xzf '$upgrade/tde_column-$version.tar.gz' &&
    make -s -C '$folder/tde_column-$version' -j2 PG_CONFIG='$own/bin/pg_config' PG_CFLAGS=-O1 with_llvm=no install; } 2>&1`;
  die "could not install version $version: $log" if $?;
  return $own;
}

# With this version's core, compiled with these options.
sub install_variant
{
  my ($options, $folder) = @_;
  my ($own) = copied($folder);
  # where nothing is built yet, not even beside these sources
  my $log = `{ mkdir '$folder/sources' && tar -C '$top' --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude='./tde_column--*.sql' --exclude=./.git --exclude=./test \\
      --exclude=built_for -cf - . | tar -C '$folder/sources' -xf - &&
    make -s -C '$folder/sources' -j2 PG_CONFIG='$own/bin/pg_config' TDE_MODULES= TDE_OPTIMIZE= COPT='$options' with_llvm=no install; } 2>&1`;
  die "could not install with $options: $log" if $?;
  return $own;
}

1;
