# shellcheck shell=bash disable=SC2154
# deps.sh - find PostgreSQL, and install what a goal needs and this machine lacks.  To be sourced after cluster.sh.
#
#   need demo|check|crypto      sets pg_config (not for crypto); exits with a list of what to install if it cannot do it itself;
#                               check: $work/pgtap has pgTAP where this PostgreSQL has none of its own
#   need cluster                check's and what builds Citus
#   need sanitize|fuzz          check's and what builds PostgreSQL; clang with libFuzzer
#   need bench                  sets python, too: an interpreter with the modules that bench/suite wants
#   need python|java|node|go|ruby    a language's compiler or interpreter, and what its packages are fetched with
#   need node_orm|hibernate|gorm   the same for ORMs
#   need browser                Chromium
#
# With DEPS=no in the environment nothing is installed.

# The PostgreSQL to use: what PG_CONFIG says, else what pg_config on PATH belongs to if one can build extensions with it,
# else the newest server of Debian's layout, else the one that Debian installs by default.
find_postgres() {
  local found dirs
  pg_config='' bindir='' major=''
  if [[ ${PG_CONFIG:-} ]]; then
    pg_config=$(command -v "$PG_CONFIG") || die "PG_CONFIG=$PG_CONFIG is not a command"
  elif found=$(command -v pg_config) && can_build "$found"; then
    pg_config=$found
  else
    dirs=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
    if [[ -x $dirs ]]; then
      bindir=${dirs%/postgres} major=${bindir#/usr/lib/postgresql/} major=${major%/bin}
    elif command -v apt-cache >/dev/null; then
      major=$(debian_major)
      [[ $major ]] || { apt update && major=$(debian_major); }
      bindir=/usr/lib/postgresql/$major/bin
    fi
    pg_config=$bindir/pg_config
  fi
  if [[ -x $pg_config ]]; then
    bindir=$("$pg_config" --bindir)
    major=$("$pg_config" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
  fi
  [[ ! $major || $major -ge 15 ]] || die "tde_column needs PostgreSQL 15 or later; this is $major (PG_CONFIG chooses another)"
}

# Both are looked for: Debian has PGXS in the client's package and a pg_config in libpq-dev.
can_build() { [[ -e $("$1" --pgxs) && -e $("$1" --includedir-server)/postgres.h ]]; }

debian_major() { apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9][0-9]*\)$/\1/p' | head -n 1; }

# want DEBIAN RHEL BREW TEST...: note the package names if TEST fails
want() {
  if ! "${@:4}" >/dev/null 2>&1; then
    debian+=("$1") rhel+=("$2") brew+=("$3")
  fi
}
has_perl_module() { perl -M"$1" -e 1; }
has_openssl_headers() { printf '#include <openssl/evp.h>\n' | cc_with_openssl -E -; }
cc_with_openssl() { gcc -I"$(brew --prefix openssl@3 2>/dev/null)/include" -xc "$@"; }
has_extension() { [[ -e $("$pg_config" --sharedir)/extension/$1.control ]]; }

missing() {
  debian=() rhel=() brew=()
  case $1 in
    python | java | node | node_orm | go | hibernate | gorm | ruby | browser)
      "missing_$1"
      return ;;
  esac
  want gcc gcc gcc command -v gcc
  want libc6-dev glibc-devel gcc test -e /usr/include/stdlib.h -o -d /Library/Developer
  want make make make command -v make
  want libssl-dev openssl-devel openssl@3 has_openssl_headers
  [[ $1 != crypto ]] || return 0
  want zlib1g-dev zlib-devel zlib has_header zlib.h
  find_postgres
  want "postgresql-$major" postgresql-server "postgresql@$major" test -x "$bindir/postgres"
  want "postgresql-$major" postgresql-contrib "postgresql@$major" test -x "$bindir/pgbench"
  want "postgresql-server-dev-$major" postgresql-server-devel "postgresql@$major" can_build "$pg_config"
  [[ $1 != bench ]] || missing_bench
  [[ $1 != fuzz ]] || missing_fuzz
  [[ $1 != cluster ]] || missing_cluster
  [[ $1 == check || $1 == sanitize || $1 == cluster ]] || return 0
  want perl perl perl command -v prove
  want openssl openssl openssl@3 command -v openssl
  want libipc-run-perl perl-IPC-Run 'IPC::Run (cpan)' has_perl_module IPC::Run
  want "postgresql-$major-pgtap" pgtap 'pgtap (pgxn)' has_pgtap
  [[ $1 != sanitize ]] || missing_sanitize
}

