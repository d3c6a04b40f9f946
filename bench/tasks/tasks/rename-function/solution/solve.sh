#!/bin/bash
set -euo pipefail
sed -i 's/^def get_data(/def load_orders(/; s/len(get_data(/len(load_orders(/' shop/store.py
sed -i 's/import get_data$/import load_orders/; s/= get_data(/= load_orders(/' shop/cache.py
sed -i 's/shop\.store\.get_data(/shop.store.load_orders(/' main.py
