"""Homogeneous backgrounds: which patterns matter, and what the drafts missed."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand_lab.enumeration import Exact, Vector, exact_homogeneous, report_law
from krand_lab.exact.backgrounds import Pattern, homogeneous_law, uphill
from krand_lab.exact.ratio import two_way_delta, two_way_eta
from krand_lab.exact.reports import ReportLaw

Counts = tuple[int, int, int]


def below(f: Counts, g: Counts) -> bool:
    return all(i <= j for i, j in zip(f, g, strict=True))


def counts(pattern: Pattern) -> Counts:
    return pattern.near_first, pattern.near_second, pattern.common


def vectors_of(pattern: Pattern) -> tuple[Vector, Vector, Vector]:
    """x, y, y' with these counts: x is zero everywhere."""
    a, b, c = counts(pattern)
    return (0,) * (a + b + c), (0,) * a + (1,) * (b + c), (1,) * a + (0,) * b + (1,) * c


def exact(pattern: Pattern, crowd: int, q: Fraction, lam: Fraction) -> Exact:
    return exact_homogeneous(crowd, *vectors_of(pattern), q, lam)


def worse(exact: Exact) -> Fraction:
    return max(exact.delta_forward, exact.delta_reverse)


def patterns_up_to(bits: int) -> list[Pattern]:
    """Every pattern on at most so many bits, the pair's order left out."""
    return [
        Pattern(a, b, c)
        for a, b, c in product(range(bits + 1), repeat=3)
        if b <= a and a + b > 0 and a + b + c <= bits
    ]


ONE = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@pytest.mark.parametrize("pattern", patterns_up_to(4))
def test_chi_squared_by_enumeration(pattern: Pattern) -> None:
    """χ² = Σ (K(y')-K(y))²/K(x), summed over all reports in rational arithmetic."""
    q = Fraction(1, 5)
    x, y, z = (report_law(v, q) for v in vectors_of(pattern))
    total = sum(((z[v] - y[v]) ** 2 / x[v] for v in x), Fraction(0))
    assert pattern.chi_squared(float(q)) == pytest.approx(float(total), rel=1e-12)


@pytest.mark.parametrize("pattern", patterns_up_to(3))
@pytest.mark.parametrize(("crowd", "q", "lam"), [(4, 0.1, 2.0), (7, 0.3, 1.25)])
def test_law_of_a_pattern_is_exact(pattern: Pattern, crowd: int, q: float, lam: float) -> None:
    """Grouping reports by two exponents loses nothing: δ and η agree with rational arithmetic."""
    expected = exact(pattern, crowd, Fraction(q), Fraction(lam))
    delta = two_way_delta(pattern.law(q), crowd, math.log(lam))
    assert delta.forward.value == pytest.approx(float(expected.delta_forward), rel=1e-9, abs=1e-15)
    assert delta.reverse.value == pytest.approx(float(expected.delta_reverse), rel=1e-9, abs=1e-15)
    eta = two_way_eta(pattern.law(q), crowd, math.log(lam))
    assert eta.forward.lower - 1e-12 <= expected.eta_forward <= eta.forward.upper + 1e-12
    assert eta.reverse.lower - 1e-12 <= expected.eta_reverse <= eta.reverse.upper + 1e-12


@pytest.mark.parametrize(
    ("q", "lam"), [(Fraction(1, 10), Fraction(2)), (Fraction(1, 3), Fraction(5, 4))]
)
def test_a_larger_pattern_is_never_safer(q: Fraction, lam: Fraction) -> None:
    """A pattern at least as large in all three counts has at least the same δ, either way."""
    values = {p: exact(p, 4, q, lam) for p in patterns_up_to(3)}
    compared = 0
    for p, less in values.items():
        for r, more in values.items():
            if p != r and below(counts(p), counts(r)):
                compared += 1
                assert less.delta_forward <= more.delta_forward
                assert less.delta_reverse <= more.delta_reverse
    assert compared == 16


