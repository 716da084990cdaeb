# shellcheck shell=bash
# shellcheck source=replayed.sh
. "$here/services/replayed.sh"
settings() { printf '%s\n' "url = $1" "token_url = $1/metadata/identity/oauth2/token" 'key = tde-column'; }
