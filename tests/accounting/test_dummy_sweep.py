"""Random plans of mixers: each keeps its promise or is refused, by a checker of its own.

For one position it adds up whole numbers. For more it moves every loss to its two neighbours on a
grid, such that both laws keep their mass, which can only tell more; it adds losses up by repeated
doubling, and counts what it drops as if it told everything. So its δ is not below the true one, but
for errors of rounding.
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import fftconvolve

import krand
from accounting.engine import LARGEST_REACH, DummyLaw, least_dummies
from effort import EFFORT
from oracle import factor_of

GRID = 2**63
CELLS = (2**12, 2**13, 2**14)
"""Cells of the grid to either side, for twelve standard deviations of the whole loss or more, and
more of them if these do not suffice; four times as many where sums are quick."""
SMALL, RAREST = 1e-9, 1e-60
"""Below this δ sums are added up directly, term by term; what is rarer counts as told."""
TOLERANCE = 1.05
"""How much larger than the true δ the checker's may be."""

Floats = NDArray[np.float64]


def exact_delta(law: DummyLaw, epsilon: float) -> float:
    """One position: Σ (w - e^ε·w')⁺ in whole numbers."""
    factor = factor_of(epsilon)
    over, under = factor.denominator, factor.numerator
    terms = (
        over * after - under * before for before, after in itertools.pairwise((0, *law.weights))
    )
    return float(Fraction(sum(term for term in terms if term > 0), over * GRID))


class Losses:
    """Masses on whole multiples of a step, from the lowest index on; what is beyond is infinite."""

    def __init__(self, lowest: int, mass: Floats, infinite: float) -> None:
        self.lowest, self.mass, self.infinite = lowest, mass, infinite

    def plus(self, other: Losses, cells: int, direct: bool) -> Losses:
        """Their sum: what is above the window is infinite, what is below it is rounded up."""
        convolve = np.convolve if direct else fftconvolve  # which is quicker, and good to 1e-16
        mass = np.maximum(convolve(self.mass, other.mass), 0.0)
        lowest, rare = self.lowest + other.lowest, mass < RAREST
        mass, left_out = np.where(rare, 0.0, mass), float(mass[rare].sum())
        infinite = left_out + 1 - (1 - self.infinite) * (1 - other.infinite)
        cut = max(0, min(mass.size - 1, -cells - lowest))
        mass[cut] += mass[:cut].sum()
        mass, lowest = mass[cut:], lowest + cut
        most = max(1, cells - lowest + 1)
        return Losses(lowest, mass[:most], infinite + float(mass[most:].sum()))


def common_loss(losses: Floats, masses: Floats, delta: float) -> float:
    """Larger losses have a thousandth of δ at most: they may count as infinite."""
    order = np.argsort(losses)
    rarer = np.cumsum(masses[order][::-1])[::-1]
    return float(losses[order][np.flatnonzero(rarer > delta / 1000).max(initial=0)])


def checked_delta(law: DummyLaw, count: int, epsilon: float, delta: float, cells: int) -> float:
    """An upper bound of δ(ε) of so many positions, a little above the truth."""
    if count == 1:
        return exact_delta(law, epsilon)
    weights = np.array(law.weights, dtype=np.float64) / GRID
    losses, masses = np.log(weights[1:] / weights[:-1]), weights[1:]
    if count * float(losses.max()) < epsilon * (1 - 1e-13):  # no sum of losses is above ε
        return -math.expm1(count * math.log1p(-float(weights[0])))
    spread = math.sqrt(count * float((losses**2 * masses).sum()))
    middle = abs(float(losses[law.reach]))  # every loss, if noise is geometric: on the grid
    direct = delta < SMALL
    cells = cells if direct else 4 * cells
    step = max(12 * spread, 2 * epsilon, common_loss(losses, masses, delta / count)) / cells
    step = middle / max(1, math.floor(middle / step)) if middle > step else step
    index = np.floor(losses / step).astype(np.int64)
    up = np.expm1(step * index - losses) / math.expm1(-step)  # the part that moves up
    rare, lowest = index >= cells, max(-cells, int(index.min()))
    low = np.maximum(index[~rare], lowest) - lowest
    found = np.zeros(int(low.max()) + 2)
    np.add.at(found, low, masses[~rare] * (1 - up[~rare]))
    np.add.at(found, low + 1, masses[~rare] * up[~rare])
    one = Losses(lowest, found, float(weights[0] + masses[rare].sum()))
    total = Losses(0, np.ones(1), 0.0)
    while count:
        if count % 2:
            total = total.plus(one, cells, direct)
        one, count = one.plus(one, cells, direct), count // 2
    loss = step * (total.lowest + np.arange(total.mass.size))
    above = loss > epsilon
    return total.infinite + float((total.mass[above] * -np.expm1(epsilon - loss[above])).sum())


@pytest.mark.parametrize("seed", range(EFFORT))
def test_random_plans_keep_their_policy_or_name_the_limit(seed: int) -> None:
    """t 1 … 1,000, ε 1e-6 … 100, δ 1e-300 … 0.5, log-uniform; a refusal names R or 2^-63."""
    draw = random.Random(seed)
    count, epsilon = round(10 ** draw.uniform(0, 3)), 10 ** draw.uniform(-6, 2)
    delta = 10 ** draw.uniform(-300 if seed % 2 else -20, math.log10(0.5))
    asked = krand.Policy(epsilon=epsilon, delta=delta, minimum_crowd=2)
    try:
        found = least_dummies(asked, [(count, 1.0)])
    except krand.CannotMeet as refused:
        reason, laws = refused.reason, ()
    else:
        reason, laws = "", found.noise
    if not laws:
        assert (delta < count / GRID) == ("2^-63" in reason), reason
        assert "2^-63" in reason or f"{LARGEST_REACH:,}" in reason, reason
        return
    (law,) = laws
    assert found.promise.delta <= delta
    assert law.reach <= LARGEST_REACH
    bounds = []
    for cells in CELLS:
        bounds.append(checked_delta(law, count, epsilon, delta, cells))
        if bounds[-1] <= TOLERANCE * delta:
            return
    raise AssertionError(f"t {count}, ε {epsilon}, δ {delta}: {bounds}")
