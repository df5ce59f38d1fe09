"""The answers to one question as bars, each with its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from krand.figures.style import (
    INK,
    LOCAL,
    RECORD,
    SMALL,
    WIDTH,
    draw_frame,
    new_figure,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.analysis.estimates.values import QuestionEstimate, Row

__all__ = ["estimates_figure"]

ROW_HEIGHT, REST_HEIGHT, BAR = 0.27, 1.05, 0.66
MOST_ANSWERS = 20
"""More answers than this are not drawn; the results have them all."""
LONGEST = 22
"""Characters of an answer that stand beside its bar."""
TEXT_ROOM = 0.2
"""Of the axis, for the numbers to the right of the bars."""


@styled
def estimates_figure(question: QuestionEstimate) -> Figure:
    """The share of every answer and its interval; of many answers the most frequent ones."""
    rows = _shown(question)
    silent = [] if question.unanswered is None else [question.unanswered]
    all_rows = [*rows, *silent]
    figure, axes = new_figure(WIDTH, REST_HEIGHT + ROW_HEIGHT * len(all_rows))
    _draw_bars(axes, all_rows, [RECORD] * len(rows) + [LOCAL] * len(silent))
    _draw_numbers(axes, all_rows)
    _label(axes, all_rows, question)
    title = _title(question, len(rows))
    figure.suptitle(title, x=0.02, ha="left", fontsize=10.0, parse_math=False)
    return figure


def _shown(question: QuestionEstimate) -> list[Row]:
    """All answers in the order of the survey, or the most frequent ones, the first one first."""
    if len(question.rows) <= MOST_ANSWERS:
        return list(question.rows)
    most = sorted(question.rows, key=lambda row: -row.consistent)[:MOST_ANSWERS]
    if question.distribution is None:
        return most
    return [row for row in question.rows if row in most]  # numbers stay in their order


def _draw_bars(axes: Axes, rows: list[Row], colors: list[str]) -> None:
    """A bar for the estimate, a line for the interval that holds it."""
    places = range(len(rows))
    shares = [100 * row.consistent_share for row in rows]
    axes.barh(places, shares, height=BAR, color=colors, zorder=2)
    low = [100 * row.share_interval.low for row in rows]
    high = [100 * row.share_interval.high for row in rows]
    axes.hlines(places, low, high, color=INK, linewidth=1.6, zorder=3)
    for ends in (low, high):
        axes.plot(ends, places, color=INK, marker="|", markersize=6, linestyle="none", zorder=3)
    right, left = max(*high, 1e-9), min(0.0, *low)
    axes.set_xlim(left * 1.05, right + TEXT_ROOM * (right - left))
    axes.axvline(0.0, color=INK, linewidth=0.8, zorder=2.5)


def _draw_numbers(axes: Axes, rows: list[Row]) -> None:
    """Every share beside its bar, with the digits that its interval deserves."""
    decimals = max(_decimals(row) for row in rows)
    for place, row in enumerate(rows):
        end = 100 * row.share_interval.high
        axes.annotate(
            f"{100 * row.consistent_share:.{decimals}f} %",
            (end, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )


def _decimals(row: Row) -> int:
    """Digits of a percentage up to the first of its half width."""
    half = 50 * (row.share_interval.high - row.share_interval.low)
    return 1 if half <= 0 else min(4, max(0, math.ceil(-math.log10(half))))


def _label(axes: Axes, rows: list[Row], question: QuestionEstimate) -> None:
    draw_frame(axes, grid="x")
    axes.set_yticks(range(len(rows)), [_short(row.label) for row in rows], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    whom = "the crowd" if question.sampling is None else "the population"
    sure = f"{100 * question.confidence:g} %"
    axes.set_xlabel(f"% of {whom}; the line is the interval at {sure}")


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def _title(question: QuestionEstimate, shown: int) -> str:
    people = f"{question.people:,} people"
    if question.unreadable:
        people += f"; {len(question.unreadable):,} of {len(question.all_rows):,} cannot be read"
    if shown == len(question.rows):
        return f"{question.name}: {people}"
    return f"{question.name}: {people}\nthe {shown} most frequent of {len(question.rows):,} answers"
