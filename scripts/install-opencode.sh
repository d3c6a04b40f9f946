#!/usr/bin/env bash
# Gets opencode, 370 MB, which `make test-client-matrix` runs, unless it is there. It is no dependency of Capstan, and no
# script of it runs here.
set -euo pipefail

OPENCODE=opencode-ai@1.18.33
FOLDER="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/opencode"

# Written last, so that a folder that was left half done is done again.
INSTALLED="$FOLDER/installed"
if [[ -f $INSTALLED && $(<"$INSTALLED") == "$OPENCODE" ]]; then exit 0; fi

rm -rf "$FOLDER"
mkdir -p "$FOLDER"
npm install --prefix "$FOLDER" --save-exact --ignore-scripts --no-audit --no-fund --loglevel=error "$OPENCODE"
echo "$OPENCODE" >"$INSTALLED"
