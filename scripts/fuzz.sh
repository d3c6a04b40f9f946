#!/usr/bin/env bash
# usage: scripts/fuzz.sh [SECONDS] [SCHEMATHESIS OPTIONS…]   1,200 seconds unless told
#
# Asks a whole server for everything in its OpenAPI document, with values that fit and values that do not, and fails on
# an answer of 5xx, an answer that the document does not describe, or none within 30 seconds. The server has a data folder
# of its own and, in a network namespace, nobody to talk to but the fuzzer: the addresses that requests make up lead nowhere.
# Failures are printed with a curl command each; the cases, the server's log and a report stay in $FUZZ_DIR.
set -euo pipefail

VERSION=4.32.5
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/fuzz"
ROOT=$(cd "$(dirname "$0")/.." && pwd)
export PATH="$ROOT/node_modules/.bin:$PATH"

# Everything below runs in the namespace: as the same user, without the rights that the namespace gives.
if [[ ${FUZZ_INSIDE:-} != 1 ]]; then
  if [[ ! -x $CACHE/bin/schemathesis ]] || ! "$CACHE/bin/schemathesis" --version | grep -qF "$VERSION"; then
    python3 -m venv "$CACHE"
    "$CACHE/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$VERSION"
  fi
  export FUZZ_INSIDE=1
  inside='ip link set lo up && exec setpriv --inh-caps=-all --ambient-caps=-all -- "$@"'
  if [[ $EUID -eq 0 ]]; then exec unshare --net -- sh -c 'ip link set lo up && exec "$@"' fuzz nice -n 19 "$0" "$@"; fi
  exec unshare --user --map-current-user --keep-caps --net -- sh -c "$inside" fuzz nice -n 19 "$0" "$@"
fi

seconds=${1:-1200}
shift $(($# > 0 ? 1 : 0))
FUZZ_DIR=${FUZZ_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/capstan-fuzz-XXXXXX")}
mkdir -p "$FUZZ_DIR"
URL=http://127.0.0.1:8080

env -u FUZZ_INSIDE -u FUZZ_DIR CAPSTAN_PORT=8080 CAPSTAN_DATA_DIR="$FUZZ_DIR/data" CAPSTAN_FSYNC=off CAPSTAN_API_KEY=fuzz-administrator \
  node "$ROOT/src/main.ts" all >"$FUZZ_DIR/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null' EXIT
for _ in $(seq 120); do
  curl -fsS -o /dev/null "$URL/readyz" 2>/dev/null && break
  kill -0 "$server" 2>/dev/null || { tail -20 "$FUZZ_DIR/server.log" >&2; exit 1; }
  sleep 1
done

# The key of the fuzzer may ask as often as it can.
scopes=$(curl -fsS "$URL/v1/me" -H 'x-api-key: fuzz-administrator' | node -p 'JSON.stringify(JSON.parse(fs.readFileSync(0)).scopes)')
key=$(curl -fsS "$URL/v1/api-keys" -H 'x-api-key: fuzz-administrator' -H 'content-type: application/json' \
  -d "{\"name\":\"fuzz\",\"scopes\":$scopes,\"requestsPerMinute\":1000000}" | node -p 'JSON.parse(fs.readFileSync(0)).key')

# Left out: streams, which do not end, and what would take the fuzzer's own key away.
options=(--url "$URL" --header "x-api-key: $key" --workers 1 --max-time "$seconds" --request-timeout 30 --no-color)
options+=(--checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance)
options+=(--exclude-operation-id-regex '^(stream.*|revokeApiKey|rotateApiKey|patchApiKey)$')
options+=(--suppress-health-check all --continue-on-failure --warnings off --output-sanitize true)
options+=(--report junit,ndjson --report-dir "$FUZZ_DIR/report")
code=0
(cd "$FUZZ_DIR" && "$CACHE/bin/schemathesis" --config-file "$ROOT/scripts/fuzz.toml" run "$URL/openapi.json" "${options[@]}" "$@") || code=$?

curl -fsS -m 30 -o /dev/null "$URL/livez" || { echo 'the server answers no longer' >&2; code=1; }
if grep -q '"level":"\(error\|fatal\)"' "$FUZZ_DIR/server.log"; then
  echo "errors in $FUZZ_DIR/server.log:" >&2
  grep '"level":"\(error\|fatal\)"' "$FUZZ_DIR/server.log" | head -20 >&2
  code=1
fi
echo "everything is in $FUZZ_DIR"
exit "$code"
