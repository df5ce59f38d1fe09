"""The channel: what a device makes of its true positions, from given random bytes.

A device draws in this order: the flips, position by position; the order of each lane; the id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WORDS = 2**32


class Words:
    """Random bytes that are read once, from the first to the last; a word is four of them."""

    def __init__(self, content: bytes) -> None:
        self.content, self.used = content, 0

    def bytes(self, count: int) -> bytes:
        """The next bytes; there must be so many left."""
        start, self.used = self.used, self.used + count
        assert self.used <= len(self.content), "too few random bytes"
        return self.content[start : self.used]

    def word(self) -> int:
        """A number below 2^32, its most significant byte first."""
        return int.from_bytes(self.bytes(4), "big")

    def below(self, bound: int) -> int:
        """A number below the bound, all equally likely: words of the incomplete part are passed."""
        while (word := self.word()) >= WORDS - WORDS % bound:
            pass
        return word % bound


@dataclass(frozen=True, kw_only=True)
class Lane:
    """Messages at the same places of all submissions, about the same positions."""

    number: int
    offset: int
    positions: int
    messages: int
    records: bool = False

    def holds(self, position: int) -> bool:
        """Whether a token of this position belongs here."""
        return self.offset <= position < self.offset + self.positions


Payload = int | bytes | None
"""What a message says: a position, a record, or nothing."""


def lanes_of(plan: dict[str, Any]) -> list[Lane]:
    """The lanes of a plan, in the order of a submission's messages."""
    names, records = ("offset", "positions", "messages"), plan["survey"]["linkage"] == "record"
    return [
        Lane(number=number, records=records, **{name: lane[name] for name in names})
        for number, lane in enumerate(plan["lanes"])
    ]


def flipped(words: Words, positions: range, numerator: int) -> set[int]:
    """The positions that flip, each with probability numerator/2^32: one word for each of them."""
    return {position for position in positions if words.word() < numerator}


def reported_positions(plan: dict[str, Any], truth: set[int], words: Words) -> list[int]:
    """What is reported as 1, lane after lane; without noise of devices nothing is drawn."""
    flips: set[int] = set()
    for lane, numerator in zip(lanes_of(plan), plan.get("numerators", []), strict=False):
        flips |= flipped(words, range(lane.offset, lane.offset + lane.positions), numerator)
    return sorted(truth ^ flips)


def shuffled(items: Sequence[Any], words: Words) -> list[Any]:
    """All orders are equally likely (Fisher and Yates, from the last place to the second)."""
    order = list(items)
    for place in range(len(order) - 1, 0, -1):
        other = words.below(place + 1)
        order[place], order[other] = order[other], order[place]
    return order


def lane_payloads(lane: Lane, ones: list[int], words: Words) -> list[Payload]:
    """Tokens of one lane in random order, then cut or filled up with empty messages."""
    found: list[Payload] = [one for one in ones if lane.holds(one)]
    found += [None] * (lane.messages - len(found))
    return shuffled(found, words)[: lane.messages]


def packed(ones: set[int], positions: int) -> bytes:
    """A record as bytes: the first position is the highest bit of the first byte."""
    bits = "".join("1" if position in ones else "0" for position in range(positions))
    bits += "0" * (-positions % 8)
    return bytes(int(bits[start : start + 8], 2) for start in range(0, len(bits), 8))


def record_payloads(plan: dict[str, Any], truth: set[int], words: Words) -> list[Payload]:
    """The copies of a whole record, each flipped on its own."""
    size, numerator = plan["lanes"][0]["positions"], plan["numerators"][0]
    copies = range(plan["survey"]["copies"])
    return [packed(truth ^ flipped(words, range(size), numerator), size) for _ in copies]


def payloads_of(plan: dict[str, Any], truth: set[int], words: Words) -> list[tuple[Lane, Payload]]:
    """All messages of one person, before they are sealed."""
    lanes = lanes_of(plan)
    if plan["survey"]["linkage"] == "record":
        return [(lanes[0], record) for record in record_payloads(plan, truth, words)]
    ones = reported_positions(plan, truth, words)
    return [(lane, each) for lane in lanes for each in lane_payloads(lane, ones, words)]