has_pgtap() { has_extension pgtap || [[ -e $work/pgtap/pgtap.control ]]; }

# pgTAP is SQL alone: where Debian has it for other majors only, the newest one's serves, unpacked for private_install.
borrow_pgtap() {
  local own=postgresql-$major-pgtap package
  apt-cache show "$own" >/dev/null 2>&1 || apt update || return 0
  ! apt-cache show "$own" >/dev/null 2>&1 || return 0
  package=$(apt-cache pkgnames postgresql- | grep -E '^postgresql-[0-9]+-pgtap$' | sort -V | tail -n 1)
  [[ $package ]] || return 0
  say "taking pgTAP of $package"
  mkdir "$work/pgtap"
  (cd "$work/pgtap" && apt-get -q download "$package" && dpkg -x "$package"_*.deb . && mv usr/share/postgresql/*/extension/pgtap* .) >>"$work/log/apt.log" 2>&1
}

# To build Citus.
missing_cluster() {
  want libzstd-dev libzstd-devel zstd has_header zstd.h
  want liblz4-dev lz4-devel lz4 has_header lz4.h
  want libpq-dev libpq-devel libpq can_include_libpq
  want libkrb5-dev krb5-devel krb5 has_header gssapi/gssapi.h
  want libicu-dev libicu-devel icu4c can_include_locale
}
# A header of the server that includes ICU's, if the server was built with it.
can_include_locale() {
  # shellcheck disable=SC2046         # several
  printf '#include "postgres.h"\n#include "utils/pg_locale.h"\n' | gcc $("$pg_config" --cppflags) -I"$("$pg_config" --includedir-server)" -E -xc -
}
can_include_libpq() { printf '#include <libpq-fe.h>\n' | gcc -I"$("$pg_config" --includedir)" -E -xc -; }

# To build PostgreSQL, and gcc's sanitizers, which Debian has in gcc's own packages.
missing_sanitize() {
  want bison bison bison command -v bison
  want flex flex flex command -v flex
  want pkg-config pkgconf pkgconf command -v pkg-config
  want libicu-dev libicu-devel icu4c pkg-config --exists icu-i18n
  want liblz4-dev lz4-devel lz4 pkg-config --exists liblz4
  want libubsan1 libubsan gcc can_link -fsanitize=undefined
  want libasan8 libasan gcc can_link -fsanitize=address
}
has_header() { printf '#include <%s>\n' "$1" | gcc -E -xc -; }
can_link() { printf 'int main(void) { return 0; }\n' | gcc "$1" -xc -o /dev/null -; }

missing_fuzz() {
  local version
  version=$(clang -dumpversion 2>/dev/null || apt-cache show clang 2>/dev/null | sed -n 's/^Version: [0-9]*:\([0-9]*\).*/\1/p' | head -n 1)
  want clang clang llvm command -v clang
  want "libclang-rt-${version%%.*}-dev" compiler-rt llvm has_libfuzzer
}
has_libfuzzer() {
  printf 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return 0; }\n' |
    clang -fsanitize=fuzzer,address,undefined -xc -o /dev/null -
}

# Debian's interpreter, since its packages serve no other; elsewhere what PATH has.
missing_bench() {
  if [[ -x /usr/bin/python3 ]]; then python=/usr/bin/python3; else python=python3; fi
  want python3 python3 python3 command -v "$python"
  want python3-psycopg2 python3-psycopg2 'psycopg2-binary (pip)' "$python" -c 'import psycopg2'
  want python3-matplotlib python3-matplotlib 'matplotlib (pip)' "$python" -c 'import matplotlib'
  want python3-venv python3 python3 "$python" -c 'import venv, ensurepip'
  want openssl openssl openssl@3 command -v openssl
  want git git git command -v git
}

