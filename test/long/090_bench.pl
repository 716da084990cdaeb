# bench/run: what it refuses, a report that is whole, and that nothing is left however an experiment ends; two builds beside each
# other.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $top    = "$FindBin::RealBin/../..";
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
my $logs   = PostgreSQL::Test::Utils::tempdir();
my $tmp    = PostgreSQL::Test::Utils::tempdir_short();
my $out    = "$logs/out";
$ENV{TMPDIR} = $tmp;

# Start bench/run in a process group of its own, as a shell would.
sub start
{
  my ($tree, @words) = @_;
  write_bytes("$logs/stderr", '');    # which tells how far it is
  defined(my $pid = fork) or die "could not fork: $!";
  return $pid if $pid;
  setpgrp 0, 0;
  open STDIN,  '<', '/dev/null'   or die "could not open /dev/null: $!";
  open STDOUT, '>', "$logs/stdout" or die "could not write: $!";
  open STDERR, '>', "$logs/stderr" or die "could not write: $!";
  exec "$tree/bench/run", @words or die "could not start bench/run: $!";
}

# Wait for its end: {status, out, err}.
sub result
{
  my ($pid) = @_;
  waitpid $pid, 0;
  return { status => $? >> 8, out => slurp_file("$logs/stdout"), err => slurp_file("$logs/stderr") };
}

sub bench { return result(start($top, @_)); }

sub ends_with
{
  my ($result, $status, $message, $name) = @_;
  is($result->{status}, $status, "$name: status");
  like($result->{err}, $message, "$name: message");
  unlike($result->{err}, qr/Traceback/, "$name: no traceback");
  return;
}

# Neither a folder nor a process.
sub nothing_left
{
  my ($name) = @_;
  is(join(' ', grep { !/^\.\.?$/ } slurp_dir($tmp)), '', "$name: no temporary folder");
  ok(none_left($tmp), "$name: no process");
  return;
}

subtest 'what is refused' => sub {
  is(bench()->{status}, 0, 'usage');
  ends_with(bench('nosuch'), 2, qr/no experiment "nosuch"/, 'an unknown experiment');
  ends_with(bench('column-scan', '--nosuch'), 2, qr/unrecognized arguments: --nosuch/, 'an unknown option');
  foreach my $value ('0', '-1', 'nan', 'inf', 'x')
  {
    ends_with(bench('column-scan', "--rows=$value"), 2, qr/--rows: '\Q$value\E' is not a number above 0/, "--rows=$value");
  }
  ends_with(bench('column-scan', '--rounds=0'), 2, qr/--rounds: '0' is not a whole number of at least 1/, '--rounds=0');
  ends_with(bench('all', '--rows=1'), 2, qr/unrecognized arguments: --rows=1/, 'all takes no option of an experiment');
  ends_with(bench('column-scan', '--rows=1e9', "--out=$out"), 1, qr/GB of disk space are needed/, 'too little disk');
  ends_with(bench('column-scan', "--out=$logs/stdout/x"), 1, qr/the report cannot be written to/, 'no folder for the report');
  mkdir "$logs/closed", 0555;
  ends_with(bench('column-scan', "--out=$logs/closed"), 1, qr/the report cannot be written to/, 'a closed folder for the report')
    if $> != 0;
  mkdir $_ foreach "$logs/other", "$logs/other/column-scan";
  append_to_file("$logs/other/column-scan/mine", 'x');
  ends_with(bench('column-scan', "--out=$logs/other"), 1, qr/is no report: it is not replaced/, 'a folder that is no report');
  ok(-e "$logs/other/column-scan/mine", 'which is still there');
  ok(!-e $out, 'nothing was made before');
  nothing_left('refused');
};

subtest 'each experiment tells its options' => sub {
  my @names = bench()->{out} =~ /^  ([a-z0-9-]+) /mg;
  cmp_ok(scalar(@names), '>', 5, 'experiments');
  foreach my $name (@names)
  {
    my $help = bench($name, '--help');
    is($help->{status}, 0, "$name: status") or diag($help->{err});
    like($help->{out}, qr/^usage: bench\/run $name .*--out FOLDER/s, "$name: usage");
  }
};

