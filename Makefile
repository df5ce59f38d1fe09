# Everything runs from a fresh clone with Python 3.11+ and make: the environments build themselves.

PYTHON  ?= python3
BIN     := .venv/bin
ORACLES := .venv-oracles
# One process for each of two cores; who has nothing left to do takes tests from the other. Parts that
# are not krand's, such as browsers and servers, wait more than they compute.
PARALLEL ?= -n 2 --dist worksteal
REAL_PARALLEL ?= -n 3 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo drafts test check nightly lint unit real oracles drafts-test faults bench docs pictures catalogs vectors js clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z%.-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.core  ## a whole survey with simulated people; writes demo-output/report.html
	$(BIN)/krand demo --output demo-output

drafts: .venv/.lab  ## the drafts reproduced; writes drafts-output/drafts.html and docs/lab/drafts.md
	$(BIN)/krand-lab drafts --output drafts-output
	$(BIN)/python docs/lab/write_drafts.py

test: lint unit  ## before every commit: static checks, and everything that runs in one process

check: test real oracles  ## the gate: and browsers, servers, the pages of the documentation

nightly: export KRAND_EFFORT = 30
nightly: test real oracles drafts-test  ## every loop thirty times as long, krand-lab, faults, packages
	$(BIN)/python tests/fuzz/run.py --seconds 3600
	$(MAKE) faults
	.ci/try-packages

lint: .venv/.test  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/mypy --strict tests/typing_example.py
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config lab/pyproject.toml

unit: .venv/.test  ## the tests alone, as make test runs them
	$(BIN)/pytest -q $(PARALLEL) tests --ignore=tests/real

real: .venv/.test  ## tests with real parts: chromium, node, Spark, a mail server, nginx, processes
	$(BIN)/pytest -q $(REAL_PARALLEL) tests/real --ignore=tests/real/oracles

drafts-test: .venv/.test  ## tests of krand-lab: the drafts, observed outcomes, simulations
	$(BIN)/pytest -q $(PARALLEL) lab/tests

faults: .venv/.test  ## planted one after the other: which test catches which
	$(BIN)/python tests/faults.py --gate

# Python 3.12 or another one, named by its command: make test-3.12 builds .venv-3.12.
test-%: .venv-%/.test  ## the unit tests and those of krand-lab on another Python, e.g. test-3.12
	.venv-$*/bin/pytest -q $(PARALLEL) tests lab/tests --ignore=tests/real

# Made by a recursive call, so that a failed installation is an answer and not the end of the run.
oracles:  ## tests against dp-accounting, in an environment of its own
	@if log=$$($(MAKE) --no-print-directory $(ORACLES)/.oracles 2>&1); then \
	    echo "$(ORACLES)/bin/pytest -q tests/real/oracles"; \
	    $(ORACLES)/bin/pytest -q tests/real/oracles; \
	elif [ "$${KRAND_REQUIRE_ALL:-}" = 1 ]; then \
	    echo "$$log" >&2; \
	    echo "failed: dp-accounting oracle tests (could not be installed)" >&2; exit 1; \
	else \
	    echo "skipped: dp-accounting oracle tests (could not be installed)"; \
	fi

bench: $(ORACLES)/.oracles  ## krand beside its peers, in one run
	$(ORACLES)/bin/python benchmarks/planning.py

docs: .venv/.test  ## the documentation as HTML in build/docs; every warning is an error
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d build/doctrees . build/docs
	$(BIN)/python docs/check_links.py
	@echo "open build/docs/index.html"

pictures: docs  ## the pictures in docs/static, made anew, and sheets of all kinds of pages in build/sheets; needs chromium
	@$(BIN)/python -c 'import PIL, playwright' || $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[browser]'
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_sheets.py

catalogs: .venv/.test  ## the texts of other languages, brought up to date with the English ones; LANGUAGE=it adds one
	$(BIN)/python docs/developing/update_catalogs.py $(LANGUAGE)

vectors: .venv/.test  ## the test vectors for other implementations, made anew by the reference
	$(BIN)/python -m reference.vectors >tests/vectors.json.new && mv tests/vectors.json.new tests/vectors.json

js:  ## the JavaScript client: its packages from the lock file, then the bundles that krand ships
	npm ci --prefix clients/js --ignore-scripts --loglevel=error
	npm run --prefix clients/js --silent build

clean:  ## remove environments, caches and demo output
	rm -rf .venv .venv-oracles .venv-3.* build dist demo-output drafts-output
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src lab tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A stamp says what an environment holds: krand alone, krand and krand-lab, or all that tests need. One environment serves them all, and whoever has installed the most need not install the
# least again.
HOLDS_core    := core
HOLDS_lab     := core lab
HOLDS_test    := core lab test
HOLDS_oracles := oracles

kind   = $(@F:.%=%)
extras = $(if $(filter core lab,$(kind)),,[$(kind)])
lab    = $(if $(filter core,$(kind)),, -e ./lab)

define install
@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("krand needs Python 3.11 or newer, found " + sys.version.split()[0] + "; name one with: make PYTHON=python3.12")'
@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
@echo "installing krand$(extras)$(if $(lab), and krand-lab) into $(@D)"
@$(@D)/bin/python -m pip install -q --disable-pip-version-check -e '.$(extras)'$(lab)
@touch $(HOLDS_$(kind):%=$(@D)/.%)
endef

.venv/.core .venv/.lab .venv/.test $(ORACLES)/.oracles: pyproject.toml lab/pyproject.toml
	$(install)

.PRECIOUS: .venv-%/.test
.venv-%/.test: PYTHON = python$*
.venv-%/.test: pyproject.toml lab/pyproject.toml
	$(install)
