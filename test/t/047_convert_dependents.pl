# Converting columns that views, rules, triggers and policies use: they are made again as they were, offline and online, or
# nothing has happened.

use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('dependents', extension => 1, conf => "tde_column.passphrase_command = 'echo dependents-passphrase'\n");
$node->start;
lines_of($node, q(
SELECT tde_wallet_create('dependents-passphrase');
CREATE ROLE reporting; CREATE ROLE app LOGIN; GRANT reporting TO app; CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN;
CREATE SCHEMA shop AUTHORIZATION app; GRANT USAGE ON SCHEMA shop TO PUBLIC; GRANT CREATE ON SCHEMA shop TO reporting));

sub app { return attempt($node, $_[0], user => 'app'); }
sub app_ok { my ($sql, $name) = @_; my $got = app($sql); is($got->{state}, '', $name) or diag($got->{err}); return $got; }
sub app_fails { my ($sql, $expected, $name) = @_; return fails_with($node, $sql, $expected, $name, user => 'app'); }

# The steps of a conversion.
sub steps
{
  my ($direction, $how, $table, $column) = @_;
  return "CALL tde_${direction}_column('$table', '$column')" if $how eq 'offline';
  return ("CALL tde_${direction}_column('$table', '$column', online => true)", split(/\n/, app("SELECT tde_conversion_indexes('$table', '$column')")->{out}),
    "CALL tde_finish_conversion('$table', '$column')");
}

# What psql said at last.
sub convert
{
  my ($direction, $how, $table, $column) = @_;
  my $got;
  $got = app_ok($_, "$how: $_") foreach steps($direction, $how, $table, $column);
  return $got->{err};
}

#
# All that can be made again
#
app_ok(q(
CREATE TABLE shop.card (id int PRIMARY KEY, pan text, holder text, n int DEFAULT 0);
INSERT INTO shop.card SELECT g, 'pan' || g, 'holder' || g, g FROM generate_series(1, 100) g;
CREATE TABLE shop.log (id int, pan text);

CREATE VIEW shop.good WITH (security_barrier, check_option = local) AS SELECT id, pan AS "the PAN", n FROM shop.card WHERE n > 5 AND pan <> 'pan7';
CREATE VIEW shop.counted AS SELECT "the PAN" AS pan, count(*) AS "count" FROM shop.good GROUP BY 1;
CREATE MATERIALIZED VIEW shop.kept WITH (fillfactor = 70) AS SELECT pan, counted.count FROM shop.counted WITH NO DATA;
CREATE VIEW shop.top WITH (security_invoker) AS SELECT c.*, g.n FROM shop.counted c JOIN shop.good g ON g."the PAN" = c.pan;
CREATE VIEW shop.grouped AS SELECT id, holder, pan FROM shop.card GROUP BY id;
CREATE UNIQUE INDEX kept_pan ON shop.kept (pan); COMMENT ON INDEX shop.kept_pan IS 'an index'; ALTER TABLE shop.kept CLUSTER ON kept_pan;
ALTER MATERIALIZED VIEW shop.kept ALTER pan SET STATISTICS 77;
ALTER VIEW shop.good ALTER "the PAN" SET DEFAULT 'nothing';
ALTER VIEW shop.counted OWNER TO reporting;
COMMENT ON VIEW shop.good IS 'it''s good'; COMMENT ON COLUMN shop.good."the PAN" IS 'a number'; COMMENT ON MATERIALIZED VIEW shop.kept IS 'kept';
GRANT SELECT ON shop.good TO reporting; GRANT SELECT ON shop.good TO reader WITH GRANT OPTION; GRANT SELECT ON shop.counted, shop.top TO PUBLIC; REVOKE DELETE ON shop.good FROM app;
GRANT UPDATE ("the PAN") ON shop.good TO reader; GRANT SELECT (id) ON shop.good TO stranger WITH GRANT OPTION;

CREATE FUNCTION shop.touched() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO shop.log VALUES (new.id, TG_NAME); RETURN new; END $$;
CREATE FUNCTION shop.instead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO shop.card (id, pan) VALUES (1000, new.pan); RETURN new; END $$;
CREATE TRIGGER of_pan BEFORE UPDATE OF pan ON shop.card FOR EACH ROW EXECUTE FUNCTION shop.touched();
CREATE TRIGGER when_pan AFTER UPDATE ON shop.card FOR EACH ROW WHEN (old.pan IS DISTINCT FROM new.pan) EXECUTE FUNCTION shop.touched();
CREATE CONSTRAINT TRIGGER later AFTER UPDATE OF pan ON shop.card DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION shop.touched();
CREATE TRIGGER off BEFORE UPDATE OF pan ON shop.card FOR EACH ROW EXECUTE FUNCTION shop.touched();
CREATE TRIGGER instead INSTEAD OF INSERT ON shop.counted FOR EACH ROW EXECUTE FUNCTION shop.instead();
ALTER TABLE shop.card ENABLE ALWAYS TRIGGER of_pan; ALTER TABLE shop.card DISABLE TRIGGER off; COMMENT ON TRIGGER when_pan ON shop.card IS 'when';

CREATE RULE note AS ON UPDATE TO shop.card WHERE old.pan = 'pan8' DO ALSO INSERT INTO shop.log VALUES (new.id, 'rule');
CREATE RULE no_deletes AS ON DELETE TO shop.counted DO INSTEAD NOTHING;
CREATE RULE unused AS ON INSERT TO shop.card WHERE new.pan = 'x' DO INSTEAD NOTHING;
ALTER TABLE shop.card DISABLE RULE unused; COMMENT ON RULE note ON shop.card IS 'a rule';

CREATE POLICY all_but_ten ON shop.card TO reader, stranger USING (pan <> 'pan10') WITH CHECK (pan IN (SELECT "the PAN" FROM shop.good));
CREATE POLICY strict ON shop.card AS RESTRICTIVE FOR SELECT USING (pan > 'a');
CREATE POLICY elsewhere ON shop.log FOR UPDATE TO reader USING (EXISTS (SELECT FROM shop.card WHERE card.pan = log.pan));
COMMENT ON POLICY strict ON shop.card IS 'a policy'; ALTER TABLE shop.card ENABLE ROW LEVEL SECURITY; GRANT SELECT ON shop.card TO reader;
-- what a view that he makes would have, and these have not
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO stranger), 'a table that much depends on');

