"""Homogeneous backgrounds: which patterns matter, and what the drafts missed."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.accounting.channel import ReportLaw
from krand_lab.enumeration import Exact, Vector, exact_homogeneous, report_law
from krand_lab.exact.backgrounds import Pattern, homogeneous_law, outlier_law, uphill
from krand_lab.exact.ratio import one_way_eta, two_way_delta, two_way_eta

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


def third_pattern_by_lattice(crowd: int, q: float) -> tuple[float, float]:
    """(η, δ) at λ = 2 for x = 100, y = 010, y' = 001, from the definition and nothing of krand.

    With ρ = p/q every score r' - 2r is (1-ρ^-2)(A + ρ²B) - ρ^-2 for whole numbers A and B, so
    the law of the sum is a power of a polynomial in two variables.
    """
    rho2 = ((1 - q) / q) ** 2
    under = {x: np.zeros((1024, 128)) for x in ((1, 0, 0), (0, 0, 1))}
    lattice = {
        (1, 0, 0): (0, 0),
        (1, 0, 1): (1, 0),
        (1, 1, 0): (-2, 0),
        (0, 0, 0): (-1, 0),
        (1, 1, 1): (-1, 0),
        (0, 0, 1): (-1, 1),
        (0, 1, 0): (-1, -2),
        (0, 1, 1): (-1, -1),
    }
    for v, (a, b) in lattice.items():
        law = {x: math.prod(q if i != j else 1 - q for i, j in zip(x, v, strict=True)) for x in ONE}
        score = (law[0, 0, 1] - 2 * law[0, 1, 0]) / law[1, 0, 0]
        assert score == pytest.approx((1 - 1 / rho2) * (a + rho2 * b) - 1 / rho2, rel=1e-12)
        for x, grid in under.items():
            grid[a % 1024, b % 128] += law[x]
    others, own = (np.fft.fft2(under[x]) for x in ((1, 0, 0), (0, 0, 1)))
    a = (np.arange(1024) + 700) % 1024 - 700
    b = (np.arange(128) + 80) % 128 - 80
    total = (1 - 1 / rho2) * np.add.outer(a, rho2 * b) - crowd / rho2
    breach = np.fft.ifft2(others ** (crowd - 1) * own).real
    common = np.fft.ifft2(others**crowd).real
    return float(breach[total > 0].sum()), float((common * np.maximum(total, 0)).sum()) / crowd


ONE = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@pytest.mark.parametrize("pattern", patterns_up_to(4))
def test_chi_squared_by_enumeration(pattern: Pattern) -> None:
    """χ² = Σ (K(y')-K(y))²/K(x), summed over all reports in rational arithmetic."""
    q = Fraction(1, 5)
    x, y, z = (report_law(v, q) for v in vectors_of(pattern))
    total = sum(((z[v] - y[v]) ** 2 / x[v] for v in x), Fraction(0))
    assert pattern.chi_squared(float(q)) == pytest.approx(float(total), rel=1e-12)


def test_chi_squared_never_overflows() -> None:
    """A pattern too loud for floating point has infinite χ² instead of an error."""
    assert Pattern(10_000).chi_squared(1e-6) == math.inf


@pytest.mark.parametrize("q", [0.001, 0.1, 0.3, 0.49])
@pytest.mark.parametrize("bits", [2, 5, 9])
def test_outlier_has_the_largest_chi_squared(bits: int, q: float) -> None:
    """Among all patterns of free bits the outlier pair has the largest χ²."""
    rest = [p.chi_squared(q) for p in patterns_up_to(bits) if p != Pattern(bits)]
    assert max(rest) < Pattern(bits).chi_squared(q)


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


def test_third_pattern_is_the_worst_of_one_choice() -> None:
    """One-hot, N=1000, λ=2, q=.087: the third background has η .0724, the drafts claim .0043."""
    q, crowd, epsilon = 0.087, 1000, math.log(2)
    eta, delta = third_pattern_by_lattice(crowd, q)
    assert eta == pytest.approx(0.07236, abs=5e-6)
    third, draft = Pattern(1, 1, 1), Pattern(2)
    seen = two_way_eta(third.law(q), crowd, epsilon)
    assert seen.forward.lower <= eta <= seen.forward.upper
    assert seen.forward.upper == pytest.approx(eta, rel=1e-3)
    assert seen.reverse.value == pytest.approx(seen.forward.value, rel=1e-12)
    delta_seen = two_way_delta(third.law(q), crowd, epsilon)
    assert delta_seen.lower <= delta <= delta_seen.upper
    assert one_way_eta(draft.law(q), crowd, epsilon).value == pytest.approx(0.0043, abs=5e-5)
    both = two_way_eta(draft.law(q), crowd, epsilon)
    assert both.upper < seen.lower


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


def test_outlier_is_not_the_worst_everywhere() -> None:
    """Two users with three bits: a background one bit nearer to the other answer is worse."""
    q, lam = Fraction(2, 5), Fraction(2)
    assert worse(exact(Pattern(3), 2, q, lam)) == Fraction(81, 3125)
    assert worse(exact(Pattern(2, 1), 2, q, lam)) == Fraction(87, 3125)


@pytest.mark.parametrize(
    ("crowd", "bits", "q", "lam", "pattern", "excess"),
    [
        (300, 5, 0.2, 8.0, Pattern(3, 0, 2), 1.6),
        (100, 3, 0.1, 8.0, Pattern(2, 0, 1), 1.15),
        (1000, 5, 0.2, 4.0, Pattern(4, 0, 1), 1.02),
    ],
)
def test_outlier_is_beaten_in_small_crowds(
    crowd: int, bits: int, q: float, lam: float, pattern: Pattern, excess: float
) -> None:
    """In crowds of hundreds a pair that differs in fewer bits can have a δ up to 60 % larger."""
    outlier = two_way_delta(Pattern(bits).law(q), crowd, math.log(lam))
    other = two_way_delta(pattern.law(q), crowd, math.log(lam))
    assert other.lower > excess * outlier.upper


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


@given(st.floats(0.01, 0.49), st.integers(1, 30))
def test_all_three_laws_sum_to_one(q, bits):
    """ν, K(y) and K(y') are probabilities."""
    law = outlier_law(q, bits)
    for logs in (law.log_reference, law.log_first, law.log_second):
        assert float(np.exp(logs).sum()) == pytest.approx(1)


def test_blocks_multiply():
    """The law of two linked blocks is the product of their laws."""
    whole = homogeneous_law(0.2, 3, 2, 1)
    parts = homogeneous_law(0.2, 1, 2, 0).times(homogeneous_law(0.2, 2, 0, 1))
    assert as_dict(whole) == pytest.approx(as_dict(parts))
