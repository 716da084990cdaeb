# shellcheck shell=bash disable=SC2154
# guest.sh - servers with this extension beside one without, to see that plain SQL does not change.  To be sourced after source.sh.
#
#   guest_servers STATE...         makes and starts the servers of these states, each below $work/STATE;
#                                  guest_preload: other libraries to be preloaded everywhere
#                                  plain     without the extension
#                                  open      preloaded, created in template1, the wallet open
#                                  closed    the same, and nobody has opened the wallet
#                                  unloaded  created in template1, not preloaded
#   guest_sql STATE PSQL-OPTION... one of them
#   guest_regress STATE PG_REGRESS-OPTION...          PostgreSQL's test driver there, with the extension in the database it makes
#   guest_regress_all "STATE..." PG_REGRESS-OPTION... for several
#   build_regress                  installs the C functions of PostgreSQL's scripts; call get_source and private_install before
#   guest_scripts                  the same, and puts PostgreSQL's own scripts into $work/scripts
#   guest_compare KNOWN FOLDER STATE...        what the files in $work/STATE/FOLDER have otherwise than those of plain
#
# KNOWN is a file of the differences that may be there, each with its reason:
#   [FILE] REASON
#   rows ERE        every line that plain has is there, in any order, and each further one matches
#   MAJOR HASH      the lines that differ have this hash with this major version of PostgreSQL
# UPDATE=1 writes hashes that have changed into it.

guest_settings() {
  local preload=${guest_preload:-}
  [[ $1 != @(open|closed) ]] || preload+=${preload:+,}tde_column
  cat <<END
listen_addresses = ''
unix_socket_directories = '$work/$1'
fsync = off
autovacuum = off
max_prepared_transactions = 2
compute_query_id = regress
wal_level = logical
END
  echo "shared_preload_libraries = '$preload'"
  case $1 in
    open) echo "tde_column.passphrase_command = 'echo guest-passphrase'" ;&
    closed) echo "tde_column.wallet_file = '$work/guest_wallet/tde_column.p12'" ;;
  esac
}

# All have the same files of initdb, so that catalogs have the same OIDs and collations.
guest_servers() {
  local state
  as_pg mkdir -p -m 700 "$work/guest_wallet"
  quietly guest_initdb as_pg initdb -D "$work/guest_data" -U postgres -A trust -E UTF8 --locale=C --no-sync
  for state; do
    as_pg mkdir "$work/$state"
    as_pg cp -R "$work/guest_data" "$work/$state/data"
    guest_settings "$state" >>"$work/$state/data/postgresql.conf"
    # dblink and postgres_fdw find their own server by it
    quietly "start_$state" as_pg env PGHOST="$work/$state" pg_ctl -D "$work/$state/data" -l "$work/log/server_$state.log" -w start
    [[ $state == plain ]] || guest_sql "$state" -d template1 -c 'CREATE EXTENSION tde_column'
    [[ $state != open ]] || guest_sql "$state" -c "SELECT tde_wallet_create('guest-passphrase')"
  done >/dev/null 2>"$work/log/servers.log" || { cat "$work/log/servers.log" >&2; die 'no servers'; }
}

guest_sql() { sql -h "$work/$1" -U postgres -d "${guest_database:-template1}" "${@:2}"; }

guest_regress() {
  local state=$1 load=(--load-extension=tde_column)
  [[ $state != plain ]] || load=()
  as_pg "$(dirname "$("$pg_config" --pgxs)")/../test/regress/pg_regress" --bindir="$bindir" --dlpath="$("$pg_config" --pkglibdir)" \
    --host="$work/$state" --user=postgres --outputdir="$work/$state" "${load[@]}" "${@:2}"
}

# The same scripts in several states, two at a time.  What is otherwise than PostgreSQL expects is so without the extension,
# too: the scripts may be older than the server.
guest_regress_all() {
  local state
  for state in $1; do
    while (($(jobs -rp | wc -l) >= 2)); do wait -n || true; done
    guest_regress "$state" "${@:2}" >"$work/log/regress_$state.log" 2>&1 &
  done
  wait
  for state in $1; do
    grep -E '[0-9]+ tests (passed|failed)' "$work/log/regress_$state.log" | tr -d '#' | sed "s/^ */$state: /" ||
      { tail -n 20 "$work/log/regress_$state.log"; return 1; }
  done
}

# The C functions of the regression scripts.
build_regress() {
  as_pg mkdir "$work/regress"
  cp "$src"/src/test/regress/regress.c "$work/regress"
  printf 'MODULES = regress\nPGXS := $(shell $(PG_CONFIG) --pgxs)\ninclude $(PGXS)\n' >"$work/regress/Makefile"
  quietly regress as_pg make -C "$work/regress" PG_CONFIG="$pg_config" with_llvm=no install
}

# PostgreSQL's scripts where the server's user can read their data.
guest_scripts() {
  build_regress
  cp -R "$src/src/test/regress" "$work/scripts"
  chmod -R a+rX "$work/scripts"
}

# Lines as a set, without what depends on how many there are and how wide.
guest_rows() { sed -E -e '/^\([0-9]+ rows?\)$/d' -e 's/[[:space:]]+/ /g' -e 's/ \+\|/+|/' -e 's/-+/-/g' -e 's/ $//' "$1" | sort; }

# The lines that differ, without their places.
guest_diff() { diff -a "$1" "$2" | grep -a '^[<>]'; }

# known FILE, plain's file, another's: nothing to be said, or what differs
guest_judge() {
  local known=$1 name=${2##*/} rule hash
  rule=$(awk -v name="[${name%.out}]" -v major="$major" '/^\[/ { here = $1 == name } here && ($1 == "rows" || $1 == major)' "$known")
  if [[ $rule == rows\ * ]]; then
    ! { comm -23 <(guest_rows "$2") <(guest_rows "$3") | sed 's/^/< /'
      comm -13 <(guest_rows "$2") <(guest_rows "$3") | grep -avE -e "${rule#rows }" | sed 's/^/> /'; } | grep -a . && return
    return 1
  fi
  hash=$(guest_diff "$2" "$3" | sha1sum | cut -c 1-12)
  [[ $rule != "$major $hash" ]] || return 0
  guest_diff "$2" "$3"
  [[ ! $rule ]] || echo "$name: with this difference, hash $hash; $known has ${rule#* }"
  if [[ $rule && ${UPDATE:-} ]]; then sed -i "s/^$rule\$/$major $hash/" "$known"; fi
  return 1
}

guest_compare() {
  local known=$1 folder=$2 state file name text count failed=0
  for state in "${@:3}"; do
    count=0
    while read -r name; do
      file=$work/$state/$folder/$name
      if [[ ! -e $work/plain/$folder/$name || ! -e $file ]]; then
        echo "$state: $name is not there, or not without the extension"
        failed=1
      elif cmp -s "$work/plain/$folder/$name" "$file"; then
        count=$((count + 1))
      elif text=$(guest_judge "$known" "$work/plain/$folder/$name" "$file"); then
        echo "$state: $name differs as $(basename "$known") says"
      else
        failed=1
        echo "$state: $name DIFFERS: $(wc -l <<<"$text") lines"
        head -n "${GUEST_LINES:-40}" <<<"$text"
      fi
    done < <({ cd "$work/plain/$folder" && find . -type f -name '*.out'; cd "$work/$state/$folder" && find . -type f -name '*.out'; } |
      sed 's/^..//' | sort -u)
    echo "$state: $count files are the same as without the extension"
    ((count)) || failed=1
  done
  return "$failed"
}
