# Everything runs from a fresh clone with Python 3.11+ and make: the environments build themselves.

PYTHON  ?= python3
BIN     := .venv/bin
ORACLES := .venv-oracles

.DEFAULT_GOAL := help
.PHONY: help demo drafts test lint unit oracles long bench docs clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.installed  ## a whole survey with simulated people; writes demo-output/report.html
	$(BIN)/krand demo --output demo-output

drafts: .venv/.installed  ## the drafts reproduced; writes drafts-output/drafts.html and docs/drafts.md
	$(BIN)/krand drafts --output drafts-output
	$(BIN)/python docs/write_drafts.py

test: lint unit oracles  ## static checks, unit tests, tests against other people's libraries

lint: .venv/.installed  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/mypy --strict tests/typing_example.py
	$(BIN)/lint-imports

unit: .venv/.installed  ## pytest without the oracle tests
	$(BIN)/pytest -q -n 2 --ignore=tests/oracles

# Made by a recursive call, so that a failed installation is an answer and not the end of the run.
oracles:  ## tests against dp-accounting, in an environment of its own
	@if log=$$($(MAKE) --no-print-directory $(ORACLES)/.installed 2>&1); then \
	    echo "$(ORACLES)/bin/pytest -q tests/oracles"; \
	    $(ORACLES)/bin/pytest -q tests/oracles; \
	elif [ "$${KRAND_REQUIRE_ALL:-}" = 1 ]; then \
	    echo "$$log" >&2; \
	    echo "failed: dp-accounting oracle tests (could not be installed)" >&2; exit 1; \
	else \
	    echo "skipped: dp-accounting oracle tests (could not be installed)"; \
	fi

long: .venv/.installed  ## the long versions of tests: small crowds, extreme requests, faults, attacks
	KRAND_LONG=1 $(BIN)/pytest -q -n 2 tests/docs/test_explanation_numbers.py tests/accounting/test_nearest.py tests/accounting/test_extreme_attacks.py
	$(BIN)/python benchmarks/small_crowds.py
	$(BIN)/python benchmarks/extremes.py
	KRAND_FAULTS=300 KRAND_FLIPS=1000 KRAND_MUTATED_FILES=4000 $(BIN)/pytest -q -n 2 tests/collector/test_kills.py tests/collector/test_kills_at_writes.py tests/collector/test_damage.py tests/analysis/engines/test_resuming_kills.py tests/cli/test_hostile_parquet.py
	$(BIN)/python benchmarks/copied_folder.py

bench: $(ORACLES)/.installed  ## krand beside its peers, in one run
	$(ORACLES)/bin/python benchmarks/privacy.py

docs: .venv/.installed  ## the documentation as HTML in build/docs; every warning is an error
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d build/doctrees . build/docs
	$(BIN)/python docs/check_links.py
	@echo "open build/docs/index.html"

clean:  ## remove environments, caches and demo output
	rm -rf .venv .venv-oracles build dist demo-output drafts-output
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv/.installed: EXTRA = test
$(ORACLES)/.installed: EXTRA = oracles

.venv/.installed $(ORACLES)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("krand needs Python 3.11 or newer, found " + sys.version.split()[0] + "; name one with: make PYTHON=python3.12")'
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@echo "installing krand[$(EXTRA)] into $(@D)"
	@$(@D)/bin/python -m pip install -q --disable-pip-version-check -e '.[$(EXTRA)]'
	@touch $@
