# Columns that are declared unordered: the thief of the files learns no order of their values, and they serve all that needs none.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $conf = "tde_column.passphrase_command = 'echo unordered-passphrase'\nautovacuum = off\nfsync = off\nmax_locks_per_transaction = 512\n";
my $node = tde_node('unordered', extension => 1, conf => $conf);
$node->start;
my $major = $node->pg_version->major;
lines_of($node, q{SELECT tde_wallet_create('unordered-passphrase'); CREATE EXTENSION amcheck; CREATE EXTENSION pageinspect});

# ---- the thief ----

# The rows in the order of an index, as its leaf pages have them: he needs no key for that.
sub by_index
{
  my ($index) = @_;
  lines_of($node, 'CHECKPOINT');
  return split /\n/, lines_of(
    $node, qq{WITH RECURSIVE leaves AS (SELECT p AS page, (bt_page_stats('$index', p)).* FROM generate_series(1, pg_relation_size('$index')::int4 / 8192 - 1) p),
chain AS (
  SELECT page, btpo_next, 1 AS place FROM leaves WHERE type = 'l' AND btpo_prev = 0
  UNION ALL SELECT l.page, l.btpo_next, c.place + 1 FROM chain c JOIN leaves l ON l.page = c.btpo_next)
SELECT i.htid FROM chain c, bt_page_items('$index', c.page) i
WHERE i.htid IS NOT NULL AND NOT (c.btpo_next <> 0 AND i.itemoffset = 1) ORDER BY c.place, i.itemoffset}
  );
}

# Spearman's rank correlation between the index and the values: n is the rank.
sub correlation
{
  my ($index) = @_;
  my %rank = map { split /\|/ } split /\n/, lines_of($node, 'SELECT ctid, n FROM ranks');
  my @ranks = map { $rank{$_} } by_index($index);
  my $count = @ranks;
  die "$count rows in $index" if $count != keys %rank;
  my $sum = 0;
  $sum += ($ranks[$_] - $_ - 1)**2 foreach 0 .. $#ranks;
  return 1 - 6 * $sum / ($count * ($count**2 - 1));
}

lines_of(
  $node, q{
CREATE TABLE ranks (n int, ordered encrypted_int4 UNIQUE, number encrypted_int4(unordered) PRIMARY KEY, born encrypted_date(unordered) UNIQUE,
  name encrypted_text(unordered,nosalt) UNIQUE, pay encrypted_numeric(12,2,unordered) UNIQUE, at encrypted_timestamptz(aes128,nosalt,sha256,unordered));
INSERT INTO ranks SELECT i, i, i, date '1900-01-01' + i, lpad(i::text, 8, '0'), i, timestamptz '2000-01-01+00' + i * interval '1 min' FROM generate_series(1, 10000) i ORDER BY hashint4(i);
CREATE INDEX ranks_at ON ranks (at); CREATE INDEX ranks_lower ON ranks (lower(name));
CREATE INDEX ranks_many ON ranks (number, n) INCLUDE (born)});
cmp_ok(correlation('ranks_ordered_key'), '>', 0.999, 'an ordered index tells the rank of each value');
foreach my $index (qw(ranks_pkey ranks_born_key ranks_name_key ranks_pay_key ranks_at ranks_lower ranks_many))
{
  my $r = correlation($index);
  cmp_ok(abs $r, '<', 0.05, sprintf 'an unordered one tells none: %s, r = %.3f', $index, $r);
}
is(lines_of($node, 'SELECT count(*) FROM (SELECT number FROM ranks ORDER BY number LIMIT 3) s WHERE number <= 3'), '3', 'queries order by values all the same');

# ---- every type ----

