"""Messages that were refused: the results say how many, what was planned for, and what δ is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from analysis.simulated_surveys import tally_of
from krand.analysis.results import make_results
from krand.cli.result_tables import remarks
from krand.planning.making import make_plan
from krand.survey.reading import parse_survey
from krand.testing import SMALL_SURVEY, small_plan
from krand.wording.mechanisms import words_of
from krand.wording.phrases import at_most
from krand.wording.plans import promise_sentence
from sealed_tallies import in_lanes


def said(rejected: Mapping[str, int]) -> str:
    plan = small_plan()
    there = plan.promise.colluding + sum(rejected.values())
    promise = replace(plan.promise, colluding=there, delta=0.02)
    return words_of(plan.mechanism).refused(plan, promise, rejected)


def test_what_happened_is_told_in_numbers() -> None:
    """Each person sends four messages here, and the plan allows for one colluding participant."""
    assert small_plan().messages == 4
    assert said({"wrong_length": 18, "repeated": 1}) == (
        "19 messages were refused (18 wrong length, 1 repeated) and not counted. The 5 to 19 people"
        " who sent them may not help to hide anybody. The promise allowed for 1 such person; in the"
        " worst case there are now 20 among 100, so δ is 0.02. The survey promised 0.001."
    )
    one = "1 message was refused (1 repeated) and not counted. Whoever sent it may not help to hide"
    assert said({"repeated": 1}).startswith(one)


def test_the_numbers_are_those_of_the_release() -> None:
    """δ as computed for the crowd that came, with planned and refused added up."""
    plan = small_plan()
    counts = np.full(plan.layout.positions, 30, np.int64)
    whole = tally_of(plan, 100, counts)
    refused = in_lanes(plan, replace(whole, rejected={"wrong_length": 19}))
    results = make_results(plan, refused)
    policy, promise = plan.survey.policy, results.promise
    (line,) = (line for line in remarks(results) if "refused" in line)
    assert promise.colluding == policy.colluding + 19
    worst = f"in the worst case there are now {promise.colluding:,} among {promise.crowd:,}"
    assert worst in line
    assert f"so δ is {at_most(promise.delta)}. The survey promised {at_most(policy.delta)}." in line
    assert not any("refused" in line for line in remarks(make_results(plan, in_lanes(plan, whole))))


@pytest.mark.parametrize(
    ("colluding", "words"),
    [(0, None), (1, "even if 1 of them colludes with"), (7, "even if 7 of them collude with")],
)
def test_a_plan_says_how_many_it_counts_on(colluding: int, words: str | None) -> None:
    """In its file and in its promise to people."""
    text = SMALL_SURVEY.replace(
        "minimum_crowd = 100\n", f"minimum_crowd = 100\ncolluding = {colluding}\n"
    )
    plan = make_plan(parse_survey(text))
    assert plan.promise.colluding == colluding
    assert f'"colluding":{colluding}'.encode() in plan.bytes
    sentence = promise_sentence(plan)
    assert "even if" not in sentence if words is None else words in sentence
