"""A survey by its name, and who asks until when, as the survey's own texts say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from krand.survey.survey import Survey
from krand.wording.plan_texts import PLANS
from krand.wording.texts import SPOKEN, Texts


def survey_name(survey: Survey) -> str:
    """Title and id, or the id alone where there is no title.

    >>> from krand.testing import small_plan
    >>> survey_name(small_plan().survey)
    'pets'
    """
    title = survey.about.title
    return f"{title} ({survey.id})" if title else survey.id


def about_rows(
    survey: Survey,
    texts: Texts = SPOKEN,
    day: Callable[[date], str] = date.isoformat,
    round_number: int | None = None,
) -> tuple[tuple[str, str], ...]:
    """Who asks, how to reach them, the last day of all or of one round; only what is known."""
    own, about, schedule = texts.about, survey.about, survey.schedule
    closes = about.closes
    if schedule is not None and round_number is not None:
        closes = schedule.last_day_of(round_number)
    found = (
        (own.organiser, about.organiser),
        (own.contact, about.contact),
        (own.closes, "" if closes is None else day(closes)),
    )
    return tuple((name, text) for name, text in found if text)


def keys_end_text(survey: Survey) -> str:
    """That rounds after those of the plan need another one; empty where it is for all of them."""
    last, schedule = survey.last_round, survey.schedule
    if schedule is None or last == survey.rounds:
        return ""
    return (
        f"the keys of this plan end with round {last:,}, whose last day is {survey.about.closes}."
        f' To go on, copy the survey file, set another id, campaign = "{schedule.campaign}" and'
        f" first = {last + 1} in it, and run krand pair with --site"
    )


def about_sentence(survey: Survey) -> str:
    """The rows in one line, and several languages; empty if there is nothing to say."""
    rows = about_rows(survey)
    if survey.translations:
        rows += ((PLANS.languages, ", ".join(survey.languages)),)
    return " · ".join(f"{name}: {text}" for name, text in rows)
