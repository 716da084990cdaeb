# shellcheck shell=bash
# cluster.sh - a private PostgreSQL with this extension, in a temporary folder that is gone when the script ends.
#
#   workspace                   makes the folder ($work; inside $within if that is set) and sets the traps; call it first
#   copy_sources FOLDER         copies this tree there, without what was built
#   private_install             copies PostgreSQL there and installs the extension into the copy
#   quick_install               copies that installation to $quick, with a library that derives a wallet's keys in no time
#   cluster_start <<<SETTINGS   makes and starts a cluster on a unix socket in $work, with SETTINGS in its postgresql.conf
#   run COMMAND...              a long command, such that a signal to the script ends it at once
#   begin COMMAND...            one that runs beside the script, into $work/log/beside.log; 'finish' shows that, and returns its status
#   as_pg COMMAND...            as the user who runs the server: oneself, or postgres for root, whom PostgreSQL refuses
#   say TEXT, die TEXT          progress, and the end
#   skipped TEXT                what is not tested, and why; test/check lists it at the end
#
# No system cluster and no system folder is touched.  KEEP=1 keeps the folder.  SERVER_PRELOAD names a library that is loaded
# into the server before all others.

((BASH_VERSINFO[0] >= 4)) || { echo "bash 4 or later is needed; this is $BASH_VERSION" >&2; exit 1; }

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
me=${0##*/} me=${me%.sh} within='' work='' child='' beside='' pg_config='' bindir='' quick='' server_log=''

say() { printf '%s: %s\n' "$me" "$1" >&2; }
die() {
  say "$1"
  exit 1
}
skipped() {
  say "SKIPPED: $1"
  echo "$1" >>"$work/log/skips"
}

workspace() {
  local base=${TMPDIR:-/tmp} var
  # A socket's path is limited to about 100 bytes, and root's another user must get there.
  if ((${#base} > 50)) || ! as_pg test -x "$base" 2>/dev/null; then base=/tmp; fi
  base=${within:-$base}
  # Nothing of the caller's must leak into the server, the clients or the make below.
  for var in "${!PG@}" "${!MAKE@}" MFLAGS; do
    [[ $var == PG_CONFIG || $var == PGTAP ]] || unset "$var"
  done
  export LC_ALL=C
  trap 'cleanup $?' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  work=$(mktemp -d "$base/tde_column.XXXXXX")
  work=$(cd "$work" && pwd -P)
  mkdir "$work/log"
}

cleanup() {
  local rc=$1 file group
  trap '' HUP INT TERM
  trap - EXIT
  set +e
  for group in $child $beside; do
    kill -TERM -- "-$group"
    for _ in {1..50}; do
      kill -0 -- "-$group" || break
      sleep 0.1
    done
    kill -KILL -- "-$group"
  done 2>/dev/null
  [[ $work && -d $work ]] || exit "$rc"
  # Servers that tests left behind, too.
  find "$work" -name postmaster.pid 2>/dev/null | while read -r file; do
    as_pg "$bindir/pg_ctl" -D "${file%/*}" -m immediate stop
  done >/dev/null 2>&1
  if ((rc != 0 && rc < 129)) && [[ -s $server_log ]]; then
    say "the end of the server's log:"
    tail -n 30 "$server_log" >&2
  fi
  if [[ ${KEEP:-} ]]; then
    say "kept $work"
  else
    rm -rf "$work"
  fi
  exit "$rc"
}

# In a process group of its own ('set -m'), and waited for: bash would look at signals only after a foreground command.
run() {
  local rc=0
  set -m
  "$@" &
  child=$!
  set +m
  wait "$child" || rc=$?
  child=''
  return "$rc"
}

begin() {
  set -m
  "$@" >"$work/log/beside.log" 2>&1 &
  beside=$!
  set +m
}

finish() {
  local rc=0
  wait "$beside" || rc=$?
  beside=''
  cat "$work/log/beside.log"
  return "$rc"
}

as_pg() {
  if ((EUID == 0)); then
    setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"
  else
    "$@"
  fi
}

# run, with the output in a log that is shown if the command fails
quietly() {
  local log=$work/log/$1.log
  shift
  run "$@" >"$log" 2>&1 && return
  # a compiler's first error may be far above the end
  { grep -m 3 'error:' "$log" || tail -n 30 "$log"; } >&2
  [[ $1 != as_pg ]] || shift
  die "failed: $*"
}

copy_sources() {
  tar -C "$top" --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude=./built_for --exclude=./packages --exclude='./tde_column--*' -cf - . | tar -C "$1" -xf -
}

# PostgreSQL finds its folders relative to its binaries: a tree of links with the same layout, in which only the binaries are
# copies, is an installation of its own, and the extension is built and installed as for any other.
private_install() {
  local tree=$work/pg dir
  if ((EUID == 0)); then
    id postgres >/dev/null 2>&1 || die "PostgreSQL does not run as root, and there is no user postgres: run this as an ordinary user"
    command -v setpriv >/dev/null || die "run this as an ordinary user (as root it needs setpriv, of util-linux)"
  fi
  [[ -x $bindir/postgres ]] || die "no PostgreSQL was looked for"
  mkdir -p "$tree$bindir" "$work/src"
  cp -RL "$bindir/." "$tree$bindir"
  for dir in pkglibdir sharedir; do
    dir=$("$pg_config" --$dir) && [[ $dir == /* ]] || die "$pg_config does not run"
    mkdir -p "$tree$dir"
    cp -Rs "$dir/." "$tree$dir" 2>/dev/null || cp -R "$dir/." "$tree$dir" # not every cp makes links
  done
  for dir in includedir pkgincludedir includedir-server libdir; do
    dir=$("$pg_config" "--$dir")
    [[ ! -e $dir || -e $tree$dir ]] || { mkdir -p "$tree${dir%/*}" && ln -s "$dir" "$tree$dir"; }
  done
  [[ ! -e $work/pgtap/pgtap.control ]] || cp "$work"/pgtap/pgtap* "$tree$("$pg_config" --sharedir)/extension" # see deps.sh
  bindir=$tree$bindir pg_config=$bindir/pg_config
  for dir in pkglibdir sharedir includedir-server pgxs; do
    dir=$("$pg_config" "--$dir")
    [[ $dir == "$tree"/* && -e $dir ]] || die "a copy of this PostgreSQL cannot be used elsewhere: it looks for $dir"
  done
  copy_sources "$work/src"
  if ((EUID == 0)); then chown -R postgres: "$work"; fi
  export HOME=$work PATH=$bindir:$PATH
  cd "$work/src" || exit
  # without bitcode for JIT, which would double the time
  quietly build as_pg make -j"$(getconf _NPROCESSORS_ONLN)" PG_CONFIG="$pg_config" ${CC:+"CC=$CC"} with_llvm=no install
}

# Only what knows the setting is compiled again; a FIPS provider wants 1000.  The library says in the server's log what it is.
quick_install() {
  local file
  quick=$work/quick${bindir#"$work/pg"} quick=${quick%/bin}
  as_pg cp -R "$work/pg" "$work/quick"
  as_pg cp -R "$work/src" "$work/quick_src"
  rm "$work/quick_src/tde_column.so"
  for file in src/*/*.c; do
    if grep -q TDE_PKCS12_ITERATIONS "$file"; then rm "$work/quick_src/${file%.c}.o"; fi
  done
  COPT="${COPT:-} -DTDE_PKCS12_ITERATIONS=1000" \
    quietly quick as_pg make -C "$work/quick_src" PG_CONFIG="$quick/bin/pg_config" ${CC:+"CC=$CC"} with_llvm=no install
}

cluster_start() {
  export PGHOST=$work PGUSER=postgres PGDATABASE=postgres
  as_pg mkdir -m 700 "$work/wallet"
  quietly initdb as_pg initdb -D "$work/data" -U postgres -A trust -E UTF8 --locale=C --no-sync
  {
    echo "listen_addresses = ''"
    echo "unix_socket_directories = '$work'"
    echo "shared_preload_libraries = 'tde_column'"
    echo "tde_column.wallet_file = '$work/wallet/tde_column.p12'"
    cat
  } >>"$work/data/postgresql.conf"
  server_log=$work/log/server.log
  quietly start as_pg env ${SERVER_PRELOAD:+"LD_PRELOAD=$SERVER_PRELOAD"} pg_ctl -D "$work/data" -l "$server_log" -w start
}

sql() { as_pg psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
