#!/bin/bash
set -euo pipefail
python3 - <<'END'
from datetime import datetime
FORMS = ["%Y-%m-%d", "%d.%m.%Y", "%B %d, %Y", "%m/%d/%y"]
def convert(text):
    for form in FORMS:
        try:
            return datetime.strptime(text, form).strftime("%Y-%m-%d")
        except ValueError:
            pass
    return "invalid"
lines = open("visits.txt").read().splitlines()
open("visits.iso", "w").writelines(convert(line) + "\n" for line in lines)
END