@pytest.mark.parametrize(
    ("crowd", "bits", "q", "epsilon"),
    [
        (1000, 5, 0.2446, math.log(2)),
        (5000, 5, 0.1310, 2.0),
        (10**7, 40, 0.3472, 2.0),
        (10**7, 40, 0.3741, 2.0),
    ],
)
def test_outlier_is_the_worst_where_the_drafts_plan(
    crowd: int, bits: int, q: float, epsilon: float
) -> None:
    """At the noises of the drafts no other homogeneous background has a larger δ."""
    outlier = two_way_delta(Pattern(bits).law(q), crowd, epsilon)
    for pattern in (
        Pattern(bits - 1, 0, 1),
        Pattern(bits - 2, 0, 2),
        Pattern(bits - 1, 1),
        Pattern(bits - 2, 1, 1),
        Pattern(bits // 2, 0, bits - bits // 2),
    ):
        other = two_way_delta(pattern.law(q), crowd, epsilon)
        assert other.lower <= outlier.upper


@pytest.mark.parametrize(
    ("crowd", "bits", "q", "lam"),
    [
        (300, 5, 0.2, 8.0),
        (100, 3, 0.1, 8.0),
        (1000, 5, 0.2, 4.0),
        (2, 3, 0.4, 2.0),
        (20, 4, 0.3, 3.0),
        (5000, 6, 0.25, 2.0),
        (50, 6, 0.15, 12.0),
    ],
)
def test_the_walk_uphill_finds_the_worst_pattern(
    crowd: int, bits: int, q: float, lam: float
) -> None:
    """From the outlier pair the walk ends at the worst of all splits of the bits."""

    def badness(pattern: Pattern) -> float:
        return two_way_delta(pattern.law(q), crowd, math.log(lam)).upper

    splits = [(a, b) for a in range(1, bits + 1) for b in range(bits - a + 1)]
    worst = max(badness(Pattern(a, b, bits - a - b)) for a, b in splits)
    found = uphill(Pattern(bits), badness)
    assert found[0] == Pattern(bits)
    assert badness(found[-1]) >= worst / 1.03


def by_hand(q: float, x: tuple, y: tuple, z: tuple) -> dict[tuple[float, float], float]:
    """The law of (K(y)/K(x), K(z)/K(x)) under K(x) by going through all reports."""

    def channel(source: tuple, report: tuple) -> float:
        same = sum(a == b for a, b in zip(source, report, strict=True))
        return float((1 - q) ** same * q ** (len(source) - same))

    law: dict[tuple[float, float], float] = {}
    for report in itertools.product((0, 1), repeat=len(x)):
        base = channel(x, report)
        key = (
            round(math.log(channel(y, report) / base), 9),
            round(math.log(channel(z, report) / base), 9),
        )
        law[key] = law.get(key, 0.0) + base
    return law


def as_dict(law: ReportLaw) -> dict[tuple[float, float], float]:
    return {
        (round(a * law.log_odds, 9) + 0.0, round(b * law.log_odds, 9) + 0.0): math.exp(p)
        for a, b, p in zip(law.first, law.second, law.log_reference, strict=True)
    }


@given(st.floats(0.01, 0.49), st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=6))
def test_report_law_of_any_pattern(q, columns):
    """Grouped by ratios, the law of a report is that of going through all 2^L reports."""
    x, y, z = (tuple(column[i] for column in columns) for i in range(3))
    near_first = sum(a == b != c for a, b, c in columns)
    near_second = sum(a == c != b for a, b, c in columns)
    common = sum(b == c != a for a, b, c in columns)
    if near_first == 0:
        x, y, z, near_first, near_second = x, z, y, near_second, near_first
    expected = {(a + 0.0, b + 0.0): p for (a, b), p in by_hand(q, x, y, z).items()}
    assert as_dict(homogeneous_law(q, near_first, near_second, common)) == pytest.approx(expected)
