import sys

sys.path.insert(0, ".")
text = open("prices.py").read()
assert not any(mark in text for mark in ("<<<<<<<", "=======", ">>>>>>>"))
from prices import receipt, total

items = [(19.99, 3), (0.333, 1)]
assert total(items) == 60.3, total(items)
assert total(items, True) == 54.27, total(items, True)
assert receipt(items) == "2 items, 60.30 EUR"
assert receipt(items, member=True) == "2 items, 54.27 EUR (member)"
