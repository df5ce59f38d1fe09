"""The demonstration on the terminal: one screen; the rest is in the report."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from krand.showing import at_most, fixed
from krand.wording.mechanisms import words_of
from krand.wording.plans import promise_sentence
from krand.wording.promises import limit_of, promise_symbols

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from krand.demo.story import Demonstration
    from krand.demo.truth import Answer
    from krand.survey.plan import Plan

MOST_SHOWN = 16
"""The most answers on the screen."""


def show(shown: Demonstration, report: Path, console: Console) -> None:
    """Print everything; the last line is the path of the report."""
    for line in opening_lines(shown):
        console.print(line)
    console.print()
    console.print(truth_table(shown))
    console.print()
    console.print(f"{_left(shown)}{held_sentence(shown)}")
    console.print()
    console.print(f"{baselines_sentence(shown)} {errors_sentence(shown)}")
    console.print()
    console.print(baselines_table(shown))
    console.print()
    console.print(precision_table(shown))
    console.print()
    for line in (*baselines_notes(shown), *promise_lines(shown)):
        console.print(line)
    if shown.checks:
        said = f"Verified: {shown.checks:,} checks of the files passed, none failed"
        console.print(f"{said}, {shown.not_checked:,} could not be made.")
    files = ", ".join(path.name for path in shown.written.values())
    console.print(f"Files: {files} in {shown.asked.folder}")
    console.print(f"Report: {report}", soft_wrap=True)


def opening_lines(shown: Demonstration) -> Iterator[str]:
    """Who was asked what, and how."""
    plan = shown.plan
    questions = _counted(len(plan.survey.questions), "question")
    yield (
        f"{plan.survey.id}: {questions} ({_counted(plan.layout.positions, 'position')}),"
        f" {shown.results.people:,} simulated people; {_randomness(shown)}."
    )
    yield " ".join(_collected(shown))
    epsilon = plan.survey.policy.epsilon
    if epsilon != shown.epsilon_asked:
        yield (
            f"The survey asks for ε = {at_most(shown.epsilon_asked)}. The noise in people is about"
            " the same for any crowd, which is too much for so few people. Therefore"
            f" ε = {at_most(epsilon)} is used here."
        )


def _collected(shown: Demonstration) -> Iterator[str]:
    """What everybody did."""
    plan, live = shown.plan, shown.asked.live
    flips = words_of(plan.mechanism).device_did(plan)
    if not live:
        yield f"Each device {flips}. The responses were shuffled and counted,"
        yield "and the counts were corrected for the noise."
        return
    yield f"Each device {flips} and sent {_counted(plan.messages, 'sealed message')}."
    if not shown.dummies:
        yield "A collector on this machine shuffled and signed them. The analyst opened and"
        yield "counted them, and corrected the counts for the noise."
        return
    *first, last = [f"{dummies:,}" for dummies in shown.dummies]
    dummies = f"{', '.join(first)} and {last}" if first else last
    yield f"{_processes(len(shown.dummies))} added {dummies} dummies, shuffled and signed. The"
    yield "analyst opened and counted everything, and corrected the counts for the noise."


def _processes(mixers: int) -> str:
    if mixers == 1:
        return "The collector, a process on this machine,"
    others = "another mixer" if mixers == 2 else f"{mixers - 1:,} more mixers"
    return f"The collector and {others}, each a process on this machine,"


def _randomness(shown: Demonstration) -> str:
    """Whether everybody sees the same numbers."""
    seed = shown.asked.seed
    if not shown.has_fresh_noise:
        return f"all randomness uses seed {seed}"
    return f"answers use seed {seed}, noise is fresh" if seed else "answers and noise are fresh"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _narrow_table() -> Table:
    """A terminal has 80 columns, or more."""
    return Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)


def truth_table(shown: Demonstration) -> Table:
    """All answers to the question with the largest weight, the most frequent one of the others."""
    answers = _chosen(shown.plan, shown.answers)
    percent = f"{100 * shown.held.confidence:g} %"
    table = _narrow_table()
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
            fixed(row.estimate),
            f"{fixed(row.low)} to {fixed(row.high)}",
            "" if row.holds else "missed",
        )
        last = row.question
    return table


def _left(shown: Demonstration) -> str:
    left = len(shown.answers) - len(_chosen(shown.plan, shown.answers))
    answers = "1 more answer is" if left == 1 else f"{left:,} more answers are"
    return f"{answers} in the report. " if left else ""


def _chosen(plan: Plan, answers: Sequence[Answer]) -> list[Answer]:
    if not answers:  # only words, none of which stands out from the noise
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
    """The most frequent answers; all of them in their own order if they fit."""
    if len(answers) <= most:
        return answers
    return sorted(answers, key=lambda answer: -answer.estimate)[:most]


def held_sentence(shown: Demonstration) -> str:
    """37 of 37 intervals contain the truth; at 95 %, about 35 of 37 are expected to."""
    held = shown.held
    if not held.intervals:
        return "Only words that stand out from the noise are shown."
    return (
        f"{held.hold:,} of {held.intervals:,} intervals contain the truth; at"
        f" {100 * held.confidence:g} %, about {held.expected:,.0f} of {held.intervals:,} are"
        " expected to."
    )


def baselines_table(shown: Demonstration) -> Table:
    """krand's error for these people, compared with the baselines."""
    table = _narrow_table()
    table.add_column("method")
    table.add_column("trusted party")
    for heading in ("expected σ", "actual error", "σ ÷ curator's"):
        table.add_column(heading, justify="right")
    for place, method in enumerate(shown.baselines):
        table.add_row(
            Text(method.name),
            method.trusted,
            *(people(value) for value in (method.sigma, method.error)),
            times(method.times_curator),
            style="bold" if place == 0 else None,
        )
    return table


