"""Answers that krand names and not the survey, in the language of the report.

Results name them in English: "yes", "unanswered", "20 to under 40".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from krand.report.languages import Language
from krand.survey.decoding import UNANSWERED
from krand.survey.questions import Number, YesNo
from krand.survey.survey import Survey

__all__ = ["Labels", "labels_of"]

NO_OR_UNANSWERED = "no or unanswered"
"""The answer in joint tables of a yes_no question of which only "yes" was counted."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The answers of each question, by the question's name and by how results name them."""

    answers: Mapping[str, Mapping[str, str]]
    silence: Mapping[str, str]

    def answer(self, question: str, label: str) -> str:
        """An answer; those of the survey are shown as they are."""
        return self.answers.get(question, {}).get(label, label)

    def silent(self, label: str) -> str:
        """The row of those who gave no answer."""
        return self.silence.get(label, label)


def labels_of(survey: Survey, language: Language) -> Labels:
    """The answers of a survey's questions."""
    own = language.texts.labels
    answers = {
        question.name: dict(_names(question, language))
        for question in survey.questions
        if isinstance(question, YesNo | Number)
    }
    return Labels(answers, {UNANSWERED: own.unanswered})


def _names(question: YesNo | Number, language: Language) -> Iterator[tuple[str, str]]:
    """Each answer as results name it, and as the report does."""
    if isinstance(question, YesNo):
        own = language.texts.labels
        yield from zip(map(question.level_name, range(2)), (own.yes, own.no), strict=True)
        yield NO_OR_UNANSWERED, own.no_or_unanswered
        return
    for level in range(question.positions):
        yield question.level_name(level), _range(question, level, language)


def _range(question: Number, level: int, language: Language) -> str:
    own = language.texts.labels
    low, high = (None if end is None else _edge(end, language) for end in question.ends(level))
    if low is None:
        return own.below.format(high=_edge(question.edges[0], language))
    if high is None:
        return own.above.format(low=low)
    if not question.integer:
        return own.under.format(low=low, high=high)
    return low if low == high else own.whole.format(low=low, high=high)


def _edge(edge: float, language: Language) -> str:
    """An edge with all of its digits, as the survey has them."""
    return language.numbers.signs(str(int(edge)) if edge == int(edge) else repr(edge))
