# Everything happens in .venv, which is filled in two steps: what running Corral needs, then what
# working on it needs. The demo waits for the first step only.

PYTHON ?= python3
UV ?= uv

BIN := .venv/bin
RUNTIME := .venv/.runtime
DEV := .venv/.dev
MODULES := web/node_modules/.package-lock.json
PIP := $(BIN)/python -m pip
PYTEST := $(BIN)/python -m pytest
CHECKED := $(wildcard src tests benchmarks tools)
LOCK := pip compile --quiet --no-config --generate-hashes --universal --python-version 3.11 \
	--python $(BIN)/python --custom-compile-command 'make lock'

# pip's two -q hide warnings (about caches, mirrors, running as root) but not errors.
PIP_INSTALL := $(PIP) install -qq
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_RETRIES := 10
export PIP_ROOT_USER_ACTION := ignore
# Settings meant for other installs would send packages outside of .venv, or hide that they are
# missing from it.
export PIP_USER := 0
unexport PIP_TARGET PIP_PREFIX PYTHONHOME PYTHONPATH
# Without a home that can be written, pip would keep its cache in an odd place.
ifneq ($(shell test -n "$$HOME" && test -w "$$HOME" && echo yes),yes)
export PIP_NO_CACHE_DIR := 1
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test everything tests alone browser web pictures docs engines histories lint types layers format reference bench env lock clean need-git

help: ## list what make can do
	@echo 'usage: make TARGET'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1:\2/p' $(MAKEFILE_LIST) | \
		while IFS=: read -r target text; do printf '  %-8s %s\n' "$$target" "$$text"; done

demo: $(RUNTIME) ## see Corral at work
	@$(BIN)/corral demo

test: ## run every check and test
	@$(MAKE) --no-print-directory -j5 everything || \
		{ echo 'make test: failed. Each part that did is named after *** above.' >&2; exit 1; }

# All at once, for installing waits for the network and checking types keeps one core only. Tests
# that drive a coding agent come last, and wait until it is installed.
everything: lint types layers engines histories browser tests alone

tests: lint histories browser $(DEV) ## run the tests, but for those that want the machine to themselves
	@echo 'Running the tests ...'
	@CORRAL_NEED_ENGINES=1 CORRAL_NEED_BROWSER=1 $(PYTEST) -n auto --dist loadfile --no-loadscope-reorder -m 'not alone'

alone: tests types layers engines ## run the others, one by one
	@echo 'Running the tests that want the machine to themselves ...'
	@CORRAL_NEED_ENGINES=1 CORRAL_NEED_BROWSER=1 $(PYTEST) -m alone

histories: ## fetch histories of public projects that tests merge, once for all clones
	@"$(PYTHON)" tests/world/git/fetch_histories.py

# The tests of the dashboard say so if it is still missing after this.
browser: $(MODULES)
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		echo 'Installing chromium ...' && export DEBIAN_FRONTEND=noninteractive && \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null; } || true

engines: ## install the coding agents that tests drive, once for all clones
	@"$(PYTHON)" tests/engines/install.py

lint: $(DEV) $(MODULES) ## check style and formatting
	@echo 'Checking style ...'
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || \
		{ echo 'Some files are not formatted: run "make format".' >&2; exit 1; }
	@cd web && npm run --silent lint || { echo 'The dashboard: try "make format".' >&2; exit 1; }

types: $(DEV) ## check types
	@echo 'Checking types ...'
	@$(BIN)/mypy $(CHECKED)

layers: $(DEV) ## check that imports go one way
	@echo 'Checking layers ...'
	@$(BIN)/lint-imports --no-logo

format: $(DEV) $(MODULES) ## format, and fix what can be fixed
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .
	@cd web && npm run --silent format

web: $(RUNTIME) $(MODULES) ## build the dashboard into the package
	@$(BIN)/python -m corral.interfaces.http.openapi | (cd web && npm run --silent types)
	@cd web && npm run --silent check && npm run --silent build -- --logLevel warn

# The tests build it too, strictly. What mkdocs says is shown only if it fails.
docs: $(DEV) ## build the documentation as a site, in build/site
	@echo 'Building the documentation ...'
	@mkdir -p build
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict >build/docs.txt 2>&1 || \
		{ cat build/docs.txt >&2; exit 1; }

