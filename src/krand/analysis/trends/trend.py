"""A trend: every answer over the rounds of a survey, with what changed in it.

Shares are unbiased, with intervals from the exact laws of counts. Rounds have independent noise, so
their counts add up to one whose law is known too: the mean of the last four rounds has an exact
interval, whatever the truth does from round to round. Means and tests use what was published and
nothing else, so they cost no privacy. The noise is all that is random: intervals are about the
people who took part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.analysis.estimates.intervals import check_confidence
from krand.analysis.estimates.values import Interval
from krand.analysis.mechanisms.models import Floats
from krand.analysis.results import Results, form_of
from krand.analysis.results_comparison import campaign_of
from krand.analysis.trends.changes import Change, found_changes
from krand.analysis.trends.series import (
    Break,
    Key,
    LineKind,
    Series,
    answers_counted,
    rounds_of,
    series_of,
    summed,
)
from krand.errors import InvalidInput
from krand.files import write_atomically
from krand.showing import one_line, some, total
from krand.survey.plain_values import plain
from krand.survey.survey import Survey

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

FORMAT = "krand-trend-1"
LAST = 4
"""Rounds that the mean is of, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The share among all people of several rounds."""

    rounds: tuple[int, int]
    """The first and the last of them."""
    share: float
    """Unbiased."""
    interval: Interval
    exact: bool
    """Whether it is by the exact law, and not by standard errors: of words, of cells of whole
    records, and where a new plan changed the noise, the law of the sum is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An answer in one round; shares are parts of the people who took part in it."""

    round: int
    people: int
    count: float
    """Unbiased; may be negative or above the people."""
    share: float
    """The same as a part of the people."""
    standard_error: float
    """Of the share."""
    interval: Interval
    """Of the share, by the exact law."""
    found: bool
    """False of a word that could as well be noise in this round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One answer over rounds."""

    kind: LineKind
    question: str
    answer: str
    points: tuple[Point, ...]
    """Of the rounds in which it was counted."""
    breaks: tuple[Break, ...]
    """Where the question became another one: nothing is compared or added up across."""
    changes: tuple[Change, ...]
    """Those that were found, the first one first."""
    mean: Mean | None
    """Of the last rounds, since the last break; None where there is only one."""
    exact: bool
    """Whether raw intervals and tests are by exact laws; those of words are not."""

    @property
    def last(self) -> Point:
        return self.points[-1]


@dataclass(frozen=True, slots=True)
class RoundOf:
    """A round that is part of a trend."""

    number: int
    people: int
    plan: str
    kept: bool
    """Whether the promise was kept."""
    opened: date
    """The day on which it opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """All answers of a survey over its rounds.

    >>> import krand
    >>> from krand.testing import simulated_table, unsafe_simulated_tally
    >>> weekly = '[schedule]\\nevery = "week"\\nstarts = 2027-01-04\\n'
    >>> survey = krand.parse_survey(f"rounds = 3\\n{krand.testing.SMALL_SURVEY}{weekly}")
    >>> plan, people = krand.make_plan(survey), simulated_table(survey, 1_000, seed=1)
    >>> tallies = (unsafe_simulated_tally(plan, people, 7, week) for week in (1, 2, 3))
    >>> trend = krand.make_trend([krand.make_results(plan, tally) for tally in tallies])
    >>> trend
    <Trend of pets: 3 rounds, 5 lines, no change found>
    >>> trend.save("trend.html")
    >>> trend.line("pet", "cat").last.round
    3
    """

    survey: str
    title: str
    questions: Mapping[str, str]
    """The wording of each question, as it was asked last; empty where there is none."""
    planned: int
    """How many rounds the promise covers."""
    rounds: tuple[RoundOf, ...]
    missing: tuple[int, ...]
    """Rounds between the first and the last that have no results."""
    epsilon: float
    """Spent by whoever took part in all rounds: the sum over plans and periods."""
    delta: float
    promises: int
    """How many promises these add up: one for each plan, or for each period of it."""
    confidence: float
    error_rate: float
    """Of the claim that a change was found: for all answers, rounds and looks together."""
    lines: tuple[Line, ...]
    """Those with a change first, the one with the smallest p-value first; then as asked."""
    asked: Survey = field(compare=False)
    """The survey of the last round, with its translations; files of a trend do not have it."""

    def __repr__(self) -> str:
        changes = sum(len(line.changes) for line in self.lines)
        changed = some(changes, "change") if changes else "no change found"
        name = f"Trend of {self.survey}"
        return one_line(
            name, some(len(self.rounds), "round"), some(len(self.lines), "line"), changed
        )

    def line(self, question: str, answer: str) -> Line:
        """The line of an answer, a word or a cell."""
        for line in self.lines:
            if (line.question, line.answer) == (question, answer):
                return line
        known = [line.answer for line in self.lines if line.question == question]
        hint = f"the answers are {', '.join(known)}" if known else _questions_hint(self.lines)
        raise InvalidInput("answer", "must be a line of the trend", f"{question}: {answer}", hint)

    def values(self) -> dict[str, Any]:
        """Everything as plain data."""
        values = plain(self)
        assert isinstance(values, dict)
        return {"format": FORMAT, **values}

    def save(self, path: str | Path, *, language: str | None = None) -> None:
        """Write it; the ending decides: a page (.html), a table (.csv, .parquet, .xlsx), JSON.

        The page is in the survey's language, or in another of its or krand's languages.
        """
        if Path(path).suffix.lower() in (".html", ".htm"):
            pages = import_module("krand.report.trend_page")  # a higher layer
            page: str = pages.trend_page(self, language)
            write_atomically("output", Path(path), page)
            return
        form = form_of(path)
        if form == "json":
            text = json.dumps(self.values(), indent=1, ensure_ascii=False)
            write_atomically("output", Path(path), f"{text}\n")
            return
        from krand.analysis.results_sheets import write_table  # it needs pyarrow

        write_table(Path(path), self.to_arrow(), form)

    def to_arrow(self) -> pa.Table:
        """One row for each answer and round; the columns are described with the file formats."""
        import pyarrow as pa

        texts, counts = ("survey", "question", "kind", "answer"), ("round", "people")
        numbers = ["count", "share", "standard_error", "share_low", "share_high"]
        numbers += ["mean", "mean_low", "mean_high", "confidence"]
        schema = pa.schema(
            [(name, pa.string()) for name in texts]
            + [(name, pa.int64()) for name in counts]
            + [(name, pa.float64()) for name in numbers]
            + [(name, pa.string()) for name in ("break", "change")]
        )
        about = {"survey": self.survey, "confidence": self.confidence}
        rows = [{**about, **_row(line, point)} for line in self.lines for point in line.points]
        return pa.Table.from_pylist(rows, schema)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas data frame; needs krand[pandas]."""
        from krand.batches.frames import pandas_frame

        frame: pd.DataFrame = pandas_frame(self.to_arrow())
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The same as a polars data frame; needs krand[polars]."""
        from krand.batches.frames import polars_frame

        frame: pl.DataFrame = polars_frame(self.to_arrow())
        return frame


