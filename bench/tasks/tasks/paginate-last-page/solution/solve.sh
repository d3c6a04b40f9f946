#!/bin/bash
set -euo pipefail
cat > pages.py <<'END'
def paginate(items, size):
    """Lists of at most `size` items, in order."""
    if size < 1:
        raise ValueError("size must be at least 1")
    return [items[start : start + size] for start in range(0, len(items), size)]
END
