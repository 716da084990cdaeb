# types.pl - encrypted types of one's own: Citus brings them to all nodes with the extension whose script makes them, to nodes that come
# later, too.
use strict;
use warnings FATAL => 'all';

use Test::More;
use Cluster;

chomp(my $folder = qx(pg_config --sharedir));
my $control = "$folder/extension/tde_test_types.control";

sub put
{
  my ($file, $text) = @_;
  open my $out, '>', $file or die "$file: $!";
  print $out $text;
  close $out or die "$file: $!";
  return;
}
put($control, "default_version = '1.0'\nrequires = 'tde_column, citext'\n");
put("$folder/extension/tde_test_types--1.0.sql", <<'SQL');
SELECT tde_create_type('mood', type_tag => '6c3be3a8-1111-4222-8333-000000000001');
SELECT tde_create_type('citext', type_tag => '6c3be3a8-1111-4222-8333-000000000002');
SQL

my $cluster = Cluster->new('types', shared => 1);
my $node    = $cluster->coordinator;
my ($worker1, $worker2) = $cluster->workers;

# ---- made by hand ----

$node->sql(q{CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')}, q{SELECT tde_create_type('mood')}, 'CREATE TABLE hand (id int PRIMARY KEY, m encrypted_mood)',
  q{INSERT INTO hand VALUES (1, 'ok')});
like($node->whole_error("SELECT $_"), qr/^0A000.*unsupported object.*an extension.*make encrypted_mood, by tde_create_type/s, "refused, with a hint: $_")
  foreach q{create_distributed_table('hand', 'id')}, q{create_reference_table('hand')}, q{citus_add_local_table_to_metadata('hand')},
  q{citus_add_local_table_to_metadata('hand', cascade_via_foreign_keys => true)};
is($node->sql('SELECT count(*) FROM pg_dist_partition'), 0, 'nothing is distributed then');
is($node->sql(q{SELECT m FROM hand WHERE m = 'ok'}), 'ok', '... and the table is as it was');
$node->sql(q{CALL tde_decrypt_column('hand', 'm')}, 'DROP TYPE encrypted_mood CASCADE');

# ---- made by an extension ----

$node->sql('CREATE EXTENSION tde_test_types CASCADE', q{CALL tde_encrypt_column('hand', 'm')}, q{SELECT create_distributed_table('hand', 'id')});
is($node->sql(q{SELECT id FROM hand WHERE m = 'ok'}), 1, 'a column of a type made by hand becomes one of the same type of an extension');
my $made = q{SELECT count(*) || ' ' || string_agg(result, ' / ') FROM (SELECT result, min(nodeid) AS first FROM run_command_on_all_nodes(
  'SELECT string_agg(pg_get_function_sqlbody(oid), '','' ORDER BY proname) FROM pg_proc WHERE proname ~ ''^encrypted_(mood|citext)_typmod_in''')
  GROUP BY result) r};
like($node->sql($made), qr/^1 RETURN .*citext.*0002'::uuid\),RETURN .*mood.*0001'::uuid\)$/, 'all nodes have the types, with the same tags');
$node->sql(q{CREATE TABLE person (id int, m encrypted_mood(nosalt), c encrypted_citext DEFAULT 'Nobody', note text)}, 'CREATE INDEX ON person (m)',
  q{INSERT INTO person SELECT g, (enum_range(NULL::mood))[1 + g % 3], 'Name' || g, 'n' || g FROM generate_series(1, 30) g},
  q{SELECT create_distributed_table('person', 'id')});
$node->sql('CREATE TABLE name (c encrypted_citext PRIMARY KEY, id int, m encrypted_mood)', q{SELECT create_distributed_table('name', 'c')});
$node->sql('CREATE TABLE color (m encrypted_mood PRIMARY KEY, color text)', q{SELECT create_reference_table('color')},
  q{INSERT INTO color VALUES ('sad', 'blue'), ('ok', 'green'), ('happy', 'red')});
$node->sql('CREATE TABLE here (id int PRIMARY KEY, m encrypted_mood, c encrypted_citext)', q{SELECT citus_add_local_table_to_metadata('here')},
  q{INSERT INTO here VALUES (1, 'ok', 'NAME1'), (2, 'sad', 'x')});

