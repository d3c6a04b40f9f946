#!/usr/bin/env bash
# Gets the coding clients that `make test-clients` runs, 770 MB, and are not there yet. They are no dependencies of Capstan,
# and no script of theirs runs here.
set -euo pipefail

CODEX=@openai/codex@0.169.0
CLAUDE_CODE=@anthropic-ai/claude-code@2.1.330
FOLDER="${XDG_CACHE_HOME:-$HOME/.cache}/capstan/clients"

# Written last, so that a folder that was left half done is done again.
INSTALLED="$FOLDER/installed"
if [[ -f $INSTALLED && $(<"$INSTALLED") == "$CODEX $CLAUDE_CODE" ]]; then exit 0; fi

rm -rf "$FOLDER"
mkdir -p "$FOLDER"
npm install --prefix "$FOLDER" --save-exact --ignore-scripts --no-audit --no-fund --loglevel=error "$CODEX" "$CLAUDE_CODE"
echo "$CODEX $CLAUDE_CODE" >"$INSTALLED"
