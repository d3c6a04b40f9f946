#!/usr/bin/env bash
# Installs bubblewrap, which isolates the tools of the local sandbox, when it is not there yet.
set -euo pipefail

if command -v bwrap >/dev/null; then exit 0; fi

as=()
if [[ $EUID -ne 0 ]]; then as=(sudo); fi
if command -v apt-get >/dev/null && { [[ $EUID -eq 0 ]] || command -v sudo >/dev/null; }; then
  echo "Installing bubblewrap, which isolates what agents run"
  "${as[@]}" apt-get update -qq || true
  if "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends bubblewrap >/dev/null; then
    exit 0
  fi
fi
echo "bubblewrap (bwrap) is missing and could not be installed. It isolates what agents run: install it with the package" >&2
echo "manager of this system. Until then every command of an agent fails." >&2
