#!/bin/bash
set -euo pipefail
cat > collect.sh <<'END'
#!/bin/bash
set -euo pipefail
mkdir -p -- "$2"
count=0
while IFS= read -r -d '' file; do
  name=$(basename -- "$file")
  target=$name
  number=1
  while [[ -e $2/$target ]]; do
    number=$((number + 1))
    target=$name.$number
  done
  cp -- "$file" "$2/$target"
  count=$((count + 1))
done < <(find "$1" -type f -name '*.txt' -print0 | LC_ALL=C sort -z)
echo "$count"
END
