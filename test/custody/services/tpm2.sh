# shellcheck shell=bash
# swtpm, a TPM 2.0 in software.  What the kernel's resource manager does, to take from it what programs have loaded, programs of ours do.
export TPM2TOOLS_TCTI="swtpm:host=127.0.0.1,port=$([[ ! -e $dir/port ]] || cat "$dir/port")"
program tpm2_unseal
boot() { daemon tpm swtpm socket --tpm2 --tpmstate "dir=$dir/state" --server "type=tcp,port=$(<"$dir/port")" --ctrl "type=tcp,port=$(($(<"$dir/port") + 1))" --flags not-need-init,startup-clear; wait_port $(($(<"$dir/port") + 1)); sleep 0.3; }
start() {
  mkdir "$dir/state"
  free_port >"$dir/port"
  TPM2TOOLS_TCTI="swtpm:host=127.0.0.1,port=$(<"$dir/port")"
  boot
  make_key 0x81010001
  for tool in create load; do stand_in tpm2_$tool "$(command -v tpm2_flushcontext) -t; exec $(command -v tpm2_$tool) \"\$@\""; done
  path
  printf '%s\n' "TPM2TOOLS_TCTI = $TPM2TOOLS_TCTI" 'key = 0x81010001' 'pcrs = sha256:7'
}
make_key() { tpm2_flushcontext -t; tpm2_createprimary -Q -C o -G ecc -c "$dir/primary" && tpm2_evictcontrol -Q -C o -c "$dir/primary" "$1" >/dev/null; }
down() { halt tpm; }
up() { up_program; [[ -e $dir/tpm.pid ]] || boot; }
revoke() { tpm2_evictcontrol -Q -C o -c 0x81010001 >/dev/null; }
allow() { make_key 0x81010001; }
# its owner has cleared it, which makes another seed
other() { halt tpm; cp -R "$dir/state" "$dir/own"; boot; tpm2_clear -Q -c p; make_key 0x81010001; }
own() { halt tpm; rm -rf "$dir/state"; mv "$dir/own" "$dir/state"; boot; }
newer() { tpm2_flushcontext -t; tpm2_createprimary -Q -C o -G rsa2048 -c "$dir/primary"; tpm2_evictcontrol -Q -C o -c "$dir/primary" 0x81010002 >/dev/null; echo 'key = 0x81010002'; }
stop() { halt tpm; }
