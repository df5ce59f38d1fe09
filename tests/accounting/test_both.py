"""Flips and dummies in one count: held against enumeration, and against each of them alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from enumerated_crowds import Pair, convolved, count_laws, dummies_law, worst_of_pairs
from krand.accounting.bit_bounds import EveryCrowd
from krand.accounting.both import BothBound, BothPart, both_profile, sum_of_dummies
from krand.accounting.bounds import Effort
from krand.accounting.dummy_bounds import DummyBound, dummy_law
from krand.errors import InternalError
from krand.promise import DUMMY_GRID, DummyLaw, Method

FLAT = DummyLaw((DUMMY_GRID - 2 * (DUMMY_GRID // 5) * 2, DUMMY_GRID // 5, DUMMY_GRID // 5))
HOLLOW = DummyLaw((DUMMY_GRID - 2 * 3 * 2**60, 2**60, 2 * 2**60))
"""Its ends are likelier than what lies before them: ratios do not grow with the count."""
LAWS = {"geometric": dummy_law(1.0, 1.0, 6), "flat": FLAT, "hollow": HOLLOW}


def _pairs(q: Fraction, crowd: int, ones: int, law: DummyLaw, mixers: int) -> list[Pair]:
    """The laws of a count with both noises, for somebody who answers 0 or 1, and 1 or 0."""
    added = [dummies_law(law)] * mixers
    zero, one = (convolved(seen, *added) for seen in count_laws(crowd, ones, q))
    return [(zero, one), (one, zero)]


def _worst(q: Fraction, crowd: int, law: DummyLaw, mixers: int, factor: float) -> float:
    """max over backgrounds and directions of Σ (P - λQ)⁺, by whole numbers."""
    pairs = [pair for ones in range(crowd) for pair in _pairs(q, crowd, ones, law, mixers)]
    return float(worst_of_pairs([pairs], Fraction(factor)))


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
    pairs = _pairs(Fraction(1, 4), 4, 0, law, mixers)  # everybody else answers 0
    true = worst_of_pairs([pairs] * positions, Fraction(math.exp(epsilon)))
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
