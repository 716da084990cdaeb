# No aggregate over an encrypted column writes a value in clear into a temporary file, or into shared memory that is a file: whatever aggregate
# pg_proc has that takes one, with DISTINCT or ORDER BY in its call, WITHIN GROUP, or over a window; and as partial aggregates of parallel
# workers, whose states are sorted.
#
# The files are gone with the statement, so a function that the statement calls looks for the values in them.  The same calls over plain columns
# show that it would find them.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('aggregates', extension => 1, conf => q(
dynamic_shared_memory_type = mmap
work_mem = '64kB'
jit = off
timezone = 'UTC'
client_min_messages = error
));
$node->start;
lines_of($node, q(SELECT tde_wallet_create('a passphrase'); SELECT tde_create_type('money'); SELECT tde_create_type('bit'); SELECT tde_create_type('xml')));

# Not every PostgreSQL was built with libxml.
my $has_xml = attempt($node, q(SELECT xmlcomment('')))->{state} eq '' ? 'true' : 'false';
note 'SKIPPED: xml, since this PostgreSQL has no libxml' if $has_xml eq 'false';

# A value of each type for each row, and bytes that all of one column have in common: as they are in memory, and as they are sent.  (Six or more: of five,
# ciphertext was seen to have them by chance.)
lines_of(
  $node, q(
CREATE TABLE col (name text, base text, typmod text, value text, canaries bytea[]);
INSERT INTO col VALUES
  ('t',  'text',        '', $$'canary' || id$$, '{canary}'),
  ('v',  'varchar',     '', $$'kenari' || id$$, '{kenari}'),
  ('b',  'bpchar',      '', $$'canari' || id$$, '{canari}'),
  ('i4', 'int4',        '', '1515870720 + id % 256', ARRAY['\x5a5a5a00000000', '\x0003000200000000000f0633'::bytea]),
  ('i8', 'int8',        '', '6510615555426877440 + id', ARRAY['\x5a5a5a5a5a5a', '\x028b026715b2', '\x8b026702b215'::bytea]),
  ('n',  'numeric',     '', '123456789012345600000 + id', ARRAY['\x09291a85007b', '\x2909851a7b00'::bytea]),
  ('f8', 'float8',      '', '1.2345e300 + id * 1e285', ARRAY['\x7e3d7e7e7016', '\x16707e7e3d7e'::bytea]),
  ('iv', 'interval',    '', $$interval '6510615 days' + id * interval '1 s'$$, ARRAY['\x1758630000000000'::bytea]),
  ('y',  'bytea',       '', $$'canary'::bytea || int4send(id)$$, '{canary}'),
  ('ts', 'timestamptz', '', $$timestamptz '2071-01-01' + id * interval '1 microsecond'$$, ARRAY['\xa7f2d2f50700'::bytea]),
  ('u',  'uuid',        '', $$('63616e61-7279-6361-6e61-' || lpad(id::text, 12, '0'))::uuid$$, '{canarycana}'),
  ('j',  'jsonb',       '', $$jsonb_build_object('canary', 'kanari' || id)$$, '{kanari}'),
  ('m',  'money',       '', $$'65106155554269.00'::money + id * '0.01'::money$$, ARRAY['\x73cf5e211700'::bytea]),
  ('z',  'bit',         '(64)', $$B'0110001101100001011011100110000101110010' || id::bit(24)$$, ARRAY['\x63616e617200'::bytea]),
  ('x',  'xml',         '', $$format('<canary>%s</canary>', id)::xml$$, '{<canary>}');
DELETE FROM col WHERE NOT ) . $has_xml . q( AND name = 'x';
DO $do$
BEGIN
  EXECUTE (SELECT format('CREATE TABLE twin (id int, g int, %s)', string_agg(format('p_%1$s %2$s%3$s, e_%1$s encrypted_%2$s%3$s', name, base, typmod), ', ')) FROM col);
  -- rows are sent, too
  EXECUTE (SELECT string_agg(format('CREATE TYPE p_%1$s_row AS (v %2$s%3$s); CREATE TYPE e_%1$s_row AS (v encrypted_%2$s%3$s);', name, base, typmod), ' ') FROM col);
  EXECUTE (SELECT format('INSERT INTO twin SELECT id, id %% 3, %s FROM generate_series(1, 2000) id', string_agg(format('%1$s, %1$s', value), ', ')) FROM col);
END
$do$;
-- groups of many rows, in which one has a value
CREATE TABLE sparse AS SELECT g.id AS h, t.* FROM twin g CROSS JOIN generate_series(0, 9) k LEFT JOIN twin t ON t.id = g.id AND k = 0;
ALTER TABLE sparse SET (parallel_workers = 2);
ANALYZE twin, sparse));

