#!/usr/bin/env bash
# sql.sh - what encryption costs in SQL: scans and COPY of encrypted columns beside the same of plain ones, in one run;
# 'make bench-sql' calls it.  ROWS=1000000 for the scans (COPY takes half of them); ROUNDS=15.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../test/lib/cluster.sh
. "$(dirname "$0")/../test/lib/cluster.sh"
# shellcheck source-path=SCRIPTDIR source=../test/lib/deps.sh
. "$top/test/lib/deps.sh"

rows=${ROWS:-1000000} rounds=${ROUNDS:-15}
# name, and the modifiers of its columns
variants=(plain: nomac:aes256,salt,nomac mac:aes256,salt,mac sha256:aes256,salt,sha256 siv:aes256,nosalt,mac det:aes256,nosalt,nomac gcm:aes256,salt,gcm gcmsiv:aes256,nosalt,gcm)

column() { if [[ $2 ]]; then echo "encrypted_$1($2)"; else echo "$1"; fi; }

# One statement a line, timed by the server's client in one session, so that every round meets every variant.
script() {
  local round variant name i
  echo 'SET max_parallel_workers_per_gather = 0;'
  echo 'SET synchronous_commit = off;'
  for ((round = 0; round <= rounds; round++)); do # round 0 warms up
    for variant in "${variants[@]}"; do
      name=${variant%%:*}
      echo "\\echo statement avg_length $name $round"
      echo "SELECT avg(length(a)) FROM scan_$name;"
      for i in 1 2 3; do # it is short, and the noise is not
        echo "\\echo statement count $name $round"
        echo "SELECT count(*) FROM scan_$name;"
      done
      # recycles WAL segments, as on a server that has run for a while: making new ones would count more than what is
      # written; and nobody writes to disk meanwhile what the variant before has left in memory
      echo "TRUNCATE copy_$name;"
      echo 'CHECKPOINT;'
      echo "\\echo statement copy $name $round"
      echo "\\copy copy_$name FROM '$work/copy.txt'"
      echo "\\echo statement copy_out $name $round"
      echo "COPY copy_$name TO '/dev/null';"
      echo '\echo end'
    done
    echo "\\warn sql.sh: round $round of $rounds"
  done
}

workspace
need demo
say 'building'
private_install
cluster_start <<END
autovacuum = off
shared_buffers = 1GB
max_wal_size = 16GB
min_wal_size = 8GB
checkpoint_timeout = 1h
jit = off
END
sql -c 'CREATE EXTENSION tde_column' -c 'SELECT tde_wallet_create()' >/dev/null

say "loading $((rows / 1000)) thousand rows, ${#variants[@]} times"
for variant in "${variants[@]}"; do
  name=${variant%%:*} spec=${variant#*:}
  sql -c "CREATE TABLE scan_$name (id int, a $(column text "$spec"))" \
    -c "INSERT INTO scan_$name SELECT g, substr(md5(g::text), 1, 10) FROM generate_series(1, $rows) g" \
    -c "VACUUM (FREEZE, ANALYZE) scan_$name" \
    -c "CREATE TABLE copy_$name (id int, a $(column text "$spec"), b $(column numeric "$spec"))"
done
sql -c "COPY (SELECT g, substr(md5(g::text), 1, 10), g * 1.25 FROM generate_series(1, $rows / 2) g) TO '$work/copy.txt'" -c CHECKPOINT

decryptions=$(sql -c "SELECT count(*) FROM scan_mac" -c "SELECT decryptions FROM tde.stats" | tail -n 1)
script | as_pg psql -Xqt -v ON_ERROR_STOP=1 -c '\timing on' -f - >"$work/times"

cat <<END
PostgreSQL $(sql -c 'SHOW server_version'); $rows rows of 10 characters; COPY from a client of $((rows / 2)) rows with two encrypted columns
(text of 10 characters, numeric); no parallelism; $rounds rounds (of count the shortest of three), the median of each round's
ratio to plain.

END
awk -v rounds="$rounds" -f bench/sql/report.awk "$work/times"
printf '\ncount(*) over %s encrypted rows: %s decryptions.\n' "$rows" "$decryptions"
((decryptions == 0)) || die 'count(*) must not decrypt'
server_log='' # has nothing to say about a missed target
awk -v rounds="$rounds" -f bench/sql/report.awk -v targets='avg_length nomac 2.2, avg_length mac 4.2, count nomac 1.2,
  count mac 1.2, copy nomac 1.5, copy mac 2.0' "$work/times"
