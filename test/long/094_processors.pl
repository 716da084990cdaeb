# Values of gcm on other processors, which qemu imitates: x86-64 without the instructions that make them fast, and aarch64.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $dir = PostgreSQL::Test::Utils::tempdir;

chomp(my $machine = `uname -m`);
plan skip_all => "SKIPPED: this is $machine, not x86_64" if $machine ne 'x86_64';

# compile(COMPILER, TEST, WHAT...): a program of test/unit
sub compile
{
  my ($compiler, $test, @what) = @_;
  my $program = "$dir/$test.$compiler";
  my @command =
    ($compiler, '-std=gnu11', '-O2', "-I$top/src", "-I$top/test/unit", "$top/test/unit/$test.c", @what, '-o', $program);
  system(@command) == 0 or BAIL_OUT("failed: @command");
  return $program;
}

# passes(NAME, REMARK, COMMAND...): the program's tests pass on the processor that its remark tells of
sub passes
{
  my ($name, $remark, @command) = @_;
  my ($out, $err) = run_command([@command]);
  like($out, qr/^# this processor has \Q$remark\E$/m, "$name has ${remark}");
  my ($planned) = $out =~ /^1\.\.([1-9]\d*)$/m;
  is(scalar(() = $out =~ /^ok /mg), $planned, "$name: each test passes") or diag($out, $err);
  unlike($out, qr/^not ok/m, "$name: none fails");
  return;
}

SKIP:
{
  skip 'SKIPPED: qemu-x86_64 is not here; test/check says why', 1 if system('command -v qemu-x86_64 >/dev/null') != 0;
  my $gcm = compile('gcc', 'gcm', glob("$top/src/crypto/*.c"), '-lcrypto');
  # neither AES nor PCLMULQDQ; both of them, without AVX; all that qemu has
  passes('Conroe', 'no carry-less multiplication', 'qemu-x86_64', '-cpu', 'Conroe', $gcm);
  passes('Westmere', 'carry-less multiplication', 'qemu-x86_64', '-cpu', 'Westmere', $gcm);
  passes('max', 'carry-less multiplication', 'qemu-x86_64', '-cpu', 'max', $gcm);
}

SKIP:
{
  skip 'SKIPPED: there is no compiler for aarch64; test/check says why', 1
    if system('command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null') != 0;
  my $polyval = compile('aarch64-linux-gnu-gcc', 'polyval', "$top/src/crypto/polyval.c", '-static');
  passes('aarch64', 'carry-less multiplication', 'qemu-aarch64', $polyval);
}

done_testing();
