# Transparent results: ROW(...) and output arguments of CALL are to a client what they are of plain columns.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use TdeTest;
use TdeWire;
use Test::More;

my $node = tde_node('composites', extension => 1, conf => "tde_column.passphrase_command = 'echo composites-passphrase'\nlog_temp_files = 0\n");
$node->start;
lines_of(
  $node, q{
SELECT tde_wallet_create('composites-passphrase');
CREATE TABLE p (id int, i int, t text, n numeric(15,2), d date, a int[]);
INSERT INTO p SELECT g, g % 3, 'name ' || g, g * 1.25, date '2024-02-27' + g, ARRAY[g, NULL, g % 2] FROM generate_series(1, 6) g;
INSERT INTO p (id) VALUES (7);
CREATE TABLE e (id int, i encrypted_int4(aes256,salt), t encrypted_text(aes256,salt), n encrypted_numeric(15,2), d encrypted_date, a encrypted_int4[]);
INSERT INTO e SELECT * FROM p;
CREATE PROCEDURE p_out(INOUT x int, OUT y text, OUT z int, OUT a int[], OUT n numeric) LANGUAGE plpgsql
  AS $$ BEGIN x := coalesce(x, 0) + 1; y := 'out'; z := 3; COMMIT; a := ARRAY[1, NULL]; n := 2.50; END $$;
CREATE PROCEDURE e_out(INOUT x encrypted_int4, OUT y encrypted_text, OUT z int, OUT a encrypted_int4[], OUT n encrypted_numeric) LANGUAGE plpgsql
  AS $$ BEGIN x := coalesce(x, 0) + 1; y := 'out'; z := 3; COMMIT; a := ARRAY[1, NULL]; n := 2.50; END $$;
CREATE PROCEDURE poly_out(INOUT x anyelement) LANGUAGE plpgsql AS $$ BEGIN END $$;
CREATE PROCEDURE e_null(OUT y encrypted_text) LANGUAGE plpgsql AS $$ BEGIN y := NULL; END $$;
CREATE PROCEDURE p_null(OUT y text) LANGUAGE plpgsql AS $$ BEGIN y := NULL; END $$;
CREATE PROCEDURE e_large(OUT y encrypted_text) LANGUAGE plpgsql AS $$ BEGIN y := repeat('large ', 200000); END $$;
CREATE PROCEDURE e_stored(OUT y encrypted_text) LANGUAGE sql AS $$ SELECT t FROM e WHERE id = 1 $$;
CREATE FUNCTION calls() RETURNS text LANGUAGE plpgsql AS $$
  DECLARE x encrypted_int4; BEGIN CALL poly_out(x); x := 4; CALL poly_out(x); RETURN pg_typeof(x) || ' ' || x; END $$;
CREATE ROLE clerk;
GRANT SELECT ON e, p TO clerk;
});

my $wire = TdeWire->connect($node);

# What a message gives of plain and encrypted columns, described and fetched in a form.
sub twin
{
  my ($form, $sql) = @_;
  return map {
    my $got = $wire->parse('', $sql =~ s/\bTWIN/$_/gr)->describe('')->bind('', '', $form)->describe_portal('')->fetch('', 0)->sync;
    [ @$got{qw(error types rows)} ];
  } qw(p e);
}

my @rows = (
  'SELECT ROW(i, t, n, d, a) FROM TWIN ORDER BY id',
  'SELECT ROW(i, ROW(t, n), d), i, ARRAY[ROW(i, t)] FROM TWIN ORDER BY id',
  'SELECT ROW(TWIN.*), ROW(id, 1) FROM TWIN ORDER BY TWIN.i, id',
  'SELECT (i, t) FROM TWIN ORDER BY 1',
  'SELECT ROW(i, count(*)) FROM TWIN GROUP BY i ORDER BY i LIMIT 2',
  'SELECT ROW(i, row_number() OVER (ORDER BY n)) FROM TWIN ORDER BY id',
  'SELECT ROW(i, generate_series(1, 2)) FROM TWIN WHERE id = 1',
  'UPDATE TWIN SET id = id WHERE id = 2 RETURNING ROW(i, t), n',
  'WITH w AS (UPDATE TWIN SET id = id WHERE id = 2 RETURNING i, t) SELECT ROW(i, t) FROM w');
