"""Margins of error for the people who are expected, compared with plans and laws of other sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krand.accounting.calibration import precision
from krand.planning.expected import as_expected, for_people, people_shown
from krand.planning.making import make_plan
from krand.promise import Precision, ResponseFormat
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.testing import small_plan
from krand.wording.plans import margins_sentence, unreadable

GROUP = """
id = "g"
{head}
policy = {{ epsilon = 1, delta = 1e-4 {crowd} }}
trust = {{ {trust} }}
question = [
  {{ name = "a", type = "choice", choices = ["x", "y", "z"] }},
  {{ name = "b", type = "scale", lowest = 1, highest = 9 }},
]
together = [{{ questions = ["a", "b"] }}]
"""
DEVICES = {"crowd": ", minimum_crowd = 2000", "trust": ""}
MIXERS = {"crowd": "", "trust": 'noise = "mixers"'}


def planned(expected: int | None, more: str = "", **policy: str) -> Plan:
    head = more if expected is None else f"expected = {expected}\n{more}"
    return make_plan(parse_survey(GROUP.format(head=head, **policy)))


def all_of(plan: Plan) -> list[Precision]:
    alone = (margin.precision for block in plan.blocks for margin in block.margins)
    return [*(block.precision for block in plan.blocks), *alone]


@pytest.mark.check
@pytest.mark.parametrize("source", [DEVICES, MIXERS])
def test_expected_changes_no_noise_and_no_promise(source: dict[str, str]) -> None:
    """Only the survey in the plan differs, and the sentences about it."""
    with_it, without = planned(4000, **source), planned(None, **source)
    assert replace(with_it, survey=without.survey) == without
    assert with_it.hash != without.hash


@pytest.mark.check
def test_devices_noise_grows_with_the_root_of_the_people() -> None:
    """As the variance of so many flipped bits says, for cells and for questions alone."""
    plan = planned(8000, **DEVICES)
    shown = as_expected(plan)
    for now, least in zip(all_of(shown), all_of(plan), strict=True):
        assert now.sigma == pytest.approx(2 * least.sigma, rel=2e-5)
        assert now.half_width_percent == pytest.approx(least.half_width_percent / 2, rel=2e-5)
    again = precision(ResponseFormat(1), plan.blocks[0].noise, 8000)
    assert shown.blocks[0].precision.sigma == pytest.approx(again.sigma, rel=2e-5)


def test_mixers_noise_stays_and_its_share_falls() -> None:
    plan = planned(4000, **MIXERS)
    for now, least in zip(all_of(as_expected(plan)), all_of(plan), strict=True):
        assert now.sigma == least.sigma
        assert now.half_width_percent == pytest.approx(100 * least.half_width_95 / 4000)
    assert people_shown(planned(None, **MIXERS).survey) is None


def test_cells_that_drown_are_named_whoever_adds_the_noise() -> None:
    """39 cells with 10 people in each; many more people make them readable."""
    few, many = planned(390, **MIXERS), planned(39_000, **MIXERS)
    width = few.blocks[0].precision.half_width_95
    assert 390 / 39 / 2 < width < 0.15 * 390
    assert "cells of a + b (±" in unreadable(few)
    assert "where a cell has 10 on average" in unreadable(few)
    assert unreadable(many) == unreadable(planned(None, **MIXERS)) == ""
    crowd = {**DEVICES, "crowd": ", minimum_crowd = 500"}
    assert "cells of a + b (±" in unreadable(planned(None, **crowd))


@pytest.mark.check
def test_the_plan_says_for_whom_margins_are() -> None:
    """For the people who are expected, or for the crowd."""
    assert "for the 4,000 people who are expected" in margins_sentence(planned(4000, **DEVICES))
    assert "say expected" in margins_sentence(planned(None, **MIXERS))
    assert margins_sentence(planned(None, **DEVICES)) == ""


def test_for_as_many_as_the_crowd_nothing_changes() -> None:
    plan = small_plan()
    shown = for_people(plan, plan.survey.policy.minimum_crowd)
    for now, least in zip(all_of(shown), all_of(plan), strict=True):
        assert now.half_width_percent == pytest.approx(least.half_width_percent)
