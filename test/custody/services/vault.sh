# shellcheck shell=bash
# OpenBao or Vault themselves, in their development mode, if one is installed or BAO names it; otherwise what cloud.py replays.
# shellcheck source=replayed.sh
. "$here/services/replayed.sh"
settings() { (umask 077; echo vault-token >"$dir/token"); printf '%s\n' "url = $1" 'key = tde_column' "token_file = $dir/token"; }
bao=${BAO:-$(command -v bao || command -v vault || true)}
if [[ $bao ]]; then
  export BAO_ADDR=http://127.0.0.1:$(upstream_of) BAO_TOKEN=root VAULT_ADDR=http://127.0.0.1:$(upstream_of) VAULT_TOKEN=root HOME=$dir
  start() {
    daemon bao "$bao" server -dev -dev-root-token-id=root -dev-listen-address="127.0.0.1:$(upstream_of)"
    wait_port "$(upstream_of)"
    sleep 1
    {
      "$bao" secrets enable transit
      "$bao" write -f transit/keys/tde_column
      "$bao" policy write tde - <<'POLICY'
path "transit/keys/tde_column" { capabilities = ["read"] }
path "transit/encrypt/tde_column" { capabilities = ["update"] }
path "transit/decrypt/tde_column" { capabilities = ["update"] }
POLICY
    } >"$dir/log" 2>&1
    (umask 077; "$bao" token create -policy=tde -field=token >"$dir/token")
    mode pass
    printf '%s\n' "url = http://127.0.0.1:$(port_of)" 'key = tde_column' "token_file = $dir/token"
  }
  # its token
  revoke() { "$bao" token revoke "$(<"$dir/token")" >/dev/null; }
  allow() { "$bao" token create -policy=tde -field=token >"$dir/token"; }
  other() { "$bao" secrets move transit own; "$bao" secrets enable transit; "$bao" write -f transit/keys/tde_column; } >/dev/null
  own() { "$bao" secrets disable transit >/dev/null; "$bao" secrets move own transit >/dev/null; }
  newer() { "$bao" write -f transit/keys/tde_column/rotate >/dev/null; }
  stop() { halt proxy; halt bao; }
fi
