#!/bin/bash
set -euo pipefail
cat > report.py <<'END'
def build(orders, fetch):
    """One line per order. `fetch(key)` returns the name that belongs to a key of a product."""
    names, totals = {}, {}
    needed = [order for order in orders if order["count"] != 0]
    for order in needed:
        key = order["product"]
        if key not in names:
            names[key] = fetch(key)
        totals[names[key]] = totals.get(names[key], 0) + order["count"]
    return [f"{names[order['product']]}: {order['count']} of {totals[names[order['product']]]}" for order in needed]
END
