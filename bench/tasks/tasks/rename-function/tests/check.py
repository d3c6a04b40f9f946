import subprocess
import sys

sys.path.insert(0, ".")
import shop.store
from shop.cache import Cache

assert not hasattr(shop.store, "get_data")
assert shop.store.load_orders("orders.txt") == ["7 lamps", "2 desks"]
assert shop.store.get_data_size("orders.txt") == 2
assert Cache().get_data("orders.txt") == ["7 lamps", "2 desks"]
assert not hasattr(Cache, "load_orders")
printed = subprocess.run(["python3", "main.py"], capture_output=True, text=True, check=True).stdout
assert printed == (
    "get_data: ['7 lamps', '2 desks']\nagain: ['7 lamps', '2 desks'] 2\n"
), printed
