"""From a person's answers to the positions they set.

A missing answer, or None, sets nothing. Everything else must fit its question: a wrong answer is an
error that names the question, never a guess.
"""

from __future__ import annotations

import difflib
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Real

from krand.errors import InternalError, InvalidInput
from krand.survey.choices import Choices
from krand.survey.layout import Block, Layout
from krand.survey.questions import Choice, Kind, Leveled, Number, PickAny, Question, Words, YesNo
from krand.survey.words import normalized, word_positions

__all__ = ["answer_positions", "cell_of", "check_names", "encode", "level_of"]

_COMMA = re.compile(r"-?\d[\d.]*,\d+")
YES: tuple[object, ...] = ("yes", "true", "1", "1.0", 1)  # True and 1.0 are equal to 1
NO: tuple[object, ...] = ("no", "false", "0", "0.0", 0)
FEW_CHOICES = 1_000
"""Looking for a similar choice among more than these takes too long."""


def encode(layout: Layout, answers: Mapping[str, object]) -> tuple[int, ...]:
    """The positions that a person's answers set, in rising order."""
    check_names(layout, answers)
    found: list[int] = []
    for block in layout.blocks:
        inside = _block_positions(layout, block, answers)
        found.extend(block.offset + position for position in sorted(inside))
    return tuple(found)


def check_names(layout: Layout, names: Iterable[str]) -> None:
    """An answer to a question that was not asked is a mistake."""
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
    match question:
        case YesNo():
            return {0} if level_of(question, answer) == 0 else set()
        case Leveled():
            level = level_of(question, answer)
            return set() if level is None else {level}
        case PickAny():
            return _picked(question, answer)
        case Words():
            return _hashed(survey_id, question, answer)
    raise InternalError(f"no encoding for {question!r}")


def level_of(question: Leveled, answer: object) -> int | None:
    """Which level of the question an answer is; None for no answer."""
    if answer is None:
        return None
    match question:
        case YesNo():
            return _yes_or_no(question, answer)
        case Choice(choices=choices):
            return _place(question, choices, answer)
        case Number():
            return _bin(question, answer)
    raise InternalError(f"no levels for {question!r}")


def _yes_or_no(question: YesNo, answer: object) -> int:
    known = answer.strip().casefold() if isinstance(answer, str) else answer
    if isinstance(known, (str, Real, Decimal)):
        if known in YES:
            return 0
        if known in NO:
            return 1
    raise InvalidInput(question.name, "must be yes or no, true or false, 1 or 0", answer)


def _place(question: Question, choices: Choices, answer: object) -> int:
    place = choices.find(answer) if isinstance(answer, str) else None
    if place is None:
        raise InvalidInput(
            question.name, "must be one of its choices", answer, _near(choices, answer)
        )
    return place


def _near(choices: Choices, answer: object) -> str:
    near = []
    if isinstance(answer, str) and len(choices) <= FEW_CHOICES:
        near = difflib.get_close_matches(answer, choices, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    few = ", ".join(repr(choice) for choice in choices[:5])
    return f"the choices are {few}" + (
        f" and {len(choices) - 5:,} more" if len(choices) > 5 else ""
    )


def _bin(question: Number, answer: object) -> int:
    if isinstance(answer, bool) or not isinstance(answer, Real) or answer != answer:
        raise InvalidInput(question.name, "must be a number", answer, _with_point(answer))
    if question.integer and not _is_whole(answer):
        raise InvalidInput(question.name, "must be a whole number", answer)
    edges = question.edges
    edge = bisect_right(edges, answer) - 1  # the last edge not above the answer
    if edge < 0 and not question.open_below:
        hint = 'add a lower edge, or say open = "below" or true'
        raise InvalidInput(question.name, f"must not be below {edges[0]!r}", answer, hint)
    if edge == len(edges) - 1 and not question.open_above:
        hint = 'add a higher edge, or say open = "above" or true'
        raise InvalidInput(question.name, f"must be below {edges[-1]!r}", answer, hint)
    return edge + question.open_below


def _with_point(answer: object) -> str:
    """1,5 is a number to some people, and 1,500 another one to others."""
    if isinstance(answer, str) and _COMMA.fullmatch(answer.strip()):
        return "write decimals with a point, and thousands without a sign"
    return ""


def _is_whole(answer: Real) -> bool:
    try:
        return bool(answer == math.floor(answer))
    except OverflowError:  # infinity
        return False


def _picked(question: PickAny, answer: object) -> set[int]:
    if not isinstance(answer, (list, tuple, set, frozenset)):
        raise InvalidInput(question.name, "must be a list of choices", answer)
    picked = {_place(question, question.choices, item) for item in answer}
    if len(picked) > question.most_ones:
        rule = f"must be at most {question.most_ones} of its choices"
        raise InvalidInput(question.name, rule, f"{len(picked)} choices")
    return picked


def _hashed(survey_id: str, question: Words, answer: object) -> set[int]:
    words = [answer] if isinstance(answer, str) else answer
    if not isinstance(words, (list, tuple, set, frozenset)):
        raise InvalidInput(question.name, "must be a word or a list of words", answer)
    for word in words:
        if not isinstance(word, str):
            raise InvalidInput(question.name, "must be a word or a list of words", word)
    different = {normalized(question.name, word) for word in words}
    if len(different) > question.at_most:
        rule = f"must be at most {question.at_most} words"
        raise InvalidInput(question.name, rule, f"{len(different)} words")
    return {
        position for word in different for position in word_positions(survey_id, question, word)
    }
