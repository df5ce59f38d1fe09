"""krand beside dp-accounting: the same promises, once with each library.

dp-accounting rounds every loss up (pessimistic) or down (optimistic) to a grid, so the truth lies
between its two answers. The laws it is given are made here, by scipy's binomials or from the
weights in a plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln

import krand
from command_line import told
from components import require

dp_accounting = require("dp_accounting")
pld = require("dp_accounting.pld.privacy_loss_distribution")

Floats = NDArray[np.float64]
STEPS = 2000
"""Of their grid, for every ε that is asked about."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """dp-accounting's lower and upper answer."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Rounding up and rounding down err alike, so the middle is far better than either."""
        return (self.low + self.high) / 2


def bracket(top: Floats, bottom: Floats, count: int, epsilon: float) -> Bracket:
    """δ(ε) of `count` independent pairs (top, bottom)."""
    of_top, of_bottom = (
        {place: math.log(mass) for place, mass in enumerate(law.tolist()) if mass > 1e-30}
        for law in (top, bottom)
    )

    def answer(pessimistic: bool) -> float:
        law = pld.from_two_probability_mass_functions(
            of_bottom,
            of_top,
            log_mass_truncation_bound=-60,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=epsilon / STEPS,
        )
        return float(law.self_compose(count).get_delta_for_epsilon(epsilon))

    return Bracket(answer(False), answer(True))


def counts(q: float, ones: int, zeros: int) -> tuple[Floats, Floats]:
    """Reported ones with the own bit 0 and with the own bit 1, where they are not next to never."""
    laws = []
    for n, p in ((ones, 1 - q), (zeros, q)):
        reach = 14 * math.sqrt(n * p * (1 - p)) + 40
        low, high = max(0, int(n * p - reach)), min(n, int(n * p + reach))
        laws.append(stats.binom.pmf(np.arange(low, high + 1), n, p))
    others = np.convolve(*laws)
    low, high = np.append(others, 0.0), np.append(0.0, others)
    return (1 - q) * low + q * high, q * low + (1 - q) * high


@pytest.mark.parametrize(("people", "q"), [(20, 0.1), (101, 0.02), (101, 0.3)])
def test_one_bit_is_their_worst_background(people: int, q: float) -> None:
    """What is promised is the largest δ that dp-accounting finds over all backgrounds."""
    for epsilon in (0.5, 2.0):
        theirs = [
            bracket(top, bottom, 1, epsilon)
            for ones in range((people - 1) // 2 + 1)
            for zero, one in [counts(q, ones, people - 1 - ones)]
            for top, bottom in ((one, zero), (zero, one))
        ]
        found = krand.assess(krand.ResponseFormat(1), q, people, epsilon).delta
        assert found >= max(each.low for each in theirs) * (1 - 1e-9) - 1e-25
        assert found == pytest.approx(max(each.middle for each in theirs), rel=4e-3)


@pytest.mark.parametrize(
    ("people", "q", "count", "epsilon"),
    [
        (1000, 0.02, 2, 1.0),
        (1000, 0.02, 40, 3.0),
        (10**5, 0.3, 40, 0.05),
        (10**7, 8.96e-6, 40, 2.0),
        (10**7, 2.09e-5, 40, 2.0),
    ],
)
def test_bits_compose_as_theirs_do(people: int, q: float, count: int, epsilon: float) -> None:
    """Never below the pairs of the drafts' background, in either direction, and hardly above."""
    zero, one = counts(q, 0, people - 1)
    both = [bracket(*pair, count, epsilon) for pair in ((one, zero), (zero, one))]
    found = krand.assess(krand.ResponseFormat(count), q, people, epsilon).delta
    assert found >= max(each.low for each in both) * (1 - 1e-9)
    assert found <= 1.3 * max(each.high for each in both)
    known = {8.96e-6: 1e-3, 2.09e-5: 1e-6}.get(q)
    if known:
        assert found == pytest.approx(known, rel=0.03)


@pytest.mark.parametrize("copies", [3, 16])
@pytest.mark.parametrize(("people", "bits", "q"), [(12, 2, 0.2), (8, 3, 0.3)])
def test_copies_of_records_are_not_below_theirs(
    people: int, bits: int, q: float, copies: int
) -> None:
    """Of one record that is the opposite of all others, by all histograms of reports."""
    epsilon = 0.8 * math.sqrt(copies)
    there, back = histograms(people, bits, q)
    theirs = max(bracket(*pair, copies, epsilon).low for pair in ((there, back), (back, there)))
    asked = krand.ResponseFormat(bits, linkage="record", copies=copies)
    assert krand.assess(asked, q, people, epsilon).delta >= theirs * (1 - 1e-9)


def histograms(people: int, bits: int, q: float) -> tuple[Floats, Floats]:
    """P(T|D) and P(T|D_m) of every histogram of reports by their number of ones."""
    ones = np.arange(bits + 1)
    log_p, log_q = math.log1p(-q), math.log(q)
    choose = gammaln(bits + 1) - gammaln(ones + 1) - gammaln(bits - ones + 1)
    log_law = choose + ones * log_q + (bits - ones) * log_p
    ratio = np.exp((2 * ones - bits) * (log_p - log_q))
    every = product(range(people + 1), repeat=bits + 1)
    counted = np.array([seen for seen in every if sum(seen) == people])
    ways = math.lgamma(people + 1) - gammaln(counted + 1).sum(axis=1)
    alike = np.exp(ways + counted @ log_law)
    return alike, alike * (counted @ ratio) / people


@pytest.mark.parametrize("delta", [1e-6, 1e-12])
@pytest.mark.parametrize(("count", "epsilon"), [(1, 1.0), (4, 0.5), (8, 2.0), (40, 2.0)])
def test_dummies_keep_their_promise_by_another_library(
    count: int, epsilon: float, delta: float
) -> None:
    """Their lower answer is below ours, their upper one not much above; δ is kept by both.

    Theirs rounds losses to a grid, which matters where geometric losses add up to ε exactly.
    """
    plan = planned([krand.YesNo(name=f"q{number}") for number in range(count)], epsilon, delta)
    (law,) = plan.laws
    weights = np.array(law.weights, dtype=float) / 2**63
    theirs = bracket(np.append(weights, 0.0), np.append(0.0, weights), count, epsilon)
    assert theirs.low <= krand.promise_of(plan).delta * (1 + 1e-3)
    assert krand.promise_of(plan).delta <= theirs.high * 1.06
    assert max(theirs.low, krand.promise_of(plan).delta) <= delta


def planned(questions: Sequence[krand.YesNo], epsilon: float, delta: float) -> krand.Plan:
    """With the noise of one mixer."""
    policy = krand.Policy(epsilon=epsilon, delta=delta, minimum_crowd=2)
    trust = krand.Trust(noise="mixers", mixers=1)
    asked = krand.Survey(id="s", policy=policy, questions=tuple(questions), trust=trust)
    return krand.make_plan(asked)


@pytest.mark.parametrize("delta", [1e-3, 1e-12])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_gaussian_noise_of_a_trusted_curator(epsilon: float, delta: float) -> None:
    """σ that `krand noise` shows beside its own, where Gaussian noise is the better one."""
    asked = f"--crowd 10M --bits 100 --epsilon {epsilon} --delta {delta}"
    found = told("noise", asked)
    assert found["curator_noise"] == "Gaussian"
    one = dp_accounting.get_sigma_gaussian(epsilon, delta)
    assert found["curator_sigma"] == pytest.approx(10 * one, rel=1e-6)
