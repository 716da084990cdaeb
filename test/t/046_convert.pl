# Converting columns of tables in use: what survives, what is refused, who may, writers meanwhile, crashes, and that no
# plaintext stays in any file of the database, nor of a replica's.

use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $node = tde_node('convert', extension => 1, conf => "tde_column.passphrase_command = 'echo convert-passphrase'\nwal_level = logical\n");
$node->append_conf('postgresql.conf', "max_wal_senders = 4\nhot_standby_feedback = off\n");
$node->append_conf('pg_hba.conf', "local replication all trust\n");
$node->start;
lines_of($node, q(
SELECT tde_wallet_create('convert-passphrase');
CREATE ROLE app LOGIN; CREATE ROLE other LOGIN; GRANT CREATE ON SCHEMA public TO app));

# A statement as the ordinary role that owns the tables: what psql says.
sub app { return attempt($node, $_[0], user => 'app'); }
sub app_ok { my ($sql, $name) = @_; my $got = app($sql); is($got->{state}, '', $name) or diag($got->{err}); return $got; }
sub app_fails { my ($sql, $expected, $name) = @_; return fails_with($node, $sql, $expected, $name, user => 'app'); }

# Files of the database, or of the same database on another server, that hold the text.
sub files_with
{
  my ($text, $where) = @_;
  $where //= $node;
  $node->safe_psql('postgres', 'CHECKPOINT');
  my $folder = $where->data_dir . '/base/' . lines_of($node, "SELECT oid FROM pg_database WHERE datname = 'postgres'");
  return join ' ', sort grep { index(read_bytes("$folder/$_"), $text) >= 0 } grep { !/^\.\.?$/ } slurp_dir($folder);
}

sub replacement_indexes
{
  my ($table, $column) = @_;
  return split /\n/, app("SELECT tde_conversion_indexes('$table', '$column')")->{out};
}

# Online, from beginning to end.
sub convert_online
{
  my ($direction, $table, $column, $name) = @_;
  app_ok("CALL tde_${direction}_column('$table', '$column', online => true)", "$name: copied");
  app_ok($_, "$name: $_") foreach replacement_indexes($table, $column);
  return app_ok("CALL tde_finish_conversion('$table', '$column')", "$name: finished");
}

#
# Offline
#
app_ok(q(
CREATE TABLE customer (code text PRIMARY KEY);
INSERT INTO customer SELECT 'CUST' || g FROM generate_series(1, 500) g;
CREATE TABLE card (
  id int PRIMARY KEY, pan text NOT NULL DEFAULT 'OFFLINEMARK default' CHECK (length(pan) > 3), holder varchar(25) COLLATE "C" UNIQUE,
  amount numeric(15,2) DEFAULT -1.50, at timestamp(3), words text[], customer text REFERENCES customer, big text);
CREATE INDEX card_named ON card (holder varchar_ops);
CREATE INDEX card_pan ON card (pan DESC, id) INCLUDE (amount) WITH (fillfactor = 70);
CREATE UNIQUE INDEX card_pattern ON card (pan text_pattern_ops DESC, holder varchar_pattern_ops, id) WITH (fillfactor = 80);
CREATE INDEX card_crossed ON card (pan varchar_pattern_ops, holder text_pattern_ops);
COMMENT ON INDEX card_pattern IS 'in the order of bytes';
ALTER TABLE card CLUSTER ON card_pattern;
CREATE TABLE payment (customer text REFERENCES customer ON UPDATE CASCADE);
CREATE STATISTICS card_stats ON pan, holder FROM card;
COMMENT ON COLUMN card.pan IS 'a number';
GRANT SELECT (pan), UPDATE (pan) ON card TO other;
INSERT INTO card SELECT g, CASE WHEN g % 2 = 0 THEN 'OFFLINEMARK common' ELSE 'OFFLINEMARK' || g END, 'holder' || g, g, '2024-02-03 04:05:06.789',
  ARRAY['x', 'WORDMARK' || g], 'CUST' || g, CASE WHEN g % 50 = 0 THEN repeat('BIGMARK' || g, 2000) END FROM generate_series(1, 500) g;
INSERT INTO card (id, holder) VALUES (1000, NULL);
INSERT INTO payment SELECT 'CUST' || g FROM generate_series(1, 20) g;
ANALYZE card), 'a table with everything');
isnt(files_with('OFFLINEMARK'), '', 'its values are in files');

my $columns = q(SELECT attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), attcollation::regcollation,
  col_description(attrelid, attnum), has_column_privilege('other', attrelid, attnum, 'SELECT, UPDATE')
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = 'card'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname COLLATE "C");
my $constraints = q(SELECT conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint
  WHERE contype IN ('p', 'u', 'c', 'f') AND conrelid IN ('card'::regclass, 'payment'::regclass, 'customer'::regclass) ORDER BY 1, conname);
my $indexes = q(SELECT regexp_replace(pg_get_indexdef(indexrelid), 'tde(_internal)?[.](?=[a-z]+_pattern_ops)| varchar_ops', '', 'g'), indisvalid, indisclustered,
  obj_description(indexrelid, 'pg_class') FROM pg_index WHERE indrelid = 'card'::regclass ORDER BY 1;
  SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext);
