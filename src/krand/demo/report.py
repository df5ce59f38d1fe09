"""The demonstration's report: the results, with the truth and the baselines."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from krand.demo.dots import Dot, dot_chart
from krand.demo.screen import (
    baselines_notes,
    baselines_sentence,
    errors_sentence,
    held_sentence,
    instead_lines,
    opening_lines,
    people,
    times,
)
from krand.files import write_atomically
from krand.report import Section, report_page
from krand.report.pages import render
from krand.showing import fixed
from krand.wording.phrases import some_people

if TYPE_CHECKING:
    from krand.demo.methods import Baseline
    from krand.demo.story import Demonstration
    from krand.demo.truth import Answer

MOST_ANSWERS = 20
"""The most answers shown for a question; the results file has all of them."""
LANGUAGE = "en"
"""Of the page: its own sections are in English only."""
AXIS = "typical margin of error, ± people (95 %), log scale"


def write_report(shown: Demonstration) -> Path:
    """Write the report as one HTML file next to the others."""
    path = shown.asked.folder / "report.html"
    page = report_page(shown.results, sections(shown), _notice(shown), language=LANGUAGE)
    write_atomically("output", path, page)
    return path


def _notice(shown: Demonstration) -> Markup:
    """A note, so that nobody takes this for a survey of real people."""
    return Markup(
        '<p class="panel" role="note"><strong>A demonstration: the {} people are simulated.'
        "</strong> Nobody was asked, and nothing here is about real people. After the results there"
        " are two sections that only a simulation can have: the estimates compared with the truth,"
        " and the same answers collected in other ways.</p>"
    ).format(f"{shown.results.people:,}")


def sections(shown: Demonstration) -> list[Section]:
    """Two sections that a real survey cannot have: the truth, and baselines on the same people."""
    truth = render(
        "demo_truth.html",
        room=__package__,
        opening=list(opening_lines(shown)),
        held=held_sentence(shown),
        confidence=f"{100 * shown.held.confidence:g} %",
        questions=_questions(shown.answers),
    )
    baselines = render(
        "demo_baselines.html",
        room=__package__,
        chart=dot_chart(baseline_dots(shown.baselines), AXIS),
        baselines=[_row(method) for method in shown.baselines],
        explanation=baselines_sentence(shown),
        errors=errors_sentence(shown),
        methods=[method.name for method in _precise(shown)],
        precisions=_precisions(shown),
        notes=baselines_notes(shown),
        instead=list(instead_lines(shown)),
    )
    return [
        Section("Estimates and truth", Markup(truth)),
        Section("Comparison with baselines", Markup(baselines)),
    ]


def baseline_dots(baselines: Sequence[Baseline]) -> list[Dot]:
    """The typical margin of error of each method, the most precise one first.

    The survey as it was run comes first in `baselines`; its dot is the strong one.
    """
    dots = [_dot(method, strong=place == 0) for place, method in enumerate(baselines)]
    return sorted(dots, key=lambda dot: math.inf if dot.value is None else dot.value)


def _dot(method: Baseline, *, strong: bool) -> Dot:
    typical = statistics.median(method.half_widths_95.values()) if method.half_widths_95 else None
    label = "not run: the reason is below" if method.note else ""
    if typical is not None:
        label = f"± {some_people(typical)}, σ {times(method.times_curator)} × curator"
    return Dot(
        name=method.name,
        aside=f"trusted: {method.trusted}",
        value=typical,
        label=label,
        color=_color(method),
        strong=strong,
    )


def _color(method: Baseline) -> str:
    if method.name.startswith("krand"):
        return "bit"
    return {"nobody": "local", "curator": "curator"}.get(method.trusted, "record")


def _questions(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Questions with their answers; if there are many, the most frequent ones."""
    names = dict.fromkeys(answer.question for answer in answers)
    found = []
    for name in names:
        own = [answer for answer in answers if answer.question == name]
        shown = own
        if len(own) > MOST_ANSWERS:
            shown = sorted(own, key=lambda answer: -answer.estimate)[:MOST_ANSWERS]
        found.append({"name": name, "answers": shown, "left": len(own) - len(shown)})
    return found


def _precise(shown: Demonstration) -> list[Baseline]:
    return [method for method in shown.baselines if method.half_widths_95]


def _precisions(shown: Demonstration) -> list[dict[str, Any]]:
    """± people of each question, with each method."""
    methods = _precise(shown)
    return [
        {
            "question": question.name,
            "widths": [fixed(method.half_widths_95[question.name]) for method in methods],
        }
        for question in shown.plan.survey.questions
    ]


def _row(method: Baseline) -> dict[str, Any]:
    return {
        "name": method.name,
        "trusted": method.trusted,
        "sigma": people(method.sigma),
        "error": people(method.error),
        "times": times(method.times_curator),
        "note": method.note,
    }
