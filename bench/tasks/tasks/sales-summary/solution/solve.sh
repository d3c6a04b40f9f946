#!/bin/bash
set -euo pipefail
python3 - <<'END'
import csv, json
from collections import defaultdict
units, revenue = defaultdict(int), defaultdict(lambda: defaultdict(float))
for row in csv.DictReader(open("sales.csv")):
    units[row["region"]] += int(row["units"])
    revenue[row["region"]][row["product"]] += int(row["units"]) * float(row["price"])
summary = {
    region: {
        "units": units[region],
        "revenue": round(sum(revenue[region].values()), 2),
        "best": max(revenue[region], key=revenue[region].get),
    }
    for region in sorted(units)
}
json.dump(summary, open("summary.json", "w"), indent=2)
END
