"""All kinds of question. Each has a module in `krand.survey.kinds`; this is their list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Field

from krand.survey.kinds.lists import Choice, PickAny
from krand.survey.kinds.number import Number
from krand.survey.kinds.question import Condition, Kind, Leveled, Matrix, Question, Several
from krand.survey.kinds.scale import Scale
from krand.survey.kinds.words import Words
from krand.survey.kinds.yes_no import YesNo

__all__ = [
    "JOINABLE",
    "KINDS",
    "AnyQuestion",
    "Choice",
    "Condition",
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
]

if TYPE_CHECKING:
    AnyQuestion = Question
else:
    AnyQuestion = Annotated[
        Union[YesNo, Choice, PickAny, Number, Scale, Words],  # noqa: UP007 - read when it runs
        Field(discriminator="type"),
    ]

KINDS: Mapping[str, type[Question]] = {
    kind.model_fields["type"].default: kind
    for kind in (YesNo, Choice, PickAny, Number, Scale, Words)
}
"""By the `type` of a [[question]] table."""


def any_of(fits: Callable[[type[Question]], bool]) -> str:
    """The kinds that fit, in a sentence: yes_no, choice or number."""
    *others, last = [kind for kind, question in KINDS.items() if fits(question)]
    return f"{', '.join(others)} or {last}"


JOINABLE = any_of(lambda kind: issubclass(kind, Leveled))
"""The kinds that can be analysed jointly: those with one answer of several."""
