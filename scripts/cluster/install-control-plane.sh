#!/usr/bin/env bash
# Gets what the tests of custom resources and operator run on, and is not there yet: etcd, kube-apiserver and kubectl.
# With KUBEBUILDER_ASSETS (the folder that users of envtest know) or CAPSTAN_TEST_KUBECONFIG nothing has to be got.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [[ -n ${CAPSTAN_TEST_KUBECONFIG:-} || -n ${KUBEBUILDER_ASSETS:-} ]]; then exit 0; fi

CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/capstan"

# The package's program alone: it is unpacked, not installed, so no service of it starts and nobody has to be root.
unpack_etcd() {
  command -v etcd >/dev/null && return
  [[ -x $CACHE/etcd/usr/bin/etcd ]] && return
  if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    echo "Not got, for want of apt-get: etcd" >&2
    return
  fi
  local folder
  folder=$(mktemp -d)
  chmod 755 "$folder"
  (cd "$folder" && { apt-get download -qq etcd-server 2>/dev/null || { apt-get update -qq && apt-get download -qq etcd-server; }; })
  mkdir -p "$CACHE/etcd"
  dpkg -x "$folder"/etcd-server_*.deb "$CACHE/etcd"
  rm -rf "$folder"
}

unpack_etcd
./build-kubernetes.sh kube-apiserver kubectl >/dev/null
