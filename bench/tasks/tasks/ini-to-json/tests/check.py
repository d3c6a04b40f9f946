import json

found = json.load(open("service.json"))
assert found == {
    "server": {
        "host": "0.0.0.0",
        "port": 8443,
        "tls": True,
        "version": "2",
        "limits": {"requests": 1000, "burst": -1, "methods": ["GET", "POST", "PUT"]},
    },
    "log": {"level": "info", "color": False, "format": "a, b", "path": ""},
}, found
assert found["server"]["tls"] is True and found["log"]["color"] is False
