# `make demo` and `make test` need nothing but python3 and make: they build .venv first.
PYTHON ?= python3
BIN := .venv/bin
# The real data sets, where they lie beside the checkout; tests that need them are skipped elsewhere.
export SUBSPACES_DATA ?= $(wildcard $(abspath ../shared/data))

.DEFAULT_GOAL := help
.PHONY: help demo reproduce numbers test slow fuzz lint types dist oldest check docs clean

help:
	@echo "make demo    cluster synthetic subspaces and digits, print a table, draw a picture"
	@echo "make test    run the tests, about four minutes; make slow runs those that take longer"
	@echo "make reproduce  run the paper's experiments, print its tables beside ours; ARGS=mnist for some"
	@echo "make numbers measure again all results of earlier code; takes hours, can be resumed; ARGS='--jobs 16'"
	@echo "make fuzz    N=10000 hostile arrays, files, models and command lines, in at most MINUTES=30"
	@echo "make check   tests, lint, types and the packages, as the continuous integration does"
	@echo "make dist    build wheel and sdist into dist/, and try the wheel in an empty environment"
	@echo "make oldest  run the tests with the oldest versions of all packages that are supported"
	@echo "make docs    build the documentation into docs/_build/html, every example and notebook run; some minutes"
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

# Every number of the pages from the code of today; goes on where it was interrupted.
numbers: .venv/ready
	$(BIN)/python benchmarks/remeasure.py $(ARGS)

# Two test processes on one BLAS thread each; more threads than cores wait for each other.
test: .venv/ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -m "not slow"

# Tests that take seconds each: real data, all documentation code, interruptions, hostile model files.
slow: .venv/ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -m slow

# Hostile arrays, files, models and command lines; failing seeds are kept in tests/hostile/failures.json.
N ?= 10000
MINUTES ?= 30
fuzz: .venv/ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python tests/hostile/fuzz.py $(N) --minutes $(MINUTES)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

# The wheel is built from the sdist, and tried as a new user would: an empty environment, a CSV, its report in a browser.
dist: .venv/ready
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist . > /dev/null
	$(BIN)/python tests/fresh_install.py dist/*.whl

# Not part of `make check`: it takes as long as the tests again.
oldest: .venv-oldest/ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n 2 -q -m "not slow"

.venv-oldest/ready: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	.venv-oldest/bin/python -m pip install --quiet --editable '.[plot]' --group test --constraint tests/oldest.txt
	@touch $@

check: test slow lint types dist

.venv/docs-ready: .venv/ready
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

# A warning is an error: no link, formula or example is broken.
docs: .venv/docs-ready
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	$(BIN)/python tests/notebooks.py docs/gallery
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf docs/_build docs/gallery docs/api/generated docs/api/examples
	rm -rf .venv .venv-oldest build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis subspaces-demo.png
