#!/bin/bash
set -euo pipefail
python3 - <<'END'
import sqlite3
db = sqlite3.connect("shop.db")
db.executescript(open("shop.sql").read())
db.execute("CREATE INDEX orders_customer ON orders (customer)")
rows = db.execute("""SELECT name FROM orders JOIN customers ON customers.id = customer
  WHERE paid IS NULL AND state <> 'cancelled' AND placed < '2026-02-01'
  GROUP BY customer HAVING count(*) >= 2 ORDER BY name""").fetchall()
db.commit()
open("late.txt", "w").writelines(f"{name}\n" for (name,) in rows)
END
