SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# npm scripts find the Node that comes with the dependencies; so does everything here.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json

.PHONY: help run test test-console test-cluster test-control-plane test-node cluster cluster-down test-clients test-client-matrix test-login-apps services lint fmt generate bench

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "%-18s %s\n", $$1, $$2 }'

# npm writes its own lock file last, so its presence means that the installation is complete.
$(INSTALLED): package-lock.json
	@echo 'installing the dependencies with npm (about half a minute) …'
	npm ci --no-audit --no-fund --loglevel=error
	@touch $(INSTALLED)

run: $(INSTALLED) ## install what is missing, then serve everything on http://127.0.0.1:8080
	@scripts/install-sandbox-programs.sh
	@exec node src/main.ts all

test: lint services ## install what is missing, then check and test everything
	vitest run --project default

services: ## install the services that the tests use
	scripts/install-test-services.sh

test-cluster: test-control-plane test-node ## install what is missing, then test on Kubernetes: on a control plane alone, then in pods on a node

test-control-plane: $(INSTALLED) services ## the part of test-cluster without nodes: resources, operator and chart on a real API server
	scripts/cluster/install-control-plane.sh
	scripts/cluster/build-helm.sh
	vitest run --project cluster

test-node: $(INSTALLED) ## the part of test-cluster in pods: starts a cluster unless one is running
	scripts/cluster/build-helm.sh
	scripts/cluster/test-node.sh

cluster: $(INSTALLED) ## start a whole Kubernetes cluster on this machine, with the images of this repository; as root
	scripts/cluster/up.sh

cluster-down: ## stop that cluster and delete its data
	scripts/cluster/down.sh

test-console: $(INSTALLED) ## the part of `make test` that opens the web console in a browser
	vitest run --project default test/console

test-clients: $(INSTALLED) ## install what is missing, then let Codex CLI, Claude Code and a generated Python client work
	scripts/install-clients.sh
	scripts/install-python-clients.sh generated
	vitest run --project clients

test-client-matrix: $(INSTALLED) ## install what is missing, then print a table of clients, their helpers and formats of providers; with opencode and Python's clients
	scripts/install-clients.sh
	scripts/install-opencode.sh
	scripts/install-python-clients.sh
	CAPSTAN_CLIENT_MATRIX=1 vitest run --project client-matrix --project clients --project default --reporter verbose test/real-clients test/gateway/helpers test/gateway/langchain.test.ts

test-login-apps: $(INSTALLED) services ## install what is missing, then sign in to real applications through the login service
	scripts/install-login-apps.sh
	vitest run --project login-apps

lint: $(INSTALLED) ## check format, lint, types and generated files
	npm run --silent fmt:check
	npm run --silent lint
	npm run --silent generate -- --check

fmt: $(INSTALLED) ## format the sources
	npm run --silent fmt

generate: $(INSTALLED) ## write the files generated from the contract
	npm run --silent generate

bench: $(INSTALLED) ## run every measurement, one after the other
	@for file in bench/*.ts; do case $$file in *-server.ts) continue ;; esac; echo "== $$file"; node $$file; done
	node bench/harness/run.ts
	node bench/tasks/run.ts
	@echo "Results are printed above; bench/RESULTS.md keeps selected ones with machine and date."
