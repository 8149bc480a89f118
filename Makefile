# `make demo` runs the main job, `make test` the tests; each sets up what it needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# What was compiled is kept for the next time; a plain `pip install .` leaves nothing behind.
KEPT := --config-settings 'build-dir=build/{wheel_tag}'
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard src/kernels/*)

.PHONY: demo test slow-test torture check lint types clean

demo: $(VENV)/installed
	@examples/demo.sh

# Two at a time, each file by one of them, so that a session of Spark serves its whole file.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test: $(VENV)/developing
	$(PYTEST)

# What takes minutes: every way to cut a corpus on Spark, a cluster of which a machine dies, and
# seven minutes of torture.
slow-test: $(VENV)/developing
	$(PYTEST) -m slow

# An hour of failing system calls, kills and mutated files: seven parts of SECONDS each. The seed is
# printed, and SEED repeats it. What they counted is added to build/torture.txt.
SECONDS ?= 500
SEED ?= 0
torture: $(VENV)/developing
	@mkdir -p build
	NEARLY_TORTURE_SECONDS=$(SECONDS) NEARLY_TORTURE_SEED=$(SEED) \
	NEARLY_TORTURE_REPORT=$(CURDIR)/build/torture.txt \
	$(BIN)/python -m pytest tests/torture -m ''

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
