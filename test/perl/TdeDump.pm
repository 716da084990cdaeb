# TdeDump - a database with encrypted columns wherever PostgreSQL lets them be, for tests of dumps and of pg_upgrade.
package TdeDump;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use TdeTest;

our @EXPORT = qw(tde_dump_schema tde_dump_state tde_dump_secrets);

# Every shipped type: two values of it, as SQL has them.  The texts of the first are searched for in encrypted dumps.
my @types = (
  [ text        => "'needle-text'",                                "''" ],
  [ varchar     => "'needle-varchar'",                             "'x'", 5000 ],
  [ bpchar      => "'needle-bpchar'",                              "'y'", 20 ],
  [ int2        => '31013',                                        '-1' ],
  [ int4        => '310140159',                                    '0' ],
  [ int8        => '3101401591014',                                '-9223372036854775808' ],
  [ numeric     => '31014015910.25',                               'NULL', '210,2' ],
  [ float4      => '3.10140e+20',                                  "'NaN'" ],
  [ float8      => '3.10140159e+150',                              "'-Infinity'" ],
  [ bool        => 'true',                                         'false' ],
  [ date        => "'1931-01-14'",                                 "'infinity'" ],
  [ time        => "'03:10:14.159'",                               "'24:00'" ],
  [ timetz      => "'03:10:14.159+07:31'",                         "'00:00+00'" ],
  [ timestamp   => "'1931-01-14 03:10:14.159'",                    "'-infinity'" ],
  [ timestamptz => "'1931-01-14 03:10:14.159+07:31'",              "'4713-01-01 BC'" ],
  [ interval    => "'31 years 3 mons 10 days 14:15:09'",           "'-1 day'", 4 ],
  [ bytea       => q{'\x3101401591014abc'::bytea},                 q{'\x'::bytea} ],
  [ uuid        => "'31014015-9101-4abc-8def-310140159101'",       "'00000000-0000-0000-0000-000000000000'" ],
  [ json        => q('{"needle": "json"}'),                        "'null'" ],
  [ jsonb       => q('{"needle": ["jsonb", 31014015.9]}'),         "'[]'" ],
  [ inet        => "'31.101.40.159/17'",                           "'::1'" ],
);

# What must not be found in an encrypted dump.
sub tde_dump_secrets
{
  return ('needle', '31013', '310140159', '31014015', '3.1014', '1931-01-14', '03:10:14', '31 years', '31.101.40');
}

# Mixed specifications, so that each combination of salt and MAC and a second key are met, and modifiers beyond a typmod's bits.
sub columns
{
  my @specs = ('aes256,salt,mac', 'aes128,nosalt,sha256', "aes192,salt,sha256,'key=five'", 'aes256,cbc,nosalt,mac');
  my $i     = 0;
  my @columns;

  foreach (@types)
  {
    my ($type, undef, undef, $base) = @$_;
    push @columns, "a_$type encrypted_$type(" . ($base ? "$base," : '') . $specs[ $i++ % @specs ] . ')';
  }
  return join ', ', @columns;
}

sub rows
{
  my ($schema) = @_;
  my $first  = join ', ', map { $_->[1] } @types;
  my $second = join ', ', map { $_->[2] } @types;
  my $nulls  = join ', ', map { 'NULL' } @types;
  return "INSERT INTO $schema.every VALUES (1, $first), (2, $second), (3, $nulls);";
}

# Expressions in which pg_dump cannot name the operator.
sub unnamed
{
  return <<"SQL";
CREATE TABLE shop.unnamed (id int PRIMARY KEY, c encrypted_bpchar(5), t encrypted_text, i encrypted_int4, n encrypted_numeric,
  CHECK (i IS DISTINCT FROM n), CONSTRAINT chosen CHECK (CASE i WHEN n THEN false ELSE true END));
INSERT INTO shop.unnamed VALUES (1, 'a', 'needle-gone', 1, 2), (2, 'b', 'needle-here', 1, 3);
CREATE UNIQUE INDEX unnamed_here ON shop.unnamed (i) WHERE t IS DISTINCT FROM 'needle-gone';
CREATE INDEX unnamed_null ON shop.unnamed (id) WHERE nullif(i, n) IS NULL;
CREATE VIEW shop.compared AS SELECT id, c IS DISTINCT FROM 'a' AS other, CASE c WHEN 'a' THEN 'is a' END AS a, CASE i WHEN n THEN 1 END AS equal,
  nullif(n, 2) AS not_two, (i, n) IS DISTINCT FROM (n, i) AS swapped FROM shop.unnamed;
CREATE VIEW shop.joined AS SELECT i FROM shop.unnamed u JOIN (SELECT n AS i FROM shop.unnamed) n USING (i);
CREATE TRIGGER changed BEFORE UPDATE ON shop.unnamed FOR EACH ROW WHEN (OLD.i IS DISTINCT FROM NEW.n) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE POLICY differs ON shop.unnamed USING (i IS DISTINCT FROM n);
CREATE RULE counted AS ON DELETE TO shop.unnamed WHERE OLD.i IS DISTINCT FROM OLD.n DO ALSO SELECT CASE OLD.i WHEN OLD.n THEN 1 END;
CREATE FUNCTION shop.differ(encrypted_int4, encrypted_numeric) RETURNS boolean LANGUAGE sql RETURN \$1 IS DISTINCT FROM \$2;
SQL
}

