#!/usr/bin/env bash
# Installs what `make test` runs against and is not there yet: PostgreSQL, Redis, NATS, an S3 server, ffmpeg, and the
# programs of the local sandbox. What cannot be installed is said and left out; the tests that need it are then skipped.
set -euo pipefail

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

has_chromium() {
  has chromium || has chromium-browser || has google-chrome || has google-chrome-stable
}

install_packages() {
  local missing=()
  has_postgres || missing+=(postgresql)
  has redis-server || has valkey-server || missing+=(redis-server)
  has nats-server || missing+=(nats-server)
  has bwrap || missing+=(bubblewrap)
  has rg || missing+=(ripgrep)
  has ffmpeg || missing+=(ffmpeg)
  has_python || missing+=(python3)
  has_chromium || missing+=(chromium)
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

install_packages
"$(dirname "${BASH_SOURCE[0]}")/install-versitygw.sh"
