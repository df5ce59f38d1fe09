"""The demonstration's report: the results, with the truth and the baselines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from krand.demo.screen import (
    baselines_sentence,
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

if TYPE_CHECKING:
    from krand.demo.methods import Baseline
    from krand.demo.story import Demonstration
    from krand.demo.truth import Answer

__all__ = ["sections", "write_report"]

MOST_ANSWERS = 20
"""The most answers shown for a question; the results file has all of them."""


def write_report(shown: Demonstration) -> Path:
    """Write the report as one HTML file next to the others."""
    path = shown.asked.folder / "report.html"
    page = report_page(shown.results, sections(shown), _notice(shown))
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
    scale = _Scale.of([method.sigma for method in shown.baselines if method.sigma is not None])
    baselines = render(
        "demo_baselines.html",
        room=__package__,
        baselines=[
            _row(method, scale, first=place == 0) for place, method in enumerate(shown.baselines)
        ],
        decades=scale.decades(),
        explanation=baselines_sentence(shown),
        methods=[method.name for method in _precise(shown)],
        precisions=_precisions(shown),
        instead=list(instead_lines(shown)),
    )
    return [
        Section("Estimates and truth", Markup(truth)),
        Section("Comparison with baselines", Markup(baselines)),
    ]


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


@dataclass(frozen=True, slots=True)
class _Scale:
    """Powers of ten along a row, in percent of its width, with a margin at both ends."""

    low: int
    high: int

    @classmethod
    def of(cls, values: Sequence[float]) -> _Scale:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1))

    def place(self, value: float) -> float:
        return round(6 + 88 * (math.log10(value) - self.low) / (self.high - self.low), 1)

    def decades(self) -> list[dict[str, Any]]:
        powers = range(self.low, self.high + 1)
        return [{"place": self.place(10.0**n), "label": f"{10.0**n:,.12g}"} for n in powers]


def _row(method: Baseline, scale: _Scale, *, first: bool) -> dict[str, Any]:
    color = {"nobody": "local", "curator": "curator"}.get(method.trusted, "record")
    return {
        "name": method.name,
        "trusted": method.trusted,
        "sigma": people(method.sigma),
        "error": people(method.error),
        "times": times(method.times_curator),
        "place": None if method.sigma is None else scale.place(method.sigma),
        "color": "bit" if first else color,
        "note": method.note,
    }
