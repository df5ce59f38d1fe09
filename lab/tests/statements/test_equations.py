"""Single equations of the drafts: smallest counterexamples by hand, and the ranges."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from krand_lab import formulas as drafts
from krand_lab.enumeration import collection_law
from krand_lab.statements.notation import where
from krand_lab.statements.ranges import count_law, square_noises

# --- smallest counterexamples by hand -----------------------------------------------------------


@pytest.mark.parametrize(("copies", "crowd"), [(2, 3), (3, 2)])
def test_bounds_of_the_sum_by_drawing(copies: int, crowd: int) -> None:
    """(1.12) and (5.13) draw k reports with replacement, R without: seen by all the draws."""
    q, reports = Fraction(1, 4), copies * crowd
    draws = list(product(range(reports), repeat=copies))
    distinct = [draw for draw in draws if len(set(draw)) == copies]

    def mean(odds: Fraction, ones: int, chosen: list[tuple[int, ...]]) -> Fraction:
        values = [odds ** (copies - 2 * sum(j < ones for j in draw)) for draw in chosen]
        return sum(values, Fraction(0)) / len(values)

    for s in range(reports + 1):
        for odds, bound, exact in (
            (q / (1 - q), drafts.inverse_ratio_bound_000_1_12, drafts.inverse_ratio_copies_000_1_8),
            ((1 - q) / q, drafts.ratio_bound_003_5_13, drafts.ratio_copies_003_5_9),
        ):
            assert mean(odds, s, draws) == bound(crowd, s, q, copies)
            assert mean(odds, s, distinct) == exact(crowd, s, q, copies)


def test_anonymity_by_hand() -> None:
    """Two equal bits have A_p = 1 at any noise, and their ratio reaches p/q."""
    for q in (Fraction(1, 4), Fraction(1, 100), Fraction(1, 10**6)):
        assert drafts.anonymity_003_3([(0,), (0,)], q) == 1
        same, changed = collection_law([(0,)] * 2, q), collection_law([(0,), (1,)], q)
        assert max(changed[s] / same[s] for s in same) == (1 - q) / q


# --- ranges -------------------------------------------------------------------------------------


def test_ranges() -> None:
    """Squares have a root of pq; a case is named by its letters."""
    assert square_noises(3) == (Fraction(1, 5), Fraction(1, 10), Fraction(4, 13))
    assert where(N=2, q=Fraction(1, 3), x="01") == r"$N=2$, $q=\frac{1}{3}$, $x=01$"


@pytest.mark.parametrize(("crowd", "ones", "copies"), [(3, 1, 1), (2, 2, 2), (1, 0, 3)])
def test_count_law(crowd: int, ones: int, copies: int) -> None:
    """The enumerated law of the count is that of independent flips, bit by bit."""
    q = Fraction(1, 5)
    bits = ((1,) * ones + (0,) * (crowd - ones)) * copies
    expected = [Fraction(0)] * (len(bits) + 1)
    for seen in product((0, 1), repeat=len(bits)):
        flips = sum(a != b for a, b in zip(bits, seen, strict=True))
        expected[sum(seen)] += q**flips * (1 - q) ** (len(bits) - flips)
    assert list(count_law(crowd, ones, q, copies)) == expected
