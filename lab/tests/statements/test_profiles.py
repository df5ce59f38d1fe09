"""η and δ for every λ at once, held against enumeration one λ at a time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand_lab.enumeration import Vector, exact_outlier, exact_privacy
from krand_lab.statements.worst_case.profiles import (
    Bound,
    Case,
    Profile,
    profile,
    ratio,
)

NOISES = st.fractions(Fraction(1, 30), Fraction(12, 25), max_denominator=30)
LAMBDAS = st.fractions(1, 12, max_denominator=12)
SIZES = st.sampled_from([(1, 1), (1, 2), (1, 4), (2, 1), (2, 2)])
"""Bits, and users in the background."""
ONE = Fraction(1)


@st.composite
def cases(draw: st.DrawFn, bits: tuple[int, int] = (1, 3), others: int = 3) -> Case:
    """A neighbouring pair of few users with few bits."""
    length = draw(st.integers(*bits))
    answer = st.tuples(*[st.integers(0, 1)] * length)
    background = draw(st.lists(answer, max_size=others if length < 3 else 2))
    return Case(tuple(background), draw(answer), draw(answer), draw(NOISES))


def turning_points(*found: Profile) -> list[Fraction]:
    """1, all values of R, and a λ between any two neighbours of these."""
    values = sorted({ONE, *(ratio(v) for p in found for v in p.values)})
    return values + [(a + b) / 2 for a, b in pairwise(values)] + [values[-1] + 1]


def lines(p: Profile) -> list[tuple[int, int]]:
    """Intercepts and slopes: δ is the largest of w' - λw."""
    return [(w_m, w) for w, w_m in p.tails]


def crossings(*found: Profile) -> Iterator[Fraction]:
    """Every λ ≥ 1 at which two straight pieces of any of the profiles meet."""
    pieces = sorted({line for p in found for line in lines(p)})
    for i, (a, b) in enumerate(pieces):
        for c, d in pieces[:i]:
            if b != d and (meeting := Fraction(a - c, b - d)) >= 1:
                yield meeting


def outlier(crowd: int, bits: int, q: Fraction) -> Case:
    zeros: Vector = (0,) * bits
    return Case((zeros,) * (crowd - 1), zeros, (1,) * bits, q)


@settings(max_examples=60, deadline=None)
@given(cases(), LAMBDAS)
def test_profile_agrees_with_enumeration(case: Case, lam: Fraction) -> None:
    """At any λ, and at and around every value of R, η and δ are those of plain enumeration."""
    there, back = profile(case), profile(case.swapped())
    points = turning_points(there, back)
    for at in [lam, *points[:: max(1, len(points) // 8)], points[-1]]:
        exact = exact_privacy(case.background, case.y, case.y_prime, case.q, at)
        assert (there.eta(at), there.delta(at)) == (exact.eta_forward, exact.delta_forward)
        assert (back.eta(at), back.delta(at)) == (exact.eta_reverse, exact.delta_reverse)


@pytest.mark.parametrize(("crowd", "bits"), [(40, 1), (12, 3), (4, 7)])
def test_outlier_pair_of_larger_crowds(crowd: int, bits: int) -> None:
    """For more users and bits than plain enumeration reaches, the histogram of bits agrees."""
    q = Fraction(3, 11)
    there = profile(outlier(crowd, bits, q))
    back = profile(outlier(crowd, bits, q).swapped())
    for lam in (ONE, Fraction(11, 10), Fraction(2), Fraction(31, 4)):
        exact = exact_outlier(crowd, bits, q, lam)
        assert (there.eta(lam), there.delta(lam)) == (exact.eta_forward, exact.delta_forward)
        assert (back.eta(lam), back.delta(lam)) == (exact.eta_reverse, exact.delta_reverse)


@settings(max_examples=40, deadline=None)
@given(st.data(), SIZES, NOISES)
def test_bound_is_the_largest_of_its_profiles(
    data: st.DataObject, size: tuple[int, int], q: Fraction
) -> None:
    """At every turning point and crossing the bound is the maximum of what it is made of."""
    made_of = [profile(same_size(data, size, q)) for _ in range(3)]
    if not any(p.values for p in made_of):
        return
    bound = Bound.of(made_of)
    for lam in [*turning_points(*made_of), *crossings(*made_of)]:
        assert bound.eta(lam) == max(p.eta(lam) for p in made_of)
        assert bound.delta(lam) == max(p.delta(lam) for p in made_of)


@settings(max_examples=60, deadline=None)
@given(st.data(), SIZES, NOISES)
def test_nothing_between_the_meetings_is_missed(
    data: st.DataObject, size: tuple[int, int], q: Fraction
) -> None:
    """A pair exceeds a bound at some λ if and only if it does at a meeting, by the same factor.

    The other side looks at every value of R, every crossing of two straight pieces, and between.
    """
    p, *made_of = (profile(same_size(data, size, q)) for _ in range(3))
    bound = Bound.of(made_of)
    points = {*turning_points(p, *made_of), *crossings(p, *made_of)}
    for largest, own, allowed in (
        (bound.eta_against(p), p.eta, bound.eta),
        (bound.delta_against(p), p.delta, bound.delta),
    ):
        seen = [Fraction(a, b) for _, a, b in largest if b] or [Fraction(0)]
        tried = [own(lam) / allowed(lam) for lam in points if allowed(lam)] or [Fraction(0)]
        assert max(max(seen), ONE) == max(max(tried), ONE)


def same_size(data: st.DataObject, size: tuple[int, int], q: Fraction) -> Case:
    """A pair y = 0…0, y' = 1…1 before any background of this size, in either direction."""
    bits, users = size
    answer = st.tuples(*[st.integers(0, 1)] * bits)
    background = data.draw(st.lists(answer, min_size=users, max_size=users))
    case = Case(tuple(background), (0,) * bits, (1,) * bits, q)
    return case.swapped() if data.draw(st.booleans()) else case
