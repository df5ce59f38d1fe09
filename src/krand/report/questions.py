"""Every question in the order it was asked: its answers, and what to say beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from krand.analysis.estimates.values import AskedEstimate, AskedShare, QuestionEstimate, Row
from krand.analysis.results import Results
from krand.analysis.words.decoding import WordsEstimate
from krand.report.answers import (
    OPEN_ROWS,
    SILENT,
    AnswerRow,
    Answers,
    Counted,
    Estimate,
    Part,
    answer_table,
    scale_tones,
    stacked,
    table_decimals,
)
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.report.notes import cdf_rows, details_notes, found_words, question_notes
from krand.report.notes import sentence as as_sentence
from krand.report.scales import Box, boxes_of, ends_of, mean_text
from krand.survey.questions import Kind, Question, Scale
from krand.wording.number_format import heading
from krand.wording.phrases import asked_texts, condition_text, summary_text

MOST_PARTS = 11
"""The values of a scale that are shown as one bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTable:
    """How many people gave each answer: for the annex."""

    rows: tuple[tuple[str, str, str, str], ...]
    """Of each answer its label, people, their interval, and the raw count."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question as the page shows it."""

    id: str
    title: str
    kind: Kind
    caption: str
    answers: Answers | None
    heading: str
    """What stands above the answers: with the unit of numbers."""
    notes: tuple[str, ...]
    above: str = ""
    """The wording of a matrix, above its first statement."""
    boxes: tuple[Box, ...] = ()
    """The ends and the middle of a scale, among those who answered; yes and no."""
    ends: tuple[str, ...] = ()
    """What the ends of a scale are called."""
    mean: str = ""
    details: tuple[str, ...] = ()
    """What only some readers need, with the distribution."""
    cdf: tuple[AnswerRow, ...] = ()
    everybody: Answers | None = None
    """Shares of all people, where the answers are shown among some of them."""
    everybody_caption: str = ""
    counts: CountTable

    @property
    def unreadable(self) -> int:
        """How many answers have too wide a margin of error to be read."""
        rows = () if self.answers is None else (*self.answers.rows, *self.answers.more)
        return sum(not row.readable for row in rows)


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
    everybody: tuple[Estimate, ...]
    """Shares of all people, silence last."""
    among: tuple[Estimate, ...] = ()
    """The same answers among those who were asked or who answered, where there is a condition."""
    asked: AskedEstimate | None = None
    unit: str = ""
    """What its numbers count or measure."""
    question: Question | None = None
    estimate: QuestionEstimate | None = None
    words: WordsEstimate | None = None
    condition: tuple[str, ...] = ()
    """Whom it was asked, and how many they are."""
    boxes: tuple[Box, ...] = ()

    @property
    def rows(self) -> tuple[Estimate, ...]:
        """What is shown first: shares of those who were asked, where these are known."""
        return self.among or self.everybody

    @property
    def kind(self) -> Kind:
        """The kind of the question."""
        return Kind.WORDS if self.estimate is None else self.estimate.kind

    @property
    def opened(self) -> int:
        """How many rows are seen at once: all of those that have an order."""
        found = self.estimate
        ordered = found is not None and bool(found.distribution or found.summaries)
        return len(self.everybody) if ordered else OPEN_ROWS

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
    for place, name in enumerate(dict.fromkeys((*survey, *estimates, *words)), 1):
        part, question, estimate = among.get(name), survey.get(name), estimates.get(name)
        matrix = question.matrix if question else None
        rows = found_words(results.people, words[name], language) if name in words else []
        if estimate is not None:
            rows = [_of_row(row, labels.answer(name, row.label)) for row in estimate.rows]
            if (silent := estimate.unanswered) is not None:
                rows.append(replace(_of_row(silent, labels.silent(name)), aside=True))
        found.append(
            Asked(
                anchor=f"question-{place}",
                name=name,
                title=(question.text if question else "") or name,
                weight=question.weight if question else 1.0,
                matrix=(matrix.text or matrix.name) if matrix else "",
                everybody=tuple(rows),
                among=_among(part, labels, language),
                asked=part,
                unit=labels.unit(name),
                question=question,
                estimate=estimate,
                words=words.get(name),
                condition=_condition(question, survey, part, labels, language),
                boxes=boxes_of(question, estimate, language),
            )
        )
    return tuple(found)


def _of_row(row: Row, label: str) -> Estimate:
    return Estimate(
        label=label,
        share=row.consistent_share,
        low=row.share_interval.low,
        high=row.share_interval.high,
        readable=row.readable,
        counted=Counted(row.consistent, row.interval.low, row.interval.high, row.count),
    )


def _among(found: AskedEstimate | None, labels: Labels, language: Language) -> tuple[Estimate, ...]:
    """The answers among those who were asked, or who answered."""
    if found is None:
        return ()
    rows = [_of_share(row, labels.answer(found.question, row.label)) for row in found.rows]
    if found.unanswered is not None:
        silent = _of_share(found.unanswered, language.texts.labels.unanswered)
        rows.append(replace(silent, aside=True))
    return tuple(rows)


def _of_share(row: AskedShare, label: str) -> Estimate:
    return Estimate(
        label=label,
        share=row.consistent,
        low=row.interval.low,
        high=row.interval.high,
        readable=row.readable,
    )


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


