"""The answers to one question as bars with confidence intervals."""

from __future__ import annotations

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
from krand.showing import decimals_for, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.analysis.estimates.values import QuestionEstimate, Row

ROW_HEIGHT, REST_HEIGHT, BAR = 0.27, 1.05, 0.66
MOST_ANSWERS = 20
"""The most answers drawn; the results file has all of them."""
LONGEST = 22
"""The most characters of an answer next to its bar."""
TEXT_ROOM = 0.2
"""The share of the axis for the numbers to the right of the bars."""


@styled
def estimates_figure(question: QuestionEstimate) -> Figure:
    """The share of each answer with its interval; if there are many, the most frequent ones."""
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
    """All answers in the order of the survey, or the most frequent ones in that of frequency."""
    if len(question.rows) <= MOST_ANSWERS:
        return list(question.rows)
    most = sorted(question.rows, key=lambda row: -row.consistent)[:MOST_ANSWERS]
    if question.distribution is None and not question.summaries:
        return most
    return [row for row in question.rows if row in most]  # ranges of numbers keep their order


def _draw_bars(axes: Axes, rows: list[Row], colors: list[str]) -> None:
    """Draw a bar for each estimate and a line for its interval."""
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
    """Write each share next to its bar; its decimals follow the interval."""
    halves = (50 * (row.share_interval.high - row.share_interval.low) for row in rows)
    decimals = max(map(decimals_for, halves))
    for place, row in enumerate(rows):
        end = 100 * row.share_interval.high
        axes.annotate(
            f"{fixed(100 * row.consistent_share, decimals)} %",
            (end, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )


def _label(axes: Axes, rows: list[Row], question: QuestionEstimate) -> None:
    draw_frame(axes, grid="x")
    axes.set_yticks(range(len(rows)), [short(row.label) for row in rows], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    whom = "the crowd" if question.sampling is None else "the population"
    sure = f"{100 * question.confidence:g} %"
    axes.set_xlabel(f"% of {whom}, with {sure} confidence intervals")


def short(label: str) -> str:
    """An answer that fits next to its bar or line."""
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def _title(question: QuestionEstimate, shown: int) -> str:
    people = f"{question.people:,} people"
    if question.unreadable:
        people += f"; {len(question.unreadable):,} of {len(question.all_rows):,} too noisy"
    if shown == len(question.rows):
        return f"{question.name}: {people}"
    return f"{question.name}: {people}\nthe {shown} most frequent of {len(question.rows):,} answers"
