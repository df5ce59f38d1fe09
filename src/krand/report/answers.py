"""Tables of answers: a row for each with its bar, the most frequent ones if there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from krand.report.figures import (
    Bar,
    Scale,
    count,
    decimals_for,
    minus,
    of_confidence,
    percent,
)

__all__ = ["OPEN_ROWS", "AnswerRow", "Answers", "Estimate", "answer_table", "number", "span"]

OPEN_ROWS = 30
"""Answers that are seen at once; if there are more, these are the most frequent."""
MOST_ROWS = 500
"""Answers that a page has at all; the results file has every one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One answer as the page shows it."""

    label: str
    share: str
    share_interval: str
    people: str
    people_interval: str
    bar: Bar
    readable: bool = True
    raw: str = ""
    """The unbiased count; empty for words."""
    aside: bool = False
    """For those who gave no answer of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """A table of answers."""

    rows: tuple[AnswerRow, ...]
    more: tuple[AnswerRow, ...]
    total: int
    scale: str
    confidence: str

    @property
    def listed(self) -> int:
        """Rows that the page has."""
        return len(self.rows) + len(self.more)

    @property
    def left_out(self) -> int:
        """Answers that only the results file has."""
        return self.total - sum(not row.aside for row in (*self.rows, *self.more))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a row needs, whether it is an answer or a word."""

    label: str
    share: float
    low: float
    high: float
    people: float
    people_low: float
    people_high: float
    error: float
    readable: bool
    raw: float | None = None


def answer_table(
    rows: Sequence[Estimate], silent: Sequence[Estimate], confidence: float
) -> Answers:
    """The rows in the order they come; silence last, and never among those that are left out."""
    shown = rows[:MOST_ROWS]
    # One bar alone has no other to be compared with: it is shown against everybody.
    alone = len(rows) == 1 and not silent
    most = 1.0 if alone else max(row.high for row in (*shown, *silent))
    scale = Scale.up_to(most)
    views = [_row_view(row, scale) for row in shown]
    aside = [_row_view(row, scale, aside=True) for row in silent]
    return Answers(
        rows=(*views[:OPEN_ROWS], *aside),
        more=tuple(views[OPEN_ROWS:]),
        total=len(rows),
        scale=scale.label,
        confidence=of_confidence(confidence),
    )


def _row_view(row: Estimate, scale: Scale, *, aside: bool = False) -> AnswerRow:
    digits = decimals_for(row.error)
    return AnswerRow(
        label=row.label,
        share=f"{percent(row.share, digits)} %",
        share_interval=f"{percent(row.low, digits)} to {percent(row.high, digits)}",
        people=count(row.people),
        people_interval=f"{count(row.people_low)} to {count(row.people_high)}",
        bar=scale.bar(row.share, row.low, row.high),
        readable=row.readable,
        raw="" if row.raw is None else minus(f"{row.raw:,.1f}"),
        aside=aside,
    )


def number(value: float | None) -> str:
    """A number of a `number` question; what has no end is left open."""
    return "…" if value is None else minus(f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}")


def span(low: float | None, high: float | None) -> str:
    """Both ends of an interval in words."""
    if low is None or high is None:
        if low is None and high is None:
            return "anything"
        return f"{number(low)} or more" if high is None else f"{number(high)} or less"
    return f"{number(low)} to {number(high)}"