my $all = q(
SELECT c.oid::regclass::text COLLATE "C", relkind, relowner::regrole, reloptions, relispopulated, obj_description(c.oid, 'pg_class'), pg_get_viewdef(c.oid),
  (SELECT string_agg(g::text, ' ' ORDER BY g::text) FROM aclexplode(coalesce(relacl, acldefault('r', relowner))) g)
  FROM pg_class c WHERE relkind IN ('v', 'm') AND relnamespace = 'shop'::regnamespace ORDER BY 1;
SELECT attrelid::regclass::text COLLATE "C", attname COLLATE "C", format_type(atttypid, atttypmod), col_description(attrelid, attnum),
  pg_get_expr(adbin, adrelid), nullif(attstattarget, CASE relkind WHEN 'm' THEN -1 ELSE attstattarget END),
  (SELECT string_agg(g::text, ' ' ORDER BY g::text) FROM aclexplode(attacl) g)
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relkind IN ('v', 'm') AND relnamespace = 'shop'::regnamespace AND attnum > 0 ORDER BY 1, 2;
SELECT pg_get_triggerdef(oid), tgenabled, obj_description(oid, 'pg_trigger') FROM pg_trigger WHERE NOT tgisinternal AND tgname !~ 'tde_' ORDER BY tgname;
SELECT pg_get_ruledef(r.oid), ev_enabled, obj_description(r.oid, 'pg_rewrite') FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class
  WHERE rulename <> '_RETURN' AND relnamespace = 'shop'::regnamespace ORDER BY rulename;
SELECT *, obj_description(oid, 'pg_policy') FROM pg_policies p JOIN pg_policy ON polname = policyname ORDER BY policyname;
SELECT pg_get_indexdef(indexrelid), indisclustered, obj_description(indexrelid, 'pg_class') FROM pg_index WHERE indrelid = 'shop.kept'::regclass);
$all =~ s/\*, obj_desc/schemaname, tablename, policyname, permissive, roles, cmd, qual, with_check, obj_desc/;
my $before = lines_of($node, $all);
my @names = ('index shop.kept_pan', 'materialized view shop.kept', 'policy all_but_ten on table shop.card', 'policy elsewhere on table shop.log',
  'policy strict on table shop.card', 'rule no_deletes on view shop.counted', 'rule note on table shop.card', 'rule unused on table shop.card',
  'trigger instead on view shop.counted', 'trigger later on table shop.card', 'trigger of_pan on table shop.card', 'trigger off on table shop.card',
  'trigger when_pan on table shop.card', 'view shop.counted', 'view shop.good', 'view shop.grouped', 'view shop.top');

