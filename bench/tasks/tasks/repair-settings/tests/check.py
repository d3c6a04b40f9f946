import json

assert json.load(open("settings.json")) == {
    "listen": "0.0.0.0:8443",
    "upstream": "https://internal.example/api",
    "paths": ["/health", "/v1/*"],
    "timeouts": {"connect": 5, "read": 60},
    "banner": "use /* and */ or // as you like, ok,]",
}
