# shellcheck shell=bash
# By the host's secret, which is another file here.  Down: that file is not there.
program systemd-creds
export SYSTEMD_CREDENTIAL_SECRET=$dir/secret
start() { make_secret; path; echo "SYSTEMD_CREDENTIAL_SECRET = $dir/secret"; echo 'with = host'; }
make_secret() { systemd-creds setup >/dev/null 2>&1; }
down() { mv "$dir/secret" "$dir/away"; }
up() { up_program; [[ ! -e $dir/away ]] || mv -f "$dir/away" "$dir/secret"; }
revoke() { chmod 000 "$dir/secret"; }
allow() { chmod 400 "$dir/secret"; }
other() { mv "$dir/secret" "$dir/own"; make_secret; }
own() { mv -f "$dir/own" "$dir/secret"; }
newer() { :; }    # a machine has one
stop() { :; }
