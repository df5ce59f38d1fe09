"""The geometry of a page's bars, and how a confidence is written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from krand.wording.number_format import NumberFormat

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
class Segment:
    """A part of a diverging bar: its label, its width in percent of the drawing, its colour."""

    label: str
    width: float
    tone: str


@dataclass(frozen=True, slots=True)
class Diverging:
    """The answers of a scale side by side, the middle of the scale in the middle of the drawing."""

    indent: float
    """Percent of the drawing that is empty on the left."""
    segments: tuple[Segment, ...]


def diverging(labels: Sequence[str], shares: Sequence[float]) -> Diverging:
    """Shares of answers from the lowest to the highest; a middle answer is half on each side."""
    middle = (len(shares) - 1) / 2
    left = sum(_left_of(middle, place) * share for place, share in enumerate(shares))
    right = sum(shares) - left
    room = max(left, right, 1e-9)
    return Diverging(
        round(50 * (room - left) / room, 2),
        tuple(
            Segment(label, round(50 * share / room, 2), _tone(place - middle, middle))
            for place, (label, share) in enumerate(zip(labels, shares, strict=True))
        ),
    )


def _left_of(middle: float, place: int) -> float:
    return 1.0 if place < middle else 0.5 if place == middle else 0.0


def _tone(distance: float, most: float) -> str:
    """The class of a segment: which side, and strong for the outer half of it."""
    if distance == 0:
        return "mid"
    side = "low" if distance < 0 else "high"
    return f"{side}-strong" if abs(distance) > most / 2 else side


def of_confidence(confidence: float, numbers: NumberFormat) -> str:
    """95 %."""
    return numbers.percent_of(confidence, ".6g")
