# Columns that something else has encrypted are taken over online: by whose function, for which writers, and that no value is lost and no key told.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $key = 'hidden_old_key';
my $node = tde_node('migrations', extension => 1, conf => "tde_column.passphrase_command = 'echo migrations-passphrase'\nfsync = off\n");
$node->append_conf('postgresql.conf', "log_statement = all\nlog_min_duration_statement = 0\nlog_min_messages = debug1\nlog_min_error_statement = debug1\n");
$node->start;
lines_of($node, q(SELECT tde_wallet_create('migrations-passphrase'); CREATE EXTENSION pgcrypto;
CREATE ROLE app LOGIN; CREATE ROLE writer LOGIN; CREATE ROLE mallory LOGIN;
CREATE SCHEMA app AUTHORIZATION app; GRANT USAGE ON SCHEMA app TO writer, mallory; CREATE SCHEMA mal AUTHORIZATION mallory; GRANT USAGE ON SCHEMA mal TO PUBLIC));

sub as_role { my ($role, $sql) = @_; return attempt($node, $sql, user => $role); }

sub works
{
  my ($role, $sql, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  my $got = as_role($role, $sql);
  is($got->{state}, '', $name) or diag($got->{err});
  return $got->{out};
}

sub fails
{
  my ($role, $sql, $expected, $name) = @_;
  local $Test::Builder::Level = $Test::Builder::Level + 1;
  return fails_with($node, $sql, $expected, $name, user => $role);
}

# The key comes by COPY, into an encrypted column; what follows are lines of that.
my $offset = log_offset($node);
works('app', "CREATE TABLE app.old_key (name text PRIMARY KEY, key encrypted_text)", 'a table for keys');
{
  my ($in, $out, $err) = ("COPY app.old_key FROM STDIN WITH (DELIMITER ',');\ncard,$key\n\\.\n", '', '');
  IPC::Run::run([ $node->installed_command('psql'), '-XqAt', '-h', $node->host, '-p', $node->port, '-U', 'app', '-d', 'postgres' ], '<', \$in, '>', \$out, '2>', \$err);
  is($err, '', 'the key is there');
}

# What programs do until the swap.
my $seal = "public.pgp_sym_encrypt(%s, (SELECT key::text FROM app.old_key), 's2k-count=1024')";
sub seal { return sprintf $seal, $_[0]; }

works('app', 'CREATE TABLE app.card (id int PRIMARY KEY, pan bytea NOT NULL, note text);
  INSERT INTO app.card SELECT i, ' . seal(q('pan' || i)) . q(, 'old' FROM generate_series(1, 300) i;
  GRANT SELECT, INSERT, UPDATE, TRIGGER ON app.card TO writer, mallory;
  CREATE FUNCTION app.open_pan(bytea) RETURNS text LANGUAGE sql AS $$ SELECT public.pgp_sym_decrypt($1, (SELECT key::text FROM app.old_key)) $$;
  REVOKE EXECUTE ON FUNCTION app.open_pan FROM PUBLIC), 'a table as pgcrypto has it');
# rows that a program without the key writes: it has been given them
my %sealed = map { $_ => works('app', 'SELECT ' . seal("'$_'"), "$_ sealed") } qw(pan301 pan302 changed);

#
# Who, and by which function
#
my $take = q(CALL tde_take_over_column('app.card', 'pan', '%s'%s));
works('app', q(CREATE FUNCTION app.two(bytea, int) RETURNS text LANGUAGE sql AS 'SELECT NULL'; CREATE FUNCTION app.many(bytea) RETURNS SETOF text LANGUAGE sql AS 'SELECT NULL';
  CREATE FUNCTION app.of_int(int) RETURNS text LANGUAGE sql AS 'SELECT NULL'; CREATE FUNCTION app.none(bytea) RETURNS point LANGUAGE sql AS 'SELECT NULL::point';
  CREATE FUNCTION app.nothing(bytea) RETURNS text LANGUAGE sql AS 'SELECT NULL'; CREATE AGGREGATE app.sum(bytea) (SFUNC = byteacat, STYPE = bytea)), 'other functions');
fails('app', sprintf($take, $_, ''), { state => '42809', message => qr/^function \S+ cannot open values of column "pan"$/ }, "not by $_")
  foreach 'app.two(bytea, int)', 'app.many(bytea)', 'app.of_int(int)', 'app.sum(bytea)';
