#!/usr/bin/env bash
# Gets the applications of PyPI and npm that the website login is tested with, each into a folder of its own because their
# dependencies disagree. They are no dependencies of Capstan. No script of a package runs here, and none is compiled.
# What cannot be installed is reported, and its tests are skipped.
set -euo pipefail

# name, then packages
PYTHON_APPS=(
  'sqlite-web sqlite-web==0.8.2'
  'datasette datasette==0.65.5 datasette-auth-passwords==1.1.1'
  'wsgidav wsgidav==4.3.5 cheroot==11.1.2'
  'supervisor supervisor==4.3.0 setuptools==84.2.1'
  'appbuilder flask-appbuilder==5.3.0'
  'wagtail wagtail==8.0.1'
  'jupyter jupyter-server==2.21.1'
  'glances glances[web]==4.5.8'
  'flower flower==2.2.0'
  'trac trac==1.6'
  'two-factor django-two-factor-auth[phonenumberslite]==1.18.1 django-axes==8.3.1'
  'canaille canaille[front,sqlite,otp]==0.3.6'
)
NPM_APPS=(
  'node-red node-red@5.0.7'
  'tiddlywiki tiddlywiki@5.4.1'
  'ungit ungit@1.5.30'
  'parse-dashboard parse-dashboard@9.2.0'
)
FOLDER="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/login-apps"
PYTHON="${PYTHON:-python3}"
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
export PATH="$HERE/node_modules/.bin:$PATH"

install_python() {
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --only-binary=:all: --target "$@"
}

install_npm() {
  npm install --prefix "$1" --save-exact --ignore-scripts --no-audit --no-fund --loglevel=error "${@:2}"
}

# usage: install_app KIND 'NAME PACKAGE…'
install_app() {
  local name=${2%% *} packages
  read -ra packages <<<"${2#* }"
  # Written last, so that a folder that was left half done is done again.
  local installed="$FOLDER/$1/$name/installed"
  if [[ -f $installed && $(<"$installed") == "$2" ]]; then return; fi
  rm -rf "${FOLDER:?}/$1/$name"
  mkdir -p "$FOLDER/$1/$name"
  if "install_$1" "$FOLDER/$1/$name" "${packages[@]}" >"$FOLDER/$1/$name.log" 2>&1 </dev/null; then
    echo "$2" >"$installed"
  else
    echo "Could not install ${2#* }; $FOLDER/$1/$name.log says why" >&2
  fi
}

for app in "${PYTHON_APPS[@]}"; do install_app python "$app"; done
for app in "${NPM_APPS[@]}"; do install_app npm "$app"; done
