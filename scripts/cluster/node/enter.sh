#!/usr/bin/env bash
# The first process of the node, in namespaces of its own (see up.sh): makes its mounts and network, then starts the
# daemons and starts each again when it ends. When this process ends, the kernel ends all the others, and with the
# namespaces go mounts, interfaces and rules: so there is nothing to clean up but files and control groups.
set -euo pipefail
# shellcheck source=settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
KUBERNETES=$1
ADDONS=$2

# --- mounts: the kubelet's are to reach containers, and no mount is to reach the machine
mount --make-rshared /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/containerd /run/lock
umount -R /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
while read -r controller; do
  mkdir -p "/sys/fs/cgroup/$controller"
  options=$controller
  [[ $controller == systemd ]] && options=none,name=systemd
  mount -t cgroup -o "$options" cgroup "/sys/fs/cgroup/$controller"
done <"$STATE/controllers"

# --- network
until ip link show node0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip link set node0 name eth0
ip addr add "$NODE_ADDRESS/30" dev eth0
ip link set eth0 up
# Nothing answers there, but what has no way at all would not show that a policy holds it back.
ip route add default via "$HOST_ADDRESS"
# Where clouds tell machines their secrets: something answers here too, and sandboxes must not reach it.
ip addr add 169.254.169.254/32 dev lo
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
echo "nameserver $HOST_ADDRESS" >"$STATE/resolv.conf"
hostname "$NODE_NAME"

# --- daemons
mkdir -p "$STATE/logs"
run() {
  local name=$1
  shift
  while true; do
    "$@" >>"$STATE/logs/$name.log" 2>&1 || true
    echo "--- ended, starting again" >>"$STATE/logs/$name.log"
    sleep 0.5
  done &
}
K=$STATE/keys

run etcd etcd --name default --data-dir "$STATE/etcd" --unsafe-no-fsync --logger zap --log-level warn \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
  --initial-cluster default=http://127.0.0.1:2380
run kube-apiserver "$KUBERNETES/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
  --bind-address="$NODE_ADDRESS" --advertise-address="$NODE_ADDRESS" --secure-port=6443 \
  --tls-cert-file="$K/apiserver.crt" --tls-private-key-file="$K/apiserver.key" --client-ca-file="$K/ca.crt" \
  --kubelet-client-certificate="$K/apiserver-to-kubelet.crt" --kubelet-client-key="$K/apiserver-to-kubelet.key" \
  --kubelet-certificate-authority="$K/ca.crt" --kubelet-preferred-address-types=InternalIP \
  --token-auth-file="$K/tokens.csv" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
  --service-cluster-ip-range="$SERVICE_RANGE" --service-account-issuer=https://kubernetes.default.svc.cluster.local \
  --service-account-key-file="$K/accounts.key" --service-account-signing-key-file="$K/accounts.key" \
  --allow-privileged=true --profiling=false --v=0
run kube-controller-manager "$KUBERNETES/kube-controller-manager" \
  --kubeconfig="$K/system-kube-controller-manager.kubeconfig" --use-service-account-credentials=true \
  --service-account-private-key-file="$K/accounts.key" --root-ca-file="$K/ca.crt" --cluster-cidr="$POD_RANGE" \
  --allocate-node-cidrs=false --leader-elect=false --bind-address=127.0.0.1 --profiling=false \
  --node-monitor-grace-period=20s
run kube-scheduler "$KUBERNETES/kube-scheduler" --kubeconfig="$K/system-kube-scheduler.kubeconfig" \
  --leader-elect=false --bind-address=127.0.0.1 --profiling=false
# It finds gVisor, and what starts it, beside the other programs.
PATH=$ADDONS:$PATH run containerd containerd --config "$STATE/containerd.toml" --log-level warn
run kubelet "$KUBERNETES/kubelet" --kubeconfig="$K/system-node-$NODE_NAME.kubeconfig" --config="$STATE/kubelet.yaml" \
  --root-dir="$STATE/kubelet" --hostname-override="$NODE_NAME" --node-ip="$NODE_ADDRESS" --v=1
run kube-proxy "$KUBERNETES/kube-proxy" --kubeconfig="$K/system-kube-proxy.kubeconfig" --proxy-mode=nftables \
  --cluster-cidr="$POD_RANGE" --hostname-override="$NODE_NAME" --bind-address="$NODE_ADDRESS" \
  --metrics-bind-address=127.0.0.1:10249 --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0s \
  --conntrack-tcp-timeout-close-wait=0s
run network "$ADDONS/network" "$K/network.kubeconfig"
run storage "$ADDONS/storage" "$STATE/disks" "$STATE/kubelet" "$NODE_NAME"
for sidecar in csi-provisioner csi-resizer csi-snapshotter; do
  run $sidecar "$ADDONS/$sidecar" --kubeconfig="$K/storage.kubeconfig" \
    --csi-address="$STATE/kubelet/plugins/loop.capstan-cluster/csi.sock" --kube-api-qps=50 --kube-api-burst=100
done
run snapshot-controller "$ADDONS/snapshot-controller" --kubeconfig="$K/storage.kubeconfig"
wait
