# A superuser calls whatever the extension has for tables on those of somebody who wants to be one, and who has put code of his own into
# every place where an expression can stand, in a constant or a call: none of it ever runs as the superuser.
#
# A constant is read again by its type's input function.  That of an array of a domain evaluates the domain's CHECK; other types come to the
# same.  The constant's value is the name of the place, which the trap writes into the server log together with the current user.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('owner_code', extension => 1, conf => "tde_column.passphrase_command = 'echo owner-passphrase'\nfsync = off\nlog_error_verbosity = terse\n");
$node->start;
my $me = lines_of($node, 'SELECT quote_ident(current_user)');
lines_of($node, q(
SELECT tde_wallet_create('owner-passphrase');
CREATE ROLE mallory LOGIN; CREATE SCHEMA mal AUTHORIZATION mallory; GRANT CREATE ON DATABASE postgres TO mallory));

# What they do with the rights that they get: become somebody else, have something run later, when others' rights are back.
my $traps = q(
CREATE TABLE mal.later (what text);
CREATE FUNCTION mal.at_the_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE LOG 'TRAP %, later, ran as %', new.what, current_user; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER at_the_end AFTER INSERT ON mal.later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mal.at_the_end();
CREATE FUNCTION mal.trap(what text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  command text;
BEGIN
  RAISE LOG 'TRAP % ran as %', what, current_user;
  FOREACH command IN ARRAY ARRAY['RESET ROLE', 'RESET SESSION AUTHORIZATION', 'ALTER ROLE mallory SUPERUSER', format('INSERT INTO mal.later VALUES (%L)', what)] LOOP
    BEGIN EXECUTE command; EXCEPTION WHEN OTHERS THEN NULL; END;
  END LOOP;
  PERFORM set_config('search_path', 'public, mal', false);
  RAISE LOG 'TRAP % ran on as %', what, current_user;
  RETURN true;
END $$;
CREATE FUNCTION mal.pure(what text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM mal.trap(what); RETURN true; END $$;
CREATE FUNCTION mal.opens(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM mal.trap('opened'); RETURN what; END $$;
CREATE FUNCTION mal.touched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE DOMAIN mal.dom AS text CHECK (mal.trap(value));
CREATE TYPE mal.fields AS (f mal.dom);
CREATE DOMAIN mal.list AS mal.dom[];
CREATE TYPE mal.dom_range AS RANGE (subtype = mal.dom, multirange_type_name = mal.dom_ranges));
is(attempt($node, $traps, user => 'mallory')->{err}, '', 'mallory sets traps');
# a function canonical can be written in C only, at first
lines_of($node, q(CREATE TYPE mal.text_range; CREATE FUNCTION mal.canonical(mal.text_range) RETURNS mal.text_range LANGUAGE internal IMMUTABLE STRICT AS 'int4range_canonical';
CREATE TYPE mal.text_range AS RANGE (subtype = text, canonical = mal.canonical);
ALTER TYPE mal.text_range OWNER TO mallory; ALTER FUNCTION mal.canonical(mal.text_range) OWNER TO mallory));
is(
  attempt($node, q(CREATE OR REPLACE FUNCTION mal.canonical(mal.text_range) RETURNS mal.text_range LANGUAGE plpgsql IMMUTABLE STRICT AS
  $$ BEGIN PERFORM mal.trap(lower($1)); RETURN $1; END $$), user => 'mallory')->{err},
  '', '... and one in what was in C');

# Ways to have code run: the type, and a value of it that is named %s.
my %kinds = (
  array      => [ 'mal.dom[]',      q('{%s}'::mal.dom[]) ],
  composite  => [ 'mal.fields',     q('(%s)'::mal.fields) ],
  nested     => [ 'mal.fields[]',   q('{(%s)}'::mal.fields[]) ],
  domain     => [ 'mal.list',       q('{%s}'::mal.list) ],
  range      => [ 'mal.dom_range',  q('[%s,%1$s]'::mal.dom_range) ],
  multirange => [ 'mal.dom_ranges', q('{[%s,%1$s]}'::mal.dom_ranges) ],
  canonical  => [ 'mal.text_range', q('[%s,%1$s]'::mal.text_range) ],
  call       => [ 'boolean',        q(mal.pure('%s')) ]);

# Places: what makes one for a table T with a column a, from a condition E that is true, and a value V of type X.
my %places = (
  view_list       => 'CREATE VIEW T_view AS SELECT a, E AS e FROM T',
  view_where      => 'CREATE VIEW T_view AS SELECT a FROM T WHERE E',
  view_inside     => q(CREATE VIEW T_view AS WITH q AS (SELECT V AS v) SELECT a, (SELECT count(*) FROM q, (VALUES (V)) w) FROM T GROUP BY a HAVING E LIMIT CASE WHEN E THEN 1 END),
  view_default    => 'CREATE VIEW T_view AS SELECT a, x FROM T; ALTER VIEW T_view ALTER x SET DEFAULT V',
  view_of_view    => 'CREATE VIEW T_view AS SELECT a FROM T; CREATE VIEW T_view2 AS SELECT a, E AS e FROM T_view',
  view_rule       => 'CREATE VIEW T_view AS SELECT a FROM T; CREATE RULE r AS ON INSERT TO T_view DO INSTEAD INSERT INTO T (x) SELECT V WHERE E',
  materialized    => 'CREATE MATERIALIZED VIEW T_view AS SELECT a, E AS e FROM T WITH NO DATA',
  materialized_index => 'CREATE MATERIALIZED VIEW T_view AS SELECT a FROM T WITH NO DATA; CREATE INDEX ON T_view (a, (a IS NULL OR E)) WHERE E',
  rule_where      => 'CREATE RULE r AS ON UPDATE TO T WHERE new.a = $$$$ AND E DO ALSO NOTHING',
  rule_action     => 'CREATE RULE r AS ON UPDATE TO T WHERE new.a = $$$$ DO ALSO INSERT INTO T (x) VALUES (V)',
  trigger_when    => 'CREATE TRIGGER t BEFORE UPDATE OF a ON T FOR EACH ROW WHEN (new.a IS NOT NULL AND E) EXECUTE FUNCTION mal.touched()',
  policy_using    => 'CREATE POLICY p ON T USING (a <> $$$$ AND E)',
  policy_check    => 'CREATE POLICY p ON T FOR INSERT WITH CHECK (a <> $$$$ AND E)',
  check           => 'ALTER TABLE T ADD CHECK (a <> $$$$ OR E)',
  check_constant  => 'ALTER TABLE T ADD CHECK (E)',
  check_invalid   => 'ALTER TABLE T ADD CHECK (a <> $$$$ OR E) NOT VALID',
  default         => 'ALTER TABLE T ALTER a SET DEFAULT CASE WHEN E THEN $$$$ END',
  default_other   => 'ALTER TABLE T ALTER x SET DEFAULT V',
  not_null        => 'ALTER TABLE T ALTER a SET NOT NULL, ADD CHECK (id IS NULL OR E)',
  generated       => 'ALTER TABLE T ADD g boolean GENERATED ALWAYS AS (id IS NULL OR E) STORED',
  index_expression => 'CREATE INDEX ON T (a, (id IS NULL OR E))',
  index_of_column => 'CREATE INDEX ON T ((a IS NULL OR E))',
  index_predicate => 'CREATE UNIQUE INDEX ON T (a) WHERE E',
  index_other     => 'CREATE INDEX ON T ((id IS NULL OR E)) WHERE E',
  exclusion       => 'ALTER TABLE T ADD EXCLUDE (a WITH =) WHERE (E)',
  statistics      => 'CREATE STATISTICS T_statistics ON a, (id IS NULL OR E) FROM T',
  domain_check    => 'CREATE DOMAIN T_domain AS int DEFAULT CASE WHEN E THEN 1 END CHECK (value > 0 OR E); ALTER TABLE T ADD d T_domain',
  partition_key   => 'DROP TABLE T; CREATE TABLE T (id int, a text, x X) PARTITION BY LIST ((id + CASE WHEN E THEN 1 ELSE 0 END)); CREATE TABLE T_part PARTITION OF T DEFAULT; INSERT INTO T SELECT g, $$x$$ || g FROM generate_series(1, 3) g',
  partition_bound => 'DROP TABLE T; CREATE TABLE T (id int, a text, x X) PARTITION BY LIST (x); CREATE TABLE T_part PARTITION OF T FOR VALUES IN (V); INSERT INTO T VALUES (1, $$x1$$, V)',
  partition_check => 'DROP TABLE T; CREATE TABLE T (id int, a text, x X) PARTITION BY LIST (id); CREATE TABLE T_part PARTITION OF T (CHECK (a <> $$$$ OR E)) FOR VALUES IN (1); INSERT INTO T VALUES (1, $$x1$$)',
);

# What is refused: functions of others in an index of the column; online what docs/moving-data.md lists, and indexes whose constants the
# superuser would have to read.  Calls in an index are evaluated as its table's owner, whoever makes it.
sub is_refused
{
  my ($kind, $place, $online) = @_;
  return $online || $kind eq 'call' if $place eq 'index_of_column';
  return $online && ($place eq 'exclusion' || ($place =~ /^index_(?:expression|predicate)$/ && $kind ne 'call'));
}

# Some kinds go everywhere, the others where they would be treated in another way if they were.
my %everywhere = map { $_ => 1 } qw(array call canonical);
sub places_of { my ($kind) = @_; return grep { $everywhere{$kind} || /^(?:view_where|check|default|index_predicate)$/ } sort keys %places; }

# The places of the tables whose column is encrypted then.
sub convertible { my ($kind, $online) = @_; return join ' ', grep { !is_refused($kind, $_, $online) } places_of($kind); }

sub fill
{
  my ($sql, $table, $kind, $place) = @_;
  my ($type, $value) = @{ $kinds{$kind} };
  $value = sprintf($value, "${kind}_$place");
  $sql =~ s/\bT(?=\b|_)/$table/g;
  $sql =~ s/\bE\b/(($value) IS NOT NULL)/g;
  $sql =~ s/\bV\b/$value/g;
  $sql =~ s/\bX\b/$type/g;
  return $sql;
}

sub table_of { my ($kind, $place) = @_; return "mal.${kind}_$place"; }

sub setup
{
  my ($kind) = @_;
  return join '', map {
    my $table = table_of($kind, $_);
    fill("CREATE TABLE T (id int, a text, x X); INSERT INTO T SELECT g, 'x' || g FROM generate_series(1, 3) g; $places{$_};\n", $table, $kind, $_)
  } places_of($kind);
}

# As a superuser, whose session stays as it is; an error ends a step, not the script.  What each said.
my %called;
sub superuser
{
  my (@steps) = @_;
  my ($out, $err) = ('', '');
  $called{$_} = 1 foreach map { /\b(tde_\w+)\(/g } @steps;
  $node->psql('postgres', join("\n", 'SET client_min_messages = error;', @steps, 'SHOW search_path;'), stdout => \$out, stderr => \$err, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=default', '-v', 'SHOW_CONTEXT=never' ]);
  like($out, qr/^"\$user", public\z/m, 'the search path is what it was');
  return "$out\n$err";
}

# The traps that ran meanwhile, as whom.
my $offset = 0;
sub trapped
{
  my $log = log_since($node, $offset);
  my %ran;
  $ran{$2}{$1} = 1 while $log =~ /TRAP (\S+?),?(?: later,)? ran (?:on )?as (\S+)/g;
  $offset = log_offset($node);
  return %ran;
}

sub encrypted
{
  my ($kind) = @_;
  my $tables = lines_of($node, "SELECT string_agg(substr(relname, length('${kind}_') + 1), ' ' ORDER BY relname COLLATE \"C\") FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
    WHERE relnamespace = 'mal'::regnamespace AND starts_with(relname, '${kind}_') AND relkind IN ('r', 'p') AND NOT relispartition AND attname = 'a' AND format_type(atttypid, NULL) = 'encrypted_text'");
  return $tables;
}

# Nobody but mallory; and to show that the traps are there: he did.
sub nobody_else
{
  my ($name, $expect) = @_;
  my %ran = trapped();
  my $mallorys = delete $ran{mallory};
  is(join(' ', map { my $who = $_; map { "$_ as $who" } sort keys %{ $ran{$who} } } sort keys %ran), '', "$name: nothing of mallory's ran as somebody else");
  isnt(join(' ', sort keys %{ $mallorys // {} }), '', "$name: ... though it did run") if $expect;
}

foreach my $kind (sort keys %kinds)
{
  lines_of($node, 'ALTER ROLE mallory NOSUPERUSER');
  my $got = attempt($node, setup($kind), user => 'mallory');
  is($got->{err} =~ s/^.*(?:NOTICE|WARNING|LOCATION|DETAIL|HINT).*\n?//gmr, '', "$kind: mallory has tables") or next;
  my @tables = map { table_of($kind, $_) } places_of($kind);
  is(attempt($node, fill('CREATE PUBLICATION p FOR TABLE T WHERE (E)', $tables[0], $kind, 'publication'), user => 'mallory')->{state}, '0A000', "$kind: no place for it in a publication");
  trapped();

  my $said = superuser(map { "CALL tde_encrypt_columns('$_', '{a}');" } @tables);
  nobody_else("$kind, encrypted offline", 1);
  is(encrypted($kind), convertible($kind, 0), "$kind: what was encrypted")
    or diag($said);

  superuser(map { "CALL tde_decrypt_columns('$_');" } @tables);
  nobody_else("$kind, decrypted offline", 1);
  is(encrypted($kind), '', "$kind: what is left encrypted");

  superuser(map { ("CALL tde_take_over_column('$_', 'a', 'mal.opens(text)');", "CALL tde_abort_conversion('$_', 'a');") } @tables);
  nobody_else("$kind, taken over", 1);

  foreach my $direction ('encrypt', 'decrypt')
  {
    $said = superuser(
      map {
        my $start = "CALL tde_${direction}_column('$_', 'a', online => true);";
        ($start, "CALL tde_abort_conversion('$_', 'a');", $start, "SELECT tde_conversion_indexes('$_', 'a') \\gexec", "CALL tde_finish_conversion('$_', 'a');")
      } @tables);
    nobody_else("$kind, ${direction}ed online", 1);
    is(encrypted($kind), $direction eq 'decrypt' ? '' : convertible($kind, 1), "$kind: what is encrypted, ${direction}ed online")
      or diag($said);
    next if $direction eq 'decrypt';

    superuser(
      'SELECT tde_rotate_key();', (map { ("CALL tde_rekey_table('$_');", "SELECT count(*) FROM tde_key_usage('$_');", "CALL tde_wipe_free_space('$_');", "SELECT count(*) FROM tde_foreign_values('$_');", "SELECT count(*) FROM tde_verify_table('$_');") } @tables),
      (map { ("SELECT tde_set_mask('$_', 'a', 'constant');", "SELECT tde_drop_mask('$_', 'a');") } @tables),
      'SELECT count(*) FROM tde_verify_database();', 'CALL tde_rekey_database();', 'SELECT count(*) FROM tde_discover();', 'SELECT tde_audit_json();',
      'CALL tde_wipe_catalogs();', 'SELECT count(*) FROM tde_audit();', 'SELECT tde_refresh_types();',
      "SELECT tde_drop_key_version('default', min(version)) FROM tde.keys WHERE slot = 0;",
      (map { "SELECT count(*) FROM $_;" } qw(tde.encrypted_columns tde.conversions tde.dba_encrypted_columns tde.all_encrypted_columns tde.status)),
      # not of partitions: for these psql has PostgreSQL compute the partition key, as whoever asks
      'SET tde_column.transparent_catalog = on;', "\\d+ mal.${kind}_[^p]*", '\\dT+ mal.*');
    nobody_else("$kind, re-encrypted, counted, wiped, audited, shown");
    foreach my $format ('plaintext', 'ciphertext')
    {
      local $ENV{PGOPTIONS} = "-c tde_column.io_format=$format";
      $node->command_ok([ 'pg_dump', '--schema', 'mal', '--file', $node->basedir . "/$kind.dump", 'postgres' ], "$kind: dumped as $format");
    }
    nobody_else("$kind, dumped");
  }
  lines_of($node, 'DROP TABLE ' . join(', ', @tables) . ' CASCADE');
}

#
# Who must read a constant is named, and what he would run
#
my $boom = q('{boom}'::mal.dom[] IS NOT NULL);
is(attempt($node, "CREATE TABLE mal.named (a text); INSERT INTO mal.named VALUES ('x'); CREATE INDEX named_index ON mal.named (a) WHERE $boom", user => 'mallory')->{err} =~ s/^.*LOCATION.*\n?//gmr,
  '', 'an index with a constant of its own');
trapped();
fails_with($node, q(CALL tde_encrypt_column('mal.named', 'a', online => true)), {
  state => '2BP01', hint => qr/^Drop them/,
  detail => qr/^index mal\.named_index, with a constant of type mal\.dom\[\], whose literal could run code of others as role "$me": role "mallory" must convert the column$/ },
  'online');
nobody_else('refused');
my $enum = q(CREATE TYPE mal.color AS ENUM ('red'); CREATE INDEX named_color ON mal.named (a) WHERE 'red'::mal.color IS NOT NULL; DROP INDEX mal.named_index);
is(attempt($node, $enum, user => 'mallory')->{state}, '', 'an enum runs nothing');
fails_with($node, q(CALL tde_encrypt_column('mal.named', 'a', online => true)), { state => '2BP01', detail => qr/^index mal\.named_color, with a constant of type mal\.color/ },
  'but another type could have its name, when it is read');
is(attempt($node, q(CALL tde_encrypt_column('mal.named', 'a', online => true)), user => 'mallory')->{state}, '', 'the owner begins');
fails_with($node, q(SELECT tde_conversion_indexes('mal.named', 'a')), { state => '2BP01', detail => qr/role "mallory" must convert/ }, 'a superuser gets no text to run');
my $commands = attempt($node, q(SELECT tde_conversion_indexes('mal.named', 'a')), user => 'mallory')->{out};
like($commands, qr/^CREATE INDEX CONCURRENTLY/, 'the owner does');
is(attempt($node, $commands, user => 'mallory')->{state}, '', '... and runs it');
fails_with($node, q(CALL tde_finish_conversion('mal.named', 'a')), { state => '2BP01' }, 'a superuser does not finish it');
is(attempt($node, q(CALL tde_finish_conversion('mal.named', 'a')), user => 'mallory')->{state}, '', 'the owner does');

# who makes the view runs the trap himself
lines_of($node, "CREATE VIEW public.supers AS SELECT a FROM mal.named WHERE $boom; ALTER ROLE mallory NOSUPERUSER");
trapped();
foreach my $online ('false', 'true')
{
  fails_with($node, "CALL tde_decrypt_column('mal.named', 'a', online => $online)",
    { state => '2BP01', detail => qr/^view public\.supers, with a constant of type mal\.dom\[\], whose literal could run code of others as role "$me"$/m }, "a superuser's view, online $online");
}
nobody_else("a superuser's view");
lines_of($node, 'DROP VIEW public.supers');

fails_with($node, q(SET ROLE mallory; CREATE TEMP VIEW temporary AS SELECT a FROM mal.named; RESET ROLE; CALL tde_decrypt_column('mal.named', 'a')),
  { state => '2BP01', detail => qr/^view temporary, which is temporary, and of another role/ }, 'what a restricted operation cannot make');

#
# Nobody becomes another one by the function that runs commands as owners
#
my $as_postgres = q(SELECT tde_internal.tde_run_as(10, 'ALTER ROLE mallory SUPERUSER'));
fails_with($node, $as_postgres, { state => '42501', hint => qr/^GRANT $me TO mallory;$/ }, 'not a member', user => 'mallory');
lines_of($node, 'CREATE ROLE admin LOGIN; GRANT ' . $me . ' TO admin; CREATE FUNCTION public.lent() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN PERFORM '
  . ($as_postgres =~ s/^SELECT //r) . '; END$$; ALTER FUNCTION public.lent() OWNER TO admin');
fails_with($node, 'SELECT public.lent()', { state => '42501' }, q(a member, in a function that lends others the member's rights), user => 'mallory');

# ... whatever they are called with
foreach my $call ([ 'tde_run_as(99999999, $$SELECT$$)', '42704' ], [ 'tde_lock(99999999)', '42P01' ], [ q(tde_definition('pg_class', 'mal.named'::regclass)), '' ],
  [ q(tde_definition('pg_type', 'mal.dom'::regtype)), '22023' ], [ q(tde_foreign_constant('pg_type', 'mal.dom'::regtype, 10)), '22023' ],
  [ q(tde_relation_of('pg_type', 'mal.dom'::regtype)), '22023' ], [ q(tde_relation_of('pg_class', 99999999)), '' ],
  [ q(tde_foreign_owner('pg_attrdef', 99999999, 10)), '' ], [ q(tde_foreign_owner('pg_extension', 99999999, 10)), '' ], [ q(tde_foreign_owner('pg_proc', 99999999, 10)), '' ],
  [ 'tde_constant_default(99999999, 1::int2)', '' ], [ q(tde_constant_default('mal.named'::regclass, 999::int2)), '' ], [ q(tde_constant_default('mal.named'::regclass, -1::int2)), '' ])
{
  is(attempt($node, "SELECT tde_internal.$call->[0]")->{state}, $call->[1], $call->[0]);
}

#
# Children of other roles, and names that others can give anew: by the schema's owner, in pg_temp
#
my $spies = q(
CREATE FUNCTION mal.spy(what text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM mal.trap('spy'); RETURN true; END $$;
CREATE FUNCTION mal.plant(what text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF what = 'now' AND to_regtype('pg_temp.seed') IS NOT NULL THEN ALTER DOMAIN pg_temp.seed RENAME TO state; END IF;
  RETURN true;
END $$;
CREATE DOMAIN mal.planter AS text CHECK (mal.plant(value)));
is(attempt($node, $spies, user => 'mallory')->{state}, '', 'mallory sets other traps');

foreach my $family ([ 'partition', '(mal.spy(a))' ], [ 'heir', q((a = ANY ('{heir}'::mal.dom[]) OR true)) ])
{
  my ($name, $check) = @$family;
  lines_of($node, $name eq 'partition' ?
    'CREATE TABLE public.parent (id int, a text) PARTITION BY LIST (id); CREATE TABLE mal.partition PARTITION OF public.parent FOR VALUES IN (1); INSERT INTO public.parent VALUES (1, $$x$$)' :
    'CREATE TABLE public.parent (id int, a text); CREATE TABLE public.between () INHERITS (public.parent); CREATE TABLE mal.heir () INHERITS (public.between)');
  lines_of($node, "ALTER TABLE mal.$name OWNER TO mallory");
  is(attempt($node, "ALTER TABLE mal.$name ADD CONSTRAINT c CHECK $check", user => 'mallory')->{state}, '', "mallory has a $name of a superuser's table");
  my $expected = $name eq 'partition' ? { state => '42501', detail => qr/^table mal\.partition$/, hint => qr/^ALTER TABLE mal\.partition OWNER TO $me;$/ } :
    { state => '2BP01', detail => qr/^constraint c on table mal\.heir, with a constant of type mal\.dom\[\], whose literal could run code of others as role "$me"$/ };
  trapped();
  fails_with($node, q(CALL tde_encrypt_column('public.parent', 'a')), $expected, "a $name of another role");
  nobody_else("a $name");
  lines_of($node, "ALTER TABLE mal.$name OWNER TO CURRENT_USER; ALTER TABLE mal.$name DROP CONSTRAINT c");
  is(attempt($node, q(CALL tde_encrypt_column('public.parent', 'a')))->{state}, '', "a $name of the same role");
  lines_of($node, 'DROP TABLE public.parent CASCADE');
}

lines_of($node, 'CREATE ROLE landlord');
lines_of($node, 'CREATE DATABASE owned OWNER landlord');
lines_of($node, q(CREATE SCHEMA mine; CREATE EXTENSION tde_column; CREATE TYPE public.state AS ENUM ('on');
CREATE TABLE mine.t (a text CONSTRAINT c CHECK (a <> '' OR '{on}'::public.state[] IS NOT NULL))), db => 'owned');
my $convert = q(CALL tde_encrypt_column('mine.t', 'a'));
fails_with($node, $convert, { state => '2BP01', detail => qr/^constraint c on table mine\.t, with a constant of type public\.state\[\]/ },
  "a type in the schema of the database's owner", db => 'owned');
lines_of($node, 'ALTER DATABASE owned OWNER TO CURRENT_USER');
is(attempt($node, $convert, db => 'owned')->{state}, '', '... who is a superuser');

lines_of($node, "REVOKE $me FROM admin; CREATE TYPE public.state AS ENUM ('on')");
is(attempt($node, q(CREATE TABLE mal.planted (a text); CREATE VIEW mal.planting AS SELECT a, '{now}'::mal.planter[] FROM mal.planted), user => 'mallory')->{state}, '', "mallory's view gives a type another one's name");
lines_of($node, q(CREATE VIEW public.reading AS SELECT a, '{on}'::public.state[] FROM mal.planted));
trapped();
fails_with($node, q(SET ROLE mallory; CREATE DOMAIN pg_temp.seed AS text CHECK (mal.spy(value)); RESET ROLE; CALL tde_encrypt_column('mal.planted', 'a')), {
  state => '55000', message => qr/^this session has temporary objects/, detail => qr/^Role "mallory" owns type .*, which commands of role "$me" could find/, hint => qr/^DISCARD TEMP;/ }, 'a type in pg_temp');
nobody_else('a type in pg_temp');
lines_of($node, 'DROP VIEW mal.planting');
is(attempt($node, q(CALL tde_encrypt_column('mal.planted', 'a')))->{state}, '', '... in a session without one');
lines_of($node, 'DROP VIEW public.reading');

#
# Nothing is forgotten
#
superuser(map { "SELECT tde_create_type('$kinds{$_}[0]');" } grep { $_ ne 'call' } sort keys %kinds);
nobody_else('types made of them');
my $functions = lines_of($node, q(SELECT string_agg(DISTINCT proname, ' ') FROM pg_proc JOIN pg_depend d ON d.objid = pg_proc.oid AND classid = 'pg_proc'::regclass AND deptype = 'e'
  WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^tde_' AND ('regclass'::regtype = ANY (proargtypes::oid[]) OR 'regtype'::regtype = ANY (proargtypes::oid[]))));
is(join(' ', grep { !$called{$_} } split / /, $functions), '', 'whatever is for tables and types was called');

$node->stop;
done_testing();
