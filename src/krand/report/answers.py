"""Tables of answers: a row for each with its bar, the most frequent ones if there are many.

Bars are drawn in units that the page stretches to the room there is.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from krand.report.languages import Language
from krand.showing import decimals_for
from krand.wording.number_format import NumberFormat, with_unit

OPEN_ROWS = 20
"""Answers that are seen at once; if there are more, these are the most frequent."""
MOST_ROWS = 2_000
"""Answers that a page has at all; the results file has every one."""
WIDTH = 1000.0
"""Of a bar."""

NICE = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


@dataclass(frozen=True, slots=True)
class Bar:
    """An estimate as a bar with a whisker, in units of the drawing."""

    length: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Axis:
    """What the right end of all bars of a table stands for, as a share."""

    end: float

    @classmethod
    def up_to(cls, most: float) -> Axis:
        """A round number that nothing exceeds; never more than everybody."""
        if not 0 < most < 1:
            return cls(1.0)
        power = 10.0 ** math.floor(math.log10(most))
        return cls(min(1.0, next(step * power for step in NICE if step * power >= most * 0.999999)))

    def label(self, numbers: NumberFormat) -> str:
        """The end of the axis in words."""
        return numbers.percent_of(self.end, ".4g")

    def bar(self, share: float, low: float, high: float) -> Bar:
        """The bar of an estimate, held inside the drawing."""
        return Bar(*(self._place(value) for value in (share, low, high)))

    def _place(self, value: float) -> float:
        return round(WIDTH * min(1.0, max(0.0, value / self.end)), 1)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar of 100 %: what it is, its share, its width in percent, its colour."""

    label: str
    share: str
    width: float
    tone: str

    @property
    def said(self) -> str:
        """What it holds on a phone: its share and label, its share alone, or nothing."""
        room = self.width / 100 * NARROWEST
        return next((text for text in (self.whole, self.share) if len(text) <= room), "")

    @property
    def whole(self) -> str:
        """Its share and label."""
        return f"{self.share} {self.label}".strip()


SILENT = "silent"
"""The colour of those who gave no answer."""
NARROWEST = 40
"""Characters that fit into a bar on a phone."""


def stacked(shown: Sequence[tuple[str, str, float]], tones: Sequence[str]) -> tuple[Part, ...]:
    """Labels, texts and shares side by side as one bar; all of them together are its length."""
    whole = sum(share for _, _, share in shown) or 1.0
    return tuple(
        Part(label, text, round(100 * share / whole, 2), tone)
        for (label, text, share), tone in zip(shown, tones, strict=True)
    )


def scale_tones(levels: int) -> tuple[str, ...]:
    """From the lowest value to the highest: one colour below the middle, another one above it."""
    middle = (levels - 1) / 2
    return tuple(_tone(place - middle, middle) for place in range(levels))


def _tone(distance: float, most: float) -> str:
    """The class of a part: which side, and strong for the outer half of it."""
    if distance == 0:
        return "mid"
    side = "low" if distance < 0 else "high"
    return f"{side}-strong" if abs(distance) > most / 2 else side


@dataclass(frozen=True, slots=True)
class Counted:
    """How many people gave an answer; `raw` is the unbiased count, which words do not have."""

    people: float
    low: float
    high: float
    raw: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a row needs, whether it is an answer or a word."""

    label: str
    share: float
    low: float
    high: float
    readable: bool = True
    counted: Counted | None = None
    """None for shares of some of the people."""
    aside: bool = False
    """For those who gave no answer of the list."""

    @property
    def size(self) -> float:
        """What rows are sorted by."""
        return self.share if self.counted is None else self.counted.people


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One answer as the page shows it."""

    label: str
    share: str
    interval: str
    bar: Bar
    readable: bool
    aside: bool
    tone: str = ""
    """Its colour in the bar of 100 %, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """A table of answers."""

    rows: tuple[AnswerRow, ...]
    more: tuple[AnswerRow, ...]
    total: int
    end: str
    """What the right end of its bars stands for; empty if that is everybody."""
    confidence: str
    parts: tuple[Part, ...] = ()
    """All answers as one bar of 100 %, which then takes the place of the rows' bars."""

    @property
    def readable(self) -> bool:
        """Whether any row can be read; if not, that is said once."""
        return len(self.rows) == 1 or any(row.readable for row in (*self.rows, *self.more))

    @property
    def listed(self) -> int:
        """Rows that the page has."""
        return len(self.rows) + len(self.more)

    @property
    def left_out(self) -> int:
        """Answers that only the results file has."""
        return self.total - sum(not row.aside for row in (*self.rows, *self.more))


def answer_table(
    rows: Sequence[Estimate], opened: int, confidence: float, language: Language
) -> Answers:
    """The rows in the order they come; silence last, and never among those that are left out."""
    given = [row for row in rows if not row.aside]
    silent, shown = [row for row in rows if row.aside], given[:MOST_ROWS]
    # One bar alone has no other to be compared with: it is shown against everybody.
    axis = Axis.up_to(1.0 if len(rows) == 1 else max(row.high for row in (*shown, *silent)))
    digits = table_decimals(rows)
    views = [row_view(row, digits, axis, language) for row in shown]
    aside = [row_view(row, digits, axis, language) for row in silent]
    return Answers(
        rows=(*views[:opened], *aside),
        more=tuple(views[opened:]),
        total=len(given),
        end="" if axis.end == 1 else axis.label(language.numbers),
        confidence=language.numbers.confidence(confidence),
    )


def table_decimals(rows: Sequence[Estimate]) -> int:
    """Decimals of all shares of a table: those of its median interval.

    Intervals of a table are about as wide as each other, but for those that end at 0 or everybody.
    """
    return decimals_for(statistics.median(50 * (row.high - row.low) for row in rows))


def row_view(row: Estimate, digits: int, axis: Axis, language: Language) -> AnswerRow:
    """A row with so many decimals, its bar on this axis."""
    numbers = language.numbers
    return AnswerRow(
        label=row.label,
        share=numbers.with_percent(numbers.share(row.share, digits)),
        interval=share_ends(row.low, row.high, digits, language),
        bar=axis.bar(row.share, row.low, row.high),
        readable=row.readable,
        aside=row.aside,
    )


def share_ends(low: float, high: float, digits: int, language: Language) -> str:
    """Both ends of an interval of shares: 42 to 46."""
    share = language.numbers.share
    return language.texts.answers.ends.format(low=share(low, digits), high=share(high, digits))


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
