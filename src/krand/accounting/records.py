"""Linked records as a mechanism to compose: k copies, several rounds.

Mixing kN responses is post-processing of k separately shuffled batches, so the k-fold composition
of the one-copy pair bounds the k-copy mechanism, and it is tight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.accounting.channel import ReportLaw
from krand.accounting.composition import FURTHEST, LossLaw, connect_dots, loss_nodes, loss_step
from krand.accounting.ratio import upper_delta

__all__ = ["RecordProfile", "record_profile"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEGLIGIBLE = 1e-17
RESOLUTION = 6.0
"""Smoothing per node and step: with 10 steps per spread it adds about 1/60² to the variance."""


@dataclass(frozen=True, slots=True)
class RecordProfile:
    """h(ε) of one shuffled batch at grid nodes, y → y' and y' → y."""

    step: float
    nodes: Ints
    forward: Floats
    reverse: Floats

    def loss(self) -> LossLaw:
        """The pair through all nodes."""
        return connect_dots(self.step, self.nodes, self.forward, self.reverse)


def record_profile(
    law: ReportLaw, crowd: int, compositions: int, steps_per_spread: float
) -> RecordProfile:
    """Upper bounds of the profile, dense enough to be composed so many times."""
    limit, resolution = NEGLIGIBLE / compositions, RESOLUTION * steps_per_spread

    def profile(one: ReportLaw) -> Callable[[float], float]:
        return lambda epsilon: upper_delta(one, crowd, epsilon, resolution)

    forward, reverse = profile(law), profile(law.swapped())
    # Total variation has no direction: the better of the two bounds holds for both.
    top = min(forward(0.0), reverse(0.0))
    step = loss_step(top, steps_per_spread, compositions)
    reach = min(FURTHEST, float(np.abs(law.second - law.first).max()) * law.log_odds)
    nodes = loss_nodes(step, reach, compositions, steps_per_spread)
    epsilons = step * nodes.astype(np.float64)
    up = _until(forward, top, epsilons, limit)
    down = up if law.is_symmetric else _until(reverse, top, epsilons, limit)
    used = max(up.size, down.size)
    return RecordProfile(step, nodes[:used], _padded(up, used), _padded(down, used))


def _until(
    profile: Callable[[float], float], first: float, epsilons: Floats, limit: float
) -> Floats:
    """The profile at each ε up to the first that no longer matters."""
    values = [first]
    for epsilon in epsilons[1:]:
        values.append(profile(float(epsilon)))
        if values[-1] < limit:
            break
    return np.array(values)


def _padded(values: Floats, size: int) -> Floats:
    """Profiles only fall, so the last value bounds all later ones."""
    return np.append(values, np.full(size - values.size, values[-1]))
