# Everything runs from a fresh clone with Python 3.11+ and make: the environments build themselves.

PYTHON  ?= python3
BIN     := .venv/bin
ORACLES := .venv-oracles
# All tests of a file in one process: what its fixtures compute is computed once. Three processes for
# two cores: tests of browsers, servers and kills wait more than they compute.
# The slowest files come first (tests/timing.py): no process waits for the last one at the end.
PARALLEL ?= -n 3 --no-loadscope-reorder --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo drafts figures test lint unit drafts-test oracles durations coverage long bench bench-check docs pictures js clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z%.-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.core  ## a whole survey with simulated people; writes demo-output/report.html
	$(BIN)/krand demo --output demo-output

drafts: .venv/.plots  ## the drafts reproduced; writes drafts-output/drafts.html and docs/lab/drafts.md
	$(BIN)/krand drafts --output drafts-output
	$(BIN)/python docs/lab/write_drafts.py

figures: .venv/.test  ## the pictures of docs/gallery.md and the notebooks of examples/, made anew
	$(BIN)/python docs/make_gallery.py
	$(BIN)/python examples/notebooks/make.py

test: lint unit drafts-test oracles  ## static checks, unit tests, the drafts, other people's libraries

lint: .venv/.test  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/mypy --strict tests/typing_example.py
	$(BIN)/lint-imports

unit: .venv/.test  ## pytest without the tests of krand-lab and the oracle tests
	$(BIN)/pytest -q $(PARALLEL) --ignore=tests/oracles tests

drafts-test: .venv/.test  ## tests of krand-lab: the drafts, observed outcomes, simulations
	$(BIN)/pytest -q $(PARALLEL) lab/tests

# Python 3.12 or another one, named by its command: make test-3.12 builds .venv-3.12.
test-%: .venv-%/.test  ## the unit tests and those of krand-lab on another Python, e.g. test-3.12
	.venv-$*/bin/pytest -q $(PARALLEL) --ignore=tests/oracles

durations: .venv/.test  ## every test but the oracles' once; writes what they cost to tests/durations.md
	@mkdir -p build && rm -f build/durations.tsv
	KRAND_DURATIONS=build/durations.tsv $(BIN)/pytest -q $(PARALLEL) --ignore=tests/oracles
	$(BIN)/python tests/write_durations.py build/durations.tsv tests/durations.md

# Without the processes that tests start: a line that only they run counts as missed.
coverage: .venv/.test  ## lines and branches that the tests of PART reach (PART=tests/wire), in build/coverage
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[coverage]'
	$(BIN)/pytest -q $(PARALLEL) --cov=krand --cov=krand_lab --cov-branch --cov-report=term:skip-covered --cov-report=html:build/coverage $(or $(PART),tests --ignore=tests/oracles)

# Made by a recursive call, so that a failed installation is an answer and not the end of the run.
oracles:  ## tests against dp-accounting, in an environment of its own
	@if log=$$($(MAKE) --no-print-directory $(ORACLES)/.oracles 2>&1); then \
	    echo "$(ORACLES)/bin/pytest -q tests/oracles"; \
	    $(ORACLES)/bin/pytest -q tests/oracles; \
	elif [ "$${KRAND_REQUIRE_ALL:-}" = 1 ]; then \
	    echo "$$log" >&2; \
	    echo "failed: dp-accounting oracle tests (could not be installed)" >&2; exit 1; \
	else \
	    echo "skipped: dp-accounting oracle tests (could not be installed)"; \
	fi

