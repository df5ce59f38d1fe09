"""One-bit mechanisms: exact profiles, a certificate over all backgrounds, and composition."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from effort import LONG
from krand.accounting import bits
from krand.accounting.baselines import gaussian_delta
from krand.accounting.calibration import assess
from krand.accounting.channel import local_epsilon
from krand.accounting.composition import LossLaw, compose, connect_dots, loss_nodes, loss_step
from krand.accounting.mechanism import Mechanism
from krand.promise import ResponseFormat
from krand_lab.enumeration import exact_one_bit

Floats = NDArray[np.float64]

LEVELS = 2000 if LONG else 500
EPSILONS = np.array([0.0, 0.02, 0.3, 1.0, 2.0])


def binomial(n: int, p: float) -> Floats:
    """The whole pmf, from scipy's own code."""
    return np.asarray(stats.binom.pmf(np.arange(n + 1), n, p))


def counts(q: float, ones: int, zeros: int) -> tuple[Floats, Floats]:
    """Law of the number of reported ones with the own bit 0 and with the own bit 1."""
    others = np.convolve(binomial(ones, 1 - q), binomial(zeros, q))
    low, high = np.append(others, 0.0), np.append(0.0, others)
    return (1 - q) * low + q * high, q * low + (1 - q) * high


def excess(top: Floats, bottom: Floats, epsilons: Floats) -> Floats:
    """Σ (top - e^ε·bottom)⁺ at each ε, straight from the definition."""
    return np.array([np.maximum(top - math.exp(e) * bottom, 0.0).sum() for e in epsilons])


