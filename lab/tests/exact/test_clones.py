"""What clones prove, and what not (Feldman et al. 2023; Wang et al. 2024), in rationals."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from krand_lab.enumeration import exact_worst, report_law, vectors
from krand_lab.exact.ratio import upper_delta
from krand_lab.exact.reports import ReportLaw, local_epsilon, log_binomial

QS = [Fraction(1, 20), Fraction(1, 4), Fraction(2, 5), Fraction(9, 20)]
LAMBDAS = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(4)]


def blanket_law(q: float, bits: int) -> ReportLaw:
    """ω = q^L everywhere, as krand has it: l bits on the side of y', the others on that of y."""
    side = np.arange(bits + 1)
    uniform = log_binomial(bits, 0.5) + bits * math.log(2 * q)
    return ReportLaw(local_epsilon(q), uniform, bits - side, side)


def worst_delta(crowd: int, bits: int, q: Fraction, lam: Fraction) -> Fraction:
    """The worst background and pair of answers, by all outcomes."""
    worst = exact_worst(crowd, vectors(bits), q, lam).value
    return max(worst.delta_forward, worst.delta_reverse)


def clones(
    q: Fraction, distance: int, bits: int, crowd: int, lam: Fraction, told: bool = False
) -> tuple[Fraction, Fraction]:
    """Both directions of (A+Δ₁, C-A+Δ₂) against (A+Δ₂, C-A+Δ₁), outcome by outcome.

    With `told` the observer also learns whether the own report is one of the two clones.
    """
    rho = (1 - q) / q
    near, far = report_law((1,) * distance, q), report_law((0,) * distance, q)
    apart = sum((max(Fraction(0), near[v] - far[v]) for v in near), Fraction(0))
    alpha = apart / (rho**distance - 1)
    hit, share = alpha * rho**distance, alpha * rho ** (distance - bits)
    first: dict[tuple[int, int, bool], Fraction] = defaultdict(Fraction)
    second: dict[tuple[int, int, bool], Fraction] = defaultdict(Fraction)
    for c in range(crowd):
        rest = (1 - 2 * share) ** (crowd - 1 - c)
        of_c = math.comb(crowd - 1, c) * (2 * share) ** c * rest
        for a in range(c + 1):
            chance = of_c * Fraction(math.comb(c, a), 2**c)
            for one, two, weight in ((1, 0, hit), (0, 1, alpha), (0, 0, 1 - hit - alpha)):
                silent = told and one == two
                first[a + one, c - a + two, silent] += chance * weight
                second[a + two, c - a + one, silent] += chance * weight
    assert sum(first.values()) == sum(second.values()) == 1
    zero = Fraction(0)
    return (
        sum((max(zero, first[o] - lam * second[o]) for o in first.keys() | second.keys()), zero),
        sum((max(zero, second[o] - lam * first[o]) for o in first.keys() | second.keys()), zero),
    )


def plain_clones(q: Fraction, distance: int, crowd: int, lam: Fraction) -> Fraction:
    """A+Bern(1-r) against A+Bern(r), A ~ Bin(C, ½), C ~ Bin(N-1, 2r) known, r = 1/(e^ε₀+1)."""
    rare = 1 / (1 + ((1 - q) / q) ** distance)
    total = Fraction(0)
    for c in range(crowd):
        rest = (1 - 2 * rare) ** (crowd - 1 - c)
        of_c = math.comb(crowd - 1, c) * (2 * rare) ** c * rest
        for a in range(c + 2):
            low = Fraction(math.comb(c, a), 2**c)
            high = Fraction(math.comb(c, a - 1), 2**c) if a else Fraction(0)
            first = rare * low + (1 - rare) * high
            second = (1 - rare) * low + rare * high
            total += of_c * max(Fraction(0), first - lam * second)
    return total


@pytest.mark.nightly
@pytest.mark.parametrize("lam", [*LAMBDAS, Fraction(1000)])
@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize(("crowd", "bits"), [(2, 2), (3, 2), (4, 2), (2, 3)])
def test_the_blanket_is_never_worse_than_clones(
    crowd: int, bits: int, q: Fraction, lam: Fraction
) -> None:
    """For linked bits clones are a bound for every background, and the blanket a better one."""
    bound = plain_clones(q, bits, crowd, lam)
    blanket = upper_delta(blanket_law(float(q), bits), crowd, math.log(lam))
    assert bound >= worst_delta(crowd, bits, q, lam)
    assert blanket <= float(bound) * (1 + 1e-9) + 1e-15


def test_published_pair_does_not_cover_two_bits() -> None:
    """Two users, two bits, q=2/5, λ=2: the outcome {00, 00} alone costs more than the pair says."""
    q, lam = Fraction(2, 5), Fraction(2)
    both_zero = (1 - q) ** 4 - lam * (1 - q) ** 2 * q**2
    assert worst_delta(2, 2, q, lam) == both_zero == Fraction(9, 625)
    assert clones(q, 2, 2, 2, lam) == (Fraction(4, 625), Fraction(4, 625))


@pytest.mark.nightly
@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize(("crowd", "bits"), [(2, 2), (3, 2), (4, 2), (2, 3)])
def test_clones_told_apart_cover_every_background_and_add_nothing(
    crowd: int, bits: int, q: Fraction, lam: Fraction
) -> None:
    """Told whether the own report is a clone the pair is a bound, and the blanket lies below it."""
    bound, _ = clones(q, bits, bits, crowd, lam, told=True)
    blanket = upper_delta(blanket_law(float(q), bits), crowd, math.log(lam))
    assert bound >= worst_delta(crowd, bits, q, lam)
    assert blanket <= float(bound) * (1 + 1e-9)
