# shellcheck shell=bash
# parts.sh - what .ci/run and .ci/nightly have in common: parts that are timed, and tests as an ordinary user.  To be sourced there.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
export CI=${CI:-true}                                    # what is skipped has to be in test/skips
user=ci_someone failed=0 home='' made='' table=''

# part NAME COMMAND...: its minutes are in the table at the end, whether it fails or not
part() {
  local name=$1 started=$SECONDS result=ok
  shift
  echo "ci: $name" >&2
  "$@" || { result=FAILED failed=1; }
  table+="$(awk -v s="$((SECONDS - started))" 'BEGIN { printf "%.1f", s / 60 }')|$result|$name"$'\n'
}

finish() {
  table+="$(awk -v s="$SECONDS" 'BEGIN { printf "%.1f", s / 60 }')| |all"$'\n'
  printf 'minutes|result|part\n%s' "$table" | column -t -s '|'
  exit "$failed"
}

as_user() { setpriv --reuid="$user" --regid="$user" --init-groups -- env HOME="$home" USER="$user" LOGNAME="$user" "$@"; }

cleanup() {
  [[ ! $home ]] || rm -rf "$home"
  [[ ! $made ]] || userdel "$user"
}

# Root's servers belong to postgres, so what depends on the server's owner is tested as an ordinary user of another name, too.  By then
# 'make check' has installed what the tests need, which this user may not.
check_as_user() {
  trap cleanup EXIT
  id "$user" >/dev/null 2>&1 || { useradd --no-create-home --user-group "$user" && made=1; }
  home=$(mktemp -d /tmp/ci_someone.XXXXXX)
  mkdir "$home/src"
  tar --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.so' -cf - . | tar -C "$home/src" -xf -
  chown -R "$user": "$home"
  as_user make -C "$home/src" check T='regress pgtap tap' TAP='test/t/001_wallet.pl test/t/015_wallet_cut_short.pl test/t/017_docs.pl test/t/079_robust.pl'
}
