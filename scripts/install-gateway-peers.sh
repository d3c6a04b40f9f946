#!/usr/bin/env bash
# Gets the gateways that bench/gateway-peers.ts measures beside Capstan's, at fixed versions, into the cache folder: what is
# there already stays, and what cannot be had is left out with a line that says so.
set -uo pipefail

FOLDER="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/peers"
LITELLM=1.106.2
PORTKEY=1.15.2
mkdir -p "$FOLDER"

# The name of a peer, its version, and the function that installs it into the folder it is given.
install() {
  local name=$1 version=$2 make=$3
  # Written last, so that a folder that was left half done is done again.
  local mark="$FOLDER/$name/installed"
  if [[ -f $mark && $(<"$mark") == "$version" ]]; then return; fi
  rm -rf "${FOLDER:?}/$name"
  mkdir -p "$FOLDER/$name"
  if "$make" "$FOLDER/$name" "$version" >"$FOLDER/$name.log" 2>&1; then
    echo "$version" >"$mark"
  else
    echo "$name $version cannot be installed; $FOLDER/$name.log says why" >&2
  fi
}

litellm() {
  python3 -m venv "$1/venv" && "$1/venv/bin/pip" install --quiet --disable-pip-version-check "litellm[proxy]==$2"
}

portkey() {
  npm install --prefix "$1" --save-exact --ignore-scripts --no-audit --no-fund --loglevel=error "@portkey-ai/gateway@$2"
}

install portkey "$PORTKEY" portkey
install litellm "$LITELLM" litellm