fails('app', sprintf($take, 'app.none(bytea)', ''), { state => '42704', message => qr/^type point has no encrypted type$/ }, 'not by one whose results have no encrypted type');
works('mallory', q(CREATE FUNCTION mal.spy(bytea) RETURNS text LANGUAGE plpgsql AS $$BEGIN RETURN 'as ' || current_user; END$$), 'a function of somebody else');
fails('app', sprintf($take, 'mal.spy(bytea)', ''), { state => '42501', hint => qr/^ALTER FUNCTION mal\.spy\(bytea\) OWNER TO app;$/ }, 'not by that');
lines_of($node, q(CREATE FUNCTION public.of_superuser(bytea) RETURNS text LANGUAGE sql AS 'SELECT NULL'; REVOKE EXECUTE ON FUNCTION public.of_superuser FROM PUBLIC));
fails('app', sprintf($take, 'public.of_superuser(bytea)', ''), { state => '42501', hint => qr/^GRANT EXECUTE ON FUNCTION public\.of_superuser\(bytea\) TO app;$/ }, "nor by a superuser's that the owner may not call");
fails('writer', sprintf($take, 'app.open_pan(bytea)', ''), { state => '42501', message => qr/^must be owner of table card$/ }, 'nor by who only writes');
fails('app', 'BEGIN; ' . sprintf($take, 'app.open_pan(bytea)', ''), { state => '25001' }, 'nor in a transaction block');
is(lines_of($node, q(SELECT count(*) FROM tde.conversions)), '0', 'nothing has begun');

#
# What stands in the way
#
my %obstacles = ('CREATE INDEX obstacle ON app.card (pan)' => 'index app.obstacle', q(ALTER TABLE app.card ALTER pan SET DEFAULT 'x') => 'default value for column pan of table app.card',
  'ALTER TABLE app.card ADD CHECK (octet_length(pan) > 1)' => 'constraint card_pan_check on table app.card');
foreach my $sql (sort keys %obstacles)
{
  fails('app', "$sql; " . sprintf($take, 'app.open_pan(bytea)', ''), { state => '2BP01', detail => qr/^\Q$obstacles{$sql}\E$/ }, "in the way: $obstacles{$sql}");
  works('app', 'DROP INDEX IF EXISTS app.obstacle; ALTER TABLE app.card ALTER pan DROP DEFAULT; ALTER TABLE app.card DROP CONSTRAINT IF EXISTS card_pan_check', '... it is removed');
}
works('app', q(CREATE VIEW app.clear AS SELECT id, app.open_pan(pan) AS pan FROM app.card), 'a view for programs');

