# shellcheck shell=bash disable=SC2154
# fips.sh - OpenSSL's FIPS provider, and configurations that leave nothing else.  To be sourced after source.sh.
#
#   need_fips       sets and exports FIPS_CONF: a folder with them; says SKIPPED, and why, where there is no provider
#     openssl.cnf   default_properties = fips=yes, the providers fips and base
#     strict.cnf    the same, with every restriction that the provider has (from OpenSSL 3.4 on)
#     only.cnf      the same two providers, and no property: OpenSSL has nothing else, and does not say that this is FIPS
#
# The module is the one that is installed, or that of Debian's package openssl-provider-fips, or it is built from Debian's sources
# of OpenSSL, in a minute.  Nothing is installed.

# Debian has the package from trixie on; it is unpacked, not installed.
fips_from_package() {
  (cd "$1" && apt-get -q download openssl-provider-fips && dpkg -x openssl-provider-fips_*.deb .) &&
    find "$1/usr" -name fips.so -exec cp {} "$1/fips.so" \; && [[ -e $1/fips.so ]]
}

fips_from_source() {
  mkdir "$1/source" && debian_source openssl "$(dpkg-query -S libcrypto.so.3 | sed -n '1s/:.*//p')" "$1/source" && (
    cd "$1/source" && ./Configure enable-fips no-tests && make -s build_generated &&
      make -s -j"$(getconf _NPROCESSORS_ONLN)" providers/fips.so
  ) && cp "$1/source/providers/fips.so" "$1" && rm -rf "$1/source"
}

# get_module FOLDER: fips.so there
get_module() {
  local installed
  installed=$(openssl version -m | sed -n 's/^MODULESDIR: "\(.*\)"/\1/p')/fips.so
  if [[ -e $installed ]]; then
    cp "$installed" "$1"
  elif ! command -v apt-get; then
    echo 'there is no fips.so, and no apt-get to get one'
    return 1
  else
    apt-cache show openssl-provider-fips || apt update || true
    fips_from_package "$1" || fips_from_source "$1"
  fi
}

# configure FOLDER NAME PROPERTIES OPTION...: a configuration, with what fipsinstall says with these options
configure() {
  openssl fipsinstall -quiet -module "$1/fips.so" -out "$1/$2.module" "${@:4}" || return
  cat >"$1/$2.cnf" <<END
config_diagnostics = 1
openssl_conf = openssl_init
[openssl_init]
providers = provider_sect
alg_section = algorithm_sect
[provider_sect]
fips = fips_sect
base = base_sect
[base_sect]
activate = 1
[algorithm_sect]
$3
.include $1/$2.module
[fips_sect]
module = $1/fips.so
END
}

make_fips() {
  local folder=$1
  get_module "$folder" && configure "$folder" openssl 'default_properties = fips=yes' && configure "$folder" only '' || return
  ! openssl fipsinstall -help 2>&1 | grep -q -e -pedantic || configure "$folder" strict 'default_properties = fips=yes' -pedantic || return
  OPENSSL_CONF=$folder/openssl.cnf openssl list -providers -verbose
}

# In a subshell, where failing is no end.
need_fips() {
  local folder=$work/fips
  mkdir "$folder"
  say "getting OpenSSL's FIPS provider"
  if ! (trap - EXIT; make_fips "$folder") >"$work/log/fips.log" 2>&1; then
    skipped "FIPS, since there is no provider here: $(tail -n 1 "$work/log/fips.log")"
    [[ ! ${CI:-} ]] || die 'no FIPS provider'
    return 0
  fi
  if ((EUID == 0)); then chown -R postgres: "$folder"; fi
  export FIPS_CONF=$folder
}
