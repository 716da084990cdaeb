# pg_upgrade carries encrypted columns over: files go as they are, and what the schema holds of values goes encrypted, too.  The
# extension is updated afterwards.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename);
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeDump;
use TdeTest;
use Test::More;

# Indexes of every kind: of each type that has an order, by each access method; over expressions, with conditions, of arrays.
my @methods = qw(btree hash brin);
my $indexes = join(
  "\n",
  map({ "CREATE TABLE shop.by_$_ (LIKE shop.every); INSERT INTO shop.by_$_ TABLE shop.every;" } @methods),
  q{
DO $$
DECLARE
  indexed record;
BEGIN
  FOR indexed IN SELECT attrelid::regclass AS name, attname, substr(relname, 4) AS method FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                 WHERE relname IN ('by_btree', 'by_hash', 'by_brin') AND attname LIKE 'a\_%'
                   AND EXISTS (SELECT FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod WHERE amname = substr(relname, 4) AND opcdefault AND opcintype = atttypid) LOOP
    EXECUTE format('CREATE INDEX ON %s USING %s (%I)', indexed.name, indexed.method, indexed.attname);
  END LOOP;
END $$;
CREATE TABLE shop.kinds (id int PRIMARY KEY, a encrypted_text(nosalt) UNIQUE NULLS NOT DISTINCT, s encrypted_text, n encrypted_int4(salt),
  tags encrypted_text(nosalt)[], EXCLUDE USING hash (n WITH =));
INSERT INTO shop.kinds SELECT g, 'Needle-' || g, 'Salted-' || g, g, ARRAY['needle-' || g, 'needle-' || g % 3] FROM generate_series(1, 500) g;
CREATE INDEX kinds_lower ON shop.kinds (lower(a));
CREATE INDEX kinds_more ON shop.kinds (s DESC NULLS LAST, n) INCLUDE (id) WHERE a LIKE 'Needle%';
CREATE INDEX kinds_pattern ON shop.kinds (s text_pattern_ops);
CREATE INDEX kinds_computed ON shop.kinds USING brin ((n * 2)) WITH (pages_per_range = 1);
CREATE INDEX kinds_tags ON shop.kinds USING gin (tags);
ALTER TABLE shop.kinds ADD j encrypted_jsonb;
UPDATE shop.kinds SET j = jsonb_build_object('k', id, 'list', jsonb_build_array('needle-' || id));
CREATE INDEX kinds_doc ON shop.kinds USING gin (j);
CREATE INDEX kinds_path ON shop.kinds USING gin (j jsonb_path_ops) WHERE id > 3;
CREATE TABLE shop.hidden (id encrypted_int8(unordered) PRIMARY KEY, a encrypted_text(nosalt,unordered) UNIQUE, n encrypted_numeric(9,2,unordered), d encrypted_date(unordered),
  p encrypted_text(nosalt,unordered,'pad=16','key=padded') UNIQUE, m encrypted_varchar(20,unordered,'pad=max') UNIQUE);
INSERT INTO shop.hidden SELECT g, 'Needle-' || g, g, date '2000-01-01' + g, repeat('p', g % 40) || g, 'm' || g FROM generate_series(1, 500) g;
CREATE INDEX hidden_many ON shop.hidden (n, d DESC);
CREATE INDEX hidden_lower ON shop.hidden (lower(a));
CREATE TABLE shop.visible (id encrypted_int4 REFERENCES shop.hidden);
INSERT INTO shop.visible VALUES (7);
SELECT tde_set_mask('shop.kinds', 's', 'first 6, last 4', 'owner'), tde_set_mask('shop.hidden', 'n', 'range 100');
});

# The columns that have an index.
sub columns_of
{
  my ($node, $table) = @_;
  return split /\n/, lines_of($node, qq{SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey) WHERE indrelid = '$table'::regclass}, db => 'shop');
}

my $by_index    = 'SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;';
my @found_by    = map { [ "shop.$_->[0]", $_->[1] ] } [ kinds_lower => q{lower(a) = 'needle-77'} ],
  [ kinds_more => q{s = 'Salted-78' AND a LIKE 'Needle%'} ], [ kinds_pattern => q{s ~>=~ 'Salted-79' AND s ~<~ 'Salted-7:'} ],
  [ kinds_computed => 'n * 2 = 160' ], [ kinds_tags => q{tags @> ARRAY['needle-81']} ], [ kinds_doc => q{j ? 'k' AND j @> '{"k": 84}'} ], [ kinds_path => q{j @> '{"list": ["needle-85"]}' AND id > 3} ], [ kinds_a_key => q{a = 'Needle-82'} ], [ kinds_n_excl => 'n = 83' ];