my $content = q(SELECT md5(string_agg(concat_ws('|', id, pan, holder, amount, at, words, customer, big), ' ' ORDER BY id)) FROM card);
my %before = map { $_ => lines_of($node, $_) } $constraints, $indexes, $content;

app_ok("CALL tde_encrypt_column('card', 'pan', 'aes256,nosalt')", 'text, with two words');
app_ok("CALL tde_encrypt_column('card', 'holder', '3des168, nosalt')", 'varchar, with a word that SQL would have to quote');
app_ok("CALL tde_encrypt_column('card', 'amount', ' ''aes128'' ,SHA256')", 'numeric, with a quoted word');
app_ok("CALL tde_encrypt_column('card', '$_')", $_) foreach qw(at words customer big);
app_ok("CALL tde_encrypt_column('customer', 'code')", 'a primary key to which plain and encrypted columns refer');
is(
  lines_of($node, $columns),
  q(amount|encrypted_numeric(15,2,aes128,salt,sha256)|f|'-1.50'::encrypted_numeric|-||f
at|encrypted_timestamp(3,aes256,salt,gcm)|f||-||f
big|encrypted_text(aes256,salt,gcm)|f||"default"||f
customer|encrypted_text(aes256,salt,gcm)|f||"default"||f
holder|encrypted_varchar(25,'3des168',nosalt,sha256)|f||"C"||f
id|integer|t||-||f
pan|encrypted_text(aes256,nosalt,gcm)|t|'OFFLINEMARK default'::encrypted_text|"default"|a number|t
words|encrypted_text(aes256,salt,gcm)[]|f||"default"||f),
  'the columns with their types, defaults, collations, comments and privileges');
is(lines_of($node, $constraints) =~ s/length\(pan::text\)|length\(\(pan\)::text\)/length(pan)/r, $before{$constraints}, 'the constraints are there');
is(lines_of($node, $indexes),     $before{$indexes},     'the indexes and statistics objects, too');
is(lines_of($node, $content),     $before{$content},     'the values are the same');
foreach my $mark ('OFFLINEMARK', 'WORDMARK', 'BIGMARK')
{
  is(files_with($mark), '', "no file holds $mark any more");
}
app_fails("INSERT INTO card (id, pan) VALUES (2000, 'x')", { state => '23514' }, 'the CHECK works');
app_fails("INSERT INTO card (id, customer) VALUES (2000, 'x')", { state => '23503' }, 'the foreign key works');
is(app('INSERT INTO card (id) VALUES (2000) RETURNING pan, amount')->{out}, 'OFFLINEMARK default|-1.50', 'the defaults work');
app_ok('DELETE FROM card WHERE id = 2000', 'cleaned');

app_ok("CALL tde_decrypt_column('card', '$_')", "$_ back") foreach qw(pan holder amount at words customer big);
app_ok("CALL tde_decrypt_column('customer', 'code')", 'code back');
is(lines_of($node, $_), $before{$_}, 'everything as it was') foreach $constraints, $indexes, $content;

app_ok("BEGIN; CALL tde_encrypt_column('card', 'pan'); ROLLBACK", 'in a transaction block');
is(lines_of($node, $content), $before{$content}, 'that was rolled back');

#
# What is refused
#
app_fails("CALL tde_encrypt_column('card', 'nothing')", { state => '42703', message => qr/column "nothing" of relation "card"/ }, 'no such column');
app_fails("CALL tde_decrypt_column('card', 'pan')", { state => '42809', message => qr/^column "pan" is not encrypted$/ }, 'a plain column');
app_fails("CALL tde_encrypt_column('card', 'pan', 'aes256,foo')", { state => '22023', detail => qr/"foo" is not known/ }, 'an unknown word');
app_fails("CALL tde_finish_conversion('card', 'pan')", { state => '55000', hint => qr/tde_encrypt_column\('public\.card', 'pan', online => true\)/ }, 'finish what was not begun');
app_fails("BEGIN; CALL tde_encrypt_column('card', 'pan', online => true)", { state => '25001' }, 'online in a transaction block');
fails_with($node, $_, { state => '42501' }, $_, user => 'other')
  foreach "CALL tde_encrypt_column('card', 'pan')", "CALL tde_decrypt_column('card', 'pan', online => true)",
  "CALL tde_internal.tde_convert_all_rows('card', 'pan', 'holder', 100, 0)", "SELECT tde_internal.tde_wipe_blocks('card', 0, 1, '3')", "CALL tde_wipe_free_space('card')";
foreach my $arguments ("NULL, 'pan', 'holder', 1, 0", "'card', NULL, NULL, 1, 0", "'card', 'pan', 'holder', NULL, 0", "'card', 'pan', 'holder', 1, NULL")
{
  app_fails("CALL tde_internal.tde_convert_all_rows($arguments)", { state => '22004', message => qr/must not be null/ }, "a null among $arguments");
}
app_ok(q(
CREATE DOMAIN word AS text;
CREATE TABLE odd (id int GENERATED ALWAYS AS IDENTITY, d word, i interval year to month, x money, p text, g text GENERATED ALWAYS AS (p || 'x') STORED)),
  'columns that cannot be');