subtest 'the parts of the suite' => sub {
  my $found = qx{PYTHONDONTWRITEBYTECODE=1 $python $top/test/bench/test_suite.py 2>&1};
  is($?, 0, 'unit tests') or diag($found);
  like($found, qr/^Ran \d\d tests/m, 'there are some');
};

subtest 'a report' => sub {
  my $run    = bench('column-scan', '--rows=0.0005', '--rounds=2', "--out=$out");
  my $folder = "$out/column-scan";
  is($run->{status}, 0, 'status') or diag($run->{err});
  is(join(' ', sort grep { !/^\.\.?$/ } slurp_dir($out)),    'column-scan',                      'one folder');
  is(join(' ', sort grep { !/^\.\.?$/ } slurp_dir($folder)), 'ratios.svg report.md samples.csv', 'its files');
  my $text = slurp_file("$folder/report.md");
  is($run->{out}, "$text\n", 'the text is shown, too');
  like($text, qr/^\* $_: \S/m, "it tells: $_") foreach 'machine', 'OpenSSL', 'commit', 'PostgreSQL', 'settings', 'repetitions';
  like($text, qr/^\| avg\(length\(a\)\) \| aes256 mac salt \| .*\*\*[\d.]+\*\*.* \| 23\.0 \| <= 4 \| (pass|\*\*MISS\*\*) \|$/m,
    'a ratio');
  like($text, qr/^\| aes256 mac salt \| 500 \| 0 \| 47 \|/m, 'decryptions');
  is(count_lines("$folder/samples.csv"), 1 + (24 + 23) * 2 * 2, 'samples, and those of plain before each');
  like(slurp_file("$folder/ratios.svg"), qr{^<\?xml.*</svg>\s*\z}s, 'the chart is whole');
  nothing_left('a report');
};

subtest 'an experiment with other schemas' => sub {
  my $result = bench('pgbench', '--scale=1', '--clients=1', '--seconds=1', '--rounds=1', '--mac=gcm', "--out=$logs/schemas");
  is($result->{status}, 0, 'pgbench ends well') or diag($result->{err});
  my $text = slurp_file("$logs/schemas/pgbench/report.md");
  like($text, qr/^\| TPC-B, 1 \| $_ \|/m, "figures of $_ tables") foreach 'plain', 'encrypted', 'pgcrypto';
  nothing_left('pgbench');
};

# Start a long experiment, wait until it is at this stage, and hand its processes to the action; the report that was there stays.
sub ended_at
{
  my ($stage, $action) = @_;
  my $before = slurp_file("$out/column-scan/report.md");
  my $pid    = start($top, 'column-scan', '--rows=0.02', '--rounds=10000', "--out=$out");
  my $there = 0;
  foreach (1 .. 3000)
  {
    last if $there = slurp_file("$logs/stderr") =~ $stage;
    select undef, undef, undef, 0.1;
  }
  ok($there, 'it got there');
  select undef, undef, undef, 2;
  $action->($pid);
  my $run = result($pid);
  is(slurp_file("$out/column-scan/report.md"), $before, 'no new report');
  is(join(' ', grep { !/^\.\.?$/ } slurp_dir($out)), 'column-scan', 'no half report');
  nothing_left('ended');
  return $run;
}

# The experiment's interpreter, and no other run's.
sub interpreter
{
  my %found = processes_with("--out=$out");
  return grep { $found{$_} =~ /-m suite column-scan/ && $found{$_} !~ /^env / } keys %found;
}

sub postmaster
{
  my ($file) = glob "$tmp/*/*/data/postmaster.pid";
  return (split /\n/, slurp_file($file))[0];
}