# unnamed => 0: without those, which are restored only where the operators are in pg_catalog, after version 0.1.0.
sub tde_dump_schema
{
  my (%opts)  = @_;
  my $every   = columns();
  my $rows    = rows('shop');
  my $unnamed = $opts{unnamed} // 1 ? unnamed() : '';
  return <<"SQL";
CREATE EXTENSION tde_column;
CREATE SCHEMA shop;
CREATE TABLE shop.every (id int PRIMARY KEY, $every);
$rows
CREATE TABLE shop.bare (id int PRIMARY KEY, a encrypted_text);
INSERT INTO shop.bare SELECT g, 'needle-' || g FROM generate_series(1, 20) g;

CREATE TYPE shop.person AS (name encrypted_text(aes192,salt,mac), born encrypted_date(nosalt), note text);
CREATE DOMAIN shop.code AS encrypted_varchar(5001,aes128,nosalt,mac,'key=codes') CHECK (VALUE <> 'needle-dom');
CREATE TABLE shop.made (
  id     int PRIMARY KEY,
  who    shop.person,
  people shop.person[],
  code   shop.code,
  codes  shop.code[],
  tags   encrypted_text(aes256,nosalt)[],
  grid   encrypted_int4[],
  low    encrypted_numeric(12,2,nomac),
  plain  text);
INSERT INTO shop.made VALUES
  (1, ROW('needle-who', '1931-01-14', 'note'), ARRAY[ROW('needle-a', NULL, 'x'), ROW(NULL, NULL, NULL)]::shop.person[], 'needle-code',
   '{needle-c1,needle-c2}', '{needle-t1,NULL,"","a,b"}', '{{310140159,2},{3,4}}', 310140159.25, 'plain'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE shop.ruled (
  id   int PRIMARY KEY,
  a    encrypted_text(aes256,salt) DEFAULT 'needle-default' CHECK (a <> 'needle-check'),
  copy encrypted_text(aes256,salt) GENERATED ALWAYS AS (a) STORED,
  k    encrypted_text(aes128,nosalt) UNIQUE,
  n    encrypted_int4(salt) DEFAULT '310140159' CHECK (n > '10'));
INSERT INTO shop.ruled (id, a, k, n) VALUES (1, 'needle-ruled', 'needle-k1', 310140159), (2, NULL, NULL, NULL);
INSERT INTO shop.ruled (id, k) VALUES (3, 'needle-k3');
ALTER TABLE shop.ruled ADD COLUMN late encrypted_text(aes256,salt) DEFAULT 'needle-late';
ALTER TABLE shop.ruled ADD COLUMN late_number encrypted_int8(nosalt) DEFAULT '3101401591014';
CREATE INDEX ruled_a ON shop.ruled (a) WHERE a > 'needle-partial';
CREATE INDEX ruled_bytes ON shop.ruled (a text_pattern_ops);
CREATE INDEX ruled_hash ON shop.ruled USING hash (k);
CREATE TABLE shop.refers (k encrypted_text(aes256,salt) REFERENCES shop.ruled (k) ON UPDATE CASCADE);
INSERT INTO shop.refers VALUES ('needle-k1'), (NULL);
CREATE VIEW shop.seen AS SELECT id, a, 'needle-column'::encrypted_text AS c, a::encrypted_varchar(5002,aes192,'key=codes') AS v FROM shop.ruled
  WHERE a <> 'needle-view' AND k IN ('needle-k1', 'needle-k3');
CREATE MATERIALIZED VIEW shop.kept AS SELECT id, a FROM shop.ruled WHERE k = 'needle-k1';
CREATE FUNCTION shop.found() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM shop.ruled WHERE a = 'needle-ruled'; END;
CREATE RULE ignored AS ON INSERT TO shop.refers WHERE NEW.k = 'needle-rule' DO INSTEAD NOTHING;

$unnamed
CREATE TABLE shop.list (k encrypted_text(nosalt), x int) PARTITION BY LIST (k);
CREATE TABLE shop.list_1 PARTITION OF shop.list FOR VALUES IN ('needle-one', 'needle-two');
CREATE TABLE shop.list_2 PARTITION OF shop.list FOR VALUES IN ('needle-three', NULL);
CREATE TABLE shop.list_rest PARTITION OF shop.list DEFAULT;
INSERT INTO shop.list VALUES ('needle-one', 1), ('needle-two', 2), ('needle-three', 3), (NULL, 4), ('needle-rest', 5);
CREATE TABLE shop.range (k encrypted_int4(aes256,salt), t encrypted_varchar(5003), x int) PARTITION BY RANGE (k, t);
CREATE TABLE shop.range_1 PARTITION OF shop.range FOR VALUES FROM (MINVALUE, MINVALUE) TO (31013, 'needle-bound');
CREATE TABLE shop.range_2 PARTITION OF shop.range FOR VALUES FROM (31013, 'needle-bound') TO (310140159, MAXVALUE);
INSERT INTO shop.range VALUES (-5, 'needle', 1), (31013, 'needle-a', 2), (31013, 'needle-z', 3), (310140158, 'needle', 4);
CREATE TABLE shop.hash (k encrypted_text, x int) PARTITION BY HASH (k);
CREATE TABLE shop.hash_0 PARTITION OF shop.hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE shop.hash_1 PARTITION OF shop.hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO shop.hash SELECT 'needle-' || g, g FROM generate_series(1, 20) g;
SQL
}

# What a database with that schema answers: question => answer.  Whatever its values are encrypted under, it must be the same.
sub tde_dump_state
{
  my ($node, $db, %opts) = @_;
  my $left      = $opts{unnamed} // 1 ? qr/^$/ : qr/shop\.(compared|joined|differ|unnamed)/;
  my @questions = grep { !/$left/ } (
    map({ "SELECT tableoid::regclass, * FROM shop.$_ ORDER BY 2" } qw(every bare made ruled)),
    map({ "SELECT tableoid::regclass, * FROM shop.$_ ORDER BY x" } qw(list range hash)),
    'SELECT * FROM shop.refers ORDER BY k',
    "SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE atttypmod > 0 AND attrelid IN
       (SELECT oid FROM pg_class WHERE relnamespace = 'shop'::regnamespace AND relkind IN ('r', 'v', 'p', 'c')) ORDER BY attrelid::regclass::text, 2",
    'SELECT * FROM shop.seen ORDER BY id',
    'SELECT * FROM shop.kept ORDER BY id',
    'SELECT shop.found()',
    "SELECT schema_name, table_name, column_name, type, base_type, cipher, mode, salt, mac FROM tde.encrypted_columns
       WHERE schema_name = 'shop' ORDER BY 1, 2, 3",
    q{SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'shop'::regnamespace AND contype <> 'n' ORDER BY 1, 2}, # NOT NULL is there from 18 on
    q{SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid::regclass::text LIKE 'shop.%' ORDER BY 1},
    'SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class WHERE relispartition ORDER BY 1',
    "SELECT viewname, definition FROM pg_views WHERE schemaname = 'shop' ORDER BY 1",
    'SELECT adrelid::regclass, adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef ORDER BY adrelid::regclass::text, adnum',
    'SELECT * FROM shop.compared ORDER BY id',
    'SELECT * FROM shop.joined',
    q{SELECT pg_get_triggerdef(oid), (SELECT qual FROM pg_policies), (SELECT definition FROM pg_rules WHERE rulename = 'counted'),
             pg_get_functiondef('shop.differ'::regproc) FROM pg_trigger WHERE tgname = 'changed'},
    "INSERT INTO shop.ruled (id) VALUES (9) RETURNING a, copy, n, late",
    'DELETE FROM shop.ruled WHERE id = 9',
    "INSERT INTO shop.refers VALUES ('needle-rule'); SELECT count(*) FROM shop.refers",
    "SELECT x FROM shop.list WHERE k = 'needle-two'",
    "SELECT x FROM shop.range WHERE k = 31013 AND t = 'needle-z'",
    "SELECT x FROM shop.hash WHERE k = 'needle-7'",
    "SET enable_seqscan = off; SELECT id FROM shop.ruled WHERE k = 'needle-k3'",
  );
  my %state;

  $state{$_} = lines_of($node, $_, db => $db) foreach @questions;
  foreach my $refused (
    grep { !/$left/ }
    "INSERT INTO shop.ruled (id, a) VALUES (8, 'needle-check')",
    "INSERT INTO shop.ruled (id, k) VALUES (8, 'needle-k1')",
    "INSERT INTO shop.refers VALUES ('needle-k2')",
    "INSERT INTO shop.made (id, code) VALUES (8, 'needle-dom')",
    "INSERT INTO shop.unnamed (id, i, n) VALUES (8, 5, 5)",
    "INSERT INTO shop.unnamed (id, i) VALUES (8, 1)")
  {
    $state{$refused} = attempt($node, $refused, db => $db)->{state};
  }
  return %state;
}

1;
