# The image of all roles: docker build -t capstan .
# Runs as a user without privileges, on a read-only root; what it writes goes to /tmp and CAPSTAN_DATA_DIR.
FROM node:24-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No dependency needs its install script. Node comes with the image; the copy from npm is for machines without one.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM node:24-trixie-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY clients clients
COPY src src
COPY operator operator
COPY sandbox-image/executor sandbox-image/executor
USER 1000:1000
EXPOSE 8080
ENTRYPOINT ["node", "src/main.ts"]
CMD ["all"]
