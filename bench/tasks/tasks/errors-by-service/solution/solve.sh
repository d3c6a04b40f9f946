#!/bin/bash
set -euo pipefail
cat logs/*.log | tr -d '\r' | awk '$2 == "ERROR" { count[$3] += 1 } END { for (name in count) print name "\t" count[name] }' |
  sort -t "$(printf '\t')" -k2,2nr -k1,1 > errors.tsv
