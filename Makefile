# `make demo` runs the main job, `make test` the tests; each sets up what it needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# What was compiled is kept for the next time; a plain `pip install .` leaves nothing behind.
KEPT := --config-settings 'build-dir=build/{wheel_tag}'
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard src/kernels/*)

.PHONY: demo test slow-test check lint types clean

demo: $(VENV)/installed
	@examples/demo.sh

test: $(VENV)/developing
	$(BIN)/python -m pytest

# What takes minutes: every way to cut a corpus on Spark, a cluster of which a machine dies.
slow-test: $(VENV)/developing
	$(BIN)/python -m pytest -m slow

# All that has to hold before a change is merged.
check: test slow-test lint types

lint: $(VENV)/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/developing
	$(BIN)/mypy

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(BIN)/python $(SOURCES)
	$(PIP) $(KEPT) --constraint constraints.txt --editable .
	@touch $@

$(VENV)/developing: $(BIN)/python $(SOURCES)
	$(PIP) $(KEPT) --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist
