#!/bin/sh
# Starts the executor so that commands, which run as the same user, can neither trace it nor read its memory. Linux
# refuses both for a process whose program the user may run but not read; here that program is a copy of the loader.
# gVisor runs no such program (https://gvisor.dev/issue/160). Its ptrace scope of 1 refuses the same without it.
set -eu
folder=$(dirname "$0")
set -- --disable-sigusr1 "$folder/main.ts" "$@"
loader=/opt/capstan/loader
if "$loader" --version >/dev/null 2>&1; then exec "$loader" /usr/local/bin/node "$@"; fi
exec node "$@"
