"""Copies, bits and rounds: losses add up and every rounding is on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.accounting.baselines import gaussian_delta
from krand.accounting.bounds import converted_eta
from krand.accounting.calibration import plan_noise
from krand.accounting.composition import compose, connect_dots, loss_nodes
from krand.accounting.mechanism import Mechanism
from krand.accounting.record_bounds import record_loss
from krand.errors import InternalError
from krand.promise import FreeBits, Linkage, Policy, ResponseFormat
from krand_lab.enumeration import exact_copies_outlier
from krand_lab.exact.backgrounds import outlier_law, swapped
from krand_lab.exact.ratio import one_way_delta


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


def test_what_tells_everything_now_and_then_counts_in_full():
    """Beyond all losses that a law can have, δ is the probability that some response told all."""
    step, tells = 0.01, 1e-3
    nodes = np.arange(0, 51)
    values = np.maximum(math.exp(0.5) - np.exp(step * nodes), 0) / (1 + math.exp(0.5))
    law = connect_dots(step, nodes, tells + (1 - tells) * values, tells + (1 - tells) * values)
    assert compose([(law, 3)], 5.0).delta(5.0) == pytest.approx(1 - (1 - tells) ** 3, rel=1e-6)


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
    down = np.array([one_way_delta(swapped(law), crowd, step * n).upper for n in nodes])
    pair = connect_dots(step, nodes, up, down)
    assert float(pair.mass.sum()) + pair.infinite == pytest.approx(1, abs=1e-9)
    epsilon = at * 0.05
    assert compose([(pair, 1)], epsilon).delta(epsilon) >= (
        one_way_delta(law, crowd, epsilon).lower * (1 - 1e-9)
    )
    back = compose([(pair.reversed(), 1)], epsilon).delta(epsilon)
    assert back >= one_way_delta(swapped(law), crowd, epsilon).lower * (1 - 1e-9)


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
    mechanism = Mechanism(responses, crowd, epsilon)
    delta, _ = mechanism.delta(float(Fraction(q)))
    eta, _ = mechanism.eta(float(Fraction(q)))
    assert delta >= max(exact.delta_forward, exact.delta_reverse)
    assert eta >= max(exact.eta_forward, exact.eta_reverse)


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
        loss = record_loss(q, (FreeBits(1),), 10**7, 40, 20.0)
        return compose([(loss, 40)], 2.0).delta(2.0)

    assert composed_delta(high) <= delta <= composed_delta(low)


def test_blanket_of_forty_single_bits_converted():
    """The same row's η: δ converted at q = 2.23e-5 gives .003."""
    loss = record_loss(2.23e-5, (FreeBits(1),), 10**7, 40, 20.0)
    composed = compose([(loss, 40)], 2.0)
    assert converted_eta(composed.delta, 2.0) == pytest.approx(0.003, rel=0.06)
