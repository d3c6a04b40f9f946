#!/usr/bin/env bash
# Installs what `make test` runs against and is not there yet: PostgreSQL, Redis, NATS, an S3 server, and the programs of
# the local sandbox. What cannot be installed is said and left out; the tests that need it are then skipped.
set -euo pipefail

VERSITYGW_VERSION=v1.8.0
BIN="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/bin"

has() {
  command -v "$1" >/dev/null || [[ -x "/usr/sbin/$1" ]]
}

has_postgres() {
  compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || has postgres
}

# A sandbox sees the system's own programs only: a Python in a home folder is not there for it.
has_python() {
  [[ -x /usr/bin/python3 || -x /usr/local/bin/python3 || -x /bin/python3 ]]
}

install_packages() {
  local missing=()
  has_postgres || missing+=(postgresql)
  has redis-server || has valkey-server || missing+=(redis-server)
  has nats-server || missing+=(nats-server)
  has bwrap || missing+=(bubblewrap)
  has rg || missing+=(ripgrep)
  has_python || missing+=(python3)
  [[ ${#missing[@]} -eq 0 ]] && return

  if ! has apt-get; then
    echo "Not installed, for want of apt-get: ${missing[*]}" >&2
    return
  fi
  local as=()
  if [[ $EUID -ne 0 ]]; then
    if ! has sudo; then
      echo "Not installed, for want of root or sudo: ${missing[*]}" >&2
      return
    fi
    as=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as[@]}" apt-get update -qq || true
  # The tests start servers of their own. A policy that forbids it keeps the packages from starting theirs, and
  # PostgreSQL's is told not to make a cluster.
  local policy=/usr/sbin/policy-rc.d made=
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | "${as[@]}" tee "$policy" >/dev/null
    "${as[@]}" chmod 755 "$policy"
    made=yes
  fi
  if [[ ! -e /etc/postgresql-common/createcluster.conf ]]; then
    "${as[@]}" mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' | "${as[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
  fi
  # One by one: a package that this release does not have must not keep the others away.
  local package
  for package in "${missing[@]}"; do
    "${as[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
      apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "$package" >/dev/null ||
      echo "Could not install $package" >&2
  done
  [[ -z $made ]] || "${as[@]}" rm -f "$policy"
}

install_versitygw() {
  local stamp="$BIN/versitygw.version"
  [[ -x $BIN/versitygw && $(cat "$stamp" 2>/dev/null) == "$VERSITYGW_VERSION" ]] && return
  has versitygw && return
  local go
  go=$(command -v go || echo /usr/local/go/bin/go)
  if [[ ! -x $go ]]; then
    echo "Not installed, for want of Go: versitygw, the S3 server of the tests" >&2
    return
  fi
  echo "Building versitygw $VERSITYGW_VERSION, some minutes the first time"
  mkdir -p "$BIN"
  if GOBIN="$BIN" "$go" install "github.com/versity/versitygw/cmd/versitygw@$VERSITYGW_VERSION"; then
    echo "$VERSITYGW_VERSION" >"$stamp"
  else
    echo "Could not build versitygw, the S3 server of the tests" >&2
  fi
}

install_packages
install_versitygw
