"""The demonstration's report: that of the results, with what only a simulation can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from krand.demo.screen import (
    held_sentence,
    opening_lines,
    people,
    times,
    ways_sentence,
)
from krand.files import write_atomically
from krand.report import Section, report_page
from krand.report.pages import render

if TYPE_CHECKING:
    from krand.demo.baselines import Way
    from krand.demo.story import Demonstration
    from krand.demo.truth import Answer

__all__ = ["sections", "write_report"]

MOST_ANSWERS = 20
"""Of one question; the results file has them all."""


def write_report(shown: Demonstration) -> Path:
    """One HTML file beside the others."""
    path = shown.asked.folder / "report.html"
    page = report_page(shown.results, sections(shown), _notice(shown))
    write_atomically("output", path, page)
    return path


def _notice(shown: Demonstration) -> Markup:
    """Nobody may take this for a survey of people."""
    return Markup(
        '<p class="panel" role="note"><strong>A demonstration: the {} people are simulated.'
        "</strong> Nobody was asked, and nothing here is about anybody. What only a simulation can"
        " show follows the results: the truth beside the estimates, and the same answers collected"
        " in other ways.</p>"
    ).format(f"{shown.results.people:,}")


def sections(shown: Demonstration) -> list[Section]:
    """What a real survey cannot have: the truth, and other ways on the same people."""
    truth = render(
        "demo_truth.html",
        room=__package__,
        opening=list(opening_lines(shown)),
        held=held_sentence(shown),
        confidence=f"{100 * shown.held.confidence:g} %",
        questions=_questions(shown.answers),
    )
    scale = _Scale.of([way.sigma for way in shown.ways if way.sigma is not None])
    ways = render(
        "demo_ways.html",
        room=__package__,
        ways=[_row(way, scale, first=place == 0) for place, way in enumerate(shown.ways)],
        decades=scale.decades(),
        explanation=ways_sentence(shown),
    )
    return [
        Section("Truth beside estimate", Markup(truth)),
        Section("The same answers in other ways", Markup(ways)),
    ]


def _questions(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Questions with their answers; of very many, the most frequent."""
    names = dict.fromkeys(answer.question for answer in answers)
    found = []
    for name in names:
        own = [answer for answer in answers if answer.question == name]
        shown = own
        if len(own) > MOST_ANSWERS:
            shown = sorted(own, key=lambda answer: -answer.estimate)[:MOST_ANSWERS]
        found.append({"name": name, "answers": shown, "left": len(own) - len(shown)})
    return found


@dataclass(frozen=True, slots=True)
class _Scale:
    """Powers of ten along a row, in percent of its width; some room is left at both ends."""

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


def _row(way: Way, scale: _Scale, *, first: bool) -> dict[str, Any]:
    color = {"nobody": "local", "curator": "curator"}.get(way.trusted, "record")
    return {
        "name": way.name,
        "trusted": way.trusted,
        "sigma": people(way.sigma),
        "error": people(way.error),
        "times": times(way.times_curator),
        "place": None if way.sigma is None else scale.place(way.sigma),
        "color": "bit" if first else color,
        "note": way.note,
    }
