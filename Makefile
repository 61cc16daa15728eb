# Everything runs in .venv inside this checkout; `make setup` is done by whatever needs it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

export DAGSTER_DISABLE_TELEMETRY := 1
export DO_NOT_TRACK := 1

.PHONY: help setup nightly test test-fast check docs lock bench clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY)  ## make .venv from requirements.lock (hashes checked)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "lorelake needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "setting up $(VENV) from requirements.lock (takes some minutes, 1.3 GB on disk) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m lorelake_assets.dbt
	@touch $(READY)

nightly: $(READY)  ## run the main job: your lorelake.toml, else the bundled example team
	@$(BIN)/lorelake nightly $(ARGS)

test: $(READY)  ## all tests
	$(BIN)/pytest -n 2 --dist loadgroup -q

test-fast: $(READY)  ## what runs in under two minutes
	$(BIN)/pytest -n 2 --dist loadgroup -q -m "not slow"

check: $(READY)  ## lint, format, strict types, import rules, generated docs (reads only)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m lorelake_assets.docs --check

docs: $(READY)  ## write the generated parts of docs/
	$(BIN)/python -m lorelake_assets.docs

lock: $(READY)  ## renew requirements.lock from pyproject.toml (needs uv on PATH)
	uv pip compile pyproject.toml --extra pipeline --extra mcp --extra forges --extra model --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-strip-extras --no-emit-index-url --no-emit-find-links --no-header -q -o requirements.lock

bench: $(READY)  ## print figures (half an hour; `pip install agentsview` into .venv for its comparison)
	$(BIN)/python -m pytest tests/bench -q -s -p no:cacheprovider

clean:  ## remove the lake of the example and build leftovers; keeps .venv
	rm -rf lake build dist models/target models/logs
