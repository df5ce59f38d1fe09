"""A joint table of two questions as a heat map with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from krand.errors import InvalidInput
from krand.figures.draw_estimates import short
from krand.figures.style import (
    INK,
    LOCAL,
    PAPER,
    RECORD,
    SMALL,
    WIDTH,
    draw_frame,
    new_figure,
    styled,
)
from krand.showing import decimals_for, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.analysis.joint.tables import JointTable

MOST_ROWS, MOST_COLUMNS = 20, 10
COLUMN, ROW, LEFT, REST = 0.86, 0.44, 1.5, 1.3
"""Inches: of a cell, of the names at the left, of everything above and below."""
DARKEST = 0.75
"""Opacity of the largest cell; the numbers stay readable on it."""


@styled
def joint_figure(table: JointTable) -> Figure:
    """The share of the people in each cell, with its margin of error; large tables are cut."""
    if len(table.questions) != 2:
        rule = "must be a joint table of two questions"
        raise InvalidInput("questions", rule, list(table.questions))
    shown = _most_frequent(table, 0, MOST_ROWS), _most_frequent(table, 1, MOST_COLUMNS)
    rows, columns = map(len, shown)
    figure, axes = new_figure(max(WIDTH, LEFT + COLUMN * columns), REST + ROW * rows)
    _draw_cells(axes, table, shown)
    _label(axes, table, shown)
    figure.suptitle(_title(table, shown), x=0.02, ha="left", fontsize=10.0, parse_math=False)
    return figure


def _most_frequent(table: JointTable, axis: int, most: int) -> list[int]:
    """The places on an axis that are drawn, in their order."""
    people = table.consistent.sum(axis=1 - axis)
    return sorted(int(place) for place in np.argsort(-people, kind="stable")[:most])


def _draw_cells(axes: Axes, table: JointTable, shown: tuple[list[int], list[int]]) -> None:
    from matplotlib.patches import Rectangle

    shares = table.consistent / table.people
    halves = 50 * (table.interval.high - table.interval.low) / table.people
    darkest = max(float(shares[np.ix_(*shown)].max()), 1e-9)
    decimals = decimals_for(float(np.median(halves)))
    for i, row in enumerate(shown[0]):
        for j, column in enumerate(shown[1]):
            share, half = float(shares[row, column]), float(halves[row, column])
            cell = Rectangle((j - 0.5, i - 0.5), 1, 1, linewidth=1.5, edgecolor=PAPER)
            cell.set_facecolor((RECORD, DARKEST * max(share, 0.0) / darkest))
            axes.add_patch(cell)
            readable = bool(table.readable[row, column])
            text = f"{fixed(100 * share, decimals)} %\n± {fixed(half, decimals)}"
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
            said, color = (text, INK) if readable else ("too noisy", LOCAL)
            axes.text(j, i, said, color=color, linespacing=1.05, **style)


def _label(axes: Axes, table: JointTable, shown: tuple[list[int], list[int]]) -> None:
    draw_frame(axes, grid="none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    rows, columns = (
        [short(labels[place]) for place in places]
        for labels, places in zip(table.labels, shown, strict=True)
    )
    axes.set_yticks(range(len(rows)), rows, parse_math=False)
    turned = max(map(len, columns)) > 11
    axes.set_xticks(range(len(columns)), columns, parse_math=False, rotation=30 if turned else 0)
    if turned:
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_ylabel(table.questions[0], parse_math=False)
    axes.set_xlabel(table.questions[1], parse_math=False)


def _title(table: JointTable, shown: tuple[list[int], list[int]]) -> str:
    sure = f"{100 * table.confidence:g} %"
    whom = f"% of {table.people:,} people, ± margin of error ({sure})"
    lines = [f"{' × '.join(table.questions)}: {whom}"]
    if shown != tuple(list(range(len(labels))) for labels in table.labels):
        lines.append("only the most frequent answers")
    return "\n".join(lines)
