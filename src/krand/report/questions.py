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
from krand.report.kinds import question_notes
from krand.report.labels import Labels
from krand.report.languages import Language
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


def question_views(
    results: Results, labels: Labels, language: Language
) -> tuple[QuestionView, ...]:
    """All questions in the order they were asked, words among them."""
    estimates = {question.name: question for question in results.questions}
    words = {entry.question: entry for entry in results.words}
    asked = [question.name for question in results.plan.survey.questions]
    names = dict.fromkeys((*asked, *estimates, *words))
    return tuple(
        _estimate_view(
            _Place(results, f"question-{place}", name), estimates[name], labels, language
        )
        if name in estimates
        else _words_view(_Place(results, f"question-{place}", name), words.get(name), language)
        for place, name in enumerate(names, 1)
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A question and where on the page it is."""

    results: Results
    anchor: str
    name: str

    @property
    def title(self) -> str:
        """The wording of the question, or its name if it has none."""
        return _text_of(self.results, self.name) or self.name


def _estimate_view(
    place: _Place, estimate: QuestionEstimate, labels: Labels, language: Language
) -> QuestionView:
    own, answers = language.texts.questions, _answers(estimate, labels, language)
    return QuestionView(
        id=place.anchor,
        name=place.name,
        title=place.title,
        caption=(own.caption_many if answers.more else own.caption).format(
            question=place.name,
            kind=own.kinds.get(estimate.kind, estimate.kind.value),
            number=language.numbers.whole(answers.total),
        ),
        answers=answers,
        notes=question_notes(estimate, language),
        cdf=cdf_rows(estimate.distribution, language),
    )


def _words_view(place: _Place, words: WordsEstimate | None, language: Language) -> QuestionView:
    own, found = language.texts, None
    if words is None:
        command = f"krand estimate --candidates {place.name}=words.txt"
        notes: tuple[str, ...] = (own.words.not_decoded.format(command=command),)
    else:
        notes = tuple(word_notes(words, language))
        if words.found:
            found = word_table(place.results.people, words, language)
    kind = own.questions.kinds[Kind.WORDS]
    return QuestionView(
        id=place.anchor,
        name=place.name,
        title=place.title,
        caption=own.questions.caption.format(question=place.name, kind=kind),
        answers=found,
        notes=notes,
    )


def _text_of(results: Results, name: str) -> str:
    """The wording of a question; empty if it has none."""
    return next((q.text for q in results.plan.survey.questions if q.name == name), "")


def _answers(question: QuestionEstimate, labels: Labels, language: Language) -> Answers:
    people, silence = question.people, question.unanswered
    rows = [_of_row(row, labels.answer(question.name, row.label), people) for row in question.rows]
    silent = [] if silence is None else [_of_row(silence, labels.silent(silence.label), people)]
    if len(rows) > OPEN_ROWS:
        rows.sort(key=lambda row: -row.people)
    return answer_table(rows, silent, question.confidence, language)


def _of_row(row: Row, label: str, people: int) -> Estimate:
    return Estimate(
        label=label,
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
