# A superuser converts columns of tables of somebody who wants to be one: what the owner, or others, have put in the way runs
# with no more than the owner's rights.  And what a default means stays.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('convert_hostile', extension => 1, conf => "tde_column.passphrase_command = 'echo hostile-passphrase'\n");
$node->start;
lines_of($node, q(
SELECT tde_wallet_create('hostile-passphrase');
CREATE ROLE mallory LOGIN; CREATE ROLE alice LOGIN; GRANT CREATE ON SCHEMA public TO alice, mallory;
CREATE TABLE caught (who text, what text); GRANT INSERT ON caught TO PUBLIC));

# What mallory's functions do with whatever rights they get: errors are caught, so that only the result tells.
my $trap = q(
CREATE FUNCTION trap(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  BEGIN EXECUTE 'RESET ROLE'; EXCEPTION WHEN OTHERS THEN NULL; END;
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN INSERT INTO public.caught VALUES (current_user, what); END IF;
END $$;
CREATE FUNCTION evil(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM public.trap('expression of a constraint');
  -- makes others look equal, so that they have to be looked at again
  RETURN CASE WHEN EXISTS (SELECT FROM pg_trigger WHERE tgname LIKE '~tde%') THEN 1 ELSE i END;
END $$;
CREATE FUNCTION evil_check(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN PERFORM public.trap('CHECK'); RETURN true; END $$;
);
is(attempt($node, $trap, user => 'mallory')->{err}, '', 'mallory sets traps');

sub mallory_makes
{
  my ($table, $constraint) = @_;
  my $got = attempt($node, "CREATE TABLE $table (id int, c text, filler text, $constraint);
    INSERT INTO $table SELECT g, 'value' || g, repeat('x', 60) FROM generate_series(1, 300) g", user => 'mallory');
  is($got->{err}, '', "mallory has $table");
}

sub caught { return lines_of($node, q(SELECT string_agg(DISTINCT what, ', ') FROM caught)); }

#
# Constraints of the owner's
#
foreach my $when ('DEFERRABLE', 'DEFERRABLE INITIALLY DEFERRED')
{
  my $table = $when =~ /INITIALLY/ ? 'h_late' : 'h_soon';
  mallory_makes($table, "EXCLUDE USING btree (evil(id) WITH =) $when");
  lines_of($node, 'TRUNCATE caught');
  my $got = attempt($node, "CALL tde_encrypt_column('$table', 'c', online => true)");
  is($got->{state}, '', "online, beside an exclusion constraint that is $when") or diag($got->{err});
  is(caught(), '', '... whose expression did not run as the superuser');
  lines_of($node, "DROP TABLE $table");
}

mallory_makes('checked', 'CHECK (evil_check(c))');
mallory_makes('owned', 'CHECK (evil_check(c))');
lines_of($node, 'REVOKE CREATE ON SCHEMA public FROM alice');
lines_of($node, 'TRUNCATE caught');
foreach my $step (q(CALL tde_encrypt_column('checked', 'c', online => true)), q(CALL tde_finish_conversion('checked', 'c')))
{
  my $got = attempt($node, $step);
  is($got->{state}, '', "beside a CHECK: $step") or diag($got->{err});
}
is(lines_of($node, q(SELECT convalidated FROM pg_constraint WHERE conrelid = 'checked'::regclass AND contype = 'c')), 't', 'the CHECK has been validated');
is(caught(), '', '... and did not run as the superuser');
fails_with($node, q(SELECT tde_internal.tde_validate('checked', 'checked_c_check')), { state => '42501' }, 'others validate nothing', user => 'alice');
lines_of($node, 'DROP TABLE checked');

#
# Triggers that a foreign key's cascade would fire, at once or at the end of the transaction
#
sub erasing
{
  my ($more) = @_;
  my $got = attempt($node, qq(
CREATE TABLE erased (id int PRIMARY KEY, c encrypted_text(aes256,salt), tde_erase_2 text UNIQUE,
  sign int GENERATED ALWAYS AS (CASE WHEN tde_erase_2 IS NULL THEN -id ELSE id END) STORED UNIQUE);
INSERT INTO erased VALUES (1, 'a', '1'), (2, 'b', '2');
CREATE TRIGGER "~tde_convert_2" BEFORE INSERT OR UPDATE ON erased FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('erase', 'tde_erase_2', 'c');
ALTER TABLE erased ENABLE ALWAYS TRIGGER "~tde_convert_2";
$more), user => 'mallory');
  is($got->{state}, '', "mallory's table is being converted: $more") or diag($got->{err});
  lines_of($node, 'TRUNCATE caught');
}

is(attempt($node, q(CREATE FUNCTION evil_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.trap(TG_NAME); RETURN NULL; END $$), user => 'mallory')->{err}, '', 'a trap for triggers');
my $followers = q(INSERT INTO child VALUES (1);
CREATE TRIGGER soon AFTER UPDATE ON child FOR EACH ROW EXECUTE FUNCTION evil_trigger();
CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON child DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION evil_trigger(););
foreach my $child ('k text REFERENCES erased (tde_erase_2) ON UPDATE SET NULL', 'k text DEFAULT 2 REFERENCES erased (tde_erase_2) ON UPDATE SET DEFAULT',
  'k text REFERENCES erased (tde_erase_2) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED', 'k int REFERENCES erased (sign) ON UPDATE CASCADE')
{
  erasing("CREATE TABLE child ($child); $followers");
  my $got = fails_with($node, q(CALL tde_finish_conversion('erased', 'c')), {
    state => '55000', message => qr/^cannot change rows of table "erased" because of foreign key "child_k_fkey"$/,
    detail => qr/^The foreign key would change rows of table public\.child, /, hint => qr/^ALTER TABLE public\.child DROP CONSTRAINT child_k_fkey; and go on\.$/ }, $child);
  is(caught(), '', '... and no trigger ran as the superuser');
  unlike($got->{err}, qr/not closed/, '... and nothing was left open');
  is(lines_of($node, 'SELECT count(*) FROM erased WHERE tde_erase_2 IS NOT NULL'), '2', '... and nothing was erased');
  lines_of($node, 'ALTER TABLE child DROP CONSTRAINT child_k_fkey; ALTER TABLE erased DROP sign');
  is(attempt($node, q(CALL tde_finish_conversion('erased', 'c')))->{state}, '', '... what the hint says helps');
  lines_of($node, 'DROP TABLE child, erased');
}

erasing("CREATE TABLE child (k int REFERENCES erased ON UPDATE CASCADE); $followers ALTER TABLE erased DROP sign");
is(attempt($node, q(CALL tde_finish_conversion('erased', 'c')))->{state}, '', 'a cascade from another column is not in the way');
lines_of($node, 'DROP TABLE child, erased');

# checks that would wait for the end of the transaction, where restricted operations may leave nothing
my $rows = q(CALL tde_internal.tde_convert_all_rows('erased', NULL, 'tde_erase_2', 100, 0));
erasing('CREATE TABLE signs (sign int PRIMARY KEY); INSERT INTO signs VALUES (1), (2), (-1);
ALTER TABLE erased ADD FOREIGN KEY (sign) REFERENCES signs DEFERRABLE INITIALLY DEFERRED;');
fails_with($node, $rows, { state => '23503' }, 'a foreign key that is checked late is checked');
lines_of($node, 'INSERT INTO signs VALUES (-2)');
is(attempt($node, $rows)->{state}, '', '... and holds');
lines_of($node, 'DROP TABLE erased, signs');

#
# Functions of others that match encrypted types better than PostgreSQL's, from before they were refused: what is read again does not find them
#
lines_of($node, 'DROP TABLE owned; GRANT CREATE ON SCHEMA public TO alice');
lines_of($node, q(CREATE FUNCTION public.reverse(encrypted_text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
  $$ BEGIN PERFORM public.trap('namesake'); RETURN 'x'; END $$; ALTER FUNCTION public.reverse(encrypted_text) OWNER TO mallory));
lines_of($node, 'TRUNCATE caught');
foreach my $how ('', ', online => true')
{
  lines_of($node, 'CREATE TABLE alices (c text CHECK (reverse(c) <> $$$$)); ALTER TABLE alices OWNER TO alice; INSERT INTO alices SELECT $$abc$$');
  is(attempt($node, "CALL tde_encrypt_column('alices', 'c'$how)")->{state}, '', "a column with a CHECK is converted$how");
  is(attempt($node, q(CALL tde_finish_conversion('alices', 'c')))->{state}, '', '... to its end') if $how;
  is(lines_of($node, q(SELECT refobjid::regprocedure FROM pg_depend WHERE classid = 'pg_constraint'::regclass AND refobjid = 'public.reverse(encrypted_text)'::regprocedure)), '',
    '... which calls no function of others');
  lines_of($node, 'DROP TABLE alices');
}
is(caught(), '', '... nor did anything');
lines_of($node, 'DROP FUNCTION public.reverse(encrypted_text); REVOKE CREATE ON SCHEMA public FROM alice');

#
# What a default means
#
$node->safe_psql('postgres', q(SET TimeZone = 'Asia/Tokyo';
CREATE TABLE defaults (id int, cut text DEFAULT 'abc'::varchar(2), rounded text DEFAULT 1.55::numeric(3,1), whole int DEFAULT 0.0,
  seconds time DEFAULT '10:11:12.6'::time(0), since timestamptz DEFAULT '2020-02-03'::date, plain text DEFAULT 'it''s', yes bool DEFAULT true,
  none text DEFAULT NULL, below int DEFAULT -5, list text[] DEFAULT '{a,b}')));
my $values = q(SET TimeZone = 'UTC'; INSERT INTO defaults (id) VALUES (1);
SELECT concat_ws('|', cut, rounded, whole, seconds, since, plain, yes, none IS NULL, below, list) FROM defaults; TRUNCATE defaults);
my $before = $node->safe_psql('postgres', $values);
is($before, q(ab|1.6|0|10:11:13|2020-02-03 00:00:00+00|it's|t|t|-5|{a,b}), 'defaults, in clear');
$node->safe_psql('postgres', "SET client_min_messages = warning; SET TimeZone = 'Asia/Tokyo'; CALL tde_encrypt_column('defaults', '$_')")
  foreach qw(cut rounded whole seconds since plain yes none below list);
is($node->safe_psql('postgres', $values), $before, '... encrypted');
$node->safe_psql('postgres', "SET client_min_messages = warning; CALL tde_decrypt_column('defaults', '$_')")
  foreach qw(cut rounded whole seconds since plain yes none below list);
is($node->safe_psql('postgres', $values), $before, '... and in clear again');

$node->stop;
done_testing();