app_fails("CALL tde_encrypt_column('odd', 'd')", { state => '42809', message => qr/domain public\.word$/ }, 'a domain');
app_fails("CALL tde_encrypt_column('odd', 'i')", { state => '0A000', hint => qr/TYPE interval/ }, 'fields of an interval');
app_fails("CALL tde_encrypt_column('odd', 'x')", { state => '42704', hint => qr/tde_create_type\('money'\)/ }, 'a type without an encrypted one');
app_fails("CALL tde_encrypt_column('odd', 'id')", { state => '2BP01', detail => qr/identity/ }, 'an identity column');
app_fails("CALL tde_encrypt_column('odd', 'p')", { state => '2BP01', detail => qr/^generated column g$/ }, 'a column of a generated one');
lines_of($node, 'CREATE OPERATOR CLASS own_ops FOR TYPE text USING btree FAMILY text_ops AS STORAGE text');
app_ok(q(
CREATE MATERIALIZED VIEW card_view AS SELECT pan FROM card;
CREATE FUNCTION own_lower(text) RETURNS text IMMUTABLE LANGUAGE sql RETURN lower($1); CREATE INDEX card_mine ON card (own_lower(pan));
CREATE INDEX card_lower ON card (lower(pan)); CREATE INDEX card_own ON card (pan own_ops); CREATE INDEX card_brin ON card USING brin (pan text_bloom_ops);
CREATE FUNCTION card_count() RETURNS bigint BEGIN ATOMIC SELECT count(pan) FROM card; END;
CREATE STATISTICS card_expression ON lower(pan), id FROM card), 'objects that depend on a type');
lines_of($node, 'CREATE PUBLICATION card_publication FOR TABLE card (id, pan)');
foreach my $online ('false', 'true')
{
  app_fails(
    "CALL tde_encrypt_column('card', 'pan', online => $online)",
    {
      state   => '2BP01',
      message => qr/^column "pan" of table "card" cannot be encrypted because other objects depend on its type$/,
      detail  => qr/^function\ public\.card_count\(\)\nindex\ public\.card_brin,\ which\ names\ operator\ class\ text_bloom_ops\n
        index\ public\.card_mine,\ which\ computes\ with\ the\ column\ by\ function\ public\.own_lower\(text\)\n
        index\ public\.card_own,\ which\ names\ operator\ class\ own_ops\n
        materialized\ view\ public\.card_view,\ which\ has\ data:\ .*\npublication\ of\ table\ public\.card\ in\ publication\ card_publication\n
        statistics\ object\ public\.card_expression,\ which\ has\ an\ expression\ of\ the\ column$/x,
      hint => qr/^Drop them/
    },
    "all obstacles at once, online $online");
}
lines_of($node, 'DROP PUBLICATION card_publication; DROP OPERATOR CLASS own_ops USING btree CASCADE');
app_ok(q(DROP MATERIALIZED VIEW card_view; DROP INDEX card_lower, card_brin, card_mine;
DROP FUNCTION card_count; DROP STATISTICS card_expression; CREATE INDEX card_some ON card (id) WHERE nullif(lower(pan), 'x') = 'y'),
  'away with them');
app_fails("CALL tde_encrypt_column('card', 'pan')", { state => '42P17', hint => qr/^Drop the indexes of table public\.card that compute with the column/ }, "an index's condition that would decrypt");
app_fails("CALL tde_encrypt_column('card', 'pan', online => true)", { state => '2BP01', detail => qr/card_some, which has a condition/ }, 'and online');
app_ok('DROP INDEX card_some', 'dropped');
lines_of($node, "SET allow_in_place_tablespaces = on; CREATE TABLESPACE elsewhere LOCATION ''; GRANT CREATE ON TABLESPACE elsewhere TO app");
my $part_indexes = q(SELECT relkind, spcname, opcname, indisvalid FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_opclass o ON o.oid = indclass[0]
  LEFT JOIN pg_tablespace s ON s.oid = reltablespace WHERE indrelid::regclass::text ~ '^part1?$' ORDER BY 1, 2);
app_ok(q(CREATE TABLE part (k int, a text, b text) PARTITION BY RANGE (k); CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE INDEX part_a ON part (a); CREATE INDEX part_bytes ON part (a text_pattern_ops) TABLESPACE elsewhere; INSERT INTO part SELECT g, 'PARTMARK' || g FROM generate_series(1, 300) g;
CALL tde_encrypt_column('part', 'a')), 'a partitioned table');
is(files_with('PARTMARK'), '', 'and its partition');
is(lines_of($node, $part_indexes), q(I|elsewhere|text_pattern_ops|t
I||encrypted_text_ops|t
i|elsewhere|text_pattern_ops|t
i||encrypted_text_ops|t), 'and their indexes');
app_fails("CALL tde_encrypt_column('part1', 'b')", { state => '42P16', hint => qr/table public\.part\b/ }, 'a partition by itself');
app_fails("CALL tde_encrypt_column('part', 'k')", { state => '2BP01', detail => qr/^the partition key, which cannot change: make a new table/ }, 'a partition key');
lines_of($node, 'DROP TABLE part; DROP TABLESPACE elsewhere');

