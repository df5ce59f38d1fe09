"""Copies, bits and rounds: losses add up and every rounding is on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.accounting.baselines import gaussian_delta
from krand.accounting.blanket import blanket_law
from krand.accounting.bounds import converted_eta
from krand.accounting.calibration import plan_noise, precision
from krand.accounting.channel import outlier_law
from krand.accounting.composition import compose, connect_dots, loss_nodes
from krand.accounting.mechanism import Mechanism
from krand.accounting.ratio import one_way_delta
from krand.accounting.record_bounds import record_profile
from krand.errors import InternalError
from krand.promise import Assurance, FreeBits, Linkage, Policy, ResponseFormat
from krand_lab.enumeration import exact_copies_outlier
from krand_lab.formulas import planner_copies_001_6_3
from krand_lab.simulation import simulate


def randomized_response(epsilon: float, nodes: np.ndarray, step: float):
    """Exact profile of one randomized bit: δ(ε') = (e^ε - e^ε')⁺/(1 + e^ε)."""
    values = np.maximum(math.exp(epsilon) - np.exp(step * nodes), 0) / (1 + math.exp(epsilon))
    return connect_dots(step, nodes, values, values)


def exact_response_delta(epsilon: float, count: int, at: float) -> float:
    """δ of `count` randomized bits in rational arithmetic: a binomial number of them tells."""
    q = 1 / (1 + math.exp(epsilon))
    total = Fraction(0)
    p, low = Fraction(1 - q), Fraction(q)
    for ups in range(count + 1):
        ways = math.comb(count, ups)
        one = ways * p**ups * low ** (count - ups)
        two = ways * low**ups * p ** (count - ups)
        total += max(Fraction(0), one - Fraction(math.exp(at)) * two)
    return float(total)


@pytest.mark.parametrize(("epsilon", "count", "at"), [(0.5, 1, 0.2), (0.1, 40, 1.0), (0.3, 7, 1.5)])
def test_randomized_response_composes_exactly(epsilon, count, at):
    """A law that lives on grid nodes is composed without any loss."""
    step = epsilon / 50
    law = randomized_response(epsilon, np.arange(0, 51), step)
    got = compose([(law, count)], at).delta(at)
    assert got == pytest.approx(exact_response_delta(epsilon, count, at), rel=1e-7)


@pytest.mark.check
def test_tiny_deltas_keep_their_digits():
    """A δ of 1e-20 comes out with the same relative accuracy as one of 1e-3."""
    law = randomized_response(0.1, np.arange(0, 51), 0.002)
    exact = exact_response_delta(0.1, 400, 22.0)
    assert 1e-27 < exact < 1e-15
    assert compose([(law, 400)], 22.0).delta(22.0) == pytest.approx(exact, rel=1e-6)


def gaussian_law(shift: float, steps: float):
    step = shift / steps
    nodes = loss_nodes(step, 12 * shift, 1, steps)
    values = np.array([gaussian_delta(shift, max(1e-300, e)) for e in step * nodes])
    values[0] = gaussian_delta(shift, 1e-12)
    return connect_dots(step, nodes, values, values)


@pytest.mark.parametrize("count", [1, 100, 10_000])
def test_gaussians_add_in_quadrature(count):
    """k Gaussians of shift μ are one of shift μ√k: never below, and at most 2 % above."""
    total = 0.4
    law = gaussian_law(total / math.sqrt(count), 20)
    exact = gaussian_delta(total, 1.5)
    got = compose([(law, count)], 1.5).delta(1.5)
    assert exact <= got <= 1.02 * exact


def test_different_laws_commute():
    """Composing A³B² does not depend on the order, and equals the reverse of the reverse."""
    step = 0.01
    one = randomized_response(0.2, np.arange(0, 21), step)
    two = randomized_response(0.5, np.arange(0, 51), step)
    here = compose([(one, 3), (two, 2)], 0.9).delta(0.9)
    there = compose([(two, 2), (one, 3)], 0.9).delta(0.9)
    back = compose([(one.reversed().reversed(), 3), (two, 2)], 0.9).delta(0.9)
    assert here == pytest.approx(there, rel=1e-9)
    assert here == pytest.approx(back, rel=1e-9)


def test_grids_must_match():
    """Laws on different grids are refused instead of being added wrongly."""
    one = randomized_response(0.2, np.arange(0, 21), 0.01)
    two = randomized_response(0.2, np.arange(0, 41), 0.005)
    with pytest.raises(InternalError):
        compose([(one, 1), (two, 1)], 0.5)


@pytest.mark.check
@given(
    st.integers(2, 60),
    st.integers(1, 4),
    st.integers(1, 120),
    st.integers(0, 40),
    st.integers(3, 12),
)
@settings(max_examples=60, deadline=None)
def test_connected_dots_dominate_the_profile(crowd, bits, noise, at, spacing):
    """Through any nodes the discrete pair has a profile nowhere below the true one."""
    q, step = noise / 256, 0.02
    law = outlier_law(q, bits)
    nodes = np.arange(0, spacing * 12, spacing)
    up = np.array([one_way_delta(law, crowd, step * n).upper for n in nodes])
    down = np.array([one_way_delta(law.swapped(), crowd, step * n).upper for n in nodes])
    pair = connect_dots(step, nodes, up, down)
    assert float(pair.mass.sum()) + pair.infinite == pytest.approx(1, abs=1e-9)
    epsilon = at * 0.05
    assert compose([(pair, 1)], epsilon).delta(epsilon) >= (
        one_way_delta(law, crowd, epsilon).lower * (1 - 1e-9)
    )
    back = compose([(pair.reversed(), 1)], epsilon).delta(epsilon)
    assert back >= one_way_delta(law.swapped(), crowd, epsilon).lower * (1 - 1e-9)


@pytest.mark.parametrize(
    ("crowd", "bits", "copies", "q"),
    [(3, 1, 2, "1/4"), (5, 1, 3, "3/10"), (4, 2, 2, "3/10"), (8, 2, 2, "1/3"), (10, 1, 4, "2/5")],
)
@pytest.mark.parametrize("lam", ["3/2", "3"])
def test_copies_are_never_better_protected_than_claimed(crowd, bits, copies, q, lam):
    """k copies mixed in one batch: the composed bound holds the exact value, both directions."""
    exact = exact_copies_outlier(crowd, bits, copies, Fraction(q), Fraction(lam))
    responses = ResponseFormat(bits, linkage=Linkage.RECORD, copies=copies)
    epsilon = math.log(Fraction(lam))
    mechanism = Mechanism(responses, crowd, epsilon, Assurance.OUTLIER)
    delta = mechanism.delta(float(Fraction(q))).bounds
    eta = mechanism.eta(float(Fraction(q))).bounds
    assert delta.forward.upper >= float(exact.delta_forward)
    assert delta.reverse.upper >= float(exact.delta_reverse)
    assert eta.forward.upper >= float(exact.eta_forward)
    assert eta.reverse.upper >= float(exact.eta_reverse)


@pytest.mark.check
@pytest.mark.parametrize(("copies", "q"), [(16, 0.3593), (256, 0.375), (1024, 0.3832)])
def test_monte_carlo_of_copies_meets_the_composition(copies, q):
    """Simulated e_k lies at or just below the composed bound: the bound is tight.

    At k = 1024 the mathematics page prints a tail of .0050 (.0053 simulated); both ways computed
    here it is .0041.
    """
    profile = record_profile(outlier_law(q, 40), 10**7, copies, 10.0)
    composed = compose([(profile.loss(), copies)], 2.0)
    seen = simulate(40, q, 10**7, 2.0, copies=copies, samples=6000, seed=7, confidence=0.999)
    assert seen.delta_forward.low <= composed.delta(2.0)
    assert seen.delta_forward.high >= 0.93 * composed.delta(2.0)
    assert seen.eta_forward.low <= composed.tail(2.0) <= seen.eta_forward.high * 1.05
    if copies == 1024:
        assert composed.tail(2.0) < 0.0045
        assert seen.eta_forward.high < 0.0049


@pytest.mark.parametrize(("copies", "rate"), [(4, 0.008), (16, 0.147), (50, 0.61), (200, 0.987)])
def test_the_drafts_rule_for_copies_fails(copies, rate):
    """Noise from 001 (6.3) lets R exceed e² in .8 %, 15 %, 61 %, 98.7 % of outcomes.

    The mathematics page prints 12.5 % for k = 16.
    """
    q = planner_copies_001_6_3(10**7, 40, math.e**2, copies)
    seen = simulate(
        40, q, 10**7, 2.0, copies=copies, samples=4000, seed=3, importance=False, confidence=0.999
    )
    assert seen.eta_forward.low <= rate <= seen.eta_forward.high


def tail_of_copies(copies: int, q: float) -> float:
    """P[R > e²] for L = 40 and N = 10⁷, composed."""
    profile = record_profile(outlier_law(q, 40), 10**7, copies, 10.0)
    return compose([(profile.loss(), copies)], 2.0).tail(2.0)


@pytest.mark.parametrize(
    ("copies", "q", "sigma"),
    [
        (1, 0.345, 4846),
        (2, 0.348, 3504),
        (4, 0.354, 2587),
        (16, 0.359, 1348),
        (64, 0.367, 715),
        (256, 0.375, 383),
        (1024, 0.383, 206),
    ],
)
def test_what_copies_buy(copies, q, sigma):
    """Precision: σ at the printed noise, to its digits; and the bare tail stays .003 to .005."""
    responses = ResponseFormat(40, linkage=Linkage.RECORD, copies=copies)
    low = precision(responses, q - 0.0006, 10**7).sigma
    high = precision(responses, q + 0.0006, 10**7).sigma
    assert low <= sigma <= high
    finer = {2: 0.348, 16: 0.3593, 64: 0.367, 256: 0.375, 1024: 0.3832}
    if copies in finer:
        tail = tail_of_copies(copies, finer[copies])
        assert 0.0029 <= tail <= 0.0052
        assert tail == pytest.approx({16: 0.0049, 256: 0.0035}.get(copies, tail), rel=0.05)


def test_ten_thousand_copies():
    """k = 10⁴ composes, and close to the Gaussian with the same second moment."""
    copies, q = 10_000, 0.40
    profile = record_profile(outlier_law(q, 40), 10**7, copies, 10.0)
    p = 1 - q
    phi = p / q + q / p - 1
    shift = math.sqrt(copies * (phi**40 - 1) / 10**7)
    got = compose([(profile.loss(), copies)], 2.0).delta(2.0)
    assert got == pytest.approx(gaussian_delta(shift, 2.0), rel=0.15)


def sigmas(epsilon: float, copies: tuple[int, ...]) -> list[float]:
    policy = Policy(epsilon=epsilon, minimum_crowd=10**4, delta=1e-6)
    return [plan_noise(policy, ResponseFormat(1, copies=k)).precision.sigma for k in copies]


@pytest.mark.check
def test_one_bit_gains_from_copies_only_while_flips_are_few():
    """One bit, δ = 1e-6: four copies gain a fifth at ε = 1 and nothing to speak of at ε = .1.

    As a rule of thumb copies buy nothing for L = 1. That is so when Nq is large. With a few dozen
    flips the noise is Poisson, not Gaussian, and copies take away its skewness.
    """
    few = sigmas(1.0, (1, 4))
    assert few[1] < 0.82 * few[0]
    many = sigmas(0.1, (1, 4))
    assert many[1] == pytest.approx(many[0], rel=0.03)


def test_conversion_is_the_minimum_over_smaller_epsilons():
    """η(ε) ≤ δ(ε')/(1-e^(ε'-ε)) for every ε' < ε; for a pure bound it is 0 beyond ε₀."""
    assert converted_eta(lambda e: 0.0, 1.0) == 0
    flat = converted_eta(lambda e: 1e-6, 1.0)
    assert 1e-6 / (1 - math.exp(-0.7)) == pytest.approx(flat, rel=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "delta"), [(1.65e-5, 1.75e-5, 1e-3), (3.95e-5, 4.05e-5, 1e-6)]
)
def test_blanket_of_forty_single_bits(low, high, delta):
    """N = 10⁷, ε = 2: forty one-bit blankets need q = 1.7e-5 and 4.0e-5."""

    def composed_delta(q: float) -> float:
        profile = record_profile(blanket_law(q, [FreeBits(1)]), 10**7, 40, 20.0)
        return compose([(profile.loss(), 40)], 2.0).delta(2.0)

    assert composed_delta(high) <= delta <= composed_delta(low)


def test_blanket_of_forty_single_bits_converted():
    """The same row's η: δ converted at q = 2.23e-5 gives .003."""
    profile = record_profile(blanket_law(2.23e-5, [FreeBits(1)]), 10**7, 40, 20.0)
    composed = compose([(profile.loss(), 40)], 2.0)
    assert converted_eta(composed.delta, 2.0) == pytest.approx(0.003, rel=0.06)
