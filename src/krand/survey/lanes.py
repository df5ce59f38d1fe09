"""Lanes: which messages of a submission are about what, so that a lie moves a count by one.

Everybody sends the same lanes, each with its fixed number of messages, so that a lane tells only
which question a message is about. Where mixers alone add noise, a lane is a choice, a number, a
scale or a group with one message; one yes/no, or one option of a short list; a long list with as
many messages as it allows answers; or the table of one hash function, with a message for each word.
Where devices flip bits, every question or group has a lane with room for flips. Whole records are
one lane: all copies of all people are shuffled together. That tells less than a lane for each copy
would, for which the promise holds too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krand.promise import Linkage
from krand.survey.questions import Kind, Words

if TYPE_CHECKING:
    from krand.survey.layout import Block, Layout
    from krand.survey.survey import Survey

MOST_OPTIONS_APART = 32
"""A list of at most so many options has a lane for each of them, where mixers add the noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Messages at the same places of all submissions, about the same positions."""

    number: int
    block: str
    """The name of the question or group; empty where one lane has everything."""
    offset: int
    positions: int
    messages: int
    records: bool = False
    """Whether its messages are whole records instead of single positions."""
    law: int | None = None
    """Where mixers add the noise: which of the plan's laws its positions have."""
    padding: int = 0
    """Where they do, and there are several messages: how many dummies there are in all."""

    def holds(self, position: int) -> bool:
        """Whether a token of this position belongs here."""
        return self.offset <= position < self.offset + self.positions

    @property
    def is_single(self) -> bool:
        """One position, one message: as many nulls as there are no tokens."""
        return self.positions == 1 and self.messages == 1 and not self.records

    @property
    def has_noisy_nulls(self) -> bool:
        """One message over several positions: an empty one is an answer like any other."""
        return self.positions > 1 and self.messages == 1 and not self.records

    def values(self) -> dict[str, Any]:
        """Plain data: what a plan has of it."""
        dummies = {} if self.law is None else {"law": self.law, "padding": self.padding}
        return {
            "block": self.block,
            "offset": self.offset,
            "positions": self.positions,
            "messages": self.messages,
            **dummies,
        }


def lanes_of(survey: Survey, layout: Layout, rooms: Sequence[int] = ()) -> tuple[Lane, ...]:
    """The lanes of a submission, in the order of its messages, without dummies.

    `rooms` says how many messages each block has where devices flip single bits.
    """
    if survey.linkage is Linkage.RECORD:  # all copies of all people are shuffled together
        bits, copies = layout.positions, survey.copies
        return (Lane(number=0, block="", offset=0, positions=bits, messages=copies, records=True),)
    if survey.trust.has_dummies:
        parts = [(block.name, *part) for block in layout.blocks for part in _quiet_parts(block)]
    else:
        pairs = zip(layout.blocks, rooms, strict=True)
        parts = [(block.name, block.offset, block.positions, room) for block, room in pairs]
    return tuple(
        Lane(number=number, block=block, offset=offset, positions=positions, messages=messages)
        for number, (block, offset, positions, messages) in enumerate(parts)
    )


def _quiet_parts(block: Block) -> Iterator[tuple[int, int, int]]:
    """Where devices flip nothing: offset, positions and messages of every lane of a block."""
    question = block.questions[0]
    if block.kind is Kind.PICK_ANY and block.positions <= MOST_OPTIONS_APART:
        for place in range(block.positions):
            yield block.offset + place, 1, 1
    elif isinstance(question, Words):
        for table in question.tables:
            yield block.offset + table.start, len(table), min(question.at_most, len(table))
    else:
        yield block.offset, block.positions, block.most_ones
