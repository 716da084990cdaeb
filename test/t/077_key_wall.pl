# Keys are walls: a value under another data key than its column declares is refused wherever the expression tells the column.  Somebody who
# can write files copies those of a table under one key over those of a table under another.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('wall', extension => 1, conf => "tde_column.passphrase_command = 'echo wall-passphrase'\n");
$node->start;

# The bytes of the first relations' files become those of the second ones.
sub swap_files
{
  my ($server, %names) = @_;
  my %path;

  $path{$_} = $server->data_dir . '/' . lines_of($server, "SELECT pg_relation_filepath('$_')") foreach %names;
  lines_of($server, 'CHECKPOINT');
  $server->stop;
  write_bytes($path{ $names{$_} }, read_bytes($path{$_})) foreach sort keys %names;
  $server->start;
  return;
}

my $columns = q{(id int, a encrypted_text(%1$s), u encrypted_text(nosalt,%1$s), n encrypted_numeric(10,2,%1$s), arr encrypted_int4(%1$s)[], j encrypted_jsonb(%1$s),
  v encrypted_varchar(5000,%1$s))};
my $rows = q{SELECT i, '%1$s salary ' || i, '%1$s', i * 1000, ARRAY[i], '{"x": 1}', '%1$s' FROM generate_series(1, 5) i};
sub make_table
{
  my ($name, $key) = @_;
  return "CREATE TABLE $name " . sprintf($columns, "'key=$key'") . ";\nINSERT INTO $name " . sprintf($rows, $name) . ';';
}
lines_of($node, q{SELECT tde_wallet_create(); SELECT tde_create_key('k1'), tde_create_key('k2'), tde_create_key('k3')});
lines_of($node, join "\n", make_table('chief', 'k1'), make_table('staff', 'k2'), make_table('plain', '0'), make_table('good', 'k2'), make_table('third', 'k3'), make_table('swapped', 'k2'));
lines_of(
  $node, q{
CREATE VIEW seen AS SELECT id, a FROM staff;
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, a, u FROM staff LIMIT 3;
CREATE FUNCTION asks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.a = 'nothing' THEN RETURN NULL; END IF; RETURN NEW; END $$;
CREATE TRIGGER asks BEFORE UPDATE ON staff FOR EACH ROW EXECUTE FUNCTION asks();
CREATE FUNCTION says(encrypted_text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'said ' || $1; END $$;
CREATE FUNCTION loops() RETURNS int LANGUAGE plpgsql AS $$ DECLARE r record; c int := 0; BEGIN
  FOR r IN SELECT * FROM staff LOOP IF r.a > '' THEN c := c + 1; END IF; END LOOP; RETURN c; END $$;
CREATE FUNCTION takes() RETURNS text LANGUAGE plpgsql AS $$ DECLARE v staff.a%TYPE; BEGIN SELECT a INTO v FROM staff LIMIT 1; RETURN v || 'x'; END $$;
CREATE TABLE long_chief (b encrypted_text(salt,nomac,'key=k1')); CREATE TABLE long_staff (b encrypted_text(salt,nomac,'key=k2'));
ALTER TABLE long_chief ALTER b SET STORAGE EXTERNAL; INSERT INTO long_chief VALUES (repeat('chief', 4000));
CREATE INDEX ON good (u); CREATE INDEX ON staff (u); CREATE INDEX swapped_u ON swapped (u); CREATE TABLE chief_like (LIKE chief INCLUDING ALL); INSERT INTO chief_like TABLE chief;
CREATE INDEX chief_u ON chief_like (u);
VACUUM (FREEZE, ANALYZE);
});
swap_files($node, chief => 'staff', chief_u => 'swapped_u', long_chief => 'long_staff');
swap_files($node, chief => 'plain');
is(lines_of($node, q{SELECT count(*) FROM staff; SELECT a FROM chief WHERE id = 1; SELECT a FROM good WHERE id = 1}), "5\nchief salary 1\ngood salary 1", 'the files are there');

my $refused = { state => 'TDE06', message => qr/^value under key "k1" in a column that is declared with key "k2"$/ };

# ---- every place that knows the column ----

foreach my $sql (
  'SELECT a FROM staff',
  'SELECT u FROM staff ORDER BY 1',
  'SELECT n FROM staff',
  'SELECT v FROM staff',
  'SELECT id FROM staff WHERE v = $$x$$',
  'SELECT j FROM staff',
  'SELECT b FROM long_staff',
  'SELECT * FROM seen',
  'SELECT a FROM barrier',
  'SELECT id FROM barrier WHERE u > $$$$',
  'SELECT a FROM (SELECT a FROM staff OFFSET 0) s',
  'WITH s AS MATERIALIZED (SELECT * FROM staff) SELECT a FROM s',
  'SELECT (s).a FROM staff s',
  'SELECT DISTINCT a FROM staff',
  'SELECT u FROM staff GROUP BY u',
  'SELECT a FROM staff ORDER BY n',
  'SELECT id FROM staff WHERE a = $$x$$',
  'SELECT id FROM staff WHERE a <> $$x$$',
  'SELECT id FROM staff WHERE u = $$x$$',
  'SELECT id FROM staff WHERE u = $$chief$$',
  'SELECT id FROM staff WHERE u IN ($$x$$, $$y$$, $$chief$$)',
  'SELECT id FROM staff WHERE a < $$x$$',
  'SELECT id FROM staff WHERE a BETWEEN $$b$$ AND $$d$$',
  'SELECT id FROM staff WHERE a LIKE $$chief%$$',
  'SELECT id FROM staff WHERE length(a) > 3',
  'SELECT id FROM staff WHERE n > 1',
  'SELECT id FROM staff WHERE arr && ARRAY[1]',
  'SELECT arr FROM staff',
  'SELECT arr[1] FROM staff',
  'SELECT j -> $$x$$ FROM staff',
  'SELECT j[$$x$$] FROM staff',
  'SELECT substr(b, 5000, 10) FROM long_staff',
  'SELECT left(b, 10) FROM long_staff',
  'SELECT a::text FROM staff',
  'SELECT a || $$x$$ FROM staff',
  'SELECT upper(a) FROM staff',
  'SELECT n + 1 FROM staff',
  'SELECT CASE WHEN a > $$$$ THEN 1 END FROM staff',
  'SELECT sum(n) FROM staff',
  'SELECT count(*) FILTER (WHERE a > $$$$) FROM staff',
  'SELECT max(a) FROM staff',
  'SELECT string_agg(a, $$,$$) FROM staff',
  'SELECT sum(n) OVER () FROM staff',
  'SELECT string_agg(a, $$,$$) OVER (ORDER BY id) FROM staff',
  'SELECT rank() OVER (ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW), a FROM staff',
  'SELECT loops()',
  'SELECT takes()',
  'SET enable_nestloop = off; SET enable_mergejoin = off; SELECT c.id FROM chief c JOIN staff s ON c.u = s.u',
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SELECT c.id FROM chief c JOIN staff s ON c.u = s.u',
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SELECT c.id FROM chief c JOIN staff s ON c.a < s.a',
  'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SELECT a FROM staff WHERE n > 1',
  'UPDATE staff SET a = a || $$x$$',
  'UPDATE staff SET id = id',
  'ALTER TABLE staff DISABLE TRIGGER asks; UPDATE staff SET id = id RETURNING a',
  'DELETE FROM staff WHERE a = $$x$$',
  'DELETE FROM staff RETURNING a',
  'INSERT INTO third (a) SELECT a FROM staff',
  'INSERT INTO chief (a) SELECT a FROM staff',
  'CREATE TEMP TABLE t AS SELECT a::text FROM staff',
  'MERGE INTO staff s USING good g ON s.id = g.id WHEN MATCHED AND s.a <> g.a THEN UPDATE SET id = 1',
  'COPY staff TO STDOUT',
  'COPY staff (u) TO STDOUT',
  'COPY staff TO STDOUT (FORMAT binary)',
  'COPY (SELECT a FROM staff) TO STDOUT',
  ($node->pg_version->major >= 19 ? ('COPY staff (n) TO STDOUT (FORMAT json)', 'COPY staff (u) TO STDOUT (FORMAT json)') : ()),
  'SET tde_column.transparent_results = off; SELECT a FROM staff',
  'PREPARE p AS SELECT a FROM staff WHERE u > $1; EXECUTE p ($$$$)',
  'BEGIN; DECLARE c CURSOR FOR SELECT a FROM staff; FETCH c',
  'CREATE INDEX ON staff (lower(u))',
  'ALTER TABLE staff ALTER n TYPE encrypted_numeric(10,2,$$key=k3$$)',
  'ALTER TABLE staff ADD CHECK (a <> $$x$$)',
  'CALL tde_decrypt_column($$staff$$, $$a$$)',
  'CALL tde_rekey_table($$staff$$)')
{
  fails_with($node, $sql, $refused, $sql);
}
my $got = fails_with($node, 'SELECT a FROM plain', { state => 'TDE06', message => qr/^value under key "k1" in a column that is declared with key "default"$/ }, 'the default key');
like($got->{detail}, qr/^It is of type encrypted_text\./, 'the detail names the type');
like($got->{hint}, qr/tde_rekey_table\(\) with repair => true.*SET tde_column\.key_wall = warn;/s, 'the hint says what can be done');
unlike("$got->{err}", qr/salary/, 'no plaintext');

# What is compared as others are, by what an index or a sort holds, is not known to be of this column; what is found by it is.
is(lines_of($node, q{SELECT count(*) FROM staff; SELECT count(a) FROM staff; SELECT id FROM staff ORDER BY a LIMIT 1}), "5\n5\n1", 'where no value is read');
fails_with($node, q{SET enable_seqscan = off; SELECT a FROM staff WHERE u = 'staff'}, $refused, 'an index scan of the table');
fails_with($node, q{SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT u FROM swapped WHERE u >= 'c'}, $refused, 'an index-only scan of an index that was put there');

# What no modifiers tell of: docs/keys.md lists it.
lines_of(
  $node, q{
CREATE FUNCTION bare() RETURNS text LANGUAGE plpgsql AS $$ DECLARE v encrypted_text; BEGIN SELECT a INTO v FROM staff LIMIT 1; RETURN v || 'x'; END $$;
CREATE FUNCTION computes() RETURNS text LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN SELECT a, id INTO r FROM staff LIMIT 1; RETURN r.a || 'x'; END $$;
CREATE FUNCTION returns() RETURNS text LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN SELECT a, id INTO r FROM staff LIMIT 1; RETURN r.a; END $$});
foreach my $sql (
  'SELECT CASE WHEN id > 0 THEN a END FROM staff',
  'SELECT id FROM staff WHERE CASE WHEN id > 0 THEN a END > $$$$',
  'SELECT coalesce(a, $$x$$) || $$y$$ FROM staff',
  'SELECT a FROM staff UNION ALL SELECT a FROM chief',
  'SELECT a::encrypted_text::text FROM staff',
  'SELECT array_agg(a)::text FROM staff',
  'SELECT unnest(arr) FROM staff',
  'SELECT lag(a, 0) OVER (ORDER BY id) FROM staff',
  'SELECT mode() WITHIN GROUP (ORDER BY a) FROM staff',
  'SELECT max(a) FROM staff WHERE id = 1',
  'SELECT to_json(a) FROM staff',
  'SELECT concat(a) FROM staff',
  'SELECT says(a) FROM staff',
  'SELECT to_json(s) FROM staff s',
  'SELECT s::text FROM staff s',
  'SELECT jsonb_agg(s) FROM staff s',
  'SET tde_column.transparent_results = off; SELECT ARRAY[ROW(a)] FROM staff',
  'SELECT bare()',
  'SELECT returns()')
{
  is(attempt($node, $sql)->{state}, '', "not told: $sql");
}
fails_with($node, $_, $refused, "told: $_")
  foreach 'SELECT CASE WHEN id > 0 THEN a ELSE a END FROM staff', 'SELECT coalesce(a, a) FROM staff', 'SELECT greatest(a, a) FROM staff', 'SELECT nullif(a, $$x$$) FROM staff', 'SELECT (ARRAY[a])[1] FROM staff',
  'SELECT ROW(a) FROM staff', 'SELECT a FROM staff UNION ALL SELECT a FROM good', 'SELECT computes()', 'BEGIN; DELETE FROM staff RETURNING a';

# Values inside of others, and rows as a whole, by each way by which results leave: a row's type tells of its fields.
lines_of(
  $node, q{
CREATE FUNCTION whole() RETURNS staff LANGUAGE sql AS $$ SELECT * FROM staff LIMIT 1 $$;
CREATE FUNCTION wholes() RETURNS SETOF staff LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'SELECT * FROM staff'; END $$;
CREATE FUNCTION some_record() RETURNS record LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN SELECT id, n, a INTO r FROM staff LIMIT 1; RETURN r; END $$;
CREATE TYPE holder AS (id int, inner_row staff)});
my @wholes = ('s', 'ROW(s.id, s.n)', 'ROW(1, s)', 'ROW(1, s)::holder', 'ARRAY[s]', 'ARRAY[s.n]', 's.arr', 'whole()', 'wholes()', 'some_record()', '(SELECT t FROM staff t LIMIT 1)', 's.id, s.good, s', 'CASE WHEN s.id > 0 THEN s END');
my %ways   = (
  'a SELECT'            => 'SELECT @ FROM staff s',
  'EXECUTE'             => 'PREPARE p AS SELECT @ FROM staff s; EXECUTE p',
  'FETCH'               => 'BEGIN; DECLARE c CURSOR FOR SELECT @ FROM staff s; FETCH c',
  'a cursor WITH HOLD'  => 'BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT @ FROM staff s; COMMIT; FETCH c',
  'a WITH clause'       => 'WITH w AS (DELETE FROM third RETURNING id) SELECT @ FROM staff s',
  'RETURNING'           => 'BEGIN; DELETE FROM staff s RETURNING @',
  'COPY'                => 'COPY (SELECT @ FROM staff s) TO STDOUT',
  'COPY in binary form' => 'COPY (SELECT @ FROM staff s) TO STDOUT (FORMAT binary)');
foreach my $way (sort keys %ways)
{
  foreach my $whole (grep { $way ne 'RETURNING' || $_ ne 'wholes()' } @wholes)
  {
    foreach my $transparent (qw(on off))
    {
      (my $sql = $ways{$way}) =~ s/@/$whole =~ s{s\.good}{(SELECT g.a FROM good g WHERE g.id = s.id)}r/e;
      my $result = attempt($node, "SET tde_column.transparent_results = $transparent; $sql");
      is($result->{state}, 'TDE06', "$whole by $way, transparent results $transparent") or diag($result->{err}, $result->{out});
    }
  }
}
is(attempt($node, 'SELECT s, ROW(s.id, s.a), ARRAY[s] FROM good s ORDER BY s.id LIMIT 1')->{err}, '', 'rows of the declared key are given out');

# ---- what may be ----

lines_of($node, q{SELECT tde_rotate_key('k2')});
lines_of($node, sprintf("INSERT INTO good $rows", 'new'));
is(lines_of($node, q{SELECT count(*), count(DISTINCT a), max(n), min(arr::text) FROM good WHERE a > '' AND u >= 'good' AND j['x'] = '1'}),
  '10|10|5000.00|{1}', 'versions of the declared key');
lines_of(
  $node, q{
CREATE TABLE parent (u encrypted_text(nosalt,'key=k1') PRIMARY KEY);
CREATE TABLE child (id int, u encrypted_text(salt,'key=k3') REFERENCES parent ON UPDATE CASCADE);
INSERT INTO parent VALUES ('a'), ('b'); INSERT INTO child VALUES (1, 'a'), (2, 'b');
UPDATE parent SET u = 'c' WHERE u = 'a';
CREATE MATERIALIZED VIEW all_of_them AS SELECT a FROM chief UNION ALL SELECT a FROM good;
SET tde_column.key_per_table = on;
CREATE TABLE own AS SELECT * FROM good;
RESET tde_column.key_per_table;
CREATE TABLE mixed AS SELECT coalesce(c.a, g.a) AS a FROM chief c FULL JOIN good g ON c.id = g.id + 3;
CREATE TYPE text_range AS RANGE (subtype = encrypted_text);
CREATE TABLE ranges (r text_range); INSERT INTO ranges SELECT text_range(a, a, '[]') FROM chief; INSERT INTO ranges SELECT text_range(a, a, '[]') FROM good;
CREATE TYPE pair AS (x encrypted_text('key=k3'), y encrypted_text);
CREATE TABLE pairs (p pair, ps pair[]); INSERT INTO pairs SELECT ROW(c.a, g.a)::pair, ARRAY[ROW(c.a, g.a)::pair] FROM chief c JOIN good g ON g.id = c.id;
CREATE DOMAIN short AS encrypted_text('key=k3') CHECK (length(VALUE) < 20);
CREATE TABLE shorts (s short); INSERT INTO shorts SELECT a FROM chief; INSERT INTO shorts VALUES ('x');
CREATE TABLE parts (id int, a encrypted_text('key=k3')) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (3); CREATE TABLE part2 (a encrypted_text('key=k3'), id int); ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES FROM (3) TO (9);
INSERT INTO parts SELECT id, a FROM chief; UPDATE parts SET id = id + 1;
CREATE TABLE changed AS SELECT * FROM chief; ALTER TABLE changed ALTER a TYPE encrypted_text('key=k3'), ALTER u TYPE encrypted_text(nosalt,'key=k2');
ALTER TABLE changed ADD d encrypted_text('key=k2') DEFAULT 'fast';
CREATE TABLE upserts (id int PRIMARY KEY, a encrypted_text('key=k3')); INSERT INTO upserts SELECT id, a FROM chief;
INSERT INTO upserts SELECT id, a FROM (SELECT DISTINCT ON (id) id, a FROM good) g ON CONFLICT (id) DO UPDATE SET a = excluded.a WHERE upserts.a <> excluded.a;
MERGE INTO upserts t USING chief c ON t.id = c.id WHEN MATCHED AND t.a <> c.a THEN UPDATE SET a = c.a;
CREATE FUNCTION rows_of() RETURNS SETOF third LANGUAGE plpgsql AS $$ DECLARE r third; BEGIN SELECT * INTO r FROM chief LIMIT 1; RETURN NEXT r; r.a := 'word'; RETURN NEXT r; END $$;
CREATE FUNCTION sql_rows() RETURNS SETOF third LANGUAGE sql AS $$ SELECT * FROM chief $$});
my %good = (
  q{SELECT string_agg(u, ',' ORDER BY u) FROM child} => 'b,c',
  q{SELECT count(*) FROM parent p JOIN child c USING (u)} => '2',
  q{SELECT count(*) FROM all_of_them WHERE a LIKE '%salary%'} => '15',
  q{SELECT count(a) FROM own WHERE a >= ''} => '10',
  q{SELECT count(*) FROM mixed WHERE a LIKE '%salary%'} => '13',
  q{SELECT lower(r) FROM ranges WHERE r @> 'chief salary 3'::encrypted_text} => 'chief salary 3',
  q{SELECT count(*) FROM pairs WHERE (p).x LIKE 'chief%' AND (p).y > '' AND (ps[1]).x > ''} => '10',
  q{SELECT count(*) FROM shorts WHERE s > ''} => '6',
  q{SELECT count(*) FROM parts WHERE a > ''} => '5',
  q{SELECT count(*) FROM changed WHERE a > '' AND u = 'chief' AND d = 'fast'} => '5',
  q{SELECT count(*) FROM upserts WHERE a LIKE 'chief%'} => '5',
  q{SELECT string_agg(a, ',') FROM rows_of()} => 'chief salary 1,word',
  q{SELECT count(*) FROM sql_rows() WHERE a > ''} => '5',
  q{SELECT c.id FROM chief c JOIN good g ON c.n = g.n AND c.id = g.id WHERE c.id = 1 AND g.a < c.a || 'zz' ORDER BY 1 LIMIT 1} => '',
  q{WITH RECURSIVE r(i, a) AS (SELECT 1, a FROM chief WHERE id = 1 UNION ALL SELECT i + 1, a FROM r WHERE i < 3) SELECT count(*) FROM r WHERE a > ''} => '3',
  q{SELECT count(*) FROM (SELECT a FROM chief UNION SELECT a FROM good) s WHERE a > ''} => '15');
is(attempt($node, $_)->{out}, $good{$_}, $_) foreach sort keys %good;
foreach my $table (qw(own mixed pairs shorts parts changed upserts all_of_them ranges chief good))
{
  is(attempt($node, $table =~ /all_of/ ? "COPY (TABLE $table) TO '/dev/null'" : $table eq 'parts' ? 'COPY (TABLE parts) TO $$/dev/null$$' : "COPY $table TO '/dev/null'")->{err}, '', "COPY $table");
  is(attempt($node, "COPY $table TO '/dev/null' (FORMAT json)")->{err}, '', "COPY $table as JSON") if $node->pg_version->major >= 19 && $table !~ /all_of/;
}
is(lines_of($node, q{SELECT "table", "column", declared_key, key, count FROM tde_foreign_values() WHERE "table" NOT IN ('staff'::regclass, 'plain'::regclass, 'long_staff'::regclass)}), '', 'and no column holds what it does not declare');

# A table of several keys, of which COPY is told no column.
lines_of($node, q{CREATE TABLE two (x encrypted_text('key=k2'), y encrypted_text('key=k3')); INSERT INTO two VALUES ('x', 'y'), ('x', 'y');
  CREATE TABLE other (x encrypted_text('key=k1'), y encrypted_text('key=k3')); INSERT INTO other VALUES ('x', 'y'); VACUUM FREEZE two, other});
is(lines_of($node, 'COPY two TO STDOUT'), "x\ty\nx\ty", 'a table of two keys');
swap_files($node, other => 'two');
fails_with($node, 'COPY two TO STDOUT', $refused, 'is told from one of two others');

# ---- row level security: no error, and no warning, tells of hidden rows ----

lines_of($node, q{CREATE ROLE low LOGIN; GRANT SELECT ON staff TO low; ALTER TABLE staff ENABLE ROW LEVEL SECURITY;
  CREATE FUNCTION hides(int) RETURNS boolean LANGUAGE plpgsql COST 100000 AS $$ BEGIN RETURN false; END $$; CREATE POLICY p ON staff USING (hides(id))});
fails_with($node, q{SELECT id FROM staff WHERE a = 'x'}, { state => 'TDE04', message => qr/^could not authenticate encrypted value$/ }, 'a comparison', user => 'low');
my $offset = log_offset($node);
set_conf($node, 'tde_column.key_wall' => 'warn');
is(attempt($node, q{SELECT id FROM staff WHERE a = 'x'}, user => 'low')->{err}, '', 'with warnings it gives none');
like(log_since($node, $offset), qr/value under key "k1" in a column that is declared with key "k2"/, 'but in the log');
set_conf($node, 'tde_column.key_wall' => 'error');
lines_of($node, 'ALTER TABLE staff DISABLE ROW LEVEL SECURITY');
fails_with($node, 'SET tde_column.key_wall = warn', { state => '42501' }, 'who may set it', user => 'low');

# ---- warnings, the audit, and the end ----

my $warned = attempt($node, 'SET tde_column.key_wall = warn; SELECT a, u, n FROM staff WHERE a > $$$$ ORDER BY id');
is($warned->{out}, join("\n", map { "chief salary $_|chief|${_}000.00" } 1 .. 5), 'with warn values are read');
is(scalar(() = $warned->{err} =~ /^(?:.*: )?WARNING:  TDE06: value under key "k1"/mg), 2, 'with a warning for each type, not for each value') or diag($warned->{err});
is(scalar(() = attempt($node, 'SET tde_column.key_wall = warn; SELECT a FROM staff; SELECT a FROM staff')->{err} =~ /WARNING/g), 2, 'and for each statement');
my $audit = q{SELECT severity, object, finding, hint FROM tde_audit() WHERE topic = 'key wall' AND object ~ 'plain' ORDER BY 2, 3 LIMIT 1};
is(lines_of($node, $audit),
  q{error|public.plain|column a is declared with key "default", and has values under key "k1" in its first pages: 5|Only if you know how they got there: CALL tde_rekey_table('public.plain', repair => true);},
  'the audit finds them');
is(lines_of($node, q{SELECT * FROM tde_foreign_values('staff') }), join("\n", map { "staff|$_|k2|k1|5" } qw(a arr j n u v)), 'tde_foreign_values() lists them');
is(lines_of($node, q{SELECT DISTINCT "table" FROM tde_foreign_values() ORDER BY 1}), "staff\nplain\nlong_staff\ntwo", 'of all tables') ;
is(lines_of($node, q{SELECT tde_wallet_close(); SELECT count(*) FROM tde_foreign_values('staff')}), "\n6", 'with a closed wallet, too');
lines_of($node, 'SELECT tde_wallet_open()');
like(attempt($node, q{CALL tde_rekey_table('staff', repair => true)})->{err}, qr/table "staff": 5 rows re-encrypted/, 'tde_rekey_table() with repair takes them');
is(lines_of($node, q{SELECT a, u, n, arr FROM staff WHERE id = 2}), 'chief salary 2|chief|2000.00|{2}', 'and they are the column\'s');
like(attempt($node, q{SET tde_column.key_wall = warn; CALL tde_rekey_table('plain')})->{err}, qr/table "plain": 5 rows re-encrypted/, 'where warnings are enough it needs no repair');
lines_of($node, 'DROP TABLE two, long_staff');
is(lines_of($node, q{SELECT severity, finding FROM tde_audit() WHERE topic = 'key wall'}),
  q{ok|values are under their columns' keys, as far as the first pages of tables show, and others are refused}, 'then all is good');
lines_of($node, 'VACUUM staff, plain');
is(lines_of($node, 'SELECT count(*) FROM tde_foreign_values()'), '0', 'everywhere');

# Of a table that Citus distributes the rows are elsewhere.  It needs no more of Citus than its setting and its catalog.
$node->append_conf('postgresql.conf', "citus.version = '13.2'");
$node->restart;
lines_of($node, q{SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, colocationid int);
  INSERT INTO pg_catalog.pg_dist_partition VALUES ('staff', 'h', NULL, 1)});
fails_with($node, "SELECT * FROM $_('staff')", { state => '0A000', message => qr/^table public\.staff is distributed by Citus$/,
    hint => qr/^Do it for all shards: SELECT \* FROM run_command_on_placements\('public\.staff', 'SELECT array_agg\(\w+\) FROM $_\(%L\)(?: f)?'\);$/ }, $_)
  foreach 'tde_key_usage', 'tde_foreign_values';
is(lines_of($node, "SELECT * FROM tde_foreign_values('good')"), '', 'others are read');
is(lines_of($node, 'SELECT count(*) FROM tde_foreign_values()'), '0', 'and so is the whole database');
lines_of($node, sprintf 'SELECT array_agg(%s) FROM %s(%s) %s', @$_) foreach [ 'tde_key_usage', 'tde_key_usage', q{'good'}, '' ], [ 'f', 'tde_foreign_values', q{'good'}, 'f' ];
$node->stop;

# ---- a database of an older version ----

my $old   = old_install('0.1.0');
my $older = tde_node('older', install => $old, conf => "tde_column.passphrase_command = 'echo wall-passphrase'\n");
$older->start;
lines_of($older, q{CREATE EXTENSION tde_column; SELECT tde_wallet_create('wall-passphrase'); SELECT tde_create_key('k1'), tde_create_key('k2')});
lines_of($older, q{CREATE TABLE chief (a encrypted_text('key=k1')); CREATE TABLE staff (a encrypted_text('key=k2')); INSERT INTO chief VALUES ('old chief'); INSERT INTO staff VALUES ('old staff');
  VACUUM FREEZE chief, staff});
swap_files($older, chief => 'staff');
$older->stop;
upgrade_install($old);
$older->start;
my $read = attempt($older, 'SELECT a FROM staff');
is($read->{out}, 'old chief', 'before the update the value is read');
like($read->{err}, qr/WARNING:  TDE06: value under key "k1"/, 'with a warning');
$read = attempt($older, 'ALTER EXTENSION tde_column UPDATE; SELECT a FROM staff');
is($read->{out}, 'old chief', 'in the session that updates, too');
$read = attempt($older, 'SELECT a FROM staff');
is($read->{out}, 'old chief', 'and after it');
like($read->{err}, qr/WARNING:  TDE06: value under key "k1"/, 'with a warning again');
is(lines_of($older, q{SELECT severity, object, hint FROM tde_audit() WHERE topic = 'key wall' ORDER BY 1 DESC}),
  qq{warning|database postgres|If SELECT * FROM tde_foreign_values() finds none: ALTER DATABASE postgres RESET tde_column.key_wall;\n}
    . q{error|public.staff|Only if you know how they got there: CALL tde_rekey_table('public.staff', repair => true);}, 'the audit says what to do');
lines_of($older, q{ALTER DATABASE postgres RESET tde_column.key_wall});
fails_with($older, 'SELECT a FROM staff', $refused, 'which ends it');
$older->stop;

done_testing();
