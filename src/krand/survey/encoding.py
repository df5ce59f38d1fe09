"""From a person's answers to the positions they set, and from a position to what it means.

A missing answer, or None, sets nothing. Everything else must fit its question: a wrong answer is an
error that names the question, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from krand.errors import InvalidInput
from krand.mistakes import nearest
from krand.survey.conditions import asked_answers
from krand.survey.layout import Block, Layout
from krand.survey.questions import Kind, Leveled

UNANSWERED = "unanswered"


def encode(layout: Layout, answers: Mapping[str, object]) -> tuple[int, ...]:
    """The positions that a person's answers set, in rising order."""
    check_names(layout, answers)
    asked = asked_answers(layout.questions, answers)
    found: list[int] = []
    for block in layout.blocks:
        inside = _block_positions(layout.survey_id, block, asked)
        found.extend(block.offset + position for position in sorted(inside))
    return tuple(found)


def check_names(layout: Layout, names: Iterable[str]) -> None:
    """An answer to a question that is not in the survey is a mistake."""
    known = layout.question_names
    for name in names:
        if name not in known:
            hint = nearest(name, known, f"the questions are {', '.join(known)}")
            raise InvalidInput("answers", "must be answers to questions of the survey", name, hint)


def _block_positions(survey_id: str, block: Block, answers: Mapping[str, object]) -> set[int]:
    if block.kind is Kind.TOGETHER:
        levels = [level_of(question, answers.get(question.name)) for question in block.levels]
        pairs = zip(levels, block.strides, strict=True)
        # Level 0 of a digit is silence; all silent is no cell.
        cell = sum((level + 1) * stride for level, stride in pairs if level is not None)
        return {cell - 1} if cell else set()
    (question,) = block.questions
    answer = answers.get(question.name)
    return set() if answer is None else question.encode(survey_id, answer)


def level_of(question: Leveled, answer: object) -> int | None:
    """Which level of the question an answer is; None for no answer."""
    return None if answer is None else question.level_of(answer)


def position_of(block: Block, label: str) -> int:
    """The position that counts an answer, of a block with one question."""
    (question,) = block.questions
    index = question.find(label)
    if index is None:
        raise InvalidInput(question.name, "must be one of its answers", label)
    if index >= block.positions:
        hint = '"no" and "no answer" cannot be told apart: ask with counts = "both"'
        raise InvalidInput(question.name, "must be an answer that is counted", label, hint)
    return block.offset + index


class Meaning(NamedTuple):
    """What a position counts: an answer to a question, or a cell of a group."""

    name: str
    label: str


def describe(layout: Layout, position: int) -> Meaning:
    """The question or group of a position, and the answer it stands for."""
    (block,) = (each for each in layout.blocks if position in layout.positions_of(each))
    if block.kind is not Kind.TOGETHER:
        (question,) = block.questions
        return Meaning(block.name, question.position_name(position - block.offset))
    labels, rest = [], position - block.offset + 1
    for question, stride in zip(block.levels, block.strides, strict=True):
        digit, rest = divmod(rest, stride)
        answer = question.level_name(digit - 1) if digit else UNANSWERED
        labels.append(f"{question.name}={answer}")
    return Meaning(block.name, ", ".join(labels))
