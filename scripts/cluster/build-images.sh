#!/usr/bin/env bash
# Builds the images of the test cluster without a registry and prints the folder with an archive of each: Capstan and its
# sandbox from the repository's own Dockerfiles, on base images made here under the very names that those ask for; the
# bundled backends of the chart, from Debian's packages under the names of the chart's values; and the cluster's own.
# An archive is made again when what it is made from has changed.
# usage: build-images.sh                       those that need none of the programs that are built from Go
#        build-images.sh FOLDER-OF-PROGRAMS    the others: pause and coredns (see build-addons.sh), versitygw
set -euo pipefail
# shellcheck source=node/settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/node/settings.sh"
PROGRAMS=${1:-}
ROOT=$(cd "$SCRIPTS/../.." && pwd)
ARCHIVES=$CACHE/cluster/images
WORK=$CACHE/cluster/build
SUITE=trixie
VERSION=$(sed -n 's/^appVersion: *//p' "$ROOT/charts/capstan/Chart.yaml" | tr -d "\"'")

mkdir -p "$ARCHIVES" "$WORK"
exec 9>"$WORK/lock"
flock 9
trap 'rm -rf "$WORK/scratch"' EXIT

builder() { buildah --root "$WORK/storage" --runroot "$WORK/run" --storage-driver overlay "$@"; }

# usage: is_fresh NAME SOURCE…   true when the archive of that name was made from these very files
is_fresh() {
  local name=$1 sum
  shift
  sum=$(find "$@" -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum | sha256sum)
  if [[ -e $ARCHIVES/$name.tar && $(cat "$ARCHIVES/$name.sum" 2>/dev/null) == "$sum" ]]; then return; fi
  rm -f "$ARCHIVES/$name.sum"
  echo "$sum" >"$WORK/$name.sum"
  return 1
}

# usage: save NAME IMAGE   the image as an archive, complete or not at all
save() {
  rm -f "$WORK/$1.tar"
  builder push -q "$2" "docker-archive:$WORK/$1.tar:$2" >/dev/null
  mv "$WORK/$1.tar" "$ARCHIVES/$1.tar"
  mv "$WORK/$1.sum" "$ARCHIVES/$1.sum"
}

# usage: build IMAGE BUILDAH-OPTIONS… CONTEXT   in the machine's own network, from the images that are here
build() {
  local image=$1
  shift
  builder build --layers --pull=never --isolation chroot --network host --tag "$image" "$@" >"$WORK/build.log" 2>&1 ||
    { tail -20 "$WORK/build.log" >&2; return 1; }
}

# --- what the Dockerfiles begin with

has_image() { builder inspect --type image "$1" >/dev/null 2>&1; }

