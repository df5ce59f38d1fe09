"""From true positions to what is reported: exact flips, as tokens or as whole vectors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from krand.client.flips import flip_packed
from krand.client.randomness import SecureRandom
from krand.client.sparse import flipped_positions
from krand.privacy.guarantee import Linkage
from krand.survey.plan import Plan
from krand.survey.volume import size_class
from krand.wire.messages import MessageFormat, Null, Payload, Token, Vector

__all__ = ["message_format", "payloads", "reported_positions", "reported_vectors"]


def message_format(plan: Plan) -> MessageFormat:
    """How the messages of a plan look inside."""
    return MessageFormat(plan.survey.linkage, plan.layout.positions)


def payloads(plan: Plan, true_ones: Iterable[int], random: SecureRandom) -> list[Payload]:
    """One person's messages before they are sealed, in random order; always of the same number.

    In bit linkage nulls fill them up to the plan's number, or to the next size class.
    """
    if plan.survey.linkage is Linkage.RECORD:
        rows = reported_vectors(plan, true_ones, random)
        found: list[Payload] = [Vector(row.tobytes()) for row in rows]
    else:
        tokens = reported_positions(plan, true_ones, random)
        found = [Token(int(position)) for position in tokens]
        found += [Null()] * (size_class(len(found), plan.messages) - len(found))
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
