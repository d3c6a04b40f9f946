# Sourced by the scripts of the test cluster: where it lives and by which addresses it is reached.

CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/capstan"
SCRIPTS="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# Everything that the cluster keeps. `cluster-down` removes it.
STATE=/var/lib/capstan-cluster
# The one that tests and people use.
KUBECONFIG_FILE="$CACHE/cluster/kubeconfig"

NODE_NAME=capstan-node-1
# A wire between this machine and the network of the node. Nothing else of this machine's network changes.
HOST_LINK=capstan0
HOST_ADDRESS=10.213.0.1
NODE_ADDRESS=10.213.0.2
POD_RANGE=10.214.0.0/16
SERVICE_RANGE=10.215.0.0/16
KUBERNETES_SERVICE=10.215.0.1
DNS_SERVICE=10.215.0.10
API_URL="https://$NODE_ADDRESS:6443"

# What the node runs pods with, version 1 of control groups: each hierarchy has a subtree of the cluster's own.
CGROUP=capstan-cluster
