#!/usr/bin/env bash
# Starts a whole cluster of Kubernetes on this machine, without a registry: `make cluster`. Needs root. Prints the path of
# its kubeconfig. What runs already is left as it is. With --build it only fills the cache: packages, programs and images.
set -euo pipefail
# shellcheck source=node/settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/node/settings.sh"

step() {
  local started=$SECONDS name=$1
  shift
  "$@"
  printf '%5d s  %s\n' "$((SECONDS - started))" "$name" >&2
}

if [[ $EUID -ne 0 ]]; then
  echo "A node needs root: mounts, control groups and a network of its own." >&2
  exit 1
fi
if [[ ! -d /sys/fs/cgroup/memory ]]; then
  echo 'The node needs control groups of version 1; on this machine use a cluster of your own, by CAPSTAN_TEST_KUBECONFIG.' >&2
  exit 1
fi
kubectl() { "$KUBERNETES/kubectl" --kubeconfig "$STATE/keys/admin.kubeconfig" "$@"; }

install_packages() {
  "$SCRIPTS/install-node-packages.sh"
}

build_kubernetes() {
  KUBERNETES=$("$SCRIPTS/build-kubernetes.sh" kube-apiserver kubectl kube-controller-manager kube-scheduler kubelet kube-proxy)
}

build_addons() {
  ADDONS=$("$SCRIPTS/build-addons.sh")
}

# Those wait for the network more than for the processor, so they are built beside the programs.
begin_images() {
  "$SCRIPTS/build-images.sh" >/dev/null &
  IMAGES_JOB=$!
}

finish_images() {
  wait "$IMAGES_JOB"
  "$SCRIPTS/../install-versitygw.sh"
  IMAGES=$("$SCRIPTS/build-images.sh" "$ADDONS")
}

# The node takes what is new; what it has already costs nothing.
load_images() {
  local archive
  for archive in "$IMAGES"/*.tar; do
    local mark="$STATE/loaded/$(basename "$archive")"
    cmp -s "${archive%.tar}.sum" "$mark" && continue
    nsenter --target "$(cat "$STATE/node-pid")" --mount --net ctr --namespace k8s.io images import "$archive" >/dev/null
    mkdir -p "$STATE/loaded"
    cp "${archive%.tar}.sum" "$mark"
  done
}

apply_addons() {
  kubectl apply --server-side -f "$ADDONS/definitions" >/dev/null
  kubectl wait --for=condition=Established -f "$ADDONS/definitions" --timeout=1m >/dev/null
  fill addons.yaml | kubectl apply -f - >/dev/null
}

# usage: fill NAME  copies a configuration with its @NAMES@ filled in
fill() {
  sed -e "s|@STATE@|$STATE|g" -e "s|@DNS_SERVICE@|$DNS_SERVICE|g" -e "s|@POD_SUBNET@|${POD_RANGE%.*.*}.0.0/24|g" \
    "$SCRIPTS/node/$1"
}

start_node() {
  if [[ -e $STATE/pid ]] && kill -0 "$(cat "$STATE/pid")" 2>/dev/null; then return; fi
  mkdir -p "$STATE/cni" "$STATE/logs" "$(dirname "$KUBECONFIG_FILE")"
  "$SCRIPTS/node/certificates.sh"
  install -m 600 "$STATE/keys/admin.kubeconfig" "$KUBECONFIG_FILE"
  fill containerd.toml >"$STATE/containerd.toml"
  fill kubelet.yaml >"$STATE/kubelet.yaml"
  fill cni.conflist >"$STATE/cni/10-capstan.conflist"
  # The node sees only a subtree of each hierarchy, as its root.
  : >"$STATE/controllers"
  local hierarchy
  for hierarchy in /sys/fs/cgroup/*/; do
    hierarchy=$(basename "$hierarchy")
    [[ $hierarchy == unified ]] && continue
    echo "$hierarchy" >>"$STATE/controllers"
    mkdir -p "/sys/fs/cgroup/$hierarchy/$CGROUP"
    if [[ $hierarchy == cpuset ]]; then
      local file
      for file in cpuset.cpus cpuset.mems; do
        cat "/sys/fs/cgroup/cpuset/$file" >"/sys/fs/cgroup/cpuset/$CGROUP/$file"
      done
    fi
  done
  # shellcheck disable=SC2016
  setsid bash -c '
    while read -r hierarchy; do echo $$ >"/sys/fs/cgroup/$hierarchy/$1/cgroup.procs"; done <"$2/controllers"
    exec unshare --mount --uts --ipc --net --cgroup --pid --fork --mount-proc --kill-child "$3/node/enter.sh" "$4" "$5"
  ' - "$CGROUP" "$STATE" "$SCRIPTS" "$KUBERNETES" "$ADDONS" </dev/null >"$STATE/logs/node.log" 2>&1 &
  local outer=$! inner=
  until inner=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null) && [[ -n $inner ]]; do
    kill -0 "$outer" 2>/dev/null || { cat "$STATE/logs/node.log" >&2; return 1; }
    sleep 0.05
  done
  echo "$outer" >"$STATE/pid"
  echo "${inner// /}" >"$STATE/node-pid"
  ip link add "$HOST_LINK" type veth peer name node0 netns "${inner// /}"
  ip addr add "$HOST_ADDRESS/30" dev "$HOST_LINK"
  ip link set "$HOST_LINK" up
  disown "$outer"
}

# usage: await SECONDS WHAT COMMAND…
await() {
  local seconds=$1 what=$2 deadline
  shift 2
  deadline=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS > deadline)); then
      echo "Waited in vain for $what; look into $STATE/logs" >&2
      return 1
    fi
    sleep 0.3
  done
}

step 'packages' install_packages
begin_images
step 'programs of Kubernetes' build_kubernetes
step 'programs of the node' build_addons
step 'images, beside those' finish_images
if [[ ${1:-} == --build ]]; then exit; fi
step 'node started' start_node
step 'API server answers' await 180 'the API server' kubectl get --raw /readyz
step 'images loaded' load_images
step 'additions applied' apply_addons
step 'node is ready' await 180 'the node' kubectl wait --for=condition=Ready "node/$NODE_NAME" --timeout=1s
step 'DNS answers' await 180 DNS kubectl -n kube-system rollout status deployment/coredns --timeout=1s
step 'storage is there' await 60 'the storage driver' kubectl wait --for=jsonpath={.spec.drivers[0].name}=loop.capstan-cluster "csinode/$NODE_NAME" --timeout=1s
printf '%5d s  in all\n' "$SECONDS" >&2
echo "$KUBECONFIG_FILE"
