"""Figures: σ against volume. matplotlib is loaded when a figure is drawn, not before."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from krand.errors import MissingComponent
from krand.present.wording import number
from krand.privacy.guarantee import Linkage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure

    from krand.privacy.frontier import Frontier, FrontierRow

__all__ = [
    "FIGURE_COLORS",
    "frontier_figure",
    "frontier_svg",
    "is_available",
    "require_matplotlib",
    "svg_document",
]

# Okabe and Ito's palette: told apart by colour-blind readers; markers differ as well.
INK, PAPER, GRID = "#1c2128", "#ffffff", "#d5d9de"
BIT, RECORD, LOCAL, CURATOR = "#d55e00", "#0072b2", "#6e7781", "#009e73"
FIGURE_COLORS = {
    "ink": INK,
    "paper": PAPER,
    "grid": GRID,
    "bit": BIT,
    "record": RECORD,
    "local": LOCAL,
    "curator": CURATOR,
}
"""Name of each colour, so that a page can exchange them for its own."""

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "svg.hashsalt": "krand",  # the same numbers give the same file, byte for byte
    "svg.fonttype": "path",  # readable where the font is missing
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


class _Series(NamedTuple):
    """One kind of row: how it is drawn and called."""

    label: str
    color: str
    marker: str
    rows: list[FrontierRow]
    joined: bool


def is_available() -> bool:
    """Whether figures can be drawn at all."""
    return find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Refuse early, before any long computation."""
    if not is_available():
        raise MissingComponent("matplotlib", "plots")


def svg_document(draw: Callable[[], Figure]) -> str:
    """The figure as an SVG document in krand's style: the same bytes every time."""
    require_matplotlib()
    from matplotlib import rc_context

    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context(STYLE):
        draw().savefig(buffer, format="svg", metadata=nothing, facecolor=PAPER)
    return buffer.getvalue()


def frontier_svg(frontier: Frontier) -> str:
    """σ against bytes per user, both logarithmic, as an SVG document."""
    return svg_document(lambda: frontier_figure(frontier))


def frontier_figure(frontier: Frontier) -> Figure:
    """The figure itself, laid out, with its labels where there is room for them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.4), layout="constrained", facecolor=PAPER)
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_subplot(facecolor=PAPER)
    _draw(axes, frontier)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    _label_points(axes, canvas.get_renderer(), _series(frontier))
    return figure


def _series(frontier: Frontier) -> list[_Series]:
    rows = frontier.rows
    bit = [row for row in rows if row.linkage is Linkage.BIT]
    record = [row for row in rows if row.linkage is Linkage.RECORD]
    local = [row for row in rows if row.linkage is None and not _is_curator(row)]
    return [
        _Series("krand, every bit alone", BIT, "D", bit, True),
        _Series("krand, whole record, k copies", RECORD, "o", record, True),
        _Series("local differential privacy", LOCAL, "s", local, False),
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
        axes.lines[-1].set_label(f"trusted curator, σ = {number(row.sigma)}")
    axes.margins(x=0.12, y=0.12)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("bytes that each person sends")
    axes.set_ylabel("σ of an estimated count, people")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")


def _label(row: FrontierRow) -> str:
    if row.linkage is None:
        return row.name
    copies = f"k = {row.copies:,}"
    return f"{copies}, σ = {number(row.sigma)}" if row.linkage is Linkage.BIT else copies


def _along(path: Iterable[Iterable[float]], steps: int = 60) -> list[tuple[float, float]]:
    """Points all along a broken line."""
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
"""Where a label may stand around its point, best place first."""


def _label_points(axes: Axes, renderer: RendererBase, all_series: Iterable[_Series]) -> None:
    """Put a label beside every point where there is room; a label never covers another one."""
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
                fontsize=9,
                zorder=4,
            )
            box = label.get_window_extent(renderer).padded(1.5)
            inside = axes.bbox.containsx(box.x0) and axes.bbox.containsx(box.x1)
            inside = inside and axes.bbox.containsy(box.y0) and axes.bbox.containsy(box.y1)
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()