# from which node, and what is read there
my @questions = (
  [ q{SELECT count(*), min(m), max(m), max(c) FROM person WHERE m >= 'ok'} => '20|ok|happy|Name8' ],
  [ 'SELECT m, count(*) FROM person GROUP BY m ORDER BY m'                  => "sad|10\nok|10\nhappy|10" ],
  [ q{SELECT id, m FROM name WHERE c = 'nAmE7'}                              => '7|ok' ],
  [ q{SELECT id, m FROM name WHERE c = 'nAmE7'::citext}                      => '7|ok' ],
  [ q{SELECT id FROM name WHERE c IN ('NAME1', 'name2') ORDER BY id}         => "1\n2" ],
  [ 'SELECT color, count(*) FROM person JOIN color USING (m) GROUP BY 1 ORDER BY 1' => "blue|10\ngreen|10\nred|10" ],
  [ 'SELECT p.id, n.m FROM person p JOIN name n ON p.id = n.id AND p.m = n.m WHERE p.id < 3 ORDER BY 1' => "1|ok\n2|happy" ],
  [ 'SELECT count(*) FROM person p JOIN name n ON p.c = n.c'                 => 30 ],
  [ 'SELECT n.id, h.m FROM here h JOIN name n USING (c)'                     => '1|ok' ],
  [ q{WITH x AS MATERIALIZED (SELECT m, c FROM person ORDER BY id LIMIT 6) SELECT count(*) FROM x JOIN name USING (c, m)} => 6 ],
);
sub reads
{
  my ($where) = @_;
  foreach my $question (@questions)
  {
    my ($sql, $expected) = @{$question};
    is($where->sql('SET citus.enable_repartition_joins = on', $sql), $expected, "$where->{name}: $sql");
  }
  return;
}
foreach my $results ('plaintext', 'ciphertext')
{
  $_->sql("ALTER SYSTEM SET tde_column.citus_results = $results", 'SELECT pg_reload_conf()') foreach $cluster->nodes;
  $node->sql('TRUNCATE name', 'INSERT INTO name SELECT upper(c::citext), id, m FROM person');
  reads($_) foreach $node, $worker1;
}
like($node->sql(q{EXPLAIN SELECT id FROM name WHERE c = 'nAmE7'}), qr/Task Count: 1\n/, 'a value of such a distribution column finds its shard');
is($node->client->parse('', q{SELECT id FROM name WHERE c = $1})->execute('', 'nAmE7')->sync->{rows}[0], 7, '... and so does a parameter');
is($node->sql(q{UPDATE person SET m = 'sad', c = 'A' || c::text WHERE id = 1 RETURNING m, c}), 'sad|AName1', 'UPDATE');
is($node->sql(q{UPDATE person SET m = CASE WHEN m = 'sad' THEN 'ok'::mood ELSE m END WHERE id = 1 RETURNING m}), 'ok', '... that computes');
$node->sql(q{UPDATE person SET c = 'Name1' WHERE id = 1});
is($node->sql(q{INSERT INTO name VALUES ('name5', 5, 'ok') ON CONFLICT (c) DO UPDATE SET m = excluded.m RETURNING c, m}), 'NAME5|ok', 'ON CONFLICT');
$node->sql(q{UPDATE name SET m = 'happy' WHERE c = 'name5'});
$node->sql('ALTER TABLE person ADD COLUMN again encrypted_mood', q{UPDATE person SET again = m});
is($node->sql('SELECT count(*) FROM person WHERE again = m'), 30, 'a column is added');

