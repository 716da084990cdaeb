# shellcheck shell=bash
# AWS KMS as moto's server has it; by Amazon's own program.
network
printf '[default]\naws_access_key_id = root\naws_secret_access_key = root\n' >"$dir/credentials"
export AWS_ENDPOINT_URL=http://127.0.0.1:$(upstream_of) AWS_DEFAULT_REGION=eu-central-1 AWS_SHARED_CREDENTIALS_FILE=$dir/credentials AWS_PAGER='' PATH=$venv:$PATH
start() {
  boot
  make_user
  mode pass
  printf '%s\n' "AWS_ENDPOINT_URL = http://127.0.0.1:$(port_of)" 'AWS_DEFAULT_REGION = eu-central-1' "AWS_SHARED_CREDENTIALS_FILE = $dir/server" 'AWS_MAX_ATTEMPTS = 2' 'key = alias/tde_column'
  path
}
# This server's user.  moto asks for no rights until it is told to.
make_user() {
  aws iam create-user --user-name tde >/dev/null
  aws iam create-access-key --user-name tde --query 'AccessKey.[AccessKeyId,SecretAccessKey]' --output text | { read -r id secret; printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$id" "$secret"; } >"$dir/server"
  chmod 600 "$dir/server"
}
ask_for_rights() { curl -sf -H 'Content-Type: text/plain' --data "$1" "$AWS_ENDPOINT_URL/moto-api/reset-auth" >>"$dir/log"; }
boot() { daemon moto "$venv/moto_server" -H 127.0.0.1 -p "$(upstream_of)"; wait_port "$(upstream_of)"; make_key create-alias; }
make_key() { aws kms create-key --query KeyMetadata.KeyId --output text >"$dir/key"; aws kms "$1" --alias-name alias/tde_column --target-key-id "$(<"$dir/key")"; }
# its user has no policy
revoke() { ask_for_rights 0; }
allow() { ask_for_rights 1000000; }
# another account: its alias is the same.  A blob of AWS names its own key, so the alias alone would not matter.
other() { cp "$dir/upstream" "$dir/own_upstream"; cp "$dir/key" "$dir/own_key"; mv "$dir/moto.pid" "$dir/own.pid"; free_port >"$dir/upstream"; AWS_ENDPOINT_URL=http://127.0.0.1:$(upstream_of); boot; halt proxy; mode pass; }
own() { halt moto; mv "$dir/own_upstream" "$dir/upstream"; mv "$dir/own_key" "$dir/key"; mv "$dir/own.pid" "$dir/moto.pid"; halt proxy; mode pass; }
newer() { make_key update-alias; }
stop() { halt proxy; halt moto; }