make_bases() {
  local debian=docker.io/library/debian:$SUITE-slim node=docker.io/library/node:24-$SUITE-slim
  local scratch=$WORK/scratch container mirror
  if ! has_image "$debian"; then
    rm -rf "$scratch"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -1)
    debootstrap --variant=minbase --include=ca-certificates "$SUITE" "$scratch/root" "$mirror" >"$WORK/debootstrap.log" 2>&1 ||
      { tail -5 "$WORK/debootstrap.log" >&2; return 1; }
    # As in the slim image: no manuals, and none of what further packages bring.
    printf 'path-exclude /usr/share/%s/*\n' doc man info locale >"$scratch/root/etc/dpkg/dpkg.cfg.d/slim"
    rm -rf "$scratch"/root/usr/share/{doc,man,info,locale}/* "$scratch"/root/var/cache/apt/* "$scratch"/root/var/lib/apt/lists/*
    container=$(builder from scratch)
    builder copy -q "$container" "$scratch/root" / >/dev/null
    builder config --cmd bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
    builder commit -q --rm "$container" "$debian" >/dev/null
  fi
  if ! has_image "$node"; then
    rm -rf "$scratch"
    mkdir -p "$scratch/bin" "$scratch/lib"
    install "$(cd "$ROOT" && PATH=$ROOT/node_modules/.bin:$PATH node --print process.execPath)" "$scratch/bin/node"
    # The authorities that this machine trusts, for networks that have their own.
    mkdir -p "$scratch/etc"
    cp /etc/ssl/certs/ca-certificates.crt "$scratch/etc/"
    echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$scratch/etc/npmrc"
    npm install --global --silent --no-audit --no-fund --prefix "$scratch" npm@11
    container=$(builder from --pull-never "$debian")
    builder copy -q "$container" "$scratch/bin/node" /usr/local/bin/node >/dev/null
    builder copy -q "$container" "$scratch/lib/node_modules" /usr/local/lib/node_modules >/dev/null
    builder copy -q "$container" "$scratch/etc/ca-certificates.crt" /etc/ssl/certs/ca-certificates.crt >/dev/null
    builder copy -q "$container" "$scratch/etc/npmrc" /usr/local/etc/npmrc >/dev/null
    builder run --isolation chroot "$container" -- sh -c '
      ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
      ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
      useradd --uid 1000 --create-home --shell /bin/bash node'
    builder config --cmd node "$container"
    builder commit -q --rm "$container" "$node" >/dev/null
  fi
}

# --- images

make_capstan() {
  is_fresh capstan Dockerfile package.json package-lock.json bin clients src operator sandbox-image/executor scripts/compile.ts && return
  build "docker.io/library/capstan:$VERSION" --file Dockerfile .
  save capstan "docker.io/library/capstan:$VERSION"
}

# On top of Capstan's own, so made again with it.
make_media() {
  is_fresh media Dockerfile.media "$ARCHIVES/capstan.sum" && return
  build "docker.io/library/capstan-media:$VERSION" --file Dockerfile.media \
    --build-arg "CAPSTAN=docker.io/library/capstan:$VERSION" .
  save media "docker.io/library/capstan-media:$VERSION"
}

make_sandbox() {
  is_fresh sandbox sandbox-image package.json src/sandbox/protocol/executor.ts src/sandbox/protocol/link.ts && return
  build "docker.io/library/capstan-sandbox:$VERSION" --file sandbox-image/Dockerfile .
  save sandbox "docker.io/library/capstan-sandbox:$VERSION"
}

# usage: read_image BACKEND   the image that the chart's values name for it
read_image() {
  sed -n "/^$1:/,/^[a-z]/s/^  image: *//p" charts/capstan/values.yaml
}

# usage: make_backend BACKEND FILE…   the files are beside its Dockerfile for the build
make_backend() {
  local backend=$1 image
  shift
  is_fresh "$backend" "$SCRIPTS/images" charts/capstan/values.yaml "$@" && return
  image=$(read_image "$backend")
  rm -rf "$WORK/context"
  mkdir "$WORK/context"
  cp "$SCRIPTS/images/entrypoint-postgresql.sh" "$@" "$WORK/context/"
  build "$image" --file "$SCRIPTS/images/Dockerfile" --target "$backend" "$WORK/context"
  save "$backend" "$image"
}

# usage: make_program NAME   an image of one program alone
make_program() {
  local name=$1 container
  is_fresh "$name" "$PROGRAMS/$name" && return
  container=$(builder from scratch)
  builder copy -q "$container" "$PROGRAMS/$name" "/$name" >/dev/null
  builder config --entrypoint "[\"/$name\"]" --user 65535:65535 "$container"
  builder commit -q --rm "$container" "docker.io/capstan-cluster/$name:1" >/dev/null
  save "$name" "docker.io/capstan-cluster/$name:1"
}

cd "$ROOT"
make_bases
if [[ -n $PROGRAMS ]]; then
  make_program pause
  make_program coredns
  make_backend s3 "$CACHE/bin/versitygw"
else
  make_capstan
  make_media
  make_sandbox
  for backend in postgresql nats redis; do make_backend "$backend"; done
fi
echo "$ARCHIVES"
