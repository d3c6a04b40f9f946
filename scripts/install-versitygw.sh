#!/usr/bin/env bash
# Builds versitygw, the S3 server of tests and of the test cluster, into the cache, once a version. Without Go that is said.
set -euo pipefail

VERSION=v1.8.0
BIN="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/bin"
STAMP="$BIN/versitygw.version"

[[ -x $BIN/versitygw && $(cat "$STAMP" 2>/dev/null) == "$VERSION" ]] && exit 0
go=$(command -v go || echo /usr/local/go/bin/go)
if [[ ! -x $go ]]; then
  command -v versitygw >/dev/null && exit 0
  echo "Not installed, for want of Go: versitygw, the S3 server of the tests" >&2
  exit 0
fi
echo "Building versitygw $VERSION, some minutes the first time" >&2
mkdir -p "$BIN"
if GOBIN="$BIN" "$go" install "github.com/versity/versitygw/cmd/versitygw@$VERSION"; then
  echo "$VERSION" >"$STAMP"
else
  echo "Could not build versitygw, the S3 server of the tests" >&2
fi
