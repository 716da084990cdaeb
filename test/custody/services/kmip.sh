# shellcheck shell=bash
# PyKMIP's server, with TLS and certificates on both sides.
network
start() {
  cd "$dir"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2>/dev/null
  certificate server DNS:localhost serverAuth
  certificate client DNS:client clientAuth
  mkdir policies
  cat >server.conf <<CONF
[server]
hostname=127.0.0.1
port=$(upstream_of)
certificate_path=$dir/server.crt
key_path=$dir/server.key
ca_path=$dir/ca.pem
auth_suite=TLS1.2
policy_path=$dir/policies
enable_tls_client_auth=True
logging_level=INFO
database_path=$dir/keys.db
CONF
  boot
  mode pass
  client "make('tde_column')"
  printf '%s\n' 'host = localhost' "port = $(port_of)" 'key = tde_column' "certificate = $dir/client.crt" "private_key = $dir/client.key" "ca = $dir/ca.pem"
}
# It listens before it can talk.
boot() {
  daemon kmip "$venv/pykmip-server" -f "$dir/server.conf" -l "$dir/server.log"
  wait_port "$(upstream_of)"
  for _ in {1..50}; do if client None 2>>"$dir/log"; then return; fi; sleep 0.2; done
  return 1
}
certificate() {
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out "$1.crt" -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=%s\nkeyUsage=digitalSignature,keyEncipherment\n' "$2" "$3") 2>/dev/null
  chmod 600 "$1.key"
}
client() {
  "$python" - "$1" <<PY
import sys
from kmip.pie.client import ProxyKmipClient
from kmip import enums
with ProxyKmipClient(hostname='127.0.0.1', port=$(upstream_of), cert='$dir/client.crt', key='$dir/client.key', ca='$dir/ca.pem', ssl_version='PROTOCOL_TLSv1_2') as c:
    def make(name):
        uid = c.create(enums.CryptographicAlgorithm.AES, 256, name=name, cryptographic_usage_mask=[enums.CryptographicUsageMask.ENCRYPT, enums.CryptographicUsageMask.DECRYPT])
        c.activate(uid)
        open('$dir/uid', 'w').write(uid)
    def revoke():
        c.revoke(enums.RevocationReasonCode.KEY_COMPROMISE, open('$dir/uid').read())
    eval(sys.argv[1])
PY
}
revoke() { cp "$dir/keys.db" "$dir/own.db"; client 'revoke()'; }
allow() { halt kmip; cp "$dir/own.db" "$dir/keys.db"; boot; }
# another manager: its key has the same name and number
other() { cp "$dir/uid" "$dir/own_uid"; halt kmip; mv "$dir/keys.db" "$dir/own.db"; boot; client "make('tde_column')"; }
own() { halt kmip; mv "$dir/own.db" "$dir/keys.db"; mv "$dir/own_uid" "$dir/uid"; boot; }
newer() { client "make('tde_column_2')"; echo 'key = tde_column_2'; }
stop() { halt proxy; halt kmip; }
