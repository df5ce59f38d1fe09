"""η and δ for every λ at once, held against enumeration one λ at a time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InternalError
from krand_lab.enumeration import Vector, exact_outlier, exact_privacy
from krand_lab.statements.worst_case import profiles
from krand_lab.statements.worst_case.profiles import (
    Bound,
    Case,
    Profile,
    outcome_weights,
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


def test_two_users_by_hand() -> None:
    """One bit, N = 2, q = 1/4: R is 5/3 and 3 beyond 1, and every step is where it belongs."""
    p = profile(outlier(2, 1, Fraction(1, 4)))
    assert [ratio(v) for v in p.values] == [Fraction(5, 3), Fraction(3)]
    assert p.eta(ONE) == Fraction(13, 16)
    assert p.eta(Fraction(5, 3)) == Fraction(3, 16)
    assert p.eta(Fraction(3)) == 0
    assert p.delta(ONE) == Fraction(6, 16)
    assert p.delta(Fraction(2)) == Fraction(1, 16)


def test_cells_are_the_numbers_of_set_bits() -> None:
    """The outlier pair needs L+1 cells, not 2^L; bits on which all agree need none."""
    q = Fraction(1, 5)
    assert len(outcome_weights(outlier(1, 6, q))) == 7
    agreed = Case(((0, 1, 1),), (0, 1, 1), (1, 1, 1), q)
    assert len(outcome_weights(agreed)) == 3


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


def test_a_crossing_decides() -> None:
    """N = 2, L = 2, q = 1/3: δ exceeds both directions of the outlier pair between values of R."""
    star = outlier(2, 2, Fraction(1, 3))
    sides = profile(star), profile(star.swapped())
    bound, p = Bound.of(sides), profile(Case(((0, 1),), (0, 0), (1, 1), star.q))
    assert all(p.delta(ratio(v)) <= bound.delta(ratio(v)) for s in (p, *sides) for v in s.values)
    assert p.delta(ONE) <= bound.delta(ONE)
    beyond = [ratio(lam) for lam, own, allowed in bound.delta_against(p) if own > allowed]
    assert beyond == [Fraction(25, 13)]
    assert p.delta(Fraction(25, 13)) == Fraction(38, 351)
    assert bound.delta(Fraction(25, 13)) == Fraction(36, 351)


def test_a_bound_in_another_scale() -> None:
    """Rescaling changes no value, and a pair of another scale is refused."""
    p = profile(outlier(3, 1, Fraction(1, 4)))
    bound = Bound.of([p])
    larger = bound.in_scale(bound.scale * 4**3)
    for lam in turning_points(p):
        assert (larger.eta(lam), larger.delta(lam)) == (bound.eta(lam), bound.delta(lam))
    with pytest.raises(InternalError):
        list(larger.eta_against(p))
    with pytest.raises(InternalError):
        list(larger.delta_against(p))
    with pytest.raises(InternalError):
        bound.in_scale(bound.scale * 4 + 1)
    with pytest.raises(InternalError):
        Bound.of([p, profile(outlier(2, 1, Fraction(1, 4)))])


def test_lost_probability_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the outcomes do not sum to one nothing is returned."""
    monkeypatch.setattr(profiles, "outcome_weights", lambda _case: [(1, 2), (1, 1)])
    with pytest.raises(InternalError):
        profile(outlier(2, 1, Fraction(1, 3)))
