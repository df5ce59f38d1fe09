"""σ versus data sent: each method that keeps a policy as a point, labelled if there is room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from krand.figures.style import (
    BIT,
    CURATOR,
    LOCAL,
    PAPER,
    RECORD,
    SMALL,
    draw_frame,
    new_figure,
    plain,
    styled,
)
from krand.languages.speaking import gettext, marked, text_of
from krand.promise import Linkage
from krand.wording.phrases import number, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure

    from krand.accounting.frontier import Frontier, FrontierRow

WIDTH, HEIGHT = 6.4, 4.4
"""Inches: wider than the other figures, because its points have labels."""


class _Series(NamedTuple):
    """A kind of row: its style and its name."""

    label: str
    color: str
    marker: str
    rows: list[FrontierRow]
    joined: bool


@styled
def frontier_figure(frontier: Frontier) -> Figure:
    """The figure, with labels where there is room."""
    figure, axes = new_figure(WIDTH, HEIGHT)
    canvas: Any = figure.canvas
    _draw(axes, frontier)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    _label_points(axes, canvas.get_renderer(), _series(frontier))
    return figure


BASELINES = (
    marked("RAPPOR (local)"),
    marked("optimized unary encoding (local)"),
    marked("Gaussian noise (baseline)"),
    marked("geometric noise (baseline)"),
)
"""What frontiers call them."""


def _series(frontier: Frontier) -> list[_Series]:
    rows: defaultdict[Linkage | None, list[FrontierRow]] = defaultdict(list)
    for row in frontier.rows:
        rows[row.linkage].append(row)
    local = [row for row in rows[None] if not _is_curator(row)]
    return [
        _Series(gettext("krand, each bit separately"), BIT, "D", rows[Linkage.BIT], True),
        _Series(gettext("krand, whole record, k copies"), RECORD, "o", rows[Linkage.RECORD], True),
        _Series(gettext("local differential privacy"), LOCAL, "s", local, False),
    ]


def _is_curator(row: FrontierRow) -> bool:
    return row.guarantee == "trusted curator"


def _draw(axes: Axes, frontier: Frontier) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for series in _series(frontier):
        if not series.rows:
            continue
        rows = sorted(series.rows, key=lambda row: row.bytes_per_user)
        axes.plot(
            [row.bytes_per_user for row in rows],
            [row.sigma for row in rows],
            color=series.color,
            marker=series.marker,
            markersize=7,
            markeredgecolor=PAPER,
            linewidth=1.6 if series.joined else 0,
            label=series.label,
            zorder=3,
        )
    for row in filter(_is_curator, frontier.rows):
        axes.axhline(row.sigma, color=CURATOR, linestyle=(0, (6, 3)), linewidth=1.6, zorder=2)
        axes.lines[-1].set_label(gettext("trusted curator, σ = %(sigma)s", sigma=number(row.sigma)))
    axes.margins(x=0.12, y=0.12)
    draw_frame(axes)
    axes.set_xlabel(gettext("bytes sent per person"))
    axes.set_ylabel(gettext("σ of an estimated count, people"))
    axes.xaxis.set_major_formatter(lambda value, _: plain(value))
    axes.yaxis.set_major_formatter(lambda value, _: plain(value))


LABELS = {Linkage.BIT: "k = {copies}, σ = {sigma}", Linkage.RECORD: "k = {copies}"}
"""Of copies of bits there are few, so that σ has room."""


def _label(row: FrontierRow) -> str:
    if row.linkage is None:
        return text_of(row.name)
    return LABELS[row.linkage].format(copies=whole(row.copies), sigma=number(row.sigma))


def _along(path: Iterable[Iterable[float]], steps: int = 60) -> list[tuple[float, float]]:
    """Points along a line."""
    corners = [tuple(corner) for corner in path]
    return [
        (x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps)
        for (x0, y0), (x1, y1) in pairwise(corners)
        for step in range(steps + 1)
    ]


_PLACES = (
    ((7, 5), "left", "bottom"),
    ((-7, -5), "right", "top"),
    ((0, 9), "center", "bottom"),
    ((0, -9), "center", "top"),
    ((10, 0), "left", "center"),
    ((-10, 0), "right", "center"),
    ((7, -7), "left", "top"),
    ((-7, 7), "right", "bottom"),
)
"""Possible places of a label around its point, the best first."""


def _label_points(axes: Axes, renderer: RendererBase, all_series: Iterable[_Series]) -> None:
    """Label each point if there is room; labels never overlap."""
    from matplotlib.transforms import Bbox

    points = [(series, row) for series in all_series for row in series.rows]
    centres = [axes.transData.transform((r.bytes_per_user, r.sigma)) for _, r in points]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in centres]
    for line in axes.lines:
        if line.get_linewidth() > 0:
            path = line.get_transform().transform(line.get_xydata())
            taken += [Bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in _along(path)]
    for series, row in points:
        for offset, horizontal, vertical in _PLACES:
            label = axes.annotate(
                _label(row),
                (row.bytes_per_user, row.sigma),
                xytext=offset,
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                color=series.color,
                fontsize=SMALL,
                zorder=4,
            )
            box = label.get_window_extent(renderer).padded(1.5)
            inside = axes.bbox.containsx(box.x0) and axes.bbox.containsx(box.x1)
            inside = inside and axes.bbox.containsy(box.y0) and axes.bbox.containsy(box.y1)
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()
