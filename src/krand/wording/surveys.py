"""A survey by its name, and who asks until when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

from krand.survey.survey import Survey
from krand.wording.plan_texts import PLANS
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    pass


def survey_name(survey: Survey) -> str:
    """Title and id, or the id alone where there is no title.

    >>> from krand.testing import small_plan
    >>> survey_name(small_plan().survey)
    'pets'
    """
    title = survey.title
    return f"{title} ({survey.id})" if title else survey.id


def about_rows(
    survey: Survey,
    texts: Texts = SPOKEN,
    day: Callable[[date], str] = date.isoformat,
    round_number: int | None = None,
) -> tuple[tuple[str, str], ...]:
    """Who asks, how to reach them, the last day of all or of one round; only what is known."""
    own, schedule = texts.about, survey.schedule
    closes = survey.closes
    if schedule is not None and round_number is not None:
        closes = schedule.last_day_of(round_number)
    found = (
        (own.organiser, survey.organiser),
        (own.contact, survey.contact),
        (own.closes, "" if closes is None else day(closes)),
    )
    return tuple((name, text) for name, text in found if text)


def about_sentence(survey: Survey) -> str:
    """The rows in one line, and several languages; empty if there is nothing to say."""
    rows = about_rows(survey)
    if survey.translations:
        rows += ((PLANS.languages, ", ".join(survey.languages)),)
    return " · ".join(f"{name}: {text}" for name, text in rows)
