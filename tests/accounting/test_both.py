"""Flips and dummies in one count: held against enumeration, and against each of them alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from krand.accounting.bit_bounds import EveryCrowd
from krand.accounting.both import BothBound, BothPart, both_profile, sum_of_dummies
from krand.accounting.bounds import Effort
from krand.accounting.dummies import DummyBound, dummy_law
from krand.errors import InternalError
from krand.promise import DUMMY_GRID, DummyLaw, Method

FLAT = DummyLaw((DUMMY_GRID - 2 * (DUMMY_GRID // 5) * 2, DUMMY_GRID // 5, DUMMY_GRID // 5))
HOLLOW = DummyLaw((DUMMY_GRID - 2 * 3 * 2**60, 2**60, 2 * 2**60))
"""Its ends are likelier than what lies before them: ratios do not grow with the count."""
LAWS = {"geometric": dummy_law(1.0, 1.0, 6), "flat": FLAT, "hollow": HOLLOW}


def _product(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] += a * b
    return found


def _worst(q: Fraction, crowd: int, law: DummyLaw, mixers: int, factor: float) -> float:
    """max over backgrounds and directions of Σ (P - λQ)⁺, by whole numbers."""
    yes, no = [q, 1 - q], [1 - q, q]  # the number of ones of somebody who answers 1, or 0
    weights = [Fraction(weight, DUMMY_GRID) for weight in law.weights]
    lam, worst = Fraction(factor), Fraction(0)
    for ones in range(crowd):
        others = [Fraction(1)]
        for law_of_one in [yes] * ones + [no] * (crowd - 1 - ones) + [weights] * mixers:
            others = _product(others, law_of_one)
        pair = [_product(others, own) for own in (yes, no)]
        for top, bottom in (pair, pair[::-1]):
            excess = (max(p - lam * r, Fraction(0)) for p, r in zip(top, bottom, strict=True))
            worst = max(worst, sum(excess, Fraction(0)))
    return float(worst)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("mixers", [1, 2])
def test_the_profile_is_that_of_every_background(name: str, mixers: int) -> None:
    """Never below the enumerated maximum, and equal to it but for rounding."""
    epsilons = np.array([0.0, 0.1, 0.5, 1.0])
    dummies = sum_of_dummies(LAWS[name], mixers)
    found = both_profile(0.25, 6, dummies, epsilons)
    for epsilon, bound in zip(epsilons, found, strict=True):
        true = _worst(Fraction(1, 4), 6, LAWS[name], mixers, math.exp(epsilon))
        assert true <= bound <= true * (1 + 1e-9) + 1e-14


def test_one_position_composes_to_its_profile() -> None:
    """δ of one position is at least the enumerated one, and hardly above."""
    part = BothPart(0.25, LAWS["geometric"], 1)
    bound = BothBound(parts=(part,), crowd=6, mixers=2, epsilon=0.2)
    true = _worst(Fraction(1, 4), 6, LAWS["geometric"], 2, math.exp(0.2))
    assert true <= bound.upper(0.2) <= 1.02 * true


def _composed(
    q: Fraction, crowd: int, law: DummyLaw, mixers: int, positions: int, factor: float
) -> Fraction:
    """max over patterns of falling positions of Σ (P - λQ)⁺, everybody else answering 0."""
    yes, no = [q, 1 - q], [1 - q, q]
    weights = [Fraction(weight, DUMMY_GRID) for weight in law.weights]
    others = [Fraction(1)]
    for law_of_one in [no] * (crowd - 1) + [weights] * mixers:
        others = _product(others, law_of_one)
    rising = list(zip(_product(others, yes), _product(others, no), strict=True))
    falling = [(bottom, top) for top, bottom in rising]
    worst = Fraction(0)
    for down in range(positions + 1):
        pairs = [(Fraction(1), Fraction(1))]
        for way in [falling] * down + [rising] * (positions - down):
            pairs = [(a * c, b * d) for a, b in pairs for c, d in way]
        excess = (max(top - Fraction(factor) * bottom, Fraction(0)) for top, bottom in pairs)
        worst = max(worst, sum(excess, Fraction(0)))
    return worst


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("mixers", "positions", "epsilon"), [(1, 1, 0.3), (2, 2, 0.2), (1, 2, 0)])
def test_the_lower_end_is_below_what_a_background_gives_away(
    name: str, mixers: int, positions: int, epsilon: float
) -> None:
    """By whole numbers: below the composition of one background, and within 2 % of it."""
    law = LAWS[name]
    bound = BothBound(
        parts=(BothPart(0.25, law, positions),), crowd=4, mixers=mixers, epsilon=epsilon
    )
    true = _composed(Fraction(1, 4), 4, law, mixers, positions, math.exp(epsilon))
    assert 0.98 * true <= bound.lower() <= true <= bound.upper(epsilon)


def test_the_two_ends_are_near_each_other() -> None:
    """A survey's worth of positions in a crowd of 1,000: the background hardly matters."""
    part = BothPart(0.02, dummy_law(1.0, 3.0, 50), 8)
    found = BothBound(parts=(part,), crowd=1_000, mixers=1, epsilon=1.0).delta(Effort.REPORT)
    assert 0.8 * found.upper < found.lower < found.upper


def test_a_lower_end_above_the_upper_one_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing clips it: one of the two would be wrong."""
    bound = BothBound(parts=(BothPart(0.25, FLAT, 1),), crowd=6, mixers=1, epsilon=0.2)
    monkeypatch.setattr(BothBound, "lower", lambda self: 0.9)
    with pytest.raises(InternalError):
        bound.delta(Effort.REPORT)


@pytest.mark.check
def test_both_are_better_than_each_alone() -> None:
    """A crowd of 2,000 and one mixer, four positions: noise adds up."""
    law, noise, epsilon = dummy_law(1.0, 3.0, 50), 0.02, 1.0
    both = BothBound(
        parts=(BothPart(noise, law, 4),), crowd=2_000, mixers=1, epsilon=epsilon
    ).delta(Effort.REPORT)
    flips = EveryCrowd(noises=((noise, 4),), crowd=2_000, epsilon=epsilon).delta(Effort.REPORT)
    dummies = DummyBound(parts=((law, 4),), epsilon=epsilon).delta(Effort.REPORT)
    assert 0 < both.upper < 0.5 * min(flips.upper, dummies.upper)


def test_no_noise_of_one_side_leaves_the_other() -> None:
    """A law that always adds the same number is no noise: the flips' own bound is left."""
    nearly = DummyLaw((DUMMY_GRID - 2, 1))
    both = BothBound(parts=(BothPart(0.05, nearly, 2),), crowd=500, mixers=1, epsilon=1.0).delta(
        Effort.REPORT
    )
    flips = EveryCrowd(noises=((0.05, 2),), crowd=500, epsilon=1.0).delta(Effort.REPORT)
    assert both.upper == pytest.approx(flips.upper, rel=1e-3)


def test_it_says_what_it_is() -> None:
    """Codes that plans and results carry."""
    bound = BothBound(parts=(BothPart(0.25, FLAT, 1),), crowd=6, mixers=1, epsilon=1.0)
    assert bound.method is Method.FLIPS_AND_DUMMIES
    assert bound.eta_method is Method.FLIPS_AND_DUMMIES_CONVERTED
    assert bound.delta(Effort.REPORT).upper <= bound.eta(Effort.REPORT).upper