pictures: $(DEV) ## take the pictures of the dashboard that the documentation shows
	@$(BIN)/python -m tests.web.pictures

reference: $(RUNTIME) ## write docs/reference.md from the code
	@$(BIN)/python -m tools.reference > docs/reference.md

bench: $(DEV) ## measure
	@$(BIN)/python -m benchmarks

env: $(DEV) ## make .venv, with all that development needs

# Pins are kept where they still fit; `make lock LOCK_FLAGS=--upgrade` renews them.
lock: .venv/pyvenv.cfg ## pin all requirements again
	@set -e; uv=$$(command -v "$(UV)") || { \
		test -x .venv/lock/bin/uv || \
			{ $(BIN)/python -m venv .venv/lock && .venv/lock/bin/python -m pip install -qq uv; }; \
		uv=.venv/lock/bin/uv; }; \
	"$$uv" $(LOCK) $(LOCK_FLAGS) pyproject.toml -o requirements/runtime.txt >/dev/null; \
	"$$uv" $(LOCK) $(LOCK_FLAGS) -c requirements/runtime.txt --extra acp pyproject.toml \
		-o requirements/acp.txt >/dev/null; \
	"$$uv" $(LOCK) $(LOCK_FLAGS) -c requirements/acp.txt --extra otel pyproject.toml \
		-o requirements/otel.txt >/dev/null; \
	"$$uv" $(LOCK) $(LOCK_FLAGS) requirements/build.in -o requirements/build.txt >/dev/null; \
	"$$uv" $(LOCK) $(LOCK_FLAGS) -c requirements/acp.txt -c requirements/otel.txt \
		-c requirements/build.txt pyproject.toml --extra acp --extra otel requirements/dev.in \
		-o requirements/dev.txt >/dev/null; \
	"$$uv" $(LOCK) $(LOCK_FLAGS) tests/engines/aider.in -o tests/engines/aider.txt >/dev/null

clean: ## remove .venv, caches and build results
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis \
		.coverage .coverage.* htmlcov build dist
	@find $(CHECKED) -name __pycache__ -type d -prune -exec rm -rf {} +

$(MODULES): web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo 'Building the dashboard needs npm: please install it.' >&2; exit 1; }
	@cd web && npm ci --silent --no-audit --no-fund --fetch-retries=6
	@touch $@

need-git:
	@command -v git >/dev/null || { echo 'Corral needs git: please install it.' >&2; exit 1; }

.venv/pyvenv.cfg: | need-git
	@python=; \
	for candidate in "$(PYTHON)" python3.14 python3.13 python3.12 python3.11; do \
		if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
		then python=$$candidate; break; fi; \
	done; \
	test -n "$$python" || { \
		echo 'Corral needs Python 3.11 or newer: install it, or name it with PYTHON=...' >&2; \
		exit 1; }; \
	if ! "$$python" -c 'import ensurepip' 2>/dev/null; then \
		if command -v apt-get >/dev/null && test "$$(id -u)" = 0; then \
			echo 'Installing python3-venv ...'; \
			export DEBIAN_FRONTEND=noninteractive; \
			{ apt-get update -qq && apt-get install -y -qq python3-venv; } >/dev/null; \
		fi; \
		"$$python" -c 'import ensurepip' 2>/dev/null || { \
			echo "$$python cannot make environments: please install python3-venv." >&2; \
			exit 1; }; \
	fi; \
	echo 'Making .venv ...'; \
	"$$python" -m venv --clear .venv || { rm -rf .venv; exit 1; }

$(RUNTIME): requirements/runtime.txt requirements/build.txt pyproject.toml bin/corral | .venv/pyvenv.cfg
	@echo 'Installing Corral ...'
	@$(PIP_INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	@$(PIP_INSTALL) --no-build-isolation --no-deps -e .
	@touch $@

# What is compiled at its first import need not be compiled now, and most is never imported.
$(DEV): requirements/dev.txt $(RUNTIME)
	@echo 'Installing the development tools ...'
	@$(PIP_INSTALL) --no-compile --require-hashes -r requirements/dev.txt
	@touch $@
