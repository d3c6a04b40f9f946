#!/usr/bin/env bash
# Installs what a node runs on and is not there yet, from Debian's packages, without starting any service of theirs.
set -euo pipefail

PACKAGES=(
  buildah conntrack containerd containernetworking-plugins crun debootstrap etcd-server iproute2 nftables openssl runc util-linux xfsprogs
)
missing=()
for package in "${PACKAGES[@]}"; do
  [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "Not installed, for want of apt-get: ${missing[*]}" >&2
  exit 1
fi
echo "Installing ${missing[*]}" >&2
apt-get update -qq || true
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
