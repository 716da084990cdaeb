# A guest among other people's objects: CREATE EXTENSION, tde_create_type() and tde_refresh_types() run nobody else's code and take over
# nobody else's objects, and what people do to everything in a schema does not hurt encrypted columns.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('guest');
$node->start;
lines_of($node, 'CREATE ROLE mallory LOGIN; CREATE ROLE app LOGIN');

sub database
{
  my ($name) = @_;
  lines_of($node, "CREATE DATABASE $name TEMPLATE template0");
  lines_of($node, 'GRANT CREATE ON SCHEMA public TO mallory', db => $name);
  return;
}

# What the scripts call: every function of PostgreSQL's, and every operator, whose name stands in the install script.
my ($script) = glob($node->config_data('--sharedir') . '/extension/tde_column--*.sql');
my $text = slurp_file($script);
my %called = map { lc $_ => 1 } $text =~ /\b([a-z_][a-z0-9_]*)\s*\(/gi;
my $names  = join ',', map { "'$_'" } sort keys %called;

# Overloads that suit calls better than PostgreSQL's own: with arguments of the types that the scripts have, where PostgreSQL has
# others that are reached by casts.  Whatever is called says so in a sequence, which no rollback undoes.
my $traps = <<"SQL";
CREATE SCHEMA mallory AUTHORIZATION mallory;
SET ROLE mallory;
SET search_path = pg_catalog;
CREATE SEQUENCE mallory.calls;
GRANT ALL ON SCHEMA mallory TO PUBLIC;
GRANT ALL ON SEQUENCE mallory.calls TO PUBLIC;
DO \$do\$
DECLARE
  types CONSTANT text[] := '{text,name,oid,regtype,regclass,regnamespace,int4,int8,bool,"\\"char\\"",text[]}';
  body  CONSTANT text := 'BEGIN PERFORM pg_catalog.nextval(''mallory.calls''); RETURN NULL; END';
  trap  record;
BEGIN
  FOR trap IN
    WITH called AS (
      SELECT DISTINCT proname, prorettype::regtype AS result FROM pg_proc
      WHERE oid < 12000 AND proname IN ($names) AND prokind = 'f' AND NOT proretset AND pronargs > 0
        AND prorettype::regtype::text !~ '^any|internal|trigger|cstring|_handler|void|record'),
    one AS (SELECT DISTINCT ON (proname) proname, result FROM called ORDER BY proname, result)
    SELECT proname, result, args FROM one, (
      SELECT t AS args FROM unnest(types) t UNION ALL SELECT l || ', ' || r FROM unnest(types) l, unnest(types) r
      UNION ALL SELECT 'text, text, text' UNION ALL SELECT 'text, text, text, text' UNION ALL SELECT 'text, VARIADIC text[]') a (args)
  LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', trap.proname, trap.args, trap.result, body);
  END LOOP;
  FOR trap IN
    SELECT DISTINCT oprname, l, r FROM pg_operator, unnest(types) l, unnest(types) r
    WHERE oid < 12000 AND oprname IN ('=', '<>', '<', '>', '||', '~', '!~', '&&', '<\@', '->>', '?')
      AND to_regoperator(format('pg_catalog.%s(%s, %s)', oprname, l, r)) IS NULL
  LOOP
    EXECUTE format('CREATE FUNCTION mallory.%I(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L', 'op_' || md5(trap.oprname), trap.l, trap.r,
                   CASE WHEN trap.oprname IN ('||', '->>') THEN 'text' ELSE 'bool' END, body);
    EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = mallory.%I)', trap.oprname, trap.l, trap.r, 'op_' || md5(trap.oprname));
  END LOOP;
END
\$do\$;
RESET ROLE;
RESET search_path;
SQL
my $calls = q{SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM mallory.calls};

