# shellcheck shell=bash disable=SC2154
# source.sh - PostgreSQL's sources, and servers built from them.  To be sourced after deps.sh.
#
#   get_source      sets src: the sources of the PostgreSQL that pg_config belongs to; CORE_SRC names a folder that has them
#   assert_build    sets pg_config, bindir: a server with its assertions on, unpacked in $work, with its contrib modules and pgTAP
#   plain_build     the same of one without them, whose tree of objects is $work/build
#
# All come from ${XDG_CACHE_HOME:-~/.cache}/tde_column the second time.

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tde_column

# debian_source SOURCE PACKAGE FOLDER: the upstream sources of the installed version of a package, or of the nearest one that
# Debian's mirror still has, through a private configuration of apt: the system's own sources are read, not changed.
debian_source() {
  local apt=$work/apt version options
  mkdir -p "$apt/etc" "$apt/lists/partial" "$apt/archives/partial"
  find /etc/apt/sources.list /etc/apt/sources.list.d -type f 2>/dev/null | while read -r file; do
    sed -e 's/^deb /deb-src /' -e 's/^Types:.*/Types: deb-src/' "$file" >"$apt/etc/${file##*/}"
  done
  mv "$apt/etc/sources.list" "$apt/sources.list" 2>/dev/null || : >"$apt/sources.list"
  options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/etc" -o "Dir::State::lists=$apt/lists"
    -o "Dir::Cache=$apt" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update || true
  for version in $(dpkg-query -W -f '${source:Version}\n' "$2") \
    $(apt-cache "${options[@]}" showsrc "$1" | sed -n 's/^Version: //p' | sort -rV); do
    (cd "$apt" && apt-get "${options[@]}" --download-only --tar-only source "$1=$version") && break
  done
  find "$apt" -maxdepth 1 -name "$1_*.orig.tar.*" ! -name '*.asc' -exec tar -C "$3" --strip-components=1 -xf {} \;
  [[ $(ls -A "$3") ]]
}

# PostgreSQL's own site has every version, Debian's mirrors are reached from more places.
get_source() {
  local version
  version=$("$pg_config" --version | sed 's/^PostgreSQL \([^ ]*\).*/\1/')
  src=${CORE_SRC:-$cache/postgresql-$version}
  [[ ! -e $src/configure ]] || return 0
  [[ ! ${CORE_SRC:-} ]] || die "CORE_SRC=$CORE_SRC has no sources of PostgreSQL"
  say "getting PostgreSQL's sources"
  mkdir -p "$work/source" "$cache"
  {
    curl -fsSL --connect-timeout 10 "https://ftp.postgresql.org/pub/source/v$version/postgresql-$version.tar.bz2" |
      tar -xj -C "$work/source" --strip-components=1
  } >"$work/log/source.log" 2>&1 || debian_source "postgresql-$major" "postgresql-$major" "$work/source" >>"$work/log/source.log" 2>&1 ||
    { tail -n 20 "$work/log/source.log" >&2; die "no sources of PostgreSQL $version; CORE_SRC names a folder that has them"; }
  # whole or not at all
  rm -rf "$src" "$src.new"
  cp -R "$work/source" "$src.new"
  mv "$src.new" "$src"
}

# -O1: a stack shows each function.  The prefix is where the archive's files are found, under the folder it is unpacked in.
assert_options=(--prefix=/pgsql --enable-cassert --enable-debug --enable-tap-tests --disable-rpath --with-icu --with-lz4 --with-openssl
  --without-readline 'CFLAGS=-O1 -g -fno-omit-frame-pointer')

# compile_server FOLDER OPTION...: in $work/build, installed below the folder
compile_server() {
  local jobs
  jobs=$(getconf _NPROCESSORS_ONLN)
  cp -R "$src" "$work/build"
  (
    cd "$work/build"
    quietly configure ./configure "${@:2}"
    quietly make make -s -j"$jobs" install DESTDIR="$1"
    quietly contrib make -s -j"$jobs" -C contrib install DESTDIR="$1"
  ) || exit
}

# Packed without what only the installation's own clients need, since nobody else may read root's cache.
pack_assert_build() {
  local archive=$1
  get_source
  say "building PostgreSQL with assertions (once, for $archive)"
  compile_server "$work/stage" "${assert_options[@]}"
  tar -C "$work/stage/pgsql" -cf "$archive.new" .
  mv "$archive.new" "$archive"
  rm -rf "$work/build" "$work/stage"
}

# The server in $work/pgsql, in place of the one that pg_config belongs to.
use_build() {
  local pgtap
  pgtap=$("$pg_config" --sharedir)/extension
  # pgTAP is SQL alone; private_install has what deps.sh took from elsewhere
  [[ -e $work/pgtap/pgtap.control ]] || cp "$pgtap"/pgtap* "$work/pgsql/share/extension"
  bindir=$work/pgsql/bin pg_config=$bindir/pg_config
  export LD_LIBRARY_PATH=$work/pgsql/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  if ((EUID == 0)); then chown -R postgres: "$work"; fi
}

# archive_of KIND: where such a build of this version is kept
archive_of() {
  mkdir -p "$cache"
  printf '%s/postgresql-%s-%s-%s.tar\n' "$cache" "$("$pg_config" --version | sed 's/^PostgreSQL \([^ ]*\).*/\1/')" "$1" \
    "$(printf '%s\n' "${assert_options[@]}" | cksum | cut -d ' ' -f 1)"
}

plain_build() {
  local archive
  archive=$(archive_of plain)
  if [[ -e $archive ]]; then
    tar -C "$work" -xf "$archive"
  else
    get_source
    say "building PostgreSQL (once, for $archive)"
    compile_server "$work" "${assert_options[@]}" --disable-cassert
    tar -C "$work" -cf "$archive.new" build pgsql
    mv "$archive.new" "$archive"
  fi
  use_build
}

assert_build() {
  local archive
  archive=$(archive_of assert)
  [[ -e $archive ]] || pack_assert_build "$archive"
  mkdir "$work/pgsql"
  tar -C "$work/pgsql" -xf "$archive"
  use_build
}
