found = open("visits.iso").read().split()
wanted = (
    "2026-03-07 2024-02-29 invalid 2026-03-07 invalid 2025-12-31 invalid 2026-12-31 invalid 2026-01-01 "
    "2026-05-01 invalid"
)
assert found == wanted.split(), found
