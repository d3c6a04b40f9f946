#!/usr/bin/env bash
# Installs what a node runs on and is not there yet, from Debian's packages, without starting any service of theirs.
set -euo pipefail
# shellcheck source=../debian-packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/../debian-packages.sh"

PACKAGES=(
  buildah conntrack containerd containernetworking-plugins debootstrap etcd-server iproute2 nftables openssl runc util-linux xfsprogs
)
mapfile -t missing < <(list_missing "${PACKAGES[@]}")
install_packages "${missing[@]}"
[[ -z $(list_missing "${PACKAGES[@]}") ]]
