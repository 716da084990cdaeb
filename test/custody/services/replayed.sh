# shellcheck shell=bash
# What cloud.py replays.
network
state() { printf '{"versions": %s, "disabled": %s, "epoch": %s}' "$1" "$2" "$3" >"$dir/state.new"; mv "$dir/state.new" "$dir/state"; }
start() {
  state 1 false 1
  daemon cloud python3 "$here/cloud.py" "$(upstream_of)" "$dir/state"
  wait_port "$(upstream_of)"
  mode pass
  settings "http://127.0.0.1:$(port_of)"
}
revoke() { state "$(versions)" true 1; }
allow() { state "$(versions)" false 1; }
other() { state "$(versions)" false 2; }
own() { state "$(versions)" false 1; }
newer() { state 2 false 1; }
versions() { sed -E 's/.*"versions": ([0-9]+).*/\1/' "$dir/state"; }
stop() { halt proxy; halt cloud; }
