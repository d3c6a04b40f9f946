#!/bin/bash
set -euo pipefail
cat > cache.py <<'END'
from collections import OrderedDict


class Cache:
    def __init__(self, size):
        if size < 1:
            raise ValueError("size must be at least 1")
        self.size = size
        self.items = OrderedDict()
        self.counts = {"hits": 0, "misses": 0, "dropped": 0}

    def get(self, key):
        if key not in self.items:
            self.counts["misses"] += 1
            return None
        self.counts["hits"] += 1
        self.items.move_to_end(key)
        return self.items[key]

    def put(self, key, value):
        self.items[key] = value
        self.items.move_to_end(key)
        if len(self.items) > self.size:
            self.items.popitem(last=False)
            self.counts["dropped"] += 1

    def __len__(self):
        return len(self.items)

    def __contains__(self, key):
        return key in self.items

    def stats(self):
        return dict(self.counts)
END
