"""Turns true positions into messages: by exact flips, or as they are where mixers add the noise."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError
from krand.promise import Linkage
from krand.randomness.flips import flip_packed
from krand.randomness.generator import SecureRandom
from krand.randomness.sparse import flipped_positions
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.messages import MessageFormat, Null, Payload, Token, Vector

__all__ = [
    "message_format",
    "message_lanes",
    "payloads",
    "reported_positions",
    "reported_vectors",
]


def message_format(plan: Plan) -> MessageFormat:
    """The format of a plan's messages where devices add the noise."""
    return MessageFormat(plan.survey.linkage, plan.layout.positions)


def payloads(plan: Plan, true_ones: Iterable[int], random: SecureRandom) -> list[Payload]:
    """One person's messages before they are sealed, always the same number, in random order.

    In bit linkage nulls fill up the plan's number of messages. If there are more tokens than
    messages, a uniformly random subset is kept. Where mixers add the noise, the device flips
    nothing: messages stand in the order of `message_lanes`, and are shuffled within each lane.
    """
    if plan.mixing is not None:
        ones = sorted(true_ones)
        return [each for lane in plan.lanes for each in _lane_payloads(lane, ones, random)]
    if plan.survey.linkage is Linkage.RECORD:
        rows = reported_vectors(plan, true_ones, random)
        found: list[Payload] = [Vector(row.tobytes()) for row in rows]
    else:
        tokens = reported_positions(plan, true_ones, random)
        kept = random.shuffled(tokens)[: plan.messages]
        found = [Token(int(position)) for position in kept]
        found += [Null()] * (plan.messages - len(found))
    return [found[place] for place in random.permutation(len(found))]


def message_lanes(plan: Plan) -> Iterator[Lane]:
    """The lane of every message of a submission, in their order."""
    return (lane for lane in plan.lanes for _ in range(lane.messages))


def _lane_payloads(lane: Lane, ones: Sequence[int], random: SecureRandom) -> list[Payload]:
    """The messages of one lane; `ones` are all true positions, in rising order."""
    first, last = (bisect_left(ones, lane.offset + after) for after in (0, lane.positions))
    found: list[Payload] = [Token(position) for position in ones[first:last]]
    if len(found) > lane.messages:
        raise InternalError(f"lane {lane.number} has too few messages for its answers")
    found += [Null()] * (lane.messages - len(found))
    return [found[place] for place in random.permutation(lane.messages)]


def reported_positions(
    plan: Plan, true_ones: Iterable[int], random: SecureRandom
) -> NDArray[np.int64]:
    """The positions reported as 1: each bit of the true answer is flipped with its own q."""
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
