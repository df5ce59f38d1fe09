"""Which words were named at all, with a share of false ones that is controlled.

A word that nobody named has left no trace: its positions are where the hash threw them, independent
of every count. So, given the counts, they are one random position of each table, and the chance
that all of them count as much as the least of this word's does is

    p = Π Kᵢ/sᵢ,   Kᵢ = how many of the sᵢ positions of table i count at least that much.

This holds exactly, whatever people said: words that are on no list, popular ones too, answers of
several words, any law of the noise, any number of copies. It rests on two things: that the hash
behaves like a random function, and that the list was made without looking at the counts (whoever
searches a dictionary must give the whole dictionary as the list). Given the counts and the
positions of the words that were named, these p-values are independent of each other, so the rule of
Benjamini and Hochberg (1995) keeps its promise exactly: no correction for dependence is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def chance_of(above: Floats, sizes: Floats) -> Floats:
    """The chance that a random position of each table lies among those `above`, table by table."""
    return np.asarray(np.minimum(above / sizes, 1.0).prod(axis=-1), dtype=np.float64)


def p_values(estimates: Floats, positions: NDArray[np.int64], tables: Sequence[range]) -> Floats:
    """For each row of positions: the chance of counts like these if nobody named the word."""
    least = estimates[positions].min(axis=1)
    above = [_from(estimates, table, least, "left") for table in tables]
    return chance_of(np.stack(above, axis=-1), _sizes(tables))


def _from(estimates: Floats, table: range, least: Floats, side: Literal["left", "right"]) -> Floats:
    """How many positions of a table count at least so much; more than that with `right`."""
    ordered = np.sort(estimates[table.start : table.stop])
    return np.asarray(len(table) - np.searchsorted(ordered, least, side=side), dtype=np.float64)


def _sizes(tables: Sequence[range]) -> Floats:
    return np.array([len(table) for table in tables], dtype=np.float64)


def adjusted_p_values(values: Floats) -> Floats:
    """The least false discovery rate at which each is found (Benjamini, Hochberg 1995)."""
    order = np.argsort(values)
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def found_from(
    estimates: Floats,
    tables: Sequence[range],
    candidates: int,
    found: int,
    rate: float,
    confidence: float,
) -> float | None:
    """From how many people on a further word would have been found, with this confidence.

    Its positions would count that many more than any other positions do. None: even a word that
    everybody names could not have been told from chance.
    """
    chance, levels = rate * max(found, 1) / candidates, np.sort(estimates)
    above = [_from(estimates, table, levels, "right") + 1 for table in tables]  # and its own
    enough = np.flatnonzero(chance_of(np.stack(above, axis=-1), _sizes(tables)) <= chance)
    if not enough.size:
        return None
    low = np.quantile(estimates, 1 - confidence ** (1 / len(tables)), method="lower")
    return max(float(levels[enough[0]] - low), 1.0)
