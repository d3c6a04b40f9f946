#!/usr/bin/env bash
# Ends the cluster that up.sh started and removes what it kept: `make cluster-down`. Built programs and images stay in the
# cache. Nothing of the machine's own is touched: all of it lived in namespaces and control groups of its own.
set -euo pipefail
# shellcheck source=node/settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/node/settings.sh"

[[ -e $STATE || -d /sys/fs/cgroup/memory/$CGROUP ]] || exit 0
if [[ $EUID -ne 0 ]]; then
  echo "The cluster was started by root, so ending it needs root." >&2
  exit 1
fi

# Whoever is in the cluster's control groups is its process, whatever became of the process that started it.
list_processes() {
  find /sys/fs/cgroup/*/"$CGROUP" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u
}
deadline=$((SECONDS + 60))
while [[ -n $(list_processes) ]]; do
  list_processes | xargs -r kill -KILL 2>/dev/null || true
  if ((SECONDS > deadline)); then
    echo "Processes of the cluster do not end: $(list_processes | tr '\n' ' ')" >&2
    exit 1
  fi
  sleep 0.1
done

# The kernel lets go of the last namespaces, and of the interfaces in them, a moment later.
ip link delete "$HOST_LINK" 2>/dev/null || true
for hierarchy in /sys/fs/cgroup/*/"$CGROUP"; do
  [[ -d $hierarchy ]] || continue
  find "$hierarchy" -depth -type d -exec sh -c 'for i in $(seq 50); do rmdir "$1" 2>/dev/null && exit; sleep 0.1; done; rmdir "$1"' - {} \;
done
# Disks of volumes are files mounted through loop devices; with the mounts the kernel has let go of them.
for device in $(losetup --noheadings --output NAME,BACK-FILE | awk -v state="$STATE/" 'index($2, state) == 1 { print $1 }'); do
  losetup --detach "$device"
done
if grep -qs " $STATE/" /proc/self/mounts; then
  echo "Something is still mounted beneath $STATE" >&2
  exit 1
fi
rm -rf "$STATE" "$KUBECONFIG_FILE"
