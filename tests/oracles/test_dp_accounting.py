"""krand beside dp-accounting: the same pairs of laws, once with each library.

dp-accounting rounds every loss up (pessimistic) or down (optimistic) to a grid, so the truth lies
between its two answers. Where krand composes, its step is a sixteenth of the default here, so that
what connecting the dots adds stays below the 0.1 % asked for; a single bit needs no dots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln

from components import require
from krand.accounting import bits
from krand.accounting.baselines import gaussian_delta
from krand.accounting.channel import ReportLaw, local_epsilon
from krand.accounting.composition import LossLaw, compose, connect_dots, loss_nodes, loss_step
from krand.accounting.curator import central_gaussian_sigma
from krand.promise import Linkage, Policy, ResponseFormat
from krand_lab.exact.attack import record_loss
from krand_lab.exact.backgrounds import outlier_law

dp_accounting = require("dp_accounting")
pld = require("dp_accounting.pld.privacy_loss_distribution")

Floats = NDArray[np.float64]

AGREE = 1e-3
FURTHEST = 12
"""Losses of a pair beyond so many standard deviations count as infinite."""
REFINED = 16
"""krand's grid step is divided by this."""
FINER = 250
"""dp-accounting's grid step: krand's default divided by this."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """dp-accounting's lower and upper answer."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Rounding up and rounding down err alike, so the middle is far better than either."""
        return (self.low + self.high) / 2


def bracket(top: Floats, bottom: Floats, step: float, count: int, epsilon: float) -> Bracket:
    """δ(ε) of `count` independent pairs (top, bottom), by dp-accounting."""
    seen = np.flatnonzero((top > 1e-30) & (bottom > 1e-30))
    of_top = {int(i): math.log(top[i]) for i in seen}
    of_bottom = {int(i): math.log(bottom[i]) for i in seen}

    def answer(pessimistic: bool) -> float:
        law = pld.from_two_probability_mass_functions(
            of_bottom, of_top, pessimistic_estimate=pessimistic, value_discretization_interval=step
        )
        return float(law.self_compose(count).get_delta_for_epsilon(epsilon))

    return Bracket(answer(False), answer(True))


def by_loss_law(law: LossLaw, count: int, epsilon: float) -> float:
    """δ(ε) of a pair that lives on krand's grid already, composed by dp-accounting."""
    masses = {int(i): float(m) for i, m in zip(law.index, law.mass, strict=True)}
    pair = pld.PrivacyLossDistribution.create_from_rounded_probability(
        masses, law.infinite, law.step, pessimistic_estimate=True
    )
    return float(pair.self_compose(count).get_delta_for_epsilon(epsilon))


def spread(q: float, crowd: int, count: int) -> float:
    return math.sqrt(count) * (1 - 2 * q) / math.sqrt(crowd * q * (1 - q))


def step_of(q: float, crowd: int) -> float:
    """krand's default grid step."""
    return loss_step(float(bits.outlier_pair(q, crowd).profile(np.zeros(1))[0][0]))


ONE_BIT = [(20, 0.1), (1000, 0.02), (10**5, 0.3), (10**7, 8.2e-6), (10**7, 2.06e-5)]


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(("crowd", "q"), ONE_BIT)
def test_single_outlier_pair(crowd: int, q: float, forward: bool) -> None:
    """δ of the outlier pair lies between dp-accounting's two answers, 0.1 % from their middle."""
    pair, step = bits.outlier_pair(q, crowd), step_of(q, crowd)
    top, bottom = (pair.one, pair.zero) if forward else (pair.zero, pair.one)
    for sigmas in (0.0, 0.5, 2.0):
        epsilon = sigmas * spread(q, crowd, 1)
        theirs = bracket(top, bottom, step / FINER, 1, epsilon)
        ours = float(pair.profile(np.array([epsilon]))[0 if forward else 1][0])
        assert theirs.low * (1 - 1e-9) <= ours <= theirs.high * (1 + 1e-9)
        assert ours == pytest.approx(theirs.middle, rel=AGREE)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("count", [2, 40])
@pytest.mark.parametrize(("crowd", "q"), ONE_BIT)
def test_composed_outlier_pair(crowd: int, q: float, count: int, forward: bool) -> None:
    """Two and forty outlier pairs have the δ that dp-accounting finds."""
    pair, step = bits.outlier_pair(q, crowd), step_of(q, crowd)
    fine = step / REFINED
    nodes = loss_nodes(fine, min(local_epsilon(q), FURTHEST * spread(q, crowd, 1)), count)
    law = connect_dots(fine, nodes, *pair.profile(fine * nodes))
    top, bottom = (pair.one, pair.zero) if forward else (pair.zero, pair.one)
    for sigmas in (0.5, 2.0):
        epsilon = sigmas * spread(q, crowd, count)
        theirs = bracket(top, bottom, step / FINER, count, epsilon)
        ours = compose([(law if forward else law.reversed(), count)], epsilon).delta(epsilon)
        assert theirs.low > 1e-9  # above the mass dp-accounting cuts off when it composes
        assert ours >= theirs.low * (1 - 1e-9)
        assert ours == pytest.approx(theirs.middle, rel=AGREE)


