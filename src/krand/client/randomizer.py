"""Turns true positions into messages: flips them, and fills the lanes of a submission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError
from krand.promise import Linkage
from krand.randomness.flips import flip_packed
from krand.randomness.generator import SecureRandom
from krand.randomness.sparse import flipped_positions
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.messages import Null, Payload, Token, Vector

__all__ = [
    "message_lanes",
    "payloads",
    "reported_positions",
    "reported_vectors",
]


def payloads(plan: Plan, true_ones: Iterable[int], random: SecureRandom) -> list[Payload]:
    """One person's messages before they are sealed, in the order of `message_lanes`.

    Nulls fill each lane up to its number of messages. If a lane has more tokens than messages, a
    uniformly random subset is kept. Within a lane the order is random.
    """
    if plan.survey.linkage is Linkage.RECORD:
        rows = reported_vectors(plan, true_ones, random)
        return [Vector(rows[place].tobytes()) for place in random.permutation(len(rows))]
    ones = reported_positions(plan, true_ones, random)
    return [each for lane in plan.lanes for each in _lane_payloads(plan, lane, ones, random)]


def message_lanes(plan: Plan) -> Iterator[Lane]:
    """The lane of every message of a submission, in their order."""
    return (lane for lane in plan.lanes for _ in range(lane.messages))


def _lane_payloads(
    plan: Plan, lane: Lane, ones: NDArray[np.int64], random: SecureRandom
) -> list[Payload]:
    """The messages of one lane; `ones` are all reported positions, in rising order."""
    first, last = np.searchsorted(ones, (lane.offset, lane.offset + lane.positions))
    if last - first > lane.messages and not plan.rooms:  # without flips every answer fits
        raise InternalError(f"lane {lane.number} has too few messages for its answers")
    kept = random.shuffled(ones[first:last])[: lane.messages]
    found: list[Payload] = [Token(int(position)) for position in kept]
    found += [Null()] * (lane.messages - len(found))
    return [found[place] for place in random.permutation(lane.messages)]


def reported_positions(
    plan: Plan, true_ones: Iterable[int], random: SecureRandom
) -> NDArray[np.int64]:
    """The positions reported as 1, in rising order: each bit is flipped with its own q.

    Where mixers alone add noise, nothing is flipped.
    """
    flips = [
        block.offset + flipped_positions(block.positions, numerator, random)
        for block, numerator in zip(plan.layout.blocks, plan.numerators, strict=True)
        if numerator
    ]
    ones = np.array(sorted(true_ones), dtype=np.int64)
    return np.setxor1d(ones, np.concatenate([*flips, ones[:0]]), assume_unique=True)


def reported_vectors(
    plan: Plan, true_ones: Iterable[int], random: SecureRandom
) -> NDArray[np.uint8]:
    """k noisy copies of the record, packed, one row each."""
    bits = plan.layout.positions
    record = np.zeros(bits, dtype=np.uint8)
    record[list(true_ones)] = 1
    rows = np.tile(np.packbits(record), (plan.survey.copies, 1))
    return flip_packed(rows, plan.numerators[0], random, bits=bits)