is(
  app(q(CREATE TABLE public.shadow (a text); CREATE TEMP TABLE shadow (a text); CALL tde_encrypt_column('pg_temp.shadow', 'a');
    SELECT attrelid = 'public.shadow'::regclass, format_type(atttypid, NULL) FROM pg_attribute WHERE attname = 'a'
    AND attrelid IN ('shadow'::regclass, 'public.shadow'::regclass) ORDER BY 1; DROP TABLE public.shadow))->{out},
  "f|encrypted_text\nt|text", 'a temporary table that has the name of another one');

#
# Wiping.  What PostgreSQL leaves is found in the file, and not any more afterwards.
#
app_ok(q(CREATE TABLE removed (id int, a text); INSERT INTO removed SELECT g, 'REMOVEDMARK' || g FROM generate_series(1, 1000) g), 'rows');
my $aborted = "BEGIN; INSERT INTO removed SELECT g, 'ABORTEDMARK' || g FROM generate_series(1, 100) g; ROLLBACK";
app_ok($aborted,                         'rows that never were');
app_ok('DELETE FROM removed WHERE id > 1; VACUUM removed', 'vacuumed');
isnt(files_with('REMOVEDMARK2'), '', 'VACUUM leaves the bytes of removed rows in the file');
app_ok("CALL tde_wipe_free_space('removed'); $aborted", 'wiped');
is(files_with('REMOVEDMARK2'), '', 'wiping overwrites them');
is(app('SELECT a FROM removed')->{out}, 'REMOVEDMARK1', 'and leaves the others');
isnt(files_with('ABORTEDMARK'), '', 'rows that were rolled back are in the file');
app_ok("CALL tde_wipe_free_space('removed')", 'wiped without VACUUM');
is(files_with('ABORTEDMARK'), '', 'they are gone, too');

#
# Online, on a replicated table that others write all the time
#
my $standby = PostgreSQL::Test::Cluster->new('standby');
$node->backup('base');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

