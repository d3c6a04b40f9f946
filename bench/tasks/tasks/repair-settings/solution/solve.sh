#!/bin/bash
set -euo pipefail
cat > settings.json <<'END'
{
  "listen": "0.0.0.0:8443",
  "upstream": "https://internal.example/api",
  "paths": ["/health", "/v1/*"],
  "timeouts": { "connect": 5, "read": 60 },
  "banner": "use /* and */ or // as you like, ok,]"
}
END