def _row(line: Line, point: Point) -> dict[str, Any]:
    told = {
        "question": line.question,
        "kind": line.kind.value,
        "answer": line.answer,
        "round": point.round,
        "people": point.people,
        "count": point.count,
        "share": point.share,
        "standard_error": point.standard_error,
        "share_low": point.interval.low,
        "share_high": point.interval.high,
        "break": next((b.reason for b in line.breaks if b.round == point.round), None),
        "change": next(
            ("up" if c.difference > 0 else "down" for c in line.changes if c.found == point.round),
            None,
        ),
    }
    if line.mean is not None and line.mean.rounds[1] == point.round:
        low, high = line.mean.interval.low, line.mean.interval.high
        told |= {"mean": line.mean.share, "mean_low": low, "mean_high": high}
    return told


def make_trend(
    results: Sequence[Results | str | Path],
    questions: Sequence[str] | None = None,
    *,
    confidence: float = 0.95,
    error_rate: float = 0.05,
    progress: Callable[[str], None] | None = None,
) -> Trend:
    """Every answer over the rounds of one survey: results, or the files that hold them.

    All questions, lists of words and joint tables, or those that are named; a joint table is named
    by its questions with × between them.

    >>> import krand
    >>> from krand.testing import simulated_table, unsafe_exact_plan
    >>> weekly = '[schedule]\\nevery = "week"\\nstarts = 2027-01-04\\n'
    >>> survey = krand.parse_survey(f"rounds = 4\\n{krand.testing.SMALL_SURVEY}{weekly}")
    >>> plan = unsafe_exact_plan(survey)  # without noise
    >>> found = []
    >>> for number in (1, 2, 4):
    ...     people = simulated_table(survey, 100, seed=number)
    ...     _ = krand.randomize_table(plan, people, f"{number}.parquet", round_number=number)
    ...     tally = krand.tally_responses(plan, [f"{number}.parquet"])
    ...     found.append(krand.make_results(plan, tally))
    >>> trend = krand.make_trend(found, ["pet"])
    >>> trend.missing, [round(point.count) for point in trend.line("pet", "cat").points]
    ((3,), [46, 55, 42])
    """
    check_confidence(confidence)
    if not 0 < error_rate < 1:
        rule = "must be between 0 and 1, both excluded"
        raise InvalidInput("error_rate", rule, error_rate, "0.05 is usual")
    told = progress or (lambda _: None)
    rounds = rounds_of(results)
    series = series_of(rounds)
    told("changes")
    changes = found_changes(series, _limits(rounds, series, error_rate))
    lines = [_line(each, changes.get(each.key, ()), confidence) for each in series]
    if questions:
        lines = _asked(lines, questions)
    lines.sort(key=lambda line: min((c.p_value / c.limit for c in line.changes), default=2.0))
    survey = next(reversed(rounds.values())).plan.survey
    promises = {_promised(each): each.plan.survey.policy for each in rounds.values()}.values()
    return Trend(
        survey=campaign_of(next(iter(rounds.values()))),
        title=survey.shown_title,
        questions={q.name: q.text for q in survey.questions},
        planned=survey.rounds,
        rounds=tuple(
            RoundOf(number, each.people, each.plan.hash, each.kept, _opened(each))
            for number, each in rounds.items()
        ),
        missing=tuple(n for n in range(min(rounds), max(rounds)) if n not in rounds),
        epsilon=total(promise.epsilon for promise in promises),
        delta=total(promise.asked for promise in promises),
        promises=len(promises),
        confidence=confidence,
        error_rate=error_rate,
        lines=tuple(lines),
        asked=survey,
    )


