# shellcheck shell=bash
# parts.sh - how tests of each kind are run; test/check runs all of them, test/mutate/run those that have to fail.  With cluster.sh.
#
#   pgtap_database              makes the database that each pgTAP test gets a copy of
#   pgtap_files FILES           runs these; regress has 'installcheck env', TAP 'tap_files'
#   tap_files FILES             on the library of quick_install, which is made if it is not there; $failures names those that failed
# shellcheck disable=SC2086,SC2154    # lists of files and flags are split on purpose; variables of cluster.sh

JOBS=${JOBS:-$(($(getconf _NPROCESSORS_ONLN) * 3 / 2))}
failures=''

some() {
  compgen -G "${1%%[[:space:]]*}" >/dev/null || { echo "No tests: there is no $1."; return 1; }
}

installcheck() {
  run as_pg "$@" make -s PG_CONFIG="$pg_config" with_llvm=no ${REGRESS:+"REGRESS=install ${REGRESS//install/}"} installcheck && return
  [[ ! -s regression.diffs ]] || cat regression.diffs
  return 1
}

pgtap_database() { sql -c 'CREATE DATABASE pgtap' && sql -d pgtap -c 'CREATE EXTENSION pgtap' -c 'CREATE EXTENSION tde_column'; }
pgtap_files() {
  some "$1" && as_pg mkdir -p "$work/pgtap" &&
    run as_pg env PGTAP_LOGS="$work/pgtap" prove -f -j"$JOBS" -e test/pgtap/run ${PROVE_FLAGS:-} $1
}

# On a build with few iterations in a wallet's key derivation; a test that is about their number takes the one that users have.
tap_files() {
  local files=$1 dir=$work/tap pgxs log
  some "$files" && as_pg mkdir -p "$dir/tmp_check/log" || return
  [[ $quick ]] || { quick_install && templates; } || return
  pgxs=$(dirname "$(dirname "$("$quick/bin/pg_config" --pgxs)")")
  run as_pg env -u PGHOST -u PGUSER -u PGDATABASE PGPORT=65432 ${SERVER_PRELOAD:+"LD_PRELOAD=$SERVER_PRELOAD"} PG_REGRESS="$pgxs/test/regress/pg_regress" PATH="$quick/bin:$PATH" \
    TESTDIR="$dir" TESTDATADIR="$dir/tmp_check" TESTLOGDIR="$dir/tmp_check/log" TDE_TEMPLATES="$work/templates" USERS_INSTALL="${bindir%/bin}" \
    prove -j"$JOBS" -I "$pgxs/test/perl" -I test/perl ${PROVE_FLAGS:-} $files && return
  for log in "$dir"/tmp_check/log/regress_log_*; do
    if grep -qE '(^|[[:space:]])not ok|# (Looks like|Tests were run but)' "$log"; then
      failures+=" ${log##*regress_log_}"
      echo "--- the end of ${log##*/}:"
      tail -n 40 "$log"
      { echo "--- what failed in ${log##*/}:"; grep -E -A 12 '(^|[[:space:]])not ok|died|timed out' "$log" | cut -c 1-400 | head -n 60; } >>"$work/log/failed"
    fi
  done
  return 1
}

# Data directories that nodes of TAP tests begin with: as initdb makes it, and with the extension in database postgres.  See TdeTest.pm.
templates() {
  local dir=$work/templates flags="-c shared_preload_libraries=tde_column -c listen_addresses= -c unix_socket_directories=$work -c fsync=off"
  as_pg mkdir "$dir"
  quietly template_initdb as_pg initdb -D "$dir/bare" -A trust --no-sync --encoding=UTF8 --locale=C
  as_pg cp -R "$dir/bare" "$dir/extension"
  quietly template_start as_pg env ${SERVER_PRELOAD:+"LD_PRELOAD=$SERVER_PRELOAD"} "$quick/bin/pg_ctl" -D "$dir/extension" -l "$work/log/template.log" -o "-p 65431 $flags" -w start
  quietly template as_pg env -u PGUSER "$quick/bin/psql" -X -v ON_ERROR_STOP=1 -h "$work" -p 65431 -d postgres -c 'CREATE EXTENSION tde_column'
  quietly template_stop as_pg "$quick/bin/pg_ctl" -D "$dir/extension" -w stop
  rm -f "$dir"/extension/postmaster.opts
}
