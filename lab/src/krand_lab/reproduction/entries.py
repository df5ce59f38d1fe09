"""What the reproduction is made of: numbers and pictures, each with its source.

Texts may hold formulas in LaTeX between dollar signs; the page sets them as formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from krand.wording.phrases import number
from krand_lab.texts import filled_in, tables


class Section(StrEnum):
    """The subjects of the drafts, in the order of the page."""

    SINGLE_BIT = "single-bit"
    """One bit, with and without copies: 000 §0–1, 003 §4–5."""
    RATIO = "ratio"
    """Whole vectors and the law of R: 000 §2, 001 §2–3.3."""
    TAIL = "tail"
    """The bound on the tail and the choice of β: 001 §3.4."""
    PRECISION = "precision"
    """What the noise costs: 001 §4."""
    SPARSE = "sparse"
    """Vectors with few set bits: 001 §5."""
    COPIES = "copies"
    """k copies of whole vectors: 001 §6 and §8."""
    COLLECTIONS = "collections"
    """Which collections are the worst: 001 §1.2, 002, 003 §4.2 and §7–9."""

    @property
    def heading(self) -> str:
        """What the section is called."""
        return self._words("title")

    @property
    def introduction(self) -> str:
        """What it is about."""
        return self._words("introduction")

    def _words(self, name: str) -> str:
        return filled_in(tables(__package__)["sections"][self][name], {}, self)


SMALLEST_PLAIN = 1e-4


def digits(value: float, count: int = 3) -> str:
    """So many significant digits; tiny numbers as a formula with a power of ten."""
    if value == 0 or abs(value) >= SMALLEST_PLAIN or not math.isfinite(value):
        return number(value, count)
    mantissa, exponent = f"{value:.{count - 1}e}".split("e")
    return f"${mantissa} \\cdot 10^{{{int(exponent)}}}$"


def unit_in_the_last_place(printed: str) -> float:
    """What one step of the last printed digit is worth: 0.0001 for `0.2446`, 1e-53 for `5e-53`."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(1).scaleb(exponent))


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a draft prints, and the same number computed."""

    key: str
    """A short name for programs, like `001-3.3-lambda-2-n-1000-noise`."""
    section: Section
    source: str
    """Document, section and equation, like `001 §3.3`."""
    what: str
    """What the number is, with the values it is computed for."""
    printed: str
    """The draft's digits as they stand there: they say how precise it means to be."""
    computed: float
    """What the draft's own definition gives."""
    why: str = ""
    """Where the two differ: the reason, and what to use instead."""
    note: str = ""
    """What else is worth knowing, whether they differ or not."""
    exposes: bool = False
    """Whether trusting the printed number breaks the promise that is made with it."""
    as_written: str = ""
    """How the draft writes it, where that is not plain digits: `200K` for `2e5`."""
    implied: bool = False
    """The draft prints no digits here: its sentence implies the number."""
    seed: int | None = None
    """The seed of the simulation that computed it; None where nothing was drawn."""

    @property
    def draft(self) -> float:
        """The printed number."""
        return float(self.printed)

    @property
    def shown(self) -> str:
        """What the draft says, as people read it."""
        if self.implied:
            return f"{self.as_written} ({self.printed})"
        return self.as_written or self.printed

    @property
    def agrees(self) -> bool:
        """Whether it is less than one unit of the last printed digit away: rounded, or cut off."""
        return abs(self.computed - self.draft) < unit_in_the_last_place(self.printed)


@dataclass(frozen=True, slots=True)
class Series:
    """One curve, or one row of intervals."""

    label: str
    role: str
    """`draft` for what the draft draws, `right` for what it should be, `limit` for a comparison."""
    x: tuple[float, ...]
    y: tuple[float, ...]
    y_low: tuple[float, ...] = ()
    """Lower and upper ends, where y is uncertain or an interval is meant."""
    y_high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled line across the picture."""

    label: str
    at: float
    vertical: bool = True


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as data: the page draws it, a program can draw it again."""

    key: str
    section: Section
    source: str
    title: str
    draft_shows: str
    """What the draft's own figure or sentence shows."""
    caption: str
    """What is to be seen here."""
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    log_x: bool = False
    log_y: bool = False
    intervals: bool = False
    """Whether each series is a row of intervals [y_low, y_high] rather than a curve."""
    seed: int | None = None


def picture(
    section: Section,
    key: str,
    series: Iterable[Series],
    words: str = "",
    marks: tuple[Mark, ...] = (),
    seed: int | None = None,
    **names: Any,
) -> Picture:
    """A figure with its words: those of its key, and what others have `like` it."""
    known = tables(__package__)["pictures"][section]
    own = known[words or key]
    said = {**known.get(own.get("like"), {}), **own}
    texts = ("source", "title", "draft_shows", "caption", "x_label", "y_label")
    return Picture(
        key=key,
        section=section,
        **{name: filled_in(said[name], {**said, **names}, key) for name in texts},
        series=tuple(series),
        marks=marks,
        log_x=said.get("log_x", False),
        log_y=said.get("log_y", False),
        intervals=said.get("intervals", False),
        seed=seed,
    )
