# What a column keeps when its type is converted, offline and online: all that the catalogs have of it, and its indexes, over expressions, too.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('kept', extension => 1, conf => "tde_column.passphrase_command = 'echo kept-passphrase'\nfsync = off\n");
my $provider = $node->basedir . '/label_provider.so';
my ($server_include) = $node->config_data('--includedir-server');
system_or_bail('gcc', '-O1', '-shared', '-fPIC', "-I$server_include", '-o', $provider, "$FindBin::RealBin/../lib/label_provider.c");
$node->start;
lines_of($node, q(SELECT tde_wallet_create('kept-passphrase');
CREATE ROLE app LOGIN; CREATE ROLE reader; CREATE ROLE writer; CREATE ROLE officer LOGIN; GRANT CREATE ON SCHEMA public TO app;
GRANT app TO officer; GRANT EXECUTE ON FUNCTION tde_set_mask TO officer));
lines_of($node, "ALTER ROLE app SET session_preload_libraries = '$provider'");

sub app_ok
{
  my ($sql, $name) = @_;
  my $got = attempt($node, $sql, user => 'app');
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  is($got->{state}, '', $name) or diag("$sql: $got->{err}");
  return $got;
}

# All steps; what they said.
sub convert
{
  my ($direction, $how, $table, $column) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  return app_ok("CALL tde_${direction}_column('$table', '$column')", "$how: $table.$column ${direction}ed")->{err} if $how eq 'offline';
  my $said = app_ok("CALL tde_${direction}_column('$table', '$column', online => true)", "$how: $table.$column copied")->{err};
  $said .= app_ok($_, $_)->{err} foreach split /\n/, app_ok("SELECT tde_conversion_indexes('$table', '$column')", "$how: indexes of $table.$column")->{out};
  return $said . app_ok("CALL tde_finish_conversion('$table', '$column')", "$how: $table.$column ${direction}ed")->{err};
}

#
# Properties: a row of pg_attribute but for what its type and its place determine, its labels, comment and privileges
#
my $properties = q(SELECT (to_jsonb(a) - '{attrelid,attnum,atttypid,atttypmod,attlen,attbyval,attalign,attcacheoff,attstorage,attislocal,attoptions}'::text[])
    || jsonb_build_object('options', (SELECT array_agg(o ORDER BY o) FROM unnest(attoptions) o WHERE o ~ '^n_distinct'), 'storage', CASE WHEN attstorage <> typstorage THEN attstorage END, 'comment', col_description(attrelid, attnum), 'default', replace(pg_get_expr(adbin, adrelid), 'encrypted_', ''),
      'labels', (SELECT jsonb_object_agg(provider, label) FROM pg_seclabel WHERE objoid = attrelid AND objsubid = attnum AND provider <> 'tde_column'))
  FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = 'TABLE'::regclass AND attname ~ '^c_' ORDER BY attname);
my %settings = (
  c_statistics  => 'ALTER c_statistics SET STATISTICS 77',
  c_distinct    => 'ALTER c_distinct SET (n_distinct = -0.5, n_distinct_inherited = 12)',
  c_plain       => 'ALTER c_plain SET STORAGE PLAIN',
  c_main        => 'ALTER c_main SET STORAGE MAIN',
  c_compression => 'ALTER c_compression SET COMPRESSION pglz',
  c_notnull     => 'ALTER c_notnull SET NOT NULL',
  c_default     => q(ALTER c_default SET DEFAULT 'X'),
  c_nothing     => 'ALTER c_nothing DROP NOT NULL');