# Enums are hashed by the OIDs of their labels, which differ here: a plain enum would not be found again.
my $by_oid = qr/^0A000 cannot \w+ .*of type encrypted_mood\nIts values are hashed by OIDs/;
$node->sql('CREATE TABLE by_mood (m encrypted_mood)');
like($node->whole_error(q{SELECT create_distributed_table('by_mood', 'm')}), $by_oid, 'no table is distributed by an enum');
my $client = $node->client;
$client->query('SET citus.enable_repartition_joins = on');
my $refused = $client->query('SELECT count(*) FROM person a JOIN person b ON a.m = b.m');
like("$refused->{error}\n" . ($refused->{fields}{D} // ''), $by_oid, '... nor repartitioned');

# ---- one more type ----

put($control, "default_version = '1.1'\nrequires = 'tde_column, citext'\n");
put("$folder/extension/tde_test_types--1.0--1.1.sql", "SELECT tde_create_type('macaddr', type_tag => '6c3be3a8-1111-4222-8333-000000000003');");
$node->sql('ALTER EXTENSION tde_test_types UPDATE');
$node->sql('CREATE TABLE card (mac encrypted_macaddr PRIMARY KEY, id int)', q{SELECT create_distributed_table('card', 'mac')},
  q{INSERT INTO card SELECT ('08002b0102' || to_char(g, 'FM00'))::macaddr, g FROM generate_series(10, 40) g});
foreach my $where ($node, $worker1)
{
  is($where->sql(q{SELECT id FROM card WHERE mac = '08:00:2b:01:02:17'}), 17, "$where->{name}: an update of the extension makes one more type");
}
is($node->sql(q{SELECT sum(result::int) FROM run_command_on_all_nodes('SELECT tde_refresh_types()')}), 0, '... complete on all nodes');

# ---- a node without the type ----

my $added = $cluster->new_server('added');
$added->sql('CREATE EXTENSION tde_column', q{SELECT tde_wallet_create('cluster-passphrase')});
$_->adopt($node) foreach $worker1, $worker2, $added;
$added->sql('CREATE EXTENSION citus');
rename $control, "$control.away" or die $!;
my $said = qx(psql -XAtq -h $node->{socket} -p $node->{port} -U postgres -d postgres -c "SELECT citus_add_node('127.0.0.1', $added->{port})" 2>&1);
like($said, qr/extension "tde_test_types" is not available.*essential: 127\.0\.0\.1:$added->{port}/s, 'a node without the files is not added, and both are named');
is($node->sql("SELECT count(*) FROM pg_dist_node WHERE nodeport = $added->{port}"), 0, '... not in part either');
is($added->sql(q{SELECT count(*) FROM pg_class WHERE relname IN ('person', 'name')}), 0, '... and has no tables');
reads($node);
rename "$control.away", $control or die $!;

# ---- a node that is added ----

$cluster->add($added);
like($node->sql($made), qr/^1 RETURN /, 'a node that is added has the types');
$node->sql(q{SELECT rebalance_table_shards(shard_transfer_mode => 'block_writes')});
cmp_ok($node->sql("SELECT count(*) FROM citus_shards WHERE table_name = 'name'::regclass AND nodeport = $added->{port}"), '>', 0, '... and shards');
reads($_) foreach $node, $added;
is($added->sql(q{INSERT INTO name VALUES ('added', 99, 'sad')}, q{SELECT m FROM name WHERE c = 'ADDED'}), 'sad', 'it writes');
is($node->sql(q{DELETE FROM name WHERE c = 'ADDED' RETURNING m}), 'sad', '... and others find it');

my $activated = $cluster->new_server('activated');
$activated->sql('CREATE EXTENSION tde_column', q{SELECT tde_wallet_create('cluster-passphrase')});
$activated->adopt($node)->sql('CREATE EXTENSION citus');
$node->sql("SELECT citus_add_inactive_node('127.0.0.1', $activated->{port})", "SELECT citus_activate_node('127.0.0.1', $activated->{port})");
like($node->sql($made), qr/^1 RETURN /, 'so has one that is added and then activated');
reads($activated);
is($activated->sql(q{UPDATE color SET color = 'gold' WHERE m = 'happy' RETURNING m}), 'happy', 'it writes to a reference table');
is($added->sql(q{SELECT color FROM color WHERE m = 'happy'}), 'gold', '... and others find it');

# ---- a node that has lost it ----

$added->sql('SET citus.enable_ddl_propagation = off', 'DROP EXTENSION tde_test_types CASCADE');
$node->sql('CREATE TABLE late (id int, m encrypted_mood)', q{INSERT INTO late SELECT g, 'ok' FROM generate_series(1, 20) g});
like($node->whole_error(q{SELECT create_distributed_table('late', 'id')}), qr/^42704 type "(?:public\.)?encrypted_mood" does not exist.*127\.0\.0\.1:$added->{port}/s,
  'a node that lacks the type is named with it');
is($node->sql(q{SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = 'late'::regclass}), 0, '... nothing is distributed');
is($node->sql(q{SELECT sum(result::int) FROM run_command_on_all_nodes('SELECT count(*) FROM pg_class WHERE relname ~ ''^late''')}), 1, '... nothing is left on a node');
is($node->sql(q{SELECT count(*) FROM late WHERE m = 'ok'}), 20, '... and the rows are there');
done_testing();
