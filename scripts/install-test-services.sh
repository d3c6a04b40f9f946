#!/usr/bin/env bash
# Installs what `make test` runs against and is not there yet: PostgreSQL, Redis, NATS, an S3 server, ffmpeg, and the
# programs of the local sandbox. What cannot be installed is said and left out; the tests that need it are then skipped.
set -euo pipefail
# shellcheck source=debian-packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

has() {
  command -v "$1" >/dev/null || [[ -x "/usr/sbin/$1" ]]
}

has_postgres() {
  compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || has postgres
}

has_chromium() {
  has chromium || has chromium-browser || has google-chrome || has google-chrome-stable
}

missing=()
has_postgres || missing+=(postgresql)
has redis-server || has valkey-server || missing+=(redis-server)
has nats-server || missing+=(nats-server)
has bwrap || missing+=(bubblewrap)
has rg || missing+=(ripgrep)
has ffmpeg || missing+=(ffmpeg)
has_python || missing+=(python3)
has_chromium || missing+=(chromium)
install_packages "${missing[@]}"
"$(dirname "${BASH_SOURCE[0]}")/install-versitygw.sh"
