"""The demonstration's report: the results, with the truth and the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from krand.demo.screen import baselines_sentence, held_sentence, opening_lines, people, times
from krand.files import write_atomically
from krand.report import Section, report_page
from krand.report.pages import render
from krand.wording.texts import ENGLISH

if TYPE_CHECKING:
    from krand.demo.story import Demonstration
    from krand.demo.truth import Answer

MOST_ANSWERS = 20
"""The most answers shown for a question; the results file has all of them."""
LANGUAGE = "en"
"""Of the page: its own sections are in English only."""


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
        questions=_questions(shown.answers),
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
