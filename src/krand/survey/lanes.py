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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from krand.survey.layout import Layout
    from krand.survey.survey import Survey


class LanePart(NamedTuple):
    """A lane of a block before it has its number."""

    block: str
    offset: int
    positions: int
    messages: int


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


def lanes_of(survey: Survey, layout: Layout, rooms: Sequence[int] = ()) -> tuple[Lane, ...]:
    """The lanes of a submission, in the order of its messages.

    `rooms` says how many messages each block has where devices flip single bits.
    """
    return survey.shape.lanes(survey, layout, rooms or [0] * len(layout.blocks))
