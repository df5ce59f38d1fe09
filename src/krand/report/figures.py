"""The geometry of a page's bars, and how many digits of a number mean something."""

from __future__ import annotations

import math
from dataclasses import dataclass

from krand.wording.number_format import NumberFormat

__all__ = [
    "WIDTH",
    "Bar",
    "Scale",
    "decimals_for",
    "of_confidence",
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

    def label(self, numbers: NumberFormat) -> str:
        """The end of the axis in words."""
        return numbers.percent_of(self.end, ".4g")

    def bar(self, share: float, low: float, high: float) -> Bar:
        """The bar of an estimate, held inside the drawing."""
        return Bar(*(self._place(value) for value in (share, low, high)))

    def _place(self, value: float) -> float:
        return round(WIDTH * min(1.0, max(0.0, value / self.end)), 1)


def decimals_for(error: float) -> int:
    """How many decimals of a percentage mean something: two digits of its error, at least two."""
    if not 0 < error < math.inf:
        return 2
    return min(8, max(2, 1 - math.floor(math.log10(100 * error))))


def of_confidence(confidence: float, numbers: NumberFormat) -> str:
    """95 %."""
    return numbers.percent_of(confidence, ".6g")
