"""All kinds of question. Each has a module in `krand.survey.kinds`; this is their list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from krand.survey.kinds.choice import Choice
from krand.survey.kinds.number import Number
from krand.survey.kinds.pick_any import PickAny
from krand.survey.kinds.question import Kind, Leveled, Matrix, Question, Several
from krand.survey.kinds.scale import Scale
from krand.survey.kinds.words import Words
from krand.survey.kinds.yes_no import YesNo

__all__ = [
    "KINDS",
    "Choice",
    "Kind",
    "Leveled",
    "Matrix",
    "Number",
    "PickAny",
    "Question",
    "Scale",
    "Several",
    "Words",
    "YesNo",
    "any_of",
    "joinable_kinds",
    "matrix_kinds",
    "question_from",
    "question_values",
]

KINDS: Mapping[str, type[Question]] = {
    question.kind.value: question for question in (YesNo, Choice, PickAny, Number, Scale, Words)
}
"""By the `type` of a [[question]] table."""
SHARED = ("name", "text", "help", "required", "weight", "asked_if", "matrix")


def joinable_kinds() -> tuple[str, ...]:
    """The kinds that can be analysed jointly: those with one answer of several."""
    return tuple(kind for kind, question in KINDS.items() if issubclass(question, Leveled))


def matrix_kinds() -> tuple[str, ...]:
    """The kinds that can be rows of a matrix."""
    return tuple(kind for kind, question in KINDS.items() if question.takes_statements)


def any_of(kinds: Iterable[str]) -> str:
    """The kinds in a sentence: yes_no, choice or number."""
    *others, last = kinds
    return f"{', '.join(others)} or {last}" if others else last


def question_from(values: Mapping[str, Any]) -> Question:
    """The question that a table describes, whose keys are known to be right or are checked here."""
    question = KINDS[values["type"]]
    known = {"type", *SHARED, *(key.name for key in question.keys)}
    if unknown := sorted(set(values) - known):
        raise ValueError(f"question.{unknown[0]}: should not be there")
    shared = {key: values[key] for key in SHARED if key in values}
    if "matrix" in shared:
        shared["matrix"] = Matrix(**shared["matrix"])
    return question(**shared, **question.arguments(values))


def question_values(question: Question) -> dict[str, Any]:
    """A question as plain data, every value written out; `question_from` reads it back."""
    shared = {
        "name": question.name,
        "type": question.kind.value,
        "text": question.text,
        "help": question.help or None,
        "required": question.required,
        "weight": question.weight,
        "asked_if": question.asked_if and question.asked_if.values(),
        "matrix": question.matrix and asdict(question.matrix),
    }
    given = shared | question.own_values()
    return {key: value for key, value in given.items() if value is not None}