# What of the extension's is somebody else's, or calls something of somebody else's, or is where others could make something beside it.
my $foreign = q{
SET search_path = pg_catalog;    -- not to be trapped itself
WITH member AS (
  SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND x.extname = 'tde_column')
SELECT pg_describe_object(classid, objid, 0) || ' is of mallory' FROM member m
WHERE EXISTS (SELECT FROM pg_shdepend s JOIN pg_roles r ON r.oid = s.refobjid AND r.rolname = 'mallory' AND s.deptype = 'o'
              WHERE s.classid = m.classid AND s.objid = m.objid)
UNION ALL
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ' needs ' || pg_describe_object(d.refclassid, d.refobjid, 0)
FROM pg_depend d JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
WHERE p.proowner = 'mallory'::regrole AND (d.classid, d.objid) IN (
  SELECT classid, objid FROM member UNION ALL SELECT 'pg_amop'::regclass, oid FROM pg_amop UNION ALL SELECT 'pg_amproc'::regclass, oid FROM pg_amproc)
UNION ALL
SELECT 'function ' || p.oid::regprocedure || ' is public''s, as PUBLIC may create in its schema' FROM pg_namespace n JOIN pg_proc p ON pronamespace = n.oid
WHERE nspname IN ('tde', 'tde_internal') AND has_schema_privilege('public', n.oid, 'CREATE')};

#
# CREATE EXTENSION among better-matching overloads
#
database('traps');
lines_of($node, $traps, db => 'traps');
cmp_ok(lines_of($node, "SELECT count(*) FROM pg_proc WHERE proowner = 'mallory'::regrole", db => 'traps'), '>', 3000, 'there are traps');
is(attempt($node, 'CREATE EXTENSION tde_column', db => 'traps')->{state}, '', 'CREATE EXTENSION goes through');
is(lines_of($node, $calls,   db => 'traps'), '0', 'and calls no function of another role');
is(lines_of($node, $foreign, db => 'traps'), '',  'nor takes one over');
lines_of($node, q{SELECT tde_wallet_create('guest passphrase')}, db => 'traps');
is(attempt($node, q{CREATE TYPE mood AS ENUM ('sad', 'ok'); SELECT tde_create_type('mood'); SELECT tde_refresh_types()}, db => 'traps')->{state},
  '', 'types are made and completed');
is(
  attempt(
    $node, q{CREATE TABLE t (id int PRIMARY KEY, a encrypted_text, n encrypted_int4, m encrypted_mood); INSERT INTO t VALUES (1, 'x', 5, 'ok');
      SELECT tde_internal.tde_complete_types('{encrypted_text}')}, db => 'traps')->{state},
  '', 'columns are declared and used');
is(lines_of($node, $calls,   db => 'traps'), '0', 'without a call of them');
is(lines_of($node, $foreign, db => 'traps'), '',  'and nothing is taken over');
is(
  attempt($node, q{CREATE TABLE p (id int PRIMARY KEY, a text, n int NOT NULL DEFAULT 7 UNIQUE); INSERT INTO p VALUES (1, 'x'); SET client_min_messages = error;
    CALL tde_encrypt_column('p', 'a'); CALL tde_encrypt_column('p', 'n'); CALL tde_decrypt_column('p', 'a')}, db => 'traps')->{state}, '', 'columns are converted');
is(attempt($node, q{ALTER TABLE p ADD CHECK (a <> ''); CALL tde_encrypt_column('p', 'a')}, db => 'traps')->{state}, '', 'also where expressions are read again');
is(lines_of($node, $calls, db => 'traps'), '0', 'without a call of them');

#
# Objects that stand where the extension's would
#
database('squat');
lines_of($node, q{SET ROLE mallory; CREATE FUNCTION public.tde_cmp(text, text) RETURNS int4 IMMUTABLE LANGUAGE sql RETURN 0;
  CREATE FUNCTION public.tde_hash(text) RETURNS int4 IMMUTABLE LANGUAGE sql RETURN 0;
  CREATE FUNCTION public.tde_eq(text, text) RETURNS bool IMMUTABLE LANGUAGE sql RETURN false;
  CREATE FUNCTION public.tde_eq(int4, int4) RETURNS bool IMMUTABLE LANGUAGE sql RETURN false;
  CREATE OPERATOR public.%= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.tde_eq)}, db => 'squat');
