"""Which cases are looked at, and what is reported of those that exceed a bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import pytest

from krand_lab.enumeration import Vector, exact_worst, vectors
from krand_lab.statements.worst_case.comparison import (
    Measure,
    compare,
    neighbours,
    simplest_excess,
)
from krand_lab.statements.worst_case.maximality import dense_cases, outlier
from krand_lab.statements.worst_case.profiles import Bound, Case, Profile, profile

Q = Fraction(2, 7)


def every_case(crowd: int, answers: tuple[Vector, ...]) -> list[Case]:
    """All backgrounds and ordered pairs, without any use of symmetry."""
    return [
        Case(background, y, y_prime, Q)
        for y, y_prime in permutations(answers, 2)
        for background in combinations_with_replacement(answers, crowd - 1)
    ]


@pytest.mark.parametrize(("crowd", "bits"), [(1, 3), (2, 3), (3, 2), (4, 2), (6, 1)])
def test_symmetry_loses_no_law(crowd: int, bits: int) -> None:
    """The reduced dense cases have exactly the profiles that all cases have."""
    reduced: set[Profile] = {profile(c) for c in dense_cases(crowd, bits, Q)}
    assert reduced == {profile(c) for c in every_case(crowd, tuple(vectors(bits)))}


@pytest.mark.parametrize(
    "answers",
    [
        tuple(vectors(3, exactly=1)),
        tuple(vectors(3, max_set_bits=1)),
        tuple(vectors(4, exactly=2)),
    ],
)
def test_renaming_options_loses_no_law(answers: tuple[Vector, ...]) -> None:
    """The reduced sparse cases have exactly the profiles that all cases have."""
    kept = neighbours(3, answers, answers)
    assert len(set(kept)) == len(kept) < len(every_case(3, answers))
    assert {profile(Case(*c, Q)) for c in kept} == {profile(c) for c in every_case(3, answers)}


@pytest.mark.parametrize("lam", [Fraction(1), Fraction(7, 5), Fraction(3)])
def test_the_worst_is_the_worst(lam: Fraction) -> None:
    """The largest η and δ of the reduced cases are those of full enumeration."""
    bound = Bound.of([profile(c) for c in dense_cases(3, 2, Q)])
    worst = exact_worst(3, vectors(2), Q, lam).value
    assert bound.eta(lam) == worst.eta_forward == worst.eta_reverse
    assert bound.delta(lam) == worst.delta_forward == worst.delta_reverse


@pytest.mark.parametrize("measure", list(Measure))
def test_reported_excesses_are_real(measure: Measure) -> None:
    """The λ that is named, and the one of the largest factor, both exceed the bound."""
    star = outlier(3, 2, Q)
    bound = Bound.of([profile(star), profile(star.swapped())])
    tally = compare(dense_cases(3, 2, Q), [bound])[0][measure]
    assert tally.first is not None
    assert tally.largest is not None
    simple = simplest_excess(*tally.first, measure)
    for excess in (simple, tally.largest):
        p = profile(excess.case)
        own, allowed = (p.eta, bound.eta) if measure is Measure.ETA else (p.delta, bound.delta)
        assert excess.value == own(excess.lam) > allowed(excess.lam) == excess.allowed
        assert excess.lam >= 1
    assert simple.lam.denominator <= tally.largest.lam.denominator
    assert tally.largest.factor >= simple.factor
