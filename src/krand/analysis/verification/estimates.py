"""Whether every number of every question follows from its counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from krand.analysis.checks import Check, check, same
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.estimates.rows import QUARTILES, EstimateOptions
from krand.analysis.estimates.values import Interval, Method, QuestionEstimate, Row
from krand.analysis.results import Results
from krand.analysis.verification.recovering import Recovered
from krand.errors import KrandError
from krand.survey.plan import Plan
from krand.survey.questions import Kind

__all__ = ["estimate_checks"]

CHECKS = {
    "counts": "every count is possible, and sums agree",
    "standard_errors": "every standard error is that of the noise",
    "shares": "every share is its count divided by the people",
    "intervals": "every interval is that of its count, noise and confidence",
    "consistent": "consistent counts are the nearest possible ones",
    "distributions": "distribution functions, quantiles and means follow from the bins",
}
Number = tuple[str, str, float | None, float]
"""Of which check, where, the number, and what it is measured in."""


def estimate_checks(plan: Plan, results: Results, found: Recovered) -> Iterator[Check]:
    """The questions are those that were asked; their numbers are computed again and compared."""
    faults: dict[str, list[str]] = {name: [] for name in CHECKS}
    asked = list(_wrong_questions(plan, results))
    for told in results.questions if not asked else ():
        if told.name in found.lost:
            faults["counts"].append(f"{told.name}: its counts are not all there")
            continue
        levels = told.distribution.quantiles if told.distribution else ()
        quantiles = tuple(entry.level for entry in levels) or QUARTILES
        options = EstimateOptions(told.confidence, told.sampling, quantiles)
        try:
            true = estimate_question(plan, found.tally, told.name, options)
        except KrandError as error:
            faults["counts"].append(f"{told.name}: {error}")
            continue
        if _labels(told) != _labels(true) or _shape(told) != _shape(true):
            asked.append(f"{told.name}: its answers are not those of the survey")
            continue
        for name, fault in _differences(told, true):
            faults[name].append(fault)
    yield check("questions", asked, "all questions of the survey are answered, and no other")
    for name, says in CHECKS.items():
        yield check(name, faults[name], says)


def _wrong_questions(plan: Plan, results: Results) -> Iterator[str]:
    asked = [(q.name, q.kind) for q in plan.survey.questions if q.kind is not Kind.WORDS]
    told = [(q.name, q.kind) for q in results.questions]
    if asked != told:
        yield (
            f"the survey asks {', '.join(name for name, _ in asked)}; here are"
            f" {', '.join(name for name, _ in told) or 'none'}"
        )
    for question in results.questions:
        if question.people != results.people:
            yield f"{question.name} is about {question.people:,} people, not {results.people:,}"
    levels = {q.confidence for q in results.questions} | {w.confidence for w in results.words}
    levels |= {joint.table.confidence for joint in results.joint}
    if len(levels) > 1:
        yield f"intervals have different confidences: {', '.join(map(str, sorted(levels)))}"


def _labels(question: QuestionEstimate) -> list[str]:
    return [row.label for row in _rows(question)]


def _rows(question: QuestionEstimate) -> tuple[Row, ...]:
    """All answers, and no answer where it is one."""
    return (*question.rows, *(() if question.unanswered is None else (question.unanswered,)))


def _shape(question: QuestionEstimate) -> tuple[object, ...]:
    spread = question.distribution
    return (
        question.unanswered is None,
        question.picks is None,
        0 if spread is None else len(spread.cdf),
        0 if spread is None else len(spread.quantiles),
        *((entry.statistic, entry.answers) for entry in question.summaries),
    )


def _differences(told: QuestionEstimate, true: QuestionEstimate) -> Iterator[tuple[str, str]]:
    for claimed, found in zip(_numbers(told), _numbers(true), strict=True):
        name, where, value, scale = claimed
        if not same(value, found[2], scale):
            yield name, f"{told.name}, {where}: {_text(value)} instead of {_text(found[2])}"


def _text(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _numbers(question: QuestionEstimate) -> Iterator[Number]:
    people = float(question.people)
    for row in _rows(question):
        yield "counts", row.label, row.count, people
        yield "consistent", row.label, row.consistent, people
        yield "standard_errors", row.label, row.standard_error, 1.0
        yield "shares", row.label, row.share, 1.0
        yield "shares", row.label, row.consistent_share, 1.0
        yield "intervals", f"{row.label}, readable", float(row.readable), 1.0
        yield "intervals", f"{row.label}, exact", float(row.method is Method.EXACT), 1.0
        yield from _ends("intervals", row.label, row.interval, people)
        yield from _ends("intervals", row.label, row.simultaneous, people)
        yield from _ends("intervals", row.label, row.share_interval, 1.0)
    if question.picks is not None:
        yield "counts", "picks", question.picks.value, 1.0
        yield "consistent", "picks", question.picks.consistent, 1.0
        yield "standard_errors", "picks", question.picks.standard_error, 1.0
        yield from _ends("intervals", "picks", question.picks.interval, 1.0)
    for entry in question.summaries:
        yield "distributions", entry.statistic.value, entry.value, 1.0
        yield "distributions", entry.statistic.value, entry.unadjusted, 1.0
        yield from _ends("distributions", entry.statistic.value, entry.interval, 1.0)
    yield from _spread(question)


def _ends(name: str, where: str, interval: Interval, scale: float) -> Iterator[Number]:
    yield name, where, interval.low, scale
    yield name, where, interval.high, scale


def _spread(question: QuestionEstimate) -> Iterator[Number]:
    if question.distribution is None:
        return
    spread, name = question.distribution, "distributions"
    yield name, "answered", spread.answered, float(question.people)
    yield name, "integer", float(spread.integer), 1.0
    yield name, "exact", float(spread.exact), 1.0
    for point in spread.cdf:
        where = f"below {point.edge:g}"
        yield name, where, point.edge, 1.0
        yield name, where, point.share, 1.0
        yield name, where, point.unadjusted, 1.0
        yield from _ends(name, where, point.interval, 1.0)
        yield from _ends(name, where, point.simultaneous, 1.0)
    for entry in spread.quantiles:
        for end in fields(entry):
            yield name, f"quantile {entry.level:g}", getattr(entry, end.name), 1.0
    mean = spread.mean
    for value in (mean.value, mean.low, mean.high):
        yield name, "mean", value, 1.0
    if mean.interval is not None:
        yield from _ends(name, "mean", mean.interval, 1.0)
