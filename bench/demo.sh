#!/usr/bin/env bash
# demo.sh - what column encryption costs and what it hides: the experiment of Apolinarski ("Influence of using cryptography on
# data processing in RDBMS Oracle 10g") on this machine, beside the paper's figures; then one row as the disk holds it.
# 'make demo' calls it; 'make demo SCALE=4' loads four times the rows and runs four times the transactions.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../test/lib/cluster.sh
. "$(dirname "$0")/../test/lib/cluster.sh"
# shellcheck source-path=SCRIPTDIR source=../test/lib/deps.sh
. "$top/test/lib/deps.sh"

scale=${SCALE:-1}
[[ $scale =~ ^[1-9][0-9]{0,3}$ ]] || die "SCALE=$scale: it must be a whole number from 1 to 9999"
rows=$((20000 * scale)) rounds=7
# in each round, for each table
declare -A transactions=([insert]=$((2500 * scale)) [update]=$((2500 * scale)) [select]=$((4000 * scale)))
# plain twice: what differs between these two is noise
variants=(plain 3des168_salt 3des168_nosalt aes128_salt aes128_nosalt plain_again aes192_salt aes192_nosalt aes256_salt aes256_nosalt)
# the paper's ratios to plain, Oracle 10.2: insert, update, select
oracle='3des168_salt 1.201 1.208 1.297  3des168_nosalt 1.113 1.121 1.208
        aes128_salt  1.234 1.239 1.322  aes128_nosalt  1.142 1.159 1.234
        aes192_salt  1.272 1.280 1.368  aes192_nosalt  1.182 1.194 1.281
        aes256_salt  1.314 1.310 1.397  aes256_nosalt  1.223 1.233 1.313'

# Progress on stderr: a line that is rewritten on a terminal, new lines elsewhere.
steps=5 step=0
begin() {
  step=$((step + 1)) doing=$1
  progress "about $(clock "$2") left"
}
progress() {
  local line="demo: [$step/$steps] $doing ($1)"
  if [[ -t 2 ]]; then printf '\r%s\033[K' "$line" >&2; else printf '%s\n' "$line" >&2; fi
}
clock() { if (($1 < 100)); then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

make_table() {
  local type
  case $1 in
    plain) set -- "$1" 'varchar(25)' 'numeric(15)' ;;
    *)
      type=${1/_/,} type=${type/3des168/"'3des168'"} # an SQL word does not begin with a digit
      set -- "$1" "encrypted_varchar(25,$type)" "encrypted_numeric(15,$type)"
      ;;
  esac
  quietly load as_pg psql -Xq -v ON_ERROR_STOP=1 -v variant="\"$1\"" -v pass_type="$2" -v cc_type="$3" -v rows="$rows" \
    -f bench/demo/tables.sql
  sizes+=" $1 $(sql -c "SELECT pg_relation_size('\"$1\".card') / $rows")"
}

