#!/bin/bash
set -euo pipefail
cat > render.py <<'END'
import re
from html import escape


def render(template, values):
    def fill(match):
        raw, plain = match.groups()
        value = str(values.get(raw or plain, ""))
        return value if raw else escape(value, quote=True)

    return re.sub(r"\{\{\{ (\w+) \}\}\}|\{\{ (\w+) \}\}", fill, template)
END
