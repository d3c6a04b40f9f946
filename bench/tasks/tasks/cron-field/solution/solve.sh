#!/bin/bash
set -euo pipefail
cat > cron.py <<'END'
import re

PART = re.compile(r"(\*|[0-9]+)(?:-([0-9]+))?(?:/([0-9]+))?")


def expand(field, low, high):
    chosen = set()
    for part in field.split(","):
        match = PART.fullmatch(part)
        if match is None:
            raise ValueError(f"not a part of a field: {part!r}")
        first, last, step = match.groups()
        if first == "*" and last is not None:
            raise ValueError(f"not a range: {part!r}")
        start = low if first == "*" else int(first)
        if last is not None:
            end = int(last)
        else:
            end = high if first == "*" or step is not None else start
        width = 1 if step is None else int(step)
        if not low <= start <= end <= high or width < 1:
            raise ValueError(f"out of bounds: {part!r}")
        chosen.update(range(start, end + 1, width))
    return sorted(chosen)
END
