"""The nearest counts that people could have given.

A person sets at most m positions of a block, each at most once, so true counts lie between 0 and N
and add up to at most mN (less where people left the question unanswered). All positions of a block
have the same noise, so the nearest point in the plain sense is the one of weighted least squares.
It is `raw - τ` cut at 0 and N, where τ ≥ 0 brings the sum down to mN (the conditions of Karush,
Kuhn and Tucker); the sum falls in straight pieces as τ grows, so τ is found without a search.

Where everybody sends one message and an empty one is counted like an answer, the sum is N, less
what was refused. Then τ may be negative, which is the same with larger raw counts.
"""

from __future__ import annotations

import numpy as np

from krand.analysis.mechanisms.models import Floats


def nearest_possible(raw: Floats, people: float, most_ones: int = 1, least: float = 0.0) -> Floats:
    """The point of {0 ≤ x ≤ N, least ≤ Σx ≤ mN} nearest to the unbiased counts; least ≤ N."""
    room = float(people * most_ones)
    cut = np.clip(raw, 0.0, people)
    if least <= cut.sum() <= room:
        return cut
    if cut.sum() < least:
        raw, room = raw + (people - raw.max()), float(least)
    moved: Floats = np.clip(raw - _shift(raw, people, room), 0.0, people)
    return moved


def _shift(raw: Floats, people: float, room: float) -> float:
    """τ with Σ clip(raw - τ, 0, N) = room."""
    corners = np.unique(np.concatenate([[0.0], raw, raw - people]))
    corners = corners[corners >= 0]
    sums = _excess(raw, corners) - _excess(raw - people, corners)
    after = int(np.argmax(sums <= room))  # the last corner leaves nothing, so there is one
    if not after:  # the first corner is it, but for rounding
        return 0.0
    here, there = corners[after - 1], corners[after]
    fall = sums[after - 1] - sums[after]
    return float(here + (there - here) * (sums[after - 1] - room) / fall)


def _excess(values: Floats, levels: Floats) -> Floats:
    """Σ max(value - level, 0) for every level."""
    ordered = np.sort(values)
    above = np.concatenate([np.cumsum(ordered[::-1])[::-1], [0.0]])
    first = np.searchsorted(ordered, levels)
    sums: Floats = above[first] - levels * (len(values) - first)
    return sums
