#!/usr/bin/env bash
# Installs the applications that `make test-login-apps` logs in to and that are not there yet, from Debian's packages, npm
# and PyPI. None of them is started: the tests do that, each with files of its own. What cannot be installed is said and left
# out; its tests are then skipped.
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=debian-packages.sh
source "$HERE/debian-packages.sh"

PACKAGES=(
  # php-cgi keeps php from bringing Apache along; php-cli has the server that the tests use.
  dokuwiki php-cgi php-cli
  transmission-daemon
  radicale
  deluge-web
  fossil
  # Servlets; any Java runs them.
  tomcat10-examples default-jre-headless
  supysonic python3-waitress
  znc
  python3-django python3-django-allauth
  # Of the applications from PyPI.
  python3-pip
  # The one is no more than drivers, and only recommends the other.
  redmine-sqlite redmine
  # Mailboxes that codes and links are read from.
  dovecot-imapd openssl
  python3-flask-security python3-flask-sqlalchemy python3-flask-mail python3-pyotp python3-qrcode
)

install_missing() {
  local missing
  mapfile -t missing < <(list_missing "$@")
  install_packages "${missing[@]}"
}

# Redmine's package asks Bundler for gems that are Debian's packages. Debian's Bundler finds them; the newer one that Ruby has
# brought along since a security update does not.
install_missing ruby-bundler
version=$(dpkg-query --show --showformat '${Version}' ruby-bundler 2>/dev/null || true)
[[ -z $version ]] || PACKAGE_ENVIRONMENT+=("BUNDLER_VERSION=${version%%-*}")
install_missing "${PACKAGES[@]}"
"$HERE/install-strapi.sh"
"$HERE/install-login-registry-apps.sh"