is(attempt($node, 'CREATE EXTENSION tde_column', db => 'squat')->{state}, '', 'functions with the names of ours are in nobody\'s way');
is(lines_of($node, $foreign, db => 'squat'), '', 'and are not taken over');
is(lines_of($node, q{CREATE TABLE p (a text); CREATE TABLE e (a encrypted_text); INSERT INTO p SELECT generate_series(1, 1000); INSERT INTO e SELECT a FROM p;
  SELECT count(*) FROM p JOIN e ON p.a = e.a}, db => 'squat'), '1000', 'nor called');

database('same_name');
lines_of($node, 'SET ROLE mallory; CREATE FUNCTION public.tde_wallet_open(text) RETURNS void LANGUAGE sql AS $$ $$', db => 'same_name');
lines_of($node, 'CREATE EXTENSION tde_column', db => 'same_name');
is(lines_of($node, q{SELECT pronamespace::regnamespace FROM pg_proc WHERE oid = 'tde_wallet_open(text)'::regprocedure}, db => 'same_name'), 'pg_catalog',
  'of a function that users call, too, ours is the one that is found');
foreach my $schema ('tde', 'tde_internal')
{
  database("schema_$schema");
  lines_of($node, "CREATE SCHEMA $schema AUTHORIZATION mallory", db => "schema_$schema");
  fails_with(
    $node, 'CREATE EXTENSION tde_column',
    { state => '42P06', message => qr/^schema "$schema" already exists$/, detail => qr/^It belongs to role "mallory"\./, hint => qr/^Give it another name: ALTER SCHEMA $schema RENAME TO/ },
    "schema $schema", db => "schema_$schema");
}

