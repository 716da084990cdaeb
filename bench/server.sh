#!/usr/bin/env bash
# server.sh - a private server for a program that starts this as a child: it is there until the child's standard input ends.
#
#   server.sh SETTINGS [TREE [PEER...]]   SETTINGS is a file for postgresql.conf; TREE another source tree of the extension to install, or '';
#                                         PEER that of another extension to install beside it
#
# It works in a new folder inside $BENCH_WORK, and says "ready FOLDER BINDIR" when the server runs; FOLDER holds the socket.
# Then it reads commands, answering "ok":
#   restart [NAME=VALUE...]      stop the server, and start it with these variables in its environment
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../test/lib/cluster.sh
. "$(dirname "$0")/../test/lib/cluster.sh"
# shellcheck source-path=SCRIPTDIR source=../test/lib/deps.sh
. "$top/test/lib/deps.sh"

restart() {
  quietly stop as_pg pg_ctl -D "$work/data" -m fast -w stop
  quietly start as_pg env "$@" pg_ctl -D "$work/data" -l "$server_log" -w start
}

settings=$(<"$1")
top=${2:-$top}
within=$BENCH_WORK workspace
mkdir "$work/tmp"
export TMPDIR=$work/tmp # a compiler that is killed leaves files
need demo
private_install
for peer in "${@:3}"; do
  as_pg mkdir "$work/peer"
  tar -C "$peer" --exclude=./.git -cf - . | as_pg tar -C "$work/peer" -xf -
  quietly peer as_pg make -C "$work/peer" PG_CONFIG="$pg_config" with_llvm=no install
  rm -r "$work/peer"
done
cluster_start <<<"$settings"
echo "ready $work $bindir"
while read -r command arguments; do
  [[ $command == restart ]] || die "there is no command \"$command\""
  read -ra words <<<"$arguments"
  restart "${words[@]}"
  echo ok
done
