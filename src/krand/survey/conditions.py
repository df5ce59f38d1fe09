"""Conditional questions: asked only of people who gave certain answers to an earlier question.

A device decides, before anything is drawn. An answer to a question that was not asked is dropped
unread, so that it sends what no answer sends. Positions, sensitivity and noise know nothing of
conditions: the promise counts every question as asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from krand.errors import InvalidInput
from krand.survey.rules import Broken, raise_first

KEYS = ("question", "is")
EXAMPLE = 'for example asked_if = { question = "smokes", is = ["yes"] }'
NO_ANSWER: tuple[str, object, str] = (
    "must hold at least one answer",
    [],
    "leave asked_if out to ask everybody",
)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Condition:
    """Whom a question is asked: people who gave one of these answers to an earlier question.

    >>> from krand.survey.conditions import Condition
    >>> Condition("smokes", True).answers
    (True,)
    """

    question: str
    """The name of that question, the gate."""
    answers: tuple[Any, ...]
    """Any of them suffices. A survey has them by their names, in the gate's order, each once."""

    def __post_init__(self) -> None:
        given: Any = self.answers
        several = isinstance(given, (list, tuple, set, frozenset))
        object.__setattr__(self, "answers", tuple(given) if several else (given,))

    def values(self) -> dict[str, Any]:
        """As a plan has it; `condition_from` reads it back."""
        return {"question": self.question, "is": list(self.answers)}


def condition_from(values: Any) -> Condition:
    """The condition that a file or a plan has; `is` may be one answer or a list of them."""
    raise_first(shape_rules(values), ("asked_if",))
    return Condition(values["question"], values["is"])


def shape_rules(values: object) -> Iterator[Broken]:
    """What a table asked_if must hold, whatever the other questions are."""
    if not isinstance(values, Mapping):
        yield Broken((), "must be a table with question and is", values, EXAMPLE)
        return
    for key in KEYS:
        if key not in values:
            yield Broken((key,), "must be given", None, EXAMPLE)
    for key in values:
        if key not in KEYS:
            hint = f"known keys: {', '.join(KEYS)}"
            yield Broken((key,), "is not a key of this table", values[key], hint)
    if not isinstance(values.get("question", ""), str):
        yield Broken(("question",), "must be the name of a question", values["question"], EXAMPLE)
    if values.get("is") == []:
        yield Broken(("is",), *NO_ANSWER)


class Asked(Protocol):
    """What is needed of a question here; `krand.survey.kinds` has them all."""

    @property
    def name(self) -> str: ...
    @property
    def asked_if(self) -> Condition | None: ...
    def places_of(self, answer: object) -> set[int]: ...
    def position_name(self, position: int) -> str: ...


def asked_answers(
    questions: Sequence[Asked], answers: Mapping[str, Answer]
) -> Mapping[str, Answer]:
    """The answers to questions that were asked, of questions in the order of the survey.

    Others are dropped unread, even wrong ones. A gate that was not asked has no answer, and a wrong
    answer to a gate is none of those that a condition names.
    """
    if all(question.asked_if is None for question in questions):
        return answers
    known = {question.name: question for question in questions}
    kept = dict(answers)
    for question in questions:
        condition = question.asked_if
        if condition is None or question.name not in kept:
            continue
        if not _holds(condition, known[condition.question], kept.get(condition.question)):
            del kept[question.name]
    return kept


def _holds(condition: Condition, gate: Asked, answer: object) -> bool:
    if answer is None:
        return False
    try:
        given = gate.places_of(answer)
    except InvalidInput:
        return False
    return any(gate.position_name(place) in condition.answers for place in given)