@pytest.mark.parametrize(("crowd", "q"), [(20, 0.1), (101, 0.02), (200, 0.3)])
def test_certificate_is_their_worst_background(crowd: int, q: float) -> None:
    """The certificate of one bit is the largest δ dp-accounting finds over all backgrounds."""
    step = step_of(q, crowd) / FINER
    for epsilon in (0.5 * spread(q, crowd, 1), 2 * spread(q, crowd, 1)):
        theirs = [
            bracket(top, bottom, step, 1, epsilon).middle
            for ones in range((crowd - 1) // 2 + 1)
            for pair in [bits.background_pair(q, ones, crowd - 1 - ones)]
            for top, bottom in ((pair.one, pair.zero), (pair.zero, pair.one))
        ]
        ours = float(bits.worst_profile(q, crowd, np.array([epsilon]))[0])
        assert ours == pytest.approx(max(theirs), rel=AGREE)


@pytest.mark.parametrize("count", [2, 40])
@pytest.mark.parametrize(
    ("crowd", "q"), [(100, 0.05), (1000, 0.02), (10**7, 8.96e-6), (10**7, 2.09e-5)]
)
def test_certified_pair_composes_alike(crowd: int, q: float, count: int) -> None:
    """The certified pair, handed over on its own grid, composes to the same δ in both libraries."""
    law = bits.bit_loss(q, crowd, step_of(q, crowd), count)
    for sigmas in (0.5, 2.0, 3.5):
        epsilon = sigmas * spread(q, crowd, count)
        theirs = by_loss_law(law, count, epsilon)
        assert theirs > 1e-9
        assert compose([(law, count)], epsilon).delta(epsilon) == pytest.approx(theirs, rel=1e-5)


def test_forty_bits_of_ten_million() -> None:
    """N=10^7, 40 bits, ε=2: the certified noise 8.96e-6 has δ=1e-3 and 2.09e-5 has 1e-6 by both."""
    for q, delta in ((8.96e-6, 1e-3), (2.09e-5, 1e-6)):
        law = bits.bit_loss(q, 10**7, step_of(q, 10**7), 40)
        assert by_loss_law(law, 40, 2.0) == pytest.approx(delta, rel=0.03)
        assert compose([(law, 40)], 2.0).delta(2.0) == pytest.approx(delta, rel=0.03)


@pytest.mark.parametrize("count", [3, 16])
@pytest.mark.parametrize(("crowd", "bit_count", "q"), [(12, 2, 0.2), (8, 3, 0.3)])
def test_copies_of_a_record(crowd: int, bit_count: int, q: float, count: int) -> None:
    """Copies of a linked record, composed, have the δ that dp-accounting finds."""
    law = outlier_law(q, bit_count)
    loss = record_loss(q, bit_count, crowd, count, 100.0)
    there, back = histograms(law, crowd)
    for epsilon in (0.5 * math.sqrt(count), 1.5 * math.sqrt(count)):
        for top, bottom, ours in ((back, there, loss), (there, back, loss.reversed())):
            theirs = bracket(top, bottom, 2e-3 / count, count, epsilon)
            found = compose([(ours, count)], epsilon).delta(epsilon)
            assert found >= theirs.low * (1 - 1e-9)
            assert found == pytest.approx(theirs.middle, rel=2 * AGREE)


def histograms(law: ReportLaw, crowd: int) -> tuple[Floats, Floats]:
    """P(T|D) and P(T|D_m) of every histogram T of reports, by R = Σr'/N."""
    kinds = law.first.size
    counted = np.array([t for t in product(range(crowd + 1), repeat=kinds) if sum(t) == crowd])
    ways = math.lgamma(crowd + 1) - gammaln(counted + 1).sum(axis=1)
    alike = np.exp(ways + counted @ law.log_reference)
    return alike, alike * (counted @ np.exp(law.second * law.log_odds)) / crowd


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 8.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_gaussian_noise_of_a_trusted_curator(epsilon: float, delta: float) -> None:
    """σ of the central Gaussian mechanism is that of dp-accounting, for one count and for many."""
    policy = Policy(epsilon=epsilon, minimum_crowd=10**6, delta=delta)
    one = dp_accounting.get_sigma_gaussian(epsilon, delta)
    assert central_gaussian_sigma(policy, ResponseFormat(1)) == pytest.approx(one, rel=1e-6)
    forty = central_gaussian_sigma(policy, ResponseFormat(40, rounds=3))
    assert forty == pytest.approx(math.sqrt(120) * one, rel=1e-6)
    choice = central_gaussian_sigma(
        policy, ResponseFormat(1000, linkage=Linkage.RECORD, max_set_bits=1)
    )
    assert choice == pytest.approx(math.sqrt(2) * one, rel=1e-6)


@pytest.mark.parametrize("shift", [0.1, 0.7, 3.0])
def test_gaussian_profile(shift: float) -> None:
    """δ(ε) of two shifted Gaussians is dp-accounting's, read backwards."""
    for delta in (1e-2, 1e-5):
        epsilon = dp_accounting.get_epsilon_gaussian(1 / shift, delta)
        assert gaussian_delta(shift, epsilon) == pytest.approx(delta, rel=1e-6)
