# `make demo` runs the main job, `make test` the tests; each sets up what it needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Kernels are compiled by as many processes as there are cores.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# What was compiled is kept for the next time; a plain `pip install .` leaves nothing behind.
KEPT := --config-settings 'build-dir=build/{wheel_tag}'
# As an installed package has it: where Python is told to write no bytecode, a command would compile all
# that it imports, and take half as long again to start.
COMPILED := $(BIN)/python -m compileall -q src/nearly
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard src/kernels/*)

.PHONY: demo test slow-test torture check lint types clean

demo: $(VENV)/installed
	@examples/demo.sh

# Two at a time; tests/conftest.py says what stays together.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --no-loadscope-reorder --durations 20

test: $(VENV)/developing
	$(PYTEST)

# What takes minutes: every way to cut a corpus on Spark, a cluster of which a machine dies, and
# some torture.
slow-test: $(VENV)/developing
	$(PYTEST) -m slow

# Every call of every writing command fails or is where it is killed, 1,000 kills at any moment, and
# over 100,000 mutated files. No part takes more than SECONDS. The seed is printed, and SEED repeats it. What was counted is a table in
# build/torture.txt, for docs/reliability.md.
SECONDS ?= 1700
SEED ?= $(shell date +%s)
torture: $(VENV)/developing
	@mkdir -p build
	@printf '| part | cases | came of it |\n| --- | --- | --- |\n' > build/torture.txt
	NEARLY_TORTURE_SECONDS=$(SECONDS) NEARLY_TORTURE_SEED=$(SEED) \
	NEARLY_TORTURE_REPORT=$(CURDIR)/build/torture.txt \
	$(BIN)/python -m pytest tests/torture -m '' --numprocesses 2 --dist worksteal
	@cat build/torture.txt

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
	@$(COMPILED)
	@touch $@

$(VENV)/developing: $(BIN)/python $(SOURCES)
	$(PIP) $(KEPT) --constraint constraints.txt --editable '.[dev]'
	@$(COMPILED)
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist
