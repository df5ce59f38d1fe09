"""A dot chart on a logarithmic scale: one row for each value, as SVG that needs nothing else.

Horizontal places are shares of the width, so text keeps its size on a screen of any width. Colours
are those of the page by their names; a document of its own brings them along, light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

ROW = 44
"""Pixels from one row to the next: a line of text, and the dot below it."""
TOP, BOTTOM = 4, 46
DOCUMENT_WIDTH, PADDING = 360, 16
RIM = Markup('stroke="var(--paper)" stroke-width="4" paint-order="stroke"')
"""Of text, so that lines behind it do not cross it."""
STEPS = (1.0, 2.0, 5.0)
FEWEST_TICKS = 3

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c2128",
    "faint": "#57606a",
    "grid": "#d5d9de",
    "bit": "#b34700",
    "record": "#0072b2",
    "local": "#6e7781",
    "curator": "#00785a",
}
DARK = {
    "paper": "#1a1f26",
    "ink": "#e6e9ed",
    "faint": "#a3adb8",
    "grid": "#39414b",
    "bit": "#ff9a57",
    "record": "#5cb8f0",
    "local": "#9aa4af",
    "curator": "#3ccf9f",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A row: its name and what is said beside it, its value, and the words at the dot."""

    name: str
    aside: str
    value: float | None
    """Positive; a row without a value has its words alone."""
    label: str
    color: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class LogScale:
    """Values along the width, in percent of it, with a margin at both ends."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[float]) -> LogScale:
        """From the next round number below to the next one above."""
        rounds = _round_numbers(min(values), max(values))
        return cls(
            max(number for number in rounds if number <= min(values)),
            min(number for number in rounds if number > max(values)),
        )

    def place(self, value: float) -> float:
        """Where a value is."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(3 + 94 * share, 1)

    def ticks(self) -> list[float]:
        """The powers of ten; if they are few, 2 and 5 times them as well."""
        inside = [n for n in _round_numbers(self.low, self.high) if self.low <= n <= self.high]
        powers = [number for number in inside if math.log10(number).is_integer()]
        return powers if len(powers) >= FEWEST_TICKS else inside


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, … from below the low value to above the high one."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 2)
    return [float(f"{step:g}e{power}") for power in powers for step in STEPS]


def dot_chart(dots: Sequence[Dot], axis: str) -> Markup:
    """The chart as an element of a page, which has the colours."""
    height = _height(dots)
    return Markup('<svg {} width="100%" height="{}" style="{}">{}</svg>').format(
        Markup('role="img" aria-label="{}" font-size="13"').format(_said(dots, axis)),
        height,
        "display: block; min-width: 0; max-width: none; overflow: visible",
        _rows(dots, axis),
    )


def dot_document(dots: Sequence[Dot], axis: str) -> str:
    """The same as a file, for pages that show it as a picture."""
    width, height = DOCUMENT_WIDTH, _height(dots) + 2 * PADDING
    attributes = Markup(
        'xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}"'
        ' role="img" aria-label="{2}" font-family="system-ui, sans-serif" font-size="13"'
    ).format(width, height, _said(dots, axis))
    inner = Markup('<svg x="{0}" y="{0}" width="{1}" height="{2}" overflow="visible">{3}</svg>')
    return Markup(
        "<svg {}>\n<style>{}</style>\n"
        '<rect width="100%" height="100%" rx="8" fill="var(--paper)"/>\n{}\n</svg>\n'
    ).format(
        attributes,
        Markup(":root { %s } @media (prefers-color-scheme: dark) { :root { %s } }")
        % (_colors(LIGHT), _colors(DARK)),
        inner.format(PADDING, width - 2 * PADDING, height - 2 * PADDING, _rows(dots, axis)),
    )


def _colors(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())


def _height(dots: Sequence[Dot]) -> int:
    return TOP + ROW * len(dots) + BOTTOM


def _said(dots: Sequence[Dot], axis: str) -> str:
    """The chart in words."""
    rows = "; ".join(f"{dot.name} ({dot.aside}): {dot.label}" for dot in dots)
    return f"{axis}. {rows}."


def _rows(dots: Sequence[Dot], axis: str) -> Markup:
    values = [dot.value for dot in dots if dot.value is not None]
    scale = LogScale.around(values) if values else LogScale(1.0, 10.0)
    end = TOP + ROW * len(dots)
    parts = [*_grid(scale, end, axis)]
    for number, dot in enumerate(dots):
        parts += _row(dot, scale, TOP + ROW * number)
    return Markup("\n").join(parts)


def _grid(scale: LogScale, end: int, axis: str) -> Iterator[Markup]:
    for tick in scale.ticks():
        place = scale.place(tick)
        yield Markup('<line x1="{0}%" x2="{0}%" y2="{1}" stroke="var(--grid)"/>').format(place, end)
        yield Markup(
            '<text x="{}%" y="{}" text-anchor="middle" fill="var(--faint)" font-size="12">{}</text>'
        ).format(place, end + 16, f"{tick:,.12g}")
    yield Markup(
        '<text x="50%" y="{}" text-anchor="middle" fill="var(--faint)" font-size="12">{}</text>'
    ).format(end + 36, axis)


def _row(dot: Dot, scale: LogScale, top: int) -> Iterator[Markup]:
    weight = "700" if dot.strong else "600"
    yield Markup(
        '<text y="{}" fill="var(--ink)" {} font-weight="{}">{}'
        '<tspan dx="8" font-weight="400" fill="var(--faint)">{}</tspan></text>'
    ).format(top + 14, RIM, weight, dot.name, dot.aside)
    middle = top + 29
    if dot.value is None:
        yield Markup('<text y="{}" fill="var(--faint)">{}</text>').format(middle + 4, dot.label)
        return
    place = scale.place(dot.value)
    yield Markup(
        '<line x2="100%" y1="{0}" y2="{0}" stroke="var(--grid)" stroke-dasharray="1 4"/>'
    ).format(middle)
    yield Markup('<circle cx="{}%" cy="{}" r="{}" fill="var(--{})"/>').format(
        place, middle, 8 if dot.strong else 6, dot.color
    )
    yield _label(dot, place, middle + 4)


def _label(dot: Dot, place: float, base: int) -> Markup:
    """The words at a dot, on the side where there is room."""
    side, away = ("start", 13) if place <= 50 else ("end", -13)
    return Markup(
        '<text x="{}%" dx="{}" y="{}" text-anchor="{}" fill="var(--ink)" {} font-weight="{}">{}'
        "</text>"
    ).format(place, away, base, side, RIM, "700" if dot.strong else "400", dot.label)
