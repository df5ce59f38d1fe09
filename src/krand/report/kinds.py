"""How a report shows each kind of question: its name, and what stands below its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from krand.analysis.estimates.values import QuestionEstimate
from krand.report.answers import number, span
from krand.report.distributions import distribution_notes
from krand.survey.questions import Kind
from krand.wording.summaries import summary_text

__all__ = ["VIEWS", "KindView"]


def _no_notes(question: QuestionEstimate) -> Iterator[str]:
    yield from ()


def _yes_no(question: QuestionEstimate) -> Iterator[str]:
    if question.unanswered is None:
        yield 'Only "yes" was counted: "no" and "no answer" cannot be told apart.'


def _pick_any(question: QuestionEstimate) -> Iterator[str]:
    if question.picks is not None:
        picks = question.picks
        yield (
            f"{number(picks.consistent)} picks per person on average"
            f" ({span(picks.interval.low, picks.interval.high)})."
        )


def _number(question: QuestionEstimate) -> Iterator[str]:
    if question.distribution is not None:
        yield from distribution_notes(question.distribution)


def _scale(question: QuestionEstimate) -> Iterator[str]:
    for summary in question.summaries:
        text = summary_text(summary)
        yield f"{text[0].upper()}{text[1:]}."


@dataclass(frozen=True, slots=True)
class KindView:
    """A kind of question in a report."""

    asked_as: str
    notes: Callable[[QuestionEstimate], Iterator[str]] = _no_notes


VIEWS: Mapping[Kind, KindView] = {
    Kind.YES_NO: KindView("yes or no", _yes_no),
    Kind.CHOICE: KindView("one answer of a list"),
    Kind.PICK_ANY: KindView("any of a list", _pick_any),
    Kind.NUMBER: KindView("a number, known by its range", _number),
    Kind.SCALE: KindView("a value on a scale", _scale),
    Kind.WORDS: KindView("free words, looked for on a list"),
}
