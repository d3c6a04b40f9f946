#!/usr/bin/env bash
# Makes the authority, certificates, tokens and kubeconfigs of the test cluster under $STATE/keys, once.
set -euo pipefail
# shellcheck source=settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

KEYS=$STATE/keys
[[ -e $KEYS/complete ]] && exit 0
rm -rf "$KEYS"
mkdir -p "$KEYS"
chmod 700 "$KEYS"
cd "$KEYS"

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key" 2>/dev/null; }

new_key ca
openssl req -x509 -new -key ca.key -subj /CN=capstan-cluster -days 3650 -out ca.crt \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign

# usage: issue NAME SUBJECT EXTENSIONS
issue() {
  new_key "$1"
  openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out "$1.crt" \
    -extfile <(printf '%s\n' "$3") 2>/dev/null
  rm "$1.csr"
}

names="DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,DNS:localhost"
issue apiserver /CN=kube-apiserver \
  "subjectAltName=$names,IP:$NODE_ADDRESS,IP:$KUBERNETES_SERVICE,IP:127.0.0.1
extendedKeyUsage=serverAuth"
issue kubelet "/CN=$NODE_NAME" "subjectAltName=DNS:$NODE_NAME,IP:$NODE_ADDRESS
extendedKeyUsage=serverAuth"
issue apiserver-to-kubelet /O=system:masters/CN=kube-apiserver 'extendedKeyUsage=clientAuth'
openssl genrsa -out accounts.key 2048 2>/dev/null

# usage: allow USER GROUP  writes a kubeconfig of that name and a line of the token file
allow() {
  local token
  token=$(openssl rand -hex 24)
  echo "$token,$1,$1,$2" >>tokens.csv
  cat >"${1//:/-}.kubeconfig" <<EOF
apiVersion: v1
kind: Config
current-context: capstan
contexts: [{ name: capstan, context: { cluster: capstan, user: $1 } }]
clusters:
  - name: capstan
    cluster: { server: '$API_URL', certificate-authority-data: $(base64 -w0 ca.crt) }
users: [{ name: '$1', user: { token: $token } }]
EOF
}
allow admin system:masters
allow system:kube-controller-manager system:kube-controller-manager
allow system:kube-scheduler system:kube-scheduler
allow "system:node:$NODE_NAME" system:nodes
allow system:kube-proxy system:kube-proxy
# Storage and network policies have the rights of an administrator: they are not what is tested.
allow storage system:masters
allow network system:masters
touch complete
