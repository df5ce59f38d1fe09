"""Which words were named at all, with a share of false ones that is controlled.

A word that nobody named has left no trace: its positions are where the hash threw them, independent
of every count. So, given the counts, they are a random set of h different positions, and the chance
that all of them count as much as the least of this word's does is

    p = C(K, h) / C(P, h),   K = how many of the P positions count at least that much.

This holds exactly, whatever people said: words that are on no list, popular ones too, answers of
several words, any law of the noise, any number of copies. It rests on two things: that the hash
behaves like a random function, and that the list was made without looking at the counts (whoever
searches a dictionary must give the whole dictionary as the list). Given the counts and the
positions of the words that were named, these p-values are independent of each other, so the rule of
Benjamini and Hochberg (1995) keeps its promise exactly: no correction for dependence is needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["adjusted_p_values", "chance_of", "found_from", "p_values", "room_for"]

Floats = NDArray[np.float64]


def chance_of(above: Floats, positions: int, hashes: int) -> Floats:
    """The chance that `hashes` random positions all lie among these `above`."""
    steps = np.arange(hashes)
    factors = np.maximum(above[..., None] - steps, 0.0) / (positions - steps)
    return np.asarray(factors.prod(axis=-1), dtype=np.float64)


def p_values(estimates: Floats, positions: NDArray[np.int64]) -> Floats:
    """For each row of positions: the chance of counts like these if nobody named the word."""
    least = estimates[positions].min(axis=1)
    above = len(estimates) - np.searchsorted(np.sort(estimates), least, side="left")
    return chance_of(above.astype(np.float64), len(estimates), positions.shape[1])


def adjusted_p_values(values: Floats) -> Floats:
    """The least false discovery rate at which each is found (Benjamini, Hochberg 1995)."""
    order = np.argsort(values)
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def room_for(positions: int, hashes: int, chance: float) -> int:
    """K of the module's formula: the most positions for which p is not above this chance."""
    above = np.arange(positions + 1, dtype=np.float64)
    return int(np.searchsorted(chance_of(above, positions, hashes), chance, side="right")) - 1


def found_from(
    estimates: Floats, hashes: int, candidates: int, found: int, rate: float, confidence: float
) -> float | None:
    """From how many people on a further word would have been found, with this confidence.

    Its positions would count that many more than any other positions do. None: even a word that
    everybody names could not have been told from chance.
    """
    chance = rate * max(found, 1) / candidates
    room = room_for(len(estimates), hashes, chance) - hashes  # its own positions take part
    if room < 0:
        return None
    threshold = np.sort(estimates)[len(estimates) - 1 - room]
    low = np.quantile(estimates, 1 - confidence ** (1 / hashes), method="lower")
    return max(float(threshold - low), 1.0)