lines_of(
  $node, q(
-- In how many files are they?  Those of parallel workers may be in folders.
CREATE FUNCTION look(col text) RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED AS $$
DECLARE
  -- not as a parameter, which workers would be given in shared memory
  patterns CONSTANT bytea[] := (SELECT canaries FROM col WHERE name = look.col);
  file     text;
  found    int := 0;
BEGIN
  FOR file IN
    WITH RECURSIVE paths (path) AS (
      SELECT d || '/' || f FROM unnest('{base/pgsql_tmp,pg_dynshmem}'::text[]) d, pg_ls_dir(d, true, false) f
      UNION ALL SELECT path || '/' || f FROM paths, pg_ls_dir(path, true, false) f WHERE (pg_stat_file(path, true)).isdir)
    SELECT path FROM paths WHERE NOT (pg_stat_file(path, true)).isdir
  LOOP
    IF (SELECT bool_or(position(c IN pg_read_binary_file(file)) > 0) FROM unnest(patterns) c) THEN
      found := found + 1;
    END IF;
  END LOOP;
  RETURN found;
END
$$;
-- NULL: there is no such call
CREATE FUNCTION look_during(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  found int;
BEGIN
  EXECUTE query INTO found;
  RETURN found;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END
$$;
CREATE TABLE way (way text, query text);
INSERT INTO way VALUES
  -- when all rows but one have been given to the aggregate,
  ('sorted', 'SELECT max(t.look), %1$s FROM (SELECT *, 0 AS look FROM twin UNION ALL SELECT *, look(%2$L) FROM twin WHERE id = 1) t'),
  -- and before the second result is fetched
  ('window', 'SELECT look(%2$L), q.a FROM (SELECT %1$s OVER (PARTITION BY g ORDER BY id) AS a, count(*) OVER () FROM twin OFFSET 0) q LIMIT 1'),
  ('parallel', 'SELECT look(%2$L), q.a FROM (SELECT h, %1$s AS a FROM sparse GROUP BY h OFFSET 0) q LIMIT 1');
-- Whatever arguments they may take: @ is the column.
CREATE TABLE form (way text, call text);
INSERT INTO form SELECT 'sorted', unnest(ARRAY['DISTINCT @', '@ ORDER BY @', 'DISTINCT @ ORDER BY @', '@, @ ORDER BY @', 'DISTINCT @, @',
  '@, $$-$$::text ORDER BY @', '$$-$$::text, @ ORDER BY id', '@, $$-$$::bytea ORDER BY @', '$$-$$::bytea, @ ORDER BY id', 'DISTINCT @, $$-$$',
  'id, @ ORDER BY @', '@, id ORDER BY @', 'id::float8, @ ORDER BY id',
  ') WITHIN GROUP (ORDER BY @', '0.5) WITHIN GROUP (ORDER BY @', '$${0.1,0.9}$$::float8[]) WITHIN GROUP (ORDER BY @', 'NULL) WITHIN GROUP (ORDER BY @',
  'NULL::#) WITHIN GROUP (ORDER BY @', 'NULL::#) WITHIN GROUP (ORDER BY @ DESC']);
INSERT INTO form SELECT way, unnest(ARRAY['@', '@, @', '@, $$-$$::text', '$$-$$::text, @', '@, $$-$$::bytea', 'id, @', '@, id']) FROM unnest('{window,parallel}'::text[]) way;
INSERT INTO form VALUES ('parallel', 'ROW(@)::@_row');
CREATE TABLE seen AS
  SELECT way, a.name AS aggregate, f.call, c.name AS col, side, NULL::int AS found,
         format(w.query, format('%I(%s)', a.name, replace(replace(f.call, '@', side || '_' || c.name), '#', c.base)), c.name) AS query
  FROM form f JOIN way w USING (way), (SELECT DISTINCT proname FROM pg_proc WHERE prokind = 'a') a (name), col c, unnest('{p,e}'::text[]) side
));

# PostgreSQL has another function for this one from 17 on, so there is none of ours before.
my $known = $node->pg_version < 17 ? q{ AND (aggregate, col) <> ('avg', 'iv')} : '';
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off; SET enable_gathermerge = off; ';
foreach my $way (qw(sorted window parallel))
{
  my $settings = $way eq 'parallel' ? $parallel : 'SET max_parallel_workers_per_gather = 0; ';
  # In sessions of their own: PostgreSQL writes whole blocks, and what is behind the last row is what was in that memory before.
  lines_of($node, "$settings UPDATE seen SET found = look_during(query) WHERE way = '$way' AND side = '$_'") foreach qw(e p);
  # What was looked for before stays in free memory, of which PostgreSQL copies some: what is found has to be found again by a session that looks for
  # the first time.
  lines_of($node, "$settings UPDATE seen SET found = look_during(query) WHERE ctid = '$_'")
    foreach split /\n/, lines_of($node, "SELECT ctid FROM seen WHERE way = '$way' AND side = 'e' AND found > 0");
  my $run = lines_of($node, "SELECT count(DISTINCT aggregate) || ' aggregates, ' || count(*) || ' calls' FROM seen WHERE way = '$way' AND side = 'e' AND found IS NOT NULL");
  is(lines_of($node, "SELECT aggregate, call, col, found FROM seen WHERE way = '$way' AND side = 'e' AND found > 0$known ORDER BY 1, 2, 3"), '', "$way: nothing is in clear: $run");
}

# Plain values are found, and what takes them takes encrypted ones.
my $not_found = sub { return "SELECT name FROM col WHERE $_[1] AND name NOT IN (SELECT col FROM seen WHERE way = '$_[0]' AND side = 'p' AND found > 0)" };
is(lines_of($node, $not_found->('sorted', "name NOT IN ('x')")), '', 'plain values of each type are found in sorts');
is(lines_of($node, $not_found->('window', 'true')), '', 'and in windows');
is(lines_of($node, $not_found->('parallel', "name IN ('i4', 'i8', 'n', 'f8', 'iv')")), '', 'and in states of parallel workers');
is(lines_of($node, q(
SELECT DISTINCT p.way, p.aggregate, p.col FROM seen p JOIN seen e USING (way, aggregate, call, col)
WHERE p.side = 'p' AND e.side = 'e' AND p.found IS NOT NULL AND e.found IS NULL AND p.call !~ 'WITHIN' AND p.aggregate !~ 'object' ORDER BY 1, 2, 3)), '', 'an encrypted column can be given to each aggregate to which a plain one can');
like(lines_of($node, "$parallel EXPLAIN (COSTS off) SELECT h, sum(e_i4), sum(e_n) FROM sparse GROUP BY h"), qr/Sort.*Gather.*Partial/s, 'workers compute partial states');

done_testing();
