"""The page as a whole: questions and answers, what is promised, how to check it."""

from __future__ import annotations

import calendar
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from krand.analysis.estimates.intervals import normal_quantile
from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.files import write_atomically
from krand.promise import READABLE
from krand.report.collected import BEFORE, nobody_can_check, travelled
from krand.report.figures import bound, count, of_confidence
from krand.report.joint import JointView, joint_views
from krand.report.pages import render
from krand.report.promise import Named, broken_promise, promise_view
from krand.report.questions import QuestionView, question_views
from krand.report.uncertainty import uncertainty_view
from krand.wording.phrases import number
from krand.wording.phrases import percent as short_percent
from krand.wording.provenance import HOW_NOISY

__all__ = ["Section", "report_page", "save_report"]

DATE = re.compile(
    r"(?<!\d)(20\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?!\d)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that a caller adds; the markup is taken as it is."""

    title: str
    html: Markup


def report_page(
    results: Results, extra: Sequence[Section] = (), notice: Markup | None = None
) -> str:
    """A whole HTML document that shows results.

    A notice stands right below the title, before anything that could be taken for a result.
    """
    questions, joint = question_views(results), joint_views(results)
    return render(
        "report.html",
        title=results.plan.survey.id,
        document_title=f"{results.plan.survey.id}: answers of {results.people:,} people",
        lead=_lead(results),
        results_lead=_results_lead(results),
        notice=notice,
        alarm=broken_promise(results),
        numbers=_key_numbers(results),
        unreadable=unreadable(questions, joint),
        limit=f"{100 * READABLE:g} %",
        questions=questions,
        joint=joint,
        extra=extra,
        promise=promise_view(results),
        uncertainty=uncertainty_view(results),
        collected=(travelled(results), Named("Noise", _noise(results))),
        checked=nobody_can_check(results),
        table=results.provenance is Provenance.TABLE,
        blocks=_blocks(results),
        results=results,
    )


def save_report(results: Results, path: str | Path) -> None:
    """Write results as one HTML file that needs nothing but itself.

    >>> from pathlib import Path
    >>> from krand import make_results, randomize_table, save_report, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> save_report(make_results(plan, tally_responses(plan, ["responses.parquet"])), "report.html")
    >>> Path("report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    write_atomically("output", Path(path), report_page(results))


def unreadable(
    questions: Sequence[QuestionView], joint: Sequence[JointView]
) -> tuple[tuple[str, str, str], ...]:
    """Whatever has too wide a margin of error: its anchor, its title, how much of it."""
    found = [
        (view.id, view.name, f"{view.unreadable:,} of {view.answers.listed:,} answers")
        for view in questions
        if view.answers is not None and view.unreadable
    ]
    for table in joint:
        cells = [cell for each in table.maps for _, row in each.rows for cell in row]
        lost = sum(not cell.readable for cell in cells)
        if lost:
            found.append((table.id, table.title, f"{lost:,} of {len(cells):,} cells"))
    return tuple(found)


def _lead(results: Results) -> str:
    survey = results.plan.survey
    asked = len(survey.questions)
    parts = [f"{asked:,} {'question' if asked == 1 else 'questions'} to {results.people:,} people"]
    when = date_in(survey.id)
    if when:
        parts.append(when)
    if survey.rounds > 1:
        parts.append(f"round {results.round:,} of {survey.rounds:,}")
    return (
        f"{', '.join(parts)}. {HOW_NOISY[results.provenance]} This page shows what can be known"
        f" about these people, how precisely, and what {_is(results)} promised to each of them."
    )


def _is(results: Results) -> str:
    return "would be" if results.provenance is Provenance.SIMULATION else "is"


def _results_lead(results: Results) -> str:
    sampled = any(question.sampling is not None for question in results.questions)
    whom = " of the population that the crowd is a sample of" if sampled else ""
    return (
        "Counts are estimates, because noise was added to every response. Shown are the possible"
        " counts that are nearest to the raw estimates: none is negative, and answers of which"
        ' each person gives exactly one, "unanswered" included, add up to the crowd. Each bar shows'
        " the estimated share of the crowd; the line at its end is the confidence interval for the"
        f" true share{whom}, at the confidence in the heading."
    )


def date_in(survey_id: str) -> str:
    """The date that a survey's id holds, in words; nothing if it holds none."""
    found = DATE.search(survey_id)
    if found is None:
        return ""
    year, month, day = found.groups()
    parts = [day.lstrip("0") if day else "", calendar.month_name[int(month)] if month else "", year]
    return " ".join(part for part in parts if part)


def _key_numbers(results: Results) -> tuple[tuple[str, str, str], ...]:
    promise, policy = results.promise, results.plan.survey.policy
    slack = (
        f"δ = {bound(promise.delta)}" if policy.delta is not None else f"η = {bound(promise.eta)}"
    )
    kept = "kept" if results.kept else "NOT kept"
    numbers = [
        ("People", f"{results.people:,}", f"at least {policy.minimum_crowd:,} were needed"),
        (
            "Privacy",
            f"ε = {bound(promise.epsilon)}, {slack}",
            f"{promise.assurance.capitalize()}. The survey's promise was {kept}.",
        ),
    ]
    typical = _typical(results)
    if typical is not None:
        half, confidence = typical
        share = short_percent(100 * half / results.people)
        text = f"typical margin of error ({confidence}), which is {share} of the crowd"
        numbers.append(("Precision", f"± {_people(half)} people", text))
    return tuple(numbers)


def _people(half: float) -> str:
    return count(half) if half >= 10 else number(half, 2)


def _typical(results: Results) -> tuple[float, str] | None:
    """Half the width of the interval of the question in the middle."""
    if not results.questions:
        return None
    errors = [question.rows[0].standard_error for question in results.questions]
    confidence = results.questions[0].confidence
    half = normal_quantile(confidence) * statistics.median(errors)
    return half, of_confidence(confidence)


def _noise(results: Results) -> str:
    noises = sorted(set(results.plan.noises))
    when = BEFORE[results.provenance]
    if len(noises) == 1:
        return f"Each bit was flipped with probability q = {number(noises[0])}{when}."
    return (
        f"Each bit was flipped{when}, with a probability from q = {number(noises[0])}"
        f" to {number(noises[-1])}, depending on the question."
    )


def _blocks(results: Results) -> tuple[tuple[str, str, str], ...]:
    """Of every block its questions, positions and noise."""
    plan = results.plan
    return tuple(
        (" + ".join(block.question_names), f"{block.positions:,}", number(noise))
        for block, noise in zip(plan.layout.blocks, plan.noises, strict=True)
    )
