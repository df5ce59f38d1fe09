"""Composing laws of losses: exact where it can be, never below the truth, and hardly above."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from accounting.engine import LossLaw, compose, connect_dots, loss_nodes
from effort import EFFORT
from oracle import binomial_law, compared, factor_of

STEP = 0.01


def bit_law(epsilon: float, tells: float = 0.0) -> LossLaw:
    """One randomized bit, by its profile (e^ε - e^ε')⁺/(1 + e^ε); now and then it tells all."""
    nodes = np.arange(0, round(epsilon / STEP) + 1)
    values = np.maximum(math.exp(epsilon) - np.exp(STEP * nodes), 0) / (1 + math.exp(epsilon))
    values = tells + (1 - tells) * values
    return connect_dots(STEP, nodes, values, values.copy())


def gaussian_law(shift: float) -> LossLaw:
    """Two unit Gaussians so far apart."""
    step = shift / 20
    nodes = loss_nodes(step, 12 * shift, 1)
    values = np.array([gaussian_delta(shift, step * node) for node in nodes])
    return connect_dots(step, nodes, values, values.copy())


def gaussian_delta(shift: float, epsilon: float) -> float:
    near, far = (stats.norm.logcdf(s * shift / 2 - epsilon / shift) for s in (1, -1))
    return float(math.exp(near) - math.exp(epsilon + far))


def delta_of(parts: list[tuple[LossLaw, int]], epsilon: float) -> float:
    return compose(parts, epsilon).delta(epsilon)


@pytest.mark.parametrize(
    ("epsilon", "count", "at"), [(0.5, 1, 0.2), (0.1, 40, 1.0), (0.3, 7, 1.5), (0.1, 400, 22.0)]
)
def test_randomized_bits_compose_exactly(epsilon: float, count: int, at: float) -> None:
    """A law that lives on the nodes loses nothing, be δ 1e-3 or 1e-20: a binomial law tells it."""
    q = Fraction(1 / (1 + math.exp(epsilon)))
    ones, zeros = binomial_law(count, 1 - q), binomial_law(count, q)
    exact = float(compared(ones, zeros, factor_of(at)).delta)
    found = delta_of([(bit_law(epsilon), count)], at)
    assert found >= exact * (1 - 1e-9), f"δ {found!r}, not at least {exact!r}"
    assert found == pytest.approx(exact, rel=1e-6)


def test_what_tells_everything_now_and_then_counts_in_full() -> None:
    """Beyond all losses that a law can have, δ is the probability that some report told all."""
    found = delta_of([(bit_law(0.5, 1e-3), 3)], 5.0)
    assert found == pytest.approx(1 - (1 - 1e-3) ** 3, rel=1e-6)
    assert found >= 1 - (1 - 1e-3) ** 3


@pytest.mark.parametrize("count", [1, 100, 10_000])
def test_gaussians_add_in_quadrature(count: int) -> None:
    """k Gaussians of shift μ are one of shift μ√k: never below, and at most 2 % above."""
    exact = gaussian_delta(0.4, 1.5)
    found = delta_of([(gaussian_law(0.4 / math.sqrt(count)), count)], 1.5)
    assert exact <= found <= 1.02 * exact, f"δ {found!r}, not {exact!r}"


def test_neither_order_nor_direction_matters_twice() -> None:
    """A³B² is B²A³, and a law that was turned around twice is itself."""
    one, two = bit_law(0.2, 1e-4), bit_law(0.5)
    expected = delta_of([(one, 3), (two, 2)], 0.9)
    for parts in ([(two, 2), (one, 3)], [(one.reversed().reversed(), 3), (two, 2)]):
        assert delta_of(parts, 0.9) == pytest.approx(expected, rel=1e-9)


def random_pair(chance: random.Random) -> tuple[list[float], list[float]]:
    """Two laws on a few outcomes, one of which may be impossible under the second."""
    laws = []
    for _ in range(2):
        weights = [chance.expovariate(1.0) ** 3 for _ in range(chance.choice((2, 3, 8)))]
        laws.append(weights + [chance.choice((0.0, 0.01))] * (8 - len(weights)))
    return tuple([weight / sum(law) for weight in law] for law in laws)  # type: ignore[return-value]


def test_connected_dots_are_never_below_the_profile() -> None:
    """Through any nodes, in both directions, for pairs of laws without any symmetry."""
    for number in range(40 * EFFORT):
        chance = random.Random(number)
        one, two = ([Fraction(mass) for mass in law] for law in random_pair(chance))
        one, two = ([mass / sum(law) for mass in law] for law in (one, two))
        gaps = [chance.choice((1, 3, 40)) for _ in range(30)]
        nodes = np.concatenate(([0], np.cumsum(gaps)))
        profiles = [
            np.array([float(compared(a, b, factor_of(STEP * n)).delta) for n in nodes.tolist()])
            for a, b in ((one, two), (two, one))
        ]
        law = connect_dots(STEP, nodes, *profiles)
        total = float(law.mass.sum()) + law.infinite
        assert total == pytest.approx(1, abs=1e-9), f"{number}: mass {total}"
        for epsilon in (0.0, 0.03, 0.5, 2.0, 20.0):
            for pair, laws in ((law, (one, two)), (law.reversed(), (two, one))):
                exact = float(compared(*laws, factor_of(epsilon)).delta)
                found = delta_of([(pair, 1)], epsilon)
                assert found >= exact * (1 - 1e-9) - 1e-15, f"{number}: {found!r}, not {exact!r}"
