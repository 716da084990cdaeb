# No value of an encrypted type stands in clear in any file of the data directory, WAL and temporary files included.
#
# Marker values, made anew for each run, are written in every way in which the server may come to store a value; then every
# file is searched for them in every form in which it may store one.  Other markers are written in the same ways with the
# plain types: that each of those is found shows that the search would find the others.
#
# The server's log is not part of the promise (statements have literals), and neither is the source text of functions.
use strict;
use warnings FATAL => 'all';

use File::Find;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TdeTest;

# Nothing is recycled, so that WAL is searched from its beginning.
my $node = tde_node('disk', extension => 1, conf => q(
wal_keep_size = 10GB
max_wal_size = 10GB
checkpoint_timeout = 1h
max_prepared_transactions = 2
jit = off
timezone = 'UTC'
));
$node->start;
my $db = 'postgres';
$node->safe_psql($db, q(SELECT tde_wallet_create('a passphrase')));

# Catalogs compress long node trees and statistics; a constant in them could not be found then.
$node->safe_psql($db, q(
SET allow_system_table_mods = on;
DO $$
DECLARE
  change text;
BEGIN
  -- a list, because a query that is still open would keep the catalogs from being changed
  FOREACH change IN ARRAY ARRAY(
    SELECT format('ALTER TABLE %s ALTER %I SET STORAGE EXTERNAL', attrelid::regclass, attname)
    FROM pg_attribute a JOIN pg_class r ON r.oid = attrelid
    WHERE r.relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r' AND attnum > 0
      AND atttypid IN ('pg_node_tree'::regtype, 'anyarray'::regtype)) LOOP
    EXECUTE change;
  END LOOP;
END
$$;));

#
# Markers.  For each base type, a literal and the bytes that stand for it on disk.
#
sub random_bytes { return join '', map { chr int rand 256 } 1 .. $_[0] }
sub word { my @c = ('a' .. 'z', 'A' .. 'Z', '0' .. '9'); return join '', map { $c[ rand @c ] } 1 .. $_[0] }
sub long { return pack 'q<', $_[0] }
sub int_ { return pack 'l<', $_[0] }
sub random_clock { return 10_000_000_000 + int rand 70_000_000_000 }    # microseconds of a day

sub clock_text
{
	my ($us) = @_;
	return sprintf '%02d:%02d:%02d.%06d', int($us / 3_600_000_000), int($us / 60_000_000) % 60, int($us / 1_000_000) % 60, $us % 1_000_000;
}

# A time so many microseconds after 2000-01-01, in the years 2071 to 2142.
sub instant
{
	my $us = 2**51 + int rand 2**51;
	my $text = POSIX::strftime('%Y-%m-%d %H:%M:%S', gmtime(946_684_800 + int($us / 1_000_000)));
	return (sprintf('%s.%06d', $text, $us % 1_000_000), long($us));
}

sub day
{
	my $days = 2**24 + int rand 2**29;
	my @date = gmtime(946_684_800 + 86_400 * $days);
	return (sprintf('%d-%02d-%02d', $date[5] + 1900, $date[4] + 1, $date[3]), int_($days));
}

sub text { my $word = word(24); return ($word, $word) }
sub json { my $word = word(24); return (qq({"k": "$word"}), $word) }
sub large_text { return "$_[0] " x 4000 }
sub large_json { return '[' . "$_[0], " x 3000 . '0]' }

