"""A mechanism that drops tokens is covered by the promise of one that never does, and τ."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from krand.accounting.coupling import allowed_distance, delta_of_distance
from krand.accounting.division import Share, assess_shares, divide_noise
from krand.promise import NOISE_GRID, Policy

Law = dict[tuple[int, ...], float]
Answers = tuple[tuple[int, ...], ...]
POSITIONS = 3
NONE = (0,) * POSITIONS
REPORTS = tuple(itertools.product((0, 1), repeat=POSITIONS))
CHOICE = tuple(report for report in REPORTS if sum(report) <= 1)
"""A choice that may be left out: one answer differs from another at two positions."""


def sent(answer: tuple[int, ...], q: float, room: int) -> Law:
    """The law of what one person sends: flips, then any `room` of the ones that are there."""
    law: Law = defaultdict(float)
    for reported in REPORTS:
        flips = sum(a != b for a, b in zip(answer, reported, strict=True))
        mass = q**flips * (1 - q) ** (POSITIONS - flips)
        ones = [place for place, bit in enumerate(reported) if bit]
        kept = list(itertools.combinations(ones, min(room, len(ones))))
        for some in kept:
            law[tuple(int(place in some) for place in range(POSITIONS))] += mass / len(kept)
    return law


def counts(laws: Iterable[Law]) -> Law:
    """The law of the sums that an analyst sees."""
    total: Law = {NONE: 1.0}
    for law in laws:
        more: Law = defaultdict(float)
        for (a, x), (b, y) in itertools.product(total.items(), law.items()):
            more[tuple(map(sum, zip(a, b, strict=True)))] += x * y
        total = more
    return total


def pairs(people: int, q: float, room: int, answers: Answers) -> Iterator[tuple[Law, Law]]:
    """The laws of every two neighbouring collections, in both orders."""
    laws = {answer: sent(answer, q, room) for answer in answers}
    for others in itertools.combinations_with_replacement(answers, people - 1):
        background = counts(laws[answer] for answer in others)
        seen = {answer: counts((background, laws[answer])) for answer in answers}
        for one, other in itertools.permutations(answers, 2):
            yield seen[one], seen[other]


def true_delta_and_eta(
    people: int, q: float, room: int, epsilon: float, answers: Answers = CHOICE
) -> tuple[float, float]:
    limit, delta, eta = math.exp(epsilon), 0.0, 0.0
    for one, other in pairs(people, q, room, answers):
        loud = {s: x for s, x in one.items() if x > limit * other.get(s, 0.0) * (1 + 1e-12)}
        delta = max(delta, sum(x - limit * other.get(s, 0.0) for s, x in loud.items()))
        eta = max(eta, sum(loud.values()))
    return delta, eta


@pytest.mark.slow
@pytest.mark.parametrize("room", [1, 2])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 6.0])
@pytest.mark.parametrize("q", [1 / 64, 1 / 16, 1 / 4])
def test_dropping_is_covered_by_the_promise(q: float, epsilon: float, room: int) -> None:
    """Every background of two others and every pair of answers, by enumeration."""
    people = 3
    overflow = max(
        sum(mass for reported, mass in sent(answer, q, POSITIONS).items() if sum(reported) > room)
        for answer in CHOICE
    )
    policy, numerators = (
        Policy(epsilon=epsilon, minimum_crowd=people, delta=0.5),
        [round(q * NOISE_GRID)],
    )
    bound = assess_shares(policy, [Share(2)], numerators, distance=people * overflow)
    delta, eta = true_delta_and_eta(people, q, room, epsilon)
    assert bound.delta.lower <= delta <= bound.delta.upper
    assert eta <= bound.eta.upper


def test_dropping_can_cost_more_than_what_never_drops() -> None:
    """So the term is needed: three free bits and room for one of them."""
    dropping, _ = true_delta_and_eta(2, 0.05, 1, 5.0, REPORTS)
    whole, _ = true_delta_and_eta(2, 0.05, POSITIONS, 5.0, REPORTS)
    assert dropping > 1.05 * whole


@pytest.mark.check
@pytest.mark.parametrize("epsilon", [0.01, 4.0])
@pytest.mark.parametrize("limit", [{"delta": 1e-6}, {"eta": 1e-3}])
def test_planning_leaves_room_for_what_dropping_costs(
    epsilon: float, limit: dict[str, float]
) -> None:
    """The promise is kept with the whole distance, which costs a thousandth or less."""
    policy = Policy(epsilon=epsilon, minimum_crowd=3_000, **limit)
    distance = allowed_distance(policy)
    found = divide_noise(policy, [Share(2), Share(3)], distance=lambda _: distance)
    bare = assess_shares(policy, found.shares, found.numerators)
    if policy.delta is not None:
        assert found.promise.delta <= policy.delta
        assert bare.delta.upper <= 0.9991 * policy.delta
        assert delta_of_distance(distance, epsilon) == pytest.approx(policy.delta / 1000)
    else:
        assert policy.eta is not None
        assert bare.eta.upper < found.promise.eta <= policy.eta
        assert found.promise.eta - bare.eta.upper <= 1.0001 * policy.eta / 1000
