"""Turns true positions into messages: flips them, and fills the lanes of a submission.

Every draw stands in docs/reference/formats.md to the byte, so that clients in other languages draw
alike and test vectors can give the bytes: flips, then the shuffles of lanes, then the id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError
from krand.promise import NOISE_GRID, Linkage
from krand.randomness.flips import check_numerator
from krand.randomness.generator import SecureRandom
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.messages import Null, Payload, Token, Vector

WORD = np.dtype(">u4")
"""Four random bytes, the most significant first."""
Item = TypeVar("Item")


def payloads(plan: Plan, true_ones: Iterable[int], random: SecureRandom) -> list[Payload]:
    """One person's messages before they are sealed, in the order of `message_lanes`.

    Nulls fill each lane up to its number of messages. If a lane has more tokens than messages, a
    uniformly random subset is kept. Within a lane the order is random. Copies of a record are
    exchangeable as they are.
    """
    return _PAYLOADS[plan.survey.linkage](plan, true_ones, random)


def _tokens(plan: Plan, true_ones: Iterable[int], random: SecureRandom) -> list[Payload]:
    ones = reported_positions(plan, true_ones, random)
    return [each for lane in plan.lanes for each in _lane_payloads(plan, lane, ones, random)]


def _records(plan: Plan, true_ones: Iterable[int], random: SecureRandom) -> list[Payload]:
    return [Vector(row.tobytes()) for row in reported_vectors(plan, true_ones, random)]


_PAYLOADS = {Linkage.BIT: _tokens, Linkage.RECORD: _records}
"""What a device sends, by the shape of responses."""


def message_lanes(plan: Plan) -> Iterator[Lane]:
    """The lane of every message of a submission, in their order."""
    return (lane for lane in plan.lanes for _ in range(lane.messages))


def _lane_payloads(
    plan: Plan, lane: Lane, ones: NDArray[np.int64], random: SecureRandom
) -> list[Payload]:
    """The messages of one lane; `ones` are all reported positions, in rising order."""
    first, last = np.searchsorted(ones, (lane.offset, lane.offset + lane.positions))
    without_flips = not plan.numerators
    if last - first > lane.messages and without_flips:  # then every answer fits
        raise InternalError(f"lane {lane.number} has too few messages for its answers")
    found: list[Payload] = [Token(position) for position in ones[first:last].tolist()]
    found += [Null()] * (lane.messages - len(found))
    return shuffled(found, random)[: lane.messages]


def shuffled(items: Sequence[Item], random: SecureRandom) -> list[Item]:
    """The items in uniform random order (Fisher and Yates, from the last place to the second).

    A word that would make one place more likely than another is drawn again.
    """
    order = list(items)
    place = len(order) - 1
    while place > 0:
        for word in random.words(place, WORD).tolist():  # one for each place, if none is refused
            bound = place + 1
            if word < NOISE_GRID - NOISE_GRID % bound:
                other = word % bound
                order[place], order[other] = order[other], order[place]
                place -= 1
    return order


def reported_positions(
    plan: Plan, true_ones: Iterable[int], random: SecureRandom
) -> NDArray[np.int64]:
    """The positions reported as 1, in rising order: each bit is flipped with its own q.

    Where mixers alone add noise, nothing is flipped.
    """
    blocks, numerators = plan.layout.blocks, plan.numerators
    flips = [
        block.offset + np.flatnonzero(_flips(block.positions, numerator, random))
        for block, numerator in (zip(blocks, numerators, strict=True) if numerators else ())
    ]
    ones = np.array(sorted(true_ones), dtype=np.int64)
    return np.setxor1d(ones, np.concatenate([*flips, ones[:0]]), assume_unique=True)


def reported_vectors(
    plan: Plan, true_ones: Iterable[int], random: SecureRandom
) -> NDArray[np.uint8]:
    """k noisy copies of the record, packed, one row each."""
    record = np.zeros(plan.layout.positions, dtype=np.bool_)
    record[list(true_ones)] = True
    copies = (
        np.packbits(record ^ _flips(record.size, plan.numerators[0], random))
        for _ in range(plan.survey.copies)
    )
    return np.array(list(copies))


def _flips(count: int, numerator: int, random: SecureRandom) -> NDArray[np.bool_]:
    """Which of so many positions are flipped: one word for each, below the numerator."""
    check_numerator(numerator)
    return np.asarray(random.words(count, WORD) < numerator)