my @hidden = map { "$by_index SELECT d FROM shop.hidden WHERE $_" } 'id = 77', q{a = 'Needle-78'}, 'n = 79', q{lower(a) = 'needle-80'}, q{p = 'p81'}, q{m = 'm82'};
my $lengths = q{SELECT (SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'shop.hidden'::regclass AND attnum > 0), pg_column_size(p), pg_column_size(m), count(*) FROM shop.hidden GROUP BY 2, 3 ORDER BY 2};
my $classes = q{SELECT indexrelid::regclass, indclass[0] IN (SELECT oid FROM pg_opclass WHERE opcname ~ '_unordered_ops$') FROM pg_index WHERE indrelid = 'shop.hidden'::regclass ORDER BY indexrelid::regclass::text};

# Options that the old server gives columns by itself, as some minor releases do, and that the new one, when it is older than they are, does
# not take: no table at all can be carried over then.
sub unknown_options
{
  my ($old, $new) = @_;
  my @options = split /\n/, lines_of($old, 'CREATE TABLE plain (a int); SELECT DISTINCT unnest(attoptions) FROM pg_attribute WHERE attrelid = \'plain\'::regclass; DROP TABLE plain');
  return '' unless @options;
  $new->start;
  my @unknown = grep { $new->psql('postgres', "CREATE TEMP TABLE plain (a int); ALTER TABLE plain ALTER a SET ($_)") } @options;
  $new->stop;
  return join ', ', @unknown;
}

