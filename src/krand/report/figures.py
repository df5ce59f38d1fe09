"""Numbers as a page shows them, and the geometry of its bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

from krand.wording.phrases import at_most

__all__ = [
    "WIDTH",
    "Bar",
    "Scale",
    "bound",
    "count",
    "decimals_for",
    "minus",
    "of_confidence",
    "percent",
]

WIDTH = 1000.0
"""Units of a bar's drawing; the page stretches it to the room there is."""

NICE = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


@dataclass(frozen=True, slots=True)
class Bar:
    """An estimate as a bar with a whisker, in units of the drawing."""

    length: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Scale:
    """What the right end of all bars of a table stands for, as a share."""

    end: float

    @classmethod
    def up_to(cls, most: float) -> Scale:
        """A round number that nothing exceeds; never more than everybody."""
        if not 0 < most < 1:
            return cls(1.0)
        power = 10.0 ** math.floor(math.log10(most))
        return cls(min(1.0, next(step * power for step in NICE if step * power >= most * 0.999999)))

    @property
    def label(self) -> str:
        """The end of the axis in words."""
        return f"{100 * self.end:.4g} %"

    def bar(self, share: float, low: float, high: float) -> Bar:
        """The bar of an estimate, held inside the drawing."""
        return Bar(*(self._place(value) for value in (share, low, high)))

    def _place(self, value: float) -> float:
        return round(WIDTH * min(1.0, max(0.0, value / self.end)), 1)


def minus(text: str) -> str:
    """A minus sign that is as wide as a digit and is read aloud as minus."""
    return text.replace("-", "\N{MINUS SIGN}")


def count(value: float) -> str:
    """People, whole ones."""
    text = f"{value:,.0f}"
    return "0" if text == "-0" else minus(text)


def decimals_for(error: float) -> int:
    """How many decimals of a percentage mean something: two digits of its error, at least two."""
    if not 0 < error < math.inf:
        return 2
    return min(8, max(2, 1 - math.floor(math.log10(100 * error))))


def percent(share: float, decimals: int = 2) -> str:
    """A share as a percentage without its sign, for columns that have it in their heading."""
    text = f"{100 * share:.{decimals}f}"
    return minus(text.removeprefix("-") if float(text) == 0 else text)


def bound(value: float) -> str:
    """A proven bound, rounded up; powers of ten as people write them: 1.049 × 10⁻⁷."""
    return at_most(value).replace("×", "\u00a0×\u00a0")


def of_confidence(confidence: float) -> str:
    """95 %."""
    return f"{100 * confidence:.6g} %"
