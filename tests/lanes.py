"""The lanes of a survey, once more: which messages of a submission are about which positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import krand

Values = dict[str, Any]
APART = 32
"""A list of at most so many options has a lane for each of them, where mixers add the noise."""


def lanes_of(
    survey: krand.Survey, blocks: Sequence[Values], rooms: Sequence[int] | None
) -> Iterator[Values]:
    """What a plan says of every lane; `rooms` are the messages of blocks whose bits devices flip.

    Blocks have `name`, `offset`, `positions` and `most_ones`.
    """
    if survey.linkage is krand.Linkage.RECORD:
        positions = sum(block["positions"] for block in blocks)
        yield _lane("", 0, positions, survey.copies)
        return
    asked = {question.name: question for question in survey.questions}
    for place, block in enumerate(blocks):
        name, offset, positions = block["name"], block["offset"], block["positions"]
        question = asked.get(name)
        if rooms is not None:
            yield _lane(name, offset, positions, rooms[place])
        elif isinstance(question, krand.PickAny) and positions <= APART:
            yield from (_lane(name, offset + place, 1, 1) for place in range(positions))
        elif isinstance(question, krand.Words):
            for table in question.tables:
                most = min(question.at_most, len(table))
                yield _lane(name, offset + table.start, len(table), most)
        else:
            yield _lane(name, offset, positions, block["most_ones"])


def _lane(block: str, offset: int, positions: int, messages: int) -> Values:
    return {"block": block, "offset": offset, "positions": positions, "messages": messages}
