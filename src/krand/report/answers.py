"""Tables of answers: a row for each with its bar, the most frequent ones if there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from krand.report.figures import Bar, Scale, decimals_for, of_confidence
from krand.report.languages import Language

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
    rows: Sequence[Estimate], silent: Sequence[Estimate], confidence: float, language: Language
) -> Answers:
    """The rows in the order they come; silence last, and never among those that are left out."""
    shown = rows[:MOST_ROWS]
    # One bar alone has no other to be compared with: it is shown against everybody.
    alone = len(rows) == 1 and not silent
    most = 1.0 if alone else max(row.high for row in (*shown, *silent))
    scale = Scale.up_to(most)
    views = [_row_view(row, scale, language) for row in shown]
    aside = [_row_view(row, scale, language, aside=True) for row in silent]
    return Answers(
        rows=(*views[:OPEN_ROWS], *aside),
        more=tuple(views[OPEN_ROWS:]),
        total=len(rows),
        scale=scale.label(language.numbers),
        confidence=of_confidence(confidence, language.numbers),
    )


def _row_view(row: Estimate, scale: Scale, language: Language, *, aside: bool = False) -> AnswerRow:
    digits, numbers, ends = decimals_for(row.error), language.numbers, language.texts.answers.ends
    low, high = numbers.share(row.low, digits), numbers.share(row.high, digits)
    least, most = numbers.count(row.people_low), numbers.count(row.people_high)
    return AnswerRow(
        label=row.label,
        share=numbers.with_percent(numbers.share(row.share, digits)),
        share_interval=ends.format(low=low, high=high),
        people=numbers.count(row.people),
        people_interval=ends.format(low=least, high=most),
        bar=scale.bar(row.share, row.low, row.high),
        readable=row.readable,
        raw="" if row.raw is None else numbers.signed(f"{row.raw:,.1f}"),
        aside=aside,
    )


def number(value: float | None, language: Language) -> str:
    """A number of a `number` question; what has no end is left open."""
    if value is None:
        return "…"
    return language.numbers.signed(f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}")


def span(low: float | None, high: float | None, language: Language) -> str:
    """Both ends of an interval in words."""
    own = language.texts.numbers
    if low is None and high is None:
        return own.anything
    known = own.or_less if low is None else own.or_more if high is None else own.ends
    return known.format(low=number(low, language), high=number(high, language))