#
# Nothing is lost
#
fails('app', sprintf($take, 'app.nothing(bytea)', ''), { state => '22004', message => qr/^function app\.nothing\(bytea\) has returned NULL for a value of column "pan"$/ }, 'a function that returns NULL');
fails('app', sprintf($take, 'app.open_pan(bytea)', ''), { state => '55006', message => qr/taken over by function app\.nothing\(bytea\)$/, hint => qr/tde_abort_conversion/ }, 'another function does not go on with it');
fails('app', q(CALL tde_encrypt_column('app.card', 'pan', online => true)), { state => '55006' }, 'nor does a conversion as it is');
works('app', q(CALL tde_abort_conversion('app.card', 'pan')), 'undone');
works('app', q(UPDATE app.card SET pan = 'damaged' WHERE id = 7), 'a row that cannot be opened');
my $said = as_role('app', sprintf($take, 'app.open_pan(bytea)', q(, 'aes256,nosalt')));
is($said->{state}, '39000', 'stops it');
my ($ctid) = $said->{err} =~ /^CONTEXT: .*?^row (\(\d+,\d+\)), which is being taken over/ms;
is(works('app', "SELECT id FROM app.card WHERE ctid = '" . ($ctid // '(9,9)') . "'", 'it is found'), '7', '... and is told');
# The trigger is there, so that this writes the copy, too.
works('app', 'UPDATE app.card SET pan = ' . seal(q('pan7')) . ' WHERE id = 7', '... and repaired');
my $notice = as_role('app', sprintf($take, 'app.open_pan(bytea)', ''));
is($notice->{state}, '', 'it goes on') or diag($notice->{err});
is(lines_of($node, q(SELECT phase, direction, opened_by FROM tde.conversions)), 'copy|encrypt|app.open_pan(bytea)', 'the view tells by what');

#
# Writers meanwhile, who have no right to the key and cannot have the function run something of theirs
#
works('writer', "INSERT INTO app.card (id, pan) VALUES (301, '$sealed{pan301}'); UPDATE app.card SET pan = '$sealed{changed}' WHERE id = 1; UPDATE app.card SET note = 'new' WHERE id = 2",
  'others write as before');
fails('writer', 'SELECT app.open_pan(pan) FROM app.card', { state => '42501' }, '... and may not open anything');
fails('writer', q(INSERT INTO app.card (id, pan) VALUES (400, 'damaged')), { state => '39000' }, '... nor write what cannot be opened');
lines_of($node, q(GRANT CREATE ON SCHEMA mal TO writer));
works('writer', qq(CREATE FUNCTION mal.pgp_sym_decrypt(bytea, text) RETURNS text LANGUAGE sql AS \$\$ SELECT 'stolen ' || \$2 \$\$;
  CREATE TEMP TABLE old_key AS SELECT 'x' AS key; SET search_path = mal, app, public; INSERT INTO card (id, pan) VALUES (302, '$sealed{pan302}')), 'a search path of the writer\'s');
is(works('app', q(SELECT string_agg(tde_convert_2::text, ' ' ORDER BY id) FROM app.card WHERE id IN (1, 2, 301, 302)), 'the copies'), 'changed pan2 pan301 pan302', '... is not the function\'s');
works('app', q(ALTER TABLE app.card DISABLE TRIGGER USER; ALTER TABLE app.card ENABLE ALWAYS TRIGGER "~tde_convert_2"), 'the trigger is the owner\'s');

# The right to make triggers is none to have a function run as the owner.
works('app', q(DROP TRIGGER "~tde_convert_2" ON app.card), 'broken off');
works('mallory', q(CREATE TRIGGER "~tde_convert_2" BEFORE INSERT OR UPDATE ON app.card FOR EACH ROW EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'pan', 'tde_convert_2', 'mal.spy(bytea)')), 'a trigger of somebody else');
fails('mallory', qq(INSERT INTO app.card (id, pan) VALUES (401, '$sealed{pan301}')), { state => '55000', message => qr/^conversion of column "pan" of table "card" cannot go on$/ }, '... is none of the owner\'s');
works('app', q(ALTER TABLE app.card ENABLE ALWAYS TRIGGER "~tde_convert_2"), 'the owner takes it for his');
fails('mallory', qq(INSERT INTO app.card (id, pan) VALUES (401, '$sealed{pan301}')), { state => '42501', message => qr/^function mal\.spy\(bytea\) belongs neither to the owner of table "card" nor to a superuser$/ }, '... runs nothing of his');
works('app', q(DROP TRIGGER "~tde_convert_2" ON app.card; CREATE TRIGGER "~tde_convert_2" BEFORE INSERT OR UPDATE ON app.card FOR EACH ROW
  EXECUTE FUNCTION tde_internal.tde_convert_trigger('copy', 'pan', 'tde_convert_2', 'app.open_pan(bytea)'); ALTER TABLE app.card ENABLE ALWAYS TRIGGER "~tde_convert_2"), 'as it was');

# Without the function nobody writes.
works('app', 'ALTER FUNCTION app.open_pan RENAME TO elsewhere', 'the function is not there');
fails('writer', q(UPDATE app.card SET note = 'x' WHERE id = 5), { state => '42883' }, '... and nothing is written');
works('app', 'ALTER FUNCTION app.elsewhere RENAME TO open_pan', 'it is again');
works('writer', q(UPDATE app.card SET note = 'x' WHERE id = 5), '... and rows are written');

#
# The swap
#
fails('app', q(CALL tde_finish_conversion('app.card', 'pan')), { state => '2BP01', detail => qr/^rule _RETURN on view app\.clear$/ }, 'what uses the old values is named');
works('app', 'DROP VIEW app.clear', '... and dropped');
works('app', q(CALL tde_finish_conversion('app.card', 'pan')), 'finished');
is(works('app', q(SELECT format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'app.card'::regclass AND attname = 'pan'), 'the type'),
  'encrypted_text(aes256,nosalt,gcm)|t', 'the modifiers, and NOT NULL');
is(works('app', q(SELECT count(*), count(*) FILTER (WHERE pan = 'pan' || id), min(pan::text) FROM app.card), 'values'), '302|301|changed', 'all values are there');
works('writer', q(INSERT INTO app.card (id, pan) VALUES (303, 'pan303')), 'others write plain values');
is(lines_of($node, 'SELECT count(*) FROM tde.conversions'), '0', 'nothing is left of it');

#
# Rows, other types, partitions, a lock instead
#
works('app', q(CREATE TABLE app.part (id int, iv bytea, born bytea COMPRESSION pglz, day int) PARTITION BY LIST (day);
  CREATE TABLE app.part1 PARTITION OF app.part FOR VALUES IN (1); CREATE TABLE app.part2 (day int, born bytea, x int, id int, iv bytea); ALTER TABLE app.part2 DROP x;
  ALTER TABLE app.part ATTACH PARTITION app.part2 FOR VALUES IN (2);
  INSERT INTO app.part SELECT i, decode(md5(i::text), 'hex'), public.encrypt_iv(convert_to((date '2000-01-01' + i)::text, 'UTF8'), 'sixteen bytes key', decode(md5(i::text), 'hex'), 'aes'), 1 + i % 2 FROM generate_series(1, 50) i;
  INSERT INTO app.part VALUES (0, NULL, NULL, 1);
  CREATE FUNCTION app.open_born(app.part) RETURNS date LANGUAGE sql AS $$ SELECT convert_from(public.decrypt_iv($1.born, 'sixteen bytes key', $1.iv, 'aes'), 'UTF8')::date $$), 'IVs in a column of their own');
works('app', q(CALL tde_take_over_column('app.part', 'born', 'app.open_born(app.part)')), 'a function of the row');
works('app', q(UPDATE app.part SET day = 3 - day WHERE id < 10 AND id > 0), 'rows move to other partitions');
works('app', q(CALL tde_finish_conversion('app.part', 'born')), 'finished');
is(works('app', q(SELECT count(*) FILTER (WHERE born = date '2000-01-01' + id), count(*) FILTER (WHERE born IS NULL), min(pg_typeof(born)::text) FROM app.part), 'values'), '50|1|encrypted_date', 'all values are there');

works('app', q(CREATE TABLE app.locked (id int, a bytea, b text COLLATE "C"); INSERT INTO app.locked SELECT i, ) . seal(q('a' || i)) . q(, 'b' || i FROM generate_series(1, 20) i;
  ALTER TABLE app.locked ALTER a TYPE encrypted_text USING app.open_pan(a)), 'with a lock ALTER TABLE does it');
is(works('app', q(SELECT count(*) FROM app.locked WHERE a = 'a' || id), 'values'), '20', '... and all values are there');
works('app', q(CREATE FUNCTION app.same(text) RETURNS text LANGUAGE sql AS 'SELECT $1'; CALL tde_take_over_column('app.locked', 'b', 'app.same(text)'); CALL tde_finish_conversion('app.locked', 'b')), 'from text to text');
is(works('app', q(SELECT collname FROM pg_attribute a JOIN pg_collation c ON c.oid = attcollation WHERE attrelid = 'app.locked'::regclass AND attname = 'b'), 'its collation'), 'C', '... keeps the collation');

# A superuser converts somebody's table: the function runs as the owner all the same.
works('mallory', q(CREATE TABLE mal.t (a text); INSERT INTO mal.t VALUES ('x'); CREATE FUNCTION mal.who(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RETURN current_user || ' ' || current_setting('search_path'); END$$), "somebody's table");
is(attempt($node, q(CALL tde_take_over_column('mal.t', 'a', 'mal.who(text)'); SET search_path = mal, public; INSERT INTO t (a) VALUES ('y');
  CALL tde_finish_conversion('mal.t', 'a')))->{state}, '', '... is converted by a superuser, who writes, too');
is(lines_of($node, 'SELECT a FROM mal.t'), "mallory pg_catalog, pg_temp\nmallory pg_catalog, pg_temp", "... with its owner's rights, and nobody's search path");

my $log = log_since($node, $offset);
like($log, qr/CALL tde_take_over_column\('app\.card', 'pan', 'app\.open_pan\(bytea\)'\)/, 'the log has all statements');
unlike($log, qr/$key/, '... and not the key');
done_testing();
