"""The number of messages hides how many ones a submission holds; dropping some is covered."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from krand.accounting.bounds import allowed_distance, delta_of_distance
from krand.accounting.division import Share, assess_shares, divide_noise
from krand.accounting.volume import Tokens, messages_needed, overflow_bound
from krand.promise import NOISE_GRID, Policy

MOST = 1e-15


def tokens(positions: int, most_ones: int, q: float) -> Tokens:
    return Tokens(positions, most_ones, max(1, math.ceil(q * NOISE_GRID)))


def overflow(block: Tokens, messages: int) -> float:
    """The exact probability of more ones than messages, when everybody sets the most ones."""
    law, q = np.ones(1), block.numerator / NOISE_GRID
    for count, p in ((block.most_ones, 1 - q), (block.positions - block.most_ones, q)):
        law = np.convolve(law, binom.pmf(np.arange(count + 1), count, p))
    return min(1.0, float(law[messages + 1 :].sum()))


CASES = [
    tokens(40, 40, 0.002),
    tokens(10, 1, 0.003),
    tokens(2000, 1, 0.001),
    tokens(300, 3, 0.1),
    tokens(1, 1, 0.2),
    tokens(5, 1, 0.45),
]


@pytest.mark.parametrize("most", [1e-6, MOST, 1e-30])
@pytest.mark.parametrize("block", CASES)
def test_overflows_are_rarer_than_promised(block: Tokens, most: float) -> None:
    """By the exact law; and far fewer messages would not do."""
    needed = messages_needed(block, most)
    assert overflow(block, needed) <= overflow_bound(block, needed) <= most
    assert needed <= block.positions
    if needed < block.positions:
        flips = needed - block.most_ones
        assert overflow(block, needed - flips // 3 - 1) > most


@pytest.mark.parametrize("block", CASES)
def test_the_bound_on_overflows_holds_for_every_room(block: Tokens) -> None:
    """It is at least the exact tail, never grows with the room, and is 0 where everything fits."""
    positions = block.positions
    bounds = [overflow_bound(block, room) for room in range(positions + 2)]
    assert bounds == sorted(bounds, reverse=True)
    assert all(overflow(block, room) <= bounds[room] for room in range(positions))
    assert bounds[positions:] == [0.0, 0.0]


def test_a_bound_too_small_to_be_written_needs_room_for_everything() -> None:
    """A policy whose thousandth underflows is not met by a number that underflows too."""
    assert messages_needed(tokens(2000, 1, 1e-9), 0.0) == 2000
    assert messages_needed(tokens(2000, 1, 1e-9), 1e-300) < 100
    assert overflow_bound(tokens(2000, 1, 1e-9), 1999) > 0


@given(st.integers(1, 10**6), st.floats(1e-7, 0.49), st.integers(1, 50))
def test_there_is_always_room_for_what_is_expected(positions: int, q: float, ones: int) -> None:
    """At least the mean, at most every position, and more noise never needs fewer messages."""
    ones = min(ones, positions)
    noises = (q, min(0.499, 1.5 * q))
    few, many = (messages_needed(tokens(positions, ones, r), MOST) for r in noises)
    assert ones + tokens(positions, ones, q).flips <= few + 1
    assert ones <= few <= positions
    assert few <= many


def test_a_choice_of_a_million_needs_few_messages() -> None:
    """At q = 2e-6 two flips are expected; the submission stays below thirty messages."""
    assert messages_needed(tokens(10**6, 1, 2e-6), MOST) < 30


def test_forty_facts_need_little_more_than_their_answers() -> None:
    """Thirteen answers among forty positions and few flips: some messages more, not forty."""
    assert messages_needed(tokens(40, 13, 0.003), MOST) < 25


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
    assert delta <= bound.delta
    assert eta <= bound.eta


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
    shares = [Share(2), Share(3)]
    found = divide_noise(policy, shares, distance=lambda _: distance)
    bare = assess_shares(policy, shares, found.numerators)
    if policy.delta is not None:
        assert found.promise.delta <= policy.delta
        assert bare.delta <= 0.9991 * policy.delta
        assert delta_of_distance(distance, epsilon) == pytest.approx(policy.delta / 1000)
    else:
        assert bare.eta < found.promise.eta <= policy.eta
        assert found.promise.eta - bare.eta <= 1.0001 * policy.eta / 1000