my %kinds = (
	'text'              => { make => \&text, large => \&large_text },
	'character varying' => { make => \&text, large => \&large_text },
	'bpchar'            => { make => \&text, large => \&large_text },
	'json'              => { make => \&json, large => \&large_json },
	'jsonb'             => { make => \&json, large => \&large_json },
	'bytea'    => { make => sub { my $b = random_bytes(24); ('\\x' . unpack('H*', $b), $b) }, large => sub { '\\x' . substr($_[0], 2) x 4000 } },
	'uuid'     => { make => sub { my $b = random_bytes(16); (join('-', unpack 'H8H4H4H4H12', $b), $b) } },
	'inet'     => { make => sub { my $b = "\x20" . random_bytes(15); (join(':', map { sprintf '%x', $_ } unpack 'n8', $b), $b) } },
	'bigint'   => { make => sub { my $n = (1 << 60) + ((int rand 2**28) << 32) + int rand 2**32; ($n, long($n)) } },
	# digits of base 10000
	'numeric'  => { make => sub { my @d = map { 1000 + int rand 9000 } 1 .. 8; (join('', @d), pack 'v*', @d) } },
	'double precision'            => { make => sub { my $n = 1 + rand; (sprintf('%.17g', $n), pack 'd<', $n) } },
	'timestamp without time zone' => { make => \&instant },
	'timestamp with time zone'    => { make => sub { my ($text, $bytes) = instant(); ("$text+00", $bytes) } },
	'time without time zone'      => { make => sub { my $us = random_clock(); (clock_text($us), long($us)) } },
	'time with time zone'         => { make => sub { my $us = random_clock(); (clock_text($us) . '+03', long($us) . int_(-10_800)) } },
	'interval' => { make => sub { my ($us, $days) = (random_clock(), 1 + int rand 2**30); ("$days days " . clock_text($us), long($us) . int_($days)) } },
	# Four bytes may be there by chance, so these are judged together, and others not at all.
	'integer'  => { short => 1, make => sub { my $n = 2**24 + int rand 2**30; ($n, int_($n)) } },
	'real'     => { short => 1, make => sub { my $n = unpack 'f<', pack 'f<', 1 + rand; (sprintf('%.9g', $n), pack 'f<', $n) } },
	'date'     => { short => 1, make => \&day },
	'smallint' => { blind => 1, make => sub { my $n = int rand 2**15; ($n, '') } },
	'boolean'  => { blind => 1, make => sub { ('true', '') } });

