#!/usr/bin/env bash
# Tests Capstan in pods on nodes: on the cluster that CAPSTAN_TEST_KUBECONFIG names, else on one that is started for it, if
# none runs, and ended afterwards. Where it cannot be started that is said and the tests are left out; with
# CAPSTAN_REQUIRE_ALL=1 it is a failure.
set -euo pipefail
# shellcheck source=node/settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/node/settings.sh"
cd "$SCRIPTS/../.."

run_tests() {
  vitest run --project node "$@"
}

if [[ -n ${CAPSTAN_TEST_KUBECONFIG:-} ]]; then
  run_tests "$@"
  exit
fi
if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null || [[ ! -d /sys/fs/cgroup/memory ]]; then
  echo 'Left out: the tests that need a node, for want of root on a Debian machine with control groups of version 1,' >&2
  echo 'or of CAPSTAN_TEST_KUBECONFIG.' >&2
  [[ ${CAPSTAN_REQUIRE_ALL:-} != 1 ]]
  exit
fi
if [[ ! -e $STATE/pid ]]; then
  # Also after a start that came half way.
  trap 'code=$?; scripts/cluster/down.sh; exit $code' EXIT
fi
scripts/cluster/up.sh
run_tests "$@"
