"""From true positions to what is reported: exact flips, as tokens or as whole vectors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from krand.client.flips import flip_packed
from krand.client.randomness import SecureRandom
from krand.client.sparse import flipped_positions
from krand.privacy.guarantee import NOISE_GRID, Linkage
from krand.survey.column import Encoded
from krand.survey.plan import Plan
from krand.wire.messages import MessageFormat, Null, Payload, Token, Vector

__all__ = [
    "add_reported_counts",
    "message_format",
    "payloads",
    "reported_positions",
    "reported_rows",
    "reported_vectors",
]

MOST_FLIPS = 2**20
"""Flips that are looked at together, so that memory is bounded whatever the noise."""


def message_format(plan: Plan) -> MessageFormat:
    """How the messages of a plan look inside."""
    return MessageFormat(plan.survey.linkage, plan.layout.positions)


def payloads(plan: Plan, true_ones: Iterable[int], random: SecureRandom) -> list[Payload]:
    """One person's messages before they are sealed, in random order; always of the same number.

    In bit linkage nulls fill them up to the plan's number. Should there be more tokens than that,
    as many as fit are kept, every choice of them being equally likely.
    """
    if plan.survey.linkage is Linkage.RECORD:
        rows = reported_vectors(plan, true_ones, random)
        found: list[Payload] = [Vector(row.tobytes()) for row in rows]
    else:
        tokens = reported_positions(plan, true_ones, random)
        kept = random.shuffled(tokens)[: plan.messages]
        found = [Token(int(position)) for position in kept]
        found += [Null()] * (plan.messages - len(found))
    return [found[place] for place in random.permutation(len(found))]


def reported_positions(
    plan: Plan, true_ones: Iterable[int], random: SecureRandom
) -> NDArray[np.int64]:
    """The positions reported as 1: the true ones, with every position flipped with its own q."""
    flips = [
        block.offset + flipped_positions(block.positions, numerator, random)
        for block, numerator in zip(plan.layout.blocks, plan.numerators, strict=True)
    ]
    ones = np.array(sorted(true_ones), dtype=np.int64)
    return np.setxor1d(ones, np.concatenate(flips), assume_unique=True)


def reported_vectors(
    plan: Plan, true_ones: Iterable[int], random: SecureRandom
) -> NDArray[np.uint8]:
    """k noisy copies of the record, packed, one row each."""
    bits = plan.layout.positions
    record = np.zeros(bits, dtype=np.uint8)
    record[list(true_ones)] = 1
    rows = np.tile(np.packbits(record), (plan.survey.copies, 1))
    return flip_packed(rows, plan.numerators[0], random, bits=bits)


def add_reported_counts(
    plan: Plan, encoded: Encoded, people: int, random: SecureRandom, into: NDArray[np.int64]
) -> None:
    """Add to `into` how many of these people report each position as 1; rows are people.

    The same as `reported_positions` for each of them, counted: flips lie anywhere among all bits
    of all people, and one that hits a true one takes it away.
    """
    for block, numerator in zip(plan.layout.blocks, plan.numerators, strict=True):
        width, counts = block.positions, into[block.offset : block.offset + block.positions]
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
    return flip_packed(rows, plan.numerators[0], random, bits=bits)
