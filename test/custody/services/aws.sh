# shellcheck shell=bash
# AWS KMS as moto's server has it; by Amazon's own program.
network
export AWS_ENDPOINT_URL=http://127.0.0.1:$(upstream_of) AWS_DEFAULT_REGION=eu-central-1 AWS_SHARED_CREDENTIALS_FILE=$dir/credentials AWS_PAGER='' PATH=$venv:$PATH
start() {
  printf '[default]\naws_access_key_id = test\naws_secret_access_key = test\n' >"$dir/credentials"
  chmod 600 "$dir/credentials"
  boot
  mode pass
  printf '%s\n' "AWS_ENDPOINT_URL = http://127.0.0.1:$(port_of)" 'AWS_DEFAULT_REGION = eu-central-1' "AWS_SHARED_CREDENTIALS_FILE = $dir/credentials" 'AWS_MAX_ATTEMPTS = 2' 'key = alias/tde_column'
  path
}
boot() { daemon moto "$venv/moto_server" -H 127.0.0.1 -p "$(upstream_of)"; wait_port "$(upstream_of)"; make_key create-alias; }
make_key() { aws kms create-key --query KeyMetadata.KeyId --output text >"$dir/key"; aws kms "$1" --alias-name alias/tde_column --target-key-id "$(<"$dir/key")"; }
revoke() { aws kms disable-key --key-id "$(<"$dir/key")"; }
allow() { aws kms enable-key --key-id "$(<"$dir/key")"; }
# another account: its alias is the same.  A blob of AWS names its own key, so the alias alone would not matter.
other() { cp "$dir/upstream" "$dir/own_upstream"; cp "$dir/key" "$dir/own_key"; mv "$dir/moto.pid" "$dir/own.pid"; free_port >"$dir/upstream"; AWS_ENDPOINT_URL=http://127.0.0.1:$(upstream_of); boot; halt proxy; mode pass; }
own() { halt moto; mv "$dir/own_upstream" "$dir/upstream"; mv "$dir/own_key" "$dir/key"; mv "$dir/own.pid" "$dir/moto.pid"; halt proxy; mode pass; }
newer() { make_key update-alias; }
stop() { halt proxy; halt moto; }