foreach my $form (0, 1)
{
  foreach my $sql (@rows)
  {
    my ($plain, $encrypted) = twin($form, $sql);
    is($plain->[0], '', "$sql, " . ($form ? 'binary' : 'text'));
    is_deeply($encrypted, $plain, 'is as the plain one');
  }

  # Output arguments.  A plain parameter does not become an encrypted one.
  foreach my $arguments ('NULL, NULL, NULL, NULL, NULL', q{'41', NULL, NULL, NULL, NULL})
  {
    my ($plain, $encrypted) = twin($form, "CALL TWIN_out($arguments)");
    is($plain->[0], '', "CALL ($arguments)");
    is_deeply($encrypted, $plain, 'is as the plain one');
  }
  my ($plain, $encrypted) = twin($form, 'CALL TWIN_null(NULL)');
  is_deeply($encrypted, $plain, 'a NULL');
  is_deeply([ $wire->parse('', q{CALL poly_out('5'::encrypted_int4)})->describe('')->bind('', '', 0)->fetch('', 0)->sync->{types} ], [ [23] ], 'a polymorphic one');
  is_deeply($wire->parse('', q{CALL poly_out('5'::encrypted_int4)})->bind('', '', 0)->fetch('', 0)->sync->{rows}, ['5'], 'and its value');
}
is_deeply([ @{ $wire->query('CALL e_out(NULL, NULL, NULL, NULL, NULL)') }{qw(types rows)} ],
  [ [ 23, 25, 23, 1007, 1700 ], ['1|out|3|{1,NULL}|2.50'] ], 'CALL in a simple query');
is_deeply($wire->query('SELECT calls()')->{rows}, ['encrypted_int4 4'], 'a function that calls sees the encrypted type');
is(attempt($node, 'DO $$ DECLARE y encrypted_text; BEGIN CALL e_null(y); CALL e_large(y); IF length(y) <> 1200000 THEN RAISE; END IF; END $$')->{state}, '', 'so does DO');

# Switched off, and for who may not see.
$wire->query('SET tde_column.transparent_results = off');
is(scalar(grep { $_ < 16384 } @{ $wire->query('CALL e_out(NULL, NULL, NULL, NULL, NULL)')->{types} }), 1, 'switched off, output arguments are encrypted but for one');
$wire->query("RESET tde_column.transparent_results; SET tde_column.decrypt_role = pg_monitor; SET tde_column.decrypt_policy = 'null'; SET ROLE clerk");
is_deeply($wire->query('SELECT ROW(i, t) FROM e WHERE id = 1')->{rows}, ['(,)'], 'who may not decrypt sees NULL in rows, as the policy says');
is_deeply($wire->query('CALL e_stored(NULL)')->{rows}, [''], 'and in output arguments');
$wire->query("RESET ROLE; SET tde_column.decrypt_policy = 'error'; SET ROLE clerk");
like($wire->query('CALL e_stored(NULL)')->{error}, qr/^42501 /, 'or an error');
like($wire->query('SELECT ROW(i, t) FROM e WHERE id = 1')->{error}, qr/^42501 /, 'or an error');
$wire->query('RESET ROLE; RESET tde_column.decrypt_role; RESET tde_column.decrypt_policy');

# Nothing in clear gets into a temporary file.
lines_of($node, q{CREATE TABLE many (id int, t encrypted_text); INSERT INTO many SELECT g, repeat('secret ', 30) || g FROM generate_series(1, 3000) g});
$wire->query('SET work_mem = 64');
my $offset = log_offset($node);
is(scalar @{ $wire->query('UPDATE many SET id = id RETURNING ROW(t, id)')->{rows} }, 3000, 'many rows of RETURNING');
$wire->query('PREPARE q AS SELECT ROW(t, id) FROM many');
is(scalar @{ $wire->query('EXECUTE q')->{rows} }, 3000, 'of EXECUTE');
is(length $wire->query('CALL e_large(NULL)')->{rows}[0], 1200000, 'and a large output argument');
unlike(log_since($node, $offset), qr/temporary file/, 'are kept in memory');
is_deeply([ map { scalar @{ $wire->query($_)->{rows} } } 'BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT ROW(t, id) FROM many; COMMIT', 'FETCH ALL FROM c' ], [ 0, 3000 ],
  'a cursor WITH HOLD');
like(log_since($node, $offset), qr/temporary file/, 'keeps its rows as they are stored');

# With the wallet closed meanwhile.
$wire->parse('row', 'SELECT ROW(i, t) FROM e WHERE id = 1')->sync;
$wire->query('SELECT tde_wallet_close()');
like($wire->execute('row')->sync->{error}, qr/^TDE01 /, 'with the wallet closed it is an error');
$wire->query('SELECT tde_wallet_open()');
is_deeply($wire->execute('row')->sync->{rows}, ['(1,"name 1")'], 'and works when it is open again');
lines_of($node, 'ALTER TABLE e ADD extra int');
is_deeply($wire->execute('row')->sync->{rows}, ['(1,"name 1")'], 'and when the table has changed');

done_testing();
