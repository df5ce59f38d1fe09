"""Ten seconds of damaged inputs for each parser, more at night; JavaScript reads the plans too."""

from __future__ import annotations

import os
import signal
import time

import pytest

from effort import EFFORT
from fuzz.run import fuzz, replay
from fuzz.targets import TARGETS
from javascript import built_internals

SEED = 1 if EFFORT == 1 else time.time_ns()
"""The gate tries the same inputs each time; at night there are others."""


@pytest.mark.parametrize("target", TARGETS)
def test_damaged_inputs_do_no_harm(target: str) -> None:
    """Inputs of findings belong into tests/fuzz/corpus, when they are mended."""
    if target == "plan":
        built_internals()
    outcome = fuzz(target, 10 * EFFORT, SEED, is_compared=target == "plan")
    assert outcome.findings == {}, outcome.findings
    assert outcome.executions > 0


def test_both_languages_read_the_plans_of_the_corpus_alike() -> None:
    built_internals()
    outcome = replay("plan", is_compared=True)
    assert (outcome.findings, outcome.accepted) == ({}, 17)


def test_a_parser_that_ends_its_process_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The input is kept outside of it."""

    def dies(content: bytes) -> None:
        if len(content) % 2:
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setitem(TARGETS, "submission", dies)
    (problem,) = (found := fuzz("submission", 60, 1).findings)
    assert problem == f"the process ended with {-signal.SIGKILL}"
    assert len(found[problem]) % 2 == 1