app_ok(q(
CREATE TABLE account (id int PRIMARY KEY, owner text, card text NOT NULL CHECK (card LIKE 'LIVEMARK%'), v int, touched int DEFAULT 0, UNIQUE (card, id),
                      customer text REFERENCES customer, note text);
CREATE TABLE mirror (id int PRIMARY KEY, digest text);
CREATE FUNCTION mirror() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM mirror WHERE id = old.id;
  ELSE
    INSERT INTO mirror VALUES (new.id, md5(concat(new.card, new.note))) ON CONFLICT (id) DO UPDATE SET digest = excluded.digest;
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.touched = old.touched + 1; RETURN new; END $$;
CREATE TRIGGER mirror AFTER INSERT OR UPDATE OR DELETE ON account FOR EACH ROW EXECUTE FUNCTION mirror();
CREATE TRIGGER touch BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION touch();
CREATE INDEX account_card ON account (card) INCLUDE (v) WHERE v > 0;
CREATE INDEX account_owner ON account (owner DESC) WHERE card IS NOT NULL;
CREATE INDEX account_pattern ON account (card text_pattern_ops, v);
CREATE STATISTICS account_stats ON card, owner FROM account;
COMMENT ON COLUMN account.card IS 'the card'; GRANT SELECT (card) ON account TO PUBLIC; ALTER TABLE account ALTER card SET STATISTICS 77;
INSERT INTO account SELECT g, 'someone', 'LIVEMARK' || g, g, 0, NULL, CASE WHEN g % 50 = 0 THEN repeat('LIVEMARK' || g, 2000) END FROM generate_series(1, 3000) g;
ANALYZE account;
CREATE TABLE ref (id int REFERENCES account, card text, FOREIGN KEY (card, id) REFERENCES account (card, id) ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO ref SELECT id, card FROM account WHERE id <= 20), 'a table in use');
isnt(files_with('LIVEMARK'), '', 'its values are in files');
my $account_constraints = $constraints =~ s/'card'::regclass.*?'customer'::regclass/'account'::regclass, 'ref'::regclass/r;
my $account_indexes = $indexes =~ s/'card'/'account'/r;
my $account_constraints_before = lines_of($node, $account_constraints);
my $account_indexes_before = lines_of($node, $account_indexes);

my $script = $node->basedir . '/writer.sql';
append_to_file($script, <<'WRITER');
\set id random(1, 3000)
\set new random(3001, 4000)
\set r random(1, 1000000)
UPDATE account SET card = 'LIVEMARK' || :r, v = :r WHERE id = :id;
UPDATE account SET note = CASE WHEN id % 50 = 0 THEN repeat('LIVEMARK' || :r, 2000) END WHERE id BETWEEN :id - 5 AND :id + 5;
INSERT INTO account (id, owner, card, v) VALUES (:new, 'new', 'LIVEMARK' || :r, :r) ON CONFLICT (id) DO NOTHING;
DELETE FROM account WHERE id = :new - 1;
WRITER
sub writers
{
  my ($seconds) = @_;
  my $output = '';
  my $run = IPC::Run::start(
    [ 'pgbench', '-n', '-c', 3, '-j', 1, '-R', 300, '-T', $seconds, '-f', $script, '-U', 'app', '-h', $node->host, '-p', $node->port, 'postgres' ],
    '>&', \$output);
  return sub { my $ok = $run->finish; ok($ok, 'the writers had no error') or diag($output); };
}
sub account_is_right
{
  my ($name) = @_;
  is(lines_of($node, 'SELECT count(*) FROM account FULL JOIN mirror USING (id) WHERE md5(concat(card::text, note::text)) IS DISTINCT FROM digest'), '0', "$name: no row was lost or is wrong");
  return;
}

# encrypt, while others write
my $finish_writers = writers(5);
app_ok("CALL tde_encrypt_column('account', 'card', 'aes256,nosalt', online => true, batch_rows => 200, batch_delay => 0.05)", 'copied while others write');
is(lines_of($node, 'SELECT column_name, phase, direction, new_type, helper_column FROM tde.conversions'),
  'card|copy|encrypt|encrypted_text(aes256,nosalt,gcm)|tde_convert_3', 'the view tells');
app_fails(
  "CALL tde_finish_conversion('account', 'card')",
  { state => '55000', detail => qr/^CREATE UNIQUE INDEX CONCURRENTLY.*\nCREATE INDEX CONCURRENTLY.*\nCREATE INDEX CONCURRENTLY.*\(owner DESC\) WHERE tde_convert_3 IS NOT NULL;/, hint => qr/tde_conversion_indexes/ },
  'indexes first');
app_ok($_, $_) foreach replacement_indexes('account', 'card');
is(join(' ', replacement_indexes('account', 'card')), '', 'none is missing now');
app_ok("CALL tde_finish_conversion('account', 'card', batch_rows => 200)", 'finished while others write');
convert_online('encrypt', 'account', 'note', 'large values while others write');
$finish_writers->();
account_is_right('encrypted');
is(lines_of($node, "SELECT count(*) FROM account WHERE card::text NOT LIKE 'LIVEMARK%'"), '0', 'the values can be read');
is(lines_of($node, 'SELECT count(*) > 0 FROM account WHERE touched = 0'), 't', 'triggers did not fire for the conversion');
is(lines_of($node, 'SELECT count(*) FROM tde.conversions'), '0', 'nothing is left to do');
is(lines_of($node, "SELECT count(*) FROM pg_attribute WHERE attrelid = 'account'::regclass AND attnum > 0 AND NOT attisdropped"), '7', 'and no helper column');
is(lines_of($node, "SELECT format_type(atttypid, atttypmod), attnotnull, attstattarget, col_description(attrelid, attnum), attacl
                    FROM pg_attribute WHERE attrelid = 'account'::regclass AND attname = 'card'"),
  'encrypted_text(aes256,nosalt,gcm)|t|77|the card|{=r/app}', 'what belongs to the column');
is(lines_of($node, $account_constraints) =~ s/\(card\)::text/card/r, $account_constraints_before, 'the constraints');
is(lines_of($node, $account_indexes), $account_indexes_before =~ s/card, owner/owner, card/r, 'the indexes and statistics objects');

# ref.card is in clear still
app_ok("CALL tde_encrypt_column('ref', 'card')", 'the referencing column');
is(files_with('LIVEMARK'), '', 'no file holds a value');
$node->wait_for_catchup($standby, 'replay');
$standby->safe_psql('postgres', 'CHECKPOINT');
is(files_with('LIVEMARK', $standby), '', "nor does one of the replica's");
$standby->stop;

# A transaction that writes one row, and then another one: neither it nor the conversion ends in a deadlock.
app_ok("CREATE TABLE pair (id int PRIMARY KEY, a text, b int); INSERT INTO pair SELECT g, 'BOTHMARK' || g FROM generate_series(1, 1000) g", 'a table');
app_ok("CALL tde_encrypt_column('pair', '$_', online => true)", "copied: $_") foreach qw(a b);
app_ok(q(ALTER TABLE pair DISABLE TRIGGER "~tde_convert_2"; UPDATE pair SET tde_convert_2 = NULL; ALTER TABLE pair ENABLE ALWAYS TRIGGER "~tde_convert_2";
VACUUM FULL pair), 'as if nothing had been copied');
my $copying_output = '';
my $holder = session($node);
is(session_try($holder, "BEGIN; UPDATE pair SET b = 1 WHERE id = 1000")->{err}, '', 'one row');
my $copying = IPC::Run::start(
  [ 'psql', '-X', '-U', 'app', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-v', 'ON_ERROR_STOP=1',
    '-c', "CALL tde_encrypt_column('pair', 'a', online => true)" ],
  '>&', \$copying_output);
is(session_try($holder, "SELECT pg_sleep(2); UPDATE pair SET b = 2 WHERE id = 1; COMMIT")->{err}, '', 'and another');
ok($copying->finish, 'copied meanwhile') or diag($copying_output);
$holder->quit;
app_ok("CALL tde_finish_conversion('pair', '$_')", "finished: $_") foreach qw(a b);
is(lines_of($node, 'SELECT count(a), count(b), sum(b::int) FROM pair'), '1000|2|3', 'nothing is lost');
is(files_with('BOTHMARK'), '', 'and nothing in clear');

# An old snapshot keeps removed rows: they are told of, and wiped the next time.
app_ok("CREATE TABLE held (id int, a text); INSERT INTO held SELECT g, 'HELDMARK' || g FROM generate_series(1, 500) g", 'a table');
app_ok("CALL tde_encrypt_column('held', 'a', online => true)", 'copied');
my $reader = session($node);
session_try($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM removed');
my $held = app("CALL tde_finish_conversion('held', 'a', max_wait => 0.5)");
like($held->{err}, qr/WARNING:\s+\S+ \d+ removed row versions of table \S*held could not be wiped yet/, 'a warning');
is(lines_of($node, 'SELECT phase FROM tde.conversions'), 'erase', 'the conversion goes on');
is(lines_of($node, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'held'::regclass AND attname = 'a'"),
  'encrypted_text(aes256,salt,gcm)', 'the column is encrypted');
isnt(files_with('HELDMARK'), '', 'but its old values are in the file');
app_fails("CALL tde_abort_conversion('held', 'a')", { state => '55000', message => qr/has its new type already/ }, 'too late to abort');
session_try($reader, 'COMMIT');
$reader->quit;
app_ok("INSERT INTO held (id, a) VALUES (0, 'HELDMARK0')", 'a new row');
app_ok("CALL tde_finish_conversion('held', 'a')", 'once more');
is(files_with('HELDMARK'), '', 'now they are not');
is(lines_of($node, "SELECT count(*), min(a) FROM held"), '501|HELDMARK0', 'the rows are there');

#
# Progress
#
sub progress_of
{
  my ($phase) = @_;
  return "SELECT count(*) = 1 FROM tde.progress WHERE phase = '$phase' AND table_name = 'crash'::regclass AND blocks_done BETWEEN 1 AND blocks_total AND rows_seen >= rows_changed AND rows_changed > 0";
}
app_ok(q(CREATE TABLE slow (a text); ALTER TABLE slow ALTER a SET STORAGE PLAIN;
  INSERT INTO slow SELECT repeat('x', 5000) FROM generate_series(1, 8); ANALYZE slow), 'a table with a row in each of eight blocks');
like(app_ok("CALL tde_encrypt_column('slow', 'a', online => true, batch_rows => 1, batch_delay => 0.9)", 'converted slowly')->{err},
  qr/NOTICE: .*table "slow": copying, \d+ %, [1-8] rows changed, \d+ rows\/s, about \d+ s left/, 'every few seconds it says how far it is');
is(lines_of($node, 'SELECT count(*) FROM tde.progress'), '0', 'and no longer when it has ended');
app_ok("CALL tde_abort_conversion('slow', 'a'); DROP TABLE slow", 'given up');

# A row that somebody else holds ends a batch, and is waited for as the first of the next one, while no other row is held.
app_ok("CREATE TABLE held_row (id int, a text); INSERT INTO held_row SELECT g, 'HELDROW' || g FROM generate_series(1, 4) g", 'a table of which a row will be held');
my $row_holder = session($node);
my $row_copied = '';
my $row_copying = IPC::Run::start([ 'psql', '-X', '-U', 'app', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c',
  "CALL tde_encrypt_column('held_row', 'a', online => true, batch_rows => 1, batch_delay => 1)" ], '>&', \$row_copied);
$node->poll_query_until('postgres', $_) or die "the conversion does not begin: $row_copied"
  foreach "SELECT count(*) = 1 FROM tde.conversions WHERE relation = 'held_row'::regclass", 'SELECT count(tde_convert_2) > 0 FROM held_row';
session_try($row_holder, "BEGIN; UPDATE held_row SET a = 'HELDROWx' WHERE id = 4");
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'}), 'the row is waited for');
is(lines_of($node, 'SELECT string_agg(id::text, $$ $$ ORDER BY id) FROM held_row WHERE tde_convert_2 IS NOT NULL'), '1 2 3', 'the others are there');
is(session_try($row_holder, 'SELECT count(*) FROM (SELECT FROM held_row FOR UPDATE) s')->{out}, '4', 'and held by nobody');
session_try($row_holder, 'COMMIT');
$row_holder->quit;
$row_copying->finish;
is(lines_of($node, "SELECT string_agg(tde_convert_2::text, ' ' ORDER BY id) FROM held_row"), 'HELDROW1 HELDROW2 HELDROW3 HELDROWx', 'all rows are copied');
app_ok("CALL tde_abort_conversion('held_row', 'a'); DROP TABLE held_row", 'given up');

#
# Crashes
#
app_ok("CREATE TABLE crash (id int PRIMARY KEY, a text); INSERT INTO crash SELECT g, 'CRASHMARK' || g FROM generate_series(1, 3000) g", 'a table');
my $slowly = 'batch_rows => 100, batch_delay => 0.1';
app_ok('ANALYZE crash', 'of which the number of rows is known');
crash_during($node, 'app', "CALL tde_encrypt_column('crash', 'a', online => true, $slowly)", "SELECT count(*) = 1 FROM tde.conversions",
  'SELECT count(tde_convert_2) > 0 FROM crash', progress_of('copying'));
is(lines_of($node, 'SELECT phase FROM tde.conversions'), 'copy', 'after a crash the copy is there');
my $some = lines_of($node, 'SELECT count(tde_convert_2) FROM crash');
ok($some > 0 && $some < 3000, 'with some rows') or diag($some);
app_ok("INSERT INTO crash VALUES (3001, 'CRASHMARK3001'); UPDATE crash SET a = 'CRASHMARKx' WHERE id = 3000", 'written meanwhile');
crash_during($node, 'app', "CALL tde_finish_conversion('crash', 'a', $slowly)", "SELECT count(*) = 1 FROM tde.conversions WHERE phase = 'erase'",
  progress_of('erasing'));
is(lines_of($node, 'SELECT phase, helper_column FROM tde.conversions'), 'erase|tde_erase_2', 'after another crash it was swapped');
is(lines_of($node, "SELECT count(*) FROM crash WHERE a = CASE id WHEN 3000 THEN 'CRASHMARKx' ELSE 'CRASHMARK' || id END"), '3001', 'every row is right');
app_ok("CALL tde_finish_conversion('crash', 'a')", 'finished');
is(files_with('CRASHMARK'), '', 'without plaintext');

#
# Back, and aborted
#
$finish_writers = writers(2);
convert_online('decrypt', 'account', 'card', 'decrypted while others write');
$finish_writers->();
account_is_right('decrypted');
is(lines_of($node, $account_constraints), $account_constraints_before, 'the constraints as in the beginning');

app_ok("CALL tde_encrypt_column('account', 'owner', online => true)", 'begun');
app_ok("CALL tde_abort_conversion('account', 'owner')", 'aborted');
is(lines_of($node, 'SELECT count(*) FROM tde.conversions'), '0', 'no conversion is left');
app_ok("CREATE TABLE secret (id int, a encrypted_text); INSERT INTO secret VALUES (1, 'ABANDONEDMARK')", 'an encrypted table');
app_ok("CALL tde_decrypt_column('secret', 'a', online => true)", 'being decrypted');
isnt(files_with('ABANDONEDMARK'), '', 'the copy is in clear');
app_ok("CALL tde_abort_conversion('secret', 'a')", 'aborted');
is(files_with('ABANDONEDMARK'), '', 'the copy was erased');
is(lines_of($node, 'SELECT a FROM secret'), 'ABANDONEDMARK', 'the column was not');
app_fails("CALL tde_abort_conversion('secret', 'a')", { state => '55000', message => qr/is not being converted/ }, 'nothing to abort');

# Who may not decrypt may go on writing.
app_ok(q(CREATE TABLE guarded (id int, a encrypted_text, b int); INSERT INTO guarded VALUES (1, 'kept', 1); GRANT SELECT (id), UPDATE (b) ON guarded TO other),
  'a table that others write');
lines_of($node, 'CREATE ROLE reader; GRANT reader TO app');
set_conf($node, 'tde_column.decrypt_role' => 'reader');
app_ok("CALL tde_decrypt_column('guarded', 'a', online => true)", 'being decrypted');
is(attempt($node, 'UPDATE guarded SET b = 2 WHERE id = 1', user => 'other')->{err}, '', 'a role that may not decrypt writes');
app_ok("CALL tde_finish_conversion('guarded', 'a')", 'decrypted');
is(lines_of($node, 'SELECT a, b FROM guarded'), 'kept|2', 'as it was');
set_conf($node, 'tde_column.decrypt_role' => '');

# Small things: an empty table, a serial column, several columns at once, a lock that is not to be had.
app_ok("CREATE TABLE small (id serial, a text, b text)", 'a table');
convert_online('encrypt', 'small', 'id', 'serial');
is(app("INSERT INTO small (a, b) VALUES ('SMALLMARK', NULL) RETURNING id")->{out}, '1', 'numbers go on');
is(lines_of($node, "SELECT pg_get_serial_sequence('small', 'id')"), 'public.small_id_seq', 'the sequence is owned by the column');
app_ok("CALL tde_encrypt_column('small', '$_', online => true)", "two columns at once: $_") foreach qw(a b);
my $locker = session($node);
session_try($locker, 'BEGIN; LOCK TABLE small IN ROW EXCLUSIVE MODE');
app_fails("SET lock_timeout = '200ms'; CALL tde_finish_conversion('small', 'a')", { state => '55P03', hint => qr/again/ }, 'no lock');
session_try($locker, 'COMMIT');
$locker->quit;
app_ok("CALL tde_finish_conversion('small', '$_')", "finished: $_") foreach qw(b a);
is(lines_of($node, 'SELECT id, a, b FROM small'), '1|SMALLMARK|', 'with a NULL');
is(files_with('SMALLMARK'), '', 'without plaintext');

# BRIN indexes keep their class, by both ways and back.
app_ok(q(CREATE TABLE summed (n int, t text) WITH (fillfactor = 20); INSERT INTO summed SELECT i, 'text ' || i FROM generate_series(1000, 2000) i;
CREATE INDEX summed_n ON summed USING brin (n) WITH (pages_per_range = 2); CREATE INDEX summed_t ON summed USING brin (t text_minmax_ops)), 'BRIN indexes');
sub summed
{
  return app(q(SET enable_seqscan = off; SELECT count(*) FROM summed WHERE n BETWEEN 1500 AND 1509; SELECT count(*) FROM summed WHERE t < 'text 1010';
SELECT string_agg(opcname, ' ' ORDER BY attname) FROM pg_attribute a JOIN pg_index i ON a.attnum = i.indkey[0] AND a.attrelid = i.indrelid
JOIN pg_opclass o ON o.oid = i.indclass[0] WHERE a.attrelid = 'summed'::regclass))->{out};
}
is(summed(), "10\n10\nint4_minmax_ops text_minmax_ops", 'plain');
app_ok("CALL tde_encrypt_column('summed', 'n')", 'offline');
convert_online('encrypt', 'summed', 't', 'online');
is(summed(), "10\n10\nencrypted_int4_minmax_ops encrypted_text_minmax_ops", 'encrypted');
app_ok("CALL tde_decrypt_column('summed', 'n')", 'and back, offline');
convert_online('decrypt', 'summed', 't', 'and back, online');
is(summed(), "10\n10\nint4_minmax_ops text_minmax_ops", 'plain again');

# All columns online, once more after what has been done, while a third is broken off in the middle.
app_ok("CREATE TABLE again (id int, a text, b text, c text); INSERT INTO again SELECT g, 'AGAINMARK' || g, 'b', 'c' FROM generate_series(1, 10) g", 'a table');
app_ok("CALL tde_encrypt_columns('again', '{a}', online => true)", 'one column');
app_ok("CALL tde_encrypt_columns('again', online => true)", 'and all of them') foreach 1, 2;
is(lines_of($node, "SELECT string_agg(column_name || ' ' || phase, ' ' ORDER BY column_name) FROM tde.conversions WHERE relation = 'again'::regclass"), 'a copy b copy c copy id copy', 'each once');
app_fails("CALL tde_encrypt_columns('again')", { state => '55006', message => qr/is being converted online/ }, 'not offline meanwhile');
app_ok("CALL tde_finish_conversion('again', '$_')", "finished: $_") foreach qw(id a b);
app_ok("CALL tde_encrypt_columns('again', online => true); CALL tde_finish_conversion('again', 'c')", 'the last one');
app_ok("CALL tde_decrypt_columns('again', '{a}', online => true)", 'one back');
app_ok("CALL tde_decrypt_columns('again', online => true)", 'and all of them') foreach 1, 2;
is(lines_of($node, "SELECT string_agg(column_name || ' ' || phase, ' ' ORDER BY column_name) FROM tde.conversions WHERE relation = 'again'::regclass"), 'a copy b copy c copy id copy', 'each once');
app_ok("CALL tde_finish_conversion('again', '$_')", "finished: $_") foreach qw(id a b c);
is(lines_of($node, 'SELECT count(DISTINCT a), min(b), max(c), sum(id) FROM again'), '10|b|c|55', 'as it was');
app_ok("CREATE TABLE inherited (n text) INHERITS (again)", 'a child');
app_fails("CALL tde_encrypt_columns('again', online => true)", { state => '0A000', message => qr/with inheritance/ }, 'what keeps all columns from it is an error');

# A conversion that another session ends
app_ok("CREATE TABLE ended (id int, a text); INSERT INTO ended SELECT g, 'ENDED' || g FROM generate_series(1, 30) g", 'a table');
foreach my $end ("CALL tde_abort_conversion('ended', 'a')", "CALL tde_finish_conversion('ended', 'a')")
{
  my $said = '';
  my $copying = IPC::Run::start([ 'psql', '-X', '-U', 'app', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-v', 'VERBOSITY=verbose', '-c',
    "CALL tde_encrypt_column('ended', 'a', online => true, batch_rows => 1, batch_delay => 1)" ], '>&', \$said);
  $node->poll_query_until('postgres', $_) or die "the conversion does not begin: $said"
    foreach "SELECT count(*) = 1 FROM tde.conversions WHERE relation = 'ended'::regclass", 'SELECT count(tde_convert_2) > 0 FROM ended';
  app_ok($end, $end);
  $copying->finish;
  like($said, qr/ERROR:  55000: column "a" of table "ended" is not being converted\n.*DETAIL: .* another session has ended or changed it meanwhile.*HINT: .* CALL tde_encrypt_column\(\) again/s, 'the session that copied is told');
}

# A procedure of the user's own goes on with its own search_path.
app_ok(q(CREATE TABLE nested (id int, a text, b text); CREATE TABLE paths (at text, path text);
CREATE PROCEDURE migrate() LANGUAGE plpgsql AS $$
BEGIN
  CALL tde_encrypt_column('nested', 'a');
  INSERT INTO paths VALUES ('offline', current_setting('search_path'));
  CALL tde_encrypt_column('nested', 'b', online => true);
  INSERT INTO paths VALUES ('copied', current_setting('search_path'));
  CALL tde_finish_conversion('nested', 'b');
  INSERT INTO paths VALUES ('finished', current_setting('search_path'));
  CALL tde_decrypt_column('nested', 'b', online => true);
  CALL tde_abort_conversion('nested', 'b');
  INSERT INTO paths VALUES ('aborted', current_setting('search_path'));
END $$), 'a procedure that converts');
app_ok('SET search_path = public, pg_temp; CALL migrate()', 'it runs to its end');
is(app("SELECT string_agg(at, ' ') FROM paths WHERE path = 'public, pg_temp'")->{out}, 'offline copied finished aborted', 'with its search_path');

$node->stop;
done_testing();
