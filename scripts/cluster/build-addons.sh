#!/usr/bin/env bash
# Builds what a node needs besides Kubernetes into the cache, once a version and source: DNS, storage, network policies,
# the process that holds a pod, and gVisor with what containerd starts it by. Prints the folder that holds the programs.
# Needs what build-kubernetes.sh has made.
set -euo pipefail
# shellcheck source=node/settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/node/settings.sh"

COREDNS=v1.14.7
PROVISIONER=v6.3.0
RESIZER=v2.2.0
SNAPSHOTTER=v8.6.0
# Of gVisor's branch for the go command, and for the containerd that Debian has.
GVISOR=v0.0.0-20250503011706-39ed1f5ac29c
KUBERNETES=$(sed -n 's/^VERSION=//p' "$SCRIPTS/build-kubernetes.sh")
SUM=$(cat "$SCRIPTS"/addons/*/*.go "$SCRIPTS/build-addons.sh" "$SCRIPTS/build-kubernetes.sh" | sha256sum | cut -c1-16)
BIN=$CACHE/addons/$SUM

if [[ -e $BIN/complete ]]; then
  echo "$BIN"
  exit 0
fi
go=$(command -v go || echo /usr/local/go/bin/go)
if [[ ! -x $go ]]; then
  echo 'Not built, for want of Go: DNS, storage, network policies and gVisor' >&2
  exit 1
fi
mkdir -p "$BIN" "$CACHE/addons"
exec 9>"$CACHE/addons/lock"
flock 9
echo 'Building DNS, storage, network policies and gVisor, some minutes the first time' >&2
export CGO_ENABLED=0 GOFLAGS=-mod=mod

# usage: build MODULE PACKAGE…   in a folder of that name, whose go.mod is on standard input
build() {
  mkdir -p "$CACHE/addons/$1"
  cd "$CACHE/addons/$1"
  cat >go.mod
  rm -rf own
  cp -r "$SCRIPTS/addons" own
  shift
  nice -n 10 "$go" build -p 2 -trimpath -ldflags '-s -w' -o "$BIN/" "$@" >&2
}

# Our own programs, of the very modules of Kubernetes, which are compiled already.
mkdir -p "$CACHE/addons/node"
cp "$CACHE/kubernetes/$KUBERNETES/module/go.sum" "$CACHE/addons/node/"
build node ./own/network ./own/pause ./own/storage <"$CACHE/kubernetes/$KUBERNETES/module/go.mod"

# What wants later ones; all of them the same, so that they are compiled once.
build later ./own/coredns github.com/kubernetes-csi/external-provisioner/v6/cmd/csi-provisioner \
  github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer \
  github.com/kubernetes-csi/external-snapshotter/v8/cmd/{csi-snapshotter,snapshot-controller} <<EOF
module capstan.dev/test-cluster
go 1.26.0
require (
	github.com/coredns/coredns $COREDNS
	github.com/kubernetes-csi/external-provisioner/v6 $PROVISIONER
	github.com/kubernetes-csi/external-resizer/v2 $RESIZER
	github.com/kubernetes-csi/external-snapshotter/v8 $SNAPSHOTTER
	github.com/kubernetes-csi/external-snapshotter/client/v8 $SNAPSHOTTER
)
EOF
# The definitions of VolumeSnapshots are files of the same release.
client=$("$go" list -m -f '{{.Dir}}' github.com/kubernetes-csi/external-snapshotter/client/v8)
install -D -m 644 -t "$BIN/definitions" "$client"/config/crd/snapshot.storage.k8s.io_volumesnapshot{s,contents,classes}.yaml

# What containerd starts gVisor by lowers its own score for being ended, which takes a capability that may be missing.
source=$CACHE/addons/gvisor/source
mkdir -p "$CACHE/addons/gvisor"
rm -rf "$source"
cp -r "$("$go" mod download -json "gvisor.dev/gvisor@$GVISOR" | sed -n 's/^\t"Dir": "\(.*\)",\?$/\1/p')" "$source"
chmod -R u+w "$source"
sed -i 's/oomScoreMaxKillable = -999$/oomScoreMaxKillable = 0/' "$source/pkg/shim/v1/service.go"
grep -q 'oomScoreMaxKillable = 0$' "$source/pkg/shim/v1/service.go"
build gvisor gvisor.dev/gvisor/runsc gvisor.dev/gvisor/shim <<EOF
module capstan.dev/test-cluster
go 1.23.1
require gvisor.dev/gvisor $GVISOR
replace gvisor.dev/gvisor => ./source
EOF
mv "$BIN/shim" "$BIN/containerd-shim-runsc-v1"

touch "$BIN/complete"
# Those of earlier sources.
find "$CACHE/addons" -mindepth 2 -maxdepth 2 -name complete ! -path "$BIN/*" -printf '%h\0' | xargs -0 -r rm -rf
echo "$BIN"
