#!/usr/bin/env bash
# Gets Strapi from npm and builds its admin panel, once a version, for the tests that sign in to it: 730 MB. It is no
# dependency of Capstan, and no script of a package runs here. What cannot be had is said; its tests are then skipped.
set -euo pipefail

# better-sqlite3 has brought its programs along since 13; older ones are compiled or fetched by a script.
PACKAGES=(@strapi/strapi@5.54.0 better-sqlite3@13.2.0 react@18.3.1 react-dom@18.3.1 react-router-dom@6.30.3 styled-components@6.1.19)
FOLDER="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/login-apps/strapi"
LOG="$FOLDER.log"
# The panel is built by the Node that runs it.
export PATH="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/node_modules/.bin:$PATH"

# Written last, so that a folder that was left half done is done again.
INSTALLED="$FOLDER/installed"
if [[ -f $INSTALLED && $(<"$INSTALLED") == "${PACKAGES[*]}" ]]; then exit 0; fi

build() {
  npm install --prefix "$FOLDER" --save-exact --ignore-scripts --no-audit --no-fund --loglevel=error "${PACKAGES[@]}" &&
    cd "$FOLDER" &&
    NODE_ENV=production STRAPI_TELEMETRY_DISABLED=true STRAPI_DISABLE_UPDATE_NOTIFICATION=true node_modules/.bin/strapi build
}

echo "Installing ${PACKAGES[0]} and building its panel, some minutes the first time"
rm -rf "$FOLDER"
mkdir -p "$FOLDER/config"
# The build asks for a database that it does not open.
echo '{ "connection": { "client": "sqlite", "connection": { "filename": "data.db" }, "useNullAsDefault": true } }' >"$FOLDER/config/database.json"
if build >"$LOG" 2>&1 </dev/null; then
  echo "${PACKAGES[*]}" >"$INSTALLED"
else
  echo "Could not install ${PACKAGES[0]}; $LOG says why" >&2
fi