def worst_of_all(q: float, crowd: int, epsilons: Floats) -> Floats:
    """max over every number of ones among the others, both directions."""
    worst = np.zeros(epsilons.size)
    for ones in range((crowd - 1) // 2 + 1):
        zero, one = counts(q, ones, crowd - 1 - ones)
        both = np.maximum(excess(one, zero, epsilons), excess(zero, one, epsilons))
        worst = np.maximum(worst, both)
    return worst


def shift(q: float, crowd: int) -> float:
    """Distance over deviation of the two counts, were they Gaussian."""
    return (1 - 2 * q) / math.sqrt(crowd * q * (1 - q))


def composed(law: LossLaw, count: int, epsilon: float) -> float:
    return compose([(law, count)], epsilon).delta(epsilon)


def step_of(q: float, crowd: int) -> float:
    """The default grid step of this mechanism alone."""
    return loss_step(float(bits.outlier_pair(q, crowd).profile(np.zeros(1))[0][0]))


def outlier_loss(q: float, crowd: int, count: int) -> LossLaw:
    """The pair of the drafts' background alone."""
    step = step_of(q, crowd)
    nodes = loss_nodes(step, local_epsilon(q), count)
    return connect_dots(step, nodes, *bits.outlier_pair(q, crowd).profile(step * nodes))


@pytest.mark.parametrize("q", [2.0**-32, 0.01, 0.1, 0.3, 0.49])
@pytest.mark.parametrize("crowd", [2, 3, 5, 20, 101])
def test_profile_agrees_with_rational_arithmetic(crowd: int, q: float) -> None:
    """Both directions are the exact δ of the count of ones, whatever the background."""
    for ones in {0, 1, (crowd - 1) // 2, crowd - 1} & set(range(crowd)):
        pair = bits.background_pair(q, ones, crowd - 1 - ones)
        forward, reverse = pair.profile(EPSILONS)
        for i, epsilon in enumerate(EPSILONS):
            exact = exact_one_bit(crowd, ones, Fraction(q), Fraction(math.exp(epsilon)))
            for found, true in ((forward, exact.delta_forward), (reverse, exact.delta_reverse)):
                assert found[i] == pytest.approx(float(true), rel=1e-8, abs=3e-30)
                assert found[i] >= true


def test_a_tie_counts() -> None:
    """ε so near to the logarithm of a ratio that floating point cannot tell which is larger."""
    q, epsilon = Fraction(71400229, 2**32), 4.080134249902005
    with localcontext(Context(prec=60)):
        ratio = Fraction(Decimal(epsilon).exp())
    for ones in (0, 1):
        exact = exact_one_bit(2, ones, q, ratio)
        forward, reverse = bits.background_pair(float(q), ones, 1 - ones).profile(
            np.array([epsilon])
        )
        assert forward[0] >= exact.delta_forward
        assert reverse[0] >= exact.delta_reverse
    assert exact.delta_forward > 5.15e-16
    stated = assess(ResponseFormat(1), float(q), 2, epsilon).delta
    assert 5.15e-16 <= stated < 1e-12


def test_profile_just_below_the_local_epsilon() -> None:
    """Where two almost equal tails are subtracted nine digits remain."""
    q, crowd = 0.1, 50
    for gap in (1e-3, 1e-6, 1e-9):
        epsilon = local_epsilon(q) * (1 - gap)
        exact = exact_one_bit(crowd, 0, Fraction(q), Fraction(math.exp(epsilon)))
        _, reverse = bits.outlier_pair(q, crowd).profile(np.array([epsilon]))
        assert float(reverse[0]) == pytest.approx(float(exact.delta_reverse), rel=2e-9)


def test_backgrounds_mirror_each_other() -> None:
    """Exchanging ones and zeros exchanges the two directions."""
    here = bits.background_pair(0.07, 3, 30).profile(EPSILONS)
    there = bits.background_pair(0.07, 30, 3).profile(EPSILONS)
    np.testing.assert_allclose(here[0], there[1], rtol=1e-9, atol=1e-29)
    np.testing.assert_allclose(here[1], there[0], rtol=1e-9, atol=1e-29)


@pytest.mark.parametrize(
    ("q", "ones", "zeros"),
    [(0.3, 10_000, 90_000), (0.3, 50_000, 50_000), (0.45, 15_000, 15_000), (0.02, 10**6, 10**6)],
)
def test_wide_counts_are_as_exact_as_narrow_ones(q: float, ones: int, zeros: int) -> None:
    """The profile stays right where the two binomials are too wide to be convolved term by term."""
    epsilons = np.array([0.0, 0.5, 1.0, 2.0]) * shift(q, ones + zeros + 1)
    others = np.convolve(near_the_mean(ones, 1 - q), near_the_mean(zeros, q))
    low, high = np.append(others, 0.0), np.append(0.0, others)
    zero, one = (1 - q) * low + q * high, q * low + (1 - q) * high
    found = bits.background_pair(q, ones, zeros).profile(epsilons)
    for value, exact in zip(
        found, (excess(one, zero, epsilons), excess(zero, one, epsilons)), strict=True
    ):
        np.testing.assert_allclose(value, exact, rtol=1e-4)
        assert (value >= exact * (1 - 1e-9)).all()


def near_the_mean(n: int, p: float) -> Floats:
    """The pmf within 14 standard deviations."""
    reach = 14 * math.sqrt(n * p * (1 - p))
    return np.asarray(stats.binom.pmf(np.arange(int(n * p - reach), int(n * p + reach)), n, p))


@pytest.mark.parametrize("copies", [2, 3, 16, 200])
@pytest.mark.parametrize(("q", "ones", "zeros"), [(0.02, 0, 60), (0.1, 7, 30), (0.3, 40, 40)])
def test_mixed_copies_by_direct_convolution(q: float, ones: int, zeros: int, copies: int) -> None:
    """k mixed copies have the profile of the two counts written out in full."""
    zero = np.convolve(binomial(copies * ones, 1 - q), binomial(copies * (zeros + 1), q))
    one = np.convolve(binomial(copies * (ones + 1), 1 - q), binomial(copies * zeros, q))
    found = bits.background_pair(q, ones, zeros, copies).profile(EPSILONS)
    np.testing.assert_allclose(found[0], excess(one, zero, EPSILONS), rtol=1e-9, atol=1e-25)
    np.testing.assert_allclose(found[1], excess(zero, one, EPSILONS), rtol=1e-9, atol=1e-25)


@pytest.mark.check
def test_copies_of_a_bit_follow_the_gaussian() -> None:
    """A hundred mixed copies in a crowd of 10^4 have the δ of the Gaussian they approach."""
    q, crowd, copies = 0.3, 10**4, 100
    spread = math.sqrt(copies) * shift(q, crowd)
    found, _ = Mechanism(ResponseFormat(1, copies=copies), crowd, 2 * spread).delta(q)
    assert found == pytest.approx(gaussian_delta(spread, 2 * spread), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crowd", "q"),
    [(n, q) for n in (2, 3, 5, 20, 101, 500) for q in (0.002, 0.02, 0.2, 0.45)]
    + [(2000, 0.002), (2000, 0.05)],
)
def test_supremum_is_exact_in_small_crowds(crowd: int, q: float) -> None:
    """Up to 2000 users the certificate is the maximum over all backgrounds and nothing more."""
    exact = worst_of_all(q, crowd, EPSILONS)
    found = bits.worst_profile(q, crowd, EPSILONS)
    seen = exact > 1e-12
    assert seen.any()
    assert (found >= exact * (1 - 1e-9)).all()
    assert (found[seen] <= exact[seen] * (1 + 1e-9)).all()


@pytest.mark.parametrize("buckets", [1, 2, 7, 50])
@pytest.mark.parametrize(("crowd", "q"), [(3, 0.2), (20, 0.02), (101, 0.02), (500, 0.1)])
def test_few_buckets_are_still_a_bound(
    monkeypatch: pytest.MonkeyPatch, crowd: int, q: float, buckets: int
) -> None:
    """However coarse the buckets, the certificate never falls below any background."""
    monkeypatch.setattr(bits, "FINEST", 0)
    exact = worst_of_all(q, crowd, EPSILONS)
    found = bits.worst_profile(q, crowd, EPSILONS, buckets)
    assert (found >= exact * (1 - 1e-9)).all()
    if buckets == 1 and crowd > 100:
        assert (found > 1.1 * exact).all()


@pytest.mark.check
@pytest.mark.parametrize("q", [0.002, 0.03])
def test_supremum_is_tight_beyond_small_crowds(q: float) -> None:
    """With 256 buckets the certificate lies at most 2 % above the maximum over all backgrounds."""
    crowd, epsilons = 2600, np.array([0.0, 0.3, 1.0])
    exact = worst_of_all(q, crowd, epsilons)
    found = bits.worst_profile(q, crowd, epsilons)
    assert crowd > bits.FINEST
    assert (found >= exact * (1 - 1e-9)).all()
    assert (found <= exact * 1.02).all()


def test_more_buckets_only_help() -> None:
    """The certificate falls towards the outlier's value as the buckets get finer."""
    q, crowd, epsilons = 1e-5, 10**7, np.array([0.02, 0.1, 0.2])
    bounds = [bits.worst_profile(q, crowd, epsilons, n) for n in (1, 8, 64, 512)]
    for coarse, fine in pairwise(bounds):
        assert (fine < coarse).all()
    outlier = np.maximum(*bits.outlier_pair(q, crowd).profile(epsilons))
    assert (bounds[-1] >= outlier).all()
    assert (bounds[-1] <= 1.02 * outlier).all()


@pytest.mark.parametrize("buckets", [1, 2, 3, 64, 256, 10**6])
@pytest.mark.parametrize("crowd", [2, 3, 100, 2000, 2001, 2500, 10**7, 10**12])
def test_buckets_cover_every_background(crowd: int, buckets: int) -> None:
    """The ranges run from no ones to half of the others without gap or overlap."""
    edges = bits.bucket_edges(crowd, min(buckets, 10_000))
    assert edges[0][0] == 0
    assert edges[-1][1] == (crowd - 1) // 2
    assert all(low <= high for low, high in edges)
    assert all(here[1] + 1 == there[0] for here, there in pairwise(edges))
    if crowd <= bits.FINEST and buckets >= bits.BUCKETS:
        assert all(low == high for low, high in edges)


@pytest.mark.parametrize(("crowd", "q"), [(100, 0.05), (2500, 0.002), (10**7, 1e-5)])
def test_supremum_is_a_privacy_profile(crowd: int, q: float) -> None:
    """The maximum over backgrounds falls with ε and is convex in e^ε, hence that of some pair."""
    epsilons = np.linspace(0, 2, 81)
    values = bits.worst_profile(q, crowd, epsilons, buckets=64)
    slopes = np.diff(values) / np.diff(np.exp(epsilons))
    assert (slopes < 0).all()
    assert (np.diff(slopes) >= 1e-9 * slopes[:-1]).all()
    assert slopes[0] >= -1


def test_lattice_counterexample() -> None:
    """N=100, q=.05, ε=1.5: one set bit in the background gives .00461, none gives .00452."""
    at = np.array([1.5])
    none, one_set = (bits.background_pair(0.05, m, 99 - m).profile(at) for m in (0, 1))
    assert round(float(none[1][0]), 5) == 0.00452
    assert round(float(one_set[1][0]), 5) == 0.00461
    worst = float(bits.worst_profile(0.05, 100, at)[0])
    assert worst == pytest.approx(float(one_set[1][0]), rel=1e-9)


@pytest.mark.parametrize(
    ("crowd", "q", "count", "epsilon"),
    [(100, 0.05, 2, 1.5), (1000, 0.05, 40, 2.0), (10**5, 1e-3, 40, 2.0), (10**7, 1e-5, 3, 0.5)],
)
def test_certificate_composed_covers_the_outlier_composed(
    crowd: int, q: float, count: int, epsilon: float
) -> None:
    """The certified pair, composed, is at least any mixture of rising and falling outlier bits."""
    step = step_of(q, crowd)
    certified = composed(bits.bit_loss(q, crowd, step, count), count, epsilon)
    law = outlier_loss(q, crowd, count)
    for falling in {0, 1, count // 2, count}:
        parts = [(w, n) for w, n in ((law, count - falling), (law.reversed(), falling)) if n]
        outlier = compose(parts, epsilon).delta(epsilon)
        assert certified >= outlier * (1 - 1e-7)
    assert certified <= 1.3 * max(
        composed(law, count, epsilon), composed(law.reversed(), count, epsilon)
    )


def test_certified_pair_is_its_own_mirror() -> None:
    """The certified pair covers both directions at once."""
    law = bits.bit_loss(0.02, 500, step_of(0.02, 500), 5)
    back = law.reversed()
    np.testing.assert_array_equal(law.index, back.index)
    np.testing.assert_allclose(law.mass, back.mass, rtol=1e-6, atol=1e-15)
    assert law.infinite == law.infinite_reverse
    assert law.mass.sum() + law.infinite == pytest.approx(1, abs=1e-9)


def test_a_crowd_too_wide_to_be_computed_is_covered() -> None:
    """A part of it is computed instead, which hides less."""
    q, crowd, epsilon = 0.05, 10**9, 1e-4
    pair = bits.background_pair(q, 0, crowd - 1)
    forward, reverse = (float(v[0]) for v in pair.profile(np.array([epsilon])))
    assert forward == pytest.approx(gaussian_delta(shift(q, crowd), epsilon), rel=1e-3)
    found, _ = Mechanism(ResponseFormat(1), crowd, epsilon).delta(q)
    assert found >= max(forward, reverse)


@pytest.mark.check
@pytest.mark.loop
def test_hundreds_of_different_questions() -> None:
    """500 bits with 500 noise levels compose to what the central limit theorem expects.

    `make long` takes 2000 of each; twice the deviation, and twice the ε.
    """
    crowd, epsilon, buckets = 10**6, 3.0 * math.sqrt(LEVELS / 2000), 2
    noises = np.geomspace(1e-3, 4e-3, LEVELS)
    step = step_of(float(noises[-1]), crowd)
    laws = [bits.bit_loss(float(q), crowd, step, noises.size, buckets=buckets) for q in noises]
    found = compose([(law, 1) for law in laws], epsilon).delta(epsilon)
    total = math.sqrt(sum(shift(float(q), crowd) ** 2 for q in noises))
    # A bucket spans a quarter of the crowd, and the certificate gives up as many users; at each ε
    # it takes the worse direction, which adds a little more.
    fewer = total / math.sqrt(1 - 1 / (2 * buckets))
    assert gaussian_delta(total, epsilon) <= found <= 1.1 * gaussian_delta(fewer, epsilon)
    ends = [composed(law, noises.size, epsilon) for law in (laws[0], laws[-1])]
    assert ends[1] < found < ends[0]
