"""Every question in the order it was asked: its answers, and what to say beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from krand.analysis.estimates.values import AskedEstimate, QuestionEstimate, Row
from krand.analysis.results import Results
from krand.analysis.words.decoding import WordsEstimate
from krand.report.answers import (
    OPEN_ROWS,
    Answers,
    Estimate,
    Table,
    answer_table,
    displayed_sum,
)
from krand.report.figures import Axis, Diverging, diverging
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.report.notes import (
    ShareRow,
    asked_rows,
    cdf_rows,
    found_words,
    question_notes,
    word_notes,
)
from krand.survey.questions import Kind, Question
from krand.wording.asked import asked_texts, condition_text
from krand.wording.number_format import heading


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question as the page shows it."""

    id: str
    name: str
    title: str
    kind: Kind
    caption: str
    answers: Answers | None
    heading: str
    """What stands above the answers: with the unit of numbers."""
    notes: tuple[str, ...]
    above: str = ""
    """The wording of a matrix, above its first statement."""
    cdf: tuple[ShareRow, ...] = ()
    among: tuple[ShareRow, ...] = ()
    """Among those who were asked or who answered, where there is a condition."""
    among_caption: str = ""

    @property
    def unreadable(self) -> int:
        """How many answers have too wide a margin of error to be read."""
        rows = () if self.answers is None else (*self.answers.rows, *self.answers.more)
        return sum(not row.readable for row in rows)


