#!/usr/bin/env bash
# Installs the applications that `make test-login-apps` logs in to and that are not there yet, from Debian's packages. None
# of them is started: the tests do that, each with files of its own. What cannot be installed is said and left out; its
# tests are then skipped.
set -euo pipefail

PACKAGES=(
  # php-cgi keeps php from bringing Apache along; php-cli has the server that the tests use.
  dokuwiki php-cgi php-cli
  transmission-daemon
  radicale
  deluge-web
  python3-django python3-django-allauth
  redmine-sqlite
  # Mailboxes that codes and links are read from.
  dovecot-imapd openssl
  python3-flask-security python3-flask-sqlalchemy python3-flask-mail python3-pyotp python3-qrcode
)

missing=()
for package in "${PACKAGES[@]}"; do
  [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "Not installed, for want of apt-get: ${missing[*]}" >&2
  exit 0
fi
as=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "Not installed, for want of root or sudo: ${missing[*]}" >&2
    exit 0
  fi
  as=(sudo)
fi

echo "Installing ${missing[*]}"
"${as[@]}" apt-get update -qq || true
# No package may start a service of its own here.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' | "${as[@]}" tee "$policy" >/dev/null
  "${as[@]}" chmod 755 "$policy"
  trap '"${as[@]}" rm -f "$policy"' EXIT
fi

install() {
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "$@" >/dev/null
}

# At once, for its speed; one by one where that fails: a package that this release lacks must not keep the others away.
if ! install "${missing[@]}"; then
  for package in "${missing[@]}"; do
    install "$package" || echo "Could not install $package" >&2
  done
fi
