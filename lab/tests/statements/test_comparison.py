"""Which cases are looked at, and what is reported of those that exceed a bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import pytest

from krand_lab.enumeration import Vector, exact_worst, vectors
from krand_lab.statements.worst_case.comparison import (
    Excess,
    Measure,
    Tally,
    compare,
    largest_excess,
    merged,
    neighbours,
    place,
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


@pytest.mark.parametrize(("crowd", "bits", "number"), [(2, 1, 2), (2, 2, 7), (3, 2, 17)])
def test_number_of_cases(crowd: int, bits: int, number: int) -> None:
    """Few enough to list by hand: y' = 10 before 00, 01, 10, 11; y' = 11 before 00, 01, 11."""
    assert len(list(dense_cases(crowd, bits, Q))) == number


@pytest.mark.parametrize("lam", [Fraction(1), Fraction(7, 5), Fraction(3)])
def test_the_worst_is_the_worst(lam: Fraction) -> None:
    """The largest η and δ of the reduced cases are those of full enumeration."""
    bound = Bound.of([profile(c) for c in dense_cases(3, 2, Q)])
    worst = exact_worst(3, vectors(2), Q, lam).value
    assert bound.eta(lam) == worst.eta_forward == worst.eta_reverse
    assert bound.delta(lam) == worst.delta_forward == worst.delta_reverse


def test_tallies_of_three_users() -> None:
    """One bit, N = 3: of three backgrounds the mixed one exceeds both directions."""
    star = outlier(3, 1, Fraction(1, 3))
    there, back = profile(star), profile(star.swapped())
    one_way, both = compare(dense_cases(3, 1, star.q), [Bound.of([there]), Bound.of([there, back])])
    assert (one_way[Measure.DELTA].cases, one_way[Measure.DELTA].failures) == (3, 2)
    assert (both[Measure.DELTA].cases, both[Measure.DELTA].failures) == (3, 1)
    mixed = Case(((0,), (1,)), (0,), (1,), star.q)
    assert both[Measure.DELTA].largest == Excess(
        mixed, Measure.DELTA, Fraction(1), Fraction(5, 27), Fraction(4, 27)
    )
    assert both[Measure.ETA].count().first_failure == (
        r"$N = 3$, $q = \frac{1}{3}$, of the others 1 holds $0$ and 1 holds $1$, the user changes "
        r"from $0$ to $1$; at $\lambda = 1$, $\eta = \frac{16}{27}$ against $\frac{11}{27}$"
    )


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


def test_merging_keeps_the_first_and_the_largest() -> None:
    """Counts add, the earliest failure stays the first, the largest factor wins."""
    star = outlier(3, 1, Q)
    bound = Bound.of([profile(star), profile(star.swapped())])
    small, large = (
        Excess(star, Measure.ETA, Fraction(2), value, Fraction(1, 9))
        for value in (Fraction(2, 9), Fraction(3, 9))
    )
    none = Tally(Measure.ETA, 5, 0, None, None)
    first = Tally(Measure.ETA, 4, 1, (star, bound), large)
    second = Tally(Measure.ETA, 3, 2, (star.swapped(), bound), small)
    assert merged([none, first, second]) == Tally(Measure.ETA, 12, 3, (star, bound), large)
    assert merged([none]) == none
    assert none.count().first_failure is None


def test_the_largest_factor_not_the_largest_difference() -> None:
    """Of two excesses the one with the larger quotient is reported; equality is none."""
    assert largest_excess([((1, 1), 90, 50), ((1, 2), 3, 1), ((1, 3), 0, 0)]) == ((1, 2), 3, 1)
    assert largest_excess([((1, 1), 5, 5), ((1, 2), 0, 0)]) is None


@pytest.mark.parametrize(
    ("background", "words"),
    [
        ((), "nobody else"),
        (((0, 1),), "the other holds $01$"),
        (((0, 1),) * 3, "all others hold $01$"),
        (((0, 1), (0, 0), (0, 1)), "of the others 1 holds $00$ and 2 hold $01$"),
    ],
)
def test_a_case_in_words(background: tuple[Vector, ...], words: str) -> None:
    """What the others hold is counted, what the user changes is named."""
    told = place(Case(background, (1, 0), (1, 1), Fraction(1, 4)))
    assert told == (
        rf"$N = {len(background) + 1}$, $q = \frac{{1}}{{4}}$, {words}, the user changes from "
        "$10$ to $11$"
    )