def question_views(
    results: Results, labels: Labels, language: Language
) -> tuple[QuestionView, ...]:
    """All questions in the order they were asked, words among them; all bars on one scale."""
    asked = asked_in(results, labels, language)
    ends = [row.high for each in asked for row in (*each.rows, *each.silent)]
    scale = Axis.up_to(max(ends) if len(ends) > 1 else 1.0)  # a single bar is against everybody
    before = ["", *(each.matrix for each in asked)]
    return tuple(
        replace(_view(results, each, scale, language), above=each.matrix * (each.matrix != last))
        for each, last in zip(asked, before, strict=False)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question of the results: what was estimated of it, as rows of one kind."""

    anchor: str
    name: str
    title: str
    """The wording of the question, or its name if it has none."""
    weight: float
    matrix: str
    """The wording above the statements of a matrix, of which it is one; otherwise empty."""
    rows: tuple[Estimate, ...]
    silent: tuple[Estimate, ...] = ()
    unit: str = ""
    """What its numbers count or measure."""
    estimate: QuestionEstimate | None = None
    words: WordsEstimate | None = None
    condition: tuple[str, ...] = ()
    """Whom it was asked, and how many they are."""
    among: tuple[ShareRow, ...] = ()
    """The same answers among those who were asked or who answered."""
    among_caption: str = ""

    @property
    def is_one_of(self) -> bool:
        """Whether everybody is in exactly one row."""
        return bool(self.silent) and self.estimate is not None

    @property
    def is_ordered(self) -> bool:
        """Whether its answers are numbers, which are shown in their order, all of them."""
        found = self.estimate
        return found is not None and bool(found.distribution or found.summaries)

    @property
    def confidence(self) -> float:
        """Of the intervals of its rows."""
        found = self.words if self.estimate is None else self.estimate
        return 0.0 if found is None else found.confidence


def asked_in(results: Results, labels: Labels, language: Language) -> tuple[Asked, ...]:
    """All questions in the order they were asked."""
    survey = {question.name: question for question in results.plan.survey.questions}
    estimates = {question.name: question for question in results.questions}
    words = {entry.question: entry for entry in results.words}
    among = {entry.question: entry for entry in results.asked}
    found = []
    headings, caption = language.shared.asked.heading, language.texts.questions.caption
    for place, name in enumerate(dict.fromkeys((*survey, *estimates, *words)), 1):
        part = among.get(name)
        question, estimate, word = survey.get(name), estimates.get(name), words.get(name)
        rows = [] if word is None else found_words(results.people, word, language)
        if estimate is not None:
            rows = [_of_row(row, labels.answer(name, row.label)) for row in estimate.rows]
        silence = None if estimate is None else estimate.unanswered
        found.append(
            Asked(
                anchor=f"question-{place}",
                name=name,
                title=(question.text if question else "") or name,
                weight=question.weight if question else 1.0,
                matrix=_matrix(question),
                rows=tuple(rows),
                silent=() if silence is None else (_of_row(silence, labels.silent(name)),),
                unit=labels.unit(name),
                estimate=estimate,
                words=word,
                condition=_condition(question, survey, part, labels, language),
                among=asked_rows(part, labels, language),
                among_caption=caption.format(question=name, kind=headings[part.base])
                if part
                else "",
            )
        )
    return tuple(found)


def _condition(
    question: Question | None,
    survey: Mapping[str, Question],
    among: AskedEstimate | None,
    labels: Labels,
    language: Language,
) -> tuple[str, ...]:
    condition = None if question is None else question.asked_if
    if condition is None:
        return ()
    gate = survey[condition.question]
    answers = [labels.named(gate, answer) for answer in condition.answers]
    whom = condition_text(gate.text or gate.name, answers, language.shared)
    return whom, *asked_texts(among, language.shared)


def _matrix(question: Question | None) -> str:
    matrix = None if question is None else question.matrix
    return "" if matrix is None else matrix.text or matrix.name


def _view(results: Results, asked: Asked, scale: Axis, language: Language) -> QuestionView:
    own, estimate = language.texts.questions, asked.estimate
    answers = _answers(asked, scale, language) if asked.rows else None
    kind = Kind.WORDS if estimate is None else estimate.kind
    return QuestionView(
        id=asked.anchor,
        name=asked.name,
        title=asked.title,
        kind=kind,
        caption=(own.caption_many if answers and answers.more else own.caption).format(
            question=asked.name,
            kind=own.kinds.get(kind, kind.value),
            number=language.numbers.whole(answers.total if answers else 0),
        ),
        answers=answers,
        heading=heading(language.texts.answers.answer, asked.unit),
        notes=(*asked.condition, *_notes(asked, language)),
        among=asked.among,
        among_caption=asked.among_caption,
        cdf=() if estimate is None else cdf_rows(estimate.distribution, asked.unit, language),
    )


def _notes(asked: Asked, language: Language) -> tuple[str, ...]:
    if asked.estimate is not None:
        return tuple(question_notes(asked.estimate, language, asked.unit))
    if asked.words is not None:
        return tuple(word_notes(asked.words, language))
    command = f"krand estimate --candidates {asked.name}=words.txt"
    return (language.texts.words.not_decoded.format(command=command),)


def _answers(asked: Asked, scale: Axis, language: Language) -> Answers:
    rows, numbers = list(asked.rows), language.numbers
    opened = len(rows) if asked.is_ordered else OPEN_ROWS
    if len(rows) > opened:
        rows.sort(key=lambda row: -row.people)
    made = Table(rows, asked.silent, asked.confidence, opened)
    table = answer_table(made, scale, language)
    if asked.is_one_of and not table.more:
        shown = displayed_sum((*rows, *asked.silent))
        total = "" if shown == 100 else numbers.with_percent(numbers.signs(str(shown)))
        table = replace(table, total_share=total)
    if asked.estimate is not None and asked.estimate.summaries:
        table = replace(table, diverging=_diverging(asked.rows))
    return table


def _diverging(rows: Sequence[Estimate]) -> Diverging | None:
    """None where an answer is too uncertain to be drawn among the others."""
    if not all(row.readable for row in rows):
        return None
    return diverging([row.label.partition(" (")[0] for row in rows], [row.share for row in rows])


def _of_row(row: Row, label: str) -> Estimate:
    return Estimate(
        label=label,
        share=row.consistent_share,
        low=row.share_interval.low,
        high=row.share_interval.high,
        people=row.consistent,
        people_low=row.interval.low,
        people_high=row.interval.high,
        readable=row.readable,
        raw=row.count,
    )