# They work.
sub works
{
  my ($name) = @_;
  is(attempt($node, 'SELECT count(*), min(pan), max(n) FROM shop.top', user => 'reader')->{out}, '94|pan10|100', "$name: views");
  is(attempt($node, "SELECT count(*), min(pan) FROM shop.card WHERE id BETWEEN 9 AND 11", user => 'reader')->{out}, '2|pan11', "$name: policies");
  my $got = app_ok(q(BEGIN; UPDATE shop.card SET n = n WHERE id = 8; UPDATE shop.card SET pan = 'other' WHERE id = 8; SET CONSTRAINTS ALL IMMEDIATE;
    INSERT INTO shop.counted VALUES ('new', 1); DELETE FROM shop.counted; UPDATE shop.good SET n = 6 WHERE "the PAN" = 'pan9';
    SELECT string_agg(pan, ' ' ORDER BY pan) FROM shop.log; SELECT pan FROM shop.card WHERE id = 1000; REFRESH MATERIALIZED VIEW shop.kept;
    SELECT count FROM shop.kept WHERE pan = 'pan50'; ROLLBACK), "$name: changes");
  is($got->{out}, "later of_pan rule rule when_pan\nnew\n1", "$name: triggers and rules");
  app_fails(q(UPDATE shop.good SET n = 1), { state => '44000' }, "$name: CHECK OPTION");
  return;
}

foreach my $how ('offline', 'online')
{
  works("$how, before");
  like(convert('encrypt', $how, 'shop.card', 'pan'), qr/NOTICE: .*made again for the new type of column "pan"\nDETAIL:  @{[ join '\n', @names ]}\n/,
    "$how: a notice says what was made again");
  my $after = lines_of($node, $all);
  is(() = $after =~ /\|encrypted_text\(aes256,salt,gcm\)\|/g, 5, "$how: columns of views have the new type, too");
  $after =~ s/encrypted_text\(aes256,salt,gcm\)/text/g;
  $after =~ s/encrypted_text/text/g;
  is($after, $before, "$how: all is as it was");
  is(lines_of($node, q(SELECT DISTINCT refobjid::regoperator FROM pg_depend JOIN pg_rewrite r ON r.oid = objid
    WHERE ev_class = 'shop.good'::regclass AND refclassid = 'pg_operator'::regclass)), '<>(encrypted_text,text)', "$how: with operators of the encrypted type");
  works("$how, encrypted");
  convert('decrypt', $how, 'shop.card', 'pan');
  is(lines_of($node, $all) =~ s/::encrypted_text/::text/gr, $before, "$how: and again decrypted");
  works("$how, decrypted");
}
app_ok(q(ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM stranger), 'as usual');

#
# What cannot be made again: nothing has happened
#
app_ok(q(CREATE FUNCTION shop.same(anyelement, anyelement) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE VIEW shop.same AS SELECT shop.same(pan, holder) FROM shop.card; CREATE VIEW shop.on_same AS SELECT * FROM shop.same), 'a view that wants equal types');
$before = lines_of($node, $all);
my $impossible = {
  state   => '42883',
  message => qr/^view shop\.same cannot be made again for the new type of column "pan"$/,
  detail  => qr/^function shop\.same\(encrypted_text, text\) does not exist$/m,
  hint    => qr/^Drop it/
};
app_fails("CALL tde_encrypt_column('shop.card', 'pan')", $impossible, 'offline');
is(lines_of($node, $all), $before, 'offline: nothing has changed');
app_ok("CALL tde_encrypt_column('shop.card', 'pan', online => true)", 'online it does not matter before the swap');
app_fails("CALL tde_finish_conversion('shop.card', 'pan')", $impossible, 'online');
is(lines_of($node, $all),                               $before,         'online: nothing has changed');
is(lines_of($node, 'SELECT phase FROM tde.conversions'), 'copy',          'it goes on where it was');
app_ok("DROP VIEW shop.on_same, shop.same; CALL tde_finish_conversion('shop.card', 'pan')", 'without it');
works('finished');
convert('decrypt', 'offline', 'shop.card', 'pan');

