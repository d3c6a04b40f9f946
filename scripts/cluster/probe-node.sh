#!/usr/bin/env bash
# Tells whether this machine can run the node of the test cluster: prints nothing, or why it cannot. It asks the kernel for
# what the node needs and nothing else: a build or a test that fails later is a failure.
set -euo pipefail
# shellcheck source=node/settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/node/settings.sh"

refuse() {
  echo "$1"
  exit
}
[[ $EUID -eq 0 ]] || refuse 'it needs root'
command -v apt-get >/dev/null || refuse 'it needs a Debian machine'
[[ -d /sys/fs/cgroup/memory ]] || refuse 'it needs control groups of version 1'
[[ -r /dev/kmsg ]] || refuse 'its kubelet could not read /dev/kmsg'
(($(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) >= 6 * 1024 * 1024)) || refuse 'it has less than 6 GiB of memory'
mkdir -p "$CACHE"
for folder in /var/lib "$CACHE"; do
  (($(df --output=avail --block-size=1G "$folder" | tail -1) >= 16)) || refuse "it has less than 16 GiB left in $folder"
done

probe=capstan-probe-$$
scratch=$(mktemp -d /var/lib/capstan-probe.XXXXXX)
clean_up() {
  rmdir /sys/fs/cgroup/*/"$probe" 2>/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT

for hierarchy in memory cpu pids devices freezer; do
  mkdir "/sys/fs/cgroup/$hierarchy/$probe" 2>/dev/null || refuse "it cannot write the control groups of $hierarchy"
done
# In namespaces like those of the node: the mounts that containerd, the kubelet and the storage driver make.
mkdir "$scratch"/{lower,upper,work,merged,groups}
attempt() {
  unshare --mount --uts --ipc --net --cgroup --pid --fork --mount-proc --kill-child bash -c "$1" - "$scratch" 2>/dev/null
}
attempt true || refuse 'it cannot make namespaces'
attempt 'mount --make-rshared / && mount -t tmpfs tmpfs "$1/groups"' || refuse 'it cannot mount'
attempt 'mount -t cgroup -o memory cgroup "$1/groups"' || refuse 'it cannot mount control groups'
attempt 'mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" overlay "$1/merged"' ||
  refuse "it cannot mount overlays on the disk of $STATE"
attempt 'echo 1 >/proc/sys/net/ipv4/ip_forward' || refuse 'it cannot forward packets'
[[ -e /dev/loop-control ]] && losetup --find >/dev/null 2>&1 || refuse 'it has no loop devices'
grep -qw xfs /proc/filesystems || modprobe xfs 2>/dev/null || refuse 'its kernel has no XFS'

# These need programs of packages. One that cannot be installed is no property of the machine: the start says so.
"$SCRIPTS/install-node-packages.sh" >&2 || exit 0
attempt 'ip link add probe0 type veth peer name probe1' || refuse 'it cannot make virtual network interfaces'
attempt 'nft add table ip probe && nft add chain ip probe nat "{ type nat hook prerouting priority 0; }"' ||
  refuse 'its kernel lacks nftables'
