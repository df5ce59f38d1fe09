"""Noise divided among questions: the promise is kept, nothing is given away, nobody is favoured."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import LONG
from enumerated_crowds import worst_of_bits
from krand.accounting.calibration import plan_noise
from krand.accounting.division import DividedNoise, Share, assess_shares, divide_noise
from krand.errors import CannotMeet, InvalidInput
from krand.promise import NOISE_GRID, Policy, ResponseFormat

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=100_000)
SHARES = (Share(2), Share(1), Share(1, 4.0), Share(6))


def spread(q: float) -> float:
    return q * (1 - q) / (1 - 2 * q) ** 2


@pytest.fixture(scope="module")
def divided() -> DividedNoise:
    return divide_noise(POLICY, SHARES)


@pytest.mark.check
def test_one_kind_of_question_needs_the_planners_noise() -> None:
    """Forty bits alike: the same noise to the last bit, and the same promise."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**7)
    found, plan = divide_noise(policy, [Share(40)]), plan_noise(policy, ResponseFormat(40))
    assert found.numerators == (plan.noise_numerator,)
    assert found.promise.delta == pytest.approx(plan.promise.delta, rel=1e-9)
    assert found.promise.local_epsilon == pytest.approx(plan.promise.local_epsilon)


@pytest.mark.check
def test_equal_questions_may_be_listed_one_by_one() -> None:
    """Twenty shares of two bits are forty bits: √(t/w) is the same for all."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**7)
    found = divide_noise(policy, [Share(2)] * 20)
    assert set(found.numerators) == set(divide_noise(policy, [Share(40)]).numerators)


def test_the_promise_is_kept_and_no_smaller_noise_keeps_it(divided: DividedNoise) -> None:
    """One step of the grid less for the loudest share, and all others with it, is too little."""
    assert divided.promise.delta <= POLICY.delta  # type: ignore[operator]
    assert divided.promise.delta > 0.999 * 1e-6
    less = [max(1, math.floor(n * (1 - 1e-4))) for n in divided.numerators]
    assert assess_shares(POLICY, SHARES, less).delta > 1e-6


def test_the_spread_follows_the_square_root(divided: DividedNoise) -> None:
    """v ∝ √(t/w), rounded up to the grid."""
    noises = [numerator / NOISE_GRID for numerator in divided.numerators]
    unit = [spread(q) / share.ratio for q, share in zip(noises, SHARES, strict=True)]
    assert max(unit) == pytest.approx(min(unit), rel=1e-5)
    assert noises[2] < noises[1] < noises[3]


@pytest.mark.check
@pytest.mark.parametrize(("which", "factor"), [(0, 2.0), (2, 0.5), (3, 2.0)])
def test_no_other_division_is_better(divided: DividedNoise, which: int, factor: float) -> None:
    """To leading order: bending the division gains less than one per cent of weighted variance.

    The square root is the optimum for many flips; with some hundred of them, as here, the very
    best division is .6 % better.
    """

    def cost(shares: tuple[Share, ...], numerators: tuple[int, ...]) -> float:
        return sum(
            s.weight * spread(n / NOISE_GRID) for s, n in zip(shares, numerators, strict=True)
        )

    bent = list(SHARES)
    bent[which] = Share(bent[which].sensitivity, bent[which].weight * factor)
    other = divide_noise(POLICY, bent).numerators
    assert cost(SHARES, other) > 0.99 * cost(SHARES, divided.numerators)


@pytest.mark.check
@pytest.mark.parametrize("noises", [(0.1, 0.2), (0.05, 0.3)])
@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_two_bits_with_different_noises_against_every_background(
    noises: tuple[float, float], epsilon: float
) -> None:
    """In a crowd of eight the certificate covers the worst of all, and not by much."""
    numerators = [math.ceil(q * NOISE_GRID) for q in noises]
    fractions = [Fraction(numerator, NOISE_GRID) for numerator in numerators]
    exact = worst_of_bits(8, fractions, Fraction(math.exp(epsilon)))
    policy = Policy(epsilon=epsilon, delta=0.5, minimum_crowd=8)
    bound = assess_shares(policy, [Share(1), Share(1)], numerators).delta
    assert exact <= bound < 1.35 * exact


@pytest.mark.check
def test_rounds_multiply_the_changes() -> None:
    """Four rounds of one bit are four bits."""
    rounds = divide_noise(POLICY, [Share(1), Share(2)], rounds=4)
    flat = divide_noise(POLICY, [Share(4), Share(8)])
    assert rounds.numerators == flat.numerators
    assert rounds.promise.delta == pytest.approx(flat.promise.delta)


@pytest.mark.check
def test_colluders_are_planned_for() -> None:
    """c colluding users: the noise of a crowd that is smaller by c."""
    with_them = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=100_000, colluding=50_000)
    without = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=50_000)
    shares = SHARES[:2]
    assert divide_noise(with_them, shares).numerators == divide_noise(without, shares).numerators


@pytest.mark.check
def test_a_cap_on_what_collusion_reveals_is_kept() -> None:
    """ε₀ at or below the cap, at the price of more noise than δ asks for."""
    capped = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=100_000, max_local_epsilon=20.0)
    found = divide_noise(capped, SHARES)
    assert 19.99 < found.promise.local_epsilon <= 20.0
    assert found.promise.delta < 1e-6
    tiny = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=100_000, max_local_epsilon=1e-9)
    with pytest.raises(CannotMeet, match="ε₀"):
        divide_noise(tiny, SHARES)


@pytest.mark.check
def test_tails_can_be_promised_too() -> None:
    """η, converted from δ."""
    policy = Policy(epsilon=1.0, eta=1e-3, minimum_crowd=100_000)
    eta = assess_shares(policy, SHARES, divide_noise(policy, SHARES).numerators).eta
    assert 0.99e-3 < eta <= 1e-3


@pytest.mark.check
@pytest.mark.loop
@settings(max_examples=20 if LONG else 3, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 8), st.floats(0.25, 4)), min_size=1, max_size=4),
    st.sampled_from([300, 5_000, 10**6]),
)
def test_any_survey_is_divided(asked: list[tuple[int, float]], crowd: int) -> None:
    """Whatever is asked, the promise is kept for exactly the noises that are used."""
    shares = [Share(t, w) for t, w in asked]
    policy = Policy(epsilon=2.0, delta=1e-5, minimum_crowd=crowd)
    found = divide_noise(policy, shares)
    assert found.promise.delta <= 1e-5
    assert all(0 < n < NOISE_GRID // 2 for n in found.numerators)
    by_ratio = defaultdict(set)
    for share, n in zip(shares, found.numerators, strict=True):
        by_ratio[share.ratio].add(n)
    assert all(len(group) == 1 for group in by_ratio.values())


def test_what_has_no_meaning_is_refused() -> None:
    """No share, no change, no weight."""
    with pytest.raises(InvalidInput, match="shares"):
        divide_noise(POLICY, [])
    with pytest.raises(InvalidInput, match="sensitivity"):
        Share(0)
    with pytest.raises(InvalidInput, match="weight"):
        Share(1, 0.0)