# Online the column moves.
foreach my $direction ('encrypt', 'decrypt')
{
  app_ok('CREATE VIEW shop.aliases AS SELECT c.b, c.a FROM shop.card AS c (a, x, y, b)', 'a view that names columns by their position');
  app_ok("CALL tde_${direction}_column('shop.card', 'pan', online => true)", 'copied');
  $node->safe_psql('postgres', 'DROP VIEW shop.aliases; SET ROLE app; ' . q(DO $$ BEGIN EXECUTE format(
    'CREATE VIEW shop.aliases AS SELECT c.b FROM shop.card AS c (%s)', (SELECT string_agg(CASE attname WHEN 'pan' THEN 'b' ELSE 'x' || attnum END, ', ' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = 'shop.card'::regclass AND attnum > 0 AND NOT attisdropped)); END $$));
  app_fails("CALL tde_finish_conversion('shop.card', 'pan')", { message => qr/^view shop\.aliases cannot be made again/, state => $direction eq 'encrypt' ? '0A000' : '42P10' },
    "$direction: it would read another column");
  app_ok("DROP VIEW shop.aliases; CALL tde_finish_conversion('shop.card', 'pan')", "$direction: without it");
}

#
# What is refused
#
app_ok(q(
CREATE TABLE shop.odd (id int, pan text); CREATE VIEW shop.odd1 AS SELECT pan FROM shop.odd; CREATE VIEW shop.odd2 AS SELECT pan FROM shop.odd1;
CREATE MATERIALIZED VIEW shop.data AS SELECT pan FROM shop.odd2; CREATE MATERIALIZED VIEW shop.no_data AS SELECT pan, pan AS b FROM shop.odd2 WITH NO DATA;
CREATE STATISTICS shop.odd_statistics ON pan, b FROM shop.no_data;
CREATE FUNCTION shop.of_row(shop.odd1) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION shop.of_view() RETURNS bigint BEGIN ATOMIC SELECT count(*) FROM shop.odd2; END;
CREATE TABLE shop.of_rows (a shop.odd1[]);
CREATE VIEW shop.circle1 AS SELECT pan FROM shop.odd; CREATE VIEW shop.circle2 AS SELECT pan FROM shop.circle1;
CREATE OR REPLACE VIEW shop.circle1 AS SELECT pan FROM shop.circle2 UNION ALL SELECT pan FROM shop.odd;
CREATE VIEW shop.part AS SELECT pan FROM shop.odd), 'odd things');
lines_of($node, 'ALTER EXTENSION tde_column ADD VIEW shop.part');
my $other_session = session($node);
session_try($other_session, 'CREATE TEMP VIEW elsewhere AS SELECT pan FROM shop.odd');
foreach my $online ('false', 'true')
{
  app_fails(
    "CALL tde_encrypt_column('shop.odd', 'pan', online => $online)",
    {
      state  => '2BP01',
      detail => qr/^function\ shop\.of_row\(shop\.odd1\)\nfunction\ shop\.of_view\(\)\n
        materialized\ view\ shop\.data,\ which\ has\ data:\ REFRESH\ MATERIALIZED\ VIEW\ shop\.data\ WITH\ NO\ DATA\ before,\ .*\n
        statistics\ object\ shop\.odd_statistics\ntable\ shop\.of_rows\nview\ pg_temp_\d+\.elsewhere,\ which\ is\ temporary\ in\ another\ session\n
        view\ shop\.circle\d\nview\ shop\.part,\ which\ belongs\ to\ an\ extension$/x
    },
    "all obstacles, online $online");
}
$other_session->quit;
lines_of($node, 'ALTER EXTENSION tde_column DROP VIEW shop.part; DROP TABLE shop.odd, shop.of_rows CASCADE');

# Who may
$before = lines_of($node, $all);
lines_of($node, 'ALTER VIEW shop.counted OWNER TO stranger');
app_fails("CALL tde_encrypt_column('shop.card', 'pan', online => $_)",
  { state => '42501', detail => qr/^rule no_deletes on view shop\.counted, of role "stranger"\ntrigger instead .*\nview shop\.counted, of role "stranger"$/, hint => qr/superuser/ },
  "views of others, online $_") foreach 'false', 'true';
fails_with($node, "CALL tde_encrypt_column('shop.card', 'pan', online => $_)",
  { state => '42501', message => qr/^owners lack privileges to make again/, detail => qr/^view shop\.counted$/, hint => qr/^GRANT CREATE ON SCHEMA shop TO stranger;$/ },
  "a superuser, for an owner who may make no views any more, online $_") foreach 'false', 'true';
lines_of($node, 'GRANT CREATE ON SCHEMA shop TO stranger');
is(attempt($node, "CALL tde_encrypt_column('shop.card', 'pan'); CALL tde_decrypt_column('shop.card', 'pan')")->{state}, '', '... and for one who may');
lines_of($node, 'REVOKE CREATE ON SCHEMA shop FROM stranger; ALTER VIEW shop.counted OWNER TO reporting');

# What else owners may have lost.  Each hint helps.
app_ok('CREATE TABLE shop.pans (pan text PRIMARY KEY); INSERT INTO shop.pans SELECT DISTINCT pan FROM shop.card WHERE pan IS NOT NULL;
ALTER TABLE shop.card ADD CONSTRAINT known FOREIGN KEY (pan) REFERENCES shop.pans; CREATE STATISTICS shop.more ON pan, n FROM shop.card;
CREATE INDEX card_pattern ON shop.card (pan text_pattern_ops)', 'more that is made again');
lines_of($node, 'CREATE SCHEMA keys; GRANT USAGE ON SCHEMA keys TO app; ALTER TABLE shop.pans SET SCHEMA keys; ALTER TABLE keys.pans OWNER TO CURRENT_USER; GRANT REFERENCES ON keys.pans TO app');
foreach my $lost (
  [ 'REVOKE EXECUTE ON FUNCTION shop.touched() FROM PUBLIC, app', qr/^trigger later on table shop\.card\n/, qr/^GRANT EXECUTE ON FUNCTION shop\.touched\(\) TO app;$/ ],
  [ 'REVOKE TRIGGER ON shop.counted FROM reporting', qr/^trigger instead on view shop\.counted$/, qr/^GRANT TRIGGER ON shop\.counted TO reporting;$/ ],
  [ 'REVOKE REFERENCES ON keys.pans FROM app', qr/^constraint known on table shop\.card$/, qr/^GRANT REFERENCES \(pan\) ON keys\.pans TO app;$/ ])
{
  my ($revoke, $detail, $hint) = @$lost;
  lines_of($node, $revoke);
  foreach my $online ('false', 'true')
  {
    my $got = fails_with($node, "CALL tde_encrypt_column('shop.card', 'pan', online => $online)", { state => '42501', detail => $detail, hint => $hint }, "$revoke, online $online");
    lines_of($node, $got->{hint}) if $online eq 'true' && $got->{hint};
  }
  is(attempt($node, "BEGIN; CALL tde_encrypt_column('shop.card', 'pan'); ROLLBACK")->{state}, '', 'the hint helps');
}
lines_of($node, 'GRANT EXECUTE ON FUNCTION shop.touched() TO PUBLIC;
REVOKE EXECUTE ON FUNCTION shop.touched() FROM app; ALTER TABLE shop.card DROP CONSTRAINT known; DROP TABLE keys.pans; DROP SCHEMA keys; DROP STATISTICS shop.more; DROP INDEX shop.card_pattern');
is(lines_of($node, $all) =~ s/::encrypted_text/::text/gr, $before, 'leaves the owners');

#
# Views in use: who reads them waits, and has no error.
#
my $script = $node->basedir . '/reader.sql';
append_to_file($script, "SELECT count(*) FROM shop.top;\nSELECT count(pan) FROM shop.counted;\nSELECT count(pan) FROM shop.card;\nUPDATE shop.good SET n = n WHERE id = 50;\n");
my $output = '';
my $readers = IPC::Run::start(
  [ 'pgbench', '-n', '-c', 3, '-j', 1, '-R', 60, '-T', 10, '-f', $script, '-U', 'app', '-h', $node->host, '-p', $node->port, 'postgres' ], '>&', \$output);
convert($_, 'online', 'shop.card', 'pan') foreach 'encrypt', 'decrypt';
ok($readers->finish, 'readers had no error') or diag($output);
is(lines_of($node, $all) =~ s/::encrypted_text/::text/gr, $before, 'as in the beginning');

#
# Inherited columns, and temporary tables
#
app_ok(q(
CREATE TABLE shop.part (k int, a text) PARTITION BY RANGE (k); CREATE TABLE shop.part1 PARTITION OF shop.part FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (k);
CREATE TABLE shop.part11 PARTITION OF shop.part1 FOR VALUES FROM (0) TO (10); INSERT INTO shop.part VALUES (1, 'one');
CREATE FUNCTION shop.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER t BEFORE UPDATE OF a ON shop.part FOR EACH ROW EXECUTE FUNCTION shop.nothing();
CREATE TRIGGER own BEFORE UPDATE OF a ON shop.part11 FOR EACH ROW EXECUTE FUNCTION shop.nothing();
ALTER TABLE shop.part11 DISABLE TRIGGER t; ALTER TABLE ONLY shop.part ENABLE ALWAYS TRIGGER t; COMMENT ON TRIGGER t ON shop.part11 IS 'of the partition';
CREATE VIEW shop.part_view AS SELECT a FROM shop.part11; CREATE POLICY part_policy ON shop.part1 USING (a = 'one')), 'a partitioned table');
my $part = q(SELECT tgrelid::regclass::text COLLATE "C", pg_get_triggerdef(oid), tgenabled, obj_description(oid, 'pg_trigger') FROM pg_trigger
  WHERE tgrelid::regclass::text ~ 'shop.part' ORDER BY 1, 2; SELECT polrelid::regclass, pg_get_expr(polqual, polrelid) FROM pg_policy WHERE polname = 'part_policy');
$before = lines_of($node, $part);
convert('encrypt', 'offline', 'shop.part', 'a');
is(lines_of($node, $part), $before, 'triggers and policies of partitions');
is(lines_of($node, 'SELECT a FROM shop.part_view'), 'one', 'and their views');
lines_of($node, 'GRANT CREATE ON SCHEMA public TO app');
is(
  app(q(CREATE TABLE public.shadow (a text); CREATE TEMP TABLE shadow (a text); INSERT INTO shadow VALUES ('temporary'); INSERT INTO public.shadow VALUES ('permanent');
    CREATE VIEW public.shown AS SELECT * FROM public.shadow; CREATE TEMP VIEW shown AS SELECT * FROM shadow; CALL tde_encrypt_column('pg_temp.shadow', 'a');
    SELECT a.attrelid = 'public.shadow'::regclass, format_type(atttypid, NULL) FROM pg_attribute a WHERE attname = 'a'
    AND attrelid IN ('shadow'::regclass, 'public.shadow'::regclass) ORDER BY 1; SELECT * FROM shown; SELECT * FROM public.shown))->{out},
  "f|encrypted_text\nt|text\ntemporary\npermanent",
  'a temporary table that has the name of another one');

#
# What was written with constants of encrypted types is told
#
foreach my $how ('offline', 'online')
{
  app_ok("CREATE TABLE shop.rest_$how (id int, c encrypted_varchar(10), d encrypted_text, CONSTRAINT not_x CHECK (c <> 'x'), CONSTRAINT has_some CHECK (c IS NOT NULL), CONSTRAINT both_x CHECK (c <> 'x' OR d <> 'x'))", "$how: a table with constants in its CHECKs");
  my $said = join('', map { app_ok($_, "$how: $_")->{err} } steps('decrypt', $how, "shop.rest_$how", 'c'));
  like($said, qr/still has constants or functions of encrypted types\nDETAIL:  constraint not_x on table (?:shop\.)?rest_$how\nHINT/s, "$how: a CHECK that still needs the wallet is named");
  unlike($said, qr/has_some|both_x/, '... and no other one');
}

#
# Triggers that fill a tsvector column read encrypted columns by functions of ours, and go on as before when it is decrypted
#
foreach my $how ('offline', 'online')
{
  app_ok("CREATE TABLE shop.text_$how (id int PRIMARY KEY, title text, body text, fts tsvector); CREATE TRIGGER words BEFORE INSERT OR UPDATE OF title, body
    ON shop.text_$how FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(fts, 'pg_catalog.english', title, body); INSERT INTO shop.text_$how VALUES (1, 'old titles', 'bodies')",
    "$how: a trigger that fills a tsvector column");
  my $defined = lines_of($node, "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'shop.text_$how'::regclass");
  my $said = join('', map { app_ok($_, "$how: $_")->{err} } steps('encrypt', $how, "shop.text_$how", 'title'));
  like($said, qr/WARNING: .*trigger "words" stores words of encrypted columns in clear/, "$how: words in clear are told of");
  app_ok("UPDATE shop.text_$how SET title = 'new titles'", "$how: an update");
  is(lines_of($node, "SELECT fts FROM shop.text_$how"), q('bodi':3 'new':1 'titl':2), "$how: of the encrypted column and the plain one");
  app_ok($_, "$how: $_") foreach steps('decrypt', $how, "shop.text_$how", 'title');
  is(lines_of($node, "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'shop.text_$how'::regclass AND tgname = 'words'"), $defined,
    "$how: the trigger of before");
}

$node->stop;
done_testing();
