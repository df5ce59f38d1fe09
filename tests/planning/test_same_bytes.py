"""The same survey gives the same plan, byte for byte, on every machine.

A plan's hash is what people compare. So a plan holds no digit that rounding errors can change, and
no search lets them decide. The errors here are ten thousand times those of real machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from krand.planning.checking import verify_promise
from krand.planning.making import make_plan
from krand.promise import BOUND_DIGITS, PRECISION_DIGITS, Linkage, Policy
from krand.showing import rounded_up
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Question, Scale, Words, YesNo
from krand.survey.survey import Survey, Together, Trust
from perturbing import DIRECTIONS, forget_results, perturbed
from schedules import days

Asked = Callable[[str], Question]


def yes_no(name: str) -> Question:
    return YesNo(name=name)


def choice(count: int, weight: float = 1.0) -> Asked:
    choices = Choices(f"c{number}" for number in range(count))
    return lambda name: Choice(name=name, choices=choices, weight=weight)


def pick(count: int, at_most: int, weight: float = 1.0) -> Asked:
    choices = Choices(f"c{number}" for number in range(count))
    return lambda name: PickAny(name=name, choices=choices, at_most=at_most, weight=weight)


def scale(name: str) -> Question:
    return Scale(name=name, lowest=1, highest=5)


def number(name: str) -> Question:
    return Number(name=name, edges=(0, 5, 10, 20, 50), open_above=True)


def words(name: str) -> Question:
    return Words(name=name, size=256, hashes=2)


def policy(epsilon: float, crowd: int, delta: float | None = 1e-6, **more: Any) -> Policy:
    kept = None if "eta" in more else delta
    return Policy(epsilon=epsilon, minimum_crowd=crowd, delta=kept, **more)


def survey(promised: Policy, *asked: Asked, rounds: int = 1, **more: Any) -> Survey:
    questions = tuple(ask(f"q{place}") for place, ask in enumerate(asked))
    more |= {"rounds": rounds, "schedule": days(rounds)}
    return Survey(id="s", policy=promised, questions=questions, **more)


def mixers(count: int = 1) -> Trust:
    return Trust(noise=mechanisms.MIXERS, mixers=count)


RECORD = {"linkage": Linkage.RECORD}
PAIR = (Together(("q0", "q1"), None),)

QUICK = {
    "one yes/no": survey(policy(1, 1000), yes_no),
    "a small crowd": survey(policy(2, 30, 1e-2), yes_no),
    "a cap with many digits": survey(
        policy(2, 1000, 1e-3, max_local_epsilon=6.54321), yes_no, choice(3)
    ),
    "records of few people": survey(policy(2, 200, 1e-2), yes_no, yes_no, **RECORD),
    "mixers": survey(policy(1, 2), yes_no, trust=mixers()),
}
SLOW = {
    "η": survey(policy(1, 1000, eta=1e-4), yes_no),
    "a million people": survey(policy(1, 10**6), yes_no, choice(5)),
    "a billion people": survey(policy(0.1, 10**9, 1e-9), yes_no, scale),
    "a privacy blanket": survey(policy(0.01, 10**11, 1e-12), yes_no),
    "weights": survey(policy(1, 20_000, 1e-5), yes_no, choice(3, 4.0), pick(3, 2)),
    "many weights": survey(policy(1, 100_000), *(choice(n, n / 3) for n in range(2, 9))),
    "words": survey(policy(2, 5000, 1e-5), words, yes_no),
    "a number": survey(policy(1, 50_000, 1e-7), number),
    "a group": survey(policy(1, 100_000), yes_no, choice(4), together=PAIR),
    "two groups": survey(
        policy(1, 100_000, colluding=5000),
        yes_no,
        choice(4),
        scale,
        together=(*PAIR, Together(("q1", "q2"), 2.0)),
    ),
    "rounds": survey(policy(1, 10_000), choice(60), rounds=12),
    "rounds, η": survey(policy(1, 10_000, eta=1e-3), choice(6), rounds=3),
    "δ with many digits": survey(policy(0.7, 12_345, 1.2345678e-7), pick(8, 3)),
    "a very small δ": survey(policy(3, 100_000, 1e-15), choice(4)),
    "forty yes/no": survey(policy(1, 10**7, 1e-9), *[yes_no] * 40),
    "records": survey(policy(1, 50_000, 1e-5), yes_no, choice(3), **RECORD),
    "copies": survey(policy(1, 20_000, 1e-5), yes_no, yes_no, copies=4, **RECORD),
    "records, η": survey(policy(1, 50_000, eta=1e-4), yes_no, yes_no, yes_no, **RECORD),
    "records, rounds": survey(policy(2, 20_000, 1e-5), pick(6, 2), rounds=3, **RECORD),
    "records with a cap": survey(
        policy(1, 100_000, 1e-5, max_local_epsilon=4), yes_no, yes_no, **RECORD
    ),
    "mixers, a choice": survey(policy(1, 2), choice(4), trust=mixers()),
    "mixers, η": survey(policy(1, 2, eta=1e-4), yes_no, scale, trust=mixers()),
    "a chain of mixers": survey(
        policy(0.5, 2, 1e-8), yes_no, choice(5), pick(6, 3), trust=mixers(3), rounds=2
    ),
    "mixers, twenty yes/no": survey(policy(0.5, 2), *[yes_no] * 20, trust=mixers()),
    "mixers, weights": survey(
        policy(1, 2), yes_no, choice(4, 3.0), pick(5, 2, 0.5), trust=mixers()
    ),
    "mixers, a group": survey(policy(1, 2), yes_no, choice(4), together=PAIR, trust=mixers()),
    "mixers, words": survey(policy(2, 2), words, trust=mixers()),
    "mixers, a crowd": survey(policy(1, 500, 1e-4), scale, number, trust=mixers(2)),
}
SURVEYS = QUICK | SLOW
CASES = [
    pytest.param(name, direction, marks=[pytest.mark.long] if later else [])
    for number, name in enumerate(SURVEYS)
    for place, direction in enumerate(DIRECTIONS)
    for later in [name in SLOW and number % len(DIRECTIONS) != place]
]
"""Surveys that take long to plan meet one kind of errors each, in turn, and all in `make long`."""


@pytest.fixture(scope="module")
def plans() -> Iterator[Callable[[str], Plan]]:
    """As they are made here, each once."""
    made: dict[str, Plan] = {}

    def plan_of(name: str) -> Plan:
        if name not in made:
            forget_results()
            made[name] = make_plan(SURVEYS[name])
        return made[name]

    yield plan_of
    forget_results()


def test_there_are_surveys_of_all_kinds() -> None:
    """With every kind of question and every source of noise."""
    kinds = {question.kind for one in SURVEYS.values() for question in one.questions}
    assert len(kinds) == 6
    assert {one.trust.noise for one in SURVEYS.values()} == set(mechanisms.mechanisms())


@pytest.mark.check
@pytest.mark.parametrize(("name", "direction"), CASES)
def test_rounding_errors_do_not_change_a_plan(
    name: str, direction: str, plans: Callable[[str], Plan]
) -> None:
    """Not a digit of it, whichever way logarithms, exponentials, transforms and sums are off."""
    expected = plans(name)
    with perturbed(direction):
        assert make_plan(SURVEYS[name]).bytes == expected.bytes


@pytest.mark.check
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", ["one yes/no", "records of few people", "a cap with many digits"])
def test_the_errors_reach_the_bounds(
    name: str, direction: str, plans: Callable[[str], Plan]
) -> None:
    """Before they are rounded, bounds differ, by far less than what rounding takes away."""
    plan = plans(name)
    forget_results()
    exact = verify_promise(plan)
    with perturbed(direction):
        disturbed = verify_promise(plan)
    asked = plan.survey.policy
    assert disturbed != exact
    assert disturbed.delta == pytest.approx(exact.delta, rel=1e-7)
    assert disturbed.rounded(asked) == exact.rounded(asked)


@pytest.mark.parametrize("name", QUICK)
def test_computed_numbers_are_rounded_up(name: str, plans: Callable[[str], Plan]) -> None:
    """A plan never states less than was computed, and keeps its policy in the digits it has."""
    plan = plans(name)
    true, asked = verify_promise(plan), plan.survey.policy
    for told, found in (
        (plan.promise.delta, true.delta),
        (plan.promise.eta, true.eta),
        (plan.promise.local_epsilon, true.local_epsilon),
    ):
        assert told == rounded_up(told, BOUND_DIGITS)
        assert found <= told <= found * (1 + 10 ** (1 - BOUND_DIGITS)) or told == asked.limit
    for block in plan.blocks:
        assert block.precision.sigma == rounded_up(block.precision.sigma, PRECISION_DIGITS)
    assert plan.promise.delta <= (asked.delta or 1)
    assert plan.promise.eta <= (asked.eta or 1)
    assert plan.rounded() == plan
