"""Single equations of the drafts: smallest counterexamples by hand, and the ranges."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest

from krand_lab import formulas as drafts
from krand_lab.enumeration import collection_law
from krand_lab.statements.notation import where
from krand_lab.statements.ranges import count_law, square_noises

# --- smallest counterexamples by hand -----------------------------------------------------------


def test_the_noise_of_000_1_23_lets_the_ratio_exceed_lambda() -> None:
    """Twenty users, five copies, q = 1/5, eight ones of a hundred: R is 28, λ was to be 19.9."""
    p, q, s = Fraction(4, 5), Fraction(1, 5), 8
    zeros = comb(100, s) * q**s * p ** (100 - s)
    with_one = sum(
        comb(95, s - i) * q ** (s - i) * p ** (95 - s + i) * comb(5, i) * p**i * q ** (5 - i)
        for i in range(6)
    )
    assert zeros / with_one == Fraction(30593024, 1090447)
    lam = 1 / (1 - 3 * (p - q) / 4) ** 5  # √(qpkN) = √16 = 4
    assert lam == Fraction(3200000, 161051)
    assert zeros / with_one > lam


def test_termwise_bound_by_hand() -> None:
    """N = 1, k = 2, s = 1, i = 1: C(0,0)/C(2,1) = 1/2, while s(kN-s)/(kN)² = 1/4."""
    assert Fraction(comb(0, 0), comb(2, 1)) > Fraction(1 * 1, 2**2)


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


def test_modified_count_by_hand() -> None:
    """003 (4.31) at N = 1, i = 0: D_m is one zero, reported as it is with p; printed is pq."""
    p, q = Fraction(2, 3), Fraction(1, 3)
    assert count_law(1, 0, q)[0] == p
    assert p * q == Fraction(2, 9)


def test_anonymity_by_hand() -> None:
    """Two equal bits have A_p = 1 at any noise, and their ratio reaches p/q."""
    for q in (Fraction(1, 4), Fraction(1, 100), Fraction(1, 10**6)):
        assert drafts.anonymity_003_3([(0,), (0,)], q) == 1
        same, changed = collection_law([(0,)] * 2, q), collection_law([(0,), (1,)], q)
        assert max(changed[s] / same[s] for s in same) == (1 - q) / q


def test_conditioning_by_hand() -> None:
    """003 (7.13) at S = {0,0,1}, q = 1/3: odds 2 and 1/2 weighed 4 to 1 in place of 2 to 1."""
    assert (4 * Fraction(2) + Fraction(1, 2)) / 5 == Fraction(17, 10)
    same, changed = (collection_law([(1,), (1,), (x,)], Fraction(1, 3)) for x in (1, 0))
    assert changed[(0,), (0,), (1,)] / same[(0,), (0,), (1,)] == Fraction(3, 2)


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
