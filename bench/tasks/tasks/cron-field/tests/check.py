import sys

sys.path.insert(0, ".")
from cron import expand

GOOD = {
    "*": [0, 1, 2, 3, 4, 5, 6],
    "3": [3],
    "1-3": [1, 2, 3],
    "*/2": [0, 2, 4, 6],
    "1-6/2": [1, 3, 5],
    "4/2": [4, 6],
    "5,1,1-2": [1, 2, 5],
}
for field, wanted in GOOD.items():
    assert expand(field, 0, 6) == wanted, (field, expand(field, 0, 6))
assert expand("*/20", 0, 59) == [0, 20, 40]
assert expand("*/5", 1, 12) == [1, 6, 11]
for field in ("", "7", "-1", "5-3", "*/0", "a", "1,", "1--3", "1-3-5", "*-3", "1/", "1.5", " 1"):
    try:
        found = expand(field, 0, 6)
    except ValueError:
        continue
    sys.exit(f"{field!r} became {found}")
