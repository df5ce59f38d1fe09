"""The main findings: what a reader who stops after a minute should have read.

Every question and every pair of questions has at most one. It is

- of a list of answers, yes or no among them: the most frequent answer, if its interval lies above
  that of every other; of a question of which only "yes" is counted, "yes", if its interval does not
  contain half of the people;
- of a number: the median, if its interval is within one range;
- of a scale: the mean;
- of two questions that are related: the share of an answer, among those who gave an answer to the
  other question, that differs most from its share among all who answered both.

None has a margin of error above `WIDEST`. Those of the questions with the largest weight come
first; of the same weight, single questions before pairs, and then the clearest: those whose
interval is farthest from what it is compared with. The first `MOST` are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from krand.analysis.estimates.values import Quantile, Statistic
from krand.analysis.joint.conditional import ConditionalShare
from krand.analysis.results import JointResult, Results
from krand.report.answers import Estimate, within
from krand.report.figures import of_confidence
from krand.report.joint import SURE
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.report.pages import filled
from krand.report.questions import Asked, asked_in
from krand.survey.questions import Kind, Number, Scale

MOST = 3
"""How many are shown."""
WIDEST = 0.1
"""The largest margin of error, as a share of the people or of the length of a scale."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, and the part of the page that has the whole answer."""

    anchor: str
    sentence: Markup


@dataclass(frozen=True, slots=True)
class _Candidate:
    weight: float
    lead: float
    """The distance of its interval from what it is compared with, as a share."""
    finding: Finding
    is_pair: bool = False


def findings(results: Results, labels: Labels, language: Language) -> tuple[Finding, ...]:
    """The strongest ones, at most `MOST`."""
    asked = asked_in(results, labels, language)
    found = [*_of_questions(results, asked, language), *_of_pairs(results, asked, labels, language)]
    found.sort(key=lambda each: (-each.weight, each.is_pair, -each.lead))
    return tuple(each.finding for each in found[:MOST])


def findings_note(results: Results, language: Language) -> str:
    """Of whom the shares are, and how findings are chosen."""
    own = language.texts.findings
    sampled = any(question.sampling is not None for question in results.questions)
    confidences = [
        *(q.confidence for q in results.questions),
        *(w.confidence for w in results.words),
    ]
    if not confidences:  # words that nobody decoded: there is nothing to find
        return ""
    return (own.note_sample if sampled else own.note).format(
        people=language.numbers.whole(results.people),
        confidence=of_confidence(confidences[0], language.numbers),
    )


def _of_questions(
    results: Results, asked: Sequence[Asked], language: Language
) -> Iterator[_Candidate]:
    for each in asked:
        kind = Kind.WORDS if each.estimate is None else each.estimate.kind
        make = OF_KIND.get(kind, _answer)
        found = make(results, each, language) if each.rows else None
        if found is not None:
            sentence, lead = found
            yield _Candidate(each.weight, lead, Finding(each.anchor, sentence))


def _answer(_results: Results, asked: Asked, language: Language) -> tuple[Markup, float] | None:
    first = max(asked.rows, key=lambda row: row.share)
    lead = _lead(asked, first)
    if lead <= 0 or not first.readable or _half(first.low, first.high) > WIDEST:
        return None
    said = language.texts.findings.answer
    shown = _share(first.share, first.low, first.high, language)
    return filled(said, question=_quoted(asked.title), answer=_strong(first.label), **shown), lead


def _lead(asked: Asked, first: Estimate) -> float:
    """How far the interval of the first answer lies from that of the next one."""
    only = asked.estimate is not None and asked.estimate.kind is Kind.YES_NO
    if only and len(asked.rows) == 1:  # "yes" alone: against everybody else
        return 2 * max(first.low - 0.5, 0.5 - first.high)
    others = [row.high for row in asked.rows if row is not first]
    return first.low - max(others, default=0.0)


def _median(results: Results, asked: Asked, language: Language) -> tuple[Markup, float] | None:
    estimate = asked.estimate
    spread = None if estimate is None else estimate.distribution
    known = () if spread is None else spread.quantiles
    median = next((entry for entry in known if entry.level == 0.5), None)
    question = next((q for q in results.plan.survey.questions if q.name == asked.name), None)
    if median is None or median.value is None or not isinstance(question, Number):
        return None
    if not _in_one_range(median, question):
        return None
    first = max(asked.rows, key=lambda row: row.share)
    sentence = filled(
        language.texts.findings.median,
        question=_quoted(asked.title),
        value=_strong(within(median.value, median.low, median.high, language, asked.unit)),
    )
    return sentence, max(0.0, _lead(asked, first))


