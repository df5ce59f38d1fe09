"""What an outcome says about the one person it says most about, over all changes of answer.

Positions are flipped apart, so log-ratios add up. Two answers of one person differ, in a block with
at most m ones, by at most m bits that become 1 and at most m that become 0: the worst change takes
the m largest log-ratios above 0 and the m smallest below.

The true ones that a ratio is computed for are estimated from the very counts that it is the ratio
of. So the ratio seen is near 1 by construction: it is that of somebody who knows no more about the
others than the tally says. Somebody who knows all others' answers sees the noise itself, which no
tally tells. What *that* person can see is therefore given by its law: outcomes of a crowd with
these true ones, each with its own worst change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TIE = 1e-9
"""Log-ratios this close, relatively, are one."""
LIMIT = 0.95
MOST_DRAWS, FEWEST_DRAWS = 2000, 200
DRAWN_IN_ALL = 10**8
DRAWN_AT_ONCE = 2**21


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountLaw:
    """How likely every count of a position is, and the log-ratio that it gives."""

    start: int
    """The count that the first entry is of; counts not listed have a chance below e^-50."""
    chances: Floats
    log_ratios: Floats

    def log_ratio(self, count: int) -> float:
        """log R; a count too rare to be listed has that of the nearest one."""
        return float(self.log_ratios[min(max(count - self.start, 0), len(self.chances) - 1)])

    def as_far(self, log_ratio: float) -> float:
        """P[|log R| ≥ |log_ratio|]."""
        far = np.abs(self.log_ratios) >= abs(log_ratio) * (1 - TIE)
        return min(1.0, float(self.chances[far].sum()))

    def in_order(self) -> CountLaw:
        """By the log-ratio, which need not grow with the count: dummies have any law."""
        order = np.argsort(self.log_ratios, kind="stable")
        return CountLaw(start=0, chances=self.chances[order], log_ratios=self.log_ratios[order])


Group = tuple[CountLaw, int]
"""A law whose log-ratios do not fall, and how many positions follow it."""


@dataclass(frozen=True, slots=True)
class ChangeLaw:
    """ε of the worst change of answer in outcomes of a crowd, by simulation."""

    typical: float
    """The median."""
    limit: float
    """95 % of the outcomes stay below."""
    draws: int


@dataclass(frozen=True, slots=True)
class WorstChange(ChangeLaw):
    """The same for an observer who knows everybody else's answers, and for this outcome."""

    seen: float
    """If the true ones are as estimated, and the observer knows no more than that."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockSeen:
    """The positions of a block; those with the same law are exchangeable, and grouped."""

    most_ones: int
    log_ratios: Floats
    groups: Sequence[Group]
    balanced: bool = False
    """Whether one position loses a message wherever another gains one: no answer is one of them."""

    @property
    def kept(self) -> int:
        """How many log-ratios of an outcome can be part of its worst change."""
        return sum(min(2 * self.most_ones, count) for _, count in self.groups)


def worst_change(blocks: Sequence[BlockSeen], seed: int = 0) -> WorstChange:
    """The worst change of this outcome, and its law by simulation."""
    seen = sum(float(_worst(block.log_ratios, block)) for block in blocks)
    law = change_law(blocks, seed)
    return WorstChange(law.typical, law.limit, law.draws, seen)


def change_law(blocks: Sequence[BlockSeen], seed: int = 0) -> ChangeLaw:
    """What outcomes reveal about the person about whom they reveal most."""
    kept = sum(block.kept for block in blocks)
    draws = max(FEWEST_DRAWS, min(MOST_DRAWS, DRAWN_IN_ALL // kept))
    rng = np.random.default_rng(seed)
    total = np.zeros(draws)
    for block in blocks:
        total += _worst_of_block(rng, block, draws)
    middle, high = np.quantile(total, [0.5, LIMIT], method="higher")
    return ChangeLaw(float(middle), float(high), draws)


def _worst(log_ratios: Floats, block: BlockSeen) -> Floats:
    """Σ of the largest above 0 less Σ of the smallest below 0, along the last axis."""
    most = min(block.most_ones, log_ratios.shape[-1])
    ordered = np.sort(log_ratios, axis=-1)
    up, down = ordered[..., -most:], ordered[..., :most]
    if not block.balanced:
        up, down = np.maximum(up, 0.0), np.minimum(down, 0.0)
    with np.errstate(invalid="ignore"):
        found = up.sum(axis=-1) - down.sum(axis=-1)
    found = np.nan_to_num(found, nan=np.inf, posinf=np.inf)  # ∞ - ∞: no answer gives this outcome
    return np.asarray(found)


def _worst_of_block(rng: np.random.Generator, block: BlockSeen, draws: int) -> Floats:
    """The worst change of a block in each of some outcomes, a few outcomes at a time."""
    most, step = block.most_ones, max(1, DRAWN_AT_ONCE // block.kept)
    parts = []
    for start in range(0, draws, step):
        size = min(step, draws - start)
        extremes = [_extremes(rng, law, count, most, size) for law, count in block.groups]
        parts.append(_worst(np.concatenate(extremes, axis=1), block))
    return np.concatenate(parts)


def _extremes(rng: np.random.Generator, law: CountLaw, count: int, most: int, draws: int) -> Floats:
    """The `most` largest and smallest log-ratios of so many positions; all, where they are few.

    Only the ends of a long list are drawn: below its largest uniform numbers the others are
    uniform again.
    """
    if count <= 2 * most:
        uniform = rng.random((draws, count))
    else:
        top = _largest(rng, draws, count, most)
        bottom = top[:, -1:] * (1 - _largest(rng, draws, count - most, most))
        uniform = np.concatenate([top, bottom], axis=1)
    reached = np.cumsum(law.chances)
    # Ratios are in order, so that a quantile of the place is one of the ratio.
    places = np.searchsorted(reached, uniform * reached[-1], side="right")
    return np.asarray(law.log_ratios[np.minimum(places, reached.size - 1)])


def _largest(rng: np.random.Generator, draws: int, count: int, most: int) -> Floats:
    """The largest of `count` uniform numbers, from the top: U₁^(1/n), times U₂^(1/(n-1)), …"""
    gaps = rng.standard_exponential((draws, most)) / (count - np.arange(most))
    return np.asarray(np.exp(-np.cumsum(gaps, axis=1)))