my @columns = sort keys %settings;
my $mask = q(last 4 TO reader; null);
foreach my $how ('offline', 'online')
{
  my $table = "kept_$how";
  app_ok("CREATE TABLE $table (id int, " . join(', ', map { "$_ text" } @columns) . '); ' . join('; ', map { "ALTER TABLE $table $_" } values %settings) . ';'
      . join('; ', map { "COMMENT ON COLUMN $table.$_ IS 'it''s $_'; SECURITY LABEL FOR other ON COLUMN $table.$_ IS 'it''s $_'" } @columns)
      . "; GRANT SELECT (c_nothing), INSERT (c_nothing) ON $table TO reader WITH GRANT OPTION; GRANT ALL (c_main) ON $table TO PUBLIC; INSERT INTO $table (c_notnull) VALUES ('x')", "$how: a table");
  my $of_table = $properties =~ s/TABLE/$table/r;
  my $before = lines_of($node, $of_table);
  like($before, qr/$_/, "$how: there is $_") foreach '"attstattarget": 77', 'n_distinct_inherited=12', '"storage": "p"', '"storage": "m"', '"attcompression": "p"', q("other": "it's c_main"), 'reader=a[*]r[*]/app', '"attnotnull": true', q("default": "'X'::text");
  my $notices = join '', map { convert('encrypt', $how, $table, $_) } @columns;
  is(scalar(() = $notices =~ /DETAIL:  SELECT \*, and COPY and INSERT without a list of columns, meet one more column until tde_finish_conversion\(\) has ended\./g), $how eq 'online' ? scalar @columns : 0,
    "$how: a notice tells of the copy that SELECT * has");
  is(lines_of($node, "SELECT count(*) FROM tde.encrypted_columns WHERE table_name = '$table'"), scalar @columns, "$how: all are encrypted");
  is(lines_of($node, $of_table), $before, "$how: all properties of encrypted columns");

  is(attempt($node, "SECURITY LABEL FOR tde_column ON COLUMN $table.$_ IS '$mask'", user => 'officer')->{state}, '', "$how: masks of $_") foreach @columns;
  fails_with($node, "SECURITY LABEL FOR tde_column ON COLUMN $table.c_main IS NULL", { state => '42501' }, "$how: the owner does not remove masks of an encrypted column", user => 'app');
  my $said = join '', map { convert('decrypt', $how, $table, $_) } @columns;
  like($said, qr/NOTICE: .*masks of column "$_" of table public\.$table go with its encryption\nDETAIL:  \Q$mask\E\nHINT:  When it is encrypted again: SECURITY LABEL FOR tde_column ON COLUMN public\.$table\.$_ IS '\Q$mask\E';/, "$how: masks of $_ are told of") foreach @columns;
  is(lines_of($node, "SELECT count(*) FROM pg_seclabel WHERE provider = 'tde_column'"), '0', "$how: and gone");
  is(lines_of($node, $of_table), $before, "$how: all properties of decrypted columns");
}

