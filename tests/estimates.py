"""What results say, as plain numbers: the only file that knows where results hold which number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import krand

# No public name yet: reports show these differences, and `Results` does not hold them.
from krand.analysis.group_differences import group_differences


class Seen(NamedTuple):
    """One estimate with its interval."""

    value: float
    """What is shown: by the consistent counts."""
    low: float
    high: float
    unbiased: float | None = None
    error: float | None = None
    """The standard error by noise alone."""

    @classmethod
    def of(cls, value: float, interval: Any, *more: float | None) -> Seen:
        return cls(value, interval.low, interval.high, *more)

    def holds(self, truth: float) -> bool:
        """Whether the interval holds it, but for rounding."""
        near = 1e-9 * max(1.0, abs(truth))
        return self.low - near <= truth <= self.high + near


Answers = Mapping[str, Seen]


def question_of(results: krand.Results, name: str) -> Any:
    return next(each for each in results.questions if each.name == name)


def counts(results: krand.Results, name: str) -> Answers:
    """People who gave each answer, and those who gave none where they can be told."""
    return {
        row.label: Seen.of(row.consistent, row.interval, row.count, row.standard_error)
        for row in question_of(results, name).all_rows
    }


def counts_together(results: krand.Results, name: str) -> Answers:
    """The same with intervals that hold together."""
    return {
        row.label: Seen.of(row.consistent, row.simultaneous)
        for row in question_of(results, name).all_rows
    }


def shares(results: krand.Results, name: str) -> Answers:
    """The same as parts of the people, or of the population that they are a sample of."""
    people = results.people
    return {
        row.label: Seen.of(
            row.consistent_share,
            row.share_interval,
            row.share,
            row.standard_error / people,
        )
        for row in question_of(results, name).all_rows
    }


def summaries(results: krand.Results, name: str) -> Answers:
    """Of a scale: mean, top_box and bottom_box. Of numbers: mean. Of a list: picks."""
    question = question_of(results, name)
    found = {
        str(each.statistic): Seen.of(each.value, each.interval, each.unadjusted)
        for each in question.summaries
    }
    spread, picks = question.distribution, question.picks
    if spread is not None and spread.mean.value is not None:
        found["mean"] = Seen.of(spread.mean.value, spread.mean.interval)
    if picks is not None:
        found["picks"] = Seen.of(
            picks.consistent, picks.interval, picks.value, picks.standard_error
        )
    return found


def below(results: krand.Results, name: str) -> dict[float, Seen]:
    """Of numbers: the share below each edge of those who answered."""
    spread = question_of(results, name).distribution
    points = () if spread is None else spread.cdf
    return {each.edge: Seen.of(each.share, each.interval, each.unadjusted) for each in points}


def quantiles(results: krand.Results, name: str) -> dict[float, Any]:
    """Of numbers: value, low and high of each quantile; None in an open range."""
    spread = question_of(results, name).distribution
    entries = () if spread is None else spread.quantiles
    return {each.level: (each.value, each.low, each.high) for each in entries}


def asked(results: krand.Results, name: str) -> Answers:
    """Shares of those who were asked, or who answered; nothing where they are withheld."""
    found = next((each for each in results.asked if each.question == name), None)
    if found is None or found.withheld:
        return {}
    rows = (*found.rows, *([found.unanswered] if found.unanswered else []))
    return {row.label: Seen.of(row.consistent, row.interval, row.share) for row in rows}


def cells(results: krand.Results, table: int = 0) -> dict[tuple[str, ...], Seen]:
    """People in each cell of a joint table."""
    found = results.joint[table].table
    return {
        tuple(names[at] for names, at in zip(found.labels, place, strict=True)): Seen(
            float(found.consistent[place]),
            float(found.interval.low[place]),
            float(found.interval.high[place]),
            float(found.counts[place]),
            float(found.standard_errors[place]),
        )
        for place in np.ndindex(found.counts.shape)
    }


def given(results: krand.Results, table: int = 0) -> dict[tuple[str, str, str], Seen]:
    """Shares inside groups: the question that makes them, the group, the answer to the other."""
    return {
        (each.given, cell.given, cell.label): Seen.of(
            cell.consistent, cell.interval, cell.share, cell.standard_error
        )
        for each in results.joint[table].given
        for group in each.groups
        for cell in group
        if cell.share is not None
    }


def by_group(results: krand.Results, table: int = 0) -> dict[tuple[str, str, str], Seen]:
    """How much more often each answer to the second question is given in one group than another."""
    found = results.joint[table].table
    groups, labels = found.labels
    return {
        (groups[row.groups[0]], groups[row.groups[1]], labels[row.answer]): Seen.of(
            row.shown, row.interval, row.difference, row.standard_error
        )
        for row in group_differences(results, found, 0)
    }


def words(results: krand.Results, name: str) -> dict[str, Any]:
    """Rows of candidates."""
    found = next(each for each in results.words if each.question == name)
    return {row.word: row for row in found.rows}


def changed(comparison: Any, name: str, place: int = 0) -> dict[str, tuple[Seen, float]]:
    """Differences of a question's shares between two results, by answer, and their p-values."""
    return {
        row.label: (
            Seen.of(row.consistent, row.interval, row.difference, row.standard_error),
            row.p_value,
        )
        for row in comparison.questions[name][place].differences
    }
