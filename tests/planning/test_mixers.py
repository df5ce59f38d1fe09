"""Plans in which mixers add the noise: promise, precision, padding, file."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from krand.errors import InvalidInput
from krand.planning.checking import check_promise, too_good, verify_promise
from krand.planning.making import make_plan
from krand.promise import Assumption, Linkage, Method, Policy
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.plan import Mixer, Plan
from krand.survey.plan_file import parse_plan
from krand.survey.questions import Choice, PickAny, Question, YesNo
from krand.survey.survey import Survey, Together, Trust
from schedules import days

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=12)
TRUST = Trust(noise=mechanisms.MIXERS, mixers=3)
LONG_LIST = Choices(tuple(f"option {number}" for number in range(40)))
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="pet", choices=Choices(("cat", "dog", "none"))),
    PickAny(name="places", choices=LONG_LIST, at_most=2),
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Twelve people, three mixers."""
    return make_plan(Survey(id="s", policy=POLICY, questions=QUESTIONS, trust=TRUST))


def test_the_promise_needs_one_mixer_and_no_crowd(plan: Plan) -> None:
    """It names what it rests on; without mixers there would be none."""
    assert plan.promise.assumptions == (
        Assumption.ONE_HONEST_MIXER,
        Assumption.SEALS_HOLD,
        Assumption.PARTICIPATION_VISIBLE,
    )
    assert plan.promise.method is Method.DUMMIES
    assert plan.promise.delta <= 1e-6
    assert math.isinf(plan.promise.local_epsilon)


def test_other_crowds_are_promised_the_same(plan: Plan) -> None:
    """799 instead of 800 people, or 2 with all others colluding."""
    for crowd in (2, 799, 10**6):
        found = verify_promise(plan, replace(POLICY, minimum_crowd=crowd))
        assert replace(found.rounded(POLICY), crowd=POLICY.minimum_crowd) == plan.promise


def test_every_mixer_adds_noise_that_suffices_alone(plan: Plan) -> None:
    """σ of a count is √3 times that of one mixer."""
    for block in plan.blocks:
        lane = next(lane for lane in plan.lanes if lane.block == block.name)
        sigma = math.sqrt(3 * plan.law_of(lane).variance)
        assert block.precision.sigma == pytest.approx(sigma, rel=1e-5)


def test_one_message_for_each_answer(plan: Plan) -> None:
    """Flips need no room; a dishonest person moves a yes/no or a choice by one."""
    assert plan.messages == 1 + 1 + 2
    shifts = [(block.shift.too_high, block.shift.too_low) for block in plan.blocks]
    assert shifts == [(1, 1), (1, 1), (2, 1)]


REGIONS = Choices(tuple(f"region {number}" for number in range(915)))
FORTY = tuple(YesNo(name=f"q{number}") for number in range(40))


@pytest.mark.parametrize(
    ("asked", "epsilon", "crowd", "sigma"),
    [((Choice(name="region", choices=REGIONS),), 1.0, 602_156, 2.80), (FORTY, 2.0, 10**7, 14.06)],
    ids=["915 options", "forty yes/no"],
)
def test_many_options_and_many_questions_are_precise(
    asked: tuple[Question, ...], epsilon: float, crowd: int, sigma: float
) -> None:
    """δ = 1e-6: one message for each question, and all have the same noise."""
    policy = Policy(epsilon=epsilon, delta=1e-6, minimum_crowd=crowd)
    found = make_plan(Survey(id="s", policy=policy, questions=asked, trust=Trust(noise="mixers")))
    assert found.messages == len(asked)
    assert len({round(block.precision.sigma, 9) for block in found.blocks}) == 1
    assert found.blocks[0].precision.sigma <= sigma


def test_padding_is_part_of_the_promise(plan: Plan) -> None:
    """A long list is filled up with nulls; less of them is a worse promise, which is refused."""
    assert [padding > 0 for padding in plan.mixing.paddings] == [False, False, True]
    assert 0 < plan.mixing.surplus <= 1e-9
    fewer = replace(plan.mixing, paddings=(0, 0, plan.mixing.paddings[2] - 200))
    changed = replace(plan, mixing=fewer)
    assert verify_promise(changed).delta > 1.0001 * plan.promise.delta
    assert list(too_good(changed.promise, verify_promise(changed)))
    with pytest.raises(InvalidInput, match="must not promise more"):
        check_promise(changed)


def test_every_round_may_have_a_surplus(plan: Plan) -> None:
    """The padding of each round is seen: all count, and all fit."""
    planned = make_plan(replace(plan.survey, rounds=3, schedule=days(3))).mixing
    assert 0 < 3 * planned.surplus <= 1e-9


def test_the_file_brings_everything_back(plan: Plan) -> None:
    """Weights as text; an infinite ε₀ as null; mixers with their keys."""
    mixers = (
        Mixer(name="collector", identity="ab" * 32),
        Mixer(name="university", identity="cd" * 32, keys=("ef" * 32,)),
    )
    mixed = plan.mixed_by(mixers)
    assert parse_plan(mixed.bytes) == mixed
    assert mixed.hash != plan.hash
    assert b'"local_epsilon":null' in plan.bytes
    assert verify_promise(parse_plan(mixed.bytes)).rounded(POLICY) == plan.promise


def test_weights_that_were_changed_are_refused(plan: Plan) -> None:
    """Less noise than promised does not add up, or does not keep the promise."""
    weight = str(plan.mixing.laws[0].half[1]).encode() if plan.mixing else b""
    broken = plan.bytes.replace(weight, str(int(weight) + 1).encode())
    with pytest.raises(InvalidInput, match="2\\^63"):
        parse_plan(broken)


def test_records_have_no_dummies() -> None:
    """2^L cells cannot be covered: the survey is refused, with what to do instead."""
    with pytest.raises(InvalidInput, match="dummies cannot cover") as caught:
        Survey(id="s", policy=POLICY, questions=QUESTIONS[:2], linkage=Linkage.RECORD, trust=TRUST)
    assert "together" in caught.value.hint


def test_a_group_is_estimated_by_its_cells() -> None:
    """A question of a group adds up cells, each with its noise."""
    asked, groups = QUESTIONS[:2], (Together(("smokes", "pet")),)
    found = make_plan(Survey(id="s", policy=POLICY, questions=asked, together=groups, trust=TRUST))
    smokes = found.precision_of("smokes")
    assert smokes.sigma == pytest.approx(math.sqrt(4) * found.blocks[0].precision.sigma, rel=1e-5)
