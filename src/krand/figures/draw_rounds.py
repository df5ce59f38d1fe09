"""A question over rounds: a line with intervals for each answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.figures.draw_estimates import short
from krand.figures.style import SERIES, WIDTH, draw_frame, name_above, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.analysis.estimates.values import QuestionEstimate
    from krand.analysis.words.decoding import WordsEstimate

HEIGHT = 3.3
COLUMNS = 3
"""Of the legend."""
APART = 0.03
"""How far the points of two answers stand apart, as a part of the distance of two rounds."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What one of the results says about a question."""

    question: str
    people: int
    confidence: float
    of: str
    """Whom the shares are parts of."""
    shares: dict[str, Share]
    """Of all answers that can be drawn."""
    chosen: tuple[str, ...]
    """Those that are drawn if none are named."""


def question_answers(question: QuestionEstimate) -> Answers:
    """The most frequent answers; of a yes/no question "yes"."""
    most = sorted(question.rows, key=lambda row: -row.consistent)[: len(SERIES)]
    chosen = tuple(row.label for row in question.rows if row in most)
    return Answers(
        question=question.name,
        people=question.people,
        confidence=question.confidence,
        of="the crowd" if question.sampling is None else "the population",
        shares={
            row.label: Share(row.consistent_share, row.share_interval.low, row.share_interval.high)
            for row in question.all_rows
        },
        chosen=chosen[:1] if chosen == ("yes", "no") else chosen,
    )


def word_answers(words: WordsEstimate, people: int) -> Answers:
    """The words that most people named."""
    return Answers(
        question=words.question,
        people=people,
        confidence=words.confidence,
        of="the crowd",
        shares={
            row.word: Share(row.count / people, row.low / people, row.high / people)
            for row in words.rows
        },
        chosen=tuple(row.word for row in words.found[: len(SERIES)]),
    )


@styled
def rounds_figure(
    rounds: Sequence[Answers], places: Sequence[int], label: str, answers: Sequence[str] | None
) -> Figure:
    """The share of each answer at each place, with its interval; the earliest first.

    Without `answers`, those that the last round chooses.
    """
    names = _chosen(rounds[-1], answers)
    figure, axes = new_figure(WIDTH, HEIGHT)
    for number, name in enumerate(names):
        moved = APART * (number - (len(names) - 1) / 2)
        found = [
            (place + moved, each.shares[name])
            for place, each in zip(places, rounds, strict=True)
            if name in each.shares
        ]
        _draw_answer(axes, found, short(name), number)
    _label(axes, label, rounds[-1].of)
    last = rounds[-1]
    sure = f"{100 * last.confidence:g} %"
    title = f"{last.question}: {_people(rounds)}, with {sure} confidence intervals"
    name_above(figure, title, COLUMNS)
    return figure


def _chosen(last: Answers, answers: Sequence[str] | None) -> Sequence[str]:
    if answers is None:
        if not last.chosen:
            hint = "name candidates as answers"
            raise InvalidInput("question", "must have words that were found", last.question, hint)
        return last.chosen
    for answer in answers:
        if answer not in last.shares:
            hint = f"the answers are {', '.join(last.shares)}"
            raise InvalidInput("answers", "must be answers of the question", answer, hint)
    if not 1 <= len(answers) <= len(SERIES):
        raise InvalidInput("answers", f"must be 1 to {len(SERIES)} answers", list(answers))
    return answers


def _draw_answer(axes: Axes, found: Sequence[tuple[float, Share]], label: str, number: int) -> None:
    color, marker = SERIES[number]
    axes.plot(
        [place for place, _ in found],
        [100 * share.value for _, share in found],
        color=color,
        marker=marker,
        markersize=5,
        linewidth=1.6,
        label=label,
        zorder=3,
    )
    for place, share in found:
        ends = [100 * share.low, 100 * share.high]
        axes.plot([place, place], ends, color=color, linewidth=1.3, marker="_", markersize=6)


def _label(axes: Axes, label: str, whom: str) -> None:
    from matplotlib.ticker import MaxNLocator

    draw_frame(axes, grid="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.08, y=0.1)
    axes.set_xlabel(label)
    axes.set_ylabel(f"% of {whom}")


def _people(rounds: Sequence[Answers]) -> str:
    people = [each.people for each in rounds]
    fewest, most = min(people), max(people)
    return f"{most:,} people" if fewest == most else f"{fewest:,} to {most:,} people"
