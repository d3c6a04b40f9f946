#!/usr/bin/env bash
# Builds programs of Kubernetes from the Go module proxy into the cache, once a version. Prints the folder that holds them.
# usage: build-kubernetes.sh PROGRAM…   (kube-apiserver, kubectl, kube-controller-manager, kube-scheduler, kubelet, kube-proxy)
set -euo pipefail

VERSION=v1.35.4
ROOT="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/kubernetes"
BIN="$ROOT/$VERSION/bin"
WORK="$ROOT/$VERSION/module"

missing=()
for program in "$@"; do [[ -x $BIN/$program ]] || missing+=("$program"); done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "$BIN"
  exit 0
fi

go=$(command -v go || echo /usr/local/go/bin/go)
if [[ ! -x $go ]]; then
  echo "Not built, for want of Go: ${missing[*]} $VERSION" >&2
  exit 1
fi

mkdir -p "$BIN" "$WORK"
# Two test runs at once must not write the same files; the second one finds what the first one has made.
exec 9>"$ROOT/$VERSION/lock"
flock 9
cd "$WORK"

# The release's own go.mod maps its staging repositories to folders that the module's archive does not hold. Each is
# published under its own name, v1.x.y as v0.x.y.
if [[ ! -e go.sum ]]; then
  mod=$("$go" mod download -json "k8s.io/kubernetes@$VERSION" | sed -n 's/^\t"GoMod": "\(.*\)",\?$/\1/p')
  {
    echo 'module capstan.dev/test-cluster'
    grep -E '^go ' "$mod"
    echo "require k8s.io/kubernetes $VERSION"
    echo 'replace ('
    sed -n 's|^\s*\(k8s.io/[a-z0-9-]*\) => \./staging/.*|\1|p' "$mod" | sort -u |
      sed "s|.*|\t& => & v0.${VERSION#v1.}|"
    echo ')'
  } >go.mod
  # What the programs need besides is written into go.mod and go.sum by the first build.
fi

ldflags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ldflags+=" -X $package.gitVersion=$VERSION -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$VERSION")"
done

started=$SECONDS
for program in "${missing[@]}"; do
  [[ -x $BIN/$program ]] && continue
  echo "Building $program $VERSION, some minutes the first time" >&2
  # Beside the tests' own work: at low priority, and no wider than two packages at once.
  CGO_ENABLED=0 GOFLAGS=-mod=mod nice -n 10 "$go" build -p 2 -trimpath -ldflags "$ldflags" -o "$BIN/.$program" \
    "k8s.io/kubernetes/cmd/$program" >&2
  mv "$BIN/.$program" "$BIN/$program"
done
echo "Built ${missing[*]} in $((SECONDS - started)) s" >&2
echo "$BIN"
