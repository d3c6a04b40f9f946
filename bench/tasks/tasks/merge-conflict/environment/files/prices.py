def total(items, member=False):
<<<<<<< HEAD
    amount = sum(price * count for price, count in items)
    if member:
        amount *= 0.9
    return amount
=======
    amount = sum(price * count for price, count in items)
    return round(amount, 2)
>>>>>>> rounding


def receipt(items, member=False):
<<<<<<< HEAD
    return f"{len(items)} items, {total(items, member)} EUR" + (" (member)" if member else "")
=======
    return f"{len(items)} items, {total(items):.2f} EUR"
>>>>>>> rounding
