# Everything runs in .venv, which `run` and `test` make themselves: Python 3.11 or newer and make are enough.
#
#   make run                 the daemon with ./config.yaml; without a token it talks in this terminal
#   make test ARGS="-k lane" the tests, with arguments for pytest

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help run test check fmt format-check lint types imports requirements bench idle fuzz soak crash pins clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 | \2/p' Makefile | column -t -s '|' 2>/dev/null \
	  || sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1   \2/p' Makefile

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Parley needs Python 3.11 or newer as \`$(PYTHON)\`; name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV) || \
	  { rm -rf $(VENV); echo "Python cannot make virtual environments here; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing into $(VENV) (once; a minute or two) ..."
	@$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

run: $(READY) ## the daemon; without a token: demo model, this terminal
	@exec $(BIN)/parley run $(ARGS)

test: $(READY) ## all tests
	$(BIN)/pytest --requirements -n auto $(ARGS)

check: format-check lint types imports requirements ## everything that can be checked without running it

fmt: $(READY) ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

format-check: $(READY)
	$(BIN)/ruff format --check .

lint: $(READY) ## ruff
	$(BIN)/ruff check --quiet .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

imports: $(READY) ## who may import whom
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.borders

requirements: $(READY) ## tests/requirements.toml says what the tests' marks say
	$(BIN)/python -m tests.requirements --check

bench: $(READY) ## Parley beside a bare bot, against the same simulator
	$(BIN)/python -m bench $(ARGS)

idle: $(READY) ## what 10,000 sessions at rest cost in memory
	$(BIN)/python -m bench.idle $(ARGS)

fuzz: $(READY) ## 100,000 malformed updates for each adapter's parser and each HTTP route of theirs
	PARLEY_FUZZ=100000 $(BIN)/pytest --timeout 0 tests/unit/adapters/test_fuzz.py tests/unit/adapters/test_fuzz_routes.py $(ARGS)

soak: $(READY) ## 1,000 turns on each model wire with a service that does everything wrong
	$(BIN)/python -m tests.soak $(ARGS)

crash: $(READY) ## SIGKILL at every named and at 500 random moments (half an hour); its tables go into docs/delivery.md
	$(BIN)/python -m tests.crash --write docs/delivery.md $(ARGS)

pins: ## write constraints.txt anew, with the newest versions pyproject.toml allows
	@$(PYTHON) -m venv --clear build/pins
	@build/pins/bin/pip install -qq --disable-pip-version-check ".[dev]"
	@{ sed '/^[^#]/d' constraints.txt; build/pins/bin/pip freeze --exclude parley-gateway; } > build/constraints.txt
	@mv build/constraints.txt constraints.txt

clean: ## remove what was built, not the state
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info
