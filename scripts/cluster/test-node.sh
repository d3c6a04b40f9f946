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
reason=$(scripts/cluster/probe-node.sh)
if [[ -n $reason ]]; then
  echo "Left out: the tests on a node of Kubernetes. This machine cannot run one: $reason. CAPSTAN_TEST_KUBECONFIG names another." >&2
  [[ ${CAPSTAN_REQUIRE_ALL:-} != 1 ]]
  exit
fi
if [[ ! -e $STATE/pid ]]; then
  # Also after a start that came half way.
  trap 'code=$?; scripts/cluster/down.sh; exit $code' EXIT
fi
scripts/cluster/up.sh
run_tests "$@"
