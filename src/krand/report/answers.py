"""Tables of answers: a row for each with its bar, the most frequent ones if there are many."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from krand.report.figures import Axis, Bar, Diverging, of_confidence
from krand.report.languages import Language
from krand.showing import decimals_for
from krand.wording.number_format import with_unit

OPEN_ROWS = 20
"""Answers that are seen at once; if there are more, these are the most frequent."""
MOST_ROWS = 2_000
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
    """The right end of the scale that all questions share."""
    own_scale: str
    """The right end of the scale of this question alone."""
    stretch: float
    """How many times as long its bars are on their own scale."""
    confidence: str
    total_share: str = ""
    """What the shares shown add up to, where that is not the whole because of rounding."""
    diverging: Diverging | None = None

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
    readable: bool
    raw: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """What a table of answers is made of."""

    rows: Sequence[Estimate]
    silent: Sequence[Estimate]
    confidence: float
    opened: int = OPEN_ROWS
    """How many rows are seen at once."""


def answer_table(made: Table, scale: Axis, language: Language) -> Answers:
    """The rows in the order they come; silence last, and never among those that are left out."""
    rows, silent, shown = made.rows, made.silent, made.rows[:MOST_ROWS]
    # One bar alone has no other to be compared with: it is shown against everybody.
    alone = len(rows) == 1 and not silent
    own = Axis.up_to(1.0 if alone else max(row.high for row in (*shown, *silent)))
    digits = table_decimals((*rows, *silent))
    views = [_row_view(row, digits, scale, language) for row in shown]
    aside = [_row_view(row, digits, scale, language, aside=True) for row in silent]
    return Answers(
        rows=(*views[: made.opened], *aside),
        more=tuple(views[made.opened :]),
        total=len(rows),
        scale=scale.label(language.numbers),
        own_scale=own.label(language.numbers),
        stretch=round(scale.end / own.end, 4),
        confidence=of_confidence(made.confidence, language.numbers),
    )


def table_decimals(rows: Sequence[Estimate]) -> int:
    """Decimals of all shares of a table: those of its median interval.

    Intervals of a table are about as wide as each other, but for those that end at 0 or everybody.
    """
    return decimals_for(statistics.median(50 * (row.high - row.low) for row in rows))


def displayed_sum(rows: Sequence[Estimate]) -> Decimal:
    """The sum of the shares as they are shown, in percent."""
    digits = table_decimals(rows)
    return sum((Decimal(f"{100 * row.share:.{digits}f}") for row in rows), Decimal(0))


def _row_view(
    row: Estimate, digits: int, scale: Axis, language: Language, *, aside: bool = False
) -> AnswerRow:
    numbers, ends = language.numbers, language.texts.answers.ends
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
        raw="" if row.raw is None else numbers.rounded(row.raw, 1),
        aside=aside,
    )


def within(
    value: float, low: float | None, high: float | None, language: Language, unit: str = ""
) -> str:
    """A number with the digits that its interval allows, and the interval: 62 m² (55 to 69)."""
    own, numbers = language.texts.numbers, language.numbers
    if low is None or high is None:
        shown, ends = number(value, language), span(low, high, language)
    else:
        digits = numbers.decimals(low, high)
        shown = numbers.rounded(value, digits)
        ends = own.ends.format(low=numbers.rounded(low, digits), high=numbers.rounded(high, digits))
    return own.with_interval.format(value=with_unit(shown, unit), interval=ends)


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
