"""Noisy responses of many people at once, with the same distribution as on their devices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from krand.promise import NOISE_GRID
from krand.randomness.flips import flip_packed
from krand.randomness.generator import SecureRandom
from krand.randomness.sparse import flipped_positions
from krand.survey.plan import Plan
from krand.tables.column import Encoded

__all__ = ["add_reported_counts", "reported_rows"]

MOST_FLIPS = 2**20
"""The most flips handled together, so that memory is bounded for any noise."""


def add_reported_counts(
    plan: Plan, encoded: Encoded, people: int, random: SecureRandom, into: NDArray[np.int64]
) -> None:
    """Add to `into` how many of these people report a 1 at each position; rows are people.

    This is the same as counting `reported_positions` for each person: flips fall anywhere among all
    bits of all people, and a flip of a true one removes it.
    """
    for block in plan.blocks:
        width, numerator = block.positions, block.numerator
        counts = into[block.offset : block.offset + width]
        step = max(1, MOST_FLIPS * NOISE_GRID // (numerator * width))
        inside = (encoded.positions >= block.offset) & (encoded.positions < block.offset + width)
        ones = encoded.rows[inside] * width + (encoded.positions[inside] - block.offset)
        counts += np.bincount(ones % width, minlength=width)
        for first in range(0, people, step):
            end = min(first + step, people)
            flips = first * width + flipped_positions((end - first) * width, numerator, random)
            counts += np.bincount(flips % width, minlength=width)
            here = ones[np.searchsorted(ones, first * width) : np.searchsorted(ones, end * width)]
            hit = np.intersect1d(flips, here, assume_unique=True)
            counts -= 2 * np.bincount(hit % width, minlength=width)


def reported_rows(
    plan: Plan, encoded: Encoded, people: int, random: SecureRandom
) -> NDArray[np.uint8]:
    """k noisy copies of the record of each of these people, packed, one row each."""
    bits = plan.layout.positions
    records = np.zeros((people, bits), dtype=np.uint8)
    records[encoded.rows, encoded.positions] = 1
    rows = np.repeat(np.packbits(records, axis=1), plan.survey.copies, axis=0)
    return flip_packed(rows, plan.blocks[0].numerator, random, bits=bits)
