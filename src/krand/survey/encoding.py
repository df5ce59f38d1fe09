"""From a person's answers to the positions they set.

A missing answer, or None, sets nothing. Everything else must fit its question: a wrong answer is an
error that names the question, never a guess.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from krand.errors import InvalidInput
from krand.survey.conditions import asked_answers
from krand.survey.layout import Block, Layout
from krand.survey.questions import Kind, Leveled, Question


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
