"""From a person's answers to the positions they set, and from a position to what it means.

A missing answer, or None, sets nothing. Everything else must fit its question: a wrong answer is an
error that names the question, never a guess.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from krand.errors import InvalidInput
from krand.survey.conditions import asked_answers
from krand.survey.layout import Block, Layout
from krand.survey.questions import Kind, Leveled, Question

UNANSWERED = "unanswered"


def encode(layout: Layout, answers: Mapping[str, object]) -> tuple[int, ...]:
    """The positions that a person's answers set, in rising order."""
    check_names(layout, answers)
    asked = asked_answers(layout.questions, answers)
    found: list[int] = []
    for block in layout.blocks:
        inside = _block_positions(layout, block, asked)
        found.extend(block.offset + position for position in sorted(inside))
    return tuple(found)


def check_names(layout: Layout, names: Iterable[str]) -> None:
    """An answer to a question that is not in the survey is a mistake."""
    known = layout.question_names
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]}?" if near else f"the questions are {', '.join(known)}"
            raise InvalidInput("answers", "must be answers to questions of the survey", name, hint)


def _block_positions(layout: Layout, block: Block, answers: Mapping[str, object]) -> set[int]:
    if block.kind is Kind.TOGETHER:
        levels = [level_of(question, answers.get(question.name)) for question in block.levels]
        cell = cell_of(block, levels)
        return set() if cell is None else {cell}
    (question,) = block.questions
    return answer_positions(layout.survey_id, question, answers.get(question.name))


def cell_of(block: Block, levels: Iterable[int | None]) -> int | None:
    """The cell of a group; level 0 of its digits is silence, and all silent is no cell."""
    pairs = zip(levels, block.strides, strict=True)
    cell = sum((level + 1) * stride for level, stride in pairs if level is not None)
    return cell - 1 if cell else None


def answer_positions(survey_id: str, question: Question, answer: object) -> set[int]:
    """The positions inside its block that the answer to a question standing alone sets."""
    if answer is None:
        return set()
    return question.encode(survey_id, answer)


def level_of(question: Leveled, answer: object) -> int | None:
    """Which level of the question an answer is; None for no answer."""
    return None if answer is None else question.level_of(answer)


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
