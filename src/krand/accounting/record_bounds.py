"""Bounds for whole records, for every background: one copy in one round, or several composed.

Mixing kN responses is post-processing of k separately shuffled batches, so the k-fold composition
of the one-copy pair bounds the k-copy mechanism, and it is tight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krand.accounting.blanket import blanket_law
from krand.accounting.bounds import Effort, converted_eta
from krand.accounting.channel import local_delta
from krand.accounting.composition import (
    FURTHEST,
    Composed,
    LossLaw,
    compose,
    connect_dots,
    loss_nodes,
    loss_step,
)
from krand.accounting.ratio import upper_delta
from krand.promise import Block, Method, ResponseFormat

STEPS = (3.0, 3.0, 10.0)
"""By effort."""
NEGLIGIBLE = 1e-17
RESOLUTION = 6.0
"""Smoothing per node and step: with 10 steps per spread it adds about 1/60² to the variance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBound:
    """Records with one noise in a crowd; the blanket's pair is its own mirror."""

    responses: ResponseFormat
    noise: float
    crowd: int
    epsilon: float

    @property
    def method(self) -> Method:
        """The argument behind δ."""
        return Method.PRIVACY_BLANKET

    def delta(self, effort: Effort) -> float:
        """δ(ε)."""
        if self._compositions > 1:
            return self._composed(effort).delta(self.epsilon)
        law = blanket_law(self.noise, self.responses.blocks)
        return upper_delta(law, self.crowd, self.epsilon, refine=True)

    def eta(self, effort: Effort) -> float:
        """η(ε), converted from δ."""
        if self._compositions > 1:
            return converted_eta(self._composed(effort).delta, self.epsilon)
        law, distance = blanket_law(self.noise, self.responses.blocks), self.responses.sensitivity

        def delta(epsilon: float) -> float:
            return min(
                upper_delta(law, self.crowd, epsilon), local_delta(self.noise, distance, epsilon)
            )

        return converted_eta(delta, self.epsilon)

    @property
    def _compositions(self) -> int:
        """Every copy of every round counts as a batch of its own."""
        return self.responses.copies * self.responses.rounds

    def _composed(self, effort: Effort) -> Composed:
        count, blocks = self._compositions, self.responses.blocks
        loss = record_loss(self.noise, blocks, self.crowd, count, STEPS[effort])
        return compose([(loss, count)], self.epsilon)


@lru_cache(maxsize=16)
def record_loss(
    noise: float, blocks: tuple[Block, ...], crowd: int, compositions: int, steps_per_spread: float
) -> LossLaw:
    """The pair of one shuffled batch, with nodes dense enough to be composed so many times.

    δ and η of the same noise share it.
    """
    law = blanket_law(noise, blocks)
    limit, resolution = NEGLIGIBLE / compositions, RESOLUTION * steps_per_spread
    values = [upper_delta(law, crowd, 0.0, resolution)]
    step = loss_step(values[0], steps_per_spread, compositions)
    reach = min(FURTHEST, float(np.abs(law.second - law.first).max()) * law.log_odds)
    nodes = loss_nodes(step, reach, compositions, steps_per_spread)
    for node in nodes[1:]:
        values.append(upper_delta(law, crowd, step * float(node), resolution))
        if values[-1] < limit:  # no later one matters
            break
    profile = np.array(values)
    return connect_dots(step, nodes[: profile.size], profile, profile)
