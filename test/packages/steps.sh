# shellcheck shell=bash disable=SC2154
# steps.sh - rows of the table that ends a script here.  To be sourced after cluster.sh; $logs: where what was said is kept.
#
#   step WHERE NAME COMMAND...   its output is a log; the result is ok, or what COMMAND writes into $work/said
#   row WHERE NAME SECONDS RESULT
#   table HEADING                of the first column
#   pack_tree FOLDER ARCHIVE     what 'make dist' packs, as it is in the working tree, there in a folder of that name
#   bill ROOT N FILE             the software bill of materials of what was built there for PostgreSQL N
#   same_files FOLDER OTHER      whether both have the same files with the same bytes

export failed=0

row() { printf '%s|%s|%s|%s\n' "$@" >>"$work/rows"; }

step() {
  local where=$1 name=$2 started=$SECONDS result=ok log=$logs/$1.${2// /_}
  shift 2
  say "$where: $name"
  : >"$work/said"
  run "$@" >"$log" 2>&1 || { result="FAILED: $log" failed=1; tail -n 15 "$log" >&2; }
  row "$where" "$name" "$((SECONDS - started))" "$result$(sed 's/^/, /' "$work/said" | tr -d '\n')"
  [[ $result == ok ]]
}

table() {
  echo
  { echo "$1|step|minutes|result"; awk -F '|' -v OFS='|' '{ $3 = sprintf("%.1f", $3 / 60); print }' "$work/rows"; } | column -t -s '|'
  echo
}

pack_tree() {
  local tree
  tree=$(git -C "$top" stash create)
  git -C "$top" archive --prefix="$1/" "${tree:-HEAD}" | xz >"$2"
}

bill() {
  # shellcheck disable=SC2016          # for dpkg-query
  local upstream='${source:Upstream-Version}'
  "$top/packaging/sbom" "postgresql=$(inside "$1" dpkg-query -W -f "$upstream" "postgresql-server-dev-$2")" "openssl=$(inside "$1" dpkg-query -W -f "$upstream" libssl-dev)" \
    "zlib=$(inside "$1" dpkg-query -W -f "$upstream" zlib1g-dev)" >"$3"
}

same_files() { diff <(cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2) <(cd "$2" && find . -type f -exec sha256sum {} + | sort -k 2); }
