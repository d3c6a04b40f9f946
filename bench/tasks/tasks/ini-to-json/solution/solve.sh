#!/bin/bash
set -euo pipefail
python3 - <<'END'
import json, re
result, section = {}, {}
def convert(text):
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text.lower() in ("true", "yes", "on"):
        return True
    if text.lower() in ("false", "no", "off"):
        return False
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    return [item.strip() for item in text.split(",")] if "," in text else text
for line in open("service.ini"):
    line = line.strip()
    if not line or line[0] in ";#":
        continue
    if line[0] == "[":
        section = result
        for name in line[1:-1].split("."):
            section = section.setdefault(name, {})
        continue
    key, _, value = line.partition("=")
    section[key.strip()] = convert(value.strip())
json.dump(result, open("service.json", "w"), indent=2)
END