# of a user's type
database('user_type');
lines_of($node, q{CREATE EXTENSION tde_column; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE hue AS ENUM ('red')}, db => 'user_type');
my %squats = (
  'modifier function' => [
    q{CREATE FUNCTION public.encrypted_mood_typmod_in(cstring[]) RETURNS int4 STABLE LANGUAGE sql RETURN 1},
    q{DROP FUNCTION public.encrypted_mood_typmod_in(cstring[])}, qr/^function public\.encrypted_mood_typmod_in\(cstring\[\]\) already exists$/ ],
  'support function' => [
    q{CREATE FUNCTION public.tde_hash(mood) RETURNS int4 IMMUTABLE LANGUAGE sql RETURN 0},
    q{DROP FUNCTION public.tde_hash(public.mood)}, qr/^function public\.tde_hash\(public\.mood\) already exists$/ ],
  'implementation of an operator' => [
    q{CREATE FUNCTION public.tde_eq(mood, mood) RETURNS bool IMMUTABLE LANGUAGE sql RETURN false},
    q{DROP FUNCTION public.tde_eq(public.mood,public.mood)}, qr/^function public\.tde_eq\(public\.mood,public\.mood\) already exists$/ ],
  'operator' => [
    q{CREATE FUNCTION mine(mood, mood) RETURNS bool IMMUTABLE LANGUAGE sql RETURN false; CREATE OPERATOR public.%#= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mine)},
    q{DROP FUNCTION mine CASCADE}, qr/^operator public\.%#=\(public\.mood,public\.mood\) already exists$/ ],
  'unfinished operator' => [
    q{CREATE FUNCTION mine(mood, mood) RETURNS bool IMMUTABLE LANGUAGE sql RETURN false;
      CREATE OPERATOR public.#=# (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mine, NEGATOR = OPERATOR(public.%#=))},
    q{DROP FUNCTION mine CASCADE; DROP OPERATOR public.%#= (mood, mood)}, qr/^operator public\.%#=\(public\.mood,public\.mood\) already exists$/ ],
  'operator family' => [
    undef, q{DROP OPERATOR FAMILY public.encrypted_mood_ops USING btree}, qr/^operator family public\.encrypted_mood_ops for access method btree already exists$/ ]);
foreach my $what (sort keys %squats)
{
  my ($squat, $way_out, $message) = @{ $squats{$what} };
  # only superusers make operator families; anybody may be given one
  lines_of($node, $squat ? "SET ROLE mallory; $squat" : 'CREATE OPERATOR FAMILY public.encrypted_mood_ops USING btree; ALTER OPERATOR FAMILY public.encrypted_mood_ops USING btree OWNER TO mallory',
    db => 'user_type');
  fails_with(
    $node, q{SELECT tde_create_type('mood')},
    { state => '42710', message => $message, detail => qr/^It belongs to role "mallory", and is none/, hint => qr/^Drop it, or give it another name: DROP / },
    "in the way of a user's type: $what", db => 'user_type');
  lines_of($node, $way_out, db => 'user_type');
}
is(attempt($node, q{SELECT tde_create_type('mood')}, db => 'user_type')->{state}, '', 'when they are gone, the type is made');
is(lines_of($node, $foreign, db => 'user_type'), '', 'of its own objects');

# What else the modifier function could call, whoever declares a column would run.
lines_of($node, q{SET ROLE mallory; CREATE SEQUENCE public.ran; GRANT ALL ON SEQUENCE public.ran TO PUBLIC;
  CREATE FUNCTION public.evil(cstring[]) RETURNS cstring[] LANGUAGE sql AS $$ SELECT nextval('public.ran'); SELECT $1 $$}, db => 'user_type');
my ($body) = lines_of($node, q{SELECT pg_get_function_sqlbody('encrypted_mood_typmod_in'::regproc)}, db => 'user_type') =~ /^RETURN (.*)$/;
(my $worse = $body) =~ s/\$1/public.evil(\$1)/;
lines_of($node, "CREATE OR REPLACE FUNCTION encrypted_mood_typmod_in(cstring[]) RETURNS int4 LANGUAGE sql STABLE STRICT RETURN $worse", db => 'user_type');
fails_with($node, 'CREATE TABLE declared (m encrypted_mood)',
  { state => '42704', message => qr/^encrypted type encrypted_mood is incomplete$/, detail => qr/^Its modifier function is not the one/ },
  'a modifier function that calls something else', db => 'user_type');
lines_of($node, "CREATE OR REPLACE FUNCTION encrypted_mood_typmod_in(cstring[]) RETURNS int4 LANGUAGE sql STABLE STRICT RETURN $body", db => 'user_type');
is(attempt($node, 'CREATE TABLE declared (m encrypted_mood)', db => 'user_type')->{state}, '', 'as it was made it serves');

#
# Expressions of other people's in what is declared are looked at, and not evaluated: for whoever declares an index on somebody's table
# PostgreSQL evaluates its expressions as that table's owner.
#
lines_of($node, q{CREATE DATABASE sandbox TEMPLATE template0; CREATE ROLE owner LOGIN});
lines_of($node, q{CREATE EXTENSION tde_column; CREATE SCHEMA o AUTHORIZATION owner; SET ROLE owner;
  CREATE TABLE o.seen (who name); GRANT INSERT ON o.seen TO PUBLIC;
  CREATE FUNCTION o.note() RETURNS int VOLATILE LANGUAGE sql AS $$ INSERT INTO o.seen VALUES (current_user) RETURNING 0 $$;
  CREATE FUNCTION o.f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1 + o.note(); END $$;
  CREATE TABLE o.t (a int, b int GENERATED ALWAYS AS (a + o.f(0)) STORED); INSERT INTO o.t VALUES (1), (2);
  CREATE TABLE o.e (a int, e encrypted_int4)}, db => 'sandbox');
foreach my $command (
  'CREATE INDEX CONCURRENTLY ON o.t ((a + o.f(0)))',
  'CREATE INDEX ON o.t ((a + o.f(0))) WHERE a > o.f(0)',
  'CREATE INDEX ON o.t USING brin ((a + o.f(0)))',
  'CREATE INDEX CONCURRENTLY ON o.e ((a + o.f(0)))',
  'CREATE INDEX ON o.e ((e + o.f(0))) WHERE e > o.f(0)',
  'CREATE STATISTICS o.s ON (a + o.f(0)), a FROM o.t',
  'ALTER TABLE o.t ADD COLUMN c int, ALTER COLUMN a SET NOT NULL',
  'REINDEX TABLE CONCURRENTLY o.t',
  'ALTER TABLE o.e ADD CHECK (a > o.f(0)) NOT VALID')
{
  lines_of($node, 'TRUNCATE o.seen', db => 'sandbox');
  is(attempt($node, $command, db => 'sandbox')->{state}, '', "by a superuser: $command");
  is(lines_of($node, q{SELECT count(*) FROM o.seen WHERE who <> 'owner'}, db => 'sandbox'), '0', 'calls nothing of the owner\'s as the superuser');
}

#
# What people do to everything in a schema
#
lines_of($node, 'CREATE DATABASE house TEMPLATE template0');
my $house = q{CREATE EXTENSION tde_column; CREATE TABLE card (id int PRIMARY KEY, pan encrypted_text(nosalt) UNIQUE, holder encrypted_varchar(20), amount encrypted_numeric(10,2),
  born encrypted_date, made encrypted_timestamptz DEFAULT now(), j encrypted_jsonb); GRANT ALL ON card TO app; INSERT INTO card VALUES (1, '4111', 'Ann', 5, '2000-01-01')};
lines_of($node, $house, db => 'house');
is(lines_of($node, q{SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1}, db => 'house'), "card\ncard_pan_key\ncard_pkey",
  'the application\'s schema has no tables, views and sequences but the application\'s');
is(lines_of($node, q{SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT oid::regoperator::text FROM pg_operator WHERE oprnamespace = 'public'::regnamespace}, db => 'house'), '', 'and no functions and operators');
is(lines_of($node, q{SELECT o.oid::regoperator FROM pg_operator o WHERE oid >= 16384 AND oprnamespace = 'pg_catalog'::regnamespace
    AND NOT EXISTS (SELECT FROM tde.types WHERE type IN (oprleft, oprright))
    -- nor between those that only an operand beside an encrypted one becomes
    AND NOT EXISTS (SELECT FROM pg_type WHERE oid IN (oprleft, oprright) AND typnamespace = 'tde_internal'::regnamespace)}, db => 'house'), '', 'on the search path is no new operator between plain types');

lines_of($node, 'REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC', db => 'house');
foreach my $statement (
  q{INSERT INTO card VALUES (2, '5500', 'Bob', 7.5, '1990-02-03', now(), '{"a": 1}') RETURNING pan, amount},
  q{SELECT holder FROM card WHERE pan = '4111'},
  q{SELECT id FROM card WHERE holder LIKE 'A%' OR holder ~ '^B' ORDER BY holder, amount DESC},
  q{SELECT a.id FROM card a JOIN card b ON a.pan = b.pan WHERE a.amount + 1 > b.amount AND a.born < '2020-01-01'::date AND a.made <= now()},
  q{SELECT count(DISTINCT holder), sum(amount), avg(amount) FROM card GROUP BY born},
  q{SELECT amount::int, j -> 'a', holder::text, born + 1, coalesce(amount, 0) FROM card},
  q{UPDATE card SET amount = amount * 2, holder = upper(holder) WHERE pan IN ('4111', '5500')},
  q{CREATE TEMP TABLE copied (a encrypted_text, n encrypted_int8(aes128)); INSERT INTO copied SELECT pan, amount FROM card; CREATE INDEX ON copied (a)})
{
  is(attempt($node, $statement, db => 'house', user => 'app')->{err}, '', "after REVOKE ... ON ALL FUNCTIONS: $statement");
}
lines_of($node, 'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC', db => 'house');

my $small = length $node->safe_psql('house', '') . dump_of('house');
lines_of($node, 'GRANT ALL ON ALL FUNCTIONS IN SCHEMA public TO app', db => 'house');
my $grants = () = dump_of('house') =~ /^GRANT ALL ON (FUNCTION|PROCEDURE)/gm;
is($grants, 0, 'GRANT ALL ON ALL FUNCTIONS IN SCHEMA hands out nothing of the extension\'s');

lines_of($node, q{SELECT format('TRUNCATE %I.%I CASCADE', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public' \gexec}, db => 'house');
is(attempt($node, q{INSERT INTO card (id, pan) VALUES (3, '4111') RETURNING pan}, db => 'house')->{out}, '4111', 'truncating all tables of the schema leaves the keys alone');

sub dump_of
{
  my ($db) = @_;
  my ($out, $err) = run_command([ 'pg_dump', '-h', $node->host, '-p', $node->port, $db ]);
  return $out;
}

done_testing();
