#!/bin/bash
set -euo pipefail
cat > build_order.py <<'END'
import sys

needs = {}
for line in open(sys.argv[1]):
    name, colon, others = line.partition(":")
    if not colon:
        continue
    needs.setdefault(name.strip(), set()).update(others.split())
    for other in others.split():
        needs.setdefault(other, set())

done = []
left = dict(needs)
while left:
    ready = sorted(name for name in left if left[name] <= set(done))
    if not ready:
        name = min(left)
        path = []
        while name not in path:
            path.append(name)
            name = min(left[name] & set(left))
        print("cycle: " + " ".join(path[path.index(name) :]), file=sys.stderr)
        sys.exit(3)
    done.append(ready[0])
    del left[ready[0]]
print("\n".join(done))
END
python3 build_order.py targets.txt > order.txt
