import sqlite3

assert open("late.txt").read().split() == ["Bo", "Dee"]
db = sqlite3.connect("file:shop.db?mode=ro", uri=True)
assert db.execute("SELECT count(*) FROM orders").fetchone() == (10,)
plan = " ".join(row[3] for row in db.execute("EXPLAIN QUERY PLAN SELECT * FROM orders WHERE customer = 1"))
assert "USING INDEX" in plan, plan
