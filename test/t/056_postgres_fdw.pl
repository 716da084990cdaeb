# Foreign tables with encrypted columns, by postgres_fdw: what the other server does, and with shared keys ciphertext between the two.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use Test::More;

my $front = tde_node('front', extension => 1);
my $back  = tde_node('back', extension => 1, conf => "log_statement = 'all'\n");
$_->start foreach $front, $back;
lines_of($_, "SELECT tde_wallet_create('" . $_->name . "-passphrase')") foreach $front, $back;
lines_of($back, q{
CREATE SCHEMA s;
CREATE TABLE s.card (id int PRIMARY KEY, pan encrypted_text(nosalt), holder encrypted_varchar(30), amount encrypted_numeric(15,2), n encrypted_int4(nomac, nosalt),
  born encrypted_date, plain text);
CREATE TABLE s.buyer (pan encrypted_text(nosalt), name text);
CREATE INDEX ON s.card (pan);
INSERT INTO s.card SELECT i, 'pan' || i, 'holder' || i % 10, i + 0.25, i % 7, date '2000-01-01' + i, 'p' || i FROM generate_series(1, 500) i;
INSERT INTO s.buyer SELECT 'pan' || i, 'name' || i FROM generate_series(1, 500, 5) i;
ANALYZE s.card; ANALYZE s.buyer;
CREATE TABLE s.plain_card (id int PRIMARY KEY, pan text, holder varchar(30), amount numeric(15,2), n int, born date, plain text);
INSERT INTO s.plain_card SELECT * FROM s.card;
CREATE TABLE s.plain_buyer (pan text, name text);
INSERT INTO s.plain_buyer SELECT * FROM s.buyer;
});
my $user = getpwuid $>;
lines_of($front, qq{
CREATE EXTENSION postgres_fdw;
CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '@{[$back->host]}', port '@{[$back->port]}', dbname 'postgres', extensions 'tde_column');
CREATE USER MAPPING FOR CURRENT_USER SERVER back OPTIONS (user '$user');
IMPORT FOREIGN SCHEMA s FROM SERVER back INTO public;
});

# The statement that goes to the other server for a query of these columns; '' if none does all of it.
sub remote
{
  my ($query) = @_;
  # estimates of rows decide where tables are joined; here it is whether they can be
  my $plan = lines_of($front, "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off; EXPLAIN (VERBOSE, COSTS off) $query");
  return $plan =~ /^(?:Foreign Scan|(?:Update|Delete) on \S+\n.*?Foreign (?:Update|Delete)|Result\n.*?Foreign Scan)/s && $plan !~ /Filter:|Remote SQL: SELECT .* FOR UPDATE/ ? $plan =~ /Remote SQL: (.*)/ ? $1 : '' : '';
}

# ---- what is done there ----

