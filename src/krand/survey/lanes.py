"""Lanes: which messages of a submission are about what, so that a lie moves a count by one.

Everybody sends the same lanes, each with its fixed number of messages, so that a lane tells only
which question a message is about. Where mixers add the noise, a lane is a choice, a number, a scale
or a group with one message; one yes/no, or one option of a short list; or a long list with as many
messages as it allows answers. Where devices flip bits, all messages are one lane.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from krand.promise import NoiseSource
from krand.survey.layout import Block, Layout
from krand.survey.questions import Kind

__all__ = ["MOST_OPTIONS_APART", "Lane", "lanes_of"]

MOST_OPTIONS_APART = 32
"""A list of at most so many options has a lane for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Messages at the same places of all submissions, about the same positions."""

    number: int
    block: str
    """The name of the question or group; empty where one lane has everything."""
    offset: int
    positions: int
    messages: int

    def holds(self, position: int) -> bool:
        """Whether a token of this position belongs here."""
        return self.offset <= position < self.offset + self.positions

    @property
    def is_single(self) -> bool:
        """One position, one message: as many nulls as there are no tokens."""
        return self.positions == 1 and self.messages == 1

    @property
    def has_noisy_nulls(self) -> bool:
        """One message over several positions: an empty one is an answer like any other."""
        return self.positions > 1 and self.messages == 1


def lanes_of(layout: Layout, noise: NoiseSource, messages: int) -> tuple[Lane, ...]:
    """The lanes of a submission, in the order of its messages."""
    everything = [("", 0, layout.positions, messages)]
    if noise is NoiseSource.MIXERS:
        everything = [part for block in layout.blocks for part in _parts(block)]
    return tuple(
        Lane(number=number, block=name, offset=offset, positions=positions, messages=count)
        for number, (name, offset, positions, count) in enumerate(everything)
    )


def _parts(block: Block) -> Iterator[tuple[str, int, int, int]]:
    """(name, offset, positions, messages) of every lane of a block."""
    if block.kind is Kind.PICK_ANY and block.positions <= MOST_OPTIONS_APART:
        for place in range(block.positions):
            yield block.name, block.offset + place, 1, 1
    else:
        yield block.name, block.offset, block.positions, block.most_ones
