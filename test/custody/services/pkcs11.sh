# shellcheck shell=bash
# SoftHSM2.  Slow and garbage: a library of ours around it, in which C_Decrypt is another function.
export SOFTHSM2_CONF=$dir/softhsm2.conf
library=$(find /usr/lib /usr/lib64 -name libsofthsm2.so 2>/dev/null | sed -n 1p)
pin=7519403826
start() {
  mkdir "$dir/tokens"
  printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\nlog.level = ERROR\n' "$dir" >"$SOFTHSM2_CONF"
  softhsm2-util --init-token --free --label wallets --pin $pin --so-pin $pin >/dev/null
  make_key tde_column
  (umask 077; echo $pin >"$dir/pin")
  echo "SOFTHSM2_CONF = $SOFTHSM2_CONF"
  printf '%s\n' "module = $library" 'token = wallets' 'key = tde_column' "pin_file = $dir/pin" 'hash = sha1'
}
make_key() { pkcs11-tool --module "$library" --token-label wallets --login --pin $pin --keypairgen --key-type rsa:2048 --label "$1" >/dev/null 2>&1; }
drop_key() { for type in privkey pubkey; do pkcs11-tool --module "$library" --token-label wallets --login --pin $pin --delete-object --type $type --label "$1" >/dev/null 2>&1; done; }
around() { echo "$1" | gcc -shared -fPIC -o "$dir/around.so" -xc - -xnone -Wl,--no-as-needed -Wl,-rpath,"${library%/*}" "$library"; echo "module = $dir/around.so"; }
slow() { around '#include <unistd.h>
unsigned long C_Decrypt(unsigned long s, void *a, unsigned long b, void *c, unsigned long *d) { sleep(61); return 5; }'; }
garbage() { around '#include <string.h>
unsigned long C_Decrypt(unsigned long s, void *a, unsigned long b, void *c, unsigned long *d) { memset(c, 65, *d = 64); return 0; }'; }
down() { mv "$dir/tokens" "$dir/away"; mkdir "$dir/tokens"; }
up() { [[ ! -e $dir/away ]] || { rm -rf "$dir/tokens"; mv "$dir/away" "$dir/tokens"; }; echo "module = $library"; }
# the slot is there, and its user is locked out
revoke() { cp "$dir/pin" "$dir/own_pin"; echo 0000000000 >"$dir/pin"; }
allow() { mv "$dir/own_pin" "$dir/pin"; }
other() { cp -R "$dir/tokens" "$dir/own"; drop_key tde_column; make_key tde_column; }
own() { rm -rf "$dir/tokens"; mv "$dir/own" "$dir/tokens"; }
newer() { make_key tde_column_2; echo 'key = tde_column_2'; }
stop() { :; }
