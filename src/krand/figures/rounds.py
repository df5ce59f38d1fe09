"""A question over rounds: a line with intervals for each answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.figures.estimates import short
from krand.figures.style import SERIES, WIDTH, draw_frame, name_above, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.analysis.estimates.values import QuestionEstimate, Row

__all__ = ["rounds_figure"]

HEIGHT = 3.3
COLUMNS = 3
"""Of the legend."""
APART = 0.03
"""How far the points of two answers stand apart, as a part of the distance of two rounds."""

Rounds = Sequence[tuple[int, "QuestionEstimate"]]


@styled
def rounds_figure(rounds: Rounds, answers: Sequence[str] | None = None) -> Figure:
    """The share of each answer in each round, with its interval.

    Without `answers`, those that are most frequent in the last round; of a yes/no question "yes".
    """
    rounds = _in_order(rounds)
    names = _chosen(rounds[-1][1], answers)
    figure, axes = new_figure(WIDTH, HEIGHT)
    for place, name in enumerate(names):
        moved = APART * (place - (len(names) - 1) / 2)
        _draw_answer(axes, rounds, name, place, moved)
    _label(axes, rounds)
    last = rounds[-1][1]
    sure = f"{100 * last.confidence:g} %"
    name_above(figure, f"{last.name}: {_people(rounds)}, with {sure} confidence intervals", COLUMNS)
    return figure


def _in_order(rounds: Rounds) -> list[tuple[int, QuestionEstimate]]:
    numbers = [number for number, _ in rounds]
    if len(numbers) < 2 or len(set(numbers)) < len(numbers):
        rule = "must be of at least two different rounds, each once"
        raise InvalidInput("results", rule, numbers, "one Results for each round")
    return sorted(rounds, key=lambda entry: entry[0])


def _chosen(last: QuestionEstimate, answers: Sequence[str] | None) -> list[str]:
    known = [row.label for row in last.all_rows]
    if answers is not None:
        for answer in answers:
            if answer not in known:
                hint = f"the answers are {', '.join(known)}"
                raise InvalidInput("answers", "must be answers of the question", answer, hint)
        if not 1 <= len(answers) <= len(SERIES):
            raise InvalidInput("answers", f"must be 1 to {len(SERIES)} answers", list(answers))
        return list(answers)
    if [row.label for row in last.rows] == ["yes", "no"]:
        return ["yes"]
    most = sorted(last.rows, key=lambda row: -row.consistent)[: len(SERIES)]
    return [row.label for row in last.rows if row in most]


def _draw_answer(axes: Axes, rounds: Rounds, name: str, place: int, moved: float) -> None:
    color, marker = SERIES[place]
    found = [(number, row) for number, question in rounds for row in _rows(question, name)]
    places = [number + moved for number, _ in found]
    axes.plot(
        places,
        [100 * row.consistent_share for _, row in found],
        color=color,
        marker=marker,
        markersize=5,
        linewidth=1.6,
        label=short(name),
        zorder=3,
    )
    for middle, (_, row) in zip(places, found, strict=True):
        ends = [100 * row.share_interval.low, 100 * row.share_interval.high]
        axes.plot([middle, middle], ends, color=color, linewidth=1.3, marker="_", markersize=6)


def _rows(question: QuestionEstimate, name: str) -> list[Row]:
    return [row for row in question.all_rows if row.label == name]


def _label(axes: Axes, rounds: Rounds) -> None:
    from matplotlib.ticker import MaxNLocator

    draw_frame(axes, grid="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.08, y=0.1)
    axes.set_xlabel("round")
    whom = "the crowd" if rounds[-1][1].sampling is None else "the population"
    axes.set_ylabel(f"% of {whom}")


def _people(rounds: Rounds) -> str:
    people = [question.people for _, question in rounds]
    fewest, most = min(people), max(people)
    return f"{most:,} people" if fewest == most else f"{fewest:,} to {most:,} people"