def _in_one_range(median: Quantile, question: Number) -> bool:
    low, high = median.low, median.high
    if low is None or high is None:
        return False
    return not any(low < edge < high for edge in question.edges)


def _mean(results: Results, asked: Asked, language: Language) -> tuple[Markup, float] | None:
    known = () if asked.estimate is None else asked.estimate.summaries
    mean = next((each for each in known if each.statistic is Statistic.MEAN), None)
    question = next((q for q in results.plan.survey.questions if q.name == asked.name), None)
    if mean is None or not isinstance(question, Scale):
        return None
    low, high, length = mean.interval.low, mean.interval.high, question.highest - question.lowest
    if _half(low, high) > WIDEST * length:
        return None
    middle, numbers = (question.lowest + question.highest) / 2, language.numbers
    digits = numbers.decimals(low, high)
    sentence = filled(
        language.texts.findings.mean,
        question=_quoted(asked.title),
        value=_strong(numbers.rounded(mean.value, digits)),
        margin=numbers.margin(max(mean.value - low, high - mean.value), digits),
    )
    return sentence, max(0.0, low - middle, middle - high) * 2 / length


OF_KIND: dict[Kind, Callable[[Results, Asked, Language], tuple[Markup, float] | None]] = {
    Number.kind: _median,
    Scale.kind: _mean,
}
"""How a finding is made; of all other kinds it is an answer."""


def _of_pairs(
    results: Results, asked: Sequence[Asked], labels: Labels, language: Language
) -> Iterator[_Candidate]:
    known = {each.name: each for each in asked}
    for place, joint in enumerate(results.joint, 1):
        test, names = joint.independence, joint.table.questions
        if test is None or test.p_value >= SURE or not all(name in known for name in names):
            continue
        shares = [found for found in _differences(joint) if found[0] > 0]
        if shares:
            lead, axis, share = max(shares, key=lambda found: found[0])
            given, question = known[names[axis]], known[names[1 - axis]]
            sentence = _among(share, given, question, labels, language)
            weight = max(known[name].weight for name in names)
            found = Finding(f"together-{place}", sentence)
            yield _Candidate(weight, lead, found, is_pair=True)


def _differences(joint: JointResult) -> Iterator[tuple[float, int, ConditionalShare]]:
    """How far each share among those who gave an answer is from the share among all."""
    rows, columns = joint.table.answers
    cells = np.asarray(joint.table.consistent)[:rows, :columns]
    for axis, table in enumerate(joint.given):
        totals = cells.sum(axis=axis)
        whole = float(totals.sum())
        for group in table.groups:
            for share, total in zip(group, totals.tolist(), strict=True):
                low, high = share.interval.low, share.interval.high
                if whole > 0 and share.consistent is not None and _half(low, high) <= WIDEST:
                    yield max(low - total / whole, total / whole - high), axis, share


def _among(
    share: ConditionalShare, given: Asked, question: Asked, labels: Labels, language: Language
) -> Markup:
    middle = 0.0 if share.consistent is None else share.consistent
    return filled(
        language.texts.findings.given,
        question=_quoted(question.title),
        answer=_strong(labels.measured(question.name, share.label)),
        given_question=_quoted(given.title),
        given_answer=_quoted(labels.measured(given.name, share.given)),
        **_share(middle, share.interval.low, share.interval.high, language),
    )


def _share(share: float, low: float, high: float, language: Language) -> dict[str, str]:
    numbers = language.numbers
    digits = numbers.decimals(100 * low, 100 * high)
    return {
        "share": _strong(numbers.with_percent(numbers.share(share, digits))),
        "margin": numbers.margin(100 * max(share - low, high - share), digits),
    }


def _half(low: float, high: float) -> float:
    return (high - low) / 2


def _quoted(text: str) -> Markup:
    return Markup("<q>{}</q>").format(text)


def _strong(text: str) -> Markup:
    return Markup("<strong>{}</strong>").format(text)
