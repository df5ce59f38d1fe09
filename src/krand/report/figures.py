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