foreach my $case (
  [ q{SELECT count(*) FROM %s WHERE pan = 'pan7'},                        qr/WHERE \(\(pan = 'pan7'\)\)/ ],
  [ q{SELECT id FROM %s WHERE pan = 'pan7'::text},                        qr/WHERE \(\(pan = 'pan7'::text\)\)/ ],
  [ q{SELECT count(*) FROM %s WHERE pan LIKE 'pan7%%'},                   qr/pan ~~ 'pan7%'::text/ ],
  [ q{SELECT count(*) FROM %s WHERE holder NOT LIKE 'holder3%%'},         qr/holder !~~/ ],
  [ q{SELECT count(*) FROM %s WHERE holder ILIKE 'HOLDER3%%'},            qr/holder ~~\*/ ],
  [ q{SELECT count(*) FROM %s WHERE pan ~ '7$'},                          qr/pan ~ '7\$'::text/ ],
  [ q{SELECT count(*) FROM %s WHERE n IN (1, 2)},                         qr/n = ANY/ ],
  [ q{SELECT count(*) FROM %s WHERE amount > 100 AND born < '2001-01-01'}, qr/amount > .* AND \(\(born </ ],
  [ q{SELECT count(pan), count(DISTINCT n) FROM %s},                      qr/^SELECT count\(pan\), count\(DISTINCT n\)/ ],
  [ q{SELECT max(amount), min(born) FROM %s},                             qr/^SELECT max\(amount\), min\(born\)/ ],
  [ q{SELECT sum(amount), avg(n) FROM %s},                                qr/^SELECT sum\(amount\), avg\(n\)/ ],
  [ q{SELECT n, sum(amount) FROM %s GROUP BY n ORDER BY n},               qr/sum\(amount\).* GROUP BY 1/ ],
  [ q{SELECT n, count(*) FROM %s GROUP BY n ORDER BY n},                  qr/GROUP BY 1/ ],
  [ q{SELECT holder, count(*), max(amount) FROM %s GROUP BY holder HAVING count(*) > 1 ORDER BY holder}, qr/GROUP BY 1 HAVING/ ],
  [ q{SELECT pan FROM %s ORDER BY amount DESC LIMIT 3},                   qr/ORDER BY amount DESC NULLS FIRST LIMIT 3/ ],
  [ q{SELECT count(*), max(b.name) FROM %s c JOIN buyer b ON c.pan = b.pan}, qr/INNER JOIN s\.buyer/ ],
  # by another road: these read the rows, since what decrypts a value for a function is not immutable
  [ q{SELECT count(*) FROM %s WHERE amount + 1 > 100}, undef ],
  [ q{SELECT id FROM %s WHERE upper(pan) = 'PAN7'}, undef ])
{
  my ($query, $expected) = @$case;
  my ($plain, $encrypted) = map { my $q = sprintf $query, $_; $q =~ s/buyer/plain_buyer/ if $_ eq 'plain_card'; $q } 'plain_card', 'card';
  my $name = sprintf $query, 'card';
  is(lines_of($front, $encrypted), lines_of($front, $plain), "$name: as with plain columns");
  if ($expected) { like(remote($encrypted), $expected, "$name: done there"); }
  else { is(remote($encrypted), '', "$name: done here"); isnt(remote($plain), '', "$name: plain columns' is done there"); }
}
lines_of($back, 'CREATE VIEW s.total AS SELECT n, sum(amount) AS total FROM s.card GROUP BY n');
lines_of($front, 'IMPORT FOREIGN SCHEMA s LIMIT TO (total) FROM SERVER back INTO public');
like(remote('SELECT total FROM total WHERE n = 3'), qr/^SELECT total FROM s\.total WHERE/, 'a view there does it');

# Without the option, or without the extension in it, conditions stay here, and the answer is the same.
my $condition = q{SELECT id FROM card WHERE pan LIKE 'pan7%' ORDER BY id};
my $answer = lines_of($front, $condition);
lines_of($front, 'ALTER SERVER back OPTIONS (DROP extensions)');
is(remote($condition), '', 'without the option extensions conditions stay here');
is(lines_of($front, $condition), $answer, 'with the same answer');
lines_of($front, q{ALTER SERVER back OPTIONS (ADD extensions 'tde_column')});

# Changes.
foreach my $table ('card', 'plain_card')
{
  is(lines_of($front, "INSERT INTO $table VALUES (1001, 'new', 'h', 1.5, 2, '2024-02-29', 'p') RETURNING pan, born"), 'new|2024-02-29', "$table: INSERT");
  is(lines_of($front, "UPDATE $table SET n = n + 1, amount = amount * 2 WHERE pan = 'new' RETURNING n, amount"), '3|3.00', "$table: UPDATE");
  is(lines_of($front, "DELETE FROM $table WHERE pan LIKE 'new%' RETURNING holder"), 'h', "$table: DELETE");
}
is(lines_of($front, q{PREPARE p(text) AS SELECT id FROM card WHERE pan = $1; SET plan_cache_mode = force_generic_plan; EXECUTE p('pan9')}), '9', 'a parameter');

# ---- the front's wallet is closed ----

lines_of($front, 'SELECT tde_wallet_close()');
is(lines_of($front, q{SELECT count(*) FROM card WHERE pan LIKE 'pan7%'}), lines_of($back, q{SELECT count(*) FROM s.card WHERE pan LIKE 'pan7%'}),
  'with a closed wallet: a pattern is text, and so is what comes back');
is(lines_of($front, q{SELECT id FROM card WHERE pan = 'pan7'::text}), '7', 'and a value that is said to be text');
fails_with($front, q{SELECT id FROM card WHERE pan = 'pan7'}, { state => 'TDE01' }, 'a literal is encrypted when it is parsed');
fails_with($front, 'SELECT pan FROM card WHERE id = 7', { state => 'TDE01' }, 'so is a value that comes');
is(lines_of($front, 'SELECT id, plain FROM card WHERE id = 7'), '7|p7', 'other columns need nothing');
lines_of($front, q{SELECT tde_wallet_open('front-passphrase')});

# ---- ciphertext between servers that share keys ----

my $form = 'SET tde_column.io_format = ciphertext; ';
lines_of($front, qq{
CREATE SERVER sealed FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host '@{[$back->host]}', port '@{[$back->port]}', dbname 'postgres', options '-c tde_column.io_format=ciphertext');
CREATE USER MAPPING FOR CURRENT_USER SERVER sealed OPTIONS (user '$user');
CREATE SCHEMA sealed;
IMPORT FOREIGN SCHEMA s LIMIT TO (card) FROM SERVER sealed INTO sealed;
CREATE TABLE here (LIKE sealed.card);
});
my $copy = 'INSERT INTO here SELECT * FROM sealed.card';
my $missing = fails_with($front, $form . $copy, { state => 'TDE03', message => qr/^data key \S+ is not in this database$/ }, 'without shared keys');
is(lines_of($front, 'SELECT count(*) FROM here'), '0', 'nothing has come');
my $keys = lines_of($back, q{SELECT tde_export_keys('a secret for the fleet', adoptable => true)});
lines_of($front, 'DROP TABLE here');
lines_of($front, "SELECT tde_import_keys('$keys', 'a secret for the fleet', adopt => true)");
lines_of($front, 'CREATE TABLE here (LIKE sealed.card)');
my $offset = log_offset($back);
lines_of($front, $form . $copy);
is(lines_of($front, 'SELECT * FROM here ORDER BY id'), lines_of($back, 'SELECT * FROM s.card ORDER BY id'), 'with shared keys values come');
is(lines_of($front, $form . 'SELECT pan, holder, amount, n, born FROM here ORDER BY id'),
  lines_of($back, $form . 'SELECT pan, holder, amount, n, born FROM s.card ORDER BY id'), 'as they are encrypted');
lines_of($front, q{INSERT INTO here VALUES (2001, 'MARKERpan', 'MARKERholder', 1, 1, '2024-02-29', 'p')});
lines_of($front, $form . 'INSERT INTO sealed.card SELECT * FROM here WHERE id = 2001');
is(lines_of($back, 'SELECT pan, holder FROM s.card WHERE id = 2001'), 'MARKERpan|MARKERholder', 'and go');
unlike(log_since($back, $offset), qr/MARKER/, 'in no statement there is plaintext');
like(log_since($back, $offset), qr/tde:/, 'but ciphertext');
my $half = attempt($front, 'SELECT amount FROM sealed.card WHERE id = 1');
isnt($half->{state}, '', 'the setting on one side only is an error') or diag($half->{out});

$_->stop foreach $front, $back;
done_testing();