#
# Tables beside plain twins, whose columns get another plain type: what PostgreSQL keeps of them is kept here.  Catalogs tell what there is.
#
lines_of($node, q{CREATE FUNCTION facts(of_schema text) RETURNS SETOF text LANGUAGE sql AS $$
  WITH r AS (SELECT * FROM pg_class WHERE relnamespace = of_schema::regnamespace), objects AS (
    SELECT 'relation ' || relname AS object, to_jsonb(r) - '{oid,relnamespace,reltype,relfilenode,relpages,reltuples,relallvisible,relallfrozen,reltoastrelid,relfrozenxid,relminmxid}'::text[] AS properties FROM r
    UNION ALL SELECT format('column %s.%s', relname, attname),
      to_jsonb(a) - '{attrelid,attnum,atttypid,atttypmod,attlen,attbyval,attalign,attcacheoff,attstorage,attoptions,attcollation}'::text[] || jsonb_build_object('default', regexp_replace(pg_get_expr(adbin, adrelid), '::[a-z_]+([(][^()]*[)])?|[()]', '', 'g'),
        'options', (SELECT array_agg(o ORDER BY o) FROM unnest(attoptions) o WHERE o ~ '^n_distinct'), 'storage', CASE WHEN attstorage <> typstorage THEN attstorage END)
      FROM r JOIN pg_attribute a ON attrelid = r.oid JOIN pg_type t ON t.oid = atttypid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attnum > 0 AND relkind <> 'S'
    UNION ALL SELECT 'index ' || relname, to_jsonb(i) - '{indexrelid,indrelid,indclass,indcollation,indexprs,indpred,indcheckxmin}'::text[] FROM r JOIN pg_index i ON indexrelid = r.oid
    UNION ALL SELECT format('constraint %s of %s', conname, relname), to_jsonb(c) - '{oid,connamespace,conrelid,conindid,conparentid,conbin,confrelid,conpfeqop,conppeqop,conffeqop}'::text[] FROM r JOIN pg_constraint c ON conrelid = r.oid
    UNION ALL SELECT 'statistics ' || stxname, to_jsonb(s) - '{oid,stxrelid,stxnamespace,stxexprs}'::text[] FROM pg_statistic_ext s WHERE stxnamespace = of_schema::regnamespace
    UNION ALL SELECT 'publication of ' || tablename, to_jsonb(p) - '{pubname,schemaname}'::text[] FROM pg_publication_tables p WHERE schemaname = of_schema
    UNION ALL SELECT 'comment on ' || replace(identity, of_schema || '.', ''), to_jsonb(d) - '{objoid,classoid,objsubid}'::text[] FROM pg_description d, pg_identify_object(classoid, objoid, objsubid) WHERE identity ~ ('\m' || of_schema || '\.')
    UNION ALL SELECT 'label of ' || replace(identity, of_schema || '.', ''), to_jsonb(l) - '{objoid,classoid,objsubid}'::text[] FROM pg_seclabel l, pg_identify_object(classoid, objoid, objsubid) WHERE identity ~ ('\m' || of_schema || '\.') AND provider <> 'tde_column'
    UNION ALL SELECT 'parent of ' || relname, jsonb_build_object('name', (SELECT relname FROM pg_class p WHERE p.oid = inhparent)) FROM r JOIN pg_inherits ON inhrelid = r.oid
    UNION ALL SELECT 'owner of ' || relname, jsonb_build_object('column', replace(pg_describe_object(refclassid, refobjid, refobjsubid), of_schema || '.', '')) FROM r JOIN pg_depend ON classid = 'pg_class'::regclass AND objid = r.oid AND deptype = 'a' WHERE relkind = 'S')
  SELECT format('%s: %s = %s', object, key, value) FROM objects, jsonb_each_text(properties) WHERE value NOT IN ('false', '') ORDER BY 1
$$});
my $shapes = q(CREATE TABLE single (id int, c text COLLATE "C" NOT NULL DEFAULT 'own', d text DEFAULT current_setting('server_version'), s serial, other int, CONSTRAINT single_check CHECK (c <> ''), CONSTRAINT single_key UNIQUE (d));
ALTER TABLE single ALTER c SET STATISTICS 55, ALTER c SET (n_distinct = 9), ALTER c SET STORAGE EXTERNAL, ALTER d SET COMPRESSION pglz, SET (fillfactor = 80);
CREATE UNIQUE INDEX single_c ON single (c) WITH (fillfactor = 70); CREATE INDEX single_lower ON single (lower(c), id); ALTER INDEX single_lower ALTER COLUMN 1 SET STATISTICS 44; CREATE INDEX single_d ON single (d, c);
ALTER TABLE single CLUSTER ON single_d, REPLICA IDENTITY USING INDEX single_c;
CREATE STATISTICS single_statistics (ndistinct, mcv) ON c, d FROM single; ALTER STATISTICS single_statistics SET STATISTICS 33;
COMMENT ON TABLE single IS 'a'; COMMENT ON COLUMN single.c IS 'b'; COMMENT ON INDEX single_c IS 'd'; COMMENT ON INDEX single_lower IS 'd2'; COMMENT ON CONSTRAINT single_check ON single IS 'e'; COMMENT ON CONSTRAINT single_key ON single IS 'e2'; COMMENT ON STATISTICS single_statistics IS 'f'; COMMENT ON SEQUENCE single_s_seq IS 'g';
GRANT SELECT (c), UPDATE (d, s) ON single TO reader WITH GRANT OPTION; GRANT SELECT ON single TO PUBLIC; SECURITY LABEL FOR other ON COLUMN single.c IS 'label'; SECURITY LABEL FOR other ON TABLE single IS 'label';
CREATE TABLE parted (id int NOT NULL, c text NOT NULL DEFAULT 'parent', d text DEFAULT 'parent d') PARTITION BY RANGE (id); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10); CREATE UNIQUE INDEX parted_c ON parted (c, id);
ALTER TABLE parted_1 ALTER c SET DEFAULT 'child', ALTER d DROP DEFAULT, ALTER c SET STATISTICS 22, ALTER d SET NOT NULL; CREATE UNIQUE INDEX parted_1_own ON parted_1 (c, id); ALTER TABLE parted_1 CLUSTER ON parted_1_own, REPLICA IDENTITY USING INDEX parted_1_own;
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20) PARTITION BY LIST (id); CREATE TABLE parted_21 PARTITION OF parted_2 DEFAULT; ALTER TABLE parted_21 ALTER c SET DEFAULT current_setting('server_version_num'), ALTER d SET DEFAULT 'leaf'; ALTER TABLE parted_21 REPLICA IDENTITY FULL;
COMMENT ON COLUMN parted_1.c IS 'of a partition'; GRANT SELECT (c) ON parted_21 TO reader; CREATE STATISTICS parted_statistics ON c, d FROM parted_1; ALTER TABLE parted_1 ADD CONSTRAINT parted_own CHECK (d <> 'z');
CREATE TABLE inherited (id int, c text DEFAULT 'parent', d text); CREATE TABLE inherited_1 (more text) INHERITS (inherited); ALTER TABLE inherited_1 ALTER c SET DEFAULT 'child', ALTER d SET DEFAULT 'only here'; CREATE TABLE inherited_2 () INHERITS (inherited); ALTER TABLE inherited_2 ALTER c DROP DEFAULT;
INSERT INTO single (d) VALUES ('x'); INSERT INTO parted (id, d) VALUES (1, 'x'), (11, 'y'); INSERT INTO inherited DEFAULT VALUES);
my %facts;
sub facts_of { return { map { $_ => 1 } split /\n/, lines_of($node, "SELECT replace(f, '$_[0]', 'S') FROM facts('$_[0]') f") }; }
foreach my $schema ('twin', 'kept')
{
  lines_of($node, "LOAD '$provider'; CREATE SCHEMA $schema; SET search_path = $schema; $shapes; CREATE PUBLICATION pub_$schema FOR TABLE $schema.single (id, other), $schema.inherited");
  $facts{$schema} = facts_of($schema);
}
is_deeply($facts{kept}, $facts{twin}, 'twins are the same');
lines_of($node, q(SET search_path = twin; ALTER TABLE single ALTER c TYPE varchar USING (c || '')::varchar, ALTER d TYPE varchar USING (d || '')::varchar, ALTER s TYPE bigint;
ALTER TABLE parted ALTER c TYPE varchar USING (c || '')::varchar, ALTER d TYPE varchar USING (d || '')::varchar; ALTER TABLE inherited ALTER c TYPE varchar USING (c || '')::varchar, ALTER d TYPE varchar USING (d || '')::varchar));
my $twin = facts_of('twin');
my @kept = grep { $facts{twin}{$_} } sort keys %$twin;
cmp_ok(scalar @kept, '>', 300, 'PostgreSQL keeps ' . @kept . ' facts of them');
foreach my $kind ('default = .*child', 'default = .*only here', 'default = .*leaf', 'relreplident = i', 'indisreplident', 'indisclustered', 'attstattarget = 55', 'n_distinct', 'attacl', 'relacl', 'comment on single_c:', 'comment on single_statistics:', 'comment on single_key on', 'label of', 'publication', 'owner of', 'reloptions')
{
  ok((grep { /$kind/ } @kept), "... of them: $kind");
}
lines_of($node, qq(LOAD '$provider'; CALL tde_encrypt_columns('kept.single', '{c,d,s}'); CALL tde_encrypt_columns('kept.parted', '{c,d}'); CALL tde_encrypt_columns('kept.inherited', '{c,d}')));
is(lines_of($node, q(SELECT count(*) FROM tde.encrypted_columns WHERE schema_name = 'kept')), 17, 'encrypted');
my $encrypted = facts_of('kept');
is(join("\n", grep { !$encrypted->{$_} } @kept), '', 'encrypted columns keep all that PostgreSQL keeps of plain ones');
# what computes of an encrypted column is to be dropped before
lines_of($node, qq(LOAD '$provider'; DROP INDEX kept.single_lower; CALL tde_decrypt_columns('kept.single', '{c,d,s}'); CALL tde_decrypt_columns('kept.parted', '{c,d}'); CALL tde_decrypt_columns('kept.inherited', '{c,d}')));
my $decrypted = facts_of('kept');
is(join("\n", grep { !$decrypted->{$_} && !/single_lower/ } @kept), '', 'and so do decrypted ones');
lines_of($node, q(INSERT INTO kept.parted_1 (id, d) VALUES (2, 'x'); INSERT INTO kept.inherited_1 (id) VALUES (3)));
is(lines_of($node, 'SELECT c, d FROM kept.parted WHERE id = 2 UNION ALL SELECT c, d FROM kept.inherited_1 WHERE id = 3'), "child|x\nchild|only here", 'defaults of a partition and of a table that inherits');

