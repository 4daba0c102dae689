# Everything is installed into this checkout (.venv, tests/agents/node_modules, .cache); nothing system-wide.
# Needs: Python 3.11 or newer, git, and Node.js 20.19 or newer with npm, which builds the page. The tests also need a
# Python 3.12 or 3.13 (on PATH, kept by pyenv, or named in PODIUM_PYTHON312) and Debian's Chromium, which they install.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := src tests tools bench
# Test processes at once: the tests wait more than they compute.
WORKERS ?= 3

# The versions of pip and of its resolver are settled by the locks; pyright runs on the Node that its wheel brings.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PYRIGHT_PYTHON_GLOBAL_NODE := 0
export PODIUM_DEMO_DATA ?= $(CURDIR)/.cache/demo

.DEFAULT_GOAL := help
.PHONY: help run page wheel browser test lint format bench rows matrix agents venv lock clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

run: .venv/.installed page ## the server with the page; prints a URL that opens it
	@PODIUM_DATA=$(PODIUM_DEMO_DATA) $(BIN)/podium serve

wheel: .venv/.installed-dev page ## dist/podium-*.whl, with the built page, installable without Node
	@$(BIN)/python -m hatchling build -t wheel

test: venv agents browser page lint ## every check, then every test
	@npm --prefix web test --silent
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile

lint: venv web/node_modules/.installed ## style, types, rooms, neutrality, places, ledger
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/pyright --warnings
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m tools.neutrality
	@$(BIN)/python -m tools.places
	@$(BIN)/python -m tools.ledger check
	@$(BIN)/python -m tools.matrix check
	@$(BIN)/python -m tools.capability_docs check
	@npm --prefix web run --silent check
	@npm --prefix web run --silent types -- --check

format: venv ## put the sources into shape
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)

bench: venv ## measure what users wait for, against a bare pipe in the same run
	@$(BIN)/python -m bench

rows: venv ## write the pages that are made: conformance, capabilities, capability reference
	@$(BIN)/python -m tools.ledger write
	@$(BIN)/python -m tools.capability_docs write

matrix: venv agents ## run every claim of every agent, and of the agent without it, into docs/matrix (minutes)
	@$(BIN)/python -m tools.matrix write
	@$(BIN)/python -m tools.capability_docs write

page: src/podium/server/static/index.html ## build the page into the package, if something of it changed

agents: ## the pinned real agents, into tests/agents/node_modules and .cache/vibe
	@tests/agents/install.sh

browser: ## the distribution's Chromium, for the tests of the page
	@tests/browser/install.sh

venv: .venv/.installed-dev ## the virtual environment with everything developers need

lock: venv ## resolve requirements/*.txt anew from pyproject.toml
	@tools/lock.sh

clean: ## remove everything that was installed or made
	rm -rf .venv .cache tests/agents/node_modules web/node_modules src/podium/server/static .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed: requirements/run.txt pyproject.toml
	@tools/venv.sh $(PYTHON) requirements/run.txt
	@touch $@

.venv/.installed-dev: requirements/run.txt requirements/dev.txt pyproject.toml
	@tools/venv.sh $(PYTHON) requirements/dev.txt
	@touch .venv/.installed $@

PAGE := $(shell find web/src web/public web/index.html web/vite.config.ts -type f 2>/dev/null)

web/node_modules/.installed: web/package.json web/package-lock.json web/.npmrc
	@npm --prefix web ci --loglevel=error
	@touch $@

src/podium/server/static/index.html: web/node_modules/.installed $(PAGE)
	@npm --prefix web run --silent build -- --logLevel warn
