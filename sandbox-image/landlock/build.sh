#!/usr/bin/env bash
# Writes restrict.x86_64 and restrict.aarch64 beside this file. Needs Debian's gcc and gcc-aarch64-linux-gnu.
# --check: writes nothing; the exit code is 1 where a program is out of date, for the compilers that are installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The version that the programs were built with. Others may give other bytes for the same source.
VERSION=12.2.0
FLAGS=(-Os -static -nostdlib -nostartfiles -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables
  -fno-ident -fcf-protection=none -Wall -Wextra -Werror)
LINK=(-Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,noseparate-code -s)

# usage: build ARCHITECTURE OUTPUT: exit code 2 without its compiler in that version
build() {
  local compiler=$1-linux-gnu-gcc flags=("${FLAGS[@]}")
  if [[ $1 == aarch64 ]]; then
    flags=("${FLAGS[@]/-fcf-protection=none/-mbranch-protection=none}")
  fi
  [[ $("$compiler" -dumpfullversion 2>/dev/null) == "$VERSION" ]] || return 2
  "$compiler" "${flags[@]}" "${LINK[@]}" -o "$2" restrict.c
}

for architecture in x86_64 aarch64; do
  made=$(mktemp)
  code=0
  build "$architecture" "$made" || code=$?
  if [[ $code -eq 2 && ${1:-} == --check ]]; then
    rm -f "$made"
    continue
  fi
  if [[ $code -ne 0 ]]; then
    echo "restrict.$architecture could not be built: $architecture-linux-gnu-gcc $VERSION is needed." >&2
    exit 1
  fi
  if [[ ${1:-} == --check ]]; then
    cmp --silent "$made" "restrict.$architecture" || {
      echo "restrict.$architecture is out of date: run sandbox-image/landlock/build.sh." >&2
      exit 1
    }
    rm -f "$made"
  else
    install -m 755 "$made" "restrict.$architecture"
    rm -f "$made"
  fi
done
