"""Any picture of the reproduction as an SVG: readable on a telephone, and the same every time."""

from __future__ import annotations

import re
from itertools import count, cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from krand_lab.reproduction.style import (
    BIT,
    CURATOR,
    GRID,
    INK,
    LOCAL,
    PAPER,
    RECORD,
    inline_figure,
    svg_document,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from krand_lab.reproduction.entries import Mark, Picture, Series

WIDTH, PLOT_HEIGHT, NAME_HEIGHT, INTERVAL_HEIGHT = 4.4, 3.0, 0.21, 0.5
"""Inches. At 360 pixels for the width ten points are eleven pixels high."""
SMALL = 9.0
FEW_POINTS = 25
"""Curves with at most so many points show them."""
FEW_POWERS = 250
"""Up to this span a logarithmic axis shows 1, 2 and 5 of every power of ten."""

Dashes = tuple[int, tuple[float, ...]]


class Style(NamedTuple):
    """How the curves of one role look; the second of a role differs in dashes and marker."""

    color: str
    dashes: tuple[Dashes, ...]
    markers: tuple[str, ...]


SOLID: Dashes = (0, ())
ROLES = {
    "draft": Style(BIT, ((0, (7, 1.6)), (0, (1, 1.5))), ("s", "D", "<", ">")),
    "right": Style(RECORD, (SOLID, (0, (8, 2, 2, 2))), ("o", "^")),
    "limit": Style(CURATOR, ((0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1))), ("v", "h")),
}
MARKS: tuple[Dashes, ...] = (SOLID, (0, (4, 3)), (0, (1, 2)))


def svg(picture: Picture) -> str:
    """The picture as an SVG document whose identifiers no other picture uses."""
    return _with_own_ids(svg_document(lambda: figure(picture)), f"figure-{picture.key}-")


def element(picture: Picture) -> Markup:
    """The picture as an element of a page, in the page's colours."""
    return inline_figure(svg(picture), spoken(picture))


def spoken(picture: Picture) -> str:
    """What stands for the picture where it cannot be seen."""
    return f"Figure: {picture.title} ({picture.source})"


def _with_own_ids(document: str, prefix: str) -> str:
    """Pages hold many figures: what one of them defines must not be found by another."""
    document = re.sub(r'\bid="', f'id="{prefix}', document)
    document = re.sub(r'href="#', f'href="#{prefix}', document)
    return re.sub(r"url\(#", f"url(#{prefix}", document)


def figure(picture: Picture) -> Figure:
    """The figure: what is what stands above the axes, so that it never covers a curve."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(WIDTH, _height(picture)), layout="constrained", facecolor=PAPER)
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot(facecolor=PAPER)
    _frame(axes, picture)
    if picture.intervals:
        _draw_intervals(axes, picture)
    else:
        _draw_curves(axes, picture)
    for mark, dashes in zip(picture.marks, cycle(MARKS), strict=False):
        _draw_mark(axes, mark, dashes, vertical=mark.vertical != picture.intervals)
    if _named(picture):
        _add_legend(drawn)
    return drawn


def _named(picture: Picture) -> int:
    """How many names stand above the axes; intervals carry theirs."""
    return len(picture.marks) + (0 if picture.intervals else len(picture.series))


def _height(picture: Picture) -> float:
    """Inches: what is drawn, and a line for every name."""
    inside = INTERVAL_HEIGHT * (1 + len(picture.series)) if picture.intervals else PLOT_HEIGHT
    return inside + NAME_HEIGHT * _named(picture)


def _add_legend(drawn: Figure) -> None:
    """One name below the other, above the axes."""
    drawn.legend(
        loc="outside upper left",
        ncols=1,
        frameon=False,
        handlelength=2.6,
        labelspacing=0.3,
        borderpad=0.1,
        borderaxespad=0.3,
    )


def _frame(axes: Axes, picture: Picture) -> None:
    """Axes, grid and their labels; rows of intervals lie down."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL)
    if picture.intervals:
        axes.grid(axis="x", color=GRID, linewidth=0.8)
        axes.set_xlabel(picture.y_label)
        return
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_xlabel(picture.x_label)
    axes.set_ylabel(picture.y_label)
    if picture.log_x:
        axes.set_xscale("log")
        _plain_ticks(axes.xaxis, [x for series in picture.series for x in series.x])
    if picture.log_y:
        axes.set_yscale("log")
        _plain_ticks(axes.yaxis, [y for series in picture.series for y in series.y])


def _plain_ticks(axis: Axis, values: list[float]) -> None:
    """Plain numbers on a logarithmic axis: 1, 2 and 5 where there are few powers of ten."""
    from matplotlib.ticker import LogLocator, NullLocator

    few = max(values) / min(values) < FEW_POWERS
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: _plain(value))


def _plain(value: float) -> str:
    """5,000, 0.02, and powers of ten beyond."""
    if 1e-4 < value < 1e6:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if mantissa == "1" else f"${mantissa}\\cdot {power}$"


def _styled(picture: Picture) -> Iterator[tuple[Series, str, Dashes, str]]:
    """Every series with its colour, dashes and marker; points of one role count apart."""
    lines = {role: count() for role in ROLES}
    points = {role: count() for role in ROLES}
    for series in picture.series:
        style = ROLES[series.role]
        turn = next((points if len(series.x) == 1 else lines)[series.role])
        dashes = style.dashes[turn % len(style.dashes)]
        yield series, style.color, dashes, style.markers[turn % len(style.markers)]


def _draw_curves(axes: Axes, picture: Picture) -> None:
    """Lines, points, and bars where a value is uncertain."""
    for series, color, dashes, marker in _styled(picture):
        axes.plot(
            series.x,
            series.y,
            color=color,
            linestyle=dashes if len(series.x) > 1 else "none",
            linewidth=1.8,
            marker=marker if len(series.x) <= FEW_POINTS else "none",
            markersize=6 if len(series.x) > 1 else 9,
            markeredgecolor=PAPER,
            label=series.label,
            zorder=4 if len(series.x) == 1 else 3,
        )
        if series.y_low:
            axes.vlines(series.x, series.y_low, series.y_high, color=color, linewidth=3, zorder=2)


def _draw_intervals(axes: Axes, picture: Picture) -> None:
    """One row for each series, from the top, its name above its line."""
    for row, (series, color, _, marker) in enumerate(_styled(picture)):
        for low, middle, high in zip(series.y_low, series.y, series.y_high, strict=True):
            axes.plot((low, high), (-row, -row), color=color, linewidth=3, solid_capstyle="butt")
            ends: Any = {"marker": "|", "markersize": 9, "markeredgewidth": 2}
            axes.plot((low, high), (-row, -row), color=color, linestyle="none", **ends)
            axes.plot((middle,), (-row,), color=color, marker=marker, markersize=6)
        axes.text(
            0.0,
            -row + 0.2,
            series.label,
            color=color,
            fontsize=SMALL,
            transform=axes.get_yaxis_transform(),
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.0},
        )
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(-len(picture.series) + 0.6, 0.7)


def _draw_mark(axes: Axes, mark: Mark, dashes: Dashes, vertical: bool) -> None:
    """A thin line from edge to edge."""
    line = axes.axvline if vertical else axes.axhline
    color = INK if dashes is SOLID else LOCAL
    line(mark.at, color=color, linestyle=dashes, linewidth=1.2, label=mark.label, zorder=2.5)
