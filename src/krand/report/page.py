"""The page as a whole: what is asked and answered, what is promised, how to check it."""

from __future__ import annotations

import calendar
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from krand.analysis.estimates.intervals import normal_quantile
from krand.analysis.estimates.reading import READABLE
from krand.analysis.published import PublishedRelease
from krand.analysis.published_file import published
from krand.batches.provenance import Provenance
from krand.report.collected import BEFORE, nobody_can_check, travelled
from krand.report.figures import bound, count, of_confidence
from krand.report.joint import JointView, joint_views
from krand.report.pages import render
from krand.report.promise import Named, broken_promise, promise_view
from krand.report.questions import QuestionView, question_views
from krand.report.uncertainty import doubt_view
from krand.wording.phrases import number
from krand.wording.phrases import percent as short_percent
from krand.wording.provenance import HOW_NOISY

__all__ = ["Section", "release_page"]

DATE = re.compile(
    r"(?<!\d)(20\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?!\d)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that a caller adds; the markup is taken as it is."""

    title: str
    html: Markup


def release_page(
    values: Mapping[str, Any], extra: Sequence[Section] = (), notice: Markup | None = None
) -> str:
    """A whole HTML document for what `release_values` gave or a release file holds.

    A notice stands right below the title, before anything that could be taken for a result.
    """
    release = published(values)
    questions, joint = question_views(release), joint_views(release)
    return render(
        "release.html",
        title=release.plan.survey.id,
        document_title=f"{release.plan.survey.id}: answers of {release.people:,} people",
        lead=_lead(release),
        results_lead=_results_lead(release),
        notice=notice,
        alarm=broken_promise(release),
        numbers=_key_numbers(release),
        unreadable=unreadable(questions, joint),
        limit=f"{100 * READABLE:g} %",
        questions=questions,
        joint=joint,
        extra=extra,
        promise=promise_view(release),
        doubt=doubt_view(release),
        collected=(travelled(release), Named("Noise", _noise(release))),
        checked=nobody_can_check(release),
        table=release.provenance is Provenance.TABLE,
        blocks=_blocks(release),
        release=release,
    )


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


def _lead(release: PublishedRelease) -> str:
    survey = release.plan.survey
    asked = len(survey.question)
    parts = [f"{asked:,} {'question' if asked == 1 else 'questions'} to {release.people:,} people"]
    when = date_in(survey.id)
    if when:
        parts.append(when)
    if survey.rounds > 1:
        parts.append(f"round {release.round:,} of {survey.rounds:,}")
    return (
        f"{', '.join(parts)}. {HOW_NOISY[release.provenance]} This page shows what can be known of"
        f" the crowd, how well, and what {_is(release)} promised to each of its members."
    )


def _is(release: PublishedRelease) -> str:
    return "would be" if release.provenance is Provenance.SIMULATION else "is"


def _results_lead(release: PublishedRelease) -> str:
    sampled = any(question.sampling is not None for question in release.questions)
    whom = " of the population that the crowd is a sample of" if sampled else ""
    return (
        "Counts are estimates, because noise was added to every response. They are the counts"
        " nearest to the raw estimates that people could have given: none is negative, and answers"
        " of which everybody gives one add up to the crowd. Each bar shows the estimated share of"
        " the crowd; the line at its end is the confidence interval for the true share"
        f"{whom}, at the confidence in the heading."
    )


def date_in(survey_id: str) -> str:
    """The date that a survey's id holds, in words; nothing if it holds none."""
    found = DATE.search(survey_id)
    if found is None:
        return ""
    year, month, day = found.groups()
    parts = [day.lstrip("0") if day else "", calendar.month_name[int(month)] if month else "", year]
    return " ".join(part for part in parts if part)


def _key_numbers(release: PublishedRelease) -> tuple[tuple[str, str, str], ...]:
    promise, policy = release.promise, release.plan.survey.policy
    if policy.delta is not None:
        slack, meaning = f"δ = {bound(promise.delta)}", "give or take δ"
    else:
        slack, meaning = f"η = {bound(promise.eta)}", "except with probability η"
    kept = "kept" if release.kept else "NOT kept"
    numbers = [
        ("People", f"{release.people:,}", f"at least {policy.population:,} were needed"),
        (
            "Privacy",
            f"ε = {bound(promise.epsilon)}, {slack}",
            f"{promise.assurance}, {meaning}; what the survey promised is {kept}",
        ),
    ]
    typical = _typical(release)
    if typical is not None:
        half, confidence = typical
        share = short_percent(100 * half / release.people)
        text = f"a typical count at {confidence}, which is {share} of the crowd"
        numbers.append(("Precision", f"± {_people(half)} people", text))
    return tuple(numbers)


def _people(half: float) -> str:
    return count(half) if half >= 10 else number(half, 2)


def _typical(release: PublishedRelease) -> tuple[float, str] | None:
    """Half the width of the interval of the question in the middle."""
    if not release.questions:
        return None
    errors = [question.rows[0].standard_error for question in release.questions]
    confidence = release.questions[0].confidence
    half = normal_quantile(confidence) * statistics.median(errors)
    return half, of_confidence(confidence)


def _noise(release: PublishedRelease) -> str:
    noises = sorted({block.noise for block in release.plan.blocks})
    when = BEFORE[release.provenance]
    if len(noises) == 1:
        return f"Each bit was flipped with probability q = {number(noises[0])}{when}."
    return (
        f"Each bit was flipped{when}, with a probability from q = {number(noises[0])}"
        f" to {number(noises[-1])}, depending on the question."
    )


def _blocks(release: PublishedRelease) -> tuple[tuple[str, str, str], ...]:
    """Of every block its questions, positions and noise."""
    return tuple(
        (" + ".join(b.questions), f"{b.positions:,}", number(b.noise)) for b in release.plan.blocks
    )
