"""Single equations of the drafts: smallest counterexamples by hand, and the ranges."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from krand_lab import formulas as drafts

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


# --- ranges -------------------------------------------------------------------------------------
