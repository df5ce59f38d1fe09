"""The page as a whole: what is asked and answered, what is promised, how to check it."""

from __future__ import annotations

import calendar
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from krand.analyze.estimates.intervals import normal_quantile
from krand.analyze.published import PublishedRelease
from krand.analyze.published_file import published
from krand.present.pages import render
from krand.present.release_page.doubt import doubt_view
from krand.present.release_page.figures import bound, count, of_confidence
from krand.present.release_page.joint import joint_views
from krand.present.release_page.promise import Named, broken_promise, promise_view
from krand.present.release_page.questions import question_views
from krand.present.wording import number
from krand.present.wording import percent as short_percent
from krand.privacy.guarantee import Linkage

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
    return render(
        "release.html",
        title=release.plan.survey.id,
        document_title=f"{release.plan.survey.id}: answers of {release.people:,} people",
        lead=_lead(release),
        results_lead=_results_lead(release),
        notice=notice,
        alarm=broken_promise(release),
        numbers=_key_numbers(release),
        questions=question_views(release),
        joint=joint_views(release),
        extra=extra,
        promise=promise_view(release),
        doubt=doubt_view(release),
        collected=_collected(release),
        blocks=_blocks(release),
        release=release,
    )


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
        ", ".join(parts) + ". Every answer was made noisy on the device it came from. This page"
        " shows what can be known of the crowd, how well, and what is promised to each of its"
        " members."
    )


def _results_lead(release: PublishedRelease) -> str:
    sampled = any(question.sampling is not None for question in release.questions)
    whom = " of the population that the crowd is a sample of" if sampled else ""
    return (
        "Counts are estimates: the noise is taken out on average, not person by person. A bar is"
        " the estimated share of the crowd; the line across its end is the interval that holds the"
        f" true share{whom} with the confidence in the heading."
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


def _collected(release: PublishedRelease) -> tuple[Named, ...]:
    survey, messages = release.plan.survey, release.plan.messages
    if survey.linkage is Linkage.BIT:
        travel = (
            "Every position, a yes or no about one answer, travelled alone in a sealed message"
            f" ({messages:,} from each person, some of them empty), shuffled among those of"
            " everybody. Which messages came from one person cannot be seen afterwards, so"
            " questions can be seen together only where that was planned before anybody answered."
        )
    else:
        copies = survey.copies
        sent = "one noisy copy" if copies == 1 else f"{copies:,} copies, each made noisy anew,"
        travel = (
            f"Every person sent {sent} of the whole record of {release.plan.positions:,} bits; the"
            " records of everybody were shuffled. The answers of a record stay together, so any"
            " questions can be seen together; the price is more noise."
            + (" The average over copies has less noise than one." if copies > 1 else "")
        )
    return (Named("What travelled", travel), Named("Noise", _noise(release)))


def _noise(release: PublishedRelease) -> str:
    noises = sorted({block.noise for block in release.plan.blocks})
    if len(noises) == 1:
        return f"Each bit was flipped with probability q = {number(noises[0])} before it was sent."
    return (
        f"Each bit was flipped before it was sent, with a probability from q = {number(noises[0])}"
        f" to {number(noises[-1])}, depending on the question."
    )


def _blocks(release: PublishedRelease) -> tuple[tuple[str, str, str], ...]:
    """Of every block its questions, positions and noise."""
    return tuple(
        (" + ".join(b.questions), f"{b.positions:,}", number(b.noise)) for b in release.plan.blocks
    )
