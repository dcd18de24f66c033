# Everything runs in .venv, made here on first use: a machine needs Python 3.11+ with pip, and make.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MODERN := import sys; sys.exit(sys.version_info < (3, 11))
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(shell for p in $(CANDIDATES); do \
	if $$p -c '$(MODERN)' 2>/dev/null; then echo $$p; break; fi; done)
ARGS ?=
SECONDS ?= 60
COUNT ?= 10
# Tests also wait for browsers, compilers and processes: three workers keep two cores busy.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(3 * (os.cpu_count() or 1) // 2 or 1)')

.DEFAULT_GOAL := help
.PHONY: help demo test bench fuzz kills lint clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16
	@echo
	@echo "  PYTHON=/path/to/python3 chooses the interpreter, ARGS='...' is passed on."

demo: $(STAMP) ## run the demonstration and write its results into demo/
	$(BIN)/homodyn demo $(ARGS)

test: $(STAMP) ## run all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

bench: $(STAMP) ## measure against installed peers: make bench ARGS="dynamics --quick"
	$(BIN)/homodyn bench $(ARGS)

fuzz: $(STAMP) ## read mutated files: make fuzz SECONDS=600 (processor time) ARGS="--seed 2 c3d"
	HOMODYN_BACKGROUND=off PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) $(ARGS)

kills: $(STAMP) ## kill programs at random: make kills COUNT=100 ARGS="search studio"
	HOMODYN_BACKGROUND=off PYTHONPATH=tests $(BIN)/python -m kills --count $(COUNT) $(ARGS)

lint: $(STAMP) ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean: ## remove the virtual environment and everything generated
	rm -rf $(VENV) build dist demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Some distributions ship Python without ensurepip; the pip outside then fills the environment.
$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Homodyn needs Python 3.11 or newer; none of these is: $(CANDIDATES)." >&2; \
		echo "Name one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; fi
	@if ! "$(PYTHON)" -c '' 2>/dev/null; then \
		echo "PYTHON=$(PYTHON) does not run." >&2; exit 1; fi
	@if ! "$(PYTHON)" -c '$(MODERN)'; then \
		echo "Homodyn needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" --version 2>&1)." >&2; \
		echo "Name another: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; fi
	@if "$(PYTHON)" -c 'import ensurepip' 2>/dev/null; then \
		"$(PYTHON)" -m venv --clear $(VENV); \
	else \
		"$(PYTHON)" -m venv --clear --without-pip $(VENV) && \
		"$(PYTHON)" -m pip --python $(BIN)/python install --quiet pip; \
	fi || { rm -rf $(VENV); exit 1; }

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check \
		--editable '.[dev]'
	@touch $@
