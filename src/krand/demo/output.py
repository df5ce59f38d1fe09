"""The demonstration on the terminal, one screen; as one JSON object; and its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from krand.files import write_atomically
from krand.planning.promises import promise_of
from krand.report import Section, report_page
from krand.report.pages import render
from krand.showing import fixed, number, some
from krand.survey.plain_values import plain
from krand.wording.mechanisms import words_of
from krand.wording.plans import promise_sentence
from krand.wording.promises import limit_of, promise_symbols
from krand.wording.texts import ENGLISH

if TYPE_CHECKING:
    from rich.console import Console

    from krand.demo.story import Demonstration
    from krand.demo.truth import Answer
    from krand.survey.plan import Plan

MOST_SHOWN = 16
"""The most answers on the screen."""
MOST_IN_REPORT = 20
"""The most answers to a question in the report; the results file has all of them."""


def show(shown: Demonstration, report: Path, console: Console) -> None:
    """Print everything; the last line is the path of the report."""
    for line in opening_lines(shown):
        console.print(line)
    console.print()
    console.print(truth_table(shown))
    console.print()
    left = len(shown.answers) - len(_chosen(shown.plan, shown.answers))
    more = f"{some(left, 'more answer')} {'is' if left == 1 else 'are'} in the report. "
    console.print(f"{more if left else ''}{held_sentence(shown)}")
    console.print()
    console.print(baselines_sentence(shown))
    console.print()
    console.print(baselines_table(shown))
    console.print()
    console.print(promise_sentence(shown.plan))
    files = ", ".join(path.name for path in shown.written.values())
    console.print(f"Files: {files} in {shown.asked.folder}")
    console.print(f"Report: {report}", soft_wrap=True)


def demonstration_values(shown: Demonstration, report: Path) -> dict[str, Any]:
    """Each answer with its truth, the baselines, and the files written."""
    plan, held = shown.plan, shown.held
    return {
        "survey": plan.survey.id,
        "plan": plan.hash,
        "people": shown.results.people,
        "simulated": True,
        "seed": shown.asked.seed,
        "noise": plan.survey.trust.noise,
        "mixers": plan.survey.trust.chain,
        "dummies": shown.dummies,
        "positions": plan.layout.positions,
        "messages": plan.messages,
        "promise": plain(promise_of(plan)),
        "promise_sentence": promise_sentence(plan),
        "answers": [{**asdict(answer), "holds": answer.holds} for answer in shown.answers],
        "intervals": {**asdict(held), "expected": held.expected},
        "baselines": [asdict(method) for method in shown.baselines],
        "written": {kind: str(path) for kind, path in (shown.written | {"report": report}).items()},
    }


def opening_lines(shown: Demonstration) -> Iterator[str]:
    """Who was asked what, and how."""
    plan = shown.plan
    questions = some(len(plan.survey.questions), "question")
    yield (
        f"{plan.survey.id}: {questions} ({some(plan.layout.positions, 'position')}),"
        f" {shown.results.people:,} simulated people; {_randomness(shown)}."
    )
    if shown.dummies:
        who = words_of(plan.survey.trust.noise).source(plan.survey.trust.mixers)
        did = f"{shown.dummies:,} dummies were added by {who}. The messages"
    else:
        low, high = (number(end([b.noise for b in plan.blocks]), 3) for end in (min, max))
        q = low if low == high else f"{low} to {high}"
        did = f"Each device flipped every bit with probability q = {q}. The responses"
    yield f"{did} were shuffled and counted, and the counts were corrected for the noise."


def _randomness(shown: Demonstration) -> str:
    """Whether everybody sees the same numbers."""
    seed = shown.asked.seed
    return f"all randomness uses seed {seed}" if seed else "answers and noise are fresh"


def _narrow_table() -> Table:
    """A terminal has 80 columns, or more."""
    return Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)


def truth_table(shown: Demonstration) -> Table:
    """All answers to the question with the largest weight, the most frequent one of the others."""
    answers = _chosen(shown.plan, shown.answers)
    percent = ENGLISH.numbers.confidence(shown.held.confidence)
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


def _chosen(plan: Plan, answers: Sequence[Answer]) -> list[Answer]:
    if not answers:  # only words, none of which stands out from the noise
        return []
    questions = _by_question(answers)
    weights = {question.name: question.weight for question in plan.survey.questions}
    first = max(questions, key=lambda name: weights[name])
    shown = _most_frequent(questions.pop(first), MOST_SHOWN // 2)
    for rest in questions.values():
        shown += _most_frequent(rest, 1)
    return shown[:MOST_SHOWN]


def _by_question(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.question, []).append(answer)
    return found


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
        f" {ENGLISH.numbers.confidence(held.confidence)}, about {held.expected:,.0f} of"
        f" {held.intervals:,} are expected to."
    )


def baselines_sentence(shown: Demonstration) -> str:
    """What is compared."""
    policy = shown.plan.survey.policy
    promise = promise_symbols(policy.epsilon, limit_of(policy, policy))
    positions = some(shown.plan.layout.positions, "position")
    return (
        f"What other methods would give at {promise}. Standard errors are in people, root mean"
        f" square over {positions}."
    )


def baselines_table(shown: Demonstration) -> Table:
    """krand's standard error, compared with the baselines."""
    table = _narrow_table()
    table.add_column("method")
    table.add_column("trusted party")
    for heading in ("expected σ", "σ ÷ curator's"):
        table.add_column(heading, justify="right")
    for place, method in enumerate(shown.baselines):
        table.add_row(
            Text(method.name),
            method.trusted,
            people(method.sigma),
            times(method.times_curator),
            style="bold" if place == 0 else None,
        )
    return table


def people(value: float) -> str:
    """A number of people, not necessarily whole."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"


def times(value: float) -> str:
    """A ratio to three digits."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def write_report(shown: Demonstration) -> Path:
    """Write the report as one HTML file next to the others."""
    path = shown.asked.folder / "report.html"
    page = report_page(shown.results, sections(shown), _notice(shown), language="en")
    write_atomically("output", path, page)
    return path


def _notice(shown: Demonstration) -> Markup:
    """A note, so that nobody takes this for a survey of real people."""
    return Markup(
        '<p class="panel" role="note"><strong>A demonstration: the {} people are simulated.'
        "</strong> Nobody was asked, and nothing here is about real people. After the results there"
        " are two sections that only a simulation can have: the estimates compared with the truth,"
        " and the precision of other methods.</p>"
    ).format(f"{shown.results.people:,}")


def sections(shown: Demonstration) -> list[Section]:
    """Two sections that a real survey does not have: the truth, and baselines."""
    truth = render(
        "demo_truth.html",
        room=__package__,
        opening=list(opening_lines(shown)),
        held=held_sentence(shown),
        confidence=ENGLISH.numbers.confidence(shown.held.confidence),
        questions=list(_questions(shown.answers)),
    )
    baselines = render(
        "demo_baselines.html",
        room=__package__,
        explanation=baselines_sentence(shown),
        baselines=[
            {
                "name": method.name,
                "trusted": method.trusted,
                "sigma": people(method.sigma),
                "times": times(method.times_curator),
            }
            for method in shown.baselines
        ],
    )
    return [
        Section("Estimates and truth", Markup(truth)),
        Section("Comparison with baselines", Markup(baselines)),
    ]


def _questions(answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    """Questions with their answers; if there are many, the most frequent ones."""
    for name, own in _by_question(answers).items():
        shown = _most_frequent(own, MOST_IN_REPORT)
        yield {"name": name, "answers": shown, "left": len(own) - len(shown)}