# One round.  Each script runs on all tables in one pgbench, which picks the table anew for each transaction: whatever else the
# machine does hits all of them alike.
measure() {
  local script variant n
  for script in insert update select; do
    n=$((${transactions[$script]} * ${#variants[@]}))
    set --
    for variant in "${variants[@]}"; do
      set -- "$@" -f "$work/scripts/$script-$variant.sql"
    done
    rm -f "$work"/scripts/log.*
    quietly pgbench as_pg pgbench -n -c 1 -t "$n" -D rows="$rows" \
      --log --log-prefix="$work/scripts/log" "$@"
    sort -k4,4n -k3,3n "$work"/scripts/log.* | awk -v names="${variants[*]}" -f bench/middle.awk | sed "s/^/$script /" >>"$work/times"
  done
}

# show_row VARIANT TEXT: the bytes of the row with this password, read from the table's file
show_row() {
  local table="\"$1\".card" file block item pointer offset length
  IFS='|' read -r file block item < <(sql -c "SELECT pg_relation_filepath('$table'), (ctid::text::point)[0], (ctid::text::point)[1]
    FROM $table WHERE id = $id")
  # A line pointer: 15 bits offset, 2 bits flags, 15 bits length.
  pointer=$(od -An -tu4 -j $((block * 8192 + 24 + 4 * (item - 1))) -N 4 "$work/data/$file")
  offset=$((block * 8192 + (pointer & 32767))) length=$((pointer >> 17))
  printf '\n%s: %s bytes of the file %s, from offset %s on:\n' "$1" "$length" "$file" "$offset"
  od -A d -t x1z -j "$offset" -N "$length" "$work/data/$file" | sed '$d'
  printf 'Files of the data directory, WAL included, with the text "%s":\n' "$2"
  (cd "$work/data" && { grep -rlaF "$2" -- * || echo none; } | sort | sed 's/^/  /')
}

workspace
need demo
total=$((45 + 60 * scale))
begin 'building the extension' "$total"
private_install

begin 'starting a private server' $((total - 25))
cluster_start <<END
autovacuum = off
synchronous_commit = off
checkpoint_timeout = 1h
max_wal_size = 16GB
END
sql -c 'CREATE EXTENSION tde_column'
passphrase=$(sql -c 'SELECT tde_wallet_create()')

begin "loading nine tables of $rows rows" $((total - 30))
sizes=''
for variant in "${variants[@]}"; do
  [[ $variant == plain_again ]] || make_table "$variant"
done
sizes+=" plain_again ${sizes#* plain }"
sql -c CHECKPOINT

begin 'measuring' $((total - 35))
as_pg mkdir "$work/scripts"
for variant in "${variants[@]}"; do
  for script in insert update select; do
    sed "s/ card / \"${variant%_again}\".card /" "bench/demo/$script.sql" | as_pg tee "$work/scripts/$script-$variant.sql" >/dev/null
  done
done
started=$SECONDS
for ((round = 1; round <= rounds; round++)); do
  measure
  progress "round $round of $rounds, about $(clock $(((SECONDS - started) * (rounds - round) / round + 1))) left"
done

begin 'looking at the disk' 1
id=1000000000
declare -A text=([plain]='correct horse battery' [aes256_salt]='staple battery horse')
for variant in "${!text[@]}"; do
  sql -c "INSERT INTO \"$variant\".card VALUES ($id, '${text[$variant]}', '378282246310005')"
done
sql -c CHECKPOINT
if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
cat <<END
PostgreSQL $(sql -c 'SHOW server_version'), ${cpu:-$(uname -m)}

Nine tables (id int, pass varchar(25), cc numeric(15)); in eight of them pass and cc are encrypted, with the default
MAC: gcm, or sha256 with triple DES. Each has $rows rows; one client, statements as text, synchronous_commit off (waiting
for the disk would hide the cost); $rounds rounds of ${transactions[insert]} inserts, ${transactions[update]} updates, ${transactions[select]} selects.
  tps       transactions per second, the median of $rounds rounds
  overhead  additional time against plain in the same round, the median of the rounds
  Oracle    overhead of Oracle 10g in Apolinarski's paper
  bytes     size of the table's file, by row, after loading

END
awk -f bench/demo/report.awk -v rounds="$rounds" -v sizes="$sizes" -v oracle="$oracle" "$work/times"
cat <<END

What the disk holds of a row (id $id, pass '...', cc 378282246310005):
END
for variant in plain aes256_salt; do show_row "$variant" "${text[$variant]}"; done
cat <<END

What SQL sees with the wallet open, then closed, then open again. tde_wallet_create() had made the
wallet and returned its passphrase, $passphrase

END
as_pg env PGOPTIONS='-c search_path=aes256_salt,public' passphrase="$passphrase" \
  psql -X -P footer=off -v id="$id" <bench/demo/wallet.sql 2>&1