def _promised(results: Results) -> tuple[str, int]:
    """What one promise is for: the rounds of a plan, or those of one period of it."""
    charge = results.plan.charge(results.round)
    return results.plan.hash, charge.first if charge else 1


def _opened(results: Results) -> date:
    schedule = results.plan.survey.schedule
    assert schedule is not None  # the survey has several rounds
    return schedule.day(results.round)


def _limits(
    rounds: Mapping[int, Results], series: Sequence[Series], error_rate: float
) -> dict[Key, dict[int, float]]:
    """What each answer may spend after each round: by the round's plan, not by what was counted."""
    spent: dict[int, dict[str, float]] = {}
    for number, each in rounds.items():
        sizes = answers_counted(each)
        whole = error_rate / max(1, each.plan.survey.rounds - 1) / len(sizes)
        spent[number] = {name: whole / size for name, size in sizes.items()}
    return {
        each.key: {number: spent[number][each.key.question] for number in each.counted}
        for each in series
    }


def _asked(lines: Sequence[Line], questions: Sequence[str]) -> list[Line]:
    known = {line.question for line in lines}
    for name in questions:
        if name not in known:
            raise InvalidInput("question", "must be in the results", name, _questions_hint(lines))
    return [line for line in lines if line.question in questions]


def _questions_hint(lines: Sequence[Line]) -> str:
    return f"the questions are {', '.join(dict.fromkeys(line.question for line in lines))}"


def _line(series: Series, changes: tuple[Change, ...], confidence: float) -> Line:
    points = (
        Point(
            round=number,
            people=counted.people,
            count=counted.count,
            share=counted.count / counted.people,
            standard_error=counted.error / counted.people,
            interval=_of_people(counted.limits(confidence), counted.people),
            found=counted.found,
        )
        for number, counted in series.counted.items()
    )
    return Line(
        kind=series.key.kind,
        question=series.key.question,
        answer=series.label,
        points=tuple(points),
        breaks=series.breaks,
        changes=changes,
        mean=_mean(series, confidence),
        exact=all(counted.exact for counted in series.counted.values()),
    )


def _mean(series: Series, confidence: float) -> Mean | None:
    last = series.segments()[-1][-LAST:]
    if len(last) == 1:
        return None
    counted = summed([series.counted[number] for number in last])
    return Mean(
        rounds=(last[0], last[-1]),
        share=counted.count / counted.people,
        interval=_of_people(counted.limits(confidence), counted.people),
        exact=counted.exact,
    )


def _of_people(ends: Floats, people: int) -> Interval:
    low, high = (float(end) / people for end in ends)
    return Interval(low, high)
