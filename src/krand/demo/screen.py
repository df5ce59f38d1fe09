"""The demonstration on the terminal: one screen, the rest is in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from krand.wording.phrases import number
from krand.wording.plans import promise_sentence

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from krand.demo.story import Demonstration
    from krand.demo.truth import Answer
    from krand.survey.plan import Plan

__all__ = [
    "held_sentence",
    "opening_lines",
    "people",
    "show",
    "times",
    "truth_table",
    "ways_notes",
    "ways_sentence",
    "ways_table",
]

MOST_SHOWN = 16
"""Answers on the screen."""


def show(shown: Demonstration, report: Path, console: Console) -> None:
    """Everything, the path of the report last."""
    for line in opening_lines(shown):
        console.print(line, markup=False)
    console.print()
    console.print(truth_table(shown))
    console.print()
    console.print(f"{_left(shown)}{held_sentence(shown)}", markup=False)
    console.print()
    console.print(ways_sentence(shown), markup=False)
    console.print()
    console.print(ways_table(shown))
    console.print()
    for line in (*ways_notes(shown), promise_sentence(shown.plan)):
        console.print(line, markup=False)
    files = ", ".join(path.name for path in shown.written.values())
    console.print(f"Files: {files} in {shown.asked.folder}", markup=False)
    console.print(f"Report: {report}", markup=False, soft_wrap=True)


def opening_lines(shown: Demonstration) -> Iterator[str]:
    """Who was asked what, and what was done."""
    plan = shown.plan
    questions = _counted(len(plan.survey.questions), "question")
    yield (
        f"{plan.survey.id}: {questions} ({_counted(plan.layout.positions, 'position')}) to"
        f" {shown.results.people:,} simulated people; {_chance(shown)}."
    )
    low, high = number(min(plan.noises), 3), number(max(plan.noises), 3)
    q = low if low == high else f"{low} to {high}"
    if shown.asked.live:
        yield (
            f"Devices flipped every bit with probability q = {q} and sent {plan.messages:,} sealed"
            " messages each; a collector on this machine shuffled and signed them; the analyzer"
            " opened them, counted, and subtracted the noise."
        )
    else:
        yield (
            f"Devices flipped every bit with probability q = {q}; reports were shuffled, counted,"
            " and the noise subtracted."
        )
    epsilon = plan.survey.policy.epsilon
    if epsilon != shown.epsilon_asked:
        yield (
            f"The survey asks for ε = {shown.epsilon_asked:g}. The noise in people would be about"
            f" the same for any crowd, too much for so few: this is with ε = {epsilon:g}."
        )


def _chance(shown: Demonstration) -> str:
    """Whether anybody else would see the same."""
    seed = shown.asked.seed
    if not shown.has_fresh_noise:
        return f"all chance is of seed {seed}"
    return f"answers of seed {seed}, fresh noise" if seed else "fresh answers, fresh noise"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def truth_table(shown: Demonstration) -> Table:
    """The weightiest question in full, the most frequent answer of the others."""
    answers = _chosen(shown.plan, shown.answers)
    percent = f"{100 * shown.held.confidence:g} %"
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("question")
    table.add_column("answer")
    for heading in ("truth", "estimate", f"{percent} interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    last = ""
    for row in answers:
        table.add_row(
            "" if row.question == last else Text(row.question),
            Text(row.answer),
            f"{row.truth:,}",
            f"{row.estimate:,.0f}",
            f"{row.low:,.0f} to {row.high:,.0f}",
            "" if row.holds else "missed",
        )
        last = row.question
    return table


def _left(shown: Demonstration) -> str:
    left = len(shown.answers) - len(_chosen(shown.plan, shown.answers))
    return f"{left:,} more answers are in the report. " if left else ""


def _chosen(plan: Plan, answers: Sequence[Answer]) -> list[Answer]:
    if not answers:  # nothing but words, none of which stands out
        return []
    questions = {name: [a for a in answers if a.question == name] for name in _names(answers)}
    weights = {question.name: question.weight for question in plan.survey.questions}
    first = max(questions, key=lambda name: weights[name])
    shown = _most_frequent(questions.pop(first), MOST_SHOWN // 2)
    for rest in questions.values():
        shown += _most_frequent(rest, 1)
    return shown[:MOST_SHOWN]


def _names(answers: Sequence[Answer]) -> list[str]:
    return list(dict.fromkeys(answer.question for answer in answers))


def _most_frequent(answers: list[Answer], most: int) -> list[Answer]:
    """In their own order if all fit."""
    if len(answers) <= most:
        return answers
    return sorted(answers, key=lambda answer: -answer.estimate)[:most]


def held_sentence(shown: Demonstration) -> str:
    """37 of 37 intervals contain the truth; at 95 %, 35.2 or more are expected to.

    More, because intervals end at nobody and at everybody.
    """
    held = shown.held
    if not held.intervals:
        return "Of words, those that stand out of the noise are shown."
    expected = f"{held.expected:,.1f}" if held.expected < 1000 else f"{held.expected:,.0f}"
    return (
        f"{held.hold:,} of {held.intervals:,} intervals contain the truth;"
        f" at {100 * held.confidence:g} %, {expected} or more are expected to."
    )


def ways_table(shown: Demonstration) -> Table:
    """What the same people's data would have been worth in other ways."""
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("way")
    table.add_column("trusted")
    for heading in ("planned σ", "error seen", "÷ curator's σ"):
        table.add_column(heading, justify="right")
    for place, way in enumerate(shown.ways):
        table.add_row(
            Text(way.name),
            way.trusted,
            *(people(value) for value in (way.sigma, way.error)),
            times(way.times_curator),
            style="bold" if place == 0 else None,
        )
    return table


def ways_sentence(shown: Demonstration) -> str:
    """What the table of ways is about."""
    policy = shown.plan.survey.policy
    slack = f"δ = {policy.delta:g}" if policy.delta is not None else f"η = {policy.eta:g}"
    run = "some could not be" if any(way.error is None for way in shown.ways) else "each really"
    positions = _counted(shown.plan.layout.positions, "position")
    return (
        f"The same answers collected in other ways at ε = {policy.epsilon:g}, {slack}, {run} run."
        f" Errors are in people, root mean square over {positions}."
    )


def ways_notes(shown: Demonstration) -> list[str]:
    """Why a way is missing."""
    return [f"{way.name}: {way.note}" for way in shown.ways if way.note]


def people(value: float | None) -> str:
    """A number of people that need not be whole."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"


def times(value: float | None) -> str:
    """A ratio to three digits."""
    if value is None:
        return "–"
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"
