#!/usr/bin/env bash
# Builds kwok, which plays any number of nodes, from the Go module proxy into the cache, once a version. Prints its path.
set -euo pipefail

VERSION=v0.8.0
BIN="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/kwok/$VERSION"

if [[ -x $BIN/kwok ]]; then
  echo "$BIN/kwok"
  exit 0
fi

go=$(command -v go || echo /usr/local/go/bin/go)
if [[ ! -x $go ]]; then
  echo "Not built, for want of Go: kwok $VERSION" >&2
  exit 1
fi

mkdir -p "$BIN"
# Two runs at once must not write the same files; the second one finds what the first one has made.
exec 9>"$BIN/lock"
flock 9
if [[ ! -x $BIN/kwok ]]; then
  echo "Building kwok $VERSION, some minutes the first time" >&2
  mkdir -p "$BIN/build"
  CGO_ENABLED=0 GOBIN="$BIN/build" nice -n 15 "$go" install -p 1 -trimpath -ldflags '-s -w' \
    "sigs.k8s.io/kwok/cmd/kwok@$VERSION" >&2
  mv "$BIN/build/kwok" "$BIN/kwok"
fi
echo "$BIN/kwok"
