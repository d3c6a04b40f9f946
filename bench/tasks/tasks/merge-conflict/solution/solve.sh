#!/bin/bash
set -euo pipefail
cat > prices.py <<'END'
def total(items, member=False):
    amount = sum(price * count for price, count in items)
    if member:
        amount *= 0.9
    return round(amount, 2)


def receipt(items, member=False):
    return f"{len(items)} items, {total(items, member):.2f} EUR" + (" (member)" if member else "")
END
