"""How many messages a submission has, so that their number says nothing.

In bit linkage every position reported as 1 is a token, and null tokens fill each lane up to a fixed
number. How many ones there are varies with the answers and the flips. The number of messages does
not: tokens that do not fit are dropped at random. There are so many messages that this almost never
happens, whatever the answers; what it may cost is part of the promise (see
`krand.accounting.engine`). Mixers pad their dummies in the same way.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from sys import float_info

import numpy as np
from scipy.special import logsumexp

from krand.accounting.composition import golden_minimum
from krand.accounting.engine import delta_limit
from krand.accounting.laws import masses_of
from krand.policy import Policy
from krand.promise import (
    NOISE_GRID,
    AtMost,
    Block,
    DummyLaw,
    ExactlyOne,
    FreeBits,
    Linkage,
    NoisePlan,
)
from krand.showing import rounded_up

SEAL = 50
"""Bytes that a sealed message adds: an X25519 share (32), an authentication tag (16), version and
kind (2)."""
TOKEN = 4
"""Bytes of a position's index."""

SHARE = 1000
"""What an overflow may cost is the policy's δ or η, divided by this."""
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
    rooms = range(block.most_ones, block.positions)  # every position always fits
    found = bisect_left(rooms, True, key=lambda room: overflow_bound(block, room) <= most)
    return block.most_ones + found


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


def allowed_distance(policy: Policy) -> float:
    """The largest τ that costs at most a thousandth of the policy's δ or η."""
    limit = delta_limit(policy.limit, policy.epsilon, policy.eta is not None)
    return limit / SHARE / (1 + math.exp(policy.epsilon))


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


# --- dummies of mixers --------------------------------------------------------------------------


def surplus_bound(law: DummyLaw, positions: int, most: int) -> float:
    """P[ΣZ > most] over so many positions is at most this (Chernoff's bound, rounded up)."""
    if most >= 2 * law.reach * positions:
        return 0.0
    distance = np.arange(-law.reach, law.reach + 1, dtype=np.float64)
    log_mass = np.log(masses_of(law))
    beyond = most + 1 - law.mean * positions

    def exponent(log_theta: float) -> float:
        theta = math.exp(log_theta)
        return positions * float(logsumexp(log_mass + theta * distance)) - theta * beyond

    highest = math.log(700 / law.reach)
    least = exponent(golden_minimum(exponent, highest - 40, highest, 1e-3))
    return min(1.0, math.exp(least) * ROUNDING)


def padding_needed(law: DummyLaw, positions: int, own: int, most: float) -> int:
    """The least number B of dummies with P[ΣZ > B - own] ≤ most, own being a person's part."""
    low, high = law.mean * positions + 1, 2 * law.reach * positions + own
    paddings = range(low, high)
    return low + bisect_left(
        paddings, True, key=lambda padding: surplus_bound(law, positions, padding - own) <= most
    )
