#!/bin/bash
set -euo pipefail
: > lost.txt
while read -r sum path; do
  if [[ -f live/$path && $(sha256sum < "live/$path") == "$sum "* ]]; then continue; fi
  if [[ -f backup/$path && $(sha256sum < "backup/$path") == "$sum "* ]]; then
    mkdir -p "$(dirname "live/$path")"
    cp "backup/$path" "live/$path"
  else
    echo "$path" >> lost.txt
  fi
done < sums.txt
sort -o lost.txt lost.txt
