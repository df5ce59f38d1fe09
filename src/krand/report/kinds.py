"""What a report says below the answers to a question, whatever was estimated of it.

What each kind of question is called is in `texts_en.toml` and the other languages.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from krand.analysis.estimates.values import QuestionEstimate
from krand.report.answers import within
from krand.report.distributions import distribution_notes, sentence
from krand.report.languages import Language
from krand.survey.questions import Kind
from krand.wording.summaries import summary_text

__all__ = ["question_notes"]


def _yes_no(question: QuestionEstimate, language: Language) -> Iterator[str]:
    if question.kind is Kind.YES_NO and question.unanswered is None:
        yield language.texts.questions.only_yes


def _picks(question: QuestionEstimate, language: Language) -> Iterator[str]:
    if question.picks is not None:
        picks = question.picks
        shown = within(picks.consistent, picks.interval.low, picks.interval.high, language)
        yield language.texts.questions.picks.format(picks=shown)


def _how_drawn(question: QuestionEstimate, language: Language) -> Iterator[str]:
    own = language.texts.questions
    if question.distribution is not None:
        yield own.histogram
    if question.summaries:
        yield own.diverging


def _summaries(question: QuestionEstimate, language: Language) -> Iterator[str]:
    for summary in question.summaries:
        yield sentence(summary_text(summary, language.shared))


NOTES = (_yes_no, _how_drawn, _picks, _summaries)


def question_notes(
    question: QuestionEstimate, language: Language, unit: str = ""
) -> tuple[str, ...]:
    """All that can be said about a question beside its answers."""
    notes = itertools.chain.from_iterable(note(question, language) for note in NOTES)
    spread = question.distribution
    return (*notes, *(() if spread is None else distribution_notes(spread, unit, language)))
