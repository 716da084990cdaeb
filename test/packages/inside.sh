# inside.sh - what 'installed' and 'volume' share, which run in a Debian of their own, as root, and give $ROWS a row for each step:
# name|seconds|result.
# shellcheck shell=bash

me=${0##*/} log=$(mktemp)
: >"$ROWS"

say() { printf '%s: %s\n' "$me" "$1"; }

# step NAME COMMAND...: all of the output follows; the row has the last line that COMMAND says by say
step() {
  local name=$1 started=$SECONDS result=ok said
  shift
  say "$name"
  set +e
  (set -e; "$@") >"$log" 2>&1
  [[ $? == 0 ]] || result=FAILED      # not by ||, under which the subshell would go on after a failure
  set -e
  cat "$log"
  said=$(sed -n "s/^$me: //p" "$log" | tail -n 1)
  printf '%s|%s|%s\n' "$name" "$((SECONDS - started))" "$result${said:+, $said}" >>"$ROWS"
  [[ $result == ok ]] || { say "FAILED: $name"; exit 1; }
}

as_pg() { setpriv --reuid=postgres --regid=postgres --init-groups -- env HOME=/var/lib/postgresql "$@"; }
must_say() { grep -qF -- "$1" "$2" || { echo "this is missing: $1"; return 1; }; }
