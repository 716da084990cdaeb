# tde_audit(): each way in which values of encrypted columns get into clear is made, is found, and is gone after the command that the finding names.
# tde_discover(): what plain columns hold, of tables that the caller may read.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('leaks', extension => 1, conf => "wal_level = logical\nlog_min_error_statement = panic\nmax_locks_per_transaction = 512\n");
$node->start;
lines_of($node, "SELECT tde_wallet_create('leaks-passphrase')");

# Values of every table below; what is computed of them must be found, and what stays encrypted must not.
lines_of(
  $node, q{
CREATE TABLE t (id int PRIMARY KEY, email encrypted_text, amount encrypted_numeric, at encrypted_date, tags encrypted_text[]);
INSERT INTO t SELECT i, 'a' || i || '@example.org', i, '2026-01-01', ARRAY['x'] FROM generate_series(1, 1500) i;
CREATE VIEW seen AS SELECT id, lower(email)::text AS mail FROM t;
CREATE FUNCTION clear(encrypted_text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
});

my @topics = ('stored in clear', 'constants', 'sent in clear', 'plain columns', 'columns', 'row capture', 'order');
my $quoted = join ', ', map { "'$_'" } @topics;

sub findings
{
  my (%opts) = @_;
  my $before = $opts{within} ? "\\set QUIET on\n$opts{within};" : '';
  return attempt($node, "$before SELECT severity, topic, object, finding FROM tde_audit() WHERE topic IN ($quoted) AND severity <> 'ok'")->{out};
}

is(findings(), '', 'tables with encrypted columns, and a view that decrypts, are no finding');

sub unguarded { return "ALTER EVENT TRIGGER tde_column_ddl DISABLE; $_[0]; ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS"; }

# SQL that makes the leak; what is found; SQL that takes the rest away.  The command of each finding is run in between.
my @leaks = (
  [ 'CREATE MATERIALIZED VIEW mv AS SELECT lower(email)::text AS low, email, id FROM t', 'warning|stored in clear|public.mv|a materialized view with decrypted values: low', 'DROP MATERIALIZED VIEW mv' ],
  [ 'CREATE MATERIALIZED VIEW over AS SELECT * FROM seen', 'warning|stored in clear|public.over|a materialized view with decrypted values: mail', 'DROP MATERIALIZED VIEW over' ],
  [ 'CREATE TABLE log (x text); CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO log VALUES (new.email)',
    'warning|stored in clear|public.t|rule r puts decrypted values into a plain column', 'DROP TABLE log' ],
  [ 'CREATE TABLE log (x text); CREATE RULE r AS ON UPDATE TO t DO ALSO UPDATE log SET x = new.amount',
    'warning|stored in clear|public.t|rule r puts decrypted values into a plain column', 'DROP TABLE log' ],
  [ 'CREATE TABLE log (x text); CREATE FUNCTION f(encrypted_text) RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO log VALUES ($1); INSERT INTO log SELECT mail FROM seen; END',
    'warning|stored in clear|public.f(encrypted_text)|a function whose commands put decrypted values into a plain column', 'DROP TABLE log' ],
  [ 'CREATE TABLE log (x text); CREATE PROCEDURE f() LANGUAGE sql BEGIN ATOMIC INSERT INTO log SELECT email FROM t; END',
    'warning|stored in clear|public.f()|a function whose commands put decrypted values into a plain column', 'DROP TABLE log' ],
  [ 'CREATE TABLE log (id int, x text); CREATE FUNCTION f() RETURNS void LANGUAGE sql BEGIN ATOMIC MERGE INTO log USING t ON log.id = t.id WHEN MATCHED THEN UPDATE SET id = t.id WHEN NOT MATCHED THEN INSERT VALUES (t.id, t.email); END',
    'warning|stored in clear|public.f()|a function whose commands put decrypted values into a plain column', 'DROP TABLE log' ],
  [ unguarded('CREATE TABLE g (a encrypted_text(aes256,salt,gcm), b text GENERATED ALWAYS AS (clear(a)) STORED)'),
    'warning|stored in clear|public.g|generated column b has decrypted values', 'DROP TABLE g' ],
  [ 'CREATE INDEX x ON t (clear(email))', 'warning|stored in clear|public.x|an index over an expression of table public.t that holds decrypted values, by a function that is declared IMMUTABLE', '' ],
  [ unguarded('CREATE STATISTICS s ON id, clear(email) FROM t'), 'warning|stored in clear|public.t|statistics public.s keep decrypted values', '' ],
  [ 'CREATE TABLE key (a text PRIMARY KEY); CREATE TABLE refers (b encrypted_text REFERENCES key (a))',
    'warning|stored in clear|public.key|by foreign key, column a has values of encrypted column public.refers.b in clear', 'DROP TABLE refers, key' ],
  [ 'CREATE TABLE copy AS SELECT email::text AS email FROM t', 'notice|stored in clear|public.copy|in clear, while columns of the same names are encrypted elsewhere: email (public.t)', 'DROP TABLE copy' ],
  [ q{ALTER TABLE t ADD CONSTRAINT c CHECK (email <> 'x'::text)}, 'notice|constants|public.t|constraint c has a constant in clear', '' ],
  [ q{ALTER TABLE t ADD CONSTRAINT c CHECK (email <> ALL (ARRAY['x'::text, 'y'::text]))}, 'notice|constants|public.t|constraint c has a constant in clear', '' ],
  [ 'ALTER TABLE t ADD CONSTRAINT c CHECK (amount > 0)', 'notice|constants|public.t|constraint c has a constant in clear', '' ],
  [ q{ALTER TABLE t ALTER email SET DEFAULT 'x'::text}, 'notice|constants|public.t|the default of column email has a constant in clear', '' ],
  [ q{CREATE DOMAIN dom AS encrypted_text CONSTRAINT c CHECK (VALUE <> 'x'::text)}, 'notice|constants|public.dom|constraint c has a constant in clear', 'DROP DOMAIN dom' ],
  [ q{CREATE POLICY p ON t USING (email = 'x'::text)}, 'notice|constants|public.t|policy p has a constant in clear', '' ],
  [ q{CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW WHEN (new.email = 'x'::text) EXECUTE FUNCTION tf()},
    'notice|constants|public.t|the condition of trigger tr has a constant in clear', 'DROP FUNCTION tf()' ],
  [ q{CREATE VIEW v AS SELECT id FROM t WHERE email = 'x'::text}, 'notice|constants|public.v|its query has a constant in clear', '' ],
  [ q{CREATE VIEW v AS SELECT coalesce(email, 'x'::text) AS e FROM t}, 'notice|constants|public.v|its query has a constant in clear', '' ],
  [ 'CREATE PUBLICATION p FOR ALL TABLES', 'notice|sent in clear|publication p|subscribers get values of encrypted columns in clear, of 1 tables such as public.t', '' ],
  [ 'CREATE PUBLICATION p FOR TABLE t (id, email)', 'notice|sent in clear|publication p|subscribers get values of encrypted columns in clear, of 1 tables such as public.t', '' ],
  [ q{SELECT pg_create_logical_replication_slot('s', 'pgoutput')}, 'notice|sent in clear|slot s|whoever may use this slot for logical decoding (pgoutput) gets values of encrypted columns in clear', '' ],
  [ q{CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw; CREATE FOREIGN TABLE f (pan encrypted_text) SERVER files OPTIONS (filename '/nowhere')},
    'warning|sent in clear|public.f|server files (file_fdw) gets values in clear, or has them: pan', 'DROP EXTENSION file_fdw CASCADE' ],
  [ 'CREATE TABLE person (id int, ssn text, iban varchar(34), note text)',
    'notice|plain columns|public.person|in clear, and named as what is personal or secret: ssn (US social security number), iban (IBAN)', 'DROP TABLE person' ],
  [ 'CREATE TABLE few (id int, sex encrypted_text(nosalt)); INSERT INTO few SELECT i, chr(97 + i % 2) FROM generate_series(1, 2000) i; ANALYZE few',
    'warning|columns|public.few|without salt, and with so few values that their frequencies tell them: sex (about 2)', 'DROP TABLE few' ],
  [ 'CREATE TABLE bare (id int, a encrypted_text(nomac), b encrypted_text(nomac,nosalt))',
    'warning|columns|public.bare|without a MAC, so that changed bytes go unnoticed: a, b', 'DROP TABLE bare' ],
  [ q{CREATE TABLE old (id int, a encrypted_text('3des168'))}, 'warning|columns|public.old|under triple DES, of which NIST allows no new use: a', 'DROP TABLE old' ],
  [ unguarded('CREATE TABLE undeclared AS SELECT 1 AS id, $$x$$::encrypted_text AS a'),
    'warning|columns|public.undeclared|declared without modifiers, and encrypted as constants are, equal values alike: a', 'DROP TABLE undeclared' ],
  [ 'CREATE TABLE ranked (id int, e encrypted_text UNIQUE)', 'notice|order|public.ranked|indexes tell the order of all values of a column, salted or not: public.ranked_e_key (e)', 'DROP TABLE ranked' ],
);

foreach (@leaks)
{
  my ($make, $expected, $clean) = @$_;
  my $got = attempt($node, $make);
  is($got->{state}, '', $make) or diag($got->{err});
  my @found = split /\n/, findings();
  # a column that has no salt is another finding
  is(join("\n", grep { $_ eq $expected } @found), $expected, '... is found') or diag(join "\n", @found);
  my ($severity, $topic, $object) = split /\|/, $expected;
  my $command = lines_of($node, "SELECT command FROM tde_audit() WHERE (severity, topic, object) = (\$\$$severity\$\$, \$\$$topic\$\$, \$\$$object\$\$)");
  $got = attempt($node, $command);
  is($got->{state}, '', "... $command") or diag($got->{err});
  is(join("\n", grep { $_ eq $expected } split /\n/, findings()), '', '... which ends it');
  lines_of($node, $clean) if $clean;
  is(findings(), '', '... and nothing is left');
}

# What is no leak.

lines_of(
  $node, q{
CREATE MATERIALIZED VIEW kept AS SELECT email, lower(email)::encrypted_text(aes256,salt,gcm) AS low, count(*) AS n FROM t GROUP BY 1, 2;
CREATE MATERIALIZED VIEW empty AS SELECT email::text AS e FROM t WITH NO DATA;
CREATE TABLE same_types (x encrypted_text, y encrypted_text GENERATED ALWAYS AS (lower(x)) STORED, CHECK (x <> 'bare'), CHECK (length(x) > 3));
ALTER TABLE t ADD CONSTRAINT bare CHECK (email <> 'x' AND amount > '-1.5' AND email IS NOT NULL);
CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO same_types VALUES (new.email);
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM t WHERE email = 'x'; END;
CREATE TABLE other (id int, email point, ssn_checked_by_hand point);
CREATE PUBLICATION p FOR TABLE t (id);
CREATE INDEX hashed ON t USING hash (email);
});
is(findings(), '', 'encrypted copies, bare literals and plain columns of a publication are no findings');
lines_of($node, 'DROP MATERIALIZED VIEW kept, empty; DROP RULE r ON t; DROP TABLE same_types, other; DROP PUBLICATION p; DROP FUNCTION f(); DROP INDEX hashed; ALTER TABLE t DROP CONSTRAINT bare');

is(findings(within => q{SET application_name = 'pg_dump'}) =~ s/process \d+/process N/r,
  'warning|sent in clear|process N|pg_dump by user postgres: it writes values in clear, unless its session has set tde_column.io_format = ciphertext', 'a dump that runs');

# A partition key by an IMMUTABLE function; its bounds stand in the catalogs.
attempt($node, 'CREATE TABLE parted (a encrypted_text) PARTITION BY LIST (clear(a))');
is(findings(), 'warning|stored in clear|public.parted|its partition key holds decrypted values, by a function that is declared IMMUTABLE: bounds have them', 'a partition key');
lines_of($node, 'DROP TABLE parted');

# pg_cron, as it stands in the catalogs; a table of this name that is not the extension's is not read.
my $cron = q{CREATE SCHEMA cron; CREATE TABLE cron.job (jobid bigint, command text, database text);
  INSERT INTO cron.job VALUES (7, 'DELETE FROM public.t WHERE email = $$x$$', current_database()), (8, 'VACUUM', current_database()), (9, 'DELETE FROM t', 'elsewhere')};
my $extension = q{INSERT INTO pg_extension SELECT 1000001, 'pg_cron', extowner, extnamespace, extrelocatable, extversion, extconfig, extcondition FROM pg_extension WHERE extname = 'tde_column'};
my $member = q{INSERT INTO pg_depend SELECT 'pg_class'::regclass, 'cron.job'::regclass, 0, 'pg_extension'::regclass, 1000001, 0, 'e'};
is(findings(within => "BEGIN; $cron; $extension"), '', 'a table that is named as that of pg_cron');
is(findings(within => "BEGIN; $cron; $extension; $member"),
  'notice|row capture|job 7 of pg_cron|its command, and what it returns, are kept in clear; it names a table with encrypted columns: t', 'a job of pg_cron');

# As JSON.

my $json = decode_json(lines_of($node, 'SELECT tde_audit_json()'));
my @rows = split /\n/, lines_of($node, 'SELECT severity, topic, object, finding, hint, command FROM tde_audit()');
is_deeply([ map { my $f = $_; join '|', map { $f->{$_} // '' } qw(severity topic object finding hint command) } @{ $json->{findings} } ], \@rows, 'the JSON has the rows');
is_deeply([ grep { ref $_->{pci_dss_4_0_1} ne 'ARRAY' || ref $_->{iso_27001_2022} ne 'ARRAY' } @{ $json->{findings} } ], [], 'with what they belong to');
is($json->{database}, 'postgres', 'and the database');

# docs/compliance.md says the same.

my $page = slurp_file("$FindBin::RealBin/../../docs/compliance.md");
my %mapped = map { /^\| ([a-z ]+) \| ([^|]*) \| ([^|]*) \|/ ? ($1 => "$2|$3") : () } split /\n/, $page;
my @listed = split /\n/, lines_of($node, q{SELECT topic, coalesce(nullif(array_to_string(pci_dss, ', '), ''), '-'), array_to_string(iso_27001, ', ') FROM tde_internal.tde_audit_topics()});
is_deeply({ map { /^([^|]*)\|(.*)$/ ? ($1 => $2) : () } @listed }, { map { $_ => $mapped{$_} } map { /^([^|]*)/ } @listed }, 'docs/compliance.md has the same requirements of each topic');

# Who may look.

lines_of($node, 'CREATE ROLE app LOGIN; CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor');
fails_with($node, 'SELECT tde_audit_json()', { state => '42501' }, 'not everybody sees it', user => 'app');
is(lines_of($node, 'SET ROLE monitor; SELECT tde_audit_json() ? $$findings$$'), 't', 'pg_monitor does');

# ---- tde_discover() ----

lines_of(
  $node, q{
CREATE SCHEMA crm;
CREATE TABLE crm.customer (id int8, card text, account varchar(40), contact jsonb, "no 1" text, dni char(9), pesel text, nir text, order_number text, serial int8, note text, surname text);
INSERT INTO crm.customer SELECT 4000000000000000 + i, '4111 1111 1111 1111', 'DE89370400440532013000', '{"at": "a@example.org"}', '123-45-6789', '12345678Z', '44051401359', '255081416802538',
  '000-00-0000', i, CASE WHEN i % 2 = 0 THEN 'paid by 5500-0055-5555-5559 today' ELSE 'nothing to say' END, 'Secretname' FROM generate_series(1, 3000) i;
CREATE TABLE crm.parted (a int, mail text) PARTITION BY RANGE (a);
CREATE TABLE crm.part PARTITION OF crm.parted FOR VALUES FROM (0) TO (10);
INSERT INTO crm.parted SELECT i, 'q@example.org' FROM generate_series(0, 9) i;
ANALYZE;
});
# each page gives as many rows as the others, and the last one may not have them
my $discover = q{SELECT relation, column_name, looks_like, by_name, round(matches), CASE WHEN sampled BETWEEN 950 AND 1000 THEN 1000 ELSE sampled END FROM tde_discover('crm')};
my $seen     = join "\n",
  'crm.customer|account|IBAN|f|100|1000',
  'crm.customer|card|card number|f|100|1000',
  'crm.customer|contact|e-mail address|f|100|1000',
  'crm.customer|dni|Spanish DNI|t|100|1000',
  'crm.customer|nir|French NIR|f|100|1000',
  'crm.customer|nir|card number|f|100|1000',
  'crm.customer|no 1|US social security number|f|100|1000',
  'crm.customer|note|card number|f|50|1000',
  'crm.customer|pesel|Polish PESEL|t|100|1000',
  'crm.customer|surname|name of a person|t||',
  'crm.parted|mail|e-mail address|f|100|10';
is(lines_of($node, $discover), $seen, 'columns by their values and names');
my $old_strings = $node->pg_version->major < 19 ? 'SET standard_conforming_strings = off;' : '';    # 19 has them no more
is(lines_of($node, "$old_strings $discover"), $seen, '... whatever strings mean to the session');
is(lines_of($node, q{SELECT count(*) FROM tde_discover('crm') d WHERE d::text ~ '4111|Secretname|example'}), '0', 'no value is shown');
foreach my $command (split /\n/, lines_of($node, q{SELECT DISTINCT command FROM tde_discover('crm') ORDER BY 1}))
{
  my $got = attempt($node, $command);
  is($got->{state}, '', $command) or diag($got->{err});
}
is(lines_of($node, $discover), '', 'what has been encrypted is found no more');
lines_of($node, 'DROP SCHEMA crm CASCADE');

# No rights, no values: neither of tables, nor of columns, nor of rows behind a policy, whose function is not called.
lines_of(
  $node, q{
CREATE SCHEMA crm;
GRANT USAGE ON SCHEMA crm TO app;
CREATE FUNCTION crm.trap(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE EXCEPTION 'trap called as %', current_user; END $$;
CREATE TABLE crm.secret (mail_of text);
CREATE TABLE crm.partly (a text, b text);
CREATE TABLE crm.hidden (a text);
INSERT INTO crm.secret VALUES ('a@example.org'); INSERT INTO crm.partly VALUES ('a@example.org', 'a@example.org'); INSERT INTO crm.hidden VALUES ('a@example.org');
GRANT SELECT (a) ON crm.partly TO app; GRANT SELECT ON crm.hidden TO app;
ALTER TABLE crm.hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON crm.hidden USING (crm.trap(a));
CREATE DOMAIN crm.trapped AS text;
CREATE TABLE crm.domains (d crm.trapped);
INSERT INTO crm.domains VALUES ('a@example.org');
ALTER DOMAIN crm.trapped ADD CONSTRAINT c CHECK (crm.trap(VALUE)) NOT VALID;
CREATE VIEW crm.v AS SELECT a, crm.trap(a) FROM crm.partly;
ANALYZE;
});
my $seen_by_app = attempt($node, $discover, user => 'app');
is($seen_by_app->{out}, 'crm.partly|a|e-mail address|f|100|1', 'a role sees what it may read');
like($seen_by_app->{err}, qr/^psql:\S+ NOTICE:  [\w: ]*table crm\.hidden was not read: row-level security applies to it\nHINT:  Have its owner or a role with BYPASSRLS call tde_discover\(\)\.\n(?!.*NOTICE)/s,
  '... and which table policies hide from it');
my $super = attempt($node, $discover);
is("$super->{state}$super->{out}", "crm.domains|d|e-mail address|f|100|1\ncrm.hidden|a|e-mail address|f|100|1\ncrm.partly|a|e-mail address|f|100|1\n"
    . "crm.partly|b|e-mail address|f|100|1\ncrm.secret|mail_of|e-mail address|f|100|1", 'a superuser everything, and no function of theirs is called');

# A table that is locked does not hold it up.
my $locker = session($node);
session_try($locker, 'BEGIN; LOCK TABLE crm.secret');
my $locked = attempt($node, $discover);
like($locked->{err}, qr/NOTICE:.*table crm\.secret was not read/, 'a locked table is left out');
$locker->quit;

# ---- what is read, and how ----

# The function that tde_discover() asks; it looks itself at what the caller may read.
sub sampled
{
  my ($tables, %opts) = @_;
  my $rows = $opts{rows} // 1000;
  my $got = attempt($node, "SELECT relation::regclass, attname, kind, filled, shaped, valid FROM tde_internal.tde_sampled(ARRAY[$tables]::oid[], $rows) WHERE shaped > 0 ORDER BY 1, 2, 3", %opts);
  return $got->{state} || $got->{out};
}
my $mail = 'e-mail address|1|1|1';

is(sampled(q{'crm.secret'::regclass, 'crm.partly'::regclass, 'crm.hidden'::regclass, 'crm.v'::regclass, 'pg_authid'::regclass, 'pg_class_oid_index'::regclass, 1}, user => 'app'),
  "crm.partly|a|$mail", 'a role that asks for others gets no more');
lines_of($node, 'REVOKE USAGE ON SCHEMA crm FROM app');
is(sampled((lines_of $node, "SELECT 'crm.partly'::regclass::oid"), user => 'app'), '', '... and nothing of a schema that it may not use');
is(sampled(q{'crm.v'::regclass, 'crm.secret'::regclass}), "crm.secret|mail_of|$mail", 'no view is read');
is(sampled(q{'crm.secret'::regclass}, rows => 0), '', 'no rows');
is(sampled(q{'crm.secret'::regclass}, rows => -1), '22023', 'fewer than none');

# Code of an owner that PostgreSQL's planner would run, and that of casts and domains; it gets harmful after all that was made.
lines_of(
  $node, q{
CREATE SCHEMA mal; GRANT ALL ON SCHEMA mal TO app;
SET ROLE app;
CREATE FUNCTION mal.trap(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE DOMAIN mal.d AS text CHECK (mal.trap(VALUE)); CREATE DOMAIN mal.l AS text[] CHECK (mal.trap(VALUE::text)); CREATE DOMAIN mal.n AS numeric;
CREATE TABLE mal.t (a text CHECK (mal.trap(a)), b mal.d, c mal.l, d mal.n, e mal.d[], f text GENERATED ALWAYS AS (mal.trap(a)::text || 'a@example.org') STORED);
CREATE INDEX ON mal.t (mal.trap('constant'), a); CREATE INDEX ON mal.t (a) WHERE mal.trap('constant');
CREATE STATISTICS mal.s ON mal.trap('constant'), a FROM mal.t;
INSERT INTO mal.t VALUES ('a@example.org', 'a@example.org', '{"a@example.org"}', 4111111111111111, '{a@example.org}');
ANALYZE mal.t;
CREATE OR REPLACE FUNCTION mal.trap(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'trap called as %', current_user; END $$;
});
is(sampled(q{'mal.t'::regclass}), "mal.t|a|$mail\nmal.t|b|$mail\nmal.t|c|$mail\nmal.t|d|card number|1|1|1", 'expressions of indexes and statistics, CHECKs and domains are not evaluated');

# A table that has changed since the caller's snapshot was taken, was dropped, or changes all the time.
my $early = session($node);
session_try($early, q{SET client_min_messages = error; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1});
lines_of(
  $node, q{
CREATE TABLE crm.gone (a text); CREATE TABLE crm.part (a text); INSERT INTO crm.part VALUES ('a@example.org');
DROP VIEW crm.v; ALTER TABLE crm.partly DROP a, ADD c text DEFAULT 'b@example.org', ALTER b TYPE json USING to_json(b);
INSERT INTO crm.partly (b) VALUES ('{"x": "c@example.org"}'), (NULL);
TRUNCATE crm.secret});
my $gone = lines_of($node, "SELECT 'crm.gone'::regclass::oid");
lines_of($node, 'DROP TABLE crm.gone');
is(session_try($early, "SELECT relation::regclass, attname, kind, filled, shaped, valid FROM tde_internal.tde_sampled(ARRAY['crm.partly'::regclass, $gone, 'crm.secret'::regclass], 9) ORDER BY 2")->{out},
  "crm.partly|b|e-mail address|2|2|2\ncrm.partly|c|e-mail address|3|3|3", 'tables are read as they are now; one that is gone is left out');
session_try($early, 'COMMIT');
my $changing = 'DO $$ BEGIN FOR i IN 1..150 LOOP DROP TABLE IF EXISTS crm.moving; CREATE TABLE crm.moving (a text, b text[]); INSERT INTO crm.moving VALUES ($x$a@example.org$x$); COMMIT;'
  . ' ALTER TABLE crm.moving DROP a, ADD c int8 DEFAULT 4111111111111111; COMMIT; TRUNCATE crm.moving; COMMIT; END LOOP; END $$;';
$early->query_until(qr/begun/, "\\echo begun\n$changing\nCREATE TABLE crm.over ();\n");
my ($rounds, %states) = (0);
until (lines_of($node, q{SELECT to_regclass('crm.over') IS NOT NULL}) eq 't')
{
  $states{ attempt($node, $discover)->{state} }++;
  $rounds++;
}
is(join(',', %states), ",$rounds", "while a table changes: $rounds times");
is(session_try($early, 'SELECT 1')->{state}, '', '... and that was not disturbed');
$early->quit;

# Values out of line, compressed, of large arrays and documents; columns that rows do not have yet; partitions with columns in another order.
lines_of(
  $node, q{
CREATE SCHEMA large;
CREATE TABLE large.t (a text, b text, c json, d jsonb, e text[], f varchar[], g text);
ALTER TABLE large.t ALTER a SET STORAGE EXTERNAL, ALTER d SET STORAGE EXTERNAL, ALTER e SET STORAGE EXTERNAL;
INSERT INTO large.t SELECT 'a@example.org ' || repeat('x', 100000), 'b@example.org ' || repeat('x', 100000), json_build_array('c@example.org', repeat('x', 100000)),
  jsonb_build_object('k', ARRAY['d@example.org'], 'n', 4111111111111111, 'z', repeat('x', 100000)), ARRAY['e@example.org', NULL, repeat('x', 100000)],
  ARRAY['f@example.org'], repeat('x', 2000) || ' g@example.org';
ALTER TABLE large.t ADD late text DEFAULT 'h@example.org', ADD filled int;
CREATE TABLE large.p (a int, x text, b text) PARTITION BY RANGE (a);
CREATE TABLE large.p1 PARTITION OF large.p FOR VALUES FROM (0) TO (10);
CREATE TABLE large.p2 (b text, dropped int, x text, a int); ALTER TABLE large.p2 DROP dropped;
ALTER TABLE large.p ATTACH PARTITION large.p2 FOR VALUES FROM (10) TO (20);
INSERT INTO large.p VALUES (1, 'x', 'x'), (2, 'x', NULL), (3, 'x', 'x'), (11, 'x', 'a@example.org');
CREATE TABLE large.half (a text); INSERT INTO large.half SELECT CASE WHEN i > 20000 THEN 'a@example.org' ELSE 'x' || i END FROM generate_series(1, 40000) i;
CREATE TABLE large.empty (a text);
});
is(sampled(q{'large.t'::regclass}), join("\n", map { "large.t|$_" } "a|$mail", "b|$mail", "c|$mail", 'd|card number|1|1|1', "d|$mail", "e|$mail", "f|$mail", "late|$mail"),
  'large values, and such as no row has');
is(lines_of($node, q{SELECT relation, column_name, matches, sampled FROM tde_discover('large') WHERE relation = 'large.p'::regclass}), 'large.p|b|33.3|3', 'of all partitions together');
my ($part, $of) = split /\|/, lines_of($node, q{SELECT shaped, filled FROM tde_internal.tde_sampled(ARRAY['large.half'::regclass], 1000)});
cmp_ok($of, '<=', 1000, "a sample has as many rows as asked for: $of");
cmp_ok($of, '>', 950, '... but for those that its last page lacks');
cmp_ok(abs($part - 500), '<', 200, "... of all over the table: $part of the second half");

# Every shape: what is one, what only looks so (S), what is none.
my %shapes = (
  'card number' => [
    [ '4111111111111111', '4111 1111 1111 1111', '4111-1111-1111-1111', 'no. 4111111111111111, thanks', '4111 1111 1111 1111 12/27', '5500005555555559', '378282246310005', '6011000990139424', "\x{e9}4111111111111111" ],
    [ '4111111111111112', '4111 1111 1111 1121' ],
    [ '1111111111111117', '411111111111', 'x4111111111111111', '4111111111111111x', '4111111111111111_', '41111111111111111111111', '4111  1111  1111  1111' ] ],
  'IBAN' => [
    [ 'DE89370400440532013000', 'DE89 3704 0044 0532 0130 00', 'IBAN DE89370400440532013000 by', 'GB82 WEST 1234 5698 7654 32', 'DE89370400440532013000 PAID', 'NO9386011117947', 'MT84MALT011000012345MTLCAST001S' ],
    [ 'DE88370400440532013000' ], [ 'de89370400440532013000', 'DE893704004405', 'xDE89370400440532013000' ] ],
  'e-mail address' => [
    [ 'a@b.de', 'A.b_c%d+e-f@x-y.example.org', 'mailto:a@b.co.uk!', "m\x{fc}ller\@m\x{fc}ller.de", 'a@@b@c.de', '<a@b.info>' ], [],
    [ '@example.org', 'a@example', 'a@b.c', 'a@.org', 'a @b.de', 'a@b..de', 'a@1.2', 'a@' ] ],
  'US social security number' => [ [ '123-45-6789', '(899-99-9999)' ], [ '000-45-6789', '666-45-6789', '900-45-6789', '123-00-6789', '123-45-0000' ], [ '123456789', '1123-45-6789', '123-45-67890' ] ],
  'UK national insurance number' => [ [ 'AB123456C', 'AB 12 34 56 C' ], [ 'DB123456C', 'AO123456C', 'AB123456E' ], [ 'AB12345C', 'ab123456c' ] ],
  'French NIR' => [ [ '255081416802538', '2 55 08 14 168 025 38' ], [ '255081416802539', '355081416802538', '255131416802538' ], [ '2550814168025381' ] ],
  'Spanish DNI' => [ [ '12345678Z', '12345678-Z', '00000000T' ], [ '12345678A' ], [ '12345678', '12345678ZZ' ] ],
  'Italian codice fiscale' => [ [ 'RSSMRA85T10A562S' ], [ 'RSSMRA85F10A562S' ], [ 'RSSMRA85T10A562' ] ],
  'Polish PESEL' => [ [ '44051401359', '02070803628' ], [ '44051401358', '44131401359', '44054001359' ], [ '4405140135' ] ],
  'Brazilian CPF' => [ [ '123.456.789-09' ], [], [ '123.456.789-0', '12345678909' ] ]);
is(join(',', sort keys %shapes), lines_of($node, q{SELECT string_agg(kind, ',' ORDER BY kind COLLATE "C") FROM (SELECT DISTINCT kind FROM tde_internal.tde_sampled(ARRAY['large.p1'::regclass], 9)) k}),
  'every shape is tried');
foreach my $kind (sort keys %shapes)
{
  my @cases = map { my $wanted = $_; map { [ $wanted, $_ ] } @{ $shapes{$kind}[$wanted] } } 0 .. 2;
  lines_of($node, 'DROP TABLE IF EXISTS large.one; CREATE TABLE large.one (' . join(', ', map { "c$_ text" } 0 .. $#cases) . '); INSERT INTO large.one VALUES (' . join(', ', map { "E'" . ($_->[1] =~ s/[^\x20-\x7e]/sprintf '\\u%04x', ord $&/ger) . "'" } @cases) . ')');
  my %found = map { /^(\w+)\|(.*)/ ? ($1 => $2) : () } split /\n/, lines_of($node, "SELECT attname, shaped, valid FROM tde_internal.tde_sampled(ARRAY['large.one'::regclass], 9) WHERE kind = '$kind'");
  my @wanted = ('1|1', '1|0', 'none');
  is($found{"c$_"} // 'none', $wanted[ $cases[$_][0] ], "$kind: $cases[$_][1]") foreach 0 .. $#cases;
}

# ---- 2,000 tables ----

lines_of($node, 'CREATE DATABASE many');
lines_of($node, q{CREATE EXTENSION tde_column}, db => 'many');
attempt($node, q{
DO $$ BEGIN FOR i IN 1..2000 LOOP
  EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, name %s, email %s, phone varchar(20), amount numeric(12,2), status text CHECK (status IN (''a'', ''b'')), total numeric GENERATED ALWAYS AS (amount * 2) STORED)', i,
    CASE WHEN i % 2 = 0 THEN 'encrypted_text' ELSE 'text' END, CASE WHEN i % 3 = 0 THEN 'encrypted_text(nosalt)' ELSE 'text' END);
  EXECUTE format('CREATE INDEX ON t%s (name); CREATE INDEX ON t%1$s (lower(phone))', i);
  IF i % 200 = 0 THEN COMMIT; END IF;
END LOOP; END $$;
ANALYZE;
CREATE FUNCTION cpu() RETURNS numeric LANGUAGE sql VOLATILE AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1000000000 $$}, db => 'many');
# time of this process, not of what else the machine has to do; the best of three
my ($best) = sort { $a <=> $b } map {
  my ($before, $count, $after) = split /\n/, lines_of($node, 'SELECT cpu(); SELECT count(*) FROM tde_audit(); SELECT cpu()', db => 'many');
  cmp_ok($count, '>', 1000, "$count findings");
  $after - $before
} 1 .. 3;
cmp_ok($best, '<=', 2, sprintf 'an audit of 2,000 tables takes %.2f s of 2', $best);

# Rows in 2,000 plain tables.
lines_of($node, q{
CREATE SCHEMA full_ones;
DO $$ BEGIN FOR i IN 1..2000 LOOP
  EXECUTE format('CREATE TABLE full_ones.t%s (id int PRIMARY KEY, card text, mail varchar(80), note text, details jsonb, amount numeric, number int8)', i);
  EXECUTE format('INSERT INTO full_ones.t%s SELECT i, $x$4111 1111 1111 1111$x$, $x$a@example.org$x$, repeat($x$Some 12 words $x$, 20), $x${"a": [1, "b"]}$x$, i, i FROM generate_series(1, 100) i', i);
  IF i % 200 = 0 THEN COMMIT; END IF;
END LOOP; END $$}, db => 'many');
my $sampling = q{SELECT count(*) FROM tde_discover('full_ones')};
($best) = sort { $a <=> $b } map {
  my ($before, $count, $after) = split /\n/, lines_of($node, "SELECT cpu(); $sampling; SELECT cpu()", db => 'many');
  is($count, 4000, 'two columns of each table are found');
  $after - $before
} 1 .. 3;
cmp_ok($best, '<=', 5, sprintf 'tde_discover() of 2,000 tables with 100 rows each takes %.2f s of 5', $best);

# It holds no lock of a table that it has read, shows how far it is, and ends when it is told to.
my $many = session($node, db => 'many');
is(session_try($many, "BEGIN; $sampling; SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation >= 't1'::regclass AND relation IN (SELECT oid FROM pg_class WHERE relkind = 'r')")->{out},
  "4000\n0", 'no lock is kept');
my $pid = session_try($many, 'COMMIT; SELECT pg_backend_pid()')->{out};
$many->query_until(qr/begun/, "\\echo begun\nDO \$\$ BEGIN LOOP PERFORM tde_discover('full_ones'); END LOOP; END \$\$;\n");
$node->poll_query_until('many', "SELECT count(*) = 1 FROM tde.progress WHERE pid = $pid AND phase = 'looking at samples' AND table_id IS NULL AND blocks_total = 2000 AND blocks_done > 0")
  or die 'the view does not show it';
is(lines_of($node, "SELECT pg_cancel_backend($pid)"), 't', 'canceled');
is(session_try($many, 'SELECT 1')->{state}, '57014', '... and it ends');
$many->quit;
is(lines_of($node, 'SELECT count(*) FROM tde.progress'), '0', 'the view shows it no longer');

$node->stop;
done_testing();
