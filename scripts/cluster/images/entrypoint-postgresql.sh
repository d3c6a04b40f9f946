#!/bin/sh
# As the published image starts: makes the database with user and password of the environment once, then serves it.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # What a first start left half done is of no use to anybody.
  rm -rf "$PGDATA"
  password=/tmp/password
  (umask 077 && printf '%s' "$POSTGRES_PASSWORD" >"$password")
  initdb --pgdata "$PGDATA.new" --username "$POSTGRES_USER" --pwfile "$password" --auth-host scram-sha-256 \
    --auth-local trust --encoding UTF8 --locale C.UTF-8 >/dev/null
  rm "$password"
  echo 'host all all all scram-sha-256' >>"$PGDATA.new/pg_hba.conf"
  echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA.new" postgres >/dev/null
  mv "$PGDATA.new" "$PGDATA"
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' "$@"
