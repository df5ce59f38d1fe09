"""Results as tables for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from krand.batches.provenance import Provenance
from krand.promise import READABLE
from krand.wording.collusion import if_they_collude
from krand.wording.phrases import (
    EVENLY,
    at_most,
    liars_could_have,
    open_mean,
    refused_messages,
)
from krand.wording.provenance import TRUSTED, declared

if TYPE_CHECKING:
    from krand.analysis.estimates.comparison import Difference
    from krand.analysis.estimates.values import Distribution, Interval, QuestionEstimate, Row
    from krand.analysis.results import JointResult, Results
    from krand.analysis.words.decoding import WordsEstimate

__all__ = ["comparison_table", "remarks", "results_tables", "unreadable"]

MOST_ROWS = 20
"""Answers of a question that are shown; the file has them all."""


UNREADABLE = "cannot be read"


def results_tables(results: Results, *, raw: bool = False) -> Iterator[Table]:
    """A table for each question, for what was asked jointly, for words; raw counts if asked for."""
    for question in results.questions:
        yield _question_table(question, raw)
    for joint in results.joint:
        if len(joint.table.questions) == 2:
            yield _joint_table(joint, raw)
    for words in results.words:
        yield _words_table(words)


def remarks(results: Results) -> Iterator[str]:
    """What must be said beside the numbers."""
    promise = results.promise
    yield (
        f"{results.people:,} people. The guarantee for this crowd: ε = {at_most(promise.epsilon)},"
        f" δ = {at_most(promise.delta)}, η = {at_most(promise.eta)} ({promise.assurance})"
        f".{_collusion(results)}"
    )
    if TRUSTED[results.provenance]:
        yield TRUSTED[results.provenance]
    yield from declared(results.distinct_people, len(results.ids))
    if results.rejected:
        yield refused_messages(results.plan, promise, results.rejected)
    if results.provenance is Provenance.TABLE:
        yield "Whoever answered falsely changed a count by at most 1 person."
        return
    yield liars_could_have(results.shifts)


def _collusion(results: Results) -> str:
    """Only where there is a shuffler can it collude."""
    if results.provenance is Provenance.TABLE:
        return ""
    return f" {if_they_collude(results.promise.local_epsilon)}."


def unreadable(results: Results) -> str:
    """A warning about what says nothing; empty if everything can be read."""
    parts = [
        f"{len(q.unreadable):,} of {len(q.all_rows):,} answers to {q.name}"
        for q in results.questions
        if q.unreadable
    ]
    parts += [
        f"{(~j.table.readable).sum():,} of {j.table.readable.size:,} cells of"
        f" {' × '.join(j.table.questions)}"
        for j in results.joint
        if not j.table.readable.all()
    ]
    parts += [
        f"{len(lost):,} of {len(w.found):,} words found for {w.question}"
        for w in results.words
        if (lost := [row for row in w.found if not row.readable])
    ]
    if not parts:
        return ""
    return (
        f"these results cannot be read, because their margin of error is above"
        f" {100 * READABLE:g} % of the crowd: {'; '.join(parts)}"
    )


def _question_table(question: QuestionEstimate, raw: bool) -> Table:
    percent = f"{question.confidence:.0%}".replace("%", " %")
    table = Table(title=question.name, title_justify="left")
    table.add_column("answer")
    for name in ("people", f"at {percent}", "share", f"at {percent}", *(["raw count"] * raw)):
        table.add_column(name, justify="right")
    if question.unreadable:
        table.add_column("", style="bold red")
    rows = sorted(question.rows, key=lambda row: -row.consistent)
    shown = rows[:MOST_ROWS] if len(rows) > MOST_ROWS else list(question.rows)
    for row in (*shown, *(() if question.unanswered is None else (question.unanswered,))):
        more = [f"{row.count:,.1f}"] * raw
        mark = ["" if row.readable else UNREADABLE] if question.unreadable else []
        table.add_row(*_cells(row), *more, *mark)
    notes = []
    if len(rows) > MOST_ROWS:
        notes.append(f"the {MOST_ROWS} most frequent of {len(rows):,}")
    if question.distribution is not None:
        notes += _distribution_notes(question.distribution)
    if question.picks is not None:
        picks = question.picks
        ends = _span(picks.interval.low, picks.interval.high)
        notes.append(f"{picks.consistent:.3f} picks a person ({ends})")
    if notes:
        table.caption, table.caption_justify = "; ".join(notes), "left"
    return table


def _distribution_notes(spread: Distribution) -> Iterator[str]:
    """Median and mean, with intervals that hold wherever numbers lie in their ranges."""
    median = next((q for q in spread.quantiles if q.level == 0.5), None)
    if median is not None:
        yield f"median {_number(median.value)} ({_span(median.low, median.high)})"
    mean = spread.mean
    if mean.value is not None:
        yield f"mean {mean.value:,.4g} ({_span(mean.low, mean.high)})"
    else:
        yield open_mean(mean)
    if not spread.exact:
        yield EVENLY


def _cells(row: Row) -> tuple[str, ...]:
    interval, share = row.interval, row.share_interval
    return (
        row.label,
        f"{row.consistent:,.0f}",
        _counts(interval),
        f"{100 * row.consistent_share:.2f} %",
        f"{100 * share.low:.2f} to {100 * share.high:.2f}",
    )


def _counts(interval: Interval) -> str:
    return f"{interval.low:,.0f} to {interval.high:,.0f}"


def _number(value: float | None) -> str:
    return "in an open-ended range" if value is None else f"{value:,.4g}"


def _span(low: float | None, high: float | None) -> str:
    ends = ("…" if end is None else f"{end:,.4g}" for end in (low, high))
    return " to ".join(ends)


def _joint_table(joint: JointResult, raw: bool) -> Table:
    """People and their interval; raw counts if asked for."""
    found = joint.table

    def cell(at: tuple[int, int]) -> str:
        low, high = found.interval.low[at], found.interval.high[at]
        lines = [f"{found.consistent[at]:,.0f}", f"{low:,.0f} to {high:,.0f}"]
        lines += [f"raw {found.counts[at]:,.1f}"] * raw
        return "\n".join(lines if found.readable[at] else [*lines, UNREADABLE])

    table = Table(title=" × ".join(found.questions), title_justify="left")
    table.add_column(found.questions[0])
    for label in found.labels[1]:
        table.add_column(label, justify="right")
    for row, label in enumerate(found.labels[0]):
        table.add_row(label, *(cell((row, column)) for column in range(len(found.labels[1]))))
    if joint.independence is not None:
        test = joint.independence
        p_value = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.4f}"
        table.caption = (
            f"independent? chi-square {test.statistic:,.1f}, {test.degrees} degrees, {p_value}"
        )
        table.caption_justify = "left"
    return table


def _words_table(words: WordsEstimate) -> Table:
    table = Table(title=words.question, title_justify="left")
    table.add_column("word")
    for name in ("people", f"at {words.confidence:.0%}".replace("%", " %")):
        table.add_column(name, justify="right")
    for row in words.found[:MOST_ROWS]:
        word = row.word if row.readable else f"{row.word} ({UNREADABLE})"
        table.add_row(word, f"{row.count:,.0f}", f"{row.low:,.0f} to {row.high:,.0f}")
    limit = "none" if words.detection_limit is None else f"{words.detection_limit:,.0f} people"
    table.caption = (
        f"{len(words.found):,} of {len(words.rows):,} candidates found, at most"
        f" {100 * words.false_discovery_rate:.0f} % of them falsely; detection limit {limit}"
    )
    table.caption_justify = "left"
    return table


def comparison_table(title: str, found: tuple[Difference, ...]) -> Table:
    """Differences of shares, in points."""
    table = Table(title=title, title_justify="left")
    table.add_column("answer")
    for name in ("first - second", "interval", "p, this answer", "p, any answer"):
        table.add_column(name, justify="right")
    for row in found:
        low, high = 100 * row.interval.low, 100 * row.interval.high
        shown = row.difference if row.consistent is None else row.consistent
        table.add_row(
            row.label if row.readable else f"{row.label} ({UNREADABLE})",
            f"{100 * shown:+.2f} points",
            f"{low:+.2f} to {high:+.2f}",
            f"{row.p_value:.3g}",
            f"{row.adjusted_p_value:.3g}",
        )
    return table