lines_of(
  $node, q{
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); SELECT tde_create_type('mood');
CREATE TABLE samples (base text, value text);
INSERT INTO samples SELECT base, unnest(list) FROM (VALUES
  ('text', ARRAY['', 'a', 'A', 'a ', 'Grüße', repeat('x', 300)]), ('character varying', ARRAY['', 'a', 'a ', 'ab', repeat('y', 300)]), ('character', ARRAY['a', 'b  ', 'ab', '']),
  ('smallint', ARRAY['0', '-1', '7', '32767']), ('integer', ARRAY['0', '-1', '7', '2147483647']), ('bigint', ARRAY['0', '-1', '7', '4294967296', '4294967303', '-4294967297']),
  ('numeric', ARRAY['0.00', '1.0', '1', '-1e30', 'NaN', '7']), ('real', ARRAY['0', '-0', '0.1', 'NaN', '7']), ('double precision', ARRAY['-0', '0', '0.1', 'NaN', '7', 'Infinity']),
  ('boolean', ARRAY['t', 'f']), ('date', ARRAY['2000-01-01', 'infinity', '4713-11-24 BC']), ('time without time zone', ARRAY['00:00', '24:00']),
  ('time with time zone', ARRAY['12:00+00', '13:00+01', '01:00-02']), ('timestamp without time zone', ARRAY['2000-01-01', 'infinity']),
  ('timestamp with time zone', ARRAY['2000-01-01+00', '2000-01-01 01:00+01', '-infinity']), ('interval', ARRAY['1 mon', '30 days', '0']), ('bytea', ARRAY['', '\x00', '\xff']),
  ('uuid', ARRAY['00000000-0000-0000-0000-000000000000', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']), ('jsonb', ARRAY['{"a": 1.0}', '{"a": 1}', '[]']),
  ('inet', ARRAY['10.0.0.1', '10.0.0.0/8', '::1']), ('mood', ARRAY['sad', 'happy'])) AS l (base, list)});
my @types = split /\n/, lines_of($node, q{SELECT format_type(t.base, NULL) || '|' || format_type(t.type, NULL) FROM tde.types t WHERE format_type(t.base, NULL) NOT IN ('oid', 'bit', 'bit varying', 'money', 'json', 'name') ORDER BY 1});
cmp_ok(scalar @types, '>', 20, 'the types are found') or diag "@types";
foreach my $pair (@types)
{
  my ($base, $type) = split /\|/, $pair;
  my $declare = sub { my $order = shift; return $base eq 'character' ? "$type(4,$order)" : "$type($order)" };
  lines_of($node, sprintf q{DROP TABLE IF EXISTS u, o; CREATE TABLE u (k int, a %s); CREATE TABLE o (k int, a %s);
INSERT INTO u SELECT row_number() OVER (), value::%s FROM samples, generate_series(1, 5) WHERE base = '%s'; INSERT INTO u (k) VALUES (-1), (-2); INSERT INTO o SELECT k, a FROM u;
CREATE INDEX u_i ON u (a); CREATE INDEX o_i ON o (a); ANALYZE u, o}, $declare->('unordered'), $declare->('ordered'), $base eq 'character' ? 'character(4)' : $base, $base);
  is(lines_of($node, "SELECT opcname FROM pg_index JOIN pg_opclass c ON c.oid = indclass[0] WHERE indexrelid = 'u_i'::regclass"), ($type =~ s/^.*\.//r) . '_unordered_ops', "$type: the index has the class");
  my $found = q{SELECT (SELECT string_agg(x.k || '=' || y.k, ',' ORDER BY x.k, y.k) FROM %1$s x JOIN %2$s y ON x.a = y.a)};
  my $settings = 'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_material = off; SET enable_sort = off; ';
  foreach my $join ('SET enable_mergejoin = off; ', 'SET enable_nestloop = off; ')
  {
    is(lines_of($node, $settings . $join . sprintf $found, 'u', 'u'), lines_of($node, sprintf $found, 'o', 'o'), "$type: the same rows meet, $join");
    is(lines_of($node, $settings . $join . sprintf $found, 'u', 'o'), lines_of($node, sprintf $found, 'o', 'o'), '... with those of an ordered column');
  }
  my $cast = $base eq 'character' ? 'character(4)' : $base;
  my $by_value = qq{SELECT string_agg(s.value || ':' || (SELECT count(*) FROM %s t WHERE t.a = s.value::$cast) || ':' || (SELECT count(*) FROM %1\$s t WHERE t.a IN (s.value::$cast, NULL)), '|' ORDER BY s.value) FROM samples s WHERE base = '$base'};
  is(lines_of($node, $settings . sprintf $by_value, 'u'), lines_of($node, sprintf $by_value, 'o'), "$type: found by plain values");
  is(lines_of($node, q{SELECT bt_index_parent_check('u_i', true, true)}), '', "$type: amcheck");
  is(lines_of($node, q{INSERT INTO u SELECT k + 1000, a FROM o; DELETE FROM u WHERE k % 3 = 0; VACUUM u; SELECT bt_index_parent_check('u_i', true, true)}), '', '... after INSERT, DELETE and VACUUM');
}
foreach my $type (qw(json bit money))
{
  next if lines_of($node, "SELECT to_regtype('encrypted_$type') IS NULL") eq 't';
  fails_with($node, "CREATE TABLE bad (a encrypted_$type(unordered))", { state => '0A000', message => qr/cannot be declared unordered/ }, "not of $type, which has no hash");
}

# Types that meet.
lines_of($node, q{
CREATE TABLE k (i encrypted_int8(unordered) PRIMARY KEY, t encrypted_text(unordered) UNIQUE, c encrypted_bpchar(5,unordered) UNIQUE, n encrypted_numeric(8,2,unordered) UNIQUE, v encrypted_varchar(9,unordered) UNIQUE);
INSERT INTO k SELECT i, i, i, i, i FROM generate_series(1, 2000) i; ANALYZE k});
foreach my $condition ('i = 77::int2', 'i = 77', 'i = 77::int8', q{t = '77'}, q{t = '77'::varchar}, q{c = '77'}, q{c = '77'::varchar}, q{c = '77   '::char(9)}, 'n = 77', 'n = 77.00', q{v = '77'}, q{v = '77'::text}, q{v = '77'::varchar(5)}, 'i IN (77, NULL)', q{t = ANY ('{77}'::text[])},
  'i = (SELECT 77)', "t = (SELECT '77')", q{(i, t) = (77, '77')})
{
  my ($plan, $row) = map { lines_of($node, "$_ SELECT i FROM k WHERE $condition") } 'EXPLAIN (COSTS off)', '';
  like($plan, qr/Index (?:Only )?Scan|Bitmap Index Scan/, "by its index: $condition");
  is($row, '77', '... the row');
}
is(lines_of($node, "SET enable_hashjoin = off; SET enable_nestloop = off; SELECT count(*) FROM k x JOIN generate_series(1, 3000) y ON x.i = y"), '2000', 'a merge join with plain numbers');
is(lines_of($node, "SET enable_hashjoin = off; SET enable_nestloop = off; SELECT count(*) FROM k x JOIN k y ON x.c = y.v"), '2000', 'a merge join of char(n) with varchar');
is(lines_of($node, "SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_sort = off; SELECT count(*) FROM k x JOIN k y USING (i) JOIN k z USING (i)"), '2000', 'merge joins by the index');

# ---- the ways to make an index ----

sub classes { return lines_of($node, "SELECT string_agg(indexrelid::regclass || ':' || regexp_replace(opcname, '^encrypted_', ''), ' ' ORDER BY indexrelid::regclass::text COLLATE \"C\", place) FROM pg_index, unnest(indclass) WITH ORDINALITY u (class, place) JOIN pg_opclass c ON c.oid = class WHERE indrelid = '$_[0]'::regclass") }
lines_of($node, q{
CREATE TABLE w (a encrypted_text(unordered), b encrypted_int4(unordered) CONSTRAINT w_b UNIQUE DEFERRABLE, c encrypted_text, n int, CONSTRAINT w_p PRIMARY KEY (a, n) INCLUDE (c), CONSTRAINT w_x EXCLUDE USING btree (a WITH =, b WITH =));
CREATE INDEX w_n ON w (n, b DESC) WHERE a IS NOT NULL; ALTER TABLE w ADD CONSTRAINT w_u UNIQUE (a); ALTER TABLE w ADD COLUMN d encrypted_uuid(unordered) CONSTRAINT w_d UNIQUE;
INSERT INTO w (a, b, n) SELECT i, i, i FROM generate_series(1, 500) i});
lines_of($node, 'CREATE UNIQUE INDEX CONCURRENTLY w_later ON w (b)');
lines_of($node, 'ALTER TABLE w ADD CONSTRAINT w_later UNIQUE USING INDEX w_later');
lines_of($node, 'REINDEX TABLE CONCURRENTLY w');
lines_of($node, 'REINDEX TABLE w; VACUUM FULL w; CLUSTER w USING w_p');
my $wanted = 'w_b:int4_unordered_ops w_d:uuid_unordered_ops w_later:int4_unordered_ops w_n:int4_ops w_n:int4_unordered_ops w_p:text_unordered_ops w_p:int4_ops w_u:text_unordered_ops w_x:text_unordered_ops w_x:int4_unordered_ops';
is(classes('w'), $wanted, 'all ways to make an index of a column');
lines_of($node, "SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 'w'::regclass");
lines_of($node, 'CREATE TABLE l (LIKE w INCLUDING ALL)');
is(lines_of($node, "SELECT count(*) FROM pg_index WHERE indrelid = 'l'::regclass"), lines_of($node, "SELECT count(*) FROM pg_index WHERE indrelid = 'w'::regclass"), 'LIKE INCLUDING ALL');
unlike(classes('l'), qr/:(?:text|uuid)_ops/, '... has none that is ordered');
fails_with($node, "INSERT INTO w (a, b, n) VALUES ('7', 1000, 1000)", { state => '23505', message => qr/w_u/ }, 'unique');
fails_with($node, "BEGIN; INSERT INTO w (a, b, n) VALUES ('x', 7, 1000); COMMIT", { state => '23505' }, '... deferred, too');
is(lines_of($node, "INSERT INTO w (a, b, n) VALUES ('7', 1000, 7) ON CONFLICT (a, n) DO UPDATE SET c = 'met' RETURNING c"), 'met', 'ON CONFLICT');
is(lines_of($node, "INSERT INTO w (a, b, n) VALUES ('7', 1000, 7) ON CONFLICT ON CONSTRAINT w_u DO NOTHING"), '', '... ON CONSTRAINT');
is(lines_of($node, "MERGE INTO w USING (VALUES ('8', 8)) v (a, n) ON w.a = v.a WHEN MATCHED THEN UPDATE SET c = 'merged'; SELECT c FROM w WHERE a = '8'"), 'merged', 'MERGE');

lines_of($node, q{
CREATE TABLE p (a encrypted_int4(unordered), b text, PRIMARY KEY (a)) PARTITION BY HASH (a);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE p1 (b text, a encrypted_int4(unordered) NOT NULL); ALTER TABLE p ATTACH PARTITION p1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX p_both ON p (a, b); INSERT INTO p SELECT i, i FROM generate_series(1, 1000) i});
is(scalar(() = join(' ', map { classes($_) } qw(p p0 p1)) =~ /:int4_unordered_ops/g), 6, 'partitions');
lines_of($node, 'CREATE TABLE q (n int, a encrypted_text(unordered)) PARTITION BY RANGE (n); CREATE TABLE q0 PARTITION OF q DEFAULT; CREATE INDEX ON q0 (n, a DESC); CREATE INDEX ON q (n, a DESC)');
is(classes('q0'), 'q0_n_a_idx:int4_ops q0_n_a_idx:text_unordered_ops', 'an index that a partition has already is attached');
unlike(join(' ', map { classes($_) } qw(p p0 p1)), qr/:int4_ops/, '... have no ordered index');
is(lines_of($node, 'SELECT count(*), min(b) FROM p WHERE a = 77'), '1|77', '... and find their rows');

# The column's order changes with its type.
lines_of($node, 'CREATE TABLE c (a encrypted_int4(aes128,salt,gcm) PRIMARY KEY, b encrypted_int4(aes128,salt,gcm)); CREATE INDEX c_b ON c (b); INSERT INTO c SELECT i, i FROM generate_series(1, 1000) i');
my $file = lines_of($node, "SELECT pg_relation_filenode('c')");
lines_of($node, 'ALTER TABLE c ALTER a TYPE encrypted_int4(aes128,salt,gcm,unordered), ALTER b TYPE encrypted_int4(aes128,salt,gcm,unordered)');
is(classes('c'), 'c_b:int4_unordered_ops c_pkey:int4_unordered_ops', 'ALTER TYPE makes its indexes unordered');
isnt(lines_of($node, "SELECT pg_relation_filenode('c')"), $file, '... and new ones');
lines_of($node, "SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 'c'::regclass");
$file = lines_of($node, "SELECT pg_relation_filenode('c')");
lines_of($node, 'ALTER TABLE c ALTER a TYPE encrypted_int4(aes128,salt,gcm), ALTER b TYPE encrypted_int4(aes128,salt,gcm,ordered)');
is(classes('c'), 'c_b:int4_unordered_ops c_pkey:int4_ops', '... and those of constraints ordered again; others keep the class, which stands in their definition');
is(lines_of($node, "SELECT pg_relation_filenode('c')"), $file, '... without a new table');
lines_of($node, "SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 'c'::regclass");
lines_of($node, 'CREATE INDEX c_named ON c (a encrypted_int4_unordered_ops)');
like(classes('c'), qr/c_named:int4_unordered_ops/, 'another column takes the class by its name');

is(lines_of($node, q{SET tde_column.transparent_catalog = on; SELECT pg_get_indexdef('w_n'::regclass); SELECT opcname FROM pg_index JOIN pg_opclass o ON o.oid = indclass[0] WHERE indexrelid = 'w_u'::regclass}),
  "CREATE INDEX w_n ON public.w USING btree (n, b DESC) WHERE (a IS NOT NULL)\ntext_ops", 'transparent catalogs show the classes of plain columns');

# ---- refused: what would tell the order ----

lines_of($node, 'CREATE TYPE rowtype AS (x encrypted_text(unordered), y int); CREATE DOMAIN dom AS encrypted_int4(aes128,salt,gcm,unordered); CREATE TABLE r (a encrypted_text(unordered), l encrypted_text(unordered)[], c rowtype, d dom)');
foreach my $index ('(a text_pattern_ops)', '(a encrypted_text_pattern_ops)', '(l)', '(c)')
{
  fails_with($node, "CREATE INDEX ON r $index", { state => '0A000', message => qr/would tell the order of column/, detail => qr/unordered/, hint => qr/ALTER TABLE/ }, "no index $index");
}
lines_of($node, 'CREATE INDEX r_h ON r USING hash (a); CREATE INDEX r_d ON r (d); CREATE INDEX r_e ON r ((a || \'x\')); CREATE INDEX r_s ON r USING brin (a) WITH (pages_per_range = 1); CREATE INDEX r_l ON r USING gin (l)');
is(classes('r'), 'r_d:int4_unordered_ops r_e:text_unordered_ops r_h:text_ops r_l:text_array_ops r_s:text_minmax_ops', 'domains, expressions, hash, BRIN and gin indexes');
lines_of($node, 'INSERT INTO r (a) SELECT lpad(i::text, 5, $$0$$) FROM generate_series(1, 2000) i; ANALYZE r');
is(lines_of($node, "SET enable_seqscan = off; SELECT count(*) FROM r WHERE a BETWEEN '00100' AND '00199'"), '100', 'ranges by BRIN, which keeps no row\'s value as it is');

# ---- foreign keys ----

lines_of($node, q{
CREATE TABLE f1 (i encrypted_int8(ordered) REFERENCES k, t encrypted_varchar(9) REFERENCES k (t), c encrypted_bpchar(5) REFERENCES k (c), n int REFERENCES k, v encrypted_text(unordered) REFERENCES k (v));
CREATE TABLE f2 (i encrypted_int4(unordered) REFERENCES k ON DELETE CASCADE ON UPDATE CASCADE); CREATE TABLE o1 (i encrypted_int8 PRIMARY KEY); INSERT INTO o1 VALUES (1); CREATE TABLE o2 (i encrypted_int8 PRIMARY KEY); CREATE TABLE f3 (i encrypted_int8(unordered) REFERENCES o1);
INSERT INTO f1 VALUES (1, '1', '1', 1, '1'); INSERT INTO f2 VALUES (2); INSERT INTO f3 VALUES (1)});
fails_with($node, 'INSERT INTO f1 (i) VALUES (99999)', { state => '23503' }, 'a foreign key of an ordered column to an unordered one');
fails_with($node, "INSERT INTO f1 (t) VALUES ('99999')", { state => '23503' }, '... of another type');
fails_with($node, 'INSERT INTO f3 VALUES (2)', { state => '23503' }, '... and the other way');
fails_with($node, 'DELETE FROM k WHERE i = 1', { state => '23503' }, '... holds what is referenced');
lines_of($node, 'UPDATE k SET i = 5002 WHERE i = 2');
is(lines_of($node, 'SELECT i FROM f2'), '5002', '... and cascades');
is(lines_of($node, 'ALTER TABLE f2 DROP CONSTRAINT f2_i_fkey; ALTER TABLE f2 ADD FOREIGN KEY (i) REFERENCES k NOT VALID; ALTER TABLE f2 VALIDATE CONSTRAINT f2_i_fkey; SELECT count(*) FROM f2'), '1', '... and is validated');

# ---- conversions, defaults ----

lines_of($node, q{CREATE TABLE v (id int PRIMARY KEY, a text NOT NULL CONSTRAINT v_a UNIQUE, b int); INSERT INTO v SELECT i, i, i FROM generate_series(1, 300) i; CREATE INDEX v_ab ON v (a, b);
CALL tde_encrypt_column('v', 'a', 'aes256,salt,gcm,unordered')});
is(classes('v'), 'v_a:text_unordered_ops v_ab:text_unordered_ops v_ab:int4_ops v_pkey:int4_ops', 'tde_encrypt_column()');
lines_of($node, q{CALL tde_decrypt_column('v', 'a')});
is(classes('v'), 'v_a:text_ops v_ab:text_ops v_ab:int4_ops v_pkey:int4_ops', 'tde_decrypt_column()');
lines_of($node, q{CALL tde_encrypt_column('v', 'a', 'aes256,salt,gcm,unordered', online => true)});
lines_of($node, $_) foreach split /\n/, lines_of($node, q{SELECT tde_conversion_indexes('v', 'a')});
lines_of($node, q{CALL tde_finish_conversion('v', 'a')});
is(classes('v'), 'v_a:text_unordered_ops v_ab:text_unordered_ops v_ab:int4_ops v_pkey:int4_ops', '... online, too');
is(lines_of($node, q{SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'v_a'}), 'UNIQUE (a)', '... with its constraint');
lines_of($node, q{CALL tde_decrypt_column('v', 'a', online => true)});
lines_of($node, $_) foreach split /\n/, lines_of($node, q{SELECT tde_conversion_indexes('v', 'a')});
lines_of($node, q{CALL tde_finish_conversion('v', 'a')});
is(classes('v'), 'v_a:text_ops v_ab:text_ops v_ab:int4_ops v_pkey:int4_ops', '... and back');

is(lines_of($node, q{SET tde_column.default_spec = 'aes128,salt,gcm,unordered'; CREATE TABLE d (a encrypted_text PRIMARY KEY, j encrypted_json, o encrypted_text(aes256,salt,gcm) UNIQUE, x encrypted_text(ordered), i encrypted_interval(unordered));
SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'd'::regclass AND attnum > 0}),
  'encrypted_text(aes128,salt,gcm,unordered) encrypted_json(aes128,salt,gcm) encrypted_text(aes256,salt,gcm) encrypted_text(aes128,salt,gcm) encrypted_interval(aes128,salt,gcm,unordered)',
  'tde_column.default_spec says it for new columns; a specification that is written says all');
is(classes('d'), 'd_o_key:text_ops d_pkey:text_unordered_ops', '... and for their indexes');

# ---- plans of ordered columns stay ----

is(lines_of($node, q{SELECT count(*) FROM pg_opfamily u JOIN pg_opclass c ON c.opcfamily = u.oid JOIN pg_opclass o ON o.opcintype = c.opcintype AND o.opcmethod = c.opcmethod AND o.opcdefault WHERE u.opfname ~ '_unordered_ops$' AND o.opcfamily > u.oid}),
  '0', 'PostgreSQL meets the ordinary families first');
like(lines_of($node, 'SET enable_hashjoin = off; SET enable_nestloop = off; EXPLAIN (COSTS off) SELECT * FROM o1 x JOIN o2 y USING (i) ORDER BY i'), qr/^Merge Join\n  Merge Cond: \(x\.i = y\.i\)\n  ->  Index/, 'a merge join of ordered columns gives their order');

# ---- dumps, and servers that have not preloaded the library ----

my $dump = $node->basedir . '/dump.sql';
$node->run_log([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump, '-t', 'w', '-t', 'c', '-t', 'k', '-t', 'v' ]);
$node->safe_psql('postgres', 'CREATE DATABASE copy');
lines_of($node, 'CREATE EXTENSION tde_column', db => 'copy');
is($node->psql('copy', '', extra_params => [ '-v', 'ON_ERROR_STOP=1', '-f', $dump ]), 0, 'a dump is restored');
my $indexes = q{SELECT string_agg(indexrelid::regclass || ' ' || array_to_string(ARRAY(SELECT opcname FROM unnest(indclass) WITH ORDINALITY u (c, n) JOIN pg_opclass o ON o.oid = c ORDER BY n), ','), E'\n' ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid IN ('w'::regclass, 'c'::regclass, 'k'::regclass)};
is(lines_of($node, $indexes, db => 'copy'), lines_of($node, $indexes), '... with the same classes');
is(lines_of($node, 'SELECT count(*) FROM k WHERE i = 77', db => 'copy'), '1', '... and finds its rows');

my $alone = tde_node('alone', preload => 0, extension => 1, conf => $conf);
$alone->start;
lines_of($alone, q{SELECT tde_wallet_create('unordered-passphrase'); CREATE TABLE t (a encrypted_text(aes256,salt,gcm,unordered), b encrypted_int4(unordered) PRIMARY KEY)});
foreach my $command ('ALTER TABLE t ADD UNIQUE (a)', 'CREATE INDEX t_i ON t (a)')
{
  my ($rc, $out, $err) = $alone->psql('postgres', $command);
  like($err, qr/would tell the order.*Repeat it: the library is loaded now/s, "a session's first command is refused where the library was not there: $command");
  lines_of($alone, "SELECT tde_version(); $command");
}
is(lines_of($alone, q{SELECT string_agg(DISTINCT opcname, ' ') FROM pg_index JOIN pg_opclass o ON o.oid = ANY (indclass) WHERE indrelid = 't'::regclass}), 'encrypted_int4_unordered_ops encrypted_text_unordered_ops', '... and right when it is repeated');

done_testing;
