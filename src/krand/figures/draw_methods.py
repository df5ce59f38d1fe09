"""Methods that keep one promise, compared: the margin of error of each as a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from krand.promise import Linkage
from krand.wording.phrases import at_most, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.accounting.frontier import Frontier, FrontierRow

WIDTH, ROW, REST = 5.6, 0.29, 1.15
TRUSTED = "trusted curator"
"""The promise of the baseline that sees all answers."""


@styled
def methods_figure(frontier: Frontier) -> Figure:
    """The margin of error of each method on a logarithmic axis, the most precise first."""
    rows = sorted(frontier.rows, key=lambda row: row.half_width_95)
    figure, axes = new_figure(WIDTH, REST + ROW * len(rows))
    for place, row in enumerate(rows):
        _draw_point(axes, place, row)
    _label(axes, rows)
    policy, bits = frontier.policy, frontier.responses.bits
    title = f"ε = {at_most(policy.epsilon)}, {policy.minimum_crowd:,} people, {bits:,} bits"
    figure.suptitle(f"Methods that keep one promise\n{title}", x=0.02, ha="left", fontsize=10.0)
    return figure


def _draw_point(axes: Axes, place: int, row: FrontierRow) -> None:
    color, marker = _style(row)
    width = row.half_width_95
    axes.plot([width], [place], color=color, marker=marker, markersize=7, markeredgecolor=PAPER)
    axes.annotate(
        f"± {number(width, 3)}",
        (width, place),
        xytext=(7, 0),
        textcoords="offset points",
        va="center",
        color=color,
        fontsize=SMALL,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.0},
    )


STYLES = {Linkage.BIT: (BIT, "D"), Linkage.RECORD: (RECORD, "o")}


def _style(row: FrontierRow) -> tuple[str, str]:
    if row.linkage is not None:
        return STYLES[row.linkage]
    return (CURATOR, "^") if row.guarantee == TRUSTED else (LOCAL, "s")


def _label(axes: Axes, rows: list[FrontierRow]) -> None:
    draw_frame(axes, grid="x")
    axes.set_xscale("log")
    axes.set_xlim(rows[0].half_width_95 / 2, rows[-1].half_width_95 * 8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: plain(value))
    axes.set_xlabel("margin of error (95 %) of a count, people")
