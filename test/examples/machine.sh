# shellcheck shell=bash disable=SC2154
# machine.sh - a Debian with systemd, PostgreSQL 15 and the packages of this tree, booted in namespaces of its own.  To be sourced after
# chroot.sh.
#
#   can_boot             whether there is what that takes; else it says why not, as what is skipped
#   boot ROOT            a machine there, with the packages in /packages and examples/ in /examples
#   at COMMAND...        there, as root
#   halt_machine         ends it
#
# It has no network.  Its processes are in a control group of their own, which goes with it.

init='' group=''

can_boot() {
  local why=''
  debs=${PACKAGES:-$top/packages/bookworm}
  if ((EUID != 0)); then
    why='it takes root'
  elif ! command -v apt-get >/dev/null || ! unshare --mount --pid --cgroup --fork true 2>/dev/null; then
    why='namespaces cannot be made here'
  elif ! compgen -G "$debs/postgresql-15-tde-column_*.deb" >/dev/null; then
    why='there is no package of this tree: sudo make deb SUITES=bookworm'
  fi
  [[ $why ]] || return 0
  without "a booted machine, since $why"
  return 1
}

machine_archive() {
  local root=$work/machine_base
  archive=$chroots/machine.tar
  is_fresh "$archive" && return
  say 'making a Debian that boots (once, some minutes)'
  install_base bookworm "$root" systemd systemd-sysv dbus postgresql-15 ansible-core python3-apt openssl sudo iproute2
  inside "$root" apt-get clean
  archive=$chroots/machine.tar
  pack "$root" "$archive"
}

boot() {
  local root=$1 folder machine
  can_chroot
  machine_archive
  mkdir -p "$root"
  tar -C "$root" -xf "$archive"
  mkdir "$root/packages"
  find "$debs/" -name 'postgresql-15-tde-column*.deb' -not -name '*-dbgsym_*' -exec cp {} "$root/packages" \;
  echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/yes"
  cp -R "$top/examples" "$root/examples"
  inside "$root" pg_createcluster 15 main >/dev/null
  inside "$root" systemd-machine-id-setup 2>/dev/null
  # The hierarchy that systemd looks after, of control groups of version 1 or 2.
  for folder in /sys/fs/cgroup/systemd /sys/fs/cgroup; do
    if [[ -e $folder/cgroup.procs ]]; then
      group=$folder/tde_column.$$
      mkdir "$group"
      break
    fi
  done
  # shellcheck disable=SC2016           # for the shell there
  bash -c 'echo $$ >"$1/cgroup.procs" && exec unshare --mount --pid --uts --ipc --net --cgroup --fork --kill-child bash -c "$2" _ "$3"' _ "$group" '
    root=$1
    mount --bind "$root" "$root" && cd "$root" && mount -t proc proc proc && mount -t sysfs sysfs sys &&
      mount -t tmpfs -o mode=755 tmpfs run && mount -t tmpfs -o mode=1777 tmpfs tmp && mount -t tmpfs -o mode=755 tmpfs dev || exit 1
    if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
      mount -t cgroup2 cgroup2 sys/fs/cgroup || exit 1
    else
      mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup && mkdir sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd || exit 1
    fi
    for device in null zero full random urandom tty; do touch dev/$device && mount --bind /dev/$device dev/$device; done
    mkdir dev/pts dev/shm && mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts && mount -t tmpfs -o mode=1777 tmpfs dev/shm
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    mkdir -p .host && pivot_root . .host && umount -l /.host && cd / && mount --make-rshared / || exit 1 # by which credentials arrive
    exec env -i container=tde_column PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd systemd.unit=multi-user.target' "$root" </dev/null >"$work/log/boot.log" 2>&1 &
  machine=$!
  for _ in {1..60}; do
    sleep 0.5
    init=$(tr -d ' ' </proc/$machine/task/$machine/children)
    if [[ $init ]] && at systemctl is-system-running 2>/dev/null | grep -qE '^(running|degraded)$'; then return 0; fi
  done
  say 'the machine does not boot'
  return 1
}

at() { nsenter --target "$init" --all env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

halt_machine() {
  [[ $group ]] || return 0
  [[ ! $init ]] || kill -KILL "$init" 2>/dev/null || true
  for _ in {1..50}; do
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null && break
    sleep 0.1
  done
}
