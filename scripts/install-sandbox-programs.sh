#!/usr/bin/env bash
# Installs what `make run` needs and is not there yet: bubblewrap, which isolates what agents run, Python, which their
# scripts are written in, and ffmpeg, which renders videos and looks into those that callers send.
set -euo pipefail
# shellcheck source=debian-packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

missing=()
command -v bwrap >/dev/null || missing+=(bubblewrap)
has_python || missing+=(python3)
command -v ffmpeg >/dev/null || missing+=(ffmpeg)
install_packages "${missing[@]}"

if ! command -v bwrap >/dev/null; then
  echo "bubblewrap (bwrap) is missing and could not be installed. It isolates what agents run: install it with the package" >&2
  echo "manager of this system. Until then every command of an agent fails." >&2
fi
if ! has_python; then
  echo "python3 is missing and could not be installed. Install it with the package manager of this system. Until then the" >&2
  echo "tool execute_code, and every other use of Python by an agent, fails." >&2
fi
if ! command -v ffmpeg >/dev/null; then
  echo "ffmpeg is missing and could not be installed. Install it with the package manager of this system. Until then every" >&2
  echo "video of local/storyboard-1, and every video or recording that a caller sends, fails." >&2
fi
