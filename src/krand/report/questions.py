"""Every question in the order it was asked: its answers, and what to say beside them."""

from __future__ import annotations

from dataclasses import dataclass

from krand.analysis.estimates.values import QuestionEstimate, Row
from krand.analysis.results import Results
from krand.analysis.words.decoding import WordsEstimate
from krand.report.answers import (
    OPEN_ROWS,
    Answers,
    Estimate,
    answer_table,
)
from krand.report.distributions import CdfRow, cdf_rows
from krand.report.kinds import VIEWS, KindView
from krand.report.words import word_notes, word_table
from krand.survey.questions import Kind

__all__ = ["QuestionView", "question_views"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question as the page shows it."""

    id: str
    name: str
    title: str
    caption: str
    answers: Answers | None
    notes: tuple[str, ...]
    cdf: tuple[CdfRow, ...] = ()

    @property
    def unreadable(self) -> int:
        """How many answers have too wide a margin of error to be read."""
        rows = () if self.answers is None else (*self.answers.rows, *self.answers.more)
        return sum(not row.readable for row in rows)


def question_views(results: Results) -> tuple[QuestionView, ...]:
    """All questions in the order they were asked, words among them."""
    estimates = {question.name: question for question in results.questions}
    words = {entry.question: entry for entry in results.words}
    asked = [question.name for question in results.plan.survey.questions]
    names = dict.fromkeys((*asked, *estimates, *words))
    return tuple(
        _view(results, f"question-{place}", name, estimates.get(name), words.get(name))
        for place, name in enumerate(names, 1)
    )


def _view(
    results: Results,
    anchor: str,
    name: str,
    estimate: QuestionEstimate | None,
    words: WordsEstimate | None,
) -> QuestionView:
    title = _text_of(results, name) or name
    if estimate is not None:
        cdf, answers = cdf_rows(estimate.distribution), _answers(estimate)
        view = VIEWS.get(estimate.kind, KindView(estimate.kind.value))
        caption = f"{name}: {view.asked_as}"
        if answers.more:
            caption += f"; the most frequent of {answers.total:,}"
        notes = tuple(view.notes(estimate))
        return QuestionView(
            id=anchor,
            name=name,
            title=title,
            caption=caption,
            answers=answers,
            notes=notes,
            cdf=cdf,
        )
    caption = f"{name}: {VIEWS[Kind.WORDS].asked_as}"
    if words is None:
        note = (
            "Not decoded: words are found with a list of candidates,"
            f" krand estimate --candidates {name}=words.txt."
        )
        return QuestionView(
            id=anchor, name=name, title=title, caption=caption, answers=None, notes=(note,)
        )
    found = word_table(results.people, words) if words.found else None
    return QuestionView(
        id=anchor,
        name=name,
        title=title,
        caption=caption,
        answers=found,
        notes=tuple(word_notes(words)),
    )


def _text_of(results: Results, name: str) -> str:
    """The wording of a question; empty if it has none."""
    return next((q.text for q in results.plan.survey.questions if q.name == name), "")


def _answers(question: QuestionEstimate) -> Answers:
    rows = [_of_row(row, question.people) for row in question.rows]
    silent = [] if question.unanswered is None else [_of_row(question.unanswered, question.people)]
    if len(rows) > OPEN_ROWS:
        rows.sort(key=lambda row: -row.people)
    return answer_table(rows, silent, question.confidence)


def _of_row(row: Row, people: int) -> Estimate:
    return Estimate(
        label=row.label,
        share=row.consistent_share,
        low=row.share_interval.low,
        high=row.share_interval.high,
        people=row.consistent,
        people_low=row.interval.low,
        people_high=row.interval.high,
        error=row.standard_error / people,
        readable=row.readable,
        raw=row.count,
    )
