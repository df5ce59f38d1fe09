"""Every statistic under every kind of noise, for few people and for many: intervals hold."""

from __future__ import annotations

import pytest

import krand
from coverage_table import NOISES, Case, Table, plan_of, simulate
from effort import EFFORT

FEW, MANY = 150, 10_000
"""The fewest that were planned, where noise is loud and intervals are searched; and more."""


@pytest.mark.parametrize("noise", NOISES)
def test_intervals_hold_the_truth_as_often_as_they_say(noise: str) -> None:
    """Estimates are right on average, as precise as they say, and covered."""
    table, flips = Table(), plan_of(noise).survey.trust.mixers == 1 and noise != "mixer"
    for people, rounds in ((FEW if flips else 30, 8), (MANY, 4)):
        simulate(Case(noise, people), rounds * EFFORT, 1, table)
    table.check()


@pytest.mark.parametrize("noise", ["flips", "copies", "mixer"])
def test_people_who_are_a_sample_speak_for_everybody(noise: str) -> None:
    """Intervals for all who could have been drawn, and tests of what depends on nothing."""
    table = Table()
    simulate(Case(noise, MANY, sampled=True), 4 * EFFORT, 2, table)
    table.check()


@pytest.mark.nightly
@pytest.mark.parametrize("noise", NOISES)
def test_the_plans_of_the_table_are_those_of_its_surveys(noise: str) -> None:
    """`python tests/coverage_table.py` makes them anew; a search may end a step away."""
    made, kept = krand.make_plan(krand.parse_survey(NOISES[noise])), plan_of(noise)
    assert made.survey == kept.survey
    assert [block.noise for block in made.blocks] == pytest.approx(
        [block.noise for block in kept.blocks], rel=1e-3
    )
