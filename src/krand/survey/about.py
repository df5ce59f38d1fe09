"""What people read about a survey before and after its questions; it decides no noise.

It stands in the plan under the same keys as in the file, so that the plan's hash covers it: nobody
can change who asks, or until when, without making another plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from krand.survey.rules import (
    Broken,
    closes_rules,
    language_rules,
    line_rules,
    raise_first,
    text_rules,
)

DEFAULT_LANGUAGE = "en"
LINES = ("title", "organiser", "contact")
TEXTS = ("introduction", "thanks")
ERASE_AFTER_DAYS = 30
"""A mixer's service erases its keys so many days after the last day, whatever has come by then."""
ABOUT_KEYS = (*LINES, *TEXTS, "language", "closes")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Who asks, what for, in which language and until when; everything may be left out.

    >>> from krand import About
    >>> About(title="Pets in town", organiser="Town council").language
    'en'
    """

    title: str = ""
    organiser: str = ""
    contact: str = ""
    """How to reach the organiser: an address, a telephone number, a page."""
    introduction: str = ""
    thanks: str = ""
    """What people read once they have answered."""
    language: str = DEFAULT_LANGUAGE
    """The language of the survey's own texts, as a BCP 47 tag."""
    closes: date | None = None
    """The last day, in UTC, on which answers are taken."""

    def __post_init__(self) -> None:
        raise_first(self._rules())

    def is_over(self, today: date | None = None) -> bool:
        """Whether the last day has passed; the day is that of UTC, everywhere."""
        return self.closes is not None and (today or datetime.now(UTC).date()) > self.closes

    @property
    def keys_until(self) -> date | None:
        """The last day on which a mixer's service has its keys; the plan's hash covers it."""
        return self.closes and self.closes + timedelta(days=ERASE_AFTER_DAYS)

    def _rules(self) -> Iterator[Broken]:
        for key in LINES:
            yield from (broken.under((key,)) for broken in line_rules(getattr(self, key)))
        for key in TEXTS:
            yield from (broken.under((key,)) for broken in text_rules(getattr(self, key)))
        yield from (broken.under(("language",)) for broken in language_rules(self.language))
        closes = self.closes
        if closes is not None and (not isinstance(closes, date) or isinstance(closes, datetime)):
            yield Broken(("closes",), "must be a datetime.date", closes)


def about_from(values: Mapping[str, Any]) -> About:
    """What the keys of a file or a plan say; other keys are not looked at."""
    given = {key: values[key] for key in ABOUT_KEYS if key in values}
    if "closes" in given:
        raise_first(closes_rules(given["closes"]), ("closes",))
        if isinstance(given["closes"], str):
            given["closes"] = date.fromisoformat(given["closes"])
    return About(**given)


def about_values(about: About) -> dict[str, Any]:
    """The keys of a plan: texts where there is one, the language always."""
    texts = {key: getattr(about, key) for key in (*LINES, *TEXTS)}
    closes = {} if about.closes is None else {"closes": about.closes.isoformat()}
    return {key: text for key, text in texts.items() if text} | {
        "language": about.language,
        **closes,
    }
