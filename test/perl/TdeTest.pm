# TdeTest - what the TAP tests have in common: a server with the extension, its wallet, and errors taken apart.
package TdeTest;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeInstall qw(install_old);
use Test::More;
use Time::HiRes qw(gettimeofday);

# A shell has what it runs in the background ignore Ctrl-C, and programs that are started here would, too.
$SIG{INT} = 'DEFAULT';

my $foreigners = 0;

our @EXPORT = qw(
  tde_node old_install old_version_runs upgrade_install wallet_path wallet_folder_files own_wallet send_wallet foreign_wallet
  attempt fails_with session session_try lines_of edit_keys
  set_conf parallel_setting
  read_bytes write_bytes flip_bit
  log_offset log_since
  crash_during processes_with is_running none_left count_lines own_memory memory_of
);

# A node that is not running yet.
#
#   extension => 1      CREATE EXTENSION has been run in database postgres, without a wallet
#   wallet    => 0      do not set tde_column.wallet_file
#   preload   => 0      leave the library out of shared_preload_libraries
#   conf      => TEXT   more settings
#   init      => LIST   more options of init()
#   install   => PATH   of another PostgreSQL
#
# The wallet's folder is outside of the data directory, and accessible to nobody else.
sub tde_node
{
  my ($name, %opts) = @_;
  my $node = PostgreSQL::Test::Cluster->new($name, $opts{install} ? (install_path => $opts{install}) : ());
  my $path = wallet_path($node);
  my $from = $opts{install} || !$ENV{TDE_TEMPLATES} ? undef : $ENV{TDE_TEMPLATES} . ($opts{extension} ? '/extension' : '/bare');

  init_node($node, $from, @{ $opts{init} // [] });
  mkdir(dirname($path), 0700) or die "could not create the wallet's folder: $!";
  $node->append_conf('postgresql.conf', "autovacuum = off\n");
  $node->append_conf('postgresql.conf', "shared_preload_libraries = 'tde_column'\n")
    if $opts{preload} // 1;
  $node->append_conf('postgresql.conf', "tde_column.wallet_file = '$path'\n")
    if $opts{wallet} // 1;
  # init() allows such nodes ten connections, and a small lock table with them, which CREATE EXTENSION fills
  $node->append_conf('postgresql.conf', "max_locks_per_transaction = 256\n") if $opts{init};
  $node->append_conf('postgresql.conf', $opts{conf}) if $opts{conf};
  if ($opts{extension} && !$from)
  {
    $node->start;
    $node->safe_psql('postgres', 'SET client_min_messages = error; CREATE EXTENSION tde_column');
    $node->stop;
  }
  return $node;
}

# Was this version of the extension made for a server as new as this one?
sub old_version_runs
{
  my ($version) = @_;
  my %newest = ('0.1.0' => 18);
  my ($major) = qx(pg_config --version) =~ /(\d+)/;
  return $major <= $newest{$version};
}

# An installation with an older version of the extension: what install => is to be.  The test ends here where there can be none.
sub old_install
{
  my ($version) = @_;
  unless (old_version_runs($version))
  {
    my $why = "version $version does not know this PostgreSQL";
    plan(skip_all => $why) unless Test::More->builder->current_test;
  SKIP: { skip $why, 1 }
    done_testing();
    exit;
  }
  return install_old($version, PostgreSQL::Test::Utils::tempdir);
}

# Put this version of the extension into such a copy, as a package does.
sub upgrade_install
{
  my ($old) = @_;
  foreach my $kind (qw(pkglibdir sharedir))
  {
    chomp(my $from = `pg_config --$kind`);
    chomp(my $to   = `'$old/bin/pg_config' --$kind`);
    my $files = $kind eq 'pkglibdir' ? 'tde_column.so' : 'extension/tde_column*';
    system("cp -f --remove-destination $from/$files '" . ($kind eq 'pkglibdir' ? $to : "$to/extension") . "'") == 0 or die 'could not copy the files';
  }
}

# init(), with a copy of the data directory $from in place of what initdb makes, if there is one: test/check has made it with these
# options of initdb.  Newer versions' INITDB_TEMPLATE is not for clusters with options.
sub init_node
{
  my ($node, $from, @options) = @_;
  my $run = \&PostgreSQL::Test::Utils::system_or_bail;

  no warnings 'redefine';
  local *PostgreSQL::Test::Utils::system_or_bail = sub {
    return $run->(@_) if !$from || $_[0] ne 'initdb';
    $run->('cp', '-RPp', $from, $node->data_dir);
    name_system($node->data_dir);
  };
  # The collation and the messages that the tests expect.
  $node->init(extra => [ '--encoding=UTF8', '--locale=C' ], @options);
  return;
}

# Give a copied data directory a system identifier of its own, as initdb would make it: the first eight bytes of pg_control.  Then its
# checksum is wrong, and pg_resetwal writes it, and WAL of that system, anew.
sub name_system
{
  my ($data) = @_;
  my $path = "$data/global/pg_control";
  my ($seconds, $microseconds) = gettimeofday();

  my $control = read_bytes($path);
  substr($control, 0, 8) = pack('Q', $seconds << 32 | $microseconds << 12 | $$ & 0xfff);
  write_bytes($path, $control);
  system_or_bail('pg_resetwal', '-f', '-D', $data);
  return;
}

sub wallet_path { return $_[0]->basedir . '/wallet/tde.p12'; }

# Give a node made from a backup a wallet file's place of its own; there is no file yet.
sub own_wallet
{
  my ($node) = @_;
  mkdir(dirname(wallet_path($node)), 0700) or die "could not create the wallet's folder: $!";
  $node->append_conf('postgresql.conf', "tde_column.wallet_file = '" . wallet_path($node) . "'\n");
  return;
}

# As an administrator would: beside the old one first, so that nobody ever reads half a file.
sub send_wallet
{
  my ($from, $to) = map { wallet_path($_) } @_;
  write_bytes("$to.new", read_bytes($from));
  rename "$to.new", $to or die "could not rename $to.new: $!";
  return;
}

# Put the wallet of another server there, under this passphrase.
sub foreign_wallet
{
  my ($to, $passphrase) = @_;
  my $node = tde_node('foreign' . ++$foreigners, extension => 1);
  $node->start;
  lines_of($node, "SELECT tde_wallet_create('$passphrase')");
  $node->stop;
  write_bytes($to, read_bytes(wallet_path($node)));
  return;
}

# The names in the wallet's folder, in one string.
sub wallet_folder_files
{
  my ($node) = @_;
  return join ' ', sort grep { !/^\.\.?$/ } slurp_dir(dirname(wallet_path($node)));
}

# Take the first error out of what psql has written to its standard error.
sub parse_error
{
  my ($err) = @_;
  (my $text = $err) =~ s{\n+\z}{};
  my %error = (err => $text, state => '', message => '', detail => '', hint => '', context => '');

  if ($err =~ /(?:ERROR|FATAL):  ([0-9A-Z]{5}): (.*?)\n(.*)/s)
  {
    my $rest = $3;
    @error{qw(state message)} = ($1, $2);
    $error{ lc $1 } = $2 while $rest =~ /^(DETAIL|HINT|CONTEXT):  (.*?)(?=\n[A-Z ]+:  |\nLINE|\n?\z)/gms;
  }
  return \%error;
}

# Run SQL in a session of its own: {out, err, state, message, detail, hint, context}; state is '' if all went well.
sub attempt
{
  my ($node, $sql, %opts) = @_;
  my ($out, $err) = ('', '');

  # psql that may not connect can end before the statement has been written to it
  foreach my $try (1 .. 20)
  {
    last if eval {
      $node->psql(
        $opts{db} // 'postgres', $sql,
        stdout        => \$out,
        stderr        => \$err,
        on_error_stop => 1,
        extra_params  => [ '-v', 'VERBOSITY=verbose', $opts{user} ? ('-U', $opts{user}) : () ]);
      1;
    };
    die $@ if $try == 20 || $@ !~ /Broken pipe/;
  }
  my $result = parse_error("$err\n");
  $result->{out} = $out;
  return $result;
}

# The SQL fails as expected: {state => '...', message|detail|hint => qr/.../}.  One test for each of these claims.
sub fails_with
{
  my ($node, $sql, $expected, $name, %opts) = @_;
  my $got = attempt($node, $sql, %opts);

  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($got->{state}, $expected->{state}, "$name: SQLSTATE") or diag($got->{err});
  foreach my $field (qw(message detail hint context))
  {
    like($got->{$field}, $expected->{$field}, "$name: $field") if $expected->{$field};
  }
  return $got;
}

# A session that stays open, and that an error does not end.
sub session
{
  my ($node, %opts) = @_;
  return $node->background_psql(
    $opts{db} // 'postgres',
    on_error_stop => 0,
    timeout       => $PostgreSQL::Test::Utils::timeout_default,
    extra_params  => [ '-v', 'VERBOSITY=verbose' ]);
}

# As attempt(), in such a session.
sub session_try
{
  my ($session, $sql) = @_;

  $session->{stderr} = '';
  my $out    = $session->query($sql);
  my $result = parse_error("$session->{stderr}\n");
  $session->{stderr} = '';
  $result->{out}     = $out;
  return $result;
}

# What a query returns, one line for each row.
sub lines_of
{
  my ($node, $sql, %opts) = @_;
  return $node->safe_psql($opts{db} // 'postgres', $sql);
}

# Change tde.data_keys as somebody would who can write the server's files: past its triggers.
sub edit_keys
{
  my ($node, $sql, %opts) = @_;
  return lines_of(
    $node, "BEGIN; ALTER TABLE tde.data_keys DISABLE TRIGGER USER; $sql; ALTER TABLE tde.data_keys ENABLE ALWAYS TRIGGER tde_guard_keys;
            ALTER TABLE tde.data_keys ENABLE ALWAYS TRIGGER tde_guard_all_keys; COMMIT", %opts);
}

# Change settings that a reload can change, and wait until new sessions have them.
sub set_conf
{
  my ($node, %settings) = @_;
  my %quoted = map { my $value = $settings{$_}; $value =~ s/'/''/g; ($_ => $value) } keys %settings;

  # where the library is not preloaded, only a session that has loaded it knows its settings
  $node->safe_psql('postgres', "LOAD 'tde_column'; ALTER SYSTEM SET $_ = '$quoted{$_}'") foreach sort keys %quoted;
  $node->reload;
  foreach my $name (sort keys %quoted)
  {
    # 500 is shown as 500ms where the library is loaded
    $node->poll_query_until(
      'postgres',
      "SELECT current_setting('$name') = '$quoted{$name}'
         OR EXISTS (SELECT FROM pg_settings WHERE name = '$name' AND setting = '$quoted{$name}')"
    ) or die "could not set $name";
  }
  return;
}

# The setting that sends every plan that allows it to a parallel worker.
sub parallel_setting
{
  my ($node) = @_;
  return $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
}

sub read_bytes
{
  my ($path) = @_;
  open my $file, '<:raw', $path or die "could not open $path: $!";
  local $/ = undef;
  my $bytes = <$file>;
  close $file;
  return $bytes;
}

# Replaces the content, and leaves the file's mode as it is (0600 if it is new).
sub write_bytes
{
  my ($path, $bytes) = @_;
  my $umask = umask 0077;
  open my $file, '>:raw', $path or die "could not open $path: $!";
  umask $umask;
  print $file $bytes;
  close $file or die "could not write $path: $!";
  return;
}

sub flip_bit
{
  my ($bytes, $position, $bit) = @_;
  substr($bytes, $position, 1) ^= chr(1 << $bit);
  return $bytes;
}

# The server is killed as by a power cut while the statement, of this role, is so far that each of the queries says true; then it runs again.
sub crash_during
{
  my ($node, $role, $statement, @when) = @_;
  my $output = '';
  my $run = IPC::Run::start([ 'psql', '-X', '-U', $role, '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', $statement ], '>&', \$output);
  $node->poll_query_until('postgres', $_) or die "it does not come so far: $statement: $output" foreach @when;
  $node->stop('immediate');
  $run->finish;
  $node->start;
  return;
}

sub log_offset { return -s $_[0]->logfile; }

sub log_since
{
  my ($node, $offset) = @_;
  return slurp_file($node->logfile, $offset);
}

# Running processes whose command line contains the text: process id => command line.
sub processes_with
{
  my ($text) = @_;
  my %found;

  if (-r '/proc/self/cmdline')
  {
    foreach my $file (glob '/proc/[0-9]*/cmdline')
    {
      # the process may end meanwhile
      open my $in, '<', $file or next;
      local $/ = undef;
      my $line = <$in> // '';
      close $in;
      $found{$1} = $line =~ tr/\0/ /r if index($line, $text) >= 0 && $file =~ /(\d+)/;
    }
  }
  else
  {
    /^\s*(\d+)\s+(.*)/ && index($2, $text) >= 0 && ($found{$1} = $2) foreach qx(ps -Ao pid,args);
  }
  return %found;
}

# Does such a process run, now or soon?
sub is_running
{
  my ($text) = @_;

  foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
  {
    return 1 if processes_with($text);
    select undef, undef, undef, 0.1;
  }
  return 0;
}

# Does no such process run?  Killed ones may take a moment to be gone.  Those that should not be there are told, and killed.
sub none_left
{
  my ($text) = @_;
  my %left;

  foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
  {
    %left = processes_with($text) or return 1;
    select undef, undef, undef, 0.1;
  }
  diag("still running: $left{$_}") foreach sort keys %left;
  kill 'KILL', keys %left;
  return 0;
}

# The parts of a process' memory that are its own: lists of address, size, and what the kernel calls it.
sub own_memory
{
  my ($pid) = @_;
  my @parts;
  no warnings 'portable';    # addresses have more than 32 bits
  foreach (split /\n/, slurp_file("/proc/$pid/maps"))
  {
    next unless /^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ \d+ *(.*)$/;
    push @parts, [ hex $1, hex($2) - hex($1), $3 || 'mapped' ];
  }
  return @parts;
}

# Their bytes, as a list of pairs of name and bytes; undef if they cannot be read here.
sub memory_of
{
  my ($pid) = @_;
  my @parts;
  open my $memory, '<:raw', "/proc/$pid/mem" or return;
  foreach my $part (own_memory($pid))
  {
    my ($address, $size, $name) = @$part;
    my $bytes = '';
    sysseek($memory, $address, 0) or next;
    sysread($memory, $bytes, $size) or next;
    push @parts, [ $name, $bytes ];
  }
  close $memory;
  return \@parts;
}

# Lines of a file; 0 if it does not exist.
sub count_lines
{
  my ($path) = @_;
  return -e $path ? scalar(split /\n/, slurp_file($path)) : 0;
}

1;
