import json

summary = json.load(open("summary.json"))
assert list(summary) == ["north", "south", "west"], list(summary)
assert summary == {
    "north": {"units": 7, "revenue": 540.45, "best": "chair"},
    "south": {"units": 25, "revenue": 959.0, "best": "lamp, small"},
    "west": {"units": 11, "revenue": 444.99, "best": "lamp"},
}, summary
