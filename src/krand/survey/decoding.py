"""From a position back to what it means, and from an answer to the positions that count it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from krand.errors import InvalidInput
from krand.survey.layout import Block, Layout
from krand.survey.questions import Kind, Question

UNANSWERED = "unanswered"


class Meaning(NamedTuple):
    """What a position counts: an answer to a question, or a cell of a group."""

    name: str
    label: str


def describe(layout: Layout, position: int) -> Meaning:
    """The question or group of a position, and the answer it stands for."""
    block = layout.block_at(position)
    answers = levels_at(layout, position)
    if block.kind is not Kind.TOGETHER:
        return Meaning(block.name, str(answers[block.name]))
    parts = (f"{name}={level or UNANSWERED}" for name, level in answers.items())
    return Meaning(block.name, ", ".join(parts))


def levels_at(layout: Layout, position: int) -> dict[str, str | None]:
    """The answer of each question of the block that this position stands for; None is silence."""
    block = layout.block_at(position)
    inside = position - layout.positions_of(block).start
    if block.kind is Kind.TOGETHER:
        return dict(_cell_levels(block, inside))
    (question,) = block.questions
    return {question.name: question.position_name(inside)}


def _cell_levels(block: Block, cell: int) -> Iterator[tuple[str, str | None]]:
    rest = cell + 1  # cell 0 is the first in which anything is answered
    for question, stride in zip(block.levels, block.strides, strict=True):
        digit, rest = divmod(rest, stride)
        yield question.name, question.level_name(digit - 1) if digit else None


def margin_positions(layout: Layout, question: str, level: str) -> tuple[int, ...]:
    """The positions whose counts add up to that of one answer: one, or the cells of a group."""
    block = layout.first_block_of(question)
    place = block.question_names.index(question)
    index = _level_index(block.questions[place], level)
    if block.kind is Kind.TOGETHER:
        period, stride = block.levels[place].levels + 1, block.strides[place]
        cells = range(1, block.positions + 1)
        return tuple(block.offset + c - 1 for c in cells if c // stride % period == index + 1)
    if index >= block.positions:
        hint = '"no" and "no answer" cannot be told apart: ask with counts = "both"'
        raise InvalidInput(question, "must be an answer that is counted", level, hint)
    return (block.offset + index,)


def _level_index(question: Question, level: str) -> int:
    index = question.find(level)
    if index is None:
        hint = "levels_at tells the answer of every position"
        raise InvalidInput(question.name, "must be one of its answers", level, hint)
    return index
