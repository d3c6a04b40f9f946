#!/bin/bash
set -euo pipefail
python3 - <<'END'
text = "\n".join(line.split("#")[0] for line in open("flag.ppm"))
numbers = [int(word) for word in text.split()[1:]]
width, height, most = numbers[:3]
pixels = [bytes(numbers[3 + at : 6 + at]) for at in range(0, 3 * width * height, 3)]
turned = [pixels[(height - 1 - x) * width + y] for y in range(width) for x in range(height)]
open("turned.ppm", "wb").write(f"P6\n{height} {width}\n{most}\n".encode() + b"".join(turned))
END
