"""Answers in the language of the report.

Results name them as the survey does in its own language, and in English what krand names: "yes",
"unanswered", "20 to under 40".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from krand.languages.catalogs import main_language
from krand.report.languages import ROOMS, Language, language_of
from krand.survey.encoding import UNANSWERED
from krand.survey.questions import Number, Question, YesNo
from krand.survey.survey import Survey
from krand.survey.translations import nearest_language
from krand.wording.number_format import heading, with_unit

NO_OR_UNANSWERED = "no or unanswered"
"""The answer in joint tables of a yes_no question of which only "yes" was counted."""


@dataclass(frozen=True, slots=True)
class Labels:
    """By the question's name and by how results name them, in the order of the question."""

    answers: Mapping[str, Mapping[str, str]]
    silence: Mapping[str, str]
    """What no answer is called, by the question's name."""
    units: Mapping[str, str]
    """What numbers count or measure, of the questions that say so."""

    def answer(self, question: str, label: str) -> str:
        """An answer; those of a survey in the language of the report are shown as they are."""
        return self.answers.get(question, {}).get(label, label)

    def named(self, question: Question, answer: str) -> str:
        """An answer that a condition names, in the words of this question."""
        names = tuple(self.answers.get(question.name, {}).values())
        return names[question.place_named(answer)] if names else answer

    def unit(self, question: str) -> str:
        """What the numbers of a question count or measure; empty if it does not say."""
        return self.units.get(question, "")

    def name(self, question: str) -> str:
        """A question's name above its answers: income (€ a month)."""
        return heading(question, self.unit(question))

    def measured(self, question: str, label: str) -> str:
        """An answer where no heading tells its unit: 1,000 to 1,999 € a month."""
        return with_unit(self.answer(question, label), self.unit(question))

    def axis(self, question: str, labels: Sequence[str], answers: int) -> tuple[str, ...]:
        """The labels of an axis of a joint table, of which so many are answers."""
        shown = (self.answer(question, label) for label in labels[:answers])
        return (*shown, *[self.silent(question)] * (len(labels) - answers))

    def silent(self, question: str) -> str:
        """The row of those who gave no answer."""
        return self.silence.get(question, UNANSWERED)


def spoken_survey(survey: Survey, language: str | None) -> tuple[Language, Survey]:
    """What krand says, and the survey, in one of their languages; without one, the survey's own.

    What krand says is English if it lacks that language; the survey stays as it is if it does.
    """
    tag = nearest_language(survey.languages, language or survey.language)
    if tag is None:
        return language_of(str(language), survey.languages), survey
    own = tag == survey.language
    return language_of(main_language(tag, *ROOMS)), survey if own else survey.in_language(tag)


def labels_of(survey: Survey, language: Language, counted: Survey | None = None) -> Labels:
    """The answers of a survey's questions; `counted` is it in its own language, as results are."""
    own = language.texts.labels
    answers: dict[str, Mapping[str, str]] = {}
    for question, named in zip(survey.questions, (counted or survey).questions, strict=True):
        if isinstance(question, YesNo | Number):
            answers[question.name] = dict(_names(question, language))
        elif question != named and question.worded:
            places = range(question.positions)
            names = map(question.position_name, places)
            answers[question.name] = dict(zip(map(named.position_name, places), names, strict=True))
    units = {
        question.name: question.unit
        for question in survey.questions
        if isinstance(question, Number) and question.unit
    }
    silence = {
        question.name: own.unanswered if question.asked_if is None else own.not_asked
        for question in survey.questions
    }
    return Labels(answers, silence, units)


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
    edge = language.numbers.edge
    low, high = (None if end is None else edge(end) for end in question.ends(level))
    if low is None:
        return own.below.format(high=edge(question.edges[0]))
    if high is None:
        return own.above.format(low=low)
    if not question.integer:
        return own.under.format(low=low, high=high)
    return low if low == high else own.whole.format(low=low, high=high)
