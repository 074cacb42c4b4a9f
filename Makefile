# Every target sets up $(VENV) first when it is missing or when pyproject.toml or constraints.txt changed.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed

# The first interpreter that is new enough and can make environments; `make test PYTHON=python3.13` chooses.
# Names that a version manager lists but does not run are passed over, hence the trial.
SUPPORTED := import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
CANDIDATES := python3 python3.13 python3.12 python3.11 python3.14
PYTHON ?= $(shell for p in $(CANDIDATES); do \
	$$p -c '$(SUPPORTED)' >/dev/null 2>&1 && { echo $$p; break; }; done)

DEMO ?= runs/demo
DEALS ?= 20000

.PHONY: help install demo test rllib docs golden soak fresh lint types bench bench-check format clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(READY) ## Set up .venv with everything that development needs

$(READY): pyproject.toml constraints.txt
	@"$(PYTHON)" -c '$(SUPPORTED)' >/dev/null 2>&1 || { \
		echo "DominoZoo needs Python 3.11 to 3.14 with venv and pip; found: '$(PYTHON)'." >&2; \
		echo "Install one, then: make install PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): once, a minute or two"
	@"$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		-e '.[train,export,serve,render,docs,examples,dev]' -c constraints.txt
	@touch $@

demo: $(READY) ## Train a small Block policy, judge it, export it, verify the bot file
	$(BIN)/dominozoo train block --config configs/demo.yaml --out $(DEMO) --force
	$(BIN)/dominozoo arena block --players $(DEMO),random --deals $(DEALS) --seed 1
	$(BIN)/dominozoo arena block --players $(DEMO),normal --deals $(DEALS) --seed 1
	$(BIN)/dominozoo arena block --players $(DEMO),hard --deals $(DEALS) --seed 1
	$(BIN)/dominozoo export $(DEMO) --out $(DEMO)/bot.dombot --force
	$(BIN)/dominozoo verify $(DEMO)/bot.dombot

test: $(READY) ## Run all tests, doctests and the examples of the documentation
	$(BIN)/python -m pytest -n auto

RLLIB := .venv-rllib
rllib: ## Run the RLlib example in an environment of its own, about 2 GB with torch
	@"$(PYTHON)" -m venv $(RLLIB)
	@$(RLLIB)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		-e '.[rllib,test]' -c constraints.txt
	$(RLLIB)/bin/python -m pytest tests/examples -k rllib

docs: $(READY) ## Build the documentation into build/site; fails on a broken link or anchor
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build # --quiet would silence the warnings that strict counts

golden: $(READY) ## Write the golden playthroughs anew; review what changed
	$(BIN)/python tests/envs/test_golden.py

soak: $(READY) ## A million random hands with invariants, 3,000 hands an option value against the referee
	$(BIN)/python tests/soak/play.py
	REFEREE_HANDS=3000 $(BIN)/python -m pytest -n auto tests/referee

fresh: ## Forget compiled kernels: Numba's cache doesn't see that an imported kernel was edited
	find envs training tests -name '*.nb[ci]' -delete

lint: $(READY) ## Check style and format with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types with mypy --strict and pyright
	$(BIN)/mypy
	$(BIN)/pyright

format: $(READY) ## Mend style and format with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## Measure the speed of the games and bots
	$(BIN)/dominozoo bench

bench-check: $(READY) ## Compare costs with the stored ones; UPDATE=1 stores them anew
	$(BIN)/python -m dominozoo_training.bench.guard $(if $(UPDATE),--update)

clean: ## Remove .venv and the caches, never runs or checkpoints
	rm -rf $(VENV) .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find envs training tests -name __pycache__ -type d -prune -exec rm -rf {} +