long: .venv/.test $(ORACLES)/.oracles  ## the long versions of tests: small crowds, extreme requests, faults, attacks, Firefox and WebKitGTK
	KRAND_LONG=1 $(BIN)/pytest -q $(PARALLEL) tests/accounting tests/analysis/engines/test_engines.py tests/analysis/engines/test_resuming.py tests/analysis/test_both.py tests/analysis/test_conditional.py tests/analysis/test_counting.py tests/analysis/test_mixed_questions.py tests/analysis/test_words_decoding.py tests/attacks/test_copied_folder.py tests/attacks/test_mixers.py tests/attacks/test_pipelines.py tests/browser/test_every_page.py tests/browser/test_form.py tests/browser/test_form_mixers.py tests/browser/test_other_engines.py tests/cli/test_forgeries.py tests/cli/test_mix_bad_input.py tests/cli/test_verify_command.py tests/client/test_ledger.py tests/collector/test_order.py tests/docs/test_explanation_numbers.py tests/docs/test_pages_run.py lab/tests tests/end_to_end/test_collector.py tests/end_to_end/test_messages_say_nothing.py tests/end_to_end/test_mixed_analysis.py tests/js_client tests/mixing/test_dummies.py tests/mixing/test_real_chain.py tests/mixing/test_watching.py tests/planning/test_making.py tests/planning/test_quick.py tests/planning/test_same_bytes.py tests/randomness/test_flips.py tests/randomness/test_shuffling.py tests/randomness/test_sparse.py tests/report/test_languages.py tests/tables/test_randomizing.py tests/test_processes.py
	KRAND_LONG=1 $(ORACLES)/bin/pytest -q tests/oracles
	$(BIN)/python benchmarks/small_crowds.py
	$(BIN)/python benchmarks/extremes.py
	KRAND_LONG=1 KRAND_FAULTS=300 KRAND_FLIPS=1000 KRAND_MUTATED_FILES=4000 KRAND_MODEL_EXAMPLES=1000 $(BIN)/pytest -q $(PARALLEL) tests/collector/test_kills.py tests/collector/test_kills_at_writes.py tests/collector/test_first_mixer.py tests/collector/test_model.py tests/mixing/test_kills.py tests/collector/test_damage.py tests/analysis/engines/test_resuming_kills.py tests/cli/test_hostile_parquet.py
	$(BIN)/python benchmarks/copied_folder.py

bench: $(ORACLES)/.oracles  ## krand beside its peers, in one run
	$(ORACLES)/bin/python benchmarks/privacy.py

bench-check: .venv/.test  ## ratios of a short run against those in the committed results
	$(BIN)/python benchmarks/check.py

docs: .venv/.test  ## the documentation as HTML in build/docs; every warning is an error
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d build/doctrees . build/docs
	$(BIN)/python docs/check_links.py
	@echo "open build/docs/index.html"

pictures: .venv/.test  ## the pictures in docs/static, made anew; needs chromium
	@$(BIN)/python -c 'import PIL, playwright' || $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[pictures]'
	$(BIN)/python docs/make_pictures.py

js:  ## the JavaScript client: its packages from the lock file, then the bundles that krand ships
	npm ci --prefix clients/js --ignore-scripts --loglevel=error
	npm run --prefix clients/js --silent build

clean:  ## remove environments, caches and demo output
	rm -rf .venv .venv-oracles .venv-3.* build dist demo-output drafts-output
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src lab tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A stamp says what an environment holds: krand alone, krand and krand-lab with figures, or all that
# tests need. One environment serves them all, and whoever has installed the most need not install the
# least again.
HOLDS_core    := core
HOLDS_plots   := core plots
HOLDS_test    := core plots test
HOLDS_oracles := oracles

kind   = $(@F:.%=%)
extras = $(if $(filter core,$(kind)),,[$(kind)])
lab    = $(if $(filter core,$(kind)),, -e ./lab)

define install
@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("krand needs Python 3.11 or newer, found " + sys.version.split()[0] + "; name one with: make PYTHON=python3.12")'
@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
@echo "installing krand$(extras)$(if $(lab), and krand-lab) into $(@D)"
@$(@D)/bin/python -m pip install -q --disable-pip-version-check -e '.$(extras)'$(lab)
@touch $(HOLDS_$(kind):%=$(@D)/.%)
endef

.venv/.core .venv/.plots .venv/.test $(ORACLES)/.oracles: pyproject.toml lab/pyproject.toml
	$(install)

.PRECIOUS: .venv-%/.test
.venv-%/.test: PYTHON = python$*
.venv-%/.test: pyproject.toml lab/pyproject.toml
	$(install)
