"""Two averages of R that, unlike its tail, are largest where the drafts look for the worst case.

mean    E[R | D_m], the mean that 001 (3.12) plans with, exact
χ²      Σ_v (p(v|y') - p(v|y))²/f(v), f the average of p(v|x) over the background; to leading
        order N times the variance of log R
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

from krand_lab.enumeration import Vector, report_law
from krand_lab.statements.verdict import Cases, Count
from krand_lab.statements.worst_case.comparison import place
from krand_lab.statements.worst_case.profiles import Case, outcome_weights

_law = lru_cache(maxsize=4096)(report_law)


def phi(q: Fraction) -> Fraction:
    """φ = p/q + q/p - 1 (001 (3.14))."""
    return (1 - q) / q + q / (1 - q) - 1


def mean_ratio(case: Case) -> Fraction:
    """E[R | D_m] over all outcomes."""
    total = sum((Fraction(d_m * d_m, d) for d, d_m in outcome_weights(case)), Fraction(0))
    return total / case.scale


def chi_squared(background: Sequence[Vector], y: Vector, y_prime: Vector, q: Fraction) -> Fraction:
    """Σ_v (p(v|y') - p(v|y))²/f(v), report by report."""
    first, second = _law(y, q), _law(y_prime, q)
    laws = [_law(x, q) for x in background]
    total = Fraction(0)
    for v in first:
        total += (second[v] - first[v]) ** 2 * len(laws) / sum(law[v] for law in laws)
    return total


def counts_of_bits(x: Vector, y: Vector, y_prime: Vector) -> tuple[int, int, int]:
    """In how many bits x = y ≠ y', x = y' ≠ y, and y = y' ≠ x."""
    bits = list(zip(x, y, y_prime, strict=True))
    return (
        sum(a == b != c for a, b, c in bits),
        sum(a == c != b for a, b, c in bits),
        sum(b == c != a for a, b, c in bits),
    )


def pattern_chi_squared(counts: tuple[int, int, int], q: Fraction) -> Fraction:
    """φ^c(φ^a + φ^b - 2), the χ² of a homogeneous background with these counts of bits."""
    a, b, c = counts
    return phi(q) ** c * (phi(q) ** a + phi(q) ** b - 2)


Bounded = Iterable[tuple[Case, Fraction]]
"""Cases, each with what is said to be at least as large as its mean or its χ²."""


def check_means(cases: Bounded) -> Count:
    """Whether the mean of R of each case is at most what is given with it."""
    test = Cases(lambda: cases, lambda case, largest: place(case))
    return test.count(lambda case, largest: mean_ratio(case) <= largest)


def check_chi_squares(cases: Bounded) -> Count:
    """Whether χ² of each case is at most what is given with it, for the reasons given.

    The reasons: one pattern has the closed form, several have at most the average of theirs, and
    no closed form exceeds the bound.
    """

    def holds(case: Case, largest: Fraction) -> bool:
        value = chi_squared(case.background, case.y, case.y_prime, case.q)
        patterns = [
            pattern_chi_squared(counts_of_bits(x, case.y, case.y_prime), case.q)
            for x in case.background
        ]
        average = sum(patterns, Fraction(0)) / len(patterns)
        closed = len(set(case.background)) > 1 or value == average
        return closed and value <= average and max(patterns) <= largest

    return Cases(lambda: cases, lambda case, largest: place(case)).count(holds)
