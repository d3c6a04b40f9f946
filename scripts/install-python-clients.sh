#!/usr/bin/env bash
# usage: install-python-clients.sh [NAME…]   gets the Python programs of the tests that are not there yet, all of them (1 GB)
# or the named ones: each in an environment of its own, because their dependencies disagree. They are no dependencies of
# Capstan.
set -euo pipefail
# shellcheck source=debian-packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

CLIENTS=(
  'sdks openai==3.54.0 anthropic==2.12.0'
  'agents openai-agents==0.24.0'
  'litellm litellm==1.106.2 mcp==2.3.0'
  'langchain langchain-openai==1.7.3 langchain-anthropic==1.7.7'
  'pydantic-ai pydantic-ai-slim[openai,anthropic]==2.66.0'
  'instructor instructor[anthropic]==1.17.0'
  'generated openapi-python-client==0.29.1 mypy==2.4.1'
)
FOLDER="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/python-clients"
PYTHON="${PYTHON:-python3}"

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed' >&2; exit 1; }
for client in "${CLIENTS[@]}"; do
  name=${client%% *}
  if [[ $# -gt 0 && " $* " != *" $name "* ]]; then continue; fi
  # Written last, so that a folder that was left half done is done again.
  installed="$FOLDER/$name/installed"
  if [[ -f $installed && $(<"$installed") == "$client" ]]; then continue; fi
  echo "installing ${client#* } …"
  rm -rf "${FOLDER:?}/$name"
  # Debian's Python has the module that makes environments in a package of its own.
  "$PYTHON" -m ensurepip --version >/dev/null 2>&1 || install_packages python3-venv
  "$PYTHON" -m venv "$FOLDER/$name"
  read -ra packages <<<"${client#* }"
  "$FOLDER/$name/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "${packages[@]}"
  echo "$client" >"$installed"
done