# The family, and what its types can do now.
$node->safe_psql($db, q(
CREATE FUNCTION works(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN true;
EXCEPTION WHEN OTHERS THEN
  RETURN false;
END $$));
my @types = map {
	my ($enc, $base, $equal, $btree, $nomac) = split /\|/;
	{ enc => $enc, base => $base, equal => $equal eq 't', btree => $btree eq 't', nomac => $nomac eq 't' }
} split /\n/, $node->safe_psql($db, q(
SELECT t.oid::regtype, base_type,
       EXISTS (SELECT FROM pg_operator WHERE oprname = '=' AND oprleft = t.oid AND oprright = t.oid),
       EXISTS (SELECT FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod WHERE opcintype = t.oid AND opcdefault AND amname = 'btree'),
       works(format('SELECT NULL::%s(nomac)', t.oid::regtype))
FROM pg_type t, tde_internal.tde_type_spec(t.oid, -1) WHERE base_type IS NOT NULL AND typcategory <> 'A' ORDER BY 1));
cmp_ok(scalar @types, '>=', 8, 'there are encrypted types');
foreach my $type (@types)
{
	$kinds{ $type->{base} } or BAIL_OUT("there are no markers for $type->{base}: add a generator");
}

# Markers of encrypted columns share a name space with those of plain ones: key "plain|encrypted, way, type".
my (%markers, %patterns, $serial);

sub add_pattern
{
	my ($marker, $form, $bytes) = @_;
	$patterns{$bytes} = [ $marker, $form ];
	$marker->{forms}{$form} = 1;
	return;
}

# A marker as node trees print it: its bytes in decimal, signed where char is.
sub in_decimal { return (join(' ', unpack 'c*', $_[0]), join(' ', unpack 'C*', $_[0])) }

sub marker
{
	my ($side, $way, $type) = @_;
	my $key = "$side, $way, $type->{base}";

	return $markers{$key}{literal} if $markers{$key};
	my $kind = $kinds{ $type->{base} };
	my ($literal, $stored) = $kind->{make}->();
	my $marker = $markers{$key} = { name => $key, side => $side, way => $way, type => $type, kind => $kind, literal => $literal, stored => $stored };

	return $literal if $kind->{blind};
	add_pattern($marker, 'decimal', $_) foreach in_decimal($stored);
	add_pattern($marker, 'hex', unpack 'H*', $stored);
	add_pattern($marker, 'text', $literal) unless index($literal, $stored) >= 0;
	if ($way =~ /^TOAST/)
	{
		# pglz stores what it has not seen before as it is, but with a control byte before each eighth byte, and lz4 in one
		# piece: one of these is without a control byte
		add_pattern($marker, 'stored', substr $stored, 2 * $_, 7) foreach 0 .. (length($stored) - 7) / 2;
	}
	else
	{
		# either end, so that a marker across two pages is found
		add_pattern($marker, 'stored', substr $stored, 0, 8);
		add_pattern($marker, 'stored', substr $stored, -8) if length($stored) >= 16;
	}
	return $literal;
}

sub quoted { my ($text) = @_; $text =~ s/'/''/g; return "'$text'" }

#
# Writing: the same for plain columns and for encrypted ones of several specifications
#
my %variants = (
	plain     => { side => 'plain',     type => sub { $_[0]{base} } },
	shipped   => { side => 'encrypted', type => sub { $_[0]{enc} } },
	unsalted  => { side => 'encrypted', type => sub { "$_[0]{enc}(aes128,nosalt,sha256)" } },
	bare      => { side => 'encrypted', type => sub { $_[0]{nomac} ? "$_[0]{enc}(aes128,cbc,nosalt,nomac)" : "$_[0]{enc}(aes192,cbc,salt)" } });

# SQL for one variant; @ in front of a name is its prefix.
sub writing
{
	my ($name) = @_;
	my $side = $variants{$name}{side};
	my @columns = map { "c$_" } 0 .. $#types;
	my @declared = map { $variants{$name}{type}->($_) } @types;
	my $value = sub { my ($way, $i) = @_; quoted(marker($side, $way, $types[$i])) };
	my $row = sub { my ($way) = @_; join ', ', map { $value->($way, $_) } 0 .. $#types };
	my $list = join ', ', @columns;
	my $sql = '';

	$sql .= "CREATE SCHEMA $name; SET search_path = $name, public;\n";
	$sql .= 'CREATE TABLE data (id int, ' . join(', ', map { "c$_ $declared[$_]" } 0 .. $#types) . ");\n";
	$sql .= 'CREATE TABLE lists (' . join(', ', map { "c$_ $declared[$_]\[]" } 0 .. $#types) . ");\n";
	$sql .= "INSERT INTO data VALUES (1, ${\ $row->('INSERT') });\n";
	$sql .= "INSERT INTO data (id) VALUES (2);\nUPDATE data SET " . join(', ', map { "c$_ = " . $value->('UPDATE', $_) } 0 .. $#types) . " WHERE id = 2;\n";
	$sql .= "BEGIN; INSERT INTO data VALUES (3, ${\ $row->('rollback') }); ROLLBACK;\n";
	$sql .= "BEGIN; INSERT INTO data VALUES (4, ${\ $row->('two-phase commit') }); PREPARE TRANSACTION 'two'; COMMIT PREPARED 'two';\n";
	$sql .= 'PREPARE p AS INSERT INTO data VALUES (5, ' . join(', ', map { "\$$_" } 1 .. @types) . "); EXECUTE p (${\ $row->('EXECUTE') }); DEALLOCATE p;\n";
	$sql .= "CREATE FUNCTION add_row(" . join(', ', map { "c$_ $declared[$_]" } 0 .. $#types) . ") RETURNS void LANGUAGE plpgsql AS\n"
	  . "  'DECLARE r data; BEGIN r := ROW(6, " . join(', ', map { "add_row.c$_" } 0 .. $#types) . "); INSERT INTO data SELECT r.*; END';\n"
	  . "SELECT add_row(${\ $row->('PL/pgSQL') });\n";
	$sql .= "INSERT INTO lists VALUES (" . join(', ', map { 'ARRAY[' . $value->('array', $_) . "]::$declared[$_]\[]" } 0 .. $#types) . ");\n";
	$sql .= "INSERT INTO data SELECT 100 + i, ${\ $row->('most common value') } FROM generate_series(1, 4000) i;\n";
	$sql .= "CREATE MATERIALIZED VIEW seen AS SELECT * FROM data;\n";
	$sql .= "COPY data FROM stdin;\n7\t" . join("\t", map { (my $v = marker($side, 'COPY', $_)) =~ s/\\/\\\\/g; $v } @types) . "\n\\.\n";

	foreach my $i (0 .. $#types)
	{
		my ($type, $declared) = ($types[$i], $declared[$i]);
		my $large = $kinds{ $type->{base} }{large};

		foreach my $method ($large ? ('pglz', 'lz4') : ())
		{
			$sql .= "SELECT works('SET default_toast_compression = $method'); SELECT works('SET tde_column.compression = $method');\n";
			$sql .= "CREATE TABLE large_${i}_$method (a $declared); INSERT INTO large_${i}_$method VALUES (" . quoted($large->(marker($side, "TOAST, $method", $type))) . ");\n";
		}
		$sql .= "CREATE TABLE default_$i (id int, a $declared DEFAULT ${\ $value->('DEFAULT', $i) });\n";
		$sql .= "CREATE FUNCTION argument_$i(a $declared DEFAULT ${\ $value->('default argument', $i) }) RETURNS void LANGUAGE sql AS 'SELECT';\n";
		$sql .= "CREATE TABLE added_$i AS SELECT 1 AS id; ALTER TABLE added_$i ADD a $declared DEFAULT ${\ $value->('default of an added column', $i) };\n";
		# may be refused
		$sql .= 'SELECT works(' . quoted("CREATE DOMAIN domain_$i AS $declared DEFAULT ${\ $value->('default of a domain', $i) }") . ");\n";
		if ($type->{equal})
		{
			# with its type, so that a plain constant stays one
			my $cast = $side eq 'plain' ? "::$declared" : '';
			my $is = sub { "a = ${\ $value->($_[0], $i) }$cast" };

			$sql .= "CREATE TABLE const_$i (id int, a $declared, CHECK (a IS NULL OR ${\ $is->('CHECK') }));\n";
			$sql .= "CREATE INDEX ON const_$i (id) WHERE ${\ $is->('index predicate') };\n";
			$sql .= "CREATE VIEW view_$i AS SELECT id FROM const_$i WHERE ${\ $is->('view') };\n";
			$sql .= "CREATE POLICY policy_$i ON const_$i USING (${\ $is->('policy') });\n";
			$sql .= "CREATE FUNCTION fire_$i() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';\n";
			$sql .= "CREATE TRIGGER fire BEFORE INSERT ON const_$i FOR EACH ROW WHEN (NEW.${\ $is->('trigger condition') }) EXECUTE FUNCTION fire_$i();\n";
			$sql .= "CREATE RULE skip AS ON UPDATE TO const_$i WHERE OLD.${\ $is->('rule') } DO INSTEAD NOTHING;\n";
			$sql .= "CREATE FUNCTION atomic_$i() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM const_$i WHERE ${\ $is->('SQL function') }; END;\n";
		}
		if ($type->{btree})
		{
			my $bound = $value->('partition bound', $i);

			$sql .= "CREATE INDEX ON data (c$i);\nCREATE STATISTICS joint_$i (mcv) ON id, c$i FROM data;\n";
			$sql .= "CREATE TABLE parts_$i (a $declared) PARTITION BY LIST (a);\nCREATE TABLE part_$i PARTITION OF parts_$i FOR VALUES IN ($bound);\n";
			$sql .= "CREATE TABLE ranges_$i (a $declared) PARTITION BY RANGE (a);\nCREATE TABLE range_$i PARTITION OF ranges_$i FOR VALUES FROM (MINVALUE) TO ($bound);\n";
		}
	}
	return $sql . "ANALYZE data;\n";
}

foreach my $name (sort keys %variants)
{
	my $file = $node->basedir . "/$name.sql";
	append_to_file($file, writing($name));
	$node->command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $file, $db ], "$name: written");

	# parameters of the extended protocol
	my $side = $variants{$name}{side};
	my $script = $node->basedir . "/parameters_$name.sql";
	append_to_file($script, "INSERT INTO $name.data VALUES (8, " . join(', ', map { ":m$_" } 0 .. $#types) . ");\n");
	$node->command_ok(
		[ 'pgbench', '-n', '-t', '1', '-M', 'prepared', '-f', $script, (map { ('-D', "m$_=" . marker($side, 'parameter', $types[$_])) } 0 .. $#types), $db ],
		"$name: parameters");
	is($node->safe_psql($db, "SELECT count(*) FROM $name.data"), 4007, "$name: all rows are there");
	is($node->safe_psql($db, "SELECT count(*) FROM $name.data WHERE " . join ' AND ', map { "c$_ = " . quoted(marker($side, 'UPDATE', $types[$_])) } grep { $types[$_]{equal} } 0 .. $#types),
		1, "$name: and hold their markers");
}

# Values of plain types as text and in hexadecimal, as some column of a user may have them.
$node->safe_psql($db, 'CREATE TABLE plain.texts (a text)');
$node->safe_psql($db, join "\n", map { "INSERT INTO plain.texts VALUES (${\ quoted($_->{literal}) }), ('${\ unpack 'H*', $_->{stored} }');" }
	  grep { $_->{side} eq 'plain' && $_->{way} eq 'INSERT' } values %markers);

#
# Temporary files, which are there as long as their cursors are open
#
my @sortable = grep { $types[$_]{btree} } 0 .. $#types;
my %spills = (
	'sort'       => sub { my ($name) = @_; map { "SELECT c$_ FROM $name.data ORDER BY c$_" } @sortable },
	'merge join' => sub { "SELECT a.*, b.* FROM $_[0].data a JOIN $_[0].data b USING (id)" },
	'hash join'  => sub { "SELECT a.*, b.* FROM $_[0].data a JOIN $_[0].data b USING (id)" },
	'held cursor' => sub { "SELECT * FROM $_[0].data" });
my (%sessions, %pids);
foreach my $spill (sort keys %spills)
{
	my $session = $sessions{$spill} = $node->background_psql($db);
	my $number = 0;

	$session->query_safe("SET search_path = public; SET work_mem = '64kB'; SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; SET enable_indexscan = off; SET enable_indexonlyscan = off");
	$session->query_safe('SET enable_hashjoin = ' . ($spill eq 'hash join' ? 'on' : 'off') . '; SET enable_mergejoin = ' . ($spill eq 'hash join' ? 'off' : 'on'));
	($pids{$spill}) = $session->query_safe('SELECT pg_backend_pid()') =~ /(\d+)/;
	$session->query_safe('BEGIN');
	foreach my $query (map { $spills{$spill}->($_) } sort keys %variants)
	{
		$number++;
		$session->query_safe("DECLARE cursor_$number CURSOR " . ($spill eq 'held cursor' ? 'WITH HOLD ' : '') . "FOR $query");
		# the output is of no interest
		$session->query_safe("MOVE 100 IN cursor_$number");
	}
	$session->query_safe('COMMIT') if $spill eq 'held cursor';
}

#
# The search
#
sub none
{
	my ($list, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(join("\n", sort @$list), '', $name);
}

sub files_below
{
	my ($top) = @_;
	my @files;
	find({ no_chdir => 1, wanted => sub { push @files, $File::Find::name if -f } }, $top);
	return @files;
}

# WAL in one piece: a value across two of its pages has a page header within it.  The first page of a file has a long one.
sub without_page_headers
{
	my ($content) = @_;
	return join '', map { substr $content, $_ * 8192 + ($_ ? 24 : 40), 8192 - ($_ ? 24 : 40) } 0 .. length($content) / 8192 - 1;
}

# {marker's name}{form}{file} for whatever is found.
sub search
{
	# one automaton for all patterns, however many
	local ${^RE_TRIE_MAXBUF} = 2**28;
	my $any = join '|', map { quotemeta } sort keys %patterns;
	my $regex = qr/($any)/s;
	my ($found, $files, $bytes) = ({}, 0, 0);

	foreach my $file (files_below($node->data_dir))
	{
		next unless -e $file;    # temporary
		my $content = read_bytes($file);
		$files++;
		$bytes += length $content;
		$content = without_page_headers($content) if $file =~ m{/pg_wal/[0-9A-F]{24}$};
		while ($content =~ /$regex/g)
		{
			my ($marker, $form) = @{ $patterns{$1} };
			$found->{ $marker->{name} }{$form}{$file} = 1;
		}
	}
	note(sprintf '%d files, %d MB, %d patterns', $files, $bytes / 1e6, scalar keys %patterns);
	return $found;
}

sub no_encrypted
{
	my ($found, $when) = @_;
	my @seen = grep { $_->{side} eq 'encrypted' && $found->{ $_->{name} } } values %markers;
	my @long = grep { !$_->{kind}{short} } @seen;
	my $sample = grep { $_->{side} eq 'encrypted' && $_->{kind}{short} } values %markers;

	none(
		[ map { my $m = $_; map { my $form = $_; map { "$m->{name}: $form in $_" } keys %{ $found->{ $m->{name} }{$form} } } keys %{ $found->{ $m->{name} } } } @long ],
		"$when: no encrypted value stands in clear anywhere");
	# with 2^28 places to look at, each of 2^32 patterns has been there by chance with a probability of at most 1/16
	cmp_ok(scalar(grep { $_->{kind}{short} } @seen), '<=', 3 + $sample / 16, "$when: values of four bytes are found no more often than by chance (of $sample)");
	return;
}

# The storage of pg_proc's columns is wired into the server, so compressed node trees there are made legible in another way.
$node->safe_psql($db, 'CHECKPOINT');
$node->safe_psql($db, "COPY (SELECT proargdefaults, prosqlbody FROM pg_proc) TO '${\ $node->data_dir }/pg_proc.legible'");
my $found = search();
no_encrypted($found, 'running');

# The plain markers show that the search works: each way of writing, each form, each sort of file.
my @plain = grep { $_->{side} eq 'plain' && !$_->{kind}{blind} } values %markers;
none([ map { $_->{name} } grep { !$found->{ $_->{name} } } @plain ], 'plain values are found, whichever way they were written');
my (%forms, %wanted);
foreach my $marker (@plain)
{
	$wanted{"$marker->{type}{base}: $_"} = 1 foreach keys %{ $marker->{forms} };
	$forms{"$marker->{type}{base}: $_"} = 1 foreach keys %{ $found->{ $marker->{name} } };
}
is_deeply([ sort keys %forms ], [ sort keys %wanted ], 'plain values are found in each form');

sub in_files
{
	my ($marker, $files) = @_;
	return grep { /$files/ } map { keys %$_ } values %{ $found->{ $marker->{name} } };
}
my @common = grep { $_->{way} eq 'most common value' } @plain;
none([ map { $_->{name} } grep { $_->{way} =~ /^(?:INSERT|UPDATE|COPY|rollback|parameter|TOAST)/ && !in_files($_, qr{/pg_wal/}) } @plain ], 'plain values are found in WAL');
my $statistics = join '|', split /\n/, $node->safe_psql($db, q(SELECT pg_relation_filepath(oid) FROM pg_class
	WHERE oid IN ('pg_statistic'::regclass, (SELECT reltoastrelid FROM pg_class WHERE oid = 'pg_statistic'::regclass))));
none([ map { $_->{name} } grep { $_->{type}{equal} && !in_files($_, qr{/(?:$statistics)$}) } @common ], 'plain values are found in statistics');
foreach my $spill (sort keys %spills)
{
	my @there = grep { $_->{type}{btree} || $spill ne 'sort' } @common;
	none([ map { $_->{name} } grep { !in_files($_, qr{/pgsql_tmp$pids{$spill}\.}) } @there ], "plain values are found in temporary files: $spill");
}

$_->quit foreach values %sessions;
$node->stop;
no_encrypted(search(), 'stopped');

done_testing();
