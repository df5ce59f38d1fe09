"""Whether a survey's last day has passed; the day is that of UTC, everywhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krand.survey.survey import Survey

__all__ = ["closing_of", "utc_today"]


def utc_today() -> date:
    """The day in UTC."""
    return datetime.now(UTC).date()


def closing_of(survey: Survey, today: Callable[[], date] = utc_today) -> Callable[[], bool]:
    """Tells whenever it is asked whether the survey is over; its last day belongs to it."""
    closes = survey.about.closes
    if closes is None:
        return lambda: False
    return lambda: today() > closes
