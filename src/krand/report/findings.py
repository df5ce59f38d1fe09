"""At a glance: what a reader who stops after a minute should have read.

Every question has one line, up to `MOST` of them. It is

- of yes or no: the share of "yes";
- of a list of answers: the most frequent one; the first two if their intervals overlap;
- of a number: the median; its most frequent range if the median's interval has all of them;
- of a scale: how many are at its ends and between.

Of more questions, those with the largest weight are shown; of the same weight the clearest: those
whose interval is farthest from what it is compared with. Below come the `MOST_PAIRS` clearest pairs
of related questions: the share of an answer, among those who gave an answer to the other question,
that differs most from its share among all who answered both.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from krand.analysis.estimates.values import Statistic
from krand.analysis.joint.conditional import ConditionalShare
from krand.analysis.results import JointResult, Results
from krand.report.answers import Estimate, Part, table_decimals, within
from krand.report.joint import SURE
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.report.pages import filled
from krand.report.questions import Asked
from krand.survey.questions import Kind, Number, Scale

MOST, MOST_PAIRS = 12, 3
"""How many questions and how many pairs are shown."""
LONGEST = 160
"""How many characters of a question or an answer are shown; the whole of it stands below."""
UNREADABLE = -1.0
"""The lead of what cannot be read: behind all that can."""
WIDEST = 0.1
"""The largest margin of error of a difference, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What was asked, what was found, and the part of the page that has all of it."""

    anchor: str
    question: str
    found: Markup
    parts: tuple[Part, ...] = ()
    """The same as a small bar; none for numbers."""
    lead: float = 0.0
    """The distance of its interval from what it is compared with, as a share."""


@dataclass(frozen=True, slots=True)
class Glance:
    """The top of the page."""

    lines: tuple[Line, ...]
    pairs: tuple[Line, ...]
    note: str


def glance(results: Results, asked: Sequence[Asked], labels: Labels, language: Language) -> Glance:
    """One line for each question, or for the main ones if there are many, and for some pairs."""
    lines = [_line(each, language) for each in asked]
    order = sorted(range(len(lines)), key=lambda at: (-asked[at].weight, -lines[at].lead))
    pairs = sorted(_pairs(results, asked, labels, language), key=lambda line: -line.lead)
    return Glance(
        tuple(lines[at] for at in sorted(order[:MOST])),
        tuple(pairs[:MOST_PAIRS]),
        _note(results, asked, language),
    )


def _note(results: Results, asked: Sequence[Asked], language: Language) -> str:
    """Of whom the shares are, and which questions are not shown."""
    own, whole = language.texts.glance, language.numbers.whole
    sampled = any(question.sampling is not None for question in results.questions)
    said, confidence = [], confidence_of(results)
    if confidence is not None:
        shown = language.numbers.confidence(confidence)
        note = own.note_sample if sampled else own.note
        said.append(note.format(people=whole(results.people), confidence=shown))
    if any(each.boxes or isinstance(each.question, Number) for each in asked):
        said.append(own.answered)
    if len(asked) > MOST:
        said.append(own.left_out.format(number=whole(MOST), all=whole(len(asked))))
    return " ".join(said)


def confidence_of(results: Results) -> float | None:
    """Of the intervals; None if words were asked that nobody decoded, and nothing else."""
    for question in results.questions:
        return question.confidence
    return results.words[0].confidence if results.words else None


def _line(asked: Asked, language: Language) -> Line:
    own = language.texts.glance
    given = [row for row in asked.rows if not row.aside]
    found, lead = Markup("{}").format(own.not_decoded), UNREADABLE
    parts: Sequence[Part] = ()
    if asked.boxes:
        found, lead, parts = _scale(asked, language)
    elif (median := _median(asked, language)) is not None:
        found = median
        lead = max(0.0, _lead(asked, max(given, key=lambda row: row.share)))
    elif given:
        found, lead, parts = _answer(asked, given, language)
    elif asked.words is not None:
        found = Markup("{}").format(own.none_found)
    question = shortened(asked.title)
    return Line(anchor=asked.anchor, question=question, found=found, lead=lead, parts=tuple(parts))


def _answer(
    asked: Asked, given: Sequence[Estimate], language: Language
) -> tuple[Markup, float, Sequence[Part]]:
    own, unclear = language.texts.glance, language.texts.answers.unreadable
    first, *others = sorted(given, key=lambda row: -row.share)
    if asked.kind is Kind.YES_NO:
        first, others = given[0], []
    if not first.readable:
        return Markup("{}").format(unclear), UNREADABLE, ()
    lead = _lead(asked, first)
    digits = table_decimals(asked.rows)
    said = [
        filled(own.answer, answer=_own(row.label), **_share(row, digits, language))
        for row in (first, *others[: lead <= 0])
    ]
    found = said[0] if len(said) == 1 else filled(own.close, first=said[0], second=said[1])
    if asked.among and asked.asked is not None:
        found = filled(own.among[asked.asked.base], found=found)
    return found, lead, [Part(first.label, "", round(100 * first.share, 2), "high-strong")]


def _lead(asked: Asked, first: Estimate) -> float:
    """How far the interval of the first answer lies from that of the next one."""
    others = [row.high for row in asked.rows if row is not first and not row.aside]
    if asked.kind is Kind.YES_NO:  # against everybody else
        return 2 * max(first.low - 0.5, 0.5 - first.high)
    return first.low - max(others, default=0.0)


def _median(asked: Asked, language: Language) -> Markup | None:
    spread = None if asked.estimate is None else asked.estimate.distribution
    known = () if spread is None else spread.quantiles
    median = next((entry for entry in known if entry.level == 0.5), None)
    if median is None or not isinstance(asked.question, Number):
        return None
    if median.value is None or median.low is None or median.high is None:
        return None
    least, most = asked.question.edges[0], asked.question.edges[-1] - asked.question.integer
    if median.low <= least and median.high >= most:  # all that could be answered
        return None
    shown = within(median.value, median.low, median.high, language, asked.unit)
    return filled(language.texts.glance.median, value=_strong(shown))


def _scale(asked: Asked, language: Language) -> tuple[Markup, float, Sequence[Part]]:
    if not all(box.readable for box in asked.boxes):
        return Markup("{}").format(language.texts.answers.unreadable), UNREADABLE, ()
    told = (Markup("{} <bdi>{}</bdi>").format(_strong(box.share), box.name) for box in asked.boxes)
    parts = [Part(box.name, "", box.part, box.tone) for box in asked.boxes]
    return Markup(" · ").join(told), _off_the_middle(asked), parts


def _off_the_middle(asked: Asked) -> float:
    known = () if asked.estimate is None else asked.estimate.summaries
    mean = next((each for each in known if each.statistic is Statistic.MEAN), None)
    question = asked.question
    if mean is None or not isinstance(question, Scale):
        return 0.0
    middle, length = (question.lowest + question.highest) / 2, question.highest - question.lowest
    return max(0.0, mean.interval.low - middle, middle - mean.interval.high) * 2 / length


def _pairs(
    results: Results, asked: Sequence[Asked], labels: Labels, language: Language
) -> Iterator[Line]:
    known = {each.name: each for each in asked}
    for place, joint in enumerate(results.joint, 1):
        test, names = joint.independence, joint.table.questions
        if test is None or test.p_value >= SURE or not all(name in known for name in names):
            continue
        found = max(_differences(joint), key=lambda each: each[0], default=(0.0, 0, None, 0.0))
        lead, axis, share, overall = found
        if lead <= 0 or share is None or share.consistent is None:
            continue
        given, question = known[names[axis]], known[names[1 - axis]]
        low, high = share.interval.low, share.interval.high
        digits = language.numbers.decimals(100 * low, 100 * high)
        answer = labels.measured(question.name, share.label)
        row = Estimate(label=answer, share=share.consistent, low=low, high=high)
        everybody = language.numbers.with_percent(language.numbers.share(overall, digits))
        yield Line(
            anchor=f"together-{place}",
            question=f"{shortened(given.title)} × {shortened(question.title)}",
            found=filled(
                language.texts.glance.given,
                given_answer=_own(labels.measured(given.name, share.given)),
                answer=_own(row.label),
                overall=everybody,
                **_share(row, digits, language),
            ),
            lead=lead,
        )


def _differences(
    joint: JointResult,
) -> Iterator[tuple[float, int, ConditionalShare | None, float]]:
    """How far each share among those who gave an answer is from the share among all."""
    rows, columns = joint.table.answers
    cells = np.asarray(joint.table.consistent)[:rows, :columns]
    for axis, table in enumerate(joint.given):
        totals = cells.sum(axis=axis)
        whole = float(totals.sum())
        for group in table.groups:
            for share, total in zip(group, totals.tolist(), strict=True):
                low, high = share.interval.low, share.interval.high
                if whole > 0 and share.consistent is not None and (high - low) / 2 <= WIDEST:
                    overall = total / whole
                    yield max(low - overall, overall - high), axis, share, overall


def _share(row: Estimate, digits: int, language: Language) -> dict[str, str]:
    numbers = language.numbers
    return {
        "share": _strong(numbers.with_percent(numbers.share(row.share, digits))),
        "margin": numbers.margin(100 * max(row.share - row.low, row.high - row.share), digits),
    }


def shortened(text: str, longest: int = LONGEST) -> str:
    """At the end of a word, if there is one."""
    cut = textwrap.shorten(text, longest, placeholder=" …")
    return f"{text[: longest - 1]}…" if cut == "…" else cut


def _own(label: str) -> Markup:
    """An answer in a sentence, whichever way it is written."""
    return Markup("<bdi>{}</bdi>").format(shortened(label))


def _strong(text: str) -> Markup:
    return Markup("<strong>{}</strong>").format(text)
