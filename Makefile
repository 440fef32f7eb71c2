# `make demo` and `make test` need nothing but Debian's python3 (3.11 or newer) and make: they set up
# .venv, and install what else is missing.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint bench simulate torture coverage wheel clean chromium compiler

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
INSTALLED := .venv/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# $(call debian,PACKAGE): installs it where that is possible, else says what to do.
debian = { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; } || \
	{ echo "$(1) is missing: install it (Debian: apt-get install $(1)) and run make again" >&2; exit 1; }; \
	echo "installing $(1)"; apt-get -qq update; \
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y install $(1) >/dev/null

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## a sample property with simulated tables; options in ARGS="--rounds 200"
	@$(BIN)/jackpotd demo $(ARGS)

# Coverage is measured where it is a rule: meters/, every line and branch, or the run fails. pytest
# reports it before its closing line, which stays the last thing printed.
test: $(INSTALLED) chromium compiler ## all tests; fails unless they cover every branch of meters/
	@$(BIN)/python -m pytest --cov=meters --cov-report=term-missing:skip-covered \
		--cov-fail-under=100 $(ARGS)

lint: $(INSTALLED) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(INSTALLED) ## figures and ratios of this machine, into docs/performance.md
	@$(BIN)/python -m tests.bench.run $(ARGS)

simulate: $(INSTALLED) ## a house of chance and faults, 10,000 seeds; SEEDS=100, or SEED=7 for one
	@$(BIN)/python -m tests.sim.run $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),10000))

torture: $(INSTALLED) compiler ## kills, power cuts, full disks and more, for up to 15 minutes; as root
	@$(BIN)/python -m tests.torture.run $(ARGS)

coverage: $(INSTALLED) chromium compiler ## what the tests reach in all packages (in htmlcov/ too)
	@$(BIN)/python -m pytest --cov --cov-report=term-missing:skip-covered --cov-report=html $(ARGS)

wheel: $(INSTALLED) ## dist/jackpotd-VERSION-py3-none-any.whl
	@rm -rf build dist
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@rm -rf build
	@ls dist/*.whl

clean: ## back to a fresh clone
	rm -rf .venv build dist htmlcov .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Made anew whenever the dependencies change.
$(INSTALLED): setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer, please: make PYTHON=python3.11")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call debian,python3-venv); }
	@echo "setting up .venv"
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	@touch $@

# The tests of the signs drive a real browser: Debian's, as playwright's own is a download.
chromium:
	@command -v chromium >/dev/null || { $(call debian,chromium); }

# The power cut and the clock of the torture are two small libraries, compiled where they are used.
compiler:
	@command -v cc >/dev/null || { $(call debian,gcc libc6-dev); }
