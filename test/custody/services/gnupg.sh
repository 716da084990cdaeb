# shellcheck shell=bash
# A key in software, where a card's would be.  Down: the card is not there.
export GNUPGHOME=$dir/home
program gpg
make_key() { gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key "$1" default default never 2>>"$dir/log"; }
start() {
  mkdir -m 700 "$GNUPGHOME"
  make_key tde@example.com
  path
  echo "GNUPGHOME = $GNUPGHOME"
  echo 'key = tde@example.com'
}
down() { gpgconf --kill all; mv "$GNUPGHOME/private-keys-v1.d" "$dir/away"; mkdir -m 700 "$GNUPGHOME/private-keys-v1.d"; }
up() { up_program; [[ ! -d $dir/away ]] || { gpgconf --kill all; rm -rf "$GNUPGHOME/private-keys-v1.d"; mv "$dir/away" "$GNUPGHOME/private-keys-v1.d"; }; }
revoke() { down; }
allow() { up; }
# somebody else's secret key under the address
other() { gpgconf --kill all; rm -rf "$dir/own"; mv "$GNUPGHOME" "$dir/own"; mkdir -m 700 "$GNUPGHOME"; make_key tde@example.com; }
own() { gpgconf --kill all; rm -rf "$GNUPGHOME"; mv "$dir/own" "$GNUPGHOME"; }
newer() {
  sleep 1   # subkeys are told apart by their second
  gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-add-key "$(gpg --with-colons --list-keys tde@example.com | awk -F: '/^fpr/ { print $10; exit }')" rsa2048 encr never
}
stop() { gpgconf --kill all; }
