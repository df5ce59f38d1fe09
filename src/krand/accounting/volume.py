"""How many messages a submission has, so that their number says nothing.

In bit linkage every position reported as 1 is a token, and null tokens fill each lane up to a fixed
number. How many ones there are varies with the answers and the flips. The number of messages does
not: tokens that do not fit are dropped at random. There are so many messages that this almost never
happens, whatever the answers; what it may cost is part of the promise (see
`krand.accounting.bounds`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from sys import float_info

from krand.accounting.bounds import allowed_distance
from krand.promise import NOISE_GRID, AtMost, Block, ExactlyOne, FreeBits, Linkage, NoisePlan
from krand.showing import rounded_up

SEAL = 50
"""Bytes that a sealed message adds: an X25519 share (32), an authentication tag (16), version and
kind (2)."""
TOKEN = 4
"""Bytes of a position's index."""

DIGITS = 2
ROUNDING = 1 + 1e-6
"""More than all rounding errors of the exponent together."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A block of positions: how many there are, the most true ones, and the noise a/2^32."""

    positions: int
    most_ones: int
    numerator: int

    @property
    def flips(self) -> float:
        """How many zeros are expected to be reported as ones, beside the most true ones."""
        return (self.positions - self.most_ones) * self.numerator / NOISE_GRID


def messages_needed(block: Tokens, most: float) -> int:
    """The least number of messages that a person's tokens exceed with a probability ≤ `most`."""
    low, high = block.most_ones - 1, block.positions  # every position always fits
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if overflow_bound(block, middle) <= most else (middle, high)
    return high


def overflow_bound(block: Tokens, messages: int) -> float:
    """An upper bound of the probability that one person has more tokens than messages in a lane.

    Whatever the answer, there are never more tokens than the most true ones, all kept, and the
    flips of the other positions: a certain one is at least a coin. For a sum Y of z independent
    coins with mean μ < y, P[Y ≥ y] ≤ exp(-y·ln(y/μ) - (z-y)·ln((z-y)/(z-μ))) (Hoeffding 1963).
    Two digits, rounded up.
    """
    zeros, mean = block.positions - block.most_ones, block.flips
    y = messages + 1 - block.most_ones  # an overflow is at least one token too many
    if y > zeros:
        return 0.0
    if y <= mean:
        return 1.0
    exponent = y * math.log(y / mean)
    if y < zeros:
        exponent += (zeros - y) * math.log1p((mean - y) / (zeros - mean))
    bound = max(math.exp(-exponent) * ROUNDING, float_info.min)
    return min(1.0, rounded_up(bound, DIGITS))


def message_size(plan: NoisePlan) -> tuple[int, int]:
    """(messages, bytes) one user sends in a round, as in a survey of these bits."""
    responses = plan.responses
    if responses.linkage is Linkage.RECORD:
        return responses.copies, responses.copies * (SEAL + math.ceil(responses.bits / 8))
    ones = sum(_most_ones(block) for block in responses.blocks)
    copies = responses.copies
    tokens = Tokens(copies * responses.bits, copies * ones, plan.noise_numerator)
    each = allowed_distance(plan.policy) / (plan.policy.minimum_crowd * responses.rounds)
    messages = messages_needed(tokens, each)
    return messages, messages * (SEAL + TOKEN)


def _most_ones(block: Block) -> int:
    """The most bits of a block that one person can set."""
    match block:
        case FreeBits(bits):
            return bits
        case AtMost(set_bits, _):
            return set_bits
        case ExactlyOne():
            return 1
