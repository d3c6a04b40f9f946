# The image of all roles: docker build -t capstan .
# Runs as a user without privileges, on a read-only root; what it writes goes to /tmp and CAPSTAN_DATA_DIR.
# With a digest (node:24-trixie-slim@sha256:…) in a release.
ARG NODE_IMAGE=node:24-trixie-slim
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No dependency needs its install script. Node comes with the image; the copy from npm is for machines without one.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node

# The web console: built here, because the image has no development dependencies.
FROM ${NODE_IMAGE} AS console
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund && rm -rf node_modules/node-linux-* node_modules/.bin/node
COPY clients clients
COPY src src
RUN node src/console/build.ts

FROM ${NODE_IMAGE}
WORKDIR /app
ENV NODE_ENV=production
COPY --from=dependencies /app/node_modules node_modules
COPY --from=console /app/build/console build/console
COPY package.json LICENSE ./
COPY bin bin
COPY clients clients
COPY src src
COPY operator operator
COPY sandbox-image/executor sandbox-image/executor
COPY scripts/compile.ts scripts/compile.ts
# What is loaded lies compiled in the image: a process starts sooner, and takes 25 MiB less without what strips types. Where
# the processor is another, or the user, it is not taken, and all is compiled at the start as before.
ENV NODE_COMPILE_CACHE=/app/node_modules/.cache/capstan/compiled
RUN mkdir -p "$NODE_COMPILE_CACHE" && chown 1000:1000 "$NODE_COMPILE_CACHE"
USER 1000:1000
# Without a role the entry compiles itself, says how it is used and ends.
RUN node scripts/compile.ts && ! node src/main.ts 2>/dev/null
EXPOSE 8080
ENTRYPOINT ["node", "src/main.ts"]
CMD ["all"]
