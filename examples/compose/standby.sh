#!/bin/sh
# A standby of the server "primary": once a copy of its data and of its wallet, then the server that the arguments say.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  chmod 700 "$PGDATA"
  PGPASSWORD=$(cat /run/secrets/password) pg_basebackup -d 'host=primary user=postgres' -D "$PGDATA" -R
  install -m 600 /primary/wallet.p12 /etc/tde_column/wallet.p12
fi
exec "$@"
