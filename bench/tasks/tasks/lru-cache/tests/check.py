import sys

sys.path.insert(0, ".")
from cache import Cache

cache = Cache(2)
cache.put("a", 1)
cache.put("b", None)
assert "a" in cache and cache.get("b") is None
cache.put("c", 3)
assert "a" not in cache and "b" in cache and len(cache) == 2
cache.put("b", 2)
cache.put("d", 4)
assert "c" not in cache and cache.get("b") == 2 and cache.get("a") is None
assert cache.stats() == {"hits": 2, "misses": 1, "dropped": 2}, cache.stats()
for size in (0, -3):
    try:
        Cache(size)
    except ValueError:
        continue
    sys.exit(f"a size of {size} was accepted")
