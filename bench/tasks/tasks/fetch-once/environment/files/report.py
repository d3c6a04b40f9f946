def build(orders, fetch):
    """One line per order. `fetch(key)` returns the name that belongs to a key of a product."""
    lines = []
    for order in orders:
        if order["count"] == 0:
            fetch(order["product"])
            continue
        total = sum(other["count"] for other in orders if fetch(other["product"]) == fetch(order["product"]))
        lines.append(f"{fetch(order['product'])}: {order['count']} of {total}")
    return lines
