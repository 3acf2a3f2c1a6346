# `make demo` and `make test` need nothing but python3 and make: they build .venv first.
PYTHON ?= python3
BIN := .venv/bin
# The real data sets, where they lie beside the checkout; tests that need them are skipped elsewhere.
export SUBSPACES_DATA ?= $(wildcard $(abspath ../shared/data))

.DEFAULT_GOAL := help
.PHONY: help demo reproduce test slow lint types fresh check docs clean

help:
	@echo "make demo    cluster synthetic subspaces and digits, print a table, draw a picture"
	@echo "make test    run the tests, about four minutes; make slow runs those that take longer"
	@echo "make reproduce  run the paper's experiments, print its tables beside ours; ARGS=mnist for some"
	@echo "make check   tests, lint, types and a fresh install, as the continuous integration does"
	@echo "make docs    build the documentation into docs/_build/html, every example run; some minutes"
	@echo "make clean   remove what the commands above made"

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "subspaces needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[plot]' --group dev
	@touch $@

demo: .venv/ready
	$(BIN)/python -m subspaces demo

# Goes on where it was interrupted; then docs/paper.md is written from what is kept.
reproduce: .venv/ready
	$(BIN)/python -m subspaces reproduce $(ARGS)
	$(BIN)/python benchmarks/tables.py

# Two test processes on one BLAS thread each; more threads than cores wait for each other.
test: .venv/ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -m "not slow"

# Tests that take seconds each: real data, all documentation code, interruptions, hostile model files.
slow: .venv/ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -m slow

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

# As a new user would: another environment, a CSV, its report in a browser.
fresh: .venv/ready
	$(BIN)/python tests/fresh_install.py

check: test slow lint types fresh

.venv/docs-ready: .venv/ready
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

# A warning is an error: no link, formula or example is broken.
docs: .venv/docs-ready
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf docs/_build docs/gallery docs/api/generated docs/api/examples
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis subspaces-demo.png
