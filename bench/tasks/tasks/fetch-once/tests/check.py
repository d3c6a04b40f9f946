import sys

sys.path.insert(0, ".")
from report import build

NAMES = {"a": "lamp", "b": "desk", "c": "lamp", "z": "unused"}
asked = []


def fetch(key):
    asked.append(key)
    return NAMES[key]


orders = [
    {"product": "a", "count": 2},
    {"product": "z", "count": 0},
    {"product": "b", "count": 1},
    {"product": "c", "count": 3},
    {"product": "a", "count": 4},
]
lines = build(orders, fetch)
assert lines == ["lamp: 2 of 9", "desk: 1 of 1", "lamp: 3 of 9", "lamp: 4 of 9"], lines
assert sorted(asked) == ["a", "b", "c"], asked
for _ in range(2):
    try:
        build([{"product": "none", "count": 1}], fetch)
    except KeyError:
        continue
    sys.exit("the error was lost")
assert asked.count("none") == 2