my %stages = (building => qr/building/, loading => qr/loading/, measuring => qr/column-scan \[/);
my @ends = (
  [ 'building',  'Ctrl-C',  130, sub { kill INT  => -$_[0] } ],
  [ 'building',  'kill -9', 137, sub { kill KILL => interpreter() } ],
  [ 'loading',   'kill',    143, sub { kill TERM => $_[0] } ],
  [ 'measuring', 'Ctrl-C',  130, sub { kill INT  => -$_[0] } ],
  [ 'measuring', 'kill -9', 137, sub { kill KILL => interpreter() } ]);
foreach my $end (@ends)
{
  my ($stage, $signal, $status, $action) = @$end;
  subtest "$signal while $stage" => sub {
    my $run = ended_at($stages{$stage}, $action);
    is($run->{status}, $status, 'status');
    unlike($run->{err}, qr/Traceback/, 'no traceback');
  };
}

subtest 'the server dies' => sub {
  ends_with(ended_at($stages{measuring}, sub { kill KILL => postmaster() }),
    1, qr/error: the connection broke: .*; the statement was: SELECT .*postmaster exit/s, 'postmaster');
};

sub change
{
  my ($path, $pattern, $text) = @_;
  my $bytes = read_bytes($path);
  $bytes =~ s/$pattern/$text/ or die "$path does not hold $pattern";
  write_bytes($path, $bytes);
  return;
}

# A repository of what is tested here, whose working tree takes some twenty microseconds more for each value that it encrypts or
# decrypts: statements on many values take so much longer that nothing else that happens on this machine hides it.
sub repository
{
  my $tree = "$logs/repository";
  my @git  = ('git', '-C', $tree, '-c', 'user.name=test', '-c', 'user.email=test@example.com');
  mkdir $tree;
  system_or_bail("tar -C $top -cf - --exclude='*.o' --exclude='*.so' --exclude='*.bc' . | tar -C $tree -xf -");
  system_or_bail('git', 'init', '-q', $tree);
  append_to_file("$tree/src/functions/hooks.c", "#error does not build\n");
  system_or_bail(@git, 'add', '.');
  system_or_bail(@git, 'commit', '-q', '-m', 'broken');
  change("$tree/src/functions/hooks.c", qr/#error does not build\n/, '');
  system_or_bail(@git, 'commit', '-q', '-a', '-m', 'good');
  change("$tree/src/crypto/value.c", qr/\n$_\([^;{]*\{\n(?:\t[^\n]+\n)+\K(?=\n)/, "\tfor (volatile int turn = 0; turn < 50000; turn++);\n")
    foreach 'tde_value_seal', 'tde_value_open';
  return $tree;
}

subtest 'two builds' => sub {
  my $tree = repository();
  my $against = sub { return result(start($tree, 'regress', "--out=$out", '--rows=0.01', '--rounds=12', @_)) };
  ends_with($against->(), 2, qr/required: --against/, 'no revision');
  ends_with($against->('--against=nosuch'), 1, qr/there is no revision "nosuch"/, 'an unknown revision');
  ends_with($against->('--against=HEAD^'), 1, qr/#error does not build.*cannot be compared/s, 'a revision that does not build');
  ok(!-e "$out/regress", 'no report of these');
  my $slower = $against->('--against=HEAD');
  is($slower->{status}, 3, 'status of something slower') or diag($slower->{err}, $slower->{out});
  my %verdicts = $slower->{out} =~ /^\| ([^|]*) \| \d.* \| ([^|]*) \|$/mg;
  is(scalar(keys %verdicts), 15, 'workloads');
  is(($slower->{out} =~ /^\*\*Slower: (.*)\.\*\*$/m)[0],
    join('; ', grep { $verdicts{$_} eq 'slower' } $slower->{out} =~ /^\| ([^|]*) \| \d/mg), 'what the report says first');
  unlike(join('; ', values %verdicts), qr/faster/, 'none is faster') or diag($slower->{out});
  my @many = grep { !/nosalt|^loop|^lookup/ } sort keys %verdicts;
  is(join('; ', map { "$_: $verdicts{$_}" } @many), join('; ', map { "$_: slower" } @many), 'those on many values are slower')
    or diag($slower->{out});
  is(count_lines("$out/regress/samples.csv"), 1 + 15 * 4 * 12, 'samples');
  nothing_left('two builds');
};

done_testing();