# As the user who will run them, found by env: setpriv looks with root's eyes, and an interpreter in root's home would not do.
missing_python() { want python3-venv python3 python3 as_pg env python3 -c 'import venv, ensurepip'; }
missing_java() {
  want default-jdk-headless java-latest-openjdk-devel openjdk as_pg env javac -version
  want curl curl curl command -v curl
  want ca-certificates ca-certificates ca-certificates certificates
}
missing_node() {
  want nodejs nodejs node as_pg env node --version
  want npm nodejs-npm node as_pg env npm --version
}
missing_node_orm() { missing_node; }
missing_hibernate() {
  missing_java
  want maven maven maven as_pg env mvn --version
}
missing_gorm() { missing_go; }
missing_browser() { want chromium chromium chromium command -v "${BROWSER:-chromium}"; }
# with the gems that Active Record and its tests load
missing_ruby() {
  local gem
  want ruby ruby ruby as_pg env ruby --version
  for gem in pg i18n tzinfo concurrent minitest zeitwerk bcrypt builder rack; do
    want "ruby-$gem" "rubygem-$gem" "$gem (gem)" as_pg env ruby -e "require '$gem'"
  done
}
missing_go() {
  want golang-go golang go as_pg env go version
  want ca-certificates ca-certificates ca-certificates certificates
}
certificates() { test -e /etc/ssl/certs/ca-certificates.crt -o -e /etc/pki/tls/certs/ca-bundle.crt -o -d /System/Library; }

can_install() { [[ ${DEPS:-} != no ]] && command -v apt-get >/dev/null && { ((EUID == 0)) || command -v sudo >/dev/null; }; }

# As root, or through sudo.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    sudo "$@"
  fi
}

# Offline for systemd: no package is to start a service, as pgbouncer's would.
apt() { as_root env DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1 apt-get -y -q -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$work/log/apt.log" 2>&1; }

# Debian's packages make a cluster "main" when a server is first installed.  Nothing here uses it, so it is switched off, for
# this installation alone, by a file in the folder that createcluster.conf includes.
apt_install() {
  local conf=/etc/postgresql-common/createcluster.d/tde_column.conf rc=0
  as_root mkdir -p "${conf%/*}"
  as_root sh -c "echo 'create_main_cluster = false' >$conf"
  # The package lists may be missing or old.
  apt install --no-install-recommends "$@" || { apt update && apt install --no-install-recommends "$@"; } || rc=$?
  as_root rm -f "$conf"
  as_root rmdir "${conf%/*}" 2>/dev/null || true
  return "$rc"
}

need() {
  local debian rhel brew packages
  missing "$1"
  ((${#debian[@]})) || return 0
  if can_install; then
    [[ " ${debian[*]} " != *'-pgtap '* ]] || { borrow_pgtap && missing "$1"; }
    ((${#debian[@]})) || return 0
    mapfile -t packages < <(printf '%s\n' "${debian[@]}" | sort -u)
    say "installing ${packages[*]}"
    apt_install "${packages[@]}" || { tail -n 20 "$work/log/apt.log" >&2; die "apt-get failed"; }
    missing "$1"
    ((${#debian[@]})) || return 0
  fi
  die "please install what is missing here:
  Debian, Ubuntu: $(list "${debian[@]}")
  RHEL, Fedora:   $(list "${rhel[@]}")
  macOS (brew):   $(list "${brew[@]}")"
}

# need_debian COMMAND-OR-FILE PACKAGES WHAT: only Debian has packages of it; without them the test that wants it says so.
need_debian() {
  { command -v "$1" >/dev/null || [[ -e $1 ]]; } && return
  if can_install; then
    say "installing $2"
    # shellcheck disable=SC2086       # several
    apt_install $2 && return
  fi
  skipped "$3, since ${1##*/} is not here and cannot be installed"
}

need_processors() {
  [[ $(uname -m) == x86_64 ]] || return 0
  need_debian qemu-x86_64 qemu-user 'gcm on other processors'
  need_debian aarch64-linux-gnu-gcc 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross' 'gcm on aarch64'
}

list() { printf '%s\n' "$@" | awk '!seen[$0]++ { printf "%s%s", sep, $0; sep = ", " }'; }
