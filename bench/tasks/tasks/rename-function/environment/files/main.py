import shop.store
from shop.cache import Cache

cache = Cache()
print("get_data:", cache.get_data("orders.txt"))
print("again:", shop.store.get_data("orders.txt"), shop.store.get_data_size("orders.txt"))