# Of a provider that is not there any more: nothing has happened.
lines_of($node, 'ALTER ROLE app RESET session_preload_libraries');
app_ok(q(CALL tde_encrypt_column('kept_online', 'c_main', online => true)), 'a column with a label of nobody');
fails_with($node, q(CALL tde_finish_conversion('kept_online', 'c_main')), { state => '22023', message => qr/security label provider "other" is not loaded/ }, 'it is not lost', user => 'app');
is(lines_of($node, 'SELECT phase FROM tde.conversions'), 'copy', '... and the conversion is where it was');

#
# Arrays of all types that have an encrypted one, there and back
#
my @bases = split /\n/, lines_of($node, q(SELECT base::regtype FROM tde.types ORDER BY base::regtype::text COLLATE "C"));
foreach my $how ('offline', 'online')
{
  app_ok("CREATE TABLE arrays_$how (id int, " . join(', ', map { "a$_ $bases[$_]" . '[]' } 0 .. $#bases) . "); INSERT INTO arrays_$how VALUES (1)", "$how: a table of arrays");
  my $types = "SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attname) FROM pg_attribute WHERE attrelid = 'arrays_$how'::regclass AND attnum > 0 AND NOT attisdropped";
  my $before = lines_of($node, $types);
  convert('encrypt', $how, "arrays_$how", "a$_") foreach 0 .. $#bases;
  is(scalar(() = lines_of($node, $types) =~ /encrypted_/g), scalar @bases, "$how: all are encrypted");
  convert('decrypt', $how eq 'online' ? 'offline' : 'online', "arrays_$how", "a$_") foreach 0 .. $#bases;
  is(lines_of($node, $types), $before, "$how: all are plain again, by the other way");
}

#
# Indexes: online they become what they become offline
#
lines_of($node, q(SELECT tde_create_type('tsvector')));
my @indexes = ('(lower(a))', '(lower(a) DESC NULLS LAST, id)', '(upper(a) text_pattern_ops, b) WITH (fillfactor = 70) WHERE a IS NOT NULL', q((coalesce(a, 'none')) INCLUDE (b)),
  q((length(a), (a || b), (b || 'x'))), 'USING hash (md5(a))', 'USING brin (a, upper(b))', q(USING gin (to_tsvector('english', a))), '((a IS NULL), id)', '(a, lower(b) text_pattern_ops)',
  '(lower(a) COLLATE "C")', 'USING gin (w)', 'USING gin (w, t)', 'USING gin (j)', 'USING gin (j jsonb_path_ops)', 'USING btree (w)');
foreach my $how ('offline', 'online')
{
  app_ok("CREATE TABLE i_$how (id int, a text, b text, w text[], t text[], j jsonb); INSERT INTO i_$how SELECT g, 'A ' || g, 'b', ARRAY['w' || g], '{}', jsonb_build_object('k', g) FROM generate_series(1, 50) g;"
      . join('', map { "CREATE " . ($indexes[$_] =~ /coalesce/ ? 'UNIQUE ' : '') . "INDEX i_${how}_$_ ON i_$how $indexes[$_]; COMMENT ON INDEX i_${how}_$_ IS 'index $_';" } 0 .. $#indexes), "$how: a table with indexes");
  my $before = lines_of($node, "SELECT string_agg(obj_description(indexrelid), ' ' ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid = 'i_$how'::regclass");
  convert('encrypt', $how, "i_$how", $_) foreach qw(a w j);
  is(lines_of($node, "SELECT string_agg(obj_description(indexrelid), ' ' ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid = 'i_$how'::regclass"), $before, "$how: all indexes are there");
}
my $defined = sub {
  my ($how) = @_;
  return lines_of($node, "SELECT pg_get_indexdef(indexrelid), indisvalid FROM pg_index WHERE indrelid = 'i_$how'::regclass ORDER BY length(indexrelid::regclass::text), indexrelid::regclass::text") =~ s/i_$how/i/gr =~ s/salt='?[0-9a-f]+'?/salt/gr =~ s/ encrypted_text_array_ops \(salt\)//gr;
};
is($defined->('online'), $defined->('offline'), 'indexes online are those of offline');
like(lines_of($node, "SET enable_seqscan = off; EXPLAIN (COSTS off) SELECT * FROM i_online WHERE lower(a) = 'a 7'"), qr/Index/, 'an index over an expression is used');
is(lines_of($node, "SET enable_seqscan = off; SELECT id FROM i_online WHERE lower(a) = 'a 7'"), '7', 'and finds the row');

# A constraint that is dropped while the column is converted, and a foreign key beside it, do not hold afterwards.
sub copy_column
{
  my ($table, $column) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  app_ok("CALL tde_encrypt_column('$table', '$column', online => true)", "$table.$column copied");
  app_ok($_, $_) foreach split /\n/, app_ok("SELECT tde_conversion_indexes('$table', '$column')", "indexes of $table.$column")->{out};
  return;
}
sub constraints_of { return lines_of($node, "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '$_[0]'::regclass AND contype <> 'n' ORDER BY conname"); }
sub indexes_of { return lines_of($node, "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = '$_[0]'::regclass ORDER BY 1") =~ s/tde_internal\.tde_computed\(.*?'lower\(text\)'::regprocedure, a\)/lower(a)/gr; }
app_ok(q(CREATE TABLE dropped (id int, a text, b text, CONSTRAINT dropped_a UNIQUE (a)); CREATE UNIQUE INDEX dropped_b ON dropped (lower(a), b);
CREATE INDEX dropped_kept ON dropped (a); INSERT INTO dropped VALUES (1, 'x', 'y');
CREATE TABLE refers (a text CONSTRAINT refers_a REFERENCES dropped (a)); INSERT INTO refers VALUES ('x')), 'a table with constraints');
copy_column('dropped', 'a');
my $locker = session($node);
session_try($locker, 'BEGIN; LOCK TABLE dropped IN ROW EXCLUSIVE MODE');
fails_with($node, q(SET lock_timeout = '200ms'; CALL tde_finish_conversion('dropped', 'a')), { state => '55P03' }, 'broken off before the swap', user => 'app');
session_try($locker, "SELECT tde_internal.tde_add_keys('dropped', 'a')");
session_try($locker, 'COMMIT');
like(constraints_of('refers'), qr/tde_convert_\d+.* REFERENCES dropped\(tde_convert_2\)/, 'the foreign key to the copy is there');
app_ok('ALTER TABLE dropped DROP CONSTRAINT dropped_a CASCADE; DROP INDEX dropped_b', 'dropped meanwhile');
app_ok(q(CALL tde_finish_conversion('dropped', 'a')), 'finished');
app_ok(q(INSERT INTO dropped VALUES (2, 'x', 'y'); INSERT INTO refers VALUES ('z')), 'what was dropped does not hold');
is(constraints_of('dropped') . constraints_of('refers'), '', 'no constraint is left');
is(indexes_of('dropped'), 'CREATE INDEX dropped_kept ON public.dropped USING btree (a)', 'nor an index but the one that was there');

# Two columns that share indexes and a foreign key, in conversion at once: the second one's are made again when the first one is finished.
foreach my $order ([qw(a b)], [qw(b a)])
{
  my ($first, $second) = @$order;
  my $shared = "shared_$first";
  app_ok("CREATE TABLE $shared (a text NOT NULL, b text NOT NULL, c int, CONSTRAINT ${shared}_key PRIMARY KEY (a, b)); CREATE INDEX ${shared}_b ON $shared (b, lower(a)) WHERE a IS NOT NULL;
    ALTER TABLE $shared ADD CONSTRAINT ${shared}_c UNIQUE (a, b, c); INSERT INTO $shared VALUES ('1', '2', 3), ('1', '3', 4)", 'two columns in several indexes');
  my @before = (indexes_of($shared), constraints_of($shared));
  copy_column($shared, $_) foreach qw(a b);
  app_ok("CALL tde_finish_conversion('$shared', '$first')", "$first is finished first");
  is(indexes_of($shared), $before[0], 'with its indexes, and none of the other copy');
  my $missing = fails_with($node, "CALL tde_finish_conversion('$shared', '$second')", { state => '55000', message => qr/indexes of the copy of column "$second" are missing/ }, 'the others are missing', user => 'app');
  app_ok($_, $_) foreach split /\n/, $missing->{detail};
  app_ok("CALL tde_finish_conversion('$shared', '$second')", "$second is finished");
  is(indexes_of($shared), $before[0], 'all indexes are there');
  is(constraints_of($shared), $before[1], 'and all constraints');
  is(lines_of($node, "SELECT string_agg(format_type(atttypid, NULL), ' ') FROM pg_attribute WHERE attrelid = '$shared'::regclass AND attname IN ('a', 'b')"),
    'encrypted_text encrypted_text', 'both are encrypted');
  fails_with($node, "INSERT INTO $shared (a, b, c) VALUES ('1', '2', 5)", { state => '23505', message => qr/${shared}_key/ }, 'and unique', user => 'app');
}

$node->stop;
done_testing();
