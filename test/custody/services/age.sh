# shellcheck shell=bash
program age
start() { make_identity identity; path; echo "identity_file = $dir/identity"; recipient identity; }
make_identity() { age-keygen -o "$dir/$1" 2>/dev/null; chmod 600 "$dir/$1"; }
recipient() { echo "key = $(age-keygen -y "$dir/$1")"; }
down() { mv "$dir/identity" "$dir/away"; }
up() { up_program; [[ ! -e $dir/away ]] || mv "$dir/away" "$dir/identity"; }
revoke() { mv "$dir/identity" "$dir/own"; make_identity identity; }
allow() { mv "$dir/own" "$dir/identity"; }
other() { revoke; }
own() { allow; }
newer() { make_identity second; cat "$dir/second" >>"$dir/identity"; recipient second; }
stop() { :; }