def question_views(asked: Sequence[Asked], language: Language) -> tuple[QuestionView, ...]:
    """All questions in the order they were asked, words among them."""
    before = ["", *(each.matrix for each in asked)]
    return tuple(
        replace(_view(each, language), above=each.matrix * (each.matrix != last))
        for each, last in zip(asked, before, strict=False)
    )


def _view(asked: Asked, language: Language) -> QuestionView:
    estimate = asked.estimate
    answers = _answers(asked, asked.rows, language)
    boxes = asked.boxes if all(box.readable for box in asked.boxes) else ()
    everybody = _answers(asked, asked.everybody, language) if asked.among else None
    return QuestionView(
        id=asked.anchor,
        title=asked.title,
        kind=asked.kind,
        caption=_caption(asked, answers, language),
        answers=answers,
        heading=heading(language.texts.answers.answer, asked.unit),
        notes=(*asked.condition, *question_notes(estimate, asked.words, language, asked.unit)),
        boxes=boxes or _as_boxes(asked, answers),
        ends=ends_of(asked.question) if answers and answers.parts else (),
        mean=mean_text(asked.question, estimate, language) if boxes else "",
        details=() if estimate is None else tuple(details_notes(estimate, language, asked.unit)),
        cdf=tuple(cdf_rows(estimate.distribution, asked.unit, language)) if estimate else (),
        everybody=everybody,
        everybody_caption=_caption(replace(asked, among=()), everybody, language),
        counts=_counts(asked, language),
    )


def _caption(asked: Asked, answers: Answers | None, language: Language) -> str:
    """The kind of the question, and what differs from other tables."""
    own, numbers = language.texts.questions, language.numbers
    kind = own.kinds.get(asked.kind, asked.kind.value)
    if answers is None:
        return kind
    said = kind
    if asked.among and asked.asked is not None:
        shares = language.shared.asked.heading[asked.asked.base]
        said = own.caption.format(kind=kind, shares=shares)
    if answers.more:
        said = own.caption_many.format(caption=said, number=numbers.whole(answers.total))
    if answers.end and not answers.parts:
        said = own.caption_end.format(caption=said, end=answers.end)
    return said


def _answers(asked: Asked, rows: Sequence[Estimate], language: Language) -> Answers | None:
    if not rows:
        return None
    shown = list(rows)
    if sum(not row.aside for row in shown) > asked.opened:
        shown.sort(key=lambda row: -row.size)
    table = answer_table(shown, asked.opened, asked.confidence, language)
    tones = _tones(asked, rows)
    if not tones or not all(row.readable for row in rows):
        return table
    coloured = (replace(row, tone=tone) for row, tone in zip(table.rows, tones, strict=True))
    return replace(table, rows=tuple(coloured), parts=_parts(table, rows, tones, language))


def _as_boxes(asked: Asked, answers: Answers | None) -> tuple[Box, ...]:
    """Yes and no in one line, which says all that a table would."""
    if answers is None or not answers.parts or asked.kind is not Kind.YES_NO:
        return ()
    return tuple(
        Box(share=row.share, name=row.label, interval=row.interval, part=0, tone=row.tone)
        for row in answers.rows
    )


def _tones(asked: Asked, rows: Sequence[Estimate]) -> tuple[str, ...]:
    """The colours of answers that are parts of one bar; none for other kinds of questions."""
    given = sum(not row.aside for row in rows)
    if asked.kind is Kind.YES_NO:
        tones: tuple[str, ...] = ("high-strong", "high")[:given]
    elif isinstance(asked.question, Scale) and given <= MOST_PARTS:
        tones = scale_tones(given)
    else:
        return ()
    return (*tones, *[SILENT] * (len(rows) - given))


def _parts(
    table: Answers, rows: Sequence[Estimate], tones: Sequence[str], language: Language
) -> tuple[Part, ...]:
    """All answers; of a question of which only "yes" was counted, everybody else as well."""
    shown = [("", row.share, e.share) for row, e in zip(table.rows, rows, strict=True)]
    if len(rows) > 1:
        return stacked(shown, tones)
    rest, numbers = max(0.0, 1 - rows[0].share), language.numbers
    said = numbers.with_percent(numbers.share(rest, table_decimals(rows)))
    own = language.texts.labels.no_or_unanswered
    return stacked([*shown, (own, said, rest)], (*tones, SILENT))


def _counts(asked: Asked, language: Language) -> CountTable:
    """Of the answers that the page shows at once."""
    numbers, own = language.numbers, language.texts.answers
    if asked.estimate is None and asked.words is None:
        command = f"krand estimate --candidates {asked.name}=words.txt"
        return CountTable(rows=(), notes=(language.texts.words.decode.format(command=command),))
    given = [row for row in asked.everybody if not row.aside]
    if len(given) > asked.opened:
        given = sorted(given, key=lambda row: -row.size)[: asked.opened]
    rows = (*given, *(row for row in asked.everybody if row.aside))
    summaries = () if asked.estimate is None else asked.estimate.summaries
    return CountTable(
        rows=tuple(
            (
                label,
                numbers.count(c.people),
                own.ends.format(low=numbers.count(c.low), high=numbers.count(c.high)),
                "" if c.raw is None else numbers.rounded(c.raw, 1),
            )
            for label, c in ((row.label, row.counted) for row in rows if row.counted)
        ),
        notes=tuple(as_sentence(summary_text(each, language.shared)) for each in summaries),
    )