# OLD_INSTALL: the prefix of an older version of PostgreSQL, see test/upgrade/run; without it, this one with an older version of the extension,
# whose types are in public, and with this one, whose types are in pg_catalog
my %installs = $ENV{OLD_INSTALL} ? (older => $ENV{OLD_INSTALL}) : (old_version_runs('0.1.0') ? ('0.1.0' => old_install('0.1.0')) : (), this => undef);
foreach my $name (sort keys %installs)
{
  my $old = tde_node("old_$name", $installs{$name} ? (install => $installs{$name}) : ());
  my $new = tde_node("new_$name");

  $_->append_conf('postgresql.conf', "tde_column.passphrase_command = 'echo upgrade-secret'\n") foreach $old, $new;
  $new->append_conf('postgresql.conf', "tde_column.wallet_file = '" . wallet_path($old) . "'\n");
  $old->start;
  if (my $unknown = $installs{$name} ? unknown_options($old, $new) : '')
  {
    plan(skip_all => 'PostgreSQL ' . $new->pg_version . ' takes no plain table of ' . $old->pg_version . " either, whose columns have $unknown");
  }
  lines_of($old, "CREATE EXTENSION tde_column; SELECT tde_wallet_create('upgrade-secret')");
  lines_of($old, 'CREATE ROLE owner; CREATE DATABASE shop OWNER owner');
  # pg_upgrade runs with an empty search_path, on which IS DISTINCT FROM and its like find no operator in public
  my @unnamed = (unnamed => $name ne '0.1.0');
  lines_of($old, tde_dump_schema(@unnamed), db => 'shop');
  lines_of(
    $old, q{
CREATE TYPE mood AS ENUM ('sad', 'ok');
SELECT tde_create_type('mood');
CREATE DOMAIN a_mood AS encrypted_mood(nosalt) CHECK (VALUE > 'sad');
CREATE TABLE moods (a a_mood, b encrypted_mood DEFAULT 'sad');
INSERT INTO moods VALUES ('ok');
CREATE EXTENSION citext;
SELECT tde_create_type('citext');
CREATE TABLE anycase (a encrypted_citext(nosalt) UNIQUE);
INSERT INTO anycase VALUES ('Ann');
GRANT EXECUTE ON FUNCTION tde_create_key(text, boolean) TO owner;
REVOKE EXECUTE ON FUNCTION tde_may_decrypt() FROM PUBLIC;
}, db => 'shop');
  lines_of($old, $indexes, db => 'shop') if $name ne '0.1.0';
  my @found = $name eq '0.1.0' ? () : (
    map({ "$by_index SELECT id FROM shop.kinds WHERE $_->[1]" } @found_by),
    map({ my $by = $_; map { "$by_index SELECT e.id, i.id FROM shop.every e JOIN shop.by_$by i ON e.$_ = i.$_ ORDER BY 1, 2" } columns_of($old, "shop.by_$by") } @methods),
    @hidden);
  my @more = (@found, $name eq '0.1.0' ? () : ($classes, $lengths, q{SELECT objname, label FROM pg_seclabels WHERE provider = 'tde_column' ORDER BY 1}), 'SELECT * FROM moods', q{SELECT * FROM anycase WHERE a = 'ANN'},
    q{SELECT proname, proacl FROM pg_proc WHERE proname IN ('tde_create_key', 'tde_may_decrypt', 'tde_rotate_key') ORDER BY oid::regprocedure::text},
    'SELECT * FROM tde.data_keys ORDER BY id', 'SELECT last_value FROM tde.data_keys_id_seq',
    q{SELECT reloptions FROM pg_class WHERE relname = 'data_keys'}, 'SELECT tde_refresh_types()');
  my %expected = (tde_dump_state($old, 'shop', @unnamed), map { $_ => lines_of($old, $_, db => 'shop') } @more);
  $old->stop;

  # by default from 18 on, and both must have them or neither
  command_ok([ 'pg_checksums', '--disable', '-D', $new->data_dir ], 'no checksums, as before')
    if $new->pg_version->major >= 18 && $old->pg_version->major < 18;

  # In the server's own folder, so that what is left there can be looked at.
  chdir $new->data_dir or die;
  command_ok(
    [
      'pg_upgrade', '--no-sync', '--retain', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $old->config_data('--bindir'),
      '-B', $new->config_data('--bindir'), '-s', $new->host, '-p', $old->port, '-P', $new->port
    ],
    'pg_upgrade') or diag(map { "$_\n" } grep { /error:|ERROR|Command was/ } map { split /\n/, slurp_file($_) } glob($new->data_dir . '/pg_upgrade_output.d/*/log/*.log'));
  my @dumps = glob($new->data_dir . '/pg_upgrade_output.d/*/dump/*.custom');
  cmp_ok(scalar(@dumps), '>', 2, 'its dumps of the schema are there');
  foreach my $dump (@dumps)
  {
    my $script = `pg_restore -f - $dump`;
    # comments, and the OIDs that objects get, which may be any number of five digits
    $script =~ s/^--.*|\('\d+'::pg_catalog\.oid\)//mg;
    is(join(' ', grep { index($script, $_) >= 0 } tde_dump_secrets()), '', 'no plaintext in ' . basename($dump));
  }

  $new->start;
  # a later major version has aggregates that the older one had not, or had otherwise; the same one has none
  my $made = lines_of($new, 'SELECT tde_refresh_types()', db => 'shop');
  cmp_ok($made, $new->pg_version > $old->pg_version ? '>=' : '==', 0, 'what types lack there is made');
  my %got = (tde_dump_state($new, 'shop', @unnamed), map { $_ => lines_of($new, $_, db => 'shop') } @more);
  # PostgreSQL 16 and later leave the table's name away
  foreach my $views (grep { /pg_views/ } keys %expected)
  {
    s/\b(ruled|unnamed)\.//g foreach $got{$views}, $expected{$views};
  }
  is($got{$_}, $expected{$_}, $_) foreach sort keys %expected;
  lines_of($new, 'ALTER EXTENSION tde_column UPDATE', db => $_) foreach qw(postgres shop);
  my %updated = (tde_dump_state($new, 'shop', @unnamed), map { $_ => lines_of($new, $_, db => 'shop') } @more);
  s/\b(ruled|unnamed)\.//g foreach @updated{ grep { /pg_views/ } keys %updated };
  is($updated{$_}, $got{$_}, "updated: $_") foreach sort keys %got;
  like(lines_of($new, s/ SELECT / EXPLAIN (COSTS off) SELECT /r, db => 'shop'), qr/Index.* (?:on|using) \w*(?:by|kinds|hidden)_\w+/, "by an index: $_") foreach @found;
  if ($name ne '0.1.0')
  {
    unlike($got{$classes}, qr/\|f/, 'unordered columns still have indexes without order');
    is(lines_of($new, q{CREATE EXTENSION amcheck; SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 'shop.hidden'::regclass}, db => 'shop'),
      "\n" x 5, '... which fit their tables');
    fails_with($new, 'INSERT INTO shop.visible VALUES (9999)', { state => '23503' }, '... and hold foreign keys', db => 'shop');
  }
  lines_of($new, q{INSERT INTO moods VALUES ('ok', 'ok'); INSERT INTO shop.list VALUES ('needle-two', 6)}, db => 'shop');
  is(lines_of($new, q{SELECT count(*) FROM moods; SELECT x FROM shop.list WHERE k = 'needle-two' ORDER BY x}, db => 'shop'),
    "2\n2\n6", 'it can be written');
  $new->stop;
}
done_testing();
