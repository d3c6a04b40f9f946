#!/usr/bin/env bash
# Gets the Python clients that `make test-client-matrix` runs, 1 GB, and are not there yet: each in an environment of its own,
# because their dependencies disagree. They are no dependencies of Capstan.
set -euo pipefail

CLIENTS=(
  'sdks openai==3.54.0 anthropic==2.12.0'
  'agents openai-agents==0.24.0'
  'litellm litellm==1.106.2 mcp==2.3.0'
  'langchain langchain-openai==1.7.3 langchain-anthropic==1.7.7'
  'pydantic-ai pydantic-ai-slim[openai,anthropic]==2.66.0'
  'instructor instructor[anthropic]==1.17.0'
)
FOLDER="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/python-clients"
PYTHON="${PYTHON:-python3}"

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed' >&2; exit 1; }
for client in "${CLIENTS[@]}"; do
  name=${client%% *}
  # Written last, so that a folder that was left half done is done again.
  installed="$FOLDER/$name/installed"
  if [[ -f $installed && $(<"$installed") == "$client" ]]; then continue; fi
  echo "installing ${client#* } …"
  rm -rf "${FOLDER:?}/$name"
  "$PYTHON" -m venv "$FOLDER/$name"
  read -ra packages <<<"${client#* }"
  "$FOLDER/$name/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "${packages[@]}"
  echo "$client" >"$installed"
done
