import sys

sys.path.insert(0, ".")
try:
    from pages import paginate

    assert paginate([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
    assert paginate([1, 2], 2) == [[1, 2]]
    assert paginate([], 3) == []
    assert paginate([1], 9) == [[1]]
except ImportError as error:
    sys.exit(str(error))
import signal

signal.alarm(20)
for size in (0, -1):
    try:
        paginate([1], size)
    except ValueError:
        continue
    sys.exit(f"a size of {size} was accepted")
