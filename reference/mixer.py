"""One step of a mixer: drop repeats, open its layer, add dummies, change the order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from reference.channel import Lane, Payload, Words, shuffled
from reference.hpke import ENC_BYTES, open_sealed


@dataclass(frozen=True, kw_only=True)
class Step:
    """What became of the messages of one lane."""

    came: int
    repeats: int
    refused: int
    dummies: int
    passed: list[bytes]
    """People's messages, opened, in the order in which they came."""
    leaving: list[bytes]
    """All that leaves, in random order."""


def full_law(half: list[int]) -> list[int]:
    """The weights of 0 … 2R dummies, from those of R, R+1, …, 2R: the law is symmetric."""
    weights = half[:0:-1] + half
    assert sum(weights) == 2**63, "the weights of a law add up to 2^63"
    return weights


def draw(weights: list[int], words: Words) -> int:
    """A number with exactly the law's probabilities: 63 bits of eight bytes, compared with sums."""
    drawn = int.from_bytes(words.bytes(8), "little") >> 1
    return bisect_right(list(accumulate(weights)), drawn)


def dummies_of(lane: Lane, half: list[int], padding: int, words: Words) -> list[Payload]:
    """The dummies of a lane: for each position a number of tokens, then empty messages.

    The number of empty messages is a second view of the counts. With one position it is what is
    left of 2R; with one message over several positions it has noise of its own; with several
    messages there are so many that the total is always the same.
    """
    weights = full_law(half)
    made: list[Payload] = []
    for position in range(lane.offset, lane.offset + lane.positions):
        made += [position] * draw(weights, words)
    if lane.messages > 1:
        empty = max(0, padding - len(made))
    elif lane.positions == 1:
        empty = len(weights) - 1 - len(made)
    else:
        empty = draw(weights, words)
    return made + [None] * empty


def mix_lane(
    lane: Lane,
    came: list[bytes],
    key: X25519PrivateKey,
    info: bytes,
    dummies: list[bytes],
    words: Words,
) -> Step:
    """Mix what came for one lane with sealed dummies.

    A copy, which has the same encapsulated key, would mark whoever sent it if it left twice. A
    message that does not open is dropped; nothing but the seal decides that.
    """
    seen: set[bytes] = set()
    passed, repeats, refused = [], 0, 0
    for message in came:
        name = message[:ENC_BYTES]
        if name in seen:
            repeats += 1
            continue
        seen.add(name)
        opened = open_sealed(message, key, info)
        if opened is None:
            refused += 1
        else:
            passed.append(opened)
    return Step(
        came=len(came),
        repeats=repeats,
        refused=refused,
        dummies=len(dummies),
        passed=passed,
        leaving=shuffled(passed + dummies, words),
    )
