# shellcheck shell=bash
# shellcheck source=replayed.sh
. "$here/services/replayed.sh"
settings() { printf '%s\n' "url = $1" "token_url = $1/computeMetadata/v1/instance/service-accounts/default/token" 'key = projects/p/locations/l/keyRings/r/cryptoKeys/tde_column'; }