def precision_table(shown: Demonstration) -> Table:
    """± people of an answer to each question, with each method."""
    methods = [method for method in shown.baselines if method.half_widths_95]
    table = _narrow_table()
    table.add_column("± people (95 %)", overflow="fold")
    for method in methods:
        heading = "\n".join(re.split("[:,] |(?<=trusted) ", method.name))
        table.add_column(Text(heading), justify="right", no_wrap=True)
    questions = [question.name for question in shown.plan.survey.questions]
    for name in questions[:MOST_SHOWN]:
        table.add_row(Text(name), *(fixed(method.half_widths_95[name]) for method in methods))
    return table


def promise_lines(shown: Demonstration) -> Iterator[str]:
    """What is promised, and what mixers would change about whom people must trust."""
    yield promise_sentence(shown.plan)
    yield from instead_lines(shown)


def instead_lines(shown: Demonstration) -> Iterator[str]:
    """What a chain of mixers would promise instead of devices, and at which precision."""
    if shown.plan.survey.trust.chain:
        return
    chains = [method for method in shown.baselines if method.mixers > 1 and method.half_widths_95]
    for method in chains:
        widths, own = method.half_widths_95.values(), shown.baselines[0].half_widths_95.values()
        yield (
            'If mixers add the noise (noise = "mixers" in [trust]),'
            f" with {method.mixers:,} of them the same promise holds as long as one is honest,"
            " whatever everybody else does, and however few people take part. The margins of error"
            f" are then {_between(widths)} people (95 %) instead of {_between(own)}."
        )


def _between(widths: Collection[float]) -> str:
    low, high = (f"{value:,.0f}" for value in (min(widths), max(widths)))
    return f"± {low}" if low == high else f"± {low} to {high}"


def baselines_sentence(shown: Demonstration) -> str:
    """What is compared."""
    policy = shown.plan.survey.policy
    promise = promise_symbols(policy.epsilon, limit_of(policy, policy))
    missing = any(method.error is None for method in shown.baselines)
    run = "some were not run" if missing else "each actually run"
    return f"The same answers collected by other methods at {promise}, {run}."


def errors_sentence(shown: Demonstration) -> str:
    """What the errors in the table of baselines are."""
    positions = _counted(shown.plan.layout.positions, "position")
    return f"Errors are in people, root mean square over {positions}."


def baselines_notes(shown: Demonstration) -> list[str]:
    """Why a baseline was not run."""
    return [f"{method.name}: {method.note}" for method in shown.baselines if method.note]


def people(value: float | None) -> str:
    """A number of people, not necessarily whole."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"


def times(value: float | None) -> str:
    """A ratio to three digits."""
    if value is None:
        return "–"
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"
