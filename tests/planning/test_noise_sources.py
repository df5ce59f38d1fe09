"""Devices' and mixers' noise side by side."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from krand.planning.making import make_plan
from krand.planning.mechanisms.mixers import TYPICAL_CHAIN
from krand.planning.noise_sources import noise_sources, sealed_bytes
from krand.promise import Assumption, Linkage, Policy
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.survey import Survey, Trust
from krand.testing import small_plan
from krand.wire.messages import length_at

POLICY = Policy(epsilon=1.0, delta=1e-5, minimum_crowd=20_000)
QUESTIONS = (YesNo(name="a"), Choice(name="c", choices=Choices(["x", "y", "z"])))
SURVEY = Survey(id="s", policy=POLICY, questions=QUESTIONS)


def mixed(mixers: int) -> Survey:
    return replace(SURVEY, trust=Trust(noise=mechanisms.MIXERS, mixers=mixers))


@pytest.mark.check
def test_a_survey_of_devices_is_compared_with_mixers() -> None:
    """The collector alone, and a typical chain; one message a question, and less noise."""
    plan = make_plan(SURVEY)
    devices, one, chain = noise_sources(plan)
    assert [devices.chosen, one.chosen, chain.chosen] == [True, False, False]
    assert (devices.messages, devices.bytes) == (plan.messages, 54 * plan.messages)
    assert (one.messages, one.bytes) == (2, 108)
    assert chain.bytes == 2 * (6 + 48 * TYPICAL_CHAIN)
    assert one.worst < devices.best
    assert Assumption.ONE_HONEST_MIXER in one.assumptions
    assert Assumption.HONEST_CROWD in devices.assumptions


@pytest.mark.check
def test_what_a_chain_is_said_to_give_it_gives() -> None:
    """The numbers are those of the plan that such a survey would have."""
    said = noise_sources(make_plan(SURVEY))[2]
    made = make_plan(mixed(TYPICAL_CHAIN))
    widths = [made.precision_of(name).half_width_95 for name in ("a", "c")]
    assert [said.best, said.worst] == pytest.approx([min(widths), max(widths)], rel=2e-5)
    own = [option for option in noise_sources(made) if option.chosen]
    assert [option.mixers for option in own] == [TYPICAL_CHAIN]
    assert own[0].best == min(widths)
    assert own[0].dummies == said.dummies == made.expected_dummies


@pytest.mark.check
def test_dummies_are_counted_as_mixers_add_them() -> None:
    """Always 2R for a yes/no; R for each choice and for no answer; all of a long list's padding."""
    many = PickAny(name="m", choices=Choices([str(n) for n in range(40)]), at_most=2)
    plan = make_plan(replace(mixed(1), questions=(*QUESTIONS, many)))
    first, second, _ = (plan.law_of(lane).reach for lane in plan.lanes)
    assert plan.expected_dummies == 2 * first + 4 * second + plan.mixing.paddings[2]
    assert make_plan(SURVEY).expected_dummies == 0


@pytest.mark.check
def test_a_small_crowd_leaves_mixers_alone() -> None:
    """Where devices' noise would drown every count, it is no option."""
    small = replace(mixed(3), policy=replace(POLICY, minimum_crowd=2))
    options = noise_sources(make_plan(small))
    assert [(option.noise, option.mixers) for option in options] == [("mixers", 1), ("mixers", 3)]
    assert math.isclose(options[1].best, math.sqrt(3) * options[0].best)


@pytest.mark.check
def test_what_mixers_cannot_promise_is_not_offered() -> None:
    """A cap on ε₀, and whole records, need devices' noise."""
    capped = replace(SURVEY, policy=replace(POLICY, max_local_epsilon=20.0))
    assert [option.noise for option in noise_sources(make_plan(capped))] == ["devices"]
    records = replace(SURVEY, linkage=Linkage.RECORD)
    assert noise_sources(make_plan(records)) == ()


def test_one_layer_is_as_long_as_today() -> None:
    """A message that is sealed for the analyst alone."""
    assert sealed_bytes(1) == length_at(small_plan(), 1)
