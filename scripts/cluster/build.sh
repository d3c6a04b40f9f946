#!/usr/bin/env bash
# Gets all that a cluster is made of and is not there yet: packages, programs and images. What is there takes no time.
# Needs root. Prints the folders of Kubernetes' programs, of the node's others and of the images, a line each.
set -euo pipefail
# shellcheck source=node/settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/node/settings.sh"

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

step 'packages' install_packages
begin_images
step 'programs of Kubernetes' build_kubernetes
step 'programs of the node' build_addons
step 'images, beside those' finish_images
printf '%s\n' "$KUBERNETES" "$ADDONS" "$IMAGES"
