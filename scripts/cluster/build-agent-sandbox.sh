#!/usr/bin/env bash
# Builds the controller of kubernetes-sigs/agent-sandbox, which bench/node.ts compares with, from the Go module proxy into the
# cache, once a version. Prints the folder that holds it and its custom resources' definitions (`crds`).
set -euo pipefail

VERSION=v1.0.3
MODULE=sigs.k8s.io/agent-sandbox
BIN="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/agent-sandbox/$VERSION"

if [[ -x $BIN/agent-sandbox-controller ]]; then
  echo "$BIN"
  exit 0
fi

go=$(command -v go || echo /usr/local/go/bin/go)
if [[ ! -x $go ]]; then
  echo "Not built, for want of Go: agent-sandbox $VERSION" >&2
  exit 1
fi

mkdir -p "$BIN"
# Two runs at once must not write the same files; the second one finds what the first one has made.
exec 9>"$BIN/lock"
flock 9
if [[ ! -x $BIN/agent-sandbox-controller ]]; then
  echo "Building agent-sandbox $VERSION, some minutes the first time" >&2
  source=$("$go" mod download -json "$MODULE@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",\?$/\1/p')
  rm -rf "$BIN/crds"
  install -D --mode 644 --target-directory "$BIN/crds" "$source"/k8s/crds/*.yaml
  mkdir -p "$BIN/build"
  cd "$BIN/build"
  # As a part of a module of our own: `go install` would ask for every version that there is.
  printf 'module capstan.dev/bench\ngo 1.26.0\nrequire %s %s\n' "$MODULE" "$VERSION" >go.mod
  CGO_ENABLED=0 GOFLAGS=-mod=mod nice -n 10 "$go" build -p 2 -trimpath -ldflags '-s -w' -o ../.controller \
    "$MODULE/cmd/agent-sandbox-controller" >&2
  mv ../.controller ../agent-sandbox-controller
fi
echo "$BIN"
