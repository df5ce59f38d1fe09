"""From how many people on a word will be found: known from the plan, before any data.

Counts are noise of a known σ plus other people's words that fall on the same positions. The noise
of a count has variance σ² and third cumulant σ²/k for k copies; a Poisson law about its mean has
both for k = 1, and more weight far out than any k > 1 would give, so it stands for the noise. A
word that x people name falls on a given position with probability h/P. What other words are
supposed to be named must be said; with nothing said the limit is that of a quiet block, in which
one word is named and everything else is noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from krand.analysis.words.decoding import chance_of
from krand.errors import InvalidInput
from krand.survey.questions import Words

Floats = NDArray[np.float64]

CELLS = 2**16
CELLS_PER_SIGMA = 32
LOWEST = 16
"""The grid begins so many σ below zero."""
HIGHEST = 1000
"""Counts of more than so many σ are as good as infinite."""


def planned_limit(
    question: Words,
    sigma: float,
    candidates: int,
    supposed: Sequence[float] = (),
    outside: Sequence[float] = (),
    false_discovery_rate: float = 0.05,
    confidence: float = 0.95,
) -> float | None:
    """The count from which a candidate is found with this confidence; None if none ever is.

    `supposed` are the counts that other candidates may have, `outside` those of words that are on
    no list. Both only matter where words are popular or many.
    """
    if not (math.isfinite(sigma) and sigma > 0):
        raise InvalidInput("sigma", "must be a number above 0", sigma)
    if candidates < 1:
        raise InvalidInput("candidates", "must be at least 1", candidates)
    listed = np.asarray(supposed, dtype=np.float64) / sigma
    others = np.concatenate([listed, np.asarray(outside, dtype=np.float64) / sigma])
    tail = _Tail(sigma, others, question.hashes / question.size)
    threshold = _threshold(tail, question, candidates, listed, false_discovery_rate)
    if threshold is None:
        return None
    low = tail.exceeded_with(confidence ** (1 / question.hashes))
    return max(1.0, math.ceil((threshold - low) * sigma))


class _Tail:
    """The law of one position's estimate, in units of σ."""

    def __init__(self, sigma: float, others: Floats, chance: float) -> None:
        cells = np.zeros(CELLS)
        np.add.at(cells, np.rint(np.minimum(others, HIGHEST) * CELLS_PER_SIGMA).astype(int), 1)
        angle = 2 * np.pi * np.fft.rfftfreq(CELLS) * CELLS_PER_SIGMA / sigma
        noise = sigma**2 * (np.expm1(-1j * angle) + 1j * angle)
        words = chance * (np.fft.rfft(cells) - len(others))
        moved = np.exp(-1j * angle * sigma * LOWEST)
        law = np.fft.irfft(np.exp(noise + words) * moved, CELLS)
        self.at = np.arange(CELLS) / CELLS_PER_SIGMA - LOWEST
        self.chances = np.clip(np.cumsum(law[::-1])[::-1], 0.0, 1.0)

    def beyond(self, value: Floats) -> Floats:
        """The chance of an estimate of at least this much."""
        return np.interp(value, self.at, self.chances, left=1.0, right=0.0)

    def exceeded_with(self, chance: float) -> float:
        """What an estimate is at least, with this probability."""
        return float(self.at[np.flatnonzero(self.chances >= chance)[-1]])


def _threshold(
    tail: _Tail, question: Words, candidates: int, listed: Floats, rate: float
) -> float | None:
    """The least value from which on words are found, in units of σ."""
    sizes = np.array([len(table) for table in question.tables], dtype=np.float64)
    steps = np.concatenate([np.arange(0, 40, 1 / 16), np.geomspace(40, HIGHEST, 200)])
    for step in steps:
        share = float(tail.beyond(np.array([step]))[0])
        mean = question.size * share
        # So many positions count that much, two standard deviations granted, and its own.
        above = sizes * (mean + 2 * math.sqrt(mean)) / question.size + 1
        found = 1 + float((tail.beyond(step - listed) ** question.hashes).sum())
        if chance_of(above, sizes) <= rate * found / candidates:
            return float(step)
    return None
