#!/usr/bin/env bash
# Builds helm from the Go module proxy into the cache, once a version. Prints its path.
set -euo pipefail

VERSION=v3.22.0
# What `helm template` takes a cluster for when it is asked of none; the version that build-kubernetes.sh builds.
KUBERNETES_MINOR=35
BIN="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/helm/$VERSION"

if [[ -x $BIN/helm ]]; then
  echo "$BIN/helm"
  exit 0
fi

go=$(command -v go || echo /usr/local/go/bin/go)
if [[ ! -x $go ]]; then
  echo "Not built, for want of Go: helm $VERSION" >&2
  exit 1
fi

mkdir -p "$BIN"
# Two test runs at once must not write the same files; the second one finds what the first one has made.
exec 9>"$BIN/lock"
flock 9
if [[ ! -x $BIN/helm ]]; then
  echo "Building helm $VERSION, some minutes the first time" >&2
  ldflags="-s -w"
  for package in helm.sh/helm/v3/pkg/lint/rules helm.sh/helm/v3/pkg/chartutil; do
    ldflags+=" -X $package.k8sVersionMajor=1 -X $package.k8sVersionMinor=$KUBERNETES_MINOR"
  done
  mkdir -p "$BIN/build"
  CGO_ENABLED=0 GOBIN="$BIN/build" nice -n 15 "$go" install -p 1 -trimpath -ldflags "$ldflags" \
    "helm.sh/helm/v3/cmd/helm@$VERSION" >&2
  mv "$BIN/build/helm" "$BIN/helm"
fi
echo "$BIN/helm"
