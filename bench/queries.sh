#!/usr/bin/env bash
# queries.sh - what encryption costs queries: equality, indexes, sorting, joins and grouping of encrypted columns beside the same
# of plain ones, in one run; 'make bench-sql' calls it.  ROWS=1000000; ROUNDS=5.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../test/lib/cluster.sh
. "$(dirname "$0")/../test/lib/cluster.sh"
# shellcheck source-path=SCRIPTDIR source=../test/lib/deps.sh
. "$top/test/lib/deps.sh"

rows=${ROWS:-1000000} rounds=${ROUNDS:-5}
part=$((rows * 3 / 10))
# name, and the modifiers of its columns
variants=(plain: det:aes256,nosalt,nomac siv:aes256,nosalt,sha256 nomac:aes256,salt,nomac sha256:aes256,salt,sha256 gcm:aes256,salt,gcm mac:aes256,salt,mac)

column() { if [[ $2 ]]; then echo "encrypted_$1($2)"; else echo "$1"; fi; }

# One statement a line, in one session, so that every round meets every variant.
statement() {
  echo "\\echo statement $1 $2 $3"
  echo "$4;"
}

script() {
  local round variant name
  echo "SET max_parallel_workers_per_gather = 0; SET max_parallel_maintenance_workers = 0; SET synchronous_commit = off;"
  echo "SET work_mem = '64MB'; SET maintenance_work_mem = '256MB';"
  for ((round = 0; round <= rounds; round++)); do # round 0 warms up
    for variant in "${variants[@]}"; do
      name=${variant%%:*}
      echo "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;"
      statement equality "$name" $round "SELECT count(*) FROM large_$name WHERE a = 'c4ca4238a0'"
      echo "RESET enable_indexscan; RESET enable_indexonlyscan; SET enable_seqscan = off;"
      statement range_1000 "$name" $round "SELECT sum(b), sum(length(a)) FROM generate_series(1, 20) i,
        LATERAL (SELECT a, b FROM large_$name WHERE a >= lpad(to_hex(i * 12), 2, '0') ORDER BY a LIMIT 1000) r"
      echo "RESET enable_seqscan; RESET enable_bitmapscan;"
      statement order_by "$name" $round "SELECT count(*) FROM (SELECT a FROM small_$name ORDER BY a OFFSET 0) s"
      statement order_n "$name" $round "SELECT count(*) FROM (SELECT n FROM small_$name ORDER BY n OFFSET 0) s"
      echo "SET enable_mergejoin = off; SET enable_nestloop = off;"
      statement hash_join "$name" $round "SELECT count(*) FROM small_$name x JOIN other_$name y USING (a)"
      echo "RESET enable_mergejoin; RESET enable_nestloop;"
      statement group_by "$name" $round "SELECT b, count(*) FROM small_$name GROUP BY b"
      statement index "$name" $round "CREATE INDEX made ON large_$name (a)"
      echo 'DROP INDEX made;'
      statement scan "$name" $round "SELECT avg(length(a)) FROM large_$name"
      echo "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
      statement parallel "$name" $round "SELECT avg(length(a)) FROM large_$name"
      echo "RESET parallel_setup_cost; RESET parallel_tuple_cost; SET max_parallel_workers_per_gather = 0;"
      echo '\echo end'
    done
    echo "\\warn queries.sh: round $round of $rounds"
  done
}

# The time of a lookup by an indexed encrypted column, two clients.  All variants are in one pgbench, which picks one for each
# transaction: whatever else the machine does hits them alike.
lookups() {
  local round variant names=()
  set --
  for variant in "${variants[@]}"; do
    names+=("${variant%%:*}")
    set -- "$@" -f "$work/${names[-1]}.sql"
    echo "\\set i random(1, $rows)
SELECT b FROM large_${names[-1]} WHERE a = substr(md5(:i::text), 1, 10);" >"$work/${names[-1]}.sql"
  done
  as_pg mkdir "$work/lookups"
  for ((round = 0; round <= rounds; round++)); do # round 0 warms up
    rm -f "$work"/lookups/*
    quietly pgbench as_pg pgbench -n -c 2 -j 2 -t $((3000 * ${#names[@]})) --log --log-prefix="$work/lookups/log" "$@"
    sort -k4,4n -k3,3n "$work"/lookups/log.* | awk -v names="${names[*]}" -f bench/middle.awk |
      awk -v round="$round" '{ print "statement lookup", $1, round; print "Time:", $2 / 1000, "ms" }'
    say "lookups, round $round of $rounds"
  done
}

workspace
need demo
say 'building'
private_install
cluster_start <<END
autovacuum = off
shared_buffers = 2GB
max_wal_size = 16GB
min_wal_size = 8GB
checkpoint_timeout = 1h
max_worker_processes = 8
jit = off
END
sql -c 'CREATE EXTENSION tde_column' -c 'SELECT tde_wallet_create()' >/dev/null

say "loading ${#variants[@]} times $((rows * 16 / 10 / 1000)) thousand rows"
for variant in "${variants[@]}"; do
  name=${variant%%:*} spec=${variant#*:}
  sql -c "CREATE TABLE large_$name (id int, a $(column text "$spec"), b int)" \
    -c "INSERT INTO large_$name SELECT g, substr(md5(g::text), 1, 10), g FROM generate_series(1, $rows) g" \
    -c "CREATE INDEX ON large_$name (a)" \
    -c "CREATE TABLE small_$name (id int, a $(column text "$spec"), b $(column text "$spec"), n $(column numeric "$spec"))" \
    -c "INSERT INTO small_$name SELECT g, substr(md5(g::text), 1, 10), 'group ' || g % 1000, (g::int8 * 7919 % 1000003) * 1.25
        FROM generate_series(1, $part) g" \
    -c "CREATE TABLE other_$name AS SELECT id, a FROM small_$name" \
    -c "VACUUM (FREEZE, ANALYZE) large_$name, small_$name, other_$name"
done
sql -c CHECKPOINT
script | as_pg psql -Xqt -v ON_ERROR_STOP=1 -c '\timing on' -f - >"$work/times"
lookups >>"$work/times"

cat <<END
PostgreSQL $(sql -c 'SHOW server_version'); $rows rows of 10 characters (equality, range of 1000 rows by index, CREATE INDEX, lookup by
index with two clients: the mean of the middle half of its times) and $part (ORDER BY of text and of numeric, hash join with as
many, GROUP BY of 1000 groups); no parallelism but in "parallel" (2 workers; "scan" is the same without); $rounds rounds, the
median of each round's ratio to plain.

END
server_log='' # has nothing to say about a missed target
awk -v rounds="$rounds" -f bench/sql/report.awk "$work/times"
awk -v rounds="$rounds" -v alone=scan -v together=parallel -f bench/sql/speedup.awk "$work/times" || missed=1
awk -v rounds="$rounds" -f bench/sql/report.awk -v targets='equality det 1.5, equality siv 1.5, lookup nomac 1.0526, lookup mac 1.0526,
  range_1000 nomac 3, range_1000 mac 3, order_by nomac 2.5, order_by mac 2.5, index nomac 3, index mac 3, hash_join nomac 3,
  hash_join mac 3, group_by nomac 3.5, group_by mac 3.5' "$work/times" || missed=1
exit "${missed:-0}"
